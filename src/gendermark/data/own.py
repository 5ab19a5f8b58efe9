"""Sentences of the user's own: `--data file:FILE`, one format for all benchmarks.

A table with a header (`.csv`, `.tsv`, `.xlsx`) or JSON lines (`.jsonl`). Which columns a benchmark needs, it says
itself; others are passed over. docs/own-data.md describes all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gendermark.errors import BadFile
from gendermark.io.disk_list import stored
from gendermark.io.textfiles import content_hash, each_line, read_csv, read_jsonl, read_xlsx
from gendermark.records import Gender

_GENDERS = {
    **dict.fromkeys(("masculine", "male", "m"), Gender.MASCULINE),
    **dict.fromkeys(("feminine", "female", "f"), Gender.FEMININE),
    **dict.fromkeys(("neutral", "n"), Gender.NEUTRAL),
}


@dataclass(frozen=True)
class OwnRow:
    """One sentence, and where it stands in the file."""

    path: str
    line: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells.get(column, "")

    def problem(self, what: str) -> BadFile:
        return BadFile(self.path, what, line=self.line)

    def gender(self, allowed: Sequence[Gender] = tuple(Gender)) -> Gender:
        found = _GENDERS.get(self["gender"].casefold())
        if found is None or found not in allowed:
            known = ", ".join(gender.value for gender in allowed)
            raise self.problem(f"has the gender {self['gender']!r}; available: {known}")
        return found

    def one_of(self, column: str, known: Sequence[str], default: str) -> str:
        value = self[column].casefold() or default
        if value not in known:
            raise self.problem(f"has the {column} {self[column]!r}; available: {', '.join(known)}")
        return value


def file_of(data: str) -> str:
    """The file of `file:FILE`; empty for data of another kind."""
    kind, _, path = data.partition(":")
    return path if kind == "file" else ""


def has_header(path: str) -> bool:
    """Whether a file is in this format, and not in that of a benchmark's own files."""
    return Path(path).suffix.lower() in (".csv", ".jsonl", ".xlsx") or "source" in _names(next(each_line(path), ""))


def _names(line: str) -> list[str]:
    return [name.strip().casefold() for name in line.split("\t")]


def read_own(path: str, needed: Sequence[str]) -> tuple[Sequence[OwnRow], str]:
    """The rows of a file, and what names it in a signature."""
    rows = stored(_checked(path, needed))
    if not rows:
        raise BadFile(path, f"has no sentence; give a header and a row for each ({', '.join(needed)})")
    return rows, f"file-{content_hash(path)[:8]}"


def _checked(path: str, needed: Sequence[str]) -> Iterator[OwnRow]:
    for row in _rows(path, needed):
        for column in needed:
            if not row[column]:
                raise row.problem(f"has no {column}")
        yield row


def _rows(path: str, needed: Sequence[str]) -> Iterator[OwnRow]:
    for line, found in _tables(path):
        cells = {str(name).strip().casefold(): _text(path, line, value) for name, value in found.items()}
        missing = [column for column in needed if column not in cells]
        if missing:
            raise BadFile(path, f"has no column {' or '.join(missing)}; it has {', '.join(cells) or 'none'}", line=line)
        yield OwnRow(path, line, cells)


def _text(path: str, line: int, value: object) -> str:
    if not isinstance(value, str | None):
        raise BadFile(path, f"has {value!r} where a text is expected", line=line)
    return " ".join((value or "").split())


def _tables(path: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    ending = Path(path).suffix.lower()
    if ending == ".jsonl":
        yield from read_jsonl(path)
        return
    read = {".csv": read_csv, ".xlsx": read_xlsx}.get(ending)
    lines = read(path) if read else ((n, line.split("\t")) for n, line in enumerate(each_line(path), 1))
    header: list[str] = []
    for line, cells in lines:
        if not any(cell.strip() for cell in cells):
            continue
        if not header:
            header = cells
        elif len(cells) != len(header):
            raise BadFile(path, f"has {len(cells)} cells; its header has {len(header)}", line=line)
        else:
            yield line, dict(zip(header, cells, strict=True))
