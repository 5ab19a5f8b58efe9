"""What a benchmark shows of its results: findings, the tables of its paper, its figures.

Each benchmark's `findings.py` puts these together; reports read them and know no benchmark by name. The sentences are
made of the phrases in `reporting/phrases.py`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from gendermark.metrics.metric import key_from
from gendermark.records import Estimate, Judgement
from gendermark.reporting import charts
from gendermark.reporting.charts import Canvas, DotPanel, DotRow, Figure, Sheet, StackedRow, figure, span
from gendermark.reporting.document import Finding
from gendermark.reporting.phrases import direction
from gendermark.result import Result

# -- tables of papers --------------------------------------------------------------------------------------------------

Cell = Sequence[Result | None]
"""One benchmark and direction: its result for every run, or none."""
Made = Mapping[str, Callable[[Result], Estimate | None]]
NOTHING_MADE: Made = {}


class Place(NamedTuple):
    """A number of a table: of which cell and which run, and which one."""

    cell: int
    run: int
    metric: str
    slice: str = "all"
    with_interval: bool = True


@dataclass(frozen=True)
class Row:
    """Headed by a run, by a text, or by both. An estimate is a number that the run does not have as such."""

    values: Sequence[Place | Estimate | None]
    run: int | None = None
    text: str = ""


@dataclass(frozen=True)
class Form:
    """A table; with `runs`, it has all its columns once for each of them."""

    name: str
    """Of a label in LaTeX: benchmark and number of the paper's table."""
    caption: str
    columns: Sequence[str]
    rows: Sequence[Row]
    runs: Sequence[int] = ()
    corner: str = ""


def direction_of(cell: Cell) -> str:
    selection = next(result for result in cell if result is not None).selection
    return direction(selection.source_language, selection.target_language)


def runs_of(cells: Sequence[Cell]) -> list[int]:
    """Those that have any of the cells."""
    return [run for run in range(len(cells[0])) if any(cell[run] is not None for cell in cells)]


def rows_by_direction(cells: Sequence[Cell], metrics: Sequence[str]) -> list[Row]:
    """A row per direction, with these metrics for each run."""
    return [
        Row([Place(number, run, metric) for run in runs_of(cells) for metric in metrics], text=direction_of(cell))
        for number, cell in enumerate(cells)
    ]


def rows_by_run(cells: Sequence[Cell], columns: Sequence[tuple[str, str]]) -> list[Row]:
    """A row per direction and run; headed by that of the two of which there are several."""
    where = len(cells) > 1
    who = len(cells[0]) > 1 or not where
    return [
        Row(
            [Place(number, run, *column) for column in columns],
            run if who else None,
            direction_of(cell) if where else "",
        )
        for number, cell in enumerate(cells)
        for run, result in enumerate(cell)
        if result is not None
    ]


@cache
def _described_tables(package: str) -> Mapping[str, Any]:
    return tomllib.loads((files(package) / "tables.toml").read_text(encoding="utf-8"))


def columns_of(package: str, name: str) -> dict[str, tuple[str, str]]:
    """The columns of one of these tables: heading -> metric and slice."""
    columns = _described_tables(package)[name]["columns"]
    return {head: key_from(metric) for head, metric in columns.items() if metric}


def paper_tables(package: str, cells: Sequence[Cell], prefix: str = "", made: Made = NOTHING_MADE) -> list[Form]:
    """The tables in `tables.toml` of a package whose names begin so, but for those by slice.

    `made`: heading -> the number below it, for columns that are no metric; left out where no run has it.
    """
    results = [result for cell in cells for result in cell if result is not None]
    found = []
    for name, about in _described_tables(package).items():
        metrics = columns_of(package, name)
        by = about.get("by", "run")
        if not name.startswith(prefix) or by == "slice":
            continue
        if by == "direction":
            rows = rows_by_direction(cells, [metric for metric, _ in metrics.values()])
            found.append(Form(name, about["caption"], list(metrics), rows, runs_of(cells)))
            continue
        columns = {head: [made[head](result) for result in results] for head in about["columns"] if head not in metrics}
        columns = {head: values for head, values in columns.items() if any(values)}
        rows = [
            replace(row, values=(*own, *row.values))
            for row, *own in zip(rows_by_run(cells, list(metrics.values())), *columns.values(), strict=True)
        ]
        found.append(Form(name, about["caption"], [*columns, *metrics], rows))
    return found


def slice_tables(package: str, name: str, slices: Mapping[str, str], cells: Sequence[Cell]) -> list[Form]:
    """A table of `tables.toml` for each direction, with a row for each of these slices that it has."""
    about, columns = _described_tables(package)[name], columns_of(package, name)
    shown = about.get("intervals", columns)
    first, pattern = next(iter(columns.values()))
    found = []
    for number, cell in enumerate(cells):
        runs, results = runs_of([cell]), [result for result in cell if result is not None]
        rows = [
            Row(
                [
                    Place(number, run, metric, part.format(name_of_slice), head in shown)
                    for run in runs
                    for head, (metric, part) in columns.items()
                ],
                text=label,
            )
            for name_of_slice, label in slices.items()
            if any(result.find(first, pattern.format(name_of_slice)) for result in results)
        ]
        own_name = f"{name}-{results[0].selection.direction}" if len(cells) > 1 else name
        caption = about["caption"].format(direction=direction_of(cell))
        found.append(Form(own_name, caption, list(columns), rows, runs, about["corner"]))
    return found


# -- figures -----------------------------------------------------------------------------------------------------------

Legend = Sequence[tuple[str, charts.Look | str]]
Adjust = Callable[[list[float]], list[float]]


def stacked_figure(
    sheet: Sheet,
    cell: str,
    what: str,
    title: str,
    caption: str,
    parts: Sequence[tuple[str, Sequence[StackedRow]]],
    fills: Mapping[str, str],
    note: str = "",
) -> Figure:
    """Bars that are cut into shares, in parts with a title each; `fills` has the name and the fill of each share."""

    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, list(fills.items()), 0)
        charts.stacked(canvas, parts, tuple(fills.values()), top, note)

    return figure(sheet.name_of(cell, what), title, caption, cell, draw)


def stacked_row(label: str, shares: Sequence[Estimate | None], adjust: Adjust | None = None) -> StackedRow | None:
    """A bar with the interval of its first share; None where one is unknown. `adjust` makes shares of the values."""
    values = [one.value for one in shares if one is not None and one.value is not None]
    if len(values) < len(shares) or shares[0] is None:
        return None
    low, high = shares[0].low, shares[0].high
    return StackedRow(label, adjust(values) if adjust else values, None if low is None or high is None else (low, high))


def dot_figure(
    sheet: Sheet,
    what: str,
    title: str,
    caption: str,
    panels: Sequence[DotPanel],
    rows: Sequence[DotRow],
    legend: Legend = (),
    *,
    cell: str = "",
    label: str = "",
) -> Figure:
    """Dots with intervals; of one direction, one system, or all that the sheet has."""

    def draw(canvas: Canvas) -> None:
        charts.dots(canvas, panels, rows, charts.legend(canvas, legend, 0))

    name = sheet.name_of(cell or sheet.benchmark, what, label)
    return figure(name, title, caption, cell or sheet.benchmark, draw)


def rows_by_system(sheet: Sheet, rows_of: Callable[[str, Result], Iterable[DotRow]]) -> list[DotRow]:
    """The rows of each direction, below the name of their system where there are several."""
    rows: list[DotRow] = []
    for label in sheet.labels:
        own = [row for cell, found in sheet.cells.items() if label in found for row in rows_of(cell, found[label])]
        rows += [*([DotRow(label)] if own and sheet.title_of(label) else []), *own]
    return rows


def marks(result: Result, looks: Mapping[tuple[str, str], charts.Look]) -> list[tuple[charts.Span, charts.Look]]:
    """Those of some estimates that a result has, given as metric and slice, with how each is drawn."""
    return [(found, look) for (metric, part), look in looks.items() if (found := span(result, metric, part))]


# -- all of it ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Examples:
    """A few sentences, with numbers of their own for every system."""

    caption: str
    items: Sequence[str]
    """Their ids."""
    columns: Mapping[str, str]
    """Head of a column -> name of a measure of a judgement."""


@dataclass(frozen=True)
class TwoRates:
    """How women and men fare, in one number each: what a verdict says first and its picture draws. `metric:slice`."""

    men: str
    women: str = ""
    """Without it, women are all who do not become men."""
    gap: str = field(kw_only=True)
    """Above 0 where men fare better, or become more: a headline metric, so that systems are compared by it."""
    source_tells: bool = True
    """Whether the source tells the gender, which can be kept; or leaves it open, so that people become men or women."""

    @property
    def what(self) -> str:
        """What those do whom the two count."""
        return "keep their gender" if self.source_tells else "come out so"


@dataclass(frozen=True)
class Presentation:
    """Everything that a benchmark says about its results."""

    findings: Callable[[Result], list[Finding]] = lambda result: []  # noqa: ARG005
    """Sentences about one result, accuracy first. Without any, the headline numbers are given."""
    forms: Callable[[Sequence[Cell]], list[Form]] = lambda cells: []  # noqa: ARG005
    """The tables of its paper, filled with what was run."""
    figures: Sequence[Callable[[Sheet], Iterator[Figure]]] = ()
    two_rates: TwoRates | None = None
    open_rates: TwoRates | None = None
    """The same for people of unspecified gender, where its sentences have people of both kinds."""
    opens: int = 0
    """Of benchmarks that could open a report, the one with the largest does. Never changed for a result."""
    leading: str = ""
    """The metric by which one sentence compares two systems, if not the first headline metric: `metric:slice`."""
    also_shown: Sequence[str] = ()
    """Beside the headline metrics: the numbers that its findings speak of, `metric:slice`."""
    beside_published: Sequence[str] = ()
    """Metrics that are drawn beside what papers printed, `metric:slice`."""
    published: str = ""
    """What papers printed: a TOML file, `package/file`."""
    examples: Callable[[Sequence[Judgement]], Examples | None] = lambda judgements: None  # noqa: ARG005
    hidden_tags: frozenset[str] = field(default_factory=frozenset)
    """Tags that are of use to the program only."""
    context_tag: str = ""
    """The tag that has the sentence before."""
    may_leave_open: bool = False
    """Whether a translation that shows no gender is as good as any: the source says nothing of it."""
    suspected: Callable[[Result], str] = lambda result: ""  # noqa: ARG005
    """Errors in single sentences, in a few words, which open a report that has too few people for a comparison."""
    shares_one_scale: bool = True
    """Whether its headline numbers are drawn on one scale."""

    @property
    def sides(self) -> TwoRates | None:
        """Women and men apart, where the source tells who is who."""
        return self.two_rates if self.two_rates is not None and self.two_rates.source_tells else None
