"""Two systems on the same items: is the difference more than chance? The one place that answers.

`compare`, `gate`, the page, its findings and its figures all ask here, with the same resamples, so that the same
question has the same answer everywhere. p-values are corrected by Holm within one family: the headline metrics of one
pair of runs, over all cells that the two share. Metrics that are no headline form a second family, all of them
together, whichever were asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
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
    Tally,
    count,
    evaluate,
    interval_of,
    rows_by_stratum,
    shows_spread,
    total_sums,
)
from gendermark.records import Judgement, Test, Unit
from gendermark.result import Result
from gendermark.runs.comparable import check_comparable

RESAMPLING = Resampling(10_000)
"""Of every comparison, unless the user asks for another number."""
ALPHA = 0.05
"""Below it, after Holm, a difference is more than chance."""
FAMILY = "Holm's correction over the headline metrics of the two runs"
LESS_RIGHT = 0.05
"""The p-value of McNemar's test below which a system is right less often."""
SMALLER = "smaller, but right less often"
ABSENT = "not compared"
CHANGES = ("worse", "better", SMALLER, "changed", "unclear", ABSENT)
"""What the second run is, in the order in which it is told."""


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
    """The same after Holm, within its family."""
    detectable: float | None
    """The smallest true difference that this data would show in four of five cases."""
    n_groups: int
    better: str
    is_right_less_often: bool = False
    """Whether the second system clearly gets fewer items right; a gap may be small because little is right."""
    unit: Unit = Unit.PERCENT
    is_headline: bool = True

    def to_json(self) -> dict[str, Any]:
        return {**{key: getattr(self, key) for key in self.__dataclass_fields__}, "change": self.change()}

    @property
    def key(self) -> tuple[str, str, str]:
        return self.cell, self.metric, self.slice

    @property
    def interval(self) -> str:
        return "–" if self.low is None else f"[{self.unit.show(self.low)}, {self.unit.show(self.high)}]"

    def change(self, alpha: float = ALPHA) -> str:
        """One of `CHANGES`: `better` and `worse` only if the corrected test and the interval both say so.

        Of gaps: a system that is right about nobody treats all alike, and is no better for it."""
        if self.first is None or self.second is None or self.difference is None:
            return ABSENT
        spans_zero = self.low is None or self.high is None or self.low <= 0 <= self.high
        if spans_zero or self.p_adjusted is None or self.p_adjusted >= alpha:
            return "unclear"
        if self.better == "neither":
            return "changed"
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
    notes: tuple[str, ...] = ()
    """In what the runs differ beside their systems."""
    refusals: tuple[str, ...] = ()
    """Why some cells could not be compared."""
    n_questions: int = 0
    """How many were asked at once: the size of the largest family that was corrected together."""

    def to_json(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "second": self.second,
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
            "tests": [test.to_json() for test in self.tests],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Asked:
    """Which metrics are wanted: the headline ones, those named, or all."""

    names: Collection[str] = ()
    everything: bool = False

    def wants(self, benchmark: Benchmark, metric: Metric) -> bool:
        if self.names:
            return not metric_names(benchmark.name, metric.name, metric.slice).isdisjoint(self.names)
        return self.everything or benchmark.is_headline(metric)

    def check(self, results: Sequence[Result]) -> None:
        """An error names the metrics there are if one that was asked for is not among them."""
        known: dict[str, set[str]] = {}
        for result in results if self.names else []:
            for metric in _benchmark(result).measures.metrics(result.judgements, result.selection):
                spellings = metric_names(result.selection.benchmark, metric.name, metric.slice)
                known.setdefault(f"{metric.name}:{metric.slice}", set()).update(spellings)
        for name in self.names:
            if not any(name in spellings for spellings in known.values()):
                raise UserError(f"the runs have no metric {name!r} in common; there is: {', '.join(sorted(known))}")


HEADLINE = Asked()


def compare(
    first: Sequence[Result],
    second: Sequence[Result],
    resampling: Resampling = RESAMPLING,
    asked: Asked = HEADLINE,
    *,
    leave_out: bool = False,
) -> ComparisonReport:
    """Compare two runs cell by cell, paired on their items.

    What cannot be compared is an error; or, with `leave_out`, named among the refusals.
    """
    pairs, notes, refusals = _matched(first, second, leave_out)
    asked.check([a for a, _ in pairs])
    found: list[Comparison] = []
    tests = []
    for a, b in pairs:
        mcnemar = _mcnemar(a, b)
        if any(judgement.expected for judgement in a.judgements):  # else nothing is right or wrong
            tests.append(mcnemar)
        try:
            own = _compare_cell(a, b, resampling, asked)
        except KeyError as tag:
            raise UserError(f"{a.cell}: the judgements of a run lack the tag {tag}; run it again") from None
        found += [replace(c, is_right_less_often=_is_right_less_often(mcnemar)) for c in own]
    comparisons = [c for family in (True, False) for c in _corrected([c for c in found if c.is_headline is family])]
    place = {c.key: number for number, c in enumerate(found)}
    families = Counter(c.is_headline for c in found if c.p_value is not None)
    wanted = {key for a, _ in pairs for key in _wanted_keys(a, asked)}
    comparisons = sorted((c for c in comparisons if c.key in wanted), key=lambda c: place[c.key])
    systems = [results[0].system if results else "" for results in (first, second)]
    n_questions = max((families[c.is_headline] for c in comparisons), default=0)
    return ComparisonReport(
        systems[0], systems[1], tuple(comparisons), tuple(tests), tuple(notes), tuple(refusals), n_questions
    )


def too_coarse(n_questions: int, resampling: Resampling) -> list[str]:
    """Holm multiplies the smallest p-value by the number of questions; a permutation test has a smallest one."""
    n_permutations = max(resampling.n_resamples, 1000)
    if n_questions / (n_permutations + 1) < ALPHA:
        return []
    enough = int(n_questions / ALPHA) + 1
    return [
        f"{n_questions:,} questions were asked at once, too many for {n_permutations:,} resamples to answer any "
        f"clearly; give --resamples {enough}"
    ]


def _corrected(family: Sequence[Comparison]) -> list[Comparison]:
    adjusted = statistics.holm([comparison.p_value for comparison in family])
    return [replace(c, p_adjusted=p) for c, p in zip(family, adjusted, strict=True)]


def _benchmark(result: Result) -> Benchmark:
    found: Benchmark = registry.load("benchmark", result.selection.benchmark)
    return found


def _metrics(result: Result) -> list[Metric]:
    return list(_benchmark(result).measures.metrics(result.judgements, result.selection))


def _wanted_keys(result: Result, asked: Asked) -> list[tuple[str, str, str]]:
    return [(result.cell, *m.key) for m in _metrics(result) if asked.wants(_benchmark(result), m)]


def metric_names(benchmark: str, metric: str, part: str) -> set[str]:
    """How a metric may be called: `metric` (the whole), `metric:slice`, or either after `benchmark.`."""
    short = {f"{metric}:{part}"} | ({metric} if part == "all" else set())
    return short | {f"{benchmark}.{name}" for name in short}


def _matched(
    first: Sequence[Result], second: Sequence[Result], leave_out: bool
) -> tuple[list[tuple[Result, Result]], list[str], list[str]]:
    """The results of the same cells, remarks about them, and why others are left out."""
    by_cell = {result.cell: result for result in second}
    found = [(result, by_cell[result.cell]) for result in first if result.cell in by_cell]
    if not found and not leave_out:
        cells = [", ".join(result.cell for result in results) or "nothing" for results in (first, second)]
        raise UserError(f"the two runs have nothing in common: the first holds {cells[0]}, the second {cells[1]}")
    pairs, notes, refusals = [], [], []
    for a, b in found:
        try:
            notes += check_comparable(a, b)
        except UserError as problem:
            if not leave_out:
                raise
            refusals.append(str(problem))
            continue
        pairs.append((a, b))
    return pairs, notes, refusals


def _compare_cell(a: Result, b: Result, resampling: Resampling, asked: Asked) -> list[Comparison]:
    """All headline metrics of a cell; and, if any other was asked for, all others too: they are one family."""
    benchmark = _benchmark(a)
    every = _metrics(a)
    with_others = any(asked.wants(benchmark, m) and not benchmark.is_headline(m) for m in every)
    metrics = [m for m in every if with_others or benchmark.is_headline(m)]
    groups = sorted({judgement.group_id for judgement in a.judgements})
    # One count matrix with the columns of both, so that a column one system never filled is zero and not absent.
    counts = count(
        [*_labelled(a, "a"), *_labelled(b, "b")],
        _only_needed(benchmark, metrics),
        lambda judgement: benchmark.measures.stratum(judgement, a.selection),
        [f"{side}/{group}" for side in "ab" for group in groups],
    )
    rows_a, rows_b = counts.matrix[: len(groups)], counts.matrix[len(groups) :]
    sides = [replace(counts, matrix=rows) for rows in (rows_a, rows_b)]
    totals = [total_sums(side) for side in sides]
    boot = _paired_resampled_sums(counts, len(groups), resampling)
    swapped = statistics.exchanged_sums(rows_a, rows_b, max(resampling.n_resamples, 1000), resampling.seed)
    found = []
    for metric in metrics:
        values = [float(evaluate(metric, counts, sums)[0]) for sums in totals]
        difference = values[1] - values[0]
        known = not np.isnan(difference)
        resampled = [evaluate(metric, counts, sums) for sums in boot]
        interval = _interval(metric, sides, values, resampled, resampling.confidence) if known else None
        null = [evaluate(metric, counts, sums) for sums in swapped] if metric.better != "zero" else []
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
                p_value=_p_value(difference, resampled, null) if known else None,
                p_adjusted=None,
                detectable=_detectable(resampled[1] - resampled[0], resampling) if known else None,
                n_groups=len(groups),
                better=metric.better,
                unit=metric.about.unit,
                is_headline=benchmark.is_headline(metric),
            )
        )
    return found


def _only_needed(benchmark: Benchmark, metrics: Sequence[Metric]) -> Tally:
    """The benchmark's tally without the columns that none of these metrics needs: fewer are resampled faster."""
    needed = {column for metric in metrics for column in metric.needs}

    def tally(group: Sequence[Judgement]) -> Mapping[str, float]:
        return {name: n for name, n in benchmark.measures.tally(group).items() if name in needed}

    return tally


def _p_value(difference: float, resampled: Sequence[Floats], null: Sequence[Floats]) -> float | None:
    """By exchanging the systems; of gaps by the bootstrap, since exchanging would not do.

    A gap is often small because large leanings of single groups to both sides cancel out, which they no longer do when
    groups change places; and two gaps on either side of zero nearly add up to a constant under exchange, so that any
    difference of their sizes would look extreme. A gap that turns from one side to the other has changed, but is no
    worse: its size must have changed too.
    """
    if null:
        return statistics.permutation_p_value(difference, null[1] - null[0], "two-sided")
    sizes = np.abs(resampled[1]) - np.abs(resampled[0])
    both = [statistics.bootstrap_p_value(found) for found in (resampled[1] - resampled[0], sizes)]
    return None if None in both else max(p for p in both if p is not None)


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
