"""A translation transformer: encoder, decoder, and one embedding table for source, target and output.

Its arithmetic is Marian's (post-norm, sinusoidal positions), so that with self-attention it can be exported to
Transformers or CTranslate2 by renaming its weights. With an average attention network it is the model of Zhang, Xiong
and Su (2018), which neither supports.

The same layers work on whole sentences for training, and word by word for decoding, when a decoder layer caches keys
and values of earlier words, or just their sum. This module needs torch: import it inside functions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional

from gendermark.lab.torch_models import N_POSITIONS, SELF, Architecture
from gendermark.systems.engine import padded

Kept = tuple[Any, ...]
"""A decoder layer's cache: keys and values, or the sum of its inputs."""


class Memory(NamedTuple):
    """The encoded sources of a batch."""

    layers: list[tuple[Any, Any]]
    """Keys and values, for each decoder layer."""
    mask: Any
    """Where there are words; None without padding."""

    def select(self, rows: Any) -> Memory:
        layers = [(keys[rows], values[rows]) for keys, values in self.layers]
        return Memory(layers, None if self.mask is None else self.mask[rows])


class State(NamedTuple):
    n_words: int
    layers: list[Kept]

    def select(self, rows: Any) -> State:
        return State(self.n_words, [tuple(part[rows] for part in kept) for kept in self.layers])


class Attention(nn.Module):  # type: ignore[misc]  # torch is an extra: to the type checker it is Any
    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def look_up(self, at: Any) -> tuple[Any, Any]:
        return self._heads(self.key(at)), self._heads(self.value(at))

    def forward(self, x: Any, keys: Any, values: Any, mask: Any = None, is_causal: bool = False) -> Any:
        found = functional.scaled_dot_product_attention(
            self._heads(self.query(x)), keys, values, attn_mask=mask, is_causal=is_causal
        )
        return self.out(found.transpose(1, 2).flatten(2))

    def _heads(self, x: Any) -> Any:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)


class FeedForward(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x: Any) -> Any:
        return self.second(functional.relu(self.first(x)))


class LookBack(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        self.attention = Attention(shape.width, shape.n_heads)

    def forward(self, x: Any) -> Any:
        return self.attention(x, *self.attention.look_up(x), is_causal=True)

    def step(self, x: Any, kept: Kept, n_before: int) -> tuple[Any, Kept]:  # noqa: ARG002
        """The output for one more word of each sentence, and the new cache."""
        now = self.attention.look_up(x)
        keys, values = (torch.cat(pair, dim=2) for pair in zip(kept, now, strict=True)) if kept else now
        return self.attention(x, keys, values), (keys, values)


class AverageAttention(nn.Module):  # type: ignore[misc]
    """The mean of all inputs so far, through a feed-forward network, with gates for it and for the current input."""

    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        self.feed_forward = FeedForward(shape.width, shape.feed_forward)
        self.gates = nn.Linear(2 * shape.width, 2 * shape.width)

    def forward(self, x: Any) -> Any:
        counts = torch.arange(1, x.shape[1] + 1, dtype=x.dtype, device=x.device)[:, None]
        return self._gated(x, x.cumsum(dim=1) / counts)

    def step(self, x: Any, kept: Kept, n_before: int) -> tuple[Any, Kept]:
        total = kept[0] + x if kept else x
        return self._gated(x, total / (n_before + 1)), (total,)

    def _gated(self, x: Any, mean: Any) -> Any:
        past = self.feed_forward(mean)
        present_gate, past_gate = torch.sigmoid(self.gates(torch.cat([x, past], dim=-1))).chunk(2, dim=-1)
        return present_gate * x + past_gate * past


class EncoderLayer(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: Architecture, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(shape.width, shape.n_heads)
        self.feed_forward = FeedForward(shape.width, shape.feed_forward)
        self.attention_norm, self.feed_forward_norm = nn.LayerNorm(shape.width), nn.LayerNorm(shape.width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Any, mask: Any) -> Any:
        x = self.attention_norm(x + self.dropout(self.attention(x, *self.attention.look_up(x), mask)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class DecoderLayer(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: Architecture, dropout: float) -> None:
        super().__init__()
        self.past = LookBack(shape) if shape.attention == SELF else AverageAttention(shape)
        self.source = Attention(shape.width, shape.n_heads)
        self.feed_forward = FeedForward(shape.width, shape.feed_forward)
        self.past_norm, self.source_norm, self.feed_forward_norm = (nn.LayerNorm(shape.width) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Any, memory: tuple[Any, Any], mask: Any) -> Any:
        return self._rest(x, self.past(x), memory, mask)

    def step(self, x: Any, kept: Kept, n_before: int, memory: tuple[Any, Any], mask: Any) -> tuple[Any, Kept]:
        """One more word of several translations of each source: `x` is (sources, translations of each, width)."""
        past, kept = self.past.step(x.flatten(0, 1)[:, None], kept, n_before)
        return self._rest(x, past.view_as(x), memory, mask), kept

    def _rest(self, x: Any, past: Any, memory: tuple[Any, Any], mask: Any) -> Any:
        x = self.past_norm(x + self.dropout(past))
        x = self.source_norm(x + self.dropout(self.source(x, *memory, mask)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class Transformer(nn.Module):  # type: ignore[misc]
    """The padding is the last word, has a zero vector, begins every translation, and is never an answer."""

    positions: Any

    def __init__(self, shape: Architecture, n_words: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape, self.pad = shape, n_words - 1
        self.vectors = nn.Embedding(n_words, shape.width, padding_idx=self.pad)
        self.encoder = nn.ModuleList(EncoderLayer(shape, dropout) for _ in range(shape.n_encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(shape, dropout) for _ in range(shape.n_decoder_layers))
        self.dropout = nn.Dropout(dropout)
        # Sines in the first half of each row, then cosines, rounded to 16 bits as in an exported model.
        frequencies = torch.exp(
            torch.arange(0, shape.width, 2, dtype=torch.float64) * (-math.log(10_000) / shape.width)
        )
        angles = torch.arange(N_POSITIONS, dtype=torch.float64)[:, None] * frequencies
        positions = torch.cat([angles.sin(), angles.cos()], dim=1).half().float()
        self.register_buffer("positions", positions, persistent=False)
        self.answers: Any = None
        """The embedding table as an output layer, for decoding only."""

    def initialise(self) -> None:
        """Glorot initialisation scaled down with depth, so that deep models start to learn."""
        nn.init.normal_(self.vectors.weight, std=self.shape.width**-0.5)
        with torch.no_grad():
            self.vectors.weight[self.pad] = 0
        for side in (self.encoder, self.decoder):
            for depth, layer in enumerate(side, start=1):
                for part in layer.modules():
                    if isinstance(part, nn.Linear):
                        nn.init.xavier_uniform_(part.weight, gain=depth**-0.5)
                        nn.init.zeros_(part.bias)

    def freeze(self) -> None:
        self.eval()
        self.requires_grad_(False)
        self.answers = nn.Linear(self.shape.width, self.pad, bias=False)
        self.answers.weight = nn.Parameter(self.vectors.weight[:-1], requires_grad=False)

    def forward(self, sources: Any, targets: Any) -> Any:
        """The logits at every non-padding target position, concatenated."""
        x = self._embedded(torch.cat([torch.full_like(targets[:, :1], self.pad), targets[:, :-1]], dim=1))
        memory = self.read(sources)
        for layer, looked_up in zip(self.decoder, memory.layers, strict=True):
            x = layer(x, looked_up, memory.mask)
        return self._logits(x[targets != self.pad])

    def read(self, sources: Any) -> Memory:
        is_word = sources != self.pad
        mask = None if bool(is_word.all()) else is_word[:, None, None, :]
        x = self._embedded(sources)
        for layer in self.encoder:
            x = layer(x, mask)
        return Memory([layer.source.look_up(x) for layer in self.decoder], mask)

    def begin(self) -> State:
        return State(0, [() for _ in self.decoder])

    def step(self, words: Any, state: State, memory: Memory) -> tuple[Any, State]:
        """The logits of the next word, given the last words: (sources, translations of each).

        Translations of one source are adjacent and share its encoding.
        """
        x = self._embedded(words[:, :, None], state.n_words)[:, :, 0]
        layers: list[Kept] = []
        for layer, kept, looked_up in zip(self.decoder, state.layers, memory.layers, strict=True):
            x, now = layer.step(x, kept, state.n_words, looked_up, memory.mask)
            layers.append(now)
        return self._logits(x), State(state.n_words + 1, layers)

    def _embedded(self, words: Any, first: int = 0) -> Any:
        positions = self.positions[first : first + words.shape[-1]]
        return self.dropout(self.vectors(words) * math.sqrt(self.shape.width) + positions)

    def _logits(self, x: Any) -> Any:
        return functional.linear(x, self.vectors.weight[:-1]) if self.answers is None else self.answers(x)


# -- search ------------------------------------------------------------------------------------------------------------
#
# Beam search with CTranslate2's rules. So many translations of a source are followed as the beam is wide. Each that
# ends is set aside, and the search for a source is over when as many are set aside as are followed; the best by
# log-probability per word wins. A beam of one is greedy search.


class Found(NamedTuple):
    words: tuple[int, ...]
    log_probability: float
    """End included."""
    ended: bool
    """False if the length limit came first."""

    def score(self, length_penalty: float) -> float:
        return float(self.log_probability / (len(self.words) + self.ended) ** length_penalty)


Candidate = tuple[int, int, float]
"""Hypothesis, next word, and log-probability up to there."""


@dataclass(frozen=True)
class Search:
    model: Transformer
    end: int
    beam_size: int = 5
    max_length: int = 256
    length_penalty: float = 1.0

    def translate(self, sources: Sequence[Sequence[int]]) -> list[Found]:
        with torch.inference_mode():
            every = self._search(sources)
        return [max(found, key=lambda one: one.score(self.length_penalty)) for found in every]

    def _search(self, sources: Sequence[Sequence[int]]) -> list[list[Found]]:
        model = self.model
        memory, state = model.read(torch.tensor(padded(sources, model.pad))), model.begin()
        found: list[list[Found]] = [[] for _ in sources]
        searched = list(range(len(sources)))  # sources whose search is not over
        said: list[list[tuple[int, ...]]] = [[()] for _ in sources]
        last: Any = torch.full((len(sources), 1), model.pad)
        totals: Any = torch.zeros(len(sources), 1)
        for n_words in range(1, self.max_length + 1):
            logits, state = model.step(last, state, memory)
            n_followed = logits.shape[1]
            going_on: dict[int, list[Candidate]] = {}
            for place, candidates in enumerate(self._candidates(logits, totals, is_first=n_words == 1)):
                own, is_last = found[searched[place]], n_words == self.max_length
                if chosen := self._choose(candidates, said[place], own, is_last=is_last):
                    going_on[place] = chosen
            if not going_on:
                break
            if len(going_on) < len(searched):
                memory = memory.select(torch.tensor(list(going_on)))
            n_next = max(map(len, going_on.values()))
            for rows in going_on.values():
                # Pad sources with fewer hypotheses by repeating the last one with probability 0.
                rows += [(*rows[-1][:2], float("-inf"))] * (n_next - len(rows))
            places = [place * n_followed + origin for place, rows in going_on.items() for origin, _, _ in rows]
            if places != list(range(n_followed * len(searched))):
                state = state.select(torch.tensor(places))
            searched = [searched[place] for place in going_on]
            said = [[(*said[place][origin], word) for origin, word, _ in rows] for place, rows in going_on.items()]
            last = torch.tensor([[word for _, word, _ in rows] for rows in going_on.values()])
            totals = torch.tensor([[total for _, _, total in rows] for rows in going_on.values()])
        return found

    def _candidates(self, logits: Any, totals: Any, *, is_first: bool) -> list[list[Candidate]]:
        """The best next words for each source, twice the beam size."""
        logarithms = logits.logsumexp(-1, keepdim=True)  # before anything is ruled out
        if is_first:
            logits[..., self.end] = float("-inf")  # a translation has at least one word
        n_candidates = 2 * self.beam_size if self.beam_size > 1 else 1
        n_best = min(n_candidates, logits.shape[2])
        # The overall best are among the best of each hypothesis.
        values, words = logits.topk(n_best) if n_best > 1 else logits.max(-1, keepdim=True)
        totals = (totals[..., None] + values - logarithms).flatten(1)
        best = totals.topk(min(n_candidates, totals.shape[1]))
        chosen = words.flatten(1).gather(1, best.indices)
        every = zip((best.indices // n_best).tolist(), chosen.tolist(), best.values.tolist(), strict=True)
        return [list(zip(*one, strict=True)) for one in every]

    def _choose(
        self, candidates: list[Candidate], said: Sequence[tuple[int, ...]], found: list[Found], *, is_last: bool
    ) -> list[Candidate]:
        """The hypotheses to continue, none if the search is over; finished ones are added to `found`."""
        in_reserve = (one for one in candidates[self.beam_size :] if one[1] != self.end)
        chosen = []
        for origin, word, total in candidates[: self.beam_size]:
            if word == self.end or is_last:
                words = said[origin] if word == self.end else (*said[origin], word)
                found.append(Found(words, total, word == self.end))
                chosen += [other] if (other := next(in_reserve, None)) is not None else []
            else:
                chosen.append((origin, word, total))
        return [] if is_last or len(found) >= self.beam_size else chosen
