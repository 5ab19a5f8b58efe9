"""`gendermark gate`: pass or fail, for continuous integration."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from gendermark.cli.options import Resamples, Seed, pairs, resampling
from gendermark.cli.terminal import AsJson, print_json, print_table, say
from gendermark.errors import UserError


def gate(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="Run folder of the system under test.")],
    baseline: Annotated[Path | None, typer.Option(help="Run folder that must not be clearly better.")] = None,
    minimum: Annotated[
        list[str] | None,
        typer.Option("--min", metavar="METRIC=VALUE", help="Least value, for example anti=60 or p_s:formal=0.2."),
    ] = None,
    maximum: Annotated[
        list[str] | None, typer.Option("--max", metavar="METRIC=VALUE", help="Greatest value, for example delta=15.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Significance level of the comparison with the baseline.")] = 0.05,
    resamples: Resamples = 10_000,
    seed: Seed = 12345,
    as_json: AsJson = False,
) -> None:
    """Exit 1 if the system is clearly worse than the baseline, or beyond a bound; exit 0 otherwise."""
    from gendermark.runs import gates

    if baseline is None and not minimum and not maximum:
        raise UserError("a gate needs something to check: --baseline DIR, --min METRIC=VALUE or --max METRIC=VALUE")
    if not 0 <= alpha <= 1:
        raise UserError(f"--alpha is a probability between 0 and 1 (0.05 is usual), not {alpha:g}")
    checks = gates.bounds(run, pairs(minimum or [], "--min", "anti=60"), pairs(maximum or [], "--max", "delta=15"))
    if baseline is not None:
        checks += gates.against_baseline(run, baseline, resampling(resamples, seed, 0.95), alpha)
    if not checks:
        raise UserError("the two runs share no headline metric, so there is nothing to check; use --min or --max")
    passed = all(check.passed for check in checks)
    n_failed = sum(not check.passed for check in checks)
    with suppress(BrokenPipeError):  # a gate that failed has failed, whether or not somebody reads to the end
        if as_json:
            print_json({"passed": passed, "checks": [check.to_json() for check in checks]})
        else:
            rows = [("pass" if c.passed else "FAIL", c.cell, c.metric, c.slice, c.finding) for c in checks]
            print_table("Gate", ("outcome", "cell", "metric", "slice", "finding"), rows)
        say(f"gate passed: {len(checks)} checks" if passed else f"gate failed: {n_failed} of {len(checks)} checks")
    if not passed:
        raise typer.Exit(1)
