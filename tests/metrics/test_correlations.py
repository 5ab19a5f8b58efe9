"""Correlations and their tests against scipy."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from gendermark.metrics.correlations import (
    Correlation,
    CorrelationKind,
    correlation,
    correlation_test,
    kendall,
    pearson,
    spearman,
    within_blocks,
)
from metrics import test_uncertainty_published as published

steady = settings(derandomize=True, max_examples=60, database=None)

KINDS: dict[CorrelationKind, Callable[[Any, Any], Any]] = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
}


@pytest.mark.parametrize("kind", KINDS)
@given(values=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=20))
@steady
def test_correlations_equal_scipy(kind: CorrelationKind, values: list[tuple[int, int]]) -> None:
    x, y = zip(*values, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy's about constant input
        expected = float(KINDS[kind](x, y).statistic)
    found = correlation(x, y, kind)
    if math.isnan(expected):
        assert found is None
    else:
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_few_pairs_are_tested_by_trying_all_orders(kind: CorrelationKind) -> None:
    x, y = [3.0, 1, 4, 1, 5, 9], [2.0, 7, 1, 8, 2, 8]
    observed = abs(KINDS[kind](x, y).statistic)
    every = [abs(KINDS[kind](order, y).statistic) for order in itertools.permutations(x)]
    found = correlation_test(x, y, kind)
    assert found.is_exact
    assert found.p_value == sum(value >= observed - 1e-9 for value in every) / 720


def test_exact_p_values_without_ties_equal_scipy() -> None:
    x, y = list(range(9)), [1, 0, 3, 2, 6, 4, 5, 8, 7]
    exact = scipy.stats.kendalltau(x, y, method="exact")
    found = correlation_test(x, y, "kendall")
    assert (found.value, found.p_value) == (pytest.approx(exact.statistic), pytest.approx(exact.pvalue))
    assert found.is_exact


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_may_change_places_within_their_blocks_only(kind: CorrelationKind) -> None:
    x, y, blocks = [3.0, 1, 4, 11, 15, 19], [2.0, 7, 1, 18, 12, 13], list("aaabbb")
    every = [
        float(KINDS[kind]([*first, *second], y).statistic)
        for first in itertools.permutations(x[:3])
        for second in itertools.permutations(x[3:])
    ]
    mean = sum(every) / len(every)
    observed = float(KINDS[kind](x, y).statistic)
    found = correlation_test(x, y, kind, blocks=blocks)
    assert (found.value, found.by_chance, found.is_exact) == (pytest.approx(observed), pytest.approx(mean), True)
    assert found.by_chance > 0.4  # the blocks differ, whatever is in them
    assert found.p_value == sum(abs(value - mean) >= abs(observed - mean) - 1e-9 for value in every) / 36
    # The order of the rows is of no matter.
    shuffled = [4, 1, 0, 5, 3, 2]
    again = correlation_test(
        [x[n] for n in shuffled], [y[n] for n in shuffled], kind, blocks=[blocks[n] for n in shuffled]
    )
    assert (again.p_value, again.by_chance) == (found.p_value, pytest.approx(found.by_chance))


def test_blocks_that_differ_are_no_evidence() -> None:
    """Free permutation takes levels of blocks for agreement; permutation within them holds its level."""
    rng = np.random.default_rng(8)
    blocks = [number // 4 for number in range(20)]
    levels = np.repeat(np.arange(5) * 3.0, 4)
    n_found = {"free": 0, "blocks": 0}
    for seed in range(150):
        x, y = levels + rng.normal(size=20), levels + rng.normal(size=20)
        n_found["free"] += correlation_test(x, y, "spearman", 199, seed).p_value <= 0.05
        n_found["blocks"] += correlation_test(x, y, "spearman", 199, seed, blocks=blocks).p_value <= 0.05
    assert n_found["free"] == 150
    assert 1 <= n_found["blocks"] <= 16


@pytest.mark.parametrize(
    ("columns", "by_chance", "p_value", "within", "p_within"),
    [
        (published.S3E, -0.63, 0.0023, -0.65, 0.026),
        (published.SEMANTIC, -0.31, 0.15, -0.25, 0.45),
        (published.GENDER, 0.08, 0.053, 0.13, 0.72),
        (published.LOG_PROBABILITY, 0.20, 0.0051, -0.70, 0.015),
    ],
)
def test_what_languages_do_to_the_correlations_of_table_19(
    columns: tuple[int, int], by_chance: float, p_value: float, within: float, p_within: float
) -> None:
    """Systems change places within their language only: levels of languages are no evidence (as in the docs)."""
    languages = [language for language, _ in published.CELLS]
    scores = published.relative(columns)
    found = correlation_test(scores, published.ACCURACY, "spearman", blocks=languages)
    assert found.by_chance == pytest.approx(by_chance, abs=0.005)
    assert found.p_value == pytest.approx(p_value, rel=0.03)
    assert found.is_exact
    ranks = within_blocks(scores, published.ACCURACY, languages)
    alone = correlation_test(*ranks, "pearson", blocks=languages)
    assert (alone.value, alone.p_value) == (pytest.approx(within, abs=0.005), pytest.approx(p_within, rel=0.03))


def test_ranks_within_blocks() -> None:
    first, second = within_blocks([5.0, 1, 100, 300, 200], [1.0, 2, 7, 7, 9], list("aabbb"))
    assert first.tolist() == [0.5, -0.5, -1, 1, 0]
    assert second.tolist() == [-0.5, 0.5, -0.5, -0.5, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_many_pairs_are_tested_by_random_orders(kind: CorrelationKind) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=30)
    y = 0.35 * x + rng.normal(size=30)
    found = correlation_test(x, y, kind, 20_000, 1)
    assert not found.is_exact
    assert found.value == pytest.approx(float(KINDS[kind](x, y).statistic))
    assert found.p_value == pytest.approx(float(KINDS[kind](x, y).pvalue), abs=0.01)
    assert correlation_test(x, y, kind, 500, 1) == correlation_test(x, y, kind, 500, 1)
    assert correlation_test(x, y, kind, 500, 2).p_value != found.p_value


def test_constant_or_too_few_numbers_have_no_correlation() -> None:
    assert pearson([0.1, 0.1, 0.1], [1.0, 2, 4]) is None
    assert spearman([1.0, 2, 4], [0.1, 0.1, 0.1]) is None
    assert kendall([1.0, 1, 1], [1.0, 2, 4]) is None
    assert pearson([1.0], [1.0]) is spearman([], []) is kendall([1.0], [2.0]) is None
    assert correlation_test([1.0, 1, 1], [1.0, 2, 4], "spearman") == Correlation("spearman", None, None, 3, True)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: pearson([1.0, 2], [1.0]),
        lambda: pearson([1.0, math.nan], [1.0, 2]),
        lambda: correlation([1.0, 2], [1.0, 2], "cosine"),  # type: ignore[arg-type]
    ],
)
def test_mistakes_are_value_errors(mistake: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        mistake()
