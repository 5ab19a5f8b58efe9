"""Whether one result shows a bias: its own questions, corrected for each other only.

A verdict is a property of one result (system, benchmark, direction) and independent of the rest of a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from gendermark.io.disk_list import cached
from gendermark.metrics import metric as counting
from gendermark.metrics import statistics
from gendermark.metrics.intervals import estimate
from gendermark.metrics.metric import Bounded, Combined, Counts, Description, Metric, Resampling
from gendermark.records import Estimate, Gender, Judgement, Test, Verdict

ALPHA = 0.05
"""Corrected p-values below this are significant."""
LEAST_GROUPS = 10
"""Minimum groups of women, and of men, for a conclusion."""
LEAST_GROUPS_NEAR_A_BOUND = 19
_NEAR_A_BOUND = 0.95
"""Rates this close to a bound, on few groups, have intervals too wide to compare (docs/statistics.md)."""


class State(StrEnum):
    SIGNIFICANT = "significant"
    NOT_SIGNIFICANT = "not_significant"
    TOO_FEW = "too_few"


@dataclass(frozen=True)
class BiasVerdict:
    """The answer to one question of a result, Holm-corrected over the questions of that result."""

    metric: str
    slice: str
    state: State
    p: float | None
    p_adjusted: float | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def verdicts(
    questions: Sequence[str],
    counts: Counts,
    metrics: Sequence[Metric],
    estimates: Sequence[Estimate],
    tests: Sequence[Test],
) -> tuple[BiasVerdict, ...]:
    """Answer the questions of a benchmark: `metric`, `metric:slice`, or the name of a test."""
    by_key = {metric.key: metric for metric in metrics}
    p_of = {(e.metric, e.slice): e.p_value for e in estimates}
    n_of = {(e.metric, e.slice): e.n_judged for e in estimates}
    p_of |= {(test.name, "all"): test.p_value for test in tests}
    asked = [key for key in map(counting.key_from, questions) if key in p_of]
    few = {k for k, m in by_key.items() if k in asked and (n_of[k] < m.about.fewest or has_too_few(m, counts))}
    enough = [p_of[key] is not None and key not in few for key in asked]
    adjusted = statistics.holm([p_of[key] if is_enough else None for key, is_enough in zip(asked, enough, strict=True)])
    found = []
    for key, is_enough, p in zip(asked, enough, adjusted, strict=True):
        if not is_enough or p is None:
            state = State.TOO_FEW
        else:
            state = State.SIGNIFICANT if p < ALPHA else State.NOT_SIGNIFICANT
        found.append(BiasVerdict(*key, state, p_of[key], p))
    return tuple(found)


def has_too_few(metric: Metric, counts: Counts) -> bool:
    """Whether a metric has too few groups, on either side of a gap, for a conclusion."""
    terms = [term for _, term in metric.rule.terms] if isinstance(metric.rule, Combined) else [metric]
    n_groups = min(int((np.sum(counts.take(counts.matrix, term.weight), axis=0) > 0).sum()) for term in terms)
    if n_groups < LEAST_GROUPS:
        return True
    shares = [_share(term, counts) for term in terms]
    is_near = len(terms) > 1 and (min(shares) >= _NEAR_A_BOUND or max(shares) <= 1 - _NEAR_A_BOUND)
    return is_near and n_groups < LEAST_GROUPS_NEAR_A_BOUND


def _share(term: Metric, counts: Counts) -> float:
    """Position of a term between its bounds, from 0 to 1; 0.5 without bounds."""
    if not isinstance(term.rule, Bounded):
        return 0.5
    value = float(counting.evaluate(term, counts, counts.totals)[0])
    return (value - term.rule.lowest) / (term.rule.highest - term.rule.lowest)


_BOTH = (Gender.FEMININE, Gender.MASCULINE)
_FEWEST = 5
_ALPHA = 0.01
"""Stricter than elsewhere: this is one more question about every result."""
_LOST = Description("lost", "not translated", "Not translated.")
_WOMEN, _MEN = (counting.rate(_LOST, g.value, f"{g}.lost", f"{g}.total", judged=f"{g}.total") for g in _BOTH)
_GAP = Description("lost_gap", "men minus women, not translated", "Not translated, men minus women.", better="zero")


class Untranslated(NamedTuple):
    """Shares of women and men that were not translated, and the difference."""

    women: Estimate
    men: Estimate
    gap: Estimate
    is_clear: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "women": self.women.to_json(),
            "men": self.men.to_json(),
            "men_minus_women": self.gap.to_json(),
            "is_clear": self.is_clear,
        }


@cached
def untranslated_by_gender(judgements: Sequence[Judgement]) -> Untranslated | None:
    """Compare how often women and men were not translated; None if either is missing."""
    counts = counting.count_singly((j for j in judgements if j.expected in _BOTH), _columns)
    if not {f"{gender}.total" for gender in _BOTH} <= set(counts.columns):
        return None
    women, men, gap = estimate(counts, [_WOMEN, _MEN, counting.difference(_GAP, _MEN, _WOMEN, "all")], Resampling())
    n_lost = sum(float(column.sum()) for column in counts.take(counts.matrix, [f"{gender}.lost" for gender in _BOTH]))
    is_clear = n_lost >= _FEWEST and gap.p_value is not None and gap.p_value < _ALPHA
    return Untranslated(women, men, gap, is_clear)


def _columns(judgement: Judgement) -> Iterator[str]:
    yield f"{judgement.expected}.total"
    if judgement.verdict is Verdict.NOT_TRANSLATED:
        yield f"{judgement.expected}.lost"
