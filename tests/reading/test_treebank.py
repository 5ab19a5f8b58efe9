"""Our tokens against NLTK's, whose `word_tokenize` the released TGBI code calls."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer

from gendermark.benchmarks.tgbi.judge import token_spans, tokens

# The words the paper's rules look for: what matters is whether each is a token.
WANTED = {"she", "her", "woman", "girl", "he", "him", "man", "guy", "boy"}
_reference = NLTKWordTokenizer()


def _wanted(found: list[str]) -> list[str]:
    return [token for token in found if token in WANTED]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("he's a cook.", ["he", "'s", "a", "cook", "."]),
        ("he's're quick-witted.", ["he's", "'re", "quick-witted", "."]),
        ("she isn't here", ["she", "is", "n't", "here"]),
        ("they'll go, he said!", ["they", "'ll", "go", ",", "he", "said", "!"]),
        ("he/she is a man-eater", ["he/she", "is", "a", "man-eater"]),
        ("(he) is 'he' \"he\"", ["(", "he", ")", "is", "'he", "'", '"', "he", '"']),
        ("he. she", ["he", ".", "she"]),
        ("", []),
    ],
)
def test_tokens(line: str, expected: list[str]) -> None:
    assert tokens(line) == expected


_pieces = st.sampled_from(
    [
        *WANTED,
        "he's",
        "she'd",
        "he'll",
        "they're",
        "isn't",
        "a",
        "nurse",
        "he's're",
        "she've's",
        "man's",
        "boys'",
        "his",
    ]
)
_joints = st.sampled_from([" ", " ", " ", ", ", "; ", "! ", "? ", "-", "/", " (", ") ", " - ", "... ", ": "])


@settings(derandomize=True, max_examples=500)
@given(st.lists(st.tuples(_pieces, _joints), min_size=1, max_size=8), st.sampled_from(["", ".", "!", "..."]))
def test_finds_the_words_nltk_finds(parts: list[tuple[str, str]], end: str) -> None:
    line = "".join(f"{word}{joint}" for word, joint in parts).rstrip() + end
    assert _wanted(tokens(line)) == _wanted(_reference.tokenize(line))
    assert [line[start:end] for start, end in token_spans(line)] == tokens(line)
