"""How many sentences about women and about men were not translated.

A system that refuses to speak of women would otherwise only seem to get their gender wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gendermark.io.disk_list import cached
from gendermark.metrics.describe import Description
from gendermark.metrics.intervals import estimate
from gendermark.metrics.metric import Resampling, count_singly
from gendermark.metrics.rates import difference, rate
from gendermark.records import Estimate, Gender, Judgement, Verdict

_BOTH = (Gender.FEMININE, Gender.MASCULINE)
_FEWEST = 5
_ALPHA = 0.01
"""Stricter than elsewhere: this is one more question about every result."""
_WOMEN, _MEN = (
    rate(
        Description("lost", "not translated", "Not translated."),
        gender.value,
        f"{gender}.lost",
        f"{gender}.total",
        judged=f"{gender}.total",
    )
    for gender in _BOTH
)
_GAP = Description("lost_gap", "men minus women, not translated", "Not translated, men minus women.", better="zero")


class Untranslated(NamedTuple):
    """Shares of women and of men that were not translated, and the difference."""

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
    """Compare how often women and men were not translated; None where either is missing."""
    counts = count_singly((j for j in judgements if j.expected in _BOTH), _columns)
    if not {f"{gender}.total" for gender in _BOTH} <= set(counts.columns):
        return None
    women, men, gap = estimate(counts, [_WOMEN, _MEN, difference(_GAP, _MEN, _WOMEN, "all")], Resampling())
    n_lost = sum(float(column.sum()) for column in counts.take(counts.matrix, [f"{gender}.lost" for gender in _BOTH]))
    is_clear = n_lost >= _FEWEST and gap.p_value is not None and gap.p_value < _ALPHA
    return Untranslated(women, men, gap, is_clear)


def _columns(judgement: Judgement) -> Iterator[str]:
    yield f"{judgement.expected}.total"
    if judgement.verdict is Verdict.NOT_TRANSLATED:
        yield f"{judgement.expected}.lost"
