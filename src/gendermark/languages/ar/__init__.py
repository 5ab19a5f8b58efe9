"""Arabic.

Nearly every occupation noun tells its gender by itself (طبيب / طبيبة), so agreeing words mostly serve to notice a
contradiction (هذه الطبيب). The article and one-letter prepositions and conjunctions are written together with the noun;
"ل" swallows the alef of the article (للطبيبة). Attached pronouns are listed in the lexicon.

A masculine noun stays masculine behind a feminine verb, whose subject may be a dropped "she" (استأجرت المحامي). Verbs
decide only for nouns that serve both sexes: عمدة and شيف, which are masculine where nothing tells.

Words behind the noun are not read as adjectives by their endings: in the usual order verb - subject - object
(سأل المدير السكرتيرة) the word behind the subject is another person. Nor are verbs before a noun, unless they cannot
take a person as object, since a dropped subject makes سألت العمدة ambiguous: save where the verb is
the first word, which has its subject behind it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from gendermark.languages.language import Agreement, Clue, Clues, Language, RoleForms
from gendermark.languages.tables import words_of

# Vowel signs and tatweel go, alef loses its hamza or madda, final yaa its dots; Persian letters some systems write.
_LETTERS = str.maketrans("أإآٱىیک", "ااااييك", "\u0640\u0670")
_MARKS = re.compile("[\u0610-\u061a\u064b-\u065f]")
_VARIES = re.compile("[أإآٱىیک\u0640\u0670\u0610-\u061a\u064b-\u065f]")
# Behind an article a final haa cannot be "his": it is a carelessly written taa marbuta (الممرضه), save in الموجه.
_LOOSE_TAA = re.compile(r"^([وف]?(?:[بك]?ال|لل).{3,})ه$")


def normalise(word: str) -> str:
    word = unicodedata.normalize("NFKC", word)
    if _VARIES.search(word):
        word = _MARKS.sub("", word).translate(_LETTERS)
    return _LOOSE_TAA.sub(r"\1ة", word) if word.endswith("ه") and not word.endswith("موجه") else word


_W, _TABLES = words_of("ar", normalise)
_FOLLOWING = _TABLES["following"]
_GOVERNED = re.compile("لل|[بك]ال|ل|ب(?!ارم|ارت)")


def _bare(word: str) -> str:
    """Without conjunction, preposition and article."""
    return re.sub(r"^[وف]?(?:[بك]?ال|لل)", "", word)


def _verb(word: str) -> Agreement | None:
    if word in _W["past"]:
        return "m"
    if word.endswith("ت") and word[:-1] in _W["past"]:
        return "f"
    if word[:1] in ("ي", "ت") and word[1:] in _W["present"]:
        return "m" if word[0] == "ي" else "f"
    return None


def _feminine_past(word: str) -> bool:
    """Whether a word at the head of a sentence can only be a verb of the third person feminine (سألت, واتصلت)."""
    word = word[1:] if word[:1] in ("و", "ف") and len(word) > 4 else word
    return word[-1:] == "ت" and len(word) > 2 and word[-2] != "ا" and word[:2] != "ال" and word not in _W["no_verb"]


def _feminine_verb(words: Sequence[str], position: int) -> bool:
    """Whether a verb of the third person feminine stands here, negated or not (سألت, لم تسأل)."""
    word = words[position]
    if position and words[position - 1] in _W["negations"]:
        return word[:1] == "ت"
    return _feminine_past(word) or word[:2] == "تت" or (word[:1] == "ت" and word[1:] in _W["present"])


def _of_woman(words: Sequence[str], start: int, end: int) -> Clues:
    """A feminine verb whose subject the noun for both sexes at the head of the sentence is."""
    first = 1 if words[0] in _W["particles"] or words[0] in _W["negations"] else 0
    if start == first + 1:
        accusative = words[end - 1][-1:] == "ا"
        if _feminine_verb(words, first) and not accusative and not _GOVERNED.match(words[start]):
            return [Clue(first, "f")]
    elif start == 0 and end < len(words):
        behind = end + 1 if words[end] in _W["negations"] and end + 1 < len(words) else end
        if _feminine_verb(words, behind):
            return [Clue(behind, "f")]
    return []


def _behind(word: str) -> Agreement | None:
    """A relative pronoun, copula, adjective or verb right behind the noun."""
    if word in _FOLLOWING:
        return _FOLLOWING[word]
    adjective = _bare(word)
    if adjective in _W["adjectives"]:
        return "m"
    if adjective.endswith("ة") and adjective[:-1] in _W["adjectives"]:
        return "f"
    return _verb(word)


def clues(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    found: Clues = []
    noun = _bare(words[start])
    before = words[start - 1] if start else ""
    behind = words[end] if end < len(words) else ""
    defined = noun != words[start]
    if before in ("ذلك", "ذاك") and defined and not (start > 1 and words[start - 2] in _W["after_this_adverb"]):
        found.append(Clue(start - 1, "m"))
    if noun == "كتاب" and (before in _W["several"] or re.search("^الذين$|^ي.*ون$|وا$", behind)):
        found.append(Clue(start - 1 if before in _W["several"] else end, "m"))
    if noun in _W["epicene"]:
        place = end
        if behind == "في" and end + 2 < len(words) and words[end + 2] in _FOLLOWING:  # "the chef in the photo is"
            place, behind = end + 2, words[end + 2]
        told = ((start - 1, _verb(before)), (place, _behind(behind)))
        found.extend(Clue(at, agreement) for at, agreement in told if agreement is not None)
        if not found and number == "singular":
            found.extend(_of_woman(words, start, end))
    return found


def by_sense(words: Sequence[str], start: int, end: int, number: str) -> Clues:
    """The verb right before or behind a noun for anybody: قال الضحية; of a masculine one, what follows it."""
    if number == "plural" or _GOVERNED.match(words[start]):
        return []
    places = [at for at in (start - 1, end) if 0 <= at < len(words)]
    return [Clue(at, gender) for at in places if (gender := _verb(words[at]))]


_DEFINITE = re.compile("[وف]?(?:[بك]?ال|لل)")


def noun(word: str) -> Agreement | None:
    """An unknown noun by its ending. Without an article and the feminine ending it may be any part of speech."""
    if word.endswith("ة"):
        return "f"
    if word.isascii() and word.isalpha():
        return "m"
    participle = word[:1] == "م" and len(word) > 3 and word[-1] not in "اي"
    if word in _W["no_nouns"] or not (participle or word in _W["heads"] or (len(word) > 4 and _DEFINITE.match(word))):
        return None
    return "f" if word.endswith("ات") else "m"


_PREFIXES = [
    conjunction + rest
    for conjunction in ("", "و", "ف")
    for rest in ("", "ال", "لل", "ل", "ب", "بال", "ك", "كال")
    if conjunction + rest
]


def _role_forms(masculine: str, feminine: str) -> RoleForms:
    feminine = feminine or masculine + "ة"
    if feminine == masculine:
        return []
    women = feminine.removesuffix("ة") + "ات"
    return [
        (masculine, "m", False),
        (masculine + "ا", "m", False),
        (feminine, "f", False),
        (masculine + "ون", "m", True),
        (masculine + "ين", "m", True),
        (women, "f", True),
    ]


LANGUAGE = Language(
    code="ar",
    name="Arabic",
    singular=_TABLES["singular"],
    plural=_TABLES["plural"],
    prefixes=tuple(sorted(_PREFIXES, key=len, reverse=True)),
    normalise=normalise,
    clues=clues,
    noun=noun,
    bare_epicene=lambda word: None if "/" in word else "m",
    sexes=_TABLES["sexes"],
    by_sense=by_sense,
    role_forms=_role_forms,
    plural_endings=("ين", "ون", "ات", "وا"),
)
