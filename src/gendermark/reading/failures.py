"""Outputs that are no translation at all: missing, empty, the source handed back, or another language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence

from gendermark.reading.words import cut
from gendermark.records import Item

MISSING = "missing"
"""Why there is no text: a file had none, and its user allowed that."""
WRONG_LANGUAGE = "wrong-language"
REPEATED = "repeated"
_MOST_SENTENCES, _FEWEST_WORDS = 10, 5
"""Different sentences, and groups of them, that may share one translation, and its words: sentences of a group may mean
the same (in TGBI, MiTTenS), some sets have a few that do, and controls give many the same word."""
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


def repeated(items: Sequence[Item], texts: Iterable[str | None]) -> set[str]:
    """The texts that stand for so many different sentences, of so many groups, that they translate none of them."""
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
