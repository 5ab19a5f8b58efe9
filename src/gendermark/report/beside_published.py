"""A system among those whose results a paper printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.drawing import charts
from gendermark.drawing.charts import DotPanel, DotRow, Span
from gendermark.drawing.sheet import MALE, PUBLISHED, Figure, Sheet, direction, figure, span
from gendermark.drawing.svg import Canvas
from gendermark.records import Unit
from gendermark.report.published import Published, how_comparable, published_values
from gendermark.selection import Selection

BY_PEOPLE = "judged by people"

Column = tuple[str, str]
"""Metric and slice."""


def beside_published(sheet: Sheet) -> Iterator[Figure]:
    benchmark: Benchmark = registry.load("benchmark", sheet.benchmark)
    for cell, found in sheet.cells.items():
        selection = next(iter(found.values())).selection
        columns: list[Column] = []
        for metric, _, part in (name.partition(":") for name in benchmark.presentation.beside_published):
            if any(span(result, metric, part) for result in found.values()):
                columns.append((metric, part))
        printed = {column: values for column in columns if (values := published_values(selection, *column))}
        if printed:
            ours = [
                DotRow(label, [[(value, MALE)] if (value := span(result, *column)) else [] for column in printed])
                for label, result in found.items()
            ]
            yield _figure(sheet, cell, selection, ours, printed)


def _figure(
    sheet: Sheet, cell: str, selection: Selection, ours: list[DotRow], printed: Mapping[Column, list[Published]]
) -> Figure:
    benchmark: Benchmark = registry.load("benchmark", sheet.benchmark)
    values = [value for found in printed.values() for value in found]
    papers = "; ".join(dict.fromkeys(value.paper.short for value in values))

    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, [("measured here", MALE), (f"published ({papers})", PUBLISHED)], 0)
        charts.dots(canvas, _panels(benchmark, list(printed)), [*ours, *_published_rows(printed)], top)

    tables = ", ".join(dict.fromkeys(value.where for value in values))
    notes = "".join(
        f" {value.system}, {short_label(benchmark, value.metric, value.slice)}: {value.note}."
        for value in values
        if value.note
    )
    people = " By people: not by the automatic measure." if any(value.remark == BY_PEOPLE for value in values) else ""
    return figure(
        sheet.name_of(cell, "published"),
        "Beside published results",
        f"Filled: measured here ({direction(cell)}; {sheet.conditions}), lines: {sheet.intervals}. Hollow: as printed "
        f"by {papers} ({tables}), {how_comparable(selection)}.{people}{notes}",
        cell,
        draw,
    )


def _published_rows(printed: Mapping[Column, list[Published]]) -> list[DotRow]:
    systems = dict.fromkeys((value.system, value.remark) for found in printed.values() for value in found)
    return [
        DotRow(
            f"{system} (by people)" if remark == BY_PEOPLE else system,
            [
                [(Span(value.value), PUBLISHED) for value in found if (value.system, value.remark) == (system, remark)]
                for found in printed.values()
            ],
        )
        for system, remark in systems
    ]


def _panels(benchmark: Benchmark, columns: list[Column]) -> list[DotPanel]:
    panels = []
    for metric, part in columns:
        about = benchmark.describe(metric)
        has_zero = about.better == "zero" or about.unit in (Unit.NATS, Unit.RATIO)
        unit = ", %" if about.unit.is_of_hundred and len(columns) == 1 else ""
        bounds = None if has_zero else (0.0, 100.0 if about.unit.is_of_hundred else 1.0)
        panels.append(DotPanel(short_label(benchmark, metric, part) + unit, bounds, 0.0 if has_zero else None))
    return panels


def short_label(benchmark: Benchmark, metric: str, part: str) -> str:
    """For a figure, which has little room."""
    name = benchmark.describe(metric).short
    return name if part == "all" else f"{name}, {part}"
