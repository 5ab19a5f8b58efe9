"""Speed of the uncertainty measures: Shannon, gender and S3E entropy of 3,888 sentences with 128 samples each.

    PYTHONPATH=src python bench/uncertainty.py

Prints how many times faster they are than comparing all samples with all, on a slice of the sentences (at least 10 is
asked, with the same results to 1e-9), and the seconds for all of them. "All with all" is timed twice over: as anyone
would write it first, with dictionaries of letter sequences (each pair once), and with our own vectors but every sample
for itself, which shows what working on distinct texts alone is worth.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # must be set before numpy is imported

import math
import random
import resource
import time
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from gendermark.metrics.uncertainty import Samples, cluster_entropy, s3e_entropy, shannon_entropy
from gendermark.reading.similarity import LONGEST, Characters

N_ITEMS, N_SAMPLES, N_SLICE, N_DICTIONARIES = 3_888, 128, 100, 5
ALPHA = 8.0
SUBJECTS = ("El mecánico", "La mecánica", "El conductor", "La conductora", "El enfermero", "La enfermera")
VERBS = ("llamó a", "telefoneó a", "habló con", "contactó con", "se puso en contacto con")
OBJECTS = ("el cliente", "la clienta", "alguien", "una persona")
CLAUSES = ("para informarle de que", "para decirle que", "para avisar de que", "a fin de comunicar que")
ENDINGS = (
    "había terminado la reparación",
    "había acabado el arreglo",
    "la reparación estaba completa",
    "ya estaba hecho",
)

Entropies = tuple[float | None, float | None, float | None]


def sampled(rng: random.Random) -> list[str]:
    """128 translations of which 10 to 40 differ, a few of them frequent."""
    n_distinct = rng.randint(10, 40)
    texts: set[str] = set()
    while len(texts) < n_distinct:
        texts.add(" ".join(rng.choice(part) for part in (SUBJECTS, VERBS, OBJECTS, CLAUSES, ENDINGS)) + ".")
    ordered = sorted(texts)
    rng.shuffle(ordered)
    weights = [1 / rank for rank in range(1, n_distinct + 1)]
    drawn = ordered + rng.choices(ordered, weights, k=N_SAMPLES - n_distinct)
    rng.shuffle(drawn)
    return drawn


def gender(text: str) -> str:
    return text[:2]


def ours(items: Sequence[Sequence[str]]) -> list[Entropies]:
    counted = [Samples.of(drawn) for drawn in items]
    matrices = Characters().matrices(samples.texts for samples in counted)
    return [
        (
            shannon_entropy(samples),
            cluster_entropy(samples, [gender(text) for text in samples.texts]),
            s3e_entropy(samples, matrix, ALPHA),
        )
        for samples, matrix in zip(counted, matrices, strict=True)
    ]


def every_sample(items: Sequence[Sequence[str]]) -> list[Entropies]:
    """All samples with all, by our vectors."""
    return [_all_with_all(drawn, Characters().matrix(drawn)) for drawn in items]


def dictionaries(items: Sequence[Sequence[str]]) -> list[Entropies]:
    """All samples with all, by dictionaries of letter sequences."""
    results = []
    for drawn in items:
        vectors = [_vector(text) for text in drawn]
        cosines = np.zeros((len(drawn), len(drawn)))
        for row, a in enumerate(vectors):
            for column in range(row + 1):
                cosines[row, column] = cosines[column, row] = _cosine(a, vectors[column])
        results.append(_all_with_all(drawn, cosines))
    return results


def _all_with_all(drawn: Sequence[str], similarities: np.ndarray) -> Entropies:
    def mean_surprisal(alike: np.ndarray) -> float:
        return float(-np.log(alike.mean(axis=1)).mean())

    texts, genders = np.array(drawn), np.array([gender(text) for text in drawn])
    return (
        mean_surprisal(texts[:, None] == texts[None, :]),
        mean_surprisal(genders[:, None] == genders[None, :]),
        mean_surprisal(np.clip(similarities, 0, 1) ** ALPHA),
    )


def _vector(text: str) -> dict[str, float]:
    vector: dict[str, float] = {}
    padded = f" {text} "
    for n in range(1, LONGEST + 1):
        counts = Counter(padded[start : start + n] for start in range(len(padded) - n + 1))
        length = math.sqrt(sum(count**2 for count in counts.values()) * LONGEST)
        vector |= {letters: count / length for letters, count in counts.items()}
    return vector


def _cosine(a: dict[str, float], b: dict[str, float]) -> float:
    return sum(weight * b[letters] for letters, weight in a.items() if letters in b)


def timed(function: Callable[[Sequence[Sequence[str]]], list[Entropies]], items: Sequence[Sequence[str]]) -> float:
    started = time.perf_counter()
    function(items)
    return time.perf_counter() - started


def main() -> None:
    rng = random.Random(1)
    items = [sampled(rng) for _ in range(N_ITEMS)]
    part, small = items[:N_SLICE], items[:N_DICTIONARIES]
    expected, found = np.array(every_sample(part)), np.array(ours(part))
    worst = max(np.abs(expected - found).max(), np.abs(np.array(dictionaries(small)) - found[: len(small)]).max())
    if not worst < 1e-9:
        raise SystemExit(f"the ways of computing disagree by {worst:g}: the ratio would mean nothing")
    # In turn, so that a busy machine slows all; the median of three.
    rounds = [
        (timed(ours, part), timed(every_sample, part), timed(dictionaries, small) * len(part) / len(small))
        for _ in range(3)
    ]
    own, vectors, plain = np.median(rounds, axis=0)
    seconds = timed(ours, items)
    print(
        f"uncertainty: {plain / own:.0f} times faster than all samples with all, at least 10 "
        f"({own:.2f} s against {plain:.1f} s for {N_SLICE} sentences, scaled from {len(small)}; "
        f"{vectors / own:.1f} times faster than with the same vectors; results equal to {worst:.0e}); "
        f"{seconds:.1f} s for {N_ITEMS:,} sentences x {N_SAMPLES} samples, at most 180; "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB at most"
    )


if __name__ == "__main__":
    main()
