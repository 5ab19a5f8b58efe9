"""Sheets that people fill in: one form for each kind of question, written blank, and read as people fill them in.

The columns of the first form are those of Stanovsky, Smith and Zettlemoyer (2019), whose sheets can be read too.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gendermark.errors import BadFile, UserError
from gendermark.io.tables import read_tables
from gendermark.io.textfiles import FORMULA_STARTS, write_text

ANYBODY = "the person whom the sentence is about"
"""Stands in the column `Entity` where a benchmark names nobody."""
SOURCE_COLUMN = "Source"
# What spreadsheet programs put in place of what was there.
_AS_TYPED = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " ", "…": "..."})


class NoAnswers(UserError):
    """A sheet that nobody has filled in yet."""


@dataclass(frozen=True)
class Choice:
    """One possible answer: its key on the page, its label there, and what it writes into which columns."""

    key: str
    label: str
    cells: Mapping[int, str]


@dataclass(frozen=True)
class Form:
    """One kind of question, and the sheet that asks it. Its first column numbers the rows."""

    columns: tuple[str, ...]
    question: str
    hint: str
    text: int
    """The column of the translation."""
    shown: Mapping[str, int]
    """What else is shown, and its column."""
    choices: tuple[Choice, ...]
    note: int
    read_answer: Callable[[Mapping[str, str]], tuple[str, str]] = field(repr=False)
    """From the cells of a row: the key of a choice, empty if there is none, and what is wrong with the answer."""
    names: Mapping[str, str] = field(repr=False)
    """Names of columns, in lower case and without brackets, and what they hold: number, entity, text, found, answer."""
    identified_by: tuple[str, ...]
    """What says which item a row is about; one of them is enough."""
    about_anybody: tuple[str, str] = ("", "")
    """Question and hint for a row that names nobody."""

    @property
    def filled(self) -> set[int]:
        """The columns that people fill in."""
        return {self.note, *(column for choice in self.choices for column in choice.cells)}

    @property
    def answer_column(self) -> str:
        return self.columns[self.note - 1]

    @property
    def identifying(self) -> str:
        """The titles of the columns that say which item a row is about."""
        return " or ".join(self.columns[{"number": 0, "text": self.text}[name]] for name in self.identified_by)


_GENDER_KEYS = {
    **dict.fromkeys(("m", "male", "masc", "masculine"), "m"),
    **dict.fromkeys(("f", "female", "fem", "feminine"), "f"),
    **dict.fromkeys(("n", "neutral", "neut", "neuter"), "n"),
}
_YES_OR_NO = {
    **dict.fromkeys(("y", "yes", "1", "1.0", "true"), "y"),
    **dict.fromkeys(("n", "no", "0", "0.0", "false"), "n"),
}


def _read_gender(cells: Mapping[str, str]) -> tuple[str, str]:
    found, gender = cells.get("found", ""), cells["answer"]
    if found.casefold() in ("n", "no"):
        return "u", ""
    if found and found.casefold() not in ("y", "yes"):
        return "", f"{found!r:.40} under {GENDERS.columns[3]!r} is neither Y nor N; not counted"
    given = gender.casefold().strip(" .")
    if not gender or given in _GENDER_KEYS:
        return _GENDER_KEYS.get(given, ""), ""
    named = [_GENDER_KEYS.get(part) for part in re.split(r"[^\w]+|\bor\b|\band\b", given) if part]
    if len(named) > 1 and all(named):
        return "", f"{gender!r:.40} is more than one answer; not counted"
    return "", f"{gender!r:.40} is not M, F or N; not counted"


def _read_yes_or_no(cells: Mapping[str, str]) -> tuple[str, str]:
    given = cells["answer"]
    key = _YES_OR_NO.get(given.casefold().strip(" .!"), "")
    return key, f"{given!r:.40} is neither Y nor N; not counted" if given and not key else ""


GENDERS = Form(
    columns=("Index", "Entity", "Sentence", "Find entity? [Y/N]", "Gender? [M/F/N]", "Comments"),
    question="Which gender does the translation give to:",
    hint="Answer for the word that names it, not for a pronoun elsewhere in the sentence.",
    text=2,
    shown={"entity": 1},
    choices=(
        Choice("m", "masculine", {3: "Y", 4: "M"}),
        Choice("f", "feminine", {3: "Y", 4: "F"}),
        Choice("n", "neutral, or left open", {3: "Y", 4: "N"}),
        Choice("u", "not in the translation", {3: "N", 4: ""}),
    ),
    note=5,
    read_answer=_read_gender,
    names={
        **dict.fromkeys(("index", "idx", "row"), "number"),
        "entity": "entity",
        **dict.fromkeys(("sentence", "translation"), "text"),
        **dict.fromkeys(("find entity", "found entity", "entity found", "find the entity"), "found"),
        "gender": "answer",
    },
    identified_by=("number", "text"),
    about_anybody=(
        "Which gender do the words for the person have?",
        f"Answer for every word that shows the gender of {ANYBODY}, wherever it stands.",
    ),
)
LINEUP = Form(
    columns=("Row", "Context", "Source", "Translation", "Correct gender? [Y/N]", "Comments"),
    question="Is the person's gender right in this translation?",
    hint="Judge the gender only, not the quality. Answer no where there is no translation.",
    text=3,
    shown={"context": 1, "source": 2},
    choices=(Choice("y", "yes, correct", {4: "Y"}), Choice("n", "no", {4: "N"})),
    note=5,
    read_answer=_read_yes_or_no,
    names={
        "row": "number",
        **dict.fromkeys(("translation", "sentence"), "text"),
        **dict.fromkeys(("correct gender", "gender correct", "correct"), "answer"),
    },
    identified_by=("number",),
)


# -- written -----------------------------------------------------------------------------------------------------------


def write_sheet(path: Path | str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write CSV with a byte order mark, which spreadsheet programs need to see that it is UTF-8."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([columns, *rows])
    write_text(path, "\ufeff" + buffer.getvalue())


def inert(cell: str) -> str:
    """With an apostrophe before what a spreadsheet program would run as a formula."""
    cell = cell.replace("\0", "")  # a sheet that has one is no text file
    shown = "".join(filter(str.isprintable, cell)).lstrip()  # invisible characters in front of it do not count
    return f"'{cell}" if shown.startswith(FORMULA_STARTS) else cell


def refuse_to_overwrite(path: Path, form: Form) -> None:
    """Refuse where a file may hold somebody's work: a sheet with answers, or a file that cannot be read as one."""
    try:
        if not path.is_file() or not any(row.answer or row.problem for row in _read(path, form)):
            return
    except BadFile:
        pass
    raise UserError(f"{path} may hold somebody's answers; choose another name with -o")


# -- read --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """What a person wrote in one row."""

    line: int
    number: int | None
    entity: str
    text: str
    answer: str = ""
    """The key of a choice; empty where there is no answer."""
    problem: str = ""
    """Why the answer is none: two at once, or not understood."""

    @property
    def is_blank(self) -> bool:
        return not self.answer and not self.problem


def read_sheet(path: Path | str, form: Form) -> list[Row]:
    """A filled sheet, ours or a published one: CSV of any separator, or Excel."""
    rows = _read(path, form)
    if all(row.is_blank for row in rows):
        answers = " or ".join(dict.fromkeys(choice.cells[form.note - 1] for choice in form.choices[:3]))
        raise NoAnswers(f"no answers in {path} yet; write {answers} into its column {form.answer_column!r}")
    return rows


def _read(path: Path | str, form: Form) -> list[Row]:
    begins = f"a sheet begins with {', '.join(form.columns)}"
    lines = _table(path)
    header_line, header = next(lines, (1, []))
    if not header:
        raise BadFile(path, f"is empty; {begins}")
    columns: dict[str, int] = {}
    for place, cell in enumerate(header):
        name = form.names.get(_bare_name(cell))
        if name in columns:
            raise BadFile(path, f"has two columns {cell.strip()!r}; leave one", line=header_line)
        if name:
            columns[name] = place
    needed = {form.answer_column: ("answer",), form.identifying: form.identified_by}
    for title, names in needed.items():
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
            return None  # a remark under the table
        raise BadFile(path, f"has an answer but nothing under {form.identifying}", line=line)
    whole = int(number.partition(".")[0]) if number else None
    return Row(line, whole, values.get("entity", ""), values.get("text", ""), *form.read_answer(values))


def _table(path: Path | str) -> Iterator[tuple[int, list[str]]]:
    """The header, and the rows that hold anything, as wide as it; without the line `sep=;` that Excel writes."""
    width = 0
    for line, row in read_tables(path)[0].rows:
        cells = list(row)
        while cells and not cells[-1].strip():
            cells.pop()
        if not cells or cells == ["sep="]:
            continue
        width = width or len(cells)
        if len(cells) > width:
            # Its answers may have moved into other columns.
            what = f"has {len(cells)} cells under {width} columns; put sentences that contain the separator in quotes"
            raise BadFile(path, what, line=line)
        yield line or 0, [*cells, *[""] * (width - len(cells))]


def _bare_name(cell: str) -> str:
    """`Gender? [M/F/N]`, `gender?` and `GENDER` are one name."""
    return " ".join(re.sub(r'\[.*?\]|\(.*?\)|[?:"\ufeff]', " ", cell).split()).casefold()


def comparable(text: str) -> str:
    """A sentence without what a spreadsheet program, or our guard against formulas, does to it."""
    plain = " ".join(unicodedata.normalize("NFC", text).translate(_AS_TYPED).split())
    plain = "".join(filter(str.isprintable, plain)).strip()
    inner = plain.removeprefix("'").lstrip()
    return inner if inner.startswith(FORMULA_STARTS) else plain


# -- blank, for a page -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BlankSheet:
    """A sheet that nobody has filled in."""

    path: Path
    form: Form
    columns: tuple[str, ...]
    """Those of the form, and the source if the sheet has it."""
    cells: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def digest(self) -> str:
        """Of what it shows: answers belong to one sheet."""
        shown = [
            [cell for column, cell in enumerate(row) if column not in self.form.filled]
            for row in (self.columns, *self.cells)
        ]
        return hashlib.sha256(json.dumps(shown, ensure_ascii=False).encode()).hexdigest()[:32]

    def items(self) -> list[dict[str, str]]:
        """What the page shows of each row."""
        shown = {**self.form.shown, **({"source": 6} if len(self.columns) > len(self.form.columns) else {})}
        items = []
        for row in self.cells:
            text = row[self.form.text]
            item = {"text": _as_written(text), "direction": direction_of(text)}
            item |= {name: _as_written(row[column]) for name, column in shown.items()}
            if "entity" in item and item["entity"].strip() in ("", ANYBODY):
                question, hint = self.form.about_anybody
                item |= {"entity": "", "question": question, "hint": hint}
            items.append(item)
        return items

    def rows(self) -> list[Row]:
        """As they are read when they are filled in: to see of which run or key they are."""
        return _read(self.path, self.form)


def read_blank(path: Path) -> BlankSheet:
    """Read a blank sheet, as `annotate export` writes it."""
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
    """`rtl` where most letters are of a script that is written from right to left; a name in Latin does not matter."""
    kinds = [unicodedata.bidirectional(letter) for letter in text]
    return "rtl" if sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L") else "ltr"


def _as_written(cell: str) -> str:
    """Without the apostrophe that keeps spreadsheet programs from running it."""
    return cell[1:] if cell.startswith("'") and inert(cell[1:]) == cell else cell
