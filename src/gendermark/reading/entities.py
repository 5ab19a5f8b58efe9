"""The gender that a translation gives to one named person of its source sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from gendermark.languages.language import Language
from gendermark.reading.occupations import Finding, OccupationFinder, Occurrence
from gendermark.reading.words import Place
from gendermark.records import Gender

# Words between the two halves of "der Arzt oder die Ärztin", articles apart.
_COORDINATORS = frozenset(
    {"o", "u", "y", "e", "ou", "et", "oder", "und", "bzw", "beziehungsweise", "ή", "και", "или", "и", "або", "чи", "та"}
    | {"й", "nebo", "a", "i", "lub", "albo", "czy", "या", "और", "أو", "و", "או", "ו"}
)
_OF_PEOPLE = ("masculine", "feminine", "epicene")
_LATIN = re.compile("[a-z]{3}")
_DEFINITE = re.compile("[وف]?(?:[بك]?ال|لل)")
"""Arabic: the article, with attached clitics."""


def read_entity(
    finder: OccupationFinder,
    words: Sequence[str],
    entity: str,
    aligned: Callable[[], Sequence[int]],
    expected_place: float,
    others: Sequence[str] = (),
) -> Finding:
    """The gender of an entity in the translation (as `words`).

    The lexicon comes first: a form of the entity is the entity. Among several, `aligned` (the target positions linked
    to the source noun, computed on demand) decides, then nearness to `expected_place` (0 is the beginning, 1 the end).
    Without any form, the aligned word is read by its agreeing words and its ending; failing that, the only noun of
    another trade, if all `others` of the source are also mentioned.
    """
    mentions = _without_constructs(words, finder.occurrences(words, entity))
    if mentions and _has_own_script(finder) and not entity.isupper():
        translated = [mention for mention in mentions if not _LATIN.search(words[mention.start])]
        if not translated:
            return _left_in_english(words, mentions[0].place)
        mentions = translated
    if len(mentions) == 1:
        return finder.read(words, mentions[0])
    if mentions:
        return _read_one_of(finder, words, mentions, aligned(), expected_place)
    skipped = finder.passed_over(words, entity)
    positions = [at for at in aligned() if at not in skipped and _may_be_person(finder, words[at], entity)]
    finding = Finding(None, "absent", ())
    if positions:
        place = positions[-1], positions[-1] + 1
        if _LATIN.search(words[place[0]]) and _has_own_script(finder):
            return _left_in_english(words, place)
        finding = finder.read_unknown(words, *place)
    if finding.gender is None and (positions := _of_another_trade(finder, words, others)):
        return finder.read_unknown(words, positions[0], positions[0] + 1)
    return finding


def _of_another_trade(finder: OccupationFinder, words: Sequence[str], others: Sequence[str]) -> list[int]:
    """The position of the only noun for a person that refers to none of the others: "il medico" for an analyst."""
    named = [finder.occurrences(words, other) for other in others]
    taken = {at for mentions in named for mention in mentions for at in range(mention.start, mention.end)}
    free = [
        at
        for at, word in enumerate(words)
        if at and at not in taken and _is_function_word(finder, words[at - 1])
        if word in finder.forms and all(gender in _OF_PEOPLE for gender, _ in finder.forms[word])
    ]
    return free if named and all(named) and len(free) == 1 else []


@cache
def _has_own_script(finder: OccupationFinder) -> bool:
    """Whether Latin letters are foreign to the language."""
    return sum(word >= "\u0370" for word in finder.forms) * 2 > len(finder.forms)


def _left_in_english(words: Sequence[str], place: Place) -> Finding:
    return Finding(None, "untranslated", (" ".join(words[slice(*place)]),), (place,))


def _without_constructs(words: Sequence[str], mentions: Sequence[Occurrence]) -> Sequence[Occurrence]:
    """Drop a bare Arabic noun directly before a definite mention: مساعدة المساعد is "helping the assistant".

    The first of such two governs the second, and is no other name of the same person.
    """
    if len(mentions) < 2:
        return mentions
    definite = {mention.start for mention in mentions if _DEFINITE.match(words[mention.start])}
    return [mention for mention in mentions if mention.end not in definite or mention.start in definite]


def _read_one_of(
    finder: OccupationFinder,
    words: Sequence[str],
    mentions: Sequence[Occurrence],
    aligned: Sequence[int],
    expected_place: float,
) -> Finding:
    linked = [mention for mention in mentions if any(mention.start <= at < mention.end for at in aligned)]
    chosen = min(linked or mentions, key=lambda mention: abs(mention.start / max(len(words) - 1, 1) - expected_place))
    for other in mentions:
        between = words[min(chosen.end, other.end) : max(chosen.start, other.start)]
        named_twice = all(word in _COORDINATORS or _is_function_word(finder, word) for word in between)
        if other is not chosen and named_twice and _name_both_genders(chosen, other):
            places = (chosen.place, other.place)
            shown = tuple(" ".join(words[start:end]) for start, end in places)
            return Finding(Gender.NEUTRAL, "both", shown, places)
    return finder.read(words, chosen)


def _name_both_genders(one: Occurrence, other: Occurrence) -> bool:
    """Whether exactly one of the forms is a woman's."""
    genders = [_genders(one), _genders(other)]
    return {"feminine"} in genders and sum("feminine" in some for some in genders) == 1


def _genders(mention: Occurrence) -> frozenset[str]:
    singular = [gender for gender, number in mention.readings if number == "singular"]
    return frozenset(singular or [gender for gender, _ in mention.readings])


def _may_be_person(finder: OccupationFinder, word: str, entity: str) -> bool:
    """Whether an unknown word can denote the person: a noun by its ending, of another trade, or left in English."""
    language = finder.language
    if _is_function_word(finder, word) or language.is_thing(word):
        return False
    if language.person_ending is Language.person_ending or language.person_ending.fullmatch(word):
        return True
    return language.noun(word) is not None or word in entity.lower().split() or word in finder.forms


def _is_function_word(finder: OccupationFinder, word: str) -> bool:
    language = finder.language
    return word in language.singular or word in language.plural or word in language.transparent or len(word) < 2
