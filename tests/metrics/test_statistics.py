"""statistics.py against scipy, statsmodels, published numbers, theory, and the properties that must always hold."""

from __future__ import annotations

import math
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa, to_table
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from gendermark.metrics import statistics
from gendermark.metrics.statistics import (
    Floats,
    Independence,
    cohen_kappa,
    holm,
    independence_test,
    normal_quantile,
    percentile_interval,
    permutation_p_value,
    resampled_sums,
    sign_flip_test,
    student_quantile,
    student_tail,
    wilson,
)

steady = settings(derandomize=True, max_examples=60, database=None)

confidences = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])
seeds = st.integers(0, 2**32 - 1)
LABELS = ["feminine", "masculine", "neutral"]
labels = st.sampled_from(LABELS)


@st.composite
def count_matrices(draw: st.DrawFn, n_matrices: int = 1, max_groups: int = 30) -> Any:
    """One matrix of whole counts, or a tuple of several of the same shape."""
    n_groups, n_columns = draw(st.integers(1, max_groups)), draw(st.integers(1, 4))
    generator = np.random.default_rng(draw(seeds))
    matrices = [generator.integers(0, 10, (n_groups, n_columns)).astype(float) for _ in range(n_matrices)]
    return matrices[0] if n_matrices == 1 else tuple(matrices)


@st.composite
def rates(draw: st.DrawFn, max_n: int = 3000) -> tuple[int, int]:
    n = draw(st.integers(1, max_n))
    return draw(st.integers(0, n)), n


# Rates


@given(rates(), confidences)
@steady
def test_wilson_equals_statsmodels(rate: tuple[int, int], confidence: float) -> None:
    assert wilson(*rate, confidence) == pytest.approx(
        proportion_confint(*rate, alpha=1 - confidence, method="wilson"), abs=1e-12
    )


def test_wilson_is_exact_at_the_boundaries() -> None:
    z = normal_quantile(0.975)
    assert wilson(0, 20) == pytest.approx((0.0, z * z / (20 + z * z)), abs=1e-15)
    assert wilson(20, 20) == pytest.approx((20 / (20 + z * z), 1.0), abs=1e-15)
    for n in range(1, 500):
        none, every = wilson(0, n), wilson(n, n)
        assert none is not None
        assert every is not None
        assert (none[0], every[1]) == (0.0, 1.0), "exactly, whatever the rounding"


@pytest.mark.parametrize("p", [1e-10, 0.025, 0.2, 0.5, 0.8, 0.975, 1 - 1e-10])
def test_normal_quantile_equals_scipy(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(scipy.stats.norm.ppf(p), abs=1e-9)


@pytest.mark.parametrize("df", [1, 1.5, 2, 3.3, 7, 18, 49.2, 300, 5000])
def test_student_equals_scipy(df: float) -> None:
    for t in (-2.5, 0.0, 0.3, 1.0, 2.0, 3.5, 8.0, 20.0):
        assert student_tail(t, df) == pytest.approx(scipy.stats.t.sf(t, df), rel=1e-9)
    for p in (0.5, 0.6, 0.8, 0.975, 0.999, 0.999999):
        assert student_quantile(p, df) == pytest.approx(scipy.stats.t.ppf(p, df), rel=1e-9, abs=1e-12)


# Resampling


def plain_bootstrap(counts: Floats, n_resamples: int, seed: int) -> Floats:
    """What resampled_sums means, written without any trick."""
    generator = np.random.Generator(np.random.PCG64(seed))
    return np.array([counts[generator.integers(len(counts), size=len(counts))].sum(axis=0) for _ in range(n_resamples)])


@given(count_matrices(), seeds)
@steady
def test_resampled_sums_are_the_plain_bootstrap(counts: Floats, seed: int) -> None:
    assert np.array_equal(resampled_sums(counts, 20, seed), plain_bootstrap(counts, 20, seed))


@given(count_matrices(n_matrices=2, max_groups=150), seeds, st.integers(1, 2000))
@steady
def test_results_are_reproducible_and_do_not_depend_on_the_chunk_size(
    pair: tuple[Floats, Floats], seed: int, cells: int
) -> None:
    counts_a, counts_b = pair
    classes = ["positive" if row % 3 else "negative" for row in range(len(counts_a))]

    def everything() -> tuple[Any, ...]:
        return (
            resampled_sums(counts_a, 23, seed).tolist(),
            sign_flip_test(counts_a[:, 0] - counts_b[:, 0], 23, seed, "two-sided"),
            independence_test(counts_a, classes, 23, seed),
        )

    once = everything()
    assert everything() == once
    with patch.object(statistics, "_CHUNK_CELLS", cells):
        assert everything() == once


def clustered_data(generator: np.random.Generator, rate: float, n_groups: int) -> Floats:
    """Successes and items per group; the groups differ in size and in their own rate, the mean of which is `rate`."""
    sizes = generator.integers(2, 9, n_groups)
    own_rates = generator.beta(4 * rate, 4 * (1 - rate), n_groups)
    return np.column_stack([generator.binomial(sizes, own_rates), sizes]).astype(float)


def test_a_95_percent_interval_covers_the_truth_about_95_percent_of_the_time() -> None:
    generator = np.random.default_rng(11)
    n_covered = n_covered_if_independent = 0
    for seed in range(400):
        counts = clustered_data(generator, 0.6, n_groups=50)
        sums = resampled_sums(counts, 1000, seed)
        interval = percentile_interval(sums[:, 0] / sums[:, 1], 0.95)
        naive = wilson(*counts.sum(axis=0))
        assert interval is not None
        assert naive is not None
        n_covered += interval[0] <= 0.6 <= interval[1]
        n_covered_if_independent += naive[0] <= 0.6 <= naive[1]
    assert 0.92 <= n_covered / 400 <= 0.98
    assert n_covered_if_independent / 400 < 0.88, "the reason why clusters are resampled"


def test_percentile_interval() -> None:
    assert percentile_interval(np.arange(101.0), 0.9) == pytest.approx((5.0, 95.0))
    assert percentile_interval(np.array([np.nan, 1.0, 2.0, np.nan]), 0.5) == pytest.approx((1.25, 1.75))
    assert percentile_interval(np.array([np.nan, np.inf, 2.0]), 0.9) is None
    assert percentile_interval(np.array([np.nan, np.nan]), 0.9) is None
    assert percentile_interval(np.empty(0), 0.9) is None


# Tests of hypotheses


def test_permutation_p_value_counts_the_observed_arrangement() -> None:
    replicates = np.array([-2.0, -1.0, 0.0, 1.0, 2.0, np.nan])
    assert permutation_p_value(2.0, replicates, "two-sided") == 3 / 6
    assert permutation_p_value(2.0, replicates, "greater") == 2 / 6
    assert permutation_p_value(5.0, replicates, "two-sided") == 1 / 6
    assert permutation_p_value(1.0, np.empty(0), "greater") == 1.0
    assert permutation_p_value(1.0, np.array([np.nan]), "greater") is None
    assert permutation_p_value(1.0, np.array([2.0, np.nan, np.nan]), "greater") is None, "mostly undefined"
    assert permutation_p_value(1.0, np.array([2.0, np.nan]), "greater") == 1.0
    assert permutation_p_value(math.nan, replicates, "greater") is None


p_value_lists = st.lists(st.floats(0, 1), max_size=12)


@given(p_value_lists.filter(bool))
@steady
def test_holm_equals_statsmodels(p_values: list[float]) -> None:
    with patch("gc.collect"):  # which statsmodels calls every time, and which takes its time among all our tests
        expected = multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(expected, abs=1e-12)


def test_holm_passes_over_tests_that_were_not_made() -> None:
    assert holm([0.01, None, 0.04, math.nan, 0.03]) == [pytest.approx(0.03), None, 0.06, None, 0.06]
    assert holm([None, 0.02]) == [None, 0.02]
    assert holm([]) == []


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("shift", [-0.6, 0.0, 0.6])
def test_sign_flip_test_equals_scipy(alternative: Any, shift: float) -> None:
    differences = np.random.default_rng(21).normal(shift, 1.0, 13)
    exact = scipy.stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        n_resamples=np.inf,
        alternative=alternative,
        vectorized=True,
    ).pvalue
    assert sign_flip_test(differences, 2**13, 1, alternative) == pytest.approx(exact, abs=1e-12)
    # One resample fewer than there are patterns, so they are drawn: within four standard errors of a share.
    tolerance = 4 * math.sqrt(0.25 / (2**13 - 1))
    assert sign_flip_test(differences, 2**13 - 1, 1, alternative) == pytest.approx(exact, abs=tolerance)


def test_sign_flip_test_at_the_edges() -> None:
    assert sign_flip_test(np.empty(0), 100, 1, "two-sided") == 1.0
    assert sign_flip_test(np.zeros(3), 100, 1, "greater") == 1.0
    assert sign_flip_test(np.array([0.1, 0.2, 0.3, np.nan]), 100, 1, "greater") == 1 / 8
    assert sign_flip_test(np.array([0.1, 0.2, 0.3]), 100, 1, "two-sided") == 2 / 8
    assert sign_flip_test(np.ones(40), 999, 1, "greater") == 1 / 1000


@given(count_matrices(max_groups=40), st.data())
@steady
def test_independence_statistic_equals_scipy(outcomes: Floats, data: st.DataObject) -> None:
    classes = data.draw(st.lists(st.sampled_from("abc"), min_size=len(outcomes), max_size=len(outcomes)))
    result = independence_test(outcomes, classes, 20, 1)
    table = np.array([outcomes[[c == name for c in classes]].sum(axis=0) for name in sorted(set(classes))])
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        assert result == Independence(None, None, None)
        return
    assert result.chi_square is not None
    assert result.cramers_v is not None
    assert result.p_value is not None
    assert result.chi_square == pytest.approx(scipy.stats.chi2_contingency(table, correction=False).statistic)
    assert result.cramers_v == pytest.approx(scipy.stats.contingency.association(table.astype(int), method="cramer"))
    assert 0 <= result.cramers_v <= 1
    assert 0 < result.p_value <= 1


def test_independence_test_knows_total_dependence_and_none() -> None:
    outcomes = np.array([[5.0, 0, 0]] * 6 + [[0.0, 5, 0]] * 6)
    classes = ["positive"] * 6 + ["negative"] * 6
    decided = independence_test(outcomes, classes, 2000, 1)
    assert decided.cramers_v == pytest.approx(1.0)
    assert decided.chi_square == pytest.approx(60.0)
    assert decided.p_value is not None
    assert decided.p_value < 0.01
    same = independence_test(np.full((12, 2), 5.0), classes, 2000, 1)
    assert same == Independence(pytest.approx(0.0), pytest.approx(0.0), 1.0)  # type: ignore[arg-type]


def test_independence_test_of_a_true_null_is_uniform() -> None:
    generator = np.random.default_rng(31)
    p_values = []
    for seed in range(300):
        own_rates = generator.dirichlet([1.0, 1.0, 1.0], 30)
        outcomes = np.array([generator.multinomial(generator.integers(1, 12), rates) for rates in own_rates])
        classes = generator.permutation(["occupation", "positive", "negative"] * 10).tolist()
        p_values.append(independence_test(outcomes, classes, 199, seed).p_value)
    assert scipy.stats.kstest(p_values, "uniform").pvalue > 0.01
    assert 0.02 <= np.mean(np.array(p_values) <= 0.05) <= 0.09


@pytest.mark.parametrize(
    ("outcomes", "classes"),
    [
        (np.zeros((0, 3)), []),
        ([], []),
        (np.zeros((4, 3)), ["a", "a", "b", "b"]),
        (np.ones((4, 3)), ["a", "a", "a", "a"]),
        (np.array([[3.0, 0], [2, 0]]), ["a", "b"]),
        (np.array([[3.0, 1], [0, 0]]), ["a", "b"]),
    ],
)
def test_independence_is_none_without_two_classes_and_two_outcomes(outcomes: Any, classes: list[str]) -> None:
    assert independence_test(outcomes, classes, 50, 1) == Independence(None, None, None)


# Agreement


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=60))
@steady
def test_kappa_equals_statsmodels(ratings: list[tuple[str, str]]) -> None:
    first, second = zip(*ratings, strict=True)
    kappa = cohen_kappa(first, second)
    if len(set(first) | set(second)) == 1:
        assert kappa is None
        return
    table, _ = to_table(np.array([[LABELS.index(label) for label in pair] for pair in ratings]), 3)
    assert kappa == pytest.approx(cohens_kappa(table, return_results=False), abs=1e-12)


def test_agreement_without_data_is_none() -> None:
    assert cohen_kappa([], []) is None


# The package's promise about dependencies
