"""The client behind all HTTP families, against a server that misbehaves in every way there is."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import queue
import re
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from gendermark.errors import SystemFailure, UserError
from gendermark.io import deadlines
from gendermark.records import Request, Translation
from gendermark.systems import http, keys
from gendermark.systems.http import KEPT, Client, Gate, Refusal, Service, TooLarge
from runs.children import wait_until
from systems import servers
from systems.servers import Asked, Server, Step

KEY = "TOY_API_KEY"
REAL_WAIT = Client._wait
SECRET = "Zq9/open+0123456789"


def shout(asked: Asked) -> Any:
    return {"texts": [text.upper() for text in asked.json["texts"]]}


class Toy(Service):
    """The smallest family there can be."""

    n_texts = 4

    def __init__(self, url: str, *, secrets: dict[str, str] | None = None, **options: str) -> None:
        self.spec = f"toy:{url}"
        self._open(Client(self.spec, url, secrets=secrets, optional_key=KEY, options=options))
        self.system_id = http.identity("toy", self._client)

    def _exchange(self, source: str, target: str, texts: Sequence[str]) -> Sequence[str]:
        answer = self._client.post("/translate", json={"texts": list(texts)})
        return [self._client.take(text, kind=str) for text in self._client.take(answer, "texts", kind=list)]


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    return servers.without_waiting(monkeypatch)


@pytest.fixture
def server() -> Iterator[Server]:
    with servers.serving(shout) as running:
        yield running


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    before = threading.active_count()
    yield
    wait_until(lambda: threading.active_count() <= before, "all threads had ended")


def requests(n: int, *, to: str = "es") -> list[Request]:
    return [Request(f"Sentence {number}.", "en", to) for number in range(1, n + 1)]


def texts_of(portions: Sequence[Sequence[Translation]]) -> list[str | None]:
    return [answer.text for portion in portions for answer in portion]


def ask(server: Server, **options: str) -> str | None:
    """The translation of one sentence."""
    system = Toy(server.url, **options)
    try:
        (portion,) = system.answer(requests(1))
    finally:
        system.close()
    return portion[0].text


def failed(server: Server, **options: str) -> str:
    """The sentence in which asking for one translation ends."""
    with pytest.raises(SystemFailure) as caught:
        ask(server, **options)
    sentence = str(caught.value)
    assert sentence.startswith(f"toy:{server.url} ")
    assert "\n" not in sentence
    return sentence.removeprefix(f"toy:{server.url} ")


# -- another attempt


@pytest.mark.parametrize("code", [408, 425, 429, 500, 502, 503, 504, 529])
def test_a_passing_trouble_is_met_again(server: Server, waits: list[float], code: int) -> None:
    server.script(*[servers.status(code)] * 3)
    assert ask(server) == "SENTENCE 1."
    assert len(server.asked) == 4
    assert [asked.json for asked in server.asked] == [{"texts": ["Sentence 1."]}] * 4
    for wait, expected in zip(waits, (1, 2, 4), strict=True):
        assert expected / 2 <= wait <= expected * 1.5


@pytest.mark.parametrize("step", [servers.cut, servers.hang_up])
def test_a_connection_that_breaks_is_made_again(server: Server, waits: list[float], step: Step) -> None:
    server.script(step, step, step)
    assert ask(server) == "SENTENCE 1."
    assert len(waits) == 3


@pytest.mark.parametrize("step", [servers.stall, servers.trickle])
def test_a_silent_server_is_asked_again(server: Server, step: Step) -> None:
    server.script(step)
    assert ask(server, timeout_seconds="1.5") == "SENTENCE 1."
    assert len(server.asked) == 2
    server.script(step, step)
    sentence = failed(server, timeout_seconds="1.5", max_retries="1")
    assert sentence == (
        "gave no complete answer within 1.5 seconds (attempt 2, the last); raise timeout_seconds or lower concurrency"
    )


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("beginning", "piece"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nX-Long: ", b"x", id="slow header"),
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n", id="100 Continue without end"),
        pytest.param(CHUNKED + b"5;name=", b"x", id="slow chunk extension"),
        pytest.param(CHUNKED + b"2\r\n{}\r\n0\r\n", b"X-More: x\r\n", id="trailers without end"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x08" + bytes(6), b"x", id="gzip file name"
        ),
    ],
)
def test_one_deadline_bounds_the_whole_request(server: Server, beginning: bytes, piece: bytes) -> None:
    server.script(servers.drips(beginning, piece))
    started = time.monotonic()
    sentence = failed(server, timeout_seconds="1", max_retries="0")
    assert sentence == "gave no complete answer within 1 seconds; raise timeout_seconds or lower concurrency"
    assert time.monotonic() - started < 10


def test_looking_up_a_name_is_part_of_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    enough = threading.Event()

    def look_up(*_: object, **__: object) -> list[Any]:
        enough.wait(30)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    system = Toy("http://slow.invalid", timeout_seconds="0.3", max_retries="0")
    try:
        with pytest.raises(SystemFailure, match=r"the address of slow\.invalid was not found in time"):
            list(system.answer(requests(1)))
    finally:
        enough.set()
        system.close()


def test_a_version_of_httpx_that_takes_no_deadline() -> None:
    with pytest.raises(UserError, match=r"this version of httpx cannot be given a time limit; install httpx 0\.28"):
        deadlines.bounded(httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200))))


def test_attempts_are_limited(server: Server, waits: list[float]) -> None:
    server.script(*[servers.status(503, {"error": "resting"})] * 9)
    assert failed(server) == (f"answered HTTP 503 (Service Unavailable); it said: resting (attempt 6, the last) {KEPT}")
    assert len(server.asked) == 6
    assert len(waits) == 5
    failed(server, max_retries="0")
    assert len(server.asked) == 7


def test_too_many_requests_says_what_to_do(server: Server) -> None:
    server.script(servers.status(429))
    assert failed(server, max_retries="0") == (
        "answered HTTP 429 (Too Many Requests); ask less at once with requests_per_second or concurrency " + KEPT
    )


def test_pauses_do_not_grow_for_ever(server: Server, waits: list[float]) -> None:
    server.script(*[servers.status(500)] * 30)
    assert ask(server, max_retries="30") == "SENTENCE 1."
    assert max(waits) == http.PATIENCE.longest_backoff_seconds


def test_retry_after_in_seconds(server: Server, waits: list[float]) -> None:
    server.script(servers.status(429, Retry_After="37"))
    assert ask(server) == "SENTENCE 1."
    assert waits == [pytest.approx(37, abs=5)]


def test_retry_after_as_a_date(server: Server, waits: list[float]) -> None:
    moment = datetime.now(UTC) + timedelta(seconds=60)
    server.script(servers.status(503, Retry_After=format_datetime(moment, usegmt=True)))
    assert ask(server) == "SENTENCE 1."
    assert waits == [pytest.approx(60, abs=10)]


@pytest.mark.parametrize(
    "text",
    ["soon", "-3", "Wed, 21 Oct 2015 07:28:00 GMT", "99 Oct", "", "Wed, 21 Oct 99999999999999999999 07:28:00 GMT", "٣"],
)
def test_retry_after_that_says_nothing_of_use(server: Server, waits: list[float], text: str) -> None:
    server.script(servers.status(503, Retry_After=text.encode().decode("latin-1")))
    assert ask(server) == "SENTENCE 1."
    assert 0.5 <= waits[0] <= 1.5  # as if there were none


def test_retry_after_that_is_too_long_to_wait(server: Server, waits: list[float]) -> None:
    server.script(servers.status(429, {"message": "come back later"}, Retry_After="86400"))
    assert failed(server) == (
        "answered HTTP 429 (Too Many Requests); it said: come back later; it asks for a pause of 86,400 seconds; "
        f"ask less at once with requests_per_second or concurrency {KEPT}"
    )
    assert waits == []
    assert len(server.asked) == 1


def test_retry_after_holds_for_all_requests(server: Server, waits: list[float]) -> None:
    server.script(servers.status(429, Retry_After="50"))
    client = Client("toy:", server.url)
    client.post("/translate", json={"texts": []})
    client.post("/translate", json={"texts": []})
    assert len(waits) == 2  # the clock has not moved here, so the second request is early too
    assert min(waits) > 40
    client.close()


def test_whoever_sees_others_served_waits_on(server: Server) -> None:
    """A server that serves every fourth request only: some of them are refused far more often than that."""
    counter = itertools.count(1)
    turned_away = servers.status(429, Retry_After="1")
    server.script(*[servers.good if next(counter) % 4 == 0 else turned_away for _ in range(2_000)])
    client = Client("toy:", server.url, options={"concurrency": "8", "max_retries": "4"})
    portions = [[number] for number in range(120)]
    asked = client.in_parallel(lambda one: client.post("/translate", json={"texts": [str(one[0])]}), portions)
    found = {portion[0]: answer for portion, answer in asked}
    assert found == {number: {"texts": [str(number)]} for number in range(120)}
    client.close()


@pytest.mark.parametrize(("code", "header"), [(429, {"Retry_After": "1"}), (429, {}), (503, {"Retry_After": "1"})])
def test_a_server_that_serves_nobody_is_given_up(server: Server, code: int, header: dict[str, str]) -> None:
    server.script(*[servers.status(code, **header)] * 200)
    system = Toy(server.url, concurrency="4")
    with pytest.raises(SystemFailure, match=r"\(attempt 6, the last\)"):
        list(system.answer(requests(64)))
    system.close()
    assert len(server.asked) <= 4 * 6


def test_one_that_is_always_turned_away_ends_when_the_others_are_done(server: Server) -> None:
    def answer(its_server: Server, handler: Any, asked: Asked) -> None:
        step = servers.status(429) if asked.json["texts"] == ["bad"] else servers.good
        step(its_server, handler, asked)

    server.script(*[answer] * 99)
    client = Client("toy:", server.url, options={"concurrency": "1", "max_retries": "2"})
    found: list[Any] = []
    with pytest.raises(SystemFailure, match=r"HTTP 429 .* \(attempt 3, the last\)"):
        found.extend(
            client.in_parallel(lambda one: client.post("/translate", json={"texts": one}), [["good"], ["bad"]])
        )
    assert len(server.asked) == 4
    client.close()


def test_too_many_at_once_become_fewer_and_slowly_more_again() -> None:
    gate, never = Gate(8), threading.Event()
    with gate.place(never) as first, gate.place(never) as second:
        gate.narrow(first)
        gate.narrow(second)  # sent together, refused together
    assert gate.limit == 4
    for _ in range(9):
        with gate.place(never) as began:
            gate.narrow(began)
    assert gate.limit == 1  # one goes always
    gate.widen()
    assert gate.limit == 2
    gate.widen()
    assert gate.limit == 2.5
    for _ in range(99):
        gate.widen()
    assert gate.limit == 8


def test_places_are_taken_in_the_order_of_asking() -> None:
    gate, never, came = Gate(1), threading.Event(), []

    def come() -> None:
        with gate.place(never):
            came.append("the one that waited")

    with gate.place(never):
        waiting = threading.Thread(target=come)
        waiting.start()
        wait_until(lambda: len(gate._waiting) == 1, "it waits")
        assert came == []
    with gate.place(never):
        came.append("the one that was there before")
    waiting.join()
    assert came == ["the one that waited", "the one that was there before"]


def test_who_waits_for_a_place_is_told_to_stop() -> None:
    gate, stop = Gate(1), threading.Event()
    stop.set()
    with gate.place(stop), gate.place(stop):
        pass


def test_pauses_are_real_and_can_be_ended(server: Server) -> None:
    paused: list[float] = []

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            paused.append(timeout or 0.0)
            return True

    client = Client("toy:", server.url)
    REAL_WAIT(client, 3.0, Stop())
    assert paused == [3.0]
    client.close()


# -- what another attempt would not change


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (400, "answered HTTP 400 (Bad Request); it said: no such thing; check languages and options"),
        (401, f"answered HTTP 401 (Unauthorized); it said: no such thing; it wants a key: set {KEY}"),
        (402, "answered HTTP 402 (Payment Required); it said: no such thing; the quota is used up: raise it, or wait"),
        (403, f"answered HTTP 403 (Forbidden); it said: no such thing; it wants a key: set {KEY}"),
        (404, "answered HTTP 404 (Not Found); it said: no such thing; check the URL {url}"),
        (405, "answered HTTP 405 (Method Not Allowed); it said: no such thing; check the URL {url}"),
        (
            456,
            "answered HTTP 456 (no standard status); it said: no such thing; the quota is used up: raise it, or wait",
        ),
        (501, "answered HTTP 501 (Not Implemented); it said: no such thing; check the URL {url}"),
    ],
)
def test_a_refusal_is_not_repeated(server: Server, waits: list[float], code: int, words: str) -> None:
    server.script(servers.status(code, {"error": "no such thing"}, Retry_After="3"))
    assert failed(server).startswith(words.format(url=server.url))
    assert len(server.asked) == 1
    assert waits == []


def test_a_key_that_is_refused_is_named_not_shown(server: Server) -> None:
    server.script(servers.status(401))
    system = Toy(server.url, secrets={KEY: SECRET})
    with pytest.raises(Refusal, match=rf"; check the key in {KEY} ") as caught:
        list(system.answer(requests(1)))
    assert caught.value.status == 401
    system.close()


def test_quota_is_told_from_a_bad_key(server: Server) -> None:
    server.script(servers.status(403, {"error": {"message": "Monthly quota reached"}}))
    assert "the quota is used up" in failed(server)


def test_too_few_rights_are_not_a_quota(server: Server) -> None:
    server.script(servers.status(403, {"error": {"message": "Request had insufficient authentication scopes."}}))
    assert f"it wants a key: set {KEY}" in failed(server)


def test_a_message_that_lies_too_deep(server: Server) -> None:
    server.script(servers.says(b"[" * 900 + b'"words"' + b"]" * 900, 400))
    assert failed(server) == f"answered HTTP 400 (Bad Request); check languages and options {KEPT}"


def test_redirects_are_not_followed(server: Server) -> None:
    with servers.serving(shout) as elsewhere:
        server.script(servers.status(307, Location=f"{elsewhere.url}/translate?q=1"))
        assert failed(server) == (
            "answered HTTP 307 (Temporary Redirect); redirects are not followed: give "
            f"{elsewhere.url}/translate itself if it is right {KEPT}"
        )
        assert elsewhere.asked == []


@pytest.mark.parametrize(
    "payload",
    [
        {"error": "words"},
        {"error": {"code": 400, "message": "words"}},
        {"message": "words"},
        {"Message": "words"},
        {"status": "error", "explanation": "words"},
        {"errors": [{"reason": "x", "message": "words"}]},
        {"detail": [{"message": "words"}]},
        "words",
    ],
)
def test_what_a_server_says_is_repeated(server: Server, payload: Any) -> None:
    server.script(servers.status(400, payload))
    assert "; it said: words;" in failed(server)


def test_what_a_server_says_is_kept_short_and_on_one_line(server: Server) -> None:
    server.script(servers.says(b"two\nlines " + b"x" * 999, 400))
    assert f"; it said: two lines {'x' * 189}…;" in failed(server)
    server.script(servers.says(b"<html><body>Bad</body></html>", 400))
    assert failed(server) == f"answered HTTP 400 (Bad Request); check languages and options {KEPT}"


# -- answers that are none


@pytest.mark.parametrize(
    "body",
    [
        b'{"texts": ["SENT',
        b"",
        b"OK",
        b'{"texts": ["\xff"]}',
        b'{"texts": ["\\ud83d"]}',  # half an emoji: nothing that could be stored
        b"[" * 100_000,
    ],
)
def test_what_is_not_json_is_asked_for_once_more(server: Server, body: bytes) -> None:
    server.script(servers.says(body))
    assert ask(server) == "SENTENCE 1."
    server.script(*[servers.says(body)] * 9)
    server.asked.clear()
    sentence = failed(server)
    assert sentence.startswith("sent an answer that is not JSON")
    assert sentence.endswith(f" (attempt 2, the last); check the URL {server.url} {KEPT}")
    assert len(server.asked) == 2


def test_an_answer_that_cannot_be_unpacked(server: Server) -> None:
    server.script(*[servers.says(b"no gzip", Content_Encoding="gzip")] * 2)
    assert failed(server) == "sent an answer that cannot be unpacked (attempt 2, the last)"


def test_an_answer_cut_in_its_packing(server: Server) -> None:
    packed = gzip.compress(json.dumps({"texts": ["ONE"]}).encode())
    server.script(servers.says(packed, Content_Encoding="gzip"))
    assert ask(server) == "ONE"
    assert server.asked[0].headers["accept-encoding"] == "gzip"
    server.script(*[servers.says(packed[:-9], Content_Encoding="gzip")] * 2)
    assert "sent an answer that cannot be unpacked" in failed(server)


@pytest.mark.parametrize("packing", ["gzip, gzip", "gzip, identity, gzip", "br"])
def test_answers_packed_in_another_way_are_refused(server: Server, packing: str) -> None:
    bomb = gzip.compress(gzip.compress(bytes(1_000_000)))
    server.script(*[servers.says(bomb, Content_Encoding=packing)] * 2)
    assert failed(server) == (
        f"sent an answer packed in a way that it was not asked for ({packing}) (attempt 2, the last)"
    )


def test_an_answer_that_unpacks_to_too_much_is_unpacked_in_steps(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "_MOST_BYTES", 100_000)
    server.script(servers.says(gzip.compress(b" " * 60_000_000), Content_Encoding="gzip"))
    tracemalloc.start()
    sentence = failed(server)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sentence.startswith("sent more than 100,000 bytes in one answer")
    assert peak < 20_000_000


def test_an_answer_without_end(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_MOST_BYTES", 1_000_000)
    server.script(servers.endless)
    assert failed(server) == f"sent more than 1,000,000 bytes in one answer; check the URL {server.url}"


def test_an_answer_of_many_small_things(server: Server) -> None:
    """Three letters each, and fifty times as much in memory."""
    server.script(servers.says(gzip.compress(b"[" + b"{}," * 2_000_000 + b"{}]"), Content_Encoding="gzip"))
    assert failed(server).startswith("sent more than 5,000,000 bytes in one answer; check the URL")


@pytest.mark.parametrize("payload", [{}, [], None, "texts", {"texts": None}, {"texts": "SENTENCE"}, {"text": ["x"]}])
def test_missing_fields_are_not_guessed(server: Server, payload: Any) -> None:
    server.script(servers.sends(payload))
    shown = json.dumps(payload)
    assert failed(server) == (
        f"gave an answer without a usable texts: {shown!r} (it is discarded, earlier ones are kept)"
    )
    assert len(server.asked) == 1


def test_a_translation_that_is_no_text(server: Server) -> None:
    server.script(servers.sends({"texts": [7]}))
    assert failed(server) == "gave an answer without a usable answer: '7' (it is discarded, earlier ones are kept)"


@pytest.mark.parametrize("n", [0, 3, 5])
def test_a_wrong_number_of_translations(server: Server, n: int) -> None:
    system = Toy(server.url, concurrency="1")
    server.script(servers.good, servers.sends({"texts": ["X"] * n}))
    portions: list[Sequence[Translation]] = []
    with pytest.raises(SystemFailure) as caught:
        portions.extend(system.answer(requests(12)))
    assert str(caught.value) == (
        f"toy:{server.url} gave {n} translations for 4 sentences, the first of which is 'Sentence 5.'; "
        "one per sentence is expected (this batch is discarded, earlier ones are kept)"
    )
    assert texts_of(portions) == [f"SENTENCE {number}." for number in range(1, 5)]
    assert len(server.asked) == 2
    system.close()


# -- a server that is not there


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_nobody_at_that_address(waits: list[float]) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    system = Toy(url)
    with pytest.raises(SystemFailure) as caught:
        list(system.answer(requests(1)))
    assert re.fullmatch(
        rf"toy:{url} cannot be reached at {url} \(.*refused.*\); check the address and whether the server runs",
        str(caught.value),
    )
    assert waits == []  # most likely a mistyped address, so the user is told at once
    system.close()


def test_a_server_that_goes_away_is_waited_for(waits: list[float]) -> None:
    with servers.serving(shout) as server:
        system = Toy(server.url)
        assert texts_of(list(system.answer(requests(1)))) == ["SENTENCE 1."]
        system._client._http.close()
        system._client._http = http._open(server.url, {}, 5, None)  # no connection is left over
    with pytest.raises(
        SystemFailure, match=rf"cannot be reached .* \(attempt 6, the last\); check the address .*{KEPT[1:9]}"
    ):
        list(system.answer(requests(1)))
    assert len(waits) == 5
    system.close()


# -- several at once


def test_as_many_at_once_as_allowed_and_no_more(server: Server) -> None:
    gate = threading.Barrier(3)

    def together(asked: Asked) -> Any:
        gate.wait(servers.PATIENCE_SECONDS)  # passes only three at a time
        return shout(asked)

    server.good = together
    system = Toy(server.url, concurrency="3")
    portions = list(system.answer(requests(36)))
    assert sorted(map(str, texts_of(portions))) == sorted(f"SENTENCE {number}." for number in range(1, 37))
    assert server.most_at_once == 3
    assert len(portions) == len(server.asked) == 9
    system.close()


def test_answers_come_as_soon_as_they_are_there(server: Server) -> None:
    server.script(servers.stall)
    system = Toy(server.url, concurrency="2")
    answers = system.answer(requests(12))
    early = [next(answers), next(answers)]  # the first request still waits
    server.go_on.set()
    late = list(answers)
    assert len(texts_of(early)) == 8
    assert len(texts_of(late)) == 4
    system.close()


def test_what_is_under_way_when_another_fails_is_not_lost(server: Server) -> None:
    server.script(servers.stall, servers.stall, servers.status(404))
    system = Toy(server.url, concurrency="3")
    portions: list[Sequence[Translation]] = []

    def let_go() -> None:
        wait_until(lambda: len(server.asked) == 3, "all three were asked")
        time.sleep(0.05)
        server.go_on.set()

    helper = threading.Thread(target=let_go)
    helper.start()
    with pytest.raises(Refusal, match="answered HTTP 404"):
        portions.extend(system.answer(requests(40)))
    helper.join()
    assert len(texts_of(portions)) == 8
    assert len(server.asked) == 3  # nothing new was begun
    system.close()


def test_ctrl_c_keeps_what_arrives_in_time(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.script(servers.good, servers.stall, servers.stall)
    system = Toy(server.url, concurrency="2")
    interrupt_once(monkeypatch, lambda: len(server.asked) == 3, server.go_on.set)
    portions: list[Sequence[Translation]] = []
    with pytest.raises(KeyboardInterrupt):
        portions.extend(system.answer(requests(40)))
    assert len(texts_of(portions)) == 12
    assert len(server.asked) == 3
    # And it can be asked again, as a notebook does.
    assert len(texts_of(list(system.answer(requests(8))))) == 8
    system.close()


def test_ctrl_c_does_not_wait_for_a_silent_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "PATIENCE", http.Patience(grace_seconds=0.1))
    server.script(servers.stall, servers.stall)
    system = Toy(server.url, concurrency="2")
    interrupt_once(monkeypatch, lambda: len(server.asked) == 2, lambda: None)
    with pytest.raises(KeyboardInterrupt):
        list(system.answer(requests(8)))
    assert not server.go_on.is_set()  # nobody has answered
    server.go_on.set()
    system.close()


def interrupt_once(monkeypatch: pytest.MonkeyPatch, moment: Callable[[], bool], then: Callable[[], None]) -> None:
    """Ctrl-C at a moment, as it reaches the thread that reads the results."""
    real = queue.SimpleQueue
    pressed: list[bool] = []

    class Interrupted(real):  # type: ignore[misc, valid-type]
        def get(self, *arguments: Any, **keywords: Any) -> Any:
            if not pressed and self.empty():
                wait_until(lambda: moment() or not self.empty(), "there was something to interrupt")
                if moment() and self.empty():
                    pressed.append(True)
                    then()
                    raise KeyboardInterrupt
            return super().get(*arguments, **keywords)

    monkeypatch.setattr(queue, "SimpleQueue", Interrupted)


def test_nobody_wants_the_rest(server: Server) -> None:
    """The store may fail between two portions."""
    system = Toy(server.url, concurrency="1")
    server.script(servers.good, servers.stall)
    answers = system.answer(requests(40))
    next(answers)
    wait_until(lambda: len(server.asked) == 2, "the second was under way")
    answers.close()
    server.go_on.set()
    time.sleep(0.05)
    assert len(server.asked) == 2
    system.close()


def test_a_fault_of_ours_is_not_swallowed(server: Server) -> None:
    client = Client("toy:", server.url)
    with pytest.raises(ZeroDivisionError):
        list(client.in_parallel(lambda _: 1 / 0, [[1], [2]]))
    client.close()


def test_nothing_to_do(server: Server) -> None:
    system = Toy(server.url)
    assert list(system.answer([])) == []
    assert system.notes() == ()
    system.close()


def test_requests_per_second(server: Server, waits: list[float]) -> None:
    client = Client("toy:", server.url, options={"requests_per_second": "0.1"})
    for _ in range(3):
        client.post("/translate", json={"texts": []})
    assert waits == [pytest.approx(10, abs=5), pytest.approx(20, abs=5)]  # the clock does not move here
    client.close()


# -- too much at once


def test_a_batch_that_is_too_large_is_halved(server: Server) -> None:
    too_large = servers.status(413)
    server.script(too_large, too_large)
    system = Toy(server.url, concurrency="1")
    portions = list(system.answer(requests(6)))
    assert [len(portion) for portion in portions] == [1, 1, 2, 2]
    assert texts_of(portions) == [f"SENTENCE {number}." for number in range(1, 7)]
    assert [len(asked.json["texts"]) for asked in server.asked] == [4, 2, 1, 1, 2, 2]
    system.close()


def test_one_sentence_that_is_too_long_does_not_stop_the_others(server: Server) -> None:
    def by_length(running: Server, handler: Any, asked: Asked) -> None:
        if any(len(text) > 100 for text in asked.json["texts"]):
            servers.status(413, {"error": "at most 100 characters"})(running, handler, asked)
        else:
            servers.good(running, handler, asked)

    server.script(*[by_length] * 9)
    asked = [*requests(3), Request("word " * 50, "en", "es")]
    system = Toy(server.url, concurrency="1")
    answers = [answer for portion in system.answer(asked) for answer in portion]
    assert [answer.text for answer in answers] == ["SENTENCE 1.", "SENTENCE 2.", "SENTENCE 3.", None]
    assert answers[-1].error == "too long: at most 100 characters"
    system.close()


def test_a_client_alone_is_told(server: Server) -> None:
    server.script(servers.status(413))
    client = Client("toy:x", server.url)
    with pytest.raises(TooLarge, match="that is more text at once than it takes"):
        client.post("/translate", json={"texts": []})
    client.close()


def test_portions_are_cut_by_number_characters_and_direction(server: Server) -> None:
    system = Toy(server.url, concurrency="1")
    system.n_characters = 30
    long = Request("x" * 50, "en", "es")
    asked = [*requests(3), long, *requests(2, to="de")]
    sizes = [[len(request.source) for request in portion] for portion in system._portions(asked)]
    assert sizes == [[11, 11], [11], [50], [11, 11]]
    system.close()


def test_sentences_go_out_as_they_are(server: Server) -> None:
    sources = ["two\nlines", " spaced  out ", "Ärztin & <b>«שלום»</b> \U0001f469\u200d⚕️ &amp;", 'tab\t"quoted" \\n']
    system = Toy(server.url)
    (portion,) = system.answer([Request(source, "en", "es") for source in sources])
    assert server.asked[0].json == {"texts": sources}
    assert [answer.text for answer in portion] == [source.upper() for source in sources]
    assert system.notes() == (f"toy:{server.url} was sent {sum(map(len, sources))} characters in 4 sentences",)
    system.close()


def test_who_asks(server: Server) -> None:
    from gendermark import __version__

    ask(server)
    assert server.asked[0].headers["user-agent"] == f"gendermark/{__version__}"


# -- secrets


@pytest.mark.parametrize("show", [SECRET, json.dumps(SECRET), "Zq9%2Fopen%2B0123456789", "Zq9/open%2B0123456789"])
@pytest.mark.parametrize("code", [400, 401, 500, 200])
def test_a_server_that_repeats_the_key(server: Server, show: str, code: int) -> None:
    # Once whole, once where what the server says is cut: not even the beginning may be left.
    for padding in (0, 191):
        refuse_to_repeat(server, f"{'x' * padding} key {show}", code)


def refuse_to_repeat(server: Server, said: str, code: int) -> None:
    server.script(*[servers.says(said.encode(), code)] * 2)
    system = Toy(server.url, secrets={KEY: SECRET}, max_retries="1")
    with pytest.raises(SystemFailure) as caught:
        list(system.answer(requests(1)))
    assert "*" in str(caught.value)
    assert "Zq9" not in str(caught.value)
    system.close()


def test_a_key_in_an_answer_of_another_shape(server: Server) -> None:
    server.script(servers.sends({"text": f"key {SECRET}"}))
    system = Toy(server.url, secrets={KEY: SECRET})
    with pytest.raises(SystemFailure, match="repeats the key in TOY_API_KEY in its answer"):
        list(system.answer(requests(1)))
    system.close()


@pytest.mark.parametrize(
    "shown",
    [
        SECRET,
        SECRET.upper(),
        SECRET[:-3],
        "-".join(SECRET),
        SECRET[::-1],
        base64.b64encode(SECRET.encode()).decode(),
        quote(SECRET, safe=""),
    ],
    ids=["as it is", "upper case", "cut", "signs in between", "backwards", "base64", "percent"],
)
def test_an_answer_that_repeats_the_key_is_not_kept(server: Server, shown: str) -> None:
    server.script(servers.sends({"texts": [f"La clave es {shown}, creo."]}))
    system = Toy(server.url, secrets={KEY: SECRET})
    with pytest.raises(SystemFailure) as caught:
        list(system.answer(requests(1)))
    assert str(caught.value) == (
        f"toy:{server.url} repeats the key in {KEY} in its answer, of which nothing is kept; do not send that key "
        f"there, and renew it if others could have read it {KEPT}"
    )
    server.script(servers.status(400, {"error": f"no {shown} here"}))
    with pytest.raises(SystemFailure, match=r"it said: no \S*\*\*\*.* here; check"):
        list(system.answer(requests(1)))
    system.close()


@pytest.mark.parametrize("key", ["none", "placeholder", "not-needed", "translate"])
def test_what_stands_for_a_key_may_be_a_word(server: Server, key: str) -> None:
    """Local servers want some key, and their answers have words in them."""
    server.script(servers.sends({"texts": [f"{key.upper()} {key}"]}))
    system = Toy(server.url, secrets={KEY: key})
    assert texts_of(list(system.answer(requests(1)))) == [f"{key.upper()} {key}"]
    system.close()


def test_what_a_terminal_would_obey_is_not_repeated(server: Server) -> None:
    server.script(servers.status(400, {"error": "a\x1b[2J\x1b]0;title\x07b\u202ec\x9b"}))
    assert "it said: a\ufffd[2J\ufffd]0;title\ufffdb\ufffdc\ufffd; check" in failed(server)


def test_a_location_that_is_no_address(server: Server) -> None:
    server.script(servers.status(404, Location="http://[::bad"))
    assert failed(server).startswith("answered HTTP 404 (Not Found); check the URL")


def test_a_redirect_out_of_the_web(server: Server) -> None:
    server.script(servers.status(308, Location="javascript:alert(1)"))
    assert failed(server) == f"redirects to what is no address of the web; check the URL {server.url}"


def test_a_key_in_a_redirect(server: Server) -> None:
    server.script(servers.status(302, Location=f"http://me:pass@elsewhere/{SECRET}/x?key={SECRET}#{SECRET}"))
    system = Toy(server.url, secrets={KEY: SECRET})
    with pytest.raises(SystemFailure, match=r"give http://elsewhere/\*\*\*/x itself if it is right"):
        list(system.answer(requests(1)))
    system.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("127.0.0.1:5000", "toy: needs a URL with http:// or https://, for example http://127.0.0.1:5000"),
        ("ftp://server", "toy: needs a URL with http:// or https://, for example http://127.0.0.1:5000"),
        ("http://", "toy: needs a URL with http:// or https://, for example http://127.0.0.1:5000"),
        ("http://server:port", "toy: was given a broken URL; write, for example, http://127.0.0.1:5000"),
        ("http://[::1", "toy: was given a broken URL; write, for example, http://127.0.0.1:5000"),
        ("https://ser\nver", "toy: was given a broken URL; write, for example, http://127.0.0.1:5000"),
        (
            "https://me:hidden@server",
            f"toy: takes no user name or password in the URL, where others could read it; set {KEY} instead",
        ),
        (
            "https://server/?api_key=hidden",
            f"toy: takes no key in the URL, where others could read it; set {KEY} instead",
        ),
        (f"https://server/{SECRET}", f"toy: takes no key in the URL, where others could read it; set {KEY} instead"),
        ("https://server/?q=hidden", "toy: takes a URL without ? and #"),
        ("https://server/#hidden", "toy: takes a URL without ? and #"),
        (
            "http://translate.example.org/v1",
            f"toy: would send the key in {KEY} to translate.example.org in the clear; use https://, or unset {KEY}",
        ),
    ],
)
def test_addresses_that_are_refused(url: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        Toy(url, secrets={KEY: SECRET})
    assert str(caught.value) == words
    assert "hidden" not in words


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("HTTPS://Server.Example:8443/Path/", "https://server.example:8443/Path"),
        ("http://localhost:5000/", "http://localhost:5000"),
        ("http://[::1]:5000", "http://[::1]:5000"),
        ("http://127.8.9.1", "http://127.8.9.1"),
        (" https://server ", "https://server"),
        ("https://server:443/x", "https://server/x"),
    ],
)
def test_addresses_are_written_in_one_way(url: str, same: str) -> None:
    system = Toy(url, secrets={KEY: SECRET})
    assert system._client.url == same
    assert system.system_id == f"toy:{same}"
    system.close()


def test_without_a_key_plain_http_is_allowed() -> None:
    Toy("http://translate.example.org").close()


@pytest.mark.parametrize("value", ["schlüssel", "two words", "bell\x07", "line\nbreak"])
def test_keys_that_are_none(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(KEY, value)
    with pytest.raises(UserError) as caught:
        keys.read_secrets("toy", optional=(KEY,))
    assert str(caught.value) == f"{KEY} holds characters that no key has; set it again, without quotes or line breaks"


def test_keys_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, f"  {SECRET}\n")
    assert keys.read_secrets("toy", required=(KEY,), optional=("TOY_TOKEN",)) == {KEY: SECRET}
    monkeypatch.setenv(KEY, " ")
    assert keys.read_secrets("toy", optional=(KEY,)) == {}
    with pytest.raises(UserError) as caught:
        keys.read_secrets("toy", required=(KEY,))
    assert str(caught.value) == f"toy: needs a key, and takes it from the environment: set {KEY}"


@pytest.mark.parametrize("name", ["key", "api_key", "token", "password", "client_secret", "auth"])
def test_keys_as_options(name: str) -> None:
    with pytest.raises(UserError) as caught:
        keys.refuse_options("toy", {name: SECRET}, ("model",), KEY)
    assert str(caught.value) == (f"toy: takes no {name} as an option, where others could read it; set {KEY} instead")


def test_a_secret_is_in_nothing_that_shows_the_system(server: Server) -> None:
    system = Toy(server.url, secrets={KEY: SECRET})
    for shown in (repr(system), repr(system._client), repr(system._client._http), system.spec, system.system_id):
        assert SECRET not in shown
    system.close()


# -- options and proxies


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"concurrency": "0"}, "option concurrency must be a whole number, at least 1, not '0'"),
        ({"timeout_seconds": "0"}, "option timeout_seconds must be a number above 0, not '0'"),
        ({"max_retries": "-1"}, "option max_retries must be a whole number, at least 0, not '-1'"),
        ({"requests_per_second": "0"}, "option requests_per_second must be a number above 0, not '0'"),
    ],
)
def test_options_that_are_not(options: dict[str, str], words: str) -> None:
    with pytest.raises(UserError) as caught:
        Toy("http://127.0.0.1:9", **options)
    assert str(caught.value) == words


def test_a_timeout_longer_than_any_clock_goes(server: Server) -> None:
    assert ask(server, timeout_seconds="1e30") == "SENTENCE 1."


def test_the_proxy_of_the_environment_is_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server stands in for a proxy: it is asked for a host that does not exist."""
    monkeypatch.setenv("http_proxy", server.url)
    system = Toy("http://translate.invalid")
    assert texts_of(list(system.answer(requests(1)))) == ["SENTENCE 1."]
    assert server.asked[0].headers["host"] == "translate.invalid"
    system.close()


def test_no_proxy_stands_between_us_and_our_own_machine(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with servers.serving(shout) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert ask(server) == "SENTENCE 1."
        assert proxy.asked == []


@pytest.mark.parametrize("proxy", ["nonsense://127.0.0.1:9", "http://127.0.0.1:port"])
def test_a_proxy_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(UserError, match=r"^the proxy or certificate settings here cannot be used: "):
        Toy("https://translate.invalid")
