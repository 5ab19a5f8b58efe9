"""Names of systems, from the command line to every place where a person reads them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark.report.paging import RunFolders

RUN = ("run", "--benchmark", "tgbi", "--from", "ko", "--to", "en", "--data", "core", "--group", "negative")


def test_a_run_keeps_its_name(cli: Any, tmp_path: Path) -> None:
    run = (*RUN, "--system", "fake:right?p=0.5", "-o", tmp_path / "r")
    assert cli(*run, "--name", "Bing 2019", "--json").json["results"][0]["name"] == "Bing 2019"
    assert json.loads((tmp_path / "r" / "manifest.json").read_text(encoding="utf-8"))["name"] == "Bing 2019"
    assert cli(*run, "--json").json["results"][0]["name"] == "Bing 2019", "a run that goes on keeps it"
    cli("rejudge", tmp_path / "r", "-o", tmp_path / "again")
    assert gendermark.load(tmp_path / "again")[0].called == "Bing 2019"
    page = cli("report", tmp_path / "r", "--format", "html").out
    assert "<title>Gender in translation: Bing 2019</title>" in page
    assert "fake:right?p=0.5" in page, "the whole spec, under what was measured"
    assert "--name &#x27;Bing 2019&#x27;" in page
    assert cli(*run, "--name", "Bing 2020", "--json").json["results"][0]["name"] == "Bing 2020", "or gets a new one"


def test_translations_made_elsewhere_have_a_name(cli: Any, good_file: Path) -> None:
    score = ("score", "simplegen", "--to", "es", "--data", "core", "--translations", good_file)
    assert cli(*score, "--json").json["name"] == "translations", "whatever the file is called"
    named = cli(*score, "--json", "--name", "Bing 2019").json
    assert (named["name"], named["system"]) == ("Bing 2019", "files")


@pytest.mark.parametrize("given", [("Old=one", "New one=two"), ("one", "two", "--name", "Old", "--name", "New one")])
def test_names_of_folders(cli: Any, small: Path, given: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small)
    header = cli("report", *given, "--format", "md").out.partition("| metric |")[2].splitlines()[0]
    assert header == " slice | Old | New one |"
    page = cli("report", *given, "--format", "html").out
    assert "gendermark report Old=one &#x27;New one=two&#x27; -o report.html" in page
    compared = cli("compare", *given, "--json").json
    assert (compared["first_name"], compared["second_name"]) == ("Old", "New one")
    many = cli("compare", *given, "--trend", "--json").json
    assert [run["called"] for run in many["runs"]] == ["Old", "New one"]
    assert " in Old, " in many["trend"][0]["sentence"]
    folders = RunFolders([small / "one", small / "two"], ["Old", ""])
    assert folders.now.explorer.systems == ["Old", "masculine (fake)"]


def test_a_folder_may_have_an_equals_sign_in_its_name(cli: Any, small: Path, tmp_path: Path) -> None:
    shutil.copytree(small / "one", tmp_path / "a=b")
    assert "right (fake, p=0.5)" in cli("report", tmp_path / "a=b").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("report", "one", "--name", "a", "--name", "b"), "--name was given 2 times, for fewer run folders (1)"),
        (("report", "x=one", "two", "--name", "a"), "give names either as NAME=DIR or with --name, not both"),
        (("compare", "one", "two", "--name", "a\nb"), "a name is one line of 1 to 80 characters"),
        (("report", "x=nowhere"), "nowhere: there is no such directory"),
        ((*RUN, "--system", "fake:right", "-o", "r", "--name", "a\nb"), "a name is one line of 1 to 80 characters"),
    ],
)
def test_names_that_do_not_fit(
    cli: Any, small: Path, words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small)
    outcome = cli(*words)
    assert outcome.exit_code == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_name_from_a_notebook(tmp_path: Path) -> None:
    selection = gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative",))
    (result,) = gendermark.run("fake:right", [selection], directory=tmp_path / "r", name="Mine")
    assert result.called == gendermark.load(tmp_path / "r")[0].called == "Mine"
    assert result.system == "fake:right"
