"""A file lock between processes. The operating system releases it when its holder ends, even by kill -9.

The empty lock file stays: deleting it while another process waits on it would let two processes in. A process forked by
the holder (not one newly started) keeps the lock until it ends too.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from gendermark.errors import UserError

_POLL_SECONDS = 0.05

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int, *, shared: bool) -> bool:  # noqa: ARG001  (Windows has no shared byte locks)
        try:
            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int, *, shared: bool) -> bool:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as problem:  # some network file systems
            raise UserError(f"this file system does not support locks: {problem.strerror or problem}") from None
        return True


class LockTimeoutError(UserError):
    """Another process held a lock for too long."""


@contextmanager
def hold(path: Path, *, timeout_seconds: float = 0.0, on_wait: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock of a file (created if absent) inside a `with`; wait for its current holder.

    `on_wait` is called once if there is a wait.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not through a link, which would create a file elsewhere.
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as problem:
        raise UserError(f"cannot lock {path}: {problem.strerror or problem}") from None
    try:
        # Always try twice: another process's `is_held` takes the lock for an instant.
        deadline = time.monotonic() + max(timeout_seconds, _POLL_SECONDS / 2)
        n_failed = 0
        while not _try_lock(handle, shared=False):
            n_failed += 1
            if time.monotonic() > deadline:
                raise LockTimeoutError(
                    f"another process holds {path} (waited {timeout_seconds:g} s); wait for it to end"
                )
            if n_failed == 2 and on_wait:
                on_wait()
            time.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(handle)  # releases the lock


@contextmanager
def claimed(directory: Path) -> Iterator[None]:
    """Write to a directory alone, made if needed; refuse a file, and one that another process writes to."""
    if directory.exists() and not directory.is_dir():
        raise UserError(f"{directory} is a file; choose a directory with -o")
    with ExitStack() as held:
        try:
            held.enter_context(hold(directory / ".lock"))
        except LockTimeoutError:
            raise UserError(
                f"another process is writing to {directory}; wait for it, or choose another directory with -o"
            ) from None
        yield


def is_held(path: Path) -> bool:
    """Whether a living process (including this one) holds the lock of a file. Creates no file."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError as problem:
        raise UserError(f"cannot read the lock {path}: {problem.strerror or problem}") from None
    try:
        return not _try_lock(handle, shared=True)
    finally:
        os.close(handle)
