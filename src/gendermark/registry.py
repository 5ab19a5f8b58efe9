"""Registered names and their modules, imported on demand.

A new system or language is one file and one line of `registry.toml`, a new benchmark one folder and one line. Other
packages register theirs by the entry-point groups `gendermark.benchmark`, `gendermark.system`, `gendermark.language`
and `gendermark.metric`.
"""

from __future__ import annotations

import logging
import tomllib
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from typing import Any

from gendermark.errors import UnknownName, UserError

log = logging.getLogger(__name__)

BUILT_IN: dict[str, dict[str, str]] = {
    "metric": {},
    **tomllib.loads((files("gendermark") / "registry.toml").read_text(encoding="utf-8")),
}


@cache
def _installed() -> Any:
    """The entry points of all packages, cached: the search takes longer than most imports."""
    return entry_points()


@cache
def _outside(kind: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in _installed().select(group=f"gendermark.{kind}")}


def names(kind: str) -> list[str]:
    return sorted({*BUILT_IN[kind], *_outside(kind)})


def every(kind: str) -> list[tuple[str, Any]]:
    """All that load, with their names. Plug-ins that fail to load are logged and skipped."""
    found = []
    for name in names(kind):
        try:
            found.append((name, load(kind, name)))
        except UserError as problem:
            log.warning("%s", problem)
    return found


def sibling(kind: str, name: str, attribute: str, default: Any) -> Any:
    """An attribute of a registered object or its module, or a default."""
    found = load(kind, name)
    return getattr(found, attribute, getattr(import_module(found.__module__), attribute, default))


def settings(benchmark: str, default: Any) -> Any:
    folder = BUILT_IN["benchmark"].get(benchmark, "").partition(":")[0].rpartition(".")[0]
    if folder.startswith("gendermark."):
        return import_module(folder).SETTINGS[benchmark]
    return load("benchmark", benchmark).settings if benchmark in names("benchmark") else default


def load(kind: str, name: str) -> Any:
    if kind == "benchmark" and _outside("metric"):
        return _with_metrics(name)
    return _load(kind, name)


def _load(kind: str, name: str) -> Any:
    if target := BUILT_IN[kind].get(name):
        module, _, attribute = target.partition(":")
        return getattr(import_module(module), attribute)
    if point := _outside(kind).get(name):
        try:
            return point.load()
        except Exception as problem:  # another package's import may fail in any way
            package = point.dist and point.dist.name
            raise UserError(f"{kind} {name!r} of package {package} does not load: {problem}") from problem
    raise UnknownName(kind, name, names(kind))


@cache
def _with_metrics(name: str) -> Any:
    """A benchmark with the metrics that other packages add to it."""
    benchmark = _load("benchmark", name)
    for package, added in every("metric"):
        if name in added.benchmarks:
            try:
                benchmark = benchmark.with_metric(package, added.columns, added.metric)
            except UserError as problem:
                log.warning("%s", problem)
    return benchmark
