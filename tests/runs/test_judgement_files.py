"""Judgements in files for other programs."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import gendermark
from gendermark import Result
from gendermark.errors import MissingExtra, UserError
from gendermark.records import Judgement
from gendermark.runs import folder
from gendermark.runs.folder import check_format, write_judgements


@pytest.fixture(scope="module")
def result() -> Result:
    return gendermark.run("fake:coin", "uncertainty", "es", data="core", n_samples=2, parts=("referenced",))


def test_json_lines(tmp_path: Path, result: Result) -> None:
    path = tmp_path / "judgements.jsonl"
    write_judgements(path, result)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [Judgement.from_json(row) for row in rows] == list(result.judgements)
    assert [(row["source"], row["translation"]) for row in rows] == list(result.texts)
    assert {(row["system"], row["target_language"]) for row in rows} == {(result.called, "es")}


def test_a_parquet_table_has_the_same_judgements(
    tmp_path: Path, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet (pyarrow)")
    monkeypatch.setattr(folder, "_TOGETHER", 100)
    path = tmp_path / "judgements.parquet"
    write_judgements(path, result)
    assert parquet.ParquetFile(path).num_row_groups == -(-len(result.judgements) // 100)
    rows = parquet.read_table(path).to_pylist()
    for row in rows:
        row["tags"], row["measures"] = dict(row["tags"]), dict(row["measures"])
    assert [Judgement.from_json(row) for row in rows] == list(result.judgements)


def test_without_the_extra_it_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "judgements.parquet"
    with pytest.raises(MissingExtra) as found:
        check_format(path)
    assert str(found.value) == (
        f"writing {path} needs an optional package; install it with: pip install 'gendermark[parquet]'"
    )
    check_format(tmp_path / "judgements.jsonl")


def test_what_fails_on_the_way_leaves_the_old_file(tmp_path: Path, result: Result) -> None:
    path = tmp_path / "judgements.jsonl"
    path.write_text("old\n", encoding="utf-8")

    class Broken(list[Judgement]):
        def __iter__(self):  # type: ignore[no-untyped-def]
            yield result.judgements[0]
            raise UserError("the disk is full")

    with pytest.raises(UserError, match="the disk is full"):
        write_judgements(path, replace(result, judgements=Broken(), texts=()))
    assert [(one.name, one.read_text(encoding="utf-8")) for one in tmp_path.iterdir()] == [
        ("judgements.jsonl", "old\n")
    ]
