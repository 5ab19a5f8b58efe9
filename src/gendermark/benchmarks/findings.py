"""What a benchmark reports: findings, the tables of its paper, figures.

Each benchmark's `findings.py` combines these; reports use them without knowing benchmarks by name. Sentences are built
from the phrases in `reporting/phrases.py`.
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
from gendermark.result import Result
from gendermark.selection import Selection

# -- tables of papers --------------------------------------------------------------------------------------------------

Cell = Sequence[Result | None]
"""One benchmark and direction: its result in each run, or None."""
Made = Mapping[str, Callable[[Result], Estimate | None]]
NOTHING_MADE: Made = {}


class Place(NamedTuple):
    """A number of a table: its cell, run and metric."""

    cell: int
    run: int
    metric: str
    slice: str = "all"
    with_interval: bool = True


@dataclass(frozen=True)
class Row:
    """A row headed by a run, a text, or both. Estimates are values not stored in the run."""

    values: Sequence[Place | Estimate | None]
    run: int | None = None
    text: str = ""


@dataclass(frozen=True)
class Form:
    """A table; with `runs`, all columns are repeated for each run."""

    name: str
    """For the LaTeX label: benchmark and number of the paper's table."""
    caption: str
    columns: Sequence[str]
    rows: Sequence[Row]
    runs: Sequence[int] = ()
    corner: str = ""


def direction_of(cell: Cell) -> str:
    return charts.direction(next(result for result in cell if result is not None).cell)


def runs_of(cells: Sequence[Cell]) -> list[int]:
    return [run for run in range(len(cells[0])) if any(cell[run] is not None for cell in cells)]


def rows_by_direction(cells: Sequence[Cell], metrics: Sequence[str]) -> list[Row]:
    return [
        Row([Place(number, run, metric) for run in runs_of(cells) for metric in metrics], text=direction_of(cell))
        for number, cell in enumerate(cells)
    ]


def rows_by_run(cells: Sequence[Cell], columns: Sequence[tuple[str, str]]) -> list[Row]:
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
    columns = _described_tables(package)[name]["columns"]
    return {head: key_from(metric) for head, metric in columns.items() if metric}


def paper_tables(package: str, cells: Sequence[Cell], prefix: str = "", made: Made = NOTHING_MADE) -> list[Form]:
    """The tables in a package's `tables.toml` with this name prefix, except those by slice.

    `made`: heading -> estimate, for columns that are not metrics; omitted if no run has them.
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
    """A table of `tables.toml` for each direction, with a row for each of these slices."""
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
    label: str = "",
) -> Figure:
    """Stacked bars of shares, in titled parts; `fills` has name and fill of each share."""

    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, list(fills.items()), 0)
        charts.stacked(canvas, parts, tuple(fills.values()), top, note)

    return figure(sheet.name_of(cell, what, label), title, caption, cell, draw)


def stacked_row(label: str, shares: Sequence[Estimate | None], adjust: Adjust | None = None) -> StackedRow | None:
    """A bar with the interval of its first share; None if a share is unknown. `adjust` turns values into shares."""
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
    """Dots with intervals, for one direction, one system, or all."""

    def draw(canvas: Canvas) -> None:
        charts.dots(canvas, panels, rows, charts.legend(canvas, legend, 0))

    name = sheet.name_of(cell or sheet.benchmark, what, label)
    return figure(name, title, caption, cell or sheet.benchmark, draw)


def rows_by_system(sheet: Sheet, rows_of: Callable[[str, Result], Iterable[DotRow]]) -> list[DotRow]:
    rows: list[DotRow] = []
    for label in sheet.labels:
        own = [row for cell, found in sheet.cells.items() if label in found for row in rows_of(cell, found[label])]
        rows += [*([DotRow(label)] if own and sheet.title_of(label) else []), *own]
    return rows


def marks(result: Result, looks: Mapping[tuple[str, str], charts.Look]) -> list[tuple[charts.Span, charts.Look]]:
    return [(found, look) for (metric, part), look in looks.items() if (found := span(result, metric, part))]


# -- all of it ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Examples:
    """A few sentences, with values for every system."""

    caption: str
    items: Sequence[str]
    """Item ids."""
    columns: Mapping[str, str]
    """Column heading -> name of a measure of a judgement."""


@dataclass(frozen=True)
class TwoRates:
    """One rate each for women and men, as `metric:slice`: the basis of verdicts and their chart."""

    men: str
    women: str = ""
    """If empty, women are all people not rendered as men."""
    gap: str = field(kw_only=True)
    """Headline metric that is positive if men fare better, or are chosen more often; systems are compared by it."""
    source_tells: bool = True
    """Whether the source specifies gender, which can be kept, or leaves it open."""
    among: str = "people whose translation shows one gender"
    """The people that the rates are shares of, if the source leaves their gender open."""

    @property
    def what(self) -> str:
        return "keep their gender" if self.source_tells else "come out so"


@dataclass(frozen=True)
class Presentation:
    """Everything that a benchmark reports about its results."""

    findings: Callable[[Result], list[Finding]] = lambda result: []  # noqa: ARG005
    """Sentences about one result, accuracy first; by default the headline numbers."""
    forms: Callable[[Sequence[Cell]], list[Form]] = lambda cells: []  # noqa: ARG005
    """The tables of its paper, filled with the results."""
    figures: Sequence[Callable[[Sheet], Iterator[Figure]]] = ()
    two_rates: TwoRates | None = None
    open_rates: TwoRates | None = None
    """The rates for people of unspecified gender, if its sentences have both kinds."""
    opens: int = 0
    """Priority for opening a report: the highest wins, whatever the results."""
    leading: str = ""
    """The metric for a one-sentence comparison of two systems, if not the first headline metric: `metric:slice`."""
    also_shown: Sequence[str] = ()
    """Metrics that its findings mention, beyond the headline ones: `metric:slice`."""
    beside_published: Sequence[str] = ()
    """Metrics plotted beside published values: `metric:slice`."""
    published: str = ""
    """Published values: a TOML file, `package/file`."""
    examples: Callable[[Sequence[Judgement]], Examples | None] = lambda judgements: None  # noqa: ARG005
    hidden_tags: frozenset[str] = field(default_factory=frozenset)
    """Internal tags."""
    context_tag: str = ""
    """Tag of the previous sentence."""
    may_leave_open: bool = False
    """Whether a translation that shows no gender is equally good, as the source specifies none."""
    suspected: Callable[[Result], str] = lambda result: ""  # noqa: ARG005
    """Errors in single sentences, in a few words, to open a report with too few people for a comparison."""
    caveat: Callable[[Selection], str] = lambda selection: ""  # noqa: ARG005
    """How a setting changes what the numbers mean, in a few words."""
    shares_one_scale: bool = True
    """Whether its headline numbers share one scale."""

    @property
    def sides(self) -> TwoRates | None:
        return self.two_rates if self.two_rates is not None and self.two_rates.source_tells else None
