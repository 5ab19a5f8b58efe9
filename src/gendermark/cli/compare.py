"""`gendermark compare`, `gate` and `power`: differences between runs, and which could be seen at all."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gendermark.cli import terminal
from gendermark.cli.options import Folder, Names, Resamples, Seed, To, folders, option_group, pairs, resampling
from gendermark.cli.terminal import AsJson, print_json, print_table, print_text, say, say_next, show_progress
from gendermark.errors import UserError

if TYPE_CHECKING:
    from gendermark.metrics.metric import Resampling
    from gendermark.runs.compare import ComparedMetric, Comparison, ComparisonReport, ManyCompared
    from gendermark.runs.gates import ChangedSentence, Verdict

MOST_SENTENCES = 5
"""Of each kind that a gate lists on a terminal."""
_IN_WORDS = {"unclear": "no significant difference"}
_HELP = "(see `gendermark compare --help`)"


def compare(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=]FIRST [NAME=]SECOND ...",
            help="Run folders; the first is the baseline.",
            show_default=False,
        ),
    ] = None,
    trend: Annotated[
        bool, typer.Option("--trend", help="The runs are versions of one system, in the order given.")
    ] = False,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", metavar="METRIC", help="This metric only, for example anti or p_s:formal; repeatable."
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All tables and every metric, not just a summary.")] = False,
    how: Resampling = option_group(resampling, resamples=10_000),
    name: Names = None,
    as_json: AsJson = False,
) -> None:
    """Paired differences between runs, with intervals and p-values corrected for many comparisons.

    Two runs: the second against the first. More: each against the first, and every pair. p-values are corrected by Holm
    over the headline metrics of a pair of runs; metrics that are no headline are corrected together.
    """
    from gendermark.runs import compare as comparing
    from gendermark.runs.compare import compare_many
    from gendermark.runs.folder import read_run

    given = folders(runs or [], name)
    if len(given) < 2:
        raise UserError(f"give a first and a second run folder, or more {_HELP}")
    asked = comparing.Asked(metrics or [], everything)
    in_full = everything or bool(metrics) or not terminal.is_terminal(sys.stdout)
    found: ComparisonReport | ManyCompared
    if len(given) == 2 and not trend:
        first, second = (read_run(*one).results for one in given)
        with show_progress("comparing, cell by cell") as progress:
            found = report = comparing.compare(first, second, how, asked, progress=progress)
        notes = [*report.notes, *comparing.too_coarse(report.n_questions, how)]
        print_it = partial(_print_comparison, report)
    else:
        loaded = {key: read_run(*one).results for key, one in _by_key(given).items()}
        with show_progress("comparing, pair by pair") as progress:
            found = many = compare_many(loaded, how, asked, trend=trend, progress=progress)
        notes = list(many.notes)
        print_it = partial(_print_many, many)
    if as_json:
        print_json(found.to_json())
    else:
        print_it(in_full=in_full)
        if not in_full:
            named = [word for one in name or () for word in ("--name", one)]
            words = [*(runs or []), *(["--trend"] if trend else []), *named]
            say_next({shlex.join(["gendermark", "compare", *words, "--all"]): "every number"})
    for note in notes:
        say(f"note: {note}")


def _by_key(given: list[Folder]) -> dict[str, Folder]:
    """By the last part of their paths, or by the whole where that is not unique."""
    places = [one.path.resolve() for one in given]
    for place, one in zip(places, given, strict=True):
        if places.count(place) > 1:
            raise UserError(f"{one.path} is given twice; give each run once {_HELP}")
    keys = [place.name for place in places]
    return {key if keys.count(key) == 1 else str(one.path): one for key, one in zip(keys, given, strict=True)}


def _print_summary(comparisons: Sequence[Comparison], names: tuple[str, str]) -> None:
    """One screen, in words: what the second system is, cell by cell, and by which headline metrics."""
    from gendermark import registry
    from gendermark.benchmarks.findings import direction
    from gendermark.reporting.differences import Difference, phrases_of
    from gendermark.runs.compare import ABSENT, CHANGES

    print_text(f"{names[1]} against {names[0]}{'' if comparisons else ': no headline metric to compare'}")
    for cell in dict.fromkeys(c.cell for c in comparisons):
        benchmark, _, languages = cell.partition(".")
        found = [Difference(1, benchmark, c) for c in comparisons if c.cell == cell]
        compared = [d for d in found if d.change != ABSENT] or found
        leading = next((d for d in compared if d.is_leading), compared[0])
        title = f"{registry.load('benchmark', benchmark).title}, {direction(*languages.split('-', 1))}"
        print_text(f"\n{title}: {_IN_WORDS.get(leading.change, leading.change)}")
        for change in CHANGES:
            if phrases := phrases_of([d for d in found if d.change == change]):
                print_text(f"{_IN_WORDS.get(change, change)}: {'; '.join(phrases)}", indent=2)


def _print_comparison(report: ComparisonReport, *, in_full: bool = True) -> None:
    """Drawn: in words, or a table per cell. Piped: one table of everything."""
    from gendermark.records import show_p
    from gendermark.runs.compare import FAMILY, Comparison

    if not terminal.is_terminal(sys.stdout):
        print_table("", Comparison.told(), [tuple(c.to_json().values()) for c in report.comparisons])
    elif not in_full:
        _print_summary(report.comparisons, report.names)
        return
    else:
        say(f"{report.names[1]} (second) against {report.names[0]} (first); p-values after {FAMILY}")
        for cell in dict.fromkeys(c.cell for c in report.comparisons):
            rows = [
                (
                    c.metric if c.slice == "all" else f"{c.metric} {c.slice}",
                    c.unit.show(c.first),
                    c.unit.show(c.second),
                    c.unit.show_change(c.difference),
                    c.interval,
                    show_p(c.p_adjusted),
                    c.change(),
                    _detectable(c),
                )
                for c in report.comparisons
                if c.cell == cell
            ]
            print_table(cell, ("metric", "first", "second", "change", "interval", "p", "second is", "finds"), rows)
        if any(map(_detectable, report.comparisons)):
            say("finds: the smallest difference that these sentences detect with 80% power")
    for test in report.tests:
        facts = test.details
        say(
            f"{test.name}: {facts['only_first_right']:,} items right only in the first, {facts['only_second_right']:,} "
            f"only in the second, of {facts['n']:,}; p {show_p(test.p_value)}, groups of items exchanged"
        )


def _detectable(c: Comparison) -> str:
    """Where it is unclear whether there is a difference: the smallest that these sentences could have shown."""
    return c.unit.show(c.detectable) if c.change() == "unclear" and c.detectable else ""


def _print_many(many: ManyCompared, *, in_full: bool) -> None:
    """Drawn: in words, or tables of each metric. Piped: one table with a row for each difference."""
    if not terminal.is_terminal(sys.stdout):
        _print_rows(many)
    elif in_full:
        say(f"{len(many.runs)} runs, the first is {many.called[0]}; p-values after Holm's correction within each pair")
        for m in many.metrics:
            _draw_metric(many, m)
            if not many.is_trend:
                _draw_matrix(many, m)
    else:
        for pair in many.from_first:
            found = [m.differences[pair] for m in many.metrics]
            _print_summary(found, (many.called[pair[0]], many.called[pair[1]]))
    if many.is_trend:
        for m in many.metrics:
            say(m.trend(many.called))


def _print_rows(many: ManyCompared) -> None:
    columns = ("cell", "metric", "slice", "first", "second", "first_value", "second_value", "difference", "low", "high")
    rows = []
    for m in many.metrics:
        for (i, j), c in m.differences.items():
            where = (m.cell, m.metric, m.slice, many.runs[i], many.runs[j])
            rows.append(
                (*where, c.first, c.second, c.difference, c.low, c.high, c.p_value, c.p_adjusted, m.verdict((i, j)))
            )
    print_table("", (*columns, "p_value", "p_adjusted", "second_is"), rows)


def _draw_metric(many: ManyCompared, m: ComparedMetric) -> None:
    """A row for each run: its value, and how it differs from the first run and, in a trend, from the previous one."""
    from gendermark.records import show_p

    against = ["first", "previous"] if many.is_trend else ["first"]
    rows = []
    for place, run in enumerate(many.called):
        cells = [run, m.values[place].shown, m.values[place].interval]
        for name in against:
            if place == 0:
                cells += ["", "", ""]
                continue
            pair = (0 if name == "first" else place - 1, place)
            c = m.differences[pair]
            interval = "" if c.low is None else f" {c.interval}"
            cells += [m.unit.show_change(c.difference) + interval, show_p(c.p_adjusted), m.verdict(pair)]
        rows.append(cells)
    columns = [text for name in against for text in (f"against {name}", "p", "is")]
    print_table(f"{m.cell} {m.name}", ("run", "value", "interval", *columns), rows)


def _draw_matrix(many: ManyCompared, m: ComparedMetric) -> None:
    """Row minus column; a star where the two clearly differ. Columns are numbered: names may be long."""
    rows = []
    for i, run in enumerate(many.called):
        cells = []
        for j in range(len(many.runs)):
            if i == j:
                cells.append("")
                continue
            pair = (min(i, j), max(i, j))
            difference = m.differences[pair].difference
            turned = difference if difference is None or i > j else -difference
            star = "*" if m.is_clear(pair) else ""
            cells.append(f"{m.unit.show_change(turned)}{star}")
        rows.append((f"{run} ({i + 1})", *cells))
    columns = [f"({place + 1})" for place in range(len(many.runs))]
    print_table(f"{m.name}: row minus column; * significant", ("run", *columns), rows)


# -- gate --------------------------------------------------------------------------------------------------------------


def gate(
    run: Annotated[str, typer.Argument(metavar="[NAME=]DIR", help="Run folder of the system under test.")],
    baseline: Annotated[str, typer.Option(metavar="[NAME=]DIR", help="Baseline run.")] = "",
    minimum: Annotated[
        list[str] | None,
        typer.Option("--min", metavar="METRIC=VALUE", help="Least value, for example anti=60 or p_s:formal=0.2."),
    ] = None,
    maximum: Annotated[
        list[str] | None, typer.Option("--max", metavar="METRIC=VALUE", help="Greatest value, for example delta=15.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Significance level of the comparison with the baseline.")] = 0.05,
    fixed_tolerance: Annotated[
        float,
        typer.Option(
            "--fixed-tolerance",
            metavar="POINTS",
            min=0,
            help="Points that women, or men, may lose on these very sentences; a significantly larger loss fails.",
        ),
    ] = 2.0,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[METRIC=]POINTS",
            help="Pass what is not clearly worse than the baseline by more than this; repeatable: 1, recall_gap=2.",
        ),
    ] = None,
    fail_on_gap: Annotated[
        bool, typer.Option("--fail-on-gap", help="Fail where a gap grew, even if neither women nor men lost.")
    ] = False,
    resamples: Resamples = 10_000,
    seed: Seed = 12345,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the checks as JUnit XML, for GitLab, Jenkins and others.")
    ] = None,
    github: Annotated[
        bool | None,
        typer.Option(
            "--github/--no-github", show_default="on there", help="Print annotations for GitHub Actions (to stderr)."
        ),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the checks as Markdown; on GitHub the step's summary if not given."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the report page of both runs, with what the gate found on top."),
    ] = None,
    name: Names = None,
    as_json: AsJson = False,
) -> None:
    """Exit 1 if the system is clearly worse than the baseline, or beyond a bound; exit 0 otherwise."""
    from gendermark.io.textfiles import write_text
    from gendermark.reporting import ci
    from gendermark.runs import gates
    from gendermark.runs.folder import read_run

    if not baseline and (tolerance or fail_on_gap):
        raise UserError("--tolerance and --fail-on-gap are about a baseline; add --baseline DIR")
    if not baseline and not minimum and not maximum:
        raise UserError("nothing to check; give --baseline DIR, --min METRIC=VALUE or --max METRIC=VALUE")
    if not 0 <= alpha <= 1:
        raise UserError(f"--alpha is a probability between 0 and 1 (0.05 is usual), not {alpha:g}")
    strict = gates.Strictness(*_tolerances(tolerance or []), fail_on_gap, fixed_tolerance)
    read = [read_run(*one) for one in folders([run, *([baseline] if baseline else [])], name)]
    for one in read:
        gates.verified(one.results)
    now = read[0]
    limits = pairs(minimum or [], "--min", "anti=60"), pairs(maximum or [], "--max", "delta=15")
    checks = gates.bounds(now.results, *limits)
    changed: tuple[tuple[ChangedSentence, ...], ...] = ()
    title = f"Gate: {now.called}"
    if baseline:
        before, how = read[1], resampling(resamples, seed)
        checks += gates.against_baseline(now.results, before.results, how, alpha, strict)
        changed = gates.changed_sentences(before, now)
        title += f" against {before.called}"
    if not checks:
        raise UserError("the two runs share no headline metric, so there is nothing to check; use --min or --max")
    verdict = gates.Verdict.of(checks, *changed)
    on_github = github if github is not None else os.environ.get("GITHUB_ACTIONS") == "true"
    # From here on the exit code is the verdict, whatever becomes of its other forms: a gate that failed has failed.
    with _say_what_fails():
        if as_json:
            print_json(verdict.to_json())
        else:
            rows = [(c.outcome, c.cell, c.metric, c.slice, c.finding) for c in verdict.checks]
            print_table(title, ("outcome", "cell", "metric", "slice", "finding"), rows)
    called = str(now.manifest.get("name", "")) or now.path.resolve().name
    if junit is not None:
        with _say_what_fails():
            write_text(junit, ci.junit(verdict, called))
    step = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if summary is not None and str(summary) != step:
        with _say_what_fails():
            write_text(summary, ci.summary(verdict, called))
    elif step and (summary is not None or on_github):
        # Other commands of the step write there too.
        with _say_what_fails(), Path(step).open("a", encoding="utf-8", newline="\n") as file:
            file.write(ci.summary(verdict, called))
    if page is not None:
        from gendermark.reporting.page import render_page

        with _say_what_fails():
            write_text(page, render_page(read[::-1], gate=verdict))
            say(f"page written to {page}")
    with suppress(OSError):  # nowhere left to say it
        for line in [] if as_json else _sentences(verdict):
            say(line)
        for line in ci.workflow_commands(verdict) if on_github else []:
            say(line)
        say(verdict.sentence)
    if not verdict.passed:
        raise typer.Exit(1)


def _tolerances(texts: Sequence[str]) -> tuple[float, dict[str, float]]:
    """The tolerance of all metrics, and those of single ones."""
    from gendermark.runs.gates import number_of

    for_all = [text for text in texts if "=" not in text]
    if len(for_all) > 1:
        raise UserError("--tolerance for all metrics is given twice; give it once, or name a metric: recall_gap=2")
    named = pairs([text for text in texts if "=" in text], "--tolerance", "recall_gap=2", "POINTS or METRIC=POINTS")
    of_one = {key: number_of(f"the tolerance of {key}", text, least=0) for key, text in named.items()}
    return sum(number_of("--tolerance", text, least=0) for text in for_all), of_one


def _sentences(verdict: Verdict) -> Iterator[str]:
    """The first sentences that changed their verdict, with the deciding words in brackets."""
    for what, found in (("newly wrong", verdict.newly_wrong), ("newly right", verdict.newly_right)):
        if not found:
            continue
        more = f", {MOST_SENTENCES} of them here (--json has all)" if len(found) > MOST_SENTENCES else ""
        yield f"{what}: {len(found):,} sentence{'s' if len(found) > 1 else ''}{more}"
        # About different people, where there are so many: the sentences about one are often much alike.
        first = {one.now.judgement.entity or one.source: one for one in reversed(found)}
        shown = [*(one for one in found if first.get(one.now.judgement.entity or one.source) is one), *found]
        for one in list(dict.fromkeys(shown))[:MOST_SENTENCES]:
            source, before, now = one.lines
            yield f"  {source}\n    {before}\n    {now}"


@contextmanager
def _say_what_fails() -> Iterator[None]:
    """Say in one sentence what could not be written, and go on."""
    try:
        yield
    except BrokenPipeError:  # nobody reads to the end; nothing to complain about
        _discard_output()
    except UserError as problem:
        with suppress(OSError):
            say(f"error: {' '.join(str(problem).split())}")
    except OSError as problem:
        _discard_output()
        with suppress(OSError):
            say(f"error: cannot write {problem.filename or 'the output'}: {problem.strerror or problem}")


def _discard_output() -> None:
    """What could not be written still waits in a buffer, and would fail again at exit, with another exit code."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# -- power -------------------------------------------------------------------------------------------------------------


def power(
    benchmarks: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[BENCHMARK]...", help="All that fit the language if none is named.", show_default=False
        ),
    ] = None,
    to: To = "",
    data: Annotated[str, typer.Option("--data", help="official or core; both if not given.")] = "",
    points: Annotated[float, typer.Option("--points", help="The difference that should be found, in points.")] = 5.0,
    right: Annotated[float, typer.Option("--right", help="Accuracy of the systems, in percent.")] = 80.0,
    icc: Annotated[
        float | None,
        typer.Option(
            "--icc",
            help="Correlation of the differences within a group, 0 to 1; 0.5 if not given, 0.15 for versions of one "
            "system (--alike above 0).",
            show_default=False,
        ),
    ] = None,
    alike: Annotated[
        float, typer.Option("--alike", help="Correlation of the two systems' mistakes, 0 to 1; 0 if unrelated.")
    ] = 0.0,
    like: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RUN", help="Take these from a run; give two runs of the systems to compare, or of two versions."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What could a comparison of two systems show? How many sentences or groups does a difference need?

    Computed from the sentences of each benchmark, official and core, at the level of the headline metrics (0.05,
    corrected) and a power of 80%. Nothing is translated.
    """
    from gendermark import api
    from gendermark.runs.power import OF_UNRELATED, OF_VERSIONS, Expected, expected_from, questions

    if not to:
        raise UserError("say which language the systems translate into: --to es")
    if icc is None:
        icc = OF_VERSIONS if alike > 0 else OF_UNRELATED
    _check_shares({"--right": (right, 100), "--icc": (icc, 1), "--alike": (alike, 1), "--points": (points, 100)})
    runs = [api.load(directory) for directory in like or ()]
    if len(runs) > 2:
        raise UserError(f"--like takes one run or two, not {len(runs)}")
    measured = {}
    for result in runs[0] if runs else ():
        others = [other for other in runs[1] if other.cell == result.cell] if len(runs) > 1 else [None]
        if others and (found := expected_from(result, others[0], alike)) is not None:
            measured[result.selection.benchmark] = found
    usual = Expected(right / 100, icc, alike)
    rows: list[dict[str, Any]] = []
    left_out = []
    for kind in (data,) if data else ("official", "core"):
        for selection in api.applicable(benchmarks or [], [to], data=kind).selections:
            benchmark, name = api.select(selection.benchmark, to, data=kind)[0], selection.benchmark
            try:
                items = api.items(selection).items
            except UserError as problem:
                left_out.append(f"{name}, {kind} data: {problem}")
                continue
            expected = measured.get(name, usual)
            facts = {"right": 100 * expected.right, "icc": expected.correlation}
            rows += [
                {"benchmark": name, "data": kind, **question.to_json(points), **facts}
                for question in questions(benchmark, items, expected)
            ]
    if not rows:
        why = f": {left_out[0]}" if left_out else "; see `gendermark list benchmarks`"
        raise UserError(f"no benchmark distinguishes women and men in translations into {to}{why}")
    rows.sort(key=lambda row: (row["benchmark"], row["data"]))
    if as_json:
        print_json({"rows": rows, "left_out": left_out})
    else:
        _print_power(rows, points)
        say(
            f"Assumes accuracy and correlations as in {'the two runs' if len(runs) > 1 else 'the run'} given."
            if measured
            else f"Assumes {right:g}% accuracy, within-group correlation of differences {icc:g}, "
            f"{f'correlation of the systems {alike:g}' if alike else 'unrelated systems'}; give two runs with --like "
            "to measure these."
        )
    for what in left_out:
        say(f"left out: {what}")


def _check_shares(given: dict[str, tuple[float, float]]) -> None:
    for name, (value, most) in given.items():
        if not 0 <= value <= most or (name == "--points" and value == 0):
            raise UserError(f"{name} lies between 0 and {most:g}, not {value:g}")


def _print_power(rows: list[dict[str, Any]], points: float) -> None:
    columns = ("benchmark", "data", "question", "groups", "sentences", "shows", f"finds {points:g}", "needs groups")
    print_table(
        f"Smallest detectable difference in points (shows); power to detect {points:g} points",
        columns,
        [
            (
                row["benchmark"],
                row["data"],
                row["question"],
                f"{row['groups']:,}",
                f"{row['sentences']:,}",
                f"{row['detectable']:.1f}",
                f"{row['power']:.0%}",
                "–" if row["groups_needed"] is None else f"{row['groups_needed']:,}",
            )
            for row in rows
        ],
    )
