"""`gendermark demo`: the full pipeline, offline."""

from __future__ import annotations

from pathlib import Path

from gendermark.cli.results import headlines, print_headlines, say_findings
from gendermark.cli.terminal import say, show_progress
from gendermark.io.textfiles import write_text

MODEL = "demo model"
UNBIASED, MASCULINE = "unbiased control", "always-masculine control"
SYSTEMS = {MODEL: "demo:en-es", UNBIASED: "fake:right", MASCULINE: "fake:masculine"}


def demo(output: Path = Path("demo-run")) -> None:
    """Run the full pipeline offline: a small bundled model, and two controls of known bias.

    Args:
        output (DIR): Directory for the run folders and the report.
    """
    from gendermark import api, registry
    from gendermark.reporting.page import write_page
    from gendermark.reporting.phrases import TOO_FEW
    from gendermark.reporting.tables import render
    from gendermark.runs import run as running

    # All benchmarks of this direction, with fewer sentences for the one that draws 128 samples of each.
    selections = api.applicable([], ["es"], data="core", source_language="en").selections
    for name, benchmark in registry.every("benchmark"):
        if benchmark.draws and not benchmark.only_when_named and (parts := benchmark.choices_of("parts")):
            selections += (api.select(name, "es", data="core", parts=parts[:1])[1],)
    say(
        f"Translating {len(selections)} benchmarks (bundled data) from English to Spanish with the demo model, a small "
        "neural model trained on stereotyped data, and with two controls that need no model.\n"
    )
    runs = {}
    folders = {name: output / name.removesuffix(" control").replace(" ", "-") for name in SYSTEMS}
    for name, spec in SYSTEMS.items():
        # A separate store: the demo writes nothing outside its folder.
        context = running.RunContext(output / "store.sqlite", show_progress, name=name)
        runs[name] = running.run(running.RunConfig(spec, selections), folders[name], context)
    print_headlines(runs[MODEL])
    say_findings(runs[MODEL])
    say("")
    for name, is_biased in ((UNBIASED, False), (MASCULINE, True)):
        rows = headlines(runs[name])
        tested = [row.verdict == "significant" for row in rows if row.rates is not None and row.verdict != TOO_FEW]
        expected = "as expected" if sum(tested) == (len(tested) if is_biased else 0) else "NOT AS EXPECTED"
        left_out = ", ".join(row.title for row in rows if row.rates is None or row.verdict == TOO_FEW)
        few = f" (not tested: {left_out})" if left_out else ""
        say(f"Sanity check, {name}: {sum(tested)} of {len(tested)} gender gaps significant, {expected}{few}.")
    by_folder = {str(folder): runs[name] for name, folder in folders.items()}
    write_text(output / "report.md", render(by_folder, "md"))
    write_page(output / "report.html", list(folders.values()))
    say(f"\nReport: {output / 'report.html'} (open it in a browser)")
    say("Next, with a real system:")
    say("  pip install 'gendermark[hf]'", is_wrapped=False)
    say("  gendermark run --system hf:Helsinki-NLP/opus-mt-en-es --to es --data core -o my-run", is_wrapped=False)
