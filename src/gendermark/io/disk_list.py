"""A disk-backed list, for sets of sentences that are too large for memory.

`stored` takes any values one by one: few are a plain list, many a `DiskList` in a temporary file. Both are sequences,
and whoever reads them need not know which. `mapped`, `reordered` and `grouped` work on both, without holding a large
one in memory.

The file has no name (it is removed as soon as it is open), so nothing is left behind, even by `kill -9`.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import threading
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, wraps
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar, overload
from weakref import WeakKeyDictionary

from gendermark.errors import UserError

LIMIT = 20_000
"""A list of this many values is kept on disk."""
_BLOCK = 1_000
"""Values that are written and read together."""
_BLOCKS_KEPT = 4
_WAITING = 400
"""Values of each bucket that wait to be written together while they are put in order."""

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class DiskList(Sequence[T]):
    """A sequence whose values are read from disk whenever they are asked for. Equal only to itself."""

    def __init__(self, n: int, read: Callable[[int, int], Iterator[T]]) -> None:
        """`read` gives the values from one place up to another, in order."""
        self._n, self.read = n, read
        self._block = lru_cache(_BLOCKS_KEPT)(lambda start: list(read(start, min(start + _BLOCK, n))))

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[T]:
        return self.read(0, self._n)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        if not isinstance(place, slice):
            return self._at(range(self._n)[place])
        some = range(self._n)[place]
        if some.step != 1:
            return list(map(self._at, some))
        if len(some) < LIMIT:
            return list(self.read(some.start, some.stop))
        first = some.start
        return DiskList(len(some), lambda start, stop: self.read(first + start, first + stop))

    def _at(self, place: int) -> T:
        return self._block(place - place % _BLOCK)[place % _BLOCK]


def stored(values: Iterable[T]) -> Sequence[T]:
    """All values: a list if they are few, a `DiskList` otherwise."""
    if isinstance(values, list | DiskList):
        return values
    values = iter(values)
    first = list(islice(values, LIMIT))
    if len(first) < LIMIT:
        return first
    file, blocks, n = _File(), [], 0
    values = chain(first, values)
    del first
    while block := list(islice(values, _BLOCK)):
        blocks.append(file.write(block))
        n += len(block)

    def read(start: int, stop: int) -> Iterator[T]:
        for number in range(start // _BLOCK, -(-stop // _BLOCK)):
            place = number * _BLOCK
            yield from file.read(blocks[number])[max(start - place, 0) : stop - place]

    return DiskList(n, read)


def mapped(make: Callable[..., T], *sequences: Sequence[Any]) -> Sequence[T]:
    """Like `map`, as a sequence: made at once if all are in memory, otherwise whenever it is read."""
    lengths = {len(one) for one in sequences}
    if len(lengths) > 1:
        raise ValueError(f"sequences of one length are needed, not of {sorted(lengths)}")
    if not any(isinstance(one, DiskList) for one in sequences):
        return list(map(make, *sequences))

    def read(start: int, stop: int) -> Iterator[T]:
        places = range(start, stop)
        return map(
            make,
            *(
                one.read(start, stop) if isinstance(one, DiskList) else map(one.__getitem__, places)
                for one in sequences
            ),
        )

    return DiskList(lengths.pop(), read)


def reordered(values: Sequence[T], places: Sequence[int]) -> Sequence[T | None]:
    """The value at each of some places, which may be in any order and repeated; None for a place below 0."""
    if not isinstance(values, DiskList):
        return [values[place] if place >= 0 else None for place in places]
    if len(places) == len(values) and all(place == own for own, place in enumerate(places)):
        return values

    def pairs() -> Iterator[tuple[int, T | None]]:
        wanted = iter(_sorting_order(places))
        own = next(wanted, None)
        while own is not None and places[own] < 0:
            yield own, None
            own = next(wanted, None)
        for number, value in enumerate(values):
            while own is not None and places[own] == number:
                yield own, value
                own = next(wanted, None)

    return _in_buckets(pairs(), len(places))


def places_of(held: Sequence[str], wanted: Sequence[str]) -> Sequence[int]:
    """Where each of the wanted ids stands among those that are there, below 0 where it does not."""
    if len(held) == len(wanted) and all(one == other for one, other in zip(held, wanted, strict=True)):
        return range(len(held))
    place_of = {one: place for place, one in enumerate(held)}
    return array("q", (place_of.get(one, -1) for one in wanted))


def _in_buckets(pairs: Iterable[tuple[int, T]], n: int) -> Sequence[T]:
    """`n` values in the order of their places, which come with them; each place has one.

    A bucket holds the values of neighbouring places as they came, and is sorted when it is read.
    """
    if n < LIMIT:
        return [value for _, value in sorted(pairs, key=itemgetter(0))]
    file, width = _File(), LIMIT
    n_buckets = -(-n // width)
    waiting: list[list[tuple[int, T]]] = [[] for _ in range(n_buckets)]
    written: list[list[tuple[int, int]]] = [[] for _ in range(n_buckets)]
    for pair in pairs:
        bucket = pair[0] // width
        waiting[bucket].append(pair)
        if len(waiting[bucket]) >= _WAITING:
            written[bucket].append(file.write(waiting[bucket]))
            waiting[bucket] = []
    for bucket, rest in enumerate(waiting):
        if rest:
            written[bucket].append(file.write(rest))

    @lru_cache(maxsize=1)
    def values_in(bucket: int) -> list[T]:
        together = sorted(chain.from_iterable(map(file.read, written[bucket])), key=itemgetter(0))
        return [value for _, value in together]

    def read(start: int, stop: int) -> Iterator[T]:
        for bucket in range(start // width, -(-stop // width)):
            place = bucket * width
            yield from values_in(bucket)[max(start - place, 0) : stop - place]

    return DiskList(n, read)


def grouped(values: Sequence[T], key: Callable[[T], K]) -> Iterator[tuple[K, Sequence[T]]]:
    """The values that have a key in common, in the order in which keys first occur."""
    if not isinstance(values, DiskList):
        groups: dict[K, list[T]] = defaultdict(list)
        for value in values:
            groups[key(value)].append(value)
        yield from groups.items()
        return
    numbers: dict[K, int] = {}
    group_of = array("q", (numbers.setdefault(key(value), len(numbers)) for value in values))
    sizes = Counter(group_of)
    together: Sequence[Any] = reordered(values, _sorting_order(group_of))
    start = 0
    for name, number in numbers.items():
        stop = start + sizes[number]
        few = stop - start < LIMIT
        yield name, list(map(together.__getitem__, range(start, stop))) if few else together[start:stop]
        start = stop


def _sorting_order(numbers: Sequence[int]) -> array[int]:
    """The places of numbers in ascending order; equal ones stay in theirs."""
    import numpy as np  # whoever has so many sentences has loaded it

    return array("q", np.argsort(np.asarray(numbers, dtype=np.int64), kind="stable").tobytes())


def cached(function: Callable[[Sequence[Any]], T]) -> Callable[[Sequence[Any]], T]:
    """The same function, which reads a `DiskList` only once however often it is called with it."""
    known: WeakKeyDictionary[Sequence[Any], T] = WeakKeyDictionary()

    @wraps(function)
    def call(values: Sequence[Any]) -> T:
        if not isinstance(values, DiskList):
            return function(values)
        if values not in known:
            known[values] = function(values)
        return known[values]

    return call


class _File:
    """Blocks of values in a temporary file without a name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._end = 0
        named = os.environ.get("TMPDIR")
        # Python takes another directory without a word if this one cannot be used.
        if named and Path(tempfile.gettempdir()).absolute() != Path(named).absolute():
            raise UserError(f"TMPDIR is {named}, which is not writable; set it to an existing directory")
        with _disk_errors():
            # Not buffered: a full disk must show when a block is written, and not when the file is closed.
            self._file = tempfile.TemporaryFile(prefix="gendermark-", buffering=0)  # noqa: SIM115 (closed with the list)

    def write(self, values: Sequence[Any]) -> tuple[int, int]:
        """Where the block begins, and its length."""
        # A third of the size, in a tenth of the time that making records takes anyway.
        data = zlib.compress(pickle.dumps(values, pickle.HIGHEST_PROTOCOL), 1)
        with self._lock, _disk_errors():
            start = self._file.seek(self._end)
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
            self._end += len(data)
        return start, len(data)

    def read(self, place: tuple[int, int]) -> list[Any]:
        start, length = place
        data = b""
        with self._lock, _disk_errors():
            self._file.seek(start)
            while len(data) < length:
                data += self._file.read(length - len(data))
        values: list[Any] = pickle.loads(zlib.decompress(data))
        return values


@contextmanager
def _disk_errors() -> Iterator[None]:
    """A full disk, or no directory for temporary files, as one sentence."""
    try:
        yield
    except OSError as problem:
        where = tempfile.tempdir or os.environ.get("TMPDIR") or "the directory for temporary files"
        raise UserError(
            f"cannot write temporary data in {where}: {problem.strerror or problem}; free space there, or set TMPDIR "
            "to another directory"
        ) from None
