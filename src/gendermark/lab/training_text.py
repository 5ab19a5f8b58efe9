"""Training text: the user's pairs, Tatoeba and our grammar; documents; self-training.

Held-out sentences are chosen by source content alone, ignoring case and punctuation: all translations of a sentence are
on one side, whatever their file and order, and no part contains a sentence that another part holds out.
"""

from __future__ import annotations

import hashlib
import random
import re
import zipfile
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from gendermark import registry
from gendermark.data import card_names, load_card, official_files
from gendermark.data.official import Say
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.io.textfiles import read_lines, write_lines
from gendermark.lab.grammar import generate, generate_documents, generate_rounds
from gendermark.reading import context as contexts
from gendermark.reading.people import SourcePerson, of_certain_gender, people_in_all
from gendermark.reading.target import keeps_gender
from gendermark.records import Gender, Translation
from gendermark.runs.translate import Progress
from gendermark.systems.tokenisers import Direction

GRAMMAR = "grammar"
GRAMMAR_DIRECTION = ("en", "es")
SELF_TRAINING = "self-training"
CONTEXT = "separator:<sep>"
_DOCUMENT_SEED, _MONOLINGUAL_SEED = 900, 901
"""Seeds of the grammar's documents and single sentences, distinct from those of its pairs."""
_NOT_WORDS = re.compile(r"[\W_]+")
_LARGEST_HELD_OUT_SHARE = 20
"""At most one in this many sentences of a small text is held out."""

Ask = Callable[[Sequence[str]], Sequence[Sequence[Translation]]]
"""A system's translations of sources: its best one, or samples."""


class Line(NamedTuple):
    source: str
    target: str


@dataclass(frozen=True)
class Part:
    name: str
    train: Sequence[Line]
    valid: Sequence[Line] = ()
    """For early stopping."""
    test: Sequence[Line] = ()

    @property
    def held_out(self) -> set[str]:
        return {key(line.source) for line in (*self.valid, *self.test)}


def key(source: str) -> str:
    """Letters and digits of a source: equal keys count as one source."""
    return _NOT_WORDS.sub(" ", source.casefold()).strip()


# -- reading -----------------------------------------------------------------------------------------------------------


def read_parts(texts: Sequence[str], direction: Direction, say: Say) -> list[Part]:
    parts: list[Part] = []
    for text in texts:
        part = read_part(text, direction, say)
        n_before = sum(other.name.partition("~")[0] == part.name for other in parts)
        parts.append(replace(part, name=f"{part.name}~{n_before + 1}") if n_before else part)
    return parts


def tatoeba_cards() -> dict[str, tuple[str, str]]:
    return {name: (name.split("-")[1], name.split("-")[2]) for name in card_names() if name.startswith("tatoeba-")}


def tatoeba_lines(name: str, say: Say) -> list[str]:
    (path,) = official_files(name, load_card(name).revisions[0].revision_id, say=say).paths.values()
    with zipfile.ZipFile(path) as archive:
        (text,) = [one for one in archive.namelist() if one.endswith(".txt") and not Path(one).name.startswith("_")]
        content = archive.read(text).decode("utf-8-sig")
    return [line.removesuffix("\r") for line in content.split("\n") if line.strip()]


def read_part(text: str, direction: Direction, say: Say) -> Part:
    """All distinct pairs of `NAME_OF_CARD`, `SOURCE_FILE,TARGET_FILE` or `FILE.tsv`."""
    cards = tatoeba_cards()
    if text in cards:
        if set(cards[text]) != set(direction):
            raise UserError(
                f"{text} has {' and '.join(cards[text])}, but {'-'.join(direction)} is to be trained; "
                f"available: {', '.join(cards)}, or files of your own"
            )
        name, lines = text, _columns(text, tatoeba_lines(text, say))
        if cards[text] != direction:
            lines = [Line(line.target, line.source) for line in lines]
    else:
        name, lines = _read_file(text, "data set or file of pairs", cards)
    found = list(dict.fromkeys(line for line in map(tidy, lines) if key(line.source) and line.target))
    if not found:
        raise BadFile(text, "has no sentence with a translation")
    return Part(name, found)


def _read_file(text: str, what: str, known: Iterable[str]) -> tuple[str, list[Line]]:
    """Name and lines of `SOURCE_FILE,TARGET_FILE` or `FILE.tsv`; an empty line is an empty pair."""
    if not Path(text).exists() and "," in text:
        files = text.split(",", 1)
        sources, targets = map(read_lines, files)
        if len(sources) != len(targets):
            raise UserError(
                f"{files[0]} has {len(sources):,} lines and {files[1]} {len(targets):,}; each line needs its "
                "translation in the same place"
            )
        return Path(files[0]).stem, [Line(*pair) for pair in zip(sources, targets, strict=True)]
    _refuse_unknown(text, what, known)
    return Path(text).stem, _columns(text, read_lines(text))


def _refuse_unknown(text: str, what: str, known: Iterable[str]) -> None:
    """A word that is neither a file nor looks like a file name is a misspelt data set."""
    if not Path(text).exists() and "." not in text and "/" not in text:
        raise UnknownName(what, text, list(known))


def _columns(path: str, lines: Sequence[str]) -> list[Line]:
    found = []
    for number, line in enumerate(lines, start=1):
        cells = line.split("\t")
        if line.strip() and len(cells) < 2:
            raise BadFile(
                path,
                "has no tab; a line is source, tab, translation (two files of lines are SOURCE_FILE,TARGET_FILE)",
                line=number,
            )
        found.append(Line(cells[0], cells[1]) if line.strip() else Line("", ""))
    return found


def tidy(line: Line) -> Line:
    return Line(" ".join(line.source.split()), " ".join(line.target.split()))


# -- held-out sets -----------------------------------------------------------------------------------------------------


def _digest(text: str) -> bytes:
    """An order by chance that depends on nothing but the text."""
    return hashlib.sha256(text.encode()).digest()


def split(part: Part, n_test: int) -> Part:
    """Hold out this many sources for testing, and half as many for early stopping; each with its first translation."""
    first: dict[str, Line] = {}
    for line in part.train:
        first.setdefault(key(line.source), line)
    order = sorted(first, key=_digest)
    n_test = min(n_test, len(order) // _LARGEST_HELD_OUT_SHARE)
    n_valid = (n_test + 1) // 2
    test, valid = order[:n_test], order[n_test : n_test + n_valid]
    (kept,) = without([part], {*test, *valid})
    return replace(kept, valid=[first[one] for one in valid], test=[first[one] for one in test])


def without(parts: Sequence[Part], keys: Set[str]) -> list[Part]:
    """The parts without training pairs whose source has one of the keys."""
    return [replace(part, train=[line for line in part.train if key(line.source) not in keys]) for part in parts]


def read_test_keys(path: str, parts: Sequence[Part], *, drop: bool) -> set[str]:
    """The keys of the user's test set, none of which is in the parts, unless such pairs are to be dropped."""
    held_out = {key(line.split("\t")[0]) for line in read_lines(path)} - {""}
    n_inside = sum(key(line.source) in held_out for part in parts for line in part.train)
    if n_inside and not drop:
        raise UserError(
            f"{n_inside:,} training pairs have a source of the test set {path}, which would then measure memorisation; "
            "--drop-test-pairs removes them"
        )
    return held_out


def mixed(parts: Sequence[Part], seed: int) -> list[Line]:
    """All training pairs in one random order, so that any stretch is a sample."""
    lines = [line for part in parts for line in part.train]
    random.Random(f"mixed/{seed}").shuffle(lines)
    return lines


def write_held_out(parts: Sequence[Part], direction: Direction, directory: Path) -> None:
    for part in parts:
        for kind, lines in (("valid", part.valid), ("test", part.test)):
            for language, texts in zip(direction, zip(*lines, strict=True), strict=True) if lines else ():
                write_lines(directory / f"{kind}.{part.name}.{language}", texts)


def fingerprint(lines: Iterable[Line], *others: bytes) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(f"{line.source}\t{line.target}\n".encode())
    for other in others:
        digest.update(hashlib.sha256(other).digest())
    return digest.hexdigest()[:16]


# -- our own grammar ---------------------------------------------------------------------------------------------------


def parse_share(text: str) -> float:
    name, _, share = text.partition("=")
    if name.strip() != GRAMMAR:
        raise UnknownName("text to mix in", name.strip(), [GRAMMAR])
    try:
        found = float(share)
    except ValueError:
        found = float("nan")
    if not 0 < found < 1:
        raise UserError(f"--mix takes a share above 0 and below 1, {GRAMMAR}=0.2 for example, not {share or text}")
    return found


def grammar_part(
    share: float, stereotype: float, n_others: int, n_test: int, direction: Direction, progress: Progress
) -> Part:
    """Grammar pairs that make up this share together with the other pairs."""
    _check_grammar_direction(direction, "--mix")
    n = round(n_others * share / (1 - share))
    kind: dict[str, Any] = {"stereotype": stereotype, "wide": True}
    train = [Line(pair.source, pair.target) for pair in generate_rounds(n, 0, progress, **kind)]
    drawn = generate(n_test + (n_test + 1) // 2, 0, split="held-out", **kind)
    held_out = [Line(pair.source, pair.target) for pair in drawn]
    return Part(GRAMMAR, train, held_out[n_test:], held_out[:n_test])


def _check_grammar_direction(direction: Direction, option: str) -> None:
    if direction != GRAMMAR_DIRECTION:
        raise UserError(
            f"the grammar writes {'-'.join(GRAMMAR_DIRECTION)} only, not {'-'.join(direction)}; leave out {option}"
        )


def _grammar_count(text: str, option: str) -> int | None:
    name, equals, number = text.partition("=")
    if not equals or name.strip() != GRAMMAR:
        return None
    if not number.strip().isdecimal() or int(number) < 1:
        raise UserError(f"{option} takes a number after {GRAMMAR}=, {GRAMMAR}=20000 for example, not {number!r}")
    return int(number)


# -- documents ---------------------------------------------------------------------------------------------------------
#
# Text in its order, to learn from two sentences at a time: the one before and the present one, on both sides. That is
# the 2+2 form of Tiedemann and Scherrer (2017), in which MT-GenEval's contextual models were trained. A document is a
# stretch of lines; an empty line ends it. How the two sentences are joined is written as for the benchmark
# (`reading/context.py`), so that a model is asked as it was taught.


@dataclass(frozen=True)
class Documents:
    name: str
    documents: Sequence[Sequence[Line]]

    @property
    def sentences(self) -> Part:
        return Part(self.name, [line for document in self.documents for line in document])

    def joined(self, allowed: set[Line], strategy: str) -> Part:
        """Every sentence with the previous one, except pairs with a sentence that is not allowed."""
        pairs = [
            Line(*(contexts.show(one, other, strategy) for one, other in zip(before, line, strict=True)))
            for document in self.documents
            for before, line in pairwise(document)
            if before in allowed and line in allowed
        ]
        return Part(f"{self.name}+context", list(dict.fromkeys(pairs)))


def check_context(strategy: str) -> None:
    if strategy.partition(":")[0] not in ("joined", "separator"):
        raise UserError(
            f"--context {strategy!r} joins no two sentences; write joined, or separator:TEXT, for example {CONTEXT}"
        )
    contexts.show("A.", "B.", strategy)  # refuses a separator without text


def read_documents(text: str, direction: Direction) -> Documents:
    """`FILE.tsv`, `SOURCE_FILE,TARGET_FILE`, or `grammar=N`: N documents of two sentences by our grammar."""
    if (n := _grammar_count(text, "--documents")) is not None:
        _check_grammar_direction(direction, "--documents grammar=N")
        pairs = generate_documents(n, _DOCUMENT_SEED)
        return Documents(GRAMMAR, [[Line(*pair) for pair in document] for document in pairs])
    name, lines = _read_file(text, "text in its order", [f"{GRAMMAR}=20000", "a file"])
    documents = [list(group) for is_whole, group in groupby(map(tidy, lines), all) if is_whole]
    found = [document for document in documents if len(document) > 1]
    if not found:
        raise BadFile(text, "has no two sentences in a row; an empty line ends a document")
    return Documents(name, found)


# -- self-training -----------------------------------------------------------------------------------------------------
#
# Gender-filtered self-training (GFST; Choubey, Currey, Mathur and Dinu 2021). A system translates sentences that nobody
# has translated. Those that tell somebody's gender are kept if the translation gives it to them, by our lexicons; of
# women and of men there are as many. What is left is learnt beside the other text.


def check_self_training(direction: Direction) -> None:
    """Refuse directions that cannot be filtered, before any work."""
    languages = registry.names("language")
    if direction[0] != "en" or direction[1] not in languages:
        raise UserError(
            "--self-train keeps translations with the right gender, which can be read from en into "
            f"{', '.join(languages)}, not {'-'.join(direction)}"
        )


def self_training_part(
    system: str, ask: Ask, texts: Sequence[str], direction: Direction, away: set[str], say: Say
) -> tuple[Part, dict[str, Any]]:
    """The accepted pairs of texts translated by `system`, and counts by kind.

    `texts` are `grammar=N`, data sets whose source side is used, or files of lines. Sources in `away` are skipped.
    """
    sentences = read_monolingual(texts, direction[0], say)
    gendered: dict[str, tuple[Gender, list[SourcePerson]]] = {}
    free = [text for text in sentences if key(text) not in away]
    for text, found in zip(free, people_in_all(free), strict=True):
        people = of_certain_gender(found)
        genders = {person.gender for person in people if person.gender and person.nouns}
        if len(genders) == 1 and (gender := genders.pop()) in (Gender.MASCULINE, Gender.FEMININE):
            gendered[text] = (gender, people)  # with both women and men, neither side would be balanced
    kept: dict[Gender, list[Line]] = {Gender.FEMININE: [], Gender.MASCULINE: []}
    for (source, (gender, people)), answers in zip(gendered.items(), ask(list(gendered)), strict=True):
        line = tidy(Line(source, answers[0].text or ""))
        if line.target and keeps_gender(source, people, line.target, direction[1]):
            kept[gender].append(line)
    n = min(map(len, kept.values()))
    if not n:
        raise UserError(
            f"{', '.join(texts)} has too little to learn from: {len(gendered):,} of {len(sentences):,} sentences "
            f"state a person's gender, and {system} keeps it in {len(kept[Gender.FEMININE]):,} of women and "
            f"{len(kept[Gender.MASCULINE]):,} of men; give more text with --monolingual"
        )

    counts = {
        "system": system,
        "n_sentences": len(sentences),
        **{f"n_told_{gender.value}": sum(one is gender for one, _ in gendered.values()) for gender in kept},
        **{f"n_right_{gender.value}": len(found) for gender, found in kept.items()},
        "n_kept_of_each": n,
    }
    lines = [line for found in kept.values() for line in sorted(found, key=lambda line: _digest(line.source))[:n]]
    return Part(SELF_TRAINING, lines), counts


def read_monolingual(texts: Sequence[str], language: str, say: Say) -> list[str]:
    found: dict[str, str] = {}
    for text in texts:
        for sentence in _sentences(text, language, say):
            found.setdefault(key(sentence), " ".join(sentence.split()))
    found.pop("", None)  # without letters
    return list(found.values())


def _sentences(text: str, language: str, say: Say) -> Sequence[str]:
    cards = tatoeba_cards()
    if (n := _grammar_count(text, "--monolingual")) is not None:
        if language != GRAMMAR_DIRECTION[0]:
            raise UserError(f"the grammar writes en sentences, not {language!r}; leave out {text}")
        return [pair.source for pair in generate(n, _MONOLINGUAL_SEED, wide=True)]
    if text in cards:
        if language not in cards[text]:
            raise UserError(f"{text} has {' and '.join(cards[text])}, not {language!r}; leave it out")
        return [line[cards[text].index(language)] for line in _columns(text, tatoeba_lines(text, say))]
    _refuse_unknown(text, "data set or file of sentences", [f"{GRAMMAR}=50000", *cards])
    lines = [line.split("\t")[0] for line in read_lines(text)]
    if not any(map(str.strip, lines)):
        raise BadFile(text, "has no sentence")
    return lines
