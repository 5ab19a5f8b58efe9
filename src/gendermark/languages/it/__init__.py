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
from gendermark.languages.tables import by_gender, record, toml_of, word_set

_LISTS = toml_of("it", "grammar.toml")
_MASCULINE = _LISTS["masculine"]
_FEMININE = _LISTS["feminine"]
_SUBJECT = "l' l quest' quest quell' quell ogni qualche qualsiasi qualunque tale"
_OPEN = f"{_SUBJECT} dell' dell all' all dall' dall nell' nell sull' sull coll' coll quale"
_MASCULINES = _LISTS["masculines"]
_FEMININES = _LISTS["feminines"]
_OPENS = "tali quali"
_TRANSPARENT = word_set(_LISTS["transparent"])
_LISTED = _LISTS["listed"]
# Stems of adjectives that mostly stand before their noun, and words that are no noun behind them.
_BEFORE_NOUNS = word_set(_LISTS["before_nouns"])
_NO_NOUN = word_set(_LISTS["no_noun"])
_ESSERE = record(Copula, _LISTS["essere"])
_CLAUSE_STARTS = word_set("che perché ma quando se mentre dove quindi poi oggi ieri poiché siccome")
_BOTH_ARTICLES = BothArticles(  # "il/la manager", "le e gli insegnanti"
    re.compile(
        r"\b(?:(?:il|lo) (?:o )?la|la o (?:il|lo)|uno? (?:o )?una|una o uno?|(?:i|gli) (?:[oe] )?le|le [oe] (?:i|gli))$"
    ),
    word_set("il lo la un uno una i gli le o e"),
)
_PREPOSITION = re.compile(r"(?:d[ei]|n[ei]|su|a|da)(?:l|ll[aoe']|i|gli)?|in|con|d'")
_RELATIVES = word_set("cui che quale")
_PARTICIPLES = {
    "singular": re.compile(r"\w+(?:[ailnrstu]t|[eiosu]s)([oa])"),
    "plural": re.compile(r"\w+(?:[ailnrstu]t|[eiosu]s)([ie])"),
}
# Other predicates by their vowel, in the singular: "(l'insegnante) era scarsa", "era amico di un amico".
_PREDICATE = re.compile(r"\w{3,}([oa])")
_NO_PREDICATE = re.compile(
    r"\w+ist[aie]|\w+(?:ndo|mento|crata)|quest[oaie]|tutt[oaie]|adesso|presto|subito|soltanto|quanto|avvocat\w|soldat\w"
    r"|medico|sindaco|capo|vittima|persona|guida|guardia|causa|colpa|parte|cosa|qualcosa|ora|casa|prima|ancora|allora|una"
    r"|uno|sopra|sotto|dentro|dietro|contro|verso|dopo|accanto|intorno|attorno|vicino|lontano|solo|meno|certo|chiaro|ovvio"
    r"|necessario|proprio|spesso|molto|poco|tanto|come|poeta|idiota|atleta|collega|loro"
)
_WITH = word_set("con su per contro")
_SEVERAL_WOMEN = word_set(_LISTS["several_women"])
_NOUNS = NounEndings(
    things=re.compile("(?:[zs]ion[ei]|tà|tù|ment[oi]|eri[ae]|(?<!person)aggio|enz[ae])$"),
    untold=re.compile("(?:ista|iatra|euta|asta|cida|arca|poeta|collega|atleta)$"),
    feminine=re.compile("(?:a|trice|zione|sione|tà|tù)$"),
    masculine=re.compile("(?:o|tore|sore|iere)$"),
)


def _inflected(adjective: str) -> Forms:
    stem = adjective[:-1]
    hard = "h" if stem.endswith(("c", "g")) else ""
    soft = hard if not stem.endswith("ic") else ""
    return adjective, stem + "a", stem if stem.endswith("i") else f"{stem}{soft}i", f"{stem}{hard}e"


_SUBJECTS, _FEMININE_WORDS = word_set(_SUBJECT) | {""}, word_set(_FEMININE)
_ADJECTIVES = adjectives(_LISTED, ("buon bel", "buon'"), ("bei begli", ""), _inflected)


def _adjective(word: str, number: str) -> Agreement | None:  # noqa: ARG001  (its four forms are all different)
    return _ADJECTIVES["singular"].get(word) or _ADJECTIVES["plural"].get(word)


def _adjective_behind(words: Sequence[str], place: int, number: str) -> Clues:
    """An adjective right behind the noun, unless it begins the next noun: "(insegna all'assistente) nuova musica"."""
    word, *following = words[place : place + 2] or [""]
    agreement = _ADJECTIVES[number].get(word)
    if agreement is None or word in _TRANSPARENT:
        return []
    if following and word[:-1] in _BEFORE_NOUNS and following[0] not in _NO_NOUN:
        return []
    return [Clue(place, agreement)]


def _predicate(words: Sequence[str], place: int, number: str) -> Clues:
    """The adjective or participle behind "essere", of a subject that ends before `place`."""
    at = _ESSERE.behind(words, place, number)
    if at is None or _NO_PREDICATE.fullmatch(words[at]):
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
    first = phrase_start(words, start, _TRANSPARENT)
    before = words[first] if first >= 0 else ""
    if words[start].endswith("ere") and before not in LANGUAGE.plural and _adjective(before, number) is None:
        if before not in LANGUAGE.singular and not _SEVERAL_WOMEN.isdisjoint(words[max(start - REACH, 0) : start]):
            return [Clue(start, "f"), *behind]
        return behind if before == "sono" or before in _FEMININE_WORDS else [Clue(start, "m"), *behind]
    if before not in LANGUAGE.singular and before not in LANGUAGE.plural:
        first, before = first + 1, ""
    return behind + (_behind_subject(words, first, end, number) if before in _SUBJECTS else [])


def _by_sense(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    return _behind_subject(words, phrase_start(words, start, _TRANSPARENT), end, number)


def _behind_subject(words: Sequence[str], first: int, end: int, number: str) -> Clues:
    """The predicate of a noun phrase words[first:end], or of the relative clause right behind it.

    Behind "a" and others "che" may begin what is said to the person ("disse a qualcuno che era ...").
    """
    begins = begins_clause(words, first, _CLAUSE_STARTS)
    near = words[: end + REACH]
    if words[end : end + 1] == ["che"] and (begins or words[first - 1] in _WITH):
        return _predicate(near, end + 1, number)
    return _predicate(near, _ESSERE.beyond_phrase(near, end, _PREPOSITION, _RELATIVES), number) if begins else []


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
    singular=by_gender(_MASCULINE, _FEMININE, _OPEN),
    plural=by_gender(_MASCULINES, _FEMININES, _OPENS),
    transparent=_TRANSPARENT,
    adjective=_adjective,
    clues=_clues,
    noun=_NOUNS.gender,
    is_thing=_NOUNS.is_thing,
    sexes=by_gender("uomo uomini maschio maschi maschile maschili", "donna donne femmina femmine femminile femminili"),
    by_sense=_by_sense,
    role_forms=_role_forms,
    ambiguous_adjective=re.compile(r"\w*[^aio]"),
    plural_endings=("i",),
    person_ending=re.compile(
        r".{2,}(?:[ts]or[ei]|tric[ei]|ist[aie]|ier[eai]|an[oaie]|es[ei]|[ae]nt[ei]|ari[oae]|log[oa]|logh[ie]|ess[ae])"
    ),
)
