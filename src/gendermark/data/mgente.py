"""mGeNTE (Savoldi et al. 2025): English sentences with a gendered and a neutral translation, from a file of the user's.

The corpus is gated, so nothing of it is here: its users accept its terms and download the file of a language. Half of
the sentences tell the gender of the people in them (Set-G), half do not (Set-N).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from gendermark.errors import BadFile
from gendermark.io.textfiles import read_csv, read_jsonl, read_lines
from gendermark.records import Gender, Item

_GENDERS = {
    **dict.fromkeys(("m", "male", "masculine"), Gender.MASCULINE),
    **dict.fromkeys(("f", "female", "feminine"), Gender.FEMININE),
}
_ANNOTATED = re.compile(r"<([^<>]+)>")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns are called; upper and lower case, and - and _, are one."""

    id: str = "ID"
    set: str = "SET"
    source: str = "SRC"
    gendered: str = "REF-G"
    neutral: str = "REF-N"
    """Some files have several, numbered (REF-N1, REF-N2); all are read."""
    gender: str = "GENDER"
    """M or F in Set-G; not read in Set-N."""


_PUBLISHED = Columns()


def read_mgente(path: Path | str, columns: Columns = _PUBLISHED) -> list[Item]:
    """The rows of a TSV, CSV or JSON-lines file as items.

    The expected gender is that of the people in Set-G, and neutral in Set-N. Tags: `set` (Set-G, Set-N), `source`
    (unambiguous, ambiguous), `reference_gendered`, `reference_neutral` and, if there are more neutral references,
    `reference_neutral_2` and so on; where words of the gendered reference are annotated, in angle brackets,
    `gendered_terms`. No row is grouped with another.
    """
    items: list[Item] = []
    line_of: dict[str, int] = {}
    for line, row in _rows(path, columns):
        item = _item(path, line, row, len(items))
        if item.item_id in line_of:
            raise BadFile(
                path, f"has the id {row['id']!r} of line {line_of[item.item_id]}; each row needs its own", line=line
            )
        line_of[item.item_id] = line
        items.append(item)
    if not items:
        raise BadFile(path, "has no rows; expected a header and a row for each sentence, or a JSON object for each")
    return items


def _item(path: Path | str, line: int, row: Mapping[str, str], index: int) -> Item:
    for name, what in (("id", "an id"), ("source", "a source"), ("gendered", "a gendered reference")):
        if not row[name]:
            raise BadFile(path, f"has a row without {what}", line=line)
    neutral = [text for name, text in row.items() if name.startswith("neutral") and text]
    if not neutral:
        raise BadFile(path, "has a row without a neutral reference", line=line)
    letter = _key(row["set"]).removeprefix("set").strip("-")
    if letter not in ("g", "n"):
        raise BadFile(path, f"is of the set {row['set']!r}; available: Set-G, Set-N", line=line)
    gender = Gender.NEUTRAL if letter == "n" else _GENDERS.get(row["gender"].lower())
    if gender is None:
        raise BadFile(path, f"has the gender {row['gender']!r}, but a row of Set-G has M or F", line=line)
    tags = {
        "set": f"Set-{letter.upper()}",
        "source": "ambiguous" if letter == "n" else "unambiguous",
        "reference_gendered": _ANNOTATED.sub(r"\1", row["gendered"]),
        **({"gendered_terms": " ".join(terms)} if (terms := _ANNOTATED.findall(row["gendered"])) else {}),
        "reference_neutral": neutral[0],
        **{f"reference_neutral_{number}": text for number, text in enumerate(neutral[1:], start=2)},
    }
    item_id = f"mgente-{row['id']}"
    return Item(item_id, index, row["id"], row["source"], gender, tags, contrast=item_id)


def _rows(path: Path | str, columns: Columns) -> Iterator[tuple[int, dict[str, str]]]:
    """Line numbers, and cells by the names of the fields of `Columns` (neutral, neutral1, neutral2 ...)."""
    if Path(path).suffix.lower() in (".jsonl", ".json"):
        for line, found in read_jsonl(path):
            names = _fields(path, line, list(found), columns)
            yield line, {name: _text(path, line, found[column], column) for column, name in names.items()}
        return
    all_cells = read_csv(path) if Path(path).suffix.lower() == ".csv" else _tsv_cells(path)
    cells = ((line, row) for line, row in all_cells if any(cell.strip() for cell in row))
    first, header = next(cells, (1, []))
    if not header:
        raise BadFile(path, "is empty; expected a header row and a row for each sentence")
    names = _fields(path, first, header, columns)
    for line, row in cells:
        if len(row) != len(header):
            raise BadFile(path, f"has {len(row)} cells, but the header has {len(header)}", line=line)
        by_column = dict(zip(header, row, strict=True))
        yield line, {name: by_column[column].strip() for column, name in names.items()}


def _fields(path: Path | str, line: int, header: list[str], columns: Columns) -> dict[str, str]:
    """Column of the file -> field of `Columns`."""
    wanted = {_key(name): field.name for name, field in zip(astuple(columns), fields(columns), strict=True)}
    neutral = re.compile(re.escape(_key(columns.neutral)) + r"-?(\d*)")
    found: dict[str, str] = {}
    for column in header:
        name = wanted.get(_key(column), "")
        if not name and (numbered := neutral.fullmatch(_key(column))):
            name = f"neutral{numbered[1]}"
        if name in found.values():
            raise BadFile(path, f"has two columns for {column.strip()!r}; give each its own name", line=line)
        if name:
            found[column] = name
    for name, column in zip((field.name for field in fields(columns)), astuple(columns), strict=True):
        if not any(other.rstrip("0123456789") == name for other in found.values()):
            shown = ", ".join(part.strip() for part in header) or "none"
            raise BadFile(path, f"has no column {column!r}, as mGeNTE has; available: {shown}", line=line)
    return found


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip().lower())


def _text(path: Path | str, line: int, value: object, column: str) -> str:
    if value is None:  # a missing gender, for example
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadFile(path, f"has no text under {column!r}", line=line)
    return str(value).strip()


def _tsv_cells(path: Path | str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            yield number, [_unquoted(cell) for cell in line.split("\t")]


def _unquoted(cell: str) -> str:
    """Without the quotation marks that some programs put around cells that have any, doubling those inside."""
    found = _QUOTED.fullmatch(cell)
    return found[1].replace('""', '"') if found and '""' in found[1] else cell
