"""`gendermark demo`: the whole street, offline, on bundled data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gendermark.cli.terminal import say, show_progress

if TYPE_CHECKING:
    from gendermark.result import Result

SHOWN = ("pro", "anti", "delta", "tgbi", "accuracy", "delta_g", "delta_s", "delta_qual")
SYSTEMS = {
    "unbiased": ("fake:right", "always translates the gender the sentence states, and leaves open what is open"),
    "stereotyped": ("fake:stereotyped?s=0.6", "follows the stereotype of the occupation in six of ten sentences"),
    "masculine": ("fake:masculine", "makes everybody a man"),
}


def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Directory for the run folders and the report.")
    ] = Path("demo-run"),
) -> None:
    """Everything, offline: three fake systems of known bias through the bundled benchmarks."""
    from gendermark import api
    from gendermark.cli.results import print_comparison
    from gendermark.cli.terminal import print_table
    from gendermark.metrics.metric import Resampling
    from gendermark.report.writing import render
    from gendermark.result import interval, number
    from gendermark.runs import run as running
    from gendermark.runs.compare import compare
    from gendermark.textfiles import write_text

    say("Three fake systems whose behaviour is known, so that you can see what the numbers mean:")
    for name, (_, behaviour) in SYSTEMS.items():
        say(f"  {name}: {behaviour}")
    selections = (
        api.select("simplegen", "es", data="core")[1],
        api.select("winomt", "es", data="core")[1],
        api.select("mt-geneval-counterfactual", "es", data="core")[1],
        api.select("tgbi", "en", data="core", source_language="ko")[1],
    )
    runs = {}
    for name, (spec, _) in SYSTEMS.items():
        runs[name] = running.run(running.RunConfig(spec, selections), output / name, None, show_progress)
    rows = [
        (r.cell, name, e.metric, number(e.value, e.metric), interval(e), f"{e.n_judged / max(e.n_total, 1):.0%}")
        for name, results in runs.items()
        for r in results
        for e in r.estimates
        if e.slice == "all" and e.metric in SHOWN
    ]
    rows.sort(key=lambda row: row[0])
    print_table("What was measured (95 % intervals)", ("cell", "system", "metric", "value", "interval", "judged"), rows)
    for name, results in runs.items():
        for line in findings(name, results):
            say(line)
    print_comparison(compare(runs["unbiased"], runs["stereotyped"], Resampling()))
    report = output / "report.md"
    write_text(report, render({str(output / name): results for name, results in runs.items()}, "md"))
    say(f"run folders and {report} are written")
    say("next, with your own system: gendermark run --system 'command:./translate.sh' --to es --data core -o my-run")


def findings(name: str, results: list[Result]) -> list[str]:
    """What the estimates say, in words that are never more certain than their intervals."""
    from gendermark.result import interval, number

    lines = []
    for result in results:
        if result.selection.benchmark != "simplegen":
            continue
        women, men, gap = result.estimate("correct", "fc"), result.estimate("correct", "mc"), result.estimate("delta")
        if women.value is None or men.value is None or gap.low is None or gap.high is None:
            lines.append(f"{name}, {result.cell}: too little was translated to say anything.")
            continue
        lines.append(
            f"{name}, {result.cell}: of 100 women {women.value:.0f} are translated as women {interval(women)}, "
            f"of 100 men {men.value:.0f} as men {interval(men)}."
        )
        if gap.low > 0:
            lines.append(
                f"  Whoever fits the stereotype of the occupation gets the right gender more often, by "
                f"{number(gap.value, 'delta')} points {interval(gap)}."
            )
        elif gap.high < 0:
            lines.append(f"  Whoever fits the stereotype gets the right gender less often {interval(gap)}.")
        else:
            lines.append(f"  A preference for stereotypes cannot be told from chance {interval(gap)}.")
    return lines
