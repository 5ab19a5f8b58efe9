"""Run folders as they are now, finished or still growing, and their rows read from the disk as they are asked for.

What filters need of each judgement is kept in a few bytes; texts, tags and evidence stay in the files, found again by
where their lines begin. No file is kept open: a run that is going must be able to replace it.
"""

from __future__ import annotations

import json
import os
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from gendermark import locks
from gendermark.errors import BadFile, UserError
from gendermark.records import Judgement
from gendermark.report.explorer import OUTCOMES, Cell, Explorer, Filter, cell_names, clipped, system_labels
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.comparable import key_of
from gendermark.runs.folder import Run, Text, text_of
from gendermark.selection import Selection
from gendermark.textfiles import read_bytes

_ROWS_KEPT = 256
"""Of one cell, as they were read from the disk."""
_FILTERS_KEPT = 16
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
        self.starts = array("Q")
        self.stamp = _stamp_of(path)

    def read_all(self) -> list[dict[str, Any]]:
        """Every object; their places are known from here on."""
        rows = []
        starts = array("Q")
        start = 0
        for number, line in enumerate(read_bytes(self.path).split(b"\n"), start=1):
            if line.strip():
                try:
                    row = json.loads(line)
                except ValueError as problem:
                    raise BadFile(self.path, f"is not JSON ({problem})", line=number) from None
                if not isinstance(row, dict):
                    raise BadFile(self.path, "is not a JSON object", line=number)
                rows.append(row)
                starts.append(start)
            start += len(line) + 1
        self.starts = starts
        return rows

    def keep(self, places: Sequence[int]) -> None:
        """Put the lines into another order."""
        self.starts = array("Q", (self.starts[place] for place in places))

    def __getitem__(self, place: int) -> dict[str, Any]:
        row: dict[str, Any] = json.loads(next(self.raw([place])))
        return row

    def raw(self, places: Sequence[int]) -> Iterator[bytes]:
        """Some lines as they stand."""
        try:
            with self.path.open("rb") as file:
                if _stamp(os.fstat(file.fileno())) != self.stamp:
                    raise Changed(f"{self.path} has changed; load the page again")
                for place in places:
                    file.seek(self.starts[place])
                    yield file.readline()
        except OSError as problem:
            raise Changed(f"{self.path} cannot be read ({problem.strerror or problem}); load the page again") from None


class _Part:
    """One run's files of one cell."""

    def __init__(self, directory: Path) -> None:
        self._result_path = directory / folder.RESULT
        self._result_stamp = _stamp_of(self._result_path)
        self.result, self._n_judgements = folder.read_result(directory)
        self._judgements = _Lines(directory / folder.JUDGEMENTS)
        self._texts = _Lines(folder.texts_path(directory, self.result))
        self.judgement = lru_cache(_ROWS_KEPT)(self._read_judgement)
        self.text = lru_cache(_ROWS_KEPT)(self._read_text)

    @property
    def stamp(self) -> tuple[object, ...]:
        """Changes when the files do."""
        return self._result_path, self._result_stamp, self._judgements.stamp, self._texts.stamp

    @property
    def is_current(self) -> bool:
        """Whether the files are still those that were indexed."""
        paths = (self._result_path, self._judgements.path, self._texts.path)
        return self.stamp == (self._result_path, *map(_stamp_of, paths))

    def read_all(self) -> tuple[Result, list[Text]]:
        """The result with all its judgements, and their texts."""
        path = self._judgements.path
        try:
            judgements = [Judgement.from_json(row) for row in self._judgements.read_all()]
            whole = folder.with_judgements(self.result, judgements, self._n_judgements)
        except (KeyError, TypeError, ValueError) as problem:
            reason = f"does not hold judgements that this version can read ({problem!r}); run it again"
            raise BadFile(path, reason) from None
        found: dict[str, tuple[int, Text]] = {}
        for place, row in enumerate(self._texts.read_all()):
            try:
                item_id, text = text_of(row)
            except ValueError:
                reason = "is not a file that `gendermark run` wrote; run it again"
                raise BadFile(self._texts.path, reason) from None
            found[item_id] = place, text
        missing = sum(judgement.item_id not in found for judgement in judgements)
        if missing:
            reason = f"lacks {missing:,} of {len(judgements):,} sentences; run it again"
            raise BadFile(self._texts.path, reason)
        ordered = [found[judgement.item_id] for judgement in judgements]
        self._texts.keep([place for place, _ in ordered])
        return whole, [text for _, text in ordered]

    def _read_judgement(self, place: int) -> Judgement:
        return Judgement.from_json(self._judgements[place])

    def _read_text(self, place: int) -> Text:
        return text_of(self._texts[place])[1]

    def places_with(self, needle: str) -> Iterator[int]:
        """Where the source or the translation has a text in it, in lower case."""
        written = json.dumps(needle, ensure_ascii=False)[1:-1]
        for place, line in enumerate(self._texts.raw(range(len(self._texts.starts)))):
            # Few lines have it anywhere, and only those are looked at closely.
            if b"\\u" in line or written in line.decode("utf-8", "replace").casefold():
                text = text_of(json.loads(line))[1]
                if any(needle in clipped(part).casefold() for part in (text.source, text.translation)):
                    yield place


# -- rows --------------------------------------------------------------------------------------------------------------


class PagedCell(Cell):
    """A cell that has its judgements and texts on the disk."""

    parts: Sequence[_Part | None] = ()
    """Of each run; none while the cell is being indexed."""

    def __init__(self, name: str, parts: Sequence[_Part | None]) -> None:
        everything = [part.read_all() if part else (None, []) for part in parts]
        super().__init__(name, [result for result, _ in everything], [texts for _, texts in everything])
        # While everything is at hand: what is asked of each row again and again.
        self.entities = list(map(str, self.entities))
        self.expected = list(self.expected)
        # There are few different answers and slices; each is kept once.
        known: dict[Any, Any] = {}
        self.answers = [[known.setdefault(answer, answer) for answer in answers] for answers in self.answers]
        # From here on nothing of it is in memory.
        self.parts = parts
        self.results = [part.result if part else None for part in parts]
        self._texts = []

    def judgement(self, run: int, item_id: str) -> Judgement | None:
        if not self.parts:
            return super().judgement(run, item_id)
        place, part = self._places[run].get(item_id), self.parts[run]
        return None if place is None or part is None else part.judgement(place)

    def text(self, run: int, item_id: str) -> Text | None:
        if not self.parts:
            return super().text(run, item_id)
        place, part = self._places[run].get(item_id), self.parts[run]
        return None if place is None or part is None else part.text(place)

    def numbers_with(self, needle: str) -> set[int]:
        """The items whose source or translation has a text in it."""
        number_of = {item_id: number for number, item_id in enumerate(self.item_ids)}
        found = set()
        for part, places in zip(self.parts, self._places, strict=True):
            if part:
                hits = set(part.places_with(needle))
                found |= {number_of[item_id] for item_id, place in places.items() if place in hits}
        return found


class PagedExplorer(Explorer):
    """All rows of some runs, a page at a time."""

    def __init__(self, systems: Sequence[str], cells: Sequence[PagedCell]) -> None:
        self.systems = list(systems)
        self.paged_cells = cells
        self.cells = list(cells)
        self._found: OrderedDict[Filter, tuple[array[int], list[list[int]]]] = OrderedDict()
        self._lock = threading.Lock()

    def page(self, wanted: Filter, first: int, n: int) -> dict[str, Any]:
        places, counts = self._find(wanted)
        rows = [self.row(*divmod(place, _CELL_STEP)) for place in places[first : first + n]]
        return {"total": len(places), "counts": counts, "rows": rows}

    def matches(self, wanted: Filter) -> Iterator[tuple[int, int]]:
        needle = wanted.text.casefold()
        hits: dict[int, set[int]] = {}
        for cell_number, number in super().matches(replace(wanted, text="")):
            if needle and cell_number not in hits:
                hits[cell_number] = self.paged_cells[cell_number].numbers_with(needle)
            if not needle or number in hits[cell_number]:
                yield cell_number, number

    def _find(self, wanted: Filter) -> tuple[array[int], list[list[int]]]:
        """Every row that is wanted, and how the rows came out; somebody who scrolls asks for the same again."""
        with self._lock:
            if wanted in self._found:
                self._found.move_to_end(wanted)
                return self._found[wanted]
        places = array("Q")
        counts = [[0] * len(OUTCOMES) for _ in self.systems]
        for cell_number, number in self.matches(wanted):
            places.append(cell_number * _CELL_STEP + number)
            for run, answers in enumerate(self.cells[cell_number].answers):
                if (answer := answers[number]) is not None:
                    counts[run][answer.outcome] += 1
        with self._lock:
            self._found[wanted] = places, counts
            while len(self._found) > _FILTERS_KEPT:
                self._found.popitem(last=False)
        return places, counts


_CELL_STEP = 1 << 40
"""More than any cell has rows: two numbers in one."""


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

    def __init__(self, directories: Sequence[Path], names: Sequence[str] = ()) -> None:
        """`names` of their systems, in the same order; empty where the run says it itself."""
        self._directories = directories
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
        return stamp, self._cells.get(stamp) or PagedCell(name, parts)

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
