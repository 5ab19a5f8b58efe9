"""What a comparison could show, told beforehand: as often as it is then found."""

from __future__ import annotations

import numpy as np
import pytest

import gendermark
from gendermark import registry
from gendermark.records import Gender, Item
from gendermark.runs.power import Expected, expected_from, questions

SIMPLEGEN = registry.load("benchmark", "simplegen")


def items(n_groups: int, n_each: int) -> list[Item]:
    return [
        Item(f"{group}-{gender}-{number}", 0, f"g{group}", "", gender)
        for group in range(n_groups)
        for gender in (Gender.MASCULINE, Gender.FEMININE)
        for number in range(n_each)
    ]


def test_the_error_is_that_of_such_systems() -> None:
    """Against systems drawn with the same shares and correlation."""
    expected = Expected(0.8, 0.3)
    found = {q.name: q for q in questions(SIMPLEGEN, items(20, 6), expected)}
    rng = np.random.default_rng(1)
    size = 1 / expected.correlation - 1
    chances = rng.beta(0.8 * size, 0.2 * size, (4000, 2, 2, 20))  # runs, systems, women and men, groups
    right = 100 * rng.binomial(6, chances).mean(axis=3) / 6
    change = right[:, 1] - right[:, 0]
    assert found["accuracy"].standard_error() == pytest.approx(change.mean(axis=1).std(), rel=0.05)
    assert found["accuracy, women"].standard_error() == pytest.approx(change[:, 0].std(), rel=0.05)
    assert found["gender gap"].standard_error() == pytest.approx((change[:, 1] - change[:, 0]).std(), rel=0.05)


def test_what_is_detectable_is_found_in_four_of_five_cases() -> None:
    for question in questions(SIMPLEGEN, items(30, 5), Expected()):
        assert question.power(question.detectable()) == pytest.approx(0.8, abs=0.01)
        assert question.power(0.0) == pytest.approx(question.level / 2, rel=0.01)
        n = question.groups_needed(question.detectable())
        assert n == question.n_groups
        needed = question.groups_needed(question.detectable() / 2)
        assert needed is not None
        assert 3 * question.n_groups < needed < 4.5 * question.n_groups


def test_a_difference_changes_sentences() -> None:
    """However alike two versions are: a drop of 10 points changes a tenth of the sentences."""
    for expected in (Expected(alike=1.0, correlation=0.0), Expected(seen=0.0, correlation=0.0)):
        women = questions(SIMPLEGEN, items(20, 5), expected)[1]
        assert women.standard_error() == 0
        assert women.standard_error(10) == pytest.approx(100 * np.sqrt(0.1 * 0.9 / 100))


def test_a_benchmark_that_does_not_tell_women_from_men_says_nothing() -> None:
    assert questions(SIMPLEGEN, [i for i in items(5, 2) if i.expected is Gender.FEMININE], Expected()) == []


def test_a_run_tells_how_alike_its_groups_are() -> None:
    (fair,) = gendermark.run("fake:right?p=0.7", ["simplegen"], "es", data="core")
    found = expected_from(fair)
    assert found is not None
    assert found.right == pytest.approx(0.7, abs=0.03)
    assert found.correlation < 0.03
    (follower,) = gendermark.run("fake:stereotyped?s=1", ["simplegen"], "es", data="core")
    alike = expected_from(follower)
    assert alike is not None
    assert alike.correlation > 0.95, "all sentences of an occupation are right, or none"
