"""How far two lists of numbers go together, and how often chance alone would do as much.

What the data leave undefined is `None`, never NaN.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gendermark.metrics.metric import Floats
from gendermark.statistics import permutation_p_value

CorrelationKind = Literal["pearson", "spearman", "kendall"]

LARGEST_EXACT = 9
"""Up to so many pairs every order is tried (9! = 362,880); beyond, orders are drawn."""
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Correlation:
    """How far two lists of numbers go together, and how often chance alone would do as much."""

    kind: CorrelationKind
    value: float | None
    """`None` with fewer than two pairs, or where one list is constant."""
    p_value: float | None
    n: int
    is_exact: bool
    """Whether all orders were tried, not a sample of them."""


def pearson(first: ArrayLike, second: ArrayLike) -> float | None:
    """The correlation of the numbers themselves."""
    x, y = _pair(first, second)
    # A constant list less its mean may be more than nothing, by rounding.
    is_constant = not len(x) or x.min() == x.max() or y.min() == y.max()
    return None if is_constant else _cosine(x - x.mean(), y - y.mean())


def spearman(first: ArrayLike, second: ArrayLike) -> float | None:
    """The correlation of the ranks; equal numbers share the mean of theirs."""
    x, y = _pair(first, second)
    return pearson(_ranks(x), _ranks(y))


def kendall(first: ArrayLike, second: ArrayLike) -> float | None:
    """Tau-b: pairs in the same order minus pairs in the other, out of those that both lists put in an order."""
    x, y = _pair(first, second)
    return _cosine(_orders(x), _orders(y)) if len(x) > 1 else None


_BY_KIND: Mapping[CorrelationKind, Callable[[ArrayLike, ArrayLike], float | None]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}


def correlation(first: ArrayLike, second: ArrayLike, kind: CorrelationKind = "pearson") -> float | None:
    """The correlation of that kind, or `None` where it is undefined."""
    if kind not in _BY_KIND:
        raise ValueError(f"a correlation is one of {', '.join(_BY_KIND)}, not {kind!r}")
    return _BY_KIND[kind](first, second)


def correlation_test(
    first: ArrayLike, second: ArrayLike, kind: CorrelationKind, n_resamples: int = 9999, seed: int = 12345
) -> Correlation:
    """A correlation with its two-sided permutation p-value: exact up to 9 pairs, else from that many random orders."""
    x, y = _pair(first, second)
    value = correlation(x, y, kind)
    is_exact = len(x) <= LARGEST_EXACT
    if value is None:
        return Correlation(kind, None, None, len(x), is_exact)
    if is_exact:
        orders = _all_orders(len(x))
    else:
        generator = np.random.Generator(np.random.PCG64(seed))
        orders = generator.permuted(np.tile(np.arange(len(x)), (n_resamples, 1)), axis=1)
    # Whatever the order, spread and ties of a list stay as they are: only the product of the two changes.
    if kind == "kendall":
        replicates, observed = _concordances(x, y, orders)
    else:
        if kind == "spearman":
            x, y = _ranks(x), _ranks(y)
        x, y = x - x.mean(), y - y.mean()
        x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
        replicates, observed = x[orders] @ y, float(x @ y)
    if is_exact:  # the observed order is among them
        n_extreme = np.count_nonzero(np.abs(replicates) >= abs(observed) - _TIE)
        p_value: float | None = n_extreme / len(orders)
    else:
        p_value = permutation_p_value(observed, replicates)
    return Correlation(kind, value, p_value, len(x), is_exact)


def _pair(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"two lists of one length are needed, not the shapes {x.shape} and {y.shape}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("numbers to correlate must be finite")
    return x, y


def _cosine(x: Floats, y: Floats) -> float | None:
    length = float(np.linalg.norm(x)) * float(np.linalg.norm(y))
    return min(1.0, max(-1.0, float(x @ y) / length)) if length > 0 else None


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[place], dtype=np.float64)


def _orders(values: Floats) -> Floats:
    """+1, 0 or -1 for each pair of places."""
    earlier, later = np.triu_indices(len(values), 1)
    return np.sign(values[later] - values[earlier])


def _concordances(x: Floats, y: Floats, orders: NDArray[np.int64]) -> tuple[Floats, float]:
    """Concordant minus discordant pairs for each order of `x`, and as the lists stand."""
    ranks = np.unique(x, return_inverse=True)[1].astype(np.int32)[orders]
    totals = np.zeros(len(orders))
    for earlier, later in itertools.combinations(range(len(y)), 2):
        if sign := float(np.sign(y[later] - y[earlier])):
            totals += sign * np.sign(ranks[:, later] - ranks[:, earlier])
    return totals, float(_orders(x) @ _orders(y))


@cache
def _all_orders(n: int) -> NDArray[np.int64]:
    return np.array(list(itertools.permutations(range(n))))
