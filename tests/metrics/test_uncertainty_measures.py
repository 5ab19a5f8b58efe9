"""Entropies and surprisals against their definitions, their limits, and a plain sample-by-sample computation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from gendermark.metrics.metric import Floats
from gendermark.metrics.uncertainty import (
    Samples,
    cluster_entropy,
    cluster_surprisal_of,
    decided,
    feminine_share,
    log_probability_per_token,
    openness,
    relative_difference,
    resampled_cluster,
    resampled_counts,
    resampled_s3es,
    resampled_shannon,
    s3e_entropies,
    s3e_surprisal_of,
    shannon_entropy,
    shannon_surprisal_of,
    signed_difference,
    within_labels,
)
from gendermark.records import Gender

steady = settings(derandomize=True, max_examples=60, database=None)

texts_drawn = st.lists(st.sampled_from(["el", "la", "los", "las", "le", "il", "lo"]), min_size=1, max_size=40)


def s3e_entropy(samples: Samples, similarities: ArrayLike, alpha: float = 1.0) -> float | None:
    return s3e_entropies(samples, similarities, [alpha])[0]


M, F, N = Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL


@st.composite
def labelled(draw: st.DrawFn) -> tuple[Samples, list[Hashable]]:
    samples = Samples.of(draw(texts_drawn))
    label = st.sampled_from([M, F, N, None])
    return samples, draw(st.lists(label, min_size=samples.n_distinct, max_size=samples.n_distinct))


@st.composite
def compared(draw: st.DrawFn) -> tuple[Samples, Floats]:
    samples = Samples.of(draw(texts_drawn))
    n = samples.n_distinct
    cells = draw(st.lists(st.floats(0, 0.99), min_size=n * n, max_size=n * n))
    upper = np.triu(np.array(cells).reshape(n, n), 1)
    return samples, upper + upper.T + np.eye(n)


def one_by_one(drawn: Sequence[str], alike: Callable[[str, str], float]) -> float:
    """Equation 1 sample by sample: the mean over samples of minus the log of the mean likeness to all samples."""
    surprisals = [-math.log(sum(alike(y, other) for other in drawn) / len(drawn)) for y in drawn]
    return sum(surprisals) / len(surprisals)


def drawn_from(samples: Samples) -> list[str]:
    return [text for text, count in zip(samples.texts, samples.counts, strict=True) for _ in range(int(count))]


# Samples


def test_no_samples_have_no_entropy() -> None:
    nothing = Samples.of([])
    assert (nothing.n, nothing.n_distinct) == (0, 0)
    assert shannon_entropy(nothing) is None
    assert cluster_entropy(nothing, [], "miller-madow") is None
    assert s3e_entropy(nothing, np.zeros((0, 0))) is None
    assert shannon_surprisal_of(nothing, "el") is None
    assert cluster_surprisal_of(nothing, [], F) is None
    assert s3e_surprisal_of(nothing, []) is None
    assert within_labels(nothing, []) is None
    assert feminine_share(nothing, []) is None
    assert s3e_entropy(nothing, np.zeros((0, 0)), 2) is None


# Entropies


def test_samples_that_are_all_alike_have_no_uncertainty_to_the_last_bit() -> None:
    for n in (1, 7, 100, 128):
        samples = Samples.of(["la mecánica"] * n)
        assert shannon_entropy(samples) == cluster_entropy(samples, [F]) == s3e_entropy(samples, [[1.0]], 3) == 0.0


@given(texts_drawn)
@steady
def test_shannon_entropy_is_the_mean_surprisal_of_the_samples(drawn: list[str]) -> None:
    samples = Samples.of(drawn)
    entropy = shannon_entropy(samples)
    assert entropy == pytest.approx(one_by_one(drawn, lambda a, b: a == b))
    surprisals = [shannon_surprisal_of(samples, text) for text in samples.texts]
    assert entropy == pytest.approx(samples.counts @ surprisals / samples.n)
    assert 0 <= entropy <= math.log(samples.n_distinct) + 1e-12


@given(labelled())
@steady
def test_semantic_entropy_by_surprisals_is_the_entropy_of_the_clusters(case: tuple[Samples, list[Hashable]]) -> None:
    """The identity of Appendix B: the surprisal of equation 2 has the entropy of the original definition."""
    samples, labels = case
    by_text = samples.counts @ [cluster_surprisal_of(samples, labels, label) for label in labels] / samples.n
    sizes = Counter[Hashable]()
    for label, count in zip(labels, samples.counts, strict=True):
        sizes[label] += int(count)
    by_cluster = -sum(size / samples.n * math.log(size / samples.n) for size in sizes.values())
    assert cluster_entropy(samples, labels) == pytest.approx(by_text, abs=1e-12)
    assert cluster_entropy(samples, labels) == pytest.approx(by_cluster, abs=1e-12)


@given(compared(), st.floats(0, 8))
@steady
def test_s3e_is_the_mean_surprisal_of_the_samples(case: tuple[Samples, Floats], alpha: float) -> None:
    samples, similarities = case
    place = {text: number for number, text in enumerate(samples.texts)}
    expected = one_by_one(drawn_from(samples), lambda a, b: similarities[place[a], place[b]] ** alpha)
    assert s3e_entropy(samples, similarities, alpha) == pytest.approx(expected, abs=1e-12)
    by_text = samples.counts @ [s3e_surprisal_of(samples, row, alpha) for row in similarities] / samples.n
    assert by_text == pytest.approx(expected, abs=1e-12)


@given(compared(), st.floats(0, 8), st.floats(0, 8))
@steady
def test_s3e_grows_with_alpha_from_0_to_shannon(case: tuple[Samples, Floats], one: float, other: float) -> None:
    samples, similarities = case
    low, high = sorted((one, other))
    none, at_low, at_high, at_limit = (
        s3e_entropy(samples, similarities, alpha) or 0.0 for alpha in (0, low, high, 1e9)
    )
    assert none == 0
    assert at_low <= at_high + 1e-12
    assert at_limit == pytest.approx(shannon_entropy(samples), abs=1e-12)
    assert 0 <= at_high <= at_limit + 1e-12


@given(labelled(), st.floats(0.1, 50))
@steady
def test_s3e_of_all_or_nothing_similarity_is_cluster_entropy(
    case: tuple[Samples, list[Hashable]], alpha: float
) -> None:
    samples, labels = case
    same = np.array([[float(a == b) for b in labels] for a in labels])
    assert s3e_entropy(samples, same, alpha) == pytest.approx(cluster_entropy(samples, labels), abs=1e-12)
    for label, row in zip(labels, same, strict=True):
        surprisal = cluster_surprisal_of(samples, labels, label)
        assert s3e_surprisal_of(samples, row, alpha) == pytest.approx(surprisal, abs=1e-12)


# Texts that may not be among the samples


def test_a_text_among_the_samples_is_as_surprising_as_it_is_rare() -> None:
    samples = Samples.of(["el"] * 5 + ["la"] * 3)
    for text, label, share in (("el", M, 5 / 8), ("la", F, 3 / 8)):
        assert shannon_surprisal_of(samples, text) == pytest.approx(-math.log(share))
        assert cluster_surprisal_of(samples, [M, F], label) == pytest.approx(-math.log(share))
    assert s3e_surprisal_of(samples, [1, 0.6], 3) == pytest.approx(-math.log(5 / 8 + 3 / 8 * 0.6**3))


@given(texts_drawn)
@steady
def test_what_was_never_drawn_surprises_more_than_anything_drawn(drawn: list[str]) -> None:
    samples = Samples.of(drawn)
    never = shannon_surprisal_of(samples, "die")
    assert never == pytest.approx(math.log(samples.n + 1))
    assert all(never > (shannon_surprisal_of(samples, text) or 0.0) for text in drawn)
    assert cluster_surprisal_of(samples, [M] * samples.n_distinct, F) == never


def test_s3e_of_a_text_far_from_all_samples_does_not_underflow() -> None:
    samples = Samples.of(["el"] * 100 + ["la"] * 28)
    surprisal = s3e_surprisal_of(samples, [0.5, 0.25], 2000)
    assert surprisal == pytest.approx(2000 * math.log(2) - math.log(100 / 128))
    assert s3e_surprisal_of(samples, [0.0, 0.0], 0) == 0
    assert s3e_surprisal_of(samples, [0.0, 0.0], 1) is None


# The correction


def test_the_correction_takes_away_most_of_the_bias() -> None:
    """64 samples of a known distribution: the entropy as it stands is low, the corrected one is close."""
    probabilities = np.array([0.3, 0.2, 0.1] + [0.04] * 10)
    truth = float(-(probabilities * np.log(probabilities)).sum())
    rng = np.random.default_rng(7)
    names = [f"t{number:02}" for number in range(len(probabilities))]
    drawn = [Samples.of(rng.choice(names, size=64, p=probabilities).tolist()) for _ in range(400)]
    plain, madow = (
        np.mean([shannon_entropy(samples, correction) for samples in drawn]) - truth
        for correction in ("none", "miller-madow")
    )
    assert plain < -0.08
    assert abs(madow) < -plain / 4


# Resampling


def test_resampled_entropies_are_those_of_the_resampled_texts() -> None:
    samples = Samples.of(["el"] * 5 + ["la"] * 3 + ["lo"])
    labels = [M, F, M]
    alike = np.array([[1, 0.5, 0.9], [0.5, 1, 0.2], [0.9, 0.2, 1]])
    counts = resampled_counts(samples, 30, 1)
    assert (counts == 0).any()  # some resample misses a text
    rows = zip(
        counts,
        resampled_shannon(counts),
        resampled_cluster(counts, labels),
        resampled_s3es(counts, alike, [2.0])[0],
        strict=True,
    )
    for row, shannon, cluster, s3e in rows:
        again = Samples(samples.texts, row, 9).only([count > 0 for count in row])
        places = [samples.texts.index(text) for text in again.texts]
        assert s3e == pytest.approx(s3e_entropy(again, alike[np.ix_(places, places)], 2.0))
        assert shannon == pytest.approx(shannon_entropy(again), abs=1e-12)
        assert cluster == pytest.approx(cluster_entropy(again, [labels[place] for place in places]), abs=1e-12)


# What an entropy is made of


@given(labelled())
@steady
def test_total_is_between_plus_within(case: tuple[Samples, list[Hashable]]) -> None:
    for samples, labels in (case, decided(*case)):
        within = within_labels(samples, labels)
        if within is None:
            assert samples.n == 0
            continue
        between = cluster_entropy(samples, labels) or 0.0
        assert shannon_entropy(samples) == pytest.approx(between + within, abs=1e-12)
        assert within >= 0


def test_within_is_the_wording_of_each_gender() -> None:
    samples = Samples.of(["el a"] * 2 + ["el b"] * 2 + ["la a"] * 4)
    assert within_labels(samples, [M, M, F]) == pytest.approx(math.log(2) / 2)
    assert within_labels(samples, [M, M, M]) == shannon_entropy(samples)


def test_decided_leaves_out_what_has_no_label() -> None:
    samples, labels = decided(Samples.of(["el", "el", "la", "??", "??"]), [None, M, F])
    assert (samples.texts, samples.counts.tolist(), samples.n, list(labels)) == (("el", "la"), [2, 1], 3, [M, F])


def test_feminine_share_is_of_feminine_and_masculine_only() -> None:
    samples = Samples.of(["el"] * 3 + ["la"] + ["le"] * 2 + ["?"] * 4)
    share = feminine_share(samples, [None, M, F, N])
    assert share == 0.25
    assert feminine_share(samples, [None, None, None, N]) is None


def test_openness_by_hand() -> None:
    samples = Samples.of(["el", "el", "el", "la", "le", "le", "?", "?"])
    genders = {"el": M, "la": F, "le": N, "?": None}
    assert openness(samples, [genders[text] for text in samples.texts]) == pytest.approx(1 - 3 / 6)
    assert openness(samples, [None] * samples.n_distinct) is None
    assert openness(samples, [N] * samples.n_distinct) == 1
    assert openness(samples, [F] * samples.n_distinct) == 0


def test_log_probability_per_token() -> None:
    assert log_probability_per_token([-2.0, -10.0], [2, 4]) == -2.0
    assert log_probability_per_token([-2.0, None, -4.0, -math.inf], [2, 3, None, 4]) == -1.0
    assert log_probability_per_token([], []) is None


# Scores of bias


def test_scores_of_bias_are_none_where_they_are_undefined() -> None:
    assert relative_difference(0.0, 1.0) is None
    assert relative_difference(0.0, 0.0) is None
    assert relative_difference(None, 1.0) is None
    assert relative_difference(1.0, math.inf) is None
    assert signed_difference(0.0, 1.0) == -1.0
    assert signed_difference(math.nan, 1.0) is None
