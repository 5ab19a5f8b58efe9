"""`gendermark rejudge`: judge and score again from the stored translations, without asking the system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gendermark.cli.options import Executor, benchmark_options
from gendermark.cli.terminal import AsJson, open_workers, print_json, say
from gendermark.errors import UserError

if TYPE_CHECKING:
    from gendermark.result import Result


def rejudge(
    runs: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Run folders.")],
    rules: Annotated[str, typer.Option("--rules", help="best, or the published rules; as before if not given.")] = "",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Run folder for the new result; of several runs, a directory for them."),
    ] = None,
    executor: Executor = "",
    settings: dict[str, Any] = benchmark_options("rejudge"),
    as_json: AsJson = False,
) -> None:
    """Judge and score again what runs have stored; says which verdicts changed.

    Without -o nothing is written. `gendermark report` shows the old and the new folder side by side.
    """
    from gendermark.cli.results import print_results
    from gendermark.runs.rejudge import rejudge as judge_again

    names = [run.resolve().name for run in runs]
    if len(set(names)) < len(names) and output is not None:
        raise UserError("two run folders have the same name; judge them one at a time, each with its own -o")
    found: list[dict[str, Any]] = []
    results: list[Result] = []
    folders: list[str] = []
    with open_workers(executor) as workers:
        for run, name in zip(runs, names, strict=True):
            written = output / name if output is not None and len(runs) > 1 else output
            cells = judge_again(run, {"rules": rules, **settings}, written, workers)
            found.append({"run": str(run), "written": str(written or ""), "cells": [cell.to_json() for cell in cells]})
            results += [cell.result for cell in cells]
            folders += [str(run)] * len(cells)
            for cell in cells:
                say(f"{run}, {cell.sentence}" if len(runs) > 1 else cell.sentence)
            if written is not None:
                say(f"run folder: {written}")
    if as_json:
        print_json({"rejudged": found})
    else:
        print_results(results, folders=folders if len(runs) > 1 else ())
