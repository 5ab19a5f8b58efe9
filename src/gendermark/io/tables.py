"""Read the formats in which people keep translations.

| file | is |
|---|---|
| `.tsv`, `.csv` | a header row, then a row for each sentence; CSV cells may be quoted, TSV cells never are |
| `.xlsx` | the same, on the first sheet |
| `.jsonl` | a JSON object for each sentence |
| `.json` | results of MT-Lens: lists under `sources,none` and `translations,none` |
| `.po`, `.xlf`, `.xliff` | message catalogues; `read_tables` only |
| any other | one translation per line, or `source ||| translation` lines |
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar

from gendermark.errors import BadFile, NotUtf8, UserError
from gendermark.io.disk_list import mapped, stored
from gendermark.io.textfiles import each_line, each_text_line, read_bytes, read_json, read_jsonl, read_lines, read_text

SEPARATOR = " ||| "
ENDINGS = (".txt", ".tsv", ".csv", ".jsonl", ".json", ".xlsx")
_GRIDS = (".tsv", ".csv", ".xlsx")
CATALOGUES = (".po", ".xlf", ".xliff")
"""Message catalogues of programs: source, translation and file of each message."""
SOURCE_COLUMNS = ("source", "src", "sentence", "from")
TRANSLATION_COLUMNS = ("translation", "hypothesis", "mt", "output", "target", "to")
_WEAK_COLUMNS = ("from", "target", "to")
"""Used only in the absence of the others: many files have references or languages under these names."""
SYSTEM_COLUMN = "system"
NO_SAMPLE = 'give at least one; [""] means that the system gave nothing'
_ROUNDING = 1e-4
"""Rounding of 16-bit log-probabilities above 0."""
_SOURCES, _TRANSLATIONS = "sources,none", "translations,none"
_HEAD = 1_000
"""Lines used to detect the delimiter of a CSV file."""

_MOST_UNPACKED, _MOST_OF_OTHERS = 64_000_000, 2_000_000
"""Unpacked bytes of an Excel file's sheets and texts, and of each other part (such as styles)."""
_MOST_TAGS, _MOST_IN_ROW = 2_000_000, 200_000
"""Tags and attributes of all parts, and of a row: each takes memory, however short it is."""
_TAG, _ROW_START = re.compile(rb"[<=]"), re.compile(rb"<(?:\w+:)?row\b")
_MOST_SHEETS = 200
_MOST_COLUMNS = 16_384
"""As many as Excel has."""
_MOST_OF_CATALOGUE, _MOST_OF_ENTRY = 10_000_000, 2_000
"""Characters of a catalogue, and lines of one of its texts."""
_READ = (".xml", ".rels")
_MOST_LETTERS, _LETTERS_PER_CELL = 100_000_000, 20
"""Letters in all cells, counting this many for each cell and row, as empty ones take time too."""

Cells = tuple[int | None, Sequence[str]]
"""The cells of a row, and its line; None in formats without meaningful lines."""
Record = tuple[int, Mapping[str, Any]]
"""A row by column names, and its line."""
Content = TypeVar("Content")


class Row(NamedTuple, Generic[Content]):
    """One sentence of a file: its translation, or its samples."""

    source: str | None
    """None in a file without sources, whose translations are in benchmark order."""
    content: Content
    line: int | None


@dataclass(frozen=True, slots=True)
class Samples:
    """Several translations of one sentence, with log-probabilities if the file has them."""

    texts: tuple[str, ...]
    log_probabilities: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a table, before its columns are identified."""

    name: str
    """Name of a sheet or task; empty if a file has only one table."""
    rows: Sequence[Cells]
    header: Sequence[str] | None = None
    """Column names, if the format has them; otherwise the first row may hold them."""


# -- rows of translations


def read_rows(
    path: Path | str, system: str = "", source_column: str = "", translation_column: str = ""
) -> dict[str, Sequence[Row[str]]]:
    """The rows of a file by task; only MT-Lens files have several tasks, all others one without a name.

    `system` selects one of several: a value in the column `system`, a column of its own, or a task of MT-Lens.
    """
    ending = Path(path).suffix.lower()
    if ending == ".json":
        return _mt_lens_tasks(path, system)
    if ending in (*_GRIDS, ".jsonl"):
        records = _all_records(path, "translation")
        names = list(records[0][1])
        records, own_column = _of_system(path, records, system)
        source = _column(path, names, source_column, "source", SOURCE_COLUMNS)
        translation = own_column or _column(path, names, translation_column, "translation", TRANSLATION_COLUMNS)

        def row(record: Record) -> Row[str]:
            # null: what `gendermark translate --json` writes for failed sentences
            failed = record[1].get(translation, "") is None
            return Row(_text(path, record, source), "" if failed else _text(path, record, translation), record[0])

        return {"": stored(map(row, records))}
    if system:
        raise BadFile(
            path, f"is a text file, which holds one system; leave out #{system}, or give a .tsv with its column"
        )
    return {"": _text_rows(path, stored(each_line(path)))}


def _text_rows(path: Path | str, lines: Sequence[str]) -> Sequence[Row[str]]:
    if any(SEPARATOR in f"{line} " for line in lines):
        return stored(_pair(path, number, line) for number, line in enumerate(lines, start=1))
    return mapped(lambda number, line: Row(None, line, number), range(1, len(lines) + 1), lines)


def _pair(path: Path | str, number: int, line: str) -> Row[str]:
    parts = f"{line} ".split(SEPARATOR)
    if len(parts) == 1:
        raise BadFile(path, "has no '|||' between source and translation, but other lines do", line=number)
    if len(parts) > 2:
        raise BadFile(path, "has more than one '|||'", line=number)
    return Row(parts[0].strip(), parts[1].strip(), number)


# -- tables


def read_tables(path: Path | str, encoding: str = "utf-8") -> list[Table]:
    """All tables of a file: the sheets of a workbook, the tasks of MT-Lens; for other files one.

    Text without sources is a table of one column.
    """
    ending = Path(path).suffix.lower()
    if ending in _GRIDS:
        return [Table(name, list(rows)) for name, rows in _grids(path, encoding).items()]
    if ending == ".jsonl":
        records = list(read_jsonl(path))
        names = list(dict.fromkeys(name for _, record in records for name in record))

        def cells(record: Mapping[str, Any]) -> list[str]:
            return [value if isinstance(value := record.get(name), str) else "" for name in names]

        return [Table("", [(line, cells(record)) for line, record in records], names)]
    if ending in CATALOGUES:
        return [_po_table(path) if ending == ".po" else _xliff_table(path)]
    tasks = _mt_lens_tasks(path, "") if ending == ".json" else {"": _text_rows(path, read_lines(path))}
    return [_table(name, rows) for name, rows in tasks.items()]


def read_saved_tables(path: Path | str) -> tuple[list[Table], list[str]]:
    """The tables of a file, and a note if it is a CSV file in Excel's encoding."""
    try:
        return read_tables(path), []
    except NotUtf8:
        if Path(path).suffix.lower() != ".csv":
            raise
        return read_tables(path, "cp1252"), ["read as Windows-1252, as Excel saves CSV files; it is not UTF-8"]


def _table(name: str, rows: Sequence[Row[str]]) -> Table:
    if rows and rows[0].source is not None:
        return Table(name, [(row.line, (row.source or "", row.content)) for row in rows], ("source", "translation"))
    filled = [row for row in rows if row.content.strip()]
    if filled and all("\t" in row.content for row in filled):
        return Table(name, [(row.line, row.content.split("\t")) for row in filled])
    return Table(name, [(row.line, (row.content,)) for row in rows])


def read_records(path: Path | str) -> Iterator[Record]:
    """The rows of JSON lines or of a table with a header (`.csv`, `.xlsx`, else TSV), by column names."""
    ending = Path(path).suffix.lower()
    if ending in (".jsonl", ".json"):
        yield from read_jsonl(path)
        return
    names: list[str] = []
    for line, cells in next(iter(_grids(path).values()), []):
        if not any(map(str.strip, cells)):
            continue
        if not names:
            names = [name.strip() for name in cells]
            if twice := [name for name, n in Counter(filter(None, names)).items() if n > 1]:
                raise BadFile(path, f"has two columns {twice[0]!r}; give each its own name", line=line)
            continue
        if ending == ".xlsx":  # ends at its last filled cell
            cells += [""] * (len(names) - len(cells))
        if len(cells) != len(names):
            hints = {".csv": "quote cells that hold commas", ".xlsx": "give every column a name"}
            hint = hints.get(ending, "no cell may hold a tab")
            raise BadFile(path, f"has {len(cells)} cells, but the header has {len(names)}; {hint}", line=line)
        yield line, dict(zip(names, cells, strict=True))


def _all_records(path: Path | str, noun: str) -> Sequence[Record]:
    records = stored(read_records(path))
    if not records:
        raise BadFile(
            path, f"has no sentences; expected columns for source and {noun} and a row for each sentence, or JSON lines"
        )
    return records


def _grids(path: Path | str, encoding: str = "utf-8") -> Mapping[str, Iterable[tuple[int, list[str]]]]:
    """The rows of a CSV file, of each sheet of a workbook, or of tab-separated lines; `encoding` applies to CSV
    files."""
    ending = Path(path).suffix.lower()
    if ending == ".xlsx":
        return _sheets(path)
    if ending == ".csv":
        return {"": read_csv(path, encoding)}
    return {"": ((number, line.split("\t")) for number, line in enumerate(each_line(path), start=1) if line.strip())}


def read_csv(path: Path | str, encoding: str = "utf-8") -> Iterator[tuple[int, list[str]]]:
    """The non-empty rows of a CSV file, each with the number of its first line."""
    # Some programs end lines with a carriage return alone.
    lines = (part for line in each_text_line(path, encoding) for part in io.StringIO(line, newline=""))
    head = list(islice(lines, _HEAD))
    reader = csv.reader(chain(head, lines), delimiter=_delimiter("".join(head)), strict=True)
    line = 1
    try:
        for row in reader:
            if len(row) > _MOST_COLUMNS:
                raise BadFile(path, f"has more than {_MOST_COLUMNS:,} columns", line=line)
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as problem:
        what = f"is not CSV ({problem}); close every quotation mark, and double those inside a cell"
        raise BadFile(path, what, line=line) from None


def _delimiter(text: str) -> str:
    """The delimiter: comma, semicolon (where the comma is the decimal sign) or tab.

    If the first line has several of them, it may be a sentence: choose the one that gives rows of equal length.
    """
    header = text.partition("\n")[0]
    found = [one for one in (",", ";", "\t") if one in header]
    if len(found) < 2:
        return found[0] if found else ","

    def widths(delimiter: str) -> set[int]:
        try:
            rows = islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 50)
            return {len(row) for row in rows if row}
        except csv.Error:
            return set()

    return next((one for one in found if len(widths(one)) == 1), ",")


def _sheets(path: Path | str) -> dict[str, list[tuple[int, list[str]]]]:
    """All sheets of an Excel file: the non-empty rows of each, up to their last filled cell.

    Refuses files that would take too much memory or time.
    """
    import openpyxl

    content = io.BytesIO(read_bytes(path))
    try:
        with zipfile.ZipFile(content) as parts:
            # Pictures and the like are not unpacked.
            sizes = {part.filename: part.file_size for part in parts.infolist() if part.filename.endswith(_READ)}
        others = [size for name, size in sizes.items() if not name.startswith(("xl/worksheets/", "xl/sharedStrings"))]
        if sum(sizes.values()) > _MOST_UNPACKED or max(others, default=0) > _MOST_OF_OTHERS:
            raise BadFile(path, f"unpacks to more than {_MOST_UNPACKED // 1_000_000} MB; save the sheet as .csv")
        if _has_too_many_tags(content, sizes):
            raise BadFile(path, "has more rows or cells than any list of sentences; save the sheet as .csv")
        book = openpyxl.load_workbook(content, read_only=True, data_only=True)
        if len(book.worksheets) > _MOST_SHEETS:  # all may be the same part of the file
            raise BadFile(path, f"has more than {_MOST_SHEETS} sheets; save the one with the sentences as .csv")
        n_left = _MOST_LETTERS
        found: dict[str, list[tuple[int, list[str]]]] = {}
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # the declared size may be wrong
            rows = found[sheet.title] = []
            for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
                cells = ["" if cell is None else str(cell) for cell in row]
                n_left -= _LETTERS_PER_CELL * (1 + len(cells)) + sum(map(len, cells))
                if n_left < 0:
                    raise BadFile(path, "has more rows or cells than any list of sentences; save the sheet as .csv")
                while cells and not cells[-1].strip():
                    cells.pop()
                if cells:
                    rows.append((number, cells))
        return found
    except UserError:
        raise
    except Exception as problem:  # noqa: BLE001 (a broken file can fail anywhere in zip, XML or the workbook)
        raise BadFile(path, f"is not an Excel file ({problem}); save it again as .xlsx, or as .csv") from None


def _has_too_many_tags(content: BinaryIO, names: Iterable[str]) -> bool:
    n_left = _MOST_TAGS
    with zipfile.ZipFile(content) as parts:
        for name in names:
            n_in_row = 0
            with parts.open(name) as part:
                while some := part.read(1_000_000):
                    for number, row in enumerate(_ROW_START.split(some)):
                        n_tags = 1 + len(_TAG.findall(row))
                        n_left -= n_tags
                        n_in_row = n_tags + (0 if number else n_in_row)
                        if n_left < 0 or (n_in_row > _MOST_IN_ROW and name.startswith("xl/worksheets/")):
                            return True
    return False


# -- message catalogues


def _po_table(path: Path | str) -> Table:
    """The messages of a gettext catalogue, without obsolete and fuzzy ones, which are never displayed."""
    import polib

    text = read_text(path)
    _refuse_large(path, len(text))
    continued = (sum(1 for _ in some) for is_more, some in groupby(text.split("\n"), _is_continued) if is_more)
    if max(continued, default=0) > _MOST_OF_ENTRY:
        raise BadFile(path, f"has a text of more than {_MOST_OF_ENTRY:,} lines; export it again")
    try:
        catalogue = polib.pofile(text)
    except (OSError, ValueError, IndexError) as problem:
        raise BadFile(path, f"is not a gettext catalogue ({problem}); export it again as .po, or as .csv") from None
    rows: list[Cells] = []
    for entry in catalogue:
        if entry.obsolete or entry.fuzzy:
            continue
        file = entry.occurrences[0][0] if entry.occurrences else ""
        forms = [entry.msgstr_plural[key] for key in sorted(entry.msgstr_plural)]
        rows.append((entry.linenum, (entry.msgid, forms[0] if forms else entry.msgstr, file)))
        if forms:
            rows.append((entry.linenum, (entry.msgid_plural, forms[-1], file)))
    return Table("", rows, ("source", catalogue.metadata.get("Language") or "translation", "file"))


def _is_continued(line: str) -> bool:
    return line.lstrip().startswith('"')


def _refuse_large(path: Path | str, size: int) -> None:
    if size > _MOST_OF_CATALOGUE:
        raise BadFile(path, f"has more than {_MOST_OF_CATALOGUE // 10**6} MB; give a part of it, or a .csv")


def _xliff_table(path: Path | str) -> Table:
    """The segments of XLIFF 1.2 and 2; inline elements count as their text."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    content = read_bytes(path)
    _refuse_large(path, len(content))
    try:
        root = fromstring(content)
    except (ParseError, DefusedXmlException, ValueError) as problem:
        raise BadFile(path, f"is not XLIFF ({problem}); export it again as .xlf, or as .csv") from None

    def name_of(element: Any) -> str:
        return str(element.tag).rpartition("}")[2]

    rows: list[Cells] = []
    language = root.get("trgLang", "")
    for file in (one for one in root.iter() if name_of(one) == "file"):
        language = language or file.get("target-language", "")
        for unit in (one for one in file.iter() if name_of(one) in ("trans-unit", "segment")):
            texts = {name_of(child): "".join(child.itertext()) for child in unit}
            if texts.get("source", "").strip():
                origin = file.get("original") or file.get("id") or ""
                rows.append((None, (texts["source"], texts.get("target", ""), origin)))
    return Table("", rows, ("source", language or "translation", "file"))


# -- columns


def _of_system(path: Path | str, records: Sequence[Record], system: str) -> tuple[Sequence[Record], str]:
    names = list(records[0][1])
    if SYSTEM_COLUMN in names:
        systems = list(dict.fromkeys(_text(path, record, SYSTEM_COLUMN) for record in records))
        if not system and len(systems) == 1:
            return records, ""
        if not system:
            raise BadFile(path, f"has translations of {len(systems)} systems; name one: {path}#{some(systems, ' | #')}")
        if system not in systems:
            raise BadFile(path, f"has no system {system!r}; available: {some(systems)}")
        return stored(record for record in records if record[1][SYSTEM_COLUMN] == system), ""
    if system and system not in names:
        raise BadFile(path, f"has no column {SYSTEM_COLUMN!r} and none {system!r}; available: {some(names)}")
    return records, system


def _column(path: Path | str, names: Sequence[str], asked: str, what: str, usual: Sequence[str]) -> str:
    if asked:
        if asked not in names:
            raise BadFile(path, f"has no column {asked!r}, which {what}_column asks for; available: {some(names)}")
        return asked
    fitting = [name for name in names if name.strip().lower() in usual]
    if len(fitting) > 1:
        fitting = [name for name in fitting if name.strip().lower() not in _WEAK_COLUMNS] or fitting
    if len(fitting) == 1:
        return fitting[0]
    problem = f"has no column for the {what} ({', '.join(usual)}); available: {some(names)}"
    if fitting:
        problem = f"has {' and '.join(map(repr, fitting))}, each of which may be the {what}"
    remedy = f"rename it, or, with files:, use --system-option {what}_column=NAME"
    if what == "translation" and SYSTEM_COLUMN not in names:
        remedy = f"name it: {path}#NAME"
    raise BadFile(path, f"{problem}; {remedy}")


def _text(path: Path | str, record: Record, name: str) -> str:
    line, cells = record
    if name not in cells:
        raise BadFile(path, f"has no {name!r}, which other lines have", line=line)
    value = cells[name]
    if not isinstance(value, str):
        raise BadFile(path, f"has {shortened(value)} under {name!r}, which must be text", line=line)
    return value


# -- samples


def read_sample_rows(path: Path | str, system: str = "", source_column: str = "") -> tuple[Sequence[Row[Samples]], str]:
    """The samples in JSON lines, and whether rows are identified by `source` or by the `id` of an item."""
    records, _ = _of_system(path, _all_records(path, "samples"), system)
    line, first = records[0]
    has_source = source_column or any(name.strip().lower() in SOURCE_COLUMNS for name in first)
    if not has_source and "id" not in first:
        raise BadFile(path, "has neither 'source' nor 'id'; add one of them", line=line)
    key = _column(path, list(first), source_column, "source", SOURCE_COLUMNS) if has_source else "id"
    rows = stored(Row(_text(path, record, key), _samples(path, record), record[0]) for record in records)
    return rows, "source" if has_source else "id"


def _samples(path: Path | str, record: Record) -> Samples:
    line, cells = record
    texts, numbers = cells.get("samples"), cells.get("logprobs")
    if not isinstance(texts, list):
        raise BadFile(path, "has no list under 'samples'; expected a list of translations", line=line)
    if not texts:
        raise BadFile(path, f"has an empty list of samples; {NO_SAMPLE}", line=line)
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise BadFile(path, f"sample {number} is {shortened(text)}, which is not text", line=line)
    if numbers is None:
        return Samples(tuple(texts))
    if not isinstance(numbers, list) or len(numbers) != len(texts):
        raise BadFile(path, f"must have {len(texts)} numbers under 'logprobs', one for each sample", line=line)
    for number, value in enumerate(numbers, start=1):
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or value > _ROUNDING:
            problem = "a log-probability is at most 0" if is_number else "it must be a number"
            raise BadFile(path, f"log-probability {number} is {shortened(value)}; {problem}", line=line)
    return Samples(tuple(texts), tuple(min(float(number), 0.0) for number in numbers))


def has_samples(path: Path) -> bool:
    return "samples" in _first_object(path)


def has_translations(path: Path) -> bool:
    """Whether a file may have translations, judged by its first line: all except files of samples only."""
    first = _first_object(path)
    return "samples" not in first or any(name.strip().lower() in TRANSLATION_COLUMNS for name in first)


def _first_object(path: Path) -> dict[str, Any]:
    """The first object of a JSON-lines file; empty if it is missing or broken, which is reported later."""
    if path.suffix.lower() != ".jsonl":
        return {}
    try:
        # A pipe can be read only once.
        return next((record for _, record in read_jsonl(path)), {}) if path.is_file() else {}
    except (OSError, BadFile):
        return {}


# -- MT-Lens


def _mt_lens_tasks(path: Path | str, task: str) -> dict[str, Sequence[Row[str]]]:
    # Tasks are at the top level, or under `results` and a task name. (Iterative: JSON may be nested deeply.)
    found: list[tuple[str, Mapping[str, Any]]] = []
    waiting: list[tuple[str, Any]] = [("", read_json(path))]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, list):
            waiting.extend((name, entry) for entry in reversed(value))
        elif isinstance(value, dict) and _SOURCES in value and _TRANSLATIONS in value:
            found.append((name, value))
        elif isinstance(value, dict):
            waiting.extend(reversed(list(value.items())))
    if not found:
        raise BadFile(
            path,
            f"has no lists {_SOURCES!r} and {_TRANSLATIONS!r}, as results of MT-Lens have; give such a file, or a "
            ".jsonl with one JSON object on each line",
        )
    names = [name for name, _ in found]
    if len(set(names)) < len(names):  # an array of results has no names
        names = [str(number) for number in range(1, len(found) + 1)]
    if task and task not in names:
        raise BadFile(path, f"has no task {task!r}; available: {some(names)}")
    tasks = {name: _task_rows(path, name, lists) for name, (_, lists) in zip(names, found, strict=True)}
    return {task: tasks[task]} if task else tasks


def _task_rows(path: Path | str, name: str, task: Mapping[str, Any]) -> Sequence[Row[str]]:
    sources, translations = task[_SOURCES], task[_TRANSLATIONS]
    whose = f"task {name!r}: " if name else ""
    for key in (_SOURCES, _TRANSLATIONS):
        if not isinstance(task[key], list):
            raise BadFile(path, f"{whose}{_SOURCES!r} and {_TRANSLATIONS!r} must be lists")
        for number, text in enumerate(task[key], start=1):
            if not isinstance(text, str):
                raise BadFile(path, f"{whose}entry {number} of {key!r} is {shortened(text)}, which is not text")
    if not sources or len(sources) != len(translations):
        counted = f"{len(sources):,} sources, but {len(translations):,} translations" if sources else "no sources"
        raise BadFile(path, f"{whose}has {counted}; save one for each")
    return [Row(source, text, None) for source, text in zip(sources, translations, strict=True)]


def shortened(value: Any, width: int = 60) -> str:
    if isinstance(value, str):
        return repr(value if len(value) <= width else value[: width - 1] + "…")
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def some(names: Sequence[str], separator: str = ", ", n: int = 8) -> str:
    shown = separator.join(names[:n])
    return shown if len(names) <= n else f"{shown} and {len(names) - n} more"
