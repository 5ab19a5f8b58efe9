"""Two or more systems on the same items: what differs, by how much, what may not be compared; the same everywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gendermark
from gendermark import registry
from gendermark.benchmarks.winomt.judge import BENCHMARK as WINOMT
from gendermark.errors import UserError
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender, Judgement, Translation, Verdict
from gendermark.reporting.figures import against_first
from gendermark.reporting.page import render_page
from gendermark.result import Result
from gendermark.runs import gates
from gendermark.runs import run as running
from gendermark.runs.compare import (
    ALPHA,
    CHANGES,
    Asked,
    ComparedMetric,
    Comparison,
    ComparisonReport,
    check_comparable,
    compare,
    compare_many,
    condition_labels,
    key_of,
    too_coarse,
)
from gendermark.runs.folder import Run as StoredRun
from gendermark.runs.folder import Text
from gendermark.runs.run import RunConfig
from gendermark.runs.score import Origin, summarise
from gendermark.selection import Selection

RESAMPLING = Resampling(n_resamples=1_000)
Run = Callable[..., list[Result]]


@pytest.fixture
def run(selection: Selection) -> Run:
    def of(system: str, *languages: str, **changes: str) -> list[Result]:
        selections = tuple(replace(selection, target_language=to, **changes) for to in languages or ("xx",))
        return running.run(RunConfig(system, selections, resampling=Resampling(n_resamples=100)))

    return of


@pytest.fixture
def three(run: Run) -> dict[str, list[Result]]:
    return {"v1": run("fake:right"), "v2": run("fake:right?p=0.4"), "v3": run("fake:right?p=0.9")}


def found(report: ComparisonReport, metric: str) -> Comparison:
    return next(c for c in report.comparisons if (c.metric, c.slice) == (metric, "all"))


# -- two runs ----------------------------------------------------------------------------------------------------------


def test_a_system_and_itself(run: Run) -> None:
    results = run("fake:right?p=0.7", "xx", "yy")
    report = compare(results, results, RESAMPLING, Asked(everything=True))
    assert len(report.comparisons) == 2 * 5
    for c in report.comparisons:
        assert (c.difference, c.low, c.high, c.p_value, c.p_adjusted, c.detectable) == (0, 0, 0, 1, 1, 0)
        assert (c.in_words(), c.n_groups) == ("not significant", 20)
    assert {test.p_value for test in report.tests} == {1}


def test_a_worse_system(run: Run) -> None:
    right, worse = run("fake:right"), run("fake:right?p=0.4")
    report = compare(right, worse, RESAMPLING)
    assert report == compare(right, worse, RESAMPLING), "the same numbers every time"
    accuracy = found(report, "accuracy")
    assert (accuracy.first, accuracy.second) == (100, worse[0].estimate("accuracy").value)
    low, difference, high = accuracy.low or 0, accuracy.difference or 0, accuracy.high or 0
    assert low < difference < high < 0
    assert (accuracy.p_value or 1) < (accuracy.p_adjusted or 1) < 0.05, "four questions were asked at once"
    assert 0 < (accuracy.detectable or 0) < 60
    assert (accuracy.change(), accuracy.is_right_less_often) == ("worse", True)
    assert accuracy.in_words(alpha=(accuracy.p_adjusted or 0) / 2) == "not significant after correction"
    back = found(compare(worse, right, RESAMPLING), "accuracy")
    assert (back.difference, back.change(), back.is_right_less_often) == (pytest.approx(-difference), "better", False)


def test_where_all_groups_agree_in_both_the_difference_is_not_certain(run: Run) -> None:
    right, wrong = run("fake:right"), run("fake:right?p=0")
    compared = found(compare(right, wrong, RESAMPLING), "accuracy")
    unseen = 100 - (right[0].estimate("accuracy").low or 0)
    assert unseen > 1
    assert (compared.low, compared.high) == pytest.approx((-100, -100 + unseen), abs=0.5)


def test_a_number_that_one_system_does_not_have(run: Run) -> None:
    for systems in (("fake:right", "fake:silent"), ("fake:silent", "fake:right"), ("fake:silent", "fake:silent")):
        report = compare(*(run(system) for system in systems), RESAMPLING, Asked(everything=True))
        women = found(report, "women")
        assert [women.first is None, women.second is None] == ["silent" in system for system in systems]
        assert {women.difference, women.low, women.high, women.p_value, women.p_adjusted, women.detectable} == {None}
        assert women.in_words() == "not compared"
    assert "NaN" not in json.dumps(report.to_json())


def test_items_of_one_group_are_not_independent(run: Run) -> None:
    (first,) = run("fake:right")
    judgements = list(first.judgements)
    # Ten wrong and two unjudgeable in the second, three of those wrong in the first as well.
    wrong = [replace(j, observed=Gender.NEUTRAL) for j in judgements]
    silent = [replace(j, observed=None, verdict=Verdict.UNJUDGEABLE) for j in judgements]
    second = replace(first, judgements=[*wrong[:10], *silent[10:12], *judgements[12:]])
    first = replace(first, judgements=[*wrong[:3], *judgements[3:79], *wrong[79:]])
    (test,) = compare([first], [second], RESAMPLING).tests
    assert test.details == {"only_first_right": 9, "only_second_right": 1, "n": 80}
    assert (test.p_value or 0) > 0.1, "McNemar's test would say 0.02"


def test_a_gap_that_shrinks_because_little_is_right_is_no_better() -> None:
    gap = Comparison("cell", "gap", "all", 40, 0, "zero", 9, -40, -50, -30, 0.001, 0.001, 0.001)
    assert replace(gap, is_right_less_often=True).change() == "smaller gap, but lower accuracy"
    assert gap.change() == "better"
    assert replace(gap, second=-60, difference=-100, is_right_less_often=True).change() == "worse"


def test_a_gap_that_only_changes_sides_is_neither_better_nor_worse() -> None:
    """As many women wrong as before, and a few men more: the gap is as small as it was, on the other side."""
    item_set = gendermark.items("winomt", "es", data="core")
    women = [item.item_id for item in item_set.items if item.expected is Gender.FEMININE][::4]
    men = [item.item_id for item in item_set.items if item.expected is Gender.MASCULINE][::2]

    def scored(wrong: set[str]) -> list[Result]:
        texts = [
            WINOMT.render(item, item.expected.opposite if item.item_id in wrong else item.expected, item_set.selection)
            for item in item_set.items
            if item.expected is not None
        ]
        return [gendermark.score("winomt", texts, "es", data="core")]

    gap = found(compare(scored({*women, *men[:92]}), scored({*women, *men[:109]}), Resampling()), "recall_gap")
    assert (gap.first or 0) > 0 > (gap.second or 0)
    assert (gap.p_size or 0) > 0.3
    assert gap.change() in ("unclear", "changed")


# -- the word is never surer than the numbers --------------------------------------------------------------------------

_NUMBERS = st.one_of(st.none(), st.floats(-100, 100, allow_nan=False))


@given(
    values=st.tuples(_NUMBERS, _NUMBERS),
    ends=st.one_of(st.just((None, None)), st.tuples(st.floats(-100, 100), st.floats(-100, 100)).map(sorted)),
    p=st.one_of(st.none(), st.floats(0, 1)),
    better=st.sampled_from(("higher", "lower", "zero", "neither")),
    less=st.booleans(),
)
def test_better_and_worse_only_where_test_and_interval_agree(
    values: tuple[float | None, float | None], ends: Any, p: float | None, better: str, less: bool
) -> None:
    a, b = values
    difference = b - a if a is not None and b is not None else None
    c = Comparison("x.en-es", "m", "all", a, b, better, 9, difference, *ends, p, p, p, is_right_less_often=less)
    change = c.change()
    assert change in CHANGES
    if change not in ("unclear", "not compared"):
        assert p is not None
        assert p < ALPHA
        assert ends[0] > 0 or ends[1] < 0
    if difference is None:
        assert change == "not compared"


def test_next_to_nothing_right_is_no_evidence() -> None:
    """A is right on one pro sentence, B on all pro sentences of another occupation: that is all they differ in."""
    benchmark = registry.load("benchmark", "simplegen")
    item_set = benchmark.load(benchmark.complete(Selection("simplegen", "en", "es", data="core")))
    occupations = sorted({item.entity for item in item_set.items if item.tags["group"] == "fofc"})[:2]

    def result(is_right: Any) -> Result:
        judgements = [
            Judgement.of(item, Verdict.JUDGED, item.expected)
            if is_right(item)
            else Judgement.of(item, Verdict.UNJUDGEABLE, reason="absent")
            for item in item_set.items
        ]
        return summarise(benchmark, item_set, judgements, Origin("test", resampling=Resampling(200)))

    one = next(i.item_id for i in item_set.items if i.tags["group"] == "fofc" and i.entity == occupations[0])
    first = result(lambda item: item.item_id == one)
    second = result(lambda item: item.tags["group"] == "fofc" and item.entity == occupations[1])
    delta = next(c for c in compare([first], [second], RESAMPLING).comparisons if c.metric == "delta")
    assert (delta.p_value or 0) > 0.05
    assert delta.change() == "unclear"


# -- more than two: every pair, or versions in their order -------------------------------------------------------------


def metric_of(metrics: Sequence[ComparedMetric], name: str) -> ComparedMetric:
    return next(m for m in metrics if m.any.key[1:] == (name, "all"))


def test_every_pair_as_if_it_were_alone(three: dict[str, list[Result]]) -> None:
    for asked, trend in ((Asked(), False), (Asked(), True), (Asked(everything=True), False)):
        many = compare_many(three, RESAMPLING, asked, trend=trend)
        for pair in ((0, 1), (0, 2), (1, 2)):
            alone = compare(three[many.runs[pair[0]]], three[many.runs[pair[1]]], RESAMPLING, asked)
            assert [m.differences[pair] for m in many.metrics] == list(alone.comparisons)
            headline = [m.differences[pair] for m in many.metrics if m.any.metric != "women"]
            assert [c.p_adjusted for c in headline] == statistics.holm([c.p_value for c in headline])
            others = [m.differences[pair] for m in many.metrics if m.any.metric == "women"]
            assert [c.p_adjusted for c in others] == [c.p_value for c in others], "a family of one"
    assert [metric_of(many.metrics, "accuracy").differences[pair].change() for pair in ((0, 1), (1, 2))] == [
        "worse",
        "better",
    ]


def test_metrics_by_name(three: dict[str, list[Result]]) -> None:
    def names(*asked: str) -> list[str]:
        return [f"{m.any.metric}:{m.any.slice}" for m in compare_many(three, RESAMPLING, Asked(asked)).metrics]

    assert names("accuracy") == ["accuracy:all"]
    assert names("tiny.accuracy:anti", "women") == ["accuracy:anti", "women:all"]
    with pytest.raises(UserError, match=r"'acuracy'.*accuracy:all"):
        names("acuracy")


def test_json_of_many(run: Run, three: dict[str, list[Result]]) -> None:
    content = json.loads(json.dumps(compare_many(three, RESAMPLING).to_json(), allow_nan=False))
    assert set(content) == {"runs", "matrix", "notes"}
    assert content["runs"][1] == {"name": "v2", "system": "fake:right?p=0.4", "called": "unbiased control (p=0.4)"}
    assert [value["run"] for value in content["matrix"][0]["values"]] == ["v1", "v2", "v3"]
    assert len(content["matrix"][0]["differences"]) == 3
    trend = compare_many({**three, "v4": run("fake:right?p=0.9")}, RESAMPLING, trend=True).to_json()["trend"]
    assert [(d["first"], d["second"]) for d in trend[0]["steps"]] == [("v1", "v2"), ("v2", "v3"), ("v3", "v4")]
    assert [d["second"] for d in trend[0]["from_first"]] == ["v2", "v3", "v4"]


def test_too_many_questions_for_the_resamples(run: Run) -> None:
    (note,) = too_coarse(26, RESAMPLING)
    assert "--resamples 1041" in note
    assert too_coarse(26, replace(RESAMPLING, n_resamples=1041)) == []
    # Only where a p-value is made by resampling: those of gaps and shares can be as small as they are.
    results = run("fake:right")
    assert compare(results, results, RESAMPLING).n_questions == 0
    tgbi = gendermark.run("fake:right", ["tgbi"], "en", data="core", source_language="ko")
    assert compare(tgbi, tgbi, RESAMPLING).n_questions == 8


# -- what may not be compared ------------------------------------------------------------------------------------------


def refused(first: list[Result], second: list[Result]) -> str:
    with pytest.raises(UserError) as caught:
        compare(first, second, RESAMPLING)
    return str(caught.value)


def test_only_what_both_have(run: Run) -> None:
    xx, yy = run("fake:right", "xx"), run("fake:right", "yy")
    assert "first holds tiny.en-xx, the second tiny.en-yy" in refused(xx, yy)
    assert "first holds nothing" in refused([], yy)
    assert {c.cell for c in compare([*xx, *yy], yy, RESAMPLING).comparisons} == {"tiny.en-yy"}
    many = compare_many({"a": [*xx, *yy], "b": yy, "c": [*yy, *xx]}, RESAMPLING)
    assert {m.any.cell for m in many.metrics} == {"tiny.en-yy"}
    assert many.notes == ("not in every run, and left out: tiny.en-xx",)
    with pytest.raises(UserError, match=r"a holds tiny\.en-xx; b holds tiny\.en-yy; c holds nothing"):
        compare_many({"a": xx, "b": yy, "c": []}, RESAMPLING)


def test_other_data_rules_clusters_or_items(run: Run, three: dict[str, list[Result]]) -> None:
    (result,) = run("fake:right")
    later = replace(result, signature=result.signature.replace("|rules:best-1|", "|rules:best-2|"))
    others = {
        "data (tiny-20 and tiny-21)": replace(result, origin="tiny-21"),
        "rules (best-1 and other)": run("fake:right", rules="other")[0],
        "rules (best-1 and best-2)": later,
        "cluster (occupation and template)": run("fake:right", cluster="template")[0],
    }
    for what, other in others.items():
        assert what in refused([result], [other])
    for judgements in (result.judgements[:-1], result.judgements[::-1], []):
        assert "different items" in refused([result], [replace(result, judgements=judgements)])
    three["v3"] = [replace(three["v3"][0], origin="tiny-21")]
    with pytest.raises(UserError, match=r"^v1 and v3: tiny\.en-xx: the runs differ in data"):
        compare_many(three, RESAMPLING)


def _scored(name: str, **options: Any) -> Result:
    item_set = gendermark.items(name, "es", data="core", **options)
    benchmark = registry.load("benchmark", name)
    fake = [benchmark.render(item, item.expected or Gender.MASCULINE, item_set.selection) for item in item_set.items]
    if benchmark.draws:
        fake = [[text] * item_set.selection.n_samples for text in fake]  # type: ignore[misc]
        answers = [[Translation("", text, n) for n, text in enumerate(texts)] for texts in fake]
        return summarise(benchmark, item_set, benchmark.judge(item_set, answers), Origin("files"))
    answers = [[Translation("", text)] for text in fake]
    return summarise(benchmark, item_set, benchmark.judge(item_set, answers), Origin("files"))


DRAWN: dict[str, Any] = {"parts": ("referenced",), "n_samples": 2}


@pytest.mark.parametrize(
    ("name", "one", "other", "what"),
    [
        ("winomt", {"rules": "best"}, {"rules": "repo2020"}, f"rules (best-{WINOMT.rules_version} and repo2020)"),
        ("winomt", {}, {"cluster": "contrast"}, "cluster (entity and contrast)"),
        ("uncertainty", DRAWN, {**DRAWN, "n_samples": 3}, "n_samples (2 and 3)"),
        ("uncertainty", DRAWN, {**DRAWN, "sampling": "epsilon=0.1"}, "sampling (epsilon=0.2 and epsilon=0.1)"),
        ("uncertainty", DRAWN, {**DRAWN, "alpha": "8"}, "alpha (16 and 8)"),
        ("mt-geneval-counterfactual", {}, {"parts": ("masculine",)}, "parts (all and masculine)"),
    ],
)
def test_what_was_measured_otherwise_is_refused(
    name: str, one: dict[str, Any], other: dict[str, Any], what: str
) -> None:
    a, b = _scored(name, **one), _scored(name, **other)
    with pytest.raises(UserError, match=rf"the runs differ in {re.escape(what)}, so their numbers cannot be compared"):
        compare([a], [b], RESAMPLING)
    left_out = compare([a], [b], RESAMPLING, leave_out=True)
    assert left_out.comparisons == ()
    assert what in left_out.refusals[0]
    assert key_of(a) != key_of(b)


@pytest.mark.parametrize("key", ["data", "detector", "aligner", "similarity", "entailment"])
def test_whatever_a_signature_says_counts(key: str) -> None:
    a = _scored("uncertainty", **DRAWN)
    signed = {**a.signed, key: "another"}
    b = replace(a, signature="|".join(f"{name}:{value}" for name, value in signed.items()))
    b = replace(b, origin="another") if key == "data" else b
    if key in ("aligner", "detector", "similarity", "entailment"):
        b = replace(b, selection=replace(b.selection, **{key: "another"}))
    with pytest.raises(UserError, match=rf"the runs differ in {key} "):
        check_comparable(a, b)


def test_a_tuned_alpha_counts_by_its_value() -> None:
    a = _scored("uncertainty", **DRAWN)
    b = replace(a, signature=a.signature.replace("alpha-16", "alpha-tuned=8"))
    with pytest.raises(UserError, match=r"differ in alpha \(16 and 8\), so their .* rejudge RUN --alpha NUMBER"):
        compare([a], [b], RESAMPLING)


def test_what_may_be_under_study_is_compared_and_labelled() -> None:
    alone, joined = (_scored("mt-geneval-contextual", context=context) for context in ("none", "joined"))
    report = compare([alone], [joined], RESAMPLING)
    assert report.comparisons
    assert report.notes == ("mt-geneval-contextual.en-es: the runs differ in context (none and joined)",)
    assert set(condition_labels([alone, joined]).values()) == {"context none", "context joined"}
    page = render_page([_texted(_stored("a", [alone])), _texted(_stored("b", [joined]))])
    assert "English → Spanish (context none)" in page
    assert "English → Spanish (context joined)" in page
    assert "the runs differ in context (none and joined)" in page


def _texted(run: StoredRun) -> StoredRun:
    texts = {r.cell: [Text("source", ("translation",)) for _ in r.judgements] for r in run.results}
    run.__dict__["texts"] = texts
    return run


# -- one question, one answer ------------------------------------------------------------------------------------------

SELECTIONS = {
    "terms": Selection("terms", "en", "es", data="core"),
    "winomt": Selection("winomt", "en", "es", data="core"),
    "mt-geneval-counterfactual": Selection("mt-geneval-counterfactual", "en", "es", data="core"),
}
SYSTEMS = (
    "fake:right?p=0.9",
    "fake:stereotyped?s=0.4",
    "fake:coin",
    "fake:silent",
)


@pytest.fixture(scope="module")
def runs() -> dict[str, list[Result]]:
    return {system: gendermark.run(system, list(SELECTIONS.values())) for system in SYSTEMS}


def _stored(name: str, results: Sequence[Result]) -> StoredRun:
    config: dict[str, Any] = {"system": name, "selections": [result.selection.to_json() for result in results]}
    return StoredRun(name, {"config": config, "cells": {}, "status": "finished"}, results, {})


def _facts(c: Comparison) -> tuple[Any, ...]:
    return c.key, c.first, c.second, c.difference, c.low, c.high, c.p_value, c.p_adjusted, c.change()


@given(pair=st.tuples(st.sampled_from(SYSTEMS), st.sampled_from(SYSTEMS)))
@settings(max_examples=3)
def test_every_output_gives_the_same_answer(runs: dict[str, list[Result]], pair: tuple[str, str]) -> None:
    first, second = (runs[name] for name in pair)
    answer = {c.key: _facts(c) for c in compare(first, second).comparisons}
    # Of all metrics, of some, and among other runs.
    asked = compare(first, second, asked=Asked(everything=True)).comparisons
    assert {c.key: _facts(c) for c in asked if c.key in answer} == answer
    one = compare(first, second, asked=Asked(["winomt.delta_s"])).comparisons
    assert [_facts(c) for c in one] == [answer["winomt.en-es", "delta_s", "all"]]
    third = runs["fake:coin"]
    many = compare_many({"a": first, "b": second, "c": third})
    assert {m.any.key: _facts(m.differences[0, 1]) for m in many.metrics} == answer
    # The page and its figures.
    drawn = against_first(first, second)
    assert {c.key: _facts(c) for c in drawn.comparisons} == answer
    # The gate.
    checks = gates.against_baseline(second, first, Resampling(10_000), ALPHA)
    for check in checks:
        if check.kind == "general" and check.difference is not None:
            key = (check.cell, check.metric, check.slice)
            _, before, now, difference, low, high, _, p_adjusted, change = answer[key]
            assert (check.baseline, check.value, check.difference) == (before, now, difference)
            assert (check.low, check.high, check.p_adjusted) == (low, high, p_adjusted)
            assert check.passed == (change != "worse" or check.grew)
