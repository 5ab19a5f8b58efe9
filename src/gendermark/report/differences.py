"""What one system does better or worse than another, in plain sentences that are never surer than their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gendermark import registry, statistics
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UserError
from gendermark.metrics.metric import Metric, Resampling
from gendermark.report import words
from gendermark.result import Result
from gendermark.runs.compare import SMALLER, Comparison, compare

LEVEL = 0.05
_RESAMPLES_PER_QUESTION = 50
"""Holm multiplies the smallest p-value by the number of questions, so more questions need finer p-values."""
_MOST_RESAMPLES = 20_000
_MOST_SLICES = 2
"""Of one metric, whose differences are told one by one."""
# The metric by which one sentence compares two systems, where it is not the first headline metric.
_LEADING = {"simplegen": "correct:all"}
ABSENT = "not compared"
# In the order in which they are told.
CHANGES = ("worse", "better", SMALLER, "unclear", ABSENT)


@dataclass(frozen=True)
class Difference:
    """One headline metric of a later run against the first run."""

    run: int
    """The place of the later run."""
    benchmark: str
    comparison: Comparison

    @property
    def change(self) -> str:
        """One of CHANGES; `better` and `worse` only if the corrected test and the interval both say so."""
        c = self.comparison
        if c.first is None or c.second is None or c.difference is None:
            return ABSENT
        spans_zero = c.low is None or c.high is None or c.low <= 0 <= c.high
        return "unclear" if spans_zero else c.change(LEVEL)

    @property
    def is_leading(self) -> bool:
        """Whether this is the one metric of its benchmark by which a sentence compares."""
        return self.key == _leading_key(registry.load("benchmark", self.benchmark))

    @property
    def key(self) -> tuple[str, str]:
        return self.comparison.metric, self.comparison.slice

    @property
    def phrase(self) -> str:
        """The metric with both values and how large the change is; the interval alone where nothing can be told."""
        c = self.comparison
        what = words.metric(c.metric, c.slice)
        if c.first is None or c.second is None or c.difference is None:
            return f"{what} (too little was judged)"
        if self.change == "unclear":
            return f"{what} ({self._ends(1)})" if c.low is not None else what
        second, first = (words.value(x, c.metric, self.benchmark) for x in (c.second, c.first))
        # Where a gap has turned round, no one number says how much smaller or larger it is.
        has_turned = c.better == "zero" and c.first * c.second < 0
        by = "" if has_turned else f" (by {self._ends(-1 if c.difference < 0 else 1)})"
        return f"{what}, {second} instead of {first}{by}"

    @property
    def sentence(self) -> tuple[str, str, str]:
        """How the later system compares: what it is, how it is set against the first, whose name comes between, and
        by how much."""
        c = self.comparison
        if c.difference is None:
            return "Not compared", " with ", ": too little was judged."
        if c.difference == c.low == c.high == 0:
            return "The same", " as ", "."
        unit = "" if words.is_fraction(c.metric, self.benchmark) else " points"
        if self.change == "unclear":
            span = f" ({self._ends(1)}{unit})" if c.low is not None else ""
            return "No clear difference", " from ", f"{span}: no more than chance explains."
        by = words.value(abs(c.difference), c.metric, self.benchmark)
        span = words.NO_SPREAD if c.low == c.high else self._ends(-1 if c.difference < 0 else 1)
        return self.change.capitalize(), " than ", f" by {by}{unit} ({span}), more than chance explains."

    def _ends(self, sign: int) -> str:
        """The ends of the interval, or of that of the opposite difference."""
        c = self.comparison
        ends = [c.low, c.high] if sign > 0 else [c.high, c.low]
        ends = ends[:1] if c.low == c.high else ends
        shown = (words.value(None if x is None else sign * x, c.metric, self.benchmark) for x in ends)
        return " to ".join(shown)


def phrases_of(found: Sequence[Difference]) -> list[str]:
    """Phrases of several differences; those of one metric on many slices are told together."""
    by_metric: dict[str, list[Difference]] = {}
    for difference in found:
        by_metric.setdefault(difference.comparison.metric, []).append(difference)
    phrases = []
    for metric, group in by_metric.items():
        if len(group) <= _MOST_SLICES:
            phrases += [difference.phrase for difference in group]
        else:
            slices = ", ".join(words.slice_name(difference.comparison.slice) for difference in group)
            phrases.append(f"{words.metric(metric)} in each of {slices}")
    return phrases


@dataclass(frozen=True)
class Differences:
    """All later runs against the first, Holm-corrected together; and why some could not be compared."""

    found: tuple[Difference, ...] = ()
    refusals: tuple[str, ...] = ()

    def of_run(self, run: int) -> list[Difference]:
        return [d for d in self.found if d.run == run]

    def of(self, cell: str, run: int) -> list[Difference]:
        return [d for d in self.found if d.comparison.cell == cell and d.run == run]

    def leading(self, cell: str, run: int) -> Difference | None:
        """The one by which a sentence compares."""
        return next((d for d in self.of(cell, run) if d.is_leading), None)


def differences(runs: Sequence[Sequence[Result]]) -> Differences:
    """The headline metrics of every later run against the first, and the one that leads, cell by cell."""
    pairs = [
        (place, one, other)
        for place, results in enumerate(runs[1:], start=1)
        for one in runs[0]
        for other in results
        if one.cell == other.cell
    ]
    n_questions = sum(len(_told(one)) for _, one, _ in pairs)
    n_resamples = min(max(Resampling().n_resamples, _RESAMPLES_PER_QUESTION * n_questions), _MOST_RESAMPLES)
    found: list[Difference] = []
    refusals: dict[str, None] = {}
    for place, one, other in pairs:
        try:
            report = compare(
                [one], [other], Resampling(n_resamples), metrics=[f"{m.name}:{m.slice}" for m in _told(one)]
            )
        except UserError as problem:  # other data, other rules: both are shown, and not compared
            refusals[str(problem)] = None
            continue
        found += [Difference(place, one.selection.benchmark, c) for c in report.comparisons]
    adjusted = statistics.holm([difference.comparison.p_value for difference in found])
    corrected = (
        replace(difference, comparison=replace(difference.comparison, p_adjusted=p))
        for difference, p in zip(found, adjusted, strict=True)
    )
    return Differences(tuple(corrected), tuple(refusals))


def _told(result: Result) -> list[Metric]:
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    return [
        metric
        for metric in benchmark.metrics(result.judgements, result.selection)
        if benchmark.is_headline(metric) or (metric.name, metric.slice) == _leading_key(benchmark)
    ]


def _leading_key(benchmark: Benchmark) -> tuple[str, str]:
    metric, _, part = _LEADING.get(benchmark.name, benchmark.headline[0]).partition(":")
    return metric, part or "all"
