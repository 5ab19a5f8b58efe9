"""Precision, recall and F0.5 of what was tried: the metrics of GATE's released script, with intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gendermark.benchmarks.gate_variants import published
from gendermark.metrics.describe import Description
from gendermark.metrics.metric import PERCENT, Floats, Metric
from gendermark.metrics.rates import rate

PRECISION = Description(
    "precision",
    "right, of those tried",
    "What is right, of what was tried: rewritten to the reference, or two genders offered and nothing else changed.",
    better="higher",
    symbol="P",
)
RECALL = Description(
    "recall", "right, of all", "What is right, of all that could be tried.", better="higher", symbol="R"
)
F_HALF = Description(
    "f_half", "F0.5", "Precision and recall in one; precision counts double (F0.5).", better="higher", symbol="F0.5"
)
ATTEMPT_RATE = Description("attempt_rate", "tried", "What was tried, of all that could be.", symbol="tried")


def _with_zero(metric: Metric, is_paper: bool) -> Metric:
    """The released script calls it 0 where there is nothing to count."""
    if not is_paper:
        return metric
    value = metric.value

    def or_zero(*columns: Floats) -> Floats:
        return np.nan_to_num(value(*columns))

    return replace(metric, value=or_zero)


def _f_half(part: str) -> Metric:
    def value(match: Floats, mismatch: Floats, total: Floats) -> Floats:
        return 100 * published.f_half(match, mismatch, total)

    needs = (f"{part}.match", f"{part}.mismatch", f"{part}.total")
    return Metric(F_HALF, part, needs, value, f"{part}.total", f"{part}.tried", PERCENT, weigh=needs[2:])


def exactness(part: str, *, is_paper: bool) -> list[Metric]:
    """P, R and F0.5 of columns `match`, `mismatch`, `tried` and `total`, and how much was tried."""
    tried, total, match = (f"{part}.{name}" for name in ("tried", "total", "match"))
    three = [
        rate(PRECISION, part, match, tried, judged=tried),
        rate(RECALL, part, match, total, judged=tried),
        _f_half(part),
    ]
    return [*(_with_zero(metric, is_paper) for metric in three), rate(ATTEMPT_RATE, part, tried, total, judged=tried)]
