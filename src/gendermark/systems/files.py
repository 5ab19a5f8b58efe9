"""`files:PATH`: translations made elsewhere, as text, TSV, CSV, JSON lines or results of MT-Lens.

PATH is a file, or a directory with a file for each benchmark and direction; `PATH#SYSTEM` is one system of several.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from gendermark.benchmarks.benchmark import Benchmark, ItemSet, Selection
from gendermark.errors import BadFile, UnmatchedSources, UserError
from gendermark.records import Item, Request, Task, Translation
from gendermark.systems.file_formats import (
    ENDINGS,
    NO_SAMPLE,
    Choice,
    Contents,
    Row,
    Samples,
    Section,
    has_samples,
    has_translations,
    read_contents,
    read_sample_rows,
    shortened,
    some,
)
from gendermark.systems.system import System, refuse_unknown_options

TASKS = frozenset({Task.TRANSLATE, Task.SAMPLE})
OPTIONS = ("source_column", "translation_column")
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
        return _fitted(self.path, self.contents, benchmark, item_set, notes)


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
    samples = _samples(path, items, others, Choice(system), notes)
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


def _fitted(path: Path, contents: Contents, benchmark: Benchmark, item_set: ItemSet, notes: list[str]) -> list[str]:
    items, selection = item_set.items, item_set.selection
    own = [item.source for item in items]
    if not contents.sections:
        texts = _matched(path, contents, items, own, notes)
        check_order(path, benchmark, item_set, texts)
        return texts
    # What was translated may also be what `export` gives: the sentence with its context.
    shown = [request.source for request in benchmark.requests(item_set)]
    problems = []
    for sources in [own] if shown == own or len(shown) != len(own) else [shown, own]:
        try:
            return _matched(path, contents, items, sources, notes, selection)
        except UnmatchedSources as problem:
            problems.append(problem)
    # The one that got further is what the user meant; a sentence without a row shows after all rows are matched.
    raise max(problems, key=lambda problem: float("inf") if problem.line is None else problem.line)


def _matched(
    path: Path | str,
    contents: Contents,
    items: Sequence[Item],
    sources: Sequence[str],
    notes: list[str],
    selection: Selection | None = None,
) -> list[str]:
    if contents.sections:
        return _chosen_section(path, contents.sections, items, sources, notes, selection)
    if len(contents.lines) != len(items):
        raise BadFile(
            path,
            f"has {len(contents.lines):,} lines, but there are {len(items):,} sentences; expected one translation per "
            "line in the order of `gendermark export`",
        )
    return list(contents.lines)


def _chosen_section(
    path: Path | str,
    sections: Sequence[Section],
    items: Sequence[Item],
    sources: Sequence[str],
    notes: list[str],
    selection: Selection | None,
) -> list[str]:
    """The translations in the one section that has these sentences, and, if need be, this target language."""
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
    if len(fitting) > 1 and selection is not None:
        target = selection.target_language
        fitting = [name for name in found if target in re.split(r"[^a-z]+", name.lower())] or fitting
    if len(fitting) > 1:
        raise BadFile(path, f"has {len(fitting)} tasks with these sentences; name one: {path}#{' | #'.join(fitting)}")
    texts, remarks = found[fitting[0]]
    notes += [f"{path}: task {fitting[0]!r} of {names} has these sentences and is used", *remarks]
    return texts


def _matched_by_source(
    path: Path | str,
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


def check_order(path: Path | str, benchmark: Benchmark, item_set: ItemSet, texts: Sequence[str]) -> None:
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


def _samples(
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
            f"others ({max(numbers)}); their uncertainty is known less well"
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


# -- directories


def _file_in(directory: Path, selection: Selection, system: str) -> tuple[Path, str]:
    """The file of a benchmark and direction, and what of `#SYSTEM` is still to be chosen in it."""
    stems = _stems(selection)
    try:
        if system and (directory / system).is_dir():
            return _only(directory / system, stems) or _refuse(directory / system, stems), ""
        if found := _only(directory, stems):
            return found, system
        folders = [folder for folder in sorted(directory.iterdir()) if folder.is_dir()]
        fitting = {folder.name: file for folder in folders if (file := _only(folder, stems))}
        if not fitting:
            return _refuse(directory, stems), ""
    except OSError as problem:
        raise BadFile(directory, f"cannot be read: {problem.strerror or problem}") from None
    names = list(fitting)
    if system:
        raise BadFile(directory, f"has no system {system!r}; there is: {some(names)}")
    if len(names) > 1:
        raise BadFile(directory, f"has {len(names)} systems; name one: {directory}#{some(names, ' | #')}")
    return fitting[names[0]], ""


def with_files(argument: str, selections: Sequence[Selection]) -> tuple[tuple[Selection, ...], list[str]]:
    """Those of some selections that a directory has a file for, and the names of the missing files of the others."""
    directory, system = split_system(argument)
    if not _is_directory(directory):
        return tuple(selections), []
    there, missing, names = [], [], []
    for selection in selections:
        try:
            _file_in(directory, selection, system)
        except _NoFile:
            missing.append(_stems(selection)[0])
            names += [f"{stem}.txt" for stem in _stems(selection)]
        else:
            there.append(selection)
    if not there:
        raise BadFile(
            directory,
            f"has no file for any benchmark of this direction; it would be called {' or '.join(names)} "
            f"(or {', '.join(ENDINGS[1:])})",
        )
    return tuple(there), missing


def _stems(selection: Selection) -> list[str]:
    """What a file may be called; WinoMT's also as in the folders of its authors (`adj.`: with adjectives)."""
    pair = f"{selection.source_language}-{selection.target_language}"
    if selection.benchmark != "winomt":
        return [f"{selection.benchmark}.{pair}"]
    return [f"winomt.{pair}", f"adj.{pair}" if selection.variant else pair]


def _is_directory(path: Path) -> bool:
    with suppress(OSError):  # what is wrong with it is said when it is read
        return path.is_dir()
    return False


def _only(directory: Path, stems: Sequence[str]) -> Path | None:
    paths = [directory / f"{stem}{ending}" for stem in stems for ending in ENDINGS]
    there = [path for path in paths if path.is_file()]
    if len(there) > 1:
        raise BadFile(directory, f"has {' and '.join(path.name for path in there)}, which all fit; keep one")
    return there[0] if there else None


class _NoFile(BadFile):
    """A directory without a file of a benchmark and direction."""


def _refuse(directory: Path, stems: Sequence[str]) -> Path:
    there = sorted(path.name + ("/" if path.is_dir() else "") for path in directory.iterdir())
    raise _NoFile(
        directory,
        f"there is no such file as {' or '.join(f'{stem}.txt' for stem in stems)} (or {', '.join(ENDINGS[1:])}) in it; "
        f"there is: {some(there) or 'nothing'}",
    )


# -- the system


class Files(System):
    """Reads the one file, or from a directory the file of each item set; answers in the order of the items."""

    is_stored = False

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        refuse_unknown_options("files", options, OPTIONS)
        self.spec = f"files:{argument}"
        self.system_id = self.spec
        self._path, system = split_system(argument)
        self._choice = Choice(system, options.get("source_column", ""), options.get("translation_column", ""))
        self.tasks = _tasks_of(self._path)
        self._file = TranslationFile(self._path, self._choice)
        self._translations: list[str] = []
        self._samples: list[Samples] = []
        self._notes: list[str] = []

    def prepare(self, benchmark: Benchmark, item_set: ItemSet) -> None:
        path, choice = self._path, self._choice
        if _is_directory(path):
            path, system = _file_in(path, item_set.selection, choice.system)
            choice = replace(choice, system=system)
        asked = {request.task for request in benchmark.requests(item_set)}
        if Task.SAMPLE in asked:
            others = benchmark.load(replace(item_set.selection, parts=())).items if item_set.selection.parts else ()
            self._samples = _samples(path, item_set.items, others, choice, self._notes)
        if Task.TRANSLATE in asked:
            file = TranslationFile(path, choice)
            # The file of the item set before, where it is the same, has been read already.
            self._file = file = self._file if file == self._file else file
            try:
                self._translations = file.fitted(benchmark, item_set, self._notes)
            except UnmatchedSources:
                if revision := _other_revision(file, benchmark, item_set):
                    problem = f"has translations of {benchmark.name} revision {revision}; add --revision {revision}"
                    raise BadFile(path, problem) from None
                raise

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        translations, samples = iter(self._translations), iter(self._samples)
        answers: list[Translation] = []
        for request in requests:
            if request.task is Task.SAMPLE:
                answers += _sampled(request, next(samples))
            else:
                answers.append(Translation(request.request_id, next(translations)))
        yield answers

    def notes(self) -> Sequence[str]:
        return self._notes


def _tasks_of(path: Path) -> frozenset[Task]:
    if _is_directory(path):
        inside = [*path.glob("*.jsonl"), *path.glob("*/*.jsonl")]
        return TASKS if any(map(has_samples, inside)) else frozenset({Task.TRANSLATE})
    tasks = {Task.TRANSLATE: has_translations(path), Task.SAMPLE: has_samples(path)}
    return frozenset(task for task, is_there in tasks.items() if is_there)


def _sampled(request: Request, samples: Samples) -> list[Translation]:
    """As many as were asked for; where the file has fewer, the rest are errors that say so."""
    answers = []
    for number in request.samples:
        if number < len(samples.texts):
            probabilities = samples.log_probabilities
            log_probability = probabilities[number] if probabilities else None
            text = samples.texts[number]
            answers.append(Translation(request.request_id, text, number, log_probability=log_probability))
        else:
            problem = f"the file has only {len(samples.texts)} samples of this sentence"
            answers.append(Translation(request.request_id, None, number, error=problem))
    return answers


def _other_revision(file: TranslationFile, benchmark: Benchmark, item_set: ItemSet) -> str:
    """The revision of the official data that was translated, if it is not the one asked for."""
    selection = item_set.selection
    others = benchmark.revisions if selection.data == "official" else ()
    for revision in others:
        if revision != selection.revision:
            with suppress(UserError):  # not this one, or not at hand
                file.fitted(benchmark, benchmark.load(replace(selection, revision=revision)), [])
                return revision
    return ""


def open_system(argument: str, options: Mapping[str, str]) -> System:
    return Files(argument, options)
