"""The formats in which people keep translations, each read into rows of source and translation.

| file | is |
|---|---|
| `.tsv`, `.csv` | a header row, then a row for each sentence; CSV cells may be quoted, TSV cells never are |
| `.xlsx` | the same, on the first sheet |
| `.jsonl` | a JSON object for each sentence |
| `.json` | results of MT-Lens: lists under `sources,none` and `translations,none` |
| any other | one translation per line, or `source ||| translation` lines |
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from gendermark.errors import BadFile
from gendermark.io.disk_list import stored
from gendermark.io.textfiles import each_line, read_csv, read_json, read_jsonl, read_lines, read_sheets, read_xlsx
from gendermark.records import Compact

SEPARATOR = " ||| "
ENDINGS = (".txt", ".tsv", ".csv", ".jsonl", ".json", ".xlsx")
SOURCE_COLUMNS = ("source", "src", "sentence", "from")
TRANSLATION_COLUMNS = ("translation", "hypothesis", "mt", "output", "target", "to")
_WEAK_COLUMNS = ("from", "target", "to")
"""These count only if none of the others is there: many files have a reference or languages under such names."""
SYSTEM_COLUMN = "system"
NO_SAMPLE = 'give at least one; [""] says that the system had nothing to say'
_ROUNDING = 1e-4
"""By so much the log-probability of what is certain may lie above 0 in 16-bit arithmetic."""
MT_LENS_SOURCES, MT_LENS_TRANSLATIONS = "sources,none", "translations,none"

Content = TypeVar("Content")
_Object = tuple[int, Mapping[str, Any]]
"""A row under the names of its columns, and its line."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user said about a file that could be read in several ways."""

    system: str = ""
    """One system of several: a value in the column `system`, a column of its own, or a task of MT-Lens."""
    source_column: str = ""
    translation_column: str = ""
    fix_encoding: bool = False
    """Whether letters that were misread are to be repaired."""
    allow_missing: bool = False
    """Whether sentences may have no row."""


@dataclass(frozen=True, slots=True)
class Row(Compact, Generic[Content]):
    """A source and what belongs to it."""

    source: str
    content: Content
    line: int | None = None
    """None in formats whose lines mean nothing."""


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a name: a whole file, or one task of several in it."""

    name: str
    rows: Sequence[Row[str]]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file holds: sections whose rows name their sources, nearly always one; or bare lines."""

    sections: Sequence[Section] = ()
    lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a table as they stand, whatever they hold: nobody has said yet which column is what."""

    name: str
    """Of a sheet or a task; empty where a file has one table only."""
    rows: Sequence[tuple[int | None, Sequence[str]]]
    """Each with its line."""
    header: Sequence[str] | None = None
    """The names of the columns, where the format has them; a table may or may not begin with them."""


@dataclass(frozen=True, slots=True)
class Samples(Compact):
    """Several translations of one sentence, and how probable the system found each, if it said so."""

    texts: tuple[str, ...]
    log_probabilities: tuple[float, ...] | None = None


def read_contents(path: Path | str, choice: Choice) -> Contents:
    """What a file of translations holds, read as its ending says."""
    ending = Path(path).suffix.lower()
    if ending in (".tsv", ".csv", ".xlsx"):
        return Contents([Section("", _table_rows(path, ending, choice))])
    if ending == ".jsonl":
        return Contents([Section("", _jsonl_rows(path, choice))])
    if ending == ".json":
        return Contents(_mt_lens_sections(path, choice.system))
    if choice.system:
        raise BadFile(
            path, f"is a text file, which holds one system; leave out #{choice.system}, or give a .tsv with its column"
        )
    lines = stored(each_line(path))
    return Contents([Section("", _pair_rows(path, lines))]) if _has_sources(lines) else Contents(lines=lines)


def read_grids(path: Path | str) -> list[Grid]:
    """All tables of a file as they stand: the sheets of a workbook, the tasks of MT-Lens; of any other file one.

    Text without sources is a table of one column.
    """
    ending = Path(path).suffix.lower()
    if ending == ".xlsx":
        return [Grid(name, rows) for name, rows in read_sheets(path).items()]
    if ending == ".csv":
        return [Grid("", list(read_csv(path)))]
    if ending == ".jsonl":
        objects = list(read_jsonl(path))
        names = list(dict.fromkeys(key for _, row in objects for key in row))
        cells = [
            (line, [value if isinstance(value := row.get(name), str) else "" for name in names])
            for line, row in objects
        ]
        return [Grid("", cells, names)]
    pairs = ("source", "translation")
    if ending == ".json":
        tasks = _mt_lens_sections(path, "")
        return [Grid(task.name, [(row.line, (row.source, row.content)) for row in task.rows], pairs) for task in tasks]
    lines = read_lines(path)
    if ending != ".tsv" and _has_sources(lines):
        return [Grid("", [(row.line, (row.source, row.content)) for row in _pair_rows(path, lines)], pairs)]
    if ending == ".tsv" or (lines and all("\t" in line for line in lines if line.strip())):
        return [Grid("", [(number, line.split("\t")) for number, line in enumerate(lines, 1) if line.strip()])]
    return [Grid("", [(number, (line,)) for number, line in enumerate(lines, 1)])]


# -- source ||| translation


def _has_sources(lines: Sequence[str]) -> bool:
    return any(SEPARATOR in f"{line} " for line in lines)


def _pair_rows(path: Path | str, lines: Sequence[str]) -> Sequence[Row[str]]:
    return stored(_each_pair(path, lines))


def _each_pair(path: Path | str, lines: Sequence[str]) -> Iterator[Row[str]]:
    for number, line in enumerate(lines, start=1):
        source, separator, translation = f"{line} ".partition(SEPARATOR)
        if not separator:
            raise BadFile(
                path, f"has no {SEPARATOR.strip()!r} between source and translation, but other lines do", line=number
            )
        if SEPARATOR in translation:
            raise BadFile(path, f"has more than one {SEPARATOR.strip()!r}", line=number)
        yield Row(source.strip(), translation.strip(), number)


# -- TSV, CSV, JSON lines


def _table_rows(path: Path | str, ending: str, choice: Choice) -> Sequence[Row[str]]:
    cells = {".csv": read_csv, ".xlsx": read_xlsx, ".tsv": _tsv_cells}[ending](path)
    _, header = next(cells, (0, []))
    if not header:
        raise BadFile(path, "is empty; expected a header row (source, translation) and a row for each sentence")
    names = [name.strip() for name in header]
    for name in names:
        if names.count(name) > 1:
            raise BadFile(path, f"has two columns {name!r}; give each its own name", line=1)

    def each() -> Iterator[_Object]:
        for line, row in cells:
            if len(row) != len(names):
                hint = "quote cells that hold commas" if ending == ".csv" else "no cell may hold a tab"
                raise BadFile(path, f"has {len(row)} cells, but the header has {len(names)}; {hint}", line=line)
            yield line, dict(zip(names, row, strict=True))

    objects = stored(each())
    if not objects:
        raise BadFile(path, "has a header row only; expected a row for each sentence")
    return _rows_of(path, objects, choice)


def _tsv_cells(path: Path | str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(each_line(path), start=1):
        if line.strip():
            yield number, line.split("\t")


def _jsonl_rows(path: Path | str, choice: Choice) -> Sequence[Row[str]]:
    return _rows_of(path, _objects(path), choice)


def _objects(path: Path | str, noun: str = "translation") -> Sequence[_Object]:
    objects = stored(read_jsonl(path))
    if not objects:
        raise BadFile(path, f"is empty; expected a JSON object with source and {noun} on each line")
    return objects


def _rows_of(path: Path | str, objects: Sequence[_Object], choice: Choice) -> Sequence[Row[str]]:
    names = list(objects[0][1])
    objects, translation_column = _chosen_system(path, objects, choice)
    source_column = _column(path, names, choice.source_column, "source", SOURCE_COLUMNS)
    translation_column = translation_column or _column(
        path, names, choice.translation_column, "translation", TRANSLATION_COLUMNS
    )
    return stored(
        Row(
            _text(path, line, row, source_column),
            # null: what `gendermark translate --json` writes where a system failed
            "" if row.get(translation_column, "") is None else _text(path, line, row, translation_column),
            line,
        )
        for line, row in objects
    )


def _chosen_system(path: Path | str, objects: Sequence[_Object], choice: Choice) -> tuple[Sequence[_Object], str]:
    """The rows of the system that was asked for, or the column that is its own."""
    names = list(objects[0][1])
    if SYSTEM_COLUMN in names:
        systems = list(dict.fromkeys(_text(path, line, row, SYSTEM_COLUMN) for line, row in objects))
        if not choice.system and len(systems) == 1:
            return objects, ""
        if not choice.system:
            raise BadFile(path, f"has translations of {len(systems)} systems; name one: {path}#{some(systems, ' | #')}")
        if choice.system not in systems:
            raise BadFile(path, f"has no system {choice.system!r}; available: {some(systems)}")
        return stored((line, row) for line, row in objects if row[SYSTEM_COLUMN] == choice.system), ""
    if choice.system and choice.system not in names:
        raise BadFile(path, f"has no column {SYSTEM_COLUMN!r} and none {choice.system!r}; available: {some(names)}")
    return objects, choice.system


def _column(path: Path | str, names: Sequence[str], asked: str, what: str, usual: Sequence[str]) -> str:
    """The column that holds the source, or the translation."""
    if asked:
        if asked not in names:
            raise BadFile(path, f"has no column {asked!r}, which {what}_column asks for; available: {some(names)}")
        return asked
    fitting = [name for name in names if name.strip().lower() in usual]
    if len(fitting) > 1:
        fitting = [name for name in fitting if name.strip().lower() not in _WEAK_COLUMNS] or fitting
    if len(fitting) > 1:
        both = " and ".join(map(repr, fitting))
        raise BadFile(path, f"has {both}, each of which may be the {what}; {_naming(path, names, what)}")
    if not fitting:
        columns = f"has no column for the {what} ({', '.join(usual)}); available: {some(names)}"
        raise BadFile(path, f"{columns}; {_naming(path, names, what)}")
    return fitting[0]


def _naming(path: Path | str, names: Sequence[str], what: str) -> str:
    """How the user can say which column is meant."""
    if what == "translation" and SYSTEM_COLUMN not in names:
        return f"name it: {path}#NAME"
    return f"rename it, or, with files:, say --system-option {what}_column=NAME"


def _text(path: Path | str, line: int, row: Mapping[str, Any], key: str) -> str:
    if key not in row:
        raise BadFile(path, f"has no {key!r}, which other lines have", line=line)
    value = row[key]
    if not isinstance(value, str):
        raise BadFile(path, f"has {shortened(value)} under {key!r}, which must be text", line=line)
    return value


# -- samples


def read_sample_rows(path: Path | str, choice: Choice) -> tuple[Sequence[Row[Samples]], str]:
    """The samples, and whether each row names its `source` or, where there is none, the `id` of its item."""
    objects, _ = _chosen_system(path, _objects(path, "samples"), Choice(choice.system))
    line, first = objects[0]
    has_source = choice.source_column or any(name.strip().lower() in SOURCE_COLUMNS for name in first)
    if not has_source and "id" not in first:
        raise BadFile(path, "has neither 'source' nor 'id' to say whose samples these are", line=line)
    key = _column(path, list(first), choice.source_column, "source", SOURCE_COLUMNS) if has_source else "id"
    rows = stored(Row(_text(path, line, row, key), _samples(path, line, row), line) for line, row in objects)
    return rows, "source" if has_source else "id"


def _samples(path: Path | str, line: int, row: Mapping[str, Any]) -> Samples:
    texts = row.get("samples")
    if not isinstance(texts, list):
        raise BadFile(path, "has no list under 'samples'; expected a list of translations", line=line)
    if not texts:
        raise BadFile(path, f"has an empty list of samples; {NO_SAMPLE}", line=line)
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise BadFile(path, f"sample {number} is {shortened(text)}, which is not text", line=line)
    numbers = row.get("logprobs")
    if numbers is None:
        return Samples(tuple(texts))
    if not isinstance(numbers, list) or len(numbers) != len(texts):
        raise BadFile(path, f"must have {len(texts)} numbers under 'logprobs', one for each sample", line=line)
    for number, value in enumerate(numbers, start=1):
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise BadFile(path, f"log-probability {number} is {shortened(value)}, which is not a number", line=line)
        if value > _ROUNDING:
            problem = f"log-probability {number} is {shortened(value)}; a log-probability is at most 0"
            raise BadFile(path, problem, line=line)
    return Samples(tuple(texts), tuple(min(float(number), 0.0) for number in numbers))


def has_samples(path: Path) -> bool:
    """Whether a file has samples, by its first line."""
    return "samples" in _first_object(path)


def has_translations(path: Path) -> bool:
    """Whether a file may have translations, by its first line: every kind may, except one of samples only."""
    first = _first_object(path)
    return "samples" not in first or any(name.strip().lower() in TRANSLATION_COLUMNS for name in first)


def _first_object(path: Path) -> dict[str, Any]:
    """The first object of a JSON-lines file; nothing if it has none. (What is wrong is said when it is read.)"""
    if path.suffix.lower() != ".jsonl":
        return {}
    try:
        if not path.is_file():  # a pipe can be read only once
            return {}
        with path.open(encoding="utf-8-sig") as file:
            first = json.loads(next((line for line in file if line.strip()), "{}"))
    except (OSError, ValueError, RecursionError):
        return {}
    return first if isinstance(first, dict) else {}


# -- MT-Lens


def _mt_lens_sections(path: Path | str, task: str) -> list[Section]:
    tasks = list(_mt_lens_tasks(read_json(path)))
    names = [name for name, _ in tasks]
    if len(set(names)) < len(names):  # an array of results has no names
        names = [str(number) for number in range(1, len(tasks) + 1)]
    sections = [_mt_lens_section(path, name, found) for name, (_, found) in zip(names, tasks, strict=True)]
    if not sections:
        raise BadFile(
            path,
            f"has no lists {MT_LENS_SOURCES!r} and {MT_LENS_TRANSLATIONS!r}, as results of MT-Lens have; "
            "give such a file, or one JSON object on each line of a .jsonl",
        )
    if task and task not in names:
        raise BadFile(path, f"has no task {task!r}; available: {some(names)}")
    return [section for section in sections if task in ("", section.name)]


def _mt_lens_tasks(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Wherever they stand: on top, or under `results` and the name of a task. (A loop: JSON may be nested deeply.)"""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        name, found = waiting.pop()
        if isinstance(found, dict):
            if MT_LENS_SOURCES in found and MT_LENS_TRANSLATIONS in found:
                yield name, found
                continue
            waiting.extend(reversed(list(found.items())))
        elif isinstance(found, list):
            waiting.extend((name, entry) for entry in reversed(found) if isinstance(entry, dict | list))


def _mt_lens_section(path: Path | str, name: str, task: Mapping[str, Any]) -> Section:
    sources, translations = task[MT_LENS_SOURCES], task[MT_LENS_TRANSLATIONS]
    whose = f"task {name!r}: " if name else ""
    if not isinstance(sources, list) or not isinstance(translations, list):
        raise BadFile(path, f"{whose}{MT_LENS_SOURCES!r} and {MT_LENS_TRANSLATIONS!r} must be lists")
    if len(sources) != len(translations):
        raise BadFile(path, f"{whose}has {len(sources):,} sources, but {len(translations):,} translations")
    if not sources:
        raise BadFile(path, f"{whose}has no sources; translate again and keep them")
    for key, texts in ((MT_LENS_SOURCES, sources), (MT_LENS_TRANSLATIONS, translations)):
        for number, text in enumerate(texts, start=1):
            if not isinstance(text, str):
                raise BadFile(path, f"{whose}entry {number} of {key!r} is {shortened(text)}, which is not text")
    return Section(name, [Row(source, text) for source, text in zip(sources, translations, strict=True)])


def shortened(value: Any, width: int = 60) -> str:
    """A value as it is shown in a message."""
    if isinstance(value, str):
        return repr(value if len(value) <= width else value[: width - 1] + "…")
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def some(names: Sequence[str], separator: str = ", ", n: int = 8) -> str:
    """Names for a message, not all if there are many."""
    shown = separator.join(names[:n])
    return shown if len(names) <= n else f"{shown} and {len(names) - n} more"
