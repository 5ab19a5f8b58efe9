"""Whether this machine has the memory to train a model, said before hours are spent."""

from __future__ import annotations

from pathlib import Path

from gendermark.errors import UserError
from gendermark.lab.architectures import Architecture

_MEMINFO = Path("/proc/meminfo")
_COPIES_OF_WEIGHTS = 6
"""Weights, gradients, two averages of Adam, the best weights so far, and a copy while a checkpoint is written."""
_VECTORS_PER_LAYER = 16
"""As wide as the model, kept of each token until the gradients are known, besides two as wide as the feed-forward part.
Measured on five shapes with one four times as wide: 16 to 21 in all, so that there is some room for what is in use."""
_ROWS_OF_ANSWERS = 4
"""Logits, their logarithms and gradients, for each token of a target."""


def bytes_needed(shape: Architecture, n_words: int, tokens_per_batch: int) -> int:
    """A rough figure, of a training with batches of so many tokens of source and target."""
    n_layers = shape.n_encoder_layers + shape.n_decoder_layers
    of_layers = n_layers * (_VECTORS_PER_LAYER * shape.width + 2 * shape.feed_forward)
    of_tokens = tokens_per_batch // 2 * (of_layers + _ROWS_OF_ANSWERS * n_words)
    return 4 * (_COPIES_OF_WEIGHTS * shape.n_parameters(n_words) + of_tokens)


def bytes_available() -> int | None:
    """Memory that can be had without swapping; None where the system does not say."""
    try:
        for line in _MEMINFO.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def check_memory(shape: Architecture, n_words: int, tokens_per_batch: int) -> None:
    """Refuse a training that would not fit."""
    needed, available = bytes_needed(shape, n_words, tokens_per_batch), bytes_available()
    if available is not None and needed > available:
        raise UserError(
            f"training this model needs about {needed / 1e9:.1f} GB of memory, and {available / 1e9:.1f} GB are free; "
            "a smaller --width or smaller --batch-tokens need less"
        )
