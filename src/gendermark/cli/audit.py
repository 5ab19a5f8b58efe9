"""`gendermark audit`: recognise and score files of translations."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from gendermark.cli.options import Executor
from gendermark.cli.results import print_results, say_findings
from gendermark.cli.terminal import All, AsJson, open_workers, print_json, say, show_progress
from gendermark.errors import UserError

if TYPE_CHECKING:
    from gendermark.auditing.audit import Audit
    from gendermark.result import Result

_OURS = 'name="generator" content="gendermark '
_HEAD = 4096
"""Characters at the start of a page that identify its generator."""
MOST_LINES = 12
LONGEST_LINE = 160
"""Without `--all`: maximum number of lines on recognised files, and their length."""
MOST_VERDICTS = 3
"""Systems with a sentence of their own; the table has all."""


def audit(
    files: tuple[Path, ...],
    output: Path = Path("audit.html"),
    keep: Path | None = None,
    parser: str = "",
    executor: Executor = "",
    to: Annotated[str, Option("--to", hidden=True)] = "",
    everything: All = False,
    as_json: AsJson = False,
) -> None:
    """Score spreadsheets of translations (benchmark and language are detected) and write a report.

    If a language is not detected, name its column by its code, such as es. Missing sentences are excluded; the report
    states this at the top.

    Args:
        files (FILE...): Tables (.csv, .tsv, .xlsx), .jsonl, .po, .xlf, `source ||| translation` lines, or one
            translation per line; benchmark translations or your own.
        output (FILE): Report to write.
        keep (DIR): Also keep a run folder for each system here.
        parser (NAME): spaCy pipeline that parses your own texts.
    """
    from gendermark.auditing.audit import audit as carry_out
    from gendermark.auditing.own_texts import write_people
    from gendermark.reporting.page import write_page
    from gendermark.runs.run import RunContext

    if to:
        raise UserError(
            "audit takes no --to: it detects the language; if it is detected wrongly, rename the column's header in "
            f"the file to the language code ({to})"
        )
    _check_output(output)
    with tempfile.TemporaryDirectory(prefix="gendermark-audit-") as temporary:
        with open_workers(executor, len(files)) as workers:
            context = RunContext(open_progress=show_progress, executor=workers)
            found = carry_out(files, keep or Path(temporary), context, parser)
        if not found.audited:
            raise UserError("; ".join(found.refused))
        write_page(output, found.folders)
    own = [(one.name, one.result) for one in found.audited if one.found.known.benchmark.reads_any_text]
    people = output.with_suffix(".people.csv") if own else None
    if people:
        write_people(people, own)
    if as_json:
        print_json(
            {
                "page": str(output),
                **({"people": str(people)} if people else {}),
                "audited": [one.to_json() for one in found.audited],
                "refused": list(found.refused),
                "passed_over": list(found.passed_over),
            }
        )
    else:
        _print(found, output, everything=everything)
        if people:
            say(f"Every person, for reviewers: {people}")
    for problem in found.refused:
        say(f"error: {problem}")
    if found.refused:
        raise typer.Exit(UserError.exit_code)


def _check_output(path: Path) -> None:
    """Refuse, before any work, to overwrite anything but an earlier report."""
    if path.is_dir():
        raise UserError(f"{path} is a directory; give a file with -o")
    if not path.is_file():
        return
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            head = file.read(_HEAD)
    except OSError as problem:
        raise UserError(f"{path} cannot be read: {problem.strerror or problem}; choose another file with -o") from None
    if head.strip() and _OURS not in head:
        raise UserError(f"{path} exists and is not a gendermark report; choose another file with -o")


def _print(found: Audit, output: Path, *, everything: bool) -> None:
    """Print what was recognised and its oddities, the headline table, and the location of the page."""
    lines = []
    for one in found.audited:
        lines.append(f"{one.name}: {one.found.sentence}")
        lines += [f"  {oddity}" for oddity in one.oddities]
    lines += found.passed_over
    shown = lines if everything else lines[:MOST_LINES]
    for line in shown:
        say(line if everything or len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…")
    if len(shown) < len(lines):
        say(f"{len(lines) - len(shown)} more lines; --all shows them")
    print_results(found.results, everything=everything, printed="\n".join(lines))
    by_name: dict[str, list[Result]] = {}
    for one in found.audited:
        by_name.setdefault(one.name, []).append(one.result)
    own = [one for one in found.audited if one.found.known.benchmark.reads_any_text]
    for one in own[:MOST_VERDICTS]:
        for finding in one.result.findings:
            say(f"- {one.name}, {one.result.selection.direction}: {finding}")
    for name, results in list(by_name.items())[: MOST_VERDICTS if not own else 0]:
        say_findings(results, name)
    say(f"\nReport with every sentence: {output}")
