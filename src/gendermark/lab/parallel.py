"""Parallel text to train on: files of the user's, Tatoeba, and our grammar, with held-out sets that no part leaks into.

What is held out is chosen by source sentence, capitals and punctuation apart, and by its content alone: all
translations of a sentence are on one side, whatever file they come from and in whatever order.
"""

from __future__ import annotations

import hashlib
import random
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from gendermark.data import card_names, load_card, official_files
from gendermark.data.official import Say
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.io.textfiles import read_lines, write_lines
from gendermark.lab.demo_recipe import generate_pairs
from gendermark.lab.grammar import generate
from gendermark.runs.translate import Progress
from gendermark.systems.tokenisers import Direction

GRAMMAR = "grammar"
GRAMMAR_DIRECTION = ("en", "es")
_NOT_WORDS = re.compile(r"[\W_]+")
_LARGEST_HELD_OUT_SHARE = 20
"""Of a small text no more than one sentence in so many is tested on."""


class Line(NamedTuple):
    """A sentence and its translation."""

    source: str
    target: str


@dataclass(frozen=True)
class Part:
    """One of the texts of a training."""

    name: str
    train: Sequence[Line]
    valid: Sequence[Line] = ()
    """Tells when to stop."""
    test: Sequence[Line] = ()

    @property
    def held_out(self) -> set[str]:
        return {key(line.source) for line in (*self.valid, *self.test)}


def key(source: str) -> str:
    """What two sources have in common that count as one: their letters and digits, in order."""
    return _NOT_WORDS.sub(" ", source.casefold()).strip()


def tatoeba_cards() -> dict[str, tuple[str, str]]:
    """The cards of sentence pairs of Tatoeba, and the two languages of each."""
    return {name: (name.split("-")[1], name.split("-")[2]) for name in card_names() if name.startswith("tatoeba-")}


def tatoeba_lines(name: str, say: Say) -> list[str]:
    """The lines of a card, out of the one text in its zip file: English, tab, the other language."""
    (path,) = official_files(name, load_card(name).revisions[0].revision_id, say=say).paths.values()
    with zipfile.ZipFile(path) as archive:
        (text,) = [one for one in archive.namelist() if one.endswith(".txt") and not Path(one).name.startswith("_")]
        content = archive.read(text).decode("utf-8-sig")
    return [line.removesuffix("\r") for line in content.split("\n") if line.strip()]


def read_parts(texts: Sequence[str], direction: Direction, say: Say) -> list[Part]:
    """The parts of several texts; those of one name are told apart by a number."""
    parts: list[Part] = []
    for text in texts:
        part = read_part(text, direction, say)
        n_before = sum(other.name.partition("~")[0] == part.name for other in parts)
        parts.append(replace(part, name=f"{part.name}~{n_before + 1}") if n_before else part)
    return parts


def read_part(text: str, direction: Direction, say: Say) -> Part:
    """All lines of `NAME_OF_CARD`, `SOURCE_FILE,TARGET_FILE` or `FILE.tsv`, each pair once."""
    cards = tatoeba_cards()
    if text in cards:
        if set(cards[text]) != set(direction):
            raise UserError(
                f"{text} has {' and '.join(cards[text])}, but {'-'.join(direction)} is to be trained; "
                f"available: {', '.join(cards)}, or files of your own"
            )
        name, lines = text, columns(text, tatoeba_lines(text, say))
        if cards[text] != direction:
            lines = [Line(line.target, line.source) for line in lines]
    elif not Path(text).exists() and "," in text:
        name, lines = two_files(*text.split(",", 1))
    elif not Path(text).exists() and "." not in text and "/" not in text:
        raise UnknownName("data set or file of pairs", text, cards)
    else:
        name, lines = Path(text).stem, columns(text, read_lines(text))
    found = list(dict.fromkeys(line for line in map(tidy, lines) if key(line.source) and line.target))
    if not found:
        raise BadFile(text, "has no sentence with a translation")
    return Part(name, found)


def columns(path: str, lines: Sequence[str], *, keep_empty: bool = False) -> list[Line]:
    """Source and translation of every line; an empty one is passed over, or kept as a pair of nothing."""
    found = []
    for number, line in enumerate(lines, start=1):
        cells = line.split("\t")
        if line.strip() and len(cells) < 2:
            raise BadFile(
                path,
                "has no tab; a line is source, tab, translation (two files of lines are SOURCE_FILE,TARGET_FILE)",
                line=number,
            )
        if line.strip():
            found.append(Line(cells[0], cells[1]))
        elif keep_empty:
            found.append(Line("", ""))
    return found


def two_files(sources_file: str, targets_file: str) -> tuple[str, list[Line]]:
    sources, targets = read_lines(sources_file), read_lines(targets_file)
    if len(sources) != len(targets):
        raise UserError(
            f"{sources_file} has {len(sources):,} lines and {targets_file} {len(targets):,}; "
            "each line needs its translation in the same place"
        )
    return Path(sources_file).stem, [Line(*pair) for pair in zip(sources, targets, strict=True)]


def tidy(line: Line) -> Line:
    """With single spaces."""
    return Line(" ".join(line.source.split()), " ".join(line.target.split()))


def split(part: Part, n_test: int) -> Part:
    """Hold out so many sources to test, and half as many to tell when to stop; of each the first translation."""
    first: dict[str, Line] = {}
    for line in part.train:
        first.setdefault(key(line.source), line)
    order = sorted(first, key=lambda one: hashlib.sha256(one.encode()).digest())
    n_test = min(n_test, len(order) // _LARGEST_HELD_OUT_SHARE)
    n_valid = (n_test + 1) // 2
    test, valid = order[:n_test], order[n_test : n_test + n_valid]
    away = {*test, *valid}
    return replace(
        part,
        train=[line for line in part.train if key(line.source) not in away],
        valid=[first[one] for one in valid],
        test=[first[one] for one in test],
    )


@dataclass(frozen=True)
class GrammarMix:
    """How much of our own grammar is mixed in, and how stereotyped it is."""

    share: float
    """Of all pairs, above 0 and below 1."""
    stereotype: float = 1.0
    seed: int = 0


def parse_mix(text: str | None, stereotype: float) -> GrammarMix | None:
    """`grammar=0.2`."""
    if text is None:
        return None
    name, _, share = text.partition("=")
    if name.strip() != GRAMMAR:
        raise UnknownName("text to mix in", name.strip(), [GRAMMAR])
    try:
        found = float(share)
    except ValueError:
        found = float("nan")
    if not 0 < found < 1:
        raise UserError(f"--mix takes a share above 0 and below 1, {GRAMMAR}=0.2 for example, not {share or text}")
    return GrammarMix(found, stereotype)


def grammar_part(mix: GrammarMix, n_others: int, n_test: int, direction: Direction, progress: Progress) -> Part:
    """Pairs of the grammar, as many as make up its share beside so many others."""
    check_grammar_direction(direction, "--mix")
    n = round(n_others * mix.share / (1 - mix.share))
    kind: dict[str, Any] = {"stereotype": mix.stereotype, "wide": True}
    train = [Line(pair.source, pair.target) for pair in generate_pairs(n, mix.seed, progress, **kind)]
    n_valid = (n_test + 1) // 2
    drawn = generate(n_test + n_valid, mix.seed, split="held-out", **kind)
    held_out = [Line(pair.source, pair.target) for pair in drawn]
    return Part(GRAMMAR, train, held_out[n_test:], held_out[:n_test])


def check_grammar_direction(direction: Direction, option: str) -> None:
    if direction != GRAMMAR_DIRECTION:
        raise UserError(
            f"the grammar writes {'-'.join(GRAMMAR_DIRECTION)} only, not {'-'.join(direction)}; leave out {option}"
        )


def without_leaks(parts: Sequence[Part]) -> list[Part]:
    """The parts without the training pairs whose source another part holds out."""
    held_out = set().union(*(part.held_out for part in parts))
    return [replace(part, train=_away(part.train, held_out)) for part in parts]


def without_test_set(parts: Sequence[Part], path: str, *, drop: bool) -> list[Part]:
    """The parts without the pairs of a test set of the user's; refused unless these are to be dropped."""
    held_out = test_keys(path)
    n_inside = sum(key(line.source) in held_out for part in parts for line in part.train)
    if n_inside and not drop:
        raise UserError(
            f"{n_inside:,} training pairs have a source of the test set {path}, so that it would measure what was "
            "learnt by heart; --drop-test-pairs trains without them"
        )
    return [replace(part, train=_away(part.train, held_out)) for part in parts]


def test_keys(path: str) -> set[str]:
    """Of each line of a test set, the key of what stands before the first tab."""
    return {key(line.split("\t")[0]) for line in read_lines(path)} - {""}


def mixed(parts: Sequence[Part], seed: int) -> list[Line]:
    """All training pairs in one random order, so that any stretch of them is a sample."""
    lines = [line for part in parts for line in part.train]
    random.Random(f"mixed/{seed}").shuffle(lines)
    return lines


def write_held_out(parts: Sequence[Part], direction: Direction, directory: Path) -> list[str]:
    """Plain files, `test.NAME.en` and `test.NAME.es`; gives the names of the tests."""
    for part in parts:
        for kind, lines in (("valid", part.valid), ("test", part.test)):
            for language, texts in zip(direction, zip(*lines, strict=True), strict=True) if lines else ():
                write_lines(directory / f"{kind}.{part.name}.{language}", texts)
    return [f"test.{part.name}" for part in parts if part.test]


def fingerprint(lines: Iterable[Line], *others: bytes) -> str:
    """Changes with any sentence and its place."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(f"{line.source}\t{line.target}\n".encode())
    for other in others:
        digest.update(hashlib.sha256(other).digest())
    return digest.hexdigest()[:16]


def _away(lines: Sequence[Line], keys: set[str]) -> list[Line]:
    return [line for line in lines if key(line.source) not in keys]
