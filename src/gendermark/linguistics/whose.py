"""Whose word a word of a translation is: the person's, somebody else's or a thing's, by the words around it."""

from __future__ import annotations

from gendermark.linguistics.gendered import Told
from gendermark.linguistics.grammar import is_dual, is_group, is_of_a_post
from gendermark.linguistics.held import Sentence

_REACH = 4
"""Words between "as", "is" and the noun behind it."""


def is_somebody_else(sentence: Sentence, at: int, told: Told | None) -> bool:
    """By number or owner: "the players", "her director", where the source marks one person and the owner."""
    if not sentence.marks.genders:
        return False
    words, lists = sentence.words, sentence.lists
    if (at and words[at - 1] in lists.possessives) or is_of_a_post(sentence, at):
        return True
    if at and told is None and _is_of_a_thing(sentence, at):
        return True
    if at and told is not None and told.kind == "role" and _follows_a_thing(sentence, at, told.gender):
        return True
    is_plural = told.is_plural if told else _looks_plural(sentence.language.code, words[at])
    is_plural = is_plural or is_group(sentence, at) or is_dual(sentence, at)
    return is_plural and sentence.speaks_of_one


def _is_of_a_thing(sentence: Sentence, at: int) -> bool:
    """Whether an adjective belongs to a noun that tells nothing ("membro honorário"), a participle to a thing."""
    lists, before = sentence.lists, sentence.words[at - 1]
    if _fixed_before(sentence, at) or (before in lists.habit and _gender_of_form(sentence, at) == "m"):
        return True
    if _follows_a_thing(sentence, at, _gender_of_form(sentence, at)):
        return True
    if lists.verb(sentence.words[at]) and at not in sentence.near and subject_of(sentence, at) is None:
        return True
    copula = copula_before(sentence, at)
    return (
        copula is not None and lists.participle(sentence.words[at]) is not None and subject_of(sentence, copula) is None
    )


def _fixed_before(sentence: Sentence, at: int) -> bool:
    """Whether a noun of one gender stands before an adjective, or a little before a participle."""
    words, lists = sentence.words, sentence.lists
    reach = _REACH if lists.participle(words[at]) else 1
    for place in range(at - 1, max(at - 1 - reach, -1), -1):
        if words[place] in lists.fixed:
            return True
        if sentence.begins_clause(place + 1) or words[place] in lists.copulas or words[place] in lists.told:
            return False
    return False


def _follows_a_thing(sentence: Sentence, at: int, form: str | None) -> bool:
    """Whether an adjective stands behind a noun of its own gender that names no person ("el Parlamento británico")."""
    lists, words, language = sentence.lists, sentence.words, sentence.language
    if not language.adjectives_follow or not form:
        return False
    noun = lists.look_up(words[at - 1])
    known = (
        noun.told or noun.is_common or noun.is_silent or lists.participle(words[at - 1]) or lists.agent(words[at - 1])
    )
    if known or len(words[at - 1]) < _SHORT or words[at - 1] in lists.adverbs | lists.copulas | lists.introducing:
        return False
    if language.adjective(words[at - 1], "singular") is not None or sentence.begins_clause(at):
        return False
    return any(
        form in language.singular.get(words[place], "") and not sentence.begins_clause(place + 1)
        for place in range(max(at - 3, 0), at - 1)
    )


def _gender_of_form(sentence: Sentence, at: int) -> str | None:
    """The gender of a word that only one of the references has."""
    unit = (sentence.words[at],)
    if unit in sentence.contrast.right:
        return sentence.expected
    return {"m": "f", "f": "m"}.get(sentence.expected) if unit in sentence.contrast.wrong else None


_PLURALS = {
    "es": ("os", "as", "es"),
    "pt": ("os", "as", "es"),
    "fr": ("es", "és", "rs", "ns", "ts", "ds", "fs", "aux"),
    "it": ("i",),
    "de": ("innen",),
    "ar": ("ين", "ون", "ات", "وا"),
}


def _looks_plural(code: str, word: str) -> bool:
    return len(word) > 3 and word.endswith(_PLURALS.get(code, ("\n",)))


def behind_preposition(sentence: Sentence, at: int) -> bool:
    return at > 0 and sentence.words[at - 1] in _PREPOSITIONS


def is_introduced(sentence: Sentence, at: int) -> bool:
    """Whether the noun is a predicate: "como jugador", "fue un jugador", "كلاعب"."""
    if sentence.language.code == "ar" and sentence.words[at].startswith("ك"):
        return True
    for place in range(at - 1, max(at - 1 - _REACH, -1), -1):
        if sentence.begins_clause(place + 1) or sentence.words[place] in _PREPOSITIONS:
            return False
        if sentence.words[place] in sentence.lists.introducing:
            return True
    return False


_AND = frozenset({"et", "y", "e", "ed"})


def coordinated_copula(sentence: Sentence, at: int) -> int | None:
    """The copula that a participle behind "and" shares: "era de Lyon y nacida en 1900"."""
    if not at or sentence.words[at - 1] not in _AND:
        return None
    for place in range(at - 1, -1, -1):
        if sentence.words[place] in sentence.lists.copulas:
            return place
        if sentence.begins_clause(place):
            return None
    return None


def copula_before(sentence: Sentence, at: int) -> int | None:
    lists, words = sentence.lists, sentence.words
    before = at - 1
    while before >= 0 and words[before] in lists.adverbs and words[before] not in lists.copulas:
        before -= 1
    return before if before >= 0 and words[before] in lists.copulas else None


def subject_of(sentence: Sentence, copula: int) -> str | None:
    """What stands before a copula: `pronoun`, `open` (nothing, a name, a relative) or None for a thing."""
    lists, words = sentence.lists, sentence.words
    at = copula
    passed = lists.adverbs | lists.auxiliaries | lists.copulas
    while at > 0 and not sentence.begins_clause(at) and words[at - 1] in passed:
        at -= 1
    if not _DATIVES.isdisjoint(words[at:copula]):  # "le fue concedida una medalla"
        return None
    if at == 0 or sentence.begins_clause(at):
        return "open"
    before = words[at - 1]
    if (told := lists.told.get(before)) and told.kind in ("pronoun", "noun", "role", "norm"):
        if told.kind != "pronoun":
            return "open"
        # "The body of her was buried": the pronoun belongs to the subject.
        return None if before in lists.obliques or behind_preposition(sentence, at - 1) else "pronoun"
    start, _ = sentence.spans[at - 1]
    if sentence.text[start].isupper() and _belongs_to_a_thing(sentence, at - 1):
        return None
    if sentence.text[start].isupper() or len(before) < _SHORT or before.isdigit():
        return "open"
    language = sentence.language
    determined = any(
        word in language.singular or word in language.plural or word in lists.possessives
        for word in words[max(at - 1 - _SUBJECT_REACH, 0) : at - 1]
    )
    return None if determined or language.code in _WITHOUT_ARTICLES else "open"


def _belongs_to_a_thing(sentence: Sentence, at: int) -> bool:
    """Whether a name is whose a thing is: "la conducta de Fouché", not "la reina de Inglaterra"."""
    lists, words = sentence.lists, sentence.words
    while at > 1 and sentence.is_capital(at) and words[at - 1] not in _OF and sentence.is_capital(at - 1):
        at -= 1
    if at < 3 or words[at - 1] not in _OF or sentence.is_capital(at - 2):
        return False
    noun = lists.look_up(words[at - 2])
    is_person = noun.told or noun.is_common or noun.is_silent or noun.is_fixed or lists.agent(words[at - 2])
    is_determined = words[at - 3] in sentence.language.singular or words[at - 3] in lists.possessives
    return is_determined and not is_person and lists.participle(words[at - 2]) is None


_PREPOSITIONS = frozenset(
    {"de", "d'", "di", "da", "con", "com", "avec", "por", "par", "per"}
    | {"para", "pour", "dans", "à", "sur", "sobre", "su", "tra", "fra", "entre"}
    | {"contra", "contro", "contre", "sem", "sin", "sans", "senza", "em", "chez", "vers"}
    | {"hacia", "verso", "hasta", "até", "fino", "desde", "depuis", "dopo", "après"}
)
_DATIVES = frozenset({"gli", "le", "lui", "lhe"})
_OF = frozenset({"de", "d'", "di"})
_SHORT = 4
"""Letters of a relative pronoun or a conjunction before a verb without a subject."""
_SUBJECT_REACH = 3
"""Words before a noun among which its article stands."""
_WITHOUT_ARTICLES = frozenset({"ru", "hi"})
