"""`gendermark ui`: run folders followed while they grow, and their rows a page at a time."""

from __future__ import annotations

import json
import re
import shutil
import sys
import threading
import webbrowser
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark.errors import BadFile, UserError
from gendermark.io import disk_list, locks
from gendermark.io.disk_list import DiskList
from gendermark.io.textfiles import write_json
from gendermark.reporting import ui
from gendermark.reporting.rows import Explorer, Filter
from gendermark.reporting.server import Server
from gendermark.reporting.ui import RunFolders
from gendermark.runs.folder import read_run

CELLS = ("tgbi.ko-en", "winomt.en-he")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run folders `one` and `two` of two benchmarks. Not to be written to."""
    base = tmp_path_factory.mktemp("ui")
    selections = [
        gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative",)),
        gendermark.Selection("winomt", "en", "he", data="core"),
    ]
    for name, spec in (("one", "fake:right?p=0.5"), ("two", "fake:masculine")):
        gendermark.run(spec, selections, directory=base / name)
    return base


@pytest.fixture
def folders(made: Path, tmp_path: Path) -> Path:
    """The same, to be changed at will."""
    return Path(shutil.copytree(made, tmp_path / "runs"))


def make_unfinished(directory: Path, *cells: str) -> None:
    """As a run leaves its folder when only these cells are written."""
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    write_json(directory / "manifest.json", {**manifest, "status": "running", "cells": {}})
    for cell in CELLS:
        if cell not in cells:
            shutil.rmtree(directory / cell)


def cells_of(followed: RunFolders) -> list[str]:
    return [cell.name for cell in followed.now.explorer.cells]


def status_of(followed: RunFolders) -> Any:
    return ui.ui_site(followed).reads["status"]({})


# -- rows --------------------------------------------------------------------------------------------------------------


def test_rows_are_the_same_in_memory_and_on_disk(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Explorer([read_run(made / "one"), read_run(made / "two")])
    monkeypatch.setattr(disk_list, "LIMIT", 100)
    followed = RunFolders([made / "one", made / "two"])
    explorer = followed.now.explorer
    assert all(isinstance(result.judgements, DiskList) for cell in explorer.cells for result in cell.results if result)
    assert (explorer.facets(), explorer.entities()) == (whole.facets(), whole.entities())
    for wanted in (
        Filter(),
        Filter(language="he", outcome="wrong"),
        Filter(expected="feminine", observed="masculine", system="1"),
        Filter(text="DEVELOPER"),
        Filter(text="רופא"),
        Filter(text="nowhere to be found"),
        Filter(text="the", outcome="right", system="0"),
    ):
        for first, n in ((0, 20), (0, 20), (17, 5), (100_000, 10), (0, 0)):  # the second time from what is kept
            assert explorer.page(wanted, first, n) == whole.page(wanted, first, n)
    found: list[Any] = []
    readers = [threading.Thread(target=lambda: found.append(explorer.page(Filter(), 0, 40))) for _ in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert found == [whole.page(Filter(), 0, 40)] * 8


def test_the_page_and_its_rows(folders: Path) -> None:
    make_unfinished(folders / "two", CELLS[0])
    followed = RunFolders([folders / "one", folders / "two"])
    site = ui.ui_site(followed)
    made = site.files[""]
    assert callable(made)
    page = unescape(made().content.decode())
    assert site.policy.removesuffix("; frame-ancestors 'none'") in page
    status = status_of(followed)
    states = [(run["state"], run["done"], run["wanted"]) for run in status["runs"]]
    assert states == [("finished", 2, 2), ("stopped", 1, 2)]
    assert all(one["sentences"] for found in status["findings"] for one in found["systems"])
    assert site.reads["state"]({})["live"] is True
    rows = site.reads["rows"]({"from": "0", "n": "100000", "benchmark": "winomt"})
    assert len(rows["rows"]) == ui.MOST_ROWS
    for bad in ({}, {"from": "-1", "n": "1"}, {"from": "x", "n": "1"}, {"from": "1" * 30, "n": "1"}):
        with pytest.raises(UserError, match="from"):
            site.reads["rows"](bad)


# -- runs that are going -----------------------------------------------------------------------------------------------


def test_a_cell_appears_when_it_is_written(folders: Path, made: Path) -> None:
    directory = folders / "one"
    make_unfinished(directory)
    followed = RunFolders([directory])
    assert followed.now.explorer.page(Filter(), 0, 5)["total"] == 0
    assert followed.now.is_live
    before = followed.now
    followed.refresh()
    assert followed.now is before, "looking again without news changes nothing"
    versions = [followed.now.version]
    for cell in CELLS:
        first = followed.now.explorer.cells[:1]
        shutil.copytree(made / "one" / cell, directory / cell)
        followed.refresh()
        versions.append(followed.now.version)
        assert cell in cells_of(followed)
        both = zip(first, followed.now.explorer.cells, strict=False)
        assert all(old.results[0] is new.results[0] for old, new in both), "only new cells are read"
        if cell == CELLS[0]:
            assert status_of(followed)["runs"][0]["state"] == "stopped"
            with locks.hold(directory / ".lock"):
                followed.refresh()
                running = status_of(followed)["runs"][0]
            assert (running["state"], running["done"], running["wanted"]) == ("running", 1, 2)
            assert "Hebrew" in running["now"]
    shutil.copy(made / "one" / "manifest.json", directory)
    followed.refresh()
    assert not followed.now.is_live
    assert versions == sorted(set(versions))
    assert followed.now.version == versions[-1], "the rows are the same, so nobody's page need be drawn again"


def test_half_a_cell_of_a_run_that_is_going_is_waited_for(folders: Path, made: Path) -> None:
    make_unfinished(folders / "one", CELLS[0])
    (folders / "one" / CELLS[1]).mkdir()
    shutil.copy(made / "one" / CELLS[1] / "result.json", folders / "one" / CELLS[1])
    followed = RunFolders([folders / "one"])
    assert cells_of(followed) == [CELLS[0]]
    assert "judgements.jsonl" in followed.now.problems[0]
    for name in ("judgements.jsonl", "translations.jsonl"):
        shutil.copy(made / "one" / CELLS[1] / name, folders / "one" / CELLS[1])
    followed.refresh()
    assert (cells_of(followed), followed.now.problems) == (list(CELLS), ())


def test_a_file_that_was_replaced_is_read_again(folders: Path) -> None:
    followed = RunFolders([folders / "one"])
    path = folders / "one" / CELLS[1] / "translations.jsonl"
    wanted = Filter(cell=CELLS[1])
    before = followed.now
    path.write_text(path.read_text(encoding="utf-8").replace("The ", "Some "), encoding="utf-8")
    assert followed.now.explorer.page(wanted, 0, 1)["rows"][0]["source"].startswith("The ")
    followed.refresh()
    assert followed.now.version > before.version
    assert followed.now.explorer.page(wanted, 0, 1)["rows"][0]["source"].startswith("Some ")


# -- folders that cannot be shown --------------------------------------------------------------------------------------


def _drop_lines(path: Path) -> None:
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-2]), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "damage", "token"),
    [
        ("judgements.jsonl", Path.unlink, "no such file"),
        ("judgements.jsonl", lambda path: path.write_bytes(path.read_bytes()[:-20]), "is not JSON"),
        ("judgements.jsonl", _drop_lines, "judgements"),
        ("judgements.jsonl", lambda path: path.write_text("[]\n"), "is not a JSON object"),
        ("judgements.jsonl", lambda path: path.write_text("{}\n"), "run it again"),
        ("translations.jsonl", _drop_lines, "lacks 2 of"),
        ("translations.jsonl", lambda path: path.write_text("{}\n"), "line 1"),
        ("result.json", lambda path: path.write_text("{}"), "run it again"),
    ],
)
def test_a_damaged_folder_is_refused(folders: Path, name: str, damage: Callable[[Path], Any], token: str) -> None:
    damage(folders / "one" / CELLS[1] / name)
    with pytest.raises(BadFile, match=token) as caught:
        RunFolders([folders / "one"])
    assert CELLS[1] in str(caught.value)


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody presses Ctrl-C as soon as the server is up."""

    def interrupt(self: Server) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "serve_forever", interrupt)


@pytest.mark.usefixtures("interrupted")
def test_the_command_prints_the_address_alone(cli: Any, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = cli("ui", made / "one", "--no-open")
    assert outcome.exit_code == 0
    assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/[\w-]{32}/\n", outcome.out)
    assert outcome.err.splitlines()[-1] == "stopped"
    assert "warning" not in outcome.err
    monkeypatch.setattr(Server, "is_open_to_others", True)
    assert "warning: other computers can reach this page" in cli("ui", made / "one", "--no-open").err


@pytest.mark.usefixtures("interrupted")
def test_a_browser_is_opened_where_there_is_a_screen(cli: Any, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    for screen in ("", ":0"):
        monkeypatch.setenv("DISPLAY", screen)
        outcome = cli("ui", made / "one")
    assert opened == [outcome.out.strip()]


def test_mistakes_on_the_command_line(cli: Any, tmp_path: Path, made: Path) -> None:
    for arguments, token in (
        ((tmp_path / "nowhere",), "no such directory"),
        ((tmp_path,), "is not a run folder"),
        ((made / "one", "--host", "192.0.2.1"), "cannot listen on 192.0.2.1"),
        ((made / "one", "--port", "70000"), "--port"),
    ):
        outcome = cli("ui", *arguments, "--no-open")
        assert (outcome.exit_code, outcome.out) == (2, "")
        assert outcome.err.splitlines()[-1].startswith("error: ")
        assert token in outcome.err.splitlines()[-1]
