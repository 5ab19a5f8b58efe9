"""One translation held against its source and its two references: what is shared, what corresponds, what is a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property

from gendermark.linguistics.contrast import Contrast
from gendermark.linguistics.gendered import GenderedWords
from gendermark.linguistics.language import Language
from gendermark.linguistics.marks import Marks
from gendermark.linguistics.words import Span, word_spans
from gendermark.records import Gender

_LETTERS = {Gender.MASCULINE: "m", Gender.FEMININE: "f"}
_BREAKS = frozenset(',;:.!?()[]–—«»"“”„،؛')
_RENDERING = 0.1
"""Below this share of words in common, only words of the references are believed; in real systems' it is above 0.2."""
_NEAR = 2
"""Words around a place where the references differ that are still of it."""


@dataclass(frozen=True)
class Sentence:
    """One translation, what it is a translation of, and the references it is held against."""

    text: str
    source: str
    marks: Marks
    expected: str
    """ "m", "f", or "" where it is not known: then only the words of the references tell."""
    contrast: Contrast
    language: Language
    lists: GenderedWords
    words: list[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", self.language.cut(self.text))

    @cached_property
    def spans(self) -> list[Span]:
        return word_spans(self.text)

    @cached_property
    def shared(self) -> frozenset[str]:
        return frozenset(self.contrast.right_words) & frozenset(self.contrast.wrong_words)

    @cached_property
    def near(self) -> frozenset[int]:
        """The places of the translation that correspond to those where the references differ.

        Words that the translation shares with a reference are anchors; what lies between two of them corresponds.
        """
        reference, differing = self.contrast.right_words, self.contrast.places
        found: set[int] = set()
        blocks = SequenceMatcher(None, reference, self.words, autojunk=False).get_opcodes()
        for _, first, last, start, end in blocks:
            if any(place in differing for place in range(first - _NEAR, last + _NEAR)):
                if last - first == end - start:
                    pairs = zip(range(first, last), range(start, end), strict=True)
                    close = {at for place, at in pairs if any(place + n in differing for n in range(-_NEAR, _NEAR + 1))}
                    found |= close
                else:
                    found.update(range(start, end))
        return frozenset(found)

    @cached_property
    def counterparts(self) -> dict[str, str]:
        """Of a word that differs in the wrong reference, the word that the right one has in its place."""
        right, wrong = self.contrast.right_words, self.contrast.wrong_words
        found: dict[str, str] = {}
        for kind, first, last, start, end in SequenceMatcher(None, right, wrong, autojunk=False).get_opcodes():
            if kind == "replace" and last - first == end - start:
                found |= zip(wrong[start:end], right[first:last], strict=True)
        return found

    @cached_property
    def names(self) -> frozenset[str]:
        """Words with a capital that the source has too: names, and titles left in English."""
        written = {word.strip("'’s,.;:()\"“”") for word in self.source.split()[1:] if word[:1].isupper()}
        return frozenset(word.lower() for word in written)

    def is_capital(self, at: int) -> bool:
        return self.text[self.spans[at][0]].isupper()

    def is_name(self, at: int) -> bool:
        word = self.words[at]
        return word in self.names and word not in self.lists.titles and self.is_capital(at)

    def is_noun(self, at: int) -> bool:
        """German writes its nouns with a capital: "Junge" is one, "junge" is not."""
        return self.language.code != "de" or self.is_capital(at)

    def is_surplus(self, word: str) -> bool:
        """Whether the translation has a word more often than both references do."""
        contrast = self.contrast
        return self.words.count(word) > min(contrast.right_words.count(word), contrast.wrong_words.count(word))

    def begins_clause(self, at: int) -> bool:
        if at == 0:
            return True
        between = self.text[self.spans[at - 1][1] : self.spans[at][0]]
        return not _BREAKS.isdisjoint(between)

    @cached_property
    def is_rendering(self) -> bool:
        """Whether the text has enough of a reference's words to be read as a translation of this sentence at all."""
        words = set(self.words)
        return len(words & set(self.contrast.right_words)) >= _RENDERING * len(words)

    @property
    def speaks_of_one(self) -> bool:
        """Whether all people whose gender the source marks are named one by one."""
        return bool(self.marks.singular) and not self.marks.plural


def letter_of(gender: Gender | None) -> str:
    return _LETTERS.get(gender, "") if gender else ""


def has_phrase(words: Sequence[str], phrase: Sequence[str]) -> bool:
    return any(tuple(words[n : n + len(phrase)]) == tuple(phrase) for n in range(len(words) - len(phrase) + 1))


def gender_of_references(contrast: Contrast, lists: GenderedWords) -> str:
    """The gender of the right reference, by the words that only it has and those that only the other has."""
    balance = 0
    for units, sign in ((contrast.right, 1), (contrast.wrong, -1)):
        for unit in units:
            told = _gender_of_unit(unit, lists)
            balance += sign * (told == "f") - sign * (told == "m")
    return "f" if balance > 0 else "m" if balance < 0 else ""


def _gender_of_unit(unit: Sequence[str], lists: GenderedWords) -> str | None:
    for word in unit:
        if word in lists.told:
            return lists.told[word].gender
    if len(unit) > 1:
        return lists.articles.get(unit[0])
    return lists.participle(unit[0]) or ("m" if unit[0] in lists.habit else None)
