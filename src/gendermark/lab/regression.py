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

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gendermark.errors import UserError
from gendermark.lab.studies import scipy_stats
from gendermark.metrics.metric import Floats
from gendermark.metrics.statistics import holm

INTERCEPT = "intercept"
_COLLINEAR = 1e-9
"""A column of which less than this share is left, once the earlier ones are taken out, says nothing of its own."""
_TIE = 1e-12
_ROUNDING = 1e-7
"""A standard error is a root, so that rounding shows in its eighth digit."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One column of the model: by how much the response moves when it rises by one, all else equal."""

    name: str
    value: float
    standard_error: float
    t: float | None
    """`None` where there is no error to divide by."""
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
    y = np.asarray(response, dtype=np.float64)
    matrix = np.stack([np.asarray(values, dtype=np.float64) for values in columns.values()], axis=1)
    cluster_of = _numbered(clusters)
    n_clusters = int(cluster_of.max()) + 1
    if n_clusters < 2:
        raise UserError("a linear model needs at least two groups of sentences, but there is 1")
    n_levels = 0
    if levels is None:
        matrix, names = np.column_stack([np.ones(len(y)), matrix]), (INTERCEPT, *columns)
    else:
        level_of, names = _numbered(levels), tuple(columns)
        n_levels = int(level_of.max()) + 1
        y, matrix = _within(y[:, None], level_of)[:, 0], _within(matrix, level_of)
    kept, dropped = _independent(matrix, names, is_within=levels is not None)
    matrix, names = matrix[:, kept], tuple(names[place] for place in kept)
    if not kept:
        raise UserError("no cue varies within any contrast set, so there is nothing to explain")
    if len(y) <= len(names) + n_levels:
        raise UserError(
            f"{len(y)} rows are too few for a model of {len(names) + n_levels} coefficients; give more sentences or "
            "fewer cues"
        )
    values = np.asarray(np.linalg.lstsq(matrix, y, rcond=None)[0], dtype=np.float64)
    residuals = y - matrix @ values
    if np.abs(residuals).max() <= _TIE * float(np.abs(y).max(initial=0.0)):
        residuals = np.zeros_like(residuals)  # a perfect fit but for rounding
    covariance = _covariance(matrix, residuals, cluster_of, n_clusters)
    df_error = n_clusters - 1
    # Where all clusters agree an error is nothing but rounding: then there is no test, and no t of one over nothing.
    rounding = _ROUNDING * float(np.abs(np.asarray(response)).max()) / np.abs(matrix).max(axis=0)
    coefficients = _coefficients(names, values, covariance, df_error, confidence)
    exact = {c.name for c, least in zip(coefficients, rounding, strict=True) if not c.standard_error > least}
    tests = _factor_tests(names, values, covariance, df_error, factors or {name: (name,) for name in columns})
    return LinearModel(
        tuple(
            Coefficient(c.name, c.value, 0.0, None, None, None, c.value, c.value) if c.name in exact else c
            for c in coefficients
        ),
        tuple(
            replace(test, f=None, p_value=None, p_holm=None) if exact.issuperset(test.columns) else test
            for test in tests
        ),
        dropped,
        len(y),
        n_clusters,
        df_error,
        _r_squared(y, residuals),
        n_levels,
    )


def _numbered(names: Sequence[Hashable]) -> NDArray[np.intp]:
    """The number of each row's group."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.intp)


def _within(matrix: Floats, level_of: NDArray[np.intp]) -> Floats:
    """What is left of each column once the mean of its set is taken out."""
    sizes = np.bincount(level_of)
    means = np.stack([np.bincount(level_of, column) / sizes for column in matrix.T], axis=1)
    return np.asarray(matrix - means[level_of])


def _independent(matrix: Floats, names: Sequence[str], *, is_within: bool) -> tuple[list[int], dict[str, str]]:
    """The columns that are no combination of those before them, and why the others are not kept."""
    kept: list[int] = []
    dropped: dict[str, str] = {}
    basis = np.zeros((len(matrix), 0))
    for place, name in enumerate(names):
        column = matrix[:, place]
        rest = column - basis @ (basis.T @ column)
        rest = rest - basis @ (basis.T @ rest)  # once more, against rounding
        if is_within and np.abs(column).max() <= _COLLINEAR:
            dropped[name] = "does not vary within any contrast set"
        elif np.linalg.norm(rest) <= _COLLINEAR * np.linalg.norm(column):
            weights = np.linalg.lstsq(matrix[:, kept], column, rcond=None)[0]
            needed = [names[earlier] for earlier, weight in zip(kept, weights, strict=True) if abs(weight) > 1e-6]
            dropped[name] = f"follows from {', '.join(needed)}"
        else:
            kept.append(place)
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
    return kept, dropped


def _covariance(matrix: Floats, residuals: Floats, cluster_of: NDArray[np.intp], n_clusters: int) -> Floats:
    """Of the coefficients: how far they move when one cluster after the other is left out."""
    scale = np.linalg.norm(matrix, axis=0)  # so that what is singular does not depend on units
    matrix = matrix / scale
    everything = matrix.T @ matrix
    moves = np.zeros((n_clusters, len(scale)))
    for cluster in range(n_clusters):
        rows = cluster_of == cluster
        own = matrix[rows]
        # Where a cue is in this cluster alone, the others say nothing of it: it moves as far as it must.
        rest = np.linalg.pinv(everything - own.T @ own, rcond=_COLLINEAR, hermitian=True)
        moves[cluster] = rest @ (own.T @ residuals[rows]) / scale
    return np.asarray((n_clusters - 1) / n_clusters * (moves.T @ moves), dtype=np.float64)


def _coefficients(
    names: Sequence[str], values: Floats, covariance: Floats, df_error: int, confidence: float
) -> tuple[Coefficient, ...]:
    t_of = scipy_stats("study cues").t
    reach = float(t_of.ppf((1 + confidence) / 2, df_error))
    # Rounding may leave a variance of zero a little below it.
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    t_values = [float(v / e) if e > 0 else None for v, e in zip(values, errors, strict=True)]
    p_values = [None if t is None else float(2 * t_of.sf(abs(t), df_error)) for t in t_values]
    corrected = holm([None if name == INTERCEPT else p for name, p in zip(names, p_values, strict=True)])
    return tuple(
        Coefficient(name, float(v), float(e), t, p, p_holm, float(v - reach * e), float(v + reach * e))
        for name, v, e, t, p, p_holm in zip(names, values, errors, t_values, p_values, corrected, strict=True)
    )


def _factor_tests(
    names: Sequence[str], values: Floats, covariance: Floats, df_error: int, factors: Mapping[str, Sequence[str]]
) -> tuple[FactorTest, ...]:
    f_of = scipy_stats("study cues").f
    found: list[tuple[str, tuple[str, ...], float | None, float | None]] = []
    for factor, members in factors.items():
        places = [names.index(member) for member in members if member in names]
        f = _wald_f(values[places], covariance[np.ix_(places, places)])
        p = None if f is None else float(f_of.sf(f, len(places), df_error))
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
