"""The plan of the house: one place for each truth, and a benchmark is one folder and one line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark import registry
from gendermark.metrics.describe import SLICES

PACKAGE = Path(gendermark.__file__).parent
TOY = Path(__file__).parent / "toy"
BENCHMARKS = sorted(registry.BUILT_IN["benchmark"])


def test_nothing_that_serves_all_benchmarks_names_one() -> None:
    names = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, BENCHMARKS))})(?![\w-])")
    places = [
        PACKAGE / "api.py",
        *(p for part in ("report", "cli", "runs", "auditing", "leaderboard") for p in (PACKAGE / part).rglob("*.*")),
    ]
    found = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()[:80]}"
        for path in places
        if path.suffix in (".py", ".js", ".html", ".toml")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if names.search(line)
    ]
    assert found == []


# -- described metrics -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_metric_is_described(name: str) -> None:
    benchmark = registry.load("benchmark", name)
    described = benchmark.measures.described
    assert len({about.name for about in described}) == len(described)
    for about in described:
        assert about.label
        assert about.meaning.endswith(".")
    for headline in (*benchmark.measures.headline, benchmark.presentation.leading, *benchmark.presentation.also_shown):
        assert not headline or headline.partition(":")[0] in {about.name for about in described}
    # What one sentence compares by is one of the metrics that are always compared.
    leading = benchmark.presentation.leading or benchmark.measures.headline[0]
    assert leading in benchmark.measures.headline


@pytest.mark.parametrize("name", BENCHMARKS)
def test_what_is_measured_is_what_is_described(name: str) -> None:
    benchmark = registry.load("benchmark", name)
    options: dict[str, Any] = {"n_samples": 3} if benchmark.draws else {}
    source, target = next(pair for pair in benchmark.language_pairs("core") if pair[1] in ("es", "en"))
    parts = benchmark.choices_of("parts")[:1] if benchmark.draws else ()
    selection = gendermark.Selection(name, source, target, data="core", parts=parts, **options)
    (result,) = gendermark.run("fake:coin", [selection])
    described = {about.name: about for about in benchmark.measures.described}
    for estimate in result.estimates:
        assert estimate.metric in described
        assert estimate.unit is described[estimate.metric].unit
        # What people read is in words, and a slice that several benchmarks have is called the same in all.
        label = benchmark.slice_label(estimate.slice)
        assert re.fullmatch(r"[A-Za-z][A-Za-z', -]*", label), label
        assert estimate.slice not in SLICES or label == SLICES[estimate.slice]
        assert "_" not in benchmark.label(estimate.metric, estimate.slice).replace("f_", "").replace("P_S", "")
    metrics = benchmark.measures.metrics(result.judgements, result.selection)
    assert all(metric.about is described[metric.name] or metric.about == described[metric.name] for metric in metrics)
