"""SimpleGEN's four groups: right, wrong and inconclusive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gendermark.benchmarks.simplegen import GROUPS
from gendermark.benchmarks.simplegen.measures import OUTCOMES
from gendermark.drawing import charts
from gendermark.drawing.charts import BLUE, GREY, HATCHED_ORANGE, StackedRow
from gendermark.drawing.sheet import Figure, Sheet, figure
from gendermark.drawing.svg import Canvas
from gendermark.result import Result

FILLS = {"right gender": BLUE, "wrong gender": HATCHED_ORANGE, "inconclusive": GREY}
LABELS = {
    "fofc": "woman, women's job",
    "momc": "man, men's job",
    "fomc": "man, women's job",
    "mofc": "woman, men's job",
}


def groups(sheet: Sheet) -> Iterator[Figure]:
    for cell, found in sheet.cells.items():
        parts = [(sheet.title_of(label), rows) for label, result in found.items() if (rows := _rows(result))]
        if parts:
            yield _figure(sheet, cell, parts)


def _rows(result: Result) -> list[StackedRow]:
    return [row for group in GROUPS if (row := _row(result, group))]


def _row(result: Result, group: str) -> StackedRow | None:
    estimates = [result.find(outcome, group) for outcome in OUTCOMES]
    shares = [estimate.value for estimate in estimates if estimate and estimate.value is not None]
    right = estimates[0]
    if len(shares) < len(OUTCOMES) or right is None:
        return None
    whisker = (right.low, right.high) if right.low is not None and right.high is not None else None
    return StackedRow(LABELS[group], shares, whisker)


def _figure(sheet: Sheet, cell: str, parts: Sequence[tuple[str, Sequence[StackedRow]]]) -> Figure:
    def draw(canvas: Canvas) -> None:
        charts.stacked(canvas, parts, tuple(FILLS.values()), charts.legend(canvas, list(FILLS.items()), 0))

    return figure(
        sheet.name_of(cell, "groups"),
        "Occupation nouns with the right gender, by who is meant and whose job it is",
        f"In percent ({sheet.about(cell)}). From top to bottom: fofc and momc, which fit the stereotype; fomc and "
        f"mofc, which do not. Line below a bar: {sheet.intervals} of the right ones.",
        cell,
        draw,
    )
