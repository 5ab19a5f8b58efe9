"""How small a difference between two systems a benchmark can show, before anything is translated.

From the design alone: how many groups it has, and how many sentences about women and about men are in each. The rest is
what is expected of the systems: how often they are right, how alike the sentences of a group are (intra-group
correlation), and how alike the two systems are. A run tells the first two.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
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


@dataclass(frozen=True)
class Expected:
    """What the systems to be compared are like."""

    right: float = 0.8
    """How often they are right, a share."""
    correlation: float = 0.3
    """Of the sentences of one group and gender: 0 if each is right or wrong by itself, 1 if all are as one."""
    alike: float = 0.0
    """Of the two systems: how far their mistakes go together."""

    @property
    def variance(self) -> float:
        """Of the difference of the two systems on one sentence."""
        return 2 * self.right * (1 - self.right) * (1 - self.alike)


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


def expected_from(result: Result, alike: float = 0.0) -> Expected | None:
    """How often a system is right, and how alike the sentences of a group are, from a run; None if it tells neither.

    The correlation is that of analysis of variance (Donner 1986, International Statistical Review 54:67-82), within
    women and men.
    """
    cells: dict[tuple[str, Gender], list[Judgement]] = defaultdict(list)
    for judgement in result.judgements:
        if judgement.expected in _KNOWN:
            cells[judgement.group_id, judgement.expected].append(judgement)
    n, within, between, squares, n_free = 0, 0.0, 0.0, 0.0, 0
    right = 0
    for gender in _KNOWN:
        own = [members for (_, of), members in cells.items() if of is gender]
        total = sum(map(len, own))
        if not total:
            return None
        mean = sum(j.is_correct for members in own for j in members) / total
        for members in own:
            share = sum(j.is_correct for j in members) / len(members)
            within += len(members) * share * (1 - share)
            between += len(members) * (share - mean) ** 2
            squares += len(members) ** 2 / total
        n, n_free = n + total, n_free + len(own) - 1
        right += sum(j.is_correct for members in own for j in members)
    if n_free < 1:
        return None
    n_cells = n_free + len(_KNOWN)
    if n <= n_cells:  # a sentence each: nothing is alike
        return Expected(right / n, 0.0, alike)
    size = (n - squares) / n_free
    mean_between, mean_within = between / n_free, within / (n - n_cells)
    spread = mean_between + (size - 1) * mean_within
    correlation = (mean_between - mean_within) / spread if spread > 0 else 0.0
    return Expected(right / n, min(max(correlation, 0.0), 1.0), alike)
