"""Run folders read a page at a time, and followed while they grow."""

from __future__ import annotations

import json
import re
import shutil
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark.cli.app import _exit_code
from gendermark.errors import BadFile, UserError
from gendermark.io import locks
from gendermark.io.disk_list import DiskList
from gendermark.report import ui
from gendermark.report.paging import FINISHED, RUNNING, STOPPED, Changed, RunFolders, look_at
from gendermark.report.rows import Explorer, Filter
from gendermark.report.server import Server
from gendermark.runs import folder
from gendermark.runs.folder import read_run

CELLS = ("tgbi.ko-en", "winomt.en-he")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run folders `one` and `two` of two benchmarks. Not to be written to."""
    base = tmp_path_factory.mktemp("paging")
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
    folder.write_json(directory / "manifest.json", {**manifest, "status": "running", "cells": {}})
    for cell in CELLS:
        if cell not in cells:
            shutil.rmtree(directory / cell)


# -- the same rows -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def paged(made: Path) -> RunFolders:
    return RunFolders([made / "one", made / "two"])


@pytest.fixture(scope="module")
def whole(made: Path) -> Explorer:
    return Explorer([read_run(made / "one"), read_run(made / "two")])


@pytest.mark.parametrize(
    "wanted",
    [
        Filter(),
        Filter(cell=CELLS[1]),
        Filter(benchmark="tgbi"),
        Filter(language="he", outcome="wrong"),
        Filter(slice="feminine"),
        Filter(slice="nothing"),
        Filter(entity="developer"),
        Filter(expected="feminine", observed="masculine", system="1"),
        Filter(verdict="unjudgeable"),
        Filter(differ="yes"),
        Filter(text="DEVELOPER"),
        Filter(text="רופא"),
        Filter(text='"'),
        Filter(text="\\"),
        Filter(text="item_id"),
        Filter(text="nowhere to be found"),
        Filter(text="the", outcome="right", system="0"),
    ],
    ids=lambda wanted: wanted.link,
)
def test_pages_are_those_of_the_explorer_in_memory(paged: RunFolders, whole: Explorer, wanted: Filter) -> None:
    for first, n in ((0, 20), (0, 20), (17, 5), (100_000, 10), (0, 0)):  # the second time from what is kept
        assert paged.now.explorer.page(wanted, first, n) == whole.page(wanted, first, n)


def test_what_the_controls_offer_is_the_same(paged: RunFolders, whole: Explorer) -> None:
    assert paged.now.explorer.facets() == whole.facets()
    assert paged.now.explorer.entities() == whole.entities()


def test_texts_with_escapes_are_found(folders: Path) -> None:
    """Another program may have written the same JSON with other escapes."""
    path = folders / "one" / CELLS[1] / "translations.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[3]["translation"] = 'Ärztin "A"\nB\\C'
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    explorer = RunFolders([folders / "one"]).now.explorer
    for text in ("ärztin", '"a"', "\nb", "b\\c"):
        assert [row["id"] for row in explorer.page(Filter(text=text), 0, 9)["rows"]] == [rows[3]["item_id"]]


def test_judgements_and_texts_are_not_kept_in_memory(paged: RunFolders) -> None:
    for cell in paged.now.explorer.cells:
        assert [len(result.judgements) for result in cell.results if result] == [0, 0]
        assert all(isinstance(rows, DiskList) for rows in (*cell._judged, *cell._written))


def test_samples_are_read_as_well(tmp_path: Path) -> None:
    selection = gendermark.Selection("uncertainty", "en", "es", data="core", n_samples=2, parts=("referenced",))
    gendermark.run("fake:coin", [selection], directory=tmp_path / "run")
    wanted = Filter(outcome="")
    expected = Explorer([read_run(tmp_path / "run")]).page(wanted, 3, 4)
    assert RunFolders([tmp_path / "run"]).now.explorer.page(wanted, 3, 4) == expected
    assert expected["rows"]


def test_many_readers_at_once(paged: RunFolders, whole: Explorer) -> None:
    expected = whole.page(Filter(), 0, 40)
    found: list[Any] = []
    readers = [
        threading.Thread(target=lambda: found.append(paged.now.explorer.page(Filter(), 0, 40))) for _ in range(8)
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert found == [expected] * 8


# -- runs that are going -----------------------------------------------------------------------------------------------


def test_how_far_a_run_is(folders: Path) -> None:
    directory = folders / "one"
    assert (look_at(directory).state, look_at(directory).done) == (FINISHED, CELLS)
    make_unfinished(directory, CELLS[0])
    assert look_at(directory).state == STOPPED
    with locks.hold(directory / ".lock"):
        now = look_at(directory)
    assert (now.state, now.done, now.wanted, now.now) == (RUNNING, CELLS[:1], CELLS, CELLS[1])


def test_a_cell_appears_when_it_is_written(folders: Path, made: Path) -> None:
    make_unfinished(folders / "one")
    followed = RunFolders([folders / "one"])
    assert followed.now.explorer.page(Filter(), 0, 5)["total"] == 0
    assert followed.now.is_live
    versions = [followed.now.version]
    for cell in CELLS:
        shutil.copytree(made / "one" / cell, folders / "one" / cell)
        followed.refresh()
        versions.append(followed.now.version)
        assert cell in {one["name"] for one in followed.now.explorer.facets()["cells"]}
    shutil.copy(made / "one" / "manifest.json", folders / "one")
    followed.refresh()
    assert not followed.now.is_live
    assert versions == sorted(set(versions))
    assert followed.now.version == versions[-1], "the rows are the same, so nobody's page need be drawn again"


def test_looking_again_without_news_changes_nothing(folders: Path) -> None:
    followed = RunFolders([folders / "one", folders / "two"])
    before = followed.now
    followed.refresh()
    assert followed.now is before


def test_only_new_cells_are_indexed(folders: Path, made: Path) -> None:
    make_unfinished(folders / "one", CELLS[0])
    followed = RunFolders([folders / "one"])
    (first,) = followed.now.explorer.cells
    shutil.copytree(made / "one" / CELLS[1], folders / "one" / CELLS[1])
    followed.refresh()
    assert followed.now.explorer.cells[0] is first
    assert len(followed.now.explorer.cells) == 2


def test_half_a_cell_of_a_run_that_is_going_is_waited_for(folders: Path, made: Path) -> None:
    make_unfinished(folders / "one", CELLS[0])
    (folders / "one" / CELLS[1]).mkdir()
    shutil.copy(made / "one" / CELLS[1] / "result.json", folders / "one" / CELLS[1])
    followed = RunFolders([folders / "one"])
    assert [cell.name for cell in followed.now.explorer.cells] == [CELLS[0]]
    assert "judgements.jsonl" in followed.now.problems[0]
    for name in ("judgements.jsonl", "translations.jsonl"):
        shutil.copy(made / "one" / CELLS[1] / name, folders / "one" / CELLS[1])
    followed.refresh()
    assert [cell.name for cell in followed.now.explorer.cells] == list(CELLS)
    assert followed.now.problems == ()


def test_a_file_that_was_replaced_is_not_read_at_the_old_places(folders: Path) -> None:
    followed = RunFolders([folders / "one"])
    path = folders / "one" / CELLS[1] / "translations.jsonl"
    rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(reversed(rows)) + "\n", encoding="utf-8")
    with pytest.raises(Changed, match="load the page again"):
        followed.now.explorer.page(Filter(cell=CELLS[1]), 0, 5)
    before = followed.now.version
    followed.refresh()
    assert followed.now.version > before
    assert len(followed.now.explorer.page(Filter(cell=CELLS[1]), 0, 5)["rows"]) == 5


# -- folders that cannot be shown --------------------------------------------------------------------------------------


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def _drop_lines(path: Path) -> None:
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-2]), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "damage", "words"),
    [
        ("judgements.jsonl", Path.unlink, "there is no such file"),
        ("judgements.jsonl", _cut, "is not JSON"),
        ("judgements.jsonl", _drop_lines, "judgements"),
        ("judgements.jsonl", lambda path: path.write_text("[]\n"), "is not a JSON object"),
        ("judgements.jsonl", lambda path: path.write_text("{}\n"), "run it again"),
        ("translations.jsonl", _drop_lines, "lacks 2 of"),
        ("translations.jsonl", lambda path: path.write_text("{}\n"), "is not a file that `gendermark run` wrote"),
        ("result.json", lambda path: path.write_text("{}"), "does not hold a result that this version can read"),
    ],
)
def test_a_damaged_folder_is_refused(folders: Path, name: str, damage: Callable[[Path], Any], words: str) -> None:
    damage(folders / "one" / CELLS[1] / name)
    with pytest.raises(BadFile, match=words) as caught:
        RunFolders([folders / "one"])
    assert name in str(caught.value)


def test_what_is_no_run_folder(tmp_path: Path, folders: Path) -> None:
    with pytest.raises(BadFile, match="no such directory"):
        RunFolders([tmp_path / "nowhere"])
    folder.write_json(folders / "one" / "manifest.json", {"config": {}, "cells": {}, "status": "running"})
    with pytest.raises(BadFile, match="is not a manifest that this version can read"):
        RunFolders([folders / "one"])


# -- what the page asks for --------------------------------------------------------------------------------------------


def test_the_page_and_its_rows(folders: Path) -> None:
    make_unfinished(folders / "two", CELLS[0])
    followed = RunFolders([folders / "one", folders / "two"])
    follower = ui.Follower(followed)
    site = ui.ui_site(followed, follower)
    made = site.files[""]
    assert callable(made)
    page = made().content.decode()
    assert "{{" not in page
    assert site.policy.removesuffix("; frame-ancestors 'none'") in page
    status = site.reads["status"]({})
    assert [(run["state"], run["done"], run["wanted"]) for run in status["runs"]] == [
        (FINISHED, 2, 2),
        (STOPPED, 1, 2),
    ]
    assert all(told["sentences"] for found in status["findings"] for told in found["told"])
    assert site.reads["state"]({})["live"] is True
    rows = site.reads["rows"]({"from": "0", "n": "100000", "benchmark": "winomt"})
    assert len(rows["rows"]) == ui.MOST_ROWS
    for bad in ({}, {"from": "-1", "n": "1"}, {"from": "x", "n": "1"}, {"from": "1" * 30, "n": "1"}):
        with pytest.raises(UserError, match="is a whole number"):
            site.reads["rows"](bad)


def test_following_goes_on_after_a_folder_was_taken_away(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ui, "SECONDS_BETWEEN_LOOKS", 0.01)
    make_unfinished(folders / "one", CELLS[0])
    followed = RunFolders([folders / "one"])
    follower = ui.Follower(followed)
    follower.start()
    try:
        (folders / "one").rename(folders / "away")
        _wait_for(lambda: "no such directory" in follower.problem)
        (folders / "away").rename(folders / "one")
        _wait_for(lambda: follower.problem == "")
    finally:
        follower.end()
    assert not follower.is_alive()


def _wait_for(condition: Callable[[], bool]) -> None:
    patience = threading.Event()
    for _ in range(1_000):
        if condition():
            return
        patience.wait(0.01)
    pytest.fail("it did not happen")


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody presses Ctrl-C as soon as the server is up."""

    def interrupt(self: Server) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "serve_forever", interrupt)


@pytest.mark.usefixtures("interrupted")
def test_the_command_prints_the_address_alone(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _exit_code(["ui", str(made / "one"), "--no-open"]) == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/[\w-]{32}/\n", out)
    assert err.splitlines() == [
        f"reading {made / 'one'}",
        "open this address in a browser; Ctrl-C ends it",
        "ended",
    ]


@pytest.mark.usefixtures("interrupted")
def test_it_warns_when_others_can_reach_it(
    made: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Server, "is_open_to_others", True)
    assert _exit_code(["ui", str(made / "one"), "--no-open"]) == 0
    assert "warning: other computers can reach this page" in capsys.readouterr().err


@pytest.mark.usefixtures("interrupted")
def test_the_browser_is_started_without_the_token(
    made: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every user of a computer can see with which arguments a program was started."""
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    for screen in ("", ":0"):
        monkeypatch.setenv("DISPLAY", screen)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        monkeypatch.setattr(sys, "platform", "linux")
        assert _exit_code(["ui", str(made / "one")]) == 0
    token = capsys.readouterr().out.split("/")[3]
    assert len(opened) == 1
    assert "/open/" in opened[0]
    assert token not in opened[0]


def test_mistakes_on_the_command_line(tmp_path: Path, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, words in (
        ([tmp_path / "nowhere"], "there is no such directory"),
        ([tmp_path], "is not a run folder"),
        ([made / "one", "--host", "192.0.2.1"], "cannot listen on 192.0.2.1"),
        ([made / "one", "--port", "70000"], "--port"),
    ):
        assert _exit_code(["ui", *map(str, arguments), "--no-open"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert words in err.splitlines()[-1]
        assert err.splitlines()[-1].startswith("error: ")
