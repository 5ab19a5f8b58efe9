"""A disk-backed list, for sets of sentences that are too large for memory.

`stored` returns a plain list for few values and a `DiskList` in a temporary file for many; both are sequences.
`mapped`, `reordered` and `grouped` work on both, without loading a large one into memory.

The file is unlinked as soon as it is open, so nothing is left behind, even after `kill -9`.
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
"""Lists from this length on are kept on disk."""
_BLOCK = 1_000
"""Values written and read together."""
_BLOCKS_KEPT = 4
_WAITING = 400
"""Values of each bucket buffered while they are sorted."""

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class DiskList(Sequence[T]):
    """A sequence that reads its values from disk on access. Equal only to itself."""

    def __init__(self, n: int, read: Callable[[int, int], Iterator[T]]) -> None:
        """`read` yields the values between two positions, in order."""
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
    """A list for few values, a `DiskList` otherwise."""
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
    """Like `map`, as a sequence: computed at once in memory, otherwise on access."""
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
    """The value at each position, in any order and with repetitions; None for a negative position."""
    if not isinstance(values, DiskList):
        return [values[place] if place >= 0 else None for place in places]
    if len(places) == len(values) and all(place == own for own, place in enumerate(places)):
        return values

    def pairs() -> Iterator[tuple[int, T | None]]:
        """Each position in the result with its value, as the values are read once."""
        wanted = iter(_sorting_order(places))
        own = next(wanted, None)
        while own is not None and places[own] < 0:
            yield own, None
            own = next(wanted, None)
        for number, value in enumerate(values):
            while own is not None and places[own] == number:
                yield own, value
                own = next(wanted, None)

    n = len(places)
    if n < LIMIT:
        return [value for _, value in sorted(pairs(), key=itemgetter(0))]
    # A bucket holds the values of neighbouring positions as they arrive, and is sorted when read.
    file, width = _File(), LIMIT
    n_buckets = -(-n // width)
    waiting: list[list[tuple[int, T | None]]] = [[] for _ in range(n_buckets)]
    written: list[list[tuple[int, int]]] = [[] for _ in range(n_buckets)]
    for pair in pairs():
        bucket = pair[0] // width
        waiting[bucket].append(pair)
        if len(waiting[bucket]) >= _WAITING:
            written[bucket].append(file.write(waiting[bucket]))
            waiting[bucket] = []
    for bucket, rest in enumerate(waiting):
        if rest:
            written[bucket].append(file.write(rest))

    @lru_cache(maxsize=1)
    def values_in(bucket: int) -> list[T | None]:
        together = sorted(chain.from_iterable(map(file.read, written[bucket])), key=itemgetter(0))
        return [value for _, value in together]

    def read(start: int, stop: int) -> Iterator[T | None]:
        for bucket in range(start // width, -(-stop // width)):
            place = bucket * width
            yield from values_in(bucket)[max(start - place, 0) : stop - place]

    return DiskList(n, read)


def places_of(held: Sequence[str], wanted: Sequence[str]) -> Sequence[int]:
    """The position of each wanted id, negative if absent."""
    if len(held) == len(wanted) and all(one == other for one, other in zip(held, wanted, strict=True)):
        return range(len(held))
    place_of = {one: place for place, one in enumerate(held)}
    return array("q", (place_of.get(one, -1) for one in wanted))


def grouped(values: Sequence[T], key: Callable[[T], K]) -> Iterator[tuple[K, Sequence[T]]]:
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
    import numpy as np  # already loaded by any caller with this many sentences

    return array("q", np.argsort(np.asarray(numbers, dtype=np.int64), kind="stable").tobytes())


def cached(function: Callable[[Sequence[Any]], T]) -> Callable[[Sequence[Any]], T]:
    """The function, cached per `DiskList` argument."""
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
    """Blocks of values in an unlinked temporary file."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._end = 0
        named = os.environ.get("TMPDIR")
        # Python silently uses another directory if this one is unusable.
        if named and Path(tempfile.gettempdir()).absolute() != Path(named).absolute():
            raise UserError(f"TMPDIR is {named}, which is not writable; set it to an existing directory")
        with _disk_errors():
            # Unbuffered: a full disk must show when a block is written, not when the file is closed.
            self._file = tempfile.TemporaryFile(prefix="gendermark-", buffering=0)  # noqa: SIM115 (closed with the list)

    def write(self, values: Sequence[Any]) -> tuple[int, int]:
        """Offset and length of the written block."""
        # A third of the size, at a tenth of the cost of making the records.
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
    """Report a full disk, or a missing temporary directory, as one sentence."""
    try:
        yield
    except OSError as problem:
        where = tempfile.tempdir or os.environ.get("TMPDIR") or "the directory for temporary files"
        raise UserError(
            f"cannot write temporary data in {where}: {problem.strerror or problem}; free space there, or set TMPDIR "
            "to another directory"
        ) from None
