"""Intervals where all groups agree: as wide as the number of groups that count for the metric allows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from gendermark import statistics
from gendermark.metrics.describe import Description
from gendermark.metrics.metric import Counts, Metric, Resampling, estimate, interval_of, shows_spread
from gendermark.metrics.rates import difference, rate

RIGHT = rate(Description("right", "right", "Right."), "all", "right", "judged", judged="judged")
QUICKLY = Resampling(n_resamples=200)


def counts(columns: Sequence[str], rows: Sequence[Sequence[float]]) -> Counts:
    ids = tuple(str(number) for number in range(len(rows)))
    places = {name: place for place, name in enumerate(columns)}
    return Counts(ids, ("",) * len(rows), places, np.array(rows, dtype=np.float64))


def test_groups_with_nothing_judged_prove_nothing() -> None:
    (few,) = estimate(counts(("judged", "right"), [[8, 0], *[[0, 0]] * 39]), [RIGHT], QUICKLY)
    (many,) = estimate(counts(("judged", "right"), [[8, 0]] * 40), [RIGHT], QUICKLY)
    assert few.value == many.value == 0
    assert few.high == pytest.approx(100 * (statistics.wilson(0, 1) or (0, 0))[1])
    assert many.high == pytest.approx(100 * (statistics.wilson(0, 40) or (0, 0))[1])


def test_rounding_is_no_spread() -> None:
    assert not shows_spread(np.array([4.859812404361674, 4.859812404361671, np.nan]))
    assert not shows_spread(np.array([1e12, 1e12 + 1e-3]))
    assert shows_spread(np.array([0.5, 0.50001]))


def test_a_metric_without_a_rule_is_at_least_inside_its_interval() -> None:
    """Sums of thirds differ in the last digit with the number of terms."""
    mean = Metric(Description("mean", "mean", "Mean."), "all", ("sum", "n"), lambda total, n: total / n, "n", "n")
    given = counts(("n", "sum"), [[3, 0.1 + 0.2 + 0.3]] * 7)
    resampled = np.array([0.2, 0.20000000000000004, 0.19999999999999998])
    (found,) = estimate(given, [mean], QUICKLY)
    assert interval_of(mean, given, resampled, 0.95) == (found.value, found.value)
    assert found.low == found.value == found.high


def test_a_gap_between_nothing_and_nothing_is_none() -> None:
    pro = rate(RIGHT.about, "pro", "pro.right", "pro.n", judged="pro.n")
    anti = rate(RIGHT.about, "anti", "anti.right", "anti.n", judged="anti.n")
    columns = ("pro.right", "pro.n", "anti.right", "anti.n", "all.total", "all.judged")
    for right, expected in ((0, None), (1, 0.0)):
        given = counts(columns, [[right, 4, right, 4, 8, 8]] * 5)
        gaps = [
            difference(Description("gap", "gap", "Gap."), pro, anti, "all", is_undefined_without_hits=is_undefined)
            for is_undefined in (True, False)
        ]
        assert [found.value for found in estimate(given, gaps, QUICKLY)] == [expected, 0.0]
