"""More than two runs: every pair, or versions in order; each pair corrected as if alone, told in plain sentences."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

import gendermark
from gendermark.errors import UserError
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.records import Estimate, Unit
from gendermark.result import Result
from gendermark.runs import run as running
from gendermark.runs.compare import Asked, ComparedMetric, Comparison, ManyCompared, compare, compare_many, too_coarse
from gendermark.runs.run import RunConfig
from gendermark.selection import Selection

RESAMPLING = Resampling(n_resamples=1_000)
Run = Callable[..., list[Result]]


@pytest.fixture
def run(selection: Selection) -> Run:
    def of(system: str, *languages: str) -> list[Result]:
        selections = tuple(replace(selection, target_language=to) for to in languages or ("xx",))
        return running.run(RunConfig(system, selections, resampling=Resampling(n_resamples=100)))

    return of


@pytest.fixture
def three(run: Run) -> dict[str, list[Result]]:
    return {"v1": run("fake:right"), "v2": run("fake:right?p=0.4"), "v3": run("fake:right?p=0.9")}


def metric(found: ManyCompared, name: str, part: str = "all") -> ComparedMetric:
    (one,) = [m for m in found.metrics if (m.metric, m.slice) == (name, part)]
    return one


def test_every_pair_as_compare_finds_it(three: dict[str, list[Result]]) -> None:
    found = compare_many(three, RESAMPLING)
    accuracy = metric(found, "accuracy")
    assert list(accuracy.differences) == [(0, 1), (0, 2), (1, 2)]
    for (i, j), difference in accuracy.differences.items():
        alone = compare(three[found.runs[i]], three[found.runs[j]], RESAMPLING)
        (expected,) = [c for c in alone.comparisons if (c.metric, c.slice) == ("accuracy", "all")]
        assert difference == expected
    assert [accuracy.verdict(pair) for pair in ((0, 1), (1, 2))] == ["worse", "better"]
    assert found.systems == ("fake:right", "fake:right?p=0.4", "fake:right?p=0.9")


def test_p_values_are_corrected_within_each_pair(three: dict[str, list[Result]]) -> None:
    """More runs beside two change nothing about these two; nor do metrics that are no headline."""
    for asked, trend in ((Asked(), False), (Asked(), True), (Asked(everything=True), False)):
        metrics = compare_many(three, RESAMPLING, asked, trend=trend).metrics
        for pair in ((0, 1), (0, 2), (1, 2)):
            headline = [m.differences[pair] for m in metrics if m.metric != "women"]
            assert len(headline) == 4
            assert [c.p_adjusted for c in headline] == statistics.holm([c.p_value for c in headline])
            for (other,) in [[m.differences[pair]] for m in metrics if m.metric == "women"]:
                assert other.p_adjusted == other.p_value, "a family of one"


def test_values_are_those_of_the_runs_with_intervals_as_asked(three: dict[str, list[Result]]) -> None:
    wide, narrow = (
        metric(compare_many(three, replace(RESAMPLING, confidence=confidence)), "accuracy").values
        for confidence in (0.99, 0.8)
    )
    for (result,), a, b in zip(three.values(), wide, narrow, strict=True):
        assert a.value == b.value == result.estimate("accuracy").value
    assert wide[1].low is not None
    assert wide[1].high is not None
    assert narrow[1].low is not None
    assert narrow[1].high is not None
    assert wide[1].low < narrow[1].low < narrow[1].high < wide[1].high


def test_metrics_by_name(three: dict[str, list[Result]]) -> None:
    def names(*asked: str) -> list[str]:
        return [m.name for m in compare_many(three, RESAMPLING, Asked(asked)).metrics]

    assert names("accuracy") == ["accuracy"]
    assert names("tiny.accuracy:anti", "women") == ["accuracy:anti", "women"]
    assert len(compare_many(three, RESAMPLING, Asked(everything=True)).metrics) == 5
    with pytest.raises(UserError, match=r"the runs have no metric 'acuracy' in common; available: accuracy:all, "):
        names("acuracy")
    pair = compare(three["v1"], three["v2"], RESAMPLING, Asked(["gap"]))
    assert [c.metric for c in pair.comparisons] == ["gap"]


def test_a_trend_asks_about_steps_and_the_first(run: Run) -> None:
    runs = {f"v{n}": run(f"fake:right?p={p}") for n, p in enumerate(("1", "0.4", "0.9", "0.9"), 1)}
    found = compare_many(runs, RESAMPLING, trend=True)
    assert set(metric(found, "accuracy").differences) == {(0, 1), (1, 2), (2, 3), (0, 2), (0, 3)}
    assert (found.steps, found.from_first) == ([(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)])
    (row, *_) = found.to_json()["trend"]
    assert [(d["first"], d["second"]) for d in row["steps"]] == [("v1", "v2"), ("v2", "v3"), ("v3", "v4")]
    assert [d["second"] for d in row["from_first"]] == ["v2", "v3", "v4"]
    assert row["sentence"] == metric(found, "accuracy").trend(found.called)


def test_a_matrix_as_json(three: dict[str, list[Result]]) -> None:
    content = json.loads(json.dumps(compare_many(three, RESAMPLING).to_json(), allow_nan=False))
    assert set(content) == {"runs", "matrix", "notes"}
    assert content["runs"][1] == {"name": "v2", "system": "fake:right?p=0.4", "called": "right (fake, p=0.4)"}
    row = content["matrix"][0]
    assert [value["run"] for value in row["values"]] == ["v1", "v2", "v3"]
    assert {d["change"] for d in row["differences"]} <= {"better", "worse", "changed", "unclear"}
    assert len(row["differences"]) == 3


# -- sentences


def told(*values: float | None, p: float = 0.001, better: str = "higher", half: float = 2) -> str:
    estimates = tuple(Estimate("m", "all", v, None, None, 9, 9, 9) for v in values)
    differences = {}
    for i, first in enumerate(values):
        for j, second in enumerate(values):
            known = first is not None and second is not None
            d = second - first if first is not None and second is not None else None
            low, high = (d - half, d + half) if d is not None else (None, None)
            q = p if known else None
            differences[i, j] = Comparison("c", "m", "all", first, second, better, 9, d, low, high, q, q, q)
    names = [f"v{n}" for n, _ in enumerate(values, 1)]
    return ComparedMetric("c", "m", "all", better, Unit.PERCENT, estimates, differences).trend(names)


def test_trends_in_words() -> None:
    assert told(50, 51, 60) == (
        "c m: 50.0 in v1, 60.0 in v3: better, significant (p 0.0010 after Holm; the difference lies "
        "between +8.0 and +12.0). Of single steps, v3 is better than v2."
    )
    assert told(60, 50, 60) == (
        "c m: 60.0 in v1, 60.0 in v3: no significant change (p 0.0010 after Holm; the difference lies between -2.0 and "
        "+2.0). Of single steps, v2 is worse than v1; v3 is better than v2."
    )
    assert told(60, 50, p=0.2).startswith("c m: 60.0 in v1, 50.0 in v2: no significant change (p 0.2000 after Holm;")
    assert "single steps" not in told(60, 50)
    assert told(50, 51, 52, 53).endswith("+5.0). Of single steps, none is clear by itself.")
    assert ": worse, significant" in told(50, 60, better="lower")
    assert ": better, significant" in told(-20, 5, better="zero")
    assert told(50, 60, 60, better="neither").endswith(" v2 is changed from v1.")
    assert told(50, None) == "c m: 50.0 in v1, – in v2; too little was judged to tell whether it has changed."
    assert told(50, None, 60).endswith("+12.0). Of single steps, none is clear by itself.")


def test_never_surer_than_the_interval() -> None:
    assert "no significant change" in told(50, 60, half=10)
    assert "no clear change" not in told(50, 60, half=9.9)


# -- what is left out, refused or warned of


def test_only_what_all_runs_have(run: Run) -> None:
    runs = {"a": run("fake:right", "xx", "yy"), "b": run("fake:right", "yy"), "c": run("fake:right", "yy", "xx")}
    found = compare_many(runs, RESAMPLING)
    assert {m.cell for m in found.metrics} == {"tiny.en-yy"}
    assert found.notes == ("not in every run, and left out: tiny.en-xx",)


def test_nothing_in_common(run: Run) -> None:
    runs = {"a": run("fake:right", "xx"), "b": run("fake:right", "yy"), "c": []}
    with pytest.raises(UserError) as caught:
        compare_many(runs, RESAMPLING)
    assert str(caught.value) == (
        "the runs have no benchmark and direction in common: a holds tiny.en-xx; b holds tiny.en-yy; c holds nothing"
    )


def test_the_runs_that_differ_are_named(three: dict[str, list[Result]]) -> None:
    three["v3"] = [replace(three["v3"][0], origin="tiny-21")]
    with pytest.raises(UserError, match=r"^v1 and v3: tiny\.en-xx: the runs differ in data"):
        compare_many(three, RESAMPLING)


def test_a_number_that_one_run_does_not_have(run: Run) -> None:
    runs = {"a": run("fake:right"), "b": run("fake:silent"), "c": run("fake:right?p=0.4")}
    found = compare_many(runs, RESAMPLING, Asked(["women"]))
    women = metric(found, "women")
    assert women.values[1].value is None
    assert women.verdict((0, 1)) == "not compared"
    assert "NaN" not in json.dumps(found.to_json())


def test_too_many_questions_for_the_resamples(run: Run) -> None:
    assert too_coarse(26, RESAMPLING) == [
        "26 questions were asked at once, too many for 1,000 resamples to answer those clearly that are resampled; "
        "give --resamples 1041"
    ]
    assert too_coarse(26, replace(RESAMPLING, n_resamples=1041)) == []
    # Only where a p-value is made by resampling: those of gaps and shares can be as small as they are.
    results = run("fake:right")
    assert compare(results, results, RESAMPLING).n_questions == 0
    tgbi = gendermark.run("fake:right", ["tgbi"], "en", data="core", source_language="ko")
    assert compare(tgbi, tgbi, RESAMPLING).n_questions == 8
