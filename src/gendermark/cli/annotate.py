"""`gendermark annotate`: sheets for people to fill in, and how far they agree with the judge."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gendermark.cli.report import Host, NoOpen, Port, serve_site
from gendermark.cli.terminal import AsJson, echo, print_json, print_table, say, say_next

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gendermark.annotation import AgreementReport
    from gendermark.records import Estimate, Table

app = typer.Typer(help="Human validation: export a sheet, have it filled in, see how far people and judge agree.")

MOST_PROBLEMS = 10
"""Of one sheet, said one by one; `--json` has them all."""

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="Run folder that `gendermark run -o` wrote.")]
Cell = Annotated[
    str, typer.Option("--cell", help="Benchmark and direction, such as BENCHMARK.en-es, if there are several.")
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
    from gendermark.annotation import GENDERS, JudgedRun, write_sheet
    from gendermark.annotation.sheets import ANYBODY, SOURCE_COLUMN, refuse_to_overwrite
    from gendermark.errors import UserError

    refuse_to_overwrite(output, GENDERS)
    run = JudgedRun.read(directory, cell)
    rows = run.draw(n, seed, with_source=with_source)
    if not rows:
        raise UserError(f"{run.result.cell} in {directory} has no translation that could be read; all are empty")
    write_sheet(output, (*GENDERS.columns, SOURCE_COLUMN) if with_source else GENDERS.columns, rows)
    if any(row[1] == ANYBODY for row in rows):
        say(f"{run.result.cell} names no entity: ask people which gender the words have that mark {ANYBODY}")
    fewer = f" (all there are, fewer than {n:,})" if len(rows) < n else ""
    say(f"{len(rows):,} translations of {run.result.cell}{fewer} written to {output}")
    which = ["--cell", cell] if cell else []
    answers = shlex.quote(str(output.with_name(f"{output.stem}-answers")))
    agree_ = shlex.join(["gendermark", "annotate", "agree", str(directory), *which])
    say_next(
        {
            shlex.join(["gendermark", "annotate", "serve", str(output), str(directory), *which]): "fill it in here",
            f"{agree_} {answers}/*.csv": "then compare",
        }
    )
    say(f"Or give each person a copy, and pass the completed sheets instead of {answers}/*.csv.")


@app.command()
def agree(
    directory: Directory,
    sheets: Annotated[list[Path], typer.Argument(metavar="SHEET", help="Filled sheets, one per person.")],
    cell: Cell = "",
    seed: Seed = 12345,
    as_json: AsJson = False,
) -> None:
    """Agreement of people with each other and with the judge, and every translation they read differently."""
    from gendermark.annotation import JudgedRun
    from gendermark.metrics.metric import Resampling

    _print(JudgedRun.read(directory, cell).agree(sheets, Resampling(seed=seed)), as_json)


@app.command()
def export_systems(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Run folders of a benchmark that shows context, one per system.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="SHEET.csv", help="Sheet to write.")],
    key: Annotated[
        Path, typer.Option("--key", metavar="KEY.json", help="Where to write whose each row is; not for annotators.")
    ],
    cell: Cell = "",
    per_category: Annotated[
        int, typer.Option("--per-category", min=1, help="Segments of each gender in each class of professions.")
    ] = 100,
    seed: Seed = 12345,
) -> None:
    """Write one sheet of several systems and a hidden reference, as in the human evaluation of MT-GenEval."""
    from gendermark.annotation import draw_lineup, read_runs, write_lineup

    runs = read_runs(directories, cell)
    drawn, rows = draw_lineup(runs, per_category, seed)
    write_lineup(output, key, drawn, rows)
    say(
        f"{len(rows):,} rows written to {output}: {len(drawn.sample):,} segments of {drawn.cell}, each by "
        f"{len(runs)} systems and a hidden reference"
    )
    for category, n in drawn.available.items():
        if n < per_category:
            say(f"{category}: all {n:,} segments there are, fewer than {per_category:,}")
    for reason, n in drawn.left_out.items():
        say(f"left out, {reason}: {n:,} segments")
    for run in runs:
        if n := len(run.uncut & drawn.sample.keys()):
            say(f"warning: {run.directory}: answers shown whole, as their sentence was not found in them: {n:,}")
    folders = shlex.join(map(str, directories))
    answers, keyed = shlex.quote(str(output.with_name(f"{output.stem}-answers"))), shlex.join(["--key", str(key)])
    say_next(
        {
            f"gendermark annotate serve {shlex.quote(str(output))} {keyed} {folders}": "fill it in here",
            f"gendermark annotate agree-systems {keyed} {answers}/*.csv {folders}": "then compare",
        }
    )
    say(f"Or give each person a copy, and pass the completed sheets instead of {answers}/*.csv. Show nobody {key}.")


@app.command()
def agree_systems(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="SHEET|DIR", help="Filled sheets, one per person, and the run folders."),
    ],
    key: Annotated[Path, typer.Option("--key", metavar="KEY.json", help="Key that `export-systems` wrote.")],
    seed: Seed = 12345,
    as_json: AsJson = False,
) -> None:
    """Agreement of people on systems and reference, accuracy by the preferred one, and the metric's F-score."""
    from gendermark.annotation import Lineup
    from gendermark.errors import UserError
    from gendermark.metrics.metric import Resampling

    folders, sheets = ([path for path in paths if path.is_dir() is is_folder] for is_folder in (True, False))
    if not sheets or not folders:
        raise UserError("give each person's filled sheet, and the run folders of all systems")
    _print(Lineup.read(key, folders).agree(sheets, Resampling(seed=seed)), as_json)


@app.command()
def serve(
    sheet: Annotated[Path, typer.Argument(metavar="SHEET.csv", help="Blank sheet that was exported.")],
    directories: Annotated[
        list[Path] | None, typer.Argument(metavar="[DIR]...", help="Its run folder(s), to show agreement at the end.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where answers go; SHEET-answers if not given.")
    ] = None,
    cell: Cell = "",
    key: Annotated[
        Path | None, typer.Option("--key", metavar="KEY.json", help="Key of a sheet of several systems.")
    ] = None,
    seed: Seed = 12345,
    host: Host = "127.0.0.1",
    port: Port = 0,
    no_open: NoOpen = False,
) -> None:
    """Fill in a sheet in the browser, one translation at a time; every answer is saved at once."""
    from gendermark.annotation import read_blank
    from gendermark.annotation.serving import Desk, kept_token, page_files, question_of
    from gendermark.reporting.server import File, Site

    blank = read_blank(sheet)
    directory = output or sheet.with_name(f"{sheet.stem}-answers")
    with Desk(blank, directory, question_of(blank, directories or [], cell, key), seed) as desk:
        site = Site(
            files={path: File(*file) for path, file in page_files().items()},
            reads={
                **{name: getattr(desk, name) for name in ("start", "progress", "answers")},
                "agreement": lambda query: _for_page(*desk.agreement(query)),
            },
            writes={name: getattr(desk, name) for name in ("join", "answer", "undo", "close")},
        )
        say(f"answers to {sheet} go to {directory}, a sheet for each person")
        serve_site(site, host, port, no_open=no_open, token=kept_token(directory))


# -- reports -----------------------------------------------------------------------------------------------------------


def _print(report: AgreementReport, as_json: bool) -> None:
    for path in report.left_out:
        say(f"left out, as nothing is answered in it yet: {path}")
    if as_json:
        print_json(report.content)
    else:
        for place, table in enumerate(_tables(report)):
            if place:
                echo()  # piped, an empty line stands between two tables
            print_table(table.title, table.columns, table.rows)
    for sheet in report.content.get("sheets") or report.content["evaluators"]:
        for one in sheet["problems"][:MOST_PROBLEMS]:
            say(f"{sheet['path']}, line {one['line']}: {one['problem']}")
        if (n_more := len(sheet["problems"]) - MOST_PROBLEMS) > 0:
            say(f"{sheet['path']}: and {n_more:,} more lines like these; --json has them all")
    for warning in report.content["warnings"]:
        say(f"warning: {warning}")


def _for_page(report: AgreementReport, at_work: list[str]) -> dict[str, Any]:
    """Others may still be at work, perhaps at this very screen: they must not see how single rows were judged."""
    tables, sentences = list(_tables(report)), list(_sentences(report))
    if at_work and "evaluators" in report.content:  # whose translation is whose shows in every table
        return {
            "sentences": ["Results are shown when everybody has finished."],
            "tables": [],
            "warnings": [],
            "left_out": at_work,
        }
    return {
        "sentences": sentences,
        "tables": [
            {
                "title": table.title,
                "columns": list(table.columns),
                "rows": [["" if cell is None else str(cell) for cell in row] for row in table.rows],
            }
            for table in (tables[:-1] if at_work else tables)
        ],
        "warnings": report.content["warnings"],
        "left_out": at_work,
    }


def _tables(report: AgreementReport) -> Iterator[Table]:
    return _tables_of_systems(report) if "evaluators" in report.content else _tables_of_run(report)


def _tables_of_run(report: AgreementReport) -> Iterator[Table]:
    """Sheets, agreement, and what was read differently."""
    from gendermark.names import readable
    from gendermark.records import Table

    content = report.content
    title = f"Sheets for {content['cell']} of {readable(content['system'])}"
    columns: tuple[str, ...] = ("sheet", "rows", "answers", "blank", "not found", "judge neither", "problems")
    keys = ("name", "n_rows", "n_answers", "n_blank", "n_not_found", "n_not_found_by_judge")
    rows: list[tuple[object, ...]] = [(*(one[key] for key in keys), len(one["problems"])) for one in content["sheets"]]
    yield Table("sheets", title, columns, rows)
    columns = ("between", "measure", "value", "low", "high", "items")
    rows = [(e.slice, e.metric, *_numbers(e), _n(e)) for e in report.estimates]
    yield Table("agreement", "Agreement", columns, rows)
    columns = ("index", "entity", "person", "answer", "automatic", "deciding words", "translation")
    rows = [
        (*(d[key] for key in columns[:5]), " ".join(d["evidence"]), d["translation"]) for d in content["disagreements"]
    ]
    yield Table("disagreements", f"Read differently: {len(rows):,}", columns, rows)


def _sentences(report: AgreementReport) -> Iterator[str]:
    """The two shares that matter most, with their intervals."""
    for e in report.estimates:
        one, _, other = e.slice.partition(" ~ ")
        if e.metric == "agreement" and (one != "judge" or other == "people"):
            who = "The judge and the people" if one == "judge" else f"{one} and {other}"
            value, low, high = _numbers(e)
            if e.value is None:
                yield f"{who} have no item to which both gave a gender."
            else:
                yield (
                    f"{who} read the same gender in {value} % of {e.n_judged:,} items "
                    f"(between {low} and {high} % with 95 % confidence)."
                )


def _tables_of_systems(report: AgreementReport) -> Iterator[Table]:
    """Sheets, agreement (Table 7), accuracy (Table 7), and the automatic metric (Table 5)."""
    from gendermark.annotation.lineup import MEAN, REFERENCE
    from gendermark.records import Table

    content = report.content
    systems, preferred = content["systems"], content["preferred"]
    columns: tuple[str, ...] = ("sheet", "rows", "answers", "blank", "missing", "problems")
    rows: list[tuple[object, ...]] = [
        (
            *(one[key] for key in ("name", "n_rows", "n_answers", "n_blank")),
            *(len(one[key]) for key in ("missing", "problems")),
            f"{one['n_reference_correct']:,} of {one['n_reference']:,}",
            "yes" if one["name"] == preferred else "",
        )
        for one in content["evaluators"]
    ]
    yield Table("sheets", f"Sheets for {content['cell']}", (*columns, "reference correct", "preferred"), rows)
    if len(content["evaluators"]) > 1:
        columns = ("translations of", "alpha", "low", "high", "rows")
        rows = [(e.slice, *_numbers(e), _n(e)) for e in report.estimates if e.metric == "alpha"]
        yield Table("alpha", "Krippendorff's alpha between people", columns, rows)
    columns = ("translations of", "sub-category", "accuracy", "low", "high", "rows")
    rows = []
    for name in (*systems, REFERENCE):
        for category in ("all", *content["categories"]):
            e = report.estimate("accuracy", name if category == "all" else f"{name}, {category}")
            rows.append((name, category, *_numbers(e), _n(e)))
    yield Table("accuracy", f"Accuracy by {preferred}, the preferred evaluator", columns, rows)
    columns = ("translations of", "precision", "recall", "F-score", "low", "high", "rows")
    rows = []
    for name in (*systems, MEAN):
        precision, recall, f = (report.estimate(metric, name) for metric in ("precision", "recall", "f_score"))
        rows.append((name, _numbers(precision)[0], _numbers(recall)[0], *_numbers(f), _n(f)))
    yield Table("metric", f"The automatic metric against {preferred}", columns, rows)


def _numbers(e: Estimate) -> list[str]:
    """Percentages with one decimal; what ends at 1 (kappa, alpha, scores of MT-GenEval's metric) with three."""
    n_decimals = 3 if e.metric in ("kappa", "alpha", "precision", "recall", "f_score") else 1
    return ["–" if value is None else f"{value:.{n_decimals}f}" for value in (e.value, e.low, e.high)]


def _n(e: Estimate) -> str:
    return f"{e.n_judged:,} of {e.n_total:,}"
