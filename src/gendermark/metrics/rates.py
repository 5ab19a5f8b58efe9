"""Shares and differences of shares, in percent."""

from __future__ import annotations

import numpy as np

from gendermark.metrics.describe import Description
from gendermark.metrics.metric import PERCENT, SHARE, Combined, Floats, Metric
from gendermark.records import Unit


def rate(about: Description, part: str, hits: str, total: str, *, judged: str) -> Metric:
    """`hits` out of `total`, as a percentage or a share of one."""
    is_percent = about.unit is Unit.PERCENT

    def value(n_hits: Floats, n: Floats) -> Floats:
        return (100.0 if is_percent else 1.0) * n_hits / n

    rule = PERCENT if is_percent else SHARE
    return Metric(about, part, (hits, total), value, total=total, judged=judged, rule=rule, weigh=(total,))


def share(about: Description, part: str, kind: str, *, of: str = "total") -> Metric:
    """The judgements of a slice that are of a kind, out of its `total` or `judged` ones."""
    return rate(about, part, f"{part}.{kind}", f"{part}.{of}", judged=f"{part}.judged")


def difference(
    about: Description, first: Metric, second: Metric, both: str, *, is_undefined_without_hits: bool = False
) -> Metric:
    """`first` minus `second`; `both` is the slice that has the items of the two.

    `is_undefined_without_hits`: where both rates are 0 the gap would be 0 as well, and mean nothing.
    """
    n = len(first.needs)

    def value(*columns: Floats) -> Floats:
        gap = first.value(*columns[:n]) - second.value(*columns[n:])
        return np.where(columns[0] + columns[n] > 0, gap, np.nan) if is_undefined_without_hits else gap

    needs, rule = (*first.needs, *second.needs), Combined(((1.0, first), (-1.0, second)))
    return Metric(about, "all", needs, value, f"{both}.total", f"{both}.judged", rule)
