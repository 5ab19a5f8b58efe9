"""`openai:` with `batch=yes`, against a server that has batches: nothing is paid for twice, whatever happens."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark.errors import UserError
from gendermark.plugin import Request
from gendermark.systems.openai import OpenAI
from gendermark.systems.system import open_system
from systems import servers
from systems.servers import Asked, Server
from systems.test_openai import model

CELL = {"to": "es", "data": "core"}


class Provider:
    """Files and batches in memory. A batch is answered when it is asked about for the `n_polls`-th time."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.n_polls = 1
        self.ends_as = "completed"
        self.lists = True
        self.known: dict[str, str] = {}

    def __call__(self, asked: Asked) -> Any:
        *_, first, last = asked.path.split("/")
        if asked.path == "/v1/files":
            return {"id": self._file(asked.body.split(b"\r\n\r\n", 2)[-1].split(b"\r\n--")[0])}
        if last == "content":
            return self.files[first]
        if asked.path == "/v1/batches" and asked.method == "POST":
            made = {"id": f"batch-{len(self.batches)}", "status": "validating", "n_asked": 0, **asked.json}
            self.batches[made["id"]] = made
            return made
        if asked.path == "/v1/batches":
            return {"data": list(self.batches.values()), "has_more": False}
        if first == "batches":
            return self._looked_at(self.batches[last])
        if asked.path == "/v1/models":
            return {"data": [{"id": "tiny"}]}
        raise AssertionError(f"{asked.path} was asked: a sentence outside a batch is paid for in full")

    @property
    def n_paid(self) -> int:
        return sum(len(self.files[one["input_file_id"]].splitlines()) for one in self.batches.values())

    def _file(self, content: bytes) -> str:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return name

    def _looked_at(self, batch: dict[str, Any]) -> dict[str, Any]:
        batch["n_asked"] += 1
        if batch["n_asked"] < self.n_polls:
            batch["status"] = "in_progress"
        elif batch["status"] != self.ends_as:
            batch["status"] = self.ends_as
            rows = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
            if self.ends_as == "expired":
                rows = rows[: len(rows) // 2]
            batch["output_file_id"] = self._file("\n".join(map(self._answered, rows)).encode())
        return batch

    def _answered(self, row: dict[str, Any]) -> str:
        body = row["body"]
        source = body["messages"][-1]["content"].split("\n\n")[-1]
        if source.endswith("9"):
            response = {"status_code": 400, "body": {"error": {"message": "content filter"}}}
        else:
            text = self.known.get(source, source.upper())
            choices = [
                {"index": k, "finish_reason": "stop", "message": {"content": text}} for k in range(body.get("n", 1))
            ]
            usage = {"prompt_tokens": 2, "completion_tokens": 1}
            response = {"status_code": 200, "body": {"choices": choices, "usage": usage}}
        return json.dumps({"custom_id": row["custom_id"], "response": response})


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Provider:
    servers.without_waiting(monkeypatch)
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "cache"))
    return Provider()


@pytest.fixture
def server(provider: Provider) -> Iterator[Server]:
    with servers.serving(provider) as running:
        yield running


def _system(server: Server) -> OpenAI:
    found = open_system(f"openai:{server.url}/v1#tiny", {"batch": "yes", "poll_seconds": "0.01"})
    assert isinstance(found, OpenAI)
    return found


def _requests(n: int) -> list[Request]:
    return [Request(f"Sentence {number}", "en", "es") for number in range(n)]


def test_a_batch_is_submitted_polled_and_read(server: Server, provider: Provider) -> None:
    provider.n_polls = 3
    (answers,) = _system(server).answer(_requests(10))
    assert [answer.text for answer in answers] == [f"SENTENCE {number}" for number in range(9)] + [None]
    assert "content filter" in str(answers[9].error)
    (batch,) = provider.batches.values()
    assert (batch["endpoint"], batch["completion_window"]) == ("/v1/chat/completions", "24h")


def test_answers_and_identity_are_those_without_batches(server: Server) -> None:
    batched, plain = _system(server), open_system(f"openai:{server.url}/v1#tiny")
    assert batched.system_id == plain.system_id
    with servers.serving(model) as other:
        direct = open_system(f"openai:{other.url}/v1#tiny")
        assert {a.text for p in direct.answer(_requests(3)) for a in p} == {
            a.text for p in batched.answer(_requests(3)) for a in p
        }


def test_a_batch_that_was_not_read_is_found_again(server: Server, provider: Provider) -> None:
    """The program ends after it was submitted; the next asks for some of it, and for more."""
    answering = _system(server).answer(_requests(5))
    provider.ends_as, provider.n_polls = "completed", 1
    next(answering)
    answering.close()  # before anything was kept
    again = [answer.text for portion in _system(server).answer(_requests(7)[3:]) for answer in portion]
    assert again == [f"SENTENCE {number}" for number in range(3, 7)]
    assert provider.n_paid == 7
    rest = [answer.text for portion in _system(server).answer(_requests(3)) for answer in portion]
    assert rest == ["SENTENCE 0", "SENTENCE 1", "SENTENCE 2"]
    assert provider.n_paid == 7, "what is left in a batch stays there"


def test_an_acceptance_that_was_lost_is_looked_up(server: Server, provider: Provider) -> None:
    def accept_and_hang_up(server: Server, handler: Any, asked: Asked) -> None:
        provider(asked)
        handler.close_connection = True

    server.script(servers.good, accept_and_hang_up)
    with pytest.raises(UserError, match="broke off"):
        list(_system(server).answer(_requests(4)))
    assert len(list(_system(server).answer(_requests(4)))) == 1
    assert provider.n_paid == 4
    # It never arrived: the server's list shows that, so it is submitted.
    server.script(servers.good, servers.hang_up)
    more = [Request("Another", "en", "es")]
    with pytest.raises(UserError, match="broke off"):
        list(_system(server).answer(more))
    list(_system(server).answer(more))
    assert provider.n_paid == 5
    # A server without a list: nobody knows, and a person decides.
    server.script(servers.good, servers.hang_up, servers.status(404))
    more = [Request("One more", "en", "es")]
    with pytest.raises(UserError, match="broke off"):
        list(_system(server).answer(more))
    with pytest.raises(UserError, match=r"may have accepted.*delete .*\.json"):
        list(_system(server).answer(more))
    assert provider.n_paid == 5


def test_what_an_expired_batch_answered_is_kept(server: Server, provider: Provider) -> None:
    provider.ends_as = "expired"
    answering = _system(server).answer(_requests(4))
    assert len(next(answering)) == 2
    with pytest.raises(UserError, match=r"2 of 4 requests.*expired"):
        next(answering)
    provider.ends_as = "completed"
    assert len(next(_system(server).answer(_requests(4)[2:]))) == 2
    assert provider.n_paid == 4 + 2


def test_a_refused_batch_says_why(server: Server) -> None:
    server.script(servers.good, servers.status(400, {"error": {"message": "billing is not set up"}}))
    with pytest.raises(UserError, match="billing is not set up"):
        list(_system(server).answer(_requests(2)))
    assert len(list(_system(server).answer(_requests(2)))) == 1


def test_a_run_that_is_killed_resumes(server: Server, provider: Provider, tmp_path: Path) -> None:
    control = gendermark.run("fake:right", "terms", **CELL)
    provider.known = {source: text or "" for source, text in control.texts}
    provider.n_polls = 10**9
    words = ["run", "--benchmark", "terms", "--to", "es", "--data", "core", "-o", str(tmp_path / "run")]
    words += ["--system", f"openai:{server.url}/v1#tiny", "--system-option", "batch=yes"]
    words += ["--system-option", "poll_seconds=0.05"]
    running = subprocess.Popen(
        [sys.executable, "-c", "from gendermark.cli.app import main; main()", *words],
        env=os.environ.copy(),
        stderr=subprocess.PIPE,
    )
    try:
        deadline = time.monotonic() + 60
        while not any(batch["n_asked"] for batch in provider.batches.values()):
            assert running.poll() is None, running.stderr and running.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        running.send_signal(signal.SIGKILL)
        running.communicate()
    n_paid = provider.n_paid
    assert n_paid
    provider.n_polls = 1
    options = {"batch": "yes", "poll_seconds": "0.05"}
    spec = f"openai:{server.url}/v1#tiny"
    result = gendermark.run(spec, "terms", **CELL, directory=tmp_path / "run", system_options=options)
    assert [one.value for one in result.estimates] == [one.value for one in control.estimates]
    assert provider.n_paid == len({source for source, _ in control.texts})
    assert not re.search(r"batch", result.signature)
    gendermark.run(spec, "terms", **CELL)
    assert provider.n_paid == len({source for source, _ in control.texts}), "without batches, from the store"
