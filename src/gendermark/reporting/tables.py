"""Reports of runs in every format: tables of the papers, all estimates side by side, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.benchmarks.findings import Cell, Form, Place, rows_by_run
from gendermark.errors import UnknownName, UserError
from gendermark.io.textfiles import harmless_cell, write_text
from gendermark.metrics.verdicts import ALPHA, State
from gendermark.records import Estimate, level_of
from gendermark.records import Table as Values
from gendermark.reporting import latex
from gendermark.reporting.document import Inline, Number, Section, Table, Text, plain
from gendermark.reporting.text import markdown
from gendermark.result import Result, run_labels
from gendermark.runs.compare import compare, condition_labels, described, key_of, metric_names
from gendermark.runs.folder import Run


def render(runs: Mapping[str, Sequence[Result]], format_: str, metrics: Sequence[str] = ()) -> str:
    """The results of several runs side by side; `runs` maps each run's name to its results.

    LaTeX has the tables of the papers, or of the requested metrics; Markdown adds every estimate.
    """
    if format_ == "yaml":
        text: str = import_module("gendermark.adapters.exports").eval_results(runs)
        return text
    if format_ == "csv":
        return _csv(_long_table(runs))
    if format_ == "json":
        content = {"runs": {name: [result.to_json() for result in results] for name, results in runs.items()}}
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    _check_metrics(runs, metrics)
    if format_ == "latex":
        return latex.render(_paper_tables(runs, metrics, is_for_print=True))
    return markdown(_paper_tables(runs, metrics) if metrics else [*_paper_tables(runs), *_all_estimates(runs)])


def _check_metrics(runs: Mapping[str, Sequence[Result]], metrics: Sequence[str]) -> None:
    every = [(one.selection.benchmark, e) for results in runs.values() for one in results for e in one.estimates]
    for name in metrics:
        if not any(name in metric_names(benchmark, e.metric, e.slice) for benchmark, e in every):
            raise UnknownName("metric", name, dict.fromkeys(f"{e.metric}:{e.slice}" for _, e in every))


def write_tables(directory: Path, result: Result) -> None:
    for table in result.tables:
        write_text(directory / f"{result.cell}.{table.name}.csv", _csv(table))


def find(result: Result | None, metric: str, part: str = "all") -> Estimate | None:
    estimates = result.estimates if result is not None else ()
    return next((e for e in estimates if (e.metric, e.slice) == (metric, part)), None)


def side_by_side(runs: Sequence[Sequence[Result]]) -> list[tuple[str, list[Result | None]]]:
    """The results of several runs measured alike, each with a label that distinguishes it from others of its cell."""
    by_key = [{key_of(result): result for result in results} for results in runs]
    labels = condition_labels([result for results in runs for result in results])
    return [(label, [own.get(key) for own in by_key]) for key, label in labels.items()]


def form_table(
    form: Form, caption: str, name_of: Callable[[int], Inline], number: Callable[[Place], Number], *, grouped: bool
) -> Table:
    """A paper's table, filled; `grouped` puts the systems above their columns."""

    def head(run: int | None, text: str) -> Text:
        who = name_of(run) if run is not None else ""
        return [who, ", ", text] if who and text else who or text

    def cell(value: Place | Estimate | None) -> Number | str:
        return number(value) if isinstance(value, Place) else Number(value) if value is not None else ""

    return Table(
        [form.corner, *form.columns],
        [[head(row.run, row.text), *map(cell, row.values)] for row in form.rows],
        caption,
        [name_of(run) for run in form.runs] if grouped else (),
        name=form.name,
    )


def _paper_tables(
    runs: Mapping[str, Sequence[Result]], metrics: Sequence[str] = (), *, is_for_print: bool = False
) -> list[Section]:
    """Tables in the papers' layout, or of these metrics; other data or rules get separate tables."""
    names = list(run_labels(runs).values())
    grouped: dict[tuple[str, str], list[Cell]] = {}
    for label, cell in side_by_side(list(runs.values())):
        first = next(filter(None, cell))
        grouped.setdefault((first.selection.benchmark, described(first, label)), []).append(cell)
    found = []
    for (benchmark, conditions), own in grouped.items():
        marks = _Marks(own, names) if is_for_print else None
        forms = [] if metrics else registry.load("benchmark", benchmark).presentation.forms(own)
        if metrics or (is_for_print and not forms):
            forms = [_asked_form(own, metrics)]
        tables = [_filled(form, conditions, own, names, marks) for form in forms]
        found += [(f"{benchmark} ({conditions})", table) for table in tables if table is not None]
    return [Section(title, [table for _, table in own]) for title, own in groupby(found, key=lambda one: one[0])]


def _asked_form(cells: Sequence[Cell], metrics: Sequence[str]) -> Form:
    first = next(result for cell in cells for result in cell if result is not None)
    benchmark: Benchmark = registry.load("benchmark", first.selection.benchmark)
    wanted = metrics or benchmark.measures.headline
    keys = [
        (e.metric, e.slice)
        for name in wanted
        for e in first.estimates
        if name in metric_names(benchmark.name, e.metric, e.slice)
    ]
    shorts = [(benchmark.describe(metric).short, part) for metric, part in keys]
    heads = [short if part == "all" else f"{short}, {part}" for short, part in shorts]
    return Form(f"{benchmark.name}-metrics", f"{benchmark.title}.", heads, rows_by_run(cells, keys))


class _Marks:
    """Marks in print: the best of several systems, and significance."""

    def __init__(self, cells: Sequence[Cell], names: Sequence[str]) -> None:
        self._cells = cells
        self._first = names[0] if names else ""
        self._differs: set[tuple[int, str, str, str]] = set()
        for run in range(1, len(names)):
            both = [(cell[0], cell[run]) for cell in cells if cell[0] is not None and cell[run] is not None]
            if both:
                compared = compare([one for one, _ in both if one], [two for _, two in both if two], leave_out=True)
                for one in compared.comparisons:
                    if one.p_adjusted is not None and one.p_adjusted < ALPHA:
                        self._differs.add((run, one.cell, one.metric, one.slice))

    def number(self, place: Place) -> Number:
        result = self._cells[place.cell][place.run]
        found = find(result, place.metric, place.slice)
        if result is None or found is None or found.value is None:
            return Number(found, place.with_interval)
        key = (place.metric, place.slice)
        is_bias = any((v.metric, v.slice) == key and v.state is State.SIGNIFICANT for v in result.verdicts)
        marks = ("*" if is_bias else "") + ("†" if (place.run, result.cell, *key) in self._differs else "")
        return Number(found, place.with_interval, is_best=found.shown in self._best(place), marks=marks)

    def _best(self, place: Place) -> set[str]:
        """The best systems as displayed; empty if all are equal, or no direction is better."""
        rank = {"higher": lambda x: -x, "lower": lambda x: x, "zero": abs}
        cell = self._cells[place.cell]
        first = next(filter(None, cell))
        better = registry.load("benchmark", first.selection.benchmark).describe(place.metric).better
        there = [e for result in cell if (e := find(result, place.metric, place.slice)) and e.value is not None]
        if better not in rank or len({e.shown for e in there}) < 2:
            return set()
        best = min(rank[better](e.value) for e in there)
        return {e.shown for e in there if rank[better](e.value) == best}

    def legend(self, numbers: Sequence[Number]) -> str:
        used = "".join(one.marks for one in numbers)
        parts = ["bold: best of the systems"] if any(one.is_best for one in numbers) else []
        if "*" in used:
            parts.append("*: bias significant (p < 0.05 after Holm's correction)")
        if "†" in used:
            parts.append(f"†: differs significantly from {self._first} (headline metrics, likewise)")
        return "; ".join(parts)

    def signatures(self, names: Sequence[str]) -> list[str]:
        every = [(names[run], one) for cell in self._cells for run, one in enumerate(cell) if one is not None]
        return [f"{name}: {result.signature}" for name, result in every]


def _filled(
    form: Form, conditions: str, cells: Sequence[Cell], names: Sequence[str], marks: _Marks | None = None
) -> Table | None:
    def number(place: Place) -> Number:
        if marks is not None:
            return marks.number(place)
        return Number(find(cells[place.cell][place.run], place.metric, place.slice), place.with_interval)

    first = next(result for cell in cells for result in cell if result is not None)
    caption = f"{form.caption} {conditions.capitalize()}; in brackets: {level_of(first.signature)}."
    table = form_table(form, caption, lambda run: names[run], number, grouped=len(names) > 1)
    numbers = [cell for row in table.rows for cell in row if isinstance(cell, Number)]
    if any(one.fixed_interval for one in numbers):
        caption += " The second interval is for other sentences about the same groups, such as occupations."
    if marks is not None and (legend := marks.legend(numbers)):
        caption += f" {legend[0].upper()}{legend[1:]}."
    table = replace(table, caption=caption, notes=marks.signatures(names) if marks else table.notes)
    return table if any(one.value != "–" for one in numbers) else None


def _all_estimates(runs: Mapping[str, Sequence[Result]]) -> list[Section]:
    """A table for each cell: a row per metric and slice, a column per run."""
    names = run_labels(runs).values()
    sections = []
    for label, cell in side_by_side(list(runs.values())):
        present = {name: result for name, result in zip(names, cell, strict=True) if result is not None}
        first = next(iter(present.values()))
        keys = dict.fromkeys((e.metric, e.slice) for result in present.values() for e in result.estimates)
        rows = [(*key, *(plain(Number(find(result, *key))) for result in present.values())) for key in keys]
        columns = ("metric", "slice", *present)
        notes = [f"{name}: {text}" for name, result in present.items() for text in (result.signature, *result.unsound)]
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


FORMATS = {"html": ".html", "md": ".md", "latex": ".tex", "csv": ".csv", "json": ".json", "yaml": ".yaml"}


def format_of(path: Path) -> str:
    for name, ending in FORMATS.items():
        if path.suffix.lower() in (ending, ".htm" if name == "html" else ending):
            return name
    endings = ", ".join(FORMATS.values())
    raise UserError(f"unknown report format of {path}; use a file name that ends in one of {endings}")


def check_format(format_: str) -> None:
    if format_ not in FORMATS:
        raise UnknownName("report format", format_, FORMATS)


def render_report(runs: Sequence[Run], format_: str, *, trend: bool = False, metrics: Sequence[str] = ()) -> str:
    check_format(format_)
    if metrics and format_ not in ("md", "latex"):
        raise UserError(f"only Markdown and LaTeX tables have columns to choose; {format_} has every metric")
    if format_ == "html":
        from gendermark.reporting.page import render_page

        return render_page(runs, trend=trend)
    return render({run.name: run.results for run in runs}, format_, metrics)
