"""English nouns for people in our lexicons, and word positions as WinoMT counts them, between single spaces."""

from __future__ import annotations

import re
from functools import cache

from gendermark.reading.occupations import core_occupations, lexicon


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


INDEFINITE = _set("someone somebody everyone everybody anyone anybody nobody")
_OTHER_PEOPLE = _set(
    "person man woman boy girl baby kid friend neighbor neighbour colleague coworker boss partner stranger parent "
    "mother father sister brother daughter son wife husband author artist actor dancer singer musician pilot soldier "
    "dentist professor journalist reporter judge waiter gardener butcher florist welder courier coach intern"
)
EDGES = '.,;:!?"“”()'
POSSESSIVE = re.compile(r"['’]s?$")


@cache
def person_nouns() -> frozenset[str]:
    """Nouns for people; the English side is the same in every lexicon."""
    nouns = {*_OTHER_PEOPLE, *INDEFINITE, *(name for name, _, _ in core_occupations())}
    return frozenset(noun.lower() for noun in nouns | {entry.occupation for entry in lexicon("es")})


def words_of(text: str) -> tuple[str, ...]:
    """The words between single spaces, in lower case, stripped of punctuation."""
    return tuple(token.strip(EDGES).replace("’", "'").lower() for token in text.split(" "))


def places_of(text: str, entity: str) -> list[int]:
    words, noun = words_of(text), tuple(entity.lower().split())
    return [place for place in range(len(words)) if noun and is_at(words, place, noun)]


def is_at(words: tuple[str, ...], place: int, noun: tuple[str, ...]) -> bool:
    end = place + len(noun)
    return end <= len(words) and (*words[place : end - 1], POSSESSIVE.sub("", words[end - 1])) == noun
