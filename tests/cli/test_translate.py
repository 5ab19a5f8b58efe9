"""`gendermark translate`: any sentences, any system that does not need a benchmark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gendermark.cli.app import main


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    path = tmp_path / "sources.txt"
    path.write_text("The nurse slept.\nThe pilot sang.\n", encoding="utf-8")
    return path


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["translate", *arguments])
    return int(end.value.code or 0)


def test_lines_in_lines_out(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(str(sources), "--system", "command:tr a-z A-Z", "--to", "es") == 0
    assert capsys.readouterr().out == "THE NURSE SLEPT.\nTHE PILOT SANG.\n"


def test_json_and_a_file(sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.jsonl"
    assert call(str(sources), "--system", "command:tr a-z A-Z", "--to", "es", "--json", "-o", str(out)) == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert rows[0] == {"source": "The nurse slept.", "translation": "THE NURSE SLEPT."}
    assert "2 lines written to" in capsys.readouterr().err


def test_what_is_finished_is_not_asked_again(sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\ntee -a {tmp_path}/asked\n", encoding="utf-8")
    program.chmod(0o755)
    for _ in range(2):
        assert call(str(sources), "--system", f"command:{program}", "--to", "es") == 0
    assert (tmp_path / "asked").read_text(encoding="utf-8") == sources.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--system", "command:cat", "--samples", "4"), "command:cat cannot sample, which this needs"),
        (("--system", "command:cat", "--targets", "TARGETS"), "command:cat cannot score, which this needs"),
        (("--system", "command:cat", "--samples", "4", "--targets", "TARGETS"), "choose one of them"),
        (("--system", "command:cat", "--sampling", "epsilon=0.2"), "say how many with --samples"),
        (("--system", "command:cat", "--samples", "4", "--sampling", "beam=2"), "there is no sampling option 'beam'"),
        (("--system", "fake:right"), "fake:right answers the sentences of benchmarks only"),
        (("--system", "command:cat", "--targets", "SHORT"), "1 translations were given for 2 sentences"),
    ],
)
def test_refusals(
    arguments: tuple[str, ...], words: str, sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "short.txt").write_text("La\n", encoding="utf-8")
    names = {"TARGETS": str(sources), "SHORT": str(tmp_path / "short.txt")}
    assert call(str(sources), "--to", "es", *(names.get(word, word) for word in arguments)) == 2
    assert words in capsys.readouterr().err


def test_an_empty_file_and_a_missing_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.txt").touch()
    assert call(str(tmp_path / "empty.txt"), "--system", "command:cat", "--to", "es") == 2
    assert "is empty; give one sentence per line" in capsys.readouterr().err
    assert call(str(tmp_path / "none.txt"), "--system", "command:cat", "--to", "es") == 2
    assert "there is no such file" in capsys.readouterr().err
