"""How far two lists of numbers go together, and how often chance alone would do as much.

What the data leave undefined is `None`, never NaN.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gendermark.metrics.metric import Floats
from gendermark.metrics.statistics import permutation_p_value

CorrelationKind = Literal["pearson", "spearman", "kendall"]

MOST_ORDERS = math.factorial(9)
"""Up to so many orders (362,880) every one is tried; beyond, orders are drawn."""
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
    by_chance: float | None = None
    """Its mean over all orders: 0, but where numbers keep to their blocks and blocks differ in both lists."""


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


def within_blocks(first: ArrayLike, second: ArrayLike, blocks: Sequence[Hashable]) -> tuple[Floats, Floats]:
    """The ranks of both lists, counted within each block from its middle: what remains once blocks do not differ."""
    x, y = _pair(first, second)
    ranks = np.zeros((2, len(x)))
    for places in _places(blocks):
        for row, values in zip(ranks, (x, y), strict=True):
            row[list(places)] = _ranks(values[list(places)]) - (len(places) + 1) / 2
    return ranks[0], ranks[1]


def correlation(first: ArrayLike, second: ArrayLike, kind: CorrelationKind = "pearson") -> float | None:
    """The correlation of that kind, or `None` where it is undefined."""
    if kind not in _BY_KIND:
        raise ValueError(f"a correlation is one of {', '.join(_BY_KIND)}, not {kind!r}")
    return _BY_KIND[kind](first, second)


def correlation_test(
    first: ArrayLike,
    second: ArrayLike,
    kind: CorrelationKind,
    n_resamples: int = 9999,
    seed: int = 12345,
    *,
    blocks: Sequence[Hashable] | None = None,
) -> Correlation:
    """A correlation with its two-sided permutation p-value: exact up to 9! orders, else from that many random ones.

    With `blocks`, one for each pair, numbers change places within their block only: what sets the blocks apart stays as
    it is, and what is tested is whether the lists go together beyond that (restricted permutation: Anderson & ter Braak
    2003, Journal of Statistical Computation and Simulation 73:85-113). Distances are from the mean over all orders.
    """
    x, y = _pair(first, second)
    parts = _places(blocks if blocks is not None else [0] * len(x))
    value = correlation(x, y, kind)
    n_orders = math.prod(math.factorial(len(part)) for part in parts)
    is_exact = n_orders <= MOST_ORDERS
    if value is None:
        return Correlation(kind, None, None, len(x), is_exact)
    orders = _all_orders(tuple(parts)) if is_exact else _drawn_orders(parts, n_resamples, seed)
    # Whatever the order, spread and ties of a list stay as they are: only the product of the two changes.
    if kind == "kendall":
        replicates, observed = _concordances(x, y, orders)
    else:
        if kind == "spearman":
            x, y = _ranks(x), _ranks(y)
        x, y = x - x.mean(), y - y.mean()
        x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
        replicates, observed = x[orders] @ y, float(x @ y)
    by_chance = float(replicates.mean()) if blocks is not None else 0.0
    if is_exact:  # the observed order is among them
        n_extreme = np.count_nonzero(np.abs(replicates - by_chance) >= abs(observed - by_chance) - _TIE)
        p_value: float | None = n_extreme / len(orders)
    else:
        p_value = permutation_p_value(observed - by_chance, replicates - by_chance)
    return Correlation(kind, value, p_value, len(x), is_exact, by_chance)


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
    """Tau-b for each order of `x`, and as the lists stand."""
    ranks = np.unique(x, return_inverse=True)[1].astype(np.int32)[orders]
    totals = np.zeros(len(orders))
    for earlier, later in itertools.combinations(range(len(y)), 2):
        if sign := float(np.sign(y[later] - y[earlier])):
            totals += sign * np.sign(ranks[:, later] - ranks[:, earlier])
    ordered = _orders(x), _orders(y)
    length = float(np.linalg.norm(ordered[0])) * float(np.linalg.norm(ordered[1]))
    return totals / length, float(ordered[0] @ ordered[1]) / length


_Places = tuple[int, ...]


def _places(blocks: Sequence[Hashable]) -> list[_Places]:
    """The places of each block."""
    found: dict[Hashable, list[int]] = {}
    for place, block in enumerate(blocks):
        found.setdefault(block, []).append(place)
    return [tuple(places) for places in found.values()]


@cache
def _all_orders(parts: tuple[_Places, ...]) -> NDArray[np.int64]:
    """Every way to change places within the parts, a row each."""
    n = sum(map(len, parts))
    found = np.zeros((1, n), dtype=np.int64)
    for part in parts:
        own = np.array(list(itertools.permutations(part)), dtype=np.int64).reshape(-1, len(part))
        n_before = len(found)
        found = np.repeat(found, len(own), axis=0)
        found[:, part] = np.tile(own, (n_before, 1))
    return found


def _drawn_orders(parts: Sequence[_Places], n_resamples: int, seed: int) -> NDArray[np.int64]:
    generator = np.random.Generator(np.random.PCG64(seed))
    found = np.zeros((n_resamples, sum(map(len, parts))), dtype=np.int64)
    for part in parts:
        found[:, part] = generator.permuted(np.tile(np.array(part), (n_resamples, 1)), axis=1)
    return found
