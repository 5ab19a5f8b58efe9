"""`gendermark study mitigate` and `study reader`: what can be done today without training, and how well it reads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gendermark.cli import terminal
from gendermark.cli.options import (
    Confidence,
    Executor,
    Resamples,
    ResumedIn,
    Seed,
    Store,
    StudiedData,
    To,
    pairs,
    resampling,
)
from gendermark.cli.terminal import AsJson, open_workers, print_json, print_table, say, show_progress
from gendermark.lab import options


def register(app: typer.Typer) -> None:
    """Add the verbs to the app `study`."""
    for command in (mitigate, reader):
        app.command(command.__name__)(command)


def mitigate(
    system: Annotated[str, typer.Option(help="The system as family:argument, for example demo:en-es")],
    to: To,
    output: ResumedIn,
    with_: Annotated[list[str] | None, typer.Option("--with", metavar="NAME", help=options.WITH)] = None,
    data: StudiedData = "core",
    plain: Annotated[
        tuple[Path, Path] | None, typer.Option(metavar="SOURCE REFERENCE", help=options.PLAIN_FILES)
    ] = None,
    repeats: Annotated[int, typer.Option(min=0, help=options.MITIGATE_REPEATS)] = 3,
    system_option: Annotated[
        list[str] | None, typer.Option("--system-option", metavar="KEY=VALUE", help="Option of the system.")
    ] = None,
    resamples: Resamples = 1000,
    seed: Seed = 12345,
    confidence: Confidence = 0.95,
    store: Store = None,
    executor: Executor = "",
    as_json: AsJson = False,
) -> None:
    """Reranking and hints around a system: what women gain, what men lose, what it costs in quality and time."""
    from gendermark.lab import mitigate_words as words
    from gendermark.lab.mitigate import Settings, study_mitigation
    from gendermark.runs.run import RunContext

    how = pairs(system_option or [], "--system-option", "beam_size=5")
    given = (system, to, tuple(with_ or ()), data, plain, how, resampling(resamples, seed, confidence), repeats)
    with open_workers(executor) as workers:
        context = RunContext(store, show_progress, say, executor=workers)
        report = study_mitigation(Settings(*given), output, context)
    if as_json:
        print_json(report)
    elif terminal.is_terminal(sys.stdout):
        print_table(f"{system} into {to}: plain, and mitigated", words.COLUMNS, words.table(report))
    else:
        print_table("", words.LONG_COLUMNS, words.long_rows(report))
    for sentence in (*report["findings"], *report["notes"]):
        say(sentence)
    say(f"run folders and table.md: {output}")


def reader(
    data: StudiedData = "core",
    as_json: AsJson = False,
) -> None:
    """How often the reader of sources decides a person's gender, and how often rightly, where benchmarks know it."""
    from gendermark.lab.reader import rate_on_benchmarks, reader_table

    scores = rate_on_benchmarks(data)
    if as_json:
        print_json({"sets": [score.to_json() for score in scores]})
        return
    found = reader_table(scores)
    shown = [[f"{cell:.1f}" if isinstance(cell, float) else cell for cell in row] for row in found.rows]
    print_table(found.title, found.columns, shown if terminal.is_terminal(sys.stdout) else found.rows)
