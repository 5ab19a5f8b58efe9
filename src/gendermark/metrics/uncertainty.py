"""Uncertainty of a system from sampled translations: the arithmetic of Staliūnaitė, Cheng & Vlachos (2026).

Computed on distinct texts and their counts: 128 samples with 6 distinct texts need 6 embeddings and 15 pairs. Entropies
and surprisals are in nats.

An entropy is the mean surprisal of a sample (equation 1). The measures differ in when two texts count as equal: never
(Shannon), if they share a label (semantic entropy: by entailment; gender entropy: by gender), or by degree of
similarity (S3E). Undefined values are `None`, never NaN.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from gendermark.metrics.metric import Floats
from gendermark.records import Gender

Correction = Literal["none", "miller-madow"]
Labels = Sequence[Hashable]
"""One label for each distinct text, in the order of `Samples.texts`. `None`, undecided, is a label like any other."""

ALPHAS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)


@dataclass(frozen=True, eq=False, slots=True)
class Samples:
    """The distinct texts among the samples of one sentence, sorted, so that drawing order does not matter."""

    texts: tuple[str, ...]
    counts: Floats
    n: int

    @classmethod
    def of(cls, texts: Iterable[str]) -> Samples:
        tally = Counter(texts)
        distinct = tuple(sorted(tally))
        return cls(distinct, np.array([tally[text] for text in distinct], dtype=np.float64), tally.total())

    @property
    def n_distinct(self) -> int:
        return len(self.texts)

    def only(self, kept: Sequence[bool]) -> Samples:
        texts = tuple(text for text, keep in zip(self.texts, kept, strict=True) if keep)
        counts = self.counts[np.asarray(kept, dtype=bool)]
        return Samples(texts, counts, int(counts.sum()))


def shannon_entropy(samples: Samples, correction: Correction = "none") -> float | None:
    """The entropy of the texts as they stand; `None` without samples."""
    return _entropy(samples.counts, correction)


def shannon_surprisal_of(samples: Samples, text: str) -> float | None:
    """The surprisal of any text; unsampled ones as in `cluster_surprisal_of`."""
    return _surprisal_of(dict(zip(samples.texts, samples.counts, strict=True)).get(text, 0.0), samples.n)


def cluster_entropy(samples: Samples, labels: Labels, correction: Correction = "none") -> float | None:
    """The entropy of the labels, also the mean of the surprisals (Appendix B); `None` without samples."""
    return _entropy(samples.counts @ _members(labels), correction)


def cluster_surprisal_of(samples: Samples, labels: Labels, label: Hashable) -> float | None:
    """The surprisal of a text with this label, sampled or not; `None` without samples.

    An unseen label gets probability 1 / (n + 1), as if the text had been the next sample. Seen labels keep the value
    that the paper defines, and unseen ones are always more surprising.
    """
    n_seen = sum(count for own, count in zip(labels, samples.counts.tolist(), strict=True) if own == label)
    return _surprisal_of(n_seen, samples.n)


def s3e_entropies(samples: Samples, similarities: ArrayLike, alphas: Sequence[float]) -> list[float | None]:
    """Similarity-sensitive Shannon entropy (equation 3), for several alphas at once, at little extra cost.

    Between 0 and Shannon's; `None` without samples. `similarities` compares all distinct texts pairwise, 0 to 1, with
    ones on the diagonal; they are raised to the power alpha: the larger, the less different texts count as equal.
    """
    masses = samples.counts @ _weights(similarities, alphas)
    if samples.n_distinct < 2:
        return [0.0 if samples.n else None for _ in alphas]
    return [float(value) for value in _mean_surprisals(samples.counts[None, :], masses)]


def s3e_surprisal_of(samples: Samples, similarities_to_text: ArrayLike, alpha: float = 1.0) -> float | None:
    """The surprisal of any text, from its similarity to each distinct one (1 if equal).

    `None` without samples, and for a text unlike all of them, whose surprisal would be infinite.
    """
    similarities = np.asarray(similarities_to_text, dtype=np.float64)
    alike = (similarities > 0) | (alpha == 0)  # with power 0 all are equal
    if not alike.any():
        return None
    # Mean similarities may underflow: sum logarithms.
    logs = np.log(samples.counts[alike] / samples.n)
    if alpha > 0:
        logs += alpha * np.log(similarities[alike])
    largest = float(logs.max())
    return max(0.0, -largest - math.log(float(np.exp(logs - largest).sum())))


def resampled_counts(samples: Samples, n_resamples: int, seed: int) -> Floats:
    """Counts of each distinct text under resampling of the samples, one resample per row.

    All measures of the same samples use the same rows, so that their differences can be resampled too.
    """
    if samples.n_distinct < 2:  # nothing else to draw
        return np.full((n_resamples, samples.n_distinct), float(samples.n))
    generator = np.random.Generator(np.random.PCG64(seed))
    return generator.multinomial(samples.n, samples.counts / samples.n, size=n_resamples).astype(np.float64)


def resampled_shannon(counts: Floats) -> Floats:
    return _mean_surprisals(counts, counts)


def resampled_cluster(counts: Floats, labels: Labels) -> Floats:
    return resampled_shannon(counts @ _members(labels))


def resampled_s3es(counts: Floats, similarities: ArrayLike, alphas: Sequence[float]) -> Floats:
    return _mean_surprisals(counts, counts @ _weights(similarities, alphas))


def within_labels(samples: Samples, labels: Labels) -> float | None:
    """The entropy of wording within labels: H(text) = H(label) + H(text | label), exactly.

    Undecided texts form a class of their own. To exclude them, pass `decided(samples, labels)`.
    """
    if not samples.n:
        return None
    members = _members(labels)
    sizes = members @ (samples.counts @ members)  # of the cluster of each text
    return float(-(samples.counts / samples.n) @ np.log(samples.counts / sizes)) + 0.0


def decided(samples: Samples, labels: Labels) -> tuple[Samples, Labels]:
    kept = [label is not None for label in labels]
    return samples.only(kept), [label for label in labels if label is not None]


def feminine_share(samples: Samples, genders: Sequence[Gender | None]) -> float | None:
    """P(feminine) among the samples that are feminine or masculine; `None` if none is."""
    masculine, feminine, _ = _counts_by_gender(samples, genders)
    return feminine / (feminine + masculine) if feminine + masculine else None


def openness(samples: Samples, genders: Sequence[Gender | None]) -> float | None:
    """Distance of readable samples from unanimous masculine or feminine: 0 if all agree.

    1/2 for a fair coin, 1 if no sample has a gender. Between masculine and feminine it ranks texts as gender entropy
    does; unlike entropy, it does not treat unanimously open gender as certain.
    """
    masculine, feminine, neutral = _counts_by_gender(samples, genders)
    n = masculine + feminine + neutral
    return 1 - max(masculine, feminine) / n if n else None


def _counts_by_gender(samples: Samples, genders: Sequence[Gender | None]) -> list[float]:
    wanted = (Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL)
    return [float(samples.counts[[own is gender for own in genders]].sum()) for gender in wanted]


def log_probability_per_token(
    log_probabilities: Sequence[float | None], n_tokens: Sequence[int | None]
) -> float | None:
    """The mean over all tokens of all texts with both numbers known, so that short texts do not weigh more."""
    known = [
        (total, length)
        for total, length in zip(log_probabilities, n_tokens, strict=True)
        if total is not None and length is not None and length > 0 and math.isfinite(total)
    ]
    return math.fsum(total for total, _ in known) / sum(length for _, length in known) if known else None


def relative_difference(first: float | None, second: float | None) -> float | None:
    """(C - I) / C of surprisals and (U - A) / U of entropies: negative for a good system.

    The correct gender then surprises it less (equation 4), and it is less certain if gender is open (equation 5). Both
    equations are missing from our copy of the text, and reconstructed from the paper's tables.
    """
    difference = signed_difference(first, second)
    return None if difference is None or not first else difference / first


def signed_difference(first: float | None, second: float | None) -> float | None:
    """C - I or U - A, which is also defined if the denominator is 0."""
    if first is None or second is None or not math.isfinite(first - second):
        return None
    return first - second


def _surprisal_of(count: float, n: int) -> float | None:
    if n == 0:
        return None
    return -math.log(count / n) + 0.0 if count else math.log(n + 1)


def _mean_surprisals(counts: Floats, masses: Floats) -> Floats:
    """Entropy of each row: the mean of -log(mass / n), by counts."""
    n = counts.sum(axis=-1, keepdims=True)
    drawn = counts > 0
    with np.errstate(invalid="ignore"):
        # Ignore infinite surprisals of texts not drawn.
        shares = np.where(drawn, np.minimum(masses / n, 1.0), 1.0)
        return np.asarray(-((counts / n) * np.log(shares)).sum(axis=-1) + 0.0, dtype=np.float64)


def _entropy(counts: Floats, correction: Correction) -> float | None:
    """Entropy of counts, optionally bias-corrected: sample entropy is too low, as it misses rare texts."""
    if not counts.sum():
        return None
    plain = 0.0 if len(counts) == 1 else float(_mean_surprisals(counts[None, :], counts[None, :])[0])
    return plain if correction == "none" else plain + (np.count_nonzero(counts) - 1) / (2 * float(counts.sum()))


def _members(labels: Labels) -> Floats:
    """One row per text, one column per label, 1 for membership."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    members = np.zeros((len(labels), len(numbers)))
    members[np.arange(len(labels)), [numbers[label] for label in labels]] = 1.0
    return members


def _weights(similarities: ArrayLike, alphas: Sequence[float]) -> Floats:
    matrix = np.asarray(similarities, dtype=np.float64)
    # One by one: batched, the last digits would depend on the other alphas.
    return np.stack([np.power(matrix, alpha) for alpha in alphas])
