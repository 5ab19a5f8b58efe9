"""Intervals for other sentences about the same groups: the second of the two intervals.

Groups (occupations, words) are fixed, and the sentences of a group and gender are a sample. Only the variance within
these cells counts: V = sum over cells of n Cov(c), where c is the count row of one sentence. The gradient of a metric
propagates it to its value (delta method). docs/statistics.md says when to use which interval.

To avoid certainty in cells without errors, half a sentence of the pooled distribution is added to each, and the bias of
the smoothed variance is removed, exactly for identical cells.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gendermark.metrics import statistics
from gendermark.metrics.metric import Bounded, Combined, Counts, Floats, Metric, Resampling, Tally, evaluate
from gendermark.records import Gender, Judgement

_STEP = 1e-4
"""Step of the numerical gradient, as a share of a column's sum."""
_NO_VARIANCE = 1e-9
"""Smaller eigenvalues of a correlation matrix are rounding."""
_MOST_CELLS_AT_ONCE = 5_000
_MOST_KNOWN = 1_000
_ADDED = 0.5
"""Sentences of the pooled distribution added to each cell."""
Kind = tuple[tuple[str, float], ...]
"""The counts of one sentence: columns and amounts."""
Ends = tuple[float, float]


@dataclass(frozen=True)
class Within:
    """The covariance of column sums from sentences within groups."""

    columns: dict[str, int]
    covariance: Floats
    """Of the sums of all columns."""
    certain: Floats
    """The part from certainty units."""
    sums: Floats
    n_cells: int
    n_sentences: int

    def variance(self, metric: Metric, counts: Counts, *, of_certain: bool = False) -> float | None:
        """Return the variance of a metric; None if it is not made of counts of single sentences (but of pairs, say)."""
        return self.covariance_of(metric, metric, counts, of_certain=of_certain)

    def covariance_of(self, one: Metric, other: Metric, counts: Counts, *, of_certain: bool = False) -> float | None:
        first = self._slopes(one, counts)
        second = first if other is one else self._slopes(other, counts)
        if first is None or second is None:
            return None
        matrix = self.certain if of_certain else self.covariance
        return float(first[1] @ matrix[np.ix_(first[0], second[0])] @ second[1])

    def _slopes(self, metric: Metric, counts: Counts) -> tuple[list[int], Floats] | None:
        """The columns of a metric with sentence counts, and its slopes; None if they do not add up to it."""
        places = [self.columns.get(name, -1) for name in metric.needs]
        own = [float(self.sums[place]) if place >= 0 else 0.0 for place in places]
        totals = [float(column[0]) for column in counts.take(counts.totals, metric.needs)]
        if not all(math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-9) for x, y in zip(totals, own, strict=True)):
            return None
        return [place for place in places if place >= 0], _gradient(metric, counts)[[place >= 0 for place in places]]


def count_within(judgements: Iterable[Judgement], tally: Tally, certainty: Collection[str] = ()) -> Within:
    """Count single sentences by cell (group and gender) and kind of counts."""
    return _within(((j.group_id, j.expected, tally((j,))) for j in judgements), certainty)


def count_pairs(pairs: Iterable[tuple[Judgement, Judgement]], tally: Tally) -> Within:
    """Count two systems' judgements of the same sentences together, in separate columns."""

    def both(pair: tuple[Judgement, Judgement]) -> dict[str, float]:
        return {f"{n}/{name}": amount for n, j in enumerate(pair) for name, amount in tally((j,)).items()}

    return _within(((pair[0].group_id, pair[0].expected, both(pair)) for pair in pairs), ())


def _within(sentences: Iterable[tuple[str, Gender | None, Mapping[str, float]]], certainty: Collection[str]) -> Within:
    cells: dict[tuple[str, Gender | None], Counter[int]] = defaultdict(Counter)
    kinds: dict[Kind, int] = {}
    same: dict[int, tuple[Mapping[str, float], int]] = {}
    for group, expected, counts in sentences:
        # Most tallies return the same object for equal sentences.
        known = same.get(id(counts))
        if known is None or known[0] is not counts:
            if len(same) >= _MOST_KNOWN:
                same.clear()
            known = same[id(counts)] = counts, kinds.setdefault(tuple(counts.items()), len(kinds))
        cells[group, expected][known[1]] += 1
    columns = {name: n for n, name in enumerate(sorted({name for kind in kinds for name, _ in kind}))}
    amounts = np.zeros((len(kinds), len(columns)))
    for kind, row in kinds.items():
        for name, amount in kind:
            amounts[row, columns[name]] += amount
    covariance, certain = np.zeros((2, len(columns), len(columns)))
    counted = list(cells.items())
    pooled = np.zeros(len(kinds))
    for _, found in counted:
        for kind_number, n in found.items():
            pooled[kind_number] += n
    n_sentences = int(pooled.sum())
    shares = pooled / max(n_sentences, 1)
    for start in range(0, len(counted), _MOST_CELLS_AT_ONCE):
        portion = counted[start : start + _MOST_CELLS_AT_ONCE]
        of_cells = np.zeros((len(portion), len(kinds)))
        for row, (_, found) in enumerate(portion):
            of_cells[row, list(found)] = list(found.values())
        is_certain = np.array([group in certainty for (group, _), _ in portion])
        covariance += _covariance(of_cells, shares, amounts)
        if is_certain.any():
            certain += _covariance(of_cells[is_certain], shares, amounts)
    return Within(columns, covariance, certain, pooled @ amounts, len(counted), n_sentences)


def _covariance(of_cells: Floats, shares: Floats, amounts: Floats) -> Floats:
    """Summed over cells: n times the covariance of one sentence's counts, smoothed."""
    # Centred, so that little is lost to rounding and constant columns have exactly no variance.
    amounts = np.where(np.ptp(amounts, axis=0) > 0, amounts - shares @ amounts, 0.0)
    n = of_cells.sum(axis=1)
    mixed = (of_cells + _ADDED * shares) / (n + _ADDED)[:, None]
    # Bias of the variance of a smoothed cell, if all cells are alike.
    weights = n / (1 - n / (n + _ADDED) ** 2)
    means = mixed @ amounts
    squares = amounts.T @ ((weights @ mixed)[:, None] * amounts)
    return np.asarray(squares - means.T @ (weights[:, None] * means), dtype=np.float64)


def _gradient(metric: Metric, counts: Counts) -> Floats:
    needed = np.concatenate(counts.take(counts.totals, metric.needs))
    steps = np.maximum(_STEP * np.abs(needed), _STEP)
    up, down = needed + np.diag(steps), needed - np.diag(steps)
    value = metric.smooth or metric.value
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [np.asarray(value(*side.T), dtype=np.float64) for side in (up, down)]
        gradient = (ends[0] - ends[1]) / (2 * steps)
    return np.asarray(np.nan_to_num(gradient), dtype=np.float64)


class FixedIntervals:
    def __init__(self, within: Within, counts: Counts, resampling: Resampling) -> None:
        self._within, self._counts, self._resampling = within, counts, resampling
        self._quantile = statistics.normal_quantile(0.5 + resampling.confidence / 2)
        self.differ = within.n_sentences > within.n_cells
        """Whether any cell has several sentences; else both kinds of interval coincide."""

    def interval(self, metric: Metric) -> Ends | None:
        """None if the metric is not made of single sentences, or has no value."""
        rule = metric.rule
        if isinstance(rule, Bounded):
            return self._bounded(metric, rule)
        if isinstance(rule, Combined):
            return self._combined(metric, rule)
        return self._drawn(metric)

    def _value(self, metric: Metric) -> float:
        return float(evaluate(metric, self._counts, self._counts.totals, smoothly=True)[0])

    def _bounded(self, metric: Metric, rule: Bounded) -> Ends | None:
        value, variance = self._value(metric), self._within.variance(metric, self._counts)
        if math.isnan(value) or variance is None:
            return None
        n = max(float(np.sum(self._counts.take(self._counts.totals, metric.weight))), 1.0)
        return statistics.wilson_between(value, (rule.lowest, rule.highest), variance, n, self._quantile)

    def _combined(self, metric: Metric, rule: Combined) -> Ends | None:
        """MOVER, as for the other interval; the terms rarely share sentences."""
        values = [self._value(term) for _, term in rule.terms]
        ends = [self.interval(term) for _, term in rule.terms]
        if any(found is None for found in ends) or any(math.isnan(value) for value in values):
            return None
        factors, terms = zip(*rule.terms, strict=True)
        covariances = [[self._within.covariance_of(a, b, self._counts) or 0.0 for b in terms] for a in terms]
        known = [found for found in ends if found is not None]
        below, above = mover_reach(factors, values, known, correlations_of(np.array(covariances)))
        centre = self._value(metric)
        if rule.folded_at is None:
            return centre - below, centre + above
        summed = sum(factor * value for factor, value in zip(factors, values, strict=True)) - rule.folded_at
        return folded(summed - below, summed + above)

    def _drawn(self, metric: Metric) -> Ends | None:
        """For nonlinear metrics: sums are drawn around the observed ones, with the covariance within groups."""
        value = self._value(metric)
        if math.isnan(value) or self._within.variance(metric, self._counts) is None:
            return None
        sums = np.repeat(self._counts.totals, self._resampling.n_resamples, axis=0)
        shared = [name for name in self._counts.columns if name in self._within.columns]
        to = [self._counts.columns[name] for name in shared]
        sums[:, to] = np.maximum(sums[:, to] + self._noise[:, [self._within.columns[name] for name in shared]], 0.0)
        ends = statistics.percentile_interval(evaluate(metric, self._counts, sums), self._resampling.confidence)
        return (min(ends[0], value), max(ends[1], value)) if ends else None

    @cached_property
    def _noise(self) -> Floats:
        scale = np.sqrt(np.maximum(np.diagonal(self._within.covariance), 0.0))
        values, vectors = np.linalg.eigh(correlations_of(self._within.covariance))
        # The symmetric root of correlations is unique, whatever the scales of the columns, and zeros stay zero: the
        # same draws on every processor.
        values[values < _NO_VARIANCE] = 0.0
        root = scale[:, None] * ((vectors * np.sqrt(values)) @ vectors.T)
        generator = np.random.Generator(np.random.PCG64(self._resampling.seed))
        drawn = generator.standard_normal((self._resampling.n_resamples, len(values)))
        return np.asarray(drawn @ root.T, dtype=np.float64)


def correlations_of(covariances: Floats) -> Floats:
    scale = np.sqrt(np.maximum(np.diagonal(covariances), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlations = np.clip(np.nan_to_num(covariances / np.outer(scale, scale)), -1.0, 1.0)
    np.fill_diagonal(correlations, 1.0)
    return np.asarray(correlations, dtype=np.float64)


def mover_reach(
    factors: Sequence[float], values: Sequence[float], ends: Sequence[Ends], correlations: Floats, least: float = 0.0
) -> Ends:
    """Distances below and above a weighted sum to its bounds, from the intervals and correlations of its terms
    (MOVER: Zou & Donner 2008, Statistics in Medicine 27:1693-1702; with correlations: Zou 2007, Psychological
    Methods 12:399-413)."""
    sides = []
    for factor, value, (low, high) in zip(factors, values, ends, strict=True):
        below, above = abs(factor) * (value - low), abs(factor) * (high - value)
        sides.append((below, above) if factor > 0 else (above, below))
    signs = np.sign(factors)
    signed = correlations * np.outer(signs, signs)
    down, up = (math.sqrt(max(float(side @ signed @ side), least**2)) for side in np.array(sides).T)
    return down, up


def folded(low: float, high: float) -> Ends:
    """The interval of the absolute value of a number with this interval."""
    return (0.0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def difference_error(metric: Metric, pairs: Within, sides: tuple[Counts, Counts], signs: Ends = (-1.0, 1.0)) -> float:
    """Standard error of a metric's difference between two systems, second minus first, on the same sentences."""
    gradient = np.zeros(len(pairs.columns))
    for number, (sign, side) in enumerate(zip(signs, sides, strict=True)):
        for name, slope in zip(metric.needs, _gradient(metric, side), strict=True):
            if (place := pairs.columns.get(f"{number}/{name}")) is not None:
                gradient[place] += sign * slope
    return math.sqrt(max(float(gradient @ pairs.covariance @ gradient), 0.0))
