"""The report page in a real browser: what it shows, what it does, and that no translation can do anything to it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark import Selection, registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.io.textfiles import write_text
from gendermark.metrics.metric import Resampling
from gendermark.records import Judgement, Verdict
from gendermark.reporting.page import render_page
from gendermark.reporting.rows import Explorer, Filter
from gendermark.runs.folder import Run, Text, read_run
from gendermark.runs.score import Origin, summarise
from made_runs import run_of

SYSTEMS = {"a": "fake:right?p=0.9", "b": "fake:masculine"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Path]:
    """Two systems on two benchmarks into Spanish and Hebrew."""
    base = tmp_path_factory.mktemp("runs")
    selections = [
        Selection("winomt", "en", "es", data="core", parts=("anti",)),
        Selection("winomt", "en", "he", data="core", parts=("anti",)),
        Selection("mt-geneval-contextual", "en", "es", data="core"),
    ]
    for name, system in SYSTEMS.items():
        gendermark.run(system, selections, directory=base / name)
    return [base / name for name in SYSTEMS]


@pytest.fixture(scope="module")
def runs(folders: Sequence[Path]) -> Sequence[Run]:
    return [read_run(folder) for folder in folders]


@pytest.fixture(scope="module")
def page_path(runs: Sequence[Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_text(path, render_page(runs))
    return path


@pytest.fixture(scope="module")
def alone_path(runs: Sequence[Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "alone.html"
    write_text(path, render_page(runs[:1]))
    return path


def _opened(open_page: Any, address: Path | str, **options: Any) -> Any:
    """A page whose script has done its first work."""
    watched = open_page(address, **options)
    watched.wait_for("() => performance.getEntriesByName('gendermark').length > 0")
    return watched


def _n_shown(page: Any) -> int:
    """How many sentences the explorer says it has."""
    return int(page.inner_text("#summary p").split()[0].replace(",", ""))


def _wait_for_n(watched: Any, n: int) -> None:
    watched.wait_for("(n) => document.querySelector('#summary p').textContent.startsWith(n + ' ')", f"{n:,}")


# -- opening -----------------------------------------------------------------------------------------------------------


def test_opens_from_disk_and_asks_nothing_of_anybody(open_page: Any, page_path: Path, runs: Sequence[Run]) -> None:
    watched = _opened(open_page, page_path)
    page = watched.page
    assert page.title() == "unbiased control (p=0.9) and always-masculine control: English → Spanish and Hebrew"
    told = page.inner_text("#finding")
    assert "One of two systems translates most women as men" in told
    assert "How many women and men keep their gender?" in told
    assert "always-masculine control vs." in told.replace("\n", " ")
    assert _n_shown(page) == sum(len(result.judgements) for result in runs[0].results)
    assert page.locator("#list .row").count() > 3
    watched.assert_quiet()
    assert watched.requests == [page_path.resolve().as_uri()]


@pytest.mark.slow
def test_one_system_has_no_letters_and_no_questions_about_systems(open_page: Any, alone_path: Path) -> None:
    watched = _opened(open_page, alone_path)
    assert watched.page.locator(".marker").count() == 0
    assert not watched.page.locator("[name=system]").is_visible()
    assert not watched.page.locator("[name=differ]").is_visible()
    watched.assert_quiet()


# -- from a number to its sentences ------------------------------------------------------------------------------------


def test_a_number_opens_its_sentences_and_back_returns(open_page: Any, page_path: Path) -> None:
    watched = _opened(open_page, page_path)
    page = watched.page
    page.locator("#winomt .direction > summary").first.click()
    page.locator("#winomt .direction details:has(.matrices) > summary").first.click()
    link = page.locator("#winomt .matrices a").nth(1)
    link.scroll_into_view_if_needed()
    n, before = int(link.inner_text().replace(",", "")), page.evaluate("scrollY")
    link.click()
    _wait_for_n(watched, n)
    assert page.locator("#sentences").bounding_box()["y"] < 200
    assert page.evaluate("document.activeElement.textContent") == "The sentences"
    page.go_back()
    watched.wait_for("(y) => Math.abs(scrollY - y) < 50", before)
    assert page.evaluate("location.hash") == ""
    page.go_forward()
    _wait_for_n(watched, n)
    watched.assert_quiet()


@pytest.mark.slow
def test_filters_and_sentences_have_addresses(open_page: Any, page_path: Path, runs: Sequence[Run]) -> None:
    page = _opened(
        open_page, f"{page_path.resolve().as_uri()}#sentences?cell=winomt.en-he&expected=feminine&system=1"
    ).page
    chosen = {"where": "cell=winomt.en-he", "expected": "feminine", "system": "1"}
    assert {name: page.input_value(f"[name={name}]") for name in chosen} == chosen
    assert 0 < _n_shown(page) < 400
    assert page.locator("#sentences").bounding_box()["y"] < 200
    result = runs[0].results[0]
    item = result.judgements[7].item_id
    address = Filter(cell=result.cell, sentence=item).link
    watched = _opened(open_page, f"{page_path.resolve().as_uri()}{address}")
    watched.page.wait_for_selector("#detail:not([hidden])")
    assert _n_shown(watched.page) == 1
    link = watched.page.locator("#detail dl a")
    assert (link.get_attribute("href"), link.inner_text()) == (address, item)
    watched.assert_quiet()


# -- filters -----------------------------------------------------------------------------------------------------------

FILTERS = (
    {},
    {"benchmark": "winomt"},
    {"language": "he"},
    {"cell": "winomt.en-es"},
    {"slice": "anti"},
    {"slice": "feminine"},
    {"slice": "all"},
    {"slice": "no such slice"},
    {"entity": "nurse"},
    {"expected": "feminine"},
    {"observed": "masculine"},
    {"observed": "masculine", "system": "0"},
    {"outcome": "wrong", "system": "1", "language": "es"},
    {"verdict": "judged"},
    {"verdict": "unjudgeable"},
    {"differ": "yes"},
    {"differ": "yes", "outcome": "right", "system": "0"},
    {"text": "THE NURSE"},
    {"text": "enfermer"},
    {"text": "אח", "slice": "subject"},
    {"system": "9"},
    {"outcome": "nonsense"},
    {"cell": "winomt.en-es", "sentence": "no such sentence"},
)


@pytest.mark.slow
def test_the_page_filters_as_the_server_does(open_page: Any, page_path: Path, runs: Sequence[Run]) -> None:
    page = _opened(open_page, page_path).page
    explorer, empty = Explorer(runs), {field.name: "" for field in fields(Filter)}
    for query in FILTERS:
        found = page.evaluate("(filter) => window.gendermark.source.page(filter, 0, 30)", {**empty, **query})
        assert found == explorer.page(Filter.of(query), 0, 30), query


@pytest.mark.slow
def test_controls_filter_and_the_address_says_so(open_page: Any, page_path: Path) -> None:
    watched = _opened(open_page, page_path)
    page = watched.page
    everything = _n_shown(page)
    page.select_option("[name=where]", "cell=winomt.en-es")
    page.select_option("[name=result]", "outcome=wrong")
    page.select_option("[name=system]", "1")
    watched.wait_for("() => location.hash === '#sentences?cell=winomt.en-es&outcome=wrong&system=1'")
    assert 0 < _n_shown(page) < everything
    page.fill("[name=text]", "nurse")
    watched.wait_for("() => location.hash.endsWith('&text=nurse')")
    watched.wait_for("() => document.querySelector('#list .row .source').textContent.includes('nurse')")
    page.fill("[name=text]", "no sentence has this")
    page.wait_for_selector("#list", state="hidden")
    assert "clear a filter" in page.inner_text("#summary")
    page.click("#filters button[type=reset]")
    _wait_for_n(watched, everything)
    page.check("[name=differ]")
    watched.wait_for("() => location.hash === '#sentences?differ=yes'")
    watched.assert_quiet()


# -- one sentence ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_keyboard(open_page: Any, page_path: Path) -> None:
    watched = _opened(open_page, page_path)
    page = watched.page
    chosen = "() => document.querySelector('.row[aria-selected=true]')?.id"
    page.keyboard.press("j")
    watched.wait_for(f"() => ({chosen})() === 'row-0'")
    assert page.evaluate("document.activeElement.id") == "list"
    for key, place in (("j", 1), ("ArrowDown", 2), ("k", 1), ("ArrowUp", 0), ("k", 0), ("PageDown", 4)):
        page.keyboard.press(key)
        expected = "> 1" if key == "PageDown" else f"=== {place}"
        watched.wait_for(f"() => Number(({chosen})().slice(4)) {expected}")
    page.keyboard.press("End")
    last = _n_shown(page) - 1
    watched.wait_for(f"() => ({chosen})() === 'row-{last}'")
    assert page.get_attribute("#list", "aria-activedescendant") == f"row-{last}"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "text"
    page.keyboard.type("jk/")
    assert page.input_value("[name=text]") == "jk/"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") in ("list", "")
    watched.assert_quiet()


@pytest.mark.slow
def test_a_chosen_sentence_is_shown_in_full(open_page: Any, page_path: Path, runs: Sequence[Run]) -> None:
    watched = _opened(open_page, f"{page_path.resolve().as_uri()}#sentences?cell=winomt.en-he&outcome=wrong&system=1")
    page = watched.page
    page.locator("#list .row").first.click()
    page.wait_for_selector("#detail:not([hidden])")
    explorer = Explorer(runs)
    (row,) = explorer.page(Filter(cell="winomt.en-he", outcome="wrong", system="1"), 0, 1)["rows"]
    assert page.inner_text("#detail > .source") == row["source"]
    second = page.locator("#detail .detailed").nth(1)
    assert second.locator(".translation").inner_text() == row["answers"][1]["text"]
    assert second.locator("mark").all_inner_texts() == row["answers"][1]["evidence"]
    assert "✗ masculine expected feminine" in second.inner_text()
    assert second.locator(".translation").get_attribute("lang") == "he"
    assert second.locator(".translation").get_attribute("dir") == "rtl"
    assert page.locator("#detail > .source").get_attribute("lang") == "en"
    page.keyboard.press("Escape")
    page.wait_for_selector("#detail", state="hidden")
    watched.assert_quiet()


@pytest.mark.slow
def test_what_is_filtered_can_be_downloaded_and_no_formula_is_in_it(open_page: Any, tmp_path: Path) -> None:
    run = run_of("fake:right", Selection("winomt", "en", "es", data="core", parts=("anti",)))
    (result,) = run.results
    hostile = ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", 'a "quoted", text', "two\nlines", "plain"]
    texts = [Text(f"The nurse {n}", (hostile[n % len(hostile)],)) for n, _ in enumerate(result.judgements)]
    write_text(tmp_path / "page.html", render_page([replace(run, texts={result.cell: texts})]))
    watched = _opened(open_page, tmp_path / "page.html")
    watched.page.fill("[name=text]", "nurse 1")
    watched.wait_for("() => location.hash.includes('text=nurse')")
    wanted = [n for n in range(len(texts)) if str(n).startswith("1")]
    _wait_for_n(watched, len(wanted))
    with watched.page.expect_download() as downloading:
        watched.page.click("#download")
    content = Path(downloading.value.path()).read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    assert [row["source"] for row in rows] == [texts[n].source for n in wanted]
    for row, n in zip(rows, wanted, strict=True):
        assert row["translation"].lstrip("'") == texts[n].translation
        assert row["translation"][0] not in "=+-@＝"
        assert row["translated as"] == (result.judgements[n].observed or "none")
    watched.assert_quiet()


LIT = """(place) => [...document.querySelectorAll(`${place} mark`)].map((mark) => {
  const before = document.createRange();
  before.selectNodeContents(mark.parentElement);
  before.setEndBefore(mark);
  return [[...before.toString()].length, mark.textContent];
})"""
"""Where the marks of a place begin, in letters, and what they hold."""


@pytest.mark.slow
def test_evidence_is_marked_where_it_stands(open_page: Any, tmp_path: Path) -> None:
    """The second "la" is the crane's."""
    run = run_of("fake:right", Selection("winomt", "en", "es", data="core", parts=("anti",)))
    (result,) = run.results
    text, spans = "Se lo dio a la contable que la grúa vio", ((12, 14), (15, 23))
    outside = "𝔖𝔢 😀 "  # of letters that are two units in a browser
    shifted = tuple((start + len(outside), end + len(outside)) for start, end in spans)
    judged = result.judgements[0]
    judgements = [
        replace(judged, item_id="a", evidence=("la", "contable"), spans=spans),
        replace(judged, item_id="b", evidence=("la", "contable"), spans=shifted),
    ]
    texts = [Text(f"The accountant {n}", (shown,)) for n, shown in enumerate((text, outside + text))]
    made = replace(run, results=[replace(result, judgements=judgements)], texts={result.cell: texts})
    write_text(tmp_path / "page.html", render_page([made]))
    watched = _opened(open_page, tmp_path / "page.html")
    expected = [
        [[12, "la"], [15, "contable"]],
        [[12 + len(outside), "la"], [15 + len(outside), "contable"]],
    ]
    for number, marks in enumerate(expected):
        assert watched.page.evaluate(LIT, f"#row-{number}") == marks
        watched.page.locator(f"#row-{number}").click()
        watched.wait_for(f"() => document.querySelector('#detail .source').textContent.endsWith('{number}')")
        assert watched.page.evaluate(LIT, "#detail") == marks
    watched.assert_quiet()


# -- how it looks ------------------------------------------------------------------------------------------------------

NO_OVERFLOW = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
@pytest.mark.slow
def test_fits_the_screen_and_is_accessible(
    open_page: Any, axe: Callable[[Any], list[str]], page_path: Path, width: int, scheme: str
) -> None:
    watched = _opened(open_page, page_path, width=width, scheme=scheme)
    page = watched.page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.keyboard.press("j")
    page.wait_for_selector("#detail:not([hidden])")
    assert page.evaluate(NO_OVERFLOW)
    assert axe(page) == []
    watched.assert_quiet()


# -- hostile translations ----------------------------------------------------------------------------------------------

_ATTACKS = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<!--<script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    "<img src=x onerror=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    '" onmouseover="alert(1)" x="',
    "<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
    "<a href=javascript:alert(1)>click</a>",
    "javascript:alert(1)",
    "<style>*{display:none}</style>",
    "</style><style>body{display:none}</style>",
    "<link rel=stylesheet href=https://example.org/x.css>",
    "<base href=https://example.org/>",
    "<meta http-equiv=refresh content='0;url=https://example.org/'>",
    "<form action=https://example.org/><input name=x></form>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<template><script>alert(1)</script></template>",
    "<textarea></textarea><script>alert(1)</script>",
    "<plaintext>",
    "<details open ontoggle=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
    "{{constructor.constructor('alert(1)')()}}",
    "${alert(1)}",
    "`;alert(1)//",
    '";alert(1)//',
    "__proto__",
    "constructor",
    "</p></div></main></body></html>",
    "\u2028alert(1)\u2029",
    "\u202eright to left override",
    "\u2066\u2067\u2068 unclosed isolates",
    "\u2069\u202c\u2069 closes what it did not open",
    "\u200f\u200e\u061c marks",
    "zero\u200bwidth\u2060joined\ufeff",
    "\x00NUL\x07BEL\x08\x0b\x0c\x1b[31mred\x1b[0m\x7f\x9b31m",
    "lone \ud800 high",
    "swapped \udc00\ud800",
    "nonchar \ufffe\uffff",
    "Z" + "\u0301\u0316\u0334" * 300,
    "\u0e49" * 2000,
    "x" * 1_000_000,
    "<b>" * 5_000,
    "word " * 20_000,
    "עברית <script>alert(1)</script> \u202e",
    "",
    "😀\u200d" * 500,
)


def hostile_texts(n: int = 200) -> list[str]:
    """So many texts that mean harm: each alone, then within a sentence, then two at once."""
    texts = list(_ATTACKS)
    texts += [f"La médica {attack[:400]} llegó." for attack in _ATTACKS]
    texts += [f"{one[:300]}{other[:300]}" for one, other in zip(_ATTACKS, _ATTACKS[7:] + _ATTACKS[:7], strict=True)]
    texts += [f"=cmd|' /C calc'!A{number}" for number in range(n)]
    return texts[:n]


def hostile_run(name: str) -> Run:
    """A run whose every text comes from an enemy: translations, sources, evidence, names, tags and messages."""
    texts = hostile_texts()
    benchmark: Benchmark = registry.load("benchmark", "winomt")
    whole = gendermark.items("winomt", "es", data="core")
    items = [
        replace(item, source=text if place % 3 == 0 else item.source, tags={**item.tags, "corpus": text[:500]})
        for place, (item, text) in enumerate(zip(whole.items, texts, strict=False))
    ]
    judgements = [
        Judgement.of(
            item,
            Verdict.JUDGED,
            item.expected,
            reason=text[:100] if place % 5 == 0 else "",
            evidence=(text[:200], "(?<x", "\\", "[", ""),
        )
        for place, (item, text) in enumerate(zip(items, texts, strict=True))
    ]
    item_set = replace(whole, items=tuple(items))
    result = summarise(benchmark, item_set, judgements, Origin(f"{_ATTACKS[1]}{name}", resampling=Resampling(10)))
    result = replace(result, warnings=tuple(_ATTACKS[:20]), signature=_ATTACKS[4])
    manifest = {
        "gendermark": _ATTACKS[0],
        "written": _ATTACKS[7] * 2,
        "versions": {_ATTACKS[6]: _ATTACKS[9]},
        "config": {"system": _ATTACKS[1], "selections": [], "system_options": {_ATTACKS[0]: _ATTACKS[1]}},
        "notes": [_ATTACKS[2], "\u202eright to left override"],
    }
    shown = [
        Text(item.source, (text or None,), text[:200] if place % 7 == 0 else None)
        for place, (item, text) in enumerate(zip(items, texts, strict=True))
    ]
    return Run(f"/tmp/{_ATTACKS[1]}/{name}", manifest, [result], texts={result.cell: shown})


@pytest.mark.slow
def test_200_hostile_texts_can_do_nothing(open_page: Any, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    write_text(path, render_page([hostile_run("one"), hostile_run("two")]))
    assert path.stat().st_size < 3_000_000
    watched = _opened(open_page, path)
    page = watched.page
    page.evaluate("() => { window.alert = window.confirm = window.prompt = () => { window.wasCalled = true; }; }")
    assert _n_shown(page) == 200
    n_scripts = page.locator("script").count()
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.focus("#list")
    for place in range(200):
        page.keyboard.press("j")
        watched.wait_for(f"() => document.querySelector('#detail .where')?.textContent.startsWith('{place + 1} of')")
        page.evaluate("() => document.querySelectorAll('#detail button:not(.close)').forEach((one) => one.click())")
    assert page.evaluate(NO_OVERFLOW)
    assert page.evaluate("document.querySelector('#list').scrollWidth <= document.querySelector('#list').clientWidth")
    assert page.evaluate(
        "document.querySelector('#detail').scrollWidth <= document.querySelector('#detail').clientWidth"
    )
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate(NO_OVERFLOW)
    assert page.locator("script").count() == n_scripts == 2
    assert page.locator("#list img, #list iframe, #list style, #detail img, #detail iframe, #detail style").count() == 0
    assert page.evaluate("window.wasCalled") is None
    assert page.evaluate("document.body.children.length") == 6, "header, nav, main, footer and two scripts"
    watched.assert_quiet()


@pytest.mark.slow
def test_what_cannot_be_seen_is_shown_and_long_texts_are_cut(open_page: Any, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    write_text(path, render_page([hostile_run("one")]))
    watched = _opened(open_page, path)
    page = watched.page
    for text, numbers in (
        ("right to left override", ["U+202E"]),
        ("unclosed isolates", ["U+2066", "U+2067", "U+2068"]),
        ("lone", ["U+D800"]),
        ("xxxxxxxxxx", []),
    ):
        page.fill("[name=text]", text)
        watched.wait_for("(text) => decodeURIComponent(location.hash).includes(text)", text)
        page.locator("#list .row").first.click()
        watched.wait_for("(text) => document.querySelector('#detail .translation').textContent.includes(text)", text)
        assert page.locator("#detail .translation .control").all_inner_texts()[: len(numbers)] == numbers
    assert len(page.inner_text("#detail .translation")) < 4_000
    assert "1,000,000 characters" in page.inner_text("#detail")
    page.locator("#detail .detailed button").first.click()
    watched.wait_for("() => document.querySelector('#detail .translation').textContent.length === 20000")
