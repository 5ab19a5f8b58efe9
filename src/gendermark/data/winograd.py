"""Winograd-style files as their authors publish them, read as rows of WinoMT.

WinoBias (Zhao et al. 2018) marks the person and the pronouns with brackets; Winogender (Rudinger et al. 2018) says in
the id of a sentence who is meant. WinoMT has gender, place of the entity, sentence and entity, separated by tabs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from gendermark.errors import BadFile

_GENDER_OF = {
    **dict.fromkeys(("he", "him", "his", "himself"), "male"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "female"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themselves", "themself"), "neutral"),
}
_ARTICLES = ("the", "a", "an")
_NUMBER = re.compile(r"\d+[.)]?\s+")
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_WINOGENDER_HEADER = "sentid"


@dataclass(frozen=True, slots=True)
class WinoRow:
    """One row of WinoMT."""

    gender: str
    """`male`, `female` or `neutral`."""
    index: int
    """0-based place of the entity's first noun word among the words between single spaces."""
    sentence: str
    entity: str
    """Without its article."""


def from_winobias(lines: Iterable[str], source: str) -> list[WinoRow]:
    """The rows of a WinoBias file: `12 [The baker] thanked the guard because [he] was kind.`

    The first bracket is the entity, the others are pronouns of one gender. `source` names the file in messages.
    """
    return [_from_brackets(line, source, number) for number, line in enumerate(lines, start=1) if line.strip()]


def from_winogender(lines: Iterable[str], source: str) -> list[WinoRow]:
    """The rows of a Winogender file: `baker.guest.1.male.txt<TAB>The baker told the guest that he could wait.`

    The id holds occupation, participant (`someone` in half of the sentences), who is meant (0 the occupation, 1 the
    participant) and the gender. A header line is passed over. `source` names the file in messages.
    """
    return [
        _from_id(line, source, number)
        for number, line in enumerate(lines, start=1)
        if line.strip() and not (number == 1 and line.split("\t")[0].strip() == _WINOGENDER_HEADER)
    ]


def to_winomt_lines(rows: Iterable[WinoRow]) -> list[str]:
    """The lines of a WinoMT file."""
    return [f"{row.gender}\t{row.index}\t{row.sentence}\t{row.entity}" for row in rows]


def _from_brackets(line: str, source: str, number: int) -> WinoRow:
    # One sentence of WinoBias has two spaces in a row; an index on single spaces would point between them.
    text = " ".join(line.split())
    text = text[found.end() :] if (found := _NUMBER.match(text)) else text
    brackets = [" ".join(content.split()) for content in _BRACKET.findall(text)]
    if text.count("[") != len(brackets) or text.count("]") != len(brackets):
        raise BadFile(source, "has a bracket that is not closed or not opened", line=number)
    if len(brackets) < 2:
        raise BadFile(
            source,
            f"has {len(brackets)} of the two brackets that a WinoBias line needs: [the entity], then [its pronoun]",
            line=number,
        )
    entity, *pronouns = brackets
    if entity.lower() in _GENDER_OF:
        raise BadFile(source, f"has the pronoun [{entity}] in its first bracket, where the entity belongs", line=number)
    for pronoun in pronouns:
        if pronoun.lower() not in _GENDER_OF:
            raise BadFile(source, f"has [{pronoun}] where a pronoun is expected (he, her, themselves ...)", line=number)
    genders = {_GENDER_OF[pronoun.lower()] for pronoun in pronouns}
    if len(genders) > 1:
        raise BadFile(source, f"has pronouns of several genders: {', '.join(pronouns)}", line=number)
    words = entity.split(" ")
    has_article = words[0].lower() in _ARTICLES
    noun = " ".join(words[has_article:])
    if not noun:
        raise BadFile(source, f"has no entity in its first bracket, [{entity}]", line=number)
    sentence = " ".join(_BRACKET.sub(r"\1", text).split())
    # Spaces just inside the bracket, "[ the baker]", are gone from the sentence; those before it are all single.
    before = text[: text.index("[")]
    return WinoRow(genders.pop(), before.count(" ") + has_article, sentence, noun)


def _from_id(line: str, source: str, number: int) -> WinoRow:
    fields = line.split("\t")
    if len(fields) != 2:
        raise BadFile(source, f"has {len(fields)} fields, not the two of Winogender: id, tab, sentence", line=number)
    parts = fields[0].strip().removesuffix(".txt").split(".")
    if len(parts) != 4 or not all(parts):
        raise BadFile(source, f"has the id {fields[0].strip()!r}, not one like baker.guest.1.male.txt", line=number)
    occupation, participant, pointer, gender = parts
    if pointer not in ("0", "1"):
        raise BadFile(source, f"points to {pointer!r}; 0 is the occupation, 1 the participant", line=number)
    if gender not in _GENDER_OF.values():
        raise BadFile(source, f"has the gender {gender!r}, not male, female or neutral", line=number)
    entity = participant if pointer == "1" else occupation
    sentence = " ".join(fields[1].split())
    found = re.search(rf"(?<!\w){re.escape(entity)}(?!\w)", sentence, re.IGNORECASE)
    if found is None:
        raise BadFile(source, f"does not have {entity!r}, which its id names, in its sentence", line=number)
    return WinoRow(gender, sentence[: found.start()].count(" "), sentence, entity)
