"""Hebrew.

Most occupation nouns tell their gender (רופא / רופאה). Those of verbs in final he do not in unpointed spelling: מורה is
read moré or morá, and so are מנקה and אופה. Abbreviations (עו"ד) and ראש serve both as well. For these the words that
agree are looked for, nearly all of which stand behind the noun: demonstrative (המורה הזאת), adjective, copula, verb.

A copula or verb is trusted only when the noun is its subject: without a preposition, and at the start of its clause or
behind a definite noun, which cannot govern it. A past verb may also stand right before a definite subject (אמרה המורה),
since a definite object would have את. A predicate noun agrees with the pronoun or form of "be" before it (היא מורה).
Verbs and adjectives are closed lists of masculine forms, from which the feminine is made: both are found alike. Right
behind a noun that begins its sentence, where little but a verb can stand, any word is read by its ending; there a
feminine verb also makes a woman of a masculine noun (החוקר רצתה).

Article, conjunctions and prepositions are written together with the noun.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product, takewhile

from gendermark.languages.language import Agreement, Clue, Clues, Language
from gendermark.languages.tables import words_of

_W, _TABLES = words_of("he")
_POINTS = re.compile("[\u0591-\u05bd\u05bf-\u05c5\u05c7]")
_WITHOUT_FINAL_LETTERS = str.maketrans("ךםןףץ", "כמנפצ")


def normalise(word: str) -> str:
    """Without points; maqaf as hyphen; gershayim used as quotation marks are dropped, those of acronyms (עו״ד) stay."""
    return _POINTS.sub("", word).replace("\u05be", "-").strip("-\u05f3\u05f4")


_EPICENE = re.compile(
    "^(.*?)(מורה|מנקה|אופה|מלווה|ממונה|מנחה|עו[ ״]ד|רו[ ״]ח|ד[ ״]ר|דוקטור|ראש|בי+בי ?סיטר"
    "|קונה|צופה|חולה|מרצה|מתמחה|מוחה|פונה|מונחה|בעלים|מכבה(?: ה?אש| שריפות)?|[a-z-]+)$"
)

# Forms in final he that are masculine; then those that are written alike for both genders, or are no verbs.
_ROOT_IN_HE = re.compile("^(?:.י[^ת]ה|ה[^ויל][^ת]ה|הי[^ת]ה|הת.[^ת]ה|השת.ה|הופנה|הורשה|הושווה)$")


def _with_feminine(masculine: frozenset[str], feminine_of: Callable[[str], str]) -> dict[str, Agreement]:
    return {**dict.fromkeys(masculine, "m"), **{feminine_of(word): "f" for word in masculine}}


def _past(masculine: str) -> str:
    """The feminine of a past verb; those in final he put tav before it."""
    return re.sub("ה$", "ת", masculine.translate(_WITHOUT_FINAL_LETTERS)) + "ה"


_PAST_VERBS = {**_with_feminine(_W["past"], _past), "הייתה": "f"}
_ADJECTIVES = {
    **_with_feminine(_W["with_tav"], lambda word: word.translate(_WITHOUT_FINAL_LETTERS) + "ת"),
    **_with_feminine(_W["with_he"], lambda word: word.translate(_WITHOUT_FINAL_LETTERS) + "ה"),
}
_COPULA = _TABLES["copula"]
_VERBS = {**_ADJECTIVES, **_with_feminine(_W["future"], lambda word: "ת" + word[1:]), **_PAST_VERBS, **_COPULA}
_THIS_DEFINITE = _TABLES["this_definite"]
_BEFORE_PREDICATE = {**_COPULA, **_TABLES["before_predicate"]}
_BEFORE_NOUNS = ("ראש", "עו ד", "עו״ד", "רו ח", "רו״ח", "ד ר", "ד״ר", "דוקטור")  # with a genitive, or titles of a name
_BETWEEN = _W["possessives"] | _W["adverbs"]
_OPENERS = _W["conjunctions"] | _W["other_openers"]
_NO_VERBS = _W["either_in_he"] | _W["prepositions"] | _OPENERS | _BETWEEN


def _is_subject(words: Sequence[str], start: int, prefix: str) -> bool:
    conjunction = prefix.removesuffix("ה")
    if conjunction not in ("", "ו", "ש", "וש", "כש", "וכש"):
        return False
    before = words[start - 1] if start else ""
    return not before or before in _OPENERS or before.startswith("ה") or "ש" in conjunction


def _past_in_he(word: str) -> Agreement | None:
    """A word in final he: a feminine past, or the masculine of a verb whose root ends so (ניקה, התחרה, הטעה)."""
    if word in _W["masculine_in_he"] or _ROOT_IN_HE.match(word):
        return "m"
    if word.startswith("הו") and len(word) == 5 and word[3] != "ת":
        return None
    known = word[0] not in "בכלמשו" or word[1] == "י" or word.endswith("תה")
    return "f" if known and word[-1] == "ה" else None


def _verb_by_ending(word: str) -> Agreement | None:
    """The gender of the word right behind a sentence's subject, where a verb is all that can stand."""
    if word in _VERBS:
        return _VERBS[word]
    if word in _NO_VERBS or len(word) < 3:
        return None
    if word[-1] == "ה":
        return _past_in_he(word)
    if word[-1] == "ת":
        return "f" if word[0] == "מ" or word[1] == "ו" else None
    if word.endswith(("ים", "ות", "ו")) or word[0] in "בכלשו" or word == "את":
        return None
    return "m"


def _begins(words: Sequence[str], start: int) -> bool:
    """Whether the noun there begins a sentence or clause, bare or with its article."""
    return start == 0 or words[start - 1] in _W["conjunctions"]


def _attributes(words: Sequence[str], position: int, definite: bool) -> tuple[Clues, int]:
    """Demonstratives and adjectives from here on, and where they end."""
    found: Clues = []
    while position < len(words):
        word = words[position]
        agreement = _THIS_DEFINITE.get(word)
        if agreement is None and word.startswith("ה"):
            agreement = _ADJECTIVES.get(word[1:])
        if agreement is None and not definite:
            agreement = _TABLES["this_indefinite"].get(word) or _ADJECTIVES.get(word)
        if agreement is not None:
            found.append(Clue(position, agreement))
        elif word not in _BETWEEN:
            break
        position += 1
    return found, position


def _predicate(words: Sequence[str], position: int, governs: bool) -> Clues:
    """The verb or copula of a subject that ends before `position`; one phrase or relative clause may intervene."""
    if position >= len(words):
        return []
    word = words[position]
    places = range(position + 1, min(position + 5, len(words)))
    later = list(takewhile(lambda at: words[at] not in _W["conjunctions"], places))
    if word in _VERBS:
        return [Clue(position, _VERBS[word])]
    if word in ("שם", "שמה") and later and words[later[0]] == "את":  # "put", which is also "there"
        return [Clue(position, "m" if word == "שם" else "f")]
    if word.startswith("ש") or word == "אשר":
        return [Clue(at, _COPULA[words[at]]) for at in later if words[at] in _COPULA][:1]
    table = _VERBS if word in _W["prepositions"] or word[0] in "בלמ" or governs else _TABLES["reflexive"]
    return [Clue(at, table[words[at]]) for at in later[:3] if words[at] in table][:1]


def _preceding(words: Sequence[str], start: int, prefix: str) -> Clues:
    """The copula before a predicate noun, or the past verb right before a definite subject."""
    position = start - 1
    while position > 0 and words[position] in _BETWEEN:
        position -= 1
    if position < 0 or prefix not in ("", "ה"):
        return []
    word = words[position]
    if word in _BEFORE_PREDICATE:
        return [Clue(position, _BEFORE_PREDICATE[word])]
    # Behind its subject a verb has an object, whether or not MT marks it: המנהל ביקש המנקה.
    if prefix and position == start - 1 and word in _PAST_VERBS and not _has_subject(words, position):
        return [Clue(position, _PAST_VERBS[word])]
    if position == 0 and word in ("זו", "זאת", "איזו", "אותה", "אותו"):
        return [Clue(position, "m" if word == "אותו" else "f")]
    return []


def _has_subject(words: Sequence[str], verb: int) -> bool:
    before = words[verb - 1] if verb else ""
    return before.startswith("ה") and before not in _VERBS


def clues(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    epicene = _EPICENE.match(" ".join(words[start:end]))
    if epicene is None:
        # A noun that tells: a demonstrative may contradict it, save behind a compound ("the driver of this truck").
        behind = end + 1 if end < len(words) and words[end] in _BETWEEN else end
        if number == "singular" and end - start == 1 and behind < len(words) and words[behind] in _THIS_DEFINITE:
            return [Clue(behind, _THIS_DEFINITE[words[behind]])]
        # So may a feminine verb (החוקר רצתה). A masculine one behind a feminine noun is left alone.
        while behind < len(words) and words[behind] in _W["adverbs"]:
            behind += 1
        subject = start == 0 or (_begins(words, start) and words[start][0] == "ה")
        if number == "singular" and behind < len(words) and subject:
            return [Clue(behind, "f")] if _verb_by_ending(words[behind]) == "f" else []
        return []
    prefix = epicene.group(1)
    if words[start] == "את" or (end - start == 1 and words[start].isascii() and start and words[start - 1] == "את"):
        start, prefix = start - 1, ""  # "את paralegal": MT puts the object marker before English words of any role
    found, behind = _attributes(words, end, prefix.endswith("ה"))
    found.extend(_preceding(words, start, prefix))
    if not found and _is_subject(words, start, prefix):
        found.extend(_predicate(words, behind, epicene.group(2) in _BEFORE_NOUNS))
    if not found and behind < len(words) and _begins(words, start) and prefix in ("", "ה"):
        agreement = _verb_by_ending(words[behind])
        found.extend([Clue(behind, agreement)] if agreement else [])
    # A relative clause right behind it (במורה שהופיעה); behind "to" the clause may be what is said to the person.
    if not found and behind < len(words) and "ל" not in prefix and words[behind][:1] == "ש":
        verb = words[behind][1:]
        agreement = _PAST_VERBS.get(verb) or ("f" if len(verb) > 4 and _past_in_he(verb) == "f" else None)
        found.extend([Clue(behind, agreement)] if agreement else [])
    return found


def noun(word: str) -> Agreement | None:
    """An unknown noun by its ending. It must have an article or preposition: else it may be any part of speech."""
    if not re.match("[הבל]|מה|של?ה|ו?ש?כ?ש?ה", word) or len(word) < 4:
        return "m" if word.isascii() and word.isalpha() else None
    if word in _W["no_nouns"] or word in _VERBS:
        return None
    return "f" if word.endswith(("ה", "ת")) and not word.endswith("מומחה") else "m"


def bare_epicene(word: str) -> Agreement | None:
    """ראש ("head") and דוקטור are masculine nouns; מורה and עו"ד show nothing."""
    return "m" if word.endswith(("ראש", "דוקטור")) else None


_PREFIXES = {
    "".join(parts) for parts in product(("", "ו", "ש", "וש", "כש", "וכש"), ("", "ה", "ב", "כ", "ל", "מ", "מה"))
}

LANGUAGE = Language(
    code="he",
    name="Hebrew",
    prefixes=tuple(
        sorted(_PREFIXES - {""} | {"ב-", "ה-", "כ-", "ל-", "מ-"}, key=lambda prefix: (-len(prefix), prefix))
    ),
    normalise=normalise,
    clues=clues,
    noun=noun,
    bare_epicene=bare_epicene,
    sexes=_TABLES["sexes"],
)
