"""The YAML tasks for lm-evaluation-harness, with a toy model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark import registry
from gendermark.adapters import answers
from gendermark.adapters.lm_eval import tasks

FOLDER = Path(tasks.__file__).parent
BENCHMARK = "mt-geneval-counterfactual"
OURS = {"gendermark": {"to": "es", "data": "core"}}


def test_every_benchmark_that_asks_for_translations_has_a_file_with_its_headline_metrics() -> None:
    for name in answers.translating_benchmarks():
        text = (FOLDER / f"{name.replace('-', '_')}.yaml").read_text(encoding="utf-8")
        assert f"benchmark: {name}" in text
        benchmark = registry.load("benchmark", name)
        for metric in benchmark.measures.headline:
            known = benchmark.describe(metric.partition(":")[0]).better
            better = {"higher": "true", "lower": "false"}.get(known, "null")  # of a gap, neither: 0 is best
            for key in (metric.removesuffix(":all"), f"{metric.removesuffix(':all')}.low"):
                assert f'metric: "{key}", aggregation: !function tasks.aggregate, higher_is_better: {better}}}' in text


def test_mistyped_options_are_refused_and_those_of_the_model_are_not_ours() -> None:
    pytest.importorskip("datasets", reason="datasets is not installed: pip install '.[lm-eval]'")
    ours = {"to": "es", "data": "core"}
    assert len(tasks.dataset(BENCHMARK, ours, pretrained="x", revision="main")["test"])
    for wrong, words in (
        ({**ours, "rulez": "paper"}, "rulez.*did you mean 'rules'"),
        ({"too": "es"}, "too"),
        (None, "to"),
    ):
        with pytest.raises(gendermark.UserError, match=words):
            tasks.dataset(BENCHMARK, wrong)


def test_numbers_are_those_of_score() -> None:
    expected = gendermark.run("fake:masculine", BENCHMARK, to="es", data="core")
    selection, _ = answers.selected(BENCHMARK, "es", {"data": "core"})
    result = answers.result_of(selection, {place: text or "" for place, (_, text) in enumerate(expected.texts)}, "x")
    assert [e.value for e in result.estimates] == [e.value for e in expected.estimates]
    assert answers.numbers(result)["recall_gap.low"] == expected["recall_gap"].low


@pytest.mark.filterwarnings("ignore")
def test_the_harness_runs_a_task_with_a_toy_model() -> None:
    lm_eval = pytest.importorskip("lm_eval", reason="lm_eval is not installed: pip install '.[lm-eval]'")
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    expected = gendermark.run("fake:masculine", BENCHMARK, to="es", data="core")
    said = dict(expected.texts)

    class Toy(LM):
        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            return [f"<translation>{said[one.args[0].split(chr(10) * 2, 1)[1]]}" for one in requests]

        def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    manager = TaskManager(include_path=str(FOLDER), include_defaults=False, metadata=OURS)
    done = lm_eval.simple_evaluate(Toy(), tasks=["gendermark_mt_geneval_counterfactual"], task_manager=manager)
    found = done["results"]["gendermark_mt_geneval_counterfactual"]
    gap = expected["recall_gap"]
    assert found["recall_gap,none"] == pytest.approx(gap.value)
    assert (found["recall_gap.low,none"], found["recall_gap.high,none"]) == pytest.approx((gap.low, gap.high))
