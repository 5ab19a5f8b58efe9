"""Precision, recall and F0.5 of what was tried: the metrics of GATE's released script, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gendermark.benchmarks.gate_variants import published
from gendermark.metrics.describe import Description
from gendermark.metrics.metric import Floats, Metric
from gendermark.metrics.rates import rate, unseen_share

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
    value, boundary = metric.value, metric.at_boundary

    def or_zero(*columns: Floats) -> Floats:
        return np.nan_to_num(value(*columns))

    def at_boundary(sums: Sequence[float], n_groups: int, confidence: float) -> tuple[float, float]:
        with np.errstate(invalid="ignore"):
            is_nothing = bool(np.isnan(value(*(np.array([x]) for x in sums))[0]))
        if boundary is None or is_nothing:
            return 0.0, 100 * unseen_share(n_groups, confidence)  # which of nothing is everything
        return boundary(sums, n_groups, confidence)

    return replace(metric, value=or_zero, at_boundary=at_boundary)


def _f_half(part: str) -> Metric:
    def value(match: Floats, mismatch: Floats, total: Floats) -> Floats:
        return 100 * published.f_half(match, mismatch, total)

    def at_boundary(sums: Sequence[float], n_groups: int, confidence: float) -> tuple[float, float]:
        unseen = unseen_share(n_groups, confidence)
        kept = float(published.f_half(*(np.array([x]) for x in sums))[0]) * (1 - unseen)
        return 100 * kept, 100 * min(1.0, kept + unseen)

    needs = (f"{part}.match", f"{part}.mismatch", f"{part}.total")
    return Metric(F_HALF, part, needs, value, f"{part}.total", f"{part}.tried", at_boundary)


def exactness(part: str, *, is_paper: bool) -> list[Metric]:
    """P, R and F0.5 of columns `match`, `mismatch`, `tried` and `total`, and how much was tried."""
    tried, total, match = (f"{part}.{name}" for name in ("tried", "total", "match"))
    three = [
        rate(PRECISION, part, match, tried, judged=tried),
        rate(RECALL, part, match, total, judged=tried),
        _f_half(part),
    ]
    return [*(_with_zero(metric, is_paper) for metric in three), rate(ATTEMPT_RATE, part, tried, total, judged=tried)]
