"""Apertium and its web service, which nobody here wrote: over HTTP by `apertium:`, and as a program by `command:`."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gendermark.api import items
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.errors import UserError
from gendermark.records import Request
from gendermark.runs.store import Store
from gendermark.runs.translate import translate
from gendermark.selection import Selection
from gendermark.systems.system import System, open_system
from runs import tiny
from runs.children import wait_until
from systems import servers

DATA = Path("/usr/share/apertium")
has_pair = (DATA / "modes" / "eng-spa.mode").exists() and shutil.which("apertium") is not None
pytestmark = pytest.mark.skipif(
    not has_pair or sys.platform == "win32", reason="apertium with apertium-eng-spa is not installed"
)

# The service listens on all addresses of a machine and cannot be told otherwise; here it is.
ON_THE_LOOPBACK = """
import sys
from tornado.httpserver import HTTPServer
bind = HTTPServer.bind
HTTPServer.bind = lambda self, port: bind(self, port, "127.0.0.1")
from apertium_apy.apy import main
main()
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = shutil.which("apertium-apy")
    if program is None:
        pytest.skip("apertium-apy is not installed")
    # The interpreter that it is installed for, not the one of these tests.
    interpreter = Path(program).read_text(encoding="utf-8").splitlines()[0].removeprefix("#!").strip()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    directory = tmp_path_factory.mktemp("apy")
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with (directory / "log").open("wb") as log:
        service = subprocess.Popen(
            [interpreter, "-c", ON_THE_LOOPBACK, "-p", str(port), str(DATA)],
            cwd=directory,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:

        def listens() -> bool:
            assert service.poll() is None, (directory / "log").read_text()
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        wait_until(listens, "apertium-apy listened")
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(service.pid, signal.SIGKILL)  # its pipelines of translators too
        service.wait()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    servers.without_waiting(monkeypatch)


def translations(system: System, sources: list[str]) -> list[str | None]:
    requests = [Request(source, "en", "es") for source in sources]
    try:
        found = {answer.request_id: answer.text for portion in system.answer(requests) for answer in portion}
    finally:
        system.close()
    return [found[request.request_id] for request in requests]


def test_core_sentences(url: str, tmp_path: Path) -> None:
    sentences = items("simplegen", "es", data="core").items[::90]
    system = open_system(f"apertium:{url}")
    system.prepare(tiny.BENCHMARK, ItemSet(Selection("simplegen", "en", "es"), (), ""), [])
    requests = [Request(item.source, "en", "es") for item in sentences]
    with Store(tmp_path / "store.sqlite") as store:
        first = translate(system, requests, store, lambda *_: None)
        again = translate(system, requests, store, lambda *_: None)
    system.close()
    assert (first.n_asked, again.n_asked) == (len(requests), 0)
    assert first.translations == again.translations
    texts = [samples[0].text for samples in first.translations]
    assert all(text and "*" not in text and text != item.source for text, item in zip(texts, sentences, strict=True))
    assert sum(text.startswith(("El ", "La ")) for text in texts if text) > len(texts) / 3


def test_text_is_text(url: str) -> None:
    """Not HTML, which it would be by default; words it does not know are not marked; a line break is kept."""
    sources = ["The woman & the [man] <b>", "My xylophonist", "The house.\nThe cat."]
    found = translations(open_system(f"apertium:{url}"), sources)
    assert found[0] == "La mujer & el [hombre] <b>"
    assert found[1] == "Mi xylophonist"
    assert found[2] == "La casa.\nEl gato."


def test_a_pair_that_is_not_installed(url: str) -> None:
    system = open_system(f"apertium:{url}")
    with pytest.raises(UserError) as caught:
        system.prepare(tiny.BENCHMARK, ItemSet(Selection("simplegen", "en", "de"), (), ""), [])
    assert str(caught.value).startswith(f"apertium:{url} does not translate from eng into deu; it offers: ")
    assert "spa" in str(caught.value)
    system.close()


def test_the_service_refuses_it_too(url: str) -> None:
    """Were it not found out before."""
    system = open_system(f"apertium:{url}")
    with pytest.raises(UserError, match=r"answered HTTP 400 \(Bad Request\); it said: .*; check languages and options"):
        list(system.answer([Request("The house.", "en", "de")]))
    system.close()


def test_the_program_by_itself() -> None:
    sources = ["The woman.", "The house.", "Two cats."]
    found = translations(open_system("command:apertium -u eng-spa"), sources)
    assert found == ["La mujer.", "La casa.", "Dos gatos."]
