"""Whether one result shows a bias: its own questions, corrected for each other and for nothing else.

A verdict is a property of one result (system, benchmark, direction). It never depends on what else stands on a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from gendermark.metrics import statistics
from gendermark.metrics.metric import Bounded, Combined, Counts, Metric, evaluate, total_sums
from gendermark.records import Estimate, Test

ALPHA = 0.05
LEAST_GROUPS = 10
"""Groups of women, and of men, below which nothing is concluded."""
LEAST_GROUPS_NEAR_A_BOUND = 19
_NEAR_A_BOUND = 0.95
"""Two rates this close to their bound, on few groups, have intervals far too wide to compare (docs/statistics.md)."""


class State(StrEnum):
    """What is concluded about one question."""

    SIGNIFICANT = "significant"
    NOT_SIGNIFICANT = "not_significant"
    TOO_FEW = "too_few"


@dataclass(frozen=True)
class BiasVerdict:
    """The answer to one question of a result, after Holm's correction over the questions of that result."""

    metric: str
    slice: str
    state: State
    p: float | None
    p_adjusted: float | None

    def to_json(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "slice": self.slice,
            "state": self.state,
            "p": self.p,
            "p_adjusted": self.p_adjusted,
        }


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
    p_of |= {(test.name, "all"): test.p_value for test in tests}
    keys = [(name.partition(":")[0], name.partition(":")[2] or "all") for name in questions]
    asked = [key for key in keys if key in p_of]
    enough = [p_of[key] is not None and not (key in by_key and has_too_few(by_key[key], counts)) for key in asked]
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
    """Whether a metric has too few groups, on either side of a gap, to conclude anything from it."""
    terms = [term for _, term in metric.rule.terms] if isinstance(metric.rule, Combined) else [metric]
    n_groups = min(int((np.sum(counts.take(counts.matrix, term.weight), axis=0) > 0).sum()) for term in terms)
    if n_groups < LEAST_GROUPS:
        return True
    shares = [_share(term, counts) for term in terms]
    is_near = len(terms) > 1 and (min(shares) >= _NEAR_A_BOUND or max(shares) <= 1 - _NEAR_A_BOUND)
    return is_near and n_groups < LEAST_GROUPS_NEAR_A_BOUND


def _share(term: Metric, counts: Counts) -> float:
    """Where a term lies between its bounds, from 0 to 1; in the middle where it has none."""
    if not isinstance(term.rule, Bounded):
        return 0.5
    value = float(evaluate(term, counts, total_sums(counts))[0])
    return (value - term.rule.lowest) / (term.rule.highest - term.rule.lowest)
