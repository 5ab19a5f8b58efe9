"""How small a difference between two systems a benchmark can show, before anything is translated.

From the design alone: how many groups it has, and how many sentences about women and about men are in each. The rest is
what is expected of the systems: how often they are right, how alike they are, and how far their differences go together
within a group. Two runs tell all of it; one run tells how often a system is right, and its own correlation.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gendermark.benchmarks.benchmark import Benchmark
from gendermark.metrics import statistics
from gendermark.records import Gender, Item, Judgement
from gendermark.result import Result
from gendermark.runs.compare import ALPHA

POWER = 0.8
"""The share of cases in which a difference that is there should be found."""
_MOST_GROUPS = 1_000_000
_KNOWN = (Gender.MASCULINE, Gender.FEMININE)


OF_VERSIONS, OF_UNRELATED = 0.15, 0.5
"""Correlation, within an occupation, of the differences between two versions of one system (.10 to .26 over 91 pairs of
real systems); and of one system's mistakes, which is that of the differences between unrelated systems (.32 to .71)."""


@dataclass(frozen=True)
class Expected:
    """What the systems to be compared are like."""

    right: float = 0.8
    """How often they are right, a share."""
    correlation: float = OF_UNRELATED
    """Of the differences between the two on the sentences of one group and gender."""
    alike: float = 0.0
    """Of the two systems: how far their mistakes go together."""
    seen: float | None = None
    """The variance of the difference on one sentence, where two runs tell it."""

    @property
    def variance(self) -> float:
        """Of the difference of the two systems on one sentence."""
        return 2 * self.right * (1 - self.right) * (1 - self.alike) if self.seen is None else self.seen


@dataclass(frozen=True)
class Question:
    """One thing that two systems can differ in, and what a design says about it."""

    name: str
    n_groups: int
    n_sentences: int
    standard_error: float
    """In points."""
    level: float
    """Of the test, after correction."""

    def detectable(self) -> float:
        """The smallest difference that is found in four of five cases, in points."""
        return self._factor(self.n_groups) * self.standard_error

    def power(self, points: float) -> float:
        """In how many of all cases a true difference of so many points is found."""
        df = max(self.n_groups - 1.0, 1.0)
        needed = statistics.student_quantile(1 - self.level / 2, df)
        return statistics.student_tail(needed - points / self.standard_error, df) if self.standard_error else 1.0

    def groups_needed(self, points: float) -> int | None:
        """How many groups of the same kind would be enough; None if no number would."""
        low, high = 1, 2
        while not self._is_enough(high, points):
            low, high = high, 2 * high
            if high > _MOST_GROUPS:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._is_enough(middle, points) else (middle, high)
        return high

    def _is_enough(self, n_groups: int, points: float) -> bool:
        error = self.standard_error * math.sqrt(self.n_groups / n_groups)
        return self._factor(n_groups) * error <= points

    def _factor(self, n_groups: int) -> float:
        df = max(n_groups - 1.0, 1.0)
        return sum(statistics.student_quantile(p, df) for p in (1 - self.level / 2, POWER))

    def to_json(self, points: float) -> dict[str, Any]:
        needed = self.groups_needed(points)
        return {
            "question": self.name,
            "groups": self.n_groups,
            "sentences": self.n_sentences,
            "standard_error": self.standard_error,
            "detectable": self.detectable(),
            "points": points,
            "power": self.power(points),
            "groups_needed": needed,
            "sentences_needed": None if needed is None else math.ceil(needed * self.n_sentences / self.n_groups),
        }


_QUESTIONS: Mapping[str, Callable[[float, float, float], float]] = {
    "right gender": lambda women, men, share: math.hypot(share * women, (1 - share) * men),
    "right gender, of women": lambda women, men, share: women,  # noqa: ARG005
    "men minus women": lambda women, men, share: math.hypot(women, men),  # noqa: ARG005
}
"""What is asked -> its standard error from those of women and of men, and the share of women."""


def questions(benchmark: Benchmark, items: Sequence[Item], expected: Expected) -> list[Question]:
    """What a design can say about two systems; empty if it does not tell women from men."""
    sizes: dict[Gender, Counter[str]] = defaultdict(Counter)
    for item in items:
        if item.expected in _KNOWN:
            sizes[item.expected][item.group_id] += 1
    if len(sizes) < len(_KNOWN):
        return []
    men, women = (_error(sizes[gender].values(), expected) for gender in _KNOWN)
    n_women, n_all = sizes[Gender.FEMININE].total(), sum(found.total() for found in sizes.values())
    n_groups = len(set(sizes[Gender.FEMININE]) | set(sizes[Gender.MASCULINE]))
    level = ALPHA / max(len(benchmark.measures.headline), 1)
    return [
        Question(
            name,
            len(sizes[Gender.FEMININE]) if name.endswith("women") and "minus" not in name else n_groups,
            n_women if name.endswith("of women") else n_all,
            100 * error(women, men, n_women / n_all),
            level,
        )
        for name, error in _QUESTIONS.items()
    ]


def _error(sizes: Any, expected: Expected) -> float:
    total = sum(sizes)
    r = expected.correlation
    parts = sum((n / total) ** 2 * ((1 - r) / n + r) for n in sizes)
    return math.sqrt(expected.variance * parts)


def expected_from(result: Result, other: Result | None = None, alike: float = 0.0) -> Expected | None:
    """What one run, or the differences of two runs on the same sentences, say; None if they tell nothing of it."""
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
    mean_of = {gender: _mean(x for (_, of), own in changed.items() if of is gender for x in own) for gender in _KNOWN}
    variance = _mean((x - mean_of[of]) ** 2 for (_, of), own in changed.items() for x in own)
    return Expected(n_right / n, correlation, alike, variance)


Cells = Mapping[tuple[str, Gender], Sequence[float]]
"""Group and gender -> a number for each of its sentences."""


def _by_cell(result: Result, number: Callable[[Judgement], float]) -> Cells:
    cells: dict[tuple[str, Gender], list[float]] = defaultdict(list)
    for judgement in result.judgements:
        if judgement.expected in _KNOWN:
            cells[judgement.group_id, judgement.expected].append(number(judgement))
    return cells


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def _correlation(cells: Cells) -> float | None:
    """Within women and men, by analysis of variance (Donner 1986, International Statistical Review 54:67-82)."""
    n, within, between, squares, n_free = 0, 0.0, 0.0, 0.0, 0
    for gender in _KNOWN:
        own = [values for (_, of), values in cells.items() if of is gender]
        total = sum(map(len, own))
        mean = _mean(x for values in own for x in values)
        for values in own:
            centre = _mean(values)
            within += sum((x - centre) ** 2 for x in values)
            between += len(values) * (centre - mean) ** 2
            squares += len(values) ** 2 / total
        n, n_free = n + total, n_free + len(own) - 1
    if n_free < 1:
        return None
    n_cells = n_free + len(_KNOWN)
    if n <= n_cells:  # a sentence each: nothing is alike
        return 0.0
    size = (n - squares) / n_free
    mean_between, mean_within = between / n_free, within / (n - n_cells)
    spread = mean_between + (size - 1) * mean_within
    return min(max((mean_between - mean_within) / spread, 0.0), 1.0) if spread > 0 else 0.0
