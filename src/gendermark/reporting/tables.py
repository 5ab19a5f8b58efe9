"""Tables of results: those of the papers, every estimate side by side, and CSV and JSON for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from gendermark import registry
from gendermark.benchmarks.findings import Cell, Form, Place
from gendermark.io.textfiles import harmless_cell, write_text
from gendermark.records import Estimate
from gendermark.records import Table as Values
from gendermark.reporting import latex, markdown
from gendermark.reporting.charts import confidence_of
from gendermark.reporting.document import Inline, Number, Section, Table, Text, plain
from gendermark.result import Result, run_labels
from gendermark.runs.compare import condition_labels, described, key_of


def render(runs: Mapping[str, Sequence[Result]], format_: str) -> str:
    """The results of several runs side by side; `runs` maps each run's name to its results."""
    if format_ == "csv":
        return _csv(_long_table(runs))
    if format_ == "json":
        content = {"runs": {name: [result.to_json() for result in results] for name, results in runs.items()}}
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    sections = [*_paper_tables(runs), *_side_by_side(runs)]
    return markdown.render(sections) if format_ == "md" else latex.render(sections)


def write_tables(directory: Path, result: Result) -> None:
    """Write every detailed table of a result as `CELL.NAME.csv`."""
    for table in result.tables:
        write_text(directory / f"{result.cell}.{table.name}.csv", _csv(table))


def find(result: Result | None, metric: str, part: str = "all") -> Estimate | None:
    """An estimate, with or without a value."""
    estimates = result.estimates if result is not None else ()
    return next((e for e in estimates if (e.metric, e.slice) == (metric, part)), None)


def form_table(
    form: Form, caption: str, name_of: Callable[[int], Inline], number: Callable[[Place], Number], *, grouped: bool
) -> Table:
    """A paper's table, filled; `grouped` puts the systems above their columns."""

    def head(run: int | None, text: str) -> Text:
        who = name_of(run) if run is not None else ""
        return [who, ", ", text] if who and text else who or text

    return Table(
        [form.corner, *form.columns],
        [[head(row.run, row.text), *(number(p) if p is not None else "" for p in row.values)] for row in form.rows],
        caption,
        [name_of(run) for run in form.runs] if grouped else (),
        name=form.name,
    )


def _paper_tables(runs: Mapping[str, Sequence[Result]]) -> list[Section]:
    """In the forms that the papers have; other data or other rules have tables of their own."""
    names = list(run_labels(runs).values())
    apart = condition_labels([result for results in runs.values() for result in results])
    grouped: dict[tuple[str, str], dict[str, list[Result | None]]] = {}
    for number, results in enumerate(runs.values()):
        for result in results:
            conditions = described(result, apart[key_of(result)])
            cells = grouped.setdefault((result.selection.benchmark, conditions), {})
            cells.setdefault(result.cell, [None] * len(runs))[number] = result
    found = [
        (f"{benchmark} ({conditions})", table)
        for (benchmark, conditions), cells in grouped.items()
        for form in registry.load("benchmark", benchmark).presentation.forms(list(cells.values()))
        if (table := _filled(form, conditions, list(cells.values()), names)) is not None
    ]
    return [Section(title, [table for _, table in own]) for title, own in groupby(found, key=lambda one: one[0])]


def _filled(form: Form, conditions: str, cells: Sequence[Cell], names: Sequence[str]) -> Table | None:
    """A form with its numbers; None where it has none."""

    def number(place: Place) -> Number:
        return Number(find(cells[place.cell][place.run], place.metric, place.slice), place.with_interval)

    first = next(result for cell in cells for result in cell if result is not None)
    caption = f"{form.caption} {conditions.capitalize()}; in brackets: {confidence_of(first)}."
    table = form_table(form, caption, lambda run: names[run], number, grouped=len(names) > 1)
    numbers = [cell for row in table.rows for cell in row if isinstance(cell, Number)]
    if any(one.fixed_interval for one in numbers):
        second = "The second interval is for other sentences about the same groups, such as occupations."
        table = replace(table, caption=f"{caption} {second}")
    return table if any(one.value != "–" for one in numbers) else None


def _side_by_side(runs: Mapping[str, Sequence[Result]]) -> list[Section]:
    """A table for each cell: a row per metric and slice, a column per run."""
    names = run_labels(runs)
    sections = []
    # What was measured otherwise has other numbers: it gets a table of its own.
    for key, label in condition_labels([result for results in runs.values() for result in results]).items():
        present = {name: result for name, results in runs.items() for result in results if key_of(result) == key}
        first = next(iter(present.values()))
        keys = dict.fromkeys((e.metric, e.slice) for result in present.values() for e in result.estimates)
        rows = [(*key, *(plain(Number(find(result, *key))) for result in present.values())) for key in keys]
        columns = ("metric", "slice", *(names[name] for name in present))
        notes = [f"{names[name]}: {result.signature}" for name, result in present.items()]
        table = Table(columns, rows, n_text=2, name=first.cell, notes=notes)
        sections.append(Section(f"{first.cell} ({described(first, label)})", [table]))
    return sections


# -- for programs ------------------------------------------------------------------------------------------------------


def _long_table(runs: Mapping[str, Sequence[Result]]) -> Values:
    where = ("run", "benchmark", "source_language", "language", "data", "rules", "system")
    numbers = ("metric", "slice", "value", "low", "high", "fixed_low", "fixed_high", "n_judged", "n_total")
    rows: list[tuple[Any, ...]] = []
    for name, results in runs.items():
        for r in results:
            s = r.selection
            own = (name, s.benchmark, s.source_language, s.target_language, s.data, s.rules, r.system)
            rows.extend((*own, *(getattr(e, key) for key in numbers), r.signature, r.called) for e in r.estimates)
    return Values("estimates", "Estimates", (*where, *numbers, "signature", "name"), rows)


def _csv(table: Values) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(
        ["" if cell is None else harmless_cell(cell) if isinstance(cell, str) else cell for cell in row]
        for row in table.rows
    )
    return buffer.getvalue()
