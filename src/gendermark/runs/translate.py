"""From requests to translations: each asked once, made safe at once, never asked again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Translation
from gendermark.runs.store import Key, Store
from gendermark.systems.system import System

Progress = Callable[[int, int], None]
"""(finished, total), called after every portion."""

_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to a list of requests, in its order: one per sample of each."""

    translations: tuple[tuple[Translation, ...], ...]
    n_asked: int
    """How many requests the system was really asked."""
    n_stored: int
    """How many were already in the store."""


def check_tasks(system: System, requests: Sequence[Request]) -> None:
    """Before any work starts: can this system do what the benchmark needs?"""
    for task in {request.task for request in requests} - system.tasks:
        raise UserError(f"{system.spec} cannot {task.value}; it can {', '.join(sorted(system.tasks))}")


def translate(system: System, requests: Sequence[Request], store: Store | None, progress: Progress) -> Answers:
    """Answer all requests, from the store where it can."""
    check_tasks(system, requests)
    if store is None or not system.is_stored:
        return _translate_directly(system, requests, progress)
    wanted = list({(r.request_id, r.samples): r for r in requests}.values())
    answers = store.get(system.system_id, wanted)
    n_stored = sum(_is_complete(request, answers) for request in requests)
    pending = deque(portion for request in wanted for portion in _missing(request, system, answers))
    n_asked, n_done, n_total = 0, 0, len(pending)
    progress(n_done, n_total)
    while pending:
        batch = [pending.popleft() for _ in range(min(system.batch_size, len(pending)))]
        claimed = store.claim(system.system_id, batch)
        n_asked += len(claimed)
        if claimed:
            for answered in system.answer(claimed):
                store.put(system.system_id, answered)
                answers.update({(answer.request_id, answer.sample): answer for answer in answered})
                progress(n_done + sum(_is_complete(request, answers) for request in claimed), n_total)
            _check_answered(system, claimed, answers)
        n_done += len(claimed)
        # Another run is at work on the rest, or has finished it meanwhile.
        mine = {(request.request_id, request.first_sample) for request in claimed}
        others = [request for request in batch if (request.request_id, request.first_sample) not in mine]
        answers.update(store.get(system.system_id, others))
        still = [request for request in others if not _is_complete(request, answers)]
        n_done += len(others) - len(still)
        pending.extend(still)
        progress(n_done, n_total)
        if still and not claimed:
            time.sleep(_POLL_SECONDS)
    found = tuple(tuple(answers[request.request_id, sample] for sample in request.samples) for request in requests)
    return Answers(found, n_asked, n_stored)


def _translate_directly(system: System, requests: Sequence[Request], progress: Progress) -> Answers:
    answers: list[Translation] = []
    n_expected = sum(request.n_samples for request in requests)
    for portion in system.answer(requests):
        answers.extend(portion)
        progress(min(len(answers), n_expected), n_expected)
    if len(answers) != n_expected:
        raise SystemFailure(f"{system.spec} gave {len(answers)} answers where {n_expected} were expected")
    position, found = 0, []
    for request in requests:
        found.append(tuple(answers[position : position + request.n_samples]))
        position += request.n_samples
    return Answers(tuple(found), len(requests), 0)


def _missing(request: Request, system: System, answers: dict[Key, Translation]) -> list[Request]:
    """What is still to be asked of a request: its missing samples, in portions that are always cut at the same places.

    A killed run so asks again for exactly the portion it lost, with the same seeds, and the result is the same.
    """
    portions: list[Request] = []
    for sample in request.samples:
        if (request.request_id, sample) in answers:
            continue
        last = portions[-1] if portions else None
        if last and sample == last.samples.stop and sample % system.n_samples_per_call:
            portions[-1] = replace(last, n_samples=last.n_samples + 1)
        else:
            portions.append(replace(request, first_sample=sample, n_samples=1))
    return portions


def _is_complete(request: Request, answers: dict[Key, Translation]) -> bool:
    return all((request.request_id, sample) in answers for sample in request.samples)


def _check_answered(system: System, requests: Sequence[Request], answers: dict[Key, Translation]) -> None:
    for request in requests:
        if not _is_complete(request, answers):
            raise SystemFailure(f"{system.spec} gave no answer for {request.source!r}; what it did answer is kept")
