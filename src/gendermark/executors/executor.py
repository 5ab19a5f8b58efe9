"""What an executor is, and how `--executor` names one.

Work is a function of one task, both of which can be pickled. The results come back to the one process that asked (the
driver), which alone writes anything; so the results are the same wherever the work was done.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from gendermark.errors import UserError

T = TypeVar("T")
R = TypeVar("R")

MOST_DEATHS = 3
"""Workers that may die with the same task, before the task is taken to be the reason."""
KINDS = "serial, processes, processes:4, dask, dask:4 or dask:tcp://HOST:8786"


class Executor(ABC):
    """Use as a context manager: its workers end with it."""

    is_serial = False

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
        for (place, _), result in self.each(_Numbered(work), enumerate(tasks)):
            waiting[place] = result
            while n_given in waiting:
                yield waiting.pop(n_given)
                n_given += 1

    @property
    def dashboard(self) -> str:
        """Where the workers can be watched, if anywhere."""
        return ""

    def notes(self) -> list[str]:
        """What is worth a line after the work: how many workers were lost."""
        return []

    def close(self) -> None:  # noqa: B027 (most hold nothing)
        """End its workers."""

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class _Numbered:
    """Work on the second of a number and a task."""

    work: Callable[[Any], Any]

    def __call__(self, task: tuple[int, Any]) -> Any:
        return self.work(task[1])


class Serial(Executor):
    """One task after the other, in this process."""

    is_serial = True

    def each(self, work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        for task in tasks:
            yield task, work(task)


SERIAL = Serial()


FEW = 3
"""To start processes takes longer than so many pieces of work."""


def open_executor(text: str, n_pieces: int = 0) -> Executor:
    """The executor that `--executor` names; if it names none, processes for many pieces of work, and none for few."""
    if not text:
        text = "processes" if n_pieces > FEW else "serial"
    kind, colon, argument = text.partition(":")
    if text == "serial":
        return SERIAL
    if kind not in ("processes", "dask") or (colon and not argument):
        raise UserError(f"{text!r} is no executor; write {KINDS}")
    if kind == "processes":
        from gendermark.executors.processes import Processes

        return Processes(_n_workers(text, argument))
    from gendermark.executors.cluster import Cluster

    if not argument or _INTEGER.fullmatch(argument):
        return Cluster(_n_workers(text, argument))
    if not _ADDRESS.fullmatch(argument):
        raise UserError(
            f"{text}: give a number of workers, or the address of a dask scheduler: tcp://HOST:PORT, tls://HOST:PORT "
            "or HOST:PORT"
        )
    return Cluster(address=argument)


MOST_WORKERS = 1024
_INTEGER = re.compile(r"[+-]?\d+")
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx)://)?(?:[^\s/:\[\]]+|\[[\da-fA-F:.]+\]):\d{1,5}")


def _n_workers(text: str, argument: str) -> int:
    """The number that was given; 0 if none was."""
    if not argument:
        return 0
    # A number of a thousand digits is none that Python reads.
    if len(argument) <= len(str(MOST_WORKERS)) and argument.isdecimal() and 1 <= int(argument) <= MOST_WORKERS:
        return int(argument)
    raise UserError(f"{text}: the number of workers must be from 1 to {MOST_WORKERS}")


# -- what a worker gives back ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """The result of a task, or why there is none. Exceptions themselves may not survive the way back."""

    result: Any = None
    refusal: str = ""
    """What a user can mend."""
    fault: str = ""
    """Anything else."""


def attempt(work: Callable[[T], R], task: T) -> Outcome:
    """On a worker: do it, whatever happens."""
    try:
        return Outcome(work(task))
    except UserError as problem:
        return Outcome(refusal=str(problem))
    except MemoryError:
        return Outcome(refusal="a worker ran out of memory; use fewer workers, or smaller batches")
    except Exception as problem:  # noqa: BLE001 (it is raised again where the results are read)
        return Outcome(fault=repr(problem))


def result_of(outcome: Outcome) -> Any:
    """On the driver: the result, or the failure as if it had happened here."""
    if outcome.refusal:
        raise UserError(outcome.refusal)
    if outcome.fault:
        raise RuntimeError(f"on a worker: {outcome.fault}")
    return outcome.result


def told_lost(n: int) -> list[str]:
    """The note on so many lost workers; none, if none was."""
    if not n:
        return []
    return [
        "1 worker was lost; its work was done again"
        if n == 1
        else f"{n:,} workers were lost; their work was done again"
    ]


def worker_died(n: int) -> UserError:
    return UserError(
        f"{n} workers died with the same portion of work (killed, or out of memory?); what is finished is kept: use "
        "fewer workers or smaller batches, and run again to go on"
    )
