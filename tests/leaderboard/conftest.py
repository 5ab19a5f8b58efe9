"""A small leaderboard of fake systems whose biases are known."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import gendermark
from gendermark.reporting.submission import OutputFacts, SystemFacts, of_run, write

# Best first; "Halfway" stands there with two dates.
SYSTEMS = {
    "right": (SystemFacts("Right", "1.0", "nobody", "fake", "2025"), "fake:right"),
    "halfway": (SystemFacts("Halfway", vendor="nobody", kind="fake", date="2024/2025"), "fake:right?p=0.8"),
    "before": (SystemFacts("Halfway", vendor="nobody", kind="fake", date="2019"), "fake:right?p=0.6"),
    "men": (SystemFacts("Only Men"), "fake:masculine"),
}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Submissions of all of them: two benchmarks, one of them into two languages. Not to be written to."""
    base = tmp_path_factory.mktemp("made")
    selections = [
        gendermark.Selection("simplegen", "en", "es", data="core"),
        gendermark.Selection("simplegen", "en", "he", data="core"),
        gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative",)),
    ]
    for name, (system, spec) in SYSTEMS.items():
        own = selections if name in ("right", "men") else selections[:1]
        gendermark.run(spec, own, directory=base / "runs" / name)
        for scored in of_run(base / "runs" / name, system):
            write(base / "results", system, OutputFacts("made here", "none"), scored)
    return base / "results"


@pytest.fixture
def results(made: Path, tmp_path: Path) -> Path:
    """The same, to be tampered with."""
    return Path(shutil.copytree(made, tmp_path / "results"))
