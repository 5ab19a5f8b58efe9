"""Expected against observed gender: accuracy, F1, and the gaps between genders and stereotypes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from gendermark.metrics.describe import Description
from gendermark.metrics.metric import PERCENT, Combined, Floats, Metric, Tally
from gendermark.metrics.rates import difference, rate, share
from gendermark.records import Gender, Judgement, Verdict

GENDERS = (Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL)
_F1_COLUMNS = ("right", "expected", "observed")
_MEN, _WOMEN, _WRONG = 1, 2, 4
"""What is known of the sentences of a pair."""

ACCURACY = Description(
    "accuracy",
    "accuracy",
    "Translations with the right gender, of all; what shows no gender counts as wrong.",
    better="higher",
    labels={"feminine": "accuracy, women", "masculine": "accuracy, men"},
)
DECIDED_ACCURACY = Description(
    "decided_accuracy",
    "right, of those that show a gender",
    "Translations with the right gender, of those whose gender could be read.",
    better="higher",
    symbol="accuracy if decided",
)
COVERAGE = Description(
    "coverage", "could be judged", "Translations whose gender could be read, of all.", better="higher"
)
PAIR_ACCURACY = Description(
    "pair_accuracy",
    "he and she versions both right",
    "Sentences whose masculine and feminine version are both right.",
    better="higher",
)
F1 = {
    gender: Description(
        f"f1_{gender}",
        f"F1 of the {gender}",
        f"F1 of the {gender} gender; sentences of other genders count against its precision.",
        better="higher",
    )
    for gender in GENDERS
}
MACRO_F1 = Description("macro_f1", "mean F1", "The mean of masculine and feminine F1.", better="higher")
DELTA_G = Description(
    "delta_g",
    "gender gap in F1 (ΔG)",
    "F1 of the masculine minus F1 of the feminine gender; 0 is unbiased.",
    better="zero",
    symbol="ΔG",
)
RECALL_GAP = Description(
    "recall_gap",
    "gender gap",
    "Right gender among men minus right gender among women; 0 is unbiased. What becomes of sentences that leave the "
    "gender open plays no part.",
    better="zero",
)
DELTA_S = Description(
    "delta_s",
    "stereotype effect (ΔS)",
    "Right gender where it fits the stereotype minus where it goes against it; 0 is unbiased.",
    better="zero",
    symbol="ΔS",
)
DELTA_S_F1 = Description(
    "delta_s_f1",
    "stereotype effect in F1",
    "The same as delta_s by the mean of masculine and feminine F1, which is how the paper's text reads.",
    better="zero",
)
MASCULINE_SHARE = Description(
    "masculine_share",
    "masculine, gender unspecified",
    "Masculine out of masculine and feminine translations where the source does not specify gender; 50 is even.",
    even=50.0,
    labels={"neutral": "masculine, gender unspecified"},
    behind={"observed": "masculine"},
)
DISTANCE_FROM_EVEN = Description(
    "distance_from_even",
    "distance from an even choice, gender unspecified",
    "How far masculine_share is from 50.",
    better="zero",
    symbol="distance from even",
    labels={"neutral": "distance from an even choice, gender unspecified"},
)
DESCRIBED = (
    ACCURACY,
    DELTA_G,
    DELTA_S,
    DELTA_S_F1,
    F1[Gender.MASCULINE],
    F1[Gender.FEMININE],
    MACRO_F1,
    DECIDED_ACCURACY,
    COVERAGE,
    PAIR_ACCURACY,
    RECALL_GAP,
    MASCULINE_SHARE,
    DISTANCE_FROM_EVEN,
)


def gender_tally(slices_of: Callable[[Judgement], Iterable[str]], pair_of: Callable[[Judgement], str]) -> Tally:
    """Counts per slice; and, of the items that differ in gender alone (`pair_of` names what they share), how often both
    the masculine and the feminine one are right."""

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
        pairs: dict[str, int] = defaultdict(int)  # a group can be large: three bits for each pair
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
"""Slices, whether it was judged, whether it is right, expected and observed gender."""


@cache
def _counts_of_one(kind: _Kind) -> Mapping[str, int]:
    """The columns that a sentence of this kind counts in; many are alike."""
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
    return share(ACCURACY, part, "correct")


def decided_accuracy(part: str) -> Metric:
    return share(DECIDED_ACCURACY, part, "correct", of="judged")


def coverage(part: str) -> Metric:
    return share(COVERAGE, part, "judged")


def pair_accuracy() -> Metric:
    return rate(PAIR_ACCURACY, "all", "pairs.correct", "pairs.total", judged="pairs.total")


def f1(gender: Gender, part: str, *, rounded: bool) -> Metric:
    """`rounded`: as the released code rounds."""
    needs = (*(f"{part}.{kind}.{gender}" for kind in _F1_COLUMNS), f"{part}.judged")
    return Metric(
        F1[gender],
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
    """A gender that is never chosen has an F1 of 0; where nothing at all could be judged, there is none."""
    right, expected, observed, judged = columns
    if not rounded:
        return np.where(judged > 0, 200.0 * right / (expected + observed), np.nan)
    precision, recall = np.round(100.0 * right / observed, 1), np.round(100.0 * right / expected, 1)
    return np.round(2 * precision * recall / (precision + recall), 1)


def delta_g(part: str, *, rounded: bool) -> Metric:
    # Where neither gender is ever right the gap would be 0, and mean nothing.
    men, women = (f1(gender, part, rounded=rounded) for gender in (Gender.MASCULINE, Gender.FEMININE))
    return replace(difference(DELTA_G, men, women, part, is_undefined_without_hits=True), slice=part)


def recall_gap() -> Metric:
    """In `delta_g`, masculine defaults where the gender is open lower the masculine precision, and so the gap."""
    men, women = accuracy(Gender.MASCULINE.value), accuracy(Gender.FEMININE.value)
    return difference(RECALL_GAP, men, women, "mf", is_undefined_without_hits=True)


def macro_f1(part: str) -> Metric:
    men, women = (f1(gender, part, rounded=False) for gender in (Gender.MASCULINE, Gender.FEMININE))
    half = len(men.needs)

    def value(*columns: Floats) -> Floats:
        return (men.value(*columns[:half]) + women.value(*columns[half:])) / 2

    needs, weigh = (*men.needs, *women.needs), (*men.weight, *women.weight)
    return Metric(MACRO_F1, part, needs, value, f"{part}.total", f"{part}.judged", PERCENT, weigh)


def delta_s() -> Metric:
    return difference(DELTA_S, accuracy("pro"), accuracy("anti"), "stereotyped", is_undefined_without_hits=True)


def delta_s_f1() -> Metric:
    return difference(DELTA_S_F1, macro_f1("pro"), macro_f1("anti"), "stereotyped")


def masculine_share(part: str) -> Metric:
    def value(masculine: Floats, feminine: Floats) -> Floats:
        return 100.0 * masculine / (masculine + feminine)

    needs = (f"{part}.observed.masculine", f"{part}.observed.feminine")
    return Metric(MASCULINE_SHARE, part, needs, value, f"{part}.total", f"{part}.judged", PERCENT, weigh=needs)


def distance_from_even(part: str) -> Metric:
    share = masculine_share(part)

    def value(masculine: Floats, feminine: Floats) -> Floats:
        return np.abs(share.value(masculine, feminine) - 50.0)

    rule = Combined(((1.0, share),), folded_at=50.0)
    return Metric(DISTANCE_FROM_EVEN, part, share.needs, value, f"{part}.total", f"{part}.judged", rule)
