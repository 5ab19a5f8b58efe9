"""`gendermark train`: the training recipes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gendermark.cli.options import ResumedIn, language, sampling_pairs
from gendermark.cli.terminal import AsJson, print_json, print_table, say, show_progress

app = typer.Typer(help="Training recipes: a transformer of any shape, or the bundled demonstration model again.")


@app.command("model")
def model(
    to: Annotated[str, typer.Option("--to", callback=language, help="Target language.")],
    output: ResumedIn,
    pairs: Annotated[
        list[str],
        typer.Option(
            help="Text to learn from: a data set (tatoeba-en-es), a file of source, tab, translation, or "
            "SOURCE_FILE,TARGET_FILE. Can be given several times."
        ),
    ],
    from_: Annotated[str, typer.Option("--from", callback=language, help="Source language.")] = "en",
    mix: Annotated[
        str | None, typer.Option(metavar="grammar=SHARE", help="Pairs of our own grammar, as a share of all (en-es).")
    ] = None,
    stereotype: Annotated[
        float, typer.Option(min=0, help="How stereotyped the grammar is: 0 not at all, 1 as the demonstration model.")
    ] = 1.0,
    architecture: Annotated[
        str, typer.Option(metavar="E,D", help="Layers of encoder and decoder: 6,6 or 10,2 or 6,2 for example.")
    ] = "6,6",
    attention: Annotated[
        str, typer.Option(help="How the decoder looks back: self, or average (an average attention network).")
    ] = "self",
    width: Annotated[int, typer.Option(min=2, help="Numbers in a vector.")] = 128,
    heads: Annotated[int, typer.Option(min=1, help="Heads of each attention.")] = 4,
    feed_forward: Annotated[int | None, typer.Option(min=1, help="Inner width; four times the width if none.")] = None,
    pieces: Annotated[
        Path | None, typer.Option(help="A model's directory whose pieces to use, so that models share them.")
    ] = None,
    n_pieces: Annotated[int, typer.Option("--n-pieces", min=50, help="Pieces to learn, if none are given.")] = 8_000,
    test: Annotated[
        str | None, typer.Option(help="Source sentences to test on later, a line each; none may be in the text.")
    ] = None,
    drop_test_pairs: Annotated[bool, typer.Option(help="Leave out pairs whose source is in --test.")] = False,
    held_out: Annotated[int, typer.Option(min=0, help="Test sentences to hold out of each part.")] = 2_000,
    steps: Annotated[int, typer.Option(min=1, help="Training steps; the learning rate ends with them.")] = 20_000,
    batch_tokens: Annotated[int, typer.Option(min=1, help="Source and target tokens in a batch.")] = 3_000,
    learning_rate: Annotated[float, typer.Option(min=0, help="The highest, after the warm-up.")] = 1.5e-3,
    warm_up: Annotated[int, typer.Option(min=1, help="Steps until the highest learning rate.")] = 1_000,
    checkpoint_steps: Annotated[
        int, typer.Option(min=1, help="Steps between looks at the held-out loss; saved then, and every two minutes.")
    ] = 500,
    dropout: Annotated[float, typer.Option(min=0, max=0.9, help="Share of numbers left out at random.")] = 0.1,
    label_smoothing: Annotated[float, typer.Option(min=0, max=0.9, help="Share given to all other answers.")] = 0.1,
    patience: Annotated[
        int, typer.Option(min=0, help="End after so many looks without a lower held-out loss; 0: never.")
    ] = 0,
    teacher: Annotated[
        str | None,
        typer.Option(metavar="SYSTEM", help="Learn what this system says, not the given translations."),
    ] = None,
    teacher_samples: Annotated[
        int, typer.Option(min=0, help="Learn so many samples of the teacher for each source; 0: its best translation.")
    ] = 0,
    sampling: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="How to draw them: epsilon=0.02,seed=1 for example.")
    ] = None,
    documents: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Text in its order, learnt with the sentence before each: files as for --pairs, an empty line ends a "
            "document; or grammar=N (en-es). Can be given several times.",
        ),
    ] = None,
    context: Annotated[
        str, typer.Option(help="How --documents joins two sentences: joined, or separator:TEXT.")
    ] = "separator:<sep>",
    self_train: Annotated[
        str | None,
        typer.Option(
            metavar="SYSTEM", help="Learn translations of --monolingual by this system too, those that keep gender."
        ),
    ] = None,
    monolingual: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="English sentences to translate: a data set, a file of lines, or grammar=N. Can be repeated.",
        ),
    ] = None,
    init_from: Annotated[
        Path | None, typer.Option(help="Begin with every other layer (evenly) of the deeper model in this directory.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights, batches and dropout.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Train a transformer of any shape on parallel text; interrupted, the same command goes on where it stopped."""
    from functools import partial

    from gendermark import api
    from gendermark.errors import UserError
    from gendermark.lab import transformer_recipe as recipe
    from gendermark.lab.architectures import Architecture, parse_depths
    from gendermark.lab.parallel import parse_mix
    from gendermark.lab.self_training import SelfTraining
    from gendermark.runs.run import RunContext

    shape = Architecture(*parse_depths(architecture), attention, width, heads, feed_forward or 4 * width)
    settings = recipe.Settings(
        (from_, to),
        shape,
        seed,
        n_steps=steps,
        tokens_per_batch=batch_tokens,
        learning_rate=learning_rate,
        n_warm_up_steps=warm_up,
        n_steps_per_checkpoint=checkpoint_steps,
        dropout=dropout,
        label_smoothing=label_smoothing,
        patience=patience,
        init_from=init_from,
    )
    run_context = RunContext(None, show_progress, say)
    asked = None
    if teacher is not None:
        asking = api.Asking(to, from_, teacher_samples, sampling_pairs(sampling))
        ask = partial(api.translate, teacher, asking=asking, context=run_context)
        asked = recipe.Teacher(teacher, ask)
    elif teacher_samples or sampling:
        raise UserError("--teacher-samples and --sampling say what is learnt of a teacher; name one with --teacher")
    if bool(self_train) != bool(monolingual):
        raise UserError("--self-train SYSTEM and --monolingual TEXT go together; give both or neither")
    filtered = None
    if self_train is not None:
        ask = partial(api.translate, self_train, asking=api.Asking(to, from_), context=run_context)
        filtered = SelfTraining(self_train, ask, monolingual or [])
    sources = recipe.Sources(
        pairs,
        parse_mix(mix, stereotype),
        test,
        drop_test_pairs,
        n_test=held_out,
        n_pieces=n_pieces,
        pieces=pieces or init_from,
        teacher=asked,
        documents=documents or (),
        context=context,
        self_training=filtered,
    )
    report = recipe.train_transformer(output, settings, sources, run_context)
    if as_json:
        print_json(report)
    else:
        rows = [
            ("parameters", f"{report['n_parameters']:,}"),
            ("steps", f"{report['n_steps']:,}"),
            ("minutes of training", f"{report['seconds']['training'] / 60:.1f}"),
            *(("held-out loss per piece, last", f"{loss:.3f}") for _, loss in report["held_out_losses"][-1:]),
            *(
                (f"BLEU, {name}, {found['n']:,} held-out sentences, greedy", f"{found['bleu']:.1f}")
                for name, found in report["tests"].items()
            ),
        ]
        print_table(f"The model {shape.name}", ("what", "value"), rows)
    if "not_exported" in report:
        say(f"not exported: {report['not_exported'].replace('DIR', str(output))}")
    say(f"{output} is written; translate with torch:{output}")


@app.command("demo-model")
def demo_model(
    output: ResumedIn,
    size: Annotated[str, typer.Option(help="full, the bundled model; or tiny, a trial of seconds.")] = "full",
    seed: Annotated[int, typer.Option(min=0, help="Seed of sentences and weights.")] = 0,
    steps: Annotated[int | None, typer.Option(min=1, help="Training steps, if not those of the size.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train the demonstration model, English to Spanish; interrupted, the same command goes on where it stopped."""
    from dataclasses import replace

    from gendermark.errors import UnknownName
    from gendermark.lab.demo_model import Recipe
    from gendermark.lab.demo_recipe import SIZES, train_demo_model

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
