"""The verdict that a page opens with: right about fake systems whose bias is known, and never more than is clear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import gendermark
from gendermark.reading.codes import NAMES
from gendermark.records import Estimate, Unit
from gendermark.reporting.findings import (
    ALIKE,
    LOST,
    MORE_WOMEN,
    MOST_MEN,
    TURNED,
    WOMEN_LESS,
    Kind,
    Rates,
    Told,
    rates_of,
)
from gendermark.reporting.page import render_page
from gendermark.runs.compare import Comparison, compare
from gendermark.runs.folder import read_run
from gendermark.selection import Selection
from made_runs import run_of


def estimate(value: float, low: float, high: float) -> Estimate:
    return Estimate("accuracy", "feminine", value, low, high, 40, 100, 100, Unit.PERCENT)


def rates(kind: Kind, women: float = 40, men: float = 90) -> Rates:
    ends = [estimate(value, value - 5, value + 5) for value in (women, men)]
    gap = replace(ends[0], metric="recall_gap", p_value=0.6 if kind is ALIKE else 0.0001)
    return Rates(ends[0], ends[1], gap, kind, source_tells=True)


def told(
    systems: Sequence[str], found: Sequence[Sequence[Rates | None]], better: Sequence[tuple[int, int]] = ()
) -> str:
    """`better` are the pairs in which the second has the clearly smaller gap."""

    def compared(place: int, first: int, second: int) -> Comparison:
        p = 0.001 if (first, second) in better else 0.6
        return Comparison("", "", "", 40, 20, "zero", 9, -20, -25 if p < 0.05 else -45, -15 if p < 0.05 else 5, p, p, p)

    return Told(["Spanish", "French", "Italian"][: len(found)], systems, found, compared).sentence()


KEEP = "of men keep their gender"


@pytest.mark.parametrize(
    ("system", "benchmark", "languages", "verdict"),
    [
        ("masculine", "winomt", "en-es", f"Translates most women as men: in Spanish 0% of women and 100% {KEEP}."),
        ("right", "winomt", "en-es", f"{ALIKE.one.capitalize()}: in Spanish 100% of women and 100% {KEEP}."),
        ("masculine", "tgbi", "ko-en", f"{MOST_MEN.one.capitalize()}: in Korean 100% become men, 0% women."),
        ("feminine", "gest", "en-cs", f"{MORE_WOMEN.one.capitalize()}: in Czech 0% become men, 100% women."),
        ("silent", "winomt", "en-es", ""),
    ],
)
def test_fake_systems_get_the_verdict_they_deserve(system: str, benchmark: str, languages: str, verdict: str) -> None:
    page = render_page([run_of(f"fake:{system}", Selection(benchmark, *languages.split("-"), data="core"))])
    found = page.partition('<p class="verdict">')[2].partition("</p>")[0]
    assert found == verdict


def test_a_system_that_is_a_little_stereotyped_turns_nobody_into_men() -> None:
    (result,) = gendermark.run("fake:stereotyped?s=0.3", ["winomt"], "es", data="core")
    found = rates_of(result)
    assert found is not None
    assert found.kind in (ALIKE, WOMEN_LESS)


def test_women_who_are_left_open_are_not_turned_into_men() -> None:
    """Most women are lost, but none becomes a man: the verdict must not say so."""
    (right,) = gendermark.run("fake:right", ["winomt"], "es", data="core")
    (masculine,) = gendermark.run("fake:masculine", ["winomt"], "es", data="core")
    assert rates_of(masculine).kind is TURNED  # type: ignore[union-attr]
    opened = replace(masculine, judgements=tuple(replace(j, observed=None) for j in masculine.judgements))
    assert rates_of(opened).kind is WOMEN_LESS  # type: ignore[union-attr]
    assert rates_of(right).kind is ALIKE  # type: ignore[union-attr]


def test_one_system_in_several_languages_names_the_worst() -> None:
    found = [[rates(WOMEN_LESS, 60, 90)], [rates(WOMEN_LESS, 40, 95)], [rates(ALIKE, 88, 90)]]
    assert told(["one"], found) == (
        "Keeps women's gender less often than men's in 2 of 3 languages, most in French (40% of women and 95% of men "
        "keep their gender); shows no significant difference between women and men in Italian (88% of women and 90% "
        "of men keep their gender)."
    )


def test_systems_that_are_alike_are_told_together_and_the_best_only_if_it_beats_all() -> None:
    found = [[rates(TURNED, 10), rates(TURNED, 30), rates(TURNED, 20)]] * 2
    names = ["one", "two", "three"]
    start = "All three translate most women as men in both languages"
    assert told(names, found, better=[(0, 1), (2, 1)]) == f"{start}; the gap is clearly smallest for two."
    assert told(names, found, better=[(0, 1)]) == f"{start}."


def test_systems_that_differ_are_told_one_by_one() -> None:
    found = [[rates(TURNED), rates(ALIKE), None], [rates(TURNED), rates(WOMEN_LESS), None]]
    assert told(["one", "two", "three"], found) == (
        "one translates most women as men; women's gender is kept less often than men's by two in French; elsewhere "
        "the difference is not significant."
    )


def test_the_largest_gap_is_told_where_there_are_several() -> None:
    found = [[rates(WOMEN_LESS, 60, 90), rates(ALIKE, 88, 90)], [rates(WOMEN_LESS, 36, 77), rates(WOMEN_LESS, 50, 80)]]
    said = "The largest gap is one's in French: 36% of women and 77% of men keep their gender."
    assert Told(["Spanish", "French"], ["one", "two"], found, lambda *_: None).largest() == said
    assert Told(["Spanish"], ["one", "two"], found[:1], lambda *_: None).largest() == ""


def test_a_language_is_named_where_there_is_one() -> None:
    assert told(["one", "two"], [[rates(LOST), rates(LOST)]]) == "In Spanish, both lose the gender of most people."


def test_the_best_system_is_the_one_that_compare_calls_better() -> None:
    selection = Selection("winomt", "en", "es", data="core")
    runs = [run_of(system, selection) for system in ("fake:masculine", "fake:stereotyped?s=0.9", "fake:right")]
    page = render_page(runs)
    gaps = [c for c in compare(runs[1].results, runs[2].results).comparisons if c.metric == "recall_gap"]
    is_clear = gaps[0].change() == "better"
    assert ("the gap is clearly smallest for right (fake)" in page) is is_clear


def test_beside_a_finding_stand_sentences_of_its_kind_with_the_deciding_words_marked(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    gendermark.run("fake:masculine", [Selection("winomt", "en", "es", data="core")], directory=directory)
    page = render_page([read_run(directory)])
    opening = page[page.index('id="finding"') : page.index('id="measured"')]
    assert opening.count('<blockquote class="telling">') >= 2
    assert "(wrong: as a man)" in opening
    assert "(right: as a man)" in opening
    assert "<mark>" in opening


def test_the_picture_has_a_row_for_every_system_and_language_and_says_the_numbers() -> None:
    selections = [Selection("winomt", "en", to, data="core") for to in ("es", "fr")]
    page = render_page([run_of(system, *selections) for system in ("fake:masculine", "fake:right")])
    picture = page[page.index('class="dumbbells"') : page.index("</table>", page.index('class="dumbbells"'))]
    assert picture.count('class="gap"') == 4
    for code in ("es", "fr"):
        assert picture.count(f'<tr data-place="{code}"') == 2
        assert f'<option value="{code}">{NAMES[code]}</option>' in page


def test_a_system_that_follows_stereotypes_is_not_said_to_treat_all_alike_and_nothing_more() -> None:
    page = render_page([run_of("fake:stereotyped?s=0.7", Selection("winomt", "en", "es", data="core"))])
    verdict = page.partition('<p class="verdict">')[2].partition("</p>")[0]
    assert verdict.startswith("Shows no significant difference between women and men: in Spanish ")
    added = page.partition('<p class="lead">')[2].partition("</p>")[0]
    assert added.startswith("But stereotype effect: ")
