"""The recipe of the demo model: generate pairs, train a tokeniser, train, export, evaluate, compare the forms.

It is a Marian model of Transformers from its first step.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from gendermark.cli.options import ResumedIn
from gendermark.cli.terminal import AsJson, print_json, print_table, say, show_progress
from gendermark.errors import UnknownName
from gendermark.io.textfiles import write_json
from gendermark.lab import loop
from gendermark.lab.corpus import Corpus, Pieces, encode_pairs, train_pieces
from gendermark.lab.export import compare_forms, evaluate, log_probabilities, marian_model, n_bytes, write_model
from gendermark.lab.grammar import generate, generate_rounds
from gendermark.lab.studies import lists
from gendermark.lab.torch_models import CHECKPOINT_FILE, SELF, Architecture
from gendermark.runs.run import OpenProgress, no_progress
from gendermark.runs.translate import Progress

_N_PARTS = 2


@dataclass(frozen=True)
class Size:
    n_pairs: int
    n_pieces: int
    width: int
    n_layers: int
    feed_forward: int
    n_heads: int
    n_steps: int
    tokens_per_batch: int
    """Of source and target together, padding included."""
    learning_rate: float
    """The maximum, at the end of the warm-up."""
    n_warm_up_steps: int
    n_steps_per_checkpoint: int
    n_held_out: int
    n_compared: int
    """Sentences on which the exported forms are compared."""


@dataclass(frozen=True)
class Recipe:
    size: Size
    seed: int = 0


SIZES = {name: Size(**size) for name, size in lists("demo_model").items()}


def train_demo_model(directory: Path, recipe: Recipe, open_progress: OpenProgress = no_progress) -> dict[str, Any]:
    """Make the model in a directory, or finish it, and return its report (also `report.json` there)."""
    loop.require_packages("training the demonstration model")
    with loop.claimed(directory, recipe.seed):
        return _train(directory, recipe, open_progress)


def _train(directory: Path, recipe: Recipe, open_progress: OpenProgress) -> dict[str, Any]:
    size, checkpoint = recipe.size, loop.Checkpoint(directory / CHECKPOINT_FILE, asdict(recipe))
    checkpoint.read()  # refuse an incompatible one before generating pairs
    started = time.monotonic()
    with open_progress("generating pairs") as progress:
        pairs = generate_rounds(size.n_pairs, recipe.seed, progress)
    pieces = train_pieces(pairs, size.n_pieces)
    corpus = encode_pairs(pairs, pieces)
    prepared = time.monotonic()
    shape = Architecture(size.n_layers, size.n_layers, SELF, size.width, size.n_heads, size.feed_forward)
    model = marian_model(shape, pieces)  # no dropout: every pair is seen about once
    with open_progress("training, steps") as progress:
        progressed = _learn(model, recipe, pieces, corpus, checkpoint, progress)
    exported_at = time.monotonic()
    write_model(model, pieces, directory)
    held_out = list(generate(size.n_held_out, recipe.seed, split="held-out"))
    report = {
        "recipe": asdict(recipe),
        "n_parameters": sum(p.numel() for p in model.parameters() if p.requires_grad),
        "n_pieces": len(pieces.numbers) - 1,
        "held_out": evaluate(directory, held_out),
        "agreement": compare_forms(directory, held_out[: size.n_compared]),
        "seconds": {
            "data": round(prepared - started, 1),
            "training": round(progressed.seconds, 1),
            "training_cpu": round(progressed.cpu_seconds, 1),
            "export_and_evaluation": round(time.monotonic() - exported_at, 1),
        },
        "losses": loop.stretches(progressed.losses),
        "bytes": {name: n_bytes(directory / name) for name in ("hf", "ctranslate2")},
        "versions": loop.versions(),
    }
    write_json(directory / "report.json", report)
    return report


def _learn(
    model: Any, recipe: Recipe, pieces: Pieces, corpus: Corpus, checkpoint: loop.Checkpoint, progress: Progress
) -> loop.Progressed:
    import torch

    size = recipe.size
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.Adam(weights, lr=size.learning_rate, betas=(0.9, 0.98), eps=1e-9)

    def no_padding() -> None:
        with torch.no_grad():
            model.get_input_embeddings().weight[pieces.pad] = 0

    with ThreadPoolExecutor(_N_PARTS, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        course = loop.Course(
            model,
            weights,
            corpus.batches(recipe.seed, size.tokens_per_batch),
            lambda _, batch: _gradients(model, weights, corpus, batch, pieces.pad, pool),
            no_padding,
        )
        return loop.train(course, size, checkpoint, optimizer, progress)


def _gradients(
    model: Any, weights: Sequence[Any], corpus: Corpus, batch: Sequence[int], pad: int, pool: Executor
) -> tuple[float, list[Any]]:
    """Mean loss per piece of a batch, and its gradients.

    Every batch is computed in two parallel parts, summed in fixed order: this uses two cores with one synchronisation
    per step, and the weights do not depend on the number of cores.
    """
    import torch

    n_pieces = sum(len(corpus.targets[position]) for position in batch)

    def work(part: Sequence[int]) -> tuple[float, Sequence[Any]]:
        sources, targets = [corpus.sources[i] for i in part], [corpus.targets[i] for i in part]
        # No label smoothing: the model should learn the probability of each gender.
        loss = -log_probabilities(model, sources, targets, pad).sum() / n_pieces
        return loss.item(), torch.autograd.grad(loss, weights)

    parts = [part for part in (batch[first::_N_PARTS] for first in range(_N_PARTS)) if part]
    losses, gradients = zip(*pool.map(work, parts), strict=True)
    return sum(losses), [torch.stack(alike).sum(dim=0) for alike in zip(*gradients, strict=True)]


def demo_model(
    output: ResumedIn,
    size: str = "full",
    seed: int = 0,
    steps: int | None = None,
    as_json: AsJson = False,
) -> None:
    """Train the bundled demo model (English to Spanish); rerun the same command to resume."""
    if size not in SIZES:
        raise UnknownName("size", size, SIZES)
    chosen = replace(SIZES[size], n_steps=steps or SIZES[size].n_steps)
    report = train_demo_model(output, Recipe(chosen, seed), show_progress)
    if as_json:
        print_json(report)
    else:
        quality, agreement = report["held_out"], report["agreement"]
        differences = agreement["largest_difference_of_log_probability"]
        rows = [
            ("parameters", f"{report['n_parameters']:,}"),
            ("minutes of training", f"{report['seconds']['training'] / 60:.1f}"),
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
