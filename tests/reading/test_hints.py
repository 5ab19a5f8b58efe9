"""Hints in a sentence, and what of them is taken out of a translation again."""

from __future__ import annotations

import pytest

from gendermark.reading.hints import give_hint, remove_hint
from gendermark.reading.occupations import bundled_finder
from gendermark.reading.source_gender import read_source
from gendermark.records import Gender

TAGS = {Gender.FEMININE: "<F>", Gender.MASCULINE: "<M>"}
DOCTOR = "The doctor hurt herself."


@pytest.mark.parametrize(
    ("style", "source", "hinted"),
    [
        ("adjective", DOCTOR, "The female doctor hurt herself."),
        ("adjective", "My uncle was an engineer.", "My uncle was a male engineer."),
        ("adjective", "Nurses and doctors are women.", "Female nurses and female doctors are women."),
        ("adjective", "The female doctor hurt herself.", None),
        ("adjective", "The doctor waved.", None),
        ("adjective", "The guard met the cook and paid her.", "The guard met the female cook and paid her."),
        ("apposition", DOCTOR, "The doctor, a woman, hurt herself."),
        ("apposition", "She is a doctor.", "She is a doctor, a woman."),
        ("apposition", "Those women are doctors, too.", "Those women are doctors, women, too."),
        ("apposition", "I found the doctor's car, and she thanked me.", None),
        ("context", DOCTOR, f"The doctor is a woman. {DOCTOR}"),
        ("context", "He is the CEO.", "The CEO is a man. He is the CEO."),
        ("context", "The men are truck drivers.", "The truck drivers are men. The men are truck drivers."),
        ("tag", DOCTOR, f"<F> {DOCTOR}"),
        ("tag", "The female nurse met the male cook.", None),
        ("prompt", DOCTOR, DOCTOR),
    ],
)  # fmt: skip
def test_hints_are_english_and_only_for_whom_the_source_tells(style: str, source: str, hinted: str | None) -> None:
    hint = give_hint(source, read_source(source), style, TAGS)
    assert (hint.text if hint else None) == hinted


@pytest.mark.parametrize(
    ("style", "language", "answer", "text", "was_there", "is_clean"),
    [
        ("adjective", "es", "La doctora femenina se hirió.", "La doctora se hirió.", True, True),
        ("adjective", "es", "La mujer doctora se hirió.", "La doctora se hirió.", True, True),
        ("adjective", "es", "La doctora se hirió.", "La doctora se hirió.", False, True),
        ("adjective", "es", "El doctor mujer se hirió.", "El doctor mujer se hirió.", True, False),
        ("adjective", "de", "Weibliche Ärztin verletzte sich.", "Ärztin verletzte sich.", True, True),
        ("adjective", "it", "La dottoressa femmina si è ferita.", "La dottoressa si è ferita.", True, True),
        ("apposition", "es", "La doctora, una mujer, se hirió.", "La doctora se hirió.", True, True),
        ("apposition", "es", "Se hirió la doctora, mujer.", "Se hirió la doctora.", True, True),
        ("apposition", "es", "La doctora, una mujer alta, vino.", "La doctora, una mujer alta, vino.", False, True),
        ("apposition", "de", "Die Ärztin, eine Frau, verletzte sich.", "Die Ärztin verletzte sich.", True, True),
        ("context", "es", "La doctora es mujer. La doctora se hirió.", "La doctora se hirió.", True, True),
        ("context", "es", "La doctora se hirió", "La doctora se hirió", True, False),
        ("tag", "es", "<F> La doctora se hirió.", "La doctora se hirió.", True, True),
        ("prompt", "es", "La doctora se hirió.", "La doctora se hirió.", False, True),
    ],
)  # fmt: skip
def test_what_a_hint_leaves_is_removed_where_it_is_plain(
    style: str, language: str, answer: str, text: str, was_there: bool, is_clean: bool
) -> None:
    hint = give_hint(DOCTOR, read_source(DOCTOR), style, TAGS)
    assert hint is not None
    cleaned = remove_hint(answer, hint, bundled_finder(language))
    assert (cleaned.text, cleaned.was_there, cleaned.is_clean) == (text, was_there, is_clean)


def test_a_language_that_nobody_reads_keeps_what_is_left() -> None:
    hint = give_hint(DOCTOR, read_source(DOCTOR), "adjective", TAGS)
    assert hint is not None
    assert remove_hint("女性の医者", hint, None).text == "女性の医者"
