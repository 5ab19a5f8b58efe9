"""Official data: cards are filled in, the cache trusts hashes only, downloads survive a server at its worst."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark.data import card_names, load_card, official, official_files
from gendermark.data.official import Card, DataFile, Revision, parse_card
from gendermark.errors import DataUnavailable, UserError
from gendermark.io import locks
from runs.children import wait_until

A = "data/a.txt"
MIRROR = Path(os.environ.get("GENDERMARK_DATA_MIRROR") or Path(__file__).parents[3] / "shared" / "data")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONTENT = {"data/a.txt": b"The doctor finished her work.\n" * 5000, "b.txt": b"one line\n", "out/c.txt": b"Die Arzt\n"}
GOOD = CONTENT["data/a.txt"]
BROKEN_OFF = 3_000
"""Bytes of data/a.txt that come before a hang-up; fewer than Python buffers, so that a missing flush shows."""

Step = Callable[[BaseHTTPRequestHandler, bytes], None]


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "cache"))
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr(official, "N_ATTEMPTS", 3)
    monkeypatch.setattr(official, "BACKOFF_SECONDS", 0.0)
    monkeypatch.setattr(official, "TIMEOUT_SECONDS", 5.0)


@dataclass(frozen=True)
class Toy:
    """A card of three files, two of them in the group `data`."""

    text: str

    @property
    def card(self) -> Card:
        return parse_card(self.text)

    @property
    def revision(self) -> Revision:
        return self.card.revisions[0]

    def file(self, path: str = "data/a.txt") -> DataFile:
        return next(file for file in self.revision.files if file.path == path)

    def place(self, path: str = "data/a.txt") -> Path:
        return official.directory(self.card, self.revision) / path

    def fetch(self, path: str = "data/a.txt", **options: Any) -> bytes:
        return official.fetch(self.card, self.revision, [self.file(path)], **options)[path].read_bytes()

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


# -- cards -------------------------------------------------------------------------------------------------------------


def test_the_official_data_sets() -> None:
    benchmarks = {"gate-annotated", "gate-variants", "gest", "mittens", "mt-geneval", "simplegen", "tgbi", "winomt"}
    assert benchmarks | {"tatoeba-en-de", "tatoeba-en-es", "tatoeba-en-fr"} == {*card_names()}
    commits = {revision.revision_id: revision.commit[:8] for revision in load_card("winomt").revisions}
    assert commits == {"2019": "57d8b48f", "latest": "58629286"}


@pytest.mark.parametrize("name", card_names())
def test_every_card_is_filled_in(name: str) -> None:
    found = load_card(name)
    assert found.name == name
    assert found.title
    assert re.fullmatch(r"[\w-]+/[\w.-]+", found.repository)
    assert found.licence in {"Apache-2.0", "MIT", "CC-BY-2.0-FR", "CC-BY-4.0", "CC-BY-SA-3.0", "none given"}
    assert found.licence_note.endswith(".")
    assert found.homepage in found.notice
    (year,) = re.findall(r"\((20\d\d)\)", found.citation)
    (title,) = re.findall(r"\n  title += \{(.+)\},\n", found.bibtex)
    assert f"year      = {{{year}}}" in found.bibtex
    assert title.replace("{", "").replace("}", "") in found.citation
    assert found.bibtex.count("{") == found.bibtex.count("}")
    assert "author " in found.bibtex
    assert "doi " in found.bibtex or "url " in found.bibtex
    for revision in found.revisions:
        assert re.fullmatch(r"[0-9a-f]{40}", revision.commit)
        assert {"data"} <= set(revision.groups) <= {"data", "outputs"}
        assert len({file.sha256 for file in revision.files}) == len(revision.files)
        # Names that differ in case alone are one file on macOS and Windows; `.part` is a download that is not whole.
        assert len({file.path.casefold() for file in revision.files}) == len(revision.files)
        for file in revision.files:
            assert re.fullmatch(r"[\w-][\w.-]*(/[\w-][\w.-]*)*(?<!\.part)", file.path, re.ASCII)
            assert file.size > 0
            assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)


@pytest.mark.parametrize("name", card_names())
def test_every_card_is_true_to_the_mirror(name: str) -> None:
    if not MIRROR.is_dir():
        pytest.skip(f"no mirror of the official data at {MIRROR}; set GENDERMARK_DATA_MIRROR to a directory")
    found = load_card(name)
    for revision in found.revisions:
        base = MIRROR / found.repository / revision.commit
        there = {path.relative_to(base).as_posix(): path.stat().st_size for path in base.rglob("*") if path.is_file()}
        assert {file.path: file.size for file in revision.files}.items() <= there.items()


# -- what a loader gets ------------------------------------------------------------------------------------------------


@pytest.fixture
def mirrored(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The toy set is known, and a directory has its files."""
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "toy.toml").write_text(toy.text, encoding="utf-8")
    monkeypatch.setattr(official, "CARDS", tmp_path / "cards")
    mirror: Path = toy.fill(tmp_path / "mirror")
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", str(mirror))
    return mirror / "owner" / "repo" / toy.revision.commit


@pytest.mark.usefixtures("mirrored")
def test_the_files_of_a_group(toy: Any, tmp_path: Path) -> None:
    said: list[str] = []
    found = official_files("toy", "released", say=said.append)
    assert said == [toy.card.notice], "licence and citation, once"
    assert all(words in said[0] for words in ("https://github.com/owner/repo", "MIT", "A note.", "Nobody (2020)"))
    assert official_files("toy", "released", say=said.append) == found
    assert len(said) == 1, "and only before a download"
    assert {name: path.read_bytes() for name, path in found.paths.items()} == {A: GOOD, "b.txt": b"one line\n"}
    assert found.path(A) == tmp_path / "cache" / "data" / "owner" / "repo" / toy.revision.commit / "data" / "a.txt"
    assert (found.revision, found.content_hash) == (toy.revision.commit, toy.revision.content_hash("data"))
    assert set(official_files("toy", "released", "outputs").paths) == {"out/c.txt"}
    found.path("b.txt").write_bytes(b"damaged!\n")
    assert official_files("toy", "released").path("b.txt").read_bytes() == b"one line\n", "mended at the next use"


# -- the cache ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"GENDERMARK_CACHE": "/elsewhere"}, "/elsewhere"),
        ("linux", {"GENDERMARK_CACHE": "~/here"}, "/home/me/here"),
        ("linux", {}, "/home/me/.cache/gendermark"),
        ("linux", {"GENDERMARK_CACHE": "", "XDG_CACHE_HOME": "/xdg"}, "/xdg/gendermark"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/me/.cache/gendermark"),
        ("darwin", {"XDG_CACHE_HOME": "/xdg"}, "/home/me/Library/Caches/gendermark"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/gendermark/Cache"),
        ("win32", {}, "/home/me/AppData/Local/gendermark/Cache"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="the paths are written the POSIX way")
def test_the_root_of_each_platform(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], expected: str
) -> None:
    for name in ("GENDERMARK_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert official.cache_root() == Path(expected)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.ENOSPC])
@pytest.mark.parametrize(("owner", "name"), [(Path, "touch"), (os, "fsync")])
def test_a_cache_that_cannot_be_written_to(
    toy: Any, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, owner: Any, name: str
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as broken:
        broken.setattr(owner, name, refuse)
        sentence = refusal(toy, UserError)
    assert all(word in sentence for word in (str(tmp_path / "cache"), os.strerror(code), "GENDERMARK_CACHE"))
    assert toy.fetch() == GOOD
    assert server.requests == [(A, None)], "what came is kept"


# -- downloads ---------------------------------------------------------------------------------------------------------


def part(toy: Any) -> Path:
    place: Path = toy.place()
    return place.with_name(f"{place.name}.part")


def refusal(toy: Any, kind: type[UserError] = DataUnavailable) -> str:
    """The one sentence a fetch is refused with; nothing half-made is left in the place of the file."""
    with pytest.raises(kind) as caught:
        toy.fetch()
    assert not toy.place().exists()
    assert "\n" not in str(caught.value)
    return str(caught.value)


REST = f"bytes={BROKEN_OFF}-"
RECOVERED: dict[str, tuple[Callable[[Any], list[Any]], list[str | None]]] = {
    "good": (lambda s: [s.good], [None]),
    "hangs up": (lambda s: [s.hang_up, s.good], [None, REST]),
    "ignores ranges": (lambda s: [s.hang_up, s.ignore_range], [None, REST]),
    "refuses ranges": (lambda s: [s.hang_up, s.status(416), s.good], [None, REST, None]),
    "another range": (
        lambda s: [s.hang_up, s.status(206, Content_Range="bytes 7-9/10"), s.good],
        [None, REST, None],
    ),
    "no range": (lambda s: [s.hang_up, s.status(206), s.good], [None, REST, None]),
    "fails once": (lambda s: [s.status(500), s.good], [None, None]),
    "redirects": (lambda s: [s.status(302, Location="/elsewhere"), s.good], [None]),
}


@pytest.mark.parametrize("case", RECOVERED)
def test_what_a_download_recovers_from(toy: Any, server: Any, case: str) -> None:
    steps, ranges = RECOVERED[case]
    server.steps[A] = steps(server)
    server.steps["/elsewhere"] = [lambda handler, _: server.good(handler, GOOD)]
    seen: list[tuple[int, int]] = []
    assert toy.fetch(progress=lambda done, total: seen.append((done, total))) == GOOD
    assert [asked for path, asked in server.requests if path == A] == ranges
    assert seen[-1] == (len(GOOD), len(GOOD))
    assert not part(toy).exists()
    if case == "hangs up":
        assert server.n_sent == len(GOOD), "no byte is fetched twice"
    assert toy.fetch() == GOOD
    assert len([1 for path, _ in server.requests if path == A]) == len(ranges), "fetched once"


LOST: dict[str, tuple[Callable[[Any], list[Any]], Sequence[str], int]] = {
    "truncated": (
        lambda s: [s.hang_up, s.status(206, Content_Range=f"bytes {BROKEN_OFF}-149999/150000")],
        ["3,000 of 150,000 bytes"],
        3,
    ),
    "shorter": (lambda s: [s.other(b"short"), s.status(416), s.other(b"short")], ["5 of 150,000 bytes"], 3),
    # The same bytes would come again.
    "another file": (
        lambda s: [s.other(b"x" * len(GOOD))],
        [hashlib.sha256(GOOD).hexdigest(), hashlib.sha256(b"x" * len(GOOD)).hexdigest()],
        1,
    ),
    "not there": (lambda s: [s.status(404)], ["404"], 1),
    "fails for ever": (lambda s: [s.status(503)], ["503"], 3),
    "endless": (lambda s: [s.endless], ["more than the expected 150,000 bytes"], 1),
    "redirects to a file": (lambda s: [s.status(302, Location="file:///etc/passwd")], ["http(s)"], 1),
    "redirects in a circle": (lambda s: [s.status(302, Location=f"/owner/repo/{'0' * 40}/{A}")], [], 0),
}


@pytest.mark.parametrize("case", LOST)
def test_what_a_download_is_refused_for(toy: Any, server: Any, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", server.url.replace("//", "//me:hunter2@"))
    steps, words, n_requests = LOST[case]
    server.steps[A] = steps(server)
    seen: list[int] = []
    with pytest.raises(DataUnavailable) as caught:
        toy.fetch(progress=lambda done, _: seen.append(done))
    for word in (*words, "GENDERMARK_DATA_MIRROR", server.url.removeprefix("http://")):
        assert word in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(server.requests) == n_requests or not n_requests
    assert len(GOOD) not in seen, "whole only when it is verified"
    assert not toy.place().exists()
    assert not part(toy).exists() or part(toy).stat().st_size < len(GOOD)


@pytest.mark.parametrize("step", ["stall", "drip"])
def test_a_silent_server_is_left(toy: Any, server: Any, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    monkeypatch.setattr(official, "N_ATTEMPTS", 1)
    monkeypatch.setattr(official, "TIMEOUT_SECONDS", 0.2)
    server.steps[A] = [getattr(server, step)]
    assert "of 150,000 bytes (" in refusal(toy)


def test_without_a_mirror_the_authors_repository_is_asked(
    toy: Any, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert official.HOST == "https://raw.githubusercontent.com"
    monkeypatch.setattr(official, "HOST", server.url)
    monkeypatch.delenv("GENDERMARK_DATA_MIRROR")
    server.steps[A] = [server.status(404), server.good]
    assert "set GENDERMARK_DATA_MIRROR to a directory or URL" in refusal(toy)
    assert toy.fetch() == GOOD


def test_offline_names_what_works_without_a_network(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    monkeypatch.setattr(official, "HOST", f"http://127.0.0.1:{port}")
    assert all(word in refusal(toy) for word in (f"127.0.0.1:{port}", "--data core", "GENDERMARK_DATA_MIRROR"))
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")
    assert "proxy" in refusal(toy)


@pytest.mark.parametrize("form", ["path", "url", "localhost"])
def test_a_mirror_directory(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    mirror = toy.fill(tmp_path / "a mirror")
    forms = {"path": str(mirror), "url": mirror.as_uri(), "localhost": mirror.as_uri().replace("///", "//localhost/")}
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", forms[form])
    assert toy.fetch() == GOOD
    assert not part(toy).exists()


@pytest.mark.parametrize(
    "mirror",
    [
        *("no/such/place", "file:///no/such/place", "file://no/such/place"),
        *("http://[::bad", "http://me:hunter2@[", "//[x", "ftp://me:hunter2@host/data"),
    ],
)
def test_a_mirror_that_is_none(toy: Any, monkeypatch: pytest.MonkeyPatch, mirror: str) -> None:
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", mirror)
    sentence = refusal(toy, UserError)
    assert "GENDERMARK_DATA_MIRROR" in sentence
    assert "hunter2" not in sentence


@pytest.mark.parametrize("wrong", [None, b"", b"short", b"x" * 150_000, b"x" * 150_001])
def test_a_mirror_directory_with_another_file_or_none(toy: Any, mirrored: Path, wrong: bytes | None) -> None:
    (mirrored / A).unlink()
    if wrong is not None:
        (mirrored / A).write_bytes(wrong)
    assert str(mirrored / A) in refusal(toy)
    assert not part(toy).exists()


# -- processes ---------------------------------------------------------------------------------------------------------

FETCH = """
import sys
from pathlib import Path
from gendermark.data import official

toy = official.parse_card(Path(sys.argv[1]).read_text(encoding="utf-8"))
said = Path(sys.argv[2])
paths = official.fetch(toy, toy.revisions[0], toy.revisions[0].files, say=lambda text: said.write_text(text))
print(*(len(path.read_bytes()) for path in paths.values()))
"""


def start_fetch(toy: Any, tmp_path: Path, name: str) -> subprocess.Popen[str]:
    """`fetch` of all files in a process of its own; what it says goes to the file `name`."""
    (tmp_path / "toy.toml").write_text(toy.text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(gendermark.__file__).parents[1])}
    command = [sys.executable, "-c", FETCH, str(tmp_path / "toy.toml"), str(tmp_path / name)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_kill_in_the_middle_then_resume(toy: Any, server: Any, tmp_path: Path) -> None:
    server.steps[A] = [server.stall, server.good]
    lock = toy.place().parents[1].with_name(f"{toy.revision.commit}.lock")
    with start_fetch(toy, tmp_path, "said") as process:
        wait_until(lambda: part(toy).exists() and part(toy).stat().st_size == BROKEN_OFF, "a part was there")
        assert locks.is_held(lock)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not locks.is_held(lock)
    assert not toy.place().exists()
    assert toy.fetch() == GOOD
    assert server.requests == [(A, None), (A, REST)]


def test_two_processes_fetch_each_file_once(toy: Any, server: Any, tmp_path: Path) -> None:
    server.steps[A] = [server.stall]
    with start_fetch(toy, tmp_path, "said1") as first, start_fetch(toy, tmp_path, "said2") as second:
        said = [tmp_path / "said1", tmp_path / "said2"]
        wait_until(lambda: any(path.exists() and "waiting" in path.read_text() for path in said), "one waited")
        server.go_on.set()
        assert first.communicate()[0] == second.communicate()[0] == "150000 9 9\n"
    assert sorted(server.requests) == [("b.txt", None), (A, None), ("out/c.txt", None)]
