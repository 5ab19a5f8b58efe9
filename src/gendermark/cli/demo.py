"""`gendermark demo`: the full pipeline, offline; `gendermark list`: what there is to measure, and with what."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gendermark.cli.terminal import AsJson, print_json, print_table, say, show_progress
from gendermark.errors import UnknownName

if TYPE_CHECKING:
    from gendermark.records import Estimate
    from gendermark.result import Result

KINDS = ("benchmarks", "systems", "languages", "metrics")
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
    """Everything, offline: the bundled model, and two fake systems of known bias to compare it with."""
    from gendermark import api, registry
    from gendermark.io.textfiles import write_text
    from gendermark.reporting.differences import differences
    from gendermark.reporting.document import NO_SPREAD
    from gendermark.reporting.findings import concluded, findings
    from gendermark.reporting.page import write_page
    from gendermark.reporting.tables import render
    from gendermark.runs import run as running

    say("Three systems translate from English to Spanish; how each treats women and men is measured:")
    for name, (spec, what) in SYSTEMS.items():
        say(f"  {name} ({spec}): {what}")
    # All benchmarks of this direction; of the one that draws 128 samples of each sentence, a part.
    selections = api.applicable([], ["es"], data="core", source_language="en").selections
    for name, benchmark in registry.every("benchmark"):
        if benchmark.draws and not benchmark.only_when_named and (parts := benchmark.choices_of("parts")):
            selections += (api.select(name, "es", data="core", parts=parts[:1])[1],)
    runs = {}
    for name, (spec, _) in SYSTEMS.items():
        # A store of its own: the demo writes nothing outside its folder.
        context = running.RunContext(output / "store.sqlite", show_progress, name=name)
        runs[name] = running.run(running.RunConfig(spec, selections), output / _folder(name), context)

    def is_headline(result: Result, estimate: Estimate) -> bool:
        headline = registry.load("benchmark", result.selection.benchmark).measures.headline
        return not {estimate.metric, f"{estimate.metric}:{estimate.slice}"}.isdisjoint(headline)

    def called(estimate: Estimate) -> str:
        return estimate.metric if estimate.slice == "all" else f"{estimate.metric}:{estimate.slice}"

    def shown(estimate: Estimate) -> str:
        has_width = estimate.low is None or estimate.low != estimate.high
        return estimate.interval if has_width else NO_SPREAD

    rows = [
        (r.cell, name, called(e), e.shown, shown(e), f"{e.n_judged / max(e.n_total, 1):.0%}")
        for name, results in runs.items()
        for r in results
        for e in r.estimates
        if is_headline(r, e)
    ]
    rows.sort(key=lambda row: row[0])
    print_table("What was measured (95 % intervals)", ("cell", "system", "metric", "value", "interval", "judged"), rows)
    say("\nWhat it means (in brackets, where the true value lies with 95 % confidence):")
    every = [concluded(result) for results in runs.values() for result in results]
    for name, results in runs.items():
        say(f"\n{name}:")
        for result in every[: len(results)]:
            say(f"  {result.selection.benchmark}: {' '.join(findings(result))}")
        every = every[len(results) :]
    say(f"\nIs the {MODEL} worse than the unbiased system?")
    for difference in differences([runs["unbiased"], runs[MODEL]]).found:
        if difference.is_leading:
            what, against, by = difference.sentence
            say(f"  {difference.benchmark}, “{difference.label}”: {what.lower()}{against}the unbiased system{by}")
    folders = [output / _folder(name) for name in SYSTEMS]
    write_text(output / "report.md", render({str(f): r for f, r in zip(folders, runs.values(), strict=True)}, "md"))
    write_page(output / "report.html", folders)
    say(f"run folders and a report are written: open {output / 'report.html'} in a browser, or read report.md")
    say("next, with a real system: gendermark run --system hf:Helsinki-NLP/opus-mt-en-es --to es --data core -o my-run")
    say("(pip install 'gendermark[hf]' first; docs/systems/README.md has every other kind of system)")


def _folder(name: str) -> str:
    return name.replace(" ", "-")


def list_names(
    kind: Annotated[str, typer.Argument(metavar="|".join(KINDS), help="What to list.")],
    as_json: AsJson = False,
) -> None:
    """What there is: benchmarks, systems, languages, metrics."""
    from gendermark.reporting import catalogue

    if kind not in KINDS:
        raise UnknownName("kind", kind, KINDS)
    table = catalogue.listing(kind)
    if as_json:
        print_json({kind: [dict(zip(table.columns, row, strict=True)) for row in table.rows]})
    else:
        print_table(table.title, table.columns, table.rows)
