"""Coverage and width of our intervals beside published ones, on simulated groups whose truth is known.

`python bench/intervals.py [RUNS]` prints one table for the interval that generalises to other groups, and one for the
interval on these groups. Group rates are drawn from beta distributions, which is not how our own constants were chosen
(bench/calibration.py draws probits). scipy is in the extra `dev`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
from scipy import stats

from gendermark.metrics.intervals import Estimator, interval_at
from gendermark.metrics.metric import Counts, Description, Resampling, rate
from gendermark.metrics.within import FixedIntervals, Within, _covariance

DESIGNS = {"10 groups of 20": [20] * 10, "20 groups of 20": [20] * 20, "40 groups of 20": [20] * 40,
           "104 unequal groups": [8 + 13 * k % 52 for k in range(104)], "48 single sentences": [1] * 48}  # fmt: skip
RATES, CORRELATIONS = (0.5, 0.8, 0.9, 0.95), (0.0, 0.3, 0.6)
RIGHT = rate(Description("right", "right", "Right."), "all", "right", "total", judged="total")
Method = Callable[[np.ndarray, np.ndarray], tuple[float, float]]


def counts_of(right: np.ndarray, n: np.ndarray) -> Counts:
    names = tuple(f"{k:04}" for k in range(len(n)))
    return Counts(names, ("",) * len(n), {"right": 0, "total": 1}, np.stack([right, n], axis=1).astype(float))


USUAL = Resampling()


def ours(right: np.ndarray, n: np.ndarray, how: Resampling = USUAL) -> tuple[float, float]:
    low, high = interval_at(Estimator(counts_of(right, n), how).spread(RIGHT), 0.95) or (0.0, 100.0)
    return low / 100, high / 100


def bootstrap(right: np.ndarray, n: np.ndarray) -> tuple[float, float]:
    return ours(right, n, Resampling(interval="bootstrap"))


def design(right: np.ndarray, n: np.ndarray) -> tuple[float, float, float]:
    """The rate, its jackknife variance, and degrees of freedom."""
    total, groups = n.sum(), len(n)
    share = right.sum() / total
    pulls = share - (right.sum() - right) / (total - n)
    variance = (groups - 1) / groups * ((pulls - pulls.mean()) ** 2).sum()
    weights = n / total
    return share, variance, max((weights**2).sum() ** 2 / (weights**4).sum() - 1, 1)


def effective(right: np.ndarray, n: np.ndarray) -> tuple[float, float, float]:
    """The rate, the effective sample size (Kish's groups where all are alike), and the quantile of Student's t."""
    share, variance, df = design(right, n)
    size = share * (1 - share) / variance if variance > 0 else n.sum() ** 2 / (n**2).sum()
    return share, size, stats.t.ppf(0.975, df)


def wilson(share: float, size: float, quantile: float) -> tuple[float, float]:
    scaled = quantile**2 / size
    centre = (share + scaled / 2) / (1 + scaled)
    half = math.sqrt(scaled * share * (1 - share) + scaled**2 / 4) / (1 + scaled)
    return centre - half, centre + half


def wilson_t(right: np.ndarray, n: np.ndarray) -> tuple[float, float]:
    return wilson(*effective(right, n))


def korn_graubard(right: np.ndarray, n: np.ndarray) -> tuple[float, float]:
    share, size, quantile = effective(right, n)
    size = min(size, n.sum()) * (stats.norm.ppf(0.975) / quantile) ** 2
    hits = share * size
    low = stats.beta.ppf(0.025, hits, size - hits + 1) if share > 0 else 0.0
    return low, stats.beta.ppf(0.975, hits + 1, size - hits) if share < 1 else 1.0


def logit_t(right: np.ndarray, n: np.ndarray) -> tuple[float, float]:
    share, variance, df = design(right, n)
    if share in (0, 1) or variance <= 0:
        return wilson_t(right, n)
    centre, error = math.log(share / (1 - share)), math.sqrt(variance) / (share * (1 - share))
    ends = (centre + sign * stats.t.ppf(0.975, df) * error for sign in (-1, 1))
    low, high = (1 / (1 + math.exp(-end)) for end in ends)
    return low, high


CORRELATION_GRID = np.concatenate([[1e-4], np.linspace(0.02, 0.98, 25)])
MEANS = 1 / (1 + np.exp(-np.linspace(-6, 6, 61)))


def beta_binomial(right: np.ndarray, n: np.ndarray) -> tuple[float, float]:
    """Wilson's interval at the effective size that the posterior of the correlation gives (prior Beta(1/2, 1))."""
    strength = (1 - CORRELATION_GRID) / CORRELATION_GRID
    steps = np.arange(n.max())
    a, b = MEANS[:, None] * strength, (1 - MEANS)[:, None] * strength
    seen = [(rows[:, None] > steps).sum(0) for rows in (right, n - right, n)]
    tables = [np.log(x[..., None] + steps) for x in (a, b, a + b)]
    likelihood = tables[0] @ seen[0] + tables[1] @ seen[1] - tables[2] @ seen[2]
    posterior = np.exp(likelihood - likelihood.max()).sum(0) * (CORRELATION_GRID + 0.01) ** -0.5
    weights = n / n.sum()
    effects = np.array([(weights**2 * ((1 - r) / n + r)).sum() for r in CORRELATION_GRID])
    size = posterior.sum() / (posterior * effects).sum()
    return wilson(right.sum() / n.sum(), size, stats.t.ppf(0.975, design(right, n)[2]))


def fixed(right: np.ndarray, n: np.ndarray) -> tuple[float, float]:
    cells = np.stack([right, n - right], axis=1).astype(float)
    amounts = np.array([[1.0, 1.0], [0.0, 1.0]])
    counts = counts_of(right, n)
    sums = np.array([right.sum(), n.sum()], dtype=float)
    covariance = _covariance(cells, cells.sum(0) / cells.sum(), amounts)
    within = Within(dict(counts.columns), covariance, np.zeros((2, 2)), sums, len(n), int(n.sum()))
    ends = FixedIntervals(within, counts, Resampling()).interval(RIGHT) or (0.0, 100.0)
    return ends[0] / 100, ends[1] / 100


METHODS: dict[str, Method] = {"ours": ours, "Wilson, t": wilson_t, "Korn-Graubard": korn_graubard, "logit, t": logit_t,
                              "beta-binomial": beta_binomial, "percentile bootstrap": bootstrap}  # fmt: skip


def drawn_rates(n: np.ndarray, mean: float, correlation: float, rng: np.random.Generator) -> np.ndarray:
    """The rates of groups, from a beta distribution."""
    if not correlation:
        return np.full(len(n), mean)
    strength = (1 - correlation) / correlation
    return rng.beta(mean * strength, (1 - mean) * strength, len(n))


def covered(
    method: Method, n: np.ndarray, mean: float, correlation: float, n_runs: int, rng: np.random.Generator
) -> float:
    """The share of intervals that cover the truth: of these groups for `fixed`, else of all that there could be."""
    hits = 0
    for _ in range(n_runs):
        rates = drawn_rates(n, mean, correlation, rng)
        low, high = method(rng.binomial(n, rates), n)
        hits += low <= (float((n * rates).sum() / n.sum()) if method is fixed else mean) <= high
    return hits / n_runs


def main(n_runs: int) -> None:
    rng = np.random.default_rng(1)
    print("Coverage in percent / mean width in points, 95% intervals")
    print("| groups | rate | correlation |", " | ".join([*METHODS, "fixed groups"]), "|")
    print("|---|---|---|", "---|" * (len(METHODS) + 1))
    for name, sizes in DESIGNS.items():
        n = np.array(sizes)
        for mean in RATES:
            for correlation in CORRELATIONS if max(sizes) > 1 else (0.0,):
                found = {key: [0.0, 0.0] for key in (*METHODS, "fixed")}
                for _ in range(n_runs):
                    rates = drawn_rates(n, mean, correlation, rng)
                    right = rng.binomial(n, rates)
                    for key, method in {**METHODS, "fixed": fixed}.items():
                        truth = float((n * rates).sum() / n.sum()) if key == "fixed" else mean
                        low, high = method(right, n)
                        found[key][0] += low <= truth <= high
                        found[key][1] += high - low
                row = [f"{100 * hit / n_runs:.1f} / {100 * width / n_runs:.1f}" for hit, width in found.values()]
                print(f"| {name} | {mean} | {correlation} |", " | ".join(row), "|", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
