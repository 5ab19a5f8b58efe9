"""Two systems of a study side by side: plain test sets, what is compared and corrected together, words for a change.

On a plain test set gender is no matter: it shows how well a system translates (Table 9 of the uncertainty paper).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gendermark import api
from gendermark.errors import UserError
from gendermark.io.textfiles import read_lines
from gendermark.lab.grammar import generate
from gendermark.metrics import quality, statistics
from gendermark.metrics.intervals import Pairing
from gendermark.metrics.metric import Counts, Floats, Resampling
from gendermark.records import Unit
from gendermark.reporting.phrases import between
from gendermark.result import Result
from gendermark.runs.compare import Asked, Comparison, compare, compare_metric
from gendermark.runs.run import NO_CONTEXT, RunConfig, RunContext

# -- plain test sets ---------------------------------------------------------------------------------------------------

N_BUNDLED = 1000


class Span(NamedTuple):
    """A value and its interval, if it has one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class PlainSet:
    """Sentences and their translations by people, or by the grammar that made both."""

    name: str
    sources: Sequence[str]
    references: Sequence[str]


def read_test_set(source: Path, reference: Path, option: str = "--plain") -> PlainSet:
    """A file of sentences and one with the translation of each."""
    sources, references = read_lines(source), read_lines(reference)
    if len(sources) != len(references) or not sources:
        raise UserError(
            f"{source} has {len(sources):,} lines and {reference} {len(references):,}; {option} takes a file of "
            "sentences and one with the translation of each"
        )
    return PlainSet(source.name, sources, references)


def bundled_test_set(n: int = N_BUNDLED, seed: int = 0) -> PlainSet:
    """Sentences of the demonstration model's grammar that it has not seen."""
    pairs = list(generate(n, seed, split="held-out"))
    name = "held-out sentences of the bundled grammar (en-es)"
    return PlainSet(name, [pair.source for pair in pairs], [pair.target for pair in pairs])


def translated(
    spec: str,
    test_set: PlainSet,
    direction: tuple[str, str],
    options: Mapping[str, str] | None = None,
    context: RunContext = NO_CONTEXT,
) -> list[str]:
    """What a system makes of the sentences."""
    asking = api.Asking(direction[1], direction[0])
    return [samples[0].text or "" for samples in api.translate(spec, test_set.sources, asking, options, context)]


def rated(texts: Sequence[str], test_set: PlainSet, resampling: Resampling) -> dict[str, Span]:
    """BLEU and chrF, and COMET where the user has it, of the whole set; intervals resample sentences."""
    statistics_of: dict[str, tuple[list[dict[str, float]], Callable[..., Floats]]] = {
        "bleu": (quality.bleu_statistics(texts, test_set.references), quality.bleu_value),
        "chrf": (quality.chrf_statistics(texts, test_set.references), quality.chrf_value),
    }
    if quality.comet_program():
        found = quality.comet_statistics(test_set.sources, texts, test_set.references)
        statistics_of["comet"] = (found, quality.mean_value)
    scores = {}
    for score, (rows, value_of) in statistics_of.items():
        counts: Floats = np.array([list(row.values()) for row in rows])
        drawn = statistics.resampled_sums(counts, resampling.n_resamples, resampling.seed)
        interval = statistics.percentile_interval(value_of(*drawn.T), resampling.confidence)
        value = float(value_of(*counts.sum(axis=0, keepdims=True).T)[0])
        scores[score] = Span(value, *(interval or (None, None)))
    return scores


def compare_plain(
    score: str, references: Sequence[str], texts: tuple[Sequence[str], Sequence[str]], resampling: Resampling
) -> Comparison:
    """BLEU or chrF of two systems, paired on sentences; not yet corrected for other questions."""
    metric = quality.quality(score, "plain")
    columns = {name: place for place, name in enumerate(metric.needs)}
    names = tuple(f"{number:06}" for number in range(len(references)))
    count = {"bleu": quality.bleu_statistics, "chrf": quality.chrf_statistics}[score]
    sides = []
    for lines in texts:
        matrix = np.array([list(row.values()) for row in count(lines, references)])
        sides.append(Counts(names, ("",) * len(names), columns, matrix))
    found = compare_metric(score, metric, Pairing(sides[0], sides[1], resampling), resampling)
    return replace(found, metric=score)


# -- comparisons -------------------------------------------------------------------------------------------------------

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
    if is_unchanged(_comparison(row)):
        return f"{unit.show(row['second'])} (unchanged)"
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
