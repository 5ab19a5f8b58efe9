"""A metric is a tally per group plus a value of the summed tallies.

Since every metric is a function of sums over groups, intervals, paired tests and slices are written once: omit or
resample groups, sum their rows, take the value.
"""

from __future__ import annotations

import tomllib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from gendermark.errors import UnknownName, UserError
from gendermark.io.disk_list import grouped
from gendermark.metrics import statistics
from gendermark.records import Judgement, Unit

Better = Literal["higher", "lower", "zero", "neither"]
"""The better direction; `zero` for a gap."""

SLICES: Mapping[str, str] = {
    "all": "all",
    "anti": "against the stereotype",
    "feminine": "feminine",
    "masculine": "masculine",
    "mf": "gender specified",
    "neutral": "gender unspecified",
    "pro": "with the stereotype",
    "stereotyped": "with or against a stereotype",
}
"""Names of slices that several benchmarks share."""


@dataclass(frozen=True)
class Description:
    """Everything about a metric except its computation."""

    name: str
    label: str
    """A short name."""
    meaning: str
    """One sentence."""
    unit: Unit = Unit.PERCENT
    better: Better = "neither"
    symbol: str = ""
    """As the paper writes it; also for figures with little room."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Slice -> label, if not "label: slice"."""
    even: float | None = None
    """For a share: the value without preference."""
    fewest: int = 0
    """Minimum number of people or sentences for a conclusion."""
    behind: Mapping[str, str] = field(default_factory=dict)
    """For a share of one outcome: a report filter for the sentences with that outcome."""

    @property
    def unbiased(self) -> float | None:
        return 0.0 if self.better == "zero" else self.even

    @property
    def short(self) -> str:
        return self.symbol or self.name.replace("_", " ")

    def label_on(self, part: str, slices: Mapping[str, str]) -> str:
        if part in self.labels:
            return self.labels[part]
        return self.label if part == "all" else f"{self.label}: {slice_label(part, slices)}"

    def called(self, name: str, label: str, meaning: str) -> Description:
        """Return this description under another name."""
        return replace(self, name=name, label=label, meaning=meaning, labels={})


@cache
def described(package: str) -> Mapping[str, Description]:
    """The metrics in a package's `metrics.toml`, in order.

    Shared ones are described in `metrics/metrics.toml`; an empty table refers to one of them.
    """
    shared = {} if package == __package__ else described(__package__)
    rows = tomllib.loads((files(package) / "metrics.toml").read_text(encoding="utf-8"))
    return {name: description(name, row) if row else shared[name] for name, row in rows.items()}


def description(name: str, row: Mapping[str, Any]) -> Description:
    return Description(name, **{**row, "unit": Unit(row.get("unit", Unit.PERCENT))})


@cache
def described_slices(package: str) -> Mapping[str, str]:
    return tomllib.loads((files(package) / "slices.toml").read_text(encoding="utf-8"))


def slice_label(part: str, slices: Mapping[str, str]) -> str:
    return slices.get(part, SLICES.get(part, part.replace("-", " ")))


def key_from(name: str) -> tuple[str, str]:
    metric, _, part = name.partition(":")
    return metric, part or "all"


def unknown(name: str) -> Description:
    """Description of an unknown metric, from a run of another version."""
    return Description(name, name, "")


if TYPE_CHECKING:
    from gendermark.metrics.within import Within

Floats = NDArray[np.float64]
Tally = Callable[[Sequence[Judgement]], Mapping[str, float]]
"""The counts of one group of judgements by column; missing columns count zero."""
AtRest = Callable[[Sequence[float], float], tuple[float, float]]
"""(sums, share of unseen unlike groups) -> interval, if all groups agree."""
GroupOf = Callable[[Judgement], str]
"""The stratum of a judgement's group, or its template."""


LEAST_TEMPLATES = 6
"""With fewer templates, their variation cannot be estimated and is ignored."""
MOST_CELLS = 20_000
"""Maximum cells of word and template. With more, templates number in the thousands, and their share of the variance
is negligible."""


# -- how the interval of a metric is made; `intervals.py` makes it -----------------------------------------------------


@dataclass(frozen=True)
class Bounded:
    """A rate, or another bounded quantity similar to a mean over groups."""

    lowest: float
    highest: float


@dataclass(frozen=True)
class Combined:
    """A weighted sum of bounded metrics; a gap is one minus another."""

    terms: tuple[tuple[float, Metric], ...]
    folded_at: float | None = None
    """The metric is the absolute distance of the sum from this value."""


@dataclass(frozen=True)
class Resampled:
    """Any other metric: by bootstrap."""

    at_rest: AtRest | None = None
    turns: bool = False
    """Whether it has an interior extremum, as a product of shares has."""


Rule = Bounded | Combined | Resampled
PERCENT = Bounded(0.0, 100.0)
SHARE = Bounded(0.0, 1.0)


@dataclass(frozen=True)
class Metric:
    """A described number on a slice: its columns, and its value from their sums."""

    about: Description
    slice: str
    needs: tuple[str, ...]
    value: Callable[..., Floats]
    """Maps arrays of the needed columns to an array of the same length; NaN if undefined."""
    total: str
    """Column with all items of this slice, translated or not."""
    judged: str
    """Column with the judged items of this slice."""
    rule: Rule = Resampled()
    weigh: tuple[str, ...] = ()
    """Columns that weigh a group, by default its judged items or the weights of the metric's terms."""
    smooth: Callable[..., Floats] | None = None
    """The value before rounding, if it is rounded, for intervals."""

    @property
    def weight(self) -> tuple[str, ...]:
        if self.weigh or not isinstance(self.rule, Combined):
            return self.weigh or (self.judged,)
        return tuple(column for _, term in self.rule.terms for column in term.weight)

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
class AddedMetric:
    """A metric that another package adds to benchmarks, by an entry point in the group `gendermark.metric`."""

    benchmarks: tuple[str, ...]
    """Names of its benchmarks."""
    columns: Callable[[Judgement], Iterable[str]]
    """The columns in which a judgement counts. Start their names with your own prefix to avoid clashes."""
    metric: Metric


INTERVALS = ("jackknife", "bootstrap")


@dataclass(frozen=True)
class Resampling:
    """Settings of the intervals; part of the signature."""

    n_resamples: int = 1000
    seed: int = 12345
    confidence: float = 0.95
    interval: str = "jackknife"
    """`jackknife`, or `bootstrap` for plain percentiles of the cluster bootstrap."""

    def __post_init__(self) -> None:
        if not 0.5 <= self.confidence < 1:
            raise UserError(f"--confidence must lie between 0.5 and 1 (usually 0.95), not {self.confidence:g}")
        if self.interval not in INTERVALS:
            raise UnknownName("interval", str(self.interval), INTERVALS)
        for name, number, least in (("resamples", self.n_resamples, 1), ("seed", self.seed, 0)):
            if not isinstance(number, int) or number < least:
                raise UserError(f"{name} must be a whole number from {least} on, not {number!r:.60}")

    @property
    def signature(self) -> str:
        kind = "percentile-bootstrap" if self.interval == "bootstrap" else "jackknife-t,bootstrap"
        return f"{kind}-{self.n_resamples},seed-{self.seed},confidence-{self.confidence:g}"


@dataclass(frozen=True)
class Counts:
    """The tallies of all groups: one row per group, one named column per count."""

    group_ids: tuple[str, ...]
    strata: tuple[str, ...]
    """The stratum of each group. The number of groups per stratum is fixed by design, so strata are resampled
    separately."""
    columns: Mapping[str, int]
    matrix: Floats
    crossed: tuple[Counts, ...] = ()
    """The same counts by template, and by group and template, in a crossed design."""
    within: Within | None = None
    """The variance between sentences within groups, if counted."""
    certainty: frozenset[str] = frozenset()
    """Groups included by necessity, not as a sample: they vary within, not between."""

    @cached_property
    def totals(self) -> Floats:
        return np.asarray(self.matrix.sum(axis=0, keepdims=True), dtype=np.float64)

    def take(self, sums: Floats, names: Iterable[str]) -> list[Floats]:
        return [sums[:, self.columns[name]] if name in self.columns else np.zeros(len(sums)) for name in names]


def per_judgement(columns_of: Callable[[Judgement], Iterable[str]]) -> Tally:
    """A tally that adds one to each named column per judgement."""

    def tally(group: Sequence[Judgement]) -> Counter[str]:
        return Counter(name for judgement in group for name in columns_of(judgement))

    return tally


def count(
    judgements: Sequence[Judgement],
    tally: Tally,
    stratum: GroupOf,
    template: GroupOf | None = None,
) -> Counts:
    """Tally judgements by group; and by template, if there are enough."""
    if template is None or not _are_crossed(judgements, template):
        return _count_by(judgements, tally, stratum, lambda judgement: judgement.group_id)
    cells = _count_by(judgements, tally, stratum, lambda judgement: f"{judgement.group_id}\t{template(judgement)}")
    names = [cell.partition("\t") for cell in cells.group_ids]
    words = _summed(cells, [word for word, _, _ in names])
    by_template = _summed(replace(cells, strata=("",) * len(names)), [name for _, _, name in names])
    return replace(words, crossed=(by_template, cells))


def _are_crossed(judgements: Iterable[Judgement], template: GroupOf) -> bool:
    """Whether every sentence has a template, with enough of them, but not so many that they are negligible."""
    cells = set()
    for judgement in judgements:
        name = template(judgement)
        cells.add((judgement.group_id, name))
        if not name or len(cells) > MOST_CELLS:
            return False
    return len({name for _, name in cells}) >= LEAST_TEMPLATES


def _summed(cells: Counts, names: Sequence[str]) -> Counts:
    order, first, group_of = np.unique(np.array(names), return_index=True, return_inverse=True)
    matrix = np.zeros((len(order), cells.matrix.shape[1]))
    np.add.at(matrix, group_of, cells.matrix)
    strata = tuple(cells.strata[place] for place in first)
    return Counts(tuple(map(str, order)), strata, cells.columns, matrix)


def _count_by(judgements: Sequence[Judgement], tally: Tally, stratum: GroupOf, group_of: GroupOf) -> Counts:
    return _counts_of((name, tally(group), stratum(group[0])) for name, group in grouped(judgements, group_of))


def count_singly(judgements: Iterable[Judgement], columns_of: Callable[[Judgement], Iterable[str]]) -> Counts:
    """The counts of a `per_judgement` tally, in one stratum, in one pass without storing judgements."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for judgement in judgements:
        counted[judgement.group_id].update(columns_of(judgement))
    return _counts_of((name, counts, "") for name, counts in counted.items())


def _counts_of(counted: Iterable[tuple[str, Mapping[str, float], str]]) -> Counts:
    seen: dict[str, int] = {}
    rows = []
    for name, tally, stratum in counted:
        # There may be many groups: store values per group, and column names once.
        places = array("I", [seen.setdefault(column, len(seen)) for column in tally])
        rows.append((name, stratum, places, array("d", tally.values())))
    rows.sort(key=itemgetter(0))
    columns = {column: place for place, column in enumerate(sorted(seen))}
    order = np.array([columns[column] for column in seen], dtype=np.intp)
    matrix = np.zeros((len(rows), len(columns)))
    for number, (_, _, places, amounts) in enumerate(rows):
        matrix[number, order[np.asarray(places)]] = amounts
    return Counts(tuple(row[0] for row in rows), tuple(row[1] for row in rows), columns, matrix)


def evaluate(metric: Metric, counts: Counts, sums: Floats, *, smoothly: bool = False) -> Floats:
    """A metric's value for each row of sums; NaN if undefined."""
    value = metric.smooth if smoothly and metric.smooth is not None else metric.value
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(value(*counts.take(sums, metric.needs)), dtype=np.float64)


def rows_by_stratum(counts: Counts) -> list[NDArray[np.intp]]:
    strata = np.array(counts.strata)
    return [np.flatnonzero(strata == name) for name in sorted(set(counts.strata))]


def resampled_sums(counts: Counts, resampling: Resampling) -> Floats:
    """Sums of resampled groups; every stratum keeps its number of groups."""
    sums = np.zeros((resampling.n_resamples, counts.matrix.shape[1]))
    for position, rows in enumerate(rows_by_stratum(counts)):
        sums += statistics.resampled_sums(counts.matrix[rows], resampling.n_resamples, resampling.seed + position)
    return sums


def rate(about: Description, part: str, hits: str, total: str, *, judged: str) -> Metric:
    """`hits` out of `total`, as a percentage or a share of one."""
    is_percent = about.unit is Unit.PERCENT

    def value(n_hits: Floats, n: Floats) -> Floats:
        return (100.0 if is_percent else 1.0) * n_hits / n

    rule = PERCENT if is_percent else SHARE
    return Metric(about, part, (hits, total), value, total=total, judged=judged, rule=rule, weigh=(total,))


def share(about: Description, part: str, kind: str, *, of: str = "total") -> Metric:
    """The share of a kind of judgement in a slice, out of its `total` or `judged` ones."""
    return rate(about, part, f"{part}.{kind}", f"{part}.{of}", judged=f"{part}.judged")


def difference(
    about: Description, first: Metric, second: Metric, both: str, *, is_undefined_without_hits: bool = False
) -> Metric:
    """`first` minus `second`; `both` is the slice with the items of both.

    `is_undefined_without_hits`: a gap between two rates of 0 would be meaningless.
    """
    n = len(first.needs)

    def value(*columns: Floats) -> Floats:
        gap = first.value(*columns[:n]) - second.value(*columns[n:])
        return np.where(columns[0] + columns[n] > 0, gap, np.nan) if is_undefined_without_hits else gap

    needs, rule = (*first.needs, *second.needs), Combined(((1.0, first), (-1.0, second)))
    return Metric(about, "all", needs, value, f"{both}.total", f"{both}.judged", rule)
