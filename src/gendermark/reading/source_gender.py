"""Gender of each person in an English sentence, where it is unambiguous.

A pronoun that can refer to two people decides for neither: mitigation must not pass a wrong gender to a system.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gendermark.reading.focus import INDEFINITE, person_nouns
from gendermark.reading.nouns import singular, stated_gender
from gendermark.reading.occupations import OccupationFinder
from gendermark.reading.people import SourcePerson, people_in
from gendermark.records import Gender

VERSION = 2
"""Part of the ids of systems that read sources; increased whenever their readings can change."""


@dataclass(frozen=True, slots=True)
class PersonTold:
    """A person denoted by a noun of our lexicons."""

    noun: str
    """In the singular, as in the lexicons."""
    number: str
    start: int
    """The noun is at words[start:end], cut at single spaces."""
    end: int
    gender: Gender | None
    """None: unspecified, or by a pronoun that could refer to somebody else."""
    is_possessive: bool
    has_sex_word: bool
    """Whether a word before the noun shows it ("female")."""


@lru_cache(maxsize=10_000)
def read_source(text: str) -> tuple[PersonTold, ...]:
    found = [told for person in people_in(text) for span in person.mentions if (told := _told(text, person, *span))]
    return tuple(sorted(found, key=lambda told: told.start))


def _told(text: str, person: SourcePerson, start: int, end: int) -> PersonTold | None:
    words = text[start:end].lower().split()
    nouns = person_nouns()
    for place in range(len(words)):
        noun = " ".join([*words[place:-1], singular(words[-1])])
        written = next((one for one in (noun, singular(noun)) if one in nouns), None)
        if written is not None and written not in INDEFINITE and stated_gender(written) is None:
            break
    else:
        return None
    first = text[:start].count(" ") + place
    before = text[:start].lower().split()[-1:]
    return PersonTold(
        noun="CEO" if written == "ceo" else written,  # spelling of the lexicons
        number="plural" if person.plural else "singular",
        start=first,
        end=first + len(words) - place,
        gender=person.gender if person.is_certain else None,
        is_possessive=text[end : end + 2] in ("'s", "’s", "' ", "’ "),
        has_sex_word=before in (["female"], ["male"], ["woman"], ["man"], ["women"], ["men"], ["lady"]),
    )


def readable(people: Iterable[PersonTold], finder: OccupationFinder) -> list[PersonTold]:
    """People of known gender whose noun is in the target lexicon."""
    return [person for person in people if person.gender is not None and finder.knows(person.noun)]


def keeps_gender(text: str, people: Sequence[PersonTold], finder: OccupationFinder) -> bool:
    """Whether a translation shows the gender of all of them; people not found show none."""
    return all(finder.find(text, person.noun).gender is person.gender for person in people)
