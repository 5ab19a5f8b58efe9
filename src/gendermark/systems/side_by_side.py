"""Requests to a server side by side: how many at once, and what becomes of the others when one fails."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_POLL_SECONDS = 0.1


class TooMuch(Exception):
    """A portion is too large; it is halved where it can be."""


class Gate:
    """How many requests are under way at once: half as many once a server has had too many, then slowly more again."""

    def __init__(self, most: int) -> None:
        self._most, self.limit = most, float(most)
        self._n_inside = self._n_halvings = 0
        self._waiting: deque[object] = deque()
        self._changed = threading.Condition()

    @contextmanager
    def place(self, stop: threading.Event) -> Iterator[int]:
        """A place among those under way, in the order of asking; gives what `narrow` wants to know."""
        ticket = object()
        with self._changed:
            self._waiting.append(ticket)
            while (self._waiting[0] is not ticket or self._n_inside >= int(self.limit)) and not stop.is_set():
                self._changed.wait(_POLL_SECONDS)
            self._waiting.remove(ticket)
            self._n_inside += 1
            self._changed.notify_all()
            n_halvings = self._n_halvings
        try:
            yield n_halvings
        finally:
            with self._changed:
                self._n_inside -= 1
                self._changed.notify_all()

    def narrow(self, n_halvings: int) -> None:
        with self._changed:
            if n_halvings == self._n_halvings:  # those that were sent together and refused together count once
                self.limit = max(1.0, self.limit / 2)
                self._n_halvings += 1

    def widen(self) -> None:
        with self._changed:
            self.limit = min(float(self._most), self.limit + 1 / self.limit)


def in_parallel(
    function: Callable[[Sequence[T]], R],
    portions: Iterable[Sequence[T]],
    n_at_once: int,
    stop: threading.Event,
    grace_seconds: float,
) -> Iterator[tuple[Sequence[T], R]]:
    """Call a function with each portion, several at once; yields each with its result as soon as it is there.

    A portion that is too large is halved. After a failure or Ctrl-C nothing new is begun, but what is finished,
    and what is under way and succeeds, is still yielded before the error is raised.
    """
    waiting = deque(portions)
    finished: queue.SimpleQueue[tuple[Sequence[T], R | None, BaseException | None] | None] = queue.SimpleQueue()

    def work() -> None:
        while waiting and not stop.is_set():
            try:
                portion = waiting.popleft()
            except IndexError:  # another was quicker
                break
            try:
                finished.put((portion, function(portion), None))
            except BaseException as problem:  # noqa: BLE001 (raised again where the results are read)
                if isinstance(problem, TooMuch) and len(portion) > 1:
                    middle = len(portion) // 2
                    waiting.extendleft((portion[middle:], portion[:middle]))
                else:
                    finished.put((portion, None, problem))
                    stop.set()
        finished.put(None)

    n_working = min(n_at_once, len(waiting))
    for _ in range(n_working):
        # Daemons: a thread that waits for a silent server must not keep an interrupted program from ending.
        threading.Thread(target=work, daemon=True).start()
    failure: BaseException | None = None
    deadline: float | None = None
    try:
        while n_working:
            try:
                done = finished.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
                if done is None:
                    n_working -= 1
                    continue
                portion, result, problem = done
                if problem is None:
                    yield portion, result  # type: ignore[misc]  # R may itself be None
                failure = failure or problem
            except KeyboardInterrupt as interrupt:
                if deadline is not None:  # the second one: at once
                    raise
                stop.set()
                failure, deadline = interrupt, time.monotonic() + grace_seconds
            except queue.Empty:
                break
    finally:
        stop.set()
    if failure is not None:
        raise failure
