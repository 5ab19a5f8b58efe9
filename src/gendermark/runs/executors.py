"""Execution backends: this process, local processes, or a dask cluster (`--executor`).

Work is a function of one task, both picklable. Results return to the calling process (the driver), which alone writes
anything, so they are the same for all backends. Nothing here knows about translations.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pickle
import queue
import re
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from gendermark import __version__
from gendermark.errors import MissingExtra, UserError

if TYPE_CHECKING:  # keeps `score` fast
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

KINDS = "serial, processes, processes:4, dask, dask:4 or dask:tcp://HOST:8786"
MOST_DEATHS = 3
"""Worker deaths on the same task before the task is blamed."""
MOST_WORKERS = 1024
FEW = 3
"""Below this number of tasks, starting processes is not worthwhile."""
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx)://)?(?:[^\s/:\[\]]+|\[[\da-fA-F:.]+\]):\d{1,5}")


class Executor(ABC):
    """A context manager that owns its workers."""

    is_serial = False
    n_lost = 0
    """Number of lost workers."""
    dashboard = ""
    """URL of a dashboard, if any."""

    @abstractmethod
    def each(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Every task with its result, as soon as available, in any order.

        Tasks are taken only when a worker is about to need them. After a failure no more are taken, those under way are
        still returned, and then the failure is raised. Tasks of lost workers are repeated.
        """

    def in_order(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        waiting: dict[int, R] = {}
        n_given = 0
        for (place, _), result in self.each(partial(_numbered, work), enumerate(tasks)):
            waiting[place] = result
            while n_given in waiting:
                yield waiting.pop(n_given)
                n_given += 1

    def notes(self) -> list[str]:
        n = self.n_lost
        if not n:
            return []
        lost = "1 worker was lost; its work" if n == 1 else f"{n:,} workers were lost; their work"
        return [f"{lost} was done again"]

    def close(self) -> None:  # noqa: B027 (one that works in this process holds nothing)
        """End its workers."""

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _numbered(work: Callable[[T], R], task: tuple[int, T]) -> R:
    return work(task[1])


class Serial(Executor):
    is_serial = True

    def each(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        for task in tasks:
            yield task, work(task)


SERIAL = Serial()


def open_executor(text: str, n_pieces: int = 0) -> Executor:
    """The executor of `--executor`; by default, processes for many tasks, else none."""
    if not text:
        text = "processes" if n_pieces > FEW else "serial"
    kind, colon, argument = text.partition(":")
    if text == "serial":
        return SERIAL
    if kind not in ("processes", "dask") or (colon and not argument):
        raise UserError(f"{text!r} is not an executor; use {KINDS}")
    if kind == "dask" and _ADDRESS.fullmatch(argument):
        return Dask(address=argument)
    # Python refuses to read a number of thousands of digits.
    if argument and (not re.fullmatch(r"\d{1,4}", argument) or not 1 <= int(argument) <= MOST_WORKERS):
        or_address = ", or the address of a scheduler: tcp://HOST:PORT or HOST:PORT" if kind == "dask" else ""
        raise UserError(f"{text}: give a number of workers from 1 to {MOST_WORKERS}{or_address}")
    n_workers = int(argument or 0)
    return Processes(n_workers) if kind == "processes" else Dask(n_workers)


# -- several workers ---------------------------------------------------------------------------------------------------


class _Workers(Executor):
    """Hands out tasks and collects their futures."""

    @abstractmethod
    def _n_at_once(self) -> int:
        """How many tasks may be in progress."""

    @abstractmethod
    def _submit(self, work: Callable[[Any], Any], task: Any) -> Any:
        """A future of the result."""

    @abstractmethod
    def _abandon(self, futures: Sequence[Any]) -> None:
        """Stop work whose results are no longer needed."""

    def _result(self, future: Any) -> Any:
        return future.result()

    def each(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        waiting = iter(tasks)
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        under_way: dict[Any, T] = {}
        failure: Exception | None = None
        try:
            while True:
                while failure is None and len(under_way) < self._n_at_once():
                    try:
                        task = next(waiting)
                    except StopIteration:
                        break
                    future = self._submit(work, task)
                    under_way[future] = task
                    future.add_done_callback(finished.put)
                if not under_way:
                    break
                future = finished.get()
                task = under_way.pop(future)
                try:
                    result = self._result(future)
                except Exception as problem:  # noqa: BLE001 (whatever it is, it is raised when the others are done)
                    failure = failure or problem
                    continue
                yield task, result
        finally:
            if under_way:  # left early: an interrupt, a full disk
                self._abandon(list(under_way))
        if failure is not None:
            raise failure from None


def attempt(work: Callable[[T], R], task: T) -> R:
    """Do a task on a worker; exceptions are converted to picklable ones."""
    try:
        return work(task)
    except UserError as problem:
        raise UserError(str(problem)) from None
    except MemoryError:
        raise UserError("a worker ran out of memory; use fewer workers, or smaller batches") from None
    except Exception as problem:  # noqa: BLE001 (it is raised again where the results are read)
        raise RuntimeError(f"on a worker: {problem!r}") from None


def _workers_died() -> UserError:
    return UserError(
        f"{MOST_DEATHS} workers died on the same portion of work (killed, or out of memory?); finished work is kept: "
        "use fewer workers or smaller batches, and rerun to resume"
    )


# -- starting workers on this machine ----------------------------------------------------------------------------------


@contextlib.contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Processes and threads started inside never receive Ctrl-C; this one receives it afterwards.

    A terminal sends it to all of them, but only the driver acts on it and ends its workers. They inherit the blocked
    signal from their first instruction on; ignoring it would only work once Python runs.
    """
    from multiprocessing import resource_tracker

    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # It starts with the first process, and unblocks the signal when it does.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_if_read_by_a_worker() -> None:
    """A worker first imports the script that started it; without the usual guard there, it also gets here.

    It ends silently; the driver reports why.
    """
    import multiprocessing

    if getattr(multiprocessing.current_process(), "_inheriting", False):  # as multiprocessing itself checks
        raise SystemExit(1)


def _not_started(how: str) -> UserError:
    return UserError(
        f"workers stopped before they began to work ({how}); start them from a script file with its code under "
        '`if __name__ == "__main__":`, or use the executor serial'
    )


# -- processes ---------------------------------------------------------------------------------------------------------

_THREADS = "OMP_NUM_THREADS"
_SECONDS_TO_END = 5.0


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    connection: Connection
    has_begun: bool = False

    def done(self, work: Callable[[Any], Any], task: Any) -> tuple[Any, Exception | None]:
        """The result of a task, or its exception; EOFError or OSError if the worker dies."""
        if not self.has_begun:
            self.has_begun = self.connection.recv() is None
        self.connection.send((work, task))
        outcome: tuple[Any, Exception | None] = self.connection.recv()
        return outcome

    def end(self) -> None:
        self.connection.close()  # an idle worker then ends by itself
        self.process.join(_SECONDS_TO_END)
        self.kill()

    def kill(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()


class Processes(_Workers):
    """`processes[:N]`: local worker processes that keep what they have loaded.

    A thread waits for each. The standard library's process pools lose all work if one worker is killed.
    """

    def __init__(self, n_workers: int = 0) -> None:
        from concurrent.futures import ThreadPoolExecutor

        _end_if_read_by_a_worker()
        self.n_workers = n_workers or _n_processors()
        self._threads = ThreadPoolExecutor(self.n_workers)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._is_abandoned = False

    def _n_at_once(self) -> int:
        return self.n_workers

    def _submit(self, work: Callable[[Any], Any], task: Any) -> Any:
        return self._threads.submit(self._done_by_a_worker, work, task)

    def _done_by_a_worker(self, work: Callable[[Any], Any], task: Any) -> Any:
        n_deaths = 0
        while True:
            with self._lock:
                if self._is_abandoned:
                    return None
                worker = self._idle.pop() if self._idle else self._started()
                self._busy.add(worker)
            try:
                result, problem = worker.done(work, task)
            except BaseException as failure:
                worker.kill()
                is_dead = isinstance(failure, EOFError | OSError)  # otherwise the task or its result cannot be pickled
                with self._lock:
                    self._busy.remove(worker)
                    self.n_lost += is_dead and not self._is_abandoned
                if not is_dead:
                    raise
                n_deaths += 1
                code = worker.process.exitcode or 0
                if not worker.has_begun and (code > 0 or n_deaths >= MOST_DEATHS):  # the next one would die too
                    how = f"exit code {code}" if code > 0 else "killed, or out of memory?"
                    raise _not_started(how) from None
                if n_deaths >= MOST_DEATHS:
                    raise _workers_died() from None
            else:
                with self._lock:
                    self._busy.remove(worker)
                    self._idle.append(worker)
                if problem is not None:
                    raise problem
                return result

    def _started(self) -> _Worker:
        import multiprocessing

        # Not forked: threads and engines of the driver do not survive a fork.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,), daemon=True, name="gendermark-worker")
        with _environment(_THREADS, str(max(1, _n_processors() // self.n_workers))), _ctrl_c_blocked():
            process.start()
        theirs.close()
        return _Worker(process, ours)

    def _abandon(self, futures: Sequence[Any]) -> None:
        from concurrent.futures import wait

        for future in futures:
            future.cancel()
        with self._lock:
            self._is_abandoned = True
            for worker in self._busy:
                worker.process.kill()
        wait(futures)
        self._is_abandoned = False

    def close(self) -> None:
        self._threads.shutdown()
        while self._idle:
            self._idle.pop().end()


def _serve(connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Windows, where the driver cannot block it
    threading.Thread(target=_end_with_driver, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        connection.send(None)
        while True:
            work, task = connection.recv()
            try:
                outcome: tuple[Any, Exception | None] = attempt(work, task), None
            except (UserError, RuntimeError) as problem:
                outcome = None, problem
            try:
                connection.send(outcome)
            # The task's fault: if the worker died of it, it would be restarted.
            except (AttributeError, TypeError, pickle.PicklingError) as problem:
                connection.send((None, RuntimeError(f"on a worker: its result cannot be sent: {problem}")))


def _end_with_driver() -> None:
    """A killed driver cannot notify its workers, which may be in a long task."""
    import multiprocessing

    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)


def _n_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set an environment variable for child processes, unless the user has set it."""
    if name in os.environ:
        yield
        return
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


# -- dask --------------------------------------------------------------------------------------------------------------

_PER_THREAD = 2
"""Tasks in progress per worker thread: a current and a waiting one."""
_LOGGERS = ("distributed", "distributed.client", "distributed.gc")
"""Loggers whose levels dask sets itself."""
_SECONDS_BETWEEN_COUNTS = 2.0
_SECONDS_TO_FIND = 10
_SECONDS_FOR_WORKERS = 60


class Dask(_Workers):
    """`dask[:N]`, `dask:ADDRESS`: workers of dask.distributed, local or on any cluster.

    Start clusters of Slurm, Kubernetes or SSH with dask's own tools, and pass their scheduler's address.
    """

    def __init__(self, n_workers: int = 0, address: str = "") -> None:
        """Local workers (default: one per core), or those of a scheduler."""
        _end_if_read_by_a_worker()
        try:
            import dask
            import distributed
        except ImportError:
            raise MissingExtra("the executor dask", "dask") from None
        for name in _LOGGERS:  # we report lost workers and schedulers ourselves
            logging.getLogger(name).setLevel(logging.CRITICAL)
        dask.config.set(
            {"distributed.scheduler.allowed-failures": MOST_DEATHS - 1, "distributed.logging.distributed": "critical"}
        )
        self._n_threads, self._counted = 0, 0.0
        self._seen: set[str] = set()
        self._present: set[str] = set()
        with contextlib.ExitStack() as resources:
            if address:
                log.info("looking for the dask scheduler at %s, for %d s at most", address, _SECONDS_TO_FIND)
                try:
                    client = distributed.Client(address, timeout=_SECONDS_TO_FIND)
                except (OSError, ValueError, TypeError):  # TimeoutError is an OSError
                    raise UserError(
                        f"no dask scheduler answers at {address}; is it running, and is the address right?"
                    ) from None
                self._client = resources.enter_context(client)
            else:
                # The thread started here also starts workers and their replacements.
                with _ctrl_c_blocked():
                    cluster = resources.enter_context(_dask_cluster(n_workers or os.cpu_count() or 1))
                self._client = resources.enter_context(distributed.Client(cluster))
            if find_spec("bokeh") is not None:  # required by the dashboard
                self.dashboard = str(self._client.dashboard_link)
            self._check_workers(address)
            self._resources = resources.pop_all()

    @property
    def n_lost(self) -> int:  # type: ignore[override]  # the cluster knows
        return len(self._seen - self._present)

    def _n_at_once(self) -> int:
        now = time.monotonic()
        if now - self._counted > _SECONDS_BETWEEN_COUNTS or not self._n_threads:  # workers come and go
            workers = self._client.nthreads()
            self._present = set(workers)
            self._seen |= self._present
            self._n_threads, self._counted = max(1, sum(workers.values())), now
        return _PER_THREAD * self._n_threads

    def _submit(self, work: Callable[[Any], Any], task: Any) -> Any:
        # Named by content: the scheduler recognises equal work.
        key = f"gendermark-{hashlib.sha256(pickle.dumps((work, task))).hexdigest()[:32]}"
        return self._client.submit(attempt, work, task, key=key, pure=True)

    def _result(self, future: Any) -> Any:
        import distributed

        try:
            return future.result()
        except distributed.KilledWorker:
            raise _workers_died() from None
        except (distributed.CancelledError, OSError):  # OSError: the connection was closed
            raise UserError("the dask scheduler is gone; finished work is kept: rerun to resume") from None
        finally:
            future.release()

    def _abandon(self, futures: Sequence[Any]) -> None:
        with contextlib.suppress(Exception):  # the scheduler may be gone
            self._client.cancel(futures, force=True)

    def close(self) -> None:
        self._resources.close()

    def _check_workers(self, address: str) -> None:
        where = f"the dask scheduler at {address}" if address else "dask"
        if not self._client.nthreads():
            log.info("%s has no workers yet; waiting for the first, for %d s at most", where, _SECONDS_FOR_WORKERS)
        try:
            self._client.wait_for_workers(1, timeout=_SECONDS_FOR_WORKERS)
        except TimeoutError:
            raise UserError(f"{where} has no workers; start some with `dask worker {address}`") from None
        try:
            versions = set(self._client.run(_version).values())
        except Exception as problem:  # noqa: BLE001 (whatever a worker says, gendermark is not usable there)
            raise UserError(
                f"gendermark cannot be used on the workers of {where} ({problem}); install it there"
            ) from None
        if versions != {__version__}:
            others = ", ".join(sorted(versions - {__version__}))
            raise UserError(f"workers of {where} have gendermark {others}, here is {__version__}; install the same")


def _dask_cluster(n_workers: int) -> Any:
    import distributed

    for n_deaths in range(1, MOST_DEATHS + 1):  # a worker may be killed while starting, and dask gives up then
        try:
            return distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,  # engines are not thread-safe
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                memory_limit=None,
                silence_logs=logging.CRITICAL,
            )
        except RuntimeError as problem:
            if "Nanny" not in str(problem):  # it starts workers, but does not say how that failed
                raise
            if n_deaths == MOST_DEATHS:
                raise _not_started(f"dask: {problem}".rstrip(".")) from None
    raise AssertionError


def _version() -> str:
    return __version__
