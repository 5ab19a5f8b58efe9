"""The tiny benchmark and its items."""

from __future__ import annotations

import pytest

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.selection import Selection
from runs.tiny import Tiny


@pytest.fixture
def benchmark() -> Tiny:
    return Tiny(n_occupations=2)


@pytest.fixture
def item_set(benchmark: Tiny) -> ItemSet:
    return benchmark.load(Selection("tiny", "en", "xx", "core", cluster="occupation"))
