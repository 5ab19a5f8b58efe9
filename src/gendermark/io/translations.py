"""A file of translations or samples, set beside the items of a benchmark: whose translation is whose."""

from __future__ import annotations

import hashlib
import logging
import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import BadFile, UnmatchedSources
from gendermark.io.disk_list import mapped, reordered, stored
from gendermark.io.encodings import repaired
from gendermark.io.soundness import Given, Line, check_genders
from gendermark.io.tables import (
    NO_SAMPLE,
    Choice,
    Contents,
    Row,
    Samples,
    Section,
    read_contents,
    read_sample_rows,
    shortened,
)
from gendermark.records import Item, Request

_MOST_NAMED = 10
"""Sentences without a translation that are named; all are counted."""
_HOW_TO_ALLOW = "--allow-missing (of a run: --system-option allow_missing=yes)"
_PLAIN_QUOTES = str.maketrans({**dict.fromkeys("‘’‚‛ʼ´`′", "'"), **dict.fromkeys("“”„‟«»″", '"')})

Content = TypeVar("Content")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Matched(Generic[Content]):
    """What each item has, in their order; and the translations as they stood in the file."""

    contents: Sequence[Content | None]
    lines: Sequence[Line]


@dataclass(frozen=True)
class _Wanted:
    """The items whose rows are looked for, and what stands for each in a file."""

    items: Sequence[Item]
    sources: Sequence[str]
    noun: str = "translation"
    allow_missing: bool = False


@dataclass(frozen=True)
class TranslationFile:
    """A file of translations. It is read only once, as it may be a pipe, however often it is set beside items."""

    path: Path
    choice: Choice
    known: Contents | None = None
    """What it holds, where somebody has read it already, and found out which column is what."""

    @cached_property
    def contents(self) -> Contents:
        return self.known or read_contents(self.path, self.choice)

    def texts(self, benchmark: Benchmark, item_set: ItemSet) -> Sequence[str | None]:
        """The translation of each item, in their order; None for one that may be missing. Refuses a broken file."""
        notes: list[str] = []
        texts = self.fitted(benchmark, item_set, notes)
        for note in notes:
            log.info(note)
        return texts

    def fitted(self, benchmark: Benchmark, item_set: ItemSet, notes: list[str]) -> Sequence[str | None]:
        """The same, for a caller who keeps what is worth knowing about it."""
        contents = self.contents
        if self.choice.fix_encoding:
            contents = _repaired(self.path, contents, item_set, notes)
        if not contents.sections:
            matched = self._in_order(contents, item_set)
        else:
            matched = self._by_source(contents, benchmark, item_set, notes)
        noun = "rows" if contents.sections else "lines"
        Given(self.path, benchmark, item_set.selection, matched.lines, noun).check(notes)
        check_genders(self.path, benchmark, item_set, matched.contents)
        return matched.contents

    def _by_source(
        self, contents: Contents, benchmark: Benchmark, item_set: ItemSet, notes: list[str]
    ) -> _Matched[str]:
        # What was translated may also be what `export` gives: the sentence with its context.
        own = mapped(_source, item_set.items)
        shown = mapped(_source, benchmark.requests(item_set))
        problems = []
        is_same = len(shown) != len(own) or all(one == other for one, other in zip(shown, own, strict=True))
        for sources in [own] if is_same else [shown, own]:
            sections = contents.sections
            if benchmark.files_have_more:
                sections = [_without_strangers(self.path, section, sources, notes) for section in sections]
            try:
                return self._chosen_section(sections, item_set, sources, notes)
            except UnmatchedSources as problem:
                problems.append(problem)
        # The one that got further is what the user meant; a sentence without a row shows after all rows are matched.
        raise max(problems, key=lambda problem: float("inf") if problem.line is None else problem.line)

    def _in_order(self, contents: Contents, item_set: ItemSet) -> _Matched[str]:
        texts = contents.lines
        if len(texts) != len(item_set.items):
            raise BadFile(
                self.path,
                f"has {len(texts):,} lines, but there are {len(item_set.items):,} sentences; expected one translation "
                "per line in the order of `gendermark export`",
            )
        return _Matched(texts, mapped(Line, item_set.items, texts, range(1, len(texts) + 1)))

    def _chosen_section(
        self, sections: Sequence[Section], item_set: ItemSet, sources: Sequence[str], notes: list[str]
    ) -> _Matched[str]:
        """The translations in the one section that has these sentences, and, if need be, this target language."""
        path, allow_missing = self.path, self.choice.allow_missing
        wanted = _Wanted(item_set.items, sources, allow_missing=allow_missing)
        if len(sections) == 1:
            return _matched_by_source(path, sections[0].rows, wanted, notes)
        found: dict[str, tuple[_Matched[str], list[str]]] = {}
        names = ", ".join(section.name for section in sections)
        for section in sections:
            remarks: list[str] = []
            with suppress(UnmatchedSources):
                found[section.name] = (_matched_by_source(path, section.rows, wanted, remarks), remarks)
        if not found:
            problem = f"none of its tasks has just the sentences of this benchmark; available: {names}"
            raise UnmatchedSources(path, problem)
        fitting = list(found)
        if len(fitting) > 1:
            target = item_set.selection.target_language
            fitting = [name for name in found if target in re.split(r"[^a-z]+", name.lower())] or fitting
        if len(fitting) > 1:
            raise BadFile(
                path, f"has {len(fitting)} tasks with these sentences; name one: {path}#{' | #'.join(fitting)}"
            )
        matched, remarks = found[fitting[0]]
        notes += [f"{path}: task {fitting[0]!r} of {names} has these sentences and is used", *remarks]
        return matched


def open_translations(path: Path | str, *, fix_encoding: bool = False, allow_missing: bool = False) -> TranslationFile:
    """A path may end in `#SYSTEM`."""
    path, system = split_system(str(path))
    return TranslationFile(path, Choice(system, fix_encoding=fix_encoding, allow_missing=allow_missing))


def read_samples(path: Path | str, items: Sequence[Item], others: Sequence[Item] = ()) -> Sequence[Samples]:
    """The samples of each item, in the order of the items, from a JSON-lines file. A path may end in `#SYSTEM`.

    `others` are items that the file may have as well, which are passed over.
    """
    path, system = split_system(str(path))
    notes: list[str] = []
    samples = matched_samples(path, items, others, Choice(system), notes)
    for note in notes:
        log.warning(note)
    return samples


def split_system(argument: str) -> tuple[Path, str]:
    """`PATH#SYSTEM` as its two halves; a file that really has such a name is that file."""
    head, _, system = argument.rpartition("#")
    with suppress(OSError):  # too long a name
        if head and system and Path(head).exists() and not Path(argument).exists():
            return Path(head), system
    return Path(argument), ""


# -- letters


def _repaired(path: Path, contents: Contents, item_set: ItemSet, notes: list[str]) -> Contents:
    """The same with letters that were misread as they were."""
    selection = item_set.selection
    source, target = selection.source_language, selection.target_language

    def better(row: Row[str]) -> Row[str]:
        return replace(row, source=repaired(row.source, source), content=repaired(row.content, target))

    sections = [replace(section, rows=stored(map(better, section.rows))) for section in contents.sections]
    lines = stored(repaired(line, target) for line in contents.lines)
    n = sum(one != other for one, other in zip(contents.lines, lines, strict=True))
    for old, new in zip(contents.sections, sections, strict=True):
        n += sum(one != other for one, other in zip(old.rows, new.rows, strict=True))
    if n:
        n_all = len(lines) + sum(len(section.rows) for section in sections)
        notes.append(f"{path}: the letters of {n:,} of {n_all:,} lines had been misread, and were repaired")
    return Contents(sections, lines)


# -- whose translation is whose


def _without_strangers(path: Path, section: Section, sources: Sequence[str], notes: list[str]) -> Section:
    """The rows of sentences that were asked for; those that are loosely alike count where none is exactly so."""
    exact = {source.strip() for source in sources}
    lacking = {loose_key(source) for source in exact - {row.source.strip() for row in section.rows}}
    rows = [row for row in section.rows if row.source.strip() in exact or loose_key(row.source) in lacking]
    if n_more := len(section.rows) - len(rows):
        notes.append(f"{path}: {n_more:,} of {len(section.rows):,} rows are of other sentences and were passed over")
    return replace(section, rows=rows)


def _matched_by_source(
    path: Path, rows: Sequence[Row[Content]], wanted: _Wanted, notes: list[str]
) -> _Matched[Content]:
    """Rows may stand in any order. A source that occurs several times has one translation, or one for each time."""
    if len(rows) == len(wanted.sources) and all(
        row.source in (source, source.strip()) for row, source in zip(rows, wanted.sources, strict=True)
    ):
        return _Matched(mapped(_content, rows), mapped(_line_of, wanted.items, rows))
    places = _Places(source.strip() for source in wanted.sources)
    row_of, place_of = array("q", [-1]) * len(places), array("q")
    n_given = array("Q", [0]) * len(places)
    n_loose = 0
    for number, row in enumerate(rows):
        key, is_loose = places.key_of(row.source, wanted.sources)
        if key is None:
            problem = f"source {shortened(row.source.strip())} is not a sentence of this benchmark"
            raise UnmatchedSources(path, problem, line=row.line)
        n_loose += is_loose
        own = places[key]
        place_of.append(own[min(n_given[own[0]], len(own) - 1)])
        row_of[place_of[-1]] = number
        n_given[own[0]] += 1
    for own in places.repeated():
        for place in own[n_given[own[0]] :] if n_given[own[0]] else ():
            row_of[place] = row_of[own[0]]
    _refuse_missing(path, row_of, wanted)
    for row in rows if places.differ_from(n_given) else ():
        key, _ = places.key_of(row.source, wanted.sources)
        own = places[key or b""]
        if n_given[own[0]] not in (1, len(own)):
            times = "once" if len(own) == 1 else f"{len(own)} times"
            raise BadFile(
                path,
                f"has {n_given[own[0]]} translations of {shortened(wanted.sources[own[0]].strip())}, which occurs "
                f"{times}; give one, or one for each time",
            )
    if n_loose:
        notes.append(
            f"{path}: {n_loose:,} of {len(rows):,} sources differ from this benchmark's in space, quotation marks "
            "or Unicode normal form only, and were matched"
        )
    lines = mapped(_line_of, reordered(wanted.items, place_of), rows)
    return _Matched(mapped(_content, reordered(rows, row_of)), lines)


def _content(row: Row[Content] | None) -> Content | None:
    return row.content if row is not None else None


def _line_of(item: Item, row: Row[Content]) -> Line:
    # Samples are no lines: nobody asks for theirs.
    return Line(item, row.content if isinstance(row.content, str) else "", row.line)


def _refuse_missing(path: Path, row_of: Sequence[int], wanted: _Wanted) -> None:
    n_missing = sum(row < 0 for row in row_of)
    if n_missing and (not wanted.allow_missing or n_missing == len(row_of)):
        each = zip(wanted.items, wanted.sources, row_of, strict=True)
        first = islice(((item, source.strip()) for item, source, row in each if row < 0), _MOST_NAMED)
        raise UnmatchedSources(path, _lacking(list(first), n_missing, len(row_of), wanted.noun))


class _Places:
    """Where each of many texts stands, by a digest of it: a dictionary of the texts would hold all of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._first: dict[bytes, int] = {}
        self._several: dict[bytes, list[int]] = {}
        self._n = 0
        for text in texts:
            key = _digest(text)
            first = self._first.setdefault(key, self._n)
            if first != self._n:
                self._several.setdefault(key, [first]).append(self._n)
            self._n += 1
        self._loose: dict[bytes, set[bytes]] | None = None
        self._with_space: set[bytes] | None = None

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, key: bytes) -> Sequence[int]:
        return self._several.get(key) or (self._first[key],)

    def find(self, text: str) -> int | None:
        return self._first.get(_digest(text))

    def repeated(self) -> Iterable[Sequence[int]]:
        return self._several.values()

    def differ_from(self, n_given: Sequence[int]) -> bool:
        """Whether some text was given, but neither once nor as often as it stands here."""
        return any(n_given[first] not in (0, 1, len(self[key])) for key, first in self._first.items())

    def key_of(self, text: str, sources: Sequence[str]) -> tuple[bytes | None, bool]:
        """The text that is meant, None where it is none or several; and whether it is only loosely that one."""
        key = _digest(text.strip())
        if key in self._first:
            return key, text != text.strip() and _digest(text) not in self._spaced(sources)
        if self._loose is None:
            self._loose = defaultdict(set)
            for source in sources:
                self._loose[_digest(loose_key(source.strip()))].add(_digest(source.strip()))
        candidates = self._loose.get(_digest(loose_key(text.strip())), ())
        return (next(iter(candidates)), True) if len(candidates) == 1 else (None, False)

    def _spaced(self, sources: Sequence[str]) -> set[bytes]:
        """Those that have space around them."""
        if self._with_space is None:
            self._with_space = {_digest(source) for source in sources if source != source.strip()}
        return self._with_space


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _lacking(first: Sequence[tuple[Item, str]], n: int, n_all: int, noun: str) -> str:
    """All sentences that have nothing are counted, and the first of them named."""
    named = [f"{item.index + 1}, {shortened(key)}" for item, key in first]
    more = f" and {n - len(named):,} more" if n > len(named) else ""
    is_one = n == 1
    which = f"sentence {named[0]}" if is_one else f"{n:,} of {n_all:,} sentences: {'; '.join(named)}{more}"
    if noun == "samples":
        return f"has no {noun} of {which}; {NO_SAMPLE}"
    return f"has no {noun} of {which}; add {'it' if is_one else 'them'}, or score the rest with {_HOW_TO_ALLOW}"


def loose_key(text: str) -> str:
    """What is left of a sentence when space, the shape of quotation marks and Unicode's normal form do not count."""
    return " ".join(unicodedata.normalize("NFKC", text.translate(_PLAIN_QUOTES)).split())


def matched_samples(
    path: Path, items: Sequence[Item], others: Sequence[Item], choice: Choice, notes: list[str]
) -> Sequence[Samples]:
    rows, key = read_sample_rows(path, choice)
    rows = _without_others(rows, key, items, others)
    by_source = _Wanted(items, mapped(_source, items), "samples")
    samples: Any = (  # none is missing: that is refused
        _matched_by_source(path, rows, by_source, notes).contents
        if key == "source"
        else _matched_by_id(path, rows, items)
    )
    numbers = Counter(len(of_one.texts) for of_one in samples)
    if len(numbers) > 1:
        n_fewer = len(samples) - numbers[max(numbers)]
        notes.append(
            f"{path}: {n_fewer:,} of {len(items):,} sentences have fewer samples ({min(numbers)} at least) than the "
            f"others ({max(numbers)}); less is known about them"
        )
    found: Sequence[Samples] = samples
    return found


def _source(item: Item | Request) -> str:
    return item.source


def _without_others(
    rows: Sequence[Row[Samples]], key: str, items: Sequence[Item], others: Sequence[Item]
) -> Sequence[Row[Samples]]:
    """The rows but for those of items that were not asked for."""
    if not others:
        return rows

    def keys(some_items: Sequence[Item]) -> set[str]:
        return {loose_key(item.source if key == "source" else item.item_id) for item in some_items}

    passed_over = keys(others) - keys(items)
    return stored(row for row in rows if loose_key(row.source) not in passed_over)


def _matched_by_id(path: Path, rows: Sequence[Row[Samples]], items: Sequence[Item]) -> Sequence[Samples | None]:
    places = _Places(item.item_id for item in items)
    row_of = array("q", [-1]) * len(places)
    for number, row in enumerate(rows):
        place = places.find(row.source)
        if place is None:
            raise UnmatchedSources(path, f"id {shortened(row.source)} is not an item of this benchmark", line=row.line)
        if row_of[place] >= 0:
            problem = f"has id {shortened(row.source)} a second time; give all samples of an item on one line"
            raise BadFile(path, problem, line=row.line)
        row_of[place] = number
    for item, found in zip(items, row_of, strict=True):
        if found < 0:
            problem = f"has no samples of item {item.item_id!r}, {shortened(item.source)}; {NO_SAMPLE}"
            raise UnmatchedSources(path, problem)
    return mapped(_content, reordered(rows, row_of))
