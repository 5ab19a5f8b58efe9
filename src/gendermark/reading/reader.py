"""Read any text: its people, the gender that the source specifies, and the gender that the translation shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gendermark import registry
from gendermark.errors import UserError
from gendermark.reading import parser as parsers
from gendermark.reading.people import SourcePerson, Span, people_in_all
from gendermark.reading.target import Shown, target_of


@dataclass(frozen=True, slots=True)
class Person:
    """A person, or a group of people, mentioned in a source text."""

    text: str
    """The main mention: a noun if there is one, else a name, else a pronoun."""
    start: int
    """First character of the main mention in the source."""
    end: int
    mentions: tuple[Span, ...]
    """Characters of every mention in the source, pronouns included."""
    source_gender: str | None
    """"masculine", "feminine", or None if the source does not specify it."""
    target_gender: str | None = None
    """"masculine", "feminine", "mixed", or None if the translation does not show it."""
    target_state: Literal["shown", "not_shown", "unclear"] | None = None
    """None without a translation."""
    evidence: tuple[Span, ...] = ()
    """Characters of the translation that show the gender."""


VERSION = 3
"""Increased whenever readings can change; part of signatures."""


def version(parser: str = "") -> str:
    return f"{VERSION},{parsers.version(parser)}"


def read_people(
    source: str, translation: str | None = None, to: str | None = None, *, parser: str = ""
) -> list[Person]:
    """Find the people in an English text, their specified gender, and the gender that a translation shows.

    Pronouns, kinship terms, titles and words such as "female" specify gender. First names do not.

    Args:
        source: English text, one or a few sentences.
        translation: its translation; without one, only the source is read.
        to: language code of the translation, such as `es`; required with `translation`.
        parser: name of an installed spaCy pipeline, instead of the bundled one.

    Returns:
        A `Person` for each person or group of people, in order of first mention.
    """
    if translation is not None and not to:
        raise UserError("give the language of the translation, for example to='es'")
    return read_all([source], None if translation is None else [translation], to or "", parser)[0]


def read_all(
    sources: Sequence[str], translations: Sequence[str] | None = None, to: str = "", parser: str = ""
) -> list[list[Person]]:
    found = people_in_all(sources, parser)
    if translations is None:
        return [[_person(person) for person in people] for people in found]
    if to not in registry.names("language"):
        raise UserError(f"cannot read translations into {to!r}; available: {', '.join(registry.names('language'))}")
    return [
        [_person(person, shown) for person, shown in zip(people, target_of(source, people, text, to), strict=True)]
        for source, people, text in zip(sources, found, translations, strict=True)
    ]


def _person(person: SourcePerson, shown: Shown | None = None) -> Person:
    gender = person.gender.value if person.gender else None
    target = (shown.gender, shown.state, shown.evidence) if shown else (None, None, ())
    return Person(person.text, person.start, person.end, person.mentions, gender, *target)
