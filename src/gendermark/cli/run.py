"""`gendermark run`: translate with a system, then score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gendermark.cli.options import (
    Aligner,
    Alpha,
    Cluster,
    Confidence,
    Context,
    Data,
    Detector,
    Entailment,
    From,
    NSamples,
    Resamples,
    Revision,
    Rules,
    Sampling,
    Seed,
    Similarity,
    Split,
    Variant,
    joined_sampling,
    language,
    pairs,
    resampling,
)
from gendermark.cli.terminal import AsJson, print_json, say, show_progress
from gendermark.errors import UserError

if TYPE_CHECKING:
    from gendermark.benchmarks.benchmark import Selection


def run(
    system: Annotated[str, typer.Option(help="The system as family:argument, for example command:./translate.sh")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Run folder; give the same one again to go on.")],
    to: Annotated[
        list[str] | None, typer.Option("--to", callback=language, help="Target language; may be given several times.")
    ] = None,
    from_: From = "",
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            help="Benchmark; several times for several. Default: all that apply except uncertainty, which draws many "
            "samples and runs only when named."
        ),
    ] = None,
    system_option: Annotated[
        list[str] | None,
        typer.Option("--system-option", metavar="KEY=VALUE", help="Option of the system, for example mode=stream."),
    ] = None,
    data: Data = "official",
    revision: Revision = "",
    rules: Rules = "best",
    cluster: Cluster = "",
    variant: Variant = "",
    aligner: Aligner = "",
    detector: Detector = "",
    split: Split = "",
    context: Context = "",
    group: Annotated[str, typer.Option(help="Only this group: uncertainty: referenced; WinoMT: pro, anti ...")] = "",
    n_samples: NSamples = None,
    sampling: Sampling = None,
    similarity: Similarity = "",
    alpha: Alpha = "",
    entailment: Entailment = "",
    resamples: Resamples = 1000,
    seed: Seed = 12345,
    confidence: Confidence = 0.95,
    forced_choice: Annotated[
        bool,
        typer.Option(
            "--forced-choice",
            help="MT-GenEval, uncertainty: also score the right against the contrastive (wrong) reference.",
        ),
    ] = False,
    store: Annotated[
        Path | None, typer.Option(help="File that keeps finished translations; in the cache if not given.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Translate with a system and score; interrupted, the same command goes on where it stopped."""
    from gendermark import api
    from gendermark.cli.results import print_results
    from gendermark.runs import run as running

    selections = api.applicable(
        benchmark or [],
        to or [""],
        source_language=from_,
        data=data,
        revision=revision,
        rules=rules,
        cluster=cluster,
        variant=variant,
        aligner=aligner,
        detector=detector,
        split=split,
        context=context,
        parts=(group,) if group else (),
        n_samples=n_samples or 0,
        sampling=joined_sampling(sampling),
        similarity=similarity,
        alpha=alpha,
        entailment=entailment,
    )
    options = pairs(system_option or [], "--system-option", "mode=stream")
    if not selections:
        raise UserError(f"no benchmark has {data} data for this direction; see `gendermark list benchmarks`")
    if not benchmark:
        selections = _that_have_files(system, selections)
    config = running.RunConfig(system, selections, options, resampling(resamples, seed, confidence), forced_choice)
    results = running.run(config, output, store, show_progress, say)
    if as_json:
        print_json({"run": str(output), "results": [result.to_json() for result in results]})
    else:
        print_results(results)
    say(f"run folder: {output}")


def _that_have_files(system: str, selections: tuple[Selection, ...]) -> tuple[Selection, ...]:
    """Of a directory of translations, what is in it: nobody who names no benchmark has translated all of them."""
    family, _, argument = system.partition(":")
    if family != "files" or not argument:
        return selections
    from gendermark.systems.files import with_files

    there, missing = with_files(argument, selections)
    if missing:
        say(f"left out, as {argument} has no file for them: {', '.join(missing)}")
    return there
