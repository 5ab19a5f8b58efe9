"""The sentences behind the numbers: every judgement with its texts, side by side for several systems, and filters.

A page that stands alone gets all rows at once (`Explorer.embedded`) and filters them itself; a server answers with a
part of them (`Explorer.page`). Both give the same rows to the same script, and both read a `Filter` the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any
from urllib.parse import quote

from gendermark import names, registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UserError
from gendermark.metrics.describe import SLICES
from gendermark.records import Gender, Judgement, Verdict
from gendermark.result import Result
from gendermark.runs.comparable import key_of, told_apart
from gendermark.runs.folder import Run, Text

LONGEST_TEXT = 20_000
"""Characters of one text that a page carries; no translation is longer, but an answer of a broken system may be."""
_BETWEEN = "\x1f"
"""Stands between the pieces of evidence, each of which may be a whole sample with line ends in it."""
NONE = "none"
"""In a filter: no gender."""
GENDERS = ("masculine", "feminine", "neutral", NONE)
VERDICTS = tuple(verdict.value for verdict in Verdict)
OUTCOMES = ("right", "wrong", "open", "mixed", "undecided", "failed")
"""`open`: a gender was read where any would do, as the sentence leaves it open and samples may differ."""
_OUTCOME_OF_TAG = {"correct": "right"}


def system_labels(runs: Sequence[Run]) -> list[str]:
    """The name of each run's system; with the folder's where two would have the same."""
    return names.told_apart([run.called for run in runs], [run.name for run in runs])


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
        """From the fields of a query; others are passed over."""
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


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one system's answer shows about gender, as places in `GENDERS`, `VERDICTS` and `OUTCOMES`."""

    observed: int
    verdict: int
    outcome: int


class Cell:
    """One benchmark and direction: the items that any of the runs has, and for each run its answers or none."""

    def __init__(self, name: str, results: Sequence[Result | None], texts: Sequence[Sequence[Text]]) -> None:
        self.name = name
        self.results, self._texts = results, texts
        present = [result for result in results if result is not None]
        self.selection = present[0].selection
        self.benchmark: Benchmark = registry.load("benchmark", self.selection.benchmark)
        self._places = [_places(result) for result in results]
        firsts: dict[str, int] = {}
        for number, places in enumerate(self._places):
            for item_id in places:
                firsts.setdefault(item_id, number)
        # Where the runs have the same items, as they should, this is their order.
        self.item_ids = list(firsts)
        self._first_run = list(firsts.values())
        self.slices, self.memberships = self._find_slices()
        self.answers = [[self._answer(number, item_id) for item_id in self.item_ids] for number in range(len(results))]

    def __len__(self) -> int:
        return len(self.item_ids)

    def judgement(self, run: int, item_id: str) -> Judgement | None:
        place, result = self._places[run].get(item_id), self.results[run]
        return None if place is None or result is None else result.judgements[place]

    def text(self, run: int, item_id: str) -> Text | None:
        place = self._places[run].get(item_id)
        return None if place is None else self._texts[run][place]

    def item(self, number: int) -> tuple[Judgement, Text]:
        """A judgement and a text of an item, from the first run that has it: for what all of them share."""
        run, item_id = self._first_run[number], self.item_ids[number]
        judgement, text = self.judgement(run, item_id), self.text(run, item_id)
        assert judgement is not None
        assert text is not None
        return judgement, text

    @cached_property
    def entities(self) -> list[str]:
        """Who each sentence is about; empty where the benchmark does not say."""
        return [entity_of(self.item(number)[0]) for number in range(len(self))]

    @cached_property
    def expected(self) -> list[int]:
        return [GENDERS.index(self.item(number)[0].expected or NONE) for number in range(len(self))]

    def context(self, number: int) -> str:
        """The sentence before, where a benchmark has one."""
        return self.item(number)[0].tags.get(self.benchmark.tells.context_tag, "")

    def tags(self, number: int) -> dict[str, str]:
        """What a reader may want to know about an item."""
        judgement, hidden = self.item(number)[0], self.benchmark.tells.hidden_tags
        return {key: value for key, value in judgement.tags.items() if value and key not in hidden}

    def slice_of(self, total: str) -> tuple[str, bool]:
        """The slice that a metric's column `total` counts ("" for all), and whether it counts what was judged only."""
        name, _, kind = total.partition(".")
        return name if name in self.slices else "", kind in ("judged", "decided")

    def _answer(self, run: int, item_id: str) -> _Answer | None:
        judgement = self.judgement(run, item_id)
        if judgement is None:
            return None
        return _Answer(
            GENDERS.index(judgement.observed or NONE),
            VERDICTS.index(judgement.verdict),
            self._outcome(judgement),
        )

    def _outcome(self, judgement: Judgement) -> int:
        outcome = outcome_of(judgement, draws=self.benchmark.draws)
        if outcome not in OUTCOMES:
            raise UserError(
                f"{self.name}: judgement {judgement.item_id} came out {outcome!r}, which this version does not know; "
                "run it again"
            )
        return OUTCOMES.index(outcome)

    def _find_slices(self) -> tuple[list[str], list[tuple[int, ...]]]:
        """The slices, and for each item those it is in: as its benchmark counts an item that stands alone."""
        tally = self.benchmark.measures.tally
        slices: dict[str, int] = {}
        memberships = []
        known: dict[tuple[str, ...], tuple[int, ...]] = {}
        for number in range(len(self)):
            try:
                columns = tuple(name for name in tally([self.item(number)[0]]) if name.endswith((".total", ".every")))
            except KeyError as tag:
                raise UserError(f"{self.name}: the judgements of a run lack the tag {tag}; run it again") from None
            if columns not in known:
                names = dict.fromkeys(column.partition(".")[0] for column in columns)
                known[columns] = tuple(
                    slices.setdefault(name, len(slices)) for name in names if name not in ("", "all")
                )
            memberships.append(known[columns])
        return list(slices), memberships


def entity_of(judgement: Judgement) -> str:
    """Whom a sentence is about; or what it shares with its other versions, where nobody is named."""
    shared = judgement.contrast if judgement.contrast != judgement.item_id else ""
    return judgement.entity or shared


def _places(result: Result | None) -> dict[str, int]:
    judgements = result.judgements if result is not None else ()
    return {judgement.item_id: place for place, judgement in enumerate(judgements)}


def cell_names(results: Sequence[Result]) -> dict[tuple[str, ...], str]:
    """What was measured otherwise is another cell, which needs another name, with what sets it apart."""
    return {key: f"{key[0]} {label}".strip() for key, label in told_apart(results).items()}


class Explorer:
    """All rows of some runs: cell after cell, item after item."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.systems = system_labels(runs)
        by_key = [{key_of(result): result for result in run.results} for run in runs]
        cells = cell_names([result for run in runs for result in run.results])
        self.cells = []
        for key, name in cells.items():
            results = [results.get(key) for results in by_key]
            texts = [run.texts[key[0]] if result else () for run, result in zip(runs, results, strict=True)]
            self.cells.append(Cell(name, results, texts))

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
        counts = [[0] * len(OUTCOMES) for _ in self.systems]
        rows, total = [], 0
        for cell_number, number in self.matches(wanted):
            if first <= total < first + n:
                rows.append(self.row(cell_number, number))
            total += 1
            for run, answers in enumerate(self.cells[cell_number].answers):
                if (answer := answers[number]) is not None:
                    counts[run][answer.outcome] += 1
        return {"total": total, "counts": counts, "rows": rows}

    def matches(self, wanted: Filter) -> Iterator[tuple[int, int]]:
        """(cell, item) of every row that is wanted."""
        needle = wanted.text.lower()
        for cell_number, cell in enumerate(self.cells):
            selection = cell.selection
            for asked, own in (
                (wanted.cell, cell.name),
                (wanted.benchmark, selection.benchmark),
                (wanted.language, selection.target_language),
            ):
                if asked and asked != own:
                    break
            else:
                if wanted.slice and wanted.slice not in ("all", *cell.slices):
                    continue
                for number in range(len(cell)):
                    if _is_wanted(cell, number, wanted) and (not needle or _has_text(cell, number, needle)):
                        yield cell_number, number

    def row(self, cell_number: int, number: int) -> dict[str, Any]:
        """One item as the script shows it."""
        cell = self.cells[cell_number]
        judgement, text = cell.item(number)
        answers: list[dict[str, Any] | None] = []
        for run in range(len(self.systems)):
            judged, answered = cell.judgement(run, judgement.item_id), cell.text(run, judgement.item_id)
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
        """Everything, column by column; texts stand once in a table and are named by their place in it."""
        strings = _Strings()
        facets = self.facets()
        for entry, cell in zip(facets["cells"], self.cells, strict=True):
            numbers = range(len(cell))
            sets = {members: place for place, members in enumerate(dict.fromkeys(cell.memberships))}
            entry |= {
                "id": cell.item_ids,
                "source": [strings.place_of(cell.item(number)[1].source) for number in numbers],
                "context": _compact(strings.place_of(cell.context(number)) for number in numbers),
                "expected": _letters(cell.expected),
                "entity": _compact(strings.place_of(entity) for entity in cell.entities),
                "tags": _compact(strings.tags_place(cell.tags(number)) for number in numbers),
                "slice_sets": [list(members) for members in sets],
                "slice_set": _compact(sets[members] for members in cell.memberships),
                "answers": [self._columns(cell, run, strings) for run in range(len(self.systems))],
            }
        return {**facets, "strings": strings.texts, "tag_sets": strings.tag_sets, "lengths": strings.lengths}

    def _columns(self, cell: Cell, run: int, strings: _Strings) -> dict[str, Any] | None:
        """The answers of one system; None where it has none here."""
        if cell.results[run] is None:
            return None
        texts = [cell.text(run, item_id) for item_id in cell.item_ids]
        judged = [cell.judgement(run, item_id) for item_id in cell.item_ids]
        answers = cell.answers[run]
        missing = len(OUTCOMES)
        return {
            "text": _compact(strings.place_of(text.translation or "" if text else "") for text in texts),
            "error": _compact(strings.place_of(text.error or "" if text else "") for text in texts),
            "observed": _letters(answer.observed if answer else len(GENDERS) - 1 for answer in answers),
            "verdict": _letters(answer.verdict if answer else 0 for answer in answers),
            # An outcome that does not exist marks a row that this system lacks.
            "outcome": _letters(answer.outcome if answer else missing for answer in answers),
            "reason": _compact(strings.place_of(j.reason if j else "") for j in judged),
            "evidence": _compact(strings.place_of(_BETWEEN.join(j.evidence) if j else "") for j in judged),
            "spans": _compact(strings.place_of(_spans(j.spans) if j else "") for j in judged),
        }


def _is_wanted(cell: Cell, number: int, wanted: Filter) -> bool:
    if wanted.sentence and cell.item_ids[number] != wanted.sentence:
        return False
    if wanted.slice and wanted.slice != "all" and cell.slices.index(wanted.slice) not in cell.memberships[number]:
        return False
    if wanted.entity and cell.entities[number] != wanted.entity:
        return False
    if wanted.expected and GENDERS[cell.expected[number]] != wanted.expected:
        return False
    answers = [answers[number] for answers in cell.answers]
    if wanted.differ and len({answer.observed for answer in answers if answer is not None}) < 2:
        return False
    if not (wanted.observed or wanted.verdict or wanted.outcome or wanted.system):
        return True
    meant = (
        [answers[int(wanted.system)]] if wanted.system.isdecimal() and int(wanted.system) < len(answers) else answers
    )
    return any(
        answer is not None
        and wanted.observed in ("", GENDERS[answer.observed])
        and wanted.verdict in ("", VERDICTS[answer.verdict])
        and wanted.outcome in ("", OUTCOMES[answer.outcome])
        for answer in meant
    )


def _has_text(cell: Cell, number: int, needle: str) -> bool:
    item_id = cell.item_ids[number]
    texts = [cell.text(run, item_id) for run in range(len(cell.results))]
    found = [cell.item(number)[1].source, *(text.translation or "" for text in texts if text)]
    return any(needle in clipped(text).lower() for text in found)


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
