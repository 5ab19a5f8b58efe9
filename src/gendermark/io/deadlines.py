"""One deadline for a whole request over HTTP: connection, headers, body and trailers.

httpx limits each single wait, so that a server which sends a byte now and then is waited for without end. Here every
read and write of a socket gets what is left of one deadline. Requests of httpx are made in the thread that asks, so the
deadline belongs to a thread.
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
"""That are written before the deadline is looked at again."""
_current = threading.local()


class Deadline:
    """When all must be done; it can be put off, for a download that makes progress."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def put_off(self, seconds: float) -> None:
        self._end += seconds

    @property
    def seconds_left(self) -> float:
        return self._end - time.monotonic()


@contextmanager
def within(seconds: float) -> Iterator[Deadline]:
    """Requests of a `bounded` client that this thread makes inside the `with` end by then, with a timeout of httpx."""
    _current.deadline = Deadline(seconds)
    try:
        yield _current.deadline
    finally:
        _current.deadline = None


def bounded(client: httpx.Client) -> httpx.Client:
    """A client whose sockets heed the deadline of the thread that uses them."""
    # httpx has no public way to give it a network of ours, with proxies and certificates as it finds them.
    transports = [client._transport, *client._mounts.values()]
    for transport in transports:
        pool: Any = getattr(transport, "_pool", None)
        if hasattr(pool, "_network_backend"):
            pool._network_backend = _Bounded(pool._network_backend)
        elif transport is not None:
            raise UserError("this version of httpx cannot be given a time limit; install httpx 0.28")
    return client


def _left(timeout: float | None, kind: str) -> float:
    """What is left for one wait; at its end the error that httpcore has for it."""
    import httpcore

    deadline: Deadline | None = getattr(_current, "deadline", None)
    left = threading.TIMEOUT_MAX if timeout is None else timeout
    if deadline is not None:
        left = min(left, deadline.seconds_left)
    if left <= 0:
        raise getattr(httpcore, kind)("the time is up")
    return left


class _Bounded:
    """What httpcore connects with, or a connection; each wait is cut to what is left."""

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
