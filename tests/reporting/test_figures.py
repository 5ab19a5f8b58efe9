"""Figures: valid and safe SVG that shows the right numbers, whatever a system is called and however little there is."""

from __future__ import annotations

import re
import struct
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gendermark
from gendermark.errors import MissingExtra, UnknownName, UserError
from gendermark.records import Estimate, Gender, Judgement, Verdict
from gendermark.reporting import numbers
from gendermark.reporting.charts import (
    COLOURS,
    MOST_LOOKS,
    SHAPES,
    SIZE,
    SMALL,
    WIDTH,
    Scale,
    clipped,
    look_of,
    percent,
    scale_around,
    text_width,
)
from gendermark.reporting.figures import Figure, figures, run_labels, write_figures
from gendermark.reporting.numbers import letter_of
from gendermark.result import Result
from gendermark.selection import Selection

SVG = "{http://www.w3.org/2000/svg}"
BLUE, VERMILION = "#0072B2", "#D55E00"
BENCHMARKS = (
    "mt-geneval-contextual",
    "mt-geneval-counterfactual",
    "simplegen",
    "tgbi",
    "uncertainty",
    "winomt",
)
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "]]><x>",
    "</svg><svg onload=alert(1)>",
    "<!-- ",
    "&amp;&lt;&#x3c;",
    "a\x00b\x07c\x1bd",
    "\ud800 lone",
    "\u202eright to left\u202c",
    "\ufffe\uffff",
    "\u2028\u2029",
    "שלום عربى 의사",
    "x" * 100_000,
    "",
    "   ",
    "../../etc/passwd",
    "%n%s{}{0}",
    "'; drop table--",
)


@cache
def _run(system: str, benchmark: str, to: str = "es") -> tuple[Result, ...]:
    if benchmark == "tgbi":
        return tuple(gendermark.run(system, [benchmark], "en", data="core", source_language="ko"))
    options = {"n_samples": 3} if benchmark == "uncertainty" else {}
    return tuple(gendermark.run(system, [benchmark], to, data="core", **options))


@cache
def _stereotyped() -> tuple[Result, ...]:
    return tuple(result for benchmark in BENCHMARKS for result in _run("fake:stereotyped?s=0.6", benchmark))


@cache
def _several() -> tuple[Figure, ...]:
    """Every benchmark, three systems, two languages of WinoMT."""
    runs = {"runs/1": [*_stereotyped(), *_run("fake:stereotyped?s=0.6", "winomt", "de")]}
    for system in ("fake:right?p=0.9", "fake:masculine"):
        runs[f"runs/{system}"] = [
            result for name in BENCHMARKS if name != "uncertainty" for result in _run(system, name)
        ]
    return tuple(figures(runs))


def _figure(found: Sequence[Figure], name: str) -> Figure:
    assert name in [figure.name for figure in found]
    return next(figure for figure in found if figure.name == name)


def _texts(figure: Figure) -> list[str]:
    """What can be read in the picture, tooltips apart."""
    shown = []
    for element in ET.fromstring(figure.svg).iter(f"{SVG}text"):
        title = element.find(f"{SVG}title")
        shown.append((title.tail if title is not None else element.text) or "")
    return shown


Box = tuple[float, float, float, float]


def _text_boxes(root: ET.Element) -> list[tuple[str, Box]]:
    boxes = []
    for element in root.iter(f"{SVG}text"):
        title = element.find(f"{SVG}title")
        shown = (title.tail if title is not None else element.text) or ""
        x, y = float(element.attrib["x"]), float(element.attrib["y"])
        size = float(element.attrib.get("font-size", SIZE))
        # The measure of the drawing errs on the wide side by some 8 %.
        width = text_width(shown, size) * 0.92
        x -= {"start": 0.0, "middle": width / 2, "end": width}[element.attrib.get("text-anchor", "start")]
        boxes.append((shown, (x, y - 0.72 * size, x + width, y + 0.2 * size)))
    return boxes


def _extent(element: ET.Element) -> list[tuple[float, float]]:
    """Corners of what an element covers."""
    a = {key: float(value) for key, value in element.attrib.items() if re.fullmatch(r"-?[0-9.]+", value)}
    match element.tag.removeprefix(SVG):
        case "rect":
            return [(a["x"], a["y"]), (a["x"] + a["width"], a["y"] + a["height"])]
        case "circle":
            return [(a["cx"] - a["r"], a["cy"] - a["r"]), (a["cx"] + a["r"], a["cy"] + a["r"])]
        case "line":
            return [(a["x1"], a["y1"]), (a["x2"], a["y2"])]
        case "path":
            numbers = [float(number) for number in re.findall(r"-?[0-9.]+", element.attrib["d"])]
            return list(zip(numbers[::2], numbers[1::2], strict=True))
    return []


def _check(figure: Figure) -> None:
    """What holds of every figure."""
    root = ET.fromstring(figure.svg)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert (left, top, width) == (0, 0, WIDTH)
    assert root.attrib["width"] == "3.3in"
    assert float(root.attrib["height"].removesuffix("in")) * 72 == pytest.approx(height, abs=0.1)
    title, desc = root[0], root[1]
    assert (title.tag, desc.tag) == (f"{SVG}title", f"{SVG}desc")
    assert title.text
    assert desc.text
    assert root.attrib["aria-labelledby"] == title.attrib["id"]
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,150}", figure.name)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "defs", "pattern", "rect", "line", "path", "circle", "text"}
    for element in root.iter():
        assert not {"style", "href", "class"} & set(element.attrib)
        assert not [key for key in element.attrib if key.startswith("on")]
        assert not [value for value in element.attrib.values() if re.search(r"nan|inf|none\.|http", value.lower())]
        if "id" in element.attrib:
            assert element.attrib["id"].startswith(f"{figure.name}-")
    patterns = {element for pattern in root.iter(f"{SVG}pattern") for element in pattern.iter()}
    for element in root.iter():
        if element not in patterns:
            for x, y in _extent(element):
                assert -0.6 <= x <= width + 0.6, (figure.name, ET.tostring(element))
                assert -0.6 <= y <= height + 0.6, (figure.name, ET.tostring(element))
    boxes = _text_boxes(root)
    for shown, (x0, y0, x1, y1) in boxes:
        assert x0 >= -1, (figure.name, shown)
        assert y0 >= -1, (figure.name, shown)
        assert x1 <= width + 1.5, (figure.name, shown)
        assert y1 <= height, (figure.name, shown)
    for number, (one, a) in enumerate(boxes):
        for other, b in boxes[number + 1 :]:
            overlap = a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
            assert not overlap, (figure.name, one, other)
    for element in root.iter(f"{SVG}text"):
        assert float(element.attrib.get("font-size", SIZE)) >= SMALL


# -- what there is -----------------------------------------------------------------------------------------------------


def test_the_figures_of_one_run() -> None:
    found = figures({"run": _stereotyped()})
    assert [(figure.name, figure.cell) for figure in found] == [
        ("mt-geneval-contextual.genders", "mt-geneval-contextual"),
        ("mt-geneval-contextual.en-es.confusion", "mt-geneval-contextual.en-es"),
        ("mt-geneval-contextual.en-es.published", "mt-geneval-contextual.en-es"),
        ("mt-geneval-counterfactual.genders", "mt-geneval-counterfactual"),
        ("mt-geneval-counterfactual.en-es.confusion", "mt-geneval-counterfactual.en-es"),
        ("mt-geneval-counterfactual.en-es.published", "mt-geneval-counterfactual.en-es"),
        ("simplegen.en-es.groups", "simplegen.en-es"),
        ("simplegen.en-es.professions", "simplegen.en-es"),
        ("simplegen.en-es.confusion", "simplegen.en-es"),
        ("simplegen.en-es.published", "simplegen.en-es"),
        ("tgbi.ko-en.sets", "tgbi.ko-en"),
        ("tgbi.ko-en.lexemes", "tgbi.ko-en"),
        ("tgbi.ko-en.published", "tgbi.ko-en"),
        ("uncertainty.entropy", "uncertainty"),
        ("uncertainty.en-es.occupations", "uncertainty.en-es"),
        ("uncertainty.en-es.published", "uncertainty.en-es"),
        ("winomt.stereotypes", "winomt"),
        ("winomt.en-es.professions", "winomt.en-es"),
        ("winomt.en-es.confusion", "winomt.en-es"),
        ("winomt.en-es.published", "winomt.en-es"),
    ]
    for figure in found:
        _check(figure)
        assert "stereotyped (fake, s=0.6" in figure.caption or figure.name.endswith("published")
        assert "core data, rules best" in figure.caption


def test_the_figures_of_several_runs() -> None:
    found = _several()
    names = [figure.name for figure in found]
    assert len(set(names)) == len(names)
    assert "winomt.en-es.professions.right-fake-p-0.9" in names
    assert "winomt.en-de.professions.stereotyped-fake-s-0.6" in names
    assert "mt-geneval-counterfactual.en-es.gaps.masculine-fake" in names
    assert names[-1] == "comparison"
    for figure in found:
        _check(figure)


def test_names_inside_pictures_are_of_their_own() -> None:
    ids = [name for figure in _several() for name in re.findall(r' id="([^"]*)"', figure.svg)]
    assert len(set(ids)) == len(ids)
    for figure in _several():
        own = set(re.findall(r' id="([^"]*)"', figure.svg))
        assert set(re.findall(r"url\(#([^)]*)\)", figure.svg)) <= own


def test_other_rules_have_figures_of_their_own() -> None:
    (result,) = _run("fake:right", "simplegen")
    paper = gendermark.run("fake:right", ["simplegen"], "es", data="core", rules="paper")
    names = [figure.name for figure in figures({"a": [result], "b": paper}, {})]
    assert "simplegen.en-es.rules-best.groups" in names
    assert "simplegen.en-es.rules-paper.groups" in names


# -- what they show ----------------------------------------------------------------------------------------------------


def _rects(figure: Figure, fill: str) -> list[dict[str, float]]:
    """Without those of legends, which are squares of 7 points."""
    return [
        {key: float(element.attrib[key]) for key in ("x", "y", "width", "height")}
        for element in ET.fromstring(figure.svg).iter(f"{SVG}rect")
        if element.attrib.get("fill") == fill and "x" in element.attrib and element.attrib["width"] != "7"
    ]


def _marks(figure: Figure, tag: str, colour: str, *, filled: bool = True) -> int:
    key = "fill" if filled else "stroke"
    found = ET.fromstring(figure.svg).iter(f"{SVG}{tag}")
    return sum(element.attrib.get(key) == colour for element in found)


def test_bars_are_as_high_as_the_accuracies() -> None:
    results = _run("fake:stereotyped?s=0.6", "winomt")
    figure = _figure(figures({"run": results}), "winomt.stereotypes")
    (pro,) = _rects(figure, BLUE)
    (anti,) = _rects(figure, "url(#winomt.stereotypes-hatch-E69F00)")
    values = [results[0].estimate("accuracy", part).value or 0.0 for part in ("pro", "anti")]
    assert values[0] == 100
    assert anti["height"] / pro["height"] == pytest.approx(values[1] / 100, abs=0.001)
    assert "ES" in _texts(figure)


def test_no_published_accuracy_of_all_sentences_crosses_the_bars_of_some() -> None:
    figure = _figure(figures({"run": _run("fake:right", "winomt")}), "winomt.stereotypes")
    assert "stroke-dasharray" not in figure.svg
    assert "ublished" not in figure.svg + figure.caption


def test_no_published_mark_where_nothing_is_printed() -> None:
    (result,) = _run("fake:right", "winomt")
    polish = replace(result, selection=replace(result.selection, target_language="pl"))
    found = figures({"run": [polish]})
    assert "winomt.en-pl.published" not in [figure.name for figure in found]
    assert "published" not in _figure(found, "winomt.stereotypes").svg


def test_the_published_figure_has_all_systems_of_the_paper() -> None:
    figure = _figure(figures({"run": _run("fake:right", "winomt")}), "winomt.en-es.published")
    assert {"Google Translate", "Microsoft Translator", "Amazon Translate", "SYSTRAN"} <= set(_texts(figure))
    assert "as printed by Stanovsky et al., 2019 (Table 2)" in figure.caption
    german = _run("fake:right", "winomt", "de")
    assert (
        "Microsoft Translator, ΔS: the released translations give 9.0."
        in _figure(figures({"run": german}), "winomt.en-de.published").caption
    )


def _judged(occupation: str, expected: Gender, observed: Gender | None, number: int) -> Judgement:
    verdict = Verdict.JUDGED if observed else Verdict.UNJUDGEABLE
    tags = {"stereotype": "none", "role": "subject", "corpus": "core"}
    return Judgement(f"{occupation}-{number}", number, occupation, verdict, expected, observed, tags, entity=occupation)


def _winomt(judgements: Sequence[Judgement], system: str = "system") -> Result:
    return Result(Selection("winomt", "en", "es", "core", cluster="entity"), "core-1", system, (), judgements)


def test_the_occupation_that_stands_out_is_named() -> None:
    shares = {"carpenter": 0, "driver": 1, "guard": 9, "lawyer": 3, "cook": 4, "clerk": 7, "teacher": 8, "nurse": 9}
    judgements = [
        _judged(name, Gender.NEUTRAL, Gender.FEMININE if number < n_feminine else Gender.MASCULINE, number)
        for name, n_feminine in shares.items()
        for number in range(10)
    ]
    figure = _figure(figures({"run": [_winomt(judgements)]}), "winomt.en-es.professions")
    _check(figure)
    assert "guard" in _texts(figure)
    assert "carpenter" not in _texts(figure)
    assert re.search(r"Farthest from the trend, in points: guard \+\d\d", figure.caption)
    assert "guard, gender left open: 9 of 10 feminine; 22 % of those who work in it are women" in figure.svg
    assert _marks(figure, "path", VERMILION) == len(shares) + 1, "a triangle each, and one in the legend"


def test_a_system_without_exceptions_has_no_outliers() -> None:
    for system in ("fake:right", "fake:masculine"):
        figure = _figure(figures({"run": _run(system, "winomt")}), "winomt.en-es.professions")
        assert "Farthest" not in figure.caption
        _check(figure)


def test_unknown_occupations_are_no_points() -> None:
    judgements = [_judged("wizard", Gender.FEMININE, Gender.FEMININE, number) for number in range(10)]
    assert "winomt.en-es.professions" not in [figure.name for figure in figures({"run": [_winomt(judgements)]})]


def test_the_confusion_matrix_counts() -> None:
    judgements = [
        *(_judged("cook", Gender.FEMININE, Gender.MASCULINE, number) for number in range(7)),
        *(_judged("cook", Gender.FEMININE, Gender.FEMININE, number) for number in range(7, 10)),
        *(_judged("cook", Gender.MASCULINE, None, number) for number in range(10, 1_210)),
    ]
    texts = _texts(_figure(figures({"run": [_winomt(judgements)]}), "winomt.en-es.confusion"))
    assert "neutral" not in texts, "neither meant nor seen"
    assert texts[-14:] == [
        *("masculine", "0", "0 %", "0", "0 %", "1,200", "100 %"),
        *("feminine", "7", "70 %", "3", "30 %", "0", "0 %"),
    ]


def test_simplegen_groups_fill_their_rows() -> None:
    figure = _figure(figures({"run": _run("fake:stereotyped?s=0.6", "simplegen")}), "simplegen.en-es.groups")
    right = _rects(figure, BLUE)
    wrong = _rects(figure, "url(#simplegen.en-es.groups-hatch-E69F00)")
    assert len(right) == 4
    assert len(wrong) == 2, "only where it goes against the stereotype"
    full = right[0]["width"]
    assert right[2]["width"] + wrong[0]["width"] == pytest.approx(full, abs=0.02)
    (result,) = _run("fake:stereotyped?s=0.6", "simplegen")
    assert 100 * right[3]["width"] / full == pytest.approx(result.estimate("correct", "mofc").value, abs=0.01)


def test_tgbi_sets_and_lexemes() -> None:
    (result,) = _run("fake:stereotyped?s=0.6", "tgbi")
    found = figures({"run": [result]})
    sets = _figure(found, "tgbi.ko-en.sets")
    for name in ("informal", "formal", "impolite", "polite", "negative", "positive", "occupation"):
        assert name in _texts(sets)
        assert f"{result.estimate('p_s', name).value:.3f}" in _texts(sets)
    assert f"{result.estimate('tgbi').value:.3f} [" in sets.caption
    lexemes = _figure(found, "tgbi.ko-en.lexemes")
    dots = [e for e in ET.fromstring(lexemes.svg).iter() if e.tag in (f"{SVG}circle", f"{SVG}path")]
    assert len(dots) == len({judgement.group_id for judgement in result.judgements})
    assert all(dot.find(f"{SVG}title") is not None for dot in dots)
    assert "의사 (a doctor): he " in lexemes.svg


def test_words_of_which_nothing_was_judged_have_their_own_column() -> None:
    failed = figures({"run": _run("fake:silent", "tgbi")})
    assert "not judged" in " ".join(_texts(_figure(failed, "tgbi.ko-en.lexemes")))
    judged = figures({"run": _run("fake:masculine", "tgbi")})
    assert "not judged" not in " ".join(_texts(_figure(judged, "tgbi.ko-en.lexemes")))


def test_sentence_gaps_are_drawn_one_by_one() -> None:
    (result,) = _run("fake:masculine", "mt-geneval-counterfactual")
    figure = _figure(figures({"run": [result]}), "mt-geneval-counterfactual.en-es.gaps")
    gaps = [row[3] for row in result.table("gaps").rows]
    bars = _rects(figure, BLUE)
    assert len(bars) == sum(gap > 0 for gap in gaps)
    assert max(bar["height"] for bar in bars) / min(bar["height"] for bar in bars) == pytest.approx(
        max(gaps) / min(gap for gap in gaps if gap > 0), rel=0.03
    )
    assert f"+{max(gaps):.1f}" in figure.caption
    assert "women better" not in _texts(figure)


def test_a_system_without_gaps_has_no_picture_of_them() -> None:
    found = figures({"run": _run("fake:right", "mt-geneval-counterfactual")})
    assert not [figure.name for figure in found if "gaps" in figure.name]


def test_entropies_and_occupations_of_uncertainty() -> None:
    found = figures({"run": _run("fake:stereotyped?s=0.6", "uncertainty")})
    entropy = _figure(found, "uncertainty.entropy")
    assert {"gender told", "gender left open", "gender", "words"} <= set(_texts(entropy))
    occupations = _figure(found, "uncertainty.en-es.occupations")
    names = [text for text in _texts(occupations) if re.fullmatch(r"[a-zA-Z ]+", text)][2:]
    assert len(names) == 40
    assert names.index("nurse") < names.index("carpenter"), "the most feminine first"


# -- several systems ---------------------------------------------------------------------------------------------------


def test_the_forest_shows_what_is_more_than_chance() -> None:
    runs = {name: _run(f"fake:{name}", "winomt") for name in ("right?p=0.9", "masculine")}
    figure = _figure(figures(runs), "comparison")
    assert figure.cell == ""
    n_clear, n_all = map(int, re.search(r"after Holm\), (\d+) of (\d+)", figure.caption).groups())  # type: ignore[union-attr]
    filled, hollow = (_marks(figure, "path", COLOURS[1], filled=filled) for filled in (True, False))
    assert (filled - 1, hollow) == (n_clear, n_all - n_clear), "one mark in the legend"
    assert n_all == 3
    told = {"accuracy", "recall gap", "ΔS", "winomt.en-es", "difference in points", "B masculine (fake)"}
    assert told <= set(_texts(figure))
    assert "minus that of right (fake, p=0.9) (A)" in figure.caption
    _check(figure)


def test_a_system_looks_in_figures_as_on_the_page() -> None:
    """A blue circle, B an orange square, and so on, whichever of them is compared."""
    style = (files("gendermark.reporting") / "assets" / "page.css").read_text(encoding="utf-8")
    for run, colour in enumerate(COLOURS):
        assert f"--run-{run}: {colour.lower()};" in style
    assert len(numbers._SHAPES) == len(SHAPES)
    looks = [look_of(run) for run in range(MOST_LOOKS)]
    assert len({(look.shape, look.colour) for look in looks}) == MOST_LOOKS >= 12
    assert [(look.shape, look.colour) for look in looks[:2]] == [("circle", BLUE), ("square", COLOURS[1])]


@pytest.mark.parametrize(("n_runs", "has_letters"), [(7, False), (8, True), (14, True)])
def test_many_systems_have_their_letters_beside_the_marks(n_runs: int, has_letters: bool) -> None:
    (result,) = _run("fake:right?p=0.9", "simplegen")
    runs = {str(number): [replace(result, system=f"hf:model-{number}")] for number in range(n_runs)}
    report = gendermark.compare([result], [result])
    figure = _figure(figures(runs, dict.fromkeys(list(runs)[1:], report)), "comparison")
    letters = [text for text in _texts(figure) if re.fullmatch("[A-Z]", text)]
    assert Counter(letters) == (
        dict.fromkeys(map(letter_of, range(1, n_runs)), len(report.comparisons)) if has_letters else {}
    )
    colours = set(re.findall(r'stroke="(#\w+)"', figure.svg))
    assert len(colours) == (0 if n_runs > MOST_LOOKS else min(n_runs - 1, len(COLOURS))), (
        "no colour tells so many apart"
    )
    _check(figure)


def test_a_long_name_of_a_metric_is_wrapped_and_not_cut() -> None:
    selection = Selection("uncertainty", "en", "es", data="core", parts=("referenced",), n_samples=3)
    runs = {name: tuple(gendermark.run(f"fake:{name}", [selection])) for name in ("coin", "masculine")}
    texts = _texts(_figure(figures(runs), "comparison"))
    assert {"distance from", "even, ambiguous"} <= set(texts)
    assert not [text for text in texts if "…" in text]


def test_a_trend_of_many_languages_goes_on_in_another_figure() -> None:
    (result,) = _run("fake:right", "simplegen")
    codes = ["es", "de", "fr", "it", "pt", "ru", "uk", "he", "ar", "cs", "pl", "hi", "el"]
    versions = {
        f"v{number}": [
            replace(result, system=f"hf:mine@{number}", selection=replace(result.selection, target_language=code))
            for code in codes
        ]
        for number in range(3)
    }
    found = figures(versions, {}, trend=True)
    first, second = (_figure(found, name) for name in ("simplegen.trend", "simplegen.trend-2"))
    assert {code.upper() for code in codes[:12]} <= set(_texts(first))
    assert "EL" in _texts(second)
    assert "ES" not in _texts(second)
    for figure in (first, second):
        _check(figure)


@pytest.mark.parametrize(("amount", "shown"), [(57.49, "57"), (100 * (230 / 400), "58"), (56.5, "57"), (0.0, "0")])
def test_halves_go_up(amount: float, shown: str) -> None:
    assert percent(amount) == shown


def test_a_run_against_itself_differs_in_nothing() -> None:
    (result,) = _run("fake:right?p=0.9", "simplegen")
    figure = _figure(figures({"a": [result], "b": [result]}), "comparison")
    assert "after Holm), 0 of 5." in figure.caption
    _check(figure)


def test_what_cannot_be_compared_has_no_comparison() -> None:
    (result,) = _run("fake:right", "simplegen")
    other = replace(result, origin="core-of-last-year")
    assert "comparison" not in [figure.name for figure in figures({"a": [result], "b": [other]})]


def test_given_comparisons_are_used() -> None:
    (first,), (second,) = _run("fake:right", "simplegen"), _run("fake:masculine", "simplegen")
    report = gendermark.compare([first], [second])
    made = figures({"a": [first], "b": [second]})
    given_ = figures({"a": [first], "b": [second]}, {"b": report, "unknown": report})
    assert _figure(made, "comparison").svg == _figure(given_, "comparison").svg
    assert "comparison" not in [figure.name for figure in figures({"a": [first], "b": [second]}, {})]


def test_a_trend_is_drawn_when_it_is_asked_for() -> None:
    (result,) = _run("fake:right", "simplegen")
    versions = {f"v{number}": [replace(result, system=f"hf:mine@{number}")] for number in range(3)}
    figure = _figure(figures(versions, {}, trend=True), "simplegen.trend")
    _check(figure)
    assert "1: mine@0, 2: mine@1, 3: mine@2" in figure.caption
    assert {"1", "2", "3", "pro, %", "Δ, points", "ES"} <= set(_texts(figure))
    assert "simplegen.trend" not in [figure.name for figure in figures(versions, {})]


def test_runs_of_one_system_are_told_apart() -> None:
    (result,) = _run("fake:right", "simplegen")
    same = {name: [result] for name in ("a/run", "b/run", "c/other")}
    labels = run_labels({**same, "d": [replace(result, system="x")], "e": []})
    assert list(labels.values()) == [
        "right (fake; a/run)",
        "right (fake; b/run)",
        "right (fake; other)",
        "x",
        "e",
    ]


# -- safety ------------------------------------------------------------------------------------------------------------


def test_hostile_names_stay_text() -> None:
    (winomt,) = _run("fake:stereotyped?s=0.6", "winomt")
    (simplegen,) = _run("fake:stereotyped?s=0.6", "simplegen")
    runs = {
        f"{number}/{name[:200]}": [replace(winomt, system=name), replace(simplegen, system=name)]
        for number, name in enumerate(HOSTILE)
    }
    found = figures(runs, {}, trend=True)
    for figure in found:
        _check(figure)
    assert len({figure.name for figure in found}) == len(found)
    stereotypes = "\n".join(_texts(_figure(found, "winomt.stereotypes")))
    assert "<script>alert(1)</script>" in stereotypes
    assert "[U+202E]right to left[U+202C]" in stereotypes


def test_hostile_words_stay_text() -> None:
    (result,) = _run("fake:stereotyped?s=0.6", "tgbi")
    judgements = [
        replace(j, entity=HOSTILE[n % len(HOSTILE)], tags={**j.tags, "gloss": HOSTILE[n % 7], "kind": HOSTILE[n % 5]})
        for n, j in enumerate(result.judgements)
    ]
    for figure in figures({"run": [replace(result, judgements=judgements)]}):
        _check(figure)


@settings(max_examples=25, derandomize=True)
@given(st.text(st.characters(), max_size=40))
def test_any_name_gives_valid_svg(name: str) -> None:
    (result,) = _run("fake:stereotyped?s=0.6", "simplegen")
    for figure in figures({name: [replace(result, system=name)], "other": [result]}, {}, trend=True):
        _check(figure)


# -- too little --------------------------------------------------------------------------------------------------------


def _emptied(result: Result) -> list[Result]:
    estimates = tuple(replace(e, value=None, low=None, high=None) for e in result.estimates)
    bare = [replace(j, tags={}, measures={}, observed=None, verdict=Verdict.UNJUDGEABLE) for j in result.judgements]
    return [
        replace(result, estimates=(), judgements=[]),
        replace(result, estimates=estimates, judgements=[]),
        replace(result, estimates=estimates, judgements=bare),
    ]


@pytest.mark.parametrize("runs", [{}, {"run": []}, {"a": [], "b": []}])
def test_nothing_has_no_figures(runs: Mapping[str, Sequence[Result]]) -> None:
    assert figures(runs) == []
    assert figures(runs, trend=True) == []


@pytest.mark.parametrize("number", range(len(BENCHMARKS)))
def test_no_data_is_no_figure_and_no_accident(number: int) -> None:
    result = _stereotyped()[number]
    nothing, no_values, bare = _emptied(result)
    assert figures({"run": [nothing]}) == []
    assert figures({"run": [no_values]}) == []
    for found in (figures({"run": [bare]}), figures({"run": [bare], "other": [result]}, {}, trend=True)):
        for figure in found:
            _check(figure)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
@pytest.mark.parametrize("system", ["fake:silent", "fake:copy"])
def test_a_system_that_fails_has_figures_or_none(system: str, benchmark: str) -> None:
    for figure in figures({"run": _run(system, benchmark)}):
        _check(figure)


def test_an_unknown_benchmark_is_passed_over() -> None:
    estimate = Estimate("accuracy", "all", 50.0, 40.0, 60.0, 1, 1, 1)
    result = Result(Selection("future", "en", "es"), "core-1", "system", (estimate,), [])
    assert figures({"run": [result]}) == []


def test_values_without_intervals_are_drawn() -> None:
    for result in _stereotyped():
        bare = replace(result, estimates=tuple(replace(e, low=None, high=None) for e in result.estimates))
        for figure in figures({"run": [bare]}):
            _check(figure)


# -- files -------------------------------------------------------------------------------------------------------------


def test_svg_files_and_captions(tmp_path: Path) -> None:
    (result,) = _run("fake:stereotyped?s=0.6", "simplegen")
    found = figures({"run": [replace(result, system="<b>*my* system</b>")]})
    written = write_figures(tmp_path / "new" / "figures", found, ["svg"])
    assert [path.name for path in written] == [*(f"{figure.name}.svg" for figure in found), "captions.md"]
    assert written[0].read_text(encoding="utf-8") == found[0].svg
    captions = written[-1].read_text(encoding="utf-8")
    assert captions.count("\n## ") == len(found)
    assert r"\<b>\*my\* system\</b>" in captions


def test_pdf_and_png_of_the_right_size(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="needs the extra figures")
    found = figures({"run": _run("fake:right", "simplegen")})[:1]
    written = write_figures(tmp_path, found)
    assert [path.suffix for path in written] == [".svg", ".pdf", ".png", ".md"]
    pdf, png = written[1].read_bytes(), written[2].read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert re.search(rb"/MediaBox\s*\[\s*0 0 237\.6", pdf), "3.3 inches"
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">I", png[16:20]) == (990,), "3.3 inches at 300 dots"


@pytest.mark.parametrize("format_", ["pdf", "png"])
def test_a_missing_extra_is_said_before_anything_is_written(
    format_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    found = figures({"run": _run("fake:right", "simplegen")})
    with pytest.raises(MissingExtra) as caught:
        write_figures(tmp_path / "out", found, ["svg", format_])
    assert str(caught.value) == (
        f"a figure as {format_.upper()} needs an optional package; install it with: pip install 'gendermark[figures]'"
    )
    assert not (tmp_path / "out").exists()


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"unknown figure format 'gif'.*available: pdf, png, svg"):
        write_figures(tmp_path, [], ["gif"])


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = figures({"run": _run("fake:right", "simplegen")})
    with pytest.raises(UserError, match=r"file is a file; give a directory for the figures$"):
        write_figures(tmp_path / "file", found, ["svg"])
    with pytest.raises(UserError, match=r"^cannot write .*simplegen\.en-es\.groups\.svg: "):
        write_figures(tmp_path / "file" / "inside", found, ["svg"])


# -- drawing -----------------------------------------------------------------------------------------------------------


@settings(max_examples=100, derandomize=True)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6))
def test_a_scale_holds_its_values(values: list[float]) -> None:
    scale = scale_around(values, 10, 110)
    assert scale.low <= min(values) + 1e-6
    assert scale.high >= max(values) - 1e-6
    assert all(10 <= scale(value) <= 110 for value in values)
    ticks = scale.ticks(6)
    assert 1 <= len(ticks) <= 6
    assert all(scale.low - 1e-6 <= tick <= scale.high + 1e-6 for tick in ticks)


def test_ticks_are_round() -> None:
    assert Scale(0, 100, 0, 1).ticks(6) == [0, 20, 40, 60, 80, 100]
    assert Scale(0, 1, 0, 1).ticks(3) == [0, 0.5, 1]
    assert Scale(-0.3, 0.3, 0, 1).ticks(5) == [-0.2, 0, 0.2]


def test_long_names_lose_their_middle() -> None:
    assert clipped("short", 100) == "short"
    shown = clipped("hf:organisation/model-with-a-long-name@revision-17", 90)
    assert shown.startswith("hf:")
    assert shown.endswith("17")
    assert "…" in shown
    assert text_width(shown) <= 90
    assert clipped("anything", 1) == "…"
