"""How workers on this machine come to be: out of reach of Ctrl-C, and not from a script that each would do again."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker

from gendermark.errors import UserError

NO_GUARD = 79
"""The exit code of a worker whose script would start workers of its own; any that Python itself does not use."""
_GUARD = '`if __name__ == "__main__":`'


@contextlib.contextmanager
def kept_from_workers() -> Iterator[None]:
    """Processes and threads that are started inside never hear of Ctrl-C; this one hears of it afterwards.

    A terminal sends it to all of them, but it is the business of the driver alone, which then ends its workers.
    They inherit that the signal is blocked, from their very first instruction on. Ignoring it is not enough: a process
    can do so only once Python runs.
    """
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


def end_if_read_by_a_worker() -> None:
    """A worker first reads the script that started it. Without the usual guard there it comes here, too.

    It ends without a word: the driver, which sees how it ended, says it once.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):  # as multiprocessing itself asks
        raise SystemExit(NO_GUARD)


def not_guarded() -> UserError:
    return UserError(
        "workers read the script that starts them, and this one would start workers again in each; put what it does "
        f"under {_GUARD}"
    )


def not_started(how: str) -> UserError:
    return UserError(
        f"workers ended before their first piece of work ({how}); the script that starts them must be a file that they "
        f"can read, with what it does under {_GUARD}; without workers: the executor serial"
    )
