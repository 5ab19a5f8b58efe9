"""Which German words belong to a person."""

from __future__ import annotations

import re

from gendermark.reading.attachment import Attachment
from gendermark.reading.sentence import Sentence

_NOMINALISED = re.compile(r".*?(e|en|er|em|es)")
_EXAMPLE = "angestellt"
"""A stem that German's file knows as that of a noun."""
_SEVERAL = re.compile(
    "die|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|(?:all|viel|mehrer|einig|beid|zahlreich|ander)(?:e|er|en)"
)
_ONE_OF = re.compile("ein(?:e|er|em|en|es)|zwei|drei|viele|einige|mehrere|meisten")
_HEIRS = frozenset({"erbe", "erben"})


class German(Attachment):
    pronouns_are_ambiguous = True
    masculine_is_plural = True

    def gender_of_nominalised(self, sentence: Sentence, at: int) -> str | None:
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

    def is_group(self, sentence: Sentence, at: int) -> bool:
        """Whether a German noun that is the same in the plural names several: "eine der besten Spieler"."""
        words, language = sentence.words, sentence.language
        if not words[at].endswith("er"):
            return False
        before = at - 1
        while before >= 0 and words[before] not in language.plural and language.adjective(words[before], "plural"):
            before -= 1
        if before < 0:
            return False
        if words[before] == "der":
            return before > 0 and _ONE_OF.fullmatch(words[before - 1]) is not None
        return _SEVERAL.fullmatch(words[before]) is not None

    def is_thing(self, sentence: Sentence, at: int) -> bool:
        """Whether a word that can be a person is a thing: "das Erbe" is a heritage, unless heirs are spoken of."""
        return sentence.words[at] in _HEIRS and "heir" not in sentence.source.lower()

    def tells_nothing(self, sentence: Sentence, at: int) -> bool:
        return super().tells_nothing(sentence, at) or self._agrees_with_a_man(sentence, at)

    def _agrees_with_a_man(self, sentence: Sentence, at: int) -> bool:
        """Whether an adjective that looks feminine stands behind a masculine article: "der stellvertretende"."""
        before = sentence.words[at - 1] if at else ""
        return before in ("der", "dieser", "jeder") and sentence.words[at].endswith("e") and not sentence.is_noun(at)


ATTACHMENT = German()
