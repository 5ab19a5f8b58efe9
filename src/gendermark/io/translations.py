"""Read files of translations and samples, match them with a benchmark's items, and refuse unsound ones."""

from __future__ import annotations

import hashlib
import logging
import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import BadFile, UnmatchedSources
from gendermark.io import soundness
from gendermark.io.disk_list import mapped, reordered, stored
from gendermark.io.encodings import repaired, usual_page
from gendermark.io.tables import NO_SAMPLE, Row, Samples, read_rows, read_sample_rows, shortened
from gendermark.records import Gender, Item

_PLAIN_QUOTES = str.maketrans({**dict.fromkeys("‘’‚‛ʼ´`′", "'"), **dict.fromkeys("“”„‟«»″", '"')})
REMEDIES = {
    soundness.LETTERS: "save it as UTF-8, or repair it with --fix-encoding (of a run: --system-option "
    "fix_encoding=yes)",
    soundness.LOST: "save the translations again, as UTF-8",
    soundness.ORDER: "give them in the order of `gendermark export`, or as `source ||| translation` lines",
    soundness.UNTRANSLATED: "--accept-unsound scores them anyway",
}
"""Remedies for unsound translations in a file."""
_REMEDIES_BESIDE_SOURCES = {**REMEDIES, soundness.ORDER: "put each translation beside its own source"}

_MOST_READ = 400
"""Translations, evenly spaced, that show which code page damaged a file."""

Content = TypeVar("Content")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TranslationFile:
    """A file of translations, read only once, as it may be a pipe, however often it is matched."""

    path: Path
    system: str = ""
    """One of several systems; see `read_rows`."""
    source_column: str = ""
    translation_column: str = ""
    fix_encoding: bool = False
    """Whether to repair misread letters."""
    allow_missing: bool = False
    """Whether sentences may be missing."""
    accept_unsound: bool = False
    """Whether to accept translations that fail the soundness check."""
    accepted: list[str] = field(default_factory=list, compare=False)
    """The accepted problems."""
    rows: Sequence[Row[str]] | None = None
    """Its rows, if already read."""

    @cached_property
    def _tasks(self) -> dict[str, Sequence[Row[str]]]:
        if self.rows is not None:
            return {"": self.rows}
        return read_rows(self.path, self.system, self.source_column, self.translation_column)

    @property
    def sources(self) -> Set[str]:
        return {row.source.strip() for rows in self._tasks.values() for row in rows if row.source is not None}

    def texts(self, benchmark: Benchmark, item_set: ItemSet) -> tuple[Sequence[str | None], list[str]]:
        """The translation of each item, None if missing, and notes on the file. Refuses a broken file."""
        tasks, notes = self._tasks, list[str]()
        if self.fix_encoding:
            tasks = _repaired(tasks, item_set, notes)
        found = self._match(tasks, benchmark, item_set)
        rows = found.rows
        remedies = REMEDIES if not rows or rows[0].source is None else _REMEDIES_BESIDE_SOURCES
        texts = mapped(_content, reordered(rows, found.row_of))
        # In the order of the file, in which a shift is visible.
        items: Any = reordered(item_set.items, found.item_of)  # every row has an item
        in_file, remarks = replace(item_set, items=items), list[str]()
        self.accepted.clear()
        accepted = self.accepted if self.accept_unsound else None
        with soundness.refused(self.path, remedies, lambda place: rows[place].line or place + 1, accepted):
            remarks = check_sound(benchmark, in_file, mapped(_content, rows))
            check_genders(benchmark, item_set, texts)
        return texts, [*notes, *found.notes, *remarks]

    def _match(self, tasks: Mapping[str, Sequence[Row[str]]], benchmark: Benchmark, item_set: ItemSet) -> _Match[str]:
        rows, n = next(iter(tasks.values())), len(item_set.items)
        if not rows or rows[0].source is None:
            if len(rows) == n:
                return _Match(rows, range(n), range(n))
            remedy = "give one translation per line, in the order of `gendermark export`"
            if rows and self.allow_missing:
                remedy = "with --allow-missing, give the sources as well: `source ||| translation` lines, or a table"
            data = item_set.selection.data.partition(":")[0]
            expected = f"expected one for each of {n:,} sentences ({data} data)"
            counted = f"has {len(rows):,} lines, {expected}" if rows else "is empty"
            raise BadFile(self.path, f"{counted}; {remedy}")
        # A source may also be as `export` writes it: the sentence with its context.
        own = mapped(attrgetter("source"), item_set.items)
        shown = mapped(attrgetter("source"), benchmark.requests(item_set))
        is_same = len(shown) != len(own) or all(one == other for one, other in zip(shown, own, strict=True))
        problems = []
        for sources in [own] if is_same else [shown, own]:
            some, notes = _asked_for(tasks, sources) if benchmark.files_have_more else (tasks, [])
            try:
                found = self._match_task(some, item_set, sources)
            except UnmatchedSources as problem:
                problems.append(problem)
            else:
                return replace(found, notes=[*notes, *found.notes])
        # The attempt that got further is what the user meant; a missing sentence shows after all rows are matched.
        raise max(problems, key=lambda problem: float("inf") if problem.line is None else problem.line)

    def _match_task(
        self, tasks: Mapping[str, Sequence[Row[str]]], item_set: ItemSet, sources: Sequence[str]
    ) -> _Match[str]:
        """Match the one task that has these sentences and, if necessary, this target language."""
        path, names = self.path, ", ".join(tasks)
        found: dict[str, _Match[str]] = {}
        for name, rows in tasks.items():
            with suppress(UnmatchedSources) if len(tasks) > 1 else nullcontext():
                match = _match_by_source(path, rows, item_set.items, sources, allow_missing=self.allow_missing)
                found[name] = match
        if len(tasks) == 1:
            return match
        if not found:
            problem = f"none of its tasks has exactly the sentences of this benchmark; available: {names}"
            raise UnmatchedSources(path, problem)
        target = item_set.selection.target_language
        fitting = [name for name in found if target in re.split(r"[^a-z]+", name.lower())]
        if len(found) == 1 or not fitting:
            fitting = list(found)
        if len(fitting) > 1:
            problem = f"has {len(fitting)} tasks with these sentences; name one: {path}#{' | #'.join(fitting)}"
            raise BadFile(path, problem)
        used = f"task {fitting[0]!r} of {names} has these sentences and is used"
        return replace(found[fitting[0]], notes=[used, *found[fitting[0]].notes])


def open_translations(
    path: Path | str, *, fix_encoding: bool = False, allow_missing: bool = False, accept_unsound: bool = False
) -> TranslationFile:
    """A file of translations; the path may end in `#SYSTEM`."""
    file, system = split_system(str(path))
    return TranslationFile(
        file, system, fix_encoding=fix_encoding, allow_missing=allow_missing, accept_unsound=accept_unsound
    )


def split_system(argument: str) -> tuple[Path, str]:
    """Split `PATH#SYSTEM`, unless a file has that name."""
    head, _, system = argument.rpartition("#")
    with suppress(OSError):  # name too long
        if head and system and Path(head).exists() and not Path(argument).exists():
            return Path(head), system
    return Path(argument), ""


def targets_of(benchmark: Benchmark, item_set: ItemSet) -> list[str]:
    selection = item_set.selection
    pairs = benchmark.language_pairs(selection.data)
    return [target for source, target in pairs if source == selection.source_language]


def check_sound(benchmark: Benchmark, item_set: ItemSet, texts: Sequence[str]) -> list[str]:
    """Refuse unsound translations; return notes on the others; see `soundness.check`."""
    selection = item_set.selection
    return soundness.check(
        item_set.items,
        texts,
        selection.target_language,
        lambda item, text: benchmark.fit(item, text, selection),
        targets_of(benchmark, item_set),
    )


def is_of_pairs(benchmark: Benchmark) -> bool:
    return benchmark.choices_of("parts") == (Gender.MASCULINE, Gender.FEMININE)


def check_genders(benchmark: Benchmark, item_set: ItemSet, texts: Sequence[str | None]) -> None:
    """Refuse swapped genders in translations of a benchmark of pairs."""
    if benchmark.choices is not None and is_of_pairs(benchmark):
        soundness.check_genders(item_set.items, texts, benchmark.choices(item_set))


def _content(row: Row[Any] | None) -> Any:
    return row.content if row is not None else None


def _repaired(
    tasks: Mapping[str, Sequence[Row[str]]], item_set: ItemSet, notes: list[str]
) -> dict[str, Sequence[Row[str]]]:
    selection = item_set.selection
    some = (row.content for rows in tasks.values() for row in rows[:: max(1, len(rows) // _MOST_READ)])
    usual = usual_page(some, selection.target_language)

    def better(row: Row[str]) -> Row[str]:
        source = row.source and repaired(row.source, selection.source_language)
        return Row(source, repaired(row.content, selection.target_language, usual), row.line)

    found = {name: stored(map(better, rows)) for name, rows in tasks.items()}
    n = sum(old != new for name, rows in tasks.items() for old, new in zip(rows, found[name], strict=True))
    if n:
        n_all = sum(map(len, found.values()))
        notes.append(f"the letters of {n:,} of {n_all:,} lines had been misread, and were repaired")
    return found


# -- samples


def read_samples(
    path: Path, benchmark: Benchmark, item_set: ItemSet, system: str = "", source_column: str = ""
) -> tuple[Sequence[Samples], list[str]]:
    """The samples of each item from a JSON-lines file, and notes on it. Refuses a broken file."""
    items, selection = item_set.items, item_set.selection
    rows, key = read_sample_rows(path, system, source_column)

    def keys(of: Sequence[Item]) -> Sequence[str]:
        return mapped(attrgetter("source" if key == "source" else "item_id"), of)

    if selection.parts:  # samples of all sentences also serve a part of them
        others = set(map(loose_key, keys(benchmark.load(replace(selection, parts=())).items)))
        others -= set(map(loose_key, keys(items)))
        rows = stored(row for row in rows if loose_key(row.source or "") not in others)
    found = _match_by_source(path, rows, items, keys(items), key, "samples")
    samples: Sequence[Samples] = mapped(_content, reordered(rows, found.row_of))  # none is missing: that is refused
    numbers = Counter(len(of_one.texts) for of_one in samples)
    notes = list(found.notes)
    if len(numbers) > 1:
        n_fewer = len(samples) - numbers[max(numbers)]
        notes.append(
            f"{n_fewer:,} of {len(items):,} sentences have fewer samples ({min(numbers)} at least) than the others "
            f"({max(numbers)}); less is known about them"
        )
    with soundness.refused(path, REMEDIES):
        texts = mapped(lambda one: one.texts, samples)
        notes += soundness.check_samples(texts, selection.target_language, targets_of(benchmark, item_set))
    return samples, notes


# -- which row belongs to which item


@dataclass(frozen=True)
class _Match(Generic[Content]):
    rows: Sequence[Row[Content]]
    row_of: Sequence[int]
    """Row number of each item; -1 if it has none."""
    item_of: Sequence[int]
    """Position of each row's item."""
    notes: Sequence[str] = ()


def _match_by_source(
    path: Path,
    rows: Sequence[Row[Content]],
    items: Sequence[Item],
    sources: Sequence[str],
    key_name: str = "source",
    noun: str = "translation",
    *,
    allow_missing: bool = False,
) -> _Match[Content]:
    """Match rows with items by source, or by id for samples, in any order.

    A source that occurs several times has one row, or one for each occurrence.
    """
    is_in_order = len(rows) == len(sources) and all(
        row.source in (source, source.strip()) for row, source in zip(rows, sources, strict=True)
    )
    if is_in_order:
        return _Match(rows, range(len(rows)), range(len(rows)))
    index = _Index(sources)
    row_of, item_of = array("q", [-1]) * len(sources), array("q")
    n_given = array("Q", [0]) * len(sources)
    n_loose = 0
    for number, row in enumerate(rows):
        places, is_loose = index.find(row.source or "")
        if not places:
            problem = f"{key_name} {shortened((row.source or '').strip())} is not a sentence of this benchmark"
            raise UnmatchedSources(path, problem, line=row.line)
        place = places[min(n_given[places[0]], len(places) - 1)]
        item_of.append(place)
        row_of[place] = number
        n_given[places[0]] += 1
        n_loose += is_loose
    for places in index.repeated.values():
        n = n_given[places[0]]
        for place in places[n:] if n else ():
            row_of[place] = row_of[places[0]]
    if -1 in row_of and (not allow_missing or not rows):
        n = row_of.count(-1)
        each = zip(items, sources, row_of, strict=True)
        item, source = next((item, source.strip()) for item, source, row in each if row < 0)
        first = f"sentence {item.index + 1}, {shortened(source)}"
        which = first if n == 1 else f"{n:,} of {len(row_of):,} sentences, first of {first}"
        remedy = NO_SAMPLE if noun == "samples" else "add them, or pass --allow-missing (of a run: allow_missing=yes)"
        raise UnmatchedSources(path, f"has no {noun} of {which}; {remedy}")
    for places in index:
        if n_given[places[0]] not in (0, 1, len(places)):
            times = "once" if len(places) == 1 else f"{len(places)} times"
            raise UnmatchedSources(
                path,
                f"has {n_given[places[0]]} rows of {shortened(sources[places[0]].strip())}, which occurs {times}; give "
                "one, or one for each time",
            )
    notes = []
    if n_loose:
        notes.append(
            f"{n_loose:,} of {len(rows):,} sources differ from this benchmark's in space, quotation marks or Unicode "
            "normal form only, and were matched"
        )
    return _Match(rows, row_of, item_of, notes)


class _Index:
    """Positions of each source by digest: a dictionary of texts would need too much memory."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = sources
        self._first: dict[bytes, int] = {}
        self.repeated: dict[bytes, list[int]] = {}
        for place, source in enumerate(sources):
            key = _digest(source.strip())
            first = self._first.setdefault(key, place)
            if first != place:
                self.repeated.setdefault(key, [first]).append(place)

    def find(self, text: str) -> tuple[Sequence[int], bool]:
        """The positions of a source, none if unknown or ambiguous; and whether it is spelt differently."""
        key = _digest(text.strip())
        if key in self._first:
            return self._places(key), False
        candidates = self._loose.get(_digest(loose_key(text)), ())
        return (self._places(next(iter(candidates))), True) if len(candidates) == 1 else ((), False)

    def __iter__(self) -> Iterator[Sequence[int]]:
        return map(self._places, self._first)

    def _places(self, key: bytes) -> Sequence[int]:
        return self.repeated.get(key) or (self._first[key],)

    @cached_property
    def _loose(self) -> Mapping[bytes, set[bytes]]:
        found: dict[bytes, set[bytes]] = defaultdict(set)
        for source in self._sources:
            found[_digest(loose_key(source))].add(_digest(source.strip()))
        return found


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def loose_key(text: str) -> str:
    """A sentence without differences in space, quotation marks and Unicode normal form."""
    return " ".join(unicodedata.normalize("NFKC", text.translate(_PLAIN_QUOTES)).split())


def _asked_for(
    tasks: Mapping[str, Sequence[Row[str]]], sources: Sequence[str]
) -> tuple[dict[str, Sequence[Row[str]]], list[str]]:
    """The rows of the requested sentences; loose matches count if there is no exact one."""
    exact = {source.strip() for source in sources}
    found: dict[str, Sequence[Row[str]]] = {}
    notes = []
    for name, rows in tasks.items():
        lacking = {loose_key(source) for source in exact - {(row.source or "").strip() for row in rows}}
        found[name] = [
            row for row in rows if row.source is None or row.source.strip() in exact or loose_key(row.source) in lacking
        ]
        if n_more := len(rows) - len(found[name]):
            notes.append(f"{n_more:,} of {len(rows):,} rows are of other sentences and were ignored")
    return found, notes
