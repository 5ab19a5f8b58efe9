"""Outputs that are no translation: missing, empty, a copy of the source, or another language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence

from gendermark.reading.words import cut
from gendermark.records import Item

MISSING = "missing"
"""Reason for a missing text: absent from a file, which its user allowed."""
WRONG_LANGUAGE = "wrong-language"
REPEATED = "repeated"
_MOST_SENTENCES, _FEWEST_WORDS = 10, 5
"""Limits of different sentences, and groups of them, that may share one translation, and of its words: sentences of
a group may mean the same (in TGBI, MiTTenS), some sets have a few that do, and controls repeat themselves."""
COPIED_SHARE = 0.8
"""A text with this share of its words in the source is a copy."""


_FOREIGN = 0.1
"""A text with a smaller share of words from any reference of a set is in another language, or in none."""


def is_foreign(words: Sequence[str], vocabulary: Container[str]) -> bool:
    return len(words) > 3 and sum(word in vocabulary for word in words) < _FOREIGN * len(words)


def failure(source: str, text: str | None) -> str | None:
    """`error`, `empty` or `copied`; None for a possible translation."""
    if text is None:
        return "error"
    words = cut(text)
    if not words:
        return "empty"
    source_words = cut(source)
    # A short text may share a name or loan word with its source: only the whole source counts as a copy.
    if len(words) < 4:
        return "copied" if words == source_words else None
    known = set(source_words)
    n_shared = sum(map(known.__contains__, words))
    return "copied" if n_shared >= COPIED_SHARE * len(words) else None


def repeated(items: Sequence[Item], texts: Iterable[str | None]) -> set[str]:
    """Texts shared by so many different sentences and groups that they translate none of them."""
    items_of: dict[str, list[Item]] = defaultdict(list)
    for item, text in zip(items, texts, strict=True):
        if text:
            items_of[text].append(item)
    most_groups = min(_MOST_SENTENCES, len({item.group_id for item in items}) // 2)
    return {
        text
        for text, found in items_of.items()
        if len({item.source for item in found}) > _MOST_SENTENCES
        and len({item.group_id for item in found}) > most_groups
        and len(cut(text)) >= _FEWEST_WORDS
    }
