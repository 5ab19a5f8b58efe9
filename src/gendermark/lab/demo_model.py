"""The demonstration model itself, and how it learns from one batch (`loop.py` has the rest).

It is a Marian model of Transformers from its first step (`marian.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gendermark.lab.architectures import SELF, Architecture
from gendermark.lab.corpus import Corpus, Ids, Pieces
from gendermark.lab.loop import Checkpoint, Course, Progressed, train
from gendermark.lab.marian import marian_model
from gendermark.runs.translate import Progress
from gendermark.systems.engine import padded

_N_PARTS = 2


@dataclass(frozen=True)
class Size:
    """How large a model is, and how long it learns."""

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
    """The highest one, at the end of the warm-up."""
    n_warm_up_steps: int
    n_steps_per_checkpoint: int
    n_held_out: int
    """Sentences for BLEU and perplexity."""
    n_compared: int
    """Sentences on which the exported forms are compared."""


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the weights."""

    size: Size
    seed: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Trained:
    model: Any
    progressed: Progressed


def build_model(size: Size, pieces: Pieces) -> Any:
    """A small Marian model with one table of vectors for source, target and answer."""
    shape = Architecture(size.n_layers, size.n_layers, SELF, size.width, size.n_heads, size.feed_forward)
    return marian_model(shape, pieces)  # no dropout: every pair is seen about once


def train_model(recipe: Recipe, pieces: Pieces, corpus: Corpus, checkpoint: Path, progress: Progress) -> Trained:
    """The trained model; goes on from a checkpoint of the same recipe, and reaches the same weights."""
    import torch

    size = recipe.size
    model = build_model(size, pieces)
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.Adam(weights, lr=size.learning_rate, betas=(0.9, 0.98), eps=1e-9)

    def no_padding() -> None:
        with torch.no_grad():
            model.get_input_embeddings().weight[pieces.pad] = 0

    with ThreadPoolExecutor(_N_PARTS, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        course = Course(
            model,
            weights,
            corpus.batches(recipe.seed, size.tokens_per_batch),
            lambda _, batch: _gradients(model, weights, corpus, batch, pieces.pad, pool),
            no_padding,
        )
        return Trained(model, train(course, size, Checkpoint(checkpoint, recipe.to_json()), optimizer, progress))


def _gradients(
    model: Any, weights: Sequence[Any], corpus: Corpus, batch: Sequence[int], pad: int, pool: Executor
) -> tuple[float, list[Any]]:
    """The mean loss per piece of a batch, and its gradients.

    A batch is always done in two parts side by side, and their sums are added in the same order: so two cores are
    used, they meet once a step and not in every operation, and the weights do not depend on how many cores there are.
    """
    import torch

    n_pieces = sum(len(corpus.targets[position]) for position in batch)

    def work(part: Sequence[int]) -> tuple[float, Sequence[Any]]:
        sources, targets = [corpus.sources[i] for i in part], [corpus.targets[i] for i in part]
        # No label smoothing: how likely each gender is in the data is what the model is to learn.
        loss = -log_probabilities(model, sources, targets, pad).sum() / n_pieces
        return loss.item(), torch.autograd.grad(loss, weights)

    parts = [part for part in (batch[first::_N_PARTS] for first in range(_N_PARTS)) if part]
    losses, gradients = zip(*pool.map(work, parts), strict=True)
    return sum(losses), [torch.stack(alike).sum(dim=0) for alike in zip(*gradients, strict=True)]


def log_probabilities(model: Any, sources: list[Ids], targets: list[Ids], pad: int) -> Any:
    """A tensor: the log-probability of each piece of each target, 0 where there is only padding."""
    import torch

    source, target = torch.tensor(padded(sources, pad)), torch.tensor(padded(targets, pad))
    before = torch.cat([torch.full_like(target[:, :1], pad), target[:, :-1]], dim=1)
    logits = model(input_ids=source, attention_mask=source != pad, decoder_input_ids=before, use_cache=False).logits
    found = -torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
    return found.view_as(target).masked_fill(target == pad, 0)
