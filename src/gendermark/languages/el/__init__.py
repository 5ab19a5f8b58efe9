"""Greek: the article tells, in every case and number but the plural nominative and genitive ("οι", "των").

Most occupation nouns are common gender ("ο γιατρός", "η γιατρός"). Accents are dropped, as capitals are written without
("Η ΓΙΑΤΡΟΣ"); only "ή" (or) keeps its own, because without it it is the feminine article.

- "του" and "της" are articles before a genitive and possessives behind another noun: "η μητέρα του, γιατρός στον
  Βόλο". Before a nominative they are possessives, and tell nothing about the noun.
- Adjectives before the noun tell by their endings: -ος and -οι are masculine, -η and -ες feminine, and so is -α behind
  a vowel (behind a consonant it is an adverb or a neuter). Genitives and accusatives come with an article anyway.
- "οι γιατροί" has no gender; a word before the article has ("όλες οι γιατροί"), and so has a participle behind the verb
  "to be" ("οι γιατροί είναι κουρασμένες").
- A few masculines in -ης that have a feminine of their own ("ελεγκτής", "ελέγκτρια") also serve women in office, but
  only with a feminine article: "η ελεγκτής".
- Neuters ("το παιδί", "το θύμα", "το αφεντικό") say nothing; their genitive article "του" must not be taken for a
  masculine one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from gendermark.languages.language import Agreement, Clue, Clues, Language
from gendermark.languages.tables import gender_by_ending, toml_of, words_of


@lru_cache(maxsize=8192)
def _normalise(word: str) -> str:
    """Without accents and breathings, but with diaereses."""
    if word == "ή":
        return word
    parts = unicodedata.normalize("NFD", word)
    kept = "".join(part for part in parts if part == "\u0308" or not unicodedata.combining(part))
    return unicodedata.normalize("NFC", kept)


_W, _TABLES = words_of("el")
_SINGULAR, _PLURAL = _TABLES["singular"], _TABLES["plural"]
_ENDINGS: dict[str, tuple[tuple[re.Pattern[str], Agreement], ...]] = {
    "singular": (
        (re.compile(r"\w{2,}ος"), "m"),
        (re.compile(r"\w{2,}η|\w+[ιεο]α"), "f"),
        (re.compile(r"\w{2,}(ου|ον|ο|ης|ας|ων)"), "mf"),
    ),
    "plural": (
        (re.compile(r"\w{2,}(οι|ους)"), "m"),
        (re.compile(r"\w{2,}ες"), "f"),
        (re.compile(r"\w{2,}(ων|εις)"), "mf"),
    ),
}
_NOMINATIVES = {
    "του": re.compile(r"\w*(?<!οντ)ος|\w+(ης|ας|τρια|ισσα)"),
    "της": re.compile(r"\w*(?<!ιδ)(?<!ον)(?<!οντ)ος"),
}
_OFFICES = re.compile(r"(ελεγκτ|διοικητ|σκηνοθετ|(γυμνασι|λυκει|τμηματ)αρχ)(ης|η|ες|ων)")
_noun_by_ending = gender_by_ending(toml_of("el", "words.toml")["endings"])
_PREDICATE = re.compile(r"\w{3,}(?:μεν|στ|τικ|ιμ|ρ|θυμ)(ος|η)")
_PARTICIPLE = re.compile(r"\w+μεν(?:(οι)|ες)")


@lru_cache(maxsize=4096)
def _adjective(word: str, number: str) -> Agreement | None:
    if word in _W["not_adjectives"]:
        return None
    endings = (agreement for ending, agreement in _ENDINGS[number] if ending.fullmatch(word))
    return _TABLES["sexes"].get(word) or next(endings, None)


def _clues(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    noun, before = words[start], words[start - 1] if start else ""
    if words[end - 1] in _W["neuters"] or noun in _W["neuters"]:
        if told := _by_sense(words, start, end, number):
            return told
        return [Clue(start, "m"), Clue(start, "f")]  # takes back what "του" said
    if before in _NOMINATIVES and _NOMINATIVES[before].fullmatch(noun):
        return [Clue(start - 1, "f" if before == "του" else "m")]  # takes back what it said as an article
    if _OFFICES.fullmatch(noun):
        seen = (_SINGULAR.get(before), _PLURAL.get(before), _adjective(before, number))
        return [] if "f" in seen else [Clue(start, "m")]
    if before == "οι" and _PLURAL.get(words[start - 2] if start > 1 else "", "mf") != "mf":
        return [Clue(start - 2, _PLURAL[words[start - 2]])]
    if before == "οι" and number == "plural" and words[end : end + 1] in (["ειναι"], ["ηταν"]):
        at = end + 2 if end + 1 < len(words) and words[end + 1] in _W["transparent"] else end + 1
        if at < len(words) and words[at] not in _W["transparent"] and (participle := _PARTICIPLE.fullmatch(words[at])):
            return [Clue(at, "m" if participle[1] else "f")]
    return []


def _by_sense(words: Sequence[str], start: int, end: int, number: str) -> Clues:  # noqa: ARG001
    """A predicate that follows the sex: "το θύμα ήταν τρομαγμένη"."""
    if words[end : end + 1] not in (["ειναι"], ["ηταν"]):
        return []
    at = end + 1
    while at < len(words) and words[at] in _W["transparent"]:
        at += 1
    predicate = _PREDICATE.fullmatch(words[at]) if at < len(words) else None
    return [Clue(at, "m" if predicate[1] == "ος" else "f")] if predicate else []


LANGUAGE = Language(
    code="el",
    name="Greek",
    singular=_SINGULAR,
    plural=_PLURAL,
    transparent=_W["transparent"],
    adjective=_adjective,
    normalise=_normalise,
    clues=_clues,
    noun=lambda word: None if word in _W["neuters"] or len(word) < 4 else _noun_by_ending(word),
    sexes=_TABLES["sexes"],
    by_sense=_by_sense,
)
