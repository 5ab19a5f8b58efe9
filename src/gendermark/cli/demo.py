"""`gendermark demo`: the full pipeline, offline; `gendermark list`: benchmarks, systems, languages, metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gendermark.cli.results import headlines, print_headlines, say_findings
from gendermark.cli.terminal import AsJson, print_json, print_table, say, show_progress
from gendermark.errors import UnknownName

if TYPE_CHECKING:
    from gendermark.result import Result

KINDS = ("benchmarks", "systems", "languages", "metrics")
MODEL = "demo model"
UNBIASED, MASCULINE = "unbiased", "always-masculine"
SYSTEMS = {MODEL: "demo:en-es", UNBIASED: "fake:right", MASCULINE: "fake:masculine"}


def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Directory for the run folders and the report.")
    ] = Path("demo-run"),
) -> None:
    """Run the full pipeline offline: a small bundled model, and two controls of known bias."""
    from gendermark import api, registry
    from gendermark.io.textfiles import write_text
    from gendermark.reporting.page import write_page
    from gendermark.reporting.tables import render
    from gendermark.runs import run as running

    # All benchmarks of this direction; of the one that draws 128 samples of each sentence, a part.
    selections = api.applicable([], ["es"], data="core", source_language="en").selections
    for name, benchmark in registry.every("benchmark"):
        if benchmark.draws and not benchmark.only_when_named and (parts := benchmark.choices_of("parts")):
            selections += (api.select(name, "es", data="core", parts=parts[:1])[1],)
    say(
        f"Translating {len(selections)} benchmarks (bundled data) from English to Spanish with the demo model, a\n"
        "small neural model trained on stereotyped data, and with two controls that need no model.\n"
    )
    runs = {}
    folders = {name: output / name.replace(" ", "-") for name in SYSTEMS}
    for name, spec in SYSTEMS.items():
        # A store of its own: the demo writes nothing outside its folder.
        context = running.RunContext(output / "store.sqlite", show_progress, name=name)
        runs[name] = running.run(running.RunConfig(spec, selections), folders[name], context)
    print_headlines(runs[MODEL], "Demo model: how often women and men keep their gender")
    say_findings(runs[MODEL])
    say("")
    _say_controls(runs)
    by_folder = {str(folder): runs[name] for name, folder in folders.items()}
    write_text(output / "report.md", render(by_folder, "md"))
    write_page(output / "report.html", list(folders.values()))
    say(f"\nReport: {output / 'report.html'} (open it in a browser)")
    say("Next, with a real system:")
    say("  pip install 'gendermark[hf]'")
    say("  gendermark run --system hf:Helsinki-NLP/opus-mt-en-es --to es --data core -o my-run")


def _say_controls(runs: Mapping[str, Sequence[Result]]) -> None:
    """Check that the controls get the verdicts that they must get."""
    for name, is_biased in ((UNBIASED, False), (MASCULINE, True)):
        rows = [row for row in headlines(runs[name]) if row.rates is not None and row.rates.gap is not None]
        n = sum(row.verdict == "significant" for row in rows)
        outcome = "as expected" if n == (len(rows) if is_biased else 0) else "NOT AS EXPECTED"
        say(f"Sanity check, {name} control: {n} of {len(rows)} measured gaps are significant, {outcome}")


def list_names(
    kind: Annotated[str, typer.Argument(metavar="|".join(KINDS), help="What to list.")],
    as_json: AsJson = False,
) -> None:
    """List the benchmarks, systems, languages or metrics."""
    from gendermark.reporting import catalogue

    if kind not in KINDS:
        raise UnknownName("kind", kind, KINDS)
    table = catalogue.listing(kind)
    if as_json:
        print_json({kind: [dict(zip(table.columns, row, strict=True)) for row in table.rows]})
    else:
        print_table(table.title, table.columns, table.rows)
