"""From requests to translations: each asked once, made safe at once, never asked again."""

from __future__ import annotations

import os
import socket
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from gendermark.errors import SystemFailure, UserError
from gendermark.io import disk_list
from gendermark.records import Request, Task, Translation
from gendermark.runs import translate as translating
from gendermark.runs.store import Store
from gendermark.runs.translate import translate
from gendermark.systems.system import System

REQUESTS = [Request(f"Sentence {number}.", "en", "es") for number in range(10)]


class Recorder(System):
    """Answers in capitals, one batch at a time, and remembers what it was asked."""

    spec = system_id = "test:recorder"
    batch_size = 4

    def __init__(self, twist: Callable[[list[Translation]], Sequence[Translation]] = lambda answers: answers) -> None:
        self.asked: list[list[Request]] = []
        self._twist = twist

    @property
    def sources(self) -> list[str]:
        return [request.source for batch in self.asked for request in batch]

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        self.asked.append(list(requests))
        yield self._twist([Translation(request.request_id, request.source.upper()) for request in requests])


class Progress:
    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []

    def __call__(self, done: int, total: int) -> None:
        self.calls.append((done, total))

    def is_monotone_up_to(self, total: int) -> bool:
        done = [call[0] for call in self.calls]
        return done == sorted(done) and done[-1] == total and {call[1] for call in self.calls} == {total}


def ignore(done: int, total: int) -> None:
    pass


def texts(answers: translating.Answers) -> list[str | None]:
    return [answer.text for samples in answers.translations for answer in samples]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store(path) as opened:
        yield opened


# -- asking


def test_answers_stand_in_the_order_of_the_requests(store: Store) -> None:
    system, progress = Recorder(), Progress()
    answers = translate(system, REQUESTS, store, progress)
    assert texts(answers) == [request.source.upper() for request in REQUESTS]
    assert [len(batch) for batch in system.asked] == [4, 4, 2]
    assert (answers.n_asked, answers.n_stored) == (10, 0)
    assert progress.is_monotone_up_to(10)
    assert progress.calls[0] == (0, 10)


def test_the_second_time_nothing_is_asked(store: Store) -> None:
    translate(Recorder(), REQUESTS[3:7], store, ignore)
    system, progress = Recorder(), Progress()
    answers = translate(system, REQUESTS, store, progress)
    assert system.sources == [request.source for request in (*REQUESTS[:3], *REQUESTS[7:])]
    assert (answers.n_asked, answers.n_stored) == (6, 4)
    assert progress.is_monotone_up_to(6)
    again, progress = Recorder(), Progress()
    assert translate(again, REQUESTS[::-1], store, progress).translations == answers.translations[::-1]
    assert again.asked == []


def test_equal_requests_are_asked_once(store: Store) -> None:
    system, progress = Recorder(), Progress()
    answers = translate(system, [*REQUESTS[:2], *REQUESTS[:3], REQUESTS[0]], store, progress)
    assert system.sources == [request.source for request in REQUESTS[:3]]
    assert texts(answers) == [f"SENTENCE {number}." for number in (0, 1, 0, 1, 2, 0)]
    assert answers.n_asked == 3
    assert progress.is_monotone_up_to(3)


def test_a_task_the_system_cannot_do_is_refused_before_any_work(store: Store) -> None:
    system = Recorder()
    with pytest.raises(UserError) as caught:
        translate(system, [*REQUESTS, replace(REQUESTS[0], task=Task.SCORE, target="Frase 0.")], store, ignore)
    assert "test:recorder cannot score" in str(caught.value)
    assert "fake:..." in str(caught.value)
    assert "command:" not in str(caught.value)
    assert system.asked == []
    with pytest.raises(UserError, match="test:recorder cannot sample"):
        translate(system, [replace(REQUESTS[0], task=Task.SAMPLE)], None, ignore)


# -- answers that are not what was asked for


@pytest.mark.parametrize(
    ("twist", "named"),
    [
        (lambda answers: answers[:-1], "no answer for 'Sentence 7.'"),
        (lambda answers: [*answers, Translation("0" * 32, "Hello")], "'Hello'"),  # never asked
        (lambda answers: [*answers, replace(answers[0], text="Hello")], "'Hello'"),  # twice
        (lambda answers: [*answers, replace(answers[0], sample=1, text="Hello")], "'Hello'"),  # one was asked for
        (lambda answers: [replace(one, request_id="0" * 32) for one in answers], "'SENTENCE 4.'"),
    ],
)
def test_answers_that_do_not_fit(
    store: Store, twist: Callable[[list[Translation]], list[Translation]], named: str
) -> None:
    translate(Recorder(), REQUESTS[:4], store, ignore)
    with pytest.raises(SystemFailure) as caught:
        translate(Recorder(twist), REQUESTS, store, ignore)
    assert named in str(caught.value)
    assert len(store.get("test:recorder", REQUESTS[4:])) == (3 if "no answer" in named else 0)


def test_errors_are_answers_but_asked_again(store: Store) -> None:
    failing = Recorder(lambda answers: [replace(answers[0], text=None, error="HTTP 503"), *answers[1:]])
    answers = translate(failing, REQUESTS, store, ignore)
    assert texts(answers)[:5] == [None, "SENTENCE 1.", "SENTENCE 2.", "SENTENCE 3.", None]
    assert answers.translations[0][0].error == "HTTP 503"
    system = Recorder()
    assert None not in texts(translate(system, REQUESTS, store, ignore))
    assert system.sources == ["Sentence 0.", "Sentence 4.", "Sentence 8."]


# -- systems whose answers are not stored


class Direct(Recorder):
    is_stored = False


def test_a_system_that_is_not_stored_gets_everything_at_once(path: Path, store: Store) -> None:
    system, progress = Direct(), Progress()
    twice = [*REQUESTS, *REQUESTS]
    answers = translate(system, twice, store, progress)
    assert system.asked == [twice]
    assert texts(answers) == [request.source.upper() for request in twice]
    assert (answers.n_asked, answers.n_stored) == (20, 0)
    assert progress.is_monotone_up_to(20)
    assert store.get(system.system_id, REQUESTS) == {}


@pytest.mark.parametrize(
    ("twist", "words"),
    [
        (lambda answers: answers[:7], "7 answers where 10"),
        (lambda answers: [*answers, answers[0]], "11 answers where 10"),
        (lambda answers: answers[::-1], "another order"),
    ],
)
def test_direct_answers_that_do_not_fit(twist: Callable[[list[Translation]], list[Translation]], words: str) -> None:
    progress = Progress()
    with pytest.raises(SystemFailure, match=words):
        translate(Direct(twist), REQUESTS, None, progress)
    assert max(done for done, _ in progress.calls) <= 10


# -- beside another run


def test_waits_for_the_answers_of_another_run(path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(path) as another:
        another.claim(Recorder.system_id, REQUESTS[:6])
        waits = 0

        def sleep(_: float) -> None:
            nonlocal waits
            waits += 1
            others = REQUESTS[:3] if waits == 2 else REQUESTS[3:6] if waits == 4 else []
            another.put(Recorder.system_id, [Translation(request.request_id, "theirs") for request in others])

        monkeypatch.setattr(translating.time, "sleep", sleep)
        system, progress = Recorder(), Progress()
        answers = translate(system, REQUESTS, store, progress)
    assert texts(answers) == ["theirs"] * 6 + [request.source.upper() for request in REQUESTS[6:]]
    assert system.sources == [request.source for request in REQUESTS[6:]]
    assert answers.n_asked == 4
    assert progress.is_monotone_up_to(10)


def test_asks_what_another_run_gave_up(path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    another = Store(path).__enter__()
    another.claim(Recorder.system_id, REQUESTS)
    another.put(Recorder.system_id, [Translation(REQUESTS[0].request_id, "theirs")])
    monkeypatch.setattr(translating.time, "sleep", lambda _: another.__exit__(None, None, None))
    system = Recorder()
    answers = translate(system, REQUESTS, store, ignore)
    assert texts(answers) == ["theirs"] + [request.source.upper() for request in REQUESTS[1:]]
    assert len(system.sources) == 9


def test_two_runs_do_not_wait_for_each_others_errors(path: Path, store: Store) -> None:
    """Each holds what the other wants, and each has only an error to give."""
    with Store(path) as another:
        another.claim(Recorder.system_id, REQUESTS[:1])
        another.put(Recorder.system_id, [Translation(REQUESTS[0].request_id, None, error="HTTP 503")])
        assert texts(translate(Recorder(), REQUESTS[:1], store, ignore)) == ["SENTENCE 0."]


# -- samples


class Sampler(System):
    """What it says depends on where a call begins, as that of a seeded engine does."""

    spec = system_id = "test:sampler"
    tasks = frozenset({Task.SAMPLE})
    batch_size = 4

    def __init__(self, dies_after: int | None = None) -> None:
        self.answered: list[Request] = []
        self._dies_after = dies_after

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        for request in requests:
            if len(self.answered) == self._dies_after:
                raise KeyboardInterrupt
            self.answered.append(request)
            yield [
                Translation(request.request_id, f"{request.source} {request.first_sample}+{offset}", sample, None, -1.0)
                for offset, sample in enumerate(request.samples)
            ]

    @property
    def portions(self) -> list[tuple[int, int]]:
        return [(request.first_sample, request.n_samples) for request in self.answered]


def sampling(n: int, first: int = 0, n_requests: int = 3) -> list[Request]:
    return [replace(r, task=Task.SAMPLE, first_sample=first, n_samples=n) for r in REQUESTS[:n_requests]]


@pytest.mark.parametrize("dies_after", [0, 1, 7, 8, 13, 23])
def test_samples_go_on_where_they_stopped(path: Path, tmp_path: Path, dies_after: int) -> None:
    requests = sampling(128)
    with Store(tmp_path / "uninterrupted.sqlite") as store:
        expected = translate(Sampler(), requests, store, ignore)
    interrupted, resumed, progress = Sampler(dies_after), Sampler(), Progress()
    with pytest.raises(KeyboardInterrupt), Store(path) as store:
        translate(interrupted, requests, store, ignore)
    with Store(path) as store:
        answers = translate(resumed, requests, store, progress)
    assert answers.translations == expected.translations
    asked = Counter((r.request_id, r.first_sample) for r in (*interrupted.answered, *resumed.answered))
    assert set(asked.values()) == {1}
    assert len(asked) == 3 * 128 / 16
    assert {portion for system in (interrupted, resumed) for portion in system.portions} == {
        (first, 16) for first in range(0, 128, 16)
    }
    assert progress.is_monotone_up_to(3 * 128 - 16 * dies_after)


@pytest.mark.parametrize(
    ("asked", "portions"),
    [
        ([(0, 20)], [(0, 16), (16, 4)]),
        ([(0, 64), (0, 96)], [(first, 16) for first in (0, 16, 32, 48, 64, 80)]),
        ([(0, 10), (0, 40), (0, 10), (5, 20)], [(0, 10), (10, 6), (16, 16), (32, 8)]),
        ([(20, 20)], [(20, 12), (32, 8)]),
    ],
)
def test_no_sample_is_asked_twice(store: Store, asked: list[tuple[int, int]], portions: list[tuple[int, int]]) -> None:
    system = Sampler()
    for first, n in asked:
        (samples,) = translate(system, sampling(n, first, n_requests=1), store, ignore).translations
        assert [answer.sample for answer in samples] == list(range(first, first + n))
        assert {answer.log_probability for answer in samples} == {-1.0}
    assert system.portions == portions


def test_an_error_among_samples_is_asked_again_alone(store: Store) -> None:
    class Stumbling(Sampler):
        def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
            for portion in super().answer(requests):
                yield [replace(a, text=None, error="HTTP 503") if a.sample in (0, 5) else a for a in portion]

    translate(Stumbling(), sampling(16, n_requests=1), store, ignore)
    system = Sampler()
    translate(system, sampling(16, n_requests=1), store, ignore)
    assert system.portions == [(0, 1), (5, 1)]


def test_another_run_wants_fewer_samples(path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers a part of the portion that we wait for; the other part is ours to ask."""
    theirs = sampling(10, n_requests=1)
    with Store(path) as another:
        another.claim(Sampler.system_id, theirs)

        def sleep(_: float) -> None:
            another.put(Sampler.system_id, [Translation(theirs[0].request_id, "theirs", n) for n in range(10)])

        monkeypatch.setattr(translating.time, "sleep", sleep)
        system, progress = Sampler(), Progress()
        (samples,) = translate(system, sampling(16, n_requests=1), store, progress).translations
    assert [answer.text for answer in samples[8:12]] == ["theirs", "theirs", "Sentence 0. 10+0", "Sentence 0. 10+1"]
    assert system.portions == [(10, 6)]
    assert progress.is_monotone_up_to(16)


# -- waiting for another run


def test_another_run_is_named_and_not_waited_for_without_end(
    path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(translating, "_SECONDS_UNTIL_TOLD", 0.1)
    monkeypatch.setattr(translating, "_SECONDS_TO_WAIT", 0.5)
    system = Recorder()
    with Store(path) as another:
        another.claim(Recorder.system_id, REQUESTS[:4])
        with pytest.raises(SystemFailure, match=r"4 of these translations.*run again"):
            translate(system, REQUESTS, store, ignore)
    assert len(system.sources) == 6, "what the other has not claimed is asked first"
    (told,) = caplog.messages
    assert f"process {os.getpid()} on {quote(socket.gethostname())} is asking test:recorder for 4 of" in told


def test_answers_to_many_requests_are_left_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only their names are held; errors, which no store keeps, are there all the same."""
    monkeypatch.setattr(translating, "LIMIT", 50)
    monkeypatch.setattr(disk_list, "LIMIT", 50)

    class Picky(Recorder):
        def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
            for portion in super().answer(requests):
                yield [replace(one, text=None, error="no") if "7" in one.request_id[:1] else one for one in portion]

    requests = [Request(f"Sentence {number}.", "en", "es") for number in range(120)]
    with Store(tmp_path / "store.sqlite") as store:
        first = translate(Picky(), requests, store, Progress())
        again = translate(Picky(), requests, store, Progress())
    assert isinstance(first.translations, disk_list.DiskList)
    assert [answers[0].request_id for answers in first.translations] == [one.request_id for one in requests]
    errors = [answers[0] for answers in first.translations if answers[0].error]
    assert 0 < len(errors) < 120
    assert (again.n_asked, again.n_stored) == (len(errors), 120 - len(errors))
    assert list(again.translations) == list(first.translations)


# -- systems that compute here

MANY = [Request(f"Sentence {number}.", "en", "es") for number in range(40)]


class Quick(System):
    """Computes here."""

    spec = system_id = "test:quick"
    batch_size = 4
    is_asked_again_freely = True

    def __init__(self, dies_at: int = -1) -> None:
        self._n_batches, self._dies_at = 0, dies_at

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        if self._n_batches == self._dies_at:
            raise SystemFailure("it died")
        self._n_batches += 1
        yield [Translation(request.request_id, request.source.upper()) for request in requests]


def n_safe(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM translation").fetchone()[0])


def test_nothing_is_told_as_done_before_it_is_safe(path: Path) -> None:
    told: list[tuple[int, int]] = []
    with Store(path) as store:
        answers = translate(Quick(), MANY, store, lambda done, _: told.append((done, n_safe(path))))
    assert [answer[0].text for answer in answers.translations] == [request.source.upper() for request in MANY]
    assert told[0] == (0, 0)
    assert told[-1] == (40, 40)
    assert all(done <= safe for done, safe in told)


def test_what_came_before_a_failure_is_kept(path: Path) -> None:
    with pytest.raises(SystemFailure, match="it died"), Store(path) as store:
        translate(Quick(dies_at=7), MANY, store, lambda *_: None)
    assert n_safe(path) == 28
    with Store(path) as store:
        assert translate(Quick(), MANY, store, lambda *_: None).n_asked == 12


def test_a_store_that_cannot_be_written_ends_the_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Store, system_id: str, translations: Sequence[Translation]) -> None:
        raise UserError("the disk is full")

    told: list[int] = []
    monkeypatch.setattr(Store, "put", full)
    with pytest.raises(UserError, match="the disk is full"), Store(path) as store:
        translate(Quick(), MANY, store, lambda done, _: told.append(done))
    assert told == [0]
