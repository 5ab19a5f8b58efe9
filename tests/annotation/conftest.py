"""Three systems, drawn from once for each module of tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.lineups import SPECS, make
from gendermark.annotation import (
    REFERENCE,
    Lineup,
    LineupRun,
    ShownRow,
    draw_lineup,
    match_runs,
    read_runs,
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three systems on core data. Not to be written to."""
    base = tmp_path_factory.mktemp("lineup")
    return [make(base / name, spec) for name, spec in SPECS.items()]


@pytest.fixture(scope="module")
def runs(folders: list[Path]) -> list[LineupRun]:
    return read_runs(folders)


@pytest.fixture(scope="module")
def drawn(runs: list[LineupRun]) -> tuple[Lineup, list[ShownRow]]:
    return draw_lineup(runs, 100, 7)


@pytest.fixture(scope="module")
def key(drawn: tuple[Lineup, list[ShownRow]]) -> Lineup:
    return drawn[0]


@pytest.fixture(scope="module")
def by_name(key: Lineup, folders: list[Path]) -> dict[str, LineupRun]:
    return match_runs(key, folders)


@pytest.fixture(scope="module")
def truth(drawn: tuple[Lineup, list[ShownRow]]) -> dict[int, bool]:
    """Fakes say either the reference or the contrastive one."""
    key, shown = drawn
    reference = {row.item_id: shown[row.row - 1].translation for row in key.rows if row.system == REFERENCE}
    return {row.row: shown[row.row - 1].translation == reference[row.item_id] for row in key.rows}
