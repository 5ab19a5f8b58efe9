"""`gendermark merge`: join the parts of a run that were translated with `run --shard`, and score it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gendermark.cli.options import Executor, Name
from gendermark.cli.run import print_run
from gendermark.cli.terminal import AsJson, open_workers, say, show_progress


def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="DIR...", help="What `run --shard` wrote, all parts.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Run folder for the whole.")],
    name: Name = "",
    executor: Executor = "",
    as_json: AsJson = False,
) -> None:
    """Join the parts of a run that were translated with `run --shard`, and score it."""
    from gendermark.runs.parts import merge as join
    from gendermark.runs.run import Surroundings

    with open_workers(executor) as workers:
        around = Surroundings(None, show_progress, say, name, workers)
        results = join(parts, output, around)
    print_run(results, output, as_json=as_json)
