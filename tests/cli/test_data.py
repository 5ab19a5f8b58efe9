"""`gendermark data list | get | verify`."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gendermark.cli import data, terminal
from gendermark.data import card, card_names, load_card
from gendermark.errors import UserError

MIRROR = Path(os.environ.get("GENDERMARK_DATA_MIRROR") or Path(__file__).parents[3] / "shared" / "data")
COMMITS = {"old": "a" * 40, "new": "b" * 40}
CONTENT = {"a.txt": b"ein Arzt\n", "dir/b.txt": b"une femme m\xc3\xa9decin\n"}


@dataclass(frozen=True)
class Outcome:
    exit_code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*arguments: str) -> Outcome:
    """A command, ended as the main program ends it: `error: SENTENCE`, and the exit code of the error."""
    result = CliRunner().invoke(data.app, arguments)
    if isinstance(result.exception, UserError):
        return Outcome(result.exception.exit_code, result.stdout, f"{result.stderr}error: {result.exception}\n")
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(result.exit_code, result.stdout, result.stderr)


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", str(tmp_path / "mirror"))


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two toy data sets, `one` with two revisions; gives the directory of the cached files."""
    for name, ids in {"one": ("old", "new"), "two": ("new",)}.items():
        text = f'name = "{name}"\ntitle = "Toy {name}"\nrepository = "owner/{name}"\n'
        text += 'licence = "MIT"\nlicence_note = "A note."\ncitation = "Nobody (2020). Toy."\nbibtex = "@misc{toy}"\n'
        for revision_id in ids:
            text += f'[[revisions]]\nid = "{revision_id}"\ncommit = "{COMMITS[revision_id]}"\n'
            for group, path in {"data": "a.txt", "outputs": "dir/b.txt"}.items():
                place = tmp_path / "mirror" / "owner" / name / COMMITS[revision_id] / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(CONTENT[path])
                digest = hashlib.sha256(CONTENT[path]).hexdigest()
                text += f'files.{group} = [{{ path = "{path}", size = {len(CONTENT[path])}, sha256 = "{digest}" }}]\n'
        (tmp_path / "cards").mkdir(exist_ok=True)
        (tmp_path / "cards" / f"{name}.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(card, "CARDS", tmp_path / "cards")
    return tmp_path / "cache" / "data" / "owner"


def test_list_in_columns(toys: Path, tmp_path: Path) -> None:
    run("get", "one", "--revision", "old", "--all")
    outcome = run("list")
    assert outcome.exit_code == 0
    assert [line.split("\t") for line in outcome.out.splitlines()] == [
        ["name", "revision", "title", "licence", "size", "cached"],
        ["one", "old", "Toy one", "MIT", "0.0 MB data + 0.0 MB outputs", "1/1 data, 1/1 outputs"],
        ["one", "new", "Toy one", "MIT", "0.0 MB data + 0.0 MB outputs", "0/1 data, 0/1 outputs"],
        ["two", "new", "Toy two", "MIT", "0.0 MB data + 0.0 MB outputs", "0/1 data, 0/1 outputs"],
    ]
    assert outcome.err == f"cache: {tmp_path / 'cache'}\n"


def test_list_as_json(toys: Path, tmp_path: Path) -> None:
    run("get", "two")
    listed = run("list", "--json").json
    assert listed["cache"] == str(tmp_path / "cache")
    assert [row["name"] + row["revision"] for row in listed["data"]] == ["oneold", "onenew", "twonew"]
    assert listed["data"][2] == {
        "name": "two",
        "revision": "new",
        "commit": "b" * 40,
        "title": "Toy two",
        "licence": "MIT",
        "licence_note": "A note.",
        "citation": "Nobody (2020). Toy.",
        "bibtex": "@misc{toy}",
        "homepage": "https://github.com/owner/two",
        "groups": {
            "data": {"n_files": 1, "n_cached": 1, "n_bytes": 9},
            "outputs": {"n_files": 1, "n_cached": 0, "n_bytes": 19},
        },
    }


def test_list_on_a_terminal(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda _: True)
    monkeypatch.setenv("COLUMNS", "200")
    assert [line.split()[:4] for line in run("list").out.splitlines()[3:-1]] == [
        ["one", "old", "Toy", "one"],
        ["one", "new", "Toy", "one"],
        ["two", "new", "Toy", "two"],
    ]


def test_get_fetches_the_data_of_every_revision(toys: Path) -> None:
    outcome = run("get", "one")
    assert outcome.exit_code == 0
    assert outcome.out.splitlines() == [f"one\t{name}\t{toys / 'one' / COMMITS[name]}" for name in ("old", "new")]
    for commit in COMMITS.values():
        assert (toys / "one" / commit / "a.txt").read_bytes() == CONTENT["a.txt"]
        assert not (toys / "one" / commit / "dir").exists()


def test_get_says_licence_and_citation_before_and_after(toys: Path) -> None:
    notice = "Toy two (https://github.com/owner/two), licence: MIT. A note.\nPlease cite: Nobody (2020). Toy.\n"
    between = "two new: fetching 1 of 1 files, 0.0 MB\n  a.txt (9 bytes)\n"
    assert run("get", "two").err == f"{notice}{between}{notice}@misc{{toy}}\n"
    again = run("get", "two").err
    assert "two new: fetching 0 of 1 files, 0.0 MB\n" in again
    assert "a.txt" not in again


def test_get_all_of_one_revision_as_json(toys: Path) -> None:
    outcome = run("get", "two", "one", "two", "--revision", "new", "--all", "--json")
    assert [(row["name"], row["revision"], row["n_fetched"]) for row in outcome.json["data"]] == [
        ("two", "new", 2),
        ("one", "new", 2),
    ]
    for row in outcome.json["data"]:
        assert row["files"] == ["a.txt", "dir/b.txt"]
        assert (Path(row["directory"]) / "dir" / "b.txt").read_bytes() == CONTENT["dir/b.txt"]
        assert row["licence"] == "MIT"


def test_get_on_a_terminal_shows_a_bar(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda _: True)
    monkeypatch.setenv("COLUMNS", "200")
    outcome = run("get", "one", "--all")
    assert outcome.exit_code == 0
    assert "one old" in outcome.err
    assert "28/28 bytes" in outcome.err


def test_get_refuses_wrong_names_before_it_fetches(toys: Path) -> None:
    outcome = run("get", "two", "oen")
    assert outcome.err == "error: unknown official data set 'oen' (did you mean 'one'?); available: one, two\n"
    outcome = run("get", "one", "two", "--revision", "old")
    assert outcome.exit_code == 2
    assert outcome.err == "error: unknown revision of two 'old'; available: new\n"
    assert not toys.exists()
    assert run("get").exit_code == 2


def test_get_from_nowhere(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", "no/such/place")
    outcome = run("get", "two")
    assert (outcome.exit_code, outcome.out) == (2, "")
    assert outcome.err.splitlines()[-1].startswith("error: there is no directory no/such/place; correct GENDERMARK_")


def test_verify_an_empty_cache(toys: Path) -> None:
    outcome = run("verify")
    assert (outcome.exit_code, outcome.out) == (0, "")
    assert outcome.err == "nothing is cached; fetch with: gendermark data get NAME\n"


def test_verify_what_is_good(toys: Path) -> None:
    run("get", "one", "--revision", "old")
    for arguments in (["verify"], ["verify", "one"]):
        outcome = run(*arguments)
        assert (outcome.exit_code, outcome.out, outcome.err) == (0, "", "files checked, all good: 1\n")
    assert run("verify", "--json").json["problems"] == []
    assert run("verify", "--json").json["mend"] is None


def test_verify_names_what_is_absent_when_asked_for_it(toys: Path) -> None:
    outcome = run("verify", "one")
    assert outcome.exit_code == 2
    assert outcome.out == "missing\tone\told\ta.txt\nmissing\tone\tnew\ta.txt\n"
    assert outcome.err == (
        "error: one old a.txt is missing; one new a.txt is missing; fix it with: gendermark data get one\n"
    )


def test_verify_names_what_is_damaged_and_the_command_mends_it(toys: Path) -> None:
    run("get", "one", "two", "--all")
    (toys / "one" / COMMITS["old"] / "dir" / "b.txt").write_bytes(b"une femme docteur")
    outcome = run("verify")
    assert outcome.exit_code == 2
    assert outcome.out == "damaged\tone\told\tdir/b.txt\n"
    command = "gendermark data get one --revision old --all"
    assert outcome.err == f"error: one old dir/b.txt is damaged; fix it with: {command}\n"
    as_json = run("verify", "--json")
    assert as_json.exit_code == 2
    assert as_json.json["n_good"] == 5
    assert as_json.json["mend"] == command
    assert as_json.json["problems"] == [
        {"name": "one", "revision": "old", "group": "outputs", "path": "dir/b.txt", "state": "damaged"}
    ]
    assert run(*command.split()[2:]).exit_code == 0
    assert run("verify").exit_code == 0


def test_verify_names_three_and_counts_the_rest(toys: Path) -> None:
    run("get", "one", "two", "--all")
    for place in toys.rglob("*.txt"):
        place.write_bytes(b"")
    outcome = run("verify")
    assert len(outcome.out.splitlines()) == 6
    assert "is damaged (and 3 more); fix it with: gendermark data get one two --all\n" in outcome.err


def test_verify_refuses_wrong_names(toys: Path) -> None:
    assert run("verify", "won").exit_code == 2


def test_the_official_data(monkeypatch: pytest.MonkeyPatch) -> None:
    if not MIRROR.is_dir():
        pytest.skip(f"no mirror of the official data at {MIRROR}; set GENDERMARK_DATA_MIRROR to a directory")
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", str(MIRROR))
    assert run("get", *card_names(), "--all").exit_code == 0
    outcome = run("verify", *card_names())
    n_files = sum(len(revision.files) for name in card_names() for revision in load_card(name).revisions)
    assert (outcome.exit_code, outcome.err) == (0, f"files checked, all good: {n_files}\n")
    for row in run("list", "--json").json["data"]:
        assert all(group["n_cached"] == group["n_files"] for group in row["groups"].values())
