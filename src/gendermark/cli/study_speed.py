"""`gendermark study speed`: what makes a system fast, and what that does to gender."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gendermark.cli import terminal
from gendermark.cli.options import (
    Confidence,
    Executor,
    Resamples,
    ResumedIn,
    Rules,
    Seed,
    Store,
    StudiedData,
    To,
    pairs,
    resampling,
)
from gendermark.cli.terminal import AsJson, open_workers, print_json, print_table, say, show_progress
from gendermark.lab import options

if TYPE_CHECKING:
    from gendermark.lab.speed.measured import Study


def register(app: typer.Typer) -> None:
    app.command("speed")(speed)


def speed(
    system: Annotated[str, typer.Option(help="The system as family:argument, for example demo:en-es")],
    to: To,
    output: ResumedIn,
    vary: Annotated[list[str] | None, typer.Option(metavar="KEY=V1,V2,...", help=options.VARY)] = None,
    against: Annotated[list[str] | None, typer.Option(metavar="[NAME=]SPEC", help=options.AGAINST)] = None,
    baseline: Annotated[str, typer.Option(metavar="NAME", help=options.BASELINE)] = "",
    system_option: Annotated[
        list[str] | None,
        typer.Option("--system-option", metavar="KEY=VALUE", help="Option of all points of the system."),
    ] = None,
    test_set: Annotated[
        tuple[Path, Path] | None, typer.Option("--test-set", metavar="SOURCE REFERENCE", help=options.TEST_SET)
    ] = None,
    data: StudiedData = "core",
    rules: Rules = "best",
    also: Annotated[list[str] | None, typer.Option(metavar="BENCHMARK", help=options.ALSO)] = None,
    repeats: Annotated[int, typer.Option(min=1, help=options.REPEATS)] = 7,
    timed: Annotated[int, typer.Option(min=1, help=options.TIMED)] = 128,
    clock: Annotated[str, typer.Option(help=options.CLOCK)] = "wall",
    resamples: Resamples = 1000,
    seed: Seed = 12345,
    confidence: Confidence = 0.95,
    store: Store = None,
    executor: Executor = "",
    as_json: AsJson = False,
) -> None:
    """Faster, at what price? Time, quality and gender of one system with several options, or of several systems."""
    from gendermark.lab.speed.page import PAGE, write_files
    from gendermark.lab.speed.points import Grid, read_against, read_vary
    from gendermark.lab.speed.study import Settings, study_speed
    from gendermark.lab.speed.timing import Timing
    from gendermark.runs.run import RunContext

    how = pairs(system_option or [], "--system-option", "threads=1")
    grid = Grid(system, read_vary(vary or []), read_against(against or []), how)
    settings = Settings(
        grid,
        to,
        baseline,
        test_set,
        data,
        rules,
        tuple(also or ()),
        Timing(repeats, timed, clock),
        resampling(resamples, seed, confidence),
    )
    # What is timed is timed here, after the workers have ended.
    found = study_speed(settings, output, RunContext(store, show_progress, say), partial(open_workers, executor))
    write_files(found, output, f"gendermark {shlex.join(sys.argv[1:])}")
    if as_json:
        print_json(found.to_json())
    else:
        _print(found)
    say(f"page, tables, figures and run folders: {output / PAGE}")


def _print(found: Study) -> None:
    from gendermark.lab.speed import tables
    from gendermark.lab.speed.words import findings

    shown = [tables.table4(found)]
    if terminal.is_terminal(sys.stdout):
        shown.append(tables.prices(found))
    for one in shown:
        print_table(one.title, one.columns, one.rows)
    for sentence in (*findings(found), *found.notes):
        say(sentence)
