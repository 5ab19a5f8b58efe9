"""Talking to the user: data to stdout, everything else to stderr; tables for people, tabs for programs."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, TextIO

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

_SECONDS_BETWEEN_LINES = 10.0
_HIDDEN_COMMAND = re.compile(r"\n\s*::")


def say(message: str) -> None:
    """A message for the person at the terminal.

    File names and other programs' words are in it: what a terminal would obey is not printed, and no line but the first
    can be a command of GitHub's.
    """
    shown = "".join(x if x.isprintable() or x in "\n\t" else "\ufffd" for x in message)
    typer.echo(_HIDDEN_COMMAND.sub(" ::", shown), err=True)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is at the other end; nobody is at a closed one. (A function so that tests can say yes.)"""
    return stream is not None and stream.isatty()


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table: drawn on a terminal, tab-separated with a header line when piped."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if not is_terminal(sys.stdout):
        # A tab or line break inside a cell (a file name may have one) would tear the table apart.
        typer.echo("\n".join("\t".join(" ".join(cell.split()) for cell in line) for line in ([*columns], *cells)))
        return
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for position, column in enumerate(columns):
        numeric = all(line[position][:1] in "0123456789-–+[<" for line in cells if line[position])
        table.add_column(escape(column), justify="right" if numeric and cells else "left")
    for line in cells:
        table.add_row(*(escape(cell) for cell in line))
    Console().print(table)


@contextmanager
def show_progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Progress with the time left, on stderr: a bar on a terminal, a line now and then elsewhere."""
    if not is_terminal(sys.stderr):
        yield _line_reporter(title)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _line_reporter(title: str) -> Callable[[int, int], None]:
    started = last = time.monotonic()
    first: int | None = None

    def report(done: int, total: int) -> None:
        nonlocal last, first
        now = time.monotonic()
        first = done if first is None else first
        if now - last < _SECONDS_BETWEEN_LINES or done >= total:
            return
        last = now
        left = (now - started) / max(done - first, 1) * (total - done)
        say(f"{title}: {done:,} of {total:,}, about {left:.0f} s left")

    return report
