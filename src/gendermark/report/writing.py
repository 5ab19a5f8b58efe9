"""Tables of results as Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gendermark.records import Table
from gendermark.result import Result, interval, number
from gendermark.textfiles import write_text

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
}
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\|`*<"})


def render(runs: Mapping[str, Sequence[Result]], format_: str) -> str:
    """The results of several runs side by side; `runs` maps each run's name to its results."""
    if format_ == "csv":
        return _csv(_long_table(runs))
    if format_ == "json":
        content = {"runs": {name: [result.to_json() for result in results] for name, results in runs.items()}}
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    write = _markdown if format_ == "md" else _latex
    parts = [write(table, notes) for table, notes in _side_by_side(runs)]
    return "\n".join(parts)


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
                (*where, e.metric, e.slice, e.value, e.low, e.high, e.n_judged, e.n_total, r.signature)
                for e in r.estimates
            )
    return Table("estimates", "Estimates", (*columns, "n_judged", "n_total", "signature"), rows)


def _side_by_side(runs: Mapping[str, Sequence[Result]]) -> list[tuple[Table, list[str]]]:
    """One table per cell: a row per metric and slice, a column per run."""
    names = _column_names(runs)
    tables = []
    # Other data or other rules are other numbers: they get a table of their own.
    for title in dict.fromkeys(_title(result) for results in runs.values() for result in results):
        present = {name: result for name, results in runs.items() for result in results if _title(result) == title}
        keys = dict.fromkeys((e.metric, e.slice) for result in present.values() for e in result.estimates)
        rows = []
        for metric, part in keys:
            values = []
            for result in present.values():
                found = next((e for e in result.estimates if (e.metric, e.slice) == (metric, part)), None)
                values.append(f"{number(found.value, metric)} {interval(found)}" if found else "–")
            rows.append((metric, part, *values))
        notes = [f"{names[name]}: {result.signature}" for name, result in present.items()]
        cell = next(iter(present.values())).cell
        tables.append((Table(cell, title, ("metric", "slice", *(names[name] for name in present)), rows), notes))
    return tables


def _title(result: Result) -> str:
    return f"{result.cell} ({result.selection.data} data, rules {result.selection.rules})"


def _column_names(runs: Mapping[str, Sequence[Result]]) -> dict[str, str]:
    """The system's name; the folder too where two runs are of the same system."""
    systems = {name: results[0].system if results else name for name, results in runs.items()}
    seen = list(systems.values())
    return {name: system if seen.count(system) == 1 else f"{system} ({name})" for name, system in systems.items()}


def _markdown(table: Table, notes: Sequence[str]) -> str:
    def line(cells: Sequence[Any]) -> str:
        return "| " + " | ".join(_one_line(cell).translate(_MARKDOWN) for cell in cells) + " |"

    rule = line(["---", "---", *["---:"] * (len(table.columns) - 2)])
    lines = [f"## {table.title}", "", line(table.columns), rule, *(line(row) for row in table.rows), ""]
    quoted = [_one_line(note).replace("`", "'") for note in notes]
    return "\n".join([*lines, *(f"- `{note}`" for note in quoted), ""])


def _latex(table: Table, notes: Sequence[str]) -> str:
    def line(cells: Sequence[Any]) -> str:
        return " & ".join(latex_escaped(_one_line(cell)) for cell in cells) + r" \\"

    columns = "ll" + "r" * (len(table.columns) - 2)
    return "\n".join(
        [
            *(f"% {_one_line(note)}" for note in notes),
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            line(table.columns),
            r"\midrule",
            *(line(row) for row in table.rows),
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{latex_escaped(table.title)}}}",
            r"\end{table}",
            "",
        ]
    )


def _one_line(cell: Any) -> str:
    """A name may have a line break in it, which would end a table's row, or LaTeX's comment."""
    return " ".join(str(cell).split())


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
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
