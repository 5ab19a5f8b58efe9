"""How sure the difference between two systems is: on the same groups, so that what is hard for both cancels."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gendermark.metrics import statistics
from gendermark.metrics.intervals import (
    Design,
    Estimator,
    Moments,
    ResampledSpread,
    missed_share,
    p_value_of,
    pull_of,
)
from gendermark.metrics.metric import (
    Bounded,
    Combined,
    Counts,
    Floats,
    Metric,
    Resampled,
    Resampling,
    evaluate,
    resampled_sums,
    total_sums,
)


@dataclass(frozen=True)
class DifferenceSpread:
    """Of the difference between two systems on the same groups."""

    value: float
    moments: Moments
    range: float
    """How far a group can move the number, from one bound to the other."""
    farthest: float
    """How large the difference can be at all."""

    @property
    def df(self) -> float:
        return self.moments.df

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
    """The smallest true difference that would be found in so many of all cases (Cohen 1988, Statistical Power
    Analysis; Bloom 1995, Evaluation Review 19:547-556): a multiple of the paired standard error."""
    error = spread.standard_error
    if error is None:
        return None
    # Of all groups: a larger difference would change more of them than those that changed here.
    df = max(spread.moments.n_alike - 1, 1.0)
    return (statistics.student_quantile(0.5 + confidence / 2, df) + statistics.student_quantile(power, df)) * error


class Pairing:
    """The differences of two systems, second minus first, on the same groups: what is hard for both cancels."""

    def __init__(self, first: Counts, second: Counts, resampling: Resampling) -> None:
        self._sides = first, second
        self._resampling = resampling
        self._design = Design(first)
        self._drawn: tuple[Floats, Floats] | None = None

    @property
    def n_groups(self) -> int:
        return len(self._sides[0].matrix)

    def values(self, metric: Metric) -> tuple[float, float]:
        first, second = (float(evaluate(metric, side, total_sums(side))[0]) for side in self._sides)
        return first, second

    def own_p_values(self, metric: Metric, null: float) -> list[float | None]:
        """Of each system by itself."""
        return [p_value_of(Estimator(side, self._resampling).spread(metric), null) for side in self._sides]

    def difference(self, metric: Metric) -> DifferenceSpread | ResampledSpread:
        return self._change(metric, (-1.0, 1.0))

    def change_of_size(self, metric: Metric) -> DifferenceSpread | ResampledSpread:
        """Of a gap: of how far it is from zero, to whichever side."""
        first, second = self.values(metric)
        return self._change(metric, (-math.copysign(1.0, first), math.copysign(1.0, second)))

    def _change(self, metric: Metric, signs: tuple[float, float]) -> DifferenceSpread | ResampledSpread:
        value = sum(sign * own for sign, own in zip(signs, self.values(metric), strict=True))
        pulls = [pull_of(metric, side).times(sign) for sign, side in zip(signs, self._sides, strict=True)]
        moments = self._design.moments(pulls[0] + pulls[1])
        n_changed = self._n_changed(metric)
        # Groups in which nothing changed say nothing about how much changes vary.
        moments = replace(moments, df=max(min(moments.df, n_changed - 1.0), 1.0))
        if n_changed == 0:
            moments = replace(moments, missed=0.0)
        if isinstance(metric.rule, Resampled):
            if self._drawn is None:
                first, second = self._sides
                self._drawn = resampled_sums(first, self._resampling), resampled_sums(second, self._resampling)
            both = [
                sign * evaluate(metric, side, drawn)
                for sign, side, drawn in zip(signs, self._sides, self._drawn, strict=True)
            ]
            return ResampledSpread(value, both[0] + both[1], moments)
        return DifferenceSpread(value, moments, _range_of(metric), max(_farthest(metric), abs(value)))

    def _n_changed(self, metric: Metric) -> int:
        first, second = (np.stack(side.take(side.matrix, metric.needs)) for side in self._sides)
        return int((first != second).any(axis=0).sum())


def _range_of(metric: Metric) -> float:
    if isinstance(metric.rule, Bounded):
        return metric.rule.highest - metric.rule.lowest
    return max(_range_of(term) for _, term in metric.rule.terms) if isinstance(metric.rule, Combined) else 0.0


def _farthest(metric: Metric) -> float:
    """Two systems can differ by 100 points in a share, by 200 in a gap: from +100 to -100."""
    if isinstance(metric.rule, Combined):
        return sum(abs(factor) * _range_of(term) for factor, term in metric.rule.terms)
    return _range_of(metric)
