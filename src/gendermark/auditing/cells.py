"""What was found in a file, and what it is called: the records that recognition hands to scoring."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gendermark.auditing.known import KnownSet
from gendermark.io.tables import SOURCE_COLUMNS, SYSTEM_COLUMN, TRANSLATION_COLUMNS, Contents, shortened
from gendermark.linguistics.codes import LANGUAGES, NAMES
from gendermark.selection import Selection, options_of, own_options

_GENERIC = frozenset(
    (
        *SOURCE_COLUMNS,
        *TRANSLATION_COLUMNS,
        SYSTEM_COLUMN,
        "out",
        "translations",
        "translated",
        "text",
        "sheet",
        "column",
    )
)
"""Words that name no system."""
_CODES = {
    spelled.casefold(): code
    for code, facts in LANGUAGES.items()
    for spelled in (code, facts.name, facts.three_letters, facts.older_code)
    if spelled
}
_REGION = re.compile(r"\b([a-z]{2,3})[-_](?:[A-Z]{2}|[A-Z][a-z]{3})\b")
"""`pt-BR`, `zh-Hans`."""
MOST_NAMED = 10
"""Sentences or lines that are named; all are counted."""


@dataclass(frozen=True)
class Place:
    """Where in a file a result stands."""

    path: Path
    sheet: str = ""
    source: str = ""
    """What the column of sources is called; empty where there is none, and translations stand in order."""
    translation: str = ""
    system: str = ""
    """The rows of one system, where a column says whose each is."""

    @property
    def shown(self) -> str:
        said = [f'sheet "{self.sheet}"'] if self.sheet else []
        said += [f'rows of "{self.system}"'] if self.system else []
        said.append(f"column {self.translation}" if self.source else "translations in the order of the benchmark")
        return ", ".join(said)


@dataclass(frozen=True)
class Cell:
    """Translations of one benchmark in one direction by one system, before they are judged."""

    place: Place
    known: KnownSet
    contents: Contents
    n_present: int
    """Sentences that have a row."""
    missing: Sequence[int] = ()
    """The places of items that have none."""
    doubled: Sequence[int | None] = ()
    """Lines of rows that repeat a sentence, and are left out."""
    remarks: Sequence[str] = ()

    @property
    def selection(self) -> Selection:
        return self.known.selection

    @property
    def sentence(self) -> str:
        """What it was recognised as."""
        selection, n = self.selection, len(self.known.item_set.items)
        direction = f"{NAMES.get(selection.source_language)} to {NAMES.get(selection.target_language)}"
        return (
            f"{self.known.benchmark.title}, {data_of(selection)}, {direction}, "
            f"{self.n_present:,} of {n:,} sentences; {self.place.shown}"
        )

    @property
    def oddities(self) -> list[str]:
        """What is to be known of its rows, one sentence each; of sentences and lines the first ten."""
        found, n = list(self.remarks), len(self.known.item_set.items)
        if self.missing:
            one, several = (
                f"of {n:,} sentences {words}" for words in ("is missing and counts", "are missing and count")
            )
            named = "; ".join(shortened(source) for source in self.missing_sources[:MOST_NAMED])
            more = " ..." if len(self.missing) > MOST_NAMED else ""
            found.append(f"{counted(len(self.missing), one, several)} as not translated: {named}{more}")
        if self.doubled:
            named = ", ".join(str(line) for line in self.doubled[:MOST_NAMED])
            more = " ..." if len(self.doubled) > MOST_NAMED else ""
            what = counted(len(self.doubled), "row repeats", "rows repeat")
            found.append(f"{what} a sentence; one of each is used (left out: line {named}{more})")
        return found

    @property
    def missing_sources(self) -> list[str]:
        items = self.known.item_set.items
        return [items[place].source for place in self.missing]


def data_of(selection: Selection) -> str:
    """The data, and every option that chooses sentences, where it is not the usual one."""
    revision = selection.revision if selection.revision != "released" else ""
    said = [f"official data {revision}".strip() if selection.data == "official" else "core data (bundled)"]
    for name, option in own_options(type(selection)).items():
        value = getattr(selection, name)
        if "export" in option.verbs and option.choices and value not in ("", option.choices[0]):
            said.append(f"{name} {value}")
    if selection.parts:
        noun = options_of(type(selection))["parts"].noun
        said.append(f"{noun} {' and '.join(selection.parts)} only")
    return ", ".join(said)


def counted(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", _REGION.sub(r"\1", name))


def languages_in(name: str) -> list[str]:
    """The languages that a name may speak of, the last first: `en-es` is a translation into Spanish."""
    return [_CODES[word.casefold()] for word in reversed(_words(name)) if word.casefold() in _CODES]


def system_in(name: str, direction: Sequence[str]) -> str:
    """What a name says beside the languages of a direction and words like `translation`; often nothing."""
    words = _words(name)
    own = [word for word in words if _CODES.get(word.casefold()) not in direction and not _is_generic(word)]
    if all(map(str.isdigit, own)):
        return ""
    return name.strip() if own == words else " ".join(own)


def _is_generic(word: str) -> bool:
    return word.casefold().rstrip("0123456789") in _GENERIC
