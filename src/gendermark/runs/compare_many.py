"""More than two runs on the same items: every pair, or the versions of one system in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UserError
from gendermark.metrics.intervals import estimate
from gendermark.metrics.metric import Resampling
from gendermark.names import told_apart
from gendermark.records import Estimate, Unit, show_p
from gendermark.result import Result
from gendermark.runs.compare import ABSENT, HEADLINE, RESAMPLING, Asked, Comparison, compare, too_coarse

Pair = tuple[int, int]
"""Places of two runs, the earlier first."""
Key = tuple[str, str, str]
"""Cell, metric and slice."""


@dataclass(frozen=True)
class ComparedMetric:
    """One metric of one cell: its value in every run, and the differences that were asked for."""

    cell: str
    metric: str
    slice: str
    better: str
    unit: Unit
    values: tuple[Estimate, ...]
    differences: Mapping[Pair, Comparison]

    @property
    def name(self) -> str:
        return self.metric if self.slice == "all" else f"{self.metric}:{self.slice}"

    def verdict(self, pair: Pair) -> str:
        """What the later run is."""
        return self.differences[pair].change()

    def trend(self, runs: Sequence[str]) -> str:
        """Where the versions have gone, in one or two plain sentences."""
        last = len(runs) - 1
        whole = self.differences[0, last]
        start = f"{self.cell} {self.name}: {self.unit.show(whole.first)} in {runs[0]}, "
        start += f"{self.unit.show(whole.second)} in {runs[last]}"
        if whole.low is None or whole.high is None or whole.p_adjusted is None:
            return f"{start}; too little was judged to tell whether it has changed."
        difference = f"{self.unit.show_change(whole.low)} and {self.unit.show_change(whole.high)}"
        facts = f"p {show_p(whole.p_adjusted)} after Holm; the difference lies between {difference}"
        verdict = self.verdict((0, last))
        told = "no clear change" if verdict == "unclear" else f"{verdict}, by more than chance explains"
        found = f"{start}: {told} ({facts})."
        if last == 1:
            return found
        clear = [n for n in range(last) if self.is_clear((n, n + 1))]
        steps = [f"{runs[n + 1]} is {self._told((n, n + 1))} {runs[n]}" for n in clear]
        return f"{found} Of single steps, {'; '.join(steps) or 'none is clear by itself'}."

    def is_clear(self, pair: Pair) -> bool:
        return self.verdict(pair) not in ("unclear", ABSENT)

    def _told(self, pair: Pair) -> str:
        verdict = self.verdict(pair)
        return "changed from" if verdict == "changed" else f"{verdict} than"

    def to_json(self, runs: Sequence[str]) -> dict[str, Any]:
        values = zip(runs, self.values, strict=True)
        return {
            "cell": self.cell,
            "metric": self.metric,
            "slice": self.slice,
            "better": self.better,
            "values": [{"run": run, "value": e.value, "low": e.low, "high": e.high} for run, e in values],
        }

    def difference_json(self, pair: Pair, runs: Sequence[str]) -> dict[str, Any]:
        c = self.differences[pair]
        numbers = ("difference", "low", "high", "p_value", "p_adjusted", "detectable", "n_groups")
        return {
            "first": runs[pair[0]],
            "second": runs[pair[1]],
            **{key: getattr(c, key) for key in numbers},
            "change": c.change(),
        }


@dataclass(frozen=True)
class ManyCompared:
    """Several runs side by side; p-values are corrected within each pair of runs, as if it were compared alone."""

    runs: tuple[str, ...]
    systems: tuple[str, ...]
    metrics: tuple[ComparedMetric, ...]
    is_trend: bool
    notes: tuple[str, ...]
    called: tuple[str, ...] = ()
    """The names of the systems, each unlike the others; `runs` are the names of the folders."""

    @property
    def steps(self) -> list[Pair]:
        """From each version to the next."""
        return [(n, n + 1) for n in range(len(self.runs) - 1)]

    @property
    def from_first(self) -> list[Pair]:
        return [(0, n) for n in range(1, len(self.runs))]

    def to_json(self) -> dict[str, Any]:
        facts = zip(self.runs, self.systems, self.called, strict=True)
        runs = [{"name": name, "system": system, "called": called} for name, system, called in facts]
        found = [self._trend_json(m) if self.is_trend else self._matrix_json(m) for m in self.metrics]
        return {"runs": runs, "trend" if self.is_trend else "matrix": found, "notes": list(self.notes)}

    def _matrix_json(self, m: ComparedMetric) -> dict[str, Any]:
        return {**m.to_json(self.runs), "differences": [m.difference_json(pair, self.runs) for pair in m.differences]}

    def _trend_json(self, m: ComparedMetric) -> dict[str, Any]:
        return {
            **m.to_json(self.runs),
            "steps": [m.difference_json(pair, self.runs) for pair in self.steps],
            "from_first": [m.difference_json(pair, self.runs) for pair in self.from_first],
            "sentence": m.trend(self.called),
        }


def compare_many(
    runs: Mapping[str, Sequence[Result]],
    resampling: Resampling = RESAMPLING,
    asked: Asked = HEADLINE,
    *,
    trend: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> ManyCompared:
    """Compare every pair of runs; or, for a trend, each version with the one before it and with the first.

    `progress` is told after every pair how many are done, of how many.
    """
    names = tuple(runs)
    shared, notes = _shared_cells(runs)
    pairs = _pairs(len(names), trend)
    found: dict[Pair, dict[Key, Comparison]] = {}
    n_questions = 0
    for n_done, (i, j) in enumerate(pairs):
        progress(n_done, len(pairs))
        try:
            report = compare(shared[i], shared[j], resampling, asked)
        except UserError as problem:
            raise UserError(f"{names[i]} and {names[j]}: {problem}") from None
        found[i, j] = {c.key: c for c in report.comparisons}
        notes += [f"{names[i]} and {names[j]}: {note}" for note in report.notes]
        n_questions = max(n_questions, report.n_questions)
    values = [_values(results, resampling.confidence, asked) for results in shared]
    # A metric counts only if every run knows it: a slice may be missing where nothing of it was judged.
    known: list[set[Key]] = [set(table) for table in found.values()] + [set(table) for table in values]
    keys = [key for key in found[pairs[0]] if all(key in table for table in known)]
    compared = []
    for key in keys:
        differences = {pair: found[pair][key] for pair in pairs}
        one = differences[pairs[0]]
        own = tuple(value[key] for value in values)
        compared.append(ComparedMetric(*key, one.better, one.unit, own, differences))
    systems = tuple(results[0].system for results in shared)
    called = tuple(told_apart([results[0].called for results in shared], names))
    return ManyCompared(names, systems, tuple(compared), trend, (*notes, *too_coarse(n_questions, resampling)), called)


def _pairs(n_runs: int, trend: bool) -> list[Pair]:
    if not trend:
        return list(combinations(range(n_runs), 2))
    steps = [(n, n + 1) for n in range(n_runs - 1)]
    return steps + [(0, n) for n in range(2, n_runs)]


def _shared_cells(runs: Mapping[str, Sequence[Result]]) -> tuple[list[list[Result]], list[str]]:
    """The results that all runs have, in the order of the first; and a note about the others."""
    cells = [{result.cell: result for result in results} for results in runs.values()]
    shared = [cell for cell in cells[0] if all(cell in other for other in cells)]
    if not shared:
        held = "; ".join(f"{name} holds {', '.join(c) or 'nothing'}" for name, c in zip(runs, cells, strict=True))
        raise UserError(f"the runs have no benchmark and direction in common: {held}")
    others = sorted({cell for held in cells for cell in held} - set(shared))
    notes = [f"not in every run, and left out: {', '.join(others)}"] if others else []
    return [[held[cell] for cell in shared] for held in cells], notes


def _values(results: Sequence[Result], confidence: float, asked: Asked) -> dict[Key, Estimate]:
    """As they stand in the runs; estimated again where intervals of another confidence are asked for."""
    found: dict[Key, Estimate] = {}
    for result in results:
        selection = result.selection
        benchmark: Benchmark = registry.load("benchmark", selection.benchmark)
        metrics = [m for m in benchmark.measures.metrics(result.judgements, selection) if asked.wants(benchmark, m)]
        used = replace(Resampling(), confidence=confidence)
        estimates = {(e.metric, e.slice): e for e in result.estimates}
        if result.signed.get("intervals", "") != used.signature:
            counts = benchmark.measures.count(result.judgements, selection)
            estimates |= {(e.metric, e.slice): e for e in estimate(counts, metrics, used)}
        found |= {(result.cell, *m.key): estimates[m.key] for m in metrics if m.key in estimates}
    return found
