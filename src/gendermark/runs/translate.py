"""From requests to translations: each asked once, made safe at once, never asked again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from gendermark.errors import SystemFailure, UserError
from gendermark.io.disk_list import LIMIT, stored
from gendermark.records import Request, Task, Translation
from gendermark.runs import working
from gendermark.runs.behind import Behind
from gendermark.runs.executors import SERIAL, Executor
from gendermark.runs.store import Key, Store
from gendermark.runs.waiting import Waiting
from gendermark.systems.sampling import Decoding
from gendermark.systems.system import System, families_that_can

_BLOCK = 1_000
_BATCHES_PER_CLAIM = 4
"""To claim each by itself would cost fast systems as much as to keep its answers."""
_SECONDS_TO_WRITE_BEHIND = 0.25
"""A portion that took longer is safe before the next is asked for: its loss would be more than the wait is."""
_SECONDS_PER_SHARD = 1.0
_SHARES = 64
"""A shard is at most such a part of what is left, so that in the end no worker waits for long for another."""
Progress = Callable[[int, int], None]
"""(finished, total) in answers, called after every portion."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to a list of requests, in its order: one per sample of each."""

    translations: Sequence[tuple[Translation, ...]]
    n_asked: int
    """How many requests the system was really asked."""
    n_stored: int
    """How many were already in the store."""
    notes: tuple[str, ...] = ()
    """What the systems of workers had to say."""


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


def translate(
    system: System,
    requests: Sequence[Request],
    store: Store | None,
    progress: Progress,
    executor: Executor = SERIAL,
) -> Answers:
    """Answer all requests, from the store where it can; by workers, if there are any and no server does the work."""
    check_tasks(system, requests)
    if store is None or not system.is_stored:
        return _translate_directly(system, requests, progress)
    return _Translating(system, requests, store, progress).done_by(executor)


class _Translating:
    """One list of requests on its way to its answers. This process alone speaks with the store."""

    def __init__(self, system: System, requests: Sequence[Request], store: Store, progress: Progress) -> None:
        self._system, self._requests, self._store, self._progress = system, requests, store, progress
        self._answers: _Held | _InStore = _InStore(store, system.system_id) if len(requests) >= LIMIT else _Held()
        for start in range(0, len(requests), LIMIT):
            self._answers.update(store.get(system.system_id, requests[start : start + LIMIT]))
        self._pending = deque(_missing(requests, system, self._answers))
        self._others: list[Request] = []
        """What another run is at work on, or has finished meanwhile, or as much of it as it needed itself."""
        self._notes: dict[str, Sequence[str]] = {}
        incomplete = {portion.request_id for portion in self._pending}
        self._n_stored = sum(request.request_id not in incomplete for request in requests)
        self._n_asked, self._n_done, self._n_total = 0, 0, sum(portion.n_samples for portion in self._pending)
        self._seconds_per_batch = 0.0
        """Of a worker; 0 until one has answered."""

    def done_by(self, executor: Executor) -> Answers:
        self._progress(self._n_done, self._n_total)
        waiting = Waiting(self._system, self._store)
        while self._pending:
            n_asked = self._n_asked
            if executor.is_serial or self._system.asks_a_server or self._system.opened_as is None:
                if self._system.is_asked_again_freely:
                    self._ask_here_and_write_behind()
                else:
                    self._ask_here()
            else:
                self._ask_workers(executor)
            if self._look_again() and self._n_asked == n_asked:
                waiting.pause(self._n_done, self._n_total - self._n_done)
        found = self._answers.of(self._requests)
        notes = dict.fromkeys(chain.from_iterable(self._notes.values()))
        return Answers(found, self._n_asked, self._n_stored, tuple(notes))

    def _ask_here(self) -> None:
        claimed = self._claimed(_BATCHES_PER_CLAIM * self._system.batch_size)
        for batch in self._batches(claimed):
            for answered in _checked(self._system, batch, self._system.answer(batch)):
                self._keep(answered)

    def _ask_here_and_write_behind(self) -> None:
        """While the system is at work on a portion, the one before it is written, and the next ones are claimed."""
        n = _BATCHES_PER_CLAIM * self._system.batch_size
        with Behind() as behind:
            coming = behind.do(self._claimed, n)
            while batches := deque(self._batches(coming.result())):
                while batches:
                    batch = batches.popleft()
                    if not batches:
                        coming = behind.do(self._claimed, n)
                    started = time.monotonic()
                    for answered in _checked(self._system, batch, self._system.answer(batch)):
                        behind.write(partial(self._write, answered), partial(self._acknowledge, answered))
                        if time.monotonic() - started > _SECONDS_TO_WRITE_BEHIND:
                            behind.wait()
                        started = time.monotonic()

    def _batches(self, requests: Sequence[Request]) -> Iterator[Sequence[Request]]:
        size = self._system.batch_size
        return (requests[start : start + size] for start in range(0, len(requests), size))

    def _ask_workers(self, executor: Executor) -> None:
        for shard, answered in executor.each(working.answer, self._shards()):
            self._notes[answered.worker] = answered.notes
            self._seconds_per_batch = answered.seconds * shard.batch_size / len(shard.requests)
            # In one piece, so that a shard is there or is not.
            self._keep(list(chain.from_iterable(_checked(self._system, shard.requests, answered.portions))))

    def _shards(self) -> Iterator[working.Shard]:
        system = self._system
        assert system.opened_as is not None
        while self._pending:
            size = system.shard_size(self._pending[0].task)
            requests = self._claimed(size * self._batches_per_shard(size))
            if requests:
                briefing = system.briefing(requests)
                yield working.Shard(system.opened_as, system.system_id, briefing, tuple(requests), size)

    def _batches_per_shard(self, size: int) -> int:
        """As many as take a worker about a second: what each shard costs the driver is then little beside it."""
        if not self._seconds_per_batch:
            return 1
        return max(1, min(int(_SECONDS_PER_SHARD / self._seconds_per_batch), len(self._pending) // size // _SHARES))

    def _claimed(self, n: int) -> list[Request]:
        """Those of the next requests that nobody else is asking for."""
        batch = [self._pending.popleft() for _ in range(min(n, len(self._pending)))]
        if not batch:
            return []
        claimed = self._store.claim(self._system.system_id, batch)
        self._n_asked += len(claimed)
        if len(claimed) < len(batch):
            mine = {(request.request_id, request.first_sample) for request in claimed}
            self._others += [request for request in batch if (request.request_id, request.first_sample) not in mine]
        return claimed

    def _keep(self, answered: Sequence[Translation]) -> None:
        self._write(answered)
        self._acknowledge(answered)

    def _write(self, answered: Sequence[Translation]) -> None:
        self._store.put(self._system.system_id, answered)

    def _acknowledge(self, answered: Sequence[Translation]) -> None:
        """Not before they are safe."""
        self._answers.update({(answer.request_id, answer.sample): answer for answer in answered})
        self._n_done += len(answered)
        self._progress(self._n_done, self._n_total)

    def _look_again(self) -> bool:
        """Take what others have answered. Whether they are still at work on something."""
        if not self._others:
            return False
        others, self._others = self._others, []
        self._answers.update(self._store.get(self._system.system_id, others))
        still = list(_missing(others, self._system, self._answers))
        self._n_done += sum(request.n_samples for request in others) - sum(request.n_samples for request in still)
        self._progress(self._n_done, self._n_total)
        self._pending.extend(still)
        return bool(still)


class _Held(dict[Key, Translation]):
    """Answers, all of them in memory."""

    def of(self, requests: Sequence[Request]) -> Sequence[tuple[Translation, ...]]:
        return tuple(tuple(self[one.request_id, sample] for sample in one.samples) for one in requests)


class _InStore:
    """Answers that are left in the store: only their names are held, and what the store does not keep, errors."""

    def __init__(self, store: Store, system_id: str) -> None:
        self._store, self._system_id = store, system_id
        self._there: set[Key] = set()
        self._errors = _Held()

    def __contains__(self, key: Key) -> bool:
        return key in self._there or key in self._errors

    def update(self, found: Mapping[Key, Translation]) -> None:
        self._there.update(key for key, answer in found.items() if answer.text is not None)
        self._errors.update({key: answer for key, answer in found.items() if answer.text is None})

    def of(self, requests: Sequence[Request]) -> Sequence[tuple[Translation, ...]]:
        return stored(answers for start in range(0, len(requests), _BLOCK) for answers in self._read(requests, start))

    def _read(self, requests: Sequence[Request], start: int) -> Sequence[tuple[Translation, ...]]:
        block = requests[start : start + _BLOCK]
        try:
            return _Held(self._store.get(self._system_id, block) | self._errors).of(block)
        except KeyError:
            raise SystemFailure("answers are gone from the store since they were kept; run again to go on") from None


def _checked(
    system: System, requests: Sequence[Request], portions: Iterable[Sequence[Translation]]
) -> Iterator[Sequence[Translation]]:
    """What a system answers, portion by portion: nothing that was not asked for, nothing twice, nothing left out."""
    missing = {(request.request_id, sample): request for request in requests for sample in request.samples}
    for answered in portions:
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
    return Answers(stored(_in_order(system, requests, progress)), len(requests), 0)


def _in_order(system: System, requests: Sequence[Request], progress: Progress) -> Iterator[tuple[Translation, ...]]:
    """The answers to each request, as they come."""
    n_expected, n = sum(request.n_samples for request in requests), 0
    is_ordered = True
    asked = ((request, sample) for request in requests for sample in request.samples)
    waiting: list[Translation] = []
    for portion in system.answer(requests):
        for answer in portion:
            n += 1
            request, sample = next(asked, (None, 0))
            if request is None or (answer.request_id, answer.sample) != (request.request_id, sample):
                is_ordered = False
            if is_ordered and request is not None:
                waiting.append(answer)
                if sample == request.samples[-1]:
                    yield tuple(waiting)
                    waiting = []
        progress(min(n, n_expected), n_expected)
    if n != n_expected:
        raise SystemFailure(f"{system.spec} gave {n} answers where {n_expected} were expected")
    if not is_ordered:
        raise SystemFailure(f"{system.spec} gave its answers in another order than it was asked")


def _missing(requests: Iterable[Request], system: System, answers: _Held | _InStore) -> Iterator[Request]:
    """What is still to be asked, each sample once, in portions that are always cut at the same places.

    A killed run so asks again for exactly the portion it lost, with the same seeds, and the result is the same.
    """
    taken: set[Key] = set()
    for request in requests:
        if request.n_samples == 1:  # by far the most, and so the shortest way
            key = (request.request_id, request.first_sample)
            if key not in answers and key not in taken:
                taken.add(key)
                yield request
            continue
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
