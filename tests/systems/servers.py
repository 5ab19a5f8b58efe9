"""A web server on the loopback that misbehaves on request, for everything that is spoken to over HTTP."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from gendermark.systems import http
from runs.children import PATIENCE_SECONDS

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]  # by names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        return _flat(self.body.decode())


Step = Callable[["Server", BaseHTTPRequestHandler, Asked], None]


@dataclass
class Server:
    """Answers the n-th request by the n-th of its steps, and by `good` when there are no more steps."""

    url: str
    good: Callable[[Asked], Any]  # a request -> what is sent back as JSON, or as it is if that is bytes
    steps: deque[Step] = field(default_factory=deque)
    asked: list[Asked] = field(default_factory=list)
    go_on: threading.Event = field(default_factory=threading.Event)  # ends all `stall`s; set when the server is closed
    most_at_once: int = 0
    _n_now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def script(self, *steps: Step) -> None:
        self.steps.extend(steps)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        asked = _read(handler)
        with self._lock:
            self.asked.append(asked)
            step = self.steps.popleft() if self.steps else good
            self._n_now += 1
            self.most_at_once = max(self.most_at_once, self._n_now)
        try:
            step(self, handler, asked)
        finally:
            with self._lock:
                self._n_now -= 1

    def of(self, path: str) -> list[Asked]:
        """The requests for one path."""
        return [asked for asked in self.asked if asked.path == path]


# -- steps


def good(server: Server, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
    found = server.good(asked)
    send(handler, 200, found if isinstance(found, bytes) else json.dumps(found).encode())


def status(code: int, payload: Any = None, **headers: str) -> Step:
    """An answer with this status, and perhaps a JSON body; `Retry_After="3"` is a header."""
    body = b"" if payload is None else json.dumps(payload).encode()
    return lambda _, handler, __: send(handler, code, body, **headers)


def says(body: bytes, code: int = 200, **headers: str) -> Step:
    """These very bytes."""
    return lambda _, handler, __: send(handler, code, body, **headers)


def sends(payload: Any) -> Step:
    """This JSON."""
    return says(json.dumps(payload).encode())


def echoes(code: int, show: Callable[[Asked], Any]) -> Step:
    """An answer that repeats something of the request, as some servers do with a bad key."""
    return lambda _, handler, asked: send(handler, code, json.dumps(show(asked)).encode())


def cut(server: Server, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
    """A good answer that ends in the middle."""
    body = json.dumps(server.good(asked)).encode()
    send(handler, 200, body[: len(body) // 2], n_announced=len(body))
    handler.close_connection = True


def hang_up(server: Server, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
    """No answer at all."""
    handler.close_connection = True


def stall(server: Server, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
    """An answer that comes when the test says so."""
    server.go_on.wait(PATIENCE_SECONDS)
    good(server, handler, asked)


def drips(beginning: bytes, piece: bytes) -> Step:
    """These very bytes instead of an answer, then a piece now and then without end."""

    def drip(server: Server, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        handler.close_connection = True
        handler.wfile.write(beginning)
        while not server.go_on.wait(0.02):
            handler.wfile.write(piece)
            handler.wfile.flush()

    return drip


trickle = drips(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" ")
"""A good beginning, then a byte now and then, so that no single wait is long."""


def endless(server: Server, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:  # until the client hangs up
        handler.wfile.write(b" " * 100_000)


def send(
    handler: BaseHTTPRequestHandler, code: int, body: bytes, n_announced: int | None = None, **headers: str
) -> None:
    handler.send_response(code)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body) if n_announced is None else n_announced))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)
    handler.wfile.flush()


# -- the server itself


@contextmanager
def serving(good: Callable[[Asked], Any]) -> Iterator[Server]:
    """A server that runs until the end of the `with`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # connections are kept, as real servers do
        wbufsize = -1  # headers and body in one packet: in two, the second would wait for a delayed acknowledgement

        def do_GET(self) -> None:
            server.answer(self)

        do_POST = do_GET  # noqa: N815 (the names are those of the standard library)

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *_: object) -> None:  # a client that hangs up is what some tests are about
            pass

    with Quiet(("127.0.0.1", 0), Handler) as listening:
        server = Server(f"http://127.0.0.1:{listening.server_address[1]}", good)
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.go_on.set()
            listening.shutdown()
            thread.join()


def without_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses between attempts are noted here instead of being made; and no proxy stands in between."""
    waits: list[float] = []
    monkeypatch.setattr(http.Client, "_wait", lambda _, seconds, __: waits.append(seconds))
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return waits


def _read(handler: BaseHTTPRequestHandler) -> Asked:
    parts = urlsplit(handler.path)
    headers = {name.lower(): value for name, value in handler.headers.items()}
    body = handler.rfile.read(int(headers.get("content-length", 0)))
    return Asked(handler.command, parts.path, _flat(parts.query), headers, body)


def _flat(text: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(text, keep_blank_values=True).items()}
