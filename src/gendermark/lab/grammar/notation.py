"""The notation of the tables, and how their two sides are written out.

A line is `English :: Spanish`. Both sides may hold:

- `{time}`: a line of the list `@time`, the same one on both sides; `{time.b}` is a second, independent choice
- `{1}` `{2}`: a person's noun, `{1s}` its plural; Spanish also `{el 1}` `{un 1}` `{este 1}` `{nuestro 1}` with the
  article in the right form, `{los 1s}` `{estos 1s}` in the plural, and `{-1}` `{-1s}` for a noun without any article,
  where a noun of one form for both shows no gender
- Spanish `[o|a]`: by the gender of person 1's noun; `[o|a]2` by that of person 2's; `[tío|tía]c` by what the English
  says of the person, whatever the noun is; inside a list, the person of the slot: `{trait 2}` asks for it of person 2
- English `[uncle|aunt]`: by what is said of the person; `[he|she|they]` has a form for nothing said. `{he}` `{him}`
  `{his}` `{himself}` `{was}` `{is}` `{has}` are short for such words
- English `a(n)`: "a" or "an", whichever fits

Capitals, "a el" -> "al", "de el" -> "del", "y" -> "e" and "o" -> "u" are written out last.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

MASCULINE, FEMININE, UNSAID = 0, 1, 2

Part = str | tuple[str, ...]
"""Plain text, or (kind, ...): noun, choice, or words of a list."""
Lists = Mapping[str, "Sequence[Template]"]

_PRONOUNS = {
    "he": ("he", "she", "they"),
    "him": ("him", "her", "them"),
    "his": ("his", "her", "their"),
    "himself": ("himself", "herself", "themselves"),
    "was": ("was", "was", "were"),
    "is": ("is", "is", "are"),
    "has": ("has", "has", "have"),
}
_ARTICLES = {
    "el": ("el", "la"),
    "un": ("un", "una"),
    "este": ("este", "esta"),
    "ese": ("ese", "esa"),
    "nuestro": ("nuestro", "nuestra"),
    "los": ("los", "las"),
    "unos": ("unos", "unas"),
    "estos": ("estos", "estas"),
    "esos": ("esos", "esas"),
    "nuestros": ("nuestros", "nuestras"),
}
_MARKUP = re.compile(r"(\{[^{}]*\}|\[[^\[\]]*\][12c]?)")
_NOUN = re.compile(rf"(-|(?:{'|'.join(_ARTICLES)}) )?([12])(s?)")
_NOT_DEFINITE = re.compile(r"\{(?!el |los |nuestro |este |ese )[^{} ]*1s?\}|\{un 1\}")
_LIST_SLOT = re.compile(r"([a-z_]+)(\.[a-z])?(?: ([12c]))?")

# What is written out last.
_AN = re.compile(r"\ba\(n\) (?=(?!(?:one|uni|use|usu|eu)\w*)[aeiou])", re.I)
_SENTENCE_START = re.compile(r"(?:^|(?<=[.?!] ))([¿¡]?)([a-zà-ÿ])")
_Y = re.compile(r"\by (?=h?i(?!e)|hí)")
_O = re.compile(r"\bo (?=h?o)")
_SPACES = re.compile(r" {2,}")


@dataclass(frozen=True, slots=True)
class Template:
    """One line of a table."""

    english: tuple[Part, ...]
    spanish: tuple[Part, ...]
    slots: tuple[tuple[str, str], ...]
    """(slot, list) for every choice to make."""
    needs_trade: bool
    """Whether person 1 stands without a plain definite article: one can be the neighbor, but not trained as one."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A template with a line for each of its slots."""

    template: Template
    lines: Mapping[str, Drawn]


@dataclass(frozen=True, slots=True)
class People:
    """The nouns of a sentence's people, and genders: of their nouns in Spanish, and what the English says (`cue`)."""

    english: Mapping[str, str]
    """"1" -> carpenter, "1s" -> carpenters"""
    spanish: Mapping[str, tuple[str, str]]
    """"1" -> (carpintero, carpintera)"""
    cue: int
    genders: Mapping[str, int]
    """By register: "1", "2", "c"."""


def parse_line(line: str) -> Template:
    """A template from `English :: Spanish`."""
    english, separator, spanish = line.partition("::")
    if not separator:
        raise ValueError(f"no '::' in {line!r}")
    sides = _parts(english.strip(), is_english=True), _parts(spanish.strip(), is_english=False)
    slots = {part[1]: part[2] for side in sides for part in side if not isinstance(part, str) and part[0] == "list"}
    return Template(*sides, tuple(slots.items()), bool(_NOT_DEFINITE.search(spanish)))


def _parts(text: str, *, is_english: bool) -> tuple[Part, ...]:
    parts: list[Part] = []
    for piece in filter(None, _MARKUP.split(text)):
        if piece[0] == "[":
            options, _, register = piece[1:].rpartition("]")
            parts.append(("choice", "cue" if is_english else register, *options.split("|")))
        elif piece[0] != "{":
            parts.append(piece)
        elif is_english and piece[1:-1] in _PRONOUNS:
            parts.append(("choice", "cue", *_PRONOUNS[piece[1:-1]]))
        elif noun := _NOUN.fullmatch(piece[1:-1]):
            article, person, plural = noun.groups()
            if article and article != "-":
                parts += [("choice", person, *_ARTICLES[article.strip()]), " "]
            parts.append(("noun", person, person + plural, "bare" if article == "-" else ""))
        elif slot := _LIST_SLOT.fullmatch(piece[1:-1]):
            name, copy, register = slot.groups()
            parts.append(("list", name + (copy or ""), name, register or ""))
        else:
            raise ValueError(f"{piece} in {text!r} is no slot")
    return tuple(parts)


def draw(template: Template, lists: Lists, rng: Random) -> Drawn:
    """A line for every slot, and for the slots of these lines; two slots of one list never have the same line."""
    lines: dict[str, Drawn] = {}
    for slot, name in template.slots:
        options = lists[name]
        chosen = options[int(rng.random() * len(options))]
        while any(chosen is line.template and not chosen.slots for line in lines.values()):
            chosen = options[int(rng.random() * len(options))]
        lines[slot] = draw(chosen, lists, rng)
    return Drawn(template, lines)


def uses(drawn: Drawn, found: set[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    """The nouns that the Spanish side names: (person, person and number, "bare" or "")."""
    for part in drawn.template.spanish:
        if not isinstance(part, str) and part[0] == "noun":
            found.add((part[1], part[2], part[3]))
    for line in drawn.lines.values():
        uses(line, found)
    return found


def english(drawn: Drawn, people: People) -> str:
    """The English sentence."""
    out: list[str] = []
    _write_english(drawn, people, out)
    text = "".join(out)
    if "a(n)" in text:
        text = _AN.sub("an ", text).replace("a(n) ", "a ")
    return _finish(text)


def _write_english(drawn: Drawn, people: People, out: list[str]) -> None:
    for part in drawn.template.english:
        if isinstance(part, str):
            out.append(part)
        elif part[0] == "choice":
            out.append(part[2 + people.cue])
        elif part[0] == "noun":
            out.append(people.english[part[2]])
        else:
            _write_english(drawn.lines[part[1]], people, out)


def spanish(drawn: Drawn, people: People, referent: str) -> str:
    """The Spanish sentence; a choice by gender that names nobody goes with `referent`."""
    out: list[str] = []
    _write_spanish(drawn, people, referent, out)
    text = "".join(out)
    if " el " in text:
        text = text.replace(" a el ", " al ").replace(" de el ", " del ")
        if text.startswith("a el "):
            text = "al " + text[5:]
    text = _O.sub("u ", _Y.sub("e ", text))
    return _finish(text)


def _write_spanish(drawn: Drawn, people: People, register: str, out: list[str]) -> None:
    for part in drawn.template.spanish:
        if isinstance(part, str):
            out.append(part)
        elif part[0] == "choice":
            out.append(part[2 + people.genders[part[1] or register]])
        elif part[0] == "noun":
            out.append(people.spanish[part[2]][people.genders[part[1]]])
        else:
            _write_spanish(drawn.lines[part[1]], people, part[3] or register, out)


def _finish(text: str) -> str:
    if "  " in text:
        text = _SPACES.sub(" ", text)
    text = text.strip().replace(" ,", ",").replace(" .", ".")
    return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), text)
