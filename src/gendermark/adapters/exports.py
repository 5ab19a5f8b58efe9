"""Log results to W&B, MLflow and model repositories on the Hugging Face Hub.

A tracker gets every estimate with its interval, the signature and the page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from gendermark import registry
from gendermark.adapters.answers import numbers
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import MissingExtra, SystemFailure, UnknownName, UserError
from gendermark.result import Result
from gendermark.runs.folder import Run

_PROJECT = "gendermark"
_PAGE, _RESULTS = "report.html", "results.json"


def log(run: Run, tracker: str) -> str:
    """Log a run to `wandb` or `mlflow`, configured by their own settings; return where it went.

    Args:
        run: the value of `read_run` or `run_of`.
        tracker: `wandb` or `mlflow`.
    """
    check_tracker(tracker)
    try:
        module = import_module(tracker)
    except ImportError:
        raise MissingExtra(f"--log {tracker}", tracker) from None
    from gendermark.reporting.page import render_page

    facts = {"system": run.system, **{f"signature/{one.cell}": one.signature for one in run.results}}
    results = [result.to_json() for result in run.results]
    try:
        return _TRACKERS[tracker](module, run.called, facts, _numbers(run), render_page([run]), {"results": results})
    except Exception as problem:  # a failing tracker must not lose the run, which is already saved
        raise SystemFailure(f"{tracker} rejected the results: {type(problem).__name__}: {problem}") from problem


def check_tracker(tracker: str) -> None:
    """Refuse an unknown or missing tracker before a long run."""
    if tracker not in _TRACKERS:
        raise UnknownName("tracker", tracker, _TRACKERS)


def _numbers(run: Run) -> dict[str, float]:
    """Every estimate as `winomt.en-es/accuracy.feminine`, its bounds with `.low` and `.high`: all trackers accept
    these."""
    return {
        f"{result.cell}/{name.replace(':', '.')}": value
        for result in run.results
        for name, value in numbers(result).items()
    }


def _to_wandb(
    wandb: Any, name: str, facts: Mapping[str, str], values: Mapping[str, float], page: str, results: Mapping[str, Any]
) -> str:
    """WANDB_PROJECT and WANDB_MODE (such as `offline`) decide project and mode."""
    settings = wandb.Settings()
    started = wandb.init(project=settings.project or _PROJECT, name=name, config=dict(facts))
    try:
        started.summary.update(dict(values))
        started.log({"report": wandb.Html(page, inject=False)})
        artifact = wandb.Artifact(f"{_PROJECT}-{started.id}", type="evaluation", metadata=dict(facts))
        with artifact.new_file(_RESULTS, mode="w", encoding="utf-8") as file:
            json.dump(results, file, ensure_ascii=False)
        started.log_artifact(artifact)
        where = started.url or started.dir
    finally:
        started.finish()
    return f"logged to W&B: {where}"


def _to_mlflow(
    mlflow: Any, name: str, facts: Mapping[str, str], values: Mapping[str, float], page: str, results: Mapping[str, Any]
) -> str:
    """MLFLOW_TRACKING_URI and MLFLOW_EXPERIMENT_NAME decide store and experiment."""
    variables = import_module("mlflow.environment_variables")
    if not (variables.MLFLOW_EXPERIMENT_NAME.get() or variables.MLFLOW_EXPERIMENT_ID.get()):
        mlflow.set_experiment(_PROJECT)
    with mlflow.start_run(run_name=name, nested=mlflow.active_run() is not None) as started:
        mlflow.set_tags(dict(facts))
        mlflow.log_metrics(dict(values))
        mlflow.log_text(page, _PAGE)
        mlflow.log_dict(dict(results), _RESULTS)
    return f"logged to MLflow: run {started.info.run_id} in {mlflow.get_tracking_uri()}"


_TRACKERS: Mapping[str, Callable[..., str]] = {"wandb": _to_wandb, "mlflow": _to_mlflow}


def eval_results(runs: Mapping[str, Any]) -> str:
    """The headline metrics of one system as `.eval_results/*.yaml` of a model repository.

    The Hub shows only benchmarks that it knows: set `dataset.id` to your benchmark's name there.
    """
    if len(runs) != 1:
        raise UserError(f"a .yaml report describes one system for its model repository; give one run, not {len(runs)}")
    (results,) = runs.values()
    return "".join(_entry(result, metric) for result in results for metric in _headline(result))


def _headline(result: Result) -> list[tuple[str, str]]:
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    named = [name.partition(":")[::2] for name in benchmark.measures.headline]
    return [(metric, part or "all") for metric, part in named if result.find(metric, part or "all")]


def _entry(result: Result, key: tuple[str, str]) -> str:
    """One result; strings are written as JSON, which is valid YAML."""
    metric, part = key
    estimate = result.estimate(*key)
    name = metric if part == "all" else f"{metric}.{part}"
    interval = f"95% CI {estimate.interval}, " if estimate.low is not None else ""
    judged = f"{estimate.n_judged:,} of {estimate.n_total:,} judged"
    texts = {
        "id": f"{_PROJECT}/{result.selection.benchmark}",
        "task_id": f"{result.selection.direction}.{name}",
        "notes": f"{interval}{judged}; {estimate.signature or result.signature}",
    }
    said = {key: json.dumps(value, ensure_ascii=False) for key, value in texts.items()}
    return (
        f"- dataset:\n    id: {said['id']}\n    task_id: {said['task_id']}\n"
        f"  value: {round(estimate.value or 0.0, 4)}\n  notes: {said['notes']}\n"
    )
