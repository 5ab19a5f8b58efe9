"""Sentences, scorer and aggregation for the YAML task files beside this module (lm-evaluation-harness).

    lm_eval --include_path DIR --tasks gendermark_winomt --metadata '{"gendermark": {"to": "es", "data": "core"}}' ...

`python -m gendermark.adapters.lm_eval.tasks` prints DIR. Metrics are computed from all answers together, as in
`gendermark score`; `.low` and `.high` are the bounds of the 95% confidence interval.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from gendermark import registry
from gendermark.adapters import answers
from gendermark.errors import UserError
from gendermark.selection import Selection

Answer = tuple[str, str, int, str]
"""A metric, the selection as JSON, the item index, and the model's answer."""


def dataset(benchmark: str, gendermark: Any = None, **_: Any) -> Any:
    """The prompts of a benchmark as a data set with one split, `test`.

    Args:
        benchmark: its name.
        gendermark: `to`, `data`, `prompt` and options of the benchmark. They are nested because the harness merges the
            model's arguments into `--metadata`, and both have a `revision`.
    """
    import datasets  # a dependency of lm-evaluation-harness

    if not isinstance(gendermark, Mapping):
        raise UserError(
            """pass gendermark's options with --metadata '{"gendermark": {"to": "es", "data": "official"}}'"""
        )
    options = {"to": "", "prompt": "default", **gendermark}
    to, prompt = str(options.pop("to")), options.pop("prompt")
    selection, item_set = answers.selected(benchmark, to, options)
    signed = json.dumps(selection.to_json(), sort_keys=True)
    rows = [
        {"prompt": asked, "index": place, "source": item.source, "selection": signed, "expected": item.expected or ""}
        for place, (item, asked) in enumerate(zip(item_set.items, answers.prompts(selection, prompt), strict=True))
    ]
    return {"test": datasets.Dataset.from_list(rows)}


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Answer]:
    """The answer under the name of every metric, for `aggregate`."""
    benchmark = registry.load("benchmark", json.loads(doc["selection"])["benchmark"])
    names = [name.removesuffix(":all") for name in benchmark.measures.headline]
    keys = [key for name in names for key in (name, f"{name}.low", f"{name}.high")]
    return {key: (key, doc["selection"], doc["index"], results[0]) for key in keys}


def aggregate(items: Sequence[Answer]) -> float:
    """One metric over all answers; NaN if it has no value."""
    name, selection = items[0][:2]
    return _numbers(selection, tuple((index, said) for _, _, index, said in items)).get(name, float("nan"))


@lru_cache(maxsize=2)
def _numbers(selection: str, said: tuple[tuple[int, str], ...]) -> dict[str, float]:
    result = answers.result_of(Selection.from_json(json.loads(selection)), dict(said), "lm-evaluation-harness")
    return answers.numbers(result)


if __name__ == "__main__":
    print(Path(__file__).parent)  # noqa: T201
