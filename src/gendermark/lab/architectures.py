"""The shapes of a transformer that is trained here: how deep each side is, how wide, how its decoder looks back.

`E,D` names the depths: 6,6 is the usual one, 8,4 10,2 11,1 have a shallow decoder and a deeper encoder in exchange,
6,4 6,2 6,1 a shallow decoder alone. The decoder looks back at its own words by self-attention, or by an average
attention network (Zhang, Xiong and Su 2018, "Accelerating Neural Transformer via an Average Attention Network", ACL).
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from gendermark.errors import UnknownName, UserError

SELF, AVERAGE = "self", "average"
ATTENTIONS = (SELF, AVERAGE)
DEEPEST = 48
N_POSITIONS = 512
"""Words of a sentence at most."""
_DEPTHS = re.compile(r"([1-9]\d?) *, *([1-9]\d?)")


@dataclass(frozen=True, slots=True)
class Architecture:
    """Everything that decides which weights a model has, but its vocabulary."""

    n_encoder_layers: int = 6
    n_decoder_layers: int = 6
    attention: str = SELF
    width: int = 128
    n_heads: int = 4
    feed_forward: int = 512

    def __post_init__(self) -> None:
        if self.attention not in ATTENTIONS:
            raise UnknownName("attention of the decoder", self.attention, ATTENTIONS)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "attention" and (type(value) is not int or value < 1):
                raise UserError(f"an architecture's {field.name} is a whole number, at least 1, not {value!r}")
        if self.width % (2 * self.n_heads):
            raise UserError(
                f"width {self.width} cannot be shared by {self.n_heads} heads; it must be a multiple of "
                f"{2 * self.n_heads}, twice their number"
            )

    @property
    def name(self) -> str:
        """`10,2` or `10,2 average`."""
        depths = f"{self.n_encoder_layers},{self.n_decoder_layers}"
        return depths if self.attention == SELF else f"{depths} {self.attention}"

    def n_parameters(self, n_words: int) -> int:
        """How many weights there are with so many words."""
        width, norm = self.width, 2 * self.width
        projection, feed_forward = width * width + width, 2 * width * self.feed_forward + self.feed_forward + width
        looking_back = 4 * projection if self.attention == SELF else feed_forward + 4 * width * width + 2 * width
        encoder = 4 * projection + feed_forward + 2 * norm
        decoder = looking_back + 4 * projection + feed_forward + 3 * norm
        return n_words * width + self.n_encoder_layers * encoder + self.n_decoder_layers * decoder

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def parse_depths(text: str) -> tuple[int, int]:
    """The layers of encoder and decoder in `10,2`."""
    found = _DEPTHS.fullmatch(text.strip())
    if found is None or int(found[1]) > DEEPEST or int(found[2]) > DEEPEST:
        raise UserError(
            f"unknown architecture {text!r}; write the layers of encoder and decoder, 6,6 or 10,2 or 6,2 for example, "
            f"at most {DEEPEST} each"
        )
    return int(found[1]), int(found[2])
