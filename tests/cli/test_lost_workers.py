"""Whatever the command, it says how many workers were lost, and says it once."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from cli.conftest import Cli
from gendermark.runs import score as scoring
from gendermark.runs.executors import Processes, _Worker

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
_NOTE = "1 worker was lost; its work was done again"


@pytest.fixture(autouse=True)
def _one_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first worker that is started, before it has done anything."""
    start, started = Processes._started, []

    def starts(self: Processes) -> _Worker:
        worker = start(self)
        if not started:
            worker.process.kill()
        started.append(worker)
        return worker

    monkeypatch.setattr(Processes, "_started", starts)


RUN = "run --system fake:right?delay_ms=0.01 --benchmark terms --data core --to es"


@pytest.mark.parametrize(
    "command",
    [
        f"{RUN} --shard 1/2 -o {{tmp}}/part",
        pytest.param("translate {tmp}/sources.txt --system demo:en-es --to es", marks=pytest.mark.slow),
        pytest.param("score simplegen --data core --to es --translations {good}", marks=pytest.mark.slow),
    ],
)
def test_it_is_said_once(
    command: str,
    cli: Cli,
    good_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(scoring, "PORTION", 300)  # so that a file of this size is scored by several workers
    (tmp_path / "sources.txt").write_text("She is late.\nHe is late.\n", encoding="utf-8")
    with caplog.at_level(logging.INFO, "gendermark"):
        done = cli(f"{command.format(tmp=tmp_path, good=good_file)} --executor processes:2")
    assert done.exit_code == 0
    said = [*done.err.splitlines(), *(record.getMessage() for record in caplog.records)]
    assert said.count(_NOTE) == 1
    if "--shard" in command:
        assert _NOTE in (tmp_path / "part" / "manifest.json").read_text(encoding="utf-8")
