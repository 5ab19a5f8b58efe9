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
from gendermark.languages.tables import by_gender, record, toml_of, word_set

_LISTS = toml_of("fr", "grammar.toml")
_MASCULINE = "le un du au ce cet quel tout aucun nul certain tel"
_FEMININE = "la une cette ma ta sa quelle toute aucune nulle certaine telle"
_OPEN = "l' l mon ton son leur notre votre chaque quelque"
_MASCULINES = "tous quels certains tels différents"
_FEMININES = "toutes quelles certaines telles différentes"
_OPENS = "les des aux ces mes tes ses leurs nos vos plusieurs quelques divers"
_BEFORE_PLURAL = {"tous": "m", "toutes": "f", "un": "m", "une": "f", "chacun": "m", "chacune": "f", "aucun": "m"} | {
    "aucune": "f", "certains": "m", "certaines": "f", "quelques-uns": "m", "quelques-unes": "f",
}  # fmt: skip
_TRANSPARENT = word_set(_LISTS["transparent"])
_REGULAR = _LISTS["regular"]
_IRREGULAR = _LISTS["irregular"]
_BEHIND_ETRE = _LISTS["behind_etre"]
# Verbs with "se" that take no object: their participle agrees though "de" or "que" follows.
_WITHOUT_OBJECT = word_set(_LISTS["without_object"])
_ETRE = record(Copula, _LISTS["etre"])
_REFLEXIVES = word_set("se s' s")
_CLAUSE_STARTS = word_set("""
    que qu' qu mais car lorsque lorsqu' quand si où donc comme puisque puisqu' tandis hier hui alors
""").union(_BEFORE_PLURAL)
_PREPOSITION = re.compile("de|d'|du|des|à|au|aux|en|dans|sur|avec|chez")
_RELATIVES = word_set("qui que qu' dont lequel laquelle quoi")
_SUBORDINATORS = word_set("qui que qu' dont où quand lorsque lorsqu' car si comme puisque puisqu' tandis pour")
_AN_OBJECT_FOLLOWS = word_set("le la l' les un une des du de que qu' si son sa ses leur leurs")
_OBLIQUE = word_set("de du des d' que qu'")
_BOTH_ARTICLES = BothArticles(  # "le/la comptable", "une ou un comptable"
    re.compile(r"\b(?:le (?:ou )?la|la (?:ou )?le|un (?:ou )?une|une ou un)$"), word_set("le la un une ou")
)
_PARTICIPLES = {"singular": re.compile(r"\w+é(e?)"), "plural": re.compile(r"\w+é(e?)s")}
_NO_PARTICIPLE = re.compile(r"\w+ités?|malgré|excepté|passé|côtés?|été|santé")
# Behind "être" the endings of other participles are safe: "s'est entretenu", "est partie".
_OTHER_PARTICIPLES = re.compile(r"\w+[^\Waeogqu][ui](e?)s?")
_NO_OTHER_PARTICIPLE = word_set("ici ainsi aussi parmi lui celui ami amis amie amies midi quasi")
_VOWELS = frozenset("aeiouyhàâéèêëîïôöùûœæ")
_NOUNS = NounEndings(
    things=re.compile("(?:[ts]ion|ment|isme|erie|thèque|clientèle|(?<!person)(?<!ot)(?<!p)(?<!s)age)s?$"),
    untold=re.compile("^enfant$"),
    feminine=re.compile("(?:euse|trice|ière|ienne|esse|ante|ente|ée|eure|onne|ère|aine|tion|sion)$"),
    masculine=re.compile("(?:eur|ier|ien|ant|ent|and|ard|ois|ais|ain|oir|eau|ger|on)$"),
)


def _feminine(adjective: str) -> str:
    for ending, replacement in {"x": "se", "f": "ve", "er": "ère", "el": "elle", "en": "enne", "on": "onne"}.items():
        if adjective.endswith(ending):
            return adjective.removesuffix(ending) + replacement
    return adjective + "e"


def _plural(adjective: str) -> str:
    if adjective.endswith("al"):
        return adjective[:-2] + "aux"
    return adjective + ("" if adjective[-1] in "sx" else "x" if adjective.endswith("eau") else "s")


_OPEN_SINGULAR, _OPEN_PLURAL = word_set(_OPEN), word_set(_OPENS)
_PAIRS = [(word, _feminine(word)) for word in _REGULAR.split()]
_PAIRS += [(masculine, feminine) for masculine, _, feminine in (pair.partition("/") for pair in _IRREGULAR.split())]
_ADJECTIVES: dict[str, dict[str, Agreement]] = {
    "singular": {form: gender for pair in _PAIRS for form, gender in zip(pair, "mf", strict=True)},
    "plural": {_plural(form): gender for pair in _PAIRS for form, gender in zip(pair, "mf", strict=True)},
}
_BEHIND = {form + end: gender for form in _BEHIND_ETRE.split() for end, gender in (("", "m"), ("e", "f"), ("es", "f"))}
_BEHIND |= {_plural(form): "m" for form in _BEHIND_ETRE.split()}


def _adjective(word: str, number: str) -> Agreement | None:
    return _ADJECTIVES[number].get(word)


def _participle(word: str, number: str) -> Agreement | None:
    match = _PARTICIPLES[number].fullmatch(word)
    return None if match is None or _NO_PARTICIPLE.fullmatch(word) else "f" if match[1] else "m"


def _behind_etre(word: str) -> Agreement | None:
    if word in _BEHIND or word in _NO_OTHER_PARTICIPLE:
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
    has_object = following in _AN_OBJECT_FOLLOWS and not (word in _WITHOUT_OBJECT and following in _OBLIQUE)
    reflexive = not _REFLEXIVES.isdisjoint(takewhile(_ETRE.before.__contains__, words[place:at]))
    if agreement == "m" and reflexive and has_object:
        return []
    return [Clue(at, agreement)] if agreement else []


def _second_predicate(words: Sequence[str], place: int, number: str) -> Clues:
    """The predicate behind "et" that the subject shares with its first verb: "(l'analyste) a crié et est partie"."""
    for position in range(place, len(words)):
        if words[position] in _SUBORDINATORS:
            return []
        if words[position] in ("et", "mais", "puis") and (found := _predicate(words, position + 1, number)):
            return found
    return []


def _clues(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    if both := _BOTH_ARTICLES.clues(words, start):
        return both
    first = phrase_start(words, start, _TRANSPARENT)
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
    first = phrase_start(words, start, _TRANSPARENT)
    return _behind_subject(words, words[first - 1] if first > 0 else "", end, number)


def _behind_subject(words: Sequence[str], earlier: str, end: int, number: str) -> Clues:
    """The predicate of a noun phrase behind the word `earlier`, or of the relative clause right behind that phrase."""
    near = words[: end + REACH]
    if words[end : end + 1] == ["qui"]:
        another = earlier in ("de", "d'") and words[end - 1] != "un"  # "la mère de l'analyste qui", not "de quelqu'un"
        return [] if another else _predicate(near, end + 1, number)
    if earlier and earlier not in _CLAUSE_STARTS:
        return []
    return _predicate(near, _ETRE.beyond_phrase(near, end, _PREPOSITION, _RELATIVES), number)


def _role_forms(masculine: str, feminine: str) -> RoleForms:
    feminine = feminine or masculine + "e"
    return four_forms(masculine, feminine, masculine + "s", feminine + "s")


_FEMININE_OF_PERSON = re.compile(
    r".*(?:en?n|on?n|eus|ric|èr|ais|ois|iqu?és|é|iv|[aei]nt|[ai]n|[aoi]nd|(?:[ao]|ou)rd|[aeio]rt|ot|ett|esse?|[aeu]l|ell|gnol|gol|anch|ikh|[^q]u|[dglmnrtsv]i"
    r"|at|ut|an|oun|oux|aux|eur|our|rg|lt|ct|ach|éch|èt|êt|in|un|id|ud|ill|lles|ass)es?"
)
_BOTH_OF_PERSON = re.compile(
    r".*(?:ist|air|iatr|log|graph|crat|pat|path|thlèt|iqu|bl|pl|gr|tr|br|dr|fr|vr|st|sm|asm|èn|ign|égu|arqu|all|aphe|onym|cid"
    r"|naut|phil|phob|mane|èqu|if|erge|age|ège|cle|gène|stre|ste|phe|que|ble|ple|tre|bre|vre)e?s?|.*(?:enfant|membre|jeune|autre|adulte)s?"
)


def _person_noun(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    if not word.endswith(("e", "es")):
        return "m"
    if _BOTH_OF_PERSON.fullmatch(word):
        return None
    return "f" if _FEMININE_OF_PERSON.fullmatch(word) else None


LANGUAGE = Language(
    code="fr",
    name="French",
    singular=by_gender(_MASCULINE, _FEMININE, _OPEN),
    plural=by_gender(_MASCULINES, _FEMININES, _OPENS),
    transparent=_TRANSPARENT,
    adjective=_adjective,
    adjectives_follow=True,
    clues=_clues,
    noun=_NOUNS.gender,
    is_thing=_NOUNS.is_thing,
    sexes=by_gender("homme hommes masculin masculine masculines", "femme femmes féminin féminine féminines"),
    by_sense=_by_sense,
    role_forms=_role_forms,
    plural_endings=("es", "és", "rs", "ns", "ts", "ds", "fs", "aux"),
    hint_sexes={"masculins": "m"},
    person_noun=_person_noun,
    person_ending=re.compile(
        r".{2,}(?:eur|euse|trice|iste|ien|ienne|ier|ière|ant|ante|ais|aise|ois|oise|ain|aine|logue|naire)[sx]?"
    ),
    standalone=by_gender(
        "quelques-uns certains ceux celui chacun aucun tous nul",
        "quelques-unes certaines celles celle chacune aucune toutes nulle",
    ),
)
