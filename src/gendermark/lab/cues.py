"""Which cues in a sentence make a system certain or uncertain? The uncertainty paper's linear model (Tables 7, 10, 11).

Ordinary least squares, optionally with a fixed effect for each contrast set (within estimator: Wooldridge 2010,
Econometric Analysis of Cross Section and Panel Data, section 10.5). Sentences about one occupation are dependent, so
standard errors are cluster-robust: the jackknife over clusters (CV3: MacKinnon, Nielsen & Webb 2023, Journal of Applied
Econometrics 38:671-694), which holds better than the usual sandwich estimator if a cue is found in few clusters. All
tests of one model are corrected together (Holm).

Undefined values are `None`, never NaN.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gendermark.cli.options import Confidence, option_group, resampling
from gendermark.cli.terminal import AsJson
from gendermark.errors import UnknownName, UserError
from gendermark.lab import uncertainty_results as results
from gendermark.lab.sentence_cues import COLUMNS, FACTORS, annotate, design_columns
from gendermark.lab.studies import Texts, show, statistics_package
from gendermark.lab.uncertainty_results import Cell, Drawn, Into, Measure, Plot, Runs
from gendermark.metrics.metric import Floats
from gendermark.metrics.statistics import holm
from gendermark.records import Item
from gendermark.reporting.charts import Span
from gendermark.reporting.document import Table

_COMMAND = "study uncertainty cues"
INTERCEPT = "intercept"
_COLLINEAR = 1e-9
"""A column with a smaller share left after regressing out the earlier ones is collinear."""
_ROUNDING = 1e-7
"""A standard error is a root, so that rounding shows in its eighth digit."""


def linear_model(
    response: ArrayLike,
    columns: Mapping[str, ArrayLike],
    clusters: Sequence[Hashable],
    *,
    levels: Sequence[Hashable] | None = None,
    factors: Mapping[str, Sequence[str]] | None = None,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Least squares of `response` on `columns`, with tests of each column and of each factor (a group of columns).

    `levels` adds a fixed effect for each set, so that versions are compared within sets only; a column constant within
    all sets has no effect then. Every set lies within one cluster. Errors are cluster-robust, so a factor's F test is
    the Wald test; without interactions its tests are of type II and III at once. Without `factors` each column is one.

    `p_holm` is corrected over all columns, or factors, of the model, without the intercept. `t` is `None` without
    error. `r_squared` is within sets if there are `levels`. `left_out` has the excluded columns with reasons.
    """
    pandas, models = (statistics_package(name, _COMMAND) for name in ("pandas", "statsmodels.regression.linear_model"))
    y = np.asarray(response, dtype=np.float64)
    matrix = np.stack([np.asarray(values, dtype=np.float64) for values in columns.values()], axis=1)
    cluster_of = pandas.factorize(np.array(clusters))[0]
    n_clusters = int(cluster_of.max()) + 1
    if n_clusters < 2:
        raise UserError("a linear model needs at least two groups of sentences, but there is 1")
    n_levels = 0
    if levels is None:
        matrix, names = np.column_stack([np.ones(len(y)), matrix]), (INTERCEPT, *columns)
    else:
        n_levels, names = len(set(levels)), tuple(columns)
        means = pandas.DataFrame(np.column_stack([y, matrix])).groupby(list(levels)).transform("mean").to_numpy()
        y, matrix = y - means[:, 0], matrix - means[:, 1:]
    kept, left_out = _independent(matrix, names, is_within=levels is not None)
    matrix, names = matrix[:, kept], tuple(names[place] for place in kept)
    if not kept:
        raise UserError("no cue varies within any contrast set, so there is nothing to explain")
    if len(y) <= len(names) + n_levels:
        raise UserError(
            f"{len(y)} rows are too few for a model of {len(names) + n_levels} coefficients; give more sentences or "
            "fewer cues"
        )
    fit = models.OLS(y, matrix).fit()
    covariance = _covariance(matrix, fit.resid, cluster_of, n_clusters)
    fitted = models.OLSResults(fit.model, fit.params, covariance, use_t=True)
    fitted.scale, fitted.df_resid_inference = 1.0, n_clusters - 1
    # If all clusters agree, the error is rounding only: then there is no test.
    rounding = _ROUNDING * np.abs(np.asarray(response)).max() / np.abs(matrix).max(axis=0)
    tests = factors or {name: (name,) for name in columns}
    total = float(((y - y.mean()) ** 2).sum())
    return {
        "n": len(y),
        "n_clusters": n_clusters,
        "n_levels": n_levels,
        "df_error": n_clusters - 1,
        "r_squared": 1 - float(fit.resid @ fit.resid) / total if total > 0 else None,
        "coefficients": _coefficients(names, fitted, fitted.bse <= rounding, confidence),
        "factors": _factor_tests(names, fitted, fitted.bse <= rounding, tests),
        "left_out": left_out,
    }


def _independent(matrix: Floats, names: Sequence[str], *, is_within: bool) -> tuple[list[int], dict[str, str]]:
    kept: list[int] = []
    dropped: dict[str, str] = {}
    for place, name in enumerate(names):
        column = matrix[:, place]
        weights = np.linalg.lstsq(matrix[:, kept], column, rcond=None)[0] if kept else np.zeros(0)
        rest = column - matrix[:, kept] @ weights
        if is_within and np.abs(column).max() <= _COLLINEAR:
            dropped[name] = "does not vary within any contrast set"
        elif np.linalg.norm(rest) <= _COLLINEAR * np.linalg.norm(column):
            needed = [names[earlier] for earlier, weight in zip(kept, weights, strict=True) if abs(weight) > 1e-6]
            dropped[name] = f"follows from {', '.join(needed)}"
        else:
            kept.append(place)
    return kept, dropped


def _covariance(matrix: Floats, residuals: Floats, cluster_of: NDArray[np.intp], n_clusters: int) -> Floats:
    scale = np.linalg.norm(matrix, axis=0)  # so that singularity does not depend on units
    matrix = matrix / scale
    everything = matrix.T @ matrix
    moves = np.zeros((n_clusters, len(scale)))
    for cluster in range(n_clusters):
        rows = cluster_of == cluster
        own = matrix[rows]
        # A cue in this cluster alone is not estimable without it: it gets the full change.
        rest = np.linalg.pinv(everything - own.T @ own, rcond=_COLLINEAR, hermitian=True)
        moves[cluster] = rest @ (own.T @ residuals[rows]) / scale
    return np.asarray((n_clusters - 1) / n_clusters * (moves.T @ moves), dtype=np.float64)


def _coefficients(
    names: Sequence[str], fitted: Any, is_exact: NDArray[np.bool_], confidence: float
) -> list[dict[str, Any]]:
    """A row for each column: change of the response when it rises by one, other columns fixed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t_values, p_values = fitted.tvalues, fitted.pvalues
    rows = []
    for place, (low, high) in enumerate(fitted.conf_int(1 - confidence).tolist()):
        value, exact = float(fitted.params[place]), bool(is_exact[place])
        rows.append(
            {
                "name": names[place],
                "value": value,
                "standard_error": 0.0 if exact else float(fitted.bse[place]),
                "t": None if exact else float(t_values[place]),
                "p_value": None if exact else float(p_values[place]),
                "p_holm": None,
                "low": value if exact else low,
                "high": value if exact else high,
            }
        )
    return _with_holm(rows)


def _factor_tests(
    names: Sequence[str], fitted: Any, is_exact: NDArray[np.bool_], factors: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """A row for each factor: the joint test of its columns, given the others."""
    rows = []
    for factor, members in factors.items():
        places = [names.index(member) for member in members if member in names]
        covariance, f, p = fitted.cov_params()[np.ix_(places, places)], None, None
        # There is no test without columns, or with too few clusters.
        if places and np.linalg.matrix_rank(covariance, hermitian=True) == len(places) and not is_exact[places].all():
            test = fitted.f_test(np.eye(len(names))[places])
            f, p = max(0.0, float(test.fvalue)), float(test.pvalue)
        found = {"name": factor, "columns": [names[place] for place in places], "f": f}
        rows.append(found | {"df_factor": len(places), "df_error": fitted.df_resid_inference, "p_value": p})
    return _with_holm(rows)


def _with_holm(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    corrected = holm([None if row["name"] == INTERCEPT else row["p_value"] for row in rows])
    return [{**row, "p_holm": p} for row, p in zip(rows, corrected, strict=True)]


# -- entropy on cues ---------------------------------------------------------------------------------------------------


FORMS: Mapping[str, str] = {
    "within": "a level for each contrast set",
    "plain": "one level for all sentences",
    "ratio": "divided by the mean of its contrast set",
    "difference": "less the mean of its contrast set",
}
"""Forms of entropy comparison.

`within` compares the versions of a sentence only, in cues and entropies (fixed effects). `ratio` and `difference` are
the paper's (equation 6, which may be either): they remove the set mean from the entropy but not from the cues, so that
effects of cues that vary between sets are underestimated.
"""
PUBLISHED_FORMS = ("ratio", "difference")
_NOT_ASKED = "not asked for"
_SHARED = "the same in all versions"
CLUSTERS = ("entity", "contrast")
"""What may be dependent: all sentences about one occupation, or the versions of one sentence only."""
FEW_CLUSTERS = 40
"""With fewer clusters, robust errors are too small."""
FEW_WITH_CUE = 10
"""With fewer occupations that have a cue, the error of its effect is too small, however many others there are."""
# What the sentence states comes first. Of two collinear columns the later one is excluded; so the last of these, "he"
# as a subject, is the reference level.
_FIRST = ("ambiguity", "pronoun_subject_f", "pronoun_object_f", "pronoun_object_m", "pronoun_subject_m")
_FITTED = (*_FIRST, *(column for column in COLUMNS if column not in _FIRST))


@dataclass(frozen=True)
class Question:
    measure: Measure = "s3e"
    form: str = "within"
    cluster: str = "entity"
    factors: Texts = ()
    confidence: Confidence = 0.95

    def __post_init__(self) -> None:
        for what, name, known in (
            *(("factor", factor, tuple(FACTORS)) for factor in self.factors),
            ("form", self.form, tuple(FORMS)),
            ("cluster", self.cluster, CLUSTERS),
        ):
            if name not in known:
                raise UnknownName(what, name, known)
        resampling(confidence=self.confidence)  # refuses an invalid confidence


def by_system(cells: Sequence[Cell]) -> list[list[Cell]]:
    groups: dict[tuple[str, str], dict[str, Cell]] = defaultdict(dict)
    for cell in cells:
        variants = groups[cell.result.system, cell.direction]
        earlier = variants.setdefault(results.settings_of(cell.result).variant, cell)
        if earlier is not cell:
            raise UserError(
                f"{earlier.run} and {cell.run} are both of {cell.result.system} and the same sentences; give one"
            )
    return [list(variants.values()) for variants in groups.values()]


def model_cues(cells: Sequence[Cell], asked: Question, *, keep_shared: bool = False) -> dict[str, Any]:
    """Regress entropy on the cues, with cluster-robust, Holm-corrected tests.

    Cues shared by all versions of a sentence are excluded if versions are compared with each other; the paper, whose
    model has one intercept, keeps them.

    `cells` are of one system and direction: one run, or one for each variant of the sentences, with and without names.
    `left_out` has the excluded columns with reasons.
    """
    measure, form, factors = asked.measure, asked.form, asked.factors or tuple(FACTORS)
    cell, n_all = cells[0], sum(len(one.result.judgements) for one in cells)
    rows = [row for one in cells for row in _responses(one, measure, form)]
    if not rows or all(value == rows[0][1] for _, value in rows):
        raise UserError(
            f"no {measure} entropy of {cell.run} differs from another: the system is sure of everything, or there is "
            "one version of each sentence; take another --measure, or more sentences"
        )
    items = [item for item, _ in rows]
    wanted = [column for column in _FITTED if any(column in FACTORS[factor] for factor in factors)]
    columns, left_out = _columns(items, wanted, cell.result.selection.target_language, "plain" if keep_shared else form)
    left_out |= {column: _NOT_ASKED for column in COLUMNS if column not in wanted}
    tested = {factor: [c for c in members if c in columns] for factor, members in FACTORS.items()}
    model = linear_model(
        [value for _, value in rows],
        columns,
        [getattr(item, asked.cluster) for item in items],
        levels=[item.contrast for item in items] if form == "within" else None,
        factors={factor: members for factor, members in tested.items() if members},
        confidence=asked.confidence,
    )
    notes = results.differences_of(cells)
    if _SHARED in left_out.values():
        notes.append("what is the same in all versions of a sentence cannot show here; --form plain shows it")
    if len(rows) < n_all:
        notes.append(
            f"{n_all - len(rows):,} of {n_all:,} sentences are left out: there is nothing to compare them with"
        )
    if model["n_clusters"] < FEW_CLUSTERS:
        what = "contrast sets" if asked.cluster == "contrast" else "occupations"
        notes.append(f"{model['n_clusters']} {what} are few: the intervals are rather too narrow")
    design, entities = statistics_package("pandas", _COMMAND).DataFrame(columns), [item.entity for item in items]
    if form == "within":
        varies = design.groupby([entities, [item.contrast for item in items]]).nunique() > 1
        n_occupations = varies.groupby(level=0).any().sum()
    else:
        n_occupations = (design.groupby(entities).max() > 0).sum()
    if rare := {name: n for name, n in n_occupations.items() if n < FEW_WITH_CUE}:
        named = ", ".join(f"{name} ({n})" for name, n in rare.items())
        notes.append(f"few occupations have {named}: their intervals are too narrow")
    if form in PUBLISHED_FORMS:
        notes.append(f"--form {form} is the paper's and shrinks effects; --form within does not")
    return {
        "runs": [str(one.run) for one in cells],
        "system": cell.result.system,
        "direction": cell.direction,
        "measure": measure,
        "form": form,
        "errors": "cluster",
        "cluster": asked.cluster,
        **model,
        "left_out": {**left_out, **model["left_out"]},
        "notes": notes,
    }


def _responses(cell: Cell, measure: str, form: str) -> list[tuple[Item, float]]:
    """The comparable sentences with their entropy in that form."""
    name = results.entropy_name(cell, measure)
    sets: dict[str, list[Drawn]] = defaultdict(list)
    for found in results.drawn_sentences(cell):
        if not found.item.entity:
            raise UserError(f"{cell.run} has sentences in which no person is marked, so there are no cues to find")
        sets[found.item.contrast].append(found)
    rows = []
    for members in sets.values():
        measured = [(found.item, found.judgement.measures.get(name)) for found in members]
        known = [(item, entropy) for item, entropy in measured if entropy is not None]
        # A sentence without another version is its own mean.
        if form != "plain" and len(known) < 2:
            continue
        if form in PUBLISHED_FORMS:
            # Equation 6. Our copy of the paper does not show whether it divides or subtracts: `form` decides.
            mean = math.fsum(entropy for _, entropy in known) / len(known)
            if len(known) < len(members) or (form == "ratio" and not mean):
                continue
            known = [(item, entropy / mean if form == "ratio" else entropy - mean) for item, entropy in known]
        rows += known
    return rows


def _columns(
    items: Sequence[Item], names: Sequence[str], language: str, form: str
) -> tuple[dict[str, Floats], dict[str, str]]:
    cues = map(design_columns, annotate(items, language))
    design = statistics_package("pandas", _COMMAND).DataFrame(list(cues))
    is_shared = (design.groupby([item.contrast for item in items]).nunique() == 1).all()
    columns: dict[str, Floats] = {}
    left_out: dict[str, str] = {}
    for name in names:
        values = design[name].to_numpy()
        if values.min() == values.max():
            left_out[name] = "in all sentences" if values[0] else "in no sentence"
        elif form != "plain" and is_shared[name]:
            # A cue shared by all versions cannot have an effect within sentences.
            left_out[name] = _SHARED
        else:
            columns[name] = values
    if not columns:
        raise UserError("no cue differs between these sentences, so there is nothing to explain entropy with")
    return columns, left_out


Model = Mapping[str, Any]


def coefficients(model: Model) -> dict[str, Mapping[str, Any]]:
    return {found["name"]: found for found in model["coefficients"]}


def _tables(models: Sequence[Model]) -> list[Table]:
    numbers, factors = [], []
    for model in models:
        where, known, left_out = (model["system"], model["direction"]), coefficients(model), model["left_out"]
        for factor, columns in FACTORS.items():
            for column in (one for one in columns if left_out.get(one) != _NOT_ASKED):
                c = known.get(column)
                # Rounding errors would appear as tiny values.
                values = [round(c[name], 12) + 0.0 for name in ("value", "low", "high")] if c else [None] * 3
                tests = [c[name] for name in ("t", "p_value", "p_holm")] if c else [None] * 3
                numbers.append((*where, factor, column, *values, *tests, left_out.get(column, "")))
        tested = ("name", "f", "df_factor", "df_error", "p_value", "p_holm")
        factors += [(*where, *(test[name] for name in tested)) for test in model["factors"]]
    columns = ("factor", "cue", "coefficient", "low", "high", "t", "p_value", "p_holm", "left_out_because")
    of_factors = ("factor", "f", "df_factor", "df_error", "p_value", "p_holm")
    title = f"Entropy ({models[0]['measure']}) by cue, {FORMS[models[0]['form']]}"
    return [
        Table(("system", "direction", *columns), numbers, title),
        Table(("system", "direction", *of_factors), factors, "Does the factor matter at all?"),
    ]


PUBLISHED_MEASURES = {"s3e": "s3e", "semantic": "se", "gender": "ge"}
"""The entropies of Tables 7 and 10, with their names there."""


def _table_as_published(models: Sequence[Model]) -> Table:
    rows = []
    for model in models:
        known = coefficients(model)
        stars = {name: sum((c["p_holm"] or 0) < p for p in (0.05, 0.01, 0.001)) for name, c in known.items() if c["t"]}
        values = (f"{known[one]['value']:.2f}{'*' * stars.get(one, 0)}" if one in known else "" for one in COLUMNS)
        where = (PUBLISHED_MEASURES[model["measure"]], model["direction"].partition("-")[2], model["system"])
        rows.append((*where, *values))
    title = "Coefficients of entropy on bias cues; * p < 0.05, ** p < 0.01, *** p < 0.001 after Holm's correction"
    return Table(("measure", "language", "system", *COLUMNS), rows, title)


def cues(
    runs: Runs,
    to: Into = "",
    question: Question = option_group(Question),
    published: bool = False,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Fit a linear model of which cues in a sentence change the uncertainty (p-values corrected by Holm).

    Runs of one system with names (--variant names) and without go into one model.
    """
    cells = [cell for run in runs for cell in results.read_cells(run, to)]
    groups = by_system(cells)
    if published:  # each available entropy, with cues that all versions of a sentence share
        form = PUBLISHED_FORMS[0] if question.form == "within" else question.form
        models = [
            model_cues(group, replace(question, measure=measure, form=form), keep_shared=True)
            for measure in PUBLISHED_MEASURES
            for group in groups
            if any(measure != "semantic" or results.settings_of(cell.result).entailment for cell in group)
        ]
    else:
        models = [model_cues(group, question) for group in groups]
    measures = list(dict.fromkeys(model["measure"] for model in models))
    names = [
        f"{model['system']} {model['direction']}" + (f" ({model['measure']})" if len(measures) > 1 else "")
        for model in models
    ]
    if plot is not None:
        dots = [
            {name: Span(one["value"], one["low"], one["high"]) for name, one in coefficients(model).items()}
            for model in models
        ]
        rows = [
            (column.replace("_", " "), [found.get(column) for found in dots])
            for column in COLUMNS
            if any(column in found for found in dots)
        ]
        title = f"Entropy ({', '.join(measures)}), {FORMS[models[0]['form']]}: effect of each cue"
        results.write_dots(plot, title, rows, names)
    tables = [_table_as_published(models)] if published else _tables(models)
    notes = [f"{name}: {note}" for name, model in zip(names, models, strict=True) for note in model["notes"]]
    show({"models": models}, tables, notes, as_json=as_json)
