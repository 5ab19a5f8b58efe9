"""From requests to translations: each asked once, made safe at once, never asked again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Task, Translation
from gendermark.runs.store import Key, Store
from gendermark.runs.waiting import Waiting
from gendermark.systems.sampling import Decoding
from gendermark.systems.system import System, families_that_can

Progress = Callable[[int, int], None]
"""(finished, total) in answers, called after every portion."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to a list of requests, in its order: one per sample of each."""

    translations: tuple[tuple[Translation, ...], ...]
    n_asked: int
    """How many requests the system was really asked."""
    n_stored: int
    """How many were already in the store."""


def check_tasks(system: System, requests: Sequence[Request]) -> None:
    """Before any work starts: can this system do what the benchmark needs, and is it clear how?"""
    for options in {request.options for request in requests if request.task is Task.SAMPLE}:
        Decoding.of(options)
    for task in {request.task for request in requests} - system.tasks:
        able = ", ".join(families_that_can(task))
        raise UserError(
            f"{system.spec} cannot {task.value}, which this needs; it can {', '.join(sorted(system.tasks))}; "
            f"systems that can {task.value}: {able}"
        )


def translate(system: System, requests: Sequence[Request], store: Store | None, progress: Progress) -> Answers:
    """Answer all requests, from the store where it can."""
    check_tasks(system, requests)
    if store is None or not system.is_stored:
        return _translate_directly(system, requests, progress)
    answers = store.get(system.system_id, requests)
    pending = deque(_missing(requests, system, answers))
    incomplete = {portion.request_id for portion in pending}
    n_stored = sum(request.request_id not in incomplete for request in requests)
    n_asked, n_done, n_total = 0, 0, sum(portion.n_samples for portion in pending)
    progress(n_done, n_total)
    waiting = Waiting(system, store)
    while pending:
        batch = [pending.popleft() for _ in range(min(system.batch_size, len(pending)))]
        claimed = store.claim(system.system_id, batch)
        n_asked += len(claimed)
        for answered in _ask(system, claimed):
            store.put(system.system_id, answered)
            answers.update({(answer.request_id, answer.sample): answer for answer in answered})
            n_done += len(answered)
            progress(n_done, n_total)
        if len(claimed) < len(batch):
            # Another run is at work on the rest, or has finished it meanwhile, or as much of it as it needed itself.
            mine = {(request.request_id, request.first_sample) for request in claimed}
            others = [request for request in batch if (request.request_id, request.first_sample) not in mine]
            answers.update(store.get(system.system_id, others))
            still = list(_missing(others, system, answers))
            n_done += sum(request.n_samples for request in others) - sum(request.n_samples for request in still)
            progress(n_done, n_total)
            pending.extend(still)
            if still and not claimed:
                waiting.pause(n_done, n_total - n_done)
    found = tuple(tuple(answers[request.request_id, sample] for sample in request.samples) for request in requests)
    return Answers(found, n_asked, n_stored)


def _ask(system: System, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
    """What the system answers, portion by portion: nothing that was not asked for, nothing twice, nothing left out."""
    if not requests:
        return
    missing = {(request.request_id, sample): request for request in requests for sample in request.samples}
    for answered in system.answer(requests):
        for answer in answered:
            if missing.pop((answer.request_id, answer.sample), None) is None:
                raise SystemFailure(
                    f"{system.spec} gave an answer twice, or one that it was not asked for: {str(answer.text)[:60]!r}; "
                    "what it answered before is kept"
                )
        yield answered
    for request in missing.values():
        raise SystemFailure(f"{system.spec} gave no answer for {request.source!r}; what it did answer is kept")


def _translate_directly(system: System, requests: Sequence[Request], progress: Progress) -> Answers:
    answers: list[Translation] = []
    n_expected = sum(request.n_samples for request in requests)
    for portion in system.answer(requests):
        answers.extend(portion)
        progress(min(len(answers), n_expected), n_expected)
    if len(answers) != n_expected:
        raise SystemFailure(f"{system.spec} gave {len(answers)} answers where {n_expected} were expected")
    asked = [(request.request_id, sample) for request in requests for sample in request.samples]
    if [(answer.request_id, answer.sample) for answer in answers] != asked:
        raise SystemFailure(f"{system.spec} gave its answers in another order than it was asked")
    position, found = 0, []
    for request in requests:
        found.append(tuple(answers[position : position + request.n_samples]))
        position += request.n_samples
    return Answers(tuple(found), len(requests), 0)


def _missing(requests: Iterable[Request], system: System, answers: Mapping[Key, Translation]) -> Iterator[Request]:
    """What is still to be asked, each sample once, in portions that are always cut at the same places.

    A killed run so asks again for exactly the portion it lost, with the same seeds, and the result is the same.
    """
    taken: set[Key] = set()
    for request in requests:
        portions: list[range] = []
        for sample in request.samples:
            key = (request.request_id, sample)
            if key in answers or key in taken:
                continue
            taken.add(key)
            if portions and sample == portions[-1].stop and sample % system.n_samples_per_call:
                portions[-1] = range(portions[-1].start, sample + 1)
            else:
                portions.append(range(sample, sample + 1))
        for portion in portions:
            whole = portion == request.samples
            yield request if whole else replace(request, first_sample=portion.start, n_samples=len(portion))
