"""A file of translations or samples, set beside the items of a benchmark: whose translation is whose."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import BadFile, UnmatchedSources
from gendermark.linguistics.encodings import repaired
from gendermark.records import Item
from gendermark.systems.file_formats import (
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
from gendermark.systems.soundness import Given, Line, check_genders

_MOST_NAMED = 10
"""Sentences without a translation that are named; all are counted."""
_HOW_TO_ALLOW = "--allow-missing (of a run: --system-option allow_missing=yes)"
_PLAIN_QUOTES = str.maketrans({**dict.fromkeys("‘’‚‛ʼ´`′", "'"), **dict.fromkeys("“”„‟«»″", '"')})

Content = TypeVar("Content")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Matched(Generic[Content]):
    """What each item has, in their order; and the translations as they stood in the file."""

    contents: list[Content | None]
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

    def texts(self, benchmark: Benchmark, item_set: ItemSet) -> list[str | None]:
        """The translation of each item, in their order; None for one that may be missing. Refuses a broken file."""
        notes: list[str] = []
        texts = self.fitted(benchmark, item_set, notes)
        for note in notes:
            log.info(note)
        return texts

    def fitted(self, benchmark: Benchmark, item_set: ItemSet, notes: list[str]) -> list[str | None]:
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
        own = [item.source for item in item_set.items]
        shown = [request.source for request in benchmark.requests(item_set)]
        problems = []
        for sources in [own] if shown == own or len(shown) != len(own) else [shown, own]:
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
        texts = list(contents.lines)
        if len(texts) != len(item_set.items):
            raise BadFile(
                self.path,
                f"has {len(texts):,} lines, but there are {len(item_set.items):,} sentences; expected one translation "
                "per line in the order of `gendermark export`",
            )
        lines = [Line(item, text, n) for n, (item, text) in enumerate(zip(item_set.items, texts, strict=True), start=1)]
        return _Matched([*texts], lines)

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


def read_samples(path: Path | str, items: Sequence[Item], others: Sequence[Item] = ()) -> list[Samples]:
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

    sections = [replace(section, rows=[better(row) for row in section.rows]) for section in contents.sections]
    lines = [repaired(line, target) for line in contents.lines]
    changed = [one != other for one, other in zip(contents.lines, lines, strict=True)]
    for old, new in zip(contents.sections, sections, strict=True):
        changed += [one != other for one, other in zip(old.rows, new.rows, strict=True)]
    if any(changed):
        n, n_all = sum(changed), len(changed)
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
    keys = [source.strip() for source in wanted.sources]
    known = {*wanted.sources, *keys}
    byloose_key: dict[str, set[str]] = defaultdict(set)
    places: dict[str, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        byloose_key[loose_key(key)].add(key)
        places[key].append(place)
    found: dict[str, list[Content]] = defaultdict(list)
    lines = []
    n_loose = 0
    for row in rows:
        key = row.source.strip()
        if row.source not in known:
            candidates = {key} if key in known else byloose_key.get(loose_key(key), set())
            if len(candidates) != 1:
                problem = f"source {shortened(key)} is not a sentence of this benchmark"
                raise UnmatchedSources(path, problem, line=row.line)
            n_loose += 1
            (key,) = candidates
        if isinstance(row.content, str):
            item = wanted.items[places[key][min(len(found[key]), len(places[key]) - 1)]]
            lines.append(Line(item, row.content, row.line))
        found[key].append(row.content)
    missing = [(item, key) for item, key in zip(wanted.items, keys, strict=True) if key not in found]
    if missing and (not wanted.allow_missing or len(missing) == len(keys)):
        raise UnmatchedSources(path, _lacking(missing, len(keys), wanted.noun))
    for key, contents in found.items():
        if len(contents) not in (1, len(places[key])):
            times = "once" if len(places[key]) == 1 else f"{len(places[key])} times"
            raise BadFile(
                path,
                f"has {len(contents)} translations of {shortened(key)}, which occurs {times}; "
                "give one, or one for each time",
            )
    if n_loose:
        notes.append(
            f"{path}: {n_loose:,} of {len(rows):,} sources differ from this benchmark's in space, quotation marks "
            "or Unicode normal form only, and were matched"
        )
    n_used: Counter[str] = Counter()
    matched: list[Content | None] = []
    for key in keys:
        contents = found.get(key, [])
        matched.append(contents[min(n_used[key], len(contents) - 1)] if contents else None)
        n_used[key] += 1
    return _Matched(matched, lines)


def _lacking(missing: Sequence[tuple[Item, str]], n_all: int, noun: str) -> str:
    """All sentences that have nothing are counted, and the first of them named."""
    named = [f"{item.index + 1}, {shortened(key)}" for item, key in missing[:_MOST_NAMED]]
    more = f" and {len(missing) - len(named):,} more" if len(missing) > len(named) else ""
    is_one = len(missing) == 1
    which = f"sentence {named[0]}" if is_one else f"{len(missing):,} of {n_all:,} sentences: {'; '.join(named)}{more}"
    if noun == "samples":
        return f"has no {noun} of {which}; {NO_SAMPLE}"
    return f"has no {noun} of {which}; add {'it' if is_one else 'them'}, or score the rest with {_HOW_TO_ALLOW}"


def loose_key(text: str) -> str:
    """What is left of a sentence when space, the shape of quotation marks and Unicode's normal form do not count."""
    return " ".join(unicodedata.normalize("NFKC", text.translate(_PLAIN_QUOTES)).split())


def matched_samples(
    path: Path, items: Sequence[Item], others: Sequence[Item], choice: Choice, notes: list[str]
) -> list[Samples]:
    rows, key = read_sample_rows(path, choice)
    rows = _without_others(rows, key, items, others)
    if key == "source":
        wanted = _Wanted(items, [item.source for item in items], "samples")
        matched = _matched_by_source(path, rows, wanted, notes).contents
        samples = [one for one in matched if one is not None]
    else:
        samples = _matched_by_id(path, rows, items)
    numbers = [len(of_one.texts) for of_one in samples]
    if numbers and min(numbers) < max(numbers):
        n_fewer = sum(number < max(numbers) for number in numbers)
        notes.append(
            f"{path}: {n_fewer:,} of {len(items):,} sentences have fewer samples ({min(numbers)} at least) than the "
            f"others ({max(numbers)}); less is known about them"
        )
    return samples


def _without_others(
    rows: Sequence[Row[Samples]], key: str, items: Sequence[Item], others: Sequence[Item]
) -> list[Row[Samples]]:
    """The rows but for those of items that were not asked for."""

    def keys(some_items: Sequence[Item]) -> set[str]:
        return {loose_key(item.source if key == "source" else item.item_id) for item in some_items}

    passed_over = keys(others) - keys(items)
    return [row for row in rows if loose_key(row.source) not in passed_over]


def _matched_by_id(path: Path, rows: Sequence[Row[Samples]], items: Sequence[Item]) -> list[Samples]:
    known = {item.item_id for item in items}
    found: dict[str, Samples] = {}
    for row in rows:
        if row.source not in known:
            raise UnmatchedSources(path, f"id {shortened(row.source)} is not an item of this benchmark", line=row.line)
        if row.source in found:
            problem = f"has id {shortened(row.source)} a second time; give all samples of an item on one line"
            raise BadFile(path, problem, line=row.line)
        found[row.source] = row.content
    for item in items:
        if item.item_id not in found:
            problem = f"has no samples of item {item.item_id!r}, {shortened(item.source)}; {NO_SAMPLE}"
            raise UnmatchedSources(path, problem)
    return [found[item.item_id] for item in items]
