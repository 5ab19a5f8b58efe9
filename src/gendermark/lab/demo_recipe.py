"""The recipe of the demonstration model: generate pairs, learn pieces, train, export, evaluate, compare the forms."""

from __future__ import annotations

import json
import platform
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gendermark import __version__
from gendermark.errors import MissingExtra, UserError
from gendermark.io import locks
from gendermark.io.textfiles import write_text
from gendermark.lab.corpus import encode_pairs, train_pieces
from gendermark.lab.demo_model import Recipe, Size, train_model
from gendermark.lab.export import compare_forms, evaluate, write_model
from gendermark.lab.grammar import Pair, generate
from gendermark.lab.loop import Checkpoint, reproducible
from gendermark.runs.run import OpenProgress, no_progress
from gendermark.runs.translate import Progress

SIZES = {
    "full": Size(
        n_pairs=500_000,
        n_pieces=4_000,
        width=192,
        n_layers=3,
        feed_forward=640,
        n_heads=8,
        n_steps=10_000,
        # Chosen after six short trials that differed in several settings at once, one seed each: those with small
        # batches and 1.5e-3 did best. None tried exactly these numbers, and no setting was varied alone.
        tokens_per_batch=1_600,
        learning_rate=1.5e-3,
        n_warm_up_steps=600,
        n_steps_per_checkpoint=250,
        n_held_out=3_000,
        n_compared=1_000,
    ),
    # For the tests: seconds, and every step of the way.
    "tiny": Size(
        n_pairs=40,
        n_pieces=300,
        width=48,
        n_layers=1,
        feed_forward=96,
        n_heads=2,
        n_steps=50,
        tokens_per_batch=400,
        learning_rate=1e-2,
        n_warm_up_steps=10,
        n_steps_per_checkpoint=20,
        n_held_out=40,
        n_compared=30,
    ),
}

PACKAGES = ("torch", "transformers", "sentencepiece", "ctranslate2")
PAIRS_PER_ROUND = 50_000
MOST_ROUNDS = 1_000
LOSSES_REPORTED = 50


def train_demo_model(directory: Path, recipe: Recipe, open_progress: OpenProgress = no_progress) -> dict[str, Any]:
    """Make the model in a directory, or what is left to do of it, and give its report (also `report.json` there)."""
    if any(find_spec(package) is None for package in PACKAGES):
        raise MissingExtra("training the demonstration model", "train")
    if directory.exists() and not directory.is_dir():
        raise UserError(f"{directory} is a file; choose a directory with -o")
    with locks.hold(directory / ".lock"), reproducible(recipe.seed):
        return _train(directory, recipe, open_progress)


def _train(directory: Path, recipe: Recipe, open_progress: OpenProgress) -> dict[str, Any]:
    size, checkpoint = recipe.size, directory / "checkpoint.pt"
    Checkpoint(
        checkpoint, recipe.to_json()
    ).read()  # one that does not fit is refused before the first pair is generated
    started = time.monotonic()
    with open_progress("generating pairs") as progress:
        pairs = generate_pairs(size.n_pairs, recipe.seed, progress)
    pieces = train_pieces(pairs, size.n_pieces)
    corpus = encode_pairs(pairs, pieces)
    prepared = time.monotonic()
    with open_progress("training, steps") as progress:
        trained = train_model(recipe, pieces, corpus, checkpoint, progress)
    exported_at = time.monotonic()
    exported = write_model(trained.model, pieces, directory)
    held_out = list(generate(size.n_held_out, recipe.seed, split="held-out"))
    quality = evaluate(exported, held_out)
    agreement = compare_forms(exported, held_out[: size.n_compared])
    report = {
        "recipe": recipe.to_json(),
        "n_parameters": sum(p.numel() for p in trained.model.parameters() if p.requires_grad),
        "n_pieces": len(pieces.numbers) - 1,
        "held_out": quality,
        "agreement": agreement,
        "seconds": {
            "data": round(prepared - started, 1),
            "training": round(trained.progressed.seconds, 1),
            "training_cpu": round(trained.progressed.cpu_seconds, 1),
            "export_and_evaluation": round(time.monotonic() - exported_at, 1),
        },
        "losses": stretches(trained.progressed.losses),
        "bytes": {name: n_bytes(directory / name) for name in ("hf", "ctranslate2")},
        "versions": {
            "python": platform.python_version(),
            "gendermark": __version__,
            **{package: version(package) for package in (*PACKAGES, "sacrebleu")},
        },
    }
    write_text(directory / "report.json", json.dumps(report, indent=2) + "\n")
    return report


def generate_pairs(n_pairs: int, seed: int, progress: Progress, **grammar: Any) -> list[Pair]:
    """Pairs of the training split, in rounds of their own seeds; `grammar` says of which grammar (`generate`).

    Within a round no sentence comes twice, and constructions of few sentences would run dry. In the next one they come
    again, each with its gender drawn afresh: this is how the model sees how likely each gender is.
    """
    pairs: list[Pair] = []
    for number, first in enumerate(range(0, n_pairs, PAIRS_PER_ROUND)):
        n = min(PAIRS_PER_ROUND, n_pairs - first)
        for pair in generate(n, MOST_ROUNDS * seed + number, **grammar):
            pairs.append(pair)
            if len(pairs) % 1000 == 0:
                progress(len(pairs), n_pairs)
    return pairs


def stretches(losses: list[float]) -> list[float]:
    """The curve of the loss, as the means of up to fifty stretches of equal length."""
    n = max(1, len(losses) // LOSSES_REPORTED)
    parts = (losses[first : first + n] for first in range(0, len(losses), n))
    return [round(sum(stretch) / len(stretch), 4) for stretch in parts]


def n_bytes(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
