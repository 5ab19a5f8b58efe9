"""What the command line prints: data to stdout, everything else to stderr; tables for people, tabs for programs."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from gendermark.io.progress import told_in_lines
from gendermark.io.textfiles import disarmed

if TYPE_CHECKING:  # `gendermark --help` loads this module
    from gendermark.records import Estimate, Test
    from gendermark.result import Result
    from gendermark.runs.executors import Executor
    from gendermark.runs.run import RunContext

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

MOST_FINDINGS = 3
LONGEST_TABLE = 8
_ESTIMATE = ("metric", "value", "interval", "judged", "groups", "p")
_COLUMNS = ("benchmark", "direction", "system", "metric", "slice", "value", "low", "high", "n_judged", "n_total")
_HIDDEN_COMMAND = re.compile(r"\n\s*::")


def say(message: str) -> None:
    """A message for the person at the terminal.

    File names and other programs' words are in it: what a terminal would obey is not printed, and no line but the first
    can be a command of GitHub's.
    """
    typer.echo(_HIDDEN_COMMAND.sub(" ::", disarmed(message)), err=True)


def echo(text: str = "", *, nl: bool = True) -> None:
    """Data on stdout: as it is for a program; on a terminal, what that would obey is not printed."""
    typer.echo(disarmed(text) if is_terminal(sys.stdout) else text, nl=nl)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is at the other end; nobody is at a closed one. (A function so that tests can say yes.)"""
    return stream is not None and stream.isatty()


def print_json(value: Any) -> None:
    echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_text(text: str, indent: int = 0) -> None:
    """Prose on stdout, in lines that fit the terminal."""
    echo("\n".join(wrapped(text, shutil.get_terminal_size().columns, indent)))


def wrapped(text: str, width: int, indent: int = 0) -> list[str]:
    """Lines of at most this width; nothing is left out, and what is longer than a line goes on in the next."""
    from rich.console import Console
    from rich.text import Text

    console = Console(width=width)
    lines: list[str] = []
    for paragraph in text.split("\n"):
        start = " " * indent
        for line in Text(paragraph).wrap(console, max(width - indent - 2, 8)) or [Text("")]:
            lines.append(f"{start}{line.plain.rstrip()}".rstrip())
            start = " " * (indent + 2)
    return lines


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table: drawn on a terminal, tab-separated with a header line when piped.

    What is too wide for the terminal becomes a list, a block for each row: no number is ever cut.
    """
    cells = [[" ".join(str(cell).split()) if cell is not None else "" for cell in row] for row in rows]
    if not is_terminal(sys.stdout):
        # A tab or line break inside a cell (a file name may have one) would tear the table apart.
        echo("\n".join("\t".join(line) for line in ([*columns], *cells)))
        return
    width = shutil.get_terminal_size().columns
    lines = _drawn(columns, cells, width) or _listed(columns, cells, width)
    echo("\n".join([*(wrapped(title, width) if title else []), *lines, ""]))


_LEAST_PROSE = 30
"""The narrowest last column whose text is broken into lines."""


def _drawn(columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> list[str]:
    """Columns beside each other, the last in several lines if it is prose; nothing if they do not fit."""
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    n_needed = 2 * (len(columns) - 1)
    for place, column in enumerate(columns):
        is_number = bool(cells) and all(row[place][:1] in "0123456789-–−+[<" for row in cells if row[place])
        widest = max(cell_len(row[place]) for row in (columns, *cells))
        is_prose = place == len(columns) - 1 and not is_number
        least = min(widest, _LEAST_PROSE) if is_prose else widest
        table.add_column(Text(column), justify="right" if is_number else "left", min_width=least)
        n_needed += least
    if n_needed > width:
        return []
    for row in cells:
        table.add_row(*map(Text, row))
    console = Console(width=width, file=io.StringIO(), color_system=None)
    with console.capture() as captured:
        console.print(table)
    return [line.rstrip() for line in captured.get().splitlines()]


def _listed(columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> list[str]:
    """A block for each row: the first cell, then a line for every other that has something in it."""
    lines = []
    for row in cells:
        indent = 0
        for column, cell in zip(columns, row, strict=True):
            if cell:
                lines += wrapped(f"{column}: {cell}" if column else cell, width, indent)
                indent = 2
    return lines


@contextmanager
def open_workers(executor: str, n_pieces: int = 0) -> Iterator[Executor]:
    """The workers that `--executor` names; where they can be watched, and in the end how many were lost."""
    from gendermark.runs.executors import open_executor

    with open_executor(executor, n_pieces) as workers:
        if workers.dashboard:
            say(f"the workers can be watched at {workers.dashboard}")
        yield workers
        for note in workers.notes():
            say(note)


@contextmanager
def run_context(executor: str, store: Path | None = None, name: str = "", n_pieces: int = 0) -> Iterator[RunContext]:
    """What a run needs of the command line: workers, the store of translations, and where messages go."""
    from gendermark.runs.run import RunContext

    with open_workers(executor, n_pieces) as workers:
        yield RunContext(store, show_progress, say, name, workers)


@contextmanager
def show_progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Progress with the time left, on stderr: a bar on a terminal, a line now and then elsewhere."""
    if not is_terminal(sys.stderr):
        yield told_in_lines(title, say)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TextColumn
    from rich.text import Text

    class Told(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(progress_in_words(task.completed, task.total, task.time_remaining))

    columns = (TextColumn("{task.description}"), BarColumn(), Told(""))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def progress_in_words(done: float, total: float | None, seconds_left: float | None) -> str:
    """`128 of 1,200, 0:00:06 left`; nothing before anything is known."""
    if total is None:
        return ""
    left = "" if seconds_left is None else f", {timedelta(seconds=round(seconds_left))} left"
    return f"{done:,.0f} of {total:,.0f}{left}"


# -- results -----------------------------------------------------------------------------------------------------------


def print_results(results: Sequence[Result], all_rows: str = "", folders: Sequence[str] = ()) -> None:
    """All estimates: drawn tables on a terminal; one tab-separated table when piped.

    `all_rows` says where the rows of long tables are that are not drawn. `folders` are named where results of several
    runs are printed: they may be of one system.
    """
    from gendermark.reporting.phrases import lost_by_gender

    named = list(zip(results, folders or [""] * len(results), strict=True))
    for result, folder in named:
        for finding in lost_by_gender(result):
            say(f"{_cell(result, folder)}: {finding.text}")
    if is_terminal(sys.stdout):
        for result, folder in named:
            _draw(result, all_rows, folder)
    else:
        rows = [
            (*((folder,) if folders else ()), *_row(result, estimate))
            for result, folder in named
            for estimate in result.estimates
        ]
        print_table("", ("run", *_COLUMNS) if folders else _COLUMNS, rows)
    for result, folder in named:
        for warning in result.warnings:
            say(f"warning: {_cell(result, folder)}: {warning}")


def _cell(result: Result, folder: str) -> str:
    return f"{folder}, {result.cell}" if folder else result.cell


def _row(result: Result, e: Estimate) -> tuple[Any, ...]:
    where = result.selection.benchmark, result.selection.direction, result.system
    return *where, e.metric, e.slice, e.value, e.low, e.high, e.n_judged, e.n_total


def _draw(result: Result, all_rows: str, folder: str) -> None:
    selection = result.selection
    where = f"{folder}, {selection.benchmark}" if folder else selection.benchmark
    title = f"{where} {selection.direction}, {result.called}: {selection.data} data, rules {selection.rules}"
    whole = [_line(e) for e in result.estimates if e.slice == "all"]
    slices = dict.fromkeys(e.slice for e in result.estimates if e.slice != "all")
    by_slice = [(name, *_line(e)) for name in slices for e in result.estimates if e.slice == name]
    if whole:
        print_table(title, _ESTIMATE, whole)
    if by_slice:
        print_table("" if whole else title, ("slice", *_ESTIMATE), by_slice)
    for table in result.tables:
        shown, rows = table.title, table.rows
        if len(rows) > LONGEST_TABLE:
            shown += f" (first and last {LONGEST_TABLE // 2} of {len(rows):,}{all_rows})"
            rows = [*rows[: LONGEST_TABLE // 2], *rows[-LONGEST_TABLE // 2 :]]
        print_table(shown, table.columns, rows)
    for test in result.tests:
        say(_sentence(test))
    say(f"signature: {result.signature}")


def _line(e: Estimate) -> tuple[str, ...]:
    from gendermark.records import show_p

    p = "" if e.p_value is None else show_p(e.p_value)
    return e.metric, e.shown, e.interval, f"{e.n_judged:,} of {e.n_total:,}", f"{e.n_groups:,}", p


def _sentence(test: Test) -> str:
    from gendermark.records import show_p

    if test.p_value is None and test.statistic is not None and test.details.get("low") is not None:
        share = f"{test.statistic:.1f} [{test.details['low']:.1f}, {test.details['high']:.1f}]"
        return f"{test.question} {share} {test.details.get('statistic', '')}".strip()
    if test.p_value is None:
        return f"{test.question} Too little data to say."
    answer = "yes" if test.p_value < 0.05 else "not significant"
    return f"{test.question} {answer} (p {show_p(test.p_value)})"


def say_findings(results: Sequence[Result]) -> None:
    """The main findings: about one direction in some detail, about several the largest effect of each."""
    from gendermark import registry
    from gendermark.reporting.findings import concluded, findings, in_brief, main_finding, verdicts
    from gendermark.reporting.phrases import direction, lost_by_gender

    found = [concluded(result) for result in results]
    if not found:
        return
    benchmarks = {one.selection.benchmark: registry.load("benchmark", one.selection.benchmark) for one in found}
    opening = verdicts(found)
    sentences = [f"{benchmarks[name].title}: {text}" if len(opening) > 1 else text for name, text in opening.items()]
    if len(found) == 1:
        beside_the_table = {finding.text for finding in lost_by_gender(found[0])}
        texts = dict.fromkeys([*(finding.text for finding in in_brief(found[0])), *findings(found[0])])
        sentences += [text for text in texts if text not in beside_the_table]
    else:

        def effect(place: int) -> float:
            shown = benchmarks[found[place].selection.benchmark].presentation.findings(found[place])
            return max((finding.effect for finding in shown), default=0.0)

        largest = sorted(range(len(found)), key=effect, reverse=True)[:MOST_FINDINGS]
        for result in (found[place] for place in sorted(largest)):
            selection = result.selection
            languages = direction(selection.source_language, selection.target_language)
            sentences.append(f"{benchmarks[selection.benchmark].title}, {languages}: {main_finding(result)}")
    say(f"\nFound ({found[0].called}):")
    for sentence in sentences[:MOST_FINDINGS]:
        say(f"- {sentence}")


def say_next(commands: Mapping[str, str]) -> None:
    """Commands that can be typed as they stand, and what each is for."""
    if not commands:
        return
    say("\nNext:")
    width = max(map(len, commands))
    for command, what_for in commands.items():
        say(f"  {command:<{width}}  # {what_for}")
