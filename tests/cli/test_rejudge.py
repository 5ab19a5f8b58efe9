"""`gendermark rejudge`: what it prints, writes and refuses."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import gendermark
from cli.conftest import Cli
from gendermark.cli import terminal


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """WinoMT on core data. Not to be written to."""
    directory = tmp_path_factory.mktemp("rejudge") / "run"
    gendermark.run("fake:right?p=0.6", ["winomt"], "es", directory, data="core")
    return directory


def test_as_before(cli: Cli, run: Path) -> None:
    outcome = cli("rejudge", run)
    assert outcome.exit_code == 0
    assert outcome.err == "winomt.en-es: all 1,200 verdicts are as before\n"
    assert outcome.rows == cli("run", "--system", "fake:right?p=0.6", "--benchmark", "winomt", "--to", "es", "--data",
                               "core", "-o", run.parent / "again").rows  # fmt: skip


def test_other_rules_are_those_of_score(cli: Cli, run: Path, tmp_path: Path) -> None:
    printed = cli("rejudge", run, "--rules", "paper2019", "--json", "-o", tmp_path / "paper").json
    (found,) = printed["rejudged"]
    assert (found["run"], found["written"]) == (str(run), str(tmp_path / "paper"))
    (cell,) = found["cells"]
    lines = (run / "winomt.en-es" / "translations.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "texts.txt").write_text("".join(f"{json.loads(line)['translation']}\n" for line in lines))
    scored = cli(
        "score", "winomt", "--to", "es", "--data", "core", "--rules", "paper2019", "--json",
        "--translations", tmp_path / "texts.txt",
    ).json  # fmt: skip
    assert cell["result"]["estimates"] == scored["estimates"]
    assert cell["n"] == 1200
    assert 0 < len(cell["changes"]) < 1200
    # The folder that was written is a run folder like any other.
    assert cli("compare", tmp_path / "paper", tmp_path / "paper").exit_code == 0
    assert cli("report", run, tmp_path / "paper", "-o", tmp_path / "page.html").exit_code == 0
    assert cli("gate", tmp_path / "paper", "--min", "accuracy=1").exit_code == 0
    cli("compare", run, tmp_path / "paper").is_refusal(
        "winomt.en-es: the runs differ in rules (best-", "and paper2019)"
    )


def test_several_runs_are_one_table(cli: Cli, run: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(run, tmp_path / "other"))
    outcome = cli("rejudge", run, other, "-o", tmp_path / "out")
    assert outcome.exit_code == 0
    alone = cli("rejudge", run).rows
    assert outcome.rows == [{"run": str(one), **row} for one in (run, other) for row in alone]
    for one in (run, other):
        assert f"{one}, winomt.en-es: all 1,200 verdicts are as before" in outcome.err.splitlines()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["other", "run"]
    assert f"run folder: {tmp_path / 'out' / 'other'}" in outcome.err.splitlines()


def test_drawn_tables_of_several_runs_name_their_folders(
    cli: Cli, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Path(shutil.copytree(run, tmp_path / "other"))
    monkeypatch.setattr(terminal, "is_terminal", lambda stream: stream is sys.stdout)
    monkeypatch.setenv("COLUMNS", "300")
    titles = [line for line in cli("rejudge", run, other).out.splitlines() if ": core data, rules best" in line]
    assert [title.partition(" en-es, ")[0] for title in titles] == [f"{run}, winomt", f"{other}, winomt"]
    (title,) = [line for line in cli("rejudge", run).out.splitlines() if ": core data, rules best" in line]
    assert title.startswith("winomt en-es, ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--alpha", "2"), ("winomt takes no --alpha, which belongs to uncertainty; leave it out",)),
        (("--similarity", "use"), ("winomt takes no --similarity",)),
        (("--rules", "paper"), ("unknown rules of winomt 'paper'", "paper2019")),
        (("--aligner", "magic"), ("unknown aligner 'magic'",)),
        (("-o", "{run}"), ("{run} holds the run that is judged again; choose another directory with -o",)),
        (("{run}", "-o", "{tmp}/out"), ("two run folders have the same name",)),
    ],
)
def test_refusals(cli: Cli, run: Path, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    places: dict[str, Any] = {"run": run, "tmp": tmp_path}
    given = [argument.format(**places) for argument in arguments]
    cli("rejudge", run, *given).is_refusal(*(word.format(**places) for word in words))
    assert list(tmp_path.iterdir()) == []


def test_no_run_folder(cli: Cli, tmp_path: Path) -> None:
    cli("rejudge", tmp_path).is_refusal(f"{tmp_path} is not a run folder (it has no manifest.json); give")
    cli("rejudge", tmp_path / "none").is_refusal("there is no such directory")


def test_options_of_sentences_and_systems_are_not_offered(cli: Cli) -> None:
    """What was asked cannot be changed afterwards."""
    words = cli("rejudge", "--help").out
    for option in ("--rules", "--detector", "--aligner", "--similarity", "--alpha", "--entailment"):
        assert option in words
    for option in ("--split", "--context", "--variant", "--n-samples", "--sampling", "--system", "--data"):
        assert option not in words
