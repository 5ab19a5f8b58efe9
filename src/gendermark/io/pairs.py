"""Source texts and their translations in files of any layout, for texts that belong to no benchmark.

Finds which column is English and which are translations; `auditing/` recognises benchmark sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from gendermark import registry
from gendermark.errors import BadFile
from gendermark.io.tables import SOURCE_COLUMNS, TRANSLATION_COLUMNS, Table, read_saved_tables
from gendermark.reading import profiles
from gendermark.reading.codes import languages_in

_SOURCE_NAMES = (*SOURCE_COLUMNS, "msgid", "original", "source text")
_GROUP_NAMES = ("group", "file", "document")
"""Texts of one file or document vary together."""
_SOURCE_LANGUAGE = "en"


class Column(NamedTuple):
    """One column of translations."""

    name: str
    language: str
    """Empty if neither its name nor its words show it."""
    texts: Sequence[str]


class Pairs(NamedTuple):
    """The source texts of a file, by row, and all columns of translations."""

    sheet: str
    source_column: str
    lines: Sequence[int | None]
    sources: Sequence[str]
    groups: Sequence[str]
    """Empty if no column gives the file or group of a text."""
    columns: Sequence[Column]


def read_pairs(path: Path | str) -> list[Pairs]:
    found = [pairs for table in read_saved_tables(path)[0] if (pairs := _pairs(Path(path), table)) is not None]
    if not found:
        raise BadFile(
            path,
            "has no column of English texts; name it 'source', and name each column of translations by its language",
        )
    return found


def _pairs(path: Path, table: Table) -> Pairs | None:
    names, rows = _header(table)
    width = max((len(cells) for _, cells in rows), default=0)
    names = [*names, *[f"column {place + 1}" for place in range(len(names), width)]]
    filled = [(line, [*map(str.strip, cells), *[""] * (width - len(cells))]) for line, cells in rows]
    texts = [[cells[place] for _, cells in filled] for place in range(width)]
    # The column named source, else the one named English, else the first one in English.
    named = [place for place in range(width) if _plain(names[place]) in _SOURCE_NAMES]
    english = [place for place in range(width) if languages_in(names[place])[-1:] == [_SOURCE_LANGUAGE]]
    likely = (place for place in range(width) if profiles.likely(texts[place]) == _SOURCE_LANGUAGE)
    source = next(chain(named, english, likely), None)
    if source is None:
        return None
    kept = [place for place, cell in enumerate(texts[source]) if any(map(str.isalpha, cell))]
    if not kept:
        return None
    texts = [[own[row] for row in kept] for own in texts]
    n_words = sum(len(text.split()) for text in texts[source])
    group = next((place for place, name in enumerate(names[:width]) if _plain(name) in _GROUP_NAMES), None)
    columns = []
    for name, own in zip(names, texts, strict=False):
        is_other = own is texts[source] or (group is not None and own is texts[group])
        if not is_other and (language := _language(path, name, own, n_words)) is not None:
            columns.append(Column(name, language, own))
    return Pairs(
        table.name,
        names[source],
        [filled[row][0] for row in kept],
        [" ".join(text.split()) for text in texts[source]],
        texts[group] if group is not None else [""] * len(kept),
        columns,
    )


def _header(table: Table) -> tuple[list[str], Sequence[tuple[int | None, Sequence[str]]]]:
    """Column names and the rows below; a first row with a known name in it is a header."""
    if table.header is not None:
        return list(table.header), table.rows
    if not table.rows:
        return [], []
    first = [cell.strip() for cell in table.rows[0][1]]
    known = {*_SOURCE_NAMES, *TRANSLATION_COLUMNS, *_GROUP_NAMES}
    if any(_plain(cell) in known or (len(cell.split()) <= 2 and languages_in(cell)) for cell in first):
        return first, table.rows[1:]
    return [], table.rows


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").split()).casefold()


def _language(path: Path, name: str, texts: Sequence[str], n_words: int) -> str | None:
    """The language of a column of translations, empty if unknown; None for a column of something else.

    `n_words` is the length of the sources: notes and keys are far shorter.
    """
    # A column "id" is far more often numbers than Indonesian: only readable languages count.
    named = [code for code in languages_in(name) if code in registry.names("language")]
    if named and len(name.split()) <= 3:
        return named[0]
    likely = profiles.likely(texts) if sum(len(text.split()) for text in texts) > n_words / 3 else ""
    if likely and likely != _SOURCE_LANGUAGE:
        return likely
    if _plain(name) not in TRANSLATION_COLUMNS:
        return None
    in_path = [code for code in languages_in(path.stem) if code != _SOURCE_LANGUAGE]
    return in_path[0] if in_path else ""
