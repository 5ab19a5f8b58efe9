"""Executors give back the same however they work; lost workers cost only time."""

from __future__ import annotations

import builtins
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gendermark.errors import MissingExtra, UserError
from gendermark.runs import executors
from gendermark.runs.executors import SERIAL, Executor, Serial, open_executor
from runs import children, tasks

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")

_ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (children.SOURCES, children.TESTS)))}


@pytest.fixture(scope="module", params=["serial", "processes:2", "dask:2"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param.startswith("dask"):
        pytest.importorskip("distributed", reason="the extra dask is not installed")
    with open_executor(request.param) as found:
        yield found


def test_every_task_has_its_result(executor: Executor) -> None:
    assert dict(executor.each(tasks.square, range(20))) == {n: n * n for n in range(20)}
    assert list(executor.each(tasks.square, [])) == []
    assert list(executor.in_order(tasks.slow_first, range(6))) == list(range(6))


def test_tasks_are_taken_when_they_are_needed(executor: Executor) -> None:
    """A run that claims work only when it is taken leaves the rest to others."""
    taken = []

    def endless() -> Iterator[int]:
        for number in range(10_000):
            taken.append(number)
            yield number

    results = executor.each(tasks.square, endless())
    next(results)
    results.close()  # type: ignore[attr-defined]  # a generator
    assert len(taken) <= 8
    assert dict(executor.each(tasks.square, [5])) == {5: 25}  # and can still be used


def test_a_refusal_keeps_its_words_and_the_other_results(executor: Executor) -> None:
    kept = []
    with pytest.raises(UserError, match=r"^data\.tsv, line 7: is not what it was$"):
        kept.extend(executor.each(tasks.refused_at_three, range(1000)))
    assert {task for task, _ in kept} >= {0, 1, 2}
    assert len(kept) < 500


def test_a_bug_is_not_taken_for_a_user_error(executor: Executor) -> None:
    with pytest.raises((RuntimeError, ZeroDivisionError), match="division by zero"):
        list(executor.each(tasks.faulty, [1, 0]))


def test_workers_stay(executor: Executor) -> None:
    pids = set(dict(executor.each(tasks.pid_of, range(12))).values())
    if executor is SERIAL:
        assert pids == {os.getpid()}
    else:
        assert os.getpid() not in pids
        assert len(pids) == 2


def test_the_task_of_a_lost_worker_is_done_again(executor: Executor, tmp_path: Path) -> None:
    if isinstance(executor, Serial):
        pytest.skip("there is no worker to lose")
    work = [(str(tmp_path), number) for number in range(8)]
    found = list(executor.each(tasks.dies_once, work))
    assert sorted(result for _, result in found) == list(range(8))
    assert (tmp_path / "died").exists()


def test_a_task_that_kills_every_worker_is_given_up() -> None:
    with open_executor("processes:2") as executor:
        kept = []
        with pytest.raises(UserError, match="3 workers died"):
            kept.extend(executor.each(tasks.dies, range(5)))
        assert {task for task, _ in kept} >= {0, 1}
        assert executor.n_lost == 3
        assert len(executor.notes()) == 1


# -- what `--executor` accepts -----------------------------------------------------------------------------------------


def test_the_number_of_pieces_decides_if_nothing_is_named() -> None:
    assert open_executor("") is SERIAL
    assert open_executor("", 3) is SERIAL
    with open_executor("", 4) as found:
        assert found is not SERIAL
    assert open_executor("serial", 100) is SERIAL


@pytest.mark.parametrize(
    "text",
    [
        *("threads", "threads:2", "serial:2", "serial:", "processes:", "dask:", ":2", "processes:many"),
        *(f"{kind}:{n}" for kind in ("processes", "dask") for n in ("0", "-3", "1025", "100000", "9" * 5000)),
        *("dask:x", "dask:2x", "dask:tcp://x", "dask:http://x:8787", "dask:tcp://a b:1", "dask:tcp://:8786"),
        "dask:x:8786/y",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(UserError, match=text[:50]):
        open_executor(text)


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name in ("dask", "distributed"):
            raise ImportError(name)
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"gendermark\[dask\]"):
        open_executor("dask:2")


# -- scripts whose workers cannot start; each is a program of its own --------------------------------------------------

_SCRIPT = """
import sys
from runs import tasks
from gendermark.runs.executors import open_executor
with open_executor(sys.argv[1]) as executor:
    print(dict(executor.each(tasks.length, ["x" * int(sys.argv[2])] * 6)))
"""
_GUARD = '`if __name__ == "__main__":`'


def _run_script(directory: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = directory / "script.py"
    path.write_text(script)
    command = [sys.executable, str(path), *arguments]
    patience = children.PATIENCE_SECONDS
    return subprocess.run(command, env=_ENVIRONMENT, capture_output=True, text=True, timeout=patience, check=False)


@pytest.mark.parametrize(
    ("executor", "size"),
    [
        ("processes:2", "1"),
        pytest.param("processes:2", "3000000", marks=pytest.mark.slow),  # does not fit into a pipe unread
        pytest.param("dask:2", "1", marks=pytest.mark.slow),
    ],
)
def test_a_script_without_a_guard_is_refused_once(executor: str, size: str, tmp_path: Path) -> None:
    if executor.startswith("dask"):
        pytest.importorskip("distributed", reason="the extra dask is not installed")
    done = _run_script(tmp_path, _SCRIPT, executor, size)
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert said.startswith("gendermark.errors.UserError: workers ")
    assert _GUARD in said
    assert done.stderr.count("Traceback") == 1  # that of the error itself
    assert not done.stdout


def test_a_script_that_workers_cannot_read() -> None:
    """Nothing is tried again that can only fail: a complaint of each worker, and ours."""
    command = [sys.executable, "-", "processes:2", "1"]
    done = subprocess.run(command, input=_SCRIPT, env=_ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "UserError: workers stopped before they began to work (exit code 1)" in done.stderr
    assert done.stderr.count("Traceback") <= 3


# -- a dask scheduler that somebody else has started -------------------------------------------------------------------

_SLOW_WORK = """
import sys
from runs import tasks
from gendermark.errors import UserError
from gendermark.runs import executors
executors._SECONDS_TO_FIND = 2
try:
    with executors.open_executor(sys.argv[1]) as workers:
        for _ in workers.each(tasks.pid_of, range(100_000)):
            print("one", flush=True)
except UserError as problem:
    print(problem)
"""


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts a program of dask's; all of them end with the test."""
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    started: list[subprocess.Popen[bytes]] = []

    def begin(program: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments]
        quiet = subprocess.DEVNULL
        started.append(subprocess.Popen(command, env=_ENVIRONMENT, stdout=quiet, stderr=quiet))
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


def test_no_scheduler_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    monkeypatch.setattr(executors, "_SECONDS_TO_FIND", 1)
    with pytest.raises(UserError, match=r"no dask .* at tcp://127\.0\.0\.1:9;"):
        open_executor("dask:tcp://127.0.0.1:9")


@pytest.mark.slow
def test_a_scheduler_that_is_killed_ends_in_one_sentence(
    start: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    scheduler, address = _scheduler(start, tmp_path)
    start("dask_worker", address, "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path))
    driver = children.start([f"dask:{address}"], _ENVIRONMENT, code=_SLOW_WORK)
    assert driver.stdout is not None
    assert driver.stdout.readline() == "one\n"
    scheduler.kill()
    output, errors = driver.communicate(timeout=children.PATIENCE_SECONDS)
    assert output.splitlines()[-1].startswith("the dask scheduler is gone")
    assert (driver.returncode, errors) == (0, "")
