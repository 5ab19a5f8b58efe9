"""Annotated terms: found in either form, and right of those found."""

from __future__ import annotations

from pathlib import Path

import pytest

import gendermark


def test_by_hand(tmp_path: Path) -> None:
    """Three terms: one right, one wrong, one worded otherwise."""
    path = tmp_path / "mine.csv"
    path.write_text("source,gender,terms\nShe was my tired aunt.,f,mi tía|mi tío;cansada|cansado;una|un\n")
    result = gendermark.score("terms", ["Era mi tía, muy cansado."], to="es", data=f"file:{path}")
    assert result.estimate("term_coverage").value == pytest.approx(200 / 3)
    assert result.estimate("term_accuracy").value == 50.0
    (judgement,) = result.judgements
    assert (judgement.outcome, judgement.evidence) == ("mixed", ("mi tía", "cansado"))
    assert [("Era mi tía, muy cansado.")[slice(*span)] for span in judgement.spans] == ["mi tía", "cansado"]
