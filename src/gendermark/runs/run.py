"""A whole run: plan, refuse early, translate, judge, estimate, and write everything to disk."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.data.official import cache_root
from gendermark.errors import SystemFailure, UserError
from gendermark.io import locks, soundness
from gendermark.io.disk_list import mapped
from gendermark.io.translations import check_sound
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.names import is_control
from gendermark.records import Judgement, Request, Task, Test, Translation, Verdict
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.executors import SERIAL, Executor
from gendermark.runs.score import PORTION, Origin, score, sentence_of
from gendermark.runs.store import Store
from gendermark.runs.translate import Answers, Progress, check_tasks, translate
from gendermark.selection import Selection
from gendermark.systems.system import System, open_system

# -- the plan ----------------------------------------------------------------------------------------------------------

Pairs = Sequence[tuple[str, str] | None]
"""For each item a correct and a contrastive translation, or None."""


@dataclass(frozen=True)
class RunConfig:
    """Everything that determines a run's numbers; stored in its manifest."""

    system: str
    selections: tuple[Selection, ...]
    system_options: Mapping[str, str] = field(default_factory=dict)
    resampling: Resampling = field(default_factory=Resampling)
    forced_choice: bool = False
    """Also score the correct against the contrastive translation with the system, if a benchmark has both."""
    accept_unsound: bool = False
    """Accept unsound translations; the results say so."""
    audited: str = ""
    """The file of these translations, if from `audit`."""

    def to_json(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "system_options": dict(self.system_options),
            "selections": [selection.to_json() for selection in self.selections],
            "resampling": asdict(self.resampling),
            **({"forced_choice": True} if self.forced_choice else {}),
            **({"accept_unsound": True} if self.accept_unsound else {}),
            **({"audited": self.audited} if self.audited else {}),
        }


@dataclass(frozen=True)
class Step:
    """One benchmark and direction: its items and requests."""

    benchmark: Benchmark
    item_set: ItemSet
    requests: Sequence[Request]
    pairs: Pairs = ()
    """The pairs for a forced choice, if requested."""

    @cached_property
    def choices(self) -> Sequence[Request]:
        return choice_requests(self.requests, self.pairs) if self.pairs else []

    @property
    def title(self) -> str:
        return f"{self.benchmark.name} {self.item_set.selection.direction}"

    def forecast(self, system: System, store: Store) -> str:
        """Numbers of new and stored requests, and the cost if known."""
        answered = store.get(system.system_id, self.requests)
        open_ = [r for r in self.requests if not all((r.request_id, sample) in answered for sample in r.samples)]
        n = len(self.requests)
        n_there = n - len(open_)
        what = f"{n:,} sentences" if n_there == 0 else f"using {n_there:,} stored translations"
        if 0 < n_there < n:
            what += f", {n - n_there:,} sentences to translate"
        n_samples = self.requests[0].n_samples if self.requests else 1
        drawn = f", {n_samples:,} samples of each" if n_samples > 1 else ""
        cost = system.forecast(open_) if open_ else ""
        return f"{self.title}: {what}{drawn}{f'; {cost}' if cost else ''}"


def plan(config: RunConfig, system: System) -> list[Step]:
    """Refuse everything that can be refused before the first sentence is paid for."""
    steps = []
    for selection in config.selections:
        benchmark: Benchmark = registry.load("benchmark", selection.benchmark)
        item_set = benchmark.load(benchmark.complete(selection))
        pairs = pairs_of(benchmark, item_set) if config.forced_choice else ()
        step = Step(benchmark, item_set, benchmark.requests(item_set), pairs)
        check_tasks(system, [*step.requests, *step.choices])
        benchmark.signature(item_set.selection)  # reports a missing extra of the judge
        steps.append(step)
    return steps


# -- carrying it out ---------------------------------------------------------------------------------------------------


def default_store() -> Path:
    return cache_root() / "translations.sqlite"


OpenProgress = Callable[[str], AbstractContextManager[Progress]]
"""A title -> a context that shows progress."""


@contextmanager
def no_progress(title: str) -> Iterator[Progress]:  # noqa: ARG001
    yield lambda done, total: None  # noqa: ARG005


@dataclass(frozen=True)
class RunContext:
    """Cache, messages and workers of a run; its numbers do not depend on them."""

    store: Path | None = None
    open_progress: OpenProgress = no_progress
    tell: Callable[[str], None] = lambda note: None  # noqa: ARG005
    name: str = ""
    """The given system name; a resumed run keeps its stored one."""
    executor: Executor = SERIAL


NO_CONTEXT = RunContext()


def run(config: RunConfig, directory: Path | None = None, context: RunContext = NO_CONTEXT) -> list[Result]:
    """Do or resume a run. Without a directory, only return the results."""
    with closing(open_system(config.system, config.system_options)) as system:
        return carry_out(config, plan(config, system), system, directory, context)


def carry_out(
    asked: RunConfig,
    planned: Sequence[Step],
    system: System,
    directory: Path | None = None,
    context: RunContext = NO_CONTEXT,
) -> list[Result]:
    config = asked.to_json()
    if not context.name and directory is not None and (directory / folder.MANIFEST).exists():
        context = replace(context, name=str(folder.read_manifest(directory).get("name", "")))
    done: dict[int, Result] = {}
    cells: dict[str, Any] = {}
    notes: list[str] = []
    # Parallel by set, or by portion if one is large.
    is_large = any(len(step.requests) > PORTION for step in planned)
    workers = context.executor if len(planned) > 1 and not is_large else SERIAL
    work = partial(_scored, executor=context.executor) if is_large else _scored
    with ExitStack() as stack:
        # While the next step is translated, workers may score the previous ones.
        steps = enumerate(translate_steps(asked, planned, system, directory, config, context, stack))
        for (number, given), (result, seconds) in workers.each(work, steps):
            texts = mapped(sentence_of, given.item_set.items, given.answers.translations)
            done[number] = replace(result, texts=texts)
            notes += given.answers.notes
            if directory is not None:
                written = folder.write_cell(directory, given.item_set, given.answers.translations, result)
                cells[result.cell] = {**written, **given.row, "score_seconds": seconds}
        results = [done[number] for number in range(len(planned))]
        notes = list(dict.fromkeys((*system.notes(), *notes)))
        if directory is not None:
            ordered = {result.cell: cells[result.cell] for result in results}
            # Writing a cell makes a folder anew that somebody deleted meanwhile; what was in it is gone all the same.
            gone = [
                cell
                for cell, row in ordered.items()
                if len(row[folder.SUMS]) < 3 or not all((directory / cell / name).exists() for name in row[folder.SUMS])
            ]
            if gone:
                raise UserError(
                    f"{', '.join(gone)} in {directory} was deleted during the run; rerun the same command "
                    "(finished translations are kept)"
                )
            folder.write_manifest(directory, config, "finished", ordered, notes, context.name)
    for note in notes:  # workers' notes are printed by their owner
        context.tell(note)
    return results


def translate_steps(
    asked: RunConfig,
    planned: Sequence[Step],
    system: System,
    directory: Path | None,
    config: Mapping[str, Any],
    context: RunContext,
    stack: ExitStack,
) -> Iterator[Translated]:
    """Every step of a plan with its translations. Resources are released by the stack.

    With a directory, its manifest records that this configuration is running.
    """
    # Create a new folder only when the system is ready: refusals leave nothing behind.
    is_new = directory is not None and not directory.exists()
    if directory is not None:
        for title, n in Counter(step.title for step in planned).items():
            if n > 1:
                raise UserError(f"{title} is requested {n} times in one run folder; use a separate directory for each")
        if not is_new:
            _take(directory, config, stack)
    if len(planned) > 1:
        # A wrong direction or missing file must show before the first set is paid for. (A pipe can be read only once.)
        for step in planned:
            system.prepare(step.benchmark, step.item_set, step.requests)
    store = stack.enter_context(Store(context.store or default_store())) if system.is_stored else None
    for number, step in enumerate(planned):
        system.prepare(step.benchmark, step.item_set, step.requests)
        check_tasks(system, step.choices)  # some servers show only now that they cannot score
        if directory is not None and number == 0:
            if is_new:
                _take(directory, config, stack)
            # Not before the system is ready: a mistyped path must not leave a folder of "another run".
            folder.write_manifest(directory, config, "running", {}, name=context.name)
        if store is not None and number == 0:
            for planned_step in planned:
                context.tell(planned_step.forecast(system, store))
        yield _translated(step, system, store, asked, context)


@dataclass(frozen=True)
class Translated:
    """A translated step with all that scoring needs, here or on a worker."""

    item_set: ItemSet
    answers: Answers
    origin: Origin
    row: dict[str, Any]
    """Its manifest entry."""
    pairs: Pairs
    chosen: Answers | None
    """Scores of both translations of each pair, if requested."""


def _translated(step: Step, system: System, store: Store | None, config: RunConfig, context: RunContext) -> Translated:
    started = time.monotonic()
    with context.open_progress(step.title) as progress:
        n_first = 0
        if system.asks_a_server and len(step.requests) > _FIRST and not config.accept_unsound:
            first = translate(system, step.requests[:_FIRST], store, progress, context.executor)
            n_first = first.n_asked
            _check_sound(step, system, store, first, context, accept=False)
        answers = translate(system, step.requests, store, progress, context.executor)
        answers = replace(answers, n_asked=answers.n_asked + n_first, n_stored=answers.n_stored - n_first)
    unsound = system.unsound
    if not system.is_for_items_only and not is_control(system.spec):  # files are checked as they are read
        unsound = _check_sound(step, system, store, answers, context, accept=config.accept_unsound)
    row = {
        "n_asked": answers.n_asked,
        "n_stored": answers.n_stored,
        "translate_seconds": round(time.monotonic() - started, 3),
    }
    chosen = None
    if config.forced_choice:
        with context.open_progress(f"{step.title}, forced choice") as progress:
            chosen = translate(system, step.choices, store, progress, context.executor)
    origin = Origin(system.spec, system.decoding, config.resampling, context.name, unsound)
    return Translated(step.item_set, answers, origin, row, step.pairs, chosen)


def _scored(numbered: tuple[int, Translated], executor: Executor = SERIAL) -> tuple[Result, float]:
    _, given = numbered
    started = time.monotonic()
    benchmark: Benchmark = registry.load("benchmark", given.item_set.selection.benchmark)
    result = score(benchmark, given.item_set, given.answers.translations, given.origin, executor)
    if given.chosen is not None:
        choice = forced_choice(given.chosen, given.pairs, result.judgements, given.origin.system)
        result = replace(result, tests=(*result.tests, choice))
    return result, round(time.monotonic() - started, 3)


_FIRST = 300
"""Sentences whose answers must be sound before a server is paid for the others."""
_REMEDIES = {
    soundness.LETTERS: "make the system read and write UTF-8",
    soundness.LOST: "make the system read and write UTF-8",
    soundness.ORDER: "make the system write one line for each that it reads, in the same order",
}


def _check_sound(
    step: Step, system: System, store: Store | None, answers: Answers, context: RunContext, *, accept: bool
) -> str:
    """Refuse implausible translations, or return their problem if accepted.

    Stored answers are checked whenever used. Those of a program are dropped: fixing it is free.
    """
    if step.benchmark.draws:
        return ""
    texts = [samples[0].text or "" for samples in answers.translations]
    item_set = replace(step.item_set, items=step.item_set.items[: len(texts)])
    accepted, notes = list[str](), list[str]()
    try:
        with soundness.refused(system.spec, _REMEDIES, accepted=accepted if accept else None):
            notes = check_sound(step.benchmark, item_set, texts)
    except UserError as problem:
        kept = "none of these answers is kept"
        if store is not None and system.answers_by_line:
            store.forget(system.system_id, step.requests)
        elif system.is_stored:
            kept = "the answers are kept in the store: after fixing the system, use another --store"
        raise SystemFailure(f"{problem} ({kept}); --accept-unsound scores them anyway") from None
    for note in notes:
        context.tell(f"{system.spec}: {note}")
    return "; ".join(accepted)


def _take(directory: Path, config: Mapping[str, Any], stack: ExitStack) -> None:
    """Create or reuse a folder, and lock it; refuse one of another process or run."""
    stack.enter_context(locks.claimed(directory))
    folder.check_reusable(directory, config)


# -- forced choice: which of two given translations is more probable for a system? -------------------------------------
# MT-GenEval considered this (footnote 7) and found lower agreement with people than for the words of translations; so
# it is reported beside the word-based verdict, with their agreement, and never replaces it.


def pairs_of(benchmark: Benchmark, item_set: ItemSet) -> Pairs:
    if benchmark.choices is None:
        raise UserError(f"{benchmark.name} has no pairs of translations to choose from; leave out --forced-choice")
    return benchmark.choices(item_set)


def choice_requests(requests: Sequence[Request], pairs: Pairs) -> list[Request]:
    """Two requests for each item with a pair: score the correct translation, score the contrastive one."""
    return [
        Request(one.source, one.source_language, one.target_language, task=Task.SCORE, target=target)
        for one, targets in zip(requests, pairs, strict=True)
        for target in targets or ()
    ]


def forced_choice(scored: Answers, pairs: Pairs, judgements: Sequence[Judgement], spec: str) -> Test:
    """Measure how often a system prefers the correct translation, and how often that agrees with its own output.

    `scored` are its answers to `choice_requests`.
    """
    answers = [samples[0] for samples in scored.translations]
    asked = [judgement for judgement, targets in zip(judgements, pairs, strict=True) if targets is not None]
    preferred: list[bool | None] = []
    for right, wrong in zip(answers[::2], answers[1::2], strict=True):
        if right.log_probability is None or wrong.log_probability is None:
            raise UserError(f"{spec} gave no log-probability for a translation it was asked to score")
        is_tie = right.log_probability == wrong.log_probability
        preferred.append(None if is_tie else right.log_probability > wrong.log_probability)
    n_right, n_decided = sum(choice is True for choice in preferred), sum(choice is not None for choice in preferred)
    written = {"correct": True, "wrong": False}
    outcomes = [
        j.outcome or ("correct" if j.is_correct else "wrong" if j.verdict is Verdict.JUDGED and j.observed else "")
        for j in asked
    ]
    both = [
        (choice, written[outcome])
        for choice, outcome in zip(preferred, outcomes, strict=True)
        if choice is not None and outcome in written
    ]
    interval = statistics.wilson(n_right, n_decided)
    return Test(
        "forced-choice",
        "Of the right and the contrastive translation, which does the system find more probable?",
        100 * n_right / n_decided if n_decided else None,
        None,
        {
            "statistic": "percent that prefer the right one",
            "low": 100 * interval[0] if interval else None,
            "high": 100 * interval[1] if interval else None,
            "n_decided": n_decided,
            "n_total": len(preferred),
            "agrees_with_words": 100 * sum(a == b for a, b in both) / len(both) if both else None,
            "kappa_with_words": statistics.cohen_kappa([a for a, _ in both], [b for _, b in both]),
            "n_compared": len(both),
            **_log_probabilities(answers[::2], answers[1::2]),
        },
    )


def _log_probabilities(right: Sequence[Translation], wrong: Sequence[Translation]) -> dict[str, float | None]:
    means: dict[str, float | None] = {}
    for name, answers in (("right", right), ("wrong", wrong)):
        totals = [answer.log_probability for answer in answers if answer.log_probability is not None]
        n_tokens = sum(answer.n_tokens or 0 for answer in answers)
        known = bool(answers) and all(answer.n_tokens for answer in answers)
        means[f"log_probability_{name}"] = math.fsum(totals) / len(totals) if totals else None
        means[f"log_probability_per_token_{name}"] = math.fsum(totals) / n_tokens if known else None
    return means
