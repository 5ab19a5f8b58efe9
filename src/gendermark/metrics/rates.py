"""Shares and differences of shares, in percent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gendermark import statistics
from gendermark.metrics.describe import Description
from gendermark.metrics.metric import Floats, Metric
from gendermark.records import Unit


def unseen_share(n_groups: int, confidence: float) -> float:
    """How large a share of groups unlike all those seen may be: Wilson's upper bound for none of them.

    Where every group is alike, resampling shows no spread; this says how far that can be trusted. For a rate of 0 or
    1 the interval is Wilson's own, over groups, since these and not sentences are the independent observations.
    """
    _, high = statistics.wilson(0, n_groups, confidence) or (0.0, 1.0)
    return high


def gap_of_alike(gap: float, n_groups: int, confidence: float) -> tuple[float, float]:
    """Interval of a difference of shares where all groups agree: those unlike them may have a gap of -1 or of 1."""
    unseen = unseen_share(n_groups, confidence)
    kept = gap * (1 - unseen)
    return kept - unseen, kept + unseen


def rate(about: Description, part: str, hits: str, total: str, *, judged: str) -> Metric:
    """`hits` out of `total`, as a percentage or a share of one."""
    scale = 100.0 if about.unit is Unit.PERCENT else 1.0

    def value(n_hits: Floats, n: Floats) -> Floats:
        return scale * n_hits / n

    def at_boundary(sums: Sequence[float], n_groups: int, confidence: float) -> tuple[float, float]:
        share, unseen = sums[0] / sums[1], unseen_share(n_groups, confidence)
        kept = share * (1 - unseen)
        return scale * kept, scale * min(1.0, kept + unseen)

    return Metric(about, part, (hits, total), value, total=total, judged=judged, at_boundary=at_boundary)


def difference(
    about: Description, first: Metric, second: Metric, both: str, *, is_undefined_without_hits: bool = False
) -> Metric:
    """`first` minus `second`, both rates in percent; `both` is the slice that has the items of the two.

    `is_undefined_without_hits`: where both rates are 0 the gap would be 0 as well, and mean nothing.
    """

    def value(*columns: Floats) -> Floats:
        gap = first.value(*columns[:2]) - second.value(*columns[2:])
        return np.where(columns[0] + columns[2] > 0, gap, np.nan) if is_undefined_without_hits else gap

    def at_boundary(sums: Sequence[float], n_groups: int, confidence: float) -> tuple[float, float]:
        low, high = gap_of_alike(sums[0] / sums[1] - sums[2] / sums[3], n_groups, confidence)
        return 100.0 * low, 100.0 * high

    needs = (*first.needs, *second.needs)
    return Metric(about, "all", needs, value, f"{both}.total", f"{both}.judged", at_boundary)
