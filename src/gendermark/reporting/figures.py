"""The figures of a report: for the page, and as SVG, PDF and PNG for a two-column paper.

Every figure is made from estimates and judgements alone. What there is no data for has no figure.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import MissingExtra, UnknownName, UserError
from gendermark.io.textfiles import write_text
from gendermark.markup import visible
from gendermark.records import Unit
from gendermark.reporting import charts
from gendermark.reporting.charts import (
    MALE,
    PUBLISHED,
    WIDTH,
    Canvas,
    DotPanel,
    DotRow,
    Figure,
    LinePanel,
    Look,
    Sheet,
    Span,
    direction,
    figure,
    language,
    span,
)
from gendermark.reporting.differences import against_first
from gendermark.reporting.numbers import letter_of
from gendermark.reporting.published import Published, how_comparable, published_values
from gendermark.result import Result, run_labels
from gendermark.runs.compare import ALPHA, Comparison, ComparisonReport, condition_labels, described, key_of
from gendermark.selection import Selection

__all__ = ["FORMATS", "Figure", "figures", "run_labels", "write_figures"]

FORMATS = ("svg", "pdf", "png")
CAPTIONS = "captions.md"
PNG_DOTS_PER_INCH = 300


def figures(
    runs: Mapping[str, Sequence[Result]],
    comparisons: Mapping[str, ComparisonReport] | None = None,
    *,
    trend: bool = False,
) -> list[Figure]:
    """All figures of one or several runs, given as name -> results.

    `comparisons` (name of a run -> its comparison with the first) are made here if they are not given. `trend` says
    that the runs are versions of one system in their order, which nobody else can know.
    """
    labels = run_labels(runs)
    found: list[Figure] = []
    for sheet in _sheets(runs, labels):
        for draw in (*registry.load("benchmark", sheet.benchmark).presentation.figures, beside_published):
            found.extend(draw(sheet))
        if trend:
            found.extend(_trends(sheet))
    if len(runs) > 1:
        reports = compared_with_first(runs) if comparisons is None else comparisons
        named = {labels[name]: report for name, report in reports.items() if name in labels}
        found.extend(_forest(named, list(labels.values())))
    return _with_unique_names(found)


def compared_with_first(runs: Mapping[str, Sequence[Result]]) -> dict[str, ComparisonReport]:
    (_, first), *others = runs.items()
    return {name: against_first(first, second) for name, second in others}


def check_directory(directory: Path) -> None:
    if directory.is_file():
        raise UserError(f"{directory} is a file; give a directory for the figures")


def check_formats(formats: Sequence[str]) -> dict[str, Callable[[str], bytes]]:
    """What makes a file of each format from SVG; refuses what is unknown, or needs an extra that is not there."""
    for name in formats:
        if name not in FORMATS:
            raise UnknownName("figure format", name, FORMATS)
    return {name: _converter(name) for name in formats}


def write_figures(directory: Path | str, found: Sequence[Figure], formats: Sequence[str] = FORMATS) -> list[Path]:
    """Every figure in every format, and a file of captions; what a format lacks is said before anything is written."""
    directory = Path(directory)
    check_directory(directory)
    converters = check_formats(formats)
    written = []
    for one in found:
        for name, convert in converters.items():
            path = directory / f"{one.name}.{name}"
            _write(path, convert(one.svg))
            written.append(path)
    captions = [f"## {one.name}\n\n**{one.title}.** {_as_markdown(one.caption)}\n" for one in found]
    write_text(directory / CAPTIONS, "\n".join(["# Figures\n", *captions]))
    return [*written, directory / CAPTIONS]


def _sheets(runs: Mapping[str, Sequence[Result]], labels: Mapping[str, str]) -> list[Sheet]:
    """What was measured otherwise has other numbers: it has a sheet of its own."""
    apart = condition_labels([result for results in runs.values() for result in results])
    known = set(registry.names("benchmark"))
    grouped: dict[tuple[str, str], dict[str, dict[str, Result]]] = {}
    for name, results in runs.items():
        for result in results:
            if result.selection.benchmark in known:
                cells = grouped.setdefault((result.selection.benchmark, apart[key_of(result)]), {})
                cells.setdefault(result.cell, {})[labels[name]] = result
    n_sheets = Counter(benchmark for benchmark, _ in grouped)
    return [
        Sheet(benchmark, f".{label}" if n_sheets[benchmark] > 1 else "", cells, described(_any(cells), label))
        for (benchmark, label), cells in grouped.items()
    ]


def _any(cells: Mapping[str, Mapping[str, Result]]) -> Result:
    return next(result for found in cells.values() for result in found.values())


def _with_unique_names(found: Sequence[Figure]) -> list[Figure]:
    """Two systems may differ in letters only that no name of a file can have."""
    seen: set[str] = set()
    unique = []
    for one in found:
        name, number = one.name, 1
        while name in seen:
            number += 1
            name = f"{one.name}-{number}"
        seen.add(name)
        # Parts of a picture are named after it, and two pictures of one page must not share such a name.
        svg = one.svg.replace(f'"{one.name}-', f'"{name}-').replace(f"(#{one.name}-", f"(#{name}-")
        unique.append(one if name == one.name else replace(one, name=name, svg=svg))
    return unique


# -- files -------------------------------------------------------------------------------------------------------------


def _as_markdown(text: str) -> str:
    """A system may be called anything."""
    return re.sub(r"([\\`*_<\[\]])", r"\\\1", " ".join(visible(text).split()))


def _converter(name: str) -> Callable[[str], bytes]:
    if name == "svg":
        return str.encode
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra(f"a figure as {name.upper()}", "figures") from None
    if name == "pdf":
        return lambda svg: bytes(vl_convert.svg_to_pdf(_in_points(svg)))
    return lambda svg: bytes(vl_convert.svg_to_png(_on_white(_in_points(svg)), ppi=PNG_DOTS_PER_INCH))


def _in_points(svg: str) -> str:
    """The converter takes a unit for a point, but an inch for 96 of them."""
    size = re.compile(r'width="[0-9.]+in" height="[0-9.]+in" (viewBox="0 0 ([0-9.]+) ([0-9.]+)")')
    return size.sub(r'width="\2" height="\3" \1', svg, count=1)


def _on_white(svg: str) -> str:
    """A PNG has no page behind it."""
    head, end, body = svg.partition("</desc>")
    return f'{head}{end}<rect width="{WIDTH:g}" height="100%" fill="#ffffff"/>{body}'


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as problem:
        raise UserError(f"cannot write {path}: {problem.strerror or problem}") from None


PANELS = {
    True: DotPanel("difference in points", zero=0.0, at_least=(-2.0, 2.0)),
    False: DotPanel("difference, scale 0 to 1 or nats", zero=0.0, at_least=(-0.02, 0.02)),
}
"""Percentages, and all that is not: they have no scale in common."""


def _forest(reports: Mapping[str, ComparisonReport], labels: Sequence[str]) -> Iterator[Figure]:
    """A forest plot; `reports` has the label of each system that was compared with the first of all `labels`."""
    # As on the page, where the first system is A.
    letters = {place: letter_of(place) for place, label in enumerate(labels) if label in reports}
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
        f"intervals. Filled: significant (p < {ALPHA:g} after Holm), {sum(map(_is_clear, every))} of "
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


def _trends(sheet: Sheet) -> Iterator[Figure]:
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
            yield _published_figure(sheet, cell, selection, ours, printed)


def _published_figure(
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
