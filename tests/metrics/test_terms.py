"""Gendered terms in two forms: what holds for any terms and any text, and the format they are written in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gendermark.errors import UserError
from gendermark.metrics.intervals import estimate
from gendermark.metrics.metric import Resampling, count
from gendermark.metrics.terms import (
    Term,
    add_terms,
    count_terms,
    read_terms,
    term_accuracy,
    term_coverage,
)
from gendermark.reading.words import cut
from gendermark.records import Judgement, Verdict

_word = st.text("abcde", min_size=1, max_size=3)
_form = st.lists(_word, min_size=1, max_size=3).map(tuple)
_terms = st.lists(st.builds(Term, _form, _form), max_size=5)


def tallied(words: list[str], terms: list[Term]) -> tuple[float, ...]:
    """How many terms there are, how many are found, and how many in the right form."""
    return tuple(count_terms(words, terms).values())


@given(_terms, st.lists(_word, max_size=12))
def test_counts_are_ordered_and_more_text_never_hides_a_term(terms: list[Term], words: list[str]) -> None:
    n, n_found, n_right = tallied(words, terms)
    assert 0 <= n_right <= n_found <= n == len(terms)
    # A text that repeats itself has everything the text has; "|" is no word, so nothing new stands together.
    assert tallied([*words, "|", *words], terms)[1] >= n_found
    assert tallied([], terms)[1:] == (0, 0)


@given(st.lists(st.integers(0, 99), unique=True, max_size=6), st.data())
def test_every_term_is_found_in_the_form_it_has(numbers: list[int], data: st.DataObject) -> None:
    """Whichever form each has: all are covered, and those in the right form are the right ones."""
    terms = [Term((f"f{n}", "x"), (f"m{n}", "x")) for n in numbers]
    is_right = [data.draw(st.booleans()) for _ in terms]
    words = [
        word for term, right in zip(terms, is_right, strict=True) for word in (term.right if right else term.wrong)
    ]
    assert tallied(words, terms) == (len(terms), len(terms), sum(is_right))
    turned = [Term(term.wrong, term.right) for term in terms]
    assert tallied(words, turned) == (len(terms), len(terms), len(terms) - sum(is_right))


def test_a_word_serves_one_term_only() -> None:
    twice = read_terms("la|el;la|el")
    assert tallied(cut("La casa"), twice) == (2, 1, 1)
    assert tallied(cut("la casa y el perro"), twice) == (2, 2, 1)


def test_the_format() -> None:
    terms = read_terms("la doctora|el doctor; cansada|cansado;l'artista|l'artista;")
    assert terms == [Term(("la", "doctora"), ("el", "doctor")), Term(("cansada",), ("cansado",))]
    assert read_terms("una un;amica amico") == [Term(("una",), ("un",)), Term(("amica",), ("amico",))]
    assert read_terms("") == []
    for wrong in ("doctora", "la doctora el doctor", "doctora|", "a|b|c"):
        with pytest.raises(UserError, match=r"a term is written `right form\|wrong form`, for example .*, not"):
            read_terms(wrong)


def test_the_metrics() -> None:
    """Two sentences with three terms: all of the first are found, one of them right; of the second nothing is."""
    terms = read_terms("la doctora|el doctor;cansada|cansado")
    texts = [("La doctora está cansado.", terms), ("Se ha dormido.", terms[:1])]
    judgements = [
        Judgement(str(n), n, str(n), Verdict.JUDGED, None, None, measures=count_terms(cut(text), own))
        for n, (text, own) in enumerate(texts)
    ]

    def tally(group: object) -> dict[str, float]:
        columns: dict[str, float] = {}
        for judgement in group:  # type: ignore[attr-defined]
            add_terms(columns, "all", judgement.measures)
        return columns

    counts = count(judgements, tally, lambda _: "")
    coverage, accuracy = estimate(counts, [term_coverage(), term_accuracy()], Resampling(100))
    assert (coverage.value, coverage.n_total) == (pytest.approx(200 / 3), 3)
    assert (accuracy.value, accuracy.n_total) == (50.0, 2)
    nothing = count(judgements[1:], tally, lambda _: "")
    assert estimate(nothing, [term_accuracy()], Resampling(100))[0].value is None
