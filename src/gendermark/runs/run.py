"""A whole run: translate, judge, estimate, and leave everything on disk."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from gendermark import locks, registry
from gendermark.benchmarks.benchmark import Benchmark, Selection
from gendermark.data.cache import cache_root
from gendermark.errors import UserError
from gendermark.metrics.metric import Resampling
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.choice import choice_requests, forced_choice
from gendermark.runs.score import score
from gendermark.runs.store import Store
from gendermark.runs.translate import Progress, check_tasks, translate
from gendermark.systems.system import open_system


@dataclass(frozen=True)
class RunConfig:
    """Everything that decides a run's numbers; stored in its manifest."""

    system: str
    selections: tuple[Selection, ...]
    system_options: Mapping[str, str] = field(default_factory=dict)
    resampling: Resampling = field(default_factory=Resampling)
    forced_choice: bool = False
    """Also ask the system to score the right against the contrastive translation, where a benchmark has both."""

    def to_json(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "system_options": dict(self.system_options),
            "selections": [selection.to_json() for selection in self.selections],
            "resampling": asdict(self.resampling),
            **({"forced_choice": True} if self.forced_choice else {}),
        }


def default_store() -> Path:
    return cache_root() / "translations.sqlite"


OpenProgress = Callable[[str], AbstractContextManager[Progress]]
"""A title -> a context in which progress is shown."""


@contextmanager
def no_progress(title: str) -> Iterator[Progress]:  # noqa: ARG001
    yield lambda done, total: None  # noqa: ARG005


def run(
    config: RunConfig,
    directory: Path | None = None,
    store_path: Path | None = None,
    open_progress: OpenProgress = no_progress,
    tell: Callable[[str], None] = lambda note: None,  # noqa: ARG005
) -> list[Result]:
    """Do a run, or what is left of it. Without a directory the results are returned only.

    `tell` gets what the system has to say after its work, line by line.
    """
    system = open_system(config.system, config.system_options)
    # Refuse everything that can be refused before the first sentence is paid for.
    benchmarks = [_completed(selection) for selection in config.selections]
    item_sets = [(benchmark, benchmark.load(selection)) for benchmark, selection in benchmarks]
    for benchmark, item_set in item_sets:
        check_tasks(system, benchmark.requests(item_set))
        if config.forced_choice:
            check_tasks(system, choice_requests(benchmark, item_set))
    results: list[Result] = []
    notes: tuple[str, ...] = ()
    cells: dict[str, Any] = {}
    with ExitStack() as stack:
        stack.enter_context(closing(system))
        if directory is not None:
            _check_cells([item_set.selection for _, item_set in item_sets])
        # A folder that is not there yet is made when the system is ready: what is refused before leaves nothing behind.
        is_new = directory is not None and not directory.exists()
        if directory is not None and not is_new:
            stack.enter_context(_folder_lock(directory))
            folder.check_reusable(directory, config.to_json())
        if len(item_sets) > 1:
            # A model for another pair, or a missing file, shows before the first set is paid for. (A single file may be
            # a pipe, which can be read once only.)
            for benchmark, item_set in item_sets:
                system.prepare(benchmark, item_set)
        store = stack.enter_context(Store(store_path or default_store())) if system.is_stored else None
        for benchmark, item_set in item_sets:
            system.prepare(benchmark, item_set)
            if config.forced_choice:
                # Some servers show only now that they cannot score.
                check_tasks(system, choice_requests(benchmark, item_set))
            if directory is not None and not results:
                if is_new:
                    stack.enter_context(_folder_lock(directory))
                    folder.check_reusable(directory, config.to_json())
                # Not before a system is ready: a mistyped path must not leave a folder that is "another run's".
                folder.write_manifest(directory, config.to_json(), "running", {})
            started = time.monotonic()
            selection = item_set.selection
            title = f"{benchmark.name} {selection.source_language}-{selection.target_language}"
            with open_progress(title) as progress:
                answers = translate(system, benchmark.requests(item_set), store, progress)
            translated = time.monotonic()
            result = score(benchmark, item_set, answers.translations, system.spec, config.resampling, system.decoding)
            if config.forced_choice:
                with open_progress(f"{title}, forced choice") as progress:
                    choice = forced_choice(system, benchmark, item_set, result.judgements, store, progress)
                result = replace(result, tests=(*result.tests, choice))
            results.append(result)
            cells[result.cell] = {
                "signature": result.signature,
                "n_asked": answers.n_asked,
                "n_stored": answers.n_stored,
                "translate_seconds": round(translated - started, 3),
                "score_seconds": round(time.monotonic() - translated, 3),
            }
            notes = tuple(system.notes())
            if directory is not None:
                folder.write_cell(directory, item_set, answers.translations, result, draws=benchmark.draws)
        if directory is not None:
            folder.write_manifest(directory, config.to_json(), "finished", cells, notes)
    for note in notes:
        tell(note)
    return results


def _completed(selection: Selection) -> tuple[Benchmark, Selection]:
    benchmark: Benchmark = registry.load("benchmark", selection.benchmark)
    return benchmark, benchmark.complete(selection)


def _check_cells(selections: Sequence[Selection]) -> None:
    """A run folder has one place for each benchmark and direction."""
    cells = Counter(f"{s.benchmark} {s.source_language}-{s.target_language}" for s in selections)
    for cell, n in cells.items():
        if n > 1:
            raise UserError(f"{cell} is asked for {n} times in one run folder; give each its own directory")


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
