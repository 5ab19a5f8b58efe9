"""`compare` with more than two runs, and with versions in order."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark.cli import terminal

QUICK = ("--resamples", "1000")


@pytest.fixture(scope="module")
def three(small: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    base = tmp_path_factory.mktemp("three")
    selection = gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative",))
    gendermark.run("fake:right", [selection], directory=base / "three")
    return [small / "one", small / "two", base / "three"]


def test_every_pair(cli: Any, three: list[Path]) -> None:
    printed = cli("compare", *three, "--metric", "p_s:negative", *QUICK, "--json")
    assert (printed.exit_code, printed.err) == (0, "")
    (row,) = printed.json["matrix"]
    assert [(d["first"], d["second"]) for d in row["differences"]] == [
        ("one", "two"),
        ("one", "three"),
        ("two", "three"),
    ]
    rows = cli("compare", *three, "--metric", "p_s:negative", *QUICK).rows
    for shown, known in zip(rows, row["differences"], strict=True):
        assert (shown["first"], shown["second"], shown["second_is"]) == (
            known["first"],
            known["second"],
            known["change"],
        )
        assert float(shown["difference"]) == known["difference"]
        assert float(shown["p_adjusted"]) == known["p_adjusted"]


def test_trend(cli: Any, three: list[Path]) -> None:
    arguments = ("compare", *three, "--trend", "--metric", "p_s:negative", *QUICK)
    (row,) = cli(*arguments, "--json").json["trend"]
    outcome = cli(*arguments)
    assert outcome.err == f"{row['sentence']}\n"
    assert len(outcome.rows) == 3
    two = cli("compare", *three[:2], "--trend", "--metric", "p_s:negative", *QUICK, "--json").json
    assert len(two["trend"][0]["steps"]) == 1


def test_two_runs_are_as_ever(cli: Any, three: list[Path]) -> None:
    printed = cli("compare", *three[:2], "--all", *QUICK, "--json").json
    assert set(printed) == {"first", "second", "comparisons", "tests", "notes", "first_name", "second_name"}


@pytest.mark.parametrize("options", [(), ("--trend",)])
def test_on_a_terminal(cli: Any, three: list[Path], monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda _: True)
    outcome = cli("compare", *three, *options, "--metric", "p_s:negative", *QUICK)
    assert outcome.exit_code == 0
    assert "against first" in outcome.out
    assert ("against previous" in outcome.out) == bool(options)
    assert ("row minus column" in outcome.out) != bool(options)
    assert outcome.err.lstrip().startswith("3 runs, the first is right (fake, p=0.5)")


def test_folders_of_one_name_are_told_apart(cli: Any, three: list[Path], tmp_path: Path) -> None:
    again = Path(shutil.copytree(three[0], tmp_path / "one"))
    runs = cli("compare", *three, again, "--metric", "p_s:negative", *QUICK, "--json").json["runs"]
    assert [run["name"] for run in runs] == [str(three[0]), "two", "three", str(again)]


def test_what_is_refused(cli: Any, three: list[Path]) -> None:
    cli("compare").is_refusal("a first and a second run folder", "gendermark compare --help")
    cli("compare", three[0], "--trend").is_refusal("a first and a second run folder")
    cli("compare", *three, three[0]).is_refusal(str(three[0]), "given twice")
    cli("compare", *three, "--metric", "nothing").is_refusal("'nothing'", "p_s:negative")
    cli("compare", *three[:2], "--metric", "nothing").is_refusal("'nothing'", "p_s:negative")
