"""Which words decide: where the references differ, whole words, and never an article by itself."""

from __future__ import annotations

import pytest

from cases import read_cases
from gendermark import registry
from gendermark.languages.language import Language
from gendermark.reading.contrast import Contrast, Unit, contrast, places_of, units_of, without_tags

TOY = Language("xx", "Toy", singular={"la": "f", "el": "m"})


def _outcome(found: Contrast, text: str, language: Language) -> str:
    units = set(units_of(language.cut(text)))
    right, wrong = bool(found.right & units), bool(found.wrong & units)
    return {(True, False): "right", (False, True): "wrong", (True, True): "mixed"}.get((right, wrong), "undecided")


def _words(units: frozenset[Unit]) -> set[str]:
    return {" ".join(unit) for unit in units}


def test_article_elsewhere_does_not_decide() -> None:
    found = contrast("<F>la</F> artista vio el mar", "<M>el</M> artista vio el mar", TOY)
    assert _words(found.right) == {"la artista"}
    assert _words(found.wrong) == {"el artista"}
    assert _outcome(found, "la artista vio el mar", TOY) == "right"
    assert _outcome(found, "el artista vio la playa", TOY) == "wrong"
    assert _outcome(found, "un artista vio la playa", TOY) == "undecided"
    assert _outcome(found, "el mar", TOY) == "undecided"


def test_word_of_both_references_does_not_decide() -> None:
    found = contrast("<F>la hermana</F> de el doctor", "<M>el doctor</M> de el doctor", TOY)
    assert _words(found.right) == {"la hermana", "hermana"}
    assert _words(found.wrong) == set()
    assert not found.is_decidable


def test_article_at_the_end_counts_with_the_word_before() -> None:
    found = contrast("vio la", "vio el", TOY)
    assert (_words(found.right), _words(found.wrong)) == ({"vio la"}, {"vio el"})
    assert contrast("la", "el", TOY) == Contrast(frozenset(), frozenset())


def test_plain_references_are_compared_word_by_word() -> None:
    annotated = contrast("ayer <F>la doctora cansada</F> habló", "ayer <M>el doctor cansado</M> habló", TOY)
    plain = contrast("ayer la doctora cansada habló", "ayer el doctor cansado habló", TOY)
    assert plain == annotated
    # One side alone annotated: the difference counts, not the span.
    assert contrast("ayer <F>la doctora</F> cansada habló", "ayer el doctor cansado habló", TOY) == plain


def test_equal_references_decide_nothing() -> None:
    assert not contrast("la casa roja", "la casa roja", TOY).is_decidable
    assert not contrast("la <F>casa</F> roja", "la <M>casa</M> roja", TOY).is_decidable
    assert not contrast("", "", TOY).is_decidable


def test_swapping_the_references_swaps_the_sides() -> None:
    one, other = "<F>la doctora</F> vio el mar", "<M>el doctor</M> vio el mar"
    found, swapped = contrast(one, other, TOY), contrast(other, one, TOY)
    assert (found.right, found.wrong) == (swapped.wrong, swapped.right)


@pytest.mark.parametrize(
    ("code", "right", "wrong", "expected_right", "expected_wrong"),
    read_cases("reading/contrast.tsv"),
)
def test_languages(code: str, right: str, wrong: str, expected_right: str, expected_wrong: str) -> None:
    language: Language = registry.load("language", code)
    found = contrast(right, wrong, language)

    def normal(texts: str) -> set[str]:
        return {" ".join(language.cut(text)) for text in texts.split(" | ")}

    assert _words(found.right) == normal(expected_right)
    if expected_wrong:
        assert _words(found.wrong) == normal(expected_wrong)
    assert _outcome(found, without_tags(right), language) == "right"
    assert _outcome(found, without_tags(wrong), language) == "wrong"


def test_span_that_begins_with_a_space_keeps_its_neighbour_out() -> None:
    found = contrast("Eva<F> cansada</F> habló", "Eva<M> cansado</M> habló", TOY)
    assert (_words(found.right), _words(found.wrong)) == ({"cansada"}, {"cansado"})


def test_without_tags() -> None:
    assert without_tags("l'<F>actrice</F> a <b>vu</b>") == "l'actrice a <b>vu</b>"


def test_places_of_units() -> None:
    words = ["la", "artista", "vio", "a", "la", "otra", "artista", "la", "artista"]
    assert places_of([("la", "artista"), ("otra",), ("mar",)], words) == [(5, 6), (0, 2), (7, 9)]
    for unit in units_of(words):
        assert {tuple(words[start:end]) for start, end in places_of([unit], words)} == {unit}
