"""What Russian and Ukrainian have in common: words that agree with the name of an occupation.

Most such names are grammatically masculine and serve both sexes («врач», «шериф»). Then only agreeing words tell: «эта
врач», «врач сказала», «врач, которая». Three facts shape this file.

- An attribute agrees in case too, and the oblique forms of «этот» are also free pronouns («после этого врач ушла»).
  So an attribute counts only before a noun form of its own case.
- Masculine is the default of attributes, whereas the predicate follows the sex («мой врач сказала» is about a woman).
  So a masculine attribute yields to a feminine predicate.
- The verb counts only with a noun in the nominative, right behind it or behind a short complement («менеджер отдела
  сказала»); past tense and short adjectives show gender, the present does not. Plurals show none.

For the first two reasons `clues` finds the masculine attributes and all adjectives; a language's `singular` lists the
feminine determiners only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gendermark.languages.language import Agreement, Clue, Clues, Language
from gendermark.languages.tables import gender_by_ending, record, toml_of, word_tuple

_NOTHING = re.compile(r"(?!)")
_IN_WHICH = re.compile(r"во? \w+(?:ой|ом)|[ву] \w+(?:ій|ому|ім)")
"""«в которой» is of things: «(предложил) консультацию персоналу, в которой (нуждался)»."""


@dataclass(frozen=True)
class Grammar:
    """The words and endings of one language. Patterns match whole words unless they are called an ending."""

    # Nouns
    vowels: str
    feminine_noun: re.Pattern[str]
    """The ending of a feminine noun, by its suffix and case."""
    nominatives: frozenset[str]
    """Nominatives that do not end as those of masculine nouns do."""
    oblique: tuple[str, ...]
    """Endings in a consonant that are no nominatives."""
    genitives: tuple[str, ...]
    """Endings of the genitive singular."""
    adjectival: re.Pattern[str]
    """The ending of an adjective that begins a phrase: «медицинская сестра» has its head behind."""
    instrumentals: tuple[str, ...]
    """Endings of the instrumental of a noun that declines as an adjective; alike, the dative plural."""

    # Attributes
    masculine: frozenset[str]
    feminine: frozenset[str]
    transparent: frozenset[str]
    no_attributes: frozenset[str]
    """Words that end like a masculine attribute and are none."""
    masculine_endings: tuple[str, ...]
    feminine_nominative: re.Pattern[str]
    feminine_oblique: re.Pattern[str]
    """An attribute in the case of a masculine noun in -а or -я: «новую врача», «нової шерифа»."""
    cases: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """The endings of an oblique masculine attribute, and those of the nouns it can stand before."""
    walkable: re.Pattern[str]
    """Adjectives that may stand between a determiner and its noun."""
    genitive_attributes: tuple[str, ...]
    attribute_endings: tuple[str, ...]
    one_of: Mapping[str, Agreement]
    out_of: frozenset[str]
    """«одна из врачей»."""

    # Predicates
    prepositions: frozenset[str]
    with_instrumental: frozenset[str]
    no_subject: frozenset[str]
    how: str
    before_how: re.Pattern[str]
    """What makes "how" a conjunction: «видел, как врач ушла», unlike «как врач, она ушла»."""
    and_: str
    this: str
    was: Mapping[str, Agreement]
    breaks: frozenset[str]
    between: frozenset[str]
    predicates: Mapping[str, Agreement]
    past: re.Pattern[str]
    noun_stems: frozenset[str]
    """Nouns that look like past tenses, without -а: «отдела»."""
    speech: re.Pattern[str]
    complement: re.Pattern[str]
    """The ending of a genitive or a name between subject and verb."""
    relatives: Mapping[str, Agreement]

    openers: frozenset[str]
    """Words that begin a clause whose subject may stand behind the verb: «торт, который приготовила повар»."""
    objects: tuple[str, ...]
    """Endings of a noun that is no subject."""

    # Nouns of no lexicon
    no_noun: re.Pattern[str]
    """What is no noun, or no person: infinitives, adverbs, and places where the person should be («кассу»)."""
    gender_by_ending: Callable[[str], Agreement | None]
    no_gender: re.Pattern[str]
    """Plurals of adjectives and neuters among the forms of lexicon nouns for both sexes."""

    women: frozenset[str]
    """The forms of "woman", which may stand before a noun: «женщине врачу»."""
    men: frozenset[str]

    someone: re.Pattern[str]
    """The pronouns for "someone"; which are nominatives, `nominatives` says. Masculine only as a verb's subject."""

    soft_masculine: tuple[str, ...] = ()
    """Further endings of a masculine nominative, shared with oblique feminine determiners."""
    participle: re.Pattern[str] = _NOTHING
    that: str = ""
    """A feminine demonstrative that is one only as the first word: «та» is also "and"."""

    def language(self, code: str, name: str, **more: Any) -> Language:
        return Language(
            code=code,
            name=name,
            transparent=self.transparent,
            adjective=self._adjective,
            clues=self._clues,
            noun=self._noun,
            bare_epicene=self._bare_epicene,
            sexes={**dict.fromkeys(self.women, "f"), **dict.fromkeys(self.men, "m")},
            by_sense=self._by_sense,
            has_articles=False,
            **more,
        )

    def _adjective(self, word: str, number: str) -> Agreement | None:  # noqa: ARG002
        """Lets a determiner be found beyond adjectives; what these tell depends on case, see `_attribute`."""
        return "mf" if word not in self.no_attributes and self.walkable.fullmatch(word) else None

    def _noun(self, word: str) -> Agreement | None:
        """The gender of a noun that no lexicon has; of a word left in English, masculine."""
        if word.isascii():
            return "m" if word.isalpha() else None
        if word in self._function_words or self.no_noun.search(word) or self._finite(word):
            return None
        if self.feminine_noun.search(word):
            return "f"
        return self.gender_by_ending(word)

    @cached_property
    def _function_words(self) -> frozenset[str]:
        lists = (self.no_attributes, self.prepositions, self.no_subject, self.breaks, self.between, self.openers)
        return frozenset(self.relatives).union(*lists)

    def _bare_epicene(self, word: str) -> Agreement | None:
        return None if self.no_gender.search(word) or self.someone.fullmatch(word) else "m"

    def _clues(self, words: Sequence[str], start: int, end: int, number: str) -> Clues:
        if number == "plural":
            return self._one_of(words, start)
        before = words[start - 1] if start else ""
        last = words[end - 1]
        if last.endswith(self.instrumentals) and before in self.with_instrumental and not self.someone.fullmatch(last):
            return [Clue(start - 1, "m")]  # «с управляющим»: instrumental singular; «управляющим» alone may be plural
        # «водитель грузовика» has its head in front, «медицинская сестра» behind
        noun = words[end - 1] if self.adjectival.search(words[start]) else words[start]
        attributes = self._attributes(words, start, noun)
        found: Clues = []
        if not self.feminine_noun.search(noun):
            found = self._relative(words, start, end, noun)
            if self._is_nominative(noun):
                found += self._predicate(words, start - len(attributes), end, noun)
                if self.that and words[:start] == [self.that]:
                    found.append(Clue(0, "f"))
        if before in self.women:
            found.append(Clue(start - 1, "f"))
        outranked = any(clue.agreement == "f" for clue in found)
        return found + [clue for clue in attributes if not (outranked and clue.agreement == "m")]

    def _by_sense(self, words: Sequence[str], start: int, end: int, number: str) -> Clues:
        """The verb of a subject in -а or -я: «жертва рассказал»; that of a masculine one is among the `clues`."""
        noun = words[start]
        if number == "plural" or not noun.endswith(("а", "я")):
            return []
        first = start
        while first and (words[first - 1] in self.feminine or self.walkable.fullmatch(words[first - 1])):
            first -= 1
        return self._predicate(words, first, end, noun)

    def _is_nominative(self, noun: str) -> bool:
        """Whether this is the nominative of a noun that declines as a masculine, or of one of common gender."""
        if noun in self.nominatives or self.someone.fullmatch(noun):
            return noun in self.nominatives
        return noun[-1] not in self.vowels and not noun.endswith(self.oblique)

    def _attribute(self, word: str, noun: str) -> Agreement | None:
        """The gender that a determiner or adjective shows before this noun form; None if it belongs elsewhere."""
        if word in self.no_attributes:
            return None
        feminine = self.feminine_noun.search(noun) is not None
        if word in self.masculine or word.endswith(self.masculine_endings):
            # «этот медсестра» is a contradiction to report
            return "m" if self._is_nominative(noun) or feminine else None
        if feminine:
            return None
        if self._is_nominative(noun):
            if word.endswith(self.soft_masculine) and word not in self.feminine:
                return "m"
            return "f" if self.feminine_nominative.fullmatch(word) else None
        if noun.endswith(("а", "я")) and self.feminine_oblique.fullmatch(word):
            return "f"
        return "m" if any(word.endswith(ends) and noun.endswith(nouns) for ends, nouns in self.cases) else None

    def _attributes(self, words: Sequence[str], start: int, noun: str) -> Clues:
        found: Clues = []
        for place in range(start - 1, max(start - 4, -1), -1):
            if gender := self._attribute(words[place], noun):
                found.append(Clue(place, gender))
            elif words[place] not in self.transparent:
                break
        return found

    def _finite(self, word: str) -> Agreement | None:
        """The gender that a past tense, short or predicative adjective shows."""
        if (predicate := word.removesuffix("ся")) in self.predicates:  # «зустрівся»
            return self.predicates[predicate]
        match = self.past.fullmatch(word)
        if match is None or word in self.between or word.removesuffix("а") in self.noun_stems:
            return None
        return "f" if match["f"] else "m"

    def _predicate(self, words: Sequence[str], start: int, end: int, noun: str) -> Clues:
        """The past tense or short adjective whose subject is the nominative noun phrase at words[start:end]."""
        before = words[start - 1] if start else ""
        earlier = words[start - 2] if start > 1 else ""
        conjunction = before == self.how and self.before_how.fullmatch(earlier)
        if (before in self.no_subject and not conjunction) or (earlier, before) == (self.how, self.and_):
            return []
        if earlier == self.this and before in self.was:
            return [Clue(start - 1, self.was[before])]
        if end == len(words) and (match := self.speech.match(before)):
            return [Clue(start - 1, "f" if match[1] else "m")]
        # A noun that declines cannot be the object in this form.
        if earlier in self.openers and noun[-1] not in self.vowels and (gender := self._finite(before)):
            return [Clue(start - 1, gender)]
        near = words[: end + 7]
        position, complement = end, 0
        while position < len(near):
            word = near[position]
            if gender := self._finite(word):
                return [Clue(position, gender)]
            if word in self.breaks or word in self.relatives:
                break
            if word in self.between or word[-1] == "'" or (len(word) > 3 and word[-1] == "о"):
                position += 1  # «з'ясувала» is cut in two
            elif word in self.prepositions and complement == 0:
                long = len(near) > position + 1 and near[position + 1].endswith(self.attribute_endings)
                position, complement = position + (3 if long else 2), 2  # «врач из (детской) клиники сказала»
            elif complement < 2 and self.complement.search(word):
                position, complement = position + 1, complement + 1  # «менеджер отдела кадров сказала», a name
            else:
                break
        # «Медсестре помогла врач»
        if earlier.endswith(self.objects) and earlier not in self.between and noun[-1] not in self.vowels:
            return [Clue(start - 1, gender)] if (gender := self._finite(before)) else []
        return []

    def _relative(self, words: Sequence[str], start: int, end: int, noun: str) -> Clues:
        """«врач, которая», «с врачом, о которой»; not «мать врача, которая», where it may belong to the mother."""
        nominative = self._is_nominative(noun)
        if not nominative and noun.endswith(self.genitives):
            before = start - 1
            while before >= 0 and (
                words[before] in self.transparent or words[before].endswith(self.genitive_attributes)
            ):
                before -= 1
            if before >= 0 and words[before] not in self.prepositions and not self.past.fullmatch(words[before]):
                return []
        position = end + 1 if end < len(words) and words[end] in self.prepositions else end
        if position >= len(words) or (position > end and _IN_WHICH.fullmatch(" ".join(words[end : position + 1]))):
            return []
        word = words[position]
        if word in self.relatives:
            return [Clue(position, self.relatives[word])]
        if nominative and position == end and (match := self.participle.fullmatch(word)):
            return [Clue(position, "f" if match["f"] else "m")]
        return []

    def _one_of(self, words: Sequence[str], start: int) -> Clues:
        """«одна из врачей», «один из лучших врачей»."""
        before = start - 1
        while before > 0 and words[before].endswith(("их", "ых")):
            before -= 1
        if before > 0 and words[before] in self.out_of and words[before - 1] in self.one_of:
            return [Clue(before - 1, self.one_of[words[before - 1]])]
        return []


def grammar_of(code: str) -> Grammar:
    given = toml_of(code, "grammar.toml")
    cases = tuple((word_tuple(attribute), word_tuple(noun)) for attribute, noun in given["cases"])
    return record(Grammar, {**given, "cases": cases, "gender_by_ending": gender_by_ending(given["endings"])})
