"""From requests to translations: each is asked once and stored at once.

Only the driver uses the store. It asks the system itself or sends shards of requests to workers, and waits for requests
that another run is asking.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from gendermark.errors import SystemFailure, UserError
from gendermark.io.disk_list import LIMIT, stored
from gendermark.records import Request, Task, Translation
from gendermark.runs.executors import SERIAL, Executor
from gendermark.runs.store import Key, Store
from gendermark.systems.sampling import Decoding
from gendermark.systems.system import Opened, System, families_that_can, open_system

log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
"""(finished, total) in answers, called after every portion."""
_BLOCK = 1_000
_BATCHES_PER_CLAIM = 16
"""Claiming each batch separately would cost fast systems as much as storing its answers."""
_SECONDS_BETWEEN_WRITES = 0.25
"""For local systems: maximum computation lost to a kill."""
_SECONDS_PER_SHARD = 1.0
_SHARES = 64
"""A shard is at most this fraction of the rest, so that workers finish together."""
_POLL_SECONDS = 0.1
_SECONDS_UNTIL_TOLD = 10.0
"""Seconds without a new answer from another run before a message names it."""
_SECONDS_TO_WAIT = 1_800.0
"""Maximum wait for a large model or a server's pause."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to a list of requests, in order: one per sample of each."""

    translations: Sequence[tuple[Translation, ...]]
    n_asked: int
    """Number of requests sent to the system."""
    n_stored: int
    """Number found in the store."""
    notes: tuple[str, ...] = ()
    """Notes of workers' systems."""


def check_tasks(system: System, requests: Sequence[Request]) -> None:
    """Check before any work that the system supports the tasks, without ambiguity."""
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
    """Answer all requests, from the store if possible; by workers, if available and useful."""
    check_tasks(system, requests)
    if store is None or not system.is_stored:
        return Answers(stored(_in_order(system, requests, progress)), len(requests), 0)
    return _Translating(system, requests, store, progress).done_by(executor)


class _Translating:
    """Translates one list of requests.

    Answers stay in the store until all are present; only their keys and errors, which are not stored, are kept in
    memory.
    """

    def __init__(self, system: System, requests: Sequence[Request], store: Store, progress: Progress) -> None:
        self._system, self._requests, self._store, self._progress = system, requests, store, progress
        self._answered: set[Key] = set()
        self._errors: dict[Key, Translation] = {}
        for some in _batches(requests, LIMIT):
            self._answered.update(store.get(system.system_id, some))
        self._pending = deque(_missing(requests, system.n_samples_per_call, self._answered))
        self._others: list[Request] = []
        """Requests that another run is asking, or has just answered."""
        self._notes: dict[str, Sequence[str]] = {}
        incomplete = {portion.request_id for portion in self._pending}
        self._n_stored = sum(request.request_id not in incomplete for request in requests)
        self._n_asked, self._n_done, self._n_total = 0, 0, sum(portion.n_samples for portion in self._pending)
        self._seconds_per_batch = 0.0
        """Measured on a worker; 0 before the first answer."""
        self._last_news, self._is_told = time.monotonic(), False

    def done_by(self, executor: Executor) -> Answers:
        if self._n_total:
            self._progress(self._n_done, self._n_total)
        while self._pending:
            n_asked = self._n_asked
            if executor.is_serial or self._system.asks_a_server or self._system.opened_as is None:
                self._ask_here()
            else:
                self._ask_workers(executor)
            if self._look_again() and self._n_asked == n_asked:
                self._wait_for_others()
        notes = dict.fromkeys(chain.from_iterable(self._notes.values()))
        return Answers(stored(self._read_answers()), self._n_asked, self._n_stored, tuple(notes))

    # -- asking

    def _ask_here(self) -> None:
        """Ask the system batch by batch. Local results are written together at intervals, as syncing dominates the
        cost of writing."""
        waiting: list[Translation] = []
        written = time.monotonic()
        try:
            while claimed := self._claimed(_BATCHES_PER_CLAIM * self._system.batch_size):
                for batch in _batches(claimed, self._system.batch_size):
                    for answered in _checked(self._system, batch, self._system.answer(batch)):
                        waiting += answered
                        is_due = time.monotonic() - written > _SECONDS_BETWEEN_WRITES
                        if is_due or not self._system.is_asked_again_freely:
                            self._keep(waiting)
                            waiting, written = [], time.monotonic()
        finally:
            if waiting:
                self._keep(waiting)

    def _ask_workers(self, executor: Executor) -> None:
        for shard, (portions, worker, notes, seconds) in executor.each(answer_shard, self._shards()):
            self._notes[worker] = notes
            self._seconds_per_batch = seconds * shard.batch_size / len(shard.requests)
            # In one piece, so that a shard is stored entirely or not at all.
            answered = list(chain.from_iterable(_checked(self._system, shard.requests, portions)))
            self._keep(answered)

    def _shards(self) -> Iterator[Shard]:
        system = self._system
        assert system.opened_as is not None
        while self._pending:
            size, n = system.shard_size(self._pending[0].task), 1
            if self._seconds_per_batch:
                # About a second of work per shard makes the driver's overhead negligible.
                of_a_second = int(_SECONDS_PER_SHARD / self._seconds_per_batch)
                n = max(1, min(of_a_second, len(self._pending) // size // _SHARES))
            requests = self._claimed(size * n)
            if requests:
                briefing = system.briefing(requests)
                yield Shard(system.opened_as, system.system_id, briefing, tuple(requests), size)

    def _claimed(self, n: int) -> list[Request]:
        batch = [self._pending.popleft() for _ in range(min(n, len(self._pending)))]
        claimed = self._store.claim(self._system.system_id, batch) if batch else []
        self._n_asked += len(claimed)
        if len(claimed) < len(batch):
            mine = {(request.request_id, request.first_sample) for request in claimed}
            self._others += [request for request in batch if (request.request_id, request.first_sample) not in mine]
        return claimed

    # -- keeping

    def _keep(self, answered: Sequence[Translation]) -> None:
        """Count answers as done only when stored."""
        self._store.put(self._system.system_id, answered)
        for answer in answered:
            key = (answer.request_id, answer.sample)
            self._answered.add(key)
            if answer.text is None:
                self._errors[key] = answer
        self._n_done += len(answered)
        self._progress(self._n_done, self._n_total)

    def _read_answers(self) -> Iterator[tuple[Translation, ...]]:
        for block in _batches(self._requests, _BLOCK):
            found = self._store.get(self._system.system_id, block)
            for request in block:
                keys = [(request.request_id, sample) for sample in request.samples]
                try:
                    yield tuple([found[key] if key in found else self._errors[key] for key in keys])
                except KeyError:
                    raise SystemFailure(
                        f"the translation cache {self._store.path} has lost answers meanwhile; restore a copy, or "
                        "choose another file with --store"
                    ) from None

    # -- beside another run

    def _look_again(self) -> bool:
        """Collect answers of others; return whether they are still working."""
        if not self._others:
            return False
        others, self._others = self._others, []
        self._answered.update(self._store.get(self._system.system_id, others))
        still = list(_missing(others, self._system.n_samples_per_call, self._answered))
        n_news = sum(request.n_samples for request in others) - sum(request.n_samples for request in still)
        if n_news:
            self._last_news, self._is_told = time.monotonic(), False
        self._n_done += n_news
        self._progress(self._n_done, self._n_total)
        self._pending.extend(still)
        return bool(still)

    def _wait_for_others(self) -> None:
        """Pause; fail if the others have answered nothing for too long."""
        seconds = time.monotonic() - self._last_news
        if seconds >= _SECONDS_UNTIL_TOLD:
            who = ", ".join(self._store.others(self._system.system_id))
            if not who:  # a damaged index page: found by one query, not by another
                raise UserError(
                    f"the translation cache {self._store.path} is damaged: it has answers that cannot be read; restore "
                    "a copy, or choose another file with --store"
                )
            n_left = self._n_total - self._n_done
            what = f"process {who} is asking {self._system.spec} for {n_left:,} of these translations"
            if seconds >= _SECONDS_TO_WAIT:
                raise SystemFailure(
                    f"{what}, but gave no new answer in {seconds:.0f} s; end it, then run again (all others are kept)"
                )
            if not self._is_told:
                self._is_told = True
                log.warning("%s; waiting for it", what)
        time.sleep(_POLL_SECONDS)


def _batches(requests: Sequence[Request], size: int) -> Iterator[Sequence[Request]]:
    return (requests[start : start + size] for start in range(0, len(requests), size))


def _checked(
    system: System, requests: Sequence[Request], portions: Iterable[Sequence[Translation]]
) -> Iterator[Sequence[Translation]]:
    """Verify a system's answers by portion: no unrequested, repeated or missing ones."""
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


def _in_order(system: System, requests: Sequence[Request], progress: Progress) -> Iterator[tuple[Translation, ...]]:
    """The answers of an unstored system to each request, as they come."""
    n_expected, n = sum(request.n_samples for request in requests), 0
    asked = ((request, sample) for request in requests for sample in request.samples)
    waiting: list[Translation] = []
    for portion in system.answer(requests):
        n += len(portion)
        progress(min(n, n_expected), n_expected)
        if n > n_expected:
            break
        for answer in portion:
            request, sample = next(asked)
            if (answer.request_id, answer.sample) != (request.request_id, sample):
                raise SystemFailure(f"{system.spec} gave its answers in another order than it was asked")
            waiting.append(answer)
            if sample == request.samples[-1]:
                yield tuple(waiting)
                waiting = []
    if n != n_expected:
        raise SystemFailure(f"{system.spec} gave {n} answers where {n_expected} were expected")


def _missing(requests: Iterable[Request], n_per_call: int, answered: set[Key]) -> Iterator[Request]:
    """Samples still missing, in portions always cut at the same positions.

    A killed run repeats exactly the lost portion with the same seeds, so the result is the same.
    """
    taken: set[Key] = set()
    for request in requests:
        if request.n_samples == 1:  # the most common case
            key = (request.request_id, request.first_sample)
            if key not in answered and key not in taken:
                taken.add(key)
                yield request
            continue
        portions: list[range] = []
        for sample in request.samples:
            key = (request.request_id, sample)
            if key in answered or key in taken:
                continue
            taken.add(key)
            if portions and sample == portions[-1].stop and sample % n_per_call:
                portions[-1] = range(portions[-1].start, sample + 1)
            else:
                portions.append(range(sample, sample + 1))
        for portion in portions:
            whole = portion == request.samples
            yield request if whole else replace(request, first_sample=portion.start, n_samples=len(portion))


# -- on a worker -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shard:
    """Requests to one system, and what a worker needs to answer them."""

    opened: Opened
    system_id: str
    briefing: Any
    requests: tuple[Request, ...]
    batch_size: int
    """Batch size of the system, so that batches do not depend on shards."""


_lock = threading.Lock()
_open_systems: dict[Opened, System] = {}
"""At most one."""


def answer_shard(shard: Shard) -> tuple[Sequence[Sequence[Translation]], str, Sequence[str], float]:
    """Ask the system. Returns its answers, the worker's name, the system's notes so far, and the seconds."""
    with _lock:  # a worker may have several threads, but engines are not thread-safe
        if shard.opened not in _open_systems:
            # Close an earlier system first: memory may not suffice for both.
            while _open_systems:
                _open_systems.popitem()[1].close()
            _open_systems[shard.opened] = open_system(shard.opened.spec, dict(shard.opened.options))
        system = _open_systems[shard.opened]
        system.brief(shard.briefing, shard.requests)
        # Some systems get their id from the driver's items.
        if shard.briefing is None and system.system_id != shard.system_id:
            raise UserError(
                f"{shard.opened.spec} is another system on a worker than here (another model file, version or "
                "processor?); give all workers the same"
            )
        started = time.perf_counter()
        batches = _batches(shard.requests, shard.batch_size)
        portions = [portion for batch in batches for portion in system.answer(batch)]
        seconds = time.perf_counter() - started
        return portions, f"{socket.gethostname()}/{os.getpid()}", tuple(system.notes()), seconds
