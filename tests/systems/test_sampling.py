"""Samples from the shared path follower against a model whose distribution is known exactly."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendermark.errors import UserError
from gendermark.records import Request, Task
from gendermark.systems.sampling import Continuation, Decoding, draw

END = 0
N_WORDS = 5


class Toy:
    """A language model over five words: the distribution of the next one depends on source and prefix."""

    def __init__(self, peakedness: float = 2.0, max_words: int = 6, limit: int | None = None) -> None:
        self.peakedness, self.max_words, self.limit = peakedness, max_words, limit or max_words
        self.n_continuations = 0

    def logits(self, source: int, prefix: tuple[int, ...]) -> np.ndarray:
        chance = np.random.default_rng([source, 7, *prefix])
        return (chance.standard_normal(N_WORDS) * self.peakedness).astype(np.float32)

    def __call__(self, prefixes):
        self.n_continuations += len(prefixes)
        return [self._continue(source, prefix) for source, prefix in prefixes]

    def _continue(self, source: int, prefix: tuple[int, ...]) -> Continuation:
        words, rows = [], []
        while len(words) < self.limit and len(prefix) < self.max_words:
            row = self.logits(source, prefix)
            rows.append(row)
            words.append(int(row.argmax()))
            prefix = (*prefix, words[-1])
            if words[-1] == END:
                break
        return Continuation(words, np.array(rows))

    def probabilities(self, source: int, decoding: Decoding) -> dict[tuple[int, ...], float]:
        """Every sentence and its exact probability under a decoding."""
        found: dict[tuple[int, ...], float] = {}
        waiting = [((), 1.0)]
        while waiting:
            prefix, so_far = waiting.pop()
            row = self.logits(source, prefix).astype(float)
            words, chances = decoding.choices(row - np.log(np.exp(row).sum()))
            for word, chance in zip(words.tolist(), chances.tolist(), strict=True):
                if word == END:
                    found[prefix] = so_far * chance
                elif len(prefix) + 1 == self.max_words:
                    found[(*prefix, word)] = so_far * chance
                else:
                    waiting.append(((*prefix, word), so_far * chance))
        return found


def sampling(n: int, source: str = "a", first: int = 0, **options: object) -> Request:
    pairs = tuple(sorted((key, str(value)) for key, value in options.items()))
    return Request(source, "en", "es", Task.SAMPLE, options=pairs, first_sample=first, n_samples=n)


def sentences(draws) -> list[tuple[int, ...]]:
    return [found.tokens for found in draws]


@pytest.mark.parametrize(
    "options",
    [{}, {"epsilon": 0.2}, {"top_k": 2}, {"top_p": 0.7}, {"temperature": 0.5}, {"temperature": 1.5, "epsilon": 0.1}],
)
def test_frequencies_are_those_of_the_model(options: dict[str, float]) -> None:
    toy, n = Toy(), 4000
    (draws,) = draw([sampling(n, **options)], toy, frozenset({END}), toy.max_words)
    expected = toy.probabilities(0, Decoding.of(tuple((k, str(v)) for k, v in options.items())))
    counts = Counter(sentences(draws))
    assert set(counts) <= set(expected)
    common = {sentence: chance for sentence, chance in expected.items() if chance * n >= 5}
    chi_square = sum((counts[s] - n * p) ** 2 / (n * p) for s, p in common.items())
    assert chi_square < len(common) + 5 * (2 * len(common)) ** 0.5


def test_log_probabilities_are_the_untruncated_model_s() -> None:
    toy = Toy()
    exact = toy.probabilities(0, Decoding())
    (draws,) = draw([sampling(50, epsilon=0.2, temperature=0.7)], toy, frozenset({END}), toy.max_words)
    for found in draws:
        assert found.log_probability == pytest.approx(np.log(exact[found.tokens]), abs=1e-6)
        assert found.n_tokens == min(len(found.tokens) + 1, toy.max_words)


@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 5))
@settings(max_examples=40)
def test_samples_do_not_depend_on_how_they_are_cut_or_batched(n: int, cut: int, seed: int) -> None:
    toy, cut = Toy(), min(cut, n)
    whole, other = draw([sampling(n, seed=seed), sampling(3, "b", seed=seed)], toy, frozenset({END}), toy.max_words)
    parts = [part for part in (sampling(cut, seed=seed), sampling(n - cut, first=cut, seed=seed)) if part.n_samples]
    pieces = [draw([part], toy, frozenset({END}), toy.max_words)[0] for part in parts]
    assert list(itertools.chain(*pieces)) == whole
    assert len(other) == 3


def test_an_engine_that_stops_early_is_asked_to_go_on() -> None:
    (whole,) = draw([sampling(60)], Toy(), frozenset({END}), 6)
    (short,) = draw([sampling(60)], Toy(limit=2), frozenset({END}), 6)
    assert short == whole


def test_epsilon_never_draws_an_improbable_word_but_always_has_one() -> None:
    words, probabilities = Decoding(epsilon=0.2).choices(np.log([0.5, 0.3, 0.15, 0.05]))
    assert words.tolist() == [0, 1]
    assert probabilities.tolist() == pytest.approx([0.625, 0.375])
    words, _ = Decoding(epsilon=0.9).choices(np.log([0.5, 0.3, 0.2]))
    assert words.tolist() == [0]


def test_top_p_keeps_the_word_that_crosses_the_border() -> None:
    words, _ = Decoding(top_p=0.6).choices(np.log([0.5, 0.3, 0.2]))
    assert words.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("temperature", "0"),
        ("temperature", "warm"),
        ("temperature", "inf"),
        ("top_k", "1.5"),
        ("top_p", "1.1"),
        ("epsilon", "1"),
        ("seed", "-1"),
        ("seed", "nan"),
        ("beam", "4"),
    ],
)
def test_a_wrong_option_is_refused(key: str, value: str) -> None:
    with pytest.raises(UserError, match=f"{key}.*(not '{value}'|temperature, top_k, top_p, epsilon, seed)"):
        Decoding.of([(key, value)])
