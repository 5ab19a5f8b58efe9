"""`gendermark report`, `ui` and `leaderboard`: share results."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from gendermark.cli.options import Data, Executor, From, Names, Revision, Rules, To, folders, pairs
from gendermark.cli.terminal import AsJson, echo, open_workers, print_json, print_table, say, show_progress
from gendermark.errors import MissingExtra, UserError

if TYPE_CHECKING:
    from gendermark.api import Scored
    from gendermark.reporting.server import Site


# -- report ------------------------------------------------------------------------------------------------------------


def report(
    runs: Annotated[list[str], typer.Argument(metavar="[NAME=]DIR...", help="Run folders to show side by side.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Output file; default: stdout.")] = None,
    format_: Annotated[
        str, typer.Option("--format", help="html, md, latex, csv or json; default: from the file extension of -o.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False,
    trend: Annotated[
        bool,
        typer.Option("--trend", help="Treat the runs as versions of one system, oldest first, and plot the trend."),
    ] = False,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", metavar="DIR", help="Also write the figures to this directory, as SVG, PDF and PNG."),
    ] = None,
    figure_format: Annotated[
        list[str] | None, typer.Option("--figure-format", help="Write only svg, pdf or png; repeatable.")
    ] = None,
    name: Names = None,
) -> None:
    """Write a report of one or more runs: an HTML page, or Markdown, LaTeX, CSV or JSON tables."""
    if as_json and format_ not in ("", "json"):
        raise UserError(f"--json and --format {format_} conflict; give one of them")
    from gendermark.reporting.report import check_format, format_of, render

    chosen = "json" if as_json else format_ or (format_of(output) if output else "md")
    check_format(chosen)
    if figure_format and figures is None:
        raise UserError("--figure-format needs --figures DIR")
    formats: Sequence[str] = ()
    problem: MissingExtra | None = None
    if figures is not None:
        from gendermark.reporting.figures import check_directory

        check_directory(figures)
        # Where the report itself goes to stdout nothing is lost by asking again.
        formats, problem = _figure_formats(figure_format, refuse=output is None)
    from gendermark.io.textfiles import write_text
    from gendermark.runs.folder import read_run

    once = {one.path: one for one in reversed(folders(runs, name))}  # with the name that was given first
    read = [read_run(*one) for one in reversed(once.values())]
    results = {run.name: run.results for run in read}
    text = render(read, chosen, trend=trend)
    if output is None:
        echo(text, nl=False)
    else:
        write_text(output, text)
        say(f"report written to {output}")
    if figures is not None and formats:
        from gendermark.reporting.figures import figures as draw
        from gendermark.reporting.figures import write_figures

        drawn = draw(results, trend=trend)
        written = write_figures(figures, drawn, formats)
        say(f"{len(written):,} files with {len(drawn):,} figures written to {figures}")
    if problem is not None and figure_format:
        raise problem


def _figure_formats(asked: Sequence[str] | None, *, refuse: bool) -> tuple[Sequence[str], MissingExtra | None]:
    """Return the figure formats that can be written here, and the error for the others."""
    from gendermark.reporting.figures import FORMATS as FIGURE_FORMATS
    from gendermark.reporting.figures import check_formats

    wanted = asked or FIGURE_FORMATS
    try:
        check_formats(wanted)
    except MissingExtra as problem:
        if asked and refuse:
            raise
        can = [name for name in wanted if name == "svg"]
        say(f"writing figures as SVG only: {problem}" if can else f"no figures written: {problem}")
        return can, problem
    return wanted, None


# -- ui ----------------------------------------------------------------------------------------------------------------


Host = Annotated[
    str, typer.Option("--host", help="Address to listen on; the default is reachable from this computer only.")
]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 picks a free one.")]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Print the address only; do not open a browser.")]


def ui(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="[NAME=]DIR...", help="Run folders, finished or still running."),
    ],
    host: Host = "127.0.0.1",
    port: Port = 0,
    no_open: NoOpen = False,
    name: Names = None,
) -> None:
    """Explore runs in the browser, sentence by sentence, even while they run."""
    from gendermark.reporting.ui import RunFolders, ui_site
    from gendermark.runs.folder import read_manifest, refuse_part

    given = folders(runs, name)
    for one in given:
        refuse_part(one.path, read_manifest(one.path))
    say(f"reading {', '.join(str(one.path) for one in given)}")
    followed = RunFolders([one.path for one in given], [one.name for one in given], say)
    serve_site(ui_site(followed), host, port, no_open=no_open)


def serve_site(site: Site, host: str, port: int, *, no_open: bool, token: str = "") -> None:
    """Serve until Ctrl-C. Only the address goes to stdout."""
    from gendermark.reporting.server import Server

    with Server(site, host, port, token) as server:
        if server.is_open_to_others:
            say(
                "warning: other computers can reach this page; anyone with the address has full access, and the "
                "connection is not encrypted"
            )
        typer.echo(server.url)
        sys.stdout.flush()
        say("open this address in a browser; press Ctrl-C to stop")
        if not no_open and _has_screen():
            import webbrowser

            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("stopped")


def _has_screen() -> bool:
    """Whether a browser would open a window; on a server it might take the terminal instead."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


# -- leaderboard -------------------------------------------------------------------------------------------------------


class _BuildByDefault(TyperGroup):
    """`leaderboard DIR...` is `leaderboard build DIR...`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        is_named = not args or args[0] in self.commands or args[0] == "--help"
        return super().parse_args(ctx, args if is_named else ["build", *args])


leaderboard = typer.Typer(
    cls=_BuildByDefault,
    help="Build a leaderboard as static pages (`leaderboard DIR... -o site/`); add and verify submissions.",
)


@leaderboard.command()
def build(
    directories: Annotated[
        list[str],
        typer.Argument(metavar="[NAME=]DIR...", help="Run folders, or directories of submissions at any depth."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Output directory.")],
    executor: Executor = "",
) -> None:
    """Write the pages: an index with charts, ranks and tables, and a report for each system."""
    from gendermark.reporting import board_site

    given = folders(directories)
    with open_workers(executor or "processes") as workers:
        board_site.build([one.path for one in given], output, workers, say, [one.name for one in given])
    say(f"leaderboard written to {output / board_site.INDEX}")


@leaderboard.command()
def verify(
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Run folders, or directories of submissions at any depth."),
    ],
    executor: Executor = "",
    as_json: AsJson = False,
) -> None:
    """Score submitted outputs again; exit 1 if a result cannot be reproduced."""
    from gendermark.reporting.submission import faults, find

    cells = list(find(directories))
    rows = []
    with open_workers(executor, len(cells)) as workers, show_progress("verifying") as progress:
        for number, (cell, found) in enumerate(zip(cells, workers.in_order(faults, cells), strict=True), start=1):
            rows.append({"submission": str(cell), "outcome": "refused" if found else "verified", "faults": found})
            progress(number, len(cells))
    refused = [row for row in rows if row["faults"]]
    if as_json:
        print_json({"submissions": rows, "n_refused": len(refused)})
    else:
        print_table("Submissions", ("outcome", "submission"), [(row["outcome"], row["submission"]) for row in rows])
    for row in refused:
        for fault in row["faults"]:
            say(fault)
    say(f"{len(rows) - len(refused):,} of {len(rows):,} submissions verified")
    if refused:
        raise typer.Exit(1)


@leaderboard.command()
def add(
    name: Annotated[str, typer.Option(help="System name, for example DeepL.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Directory of submissions to add to.")],
    version: Annotated[str, typer.Option(help="System version, as exactly as known.")] = "unrecorded",
    vendor: Annotated[str, typer.Option(help="Vendor or authors.")] = "unrecorded",
    kind: Annotated[str, typer.Option(help="Kind of system: service, open model, language model ...")] = "unrecorded",
    date: Annotated[str, typer.Option(help="Date of translation: 2024, 2024-11, or 2024/2025.")] = "unrecorded",
    licence: Annotated[str, typer.Option(help="Licence of the outputs.")] = "unrecorded",
    source: Annotated[str, typer.Option(help="Origin of the outputs: a URL or a description.")] = "unrecorded",
    note: Annotated[str, typer.Option(help="Note for readers, for example the prompt of a language model.")] = "",
    run: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Submit a run folder; or give --benchmark and --translations.")
    ] = None,
    benchmark: Annotated[str, typer.Option(help="Benchmark of the translations.")] = "",
    to: To = "",
    from_: From = "",
    translations: Annotated[
        list[Path] | None, typer.Option(help="Translations, in any format that `gendermark score` reads.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=FILE", help="Translations of one set of sentences; repeatable."),
    ] = None,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Count missing sentences as not translated.")
    ] = False,
    data: Data = "official",
    revision: Revision = "",
    rules: Rules = "best",
) -> None:
    """Score outputs and write them as a submission."""
    from gendermark import registry
    from gendermark.api import score_texts
    from gendermark.cli.score import by_part
    from gendermark.io.translations import open_translations
    from gendermark.reporting.submission import RESAMPLING, OutputFacts, SystemFacts, hash_of, of_run, write
    from gendermark.runs.score import Origin

    system = SystemFacts(name, version, vendor, kind, date)
    sets = pairs(set_ or [], "--set", "formal=formal.txt", "NAME=FILE")
    files = [*(translations or []), *map(Path, sets.values())]
    if bool(run) == bool(files) or (translations and sets) or bool(files) != bool(benchmark):
        raise UserError("give --run DIR, or --benchmark NAME with --translations FILE or --set NAME=FILE")
    scored: list[Scored]
    if run is not None:
        scored = of_run(run, system)
    else:
        found = registry.load("benchmark", benchmark)
        if found.draws:
            raise UserError(f"{benchmark} scores many samples per sentence; submit a run with --run")
        read = partial(open_translations, allow_missing=allow_missing)
        texts: Any = {name: read(file) for name, file in sets.items()}
        if not sets:
            texts = by_part(found, [read(file) for file in translations or ()], "")
        options: Any = {"source_language": from_, "data": data, "revision": revision, "rules": rules}
        origin = Origin(system.full_label, resampling=RESAMPLING)
        scored = [score_texts(benchmark, texts, to, origin, **options)]
    outputs = OutputFacts(source, licence, note, tuple((file.name, hash_of(file)) for file in files))
    for one in scored:
        say(f"submission written to {write(output, system, outputs, one)}")
