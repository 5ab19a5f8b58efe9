"""`processes[:N]`: workers on this machine, each a process of its own that keeps what it has loaded.

Our own few lines and not a pool of the standard library: there, one killed worker takes the work of all others with it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from gendermark.errors import UserError
from gendermark.executors.executor import MOST_DEATHS, Executor, Outcome, attempt, result_of, told_lost, worker_died
from gendermark.executors.starting import (
    NO_GUARD,
    end_if_read_by_a_worker,
    kept_from_workers,
    not_guarded,
    not_started,
)

T = TypeVar("T")
R = TypeVar("R")

_THREADS = "OMP_NUM_THREADS"
_SECONDS_TO_END = 5.0
_HERE = b"here"
"""The first that a worker says: it has begun."""


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    has_begun: bool = False

    def begins(self) -> bool:
        """Whether what there was to read is its first word only."""
        if self.has_begun:
            return False
        with contextlib.suppress(EOFError, OSError):
            self.has_begun = self.connection.recv_bytes() == _HERE
        return self.has_begun

    def end(self) -> None:
        self.connection.close()  # at which a worker that waits for work ends by itself
        self.process.join(_SECONDS_TO_END)
        self.kill()

    def kill(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()


@dataclass
class _Task:
    content: Any
    n_deaths: int = field(default=0, compare=False)


class Processes(Executor):
    def __init__(self, n_workers: int = 0) -> None:
        end_if_read_by_a_worker()
        self.n_workers = n_workers or _n_processors()
        self._idle: list[_Worker] = []
        self._n_lost = 0

    def each(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        waiting = iter(tasks)
        again: deque[_Task] = deque()
        busy: dict[Connection, tuple[_Worker, _Task]] = {}
        failure: BaseException | None = None
        try:
            while True:
                while failure is None and len(busy) < self.n_workers:
                    task = again.popleft() if again else _next(waiting)
                    if task is None:
                        break
                    worker = self._hand_over(work, task)
                    busy[worker.connection] = (worker, task)
                if not busy:
                    break
                for connection in wait(list(busy)):
                    worker, task = busy[connection]  # type: ignore[index]  # nothing else was waited for
                    if worker.begins():
                        continue
                    del busy[worker.connection]
                    outcome = _received(worker)
                    if outcome is None:
                        self._n_lost += 1
                        task.n_deaths += 1
                        worker.kill()
                        problem = _given_up(worker, task)
                        if problem is None:
                            again.append(task)
                        failure = failure or problem
                        continue
                    self._idle.append(worker)
                    try:
                        result = result_of(outcome)
                    except (UserError, RuntimeError) as fault:
                        failure = failure or fault
                        continue
                    yield task.content, result
        finally:
            # Left early (an interrupt, a full disk): what is under way belongs to nobody any more.
            for worker, _ in busy.values():
                worker.kill()
        if failure is not None:
            raise failure

    def notes(self) -> list[str]:
        return told_lost(self._n_lost)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().end()

    def _hand_over(self, work: Callable[[Any], Any], task: _Task) -> _Worker:
        while True:
            worker = self._idle.pop() if self._idle else self._started()
            try:
                worker.connection.send_bytes(pickle.dumps((work, task.content)))
            except OSError:
                if not worker.has_begun:  # and never will; why is seen where its answer is waited for
                    return worker
                self._n_lost += 1  # it died while it had nothing to do
                worker.kill()
            else:
                return worker

    def _started(self) -> _Worker:
        # Not forked: threads and engines of the driver do not survive a fork.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,), daemon=True, name="gendermark-worker")
        with _environment(_THREADS, str(max(1, _n_processors() // self.n_workers))), kept_from_workers():
            process.start()
        theirs.close()
        return _Worker(process, ours)


def _next(tasks: Iterator[Any]) -> _Task | None:
    try:
        return _Task(next(tasks))
    except StopIteration:
        return None


def _received(worker: _Worker) -> Outcome | None:
    """What a worker gives back; None if it is dead."""
    try:
        outcome: Outcome = pickle.loads(worker.connection.recv_bytes())
    except (EOFError, OSError):
        return None
    return outcome


def _given_up(worker: _Worker, task: _Task) -> UserError | None:
    """Why the task of a dead worker is not tried again, if it is not."""
    code = worker.process.exitcode or 0
    if not worker.has_begun and code == NO_GUARD:
        return not_guarded()
    if not worker.has_begun and (code > 0 or task.n_deaths >= MOST_DEATHS):  # by itself, as the next one would
        return not_started(f"exit code {code}" if code > 0 else "killed, or out of memory?")
    return worker_died(task.n_deaths) if task.n_deaths >= MOST_DEATHS else None


def _serve(connection: Connection) -> None:
    """A worker: work until the driver has no more of it, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it cannot be blocked, as the driver has done: on Windows
    threading.Thread(target=_end_with_driver, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        connection.send_bytes(_HERE)
        while True:
            work, task = pickle.loads(connection.recv_bytes())
            connection.send_bytes(_pickled(attempt(work, task)))


def _pickled(outcome: Outcome) -> bytes:
    """What cannot be sent is told as a fault of the work: a worker that died of it would be started again."""
    try:
        return pickle.dumps(outcome)
    except (AttributeError, TypeError, pickle.PicklingError) as problem:
        return pickle.dumps(Outcome(fault=f"its result cannot be sent: {problem}"))


def _end_with_driver() -> None:
    """A driver that was killed cannot tell its workers, who may be in the middle of something long."""
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)


def _n_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set a variable for processes that are started inside, unless the user has set it."""
    if name in os.environ:
        yield
        return
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]
