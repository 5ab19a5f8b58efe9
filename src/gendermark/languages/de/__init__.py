"""German: articles show gender in the singular only; "der" is masculine nominative or feminine dative or genitive.

Most nouns tell by themselves ("Arzt", "Ärztin"). Two kinds do not:

- Nominalised adjectives ("Angestellte", "Vorsitzende") end like any adjective, so the article and the ending together
  tell: "der Angestellte" is a man, "die Angestellte" and "der Angestellten" a woman, "die Angestellten" are several
  people. (The last but one is also a genitive plural; a translation that speaks of one person does not mean that.)
- Loans used for both sexes ("CEO", "Nanny", "Sheriff"). An adjective before them tells in the same way ("der neue CEO",
  "der neuen CEO"); without one, "der" is read by its place: behind a preposition, a verb that gives something to
  somebody, or a noun, it is a feminine dative or genitive, elsewhere a masculine nominative.

A neuter like "das Kindermädchen" names a woman, and its neuter article must not be taken for a masculine one; "das
Kind" and "das Opfer" name anyone, and so does "jemand".
A noun in no lexicon is read by its article, as one person: "die" is feminine unless the noun looks like a plural or
ends like a man's ("die Urheber"), "den" is masculine, "der" is read by its place where the ending does not tell.
Forms for all genders ("Lehrer*in", "Lehrer:innen") speak for neither.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from gendermark.languages.language import Agreement, Clue, Clues, Language, RoleForms
from gendermark.languages.tables import pattern, toml_of, words_of

_W, _TABLES = words_of("de")
_PATTERNS = {name: pattern(text) for name, text in toml_of("de", "words.toml")["patterns"].items()}
_DER_WORDS = _W["der_words"]
_EIN_WORDS = {**{word: word for word in _W["ein_words"]}, "euer": "eur"}
_SINGULAR, _PLURAL = dict(_TABLES["singular"]), dict(_TABLES["plural"])
for _stem in _DER_WORDS:
    _SINGULAR |= {_stem + "er": "mf", _stem + "e": "f", _stem + "en": "m", _stem + "em": "m", _stem + "es": "m"}
    _PLURAL |= dict.fromkeys((_stem + "e", _stem + "er", _stem + "en"), "mf")
for _bare, _stem in _EIN_WORDS.items():
    _SINGULAR |= dict.fromkeys((_bare, _stem + "en", _stem + "em", _stem + "es"), "m")
    _SINGULAR |= dict.fromkeys((_stem + "e", _stem + "er"), "f")
    if _bare not in ("ein", "irgendein"):
        _PLURAL |= dict.fromkeys((_stem + "e", _stem + "er", _stem + "en"), "mf")
_DETERMINERS = frozenset({*_SINGULAR, *_PLURAL})
_NOMINATIVES = frozenset(
    {"der", "die", "das", *_EIN_WORDS}
    | {stem + "e" for stem in (*_EIN_WORDS.values(), *_DER_WORDS)}
    | {stem + "er" for stem in _DER_WORDS}
)

_ADJECTIVE = re.compile(r"[\w-]{2,}(e|en|er|em|es)")
_NEUTER_ENDINGS, _FEMALE_ENDINGS, _MALE_ENDINGS = (
    tuple(_W[f"{kind}_endings"]) for kind in ("neuter", "female", "male")
)
_PREPOSITIONS = _W["dative_prepositions"] | _W["other_prepositions"]
_GIVING_TOO = _W["giving"] | _W["giving_with_accusative"]
_PARTITIVE = {**_TABLES["partitive"], **dict.fromkeys(_W["partitive_plural"])}


@lru_cache(maxsize=4096)
def _adjective(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    if word in _W["no_adjectives"] or not _ADJECTIVE.fullmatch(word):
        return None
    if word.startswith(("weiblich", "männlich")):
        return "f" if word.startswith("w") else "m"
    return "m" if word.endswith("em") else "mf"


@lru_cache(maxsize=4096)
def _is_nominalised(noun: str) -> bool:
    return _PATTERNS["nominalised"].fullmatch(noun) is not None


@lru_cache(maxsize=4096)
def _is_neutral(noun: str) -> bool:
    return noun.removeprefix("irgend") in _W["somebody"] or noun in _W["somebody"] or noun.endswith(_NEUTER_ENDINGS)


@lru_cache(maxsize=4096)
def _noun(word: str) -> Agreement | None:
    if len(word) < 3 or word in _W["ending_misleads"] or _is_neutral(word):
        return None
    female = word.endswith(_FEMALE_ENDINGS) and not word.endswith(("gehilfe", "gehilfen", "ein"))
    return "f" if female else "m" if word.endswith(_MALE_ENDINGS) else None


def _clues(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    noun = words[end - 1]
    if noun.endswith(("mädchen", "mädchens")):
        return [Clue(end - 1, "f")]
    rest = words[end : end + 2]  # "Lehrer*innen", "Lehrer:in ist": cut at the star, the masculine form is none
    if rest[:1] == ["innen"] or (rest[:1] == ["in"] and (len(rest) == 1 or rest[1] in _W["verbs"])):
        return [Clue(end, "f")]
    if noun == "sheriffs":
        return [Clue(end - 1, "m")]  # the feminine plural is "Sheriffinnen"
    if _is_neutral(noun):
        return [Clue(end - 1, "m"), Clue(end - 1, "f")]  # takes back what "dem Kind" said
    at = start - 1
    while (
        at >= 0 and words[at] not in _DETERMINERS and (_adjective(words[at], number) or words[at] in _W["transparent"])
    ):
        at -= 1
    if noun not in _W["loans"] and not _is_nominalised(noun):
        return _by_article(words, at, end) if number == "singular" and at >= 0 else []
    around = ["", "", *words, ""]  # now words[at] is around[at + 2]
    earlier, before, behind = around[at + 1], around[at + 2], around[end + 2]
    determiner = before if before in _DETERMINERS else ""
    inflected: int | None = end - 1
    if noun in _W["loans"]:
        inflected = next((place for place in range(start - 1, at, -1) if words[place] not in _W["transparent"]), None)
    gender: Agreement | None = None
    if inflected is not None:
        alone = noun in _W["loans"] or bool({before, behind} & _W["one_person"])
        gender = _by_ending(words[inflected], determiner, earlier, alone)
    elif _SINGULAR.get(determiner) == "mf":
        gender = _by_place(words, at, end)
    elif noun == "sheriff" and not determiner:
        gender = "m"  # the feminine is "Sheriffin"; only an article makes this form feminine ("die Sheriff")
    return [Clue(end - 1 if inflected is None else inflected, gender)] if gender else []


def _by_article(words: Sequence[str], at: int, end: int) -> Clues:
    """What a determiner that serves the plural too tells about one person, if words[at] is one."""
    determiner, noun = words[at], words[end - 1]
    told = _SINGULAR.get(determiner)
    if told is None or determiner not in _PLURAL:
        return []
    if told == "mf":
        return [] if _noun(noun) else [Clue(at, _by_place(words, at, end))]
    if told == "f" and (noun.endswith(("n", "s")) or _noun(noun)):
        return []
    return [Clue(at, told)]


def _by_ending(word: str, determiner: str, earlier: str, one_person: bool) -> Agreement | None:
    """What an adjective form tells behind a determiner ("" for none), itself behind the word `earlier`."""
    agreement = _SINGULAR.get(determiner)
    if determiner in _W["genitive_plural"]:
        return None
    if word.endswith("er"):
        return "m"  # (ein) Angestellter
    if word.endswith("e"):
        if agreement == "mf" or determiner in ("derselbe", "derjenige"):
            return "m"  # der, dieser, jeder Angestellte
        alone = not determiner and one_person  # "sie ist Angestellte", but not "sie sind Angestellte"
        plural = determiner in ("manche", "solche", "welche")  # "manche Angestellte", beside "manche Angestellten"
        return "f" if (agreement == "f" and not plural) or alone else None
    if agreement == "mf" or (agreement == "f" and determiner.endswith("r")):
        return _PARTITIVE.get(earlier, "f")  # der, meiner, zur Angestellten, but not "viele der Angestellten"
    if agreement == "m" and determiner in _PLURAL and (earlier in _W["dative_prepositions"] or earlier in _W["giving"]):
        return None  # "mit den Angestellten" is a plural, "für den Angestellten" is not
    return "m" if agreement == "m" else None  # not "die Angestellten"


def _by_place(words: Sequence[str], at: int, end: int) -> Agreement:
    """Whether "der" (dieser, jeder ...) at words[at] is a masculine nominative or a feminine dative or genitive."""
    before = words[at - 1] if at > 0 else ""
    if before in _PREPOSITIONS:
        return "f"
    if words[end : end + 1] and words[end] in _W["finite"]:
        return "m"  # "sie sagte, der CEO habe ..."
    if before in _GIVING_TOO:  # "der Bote gab der CEO ...", but not "dann half der CEO ..."
        subject_precedes = (at > 2 and words[at - 3] in _NOMINATIVES) or (at > 1 and words[at - 2] in _W["pronouns"])
        return "f" if subject_precedes else "m"
    noun_precedes = at > 1 and words[at - 2] in _DETERMINERS | {"das"} and not before.endswith("te")
    return "f" if noun_precedes and before not in _W["verbs"] else "m"


def _role_forms(masculine: str, feminine: str) -> RoleForms:
    feminine = feminine or masculine + "in"
    ending = "innen" if feminine.endswith("in") else ""
    forms = [(masculine, "m", False), (masculine + "s", "m", False), (feminine, "f", False)]
    if ending:
        forms.append((feminine + "nen", "f", True))
    if masculine.endswith("er"):
        forms.append((masculine + "n", "m", True))
    elif not masculine.endswith("e"):
        forms += [(masculine + "en", "m", True)]
    return forms


def _person_noun(word: str, number: str) -> Agreement | None:
    """Nouns of people have a feminine in -in, so others are masculine, but for adjectives ("Jugendliche")."""
    if _is_neutral(word) or word.endswith(tuple(_W["no_pair"])) or _is_nominalised(word):
        return None
    if word.endswith(("in", "innen")):
        return "f"
    if gender := _noun(word):
        return gender
    if _PATTERNS["like_adjectives"].fullmatch(word):
        return None
    return "m" if number == "p" and word.endswith(("e", "en", "n", "s")) else None


LANGUAGE = Language(
    code="de",
    name="German",
    singular=_SINGULAR,
    plural=_PLURAL,
    transparent=_W["transparent"],
    adjective=_adjective,
    clues=_clues,
    noun=_noun,
    sexes={
        stem + ending: gender
        for stem, gender in (("männlich", "m"), ("weiblich", "f"))
        for ending in ("e", "en", "er", "es", "em")
    },
    role_forms=_role_forms,
    plural_endings=("innen",),
    case_ending=re.compile("(?:nen|es?|en|(?<!i)n|s)$"),
    hint_sexes={"mann": "m", "männer": "m", "frau": "f", "frauen": "f"},
    nouns_are_capitalised=True,
    has_compounds=True,
    head_is_last=True,
    person_noun=_person_noun,
    sex_stems=(("weiblich", "f"), ("männlich", "m")),
    standalone=_TABLES["standalone"],
    person_ending=_PATTERNS["person_ending"],
)
