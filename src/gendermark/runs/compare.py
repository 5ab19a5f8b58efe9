"""Two systems on the same items: is the difference more than chance?"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gendermark import registry, statistics
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UserError
from gendermark.metrics.metric import (
    Counts,
    Floats,
    Metric,
    Resampling,
    count,
    evaluate,
    interval_of,
    rows_by_stratum,
    shows_spread,
    total_sums,
)
from gendermark.records import Test
from gendermark.result import Result

Wanted = Callable[[Benchmark, Metric], bool]
LESS_RIGHT = 0.05
"""The p-value of McNemar's test below which a system is right less often."""
SMALLER = "smaller, but right less often"


@dataclass(frozen=True)
class Comparison:
    """One metric of two systems; `difference` is second minus first."""

    cell: str
    metric: str
    slice: str
    first: float | None
    second: float | None
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    """Paired permutation test, groups exchanged between the systems; for gaps the paired bootstrap, of the gap and of
    its size, the larger counts. Two-sided."""
    p_adjusted: float | None
    """The same after Holm, over all comparisons made together."""
    detectable: float | None
    """The smallest true difference that this data would show in four of five cases."""
    n_groups: int
    better: str
    is_right_less_often: bool = False
    """Whether the second system clearly gets fewer items right; a gap may be small because little is right."""

    def to_json(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self.__dataclass_fields__}

    def change(self, alpha: float = 0.05) -> str:
        """`better`, `worse`, or `unclear`, as far as the data can tell; and for gaps `smaller, but right less often`:
        a system that is right about nobody treats all alike, and is no better for it."""
        if self.first is None or self.second is None or self.difference is None or self.p_adjusted is None:
            return "unclear"
        if self.p_adjusted >= alpha or self.better == "neither":
            return "unclear"
        if self.better == "zero":
            if abs(self.second) >= abs(self.first):
                return "worse"
            return SMALLER if self.is_right_less_often else "better"
        return "better" if (self.difference > 0) == (self.better == "higher") else "worse"


@dataclass(frozen=True)
class ComparisonReport:
    """All comparisons of two runs, and McNemar's test of each cell."""

    first: str
    second: str
    comparisons: tuple[Comparison, ...]
    tests: tuple[Test, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "second": self.second,
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
            "tests": [test.to_json() for test in self.tests],
        }


def compare(
    first: Sequence[Result],
    second: Sequence[Result],
    resampling: Resampling,
    *,
    all_metrics: bool = False,
    metrics: Collection[str] = (),
) -> ComparisonReport:
    """Compare two runs cell by cell, paired on their items: the metrics named, or all, or the headline ones."""
    pairs = _matched(first, second)
    wanted = metric_filter([a for a, _ in pairs], all_metrics, metrics)
    comparisons: list[Comparison] = []
    tests = []
    for a, b in pairs:
        mcnemar = _mcnemar(a, b)
        try:
            found = _compare_cell(a, b, resampling, wanted)
        except KeyError as tag:
            raise UserError(f"{a.cell}: the judgements of a run lack the tag {tag}; run it again") from None
        comparisons += [replace(c, is_right_less_often=_is_right_less_often(mcnemar)) for c in found]
        tests.append(mcnemar)
    adjusted = statistics.holm([comparison.p_value for comparison in comparisons])
    return ComparisonReport(
        pairs[0][0].system,
        pairs[0][1].system,
        tuple(replace(c, p_adjusted=p) for c, p in zip(comparisons, adjusted, strict=True)),
        tuple(tests),
    )


def metric_filter(results: Sequence[Result], all_metrics: bool, names: Collection[str]) -> Wanted:
    """Which metrics are compared; an error names those there are if one that was asked for is not among them."""
    known: dict[str, set[str]] = {}
    for result in results if names else []:
        benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
        for metric in benchmark.metrics(result.judgements, result.selection):
            known[f"{metric.name}:{metric.slice}"] = known.get(f"{metric.name}:{metric.slice}", set()) | metric_names(
                benchmark.name, metric.name, metric.slice
            )
    for name in names:
        if not any(name in spellings for spellings in known.values()):
            raise UserError(f"the runs have no metric {name!r} in common; there is: {', '.join(sorted(known))}")

    def wanted(benchmark: Benchmark, metric: Metric) -> bool:
        if names:
            return not metric_names(benchmark.name, metric.name, metric.slice).isdisjoint(names)
        return all_metrics or benchmark.is_headline(metric)

    return wanted


def metric_names(benchmark: str, metric: str, part: str) -> set[str]:
    """How a metric may be called: `metric` (the whole), `metric:slice`, or either after `benchmark.`."""
    short = {f"{metric}:{part}"} | ({metric} if part == "all" else set())
    return short | {f"{benchmark}.{name}" for name in short}


def _matched(first: Sequence[Result], second: Sequence[Result]) -> list[tuple[Result, Result]]:
    by_cell = {result.cell: result for result in second}
    pairs = [(result, by_cell[result.cell]) for result in first if result.cell in by_cell]
    if not pairs:
        cells = [", ".join(result.cell for result in results) or "nothing" for results in (first, second)]
        raise UserError(f"the two runs have nothing in common: the first holds {cells[0]}, the second {cells[1]}")
    for a, b in pairs:
        for what, mine, theirs in (
            ("data", a.origin, b.origin),
            ("rules", _rules(a), _rules(b)),
            ("clusters", a.selection.cluster, b.selection.cluster),
        ):
            if mine != theirs:
                raise UserError(
                    f"{a.cell}: the runs differ in {what} ({mine} and {theirs}), so their numbers cannot be compared"
                )
        if [j.item_id for j in a.judgements] != [j.item_id for j in b.judgements]:
            raise UserError(
                f"{a.cell}: the runs do not hold the same items, so they cannot be paired; run both on the same data"
            )
    return pairs


def _rules(result: Result) -> str:
    """With their version, which a run of last year may not share; it stands in the signature only."""
    signed = re.search(r"\|rules:([^|]*)", result.signature)
    return signed[1] if signed else result.selection.rules


def _compare_cell(a: Result, b: Result, resampling: Resampling, wanted: Wanted) -> list[Comparison]:
    benchmark: Benchmark = registry.load("benchmark", a.selection.benchmark)
    groups = sorted({judgement.group_id for judgement in a.judgements})
    # One count matrix with the columns of both, so that a column one system never filled is zero and not absent.
    counts = count(
        [*_labelled(a, "a"), *_labelled(b, "b")],
        benchmark.tally(a.selection),
        lambda judgement: benchmark.stratum(judgement, a.selection),
        [f"{side}/{group}" for side in "ab" for group in groups],
    )
    rows_a, rows_b = counts.matrix[: len(groups)], counts.matrix[len(groups) :]
    sides = [replace(counts, matrix=rows) for rows in (rows_a, rows_b)]
    totals = [total_sums(side) for side in sides]
    boot = _paired_resampled_sums(counts, len(groups), resampling)
    swapped = statistics.exchanged_sums(rows_a, rows_b, max(resampling.n_resamples, 1000), resampling.seed)
    found = []
    for metric in benchmark.metrics(a.judgements, a.selection):
        if not wanted(benchmark, metric):
            continue
        values = [float(evaluate(metric, counts, sums)[0]) for sums in totals]
        difference = values[1] - values[0]
        known = not np.isnan(difference)
        resampled = [evaluate(metric, counts, sums) for sums in boot]
        replicates = resampled[1] - resampled[0]
        interval = _interval(metric, sides, values, resampled, resampling.confidence) if known else None
        null = [evaluate(metric, counts, sums) for sums in swapped]
        if metric.better == "zero":
            # A gap that turns from one side to the other has changed, but is no worse: its size must have changed too.
            sizes = [np.abs(evaluate(metric, counts, sums)) for sums in boot]
            p_value = max(_bootstrap_p_value(replicates), _bootstrap_p_value(sizes[1] - sizes[0])) if known else None
        else:
            p_value = statistics.permutation_p_value(difference, null[1] - null[0], "two-sided") if known else None
        found.append(
            Comparison(
                cell=a.cell,
                metric=metric.name,
                slice=metric.slice,
                first=None if np.isnan(values[0]) else values[0],
                second=None if np.isnan(values[1]) else values[1],
                difference=difference if known else None,
                low=interval[0] if interval else None,
                high=interval[1] if interval else None,
                p_value=p_value,
                p_adjusted=None,
                detectable=_detectable(replicates, resampling) if known else None,
                n_groups=len(groups),
                better=metric.better,
            )
        )
    return found


def _interval(
    metric: Metric, sides: Sequence[Counts], values: Sequence[float], resampled: Sequence[Floats], confidence: float
) -> tuple[float, float] | None:
    """Of the difference, by the paired bootstrap; where neither value shows a spread, by the intervals of the two."""
    interval = statistics.percentile_interval(resampled[1] - resampled[0], confidence)
    if interval is None or any(map(shows_spread, resampled)) or np.array_equal(sides[0].matrix, sides[1].matrix):
        return interval
    single = [interval_of(metric, side, own, confidence) for side, own in zip(sides, resampled, strict=True)]
    (low_a, high_a), (low_b, high_b) = single
    if low_a is None or high_a is None or low_b is None or high_b is None:
        return interval
    return statistics.combined_interval(values[1], (low_b, high_b), values[0], (low_a, high_a))


def _bootstrap_p_value(differences: Floats) -> float:
    """Two-sided: how often a resampled difference lies on the other side of zero, twice.

    For gaps, where exchanging systems would not do. A gap is often small because large leanings of single groups to
    both sides cancel out, which they no longer do when groups change places; and two gaps on either side of zero nearly
    add up to a constant under exchange, so that any difference of their sizes would look extreme.
    """
    known = differences[~np.isnan(differences)]
    beyond = min(int((known <= 0).sum()), int((known >= 0).sum()))
    return min(1.0, 2 * (beyond + 1) / (len(known) + 1))


def _paired_resampled_sums(counts: Counts, n_groups: int, resampling: Resampling) -> tuple[Floats, Floats]:
    """Resampled sums of both systems, the same groups drawn for both, each stratum by itself."""
    first, second = counts.matrix[:n_groups], counts.matrix[n_groups:]
    shape = (resampling.n_resamples, counts.matrix.shape[1])
    sums = np.zeros(shape), np.zeros(shape)
    for position, rows in enumerate(rows_by_stratum(counts)):
        own = rows[rows < n_groups]
        drawn = statistics.paired_resampled_sums(
            first[own], second[own], resampling.n_resamples, resampling.seed + position
        )
        for total, part in zip(sums, drawn, strict=True):
            total += part
    return sums


def _labelled(result: Result, side: str) -> list[Any]:
    return [replace(judgement, group_id=f"{side}/{judgement.group_id}") for judgement in result.judgements]


def _detectable(replicates: Any, resampling: Resampling) -> float | None:
    defined = replicates[~np.isnan(replicates)]
    if len(defined) < 2:
        return None
    return statistics.minimum_detectable_difference(float(defined.std(ddof=1)), resampling.confidence)


def _mcnemar(a: Result, b: Result) -> Test:
    pairs = list(zip(a.judgements, b.judgements, strict=True))
    only_a = sum(x.is_correct and not y.is_correct for x, y in pairs)
    only_b = sum(y.is_correct and not x.is_correct for x, y in pairs)
    return Test(
        f"mcnemar {a.cell}",
        "Do the systems get different numbers of items right? (McNemar, exact; takes items as independent)",
        None,
        statistics.mcnemar(only_a, only_b),
        {"only_first_right": only_a, "only_second_right": only_b, "n": len(pairs)},
    )


def _is_right_less_often(mcnemar: Test) -> bool:
    lost, won = mcnemar.details["only_first_right"], mcnemar.details["only_second_right"]
    return lost > won and mcnemar.p_value is not None and mcnemar.p_value < LESS_RIGHT
