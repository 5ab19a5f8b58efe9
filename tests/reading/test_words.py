"""Words are cut alike in every script."""

from __future__ import annotations

import csv
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendermark import registry
from gendermark.reading.words import cut, lowered_spans, spans_of, split_spans, word_spans

EXAMPLES = Path(__file__).parent / "examples"


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


@settings(derandomize=True)
@given(st.text(max_size=200))
def test_no_word_is_empty_or_has_space(text: str) -> None:
    for word in cut(text):
        assert word
        assert not any(character.isspace() for character in word)


# -- where words stand --------------------------------------------------------------------------------------------

# Letters that change their number when they are normalised or made small, and the marks and signs of our scripts.
_ODD = (
    "aEéÉñßİı"
    "\u0301\u0327\u0308אשׁ\u05b0\u05c1عةً\ufe94क़ख\u093c\u093eΣσάж각\u1100\u1161\u11a8ĳﬁ\u0f71\u0f72\u0e48"
    "'’ -/(*).:1\n\u200c"
)
_texts = st.one_of(st.text(max_size=60), st.text(alphabet=_ODD, max_size=30))


@settings(derandomize=True, max_examples=500)
@given(_texts)
def test_every_word_has_a_span_of_its_own(text: str) -> None:
    words, spans = cut(text), word_spans(text)
    assert len(spans) == len(words)
    ends = 0
    for start, end in spans:
        assert ends <= start < end <= len(text)
        ends = end


def _alike(word: str) -> str:
    """But for what depends on the letters around: an elision's apostrophe, the sigma at a word's end."""
    return word.rstrip("'").replace("ς", "σ")


@pytest.mark.parametrize("code", registry.names("language"))
def test_a_span_holds_its_word(code: str) -> None:
    """In real sentences, composed, decomposed, in capitals: what a span holds is cut to the same word again."""
    language = registry.load("language", code)
    with (EXAMPLES / f"{code}.tsv").open(encoding="utf-8", newline="") as file:
        written = [row["sentence"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    for sentence in written:
        for text in (sentence, unicodedata.normalize("NFD", sentence), sentence.upper(), f"İ\u0301 {sentence}"):
            words, spans = language.cut(text), word_spans(text)
            assert len(spans) == len(words)
            for word, (start, end) in zip(words, spans, strict=True):
                assert [_alike(each) for each in language.cut(text[start:end])] == [_alike(word)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("La 'doctora' llegó", ["La", "doctora", "llegó"]),
        ("L’infermiera e l'avvocato.", ["L’", "infermiera", "e", "l'", "avvocato"]),
        ("El cajero/a, (el) empleado(a)", ["El", "cajero/a", "el", "empleado(a)"]),
        ("n\u0303 e\u0301e\u0301 a", ["n\u0303", "e\u0301e\u0301", "a"]),
        ("İİ a", ["İİ", "a"]),
        ("Die A\u0308rztin kam", ["Die", "A\u0308rztin", "kam"]),
        ("फ़ोन ने", ["फ़ोन", "ने"]),
        ("שׁלום רב", ["שׁלום", "רב"]),
        ("العَرَبِيَّةُ لغة", ["العَرَبِيَّةُ", "لغة"]),
    ],
)
def test_words_as_written(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in word_spans(text)] == expected


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([], []),
        ([(2, 3), (0, 1)], ["uno", "tres"]),
        ([(1, 3), (1, 3)], ["dos, tres"]),
        ([(0, 2), (1, 3)], ["uno  dos, tres"]),
        ([(0, 3), (1, 2)], ["uno  dos, tres"]),
        ([(0, 1), (1, 2)], ["uno", "dos"]),
    ],
)
def test_spans_of_places(places: list[tuple[int, int]], expected: list[str]) -> None:
    text = "uno  dos, tres."
    assert [text[start:end] for start, end in spans_of(text, places)] == expected


@settings(derandomize=True)
@given(_texts)
def test_spans_of_written_words(text: str) -> None:
    assert [text[start:end] for start, end in split_spans(text)] == text.split()


@settings(derandomize=True)
@given(_texts)
def test_what_was_found_in_small_letters_is_found_as_written(text: str) -> None:
    spans = split_spans(text.lower())
    assert [text[start:end] for start, end in lowered_spans(text, spans)] == text.split()


@pytest.mark.parametrize("code", ["he", "ar", "ru", "es"])
def test_a_text_is_cut_the_same_with_its_cache(code: str) -> None:
    language = registry.load("language", code)
    for text in ("הָרוֹפֵא אמר", "أَحمد والطبيبة", "Ёлка врача", "L'artista, él/ella"):
        assert language.cut(text) == [language.normalise(word) for word in cut(text)]
        assert language.cut(text) == language.cut(text)
