"""Reads the tables: people, lists of words and clauses, and blocks of sentences with their share of the mixture."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gendermark.io.textfiles import split_lines
from gendermark.lab.grammar.bias import KAPPA, leaning
from gendermark.lab.grammar.notation import Template, parse_line

FIXED = "fixed"
"""The distance of a block about people whose noun has its own gender: mother, king, María."""
_NEITHER_WAY = 0.16
_TIMES = re.compile(r"(\d+)\* ")
_FORMS = re.compile(r"\[([^|\]]*)\|([^|\]]*)\]")
_BLOCK = re.compile(
    r"@@ (?P<family>[\w, -]+): (?P<distance>\w+)(?: (?P<referent>[12]))?(?P<they> they)? = (?P<weight>[\d.]+)"
)


@dataclass(frozen=True, slots=True)
class Person:
    """Someone whose English noun does not tell the gender."""

    english: str
    english_plural: str
    spanish: tuple[str, str]
    """Masculine and feminine."""
    spanish_plural: tuple[str, str]
    is_core: bool
    is_trade: bool
    """Whether one can be trained or hired as such: a baker, not a neighbor."""


@dataclass(frozen=True, slots=True)
class Block:
    """Sentences of one construction: how near the cue is, whom it is said of, and their share of the mixture."""

    family: str
    distance: str
    referent: str
    has_they: bool
    weight: float
    sentences: Sequence[Template]


@cache
def people(*, wide: bool = False) -> tuple[Person, ...]:
    """Everyone in people.txt, in its order; in the wider grammar also those of people_wider.txt."""
    found = []
    for section, line in (*_sections("people.txt"), *(_sections("people_wider.txt") if wide else ())):
        left, right = (side.strip().split(", ") for side in line.split("::"))
        found.append(Person(left[0], left[1], _both(right[0]), _both(right[1]), section == "core", section != "others"))
    return tuple(found)


def _both(form: str) -> tuple[str, str]:
    return _FORMS.sub(r"\1", form), _FORMS.sub(r"\2", form)


@cache
def lists() -> Mapping[str, Sequence[Template]]:
    """The lists of words.txt and clauses.txt by name, and `job` and `jobs`: trades as a second noun.

    That noun takes over the gender of its person. So that it does not teach the opposite of the formula, it is of a
    trade that leans neither way.
    """
    found: dict[str, list[Template]] = {}
    for name in ("words.txt", "clauses.txt"):
        for section, line in _sections(name):
            found.setdefault(section, []).append(_parsed(line))
    for line in (line for section, line in _sections("people.txt") if section != "others"):
        left, right = (side.strip().split(", ") for side in line.split("::"))
        if abs(leaning(left[0]) - 0.5) > _NEITHER_WAY:
            continue
        found.setdefault("job", []).append(parse_line(f"{left[0]} :: {right[0]}"))
        found.setdefault("jobs", []).append(parse_line(f"{left[1]} :: {right[1]}"))
    return found


_parsed = cache(parse_line)


@cache
def blocks(*, wide: bool = False) -> tuple[Block, ...]:
    """The blocks of all sentence tables; wider.txt only in the wider grammar."""
    found = []
    tables = ("two_people.txt", "one_person.txt", "open.txt", "biography.txt", "context.txt", "everyday.txt")
    for name in (*tables, "wider.txt") if wide else tables:
        sentences: dict[str, list[Template]] = {}
        for header, line in _sections(name):
            sentences.setdefault(header, []).append(_parsed(line))
        found += [_block(header, lines) for header, lines in sentences.items()]
    return tuple(found)


def _block(header: str, sentences: Sequence[Template]) -> Block:
    match = _BLOCK.fullmatch(header)
    if match is None or match["distance"] not in {*KAPPA, FIXED}:
        raise ValueError(f"{header!r} does not begin a block")
    return Block(
        match["family"],
        match["distance"],
        match["referent"] or "1",
        bool(match["they"]),
        float(match["weight"]),
        sentences,
    )


def _sections(name: str) -> Iterator[tuple[str, str]]:
    """(header, line): `@name` begins a list, `@@ ...` a block, `#` a comment; a line with `3* ` counts three times."""
    path = files("gendermark.lab.grammar") / "tables" / name
    header = ""
    for line in split_lines(path.read_text(encoding="utf-8")):
        if line.startswith("@@"):
            header = line.strip()
        elif line.startswith("@"):
            header = line[1:].strip()
        elif line.strip() and not line.startswith("#"):
            times = _TIMES.match(line)
            for _ in range(int(times[1]) if times else 1):
                yield header, line[times.end() :] if times else line
