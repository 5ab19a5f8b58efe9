"""Word alignment: fast_align's model (Dyer, Chahuneau and Smith 2013), vectorised.

IBM Model 2 with a prior that favours the diagonal, whose tension is fitted to the data, and a Dirichlet prior on the
translation table. Under its defaults (`fast_align -d -o -v`, one thread) the links equal the original program's to the
last one, because its two slips are kept: the empirical feature counts target positions from zero while the model counts
from one, and the derivative of the normaliser divides by the normaliser of the transposed sentence pair, in unsigned
arithmetic that wraps around. Both move the fitted tension.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]
Pair = tuple[Sequence[str], Sequence[str]]
"""The words of a source sentence and of its translation."""
Links = list[tuple[int, int]]
"""(source position, target position), in the order of the target."""

VERSION = 1
"""Raised whenever other links can come out: links are kept on disk."""
N_ITERATIONS = 5
NULL_PROBABILITY = 0.08
DIRICHLET_ALPHA = 0.01
FIRST_TENSION = 4.0
TENSION_BOUNDS = (0.1, 14.0)
N_TENSION_STEPS = 8
TENSION_RATE = 20.0
_BEFORE_TRAINING = 1e-9
_UNSIGNED = 2.0**32
_MOST_TO_TICK = 30_000_000
"""Possible pairs of words; beyond it a list of all would take too much memory."""


class _Cells:
    """Every (target word, source word) of every sentence pair, laid out flat: rows are target words, cells their
    candidate source words."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        n_source, flat, self.n_source_types = _numbered([source for source, _ in pairs])
        n_target, self.row_target, self.n_target_types = _numbered([target for _, target in pairs])
        self.row_pair = np.repeat(np.arange(len(pairs)), n_target)
        self.row_position = _counting(n_target)
        self.m, self.n = n_target[self.row_pair].astype(np.float64), n_source[self.row_pair].astype(np.float64)
        n_cells = n_source[self.row_pair]
        self.starts = np.cumsum(n_cells) - n_cells
        # There are many cells: their numbers are kept in half the room.
        self.cell_row = np.repeat(np.arange(len(self.row_pair), dtype=np.int32), n_cells)
        self.cell_position = _counting(n_cells).astype(np.int32)
        first_word = (np.cumsum(n_source) - n_source)[self.row_pair]
        cell_source = flat[first_word[self.cell_row] + self.cell_position]
        cell_source *= self.n_target_types
        cell_source += self.row_target[self.cell_row]
        types, self.cell_type = _types(cell_source, self.n_source_types * self.n_target_types)
        self.type_source = types // self.n_target_types
        self.sizes = Counter(zip(n_target.tolist(), n_source.tolist(), strict=True))
        self.n_tokens = int(n_target.sum())


def _numbered(sentences: Sequence[Sequence[str]]) -> tuple[Ints, Ints, int]:
    """The length of each sentence; the numbers of all words, one sentence after the other; how many words there are."""
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__
    lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
    numbers = np.fromiter(map(ids.__getitem__, chain.from_iterable(sentences)), np.int64, int(lengths.sum()))
    return lengths, numbers, len(ids)


def _types(cells: Ints, n: int) -> tuple[Ints, NDArray[np.int32]]:
    """The different numbers among those of the cells, all below `n`, in order; and which of them each cell has."""
    if n > _MOST_TO_TICK:
        types, places = np.unique(cells, return_inverse=True)
        return types, places.astype(np.int32)
    # To tick them off in a list of all is several times as fast as to sort them.
    is_there = np.zeros(n, dtype=bool)
    is_there[cells] = True
    types = np.flatnonzero(is_there)
    place = np.empty(n, dtype=np.int32)
    place[types] = np.arange(len(types), dtype=np.int32)
    return types, place[cells]


def _counting(lengths: Ints) -> Ints:
    """0 .. length - 1 for each length, one after the other."""
    return np.arange(int(lengths.sum()), dtype=np.int64) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def align(pairs: Sequence[Pair]) -> list[Links]:
    """The links of each sentence pair, forward: every target word has at most one source word.

    An empty side has no links and is left out of the training.
    """
    links: list[Links] = [[] for _ in pairs]
    usable = [position for position, (source, target) in enumerate(pairs) if source and target]
    if not usable:
        return links
    cells = _Cells([pairs[position] for position in usable])
    for pair, source, target in _best_links(cells):
        links[usable[pair]].append((source, target))
    return links


def _best_links(cells: _Cells) -> Iterable[tuple[int, int, int]]:
    table, null_table = (
        np.full(len(cells.type_source), _BEFORE_TRAINING),
        np.full(cells.n_target_types, _BEFORE_TRAINING),
    )
    tension = FIRST_TENSION
    row, m, n = cells.cell_row, cells.m, cells.n
    target_position = cells.row_position + 1.0
    across = (cells.cell_position + 1.0) / n[row]
    feature = -np.abs(across - (target_position / m)[row])
    counted_feature = -np.abs(across - ((target_position - 1.0) / m)[row])
    for iteration in range(N_ITERATIONS):
        normaliser = _normaliser(target_position, m, n, tension) / (1.0 - NULL_PROBABILITY)
        scores = feature * tension
        np.exp(scores, out=scores)
        scores *= table[cells.cell_type]
        scores /= normaliser[row]
        null_scores = null_table[cells.row_target] * NULL_PROBABILITY
        if iteration == N_ITERATIONS - 1:
            break
        sums = np.add.reduceat(scores, cells.starts) + null_scores
        posterior = np.divide(scores, sums[row], out=scores)
        counts = np.bincount(cells.cell_type, posterior, len(table)) + DIRICHLET_ALPHA
        null_counts = np.bincount(cells.row_target, null_scores / sums, len(null_table)) + DIRICHLET_ALPHA
        if iteration > 0:
            tension = _fitted_tension(tension, float((counted_feature * posterior).sum()) / cells.n_tokens, cells)
        totals = np.bincount(cells.type_source, counts, cells.n_source_types).astype(np.float64)
        table = np.exp(_digamma(counts) - _digamma(totals)[cells.type_source])
        null_table = np.exp(_digamma(null_counts) - _digamma(np.array([null_counts.sum()])))
    best = np.maximum.reduceat(scores, cells.starts)
    at_best = np.flatnonzero(scores == best[row])[::-1]  # backwards, so that the first of equals is written last
    winner = np.zeros(len(best), dtype=np.int64)
    winner[row[at_best]] = cells.cell_position[at_best]
    linked = np.flatnonzero(best > null_scores)
    return zip(
        cells.row_pair[linked].tolist(), winner[linked].tolist(), cells.row_position[linked].tolist(), strict=True
    )


def _feature(i: Floats, j: Floats, m: Floats, n: Floats) -> Floats:
    """Distance of source position j of n from target position i of m, from the diagonal, negated."""
    return -np.abs(j / n - i / m)


def _geometry(i: Floats, m: Floats, n: Floats, tension: float) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Where the diagonal cuts the row: first position above, last below, how many of each, and their common ratio."""
    below = np.floor(i * n / m)
    n_above = n - below
    n_above = np.where(n_above < 0, n_above + _UNSIGNED, n_above)
    return below + 1, below, n_above, below, np.exp(-tension / n)


def _normaliser(i: Floats, m: Floats, n: Floats, tension: float) -> Floats:
    above, below, n_above, n_below, ratio = _geometry(i, m, n, tension)

    def series(first: Floats, count: Floats) -> Floats:
        terms = np.exp(_feature(i, first, m, n) * tension) * (1.0 - ratio**count) / (1.0 - ratio)
        return np.where(count > 0, terms, 0.0)

    return series(above, n_above) + series(below, n_below)


def _expected_feature(i: Floats, m: Floats, n: Floats, tension: float) -> Floats:
    """The derivative of the log-normaliser with respect to the tension (with the original's transposed divisor)."""
    above, below, n_above, n_below, ratio = _geometry(i, m, n, tension)
    step = -1.0 / n

    def series(first: Floats, count: Floats) -> Floats:
        a = _feature(i, first, m, n)
        g = np.exp(a * tension)
        g_end = g * ratio**count
        a_end = step * (count - 1) + a
        terms = (a_end * g_end - a * g) / (ratio - 1) - step * (g_end - g * ratio) / (ratio - 1) ** 2
        return np.where(count > 0, terms, 0.0)

    return (series(above, n_above) + series(below, n_below)) / _normaliser(i, n, m, tension)


def _fitted_tension(tension: float, empirical: float, cells: _Cells) -> float:
    """A few steps of gradient ascent towards the tension under which the model expects what was counted."""
    lengths = np.array(list(cells.sizes), dtype=np.int64)
    i = _counting(lengths[:, 0]) + 1.0
    m, n = (np.repeat(lengths[:, side], lengths[:, 0]).astype(np.float64) for side in (0, 1))
    weight = np.repeat(np.array(list(cells.sizes.values()), dtype=np.float64), lengths[:, 0])
    for _ in range(N_TENSION_STEPS):
        expected = float((weight * _expected_feature(i, m, n, tension)).sum()) / cells.n_tokens
        tension = min(max(tension + (empirical - expected) * TENSION_RATE, TENSION_BOUNDS[0]), TENSION_BOUNDS[1])
    return tension


def _digamma(x: Floats) -> Floats:
    """By recurrence up to 7, then the asymptotic series."""
    x = np.array(x, dtype=np.float64)
    result = np.zeros_like(x)
    while (small := x < 7).any():
        result -= small / x
        x += small
    shifted = x - 0.5
    square = 1.0 / (shifted * shifted)
    fourth = square * square
    series = square / 24 - fourth * (7 / 960) + fourth * square * (31 / 8064) - fourth * fourth * (127 / 30720)
    return np.asarray(result + np.log(shifted) + series, dtype=np.float64)


def align_backward(pairs: Sequence[Pair]) -> list[Links]:
    """Links from the model of the other direction: every source word has at most one target word."""
    swapped = align([(target, source) for source, target in pairs])
    return [[(source, target) for target, source in links] for links in swapped]
