"""A toy data set, and a web server on the loopback that misbehaves on request."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gendermark.data import cache, download
from gendermark.data.card import Card, DataFile, Revision, parse_card

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONTENT = {"data/a.txt": b"The doctor finished her work.\n" * 5000, "b.txt": b"one line\n", "out/c.txt": b"Die Arzt\n"}
BROKEN_OFF = 3_000
"""Bytes of data/a.txt that come before a hang-up; fewer than Python buffers, so that a missing flush shows."""

Step = Callable[[BaseHTTPRequestHandler, bytes], None]


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("GENDERMARK_DATA_MIRROR", raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr(download, "PATIENCE", download.Patience(attempts=3, backoff_seconds=0.0, timeout_seconds=5.0))


@dataclass(frozen=True)
class Toy:
    """A card of three files, two of them in the group `data`."""

    text: str

    @property
    def card(self) -> Card:
        return parse_card(self.text, "toy")

    @property
    def revision(self) -> Revision:
        return self.card.revisions[0]

    def file(self, path: str = "data/a.txt") -> DataFile:
        return next(file for file in self.revision.files if file.path == path)

    def place(self, path: str = "data/a.txt") -> Path:
        return cache.local_path(self.card, self.revision, self.file(path))

    def fetch(self, path: str = "data/a.txt", said: list[str] | None = None) -> bytes:
        say = said.append if said is not None else lambda _: None
        return cache.fetch(self.card, self.revision, [self.file(path)], say=say)[path].read_bytes()

    def fill(self, directory: Path) -> Path:
        """A mirror directory of the files."""
        for path, content in CONTENT.items():
            place = directory / "owner" / "repo" / COMMIT / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return directory


@pytest.fixture
def toy() -> Toy:
    def row(path: str) -> str:
        digest = hashlib.sha256(CONTENT[path]).hexdigest()
        return f'{{ path = "{path}", size = {len(CONTENT[path])}, sha256 = "{digest}" }}'

    return Toy(
        f"""
        name = "toy"
        title = "Toy"
        repository = "owner/repo"
        licence = "MIT"
        licence_note = "A note."
        citation = "Nobody (2020). Toy."
        bibtex = "@misc{{toy}}"
        [[revisions]]
        id = "released"
        commit = "{COMMIT}"
        files.data = [{row("data/a.txt")}, {row("b.txt")}]
        files.outputs = [{row("out/c.txt")}]
        """
    )


@dataclass
class Server:
    """Answers the n-th request for a path by the n-th step set for it (the last one goes on); else by `good`."""

    url: str
    steps: dict[str, list[Step]] = field(default_factory=dict)
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    """(path, Range header) of each request."""
    n_sent: int = 0
    """Bytes of bodies."""
    go_on: threading.Event = field(default_factory=threading.Event)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.removeprefix(f"/owner/repo/{COMMIT}/")
        self.requests.append((path, handler.headers.get("Range")))
        steps = self.steps.get(path, [])
        step = (steps.pop(0) if len(steps) > 1 else steps[0]) if steps else self.good
        step(handler, CONTENT.get(path, b""))

    def _send(
        self, handler: BaseHTTPRequestHandler, body: bytes, length: int, status: int = 200, **headers: str
    ) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(length))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        self.n_sent += len(body)  # before the client can have it all and the test go on
        handler.wfile.write(body)

    def good(self, handler: BaseHTTPRequestHandler, content: bytes) -> None:
        if wanted := handler.headers.get("Range"):
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            sent = f"bytes {start}-{len(content) - 1}/{len(content)}"
            self._send(handler, content[start:], len(content) - start, 206, Content_Range=sent)
        else:
            self._send(handler, content, len(content))

    def ignore_range(self, handler: BaseHTTPRequestHandler, content: bytes) -> None:
        self._send(handler, content, len(content))

    def hang_up(self, handler: BaseHTTPRequestHandler, content: bytes) -> None:
        self._send(handler, content[:BROKEN_OFF], len(content))

    def stall(self, handler: BaseHTTPRequestHandler, content: bytes) -> None:
        self._send(handler, content[:BROKEN_OFF], len(content))
        handler.wfile.flush()
        self.go_on.wait(10)
        handler.wfile.write(content[BROKEN_OFF:])

    def drip(self, handler: BaseHTTPRequestHandler, content: bytes) -> None:
        """A header that never ends, a letter now and then."""
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        while not self.go_on.wait(0.02):
            handler.wfile.write(b"x")

    def endless(self, handler: BaseHTTPRequestHandler, content: bytes) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:  # until the client hangs up
            handler.wfile.write(content)
            self.n_sent += len(content)

    def other(self, body: bytes) -> Step:
        return lambda handler, _: self._send(handler, body, len(body))

    def status(self, status: int, **headers: str) -> Step:
        return lambda handler, _: self._send(handler, b"", 0, status, **headers)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.answer(self)

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:  # a client that hangs up is what some tests are about
            pass

    with Quiet(("127.0.0.1", 0), Handler) as http:
        served = Server(f"http://127.0.0.1:{http.server_address[1]}")
        monkeypatch.setenv("GENDERMARK_DATA_MIRROR", served.url)
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield served
        served.go_on.set()
        http.shutdown()
        thread.join()
