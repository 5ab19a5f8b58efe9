"""Two systems on the same items: is the difference more than chance? The one place that answers.

`compare`, `gate`, the page, its findings and its figures all ask here, with the same resamples, so that the same
question has the same answer everywhere. p-values are corrected by Holm within one family: the headline metrics of one
pair of runs, over all cells that the two share. Metrics that are no headline form a second family, all of them
together, whichever were asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UserError
from gendermark.metrics import statistics
from gendermark.metrics.intervals import ResampledSpread, interval_at, p_value_of
from gendermark.metrics.metric import Metric, Resampling
from gendermark.metrics.pairing import DifferenceSpread, Pairing, detectable_difference
from gendermark.records import Test, Unit
from gendermark.result import Result
from gendermark.runs.comparable import check_comparable

RESAMPLING = Resampling(10_000)
"""Of every comparison, unless the user asks for another number."""
ALPHA = 0.05
"""Below it, after Holm, a difference is more than chance."""
FAMILY = "Holm's correction over the headline metrics of the two runs"
LESS_RIGHT = 0.05
"""The p-value below which a system is right less often."""
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
    better: str
    n_groups: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    """Of "no difference", two-sided; below 0.05 exactly where the 95 % interval leaves 0 out."""
    p_adjusted: float | None = None
    """The same after Holm, within its family."""
    p_size: float | None = None
    """Of a gap: of "as far from 0 as before", two-sided; the same as `p_value` unless the gap has changed sides."""
    was_clear: bool | None = None
    """Of a gap that has changed sides: whether the first is more than chance; `is_clear`: whether the second is."""
    is_clear: bool | None = None
    detectable: float | None = None
    """The smallest true difference that this data would show in four of five cases, at the corrected level."""
    is_right_less_often: bool = False
    """Whether the second system clearly gets fewer items right; a gap may be small because little is right."""
    unit: Unit = Unit.PERCENT
    is_headline: bool = True
    spread: DifferenceSpread | ResampledSpread | None = field(default=None, compare=False, repr=False)
    """How sure the difference is; not told."""
    size_ends: tuple[float, float] | None = field(default=None, compare=False, repr=False)
    """Of a gap that has changed sides: the interval of how much larger it is than before; not told."""

    def to_json(self) -> dict[str, Any]:
        return {key: self.change() if key == "change" else getattr(self, key) for key in self.told()}

    @classmethod
    def told(cls) -> tuple[str, ...]:
        """The names of what is told of a comparison, in their order."""
        return (*(key for key in cls.__dataclass_fields__ if key not in ("spread", "size_ends")), "change")

    @property
    def is_resampled(self) -> bool:
        """Whether the p-value is made by resampling, and cannot be smaller than the number of resamples allows."""
        return isinstance(self.spread, ResampledSpread)

    @property
    def key(self) -> tuple[str, str, str]:
        return self.cell, self.metric, self.slice

    @property
    def interval(self) -> str:
        return "–" if self.low is None else f"[{self.unit.show(self.low)}, {self.unit.show(self.high)}]"

    @property
    def worse_by(self) -> float:
        """By how much the second is worse at least: the near end of the interval; below 0 if it may be better."""
        if self.first is None or self.second is None or self.low is None or self.high is None:
            return 0.0
        if self.better == "zero":
            if self.first * self.second < 0:
                return self.size_ends[0] if self.size_ends else 0.0
            return self.low if self.first + self.second >= 0 else -self.high
        return self.low if self.better == "lower" else -self.high

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
            # From +2 to -2 is a change, but for nobody the better or the worse; from nothing to something is.
            has_appeared_or_gone = self.was_clear is not None and self.was_clear != self.is_clear
            if (self.p_size is None or self.p_size >= alpha) and not has_appeared_or_gone:
                return "changed"
            if abs(self.second) >= abs(self.first):
                return "worse"
            return SMALLER if self.is_right_less_often else "better"
        return "better" if (self.difference > 0) == (self.better == "higher") else "worse"


@dataclass(frozen=True)
class ComparisonReport:
    """All comparisons of two runs, and of each cell a test of how many items are right."""

    first: str
    second: str
    comparisons: tuple[Comparison, ...]
    tests: tuple[Test, ...]
    notes: tuple[str, ...] = ()
    """In what the runs differ beside their systems."""
    refusals: tuple[str, ...] = ()
    """Why some cells could not be compared."""
    n_questions: int = 0
    """The size of the largest family that was corrected together and has a p-value made by resampling."""
    names: tuple[str, str] = ("", "")
    """What the two systems are called."""

    def to_json(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "second": self.second,
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
            "tests": [test.to_json() for test in self.tests],
            "notes": list(self.notes),
            "first_name": self.names[0],
            "second_name": self.names[1],
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
                raise UserError(f"the runs have no metric {name!r} in common; available: {', '.join(sorted(known))}")


HEADLINE = Asked()


def compare(
    first: Sequence[Result],
    second: Sequence[Result],
    resampling: Resampling = RESAMPLING,
    asked: Asked = HEADLINE,
    *,
    leave_out: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> ComparisonReport:
    """Compare two runs cell by cell, paired on their items.

    What cannot be compared is an error; or, with `leave_out`, named among the refusals. `progress` is told after every
    cell how many are done, of how many.
    """
    pairs, notes, refusals = _matched(first, second, leave_out)
    asked.check([a for a, _ in pairs])
    found: list[Comparison] = []
    tests = []
    for n_done, (a, b) in enumerate(pairs):
        progress(n_done, len(pairs))
        items_right = _items_right(a, b, resampling)
        if any(judgement.expected for judgement in a.judgements):  # else nothing is right or wrong
            tests.append(items_right)
        try:
            own = _compare_cell(a, b, resampling, asked)
        except KeyError as tag:
            raise UserError(f"{a.cell}: the judgements of a run lack the tag {tag}; run it again") from None
        found += [replace(c, is_right_less_often=_is_right_less_often(items_right)) for c in own]
    comparisons = [
        c for family in (True, False) for c in _corrected([c for c in found if c.is_headline is family], resampling)
    ]
    place = {c.key: number for number, c in enumerate(found)}
    families = Counter(c.is_headline for c in found if c.p_value is not None)
    wanted = {key for a, _ in pairs for key in _wanted_keys(a, asked)}
    comparisons = sorted((c for c in comparisons if c.key in wanted), key=lambda c: place[c.key])
    systems = [results[0].system if results else "" for results in (first, second)]
    n_questions = max((families[c.is_headline] for c in comparisons if c.is_resampled), default=0)
    names = (first[0].called if first else "", second[0].called if second else "")
    return ComparisonReport(
        systems[0], systems[1], tuple(comparisons), tuple(tests), tuple(notes), tuple(refusals), n_questions, names
    )


def too_coarse(n_questions: int, resampling: Resampling) -> list[str]:
    """Holm multiplies the smallest p-value by the number of questions; resampling has a smallest one."""
    if 2 * n_questions / (resampling.n_resamples + 1) < ALPHA:
        return []
    enough = int(2 * n_questions / ALPHA) + 1
    return [
        f"{n_questions:,} questions were asked at once, too many for {resampling.n_resamples:,} resamples to answer "
        f"those clearly that are resampled; give --resamples {enough}"
    ]


def _corrected(family: Sequence[Comparison], resampling: Resampling) -> list[Comparison]:
    adjusted = statistics.holm([comparison.p_value for comparison in family])
    # The smallest p-value of the family must pass this level.
    level = (1 - resampling.confidence) / max(sum(p is not None for p in adjusted), 1)
    return [replace(c, p_adjusted=p, detectable=_detectable(c, level)) for c, p in zip(family, adjusted, strict=True)]


def _detectable(c: Comparison, level: float) -> float | None:
    return detectable_difference(c.spread, 1 - level) if c.spread is not None else None


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
    sides = [benchmark.measures.count(result.judgements, result.selection, metrics) for result in (a, b)]
    pairing = Pairing(sides[0], sides[1], resampling)
    return [compare_metric(a.cell, metric, pairing, resampling, benchmark.is_headline(metric)) for metric in metrics]


def compare_metric(
    cell: str, metric: Metric, pairing: Pairing, resampling: Resampling, is_headline: bool = True
) -> Comparison:
    """One metric of two systems; not yet corrected for other questions."""
    first, second = (None if np.isnan(value) else value for value in pairing.values(metric))
    found = Comparison(
        cell=cell,
        metric=metric.name,
        slice=metric.slice,
        first=first,
        second=second,
        better=metric.better,
        n_groups=pairing.n_groups,
        unit=metric.about.unit,
        is_headline=is_headline,
    )
    if first is None or second is None:
        return found
    spread = pairing.difference(metric)
    ends = interval_at(spread, resampling.confidence)
    if metric.better == "zero" and first * second < 0:
        was_clear, is_clear = (p is not None and p < ALPHA for p in pairing.own_p_values(metric, 0.0))
        found = replace(found, was_clear=was_clear, is_clear=is_clear)
    size = pairing.change_of_size(metric) if metric.better == "zero" else None
    return replace(
        found,
        difference=second - first,
        low=ends[0] if ends else None,
        high=ends[1] if ends else None,
        p_value=p_value_of(spread, 0.0),
        p_size=p_value_of(size, 0.0) if size is not None else None,
        spread=spread,
        size_ends=interval_at(size, resampling.confidence) if size is not None else None,
    )


def _items_right(a: Result, b: Result, resampling: Resampling) -> Test:
    """Whether one system gets more items right: whole groups change places, since their items stand or fall together.

    (McNemar's test would take the items for independent, and finds differences where there are none.)
    """
    won: Counter[str] = Counter()
    only = [0, 0]
    for x, y in zip(a.judgements, b.judgements, strict=True):
        won[x.group_id] += y.is_correct - x.is_correct
        only[0] += x.is_correct and not y.is_correct
        only[1] += y.is_correct and not x.is_correct
    differences = np.array(list(won.values()), dtype=np.float64)
    return Test(
        f"items-right {a.cell}",
        "Do the systems get different numbers of items right? (groups of items exchanged between them)",
        None,
        statistics.sign_flip_test(differences, max(resampling.n_resamples, 1000), resampling.seed),
        {"only_first_right": only[0], "only_second_right": only[1], "n": len(a.judgements)},
    )


def _is_right_less_often(items_right: Test) -> bool:
    lost, won = items_right.details["only_first_right"], items_right.details["only_second_right"]
    return lost > won and items_right.p_value is not None and items_right.p_value < LESS_RIGHT
