"""`gendermark data statistics` and COMET in its own environment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gendermark
from gendermark.cli.app import _exit_code
from gendermark.errors import UserError


def test_core_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    assert _exit_code(["data", "statistics", "--data", "core", "--split", "test", "--to", "es", "--json"]) == 0
    source, target = json.loads(capsys.readouterr().out)["statistics"]
    assert (source["side"], target["side"], source["pairs"]) == ("source", "target", 48)
    # Spanish marks gender on more words than English does.
    assert target["distinct gendered phrases"] > 3 * source["distinct gendered phrases"]


def test_official_statistics_are_near_table_12(mirror: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _exit_code(["data", "statistics", "--to", "de", "--to", "ru", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["statistics"]
    printed = [(6604, 328), (8053, 1091), (6619, 348), (10121, 2253)]
    for row, (words, phrases) in zip(rows, printed, strict=True):
        assert row["pairs"] == 1200
        assert row["distinct words"] == pytest.approx(words, rel=0.03)
        assert row["distinct gendered phrases"] == pytest.approx(phrases, rel=0.05)


def _program(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


_GOOD = """n=$(wc -l < "$4"); i=0
while [ $i -lt $n ]; do printf '%s\\tSegment %d\\tscore: 0.%d\\n' "$4" $i $((5 + i % 2)); i=$((i + 1)); done"""


def test_comet_is_asked_when_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_COMET", _program(tmp_path / "comet-score", _GOOD))
    (result,) = gendermark.run("fake:right", ["mt-geneval-counterfactual"], "es", data="core")
    # 48 sentences of each gender, scored 0.5 and 0.6 in turn
    assert result.estimate("delta_comet").value == pytest.approx(0)
    assert "+comet:" in result.signature
    monkeypatch.delenv("GENDERMARK_COMET")
    (plain,) = gendermark.run("fake:right", ["mt-geneval-counterfactual"], "es", data="core")
    assert "delta_comet" not in {estimate.metric for estimate in plain.estimates}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo no model >&2; exit 3", r"gave 0 scores for 96 segments \(exit code 3\); it said: no model"),
        ("printf 'x\\tSegment 0\\tscore: 0.5\\n'", "gave 1 scores for 96 segments"),
    ],
)
def test_comet_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, words: str) -> None:
    monkeypatch.setenv("GENDERMARK_COMET", _program(tmp_path / "comet-score", body))
    with pytest.raises(UserError, match=words):
        gendermark.run("fake:right", ["mt-geneval-counterfactual"], "es", data="core")


def test_comet_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_COMET", "/no/such/comet-score")
    with pytest.raises(UserError, match="GENDERMARK_COMET names '/no/such/comet-score', which cannot be started"):
        gendermark.run("fake:right", ["mt-geneval-counterfactual"], "es", data="core")
