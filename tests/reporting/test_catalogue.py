"""What `gendermark list` shows is what there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

import gendermark
from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.cli.benchmarks import listing
from gendermark.errors import UserError
from gendermark.result import Result


@pytest.mark.parametrize(("kind", "registered"), [("benchmarks", "benchmark"), ("languages", "language")])
def test_every_registered_name_is_listed(kind: str, registered: str) -> None:
    assert [row[0] for row in listing(kind).rows] == registry.names(registered)


def _runs(benchmark: Benchmark) -> Iterator[Result]:
    """By all its rules, each in the first direction that it has."""
    few = {"uncertainty": {"parts": ("referenced",), "n_samples": 3, "alpha": "tuned"}}.get(benchmark.name, {})
    for rules in benchmark.choices_of("rules"):
        for source, to in benchmark.language_pairs("core"):
            options: dict[str, Any] = {"source_language": source, "data": "core", "rules": rules, **few}
            with suppress(UserError):
                selection = gendermark.select(benchmark.name, to, **options)[1]
                yield from gendermark.run("fake:coin", [selection])
                break


@pytest.mark.parametrize("name", registry.names("benchmark"))
def test_every_metric_of_a_benchmark_is_described_and_listed_once(name: str) -> None:
    benchmark: Benchmark = registry.load("benchmark", name)
    described = benchmark.measures.described
    assert len({about.name for about in described}) == len(described)
    for about in described:
        assert about.label.strip(), about.name
        assert re.fullmatch(r"\S.*[^.]\.", about.meaning), about
    given: set[str] = set()
    for result in _runs(benchmark):
        metrics = benchmark.measures.metrics(result.judgements, result.selection)
        assert all(metric.about in described for metric in metrics), "described as it is measured"
        assert len({metric.key for metric in metrics}) == len(metrics)
        given |= {metric.name for metric in metrics}
        assert {metric.key for metric in metrics} == {(e.metric, e.slice) for e in result.estimates}
    listed = [row for row in listing("metrics").rows if row[0] == name]
    assert [row[1] for row in listed] == [about.name for about in described]
    assert given <= {about.name for about in described}
    headline = {metric.partition(":")[0] for metric in benchmark.measures.headline}
    assert headline <= given or not given  # of a benchmark without core sentences nothing is run here
