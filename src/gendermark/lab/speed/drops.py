"""The arithmetic of Table 4 of SimpleGEN's paper: columns from groups, relative drops, trends, the price of speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gendermark.lab.speed.timing import Median, median_of
from gendermark.metrics.intervals import interval_at
from gendermark.runs.compare import Comparison

GROUPS = ("FOFC", "MOFC", "MOMC", "FOMC")
GAPS = ("Δ", "ΔFC", "ΔMC")
"""Columns that are differences: the paper gives no relative drop of them, since 0 is their best value."""
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
    time: Median = median_of(saved, each)
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
