"""`gendermark leaderboard`: adding, verifying and building from the command line, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Cli

FACTS = ("--version", "2", "--vendor", "nobody", "--kind", "fake", "--date", "2024", "--licence", "MIT",
         "--source", "https://example.org/x", "--note", "by hand")  # fmt: skip


@pytest.fixture
def added(cli: Cli, good_file: Path, finished: Path, tmp_path: Path) -> Path:
    """Two systems: one by a file, one by a run folder."""
    results = tmp_path / "results"
    file = ("--benchmark", "simplegen", "--to", "es", "--data", "core", "--translations", good_file)
    outcome = cli("leaderboard", "add", "--name", "By File", *FACTS, *file, "-o", results)
    assert outcome.err == f"submission written to {results / 'by-file-2-2024' / 'simplegen.en-es'}\n"
    assert cli("leaderboard", "add", "--name", "By Run", "--run", finished / "right", "-o", results).exit_code == 0
    return results


def test_a_submission_says_everything(added: Path) -> None:
    row = json.loads((added / "by-file-2-2024" / "simplegen.en-es" / "submission.json").read_text(encoding="utf-8"))
    assert row["system"] == {"name": "By File", "version": "2", "vendor": "nobody", "kind": "fake", "date": "2024"}
    outputs = row["outputs"]
    assert (outputs["source"], outputs["licence"], outputs["note"]) == ("https://example.org/x", "MIT", "by hand")
    assert [file["name"] for file in outputs["files"]] == ["good.txt"]
    assert len(outputs["sha256"]) == 64
    result = row["result"]
    assert result["counts"]["total"] == 2720
    assert "|system:By File 2 (2024)|" in result["signature"]
    assert {"metric", "value", "low", "high", "n_judged", "n_total"} <= result["estimates"][0].keys()
    # Numbers, names and hashes; no sentence of the data, no translation.
    assert "médico" not in json.dumps(row, ensure_ascii=False)
    other = json.loads((added / "by-run" / "simplegen.en-es" / "submission.json").read_text(encoding="utf-8"))
    assert other["system"]["version"] == "unrecorded"


def test_a_submission_is_a_run_folder(cli: Cli, added: Path) -> None:
    compared = cli("compare", added / "by-file-2-2024", added / "by-run", "--json")
    assert compared.exit_code == 0
    assert compared.json["second"] == "By Run"


def test_built_with_and_without_the_word(cli: Cli, added: Path, tmp_path: Path) -> None:
    for words, name in ((("leaderboard",), "one"), (("leaderboard", "build"), "two")):
        outcome = cli(*words, added, "-o", tmp_path / name)
        assert outcome.exit_code == 0
        assert outcome.err.endswith(f"leaderboard written to {tmp_path / name / 'index.html'}\n")
    pages = [(tmp_path / name / "index.html").read_text(encoding="utf-8") for name in ("one", "two")]
    assert pages[0] == pages[1]
    assert (tmp_path / "one" / "systems" / "by-run.html").exists()


def test_verified_or_refused(cli: Cli, added: Path) -> None:
    outcome = cli("leaderboard", "verify", added)
    assert outcome.exit_code == 0
    assert [row["outcome"] for row in outcome.rows] == ["verified", "verified"]
    assert outcome.err == "2 of 2 submissions follow from their outputs\n"
    path = added / "by-run" / "simplegen.en-es" / "translations.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("la ", "el ", 1), encoding="utf-8")
    outcome = cli("leaderboard", "verify", added, "--json")
    assert outcome.exit_code == 1
    assert outcome.json["n_refused"] == 1
    assert "these are not the outputs that were submitted" in outcome.err.splitlines()[0]
    assert outcome.err.endswith("1 of 2 submissions follow from their outputs\n")


def test_the_same_cell_measured_otherwise_is_refused(cli: Cli, added: Path, good_file: Path) -> None:
    add = ("leaderboard", "add", "--name", "By File", *FACTS, "--benchmark", "simplegen", "--to", "es", "--data",
           "core", "--translations", good_file, "-o", added)  # fmt: skip
    assert cli(*add).exit_code == 0  # measured again, alike
    cli(*add, "--rules", "paper").is_refusal("by-file-2-2024", "measured otherwise", "-o")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("add --name A -o x", ("say what is submitted", "--run", "--translations")),
        ("add --name A -o x --benchmark simplegen", ("say what is submitted",)),
        ("add --name A -o x --translations f.txt", ("say what is submitted",)),
        ("add --name A -o x --run {finished}/right --benchmark simplegen --translations f", ("say what is submitted",)),
        ("add --name A -o x --date yesterday --run {finished}/right", ("a date is written 2024", "'yesterday'")),
        ("add --name ... -o x --run {finished}/right", ("needs a letter",)),
        ("add --name a|b -o x --run {finished}/right", ("name of a system", "|")),
        ("add --name A -o x --benchmark uncertainty --to es --translations f.txt", ("many samples", "--run")),
        ("add --name A -o x --run {finished}/nowhere", ("no such directory",)),
        ("{finished} -o x", ("has no submission in it", "leaderboard add")),
        ("verify {finished}/nowhere", ("no such directory",)),
        ("{finished}", ("'-o'",)),
    ],
)
def test_refused_in_one_sentence(cli: Cli, finished: Path, command: str, words: tuple[str, ...]) -> None:
    cli("leaderboard", *command.format(finished=finished).split()).is_refusal(*words)
