"""Ctrl-C goes to every process of a terminal; it is the business of the driver alone, which then ends its workers."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker


@contextlib.contextmanager
def kept_from_workers() -> Iterator[None]:
    """Processes and threads that are started inside never hear of Ctrl-C; this one hears of it afterwards.

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
