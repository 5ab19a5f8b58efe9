"""Gender hints: add the gender that an English sentence specifies to what the system sees, and remove their traces.

- `adjective`: "The female doctor said that she ..." (Stanovsky et al. 2019 used "pretty" and "handsome")
- `apposition`: "The doctor, a woman, said that she ..."
- `context`: "The doctor is a woman. The doctor said that she ...", with the first sentence removed from the output
- `tag`: a user-defined word before the sentence, for models trained with one
- `prompt`: the sentence of `context`, but separate from the text, for prompted models
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gendermark.reading import context as contexts
from gendermark.reading.people import SourcePerson
from gendermark.reading.target import assign, read_translation, target_of
from gendermark.reading.words import Span
from gendermark.records import Gender

STYLES = ("adjective", "apposition", "context", "tag", "prompt")
_ADJECTIVE = {Gender.FEMININE: "female", Gender.MASCULINE: "male"}
_NOUN = {
    Gender.FEMININE: ("a woman", "women"),
    Gender.MASCULINE: ("a man", "men"),
}
_LETTER = {Gender.FEMININE: "f", Gender.MASCULINE: "m"}
_SEXES = frozenset(("female", "male", "woman", "man", "women", "men", "lady"))
_AN = re.compile(r"\b(a)n $", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?(?!\w)")
_BETWEEN_COMMAS = re.compile(r"[,،]\s*([^,،.;:!?؟।]{1,30}?)\s*(?:[,،]|(?=[.;:!?؟।]|$))")


@dataclass(frozen=True, slots=True)
class Hint:
    """A sentence with a hint."""

    text: str
    """What the system sees."""
    style: str
    people: tuple[SourcePerson, ...]
    """Everybody in the sentence."""
    told: tuple[int, ...]
    """Those whose gender it gives, among them."""
    source: str
    """The sentence without it."""
    beside: str = ""
    """What precedes or accompanies the sentence: the sentences of `context` and `prompt`, the tag."""


def give_hint(source: str, people: Sequence[SourcePerson], style: str, tags: Mapping[Gender, str]) -> Hint | None:
    """The sentence with one hint per noun for a person of specified gender; None if there are none."""
    told: dict[tuple[str, bool], tuple[Span, int]] = {}
    for number, person in enumerate(people):
        for start, end in person.nouns if person.gender in _LETTER else ():
            beside = source[:end].lower().split()[-2 - source[start:end].count(" ") :]
            if style == "adjective" and not _SEXES.isdisjoint(beside):
                continue
            if style == "apposition" and _POSSESSIVE.match(source, end):
                continue  # "the doctor, a woman, 's car" is not English
            told.setdefault((source[start:end].lower(), person.plural), ((start, end), number))
    spans = sorted(told.values())
    who = tuple(dict.fromkeys(number for _, number in spans))
    if not spans:
        return None
    if style in ("context", "prompt"):
        said = " ".join(_sentence(source[slice(*span)], people[number]) for span, number in spans)
        return Hint(f"{said} {source}" if style == "context" else source, style, tuple(people), who, source, said)
    if style == "tag":
        genders = {people[number].gender for number in who}
        tag = tags[genders.pop() or Gender.NEUTRAL] if len(genders) == 1 else ""
        return Hint(f"{tag} {source}", style, tuple(people), who, source, tag) if tag else None
    text = source
    for (start, end), number in reversed(spans):
        gender = people[number].gender or Gender.NEUTRAL
        before, noun, behind = text[:start], text[start:end], text[end:]
        if style == "apposition":
            mark = behind[:1] if behind[:1] in (".", ",", ";", ":", "!", "?", ")") else ","
            text = f"{before}{noun}, {_NOUN[gender][people[number].plural]}{mark}{behind.removeprefix(mark)}"
        elif not before:
            text = f"{_ADJECTIVE[gender].capitalize()} {noun[:1].lower()}{noun[1:]}{behind}"
        else:
            before = _AN.sub(r"\1 ", before)
            text = f"{before}{_ADJECTIVE[gender]} {noun}{behind}"
    return Hint(text, style, tuple(people), who, source)


def _sentence(noun: str, person: SourcePerson) -> str:
    noun = noun if noun.isupper() else noun.lower()
    return f"The {noun} {'are' if person.plural else 'is'} {_NOUN[person.gender or Gender.NEUTRAL][person.plural]}."


# -- what it leaves in the translation


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A translation with the hint removed, as far as possible."""

    text: str
    was_there: bool
    """Whether the hint left a visible trace."""
    is_clean: bool


def remove_hint(text: str, hint: Hint, language: str) -> Cleaned:
    """Remove the traces of a hint; `language` is that of the translation, "" if it cannot be read."""
    if hint.style == "prompt":
        return Cleaned(text, False, True)
    if hint.style == "tag":
        is_left = text.startswith(hint.beside)
        return Cleaned(text.removeprefix(hint.beside).lstrip() if is_left else text, is_left, True)
    if hint.style == "context":
        found = contexts.find(text, hint.beside, hint.source, "joined")
        return Cleaned(found or text, True, found is not None)
    if not language:
        return Cleaned(text, False, True)
    is_clean, was_there = True, False
    for (start, end), number in reversed(_left_by(text, hint, language)):
        was_there = True
        cut = _without(text, start, end)
        # "la mujer médico" needs its "mujer".
        gender = hint.people[number].gender
        if gender and target_of(hint.source, hint.people, cut, language)[number].gender == gender.value:
            text = cut
        else:
            is_clean = False
    return Cleaned(text, was_there, is_clean)


def _left_by(text: str, hint: Hint, code: str) -> list[tuple[Span, int]]:
    """Where the sex is named beside the noun of a person."""
    reading = read_translation(text, code)
    words, language = reading.words, reading.language
    mentions, _ = assign(hint.source, hint.people, reading)
    found: list[tuple[Span, int]] = []
    for number in hint.told:
        letter = _LETTER[hint.people[number].gender or Gender.NEUTRAL]

        def is_sex(word: str, letter: str = letter) -> bool:
            return (language.sexes.get(word) or language.hint_sexes.get(word)) == letter

        for at in (one.at for one in mentions.get(number, ()) if one.kind == "noun"):
            if hint.style == "adjective":
                beside = [place for place in (at - 1, at + 1) if 0 <= place < len(words) and is_sex(words[place])]
                found += [(reading.spans[place], number) for place in beside]
            else:
                behind = _BETWEEN_COMMAS.match(text, reading.spans[at][1])
                if behind and (inside := language.cut(behind[1])) and is_sex(inside[-1]):
                    found.append((behind.span(), number))
    return sorted(found)


def _without(text: str, start: int, end: int) -> str:
    before, after = text[:start].rstrip(), text[end:].lstrip()
    gap = "" if not before or not after or after[0] in ".,;:!?؟،।" else " "
    if not before and after:
        after = after[:1].upper() + after[1:] if text[:1].isupper() else after
    return f"{before}{gap}{after}"
