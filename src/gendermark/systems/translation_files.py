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
from typing import TypeVar

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import BadFile, UnmatchedSources
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

_FEWEST_SHIFTED = 6.0
"""How many lines' worth of fit a shift must gain before a file is refused; chance gains less."""
_PLAIN_QUOTES = str.maketrans({**dict.fromkeys("‘’‚‛ʼ´`′", "'"), **dict.fromkeys("“”„‟«»″", '"')})

Content = TypeVar("Content")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TranslationFile:
    """A file of translations. It is read only once, as it may be a pipe, however often it is set beside items."""

    path: Path
    choice: Choice

    @cached_property
    def contents(self) -> Contents:
        return read_contents(self.path, self.choice)

    def texts(self, benchmark: Benchmark, item_set: ItemSet) -> list[str]:
        """The translation of each item, in their order; refuses a file whose lines stand in another one."""
        notes: list[str] = []
        texts = self.fitted(benchmark, item_set, notes)
        for note in notes:
            log.info(note)
        return texts

    def fitted(self, benchmark: Benchmark, item_set: ItemSet, notes: list[str]) -> list[str]:
        """The same, for a caller who keeps what is worth knowing about it."""
        if not self.contents.sections:
            return self._in_order(benchmark, item_set)
        # What was translated may also be what `export` gives: the sentence with its context.
        own = [item.source for item in item_set.items]
        shown = [request.source for request in benchmark.requests(item_set)]
        problems = []
        for sources in [own] if shown == own or len(shown) != len(own) else [shown, own]:
            sections = self.contents.sections
            if benchmark.files_have_more:
                sections = [_without_strangers(self.path, section, sources, notes) for section in sections]
            try:
                return _chosen_section(self.path, sections, item_set, sources, notes)
            except UnmatchedSources as problem:
                problems.append(problem)
        # The one that got further is what the user meant; a sentence without a row shows after all rows are matched.
        raise max(problems, key=lambda problem: float("inf") if problem.line is None else problem.line)

    def _in_order(self, benchmark: Benchmark, item_set: ItemSet) -> list[str]:
        texts = list(self.contents.lines)
        if len(texts) != len(item_set.items):
            raise BadFile(
                self.path,
                f"has {len(texts):,} lines, but there are {len(item_set.items):,} sentences; expected one translation "
                "per line in the order of `gendermark export`",
            )
        _check_order(self.path, benchmark, item_set, texts)
        return texts


def open_translations(path: Path | str) -> TranslationFile:
    """A path may end in `#SYSTEM`."""
    path, system = split_system(str(path))
    return TranslationFile(path, Choice(system))


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


# -- whose translation is whose


def _chosen_section(
    path: Path, sections: Sequence[Section], item_set: ItemSet, sources: Sequence[str], notes: list[str]
) -> list[str]:
    """The translations in the one section that has these sentences, and, if need be, this target language."""
    items = item_set.items
    if len(sections) == 1:
        return _matched_by_source(path, sections[0].rows, items, sources, notes)
    found: dict[str, tuple[list[str], list[str]]] = {}
    names = ", ".join(section.name for section in sections)
    for section in sections:
        remarks: list[str] = []
        with suppress(UnmatchedSources):
            texts = _matched_by_source(path, section.rows, items, sources, remarks)
            found[section.name] = (texts, remarks)
    if not found:
        raise UnmatchedSources(path, f"none of its tasks has just the sentences of this benchmark; there is: {names}")
    fitting = list(found)
    if len(fitting) > 1:
        target = item_set.selection.target_language
        fitting = [name for name in found if target in re.split(r"[^a-z]+", name.lower())] or fitting
    if len(fitting) > 1:
        raise BadFile(path, f"has {len(fitting)} tasks with these sentences; name one: {path}#{' | #'.join(fitting)}")
    texts, remarks = found[fitting[0]]
    notes += [f"{path}: task {fitting[0]!r} of {names} has these sentences and is used", *remarks]
    return texts


def _without_strangers(path: Path, section: Section, sources: Sequence[str], notes: list[str]) -> Section:
    """The rows of sentences that were asked for; those that are loosely alike count where none is exactly so."""
    exact = {source.strip() for source in sources}
    lacking = {_loose_key(source) for source in exact - {row.source.strip() for row in section.rows}}
    rows = [row for row in section.rows if row.source.strip() in exact or _loose_key(row.source) in lacking]
    if n_more := len(section.rows) - len(rows):
        notes.append(f"{path}: {n_more:,} of {len(section.rows):,} rows are of other sentences and were passed over")
    return replace(section, rows=rows)


def _matched_by_source(
    path: Path,
    rows: Sequence[Row[Content]],
    items: Sequence[Item],
    sources: Sequence[str],
    notes: list[str],
    noun: str = "translation",
) -> list[Content]:
    """Rows may stand in any order. A source that occurs several times has one translation, or one for each time."""
    keys = [source.strip() for source in sources]
    known = {*sources, *keys}
    by_loose_key: dict[str, set[str]] = defaultdict(set)
    for key in keys:
        by_loose_key[_loose_key(key)].add(key)
    found: dict[str, list[Content]] = defaultdict(list)
    n_loose = 0
    for row in rows:
        key = row.source.strip()
        if row.source not in known:
            candidates = {key} if key in known else by_loose_key.get(_loose_key(key), set())
            if len(candidates) != 1:
                problem = f"source {shortened(key)} is not a sentence of this benchmark"
                raise UnmatchedSources(path, problem, line=row.line)
            n_loose += 1
            (key,) = candidates
        found[key].append(row.content)
    n_used: Counter[str] = Counter()
    matched = []
    for item, key in zip(items, keys, strict=True):
        if key not in found:
            hint = f"; {NO_SAMPLE}" if noun == "samples" else ""
            raise UnmatchedSources(path, f"has no {noun} of sentence {item.index + 1}, {shortened(key)}{hint}")
        contents = found[key]
        matched.append(contents[min(n_used[key], len(contents) - 1)])
        n_used[key] += 1
    for key, contents in found.items():
        if len(contents) not in (1, n_used[key]):
            times = "once" if n_used[key] == 1 else f"{n_used[key]} times"
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
    return matched


def _loose_key(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text.translate(_PLAIN_QUOTES)).split())


def _check_order(path: Path, benchmark: Benchmark, item_set: ItemSet, texts: Sequence[str]) -> None:
    """Refuse a file whose lines, from some line on, belong to the sentence before or behind their own.

    A line lost here and doubled there leaves the number of lines right, and every score in between wrong.
    """
    items = item_set.items
    own = [benchmark.fit(item, text, item_set.selection) for item, text in zip(items, texts, strict=True)]
    if not own or own[0] is None:
        return
    fits = [fit or 0.0 for fit in own]
    for step, word in ((1, "before"), (-1, "behind")):
        gain = 0.0
        worst = (0.0, 0)
        # The stretch of lines that gains most by being moved one line up or down (Kadane's maximum sum).
        start = 0
        for place in range(len(items)):
            other = place + step
            moved = benchmark.fit(items[place], texts[other], item_set.selection) if 0 <= other < len(texts) else 0.0
            if gain <= 0:
                gain, start = 0.0, place
            gain += (moved or 0.0) - fits[place]
            worst = max(worst, (gain, start), key=lambda found: found[0])
        if worst[0] >= _FEWEST_SHIFTED:
            raise BadFile(
                path,
                f"from here on lines seem to belong to the sentence {word} theirs: one is missing or doubled; "
                "translate again, or give `source ||| translation` lines",
                line=worst[1] + 1,
            )


def matched_samples(
    path: Path, items: Sequence[Item], others: Sequence[Item], choice: Choice, notes: list[str]
) -> list[Samples]:
    rows, key = read_sample_rows(path, choice)
    rows = _without_others(rows, key, items, others)
    if key == "source":
        samples = _matched_by_source(path, rows, items, [item.source for item in items], notes, "samples")
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
        return {_loose_key(item.source if key == "source" else item.item_id) for item in some_items}

    passed_over = keys(others) - keys(items)
    return [row for row in rows if _loose_key(row.source) not in passed_over]


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
