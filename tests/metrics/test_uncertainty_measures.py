"""Entropies and surprisals against their definitions, their limits, and a plain sample-by-sample computation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendermark.metrics.metric import Floats
from gendermark.metrics.uncertainty import (
    LogProbability,
    Samples,
    Spread,
    cluster_entropy,
    cluster_surprisal_of,
    decided,
    decompose,
    distance_from_even,
    feminine_share,
    mean_log_probability,
    openness,
    relative_difference,
    resampled_cluster,
    resampled_counts,
    resampled_s3e,
    resampled_shannon,
    s3e_entropy,
    s3e_surprisal_of,
    shannon_entropy,
    shannon_surprisal_of,
    signed_difference,
    spread,
)
from gendermark.records import Gender

steady = settings(derandomize=True, max_examples=60, database=None)

texts_drawn = st.lists(st.sampled_from(["el", "la", "los", "las", "le", "il", "lo"]), min_size=1, max_size=40)
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


def test_samples_are_counted_once_and_their_order_does_not_matter() -> None:
    samples = Samples.of(["la", "el", "el", "la", "el"])
    assert samples.texts == ("el", "la")
    assert samples.counts.tolist() == [3, 2]
    assert (samples.n, samples.n_distinct) == (5, 2)
    again = Samples.of(["el", "el", "el", "la", "la"])
    assert (again.texts, again.counts.tolist()) == (samples.texts, samples.counts.tolist())


def test_no_samples_have_no_entropy() -> None:
    nothing = Samples.of([])
    assert (nothing.n, nothing.n_distinct) == (0, 0)
    assert shannon_entropy(nothing) is None
    assert cluster_entropy(nothing, [], "miller-madow") is None
    assert s3e_entropy(nothing, np.zeros((0, 0))) is None
    assert shannon_surprisal_of(nothing, "el") is None
    assert cluster_surprisal_of(nothing, [], F) is None
    assert s3e_surprisal_of(nothing, []) is None
    assert decompose(nothing, []) is None
    assert feminine_share(nothing, []) is None
    assert spread(None, resampled_shannon(resampled_counts(nothing, 10, 1))) is None
    assert s3e_entropy(nothing, np.zeros((0, 0)), 2) is None


# Entropies


def test_entropy_is_in_nats() -> None:
    assert shannon_entropy(Samples.of("abcd")) == pytest.approx(math.log(4))
    assert shannon_entropy(Samples.of(["el"] * 3 + ["la"])) == pytest.approx(
        0.75 * math.log(4 / 3) + 0.25 * math.log(4)
    )
    assert shannon_surprisal_of(Samples.of(["el"] * 3 + ["la"]), "el") == pytest.approx(math.log(4 / 3))


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


def test_undecided_is_a_label_like_any_other() -> None:
    samples = Samples.of("aab")
    assert cluster_surprisal_of(samples, [None, F], None) == pytest.approx(math.log(3 / 2))


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


def test_the_correction_by_hand() -> None:
    samples = Samples.of(["el"] * 3 + ["la"])
    plain = shannon_entropy(samples)
    assert plain is not None
    assert shannon_entropy(samples, "miller-madow") == pytest.approx(plain + 1 / 8)


# Resampling


def test_resampling_is_the_same_for_the_same_seed_and_draws_the_same_number() -> None:
    samples = Samples.of(["el"] * 100 + ["la"] * 20 + ["lo"] * 8)
    counts = resampled_counts(samples, 50, 3)
    assert np.array_equal(counts, resampled_counts(samples, 50, 3))
    assert not np.array_equal(counts, resampled_counts(samples, 50, 4))
    assert (counts.sum(axis=1) == 128).all()


def test_resampled_entropies_are_those_of_the_resampled_texts() -> None:
    samples = Samples.of(["el"] * 5 + ["la"] * 3 + ["lo"])
    labels = [M, F, M]
    alike = np.array([[1, 0.5, 0.9], [0.5, 1, 0.2], [0.9, 0.2, 1]])
    counts = resampled_counts(samples, 30, 1)
    assert (counts == 0).any()  # some resample misses a text
    rows = zip(
        counts,
        resampled_shannon(counts),
        resampled_cluster(counts, samples, labels),
        resampled_s3e(counts, samples, alike, 2.0),
        strict=True,
    )
    for row, shannon, cluster, s3e in rows:
        again = Samples(samples.texts, row, 9).only([count > 0 for count in row])
        places = [samples.texts.index(text) for text in again.texts]
        assert s3e == pytest.approx(s3e_entropy(again, alike[np.ix_(places, places)], 2.0))
        assert shannon == pytest.approx(shannon_entropy(again), abs=1e-12)
        assert cluster == pytest.approx(cluster_entropy(again, [labels[place] for place in places]), abs=1e-12)


def test_the_interval_covers_the_true_entropy_about_as_often_as_it_says() -> None:
    probabilities = np.array([0.4, 0.2, 0.15, 0.1, 0.05, 0.04, 0.03, 0.02, 0.01])
    names = [f"t{number}" for number in range(len(probabilities))]
    truth = float(-(probabilities * np.log(probabilities)).sum())
    rng = np.random.default_rng(2)
    covered, errors, values = 0, [], []
    for seed in range(300):
        samples = Samples.of(rng.choice(names, size=128, p=probabilities).tolist())
        value = shannon_entropy(samples)
        found = spread(value, resampled_shannon(resampled_counts(samples, 300, seed)))
        assert found is not None
        assert value is not None
        covered += found.low <= truth <= found.high
        errors.append(found.standard_error)
        values.append(value)
    assert 0.90 <= covered / 300 <= 0.98
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)


def test_the_interval_is_mirrored_at_the_value() -> None:
    replicates = np.linspace(0.5, 1.1, 601)  # a little low, as resampled entropies are
    found = spread(0.9, replicates, 0.9)
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(2 * 0.9 - 1.07), pytest.approx(2 * 0.9 - 0.53))
    assert found.standard_error == pytest.approx(replicates.std(ddof=1))


def test_spread_stays_above_zero_and_is_none_without_replicates() -> None:
    assert spread(0.0, np.zeros(10)) == Spread(0, 0, 0)
    found = spread(0.01, np.array([0.0, 0.0, 0.03, 0.05]))
    assert found is not None
    assert found.low == 0
    assert spread(0.5, np.zeros(1)) is None
    assert spread(0.5, np.array([0.1, math.nan])) is None


# What an entropy is made of


@given(labelled())
@steady
def test_total_is_between_plus_within(case: tuple[Samples, list[Hashable]]) -> None:
    for samples, labels in (case, decided(*case)):
        parts = decompose(samples, labels)
        if parts is None:
            assert samples.n == 0
            continue
        assert parts.total == pytest.approx(parts.between + parts.within, abs=1e-12)
        assert parts.total == pytest.approx(shannon_entropy(samples), abs=1e-12)
        assert min(parts.between, parts.within) >= 0


def test_within_is_the_wording_of_each_gender() -> None:
    samples = Samples.of(["el a"] * 2 + ["el b"] * 2 + ["la a"] * 4)
    parts = decompose(samples, [M, M, F])
    assert parts is not None
    assert parts.between == pytest.approx(math.log(2))
    assert parts.within == pytest.approx(math.log(2) / 2)
    nothing_about_gender = decompose(samples, [M, M, M])
    assert nothing_about_gender is not None
    assert (nothing_about_gender.between, nothing_about_gender.within) == (0, nothing_about_gender.total)


def test_decided_leaves_out_what_has_no_label() -> None:
    samples, labels = decided(Samples.of(["el", "el", "la", "??", "??"]), [None, M, F])
    assert (samples.texts, samples.counts.tolist(), samples.n, list(labels)) == (("el", "la"), [2, 1], 3, [M, F])


def test_feminine_share_is_of_feminine_and_masculine_only() -> None:
    samples = Samples.of(["el"] * 3 + ["la"] + ["le"] * 2 + ["?"] * 4)
    share = feminine_share(samples, [None, M, F, N])
    assert share == 0.25
    assert distance_from_even(share) == 0.25
    assert feminine_share(samples, [None, None, None, N]) is None
    assert distance_from_even(None) is None
    assert distance_from_even(0.0) == distance_from_even(1.0) == 0.5


def test_openness_by_hand() -> None:
    samples = Samples.of(["el", "el", "el", "la", "le", "le", "?", "?"])
    genders = {"el": M, "la": F, "le": N, "?": None}
    assert openness(samples, [genders[text] for text in samples.texts]) == pytest.approx(1 - 3 / 6)
    assert openness(samples, [None] * samples.n_distinct) is None
    assert openness(samples, [N] * samples.n_distinct) == 1
    assert openness(samples, [F] * samples.n_distinct) == 0


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
@steady
def test_between_two_genders_openness_orders_as_entropy_does(a: int, b: int, c: int, d: int) -> None:
    found = []
    for masculine, feminine in ((a, b), (c, d)):
        samples = Samples.of(["el"] * masculine + ["la"] * feminine + ["el"])
        labels = [M if text == "el" else F for text in samples.texts]
        found.append((openness(samples, labels) or 0.0, cluster_entropy(samples, labels) or 0.0))
    (one, entropy_of_one), (other, entropy_of_other) = found
    assert 0 <= one <= 0.5
    assert (one < other - 1e-9) == (entropy_of_one < entropy_of_other - 1e-9)


def test_mean_log_probability() -> None:
    assert mean_log_probability([-2.0, -10.0], [2, 4]) == LogProbability(-6.0, -2.0)
    assert mean_log_probability([-2.0, None, -4.0, -math.inf], [2, 3, None, 4]) == LogProbability(-2.0, -1.0)
    assert mean_log_probability([], []) is None


# Scores of bias


def test_scores_of_bias() -> None:
    assert relative_difference(2.0, 3.0) == -0.5
    assert relative_difference(4.0, 3.0) == 0.25
    assert signed_difference(2.0, 3.0) == -1.0


def test_scores_of_bias_are_none_where_they_are_undefined() -> None:
    assert relative_difference(0.0, 1.0) is None
    assert relative_difference(0.0, 0.0) is None
    assert relative_difference(None, 1.0) is None
    assert relative_difference(1.0, math.inf) is None
    assert signed_difference(0.0, 1.0) == -1.0
    assert signed_difference(math.nan, 1.0) is None


def test_the_score_of_log_probabilities_is_that_of_surprisals() -> None:
    """Both logarithms are negative; the sign of the score is right all the same."""
    assert relative_difference(-10.0, -12.0) == relative_difference(10.0, 12.0) == -0.2


# Mistakes of the caller


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: cluster_entropy(Samples.of("ab"), [F]),
        lambda: feminine_share(Samples.of("ab"), [F]),
        lambda: s3e_entropy(Samples.of("ab"), np.eye(3)),
        lambda: s3e_entropy(Samples.of("ab"), [[1, -0.1], [-0.1, 1]]),
        lambda: s3e_entropy(Samples.of("ab"), [[1, math.nan], [math.nan, 1]]),
        lambda: s3e_entropy(Samples.of("ab"), [[0.9, 0], [0, 1]]),
        lambda: s3e_entropy(Samples.of("ab"), np.eye(2), -1),
        lambda: s3e_entropy(Samples.of("ab"), np.eye(2), math.inf),
        lambda: s3e_surprisal_of(Samples.of("ab"), [1.0]),
        lambda: shannon_entropy(Samples.of("ab"), "bayes"),  # type: ignore[arg-type]
        lambda: spread(1.0, np.zeros(5), 1.0),
        lambda: mean_log_probability([1.0], []),
    ],
)
def test_mistakes_are_value_errors(mistake: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        mistake()
