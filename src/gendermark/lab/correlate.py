"""Does a system's uncertainty correlate with its gender accuracy? (Tables 3, 16, 18, 19 of the uncertainty paper)"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gendermark.benchmarks.uncertainty.items import UNAMBIGUOUS
from gendermark.benchmarks.winomt.judge import BENCHMARK as WINOMT
from gendermark.cli.terminal import AsJson
from gendermark.errors import UnknownName, UserError
from gendermark.lab.studies import lists, show, statistics_package
from gendermark.lab.uncertainty_results import SETTINGS, Cell, Runs, differences, differences_of, read_cells, value_of
from gendermark.metrics.metric import Floats
from gendermark.metrics.statistics import holm, permutation_p_value
from gendermark.metrics.uncertainty import signed_difference
from gendermark.reporting.document import Table
from gendermark.result import Result
from gendermark.runs import folder

FEWEST_CELLS = 4
"""Three cells have only six orders: any two rankings agree by chance too often."""

_SCORES: Mapping[str, str] = lists("correlate")
"""The scores of a cell, and the expected sign of their correlation with accuracy."""
_RANKED = ("delta_i_s3e", "delta_i_gender", "delta_i_semantic", "gap_log_p")
_IF_ASKED_FOR = tuple(name for name in _SCORES if "semantic" in name or name == "forced_choice" or "log_p" in name)
KINDS = {"spearman": "spearmanr", "kendall": "kendalltau", "pearson": "pearsonr"}
PERMUTATIONS: Mapping[str, str] = {
    "languages": "systems change places within each language, so what languages differ in counts for nothing",
    "free": "all cells change places with all others",
}
"""Null models. Languages differ in both accuracy and uncertainty, so free permutation finds a correlation where no
system is better than another: in the paper's Table 14, Spearman's would be -0.63."""
_CHANCE = "p-values of all languages together"
MOST_ORDERS = math.factorial(9)
"""Up to this many orders (362,880), all are enumerated; beyond, orders are sampled."""


def _stats() -> Any:
    return statistics_package("scipy.stats", "study uncertainty correlate")


# -- the test ----------------------------------------------------------------------------------------------------------


class Correlation(NamedTuple):
    """Correlation of two lists of numbers, with its permutation p-value."""

    value: float | None
    """`None` with fewer than two pairs, or a constant list."""
    p_value: float | None
    by_chance: float | None
    """Mean over all orders: 0, unless numbers stay within blocks that differ in both lists."""
    is_exact: bool


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

    With `blocks`, one for each pair, values are permuted only within blocks, to test for association beyond block
    differences (restricted permutation: Anderson & ter Braak 2003, Journal of Statistical Computation and Simulation
    73:85-113). Distances are from the mean over all orders.
    """
    stats = _stats()
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    parts = _places(blocks if blocks is not None else [0] * len(x))
    is_exact = math.prod(math.factorial(len(part)) for part in parts) <= MOST_ORDERS
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(None, None, None, is_exact)
    value = float(getattr(stats, KINDS[kind])(x, y).statistic)
    if is_exact:
        orders = _all_orders(tuple(parts))
    else:
        generator = np.random.Generator(np.random.PCG64(seed))
        orders = np.zeros((n_resamples, len(x)), dtype=np.int64)
        for part in parts:
            orders[:, part] = generator.permuted(np.tile(np.array(part), (n_resamples, 1)), axis=1)
    # Permutation changes neither spread nor ties, only the product.
    if kind == "kendall":
        signs = [np.sign(values[:, None] - values).astype(np.int8) for values in (x, y)]
        totals = (signs[0][orders[:, :, None], orders[:, None, :]] * signs[1]).sum(axis=(1, 2), dtype=np.int64)
        replicates = totals / math.sqrt(math.prod(int(np.abs(own).sum(dtype=np.int64)) for own in signs))
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
    return Correlation(value, p_value, by_chance, is_exact)


def within_blocks(first: ArrayLike, second: ArrayLike, blocks: Sequence[Hashable]) -> tuple[Floats, Floats]:
    """Ranks of both lists, centred within each block, which removes block differences."""
    rank = _stats().rankdata
    ranks = np.zeros((2, len(blocks)))
    for places in map(list, _places(blocks)):
        for row, values in zip(ranks, (first, second), strict=True):
            row[places] = rank(np.asarray(values)[places]) - (len(places) + 1) / 2
    return ranks[0], ranks[1]


def _places(blocks: Sequence[Hashable]) -> list[tuple[int, ...]]:
    found: dict[Hashable, list[int]] = defaultdict(list)
    for place, block in enumerate(blocks):
        found[block].append(place)
    return [tuple(places) for places in found.values()]


@cache
def _all_orders(parts: tuple[tuple[int, ...], ...]) -> NDArray[np.int64]:
    """Every permutation within the parts, one per row."""
    orders = [list(itertools.chain(*order)) for order in itertools.product(*map(itertools.permutations, parts))]
    found = np.zeros((len(orders), sum(map(len, parts))), dtype=np.int64)
    found[:, list(itertools.chain(*parts))] = orders
    return found


# -- the study ---------------------------------------------------------------------------------------------------------

Row = Mapping[str, Any]


def correlate_runs(
    runs: Sequence[Path | str], accuracy_runs: Sequence[Path | str] = (), permutation: str = ""
) -> dict[str, Any]:
    """Rank systems by uncertainty and by accuracy: WinoMT's if every cell has it, else that of the samples.

    By default, systems are permuted within languages if at least two languages have several systems.
    """
    if permutation not in ("", *PERMUTATIONS):
        raise UnknownName("permutation", permutation, PERMUTATIONS)
    cells = [cell for run in runs for cell in read_cells(run)]
    seen: dict[str, Cell] = {}
    for cell in cells:
        earlier = seen.setdefault(cell.name, cell)
        if earlier is not cell:
            raise UserError(f"{cell.name} is in {earlier.run} and in {cell.run}; give each system once")
    notes = differences_of(cells, (*SETTINGS, "variant"))
    by_system: dict[str, Result] = {}  # the first of several
    for result in (result for run in accuracy_runs or runs for result in folder.read_results(Path(run))):
        if result.selection.benchmark == WINOMT.name:
            by_system.setdefault(f"{result.system} {result.selection.direction}", result)
    winomt = {cell.name: by_system[cell.name] for cell in cells if cell.name in by_system}
    without = [cell for cell in cells if cell.name not in winomt]
    if not without:
        kind = "WinoMT accuracy on he and she"
        accuracies = [value_of(winomt[cell.name], "accuracy", "mf") for cell in cells]
        notes += differences("WinoMT was not measured alike", list(winomt.values()), ("data", "rules"))
    elif accuracy_runs:
        raise UserError(f"no run of --accuracy has WinoMT results of {without[0].name}; give one")
    else:
        kind = "the share of samples with the right gender"
        if winomt:  # do not mix two kinds of accuracy in one ranking
            notes.append(f"{len(without)} of {len(cells)} cells have no WinoMT results, so {kind} is taken for all")
        shares = [value_of(cell.result, "p_right", UNAMBIGUOUS) for cell in cells]
        accuracies = [None if share is None else 100 * share for share in shares]
    scored: list[dict[str, Any]] = [
        {**cell.where, "accuracy": accuracy, "scores": _scores(cell.result)}
        for cell, accuracy in zip(cells, accuracies, strict=True)
    ]
    sizes = Counter(map(_language, scored))
    if permutation == "languages" and max(sizes.values()) < 2:
        raise UserError("no language has two systems to permute; give more runs, or --permutation free")
    chosen = permutation or ("languages" if sum(n > 1 for n in sizes.values()) > 1 else "free")
    languages = sorted(sizes)
    correlations = _correlations("all", scored, within_languages=chosen == "languages")
    for language in languages if len(languages) > 1 else ():
        correlations += _correlations(language, [row for row in scored if _language(row) == language])
    known = [score for score in _SCORES if any(row["scores"][score] is not None for row in scored)]
    if not correlations:
        notes.append(
            f"too few systems and languages for a correlation: {len(cells)} given, at least {FEWEST_CELLS} with an "
            "accuracy and the same score needed"
        )
    else:
        notes = [f"{_CHANCE}: {PERMUTATIONS[chosen]}"] * (len(languages) > 1) + notes
        wanted = [score for score in _SCORES if score not in _IF_ASKED_FOR or score in known]
        if rare := [score for score in wanted if score not in {row["score"] for row in correlations}]:
            notes.append(f"fewer than {FEWEST_CELLS} cells have an accuracy and a value of {', '.join(rare)}")
    return {
        "accuracy": kind,
        "permutation": chosen,
        "ranks": {score: _ranked(scored, score) for score in ("accuracy", *known)},
        "cells": scored,
        "correlations": correlations,
        "notes": notes,
    }


def _language(row: Row) -> str:
    return str(row["direction"]).partition("-")[2]


def _scores(result: Result) -> dict[str, float | None]:
    found = {score: value_of(result, score, "all") for score in _SCORES}
    for test in result.tests:
        if test.name == "forced-choice":
            found["forced_choice"] = test.statistic
            for score, name in (("gap_log_p", "log_probability"), ("gap_log_p_per_token", "log_probability_per_token")):
                right, wrong = test.details.get(f"{name}_right"), test.details.get(f"{name}_wrong")
                found[score] = signed_difference(right, wrong)
    return found


def _ranked(cells: Sequence[Row], score: str) -> list[dict[str, Any]]:
    is_accuracy = score == "accuracy"
    sign = -1 if is_accuracy or _SCORES[score] == "positive" else 1
    values = [(row["accuracy"] if is_accuracy else row["scores"][score], row) for row in cells]
    known = [(sign * value, row) for value, row in values if value is not None]
    known.sort(key=lambda pair: (pair[0], pair[1]["system"], pair[1]["direction"]))
    return [
        {
            **{name: row[name] for name in ("run", "system", "direction")},
            "rank": 1 + sum(other < value for other, _ in known),
        }
        for value, row in known
    ]


def _correlations(name: str, cells: Sequence[Row], *, within_languages: bool = False) -> list[dict[str, Any]]:
    """Correlations of one slice; none for scores that too few cells have.

    `within` uses ranks within each language; None with one language, or one system in each. `p_holm` is Spearman's,
    corrected over all scores of the slice.
    """
    found: list[dict[str, Any]] = []
    for score in _SCORES:
        known = [row for row in cells if row["accuracy"] is not None and row["scores"][score] is not None]
        if len(known) < FEWEST_CELLS:
            continue
        values, accuracies = [row["scores"][score] for row in known], [row["accuracy"] for row in known]
        languages = [_language(row) for row in known]
        blocks = languages if within_languages else None
        within = None
        if max(Counter(languages).values()) > 1 < len(set(languages)):
            ranks = within_blocks(values, accuracies, languages)
            within = correlation_test(*ranks, "pearson", blocks=languages)._asdict()
        tests = {kind: correlation_test(values, accuracies, kind, blocks=blocks)._asdict() for kind in KINDS}
        about = {"slice": name, "score": score, "expected": _SCORES[score], "n": len(known)}
        found.append({**about, **tests, "within": within})
    corrected = holm([row["spearman"]["p_value"] for row in found])
    return [{**row, "p_holm": p} for row, p in zip(found, corrected, strict=True)]


def _tables(report: Row) -> list[Table]:
    about = ("slice", "score", "expected", "n")
    tested = [(kind, number) for kind in KINDS for number in ("value", "p_value")]
    rows = [
        (
            *(row[name] for name in about),
            *(row[kind][number] for kind, number in tested),
            *(row["p_holm"], row["spearman"]["by_chance"]),
            *((row["within"] or {}).get(number) for number in ("value", "p_value")),
        )
        for row in report["correlations"]
    ]
    heads = (kind if number == "value" else f"{kind}_p" for kind, number in tested)
    columns = (*about, *heads, "p_holm", "spearman_by_chance", "within", "within_p")
    known = [score for score in report["ranks"] if score != "accuracy"]
    where = ("run", "system", "direction", "accuracy")
    cells = [(*(row[name] for name in where), *(row["scores"][one] for one in known)) for row in report["cells"]]
    return [
        Table(columns, rows, f"Uncertainty against {report['accuracy']}"),
        Table((*where, *known), cells, f"One row per system and language; accuracy is {report['accuracy']}"),
    ]


def correlate(
    runs: Runs,
    accuracy: tuple[Path, ...] = (),
    permutation: str = "",
    ranks: bool = False,
    as_json: AsJson = False,
) -> None:
    """Correlate gender uncertainty with gender accuracy over systems and languages (rank correlation)."""
    report = correlate_runs(runs, accuracy, permutation)
    tables, notes = _tables(report), report["notes"]
    if ranks:
        orders = {score: order for score, order in report["ranks"].items() if score in ("accuracy", *_RANKED)}
        rows = [
            tuple(f"#{one['rank']} {one['system']} {one['direction']}" if one else None for one in places)
            for places in itertools.zip_longest(*orders.values())
        ]
        title = f"From best to worst; accuracy is {report['accuracy']}; equal values share a place"
        tables = [Table(tuple(orders), rows, title)]
        notes = [note for note in notes if not note.startswith(_CHANCE)]  # there are no p-values
    show(report, tables, notes, as_json=as_json)
