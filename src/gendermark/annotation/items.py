"""Which items of a run stand in a sheet: drawn for it, and found again by its rows.

What the judge said is nowhere in a sample, nor in its order.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import defaultdict
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path

from gendermark import registry
from gendermark.annotation.sheets import ANYBODY, SampleRow, Sheet, SheetRow, comparable
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.records import Gender, Judgement, Verdict
from gendermark.result import Result
from gendermark.runs import folder


@dataclass(frozen=True, slots=True)
class TranslatedText:
    """One line of a cell's translations."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A row that could not be used, and why."""

    line: int
    problem: str


@dataclass(frozen=True, slots=True)
class SheetSummary:
    """What a sheet contributed."""

    name: str
    path: str
    n_rows: int
    n_answers: int
    """Rows with one gender."""
    n_blank: int
    n_not_found: int
    """Rows where the person did not find the entity; they have no gender, whatever the other cell says."""
    n_not_found_by_judge: int
    """Those of them that the judge gave no gender either."""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Person:
    """One person's answers by item id: a gender, or `None` where the entity was not found."""

    summary: SheetSummary
    answers: Mapping[str, Gender | None]

    @property
    def name(self) -> str:
        return self.summary.name

    @property
    def genders(self) -> dict[str, Gender]:
        return {item_id: gender for item_id, gender in self.answers.items() if gender is not None}


def read_cell(directory: Path, cell: str = "") -> tuple[Result, dict[str, TranslatedText]]:
    """A cell of a finished run, and its translations by item id; the name may be left out where there is one cell."""
    every = {result.cell: result for result in folder.read_results(directory)}
    sampled = {name for name, one in every.items() if registry.load("benchmark", one.selection.benchmark).draws}
    results = {name: result for name, result in every.items() if name not in sampled}
    if cell in sampled or not results:
        rest = f"say which other: --cell {' | '.join(results)}" if results else "run a benchmark that translates once"
        raise UserError(
            f"{cell or ', '.join(every)} in {directory} has many samples of each sentence and not one translation, so "
            f"it cannot be annotated; {rest}"
        )
    if not cell:
        if len(results) != 1:
            raise UserError(f"{directory} has {len(results)} cells; say which: --cell {' | '.join(results)}")
        cell = next(iter(results))
    if cell not in results:
        raise UnknownName(f"cell of {directory}", cell, results)
    result = results[cell]
    texts = folder.read_texts(directory / cell, result)
    both = zip(result.judgements, texts, strict=True)
    return result, {j.item_id: TranslatedText(text.source, text.translation or "") for j, text in both}


def observed(judgement: Judgement) -> Gender | None:
    """The gender that the judge gave, if any."""
    return judgement.observed if judgement.verdict is Verdict.JUDGED else None


def stratum(judgement: Judgement) -> tuple[str, str]:
    """The kind of item that a sample has as many of as of any other: expected and observed gender."""
    return str(judgement.expected), str(observed(judgement))


# -- drawn -----------------------------------------------------------------------------------------------------------


def draw_sample(result: Result, translations: Mapping[str, TranslatedText], n: int, seed: int) -> list[SampleRow]:
    """Up to `n` translations, as many of each expected and observed gender (or none) as there are, in random order.

    Empty translations are left out: there is nothing to read.
    """
    strata: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
    seen = set()
    for judgement in result.judgements:
        # Where parts have rows of their own, an index can stand twice; a row must be recognised when it comes back.
        shown = (judgement.index, judgement.entity, translations[judgement.item_id].text)
        if shown[-1].strip() and shown not in seen:
            seen.add(shown)
            strata[stratum(judgement)].append(judgement)
    generator = random.Random(seed)
    chosen: list[Judgement] = []
    by_size = sorted(strata.items(), key=lambda pair: (len(pair[1]), pair[0]))
    for place, (_, members) in enumerate(by_size):
        # Small strata first: what they cannot give is left for the larger ones.
        share = (n - len(chosen)) // (len(by_size) - place)
        chosen += generator.sample(members, min(share, len(members)))
    # The order depends on seed and ids alone, so it cannot tell what the judge said.
    chosen.sort(key=lambda judgement: hashlib.sha256(f"{seed}/{judgement.item_id}".encode()).digest())
    texts = ((judgement, translations[judgement.item_id]) for judgement in chosen)
    return [
        SampleRow(judgement.index, judgement.entity or ANYBODY, text.text, text.source) for judgement, text in texts
    ]


# -- found again -----------------------------------------------------------------------------------------------------


class Items:
    """Finds the judgement that a row of a sheet is about."""

    def __init__(self, result: Result, translations: Mapping[str, TranslatedText]) -> None:
        self._cell = result.cell
        self._by_index: dict[int, list[Judgement]] = defaultdict(list)
        self._by_text: dict[str, list[Judgement]] = defaultdict(list)
        for judgement in result.judgements:
            self._by_index[judgement.index].append(judgement)
            self._by_text[comparable(translations[judgement.item_id].text)].append(judgement)

    def find(self, row: SheetRow, taken: Container[str]) -> Judgement | str:
        """The judgement, or why there is none. `taken` are the items of the rows before."""
        found = self._by_index_and_sentence(row)
        if isinstance(found, str):
            return found
        if row.entity:
            wanted = _bare(row.entity)
            found = [judgement for judgement in found if _bare(judgement.entity) == wanted] or found
        if len({observed(judgement) for judgement in found}) > 1:
            return f"several items of {self._cell} fit, which the judge read differently; not counted"
        if row.index == found[0].index:
            return found[0]
        # Several sources can have one translation: each row of such a sentence is another of them.
        return next((judgement for judgement in found if judgement.item_id not in taken), found[0])

    def has(self, row: SheetRow) -> bool:
        """Whether a row is of this cell."""
        return not isinstance(self._by_index_and_sentence(row), str)

    def _by_index_and_sentence(self, row: SheetRow) -> list[Judgement] | str:
        sentence = comparable(row.sentence)
        by_sentence = self._by_text.get(sentence, []) if sentence else []
        if row.index is None:
            return by_sentence or f"its sentence is not a translation of {self._cell} in this run; not counted"
        by_index = self._by_index.get(row.index)
        if not by_index:
            return f"index {row.index} is not in {self._cell} of this run; not counted"
        if not sentence:
            return by_index
        # Where the two contradict each other, the sentence is what the person has read.
        return (
            [judgement for judgement in by_sentence if judgement.index == row.index]
            or by_sentence
            or f"its sentence is not the translation of index {row.index} in this run; not counted"
        )


def _bare(entity: str) -> str:
    """Without its article: sheets of 2019 may write "The developer"."""
    return re.sub(r"^(the|an|a) ", "", comparable(entity).casefold())


def match(sheet: Sheet, name: str, items: Items) -> Person:
    """A person's answers, each to the item that its row is about; of two answers to one item the later counts."""
    answered: dict[str, SheetRow] = {}
    taken: dict[str, Judgement] = {}
    problems: list[Problem] = []
    for row in sheet.rows:
        found = items.find(row, taken)
        if isinstance(found, Judgement):
            taken[found.item_id] = found
        if row.is_blank:
            continue
        if row.problem or isinstance(found, str):
            problems.append(Problem(row.line, row.problem or str(found)))
            continue
        before = answered.get(found.item_id)
        if before:
            problems.append(Problem(row.line, f"answers the item of line {before.line} again; this one counts"))
        answered[found.item_id] = row
    if not answered:
        first = problems[0]
        raise BadFile(sheet.path, f"{first.problem}, and no other row could be used either", line=first.line)
    not_found = [taken[item_id] for item_id, row in answered.items() if row.gender is None]
    summary = SheetSummary(
        name=name,
        path=sheet.path,
        n_rows=len(sheet.rows),
        n_answers=len(answered) - len(not_found),
        n_blank=sum(row.is_blank for row in sheet.rows),
        n_not_found=len(not_found),
        n_not_found_by_judge=sum(observed(judgement) is None for judgement in not_found),
        problems=tuple(problems),
    )
    return Person(summary, {item_id: row.gender for item_id, row in answered.items()})
