"""A model that begins with the weights of a deeper one: every other layer of it, or every third, evenly."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from gendermark.errors import UserError
from gendermark.lab.architectures import Architecture
from gendermark.lab.corpus import Pieces
from gendermark.lab.torch_models import read_facts, read_weights

_LAYER = re.compile(r"(encoder|decoder)\.(\d+)\.(.+)")


def inherit(model: Any, pieces: Pieces, directory: Path) -> None:
    """Give a new model the weights of the one in a directory."""
    _, old, words = read_facts(directory)
    new: Architecture = model.shape
    for name in ("width", "n_heads", "feed_forward", "attention"):
        if getattr(old, name) != getattr(new, name):
            raise UserError(
                f"{directory} has {name} {getattr(old, name)}, not {getattr(new, name)}; a model can begin with the "
                "weights of one that differs in depth alone"
            )
    if words != list(pieces.numbers):
        raise UserError(f"{directory} has other pieces; add --pieces {directory}")
    n_old = {"encoder": old.n_encoder_layers, "decoder": old.n_decoder_layers}
    n_new = {"encoder": new.n_encoder_layers, "decoder": new.n_decoder_layers}
    for side, n in n_new.items():
        if n > n_old[side]:
            raise UserError(
                f"{directory} has {n_old[side]} layers in its {side}; a model of {n} cannot begin with them"
            )
    weights = read_weights(directory)

    def origin(name: str) -> str:
        found = _LAYER.fullmatch(name)
        if found is None:
            return name
        side, number, rest = found.groups()
        return f"{side}.{int(number) * n_old[side] // n_new[side]}.{rest}"

    model.load_state_dict({name: weights[origin(name)] for name in model.state_dict()})
