"""Draw many samples at the cost of the distinct ones.

A sampled translation leaves the greedy path at a few tokens. So instead of decoding 128 samples token by token, an
engine gives the greedy continuation of a prefix with the distribution at each step; all samples follow it, and only
those that draw another token need a further continuation. With the truncated sampling of the uncertainty paper (epsilon
0.2), 128 samples cost about as many decodings as there are distinct ones.

Draws depend only on seed, request and sample number, not on batch or order: a resumed run draws the same samples.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gendermark.errors import UserError
from gendermark.records import Request
from gendermark.systems.system import checked_number

OPTIONS = ("temperature", "top_k", "top_p", "epsilon", "seed")
"""The decoding options of a sampling request (`Request.options`)."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """Settings of sampling: temperature, then truncation by top-k, top-p and epsilon, in that order."""

    temperature: float = 1.0
    top_k: int = 0
    """0: no limit."""
    top_p: float = 1.0
    epsilon: float = 0.0
    """Less probable tokens are never drawn."""
    seed: int = 0

    @classmethod
    def of(cls, options: Iterable[tuple[str, str]]) -> Decoding:
        given = dict(options)
        for key in given:
            if key not in OPTIONS:
                raise UserError(f"unknown sampling option {key!r}; available: {', '.join(OPTIONS)}")

        def number(key: str, default: float, fits: Callable[[float], bool], what: str) -> float:
            return checked_number(f"sampling option {key}", given.get(key, str(default)), fits, what)

        return cls(
            number("temperature", 1.0, lambda x: x > 0, "a number above 0"),
            int(number("top_k", 0, lambda x: x >= 0 and x == int(x), "a whole number, 0 for no limit")),
            number("top_p", 1.0, lambda x: 0 < x <= 1, "a number above 0, at most 1"),
            number("epsilon", 0.0, lambda x: 0 <= x < 1, "a probability below 1"),
            int(number("seed", 0, lambda x: x >= 0 and x == int(x), "a whole number")),
        )

    def choices(self, log_probabilities: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        scaled = log_probabilities if self.temperature == 1 else log_probabilities / self.temperature
        tokens: NDArray[np.int64] = np.arange(len(scaled))
        if 0 < self.top_k < len(scaled):
            tokens = np.sort(np.argpartition(-scaled, self.top_k - 1)[: self.top_k])
        weights = np.exp(scaled[tokens] - scaled[tokens].max())
        probabilities: NDArray[np.float64] = weights / weights.sum()
        if self.top_p < 1:
            order = np.argsort(-probabilities, kind="stable")
            before = np.cumsum(probabilities[order]) - probabilities[order]
            kept = np.sort(order[before < self.top_p])
            tokens, probabilities = tokens[kept], probabilities[kept] / probabilities[kept].sum()
        if self.epsilon > 0:
            # Always keep the most probable token.
            kept = np.flatnonzero((probabilities >= self.epsilon) | (probabilities == probabilities.max()))
            tokens, probabilities = tokens[kept], probabilities[kept] / probabilities[kept].sum()
        return tokens, probabilities


class Continuation(NamedTuple):
    """The greedy continuation of a prefix."""

    tokens: Sequence[int]
    """Ends with the end token, unless truncated."""
    logits: NDArray[np.float32]
    """One row of vocabulary size per token of `tokens`."""


Continue = Callable[[Sequence[tuple[int, tuple[int, ...]]]], Sequence[Continuation]]
"""For each (number of the source, prefix): its continuation, in order."""


class Draw(NamedTuple):
    """One sample, or another translation found by an engine."""

    tokens: tuple[int, ...]
    """Without the end token."""
    log_probability: float | None
    """Of the untruncated distribution at temperature 1, end token included: a property of the model, not of the
    sampling. None if unknown."""
    n_tokens: int
    """End token included, if reached."""


class _Group(NamedTuple):
    """Samples of one request with the same tokens so far."""

    source: int
    prefix: tuple[int, ...]
    log_probability: float
    samples: NDArray[np.int64]


def draw(
    requests: Sequence[Request], continue_greedily: Continue, end_tokens: frozenset[int], max_tokens: int
) -> list[list[Draw]]:
    decodings = [Decoding.of(request.options) for request in requests]
    chances = []
    for request, decoding in zip(requests, decodings, strict=True):
        # One uniform number per sample and step, with an independent stream per sample.
        keys = [f"{decoding.seed}/{request.request_id}/{sample}" for sample in request.samples]
        seeds = [int.from_bytes(hashlib.sha256(key.encode()).digest()[:16], "big") for key in keys]
        chances.append(np.array([np.random.Generator(np.random.PCG64(seed)).random(max_tokens) for seed in seeds]))
    drawn: list[dict[int, Draw]] = [{} for _ in requests]
    waiting = [_Group(source, (), 0.0, np.arange(request.n_samples)) for source, request in enumerate(requests)]
    while waiting:
        paths = continue_greedily([(group.source, group.prefix) for group in waiting])
        further: list[_Group] = []
        for group, path in zip(waiting, paths, strict=True):
            source = group.source
            further += _follow(group, path, decodings[source], chances[source], end_tokens, max_tokens, drawn[source])
        waiting = further
    return [
        [found[sample] for sample in range(request.n_samples)] for request, found in zip(requests, drawn, strict=True)
    ]


def _follow(
    group: _Group,
    path: Continuation,
    decoding: Decoding,
    chances: NDArray[np.float64],
    end_tokens: frozenset[int],
    max_tokens: int,
    drawn: dict[int, Draw],
) -> list[_Group]:
    """Follow a path with a group's samples; those that leave it are returned as new groups."""
    leaving: list[_Group] = []
    for greedy, logits in zip(path.tokens, path.logits, strict=True):
        prefix, samples = group.prefix, group.samples
        shifted = logits.astype(np.float64) - float(logits.max())
        log_probabilities = shifted - np.log(np.exp(shifted).sum())
        tokens, probabilities = decoding.choices(log_probabilities)
        if len(tokens) == 1:
            taken = np.full(len(samples), tokens[0])
        else:
            places = np.searchsorted(np.cumsum(probabilities), chances[samples, len(prefix)], side="right")
            taken = tokens[np.minimum(places, len(tokens) - 1)]
        staying = None
        for token in sorted(set(taken.tolist())):
            who = samples[taken == token]
            total = group.log_probability + float(log_probabilities[token])
            if token in end_tokens or len(prefix) + 1 == max_tokens:
                said = prefix if token in end_tokens else (*prefix, token)
                drawn.update(dict.fromkeys(who.tolist(), Draw(said, total, len(prefix) + 1)))
                continue
            part = _Group(group.source, (*prefix, token), total, who)
            if token == greedy:
                staying = part
            else:
                leaving.append(part)
        if staying is None:
            return leaving
        group = staying
    # The engine's length limit was below ours: continue from there.
    return [*leaving, group]
