"""The grammar of a language: the words that agree with a noun, and how its words are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, TypeVar

from gendermark.reading.words import Place, cut, cut_all

T = TypeVar("T")

_MOST = 100_000


class WordCache(dict[str, T]):
    """Remember what a function gives for a word, as most words recur; a dictionary, so that looking up is cheap."""

    def __init__(self, find_out: Callable[[str], T]) -> None:
        super().__init__()
        self._find_out = find_out

    def __missing__(self, word: str) -> T:
        if len(self) >= _MOST:
            self.clear()
        found = self[word] = self._find_out(word)
        return found


Agreement = str
"""The genders a word can agree with: "m", "f", "mf" for a form that serves both, "" for one that serves neither."""


def no_adjectives(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    """For languages whose adjectives do not show gender next to a noun, or cannot be told by their endings."""
    return None


class Clue(NamedTuple):
    """A word that agrees with a noun; its place identifies it, so that the same word elsewhere is not meant."""

    at: int
    agreement: Agreement
    n_words: int = 1
    """More than one where several words make one clue: the two articles of "el o la analista"."""

    @property
    def place(self) -> Place:
        return self.at, self.at + self.n_words


Clues = list[Clue]


def no_clues(words: Sequence[str], start: int, end: int, number: str) -> Clues:  # noqa: ARG001
    return []


def unknown_noun(word: str) -> Agreement | None:  # noqa: ARG001
    return None


def no_subject(words: Sequence[str], start: int, at: int) -> str:  # noqa: ARG001
    return ""


def never(word: str) -> bool:  # noqa: ARG001
    return False


def unchanged(word: str) -> str:
    return word


RoleForms = Iterable[tuple[str, Agreement, bool]]
"""Forms of a noun for people: the word, its gender, and whether it is a plural."""


def uninflected(masculine: str, feminine: str) -> RoleForms:
    return [(masculine, "m", False), *([(feminine, "f", False)] if feminine else [])]


def four_forms(*forms: str) -> RoleForms:
    """From the masculine and feminine singular, then the plurals; "" for a form that shows nothing."""
    return [(word, "mf"[n % 2], n > 1) for n, word in enumerate(forms) if word]


@cache
def _normal_forms(normalise: Callable[[str], str]) -> WordCache[str]:
    return WordCache(normalise)


@dataclass(frozen=True)
class Language:
    """One target language.

    `singular` and `plural` map each determiner (article, contracted preposition, demonstrative, possessive,
    quantifier) that stands before a noun of that number to the genders it agrees with. All words in lower case, as
    `words.cut` writes them.
    """

    code: str
    name: str
    singular: Mapping[str, Agreement] = field(default_factory=dict)
    plural: Mapping[str, Agreement] = field(default_factory=dict)
    transparent: frozenset[str] = frozenset()
    """Words without gender that may stand between a determiner and its noun ("muy", "very")."""
    adjective: Callable[[str, str], Agreement | None] = no_adjectives
    """(word, "singular" | "plural") -> the genders this adjective form agrees with, None if it is not one."""
    adjectives_follow: bool = False
    """Whether an adjective may stand right behind its noun (Romance, Semitic languages)."""
    prefixes: tuple[str, ...] = ()
    """Clitics written together with the noun (Arabic "وال", Hebrew "ה"), longest first."""
    normalise: Callable[[str], str] = unchanged
    """Applied to every word of text and lexicon before they are compared (points, alef variants ...)."""
    clues: Callable[[Sequence[str], int, int, str], Clues] = no_clues
    """Further agreeing words of the noun at words[start:end] that position alone cannot find (verbs ...)."""

    noun: Callable[[str], Agreement | None] = unknown_noun
    """The gender of a noun that no lexicon has, by its ending; None where endings do not tell."""
    is_thing: Callable[[str], bool] = never
    """Whether a word's ending is of things only ("-ción"): such a noun in the place of a person is no person."""
    person_noun: Callable[[str, str], Agreement | None] | None = None
    """(word, "s" | "p" | "") -> the gender of a noun that surely names a person, by its ending; `noun` where None."""
    person_ending: re.Pattern[str] = re.compile("(?!)")
    """Nouns that name people by their endings: "-ista", "-tore"."""
    agent_ending: re.Pattern[str] = re.compile("(?!)")
    """Nouns that name people by their endings, and are no other word whatever the tagger says: «курильщиц»."""
    verb_ending: re.Pattern[str] = re.compile("(?!)")
    """Endings that only verbs have, whatever the tagger says: «попросите»."""
    ambiguous_adjective: re.Pattern[str] = re.compile("(?!)")
    """Adjectives that are feminine or masculine by their case: «ночной сторож», «ночной медсестрой»."""
    is_nominal: Callable[[str], bool] = never
    """Whether an adjective without a noun names a person: «подозреваемый»."""
    bare_epicene: Callable[[str], Agreement | None] = unknown_noun
    """The grammatical gender of a noun that can name both sexes, where no word agrees with it: masculine for «врач»,
    none for "artista"."""
    sexes: Mapping[str, Agreement] = field(default_factory=dict)
    """Words that say the sex outright, beside a noun whose gender does not: "una víctima mujer", "männliche Person"."""
    by_sense: Callable[[Sequence[str], int, int, str], Clues] = no_clues
    """Predicates of a noun of fixed gender at words[start:end], which may follow the sex: «жертва рассказал»."""
    sex_stems: tuple[tuple[str, Agreement], ...] = ()
    """Beginnings of adjectives that name a sex: "weiblich"."""
    standalone: Mapping[str, Agreement] = field(default_factory=dict)
    """Pronouns that mean something else as determiners: "einer" is a man, "einer Frau" is not."""
    has_animacy: bool = False
    """Whether the tagger tells people and animals from things."""
    hint_sexes: Mapping[str, Agreement] = field(default_factory=dict)
    """Further words for a sex that a hint in the source may leave in a translation."""

    role_forms: Callable[[str, str], RoleForms] = uninflected
    """The forms of a noun for people, from its masculine and feminine; the feminine is "" where it is regular."""
    plural_endings: tuple[str, ...] = ()
    verb_subject: Callable[[Sequence[str], int, int], str] = no_subject
    """What the verb words[at] of a clause from `start` on agrees with: `person`, `other`, or "" where unknown."""
    has_articles: bool = True
    nouns_are_capitalised: bool = False
    """ "Junge" is a noun, "junge" is not."""
    has_compounds: bool = False
    """Whether nouns are written together."""
    head_is_last: bool = False
    """Whether the last part of a compound is its noun ("Vizepräsident")."""
    package: str = ""
    """The package that is the folder of this language (`languages/folders.py`), for languages of other packages."""

    def cut(self, text: str) -> list[str]:
        if self.normalise is unchanged:
            return cut(text)
        return list(map(_normal_forms(self.normalise).__getitem__, cut(text)))

    def cut_all(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """The words of each of many short texts without line breaks."""
        found = cut_all(texts)
        if self.normalise is unchanged:
            return found
        normal = _normal_forms(self.normalise)
        return [tuple([normal[word] for word in words]) for words in found]

    def agreement(self, word: str, numbers: frozenset[str]) -> Agreement | None:
        """What a determiner tells about a noun that may be of any of these numbers; None for another word."""
        found = [table[word] for number, table in self._tables if number in numbers and word in table]
        return "".join(sorted(set("".join(found)), reverse=True)) if found else None

    @property
    def _tables(self) -> tuple[tuple[str, Mapping[str, Agreement]], ...]:
        return (("singular", self.singular), ("plural", self.plural))
