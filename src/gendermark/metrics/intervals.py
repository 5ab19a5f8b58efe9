"""Intervals and p-values of every metric, and of paired differences between systems.

All build on the jackknife (Efron & Stein 1981, Annals of Statistics 9:586-596). A *pull* is the change of a metric when
one group (a word, a pair) is left out. The pulls of all groups give the variance, those of two metrics their
covariance, and Student's distribution the interval. Three refinements, because benchmarks have few groups and systems
are often nearly always correct:

- Bounded metrics get the shape of Wilson's interval (1927), which stays within the bounds.
- If few groups differ from the rest, the variance is unreliable: a similar group may have been missed. The share of
groups that may have been missed is Wilson's bound for none seen; it counts in full if at most one group stands out, and
less the more do.
- Groups of unequal size count as the effective number of equal ones (Kish 1965, Survey Sampling).

If the design crosses words with templates, both vary: V = V(words) + V(templates) - V(cells) (Cameron, Gelbach & Miller
2011, Journal of Business & Economic Statistics 29:238-249).

`bench/calibration.py` measures coverage; docs/statistics.md has the table.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gendermark.metrics import metric as counting
from gendermark.metrics import statistics
from gendermark.metrics.metric import Bounded, Combined, Counts, Floats, Metric, Resampled, Resampling
from gendermark.metrics.within import FixedIntervals, correlations_of, folded, mover_reach
from gendermark.records import Estimate

_ROUNDING = 1e-9
"""Relative to the largest number involved: smaller differences count as equal."""
_FADING, _FADING_OF_FEW = 0.12, 8.0
"""Decay of the missed share as more groups stand out: exp(-(m - 1) (a + b / n)) for `m` of `n`. Chosen by simulation
(`bench/calibration.py`) for coverage at minimal width."""
_USUAL = 0.95
"""The confidence at which the missed share is Wilson's; elsewhere it scales with the quantile."""
_LARGEST_QUANTILE = 1e6
_MANY = 1e6
"""Degrees of freedom at which Student's distribution is practically normal."""


@dataclass(frozen=True)
class Spread(ABC):
    value: float
    df: float

    @abstractmethod
    def interval(self, quantile: float) -> tuple[float, float] | None:
        """The interval for a quantile of Student's distribution with these degrees of freedom."""


def interval_at(spread: Spread, confidence: float) -> tuple[float, float] | None:
    return spread.interval(statistics.student_quantile(0.5 + confidence / 2, spread.df))


def p_value_of(spread: Spread, null: float) -> float | None:
    """Two-sided p-value of "the truth is `null`": one minus the confidence of the interval that ends there.

    Test and interval therefore always agree.
    """
    low, high = 0.0, 1.0
    while not _holds(spread, null, high):
        if high > _LARGEST_QUANTILE:
            break
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if _holds(spread, null, middle) else (middle, high)
    if spread.interval(1.0) is None:
        return None
    # The resolution of the resamples; no p-value is 0.
    least = (
        2 / (1 + len(spread.replicates))
        if isinstance(spread, ResampledSpread | PercentileSpread)
        else sys.float_info.min
    )
    return min(1.0, max(2 * statistics.student_tail(high, spread.df), least))


def _holds(spread: Spread, null: float, quantile: float) -> bool:
    ends = spread.interval(quantile)
    tie = _ROUNDING * max(1.0, abs(null), abs(spread.value))
    return ends is None or ends[0] - tie <= null <= ends[1] + tie


# Pulls


@dataclass(frozen=True)
class Pull:
    """The influence of each group on a metric, by layer: words, or words, templates and cells."""

    layers: tuple[Floats, ...]
    weights: Floats
    """The share of each group (of the first layer) in the metric; they sum to 1. Certainty units have none."""
    certain: float = 0.0
    """The variance from certainty units: of their sentences, not of the units themselves."""
    n_certain: float = 0.0
    """Number of their sentences."""

    def __add__(self, other: Pull) -> Pull:
        layers = tuple(one + two for one, two in zip(self.layers, other.layers, strict=True))
        # Two systems on the same sentences: treated as uncorrelated here, which is conservative.
        return Pull(layers, np.maximum(self.weights, other.weights), self.certain + other.certain, self.n_certain)

    def times(self, factor: float) -> Pull:
        layers = tuple(factor * layer for layer in self.layers)
        return Pull(layers, self.weights, factor**2 * self.certain, self.n_certain)


def pull_of(metric: Metric, counts: Counts) -> Pull:
    """The jackknife influence of each group; none if leaving it out makes the metric undefined."""
    layers = []
    for layer in (counts, *counts.crossed):
        whole = counting.evaluate(metric, layer, layer.totals, smoothly=True)
        without = counting.evaluate(metric, layer, layer.totals - layer.matrix, smoothly=True)
        pulls = np.where(np.isnan(without), 0.0, whole - without)
        tiny = _ROUNDING * max(1.0, float(np.abs(np.nan_to_num(whole)).max()))
        layers.append(np.where(np.abs(pulls) > tiny, pulls, 0.0))
    weights = np.sum(counts.take(counts.matrix, metric.weight), axis=0)
    certain, n_certain = 0.0, 0.0
    if counts.certainty:
        is_certain = np.array([name in counts.certainty for name in counts.group_ids])
        n_certain = float(weights[is_certain].sum())
        layers[0] = np.where(is_certain, 0.0, layers[0])
        weights = np.where(is_certain, 0.0, weights)
        if counts.within is not None:
            certain = counts.within.variance(metric, counts, of_certain=True) or 0.0
    total = float(weights.sum())
    return Pull(tuple(layers), weights / total if total > 0 else weights, certain, n_certain)


@dataclass(frozen=True)
class Moments:
    variance: float
    df: float
    n_alike: float
    """Effective number of equal groups."""
    missed: float
    """From 1, if at most one group stands out, to 0: weight of the missed share."""


class Design:
    """The groups of a count matrix, their strata, and crossed factors."""

    def __init__(self, counts: Counts) -> None:
        self._strata = [counting.rows_by_stratum(layer) for layer in (counts, *counts.crossed)]

    def covariance(self, one: Pull, other: Pull) -> float:
        """Covariance of two metrics, including templates if they vary, unless that makes it smaller."""
        words, *crossed = self._by_layer(one, other)
        both = self._is_crossed(one) and self._is_crossed(other)  # symmetric in both
        return words + (crossed[0] - crossed[1] if both else 0.0)

    def moments(self, pull: Pull) -> Moments:
        weights = pull.weights[pull.weights > 0]
        if not len(weights) and pull.n_certain:
            # Only certainty units: all variation is in their sentences.
            return Moments(pull.certain, _MANY, pull.n_certain, missed=float(pull.certain == 0))
        squares = float((weights**2).sum()) if len(weights) else 1.0
        n_alike = 1 / squares
        n_strata = sum(bool((pull.weights[rows] > 0).any()) for rows in self._strata[0])
        df = squares**2 / float((weights**4).sum()) - max(n_strata, 1) if len(weights) else 1.0
        words, *crossed = self._by_layer(pull, pull)
        df = max(df, 1.0)
        if crossed and self._is_crossed(pull):
            # Degrees of freedom of a sum of variances (Satterthwaite 1946, Biometrics Bulletin 2:110-114).
            extra = crossed[0] - crossed[1]
            n_templates = int((pull.layers[1] != 0).sum())
            df = max((words + extra) ** 2 / (words**2 / df + extra**2 / max(n_templates - 1, 1)), 1.0)
            words += extra
        if pull.certain and words > 0:
            df *= ((words + pull.certain) / words) ** 2
        return Moments(words + pull.certain, df, n_alike, self._missed(pull, n_alike))

    def _is_crossed(self, pull: Pull) -> bool:
        own = self._by_layer(pull, pull)
        return len(own) > 1 and own[1] > own[2]

    def _by_layer(self, one: Pull, other: Pull) -> list[float]:
        found = []
        for place, (a, b) in enumerate(zip(one.layers, other.layers, strict=True)):
            strata = self._strata[place]
            if place == 0:  # groups that count for neither metric
                strata = [rows[(one.weights[rows] > 0) | (other.weights[rows] > 0)] for rows in strata]
            n_all = sum(map(len, strata))
            total = 0.0
            for own in strata:
                x, y, n = a[own], b[own], len(own)
                if n > 1:
                    total += n / (n - 1) * float(((x - x.mean()) * (y - y.mean())).sum())
                elif n == 1:  # alone in its stratum: compare with the metric itself
                    total += float(x[0] * y[0])
            # A pull is based on one group less, and so slightly too large.
            found.append(total * ((n_all - 1) / n_all) ** 2 if n_all > 1 else total)
        return found

    def _missed(self, pull: Pull, n_alike: float) -> float:
        """Weight of the missed share, by how many groups deviate from the median of their stratum."""
        outstanding = []
        for rows in self._strata[0]:
            own = rows[pull.weights[rows] > 0]
            if len(own):
                weights = pull.weights[own]
                rates = pull.layers[0][own] / weights
                outstanding.append(np.abs(rates - _weighted_median(rates, weights)) * weights)
        off = np.concatenate(outstanding) if outstanding else np.zeros(0)
        off = np.where(off > _ROUNDING * max(1.0, float(off.max(initial=0.0))), off, 0.0)
        n_outstanding = float(off.sum()) ** 2 / float((off**2).sum()) if off.any() else 0.0
        return math.exp(-max(n_outstanding - 1, 0.0) * (_FADING + _FADING_OF_FEW / n_alike))


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values, kind="stable")
    summed = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(summed, summed[-1] / 2)])


def missed_share(moments: Moments, quantile: float) -> float:
    """Share of groups unlike those seen that may exist: Wilson's upper bound for none observed."""
    usual = statistics.student_quantile(0.5 + _USUAL / 2, moments.df)
    square = (quantile * statistics.normal_quantile(0.5 + _USUAL / 2) / usual) ** 2
    return moments.missed * square / (moments.n_alike + square)


# One system


@dataclass(frozen=True)
class BoundedSpread(Spread):
    bounds: tuple[float, float]
    moments: Moments

    def interval(self, quantile: float) -> tuple[float, float]:
        value, (lowest, highest), variance = self.value, self.bounds, self.moments.variance
        low = high = value
        if variance > 0 and lowest < value < highest:
            # All values whose own variance, of this shape, is compatible with the observed one.
            low, high = statistics.wilson_between(value, self.bounds, variance, 0.0, quantile)
        missed = missed_share(self.moments, quantile)
        low = value - math.hypot(value - low, missed * (value - lowest))
        high = value + math.hypot(high - value, missed * (highest - value))
        return max(low, lowest), min(high, highest)


@dataclass(frozen=True)
class CombinedSpread(Spread):
    """The spread of a sum or difference of numbers, from the intervals and correlations of its terms."""

    factors: Sequence[float]
    terms: Sequence[BoundedSpread]
    correlations: Floats
    standard_error: float
    folded_from: float | None = None
    """The signed number, if the value is its absolute value."""

    def interval(self, quantile: float) -> tuple[float, float]:
        values, ends = [term.value for term in self.terms], [term.interval(quantile) for term in self.terms]
        # Bounds narrow the intervals of terms, so that of a difference would be too narrow.
        below, above = mover_reach(self.factors, values, ends, self.correlations, quantile * self.standard_error)
        if self.folded_from is not None:
            return folded(self.folded_from - below, self.folded_from + above)
        # No gap of two shares exceeds 100 points. The value may differ from the sum by a constant, as a share minus one
        # half.
        terms = list(zip(self.factors, self.terms, strict=True))
        bounds = [sorted(factor * end for end in term.bounds) for factor, term in terms]
        constant = self.value - sum(factor * term.value for factor, term in terms)
        lowest, highest = constant + sum(low for low, _ in bounds), constant + sum(high for _, high in bounds)
        return max(self.value - below, lowest), min(self.value + above, highest)


@dataclass(frozen=True)
class ResampledSpread(Spread):
    """Bootstrap for metrics too nonlinear for pulls, with percentiles at the Student quantile for this few groups
    (Hesterberg 2015, American Statistician 69:371-386)."""

    replicates: Floats
    moments: Moments
    turns: bool = False
    """Whether the metric has an interior maximum: then all resamples lie below, and are mirrored too."""
    at_rest: Callable[[float], tuple[float, float]] | None = None
    """Share of unseen unlike groups -> the interval, if resampling shows no spread."""

    @property
    def standard_error(self) -> float | None:
        known = self.replicates[np.isfinite(self.replicates)]
        return float(known.std(ddof=1)) if len(known) > 1 else None

    def interval(self, quantile: float) -> tuple[float, float] | None:
        n = max(self.moments.n_alike, 2.0)
        tail = 0.5 * math.erfc(quantile * math.sqrt(n / (n - 1)) / math.sqrt(2))
        found = statistics.percentile_interval(self.replicates, min(max(1 - 2 * tail, 1e-12), 1 - 1e-12))
        if found is None:
            return None
        low, high = min(found[0], self.value), max(found[1], self.value)
        if self.turns:
            low, high = min(low, 2 * self.value - high), max(high, 2 * self.value - low)
        if self.at_rest is not None:
            square = statistics.normal_quantile(0.5 + _USUAL / 2) ** 2
            rest = self.at_rest(square / (self.moments.n_alike + square))
            low = min(low, self.value - self.moments.missed * (self.value - rest[0]))
            high = max(high, self.value + self.moments.missed * (rest[1] - self.value))
        return low, high


@dataclass(frozen=True)
class PercentileSpread(Spread):
    """Plain percentiles of the cluster bootstrap, for comparison with other work."""

    replicates: Floats

    def interval(self, quantile: float) -> tuple[float, float] | None:
        inside = 1 - math.erfc(quantile / math.sqrt(2))
        return statistics.percentile_interval(self.replicates, min(max(inside, 1e-12), 1 - 1e-12))


class Estimator:
    """The spreads of the metrics of one count matrix; resamples are drawn on first use."""

    def __init__(self, counts: Counts, resampling: Resampling) -> None:
        self._counts, self._resampling = counts, resampling
        self._design = Design(counts)
        self._totals = counts.totals

    def value(self, metric: Metric) -> float:
        return float(counting.evaluate(metric, self._counts, self._totals)[0])

    def spread(self, metric: Metric) -> Spread:
        rule = metric.rule
        if self._resampling.interval == "bootstrap":
            return PercentileSpread(self.value(metric), _MANY, counting.evaluate(metric, self._counts, self._drawn))
        if isinstance(rule, Bounded):
            return self._bounded(metric, rule)
        if isinstance(rule, Combined):
            return self._combined(metric, rule)
        replicates = counting.evaluate(metric, self._counts, self._drawn)
        moments = self._design.moments(pull_of(metric, self._counts))
        sums = [float(column[0]) for column in self._counts.take(self._totals, metric.needs)]
        at_rest = rule.at_rest
        rest = (lambda unseen: at_rest(sums, unseen)) if at_rest is not None else None
        return ResampledSpread(self.value(metric), moments.df, replicates, moments, rule.turns, rest)

    @cached_property
    def _drawn(self) -> Floats:
        return counting.resampled_sums(self._counts, self._resampling)

    def _bounded(self, metric: Metric, rule: Bounded) -> BoundedSpread:
        value = self.value(metric)
        bounds = min(rule.lowest, value), max(rule.highest, value)
        moments = self._design.moments(pull_of(metric, self._counts))
        return BoundedSpread(value, moments.df, bounds, moments)

    def _combined(self, metric: Metric, rule: Combined) -> CombinedSpread:
        terms, pulls = [], []
        for _, term in rule.terms:
            if not isinstance(term.rule, Bounded):
                raise TypeError(f"{metric.name} is made of {term.name}, which has no bounds")
            terms.append(self._bounded(term, term.rule))
            pulls.append(pull_of(term, self._counts))
        covariances = np.array([[self._design.covariance(a, b) for b in pulls] for a in pulls])
        factors = [factor for factor, _ in rule.terms]
        signed = None
        if rule.folded_at is not None:
            summed = sum(factor * term.value for factor, term in zip(factors, terms, strict=True))
            signed = summed - rule.folded_at
        variance = float(np.array(factors) @ covariances @ np.array(factors))
        return CombinedSpread(
            self.value(metric),
            min(term.df for term in terms),
            factors,
            terms,
            correlations_of(covariances),
            math.sqrt(max(variance, 0.0)) if len(terms) > 1 else 0.0,
            signed,
        )


def estimate(counts: Counts, metrics: Sequence[Metric], resampling: Resampling, signature: str = "") -> list[Estimate]:
    """Estimate every metric with its intervals and, if an unbiased value is known, its p-value.

    If each group has one sentence, the two intervals coincide.
    """
    estimator = Estimator(counts, resampling)
    fixed = FixedIntervals(counts.within, counts, resampling) if counts.within is not None else None
    totals = counts.totals
    estimates = []
    for metric in metrics:
        value = estimator.value(metric)
        spread = None if math.isnan(value) else estimator.spread(metric)
        ends = interval_at(spread, resampling.confidence) if spread is not None else None
        on_these = ends if fixed is None or not fixed.differ else fixed.interval(metric)
        unbiased = metric.about.unbiased
        n_total, n_judged = (int(column[0]) for column in counts.take(totals, (metric.total, metric.judged)))
        estimates.append(
            Estimate(
                metric=metric.name,
                slice=metric.slice,
                value=value if spread is not None else None,
                low=ends[0] if ends else None,
                high=ends[1] if ends else None,
                n_groups=int((counts.take(counts.matrix, (metric.total,))[0] > 0).sum()),
                n_judged=n_judged,
                n_total=n_total,
                unit=metric.about.unit,
                signature=signature,
                p_value=p_value_of(spread, unbiased) if spread is not None and unbiased is not None else None,
                fixed_low=on_these[0] if on_these and spread is not None else None,
                fixed_high=on_these[1] if on_these and spread is not None else None,
            )
        )
    return estimates


@dataclass(frozen=True)
class DifferenceSpread(Spread):
    """The spread of the difference between two systems on the same groups."""

    moments: Moments
    range: float
    """Maximum influence of a group."""
    farthest: float
    """Maximum possible difference."""

    @property
    def standard_error(self) -> float:
        return math.sqrt(max(self.moments.variance, 0.0))

    def interval(self, quantile: float) -> tuple[float, float]:
        missed = missed_share(self.moments, quantile) * self.range
        reach = math.hypot(quantile * self.standard_error, missed)
        return max(self.value - reach, -self.farthest), min(self.value + reach, self.farthest)


def detectable_difference(
    spread: DifferenceSpread | ResampledSpread, confidence: float, power: float = 0.8
) -> float | None:
    """The smallest true difference detected with this power (Cohen 1988, Statistical Power Analysis; Bloom 1995,
    Evaluation Review 19:547-556): a multiple of the paired standard error."""
    error = spread.standard_error
    if error is None:
        return None
    # From all groups: a larger difference would change more of them.
    df = max(spread.moments.n_alike - 1, 1.0)
    return (statistics.student_quantile(0.5 + confidence / 2, df) + statistics.student_quantile(power, df)) * error


class Pairing:
    """Differences of two systems, second minus first, on the same groups, so that shared difficulty cancels."""

    def __init__(self, first: Counts, second: Counts, resampling: Resampling) -> None:
        self._sides = first, second
        self._resampling = resampling
        self._design = Design(first)

    @cached_property
    def _drawn(self) -> list[Floats]:
        return [counting.resampled_sums(side, self._resampling) for side in self._sides]

    @property
    def n_groups(self) -> int:
        return len(self._sides[0].matrix)

    def values(self, metric: Metric) -> tuple[float, float]:
        first, second = (float(counting.evaluate(metric, side, side.totals)[0]) for side in self._sides)
        return first, second

    def own_p_values(self, metric: Metric, null: float) -> list[float | None]:
        return [p_value_of(Estimator(side, self._resampling).spread(metric), null) for side in self._sides]

    def difference(self, metric: Metric) -> DifferenceSpread | ResampledSpread:
        return self._change(metric, (-1.0, 1.0))

    def change_of_size(self, metric: Metric) -> DifferenceSpread | ResampledSpread:
        """Change in the size of a gap, in either direction."""
        first, second = self.values(metric)
        return self._change(metric, (-math.copysign(1.0, first), math.copysign(1.0, second)))

    def _change(self, metric: Metric, signs: tuple[float, float]) -> DifferenceSpread | ResampledSpread:
        value = sum(sign * own for sign, own in zip(signs, self.values(metric), strict=True))
        pulls = [pull_of(metric, side).times(sign) for sign, side in zip(signs, self._sides, strict=True)]
        moments = self._design.moments(pulls[0] + pulls[1])
        counted = [np.stack(side.take(side.matrix, metric.needs)) for side in self._sides]
        n_changed = int((counted[0] != counted[1]).any(axis=0).sum())
        # Unchanged groups say nothing about the variation of changes.
        moments = replace(moments, df=max(min(moments.df, n_changed - 1.0), 1.0))
        if n_changed == 0:
            moments = replace(moments, missed=0.0)
        if isinstance(metric.rule, Resampled):
            both = [
                sign * counting.evaluate(metric, side, drawn)
                for sign, side, drawn in zip(signs, self._sides, self._drawn, strict=True)
            ]
            return ResampledSpread(value, moments.df, both[0] + both[1], moments)
        terms = metric.rule.terms if isinstance(metric.rule, Combined) else ((1.0, metric),)
        bounds = [(abs(factor), term.rule) for factor, term in terms if isinstance(term.rule, Bounded)]
        widths = [(factor, rule.highest - rule.lowest) for factor, rule in bounds]
        # Two systems differ by at most 100 points in a share, and by 200 in a gap, from +100 to -100.
        farthest = max(sum(factor * width for factor, width in widths), abs(value))
        return DifferenceSpread(value, moments.df, moments, max(width for _, width in widths), farthest)
