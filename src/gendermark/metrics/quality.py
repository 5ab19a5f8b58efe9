"""BLEU and chrF as sums over segments, so that their gaps can be resampled like any other metric.

The statistics of a segment are sacreBLEU's own; the score of their sums is computed here, for many resamples at once,
and equals sacreBLEU's (tested).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from gendermark.metrics.metric import Floats, Metric

BLEU_COLUMNS = ("sys_len", "ref_len", *(f"correct{n}" for n in range(1, 5)), *(f"total{n}" for n in range(1, 5)))
CHRF_ORDERS = 6
CHRF_COLUMNS = tuple(f"{kind}{n}" for n in range(1, CHRF_ORDERS + 1) for kind in ("hyp", "ref", "match"))


@cache
def _scorer(name: str) -> Any:
    return getattr(import_module("sacrebleu.metrics"), name)()


def signature() -> str:
    """sacreBLEU's version and settings."""
    sacrebleu = import_module("sacrebleu")
    return f"sacrebleu-{sacrebleu.__version__},bleu-13a-exp,chrf-6-2"


def bleu_statistics(hypotheses: Sequence[str], references: Sequence[str]) -> list[dict[str, float]]:
    """Per segment: lengths, and matched and possible n-grams."""
    rows = _scorer("BLEU")._extract_corpus_statistics(hypotheses, [references])
    return [dict(zip(BLEU_COLUMNS, map(float, row), strict=True)) for row in rows]


def chrf_statistics(hypotheses: Sequence[str], references: Sequence[str]) -> list[dict[str, float]]:
    """Per segment: n-grams of hypothesis and reference, and their matches, for each order."""
    rows = _scorer("CHRF")._extract_corpus_statistics(hypotheses, [references])
    return [dict(zip(CHRF_COLUMNS, map(float, row), strict=True)) for row in rows]


def bleu_value(*columns: Floats) -> Floats:
    """Corpus BLEU from summed statistics, with sacreBLEU's exponential smoothing; NaN without any hypothesis words."""
    sys_len, ref_len = columns[:2]
    log_sum = np.zeros_like(sys_len, dtype=np.float64)
    smooth = np.ones_like(log_sum)
    with np.errstate(divide="ignore", invalid="ignore"):
        for correct, total in zip(columns[2:6], columns[6:10], strict=True):
            unmatched = (correct == 0) & (total > 0)
            smooth = np.where(unmatched, smooth * 2, smooth)
            precision = np.where(unmatched, 100.0 / (smooth * total), 100.0 * correct / total)
            log_sum = log_sum + np.log(np.where(total > 0, precision, np.nan))
        penalty = np.where(sys_len < ref_len, np.exp(1 - ref_len / sys_len), 1.0)
        score = penalty * np.exp(log_sum / 4)
    # Without a single matched word sacreBLEU says 0, whatever smoothing would make of it.
    score = np.where(columns[2] == 0, 0.0, score)
    return np.where(ref_len > 0, np.where(sys_len > 0, np.nan_to_num(score), 0.0), np.nan)


def chrf_value(*columns: Floats) -> Floats:
    """Corpus chrF2 from summed statistics."""
    beta_squared = 4.0
    precision_sum = recall_sum = order_count = np.zeros_like(columns[0], dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        for n in range(CHRF_ORDERS):
            hyp, ref, match = columns[3 * n : 3 * n + 3]
            defined = (hyp > 0) & (ref > 0)
            precision_sum = precision_sum + np.where(defined, match / hyp, 0.0)
            recall_sum = recall_sum + np.where(defined, match / ref, 0.0)
            order_count = order_count + defined
        precision, recall = precision_sum / order_count, recall_sum / order_count
        score = 100 * (1 + beta_squared) * precision * recall / (beta_squared * precision + recall)
    return np.where(columns[1] > 0, np.nan_to_num(score), np.nan)


_VALUES = {
    "bleu": (BLEU_COLUMNS, bleu_value),
    "chrf": (CHRF_COLUMNS, chrf_value),
    "control": (BLEU_COLUMNS, bleu_value),
}


def quality(score: str, part: str) -> Metric:
    """BLEU or chrF of one part (`bleu_masculine`)."""
    columns, value = _VALUES[score]
    needs = tuple(f"{part}.{score}.{column}" for column in columns)
    return Metric(f"{score}_{part}", "all", needs, value, f"{part}.total", f"{part}.translated", better="higher")


def quality_gap(name: str, score: str, first: str, second: str) -> Metric:
    """The score of one part minus that of another."""
    parts = quality(score, first), quality(score, second)
    n = len(parts[0].needs)

    def value(*columns: Floats) -> Floats:
        gap = parts[0].value(*columns[:n]) - parts[1].value(*columns[n:])
        # The first column counts what the system wrote: where it wrote nothing there is no gap to speak of.
        return np.where((columns[0] > 0) & (columns[n] > 0), gap, np.nan)

    return Metric(name, "all", (*parts[0].needs, *parts[1].needs), value, "all.total", "all.translated", better="zero")
