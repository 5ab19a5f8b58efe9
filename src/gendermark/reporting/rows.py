"""The sentences behind the numbers: every judgement with its texts, side by side for several systems, and filters.

A page that stands alone gets all rows at once (`Explorer.embedded`) and filters them itself; a server answers with a
part of them (`Explorer.page`). Both give the same rows to the same script, and both read a `Filter` the same way.
What filters ask of each row is kept in a few bytes; the rest stays where it is.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from itertools import zip_longest
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from gendermark import names, registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UserError
from gendermark.io.disk_list import reordered
from gendermark.metrics.metric import SLICES
from gendermark.records import Gender, Judgement, Verdict
from gendermark.reporting.document import Number
from gendermark.reporting.findings import language_of, place_name
from gendermark.reporting.phrases import direction
from gendermark.reporting.tables import find
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
_PROGRESS_STEP = 100_000
"""Rows between two reports of progress."""

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
"""Columns of an answer: places in `GENDERS`, `VERDICTS` and `OUTCOMES`."""
MISSING = 255
"""In all of them: this system does not have this sentence."""
_ID, _ENTITY, _SLICES, _EXPECTED, _ANSWERS = range(5)
"""Columns of what filters ask of a row: a hash, three places, and from then on an answer of each run."""

Numbers = NDArray[np.intp]
"""Of rows."""


class Cell:
    """One benchmark and direction: the items that any of the runs has, and for each run its answers or none.

    Judgements and texts may be on the disk. What filters ask of each row is kept as a few numbers.
    """

    def __init__(
        self,
        cell: str,
        label: str,
        results: Sequence[Result | None],
        texts: Sequence[Sequence[Text]],
        tell: Callable[[str], None] = lambda note: None,  # noqa: ARG005
    ) -> None:
        """`label` tells it apart where others of its benchmark and direction were measured otherwise.

        `texts` of each run, in the order of its judgements; `tell` gets the progress of reading.
        """
        self.name, self.label, self.results = f"{cell} {label}".strip(), label, results
        self.first = next(result for result in results if result is not None)
        self.selection = self.first.selection
        self.benchmark: Benchmark = registry.load("benchmark", self.selection.benchmark)
        judgements = [result.judgements if result else () for result in results]
        self._judged, self._written = _in_one_order(judgements, texts)
        self.must_show: set[int] = set()
        """Items that a page must carry, as something on it leads to them."""
        entities: dict[str, int] = {}
        memberships: dict[tuple[str, ...], int] = {}
        facts, missing = array("i"), (MISSING,) * 3
        whole = max(map(len, judgements))
        for number, row in enumerate(zip_longest(*self._judged)):
            if number and number % _PROGRESS_STEP == 0:
                tell(f"{self.name}: {number:,} of {whole:,} sentences read")
            first = next(judgement for judgement in row if judgement is not None)
            entity, slices = entity_of(first), self._slices_of(first)
            facts.append(_hash(first.item_id))
            facts.append(entities.setdefault(entity, len(entities)))
            facts.append(memberships.setdefault(slices, len(memberships)))
            facts.append(GENDERS.index(first.expected or NONE))
            for judgement in row:
                facts.extend(missing if judgement is None else self._answer(judgement))
        self._facts = np.frombuffer(facts, dtype=np.int32).reshape(-1, _ANSWERS + 3 * len(results))
        self.expected = self._facts[:, _EXPECTED]
        self.answers = self._facts[:, _ANSWERS:].reshape(-1, len(results), 3)
        """Of each row and run."""
        self.entities, self._memberships = list(entities), list(memberships)
        self.slices = list(dict.fromkeys(one for members in memberships for one in members))

    def __len__(self) -> int:
        return len(self._facts)

    @property
    def present(self) -> list[tuple[int, Result]]:
        """The runs that have it."""
        return [(run, result) for run, result in enumerate(self.results) if result is not None]

    @property
    def direction(self) -> str:
        """`English → Spanish`, with what sets it apart where two cells share it."""
        return self._with_label(direction(self.selection.source_language, self.selection.target_language))

    @property
    def place(self) -> str:
        return self._with_label(place_name(self.first))

    @property
    def code(self) -> str:
        """The language by which a reader can choose it."""
        return language_of(self.first)

    def _with_label(self, name: str) -> str:
        return f"{name} ({self.label})" if self.label else name

    def estimate(self, run: int, metric: str, part: str = "all", *, with_interval: bool = True) -> Number:
        """A number that leads to its sentences."""
        found = find(self.results[run], metric, part)
        name, _, kind = self._totals.get((metric, part), "").partition(".")
        verdict = "judged" if kind in ("judged", "decided") else ""
        behind = Filter(self.name, slice=name if name in self.slices else "", verdict=verdict, system=self.system(run))
        # Where none has the outcome there is nothing behind the number but what it is a share of.
        if found is None or found.value != 0:
            behind = replace(behind, **self.benchmark.describe(metric).behind)
        return Number(found, with_interval, behind.link)

    @cached_property
    def _totals(self) -> dict[tuple[str, str], str]:
        """The column that counts the sentences of each metric: slice and kind."""
        metrics = self.benchmark.measures.metrics(self.first.judgements, self.first.selection)
        return {(metric.name, metric.slice): metric.total for metric in metrics}

    def system(self, run: int) -> str:
        """The system of a run, for a filter."""
        return str(run) if len(self.results) > 1 else ""

    def number_of(self, item_id: str) -> int | None:
        """The row of an item."""
        candidates = np.flatnonzero(self._facts[:, _ID] == _hash(item_id)).tolist()
        return next((number for number in candidates if self.item(number)[0].item_id == item_id), None)

    def judgement(self, run: int, number: int) -> Judgement | None:
        return self._judged[run][number] if self._judged[run] else None

    def text(self, run: int, number: int) -> Text | None:
        return self._written[run][number] if self._written[run] else None

    def rows(self, runs: Sequence[int]) -> Iterator[tuple[Sequence[Judgement | None], Sequence[Text | None]]]:
        """All rows one by one, with what some runs have of them."""
        judged, written = (
            zip(*(columns[run] for run in runs), strict=True) for columns in (self._judged, self._written)
        )
        return zip(judged, written, strict=True)

    def item(self, number: int) -> tuple[Judgement, Text]:
        """A judgement and a text of an item, from the first run that has it: for what all of them share."""
        for run in range(len(self.results)):
            judgement, text = self.judgement(run, number), self.text(run, number)
            if judgement is not None and text is not None:
                return judgement, text
        raise IndexError(number)

    def entity(self, number: int) -> str:
        """Who a sentence is about; empty where the benchmark does not say."""
        return self.entities[int(self._facts[number, _ENTITY])]

    def slices_of(self, number: int) -> list[int]:
        """The slices that an item is in, as places in `slices`."""
        return [self.slices.index(name) for name in self._memberships[int(self._facts[number, _SLICES])]]

    def context(self, number: int) -> str:
        """The sentence before, where a benchmark has one."""
        return self.item(number)[0].tags.get(self.benchmark.presentation.context_tag, "")

    def tags(self, number: int) -> dict[str, str]:
        """What a reader may want to know about an item."""
        judgement, hidden = self.item(number)[0], self.benchmark.presentation.hidden_tags
        return {key: value for key, value in judgement.tags.items() if value and key not in hidden}

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
        """The rows that are wanted."""
        own = (self.name, self.selection.benchmark, self.selection.target_language)
        asked = (wanted.cell, wanted.benchmark, wanted.language)
        if any(one not in ("", mine) for one, mine in zip(asked, own, strict=True)):
            return np.zeros(0, dtype=np.intp)
        found = np.ones(len(self), dtype=bool)
        if wanted.sentence:
            number = self.number_of(wanted.sentence)
            found &= np.arange(len(self)) == (-1 if number is None else number)
        if wanted.slice and wanted.slice != "all":
            places = [place for place, members in enumerate(self._memberships) if wanted.slice in members]
            found &= np.isin(self._facts[:, _SLICES], places)
        if wanted.entity:
            found &= self._facts[:, _ENTITY] == _place(wanted.entity, self.entities)
        if wanted.expected:
            found &= self.expected == _place(wanted.expected, GENDERS)
        if wanted.differ:
            seen = self.answers[:, :, OBSERVED]
            found &= seen.min(axis=1) < np.where(seen == MISSING, 0, seen).max(axis=1)
        if wanted.observed or wanted.verdict or wanted.outcome or wanted.system:
            # All conditions hold of one and the same answer.
            is_one = wanted.system.isdecimal() and int(wanted.system) < len(self.results)
            meant = self.answers[:, [int(wanted.system)]] if is_one else self.answers
            fits = meant[:, :, OUTCOME] != MISSING
            for column, words, word in (
                (OBSERVED, GENDERS, wanted.observed),
                (VERDICT, VERDICTS, wanted.verdict),
                (OUTCOME, OUTCOMES, wanted.outcome),
            ):
                if word:
                    fits &= meant[:, :, column] == _place(word, words)
            found &= fits.any(axis=1)
        if wanted.text and found.any():
            found &= self._have(wanted.text.lower())
        return np.flatnonzero(found)

    def _have(self, needle: str) -> NDArray[np.bool_]:
        """Whether the source or a translation of each row has a text in it, in lower case."""
        return np.fromiter(
            (
                any(needle in clipped(part).lower() for one in texts if one for part in (one.source, one.translation))
                for texts in zip_longest(*self._written)
            ),
            dtype=bool,
        )

    def outcomes(self, numbers: Numbers) -> NDArray[np.intp]:
        """The number of these rows with each outcome, for each run."""
        found = self.answers[numbers, :, OUTCOME]
        return np.stack([(found == place).sum(axis=0) for place in range(len(OUTCOMES))], axis=1)

    def sample(self, most: int) -> list[int]:
        """The rows of a large cell that a page carries: those that it must, and a sample.

        The sample is the same whenever it is drawn. Every kind of sentence (by slices, expected gender and answers) has
        a like share, as far as it has sentences, so that what is rare is there; and of each kind all sorts of people.
        """
        kinds = self._facts[:, _SLICES:]
        order = np.lexsort((self._facts[:, _ENTITY], *kinds.T[::-1]))
        starts = np.flatnonzero((np.diff(kinds[order], axis=0) != 0).any(axis=1)) + 1
        of_kind = sorted(np.split(order, starts), key=len)
        chosen, left = set(self.must_show), max(most - len(self.must_show), 0)
        for n_before, rows in enumerate(of_kind):
            n = min(len(rows), left // (len(of_kind) - n_before))
            chosen.update(rows[np.arange(n) * len(rows) // max(n, 1)].tolist())
            left -= n
        return sorted(chosen)


def _hash(item_id: str) -> int:
    return hash(item_id) & 0x7FFFFFFF


def _place(word: str, words: Sequence[str]) -> int:
    """The place of a word; one that no row has, if it is none of these."""
    return words.index(word) if word in words else -1


def _in_one_order(
    judgements: Sequence[Sequence[Judgement]], texts: Sequence[Sequence[Text]]
) -> tuple[Sequence[Sequence[Judgement | None]], Sequence[Sequence[Text | None]]]:
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


# -- all rows of some runs --------------------------------------------------------------------------------------------


def system_labels(runs: Sequence[Run]) -> list[str]:
    """The name of each run's system; with the folder's where two would have the same."""
    return names.told_apart([run.called for run in runs], [run.name for run in runs])


class Explorer:
    """All rows of some runs: cell after cell, item after item."""

    def __init__(self, runs: Sequence[Run], tell: Callable[[str], None] = lambda note: None) -> None:  # noqa: ARG005
        """`tell` gets the progress of reading."""
        self.systems, self.cells = system_labels(runs), list[Cell]()
        by_key = [{key_of(result): result for result in run.results} for run in runs]
        # What was measured otherwise is another cell, which needs another name, with what sets it apart.
        for key, label in condition_labels([result for run in runs for result in run.results]).items():
            results = [own.get(key) for own in by_key]
            texts = [run.texts[key[0]] if result else () for run, result in zip(runs, results, strict=True)]
            self.cells.append(Cell(key[0], label, results, texts, tell))
        # Somebody who scrolls asks for the same again.
        self.matches = lru_cache(_FILTERS_KEPT)(lambda wanted: [cell.matches(wanted) for cell in self.cells])
        """Of each cell the rows that are wanted."""

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
        return sorted({entity for cell in self.cells for entity in cell.entities if entity})

    # -- a part of the rows, for a server ------------------------------------------------------------------------------

    def page(self, wanted: Filter, first: int, n: int) -> dict[str, Any]:
        """Rows `first` to `first + n` of those that are wanted; how many there are, and how they came out."""
        found = self.matches(wanted)
        counts = np.zeros((len(self.systems), len(OUTCOMES)), dtype=np.intp)
        rows, before = [], 0
        for cell_number, (cell, own) in enumerate(zip(self.cells, found, strict=True)):
            counts += cell.outcomes(own)
            some = own[max(first - before, 0) : max(first + n - before, 0)]
            rows += [self.row(cell_number, int(number)) for number in some]
            before += len(own)
        return {"total": before, "counts": counts.tolist(), "rows": rows}

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
            "entity": cell.entity(number),
            "tags": cell.tags(number),
            "answers": answers,
        }

    # -- all rows, for a page that stands alone ------------------------------------------------------------------------

    def embedded(self) -> dict[str, Any]:
        """Everything, column by column; texts stand once in a table and are named by their place in it.

        Of a large cell a part only, and how many there are: a page of a million sentences is none that a browser opens.
        """
        strings, tag_sets = {"": 0}, dict[tuple[tuple[str, str], ...], int]()

        def places(texts: Iterable[str]) -> list[int] | int:
            return _compact(strings.setdefault(text, len(strings)) for text in texts)

        facets = self.facets()
        for entry, cell in zip(facets["cells"], self.cells, strict=True):
            numbers = range(len(cell)) if len(cell) <= MOST_EMBEDDED else cell.sample(MOST_EMBEDDED)
            items = [cell.item(number) for number in numbers]
            tags = [tuple(cell.tags(number).items()) for number in numbers]
            memberships = [tuple(cell.slices_of(number)) for number in numbers]
            sets = {members: place for place, members in enumerate(dict.fromkeys(memberships))}
            entry |= {
                "n": len(numbers),
                **({"n_all": len(cell)} if len(numbers) < len(cell) else {}),
                "id": [judgement.item_id for judgement, _ in items],
                "source": [strings.setdefault(text.source, len(strings)) for _, text in items],
                "context": places(cell.context(number) for number in numbers),
                "expected": _letters(cell.expected[number] for number in numbers),
                "entity": places(cell.entity(number) for number in numbers),
                "tags": _compact(tag_sets.setdefault(own, len(tag_sets)) for own in tags),
                "slice_sets": [list(members) for members in sets],
                "slice_set": _compact(sets[members] for members in memberships),
                "answers": [_columns(cell, run, places, numbers) for run in range(len(self.systems))],
            }
        return {
            **facets,
            "strings": list(map(clipped, strings)),
            "tag_sets": list(map(dict, tag_sets)),
            "lengths": {place: len(text) for text, place in strings.items() if len(text) > LONGEST_TEXT},
        }


def _columns(
    cell: Cell, run: int, places: Callable[[Iterable[str]], list[int] | int], numbers: Sequence[int]
) -> dict[str, Any] | None:
    """The answers of one system; None where it has none here."""
    if cell.results[run] is None:
        return None
    texts = [cell.text(run, number) for number in numbers]
    judged = [cell.judgement(run, number) for number in numbers]
    answers = cell.answers[list(numbers), run]
    # An outcome that does not exist marks a row that this system lacks.
    shown = np.where(answers == MISSING, (len(GENDERS) - 1, 0, len(OUTCOMES)), answers)
    return {
        "text": places(text.translation or "" if text else "" for text in texts),
        "error": places(text.error or "" if text else "" for text in texts),
        "observed": _letters(shown[:, OBSERVED]),
        "verdict": _letters(shown[:, VERDICT]),
        "outcome": _letters(shown[:, OUTCOME]),
        "reason": places(j.reason if j else "" for j in judged),
        "evidence": places(_BETWEEN.join(j.evidence) if j else "" for j in judged),
        "spans": places(" ".join(f"{start}-{end}" for start, end in j.spans) if j else "" for j in judged),
    }


def clipped(text: str | None) -> str:
    return (text or "")[:LONGEST_TEXT]


def _letters(numbers: Iterable[int]) -> str:
    """Small numbers as a string of digits: a fifth of the room that a list takes."""
    return "".join(map(str, numbers))


def _compact(numbers: Iterable[int]) -> list[int] | int:
    """A column; one number where all are the same."""
    column = list(numbers)
    return column[0] if column and len(set(column)) == 1 else column
