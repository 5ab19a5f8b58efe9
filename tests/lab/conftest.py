"""Runs of fakes, and the commands, for all tests of the lab."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Cli, cli
from gendermark import api, registry
from gendermark.lab.uncertainty_results import Cell, read_cell
from gendermark.metrics.metric import Resampling
from gendermark.result import Result
from gendermark.runs import folder
from lab.toys import SYSTEMS, selected

Command = Cli
__all__ = ["Command", "cli"]


@pytest.fixture
def study(cli: Command) -> Command:
    return lambda *arguments: cli("study", *arguments)


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder for each fake, named after it, with WinoMT beside uncertainty. Not to be written to."""
    base = tmp_path_factory.mktemp("runs")
    winomt = api.select("winomt", "es", data="core", parts=("pro", "anti"))[1]
    for name in SYSTEMS:
        folder_of = base / name.partition("?")[0]
        api.run(f"fake:{name}", [selected(), winomt], directory=folder_of, resampling=Resampling(100))
    return base


@pytest.fixture(scope="session")
def coin(runs: Path) -> Cell:
    return read_cell(runs / "coin")


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Result]]:
    """Results by name of run folder, to be filled in."""
    results: dict[str, list[Result]] = {}
    monkeypatch.setattr(folder, "read_results", lambda directory: results[str(directory)])
    return results


@pytest.fixture
def _toys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("toy", "cut", "said"):
        monkeypatch.setitem(registry.BUILT_IN["system"], name, f"lab.toys:open_{name}")


@pytest.fixture(scope="session")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It knows all defining pairs but the last, and all occupations but the one of two words. Not to be written to."""
    from lab.word_models import ALL_WORDS, word_model

    return word_model(tmp_path_factory.mktemp("debias") / "marian", ALL_WORDS)
