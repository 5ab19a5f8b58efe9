"""Two systems on the same items: what differs, by how much, and what may not be compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import gendermark
from gendermark.benchmarks.winomt.benchmark import BENCHMARK as WINOMT
from gendermark.errors import UserError
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender, Verdict
from gendermark.result import Result
from gendermark.runs import run as running
from gendermark.runs.compare import Asked, Comparison, ComparisonReport, compare
from gendermark.runs.folder import read_results
from gendermark.runs.run import RunConfig
from gendermark.selection import Selection

RESAMPLING = Resampling(n_resamples=1_000)
Run = Callable[..., list[Result]]


@pytest.fixture
def run(selection: Selection) -> Run:
    def of(system: str, *languages: str, **changes: str) -> list[Result]:
        selections = tuple(replace(selection, target_language=to, **changes) for to in languages or ("xx",))
        return running.run(RunConfig(system, selections, resampling=Resampling(n_resamples=100)))

    return of


def found(report: ComparisonReport, metric: str, part: str = "all", cell: str = "tiny.en-xx") -> Comparison:
    (comparison,) = [c for c in report.comparisons if (c.cell, c.metric, c.slice) == (cell, metric, part)]
    return comparison


def test_a_system_and_itself(run: Run) -> None:
    results = run("fake:right?p=0.7", "xx", "yy")
    report = compare(results, results, RESAMPLING, Asked(everything=True))
    assert len(report.comparisons) == 2 * 5
    for comparison in report.comparisons:
        assert (comparison.difference, comparison.low, comparison.high) == (0, 0, 0)
        assert (comparison.p_value, comparison.p_adjusted) == (1, 1)
        assert comparison.detectable == 0
        assert comparison.change() == "unclear"
        assert comparison.n_groups == 20
    for test in report.tests:
        assert test.p_value == 1
        assert test.details == {"only_first_right": 0, "only_second_right": 0, "n": 80}


def test_a_clearly_worse_system(run: Run) -> None:
    right, worse = run("fake:right"), run("fake:right?p=0.4")
    report = compare(right, worse, RESAMPLING)
    assert (report.first, report.second) == ("fake:right", "fake:right?p=0.4")
    accuracy = found(report, "accuracy")
    assert accuracy.first == 100
    assert accuracy.second == worse[0].estimate("accuracy").value
    assert accuracy.difference == pytest.approx(accuracy.second - 100)
    assert accuracy.low is not None
    assert accuracy.high is not None
    assert accuracy.low < accuracy.difference < accuracy.high < 0
    assert accuracy.p_value is not None
    assert accuracy.p_adjusted is not None
    assert accuracy.p_value < accuracy.p_adjusted < 0.05  # four questions were asked at once
    assert accuracy.detectable is not None
    assert 0 < accuracy.detectable < 60
    assert accuracy.change() == "worse"
    assert accuracy.change(alpha=accuracy.p_adjusted / 2) == "unclear"
    # The other way round it is better, by as much.
    back = found(compare(worse, right, RESAMPLING), "accuracy")
    assert back.difference == pytest.approx(-accuracy.difference)
    assert back.change() == "better"


def test_where_all_groups_agree_in_both_the_difference_is_not_certain(run: Run) -> None:
    right, wrong = run("fake:right"), run("fake:right?p=0")
    compared = found(compare(right, wrong, RESAMPLING), "accuracy")
    assert (compared.first, compared.second, compared.difference) == (100, 0, -100)
    unseen = 100 - (right[0].estimate("accuracy").low or 0)
    assert unseen > 1
    assert (compared.low, compared.high) == pytest.approx((-100, -100 + unseen), abs=0.5)


def test_p_values_are_corrected_over_everything_that_was_asked(run: Run) -> None:
    first, second = run("fake:right", "xx", "yy"), run("fake:right?p=0.9", "xx", "yy")
    report = compare(first, second, RESAMPLING)
    assert len(report.comparisons) == 2 * 4
    assert [c.p_adjusted for c in report.comparisons] == statistics.holm([c.p_value for c in report.comparisons])
    assert {c.cell for c in report.comparisons} == {"tiny.en-xx", "tiny.en-yy"}
    assert [test.name for test in report.tests] == ["items-right tiny.en-xx", "items-right tiny.en-yy"]


def test_a_gap_is_better_near_zero(run: Run) -> None:
    fair, unfair = run("fake:right"), run("fake:stereotyped?s=0.8")
    gap = found(compare(fair, unfair, RESAMPLING), "gap")
    assert gap.difference is not None
    assert gap.difference > 50
    assert gap.change() == "worse"
    assert found(compare(unfair, fair, RESAMPLING), "gap").change() == "better"


def test_headline_metrics_or_all(run: Run) -> None:
    results = run("fake:right")
    assert {c.metric for c in compare(results, results, RESAMPLING).comparisons} == {"accuracy", "gap"}
    everything = compare(results, results, RESAMPLING, Asked(everything=True))
    assert {c.metric for c in everything.comparisons} == {"accuracy", "gap", "women"}


def test_a_number_that_one_system_does_not_have(run: Run) -> None:
    for systems in (("fake:right", "fake:silent"), ("fake:silent", "fake:right"), ("fake:silent", "fake:silent")):
        report = compare(*(run(system) for system in systems), RESAMPLING, Asked(everything=True))
        women = found(report, "women")
        assert [women.first is None, women.second is None] == ["silent" in system for system in systems]
        numbers = (women.difference, women.low, women.high, women.p_value, women.p_adjusted, women.detectable)
        assert numbers == (None,) * 6
        assert women.change() == "not compared"
    assert "NaN" not in json.dumps(report.to_json())


def test_the_items_that_only_one_system_has_right(run: Run) -> None:
    (first,) = run("fake:right")
    judgements = list(first.judgements)
    # Ten wrong and two unjudgeable in the second, three of those wrong in the first as well.
    wrong = [replace(j, observed=Gender.NEUTRAL) for j in judgements]
    silent = [replace(j, observed=None, verdict=Verdict.UNJUDGEABLE) for j in judgements]
    second = replace(first, judgements=[*wrong[:10], *silent[10:12], *judgements[12:]])
    first = replace(first, judgements=[*wrong[:3], *judgements[3:79], *wrong[79:]])
    (test,) = compare([first], [second], RESAMPLING).tests
    assert test.details == {"only_first_right": 9, "only_second_right": 1, "n": 80}
    # All ten stand in few groups of items, of which whole ones change places: McNemar's 0.02 would take them for ten.
    assert test.p_value is not None
    assert test.p_value > 0.1
    assert test.name == "items-right tiny.en-xx"


def test_the_same_numbers_every_time(run: Run) -> None:
    first, second = run("fake:right"), run("fake:right?p=0.8")
    report = compare(first, second, RESAMPLING)
    assert compare(first, second, RESAMPLING) == report


def test_runs_read_from_disk_compare_as_those_in_memory(run: Run, selection: Selection, tmp_path: Path) -> None:
    memory = []
    for name, system in (("a", "fake:right"), ("b", "fake:right?p=0.8")):
        memory.append(running.run(RunConfig(system, (selection,)), tmp_path / name))
    disk = [read_results(tmp_path / name) for name in ("a", "b")]
    assert compare(*disk, RESAMPLING) == compare(*memory, RESAMPLING)


def verdict(better: str, first: float | None, second: float | None, p: float | None, half: float = 1) -> str:
    difference, low, high = None, None, None
    if first is not None and second is not None:
        difference = second - first
        low, high = difference - half, difference + half
    return Comparison("cell", "m", "all", first, second, better, 9, difference, low, high, p, p, p).change()


def test_verdicts() -> None:
    assert verdict("higher", 50, 60, 0.01) == "better"
    assert verdict("higher", 60, 50, 0.01) == "worse"
    assert verdict("lower", 60, 50, 0.01) == "better"
    assert verdict("lower", 50, 60, 0.01) == "worse"
    assert verdict("zero", -20, 5, 0.01) == "better"
    assert verdict("zero", 5, -20, 0.01) == "worse"
    assert verdict("neither", 0, 100, 0.01) == "changed"
    for better in ("higher", "lower", "zero", "neither"):
        assert verdict(better, 60, 50, 0.05) == "unclear"
        assert verdict(better, 60, 50, None) == "unclear"
        assert verdict(better, None, 50, None) == "not compared"
        assert verdict(better, 60, None, None) == "not compared"
        # Never surer than the interval, whatever the test says.
        assert verdict(better, 60, 50, 0.0001, half=10) == "unclear"
        assert verdict(better, 60, 50, 0.0001, half=9.9) != "unclear"


@pytest.mark.parametrize(
    ("first", "second", "is_right_less_often"),
    [
        ("fake:right", "fake:right?p=0.8", True),
        ("fake:right?p=0.8", "fake:right", False),
        ("fake:right", "fake:right?seed=2", False),
        ("fake:right", "fake:silent", True),
    ],
)
def test_who_is_right_less_often(run: Run, first: str, second: str, is_right_less_often: bool) -> None:
    report = compare(run(first), run(second), RESAMPLING)
    assert {c.is_right_less_often for c in report.comparisons} == {is_right_less_often}


def test_a_gap_that_shrinks_because_little_is_right_is_no_better() -> None:
    gap = Comparison(
        "cell", "gap", "all", 40, 0, "zero", 9, -40, -50, -30, 0.001, 0.001, 0.001, is_right_less_often=True
    )
    assert gap.change() == "smaller, but right less often"
    assert replace(gap, is_right_less_often=False).change() == "better"
    assert replace(gap, p_adjusted=0.2).change() == "unclear"
    assert replace(gap, second=-60, difference=-100).change() == "worse"


def test_a_gap_on_the_other_side() -> None:
    """As large as before, it is for nobody the better or the worse; from nothing to something, it is."""
    gap = Comparison("cell", "gap", "all", -9, 12, "zero", 9, 21, 15, 27, 0.001, 0.001, 0.3)
    assert replace(gap, was_clear=True, is_clear=True).change() == "changed"
    assert replace(gap, was_clear=False, is_clear=False).change() == "changed"
    assert replace(gap, was_clear=False, is_clear=True).change() == "worse"
    assert replace(gap, first=-12, second=9, was_clear=True, is_clear=False).change() == "better"


# -- what may not be compared


def refused(first: list[Result], second: list[Result]) -> str:
    with pytest.raises(UserError) as caught:
        compare(first, second, RESAMPLING)
    return str(caught.value)


def test_nothing_in_common(run: Run) -> None:
    xx, yy = run("fake:right", "xx"), run("fake:right", "yy")
    assert refused(xx, yy) == ("the two runs have nothing in common: the first holds tiny.en-xx, the second tiny.en-yy")
    assert refused([], yy) == "the two runs have nothing in common: the first holds nothing, the second tiny.en-yy"
    assert [c.cell for c in compare([*xx, *yy], yy, RESAMPLING).comparisons] == ["tiny.en-yy"] * 4


def test_other_data(run: Run) -> None:
    (result,) = run("fake:right")
    assert refused([result], [replace(result, origin="tiny-21")]) == (
        "tiny.en-xx: the runs differ in data (tiny-20 and tiny-21), so their numbers cannot be compared"
    )


def test_other_rules(run: Run) -> None:
    best, other = run("fake:right"), run("fake:right", rules="other")
    assert refused(best, other) == (
        "tiny.en-xx: the runs differ in rules (best-1 and other), so their numbers cannot be compared"
    )
    # A later version of the same rules.
    (result,) = best
    later = replace(result, signature=result.signature.replace("|rules:best-1|", "|rules:best-2|"))
    assert refused([result], [later]) == (
        "tiny.en-xx: the runs differ in rules (best-1 and best-2), so their numbers cannot be compared"
    )


def test_other_clusters(run: Run) -> None:
    assert refused(run("fake:right"), run("fake:right", cluster="template")) == (
        "tiny.en-xx: the runs differ in cluster (occupation and template), so their numbers cannot be compared"
    )


def test_other_items(run: Run) -> None:
    (result,) = run("fake:right")
    words = "tiny.en-xx: the runs do not hold the same items, so they cannot be paired; run both on the same data"
    for judgements in (result.judgements[:-1], result.judgements[::-1], []):
        assert refused([result], [replace(result, judgements=judgements)]) == words


def test_a_gap_that_only_changes_sides_is_neither_better_nor_worse() -> None:
    """As many women wrong as before, and a few men more: the gap is as small as it was, on the other side."""
    item_set = gendermark.items("winomt", "es", data="core")
    women = [item.item_id for item in item_set.items if item.expected is Gender.FEMININE][::4]
    men = [item.item_id for item in item_set.items if item.expected is Gender.MASCULINE][::2]

    def scored(wrong: set[str]) -> list[gendermark.Result]:
        texts = [
            WINOMT.render(item, item.expected.opposite if item.item_id in wrong else item.expected, item_set.selection)
            for item in item_set.items
            if item.expected is not None
        ]
        return [gendermark.score("winomt", texts, "es", data="core")]

    report = compare(scored({*women, *men[:92]}), scored({*women, *men[:109]}), Resampling())
    (gap,) = [c for c in report.comparisons if c.metric == "recall_gap"]
    assert (gap.first or 0) > 0 > (gap.second or 0)
    assert gap.p_size is not None
    assert gap.p_size > 0.3
    assert gap.change() in ("unclear", "changed")
