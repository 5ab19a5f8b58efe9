"""What is registered, as tables."""

from __future__ import annotations

from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.records import Table


def listing(kind: str) -> Table:
    """One of benchmarks, systems, languages, metrics."""
    if kind == "benchmarks":
        rows: list[tuple[Any, ...]] = []
        benchmark: Benchmark
        for name, benchmark in registry.every("benchmark"):
            rules = ", ".join(benchmark.choices_of("rules"))
            measures = f"{benchmark.title}: {benchmark.question}"
            rows.append((name, measures, directions(benchmark, "official"), directions(benchmark, "core"), rules))
        return Table(kind, "Benchmarks", ("name", "measures", "official data", "core data", "rules"), rows)
    if kind == "systems":
        rows = [(f"{name}:…", _first_line(family.__module__)) for name, family in registry.every("system")]
        return Table(kind, "Systems", ("spec", "is"), rows)
    if kind == "languages":
        from gendermark.reading.occupations import lexicon

        rows = [
            (
                code,
                registry.load("language", code).name,
                len({entry.occupation for entry in lexicon(code)}),
                sum(len(entry.forms) for entry in lexicon(code)),
            )
            for code in registry.names("language")
        ]
        return Table(kind, "Target languages with gender", ("code", "language", "occupations", "forms"), rows)
    rows = [
        (name, about.name, about.unit.scale, GOOD[about.better], f"{about.label}. {about.meaning}")
        for name, benchmark in registry.every("benchmark")
        for about in benchmark.measures.described
    ]
    return Table(kind, "Metrics", ("benchmark", "metric", "scale", "good is", "meaning"), rows)


GOOD = {"higher": "more", "lower": "less", "zero": "0", "neither": "–"}
"""Which way is good, in a word."""


def directions(benchmark: Benchmark, data: str) -> str:
    """The languages that a benchmark has data for, sources that have the same targets together."""
    targets: dict[str, list[str]] = {}
    for source, target in benchmark.language_pairs(data):
        targets.setdefault(target, []).append(source)
    alike: dict[str, list[str]] = {}
    for target, sources in targets.items():
        alike.setdefault(" ".join(sources), []).append(target)
    return ", ".join(f"{sources} → {' '.join(found)}" for sources, found in alike.items()) or "–"


def _first_line(module: str) -> str:
    import sys

    text = (sys.modules[module].__doc__ or "").strip().split("\n\n")[0]
    return " ".join(text.partition(": ")[2].split())
