"""Two systems of a study side by side: what is compared and corrected together, and the words for a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gendermark.lab.plain import PlainSet, bundled_test_set, compare_plain, read_test_set, translated
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.records import Unit
from gendermark.reporting.phrases import between
from gendermark.result import Result
from gendermark.runs.compare import Asked, Comparison, compare
from gendermark.runs.run import RunConfig, RunContext

Key = tuple[str, str, str]
"""Benchmark, metric and slice."""
Row = Mapping[str, Any]
"""A comparison as JSON has it."""
BLEU: Key = ("bleu", "bleu", "all")
CHRF: Key = ("chrf", "chrf", "all")
NO_REFERENCES = "BLEU is left out: there is no test set with references; give --plain SOURCE REFERENCE, and no fake"


def compared(
    results: tuple[Sequence[Result], Sequence[Result]],
    keys: Sequence[Key],
    plain: Sequence[Comparison],
    how: Resampling,
) -> list[Comparison]:
    """These numbers of two runs, and what was compared on a plain test set; one Holm correction over all of it."""
    report = compare(*results, how, Asked(everything=True))
    found = {(row.cell.partition(".")[0], row.metric, row.slice): row for row in report.comparisons}
    return corrected([*(found[key] for key in keys if key in found), *plain])


def corrected(rows: Sequence[Comparison]) -> list[Comparison]:
    """With one Holm correction over all of them."""
    adjusted = statistics.holm([row.p_value for row in rows])
    return [replace(row, p_adjusted=p) for row, p in zip(rows, adjusted, strict=True)]


def compared_plainly(
    test_set: PlainSet, texts: tuple[Sequence[str], Sequence[str]], how: Resampling
) -> list[Comparison]:
    """BLEU and chrF of two systems on a plain test set."""
    return [compare_plain(score, test_set.references, texts, how) for score in ("bleu", "chrf")]


def plain_set(given: tuple[Path, Path] | None, target_language: str) -> PlainSet | None:
    """The test set of the user's, or the bundled one where the language has one."""
    if given is not None:
        return read_test_set(*given)
    return bundled_test_set() if target_language == "es" else None


def plain_texts(config: RunConfig, test_set: PlainSet, target_language: str, context: RunContext) -> list[str]:
    """What the system of a run makes of a plain test set."""
    silent = replace(context, tell=lambda note: None)  # noqa: ARG005 (its notes were given for the run)
    return translated(config.system, test_set, ("en", target_language), config.system_options, silent)


# -- words -------------------------------------------------------------------------------------------------------------


def by_key(comparisons: Sequence[Row]) -> dict[Key, Row]:
    return {(row["cell"].partition(".")[0], row["metric"], row["slice"]): row for row in comparisons}


def is_unchanged(change: Comparison) -> bool:
    """Whether not one sentence made a difference."""
    return change.difference == 0 and not change.low and not change.high


def change_in_words(name: str, change: Comparison) -> str:
    """`BLEU 30.1 to 28.9 (-1.2, CI -2.0 to -0.4: worse)`"""
    show = change.unit.show
    if change.difference is None:
        return f"{name}: no value to compare"
    if is_unchanged(change):
        return f"{name} {show(change.first)}, unchanged"
    ci = "" if change.low is None else f", CI {between(show(change.low), show(change.high))}"
    moved = f"{name} {show(change.first)} to {show(change.second)}"
    return f"{moved} ({change.unit.show_change(change.difference)}{ci}: {change.in_words()})"


def changes_in_words(names: Mapping[Key, str], comparisons: Sequence[Row]) -> list[str]:
    """The named changes of a report."""
    found = {key: _comparison(row) for key, row in by_key(comparisons).items()}
    return [change_in_words(name, found[key]) for key, name in names.items() if key in found]


def _comparison(row: Row) -> Comparison:
    values = {key: value for key, value in row.items() if key != "change"}
    return Comparison(**{**values, "unit": Unit(row["unit"])})


def value_cell(row: Row | None, side: str) -> str:
    return "–" if row is None else Unit(row["unit"]).show(row[side])


def change_cell(row: Row | None) -> str:
    """The new value, and its change with the interval."""
    if row is None or row["difference"] is None:
        return "–"
    unit = Unit(row["unit"])
    change = f"{unit.show(row['second'])} ({unit.show_change(row['difference'])}"
    return f"{change})" if row["low"] is None else f"{change}; {unit.show(row['low'])} to {unit.show(row['high'])})"


LONG_COLUMNS = ("cell", "metric", "slice", "first", "second", "difference", "low", "high", "p_adjusted")


def long_rows(systems: Sequence[Row]) -> list[tuple[Any, ...]]:
    """Every comparison of every system with all its digits."""
    return [(one["name"], *(row[column] for column in LONG_COLUMNS)) for one in systems for row in one["comparisons"]]


def changed_rows(baseline: str, systems: Sequence[Row], keys: Sequence[Key]) -> list[tuple[str, ...]]:
    """The baseline's values, then those of each system with their changes and intervals."""
    first = by_key(systems[0]["comparisons"])
    rows = [(baseline, *(value_cell(first.get(key), "first") for key in keys))]
    for one in systems:
        found = by_key(one["comparisons"])
        rows.append((one["name"], *(change_cell(found.get(key)) for key in keys)))
    return rows
