"""Turn the answers that another program collected into a result. Needs no extra."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from gendermark import registry
from gendermark.api import select
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import UserError
from gendermark.records import Judgement, Translation
from gendermark.result import Result
from gendermark.runs.score import Origin, judge, score, sentence_of, sign
from gendermark.selection import Selection
from gendermark.systems import chat


def translating_benchmarks() -> list[str]:
    """Benchmarks with their own sentences that need one translation of each."""
    return [name for name, one in registry.every("benchmark") if not one.draws and not one.only_when_named]


def prompts(selection: Selection, prompt: str = "default") -> list[str]:
    benchmark, item_set = _loaded(selection)
    asked = chat.open_prompt(prompt)
    return [asked.text(one.source, one.source_language, one.target_language) for one in benchmark.requests(item_set)]


def selected(benchmark: str, to: str, options: Mapping[str, Any]) -> tuple[Selection, ItemSet]:
    selection = select(benchmark, str(to), **options)[1]
    return selection, _loaded(selection)[1]


def read_answer(answer: str, source: str) -> Translation:
    """Extract the translation from an answer, or record what is wrong with it."""
    text, problem = chat.extract(answer, source)
    return Translation("", text, error=problem or None)


def judge_one(selection: Selection, index: int, answer: str) -> Judgement:
    """Judge one answer by itself, for per-sample views; results are judged together, as always."""
    benchmark, item_set = _loaded(selection)
    item = item_set.items[index]
    found: Judgement = judge(benchmark, replace(item_set, items=[item]), [[read_answer(answer, item.source)]])[0]
    return found


def result_of(selection: Selection, answers: Mapping[int, str], system: str, name: str = "") -> Result:
    """The result of raw answers, by item index. Items without an answer are left out, with a warning."""
    benchmark, item_set = _loaded(selection)
    if not answers:
        raise UserError(f"no answers to {selection.cell} were given")
    kept = [item for place, item in enumerate(item_set.items) if place in answers]
    texts = [answers[place] for place in range(len(item_set.items)) if place in answers]
    if len(kept) < len(answers):
        raise UserError(f"{len(answers) - len(kept):,} answers belong to no item of {selection.cell}")
    if len(kept) < len(item_set.items):
        item_set = replace(item_set, items=kept, n_whole=len(item_set.items))
    found = [[read_answer(text, item.source)] for item, text in zip(kept, texts, strict=True)]
    result = score(benchmark, item_set, found, _origin(system, name))
    return replace(result, texts=list(map(sentence_of, item_set.items, found)))


def signature(selection: Selection, system: str) -> str:
    return sign(*_loaded(selection), _origin(system))


def _origin(system: str, name: str = "") -> Origin:
    return Origin(system, f"extraction{chat.EXTRACTION_VERSION}", name=name)


def numbers(result: Result) -> dict[str, float]:
    """Every estimate and its interval bounds, by flat names such as `accuracy`, `accuracy.low`."""
    found = {}
    for one in result.estimates:
        name = one.metric if one.slice == "all" else f"{one.metric}:{one.slice}"
        ends = {name: one.value, f"{name}.low": one.low, f"{name}.high": one.high}
        found.update({key: float(value) for key, value in ends.items() if value is not None})
    return found


@lru_cache(maxsize=8)
def _loaded(selection: Selection) -> tuple[Benchmark, ItemSet]:
    benchmark: Benchmark = registry.load("benchmark", selection.benchmark)
    return benchmark, benchmark.load(selection)
