"""The lock between processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import gendermark
from gendermark.errors import UserError
from gendermark.io import locks

HOLD = """
import sys
from pathlib import Path
from gendermark.io import locks

with locks.hold(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_process(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock until its standard input ends."""
    environment = {**os.environ, "PYTHONPATH": str(Path(gendermark.__file__).parents[1])}
    command, pipe = [sys.executable, "-c", HOLD, str(path)], subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "folder" / "a.lock"


def test_held_inside_free_outside(path: Path) -> None:
    assert not locks.is_held(path)
    assert not path.parent.exists()  # looking makes nothing
    with locks.hold(path):
        assert locks.is_held(path)
        assert locks.is_held(path)
    assert not locks.is_held(path)
    with locks.hold(path):
        pass


def test_another_process_holds_it(path: Path) -> None:
    waited: list[str] = []

    def on_wait() -> None:
        waited.append("once")

    with another_process(path):
        assert locks.is_held(path)
        with pytest.raises(locks.LockTimeoutError) as caught, locks.hold(path, on_wait=on_wait):
            pass
        assert str(caught.value) == f"another process holds {path} (waited 0 s); wait for it to end"
        assert caught.value.exit_code == 2
        assert waited == []  # there was no waiting
        with pytest.raises(UserError, match=r"waited 0\.2 s"), locks.hold(path, timeout_seconds=0.2, on_wait=on_wait):
            pass
        assert waited == ["once"]


def test_waits_for_another_process_to_end(path: Path) -> None:
    with another_process(path) as process:
        assert process.stdin is not None
        with locks.hold(path, timeout_seconds=10, on_wait=process.stdin.close):
            assert process.wait() == 0


def test_kill_frees_it(path: Path) -> None:
    with another_process(path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not locks.is_held(path)
        with locks.hold(path):
            assert path.exists()


def test_a_place_that_cannot_be_locked(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"^cannot lock .*a\.lock: "), locks.hold(tmp_path / "file" / "a.lock"):
        pass
    with pytest.raises(UserError, match=r"^cannot read the lock .*a\.lock: Not a directory"):
        locks.is_held(tmp_path / "file" / "a.lock")
