"""`gendermark study`: controlled experiments."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from gendermark.cli import study_analyses, study_mitigate, study_speed, study_training, terminal
from gendermark.cli.options import (
    Confidence,
    Executor,
    Resamples,
    ResumedIn,
    Seed,
    Store,
    StudiedData,
    pairs,
    resampling,
)
from gendermark.cli.terminal import AsJson, open_workers, print_json, print_table, say, show_progress
from gendermark.lab import options

app = typer.Typer(help=options.ABOUT)
study_analyses.register(app)
study_speed.register(app)
study_mitigate.register(app)
study_training.register(app)


@app.command("debias")
def debias(
    model: Annotated[Path, typer.Argument(metavar="MODEL_DIR", help="Translation model in Hugging Face's format.")],
    output: ResumedIn,
    to: Annotated[str, typer.Option("--to", help="Target language, for example es.")],
    data: StudiedData = "core",
    group: Annotated[str, typer.Option(help=options.GROUP)] = "",
    samples: Annotated[int, typer.Option(min=2, help=options.SAMPLES)] = options.N_SAMPLES,
    bleu: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="SOURCE REFERENCE", help="Files of sentences and their translations, for BLEU."),
    ] = None,
    equalise: Annotated[bool, typer.Option("--equalise", help="Also equalise the words of defining pairs.")] = False,
    system_option: Annotated[
        list[str] | None,
        typer.Option("--system-option", metavar="KEY=VALUE", help="Option of hf:, for example beam_size=1."),
    ] = None,
    resamples: Resamples = 1000,
    seed: Seed = 12345,
    confidence: Confidence = 0.95,
    store: Store = None,
    executor: Executor = "",
    as_json: AsJson = False,
) -> None:
    """Take gender out of the vectors of professions, and compare the model with what it was."""
    from gendermark.lab.debias import Settings, study_debiasing
    from gendermark.runs.run import RunContext

    how = pairs(system_option or [], "--system-option", "beam_size=1")
    settings = Settings(model, to, data, group, samples, equalise, bleu, how, resampling(resamples, seed, confidence))
    with open_workers(executor) as workers:
        report = study_debiasing(settings, output, RunContext(store, show_progress, say, executor=workers))
    if as_json:
        print_json(report)
    else:
        _print(report)
    say(f"debiased model and run folders: {output}")


def _print(report: Mapping[str, Any]) -> None:
    from gendermark.records import Unit, show_p

    rows = report["comparisons"]
    if terminal.is_terminal(sys.stdout):
        cells = []
        for row in rows:
            unit = Unit(row["unit"])
            name = row["metric"] if row["slice"] == "all" else f"{row['metric']} {row['slice']}"
            values = [unit.show(row["first"]), unit.show(row["second"]), unit.show_change(row["difference"])]
            interval = "–" if row["low"] is None else f"[{unit.show(row['low'])}, {unit.show(row['high'])}]"
            cells.append((row["cell"], name, *values, interval, show_p(row["p_adjusted"])))
        print_table("Before and after debiasing", ("of", "metric", "before", "after", "change", "interval", "p"), cells)
    else:
        print_table("", tuple(rows[0]), [tuple(row.values()) for row in rows])
    direction, cosine = report["direction"], report["mean_abs_cosine"]
    left_out = report["professions_left_out"]
    say(
        f"gender direction from {len(direction['pairs'])} pairs ({', '.join(direction['pairs'])}); it holds "
        f"{direction['share_of_variance']:.0%} of what differs within them"
    )
    say(
        f"{len(report['professions'])} professions changed"
        + (f", {len(left_out)} not, as they are not one token ({', '.join(left_out[:4])} ...)" if left_out else "")
        + f"; other words lie {cosine['other_words']:.3f} along the direction"
    )
    for sentence in (*report["findings"], *report["notes"]):
        say(sentence)
