"""Three systems, drawn from once for each module of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from annotation.made import SPECS, Served, contextual_run
from gendermark.annotation.lineup import REFERENCE, Key, Lineup, LineupRun, draw_lineup, read_runs


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three systems on core data. Not to be written to."""
    base = tmp_path_factory.mktemp("lineup")
    return [contextual_run(base / name, spec) for name, spec in SPECS.items()]


@pytest.fixture(scope="module")
def runs(folders: list[Path]) -> list[LineupRun]:
    return read_runs(folders)


Drawn = tuple[Key, list[tuple[object, ...]]]


@pytest.fixture(scope="module")
def drawn(runs: list[LineupRun]) -> Drawn:
    return draw_lineup(runs, 100, 7)


@pytest.fixture(scope="module")
def key(drawn: Drawn) -> Key:
    return drawn[0]


@pytest.fixture(scope="module")
def lineup(key: Key, folders: list[Path]) -> Lineup:
    return Lineup(key, folders)


@pytest.fixture(scope="module")
def truth(drawn: Drawn) -> dict[int, bool]:
    """Fakes say either the reference or the contrastive one."""
    key, rows = drawn
    reference = {row.item_id: rows[row.row - 1][3] for row in key.rows if row.system == REFERENCE}
    return {row.row: rows[row.row - 1][3] == reference[row.item_id] for row in key.rows}


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """`serve(sheet, ...)` starts `gendermark annotate serve`, which ends with the test."""
    started: list[Served] = []

    def start(*arguments: str | Path) -> Served:
        started.append(Served(*arguments))
        return started[-1]

    yield start
    for one in started:
        one.kill()
