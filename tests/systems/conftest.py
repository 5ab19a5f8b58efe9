"""The tiny benchmark and its items."""

from __future__ import annotations

import pytest

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.selection import Selection
from runs.tiny import tiny


@pytest.fixture(autouse=True)
def _tiny_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BUILT_IN["benchmark"], "tiny", "runs.tiny:BENCHMARK")


@pytest.fixture
def benchmark() -> Benchmark:
    return tiny(n_occupations=2)


@pytest.fixture
def item_set(benchmark: Benchmark) -> ItemSet:
    return benchmark.load(Selection("tiny", "en", "xx", "core", cluster="occupation"))
