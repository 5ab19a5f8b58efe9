"""A system among those whose results a paper printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gendermark.benchmarks.benchmark import Selection
from gendermark.drawing import charts
from gendermark.drawing.charts import DotPanel, DotRow, Span
from gendermark.drawing.sheet import (
    MALE,
    PUBLISHED,
    Figure,
    Sheet,
    direction,
    figure,
    is_percentage,
    metric_label,
    span,
)
from gendermark.drawing.svg import Canvas
from gendermark.report.published import Published, how_comparable, published_values

METRICS = {
    "mt-geneval-contextual": ("accuracy:all",),
    "mt-geneval-counterfactual": ("accuracy:all", "delta_qual:all"),
    "simplegen": ("pro:all", "anti:all", "delta:all"),
    "tgbi": ("tgbi:all",),
    "uncertainty": ("h_gender:unambiguous", "h_gender:ambiguous"),
    "winomt": ("accuracy:all", "delta_g:all", "delta_s:all"),
}
BY_PEOPLE = "judged by people"

Column = tuple[str, str]
"""Metric and slice."""


def context(sheet: Sheet) -> Iterator[Figure]:
    for cell, found in sheet.cells.items():
        selection = next(iter(found.values())).selection
        columns: list[Column] = []
        for metric, _, part in (name.partition(":") for name in METRICS.get(sheet.benchmark, ())):
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
    values = [value for found in printed.values() for value in found]
    papers = "; ".join(dict.fromkeys(value.paper.short for value in values))

    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, [("measured here", MALE), (f"published ({papers})", PUBLISHED)], 0)
        charts.dots(canvas, _panels(sheet.benchmark, list(printed)), [*ours, *_published_rows(printed)], top)

    tables = ", ".join(dict.fromkeys(value.where for value in values))
    notes = "".join(
        f" {value.system}, {metric_label(value.metric, value.slice)}: {value.note}." for value in values if value.note
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


def _panels(benchmark: str, columns: list[Column]) -> list[DotPanel]:
    panels = []
    for metric, part in columns:
        has_zero = metric.startswith(("delta", "h_"))
        percent = is_percentage(benchmark, metric)
        unit = ", %" if percent and len(columns) == 1 else ""
        bounds = None if has_zero else (0.0, 100.0 if percent else 1.0)
        panels.append(DotPanel(metric_label(metric, part) + unit, bounds, 0.0 if has_zero else None))
    return panels
