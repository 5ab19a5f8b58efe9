"""The benchmarks as tasks of inspect_ai: with its mock model, and with a server that speaks OpenAI's protocol."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark import api
from systems.servers import Asked, serving

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: pip install '.[inspect]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # theirs are not ours to mend


def _answers(kind: str) -> dict[str, str]:
    """Source -> what a control system says."""
    result = gendermark.run(f"fake:{kind}", "mt-geneval-counterfactual", to="es", data="core")
    return {source: f"<translation>{text}</translation>" for source, text in result.texts}


def _mock(said: dict[str, str]) -> Any:
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def outputs(messages: Any, *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", said[messages[-1].text.split("\n\n", 1)[1]])
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # theirs needs the network
        return output

    return get_model("mockllm/model", custom_outputs=outputs, memoize=False)


def test_the_metrics_are_those_of_score_and_a_log_is_read_and_scored_again(tmp_path: Path) -> None:
    from gendermark.adapters import inspect as adapter

    task = adapter.TASKS["mt_geneval_counterfactual"](to="es", data="core")
    (log,) = inspect_ai.eval(task, model=_mock(_answers("masculine")), log_dir=str(tmp_path), display="none")

    assert log.status == "success"
    metrics = {name: one.value for name, one in log.results.scores[0].metrics.items()}
    expected = gendermark.run("fake:masculine", "mt-geneval-counterfactual", to="es", data="core")
    for estimate in (expected["accuracy", "feminine"], expected["recall_gap"]):
        name = estimate.metric if estimate.slice == "all" else f"{estimate.metric}:{estimate.slice}"
        assert metrics[name] == pytest.approx(estimate.value)
        assert metrics[f"{name}.low"] == pytest.approx(estimate.low)
        assert metrics[f"{name}.high"] == pytest.approx(estimate.high)

    result = adapter.read_log(log.location, name="Mock")
    assert log.eval.metadata["signature"] == result.signature.replace("system:mockllm/model", "system:inspect")
    assert [e.value for e in result.estimates] == [e.value for e in expected.estimates]
    assert (result.system, result.called) == ("mockllm/model", "Mock")
    assert api.compare(expected, result).comparisons

    again = inspect_ai.score(log, adapter.gender(), action="overwrite", display="none")
    assert {name: one.value for name, one in again.results.scores[0].metrics.items()} == metrics


def test_some_of_the_samples_are_enough_for_a_result(tmp_path: Path) -> None:
    from gendermark.adapters import inspect as adapter

    task = adapter.TASKS["mt_geneval_counterfactual"](to="es", data="core")
    (log,) = inspect_ai.eval(task, model=_mock(_answers("right")), limit=5, log_dir=str(tmp_path), display="none")
    result = adapter.read_log(log.location)
    assert len(result.judgements) == 5
    assert any(warning.startswith("5 of ") for warning in result.warnings)


def test_one_answer_to_each_sentence(tmp_path: Path) -> None:
    from gendermark.adapters import inspect as adapter

    task = adapter.TASKS["mt_geneval_counterfactual"](to="es", data="core")
    how: Any = {"limit": 2, "epochs": 2, "log_dir": str(tmp_path), "display": "none"}
    (log,) = inspect_ai.eval(task, model=_mock(_answers("right")), **how)
    assert log.status == "error"
    assert "--epochs 1" in log.error.message


def _completion(said: dict[str, str], asked: Asked) -> dict[str, Any]:
    text = said[asked.json["messages"][-1]["content"].split("\n\n", 1)[1]]
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def test_the_command_finds_the_task_by_its_name_and_asks_a_server(tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="openai is not installed: pip install '.[inspect]'")
    said = _answers("right")
    with serving(lambda asked: _completion(said, asked)) as server:
        command = [
            *(
                sys.executable,
                "-m",
                "inspect_ai",
                "eval",
                "gendermark/mt_geneval_counterfactual",
                "--model",
                "openai-api/local/m",
            ),
            *("-T", "to=es", "-T", "data=core", "--limit", "20", "--log-dir", str(tmp_path), "--display", "plain"),
        ]
        environment = {**os.environ, "LOCAL_API_KEY": "none", "LOCAL_BASE_URL": f"{server.url}/v1"}
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    from gendermark.adapters import inspect as adapter

    (log,) = tmp_path.glob("*.eval")
    result = adapter.read_log(log)
    assert len(result.judgements) == 20
    assert all(judgement.is_correct for judgement in result.judgements)
