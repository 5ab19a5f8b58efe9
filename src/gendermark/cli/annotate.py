"""`gendermark annotate`: sheets for people to fill in, and how far they agree with the judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gendermark.cli.terminal import AsJson, print_json, print_table, say

if TYPE_CHECKING:
    from gendermark.annotation import AgreementReport
    from gendermark.records import Estimate

app = typer.Typer(help="Human validation: export a sheet, have it filled in, see how far people and judge agree.")

MOST_PROBLEMS = 10
"""Of one sheet, said one by one; `--json` has them all."""

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="Run folder that `gendermark run -o` wrote.")]
Cell = Annotated[
    str, typer.Option("--cell", help="Benchmark and direction, such as winomt.en-es, if there are several.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the sample or the resampling.")]


@app.command()
def export(
    directory: Directory,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="SHEET.csv", help="Sheet to write.")],
    cell: Cell = "",
    n: Annotated[int, typer.Option("--n", min=1, help="Number of translations.")] = 100,
    seed: Seed = 12345,
    with_source: Annotated[bool, typer.Option("--with-source", help="Add the source sentences at the end.")] = False,
) -> None:
    """Write a sheet of translations, evenly from every expected and observed gender, the judge's answers hidden."""
    from gendermark.annotation import draw_sample, has_answers, read_cell, write_sheet
    from gendermark.errors import UserError

    if output.is_file() and has_answers(output):
        raise UserError(f"{output} may hold somebody's answers; choose another name with -o")
    result, translations = read_cell(directory, cell)
    rows = draw_sample(result, translations, n, seed)
    if not rows:
        raise UserError(f"{result.cell} in {directory} has no translation that could be read; all are empty")
    write_sheet(output, rows, with_source=with_source)
    fewer = f" (all there are, fewer than {n:,})" if len(rows) < n else ""
    say(
        f"{len(rows):,} translations of {result.cell}{fewer} written to {output}; give each person a copy, "
        f"then: gendermark annotate agree {directory} SHEET.csv ..."
    )


@app.command()
def agree(
    directory: Directory,
    sheets: Annotated[list[Path], typer.Argument(metavar="SHEET", help="Filled sheets, one per person.")],
    cell: Cell = "",
    seed: Seed = 12345,
    as_json: AsJson = False,
) -> None:
    """Agreement of people with each other and with the judge, and every translation they read differently."""
    from gendermark.annotation import agreement, read_cell, read_sheet
    from gendermark.metrics.metric import Resampling

    filled = [read_sheet(sheet) for sheet in sheets]
    report = agreement(*read_cell(directory, cell), filled, Resampling(seed=seed))
    if as_json:
        print_json(report.to_json())
    else:
        _print(report)
    for sheet in report.sheets:
        for problem in sheet.problems[:MOST_PROBLEMS]:
            say(f"{sheet.path}, line {problem.line}: {problem.problem}")
        if len(sheet.problems) > MOST_PROBLEMS:
            say(f"{sheet.path}: and {len(sheet.problems) - MOST_PROBLEMS:,} more lines like these; --json has them all")
    for warning in report.warnings:
        say(f"warning: {warning}")


def _print(report: AgreementReport) -> None:
    """Three tables; piped, an empty line stands between them."""
    columns = ("sheet", "rows", "answers", "blank", "not found", "judge neither", "problems")
    rows = [
        (s.name, s.n_rows, s.n_answers, s.n_blank, s.n_not_found, s.n_not_found_by_judge, len(s.problems))
        for s in report.sheets
    ]
    print_table(f"Sheets for {report.cell} of {report.system}", columns, rows)
    typer.echo()
    lines = [(e.slice, e.metric, *map(str, _numbers(e)), f"{e.n_judged:,} of {e.n_total:,}") for e in report.estimates]
    print_table("Agreement", ("between", "measure", "value", "low", "high", "items"), lines)
    typer.echo()
    print_table(
        f"Read differently: {len(report.disagreements):,}",
        ("index", "entity", "person", "answer", "automatic", "deciding words", "translation"),
        [
            (d.index, d.entity, d.person, d.answer, d.automatic, " ".join(d.evidence), d.translation)
            for d in report.disagreements
        ],
    )


def _numbers(e: Estimate) -> list[str]:
    """Percentages with one decimal; kappa and alpha, which end at 1, with three."""
    n_decimals = 3 if e.metric in ("kappa", "alpha") else 1
    return ["–" if value is None else f"{value:.{n_decimals}f}" for value in (e.value, e.low, e.high)]
