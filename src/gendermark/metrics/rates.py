"""Shares and differences of shares, in percent."""

from __future__ import annotations

from collections.abc import Sequence

from gendermark import statistics
from gendermark.metrics.metric import Floats, Metric


def rate(
    name: str, part: str, hits: str, total: str, *, judged: str, better: str = "neither", scale: float = 100.0
) -> Metric:
    """`hits` out of `total`; a percentage unless `scale` says otherwise."""

    def value(n_hits: Floats, n: Floats) -> Floats:
        return scale * n_hits / n

    def at_boundary(sums: Sequence[float], n_groups: int, confidence: float) -> tuple[float, float]:
        # Groups, not sentences, are the independent observations.
        share = sums[0] / sums[1]
        low, high = statistics.wilson(share * n_groups, n_groups, confidence) or (share, share)
        return scale * low, scale * high

    return Metric(name, part, (hits, total), value, total=total, judged=judged, at_boundary=at_boundary, better=better)


def difference(
    name: str, part: str, first: Metric, second: Metric, *, total: str, judged: str, better: str = "zero"
) -> Metric:
    """`first` minus `second`, both rates, in their scale."""

    def value(*columns: Floats) -> Floats:
        return first.value(*columns[:2]) - second.value(*columns[2:])

    def at_boundary(sums: Sequence[float], n_groups: int, confidence: float) -> tuple[float, float]:
        rates = sums[0] / sums[1], sums[2] / sums[3]
        interval = statistics.newcombe(rates[0], n_groups, rates[1], n_groups, confidence)
        low, high = interval or (rates[0] - rates[1],) * 2
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
