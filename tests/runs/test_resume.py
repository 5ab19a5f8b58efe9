"""A run that is killed goes on where it stopped, and ends with the same numbers; two runs at once share the work."""

from __future__ import annotations

import json
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from runs import children
from runs.workshop import BATCH_SIZE, CELL, SECONDS_PER_SENTENCE, SOURCES, Workshop, open_workshop

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL, SIGINT and flock are POSIX")


@pytest.fixture(params=["batch", pytest.param("stream", marks=pytest.mark.slow)])
def workshop(
    tmp_path: Path, child_environment: dict[str, str], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Workshop:
    found = open_workshop(tmp_path, child_environment, request.param)
    for name in ("LOG", "PIDS"):
        monkeypatch.setenv(name, found.variables[name])
    return found


in_batches = pytest.mark.parametrize("workshop", ["batch"], indirect=True)


def test_killed_at_random_moments(workshop: Workshop) -> None:
    chance = random.Random(workshop.mode)
    states: list[tuple[int, set[str]]] = []
    for share in (0.05, 0.6):
        process = workshop.start()
        n_lines = int(share * len(SOURCES)) + 1
        children.wait_until(lambda n=n_lines: len(workshop.log) >= n, "the program was at work")
        time.sleep(chance.uniform(0, 3 * SECONDS_PER_SENTENCE))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        workshop.wait_for_children()
        states.append((len(workshop.log), workshop.committed()))
        assert workshop.manifest()["status"] == "running"
    assert len(states[-1][1]) < len(SOURCES)  # or there was nothing left to resume
    output = children.finish(workshop.start())
    log = workshop.log
    for n_logged, committed in states:
        assert not committed & set(log[n_logged:])  # what was safe was never asked again
        assert len(set(log[:n_logged]) - committed) <= BATCH_SIZE  # what was not was one batch at most
    assert set(log) == set(SOURCES)
    assert len(log) - len(SOURCES) <= len(states) * BATCH_SIZE
    assert "\ntiny\ten-xx\ttranslate\t" in output
    found, manifest = workshop.files(), workshop.manifest()
    assert manifest["status"] == "finished"
    assert json.loads(found["result.json"])["estimates"][0]["value"] == 100
    assert found["judgements.jsonl"].count(b'"verdict": "judged"') == len(SOURCES)
    # The third time, nothing is asked at all.
    workshop.run("run", workshop.store)
    assert workshop.log == log
    assert workshop.files() == found
    cell = workshop.manifest()["cells"][CELL]
    assert (cell["n_asked"], cell["n_stored"]) == (0, len(SOURCES))
    # A run that nobody disturbs leaves the same, byte for byte.
    workshop.run("undisturbed", workshop.directory / "other.sqlite")
    assert workshop.log[len(log) :] == SOURCES
    assert workshop.files("undisturbed") == found


def test_interrupted_from_the_keyboard(workshop: Workshop) -> None:
    process = workshop.start()
    children.wait_until(lambda: len(workshop.log) > BATCH_SIZE, "the program was at work")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=children.PATIENCE_SECONDS)
    assert process.returncode == 130
    assert errors.splitlines() == [
        f"tiny en-xx: {len(SOURCES)} sentences",
        "interrupted; finished translations are kept; rerun the same command to resume",
    ]
    assert output == ""
    assert not any(map(children.is_alive, workshop.pids))  # ended by us, not by itself
    committed, n_logged = workshop.committed(), len(workshop.log)
    assert BATCH_SIZE <= len(committed) < len(SOURCES)
    workshop.run("run", workshop.store)
    assert sorted({*workshop.log[n_logged:]} | committed) == sorted(SOURCES)
    assert not committed & set(workshop.log[n_logged:])
    assert workshop.manifest()["status"] == "finished"


# -- two at once


@in_batches
def test_two_runs_ask_every_sentence_once(workshop: Workshop) -> None:
    processes = [workshop.start(run) for run in ("first", "second")]
    for process in processes:
        children.finish(process)
    assert Counter(workshop.log) == Counter(SOURCES)
    assert workshop.files("first") == workshop.files("second")
    assert sum(workshop.manifest(run)["cells"][CELL]["n_asked"] for run in ("first", "second")) == len(SOURCES)


@in_batches
def test_one_of_two_runs_is_killed(workshop: Workshop) -> None:
    killed, survivor = workshop.start("killed"), workshop.start("survivor")
    children.wait_until(lambda: len(workshop.log) > 2 * BATCH_SIZE, "both were at work")
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    children.finish(survivor)
    assert set(workshop.log) == set(SOURCES)
    assert len(workshop.log) - len(SOURCES) <= BATCH_SIZE
    assert workshop.files("survivor")["judgements.jsonl"].count(b'"verdict": "judged"') == len(SOURCES)
    workshop.wait_for_children()
