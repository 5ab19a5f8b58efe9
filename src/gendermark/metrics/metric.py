"""A metric is a tally of each group plus a value of the summed tallies; estimating it is the same for all.

Because every metric is a function of sums over groups, the cluster bootstrap, paired tests and slices are written
once: resample groups, add up their rows, take the value.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gendermark import statistics
from gendermark.metrics.describe import Better, Description
from gendermark.records import Estimate, Judgement

Floats = NDArray[np.float64]
Tally = Callable[[Sequence[Judgement]], Mapping[str, float]]
"""The counts of one group of judgements, by column name. Columns that do not occur count zero."""


Boundary = Callable[[Sequence[float], int, float], tuple[float, float]]
"""(sums, n_groups, confidence) -> interval, where all groups agree and resampling shows no spread."""
Stratum = Callable[[Judgement], str]
"""The stratum that a judgement's group belongs to."""


_ROUNDING = 1e-9


@dataclass(frozen=True)
class Metric:
    """A described number on a slice: which columns it needs, and its value from their sums."""

    about: Description
    slice: str
    needs: tuple[str, ...]
    value: Callable[..., Floats]
    """Takes the needed columns as arrays and gives an array of the same length; NaN where it is undefined."""
    total: str
    """The column that counts every item of this slice, translated or not."""
    judged: str
    """The column that counts the items of this slice with a verdict."""
    at_boundary: Boundary | None = None

    @property
    def name(self) -> str:
        return self.about.name

    @property
    def better(self) -> Better:
        return self.about.better

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.slice


@dataclass(frozen=True)
class Resampling:
    """How intervals are made; part of the signature."""

    n_resamples: int = 1000
    seed: int = 12345
    confidence: float = 0.95

    @property
    def signature(self) -> str:
        return f"cluster-bootstrap-{self.n_resamples},seed-{self.seed},confidence-{self.confidence:g}"


@dataclass(frozen=True)
class Counts:
    """The tallies of all groups: one row per group, one named column per count."""

    group_ids: tuple[str, ...]
    strata: tuple[str, ...]
    """The stratum of each group. How many groups a stratum has is fixed by design, so each is resampled by itself."""
    columns: Mapping[str, int]
    matrix: Floats

    def take(self, sums: Floats, names: Iterable[str]) -> list[Floats]:
        """The named columns of an array of sums; a column that no group has is all zero."""
        return [sums[:, self.columns[name]] if name in self.columns else np.zeros(len(sums)) for name in names]


def per_judgement(columns_of: Callable[[Judgement], Iterable[str]]) -> Tally:
    """The tally that adds one to each column named for each judgement."""

    def tally(group: Sequence[Judgement]) -> Counter[str]:
        return Counter(name for judgement in group for name in columns_of(judgement))

    return tally


def count(
    judgements: Iterable[Judgement], tally: Tally, stratum: Stratum, group_ids: Sequence[str] | None = None
) -> Counts:
    """Tally judgements by group. `group_ids` fixes the rows, so that two systems can be set side by side."""
    groups: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        groups[judgement.group_id].append(judgement)
    ids = tuple(group_ids) if group_ids is not None else tuple(sorted(groups))
    tallies = [tally(groups[group_id]) if group_id in groups else {} for group_id in ids]
    columns = {name: position for position, name in enumerate(sorted({name for row in tallies for name in row}))}
    matrix = np.zeros((len(ids), len(columns)))
    for row, row_tally in enumerate(tallies):
        for name, amount in row_tally.items():
            matrix[row, columns[name]] = amount
    strata = tuple(stratum(groups[group_id][0]) if group_id in groups else "" for group_id in ids)
    return Counts(ids, strata, columns, matrix)


def evaluate(metric: Metric, counts: Counts, sums: Floats) -> Floats:
    """A metric's value for each row of sums; NaN where it is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(metric.value(*counts.take(sums, metric.needs)), dtype=np.float64)


def total_sums(counts: Counts) -> Floats:
    return np.asarray(counts.matrix.sum(axis=0, keepdims=True), dtype=np.float64)


def rows_by_stratum(counts: Counts) -> list[NDArray[np.intp]]:
    strata = np.array(counts.strata)
    return [np.flatnonzero(strata == name) for name in sorted(set(counts.strata))]


def resampled_sums(counts: Counts, resampling: Resampling) -> Floats:
    """Sums of resampled groups, each stratum with as many groups as it has."""
    sums = np.zeros((resampling.n_resamples, counts.matrix.shape[1]))
    for position, rows in enumerate(rows_by_stratum(counts)):
        sums += statistics.resampled_sums(counts.matrix[rows], resampling.n_resamples, resampling.seed + position)
    return sums


def estimate(counts: Counts, metrics: Sequence[Metric], resampling: Resampling, signature: str = "") -> list[Estimate]:
    """Every metric with its interval: percentile cluster bootstrap, one set of draws for all metrics."""
    totals = total_sums(counts)
    resampled = resampled_sums(counts, resampling)
    estimates = []
    for metric in metrics:
        value = float(evaluate(metric, counts, totals)[0])
        low, high = interval_of(metric, counts, evaluate(metric, counts, resampled), resampling.confidence)
        n_total, n_judged = (int(column[0]) for column in counts.take(totals, (metric.total, metric.judged)))
        n_groups = int((counts.take(counts.matrix, (metric.total,))[0] > 0).sum())
        known = not np.isnan(value)
        estimates.append(
            Estimate(
                metric=metric.name,
                slice=metric.slice,
                value=value if known else None,
                low=low if known else None,
                high=high if known else None,
                n_groups=n_groups,
                n_judged=n_judged,
                n_total=n_total,
                unit=metric.about.unit,
                signature=signature,
            )
        )
    return estimates


def interval_of(
    metric: Metric, counts: Counts, replicates: Floats, confidence: float
) -> tuple[float, float] | tuple[None, None]:
    """The percentile interval of a metric's resampled values; wider where these say more than the data can."""
    interval = statistics.percentile_interval(replicates, confidence)
    if interval is None:
        return None, None
    if shows_spread(replicates):
        return interval
    if metric.at_boundary is None:
        value = float(evaluate(metric, counts, total_sums(counts))[0])
        return value, value
    sums = [float(column[0]) for column in counts.take(total_sums(counts), metric.needs)]
    # Only groups that count at all for this metric: of forty, one may be the only one with anything judged.
    n_groups = int((np.stack(counts.take(counts.matrix, metric.needs)) > 0).any(axis=0).sum())
    return metric.at_boundary(sums, n_groups, confidence)


def shows_spread(replicates: Floats) -> bool:
    """Whether resamples differ by more than rounding.

    Where every group agrees, none does: an interval of width zero would claim certainty from few groups.
    """
    low, high = np.nanmin(replicates), np.nanmax(replicates)
    return bool(high - low > _ROUNDING * max(1.0, abs(low), abs(high)))
