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
from gendermark.reading.focus import EDGES, POSSESSIVE
from gendermark.reading.occupations import OccupationFinder
from gendermark.reading.source_gender import PersonTold
from gendermark.reading.words import Span, word_spans
from gendermark.records import Gender

STYLES = ("adjective", "apposition", "context", "tag", "prompt")
_ADJECTIVE = {Gender.FEMININE: "female", Gender.MASCULINE: "male"}
_NOUN = {
    "singular": {Gender.FEMININE: "a woman", Gender.MASCULINE: "a man"},
    "plural": {Gender.FEMININE: "women", Gender.MASCULINE: "men"},
}
_LETTER = {Gender.FEMININE: "f", Gender.MASCULINE: "m"}
_BETWEEN_COMMAS = re.compile(r"[,،]\s*([^,،.;:!?؟।]{1,30}?)\s*(?:[,،]|(?=[.;:!?؟।]|$))")


@dataclass(frozen=True, slots=True)
class Hint:
    """A sentence with a hint."""

    text: str
    """What the system sees."""
    style: str
    people: tuple[PersonTold, ...]
    """The people it mentions."""
    source: str
    """The sentence without it."""
    beside: str = ""
    """What precedes or accompanies the sentence: the sentences of `context` and `prompt`, the tag."""


def give_hint(source: str, people: Sequence[PersonTold], style: str, tags: Mapping[Gender, str]) -> Hint | None:
    """The sentence with one hint per person of specified gender; None if there are none."""
    first = {(person.noun, person.number): person for person in reversed(people) if person.gender in _LETTER}
    told = tuple(sorted(first.values(), key=lambda person: person.start))
    if style == "adjective":
        told = tuple(person for person in told if not person.has_sex_word)
    elif style == "apposition":  # "the doctor, a woman, 's car" is not English
        told = tuple(person for person in told if not person.is_possessive)
    if not told:
        return None
    if style in ("context", "prompt"):
        said = " ".join(_sentence(source, person) for person in told)
        return Hint(f"{said} {source}" if style == "context" else source, style, told, source, said)
    if style == "tag":
        genders = {person.gender for person in told}
        tag = tags[genders.pop() or Gender.NEUTRAL] if len(genders) == 1 else ""
        return Hint(f"{tag} {source}", style, told, source, tag) if tag else None
    tokens = source.split(" ")
    for person in reversed(told):
        (_add_adjective if style == "adjective" else _add_apposition)(tokens, person)
    return Hint(" ".join(tokens), style, told, source)


def _add_adjective(tokens: list[str], person: PersonTold) -> None:
    adjective = _ADJECTIVE[person.gender or Gender.NEUTRAL]
    if person.start == 0:
        adjective, tokens[0] = adjective.capitalize(), tokens[0][:1].lower() + tokens[0][1:]
    elif tokens[person.start - 1].lower() == "an":
        tokens[person.start - 1] = tokens[person.start - 1][:1]
    tokens.insert(person.start, adjective)


def _add_apposition(tokens: list[str], person: PersonTold) -> None:
    noun = _NOUN[person.number][person.gender or Gender.NEUTRAL]
    word = tokens[person.end - 1].rstrip('.,;:!?"”)')
    marks = tokens[person.end - 1][len(word) :]
    tokens[person.end - 1] = f"{word}, {noun}{marks or ','}"


def _sentence(source: str, person: PersonTold) -> str:
    noun = POSSESSIVE.sub("", " ".join(source.split(" ")[person.start : person.end]).strip(EDGES))
    noun = noun if noun.isupper() else noun.lower()
    verb = "is" if person.number == "singular" else "are"
    return f"The {noun} {verb} {_NOUN[person.number][person.gender or Gender.NEUTRAL]}."


# -- what it leaves in the translation


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A translation with the hint removed, as far as possible."""

    text: str
    was_there: bool
    """Whether the hint left a visible trace."""
    is_clean: bool


def remove_hint(text: str, hint: Hint, finder: OccupationFinder | None) -> Cleaned:
    """Remove the traces of a hint; `finder` is the target language's, if readable."""
    if hint.style == "prompt":
        return Cleaned(text, False, True)
    if hint.style == "tag":
        is_left = text.startswith(hint.beside)
        return Cleaned(text.removeprefix(hint.beside).lstrip() if is_left else text, is_left, True)
    if hint.style == "context":
        found = contexts.find(text, hint.beside, hint.source, "joined")
        return Cleaned(found or text, True, found is not None)
    if finder is None:
        return Cleaned(text, False, True)
    is_clean, was_there = True, False
    for person in hint.people:
        for start, end in reversed(_left_by(text, person, hint.style, finder)):
            was_there = True
            cut = _without(text, start, end)
            # "la mujer médico" needs its "mujer".
            if finder.find(cut, person.noun).gender is person.gender:
                text = cut
            else:
                is_clean = False
    return Cleaned(text, was_there, is_clean)


def _left_by(text: str, person: PersonTold, style: str, finder: OccupationFinder) -> list[Span]:
    """Where the sex is named beside the noun."""
    language = finder.language
    words, spans = language.cut(text), word_spans(text)
    letter = _LETTER[person.gender or Gender.NEUTRAL]

    def is_sex(word: str) -> bool:
        return (language.sexes.get(word) or language.hint_sexes.get(word)) == letter

    found: list[Span] = []
    for mention in finder.occurrences(words, person.noun):
        if style == "adjective":
            beside = [at for at in (mention.start - 1, mention.end) if 0 <= at < len(words) and is_sex(words[at])]
            found += [spans[at] for at in beside]
        else:
            behind = _BETWEEN_COMMAS.match(text, spans[mention.end - 1][1])
            if behind and (inside := language.cut(behind[1])) and is_sex(inside[-1]):
                found.append(behind.span())
    return found


def _without(text: str, start: int, end: int) -> str:
    before, after = text[:start].rstrip(), text[end:].lstrip()
    gap = "" if not before or not after or after[0] in ".,;:!?؟،।" else " "
    if not before and after:
        after = after[:1].upper() + after[1:] if text[:1].isupper() else after
    return f"{before}{gap}{after}"
