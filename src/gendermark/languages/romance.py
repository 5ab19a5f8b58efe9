"""Shared grammar of Spanish, Portuguese, French and Italian.

Articles and most other determiners show gender; adjectives are listed, because endings next to a noun are unreliable
(verbs can end alike: "la analista contrata"). If the determiner leaves gender open, the predicate of a subject that
begins its clause shows it ("su asistente está cansada", "l'analyste est contente"): after the copula, endings are
reliable.

Spanish and Portuguese differ only in words, so their grammar is here, in `Iberian`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gendermark.languages.language import Agreement, Clue, Clues, Language, RoleForms, four_forms
from gendermark.languages.tables import by_gender, record, toml_of

Forms = tuple[str, str, str, str]
"""Of an adjective: masculine and feminine singular, masculine and feminine plural."""

REACH = 12  # words inspected beside the noun


_UNSTRESSED = str.maketrans("áéê", "aee")
_UNACCENTED = str.maketrans("áéíóúê", "aeioue")


def _iberian_forms(adjective: str) -> Forms:
    if adjective.endswith("o"):
        stem = adjective[:-1]
        return adjective, stem + "a", stem + "os", stem + "as"
    stem = adjective.translate(_UNSTRESSED)
    return adjective, stem + "a", stem + "es", stem + "as"


def _iberian_role_forms(masculine: str, feminine: str) -> RoleForms:
    stem = masculine.translate(_UNACCENTED)
    feminine = feminine or (masculine[:-1] + "a" if masculine.endswith("o") else stem + "a")
    plural = masculine + "s" if masculine[-1] in "oae" else stem + "es"
    return four_forms(masculine, feminine, plural, feminine + ("es" if feminine.endswith("z") else "s"))


def adjectives(
    listed: str,
    singular: tuple[str, str],
    plural: tuple[str, str],
    inflected: Callable[[str], Forms] = _iberian_forms,
) -> dict[str, dict[str, Agreement]]:
    """By number, the forms of the listed adjectives, and the masculine and the feminine of further ones."""
    forms = [" ".join(column) for column in zip(*map(inflected, listed.split()), strict=True)]
    return {
        "singular": by_gender(f"{forms[0]} {singular[0]}", f"{forms[1]} {singular[1]}"),
        "plural": by_gender(f"{forms[2]} {plural[0]}", f"{forms[3]} {plural[1]}"),
    }


def begins_clause(words: Sequence[str], place: int, clause_starts: frozenset[str]) -> bool:
    """Whether a phrase there is the first of its clause; the number of a list is none of it ("1. Su asistente ...")."""
    return place <= 0 or words[place - 1] in clause_starts or words[place - 1].isdigit()


def phrase_start(words: Sequence[str], start: int, transparent: frozenset[str]) -> int:
    """Where the word before a noun stands, beyond words without gender; -1 for a noun that begins the text."""
    first = start - 1
    while first > 0 and words[first] in transparent:
        first -= 1
    return first


@dataclass(frozen=True)
class BothArticles:
    """Two articles that contradict each other: "el/la analista", "las y los analistas"."""

    pattern: re.Pattern[str]
    """Ends with the second article."""
    before_second: frozenset[str]
    """What may stand before the second article: the first one, or "or" and "and"."""

    def clues(self, words: Sequence[str], start: int) -> Clues:
        if start < 2 or words[start - 2] not in self.before_second:
            return []
        both = self.pattern.search(" ".join(words[max(start - 3, 0) : start]))
        if both is None:
            return []
        n_words = both[0].count(" ") + 1
        return [Clue(start - n_words, gender, n_words) for gender in "mf"]


@dataclass(frozen=True)
class Copula:
    singular: frozenset[str]
    plural: frozenset[str]
    before: frozenset[str]
    """Words that may stand between subject and copula."""
    after: frozenset[str]
    """Words that may stand between copula and predicate."""

    def behind(self, words: Sequence[str], place: int, number: str) -> int | None:
        """Where the predicate of a subject that ends before `place` begins; None if no copula stands there."""
        place = _beyond(words, place, self.before)
        if place == len(words) or words[place] not in (self.plural if number == "plural" else self.singular):
            return None
        place = _beyond(words, place + 1, self.after)
        return place if place < len(words) else None

    def beyond_phrase(
        self, words: Sequence[str], place: int, preposition: re.Pattern[str], relatives: frozenset[str]
    ) -> int:
        """Behind a short phrase there that belongs to the noun: "(l'analyste) de la banque est contente"."""
        if place < len(words) and preposition.fullmatch(words[place]):
            forms = self.singular | self.plural
            for end in range(place + 2, min(place + 5, len(words))):
                if words[end] in forms and relatives.isdisjoint(words[place:end]):
                    return end
        return place


def _beyond(words: Sequence[str], place: int, passed: frozenset[str]) -> int:
    while place < len(words) and words[place] in passed:
        place += 1
    return place


@dataclass(frozen=True)
class NounEndings:
    """The gender of a noun that the lexicon lacks, by its ending."""

    things: re.Pattern[str]
    """Of things and of no person."""
    untold: re.Pattern[str]
    """Nouns for both sexes, and words that are no nouns."""
    feminine: re.Pattern[str]
    masculine: re.Pattern[str]
    no_nouns: frozenset[str] = frozenset()

    def is_thing(self, word: str) -> bool:
        return self.things.search(word) is not None

    def gender(self, word: str) -> Agreement | None:
        if word in self.no_nouns or self.untold.search(word):
            return None
        return "f" if self.feminine.search(word) else "m" if self.masculine.search(word) else None


_PERSON_ENDING = re.compile(
    r".{2,}(?:[dt]or(?:es|as?)?|istas?|eir[oa]s?|er[oa]s?|[aie]ntes?|an[oa]s?|ês|és|es[ea]s?|ári[oa]s?|ari[oa]s?|ólog[oa]s?)"
)
_SAFE_LENGTH = 7
_PREDICATES = {"singular": re.compile(r"\w{3,}([oa])"), "plural": re.compile(r"\w{3,}([oa])s")}
_NO_PREDICATE = re.compile(r"(?:ndo|\w{3}istas?|cratas?|mi?ento)$")
_BEFORE_RELATIVES = frozenset({"con", "com", "en", "em", "por", "contra", "sobre", "para"})


@dataclass(frozen=True)
class Iberian:
    """The words of Spanish or Portuguese."""

    singular: Mapping[str, Agreement]
    plural: Mapping[str, Agreement]
    transparent: frozenset[str]
    adjectives: Mapping[str, Mapping[str, Agreement]]
    superlative: str
    """Its ending before the vowel of gender. It is of adjectives only, like "-oso", but for rare short verbs."""
    copula: Copula
    clause_starts: frozenset[str]
    both_articles: BothArticles
    nouns: NounEndings
    sexes: Mapping[str, Agreement]
    no_predicates: frozenset[str]
    """Words in -o and -a that may stand behind a copula and are no adjectives of the subject."""
    hint_sexes: Mapping[str, Agreement]
    standalone: Mapping[str, Agreement] = field(default_factory=dict)

    def language(self, code: str, name: str) -> Language:
        return Language(
            code=code,
            name=name,
            singular=self.singular,
            plural=self.plural,
            transparent=self.transparent,
            adjective=self._adjective,
            adjectives_follow=True,
            clues=self._clues,
            noun=self.nouns.gender,
            is_thing=self.nouns.is_thing,
            sexes=self.sexes,
            by_sense=self._by_sense,
            hint_sexes=self.hint_sexes,
            standalone=self.standalone,
            role_forms=_iberian_role_forms,
            person_ending=_PERSON_ENDING,
            plural_endings=("os", "as", "es"),
        )

    def _adjective(self, word: str, number: str) -> Agreement | None:
        if (agreement := self.adjectives[number].get(word)) is not None:
            return agreement
        if len(word) >= _SAFE_LENGTH:
            plural = "s" if number == "plural" else ""
            for vowel, gender in (("o", "m"), ("a", "f")):
                if word.endswith((f"{self.superlative}{vowel}{plural}", f"os{vowel}{plural}")):
                    return gender
        return None

    def _clues(self, words: Sequence[str], start: int, end: int, number: str) -> Clues:
        if both := self.both_articles.clues(words, start):
            return both
        first = phrase_start(words, start, self.transparent)
        told = [table[words[first]] for table in (self.singular, self.plural) if first >= 0 and words[first] in table]
        if told and "mf" not in told:
            return []
        return self._behind_subject(words, first if told else first + 1, end, number)

    def _by_sense(self, words: Sequence[str], start: int, end: int, number: str) -> Clues:
        return self._behind_subject(words, phrase_start(words, start, self.transparent), end, number)

    def _behind_subject(self, words: Sequence[str], first: int, end: int, number: str) -> Clues:
        """The predicate of a noun phrase words[first:end], or of a relative clause right behind it.

        Behind "a" and other words "que" may begin what is said to the person ("le dijo a alguien que estaba ...").
        """
        begins = begins_clause(words, first, self.clause_starts)
        if words[end : end + 1] == ["que"] and (begins or words[first - 1] in _BEFORE_RELATIVES):
            return self._predicate(words[: end + REACH], end + 1, number)
        return self._predicate(words[: end + REACH], end, number) if begins else []

    def _predicate(self, words: Sequence[str], place: int, number: str) -> Clues:
        """The adjective or participle behind a copula, of a subject that ends before `place`."""
        at = self.copula.behind(words, place, number)
        if at is None:
            return []
        if agreement := self._adjective(words[at], number):
            return [Clue(at, agreement)]
        match = _PREDICATES[number].fullmatch(words[at])
        if match is None or words[at] in self.no_predicates or _NO_PREDICATE.search(words[at]):
            return []
        return [Clue(at, "m" if match[1] == "o" else "f")]


def iberian(code: str, name: str) -> Language:
    given = toml_of(code, "grammar.toml")
    listed = given["adjectives"]
    singular, plural = ((listed[number]["m"], listed[number]["f"]) for number in ("singular", "plural"))
    forms = adjectives(listed["regular"], singular, plural)
    return record(Iberian, {**given, "adjectives": forms}).language(code, name)
