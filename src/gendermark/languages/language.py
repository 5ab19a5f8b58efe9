"""The grammar of a language: agreement with nouns, and spelling."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import NamedTuple, TypeVar

from gendermark.reading.words import Place, cut, cut_all

T = TypeVar("T")

_MOST = 100_000


class WordCache(dict[str, T]):
    """Cache a function of a word, as most words recur; a dictionary for fast lookup."""

    def __init__(self, find_out: Callable[[str], T]) -> None:
        super().__init__()
        self._find_out = find_out

    def __missing__(self, word: str) -> T:
        if len(self) >= _MOST:
            self.clear()
        found = self[word] = self._find_out(word)
        return found


Agreement = str
"""The genders a word can agree with: "m", "f", "mf" for a common form, "" for neither."""


def no_adjectives(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    """For languages whose adjectives do not show gender next to a noun, or not by their endings."""
    return None


class Clue(NamedTuple):
    """A word that agrees with a noun, identified by position."""

    at: int
    agreement: Agreement
    n_words: int = 1
    """Several for one clue of several words, such as the two articles of "el o la analista"."""

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
"""Forms of a noun for people: word, gender, and whether it is plural."""


def uninflected(masculine: str, feminine: str) -> RoleForms:
    return [(masculine, "m", False), *([(feminine, "f", False)] if feminine else [])]


def four_forms(*forms: str) -> RoleForms:
    """From masculine and feminine singular, then plural; "" for a form that shows nothing."""
    return [(word, "mf"[n % 2], n > 1) for n, word in enumerate(forms) if word]


@cache
def _normal_forms(normalise: Callable[[str], str]) -> WordCache[str]:
    return WordCache(normalise)


@dataclass(frozen=True)
class Language:
    """One target language.

    `singular` and `plural` map each determiner (article, contracted preposition, demonstrative, possessive, quantifier)
    before a noun of that number to the genders it agrees with. All words are in lower case, as from `words.cut`.
    """

    code: str
    name: str
    singular: Mapping[str, Agreement] = field(default_factory=dict)
    plural: Mapping[str, Agreement] = field(default_factory=dict)
    transparent: frozenset[str] = frozenset()
    """Genderless words that may come between a determiner and its noun ("muy", "very")."""
    adjective: Callable[[str, str], Agreement | None] = no_adjectives
    """(word, "singular" | "plural") -> the genders this adjective form agrees with, None for other words."""
    adjectives_follow: bool = False
    """Whether adjectives may directly follow their noun (Romance, Semitic languages)."""
    prefixes: tuple[str, ...] = ()
    """Clitics attached to the noun (Arabic "وال", Hebrew "ה"), longest first."""
    normalise: Callable[[str], str] = unchanged
    """Applied to every word of text and lexicon before comparison (points, alef variants ...)."""
    clues: Callable[[Sequence[str], int, int, str], Clues] = no_clues
    """Further words agreeing with the noun at words[start:end] that position alone does not identify (verbs ...)."""

    noun: Callable[[str], Agreement | None] = unknown_noun
    """Gender of a noun absent from the lexicon, by its ending; None if unknown."""
    is_thing: Callable[[str], bool] = never
    """Whether a word's ending denotes things only ("-ción")."""
    person_noun: Callable[[str, str], Agreement | None] | None = None
    """(word, "s" | "p" | "") -> gender of a noun that certainly denotes a person, by its ending; default `noun`."""
    person_ending: re.Pattern[str] = re.compile("(?!)")
    """Endings of nouns for people: "-ista", "-tore"."""
    agent_ending: re.Pattern[str] = re.compile("(?!)")
    """Endings of nouns for people that override the tagger: «курильщиц»."""
    case_ending: re.Pattern[str] = re.compile("(?!)")
    """Endings of a noun's cases and numbers, to compare two forms of it."""
    verb_ending: re.Pattern[str] = re.compile("(?!)")
    """Endings of verbs that override the tagger: «попросите»."""
    ambiguous_adjective: re.Pattern[str] = re.compile("(?!)")
    """Singular adjectives for both: "locale"; in Russian, some depend on case: «ночной сторож», «ночной сестрой»."""
    is_nominal: Callable[[str], bool] = never
    """Whether an adjective without a noun denotes a person: «подозреваемый»."""
    bare_epicene: Callable[[str], Agreement | None] = unknown_noun
    """Grammatical gender of a common noun without agreeing words: masculine for «врач», none for "artista"."""
    sexes: Mapping[str, Agreement] = field(default_factory=dict)
    """Words that state the sex beside a noun of fixed gender: "una víctima mujer", "männliche Person"."""
    by_sense: Callable[[Sequence[str], int, int, str], Clues] = no_clues
    """Predicates of a noun of fixed gender at words[start:end] that may follow the sex: «жертва рассказал»."""
    sex_stems: tuple[tuple[str, Agreement], ...] = ()
    """Stems of adjectives that name a sex: "weiblich"."""
    standalone: Mapping[str, Agreement] = field(default_factory=dict)
    """Pronouns with another meaning as determiners: "einer" is a man, "einer Frau" is not."""
    has_animacy: bool = False
    """Whether the tagger distinguishes people and animals from things."""
    hint_sexes: Mapping[str, Agreement] = field(default_factory=dict)
    """Further words for a sex that a hint in the source may leave in a translation."""

    role_forms: Callable[[str, str], RoleForms] = uninflected
    """Forms of a noun for people, from its masculine and feminine; the feminine is "" if regular."""
    plural_endings: tuple[str, ...] = ()
    verb_subject: Callable[[Sequence[str], int, int], str] = no_subject
    """Agreement of the verb words[at] in a clause from `start` on: `person`, `other`, or "" if unknown."""
    has_articles: bool = True
    nouns_are_capitalised: bool = False
    """ "Junge" is a noun, "junge" is not."""
    has_compounds: bool = False
    """Whether compounds are written as one word."""
    head_is_last: bool = False
    """Whether the last part of a compound is its head ("Vizepräsident")."""
    package: str = ""
    """The package with this language's folder (`languages/folders.py`), for languages of other packages."""

    def cut(self, text: str) -> list[str]:
        if self.normalise is unchanged:
            return cut(text)
        return list(map(_normal_forms(self.normalise).__getitem__, cut(text)))

    def cut_all(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        found = cut_all(texts)
        if self.normalise is unchanged:
            return found
        normal = {word: self.normalise(word) for word in set(chain.from_iterable(found))}
        return [tuple(map(normal.__getitem__, words)) for words in found]

    def agreement(self, word: str, numbers: frozenset[str]) -> Agreement | None:
        """The genders that a determiner shows for a noun that may have any of these numbers; None for another word."""
        found = [table[word] for number, table in self._tables if number in numbers and word in table]
        return "".join(sorted(set("".join(found)), reverse=True)) if found else None

    @property
    def _tables(self) -> tuple[tuple[str, Mapping[str, Agreement]], ...]:
        return (("singular", self.singular), ("plural", self.plural))
