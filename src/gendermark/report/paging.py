"""Run folders as they are now, finished or still growing, and their rows read from the disk as they are asked for.

What filters need of each judgement is kept in a few bytes; texts, tags and evidence stay in the files, found again by
where their lines begin. No file is kept open: a run that is going must be able to replace it.
"""

from __future__ import annotations

import json
import os
import threading
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gendermark.errors import BadFile, UserError
from gendermark.io import locks
from gendermark.io.disk_list import DiskList
from gendermark.io.textfiles import raw_lines
from gendermark.records import Judgement
from gendermark.report.rows import Cell, Explorer, Filter, Numbers, cell_names, clipped, system_labels
from gendermark.result import check_judgement
from gendermark.runs import folder
from gendermark.runs.compare import key_of
from gendermark.runs.folder import Run, Text, text_of
from gendermark.selection import Selection

_ROWS_KEPT = 256
"""Of one cell, as they were read from the disk."""
_FILTERS_KEPT = 16
T = TypeVar("T")
FINISHED, RUNNING, STOPPED = "finished", "running", "stopped"


# -- files -------------------------------------------------------------------------------------------------------------


class Changed(UserError):
    """A file is no longer the one that was indexed."""


_Stamp = tuple[int, int, int]
"""Changes when a file does."""


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_mtime_ns, status.st_size, status.st_ino


def _stamp_of(path: Path) -> _Stamp:
    try:
        return _stamp(path.stat())
    except OSError:
        raise BadFile(path, "there is no such file; run it again") from None


class _Lines:
    """A file of JSON objects, one a line, and where each line begins."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.starts, self.numbers = array("Q"), array("Q")
        self.stamp = _stamp_of(path)

    def find(self) -> None:
        """Where the lines are."""
        start = 0
        for number, line in enumerate(raw_lines(self.path), start=1):
            if line.strip():
                self.starts.append(start)
                self.numbers.append(number)
            start += len(line)

    def read(self, place: int, line: bytes) -> dict[str, Any]:
        """The object in a line."""
        try:
            row = json.loads(line)
        except ValueError as problem:
            raise BadFile(self.path, f"is not JSON ({problem})", line=self.numbers[place]) from None
        if not isinstance(row, dict):
            raise BadFile(self.path, "is not a JSON object", line=self.numbers[place])
        return row

    def raw(self, places: Iterable[int]) -> Iterator[bytes]:
        """Some lines as they stand."""
        try:
            with self.path.open("rb") as file:
                if _stamp(os.fstat(file.fileno())) != self.stamp:
                    raise Changed(f"{self.path} has changed; load the page again")
                end = 0
                for place in places:
                    if self.starts[place] != end:
                        file.seek(self.starts[place])
                    line = file.readline()
                    end = self.starts[place] + len(line)
                    yield line
        except OSError as problem:
            raise Changed(f"{self.path} cannot be read ({problem.strerror or problem}); load the page again") from None


class _Rows(DiskList[T]):
    """What is in the lines of a file, in some order; read when it is asked for. A place below 0 is that of none."""

    def __init__(self, lines: _Lines, make: Callable[[dict[str, Any]], T], places: Sequence[int] | None = None) -> None:
        self._lines, self._make = lines, make
        self._places = range(len(lines.starts)) if places is None else places
        super().__init__(len(self._places), self._read)
        self._one = lru_cache(_ROWS_KEPT)(self._read_one)

    def _read(self, start: int, stop: int) -> Iterator[Any]:
        for place, line in self._each_line(start, stop):
            yield self._make(self._lines.read(place, line)) if place >= 0 else None

    def _each_line(self, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
        places = self._places[start:stop]
        lines = self._lines.raw(place for place in places if place >= 0)
        for place in places:
            yield place, next(lines) if place >= 0 else b""

    def _at(self, place: int) -> Any:
        own = self._places[place]
        return self._one(own) if own >= 0 else None

    def _read_one(self, place: int) -> T:
        return self._make(self._lines.read(place, next(self._lines.raw([place]))))

    def in_order(self, places: Sequence[int]) -> Sequence[T | None]:
        own = self._places
        return type(self)(self._lines, self._make, array("q", (own[place] if place >= 0 else -1 for place in places)))


class _Texts(_Rows[Text]):
    def with_text(self, needle: str) -> Iterator[int]:
        """Where the source or the translation has a text in it, in lower case."""
        written = json.dumps(needle, ensure_ascii=False)[1:-1]
        for number, (place, line) in enumerate(self._each_line(0, len(self))):
            # Few lines have it anywhere, and only those are looked at closely.
            if place >= 0 and (b"\\u" in line or written in line.decode("utf-8", "replace").casefold()):
                text = self._make(self._lines.read(place, line))
                if any(needle in clipped(part).casefold() for part in (text.source, text.translation)):
                    yield number


class _Part:
    """One run's files of one cell."""

    def __init__(self, directory: Path) -> None:
        self._result_path = directory / folder.RESULT
        self._result_stamp = _stamp_of(self._result_path)
        self.result, self._n_judgements = folder.read_result(directory)
        self._judgements = _Lines(directory / folder.JUDGEMENTS)
        self._texts = _Lines(folder.texts_path(directory, self.result))

    @property
    def stamp(self) -> tuple[object, ...]:
        """Changes when the files do."""
        return self._result_path, self._result_stamp, self._judgements.stamp, self._texts.stamp

    @property
    def is_current(self) -> bool:
        """Whether the files are still those that were indexed."""
        paths = (self._result_path, self._judgements.path, self._texts.path)
        return self.stamp == (self._result_path, *map(_stamp_of, paths))

    def find(self) -> tuple[Sequence[Judgement], Sequence[Text]]:
        """The judgements and their texts, in the same order."""
        self._judgements.find()
        self._texts.find()
        judgements = _Rows(self._judgements, self._judgement)
        if len(judgements) != self._n_judgements:
            deque(judgements, maxlen=0)  # what is no judgement at all says more
            raise self._unreadable(ValueError(f"{len(judgements):,} of {self._n_judgements:,} judgements"))
        ids = _Rows(self._texts, lambda row: self._text(row)[0])
        texts = _Texts(self._texts, lambda row: self._text(row)[1])
        if len(ids) == len(judgements) and all(
            judgement.item_id == item_id for judgement, item_id in zip(judgements, ids, strict=True)
        ):
            return judgements, texts
        place_of = {item_id: place for place, item_id in enumerate(ids)}
        places = array("q", (place_of.get(judgement.item_id, -1) for judgement in judgements))
        if n_missing := sum(place < 0 for place in places):
            reason = f"lacks {n_missing:,} of {len(judgements):,} sentences; run it again"
            raise BadFile(self._texts.path, reason)
        return judgements, texts.in_order(places)  # type: ignore[return-value]  # none is missing

    def _judgement(self, row: dict[str, Any]) -> Judgement:
        try:
            return check_judgement(Judgement.from_json(row))
        except (KeyError, TypeError, ValueError) as problem:
            raise self._unreadable(problem) from None

    def _unreadable(self, problem: Exception) -> BadFile:
        reason = f"does not hold judgements that this version can read ({problem!r}); run it again"
        return BadFile(self._judgements.path, reason)

    def _text(self, row: dict[str, Any]) -> tuple[str, Text]:
        try:
            return text_of(row)
        except ValueError:
            reason = "is not a file that `gendermark run` wrote; run it again"
            raise BadFile(self._texts.path, reason) from None


# -- rows --------------------------------------------------------------------------------------------------------------


class PagedCell(Cell):
    """A cell that has its judgements and texts on the disk, where the runs left them."""

    def __init__(self, name: str, parts: Sequence[_Part | None], tell: Callable[[str], None]) -> None:
        self._say = tell
        found = [part.find() if part else ((), ()) for part in parts]
        results = [part.result if part else None for part in parts]
        super().__init__(name, results, [own for own, _ in found], [texts for _, texts in found])

    def _tell(self, n: int) -> None:
        self._say(f"{self.name}: {n:,} of {max(map(len, self._judged)):,} sentences read")

    def numbers_with(self, needle: str) -> set[int]:
        """The items whose source or translation has a text in it, in lower case."""
        found: set[int] = set()
        for texts in self._written:
            found.update(texts.with_text(needle) if isinstance(texts, _Texts) else ())
        return found


class PagedExplorer(Explorer):
    """All rows of some runs, a page at a time."""

    def __init__(self, systems: Sequence[str], cells: Sequence[PagedCell]) -> None:
        self.systems = list(systems)
        self.paged_cells = cells
        self.cells = list(cells)
        self._found: OrderedDict[Filter, list[Numbers]] = OrderedDict()
        self._lock = threading.Lock()

    def matches(self, wanted: Filter) -> list[Numbers]:
        """Somebody who scrolls asks for the same again: what was found last is kept."""
        with self._lock:
            if wanted in self._found:
                self._found.move_to_end(wanted)
                return self._found[wanted]
        found = super().matches(replace(wanted, text=""))
        if needle := wanted.text.casefold():
            for place, (cell, own) in enumerate(zip(self.paged_cells, found, strict=True)):
                if len(own):
                    found[place] = own[np.isin(own, list(cell.numbers_with(needle)))]
        with self._lock:
            self._found[wanted] = found
            while len(self._found) > _FILTERS_KEPT:
                self._found.popitem(last=False)
        return found


# -- folders -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FolderState:
    """How far a run is."""

    directory: Path
    state: str
    """`finished`, `running`, or `stopped` in the middle."""
    done: tuple[str, ...]
    """The cells it has, in the order of the run."""
    wanted: tuple[str, ...]
    """The cells it is to have."""
    manifest: Mapping[str, Any] = field(repr=False)

    @property
    def now(self) -> str:
        """The cell it is working on."""
        return next((cell for cell in self.wanted if cell not in self.done), "") if self.state == RUNNING else ""


def look_at(directory: Path) -> FolderState:
    """What a run folder holds at this moment."""
    manifest = folder.read_manifest(directory)
    try:
        selections = [Selection.from_json(row) for row in manifest["config"]["selections"]]
    except (KeyError, TypeError, ValueError, UserError):
        raise BadFile(directory / folder.MANIFEST, "is not a manifest that this version can read") from None
    wanted = tuple(one.cell for one in selections)
    if manifest["status"] == FINISHED:
        return FolderState(directory, FINISHED, tuple(manifest["cells"]), wanted, manifest)
    state = RUNNING if locks.is_held(directory / ".lock") else STOPPED
    # The result is the last file of a cell to be written.
    done = tuple(cell for cell in wanted if (directory / cell / folder.RESULT).is_file())
    return FolderState(directory, state, done, wanted, manifest)


@dataclass(frozen=True)
class Snapshot:
    """All folders at one moment."""

    version: int
    """Changes when the rows do."""
    states: tuple[FolderState, ...]
    explorer: PagedExplorer = field(repr=False)
    problems: tuple[str, ...] = ()
    """What could not be read of runs that are going."""

    @property
    def is_live(self) -> bool:
        return any(state.state != FINISHED for state in self.states)


def _renamed(manifest: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return {**manifest, "name": name} if name else manifest


class RunFolders:
    """Some run folders, followed while they grow. `now` is what there is; `refresh` looks again."""

    def __init__(
        self,
        directories: Sequence[Path],
        names: Sequence[str] = (),
        tell: Callable[[str], None] = lambda note: None,  # noqa: ARG005
    ) -> None:
        """`names` of their systems, in the same order, or empty; `tell` hears how far it is."""
        self._directories, self._tell = directories, tell
        self._names = names or [""] * len(directories)
        self._parts: dict[Path, _Part] = {}
        self._cells: dict[object, PagedCell] = {}
        self._seen: object = None
        self.now = Snapshot(0, (), PagedExplorer([], []))
        self.refresh()

    def refresh(self) -> None:
        """Look again, and index what is new. Not from two threads at once."""
        states = tuple(look_at(directory) for directory in self._directories)
        problems: list[str] = []
        by_run = [self._parts_of(state, problems) for state in states]
        seen = (states, [[part.stamp for part in parts.values()] for parts in by_run], problems)
        if seen == self._seen:
            return
        names = cell_names([part.result for parts in by_run for part in parts.values()])
        cells = {}
        for key, name in names.items():
            try:
                stamp, cell = self._cell(name, [parts.get(key) for parts in by_run])
            except BadFile as problem:
                if all(state.state == FINISHED for state in states):
                    raise
                problems.append(str(problem))
            else:
                cells[stamp] = cell
        runs = [
            Run(str(state.directory), _renamed(state.manifest, name), [part.result for part in parts.values()])
            for state, parts, name in zip(states, by_run, self._names, strict=True)
        ]
        version, explorer = self.now.version, self.now.explorer
        if list(cells) != list(self._cells) or system_labels(runs) != explorer.systems:
            version, explorer = version + 1, PagedExplorer(system_labels(runs), list(cells.values()))
        self._cells, self._seen = cells, seen
        self.now = Snapshot(version, states, explorer, tuple(problems))

    def _cell(self, name: str, parts: Sequence[_Part | None]) -> tuple[object, PagedCell]:
        """A cell, and what it is known by; indexed only if its files are new."""
        stamp = (name, tuple(part.stamp if part else None for part in parts))
        return stamp, self._cells.get(stamp) or PagedCell(name, parts, self._tell)

    def _parts_of(self, state: FolderState, problems: list[str]) -> dict[tuple[str, ...], _Part]:
        parts = {}
        for cell in state.done:
            path = state.directory / cell
            try:
                part = self._parts.get(path)
                if part is None or not part.is_current:
                    part = self._parts[path] = _Part(path)
            except BadFile as problem:  # a run that is going may be replacing it
                if state.state == FINISHED:
                    raise
                problems.append(str(problem))
            else:
                parts[key_of(part.result)] = part
        return parts
