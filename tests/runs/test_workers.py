"""A run whose work is done by others: the same result, whoever does it, and whoever of them is killed."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

import gendermark
from gendermark.errors import UserError
from gendermark.records import Request, Translation
from gendermark.runs import run as running
from gendermark.runs import score as scoring
from gendermark.runs import translate as translating
from gendermark.runs.executors import open_executor
from gendermark.runs.run import RunConfig, RunContext
from gendermark.runs.store import Store
from gendermark.runs.translate import translate
from gendermark.selection import Selection
from gendermark.systems.system import Opened, System, open_system
from runs import children
from runs.workshop import BATCH_SIZE, SOURCES, open_workshop

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")

N_WORKERS = 2
EXECUTORS = ("processes:2", pytest.param("dask:2", marks=pytest.mark.slow))


def _needs(executor: str) -> None:
    if executor.startswith("dask"):
        pytest.importorskip("distributed", reason="the extra dask is not installed")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="workers are found in /proc")
@pytest.mark.parametrize("executor", EXECUTORS)
def test_workers_and_driver_are_killed(executor: str, tmp_path: Path, child_environment: dict[str, str]) -> None:
    _needs(executor)
    shop = open_workshop(tmp_path, child_environment, "batch", seconds=0.02)
    driver = shop.start("run", "--executor", executor)
    for n_lines in (3, 20):
        children.wait_until(lambda n=n_lines: len(shop.log) >= n, "the workers were at work")
        os.kill(children.workers_of(driver.pid)[0], signal.SIGKILL)
    children.wait_until(lambda: len(shop.log) >= 45, "the others were at work")
    workers = children.workers_of(driver.pid)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    children.wait_until(lambda: not any(map(children.is_alive, workers)), "workers without a driver had ended")
    shop.wait_for_children()
    committed, n_logged = shop.committed(), len(shop.log)
    assert 0 < len(committed) < len(SOURCES)
    children.finish(shop.start("run", "--executor", executor))
    assert not committed & set(shop.log[n_logged:])  # what was safe was never asked again
    # Lost: a shard of each killed worker, and those that were handed out when the driver died.
    n_in_flight = 2 + 2 * N_WORKERS
    assert len(shop.log) - len(SOURCES) <= n_in_flight * BATCH_SIZE
    children.finish(shop.start("serial", "--store", str(tmp_path / "other.sqlite")))
    assert shop.files() == shop.files("serial")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="workers are found in /proc")
@pytest.mark.parametrize("moment", ["starting", "translating"])
@pytest.mark.parametrize("executor", EXECUTORS)
def test_ctrl_c_is_the_drivers_business(
    executor: str, moment: str, tmp_path: Path, child_environment: dict[str, str]
) -> None:
    """Workers never hear of it: whatever they are doing, nothing of theirs stands before our sentence."""
    _needs(executor)
    shop = open_workshop(tmp_path, child_environment, "batch", seconds=0.02)
    driver = shop.start("run", "--executor", executor, in_terminal=True)
    if moment == "starting":
        children.wait_until(lambda: len(children.workers_of(driver.pid)) > 0, "a worker was starting")
    else:
        children.wait_until(lambda: len(shop.log) >= 3, "the workers were at work")
    workers = children.workers_of(driver.pid)
    assert all(map(children.blocks_ctrl_c, workers))
    children.press_ctrl_c(driver)
    _, errors = driver.communicate(timeout=children.PATIENCE_SECONDS)
    assert driver.returncode == 130
    said = [line for line in errors.splitlines() if not line.startswith("the workers can be watched at")]
    assert said[-1].startswith("interrupted; finished translations are kept")
    assert not [line for line in said if "Traceback" in line or "KeyboardInterrupt" in line]
    assert not any(map(children.is_alive, workers))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_results_are_the_same_wherever_the_work_is_done(executor: str, tmp_path: Path) -> None:
    _needs(executor)
    selections = tuple(Selection("simplegen", "en", to, "core") for to in ("es", "de"))
    config = RunConfig("fake:stereotyped?s=0.6&delay_ms=0.01", selections)
    found = {}
    for place in ("serial", executor):
        with open_executor(place) as workers:
            context = RunContext(tmp_path / f"{place}.sqlite", executor=workers)
            running.run(config, tmp_path / place, context)
        cells = sorted((tmp_path / place).glob("*/*"))
        found[place] = {f"{path.parent.name}/{path.name}": path.read_bytes() for path in cells}
    assert len(found["serial"]) == 6
    assert found[executor] == found["serial"]


class _Server(System):
    """Stands for any that asks a server."""

    spec = system_id = "stand-in:server"
    asks_a_server = True
    opened_as = Opened("stand-in:server", ())

    def __init__(self) -> None:
        self.pids: list[int] = []

    def answer(self, requests):  # type: ignore[no-untyped-def]
        self.pids.append(os.getpid())
        yield [Translation(request.request_id, "hola") for request in requests]


def test_servers_are_asked_from_one_process_only(tmp_path: Path) -> None:
    """Their limit of requests at once, and their key, stay with the driver."""
    system = _Server()
    requests = [Request(f"Sentence {number}.", "en", "es") for number in range(100)]
    with open_executor("processes:2") as workers, Store(tmp_path / "store.sqlite") as store:
        translate(system, requests, store, lambda *_: None, workers)
    assert set(system.pids) == {os.getpid()}
    for family in (
        "openai:http://127.0.0.1:9/v1#m",
        "libretranslate:http://127.0.0.1:9",
        "apertium:http://127.0.0.1:9",
    ):
        assert open_system(family).asks_a_server


def test_another_model_on_a_worker_is_refused() -> None:
    request = Request("A sentence.", "en", "es")
    shard = translating.Shard(Opened("demo:en-es", ()), "another model", None, (request,), 32)
    with pytest.raises(UserError, match=r"^demo:en-es is another system on a worker than here"):
        translating.answer_shard(shard)


def test_portions_of_a_large_set_are_judged_by_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "PORTION", 300)
    item_set = gendermark.items("winomt", "de", data="core")
    texts = [f"Die Ärztin sprach {n} mal." if n % 3 else "Der Koch war da." for n in range(len(item_set.items))]
    found = [gendermark.score("winomt", texts, "de", data="core", executor=place) for place in ("", "processes:2")]
    assert found[0] == found[1]
    assert len(found[0].judgements) == 1200


@pytest.mark.slow
def test_a_system_around_another_is_told_on_workers_what_it_needs(tmp_path: Path) -> None:
    """Its people by the benchmark (`reader=gold`), and what the inner one says of them."""
    config = RunConfig("hinted:fake:coin?reader=gold&delay_ms=0.001", (Selection("simplegen", "en", "es", "core"),))
    results = []
    for place in ("serial", "processes:2"):
        with open_executor(place) as workers:
            results += running.run(config, None, RunContext(tmp_path / f"{place}.sqlite", executor=workers))
    assert results[0] == results[1]
