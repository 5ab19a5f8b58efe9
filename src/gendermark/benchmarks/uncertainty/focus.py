"""Who is named in a simple English sentence, and who of them is the subject of its main clause.

Found by rules over words and their places, cut at single spaces as WinoMT counts them; no parser is needed for
sentences this simple.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from gendermark.reading.focus import INDEFINITE, POSSESSIVE, is_at, person_nouns, words_of


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


DETERMINERS = _set("the a an this another each every some any no one his her their my your our its")
PREPOSITIONS = _set(
    "about above across after against along among around as at before behind below beside between beyond by despite "
    "during for from in inside into like near of off on onto out over past since than through to toward towards under "
    "until up upon with within without"
)
CONJUNCTIONS = _set(
    "and but or so because although though while when whenever if unless once that which who whom whose"
)
BE = _set("is are was were be been being am isn't aren't wasn't weren't")
HAVE = _set("has have had hasn't haven't hadn't")
AUXILIARIES = HAVE | _set(
    "do does did will would can could may might must shall should don't doesn't didn't won't wouldn't can't cannot "
    "couldn't mustn't shouldn't"
)
SUBJECT_PRONOUNS = _set("he she they it i you we there this that")
_LONGEST_PHRASE = 5
"""Words before the noun: "the tired old baker's new" assistant."""
_CLAUSE_END = (",", ";", ":", ".", "!", "?")


@dataclass(frozen=True, slots=True)
class Person:
    """A noun that names a person, at words[start:end]."""

    phrase: int
    """Where its phrase begins, with determiner, owner and adjectives."""
    start: int
    end: int
    noun: str
    is_possessive: bool
    """ "The baker's oven": the oven is the head of the phrase."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence cut at single spaces, as WinoMT counts places; `words` are lower case, without marks around."""

    tokens: tuple[str, ...]
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Sentence:
        tokens = tuple(text.split(" "))
        return cls(tokens, words_of(text))

    def word(self, place: int) -> str:
        return self.words[place] if 0 <= place < len(self.words) else ""

    def ends_clause(self, place: int) -> bool:
        return self.tokens[place].endswith(_CLAUSE_END)


def focus_of(sentence: Sentence, place: int, entity: str) -> Person:
    """The focus; where an entity is given, the one nearest to the place (of WinoMT, one is off by a double space)."""
    text = " ".join(sentence.tokens)
    if not 0 <= place < len(sentence.words):
        raise ValueError(f"there is no word {place} in {text!r}")
    if not entity:
        return _noun_at(sentence, place) or _person(sentence, place, place + 1)
    noun = tuple(entity.lower().split())
    found = [at for at in range(len(sentence.words)) if is_at(sentence.words, at, noun)]
    if not found:
        raise ValueError(f"there is no {entity!r} in {text!r}")
    at = min(found, key=lambda one: abs(one - place))
    return _person(sentence, at, at + len(noun))


def people_in(sentence: Sentence, focus: Person) -> list[Person]:
    """All people that are named, from left to right."""
    found: list[Person] = []
    place = 0
    while place < len(sentence.words):
        person = focus if place == focus.start else _noun_at(sentence, place)
        # Without a determiner it is an adjective ("was patient with") or belongs to the next noun ("nurse uniforms").
        if person and (person == focus or person.noun in INDEFINITE or person.phrase < person.start):
            found.append(person)
            place = person.end
        else:
            place += 1
    return found


def _noun_at(sentence: Sentence, place: int) -> Person | None:
    nouns = _nouns().get(POSSESSIVE.sub("", sentence.words[place]), ())
    noun = next((noun for noun in nouns if is_at(sentence.words, place, noun)), None)
    return _person(sentence, place, place + len(noun)) if noun else None


def _person(sentence: Sentence, start: int, end: int) -> Person:
    last = POSSESSIVE.sub("", sentence.words[end - 1])
    noun = " ".join((*sentence.words[start : end - 1], last))
    is_possessive = last != sentence.words[end - 1] or sentence.word(end) in ("'s", "'")
    phrase = start
    n_before = 0 if noun in INDEFINITE else min(start, _LONGEST_PHRASE)
    for place in range(start - 1, start - 1 - n_before, -1):
        word = sentence.words[place]
        if word in DETERMINERS or (word == "that" and place == start - 1):
            phrase = place
            break
        if sentence.ends_clause(place) or word in PREPOSITIONS | CONJUNCTIONS | BE | AUXILIARIES:
            break
    return Person(phrase, start, end, noun, is_possessive)


@cache
def _nouns() -> Mapping[str, Sequence[tuple[str, ...]]]:
    """First word -> the nouns, as words, that begin with it, the longest first."""
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for noun in sorted((tuple(noun.split()) for noun in person_nouns()), key=len, reverse=True):
        found[noun[0]].append(noun)
    return found


def subject_of(sentence: Sentence, people: Sequence[Person]) -> Person | None:
    """The person who is the subject of the main clause."""
    begin = _main_clause(sentence, people)
    for person in people:
        if person.phrase < begin or person.is_possessive:
            continue
        return person if _opens_clause(sentence, begin, person) else None
    return None


def _main_clause(sentence: Sentence, people: Sequence[Person]) -> int:
    """Where the main clause begins: behind "When ...," or "During lunch,", if somebody is named there."""
    if sentence.words[0] in DETERMINERS or (people and people[0].start == 0):
        return 0
    comma = next((place for place, token in enumerate(sentence.tokens) if token.endswith(",")), None)
    if comma is None or not any(_opens_clause(sentence, comma + 1, person) for person in people):
        return 0
    return comma + 1


def _opens_clause(sentence: Sentence, begin: int, person: Person) -> bool:
    """Whether a person's phrase is the first of the clause: no other noun phrase that is not a prepositional one."""
    if person.phrase < begin:
        return False
    before = sentence.words[begin : person.phrase]
    if len(before) > 1 and before[-1] in PREPOSITIONS:
        return False  # "The car of the mechanic"; but "After the guard ..." opens a clause
    introduced = ("", *before)
    return not any(
        word in DETERMINERS | SUBJECT_PRONOUNS and introduced[place] not in PREPOSITIONS | CONJUNCTIONS
        for place, word in enumerate(before)
    )
