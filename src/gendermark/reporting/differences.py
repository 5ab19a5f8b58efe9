"""What one system does better or worse than another, in plain sentences that are never surer than their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.records import Unit
from gendermark.reporting.document import NO_SPREAD
from gendermark.reporting.document import show_value as format_value
from gendermark.result import Result
from gendermark.runs.compare import Comparison, ComparisonReport, compare, key_of

_MOST_SLICES = 2
"""Of one metric, whose differences are told one by one."""


@dataclass(frozen=True)
class Difference:
    """One headline metric of a later run against the first run."""

    run: int
    """The place of the later run."""
    benchmark: str
    comparison: Comparison

    @property
    def change(self) -> str:
        """One of the changes that `compare` knows."""
        return self.comparison.change()

    @property
    def is_leading(self) -> bool:
        """Whether this is the one metric of its benchmark by which a sentence compares."""
        return self.key == leading_key(self._about)

    @property
    def _about(self) -> Benchmark:
        found: Benchmark = registry.load("benchmark", self.benchmark)
        return found

    @property
    def _unit(self) -> Unit:
        return self.comparison.unit

    @property
    def label(self) -> str:
        return self._about.label(*self.key)

    @property
    def key(self) -> tuple[str, str]:
        return self.comparison.metric, self.comparison.slice

    @property
    def phrase(self) -> str:
        """The metric with both values and how large the change is; the interval alone where nothing can be told."""
        c = self.comparison
        what = self.label
        if c.first is None or c.second is None or c.difference is None:
            return f"{what} (one of the two has no value)"
        if self.change == "unclear":
            smallest = format_value(c.detectable, self._unit)
            shows = f"; smallest detectable difference: {smallest}" if c.detectable else ""
            return f"{what} ({self._ends(1)}{shows})" if c.low is not None else what
        second, first = (format_value(x, self._unit) for x in (c.second, c.first))
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
            return "Not compared", " with ", ": one of the two has no value."
        if c.difference == c.low == c.high == 0:
            return "The same", " as ", "."
        unit = self._unit.of_differences
        if self.change == "unclear":
            span = f" ({self._ends(1)}{unit})" if c.low is not None else ""
            enough = "" if c.detectable is None else f" Smallest detectable difference: {self._amount(c.detectable)}."
            if c.in_words() != "not significant":
                return "Difference", " from ", f" {c.in_words()}{span}.{enough}"
            return "No significant difference", " from ", f"{span}.{enough}"
        by = format_value(abs(c.difference), self._unit)
        span = NO_SPREAD if c.low == c.high else self._ends(-1 if c.difference < 0 else 1)
        what, against = ("Different", " from ") if self.change == "changed" else (self.change.capitalize(), " than ")
        return what, against, f" by {by}{unit} ({span}), significant."

    def _amount(self, value: float) -> str:
        return f"{format_value(value, self._unit)}{self._unit.of_differences}"

    def _ends(self, sign: int) -> str:
        """The ends of the interval, or of that of the opposite difference."""
        c = self.comparison
        ends = [c.low, c.high] if sign > 0 else [c.high, c.low]
        ends = ends[:1] if c.low == c.high else ends
        shown = (format_value(None if x is None else sign * x, self._unit) for x in ends)
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
            about = registry.load("benchmark", group[0].benchmark)
            slices = ", ".join(about.slice_label(difference.comparison.slice) for difference in group)
            phrases.append(f"{about.label(metric)} in each of {slices}")
    return phrases


@dataclass(frozen=True)
class Differences:
    """All later runs against the first, each pair corrected by itself; and why some could not be compared."""

    found: tuple[Difference, ...] = ()
    reports: Sequence[ComparisonReport] = ()
    """Of each later run with the first."""

    @property
    def refusals(self) -> list[str]:
        return list(dict.fromkeys(refusal for report in self.reports for refusal in (*report.refusals, *report.notes)))

    def of_run(self, run: int) -> list[Difference]:
        return [d for d in self.found if d.run == run]

    def of(self, cell: str, run: int) -> list[Difference]:
        return [d for d in self.found if d.comparison.cell == cell and d.run == run]

    def leading(self, cell: str, run: int) -> Difference | None:
        """The one by which a sentence compares."""
        return next((d for d in self.of(cell, run) if d.is_leading), None)


def differences(runs: Sequence[Sequence[Result]]) -> Differences:
    """The headline metrics of every later run against the first, cell by cell."""
    reports = [against_first(runs[0], results) for results in runs[1:]]
    found = [
        Difference(place, c.cell.partition(".")[0], c)
        for place, report in enumerate(reports, start=1)
        for c in report.comparisons
    ]
    return Differences(tuple(found), reports)


def against_first(first: Sequence[Result], second: Sequence[Result]) -> ComparisonReport:
    """As a report compares: what differs in more than the system stands in tables and figures of its own."""
    report = compare(first, second, leave_out=True)
    keys = [{key_of(result) for result in side} for side in (first, second)]
    alike = {key[0] for key in keys[0] & keys[1]}
    return replace(report, comparisons=tuple(c for c in report.comparisons if c.cell in alike))


def leading_key(benchmark: Benchmark) -> tuple[str, str]:
    metric, _, part = (benchmark.presentation.leading or benchmark.measures.headline[0]).partition(":")
    return metric, part or "all"
