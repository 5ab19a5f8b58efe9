"""The leaderboard in a real browser: it opens from disk, sorts by keys, fits every width, and shuts nobody out."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark.reporting.leaderboard import build
from gendermark.reporting.submission import OutputFacts, SystemFacts, of_run, write

SYSTEMS = {
    "fake:right?p=0.9": SystemFacts("Mostly Right", date="2025", kind="fake"),
    "fake:right?p=0.7": SystemFacts("Mostly Right", date="2019", kind="fake"),
    "fake:masculine": SystemFacts("An Only Men System With a Name That Is Rather Long", "1.2.3-beta"),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("board")
    selections = [
        gendermark.Selection("winomt", "en", "es", data="core", parts=("anti",)),
        gendermark.Selection("mt-geneval-contextual", "en", "es", data="core"),
    ]
    for number, (spec, system) in enumerate(SYSTEMS.items()):
        gendermark.run(spec, selections[: 2 if number else 1], directory=base / str(number))
        for scored in of_run(base / str(number), system):
            write(base / "results", system, OutputFacts("https://example.org/owner/outputs", "MIT"), scored)
    build([base / "results"], base / "site")
    return base / "site" / "index.html"


def _column(page: Any, number: int) -> list[str]:
    found: list[str] = page.evaluate(
        "(n) => [...document.querySelector('main table').tBodies[0].rows].map((row) => row.cells[n].textContent)",
        number,
    )
    return found


def test_opens_from_disk_and_leads_to_the_report_and_back(open_page: Any, index: Path) -> None:
    watched = open_page(index)
    page = watched.page
    assert "in translation" in page.title().lower() or "get women wrong" in page.title()
    watched.assert_quiet()
    assert watched.requests == [index.resolve().as_uri()]
    page.locator("main table tbody th a").first.click()
    assert page.title().startswith("Mostly Right (2025): English → ")
    page.get_by_role("link", name="All systems").click()
    assert page.locator("main table").count() >= 2
    assert watched.errors == []


@pytest.mark.slow
def test_tables_are_sorted_by_keys_and_say_so(open_page: Any, index: Path) -> None:
    watched = open_page(index)
    page = watched.page
    first = page.locator("main table").first
    ranked = _column(page, 0)
    button = first.get_by_role("button", name=re.compile("^accuracy")).first
    button.focus()
    page.keyboard.press("Enter")
    head = button.locator("xpath=..")
    assert head.get_attribute("aria-sort") == "descending"  # the best first
    assert _column(page, 0) == ranked
    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "ascending"
    assert _column(page, 0) == ranked[::-1]
    assert first.locator("thead th:not([aria-sort=none])").count() == 1
    first.get_by_role("button", name="date").click()
    assert _column(page, 2) == ["2019", "2025", "unrecorded"]
    watched.assert_quiet()


@pytest.mark.parametrize("width", [320, 768, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.slow
def test_fits_and_shuts_nobody_out(
    open_page: Any, axe: Callable[[Any], list[str]], index: Path, width: int, scheme: str
) -> None:
    watched = open_page(index, width=width, scheme=scheme)
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
    assert axe(watched.page) == []
    watched.assert_quiet()
