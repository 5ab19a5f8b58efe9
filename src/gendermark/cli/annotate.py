"""`gendermark annotate`: sheets for annotators, and their agreement with the judge."""

from __future__ import annotations

import shlex
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from gendermark.cli.options import AtLeastOne
from gendermark.cli.report import Host, NoOpen, Port, serve_site
from gendermark.cli.terminal import AsJson, echo, print_json, print_table, say, say_next
from gendermark.errors import UserError
from gendermark.names import readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gendermark.annotation.agreement import AgreementReport
    from gendermark.records import Estimate, Table

MOST_PROBLEMS = 10
"""Per sheet; `--json` has all."""

_PAGE = {
    "": ("annotate.html", "text/html"),
    "annotate.css": ("annotate.css", "text/css"),
    "annotate.js": ("annotate.js", "text/javascript"),
}
"""Page files by path, with media types."""
Cell = Annotated[
    str, Option("--cell", help="Benchmark and direction, such as BENCHMARK.en-es, if the run has several.")
]
Key = Annotated[Path | None, Option("--key", metavar="KEY.json", help="Key that `export --key` wrote.")]
Seed = Annotated[
    int, Option("--seed", min=0, help="Random seed: of the sample (export), or of the resampling (agree, serve).")
]


def export(
    directories: tuple[Path, ...],
    *,
    output: Path,
    cell: Cell = "",
    n: AtLeastOne = 100,
    seed: Seed = 12345,
    with_source: bool = False,
    key: Key = None,
    per_category: AtLeastOne = 100,
) -> None:
    """Write a sheet of translations for annotators, balanced over genders; the judge's answers are hidden.

    With --key, the sheet mixes several systems and a hidden reference, as in the human evaluation of MT-GenEval.

    Args:
        directories (DIR...): Run folder; with --key, one for each system to compare.
        output (SHEET.csv): Sheet to write.
        n: Number of translations.
        with_source: Add a column of source sentences.
        key: Mix several systems and hide which is which in this file.
        per_category: With --key: segments per gender and class of professions.
    """
    if key is not None:
        _export_systems(directories, output, key, cell, per_category, seed)
    elif len(directories) > 1:
        raise UserError("a sheet of several systems needs --key KEY.json, which records the system of each row")
    else:
        _export_run(directories[0], output, cell, n, seed, with_source=with_source)


def _export_run(directory: Path, output: Path, cell: str, n: int, seed: int, *, with_source: bool) -> None:
    from gendermark.annotation.agreement import JudgedRun
    from gendermark.annotation.sheets import ANYBODY, GENDERS, SOURCE_COLUMN, refuse_to_overwrite, write_sheet

    refuse_to_overwrite(output, GENDERS)
    run = JudgedRun.read(directory, cell)
    rows = run.draw(n, seed, with_source=with_source)
    if not rows:
        raise UserError(f"all translations of {run.result.cell} in {directory} are empty")
    write_sheet(output, (*GENDERS.columns, SOURCE_COLUMN) if with_source else GENDERS.columns, rows)
    if any(row[1] == ANYBODY for row in rows):
        say(f"{run.result.cell} names no person: ask annotators for the gender of the words that mark {ANYBODY}")
    fewer = f" (all there are, fewer than {n:,})" if len(rows) < n else ""
    say(f"{len(rows):,} translations of {run.result.cell}{fewer} written to {output} (CSV)")
    _say_next(output, [directory], ["--cell", cell] if cell else [])


def _export_systems(
    directories: Sequence[Path], output: Path, key: Path, cell: str, per_category: int, seed: int
) -> None:
    from gendermark.annotation.lineup import draw_lineup, read_runs, write_lineup

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
            say(f"warning: {run.directory}: {n:,} answers shown in full, as the sentence was not found in them")
    _say_next(output, directories, ["--key", str(key)])
    say(f"Do not show {key} to annotators.")


def _say_next(sheet: Path, directories: Sequence[Path], options: Sequence[str]) -> None:
    answers = shlex.quote(str(sheet.with_name(f"{sheet.stem}-answers")))
    command, runs = ["gendermark", "annotate"], list(map(str, directories))
    say_next(
        {
            shlex.join([*command, "serve", str(sheet), *runs, *options]): "fill it in, in your browser",
            f"{shlex.join([*command, 'agree', *runs, *options])} {answers}/*.csv": "then compare",
        }
    )
    say(f"Or give each annotator a copy, and pass the completed sheets instead of {answers}/*.csv.")


def agree(
    paths: tuple[Path, ...], cell: Cell = "", seed: Seed = 12345, key: Key = None, as_json: AsJson = False
) -> None:
    """Measure agreement among annotators and with the judge; list all disagreements.

    With --key: agreement on each system and the reference, accuracy by the preferred annotator, and F-score of the
    automatic metric.

    Args:
        paths (DIR... SHEET...): Run folder(s), and the completed sheets, one per annotator.
    """
    from gendermark.annotation.agreement import JudgedRun
    from gendermark.annotation.lineup import Lineup
    from gendermark.metrics.metric import Resampling

    if absent := [str(path) for path in paths if not path.exists()]:
        raise UserError(f"{absent[0]}: no such file; give run folders and completed sheets")
    folders, sheets = ([path for path in paths if path.is_dir() is is_folder] for is_folder in (True, False))
    if not sheets or not folders:
        kind = "sheet" if folders else "run folder"
        raise UserError(f"give run folders and completed sheets; no {kind} among {', '.join(map(str, paths))}")
    if key is None and len(folders) > 1:
        raise UserError("a sheet of several systems needs the key that was written with it; add --key KEY.json")
    how = Resampling(seed=seed)
    _print(
        Lineup.read(key, folders).agree(sheets, how) if key else JudgedRun.read(folders[0], cell).agree(sheets, how),
        as_json,
    )


def serve(
    sheet: Path,
    directories: Annotated[tuple[Path, ...], Argument()] = (),
    output: Path | None = None,
    cell: Cell = "",
    key: Key = None,
    seed: Seed = 12345,
    host: Host = "127.0.0.1",
    port: Port = 0,
    no_open: NoOpen = False,
) -> None:
    """Fill in a sheet in the browser, one translation at a time; every answer is saved immediately.

    Args:
        sheet (SHEET.csv): Sheet that `annotate export` wrote.
        directories ([DIR]...): Run folder(s) of the sheet, to show agreement at the end.
        output (DIR): Directory for the answers; default: SHEET-answers.
    """
    from gendermark.annotation.serving import Desk, kept_token, question_of
    from gendermark.annotation.sheets import read_blank
    from gendermark.reporting.server import File, Site

    assets = files("gendermark.annotation") / "assets"
    blank = read_blank(sheet)
    directory = output or sheet.with_name(f"{sheet.stem}-answers")
    with Desk(blank, directory, question_of(blank, directories, cell, key), seed) as desk:
        site = Site(
            files={path: File(kind, (assets / name).read_bytes()) for path, (name, kind) in _PAGE.items()},
            reads={
                **{name: getattr(desk, name) for name in ("start", "progress", "answers")},
                "agreement": lambda query: _for_page(*desk.agreement(query)),
            },
            writes={name: getattr(desk, name) for name in ("join", "answer", "undo", "close")},
        )
        say(f"saving the answers to {sheet} in {directory}, one sheet per annotator")
        serve_site(site, host, port, no_open=no_open, token=kept_token(directory))


# -- reports -----------------------------------------------------------------------------------------------------------


def _print(report: AgreementReport, as_json: bool) -> None:
    for path in report.left_out:
        say(f"left out, no answers yet: {path}")
    if as_json:
        print_json(report.content)
    else:
        for place, table in enumerate(_tables(report)):
            if place:
                echo()  # piped tables are separated by an empty line
            print_table(table.title, table.columns, table.rows)
    for sheet in report.content.get("sheets") or report.content["evaluators"]:
        for one in sheet["problems"][:MOST_PROBLEMS]:
            say(f"{sheet['path']}, line {one['line']}: {one['problem']}")
        if (n_more := len(sheet["problems"]) - MOST_PROBLEMS) > 0:
            say(f"{sheet['path']}: and {n_more:,} more problems; --json lists all")
    for warning in report.content["warnings"]:
        say(f"warning: {warning}")


def _for_page(report: AgreementReport, at_work: list[str]) -> dict[str, Any]:
    """While others are still annotating, leave out what reveals judgements of single rows."""
    tables, sentences, warnings = list(_tables(report)), list(_sentences(report)), report.content["warnings"]
    if at_work and "evaluators" in report.content:  # every table reveals which system a translation is from
        tables, sentences, warnings = [], ["Results are shown when all annotators have finished."], []
    elif at_work:
        del tables[-1]
    shown = [
        {
            "title": table.title,
            "columns": list(table.columns),
            "rows": [["" if cell is None else str(cell) for cell in row] for row in table.rows],
        }
        for table in tables
    ]
    return {"sentences": sentences, "tables": shown, "warnings": warnings, "left_out": at_work}


def _tables(report: AgreementReport) -> Iterator[Table]:
    return _tables_of_systems(report) if "evaluators" in report.content else _tables_of_run(report)


def _tables_of_run(report: AgreementReport) -> Iterator[Table]:
    from gendermark.records import Table

    content = report.content
    title = f"Sheets for {content['cell']} of {readable(content['system'])}"
    columns: tuple[str, ...] = ("sheet", "rows", "answers", "blank", "not found", "judge neither", "problems")
    keys = ("name", "n_rows", "n_answers", "n_blank", "n_not_found", "n_not_found_by_judge")
    rows: list[tuple[object, ...]] = [(*(one[key] for key in keys), len(one["problems"])) for one in content["sheets"]]
    yield Table("sheets", title, columns, rows)
    columns = ("between", "measure", "value", "low", "high", "items")
    yield Table("agreement", "Agreement", columns, [(e.slice, e.metric, *_shown(e)) for e in report.estimates])
    columns = ("index", "entity", "person", "answer", "automatic", "deciding words", "translation")
    found = content["disagreements"]
    rows = [(*(d[key] for key in columns[:5]), " ".join(d["evidence"]), d["translation"]) for d in found]
    yield Table("disagreements", f"Disagreements: {len(rows):,}", columns, rows)


def _sentences(report: AgreementReport) -> Iterator[str]:
    for e in report.estimates:
        one, _, other = e.slice.partition(" ~ ")
        if e.metric == "agreement" and (one != "judge" or other == "people"):
            who = "The judge and the annotators" if one == "judge" else f"{one} and {other}"
            value, low, high, _ = _shown(e)
            if e.value is None:
                yield f"{who}: no item that both assigned a gender."
            else:
                yield f"{who} agree on {value}% of {e.n_judged:,} items (95% CI {low}–{high})."


def _tables_of_systems(report: AgreementReport) -> Iterator[Table]:
    """Sheets, agreement and accuracy (Table 7), and the automatic metric (Table 5)."""
    from gendermark.annotation.lineup import MEAN, REFERENCE
    from gendermark.records import Table

    content = report.content
    systems, preferred = content["systems"], content["preferred"]
    heads = ("sheet", "rows", "answers", "blank", "missing", "problems", "reference correct", "preferred")
    sheets = [
        (
            *(one[key] for key in ("name", "n_rows", "n_answers", "n_blank")),
            *(len(one[key]) for key in ("missing", "problems")),
            f"{one['n_reference_correct']:,} of {one['n_reference']:,}",
            "yes" if one["name"] == preferred else "",
        )
        for one in content["evaluators"]
    ]
    yield Table("sheets", f"Sheets for {content['cell']}", heads, sheets)
    if len(sheets) > 1:
        rows = [(e.slice, *_shown(e)) for e in report.estimates if e.metric == "alpha"]
        title = "Krippendorff's alpha between annotators"
        yield Table("alpha", title, ("translations of", "alpha", "low", "high", "rows"), rows)
    accuracies = [
        (name, category, *_shown(report.estimate("accuracy", name if category == "all" else f"{name}, {category}")))
        for name in (*systems, REFERENCE)
        for category in ("all", *content["categories"])
    ]
    columns: tuple[str, ...] = ("translations of", "sub-category", "accuracy", "low", "high", "rows")
    yield Table("accuracy", f"Accuracy according to {preferred}, the preferred annotator", columns, accuracies)
    scores = []
    for name in (*systems, MEAN):
        precision, recall, f = (_shown(report.estimate(metric, name)) for metric in ("precision", "recall", "f_score"))
        scores.append((name, precision[0], recall[0], *f))
    columns = ("translations of", "precision", "recall", "F-score", "low", "high", "rows")
    yield Table("metric", f"The automatic metric against {preferred}", columns, scores)


def _shown(e: Estimate) -> tuple[str, str, str, str]:
    """Value, interval and coverage.

    Percentages have one decimal; scores up to 1 (kappa, alpha, MT-GenEval's metric) have three.
    """
    n_decimals = 3 if e.metric in ("kappa", "alpha", "precision", "recall", "f_score") else 1
    value, low, high = ("–" if number is None else f"{number:.{n_decimals}f}" for number in (e.value, e.low, e.high))
    return value, low, high, f"{e.n_judged:,} of {e.n_total:,}"
