"""Annotation in a real browser, from the first key to agreement."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from annotation.made import Served, written
from browser.conftest import expect
from gendermark.annotation.agreement import JudgedRun
from gendermark.annotation.sheets import GENDERS, inert, write_sheet

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = [
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "</script><svg onload=alert(3)>",
    "\u202eright to left\u2066 forced",
    "A\u2028B\x1b[31m",
    "x" * 30_000,
    '"><b onmouseover=alert(4)>bold</b>',
    "הרופאה של Google באה.",
]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    started: list[Served] = []

    def start(*arguments: str | Path) -> Served:
        started.append(Served(*arguments, "-o", tmp_path / "answers"))
        return started[-1]

    yield start
    for one in started:
        one.kill()


@pytest.fixture
def sheet(run_folder: Path, tmp_path: Path) -> Path:
    write_sheet(tmp_path / "sheet.csv", GENDERS.columns, JudgedRun.read(run_folder).draw(6, 1))
    return tmp_path / "sheet.csv"


def genders(path: Path) -> list[str]:
    rows = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
    return [row[4] or row[3] for row in rows[1:]]


def begin(page: Page, name: str) -> None:
    """By the keyboard alone, as everything here: the cursor is where the name goes."""
    expect(page.locator("#name")).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    expect(page.locator("#work")).to_be_visible()


def press(page: Page, key: str, place: str) -> None:
    """A key, and where it leads."""
    page.keyboard.press(key)
    expect(page.locator("#place")).to_have_text(place)


def test_from_the_first_key_to_agreement(
    open_page: Any, serve: Any, sheet: Path, run_folder: Path, tmp_path: Path
) -> None:
    served = serve(sheet, run_folder)
    watched = open_page(served.url)
    page = watched.page
    begin(page, "Ana")
    expect(page.locator("#place")).to_have_text("1 of 6")
    for text in ("masculine", "feminine", "neutral"):  # of the buttons; nothing is chosen, nothing is told
        expect(page.locator("button[aria-pressed=true]")).to_have_count(0)
        expect(page.locator(f"#choices button:has-text('{text}')")).to_have_count(1)
    press(page, "m", "2 of 6")
    press(page, "F", "3 of 6")
    press(page, "ArrowLeft", "2 of 6")
    expect(page.locator("button[data-key=f]")).to_have_attribute("aria-pressed", "true")
    press(page, "n", "3 of 6")
    page.keyboard.press("c")
    page.keyboard.type("mufn, unsure")  # letters are letters here
    page.keyboard.press("Enter")
    press(page, "u", "4 of 6")
    press(page, "z", "3 of 6")
    expect(page.locator("#count")).to_have_text("2 answered")
    expect(page.locator("#note")).to_have_value("mufn, unsure")
    press(page, "u", "4 of 6")
    press(page, "m", "5 of 6")
    press(page, "ArrowRight", "6 of 6")
    press(page, "m", "5 of 6")  # the one that was passed over
    page.keyboard.press("f")
    expect(page.locator("#done")).to_be_visible()
    expect(page.locator("#done-title")).to_have_text("All 6 answered")
    assert genders(tmp_path / "answers" / "ana.csv") == ["M", "N", "N", "M", "F", "M"]
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator("#finish")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#agreement")).to_contain_text("The judge and the annotators agree on")
    expect(page.locator("#agreement table")).to_have_count(3)
    watched.assert_quiet()
    again = open_page(served.url).page  # another browser: finished is finished
    again.get_by_role("button", name="Ana finished").click()
    expect(again.locator("#done-title")).to_have_text("Finished. Thank you.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.slow
def test_accessibility(open_page: Any, serve: Any, sheet: Path, run_folder: Path, axe: Any, scheme: str) -> None:
    page = open_page(serve(sheet, run_folder).url, scheme=scheme).page
    expect(page.locator("#name")).to_be_focused()
    assert axe(page) == []
    begin(page, "Ana")
    assert axe(page) == []
    for key, place in zip("mfnum", range(2, 7), strict=True):
        press(page, key, f"{place} of 6")
    press(page, "ArrowLeft", "5 of 6")
    assert axe(page) == []  # with an answer chosen
    press(page, "o", "6 of 6")
    page.keyboard.press("f")
    page.locator("#finish").click()
    expect(page.locator("#agreement table").first).to_be_visible()
    assert axe(page) == []


@pytest.mark.slow
def test_nothing_is_lost_when_the_server_is_killed_or_the_network_is_gone(
    open_page: Any, serve: Any, sheet: Path, tmp_path: Path
) -> None:
    served, answers = serve(sheet), tmp_path / "answers" / "ana-maría.csv"
    page = open_page(served.url).page
    begin(page, "Ana María")
    press(page, "m", "2 of 6")
    page.route("**/answer", lambda route: route.abort())
    page.keyboard.press("f")
    expect(page.locator("#alert")).to_contain_text("not saved yet")
    page.unroute("**/answer")
    expect(page.locator("#place")).to_have_text("3 of 6")
    expect(page.locator("#alert")).to_be_hidden()
    served.kill()
    page.keyboard.press("n")  # nobody takes it, and the page says so
    expect(page.locator("#alert")).to_contain_text("Your last answer is not saved yet")
    page.keyboard.press("m")  # nothing is answered on top of it
    expect(page.locator("button[data-key=n]")).to_have_attribute("aria-pressed", "true")
    assert genders(answers) == ["M", "F", "", "", "", ""]
    again = serve(sheet, "--port", str(urlsplit(served.url).port))
    assert again.url == served.url  # so that an open tab continues
    expect(page.locator("#place")).to_have_text("4 of 6")
    assert genders(answers) == ["M", "F", "N", "", "", ""]
    page.keyboard.press("m")
    page.close()  # at once
    other = open_page(again.url).page
    other.get_by_role("button", name="Ana María 4 of 6").click()
    expect(other.locator("#place")).to_have_text("5 of 6")


@pytest.mark.slow
def test_a_row_that_names_nobody_asks_about_the_person(open_page: Any, serve: Any, tmp_path: Path) -> None:
    watched = open_page(serve(written(tmp_path / "sheet.csv", "0,,Llegó cansada.,,,", "1,baker,El panadero.,,,")).url)
    page = watched.page
    begin(page, "Ana")
    expect(page.locator("#question")).to_contain_text("the person")
    press(page, "f", "2 of 2")
    expect(page.locator("#question")).to_contain_text("baker")
    watched.assert_quiet()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
@pytest.mark.slow
def test_hostile_texts_are_only_texts(open_page: Any, serve: Any, tmp_path: Path, width: int, scheme: str) -> None:
    rows = [(number, inert(text[:40]), inert(text), "", "", "", inert(text)) for number, text in enumerate(HOSTILE)]
    write_sheet(tmp_path / "sheet.csv", (*GENDERS.columns, "Source"), rows)
    watched = open_page(serve(tmp_path / "sheet.csv").url, width=width, height=740, scheme=scheme)
    page = watched.page
    begin(page, "<b onclick=alert(5)>Eva</b>\u202e")
    for number, text in enumerate(HOSTILE, start=1):
        expect(page.locator("#place")).to_have_text(f"{number} of {len(HOSTILE)}")
        shown = re.sub(r"U\+([0-9A-F]{4})", lambda found: chr(int(found[1], 16)), page.locator("#text").text_content())
        assert shown.startswith(text[:2_000])
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        page.keyboard.press("u")
    expect(page.locator("#done")).to_be_visible()
    page.get_by_role("button", name="Look at my answers").click()
    assert page.locator("#text script, #text img, #text b, #person-name b").count() == 0
    press(page, "ArrowRight", f"2 of {len(HOSTILE)}")
    press(page, "ArrowRight", f"3 of {len(HOSTILE)}")
    expect(page.locator("#text .sign").first).to_have_text("U+202E")
    for number in (4, 5):
        press(page, "ArrowRight", f"{number} of {len(HOSTILE)}")
    page.locator("#text button").click()
    assert len(page.locator("#text").text_content()) == 30_000
    for number in (6, 7):
        press(page, "ArrowRight", f"{number} of {len(HOSTILE)}")
    expect(page.locator("#text")).to_have_attribute("dir", "rtl")
    watched.assert_quiet()
