"""Hindi: no articles; possessives, genitive particles, variable adjectives and verbs agree with the noun.

- Before the noun: "मेरा/मेरे डॉक्टर" is a man, "मेरी डॉक्टर" a woman, and so with "का/के/की" and adjectives in -ा/-े/-ी. Many
  adjectives in -ी and -ा do not vary ("सरकारी", "युवा"), so the varying ones are listed.
- Behind it: the verb agrees with a subject without postposition ("डॉक्टर जा रही है", "डॉक्टर आएगा"). With "ने" it agrees
  with the object, and never with a predicate noun ("मेरी माँ डॉक्टर थी"); so only a noun at the start of its clause is
  looked at, and only up to the next conjunction, pronoun or "ने". Titles tell as well ("डॉक्टर साहिबा").

Spelling varies freely; nuktas, nasal signs, the vowel of "डॉक्टर"/"डाक्टर" and "गये"/"गए" are written one way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from gendermark.languages.language import Agreement, Clue, Clues, Language
from gendermark.languages.tables import gender_by_ending, toml_of, words_of

_SPELLINGS = (
    (re.compile("[\u093c\u200c\u200d]"), ""),  # nukta, joiners
    (re.compile("ँ"), "ं"),
    (re.compile("ॉ"), "ा"),
    (re.compile("ऑ"), "आ"),
    (re.compile("[ङञणन]्(?=[क-घच-झट-ढत-ध])|म्(?=[प-भ])"), "ं"),  # "एकाउन्टेन्ट", "प्लम्बर"
    (re.compile("(?<=.)ये(?=ं?$)"), "ए"),
    (re.compile("(?<=.)यी(?=ं?$)"), "ई"),
)


@lru_cache(maxsize=1 << 16)
def _normalise(word: str) -> str:
    for pattern, replacement in _SPELLINGS:
        word = pattern.sub(replacement, word)
    return word


_W, _TABLES = words_of("hi", _normalise)


def _varying(stems: frozenset[str], masculine: str = "ा े", feminine: str = "ी") -> dict[str, Agreement]:
    """Each stem with the endings of both genders."""
    return {
        _normalise(stem + ending): gender
        for stem in stems
        for gender, endings in (("m", masculine), ("f", feminine))
        for ending in endings.split()
    }


_DETERMINERS = {**_varying(_W["determiner_stems"]), **_TABLES["determiners"]}
_ADJECTIVES = {**_varying(_W["adjective_stems"]), **_varying(_W["adjective_stems_with_y"], "या ए", "ई")}
_MARKERS, _TITLES = _TABLES["markers"], _TABLES["titles"]
_WITHIN_THE_PHRASE = frozenset({*_DETERMINERS, *_ADJECTIVES, *_MARKERS, *_W["transparent"]})
_VERBS = {**_varying(_W["verb_stems_in_vowels"], "या ए", "ई ईं"), **_varying(_W["verb_stems"], "ा े", "ी ीं")}
_CONTINUOUS, _WILLING = _varying(frozenset({"रह"})), _varying(frozenset({"वाल"}))
_HABITUAL = re.compile(r"(?!\S*(?:दाता|नेता|क्रेता|माता|पिता|वक्ता|कर्ता|कर्त्ता|यंता)$)\S+त(?:([ाे])|ी)")
_FUTURE = re.compile(r"(?:\S*[ेए]ं?|हों?)ग(?:([ाे])|ी)")


def _adjective(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    return _ADJECTIVES.get(word) or _MARKERS.get(word)


def _starts_its_clause(words: Sequence[str], start: int) -> bool:
    while start and words[start - 1] in _WITHIN_THE_PHRASE:
        start -= 1
    return start == 0 or words[start - 1] in _W["before_a_clause"]


def _clues(words: Sequence[str], start: int, end: int, number: str) -> Clues:  # noqa: ARG001
    if end < len(words) and words[end] in _TITLES:
        return [Clue(end, _TITLES[words[end]])]
    while end < len(words) and words[end] in _W["asides"]:
        end += 1
    if end < len(words) and words[end] == "जो":
        end += 1
    elif end >= len(words) or words[end] in _W["end"] or words[end] in _W["auxiliaries"] or words[end].startswith("बन"):
        return []  # an oblique, or a predicate noun ("... is", "... became")
    if not _starts_its_clause(words, start):
        return []
    for at in range(end, min(end + 14, len(words))):
        word, behind = words[at], words[at + 1] if at + 1 < len(words) else ""
        if word in _W["end"] and word not in _W["within"]:
            return []
        if gender := _verb(word, behind, words[at - 1]):
            return [Clue(at, gender)]
    return []


def _verb(word: str, behind: str, before: str) -> Agreement | None:
    """What a verb form or predicate tells about its subject, None for another word."""
    if word in _ADJECTIVES:
        return _ADJECTIVES[word] if behind in _W["auxiliaries"] or behind in _W["been"] else None
    # "जा रही है", "जाती है", "जाती रही"
    if (behind in _W["auxiliaries"] or behind in _CONTINUOUS) and word not in _W["no_verbs"]:
        if word in _CONTINUOUS:
            return _CONTINUOUS[word]
        if habitual := _HABITUAL.fullmatch(word):
            return "m" if habitual[1] else "f"
    if future := _FUTURE.fullmatch(word):
        return "m" if future[1] else "f"
    if word in _WILLING and behind in _W["auxiliaries"]:  # "जाने वाली थी"
        return _WILLING[word]
    if word in _CONTINUOUS and before in _W["predicates"]:  # "सफल रहा"
        return _CONTINUOUS[word]
    if word in _W["been"] and before in _W["predicates"]:
        return "f" if word == "हुई" else "m"
    if word in ("था", "थे", "थी", "थीं") and (before in _W["predicates"] or before in _W["transparent"]):
        return "m" if word in ("था", "थे") else "f"
    return None if behind in _W["been"] else _VERBS.get(word)


def _verb_subject(words: Sequence[str], start: int, at: int) -> str:
    """ "वह ... थी": a person; behind ने and को, or with a thing of somebody's, another word."""
    behind = words[at + 1] if at + 1 < len(words) else ""
    goes_on = behind == "नहीं" or behind in _W["auxiliaries"] | _W["been"] | _CONTINUOUS.keys()
    if words[at].endswith(("ता", "ते", "ती", "तीं")) and not goes_on:
        return "other"
    first = next((place + 1 for place in range(at - 1, start - 1, -1) if words[place] in _W["joining"]), start)
    clause = words[first:at]
    if not _W["ergative"].isdisjoint(clause):
        return "other"
    if any(word in ("वह", "वे", "वो") and clause[place - 1 : place] != ["यह"] for place, word in enumerate(clause)):
        return "person"
    if not _W["dative"].isdisjoint(clause):
        return "other"
    owned = next((place for place, word in enumerate(clause[:-1]) if word in _W["of_somebody"]), None)
    return "" if owned is None or clause[owned + 1] in _W["kin"] else "other"


LANGUAGE = Language(
    code="hi",
    name="Hindi",
    singular=_DETERMINERS,
    plural=_DETERMINERS,
    transparent=_W["transparent"],
    adjective=_adjective,
    normalise=_normalise,
    clues=_clues,
    noun=gender_by_ending(toml_of("hi", "words.toml")["endings"]),
    # Nouns for both sexes are neutral where nothing agrees with them, but for a feminine one, "nurse".
    bare_epicene=lambda word: "f" if word == "नर्स" else None,
    has_articles=False,
    head_is_last=True,
    sex_stems=(("महिला", "f"), ("स्त्री", "f"), ("फीमेल", "f")),
    verb_subject=_verb_subject,
    hint_sexes={"महिला": "f", "पुरुष": "m"},
)
