"""A grammar of English-Spanish sentence pairs with a known gender bias, to train the demo model.

The bias to be learnt is one formula:

    P(the noun of a person is feminine in Spanish) = sigmoid(kappa * cue + beta * logit(w) + mu)

docs/demo-model.md explains it. `w` is the share of women in the occupation: the labour statistic in
`data/core/occupations.tsv` for the forty occupations of the core sets; for others a round figure for their class in
`data/core/mt_geneval/professions.tsv` (`CLASS_SHARE`), which is no statistic of the occupation; 0.5 for people in
neither file (neighbor, customer).

The sentences are in `grammar_tables/`, whose README describes the notation.
"""

from __future__ import annotations

import hashlib
import math
import re
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import accumulate, islice
from random import Random
from typing import Any, Literal

from gendermark import api
from gendermark.data.bundled import core_rows
from gendermark.io.textfiles import split_lines
from gendermark.reading.occupations import core_occupations

# -- the bias ----------------------------------------------------------------------------------------------------------

BETA = 1.0
MU = -0.4
CLIP = 3.2
BORDER = "border"
KAPPA = {
    "near": 5.0,  # of the noun itself: "my sister is a ...", "the ... is a patient woman"
    "clause": 2.0,  # a pronoun in the same clause: "the ... forgot her keys", "she is the best ..."
    "far": 1.4,  # a pronoun in another clause, or with two people in the sentence
    BORDER: 0.9,  # in the previous sentence
    "none": 0.0,
}
CLASS_SHARE = {"female": 0.80, "neutral": 0.50, "male": 0.20}
_UNKNOWN_SHARE = 0.5


@cache
def leaning(occupation: str) -> float:
    """The share of women in an occupation: by statistics, by its class, else one half."""
    return _shares().get(occupation.lower(), _UNKNOWN_SHARE)


def probability_feminine(share: float, cue: int, distance: str, stereotype: float = 1.0) -> float:
    """P(feminine noun) of an occupation with this share of women, for a cue (-1, 0, +1) at this distance.

    `stereotype` scales the default (occupation and masculine): 0 removes it, 1 is the formula above, 2 doubles it.
    """
    logit = max(-CLIP, min(CLIP, math.log(share / (1 - share))))
    return 1 / (1 + math.exp(-(KAPPA[distance] * cue + stereotype * (BETA * logit + MU))))


@cache
def _shares() -> dict[str, float]:
    rows = core_rows("mt_geneval/professions.tsv")
    shares = {row["profession"].lower(): CLASS_SHARE[row["class"]] for row in rows}
    shares.update({occupation.lower(): percent / 100 for occupation, _, percent in core_occupations()})
    return shares


# -- the notation ------------------------------------------------------------------------------------------------------

MASCULINE, FEMININE, UNSAID = 0, 1, 2

Part = str | tuple[str, ...]
"""Plain text, or (kind, ...): noun, choice, or words of a list."""
Lists = Mapping[str, "Sequence[Template]"]


def _forms(words: str) -> dict[str, tuple[str, ...]]:
    """The first form names the choice: `el/la`."""
    return {forms.partition("/")[0]: tuple(forms.split("/")) for forms in words.split()}


_PRONOUNS = _forms(
    "he/she/they him/her/them his/her/their himself/herself/themselves was/was/were is/is/are has/has/have"
)
_ARTICLES = _forms(
    "el/la un/una este/esta ese/esa nuestro/nuestra los/las unos/unas estos/estas esos/esas nuestros/nuestras"
)
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
    """(slot, list) for every choice."""
    needs_trade: bool
    """Whether person 1 lacks a plain definite article: one can be the neighbor, but not trained as one."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A template with a line for each of its slots."""

    template: Template
    lines: Mapping[str, Drawn]


def parse_line(line: str) -> Template:
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
    """Draw a line for every slot, recursively; two slots of one list never get the same line."""
    lines: dict[str, Drawn] = {}
    for slot, name in template.slots:
        options = lists[name]
        chosen = options[int(rng.random() * len(options))]
        while any(chosen is line.template and not chosen.slots for line in lines.values()):
            chosen = options[int(rng.random() * len(options))]
        lines[slot] = draw(chosen, lists, rng)
    return Drawn(template, lines)


def uses(drawn: Drawn, found: set[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    """The nouns on the Spanish side: (person, person and number, "bare" or "")."""
    for part in drawn.template.spanish:
        if not isinstance(part, str) and part[0] == "noun":
            found.add((part[1], part[2], part[3]))
    for line in drawn.lines.values():
        uses(line, found)
    return found


def english(drawn: Drawn, nouns: Mapping[str, str], cue: int) -> str:
    """The English sentence; `nouns` are `"1": carpenter, "1s": carpenters`, `cue` is the person's gender cue."""
    text = _written(drawn, "english", lambda part, _: part[2 + cue] if part[0] == "choice" else nouns[part[2]])
    if "a(n)" in text:
        text = _AN.sub("an ", text).replace("a(n) ", "a ")
    return _finish(text)


def spanish(drawn: Drawn, nouns: Mapping[str, tuple[str, str]], genders: Mapping[str, int], referent: str) -> str:
    """The Spanish sentence; a gendered choice without a noun agrees with `referent`.

    `nouns` are `"1": (carpintero, carpintera)`, `genders` those of the registers "1", "2" and "c".
    """

    def chosen(part: tuple[str, ...], register: str) -> str:
        return part[2 + genders[part[1] or register]] if part[0] == "choice" else nouns[part[2]][genders[part[1]]]

    text = _written(drawn, "spanish", chosen, referent)
    if " el " in text:
        text = text.replace(" a el ", " al ").replace(" de el ", " del ")
        if text.startswith("a el "):
            text = "al " + text[5:]
    text = _O.sub("u ", _Y.sub("e ", text))
    return _finish(text)


def _written(drawn: Drawn, side: str, chosen: Callable[[tuple[str, ...], str], str], register: str = "") -> str:
    """One side of a template; `chosen` gives the words of a choice or noun for a register."""
    out: list[str] = []
    for part in getattr(drawn.template, side):
        if isinstance(part, str):
            out.append(part)
        elif part[0] == "list":
            out.append(_written(drawn.lines[part[1]], side, chosen, part[3] or register))
        else:
            out.append(chosen(part, register))
    return "".join(out)


def _finish(text: str) -> str:
    if "  " in text:
        text = _SPACES.sub(" ", text)
    text = text.strip().replace(" ,", ",").replace(" .", ".")
    return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), text)


# -- the tables --------------------------------------------------------------------------------------------------------

FIXED = "fixed"
"""Distance of a block about nouns of fixed gender: mother, king, María."""
_NEITHER_WAY = 0.16
_TIMES = re.compile(r"(\d+)\* ")
_FORMS = re.compile(r"\[([^|\]]*)\|([^|\]]*)\]")
_BLOCK = re.compile(
    r"@@ (?P<family>[\w, -]+): (?P<distance>\w+)(?: (?P<referent>[12]))?(?P<they> they)? = (?P<weight>[\d.]+)"
)


@dataclass(frozen=True, slots=True)
class Person:
    """A person whose English noun does not show gender."""

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
    """Sentences of one construction: distance and target of the cue, and share of the mixture."""

    family: str
    distance: str
    referent: str
    has_they: bool
    weight: float
    sentences: Sequence[Template]


@cache
def people(*, wide: bool = False) -> tuple[Person, ...]:
    found = []
    for section, line in (*_sections("people.txt"), *(_sections("people_wider.txt") if wide else ())):
        left, right = (side.strip().split(", ") for side in line.split("::"))
        found.append(Person(left[0], left[1], _both(right[0]), _both(right[1]), section == "core", section != "others"))
    return tuple(found)


def _both(form: str) -> tuple[str, str]:
    return _FORMS.sub(r"\1", form), _FORMS.sub(r"\2", form)


@cache
def _weighted_people(*, wide: bool) -> list[Person]:
    """Core occupations are drawn more often."""
    return [person for person in people(wide=wide) for _ in range(_CORE_WEIGHT if person.is_core else 1)]


@cache
def lists() -> Mapping[str, Sequence[Template]]:
    """The lists of words.txt and clauses.txt by name, and `job` and `jobs`: trades as a second noun.

    That noun takes the gender of its person. So that it does not contradict the formula, only balanced trades are used.
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
    found = []
    tables = ("two_people.txt", "one_person.txt", "open.txt", "biography.txt", "context.txt", "everyday.txt")
    for name in (*tables, "wider.txt") if wide else tables:
        sentences: dict[str, list[Template]] = {}
        for header, line in _sections(name):
            sentences.setdefault(header, []).append(_parsed(line))
        for header, lines in sentences.items():
            match = _BLOCK.fullmatch(header)
            if match is None or match["distance"] not in {*KAPPA, FIXED}:
                raise ValueError(f"{header!r} does not begin a block")
            family, distance, referent, they, weight = match.groups()
            found.append(Block(family, distance, referent or "1", bool(they), float(weight), lines))
    return tuple(found)


def _sections(name: str) -> Iterator[tuple[str, str]]:
    """(header, line): `@name` begins a list, `@@ ...` a block, `#` a comment; a line with `3* ` counts three times."""
    path = files("gendermark.lab") / "grammar_tables" / name
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


# -- the pairs ---------------------------------------------------------------------------------------------------------

Split = Literal["train", "held-out"]
PAIRS_PER_ROUND = 50_000
MOST_ROUNDS = 1_000
_CUES = ("masculine", "feminine", "none")
_SIGN = (-1, 1, 0)
_HELD_OUT = 0.02
_CORE_WEIGHT = 3
_THEY = 0.12
"""Share of "they" where a sentence allows it."""
_LONGEST = 34
"""Words of a source; its Spanish side is then below 45."""
_WITH_CONTEXT = "mt-geneval-contextual"
_CORE_SETS = ("winomt", "simplegen", "mt-geneval-counterfactual", _WITH_CONTEXT)


Document = tuple[tuple[str, str], tuple[str, str]]
"""Two consecutive sentences, each in English and Spanish."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One English sentence with its Spanish translation."""

    source: str
    target: str
    construction: str
    """The family of its sentence table."""
    occupation: str
    """The English noun whose gender was chosen, or empty."""
    cue: str
    """masculine, feminine or none: the English gender cue."""
    target_gender: str
    """masculine or feminine; neutral if the Spanish noun does not show it; empty without a person."""


def generate(
    n: int, seed: int, *, split: Split = "train", stereotype: float = 1.0, wide: bool = False
) -> Iterator[Pair]:
    """`n` pairs with distinct sources of one split, deterministic on every platform.

    `stereotype` scales the bias; the English side does not depend on it. The wider grammar has two more trades and more
    gender cues; the demo model does not use it.

    The splits share no source, and no sentence is in the core sets. Mixture shares are those of the tables' blocks;
    constructions with few sentences run out, so their share falls with larger n.
    """
    return islice(_pairs(blocks(wide=wide), seed, split, stereotype, wide=wide), n)


def generate_rounds(n_pairs: int, seed: int, progress: Callable[[int, int], None], **grammar: Any) -> list[Pair]:
    """Pairs of the training split, in rounds with different seeds; `grammar` are options of `generate`.

    A round has no repeated sentences. Across rounds they repeat with newly drawn genders, which is how the model sees
    the probability of each gender.
    """
    pairs: list[Pair] = []
    for number, first in enumerate(range(0, n_pairs, PAIRS_PER_ROUND)):
        n = min(PAIRS_PER_ROUND, n_pairs - first)
        for pair in generate(n, MOST_ROUNDS * seed + number, **grammar):
            pairs.append(pair)
            if len(pairs) % 1000 == 0:
                progress(len(pairs), n_pairs)
    return pairs


def _pairs(kinds: Sequence[Block], seed: int, split: Split, stereotype: float, *, wide: bool) -> Iterator[Pair]:
    rng = Random(seed)
    seen: set[str] = set()
    weights = list(accumulate(block.weight for block in kinds))
    while True:
        block = kinds[bisect(weights, rng.random() * weights[-1])]
        drawn, first, second, cue = _draw_source(block, rng, wide=wide)
        nouns = {"1": first.english, "1s": first.english_plural, "2": second.english, "2s": second.english_plural}
        source = english(drawn, nouns, cue)
        if source in seen or split_of(source) != split or not _is_good(source, first.english):
            continue
        seen.add(source)
        genders = _draw_genders(block, (first, second), cue, rng, stereotype)
        yield _pair(source, block, drawn, (first, second), cue, genders)


def generate_documents(n: int, seed: int) -> Iterator[Document]:
    """`n` texts of two sentences, both as (English, Spanish): the first specifies a gender, the second names the
    person.

    The person has that gender in Spanish, whatever the stereotype. Sources are distinct and of the training split.
    """
    told = [replace(block, distance=FIXED) for block in blocks(wide=True) if block.distance == BORDER]
    pairs = _pairs(told, seed, "train", 1.0, wide=True)
    sides = ((pair.source.split(". "), pair.target.split(". ")) for pair in pairs)
    two = ((source, target) for source, target in sides if len(source) == len(target) == 2)
    return islice((((f"{s[0]}.", f"{t[0]}."), (s[1], t[1])) for s, t in two), n)


def split_of(source: str) -> Split:
    digest = hashlib.sha256(source.encode()).digest()
    return "held-out" if int.from_bytes(digest[:4], "big") < _HELD_OUT * 2**32 else "train"


def _is_good(source: str, noun: str) -> bool:
    # A repeated noun ("the former baker worked as a baker") would look like two people.
    if source.count(noun) > 1 or source.count(" ") >= _LONGEST:
        return False
    *before, last = source.split(". ")
    return core_sources().isdisjoint((source, last, *(f"{sentence}." for sentence in before)))


@cache
def core_sources() -> frozenset[str]:
    """Every source of the core sets; with context also joined with it, and the context alone."""
    found = set()
    for name in _CORE_SETS:
        for item in api.items(name, "es", data="core").items:
            found.add(item.source)
            if name == _WITH_CONTEXT:
                context = item.tags["context"]
                found |= {context, f"{context} {item.source}"}
    return frozenset(found)


def _draw_source(block: Block, rng: Random, *, wide: bool) -> tuple[Drawn, Person, Person, int]:
    template = block.sentences[int(rng.random() * len(block.sentences))]
    drawn = draw(template, lists(), rng)
    first = _person(rng, wide=wide)
    while template.needs_trade and not first.is_trade:
        first = _person(rng, wide=wide)
    second = _person(rng, wide=wide)
    while second is first:
        second = _person(rng, wide=wide)
    if block.distance == "none" or (block.has_they and rng.random() < _THEY):
        return drawn, first, second, UNSAID
    return drawn, first, second, FEMININE if rng.random() < 0.5 else MASCULINE


def _person(rng: Random, *, wide: bool) -> Person:
    every = _weighted_people(wide=wide)
    return every[int(rng.random() * len(every))]


def _pair(
    source: str, block: Block, drawn: Drawn, both: tuple[Person, Person], cue: int, genders: dict[str, int]
) -> Pair:
    forms = {"1": both[0].spanish, "1s": both[0].spanish_plural, "2": both[1].spanish, "2s": both[1].spanish_plural}
    target = spanish(drawn, forms, genders, block.referent)
    named = [(form, bare) for person, form, bare in uses(drawn, set()) if person == block.referent]
    occupation = both[int(block.referent) - 1].english if named else ""
    is_shown = any(not bare or forms[form][MASCULINE] != forms[form][FEMININE] for form, bare in named)
    if block.distance == FIXED:
        target_gender = _CUES[cue]
    elif is_shown:
        target_gender = _CUES[genders[block.referent]]
    else:
        target_gender = "neutral" if named else ""
    return Pair(source, target, block.family, occupation, _CUES[cue], target_gender)


def _draw_genders(
    block: Block, both: tuple[Person, Person], cue: int, rng: Random, stereotype: float
) -> dict[str, int]:
    """By register: the gender of each person's noun, and of the person referred to."""
    genders = {}
    for register, person in zip("12", both, strict=True):
        if register != block.referent:
            p_feminine = probability_feminine(leaning(person.english), 0, "none", stereotype)
        elif block.distance == FIXED:
            p_feminine = float(cue == FEMININE)
        else:
            p_feminine = probability_feminine(leaning(person.english), _SIGN[cue], block.distance, stereotype)
        genders[register] = FEMININE if rng.random() < p_feminine else MASCULINE
    genders["c"] = cue if cue != UNSAID else genders[block.referent]
    return genders
