"""`gendermark train`: the training recipes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gendermark.cli.terminal import AsJson, print_json, print_table, say, show_progress

app = typer.Typer(help="Training recipes: make the bundled demonstration model again, from its grammar.")


@app.callback()
def _recipes() -> None:
    """(Keeps `demo-model` a word of its own while it is the only recipe.)"""


@app.command("demo-model")
def demo_model(
    output: Annotated[Path, typer.Option("-o", "--output", help="Directory; give the same one again to continue.")],
    size: Annotated[str, typer.Option(help="full, the bundled model; or tiny, a trial of seconds.")] = "full",
    seed: Annotated[int, typer.Option(min=0, help="Seed of sentences and weights.")] = 0,
    steps: Annotated[int | None, typer.Option(min=1, help="Training steps, if not those of the size.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train the demonstration model, English to Spanish; interrupted, the same command goes on where it stopped."""
    from dataclasses import replace

    from gendermark.errors import UnknownName
    from gendermark.models.recipe import SIZES, train_demo_model
    from gendermark.models.training import Recipe

    if size not in SIZES:
        raise UnknownName("size", size, SIZES)
    chosen = replace(SIZES[size], n_steps=steps or SIZES[size].n_steps)
    report = train_demo_model(output, Recipe(chosen, seed), show_progress)
    if as_json:
        print_json(report)
    else:
        quality, agreement, seconds = report["held_out"], report["agreement"], report["seconds"]
        differences = agreement["largest_difference_of_log_probability"]
        rows = [
            ("parameters", f"{report['n_parameters']:,}"),
            ("minutes of training", f"{seconds['training'] / 60:.1f}"),
            (f"BLEU, {quality['n']:,} held-out sentences, greedy", f"{quality['bleu']:.1f}"),
            *(
                (f"BLEU, {name} ({part['n']:,})", f"{part['bleu']:.1f}")
                for name, part in quality["by_construction"].items()
            ),
            ("perplexity per piece", f"{quality['perplexity']:.3f}"),
            (f"same greedy translation in both forms, of {agreement['n']:,}", f"{agreement['identical_greedy']:.1%}"),
            ("largest difference of a token's log-probability", f"{differences['of_a_token']:.1e}"),
            ("largest difference of a sentence's log-probability", f"{differences['of_a_sentence']:.1e}"),
            ("MB, CTranslate2", f"{report['bytes']['ctranslate2'] / 1e6:.1f}"),
            ("MB, Transformers", f"{report['bytes']['hf'] / 1e6:.1f}"),
        ]
        print_table("The demonstration model", ("what", "value"), rows)
    say(f"{output / 'hf'}, {output / 'ctranslate2'} and {output / 'report.json'} are written")
