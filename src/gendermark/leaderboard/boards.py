"""Systems in order: one board for each benchmark, direction and way of measuring, and how sure each place is.

Every two systems of a board are compared on the same sentences, and Holm's correction is over all these comparisons: a
board asks all of them at once. A system's rank is a range: it may be as good as one place behind those that are
clearly better, and as bad as one place before those that are clearly worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.leaderboard.submission import Submission, key_from, leading_of
from gendermark.metrics import statistics
from gendermark.metrics.describe import Description
from gendermark.metrics.pairing import Pairing
from gendermark.records import Estimate
from gendermark.runs import folder
from gendermark.runs.comparable import check_comparable, key_of, told_apart
from gendermark.runs.compare import RESAMPLING, Comparison, compare_metric
from gendermark.runs.executors import SERIAL, Executor

Pair = tuple[int, int]


@dataclass(frozen=True)
class Standing:
    """A system on a board: the ranks that it may have; 0 where there is no number to rank it by."""

    submission: Submission
    first: int
    last: int

    @property
    def rank(self) -> str:
        if not self.first:
            return "–"
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"

    def estimate(self, key: tuple[str, str]) -> Estimate | None:
        return self.submission.result.find(*key)


@dataclass(frozen=True)
class Board:
    """All systems that were measured alike, the best first."""

    label: str
    """What sets it apart from other boards of its benchmark and direction."""
    standings: tuple[Standing, ...]
    pairs: Mapping[Pair, Comparison]
    """Of places in the order of the standings, the earlier first; p-values corrected over all of them."""

    @property
    def any(self) -> Submission:
        return self.standings[0].submission

    @property
    def benchmark(self) -> Benchmark:
        return _benchmark(self.any)

    @property
    def metric(self) -> tuple[str, str]:
        """It is ordered by."""
        return key_from(leading_of(self.benchmark))

    @property
    def about(self) -> Description:
        return self.benchmark.describe(self.metric[0])


def boards(submissions: Sequence[Submission], executor: Executor = SERIAL) -> list[Board]:
    """In the order of the benchmarks with most submissions, then of languages."""
    labels = told_apart([one.result for one in submissions])
    groups: dict[tuple[str, ...], list[Submission]] = {}
    for one in submissions:
        groups.setdefault(key_of(one.result), []).append(one)
    ordered = {key: _in_order(found) for key, found in groups.items()}
    compared = executor.in_order(compare_all, [[one.cell for one in found] for found in ordered.values()])
    made = [
        Board(labels[key], _ranked(found, pairs), pairs)
        for (key, found), pairs in zip(ordered.items(), compared, strict=True)
    ]
    n_of: dict[str, int] = {}
    for board in made:
        n_of[board.benchmark.name] = n_of.get(board.benchmark.name, 0) + len(board.standings)
    return sorted(
        made,
        key=lambda b: (-n_of[b.benchmark.name], b.benchmark.name, -len(b.standings), b.any.result.cell, b.label),
    )


def compare_all(cells: Sequence[Path]) -> dict[Pair, Comparison]:
    """Every two of some results that were measured alike, by the metric that their board is ordered by."""
    if len(cells) < 2:
        return {}
    results = [folder.read_cell(cell) for cell in cells]
    for other in results[1:]:
        check_comparable(results[0], other)
    benchmark: Benchmark = registry.load("benchmark", results[0].selection.benchmark)
    wanted = key_from(leading_of(benchmark))
    counted = []
    for result in results:
        metric = next(
            (m for m in benchmark.measures.metrics(result.judgements, result.selection) if m.key == wanted), None
        )
        if metric is None:
            return {}
        counted.append((metric, benchmark.measures.count(result.judgements, result.selection, [metric])))
    found = {
        (i, j): compare_metric(
            results[i].cell, counted[i][0], Pairing(counted[i][1], counted[j][1], RESAMPLING), RESAMPLING
        )
        for i, j in combinations(range(len(results)), 2)
    }
    adjusted = statistics.holm([c.p_value for c in found.values()])
    return {pair: replace(c, p_adjusted=p, spread=None) for (pair, c), p in zip(found.items(), adjusted, strict=True)}


def _in_order(found: Sequence[Submission]) -> list[Submission]:
    benchmark = _benchmark(found[0])
    metric = key_from(leading_of(benchmark))
    better = benchmark.describe(metric[0]).better

    def place(one: Submission) -> tuple[bool, float, str]:
        estimate = one.result.find(*metric)
        value = estimate.value if estimate is not None and estimate.value is not None else 0.0
        badness = {"higher": -value, "lower": value, "zero": abs(value)}.get(better, 0.0)
        return estimate is None, badness, one.system.full_label

    return sorted(found, key=place)


def _ranked(found: Sequence[Submission], pairs: Mapping[Pair, Comparison]) -> tuple[Standing, ...]:
    """Those without a number stand behind all others, and have no rank."""
    n_better, n_worse = [0] * len(found), [0] * len(found)
    has_value = [one.result.find(*key_from(leading_of(_benchmark(one)))) is not None for one in found]
    n = sum(has_value)
    for (i, j), comparison in pairs.items():
        change = comparison.change()
        better, worse = {"better": (j, i), "worse": (i, j)}.get(change, (None, None))
        if better is not None and worse is not None:
            n_better[worse] += 1
            n_worse[better] += 1
    return tuple(
        Standing(one, 1 + n_better[at], n - n_worse[at]) if has_value[at] else Standing(one, 0, 0)
        for at, one in enumerate(found)
    )


def _benchmark(submission: Submission) -> Benchmark:
    found: Benchmark = registry.load("benchmark", submission.result.selection.benchmark)
    return found
