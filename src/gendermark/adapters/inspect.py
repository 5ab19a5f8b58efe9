"""Every benchmark as a task of inspect_ai: `inspect eval gendermark/winomt --model MODEL -T to=es`.

inspect_ai finds this module by its entry point. A sample shows the verdict on its own translation; the metrics are
those of `gendermark score` over all samples, with intervals. `inspect score LOG` judges a log again; `read_log` returns
it as a `Result`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gendermark.adapters import answers
from gendermark.errors import MissingExtra, UserError
from gendermark.records import Judgement, Verdict
from gendermark.result import Result
from gendermark.selection import Selection

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import read_eval_log
    from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, SampleScore, Score, Target, metric, scorer
    from inspect_ai.solver import TaskState, generate
except ImportError:
    raise MissingExtra("gendermark.adapters.inspect", "inspect") from None

_KEY = "gendermark"


@metric(name="estimates")
def estimates() -> Callable[[list[SampleScore]], Any]:
    """Every estimate of the benchmark, with the bounds of its 95% confidence interval."""

    def of_scores(scores: list[SampleScore]) -> dict[str, float]:
        found = {one.score.metadata["index"]: one.score.metadata["answer"] for one in scores if one.score.metadata}
        selections = {one.score.metadata[_KEY] for one in scores if one.score.metadata}
        if len(selections) != 1:
            raise UserError(f"the scores mix {len(selections)} benchmarks or directions; give those of one")
        return answers.numbers(answers.result_of(_selection(selections.pop()), found, "inspect"))

    return of_scores


@scorer(metrics=[estimates()], name="gender")
def gender() -> Any:
    """Extract the translation from the answer and judge the gender it expresses."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 (the judge knows the item)
        if state.epoch > 1:
            raise UserError("a result needs one answer per sentence; run with --epochs 1")
        about = state.metadata
        answer = state.output.completion
        judgement = answers.judge_one(_selection(about[_KEY]), about["index"], answer)
        return Score(
            value=_value(judgement),
            answer=answers.read_answer(answer, about["source"]).text,
            explanation=", ".join(filter(None, (judgement.verdict, judgement.reason, *judgement.evidence))),
            metadata={_KEY: about[_KEY], "index": about["index"], "answer": answer},
        )

    return score


def read_log(log: Path | str, name: str = "") -> Result:
    """Read the log of one of these tasks as a result.

    Args:
        log: a file that `inspect eval` wrote.
        name: name of the model in tables and headings.
    """
    read = read_eval_log(str(log))
    samples = [one for one in read.samples or () if _KEY in one.metadata]
    if not samples:
        raise UserError(f"{log} has no samples of a gendermark task")
    if any(one.epoch > 1 for one in samples):
        raise UserError(f"{log} has several epochs; a result needs one answer per sentence")
    found = {one.metadata["index"]: one.output.completion for one in samples}
    return answers.result_of(_selection(samples[0].metadata[_KEY]), found, read.eval.model, name)


def _value(judgement: Judgement) -> str:
    if judgement.verdict is not Verdict.JUDGED:
        return str(NOANSWER)
    if judgement.expected is None:
        return str(judgement.observed or judgement.outcome)
    return str(CORRECT if judgement.is_correct else INCORRECT)


def _selection(text: str) -> Selection:
    return Selection.from_json(json.loads(text))


def _task(benchmark: str) -> Callable[..., Task]:
    def make(to: str = "", data: str = "official", prompt: str = "default", **options: Any) -> Task:
        selection, item_set = answers.selected(benchmark, to, {"data": data, **_texts(options)})
        signed = json.dumps(selection.to_json(), sort_keys=True)
        samples = [
            Sample(
                id=item.item_id,
                input=asked,
                target=str(item.expected or ""),
                metadata={_KEY: signed, "index": place, "source": item.source},
            )
            for place, (item, asked) in enumerate(zip(item_set.items, answers.prompts(selection, prompt), strict=True))
        ]
        return Task(
            MemoryDataset(samples, name=selection.cell),
            solver=generate(),
            scorer=gender(),
            metadata={"signature": answers.signature(selection, "inspect")},
        )

    make.__name__ = benchmark.replace("-", "_")
    make.__doc__ = f"{benchmark}: `-T to=LANGUAGE`, `-T data=core`, `-T prompt=NAME|FILE` and the benchmark's options."
    found: Callable[..., Task] = task(make)
    return found


def _texts(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as strings: `-T` turns values that look like numbers, such as revisions, into numbers."""
    return {key: value if isinstance(value, list | tuple) else str(value) for key, value in options.items()}


TASKS = {name.replace("-", "_"): _task(name) for name in answers.translating_benchmarks()}
globals().update(TASKS)
