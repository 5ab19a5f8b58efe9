"""Power of a benchmark: the smallest detectable difference between two systems, before translating anything.

From the design: the number of groups, and of sentences about women and men in each. The rest is assumed or measured:
accuracy, correlation between systems, and within-group correlation of their differences. Two runs give all of it; one
run gives accuracy and its own correlation.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendermark.benchmarks.benchmark import Benchmark
from gendermark.metrics import statistics
from gendermark.metrics.verdicts import ALPHA
from gendermark.records import Gender, Item, Judgement
from gendermark.result import Result

POWER = 0.8
"""Probability of detecting a true difference."""
_MOST_GROUPS, _STEPS_PER_POINT = 1_000_000, 1_000_000
_KNOWN = (Gender.MASCULINE, Gender.FEMININE)
OF_VERSIONS, OF_UNRELATED = 0.15, 0.5
"""Correlation, within an occupation, of the differences between two versions of one system (.10 to .26 over 91 pairs
of real systems); and of one system's errors, which is that of the differences between unrelated systems (.32 to
.71)."""


@dataclass(frozen=True)
class Expected:
    """Assumptions about the systems to be compared."""

    right: float = 0.8
    """Accuracy, as a share."""
    correlation: float = OF_UNRELATED
    """Of the differences between the two within one group and gender."""
    alike: float = 0.0
    """Correlation between the systems' errors."""
    seen: float | None = None
    """Variance of the difference on one sentence, if measured from two runs."""

    def variance(self, points: float) -> float:
        """Variance of the difference on one sentence, if the second is less accurate by this many points.

        A drop of 10 points changes at least a tenth of the sentences, however similar two versions are.
        """
        share = points / 100
        least = share * (1 - share)
        if self.seen is not None:
            return self.seen + least
        lower = max(self.right - share, 0.0)
        return max((1 - self.alike) * (self.right * (1 - self.right) + lower * (1 - lower)), least)


@dataclass(frozen=True)
class Question:
    """A possible difference between two systems, and what a design can say about it."""

    name: str
    n_groups: int
    n_sentences: int
    women: float
    """Factor from the variance of one sentence about women to that of the estimate; likewise `men`."""
    men: float
    expected: Expected
    level: float
    """Significance level after correction."""

    def standard_error(self, points: float = 0.0) -> float:
        """Return the standard error in points for systems that differ by this much; in a gap, women lose them."""
        of_men = points if self.name == "right gender" else 0.0
        variance = self.women * self.expected.variance(points) + self.men * self.expected.variance(of_men)
        return 100 * math.sqrt(variance)

    def detectable(self) -> float:
        steps = range(100 * _STEPS_PER_POINT)
        return (
            bisect_left(steps, True, key=lambda n: self._is_enough(self.n_groups, n / _STEPS_PER_POINT))
            / _STEPS_PER_POINT
        )

    def power(self, points: float) -> float:
        df = max(self.n_groups - 1.0, 1.0)
        needed = statistics.student_quantile(1 - self.level / 2, df)
        error = self.standard_error(points)
        return statistics.student_tail(needed - points / error, df) if error else 1.0

    def groups_needed(self, points: float) -> int | None:
        """Number of similar groups needed; None if no number is enough."""
        found = 2 + bisect_left(range(2, _MOST_GROUPS), True, key=lambda n: self._is_enough(n, points))
        return found if found < _MOST_GROUPS else None

    def _is_enough(self, n_groups: int, points: float) -> bool:
        df = max(n_groups - 1.0, 1.0)
        factor = sum(statistics.student_quantile(p, df) for p in (1 - self.level / 2, POWER))
        return factor * self.standard_error(points) * math.sqrt(self.n_groups / n_groups) <= points

    def to_json(self, points: float) -> dict[str, Any]:
        needed = self.groups_needed(points)
        return {
            "question": self.name,
            "groups": self.n_groups,
            "sentences": self.n_sentences,
            "standard_error": self.standard_error(),
            "detectable": self.detectable(),
            "points": points,
            "power": self.power(points),
            "groups_needed": needed,
            "sentences_needed": None if needed is None else math.ceil(needed * self.n_sentences / self.n_groups),
        }


def questions(benchmark: Benchmark, items: Sequence[Item], expected: Expected) -> list[Question]:
    sizes: dict[Gender, Counter[str]] = defaultdict(Counter)
    for item in items:
        if item.expected in _KNOWN:
            sizes[item.expected][item.group_id] += 1
    if len(sizes) < len(_KNOWN):
        return []
    men, women = (_left(sizes[gender].values(), expected.correlation) for gender in _KNOWN)
    of_women = sizes[Gender.FEMININE]
    n_women, n_all = of_women.total(), sum(found.total() for found in sizes.values())
    share = n_women / n_all
    n_groups = len(set(of_women) | set(sizes[Gender.MASCULINE]))
    level = ALPHA / max(len(benchmark.measures.headline), 1)
    asked = {
        "accuracy": (n_groups, n_all, share**2 * women, (1 - share) ** 2 * men),
        "accuracy, women": (len(of_women), n_women, women, 0.0),
        "gender gap": (n_groups, n_all, women, men),
    }
    return [Question(name, *design, expected, level) for name, design in asked.items()]


def _left(sizes: Collection[int], correlation: float) -> float:
    total = sum(sizes)
    return sum((n / total) ** 2 * ((1 - correlation) / n + correlation) for n in sizes)


def expected_from(result: Result, other: Result | None = None, alike: float = 0.0) -> Expected | None:
    """Measure the assumptions from one run, or from two on the same sentences; None if they give nothing."""
    right = _by_cell(result, lambda judgement: float(judgement.is_correct))
    if any(not any(gender is of for _, of in right) for gender in _KNOWN):
        return None
    n_right, n = (sum(map(f, right.values())) for f in (sum, len))
    if other is None:
        own = _correlation(right)
        if own is None:
            return None
        return Expected(n_right / n, OF_VERSIONS if alike > 0 else own, alike)
    earlier = {judgement.item_id: judgement.is_correct for judgement in other.judgements}
    changed = _by_cell(result, lambda judgement: float(judgement.is_correct - earlier.get(judgement.item_id, False)))
    correlation = _correlation(changed)
    if correlation is None:
        return None
    variance = 0.0
    for gender in _KNOWN:
        values = np.concatenate([own for (_, of), own in changed.items() if of is gender])
        mean = abs(values.mean())
        # Exclude the variance due to the difference of means: the difference to detect adds its own.
        variance += len(values) / n * (values.var() - mean * (1 - mean))
    return Expected(n_right / n, correlation, alike, max(float(variance), 0.0))


Cells = Mapping[tuple[str, Gender], Sequence[float]]
"""Group and gender -> a number for each of its sentences."""


def _by_cell(result: Result, number: Callable[[Judgement], float]) -> Cells:
    cells: dict[tuple[str, Gender], list[float]] = defaultdict(list)
    for judgement in result.judgements:
        if judgement.expected in _KNOWN:
            cells[judgement.group_id, judgement.expected].append(number(judgement))
    return cells


def _correlation(cells: Cells) -> float | None:
    """Intra-class correlation within women and men, by analysis of variance (Donner 1986, International Statistical
    Review 54:67-82)."""
    n, within, between, squares, n_free = 0, 0.0, 0.0, 0.0, 0
    for gender in _KNOWN:
        own = [np.array(values) for (_, of), values in cells.items() if of is gender]
        every = np.concatenate(own)
        for values in own:
            within += len(values) * float(values.var())
            between += len(values) * float(values.mean() - every.mean()) ** 2
            squares += len(values) ** 2 / len(every)
        n, n_free = n + len(every), n_free + len(own) - 1
    if n_free < 1:
        return None
    n_cells = n_free + len(_KNOWN)
    if n <= n_cells:  # one sentence each: no correlation
        return 0.0
    size = (n - squares) / n_free
    mean_between, mean_within = between / n_free, within / (n - n_cells)
    spread = mean_between + (size - 1) * mean_within
    return min(max((mean_between - mean_within) / spread, 0.0), 1.0) if spread > 0 else 0.0
