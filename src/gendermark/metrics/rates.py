"""Shares and differences of shares, in percent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gendermark import statistics
from gendermark.metrics.metric import Floats, Metric


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


def rate(
    name: str, part: str, hits: str, total: str, *, judged: str, better: str = "neither", scale: float = 100.0
) -> Metric:
    """`hits` out of `total`; a percentage unless `scale` says otherwise."""

    def value(n_hits: Floats, n: Floats) -> Floats:
        return scale * n_hits / n

    def at_boundary(sums: Sequence[float], n_groups: int, confidence: float) -> tuple[float, float]:
        share, unseen = sums[0] / sums[1], unseen_share(n_groups, confidence)
        kept = share * (1 - unseen)
        return scale * kept, scale * min(1.0, kept + unseen)

    return Metric(name, part, (hits, total), value, total=total, judged=judged, at_boundary=at_boundary, better=better)


def difference(
    name: str,
    part: str,
    first: Metric,
    second: Metric,
    *,
    total: str,
    judged: str,
    better: str = "zero",
    is_undefined_without_hits: bool = False,
) -> Metric:
    """`first` minus `second`, both rates, in their scale.

    `is_undefined_without_hits`: where both rates are 0 the gap would be 0 as well, and mean nothing.
    """

    def value(*columns: Floats) -> Floats:
        gap = first.value(*columns[:2]) - second.value(*columns[2:])
        return np.where(columns[0] + columns[2] > 0, gap, np.nan) if is_undefined_without_hits else gap

    def at_boundary(sums: Sequence[float], n_groups: int, confidence: float) -> tuple[float, float]:
        low, high = gap_of_alike(sums[0] / sums[1] - sums[2] / sums[3], n_groups, confidence)
        return 100.0 * low, 100.0 * high

    return Metric(
        name,
        part,
        (*first.needs, *second.needs),
        value,
        total=total,
        judged=judged,
        at_boundary=at_boundary,
        better=better,
    )
