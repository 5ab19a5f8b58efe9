"""Which cues in a sentence make a system sure or unsure? The uncertainty paper's linear model (Tables 7, 10, 11)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import numpy as np
import typer

from gendermark.cli.options import Confidence, option_group, resampling
from gendermark.cli.terminal import AsJson
from gendermark.drawing.charts import Span
from gendermark.errors import UnknownName, UserError
from gendermark.lab.regression import Coefficient, LinearModel, linear_model
from gendermark.lab.studies import show
from gendermark.lab.uncertainty_results import (
    Cell,
    Drawn,
    Into,
    Measure,
    Plot,
    Runs,
    differences_of,
    drawn_sentences,
    entropy_name,
    read_cells,
    settings_of,
    write_dots,
)
from gendermark.linguistics.cues import COLUMNS, FACTORS, annotate, design_columns
from gendermark.metrics.metric import Floats
from gendermark.records import Item, Table

FORMS: Mapping[str, str] = {
    "within": "a level for each contrast set",
    "plain": "one level for all sentences",
    "ratio": "divided by the mean of its contrast set",
    "difference": "less the mean of its contrast set",
}
"""What the entropies of the versions of one sentence are compared by.

`within` compares the versions of a sentence and nothing else, cues and entropies alike (fixed effects). `ratio` and
`difference` are the paper's (equation 6, which may be either): they take the mean of the set out of the entropy but not
out of the cues, so that the effect of every cue that is not in all sets alike comes out too small.
"""
PUBLISHED_FORMS = ("ratio", "difference")
_ROUNDING = 1e-7
"""A standard error is a root, so that rounding shows in its eighth digit."""
_NOT_ASKED = "not asked for"
_SHARED = "the same in all versions"
CLUSTERS = ("entity", "contrast")
"""What may depend on each other: all sentences about one occupation, or the versions of one sentence only."""
FEW_CLUSTERS = 40
"""Below so many clusters robust errors are too small."""
FEW_WITH_CUE = 10
"""Below so many occupations with a cue the error of its effect is too small, however many others there are."""
# What the sentence says comes first. Where two columns cannot be told apart, the later one is left out of the model; so
# the last of these, "he" for a subject, is what the others are compared with.
_FIRST = ("ambiguity", "pronoun_subject_f", "pronoun_object_f", "pronoun_object_m", "pronoun_subject_m")
_FITTED = (*_FIRST, *(column for column in COLUMNS if column not in _FIRST))


@dataclass(frozen=True)
class Question:
    """What is asked of the entropies of a system."""

    measure: Measure = "s3e"
    form: Annotated[
        str,
        typer.Option(
            help="within: compare the he, she and they versions of a sentence; plain: all sentences with each other; "
            "ratio, difference: the paper's, which shrink effects."
        ),
    ] = "within"
    cluster: Annotated[
        str,
        typer.Option(help="Sentences that may go together: entity (one occupation) or contrast (one he/she/they set)."),
    ] = "entity"
    factors: Annotated[
        tuple[str, ...],
        typer.Option(
            "--factor", help="Only this factor in the model, for example ambiguity; may be repeated. Default: all."
        ),
    ] = ()
    confidence: Confidence = 0.95

    def __post_init__(self) -> None:
        for what, name, known in (
            *(("factor", factor, tuple(FACTORS)) for factor in self.factors),
            ("form", self.form, tuple(FORMS)),
            ("cluster", self.cluster, CLUSTERS),
        ):
            if name not in known:
                raise UnknownName(what, name, known)
        resampling(confidence=self.confidence)  # refuses what is no confidence


@dataclass(frozen=True)
class CueModel:
    """A linear model of entropy on the cues in the sentence, for one system and direction."""

    cells: tuple[Cell, ...]
    asked: Question
    model: LinearModel
    left_out: Mapping[str, str]
    """Columns that are not in the model, and why."""
    notes: tuple[str, ...]

    @property
    def system(self) -> str:
        return self.cells[0].result.system

    @property
    def direction(self) -> str:
        return self.cells[0].direction

    def coefficient(self, column: str) -> Coefficient | None:
        return next((found for found in self.model.coefficients if found.name == column), None)

    def rows(self) -> list[tuple[Any, ...]]:
        """One row per column of Table 7 that was asked for."""
        found = []
        for factor, columns in FACTORS.items():
            for column in columns:
                if self.left_out.get(column) == _NOT_ASKED:
                    continue
                c = self.coefficient(column)
                numbers = (*map(_rounded, (c.value, c.low, c.high)), c.t, c.p_value, c.p_holm) if c else (None,) * 6
                why = self.left_out.get(column) or self.model.dropped.get(column, "")
                found.append((self.system, self.direction, factor, column, *numbers, why))
        return found

    def to_json(self) -> dict[str, Any]:
        model = self.model
        return {
            "runs": [str(cell.run) for cell in self.cells],
            "system": self.system,
            "direction": self.direction,
            "measure": self.asked.measure,
            "form": self.asked.form,
            "errors": "cluster",
            "n": model.n,
            "cluster": self.asked.cluster,
            "n_clusters": model.n_clusters,
            "n_levels": model.n_levels,
            "df_error": model.df_error,
            "r_squared": model.r_squared,
            "coefficients": [asdict(found) for found in model.coefficients],
            "factors": [asdict(found) for found in model.factors],
            "left_out": {**self.left_out, **model.dropped},
            "notes": list(self.notes),
        }


def by_system(cells: Sequence[Cell]) -> list[list[Cell]]:
    """The cells that go into one model: those of one system and direction, each variant of the sentences once."""
    groups: dict[tuple[str, str], dict[str, Cell]] = defaultdict(dict)
    for cell in cells:
        variants = groups[cell.result.system, cell.direction]
        earlier = variants.setdefault(settings_of(cell.result).variant, cell)
        if earlier is not cell:
            raise UserError(
                f"{earlier.run} and {cell.run} are both of {cell.result.system} and the same sentences; give one"
            )
    return [list(variants.values()) for variants in groups.values()]


def model_cues(cells: Sequence[Cell], asked: Question | None = None) -> CueModel:
    """Least squares of entropy on the cues, with errors robust within clusters, Holm-corrected.

    `cells` are of one system and direction: one run, or one for each variant of the sentences, with names and without.
    """
    asked = asked or Question()
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
    columns, left_out = _columns(items, wanted, cell.result.selection.target_language, form)
    left_out |= {column: _NOT_ASKED for column in COLUMNS if column not in wanted}
    tested = {factor: [c for c in members if c in columns] for factor, members in FACTORS.items()}
    response = np.array([value for _, value in rows])
    with np.errstate(invalid="ignore"):  # the root of a variance that rounding made negative
        model = linear_model(
            response,
            columns,
            [getattr(item, asked.cluster) for item in items],
            levels=[item.contrast for item in items] if form == "within" else None,
            factors={factor: members for factor, members in tested.items() if members},
            confidence=asked.confidence,
        )
    model = _settled(model, _ROUNDING * float(np.abs(response).max()))
    notes = differences_of(cells)
    if _SHARED in left_out.values():
        notes.append("what is the same in all versions of a sentence cannot show here; --form plain shows it")
    if len(rows) < n_all:
        notes.append(
            f"{n_all - len(rows):,} of {n_all:,} sentences are left out: there is nothing to compare them with"
        )
    if model.n_clusters < FEW_CLUSTERS:
        what = "contrast sets" if asked.cluster == "contrast" else "occupations"
        notes.append(f"{model.n_clusters} {what} are few: the intervals are rather too narrow")
    if rare := _rare(columns, items, asked):
        named = ", ".join(f"{name} ({n})" for name, n in rare.items())
        notes.append(f"few occupations have {named}: their intervals are too narrow")
    if form in PUBLISHED_FORMS:
        notes.append(f"--form {form} is the paper's and shrinks effects; --form within does not")
    return CueModel(tuple(cells), asked, model, left_out, tuple(notes))


def _rare(columns: Mapping[str, Floats], items: Sequence[Item], asked: Question) -> dict[str, int]:
    """The columns that are found in few occupations, and in how many; within sets, in those where they vary."""
    found = {}
    is_within = asked.form == "within"
    for name, values in columns.items():
        seen: dict[tuple[str, str], set[float]] = defaultdict(set)
        for item, value in zip(items, values.tolist(), strict=True):
            seen[item.entity, item.contrast if is_within else ""].add(value)
        n = len({entity for (entity, _), own in seen.items() if len(own) > 1 or (1.0 in own and not is_within)})
        if n < FEW_WITH_CUE:
            found[name] = n
    return found


def _responses(cell: Cell, measure: str, form: str) -> list[tuple[Item, float]]:
    """The sentences that can be compared, with their entropy in that form."""
    name = entropy_name(cell, measure)
    sets: dict[str, list[Drawn]] = defaultdict(list)
    for found in drawn_sentences(cell):
        if not found.item.entity:
            raise UserError(
                f"{cell.run} has sentences without a person to speak of, in which there are no cues to find"
            )
        sets[found.item.contrast].append(found)
    rows = []
    for members in sets.values():
        entropies = [found.judgement.measures.get(name) for found in members]
        values = [normalised_entropy(entropy, entropies, form) for entropy in entropies]
        known = [(found.item, value) for found, value in zip(members, values, strict=True) if value is not None]
        # A sentence without another version is its own mean: that says nothing.
        if form == "plain" or len(known) > 1:
            rows += known
    return rows


def _settled(model: LinearModel, rounding: float) -> LinearModel:
    """Where all sets agree an error is nothing but rounding: then there is no test, and no t of one over nothing."""
    exact = {c.name for c in model.coefficients if not c.standard_error > rounding}
    coefficients = [
        replace(c, standard_error=0.0, t=None, p_value=None, p_holm=None, low=c.value, high=c.value)
        if c.name in exact
        else c
        for c in model.coefficients
    ]
    factors = [
        replace(test, f=None, p_value=None, p_holm=None) if exact.issuperset(test.columns) else test
        for test in model.factors
    ]
    return replace(model, coefficients=tuple(coefficients), factors=tuple(factors))


def _rounded(value: float) -> float:
    """Without the last digits of arithmetic, in which nothing is never quite nothing."""
    return round(value, 12) + 0.0


def normalised_entropy(entropy: float | None, contrast_set: Sequence[float | None], form: str) -> float | None:
    """An entropy as it is, or against the mean of its contrast set, itself included (equation 6).

    Whether the paper divides or subtracts cannot be recovered from the text we have: `form` says which. `None` where a
    member of the set has no entropy, or the mean to divide by is 0.
    """
    if form not in PUBLISHED_FORMS:
        return entropy
    known = [member for member in contrast_set if member is not None]
    if entropy is None or not known or len(known) < len(contrast_set):
        return None
    mean = math.fsum(known) / len(known)
    if form == "difference":
        return entropy - mean
    return entropy / mean if mean else None


def _columns(
    items: Sequence[Item], names: Sequence[str], language: str, form: str
) -> tuple[dict[str, Floats], dict[str, str]]:
    """The columns that can have an effect, and why the others cannot."""
    designs = [design_columns(cues) for cues in annotate(items, language)]
    columns: dict[str, Floats] = {}
    left_out: dict[str, str] = {}
    for name in names:
        values = np.array([design[name] for design in designs])
        by_set: dict[str, set[float]] = defaultdict(set)
        for item, value in zip(items, values.tolist(), strict=True):
            by_set[item.contrast].add(value)
        if values.min() == values.max():
            left_out[name] = "in all sentences" if values[0] else "in no sentence"
        elif form != "plain" and all(len(found) == 1 for found in by_set.values()):
            # Only versions of one sentence are compared, so what they all share can change nothing.
            left_out[name] = _SHARED
        else:
            columns[name] = values
    if not columns:
        raise UserError("no cue differs between these sentences, so there is nothing to explain entropy with")
    return columns, left_out


def cue_table(models: Sequence[CueModel]) -> Table:
    """A row for each cue of each model."""
    numbers = ("coefficient", "low", "high", "t", "p_value", "p_holm")
    columns = ("system", "direction", "factor", "cue", *numbers, "left_out_because")
    asked = models[0].asked
    title = f"Entropy ({asked.measure}) by cue, {FORMS[asked.form]}"
    return Table("cues", title, columns, [row for model in models for row in model.rows()])


def cue_table_as_published(models: Sequence[CueModel]) -> Table:
    """A row for each model and a column for each cue, as Table 7 has it."""
    rows = []
    for found in models:
        values = [found.coefficient(column) for column in COLUMNS]
        language = found.cells[0].result.selection.target_language
        rows.append((language, found.system, *(c.value if c else None for c in values)))
    return Table("table7", "Coefficients of entropy on bias cues", ("language", "system", *COLUMNS), rows)


def factor_table(models: Sequence[CueModel]) -> Table:
    """An F test for each factor of each model."""
    columns = ("system", "direction", "factor", "f", "df_factor", "df_error", "p_value", "p_holm")
    rows = [
        (found.system, found.direction, t.name, t.f, t.df_factor, t.df_error, t.p_value, t.p_holm)
        for found in models
        for t in found.model.factors
    ]
    return Table("factors", "Does the factor matter at all?", columns, rows)


# -- the command -------------------------------------------------------------------------------------------------------


def cues(
    runs: Runs,
    to: Into = "",
    question: Question = option_group(Question),
    published: Annotated[
        bool, typer.Option("--table7", help="One row per run, one column per cue, as Table 7 of the paper.")
    ] = False,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Which cues in the sentence make a system sure or unsure? A linear model, corrected for many questions.

    Runs of one system with names (--variant names) and without go into one model.
    """
    cells = [cell for run in runs for cell in read_cells(run, to)]
    models = [model_cues(group, question) for group in by_system(cells)]
    if plot is not None:
        shown = [c for c in COLUMNS if any(found.coefficient(c) for found in models)]
        rows = [(name.replace("_", " "), [_dot(found.coefficient(name)) for found in models]) for name in shown]
        title = f"Entropy ({question.measure}), {FORMS[question.form]}: effect of each cue"
        write_dots(plot, title, rows, [found.cells[0].name for found in models])
    tables = [cue_table_as_published(models)] if published else [cue_table(models), factor_table(models)]
    notes = [f"{model.cells[0].name}: {note}" for model in models for note in model.notes]
    show({"models": [model.to_json() for model in models]}, tables, notes, as_json=as_json)


def _dot(found: Coefficient | None) -> Span | None:
    return Span(found.value, found.low, found.high) if found else None
