"""Which Russian words belong to a person."""

from __future__ import annotations

import re

from gendermark.reading.attachment import Attachment, begins_sentence
from gendermark.reading.sentence import Sentence

_AGREEING = re.compile(r".*(?:[ыио]й|ая|яя|ого|его|ому|ему|ую|юю|[ыи]м)(?:ся)?")
_QUOTES = '«"„“'
_SOUNDS = {
    row[0]: row[1:]
    for row in re.split(
        " ",
        "аaeuh бb вvw гgh дd еeyh жjgz зzs иieyh кkcqx лl мm нn оoauh пp рr сscx тt уuwo фfp хhkc цctz чct шsc щs эeah "
        "юuyj яjyi",
    )
}
"""The letters of English that a Russian letter may stand for."""


class Russian(Attachment):
    pronouns_are_ambiguous = True
    her_is_their = False
    own = re.compile(r"сво(?:й|я|е|ю|и|его|ему|ей|ею|им|их|ими|ем)|себя|себе|собой")

    def is_inflected_name(self, sentence: Sentence, at: int) -> bool:
        """Whether a Russian word is a name, whose case ending depends on sex («Хрущева») and shows none to a reader."""
        if not sentence.is_capital(at):
            return False
        word, lists = sentence.words[at], sentence.lists
        agrees = lists.verb(word) or lists.participle(word) or lists.relative(word) or _AGREEING.fullmatch(word)
        return not (begins_sentence(sentence, at) and agrees)

    def is_name_before(self, sentence: Sentence, at: int) -> bool:
        """Whether a name or a noun for both stands right before a verb, adverbs apart: «Смит также выиграл»."""
        before = at - 1
        while (
            before > 0 and sentence.words[before] in sentence.lists.adverbs and not sentence.begins_clause(before + 1)
        ):
            before -= 1
        if before < 0 or sentence.begins_clause(before + 1):
            return False
        if sentence.words[before] in sentence.lists.habit or sentence.words[before] in ("судья", "глава"):
            return True
        return sentence.is_capital(before) and _is_bare_name(sentence, before)

    def refers_to_a_name(self, sentence: Sentence, at: int) -> bool:
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

    def has_a_things_subject(self, sentence: Sentence, at: int) -> bool:
        """Whether a verb's subject is a title in quotes, or stands before a genitive («часть семьи отца была»)."""
        gender = sentence.lists.verb(sentence.words[at])
        if gender is None or not at:
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


def _is_bare_name(sentence: Sentence, at: int) -> bool:
    """Whether a capital is a name's, not that of a sentence's first word, a title in quotes or a word of a list."""
    word, lists = sentence.words[at], sentence.lists
    entry = lists.look_up(word)
    if not word.isalpha() or word.isascii() or entry.told or entry.is_silent or entry.is_fixed:
        return False
    if sentence.text[sentence.spans[at][1] : sentence.spans[at][1] + 1] in ("»", '"', "”"):
        return False
    return not begins_sentence(sentence, at) or _sounds_like_a_name(sentence, word)


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


ATTACHMENT = Russian()
