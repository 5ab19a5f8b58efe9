"""`gendermark report`: the results of one or several runs, for a paper or a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gendermark.cli.options import Folder, Names, folders
from gendermark.cli.terminal import echo, say
from gendermark.errors import MissingExtra, UnknownName, UserError

if TYPE_CHECKING:
    from gendermark.result import Result

FORMATS = ("html", "md", "latex", "csv", "json")
_BY_ENDING = {".html": "html", ".htm": "html", ".md": "md", ".tex": "latex", ".csv": "csv", ".json": "json"}
_ENDINGS = (".html", ".md", ".tex", ".csv", ".json")


def report(
    runs: Annotated[
        list[str], typer.Argument(metavar="[NAME=]DIR...", help="Run folders, side by side; with names if you like.")
    ],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write; stdout if not given.")] = None,
    format_: Annotated[
        str, typer.Option("--format", help="html, md, latex, csv or json; by the ending of -o if not given.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    trend: Annotated[
        bool, typer.Option("--trend", help="The runs are versions of one system, in the order given: draw their trend.")
    ] = False,
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="DIR", help="Directory for the figures: SVG, PDF and PNG.")
    ] = None,
    figure_format: Annotated[
        list[str] | None, typer.Option("--figure-format", help="Only svg, pdf or png; repeatable.")
    ] = None,
    name: Names = None,
) -> None:
    """A page to read and explore (HTML), or tables as Markdown, LaTeX (booktabs), CSV or JSON; and figures."""
    if as_json and format_ not in ("", "json"):
        raise UserError(f"--json and --format {format_} contradict each other; give one")
    chosen = "json" if as_json else format_ or (_BY_ENDING.get(output.suffix.lower(), "") if output else "md")
    if not chosen:
        raise UserError(f"{output} has no known report format; end it in {', '.join(_ENDINGS)}, or give --format")
    if chosen not in FORMATS:
        raise UnknownName("report format", chosen, FORMATS)
    if figure_format and figures is None:
        raise UserError("--figure-format says how figures are written, not where; add --figures DIR")
    formats: Sequence[str] = ()
    problem: MissingExtra | None = None
    if figures is not None:
        from gendermark.report.figures import check_directory

        check_directory(figures)
        # Where the report itself goes to stdout nothing is lost by asking again.
        formats, problem = _formats(figure_format, refuse=output is None)
    text, results = _rendered(_once(folders(runs, name)), chosen, trend)
    if output is None:
        echo(text, nl=False)
    else:
        from gendermark.io.textfiles import write_text

        write_text(output, text)
        say(f"report written to {output}")
    if figures is not None:
        _write_figures(figures, results, formats, trend)
    if problem is not None and figure_format:
        raise problem


def _once(given: Sequence[Folder]) -> list[Folder]:
    """Each folder once, with the name that was given it first."""
    return list({str(one.path): one for one in reversed(given)}.values())[::-1]


def _rendered(given: Sequence[Folder], format_: str, trend: bool) -> tuple[str, Mapping[str, Sequence[Result]]]:
    """The report, and the results it is of."""
    from gendermark.runs.folder import read_run

    runs = [read_run(*one) for one in given]
    results = {run.name: run.results for run in runs}
    if format_ == "html":
        from gendermark.report.page import render_page

        return render_page(runs, trend=trend), results
    from gendermark.report.writing import render

    return render(results, format_), results


def _formats(asked: Sequence[str] | None, *, refuse: bool) -> tuple[Sequence[str], MissingExtra | None]:
    """The formats in which figures can be written here, before any work; and what is missing for the others."""
    from gendermark.report.figures import FORMATS as FIGURE_FORMATS
    from gendermark.report.figures import check_formats

    wanted = asked or FIGURE_FORMATS
    try:
        check_formats(wanted)
    except MissingExtra as problem:
        if asked and refuse:
            raise
        can = [name for name in wanted if name == "svg"]
        say(f"figures are written as SVG only: {problem}" if can else f"no figures are written: {problem}")
        return can, problem
    return wanted, None


def _write_figures(
    directory: Path, results: Mapping[str, Sequence[Result]], formats: Sequence[str], trend: bool
) -> None:
    from gendermark.report.figures import figures, write_figures

    if not formats:
        return
    found = figures(results, trend=trend)
    written = write_figures(directory, found, formats)
    say(f"{len(written):,} files with {len(found):,} figures written to {directory}")
