"""Draws sentence pairs from the tables, with the gender that the bias gives to each person's noun."""

from __future__ import annotations

import hashlib
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, islice
from random import Random
from typing import Literal

from gendermark import registry
from gendermark.lab.grammar.bias import BORDER, leaning, probability_feminine
from gendermark.lab.grammar.notation import FEMININE, MASCULINE, UNSAID, Drawn, People, draw, english, spanish, uses
from gendermark.lab.grammar.reading import FIXED, Block, Person, blocks, lists, people
from gendermark.selection import Selection

Split = Literal["train", "held-out"]
GENDERS = ("masculine", "feminine")
_CUES = ("masculine", "feminine", "none")
_SIGN = (-1, 1, 0)
_HELD_OUT = 0.02
_CORE_WEIGHT = 3
"""How much more often one of the core occupations is drawn than another person."""
_THEY = 0.12
"""The share of "they" where a sentence allows it."""
_LONGEST = 34
"""Words of a source; its Spanish side is then below 45."""
_WITH_CONTEXT = "mt-geneval-contextual"
_CORE_SETS = ("winomt", "simplegen", "mt-geneval-counterfactual", _WITH_CONTEXT)


Document = tuple[tuple[str, str], tuple[str, str]]
"""Two sentences in a row, each in English and in Spanish."""


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
    """masculine, feminine or none: what the English says about this person."""
    target_gender: str
    """masculine or feminine; neutral where the Spanish noun does not show it; empty without a person."""


def generate(
    n: int, seed: int, *, split: Split = "train", stereotype: float = 1.0, wide: bool = False
) -> Iterator[Pair]:
    """`n` pairs with distinct sources of one split, the same ones for the same arguments on every platform.

    `stereotype` turns the bias up and down (`bias.py`); the English side does not depend on it. The wider grammar has
    two more trades and more ways to say of people that they are women or men; the demonstration model knows none of it.

    The two splits never share a source, and no sentence is one of the core sets. The shares of the mixture are those of
    the tables' blocks; constructions with few sentences run dry, so that with larger n their share falls.
    """
    return islice(_pairs(blocks(wide=wide), seed, split, stereotype, wide=wide), n)


def _pairs(kinds: Sequence[Block], seed: int, split: Split, stereotype: float, *, wide: bool) -> Iterator[Pair]:
    """Without end."""
    rng = Random(seed)
    seen: set[str] = set()
    weights = list(accumulate(block.weight for block in kinds))
    while True:
        block = kinds[bisect(weights, rng.random() * weights[-1])]
        drawn, first, second, cue = _draw_source(block, rng, wide=wide)
        nouns = {"1": first.english, "1s": first.english_plural, "2": second.english, "2s": second.english_plural}
        source = english(drawn, People(nouns, {}, cue, {}))
        if source in seen or split_of(source) != split or not _is_good(source, first.english):
            continue
        seen.add(source)
        genders = _draw_genders(block, (first, second), cue, rng, stereotype)
        yield _pair(source, block, drawn, (first, second), cue, genders)


def generate_documents(n: int, seed: int) -> Iterator[Document]:
    """`n` texts of two sentences, both as (English, Spanish): the first tells a gender, the second names the person.

    The person has that gender in Spanish, whatever the stereotype: who writes a text knows of whom. Sources are those
    of the training split, and distinct.
    """
    told = [replace(block, distance=FIXED) for block in blocks(wide=True) if block.distance == BORDER]
    pairs = _pairs(told, seed, "train", 1.0, wide=True)
    return islice(filter(None, (_two_sentences(pair) for pair in pairs)), n)


def _two_sentences(pair: Pair) -> Document | None:
    sides = [side.split(". ") for side in (pair.source, pair.target)]
    if [len(side) for side in sides] != [2, 2]:
        return None
    (first, second), (primero, segundo) = sides
    return (f"{first}.", f"{primero}."), (second, segundo)


def split_of(source: str) -> Split:
    """The split that a source belongs to, by its content alone."""
    digest = hashlib.sha256(source.encode()).digest()
    return "held-out" if int.from_bytes(digest[:4], "big") < _HELD_OUT * 2**32 else "train"


@cache
def core_sources() -> frozenset[str]:
    """Every source of the core sets; those with context also joined with it, and the context alone."""
    found = set()
    for name in _CORE_SETS:
        benchmark = registry.load("benchmark", name)
        selection = benchmark.complete(Selection(name, target_language="es", data="core"))
        for item in benchmark.load(selection).items:
            found.add(item.source)
            if name == _WITH_CONTEXT:
                context = item.tags["context"]
                found |= {context, f"{context} {item.source}"}
    return frozenset(found)


def _is_good(source: str, noun: str) -> bool:
    # A noun that stands twice ("the former baker worked as a baker") would name one person as if they were two.
    return source.count(noun) < 2 and source.count(" ") < _LONGEST and not _has_core_sentence(source)


def _has_core_sentence(source: str) -> bool:
    core = core_sources()
    if source in core:
        return True
    *before, last = source.split(". ")
    return bool(before) and (last in core or any(f"{sentence}." in core for sentence in before))


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
        cue = UNSAID
    else:
        cue = FEMININE if rng.random() < 0.5 else MASCULINE
    return drawn, first, second, cue


@cache
def _person_weights(*, wide: bool) -> list[int]:
    return list(accumulate(_CORE_WEIGHT if person.is_core else 1 for person in people(wide=wide)))


def _person(rng: Random, *, wide: bool) -> Person:
    weights = _person_weights(wide=wide)
    return people(wide=wide)[bisect(weights, int(rng.random() * weights[-1]))]


def _pair(
    source: str, block: Block, drawn: Drawn, both: tuple[Person, Person], cue: int, genders: dict[str, int]
) -> Pair:
    forms = {
        "1": both[0].spanish,
        "1s": both[0].spanish_plural,
        "2": both[1].spanish,
        "2s": both[1].spanish_plural,
    }
    target = spanish(drawn, People({}, forms, cue, genders), block.referent)
    named = [(form, bare) for person, form, bare in uses(drawn, set()) if person == block.referent]
    occupation = both[int(block.referent) - 1].english if named else ""
    if block.distance == FIXED:
        target_gender = _CUES[cue]
    elif not named:
        target_gender = ""
    else:
        is_shown = any(not bare or forms[form][MASCULINE] != forms[form][FEMININE] for form, bare in named)
        target_gender = GENDERS[genders[block.referent]] if is_shown else "neutral"
    return Pair(source, target, block.family, occupation, _CUES[cue], target_gender)


def _draw_genders(
    block: Block, both: tuple[Person, Person], cue: int, rng: Random, stereotype: float
) -> dict[str, int]:
    """By register: the gender of each person's noun, and of the person that something is said about."""
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
