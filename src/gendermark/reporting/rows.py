"""The sentences behind the numbers: every judgement with its texts, side by side for several systems, and filters.

A page that stands alone gets all rows at once (`Explorer.embedded`) and filters them itself; a server answers with a
part of them (`Explorer.page`). Both give the same rows to the same script, and both read a `Filter` the same way.
What filters ask of each row is kept in a few bytes; the rest stays where it is.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import zip_longest
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from gendermark import names, registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UserError
from gendermark.io.disk_list import reordered
from gendermark.metrics.describe import SLICES
from gendermark.records import Gender, Judgement, Verdict
from gendermark.result import Result
from gendermark.runs.compare import condition_labels, key_of
from gendermark.runs.folder import Run, Text

NONE = "none"
"""In a filter: no gender."""
GENDERS = ("masculine", "feminine", "neutral", NONE)
VERDICTS = tuple(verdict.value for verdict in Verdict)
OUTCOMES = ("right", "wrong", "open", "mixed", "undecided", "failed")
"""`open`: a gender was read where any would do, as the sentence leaves it open and samples may differ."""
_OUTCOME_OF_TAG = {"correct": "right"}

LONGEST_TEXT = 20_000
"""Characters of one text that a page carries; no translation is longer, but an answer of a broken system may be."""
MOST_EMBEDDED = 5_000
"""Rows of one cell that a page carries; no published set is larger."""
_BETWEEN = "\x1f"
"""Stands between the pieces of evidence, each of which may be a whole sample with line ends in it."""
_FILTERS_KEPT = 16
_NOTHING = np.zeros(len(OUTCOMES), dtype=np.intp)
_TOLD = 100_000
"""Rows after which it is said how far the index is."""

T = TypeVar("T")


# -- filters -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Filter:
    """Which rows are wanted; what is empty is not asked for. All conditions on an answer hold of one and the same."""

    cell: str = ""
    benchmark: str = ""
    language: str = ""
    """The target language."""
    slice: str = ""
    entity: str = ""
    expected: str = ""
    observed: str = ""
    verdict: str = ""
    outcome: str = ""
    system: str = ""
    """The place of the system whose answers are meant, from 0; any if empty."""
    differ: str = ""
    """`yes`: only where the systems do not agree on the gender."""
    text: str = ""
    """A part of the source or of a translation, upper or lower case."""
    sentence: str = ""
    """The id of one item."""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filter:
        """From the fields of a query; others are ignored."""
        return cls(**{field.name: query[field.name] for field in fields(cls) if field.name in query})

    @property
    def link(self) -> str:
        """The part of an address that opens the explorer with this filter."""
        given = [(field.name, getattr(self, field.name)) for field in fields(self)]
        return "#sentences?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in given if value)


def outcome_of(judgement: Judgement, *, draws: bool) -> str:
    """How one translation came out, in the words of `OUTCOMES`; or many samples of it, if its benchmark draws."""
    if judgement.outcome:
        return _OUTCOME_OF_TAG.get(judgement.outcome, judgement.outcome)
    if judgement.verdict is Verdict.NOT_TRANSLATED:
        return "failed"
    if judgement.verdict is Verdict.UNJUDGEABLE or judgement.observed is None:
        return "mixed" if judgement.reason in ("mixed", "both") else "undecided"
    if draws and judgement.expected in (None, Gender.NEUTRAL):
        return "open"
    return "right" if judgement.is_correct else "wrong"


# -- rows --------------------------------------------------------------------------------------------------------------


OBSERVED, VERDICT, OUTCOME = range(3)
"""Columns of an answer: places in `GENDERS`, `VERDICTS` and `OUTCOMES`, one byte each."""
MISSING = 255
"""In all of them: this system does not have this sentence."""


class Coded(Generic[T]):
    """One of a few values for each row, each kept once; rows hold numbers."""

    def __init__(self, numbers: Any, values: Sequence[T]) -> None:
        self.numbers, self.values = np.asarray(numbers), values

    def __iter__(self) -> Iterator[T]:
        return map(self.values.__getitem__, self.numbers)

    def __getitem__(self, row: int) -> T:
        return self.values[int(self.numbers[row])]


Numbers = NDArray[np.int32]
"""Of rows."""
Judged = Sequence[Judgement | None]
Written = Sequence[Text | None]


class Cell:
    """One benchmark and direction: the items that any of the runs has, and for each run its answers or none.

    Judgements and texts may be on the disk. What filters ask of each row is kept in a few bytes.
    """

    def __init__(
        self,
        name: str,
        results: Sequence[Result | None],
        texts: Sequence[Sequence[Text]],
        tell: Callable[[int], None] = lambda n: None,  # noqa: ARG005
    ) -> None:
        """`texts` of each run, in the order of its judgements; `tell` hears how many rows are indexed."""
        self.name = name
        self.results = results
        present = [result for result in results if result is not None]
        self.selection = present[0].selection
        self.benchmark: Benchmark = registry.load("benchmark", self.selection.benchmark)
        judgements = [result.judgements if result else () for result in results]
        self._judged, self._written = _in_one_order(judgements, texts)
        self.must_show: set[int] = set()
        """Items that a page must carry, as something on it leads to them."""
        self._index(tell)

    def _index(self, tell: Callable[[int], None]) -> None:
        """In one go through all judgements."""
        slices: dict[str, int] = {}
        sets: dict[tuple[int, ...], int] = {}
        entities: dict[str, int] = {}
        known: dict[tuple[str, ...], int] = {}
        self._hashes, entity_of_row, set_of_row = array("q"), array("I"), array("I")
        expected, answers = bytearray(), [bytearray() for _ in self.results]
        for row in zip_longest(*self._judged):
            first = next(judgement for judgement in row if judgement is not None)
            self._hashes.append(hash(first.item_id))
            entity_of_row.append(entities.setdefault(entity_of(first), len(entities)))
            expected.append(GENDERS.index(first.expected or NONE))
            names = self._slices_of(first)
            if names not in known:
                members = tuple(slices.setdefault(name, len(slices)) for name in names)
                known[names] = sets.setdefault(members, len(sets))
            set_of_row.append(known[names])
            if len(self._hashes) % _TOLD == 0:
                tell(len(self._hashes))
            for codes, judgement in zip(answers, row, strict=True):
                codes.extend((MISSING,) * 3 if judgement is None else self._answer(judgement))
        self.slices = list(slices)
        self.memberships = Coded(set_of_row, list(sets))
        self.entities = Coded(entity_of_row, list(entities))
        """Who each sentence is about; empty where the benchmark does not say."""
        self.expected = np.frombuffer(expected, dtype=np.uint8)
        self.answers = [np.frombuffer(codes, dtype=np.uint8).reshape(-1, 3) for codes in answers]

    def __len__(self) -> int:
        return len(self._hashes)

    def number_of(self, item_id: str) -> int | None:
        """The row of an item."""
        wanted, start = hash(item_id), 0
        while True:
            try:
                number = self._hashes.index(wanted, start)
            except ValueError:
                return None
            if self.item(number)[0].item_id == item_id:
                return number
            start = number + 1

    def judgement(self, run: int, number: int) -> Judgement | None:
        return self._judged[run][number] if self._judged[run] else None

    def text(self, run: int, number: int) -> Text | None:
        return self._written[run][number] if self._written[run] else None

    def rows_of(self, run: int) -> Iterator[tuple[int, Judgement, Text]]:
        """All rows that one run has, one by one."""
        for number, (judgement, text) in enumerate(zip(self._judged[run], self._written[run], strict=True)):
            if judgement is not None and text is not None:
                yield number, judgement, text

    def rows(self, runs: Sequence[int]) -> Iterator[tuple[int, Sequence[Judgement | None], Sequence[Text | None]]]:
        """The same of several runs, side by side."""
        judged, written = (
            zip(*(columns[run] for run in runs), strict=True) for columns in (self._judged, self._written)
        )
        for number, (judgements, texts) in enumerate(zip(judged, written, strict=True)):
            yield number, judgements, texts

    def item(self, number: int) -> tuple[Judgement, Text]:
        """A judgement and a text of an item, from the first run that has it: for what all of them share."""
        for run in range(len(self.results)):
            judgement, text = self.judgement(run, number), self.text(run, number)
            if judgement is not None and text is not None:
                return judgement, text
        raise IndexError(number)

    def context(self, number: int) -> str:
        """The sentence before, where a benchmark has one."""
        return self.item(number)[0].tags.get(self.benchmark.presentation.context_tag, "")

    def tags(self, number: int) -> dict[str, str]:
        """What a reader may want to know about an item."""
        judgement, hidden = self.item(number)[0], self.benchmark.presentation.hidden_tags
        return {key: value for key, value in judgement.tags.items() if value and key not in hidden}

    def slice_of(self, total: str) -> tuple[str, bool]:
        """The slice that a metric's column `total` counts ("" for all), and whether it counts what was judged only."""
        name, _, kind = total.partition(".")
        return name if name in self.slices else "", kind in ("judged", "decided")

    def _answer(self, judgement: Judgement) -> tuple[int, int, int]:
        outcome = outcome_of(judgement, draws=self.benchmark.draws)
        if outcome not in OUTCOMES:
            raise UserError(
                f"{self.name}: judgement {judgement.item_id} came out {outcome!r}, which this version does not know; "
                "run it again"
            )
        return GENDERS.index(judgement.observed or NONE), VERDICTS.index(judgement.verdict), OUTCOMES.index(outcome)

    def _slices_of(self, judgement: Judgement) -> tuple[str, ...]:
        """The slices an item is in: as its benchmark counts an item that stands alone."""
        measures = self.benchmark.measures
        try:
            if measures.slices_of is not None:
                names: Iterable[str] = measures.slices_of(judgement)
            else:
                columns = measures.tally([judgement])
                names = (name.partition(".")[0] for name in columns if name.endswith((".total", ".every")))
            return tuple(dict.fromkeys(name for name in names if name not in ("", "all")))
        except KeyError as tag:
            raise UserError(f"{self.name}: the judgements of a run lack the tag {tag}; run it again") from None

    # -- filters -------------------------------------------------------------------------------------------------------

    def matches(self, wanted: Filter) -> Numbers:
        """The rows that are wanted, but for their texts."""
        selection = self.selection
        for asked, own in (
            (wanted.cell, self.name),
            (wanted.benchmark, selection.benchmark),
            (wanted.language, selection.target_language),
        ):
            if asked and asked != own:
                return np.zeros(0, dtype=np.int32)
        found = np.ones(len(self), dtype=bool)
        if wanted.sentence:
            found[:] = False
            if (number := self.number_of(wanted.sentence)) is not None:
                found[number] = True
        if wanted.slice and wanted.slice != "all":
            sets = enumerate(self.memberships.values)
            place = self.slices.index(wanted.slice) if wanted.slice in self.slices else -1
            found &= np.isin(self.memberships.numbers, [number for number, members in sets if place in members])
        if wanted.entity:
            names = self.entities.values
            found &= self.entities.numbers == (names.index(wanted.entity) if wanted.entity in names else len(names))
        if wanted.expected:
            found &= self.expected == (GENDERS.index(wanted.expected) if wanted.expected in GENDERS else MISSING)
        if wanted.differ:
            found &= self._differ()
        if wanted.observed or wanted.verdict or wanted.outcome or wanted.system:
            found &= self._has_answer(wanted)
        return np.flatnonzero(found).astype(np.int32)

    def _differ(self) -> NDArray[np.bool_]:
        """Where the systems do not agree on the gender."""
        seen = np.stack([own[:, OBSERVED] for own in self.answers])
        return np.asarray(seen.min(axis=0) < np.where(seen == MISSING, 0, seen).max(axis=0))

    def _has_answer(self, wanted: Filter) -> NDArray[np.bool_]:
        """Where one of the answers that are meant is as wanted."""
        asked: Sequence[tuple[int, Sequence[str], str]] = (
            (OBSERVED, GENDERS, wanted.observed),
            (VERDICT, VERDICTS, wanted.verdict),
            (OUTCOME, OUTCOMES, wanted.outcome),
        )
        meant = self.answers
        if wanted.system.isdecimal() and int(wanted.system) < len(meant):
            meant = [meant[int(wanted.system)]]
        found = np.zeros(len(self), dtype=bool)
        for own in meant:
            fits = own[:, OUTCOME] != MISSING
            for column, words, word in asked:
                if word:
                    fits &= own[:, column] == (words.index(word) if word in words else MISSING)
            found |= fits
        return found

    def rows_with(self, needle: str) -> list[int]:
        """The rows whose source or translations have a text in them, in lower case."""
        return [
            number
            for number, texts in enumerate(zip_longest(*self._written))
            if any(
                needle in clipped(part).lower() for text in texts if text for part in (text.source, text.translation)
            )
        ]

    def outcomes(self, run: int, numbers: Numbers) -> NDArray[np.intp]:
        """The number of these rows with each outcome."""
        return np.bincount(self.answers[run][numbers, OUTCOME], minlength=MISSING + 1)[: len(OUTCOMES)]


def _in_one_order(
    judgements: Sequence[Sequence[Judgement]], texts: Sequence[Sequence[Text]]
) -> tuple[Sequence[Judged], Sequence[Written]]:
    """The same items in the same rows for all runs; where the runs have the same items, as they should, as they are."""
    present = [own for own in judgements if own]
    if len({len(own) for own in present}) <= 1 and all(
        len({judgement.item_id for judgement in row}) == 1
        for row in (zip(*present, strict=True) if present[1:] else ())
    ):
        return judgements, texts
    places = [{judgement.item_id: place for place, judgement in enumerate(own)} for own in judgements]
    item_ids = list(dict.fromkeys(item_id for own in places for item_id in own))
    orders = [array("q", (own.get(item_id, -1) for item_id in item_ids)) if own else () for own in places]
    return (
        [reordered(own, order) for own, order in zip(judgements, orders, strict=True)],
        [reordered(own, order) for own, order in zip(texts, orders, strict=True)],
    )


def entity_of(judgement: Judgement) -> str:
    """Whom a sentence is about; or what it shares with its other versions, where nobody is named."""
    shared = judgement.contrast if judgement.contrast != judgement.item_id else ""
    return judgement.entity or shared


def sampled_rows(cell: Cell, most: int) -> Sequence[int]:
    """The rows of a large cell that a page carries: those that it must, and a sample.

    The sample is the same whenever it is drawn. Every kind of sentence (by slices, expected gender and answers) has a
    like share, as far as it has sentences, so that what is rare is there; and of each kind all sorts of people.
    """
    kinds = cell.memberships.numbers.astype(np.int64) * len(GENDERS) + cell.expected
    for answers in cell.answers:
        codes = answers.astype(np.int64) % 8 @ (64, 8, 1)  # fewer than eight of each, the last for what is missing
        kinds = np.unique(kinds * 512 + codes, return_inverse=True)[1].astype(np.int64)
    order = np.lexsort((cell.entities.numbers, kinds))
    starts = np.flatnonzero(np.diff(kinds[order], prepend=-1))
    of_kind = sorted(np.split(order, starts[1:]), key=len)
    chosen, left = set(cell.must_show), max(most - len(cell.must_show), 0)
    for n_before, rows in enumerate(of_kind):
        n = min(len(rows), left // (len(of_kind) - n_before))
        chosen.update(rows[np.arange(n) * len(rows) // max(n, 1)].tolist())
        left -= n
    return sorted(chosen)


# -- all rows of some runs --------------------------------------------------------------------------------------------


def system_labels(runs: Sequence[Run]) -> list[str]:
    """The name of each run's system; with the folder's where two would have the same."""
    return names.told_apart([run.called for run in runs], [run.name for run in runs])


def cell_names(results: Sequence[Result]) -> dict[tuple[str, ...], str]:
    """What was measured otherwise is another cell, which needs another name, with what sets it apart."""
    return {key: f"{key[0]} {label}".strip() for key, label in condition_labels(results).items()}


class Explorer:
    """All rows of some runs: cell after cell, item after item."""

    def __init__(self, systems: Sequence[str], cells: Sequence[Cell]) -> None:
        self.systems, self.cells = list(systems), list(cells)
        # Somebody who scrolls asks for the same again.
        self.matches = lru_cache(_FILTERS_KEPT)(self._matches)

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Explorer:
        by_key = [{key_of(result): result for result in run.results} for run in runs]
        cells = []
        for key, name in cell_names([result for run in runs for result in run.results]).items():
            results = [own.get(key) for own in by_key]
            texts = [run.texts[key[0]] if result else () for run, result in zip(runs, results, strict=True)]
            cells.append(Cell(name, results, texts))
        return cls(system_labels(runs), cells)

    def facets(self) -> dict[str, Any]:
        """What the controls offer, without any row."""
        return {
            "systems": self.systems,
            "genders": list(GENDERS),
            "verdicts": list(VERDICTS),
            "outcomes": list(OUTCOMES),
            "cells": [
                {
                    "name": cell.name,
                    "benchmark": cell.selection.benchmark,
                    "source_language": cell.selection.source_language,
                    "target_language": cell.selection.target_language,
                    "draws": cell.benchmark.draws,
                    "slices": cell.slices,
                    "n": len(cell),
                }
                for cell in self.cells
            ],
        }

    def slice_labels(self) -> dict[str, str]:
        found = {name: cell.benchmark.slice_label(name) for cell in self.cells for name in cell.slices}
        return {**SLICES, **found}

    def entities(self) -> list[str]:
        return sorted({entity for cell in self.cells for entity in cell.entities.values if entity})

    # -- a part of the rows, for a server ------------------------------------------------------------------------------

    def page(self, wanted: Filter, first: int, n: int) -> dict[str, Any]:
        """Rows `first` to `first + n` of those that are wanted; how many there are, and how they came out."""
        found = self.matches(wanted)
        counts = [
            sum((cell.outcomes(run, own) for cell, own in zip(self.cells, found, strict=True)), _NOTHING).tolist()
            for run in range(len(self.systems))
        ]
        rows, before = [], 0
        for cell_number, own in enumerate(found):
            some = own[max(first - before, 0) : max(first + n - before, 0)]
            rows += [self.row(cell_number, int(number)) for number in some]
            before += len(own)
        return {"total": before, "counts": counts, "rows": rows}

    def _matches(self, wanted: Filter) -> list[Numbers]:
        """Of each cell the rows that are wanted."""
        found = [cell.matches(wanted) for cell in self.cells]
        if needle := wanted.text.lower():
            found = [
                own[np.isin(own, cell.rows_with(needle))] if len(own) else own
                for cell, own in zip(self.cells, found, strict=True)
            ]
        return found

    def row(self, cell_number: int, number: int) -> dict[str, Any]:
        """One item as the script shows it."""
        cell = self.cells[cell_number]
        judgement, text = cell.item(number)
        answers: list[dict[str, Any] | None] = []
        for run in range(len(self.systems)):
            judged, answered = cell.judgement(run, number), cell.text(run, number)
            if judged is None or answered is None:
                answers.append(None)
                continue
            answers.append(
                {
                    "text": clipped(answered.translation),
                    "length": len(answered.translation or ""),
                    "error": answered.error or "",
                    "observed": judged.observed or NONE,
                    "verdict": judged.verdict.value,
                    "outcome": outcome_of(judged, draws=cell.benchmark.draws),
                    "reason": judged.reason,
                    "evidence": list(judged.evidence),
                    "spans": [list(span) for span in judged.spans],
                }
            )
        return {
            "cell": cell_number,
            "id": judgement.item_id,
            "source": clipped(text.source),
            "context": cell.context(number),
            "expected": judgement.expected or NONE,
            "entity": cell.entities[number],
            "tags": cell.tags(number),
            "answers": answers,
        }

    # -- all rows, for a page that stands alone ------------------------------------------------------------------------

    def embedded(self) -> dict[str, Any]:
        """Everything, column by column; texts stand once in a table and are named by their place in it.

        Of a large cell a part only, and how many there are: a page of a million sentences is none that a browser opens.
        """
        strings = _Strings()
        facets = self.facets()
        for entry, cell in zip(facets["cells"], self.cells, strict=True):
            numbers = range(len(cell)) if len(cell) <= MOST_EMBEDDED else sampled_rows(cell, MOST_EMBEDDED)
            items = [cell.item(number) for number in numbers]
            memberships = [cell.memberships[number] for number in numbers]
            sets = {members: place for place, members in enumerate(dict.fromkeys(memberships))}
            entry |= {
                "n": len(numbers),
                **({"n_all": len(cell)} if len(numbers) < len(cell) else {}),
                "id": [judgement.item_id for judgement, _ in items],
                "source": [strings.place_of(text.source) for _, text in items],
                "context": _compact(strings.place_of(cell.context(number)) for number in numbers),
                "expected": _letters(cell.expected[number] for number in numbers),
                "entity": _compact(strings.place_of(cell.entities[number]) for number in numbers),
                "tags": _compact(strings.tags_place(cell.tags(number)) for number in numbers),
                "slice_sets": [list(members) for members in sets],
                "slice_set": _compact(sets[members] for members in memberships),
                "answers": [self._columns(cell, run, strings, numbers) for run in range(len(self.systems))],
            }
        return {**facets, "strings": strings.texts, "tag_sets": strings.tag_sets, "lengths": strings.lengths}

    def _columns(self, cell: Cell, run: int, strings: _Strings, numbers: Sequence[int]) -> dict[str, Any] | None:
        """The answers of one system; None where it has none here."""
        if cell.results[run] is None:
            return None
        texts = [cell.text(run, number) for number in numbers]
        judged = [cell.judgement(run, number) for number in numbers]
        answers = cell.answers[run][np.asarray(numbers, dtype=np.intp)]
        is_missing = answers[:, OUTCOME] == MISSING
        # An outcome that does not exist marks a row that this system lacks.
        shown = np.where(is_missing[:, np.newaxis], (len(GENDERS) - 1, 0, len(OUTCOMES)), answers)
        return {
            "text": _compact(strings.place_of(text.translation or "" if text else "") for text in texts),
            "error": _compact(strings.place_of(text.error or "" if text else "") for text in texts),
            "observed": _letters(shown[:, OBSERVED]),
            "verdict": _letters(shown[:, VERDICT]),
            "outcome": _letters(shown[:, OUTCOME]),
            "reason": _compact(strings.place_of(j.reason if j else "") for j in judged),
            "evidence": _compact(strings.place_of(_BETWEEN.join(j.evidence) if j else "") for j in judged),
            "spans": _compact(strings.place_of(_spans(j.spans) if j else "") for j in judged),
        }


def clipped(text: str | None) -> str:
    return (text or "")[:LONGEST_TEXT]


class _Strings:
    """A table in which each text stands once."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self.tag_sets: list[dict[str, str]] = []
        self.lengths: dict[int, int] = {}
        """How long those texts are that stand here in part only."""
        self._places: dict[str, int] = {"": 0}
        self._tag_places: dict[tuple[tuple[str, str], ...], int] = {}

    def place_of(self, text: str) -> int:
        place = self._places.get(text)
        if place is None:
            place = self._places[text] = len(self.texts)
            self.texts.append(clipped(text))
            if len(text) > LONGEST_TEXT:
                self.lengths[place] = len(text)
        return place

    def tags_place(self, tags: Mapping[str, str]) -> int:
        key = tuple(tags.items())
        place = self._tag_places.get(key)
        if place is None:
            place = self._tag_places[key] = len(self.tag_sets)
            self.tag_sets.append(dict(tags))
        return place


def _spans(spans: Sequence[tuple[int, int]]) -> str:
    """`3-7 12-15`"""
    return " ".join(f"{start}-{end}" for start, end in spans)


def _letters(numbers: Iterable[int]) -> str:
    """Small numbers as a string of digits: a fifth of the room that a list takes."""
    return "".join(map(str, numbers))


def _compact(numbers: Iterable[int]) -> list[int] | int:
    """A column; one number where all are the same."""
    column = list(numbers)
    return column[0] if column and len(set(column)) == 1 else column
