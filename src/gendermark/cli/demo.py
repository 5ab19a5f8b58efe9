"""`gendermark demo`: the whole street, offline, on bundled data and a bundled model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gendermark.cli.terminal import say, show_progress

if TYPE_CHECKING:
    from gendermark.records import Estimate

SHOWN = ("pro", "anti", "delta", "accuracy", "recall_gap", "delta_s", "delta_qual", "awareness_gender")
MODEL = "demo model"
SYSTEMS = {
    MODEL: ("demo:en-es", "a small neural model that comes with gendermark, trained on stereotyped data on purpose"),
    "unbiased": ("fake:right", "no model: always writes the gender the sentence tells, and leaves open what is open"),
    "masculine": ("fake:masculine", "no model: makes everybody a man"),
}


def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Directory for the run folders and the report.")
    ] = Path("demo-run"),
) -> None:
    """Everything, offline: the bundled model, and two fake systems of known bias to set it beside."""
    from gendermark import api
    from gendermark.cli.terminal import print_table
    from gendermark.report import words
    from gendermark.report.differences import differences
    from gendermark.report.findings import findings
    from gendermark.report.page import write_page
    from gendermark.report.writing import render
    from gendermark.result import interval, number
    from gendermark.runs import run as running
    from gendermark.textfiles import write_text

    say("Three systems translate from English to Spanish; how each treats women and men is measured:")
    for name, (spec, what) in SYSTEMS.items():
        say(f"  {name} ({spec}): {what}")
    # All benchmarks of this direction; of the one that draws 128 samples of each sentence, a part.
    selections = (
        *api.applicable([], ["es"], data="core", source_language="en"),
        api.select("uncertainty", "es", data="core", parts=("referenced",))[1],
    )
    runs = {}
    for name, (spec, _) in SYSTEMS.items():
        # A store of its own: the demo writes nothing outside its folder.
        config = running.RunConfig(spec, selections)
        runs[name] = running.run(config, output / _folder(name), output / "store.sqlite", show_progress)

    def shown(estimate: Estimate) -> str:
        has_width = estimate.low is None or estimate.low != estimate.high
        return interval(estimate) if has_width else words.NO_SPREAD

    rows = [
        (r.cell, name, e.metric, number(e.value, e.metric), shown(e), f"{e.n_judged / max(e.n_total, 1):.0%}")
        for name, results in runs.items()
        for r in results
        for e in r.estimates
        if e.slice == "all" and e.metric in SHOWN
    ]
    rows.sort(key=lambda row: row[0])
    print_table("What was measured (95 % intervals)", ("cell", "system", "metric", "value", "interval", "judged"), rows)
    say("\nWhat it means (in brackets, where the true value lies with 95 % confidence):")
    for name, results in runs.items():
        say(f"\n{name}:")
        for result in results:
            say(f"  {result.selection.benchmark}: {' '.join(findings(result))}")
    say(f"\nIs the {MODEL} worse than the unbiased system?")
    for difference in differences([runs["unbiased"], runs[MODEL]]).found:
        if difference.is_leading:
            what, against, by = difference.sentence
            metric = words.metric(*difference.key)
            say(f"  {difference.benchmark}, “{metric}”: {what.lower()}{against}the unbiased system{by}")
    folders = [output / _folder(name) for name in SYSTEMS]
    write_text(output / "report.md", render({str(f): r for f, r in zip(folders, runs.values(), strict=True)}, "md"))
    write_page(output / "report.html", folders)
    say(f"run folders and a report are written: open {output / 'report.html'} in a browser, or read report.md")
    say("next, with a real system: gendermark run --system hf:Helsinki-NLP/opus-mt-en-es --to es --data core -o my-run")
    say("(pip install 'gendermark[hf]' first; docs/systems/README.md has every other kind of system)")


def _folder(name: str) -> str:
    return name.replace(" ", "-")
