"""Shares and differences of shares, in percent."""

from __future__ import annotations

from collections.abc import Sequence

from gendermark import statistics
from gendermark.metrics.metric import Floats, Metric


def unseen_share(n_groups: int, confidence: float) -> float:
    """How large a share of groups unlike all those seen may be: Wilson's upper bound for none of them.

    Where every group is alike, resampling shows no spread; this says how far that can be trusted. For a rate of 0 or
    1 the interval is Wilson's own, over groups, since these and not sentences are the independent observations.
    """
    _, high = statistics.wilson(0, n_groups, confidence) or (0.0, 1.0)
    return high


def rate(
    name: str, part: str, hits: str, total: str, *, judged: str, better: str = "neither", scale: float = 100.0
) -> Metric:
    """`hits` out of `total`; a percentage unless `scale` says otherwise."""

    def value(n_hits: Floats, n: Floats) -> Floats:
        return scale * n_hits / n

    def at_boundary(sums: Sequence[float], n_groups: int, confidence: float) -> tuple[float, float]:
        share, unseen = sums[0] / sums[1], unseen_share(n_groups, confidence)
        kept = share * (1 - unseen)
        return scale * kept, scale * (kept + unseen)

    return Metric(name, part, (hits, total), value, total=total, judged=judged, at_boundary=at_boundary, better=better)


def difference(
    name: str, part: str, first: Metric, second: Metric, *, total: str, judged: str, better: str = "zero"
) -> Metric:
    """`first` minus `second`, both rates, in their scale."""

    def value(*columns: Floats) -> Floats:
        return first.value(*columns[:2]) - second.value(*columns[2:])

    def at_boundary(sums: Sequence[float], n_groups: int, confidence: float) -> tuple[float, float]:
        gap, unseen = sums[0] / sums[1] - sums[2] / sums[3], unseen_share(n_groups, confidence)
        kept = gap * (1 - unseen)
        return 100.0 * (kept - unseen), 100.0 * (kept + unseen)

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
