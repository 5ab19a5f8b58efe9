"""Scripts whose workers cannot start are told so, once; each is a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from executors import tasks
from gendermark.errors import UserError
from gendermark.executors import processes
from gendermark.executors.executor import open_executor
from runs import children

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")

_SCRIPT = """
import sys
from executors import tasks
from gendermark.executors.executor import open_executor
with open_executor(sys.argv[1]) as executor:
    print(dict(executor.each(tasks.length, ["x" * int(sys.argv[2])] * 6)))
"""
_GUARD = r'`if __name__ == "__main__":`'


def _done(*arguments: str, script: str | None = None) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(map(str, (children.SOURCES, children.TESTS)))
    return subprocess.run(
        [sys.executable, *arguments],
        input=script,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=children.PATIENCE_SECONDS,
        check=False,
    )


@pytest.mark.parametrize("size", ["1", "3000000"])  # the second does not fit into a pipe before somebody reads
def test_a_script_without_a_guard_is_told_so_by_the_driver_alone(size: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(_SCRIPT)
    done = _done(str(tmp_path / "script.py"), "processes:2", size)
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert said.startswith("gendermark.errors.UserError: workers read the script that starts them")
    assert said.endswith(f"put what it does under {_GUARD}")
    assert done.stderr.count("Traceback") == 1  # that of the error itself
    assert not done.stdout


def test_with_a_guard_it_works(tmp_path: Path) -> None:
    lines = "".join(f"    {line}\n" for line in _SCRIPT.strip().splitlines())
    (tmp_path / "script.py").write_text(f'if __name__ == "__main__":\n{lines}')
    done = _done(str(tmp_path / "script.py"), "processes:2", "1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "{'x': 1}\n", "")


def test_dask_is_told_so_too(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    (tmp_path / "script.py").write_text(_SCRIPT)
    done = _done(str(tmp_path / "script.py"), "dask:2", "1")
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert said.startswith("gendermark.errors.UserError: workers ended before their first piece of work (dask: ")
    assert _GUARD in said
    assert done.stderr.count("Traceback") == 1


def test_a_script_that_workers_cannot_read() -> None:
    """Nothing is tried again that can only fail: a complaint of each worker, and ours."""
    done = _done("-", "processes:2", "1", script=_SCRIPT)
    assert done.returncode == 1
    assert "UserError: workers ended before their first piece of work (exit code 1); the script" in done.stderr
    assert "must be a file that they can read" in done.stderr
    assert done.stderr.count("Traceback") <= 3


def test_workers_that_are_killed_before_they_begin_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_serve", tasks.dies_before_it_begins)
    with open_executor("processes:1") as workers:
        with pytest.raises(UserError, match=r"^workers ended before their first piece of work \(killed, or out of mem"):
            list(workers.each(tasks.square, [1]))
        assert workers.notes()[0].startswith("3 workers were lost")
