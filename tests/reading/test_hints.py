"""Hints in a sentence, and what of them is taken out of a translation again."""

from __future__ import annotations

import pytest

from cases import read_cases
from gendermark.reading.hints import give_hint, remove_hint
from gendermark.reading.people import of_certain_gender, people_in
from gendermark.records import Gender

TAGS = {Gender.FEMININE: "<F>", Gender.MASCULINE: "<M>"}
DOCTOR = "The doctor hurt herself."


@pytest.mark.parametrize(
    ("style", "source", "hinted"),
    read_cases("reading/hints.tsv"),
)
def test_hints_are_english_and_only_for_whom_the_source_tells(style: str, source: str, hinted: str) -> None:
    hint = give_hint(source, of_certain_gender(people_in(source)), style, TAGS)
    assert (hint.text if hint else "-") == hinted


@pytest.mark.parametrize(
    ("style", "language", "answer", "text", "was_there", "is_clean"),
    read_cases("reading/hints_removed.tsv"),
)
def test_what_a_hint_leaves_is_removed_where_it_is_plain(
    style: str, language: str, answer: str, text: str, was_there: str, is_clean: str
) -> None:
    hint = give_hint(DOCTOR, people_in(DOCTOR), style, TAGS)
    assert hint is not None
    cleaned = remove_hint(answer, hint, language)
    assert (cleaned.text, cleaned.was_there, cleaned.is_clean) == (text, was_there == "there", is_clean == "clean")


def test_a_language_that_nobody_reads_keeps_what_is_left() -> None:
    hint = give_hint(DOCTOR, people_in(DOCTOR), "adjective", TAGS)
    assert hint is not None
    assert remove_hint("女性の医者", hint, "").text == "女性の医者"
