"""What the commands of `study` share: options, workers, how tables are shown, the record in a study's directory."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from gendermark.cli import terminal
from gendermark.cli.options import Executor, Store, option_group, resampling, system_options
from gendermark.cli.terminal import open_workers, print_json, print_table, say, show_progress
from gendermark.errors import BadFile, MissingExtra, UserError
from gendermark.io.textfiles import read_json, write_text
from gendermark.metrics.metric import Resampling
from gendermark.records import Table
from gendermark.runs.run import RunContext

Texts = tuple[str, ...]
"""Of an option that may be repeated."""
SystemName = Annotated[str, typer.Option("--system", help="System as family:argument, for example demo:en-es.")]
SystemOptions = Annotated[Mapping[str, str], option_group(system_options)]
Resampled = Annotated[Resampling, option_group(resampling)]
DEFAULT_RESAMPLING = Resampling()
PlainFiles = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        "--plain",
        metavar="SOURCE REFERENCE",
        help="Test set for BLEU and chrF: source and reference file. Default for es: bundled.",
    ),
]


Work = AbstractContextManager[RunContext]


@contextmanager
def working(store: Store = None, executor: Executor = "") -> Iterator[RunContext]:
    """Open the store, progress and messages, and the workers that `--executor` names."""
    with open_workers(executor) as workers:
        yield RunContext(store, show_progress, say, executor=workers)


WORK: Work = option_group(working)
"""The default of a command's parameter `work`."""


def titled(context: RunContext, name: str) -> RunContext:
    """The same, with the name of a system before each title of progress."""
    return replace(context, open_progress=lambda title: context.open_progress(f"{name}: {title}"))


# -- output ------------------------------------------------------------------------------------------------------------


def is_terminal() -> bool:
    return terminal.is_terminal(sys.stdout)


def show(found: Any, tables: Sequence[Table], notes: Iterable[str] = (), *, as_json: bool) -> None:
    """Print `found` as JSON, or all tables on a terminal, or the first one with all its digits when piped."""
    if as_json:
        print_json(found)
    elif is_terminal():
        first, *others = tables
        for one in map(_narrowed, (*others, first)):
            print_table(one.title, one.columns, [[_short(cell) for cell in row] for row in one.rows])
    else:
        print_table("", tables[0].columns, tables[0].rows)
    for note in notes:
        say(note)


def _narrowed(table: Table) -> Table:
    """Without the text that can be spared: what all rows share stands once, in the title; what only begins the next
    cell ("causality", "causality_subject_f") is left out."""
    if len(table.rows) < 2:
        return table
    columns = [[row[place] for row in table.rows] for place in range(len(table.columns))]
    texts = [[str(cell or "") for cell in column] for column in columns]
    is_text = [not any(isinstance(cell, float | int) for cell in column) for column in columns]
    shared = [place for place, column in enumerate(texts) if is_text[place] and len(set(column)) == 1]
    begun = [
        place
        for place, (column, following) in enumerate(pairwise(texts))
        if all(cell and other.startswith(cell) for cell, other in zip(column, following, strict=True))
    ]
    kept = [place for place in range(len(columns)) if place not in {*shared, *begun}]
    said = ", ".join(f"{table.columns[place]} {texts[place][0]}" for place in shared if texts[place][0])
    return replace(
        table,
        title="; ".join(filter(None, (table.title, said))),
        columns=tuple(table.columns[place] for place in kept),
        rows=[tuple(row[place] for place in kept) for row in table.rows],
    )


def _short(cell: Any) -> Any:
    return f"{cell:.4g}" if isinstance(cell, float) else cell


# -- the record of a study ---------------------------------------------------------------------------------------------


def check_reusable(path: Path, settings: Mapping[str, Any], own: Sequence[str]) -> None:
    """A directory may be written again by the same study only; without a record it must not hold what is its `own`."""
    output = path.parent
    if output.exists() and not output.is_dir():
        raise UserError(f"{output} is a file; choose a directory with -o")
    if not path.exists():
        for name in own:
            if (output / name).exists():
                raise UserError(f"{output / name} exists and does not belong to this study; choose another with -o")
        return
    record = read_json(path)
    earlier = record.get("settings") if isinstance(record, dict) else None
    if not isinstance(earlier, dict):
        raise BadFile(path, "is not the record of a study; choose another directory with -o")
    if changed := [key for key in settings if settings[key] != earlier.get(key)]:
        raise UserError(
            f"{output} holds another study (it differs in {', '.join(changed)}); choose another directory with -o"
        )


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    write_text(path, json.dumps(record, ensure_ascii=False, indent=2) + "\n")


def scipy_stats(what: str) -> Any:
    """`scipy.stats`, or the line that installs it."""
    try:
        from scipy import stats
    except ImportError:
        raise MissingExtra(what, "lab") from None
    return stats
