"""Runs and sheets of several systems, made for a test."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark.annotation import (
    LINEUP_COLUMNS,
    ShownRow,
)
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.mt_geneval.benchmark import CONTEXTUAL

CELL = "mt-geneval-contextual.en-es"
SPECS = {"a": "fake:right?p=0.7", "b": "fake:right?p=0.4&seed=3", "c": "fake:masculine"}


def make(directory: Path, spec: str, to: str = "es", **options: Any) -> Path:
    gendermark.run(spec, ["mt-geneval-contextual"], to, directory=directory, data="core", **options)
    return directory


def loads(monkeypatch: pytest.MonkeyPatch, item_set: ItemSet) -> None:
    """From now on the benchmark has these items."""
    changed = replace(CONTEXTUAL, load=lambda _: item_set)
    monkeypatch.setattr("gendermark.benchmarks.mt_geneval.benchmark.CONTEXTUAL", changed)


def filled(path: Path, shown: list[ShownRow], answer: Callable[[int], str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(LINEUP_COLUMNS)
        writer.writerows((r.row, r.context, r.source, r.translation, answer(r.row), "") for r in shown)
    return path
