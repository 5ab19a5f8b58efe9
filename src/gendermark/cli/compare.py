"""`gendermark compare`: paired differences between runs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from gendermark.cli import terminal
from gendermark.cli.options import Folder, Names, folders, option_group, resampling
from gendermark.cli.terminal import AsJson, print_json, print_table, print_text, say, say_next, show_progress
from gendermark.errors import UserError

if TYPE_CHECKING:
    from gendermark.metrics.metric import Resampling
    from gendermark.runs.compare import ComparedMetric, Comparison, ComparisonReport, ManyCompared

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
    from gendermark.reporting.differences import Difference, phrases_of
    from gendermark.reporting.phrases import direction
    from gendermark.runs.compare import ABSENT, CHANGES

    print_text(f"{names[1]} against {names[0]}{'' if comparisons else ': no headline metric to compare'}")
    for cell in dict.fromkeys(c.cell for c in comparisons):
        benchmark, _, languages = cell.partition(".")
        found = [Difference(1, benchmark, c) for c in comparisons if c.cell == cell]
        compared = [d for d in found if d.change != ABSENT] or found
        leading = next((d for d in compared if d.is_leading), compared[0])
        title = f"{registry.load('benchmark', benchmark).title}, {direction(*languages.split('-', 1))}"
        print_text(f"\n{title}: {leading.comparison.in_words()}")
        found.sort(key=lambda d: CHANGES.index(d.change))
        for words in dict.fromkeys(d.comparison.in_words() for d in found):
            phrases = phrases_of([d for d in found if d.comparison.in_words() == words])
            print_text(f"{words}: {'; '.join(phrases)}", indent=2)


def _print_comparison(report: ComparisonReport, *, in_full: bool = True) -> None:
    """Drawn: in words, or a table per cell. Piped: one table of everything."""
    from gendermark.records import show_p
    from gendermark.runs.compare import FAMILY, Comparison

    if not terminal.is_terminal(sys.stdout):
        print_table("", Comparison.keys(), [tuple(c.to_json().values()) for c in report.comparisons])
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
                    c.in_words(),
                    _detectable(c),
                )
                for c in report.comparisons
                if c.cell == cell
            ]
            print_table(cell, ("metric", "first", "second", "change", "interval", "p", "second is", "detectable"), rows)
        if any(map(_detectable, report.comparisons)):
            say("detectable: smallest difference found with 80% power")
    for test in report.tests:
        facts = test.details
        say(
            f"{test.name}: {facts['only_first_right']:,} items right only in the first, {facts['only_second_right']:,} "
            f"only in the second, of {facts['n']:,}; p {show_p(test.p_value)}, groups of items exchanged"
        )


def _detectable(c: Comparison) -> str:
    """Where a difference is not significant: the smallest detectable one."""
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
            cells += [m.unit.show_change(c.difference) + interval, show_p(c.p_adjusted), c.in_words()]
        rows.append(cells)
    columns = [text for name in against for text in (f"against {name}", "p", "is")]
    print_table(f"{m.cell} {m.name}", ("run", "value", "interval", *columns), rows)


def _draw_matrix(many: ManyCompared, m: ComparedMetric) -> None:
    """Row minus column; a star where the two differ significantly. Columns are numbered: names may be long."""
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
            star = "*" if m.differences[pair].is_significant else ""
            cells.append(f"{m.unit.show_change(turned)}{star}")
        rows.append((f"{run} ({i + 1})", *cells))
    columns = [f"({place + 1})" for place in range(len(many.runs))]
    print_table(f"{m.name}: row minus column; * significant", ("run", *columns), rows)
