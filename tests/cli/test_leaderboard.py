"""`gendermark leaderboard`: adding, verifying and building from the command line. (Refusals: test_refusals.py.)"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gendermark
from cli.conftest import Cli
from gendermark import registry
from gendermark.records import Gender

FACTS = (
    "--version 2 --vendor nobody --kind fake --date 2024 --licence MIT --source https://a.example/x --note 'by hand'"
)
CELL = "gest.en-ru"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Translations in which everybody is a man."""
    item_set = gendermark.items("gest", "ru", data="core")
    render = registry.load("benchmark", "gest").render
    lines = [render(item, Gender.MASCULINE, item_set.selection) for item in item_set.items]
    path = tmp_path / "good.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def added(cli: Cli, file: Path, tmp_path: Path) -> Path:
    """Two systems: one by a file, one by a run folder."""
    results = tmp_path / "results"
    given = f"--benchmark gest --to ru --data core --translations {file}"
    outcome = cli(f"leaderboard add --name 'By File' {FACTS} {given} -o {results}")
    assert outcome.err == f"submission written to {results / 'by-file-2-2024' / CELL}\n"
    gendermark.run("fake:right", ["gest"], "ru", tmp_path / "run", data="core")
    assert cli(f"leaderboard add --name 'By Run' --run {tmp_path}/run -o {results}").exit_code == 0
    return results


def test_a_submission_says_everything(cli: Cli, added: Path, file: Path) -> None:
    row = json.loads((added / "by-file-2-2024" / CELL / "submission.json").read_text(encoding="utf-8"))
    assert row["system"] == {"name": "By File", "version": "2", "vendor": "nobody", "kind": "fake", "date": "2024"}
    outputs = row["outputs"]
    assert (outputs["source"], outputs["licence"], outputs["note"]) == ("https://a.example/x", "MIT", "by hand")
    assert [file["name"] for file in outputs["files"]] == ["good.txt"]
    assert len(outputs["sha256"]) == 64
    result = row["result"]
    assert result["counts"]["total"] == 128
    assert "|system:By File 2 (2024)|" in result["signature"]
    assert {"metric", "value", "low", "high", "n_judged", "n_total"} <= result["estimates"][0].keys()
    # Numbers, names and hashes; no sentence of the data, no translation.
    assert not [line for line in file.read_text("utf-8").splitlines() if line in json.dumps(row, ensure_ascii=False)]
    other = json.loads((added / "by-run" / CELL / "submission.json").read_text(encoding="utf-8"))
    assert other["system"]["version"] == "unrecorded"
    compared = cli(f"compare {added}/by-file-2-2024 {added}/by-run --json")
    assert compared.json["second"] == "By Run", "a submission is a run folder"


def test_built_with_and_without_the_word(cli: Cli, added: Path, tmp_path: Path) -> None:
    pages = []
    for word in ("", "build"):
        site = tmp_path / f"site{word}"
        outcome = cli(f"leaderboard {word} {added} -o {site} --executor serial")
        assert outcome.exit_code == 0
        assert outcome.err.endswith(f"leaderboard written to {site / 'index.html'}\n")
        assert (site / "systems" / "by-run.html").exists()
        pages.append((site / "index.html").read_text(encoding="utf-8"))
    assert pages[0] == pages[1]


def test_verified_or_refused(cli: Cli, added: Path) -> None:
    outcome = cli(f"leaderboard verify {added}")
    assert outcome.exit_code == 0
    assert [row["outcome"] for row in outcome.rows] == ["verified", "verified"]
    assert outcome.err.startswith("2 of 2 submissions")
    path = added / "by-run" / CELL / "translations.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("a", "o", 1), encoding="utf-8")
    outcome = cli(f"leaderboard verify {added} --json")
    assert outcome.exit_code == 1
    assert outcome.json["n_refused"] == 1
    assert f"{added / 'by-run' / CELL}" in outcome.err.splitlines()[0]
    assert outcome.err.endswith("1 of 2 submissions verified\n")


def test_the_same_cell_measured_otherwise_is_refused(cli: Cli, added: Path, file: Path) -> None:
    given = f"--benchmark gest --to ru --data core --translations {file}"
    add = f"leaderboard add --name 'By File' {FACTS} {given} -o {added}"
    assert cli(add).exit_code == 0  # measured again, alike
    cli(f"{add} --rules paper").is_refusal("by-file-2-2024", "-o")
