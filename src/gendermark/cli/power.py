"""`gendermark power`: how small a difference a benchmark can show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gendermark.cli.options import To
from gendermark.cli.terminal import AsJson, print_json, print_table, say
from gendermark.errors import UserError


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
    right: Annotated[float, typer.Option("--right", help="How many of 100 sentences the systems get right.")] = 80.0,
    icc: Annotated[
        float, typer.Option("--icc", help="How alike the sentences of a group are, 0 to 1; 0.3 to 0.8 is usual.")
    ] = 0.3,
    alike: Annotated[float, typer.Option("--alike", help="How alike the mistakes of the two are, 0 to 1.")] = 0.0,
    like: Annotated[Path | None, typer.Option(metavar="RUN", help="Take --right and --icc from this run.")] = None,
    as_json: AsJson = False,
) -> None:
    """What could a comparison of two systems show? How many sentences or groups does a difference need?

    Computed from the sentences of each benchmark, official and core, at the level of the headline metrics (0.05,
    corrected) and for four of five cases. Nothing is translated.
    """
    from gendermark import api
    from gendermark.runs.power import Expected, expected_from, questions

    if not to:
        raise UserError("say which language the systems translate into: --to es")
    _check({"--right": (right, 100), "--icc": (icc, 1), "--alike": (alike, 1), "--points": (points, 100)})
    told = {}
    for result in api.load(like) if like is not None else ():
        if (found := expected_from(result, alike)) is not None:
            told[result.selection.benchmark] = found
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
            expected = told.get(name, usual)
            facts = {"right": 100 * expected.right, "icc": expected.correlation}
            rows += [
                {"benchmark": name, "data": kind, **question.to_json(points), **facts}
                for question in questions(benchmark, items, expected)
            ]
    if not rows:
        why = f": {left_out[0]}" if left_out else "; see `gendermark list benchmarks`"
        raise UserError(f"no benchmark here tells women from men in translations into {to}{why}")
    rows.sort(key=lambda row: (row["benchmark"], row["data"]))
    if as_json:
        print_json({"rows": rows, "left_out": left_out})
    else:
        _print(rows, points)
        say(
            "Supposed: as many right and as alike within groups as in the run given."
            if told
            else f"Supposed: {right:g} of 100 right, sentences of a group alike by {icc:g}, the systems by {alike:g}; "
            "`--like RUN` takes the first two from a run."
        )
    for what in left_out:
        say(f"left out: {what}")


def _check(given: dict[str, tuple[float, float]]) -> None:
    for name, (value, most) in given.items():
        if not 0 <= value <= most or (name == "--points" and value == 0):
            raise UserError(f"{name} lies between 0 and {most:g}, not {value:g}")


def _print(rows: list[dict[str, Any]], points: float) -> None:
    columns = ("benchmark", "data", "question", "groups", "sentences", "shows", f"finds {points:g}", "needs groups")
    print_table(
        f"How many points two systems must differ by to be told apart; how often {points:g} points are found",
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
