"""French.

The plural articles and "l'", "leur", "notre", "votre", "chaque" leave the gender open. "mon", "ton" and "son" serve the
feminine only before a vowel ("son assistante"), so before a consonant they tell. "tous/toutes les" and "une des" tell
through the article. Adjectives are listed, because endings deceive ("malade", "analyse", "content"); participles in -é
are safe right behind the noun ("des analystes expérimentées"), not before it ("Marie est née comptable"). Where the
determiner leaves the gender open, the predicate of a subject that begins its clause tells it ("l'analyste est
contente", "l'analyste a été embauchée"), and so does that of "qui" right behind the noun. With "s'est", a masculine
participle before an object is no agreement ("elle s'est cassé le bras") and is ignored, unless the verb takes none
("s'est approché de la table"). A subject's predicate may also stand behind "et" ("l'analyste a crié et est partie"):
French leaves no subject out, so nobody else can be meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from gendermark.languages.language import Agreement, Clue, Clues, Language, RoleForms, four_forms
from gendermark.languages.romance import (
    REACH,
    BothArticles,
    Copula,
    NounEndings,
    phrase_start,
)
from gendermark.languages.tables import pattern, record, toml_of, words_of

_W, _TABLES = words_of("fr")
_GIVEN = toml_of("fr", "words.toml")
_ETRE, _NOUNS = record(Copula, _GIVEN["etre"]), record(NounEndings, _GIVEN["nouns"])
_BOTH_ARTICLES = record(BothArticles, _GIVEN["both_articles"])
_PEOPLE = {name: pattern(text) for name, text in _GIVEN["people"].items()}
_BEFORE_PLURAL = _TABLES["before_plural"]
_CLAUSE_STARTS = _W["clause_starts"].union(_BEFORE_PLURAL)
_PREPOSITION = re.compile("de|d'|du|des|à|au|aux|en|dans|sur|avec|chez")
_PARTICIPLES = {"singular": re.compile(r"\w+é(e?)"), "plural": re.compile(r"\w+é(e?)s")}
_NO_PARTICIPLE = re.compile(r"\w+ités?|malgré|excepté|passé|côtés?|été|santé")
# Behind "être" the endings of other participles are safe: "s'est entretenu", "est partie".
_OTHER_PARTICIPLES = re.compile(r"\w+[^\Waeogqu][ui](e?)s?")
_VOWELS = frozenset("aeiouyhàâéèêëîïôöùûœæ")


def _feminine(adjective: str) -> str:
    for ending, replacement in {"x": "se", "f": "ve", "er": "ère", "el": "elle", "en": "enne", "on": "onne"}.items():
        if adjective.endswith(ending):
            return adjective.removesuffix(ending) + replacement
    return adjective + "e"


def _plural(adjective: str) -> str:
    if adjective.endswith("al"):
        return adjective[:-2] + "aux"
    return adjective + ("" if adjective[-1] in "sx" else "x" if adjective.endswith("eau") else "s")


_OPEN_SINGULAR, _OPEN_PLURAL = (
    frozenset(word for word, agreement in _TABLES[number].items() if agreement == "mf")
    for number in ("singular", "plural")
)
_PAIRS = [(word, _feminine(word)) for word in _W["regular"]] + [tuple(pair.split("/")) for pair in _W["irregular"]]
_ADJECTIVES: dict[str, dict[str, Agreement]] = {
    "singular": {form: gender for pair in _PAIRS for form, gender in zip(pair, "mf", strict=True)},
    "plural": {_plural(form): gender for pair in _PAIRS for form, gender in zip(pair, "mf", strict=True)},
}
_BEHIND = {form + end: gender for form in _W["behind_etre"] for end, gender in (("", "m"), ("e", "f"), ("es", "f"))}
_BEHIND |= {_plural(form): "m" for form in _W["behind_etre"]}


def _adjective(word: str, number: str) -> Agreement | None:
    return _ADJECTIVES[number].get(word)


def _participle(word: str, number: str) -> Agreement | None:
    match = _PARTICIPLES[number].fullmatch(word)
    return None if match is None or _NO_PARTICIPLE.fullmatch(word) else "f" if match[1] else "m"


def _behind_etre(word: str) -> Agreement | None:
    if word in _BEHIND or word in _W["no_other_participle"]:
        return _BEHIND.get(word)
    match = _OTHER_PARTICIPLES.fullmatch(word)
    return None if match is None else "f" if match[1] else "m"


def _predicate(words: Sequence[str], place: int, number: str) -> Clues:
    """The adjective or participle behind "être", of a subject that ends before `place`."""
    at = _ETRE.behind(words, place, number)
    if at is None:
        return []
    word, following = words[at], words[at + 1] if at + 1 < len(words) else ""
    agreement = _adjective(word, number) or _participle(word, number) or _behind_etre(word)
    has_object = following in _W["an_object_follows"] and not (
        word in _W["without_object"] and following in _W["oblique"]
    )
    reflexive = not _W["reflexives"].isdisjoint(takewhile(_ETRE.before.__contains__, words[place:at]))
    if agreement == "m" and reflexive and has_object:
        return []
    return [Clue(at, agreement)] if agreement else []


def _second_predicate(words: Sequence[str], place: int, number: str) -> Clues:
    """The predicate behind "et" that the subject shares with its first verb: "(l'analyste) a crié et est partie"."""
    for position in range(place, len(words)):
        if words[position] in _W["subordinators"]:
            return []
        if words[position] in ("et", "mais", "puis") and (found := _predicate(words, position + 1, number)):
            return found
    return []


def _clues(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    if both := _BOTH_ARTICLES.clues(words, start):
        return both
    first = phrase_start(words, start, _W["transparent"])
    if first >= 0 and words[first] not in LANGUAGE.singular and words[first] not in LANGUAGE.plural:
        first += 1  # a noun without determiner, or "quelqu'un"
    determiner = words[first] if 0 <= first < start else ""
    earlier = words[first - 1] if first > 0 and not words[first - 1].isdigit() else ""
    found: Clues = []
    if determiner in ("mon", "ton", "son") and words[first + 1][0] not in _VOWELS:
        found.append(Clue(first, "m"))
    if determiner in _OPEN_PLURAL and earlier in _BEFORE_PLURAL:
        found.append(Clue(first - 1, _BEFORE_PLURAL[earlier]))
    number = "plural" if determiner in _OPEN_PLURAL else number
    if not earlier and (determiner in _OPEN_SINGULAR or not determiner):
        found.extend(_second_predicate(words, end, number))
    told = determiner and determiner not in _OPEN_SINGULAR and determiner not in _OPEN_PLURAL
    if told or end == len(words):
        return found
    if (determiner or not earlier) and (agreement := _participle(words[end], number)):
        return [*found, Clue(end, agreement)]
    return found + _behind_subject(words, earlier, end, number)


def _by_sense(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    first = phrase_start(words, start, _W["transparent"])
    return _behind_subject(words, words[first - 1] if first > 0 else "", end, number)


def _behind_subject(words: Sequence[str], earlier: str, end: int, number: str) -> Clues:
    """The predicate of a noun phrase behind the word `earlier`, or of the relative clause right behind that phrase."""
    near = words[: end + REACH]
    if words[end : end + 1] == ["qui"]:
        another = earlier in ("de", "d'") and words[end - 1] != "un"  # "la mère de l'analyste qui", not "de quelqu'un"
        return [] if another else _predicate(near, end + 1, number)
    if earlier and earlier not in _CLAUSE_STARTS:
        return []
    return _predicate(near, _ETRE.beyond_phrase(near, end, _PREPOSITION, _W["relatives"]), number)


def _role_forms(masculine: str, feminine: str) -> RoleForms:
    feminine = feminine or masculine + "e"
    return four_forms(masculine, feminine, masculine + "s", feminine + "s")


def _person_noun(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    if not word.endswith(("e", "es")):
        return "m"
    if _PEOPLE["both"].fullmatch(word):
        return None
    return "f" if _PEOPLE["feminine"].fullmatch(word) else None


LANGUAGE = Language(
    code="fr",
    name="French",
    singular=_TABLES["singular"],
    plural=_TABLES["plural"],
    transparent=_W["transparent"],
    adjective=_adjective,
    adjectives_follow=True,
    clues=_clues,
    noun=_NOUNS.gender,
    is_thing=_NOUNS.is_thing,
    sexes=_TABLES["sexes"],
    by_sense=_by_sense,
    role_forms=_role_forms,
    plural_endings=("es", "és", "rs", "ns", "ts", "ds", "fs", "aux"),
    hint_sexes={"masculins": "m"},
    person_noun=_person_noun,
    person_ending=_PEOPLE["ending"],
    standalone=_TABLES["standalone"],
)
