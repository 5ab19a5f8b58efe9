"""Expected against observed gender: accuracy, F1, and the gaps between genders and stereotypes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from gendermark.metrics.metric import Boundary, Floats, Metric, Tally
from gendermark.metrics.rates import difference, rate, unseen_share
from gendermark.records import Gender, Judgement, Verdict

GENDERS = (Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL)
_F1_COLUMNS = ("right", "expected", "observed")


def gender_tally(slices_of: Callable[[Judgement], Iterable[str]], pair_of: Callable[[Judgement], str]) -> Tally:
    """Counts per slice; and, of the items that differ in gender alone (`pair_of` names what they share), how often both
    the masculine and the feminine one are right."""

    def tally(group: Sequence[Judgement]) -> Counter[str]:
        counts: Counter[str] = Counter()
        pairs: dict[str, dict[Gender, list[bool]]] = defaultdict(lambda: defaultdict(list))
        for judgement in group:
            for name in slices_of(judgement):
                counts[f"{name}.total"] += 1
                counts[f"{name}.judged"] += judgement.verdict is Verdict.JUDGED
                counts[f"{name}.correct"] += judgement.is_correct
                if judgement.expected:
                    counts[f"{name}.expected.{judgement.expected}"] += 1
                if judgement.observed:
                    counts[f"{name}.observed.{judgement.observed}"] += 1
                if judgement.is_correct:
                    counts[f"{name}.right.{judgement.expected}"] += 1
            if judgement.expected in (Gender.MASCULINE, Gender.FEMININE):
                pairs[pair_of(judgement)][judgement.expected].append(judgement.is_correct)
        for members in pairs.values():
            if len(members) == 2:
                counts["pairs.total"] += 1
                counts["pairs.correct"] += all(all(right) for right in members.values())
        return counts

    return tally


def accuracy(part: str, name: str = "accuracy") -> Metric:
    """Right out of all, the undecided counted as wrong."""
    return rate(name, part, f"{part}.correct", f"{part}.total", judged=f"{part}.judged", better="higher")


def decided_accuracy(part: str) -> Metric:
    return rate("decided_accuracy", part, f"{part}.correct", f"{part}.judged", judged=f"{part}.judged", better="higher")


def coverage(part: str) -> Metric:
    return rate("coverage", part, f"{part}.judged", f"{part}.total", judged=f"{part}.judged", better="higher")


def pair_accuracy() -> Metric:
    return rate("pair_accuracy", "all", "pairs.correct", "pairs.total", judged="pairs.total", better="higher")


def f1(gender: Gender, part: str, *, rounded: bool) -> Metric:
    """F1 of one gender. Items of other genders count against its precision. `rounded`: as the released code rounds."""

    def value(*columns: Floats) -> Floats:
        return _f1_of(columns, rounded)

    return Metric(
        f"f1_{gender}",
        part,
        _f1_needs(part, gender),
        value,
        total=f"{part}.total",
        judged=f"{part}.judged",
        at_boundary=_around(value, lowest=0.0),
        better="higher",
    )


def _f1_needs(part: str, gender: Gender) -> tuple[str, ...]:
    return (*(f"{part}.{kind}.{gender}" for kind in _F1_COLUMNS), f"{part}.judged")


def _around(value: Callable[..., Floats], lowest: float = -100.0, highest: float = 100.0) -> Boundary:
    """Where all groups agree: as far to both sides as the share of groups unlike them may reach."""

    def at_boundary(sums: Sequence[float], n_groups: int, confidence: float) -> tuple[float, float]:
        point = float(value(*(np.array([amount]) for amount in sums))[0])
        reach = 100.0 * unseen_share(n_groups, confidence)
        return max(point - reach, lowest), min(point + reach, highest)

    return at_boundary


def _f1_of(columns: Sequence[Floats], rounded: bool) -> Floats:
    """A gender that is never chosen has an F1 of 0; where nothing at all could be judged, there is none."""
    right, expected, observed, judged = columns
    if not rounded:
        return np.where(judged > 0, 200.0 * right / (expected + observed), np.nan)
    precision, recall = np.round(100.0 * right / observed, 1), np.round(100.0 * right / expected, 1)
    return np.round(2 * precision * recall / (precision + recall), 1)


def delta_g(part: str, *, rounded: bool) -> Metric:
    """F1 of masculine minus F1 of feminine."""

    def value(*columns: Floats) -> Floats:
        gap = _f1_of(columns[:4], rounded) - _f1_of(columns[4:], rounded)
        # Where neither gender is ever right the gap would be 0, and mean nothing.
        return np.where(columns[0] + columns[4] > 0, gap, np.nan)

    return Metric(
        "delta_g",
        part,
        (*_f1_needs(part, Gender.MASCULINE), *_f1_needs(part, Gender.FEMININE)),
        value,
        total=f"{part}.total",
        judged=f"{part}.judged",
        at_boundary=_around(value),
        better="zero",
    )


def recall_gap() -> Metric:
    """Accuracy on men minus accuracy on women.

    Unlike `delta_g` it does not ask what becomes of sentences that leave the gender open: masculine defaults there
    lower the precision of the masculine, and with it its F1.
    """
    men, women = accuracy(Gender.MASCULINE.value), accuracy(Gender.FEMININE.value)
    return difference(
        "recall_gap", "all", men, women, total="mf.total", judged="mf.judged", is_undefined_without_hits=True
    )


def macro_f1(part: str) -> Metric:
    """The mean of masculine and feminine F1."""

    def value(*columns: Floats) -> Floats:
        return (_f1_of(columns[:4], False) + _f1_of(columns[4:], False)) / 2

    needs = delta_g(part, rounded=False).needs
    columns = (f"{part}.total", f"{part}.judged")
    return Metric("macro_f1", part, needs, value, *columns, _around(value, lowest=0.0), better="higher")


def delta_s() -> Metric:
    """Accuracy on pro-stereotypical items minus accuracy on anti-stereotypical ones."""
    columns = {"total": "stereotyped.total", "judged": "stereotyped.judged"}
    return difference("delta_s", "all", accuracy("pro"), accuracy("anti"), **columns, is_undefined_without_hits=True)


def delta_s_f1() -> Metric:
    """The same by macro-F1, which is how the paper's text reads."""
    pro, anti = macro_f1("pro"), macro_f1("anti")

    def value(*columns: Floats) -> Floats:
        half = len(pro.needs)
        return pro.value(*columns[:half]) - anti.value(*columns[half:])

    needs, columns = (*pro.needs, *anti.needs), ("stereotyped.total", "stereotyped.judged")
    return Metric("delta_s_f1", "all", needs, value, *columns, _around(value), better="zero")


def masculine_share(part: str) -> Metric:
    """Masculine out of masculine and feminine outputs, where the source leaves gender open; 50 is even."""

    def value(masculine: Floats, feminine: Floats) -> Floats:
        return 100.0 * masculine / (masculine + feminine)

    needs = (f"{part}.observed.masculine", f"{part}.observed.feminine")
    boundary = _around(value, lowest=0.0)
    return Metric("masculine_share", part, needs, value, f"{part}.total", f"{part}.judged", boundary)


def distance_from_even(part: str) -> Metric:
    share = masculine_share(part)

    def value(masculine: Floats, feminine: Floats) -> Floats:
        return np.abs(share.value(masculine, feminine) - 50.0)

    boundary = _around(value, lowest=0.0, highest=50.0)
    columns = (f"{part}.total", f"{part}.judged")
    return Metric("distance_from_even", part, share.needs, value, *columns, boundary, better="zero")
