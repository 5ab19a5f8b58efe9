"""One deadline for a whole HTTP request: connection, headers, body and trailers.

httpx limits each single wait, so a server that sends a byte now and then can block forever. Here every read and write
of a socket gets the time left until one deadline. httpx works in the calling thread, so the deadline is thread-local.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gendermark.errors import UserError

if TYPE_CHECKING:
    import httpx

_BYTES_AT_ONCE = 16_384
"""Bytes written between checks of the deadline."""
_current = threading.local()


class Deadline:
    """A point in time; extended for downloads that make progress."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds


@contextmanager
def within(seconds: float) -> Iterator[Deadline]:
    """Bound the requests of a `bounded` client in this thread; raises httpx timeouts."""
    _current.deadline = Deadline(seconds)
    try:
        yield _current.deadline
    finally:
        _current.deadline = None


def bounded(client: httpx.Client) -> httpx.Client:
    """A client whose sockets observe the deadline of the calling thread."""
    # httpx has no public way to replace the network layer while keeping its proxies and certificates.
    transports = [client._transport, *client._mounts.values()]
    for transport in transports:
        pool: Any = getattr(transport, "_pool", None)
        if hasattr(pool, "_network_backend"):
            pool._network_backend = _Bounded(pool._network_backend)
        elif transport is not None:
            raise UserError("this version of httpx cannot be given a time limit; install httpx 0.28")
    return client


def _left(timeout: float | None, kind: str) -> float:
    """Time left for one wait; raises httpcore's timeout error if there is none."""
    import httpcore

    deadline: Deadline | None = getattr(_current, "deadline", None)
    left = threading.TIMEOUT_MAX if timeout is None else timeout
    if deadline is not None:
        left = min(left, deadline.end - time.monotonic())
    if left <= 0:
        raise getattr(httpcore, kind)("the time is up")
    return left


class _Bounded:
    """httpcore's network layer, or a connection, with every wait bounded by the deadline."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def connect_tcp(self, *where: Any, timeout: float | None = None, **options: Any) -> _Bounded:
        return _Bounded(self._inner.connect_tcp(*where, timeout=_left(timeout, "ConnectTimeout"), **options))

    def start_tls(self, *how: Any, timeout: float | None = None, **options: Any) -> _Bounded:
        return _Bounded(self._inner.start_tls(*how, timeout=_left(timeout, "ConnectTimeout"), **options))

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        found: bytes = self._inner.read(max_bytes, _left(timeout, "ReadTimeout"))
        return found

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _BYTES_AT_ONCE):
            self._inner.write(buffer[start : start + _BYTES_AT_ONCE], _left(timeout, "WriteTimeout"))
