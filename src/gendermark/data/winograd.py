"""Convert Winograd-style files, as their authors publish them, to lines of WinoMT.

WinoBias (Zhao et al. 2018) marks the person and the pronouns with brackets; Winogender (Rudinger et al. 2018) says in
the id of a sentence who is meant. WinoMT has gender, 0-based index of the entity's first noun word, sentence and entity
without its article, separated by tabs.
"""

from __future__ import annotations

import re
from pathlib import Path

from gendermark.errors import BadFile

_GENDER_OF = {
    **dict.fromkeys(("he", "him", "his", "himself"), "male"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "female"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themselves", "themself"), "neutral"),
}
_ARTICLES = ("the", "a", "an")
_NUMBER = re.compile(r"\d+[.)]?\s+")
_BRACKET = re.compile(r"\[([^\[\]]*)\]")


def convert_winobias(line: str, path: Path, number: int) -> str:
    """A line of WinoMT from one of WinoBias: `12 [The baker] thanked the guard because [he] was kind.`

    The first bracket is the entity, the others are pronouns of one gender.
    """
    # One sentence of WinoBias has two spaces in a row; an index on single spaces would point between them.
    text = " ".join(line.split())
    text = text[found.end() :] if (found := _NUMBER.match(text)) else text
    brackets = [" ".join(content.split()) for content in _BRACKET.findall(text)]
    if text.count("[") != len(brackets) or text.count("]") != len(brackets):
        raise BadFile(path, "has a bracket that is not closed or not opened", line=number)
    if len(brackets) < 2:
        raise BadFile(
            path,
            f"has {len(brackets)} of the two brackets that a WinoBias line needs: [the entity], then [its pronoun]",
            line=number,
        )
    entity, *pronouns = brackets
    if entity.lower() in _GENDER_OF:
        raise BadFile(path, f"has the pronoun [{entity}] in its first bracket, where the entity belongs", line=number)
    for pronoun in pronouns:
        if pronoun.lower() not in _GENDER_OF:
            raise BadFile(path, f"has [{pronoun}] where a pronoun is expected (he, her, themselves ...)", line=number)
    genders = {_GENDER_OF[pronoun.lower()] for pronoun in pronouns}
    if len(genders) > 1:
        raise BadFile(path, f"has pronouns of several genders: {', '.join(pronouns)}", line=number)
    words = entity.split(" ")
    has_article = words[0].lower() in _ARTICLES
    noun = " ".join(words[has_article:])
    if not noun:
        raise BadFile(path, f"has no entity in its first bracket, [{entity}]", line=number)
    sentence = " ".join(_BRACKET.sub(r"\1", text).split())
    # Spaces just inside the bracket, "[ the baker]", are gone from the sentence; those before it are all single.
    index = text[: text.index("[")].count(" ") + has_article
    return f"{genders.pop()}\t{index}\t{sentence}\t{noun}"


def convert_winogender(line: str, path: Path, number: int) -> str:
    """A line of WinoMT from one of Winogender: `baker.guest.1.male.txt<TAB>The baker told the guest that he can wait.`

    The id holds occupation, participant (`someone` in half of the sentences), who is meant (0 the occupation, 1 the
    participant) and the gender.
    """
    fields = line.split("\t")
    if len(fields) != 2:
        raise BadFile(path, f"has {len(fields)} fields, not the two of Winogender: id, tab, sentence", line=number)
    parts = fields[0].strip().removesuffix(".txt").split(".")
    if len(parts) != 4 or not all(parts):
        raise BadFile(path, f"has the id {fields[0].strip()!r}, not one like baker.guest.1.male.txt", line=number)
    occupation, participant, pointer, gender = parts
    if pointer not in ("0", "1"):
        raise BadFile(path, f"points to {pointer!r}; 0 is the occupation, 1 the participant", line=number)
    if gender not in _GENDER_OF.values():
        raise BadFile(path, f"has the gender {gender!r}, not male, female or neutral", line=number)
    entity = participant if pointer == "1" else occupation
    sentence = " ".join(fields[1].split())
    found = re.search(rf"(?<!\w){re.escape(entity)}(?!\w)", sentence, re.IGNORECASE)
    if found is None:
        raise BadFile(path, f"does not have {entity!r}, which its id names, in its sentence", line=number)
    return f"{gender}\t{sentence[: found.start()].count(' ')}\t{sentence}\t{entity}"
