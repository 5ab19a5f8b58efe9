"""`gendermark translate`: any sentences, any system that does not need a benchmark. (Refusals: test_refusals.py.)"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Cli
from systems import servers
from systems.servers import Asked

SHOUT = "--system 'command:tr a-z A-Z' --to es"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "cache"))
    servers.without_waiting(monkeypatch)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    path = tmp_path / "sources.txt"
    path.write_text("The nurse slept.\nThe pilot sang.\n", encoding="utf-8")
    return path


def test_lines_in_lines_out(cli: Cli, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "THE NURSE SLEPT.\nTHE PILOT SANG.\n"
    assert cli(f"translate {sources} {SHOUT}").out == lines
    assert cli(f"translate {sources} {SHOUT} --json -o {tmp_path}/out.jsonl").err.startswith("2 lines written to")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows[0] == {"source": "The nurse slept.", "translation": "THE NURSE SLEPT."}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sources.read_bytes())))
    assert cli(f"translate - {SHOUT}").out == lines
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9\n")))
    cli(f"translate - {SHOUT}").is_refusal("standard input", "0xe9")


def test_what_is_finished_is_not_asked_again(cli: Cli, sources: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\ntee -a {tmp_path}/asked\n", encoding="utf-8")
    program.chmod(0o755)
    for _ in range(2):
        assert cli(f"translate {sources} --system command:{program} --to es").exit_code == 0
    assert (tmp_path / "asked").read_text(encoding="utf-8") == sources.read_text(encoding="utf-8")


def test_how_to_draw_is_given_in_either_form(cli: Cli, sources: Path) -> None:
    drawn = [
        cli(f"translate {sources} --system demo:en-es --to es --samples 4 {how}").out
        for how in ("--sampling top_k=3 --sampling seed=1", "--sampling top_k=3,seed=1")
    ]
    assert drawn[0] == drawn[1]
    assert len(json.loads(drawn[0].splitlines()[0])["samples"]) == 4


def test_what_is_scored_is_not_translated(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sources.txt").write_text("The nurse slept.\n\n", encoding="utf-8")
    (tmp_path / "targets.txt").write_text("La enfermera durmió.\nEl\n", encoding="utf-8")
    command = f"translate {tmp_path}/sources.txt --system demo:en-es --to es --targets {tmp_path}/targets.txt"
    outcome = cli(command)
    assert outcome.exit_code == 0
    assert outcome.err.startswith("1 could not be scored (null)")
    first, second = (json.loads(line) for line in outcome.out.splitlines())
    assert first["log_probability"] < 0
    assert second["log_probability"] is None


# -- services ----------------------------------------------------------------------------------------------------------


def test_a_service_is_asked_first_whether_it_has_the_languages(cli: Cli, sources: Path) -> None:
    with servers.serving(lambda _: [{"code": "en", "targets": ["es"]}, {"code": "es", "targets": ["en"]}]) as server:
        cli(f"translate {sources} --system libretranslate:{server.url} --to fi").is_refusal("fi", "es")
        assert [asked.path for asked in server.asked] == ["/languages"]


def test_a_bad_key_is_told_before_the_first_sentence(cli: Cli, sources: Path) -> None:
    with servers.serving(lambda _: None) as server:
        server.script(*[servers.status(401)] * 9)
        cli(f"translate {sources} --system openai:{server.url}#m --to es").is_refusal("HTTP 401")
        assert [asked.path for asked in server.asked] == ["/models"]


def chat(words: list[str]) -> Callable[[Asked], Any]:
    """A server that says these words in turn."""
    said = iter(words)

    def answer(asked: Asked) -> Any:
        if asked.path == "/models":
            return {"data": [{"id": "m"}]}
        return {"choices": [{"message": {"content": next(said)}, "finish_reason": "stop"}]}

    return answer


@pytest.mark.parametrize(
    ("answers", "code", "error"),
    [
        (["La enfermera.", ""], 0, "1 could not be translated (null)"),
        (["", ""], 2, "error: none of 2 sentences could be translated"),
    ],
)
def test_failures_are_counted_and_all_failed_is_an_error(
    cli: Cli, sources: Path, tmp_path: Path, answers: list[str], code: int, error: str
) -> None:
    out = tmp_path / "out.jsonl"
    with servers.serving(chat(answers)) as server:
        system = f"--system openai:{server.url}#m --system-option concurrency=1"
        outcome = cli(f"translate {sources} {system} --to es --json -o {out}")
    assert outcome.exit_code == code
    assert error in outcome.err
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["translation"] for row in rows] == [answer or None for answer in answers]
