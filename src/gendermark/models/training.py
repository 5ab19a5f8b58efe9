"""The demonstration model itself, and the loop that trains it.

Two things make the model mean the same in Transformers and in CTranslate2, which has no padding in its vocabulary and
starts every translation from a zero vector: the vector of the padding is zero, and padding is never a possible answer.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from gendermark.errors import BadFile, UserError
from gendermark.models.corpus import Corpus, Ids, Pieces, padded
from gendermark.runs.translate import Progress

_NEVER = -1e4
"""A logit that leaves no probability at all in 32 bits, and that 16 bits can hold."""
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
    losses: list[float]
    """Mean loss per piece of target, of every step."""
    seconds: float
    """Spent on steps, over all runs that it took."""
    cpu_seconds: float


def build_model(size: Size, pieces: Pieces) -> Any:
    """A small Marian model with one table of vectors for source, target and answer."""
    import torch
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=len(pieces.numbers),
        d_model=size.width,
        encoder_layers=size.n_layers,
        decoder_layers=size.n_layers,
        encoder_ffn_dim=size.feed_forward,
        decoder_ffn_dim=size.feed_forward,
        encoder_attention_heads=size.n_heads,
        decoder_attention_heads=size.n_heads,
        activation_function="relu",
        scale_embedding=True,
        init_std=size.width**-0.5,
        dropout=0.0,  # every pair is seen about once: there is nothing to learn by heart
        max_position_embeddings=512,
        pad_token_id=pieces.pad,
        decoder_start_token_id=pieces.pad,
        eos_token_id=pieces.end,
        forced_eos_token_id=None,
    )
    model: Any = MarianMTModel(config)
    with torch.no_grad():
        model.final_logits_bias[0, pieces.pad] = _NEVER
        model.get_input_embeddings().weight[pieces.pad] = 0
    model.generation_config.max_length = 256
    model.generation_config.num_beams = 1
    return model


@contextmanager
def reproducible(recipe: Recipe) -> Iterator[None]:
    """Inside: the same numbers every time. Afterwards torch is as it was."""
    import torch

    n_threads, was_deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(1)  # more would add up in another order
    torch.use_deterministic_algorithms(True)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(recipe.seed)
            yield
    finally:
        torch.use_deterministic_algorithms(was_deterministic)
        torch.set_num_threads(n_threads)


def train_model(recipe: Recipe, pieces: Pieces, corpus: Corpus, checkpoint: Path, progress: Progress) -> Trained:
    """The trained model; goes on from a checkpoint of the same recipe, and reaches the same weights."""
    import torch

    size = recipe.size
    model = build_model(size, pieces)
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.Adam(weights, lr=size.learning_rate, betas=(0.9, 0.98), eps=1e-9)
    losses: list[float] = []
    seconds = cpu_seconds = 0.0
    if (state := read_checkpoint(checkpoint, recipe)) is not None:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        losses, seconds, cpu_seconds = state["losses"], state["seconds"], state["cpu_seconds"]
    started, cpu_started = time.monotonic() - seconds, time.process_time() - cpu_seconds
    model.train()
    progress(len(losses), size.n_steps)
    batches = corpus.batches(recipe.seed, size.tokens_per_batch)
    with ThreadPoolExecutor(_N_PARTS, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        for batch in islice(batches, len(losses), size.n_steps):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(size, len(losses))
            loss, gradients = _gradients(model, weights, corpus, batch, pieces.pad, pool)
            for weight, gradient in zip(weights, gradients, strict=True):
                weight.grad = gradient
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
            with torch.no_grad():
                model.get_input_embeddings().weight[pieces.pad] = 0
            losses.append(loss)
            if len(losses) % size.n_steps_per_checkpoint == 0 or len(losses) == size.n_steps:
                seconds, cpu_seconds = time.monotonic() - started, time.process_time() - cpu_started
                _write(checkpoint, recipe, model, optimizer, losses, {"seconds": seconds, "cpu_seconds": cpu_seconds})
            progress(len(losses), size.n_steps)
    model.eval()
    return Trained(model, losses, seconds, cpu_seconds)


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


def learning_rate(size: Size, step: int) -> float:
    """Up to the highest rate, down with the inverse square root, and straight to zero in the last fifth.

    The straight end does what an average over checkpoints would do, and needs no checkpoints.
    """
    rising = min(1.0, (step + 1) / size.n_warm_up_steps)
    falling = (size.n_warm_up_steps / max(step + 1, size.n_warm_up_steps)) ** 0.5
    n_last = max(1, size.n_steps // 5)
    ending = min(1.0, (size.n_steps - step) / n_last)
    return float(size.learning_rate * rising * falling * ending)


def log_probabilities(model: Any, sources: list[Ids], targets: list[Ids], pad: int) -> Any:
    """A tensor: the log-probability of each piece of each target, 0 where there is only padding."""
    import torch

    source, target = torch.tensor(padded(sources, pad)), torch.tensor(padded(targets, pad))
    before = torch.cat([torch.full_like(target[:, :1], pad), target[:, :-1]], dim=1)
    logits = model(input_ids=source, attention_mask=source != pad, decoder_input_ids=before, use_cache=False).logits
    found = -torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
    return found.view_as(target).masked_fill(target == pad, 0)


def _write(
    path: Path, recipe: Recipe, model: Any, optimizer: Any, losses: list[float], clocks: Mapping[str, float]
) -> None:
    """Whole or not at all: a training that is killed here goes on from the checkpoint before."""
    import torch

    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "losses": losses, **clocks}
    temporary = path.with_suffix(".writing")
    torch.save({"recipe": recipe.to_json(), **state}, temporary)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(path)


def read_checkpoint(path: Path, recipe: Recipe) -> dict[str, Any] | None:
    """What a training of this recipe left behind, if there is anything."""
    import torch

    if not path.exists():
        return None
    try:
        state: dict[str, Any] = torch.load(path, weights_only=True)
        trained_by = state["recipe"]
    except (RuntimeError, EOFError, KeyError, TypeError, pickle.UnpicklingError):
        raise BadFile(path, "is not a checkpoint of a training; delete it to start afresh") from None
    if trained_by != recipe.to_json():
        raise UserError(
            f"{path} is a checkpoint of a training with other settings; give the same ones, "
            "or another directory with -o"
        )
    return state
