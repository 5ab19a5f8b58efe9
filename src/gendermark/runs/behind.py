"""Writing behind: what is answered is written by a thread, while the system is at work on the next portion.

One portion at most is on its way to the disk. It is acknowledged (counted, shown as done) when it is there, by the
thread that asked; so a kill can lose only what nobody was told of.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Behind:
    """A thread that does one thing after the other. At the end of the `with`, all of it is done."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "gendermark-store")
        self._writing: Future[None] | None = None
        self._then: Callable[[], None] = lambda: None

    def __enter__(self) -> Behind:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.wait()
        finally:
            self._thread.shutdown()  # waits: what was answered before a failure is kept

    def do(self, work: Callable[P, R], *given: P.args, **named: P.kwargs) -> Future[R]:
        return self._thread.submit(work, *given, **named)

    def write(self, work: Callable[[], None], then: Callable[[], None]) -> None:
        """Begin to write, when what was written before is safe. `then` is called as soon as we hear that this is."""
        self.wait()
        self._writing, self._then = self.do(work), then

    def wait(self) -> None:
        """Until what is being written is safe. Raises what went wrong with it."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            writing.result()
            self._then()
