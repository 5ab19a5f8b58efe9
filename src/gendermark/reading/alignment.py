"""Word alignment: fast_align's model (Dyer, Chahuneau and Smith 2013), vectorised.

IBM Model 2 with a prior that favours the diagonal, whose tension is fitted to the data, and a Dirichlet prior on the
translation table. With its defaults (`fast_align -d -o -v`, one thread) the links equal the original program's exactly,
because its two slips are kept: the empirical feature counts target positions from zero while the model counts from one,
and the derivative of the normaliser divides by the normaliser of the transposed sentence pair, in unsigned arithmetic
that wraps around. Both move the fitted tension.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gendermark.data.official import cache_root
from gendermark.errors import MissingExtra, SystemFailure, UnknownName
from gendermark.io.textfiles import read_lines, write_lines

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]
Pair = tuple[Sequence[str], Sequence[str]]
"""The words of a source sentence and of its translation."""
Links = list[tuple[int, int]]
"""(source position, target position), in target order."""

VERSION = 3
"""Increased whenever links can change: they are cached on disk."""
N_ITERATIONS = 5
NULL_PROBABILITY = 0.08
DIRICHLET_ALPHA = 0.01
FIRST_TENSION = 4.0
TENSION_BOUNDS = (0.1, 14.0)
N_TENSION_STEPS = 8
TENSION_RATE = 20.0
_BEFORE_TRAINING = 1e-9
_UNSIGNED = 2.0**32
_CELLS_AT_ONCE = 1_000_000
"""In one block of cells, excluding the pair that ends it: some 60 MB."""
_MOST_IN_TABLE = 20_000_000
"""Maximum pairs of source and target words for a table, at five bytes each."""


class _Side:
    """One side of all sentence pairs as word numbers, concatenated."""

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        ids: defaultdict[str, int] = defaultdict()
        ids.default_factory = ids.__len__
        self.lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
        words = chain.from_iterable(sentences)
        self.numbers = np.fromiter(map(ids.__getitem__, words), np.int64, int(self.lengths.sum()))
        self.first_word = np.cumsum(self.lengths) - self.lengths
        self.n_types = len(ids)

    def words_of(self, pairs: slice) -> slice:
        last = pairs.stop - 1
        return slice(int(self.first_word[pairs.start]), int(self.first_word[last] + self.lengths[last]))


class _Cells:
    """Every (target word, source word) of every sentence pair, laid out flat: rows are target words, cells their
    candidate source words.

    There are many cells, so they are laid out in blocks of sentence pairs. Sums run over the blocks in cell order, so
    that they do not depend on block boundaries.
    """

    def __init__(self, source: _Side, target: _Side, other: _Cells | None = None) -> None:
        """`other`: cells of the other direction, if any, which have the same types."""
        self.source, self.target, self._other = source, target, other
        self.n_tokens = len(target.numbers)
        self.shapes = _Shapes(target.lengths, source.lengths)
        sizes = source.lengths * target.lengths
        self._first_cell = np.concatenate([[0], np.cumsum(sizes)])
        edges = np.flatnonzero(np.diff(self._first_cell[:-1] // _CELLS_AT_ONCE, prepend=-1))
        self._blocks = [slice(*pair) for pair in pairwise([*edges.tolist(), len(sizes)])]
        if other is None:
            self.type_source, self.type_target = np.divmod(self._find_types(), target.n_types)
        else:
            self.type_source, self.type_target = other.type_target, other.type_source
        self._only = self._block(self._blocks[0]) if len(self._blocks) == 1 else None

    def __iter__(self) -> Iterator[_Block]:
        return iter([self._only]) if self._only else map(self._block, self._blocks)

    def _find_types(self) -> Ints:
        """Number the occurring word pairs; keep the number of each cell."""
        n = self.source.n_types * self.target.n_types
        if n > _MOST_IN_TABLE:
            found = [np.unique(self._word_pairs(pairs)) for pairs in self._blocks]
            types = np.unique(np.concatenate(found))
        else:
            # A table of all possible numbers is several times as fast as sorting the occurring ones.
            is_there = np.zeros(n, dtype=bool)
            for pairs in self._blocks:
                is_there[self._word_pairs(pairs)] = True
            types = np.flatnonzero(is_there)
            place_of = np.empty(n, dtype=np.int32)
            place_of[types] = np.arange(len(types), dtype=np.int32)
        self._cell_type = np.empty(self._first_cell[-1], dtype=np.int32)
        for pairs in self._blocks:
            numbers = self._word_pairs(pairs)
            places = np.searchsorted(types, numbers) if n > _MOST_IN_TABLE else place_of[numbers]
            self._cell_type[self._cells_of(pairs)] = places
        return types

    def _cells_of(self, pairs: slice) -> slice:
        return slice(int(self._first_cell[pairs.start]), int(self._first_cell[pairs.stop]))

    def _word_pairs(self, pairs: slice) -> Ints:
        """The source and target word of each cell as one number."""
        lengths, first_word = self.source.lengths[pairs], self.source.first_word[pairs]
        n_cells = np.repeat(lengths, self.target.lengths[pairs])
        place = np.repeat(np.repeat(first_word, self.target.lengths[pairs]), n_cells)
        place += _counting(n_cells)
        numbers: Ints = self.source.numbers[place]
        numbers *= self.target.n_types
        numbers += np.repeat(self.target.numbers[self.target.words_of(pairs)], n_cells)
        return numbers

    def _block(self, pairs: slice) -> _Block:
        lengths = self.target.lengths[pairs]
        local = np.repeat(np.arange(len(lengths)), lengths)
        position = _counting(lengths)
        n_cells = self.source.lengths[pairs][local]
        cell_row = np.repeat(np.arange(len(local)), n_cells)
        cell_position = _counting(n_cells)
        cell_shape = (self.shapes.first_of_pair[pairs][local] + position * n_cells)[cell_row]
        cell_shape += cell_position
        if self._other is None:
            cell_type = self._cell_type[self._cells_of(pairs)].astype(np.int64)
        else:
            # Rows and columns of each pair are swapped.
            place = lengths[local][cell_row]
            place *= cell_position
            place += (self._first_cell[pairs][local] + position)[cell_row]
            cell_type = self._other._cell_type[place].astype(np.int64)
        return _Block(
            self.target.numbers[self.target.words_of(pairs)],
            local + pairs.start,
            position,
            n_cells,
            np.cumsum(n_cells) - n_cells,
            cell_row,
            cell_shape,
            cell_type,
        )


class _Block(NamedTuple):
    row_target: Ints
    row_pair: Ints
    row_position: Ints
    n_cells: Ints
    """Of each row; `starts` is its first."""
    starts: Ints
    cell_row: Ints
    cell_shape: Ints
    cell_type: Ints


class _Shapes:
    """Quantities that depend only on the lengths of a pair and two positions, shared by many pairs."""

    def __init__(self, n_rows: Ints, n_columns: Ints) -> None:
        most = int(n_columns.max()) + 1
        sizes, size_of_pair, n_pairs = np.unique(n_rows * most + n_columns, return_inverse=True, return_counts=True)
        m, n = np.divmod(sizes, most)
        self.first_of_pair = (np.cumsum(m * n) - m * n)[size_of_pair]
        # A row for each target position of each size.
        self.i = _counting(m) + 1.0
        self.m, self.n = np.repeat(m, m).astype(np.float64), np.repeat(n, m).astype(np.float64)
        self.n_pairs = np.repeat(n_pairs, m).astype(np.float64)
        self._n_cells = np.repeat(n, m)
        across = (_counting(self._n_cells) + 1.0) / self.by_cell(self.n)
        self._feature = -np.abs(across - self.by_cell(self.i / self.m))
        self.counted_feature = -np.abs(across - self.by_cell((self.i - 1.0) / self.m))

    def by_cell(self, of_row: Floats) -> Floats:
        return np.repeat(of_row, self._n_cells)

    def prior(self, tension: float) -> Floats:
        normaliser = _normaliser(self.i, self.m, self.n, tension) / (1.0 - NULL_PROBABILITY)
        return np.exp(self._feature * tension) / self.by_cell(normaliser)

    def expected_feature(self, tension: float) -> float:
        """Summed over the target words of all pairs."""
        return float((self.n_pairs * _expected_feature(self.i, self.m, self.n, tension)).sum())


def _counting(lengths: Ints) -> Ints:
    """0 .. length - 1 for each length, concatenated."""
    return np.arange(int(lengths.sum()), dtype=np.int64) - np.repeat(np.cumsum(lengths) - lengths, lengths)


class _Model(NamedTuple):
    """The parameters of one direction."""

    table: Floats
    """By types of cells."""
    null_table: Floats
    """By target words."""
    tension: float


def _learned(cells: _Cells) -> _Model:
    table = np.full(len(cells.type_source), _BEFORE_TRAINING)
    null_table = np.full(cells.target.n_types, _BEFORE_TRAINING)
    tension = FIRST_TENSION
    for iteration in range(N_ITERATIONS - 1):
        prior = cells.shapes.prior(tension)
        counts, null_counts, counted = np.zeros(len(table)), np.zeros(len(null_table)), 0.0
        for block in cells:
            posterior, factor = prior[block.cell_shape], table[block.cell_type]
            posterior *= factor
            null_scores = null_table[block.row_target] * NULL_PROBABILITY
            sums = np.add.reduceat(posterior, block.starts) + null_scores
            posterior /= _take(sums, block.cell_row, factor)
            np.add.at(counts, block.cell_type, posterior)
            np.add.at(null_counts, block.row_target, null_scores / sums)
            if iteration > 0:
                posterior *= _take(cells.shapes.counted_feature, block.cell_shape, factor)
                by_row = np.add.reduceat(posterior, block.starts)
                counted = float(np.cumsum(np.concatenate([[counted], by_row]))[-1])  # summed sequentially
        for _ in range(N_TENSION_STEPS if iteration > 0 else 0):  # gradient ascent: the expected feature is the counted
            missing = (counted - cells.shapes.expected_feature(tension)) / cells.n_tokens
            tension = min(max(tension + missing * TENSION_RATE, TENSION_BOUNDS[0]), TENSION_BOUNDS[1])
        counts += DIRICHLET_ALPHA
        null_counts += DIRICHLET_ALPHA
        totals = np.bincount(cells.type_source, counts, cells.source.n_types).astype(np.float64)
        table = np.exp(_digamma(counts) - _digamma(totals)[cells.type_source])
        null_table = np.exp(_digamma(null_counts) - _digamma(np.array([null_counts.sum()])))
    return _Model(table, null_table, tension)


def _take(values: Floats, places: Ints, out: Floats) -> Floats:
    # All indices are valid; mode="clip" saves numpy a copy.
    return np.take(values, places, out=out, mode="clip")


def _best(block: _Block, prior: Floats, model: _Model, rows: Ints) -> tuple[Ints, Ints]:
    """The linked ones of some rows, and the source position of each."""
    n_cells = block.n_cells[rows]
    starts = np.cumsum(n_cells) - n_cells
    position = _counting(n_cells)
    at = np.repeat(block.starts[rows], n_cells) + position
    scores = prior[block.cell_shape[at]]
    scores *= model.table[block.cell_type[at]]
    best = np.maximum.reduceat(scores, starts)
    is_best = np.flatnonzero(scores == np.repeat(best, n_cells))[::-1]  # the first of equals is written last
    winner = np.empty(len(rows), dtype=np.int64)
    winner[np.repeat(np.arange(len(rows)), n_cells)[is_best]] = position[is_best]
    linked = best > model.null_table[block.row_target[rows]] * NULL_PROBABILITY
    return rows[linked], winner[linked]


def align(pairs: Sequence[Pair]) -> list[Links]:
    """The links of each sentence pair, forward: every target word has at most one source word.

    Empty sides have no links and are excluded from training.
    """
    links: list[Links] = [[] for _ in pairs]
    usable, source, target = _sides(pairs)
    for found in _linked(_Cells(source, target)) if usable else ():
        for pair, at, place in zip(*(numbers.tolist() for numbers in found), strict=True):
            links[usable[pair]].append((at, place))
    return links


def align_both_ways(pairs: Sequence[Pair], places: Sequence[int]) -> tuple[list[list[int]], list[list[int]]]:
    """For each sentence pair, the target positions linked to one source position, forward and backward.

    As `align` of the pairs, and of the swapped ones, in half the time.
    """
    forward: list[list[int]] = [[] for _ in pairs]
    backward: list[list[int]] = [[] for _ in pairs]
    usable, source, target = _sides(pairs)
    if not usable:
        return forward, backward
    wanted = np.array([places[pair] for pair in usable])
    cells = _Cells(source, target)
    for of_pair, sources, targets in _linked(cells):
        is_wanted = sources == wanted[of_pair]
        for pair, place in zip(of_pair[is_wanted].tolist(), targets[is_wanted].tolist(), strict=True):
            forward[usable[pair]].append(place)
    for of_pair, targets, _ in _linked(_Cells(target, source, cells), wanted):
        for pair, place in zip(of_pair.tolist(), targets.tolist(), strict=True):
            backward[usable[pair]].append(place)
    return forward, backward


def _linked(cells: _Cells, wanted: Ints | None = None) -> Iterator[tuple[Ints, Ints, Ints]]:
    """The sentence pair and the source and target position of each link, by blocks.

    `wanted`: only links of the target words at these positions.
    """
    model = _learned(cells)
    prior = cells.shapes.prior(model.tension)
    for block in cells:
        some = slice(None) if wanted is None else block.row_position == wanted[block.row_pair]
        rows, sources = _best(block, prior, model, np.arange(len(block.row_target))[some])
        yield block.row_pair[rows], sources, block.row_position[rows]


def _sides(pairs: Sequence[Pair]) -> tuple[list[int], _Side, _Side]:
    """The pairs without an empty side, by position, and their sides."""
    usable = [position for position, (source, target) in enumerate(pairs) if source and target]
    return (
        usable,
        _Side([pairs[position][0] for position in usable]),
        _Side([pairs[position][1] for position in usable]),
    )


def _feature(i: Floats, j: Floats, m: Floats, n: Floats) -> Floats:
    """Distance of source position j of n from target position i of m, from the diagonal, negated."""
    return -np.abs(j / n - i / m)


def _geometry(i: Floats, m: Floats, n: Floats, tension: float) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Where the diagonal crosses the row: first position above, last below, number of each, and their common ratio."""
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


def _digamma(x: Floats) -> Floats:
    """By recurrence up to 7, then the asymptotic series."""
    x = np.array(x, dtype=np.float64)
    result, one_over = np.zeros_like(x), np.empty_like(x)
    larger = np.flatnonzero(x >= 1)
    others = x[larger]
    # Nearly all counts are below 1 and need all seven steps.
    for _ in range(7):
        result -= np.divide(1.0, x, out=one_over)
        x += 1.0
    if len(larger):
        found = np.zeros_like(others)
        while (small := others < 7).any():
            found -= small / others
            others += small
        result[larger], x[larger] = found, others
    x -= 0.5
    result += np.log(x)
    square = np.divide(1.0, np.multiply(x, x, out=x), out=x)
    fourth = square * square
    series = square / 24 - fourth * (7 / 960) + fourth * square * (31 / 8064) - fourth * fourth * (127 / 30720)
    result += series
    return result


# -- the aligners, by name --------------------------------------------------------------------------------------------

_MOST_KEPT = 100
"""Cached alignments, some thirty kilobytes each."""
_UNIT, _RECORD, _GROUP = "\x1f", "\x1e", "\x1d"
"""Separators of words, sides and pairs, which occur in no word."""
NAMES = ("fast-align", "eflomal", "simalign")


def align_one(pairs: Sequence[Pair], places: Sequence[int], name: str = "fast-align") -> list[list[int]]:
    """For each sentence pair, the target positions linked to one source position.

    Those on which both directions agree; else the forward model's; else the backward model's.
    """
    if name == "fast-align":
        return _remembered(pairs, places)
    if name not in NAMES:
        raise UnknownName("aligner", name, NAMES)
    both = _eflomal(pairs) if name == "eflomal" else [_simalign(pairs)] * 2
    forward, backward = (
        [[target for source, target in found if source == place] for found, place in zip(links, places, strict=True)]
        for links in both
    )
    return _agreed(forward, backward)


def _agreed(forward: Sequence[Sequence[int]], backward: Sequence[Sequence[int]]) -> list[list[int]]:
    return [
        sorted([place for place in one if place in other] or one or other)
        for one, other in zip(forward, backward, strict=True)
    ]


def _remembered(pairs: Sequence[Pair], places: Sequence[int]) -> list[list[int]]:
    """Cache: the same sentences are often scored again, and alignment is much of the cost."""
    asked = (
        f"{_UNIT.join(source)}{_RECORD}{_UNIT.join(target)}{_RECORD}{place}{_GROUP}"
        for (source, target), place in zip(pairs, places, strict=True)
    )
    content = hashlib.sha256()
    for one in asked:
        content.update(one.encode("utf-8", "replace"))
    path = cache_root() / "alignments" / f"{VERSION}-{content.hexdigest()}.npy"
    with contextlib.suppress(OSError, ValueError, EOFError, IndexError):
        flat = np.load(path, allow_pickle=False)
        starts = np.searchsorted(flat[:, 0], np.arange(len(pairs) + 1)).tolist()
        path.touch()
        return [flat[start:stop, 1].tolist() for start, stop in pairwise(starts)]
    found = _agreed(*align_both_ways(pairs, places))
    with contextlib.suppress(OSError):  # an unwritable cache is no reason to fail
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        with temporary.open("wb") as file:
            flat = [(pair, place) for pair, own in enumerate(found) for place in own]
            np.save(file, np.array(flat, np.int32).reshape(-1, 2))
        temporary.replace(path)
        for old in sorted(path.parent.iterdir(), key=lambda one: one.stat().st_mtime)[:-_MOST_KEPT]:
            old.unlink()
    return found


def check_available(name: str) -> None:
    """Report missing requirements of an aligner before any work."""
    if name not in NAMES:
        raise UnknownName("aligner", name, NAMES)
    if name == "eflomal" and shutil.which("eflomal-align") is None:
        raise MissingExtra("the aligner eflomal (its program eflomal-align)", "align")
    if name == "simalign":
        _simalign_class()


def _eflomal(pairs: Sequence[Pair]) -> list[list[Links]]:
    """eflomal is GPL-3, so it is only run as a separate program."""
    check_available("eflomal")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        usable = [(source, target) for source, target in pairs if source and target]
        write_lines(directory / "source", (" ".join(source) for source, _ in usable))
        write_lines(directory / "target", (" ".join(target) for _, target in usable))
        arguments = ["-s", "source", "-t", "target", "-f", "forward", "-r", "backward", "--overwrite"]
        done = subprocess.run(["eflomal-align", *arguments], cwd=directory, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()[-1:] or ["nothing"]
            raise SystemFailure(f"eflomal-align stopped with exit code {done.returncode}; it said: {said[0]}")
        forward, backward = (read_lines(directory / side) for side in ("forward", "backward"))
    return [_parsed(forward, pairs), _parsed(backward, pairs)]


def _parsed(lines: Sequence[str], pairs: Sequence[Pair]) -> list[Links]:
    """The links of each pair; empty pairs were not passed to the program."""
    given = iter(lines)
    of_pair = (next(given).split() if source and target else [] for source, target in pairs)
    return [
        [(int(source), int(target)) for source, _, target in (link.partition("-") for link in links)]
        for links in of_pair
    ]


def _simalign(pairs: Sequence[Pair]) -> list[Links]:
    aligner = _simalign_class()(model="bert", token_type="bpe", matching_methods="i")
    return [
        sorted(aligner.get_word_aligns(list(source), list(target))["itermax"]) if source and target else []
        for source, target in pairs
    ]


def _simalign_class() -> type:
    try:
        return import_module("simalign").SentenceAligner  # type: ignore[no-any-return]
    except ImportError:
        raise MissingExtra("the aligner simalign", "align") from None
