"""German: articles show gender in the singular only, and "der" is a masculine nominative or a feminine dative or genitive.

Most nouns tell by themselves ("Arzt", "Ärztin"). Two kinds do not:

- Nominalised adjectives ("Angestellte", "Vorsitzende") end like any adjective, so the article and the ending together
  tell: "der Angestellte" is a man, "die Angestellte" and "der Angestellten" a woman, "die Angestellten" are several
  people. (The last but one is also a genitive plural; a translation that speaks of one person does not mean that.)
- Loans used for both sexes ("CEO", "Nanny", "Sheriff"). An adjective before them tells in the same way ("der neue CEO",
  "der neuen CEO"); without one, "der" is read by its place: behind a preposition, a verb that gives something to
  somebody, or a noun, it is a feminine dative or genitive, elsewhere a masculine nominative.

A neuter like "das Kindermädchen" names a woman, and its neuter article must not be taken for a masculine one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gendermark.linguistics.language import Agreement, Language

_DER_WORDS = ("dies", "jen", "jed", "jedwed", "welch", "manch", "solch")
_EIN_WORDS = {"ein": "ein", "kein": "kein", "mein": "mein", "dein": "dein", "sein": "sein", "ihr": "ihr",
              "unser": "unser", "euer": "eur", "irgendein": "irgendein"}  # fmt: skip

_SINGULAR: dict[str, Agreement] = {
    "der": "mf", "den": "m", "dem": "m", "des": "m", "die": "f",
    "derselbe": "m", "denselben": "m", "demselben": "m", "desselben": "m", "dieselbe": "f", "derselben": "f",
    "derjenige": "m", "denjenigen": "m", "demjenigen": "m", "desjenigen": "m", "diejenige": "f", "derjenigen": "f",
    "zum": "m", "vom": "m", "beim": "m", "im": "m", "am": "m", "zur": "f", "unsre": "f", "unsrer": "f", "unsren": "m",
    "unsrem": "m", "unsres": "m", "euere": "f", "euerer": "f", "eueren": "m", "euerem": "m", "eueres": "m",
}  # fmt: skip
_PLURAL: dict[str, Agreement] = dict.fromkeys(
    ("die", "der", "den", "alle", "aller", "allen", "beide", "beider", "beiden", "viele", "vieler", "vielen", "einige",
     "einiger", "einigen", "mehrere", "mehrerer", "mehreren", "wenige", "weniger", "wenigen", "manche", "mancher",
     "manchen", "sämtliche", "zahlreiche", "etliche", "verschiedene", "paar", "zwei",
     "zweier", "drei", "dreier", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "dieselben", "derselben",
     "denselben", "diejenigen", "unsre", "unsrer", "unsren"), "mf",
)  # fmt: skip
for _stem in _DER_WORDS:
    _SINGULAR |= {_stem + "er": "mf", _stem + "e": "f", _stem + "en": "m", _stem + "em": "m", _stem + "es": "m"}
    _PLURAL |= dict.fromkeys((_stem + "e", _stem + "er", _stem + "en"), "mf")
for _bare, _stem in _EIN_WORDS.items():
    _SINGULAR |= {_bare: "m", _stem + "e": "f", _stem + "er": "f", _stem + "en": "m", _stem + "em": "m",
                  _stem + "es": "m"}  # fmt: skip
    if _bare not in ("ein", "irgendein"):
        _PLURAL |= dict.fromkeys((_stem + "e", _stem + "er", _stem + "en"), "mf")

_TRANSPARENT = frozenset(
    ["sehr", "so", "ganz", "besonders", "äußerst", "überaus", "ziemlich", "recht", "wirklich", "extrem", "unglaublich", "erst", "noch", "gerade", "bereits", "immer", "einst", "damals", "prima", "super", "lila", "rosa", "top"]
)
# Words that end like adjectives and are none.
_NO_ADJECTIVES = frozenset(
    ["aber", "oder", "über", "unter", "hinter", "neben", "gegen", "wegen", "zwischen", "ohne", "seine", "eine", "keine", "wurde", "werde", "würde", "hatte", "hätte", "wäre", "wollte", "sollte", "konnte", "könnte", "musste", "müsste", "durfte", "sagte", "fragte", "machte", "dachte", "nannte", "kannte", "gerne", "heute", "später", "immer", "wieder", "leider", "weder", "außer", "daher", "woher", "hier", "mehr", "jemanden", "niemanden", "etwas", "alles", "ist", "war", "ihnen", "denen", "deren", "dessen", "werden", "wurden", "haben", "hatten", "sollen", "wollen", "können", "müssen", "sein", "gewesen", "worden", "geworden", "zusammen", "morgen", "gestern", "herren", "frauen", "männer", "mutter", "vater", "schwester", "bruder", "tochter", "leute", "kinder", "beste-freundin"]
)
_ADJECTIVE = re.compile(r"\w{2,}(e|en|er|em|es)")

_NOMINALISED = re.compile(
    r"\w*(angestellt|bedienstet|vorgesetzt|vorsitzend|beauftragt|verantwortlich|leitend|reisend|gelehrt|tätig|kundig"
    r"|führend|habend|arbeitend|lehrend|pflegend|unterrichtend|beratend|anwesend|teilnehmend|dienend|begleitend"
    r"|schaffend|schreibend|assistierend)(e|en|er)"
)
_LOANS = frozenset(["ceo", "sheriff", "nanny", "concierge", "coach", "chief", "officer", "executive", "bodyguard"])

_PREPOSITIONS = frozenset(
    ["mit", "von", "bei", "zu", "nach", "aus", "seit", "gegenüber", "dank", "gemäß", "laut", "in", "an", "auf", "hinter", "vor", "über", "unter", "neben", "zwischen", "wegen", "trotz", "statt", "anstatt", "aufgrund", "seitens", "bezüglich", "anstelle", "angesichts", "anhand", "samt", "nebst"]
)
_DATIVE_PREPOSITIONS = frozenset(["mit", "von", "bei", "zu", "nach", "aus", "seit", "gegenüber", "samt", "nebst"])
_GIVING = frozenset(
    ["gab", "gibt", "geben", "half", "hilft", "helfen", "dankte", "dankt", "danken", "sagte", "sagt", "erzählte", "erzählt", "erklärte", "erklärt", "zeigte", "zeigt", "schenkte", "schenkt", "antwortete", "antwortet", "folgte", "folgt", "versprach", "gratulierte", "bot", "bietet", "reichte", "schrieb", "empfahl", "erlaubte", "riet", "vertraute", "vertraut", "überreichte", "lieh", "drohte", "gehörte", "gehört", "glaubte", "glaubt", "lieferte"]
)
_PRONOUNS = frozenset(["er", "sie", "ich", "wir", "man", "es", "du"])
_VERBS = frozenset(
    ["ist", "war", "hat", "hatte", "wird", "wurde", "will", "kann", "muss", "soll", "darf", "mag", "weiß", "sei", "wäre", "hätte", "würde", "bleibt", "blieb", "heißt", "sagt", "sprach", "rief", "kam", "ging", "gab", "half", "bat", "sah"]
)
_ONE_PERSON = frozenset(["ist", "war", "wird", "wurde", "werde", "sei", "wäre", "bin", "bist", "bleibt", "blieb", "als", "gewesen", "geworden"])
_PARTITIVE = frozenset(
    "einer eine einen einem keiner keine keinen jeder jede jeden viele einige mehrere zwei drei alle manche wenige "
    "meisten hälfte mehrheit zahl anzahl gruppe teil".split()
)
_GENITIVE_PLURAL = frozenset(["vieler", "einiger", "mehrerer", "weniger", "zweier", "dreier", "anderer", "aller", "beider"])


def _adjective(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    if word in _NO_ADJECTIVES or not _ADJECTIVE.fullmatch(word):
        return None
    if word.startswith(("weiblich", "männlich")):
        return "f" if word.startswith("w") else "m"
    return "m" if word.endswith("em") else "mf"


def _clues(words: Sequence[str], start: int, end: int, number: str) -> list[tuple[str, Agreement]]:
    noun = words[end - 1]
    if noun.endswith(("mädchen", "mädchens")):
        return [(noun, "f")]
    if noun == "sheriffs":
        return [(noun, "m")]  # the feminine plural is "Sheriffinnen"
    if noun not in _LOANS and not _NOMINALISED.fullmatch(noun):
        return []
    at = start - 1  # of the determiner
    while at >= 0 and words[at] not in _DETERMINERS and (_adjective(words[at], number) or words[at] in _TRANSPARENT):
        at -= 1
    determiner = words[at] if at >= 0 and words[at] in _DETERMINERS else ""
    inflected = words[start - 1] if noun in _LOANS and at < start - 1 and words[start - 1] not in _TRANSPARENT else noun
    if noun in _LOANS and inflected == noun:
        gender = _by_place(words, at, end) if _SINGULAR.get(determiner) == "mf" else None
        if noun == "sheriff" and not determiner:
            gender = "m"  # the feminine is "Sheriffin"; only an article makes this form one ("die Sheriff")
    else:
        before = words[at] if at >= 0 else ""
        beside = {before, words[end] if end < len(words) else ""}
        gender = _by_ending(determiner, inflected, beside, words[at - 1] if at > 0 else "", noun in _LOANS)
    return [(inflected, gender)] if gender else []


def _by_ending(determiner: str, word: str, beside: set[str], earlier: str, singular: bool) -> Agreement | None:
    """The gender of an adjective form behind a determiner ("" for none)."""
    ending = word[-1] if word.endswith("e") else word[-2:]
    if determiner in _GENITIVE_PLURAL:
        return None
    if not determiner:
        return {"er": "m", "en": "m" if singular else None, "e": "f" if singular or beside & _ONE_PERSON else None}.get(ending)
    agreement = _SINGULAR.get(determiner)
    if ending == "er":
        return "m"  # ein Angestellter
    if ending == "e":
        if agreement == "mf" or determiner in ("derselbe", "derjenige"):
            return "m"  # der, dieser, jeder Angestellte
        return "f" if agreement == "f" else None  # die, eine, meine Angestellte; zwei, viele Angestellte are plural
    if agreement == "mf" or determiner.endswith("er") or determiner == "zur":
        return None if earlier in _PARTITIVE else "f"  # der, dieser, meiner, zur Angestellten; eine der Angestellten
    if determiner in _PLURAL and agreement == "m":  # den Angestellten: one man, or a dative plural
        return None if earlier in _DATIVE_PREPOSITIONS or earlier in _GIVING else "m"
    return "m" if agreement == "m" else None  # dem, einem, des Angestellten; die, meine Angestellten are plural


def _by_place(words: Sequence[str], at: int, end: int) -> Agreement:
    """Whether "der" (dieser, jeder ...) at words[at] is a masculine nominative or a feminine dative or genitive."""
    before = words[at - 1] if at > 0 else ""
    if before in _PREPOSITIONS:
        return "f"
    subject_precedes = (at > 2 and words[at - 3] in _NOMINATIVES) or (at > 1 and words[at - 2] in _PRONOUNS)
    if before in _GIVING:
        return "f" if subject_precedes else "m"
    of_a_noun = at > 1 and words[at - 2] in _DETERMINERS | {"das"} and before not in _VERBS and not before.endswith("te")
    return "f" if of_a_noun else "m"


_DETERMINERS = frozenset({*_SINGULAR, *_PLURAL})
_NOMINATIVES = frozenset({"der", "die", "das", *_EIN_WORDS, *(stem + "e" for stem in _EIN_WORDS.values()),
                          *(stem + "er" for stem in _DER_WORDS), *(stem + "e" for stem in _DER_WORDS)})  # fmt: skip

LANGUAGE = Language(
    code="de",
    name="German",
    singular=_SINGULAR,
    plural=_PLURAL,
    transparent=_TRANSPARENT,
    adjective=_adjective,
    clues=_clues,
)
