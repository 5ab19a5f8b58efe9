"""Looking for the best translation, word by word: beam search over our own transformer, with CTranslate2's rules.

So many translations of a source are followed as the beam is wide. Each that ends is set aside, and the search for a
source is over when as many are set aside as are followed; the best by log-probability per word wins. A beam of one is
greedy search. This module needs torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from gendermark.lab.transformer import Memory, State, Transformer
from gendermark.systems.engine import padded


class Found(NamedTuple):
    """One translation."""

    words: tuple[int, ...]
    """Without the end."""
    log_probability: float
    """End included."""
    ended: bool
    """False where the limit of length came first."""

    def score(self, length_penalty: float) -> float:
        return float(self.log_probability / (len(self.words) + self.ended) ** length_penalty)


@dataclass(frozen=True)
class Search:
    """How a model is searched."""

    model: Transformer
    end: int
    beam_size: int = 5
    max_length: int = 256
    length_penalty: float = 1.0

    def translate(self, sources: Sequence[Sequence[int]]) -> list[Found]:
        """The best translation of each source."""
        with torch.inference_mode():
            looking = _Looking(self, self.model.read(torch.tensor(padded(sources, self.model.pad))), len(sources))
            for n_said in range(1, self.max_length + 1):
                if not looking.sources:
                    break
                looking.say_one_word(is_first=n_said == 1, is_last=n_said == self.max_length)
        return [max(found, key=lambda one: one.score(self.length_penalty)) for found in looking.found]


@dataclass
class _Looking:
    """A search under way."""

    search: Search
    memory: Memory
    n_sources: int
    sources: list[int] = field(init=False)
    """Those whose search is not over."""
    found: list[list[Found]] = field(init=False)

    def __post_init__(self) -> None:
        model = self.search.model
        self.sources = list(range(self.n_sources))
        self.found = [[] for _ in self.sources]
        self._state: State = model.begin()
        self._last: Any = torch.full((self.n_sources, 1), model.pad)
        self._totals: Any = torch.zeros(self.n_sources, 1)
        self._said: list[list[tuple[int, ...]]] = [[()] for _ in self.sources]

    def say_one_word(self, *, is_first: bool, is_last: bool) -> None:
        search = self.search
        logits, self._state = search.model.step(self._last, self._state, self.memory)
        logarithms = logits.logsumexp(-1, keepdim=True)  # of the whole, before anything is ruled out
        if is_first:
            logits[..., search.end] = float("-inf")  # a translation has at least one word
        n_followed, n_words = logits.shape[1:]
        n_candidates = 2 * search.beam_size if search.beam_size > 1 else 1
        n_best = min(n_candidates, n_words)
        # The best of all are among the best of each that is followed.
        values, words = logits.topk(n_best) if n_best > 1 else logits.max(-1, keepdim=True)
        totals = (self._totals[..., None] + values - logarithms).flatten(1)
        best = totals.topk(min(n_candidates, totals.shape[1]))
        chosen_words = words.flatten(1).gather(1, best.indices)
        candidates = zip(best.values.tolist(), best.indices.tolist(), chosen_words.tolist(), strict=True)
        going_on: list[list[tuple[int, int, float]]] = []
        places: list[int] = []
        for place, (found, indices, said) in enumerate(candidates):
            origins = (index // n_best for index in indices)
            chosen = self._choose(place, list(zip(origins, said, found, strict=True)), is_last=is_last)
            if chosen is not None:
                going_on.append(chosen)
                places.append(place)
        self._go_on(places, going_on, n_followed)

    def _choose(
        self, place: int, rows: list[tuple[int, int, float]], *, is_last: bool
    ) -> list[tuple[int, int, float]] | None:
        """The candidates to follow further, (which was followed, its next word, total); None where it is over."""
        beam_size, end = self.search.beam_size, self.search.end
        found = self.found[self.sources[place]]
        in_reserve = (row for row in rows[beam_size:] if row[1] != end)
        chosen = []
        for row in rows[:beam_size]:
            origin, word, total = row
            if word == end or is_last:
                said = self._said[place][origin]
                found.append(Found(said if word == end else (*said, word), total, word == end))
                other = next(in_reserve, None)
                chosen += [other] if other is not None else []
            else:
                chosen.append(row)
        return None if is_last or len(found) >= beam_size or not chosen else chosen

    def _go_on(self, places: list[int], going_on: list[list[tuple[int, int, float]]], n_followed: int) -> None:
        if len(places) < len(self.sources):
            self.sources = [self.sources[place] for place in places]
            self.memory = self.memory.select(torch.tensor(places, dtype=torch.long))
        if not places:
            return
        n_next = max(map(len, going_on))
        # Where one source has fewer to follow than others, its last one is followed twice, hopelessly.
        filled = [[*rows, *[(rows[-1][0], rows[-1][1], float("-inf"))] * (n_next - len(rows))] for rows in going_on]
        rows = [place * n_followed + origin for place, row in zip(places, filled, strict=True) for origin, _, _ in row]
        if rows != list(range(n_followed * len(self._said))):
            self._state = self._state.select(torch.tensor(rows))
        self._said = [
            [(*self._said[place][origin], word) for origin, word, _ in row]
            for place, row in zip(places, filled, strict=True)
        ]
        self._last = torch.tensor([[word for _, word, _ in row] for row in filled])
        self._totals = torch.tensor([[total for _, _, total in row] for row in filled])
