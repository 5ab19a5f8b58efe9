"""What the analyses read of a run folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gendermark.errors import BadFile, UserError
from gendermark.lab.cells import Cell, read_cell, read_cells
from gendermark.lab.cues import Question, model_cues
from gendermark.lab.samples import look_at
from gendermark.result import Result
from lab.toys import scored, written
from made_runs import without_sums


def test_nothing_translated_has_no_entropy(tmp_path: Path) -> None:
    cell = written(tmp_path / "run", lambda _: [""] * 2)
    for measure in ("s3e", "semantic"):
        with pytest.raises(UserError, match=f"no {measure} entropy: nothing that could be read"):
            model_cues([cell], Question(measure))


def test_several_languages_need_a_choice(coin: Cell, given: dict[str, list[Result]]) -> None:
    given["run"] = [coin.result, scored("x", "de", {})]
    with pytest.raises(UserError, match="results for en-es, en-de; choose a language with --to"):
        read_cell("run")
    assert read_cell("run", "de").direction == "en-de"
    assert len(read_cells("run")) == 2


def test_damaged_samples_are_named(runs: Path, tmp_path: Path) -> None:
    run = without_sums(Path(shutil.copytree(runs / "coin", tmp_path / "run")))
    path = run / "uncertainty.en-es" / "samples.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[1:]), encoding="utf-8")
    with pytest.raises(BadFile, match=r"samples\.jsonl: lacks 1 of 72 sentences; run it again"):
        look_at(read_cell(run), contrast="x")
    path.write_text('{"id": "a", "source": "b", "samples": [1]}\n', encoding="utf-8")
    with pytest.raises(BadFile, match=r"line 1: is not a line that `gendermark run` wrote; run it again"):
        look_at(read_cell(run), contrast="x")
    path.unlink()
    with pytest.raises(BadFile, match="there is no such file"):
        look_at(read_cell(run), contrast="x")
