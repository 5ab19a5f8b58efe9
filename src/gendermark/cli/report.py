"""`gendermark report`: the results of one or several runs, for a paper or a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gendermark.cli.terminal import say
from gendermark.errors import UnknownName, UserError

FORMATS = ("md", "latex", "csv", "json")
_BY_ENDING = {".md": "md", ".tex": "latex", ".csv": "csv", ".json": "json"}


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Run folders, side by side.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write; stdout if not given.")] = None,
    format_: Annotated[
        str, typer.Option("--format", help="md, latex, csv or json; by the ending of -o if not given.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Tables of one or several runs as Markdown, LaTeX (booktabs), CSV or JSON."""
    from gendermark.api import load
    from gendermark.report.writing import render
    from gendermark.textfiles import write_text

    if as_json and format_ not in ("", "json"):
        raise UserError(f"--json and --format {format_} contradict each other; give one")
    chosen = "json" if as_json else format_ or (_BY_ENDING.get(output.suffix.lower(), "") if output else "md")
    if not chosen:
        raise UserError(f"no report format is known for {output}; end it in {', '.join(_BY_ENDING)}, or give --format")
    if chosen not in FORMATS:
        raise UnknownName("report format", chosen, FORMATS)
    text = render({str(directory): load(directory) for directory in runs}, chosen)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
        say(f"report written to {output}")
