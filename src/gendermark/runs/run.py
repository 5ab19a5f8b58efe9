"""A whole run: a plan is carried out; translate, judge, estimate, and leave everything on disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gendermark import locks
from gendermark.data.cache import cache_root
from gendermark.errors import SystemFailure, UserError
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.choice import forced_choice
from gendermark.runs.plan import Plan, RunConfig, Step, check_cells, plan
from gendermark.runs.score import Origin, score
from gendermark.runs.store import Store
from gendermark.runs.translate import Answers, Progress, check_tasks, translate
from gendermark.systems.soundness import ANSWERS, Given, Line
from gendermark.systems.system import System, open_system

__all__ = ["ALONE", "OpenProgress", "RunConfig", "Surroundings", "carry_out", "default_store", "no_progress", "run"]


def default_store() -> Path:
    return cache_root() / "translations.sqlite"


OpenProgress = Callable[[str], AbstractContextManager[Progress]]
"""A title -> a context in which progress is shown."""


@contextmanager
def no_progress(title: str) -> Iterator[Progress]:  # noqa: ARG001
    yield lambda done, total: None  # noqa: ARG005


@dataclass(frozen=True)
class Surroundings:
    """What a run needs that decides no number: where answers are kept, and who is told what."""

    store: Path | None = None
    open_progress: OpenProgress = no_progress
    tell: Callable[[str], None] = lambda note: None  # noqa: ARG005
    name: str = ""
    """What the system is called; a run that goes on keeps the name it has."""


ALONE = Surroundings()


def run(config: RunConfig, directory: Path | None = None, around: Surroundings = ALONE) -> list[Result]:
    """Do a run, or what is left of it. Without a directory the results are returned only."""
    with closing(open_system(config.system, config.system_options)) as system:
        return carry_out(plan(config, system), system, directory, around)


def carry_out(
    planned: Plan, system: System, directory: Path | None = None, around: Surroundings = ALONE
) -> list[Result]:
    """Do what was planned for a system that is open already."""
    with ExitStack() as stack:
        return _carry_out(planned, system, directory, around, stack)


def _carry_out(
    planned: Plan, system: System, directory: Path | None, around: Surroundings, stack: ExitStack
) -> list[Result]:
    config = planned.config.to_json()
    # A folder that is not there yet is made when the system is ready: what is refused before leaves nothing behind.
    is_new = directory is not None and not directory.exists()
    if directory is not None:
        check_cells(planned)
        if not is_new:
            _take(directory, config, stack)
    if len(planned.steps) > 1:
        # A model for another pair, or a missing file, shows before the first set is paid for. (A single file may be a
        # pipe, which can be read once only.)
        for step in planned.steps:
            system.prepare(step.benchmark, step.item_set, step.requests)
    store = stack.enter_context(Store(around.store or default_store())) if system.is_stored else None
    results: list[Result] = []
    cells: dict[str, Any] = {}
    n_there = 0
    around = replace(around, name=around.name or (folder.name_in(directory) if directory is not None else ""))
    for step in planned.steps:
        system.prepare(step.benchmark, step.item_set, step.requests)
        check_tasks(system, step.choices)  # some servers show only now that they cannot score
        if directory is not None and not results:
            if is_new:
                _take(directory, config, stack)
            # Not before a system is ready: a mistyped path must not leave a folder that is "another run's".
            folder.write_manifest(directory, config, "running", {}, name=around.name)
        if system.is_stored and not results:
            for planned_step in planned.steps:
                unanswered = planned_step.unanswered(system, store)
                n_there += len(planned_step.requests) - len(unanswered)
                around.tell(planned_step.forecast(system, unanswered))
        result, cells[step.item_set.selection.cell] = _do(step, system, store, planned.config, directory, around)
        results.append(result)
    if n_there:
        n_all = sum(len(step.requests) for step in planned.steps)
        why = "From an earlier run" if is_new or directory is None else "Resumed"
        around.tell(f"{why}: {n_there:,} of {n_all:,} sentences were already translated")
    notes = tuple(system.notes())
    if directory is not None:
        _check_there(directory, cells)
        folder.write_manifest(directory, config, "finished", cells, notes, around.name)
    for note in notes:
        around.tell(note)
    return results


def _do(
    step: Step, system: System, store: Store | None, config: RunConfig, directory: Path | None, around: Surroundings
) -> tuple[Result, dict[str, Any]]:
    """One step of a plan: its result, and how it went."""
    started = time.monotonic()
    with around.open_progress(step.title) as progress:
        answers = translate(system, step.requests, store, progress)
    if system.answers_by_line:
        _check_lines(step, system, store, answers, around)
    translated = time.monotonic()
    origin = Origin(system.spec, system.decoding, config.resampling, around.name)
    result = score(step.benchmark, step.item_set, answers.translations, origin)
    if config.forced_choice:
        with around.open_progress(f"{step.title}, forced choice") as progress:
            choice = forced_choice(system, step.choices, step.pairs, result.judgements, store, progress)
        result = replace(result, tests=(*result.tests, choice))
    sums = {}
    if directory is not None:
        folder.write_cell(directory, step.item_set, answers.translations, result)
        sums = {folder.SUMS: folder.sums(directory / result.cell)}
    return result, {
        "signature": result.signature,
        **sums,
        "n_asked": answers.n_asked,
        "n_stored": answers.n_stored,
        "translate_seconds": round(translated - started, 3),
        "score_seconds": round(time.monotonic() - translated, 3),
    }


def _check_there(directory: Path, cells: Mapping[str, Any]) -> None:
    """Writing makes a folder anew that somebody deleted under way; what was in it before is gone all the same."""
    gone = [
        cell for cell, row in cells.items() if not all((directory / cell / name).exists() for name in row[folder.SUMS])
    ]
    if gone:
        raise UserError(
            f"{', '.join(gone)} in {directory} was deleted while the run was going; give the same command again "
            "(translations are kept in the store)"
        )


def _check_lines(step: Step, system: System, store: Store | None, answers: Answers, around: Surroundings) -> None:
    """Refuse answers that are not of the sentences they were given for, and keep none of them."""
    pairs = zip(step.item_set.items, answers.translations, strict=True)
    lines = [Line(item, samples[0].text or "", n) for n, (item, samples) in enumerate(pairs, start=1)]
    notes: list[str] = []
    try:
        Given(system.spec, step.benchmark, step.item_set.selection, lines, ANSWERS).check(notes)
    except UserError as problem:
        if store is not None:
            store.forget(system.system_id, step.requests)
        raise SystemFailure(f"{problem} (none of these answers is kept)") from None
    for note in notes:
        around.tell(note)


def _take(directory: Path, config: dict[str, Any], stack: ExitStack) -> None:
    stack.enter_context(_folder_lock(directory))
    folder.check_reusable(directory, config)


@contextmanager
def _folder_lock(directory: Path) -> Iterator[None]:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UserError(f"{directory} is a file; choose a directory with -o") from None
    except OSError as problem:
        raise UserError(f"cannot write {directory}: {problem.strerror or problem}") from None
    try:
        with locks.hold(directory / ".lock"):
            yield
    except locks.LockTimeoutError:
        raise UserError(
            f"another process is writing to {directory}; wait for it, or choose another directory with -o"
        ) from None
