"""`files:PATH`: translations made elsewhere, as text, TSV, CSV, Excel, JSON lines or results of MT-Lens.

PATH is a file, or a directory with a file for each benchmark and direction; `PATH#SYSTEM` is one system of several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import BadFile, UnmatchedSources, UserError
from gendermark.io.tables import ENDINGS, Samples, has_samples, has_translations, some
from gendermark.io.translations import TranslationFile, read_samples, split_system
from gendermark.reading.failures import MISSING
from gendermark.records import Request, Task, Translation
from gendermark.selection import Selection
from gendermark.systems.system import System, flag_option, refuse_unknown_options

TASKS = frozenset({Task.TRANSLATE, Task.SAMPLE})
OPTIONS = ("source_column", "translation_column", "fix_encoding", "allow_missing", "accept_unsound")

# -- directories


def _file_in(directory: Path, selection: Selection, system: str) -> tuple[Path, str] | None:
    """The file of a benchmark and direction, if any, and what remains of `#SYSTEM`."""
    try:
        if system and (directory / system).is_dir():
            found = _only(directory / system, selection)
            return (found, "") if found else None
        if found := _only(directory, selection):
            return found, system
        folders = [folder for folder in sorted(directory.iterdir()) if folder.is_dir()]
        systems = {folder.name: file for folder in folders if (file := _only(folder, selection))}
    except OSError as problem:
        raise BadFile(directory, f"cannot be read: {problem.strerror or problem}") from None
    if systems and system:
        raise BadFile(directory, f"has no system {system!r}; available: {some(list(systems))}")
    if len(systems) > 1:
        raise BadFile(directory, f"has {len(systems)} systems; name one: {directory}#{some(list(systems), ' | #')}")
    return (systems.popitem()[1], "") if systems else None


def _only(directory: Path, selection: Selection) -> Path | None:
    paths = [directory / f"{stem}{ending}" for stem in _stems(selection) for ending in ENDINGS]
    there = [path for path in paths if path.is_file()]
    if len(there) > 1:
        raise BadFile(directory, f"has {' and '.join(path.name for path in there)}, which all fit; keep one")
    return there[0] if there else None


def _stems(selection: Selection) -> list[str]:
    benchmark: Benchmark = registry.load("benchmark", selection.benchmark)
    return [selection.cell, *benchmark.file_names(selection)]


def _no_file(directory: Path, system: str, selections: Sequence[Selection]) -> BadFile:
    directory = directory / system if (directory / system).is_dir() else directory
    names = " or ".join(f"{stem}.txt" for selection in selections for stem in _stems(selection))
    there = sorted(path.name + ("/" if path.is_dir() else "") for path in directory.iterdir())
    return BadFile(
        directory,
        f"no such file: {names} (or {', '.join(ENDINGS[1:])}) in it; available: {some(there) or 'nothing'}",
    )


def with_files(argument: str, selections: Sequence[Selection]) -> tuple[tuple[Selection, ...], list[str]]:
    """The selections that a directory has files for, and the missing file names of the others."""
    directory, system = split_system(argument)
    if not _is_directory(directory):
        return tuple(selections), []
    there = tuple(selection for selection in selections if _file_in(directory, selection, system))
    if not there:
        raise _no_file(directory, system, selections)
    return there, [selection.cell for selection in selections if selection not in there]


def _is_directory(path: Path) -> bool:
    with suppress(OSError):  # reported when it is read
        return path.is_dir()
    return False


# -- the system


class Files(System):
    """Reads one file, or from a directory the file of each item set; answers in item order."""

    is_stored = False
    is_for_items_only = True
    has_own_time = False

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        refuse_unknown_options("files", options, OPTIONS)
        self.spec = self.system_id = f"files:{argument}"
        path, system = split_system(argument)
        self._given = self._read = TranslationFile(
            path,
            system,
            options.get("source_column", ""),
            options.get("translation_column", ""),
            flag_option(options, "fix_encoding"),
            flag_option(options, "allow_missing"),
            flag_option(options, "accept_unsound"),
        )
        if _is_directory(path):
            inside = [*path.glob("*.jsonl"), *path.glob("*/*.jsonl")]
            self.tasks = TASKS if any(map(has_samples, inside)) else frozenset({Task.TRANSLATE})
        else:
            tasks = {Task.TRANSLATE: has_translations(path), Task.SAMPLE: has_samples(path)}
            self.tasks = frozenset(task for task, is_there in tasks.items() if is_there)
        self._translations: Sequence[str | None] = []
        self._samples: Sequence[Samples] = []
        self._notes: list[str] = []

    def prepare(self, benchmark: Benchmark, item_set: ItemSet, requests: Sequence[Request]) -> None:
        file = self._given
        if _is_directory(file.path):
            found = _file_in(file.path, item_set.selection, file.system)
            if found is None:
                raise _no_file(file.path, file.system, [item_set.selection])
            file = replace(file, path=found[0], system=found[1])
        # Reuse the file of the previous item set if it is the same.
        file = self._read = self._read if file == self._read else file
        asked = {request.task for request in requests}
        notes: list[str] = []
        if Task.SAMPLE in asked:
            self._samples, notes = read_samples(file.path, benchmark, item_set, file.system, file.source_column)
        if Task.TRANSLATE in asked:
            try:
                self._translations, remarks = file.texts(benchmark, item_set)
                notes = [*notes, *remarks]
            except UnmatchedSources:
                if revision := _other_revision(file, benchmark, item_set):
                    problem = f"has translations of {benchmark.name} revision {revision}; add --revision {revision}"
                    raise BadFile(file.path, problem) from None
                raise
        self.unsound = "; ".join(file.accepted)
        self._notes += [f"{file.path}: {note}" for note in notes]

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        translations, samples = iter(self._translations), iter(self._samples)
        answers: list[Translation] = []
        for request in requests:
            if request.task is Task.SAMPLE:
                answers += _sampled(request, next(samples))
            else:
                text = next(translations)
                answers.append(Translation(request.request_id, text, error=MISSING if text is None else None))
        yield answers

    def notes(self) -> Sequence[str]:
        return self._notes


def _sampled(request: Request, samples: Samples) -> list[Translation]:
    """Return as many samples as requested; if the file has fewer, the rest are errors."""
    answers = []
    for number in request.samples:
        if number < len(samples.texts):
            known = samples.log_probabilities[number] if samples.log_probabilities else None
            answers.append(Translation(request.request_id, samples.texts[number], number, log_probability=known))
        else:
            problem = f"the file has only {len(samples.texts)} samples of this sentence"
            answers.append(Translation(request.request_id, None, number, error=problem))
    return answers


def _other_revision(file: TranslationFile, benchmark: Benchmark, item_set: ItemSet) -> str:
    """The revision of the official data that was translated, if not the requested one."""
    selection = item_set.selection
    others = benchmark.choices_of("revision") if selection.data == "official" else ()
    for revision in others:
        if revision != selection.revision:
            with suppress(UserError):  # wrong or unavailable
                file.texts(benchmark, benchmark.load(replace(selection, revision=revision)))
                return revision
    return ""
