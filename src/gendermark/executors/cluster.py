"""`dask[:N]`, `dask:ADDRESS`: workers of dask.distributed, on this machine or on any cluster that it can use.

Clusters of Slurm, Kubernetes or SSH are started with dask's own tools; they give the address of a scheduler.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pickle
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from gendermark import __version__
from gendermark.errors import MissingExtra, UserError
from gendermark.executors.executor import MOST_DEATHS, Executor, attempt, result_of, told_lost, worker_died
from gendermark.executors.starting import end_if_read_by_a_worker, kept_from_workers, not_started

log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

_PER_THREAD = 2
"""Tasks that are handed over for each thread of a worker: one to do, and one so that it need not wait."""
_LOGGERS = ("distributed", "distributed.client", "distributed.gc")
"""Those to which dask gives levels of their own."""
_SECONDS_BETWEEN_COUNTS = 2.0
_SECONDS_TO_FIND = 10
_SECONDS_FOR_WORKERS = 60


class Cluster(Executor):
    def __init__(self, n_workers: int = 0, address: str = "") -> None:
        """Workers on this machine (none: one for each core), or those of the scheduler at an address."""
        end_if_read_by_a_worker()
        try:
            import dask
            import distributed
        except ImportError:
            raise MissingExtra("the executor dask", "dask") from None
        for name in _LOGGERS:  # lost workers are our business, not news, and so is a lost scheduler
            logging.getLogger(name).setLevel(logging.CRITICAL)
        dask.config.set(
            {"distributed.scheduler.allowed-failures": MOST_DEATHS - 1, "distributed.logging.distributed": "critical"}
        )
        self._resources = contextlib.ExitStack()
        self._n_threads, self._counted = 0, 0.0
        self._seen: set[str] = set()
        self._present: set[str] = set()
        with contextlib.ExitStack() as resources:
            if address:
                self._client = resources.enter_context(_found(address))
            else:
                # The thread that is started here also starts the workers, and those that take the place of lost ones.
                with kept_from_workers():
                    cluster = resources.enter_context(_started(n_workers or os.cpu_count() or 1))
                self._client = resources.enter_context(distributed.Client(cluster))
            self._check_workers(address)
            self._resources = resources.pop_all()

    def each(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        import distributed

        waiting = iter(tasks)
        finished = distributed.as_completed()
        under_way: dict[Any, T] = {}
        failure: BaseException | None = None
        try:
            while True:
                while failure is None and len(under_way) < _PER_THREAD * self._threads():
                    try:
                        task = next(waiting)
                    except StopIteration:
                        break
                    future = self._client.submit(attempt, work, task, key=_key(work, task), pure=True)
                    under_way[future] = task
                    finished.add(future)
                if not under_way:
                    break
                future = next(finished)
                task = under_way.pop(future)
                try:
                    result = result_of(future.result())
                except (UserError, RuntimeError) as problem:
                    failure = failure or problem
                    continue
                except distributed.KilledWorker:
                    failure = failure or worker_died(MOST_DEATHS)
                    continue
                except (distributed.CancelledError, OSError):  # an OSError: the connection was closed
                    raise UserError(
                        "the dask scheduler is gone; what is finished is kept: run again to go on"
                    ) from None
                finally:
                    future.release()
                yield task, result
        finally:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self._client.cancel(list(under_way), force=True)
        if failure is not None:
            raise failure

    def notes(self) -> list[str]:
        return told_lost(len(self._seen - self._present))

    @property
    def dashboard(self) -> str:
        # The link is there even if bokeh is not, which shows what it leads to.
        return str(self._client.dashboard_link) if _has_dashboard() else ""

    def close(self) -> None:
        self._resources.close()

    def _threads(self) -> int:
        """How many tasks the cluster can do at once now; workers come and go."""
        now = time.monotonic()
        if now - self._counted > _SECONDS_BETWEEN_COUNTS or not self._n_threads:
            workers = self._client.nthreads()
            self._present = set(workers)
            self._seen |= self._present
            self._n_threads, self._counted = max(1, sum(workers.values())), now
        return self._n_threads

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


def _started(n_workers: int) -> Any:
    import distributed

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
        raise not_started(f"dask: {problem}".rstrip(".")) from None


def _found(address: str) -> Any:
    import distributed

    log.info("looking for the dask scheduler at %s, for %d s at most", address, _SECONDS_TO_FIND)
    try:
        return distributed.Client(address, timeout=_SECONDS_TO_FIND)
    except (OSError, ValueError, TypeError):  # a TimeoutError is an OSError
        raise UserError(f"no dask scheduler answers at {address}; is it running, and is the address right?") from None


def _version() -> str:
    return __version__


def _has_dashboard() -> bool:
    from importlib.util import find_spec

    return find_spec("bokeh") is not None


def _key(work: Callable[[Any], Any], task: Any) -> str:
    """Named by its content: the same work is the same task for the scheduler."""
    return f"gendermark-{hashlib.sha256(pickle.dumps((work, task))).hexdigest()[:32]}"
