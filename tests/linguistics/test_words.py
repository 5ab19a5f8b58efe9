"""Words are cut alike in every script."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendermark.linguistics.words import cut


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("La médica, dijo.", ["la", "médica", "dijo"]),
        ("L'infermiera e l’avvocato", ["l'", "infermiera", "e", "l'", "avvocato"]),
        ("la 'doctora' llegó", ["la", "doctora", "llegó"]),
        ("чоловік-медсестра", ["чоловік-медсестра"]),
        ("डॉक्टर ने कहा।", ["डॉक्टर", "ने", "कहा"]),
        ("הרופאה אמרה", ["הרופאה", "אמרה"]),
        ("عورت‌ها", ["عورت‌ها"]),
        ("dell’Ärztin!", ["dell'", "ärztin"]),
        ("...", []),
        ("", []),
    ],
)
def test_cut(text: str, expected: list[str]) -> None:
    assert cut(text) == [unicodedata.normalize("NFC", word) for word in expected]


def test_decomposed_letters_are_the_same_words() -> None:
    assert cut(unicodedata.normalize("NFD", "La médica señaló")) == cut("La médica señaló")


@settings(derandomize=True, deadline=None)
@given(st.text(max_size=200))
def test_no_word_is_empty_or_has_space(text: str) -> None:
    for word in cut(text):
        assert word
        assert not any(character.isspace() for character in word)
