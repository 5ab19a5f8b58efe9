"""Does a system's uncertainty go with its gender accuracy? (Tables 3, 16, 18, 19 of the uncertainty paper)"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import ArrayLike, NDArray

from gendermark.benchmarks.uncertainty.items import UNAMBIGUOUS
from gendermark.benchmarks.winomt.benchmark import BENCHMARK as WINOMT
from gendermark.cli.terminal import AsJson
from gendermark.errors import UnknownName, UserError
from gendermark.lab.studies import scipy_stats, show
from gendermark.lab.uncertainty_results import (
    SETTINGS,
    Cell,
    Runs,
    cells_of,
    differences,
    differences_of,
    value_of,
)
from gendermark.metrics.metric import Floats
from gendermark.metrics.statistics import holm, permutation_p_value
from gendermark.metrics.uncertainty import signed_difference
from gendermark.records import Table
from gendermark.result import Result
from gendermark.runs import folder

FEWEST_CELLS = 4
"""Three cells have only six orders: any two rankings of them agree by chance too often."""

_SCORES: Mapping[str, str] = {
    "delta_i_s3e": "negative",
    "gap_i_s3e": "negative",
    "delta_i_gender": "negative",
    "gap_i_gender": "negative",
    "delta_h_s3e": "negative",
    "gap_h_s3e": "negative",
    "delta_h_gender": "negative",
    "gap_h_gender": "negative",
    "awareness_s3e": "positive",
    "awareness_gender": "positive",
    "delta_i_semantic": "negative",
    "delta_h_semantic": "negative",
    "awareness_semantic": "positive",
    "forced_choice": "positive",
    "gap_log_p": "positive",
    "gap_log_p_per_token": "positive",
}
"""The scores of a cell, and the sign of their correlation with accuracy if good systems are good at both.

The last three are of `run --forced-choice`: the percent of sentences whose right reference the system finds more
probable, and the mean log-probability of the right ones less that of the wrong ones.
"""
_RANKED = ("delta_i_s3e", "delta_i_gender", "delta_i_semantic", "gap_log_p")
"""What Tables 18 and 19 rank systems by, beside accuracy."""
_IF_ASKED_FOR = tuple(name for name in _SCORES if "semantic" in name or name == "forced_choice" or "log_p" in name)
KINDS = {"spearman": "spearmanr", "kendall": "kendalltau", "pearson": "pearsonr"}
"""Correlations, and what scipy calls them."""
PERMUTATIONS: Mapping[str, str] = {
    "languages": "systems change places within each language, so what languages differ in counts for nothing",
    "free": "all cells change places with all others",
}
"""What chance is taken to do. Languages differ in accuracy and in uncertainty alike, so that free permutation finds a
correlation where no system is better than another: in the paper's Table 14 Spearman's would be -0.63."""
MOST_ORDERS = math.factorial(9)
"""Up to so many orders (362,880) every one is tried; beyond, orders are drawn."""


# -- the test ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Correlation:
    """How far two lists of numbers go together, and how often chance alone would do as much."""

    kind: str
    value: float | None
    """`None` with fewer than two pairs, or where one list is constant."""
    p_value: float | None
    n: int
    is_exact: bool
    """Whether all orders were tried, not a sample of them."""
    by_chance: float | None = None
    """Its mean over all orders: 0, but where numbers keep to their blocks and blocks differ in both lists."""

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value, "p_value": self.p_value, "by_chance": self.by_chance, "is_exact": self.is_exact}


def correlation_test(
    first: ArrayLike,
    second: ArrayLike,
    kind: str,
    n_resamples: int = 9999,
    seed: int = 12345,
    *,
    blocks: Sequence[Hashable] | None = None,
) -> Correlation:
    """A correlation with its two-sided permutation p-value: exact up to 9! orders, else from that many random ones.

    With `blocks`, one for each pair, numbers change places within their block only: what sets the blocks apart stays as
    it is, and what is tested is whether the lists go together beyond that (restricted permutation: Anderson & ter Braak
    2003, Journal of Statistical Computation and Simulation 73:85-113). Distances are from the mean over all orders.
    """
    stats = scipy_stats("study correlate")
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    parts = _places(blocks if blocks is not None else [0] * len(x))
    is_exact = math.prod(math.factorial(len(part)) for part in parts) <= MOST_ORDERS
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(kind, None, None, len(x), is_exact)
    value = float(getattr(stats, KINDS[kind])(x, y).statistic)
    orders = _all_orders(tuple(parts)) if is_exact else _drawn_orders(parts, n_resamples, seed)
    # Whatever the order, spread and ties of a list stay as they are: only the product of the two changes.
    if kind == "kendall":
        replicates = _concordances(x, y, orders)
    else:
        if kind == "spearman":
            x, y = stats.rankdata(x), stats.rankdata(y)
        x, y = x - x.mean(), y - y.mean()
        replicates = (x / np.linalg.norm(x))[orders] @ (y / np.linalg.norm(y))
    by_chance = float(replicates.mean()) if blocks is not None else 0.0
    if is_exact:  # the observed order is among them
        p_value: float | None = float(np.mean(np.abs(replicates - by_chance) >= abs(value - by_chance) - 1e-12))
    else:
        p_value = permutation_p_value(value - by_chance, replicates - by_chance)
    return Correlation(kind, value, p_value, len(x), is_exact, by_chance)


def within_blocks(first: ArrayLike, second: ArrayLike, blocks: Sequence[Hashable]) -> tuple[Floats, Floats]:
    """The ranks of both lists, counted within each block from its middle: what remains once blocks do not differ."""
    rank = scipy_stats("study correlate").rankdata
    ranks = np.zeros((2, len(blocks)))
    for places in map(list, _places(blocks)):
        for row, values in zip(ranks, (first, second), strict=True):
            row[places] = rank(np.asarray(values)[places]) - (len(places) + 1) / 2
    return ranks[0], ranks[1]


def _concordances(x: Floats, y: Floats, orders: NDArray[np.int64]) -> Floats:
    """Tau-b for each order of `x`."""
    pairs = list(itertools.combinations(range(len(y)), 2))
    ranks = np.unique(x, return_inverse=True)[1].astype(np.int32)[orders]
    totals = np.zeros(len(orders))
    for earlier, later in pairs:
        if sign := float(np.sign(y[later] - y[earlier])):
            totals += sign * np.sign(ranks[:, later] - ranks[:, earlier])
    n_ordered = [sum(values[a] != values[b] for a, b in pairs) for values in (x, y)]
    return np.asarray(totals / math.sqrt(math.prod(n_ordered)))


_Places = tuple[int, ...]


def _places(blocks: Sequence[Hashable]) -> list[_Places]:
    """The places of each block."""
    found: dict[Hashable, list[int]] = {}
    for place, block in enumerate(blocks):
        found.setdefault(block, []).append(place)
    return [tuple(places) for places in found.values()]


@cache
def _all_orders(parts: tuple[_Places, ...]) -> NDArray[np.int64]:
    """Every way to change places within the parts, a row each."""
    n = sum(map(len, parts))
    found = np.zeros((1, n), dtype=np.int64)
    for part in parts:
        own = np.array(list(itertools.permutations(part)), dtype=np.int64).reshape(-1, len(part))
        n_before = len(found)
        found = np.repeat(found, len(own), axis=0)
        found[:, part] = np.tile(own, (n_before, 1))
    return found


def _drawn_orders(parts: Sequence[_Places], n_resamples: int, seed: int) -> NDArray[np.int64]:
    generator = np.random.Generator(np.random.PCG64(seed))
    found = np.zeros((n_resamples, sum(map(len, parts))), dtype=np.int64)
    for part in parts:
        found[:, part] = generator.permuted(np.tile(np.array(part), (n_resamples, 1)), axis=1)
    return found


# -- the study ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoredCell:
    """One system into one language: its accuracy in percent, and its scores of uncertainty."""

    cell: Cell
    accuracy: float | None
    scores: Mapping[str, float | None]

    @property
    def language(self) -> str:
        return self.cell.result.selection.target_language


@dataclass(frozen=True)
class ScoreCorrelation:
    """How one score goes with accuracy, over all cells or those of one language."""

    slice: str
    score: str
    tests: Mapping[str, Correlation]
    within: Correlation | None
    """Of ranks that are counted within each language; `None` where there is one language, or one system in each."""
    p_holm: float | None
    """Of Spearman's correlation, corrected for all scores of the slice."""


@dataclass(frozen=True)
class Correlations:
    """Every score against accuracy."""

    accuracy_is: str
    cells: tuple[ScoredCell, ...]
    correlations: tuple[ScoreCorrelation, ...]
    permutation: str
    """Of the slice `all`: one of `PERMUTATIONS`."""
    notes: tuple[str, ...]

    def table(self) -> Table:
        tested = (c for kind in KINDS for c in (kind, f"{kind}_p"))
        within = ("spearman_by_chance", "within", "within_p")
        columns = ("slice", "score", "expected", "n", *tested, "p_holm", *within)
        rows = [
            (
                found.slice,
                found.score,
                _SCORES[found.score],
                found.tests["spearman"].n,
                *(value for kind in KINDS for value in (found.tests[kind].value, found.tests[kind].p_value)),
                found.p_holm,
                found.tests["spearman"].by_chance,
                *((found.within.value, found.within.p_value) if found.within else (None, None)),
            )
            for found in self.correlations
        ]
        return Table("correlations", f"Uncertainty against {self.accuracy_is}", columns, rows)

    def cell_table(self) -> Table:
        known = self._known(_SCORES)
        columns = ("run", "system", "direction", "accuracy", *known)
        rows = [(*c.cell.where.values(), c.accuracy, *(c.scores[name] for name in known)) for c in self.cells]
        return Table("cells", f"One row per system and language; accuracy is {self.accuracy_is}", columns, rows)

    @property
    def chance(self) -> list[str]:
        """What p-values are made of, where that is a question."""
        if not self.correlations or len({found.language for found in self.cells}) == 1:
            return []
        return [f"p-values of all languages together: {PERMUTATIONS[self.permutation]}"]

    def rank_table(self) -> Table:
        """The systems in the order of accuracy and of their surprisal, the best first, as Table 18 has them."""
        known = self._known(_RANKED)
        orders = [self._ranked("accuracy"), *(self._ranked(name) for name in known)]
        rows = [
            tuple(f"#{one[0]} {one[1].cell.name}" if one else None for one in places)
            for places in itertools.zip_longest(*orders)
        ]
        title = f"From best to worst; accuracy is {self.accuracy_is}; equal values share a place"
        return Table("table18", title, ("accuracy", *known), rows)

    def _known(self, scores: Iterable[str]) -> list[str]:
        return [name for name in scores if any(found.scores[name] is not None for found in self.cells)]

    def _ranked(self, score: str) -> list[tuple[int, ScoredCell]]:
        """The cells that have this score, the best first, each with its place."""
        is_accuracy = score == "accuracy"
        worst_first = is_accuracy or _SCORES[score] == "positive"
        values = [(cell.accuracy if is_accuracy else cell.scores[score], cell) for cell in self.cells]
        known = [(-value if worst_first else value, cell) for value, cell in values if value is not None]
        known.sort(key=lambda pair: (pair[0], pair[1].cell.name))
        return [(1 + sum(other < value for other, _ in known), cell) for value, cell in known]

    def to_json(self) -> dict[str, Any]:
        return {
            "accuracy": self.accuracy_is,
            "permutation": self.permutation,
            "ranks": {
                score: [{**cell.cell.where, "rank": rank} for rank, cell in self._ranked(score)]
                for score in ("accuracy", *self._known(_SCORES))
            },
            "cells": [{**c.cell.where, "accuracy": c.accuracy, "scores": dict(c.scores)} for c in self.cells],
            "correlations": [
                {
                    "slice": c.slice,
                    "score": c.score,
                    "expected": _SCORES[c.score],
                    "n": c.tests["spearman"].n,
                    **{kind: test.to_json() for kind, test in c.tests.items()},
                    "within": c.within.to_json() if c.within else None,
                    "p_holm": c.p_holm,
                }
                for c in self.correlations
            ],
            "notes": [*self.chance, *self.notes],
        }


def correlate_runs(
    runs: Sequence[Path | str], accuracy_runs: Sequence[Path | str] = (), permutation: str = ""
) -> Correlations:
    """Rank systems by uncertainty and by accuracy: WinoMT's where every cell has it, else that of the samples.

    Unless a kind of permutation is named, systems change places within their language where at least two languages
    have several systems.
    """
    if permutation not in ("", *PERMUTATIONS):
        raise UnknownName("permutation", permutation, PERMUTATIONS)
    results = {Path(run): folder.read_results(Path(run)) for run in (*runs, *accuracy_runs)}
    cells = [cell for run in runs for cell in cells_of(Path(run), results[Path(run)])]
    _refuse_twins(cells)
    notes = differences_of(cells, (*SETTINGS, "variant"))
    winomt = _winomt_results(result for run in accuracy_runs or runs for result in results[Path(run)])
    own = [winomt.get((cell.result.system, cell.direction)) for cell in cells]
    measured = [value_of(result, "accuracy", "mf") for result in own if result is not None]
    n_missing = len(cells) - len(measured)
    if not n_missing:
        kind = "WinoMT accuracy on he and she"
        notes += differences("WinoMT was not measured alike", [r for r in own if r is not None], ("data", "rules"))
    elif accuracy_runs:
        one = next(cell for cell, result in zip(cells, own, strict=True) if result is None)
        raise UserError(f"no run of --accuracy has WinoMT results of {one.result.system} {one.direction}; give one")
    else:
        kind = "the share of samples with the right gender"
        if measured:  # two kinds of accuracy in one ranking would rank the kinds
            notes.append(f"{n_missing} of {len(cells)} cells have no WinoMT results, so {kind} is taken for all")
        shares = [value_of(cell.result, "p_right", UNAMBIGUOUS) for cell in cells]
        measured = [None if share is None else 100 * share for share in shares]
    scored = tuple(
        ScoredCell(cell, accuracy, _scores(cell.result)) for cell, accuracy in zip(cells, measured, strict=True)
    )
    chosen = _permutation(scored, permutation)
    by_language = _by_language(scored)
    correlations = _correlations("all", scored, within_languages=chosen == "languages")
    correlations += [row for name, members in by_language.items() for row in _correlations(name, members)]
    if not correlations:
        notes.append(
            f"of {len(cells)} {'cell' if len(cells) == 1 else 'cells'} nothing can be said; a correlation needs at "
            f"least {FEWEST_CELLS} cells that have an accuracy and the same score"
        )
    else:
        wanted = [s for s in _SCORES if s not in _IF_ASKED_FOR or any(one.scores[s] is not None for one in scored)]
        if rare := [score for score in wanted if score not in {row.score for row in correlations}]:
            notes.append(f"fewer than {FEWEST_CELLS} cells have an accuracy and a value of {', '.join(rare)}")
    return Correlations(kind, scored, tuple(correlations), chosen, tuple(notes))


def _scores(result: Result) -> dict[str, float | None]:
    """All scores of a cell; none where it has none."""
    found = {score: value_of(result, score, "all") for score in _SCORES}
    for test in result.tests:
        if test.name == "forced-choice":
            found["forced_choice"] = test.statistic
            for score, name in (("gap_log_p", "log_probability"), ("gap_log_p_per_token", "log_probability_per_token")):
                right, wrong = test.details.get(f"{name}_right"), test.details.get(f"{name}_wrong")
                found[score] = signed_difference(right, wrong)
    return found


def _refuse_twins(cells: Sequence[Cell]) -> None:
    seen: dict[tuple[str, str], Cell] = {}
    for cell in cells:
        earlier = seen.setdefault((cell.result.system, cell.direction), cell)
        if earlier is not cell:
            raise UserError(
                f"{cell.result.system} {cell.direction} is in {earlier.run} and in {cell.run}; give each system once"
            )


def _winomt_results(results: Iterable[Result]) -> dict[tuple[str, str], Result]:
    """By system and direction; the first of several."""
    found: dict[tuple[str, str], Result] = {}
    for result in results:
        if result.selection.benchmark == WINOMT.name:
            found.setdefault((result.system, result.selection.direction), result)
    return found


def _permutation(cells: Sequence[ScoredCell], asked: str) -> str:
    """The one that was asked for; else within languages, if at least two have several systems."""
    sizes = Counter(scored.language for scored in cells)
    if asked == "languages" and max(sizes.values()) < 2:
        raise UserError("no language has two systems that could change places; give more runs, or --permutation free")
    return asked or ("languages" if sum(n > 1 for n in sizes.values()) > 1 else "free")


def _by_language(cells: Sequence[ScoredCell]) -> dict[str, tuple[ScoredCell, ...]]:
    """The cells of each target language, if there are several."""
    found = {
        language: tuple(scored for scored in cells if scored.language == language)
        for language in sorted({scored.language for scored in cells})
    }
    return found if len(found) > 1 else {}


def _correlations(name: str, cells: Sequence[ScoredCell], *, within_languages: bool = False) -> list[ScoreCorrelation]:
    """Of one slice; nothing for scores that too few of its cells have."""
    found = []
    for score in _SCORES:
        known = [(c.accuracy, c.scores[score], c.language) for c in cells if None not in (c.accuracy, c.scores[score])]
        if len(known) >= FEWEST_CELLS:
            accuracies, values = (np.array([row[side] for row in known], dtype=np.float64) for side in (0, 1))
            languages = [language for *_, language in known]
            blocks = languages if within_languages else None
            tests: dict[str, Correlation] = {
                kind: correlation_test(values, accuracies, kind, blocks=blocks) for kind in KINDS
            }
            within = None
            if max(Counter(languages).values()) > 1 < len(set(languages)):
                ranks = within_blocks(values, accuracies, languages)
                within = correlation_test(*ranks, "pearson", blocks=languages)
            found.append(ScoreCorrelation(name, score, tests, within, None))
    corrected = holm([row.tests["spearman"].p_value for row in found])
    return [replace(row, p_holm=p) for row, p in zip(found, corrected, strict=True)]


# -- the command -------------------------------------------------------------------------------------------------------


def correlate(
    runs: Runs,
    accuracy: Annotated[
        tuple[Path, ...],
        typer.Option(metavar="DIR", help="Run folder with WinoMT results of the same systems; may be repeated."),
    ] = (),
    permutation: Annotated[
        str,
        typer.Option(
            help="What chance does, for p-values: systems change places within languages, or free: all cells. "
            "Default: languages, where two or more have several systems."
        ),
    ] = "",
    ranks: Annotated[
        bool, typer.Option("--table18", help="Systems from best to worst by accuracy and surprisal, as Table 18.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Do systems that are rightly unsure also get gender right? Rank correlations over systems and languages."""
    found = correlate_runs(runs, accuracy, permutation)
    tables = [found.rank_table()] if ranks else [found.table(), found.cell_table()]
    notes = found.notes if ranks or as_json else (*found.chance, *found.notes)
    show(found.to_json(), tables, notes, as_json=as_json)
