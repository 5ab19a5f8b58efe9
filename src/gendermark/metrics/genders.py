"""Expected against observed gender: accuracy, F1, and the gaps between genders and stereotypes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from gendermark.metrics.metric import PERCENT, Combined, Floats, Metric, Tally, described, difference, rate, share
from gendermark.records import Gender, Judgement, Verdict

GENDERS = (Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL)
_F1_COLUMNS = ("right", "expected", "observed")
_MEN, _WOMEN, _WRONG = 1, 2, 4
"""Bit flags for the sentences of a pair."""

DESCRIBED = described(__package__)


def gender_tally(slices_of: Callable[[Judgement], Iterable[str]], pair_of: Callable[[Judgement], str]) -> Tally:
    """Counts per slice; and, for items that differ in gender alone (`pair_of` is their common key), how often both
    the masculine and the feminine one are correct."""

    def kind_of(judgement: Judgement) -> _Kind:
        is_judged = judgement.verdict is Verdict.JUDGED
        slices = tuple(slices_of(judgement))
        return slices, is_judged, judgement.is_correct, judgement.expected, judgement.observed

    def tally(group: Sequence[Judgement]) -> Mapping[str, int]:
        if len(group) == 1:
            return _counts_of_one(kind_of(group[0]))
        counts: Counter[str] = Counter()
        for kind, n in Counter(map(kind_of, group)).items():
            for column, amount in _counts_of_one(kind).items():
                counts[column] += n * amount
        pairs: dict[str, int] = defaultdict(int)  # a group can be large: three bits per pair
        for judgement in group:
            if judgement.expected in (Gender.MASCULINE, Gender.FEMININE):
                gender = _MEN if judgement.expected is Gender.MASCULINE else _WOMEN
                pairs[pair_of(judgement)] |= gender | (not judgement.is_correct) * _WRONG
        for seen in pairs.values():
            if seen & _MEN and seen & _WOMEN:
                counts["pairs.total"] += 1
                counts["pairs.correct"] += not seen & _WRONG
        return counts

    return tally


_Kind = tuple[tuple[str, ...], bool, bool, Gender | None, Gender | None]
"""Slices, whether it was judged, whether it is correct, expected and observed gender."""


@cache
def _counts_of_one(kind: _Kind) -> Mapping[str, int]:
    """The columns in which such a sentence counts; many are alike."""
    slices, is_judged, is_correct, expected, observed = kind
    found = []
    for name in slices:
        found.append(f"{name}.total")
        found += [f"{name}.judged"] if is_judged else []
        found += [f"{name}.correct", f"{name}.right.{expected}"] if is_correct else []
        found += [f"{name}.expected.{expected}"] if expected else []
        found += [f"{name}.observed.{observed}"] if observed else []
    return dict.fromkeys(found, 1)


def accuracy(part: str) -> Metric:
    return share(DESCRIBED["accuracy"], part, "correct")


def decided_accuracy(part: str) -> Metric:
    return share(DESCRIBED["decided_accuracy"], part, "correct", of="judged")


def coverage(part: str) -> Metric:
    return share(DESCRIBED["coverage"], part, "judged")


def pair_accuracy() -> Metric:
    return rate(DESCRIBED["pair_accuracy"], "all", "pairs.correct", "pairs.total", judged="pairs.total")


def f1(gender: Gender, part: str, *, rounded: bool) -> Metric:
    """`rounded`: as the released code rounds."""
    needs = (*(f"{part}.{kind}.{gender}" for kind in _F1_COLUMNS), f"{part}.judged")
    return Metric(
        DESCRIBED[f"f1_{gender}"],
        part,
        needs,
        lambda *columns: _f1_of(columns, rounded),
        f"{part}.total",
        f"{part}.judged",
        PERCENT,
        weigh=needs[1:3],
        smooth=lambda *columns: _f1_of(columns, False),
    )


def _f1_of(columns: Sequence[Floats], rounded: bool) -> Floats:
    """F1 is 0 for a gender that is never chosen, and undefined if nothing could be judged."""
    right, expected, observed, judged = columns
    if not rounded:
        return np.where(judged > 0, 200.0 * right / (expected + observed), np.nan)
    precision, recall = np.round(100.0 * right / observed, 1), np.round(100.0 * right / expected, 1)
    return np.round(2 * precision * recall / (precision + recall), 1)


def delta_g(part: str, *, rounded: bool) -> Metric:
    # If neither gender is ever correct, a gap of 0 would be meaningless.
    men, women = (f1(gender, part, rounded=rounded) for gender in (Gender.MASCULINE, Gender.FEMININE))
    return replace(difference(DESCRIBED["delta_g"], men, women, part, is_undefined_without_hits=True), slice=part)


def recall_gap() -> Metric:
    """Unlike `delta_g`, unaffected by masculine defaults for unspecified gender, which lower masculine precision."""
    men, women = accuracy(Gender.MASCULINE.value), accuracy(Gender.FEMININE.value)
    return difference(DESCRIBED["recall_gap"], men, women, "mf", is_undefined_without_hits=True)


def macro_f1(part: str) -> Metric:
    men, women = (f1(gender, part, rounded=False) for gender in (Gender.MASCULINE, Gender.FEMININE))
    half = len(men.needs)

    def value(*columns: Floats) -> Floats:
        return (men.value(*columns[:half]) + women.value(*columns[half:])) / 2

    needs, weigh = (*men.needs, *women.needs), (*men.weight, *women.weight)
    return Metric(DESCRIBED["macro_f1"], part, needs, value, f"{part}.total", f"{part}.judged", PERCENT, weigh)


def delta_s() -> Metric:
    return difference(
        DESCRIBED["delta_s"], accuracy("pro"), accuracy("anti"), "stereotyped", is_undefined_without_hits=True
    )


def delta_s_f1() -> Metric:
    return difference(DESCRIBED["delta_s_f1"], macro_f1("pro"), macro_f1("anti"), "stereotyped")


def masculine_share(part: str) -> Metric:
    def value(masculine: Floats, feminine: Floats) -> Floats:
        return 100.0 * masculine / (masculine + feminine)

    needs = (f"{part}.observed.masculine", f"{part}.observed.feminine")
    return Metric(
        DESCRIBED["masculine_share"], part, needs, value, f"{part}.total", f"{part}.judged", PERCENT, weigh=needs
    )


def distance_from_even(part: str) -> Metric:
    share = masculine_share(part)

    def value(masculine: Floats, feminine: Floats) -> Floats:
        return np.abs(share.value(masculine, feminine) - 50.0)

    rule = Combined(((1.0, share),), folded_at=50.0)
    return Metric(DESCRIBED["distance_from_even"], part, share.needs, value, f"{part}.total", f"{part}.judged", rule)
