"""`gendermark compare`: two runs on the same items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gendermark.cli.options import Confidence, Resamples, Seed, resampling
from gendermark.cli.terminal import AsJson, print_json


def compare(
    first: Annotated[Path, typer.Argument(help="Run folder of the first system (the baseline).")],
    second: Annotated[Path, typer.Argument(help="Run folder of the second system.")],
    everything: Annotated[bool, typer.Option("--all", help="Every metric, not the headline ones only.")] = False,
    resamples: Resamples = 10_000,
    seed: Seed = 12345,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """Paired differences between two runs, with intervals and p-values corrected for many comparisons."""
    from gendermark.api import load
    from gendermark.cli.results import print_comparison
    from gendermark.runs.compare import compare as compare_results

    found = compare_results(load(first), load(second), resampling(resamples, seed, confidence), all_metrics=everything)
    if as_json:
        print_json(found.to_json())
    else:
        print_comparison(found)
