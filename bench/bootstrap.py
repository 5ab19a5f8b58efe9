"""How much faster is `resampled_sums` than the loop anyone would write first? Prints one line with the ratio.

    PYTHONPATH=src python bench/bootstrap.py

Both are timed in turn in the same run, so that a busy machine slows both; the ratio is the median over the repeats.
The loop is timed on fewer resamples and scaled, since its time is proportional to their number.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core for both; must be set before numpy is imported

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from gendermark.metrics.statistics import Floats, resampled_sums

N_GROUPS, N_COLUMNS, N_RESAMPLES = 4_000, 30, 10_000
N_REFERENCE_RESAMPLES = 500
N_REPEATS = 5


def plain_loop(counts: Floats, n_resamples: int, seed: int) -> Floats:
    generator = np.random.Generator(np.random.PCG64(seed))
    n_groups = len(counts)
    return np.array([counts[generator.integers(n_groups, size=n_groups)].sum(0) for _ in range(n_resamples)])


def seconds(function: Callable[[Floats, int, int], Floats], counts: Floats, n_resamples: int) -> float:
    start = time.perf_counter()
    function(counts, n_resamples, 1)
    return time.perf_counter() - start


def main() -> None:
    counts = np.random.default_rng(0).integers(0, 10, (N_GROUPS, N_COLUMNS)).astype(np.float64)
    same = np.array_equal(resampled_sums(counts, 20, 1), plain_loop(counts, 20, 1))  # also warms both up
    if not same:
        raise SystemExit("resampled_sums and the plain loop disagree: the ratio would mean nothing")
    ours, loop = [], []
    for _ in range(N_REPEATS):
        ours.append(seconds(resampled_sums, counts, N_RESAMPLES))
        loop.append(seconds(plain_loop, counts, N_REFERENCE_RESAMPLES) * N_RESAMPLES / N_REFERENCE_RESAMPLES)
    ratio = median(own / reference for own, reference in zip(ours, loop, strict=True))
    print(
        f"bootstrap: {ratio:.3f} of the time of the plain loop "
        f"({median(ours):.2f} s against {median(loop):.2f} s, scaled from {N_REFERENCE_RESAMPLES} resamples; "
        f"{N_RESAMPLES:,} resamples of {N_GROUPS:,} groups x {N_COLUMNS} columns, median of {N_REPEATS})"
    )


if __name__ == "__main__":
    main()
