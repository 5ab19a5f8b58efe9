"""The sentences behind the numbers: every judgement with its texts, side by side for several systems, and filters.

A page that stands alone gets all rows at once (`Explorer.embedded`) and filters them itself; a server answers with a
part of them (`Explorer.page`). Both give the same rows to the same script, and both read a `Filter` the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gendermark import names
from gendermark.metrics.describe import SLICES
from gendermark.report.cells import GENDERS, NONE, OUTCOMES, VERDICTS, Cell, Filter, Numbers, outcome_of, sampled_rows
from gendermark.result import Result
from gendermark.runs.comparable import key_of, told_apart
from gendermark.runs.folder import Run

LONGEST_TEXT = 20_000
"""Characters of one text that a page carries; no translation is longer, but an answer of a broken system may be."""
MOST_EMBEDDED = 5_000
"""Rows of one cell that a page carries; no published set is larger."""
_BETWEEN = "\x1f"
"""Stands between the pieces of evidence, each of which may be a whole sample with line ends in it."""
_NOTHING = np.zeros(len(OUTCOMES), dtype=np.intp)


def system_labels(runs: Sequence[Run]) -> list[str]:
    """The name of each run's system; with the folder's where two would have the same."""
    return names.told_apart([run.called for run in runs], [run.name for run in runs])


# -- rows --------------------------------------------------------------------------------------------------------------


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
            judgements = [result.judgements if result else () for result in results]
            self.cells.append(Cell(name, results, judgements, texts))

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

    def matches(self, wanted: Filter) -> list[Numbers]:
        """Of each cell the rows that are wanted."""
        found = [cell.matches(wanted) for cell in self.cells]
        if needle := wanted.text.lower():
            found = [
                np.array([n for n in own.tolist() if _has_text(cell, n, needle)], dtype=np.int32)
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
        answers = [cell.answers[run][number] for number in numbers]
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


def _has_text(cell: Cell, number: int, needle: str) -> bool:
    texts = [cell.text(run, number) for run in range(len(cell.results))]
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
