"""Whose word it is, where only the grammar of a language tells.

German "sie" is she, they and a thing; Russian «его» is his and its. Such a word of the other gender speaks against a
translation only if nobody and nothing else can be meant.
"""

from __future__ import annotations

import re

from gendermark.linguistics.gendered import Told
from gendermark.linguistics.held import Sentence, has_phrase, letter_of

_PRONOUNS = {
    "m": frozenset({"he", "him", "his", "himself"}),
    "f": frozenset({"she", "her", "hers", "herself"}),
}
_ENGLISH = re.compile(r"[a-z]+")
_AMBIGUOUS = frozenset({"de", "nl", "ru"})
_ADDRESSED = frozenset({"you", "your", "yours", "yourself"})
_OWN = {"ru": re.compile(r"сво(?:й|я|е|ю|и|его|ему|ей|ею|им|их|ими|ем)|себя|себе|собой")}
"""Possessives of the subject, which stand for "his" and "her" and show neither."""


def is_the_persons(sentence: Sentence, at: int, told: Told) -> bool:
    """Whether a pronoun or possessive of the other gender can only be the person's.

    So it is where it stands among the words of the wrong reference; and where nobody and nothing else is spoken of by a
    pronoun, and the translation has fewer pronouns of the right gender than the source.
    """
    marks = sentence.marks
    if sentence.language.code not in _AMBIGUOUS or told.gender == sentence.expected:
        return False
    if not _speaks_of_the_person_only(sentence):
        return False
    words = _ENGLISH.findall(sentence.source.lower())
    if marks.names_things or marks.names_several or _ADDRESSED & set(words):
        return follows_the_wrong_reference(sentence, range(at - 1, at + 2))
    if any(follows_the_wrong_reference(sentence, range(start, start + 2)) for start in (at - 1, at)):
        return True
    wanted = sum(word in _PRONOUNS[sentence.expected] for word in words)
    return at in sentence.near and _fulfilled(sentence) < wanted


def _speaks_of_the_person_only(sentence: Sentence) -> bool:
    return all(letter_of(gender) == sentence.expected for gender in sentence.marks.genders)


def _fulfilled(sentence: Sentence) -> int:
    """Words of a translation that stand for "he" or "his", and do not contradict."""
    lists, own = sentence.lists, _OWN.get(sentence.language.code)
    found = 0
    for word in sentence.words:
        told = lists.told.get(word)
        is_right = told is not None and told.kind in ("pronoun", "owner") and told.gender == sentence.expected
        found += is_right or (own is not None and own.fullmatch(word) is not None)
    return found


def follows_the_wrong_reference(sentence: Sentence, places: range) -> bool:
    """Whether these words stand side by side in the wrong reference, and not in the right one."""
    if places.start < 0 or places.stop > len(sentence.words):
        return False
    phrase, contrast = sentence.words[places.start : places.stop], sentence.contrast
    return has_phrase(contrast.wrong_words, phrase) and not has_phrase(contrast.right_words, phrase)


def is_relative(sentence: Sentence, at: int) -> bool:
    """Whether a word of the wrong reference refers back to a name: "Lange, die", not "Frau, die"."""
    if not at or not sentence.begins_clause(at) or not follows_the_wrong_reference(sentence, range(at - 1, at + 2)):
        return False
    return sentence.lists.look_up(sentence.words[at - 1]).told is None


_NOMINALISED = re.compile(r".*?(e|en|er|em|es)")
_EXAMPLE = "angestellt"
"""A stem that German's file knows as that of a noun."""


def gender_of_nominalised(sentence: Sentence, at: int) -> str | None:
    """The gender of an adjective that is a noun, by its ending and its article: "der Gelehrte", "die Gelehrte"."""
    if not sentence.is_noun(at):
        return None
    words, language = sentence.words, sentence.language
    ending = _NOMINALISED.fullmatch(words[at])
    if ending is None:
        return None
    as_known = [*words[:at], _EXAMPLE + ending[1], *words[at + 1 :]]
    for clue in language.clues(as_known, at, at + 1, "singular"):
        return clue.agreement if clue.agreement in ("m", "f") else None
    is_called_so = at > 0 and (words[at - 1] in sentence.lists.introducing or sentence.begins_clause(at))
    return "f" if ending[1] == "e" and is_called_so and sentence.speaks_of_one else None


_SEVERAL = frozenset(
    "die alle aller allen viele vieler vielen mehrere mehrerer mehreren einige einiger einigen beide beider beiden zwei "
    "drei vier fünf sechs sieben acht neun zehn zahlreiche zahlreicher zahlreichen andere anderer anderen".split()
)
_ONE_OF = frozenset("eine einer einem einen eines zwei drei viele einige mehrere meisten".split())


def is_group(sentence: Sentence, at: int) -> bool:
    """Whether a German noun that is the same in the plural names several: "eine der besten Spieler"."""
    words, language = sentence.words, sentence.language
    if language.code != "de" or not words[at].endswith("er"):
        return False
    before = at - 1
    while before >= 0 and words[before] not in language.plural and language.adjective(words[before], "plural"):
        before -= 1
    if before < 0:
        return False
    return words[before] in _SEVERAL or (words[before] == "der" and before > 0 and words[before - 1] in _ONE_OF)
