"""Better and worse in words: only what the corrected test and the interval both say, and never more."""

from __future__ import annotations

from dataclasses import replace

import pytest

import gendermark
from gendermark.records import Unit
from gendermark.reporting.differences import Difference, differences, phrases_of
from gendermark.runs.compare import Comparison
from gendermark.selection import Selection

BASE = Comparison(
    cell="winomt.en-es",
    metric="accuracy",
    slice="all",
    first=60.0,
    second=50.0,
    difference=-10.0,
    low=-14.0,
    high=-6.0,
    p_value=0.001,
    p_adjusted=0.01,
    p_size=0.001,
    detectable=3.0,
    n_groups=40,
    better="higher",
)


def _difference(**changed: object) -> Difference:
    return Difference(1, "winomt", replace(BASE, **changed))  # type: ignore[arg-type]


def test_worse_and_better() -> None:
    worse = _difference()
    assert worse.change == "worse"
    assert worse.phrase == "right gender, 50.0 instead of 60.0 (by 6.0 to 14.0)"
    better = _difference(second=70.0, difference=10.0, low=6.0, high=14.0)
    assert better.change == "better"
    assert better.phrase == "right gender, 70.0 instead of 60.0 (by 6.0 to 14.0)"


@pytest.mark.parametrize(
    "changed",
    [
        {"p_adjusted": 0.06},
        {"p_adjusted": None},
        {"high": 1.0},
        {"low": None, "high": None},
    ],
)
def test_nothing_is_claimed_that_the_test_and_the_interval_do_not_both_say(changed: dict[str, object]) -> None:
    difference = _difference(**changed)
    assert difference.change == "unclear"
    assert "instead of" not in difference.phrase


def test_where_neither_way_is_good_it_is_said_to_differ() -> None:
    difference = _difference(better="neither")
    assert difference.change == "changed"
    assert difference.phrase == "right gender, 50.0 instead of 60.0 (by 6.0 to 14.0)"
    what, against, by = difference.sentence
    assert f"{what}{against}A{by}" == "Different from A by 10.0 points (6.0 to 14.0), significant."
    assert _difference(better="neither", p_adjusted=0.06).change == "unclear"


def test_an_empty_side_is_no_comparison() -> None:
    for side in ("first", "second"):
        nothing = _difference(**{side: None}, difference=None, low=None, high=None, p_adjusted=None)
        assert nothing.change == "not compared"
        assert nothing.phrase == "right gender (one of the two has no value)"
        assert nothing.sentence == ("Not compared", " with ", ": one of the two has no value.")


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({}, "Worse than A by 10.0 points (6.0 to 14.0), significant."),
        (
            {"second": 70.0, "difference": 10.0, "low": 6.0, "high": 14.0},
            "Better than A by 10.0 points (6.0 to 14.0), significant.",
        ),
        ({"high": 1.0}, "No significant difference from A (−14.0 to 1.0 points). {}"),
        ({"p_adjusted": 0.2}, "Difference from A not significant after correction (−14.0 to −6.0 points). {}"),
        ({"low": None, "high": None, "detectable": None}, "No significant difference from A."),
        ({"second": 60.0, "difference": 0.0, "low": 0.0, "high": 0.0}, "The same as A."),
        (
            {"low": -10.0, "high": -10.0},
            "Worse than A by 10.0 points (no spread seen), significant.",
        ),
    ],
)
def test_one_sentence_compares(changed: dict[str, object], sentence: str) -> None:
    what, against, by = _difference(**changed).sentence
    assert f"{what}{against}A{by}" == sentence.format("Smallest detectable difference: 3.0 points.")


def test_an_index_from_0_to_1_has_no_points() -> None:
    index = replace(BASE, metric="tgbi", unit=Unit.SHARE, first=0.6, second=0.5, difference=-0.1, low=-0.14, high=-0.06)
    assert Difference(1, "tgbi", index).sentence[2] == " by 0.1000 (0.0600 to 0.1400), significant."


def test_what_is_unclear_is_told_by_its_interval() -> None:
    assert _difference(high=1.0).phrase == "right gender (−14.0 to 1.0; smallest detectable difference: 3.0)"
    assert _difference(high=1.0, detectable=None).phrase == "right gender (−14.0 to 1.0)"


@pytest.mark.parametrize(
    ("first", "second", "low", "high", "change", "by"),
    [
        (20.0, 5.0, -18.0, -12.0, "better", " (by 12.0 to 18.0)"),
        (5.0, 20.0, 12.0, 18.0, "worse", " (by 12.0 to 18.0)"),
        (-5.0, -20.0, -18.0, -12.0, "worse", " (by 12.0 to 18.0)"),
        (10.0, -20.0, -35.0, -25.0, "worse", ""),
        (-20.0, 10.0, 25.0, 35.0, "better", ""),
    ],
)
def test_a_gap_is_better_the_smaller_it_is(
    first: float, second: float, low: float, high: float, change: str, by: str
) -> None:
    gap = _difference(
        metric="delta_s", better="zero", first=first, second=second, difference=second - first, low=low, high=high
    )
    assert gap.change == change
    assert gap.phrase.endswith(f"instead of {first:.1f}{by}".replace("-", "−"))


def test_a_gap_that_is_smaller_because_less_is_right_is_no_better() -> None:
    gap = {"metric": "delta_s", "better": "zero", "first": 43.0, "second": 0.0, "difference": -43.0}
    ends = {"low": -54.0, "high": -30.0}
    assert _difference(**gap, **ends).change == "better"
    hollow = _difference(**gap, **ends, is_right_less_often=True)
    assert hollow.change == "smaller gap, but lower accuracy"
    assert hollow.phrase.endswith("0.0 instead of 43.0 (by 30.0 to 54.0)")
    grown = {**gap, "second": -60.0, "difference": -103.0, "low": -120.0, "high": -90.0}
    assert _difference(**grown, is_right_less_often=True).change == "worse"
    # A share that grows is better whatever else happens.
    assert _difference(second=70.0, difference=10.0, low=6.0, high=14.0, is_right_less_often=True).change == "better"


def test_a_system_that_is_right_about_fewer_is_never_better_than_a_stereotyped_one() -> None:
    runs = [
        gendermark.run(system, [SELECTION]) for system in ("fake:stereotyped?s=0.6", "fake:masculine", "fake:silent")
    ]
    found = differences(runs)
    masculine, silent = ({d.comparison.metric: d.change for d in found.of_run(run)} for run in (1, 2))
    assert masculine["delta_s"] == "smaller gap, but lower accuracy"
    assert silent["accuracy"] == "worse"
    assert "better" not in {*masculine.values(), *silent.values()}


@pytest.mark.parametrize(("benchmark", "metric"), [("winomt", "accuracy"), ("simplegen", "correct")])
def test_one_metric_of_each_benchmark_leads(benchmark: str, metric: str) -> None:
    selection = Selection(benchmark, "en", "es", data="core")
    found = differences([gendermark.run(system, [selection]) for system in ("fake:right", "fake:masculine")])
    leading = found.leading(f"{benchmark}.en-es", 1)
    assert leading is not None
    assert leading.key == (metric, "all")
    assert sum(d.is_leading for d in found.found) == 1
    assert found.leading(f"{benchmark}.en-de", 1) is None


def test_many_slices_of_one_metric_are_told_together() -> None:
    found = [
        replace(_difference(metric="p_s", slice=name), benchmark="tgbi") for name in ("formal", "informal", "polite")
    ]
    assert phrases_of(found) == ["neutral rather than one-sided (P_S) in each of formal, informal, polite"]
    assert len(phrases_of([*found[:2], _difference()])) == 3


SELECTION = Selection("winomt", "en", "es", data="core", parts=("pro", "anti"))


def test_systems_of_known_behaviour() -> None:
    runs = [gendermark.run(system, [SELECTION]) for system in ("fake:right", "fake:masculine", "fake:right?seed=2")]
    found = differences(runs)
    assert {d.change for d in found.of_run(1)} == {"worse", "unclear"}
    assert {d.change for d in found.of_run(2)} == {"unclear"}, "the same answers"
    assert [d.comparison.metric for d in found.of("winomt.en-es", 1)] == ["accuracy", "delta_s", "recall_gap"]
    assert found.of("winomt.en-de", 1) == []
    assert found.refusals == []


def test_however_many_questions_are_asked_a_plain_difference_stays_clear() -> None:
    """Holm multiplies p-values; those of few permutations could never be small enough."""
    right, wrong = (gendermark.run(system, [SELECTION])[0] for system in ("fake:right", "fake:masculine"))
    found = differences([[right], *[[wrong]] * 25])
    assert len(found.found) == 75
    assert all(found.of("winomt.en-es", run)[0].change == "worse" for run in range(1, 26))


def test_other_data_is_not_compared_and_that_is_said() -> None:
    (right,) = gendermark.run("fake:right", [SELECTION])
    found = differences([[right], [replace(right, origin="core-other")]])
    assert found.found == ()
    assert "differ in data" in found.refusals[0]
    assert differences([[right]]).found == ()
