"""Italian.

Elided articles ("l'", "dell'", "quell'") serve both genders, "un'" only the feminine; written apart from their noun, as
tokenisers do, they come without the apostrophe ("l", "dell"). Adjectives cannot be told by their endings next to a
noun, because verbs and adverbs end alike ("l'analista aiuta", "l'analista pubblica"), so they are listed; "stesso" and
"proprio" stand with the determiners because they count before the noun only. Where an elided article leaves the gender
open, the predicate of a subject that begins its clause tells it ("l'analista è stata promossa", "l'analista si è
ferita"): behind "essere" endings are safe, except in adverbs and in predicate nouns ("è avvocato", "è artista"). A
coordinated verb does not tell, since Italian leaves subjects out ("l'autista ha visto il medico ed era contenta").

Nouns in -ere write the masculine singular and the feminine plural alike: "l'infermiere", "le infermiere". Without a
determiner that tells, the form is feminine after words that speak of several women ("erano infermiere", "assunte come
infermiere"), open after "sono", and masculine elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gendermark.languages.language import Agreement, Clue, Clues, Language, RoleForms, four_forms
from gendermark.languages.romance import (
    REACH,
    BothArticles,
    Copula,
    Forms,
    NounEndings,
    adjectives,
    begins_clause,
    phrase_start,
)
from gendermark.languages.tables import pattern, record, toml_of, words_of

_W, _TABLES = words_of("it")
_GIVEN = toml_of("it", "words.toml")
_ESSERE, _NOUNS = record(Copula, _GIVEN["essere"]), record(NounEndings, _GIVEN["nouns"])
_BOTH_ARTICLES = record(BothArticles, _GIVEN["both_articles"])
_PATTERNS = {name: pattern(text) for name, text in _GIVEN["patterns"].items()}
_PARTICIPLES = {
    "singular": re.compile(r"\w+(?:[ailnrstu]t|[eiosu]s)([oa])"),
    "plural": re.compile(r"\w+(?:[ailnrstu]t|[eiosu]s)([ie])"),
}
# Other predicates by their vowel, in the singular: "(l'insegnante) era scarsa", "era amico di un amico".
_PREDICATE = re.compile(r"\w{3,}([oa])")


def _inflected(adjective: str) -> Forms:
    stem = adjective[:-1]
    hard = "h" if stem.endswith(("c", "g")) else ""
    soft = hard if not stem.endswith("ic") else ""
    return adjective, stem + "a", stem if stem.endswith("i") else f"{stem}{soft}i", f"{stem}{hard}e"


_ADJECTIVES = adjectives(_GIVEN["adjectives"], ("buon bel", "buon'"), ("bei begli", ""), _inflected)


def _adjective(word: str, number: str) -> Agreement | None:  # noqa: ARG001  (its four forms are all different)
    return _ADJECTIVES["singular"].get(word) or _ADJECTIVES["plural"].get(word)


def _adjective_behind(words: Sequence[str], place: int, number: str) -> Clues:
    """An adjective right behind the noun, unless it begins the next noun: "(insegna all'assistente) nuova musica"."""
    word, *following = words[place : place + 2] or [""]
    agreement = _ADJECTIVES[number].get(word)
    if agreement is None or word in _W["transparent"]:
        return []
    if following and word[:-1] in _W["before_nouns"] and following[0] not in _W["no_noun"]:
        return []
    return [Clue(place, agreement)]


def _predicate(words: Sequence[str], place: int, number: str) -> Clues:
    """The adjective or participle behind "essere", of a subject that ends before `place`."""
    at = _ESSERE.behind(words, place, number)
    if at is None or _PATTERNS["no_predicate"].fullmatch(words[at]):
        return []
    if agreement := _adjective(words[at], number):
        return [Clue(at, agreement)]
    match = _PARTICIPLES[number].fullmatch(words[at])
    if match is None and number == "singular":
        match = _PREDICATE.fullmatch(words[at])
    return [Clue(at, "m" if match[1] in "oi" else "f")] if match else []


def _clues(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    if both := _BOTH_ARTICLES.clues(words, start):
        return both
    behind = _adjective_behind(words, end, number)
    first = phrase_start(words, start, _W["transparent"])
    before = words[first] if first >= 0 else ""
    if words[start].endswith("ere") and before not in LANGUAGE.plural and _adjective(before, number) is None:
        if before not in LANGUAGE.singular and not _W["several_women"].isdisjoint(words[max(start - REACH, 0) : start]):
            return [Clue(start, "f"), *behind]
        return behind if before == "sono" or _TABLES["singular"].get(before) == "f" else [Clue(start, "m"), *behind]
    if before not in LANGUAGE.singular and before not in LANGUAGE.plural:
        first, before = first + 1, ""
    return behind + (_behind_subject(words, first, end, number) if not before or before in _W["subject"] else [])


def _by_sense(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    return _behind_subject(words, phrase_start(words, start, _W["transparent"]), end, number)


def _behind_subject(words: Sequence[str], first: int, end: int, number: str) -> Clues:
    """The predicate of a noun phrase words[first:end], or of the relative clause right behind it.

    Behind "a" and others "che" may begin what is said to the person ("disse a qualcuno che era ...").
    """
    begins = begins_clause(words, first, _W["clause_starts"])
    near = words[: end + REACH]
    if words[end : end + 1] == ["che"] and (begins or words[first - 1] in _W["with"]):
        return _predicate(near, end + 1, number)
    if not begins:
        return []
    return _predicate(near, _ESSERE.beyond_phrase(near, end, _PATTERNS["preposition"], _W["relatives"]), number)


def _role_forms(masculine: str, feminine: str) -> RoleForms:
    feminine = feminine or masculine[:-1] + "a"
    plural = masculine[:-1] + ("hi" if masculine.endswith(("go", "co")) and masculine[-3] not in "io" else "i")
    plural = plural.removesuffix("ii") + "i" if plural.endswith("ii") else plural
    if feminine.endswith(("ca", "ga")):
        feminines = feminine[:-1] + "he"
    else:
        feminines = feminine[:-1] + ("i" if feminine.endswith("e") else "e")
    # "infermiere" is also "nurses": such a plural tells nothing
    return four_forms(masculine, feminine, plural, "" if feminines == masculine else feminines)


LANGUAGE = Language(
    code="it",
    name="Italian",
    singular=_TABLES["singular"],
    plural=_TABLES["plural"],
    transparent=_W["transparent"],
    adjective=_adjective,
    clues=_clues,
    noun=_NOUNS.gender,
    is_thing=_NOUNS.is_thing,
    sexes=_TABLES["sexes"],
    by_sense=_by_sense,
    role_forms=_role_forms,
    ambiguous_adjective=re.compile(r"\w*[^aio]"),
    plural_endings=("i",),
    person_ending=_PATTERNS["person_ending"],
)
