"""One question, one answer: `compare`, `gate`, the page, its findings and its figures say the same."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gendermark
from gendermark import registry
from gendermark.cli.app import main
from gendermark.errors import UserError
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender, Judgement, Translation, Verdict, show_p
from gendermark.reporting.differences import differences
from gendermark.reporting.figures import compared_with_first
from gendermark.reporting.page import render_page
from gendermark.result import Result
from gendermark.runs import gates
from gendermark.runs.compare import (
    ALPHA,
    CHANGES,
    RESAMPLING,
    Asked,
    Comparison,
    check_comparable,
    compare,
    compare_many,
    condition_labels,
    key_of,
)
from gendermark.runs.folder import Run
from gendermark.runs.score import Origin, summarise

FEW = replace(RESAMPLING, n_resamples=1000)
SIMPLEGEN = gendermark.Selection("simplegen", "en", "es", data="core", parts=("fofc", "momc", "fomc", "mofc"))
SELECTIONS = {
    "terms": gendermark.Selection("terms", "en", "es", data="core"),
    "winomt": gendermark.Selection("winomt", "en", "es", data="core"),
    "mt-geneval-counterfactual": gendermark.Selection("mt-geneval-counterfactual", "en", "es", data="core"),
}
SYSTEMS = (
    "fake:right?p=0.9",
    "fake:right?p=0.8",
    "fake:stereotyped?s=0.4",
    "fake:masculine",
    "fake:coin",
    "fake:silent",
)


@pytest.fixture(scope="module")
def runs() -> dict[str, list[Result]]:
    return {system: gendermark.run(system, list(SELECTIONS.values())) for system in SYSTEMS}


def _run(name: str, results: Sequence[Result]) -> Run:
    config: dict[str, Any] = {"system": name, "selections": [result.selection.to_json() for result in results]}
    return Run(name, {"config": config, "cells": {}, "status": "finished"}, results)


def _facts(c: Comparison) -> tuple[Any, ...]:
    return c.key, c.first, c.second, c.difference, c.low, c.high, c.p_value, c.p_adjusted, c.change()


@given(pair=st.tuples(st.sampled_from(SYSTEMS), st.sampled_from(SYSTEMS)))
@settings(max_examples=3)
def test_every_output_gives_the_same_answer(
    runs: dict[str, list[Result]], tmp_path_factory: pytest.TempPathFactory, pair: tuple[str, str]
) -> None:
    first, second = (runs[name] for name in pair)
    answer = {c.key: _facts(c) for c in compare(first, second).comparisons}
    # Of all metrics, of some, and among other runs.
    asked = compare(first, second, asked=Asked(everything=True)).comparisons
    assert {c.key: _facts(c) for c in asked if c.key in answer} == answer
    one = compare(first, second, asked=Asked(["winomt.delta_s"])).comparisons
    assert [_facts(c) for c in one] == [answer["winomt.en-es", "delta_s", "all"]]
    third = runs["fake:coin"]
    many = compare_many({"a": first, "b": second, "c": third})
    assert {(m.cell, m.metric, m.slice): _facts(m.differences[0, 1]) for m in many.metrics} == answer
    # The page and its figures.
    told = differences([first, second, third])
    assert {d.comparison.key: _facts(d.comparison) for d in told.of_run(1)} == answer
    drawn = compared_with_first({"a": first, "b": second, "c": third})["b"]
    assert {c.key: _facts(c) for c in drawn.comparisons} == answer
    # The gate, which reads folders.
    checks = {(c.cell, c.metric, c.slice): c for c in _gate(first, second)}
    for key, (_, *_, p_adjusted, change) in answer.items():
        check = checks[key]
        if check.compared and "lost" not in check.finding and "so nothing can be said" not in check.finding:
            assert check.passed == (change != "worse" or check.grew)
            assert f", {change} (p " in check.finding
            assert f"(p {show_p(p_adjusted)} " in check.finding


def _gate(before: Sequence[Result], now: Sequence[Result]) -> list[gates.Check]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gates, "read_verified", lambda path: {"before": before, "now": now}[path.name])
        return gates.against_baseline(Path("now"), Path("before"), RESAMPLING, ALPHA)


def test_the_command_line_and_the_page_print_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By what people read: folders in, `compare --json`, `gate --json` and the page out."""
    folders = {}
    for name, system in (("a", "fake:right?p=0.9"), ("b", "fake:stereotyped?s=0.4")):
        chosen = [SELECTIONS["terms"], SELECTIONS["winomt"]]
        gendermark.run(system, chosen, directory=tmp_path / name)
        folders[name] = str(tmp_path / name)
    compared = _json(["compare", *folders.values(), "--json"], capsys)["comparisons"]
    gated = _json(["gate", folders["b"], "--baseline", folders["a"], "--json"], capsys, code=1)["checks"]
    with pytest.raises(SystemExit):
        main(["report", *folders.values(), "-o", str(tmp_path / "page.html")])
    page = unescape(re.sub(r"<[^>]*>", " ", (tmp_path / "page.html").read_text(encoding="utf-8")))
    page = " ".join(page.replace("−", "-").split())
    gated = [check for check in gated if check["kind"] == "general"]
    assert len(compared) == len(gated) > 4
    for found, check in zip(compared, gated, strict=True):
        assert (found["cell"], found["metric"], found["slice"]) == (check["cell"], check["metric"], check["slice"])
        assert f", {found['change']} (p {show_p(found['p_adjusted'])} after Holm)" in check["finding"]
        low, high = (f"{found[end]:.1f}" for end in ("low", "high"))
        p = "p < 0.0001" if found["p_adjusted"] < 0.0001 else f"p {found['p_adjusted']:.4f}"
        assert f"{found['difference']:.1f} {low} to {high} {p} {found['change']}" in page


def _json(arguments: list[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


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
    item_set = benchmark.load(benchmark.complete(SIMPLEGEN))
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
    delta = next(c for c in compare([first], [second], FEW).comparisons if c.metric == "delta")
    assert (delta.p_value or 0) > 0.05
    assert delta.change() == "unclear"


# -- what can be compared ----------------------------------------------------------------------------------------------


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
        ("winomt", {"rules": "best"}, {"rules": "repo2020"}, "rules (best-4 and repo2020)"),
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
        compare([a], [b], FEW)
    left_out = compare([a], [b], FEW, leave_out=True)
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
        compare([a], [b], FEW)


def test_what_may_be_under_study_is_compared_and_labelled() -> None:
    alone, joined = (_scored("mt-geneval-contextual", context=context) for context in ("none", "joined"))
    report = compare([alone], [joined], FEW)
    assert report.comparisons
    assert report.notes == ("mt-geneval-contextual.en-es: the runs differ in context (none and joined)",)
    assert set(condition_labels([alone, joined]).values()) == {"context none", "context joined"}
    page = render_page([_texted(_run("a", [alone])), _texted(_run("b", [joined]))])
    assert "English → Spanish (context none)" in page
    assert "English → Spanish (context joined)" in page
    assert "the runs differ in context (none and joined)" in page


def _texted(run: Run) -> Run:
    from gendermark.runs.folder import Text

    texts = {r.cell: [Text("source", ("translation",)) for _ in r.judgements] for r in run.results}
    run.__dict__["texts"] = texts
    return run


def test_more_resamples_hardly_move_the_answer(runs: dict[str, list[Result]]) -> None:
    a, b = runs["fake:right?p=0.9"], runs["fake:right?p=0.8"]
    few, many = (compare(a, b, replace(RESAMPLING, n_resamples=n)).comparisons for n in (2000, 10_000))
    for one, other in zip(few, many, strict=True):
        assert one.difference == other.difference
        if one.low is not None and other.low is not None:
            assert np.isclose(one.low, other.low, atol=1.0)
