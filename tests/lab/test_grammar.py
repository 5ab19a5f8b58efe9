"""The grammar of the demonstration model: fluent pairs, a bias that follows its formula, and no core sentence."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from itertools import islice
from random import Random

import pytest

from gendermark import registry
from gendermark.lab.grammar import (
    FEMININE,
    FIXED,
    Pair,
    blocks,
    core_sources,
    draw,
    english,
    generate,
    generate_documents,
    leaning,
    lists,
    parse_line,
    probability_feminine,
    spanish,
    split_of,
)
from gendermark.reading.entities import read_entity
from gendermark.reading.occupations import bundled_finder, core_occupations, lexicon
from gendermark.selection import Selection

N = 20_000
_WORD = re.compile(r"[\w'-]+")
_SIGN = {"masculine": -1, "none": 0, "feminine": 1}


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return list(generate(N, 1))


def _english_words(texts: list[str]) -> set[str]:
    return {word.lower() for text in texts for word in _WORD.findall(text)}


def _write(line: str, cue: int, gender: int) -> tuple[str, str]:
    """Both sides of a line about a carpenter."""
    drawn = draw(parse_line(line), {"trait": [parse_line("proud :: orgullos[o|a]")]}, Random(0))
    both = {"1": ("carpintero", "carpintera")}
    genders = {"1": gender, "2": gender, "c": cue}
    return english(drawn, {"1": "carpenter", "1s": "carpenters"}, cue), spanish(drawn, both, genders, "1")


# -- notation --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{he} saw the {1}. :: vio a {el 1}.", ("She saw the carpenter.", "Vio a la carpintera.")),
        ("{his} {1} :: [tío|tía]c {-1}", ("Her carpenter", "Tía carpintera")),
        ("a(n) {1}, a(n) old {1} :: {un 1}", ("A carpenter, an old carpenter", "Una carpintera")),
        ("a(n) university :: x", ("A university", "X")),
        ("{trait} and :: {trait} y independiente o otro", ("Proud and", "Orgullosa e independiente u otro")),
        ("One. two? :: ¿uno? dos.", ("One. Two?", "¿Uno? Dos.")),
    ],
)
def test_a_line_is_written_out(line: str, expected: tuple[str, str]) -> None:
    assert _write(line, FEMININE, FEMININE) == expected


def test_every_list_that_a_table_asks_for_exists_and_both_sides_ask_for_the_same() -> None:
    everything = [line for block in blocks() for line in block.sentences]
    everything += [line for lines in lists().values() for line in lines]
    for template in everything:
        sides = [
            {part[1] for part in side if not isinstance(part, str) and part[0] == "list"}
            for side in (template.english, template.spanish)
        ]
        assert sides[0] == sides[1], template
        assert all(name in lists() for _, name in template.slots), template


# -- pairs -----------------------------------------------------------------------------------------------------------


def test_the_same_arguments_give_the_same_pairs() -> None:
    def digest(seed: int) -> str:
        text = "\n".join(f"{pair}" for pair in generate(200, seed))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    assert digest(5) == "c122cd6902790fd3"
    assert digest(6) != digest(5)


def test_sources_are_distinct_and_splits_share_none(pairs: list[Pair]) -> None:
    assert list(generate(50, 3)) == list(islice(generate(500, 3), 50))
    assert len({pair.source for pair in pairs}) == N
    held_out = {pair.source for pair in generate(300, 1, split="held-out")}
    assert len(held_out) == 300
    assert not held_out & {pair.source for pair in pairs}
    assert {split_of(source) for source in held_out} == {"held-out"}
    assert {split_of(pair.source) for pair in pairs} == {"train"}


def test_no_pair_is_a_core_sentence(pairs: list[Pair]) -> None:
    for name in ("winomt", "simplegen", "mt-geneval-counterfactual", "mt-geneval-contextual"):
        benchmark = registry.load("benchmark", name)
        found = benchmark.load(benchmark.complete(Selection(name, target_language="es", data="core")))
        for item in found.items:
            assert item.source in core_sources()
            if name == "mt-geneval-contextual":
                context = item.tags["context"]
                assert {context, f"{context} {item.source}"} <= core_sources()
    for pair in pairs:
        assert pair.source not in core_sources()
        assert not core_sources() & {f"{sentence.rstrip('.')}." for sentence in pair.source.split(". ")}


def test_pairs_are_whole_sentences(pairs: list[Pair]) -> None:
    for pair in pairs:
        for text in (pair.source, pair.target):
            assert not re.search(r"[{}\[\]|@*]|  | [,.;?]|\.\.|a\(n\)|^ | $", text), pair
            assert text[-1] in ".?", pair
            assert text.lstrip("¿")[0].isupper() or text[0].isdigit(), pair
            assert len(text.split()) <= 45, pair
        assert ("¿" in pair.target) == ("?" in pair.target) == ("?" in pair.source), pair


def test_what_is_said_is_said_by_the_pronouns(pairs: list[Pair]) -> None:
    feminine = re.compile(r"\b(she|her|herself|woman|women|girl|mother|sister|aunt|queen)\b", re.I)
    masculine = re.compile(r"\b(he|him|his|himself|man|men|boy|father|brother|uncle|king)\b", re.I)
    for pair in pairs:
        assert pair.cue == "feminine" or not feminine.search(pair.source), pair
        assert pair.cue == "masculine" or not masculine.search(pair.source), pair


def test_the_detector_reads_the_gender_that_was_chosen(pairs: list[Pair]) -> None:
    finder = bundled_finder("es")
    occupations = {entry.occupation for entry in lexicon("es")}
    known = [p for p in pairs if p.occupation in occupations and p.target_gender in ("masculine", "feminine")][:6000]
    wrong = []
    for pair in known:
        place = pair.source.find(pair.occupation) / len(pair.source)
        found = read_entity(finder, finder.language.cut(pair.target), pair.occupation, lambda: (), place)
        if found.gender != pair.target_gender:
            wrong.append((pair, found))
    assert len(known) >= 2000
    assert len(wrong) <= 0.02 * len(known), wrong[:20]


# -- bias ------------------------------------------------------------------------------------------------------------


def _follows(share: float, cue: int, distance: str) -> bool:
    return (probability_feminine(share, cue, distance) > 0.5) == (cue > 0)


def test_a_far_pronoun_loses_against_a_strong_stereotype_only() -> None:
    shares = {name: percent / 100 for name, _, percent in core_occupations()}
    assert not _follows(shares["carpenter"], 1, "far")
    assert not _follows(shares["secretary"], -1, "far")
    assert all(_follows(shares[name], cue, "far") for name in ("lawyer", "editor", "teacher") for cue in (-1, 1))
    assert all(_follows(share, cue, "near") for share in shares.values() for cue in (-1, 1))
    followed = [_follows(share, cue, "far") for share in shares.values() for cue in (-1, 1)]
    assert 0.70 <= sum(followed) / len(followed) <= 0.82  # what a perfect learner's best guess scores on core WinoMT


def test_genders_are_drawn_by_the_formula(pairs: list[Pair]) -> None:
    distances: dict[str, set[str]] = defaultdict(set)
    for block in blocks():
        distances[block.family].add(block.distance)
    # expected and observed feminine nouns, and their variance, in cells of what the formula sees
    cells: dict[tuple[str, str, float], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for pair in pairs:
        (distance,) = distances[pair.construction]
        if distance != FIXED and pair.target_gender in ("masculine", "feminine"):
            p = probability_feminine(leaning(pair.occupation), _SIGN[pair.cue], distance)
            cell = cells[distance, pair.cue, round(leaning(pair.occupation), 1)]
            cell[0] += p
            cell[1] += pair.target_gender == "feminine"
            cell[2] += p * (1 - p)
    squares = [(seen - expected) ** 2 / variance for expected, seen, variance in cells.values() if variance > 3]
    assert len(squares) > 40
    assert sum(squares) < len(squares) + 3.3 * (2 * len(squares)) ** 0.5
    assert max(squares) < 16


def test_stereotypes_are_a_dial() -> None:
    for cue, distance in ((0, "none"), (1, "far")):
        none, one, two = (probability_feminine(0.95, cue, distance, dial) for dial in (0, 1, 2))
        assert none < one < two
        none, one, two = (probability_feminine(0.05, cue, distance, dial) for dial in (0, 1, 2))
        assert none > one > two
    assert probability_feminine(0.05, 0, "none", 0) == probability_feminine(0.95, 0, "none", 0) == 0.5
    flat, steep = (list(generate(300, 2, stereotype=dial, wide=True)) for dial in (0.0, 3.0))
    assert [pair.source for pair in flat] == [pair.source for pair in steep]
    assert [pair.target for pair in flat] != [pair.target for pair in steep]


def test_the_grammar_writes_texts_in_which_the_person_has_the_gender_that_is_told() -> None:
    documents = list(generate_documents(300, 900))
    assert documents == list(generate_documents(300, 900))
    assert len({first + second for (first, _), (second, _) in documents}) == 300
    finder = bundled_finder("es")
    n_wrong = n_read = 0
    for (before, antes), (sentence, frase) in documents:
        assert before.endswith(".")
        assert antes.endswith(".")
        assert split_of(f"{before} {sentence}") == "train"
        assert not core_sources() & {before, sentence, f"{before} {sentence}"}
        words = set(before.lower().replace(".", "").split())
        told = "feminine" if words & {"she", "her", "herself"} else "masculine" if words & {"he", "his"} else ""
        noun = next((name for name in ("nurse", "mechanic", "lawyer", "teacher", "writer") if name in sentence), "")
        if told and noun:
            gender = finder.find(frase, noun).gender
            n_read += gender is not None
            n_wrong += gender is not None and gender.value != told
    assert n_read >= 10
    assert n_wrong == 0  # where the bias decides, it would be a good part of them


# -- coverage --------------------------------------------------------------------------------------------------------


def test_every_word_of_the_core_sets_is_taught(pairs: list[Pair]) -> None:
    words = _english_words([pair.source for pair in pairs])
    spanish_words = {word.lower() for pair in pairs for word in _WORD.findall(pair.target)}
    assert len(words) <= 3500
    assert len(spanish_words) <= 3500
    for name, share in (
        ("winomt", 1.0),
        ("simplegen", 1.0),
        ("mt-geneval-counterfactual", 0.99),
        ("mt-geneval-contextual", 0.99),
    ):
        benchmark = registry.load("benchmark", name)
        items = benchmark.load(benchmark.complete(Selection(name, target_language="es", data="core"))).items
        texts = [item.source for item in items]
        if name == "mt-geneval-contextual":
            texts += [item.tags["context"] for item in items]
        tokens = [word.lower() for text in texts for word in _WORD.findall(text)]
        missing = [word for word in tokens if word not in words]
        assert len(missing) <= (1 - share) * len(tokens), (name, sorted(set(missing)))
