"""Sheets as files: written for people to fill in, and read as people fill them in. Nothing of runs is known here.

The columns are those of Stanovsky, Smith and Zettlemoyer (2019), so that their sheets can be read too.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gendermark.errors import BadFile, UserError
from gendermark.io.textfiles import FORMULA_STARTS, read_text, write_text
from gendermark.records import Gender

COLUMNS = ("Index", "Entity", "Sentence", "Find entity? [Y/N]", "Gender? [M/F/N]", "Comments")
SOURCE_COLUMN = "Source"
ANYBODY = "the person whom the sentence is about"
"""Stands in the column `Entity` where a benchmark names nobody."""

_DELIMITERS = (",", ";", "\t")
SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_COLUMN_OF = {
    **dict.fromkeys(("index", "idx", "row"), "index"),
    "entity": "entity",
    **dict.fromkeys(("sentence", "translation"), "sentence"),
    **dict.fromkeys(("find entity", "found entity", "entity found", "find the entity"), "found"),
    "gender": "gender",
}
_GENDER_OF = {
    **dict.fromkeys(("m", "male", "masc", "masculine"), Gender.MASCULINE),
    **dict.fromkeys(("f", "female", "fem", "feminine"), Gender.FEMININE),
    **dict.fromkeys(("n", "neutral", "neut", "neuter"), Gender.NEUTRAL),
}
_FOUND_OF = {"y": True, "yes": True, "n": False, "no": False}
# What spreadsheet programs put in place of what was there.
_AS_TYPED = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " ", "…": "..."})


class NoAnswers(UserError):
    """A sheet that nobody has filled in yet."""


@dataclass(frozen=True, slots=True)
class SampleRow:
    """What one row of a sheet shows."""

    index: int
    entity: str
    sentence: str
    source: str


@dataclass(frozen=True, slots=True)
class SheetRow:
    """What a person wrote in one row. Neither `found` nor `gender` is set where the cells were left empty."""

    line: int
    index: int | None
    entity: str
    sentence: str
    found: bool | None = None
    gender: Gender | None = None
    problem: str = ""
    """Why the answer is not one: two at once, or not understood."""

    @property
    def is_blank(self) -> bool:
        return self.gender is None and self.found is not False and not self.problem


@dataclass(frozen=True, slots=True)
class Sheet:
    """A person's sheet, as it was filled in."""

    path: str
    rows: tuple[SheetRow, ...]


# -- writing ---------------------------------------------------------------------------------------------------------


def write_sheet(path: Path | str, rows: Iterable[SampleRow], *, with_source: bool = False) -> None:
    """A sheet to be filled in: CSV with a byte order mark, which spreadsheet programs need to see that it is UTF-8."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow((*COLUMNS, SOURCE_COLUMN) if with_source else COLUMNS)
    for row in rows:
        cells = (row.index, inert(row.entity), inert(row.sentence), "", "", "")
        writer.writerow((*cells, inert(row.source)) if with_source else cells)
    write_text(path, "\ufeff" + buffer.getvalue())


def inert(cell: str) -> str:
    """With an apostrophe before what a spreadsheet program would run as a formula."""
    cell = cell.replace("\0", "")  # a sheet that has one is no text file
    shown = "".join(filter(str.isprintable, cell)).lstrip()  # what nobody sees in front of it does not count
    return f"'{cell}" if shown.startswith(FORMULA_STARTS) else cell


# -- reading ---------------------------------------------------------------------------------------------------------


def read_sheet(path: Path | str) -> Sheet:
    """A filled sheet: ours or a published one; comma, semicolon or tab; with or without index and empty columns."""
    if Path(path).suffix.lower() in SPREADSHEETS:
        raise BadFile(path, "is a spreadsheet; save it as CSV (UTF-8)")
    lines = iter(best_table(path, read_text(path)))
    header_line, header = next(lines, (1, []))
    columns = _columns(path, header_line, header)
    rows = [_read_row(path, line, cells, columns, len(header)) for line, cells in lines]
    if all(row.is_blank for row in rows):
        raise NoAnswers(f"no answers in {path} yet; write M, F or N into its column {COLUMNS[4]!r}")
    return Sheet(str(path), tuple(rows))


def has_answers(path: Path | str) -> bool:
    """Whether a file may hold somebody's work: every sheet with answers, and every file that cannot be read as one."""
    try:
        read_sheet(path)
    except NoAnswers:
        return False
    except BadFile:
        pass
    return True


def best_table(path: Path | str, text: str) -> list[tuple[int, list[str]]]:
    """The lines that hold anything, cut at whichever separator makes most sense of the header."""
    told = re.match(r"sep=(.)\r?\n", text)  # a line that Excel writes and reads
    if told:
        return [(line + 1, cells) for line, cells in _table(path, text[told.end() :], told[1])]

    def n_known(delimiter: str) -> int:
        header = next((line for line in text.splitlines() if line.strip(f"{delimiter} ")), "")
        return sum(header_name(cell) in _COLUMN_OF for cell in header.split(delimiter))

    return list(_table(path, text, max(_DELIMITERS, key=n_known)))


def _table(path: Path | str, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            while cells and not cells[-1].strip():
                cells.pop()
            if cells:
                yield line, cells
            line = reader.line_num + 1  # where the next record begins
    except csv.Error as problem:
        raise BadFile(path, f"is not CSV ({problem}); save it again from a spreadsheet program", line=line) from None


def header_name(cell: str) -> str:
    """`Gender? [M/F/N]`, `gender?` and `GENDER` are one name."""
    return " ".join(re.sub(r'\[.*?\]|\(.*?\)|[?:"\ufeff]', " ", cell).split()).casefold()


def _columns(path: Path | str, line: int, header: Sequence[str]) -> dict[str, int]:
    if not header:
        raise BadFile(path, f"is empty; a sheet begins with the columns {', '.join(COLUMNS)}")
    columns: dict[str, int] = {}
    for place, cell in enumerate(header):
        column = _COLUMN_OF.get(header_name(cell))
        if column in columns:
            raise BadFile(path, f"has two columns {cell.strip()!r}; leave one", line=line)
        if column:
            columns[column] = place
    if "gender" not in columns:
        raise BadFile(path, f"has no column {COLUMNS[4]!r}; a sheet begins with {', '.join(COLUMNS)}", line=line)
    if not columns.keys() & {"index", "sentence"}:
        raise BadFile(path, "has neither a column 'Index' nor 'Sentence' to tell which item a row is", line=line)
    return columns


def _read_row(path: Path | str, line: int, cells: Sequence[str], columns: Mapping[str, int], width: int) -> SheetRow:
    if len(cells) > width:
        # Its answers may have moved into other columns.
        raise BadFile(
            path,
            f"has {len(cells)} cells under {width} columns; put sentences that contain the separator in quotes",
            line=line,
        )
    values = {name: cells[place].strip() if place < len(cells) else "" for name, place in columns.items()}
    index = values.get("index", "")
    if index and not re.fullmatch(r"[0-9]{1,15}(\.0+)?", index):
        raise BadFile(path, f"has the index {index!r:.40}, which is not a whole number", line=line)
    if not index and not values.get("sentence"):
        if not values["gender"] and not values.get("found"):
            return SheetRow(line, None, "", "")  # somebody's remark under the table
        raise BadFile(path, "has an answer but neither index nor sentence to tell which item it is", line=line)
    found, gender, problem = _read_answer(values.get("found", ""), values["gender"])
    number = int(index.partition(".")[0]) if index else None
    return SheetRow(line, number, values.get("entity", ""), values.get("sentence", ""), found, gender, problem)


def _read_answer(found: str, gender: str) -> tuple[bool | None, Gender | None, str]:
    """Whether the entity was found, its gender, and what is wrong with the answer."""
    if found and found.casefold() not in _FOUND_OF:
        return None, None, f"{found!r:.40} under {COLUMNS[3]!r} is neither Y nor N; not counted"
    is_found = _FOUND_OF.get(found.casefold())
    if is_found is False or not gender:
        return is_found, None, ""
    given = gender.casefold().strip(" .")
    if given in _GENDER_OF:
        return is_found, _GENDER_OF[given], ""
    named = [_GENDER_OF.get(part) for part in re.split(r"[^\w]+|\bor\b|\band\b", given) if part]
    if len(named) > 1 and all(named):
        return is_found, None, f"{gender!r:.40} is more than one answer; not counted"
    return is_found, None, f"{gender!r:.40} is not M, F or N; not counted"


def comparable(text: str) -> str:
    """A sentence without what a spreadsheet program, or our guard against formulas, does to it."""
    plain = " ".join(unicodedata.normalize("NFC", text).translate(_AS_TYPED).split())
    plain = "".join(filter(str.isprintable, plain)).strip()
    inner = plain.removeprefix("'").lstrip()
    return inner if inner.startswith(FORMULA_STARTS) else plain
