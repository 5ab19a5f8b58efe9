"""`gendermark report`, `ui` and `leaderboard`: share results."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from gendermark.cli.options import Data, Executor, From, Log, Names, Revision, Rules, Sets, To, folders, pairs
from gendermark.cli.results import check_log, log_runs, read_runs
from gendermark.cli.terminal import AsJson, echo, open_workers, print_json, print_table, say, show_progress
from gendermark.errors import MissingExtra, UserError
from gendermark.io.textfiles import content_hash, write_text

if TYPE_CHECKING:
    from gendermark.api import Scored
    from gendermark.reporting.server import Site


# -- report ------------------------------------------------------------------------------------------------------------


def report(
    runs: tuple[str, ...],
    output: Path | None = None,
    format_: str = "",
    as_json: AsJson = False,
    trend: bool = False,
    metric: tuple[str, ...] = (),
    figures: Path | None = None,
    figure_format: tuple[str, ...] = (),
    log: Log = "",
    name: Names = (),
) -> None:
    """Write a report of one or more runs: an HTML page, or Markdown, LaTeX, CSV or JSON tables.

    `-o FILE.yaml` writes one run's headline metrics in the Hugging Face Hub's `.eval_results` format.

    Args:
        runs ([NAME=]DIR...): Run folders to show side by side.
        output (FILE): Output file; default: stdout.
        format_ (FORMAT): html, md, latex, csv, json or yaml; default: from the file extension of -o.
        as_json: Same as --format json.
        trend: Treat the runs as versions of one system, oldest first, and plot the trend.
        metric (METRIC): Markdown and LaTeX: only this metric, or metric:slice; repeatable. Default: as the papers.
        figures (DIR): Also write the figures to this directory, as SVG, PDF and PNG.
        figure_format (FORMAT): Write only svg, pdf or png; repeatable.
    """
    check_log(log)
    if as_json and format_ not in ("", "json"):
        raise UserError(f"--json and --format {format_} conflict; give one of them")
    from gendermark.reporting.tables import check_format, format_of, render_report

    chosen = "json" if as_json else format_ or (format_of(output) if output else "md")
    check_format(chosen)
    if figure_format and figures is None:
        raise UserError("--figure-format needs --figures DIR")
    formats = _figure_formats(figures, figure_format) if figures is not None else ()
    once = {one.path: one for one in reversed(folders(runs, name))}  # the first given name counts
    read = read_runs(list(reversed(once.values())))
    results = {run.name: run.results for run in read}
    text = render_report(read, chosen, trend=trend, metrics=metric)
    if output is None:
        echo(text, nl=False)
    else:
        write_text(output, text)
        say(f"report written to {output}")
    if figures is not None:
        from gendermark.reporting.figures import figures as draw
        from gendermark.reporting.figures import write_figures

        drawn = draw(results, trend=trend)
        written = write_figures(figures, drawn, formats)
        say(f"{len(written):,} files with {len(drawn):,} figures written to {figures}")
    log_runs(log, *read)


def _figure_formats(directory: Path, asked: Sequence[str]) -> Sequence[str]:
    """The formats that were asked for, else all that can be written here."""
    from gendermark.reporting.figures import FORMATS, check_formats

    if directory.is_file():
        raise UserError(f"{directory} is a file; give a directory for the figures")
    try:
        check_formats(asked or FORMATS)
    except MissingExtra as problem:
        if asked:
            raise
        say(f"writing figures as SVG only: {problem}")
        return ("svg",)
    return asked or FORMATS


# -- ui ----------------------------------------------------------------------------------------------------------------


Host = Annotated[str, Option("--host", help="Address to listen on; the default is reachable from this computer only.")]
Port = Annotated[int, Option("--port", min=0, max=65535, help="Port to listen on; 0 picks a free one.")]
NoOpen = Annotated[bool, Option("--no-open", help="Print the address only; do not open a browser.")]


def ui(
    runs: tuple[str, ...], host: Host = "127.0.0.1", port: Port = 0, no_open: NoOpen = False, name: Names = ()
) -> None:
    """Explore runs in the browser, sentence by sentence, even while they run.

    Args:
        runs ([NAME=]DIR...): Run folders, finished or still running.
    """
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
        has_screen = (
            sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        )
        if not no_open and has_screen:  # on a server, a browser might take over the terminal
            import webbrowser

            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("stopped")


# -- leaderboard -------------------------------------------------------------------------------------------------------


def build(directories: tuple[str, ...], *, output: Path, executor: Executor = "") -> None:
    """Write the pages: an index with charts, ranks and tables, and a report for each system.

    Args:
        directories ([NAME=]DIR...): Run folders, or directories of submissions at any depth.
        output (DIR): Output directory.
    """
    from gendermark.reporting import leaderboard as site

    given = folders(directories)
    with open_workers(executor or "processes") as workers:
        site.build([one.path for one in given], output, workers, say, [one.name for one in given])
    say(f"leaderboard written to {output / site.INDEX}")


def verify(directories: tuple[Path, ...], executor: Executor = "", as_json: AsJson = False) -> None:
    """Score submitted outputs again; exit 1 if a result cannot be reproduced.

    Args:
        directories (DIR...): Run folders, or directories of submissions at any depth.
    """
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


def add(
    *,
    name: str,
    output: Path,
    version: str = "unrecorded",
    vendor: str = "unrecorded",
    kind: str = "unrecorded",
    date: str = "unrecorded",
    licence: str = "unrecorded",
    source: str = "unrecorded",
    note: str = "",
    run: Path | None = None,
    benchmark: str = "",
    to: To = "",
    from_: From = "",
    translations: tuple[Path, ...] = (),
    set_: Sets = (),
    allow_missing: bool = False,
    data: Data = "official",
    revision: Revision = "",
    rules: Rules = "best",
) -> None:
    """Score outputs and write them as a submission.

    Args:
        name (NAME): System name, for example DeepL.
        output (DIR): Directory of submissions to add to.
        version: System version, as exactly as known.
        vendor: Vendor or authors.
        kind: Kind of system: service, open model, language model ...
        date: Date of translation: 2024, 2024-11, or 2024/2025.
        licence: Licence of the outputs.
        source: Origin of the outputs: a URL or a description.
        note: Note for readers, for example the prompt of a language model.
        run (DIR): Submit a run folder; or give --benchmark and --translations.
        benchmark (BENCHMARK): Benchmark of the translations.
        translations (FILE): Translations, in any format that `gendermark score` reads.
        allow_missing: Count missing sentences as not translated.
    """
    from gendermark import registry
    from gendermark.api import score_texts
    from gendermark.cli.run import opened
    from gendermark.reporting.submission import RESAMPLING, OutputFacts, SystemFacts, of_run, write
    from gendermark.runs.score import Origin

    system = SystemFacts(name, version, vendor, kind, date)
    sets = pairs(set_, "--set", "formal=formal.txt", "NAME=FILE")
    files = [*translations, *map(Path, sets.values())]
    if bool(run) == bool(files) or (translations and sets) or bool(files) != bool(benchmark):
        raise UserError("give --run DIR, or --benchmark NAME with --translations FILE or --set NAME=FILE")
    scored: list[Scored]
    if run is not None:
        scored = of_run(run, system)
    else:
        found = registry.load("benchmark", benchmark)
        if found.draws:
            raise UserError(f"{benchmark} scores many samples per sentence; submit a run with --run")
        texts = opened(found, translations, sets, allow_missing=allow_missing)
        options: Any = {"source_language": from_, "data": data, "revision": revision, "rules": rules}
        origin = Origin(system.full_label, resampling=RESAMPLING)
        scored = [score_texts(benchmark, texts, to, origin, **options)]
    outputs = OutputFacts(source, licence, note, tuple((file.name, content_hash(file)) for file in files))
    for one in scored:
        say(f"submission written to {write(output, system, outputs, one)}")
