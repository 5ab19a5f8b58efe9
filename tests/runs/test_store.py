"""The store of translations: nothing is paid for twice, nothing that was paid for is lost."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gendermark.errors import UserError
from gendermark.records import Request, Task, Translation
from gendermark.runs.store import Store
from runs import children

REQUESTS = [Request(f"Sentence {number}.", "en", "es") for number in range(5)]
IDS = [request.request_id for request in REQUESTS]
POSIX_ONLY = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and flock are POSIX")


def answers(requests: list[Request], text: str = "Frase.") -> list[Translation]:
    return [Translation(request.request_id, text) for request in requests]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "store.sqlite"


# -- what is kept


def test_round_trip_with_samples_and_log_probabilities(path: Path) -> None:
    sampled = replace(REQUESTS[1], task=Task.SAMPLE, n_samples=3)
    scored = Request("a", "en", "es", Task.SCORE, "b")
    given = [
        Translation(IDS[0], "La médica\u2028 \t\r\nvolvió.", log_probability=-1.5),
        Translation(IDS[2], ""),  # an empty translation is an answer too
        Translation(scored.request_id, "b", 0, None, -3.0, 2, (-1.0, -2.0)),
        *(Translation(sampled.request_id, f"muestra {n}", n, log_probability=-0.1 * n) for n in range(3)),
    ]
    with Store(path) as store:
        store.put("system", given)
    with Store(path) as store:
        found = store.get("system", [*REQUESTS, scored, sampled, sampled])
    assert found == {(answer.request_id, answer.sample): answer for answer in given}


def test_more_requests_than_one_query_takes(path: Path) -> None:
    many = [Request(f"Sentence {number}.", "en", "es") for number in range(1_234)]
    with Store(path) as store:
        store.put("system", answers(many))
        assert len(store.get("system", many)) == 1_234
        assert store.get("system", []) == {}


def test_another_system_has_its_own_answers_and_claims(path: Path) -> None:
    with Store(path) as store, Store(path) as another:
        store.put("a", answers(REQUESTS[:1], "de a"))
        assert store.get("b", REQUESTS) == {}
        assert store.claim("a", REQUESTS[:2]) == REQUESTS[1:2]
        assert another.claim("b", REQUESTS[:2]) == REQUESTS[:2]
        another.put("b", answers(REQUESTS[:1], "de b"))
        assert [store.get(system, REQUESTS)[IDS[0], 0].text for system in "ab"] == ["de a", "de b"]


def test_the_first_answer_stays(path: Path) -> None:
    with Store(path) as store:
        store.put("system", answers(REQUESTS[:1], "first"))
        store.put("system", answers(REQUESTS[:1], "second"))
        assert store.get("system", REQUESTS)[IDS[0], 0].text == "first"


def test_errors_are_not_kept_and_asked_again(path: Path) -> None:
    with Store(path) as store, Store(path) as another:
        assert store.claim("system", REQUESTS[:2]) == REQUESTS[:2]
        store.put("system", [Translation(IDS[0], None, error="HTTP 503"), Translation(IDS[1], "Frase.")])
        assert set(store.get("system", REQUESTS)) == {(IDS[1], 0)}
        # Not even by us: two runs that kept their claims on errors would wait for each other for ever.
        assert another.claim("system", REQUESTS[:2]) == REQUESTS[:1]
    with Store(path) as store:
        assert store.claim("system", REQUESTS[:2]) == REQUESTS[:1]


# -- claims


def test_what_is_claimed_or_answered_is_not_given_to_another(path: Path) -> None:
    with Store(path) as store, Store(path) as another:
        assert store.claim("system", REQUESTS[:2]) == REQUESTS[:2]
        assert another.claim("system", REQUESTS[:3]) == REQUESTS[2:3]
        assert store.claim("system", REQUESTS[:3]) == REQUESTS[:2]  # ours are ours still
        store.put("system", answers(REQUESTS[:2]))
        assert another.claim("system", REQUESTS[:2]) == []
        assert store.claim("system", REQUESTS[:2]) == []


def test_portions_of_samples_are_claimed_one_by_one(path: Path) -> None:
    first = Request("A", "en", "es", Task.SAMPLE, n_samples=16)
    second = replace(first, first_sample=16)
    with Store(path) as store, Store(path) as another:
        assert store.claim("system", [first]) == [first]
        assert another.claim("system", [first, second]) == [second]


def test_claims_are_given_back_at_the_end(path: Path) -> None:
    def fail() -> None:
        with Store(path) as store:
            store.claim("system", REQUESTS)
            assert len(_claims(path)) == len(REQUESTS)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert _claims(path) == []
    with Store(path) as store:
        assert store.claim("system", REQUESTS) == REQUESTS


CLAIM = f"""
import sys
from gendermark.records import Request
from gendermark.runs.store import Store
with Store(sys.argv[1]) as store:
    requests = [Request(f"Sentence {{number}}.", "en", "es") for number in range({len(REQUESTS)})]
    print(len(store.claim("system", requests)), flush=True)
    sys.stdin.read()
"""


@contextmanager
def _another_process_claims(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that claims all requests and then waits until its standard input ends."""
    variables = {**os.environ, "PYTHONPATH": str(children.SOURCES)}
    command, pipe = [sys.executable, "-c", CLAIM, str(path)], subprocess.PIPE
    with subprocess.Popen(command, env=variables, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{len(REQUESTS)}\n"
        try:
            yield process
        finally:
            process.kill()


def _claims(path: Path) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT * FROM claim").fetchall()
    finally:
        connection.close()


@POSIX_ONLY
def test_claims_of_a_killed_process_are_void_at_once(path: Path) -> None:
    with _another_process_claims(path) as process, Store(path) as store:
        assert store.claim("system", REQUESTS) == []
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert len(_claims(path)) == len(REQUESTS)  # it had no time to give them back
        assert store.claim("system", REQUESTS) == REQUESTS


OPEN_AT_ONCE = """
import sys, time
from pathlib import Path
from gendermark.records import Request, Translation
from gendermark.runs.store import Store
requests = [Request(f"Sentence {number}.", "en", "es") for number in range(40)]
print("ready", flush=True)
start = float(sys.stdin.readline())
for number in range(10):
    while time.time() < start + number * 0.05:
        pass
    with Store(f"{sys.argv[1]}/{number}.sqlite") as store:
        claimed = store.claim("system", requests)
        store.put("system", [Translation(request.request_id, "Frase.") for request in claimed])
    print(len(claimed))
"""


def test_many_processes_make_the_same_new_store_at_once(tmp_path: Path) -> None:
    variables = {**os.environ, "PYTHONPATH": str(children.SOURCES)}
    processes = [children.start([str(tmp_path)], variables, code=OPEN_AT_ONCE) for _ in range(6)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    start = time.time() + 0.05
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(f"{start}\n")
        process.stdin.flush()
    claimed = [[int(line) for line in children.finish(process).split()] for process in processes]
    assert [sum(numbers) for numbers in zip(*claimed, strict=True)] == [40] * 10


# -- what can be wrong with the place


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _refused(path: Path) -> str:
    with pytest.raises(UserError) as caught, Store(path):
        pass
    message = str(caught.value)
    assert str(path) in message
    assert "--store" in message
    return message


def test_places_that_cannot_hold_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"Dear diary,\n" * 500)
    assert "(file is not a database)" in _refused(path)
    assert path.read_bytes() == b"Dear diary,\n" * 500
    _refused(tmp_path)  # a directory
    _refused(path / "store.sqlite")  # below a file


def test_a_damaged_store(path: Path) -> None:
    with Store(path) as store:
        store.put("system", answers([Request(str(number), "en", "es") for number in range(2_000)]))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with (
        pytest.raises(UserError, match=r"is damaged .* --store"),
        Store(path) as s,
    ):
        s.get("system", REQUESTS)


def test_a_flipped_bit_is_noticed_and_only_that_answer_is_asked_again(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(path) as store:
        store.put("system", [Translation(request_id, f"Frase {n}.") for n, request_id in enumerate(IDS)])
    path.write_bytes(path.read_bytes().replace(b"Frase 3.", b"Grase 3."))
    with Store(path) as store:
        assert sorted(answer.text or "" for answer in store.get("system", REQUESTS).values()) == [
            f"Frase {n}." for n in (0, 1, 2, 4)
        ]
        assert store.claim("system", REQUESTS) == REQUESTS[3:4]
    (message,) = caplog.messages
    assert f"{path} has 1 damaged answers of system" in message


def test_an_empty_file_is_not_taken_for_a_new_store(path: Path) -> None:
    with Store(path) as store:
        store.put("system", answers(REQUESTS))
    path.write_bytes(b"")
    with (
        pytest.raises(UserError, match=r"is an empty file"),
        Store(path),
    ):
        pass
    assert path.read_bytes() == b""
    path.unlink()
    with Store(path) as store:  # on purpose
        assert store.claim("system", REQUESTS) == REQUESTS


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: (path.unlink(), path.write_bytes(b"x")), _emptied])
@POSIX_ONLY
def test_a_store_that_goes_away_under_way_is_noticed(path: Path, harm: Callable[[Path], Any]) -> None:
    with Store(path) as store:
        store.claim("system", REQUESTS)
        harm(path)
        with pytest.raises(UserError, match=r"was deleted or replaced"):
            store.put("system", answers(REQUESTS))


def test_a_store_that_really_cannot_grow(path: Path) -> None:
    with Store(path) as store:
        store.put("system", answers(REQUESTS[:2]))
        (n_pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {n_pages + 3}")
        with pytest.raises(UserError, match=r"cannot be used \(database or disk is full\)"):
            store.put("system", answers(REQUESTS[2:], "largo " * 10_000))
        assert set(store.get("system", REQUESTS)) == {(IDS[0], 0), (IDS[1], 0)}  # the portion whole or not at all
        store._connection.execute("PRAGMA max_page_count = 100000")
        store.put("system", answers(REQUESTS[2:]))
    with Store(path) as store:
        assert len(store.get("system", REQUESTS)) == len(REQUESTS)
