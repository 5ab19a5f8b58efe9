"""Compare two systems on the same items: comparability and differences, for all outputs.

`compare`, `gate`, the page, its findings and its figures share this implementation, with the same resamples, so that
they always agree. p-values are Holm-corrected within one family: the headline metrics of one pair of runs, over all
shared cells. Other metrics form a second family, complete whichever are requested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UnknownName, UserError
from gendermark.metrics import intervals, statistics
from gendermark.metrics.intervals import DifferenceSpread, Pairing, ResampledSpread
from gendermark.metrics.metric import Metric, Resampling
from gendermark.metrics.verdicts import ALPHA
from gendermark.names import told_apart
from gendermark.records import Estimate, Table, Test, Unit, frame, show_p
from gendermark.result import Result
from gendermark.selection import own_options

if TYPE_CHECKING:
    import pandas

# -- which results may be compared -------------------------------------------------------------------------------------

# Signature keys that identify the system or the intervals, not the conditions.
_NOT_MEASURED = frozenset({"gendermark", "benchmark", "direction", "system", "decoding", "intervals"})
_COVERED = _NOT_MEASURED | {"data", "rules", "cluster", "parts"}
_SIGNED = " as signed"


def conditions(result: Result) -> dict[str, str]:
    """Conditions of a result by name: data, rules, every option of the benchmark, other signed values."""
    found = {
        **_asked(result),
        "data": result.origin,
        # The rules version, which may differ from older runs, is only in the signature.
        "rules": result.signed.get("rules", result.selection.rules),
    }
    # Resolved values of options (a tuned alpha, a model version) are only in the signature.
    signed = {f"{key}{_SIGNED if key in found else ''}": value for key, value in result.signed.items()}
    found |= {key: value for key, value in signed.items() if key.removesuffix(_SIGNED) not in _COVERED}
    with suppress(UnknownName):  # an unknown benchmark of another version: compare by signature
        benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
        return dict(benchmark.as_compared(found))
    return found


def _asked(result: Result) -> dict[str, str]:
    """The chosen conditions, which may be equal for every direction."""
    selection = result.selection
    return {
        "data": f"{selection.data} {selection.revision}".strip(),
        "rules": selection.rules,
        "cluster": selection.cluster,
        "parts": "+".join(selection.parts) or "all",
        **{name: str(getattr(selection, name)) for name in own_options(type(selection))},
    }


def key_of(result: Result) -> tuple[str, ...]:
    """Results with equal keys may share a table."""
    return (result.cell, *(f"{name}={value}" for name, value in conditions(result).items()))


def check_comparable(a: Result, b: Result) -> list[str]:
    """Refuse results that measure different things; remark on differences that may be the subject of study."""
    options = own_options(type(a.selection))
    first, second = conditions(a), conditions(b)
    remarks = []
    for name in dict.fromkeys([*first, *second]):
        if first.get(name, "") == second.get(name, ""):
            continue
        what = f"{a.cell}: the runs differ in {name} ({first.get(name) or 'none'} and {second.get(name) or 'none'})"
        option = options.get(name.removesuffix(_SIGNED))
        if option is None or not option.may_differ:
            mend = f"; {option.mend}" if option and option.mend else ""
            raise UserError(f"{what}, so their numbers cannot be compared{mend}")
        if not name.endswith(_SIGNED):
            remarks.append(what)
    if len(a.judgements) != len(b.judgements) or any(
        x.item_id != y.item_id for x, y in zip(a.judgements, b.judgements, strict=True)
    ):
        raise UserError(f"{a.cell}: the runs have different items; run both on the same data")
    return remarks


def condition_labels(results: Sequence[Result]) -> dict[tuple[str, ...], str]:
    """Key -> what distinguishes it from others of its benchmark ("context joined"); empty if nothing.

    Directions measured alike share a label, and may share a table.
    """
    by_benchmark: dict[str, dict[tuple[str, ...], Result]] = {}
    labels: dict[tuple[str, ...], str] = {}
    for result in results:
        by_benchmark.setdefault(result.selection.benchmark, {})[key_of(result)] = result
        labels[key_of(result)] = ""  # in the order of the results
    for found in by_benchmark.values():
        labels |= _labels(found)
    return labels


def _labels(found: Mapping[tuple[str, ...], Result]) -> dict[tuple[str, ...], str]:
    """The shortest labels that are unique within a cell, for the results of one benchmark."""
    measured = {key: conditions(result) for key, result in found.items()}
    # Use resolved option values, if the benchmark has them.
    asked = {
        key: {**_asked(result), **{name: measured[key].get(name, "") for name in own_options(type(result.selection))}}
        for key, result in found.items()
    }
    facts: dict[str, dict[tuple[str, ...], str]] = {}
    for name in dict.fromkeys(chain.from_iterable(measured.values())):
        wishes = {key: asked[key].get(name, "") for key in found}
        values = {key: measured[key].get(name, "") for key in found}
        # Data and tools of another direction differ even under equal options.
        differing = {(key[0], value) for key, value in values.items()}
        if len(differing) > len({key[0] for key in found}) or len(set(wishes.values())) > 1:
            is_enough = len({(key[0], value) for key, value in wishes.items()}) == len(differing)
            facts[name] = wishes if is_enough else values
    chosen = [name for name in facts if not name.endswith(_SIGNED)]
    for names in (chosen, list(facts)):
        labels = {
            key: ", ".join(f"{name.replace('_', ' ')} {facts[name][key] or 'none'}" for name in names) for key in found
        }
        if len({(key[0], label) for key, label in labels.items()}) == len(found):
            break
    return labels


def described(result: Result, apart: str) -> str:
    """Data and rules in words, and what else distinguishes a result, such as "context joined"."""
    selection = result.selection
    said = (f"data {selection.data}", f"rules {selection.rules}")
    more = [part for part in apart.split(", ") if part and part not in said]
    return ", ".join([f"{selection.data} data", selection.rules_in_words, *more])


# -- two runs ----------------------------------------------------------------------------------------------------------

RESAMPLING = Resampling(10_000)
"""Default of every comparison."""
FAMILY = "Holm's correction over the headline metrics of the two runs"
LESS_RIGHT = 0.05
"""The p-value below which a system has lower accuracy."""
SMALLER = "smaller gap, but lower accuracy"
_EFFECTS = ("delta", "delta_s", "delta_s_f1", "delta_fc", "delta_mc", "log_odds", "f_s")
"""Stereotype effects, which are not gaps between women and men."""
ABSENT = "not compared"
CHANGES = ("worse", "better", SMALLER, "changed", "unclear", ABSENT)
"""The change of the second run, in report order."""
IN_WORDS = {
    "worse": "significantly worse",
    "better": "significantly better",
    "changed": "significantly different",
    "unclear": "not significant",
}


@dataclass(frozen=True)
class Comparison:
    """One metric of two systems; `difference` is second minus first."""

    cell: str
    metric: str
    slice: str
    first: float | None
    second: float | None
    better: str
    n_groups: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    """Two-sided, of "no difference"; below 0.05 exactly if the 95% interval excludes 0."""
    p_adjusted: float | None = None
    """Holm-corrected within its family."""
    p_size: float | None = None
    """For a gap: two-sided, of "as far from 0 as before"; equals `p_value` unless the gap changed sign."""
    was_clear: bool | None = None
    """For a gap that changed sign: whether the first is significant; `is_clear`: whether the second is."""
    is_clear: bool | None = None
    detectable: float | None = None
    """The smallest true difference detected with 80% power, at the corrected level."""
    is_right_less_often: bool = False
    """Whether the second system has significantly lower accuracy: a gap may be small because little is correct."""
    unit: Unit = Unit.PERCENT
    is_headline: bool = True
    spread: DifferenceSpread | ResampledSpread | None = field(default=None, compare=False, repr=False)
    """Uncertainty of the difference; not in JSON."""
    size_ends: tuple[float, float] | None = field(default=None, compare=False, repr=False)
    """For a gap that changed sign: the interval of its increase in size; not in JSON."""

    def to_json(self) -> dict[str, Any]:
        keys = [key for key in self.__dataclass_fields__ if key not in ("spread", "size_ends")]
        return {**{key: getattr(self, key) for key in keys}, "change": self.change()}

    @property
    def key(self) -> tuple[str, str, str]:
        return self.cell, self.metric, self.slice

    @property
    def interval(self) -> str:
        return "–" if self.low is None else f"[{self.unit.show(self.low)}, {self.unit.show(self.high)}]"

    @property
    def worse_by(self) -> float:
        """Minimum loss of the second: the near end of the interval; negative if it may be better."""
        if self.first is None or self.second is None or self.low is None or self.high is None:
            return 0.0
        if self.better == "zero":
            if self.first * self.second < 0:
                return self.size_ends[0] if self.size_ends else 0.0
            return self.low if self.first + self.second >= 0 else -self.high
        return self.low if self.better == "lower" else -self.high

    def change(self, alpha: float = ALPHA) -> str:
        """One of `CHANGES`: `better` and `worse` only if both corrected test and interval agree.

        A smaller gap with lower accuracy is no improvement.
        """
        if self.first is None or self.second is None or self.difference is None:
            return ABSENT
        spans_zero = self.low is None or self.high is None or self.low <= 0 <= self.high
        if spans_zero or self.p_adjusted is None or self.p_adjusted >= alpha:
            return "unclear"
        if self.better == "neither":
            return "changed"
        if self.better == "zero":
            # From +2 to -2 is neither better nor worse; from no gap to a gap is.
            has_appeared_or_gone = self.was_clear is not None and self.was_clear != self.is_clear
            if (self.p_size is None or self.p_size >= alpha) and not has_appeared_or_gone:
                return "changed"
            if abs(self.second) >= abs(self.first):
                return "worse"
            return SMALLER if self.is_right_less_often else "better"
        return "better" if (self.difference > 0) == (self.better == "higher") else "worse"

    @property
    def is_significant(self) -> bool:
        return self.change() not in ("unclear", ABSENT)

    def in_words(self, alpha: float = ALPHA) -> str:
        change = self.change(alpha)
        if change == SMALLER and self.metric in _EFFECTS:
            return SMALLER.replace("gap", "effect")
        if change == "unclear" and self.low is not None and self.high is not None and not self.low <= 0 <= self.high:
            return "not significant after correction"
        return IN_WORDS.get(change, change)


@dataclass(frozen=True, repr=False)
class ComparisonReport:
    """All comparisons of two runs, and for each cell a test of the number of correct items."""

    first: str
    second: str
    comparisons: tuple[Comparison, ...]
    tests: tuple[Test, ...]
    notes: tuple[str, ...] = ()
    """Differences between the runs other than their systems."""
    refusals: tuple[str, ...] = ()
    """Why some cells could not be compared."""
    n_questions: int = 0
    """Size of the largest correction family with resampled p-values."""
    names: tuple[str, str] = ("", "")

    def to_json(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "second": self.second,
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
            "tests": [test.to_json() for test in self.tests],
            "notes": list(self.notes),
            "first_name": self.names[0],
            "second_name": self.names[1],
        }

    def to_pandas(self) -> pandas.DataFrame:
        """The comparisons as a data frame, one row each."""
        return frame(one.to_json() for one in self.comparisons)

    @property
    def _table(self) -> Table:
        rows = [
            (
                *(c.cell, c.metric, c.slice, c.unit.show(c.first), c.unit.show(c.second), c.unit.show(c.difference)),
                *(c.interval, "–" if c.p_adjusted is None else show_p(c.p_adjusted), c.in_words()),
            )
            for c in self.comparisons
        ]
        names = [own or spec for own, spec in zip(self.names, (self.first, self.second), strict=True)]
        columns = ("benchmark", "metric", "slice", *names, "difference", "95% CI", "p, corrected", "verdict")
        return Table("comparisons", f"{names[1]} compared with {names[0]}", columns, rows)

    def __repr__(self) -> str:
        return repr(self._table)

    def _repr_html_(self) -> str:
        return self._table._repr_html_()


@dataclass(frozen=True)
class Asked:
    """The requested metrics: headline, named, or all."""

    names: Collection[str] = ()
    everything: bool = False

    def wants(self, benchmark: Benchmark, metric: Metric) -> bool:
        if self.names:
            return not metric_names(benchmark.name, metric.name, metric.slice).isdisjoint(self.names)
        return self.everything or benchmark.is_headline(metric)

    def check(self, results: Sequence[Result]) -> None:
        known: dict[str, set[str]] = {}
        for result in results if self.names else []:
            for metric in metrics_of(result):
                spellings = metric_names(result.selection.benchmark, metric.name, metric.slice)
                known.setdefault(f"{metric.name}:{metric.slice}", set()).update(spellings)
        for name in self.names:
            if not any(name in spellings for spellings in known.values()):
                raise UserError(f"the runs have no metric {name!r} in common; available: {', '.join(sorted(known))}")


HEADLINE = Asked()


def compare(
    first: Sequence[Result],
    second: Sequence[Result],
    resampling: Resampling = RESAMPLING,
    asked: Asked = HEADLINE,
    *,
    leave_out: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> ComparisonReport:
    """Compare two runs cell by cell, paired on their items.

    Incomparable cells are an error; or, with `leave_out`, listed in the refusals. `progress` is called after every cell
    with the number done and the total.
    """
    pairs, notes, refusals = _matched(first, second, leave_out)
    asked.check([a for a, _ in pairs])
    found: list[Comparison] = []
    tests = []
    for n_done, (a, b) in enumerate(pairs):
        progress(n_done, len(pairs))
        items_right = _items_right(a, b, resampling)
        if any(judgement.expected for judgement in a.judgements):  # otherwise nothing is correct or wrong
            tests.append(items_right)
        try:
            benchmark, metrics = benchmark_of(a), metrics_of(a)
            # All headline metrics; and, if any other was requested, all others too, as one family.
            if not any(asked.wants(benchmark, m) and not benchmark.is_headline(m) for m in metrics):
                metrics = [m for m in metrics if benchmark.is_headline(m)]
            sides = [benchmark.measures.count(result.judgements, result.selection, metrics) for result in (a, b)]
            pairing = Pairing(sides[0], sides[1], resampling)
            own = [compare_metric(a.cell, m, pairing, resampling, benchmark.is_headline(m)) for m in metrics]
        except KeyError as tag:
            raise UserError(f"{a.cell}: the judgements of a run lack the tag {tag}; run it again") from None
        lost, won = items_right.details["only_first_right"], items_right.details["only_second_right"]
        is_right_less_often = lost > won and items_right.p_value is not None and items_right.p_value < LESS_RIGHT
        found += [replace(c, is_right_less_often=is_right_less_often) for c in own]
    # The headline metrics, and all others, are each corrected as one family.
    for is_headline in (True, False):
        places = [place for place, c in enumerate(found) if c.is_headline is is_headline]
        adjusted = statistics.holm([found[place].p_value for place in places])
        # The smallest p-value of the family must pass this level.
        level = (1 - resampling.confidence) / max(sum(p is not None for p in adjusted), 1)
        for place, p in zip(places, adjusted, strict=True):
            spread = found[place].spread
            detectable = intervals.detectable_difference(spread, 1 - level) if spread else None
            found[place] = replace(found[place], p_adjusted=p, detectable=detectable)
    families = Counter(c.is_headline for c in found if c.p_value is not None)
    wanted = {(a.cell, *m.key) for a, _ in pairs for m in metrics_of(a) if asked.wants(benchmark_of(a), m)}
    comparisons = [c for c in found if c.key in wanted]
    # Resampling limits how small these can be.
    resampled = [families[c.is_headline] for c in comparisons if isinstance(c.spread, ResampledSpread)]
    (system, name), (other, other_name) = (
        (results[0].system, results[0].called) if results else ("", "") for results in (first, second)
    )
    return ComparisonReport(
        system,
        other,
        tuple(comparisons),
        tuple(tests),
        tuple(notes),
        tuple(refusals),
        max(resampled, default=0),
        (name, other_name),
    )


def too_coarse(n_questions: int, resampling: Resampling) -> list[str]:
    """Warn if the smallest resampled p-value cannot be significant after Holm."""
    if 2 * n_questions / (resampling.n_resamples + 1) < ALPHA:
        return []
    enough = int(2 * n_questions / ALPHA) + 1
    return [
        f"{n_questions:,} tests are corrected together, too many for p-values of {resampling.n_resamples:,} resamples "
        f"to be significant; give --resamples {enough}"
    ]


def benchmark_of(result: Result) -> Benchmark:
    found: Benchmark = registry.load("benchmark", result.selection.benchmark)
    return found


def metrics_of(result: Result) -> list[Metric]:
    return list(benchmark_of(result).measures.metrics(result.judgements, result.selection))


def metric_names(benchmark: str, metric: str, part: str) -> set[str]:
    """Names of a metric: `metric` (all items), `metric:slice`, or either after `benchmark.`."""
    short = {f"{metric}:{part}"} | ({metric} if part == "all" else set())
    return short | {f"{benchmark}.{name}" for name in short}


def _matched(
    first: Sequence[Result], second: Sequence[Result], leave_out: bool
) -> tuple[list[tuple[Result, Result]], list[str], list[str]]:
    """Results of the same cells, remarks about them, and why others are left out."""
    by_cell = {result.cell: result for result in second}
    found = [(result, by_cell[result.cell]) for result in first if result.cell in by_cell]
    if not found and not leave_out:
        cells = [", ".join(result.cell for result in results) or "nothing" for results in (first, second)]
        raise UserError(f"the two runs have nothing in common: the first holds {cells[0]}, the second {cells[1]}")
    pairs, notes, refusals = [], [], []
    for a, b in found:
        try:
            notes += check_comparable(a, b)
            pairs.append((a, b))
        except UserError as problem:
            if not leave_out:
                raise
            refusals.append(str(problem))
    return pairs, notes, refusals


def compare_metric(
    cell: str, metric: Metric, pairing: Pairing, resampling: Resampling, is_headline: bool = True
) -> Comparison:
    first, second = (None if np.isnan(value) else value for value in pairing.values(metric))
    found = Comparison(
        cell=cell,
        metric=metric.name,
        slice=metric.slice,
        first=first,
        second=second,
        better=metric.better,
        n_groups=pairing.n_groups,
        unit=metric.about.unit,
        is_headline=is_headline,
    )
    if first is None or second is None:
        return found
    spread = pairing.difference(metric)
    ends = intervals.interval_at(spread, resampling.confidence)
    if metric.better == "zero" and first * second < 0:
        was_clear, is_clear = (p is not None and p < ALPHA for p in pairing.own_p_values(metric, 0.0))
        found = replace(found, was_clear=was_clear, is_clear=is_clear)
    size = pairing.change_of_size(metric) if metric.better == "zero" else None
    return replace(
        found,
        difference=second - first,
        low=ends[0] if ends else None,
        high=ends[1] if ends else None,
        p_value=intervals.p_value_of(spread, 0.0),
        p_size=intervals.p_value_of(size, 0.0) if size is not None else None,
        spread=spread,
        size_ends=intervals.interval_at(size, resampling.confidence) if size is not None else None,
    )


def _items_right(a: Result, b: Result, resampling: Resampling) -> Test:
    """Test whether one system gets more items correct, permuting whole groups, since their items are correlated.

    (McNemar's test assumes independent items, and finds spurious differences.)
    """
    won: Counter[str] = Counter()
    only = [0, 0]
    for x, y in zip(a.judgements, b.judgements, strict=True):
        won[x.group_id] += y.is_correct - x.is_correct
        only[0] += x.is_correct and not y.is_correct
        only[1] += y.is_correct and not x.is_correct
    differences = np.array(list(won.values()), dtype=np.float64)
    return Test(
        f"items-right {a.cell}",
        "Do the systems get different numbers of items right? (groups of items exchanged between them)",
        None,
        statistics.sign_flip_test(differences, max(resampling.n_resamples, 1000), resampling.seed),
        {"only_first_right": only[0], "only_second_right": only[1], "n": len(a.judgements)},
    )


# -- more than two runs: every pair, or the versions of one system in their order --------------------------------------

Pair = tuple[int, int]
"""Indices of two runs, the earlier first."""
Key = tuple[str, str, str]
"""Cell, metric and slice."""


@dataclass(frozen=True)
class ComparedMetric:
    """One metric of one cell: its value in every run, and the requested differences."""

    values: tuple[Estimate, ...]
    differences: Mapping[Pair, Comparison]

    @property
    def any(self) -> Comparison:
        return next(iter(self.differences.values()))

    def trend(self, runs: Sequence[str]) -> str:
        last = len(runs) - 1
        whole = self.differences[0, last]
        name = whole.metric if whole.slice == "all" else f"{whole.metric}:{whole.slice}"
        show = whole.unit.show
        start = f"{whole.cell} {name}: {show(whole.first)} in {runs[0]}, {show(whole.second)} in {runs[last]}"
        if whole.low is None or whole.high is None or whole.p_adjusted is None:
            return f"{start}; too little was judged to tell whether it has changed."
        difference = f"{whole.unit.show_change(whole.low)} and {whole.unit.show_change(whole.high)}"
        facts = f"p {show_p(whole.p_adjusted)} after Holm; the difference lies between {difference}"
        found = f"{start}: {whole.in_words()} ({facts})."
        if last == 1:
            return found
        steps = [
            f"{runs[n + 1]} is {'changed from' if c.change() == 'changed' else f'{c.change()} than'} {runs[n]}"
            for n in range(last)
            if (c := self.differences[n, n + 1]).is_significant
        ]
        return f"{found} Significant single steps: {'; '.join(steps) or 'none'}."


@dataclass(frozen=True)
class ManyCompared:
    """Several runs side by side; p-values are corrected within each pair of runs, as if compared alone."""

    runs: tuple[str, ...]
    systems: tuple[str, ...]
    metrics: tuple[ComparedMetric, ...]
    is_trend: bool
    notes: tuple[str, ...]
    called: tuple[str, ...] = ()
    """Unique system names; `runs` are the folder names."""

    @property
    def from_first(self) -> list[Pair]:
        return [(0, n) for n in range(1, len(self.runs))]

    def to_json(self) -> dict[str, Any]:
        facts = zip(self.runs, self.systems, self.called, strict=True)
        runs = [{"name": name, "system": system, "called": called} for name, system, called in facts]
        numbers = ("difference", "low", "high", "p_value", "p_adjusted", "detectable", "n_groups")

        def rows(m: ComparedMetric, pairs: Iterable[Pair]) -> list[dict[str, Any]]:
            each = [(self.runs[first], self.runs[second], m.differences[first, second]) for first, second in pairs]
            return [
                {"first": a, "second": b, **{key: getattr(c, key) for key in numbers}, "change": c.change()}
                for a, b, c in each
            ]

        found = []
        for m in self.metrics:
            about = {key: getattr(m.any, key) for key in ("cell", "metric", "slice", "better")}
            each = zip(self.runs, m.values, strict=True)
            values = [{"run": run, "value": e.value, "low": e.low, "high": e.high} for run, e in each]
            row: dict[str, Any] = {**about, "values": values}
            if self.is_trend:
                row["steps"] = rows(m, pairwise(range(len(self.runs))))
                row |= {"from_first": rows(m, self.from_first), "sentence": m.trend(self.called)}
            else:
                row["differences"] = rows(m, m.differences)
            found.append(row)
        return {"runs": runs, "trend" if self.is_trend else "matrix": found, "notes": list(self.notes)}


def compare_many(
    runs: Mapping[str, Sequence[Result]],
    resampling: Resampling = RESAMPLING,
    asked: Asked = HEADLINE,
    *,
    trend: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> ManyCompared:
    """Compare every pair of runs; for a trend, each version with the previous and the first one.

    `progress` is called after every pair with the number done and the total.
    """
    names = tuple(runs)
    shared, notes = _shared_cells(runs)
    pairs = list(combinations(range(len(names)), 2))
    if trend:
        pairs = [(i, j) for i, j in pairs if j == i + 1] + [(i, j) for i, j in pairs if i == 0 and j > 1]
    found: dict[Pair, dict[Key, Comparison]] = {}
    n_questions = 0
    for n_done, (i, j) in enumerate(pairs):
        progress(n_done, len(pairs))
        try:
            report = compare(shared[i], shared[j], resampling, asked)
        except UserError as problem:
            raise UserError(f"{names[i]} and {names[j]}: {problem}") from None
        found[i, j] = {c.key: c for c in report.comparisons}
        notes += [f"{names[i]} and {names[j]}: {note}" for note in report.notes]
        n_questions = max(n_questions, report.n_questions)
    values = [_values(results, resampling.confidence, asked) for results in shared]
    # Use only metrics available in every run: a slice without judgements may be missing.
    known: list[set[Key]] = [set(table) for table in found.values()] + [set(table) for table in values]
    compared = tuple(
        ComparedMetric(tuple(value[key] for value in values), {pair: found[pair][key] for pair in pairs})
        for key in found[pairs[0]]
        if all(key in table for table in known)
    )
    systems = tuple(results[0].system for results in shared)
    called = tuple(told_apart([results[0].called for results in shared], names))
    return ManyCompared(names, systems, compared, trend, (*notes, *too_coarse(n_questions, resampling)), called)


def _shared_cells(runs: Mapping[str, Sequence[Result]]) -> tuple[list[list[Result]], list[str]]:
    cells = [{result.cell: result for result in results} for results in runs.values()]
    shared = [cell for cell in cells[0] if all(cell in other for other in cells)]
    if not shared:
        held = "; ".join(f"{name} holds {', '.join(c) or 'nothing'}" for name, c in zip(runs, cells, strict=True))
        raise UserError(f"the runs have no benchmark and direction in common: {held}")
    others = sorted({cell for held in cells for cell in held} - set(shared))
    notes = [f"not in every run, and left out: {', '.join(others)}"] if others else []
    return [[held[cell] for cell in shared] for held in cells], notes


def _values(results: Sequence[Result], confidence: float, asked: Asked) -> dict[Key, Estimate]:
    found: dict[Key, Estimate] = {}
    for result in results:
        benchmark = benchmark_of(result)
        metrics = [m for m in metrics_of(result) if asked.wants(benchmark, m)]
        used = Resampling(confidence=confidence)
        estimates = {(e.metric, e.slice): e for e in result.estimates}
        if result.signed.get("intervals", "") != used.signature:
            counts = benchmark.measures.count(result.judgements, result.selection)
            estimates |= {(e.metric, e.slice): e for e in intervals.estimate(counts, metrics, used)}
        found |= {(result.cell, *m.key): estimates[m.key] for m in metrics if m.key in estimates}
    return found
