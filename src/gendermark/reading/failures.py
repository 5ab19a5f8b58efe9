"""Outputs that are no translation at all: missing, empty, the source handed back, or another language."""

from __future__ import annotations

from collections.abc import Container, Sequence

from gendermark.reading.words import cut

MISSING = "missing"
"""Why there is no text: a file had none, and its user allowed that."""
WRONG_LANGUAGE = "wrong-language"
COPIED_SHARE = 0.8
"""From this share of its words on, a text whose words stand in the source is the source, not its translation."""


_FOREIGN = 0.1
"""Below this share of words that any reference of a set has, a text is in another language, or in none."""


def is_foreign(words: Sequence[str], vocabulary: Container[str]) -> bool:
    return len(words) > 3 and sum(word in vocabulary for word in words) < _FOREIGN * len(words)


def failure(source: str, text: str | None) -> str | None:
    """`error`, `empty` or `copied`; None for a text that may be a translation."""
    if text is None:
        return "error"
    words = cut(text)
    if not words:
        return "empty"
    source_words = cut(source)
    # A short text may share a name or a loan word with its source; there only the whole source counts as a copy.
    if len(words) < 4:
        return "copied" if words == source_words else None
    known = set(source_words)
    n_shared = sum(map(known.__contains__, words))
    return "copied" if n_shared >= COPIED_SHARE * len(words) else None
