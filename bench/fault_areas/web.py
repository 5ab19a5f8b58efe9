"""Area 4: the pages of `ui` and `annotate serve`, and those who should not be served."""

from __future__ import annotations

import http.client
import json
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fault_areas.campaign import LONGEST_SECONDS, Child, Scenario, Setting, expect
from gendermark.annotation import sheets

USUAL_FILES = 1_024
"""That a process may have open where nobody changed it."""
N_ITEMS = 40


class Person:
    """A browser of the page of `ui` or `annotate serve`, by its printed address."""

    def __init__(self, url: str) -> None:
        expect(url, "the server did not begin")
        self.parts = urlsplit(url)
        self.token = self.parts.path.strip("/")
        self.ask("GET", "/", is_json=False)

    def ask(self, method: str, path: str, body: Any = None, *, is_json: bool = True) -> tuple[Any, dict[str, str]]:
        connection = http.client.HTTPConnection(self.parts.hostname or "", self.parts.port, timeout=20)
        headers = {"Content-Type": "application/json"}
        try:
            connection.request(method, f"/{self.token}{path}", None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            content = response.read()
            expect(response.status in (200, 303), f"{method} {path}: {response.status} {content[:200]!r}")
            found = {name.lower(): value for name, value in response.getheaders()}
            return json.loads(content) if is_json else content, found
        finally:
            connection.close()


def address_of(child: Child) -> str:
    """What a serving verb prints when it is ready; empty if it ended."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < deadline and child.process.poll() is None:
        if child.out.endswith("\n"):
            return child.out.strip()
        time.sleep(0.01)
    return ""


def write_sheet(path: Path, n: int = N_ITEMS) -> Path:
    rows = [(number, "nurse", f"La enfermera número {number} llega.", "", "", "") for number in range(n)]
    sheets.write_sheet(path, sheets.GENDERS.columns, rows)
    return path


@contextmanager
def _served(setting: Setting, verb: str) -> Iterator[tuple[Child, str]]:
    """A verb that serves pages, with as many files as processes usually may open."""
    place = setting.place()
    if verb == "ui":
        run = place / "run"
        setting.run(
            ["run", "--system", "fake:right", "--to", "xx", "--data", "core", "--benchmark", "tiny", "-o", run]
        ).is_good()
        arguments: list[str | Path] = ["ui", run, "--no-open"]
    else:
        sheet = write_sheet(place / "sheet.csv")
        arguments = ["annotate", "serve", sheet, "-o", place / "answers", "--no-open"]
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    child = setting.start(arguments, limits=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (USUAL_FILES, hard)))
    try:
        url = address_of(child)
        expect(url, "the server did not begin")
        yield child, url
        expect(child.process.poll() is None, "the server has ended")
    finally:
        child.kill()


def _raw(url: str, content: bytes, seconds: float = 5.0) -> bytes:
    """What comes back for some bytes."""
    host, _, port = url.split("/")[2].partition(":")
    with socket.create_connection((host, int(port)), timeout=seconds) as connection:
        found = b""
        with suppress(OSError):
            connection.sendall(content)
            while piece := connection.recv(65_536):
                found += piece
                if b"\r\n\r\n" in found and b"Connection: close" in found:
                    break
        return found


def strangers(setting: Setting) -> None:
    """Without the token of the address nothing is told and nothing is written."""
    for verb in ("ui", "annotate serve"):
        with _served(setting, verb) as (_, url):
            person = Person(url)
            netloc, token = url.split("/")[2], person.token
            page = "/start" if verb != "ui" else "/status"
            body = b'{"name": "Eve"}'
            attempts = {
                "no token": f"GET {page} HTTP/1.1\r\nHost: {netloc}\r\n\r\n",
                "another token": f"GET /{token[:-1]}x{page} HTTP/1.1\r\nHost: {netloc}\r\n\r\n",
                "half a token": f"GET /{token[:20]}/ HTTP/1.1\r\nHost: {netloc}\r\n\r\n",
                "a path upwards": f"GET /../../etc/passwd HTTP/1.1\r\nHost: {netloc}\r\n\r\n",
                "a path upwards, with the token": f"GET /{token}/../../etc/passwd HTTP/1.1\r\nHost: {netloc}\r\n\r\n",
                "a whole address": f"GET http://evil.example{page} HTTP/1.1\r\nHost: {netloc}\r\n\r\n",
                "HTTP/0.9": f"GET {page}\r\n\r\n",
                "joining without the token": _post("/join", netloc, len(body)) + body.decode(),
                "a large body": _post(f"/{token}/join", netloc, 10**9),
                "a length of 5,000 digits": _post(f"/{token}/join", netloc, "9" * 5000),
                "a negative length": _post(f"/{token}/join", netloc, -5),
                "a form": _post(f"/{token}/join", netloc, 5).replace("/json", "/xml") + "n=Eve",
                "a header of a megabyte": f"GET {page} HTTP/1.1\r\nHost: {netloc}\r\nX: {'x' * 1_000_000}\r\n\r\n",
                "a thousand headers": f"GET {page} HTTP/1.1\r\nHost: {netloc}\r\n" + "X: y\r\n" * 1000 + "\r\n",
            }  # fmt: skip
            for name, content in attempts.items():
                with setting.tally.trial(f"{verb}, {name}"):
                    found = _raw(url, content.encode("latin-1"))
                    status = found.split(b" ", 2)[1:2]  # of HTTP/0.9 there is none, only what is said
                    is_refused = status and status[0] in b"400 403 404 405 411 413 414 415 431 505".split()
                    expect(is_refused or found.startswith(b'{"error": '), f"{found[:200]!r}")
                    expect(b"root:" not in found and b"choices" not in found, "told to a stranger")
                    expect(b"bug in gendermark" not in found, f"{name} is called a bug: {found[-200:]!r}")
            with setting.tally.trial(f"{verb}, nothing written"):
                if verb != "ui":
                    people = person.ask("GET", "/progress")[0]["people"]
                    expect(people == [], f"{people} joined")


def _post(path: str, netloc: str, length: int | str) -> str:
    head = f"POST {path} HTTP/1.1\r\nHost: {netloc}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"


def many_at_once(setting: Setting) -> None:
    """200 people at the same moment are all served."""
    n = 200
    for verb in ("ui", "annotate serve")[: setting.times]:
        with _served(setting, verb) as (_, url):
            person, slowest, problems = Person(url), [0.0], []

            def ask(person: Person = person, slowest: list[float] = slowest, problems: list[str] = problems) -> None:
                started = time.monotonic()
                try:
                    person.ask("GET", "/", is_json=False)
                    slowest[0] = max(slowest[0], time.monotonic() - started)
                except Exception as problem:  # noqa: BLE001 (whatever it is, somebody was not served)
                    problems.append(repr(problem))

            with setting.tally.trial(f"{verb}, {n} at once", n):
                threads = [threading.Thread(target=ask) for _ in range(n)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                expect(not problems, f"{len(problems)} of {n} were not served: {problems[:2]}")
                setting.tally.notes.append(f"{verb}: the slowest of {n} waited {slowest[0]:.2f} s")


SCENARIOS = [
    Scenario("web", "strangers", strangers, 1, 1),
    Scenario("web", "200 at once", many_at_once, 1, 2),
]
