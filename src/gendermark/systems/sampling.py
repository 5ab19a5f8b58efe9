"""Drawing many samples at the price of the few that differ.

A sampled translation leaves the most probable path at a handful of words. So instead of decoding 128 samples one word
at a time, an engine is asked for the most probable continuation of a prefix together with the distribution at each of
its steps; all samples walk along it, and only those that draw another word need a further continuation. With the
truncated sampling of the uncertainty paper (epsilon 0.2) 128 samples cost about as many decodings as there are distinct
ones.

What is drawn depends on seed, request and sample number alone, not on the batch or the order of work: a killed run goes
on to the same samples.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gendermark.errors import UserError
from gendermark.records import Request

OPTIONS = ("temperature", "top_k", "top_p", "epsilon", "seed")
"""The decoding options a sampling request may carry (`Request.options`)."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """How words are drawn: temperature first, then top-k, top-p and epsilon cut the distribution, in that order."""

    temperature: float = 1.0
    top_k: int = 0
    """0: no limit."""
    top_p: float = 1.0
    epsilon: float = 0.0
    """Words less probable than this are never drawn."""
    seed: int = 0

    @classmethod
    def of(cls, options: Iterable[tuple[str, str]]) -> Decoding:
        """The decoding that a request asks for, or one sentence about what is wrong with it."""
        given = dict(options)
        for key in given:
            if key not in OPTIONS:
                raise UserError(f"there is no sampling option {key!r}; available: {', '.join(OPTIONS)}")
        return cls(
            _number(given, "temperature", 1.0, lambda x: 0 < x < float("inf"), "a number above 0"),
            int(_number(given, "top_k", 0, lambda x: x >= 0 and x == int(x), "a whole number, 0 for no limit")),
            _number(given, "top_p", 1.0, lambda x: 0 < x <= 1, "a number above 0, at most 1"),
            _number(given, "epsilon", 0.0, lambda x: 0 <= x < 1, "a probability below 1"),
            int(_number(given, "seed", 0, lambda x: x >= 0 and x == int(x), "a whole number")),
        )

    def choices(self, log_probabilities: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The words that may be drawn, in order of their number, and their probabilities, which sum to one."""
        scaled = log_probabilities if self.temperature == 1 else log_probabilities / self.temperature
        words: NDArray[np.int64] = np.arange(len(scaled))
        if 0 < self.top_k < len(scaled):
            words = np.sort(np.argpartition(-scaled, self.top_k - 1)[: self.top_k])
        probabilities = _normalised(scaled[words])
        if self.top_p < 1:
            order = np.argsort(-probabilities, kind="stable")
            before = np.cumsum(probabilities[order]) - probabilities[order]
            kept = np.sort(order[before < self.top_p])
            words, probabilities = words[kept], _rescaled(probabilities[kept])
        if self.epsilon > 0:
            # The most probable word always stays: there must be something to say.
            kept = np.flatnonzero((probabilities >= self.epsilon) | (probabilities == probabilities.max()))
            words, probabilities = words[kept], _rescaled(probabilities[kept])
        return words, probabilities


@dataclass(frozen=True, slots=True)
class Continuation:
    """The most probable way on from a prefix, and what the model thought of every word at each step of it."""

    words: Sequence[int]
    """Ends with the end token, unless the limit of length came first."""
    logits: NDArray[np.float32]
    """One row per word of `words`."""


Continue = Callable[[Sequence[tuple[int, tuple[int, ...]]]], Sequence[Continuation]]
"""For each (number of the source, prefix): its continuation, in the same order."""


@dataclass(frozen=True, slots=True)
class Draw:
    """One sample: its words without the end token, and the model's own log-probability of it, end token included.

    The log-probability is that of the untruncated distribution at temperature 1: it belongs to the model, not to the
    way of drawing.
    """

    words: tuple[int, ...]
    log_probability: float
    n_tokens: int


@dataclass(slots=True)
class _Group:
    """Samples of one request that have drawn the same words so far."""

    source: int
    prefix: tuple[int, ...]
    log_probability: float
    samples: NDArray[np.int64]


def draw(
    requests: Sequence[Request], continue_greedily: Continue, end_tokens: frozenset[int], max_words: int
) -> list[list[Draw]]:
    """For each request its samples, in the order of their numbers."""
    decodings = [Decoding.of(request.options) for request in requests]
    chances = [
        _chances(request, decoding.seed, max_words) for request, decoding in zip(requests, decodings, strict=True)
    ]
    drawn: list[dict[int, Draw]] = [{} for _ in requests]
    waiting = [_Group(source, (), 0.0, np.arange(request.n_samples)) for source, request in enumerate(requests)]
    while waiting:
        paths = continue_greedily([(group.source, group.prefix) for group in waiting])
        further: list[_Group] = []
        for group, path in zip(waiting, paths, strict=True):
            further += _walk(
                group, path, decodings[group.source], chances[group.source], end_tokens, max_words, drawn[group.source]
            )
        waiting = further
    return [
        [found[sample] for sample in range(request.n_samples)] for request, found in zip(requests, drawn, strict=True)
    ]


def _walk(
    group: _Group,
    path: Continuation,
    decoding: Decoding,
    chances: NDArray[np.float64],
    end_tokens: frozenset[int],
    max_words: int,
    drawn: dict[int, Draw],
) -> list[_Group]:
    """Take a group's samples along a path; those that leave it are returned as new groups."""
    leaving: list[_Group] = []
    prefix, total, samples = group.prefix, group.log_probability, group.samples
    for likeliest, logits in zip(path.words, path.logits, strict=True):
        log_probabilities = _log_softmax(logits)
        words, probabilities = decoding.choices(log_probabilities)
        if len(words) == 1:
            taken = np.full(len(samples), words[0])
        else:
            places = np.searchsorted(np.cumsum(probabilities), chances[samples, len(prefix)], side="right")
            taken = words[np.minimum(places, len(words) - 1)]
        staying = None
        for word in sorted(set(taken.tolist())):
            who = samples[taken == word]
            log_probability = total + float(log_probabilities[word])
            if word in end_tokens or len(prefix) + 1 == max_words:
                said = prefix if word in end_tokens else (*prefix, word)
                for sample in who.tolist():
                    drawn[sample] = Draw(said, log_probability, len(prefix) + 1)
            elif word == likeliest:
                staying = _Group(group.source, (*prefix, word), log_probability, who)
            else:
                leaving.append(_Group(group.source, (*prefix, word), log_probability, who))
        if staying is None:
            return leaving
        prefix, total, samples = staying.prefix, staying.log_probability, staying.samples
    # The engine's limit of length was below ours: go on from where it stopped.
    return [*leaving, _Group(group.source, prefix, total, samples)]


def _chances(request: Request, seed: int, n_steps: int) -> NDArray[np.float64]:
    """One uniform number per sample and step, each sample's from a stream of its own."""
    rows = [
        np.random.Generator(
            np.random.PCG64(
                int.from_bytes(hashlib.sha256(f"{seed}/{request.request_id}/{sample}".encode()).digest()[:16], "big")
            )
        ).random(n_steps)
        for sample in request.samples
    ]
    return np.array(rows)


def _log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    shifted = logits.astype(np.float64) - float(logits.max())
    result: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum())
    return result


def _normalised(log_probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    return _rescaled(np.exp(log_probabilities - log_probabilities.max()))


def _rescaled(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = weights / weights.sum()
    return result


def _number(given: Mapping[str, str], key: str, default: float, fits: Callable[[float], bool], what: str) -> float:
    text = given.get(key, str(default))
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if number != number or not abs(number) < float("inf") or not fits(number):
        raise UserError(f"sampling option {key} must be {what}, not {text!r}")
    return number
