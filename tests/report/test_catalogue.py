"""What `gendermark list` shows is what there is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gendermark import registry
from gendermark.report.catalogue import listing


@pytest.mark.parametrize("kind", ["benchmarks", "systems", "languages", "metrics"])
def test_tables_are_whole(kind: str) -> None:
    table = listing(kind)
    assert table.rows
    for row in table.rows:
        assert len(row) == len(table.columns)
        assert all(cell not in ("", None) for cell in row)


@pytest.mark.parametrize(("kind", "registered"), [("benchmarks", "benchmark"), ("languages", "language")])
def test_every_registered_name_is_listed(kind: str, registered: str) -> None:
    assert [row[0] for row in listing(kind).rows] == registry.names(registered)


def test_systems_are_described() -> None:
    specs = [row[0] for row in listing("systems").rows]
    assert specs == [f"{name}:…" for name in registry.names("system")]


def test_languages_have_words() -> None:
    for code, name, n_occupations, n_forms in listing("languages").rows:
        assert name != code
        assert n_occupations >= 40, "fewer occupations than the core sentences use"
        assert n_forms >= 2 * n_occupations, "a form for each gender at least"


def test_benchmarks_of_no_direction_do_not_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = {"core": [], "official": [("ko", "en")]}
    changed = replace(registry.load("benchmark", "tgbi"), language_pairs=pairs.__getitem__)
    monkeypatch.setattr("gendermark.benchmarks.tgbi.benchmark.BENCHMARK", changed)
    row = next(row for row in listing("benchmarks").rows if row[0] == "tgbi")
    assert "ko → en" in row
