"""`gendermark study training`: models that were trained in different ways, side by side."""

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


def register(app: typer.Typer) -> None:
    """Add the verb to the app `study`."""
    app.command("training")(training)


def training(
    system: Annotated[list[str], typer.Option(metavar="NAME=SPEC", help=options.MODELS)],
    to: To,
    output: ResumedIn,
    context: Annotated[list[str] | None, typer.Option(metavar="NAME=STRATEGY", help=options.CONTEXT)] = None,
    data: StudiedData = "core",
    rules: Rules = "best",
    plain: Annotated[
        tuple[Path, Path] | None, typer.Option(metavar="SOURCE REFERENCE", help=options.PLAIN_FILES)
    ] = None,
    resamples: Resamples = 1000,
    seed: Seed = 12345,
    confidence: Confidence = 0.95,
    store: Store = None,
    executor: Executor = "",
    as_json: AsJson = False,
) -> None:
    """What a way of training does to gender: MT-GenEval's Tables 10 and 11, WinoMT and BLEU of several models."""
    from gendermark.lab import training_comparison_words as words
    from gendermark.lab.speed.points import read_against
    from gendermark.lab.training_comparison import Settings, study_training
    from gendermark.runs.run import RunContext

    shown = pairs(context or [], "--context", "ctx=separator:<sep>")
    how = resampling(resamples, seed, confidence)
    settings = Settings(read_against(system), to, shown, data, rules, plain, how)
    with open_workers(executor) as workers:
        report = study_training(settings, output, RunContext(store, show_progress, say, executor=workers))
    if as_json:
        print_json(report)
    elif terminal.is_terminal(sys.stdout):
        rows = words.changed_rows(report, words.PAPER)
        print_table(f"Models into {to}, as in Tables 10 and 11", ("model", *words.PAPER), rows)
    else:
        print_table("", words.LONG_COLUMNS, words.long_rows(report))
    for sentence in (*report["findings"], *report["notes"]):
        say(sentence)
    say(f"run folders and tables: {output}")
