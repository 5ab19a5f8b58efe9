"""From files that somebody has to results: recognise, name, score each system as a run of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from gendermark.auditing.cells import MOST_NAMED, Cell, counted, system_in
from gendermark.auditing.known import Known
from gendermark.auditing.plain import recognise_plain
from gendermark.auditing.recognise import Found, recognise
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import BadFile, UserError
from gendermark.io.tables import Choice, Grid, read_grids
from gendermark.io.translations import TranslationFile
from gendermark.linguistics.failures import MISSING, WRONG_LANGUAGE
from gendermark.records import Request, Translation, Verdict
from gendermark.result import Result
from gendermark.runs.run import NO_CONTEXT, RunConfig, RunContext, carry_out, plan
from gendermark.systems.system import System

_FEWEST_ROWS = 2
_ODD = {
    "empty": ("is empty", "are empty"),
    "copied": ("is a copy of the source", "are copies of the source"),
    WRONG_LANGUAGE: ("is in another language", "are in another language"),
}
"""Why a translation that is there counts as not translated, in words."""


@dataclass(frozen=True)
class Audited:
    """One benchmark in one direction by one system: what it was recognised as, what is odd about it, its result."""

    name: str
    """The file, by as much of its path as tells it from the others, and the system, where a file has several."""
    cell: Cell
    result: Result
    folder: Path | None
    notes: Sequence[str] = ()

    @property
    def oddities(self) -> list[str]:
        """What an auditor should know about the file, one sentence each; of sentences and lines the first ten."""
        found = list(self.cell.oddities)
        for why, n_odd in self.odd.items():
            is_, other = _ODD[why]
            found.append(f"{counted(n_odd, f'translation {is_}', f'translations {other}')}: not translated")
        return [*found, *self.notes]

    @property
    def odd(self) -> dict[str, int]:
        """How many translations are there and yet none, by the reason."""
        reasons = Counter(
            judgement.reason for judgement in self.result.judgements if judgement.verdict is Verdict.NOT_TRANSLATED
        )
        return {why: reasons[why] for why in _ODD if reasons[why]}

    def to_json(self) -> dict[str, Any]:
        cell, place = self.cell, self.cell.place
        return {
            "name": self.name,
            "file": str(place.path),
            "recognised": f"{self.name}: {cell.sentence}",
            "sheet": place.sheet,
            "source_column": place.source.strip('"'),
            "translation_column": place.translation.strip('"'),
            "n_present": cell.n_present,
            "n_missing": len(cell.missing),
            "missing": cell.missing_sources[:MOST_NAMED],
            "n_doubled": len(cell.doubled),
            "doubled_lines": list(cell.doubled[:MOST_NAMED]),
            "odd": {why: n for why, n in self.odd.items() if why != MISSING},
            "remarks": self.oddities,
            "result": self.result.to_json(),
        }


@dataclass(frozen=True)
class Audit:
    """All results of some files, and all that gave none."""

    audited: Sequence[Audited]
    refused: Sequence[str]
    """One sentence for each file, or part of one, that could not be scored."""
    passed_over: Sequence[str]
    """One sentence for each part of a file that is no translation."""

    @property
    def results(self) -> list[Result]:
        return [one.result for one in self.audited]

    @property
    def folders(self) -> list[Path]:
        return list(dict.fromkeys(one.folder for one in self.audited if one.folder is not None))


def audit(files: Sequence[Path | str], directory: Path | None = None, context: RunContext = NO_CONTEXT) -> Audit:
    """Recognise and score all translations in some files; with a directory, each system leaves a run folder there."""
    _known.cache_clear()  # the data on this machine may be other than the last time
    audited: list[Audited] = []
    refused: list[str] = []
    passed_over: list[str] = []
    paths = list(dict.fromkeys(map(Path, files)))
    taken: set[str] = set()
    work: list[_Work] = []
    with context.open_progress("audit") as progress:
        for number, (path, found) in enumerate(zip(paths, context.executor.in_order(_recognised, paths), strict=True)):
            progress(number, 2 * len(paths))  # half of the work is to find out what it is
            if isinstance(found, str):
                refused.append(found)
                continue
            name = _tail(path, paths)
            passed_over += [f"{name}: {sentence}" for sentence in found.passed_over]
            for system, cells in _by_system(found.cells).items():
                folder = directory / _folder(f"{Path(name).with_suffix('')}-{system}", taken) if directory else None
                named = f"{name} ({system})" if system else name
                work.append(_Work(_Theirs(path, system, named), cells, folder))
        for number, scored in enumerate(context.executor.in_order(_scored, work), start=1):
            progress(len(work) + number, 2 * len(work))
            for one in scored:
                if isinstance(one, Audited):
                    audited.append(one)
                else:
                    refused.append(one)
    return Audit(audited, refused, passed_over)


@cache
def _known() -> Known:
    return Known()


def _recognised(path: Path) -> Found | str:
    """What a file holds, or why that cannot be told."""
    try:
        return _read(path, _known())
    except UserError as problem:
        return str(problem)


# -- reading


def _read(path: Path, known: Known) -> Found:
    grids = read_grids(path)
    n_rows = max((len(grid.rows) for grid in grids), default=0)
    if n_rows < _FEWEST_ROWS:
        what = "has one row only" if n_rows else "is empty"
        raise BadFile(path, f"{what}; give a table with sources and translations, or one translation on each line")
    cells: list[Cell] = []
    passed_over: list[str] = []
    unknown: list[Grid] = []
    for grid in grids:
        where = f'sheet "{grid.name}": ' if len(grids) > 1 else ""
        found = None
        if len(grid.rows) >= _FEWEST_ROWS:
            found = recognise(path, grid, known) or recognise_plain(path, grid, known)
        if found is None:
            unknown.append(grid)
            passed_over.append(f"{where}it has no sentences of a benchmark")
        else:
            cells += found.cells
            passed_over += [f"{where}{sentence}" for sentence in found.passed_over]
    if not cells:
        raise BadFile(path, _unknown(known, unknown) if len(unknown) == len(grids) else "; ".join(passed_over))
    return Found(cells, passed_over)


def _unknown(known: Known, grids: Sequence[Grid]) -> str:
    """Why nothing was recognised, and what would work."""
    own = "score your own sentences with `gendermark score BENCHMARK --data file:FILE`"
    exported = f"translate what `gendermark export BENCHMARK` gives, or {own}"
    told = f"no column has the sentences of a benchmark; {exported}"
    if len(grids) == 1 and all(len(cells) == 1 for _, cells in grids[0].rows):
        n = len(grids[0].rows)
        told = f"its {n:,} lines have no sources, and fit no benchmark line by line; add the sources, {exported}"
    if known.lacking:
        told += " (official data that is not on this machine is not known: `gendermark data get NAME` fetches it)"
    return told


# -- whose translations they are


def _by_system(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """The cells of each system of a file, by its name; one that has no name of its own is the file's."""
    several_sheets = len({cell.place.sheet for cell in cells}) > 1
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        place, selection = cell.place, cell.selection
        direction = (selection.source_language, selection.target_language)
        names = [place.sheet] if several_sheets else []
        names += [place.system, place.translation.strip('"')]
        told = [system_in(name, direction) for name in names]
        name = " ".join(dict.fromkeys(filter(None, told)))
        taken = {one.selection.cell for one in found.get(name, ())}
        if selection.cell in taken:
            # One more of the same: by whatever tells it from the first.
            name = " ".join(filter(None, [name, place.sheet, place.translation.strip('"')]))
        while selection.cell in {one.selection.cell for one in found.get(name, ())}:
            name += "'"
        found.setdefault(name, []).append(cell)
    return found


def _tail(path: Path, paths: Sequence[Path]) -> str:
    """As much of a path, from its end, as tells it from the others."""
    others = [one.parts for one in paths if one != path]
    parts = path.parts
    return str(
        Path(*next((parts[-n:] for n in range(1, len(parts)) if all(o[-n:] != parts[-n:] for o in others)), parts))
    )


def _folder(name: str, taken: set[str]) -> str:
    """A name for a run folder."""
    plain = "".join(letter if letter.isalnum() or letter in "_." else "-" for letter in name).strip("-.") or "run"
    free = next(one for n in count(1) if (one := plain if n == 1 else f"{plain}-{n}") not in taken)
    taken.add(free)
    return free


# -- scoring


class _Recognised(System):
    """Answers with the translations that were found in a file."""

    is_stored = False

    def __init__(self, spec: str, cells: Mapping[str, Cell]) -> None:
        self.spec = self.system_id = spec
        self._cells = cells
        self._fitted: dict[str, Sequence[str | None]] = {}
        self._texts: Sequence[str | None] = []
        self.notes_of: dict[str, list[str]] = {}

    def fit(self, name: str) -> Sequence[str | None]:
        """The translation of each item of a cell; refuses a broken one."""
        if name not in self._fitted:
            cell = self._cells[name]
            file = TranslationFile(cell.place.path, Choice(fix_encoding=True, allow_missing=True), cell.contents)
            notes: list[str] = []
            self._fitted[name] = file.fitted(cell.known.benchmark, cell.known.item_set, notes)
            self.notes_of[name] = [note.removeprefix(f"{cell.place.path}: ") for note in notes]
        return self._fitted[name]

    def prepare(self, benchmark: Benchmark, item_set: ItemSet, requests: Sequence[Request]) -> None:  # noqa: ARG002
        self._texts = self.fit(item_set.selection.cell)

    def notes(self) -> Sequence[str]:
        """For the page."""
        return [note for name, notes in self.notes_of.items() for note in (*self._cells[name].oddities, *notes)]

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        yield [
            Translation(request.request_id, text, error=MISSING if text is None else None)
            for request, text in zip(requests, self._texts, strict=True)
        ]


@dataclass(frozen=True)
class _Theirs:
    """Whose translations they are: a file's, or those of one system in it."""

    path: Path
    system: str
    name: str

    @property
    def spec(self) -> str:
        return f"files:{self.path}#{self.system}" if self.system else f"files:{self.path}"


@dataclass(frozen=True)
class _Work:
    """The cells of one system, to be scored."""

    theirs: _Theirs
    cells: Sequence[Cell]
    folder: Path | None


def _scored(work: _Work) -> list[Audited | str]:
    """The results of one system, and a sentence for each cell that is broken; the others are scored without it."""
    return list(_each_scored(work.theirs, work.cells, work.folder))


def _each_scored(theirs: _Theirs, cells: Sequence[Cell], folder: Path | None) -> Iterator[Audited | str]:
    by_name = {cell.selection.cell: cell for cell in cells}
    opened = _Recognised(theirs.spec, by_name)
    sound = []
    for name, cell in by_name.items():
        try:
            opened.fit(name)
            sound.append(cell)
        except UserError as problem:
            yield f"{problem} ({cell.place.shown})"
    if sound:
        config = RunConfig(theirs.spec, tuple(cell.selection for cell in sound), audited=str(theirs.path))
        try:
            results = carry_out(plan(config, opened), opened, folder)
        except UserError as problem:  # the folder is another run's, or cannot be written
            raise UserError(str(problem).replace("with -o", "with --keep")) from None
        for result, cell in zip(results, sound, strict=True):
            yield Audited(theirs.name, cell, result, folder, opened.notes_of[result.cell])
