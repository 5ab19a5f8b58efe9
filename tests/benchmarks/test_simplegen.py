"""SimpleGEN: the released figures under `paper`, linguistic truth under `best`, fakes on their expectation."""

from __future__ import annotations

import csv
import re
from itertools import pairwise
from pathlib import Path

import pytest

import gendermark
from gendermark.benchmarks.simplegen import GROUPS
from gendermark.benchmarks.simplegen.judge import BENCHMARK
from gendermark.reading.occupations import bundled_finder
from gendermark.records import Gender

RELEASED = "arendu-zz/SimpleGEN/7463fd36d304ad28dc2a328f37c0c089459ea72b"
FEW = gendermark.Resampling(100)


# -- the published set --------------------------------------------------------------------------------------------


def test_export_is_the_released_input(mirror: Path) -> None:
    items = gendermark.items("simplegen", "es").items
    released = (mirror / RELEASED / "input.txt").read_text(encoding="utf-8")
    assert "".join(f"{item.source}\n" for item in items) == released
    assert [item.index for item in items] == list(range(2664))
    assert len({item.item_id for item in items}) == 2664
    for group in GROUPS:
        items = gendermark.items("simplegen", "es", parts=(group,)).items
        released = (mirror / RELEASED / "translation-inputs" / f"{group}.en.src").read_text(encoding="utf-8")
        assert "".join(f"{item.source}\n" for item in items) == released


def test_expected_genders_are_the_released_ones(mirror: Path) -> None:
    lines = (mirror / RELEASED / "translation-inputs" / "expected_gender.txt").read_text(encoding="utf-8").split("\n")
    letters = {Gender.FEMININE: "f", Gender.MASCULINE: "m"}
    for item, line in zip(gendermark.items("simplegen", "es").items, lines, strict=False):
        context, occupation = line.split("\t")
        assert item.expected is not None
        assert letters[item.expected] == context
        assert item.tags["stereotype"][0] == occupation


def test_released_output_scores_as_published(mirror: Path) -> None:
    """Table 4, bs=1, MOFC, seed 101: 354 right, 333 wrong, 127 inconclusive of 814."""
    output = next((mirror / RELEASED / "outputs").glob("mofc.seed101*.out"))
    result = gendermark.score("simplegen", {"mofc": output}, "es", rules="paper")
    for metric, count in (("correct", 354), ("incorrect", 333), ("inconclusive", 127)):
        estimate = result.estimate(metric, "mofc")
        assert estimate.value == pytest.approx(100 * count / 814)
        assert estimate.n_total == 814
        assert estimate.n_judged == 354 + 333
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < 100 * count / 814 < estimate.high
    assert {estimate.slice for estimate in result.estimates} == {"mofc"}


@pytest.mark.parametrize("language", ["es", "de"])
def test_our_lexicon_knows_every_published_form(mirror: Path, language: str) -> None:
    """Every form of the released dictionary for the occupations it uses, with its gender, except its own mistakes."""
    mistakes = {
        ("mechanics", "mecánicas"), ("mechanics", "mecánicos"),  # swapped
        ("plumbers", "fontenras"), ("laborers", "trabajadoros"),  # misspelt
        ("engineers", "Ingenieurinnin"),  # misspelt
        ("nanny", "un nana"), ("nanny", "una nana"), ("clerks", "Beamten"), ("clerk", "Beamte"),  # told by the article
    }  # fmt: skip
    singular = {}
    for item in gendermark.items("simplegen", language).items:
        singular[item.tags["entry"]] = item.entity
    path = mirror / RELEASED / "dictionaries" / f"dictionary-en-{language}-new.csv"
    with path.open(encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row[0] in singular]
    assert len(rows) == 36
    finder = bundled_finder(language)
    unknown = [
        (english, form, found)
        for english, *columns in rows
        for gender, forms in zip((Gender.MASCULINE, Gender.FEMININE), columns, strict=True)
        for form in forms.split("|")
        if (english, form) not in mistakes
        and (found := finder.find(form, singular[english])).gender is not gender
        and found.reason != "epicene"
    ]
    assert not unknown


def test_paper_rules_keep_the_published_mistakes(mirror: Path) -> None:
    """ES "mechanics" has its columns swapped; ours must not."""
    items = gendermark.items("simplegen", "es").items
    texts = ["Las mecánicas trabajan." if item.tags["entry"] == "mechanics" else "x" for item in items]
    observed = {}
    for rules in ("paper", "best"):
        judged = gendermark.score("simplegen", texts, "es", FEW, rules=rules).judgements
        observed[rules] = {j.observed for j in judged if j.tags["entry"] == "mechanics"}
    assert observed == {"paper": {Gender.MASCULINE}, "best": {Gender.FEMININE}}


def test_rules_are_shown_side_by_side(mirror: Path) -> None:
    output = next((mirror / RELEASED / "outputs").glob("mofc.seed101*.out"))
    table = gendermark.score("simplegen", {"mofc": output}, "es").table("rules")
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["correct (paper)"], row["incorrect (paper)"], row["inconclusive (paper)"]) == (354, 333, 127)
    assert row["differ"] > 0


# -- the bundled set ----------------------------------------------------------------------------------------------


def test_core_set_is_balanced() -> None:
    items = gendermark.items("simplegen", "es", data="core").items
    assert len({item.tags["template"] for item in items}) >= 30
    assert len({item.entity for item in items}) == 40
    assert len({item.source for item in items}) == len(items)
    sizes = {group: sum(item.tags["group"] == group for item in items) for group in GROUPS}
    assert len(set(sizes.values())) == 1


def test_core_sentences_read_as_english() -> None:
    for item in gendermark.items("simplegen", "es", data="core").items:
        assert "[" not in item.source
        assert item.source[0].isupper()
        assert item.source[-1] in ".?"
        assert not re.search(r"\ba [aeiou]|\ban [^aeiou]", item.source), item.source
        feminine = re.search(
            r"\b(she|her|herself|wom[ae]n|girl|daughter|sisters?|aunt|grandmother)\b", item.source, re.I
        )
        masculine = re.search(r"\b(he|him|his|himself|m[ae]n|boy|son|brothers?|uncle|grandfather)\b", item.source, re.I)
        assert bool(feminine) == (item.expected is Gender.FEMININE), item.source
        assert bool(masculine) == (item.expected is Gender.MASCULINE), item.source


# -- judging ------------------------------------------------------------------------------------------------------


def _judge(text: str, rules: str = "best", language: str = "es", source: str = "physician") -> gendermark.Judgement:
    options = {"data": "core", "rules": rules}
    items = gendermark.items("simplegen", language, parts=("mofc",), **options).items
    texts = [text if item.tags["entry"] == source else "?" for item in items]
    judged = gendermark.score("simplegen", {"mofc": texts}, language, resampling=FEW, **options).judgements
    return next(judgement for judgement, said in zip(judged, texts, strict=True) if said == text)


def test_both_genders_are_inconclusive_under_best_and_masculine_under_paper() -> None:
    text = "El médico y la médica llegaron."
    assert _judge(text).observed is None
    assert _judge(text).reason == "both"
    assert _judge(text, "paper").observed is Gender.MASCULINE


def test_clusters_can_be_chosen() -> None:
    by_occupation = gendermark.score("simplegen", _right("es"), "es", FEW, data="core")
    by_template = gendermark.score("simplegen", _right("es"), "es", FEW, data="core", cluster="template")
    assert by_occupation.estimate("pro").n_groups == 40
    assert by_template.estimate("pro").n_groups == 34
    assert "cluster:template" in by_template.signature


def _right(language: str) -> list[str]:
    item_set = gendermark.items("simplegen", language, data="core")
    return [BENCHMARK.render(item, item.expected or Gender.NEUTRAL, item_set.selection) for item in item_set.items]


def test_one_group_alone_gives_its_numbers_and_no_others() -> None:
    items = gendermark.items("simplegen", "es", data="core", parts=("fofc",)).items
    result = gendermark.score("simplegen", {"fofc": ["enfermera"] * len(items)}, "es", data="core")
    assert [(e.metric, e.slice) for e in result.estimates] == [
        (kind, "fofc") for kind in ("correct", "incorrect", "inconclusive")
    ]
    assert [item.index for item in items] == list(range(len(items)))


def test_pro_and_anti_need_both_their_groups() -> None:
    sizes = {g: len(gendermark.items("simplegen", "es", data="core", parts=(g,)).items) for g in ("fofc", "mofc")}
    result = gendermark.score("simplegen", {g: ["x"] * n for g, n in sizes.items()}, "es", data="core")
    assert {e.metric for e in result.estimates} == {"delta_fc", "correct", "incorrect", "inconclusive"}
    assert {e.slice for e in result.estimates} == {"all", "fc", "fofc", "mofc"}


def test_occupation_table_names_every_occupation_once() -> None:
    table = gendermark.score("simplegen", _right("es"), "es", FEW, data="core").table("occupations")
    names = [row[0] for row in table.rows]
    assert len(names) == 40
    assert all(first < second for first, second in pairwise(names))
    assert all(row[2:4] == (100.0, 100.0) for row in table.rows)
