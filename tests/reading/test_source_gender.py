"""The reader of sources: every labelled sentence, and no gender where the sentence leaves it open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from gendermark import api
from gendermark.lab.mitigate import rate_reader
from gendermark.reading.nouns import singular
from gendermark.reading.people import of_certain_gender, people_in
from gendermark.records import Gender

_LETTERS = {Gender.MASCULINE: "m", Gender.FEMININE: "f", None: "?"}
_LINES = (Path(__file__).parent / "source_people.tsv").read_text(encoding="utf-8").splitlines()
_ROWS = [line.split("\t") for line in _LINES if not line.startswith(("#", "sentence\t"))]


@pytest.mark.parametrize(("sentence", "people"), _ROWS)
def test_everybody_is_given_the_gender_that_the_sentence_tells(sentence: str, people: str) -> None:
    found = of_certain_gender(people_in(sentence))
    nouns = sorted((span, one.gender) for one in found for span in one.nouns)
    said = [(singular(sentence[start:end].lower().split()[-1]), gender) for (start, end), gender in nouns]
    assert "; ".join(f"{noun}={_LETTERS[gender]}" for noun, gender in said) == people.lower()


@pytest.mark.parametrize("text", ["", "   ", "...", "her", "she's", "The", "and and that who", "'s a nurse", "“She,”"])
def test_what_is_hardly_a_sentence_is_read_without_a_word(text: str) -> None:
    assert not any(person.nouns and person.gender for person in of_certain_gender(people_in(text)))


def rate(benchmark: str, data: str, step: int = 1) -> SimpleNamespace:
    item_set = api.items(benchmark, "es", data=data)
    return SimpleNamespace(**rate_reader(replace(item_set, items=item_set.items[::step])))


def test_it_decides_little_and_rightly_on_the_bundled_sets() -> None:
    """Where two people are named and only sense could tell, as in the bundled Winograd sentences, it says nothing."""
    simple, two = rate("simplegen", "core", 7), rate("winomt", "core", 7)
    assert simple.n_decided == simple.n_right > 0.9 * simple.n_told > 300
    assert (two.n_right, two.n_open_decided) == (two.n_decided, 0)
    assert two.n_open > 50
    pairs = rate("mt-geneval-counterfactual", "core")
    assert pairs.n_decided == pairs.n_right > 41


@pytest.mark.usefixtures("mirror")
def test_it_decides_rightly_on_the_official_sets() -> None:
    winomt, simplegen = rate("winomt", "official", 5), rate("simplegen", "official", 5)
    assert (winomt.decided_percent or 0) > 28
    assert (winomt.n_right, winomt.n_open_decided) == (winomt.n_decided, 0)
    assert (simplegen.decided_percent or 0) > 88
    assert simplegen.right_percent == 100
