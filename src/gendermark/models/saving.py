"""Models written so that they are read again as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def save_whole(model: Any, directory: Path) -> None:
    """As `save_pretrained`, with what Transformers leaves out since it can be computed: Marian's table of positions.

    Computed afresh it has 32 bits, where ours are rounded to 16; the model would not quite be the same.
    """
    left_out = model._keys_to_ignore_on_save
    model._keys_to_ignore_on_save = None
    try:
        model.save_pretrained(directory)
    finally:
        model._keys_to_ignore_on_save = left_out
