"""The numbers of a study of speed: medians of rounds, the arithmetic of Table 4 of SimpleGEN's paper, every point."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from statistics import median
from typing import Any

import numpy as np

from gendermark.benchmarks.simplegen.findings import COLUMNS, PRESENTATION
from gendermark.benchmarks.simplegen.measures import MEASURES
from gendermark.lab.paired import Span
from gendermark.lab.studies import scipy_stats
from gendermark.markup import minus
from gendermark.metrics.intervals import interval_at
from gendermark.records import Table
from gendermark.reporting.published import all_published
from gendermark.runs.compare import Comparison

CLOCKS: Mapping[str, str] = {
    "wall": "the time that passed",
    "cpu": "the time that processors worked for it, on a machine that others use too",
}
QUALITY = ("BLEU", "chrF")
GROUPS = ("FOFC", "MOFC", "MOMC", "FOMC")
GAPS = ("Δ", "ΔFC", "ΔMC")
"""Columns that are differences: the paper gives no relative drop of them, since 0 is their best value."""
DROPPING = ("BLEU", *(column for column in COLUMNS if column not in GAPS))
"""Columns that have a relative drop."""
HURT = "MOFC"
"""The group that the price of speed is counted in: women in men's occupations, whom the paper found hit most."""
ARITHMETIC: Mapping[str, str] = {
    "paper": "every sentence counts the same, so a group counts by its size",
    "even": "every group counts the same, however many sentences it has",
}
"""How pro and anti are made of their two groups."""
MAX_DROPS: Mapping[str, str] = {
    "fastest": "from the baseline to the fastest point (as the paper's caption has it)",
    "worst": "from the baseline to the lowest value",
    "range": "from the highest value to the lowest (what most of the paper's numbers are)",
}
"""What "max relative % drop" may mean."""
N_WARM_UP = 16
"""Sentences that are translated before each turn, and not timed."""
_BUSY = 0.7
_SAME = 1e-9
"""Trainings that differ by less have no spread to speak of."""


def group_label(group: str) -> str:
    """`women in men's occupations`."""
    return MEASURES.slices[group.lower()]


# -- time --------------------------------------------------------------------------------------------------------------


def median_of(values: Sequence[float], confidence: float = 0.95) -> Span:
    """With the interval between two of the values that holds the true median with at least this confidence.

    It needs no assumption about how times vary. With few values not even the outermost two reach the confidence: with 5
    the interval has 94 %, with 7 98 %.
    """
    ordered, n = sorted(values), len(values)
    below, outside = 0, 0.5**n
    while 2 * (outside + math.comb(n, below + 1) * 0.5**n) <= 1 - confidence:
        below += 1
        outside += math.comb(n, below) * 0.5**n
    if 2 * outside > 1 - confidence:
        return Span(median(ordered))
    return Span(median(ordered), ordered[below], ordered[n - 1 - below])


@dataclass(frozen=True)
class Rounds:
    """What was measured: seconds of each round, by point and clock, for a thousand sentences."""

    points: tuple[str, ...]
    rounds: tuple[Mapping[str, Mapping[str, float]], ...]
    clock: str

    def seconds(self, point: str, clock: str = "") -> list[float]:
        return [one[point][clock or self.clock] for one in self.rounds]

    def ratios(self, point: str, base: str) -> list[float]:
        """How many times as fast as the baseline, round by round."""
        return [b / max(a, 1e-12) for a, b in zip(self.seconds(point), self.seconds(base), strict=True)]

    def saved(self, point: str, base: str) -> list[float]:
        return [b - a for a, b in zip(self.seconds(point), self.seconds(base), strict=True)]

    @property
    def is_busy(self) -> bool:
        """Whether the processor was elsewhere for much of the time, or the work was."""
        passed, worked = (sum(sum(self.seconds(p, clock)) for p in self.points) for clock in CLOCKS)
        return worked < _BUSY * passed

    @property
    def spread(self) -> float:
        """How far the seconds of a point lie apart: the largest over the smallest, of the worst one."""
        return max(max(found) / max(min(found), 1e-12) for found in map(self.seconds, self.points))


def mean_of(values: Sequence[float], confidence: float = 0.95) -> Span:
    """The mean of independent trainings with Student's interval."""
    if len(values) < 2 or np.ptp(values) < _SAME:
        return Span(float(np.mean(values)))
    ends = scipy_stats("study speed --seed-of").ttest_1samp(values, 0.0).confidence_interval(confidence)
    return Span(float(np.mean(values)), float(ends.low), float(ends.high))


def difference_of(values: Sequence[float], base: Sequence[float], confidence: float = 0.95) -> Span:
    """The difference of two means of independent trainings with Welch's interval."""
    value = float(np.mean(values) - np.mean(base))
    if min(len(values), len(base)) < 2 or max(np.ptp(values), np.ptp(base)) < _SAME:
        return Span(value)
    test = scipy_stats("study speed --seed-of").ttest_ind(values, base, equal_var=False)
    ends = test.confidence_interval(confidence)
    return Span(value, float(ends.low), float(ends.high))


# -- arithmetic --------------------------------------------------------------------------------------------------------


def from_groups(
    percent: Mapping[str, float], sizes: Mapping[str, float], arithmetic: str = "paper"
) -> dict[str, float]:
    """pro, anti and the gaps, from the percentages of the four groups and their sizes."""

    def together(*groups: str) -> float:
        weights = [sizes[group] if arithmetic == "paper" else 1.0 for group in groups]
        return float(np.average([percent[group] for group in groups], weights=weights))

    pro, anti = together("FOFC", "MOMC"), together("MOFC", "FOMC")
    return {
        "pro": pro,
        "anti": anti,
        "Δ": pro - anti,
        "ΔFC": percent["FOFC"] - percent["MOFC"],
        "ΔMC": percent["MOMC"] - percent["FOMC"],
    }


def relative_drop(base: float | None, value: float | None) -> float | None:
    """In percent of the baseline; below 0 where the value rose; none of nothing."""
    return None if base is None or value is None or base == 0 else 100 * (base - value) / base


def max_drop(how: str, values: Sequence[float | None], seconds: Sequence[float], base: int = 0) -> float | None:
    """One of `MAX_DROPS`, over the rows of a table; `base` is the row of the baseline."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    if how == "fastest":
        return relative_drop(values[base], values[int(np.argmin(seconds))])
    return relative_drop(max(known) if how == "range" else values[base], min(known))


def trend(points: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Slope and height at 0 of the line of least squares; none where points do not make one."""
    across, up = np.array(points, dtype=np.float64).reshape(-1, 2).T
    if len(across) < 3 or np.ptp(across) < 1e-9:
        return None
    slope, height = np.polyfit(across, up, 1)
    return float(slope), float(height)


@dataclass(frozen=True)
class Price:
    """Points lost for each second saved on a thousand sentences; below 0 where they were won."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    """Why there is no value, or no interval."""


def price_of(change: Comparison | None, saved: Sequence[float], confidence: float) -> Price:
    """What a change cost per second saved; `saved` has one number of each round.

    The interval holds all ratios of what both intervals hold, each at half the doubt: so it is rather too wide.
    """
    each = (1 + confidence) / 2
    time = median_of(saved, each)
    if time.value <= 0 or (time.low is not None and time.low <= 0):
        return Price(None, reason="no time was clearly saved")
    if change is None or change.difference is None:
        return Price(None, reason="there is nothing to compare")
    ends = interval_at(change.spread, each) if change.spread is not None else None
    value = -change.difference / time.value
    if ends is None or time.low is None or time.high is None:
        return Price(value, reason="there are too few rounds for an interval" if time.low is None else "")
    ratios = [-end / seconds for end in ends for seconds in (time.low, time.high)]
    return Price(value, min(ratios), max(ratios))


# -- what was found ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """One point: its numbers, and how they changed."""

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

    def value(self, column: str) -> float | None:
        return self.values[column].value if column in self.values else None

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
    trainings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The points that are trainings of one model with different seeds, by its name; the first model is the baseline."""

    @property
    def baseline(self) -> Measured:
        return self.points[self.base]

    @property
    def columns(self) -> list[str]:
        """Of the table: those with a number anywhere."""
        return [c for c in (*QUALITY, *COLUMNS) if any(point.value(c) is not None for point in self.points)]

    def seconds(self, point: Measured) -> Span:
        """For a thousand sentences."""
        return median_of(self.rounds.seconds(point.name), self.confidence)

    def times_as_fast(self, point: Measured) -> Span:
        return median_of(self.rounds.ratios(point.name, self.baseline.name), self.confidence)

    def saved(self, point: Measured) -> Span:
        return median_of(self.rounds.saved(point.name, self.baseline.name), self.confidence)

    def price(self, point: Measured) -> Price:
        return price_of(point.changes.get(HURT), self.rounds.saved(point.name, self.baseline.name), self.confidence)

    def drop(self, point: Measured, column: str) -> float | None:
        """In percent of the baseline; of `time` too."""
        if column == "time":
            return relative_drop(self.seconds(self.baseline).value, self.seconds(point).value)
        return relative_drop(self.baseline.value(column), point.value(column))

    def max_drops(self, how: str) -> dict[str, float | None]:
        """By column, `time` first; gaps have none."""
        values: dict[str, Sequence[float | None]] = {"time": self._seconds}
        values |= {column: [p.value(column) for p in self.points] for column in self.columns if column not in GAPS}
        return {column: max_drop(how, found, self._seconds, self.base) for column, found in values.items()}

    @cached_property
    def _seconds(self) -> list[float]:
        return [self.seconds(point).value for point in self.points]

    def scatter(self, column: str) -> list[tuple[Measured, float, float]]:
        """Every point with its relative drop in time and in a column."""
        found = ((point, self.drop(point, "time"), self.drop(point, column)) for point in self.points)
        return [(point, x, y) for point, x, y in found if x is not None and y is not None]

    def trend(self, column: str) -> tuple[float, float] | None:
        return trend([(x, y) for _, x, y in self.scatter(column)])

    def of_trainings(self, name: str, column: str) -> list[float]:
        """The numbers of all trainings of a model in a column; of `time` too."""
        points = [point for point in self.points if point.name in self.trainings[name]]
        if column == "time":
            return [self.seconds(point).value for point in points]
        return [value for point in points if (value := point.value(column)) is not None]

    def trained(self, name: str, column: str) -> tuple[Span, Span] | None:
        """Mean over trainings, and its difference from the baseline model's, with intervals between trainings."""
        own, base = self.of_trainings(name, column), self.of_trainings(next(iter(self.trainings)), column)
        if not own or not base:
            return None
        return mean_of(own, self.confidence), difference_of(own, base, self.confidence)


# -- the paper's own ---------------------------------------------------------------------------------------------------

SIZES = {"FOFC": 518, "MOFC": 814, "MOMC": 814, "FOMC": 518}
"""Sentences of each group of the published set."""


@dataclass(frozen=True)
class Section:
    """A part of the paper's Table 4: one direction, optimisations one by one (4a) or stacked (4b); baseline first."""

    where: str
    direction: str
    rows: Mapping[str, Mapping[str, float]]
    """System -> column -> value as printed; `time` is in seconds."""
    max_drop: Mapping[str, float]
    """The last row, as printed."""
    misprints: Mapping[str, float]
    """Of the last row: what follows from no rule -> what the range of the column gives."""

    def drops(self) -> Table:
        """The relative drops, a row per system."""
        base = next(iter(self.rows.values()))
        columns = [column for column in base if column not in GAPS]
        rows = [
            (system, *(minus(f"{relative_drop(base[column], values[column]) or 0.0:.1f}") for column in columns))
            for system, values in list(self.rows.items())[1:]
        ]
        if self.max_drop:
            rows.append(("max rel. % drop, as printed", *(f"{self.max_drop[column]:.1f}" for column in columns)))
        title = f"Relative drops in percent as {self.where} of Renduchintala et al. (2021) has them, {self.direction}"
        return Table("published", title, ("system", *columns), rows)

    def misprinted(self) -> str:
        """Which of the printed drops follow from no rule; empty where all do."""
        found = [f"{column} {self.max_drop[column]:.1f} ({value:.1f})" for column, value in self.misprints.items()]
        if not found:
            return ""
        return f"Printed drops that do not follow from the rows (in brackets: what they give): {', '.join(found)}."


@cache
def published_sections() -> tuple[Section, ...]:
    content = tomllib.loads((files(PRESENTATION.published) / "published.toml").read_text(encoding="utf-8"))
    printed = {
        (value.direction, value.system, value.metric, value.slice): value.value
        for value in all_published()
        if value.benchmark == content["tables"][0]["benchmark"]
    }
    return tuple(
        Section(
            table["where"],
            table["direction"],
            {
                system: {
                    "time": seconds,
                    "BLEU": bleu,
                    **{label: printed[table["direction"], system, *key] for label, key in COLUMNS.items()},
                }
                for system, seconds, bleu in table["rows"]
            },
            table["max_drop"],
            table["notes"],
        )
        for table in content["speed"]
    )
