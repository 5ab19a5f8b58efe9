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


@pytest.mark.slow
@pytest.mark.parametrize("languages", [("es",), ("es", "de")], ids=["one", "several"])
def test_run(languages: tuple[str, ...], cli: Cli, tmp_path: Path) -> None:
    to = [word for language in languages for word in ("--to", language)]
    what = ("--system", "fake:right?delay_ms=0.01", "--benchmark", "simplegen", "--data", "core", *to)
    done = cli("run", *what, "--executor", "processes:2", "-o", tmp_path / "run", "--store", tmp_path / "store.sqlite")
    assert done.exit_code == 0
    assert done.err.splitlines().count(_NOTE) == 1


def test_a_part_of_a_run(cli: Cli, tmp_path: Path) -> None:
    what = ("--system", "fake:right?delay_ms=0.01", "--benchmark", "simplegen", "--data", "core", "--to", "es")
    done = cli("run", *what, "--executor", "processes:2", "--shard", "1/2", "-o", tmp_path / "part")
    assert done.exit_code == 0
    assert done.err.splitlines().count(_NOTE) == 1
    assert _NOTE in (tmp_path / "part" / "manifest.json").read_text(encoding="utf-8")


def test_translate(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sources.txt").write_text("She is late.\nHe is late.\n", encoding="utf-8")
    what = ("--system", "demo:en-es", "--to", "es", tmp_path / "sources.txt", "--store", tmp_path / "store.sqlite")
    done = cli("translate", *what, "--executor", "processes:2")
    assert done.exit_code == 0
    assert done.err.splitlines().count(_NOTE) == 1


def test_score(cli: Cli, good_file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(scoring, "PORTION", 300)
    with caplog.at_level(logging.INFO, "gendermark"):
        what = ("simplegen", "--data", "core", "--to", "es", "--translations", good_file)
        done = cli("score", *what, "--executor", "processes:2")
    assert done.exit_code == 0
    assert [record.getMessage() for record in caplog.records].count(_NOTE) == 1
