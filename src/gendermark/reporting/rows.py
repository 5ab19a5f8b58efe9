"""The sentences behind the numbers: every judgement with its texts, side by side for several systems, and filters.

A standalone page gets all rows at once (`Explorer.embedded`) and filters them itself; a server sends pages of them
(`Explorer.page`). Both give the same rows to the same script, and both interpret a `Filter` in the same way. Filters
use a few bytes per row; texts stay where they are.
"""

from __future__ import annotations

import base64
import gzip
import json
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
from gendermark.records import Gender, Judgement, Verdict
from gendermark.reporting.charts import direction
from gendermark.reporting.document import Number
from gendermark.reporting.findings import language_of, place_name
from gendermark.reporting.tables import find, side_by_side
from gendermark.result import Result
from gendermark.runs.folder import Run, Text

NONE = "none"
"""In a filter: no gender."""
GENDERS = ("masculine", "feminine", "neutral", NONE)
VERDICTS = tuple(verdict.value for verdict in Verdict)
OUTCOMES = ("right", "wrong", "open", "mixed", "undecided", "failed")
"""`open`: a gender was read where any is acceptable, as the sentence leaves it open and samples may differ."""
_OUTCOME_OF_TAG = {"correct": "right"}

LONGEST_TEXT = 20_000
"""Characters of one text on a page; longer ones come from broken systems."""
MOST_EMBEDDED = 5_000
"""Rows of one cell on a page; no published set is larger."""
_FILTERS_KEPT = 16
_PROGRESS_STEP = 100_000
"""Rows between progress reports."""

# -- filters -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Filter:
    """Selects rows; empty fields do not filter. All conditions on an answer apply to the same answer."""

    cell: str = ""
    benchmark: str = ""
    language: str = ""
    """Target language."""
    slice: str = ""
    entity: str = ""
    expected: str = ""
    observed: str = ""
    verdict: str = ""
    outcome: str = ""
    system: str = ""
    """Index of the system whose answers are meant; any if empty."""
    differ: str = ""
    """`yes`: only if the systems disagree on the gender."""
    text: str = ""
    """Text in the source or a translation, ignoring case."""
    sentence: str = ""
    """Item id."""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filter:
        return cls(**{field.name: query[field.name] for field in fields(cls) if field.name in query})

    @property
    def link(self) -> str:
        given = [(field.name, getattr(self, field.name)) for field in fields(self)]
        return "#sentences?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in given if value)


def outcome_of(judgement: Judgement, *, draws: bool) -> str:
    """Outcome of one translation, as in `OUTCOMES`; or of its samples, if the benchmark draws."""
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
"""Columns of an answer: indices into `GENDERS`, `VERDICTS` and `OUTCOMES`."""
MISSING = 255
"""In all of them: this system lacks this sentence."""
_ID, _ENTITY, _SLICES, _EXPECTED, _ANSWERS = range(5)
"""Filter columns of a row: a hash, three indices, and then an answer per run."""

Numbers = NDArray[np.intp]
"""Row numbers."""


class Cell:
    """One benchmark and direction: the items of all runs, and each run's answers.

    Judgements and texts may be on disk. Filter data is kept as a few numbers per row.
    """

    def __init__(
        self,
        label: str,
        results: Sequence[Result | None],
        texts: Sequence[Sequence[Text]],
        tell: Callable[[str], None],
    ) -> None:
        """`label` distinguishes cells of the same benchmark and direction measured differently.

        `texts` of each run are in the order of its judgements; `tell` receives progress.
        """
        self.label, self.results = label, results
        self.first = next(filter(None, results))
        self.name = f"{self.first.cell} {label}".strip()
        self.selection = self.first.selection
        self.benchmark: Benchmark = registry.load("benchmark", self.selection.benchmark)
        judgements = [result.judgements if result else () for result in results]
        self._judged, self._written = _in_one_order(judgements, texts)
        self.must_show: set[int] = set()
        """Items that a page must include because something links to them."""
        entities: dict[str, int] = {}
        memberships: dict[tuple[str, ...], int] = {}
        facts, missing = array("i"), (MISSING,) * 3
        whole = max(map(len, judgements))
        for number, row in enumerate(zip_longest(*self._judged)):
            if number and number % _PROGRESS_STEP == 0:
                tell(f"{self.name}: {number:,} of {whole:,} sentences read")
            first = next(judgement for judgement in row if judgement is not None)
            # A sentence that names nobody is known by its contrast set.
            shared = first.contrast if first.contrast != first.item_id else ""
            entity, slices = first.entity or shared, self._slices_of(first)
            facts.append(_hash(first.item_id))
            facts.append(entities.setdefault(entity, len(entities)))
            facts.append(memberships.setdefault(slices, len(memberships)))
            facts.append(GENDERS.index(first.expected or NONE))
            for judgement in row:
                facts.extend(missing if judgement is None else self._answer(judgement))
        self._facts = np.frombuffer(facts, dtype=np.int32).reshape(-1, _ANSWERS + 3 * len(results))
        self.expected = self._facts[:, _EXPECTED]
        self.answers = self._facts[:, _ANSWERS:].reshape(-1, len(results), 3)
        """By row and run."""
        self.entities, self._memberships = list(entities), list(memberships)
        self.slices = list(dict.fromkeys(one for members in memberships for one in members))

    def __len__(self) -> int:
        return len(self._facts)

    @property
    def present(self) -> list[tuple[int, Result]]:
        return [(run, result) for run, result in enumerate(self.results) if result is not None]

    @property
    def direction(self) -> str:
        """`English → Spanish`, with the label if two cells share it."""
        return self._with_label(direction(self.first.cell))

    @property
    def place(self) -> str:
        return self._with_label(place_name(self.first))

    @property
    def code(self) -> str:
        return language_of(self.first)

    def _with_label(self, name: str) -> str:
        return f"{name} ({self.label})" if self.label else name

    def estimate(self, run: int, metric: str, part: str = "all", *, with_interval: bool = True) -> Number:
        """A number linked to its sentences."""
        found = find(self.results[run], metric, part)
        name, _, kind = self._totals.get((metric, part), "").partition(".")
        verdict = "judged" if kind in ("judged", "decided") else ""
        behind = Filter(self.name, slice=name if name in self.slices else "", verdict=verdict, system=self.system(run))
        # Without sentences of the outcome, link to those it is a share of.
        if found is None or found.value != 0:
            behind = replace(behind, **self.benchmark.describe(metric).behind)
        return Number(found, with_interval, behind.link)

    @cached_property
    def _totals(self) -> dict[tuple[str, str], str]:
        """The column that counts the sentences of each metric: slice and kind."""
        metrics = self.benchmark.measures.metrics(self.first.judgements, self.first.selection)
        return {(metric.name, metric.slice): metric.total for metric in metrics}

    def system(self, run: int) -> str:
        return str(run) if len(self.results) > 1 else ""

    def number_of(self, item_id: str) -> int | None:
        candidates = np.flatnonzero(self._facts[:, _ID] == _hash(item_id)).tolist()
        return next((number for number in candidates if self.item(number)[0].item_id == item_id), None)

    def judgement(self, run: int, number: int) -> Judgement | None:
        return self._judged[run][number] if self._judged[run] else None

    def text(self, run: int, number: int) -> Text | None:
        return self._written[run][number] if self._written[run] else None

    def rows(self, runs: Sequence[int]) -> Iterator[tuple[Sequence[Judgement | None], Sequence[Text | None]]]:
        """All rows one by one, with the answers of some runs."""
        judged, written = (
            zip(*(columns[run] for run in runs), strict=True) for columns in (self._judged, self._written)
        )
        return zip(judged, written, strict=True)

    def item(self, number: int) -> tuple[Judgement, Text]:
        """A judgement and a text of an item, from the first run that has it, for shared facts."""
        for run in range(len(self.results)):
            judgement, text = self.judgement(run, number), self.text(run, number)
            if judgement is not None and text is not None:
                return judgement, text
        raise IndexError(number)

    def entity(self, number: int) -> str:
        return self.entities[int(self._facts[number, _ENTITY])]

    def slices_of(self, number: int) -> list[int]:
        """The slices of an item, as indices into `slices`."""
        return [self.slices.index(name) for name in self._memberships[int(self._facts[number, _SLICES])]]

    def context(self, number: int) -> str:
        return self.item(number)[0].tags.get(self.benchmark.presentation.context_tag, "")

    def tags(self, number: int) -> dict[str, str]:
        judgement, hidden = self.item(number)[0], self.benchmark.presentation.hidden_tags
        return {key: value for key, value in judgement.tags.items() if value and key not in hidden}

    def _answer(self, judgement: Judgement) -> tuple[int, int, int]:
        outcome = outcome_of(judgement, draws=self.benchmark.draws)
        if outcome not in OUTCOMES:
            raise UserError(
                f"{self.name}: judgement {judgement.item_id} has the outcome {outcome!r}, which this version does "
                "not know; run it again"
            )
        return GENDERS.index(judgement.observed or NONE), VERDICTS.index(judgement.verdict), OUTCOMES.index(outcome)

    def _slices_of(self, judgement: Judgement) -> tuple[str, ...]:
        """The slices of an item, as its benchmark counts a single item."""
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
            found &= np.array([name == wanted.entity for name in self.entities], dtype=bool)[self._facts[:, _ENTITY]]
        if wanted.expected:
            found &= np.array([name == wanted.expected for name in GENDERS])[self.expected]
        if wanted.differ:
            seen = self.answers[:, :, OBSERVED]
            found &= seen.min(axis=1) < np.where(seen == MISSING, 0, seen).max(axis=1)
        if wanted.observed or wanted.verdict or wanted.outcome or wanted.system:
            # All conditions apply to the same answer.
            is_one = wanted.system.isdecimal() and int(wanted.system) < len(self.results)
            meant = self.answers[:, [int(wanted.system)]] if is_one else self.answers
            fits = meant[:, :, OUTCOME] != MISSING
            for column, words, word in (
                (OBSERVED, GENDERS, wanted.observed),
                (VERDICT, VERDICTS, wanted.verdict),
                (OUTCOME, OUTCOMES, wanted.outcome),
            ):
                if word:
                    fits &= meant[:, :, column] == (words.index(word) if word in words else -1)
            found &= fits.any(axis=1)
        if wanted.text and found.any():
            found &= self._have(wanted.text.lower())
        return np.flatnonzero(found)

    def _have(self, needle: str) -> NDArray[np.bool_]:
        """Whether the source or a translation of each row contains a text, ignoring case."""
        return np.fromiter(
            (
                any(needle in clipped(part).lower() for one in texts if one for part in (one.source, one.translation))
                for texts in zip_longest(*self._written)
            ),
            dtype=bool,
        )

    def outcomes(self, numbers: Numbers) -> NDArray[np.intp]:
        found = self.answers[numbers, :, OUTCOME]
        return np.stack([(found == place).sum(axis=0) for place in range(len(OUTCOMES))], axis=1)

    def sample(self, most: int) -> list[int]:
        """The rows of a large cell to include on a page: required ones, and a deterministic sample.

        Every kind of sentence (by slices, expected gender and answers) gets an equal share as far as possible, so that
        rare kinds are included, with different people in each.
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


def _in_one_order(
    judgements: Sequence[Sequence[Judgement]], texts: Sequence[Sequence[Text]]
) -> tuple[Sequence[Sequence[Judgement | None]], Sequence[Sequence[Text | None]]]:
    """Put the items of all runs in the same rows; unchanged if the runs have the same items."""
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


# -- all rows of some runs --------------------------------------------------------------------------------------------


def system_labels(runs: Sequence[Run]) -> list[str]:
    """The name of each run's system; with the folder's if ambiguous."""
    return names.told_apart([run.called for run in runs], [run.name for run in runs])


class Explorer:
    """All rows of some runs: cell by cell, item by item."""

    def __init__(self, runs: Sequence[Run], tell: Callable[[str], None] = lambda note: None) -> None:  # noqa: ARG005
        """`tell` receives progress."""
        self.systems, self.cells = system_labels(runs), list[Cell]()
        # Different conditions form another cell, which needs a distinct name.
        for label, results in side_by_side([run.results for run in runs]):
            texts = [run.texts[result.cell] if result else () for run, result in zip(runs, results, strict=True)]
            self.cells.append(Cell(label, results, texts, tell))
        # Scrolling repeats the same filter.
        self.matches = lru_cache(_FILTERS_KEPT)(lambda wanted: [cell.matches(wanted) for cell in self.cells])
        """The selected rows of each cell."""

    def facets(self) -> dict[str, Any]:
        return {
            "systems": self.systems,
            "genders": list(GENDERS),
            "verdicts": list(VERDICTS),
            "outcomes": list(OUTCOMES),
            "unit": "people" if all(cell.benchmark.reads_any_text for cell in self.cells) else "sentences",
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

    def entities(self) -> list[str]:
        return sorted({entity for cell in self.cells for entity in cell.entities if entity})

    # -- a part of the rows, for a server ------------------------------------------------------------------------------

    def page(self, wanted: Filter, first: int, n: int) -> dict[str, Any]:
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
        """The facets, with all rows as gzip in base64.

        Large cells are sampled, with their size: no browser opens a page of a million sentences.
        """
        facets, rows = self.facets(), []
        for cell_number, (entry, cell) in enumerate(zip(facets["cells"], self.cells, strict=True)):
            numbers = range(len(cell)) if len(cell) <= MOST_EMBEDDED else cell.sample(MOST_EMBEDDED)
            entry |= {"n": len(numbers), "n_all": len(cell)}
            rows += [{**self.row(cell_number, one), "slices": cell.slices_of(one)} for one in numbers]
        packed = gzip.compress(json.dumps(rows, separators=(",", ":")).encode(), mtime=0)
        return {**facets, "rows": base64.b64encode(packed).decode()}


def clipped(text: str | None) -> str:
    return (text or "")[:LONGEST_TEXT]
