"""A verdict is a property of one result."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gendermark
from gendermark import Selection, registry
from gendermark.cli.app import _exit_code
from gendermark.errors import UserError
from gendermark.metrics.intervals import estimate
from gendermark.metrics.metric import Resampling
from gendermark.metrics.statistics import benjamini_hochberg, holm
from gendermark.metrics.verdicts import verdicts

SPECS = {"biased": "fake:stereotyped?s=0.6", "men": "fake:masculine", "fair": "fake:right?p=0.9"}
QUESTIONS = {
    "winomt": {"recall_gap", "delta_s"},
    "simplegen": {"recall_gap", "delta"},
    "mt-geneval-counterfactual": {"recall_gap", "delta_qual"},
    "mt-geneval-contextual": {"recall_gap"},
    "mittens": {"recall_gap"},
    "tgbi": {"imbalance", "independence"},
    "gest": {"f_m", "f_s"},
    "gate-variants": {"imbalance", "stereotype_gap"},
    "gate-alternatives": set(),
    "gate-rewriting": set(),
    "uncertainty": {"awareness_gender", "p_feminine"},
    "terms": {"term_gap"},
}


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_the_questions_of_each_benchmark(name: str) -> None:
    benchmark = registry.load("benchmark", name)
    assert {question.partition(":")[0] for question in benchmark.measures.questions} == QUESTIONS[name]


def _json(spec: str, benchmark: str = "winomt") -> Any:
    (result,) = gendermark.run(spec, [benchmark], "es", data="core")
    return result.to_json()


def test_states_of_known_systems() -> None:
    states = {name: {v["metric"]: v["state"] for v in _json(spec)["verdicts"]} for name, spec in SPECS.items()}
    assert states["biased"]["delta_s"] == "significant"
    assert states["men"]["recall_gap"] == "significant"
    assert set(states["fair"].values()) == {"not_significant"}


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_no_selection_is_without_groups(name: str) -> None:
    made: Selection = Selection(name)
    first = registry.load("benchmark", name).choices_of("cluster")[0]
    stored = Selection.from_json({**made.to_json(), "cluster": ""})
    assert {one.cluster for one in (made, replace(made, cluster=""), stored)} == {first} != {""}
    with pytest.raises(UserError, match="nothing"):
        replace(made, cluster="nothing")


def test_strata_are_there_without_completion() -> None:
    asked = Selection("winomt", "en", "es", data="core")
    (result,) = gendermark.run(SPECS["biased"], [asked])
    count = registry.load("benchmark", "winomt").measures.count
    strata = count(result.judgements, asked).strata
    assert len(set(strata)) > 1
    assert list(strata) == list(count(result.judgements, result.selection).strata)


def test_few_groups_have_no_verdict() -> None:
    """Five occupations are too few to conclude anything."""
    selection = gendermark.Selection("winomt", "en", "es", data="core", parts=())
    (result,) = gendermark.run("fake:masculine", [selection])
    few = [j for j in result.judgements if j.group_id in sorted({x.group_id for x in result.judgements})[:5]]
    measures = registry.load("benchmark", "winomt").measures
    counts = measures.count(few, result.selection)
    metrics = measures.metrics(few, result.selection)
    states = {
        v.state for v in verdicts(measures.questions, counts, metrics, estimate(counts, metrics, Resampling()), [])
    }
    assert states == {"too_few"}


def test_adding_runs_changes_no_verdict(tmp_path: Path) -> None:
    """Over subsets of runs, in JSON, Markdown and the page: each result says what it says alone."""
    for name, spec in SPECS.items():
        gendermark.run(spec, ["winomt", "simplegen"], "es", tmp_path / name, data="core")
    alone = {name: [result.to_json() for result in gendermark.load(tmp_path / name)] for name in SPECS}
    subsets = [s for n in (1, 2, 3) for s in itertools.combinations(SPECS, n)]
    for subset in Random(1).sample(subsets, 4):
        page = tmp_path / f"{'-'.join(subset)}.json"
        assert _exit_code(["report", *(f"{name}={tmp_path / name}" for name in subset), "-o", str(page)]) == 0
        shown = json.loads(page.read_text(encoding="utf-8"))
        for name, found in zip(subset, shown["runs"].values(), strict=True):
            for own, result in zip(found, alone[name], strict=True):
                assert own["verdicts"] == result["verdicts"]
                assert own["estimates"] == result["estimates"]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_benjamini_hochberg_never_exceeds_holm(p_values: list[float]) -> None:
    found, strict = benjamini_hochberg(p_values), holm(p_values)
    for p, adjusted, held in zip(p_values, found, strict, strict=True):
        assert adjusted is not None
        assert held is not None
        assert p - 1e-12 <= adjusted <= held + 1e-12


def test_benjamini_hochberg_on_its_paper() -> None:
    """The fifteen p-values of Benjamini and Hochberg (1995), section 3.2: four are rejected at 5%."""
    small = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
    p_values = [*small, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert sum(p is not None and p <= 0.05 for p in benjamini_hochberg(p_values)) == 4
