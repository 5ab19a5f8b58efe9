"""Text in its order, to learn from two sentences at a time: the one before and the present one, on both sides.

That is the 2+2 form of Tiedemann and Scherrer (2017), in which MT-GenEval's contextual models were trained. A document
is a stretch of lines; an empty line ends it. How the two sentences are joined is said as for the benchmark
(`linguistics/context.py`), so that a model is asked as it was taught.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.io.textfiles import read_lines
from gendermark.lab.grammar.generator import generate_documents
from gendermark.lab.parallel import (
    GRAMMAR,
    Line,
    Part,
    check_grammar_direction,
    columns,
    tidy,
    two_files,
)
from gendermark.linguistics import context as contexts
from gendermark.systems.tokenisers import Direction

CONTEXT = "separator:<sep>"
_FOR_TRAINING = ("joined", "separator")
_SEED = 900
"""Of the grammar's documents: none of the seeds that its single sentences have."""


@dataclass(frozen=True)
class Documents:
    """Several documents of one origin."""

    name: str
    documents: Sequence[Sequence[Line]]

    @property
    def sentences(self) -> Part:
        return Part(self.name, [line for document in self.documents for line in document])

    def joined(self, allowed: set[Line], strategy: str) -> Part:
        """Every sentence with the one before it; pairs with a sentence that is not allowed are left out."""
        pairs = [
            Line(*(contexts.show(one, other, strategy) for one, other in zip(before, line, strict=True)))
            for document in self.documents
            for before, line in pairwise(document)
            if before in allowed and line in allowed
        ]
        return Part(f"{self.name}+context", list(dict.fromkeys(pairs)))


def check_context(strategy: str) -> None:
    """Refuse what says no way to join two sentences."""
    if strategy.partition(":")[0] not in _FOR_TRAINING:
        raise UserError(
            f"--context {strategy!r} joins no two sentences; write joined, or separator:TEXT, for example {CONTEXT}"
        )
    contexts.show("A.", "B.", strategy)  # a separator without text is refused there


def read_documents(text: str, direction: Direction) -> Documents:
    """`FILE.tsv`, `SOURCE_FILE,TARGET_FILE`, or `grammar=N`: so many documents of two sentences by our grammar."""
    name, equals, number = text.partition("=")
    if equals and name.strip() == GRAMMAR:
        return Documents(GRAMMAR, list(_of_grammar(number, direction)))
    if not Path(text).exists() and "," in text:
        name, lines = two_files(*text.split(",", 1))
    elif not Path(text).exists() and "." not in text and "/" not in text:
        raise UnknownName("text in its order", text, [f"{GRAMMAR}=20000", "a file"])
    else:
        name, lines = Path(text).stem, columns(text, read_lines(text), keep_empty=True)
    documents: list[list[Line]] = [[]]
    for line in map(tidy, lines):
        if line.source and line.target:
            documents[-1].append(line)
        else:
            documents.append([])
    found = [document for document in documents if len(document) > 1]
    if not found:
        raise BadFile(text, "has no two sentences in a row; an empty line ends a document")
    return Documents(name, found)


def _of_grammar(number: str, direction: Direction) -> Iterator[Sequence[Line]]:
    check_grammar_direction(direction, "--documents grammar=N")
    n = grammar_count(number, "--documents")
    for document in generate_documents(n, _SEED):
        yield [Line(*pair) for pair in document]


def grammar_count(text: str, option: str) -> int:
    """The N of `grammar=N`."""
    if not text.strip().isdecimal() or int(text) < 1:
        raise UserError(f"{option} takes a number behind {GRAMMAR}=, {GRAMMAR}=20000 for example, not {text!r}")
    return int(text)
