"""Recognise what is in files of translations, and score each system as a run of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from gendermark.auditing.index import Index
from gendermark.auditing.own_texts import own_texts
from gendermark.auditing.recognise import MOST_NAMED, Found, Recognised, recognise, system_in
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.errors import BadFile, UserError
from gendermark.io.disk_list import mapped
from gendermark.io.tables import read_saved_tables
from gendermark.io.translations import TranslationFile
from gendermark.reading.failures import WRONG_LANGUAGE
from gendermark.records import Translation, Verdict
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.run import NO_CONTEXT, RunConfig, RunContext
from gendermark.runs.score import Origin, score, sentence_of

_FEWEST_ROWS = 2
_OTHER_FORMATS = {
    ".xls": "an Excel file of the old format",
    ".ods": "a LibreOffice spreadsheet",
    ".doc": "a Word document",
    ".docx": "a Word document",
    ".pdf": "a PDF file",
}
_ODD = {"empty": "empty", "copied": "copy of the source", WRONG_LANGUAGE: "in another language"}
"""Reasons why an existing translation counts as not translated."""


@dataclass(frozen=True)
class Audited:
    """One benchmark in one direction by one system: how it was recognised, its oddities and its result."""

    name: str
    """The distinguishing end of the file's path, and the system if the file has several."""
    found: Recognised
    result: Result
    folder: Path | None
    notes: Sequence[str] = ()

    @property
    def oddities(self) -> list[str]:
        """Describe what an auditor should know about the file, one sentence each."""
        odd = [f"not translated: {n:,} ({_ODD[why]})" for why, n in self.odd.items()]
        return [*self.found.oddities, *odd, *self.notes]

    @property
    def odd(self) -> dict[str, int]:
        """Number of existing translations that count as none, by reason."""
        reasons = Counter(one.reason for one in self.result.judgements if one.verdict is Verdict.NOT_TRANSLATED)
        return {why: reasons[why] for why in _ODD if reasons[why]}

    def to_json(self) -> dict[str, Any]:
        found = self.found
        return {
            "name": self.name,
            "file": str(found.path),
            "recognised": f"{self.name}: {found.sentence}",
            "sheet": found.sheet,
            "source_column": found.source_column.strip('"'),
            "translation_column": found.translation_column.strip('"'),
            "n_present": found.n_present,
            "n_missing": len(found.missing),
            "missing": list(found.missing[:MOST_NAMED]),
            "n_doubled": len(found.doubled),
            "doubled_lines": list(found.doubled[:MOST_NAMED]),
            "odd": self.odd,
            "remarks": self.oddities,
            "result": self.result.to_json(),
        }


@dataclass(frozen=True, repr=False)
class Audit:
    """All results of the files, and all parts without a result."""

    audited: Sequence[Audited]
    refused: Sequence[str]
    """One sentence for each file, or part of one, that could not be scored."""
    passed_over: Sequence[str]
    """One sentence for each part of a file that holds no translations."""

    @property
    def results(self) -> list[Result]:
        return [one.result for one in self.audited]

    def __repr__(self) -> str:
        return "\n".join([*map(repr, self.results), *self.refused, *self.passed_over])

    @property
    def folders(self) -> list[Path]:
        return list(dict.fromkeys(one.folder for one in self.audited if one.folder is not None))


def audit(
    files: Sequence[Path | str],
    directory: Path | None = None,
    context: RunContext = NO_CONTEXT,
    parser: str = "",
) -> Audit:
    """Recognise and score all translations in files; with a directory, write a run folder for each system.

    `parser` is the spaCy pipeline for texts outside the benchmarks, if not the bundled one.
    """
    _index.cache_clear()  # data on this machine may have changed
    audited: list[Audited] = []
    refused: list[str] = []
    passed_over: list[str] = []
    paths = list(dict.fromkeys(map(Path, files)))
    names: set[str] = set()
    work: list[_Work] = []
    with context.open_progress("audit") as progress:
        for number, (path, found) in enumerate(
            zip(paths, context.executor.in_order(partial(_recognise, parser=parser), paths), strict=True)
        ):
            progress(number, 2 * len(paths))  # recognising is half of the work
            if isinstance(found, str):
                refused.append(found)
                continue
            name = _tail(path, paths)
            passed_over += [f"{name}: {sentence}" for sentence in found[1]]
            for system, own in _by_system(found[0]).items():
                own_folder = directory / _folder(f"{Path(name).with_suffix('')}-{system}", names) if directory else None
                work.append(_Work(path, system, f"{name} ({system})" if system else name, own, own_folder))
        for number, scored in enumerate(context.executor.in_order(_score, work), start=1):
            progress(len(work) + number, 2 * len(work))
            audited += [one for one in scored if isinstance(one, Audited)]
            refused += [one for one in scored if isinstance(one, str)]
    return Audit(audited, refused, passed_over)


@cache
def _index() -> Index:
    return Index()


# -- what a file holds


def _recognise(path: Path, parser: str) -> Found | str:
    try:
        return _recognise_tables(path, parser)
    except UserError as problem:
        return str(problem)


def _recognise_tables(path: Path, parser: str) -> Found:
    if (kind := _OTHER_FORMATS.get(path.suffix.lower())) is not None:
        raise BadFile(path, f"is {kind}; save it as .xlsx or .csv, with a row for each sentence")
    (tables, note), index = read_saved_tables(path), _index()
    n_rows = max((len(table.rows) for table in tables), default=0)
    if n_rows < _FEWEST_ROWS:
        what = "has one row only" if n_rows else "is empty"
        raise BadFile(path, f"{what}; give a table with sources and translations, or one translation on each line")
    all_found: list[Recognised] = []
    passed_over: list[str] = []
    n_unknown = 0
    for table in tables:
        where = f'sheet "{table.name}": ' if len(tables) > 1 else ""
        found = recognise(path, table, index) if len(table.rows) >= _FEWEST_ROWS else None
        if found is None:
            n_unknown += 1
            passed_over.append(f"{where}it has no sentences of a benchmark")
        else:
            all_found += found[0]
            passed_over += [f"{where}{sentence}" for sentence in found[1]]
    if not all_found:
        if n_unknown < len(tables):
            raise BadFile(path, "; ".join(passed_over))
        unknown = "official data that is not on this machine is unknown: `gendermark data get NAME` fetches it"
        if len(tables) == 1 and all(len(cells) == 1 for _, cells in tables[0].rows):
            problem = f"its {n_rows:,} lines have no sources, and fit no benchmark line by line; add the sources"
            raise BadFile(path, f"{problem} ({unknown})" if index.lacks_data else problem)
        try:
            all_found, passed_over = own_texts(path, parser)
        except BadFile as own:
            if not index.lacks_data:
                raise
            raise BadFile(path, f"{own.problem} (no column contains benchmark sentences; {unknown})") from None
    return [replace(one, remarks=[*note, *one.remarks]) for one in all_found], passed_over


# -- whose translations they are


def _by_system(all_found: Sequence[Recognised]) -> dict[str, list[Recognised]]:
    several_sheets = len({found.sheet for found in all_found}) > 1
    by_name: dict[str, list[Recognised]] = {}

    def is_taken(name: str, cell: str) -> bool:
        return any(one.selection.cell == cell for one in by_name.get(name, ()))

    for found in all_found:
        selection, column = found.selection, found.translation_column.strip('"')
        direction = (selection.source_language, selection.target_language)
        names = [found.sheet if several_sheets else "", found.system, column]
        name = " ".join(dict.fromkeys(filter(None, (system_in(name, direction) for name in names))))
        if is_taken(name, selection.cell):
            # A duplicate name: add whatever distinguishes it.
            name = " ".join(filter(None, [name, found.sheet, column]))
        while is_taken(name, selection.cell):
            name += "'"
        by_name.setdefault(name, []).append(found)
    return by_name


def _tail(path: Path, paths: Sequence[Path]) -> str:
    """The shortest end of a path that distinguishes it from the others."""
    others = [one.parts for one in paths if one != path]
    parts = path.parts
    tails = (parts[-n:] for n in range(1, len(parts)))
    return str(Path(*next((tail for tail in tails if all(one[-len(tail) :] != tail for one in others)), parts)))


def _folder(name: str, taken: set[str]) -> str:
    plain = re.sub(r"[^\w.]", "-", name).strip("-.") or "run"
    free = next(one for n in count(1) if (one := plain if n == 1 else f"{plain}-{n}") not in taken)
    taken.add(free)
    return free


# -- scoring


class _Work(NamedTuple):
    path: Path
    system: str
    name: str
    found: Sequence[Recognised]
    folder: Path | None


def _present(item_set: ItemSet, texts: Sequence[str | None]) -> tuple[ItemSet, list[list[Translation]]]:
    """The items that have a translation, and their answers."""
    items = [item for item, text in zip(item_set.items, texts, strict=True) if text is not None]
    if len(items) < len(texts):
        origin = f"{item_set.origin},{len(items)}-of-{len(texts)}"
        item_set = replace(item_set, items=items, origin=origin, n_whole=len(texts))
    return item_set, [[Translation("", text)] for text in texts if text is not None]


def _score(work: _Work) -> list[Audited | str]:
    """The results of one system, and a sentence for each broken part."""
    spec = f"files:{work.path}#{work.system}" if work.system else f"files:{work.path}"
    refused: list[str] = []
    audited: list[Audited] = []
    cells: dict[str, Any] = {}
    for found in work.found:
        benchmark = found.known.benchmark
        file = TranslationFile(found.path, fix_encoding=True, allow_missing=True, rows=found.rows)
        try:
            texts, notes = file.texts(benchmark, found.known.item_set)
        except UserError as problem:
            refused.append(f"{problem} ({found.place})")
            continue
        item_set, answers = _present(found.known.item_set, texts)
        result = score(benchmark, item_set, answers, Origin(spec))
        result = replace(result, texts=mapped(sentence_of, item_set.items, answers))
        audited.append(Audited(work.name, found, result, work.folder, notes))
        cells[result.cell] = item_set, answers, result
    if work.folder is not None and audited:
        config = RunConfig(spec, tuple(one.found.selection for one in audited), audited=str(work.path)).to_json()
        notes = list(dict.fromkeys(note for one in audited for note in (*one.found.oddities, *one.notes)))
        try:
            folder.check_reusable(work.folder, config)
            written = {cell: folder.write_cell(work.folder, *parts) for cell, parts in cells.items()}
            folder.write_manifest(work.folder, config, "finished", written, notes)
        except UserError as problem:  # not a folder of this run, or not writable
            raise UserError(str(problem).replace("with -o", "with --keep")) from None
    return [*refused, *audited]
