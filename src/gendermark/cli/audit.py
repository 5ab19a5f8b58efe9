"""`gendermark audit`: what files of translations hold, and how their systems treat women and men; nothing is asked."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gendermark.cli.options import Executor
from gendermark.cli.terminal import AsJson, echo, open_workers, print_json, say, show_progress
from gendermark.errors import UserError

if TYPE_CHECKING:
    from gendermark.auditing.audit import Audit

_OURS = 'name="generator" content="gendermark '
_HEAD = 4096
"""Characters at the beginning of a page, among which it says who wrote it."""


def audit(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Tables (.csv, .tsv, .xlsx), .jsonl, `source ||| translation` lines, or one translation per line.",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The page to write.")] = Path("audit.html"),
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Leave a run folder for each system here.")
    ] = None,
    executor: Executor = "",
    as_json: AsJson = False,
) -> None:
    """Recognise what files of translations hold, score all of it, and write a page."""
    from gendermark.auditing.audit import audit as carry_out
    from gendermark.reporting.page import write_page
    from gendermark.runs.run import RunContext

    _check_output(output)
    with tempfile.TemporaryDirectory(prefix="gendermark-audit-") as temporary:
        with open_workers(executor, len(files)) as workers:
            context = RunContext(open_progress=show_progress, executor=workers)
            found = carry_out(files, keep or Path(temporary), context)
        if not found.audited:
            raise UserError("; ".join(found.refused))
        write_page(output, found.folders)
    if as_json:
        print_json(
            {
                "page": str(output),
                "audited": [one.to_json() for one in found.audited],
                "refused": list(found.refused),
                "passed_over": list(found.passed_over),
            }
        )
    else:
        _print(found, output)
    for problem in found.refused:
        say(f"error: {problem}")
    if found.refused:
        raise typer.Exit(UserError.exit_code)


def _check_output(path: Path) -> None:
    """A page may take the place of an earlier page only, before any work is done."""
    if path.is_dir():
        raise UserError(f"{path} is a directory; name a file with -o")
    if not path.is_file():
        return
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            head = file.read(_HEAD)
    except OSError as problem:
        raise UserError(f"{path} cannot be read: {problem.strerror or problem}; name another file with -o") from None
    if head.strip() and _OURS not in head:
        raise UserError(f"{path} is there already and is no page of gendermark; name another file with -o")


def _print(found: Audit, output: Path) -> None:
    """What was recognised and what is odd about it; then what was found; then where the page is."""
    from gendermark.reporting.findings import concluded, main_finding

    for one in found.audited:
        echo(f"{one.name}: {one.found.sentence}")
        for oddity in one.oddities:
            echo(f"  {oddity}")
    for sentence in found.passed_over:
        echo(sentence)
    echo()
    for one, result in zip(found.audited, map(concluded, found.results), strict=True):
        title = one.found.known.benchmark.title
        echo(f"{one.name}, {title} {result.selection.direction}: {main_finding(result)}")
    echo(f"\nThe page with every sentence: {output}")
