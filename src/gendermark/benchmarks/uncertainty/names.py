"""First names in the sentences: "The mechanic Anne called to inform someone that she had completed the repair." """

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache

from gendermark.data.bundled import core_rows
from gendermark.errors import UserError
from gendermark.reading.focus import EDGES, INDEFINITE, POSSESSIVE, places_of
from gendermark.records import Gender


def with_name(text: str, position: int, gender: Gender | None, language: str, entity: str) -> str:
    """The sentence with a name behind the noun of the person meant, of the gender of its pronoun.

    A sentence that leaves the gender open gets none, nor does "someone", which no name can follow. The name depends on
    language and sentence alone. The place of the noun stays what it was.
    """
    known = names()
    languages = sorted({code for code, _ in known})
    if language not in languages:
        raise UserError(f"there are no names for {language!r}; available: {', '.join(languages)}")
    if gender not in (Gender.MASCULINE, Gender.FEMININE) or entity.lower() in INDEFINITE:
        return text
    choices = known[language, gender]
    digest = hashlib.sha256(f"0/{language}/{text}".encode()).digest()
    name = choices[int.from_bytes(digest[:8], "big") % len(choices)]
    tokens = text.split(" ")
    start = min(places_of(text, entity), key=lambda place: abs(place - position))
    end = start + len(entity.split())
    last = tokens[end - 1]
    noun = last.strip(EDGES)
    possessive = POSSESSIVE.search(noun)
    cut = last.index(noun) + (possessive.start() if possessive else len(noun))
    return " ".join([*tokens[: end - 1], last[:cut], name + last[cut:], *tokens[end:]])


@cache
def names() -> Mapping[tuple[str, Gender], Sequence[str]]:
    """(target language, gender) -> names."""
    found: dict[tuple[str, Gender], list[str]] = defaultdict(list)
    for row in core_rows("uncertainty/names.tsv"):
        found[row["language"], Gender(row["gender"])].append(row["name"])
    return dict(found)
