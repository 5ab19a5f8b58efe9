"""Words that decide which of two references a translation follows, if they differ in gender alone.

The published rule uses every word specific to one reference. Here the words come from the positions where the
references differ (annotated spans, or their difference); a function word, such as an article, counts only together with
the next word, so that a "la" elsewhere in the sentence decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise

from gendermark.languages.folders import language_of
from gendermark.languages.language import Language
from gendermark.reading.words import Place

_SPAN = re.compile(r"<([FM])>(.*?)</\1>")
_TAG = re.compile(r"</?[FM]>")
# A span may begin or end inside a word (Arabic "و<M>عاد</M>"); compare whole words.
_LETTERS = r"[\w\u0300-\u036f\u064b-\u065f\u0670\u0900-\u094f-]+"
_GLUED_BEFORE = re.compile(rf"({_LETTERS})(<[FM]>)(?=\S)")
_GLUED_BEHIND = re.compile(rf"(?<=\S)(</[FM]>)({_LETTERS})")
_SHORTEST_WORD = 4
"""Minimum letters for a differing word to count alone, if it is no determiner."""

Unit = tuple[str, ...]
"""One word, or two consecutive ones."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Units specific to either reference."""

    right: frozenset[Unit]
    wrong: frozenset[Unit]
    right_words: tuple[str, ...] = field(default=(), compare=False)
    """The whole correct reference, and where the two differ."""
    places: frozenset[int] = field(default=frozenset(), compare=False)
    wrong_words: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of_one(cls, reference: str, code: str) -> Contrast:
        """Of a correct reference alone: no word decides."""
        return cls(frozenset(), frozenset(), tuple(language_of(code).cut(without_tags(reference))))

    @property
    def is_decidable(self) -> bool:
        return bool(self.right) and bool(self.wrong)


def without_tags(text: str) -> str:
    return _TAG.sub("", text)


def contrast(right: str, wrong: str, language: Language) -> Contrast:
    """The deciding units of two references, annotated with `<F>`, `<M>` spans or plain."""
    if _SPAN.search(right) and _SPAN.search(wrong):
        one, other = _marked(right, language), _marked(wrong, language)
    else:
        one, other = _differing(language.cut(without_tags(right)), language.cut(without_tags(wrong)))
    all_right, all_wrong = (set(units_of(language.cut(without_tags(text)))) for text in (right, wrong))
    units = [_units(words, places, language) for words, places in (one, other)]
    deciding = frozenset(units[0] - all_wrong), frozenset(units[1] - all_right)
    return Contrast(*deciding, tuple(one[0]), frozenset(one[1]), tuple(other[0]))


@cache
def contrast_of(right: str, wrong: str, code: str) -> Contrast:
    """The contrast in the language of this code, computed once for each pair of references."""
    return contrast(right, wrong, language_of(code))


def units_of(words: Sequence[str]) -> list[Unit]:
    return [*((word,) for word in words), *pairwise(words)]


def places_of(units: Iterable[Unit], words: Sequence[str]) -> list[Place]:
    wanted = set(units)
    return [
        (start, start + length)
        for length in (1, 2)
        for start in range(len(words) - length + 1)
        if tuple(words[start : start + length]) in wanted
    ]


def _marked(text: str, language: Language) -> tuple[list[str], set[int]]:
    words: list[str] = []
    places: set[int] = set()
    text = _GLUED_BEHIND.sub(r"\2\1", _GLUED_BEFORE.sub(r"\2\1", text))
    for position, piece in enumerate(re.split(r"(<[FM]>.*?</[FM]>)", text)):
        found = language.cut(without_tags(piece))
        if position % 2:
            places.update(range(len(words), len(words) + len(found)))
        words += found
    return words, places


def _differing(one: list[str], other: list[str]) -> tuple[tuple[list[str], set[int]], tuple[list[str], set[int]]]:
    places: tuple[set[int], set[int]] = set(), set()
    for kind, a_start, a_end, b_start, b_end in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind != "equal":
            places[0].update(range(a_start, a_end))
            places[1].update(range(b_start, b_end))
    return (one, places[0]), (other, places[1])


def _units(words: Sequence[str], places: set[int], language: Language) -> set[Unit]:
    units: set[Unit] = set()
    for place in places:
        word = words[place]
        is_function_word = word in language.singular or word in language.plural or len(word) < _SHORTEST_WORD
        if not is_function_word:
            units.add((word,))
        elif place + 1 < len(words):
            units.add((word, words[place + 1]))
        elif place > 0:
            units.add((words[place - 1], word))
    return units
