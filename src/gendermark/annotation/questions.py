"""The rows of a sheet as questions that a page can ask, and the form of their answers."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gendermark.annotation.lineup import LINEUP_COLUMNS
from gendermark.annotation.sheets import ANYBODY, COLUMNS, SOURCE_COLUMN, SPREADSHEETS, SheetRow, best_table, inert
from gendermark.errors import BadFile
from gendermark.io.textfiles import read_text


@dataclass(frozen=True)
class Choice:
    """One possible answer: the key that gives it, what the page calls it, and what it writes into which columns."""

    key: str
    label: str
    cells: Mapping[int, str]


@dataclass(frozen=True)
class Form:
    """A kind of sheet."""

    columns: tuple[str, ...]
    question: str
    hint: str
    text: int
    """The column that has the translation."""
    shown: Mapping[str, int]
    """What else is shown, and its column."""
    choices: tuple[Choice, ...]
    note: int
    about_anybody: tuple[str, str] = ("", "")
    """Question and hint for a row that names nobody."""

    @property
    def filled(self) -> set[int]:
        """The columns that people fill in."""
        return {self.note, *(column for choice in self.choices for column in choice.cells)}


GENDERS = Form(
    columns=COLUMNS,
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
    about_anybody=(
        "Which gender do the words for the person have?",
        f"Answer for every word that shows the gender of {ANYBODY}, wherever it stands.",
    ),
)
WITH_SOURCE = Form(
    (*COLUMNS, SOURCE_COLUMN),
    GENDERS.question,
    GENDERS.hint,
    GENDERS.text,
    {"entity": 1, "source": 6},
    GENDERS.choices,
    GENDERS.note,
    GENDERS.about_anybody,
)
LINEUP = Form(
    columns=LINEUP_COLUMNS,
    question="Is the person's gender right in this translation?",
    hint="Judge the gender only, not the quality. Answer no where there is no translation.",
    text=3,
    shown={"context": 1, "source": 2},
    choices=(Choice("y", "yes, correct", {4: "Y"}), Choice("n", "no", {4: "N"})),
    note=5,
)


@dataclass(frozen=True)
class Questions:
    """A sheet that nobody has filled in."""

    path: Path
    form: Form
    rows: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def digest(self) -> str:
        """Of what it shows: answers belong to one sheet."""
        shown = [
            [cell for column, cell in enumerate(row) if column not in self.form.filled]
            for row in (self.form.columns, *self.rows)
        ]
        return hashlib.sha256(json.dumps(shown, ensure_ascii=False).encode()).hexdigest()[:32]

    def items(self) -> list[dict[str, str]]:
        return [self._item(row) for row in self.rows]

    def _item(self, row: Sequence[str]) -> dict[str, str]:
        item = {
            "text": _as_written(row[self.form.text]),
            "direction": direction_of(row[self.form.text]),
            **{name: _as_written(row[column]) for name, column in self.form.shown.items()},
        }
        if "entity" in item and item["entity"].strip() in ("", ANYBODY):
            question, hint = self.form.about_anybody
            item |= {"entity": "", "question": question, "hint": hint}
        return item

    def sheet_rows(self) -> list[SheetRow]:
        """As `agree` would read them: to see of which run they are."""
        return [
            SheetRow(line, int(row[0]) if row[0].strip().isdecimal() else None, row[1], row[self.form.text])
            for line, row in enumerate(self.rows, start=2)
        ]


def read_questions(path: Path) -> Questions:
    """A blank sheet, as `export` and `export-systems` write it."""
    if path.suffix.lower() in SPREADSHEETS:
        raise BadFile(path, "is a spreadsheet; save it as CSV (UTF-8)")
    lines = iter(best_table(path, read_text(path)))
    header = tuple(cell.strip() for cell in next(lines, (1, []))[1])
    form = next((form for form in (GENDERS, WITH_SOURCE, LINEUP) if header == form.columns), None)
    if form is None:
        raise BadFile(path, "is not a sheet that `gendermark annotate export` or `export-systems` wrote")
    rows = []
    for line, cells in lines:
        if len(cells) > len(header):
            raise BadFile(path, f"has {len(cells)} cells under {len(header)} columns; export it again", line=line)
        row = (*cells, *[""] * (len(header) - len(cells)))
        if any(row[column].strip() for column in form.filled):
            raise BadFile(path, "is filled in already; give the blank sheet that was exported", line=line)
        rows.append(row)
    if not rows:
        raise BadFile(path, "has no rows; export it again")
    return Questions(path, form, tuple(rows))


def direction_of(text: str) -> str:
    """`rtl` where most letters are of a script that is written from right to left; a name in Latin does not matter."""
    kinds = [unicodedata.bidirectional(letter) for letter in text]
    return "rtl" if sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L") else "ltr"


def _as_written(cell: str) -> str:
    """Without the apostrophe that keeps spreadsheet programs from running it."""
    return cell[1:] if cell.startswith("'") and inert(cell[1:]) == cell else cell
