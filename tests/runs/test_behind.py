"""Writing behind: the system does not wait for the disk, and nothing is told as done before it is safe."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Translation
from gendermark.runs import translate as translating
from gendermark.runs.behind import Behind
from gendermark.runs.executors import Serial
from gendermark.runs.store import Store
from gendermark.runs.translate import translate
from gendermark.systems.system import Opened, System

REQUESTS = [Request(f"Sentence {number}.", "en", "es") for number in range(40)]


class Quick(System):
    """Computes here, and looks into the store whenever it is asked."""

    spec = system_id = "test:quick"
    batch_size = 4
    is_asked_again_freely = True

    def __init__(self, path: Path, seconds: float = 0.0, dies_at: int = -1) -> None:
        self._path, self._seconds, self._dies_at = path, seconds, dies_at
        self.batches: list[list[str]] = []
        self.safe_when_asked: list[int] = []

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        if len(self.batches) == self._dies_at:
            raise SystemFailure("it died")
        self.safe_when_asked.append(n_safe(self._path))
        self.batches.append([request.source for request in requests])
        time.sleep(self._seconds)
        yield [Translation(request.request_id, request.source.upper()) for request in requests]


def n_safe(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM translation").fetchone()[0])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


def test_nothing_is_told_as_done_before_it_is_safe(path: Path) -> None:
    told: list[tuple[int, int]] = []
    with Store(path) as store:
        answers = translate(Quick(path), REQUESTS, store, lambda done, _: told.append((done, n_safe(path))))
    assert [answer[0].text for answer in answers.translations] == [request.source.upper() for request in REQUESTS]
    assert [done for done, _ in told] == list(range(0, 41, 4))
    assert all(done <= safe for done, safe in told)


def test_one_portion_at_most_is_on_its_way(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Store.put

    def slow(self: Store, system_id: str, translations: Sequence[Translation]) -> None:
        time.sleep(0.05)
        real(self, system_id, translations)

    monkeypatch.setattr(Store, "put", slow)
    system = Quick(path)
    with Store(path) as store:
        translate(system, REQUESTS, store, lambda *_: None)
    asked_before = range(0, 40, 4)
    unsafe = [asked - safe for asked, safe in zip(asked_before, system.safe_when_asked, strict=True)]
    assert max(unsafe) == 4  # the system is at work while its last answers are written; never two portions behind


def test_what_took_long_is_safe_before_more_is_asked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translating, "_SECONDS_TO_WRITE_BEHIND", 0.01)
    system = Quick(path, seconds=0.02)
    with Store(path) as store:
        translate(system, REQUESTS, store, lambda *_: None)
    assert system.safe_when_asked == list(range(0, 40, 4))


def test_servers_and_programs_are_waited_for(path: Path) -> None:
    system = Quick(path)
    system.is_asked_again_freely = False
    with Store(path) as store:
        translate(system, REQUESTS, store, lambda *_: None)
    assert system.safe_when_asked == list(range(0, 40, 4))


def test_what_came_before_a_failure_is_kept(path: Path) -> None:
    with pytest.raises(SystemFailure, match="it died"), Store(path) as store:
        translate(Quick(path, dies_at=7), REQUESTS, store, lambda *_: None)
    assert n_safe(path) == 28
    with Store(path) as store:
        assert translate(Quick(path), REQUESTS, store, lambda *_: None).n_asked == 12


def test_a_store_that_cannot_be_written_ends_the_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Store, system_id: str, translations: Sequence[Translation]) -> None:
        raise UserError("the disk is full")

    system = Quick(path)
    told: list[int] = []
    monkeypatch.setattr(Store, "put", full)
    with pytest.raises(UserError, match="the disk is full"), Store(path) as store:
        translate(system, REQUESTS, store, lambda done, _: told.append(done))
    assert told == [0]
    assert len(system.batches) <= 2


def test_another_run_is_waited_for(path: Path) -> None:
    with Store(path) as store, Store(path) as another:
        another.claim(Quick.system_id, REQUESTS[:10])
        threading.Timer(
            0.3, lambda: another.put(Quick.system_id, [Translation(one.request_id, "theirs") for one in REQUESTS[:10]])
        ).start()
        answers = translate(Quick(path), REQUESTS, store, lambda *_: None)
    assert [answer[0].text for answer in answers.translations][:11] == ["theirs"] * 10 + ["SENTENCE 10."]
    assert answers.n_asked == 30


def test_the_thread_has_ended_with_it() -> None:
    done: list[str] = []
    with Behind() as behind:
        behind.write(lambda: done.append("written"), lambda: done.append("told"))
    assert done == ["written", "told"]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("gendermark-store")]


# -- shards that grow


class Elsewhere(Serial):
    """Stands for workers: as they would, it answers each shard with a system that it keeps."""

    is_serial = False


def test_shards_grow_and_batches_stay(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [Request(f"Sentence {number}.", "en", "es") for number in range(4 * 300)]
    n_of_shards: list[int] = []
    with Store(path) as store:
        system = Quick(path)
        system.opened_as = Opened("test:quick", ())
        monkeypatch.setattr(translating.working, "_opened", lambda _: system)
        real = translating.working.answer
        monkeypatch.setattr(
            translating.working, "answer", lambda shard: n_of_shards.append(len(shard.requests)) or real(shard)
        )
        translate(system, requests, store, lambda *_: None, Elsewhere())
    assert {len(batch) for batch in system.batches} == {4}
    assert [source for batch in system.batches for source in batch] == [request.source for request in requests]
    assert n_of_shards[0] == 4
    assert max(n_of_shards) == 4 * (299 // 64)  # never more than a part of what is left
    assert n_of_shards[-1] == 4
