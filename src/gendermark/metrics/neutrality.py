"""How far gender-neutral sources stay neutral: P_S of one sentence set, and TGBI over several (Cho et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gendermark.metrics.describe import Description
from gendermark.metrics.metric import Floats, Metric, Resampled
from gendermark.records import Unit

P_S = Description(
    "p_s",
    "neutral rather than one-sided (P_S)",
    "sqrt(p_w p_m + p_n) of a set of sentences: 0 is one gender only, 0.5 both evenly, 1 always neutral.",
    Unit.SHARE,
    "higher",
    "P_S",
)
TGBI = Description(
    "tgbi", "neutral rather than one-sided (TGBI)", "The mean of p_s over the sets.", Unit.SHARE, "higher", "TGBI"
)


def neutrality_index(p_w: Floats, p_m: Floats, p_n: Floats) -> Floats:
    """P_S = sqrt(p_w p_m + p_n), equation 2: 1 when all is neutral, 0 when all is of one gender.

    The shares may sum to less than one when some translations failed. The index grows with each share, so a failed
    translation can only lower it.
    """
    return np.sqrt(p_w * p_m + p_n)


def set_columns(name: str) -> tuple[str, str, str, str]:
    """The columns that count feminine, masculine, neutral and all sentences of one set."""
    return f"{name}.feminine", f"{name}.masculine", f"{name}.neutral", f"{name}.total"


def p_s(name: str) -> Metric:
    def value(w: Floats, m: Floats, n: Floats, total: Floats) -> Floats:
        return neutrality_index(w / total, m / total, n / total)

    rule = Resampled(_one_kind_only, turns=True)
    return Metric(P_S, name, set_columns(name), value, f"{name}.total", f"{name}.judged", rule)


def tgbi(names: Sequence[str]) -> Metric:
    """The unweighted mean of P_S over sentence sets; undefined unless every set has sentences."""

    def value(*columns: Floats) -> Floats:
        w, m, n, total = (np.stack(columns[kind::4]) for kind in range(4))
        return np.asarray(neutrality_index(w / total, m / total, n / total).mean(axis=0), dtype=np.float64)

    def at_rest(sums: Sequence[float], unseen: float) -> tuple[float, float]:
        bounds = [_one_kind_only(sums[i : i + 4], unseen) for i in range(0, len(sums), 4)]
        return float(np.mean([low for low, _ in bounds])), float(np.mean([high for _, high in bounds]))

    needs = tuple(column for name in names for column in set_columns(name))
    return Metric(TGBI, "all", needs, value, "all.total", "all.judged", Resampled(at_rest, turns=True))


def _one_kind_only(sums: Sequence[float], unseen: float) -> tuple[float, float]:
    """All groups alike: as far as the share of those unlike them may go, P_S may go."""
    w, m, n, total = sums
    p_w, p_m, p_n = w / total, m / total, n / total
    point = float(np.sqrt(p_w * p_m + p_n))
    kept = 1.0 - unseen
    low = float(np.sqrt(kept * kept * p_w * p_m + kept * p_n))
    high = float(np.sqrt(kept * kept * p_w * p_m + kept * p_n + unseen))
    return min(low, point), max(high, point)
