"""A linear model of numbers on cues.

It is ordinary least squares, with a level of its own for each contrast set if that is asked for (fixed effects, the
within estimator: Wooldridge 2010, Econometric Analysis of Cross Section and Panel Data, section 10.5). Sentences about
one occupation are not independent, so the standard errors are robust to anything that happens within a cluster. They
are those of the jackknife over clusters (CV3: MacKinnon, Nielsen & Webb 2023, Journal of Applied Econometrics
38:671-694), which hold better than the usual sandwich where a cue is found in few clusters. All questions asked of one
model are corrected together (Holm).

What the data leave undefined is `None`, never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gendermark.errors import UserError
from gendermark.metrics.metric import Floats
from gendermark.metrics.statistics import holm

INTERCEPT = "intercept"
_COLLINEAR = 1e-9
"""A column of which less than this share is left, once the earlier ones are taken out, says nothing of its own."""
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One column of the model: by how much the response moves when it rises by one, all else equal."""

    name: str
    value: float
    standard_error: float
    t: float | None
    """`None` where the fit is perfect and there is no error to divide by."""
    p_value: float | None
    p_holm: float | None
    """Corrected for all columns of the model; `None` for the intercept, which is no question."""
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class FactorTest:
    """Do the columns of one factor matter at all, the others being in the model?"""

    name: str
    columns: tuple[str, ...]
    f: float | None
    df_factor: int
    df_error: int
    p_value: float | None
    p_holm: float | None


@dataclass(frozen=True, slots=True)
class LinearModel:
    """A fitted model, with everything that was left out of it said by name."""

    coefficients: tuple[Coefficient, ...]
    factors: tuple[FactorTest, ...]
    dropped: Mapping[str, str]
    """Columns that say nothing of their own, and why."""
    n: int
    n_clusters: int
    df_error: int
    r_squared: float | None
    """Of the variation within the sets, where these have levels of their own."""
    n_levels: int
    """Sets with a level of their own; 0 if there is one intercept for all."""

    def __getitem__(self, name: str) -> Coefficient:
        return next(coefficient for coefficient in self.coefficients if coefficient.name == name)


def linear_model(
    response: ArrayLike,
    columns: Mapping[str, ArrayLike],
    clusters: Sequence[Hashable],
    *,
    levels: Sequence[Hashable] | None = None,
    factors: Mapping[str, Sequence[str]] | None = None,
    confidence: float = 0.95,
) -> LinearModel:
    """Least squares of `response` on `columns`, with tests of each column and of each factor (a group of columns).

    `levels` are the sets that have a level of their own each, so that response and columns are compared within sets
    only: what does not vary within any set has no effect then. Every set lies within one cluster.
    The errors are robust to dependence within clusters, so a factor's F test is the Wald test. The model has no
    interactions: its tests are those of type II and of type III at once. Without `factors` each column is one.
    """
    design = _Design.of(response, columns, clusters, levels)
    names = design.names
    values = np.asarray(np.linalg.lstsq(design.matrix, design.response, rcond=None)[0], dtype=np.float64)
    residuals = design.response - design.matrix @ values
    scale = float(np.abs(design.response).max(initial=0.0))
    if np.abs(residuals).max() <= _TIE * scale:
        residuals = np.zeros_like(residuals)  # a perfect fit but for rounding
    covariance = _covariance(design, residuals)
    df_error = design.n_clusters - 1
    reach = _t_quantile((1 + confidence) / 2, df_error)
    # Rounding may leave a variance of zero a little below it.
    standard_errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    t_values = [float(v / e) if e > 0 else None for v, e in zip(values, standard_errors, strict=True)]
    p_values = [None if t is None else t_test(t, df_error) for t in t_values]
    corrected = holm([None if name == INTERCEPT else p for name, p in zip(names, p_values, strict=True)])
    return LinearModel(
        coefficients=tuple(
            Coefficient(
                name,
                float(value),
                float(error),
                t,
                p,
                p_holm,
                float(value - reach * error),
                float(value + reach * error),
            )
            for name, value, error, t, p, p_holm in zip(
                names, values, standard_errors, t_values, p_values, corrected, strict=True
            )
        ),
        factors=_factor_tests(names, values, covariance, df_error, _checked_factors(factors, columns)),
        dropped=design.dropped,
        n=len(design.response),
        n_clusters=design.n_clusters,
        df_error=df_error,
        r_squared=_r_squared(design.response, residuals),
        n_levels=design.n_levels,
    )


@dataclass(frozen=True, slots=True)
class _Design:
    """The columns that enter the model, with the intercept first or, where sets have levels, their means removed."""

    matrix: Floats
    names: tuple[str, ...]
    response: Floats
    cluster_of: NDArray[np.intp]
    n_clusters: int
    dropped: Mapping[str, str]
    n_levels: int

    @classmethod
    def of(
        cls,
        response: ArrayLike,
        columns: Mapping[str, ArrayLike],
        clusters: Sequence[Hashable],
        levels: Sequence[Hashable] | None,
    ) -> _Design:
        if not columns:
            raise ValueError("a model needs at least one column")
        y = _numbers("the response", response, len(clusters))
        matrix = np.stack([_numbers(name, values, len(y)) for name, values in columns.items()], axis=1)
        names = tuple(columns)
        cluster_of, n_clusters = _numbered(clusters)
        if n_clusters < 2:
            raise UserError(f"a linear model needs at least two groups of sentences, but there is {n_clusters}")
        for name, values in zip(names, matrix.T, strict=True):
            if values.min() == values.max():
                raise UserError(
                    f"cue {name!r} has the same value, {values[0]:g}, in all {len(y)} rows, so its effect cannot be "
                    "told; leave it out"
                )
        n_levels = 0
        if levels is not None:
            if len(levels) != len(y) or len({*zip(levels, clusters, strict=True)}) != len({*levels}):
                raise ValueError("there is one level per row, and every level lies within one cluster")
            level_of, n_levels = _numbered(levels)
            y, matrix = _within(y[:, None], level_of)[:, 0], _within(matrix, level_of)
        else:
            matrix, names = np.column_stack([np.ones(len(y)), matrix]), (INTERCEPT, *names)
        kept, dropped = _independent(matrix, names, is_within=bool(n_levels))
        kept_names = tuple(names[place] for place in kept)
        design = cls(matrix[:, kept], kept_names, y, cluster_of, n_clusters, dropped, n_levels)
        if not kept:
            raise UserError("no cue varies within any contrast set, so there is nothing to explain")
        if design.df_residual < 1:
            raise UserError(
                f"{len(y)} rows are too few for a model of {len(y) - design.df_residual} coefficients; "
                "give more sentences or fewer cues"
            )
        return design

    @property
    def df_residual(self) -> int:
        return len(self.response) - len(self.names) - self.n_levels


def _numbered(names: Sequence[Hashable]) -> tuple[NDArray[np.intp], int]:
    """The number of each row's group, and how many groups there are."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.intp), len(numbers)


def _numbers(name: str, values: ArrayLike, n: int) -> Floats:
    vector = np.asarray(values, dtype=np.float64)
    if vector.shape != (n,):
        raise ValueError(f"{name} must have one number per row, {n}, not the shape {vector.shape}")
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} must be finite in every row")
    return vector


def _within(matrix: Floats, level_of: NDArray[np.intp]) -> Floats:
    """What is left of each column once the mean of its set is taken out."""
    sizes = np.bincount(level_of)
    means = np.stack([np.bincount(level_of, column) / sizes for column in matrix.T], axis=1)
    result: Floats = matrix - means[level_of]
    return result


def _independent(matrix: Floats, names: Sequence[str], *, is_within: bool) -> tuple[list[int], dict[str, str]]:
    """The columns that are no combination of those before them, and why the others are not kept."""
    kept: list[int] = []
    dropped: dict[str, str] = {}
    basis = np.zeros((len(matrix), 0))
    for place, name in enumerate(names):
        column = matrix[:, place]
        length = np.linalg.norm(column)
        rest = column - basis @ (basis.T @ column)
        rest = rest - basis @ (basis.T @ rest)  # once more, against rounding
        if is_within and np.abs(column).max() <= _COLLINEAR:
            dropped[name] = "does not vary within any contrast set"
        elif np.linalg.norm(rest) <= _COLLINEAR * length:
            weights = np.linalg.lstsq(matrix[:, kept], column, rcond=None)[0]
            needed = [names[earlier] for earlier, weight in zip(kept, weights, strict=True) if abs(weight) > 1e-6]
            dropped[name] = f"follows from {', '.join(needed)}"
        else:
            kept.append(place)
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
    return kept, dropped


def _covariance(design: _Design, residuals: Floats) -> Floats:
    """Of the coefficients: how far they move when one cluster after the other is left out."""
    scale = np.linalg.norm(design.matrix, axis=0)  # so that what is singular does not depend on units
    matrix = design.matrix / scale
    everything = matrix.T @ matrix
    moves = np.zeros((design.n_clusters, len(scale)))
    for cluster in range(design.n_clusters):
        rows = design.cluster_of == cluster
        own = matrix[rows]
        # Where a cue is in this cluster alone, the others say nothing of it: it moves as far as it must.
        rest = np.linalg.pinv(everything - own.T @ own, rcond=_COLLINEAR, hermitian=True)
        moves[cluster] = rest @ (own.T @ residuals[rows]) / scale
    factor = (design.n_clusters - 1) / design.n_clusters
    return np.asarray(factor * (moves.T @ moves), dtype=np.float64)


def _checked_factors(
    factors: Mapping[str, Sequence[str]] | None, columns: Mapping[str, ArrayLike]
) -> Mapping[str, Sequence[str]]:
    if factors is None:
        return {name: (name,) for name in columns}
    for factor, members in factors.items():
        for member in members:
            if member not in columns:
                raise ValueError(f"factor {factor!r} has no column {member!r}; available: {', '.join(columns)}")
    return factors


def _factor_tests(
    names: Sequence[str], values: Floats, covariance: Floats, df_error: int, factors: Mapping[str, Sequence[str]]
) -> tuple[FactorTest, ...]:
    found: list[tuple[str, tuple[str, ...], float | None, float | None]] = []
    for factor, members in factors.items():
        places = [names.index(member) for member in members if member in names]
        f = _wald_f(values[places], covariance[np.ix_(places, places)])
        p = None if f is None else f_test(f, len(places), df_error)
        found.append((factor, tuple(names[place] for place in places), f, p))
    corrected = holm([p for *_, p in found])
    return tuple(
        FactorTest(factor, members, f, len(members), df_error, p, p_holm)
        for (factor, members, f, p), p_holm in zip(found, corrected, strict=True)
    )


def _wald_f(values: Floats, covariance: Floats) -> float | None:
    """`None` without columns, or where there are too few clusters to tell their errors apart."""
    if not len(values) or np.linalg.matrix_rank(covariance, hermitian=True) < len(values):
        return None
    return max(0.0, float(values @ np.linalg.solve(covariance, values)) / len(values))


def _r_squared(response: Floats, residuals: Floats) -> float | None:
    around_mean = response - response.mean()
    total = float(around_mean @ around_mean)
    return 1 - float(residuals @ residuals) / total if total > 0 else None


# Tails of the t and F distributions


def t_test(t: float, df: float) -> float:
    """Two-sided p-value of a t statistic."""
    return _incomplete_beta(df / (df + t * t), t * t / (df + t * t), df / 2, 0.5)


def f_test(f: float, df_factor: float, df_error: float) -> float:
    """p-value of an F statistic: its upper tail."""
    whole = df_error + df_factor * f
    return _incomplete_beta(df_error / whole, df_factor * f / whole, df_error / 2, df_factor / 2)


def _t_quantile(p: float, df: float) -> float:
    """The point below which t falls with probability `p`, at least one half."""
    if not 0.5 <= p < 1:
        raise ValueError(f"confidence must lie strictly between 0 and 1, not {2 * p - 1:g}")
    low, high = 0.0, 1.0
    while t_test(high, df) > 2 * (1 - p):
        high *= 2
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if t_test(middle, df) > 2 * (1 - p) else (low, middle)
    return high


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Abramowitz & Stegun 26.5.8).

    `rest` is 1 - x, which the caller knows better than a subtraction could tell.
    """
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # there the fraction of the other tail converges faster
        return 1 - _incomplete_beta(rest, x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest))
    # Evaluated from the front, as a ratio of two running products (Lentz's method).
    upper, lower = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = lower
    for m in range(1, 100_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            lower = 1 / (1 + step * lower)
            upper = 1 + step / upper
            value *= lower * upper
        if abs(lower * upper - 1) < 1e-15:
            break
    return front * value / a
