"""A scheduler that somebody else has started: what is waited for is said, and so is its end."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gendermark.errors import UserError
from gendermark.executors import cluster
from gendermark.executors.executor import open_executor
from runs import children

pytest.importorskip("distributed", reason="the extra dask is not installed")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")

_VARIABLES = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (children.SOURCES, children.TESTS)))}
_SLOW_WORK = """
import sys
from executors import tasks
from gendermark.errors import UserError
from gendermark.executors import cluster
from gendermark.executors.executor import open_executor
cluster._SECONDS_TO_FIND = 2
try:
    with open_executor(sys.argv[1]) as workers:
        for _ in workers.each(tasks.pid_of, range(100_000)):
            print("one", flush=True)
except UserError as problem:
    print(problem)
"""


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts a program of dask's; all of them end with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(program: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments]
        quiet = subprocess.DEVNULL
        started.append(subprocess.Popen(command, env=_VARIABLES, stdout=quiet, stderr=quiet))
        return started[-1]

    yield begin
    for process in reversed(started):
        process.kill()
        process.wait()


def _scheduler(start: Callable[..., subprocess.Popen[bytes]], directory: Path) -> tuple[subprocess.Popen[bytes], str]:
    """A scheduler without workers, and its address."""
    facts = directory / "scheduler.json"
    place = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    process = start("dask_scheduler", *place, "--scheduler-file", str(facts))
    children.wait_until(lambda: facts.exists() and facts.read_text().endswith("}"), "the scheduler was there")
    return process, json.loads(facts.read_text())["address"]


def test_waiting_is_said(
    start: Callable[..., subprocess.Popen[bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    _, address = _scheduler(start, tmp_path)
    monkeypatch.setattr(cluster, "_SECONDS_FOR_WORKERS", 1)
    with (
        caplog.at_level(logging.INFO, "gendermark"),
        pytest.raises(UserError, match=rf"^the dask scheduler at {address} has no workers; start some with `dask w"),
    ):
        open_executor(f"dask:{address}")
    assert [record.getMessage() for record in caplog.records if record.name.startswith("gendermark")] == [
        f"looking for the dask scheduler at {address}, for 10 s at most",
        f"the dask scheduler at {address} has no workers yet; waiting for the first, for 1 s at most",
    ]


def test_a_scheduler_that_is_killed_is_told_by_us_alone(
    start: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    scheduler, address = _scheduler(start, tmp_path)
    start("dask_worker", address, "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path))
    driver = children.start([f"dask:{address}"], _VARIABLES, code=_SLOW_WORK)
    assert driver.stdout is not None
    assert driver.stdout.readline() == "one\n"
    scheduler.kill()
    output, errors = driver.communicate(timeout=children.PATIENCE_SECONDS)
    assert output.splitlines()[-1] == "the dask scheduler is gone; what is finished is kept: run again to go on"
    assert (driver.returncode, errors) == (0, "")
