"""`gendermark translate`: any sentences, any system that does not need a benchmark."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gendermark.cli.app import main
from gendermark.systems import demo
from systems import servers
from systems.servers import Asked


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "cache"))
    servers.without_waiting(monkeypatch)


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
        (("--system", "demo:en-es", "--samples", "2", "--sampling", "epsilon"), "--sampling is written KEY=VALUE"),
        (
            ("--system", "demo:en-es", "--samples", "2", "--sampling", "seed=1", "--sampling", "epsilon=0.1,seed=2"),
            "--sampling gives 'seed' twice",
        ),
        (("--system", "command:cat", "--from", "English"), "write en, not English"),
    ],
)
def test_refusals(
    arguments: tuple[str, ...], words: str, sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "short.txt").write_text("La\n", encoding="utf-8")
    names = {"TARGETS": str(sources), "SHORT": str(tmp_path / "short.txt")}
    assert call(str(sources), "--to", "es", *(names.get(word, word) for word in arguments)) == 2
    assert words in capsys.readouterr().err


def test_how_to_draw_is_given_in_either_form(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = []
    for how in (["--sampling", "top_k=3", "--sampling", "seed=1"], ["--sampling", "top_k=3,seed=1"]):
        assert call(str(sources), "--system", "demo:en-es", "--to", "es", "--samples", "4", *how) == 0
        drawn.append(capsys.readouterr().out)
    assert drawn[0] == drawn[1]
    assert "samples" in drawn[0]


@pytest.mark.parametrize("code", ["ES", "Spanish", "spanish"])
def test_a_language_is_given_by_its_code(code: str, sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(str(sources), "--system", "command:cat", "--to", code) == 2
    assert f"languages are given by their codes: write es, not {code}" in capsys.readouterr().err


def test_no_input_is_overwritten(sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "link.txt").symlink_to(sources)
    targets = tmp_path / "targets.txt"
    targets.write_text("La\nEl\n", encoding="utf-8")
    before = sources.read_bytes()
    for output in (sources, tmp_path / "link.txt", tmp_path / "x" / ".." / "sources.txt"):
        assert call(str(sources), "--system", "command:tr a-z A-Z", "--to", "es", "-o", str(output)) == 2
        assert "would overwrite the sentences; choose another file" in capsys.readouterr().err
    arguments = (str(sources), "--system", "demo:en-es", "--to", "es", "--targets", str(targets), "-o", str(targets))
    assert call(*arguments) == 2
    assert "would overwrite --targets; choose another file" in capsys.readouterr().err
    assert sources.read_bytes() == before


def test_a_wrong_pair_is_refused_whatever_is_stored(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(demo.MODELS / "en-es", tmp_path / "model")
    facts = tmp_path / "model" / "gendermark.json"
    facts.unlink(missing_ok=True)
    arguments = (str(sources), "--system", f"ctranslate2:{tmp_path / 'model'}", "--to", "de")
    assert call(*arguments) == 0  # nobody can know
    facts.write_text('{"source_language": "en", "target_language": "es"}', encoding="utf-8")
    capsys.readouterr()
    assert call(*arguments) == 2
    assert "translates en-es (its gendermark.json says so), but en-de is asked for" in capsys.readouterr().err


def test_a_service_is_asked_first_whether_it_has_the_languages(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with servers.serving(lambda _: [{"code": "en", "targets": ["es"]}, {"code": "es", "targets": ["en"]}]) as server:
        assert call(str(sources), "--system", f"libretranslate:{server.url}", "--to", "fi") == 2
        assert [asked.path for asked in server.asked] == ["/languages"]
    assert "does not translate from en into fi; it offers: es" in capsys.readouterr().err


def test_a_bad_key_is_told_before_the_first_sentence(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with servers.serving(lambda _: None) as server:
        server.script(*[servers.status(401)] * 9)
        assert call(str(sources), "--system", f"openai:{server.url}#m", "--to", "es") == 2
        assert [asked.path for asked in server.asked] == ["/models"]
    assert "HTTP 401" in capsys.readouterr().err


def chat(words: list[str]) -> Callable[[Asked], Any]:
    """A server that says these words in turn."""
    said = iter(words)

    def answer(asked: Asked) -> Any:
        if asked.path == "/models":
            return {"data": [{"id": "m"}]}
        return {"choices": [{"message": {"content": next(said)}, "finish_reason": "stop"}]}

    return answer


def test_failures_are_counted_and_all_failed_is_an_error(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, none = tmp_path / "one.jsonl", tmp_path / "none.jsonl"
    options = ("--to", "es", "--json", "--system-option", "concurrency=1")
    with servers.serving(chat(["La enfermera.", ""])) as server:
        assert call(str(sources), "--system", f"openai:{server.url}#m", *options, "-o", str(one)) == 0
    error = capsys.readouterr().err
    assert "1 could not be translated (null); the first because: " in error
    assert "or with `translate --json`)" in error
    with servers.serving(chat(["", ""])) as server:
        assert call(str(sources), "--system", f"openai:{server.url}#m", *options, "-o", str(none)) == 2
    assert "error: none of 2 sentences could be translated; the first because: " in capsys.readouterr().err
    assert [json.loads(line)["translation"] for line in none.read_text(encoding="utf-8").splitlines()] == [None, None]


def test_what_is_scored_is_not_translated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources, targets = tmp_path / "sources.txt", tmp_path / "targets.txt"
    sources.write_text("The nurse slept.\n\n", encoding="utf-8")
    targets.write_text("La enfermera durmió.\nEl\n", encoding="utf-8")
    assert call(str(sources), "--system", "demo:en-es", "--to", "es", "--targets", str(targets)) == 0
    assert "1 could not be scored (null); the first because: the source is empty" in capsys.readouterr().err


def test_an_empty_file_and_a_missing_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.txt").touch()
    assert call(str(tmp_path / "empty.txt"), "--system", "command:cat", "--to", "es") == 2
    assert "is empty; give one sentence per line" in capsys.readouterr().err
    assert call(str(tmp_path / "none.txt"), "--system", "command:cat", "--to", "es") == 2
    assert "there is no such file" in capsys.readouterr().err
