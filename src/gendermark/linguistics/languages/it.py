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

from gendermark.linguistics.language import Agreement, Language

_MASCULINE = """
    il lo un uno del dello al allo dal dallo nel nello sul sullo col collo questo quel quello mio tuo suo nostro vostro
    alcun alcuno nessun nessuno ciascun ciascuno altro stesso proprio certo tutto tal qual
"""
_FEMININE = """
    la una un' della alla dalla nella sulla colla questa quella mia tua sua nostra vostra alcuna alcun' nessuna nessun'
    ciascuna ciascun' altra stessa propria certa tutta
"""
_SUBJECT = "l' l quest' quest quell' quell ogni qualche qualsiasi qualunque tale"
_OPEN = f"{_SUBJECT} dell' dell all' all dall' dall nell' nell sull' sull coll' coll quale"
_MASCULINES = """
    i gli gl' dei degli ai agli dai dagli nei negli sui sugli coi questi quei quegli quelli miei tuoi suoi nostri
    vostri alcuni altri stessi propri certi molti tanti pochi parecchi vari diversi numerosi entrambi tutti troppi
    quanti
"""
_FEMININES = """
    le delle alle dalle nelle sulle queste quelle mie tue sue nostre vostre alcune altre stesse proprie certe molte
    tante poche parecchie varie diverse numerose entrambe tutte troppe quante
"""
_OPENS = "tali quali"
_TRANSPARENT = """
    molto più meno così ben mal loro cui migliore miglior migliori peggiore peggiori grande gran grandi giovane giovani
    eccellente eccellenti semplice semplici attuale attuali precedente precedenti principale principali ex celebre
    celebri brillante brillanti competente competenti intelligente intelligenti gentile gentili felice felici abile
    abili fedele fedeli bell' due tre quattro cinque sei sette otto nove dieci
"""
_LISTED = """
    nuovo bravo buono vecchio piccolo bello brutto primo terzo ultimo unico futuro famoso caro stimato simpatico
    antipatico alto grasso magro anziano ricco furbo serio onesto sincero generoso tranquillo nervoso pazzo malato
    morto vivo sano stanco contento orgoglioso ambizioso curioso geloso pigro pericoloso prezioso severo giusto
    ingiusto esperto meraviglioso magnifico fantastico ottimo pessimo furioso arrabbiato preoccupato spaventato
    occupato qualificato certificato diplomato laureato licenziato pensionato sposato divorziato educato dotato
    rispettato conosciuto sconosciuto riconosciuto ferito armato soddisfatto impegnato esausto clinico tecnico
    giuridico politico finanziario amministrativo esecutivo domestico meccanico accademico grafico letterario
    penitenziario interno esterno autonomo informatico economico scientifico sportivo scolastico bancario notturno
    straniero italiano americano spagnolo russo tedesco europeo africano nero bianco biondo
"""
# Stems of adjectives that mostly stand before their noun, and words that are no noun behind them.
_BEFORE_NOUNS = "nuov buon bell brutt vecchi piccol prim ultim unic ottim pessim fantastic magnific meraviglios prezios"
_NO_NOUN = """
    e ed o ma che chi di del della dello dei degli delle d' a al alla allo ai in nel nella con per da dal dalla su non
    si è era fu ha aveva ebbe sarà sia ci lo la le gli mi ti vi l' perché quando mentre se come così poi anche
"""
_COPULA = "è era fu sarà sarebbe sia fosse sembra sembrava resta rimase"
_COPULAS = "sono erano furono saranno sarebbero siano fossero sembrano sembravano restano rimasero"
_BEFORE_COPULA = "non ne si ci le gli mi ti vi anche già ancora sempre ora"
_AFTER_COPULA = "mai molto più meno così troppo abbastanza anche già ancora sempre ormai davvero ben poco tanto spesso"
_CLAUSE_STARTS = "che perché ma quando se mentre dove quindi poi oggi ieri poiché siccome"
# "il/la manager", "le e gli insegnanti": two articles that contradict each other
_BOTH_ARTICLES = re.compile(
    r"\b(?:(?:il|lo) (?:o )?la|la o (?:il|lo)|uno? (?:o )?una|una o uno?|(?:i|gli) (?:[oe] )?le|le [oe] (?:i|gli))$"
)
_BOTH_DETERMINERS = frozenset(["il", "lo", "la", "un", "uno", "una", "i", "gli", "le", "o", "e"])
_PREPOSITION = re.compile(r"(?:d[ei]|n[ei]|su|a|da)(?:l|ll[aoe']|i|gli)?|in|con|d'")
_PARTICIPLES = {
    "singular": re.compile(r"\w+(?:[ailnrstu]t|[eiosu]s)([oa])"),
    "plural": re.compile(r"\w+(?:[ailnrstu]t|[eiosu]s)([ie])"),
}
_NO_PARTICIPLE = re.compile(
    r"\w+ist[aie]|quest[oaie]|tutt[oaie]|adesso|presto|subito|soltanto|quanto|avvocat\w|soldat\w"
)
_REACH = 12  # words on either side of the noun that are looked at
_SEVERAL_WOMEN = "donne ragazze sorelle figlie state assunte diventate erano furono esse due tre quattro cinque"


def _table(masculine: str, feminine: str, both: str = "") -> dict[str, Agreement]:
    groups = ((masculine, "m"), (feminine, "f"), (both, "mf"))
    return {word: agreement for words, agreement in groups for word in words.split()}


def _inflected(adjective: str) -> tuple[str, str, str, str]:
    """Masculine singular and plural, feminine singular and plural."""
    stem = adjective[:-1]
    hard = "h" if stem.endswith(("c", "g")) else ""
    soft = hard if not stem.endswith("ic") else ""
    return adjective, stem if stem.endswith("i") else f"{stem}{soft}i", stem + "a", f"{stem}{hard}e"


_BE = {"singular": frozenset(_COPULA.split()), "plural": frozenset(_COPULAS.split())}
_ANY_BE = _BE["singular"] | _BE["plural"]
_BEFORE, _AFTER = frozenset(_BEFORE_COPULA.split()), frozenset(_AFTER_COPULA.split())
_PRENOMINAL, _FUNCTION_WORDS = frozenset(_BEFORE_NOUNS.split()), frozenset(_NO_NOUN.split())
_STARTS, _SUBJECTS = frozenset(_CLAUSE_STARTS.split()), frozenset(["", *_SUBJECT.split()])
_FEMININE_WORDS, _WOMEN = frozenset(_FEMININE.split()), frozenset(_SEVERAL_WOMEN.split())
_FORMS = [" ".join(forms) for forms in zip(*map(_inflected, _LISTED.split()), strict=True)]
_ADJECTIVES = {
    "singular": _table(f"{_FORMS[0]} buon bel", f"{_FORMS[2]} buon'"),
    "plural": _table(f"{_FORMS[1]} bei begli", _FORMS[3]),
}


def _adjective(word: str, number: str) -> Agreement | None:  # noqa: ARG001  (its four forms are all different)
    return _ADJECTIVES["singular"].get(word) or _ADJECTIVES["plural"].get(word)


def _adjective_behind(rest: Sequence[str], number: str) -> list[tuple[str, Agreement]]:
    """An adjective right behind the noun, unless it begins the next noun: "(insegna all'assistente) nuova musica"."""
    agreement = _ADJECTIVES[number].get(rest[0]) if rest else None
    if agreement is None or rest[0] in LANGUAGE.transparent:
        return []
    if len(rest) > 1 and rest[0][:-1] in _PRENOMINAL and rest[1] not in _FUNCTION_WORDS:
        return []
    return [(rest[0], agreement)]


def _predicate(rest: list[str], number: str) -> list[tuple[str, Agreement]]:
    """The adjective or participle behind a copula, given the words behind the subject."""
    while rest and rest[0] in _BEFORE:
        rest = rest[1:]
    if not rest or rest[0] not in _BE[number]:
        return []
    rest = rest[1:]
    while rest and rest[0] in _AFTER:
        rest = rest[1:]
    if not rest or _NO_PARTICIPLE.fullmatch(rest[0]):
        return []
    if agreement := _adjective(rest[0], number):
        return [(rest[0], agreement)]
    match = _PARTICIPLES[number].fullmatch(rest[0])
    return [(match[0], "m" if match[1] in "oi" else "f")] if match else []


def _behind_phrase(rest: list[str]) -> list[str]:
    """Without a short phrase that belongs to the noun: "(l'analista) della banca è contenta"."""
    if rest and _PREPOSITION.fullmatch(rest[0]):
        for length in range(2, min(5, len(rest))):
            if rest[length] in _ANY_BE and not set(rest[:length]) & {"cui", "che", "quale"}:
                return rest[length:]
    return rest


def _clues(words: Sequence[str], start: int, end: int, number: str) -> list[tuple[str, Agreement]]:
    nearest = words[max(start - 3, 0) : start]
    if len(nearest) > 1 and nearest[-2] in _BOTH_DETERMINERS and (both := _BOTH_ARTICLES.search(" ".join(nearest))):
        return [(both[0], "m"), (both[0], "f")]
    behind = _adjective_behind(words[end : end + 2], number)
    first = start - 1
    while first > 0 and words[first] in LANGUAGE.transparent:
        first -= 1
    before = words[first] if first >= 0 else ""
    if words[start].endswith("ere") and before not in LANGUAGE.plural and _adjective(before, number) is None:
        if before not in LANGUAGE.singular and not _WOMEN.isdisjoint(words[max(start - _REACH, 0) : start]):
            return [(words[start], "f"), *behind]
        return behind if before == "sono" or before in _FEMININE_WORDS else [(words[start], "m"), *behind]
    starts_clause = first <= 0 or words[first - 1] in _STARTS
    if not starts_clause or before not in _SUBJECTS:
        return behind
    rest = list(words[end : end + _REACH])
    return behind + _predicate(rest[1:] if rest[:1] == ["che"] else _behind_phrase(rest), number)


_BOTH_ENDINGS = ("ista", "iatra", "euta", "asta", "cida", "arca", "poeta", "collega", "atleta")
_FEMININE_ENDINGS = ("a", "trice", "zione", "sione", "tà", "tù")
_MASCULINE_ENDINGS = ("o", "tore", "sore", "iere")


def _noun(word: str) -> Agreement | None:
    if word.endswith(_BOTH_ENDINGS):
        return None
    if word.endswith(_FEMININE_ENDINGS):
        return "f"
    return "m" if word.endswith(_MASCULINE_ENDINGS) else None


LANGUAGE = Language(
    code="it",
    name="Italian",
    singular=_table(_MASCULINE, _FEMININE, _OPEN),
    plural=_table(_MASCULINES, _FEMININES, _OPENS),
    transparent=frozenset(_TRANSPARENT.split()),
    adjective=_adjective,
    clues=_clues,
    noun=_noun,
)
