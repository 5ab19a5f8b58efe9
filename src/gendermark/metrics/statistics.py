"""Statistics shared by all metrics: intervals, resampling, tests, agreement.

Based on a count matrix of shape (n_groups, n_columns): row g holds the summed tallies of one cluster (a template, a
lexeme, a counterfactual pair). A metric is a function of column sums, so resampling returns column sums, one row per
resample.

Undefined values are `None`, never NaN, and empty data is not an error. Callers check user input (a confidence, a number
of resamples).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from statistics import NormalDist  # the standard library's: imports are absolute
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Alternative = Literal["two-sided", "greater"]

_CHUNK_CELLS = 1 << 18
"""Cells (resamples x groups) drawn at a time: bounds memory, and fits the processor's cache."""

_FRACTION_TERMS = 100
"""Of a continued fraction: sufficient for all probabilities needed."""

_TIE = 1e-12
"""Relative tolerance for equal numbers computed in different order."""


# Intervals for rates


def normal_quantile(p: float) -> float:
    return NormalDist().inv_cdf(p)


def wilson(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float] | None:
    """Score interval of one rate (Wilson 1927, JASA 22:209-212); `None` if `n` is 0.

    It stays within [0, 1] and has width even if every answer is the same. `n` may be fractional, for an effective
    sample size.
    """
    if math.isnan(successes) or not n > 0:
        return None
    rate = successes / n
    return wilson_between(rate, (0.0, 1.0), rate * (1 - rate) / n, n, normal_quantile(0.5 + confidence / 2))


def wilson_between(
    value: float, bounds: tuple[float, float], variance: float, n: float, quantile: float
) -> tuple[float, float]:
    """The same for any bounded number: at the sample size that gives this variance; at a bound, at `n`."""
    below, above = max(value - bounds[0], 0.0), max(bounds[1] - value, 0.0)
    width = below + above
    if width <= 0:
        return value, value
    share = below / width
    effective = below * above / variance if variance > 0 and below * above > 0 else n
    scaled = quantile**2 / effective
    centre = (share + scaled / 2) / (1 + scaled)
    half = math.sqrt(scaled * share * (1 - share) + scaled**2 / 4) / (1 + scaled)
    low, high = bounds[0] + (centre - half) * width, bounds[0] + (centre + half) * width
    # Exact arithmetic gives the value itself at a bound, and an interval around it elsewhere; guard against rounding.
    return (bounds[0] if share == 0 else min(low, value)), (bounds[1] if share == 1 else max(high, value))


def student_tail(t: float, df: float) -> float:
    """P(T > t) under Student's distribution; `df` may be fractional."""
    tail = 0.5 * _incomplete_beta(df / 2, 0.5, df / (df + t * t))
    return tail if t >= 0 else 1 - tail


@cache
def student_quantile(p: float, df: float) -> float:
    log_density = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    # Newton's method from the normal quantile, a lower bound: the tail is convex, so no step overshoots.
    t, step = NormalDist().inv_cdf(p), 1.0
    while step > 1e-13 * t:
        density = math.exp(log_density - (df + 1) / 2 * math.log1p(t * t / df))
        step = (student_tail(t, df) - (1 - p)) / density
        t += step
    return t


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularised; by its continued fraction (Abramowitz & Stegun 1964, 26.5.8), from the last term to the first."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # beyond it the fraction converges slowly
        return 1 - _incomplete_beta(b, a, 1 - x)
    fraction = 1.0
    for m in range(_FRACTION_TERMS, 0, -1):
        fraction = 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) / fraction
        fraction = 1 - (a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1)) / fraction
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) / a / fraction


# Resampling


def resampled_sums(counts: ArrayLike, n_resamples: int, seed: int) -> Floats:
    """Column sums of `n_resamples` cluster bootstrap samples, shape (n_resamples, n_columns).

    Each draws `n_groups` rows with replacement (Efron 1979, Annals of Statistics 7:1-26; whole clusters: Davison &
    Hinkley 1997, section 3.8), because the sentences of one template or lexeme are dependent. Draws depend only on the
    seed and the number of groups: equal seeds give paired samples. Integer counts sum exactly on every machine;
    fractions may differ in the last bit.
    """
    matrix = np.asarray(counts, dtype=np.float64)
    n_groups = len(matrix)
    sums = np.zeros((n_resamples, matrix.shape[1]))
    generator = np.random.Generator(np.random.PCG64(seed))
    for rows in _chunks(n_resamples, n_groups):
        n_rows = rows.stop - rows.start
        # 64-bit draws: numpy then keeps the rest of a random word for the next call, so chunks do not matter. For 8 and
        # 16 bits it discards the rest after each call.
        draws = generator.integers(n_groups, size=(n_rows, n_groups), dtype=np.int64)
        draws += np.arange(n_rows, dtype=np.int64)[:, None] * n_groups
        tally = np.bincount(draws.ravel(), minlength=n_rows * n_groups)
        sums[rows] = tally.reshape(n_rows, n_groups).astype(np.float64) @ matrix
    return sums


def percentile_interval(replicates: Floats, confidence: float = 0.95) -> tuple[float, float] | None:
    """The central `confidence` part of the bootstrap replicates of a metric (Efron & Tibshirani 1993, chapter 13).

    Non-finite replicates (metric undefined) are left out. `None` if more than half are, or there are none: the rest
    would be a biased selection.
    """
    kept = _mostly_defined(replicates)
    if kept is None:
        return None
    low, high = np.quantile(kept, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _mostly_defined(replicates: Floats) -> Floats | None:
    kept = replicates[np.isfinite(replicates)]
    return kept if len(kept) and 2 * len(kept) >= len(replicates) else None


def _chunks(n_resamples: int, n_groups: int) -> Iterator[slice]:
    """The resamples in chunks; none without groups."""
    if n_groups == 0:
        return
    step = max(1, _CHUNK_CELLS // n_groups)
    for start in range(0, n_resamples, step):
        yield slice(start, min(start + step, n_resamples))


# Tests


def permutation_p_value(observed: float, replicates: Floats, alternative: Alternative = "two-sided") -> float | None:
    """The share of arrangements at least as extreme as observed: `(1 + extreme) / (1 + replicates)`.

    The observed arrangement counts as one, so the value is never 0 (Phipson & Smyth 2010, Statistical Applications in
    Genetics and Molecular Biology 9:39). "two-sided" compares distances from 0. Non-finite replicates are left out;
    `None` if more than half are, or if the observed value is undefined.
    """
    values = _mostly_defined(replicates) if len(replicates) else replicates
    if values is None or not math.isfinite(observed):
        return None
    scale = max(1.0, abs(observed), float(np.abs(values).max(initial=0.0)))
    return (1 + _n_extreme(observed, values, alternative, _TIE * scale)) / (1 + len(values))


def sign_flip_test(differences: Floats, n_resamples: int, seed: int, alternative: Alternative = "two-sided") -> float:
    """One-sample permutation test of mean zero, one difference per group (Fisher 1935, The Design of Experiments).

    Under the null, each difference is equally likely with the other sign. All sign patterns are enumerated if there are
    at most `n_resamples`, otherwise that many are drawn. Non-finite differences are left out; no differences give 1.
    """
    values = differences[np.isfinite(differences)]
    observed = float(values.sum())
    tie = _TIE * max(1.0, float(np.abs(values).sum()))
    if 2 ** len(values) <= n_resamples:
        sums = np.zeros(1)
        for value in values:
            sums = np.concatenate((sums + value, sums - value))
        # The observed signs are included.
        return _n_extreme(observed, sums, alternative, tie) / len(sums)
    n_extreme = 0
    generator = np.random.Generator(np.random.PCG64(seed))
    n_words = -(-len(values) // 64)  # whole words per resample, so that chunks do not matter
    for rows in _chunks(n_resamples, len(values)):
        words = generator.integers(0, 2**64, size=(rows.stop - rows.start, n_words), dtype=np.uint64)
        octets = words.astype("<u8", copy=False).view(np.uint8)
        flipped = np.unpackbits(octets, axis=1, count=len(values)).astype(np.float64)
        n_extreme += _n_extreme(observed, observed - 2 * (flipped @ values), alternative, tie)
    return (1 + n_extreme) / (1 + n_resamples)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for multiple questions, in input order (Holm 1979, Scand. J. Stat. 6:65-70).

    Controls the family-wise error rate under any dependence. `None` (or NaN), a test that could not be made, passes
    through as `None` and does not count.
    """
    made = [(p, place) for place, p in enumerate(p_values) if p is not None and not math.isnan(p)]
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(sorted(made)):
        largest = max(largest, min(1.0, (len(made) - rank) * p))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for counting or selecting among many results (Benjamini & Hochberg 1995, JRSS B 57:289-300).

    Controls the false discovery rate. `None` passes through and does not count.
    """
    made = sorted(((p, place) for place, p in enumerate(p_values) if p is not None), reverse=True)
    adjusted: list[float | None] = [None] * len(p_values)
    smallest = 1.0
    for rank, (p, place) in enumerate(made):
        smallest = min(smallest, p * len(made) / (len(made) - rank))
        adjusted[place] = smallest
    return adjusted


class Independence(NamedTuple):
    """Whether outcome depends on class. All are `None` with fewer than two classes or outcomes with counts."""

    chi_square: float | None = None
    cramers_v: float | None = None
    """Effect size from 0 (none) to 1 (the class determines the outcome), independent of table size (Cramér 1946)."""
    p_value: float | None = None


def independence_test(outcomes: ArrayLike, classes: Sequence[str], n_resamples: int, seed: int) -> Independence:
    """Does the distribution of outcomes differ between classes of clusters?

    `outcomes` counts the outcomes of each cluster, shape (n_groups, n_outcomes), such as the feminine, masculine and
    neutral translations of one lexeme; `classes` names the class of each cluster. The statistic is Pearson's chi-square
    of the class x outcome table (Pearson 1900). Its p-value comes from permuting class labels among clusters, not from
    the chi-square distribution: sentences with the same lexeme are dependent.
    """
    if not len(classes):
        return Independence()
    counts = np.asarray(outcomes, dtype=np.float64)
    occupied = counts.sum(axis=1) > 0  # an empty cluster has no information, and could leave a class empty
    labels = np.unique(np.asarray(classes, dtype=np.str_)[occupied], return_inverse=True)[1]
    counts = counts[np.ix_(occupied, counts.sum(axis=0) > 0)]
    n_classes, n_outcomes = len(np.unique(labels)), counts.shape[1]
    if min(n_classes, n_outcomes) < 2:
        return Independence()
    observed = float(_chi_squares(labels[None, :], n_classes, counts)[0])
    generator = np.random.Generator(np.random.PCG64(seed))
    replicates = np.empty(n_resamples)
    for rows in _chunks(n_resamples, len(counts)):
        permuted = generator.permuted(np.tile(labels, (rows.stop - rows.start, 1)), axis=1)
        replicates[rows] = _chi_squares(permuted, n_classes, counts)
    return Independence(
        chi_square=observed,
        cramers_v=min(1.0, math.sqrt(observed / (counts.sum() * (min(n_classes, n_outcomes) - 1)))),
        p_value=permutation_p_value(observed, replicates, "greater"),
    )


def _chi_squares(labels: NDArray[np.intp], n_classes: int, counts: Floats) -> Floats:
    """Pearson's chi-square for each row of `labels`, which assigns every cluster a class."""
    outcome_shares = counts.sum(axis=0) / counts.sum()
    statistic = np.zeros(len(labels))
    for number in range(n_classes):
        table_row = (labels == number).astype(np.float64) @ counts
        expected = table_row.sum(axis=1, keepdims=True) * outcome_shares
        statistic += ((table_row - expected) ** 2 / expected).sum(axis=1)
    return statistic


def _n_extreme(observed: float, replicates: Floats, alternative: Alternative, tie: float) -> int:
    """Number of replicates at least as extreme as observed, up to `tie`."""
    far, bound = (np.abs(replicates), abs(observed)) if alternative == "two-sided" else (replicates, observed)
    return int(np.count_nonzero(far >= bound - tie))


# Agreement


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Agreement of two raters beyond chance (Cohen 1960, Educational and Psychological Measurement 20:37-46).

    1 is perfect, 0 is chance level. `None` if undefined: no items, or both raters always give the same single label.
    `None` as a rating is a label like any other.
    """
    n = len(first)
    n_agreed = sum(a == b for a, b in zip(first, second, strict=True))
    count_first, count_second = Counter(first), Counter(second)
    by_chance = sum(count * count_second[label] for label, count in count_first.items())  # of n * n pairs
    if by_chance == n * n:
        return None
    return (n * n_agreed - by_chance) / (n * n - by_chance)
