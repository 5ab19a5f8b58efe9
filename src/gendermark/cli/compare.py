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
from gendermark.cli.terminal import All, AsJson, grouped, print_json, print_table, say, say_next, show_progress
from gendermark.errors import UserError

if TYPE_CHECKING:
    from gendermark.metrics.metric import Resampling
    from gendermark.runs.compare import Comparison, ComparisonReport, ManyCompared

MOST_ROWS = 12
_PIPED = ("cell", "metric", "slice", "first", "second", "difference", "low", "high", "p_adjusted", "change")
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
        bool, typer.Option("--trend", help="Treat the runs as versions of one system, oldest first.")
    ] = False,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", metavar="METRIC", help="Only this metric, for example anti or p_s:formal; repeatable."
        ),
    ] = None,
    everything: All = False,
    how: Resampling = option_group(resampling, resamples=10_000),
    name: Names = None,
    as_json: AsJson = False,
) -> None:
    """Compare runs: paired differences with confidence intervals and corrected p-values.

    Compare every run with the first and, given three or more, every pair. For each pair, Holm correction is applied
    separately to the headline metrics and to all other metrics.
    """
    from gendermark.runs import compare as comparing
    from gendermark.runs.compare import compare_many
    from gendermark.runs.folder import read_run

    given = folders(runs or [], name)
    if len(given) < 2:
        raise UserError(f"give at least two run folders, the baseline first {_HELP}")
    asked = comparing.Asked(metrics or [], everything)
    in_full = everything or bool(metrics)
    found: ComparisonReport | ManyCompared
    if len(given) == 2 and not trend:
        first, second = (read_run(*one).results for one in given)
        with show_progress("comparing") as progress:
            found = report = comparing.compare(first, second, how, asked, progress=progress)
        notes = [*report.notes, *comparing.too_coarse(report.n_questions, how)]
        print_it = partial(_print_comparison, report)
    else:
        loaded = {key: read_run(*one).results for key, one in _by_key(given).items()}
        with show_progress("comparing") as progress:
            found = many = compare_many(loaded, how, asked, trend=trend, progress=progress)
        notes = list(many.notes)
        print_it = partial(_print_many, many)
    if as_json:
        print_json(found.to_json())
    else:
        print_it(in_full=in_full)
        if not in_full and terminal.is_terminal(sys.stdout):
            named = [word for one in name or () for word in ("--name", one)]
            words = [*(runs or []), *(["--trend"] if trend else []), *named]
            say_next({shlex.join(["gendermark", "compare", *words, "--all"]): "every number"})
    for note in notes:
        say(f"note: {note}")


def _by_key(given: list[Folder]) -> dict[str, Folder]:
    """Key runs by the last part of their paths, or by the whole path where that is not unique."""
    places = [one.path.resolve() for one in given]
    for place, one in zip(places, given, strict=True):
        if places.count(place) > 1:
            raise UserError(f"{one.path} is given twice; give each run once {_HELP}")
    keys = [place.name for place in places]
    return {key if keys.count(key) == 1 else str(one.path): one for key, one in zip(keys, given, strict=True)}


def _print_summary(comparisons: Sequence[Comparison], names: tuple[str, str]) -> None:
    """Print the headline metrics of two runs in one table, and how many are significantly better or worse."""
    rows = [
        (_title(c), (_metric(c), c.unit.show(c.first), c.unit.show(c.second), _changed_by(c), c.in_words()))
        for c in _most_telling(comparisons)
    ]
    columns = ("metric", "A", "B", "change (95% CI)", "verdict")
    print_table(f"{names[1]} (B) against {names[0]} (A); better and worse are significant", columns, grouped(rows))
    _say_counts(names[1], comparisons)


def _say_counts(name: str, comparisons: Sequence[Comparison]) -> None:
    from gendermark.runs.compare import ABSENT

    changes = [c.change() for c in comparisons]
    worse, better, n = changes.count("worse"), changes.count("better"), len(changes) - changes.count(ABSENT)
    say(f"- {name} is significantly worse in {worse} and better in {better} of {n} headline metrics.")


def _most_telling(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Choose the rows that fit on a screen: significant differences first, then those with values."""
    rank = {"unclear": 1, "not compared": 2}
    order = sorted(range(len(comparisons)), key=lambda place: rank.get(comparisons[place].change(), 0))
    return [comparisons[place] for place in sorted(order[:MOST_ROWS])]


def _title(c: Comparison) -> str:
    from gendermark import registry

    benchmark, _, direction = c.cell.partition(".")
    return f"{registry.load('benchmark', benchmark).title}, {direction}"


def _metric(c: Comparison) -> str:
    return c.metric if c.slice == "all" else f"{c.metric}:{c.slice}"


def _changed_by(c: Comparison) -> str:
    from gendermark.reporting.phrases import between

    if c.difference is None or c.low is None or c.high is None:
        return "–" if c.difference is None else c.unit.show_change(c.difference)
    return f"{c.unit.show_change(c.difference)} ({between(c.unit.show(c.low), c.unit.show(c.high))})"


def _print_comparison(report: ComparisonReport, *, in_full: bool) -> None:
    """Print a summary, or every number: drawn as a table per cell, piped as one table."""
    from gendermark.records import show_p
    from gendermark.runs.compare import FAMILY, Comparison

    if not terminal.is_terminal(sys.stdout):
        columns = Comparison.keys() if in_full else _PIPED
        print_table("", columns, [tuple(c.to_json()[key] for key in columns) for c in report.comparisons])
        return
    if not in_full:
        _print_summary(report.comparisons, report.names)
        return
    say(f"{report.names[1]} (second) against {report.names[0]} (first); p-values after {FAMILY}")
    for cell in dict.fromkeys(c.cell for c in report.comparisons):
        rows = [
            (
                _metric(c),
                c.unit.show(c.first),
                c.unit.show(c.second),
                _changed_by(c),
                show_p(c.p_adjusted),
                c.in_words(),
                _detectable(c),
            )
            for c in report.comparisons
            if c.cell == cell
        ]
        columns = ("metric", "first", "second", "change (95% CI)", "p", "verdict", "detectable")
        print_table(cell, columns, rows)
    for test in report.tests:
        facts = test.details
        say(
            f"{test.name}: {facts['only_first_right']:,} items right only in the first, {facts['only_second_right']:,} "
            f"only in the second, of {facts['n']:,}; p {show_p(test.p_value)} (permutation of groups)"
        )


def _detectable(c: Comparison) -> str:
    """The smallest detectable difference, where there is no significant one."""
    return c.unit.show(c.detectable) if c.change() == "unclear" and c.detectable else ""


def _print_many(many: ManyCompared, *, in_full: bool) -> None:
    """Print a summary, or every pair of runs; piped, one row for each difference."""
    from gendermark.records import show_p

    if not terminal.is_terminal(sys.stdout):
        _print_rows(many)
    elif in_full:
        say(f"{len(many.runs)} runs, the first is {many.called[0]}; p-values after Holm's correction within each pair")
        pairs = [
            (
                f"{_title(c)}, {_metric(c)}",
                (
                    f"{many.called[j]} against {many.called[i]}",
                    *(c.unit.show(c.first), c.unit.show(c.second), _changed_by(c), show_p(c.p_adjusted), c.in_words()),
                ),
            )
            for m in many.metrics
            for (i, j), c in m.differences.items()
        ]
        print_table("", ("runs", "A", "B", "change (95% CI)", "p", "verdict"), grouped(pairs))
    else:
        named = {id(m.differences[pair]): many.called[pair[1]] for m in many.metrics for pair in many.from_first}
        found = [m.differences[pair] for m in many.metrics for pair in many.from_first]
        rows = [
            (f"{_title(c)}, {_metric(c)}", (named[id(c)], c.unit.show(c.second), _changed_by(c), c.in_words()))
            for c in _most_telling(found)
        ]
        columns = ("run", "value", "change (95% CI)", "verdict")
        print_table(
            f"{len(many.runs) - 1} runs against {many.called[0]}; better and worse are significant",
            columns,
            grouped(rows),
        )
        for pair in many.from_first:
            _say_counts(many.called[pair[1]], [m.differences[pair] for m in many.metrics])
    if many.is_trend:
        for m in many.metrics:
            say(m.trend(many.called))


def _print_rows(many: ManyCompared) -> None:
    columns = ("cell", "metric", "slice", "first", "second", "first_value", "second_value", "difference", "low", "high")
    rows = []
    for m in many.metrics:
        for (i, j), c in m.differences.items():
            where = (m.cell, m.metric, m.slice, many.called[i], many.called[j])
            rows.append(
                (*where, c.first, c.second, c.difference, c.low, c.high, c.p_value, c.p_adjusted, m.verdict((i, j)))
            )
    print_table("", (*columns, "p_value", "p_adjusted", "second_is"), rows)
