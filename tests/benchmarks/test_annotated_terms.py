"""Annotated terms: found in either form, and right of those found."""

from __future__ import annotations

from pathlib import Path

import pytest

import gendermark
from gendermark.errors import UserError
from gendermark.result import Result

CORE = gendermark.Selection("terms", "en", "es", data="core")


def _run(system: str) -> Result:
    (result,) = gendermark.run(system, [CORE])
    return result


@pytest.mark.parametrize(
    ("system", "coverage", "accuracy", "gap"),
    [
        ("fake:right", 100.0, 100.0, 0.0),
        ("fake:masculine", 100.0, 50.0, 100.0),
        ("fake:feminine", 100.0, 50.0, -100.0),
        ("fake:silent", 0.0, None, None),
        ("fake:copy", 0.0, None, None),
    ],
)
def test_fakes_land_on_their_expectation(
    system: str, coverage: float, accuracy: float | None, gap: float | None
) -> None:
    result = _run(system)
    assert result.estimate("term_coverage").value == coverage
    assert result.estimate("term_accuracy").value == accuracy
    assert result.estimate("term_gap").value == gap


def test_garbled_words_are_not_found() -> None:
    coverage = _run("fake:garble").estimate("term_coverage").value
    assert coverage is not None
    assert coverage < 5


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


def test_there_is_no_official_data() -> None:
    with pytest.raises(UserError, match="unknown data of terms 'official'; available: core, file:FILE"):
        gendermark.items("terms", "es")
