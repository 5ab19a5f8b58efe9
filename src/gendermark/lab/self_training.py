"""Gender-filtered self-training (GFST; Choubey, Currey, Mathur and Dinu 2021).

A system translates sentences that nobody has translated. Those that tell somebody's gender are kept if the translation
gives it to them, by our lexicons; of women and of men there are as many. What is left is learnt beside the other text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendermark import registry
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.io.textfiles import read_lines
from gendermark.lab.documents import grammar_count
from gendermark.lab.grammar import generate
from gendermark.lab.parallel import GRAMMAR, Line, Part, columns, key, tatoeba_cards, tatoeba_lines, tidy
from gendermark.linguistics.occupations import bundled_finder
from gendermark.linguistics.source_gender import PersonTold, keeps_gender, read_source, readable
from gendermark.records import Gender, Translation
from gendermark.runs.run import RunContext
from gendermark.systems.tokenisers import Direction

NAME = "self-training"
_SEED = 901
"""Of the grammar's sentences: none of the seeds that its pairs have."""
_READ_IN = "en"


@dataclass(frozen=True)
class SelfTraining:
    """Who translates, and what."""

    name: str
    ask: Callable[[Sequence[str]], Sequence[Sequence[Translation]]]
    texts: Sequence[str]
    """`grammar=N`, data sets whose source side is taken, or files of lines."""

    def check(self, direction: Direction) -> None:
        """Refuse what cannot be filtered, before any work."""
        readable_languages = registry.names("language")
        if direction[0] != _READ_IN or direction[1] not in readable_languages:
            raise UserError(
                f"--self-train keeps translations by the gender of people, which can be read from {_READ_IN} into "
                f"{', '.join(readable_languages)}, not {'-'.join(direction)}"
            )

    def part(self, direction: Direction, away: set[str], context: RunContext) -> tuple[Part, dict[str, Any]]:
        """The pairs that are kept, and how many there were of each kind; sources in `away` are not asked for."""
        finder = bundled_finder(direction[1])
        texts = read_monolingual(self.texts, direction[0], context)
        told: dict[str, tuple[Gender, list[PersonTold]]] = {}
        for text in texts:
            people = readable(read_source(text), finder) if key(text) not in away else []
            genders = {person.gender for person in people}
            if len(genders) == 1 and (gender := genders.pop()) in (Gender.MASCULINE, Gender.FEMININE):
                told[text] = (gender, people)  # of women and men together, neither side would be balanced
        kept: dict[Gender, list[Line]] = {Gender.FEMININE: [], Gender.MASCULINE: []}
        for (source, (gender, people)), said in zip(told.items(), self.ask(list(told)), strict=True):
            line = tidy(Line(source, said[0].text or ""))
            if line.target and keeps_gender(line.target, people, finder):
                kept[gender].append(line)
        n = min(map(len, kept.values()))
        if not n:
            raise UserError(
                f"nothing is left of {', '.join(self.texts)} to learn from: {len(told):,} of {len(texts):,} sentences "
                f"tell somebody's gender, and {self.name} keeps it in {len(kept[Gender.FEMININE]):,} of women and "
                f"{len(kept[Gender.MASCULINE]):,} of men; give more text with --monolingual"
            )
        lines = [line for gender in kept for line in sorted(kept[gender], key=_chance)[:n]]
        counts = {
            "system": self.name,
            "n_sentences": len(texts),
            **{f"n_told_{gender.value}": sum(one is gender for one, _ in told.values()) for gender in kept},
            **{f"n_right_{gender.value}": len(found) for gender, found in kept.items()},
            "n_kept_of_each": n,
        }
        return Part(NAME, lines), counts


def _chance(line: Line) -> bytes:
    return hashlib.sha256(line.source.encode()).digest()


def read_monolingual(texts: Sequence[str], language: str, context: RunContext) -> list[str]:
    """Every sentence once, in the order of the texts."""
    found: dict[str, str] = {}
    for text in texts:
        for sentence in _sentences(text, language, context):
            whole = " ".join(sentence.split())
            if key(whole):
                found.setdefault(key(whole), whole)
    return list(found.values())


def _sentences(text: str, language: str, context: RunContext) -> Sequence[str]:
    cards = tatoeba_cards()
    name, equals, number = text.partition("=")
    if equals and name.strip() == GRAMMAR:
        if language != _READ_IN:
            raise UserError(f"the grammar writes {_READ_IN} sentences, not {language!r}; leave out {text}")
        return [pair.source for pair in generate(grammar_count(number, "--monolingual"), _SEED, wide=True)]
    if text in cards:
        if language not in cards[text]:
            raise UserError(f"{text} has {' and '.join(cards[text])}, not {language!r}; leave it out")
        return [line[cards[text].index(language)] for line in columns(text, tatoeba_lines(text, context.tell))]
    if not Path(text).exists() and "." not in text and "/" not in text:
        raise UnknownName("data set or file of sentences", text, [f"{GRAMMAR}=50000", *cards])
    lines = [line.split("\t")[0] for line in read_lines(text)]
    if not any(map(str.strip, lines)):
        raise BadFile(text, "has no sentence")
    return lines
