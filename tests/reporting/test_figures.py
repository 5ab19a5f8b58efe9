"""Figures: valid and safe SVG that shows the right numbers, whatever a system is called and however little there is."""

from __future__ import annotations

import re
import struct
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import gendermark
from gendermark.reading.codes import NAMES
from gendermark.records import Estimate, Gender, Judgement, Verdict
from gendermark.reporting.charts import (
    COLOURS,
    SIZE,
    SMALL,
    WIDTH,
    text_width,
)
from gendermark.reporting.figures import Figure, figures, write_figures
from gendermark.result import Result
from gendermark.selection import Selection

SVG = "{http://www.w3.org/2000/svg}"
BLUE, VERMILION = "#0072B2", "#D55E00"
BENCHMARKS = ("mt-geneval-contextual", "mt-geneval-counterfactual", "simplegen", "tgbi", "uncertainty", "winomt")
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
    "../../etc/passwd",
)


@cache
def _run(system: str, benchmark: str, to: str = "es") -> Result:
    options: dict[str, object] = {"n_samples": 3} if benchmark == "uncertainty" else {}
    if benchmark == "tgbi":
        to, options = "en", {"source_language": "ko"}
    return gendermark.run(f"fake:{system}", [benchmark], to, data="core", **options)[0]


@cache
def _biased() -> tuple[Result, ...]:
    return tuple(_run("stereotyped?s=0.6", benchmark) for benchmark in BENCHMARKS)


@cache
def _several() -> tuple[Figure, ...]:
    """Every benchmark, three systems, two languages of WinoMT."""
    runs = {"runs/1": [*_biased(), _run("stereotyped?s=0.6", "winomt", "de")]}
    for system in ("right?p=0.9", "masculine"):
        runs[f"runs/{system}"] = [_run(system, name) for name in BENCHMARKS if name != "uncertainty"]
    return tuple(figures(runs))


def _named(found: Sequence[Figure], name: str) -> Figure:
    by_name = {figure.name: figure for figure in found}
    assert name in by_name
    return by_name[name]


def _of(result: Result, name: str) -> Figure:
    return _named(figures({"run": [result]}), name)


def _texts(figure: Figure) -> list[str]:
    """What can be read in the picture, tooltips apart."""
    found = ET.fromstring(figure.svg).iter(f"{SVG}text")
    return [(title.tail if (title := e.find(f"{SVG}title")) is not None else e.text) or "" for e in found]


def _box(element: ET.Element) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of what an element covers."""
    a = {key: float(value) for key, value in element.attrib.items() if re.fullmatch(r"-?[0-9.]+", value)}
    match element.tag.removeprefix(SVG):
        case "rect":
            return a["x"], a["y"], a["x"] + a["width"], a["y"] + a["height"]
        case "circle":
            return a["cx"] - a["r"], a["cy"] - a["r"], a["cx"] + a["r"], a["cy"] + a["r"]
        case "text":
            size, title = a.get("font-size", SIZE), element.find(f"{SVG}title")
            shown = (title.tail if title is not None else element.text) or ""
            width = text_width(shown, size) * 0.92  # the estimate errs on the wide side by some 8%
            x = a["x"] - {"start": 0, "middle": width / 2, "end": width}[element.attrib.get("text-anchor", "start")]
            return x, a["y"] - 0.72 * size, x + width, a["y"] + 0.2 * size
    numbers = [float(n) for n in re.findall(r"-?[0-9.]+", element.attrib.get("d") or element.attrib["points"])]
    return min(numbers[::2]), min(numbers[1::2]), max(numbers[::2]), max(numbers[1::2])


def _check(figure: Figure) -> None:
    """What holds of every figure."""
    root = ET.fromstring(figure.svg)
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,150}", figure.name)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert (left, top, width, root.attrib["width"]) == (0, 0, WIDTH, "3.3in")
    title, desc = root[0], root[1]
    assert (title.tag, desc.tag) == (f"{SVG}title", f"{SVG}desc")
    assert title.text
    assert desc.text
    assert root.attrib["aria-labelledby"] == title.attrib["id"]
    patterns = {element for pattern in root.iter(f"{SVG}pattern") for element in pattern.iter()}
    texts = []
    for element in root.iter():
        name = element.tag.removeprefix(SVG)
        assert name in ("svg", "title", "desc", "defs", "pattern", "rect", "line", "polyline", "path", "circle", "text")
        assert not [key for key in element.attrib if key in ("style", "href", "class") or key.startswith("on")]
        assert not [value for value in element.attrib.values() if re.search(r"nan|inf|none\.|http", value.lower())]
        assert element.attrib.get("id", f"{figure.name}-").startswith(f"{figure.name}-")
        if element in patterns or name in ("svg", "title", "desc", "defs"):
            continue
        x0, y0, x1, y1 = _box(element)
        assert -1 <= x0 <= x1 <= width + 1.5, (figure.name, ET.tostring(element))
        assert -1 <= y0 <= y1 <= height + 0.6, (figure.name, ET.tostring(element))
        if name == "text":
            assert float(element.attrib.get("font-size", SIZE)) >= SMALL
            texts.append((element.text, (x0, y0, x1, y1)))
    for number, (one, a) in enumerate(texts):
        for other, b in texts[number + 1 :]:
            overlap = a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
            assert not overlap, (figure.name, one, other)


# -- what there is -----------------------------------------------------------------------------------------------------


def test_the_figures_of_one_run() -> None:
    found = figures({"run": _biased()})
    own = {
        "mt-geneval-contextual": ["genders", "en-es.published"],
        "mt-geneval-counterfactual": ["genders", "en-es.published"],
        "simplegen": ["en-es.groups", "en-es.professions", "en-es.published"],
        "tgbi": ["ko-en.sets", "ko-en.lexemes", "ko-en.published"],
        "uncertainty": ["entropy", "en-es.occupations", "en-es.published"],
        "winomt": ["stereotypes", "en-es.professions", "en-es.published"],
    }
    shown = {name: figures_ if name == "uncertainty" else ["women-men", *figures_] for name, figures_ in own.items()}
    assert [figure.name for figure in found] == [f"{name}.{one}" for name, ones in shown.items() for one in ones]
    for figure in found:
        _check(figure)
        assert figure.name.startswith(figure.cell)
        assert "stereotyped control (s=0.6" in figure.caption or figure.name.endswith("published")
        assert "core data, gendermark's corrected rules" in figure.caption


def test_the_figures_of_several_runs() -> None:
    names = [figure.name for figure in _several()]
    assert len(set(names)) == len(names)
    assert "winomt.en-es.professions.unbiased-control-p-0.9" in names
    assert "winomt.en-de.professions.stereotyped-control-s-0.6" in names
    assert "mt-geneval-counterfactual.en-es.gaps.always-masculine-control" in names
    assert names[-1] == "comparison"
    ids: list[str] = []
    for figure in _several():
        _check(figure)
        own = re.findall(r' id="([^"]*)"', figure.svg)
        assert set(re.findall(r"url\(#([^)]*)\)", figure.svg)) <= set(own)
        ids += own
    assert len(set(ids)) == len(ids)


def test_other_rules_have_figures_of_their_own() -> None:
    paper = gendermark.run("fake:right", ["simplegen"], "es", data="core", rules="paper")
    names = [figure.name for figure in figures({"a": [_run("right", "simplegen")], "b": paper}, {})]
    assert {"simplegen.en-es.rules-best.groups", "simplegen.en-es.rules-paper.groups"} <= set(names)


# -- what they show ----------------------------------------------------------------------------------------------------


def _judged(occupation: str, expected: Gender, observed: Gender | None, number: int) -> Judgement:
    verdict = Verdict.JUDGED if observed else Verdict.UNJUDGEABLE
    tags = {"stereotype": "none", "role": "subject", "corpus": "core"}
    return Judgement(f"{occupation}-{number}", number, occupation, verdict, expected, observed, tags, entity=occupation)


def _winomt(judgements: Sequence[Judgement]) -> Result:
    return Result(Selection("winomt", "en", "es", "core", cluster="entity"), "core-1", "system", (), judgements)


def _rects(figure: Figure, fill: str) -> list[dict[str, float]]:
    """Without those of legends, which are squares of 7 points."""
    return [
        {key: float(element.attrib[key]) for key in ("x", "y", "width", "height")}
        for element in ET.fromstring(figure.svg).iter(f"{SVG}rect")
        if element.attrib.get("fill") == fill and "x" in element.attrib and element.attrib["width"] != "7"
    ]


def _dots(figure: Figure, tag: str, colour: str, *, filled: bool = True) -> list[float]:
    """Where the marks of a look are across, the one in the legend first."""
    found = ET.fromstring(figure.svg).iter(f"{SVG}{tag}")
    marks = [element for element in found if element.attrib.get("fill" if filled else "stroke") == colour]
    return [sum(_box(mark)[::2]) / 2 for mark in marks]


def test_women_and_men_are_where_their_numbers_are() -> None:
    result = _run("masculine", "winomt")
    figure = _of(result, "winomt.women-men")
    (_, women), (_, men) = _dots(figure, "path", VERMILION), _dots(figure, "circle", BLUE)
    assert men - women > 100, "0% and 100%"
    assert {"women", "men", "Spanish", "+100", "better →"} <= set(_texts(figure))
    even = _texts(_of(_run("right?p=0.9", "winomt"), "winomt.women-men"))
    assert [text for text in even if text.startswith("(")], "not significant"
    both = figures({"a": [result], "b": [_run("right?p=0.9", "winomt")]})
    assert {"always-masculine", "unbiased", "control (p=0.9)"} <= set(_texts(_named(both, "winomt.women-men")))


def test_published_results_stand_beside_ours() -> None:
    figure = _of(_run("right", "winomt"), "winomt.en-es.published")
    assert {"Google Translate", "Microsoft Translator", "Amazon Translate", "SYSTRAN"} <= set(_texts(figure))
    assert "Stanovsky et al., 2019 (Table 2)" in figure.caption
    german = _of(_run("right", "winomt", "de"), "winomt.en-de.published")
    assert "Microsoft Translator, ΔS: the released translations give 9.0." in german.caption
    result = _run("right", "winomt")
    polish = replace(result, selection=replace(result.selection, target_language="pl"))
    assert "winomt.en-pl.published" not in [figure.name for figure in figures({"run": [polish]})]


def test_the_occupation_that_stands_out_is_named() -> None:
    shares = {"carpenter": 0, "driver": 1, "guard": 9, "lawyer": 3, "cook": 4, "clerk": 7, "teacher": 8, "nurse": 9}
    judgements = [
        _judged(name, Gender.NEUTRAL, Gender.FEMININE if number < n_feminine else Gender.MASCULINE, number)
        for name, n_feminine in {**shares, "wizard": 5}.items()  # which is no known occupation
        for number in range(10)
    ]
    figure = _of(_winomt(judgements), "winomt.en-es.professions")
    _check(figure)
    assert "guard" in _texts(figure)
    assert "carpenter" not in _texts(figure)
    assert re.search(r"Largest deviations from the trend, in points: guard \+\d\d", figure.caption)
    assert "guard, gender not marked: 9 of 10 feminine; 22% of the people who do it are women" in figure.svg
    assert len(_dots(figure, "path", VERMILION)) == len(shares) + 1, "a triangle each, and one in the legend"


def test_shares_fill_their_rows() -> None:
    result = _run("stereotyped?s=0.6", "simplegen")
    figure = _of(result, "simplegen.en-es.groups")
    right, wrong = _rects(figure, BLUE), _rects(figure, "url(#simplegen.en-es.groups-hatch-E69F00)")
    assert (len(right), len(wrong)) == (4, 2), "wrong only where it goes against the stereotype"
    full = right[0]["width"]
    assert right[2]["width"] + wrong[0]["width"] == pytest.approx(full, abs=0.02)
    assert 100 * right[3]["width"] / full == pytest.approx(result.estimate("correct", "mofc").value, abs=0.01)


def test_sets_and_words_of_tgbi() -> None:
    result = _run("stereotyped?s=0.6", "tgbi")
    sets, lexemes = (_of(result, f"tgbi.ko-en.{name}") for name in ("sets", "lexemes"))
    for name in ("informal", "formal", "impolite", "polite", "negative", "positive", "occupation"):
        assert {name, f"{result.estimate('p_s', name).value:.3f}"} <= set(_texts(sets))
    groups = {judgement.group_id: judgement.tags["kind"] for judgement in result.judgements}
    assert {f"{n:,}" for n in Counter(groups.values()).values()} <= set(_texts(lexemes))
    assert "not judged" in " ".join(_texts(_of(_run("silent", "tgbi"), "tgbi.ko-en.lexemes")))
    assert "not judged" not in " ".join(_texts(lexemes))


def test_gaps_of_pairs_are_bars() -> None:
    result = _run("masculine", "mt-geneval-counterfactual")
    figure = _of(result, "mt-geneval-counterfactual.en-es.gaps")
    gaps, heights = [row[3] for row in result.table("gaps").rows], [bar["height"] for bar in _rects(figure, BLUE)]
    assert len(heights) == sum(gap > 0 for gap in gaps)
    assert max(heights) / min(heights) == pytest.approx(max(gaps) / min(g for g in gaps if g > 0), rel=0.03)
    even = figures({"run": [_run("right", "mt-geneval-counterfactual")]})
    assert not [figure.name for figure in even if "gaps" in figure.name]


# -- several systems ---------------------------------------------------------------------------------------------------


def test_the_forest_shows_what_is_significant() -> None:
    runs = {name: [_run(name, "winomt")] for name in ("right?p=0.9", "masculine")}
    figure = _named(figures(runs), "comparison")
    assert figure.cell == ""
    n_clear, n_all = map(int, re.search(r"after Holm\), (\d+) of (\d+)", figure.caption).groups())  # type: ignore[union-attr]
    filled, hollow = (len(_dots(figure, "path", COLOURS[1], filled=filled)) for filled in (True, False))
    assert (filled - 1, hollow, n_all) == (n_clear, n_all - n_clear, 3), "one mark is in the legend"
    shown = {
        "accuracy",
        "gender gap",
        "ΔS",
        "WinoMT, Spanish",
        "difference in points",
        "B always-masculine control",
        "better →",
    }
    assert shown <= set(_texts(figure))
    result = runs["masculine"][0]
    assert "Holm), 0 of " in _named(figures({"a": [result], "b": [result]}), "comparison").caption
    other = {"a": [result], "b": [replace(result, origin="core-of-last-year")]}
    assert "comparison" not in [figure.name for figure in figures(other)], "cannot be compared"


@pytest.mark.parametrize(("n_runs", "has_letters", "n_colours"), [(7, False, 6), (8, True, 7), (14, True, 8)])
def test_many_systems_have_their_letters_beside_the_marks(n_runs: int, has_letters: bool, n_colours: int) -> None:
    result = _run("right?p=0.9", "simplegen")
    runs = {str(number): [replace(result, system=f"hf:model-{number}")] for number in range(n_runs)}
    report = gendermark.compare([result], [result])
    figure = _named(figures(runs, dict.fromkeys(list(runs)[1:], report)), "comparison")
    letters = [text for text in _texts(figure) if re.fullmatch("[A-Z]", text)]
    assert len(letters) == ((n_runs - 1) * len(report.comparisons) if has_letters else 0)
    assert len(set(re.findall(r'stroke="(#\w+)"', figure.svg))) == n_colours
    _check(figure)


def test_trends_of_versions_and_of_many_languages() -> None:
    result = _run("right", "simplegen")
    codes = ["es", "de", "fr", "it", "pt", "ru", "uk", "he", "ar", "cs", "pl", "hi", "el"]
    selections = [replace(result.selection, target_language=code) for code in codes]
    versions = {
        f"v{number}": [replace(result, system=f"hf:mine@{number}", selection=one) for one in selections]
        for number in range(3)
    }
    found = figures(versions, {}, trend=True)
    drawn = _named(found, "simplegen.trend")
    assert {"1", "2", "3", "pro, %", "Δ, points", *(NAMES[code] for code in codes)} <= set(_texts(drawn))
    assert "1: mine@0, 2: mine@1, 3: mine@2" in drawn.caption
    _check(drawn)
    assert "simplegen.trend" not in [figure.name for figure in figures(versions, {})]


# -- safety, and too little --------------------------------------------------------------------------------------------


def test_hostile_names_and_words_stay_text() -> None:
    winomt, simplegen, tgbi = (_run("stereotyped?s=0.6", name) for name in ("winomt", "simplegen", "tgbi"))
    runs = {
        f"{number}/{name[:200]}": [replace(winomt, system=name), replace(simplegen, system=name)]
        for number, name in enumerate(HOSTILE)
    }
    found = figures(runs, {}, trend=True)
    shown = "\n".join(_texts(_named(found, "winomt.women-men")))
    assert "(1)</script>" in shown
    assert "\u202e" not in shown
    assert len({figure.name for figure in found}) == len(found)
    judgements = [
        replace(j, entity=HOSTILE[n % len(HOSTILE)], tags={**j.tags, "gloss": HOSTILE[n % 7], "kind": HOSTILE[n % 5]})
        for n, j in enumerate(tgbi.judgements)
    ]
    for figure in [*found, *figures({"run": [replace(tgbi, judgements=judgements)]})]:
        _check(figure)


_NO_VALUES: Callable[[Estimate], Estimate] = lambda e: replace(e, value=None, low=None, high=None)  # noqa: E731


@pytest.mark.parametrize("number", range(len(BENCHMARKS)))
def test_too_little_data_is_no_figure_and_no_accident(number: int) -> None:
    result = _biased()[number]
    no_values = replace(result, estimates=tuple(map(_NO_VALUES, result.estimates)))
    bare = [replace(j, tags={}, measures={}, observed=None, verdict=Verdict.UNJUDGEABLE) for j in result.judgements]
    for nothing in (replace(result, estimates=(), judgements=[]), replace(no_values, judgements=[])):
        assert figures({"run": [nothing]}) == []
    no_intervals = replace(result, estimates=tuple(replace(e, low=None, high=None) for e in result.estimates))
    some: list[Mapping[str, Sequence[Result]]] = [
        {"run": [replace(no_values, judgements=bare)], "other": [result]},
        {"run": [no_intervals]},
        *({"run": [_run(system, BENCHMARKS[number])]} for system in ("silent", "copy")),
    ]
    for runs in some:
        for figure in figures(runs, {}, trend=True):
            _check(figure)


# -- files -------------------------------------------------------------------------------------------------------------


def test_files_and_captions(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="needs the extra figures")
    found = figures({"run": [replace(_run("right", "simplegen"), system="<b>*my* system</b>")]})[:2]
    written = write_figures(tmp_path / "new" / "figures", found)
    names = [f"{figure.name}.{format_}" for figure in found for format_ in ("svg", "pdf", "png")]
    assert [path.name for path in written] == [*names, "captions.md"]
    svg, pdf, png = (path.read_bytes() for path in written[:3])
    assert svg.decode() == found[0].svg
    assert re.search(rb"/MediaBox\s*\[\s*0 0 237\.6", pdf), "3.3 inches"
    assert struct.unpack(">I", png[16:20]) == (990,), "3.3 inches at 300 dots"
    captions = written[-1].read_text(encoding="utf-8")
    assert captions.count("\n## ") == len(found)
    assert r"\<b>\*my\* system\</b>" in captions
