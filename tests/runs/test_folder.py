"""Run folders that were moved, cut short or edited are refused in a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gendermark.errors import BadFile, UserError
from gendermark.metrics.metric import Resampling
from gendermark.runs import folder
from gendermark.runs import run as running
from gendermark.runs.run import RunConfig
from gendermark.selection import Selection

CELL = "tiny.en-xx"


@pytest.fixture
def run(tmp_path: Path, selection: Selection) -> Path:
    directory = tmp_path / "run"
    running.run(RunConfig("fake:right", (selection,), resampling=Resampling(n_resamples=100)), directory)
    return directory


def refused(directory: Path) -> str:
    with pytest.raises(UserError) as caught:
        folder.read_results(directory)
    return str(caught.value)


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


def without(key: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda row: {k: v for k, v in row.items() if k != key}


def test_not_a_run_folder(tmp_path: Path, run: Path) -> None:
    for wrong in (tmp_path / "nowhere", run / "manifest.json", tmp_path):
        assert refused(wrong).startswith(str(wrong))


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{}",
        '"finished"',
        '{"status": "finished", "config": {}}',
        '{"status": "finished", "config": {}, "cells": 5}',
        '{"status": "finished", "config": [], "cells": {}}',
        '{"status": null, "config": {}, "cells": {}}',
    ],
)
def test_another_manifest(run: Path, content: str, selection: Selection) -> None:
    path = run / "manifest.json"
    path.write_text(content)
    assert str(path) in refused(run)
    with pytest.raises(BadFile, match=re.escape(str(path))):  # nor is it written over
        running.run(RunConfig("fake:right", (selection,)), run)
    assert path.read_text() == content


def test_a_manifest_cut_short(run: Path) -> None:
    path = run / "manifest.json"
    path.write_text(path.read_text()[:100])
    assert refused(run).startswith(f"{path}: is not JSON (")
    path.write_bytes(b'{"status": "\xe9"}')
    assert refused(run) == f"{path}, line 1: byte 0xe9 is not UTF-8; save the file as UTF-8"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda _: [], "TypeError"),
        (without("selection"), "'selection'"),
        (without("origin"), "'origin'"),
        (without("tests"), "'tests'"),
        (lambda r: {**r, "selection": None}, "NoneType"),
        (lambda r: {**r, "selection": {**r["selection"], "colour": "red"}}, "colour"),
        (lambda r: {**r, "estimates": [1]}, "TypeError"),
        (lambda r: {**r, "estimates": [{"metric": "accuracy"}]}, "unit"),
        (lambda r: {**r, "tests": [{"name": "x"}]}, "missing"),
    ],
)
def test_another_result(run: Path, change: Callable[[Any], Any], word: str) -> None:
    edit(run / CELL / "result.json", change)
    message = refused(run)
    assert message.startswith(str(run / CELL / "result.json"))
    assert word in message


def test_judgements_cut_short(run: Path) -> None:
    path = run / CELL / "judgements.jsonl"
    whole = path.read_text()
    path.write_text(whole[:-20])
    assert refused(run).startswith(f"{path}, line 80: is not JSON (")
    path.write_text(whole.partition("\n")[0] + "\n[1, 2]\n")
    assert refused(run) == f"{path}, line 2: is not a JSON object"
    path.unlink()
    assert refused(run) == f"{path}: there is no such file"


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ('"verdict": "judged"', '"verdict": "guilty"', "guilty"),
        ('"observed": "masculine"', '"observed": "purple"', "purple"),
        ('"group_id"', '"grouped"', "group_id"),
        ('"tags": {', '"tags": null, "x": {', "NoneType"),
    ],
)
def test_other_judgements(run: Path, old: str, new: str, word: str) -> None:
    path = run / CELL / "judgements.jsonl"
    path.write_text(path.read_text().replace(old, new))
    message = refused(run)
    assert message.startswith(str(run / CELL))
    assert word in message


def test_nothing_is_left_half_written(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk in the middle of a file leaves the old file, and no other."""
    before = sorted(path.name for path in run.iterdir())
    old = (run / "manifest.json").read_bytes()

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(UserError, match=r"^cannot write .*manifest\.json: No space left on device$"):
        folder.write_manifest(run, {}, "running", {})
    assert sorted(path.name for path in run.iterdir()) == before
    assert (run / "manifest.json").read_bytes() == old


@pytest.mark.parametrize("numbers", [1, "x", {}, [1], ["x", "y"], [[], []]])
def test_numbers_of_samples_that_are_none(numbers: Any) -> None:
    row = {"id": "a", "source": "s", "samples": ["x", "y"], "logprobs": [-1.0, None]}
    assert folder.text_of(row)[1].log_probabilities == (-1.0, None)
    for name in ("logprobs", "n_tokens"):
        with pytest.raises(ValueError, match=r"^$"):
            folder.text_of({**row, name: numbers})
