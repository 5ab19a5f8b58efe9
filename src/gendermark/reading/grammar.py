"""Whose word it is, where only the grammar of a language tells.

German "sie" is she, they and a thing; Russian «его» is his and its; Arabic and Hindi verbs agree with things too. Such
a word of the other gender speaks against a translation only if nobody and nothing else can be meant.
"""

from __future__ import annotations

import re

from gendermark.reading.gendered import Told
from gendermark.reading.sentence import Sentence, has_phrase, letter_of

_PRONOUNS = {
    "m": frozenset({"he", "him", "his", "himself"}),
    "f": frozenset({"she", "her", "hers", "herself"}),
}
_ENGLISH = re.compile(r"[a-z]+")
_AMBIGUOUS = frozenset({"ar", "de", "nl", "ru"})
_ADDRESSED = frozenset({"you", "your", "yours", "yourself"})
_OWN = {"ru": re.compile(r"сво(?:й|я|е|ю|и|его|ему|ей|ею|им|их|ими|ем)|себя|себе|собой")}
"""Possessives of the subject, which stand for "his" and "her" and show neither."""


def is_the_persons(sentence: Sentence, at: int, told: Told) -> bool:
    """Whether a pronoun or possessive of the other gender can only be the person's.

    So it is where it stands among the words of the wrong reference; and where nobody and nothing else is spoken of by a
    pronoun, and the translation has fewer pronouns of the right gender than the source.
    """
    marks = sentence.marks
    if sentence.language.code not in _AMBIGUOUS or told.gender == sentence.expected:
        return False
    if not _speaks_of_the_person_only(sentence):
        return False
    words = _ENGLISH.findall(sentence.source.lower())
    is_open = marks.names_things or marks.names_several or not _ADDRESSED.isdisjoint(words)
    if is_open or sentence.language.code == "ar":
        return follows_the_wrong_reference(sentence, range(at - 1, at + 2))
    if follows_closely(sentence, at):
        return True
    wanted = sum(word in _PRONOUNS[sentence.expected] for word in words)
    return at in sentence.near and _fulfilled(sentence) < wanted


def _speaks_of_the_person_only(sentence: Sentence) -> bool:
    return all(letter_of(gender) == sentence.expected for gender in sentence.marks.genders)


def _fulfilled(sentence: Sentence) -> int:
    """Words of a translation that stand for "he" or "his", and do not contradict."""
    lists, own = sentence.lists, _OWN.get(sentence.language.code)
    found = 0
    for word in sentence.words:
        told = lists.told.get(word)
        is_right = told is not None and told.kind in ("pronoun", "owner") and told.gender == sentence.expected
        found += is_right or (own is not None and own.fullmatch(word) is not None)
    return found


def follows_the_wrong_reference(sentence: Sentence, places: range) -> bool:
    """Whether these words stand side by side in the wrong reference, and not in the right one."""
    if places.start < 0 or places.stop > len(sentence.words):
        return False
    phrase, contrast = sentence.words[places.start : places.stop], sentence.contrast
    return has_phrase(contrast.wrong_words, phrase) and not has_phrase(contrast.right_words, phrase)


def is_relative(sentence: Sentence, at: int) -> bool:
    """Whether a word of the wrong reference refers back to a name: "Lange, die", not "Frau, die"."""
    if not at or not sentence.begins_clause(at) or not follows_the_wrong_reference(sentence, range(at - 1, at + 2)):
        return False
    return sentence.lists.look_up(sentence.words[at - 1]).told is None


_NOMINALISED = re.compile(r".*?(e|en|er|em|es)")
_EXAMPLE = "angestellt"
"""A stem that German's file knows as that of a noun."""


def gender_of_nominalised(sentence: Sentence, at: int) -> str | None:
    """The gender of an adjective that is a noun, by its ending and its article: "der Gelehrte", "die Gelehrte"."""
    if not sentence.is_noun(at):
        return None
    words, language = sentence.words, sentence.language
    ending = _NOMINALISED.fullmatch(words[at])
    if ending is None:
        return None
    as_known = [*words[:at], _EXAMPLE + ending[1], *words[at + 1 :]]
    for clue in language.clues(as_known, at, at + 1, "singular"):
        return clue.agreement if clue.agreement in ("m", "f") else None
    is_called_so = at > 0 and (words[at - 1] in sentence.lists.introducing or sentence.begins_clause(at))
    return "f" if ending[1] == "e" and is_called_so and sentence.speaks_of_one else None


_SEVERAL = re.compile(
    "die|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|(?:all|viel|mehrer|einig|beid|zahlreich|ander)(?:e|er|en)"
)
_ONE_OF = re.compile("ein(?:e|er|em|en|es)|zwei|drei|viele|einige|mehrere|meisten")


def is_group(sentence: Sentence, at: int) -> bool:
    """Whether a German noun that is the same in the plural names several: "eine der besten Spieler"."""
    words, language = sentence.words, sentence.language
    if language.code != "de" or not words[at].endswith("er"):
        return False
    before = at - 1
    while before >= 0 and words[before] not in language.plural and language.adjective(words[before], "plural"):
        before -= 1
    if before < 0:
        return False
    if words[before] == "der":
        return before > 0 and _ONE_OF.fullmatch(words[before - 1]) is not None
    return _SEVERAL.fullmatch(words[before]) is not None


_HEIRS = frozenset({"erbe", "erben"})


def is_thing(sentence: Sentence, at: int) -> bool:
    """Whether a German word that can be a person is a thing: "das Erbe" is a heritage, unless heirs are spoken of."""
    return sentence.words[at] in _HEIRS and sentence.language.code == "de" and "heir" not in sentence.source.lower()


def _agrees_with_a_man(sentence: Sentence, at: int) -> bool:
    """Whether an adjective that looks feminine stands behind a masculine article: "der stellvertretende"."""
    before = sentence.words[at - 1] if at else ""
    return before in ("der", "dieser", "jeder") and sentence.words[at].endswith("e") and not sentence.is_noun(at)


def tells_nothing(sentence: Sentence, at: int) -> bool:
    """Whether a word in no list, that only one reference has, is a name or agrees with something else here."""
    # Of a sentence that leaves gender open, the ending of a name may be all there is.
    if sentence.is_name(at) or (sentence.marks.genders and is_inflected_name(sentence, at)):
        return True
    return sentence.language.code == "de" and _agrees_with_a_man(sentence, at)


# -- Russian -----------------------------------------------------------------------------------------------------------

_AGREEING = re.compile(r".*(?:[ыио]й|ая|яя|ого|его|ому|ему|ую|юю|[ыи]м)(?:ся)?")
_QUOTES = '«"„“'


def _begins_sentence(sentence: Sentence, at: int) -> bool:
    before = sentence.text[: sentence.spans[at][0]].rstrip(" \t" + _QUOTES)
    return not before or before[-1] in ".!?"


def is_inflected_name(sentence: Sentence, at: int) -> bool:
    """Whether a Russian word is a name, whose case ending depends on sex («Хрущева») and shows none to a reader."""
    if sentence.language.code != "ru" or not sentence.is_capital(at):
        return False
    word, lists = sentence.words[at], sentence.lists
    agrees = lists.verb(word) or lists.participle(word) or lists.relative(word) or _AGREEING.fullmatch(word)
    return not (_begins_sentence(sentence, at) and agrees)


def is_name_before(sentence: Sentence, at: int) -> bool:
    """Whether a name or a noun for both stands right before a verb, adverbs apart: «Смит также выиграл»."""
    before = at - 1
    while before > 0 and sentence.words[before] in sentence.lists.adverbs and not sentence.begins_clause(before + 1):
        before -= 1
    if before < 0 or sentence.begins_clause(before + 1):
        return False
    if sentence.words[before] in sentence.lists.habit or sentence.words[before] in ("судья", "глава"):
        return True
    return sentence.is_capital(before) and _is_bare_name(sentence, before)


def _is_bare_name(sentence: Sentence, at: int) -> bool:
    """Whether a capital is a name's, not that of a sentence's first word, a title in quotes or a word of a list."""
    word, lists = sentence.words[at], sentence.lists
    entry = lists.look_up(word)
    if not word.isalpha() or word.isascii() or entry.told or entry.is_silent or entry.is_fixed:
        return False
    if sentence.text[sentence.spans[at][1] : sentence.spans[at][1] + 1] in ("»", '"', "”"):
        return False
    return not _begins_sentence(sentence, at) or _sounds_like_a_name(sentence, word)


_SOUNDS = {
    row[0]: row[1:]
    for row in re.split(
        " ",
        "аaeuh бb вvw гgh дd еeyh жjgz зzs иieyh кkcqx лl мm нn оoauh пp рr сscx тt уuwo фfp хhkc цctz чct шsc щs эeah "
        "юuyj яjyi",
    )
}
"""The letters of English that a Russian letter may stand for."""


def _sounds_like_a_name(sentence: Sentence, word: str) -> bool:
    """Whether a word begins and goes on like a word of the source with a capital, as «Лоус» does like "Lowes"."""
    spelled = word[1:] if word.startswith("дж") else word
    first = spelled[0]
    second = next((letter for letter in spelled[1:] if letter not in "аеиоуыэюяьй"), "")
    for name in re.findall(r"\b[A-Z][\w'-]+", sentence.source):
        low = name.lower()
        if low[0] in _SOUNDS.get(first, "") and (not second or set(low[1:]) & set(_SOUNDS.get(second, ""))):
            return True
    return False


def refers_to_a_name(sentence: Sentence, at: int) -> bool:
    """Whether the clause before this word's ends in a name: «Абрамович, активно работающая»."""
    start = at
    while start > max(at - 3, 0) and not sentence.begins_clause(start):
        start -= 1
    before = start - 1
    return (
        before >= 0
        and sentence.begins_clause(start)
        and sentence.is_capital(before)
        and _is_bare_name(sentence, before)
    )


def has_a_things_subject(sentence: Sentence, at: int) -> bool:
    """Whether a Russian verb's subject is a title in quotes, or stands before a genitive («часть семьи отца была»)."""
    gender = sentence.lists.verb(sentence.words[at])
    if sentence.language.code != "ru" or gender is None or not at:
        return False
    before = sentence.lists.told.get(sentence.words[at - 1])
    if before and before.kind == "noun" and before.gender != gender and not sentence.begins_clause(at):
        return True
    is_first = not any(
        sentence.lists.verb(word) or (told and told.kind == "pronoun")
        for word in sentence.words[:at]
        for told in (sentence.lists.told.get(word),)
    )
    return is_first and sentence.text.lstrip()[:1] in _QUOTES and sentence.text.lstrip()[:1] != ""


# -- Arabic ------------------------------------------------------------------------------------------------------------

_POST_REACH = 8
"""Words between "the post of" and the last of the posts that follow."""
_SEPARATE = frozenset({"هو", "هي", "وهو", "وهي"})
_RELATIVE = frozenset({"الذي", "التي", "والذي", "والتي"})


def is_of_a_post(sentence: Sentence, at: int) -> bool:
    """Whether a noun names a post, not its holder («منصب رئيس البلدية ومدير المدينة»), or agrees with «عضو»."""
    words, lists = sentence.words, sentence.lists
    if sentence.language.code != "ar" or not at:
        return False
    if words[at - 1] in lists.posts or words[at - 1] in lists.habit:
        return True
    if not words[at].startswith("و"):
        return False
    for place in range(at - 1, max(at - 1 - _POST_REACH, -1), -1):
        if words[place] in lists.posts:
            return True
        if sentence.begins_clause(place):
            return False
    return False


def is_a_things(sentence: Sentence, at: int, told: Told | None) -> bool:
    """Whether a word of the other gender is rather a thing's.

    An Arabic relative, or "it is" inside a sentence; a Hindi verb that agrees with an object or a thing.
    """
    word = sentence.words[at]
    if sentence.language.code == "hi":
        return (told is None or told.kind == "verb") and subject_in_hindi(sentence, at) == "other"
    if sentence.language.code != "ar":
        return False
    return word in _RELATIVE or (word in _SEPARATE and not _begins_sentence(sentence, at))


def has_an_owner(sentence: Sentence, at: int) -> bool:
    """Whether an Arabic noun of a role has a pronoun attached («مديرها»): it names somebody else, and shows whose."""
    return sentence.language.code == "ar" and sentence.words[at].endswith(("ه", "ها", "هم"))


def is_dual(sentence: Sentence, at: int) -> bool:
    """Whether an Arabic verb is of two people («عاشا»), of whom the right reference has two women («عاشتا»)."""
    word = sentence.words[at]
    return sentence.language.code == "ar" and word.endswith("ا") and word[:-1] + "تا" in sentence.contrast.right_words


def follows_closely(sentence: Sentence, at: int) -> bool:
    """Whether a word stands beside a word of the wrong reference just as there, and not in a relative clause."""
    if not _RELATIVE.isdisjoint(sentence.words[max(at - 2, 0) : at]):
        return False
    return any(follows_the_wrong_reference(sentence, range(start, start + 2)) for start in (at - 1, at))


# -- Hindi -------------------------------------------------------------------------------------------------------------

_JOINING = frozenset(
    {"और", "लेकिन", "बल्कि", "कि", "जब", "तब", "जहां", "वहां", "तो", "पर", "किंतु", "परंतु", "क्योंकि", "तथा", "एवं", "या"}
    | {"जिस", "जिसे", "जिन्हें", "जिसमें", "जिसके", "जिसकी", "जिसका", "जिनके", "जिनकी", "जिनका", "जो", "हालांकि", "मगर"}
)
_ERGATIVE = frozenset({"ने", "उसने", "उन्होंने", "इसने", "इन्होंने", "जिसने", "जिन्होंने", "मैंने", "किसने"})
_NOMINATIVE = frozenset({"वह", "वे", "वो"})
_DATIVE = frozenset({"उसे", "उन्हें", "उसको", "उनको", "इन्हें", "इसे", "को"})
_WOMAN = frozenset({"महिला", "स्त्री", "फीमेल"})


def subject_in_hindi(sentence: Sentence, at: int) -> str:
    """What a verb agrees with: `person` («वह»), `other` (an object behind «ने», a thing of hers), "" if none tells."""
    words, lists = sentence.words, sentence.lists
    start = at
    while start > 0 and not sentence.begins_clause(start) and words[start - 1] not in _JOINING:
        start -= 1
    clause = words[start:at]
    if not _ERGATIVE.isdisjoint(clause):
        return "other"
    if any(word in _NOMINATIVE and clause[place - 1 : place] != ["यह"] for place, word in enumerate(clause)):
        return "person"
    if not _DATIVE.isdisjoint(clause):
        return "other"
    for place in range(start, at - 1):
        if words[place] in lists.possessives:
            told = lists.look_up(words[place + 1]).told
            return "" if told is not None and told.kind == "noun" else "other"
    return ""


def is_called_a_woman(sentence: Sentence, at: int) -> bool:
    """«महिला नायक»: a masculine noun for a woman."""
    return sentence.language.code == "hi" and at > 0 and sentence.words[at - 1] in _WOMAN


_AUXILIARIES = frozenset({"है", "हैं", "था", "थे", "थी", "थीं", "हो", "हुए", "हुई", "हुआ", "रहे", "रही", "रहा", "नहीं"})


def is_finite_in_hindi(sentence: Sentence, at: int) -> bool:
    """Whether a word that ends like a verb is one: a participle has an auxiliary behind it, a future has not."""
    word, behind = sentence.words[at], sentence.words[at + 1 : at + 2]
    return not word.endswith(("ता", "ते", "ती", "तीं")) or (bool(behind) and behind[0] in _AUXILIARIES)
