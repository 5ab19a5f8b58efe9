"""Printing: data to stdout, messages and progress to stderr; tables on a terminal, tab-separated when piped."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from typer import Option

from gendermark.io.progress import told_in_lines
from gendermark.io.textfiles import disarmed

if TYPE_CHECKING:  # `gendermark --help` loads this module
    from gendermark.runs.executors import Executor
    from gendermark.runs.run import RunContext

AsJson = Annotated[bool, Option("--json", help="Print one JSON object.")]

All = Annotated[bool, Option("--all", help="Print every number, not only the summary.")]

_LONGEST_COMMAND = 50
"""Longer commands are printed below what they are for, not beside it."""
_LABELLED = re.compile(r"- |\w+: ")
"""How a list item, an error or a warning begins; its further lines are indented."""
_HIDDEN_COMMAND = re.compile(r"\n\s*::")


def say(message: str, *, is_wrapped: bool = True) -> None:
    """Print a message on stderr; a terminal wraps it between words, unless it is to be copied.

    It may quote file names and other programs: escape sequences are removed, and only its first line can be a GitHub
    command.
    """
    text = _HIDDEN_COMMAND.sub(" ::", disarmed(message))
    if is_wrapped and is_terminal(sys.stderr):
        width = shutil.get_terminal_size().columns
        lines = []
        for line in text.split("\n"):
            start = line[: len(line) - len(line.lstrip())]
            below = start + ("  " if start or _LABELLED.match(line) else "")
            # What has no spaces, such as a path, is left to the terminal.
            wrapper = textwrap.TextWrapper(width, start, below, break_long_words=False, break_on_hyphens=False)
            lines.append(wrapper.fill(line.strip()))
        text = "\n".join(lines)
    typer.echo(text, err=True)


def echo(text: str = "", *, nl: bool = True) -> None:
    typer.echo(disarmed(text) if is_terminal(sys.stdout) else text, nl=nl)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person reads the stream; a function so that tests can replace it."""
    return stream is not None and stream.isatty()


def print_json(value: Any) -> None:
    echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_text(text: str) -> None:
    from gendermark.reporting.text import wrapped

    echo("\n".join(wrapped(text, shutil.get_terminal_size().columns)))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table: drawn on a terminal, tab-separated with a header line when piped."""
    from gendermark.reporting.document import Table
    from gendermark.reporting.text import for_terminal, tabbed

    table = Table(columns, rows, title)
    is_drawn = is_terminal(sys.stdout)
    echo(for_terminal([table], shutil.get_terminal_size().columns) if is_drawn else tabbed(table))


def grouped(rows: Iterable[tuple[str, Sequence[Any]]]) -> list[Sequence[Any]]:
    """Put a heading before the rows of each group, which takes less width than a column."""
    found: list[Sequence[Any]] = []
    for group, own in groupby(rows, key=lambda row: row[0]):
        members = [row for _, row in own]
        found.append((group, *[""] * (len(members[0]) - 1)))
        found += [(f"· {first}", *rest) for first, *rest in members]
    return found


@contextmanager
def open_workers(executor: str, n_pieces: int = 0) -> Iterator[Executor]:
    """Open the workers of `--executor`; say where to watch them and, at the end, how many were lost."""
    from gendermark.runs.executors import open_executor

    with open_executor(executor, n_pieces) as workers:
        if workers.dashboard:
            say(f"dashboard of the workers: {workers.dashboard}")
        yield workers
        for note in workers.notes():
            say(note)


@contextmanager
def run_context(executor: str, store: Path | None = None, name: str = "", n_pieces: int = 0) -> Iterator[RunContext]:
    """Open what a run needs: workers, the translation cache, and message handling."""
    from gendermark.runs.run import RunContext

    with open_workers(executor, n_pieces) as workers:
        yield RunContext(store, show_progress, say, name, workers)


@contextmanager
def show_progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress and time left on stderr: a bar on a terminal, an occasional line elsewhere."""
    if not is_terminal(sys.stderr):
        yield told_in_lines(title, say)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TextColumn
    from rich.text import Text

    class Remaining(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(progress_in_words(task.completed, task.total, task.time_remaining))

    columns = (TextColumn("{task.description}"), BarColumn(), Remaining(""))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def progress_in_words(done: float, total: float | None, seconds_left: float | None) -> str:
    if total is None:
        return ""
    left = "" if seconds_left is None else f", {timedelta(seconds=round(seconds_left))} left"
    return f"{done:,.0f} of {total:,.0f}{left}"


def say_next(commands: Mapping[str, str]) -> None:
    if not commands:
        return
    say("\nNext:")
    width = max(map(len, commands))
    for command, what_for in commands.items():
        if width > _LONGEST_COMMAND:
            say(f"  # {what_for}")
        say(f"  {command}" if width > _LONGEST_COMMAND else f"  {command:<{width}}  # {what_for}", is_wrapped=False)
