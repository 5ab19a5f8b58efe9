"""Annotation sheets: written blank, read when filled in. `forms.toml` has the two kinds."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from gendermark.errors import BadFile, UserError
from gendermark.io.tables import read_tables
from gendermark.io.textfiles import FORMULA_STARTS, write_text

ANYBODY = "the person whom the sentence is about"
"""Value of the column `Entity` if the benchmark names nobody."""
SOURCE_COLUMN = "Source"
# Undo the typographic replacements of spreadsheet programs.
_AS_TYPED = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " ", "…": "..."})


class NoAnswers(UserError):
    """A sheet without any answer."""


@dataclass(frozen=True)
class Choice:
    """One possible answer: key and label on the page, and the values it writes into the answer columns."""

    key: str
    label: str
    cells: Sequence[str]
    spellings: Sequence[str] = ()


@dataclass(frozen=True)
class Form:
    """One kind of question and its sheet; `forms.toml` documents the fields."""

    columns: tuple[str, ...]
    question: str
    hint: str
    text: int
    shown: Mapping[str, int]
    identified_by: Sequence[str]
    names: Mapping[str, Sequence[str]] = field(repr=False)
    choices: tuple[Choice, ...]
    about_anybody: Mapping[str, str] = field(default_factory=dict)

    @property
    def filled(self) -> range:
        return range(len(self.columns) - 1 - len(self.choices[0].cells), len(self.columns))

    @property
    def identifying(self) -> str:
        """Titles of the columns that identify a row's item."""
        return " or ".join(self.columns[{"number": 0, "text": self.text}[name]] for name in self.identified_by)

    @property
    def answers(self) -> str:
        """The allowed values of the answer column."""
        *others, last = [choice.cells[-1] for choice in self.choices if choice.cells[-1]]
        return f"{', '.join(others)} or {last}"

    def read(self, cells: Mapping[str, str]) -> tuple[str, str]:
        """The key of a row's choice, empty if there is none, and what is wrong with the answer."""
        found, given = cells.get("found", ""), cells["answer"]
        if found.casefold() in ("n", "no"):
            return "u", ""
        if found and found.casefold() not in ("y", "yes"):
            return "", f"{found!r:.40} under {self.columns[self.filled[0]]!r} is neither Y nor N; not counted"
        keys = {spelling: choice.key for choice in self.choices for spelling in choice.spellings}
        plain = given.casefold().strip(" .!")
        if not plain or plain in keys:
            return keys.get(plain, ""), ""
        named = [part in keys for part in re.split(r"[^\w]+|\bor\b|\band\b", plain) if part]
        problem = "more than one answer" if len(named) > 1 and all(named) else f"not {self.answers}"
        return "", f"{given!r:.40} is {problem}; not counted"

    def fill(self, row: Sequence[str], key: str, note: str) -> list[str]:
        (cells,) = [choice.cells for choice in self.choices if choice.key == key] if key else [()]
        start, end = self.filled[0], self.filled[-1]
        return [*row[:start], *(cells or row[start:end]), inert(note), *row[end + 1 :]]


def _form(name: str) -> Form:
    row = tomllib.loads((files(__package__) / "forms.toml").read_text(encoding="utf-8"))[name]
    choices = tuple(Choice(**choice) for choice in row.pop("choices"))
    return Form(tuple(row.pop("columns")), choices=choices, **row)


GENDERS, LINEUP = _form("genders"), _form("lineup")


# -- written -----------------------------------------------------------------------------------------------------------


def write_sheet(path: Path | str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write CSV with a byte order mark, which spreadsheet programs need to recognise UTF-8."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([columns, *rows])
    write_text(path, "\ufeff" + buffer.getvalue())


def inert(cell: str) -> str:
    """Prefix text that a spreadsheet program would run as a formula with an apostrophe."""
    cell = cell.replace("\0", "")  # a NUL would make the sheet a binary file
    shown = "".join(filter(str.isprintable, cell)).lstrip()  # invisible characters before a formula do not disarm it
    return f"'{cell}" if shown.startswith(FORMULA_STARTS) else cell


def refuse_to_overwrite(path: Path, form: Form) -> None:
    """Refuse to overwrite a sheet with answers, or a file that cannot be read as a sheet."""
    try:
        if not path.is_file() or not any(row.answer or row.problem for row in _read(path, form)):
            return
    except BadFile:
        pass
    raise UserError(f"{path} may contain answers; choose another name with -o")


# -- read --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """One row as the annotator filled it in."""

    line: int
    number: int | None
    entity: str
    text: str
    answer: str = ""
    """The key of a choice; empty without an answer."""
    problem: str = ""
    """Why the answer is unusable: two at once, or not understood."""

    @property
    def is_blank(self) -> bool:
        return not self.answer and not self.problem


def read_sheet(path: Path | str, form: Form) -> list[Row]:
    rows = _read(path, form)
    if all(row.is_blank for row in rows):
        raise NoAnswers(f"no answers in {path} yet; write {form.answers} into its column {form.columns[-2]!r}")
    return rows


def _read(path: Path | str, form: Form) -> list[Row]:
    begins = f"a sheet begins with {', '.join(form.columns)}"
    lines = _table(path)
    header_line, header = next(lines, (1, []))
    if not header:
        raise BadFile(path, f"is empty; {begins}")
    columns: dict[str, int] = {}
    known = {written: name for name, several in form.names.items() for written in several}
    for place, cell in enumerate(header):
        name = known.get(_bare_name(cell))
        if name in columns:
            raise BadFile(path, f"has two columns {cell.strip()!r}; leave one", line=header_line)
        if name:
            columns[name] = place
    for title, names in ((form.columns[-2], ("answer",)), (form.identifying, form.identified_by)):
        if columns.keys().isdisjoint(names):
            raise BadFile(path, f"has no column {title}; {begins}", line=header_line)
    rows = (_read_row(path, line, cells, columns, form) for line, cells in lines)
    return [row for row in rows if row]


def _read_row(path: Path | str, line: int, cells: Sequence[str], columns: Mapping[str, int], form: Form) -> Row | None:
    values = {name: cells[place].strip() for name, place in columns.items()}
    number = values.get("number", "")
    if number and not re.fullmatch(r"[0-9]{1,15}(\.0+)?", number):
        raise BadFile(path, f"has {number!r:.40} under {form.columns[0]!r}, which is not a whole number", line=line)
    if not any(values.get(name) for name in form.identified_by):
        if not values["answer"] and not values.get("found"):
            return None  # a remark below the table
        raise BadFile(path, f"has an answer but nothing under {form.identifying}", line=line)
    whole = int(number.partition(".")[0]) if number else None
    return Row(line, whole, values.get("entity", ""), values.get("text", ""), *form.read(values))


def _table(path: Path | str) -> Iterator[tuple[int, list[str]]]:
    """The header and the non-empty rows, padded to its width; without the line `sep=;` that Excel writes."""
    width = 0
    for line, row in read_tables(path)[0].rows:
        cells = list(row)
        while cells and not cells[-1].strip():
            cells.pop()
        if not cells or cells == ["sep="]:
            continue
        width = width or len(cells)
        if len(cells) > width:
            # The answers may have moved into other columns.
            what = f"has {len(cells)} cells under {width} columns; put sentences that contain the separator in quotes"
            raise BadFile(path, what, line=line)
        yield line or 0, [*cells, *[""] * (width - len(cells))]


def _bare_name(cell: str) -> str:
    """`Gender? [M/F/N]`, `gender?` and `GENDER` are one name."""
    return " ".join(re.sub(r'\[.*?\]|\(.*?\)|[?:"\ufeff]', " ", cell).split()).casefold()


def comparable(text: str) -> str:
    """A sentence without the changes by spreadsheet programs or our guard against formulas."""
    plain = " ".join(unicodedata.normalize("NFC", text).translate(_AS_TYPED).split())
    plain = "".join(filter(str.isprintable, plain)).strip()
    inner = plain.removeprefix("'").lstrip()
    return inner if inner.startswith(FORMULA_STARTS) else plain


# -- blank, for a page -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BlankSheet:
    path: Path
    form: Form
    columns: tuple[str, ...]
    """The columns of the form, and the source if the sheet has it."""
    cells: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def digest(self) -> str:
        """Digest of the shown content: answers belong to one sheet."""
        shown = [
            [cell for column, cell in enumerate(row) if column not in self.form.filled]
            for row in (self.columns, *self.cells)
        ]
        return hashlib.sha256(json.dumps(shown, ensure_ascii=False).encode()).hexdigest()[:32]

    def items(self) -> list[dict[str, str]]:
        shown = {**self.form.shown, **({"source": 6} if len(self.columns) > len(self.form.columns) else {})}
        items = []
        for row in self.cells:
            text = row[self.form.text]
            item = {"text": _as_written(text), "direction": direction_of(text)}
            item |= {name: _as_written(row[column]) for name, column in shown.items()}
            if "entity" in item and item["entity"].strip() in ("", ANYBODY):
                item |= {"entity": "", **self.form.about_anybody}
            items.append(item)
        return items

    def rows(self) -> list[Row]:
        return _read(self.path, self.form)


def read_blank(path: Path) -> BlankSheet:
    lines = _table(path)
    header = tuple(cell.strip() for cell in next(lines, (1, []))[1])
    known = {GENDERS.columns: GENDERS, (*GENDERS.columns, SOURCE_COLUMN): GENDERS, LINEUP.columns: LINEUP}
    form = known.get(header)
    if form is None:
        raise BadFile(path, "is not a sheet that `gendermark annotate export` wrote")
    rows = []
    for line, cells in lines:
        if any(cells[column].strip() for column in form.filled):
            raise BadFile(path, "is filled in already; give the blank sheet that was exported", line=line)
        rows.append(tuple(cells))
    if not rows:
        raise BadFile(path, "has no rows; export it again")
    return BlankSheet(path, form, header, tuple(rows))


def direction_of(text: str) -> str:
    """`rtl` if most letters belong to a right-to-left script, so that a Latin name does not matter."""
    kinds = [unicodedata.bidirectional(letter) for letter in text]
    return "rtl" if sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L") else "ltr"


def _as_written(cell: str) -> str:
    """Without the apostrophe that guards against formulas."""
    return cell[1:] if cell.startswith("'") and inert(cell[1:]) == cell else cell
