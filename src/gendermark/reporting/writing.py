"""Tables of results as Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from gendermark import registry
from gendermark.benchmarks.findings import NO_SPREAD, Cell, Form, Place, Row
from gendermark.io.textfiles import FORMULA_STARTS, printable, write_text
from gendermark.records import Estimate, Table
from gendermark.reporting.charts import intervals_of
from gendermark.reporting.numbers import find, format_value
from gendermark.result import Result, run_labels
from gendermark.runs.compare import condition_labels, described, key_of

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",  # `\textquotedbl` is not in every encoding of fonts
    "…": r"\ldots{}",
    "→": r"$\rightarrow$",
    "Δ": r"$\Delta$",
}
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\|`*<!"})


def render(runs: Mapping[str, Sequence[Result]], format_: str) -> str:
    """The results of several runs side by side; `runs` maps each run's name to its results."""
    if format_ == "csv":
        return _csv(_long_table(runs))
    if format_ == "json":
        content = {"runs": {name: [result.to_json() for result in results] for name, results in runs.items()}}
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    if format_ == "md":
        groups = groupby(_paper_tables(runs), key=lambda table: table.title)
        papers = [
            "\n".join([f"## {_markdown_text(title)}\n", *map(_markdown_form, tables)]) for title, tables in groups
        ]
        return "\n".join([*papers, *(_markdown(table, notes) for table, notes in _side_by_side(runs))])
    labels = _Labels()
    papers = [_latex_form(part, labels) for form in _paper_tables(runs) for part in form.parts()]
    tables = [_latex(table, notes, labels) for table, notes in _side_by_side(runs)]
    return "\n".join([r"% needs \usepackage{booktabs}", *papers, *tables])


def write_tables(directory: Path, result: Result) -> None:
    """Every detailed table of a result as `CELL.NAME.csv`."""
    for table in result.tables:
        write_text(directory / f"{result.cell}.{table.name}.csv", _csv(table))


def _long_table(runs: Mapping[str, Sequence[Result]]) -> Table:
    columns = (
        "run",
        "benchmark",
        "source_language",
        "language",
        "data",
        "rules",
        "system",
        "metric",
        "slice",
        "value",
        "low",
        "high",
    )
    rows: list[tuple[Any, ...]] = []
    for name, results in runs.items():
        for r in results:
            s = r.selection
            where = (name, s.benchmark, s.source_language, s.target_language, s.data, s.rules, r.system)
            rows.extend(
                (*where, e.metric, e.slice, e.value, e.low, e.high, e.n_judged, e.n_total, r.signature, r.called)
                for e in r.estimates
            )
    return Table("estimates", "Estimates", (*columns, "n_judged", "n_total", "signature", "name"), rows)


def _side_by_side(runs: Mapping[str, Sequence[Result]]) -> list[tuple[Table, list[str]]]:
    """One table per cell: a row per metric and slice, a column per run."""
    names = run_labels(runs)
    tables = []
    # What was measured otherwise has other numbers: it gets a table of its own.
    apart = condition_labels([result for results in runs.values() for result in results])
    for key, label in apart.items():
        present = {name: result for name, results in runs.items() for result in results if key_of(result) == key}
        first = next(iter(present.values()))
        title = f"{first.cell} ({described(first, label)})"
        keys = dict.fromkeys((e.metric, e.slice) for result in present.values() for e in result.estimates)
        rows = []
        for metric, part in keys:
            values = []
            for result in present.values():
                found = next((e for e in result.estimates if (e.metric, e.slice) == (metric, part)), None)
                values.append(_amount(found))
            rows.append((metric, part, *values))
        notes = [f"{names[name]}: {result.signature}" for name, result in present.items()]
        tables.append((Table(first.cell, title, ("metric", "slice", *(names[name] for name in present)), rows), notes))
    return tables


def _amount(estimate: Estimate | None, *, with_interval: bool = True) -> str:
    """A number and its interval; a dash where there is no number."""
    if estimate is None or estimate.value is None:
        return "–"
    shown = format_value(estimate.value, estimate.unit)
    return f"{shown} {_interval(estimate)}".strip() if with_interval else shown


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    if estimate.low == estimate.high:
        return f"[{NO_SPREAD}]"
    return f"[{', '.join(format_value(end, estimate.unit) for end in (estimate.low, estimate.high))}]"


def _markdown(table: Table, notes: Sequence[str]) -> str:
    rule = markdown_line(["---", "---", *["---:"] * (len(table.columns) - 2)])
    rows = [markdown_line(row) for row in table.rows]
    lines = [f"## {_markdown_text(table.title)}", "", markdown_line(table.columns), rule, *rows, ""]
    quoted = [_one_line(note).replace("`", "'") for note in notes]
    return "\n".join([*lines, *(f"- `{note}`" for note in quoted), ""])


def _latex(table: Table, notes: Sequence[str], labels: _Labels) -> str:
    columns = "ll" + "r" * (len(table.columns) - 2)
    head, lines = [latex_line(table.columns)], [latex_line(row) for row in table.rows]
    written = latex_table("table*", columns, head, lines, table.title, labels.of(table.name))
    return "\n".join([*(f"% {_one_line(note)}" for note in notes), written])


def latex_table(kind: str, columns: str, head: Sequence[str], lines: Sequence[str], caption: str, label: str) -> str:
    return "\n".join(
        [
            rf"\begin{{{kind}}}",
            r"\centering",
            r"\footnotesize",
            r"\setlength{\tabcolsep}{3pt}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            *head,
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{latex_escaped(caption)}}}",
            rf"\label{{{label}}}",
            rf"\end{{{kind}}}",
            "",
        ]
    )


# -- the tables of the papers ------------------------------------------------------------------------------------------

_MOST_COLUMNS = 9
"""Of a table across both columns of a paper."""
_ONE_COLUMN = 3
"""So many fit in one of them."""


@dataclass(frozen=True)
class _PaperTable:
    """A form, and what its places mean: results by cell and run, and the names of the runs."""

    form: Form
    benchmark: str
    conditions: str
    cells: Sequence[Cell]
    names: Sequence[str]

    @property
    def title(self) -> str:
        return f"{self.benchmark} ({self.conditions})"

    @property
    def has_numbers(self) -> bool:
        places = [place for row in self.form.rows for place in row.values if place is not None]
        return any(estimate.value is not None for place in places if (estimate := self.estimate(place)))

    @property
    def caption(self) -> str:
        first = next(result for cell in self.cells for result in cell if result is not None)
        return f"{self.form.caption} {self.conditions.capitalize()}; in brackets: {intervals_of(first)}."

    def parts(self) -> list[_PaperTable]:
        return [replace(self, form=form) for form in self.form.parts(_MOST_COLUMNS)]

    def estimate(self, place: Place) -> Estimate | None:
        result = self.cells[place.cell][place.run]
        return find(result, place.metric, place.slice) if result is not None else None

    def head(self, row: Row) -> str:
        who = self.names[row.run] if row.run is not None else ""
        return ", ".join(text for text in (who, row.text) if text)

    def amount(self, place: Place | None, *, with_interval: bool) -> str:
        if place is None:
            return ""
        return _amount(self.estimate(place), with_interval=with_interval and place.with_interval)

    def interval(self, place: Place | None) -> str:
        estimate = self.estimate(place) if place is not None and place.with_interval else None
        return _interval(estimate) if estimate is not None and estimate.value is not None else ""


def _paper_tables(runs: Mapping[str, Sequence[Result]]) -> list[_PaperTable]:
    """In the forms that the papers have; other data or other rules have tables of their own."""
    names = list(run_labels(runs).values())
    apart = condition_labels([result for results in runs.values() for result in results])
    grouped: dict[tuple[str, str], dict[str, list[Result | None]]] = {}
    for number, results in enumerate(runs.values()):
        for result in results:
            conditions = described(result, apart[key_of(result)])
            cells = grouped.setdefault((result.selection.benchmark, conditions), {})
            cells.setdefault(result.cell, [None] * len(runs))[number] = result
    tables = [
        _PaperTable(form, benchmark, conditions, list(cells.values()), names)
        for (benchmark, conditions), cells in grouped.items()
        for form in registry.load("benchmark", benchmark).presentation.forms(list(cells.values()))
    ]
    return [table for table in tables if table.has_numbers]


def _markdown_form(table: _PaperTable) -> str:
    form = table.form
    columns = list(form.columns)
    if form.runs and len(table.names) > 1:
        columns = [f"{table.names[run]}: {column}" for run in form.runs for column in form.columns]
    rows = [[table.head(row), *(table.amount(place, with_interval=True) for place in row.values)] for row in form.rows]
    lines = [markdown_line([form.corner, *columns]), markdown_line(["---", *["---:"] * len(columns)])]
    return "\n".join([_markdown_text(table.caption), "", *lines, *map(markdown_line, rows), ""])


def _latex_form(table: _PaperTable, labels: _Labels) -> str:
    """Numbers in one line, their intervals in small letters in the next."""
    form = table.form
    columns = list(form.columns) * max(len(form.runs), 1)
    heads = [latex_line([form.corner, *columns])]
    if form.runs and len(table.names) > 1:
        n = len(form.columns)
        groups = [rf"\multicolumn{{{n}}}{{c}}{{{_latex_cell(table.names[run])}}}" for run in form.runs]
        rules = [rf"\cmidrule(lr){{{2 + n * at}-{1 + n * (at + 1)}}}" for at in range(len(form.runs))]
        heads = [" & ".join(["", *groups]) + r" \\", "".join(rules), *heads]
    lines = []
    for row in form.rows:
        lines.append(latex_line([table.head(row), *(table.amount(p, with_interval=False) for p in row.values)]))
        intervals = [table.interval(place) for place in row.values]
        if any(intervals):
            # Of numbers without a spread there is no interval to show.
            known = ["" if NO_SPREAD in text else text for text in intervals]
            small = [rf"{{\tiny {_latex_cell(text)}}}" if text else "" for text in known]
            lines.append(" & ".join(["", *small]) + r" \\")
    kind = "table" if len(columns) <= _ONE_COLUMN else "table*"
    return latex_table(kind, "l" + "r" * len(columns), heads, lines, table.caption, labels.of(form.name))


class _Labels:
    """Names to refer to a table by; no two are the same."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def of(self, name: str) -> str:
        label, number = f"tab:{name}", 1
        while label in self._given:
            number += 1
            label = f"tab:{name}-{number}"
        self._given.add(label)
        return label


# -- texts -------------------------------------------------------------------------------------------------------------


def markdown_line(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(map(_markdown_text, cells)) + " |"


def _markdown_text(text: Any) -> str:
    """As it is, whatever it holds: a name must make neither a link nor an image that is fetched from elsewhere."""
    return _one_line(text).translate(_MARKDOWN).replace("](", "]\\(").replace("][", "]\\[")


def latex_line(cells: Sequence[Any]) -> str:
    line = " & ".join(map(_latex_cell, cells))
    # The end of the line before would take these for an option of its own.
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"


def _latex_cell(cell: Any) -> str:
    return latex_escaped(_one_line(cell))


def _one_line(cell: Any) -> str:
    """A name may have a line break in it, which would end a table's row, or LaTeX's comment; or escapes."""
    return printable(str(cell))


def latex_escaped(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _csv(table: Table) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(["" if cell is None else _harmless(cell) for cell in row] for row in table.rows)
    return buffer.getvalue()


def _harmless(cell: Any) -> Any:
    """A text that a spreadsheet would run as a formula is quoted; translations are untrusted."""
    if not isinstance(cell, str):
        return cell
    text = _one_line(cell)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
