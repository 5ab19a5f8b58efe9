"""COMET, asked in an environment of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import gendermark
from gendermark.errors import UserError


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
