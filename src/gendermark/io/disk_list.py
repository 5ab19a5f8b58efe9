"""Sequences that may be too long for memory: beyond a limit they are kept in a temporary file, block by block.

`kept` takes anything that comes one by one: few are a list, many a `Spilled`, and nobody who reads them needs to know
which. `made` is a sequence whose members are made of those of others when somebody looks; `grouped` and `placed` put
many into another order without holding them. What is small goes through here as if nothing were there.

The file has no name (it is removed as soon as it is open), so that nothing is left behind, even by `kill -9`.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import threading
import zlib
from array import array
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import wraps
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar, overload
from weakref import WeakKeyDictionary

from gendermark.errors import UserError

LIMIT = 20_000
"""So many are no longer held in memory."""
_BLOCK = 1_000
"""Records that are written and read together."""
_BLOCKS_KEPT = 4
_LONG_GROUP = 50_000
"""Those that belong to one group are held up to here: whoever asks for groups goes through each several times."""
_WAITING = 20_000
"""Records that wait for a place in a block, all blocks together, while an order is made."""

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class _Store:
    """Blocks of records in a file without a name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._end = 0
        _check_directory()
        with _said_plainly():
            # Not buffered: a full disk must show when a block is written, and not when the file is closed.
            self._file = tempfile.TemporaryFile(prefix="gendermark-", buffering=0)  # noqa: SIM115 (closed when it is forgotten)

    def write(self, records: Sequence[Any]) -> tuple[int, int]:
        """Where the block begins, and its length."""
        # A third of the size for a tenth of the time that making records takes anyway.
        data = zlib.compress(pickle.dumps(records, pickle.HIGHEST_PROTOCOL), 1)
        with self._lock, _said_plainly():
            start = self._file.seek(self._end)
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
            self._end += len(data)
        return start, len(data)

    def read(self, place: tuple[int, int]) -> list[Any]:
        start, length = place
        with self._lock, _said_plainly():
            self._file.seek(start)
            parts = []
            while length:
                parts.append(self._file.read(length))
                length -= len(parts[-1])
        records: list[Any] = pickle.loads(zlib.decompress(b"".join(parts)))
        return records


def _check_directory() -> None:
    """Python takes another directory without a word if the one that was named cannot be used."""
    named = os.environ.get("TMPDIR")
    if named and Path(tempfile.gettempdir()).absolute() != Path(named).absolute():
        raise UserError(
            f"TMPDIR names {named}, where nothing can be written; a long list is to be kept there: name a directory "
            "that exists and has room"
        )


class _said_plainly:  # noqa: N801 (used as a function is)
    """A full disk, or no directory for temporary files, in one sentence."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        if isinstance(problem, OSError):
            where = tempfile.tempdir or os.environ.get("TMPDIR") or "the directory for temporary files"
            raise UserError(
                f"cannot write temporary data in {where}: {problem.strerror or problem}; make room there, or name "
                "another directory with the environment variable TMPDIR"
            ) from None


class Long(Sequence[T]):
    """A sequence that is not held in memory; two are the same only if they are one."""

    def between(self, start: int, stop: int) -> Iterator[T]:
        """Some that stand together, one by one."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[T]:
        return self.between(0, len(self))

    def in_order(self, places: Sequence[int]) -> Sequence[T | None]:
        """See `taken`."""
        if len(places) == len(self) and all(place == own for own, place in enumerate(places)):
            return self
        order = sorted(range(len(places)), key=places.__getitem__)

        def pairs() -> Iterator[tuple[int, T | None]]:
            wanted = iter(order)
            own = next(wanted, None)
            for number, value in chain([(-1, None)], enumerate(self)):
                while own is not None and places[own] == number:
                    yield own, value
                    own = next(wanted, None)

        return placed(pairs(), len(places))

    def _at(self, place: int) -> T:
        raise NotImplementedError

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        if isinstance(place, slice):
            some = range(len(self))[place]
            if len(some) >= LIMIT and some.step == 1:
                return _Part(self, some.start, some.stop)
            return list(self.between(some.start, some.stop) if some.step == 1 else map(self._at, some))
        return self._at(range(len(self))[place])


class Spilled(Long[T]):
    """Records in a file, read again block by block."""

    def __init__(self, values: Iterable[T]) -> None:
        self._store = _Store()
        self._blocks: list[tuple[int, int]] = []
        self._n = 0
        values = iter(values)
        while block := list(islice(values, _BLOCK)):
            self._blocks.append(self._store.write(block))
            self._n += len(block)
        self._recent: OrderedDict[int, list[T]] = OrderedDict()

    def __len__(self) -> int:
        return self._n

    def between(self, start: int, stop: int) -> Iterator[T]:
        for number in range(start // _BLOCK, -(-min(stop, self._n) // _BLOCK)):
            first = number * _BLOCK
            block = self._store.read(self._blocks[number])
            yield from block[max(start - first, 0) : stop - first]

    def _at(self, place: int) -> T:
        number = place // _BLOCK
        block = self._recent.get(number)
        if block is None:
            block = self._recent[number] = self._store.read(self._blocks[number])
            if len(self._recent) > _BLOCKS_KEPT:
                self._recent.popitem(last=False)
        return block[place % _BLOCK]


class _Part(Long[T]):
    def __init__(self, base: Long[T], start: int, stop: int) -> None:
        self._base, self._start, self._stop = base, start, stop

    def __len__(self) -> int:
        return self._stop - self._start

    def between(self, start: int, stop: int) -> Iterator[T]:
        return self._base.between(self._start + start, min(self._start + stop, self._stop))

    def _at(self, place: int) -> T:
        return self._base[self._start + place]


class _Made(Long[T]):
    def __init__(self, make: Callable[..., T], bases: Sequence[Sequence[Any]]) -> None:
        self._make, self._bases = make, bases

    def __len__(self) -> int:
        return len(self._bases[0])

    def between(self, start: int, stop: int) -> Iterator[T]:
        return map(self._make, *(_between(base, start, stop) for base in self._bases))

    def _at(self, place: int) -> T:
        return self._make(*(base[place] for base in self._bases))


def _between(base: Sequence[T], start: int, stop: int) -> Iterator[T]:
    return base.between(start, stop) if isinstance(base, Long) else islice(base, start, stop)


def kept(values: Iterable[T]) -> Sequence[T]:
    """All of them, in memory if they are few."""
    if isinstance(values, list | Long):
        return values
    values = iter(values)
    first = list(islice(values, LIMIT))
    return first if len(first) < LIMIT else Spilled(chain(first, values))


def made(make: Callable[..., T], *bases: Sequence[Any]) -> Sequence[T]:
    """What is made of the members of sequences: at once where they are in memory, else when it is read."""
    lengths = {len(base) for base in bases}
    if len(lengths) > 1:
        raise ValueError(f"sequences of one length are needed, not of {sorted(lengths)}")
    return _Made(make, bases) if any(isinstance(base, Long) for base in bases) else list(map(make, *bases))


def placed(pairs: Iterable[tuple[int, T]], n: int) -> Sequence[T]:
    """`n` values in the order of their places, which come with them; each place has one."""
    return list(_ordered(pairs, n)) if n < LIMIT else Spilled(_ordered(pairs, n))


def _ordered(pairs: Iterable[tuple[int, T]], n: int) -> Iterator[T]:
    """The same, one by one: for whoever goes through them once."""
    if n < LIMIT:
        yield from (value for _, value in sorted(pairs, key=itemgetter(0)))
        return
    store, width = _Store(), LIMIT
    n_buckets = -(-n // width)
    most = max(_WAITING // n_buckets, 20)
    waiting: list[list[tuple[int, T]]] = [[] for _ in range(n_buckets)]
    written: list[list[tuple[int, int]]] = [[] for _ in range(n_buckets)]
    for pair in pairs:
        bucket = pair[0] // width
        waiting[bucket].append(pair)
        if len(waiting[bucket]) >= most:
            written[bucket].append(store.write(waiting[bucket]))
            waiting[bucket] = []
    for blocks, rest in zip(written, waiting, strict=True):
        together = [*chain.from_iterable(map(store.read, blocks)), *rest]
        yield from (value for _, value in sorted(together, key=itemgetter(0)))


def taken(values: Sequence[T], places: Sequence[int]) -> Sequence[T | None]:
    """The value at each of some places, which may be in any order and repeated; None for a place below 0."""
    if isinstance(values, Long):
        return values.in_order(places)
    return [values[place] if place >= 0 else None for place in places]


def grouped(values: Sequence[T], key: Callable[[T], K]) -> Iterator[tuple[K, Sequence[T]]]:
    """Those that have a key in common, in the order in which keys first occur."""
    if not isinstance(values, Long):
        groups: dict[K, list[T]] = defaultdict(list)
        for value in values:
            groups[key(value)].append(value)
        yield from groups.items()
        return
    numbers: dict[K, int] = {}
    sizes = array("Q")
    group_of = array("Q")
    for value in values:
        number = numbers.setdefault(key(value), len(numbers))
        if number == len(sizes):
            sizes.append(0)
        sizes[number] += 1
        group_of.append(number)
    starts = array("Q", [0])
    for size in sizes:
        starts.append(starts[-1] + size)
    free = array("Q", starts)

    def pairs() -> Iterator[tuple[int, T]]:
        for number, value in zip(group_of, values, strict=True):
            yield free[number], value
            free[number] += 1

    # They come in the order in which they are asked for: one way through them is enough, but for long ones, which are
    # gone through when somebody reads them.
    together = placed(pairs(), len(values)) if max(sizes, default=0) >= _LONG_GROUP else None
    coming = _ordered(pairs(), len(values)) if together is None else iter(together)
    for name, number in numbers.items():
        if together is None or sizes[number] < _LONG_GROUP:
            yield name, list(islice(coming, sizes[number]))
        else:
            start, stop = starts[number], starts[number + 1]
            yield name, together[start:stop]
            coming = _between(together, stop, len(together))


def remembered(function: Callable[[Sequence[Any]], T]) -> Callable[[Sequence[Any]], T]:
    """The same function, which goes through a long sequence once only, however often it is asked about it."""
    known: WeakKeyDictionary[Sequence[Any], T] = WeakKeyDictionary()

    @wraps(function)
    def ask(values: Sequence[Any]) -> T:
        if not isinstance(values, Long):
            return function(values)
        if values not in known:
            known[values] = function(values)
        return known[values]

    return ask
