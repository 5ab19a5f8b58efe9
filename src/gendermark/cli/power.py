"""`gendermark power`: the difference that a comparison of two systems can detect."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gendermark.cli import terminal
from gendermark.cli.options import To
from gendermark.cli.terminal import AsJson, grouped, print_json, print_table, say
from gendermark.errors import UserError


def power(
    benchmarks: Annotated[
        list[str] | None,
        typer.Argument(metavar="[BENCHMARK]...", help="Benchmark; default: all for the language.", show_default=False),
    ] = None,
    to: To = "",
    data: Annotated[str, typer.Option("--data", help="official or core; default: both.")] = "",
    points: Annotated[float, typer.Option("--points", help="Difference to detect, in points.")] = 5.0,
    right: Annotated[float, typer.Option("--right", help="Assumed accuracy of the systems, in percent.")] = 80.0,
    icc: Annotated[
        float | None,
        typer.Option(
            "--icc",
            help="Within-group correlation of the differences, 0 to 1; default: 0.5, or 0.15 with --alike (versions "
            "of one system).",
            show_default=False,
        ),
    ] = None,
    alike: Annotated[float, typer.Option("--alike", help="Correlation of the two systems' errors, 0 to 1.")] = 0.0,
    like: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RUN", help="Estimate accuracy and correlations from one run, or from the two runs to be compared."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compute the smallest difference between two systems that each benchmark can detect.

    Assumes a significance level of 0.05 (Holm-corrected over the headline metrics) and 80% power; translates nothing.
    """
    from gendermark import api
    from gendermark.runs.power import OF_UNRELATED, OF_VERSIONS, Expected, expected_from, questions

    if not to:
        raise UserError("give the target language, for example --to es")
    if icc is None:
        icc = OF_VERSIONS if alike > 0 else OF_UNRELATED
    _check_shares({"--right": (right, 100), "--icc": (icc, 1), "--alike": (alike, 1), "--points": (points, 100)})
    runs = [api.load(directory) for directory in like or ()]
    if len(runs) > 2:
        raise UserError(f"--like takes one or two runs, not {len(runs)}")
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
        raise UserError(f"no benchmark compares women and men in translations into {to}{why}")
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
            raise UserError(f"{name} must lie between 0 and {most:g}, not {value:g}")


def _print_power(rows: list[dict[str, Any]], points: float) -> None:
    columns = ("groups", "sentences", "detectable", f"power for {points:g}", "groups needed")
    cells = [
        (
            f"{row['groups']:,}",
            f"{row['sentences']:,}",
            f"{row['detectable']:.1f}",
            f"{row['power']:.0%}",
            "–" if row["groups_needed"] is None else f"{row['groups_needed']:,}",
        )
        for row in rows
    ]
    if not terminal.is_terminal(sys.stdout):
        named = [(row["benchmark"], row["data"], row["question"], *own) for row, own in zip(rows, cells, strict=True)]
        print_table("", ("benchmark", "data", "question", *columns), named)
        return
    title = f"Smallest detectable difference, and power to detect {points:g}, in points"
    groups = [f"{row['benchmark']}, {row['data']} data" for row in rows]
    asked = [(row["question"], *own) for row, own in zip(rows, cells, strict=True)]
    print_table(title, ("question", *columns), grouped(zip(groups, asked, strict=True)))
