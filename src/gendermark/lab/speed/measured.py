"""What a study of speed found: every point with its time, its numbers and how they changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

from gendermark.benchmarks.simplegen.findings import COLUMNS
from gendermark.benchmarks.simplegen.measures import MEASURES
from gendermark.lab.speed.drops import (
    ARITHMETIC,
    GAPS,
    GROUPS,
    MAX_DROPS,
    Price,
    from_groups,
    max_drop,
    price_of,
    relative_drop,
    trend,
)
from gendermark.lab.speed.timing import Median, Rounds, median_of
from gendermark.runs.compare import Comparison

QUALITY = ("BLEU", "chrF")
DROPPING = ("BLEU", *(column for column in COLUMNS if column not in GAPS))
"""Columns that have a relative drop."""
HURT = "MOFC"
"""The group that the price of speed is counted in: women in men's occupations, whom the paper found hit most."""


class Span(NamedTuple):
    """A value and its interval."""

    value: float | None
    low: float | None = None
    high: float | None = None


def group_label(group: str) -> str:
    """`women in men's occupations`."""
    return MEASURES.slices[group.lower()]


@dataclass(frozen=True)
class Measured:
    """One point."""

    name: str
    slug: str
    spec: str
    values: Mapping[str, Span]
    """By column: quality, those of Table 4, and the headline numbers of other benchmarks."""
    changes: Mapping[str, Comparison]
    """The same against the baseline, which has none."""
    others: tuple[str, ...]
    """Which columns are of other benchmarks."""
    sizes: Mapping[str, int]
    """Sentences of each group."""
    rounds: Rounds
    base: str

    @property
    def is_baseline(self) -> bool:
        return self.name == self.base

    def value(self, column: str) -> float | None:
        return self.values[column].value if column in self.values else None

    def seconds(self, confidence: float) -> Median:
        """For a thousand sentences."""
        return median_of(self.rounds.seconds(self.name), confidence)

    def times_as_fast(self, confidence: float) -> Median:
        return median_of(self.rounds.ratios(self.name, self.base), confidence)

    def saved(self, confidence: float) -> Median:
        return median_of(self.rounds.saved(self.name, self.base), confidence)

    def price(self, confidence: float) -> Price:
        return price_of(self.changes.get(HURT), self.rounds.saved(self.name, self.base), confidence)

    def arithmetic(self, how: str) -> dict[str, float]:
        """pro, anti and the gaps from the four groups; nothing where a group has no number."""
        percent = {group: value for group in GROUPS if (value := self.value(group)) is not None}
        return from_groups(percent, self.sizes, how) if len(percent) == len(GROUPS) else {}


@dataclass(frozen=True)
class Study:
    """All points, the baseline among them."""

    points: tuple[Measured, ...]
    base: int
    rounds: Rounds
    direction: str
    facts: Mapping[str, Any]
    """What was asked, and on what machine it was measured."""
    notes: tuple[str, ...]
    confidence: float

    @property
    def baseline(self) -> Measured:
        return self.points[self.base]

    @property
    def columns(self) -> list[str]:
        """Of the table: those with a number anywhere."""
        return [c for c in (*QUALITY, *COLUMNS) if any(point.value(c) is not None for point in self.points)]

    @cached_property
    def seconds(self) -> list[float]:
        return [point.seconds(self.confidence).value for point in self.points]

    def drop(self, point: Measured, column: str) -> float | None:
        """In percent of the baseline; of `time` too."""
        if column == "time":
            return relative_drop(self.baseline.seconds(self.confidence).value, point.seconds(self.confidence).value)
        return relative_drop(self.baseline.value(column), point.value(column))

    def max_drops(self, how: str) -> dict[str, float | None]:
        """By column, `time` first; gaps have none."""
        values: dict[str, Sequence[float | None]] = {"time": self.seconds}
        values |= {column: [p.value(column) for p in self.points] for column in self.columns if column not in GAPS}
        return {column: max_drop(how, found, self.seconds, self.base) for column, found in values.items()}

    def scatter(self, column: str) -> list[tuple[Measured, float, float]]:
        """Every point with its relative drop in time and in a column."""
        found = ((point, self.drop(point, "time"), self.drop(point, column)) for point in self.points)
        return [(point, x, y) for point, x, y in found if x is not None and y is not None]

    def trend(self, column: str) -> tuple[float, float] | None:
        return trend([(x, y) for _, x, y in self.scatter(column)])

    def to_json(self) -> dict[str, Any]:
        from gendermark.lab.speed.words import findings

        return {
            **self.facts,
            "direction": self.direction,
            "n_rounds": len(self.rounds.rounds),
            "points": [self._point(point) for point in self.points],
            "max_drops": {how: {"means": means, **self.max_drops(how)} for how, means in MAX_DROPS.items()},
            "trends": {column: found for column in DROPPING if (found := self.trend(column)) is not None},
            "findings": findings(self),
            "notes": list(self.notes),
        }

    def _point(self, point: Measured) -> dict[str, Any]:
        own = {
            "name": point.name,
            "system": point.spec,
            "run": f"runs/{point.slug}",
            "is_baseline": point.is_baseline,
            "seconds_per_1000": asdict(point.seconds(self.confidence)),
            "rounds": {clock: self.rounds.seconds(point.name, clock) for clock in ("wall", "cpu")},
            "values": {column: span._asdict() for column, span in point.values.items()},
            "arithmetic": {how: point.arithmetic(how) for how in ARITHMETIC},
        }
        if point.is_baseline:
            return own
        return {
            **own,
            "times_as_fast": asdict(point.times_as_fast(self.confidence)),
            "seconds_saved_per_1000": asdict(point.saved(self.confidence)),
            "relative_drops": {column: self.drop(point, column) for column in ("time", *DROPPING, "chrF")},
            "points_lost_per_second_saved": {"group": HURT, **asdict(point.price(self.confidence))},
            "changes": {column: change.to_json() for column, change in point.changes.items()},
        }
