"""Intervals on these groups: other sentences about the same occupations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gendermark.metrics.intervals import estimate
from gendermark.metrics.metric import Description, Resampling, count, difference, per_judgement, rate
from gendermark.metrics.within import count_pairs, count_within, difference_error
from gendermark.records import Estimate, Gender, Judgement, Verdict

ABOUT = Description("right", "right", "Right.", better="higher")
WOMEN, MEN = (rate(ABOUT, g, f"{g}.right", f"{g}.total", judged=f"{g}.total") for g in ("feminine", "masculine"))
GAP = difference(Description("gap", "gap", "Gap.", better="zero"), MEN, WOMEN, "all")
TALLY = per_judgement(
    lambda j: [f"{j.expected}.total", "all.total", "all.judged", *([f"{j.expected}.right"] if j.is_correct else [])]
)


def judgements(rights: dict[tuple[str, Gender], list[bool]]) -> list[Judgement]:
    rows = [(group, gender, right) for (group, gender), own in rights.items() for right in own]
    return [
        Judgement(str(n), n, group, Verdict.JUDGED, gender, gender if right else gender.opposite)
        for n, (group, gender, right) in enumerate(rows)
    ]


def estimates(found: list[Judgement], certainty: frozenset[str] = frozenset()) -> list[Estimate]:
    counts = count(found, TALLY, lambda _: "")
    counts = replace(counts, within=count_within(found, TALLY, certainty), certainty=certainty)
    return estimate(counts, [WOMEN, MEN, GAP], Resampling(200))


def drawn(
    rng: np.random.Generator, rates: dict[tuple[str, Gender], float], n: int
) -> dict[tuple[str, Gender], list[bool]]:
    return {cell: list(rng.random(n) < p) for cell, p in rates.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("mean", "strength"), [(0.8, 2.3), (0.95, 2.3), (0.6, 0.7)])
def test_coverage_of_fixed_rates(mean: float, strength: float) -> None:
    """Groups keep their rates from simulation to simulation; only sentences vary."""
    rng = np.random.default_rng(5)
    cells = [(f"g{k}", gender) for k in range(20) for gender in (Gender.FEMININE, Gender.MASCULINE)]
    rates = {cell: float(rng.beta(mean * strength, (1 - mean) * strength)) for cell in cells}
    truth = {
        g: 100 * np.mean([p for (_, of), p in rates.items() if of is g]) for g in Gender if g is not Gender.NEUTRAL
    }
    hits = np.zeros(2)
    for _ in range(150):
        women, _, gap = estimates(judgements(drawn(rng, rates, 15)))
        for place, (found, true) in enumerate(
            ((women, truth[Gender.FEMININE]), (gap, truth[Gender.MASCULINE] - truth[Gender.FEMININE]))
        ):
            assert found.fixed_low is not None
            assert found.fixed_high is not None
            hits[place] += found.fixed_low <= true <= found.fixed_high
    assert (hits / 150 >= 0.90).all(), hits
    assert (hits / 150 <= 0.995).all(), hits


def test_all_right_is_certain_about_these_groups_only() -> None:
    found = judgements({(f"g{k}", g): [True] * 17 for k in range(20) for g in (Gender.FEMININE, Gender.MASCULINE)})
    women, _, _ = estimates(found)
    assert (women.value, women.high, women.fixed_high) == (100.0, 100.0, 100.0)
    assert women.low == pytest.approx(83.9, abs=0.1)  # Wilson's bound for 20 groups
    assert women.fixed_low == pytest.approx(98.9, abs=0.1)  # and for 340 sentences


def test_one_sentence_a_group_gives_one_interval() -> None:
    found = judgements({(f"g{k}", Gender.FEMININE): [k % 3 > 0] for k in range(30)})
    women, *_ = estimates(found)
    assert (women.fixed_low, women.fixed_high) == (women.low, women.high)


def test_groups_that_are_all_or_nothing_are_not_certain() -> None:
    """Each group of ten is right throughout or wrong throughout: other sentences could still differ."""
    found = judgements({(f"g{k}", Gender.FEMININE): [k % 2 == 0] * 10 for k in range(20)})
    women, *_ = estimates(found)
    assert women.fixed_high is not None
    assert women.fixed_low is not None
    assert women.low is not None
    assert 1 < women.fixed_high - women.fixed_low < 8
    assert women.low < women.fixed_low


def test_a_certainty_unit_adds_its_sentences_and_no_group() -> None:
    """ "someone" is wrong throughout: that widens no interval over occupations."""
    rights = {(f"g{k}", Gender.FEMININE): [True] * 9 + [False] for k in range(40)}
    found = judgements({**rights, ("someone", Gender.FEMININE): [False] * 60})
    plain, *_ = estimates(found)
    certain, *_ = estimates(found, frozenset({"someone"}))
    assert plain.value == certain.value
    widths = [e.high - e.low for e in (plain, certain) if e.high is not None and e.low is not None]
    assert widths[1] < widths[0] / 3


def test_the_error_of_a_paired_difference() -> None:
    """Two systems that differ in nothing have no error; gains and losses add to it."""
    rng = np.random.default_rng(1)
    first = judgements({(f"g{k}", Gender.FEMININE): list(rng.random(20) < 0.8) for k in range(30)})
    flips = rng.random(len(first)) < 0.1
    second = [
        replace(j, observed=j.observed.opposite if flip else j.observed)
        for j, flip in zip(first, flips, strict=True)
        if j.observed is not None
    ]
    sides = [count(side, TALLY, lambda _: "") for side in (first, second)]
    error = difference_error(WOMEN, count_pairs(zip(first, second, strict=True), TALLY), (sides[0], sides[1]))
    # Variance of a mean of +1, -1 and 0 over independent sentences, in points.
    assert error == pytest.approx(100 * np.sqrt(flips.mean() / len(first)), rel=0.1)
    same = difference_error(WOMEN, count_pairs(zip(first, first, strict=True), TALLY), (sides[0], sides[0]))
    assert same == pytest.approx(0.0, abs=1e-6)
