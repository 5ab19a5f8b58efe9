"""`gendermark compare`: two runs on the same items, many, or the versions of one system."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from gendermark.cli import terminal
from gendermark.cli.endings import say_next
from gendermark.cli.options import Confidence, Folder, Names, Resamples, Seed, folders, resampling
from gendermark.cli.terminal import AsJson, print_json, print_table, say, show_progress
from gendermark.errors import UserError

if TYPE_CHECKING:
    from gendermark.runs.compare_many import ComparedMetric, ManyCompared, Pair

HELP = "(see `gendermark compare --help`)"


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
    resamples: Resamples = 10_000,
    seed: Seed = 12345,
    confidence: Confidence = 0.95,
    name: Names = None,
    as_json: AsJson = False,
) -> None:
    """Paired differences between runs, with intervals and p-values corrected for many comparisons.

    Two runs: the second against the first. More: each against the first, and every pair. p-values are corrected by Holm
    over the headline metrics of a pair of runs; metrics that are no headline are corrected together.
    """
    from gendermark.cli.results import print_comparison
    from gendermark.runs.compare import Asked, too_coarse
    from gendermark.runs.compare import compare as compare_results
    from gendermark.runs.compare_many import compare_many
    from gendermark.runs.folder import read_run

    given = folders(runs or [], name)
    if len(given) < 2:
        raise UserError(f"give a first and a second run folder, or more {HELP}")
    chosen = resampling(resamples, seed, confidence)
    asked = Asked(metrics or [], everything)
    in_full = everything or bool(metrics) or not terminal.is_terminal(sys.stdout)
    if len(given) == 2 and not trend:
        first, second = (read_run(*one).results for one in given)
        with show_progress("comparing, cell by cell") as progress:
            found = compare_results(first, second, chosen, asked, progress=progress)
        if as_json:
            print_json(found.to_json())
        else:
            print_comparison(found, in_full=in_full)
            if not in_full:
                say_next({_in_full(runs or [], name): "every number"})
        for note in [*found.notes, *too_coarse(found.n_questions, chosen)]:
            say(f"note: {note}")
        return
    loaded = {key: read_run(*one).results for key, one in _named(given).items()}
    with show_progress("comparing, pair by pair") as progress:
        many = compare_many(loaded, chosen, asked, trend=trend, progress=progress)
    if as_json:
        print_json(many.to_json())
    else:
        _print_many(many, in_full=in_full)
        if not in_full:
            say_next({_in_full([*(runs or []), *(["--trend"] if trend else [])], name): "every number"})
    for note in many.notes:
        say(f"note: {note}")


def _named(given: list[Folder]) -> dict[str, Folder]:
    """By the last part of their paths, or by the whole where that is not unique."""
    places = [one.path.resolve() for one in given]
    for place, one in zip(places, given, strict=True):
        if places.count(place) > 1:
            raise UserError(f"{one.path} is given twice; give each run once {HELP}")
    keys = [place.name for place in places]
    return {key if keys.count(key) == 1 else str(one.path): one for key, one in zip(keys, given, strict=True)}


def _in_full(runs: list[str], names: list[str] | None) -> str:
    named = [word for name in names or () for word in ("--name", name)]
    return shlex.join(["gendermark", "compare", *runs, *named, "--all"])


def _print_many(many: ManyCompared, *, in_full: bool) -> None:
    """Drawn: in words, or tables of each metric. Piped: one table with a row for each difference."""
    from gendermark.cli.results import print_summary

    if not terminal.is_terminal(sys.stdout):
        _print_rows(many)
    elif in_full:
        _draw(many)
    else:
        for pair in many.from_first:
            found = [m.differences[pair] for m in many.metrics]
            print_summary(found, (many.called[pair[0]], many.called[pair[1]]))
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


def _draw(many: ManyCompared) -> None:
    say(f"{len(many.runs)} runs, the first is {many.called[0]}; p-values after Holm's correction within each pair")
    for m in many.metrics:
        rows = [
            (run, *_value(m, place), *(text for pairs in _pairs_of(many, place) for text in _difference(m, pairs)))
            for place, run in enumerate(many.called)
        ]
        against = ["first", "previous"] if many.is_trend else ["first"]
        columns = [text for name in against for text in (f"against {name}", "p", "is")]
        print_table(f"{m.cell} {m.name}", ("run", "value", "interval", *columns), rows)
        if not many.is_trend:
            _draw_matrix(many, m)


def _pairs_of(many: ManyCompared, place: int) -> list[Pair | None]:
    """What a run is set against in its row; the first stands alone."""
    if place == 0:
        return [None, None] if many.is_trend else [None]
    return [(0, place), (place - 1, place)] if many.is_trend else [(0, place)]


def _value(m: ComparedMetric, place: int) -> tuple[str, str]:
    return m.values[place].shown, m.values[place].interval


def _difference(m: ComparedMetric, pair: Pair | None) -> tuple[str, str, str]:
    from gendermark.records import show_p

    if pair is None:
        return "", "", ""
    c = m.differences[pair]
    interval = "" if c.low is None else f" {c.interval}"
    return m.unit.show_change(c.difference) + interval, show_p(c.p_adjusted), m.verdict(pair)


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
    print_table(f"{m.name}: row minus column; * more than chance", ("run", *columns), rows)
