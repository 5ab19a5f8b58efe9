"""Runs of fakes, and the commands, for all tests of the lab."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gendermark import api, registry
from gendermark.cli import app as command_line
from gendermark.lab.uncertainty_results import Cell, read_cell
from gendermark.metrics.metric import Resampling
from gendermark.result import Result
from gendermark.runs import folder
from lab.toys import SYSTEMS, selected
from outcomes import Outcome

Command = Callable[..., Outcome]


@pytest.fixture
def gendermark(capsys: pytest.CaptureFixture[str]) -> Command:
    def call(*arguments: str | Path) -> Outcome:
        capsys.readouterr()
        code = command_line._exit_code([*map(str, arguments)])
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture
def study(gendermark: Command) -> Command:
    return lambda *arguments: gendermark("study", *arguments)


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


@pytest.fixture(scope="module")
def _one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)  # models as small as these only lose by more
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It knows all defining pairs but the last, and all occupations but the one of two words. Not to be written to."""
    from lab.word_models import ALL_WORDS, word_model

    return word_model(tmp_path_factory.mktemp("debias") / "marian", ALL_WORDS)
