"""Where work is done: in this process, in processes of this machine, or on a dask cluster (`--executor`).

Work is a function of one task, both of which can be pickled. The results come back to the one process that asked (the
driver), which alone writes anything, so they are the same wherever the work was done. Nothing here knows about
translations.
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

if TYPE_CHECKING:  # to score a file needs none of it
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

KINDS = "serial, processes, processes:4, dask, dask:4 or dask:tcp://HOST:8786"
MOST_DEATHS = 3
"""Workers that may die with the same task, before the task is taken to be the reason."""
MOST_WORKERS = 1024
FEW = 3
"""Starting processes takes longer than this many pieces of work."""
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx)://)?(?:[^\s/:\[\]]+|\[[\da-fA-F:.]+\]):\d{1,5}")


class Executor(ABC):
    """Use as a context manager: its workers end with it."""

    is_serial = False
    n_lost = 0
    """How many workers were lost so far."""
    dashboard = ""
    """Where the workers can be watched, if anywhere."""

    @abstractmethod
    def each(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Every task with its result, as soon as it is there, in any order.

        A task is taken only when a worker is about to need it. If one fails, no more are taken, those under way are
        still given back, and then the failure is raised. A task whose worker is lost is done again.
        """

    def in_order(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """The results in the order of the tasks."""
        waiting: dict[int, R] = {}
        n_given = 0
        for (place, _), result in self.each(partial(_numbered, work), enumerate(tasks)):
            waiting[place] = result
            while n_given in waiting:
                yield waiting.pop(n_given)
                n_given += 1

    def notes(self) -> list[str]:
        """What to tell the user after the work."""
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
    """One task after the other, in this process."""

    is_serial = True

    def each(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        for task in tasks:
            yield task, work(task)


SERIAL = Serial()


def open_executor(text: str, n_pieces: int = 0) -> Executor:
    """The executor that `--executor` names; if it names none, processes for many pieces of work, and none for few."""
    if not text:
        text = "processes" if n_pieces > FEW else "serial"
    kind, colon, argument = text.partition(":")
    if text == "serial":
        return SERIAL
    if kind not in ("processes", "dask") or (colon and not argument):
        raise UserError(f"{text!r} is not an executor; use {KINDS}")
    if kind == "dask" and _ADDRESS.fullmatch(argument):
        return Dask(address=argument)
    # Python does not read a number of a thousand digits.
    if argument and (not re.fullmatch(r"\d{1,4}", argument) or not 1 <= int(argument) <= MOST_WORKERS):
        or_address = ", or the address of a scheduler: tcp://HOST:PORT or HOST:PORT" if kind == "dask" else ""
        raise UserError(f"{text}: give a number of workers from 1 to {MOST_WORKERS}{or_address}")
    n_workers = int(argument or 0)
    return Processes(n_workers) if kind == "processes" else Dask(n_workers)


# -- several workers ---------------------------------------------------------------------------------------------------


class _Workers(Executor):
    """Hands out tasks and collects their futures, whoever does the work."""

    @abstractmethod
    def _n_at_once(self) -> int:
        """How many tasks may be under way now."""

    @abstractmethod
    def _submit(self, work: Callable[[Any], Any], task: Any) -> Any:
        """A future of the result."""

    @abstractmethod
    def _abandon(self, futures: Sequence[Any]) -> None:
        """Stop work whose results nobody wants any more."""

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
    """Do a task on a worker; its exceptions become some that survive the way back."""
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
    """Processes and threads that are started inside never receive Ctrl-C; this one receives it afterwards.

    A terminal sends it to all of them, but only the driver acts on it, and then ends its workers. They inherit the
    blocked signal from their very first instruction on; ignoring it would only work once Python runs.
    """
    from multiprocessing import resource_tracker

    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # Comes with the first process that is started, and unblocks the signal when it does.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_if_read_by_a_worker() -> None:
    """A worker first reads the script that started it; without the usual guard there, it also gets here.

    It ends silently; the driver says why.
    """
    import multiprocessing

    if getattr(multiprocessing.current_process(), "_inheriting", False):  # as multiprocessing itself asks
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
        """The result of a task, or why there is none; EOFError or OSError if the worker dies."""
        if not self.has_begun:
            self.has_begun = self.connection.recv() is None
        self.connection.send((work, task))
        outcome: tuple[Any, Exception | None] = self.connection.recv()
        return outcome

    def end(self) -> None:
        self.connection.close()  # at which a worker that waits for work ends by itself
        self.process.join(_SECONDS_TO_END)
        self.kill()

    def kill(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()


class Processes(_Workers):
    """`processes[:N]`: workers on this machine, each a process of its own that keeps what it has loaded.

    A thread waits for each. Not a pool of processes of the standard library: there, one killed worker takes the work of
    all others with it.
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
                is_dead = isinstance(failure, EOFError | OSError)  # else the task or its result cannot be pickled
                with self._lock:
                    self._busy.remove(worker)
                    self.n_lost += is_dead and not self._is_abandoned
                if not is_dead:
                    raise
                n_deaths += 1
                _give_up(worker, n_deaths)
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


def _give_up(worker: _Worker, n_deaths: int) -> None:
    """Refuse to try the task of a dead worker again, if that is in vain."""
    code = worker.process.exitcode or 0
    if not worker.has_begun and (code > 0 or n_deaths >= MOST_DEATHS):  # the next one would do the same
        raise _not_started(f"exit code {code}" if code > 0 else "killed, or out of memory?")
    if n_deaths >= MOST_DEATHS:
        raise _workers_died()


def _serve(connection: Connection) -> None:
    """A worker: work until the driver has no more of it, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it cannot be blocked, as the driver has done: on Windows
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
            # A fault of the work: a worker that died of it would be started again.
            except (AttributeError, TypeError, pickle.PicklingError) as problem:
                connection.send((None, RuntimeError(f"on a worker: its result cannot be sent: {problem}")))


def _end_with_driver() -> None:
    """A driver that was killed cannot tell its workers, who may be in the middle of something long."""
    import multiprocessing

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


# -- dask --------------------------------------------------------------------------------------------------------------

_PER_THREAD = 2
"""Tasks that are handed over for each thread of a worker: one to do, and one so that it need not wait."""
_LOGGERS = ("distributed", "distributed.client", "distributed.gc")
"""Those to which dask gives levels of their own."""
_SECONDS_BETWEEN_COUNTS = 2.0
_SECONDS_TO_FIND = 10
_SECONDS_FOR_WORKERS = 60


class Dask(_Workers):
    """`dask[:N]`, `dask:ADDRESS`: workers of dask.distributed, on this machine or on any cluster that it can use.

    Clusters of Slurm, Kubernetes or SSH are started with dask's own tools; they give the address of a scheduler.
    """

    def __init__(self, n_workers: int = 0, address: str = "") -> None:
        """Workers on this machine (none: one for each core), or those of the scheduler at an address."""
        _end_if_read_by_a_worker()
        try:
            import dask
            import distributed
        except ImportError:
            raise MissingExtra("the executor dask", "dask") from None
        for name in _LOGGERS:  # we report lost workers and a lost scheduler ourselves
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
                except (OSError, ValueError, TypeError):  # a TimeoutError is an OSError
                    raise UserError(
                        f"no dask scheduler answers at {address}; is it running, and is the address right?"
                    ) from None
                self._client = resources.enter_context(client)
            else:
                # The thread that is started here also starts the workers, and those that take the place of lost ones.
                with _ctrl_c_blocked():
                    cluster = resources.enter_context(_dask_cluster(n_workers or os.cpu_count() or 1))
                self._client = resources.enter_context(distributed.Client(cluster))
            if find_spec("bokeh") is not None:  # without which the link leads nowhere
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
        # Named by its content: the same work is the same task for the scheduler.
        key = f"gendermark-{hashlib.sha256(pickle.dumps((work, task))).hexdigest()[:32]}"
        return self._client.submit(attempt, work, task, key=key, pure=True)

    def _result(self, future: Any) -> Any:
        import distributed

        try:
            return future.result()
        except distributed.KilledWorker:
            raise _workers_died() from None
        except (distributed.CancelledError, OSError):  # an OSError: the connection was closed
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

    for n_deaths in range(1, MOST_DEATHS + 1):  # a worker may be killed while it starts, and dask gives up then
        try:
            return distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,  # an engine is used by one thread at a time
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                memory_limit=None,
                silence_logs=logging.CRITICAL,
            )
        except RuntimeError as problem:
            if "Nanny" not in str(problem):  # which starts a worker; how that ended it does not tell
                raise
            if n_deaths == MOST_DEATHS:
                raise _not_started(f"dask: {problem}".rstrip(".")) from None
    raise AssertionError


def _version() -> str:
    return __version__
