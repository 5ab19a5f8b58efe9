"""Where a gap has grown: has anybody lost? Women and men by themselves, on the sentences under the gap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.io.disk_list import stored
from gendermark.metrics import statistics
from gendermark.metrics.describe import Description
from gendermark.metrics.metric import Metric, Resampling, per_judgement
from gendermark.metrics.pairing import Pairing
from gendermark.metrics.rates import rate
from gendermark.records import Gender, Judgement
from gendermark.result import Result
from gendermark.runs.compare import Comparison, compare_metric

_BOTH = {Gender.FEMININE: "women", Gender.MASCULINE: "men"}
_RIGHT = Description(
    "right", "right gender", "Right gender, of all sentences about them; not translated is not right.", better="higher"
)


@dataclass(frozen=True)
class Sides:
    """How often each gender is right, before and now; empty where nobody's gender is known."""

    compared: tuple[Comparison, ...] = ()

    def nobody_lost(self, alpha: float) -> bool:
        """Neither is clearly worse and at least one is clearly better.

        A loss counts at the level itself, a gain only after Holm's correction over the two: what excuses a gap must be
        surer than what condemns it. Where neither has clearly changed, the gap has grown on both sides, and nothing
        excuses it.
        """
        if not self.compared or any(c.difference is None or c.p_value is None for c in self.compared):
            return False
        adjusted = statistics.holm([c.p_value for c in self.compared])
        changes = [(c.difference or 0.0, c.p_value or 0.0, p) for c, p in zip(self.compared, adjusted, strict=True)]
        lost = any(difference < 0 and p < alpha for difference, p, _ in changes)
        gained = any(difference > 0 and p is not None and p < alpha for difference, _, p in changes)
        return gained and not lost

    @property
    def told(self) -> str:
        """`women 60.0 → 62.1, men 80.0 → 92.3`"""
        names = {gender.value: name for gender, name in _BOTH.items()}
        return ", ".join(f"{names[c.slice]} {c.unit.show(c.first)} → {c.unit.show(c.second)}" for c in self.compared)


def sides_of(before: Result, now: Result, metric: Metric, resampling: Resampling) -> Sides:
    """Women and men on the sentences that a gap is made of, paired as every comparison is."""
    benchmark: Benchmark = registry.load("benchmark", before.selection.benchmark)
    under = {j.item_id for j in judgements_under(before, metric)}
    sides = [stored(j for j in result.judgements if j.item_id in under) for result in (before, now)]
    if {j.expected for j in sides[0]} != set(_BOTH):
        return Sides()
    measures = replace(benchmark.measures, tally=per_judgement(_columns))
    first, second = (measures.count(side, before.selection) for side in sides)
    pairing = Pairing(first, second, resampling)
    rates = [rate(_RIGHT, g.value, f"{g}.right", f"{g}.total", judged=f"{g}.total") for g in _BOTH]
    return Sides(tuple(compare_metric(before.cell, one, pairing, resampling) for one in rates))


def judgements_under(result: Result, metric: Metric) -> Sequence[Judgement]:
    """Those about women and men that a metric counts."""
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    gendered = stored(j for j in result.judgements if j.expected in _BOTH)
    tally = benchmark.measures.tally
    # A metric that counts pairs has no single judgement in its column; it is of the whole cell.
    counted = stored(j for j in gendered if tally([j]).get(metric.total))
    return counted or (gendered if metric.slice == "all" else [])


def _columns(judgement: Judgement) -> Iterator[str]:
    yield f"{judgement.expected}.total"
    if judgement.is_correct:
        yield f"{judgement.expected}.right"
