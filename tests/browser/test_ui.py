"""`gendermark ui` in a real browser: rows over HTTP, and a run that is going."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gendermark
from browser.conftest import expect
from gendermark.io.textfiles import write_json

CELLS = ("tgbi.ko-en", "winomt.en-he")


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str | Path) -> str:
        code = "import sys; from gendermark.cli.app import main; main(sys.argv[1:])"
        process = subprocess.Popen(
            [sys.executable, "-c", code, "ui", *map(str, arguments), "--no-open"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        return process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run folders `right` and `masculine`. Not to be written to."""
    base = tmp_path_factory.mktemp("ui")
    selections = [
        gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative",)),
        gendermark.Selection("winomt", "en", "he", data="core"),
    ]
    for name in ("right", "masculine"):
        gendermark.run(f"fake:{name}", selections, directory=base / name)
    return base


def test_rows_are_filtered_by_the_server(open_page: Any, serve: Any, runs: Path) -> None:
    watched = open_page(serve(runs / "right", runs / "masculine"))
    page = watched.page
    expect(page.locator("#run-list li")).to_have_count(2)
    expect(page.locator("#run-list li").first).to_contain_text("unbiased control – finished")
    expect(page.locator("#findings")).to_contain_text("WinoMT, English → Hebrew")
    summary = page.locator("#summary p").first
    expect(summary).to_have_text(re.compile(r"^[\d,]+ "))  # the rows have arrived
    everything = summary.text_content()
    page.select_option("[name=result]", "outcome=wrong")
    expect(summary).not_to_have_text(everything)
    expect(summary).to_contain_text(" of ")
    page.fill("[name=text]", "no such text anywhere")
    expect(summary).to_have_text(re.compile("^0 of "))
    page.click("#filters button[type=reset]")
    expect(summary).to_have_text(everything)
    expect(page.locator(".row").first).to_contain_text(" ")  # and so have those after the filter
    chosen = page.locator(".row[aria-selected=true]")
    for key, shown in (("j", page.locator("#detail")), ("End", chosen)):  # rows that nobody has asked for yet
        page.locator("#list").focus()
        page.keyboard.press(key)
        expect(shown).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    watched.assert_quiet()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
@pytest.mark.slow
def test_a_finding_leads_to_its_sentences_for_everybody(
    open_page: Any, serve: Any, runs: Path, axe: Any, width: int, scheme: str
) -> None:
    watched = open_page(serve(runs / "right", runs / "masculine"), width=width, height=740, scheme=scheme)
    page = watched.page
    page.get_by_role("link", name="WinoMT, English → Hebrew").click()
    expect(page.locator(".row .translation").first).to_have_attribute("dir", "rtl")
    page.locator(".row").first.click()
    expect(page.locator("#detail")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert axe(page) == []
    watched.assert_quiet()


@pytest.mark.slow
def test_a_run_that_is_going(open_page: Any, serve: Any, runs: Path, tmp_path: Path) -> None:
    directory = Path(shutil.copytree(runs / "right", tmp_path / "run"))
    finished = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    write_json(directory / "manifest.json", {**finished, "status": "running", "cells": {}})
    (directory / CELLS[1]).rename(tmp_path / "later")
    watched = open_page(serve(directory))
    page = watched.page
    expect(page.locator("#run-list")).to_contain_text("stopped in the middle, 1 of 2 parts written")
    expect(page.locator("#findings h3")).to_have_count(1)
    before = page.locator("#summary p").first.text_content()
    (tmp_path / "later").rename(directory / CELLS[1])
    expect(page.locator("#run-list")).to_contain_text("2 of 2 parts written")
    expect(page.locator("#findings h3")).to_have_count(2)
    expect(page.locator("#summary p").first).not_to_have_text(before)
    write_json(directory / "manifest.json", finished)
    expect(page.locator("#run-list")).to_contain_text("finished")
    watched.assert_quiet()
