"""Polish.

Most occupation nouns tell by their form (nauczyciel, nauczycielka). What needs agreeing words:

- masculines in -a for both sexes ("kierowca", "cieśla"): "ta kierowca", "tego kierowcy", "kierowca powiedziała";
- titles that a woman bears undeclined ("prezes", "dyrektor", "doktor"): the bare nominative is open, "pani dyrektor"
  and "z dyrektor" are feminine; inflected forms are masculine and stand so in the lexicon;
- adjectival nouns: "księgowym" is the masculine singular behind a preposition or copula, else perhaps the dative
  plural of either gender;
- "pracownicy", "robotnicy": plural of the masculine or oblique singular of the feminine. "Pracownicy powiedzieli" is
  the one, "od pracownicy" the other.

The past tense ("powiedziała"), a predicate adjective ("jest zmęczona") and the relative pronoun behind a noun that
opens its clause agree with it. "Tego", "temu", "tym" are left out of the table, as they are the neuter pronoun too
("o tym lekarka mówiła"); so is "pana", which also is the polite "your".

Without any sign a noun for both sexes is masculine ("kierowca"), a neuter ("dziecko") open; no attribute of a neuter
tells. "Nastolatka" is the girl where it opens its clause, else the accusative of the boy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gendermark.languages.language import Agreement, Clue, Clues, Language
from gendermark.languages.tables import gender_by_ending, toml_of, word_set, words_of

_W, _TABLES = words_of("pl")

# Stems of adjectives for persons, and suffixes that only adjectives and participles have ("umowa", "żona" are nouns).
_STEM = re.compile(
    r"now|młod|star|dobr|mił|mał|wielk|duż|wysok|nisk|obecn|poprzedni|główn|zabawn|śmieszn|fajn|świetn|zdoln|mądr|samotn"
    r"|bogat|biedn|chor|zdrow|uprzejm|uczciw|ciekaw|leniw|słynn|znan|lokaln|starsz|młodsz|lepsz|najlepsz|inn|pewn|miejsk"
    r"|(?!zaczn|dzieck|wojsk|pali|.*isk).+(?:[ńwjl]sk|ck|czn|aln|yjn|wan|czon|szon|dzon|nion|jon|lon|śliw|źliw)"
)
# An i before the ending belongs to stems in k and g only: "polskie", but "pewnie" is an adverb.
_ENDING = re.compile(r"(.+[kg])(i|a|ą|ie|iej|im|ich|imi)|(.+[^kg])(y|a|ą|e|ej|ym|ych|ymi)")

_COMMON = re.compile(r"(?:kierow|rad|dowód|zarząd)c(?:a|y|ę|ą)|cieśl(?:a|i|ę|ą)")
_MASCULINE_OBLIQUE = ("owi", "em", "ego", "emu")

_NEUTER = re.compile("dzie(?:ck|ci[ęąo]).*|dzieci|dziećmi|.+um")
# Either the nominative of the girl or the accusative of the boy.
_TEENAGER = "nastolatka"
_MASCULINE_IN_A = ("ista", "ysta", "euta", "ca")

_PAST = re.compile(r"(?!.*(?:ół|mysł|syła|woła)$).+(ł|ła|li|ły)(?:by)?")
_SINGULAR_PAST = {"ł": "m", "ła": "f"}
_PLURAL_PAST = {"li": "m", "ły": "f"}
_PREDICATE_END = _W["clause_openers"] | _W["prepositions"] | word_set("i niż dziś dzisiaj który która")
_RELATIVE = {"który": "m", "którego": "m", "któremu": "m", "która": "f", "której": "f", "którą": "f"}
_RELATIVE_PLURAL = {"którzy": "m", "które": "f"}


def _adjective(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    if word in _W["not_adjectives"]:
        return None
    if word in _W["virile"] or (len(word) > 5 and word.endswith(("ego", "emu", "scy", "ccy"))):
        return "m"
    match = _ENDING.fullmatch(word)
    if match is None or not _STEM.fullmatch(match.group(1) or match.group(3)):
        return None
    ending = (match.group(2) or match.group(4)).removeprefix("i")
    return {"y": "m", "": "m", "a": "f", "ą": "f", "ej": "f", "e": "f"}.get(ending, "mf")


def _clues(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    word = words[start]
    if _NEUTER.fullmatch(word):
        return [Clue(start, "")]  # "małego dziecka" is neuter: no attribute tells
    first = _phrase(words, start)
    before = words[first - 1] if first > 0 else ""
    opens = not before or before in _W["clause_openers"]
    found = _by_case(words, first, start, end, opens)
    if word == _TEENAGER and first == start:
        return [Clue(start, "f" if opens else "m")]
    if opens:
        if word in _W["common_subject"] | _W["titles"]:
            found.extend(_predicate(words, end, _SINGULAR_PAST, _RELATIVE, far=True))
        elif number == "singular" and (word[-1] not in "aąeęioóuy" or word.endswith(_MASCULINE_IN_A)):  # a nominative
            found.extend(_predicate(words, end, _SINGULAR_PAST, _RELATIVE, far=False))
        elif word in _W["common_plural"] | _W["workers"]:
            found.extend(_predicate(words, end, _PLURAL_PAST, _RELATIVE_PLURAL, far=True))
    elif word.endswith(_MASCULINE_OBLIQUE) or (
        first < start and words[start - 1].endswith("a") and word[-1] in "ąeęioóuy" and word not in ("ceo", "pani")
    ):
        found.append(Clue(start, "m"))  # so that "dostarczona lekarzowi" says nothing of the physician
    elif word in _W["common_subject"] and (end == len(words) or words[end] in _PREDICATE_END):
        found.extend(_predicate(words, first - 1, _SINGULAR_PAST, {}, far=False))  # "przyszła kierowca"
    return found


def _phrase(words: Sequence[str], noun: int) -> int:
    """Where the phrase of a noun begins: its determiners and adjectives stand before it."""
    while noun > 0 and (
        words[noun - 1] in LANGUAGE.singular
        or words[noun - 1] in LANGUAGE.plural
        or words[noun - 1] in _W["transparent"] | {"tego", "temu", "tym"}
        or _adjective(words[noun - 1], "") is not None
    ):
        noun -= 1
    return noun


def _by_sense(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    """The verb of a feminine subject for anybody: "ofiara powiedział"."""
    first = _phrase(words, start)
    opens = first == 0 or words[first - 1] in _W["clause_openers"]
    return _predicate(words, end, _SINGULAR_PAST, _RELATIVE, far=False) if opens and number == "singular" else []


def _by_case(words: Sequence[str], first: int, start: int, end: int, opens: bool) -> Clues:
    """What the case of a noun tells, seen from its modifiers and the preposition or verb before its phrase."""
    word, before, has_modifiers = words[start], words[first - 1] if first > 0 else "", first < start
    if _COMMON.fullmatch(word):
        # The dative plural is "kierowcom", so "tym kierowcy", "nowym kierowcą" are masculine singular.
        masculine = ("ego", "emu", "ym", "im")
        return [Clue(at, "m") for at in range(first, start) if words[at].endswith(masculine) and words[at] != "jego"]
    if word in _W["titles"] and before in _W["prepositions"] and not has_modifiers:
        return [Clue(first - 1, "f")]
    if word in _W["workers"] and not words[end - 1].endswith("ej"):
        if before in _W["prepositions"]:
            return [Clue(first - 1, "f")]
        return [Clue(start, "m")] if opens and not has_modifiers else []
    if word.endswith("ym"):
        if before in _W["instrumental_locative"] | _W["copula_instrumental"]:
            return [Clue(first - 1, "m")]
        if before == "się" and first > 1 and words[first - 2] in ("stał", "stała", "stać", "stanie"):
            return [Clue(first - 2, "m")]
    return []


def _predicate(
    words: Sequence[str], position: int, past: dict[str, Agreement], relative: dict[str, Agreement], far: bool
) -> Clues:
    """The past tense, predicate adjective or relative pronoun behind a subject.

    A prepositional phrase may stand between, and if `far` a genitive ("dyrektor nowej szkoły w Łodzi powiedziała").
    """
    room = genitive = 2 if far else 0
    copula, inside = False, 0
    for place in range(position, min(position + 6, len(words))):
        word = words[place]
        match = _PAST.fullmatch(word) if word not in _W["not_past"] else None
        if word.startswith("któr"):
            return [Clue(place, relative[word])] if word in relative and genitive == room else []
        if word in ("jest", "są"):
            copula = True
        elif word in _W["fillers"]:
            continue
        elif copula:
            following = words[place + 1] if place + 1 < len(words) else ""
            agreement = _adjective(word, "") if not following or following in _PREDICATE_END else None
            return [Clue(place, agreement)] if agreement and word.endswith(("y", "i", "a", "e")) else []
        elif word in _W["prepositions"] and inside == 0:
            inside = 2
        elif match and inside < 2:
            return [Clue(place, past[match.group(1)])] if match.group(1) in past else []
        elif inside:
            inside -= 1
        elif genitive and word not in _W["clause_openers"] | {"i", "to", "jako"}:
            genitive -= 1
        else:
            return []
    return []


_noun_by_ending = gender_by_ending(toml_of("pl", "words.toml")["endings"])


def _bare_epicene(word: str) -> Agreement | None:
    """ "Kierowca", "świadek", "psycholog" are masculine where nothing else is said; "pracownicy" alone is an oblique
    case of the feminine, as its plural would open the clause.
    """
    if _NEUTER.fullmatch(word) or word in _W["somebody"]:
        return None
    return "f" if word in _W["workers"] else "m"


LANGUAGE = Language(
    code="pl",
    name="Polish",
    singular=_TABLES["singular"],
    plural=_TABLES["plural"],
    transparent=_W["transparent"],
    adjective=_adjective,
    clues=_clues,
    noun=lambda word: None if _NEUTER.fullmatch(word) else _noun_by_ending(word),
    bare_epicene=_bare_epicene,
    sexes=_TABLES["sexes"],
    by_sense=_by_sense,
    has_articles=False,
)
