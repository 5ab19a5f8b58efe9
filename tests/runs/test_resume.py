"""A run that is killed goes on where it stopped, and ends with the same numbers; two runs at once share the work."""

from __future__ import annotations

import json
import random
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from gendermark.benchmarks.benchmark import Selection
from gendermark.runs.store import Store
from gendermark.systems.system import open_system
from runs import children
from runs.tiny import BENCHMARK

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL, SIGINT and flock are POSIX")

BATCH_SIZE = 8
SECONDS_PER_SENTENCE = 0.005
CELL = "tiny.en-xx"
ITEMS = BENCHMARK.load(Selection("tiny", "en", "xx", "core", cluster="occupation"))


@dataclass(frozen=True)
class Workshop:
    """A slow program that logs every sentence it is asked, and `gendermark run` with it."""

    directory: Path
    variables: dict[str, str]
    mode: str

    @property
    def log(self) -> list[str]:
        return children.lines_of(self.directory / "log")

    @property
    def pids(self) -> list[int]:
        return [int(line) for line in children.lines_of(self.directory / "pids")]

    @property
    def program(self) -> str:
        script = self.directory / "translate.py"
        if not script.exists():
            script.write_text(children.TRANSLATOR)
        # -S: the program needs no packages and starts faster.
        parts = (sys.executable, "-S", script, self.directory / "log", self.directory / "pids", SECONDS_PER_SENTENCE)
        return f"command:{shlex.join(map(str, parts))}"

    def start(self, run: str = "run") -> subprocess.Popen[str]:
        options = [f"--system-option={pair}" for pair in (f"mode={self.mode}", f"batch_size={BATCH_SIZE}")]
        arguments = ["run", "--system", self.program, "--to", "xx", "--data", "core", "--benchmark", "tiny", *options]
        arguments += ["--resamples", "100", "--store", str(self.store), "-o", str(self.directory / run)]
        return children.start(arguments, self.variables)

    @property
    def store(self) -> Path:
        return self.directory / "store.sqlite"

    def committed(self) -> set[str]:
        """The sentences whose translations are safe."""
        requests = BENCHMARK.requests(ITEMS)
        source_of = {request.request_id: request.source for request in requests}
        with Store(self.store) as store:
            found = store.get(open_system(self.program).system_id, requests)
        return {source_of[request_id] for request_id, _ in found}

    def wait_for_children(self) -> None:
        """Nobody ends the program of a killed run; it must end by itself."""
        children.wait_until(lambda: not any(map(children.is_alive, self.pids)), "the orphaned program had ended")

    def files(self, run: str = "run") -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.directory / run / CELL).iterdir()}

    def manifest(self, run: str = "run") -> dict[str, object]:
        found: dict[str, object] = json.loads((self.directory / run / "manifest.json").read_text())
        return found


@pytest.fixture(params=["batch", "stream"])
def workshop(tmp_path: Path, child_environment: dict[str, str], request: pytest.FixtureRequest) -> Workshop:
    return Workshop(tmp_path, child_environment, request.param)


def _uninterrupted(workshop: Workshop) -> dict[str, bytes]:
    """What a run leaves that nobody disturbs; with the same program, a store and a log of its own."""
    children.finish(workshop.start("reference"))
    files = workshop.files("reference")
    for path in workshop.directory.glob("store.sqlite*"):
        if path.is_file():
            path.unlink()
    (workshop.directory / "log").unlink()
    return files


def test_killed_at_random_moments(workshop: Workshop) -> None:
    expected = _uninterrupted(workshop)
    assert set(expected) == {"translations.jsonl", "judgements.jsonl", "result.json"}
    assert expected["judgements.jsonl"].count(b'"verdict": "judged"') == len(ITEMS.items)
    chance = random.Random(workshop.mode)
    states: list[tuple[int, set[str]]] = []
    for share in (0.05, 0.4, 0.8):
        process = workshop.start()
        n_lines = int(share * len(ITEMS.items)) + 1
        children.wait_until(lambda n=n_lines: len(workshop.log) >= n, "the program was at work")
        time.sleep(chance.uniform(0, 3 * SECONDS_PER_SENTENCE))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        workshop.wait_for_children()
        states.append((len(workshop.log), workshop.committed()))
        assert workshop.manifest()["status"] == "running"
    assert len(states[-1][1]) < len(ITEMS.items)  # or there was nothing left to resume
    children.finish(workshop.start())
    log = workshop.log
    for n_logged, committed in states:
        assert not committed & set(log[n_logged:])  # what was safe was never asked again
        assert len(set(log[:n_logged]) - committed) <= BATCH_SIZE  # what was not was one batch at most
    assert set(log) == {item.source for item in ITEMS.items}
    assert len(log) - len(set(log)) <= len(states) * BATCH_SIZE
    assert workshop.files() == expected
    assert workshop.manifest()["status"] == "finished"


def test_a_finished_run_asks_nothing(workshop: Workshop) -> None:
    children.finish(workshop.start())
    expected, log = workshop.files(), workshop.log
    assert Counter(log) == Counter(item.source for item in ITEMS.items)
    output = children.finish(workshop.start())
    assert workshop.log == log
    assert workshop.files() == expected
    cell = workshop.manifest()["cells"][CELL]  # type: ignore[index]
    assert (cell["n_asked"], cell["n_stored"]) == (0, len(ITEMS.items))
    assert f"tiny\ten-xx\t{workshop.program}\taccuracy\tall\t100.0\t" in output


def test_interrupted_from_the_keyboard(workshop: Workshop) -> None:
    process = workshop.start()
    children.wait_until(lambda: len(workshop.log) > BATCH_SIZE, "the program was at work")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=children.PATIENCE_SECONDS)
    assert process.returncode == 130
    assert errors == "interrupted; finished translations are kept, the same command goes on where it stopped\n"
    assert output == ""
    assert not any(map(children.is_alive, workshop.pids))  # ended by us, not by itself
    committed, n_logged = workshop.committed(), len(workshop.log)
    assert committed
    children.finish(workshop.start())
    assert not committed & set(workshop.log[n_logged:])
    assert workshop.files()["judgements.jsonl"].count(b'"verdict": "judged"') == len(ITEMS.items)


# -- two at once


def test_two_runs_ask_every_sentence_once(workshop: Workshop) -> None:
    processes = [workshop.start(run) for run in ("first", "second")]
    for process in processes:
        children.finish(process)
    assert Counter(workshop.log) == Counter(item.source for item in ITEMS.items)
    assert workshop.files("first") == workshop.files("second")
    asked = [workshop.manifest(run)["cells"][CELL]["n_asked"] for run in ("first", "second")]  # type: ignore[index]
    assert sum(asked) == len(ITEMS.items)


def test_one_of_two_runs_is_killed(workshop: Workshop) -> None:
    killed, survivor = workshop.start("killed"), workshop.start("survivor")
    children.wait_until(lambda: len(workshop.log) > 2 * BATCH_SIZE, "both were at work")
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    children.finish(survivor)
    assert set(workshop.log) == {item.source for item in ITEMS.items}
    assert len(workshop.log) - len(ITEMS.items) <= BATCH_SIZE
    judgements = workshop.files("survivor")["judgements.jsonl"]
    assert judgements.count(b'"verdict": "judged"') == len(ITEMS.items)
    workshop.wait_for_children()


def test_the_same_folder_twice_at_once(workshop: Workshop) -> None:
    if workshop.mode == "stream":
        pytest.skip("the folder does not depend on the mode")
    first = workshop.start()
    children.wait_until(lambda: bool(workshop.log), "the first was at work")
    second = workshop.start()
    _, errors = second.communicate(timeout=children.PATIENCE_SECONDS)
    assert second.returncode == 2
    folder = workshop.directory / "run"
    assert errors == (
        f"error: another process is writing to {folder}; wait for it, or choose another directory with -o\n"
    )
    children.finish(first)
    assert (folder / CELL / "result.json").exists()
