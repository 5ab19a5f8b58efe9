"""`gendermark annotate`: sheets for people to fill in, and how far they agree with the judge."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from gendermark.cli.report import Host, NoOpen, Port, serve_site
from gendermark.cli.terminal import AsJson, echo, print_json, print_table, say, say_next

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from gendermark.annotation import AgreementReport, LineupReport, Problem
    from gendermark.annotation.questions import Questions
    from gendermark.annotation.serving import Agree
    from gendermark.records import Estimate, Table

app = typer.Typer(help="Human validation: export a sheet, have it filled in, see how far people and judge agree.")

Filled = TypeVar("Filled")
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
    from gendermark.annotation import draw_sample, has_answers, read_cell, write_sheet
    from gendermark.annotation.sheets import ANYBODY
    from gendermark.errors import UserError

    if output.is_file() and has_answers(output):
        raise UserError(f"{output} may hold somebody's answers; choose another name with -o")
    result, translations = read_cell(directory, cell)
    rows = draw_sample(result, translations, n, seed)
    if not rows:
        raise UserError(f"{result.cell} in {directory} has no translation that could be read; all are empty")
    write_sheet(output, rows, with_source=with_source)
    if any(row.entity == ANYBODY for row in rows):
        say(f"{result.cell} names no entity: ask people which gender the words have that mark {ANYBODY}")
    fewer = f" (all there are, fewer than {n:,})" if len(rows) < n else ""
    say(f"{len(rows):,} translations of {result.cell}{fewer} written to {output}")
    which = ["--cell", cell] if cell else []
    answers = shlex.quote(str(output.with_name(f"{output.stem}-answers")))
    agree_ = shlex.join(["gendermark", "annotate", "agree", str(directory), *which])
    say_next(
        {
            shlex.join(["gendermark", "annotate", "serve", str(output), str(directory), *which]): "fill it in here",
            f"{agree_} {answers}/*.csv": "then compare",
        }
    )
    say("Or give each person a copy, and name the filled sheets in place of the last words.")


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

    filled = _filled(sheets, read_sheet)
    report = agreement(*read_cell(directory, cell), filled, Resampling(seed=seed))
    if as_json:
        print_json(report.to_json())
    else:
        _print(_tables(report))
    _say_problems(((sheet.path, sheet.problems) for sheet in report.sheets), report.warnings)


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
    lineup, rows = draw_lineup(runs, per_category, seed)
    write_lineup(output, key, lineup, rows)
    say(
        f"{len(rows):,} rows written to {output}: {len(lineup.sample):,} segments of {lineup.cell}, each by "
        f"{len(runs)} systems and a hidden reference"
    )
    for category, n in lineup.short.items():
        say(f"{category}: all {n:,} segments there are, fewer than {per_category:,}")
    for reason, n in lineup.left_out.items():
        say(f"left out, {reason}: {n:,} segments")
    for run in runs:
        n = len(run.uncut & lineup.sample.keys())
        if n:
            say(f"warning: {run.directory}: answers shown whole, as their sentence was not found in them: {n:,}")
    folders = shlex.join(map(str, directories))
    answers, keyed = shlex.quote(str(output.with_name(f"{output.stem}-answers"))), shlex.join(["--key", str(key)])
    say_next(
        {
            f"gendermark annotate serve {shlex.quote(str(output))} {keyed} {folders}": "fill it in here",
            f"gendermark annotate agree-systems {keyed} {answers}/*.csv {folders}": "then compare",
        }
    )
    say(f"Or give each person a copy, and name the filled sheets in place of {answers}/*.csv. Show nobody {key}.")


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
    from gendermark.annotation import evaluate_lineup, match_runs, read_answers, read_key
    from gendermark.errors import UserError
    from gendermark.metrics.metric import Resampling

    lineup = read_key(key)
    sheets = [path for path in paths if not path.is_dir()]
    if not sheets:
        raise UserError("no sheet is given; give each person's filled sheet, then the run folders")
    answers = _filled(sheets, lambda sheet: read_answers(sheet, lineup))
    runs = match_runs(lineup, [path for path in paths if path.is_dir()])
    report = evaluate_lineup(lineup, runs, answers, Resampling(seed=seed))
    if as_json:
        print_json(report.to_json())
    else:
        _print(_lineup_tables(report))
    _say_problems(((one.path, one.problems) for one in report.evaluators), report.warnings)


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
    from gendermark.annotation.questions import read_questions
    from gendermark.annotation.serving import Desk, kept_token, page_files
    from gendermark.report.server import File, Site

    questions = read_questions(sheet)
    directory = output or sheet.with_name(f"{sheet.stem}-answers")
    agree, languages = _agreement_of(questions, directories or [], cell, key, seed)
    with Desk(questions, directory, agree, languages) as desk:
        site = Site(
            files={path: File(*file) for path, file in page_files().items()},
            reads={name: getattr(desk, name) for name in ("start", "progress", "answers", "agreement")},
            writes={name: getattr(desk, name) for name in ("join", "answer", "undo", "close")},
        )
        say(f"answers to {sheet} go to {directory}, a sheet for each person")
        serve_site(site, host, port, no_open=no_open, token=kept_token(directory))


def _filled(paths: Sequence[Path], read: Callable[[Path], Filled]) -> list[Filled]:
    """The sheets with answers. One that is still blank is left out, which is said, unless all are."""
    from gendermark.annotation.sheets import NoAnswers

    found, blank = [], []
    for path in paths:
        try:
            found.append(read(path))
        except NoAnswers as problem:
            blank.append((path, problem))
    if not found:
        raise blank[0][1]
    for path, _ in blank:
        say(f"left out, as nothing is answered in it yet: {path}")
    return found


def _agreement_of(
    questions: Questions, directories: Sequence[Path], cell: str, key: Path | None, seed: int
) -> tuple[Agree | None, tuple[str, str]]:
    """How agreement is worked out, if run folders are given; and the languages of the sheet, if they are known."""
    from gendermark.annotation import (
        agreement,
        evaluate_lineup,
        match_runs,
        read_answers,
        read_cell,
        read_key,
        read_sheet,
    )
    from gendermark.annotation.items import Items
    from gendermark.annotation.lineup_agreement import n_foreign_rows
    from gendermark.annotation.questions import LINEUP
    from gendermark.annotation.serving import Agreement
    from gendermark.errors import UserError
    from gendermark.metrics.metric import Resampling

    if questions.form is not LINEUP:
        if key is not None:
            raise UserError(f"--key is for sheets that `export-systems` wrote; {questions.path} is not one")
        if len(directories) > 1:
            raise UserError(f"{questions.path} is of one run; give that run folder only")
        if not directories:
            return None, ("", "")
        result, translations = read_cell(directories[0], cell)
        items = Items(result, translations)
        n_foreign = sum(not items.has(row) for row in questions.sheet_rows())
        if n_foreign:
            raise UserError(
                f"{questions.path} is not of {result.cell} in {directories[0]}: {n_foreign:,} of its "
                f"{len(questions.rows):,} sentences are not translations there; give the run it was exported from"
            )

        def agree(sheets: Sequence[Path], in_full: bool) -> Agreement:
            report = agreement(result, translations, [read_sheet(path) for path in sheets], Resampling(seed=seed))
            tables = list(_tables(report))
            return Agreement(_in_words(report), tables if in_full else tables[:-1], report.warnings)

        return agree, (result.selection.source_language, result.selection.target_language)
    if key is None and directories:
        raise UserError(f"{questions.path} is of several systems; give its key too: --key KEY.json")
    if key is None:
        return None, ("", "")
    lineup = read_key(key)
    n_foreign = n_foreign_rows(questions.path, lineup)
    if n_foreign:
        raise UserError(
            f"{questions.path} is not the sheet of {key}: {n_foreign:,} of its {len(questions.rows):,} rows are not in "
            "it; give the key that was written with it"
        )
    source_language, _, target_language = lineup.cell.rpartition(".")[2].partition("-")
    if not directories:
        return None, (source_language, target_language)
    runs = match_runs(lineup, directories)

    def agree_on_systems(sheets: Sequence[Path], in_full: bool) -> Agreement:
        answers = [read_answers(path, lineup) for path in sheets]
        report = evaluate_lineup(lineup, runs, answers, Resampling(seed=seed))
        # Which translation is the reference, and what systems scored, would tell those who are still at work.
        if not in_full:
            return Agreement(["What is found is shown when everybody has finished."])
        return Agreement((), list(_lineup_tables(report)), report.warnings)

    return agree_on_systems, (source_language, target_language)


def _say_problems(sheets: Iterable[tuple[str, Sequence[Problem]]], warnings: Iterable[str]) -> None:
    for path, problems in sheets:
        for problem in problems[:MOST_PROBLEMS]:
            say(f"{path}, line {problem.line}: {problem.problem}")
        if len(problems) > MOST_PROBLEMS:
            say(f"{path}: and {len(problems) - MOST_PROBLEMS:,} more lines like these; --json has them all")
    for warning in warnings:
        say(f"warning: {warning}")


def _print(tables: Iterable[Table]) -> None:
    """Piped, an empty line stands between two tables."""
    for place, table in enumerate(tables):
        if place:
            echo()
        print_table(table.title, table.columns, table.rows)


def _tables(report: AgreementReport) -> Iterator[Table]:
    """Sheets, agreement, and what was read differently."""
    from gendermark.names import readable
    from gendermark.records import Table

    columns: tuple[str, ...] = ("sheet", "rows", "answers", "blank", "not found", "judge neither", "problems")
    rows: list[tuple[object, ...]] = [
        (s.name, s.n_rows, s.n_answers, s.n_blank, s.n_not_found, s.n_not_found_by_judge, len(s.problems))
        for s in report.sheets
    ]
    yield Table("sheets", f"Sheets for {report.cell} of {readable(report.system)}", columns, rows)
    columns = ("between", "measure", "value", "low", "high", "items")
    rows = [(e.slice, e.metric, *map(str, _numbers(e)), f"{e.n_judged:,} of {e.n_total:,}") for e in report.estimates]
    yield Table("agreement", "Agreement", columns, rows)
    columns = ("index", "entity", "person", "answer", "automatic", "deciding words", "translation")
    rows = [
        (d.index, d.entity, d.person, d.answer, d.automatic, " ".join(d.evidence), d.translation)
        for d in report.disagreements
    ]
    yield Table("disagreements", f"Read differently: {len(report.disagreements):,}", columns, rows)


def _in_words(report: AgreementReport) -> Iterator[str]:
    """The two shares that matter most, with their intervals."""
    shares = {e.slice: e for e in report.estimates if e.metric == "agreement"}
    for slice_name, e in shares.items():
        one, _, other = slice_name.partition(" ~ ")
        if one != "judge" or other == "people":
            who = "The judge and the people" if one == "judge" else f"{one} and {other}"
            if e.value is None:
                yield f"{who} have no item to which both gave a gender."
            else:
                value, low, high = _numbers(e)
                yield (
                    f"{who} read the same gender in {value} % of {e.n_judged:,} items "
                    f"(between {low} and {high} % with 95 % confidence)."
                )


def _lineup_tables(report: LineupReport) -> Iterator[Table]:
    """Sheets, agreement (Table 7), accuracy (Table 7), and the automatic metric (Table 5)."""
    from gendermark.annotation.lineup import MEAN, REFERENCE
    from gendermark.records import Table

    people = [
        (
            one.name,
            one.n_rows,
            one.n_answers,
            one.n_blank,
            len(one.missing),
            len(one.problems),
            f"{one.n_reference_correct:,} of {one.n_reference:,}",
            "yes" if one.name == report.preferred else "",
        )
        for one in report.evaluators
    ]
    columns: tuple[str, ...] = (
        "sheet",
        "rows",
        "answers",
        "blank",
        "missing",
        "problems",
        "reference correct",
        "preferred",
    )
    yield Table("sheets", f"Sheets for {report.cell}", columns, people)
    if len(report.evaluators) > 1:
        alphas = [report.estimate("alpha", name) for name in ("systems", REFERENCE)]
        columns = ("translations of", "alpha", "low", "high", "rows")
        rows = [(e.slice, *_numbers(e), f"{e.n_judged:,} of {e.n_total:,}") for e in alphas]
        yield Table("alpha", "Krippendorff's alpha between people", columns, rows)
    lines = []
    for name in (*report.systems, REFERENCE):
        for category in ("all", *report.categories):
            e = report.estimate("accuracy", name if category == "all" else f"{name}, {category}")
            lines.append((name, category, *_numbers(e), f"{e.n_judged:,} of {e.n_total:,}"))
    columns = ("translations of", "sub-category", "accuracy", "low", "high", "rows")
    yield Table("accuracy", f"Accuracy by {report.preferred}, the preferred evaluator", columns, lines)
    scores = []
    for name in (*report.systems, MEAN):
        precision, recall, f = (report.estimate(metric, name) for metric in ("precision", "recall", "f_score"))
        n_rows = f"{f.n_judged:,} of {f.n_total:,}"
        scores.append((name, _numbers(precision)[0], _numbers(recall)[0], *_numbers(f), n_rows))
    columns = ("translations of", "precision", "recall", "F-score", "low", "high", "rows")
    yield Table("metric", f"The automatic metric against {report.preferred}", columns, scores)


def _numbers(e: Estimate) -> list[str]:
    """Percentages with one decimal; what ends at 1 (kappa, alpha, scores of MT-GenEval's metric) with three."""
    n_decimals = 3 if e.metric in ("kappa", "alpha", "precision", "recall", "f_score") else 1
    return ["–" if value is None else f"{value:.{n_decimals}f}" for value in (e.value, e.low, e.high)]
