"""Intervals hold what they promise: where groups are few, where all agree, where templates vary too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from gendermark.benchmarks.tgbi.measures import p_s, set_columns
from gendermark.metrics import statistics
from gendermark.metrics.genders import distance_from_even, masculine_share
from gendermark.metrics.intervals import (
    Estimator,
    Pairing,
    detectable_difference,
    estimate,
    interval_at,
    p_value_of,
)
from gendermark.metrics.metric import Counts, Description, Resampled, Resampling, difference, rate
from gendermark.records import Estimate

RIGHT = rate(Description("right", "right", "Right."), "all", "right", "judged", judged="judged")
MEN = rate(RIGHT.about, "men", "men.right", "men.n", judged="men.n")
WOMEN = rate(RIGHT.about, "women", "women.right", "women.n", judged="women.n")
GAP = difference(Description("gap", "gap", "Gap.", better="zero"), MEN, WOMEN, "all")
QUICKLY = Resampling(n_resamples=200)


def counts(columns: Sequence[str], rows: Sequence[Sequence[float]] | np.ndarray, strata: Sequence[str] = ()) -> Counts:
    ids = tuple(str(number) for number in range(len(rows)))
    places = {name: place for place, name in enumerate(columns)}
    return Counts(ids, tuple(strata) or ("",) * len(rows), places, np.array(rows, dtype=np.float64))


def of_right(right: Sequence[float] | np.ndarray, n: Sequence[float] | np.ndarray | float = 20) -> Estimate:
    (found,) = estimate(counts(("right", "judged"), np.stack(np.broadcast_arrays(right, n), axis=1)), [RIGHT], QUICKLY)
    return found


# -- what is promised


@pytest.mark.parametrize("n_groups", [7, 18, 40])
@pytest.mark.parametrize("correlation", [0.0, 0.6])
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_a_rate_is_covered(n_groups: int, correlation: float, share: float) -> None:
    """Few groups, sentences that stand or fall together, rates near 1: percentile intervals covered 70 to 90 %."""
    rng = np.random.default_rng(5)
    covered = []
    for _ in range(300):
        p = rng.beta(*(x * (1 / correlation - 1) for x in (share, 1 - share)), n_groups) if correlation else share
        found = of_right(rng.binomial(20, p, n_groups))
        assert found.low is not None
        assert found.high is not None
        covered.append(found.low <= 100 * share <= found.high)
    assert np.mean(covered) >= 0.925


def test_a_gap_is_covered_and_its_test_keeps_its_level() -> None:
    """Women and men of seven groups in two strata, each group with a leaning of its own."""
    rng = np.random.default_rng(6)
    strata = ["a"] * 4 + ["b"] * 3
    p_values = []
    for _ in range(300):
        right = rng.binomial(30, rng.beta(0.8 * 1.5, 0.2 * 1.5, (2, 7)))
        rows = np.stack([right[0], np.full(7, 30), right[1], np.full(7, 30)], axis=1)
        (found,) = estimate(counts(("men.right", "men.n", "women.right", "women.n"), rows, strata), [GAP], QUICKLY)
        assert found.p_value is not None
        assert (found.p_value < 0.05) == (not found.low <= 0 <= found.high)  # type: ignore[operator]
        p_values.append(found.p_value)
    assert np.mean(np.array(p_values) < 0.05) <= 0.08


def test_templates_vary_too() -> None:
    """Twenty words in ten templates that matter as much: by words alone, two of five intervals would miss."""
    rng = np.random.default_rng(7)
    covered: dict[bool, list[bool]] = {True: [], False: []}
    for _ in range(200):
        share = scipy.stats.norm.cdf(rng.normal(0, 0.5, (20, 1)) + rng.normal(0, 0.5, (1, 10)))
        right = rng.binomial(4, share)
        words = counts(("right", "judged"), [[row.sum(), 40] for row in right])
        crossed = (
            counts(("right", "judged"), [[column.sum(), 80] for column in right.T]),
            counts(("right", "judged"), [[cell, 4] for cell in right.ravel()]),
        )
        for is_crossed in (True, False):
            (found,) = estimate(replace(words, crossed=crossed if is_crossed else ()), [RIGHT], QUICKLY)
            covered[is_crossed].append(found.low <= 50 <= found.high)  # type: ignore[operator]
    assert np.mean(covered[True]) >= 0.92
    assert np.mean(covered[False]) <= 0.85


# -- where all groups agree


def test_there_is_no_cliff_where_all_groups_agree() -> None:
    """All right was 100 [91.2, 100] and one of 800 wrong 99.9 [99.6, 100]: the worse system had the better bound."""
    found = []
    for n_wrong in range(30):
        right = [20.0] * 40
        for number in range(n_wrong):
            right[number] -= 1
        found.append(of_right(right).low or 0.0)
    assert found[0] == pytest.approx(100 * (1 - (statistics.wilson(0, 40) or (0, 0))[1]))
    assert found[1] < found[0]
    # Mistakes in more and more groups tell how groups vary; what is left to chance shrinks by and by.
    assert all(abs(later - earlier) < 2.5 for earlier, later in pairwise(found))
    assert found[-1] > 94
    # All in one group, they tell nothing about the others.
    assert (of_right([10.0] + [20.0] * 39).low or 0.0) < found[0]


def test_groups_with_nothing_judged_prove_nothing() -> None:
    few, many = of_right(np.zeros(40), [8.0] + [0.0] * 39), of_right(np.zeros(40), 8.0)
    assert few.value == many.value == 0
    assert few.high == pytest.approx(100 * (statistics.wilson(0, 1) or (0, 0))[1])
    assert many.high == pytest.approx(100 * (statistics.wilson(0, 40) or (0, 0))[1])


def test_large_groups_count_for_fewer() -> None:
    """Kish: one group with half of all sentences and 49 small ones tell as much as four of equal size."""
    sizes = [98.0] + [2.0] * 49
    found = of_right(sizes, sizes)
    n_alike = sum(sizes) ** 2 / sum(size**2 for size in sizes)
    assert n_alike == pytest.approx(4, abs=0.2)
    assert found.low == pytest.approx(100 * (1 - (statistics.wilson(0, n_alike) or (0, 0))[1]))


def test_a_gap_between_nothing_and_nothing_is_none() -> None:
    columns = ("men.right", "men.n", "women.right", "women.n", "all.total", "all.judged")
    for right, expected in ((0, None), (1, 0.0)):
        given_counts = counts(columns, [[right, 4, right, 4, 8, 8]] * 5)
        gaps = [
            difference(GAP.about, MEN, WOMEN, "all", is_undefined_without_hits=is_undefined)
            for is_undefined in (True, False)
        ]
        assert [found.value for found in estimate(given_counts, gaps, QUICKLY)] == [expected, 0.0]


def test_a_gap_is_never_larger_than_can_be() -> None:
    """Everybody a man, in all but two of 40 groups: the gap is 90, and Student's interval of it goes beyond 100."""
    rows = [[10, 10, 0, 10]] * 38 + [[0, 10, 10, 10]] * 2
    (found,) = estimate(counts(("men.right", "men.n", "women.right", "women.n"), rows), [GAP], QUICKLY)
    assert (found.value, found.high) == (90, 100)
    assert found.low is not None
    assert found.low < 80


# -- what always holds

_groups = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12)).map(sorted), min_size=1, max_size=12)


@given(_groups, st.integers(2, 5))
@settings(max_examples=60)
def test_intervals_hold_their_value_and_repeating_sentences_is_no_evidence(groups: list[list[int]], times: int) -> None:
    once = of_right(*np.array(groups, dtype=float).T)
    again = of_right(*(times * np.array(groups, dtype=float)).T)
    assert once.value is not None
    assert once.low is not None
    assert once.high is not None
    assert 0 <= once.low <= once.value + 1e-9
    assert once.value - 1e-9 <= once.high <= 100 + 1e-9
    assert once.high > once.low, "never without width"
    assert (again.low, again.high) == pytest.approx((once.low, once.high), abs=1e-6)


@given(_groups, st.floats(0.5, 0.999))
@settings(max_examples=60)
def test_the_test_and_the_interval_agree(groups: list[list[int]], confidence: float) -> None:
    right, n = np.array(groups, dtype=float).T
    spread = Estimator(counts(("right", "judged"), np.stack([right, n], axis=1)), QUICKLY).spread(RIGHT)
    ends = interval_at(spread, confidence)
    assert ends is not None
    for null in (0.0, 30.0, 50.0, 99.0, 100.0):
        p = p_value_of(spread, null)
        assert p is not None
        assert 0 < p <= 1
        if min(abs(null - end) for end in ends) > 1e-6:
            assert (p < 1 - confidence) == (not ends[0] <= null <= ends[1])


# -- other shapes


def test_how_far_a_share_is_from_even_is_folded() -> None:
    """At an even choice every resample is farther from it, and a percentile interval would never hold 0."""
    rng = np.random.default_rng(8)
    columns = ("open.observed.masculine", "open.observed.feminine", "open.total", "open.judged")
    covered = []
    for _ in range(200):
        masculine = rng.binomial(20, rng.beta(0.75, 0.75, 40))
        rows = np.stack([masculine, 20 - masculine, np.full(40, 20), np.full(40, 20)], axis=1)
        share, folded = estimate(counts(columns, rows), [masculine_share("open"), distance_from_even("open")], QUICKLY)
        covered.append(folded.low == 0)
        assert (share.low <= 50 <= share.high) == (folded.low == 0)  # type: ignore[operator]
        assert folded.high == pytest.approx(max(50 - share.low, share.high - 50), abs=1e-6)  # type: ignore[operator]
        assert folded.p_value == pytest.approx(share.p_value, rel=1e-6)
    assert np.mean(covered) >= 0.91


def test_an_index_with_a_highest_value_inside_is_covered_there() -> None:
    """P_S of an even split is 0.5, and every resample is below."""
    rng = np.random.default_rng(9)
    covered = []
    for _ in range(100):
        women = rng.binomial(4, rng.beta(1, 1, 60))
        rows = np.stack([women, 4 - women, np.zeros(60), np.full(60, 4), np.full(60, 4)], axis=1)
        (found,) = estimate(counts((*set_columns("s"), "s.judged"), rows), [p_s("s")], QUICKLY)
        covered.append(found.low <= 0.5 <= found.high)  # type: ignore[operator]
    assert np.mean(covered) >= 0.9


# -- two systems


def paired(first: np.ndarray, second: np.ndarray, n: float = 20) -> Pairing:
    sides = [counts(("right", "judged"), np.stack([side, np.full(len(side), n)], axis=1)) for side in (first, second)]
    return Pairing(sides[0], sides[1], QUICKLY)


def test_the_difference_of_two_systems_is_the_paired_t_test() -> None:
    rng = np.random.default_rng(10)
    first, second = (rng.binomial(20, 0.6, 50).astype(float) for _ in range(2))
    spread = paired(first, second).difference(RIGHT)
    expected = scipy.stats.ttest_rel(second, first)
    # Groups in which nothing changed are fewer degrees of freedom.
    df = np.count_nonzero(first != second) - 1
    assert spread.df == df
    assert p_value_of(spread, 0.0) == pytest.approx(2 * scipy.stats.t.sf(abs(expected.statistic), df), rel=0.02)


def test_a_change_in_few_groups_is_no_proof() -> None:
    """Four groups better, the others the same: each could as well have been worse."""
    first = np.full(40, 10.0)
    second = first.copy()
    second[:4] += 5
    p = p_value_of(paired(first, second).difference(RIGHT), 0.0)
    assert p is not None
    assert p > 0.1
    second[:12] += 5
    p = p_value_of(paired(first, second).difference(RIGHT), 0.0)
    assert p is not None
    assert p < 0.02


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_equal_systems_seldom_differ_and_what_is_detectable_is_detected(correlation: float) -> None:
    rng = np.random.default_rng(11)
    size = 1 / correlation - 1 if correlation else 0

    def drawn(share: float) -> np.ndarray:
        p = rng.beta(share * size, (1 - share) * size, 30) if correlation else np.full(30, share)
        return rng.binomial(20, p).astype(float)

    equal = [paired(drawn(0.6), drawn(0.6)).difference(RIGHT) for _ in range(300)]
    assert np.mean([(p_value_of(spread, 0.0) or 1) < 0.05 for spread in equal]) <= 0.085
    detectable = float(np.median([detectable_difference(spread, 0.95) or 0 for spread in equal]))
    other = [paired(drawn(0.6), drawn(0.6 - detectable / 100)).difference(RIGHT) for _ in range(200)]
    assert 0.7 <= np.mean([(p_value_of(spread, 0.0) or 1) < 0.05 for spread in other]) <= 0.9


def test_what_bends_is_resampled_in_pairs() -> None:
    rng = np.random.default_rng(13)
    sides = []
    for share in (0.5, 0.1):
        women = rng.binomial(4, share, 60)
        rows = np.stack([women, 4 - women, np.zeros(60), np.full(60, 4), np.full(60, 4)], axis=1)
        sides.append(counts((*set_columns("s"), "s.judged"), rows))
    metric = p_s("s")
    assert isinstance(metric.rule, Resampled)
    spread = Pairing(sides[0], sides[1], Resampling(1000)).difference(metric)
    assert p_value_of(spread, 0.0) == pytest.approx(2 / 1001), "no smaller than the resamples allow"
