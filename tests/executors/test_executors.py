"""Executors give back the same, in whatever way they work; lost workers cost nothing but time."""

from __future__ import annotations

import builtins
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from executors import tasks
from gendermark import registry
from gendermark.errors import MissingExtra, UserError
from gendermark.executors.executor import SERIAL, Executor, Serial, open_executor

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")


@pytest.fixture(scope="module", params=["serial", "processes:2", "dask:2"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param.startswith("dask"):
        pytest.importorskip("distributed", reason="the extra dask is not installed")
    with open_executor(request.param) as found:
        yield found


def test_every_task_has_its_result(executor: Executor) -> None:
    assert dict(executor.each(tasks.square, range(20))) == {n: n * n for n in range(20)}
    assert list(executor.each(tasks.square, [])) == []


def test_results_can_be_had_in_order(executor: Executor) -> None:
    assert list(executor.in_order(tasks.slow_first, range(6))) == list(range(6))


def test_tasks_are_taken_when_they_are_needed(executor: Executor) -> None:
    """Whoever claims work only when it is taken leaves the rest to others."""
    taken = []

    def endless() -> Iterator[int]:
        for number in range(10_000):
            taken.append(number)
            yield number

    results = executor.each(tasks.square, endless())
    next(results)
    results.close()  # type: ignore[attr-defined]  # a generator
    assert len(taken) <= 8
    assert dict(executor.each(tasks.square, [5])) == {5: 25}  # and goes on being of use


def test_a_refusal_is_told_as_it_was_and_the_others_are_kept(executor: Executor) -> None:
    kept = []
    with pytest.raises(UserError, match=r"^data\.tsv, line 7: is not what it was$"):
        kept.extend(executor.each(tasks.refused_at_three, range(100)))
    assert {task for task, _ in kept} >= {0, 1, 2}
    assert len(kept) < 20


def test_a_fault_of_ours_is_not_taken_for_the_users(executor: Executor) -> None:
    with pytest.raises((RuntimeError, ZeroDivisionError), match="division by zero"):
        list(executor.each(tasks.faulty, [1, 0]))


def test_work_is_done_by_workers_that_stay(executor: Executor) -> None:
    pids = set(dict(executor.each(tasks.pid_of, range(12))).values())
    if executor is SERIAL:
        assert pids == {os.getpid()}
    else:
        assert os.getpid() not in pids
        assert len(pids) == 2


def test_a_lost_workers_task_is_done_again(executor: Executor, tmp_path: Path) -> None:
    if isinstance(executor, Serial):
        pytest.skip("there is no worker to lose")
    work = [(str(tmp_path), number) for number in range(8)]
    found = list(executor.each(tasks.dies_once, work))
    assert sorted(result for _, result in found) == list(range(8))
    assert (tmp_path / "died").exists()


def test_a_task_that_kills_every_worker_is_given_up() -> None:
    with open_executor("processes:2") as executor:
        kept = []
        with pytest.raises(UserError, match=r"3 workers died with the same portion .* run again to go on"):
            kept.extend(executor.each(tasks.dies, range(5)))
        assert {task for task, _ in kept} >= {0, 1}
        assert executor.notes() == ["3 workers were lost; their work was done again"]


def test_one_lost_worker_is_one(tmp_path: Path) -> None:
    with open_executor("processes:1") as executor:
        assert executor.notes() == []
        assert list(executor.in_order(tasks.dies_once, [(str(tmp_path), 2)])) == [2]
        assert executor.notes() == ["1 worker was lost; its work was done again"]


def test_the_number_of_pieces_decides_where_nobody_else_does() -> None:
    assert open_executor("") is SERIAL
    assert open_executor("", 3) is SERIAL
    with open_executor("", 4) as found:
        assert found is not SERIAL
    assert open_executor("serial", 100) is SERIAL


@pytest.mark.parametrize("text", ["threads", "threads:2", "serial:2", "serial:", "processes:", "dask:", ":2"])
def test_what_is_no_executor(text: str) -> None:
    with pytest.raises(UserError, match=rf"^'{text}' is no executor; write serial, processes, .* or dask:tcp://"):
        open_executor(text)


@pytest.mark.parametrize("number", ["0", "-3", "1025", "100000", "9" * 5000])
@pytest.mark.parametrize("kind", ["processes", "dask"])
def test_a_number_of_workers_that_nobody_can_have(kind: str, number: str) -> None:
    with pytest.raises(UserError, match=rf"^{kind}:{number}: the number of workers must be from 1 to 1024$"):
        open_executor(f"{kind}:{number}")


def test_processes_have_no_address() -> None:
    with pytest.raises(UserError, match=r"^processes:many: the number of workers must be from 1 to 1024$"):
        open_executor("processes:many")


@pytest.mark.parametrize("address", ["x", "2x", "tcp://x", "http://x:8787", "tcp://a b:1", "tcp://:8786", "x:8786/y"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(UserError, match=rf"^dask:{address}: give a number .* or the address .*: tcp://HOST:PORT, "):
        open_executor(f"dask:{address}")


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "node-7.cluster:8786", "tls://[fe80::1]:8786"])
def test_addresses(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    asked = []

    def nobody(given: str, **_: object) -> None:
        asked.append(given)
        raise OSError

    monkeypatch.setattr("distributed.Client", nobody)
    with pytest.raises(UserError, match=r"^no dask scheduler answers"):
        open_executor(f"dask:{address}")
    assert asked == [address]


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name in ("dask", "distributed"):
            raise ImportError(name)
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"executor dask needs .*gendermark\[dask\]"):
        open_executor("dask:2")


def test_a_scheduler_that_is_not_there() -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    with pytest.raises(UserError, match=r"^no dask .* at tcp://127\.0\.0\.1:9; is it running, and is the address r"):
        open_executor("dask:tcp://127.0.0.1:9")


def test_a_result_that_cannot_be_sent_is_a_fault_and_kills_no_worker() -> None:
    with open_executor("processes:1") as workers, pytest.raises(RuntimeError, match="its result cannot be sent"):
        list(workers.each(tasks.something_local, [1]))
    assert workers.notes() == []


def test_benchmarks_are_sent_by_name() -> None:
    for name in registry.names("benchmark"):
        benchmark = registry.load("benchmark", name)
        assert pickle.loads(pickle.dumps(benchmark)) is benchmark
