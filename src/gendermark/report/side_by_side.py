"""Several systems: differences from the first with their intervals, and the trend over versions of one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.drawing import charts
from gendermark.drawing.charts import DotPanel, DotRow, LinePanel, Look, Span
from gendermark.drawing.sheet import Figure, Sheet, figure, language, span
from gendermark.drawing.svg import Canvas
from gendermark.report.beside_published import short_label
from gendermark.report.words import letter
from gendermark.runs.compare import ALPHA, Comparison, ComparisonReport

PANELS = {
    True: DotPanel("difference in points", zero=0.0, at_least=(-2.0, 2.0)),
    False: DotPanel("difference, scale 0 to 1 or nats", zero=0.0, at_least=(-0.02, 0.02)),
}
"""Percentages, and all that is not: they have no scale in common."""


def comparison(reports: Mapping[str, ComparisonReport], labels: Sequence[str]) -> Iterator[Figure]:
    """A forest plot; `reports` has the label of each system that was compared with the first of all `labels`."""
    # As on the page, where the first system is A.
    letters = {place: letter(place) for place, label in enumerate(labels) if label in reports}
    looks = {labels[place]: look for place, look in charts.looks_of(letters).items()}
    by_row: dict[tuple[bool, str, str, str], dict[str, Comparison]] = defaultdict(dict)
    for label, report in reports.items():
        for one in report.comparisons:
            if one.difference is not None:
                by_row[one.unit.is_of_hundred, one.cell, one.metric, one.slice][label] = one
    if not by_row:
        return
    parts = [(panel, rows) for percent, panel in PANELS.items() if (rows := _rows(percent, by_row, looks))]

    def draw(canvas: Canvas) -> None:
        entries = [(f"{letters[place]} {labels[place]}", looks[labels[place]]) for place in letters]
        top = charts.legend(canvas, entries, 0)
        for panel, rows in parts:
            top = charts.dots(canvas, [panel], rows, top) + 6

    every = [one for found in by_row.values() for one in found.values()]
    yield figure(
        "comparison",
        "Differences from the first system",
        f"Each mark is the value of a system minus that of {labels[0]} (A), paired on the same sentences; lines: 95 % "
        f"intervals. Filled: more than chance (p < {ALPHA:g} after Holm), {sum(map(_is_clear, every))} of "
        f"{len(every)}. An accuracy is better to the right; a gap is better where it comes nearer to zero.",
        "",
        draw,
    )


def _rows(
    percent: bool, by_row: Mapping[tuple[bool, str, str, str], Mapping[str, Comparison]], looks: Mapping[str, Look]
) -> list[DotRow]:
    rows: list[DotRow] = []
    cell_before = ""
    for (is_percent, cell, metric, part), found in by_row.items():
        if is_percent is not percent:
            continue
        if cell != cell_before:
            rows.append(DotRow(cell))
            cell_before = cell
        dots = [
            (Span(one.difference or 0.0, one.low, one.high), replace(looks[label], filled=_is_clear(one)))
            for label, one in found.items()
        ]
        benchmark: Benchmark = registry.load("benchmark", cell.partition(".")[0])
        rows.append(DotRow(short_label(benchmark, metric, part), [dots]))
    return rows


def _is_clear(one: Comparison) -> bool:
    return one.change() not in ("unclear", "not compared")


# -- versions ----------------------------------------------------------------------------------------------------------


def trend(sheet: Sheet) -> Iterator[Figure]:
    """The headline numbers from version to version, a line per language; many languages have several figures."""
    cells = list(sheet.cells.items())
    for first in range(0, len(cells), charts.MOST_LOOKS):
        yield from _trend(replace(sheet, cells=dict(cells[first : first + charts.MOST_LOOKS])), sheet.labels)


def _trend(sheet: Sheet, labels: Sequence[str]) -> Iterator[Figure]:
    benchmark: Benchmark = registry.load("benchmark", sheet.benchmark)
    looks = {cell: charts.look_of(number) for number, cell in enumerate(sheet.cells)}
    panels = []
    for metric, _, part in (name.partition(":") for name in benchmark.measures.headline):
        series = []
        for cell, found in sheet.cells.items():
            spans = [span(found[label], metric, part or "all") if label in found else None for label in labels]
            if any(spans):
                series.append((looks[cell], spans))
        if series:
            about = benchmark.describe(metric)
            percent = about.unit.is_of_hundred
            unit = (", points" if about.better == "zero" else ", %") if percent else ""
            label = short_label(benchmark, metric, part or "all") + unit
            panels.append(LinePanel(label, series, 10.0 if percent else 0.1))
    if len(labels) < 2 or not panels:
        return

    def draw(canvas: Canvas) -> None:
        entries = [(language(cell), look) for cell, look in looks.items()]
        names = [str(number) for number in range(1, len(labels) + 1)]
        charts.lines(canvas, panels, names, charts.legend(canvas, entries, 0))

    versions = ", ".join(f"{number}: {label}" for number, label in enumerate(labels, start=1))
    yield figure(
        f"{sheet.benchmark}{sheet.suffix}.trend",
        "From version to version",
        f"{versions} ({sheet.conditions}); whiskers: {sheet.intervals} of each version by itself.",
        sheet.benchmark,
        draw,
    )
