"""The reader of sources: every labelled sentence, and no gender where the sentence leaves it open."""

from __future__ import annotations

from pathlib import Path

import pytest

from gendermark import api
from gendermark.linguistics.source_gender import read_source
from gendermark.records import Gender
from gendermark.study.reading import ReaderScore, rate_reader

_LETTERS = {Gender.MASCULINE: "m", Gender.FEMININE: "f", None: "?"}
_LINES = (Path(__file__).parent / "source_people.tsv").read_text(encoding="utf-8").splitlines()
_ROWS = [line.split("\t") for line in _LINES if not line.startswith(("#", "sentence\t"))]


@pytest.mark.parametrize(("sentence", "people"), _ROWS)
def test_everybody_is_given_the_gender_that_the_sentence_tells(sentence: str, people: str) -> None:
    assert "; ".join(f"{one.noun}={_LETTERS[one.gender]}" for one in read_source(sentence)) == people


def test_places_and_numbers_are_those_of_words_between_single_spaces() -> None:
    first, second = read_source("Two female truck drivers met the CEO's brother.")
    assert (first.noun, first.number, first.start, first.end, first.has_sex_word) == (
        "truck driver",
        "plural",
        2,
        4,
        True,
    )
    assert (second.noun, second.is_possessive, second.gender) == ("CEO", True, None)


@pytest.mark.parametrize("text", ["", "   ", "...", "her", "she's", "The", "and and that who", "'s a nurse", "“She,”"])
def test_what_is_hardly_a_sentence_is_read_without_a_word(text: str) -> None:
    assert all(person.gender is None for person in read_source(text))


def test_it_decides_little_and_rightly_on_the_bundled_sets() -> None:
    """Where two people are named and only sense could tell, as in the bundled Winograd sentences, it says nothing."""
    simple, two = (rate_reader(api.items(name, "es", data="core")) for name in ("simplegen", "winomt"))
    assert (simple.n_told, simple.n_decided, simple.n_right) == (2720, 2720, 2720)
    assert (two.n_told, two.n_decided, two.n_open, two.n_open_decided) == (800, 0, 400, 0)
    assert two.right is None
    pairs = rate_reader(api.items("mt-geneval-counterfactual", "es", data="core"))
    assert pairs.n_decided == pairs.n_right == 41


@pytest.mark.usefixtures("mirror")
def test_it_decides_rightly_on_the_official_sets() -> None:
    def rate(benchmark: str) -> ReaderScore:
        return rate_reader(api.items(benchmark, "es", data="official"))

    winomt = rate("winomt")
    assert (winomt.decided or 0) > 34
    assert (winomt.n_right, winomt.n_open_decided) == (winomt.n_decided, 0)
    simplegen = rate("simplegen")
    assert (simplegen.decided or 0) > 91
    assert simplegen.right == 100
