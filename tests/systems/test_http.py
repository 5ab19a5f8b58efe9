"""The client behind all services, against a server that misbehaves in every way there is."""

from __future__ import annotations

import gzip
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import quote

import pytest

from gendermark import __version__
from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Translation
from gendermark.systems import http
from gendermark.systems.system import System, open_system
from runs.children import wait_until
from systems import asking, servers
from systems.servers import Asked, Server, Step

KEY = "LIBRETRANSLATE_API_KEY"
SECRET = "Zq9/open+0123456789"


def shout(asked: Asked) -> Any:
    return {"translatedText": [text.upper() for text in asked.json["q"]]}


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    monkeypatch.delenv(KEY, raising=False)
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


def opened(server: Server, **options: str) -> System:
    return open_system(f"libretranslate:{server.url}", options)


def requests(n: int) -> list[Request]:
    return asking.requests(f"Sentence {number}." for number in range(1, n + 1))


def ask(server: Server, **options: str) -> str | None:
    """The translation of one sentence."""
    with closing(opened(server, **options)) as system:
        return asking.answers(system, requests(1))[0].text


def failed(server: Server, **options: str) -> str:
    """The message in which asking for one translation ends."""
    with pytest.raises(SystemFailure) as caught:
        ask(server, **options)
    assert "\n" not in str(caught.value)
    assert server.url in str(caught.value)
    return str(caught.value)


# -- another attempt


@pytest.mark.parametrize("code", [408, 425, 429, 500, 502, 503, 504, 529])
def test_a_passing_trouble_is_met_again(server: Server, waits: list[float], code: int) -> None:
    server.script(*[servers.status(code)] * 3)
    assert ask(server) == "SENTENCE 1."
    assert [asked.json["q"] for asked in server.asked] == [["Sentence 1."]] * 4
    for wait, expected in zip(waits, (1, 2, 4), strict=True):
        assert expected / 2 <= wait <= expected * 1.5


def test_attempts_and_pauses_are_limited(server: Server, waits: list[float]) -> None:
    server.script(*[servers.status(429, {"error": "resting"})] * 6)
    sentence = failed(server)
    assert "429" in sentence
    assert "resting" in sentence
    assert "requests_per_second" in sentence
    assert len(server.asked) == 6
    server.script(*[servers.status(500)] * 30)
    assert ask(server, max_retries="30") == "SENTENCE 1."
    assert max(waits) == http.PATIENCE.longest_backoff_seconds
    waits.clear()
    server.script(servers.status(429, {"message": "come back later"}, Retry_After="86400"))
    assert "86,400 seconds" in failed(server)
    assert waits == []


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("37", 37),
        ("a date", 60),
        *((text, 1) for text in ("soon", "-3", "Wed, 21 Oct 2015 07:28:00 GMT", "99 Oct", "", "\xd9\xa3")),
        ("Wed, 21 Oct 99999999999999999999 07:28:00 GMT", 1),
    ],
)
def test_retry_after(server: Server, waits: list[float], text: str, seconds: int) -> None:
    """In seconds or as a date; what says nothing of use counts as none."""
    if text == "a date":
        text = format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)
    server.script(servers.status(503, Retry_After=text))
    assert ask(server) == "SENTENCE 1."
    assert waits == [pytest.approx(seconds, abs=1 + seconds / 4)]


@pytest.mark.parametrize(("code", "header"), [(429, {"Retry_After": "1"}), (429, {}), (503, {"Retry_After": "1"})])
def test_a_server_that_serves_nobody_is_given_up(server: Server, code: int, header: dict[str, str]) -> None:
    server.script(*[servers.status(code, **header)] * 200)
    with closing(opened(server, concurrency="4")) as system, pytest.raises(SystemFailure, match=str(code)):
        asking.answers(system, requests(32 * 8))
    assert len(server.asked) <= 4 * 6


# -- time and size

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(servers.stall, id="silence"),
        pytest.param(servers.trickle, id="slow body"),
        pytest.param(servers.drips(b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"), id="slow header"),
        pytest.param(servers.drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), id="100 Continue without end"),
        pytest.param(servers.drips(CHUNKED + b"5;name=", b"x"), id="slow chunk extension"),
        pytest.param(servers.drips(CHUNKED + b"2\r\n{}\r\n0\r\n", b"X-More: x\r\n"), id="trailers without end"),
    ],
)
def test_one_deadline_bounds_the_whole_request(server: Server, step: Step) -> None:
    server.script(step, step)
    assert "timeout_seconds" in failed(server, timeout_seconds="0.3", max_retries="1")
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "step",
    [
        servers.says(b'{"translatedText": ["SENT'),
        servers.says(b""),
        servers.says(b"OK"),
        servers.says(b'{"translatedText": ["\xff"]}'),
        servers.says(b'{"translatedText": ["\\ud83d"]}'),  # half an emoji: nothing that could be stored
        servers.says(b"[" * 100_000),
        servers.says(b"[" + b"[]," * 1_000_000 + b"[]]"),  # which would take 100 MB
        servers.says(b'{"translatedText": [' + b"1," * 1_000_000 + b"1]}"),
        servers.says(gzip.compress(b'{"translatedText": ["ONE"]}'), Content_Encoding="gzip"),
    ],
)
def test_a_garbled_answer_is_asked_for_once_more(server: Server, step: Step) -> None:
    server.script(step)
    assert ask(server) == "SENTENCE 1."
    server.script(*[step] * 9)
    server.asked.clear()
    failed(server)
    assert len(server.asked) == 2


def test_answers_are_asked_for_unpacked(server: Server) -> None:
    ask(server)
    assert server.asked[0].headers["accept-encoding"] == "identity"
    assert server.asked[0].headers["user-agent"] == f"gendermark/{__version__}"


def test_an_answer_without_end_is_left(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_MOST_BYTES", 100_000)
    server.script(servers.endless)
    assert "100,000 bytes" in failed(server)


# -- what a server says


def test_what_a_server_says_is_repeated(server: Server) -> None:
    errors: list[Any] = ["words", {"error": "words"}, {"message": "words"}, {"Message": "words"}]
    errors += [{"error": {"code": 400, "message": "words"}}, {"status": "error", "explanation": "words"}]
    errors += [{"errors": [{"reason": "x", "message": "words"}]}, {"detail": [{"message": "words"}]}]
    for payload in errors:
        server.script(servers.status(400, payload))
        assert "it said: words;" in failed(server)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"two\nlines " + b"x" * 999, f"two lines {'x' * 189}…"),
        (b"<html><body>Bad</body></html>", ""),
        (b"[" * 900 + b'"words"' + b"]" * 900, ""),
        (json.dumps({"error": "a\x1b[2J\x07b\u202ec\x9b"}).encode(), "a\ufffd[2J\ufffdb\ufffdc\ufffd"),
    ],
    ids=["long", "a page", "too deep", "what a terminal obeys"],
)
def test_what_a_server_says_is_kept_harmless(server: Server, body: bytes, shown: str) -> None:
    server.script(servers.says(body, 400))
    sentence = failed(server)
    assert f"it said: {shown};" in sentence if shown else "it said" not in sentence


# -- keys


@pytest.mark.parametrize(
    "shown", [SECRET, quote(SECRET), quote(SECRET, safe=""), quote(SECRET, safe="").replace("%2F", "%2f")]
)
@pytest.mark.parametrize("code", [400, 401, 500, 200])
def test_a_server_that_repeats_the_key(server: Server, monkeypatch: pytest.MonkeyPatch, shown: str, code: int) -> None:
    monkeypatch.setenv(KEY, SECRET)
    for before in ("", "x" * 191):  # once whole, once where what the server says is cut
        server.script(*[servers.says(f"{before} key {shown}".encode(), code)] * 2)
        assert "Zq9" not in failed(server, max_retries="1")
        server.steps.clear()
        server.script(servers.sends({"translatedText": [f"La clave es {shown}."], "error": before}))
        assert KEY in failed(server)  # nothing of such an answer is kept
        server.script(servers.says(b"{}", code, Content_Encoding=SECRET))
        assert SECRET[:9].lower() not in failed(server, max_retries="0").lower()


@pytest.mark.parametrize("key", ["none", "placeholder", "not-needed", "translate"])
def test_what_stands_for_a_key_may_be_a_word(server: Server, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """Local servers want some key, and their answers have words in them."""
    monkeypatch.setenv(KEY, key)
    server.script(servers.sends({"translatedText": [f"the {key}"]}))
    assert ask(server) == f"the {key}"


def test_keys_that_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("schlüssel", "two words", "bell\x07", "line\nbreak"):
        monkeypatch.setenv(KEY, value)
        with pytest.raises(UserError, match=KEY):
            open_system("libretranslate:http://127.0.0.1:9")


def test_a_key_is_in_nothing_that_shows_the_system(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, f"  {SECRET}\n")
    with closing(opened(server)) as system:
        asking.answers(system, requests(1))
        assert SECRET not in f"{system!r} {vars(system)['_client']!r} {system.spec} {system.system_id}"
    assert server.asked[0].json["api_key"] == SECRET


# -- addresses and proxies


def test_addresses_are_written_in_one_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, SECRET)
    for url, same in {
        "HTTPS://Server.Example:8443/Path/": "https://server.example:8443/Path",
        "http://localhost:5000/": "http://localhost:5000",
        "http://[::1]:5000": "http://[::1]:5000",
        "http://127.8.9.1": "http://127.8.9.1",
        " https://server ": "https://server",
        "https://server:443/x": "https://server/x",
    }.items():
        with closing(open_system(f"libretranslate:{url}")) as system:
            assert system.system_id == f"libretranslate:{same}"


def test_proxies_are_those_of_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server stands in for a proxy: it is asked for a host that does not exist. Our own machine needs none."""
    monkeypatch.setenv("http_proxy", server.url)
    with closing(open_system("libretranslate:http://translate.invalid")) as system:
        assert asking.translated(system, ["One."]) == ["ONE."]
    assert server.asked[0].headers["host"] == "translate.invalid"
    with servers.serving(shout) as own:
        assert ask(own) == "SENTENCE 1."
    assert len(server.asked) == 1
    for proxy in ("nonsense://127.0.0.1:9", "http://127.0.0.1:port"):
        monkeypatch.setenv("https_proxy", proxy)
        with pytest.raises(UserError, match="proxy"):
            open_system("libretranslate:https://translate.invalid")


# -- several at once


def interrupted(
    server: Server, system: System, n_asked: int, then: Callable[[], object]
) -> tuple[list[Sequence[Translation]], BaseException]:
    """The portions that still come when something happens while so many requests are under way, and the error."""
    portions: list[Sequence[Translation]] = []

    def act() -> None:
        wait_until(lambda: len(server.asked) == n_asked, "all were asked")
        time.sleep(0.05)
        then()

    helper = threading.Thread(target=act)
    helper.start()
    with pytest.raises((SystemFailure, KeyboardInterrupt)) as caught:
        portions.extend(system.answer(requests(32 * 10)))
    helper.join()
    return portions, caught.value


def press_ctrl_c() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def test_what_is_under_way_when_another_fails_is_not_lost(server: Server) -> None:
    server.script(servers.stall, servers.stall, servers.status(404))
    with closing(opened(server, concurrency="3")) as system:
        portions, error = interrupted(server, system, 3, server.go_on.set)
    assert isinstance(error, SystemFailure)
    assert len(portions) == 2
    assert len(server.asked) == 3  # nothing new was begun


def test_ctrl_c_keeps_what_arrives_in_time(server: Server) -> None:
    server.script(servers.good, servers.stall, servers.stall)
    with closing(opened(server, concurrency="2")) as system:
        portions, error = interrupted(server, system, 3, lambda: [press_ctrl_c(), time.sleep(0.1), server.go_on.set()])
        assert isinstance(error, KeyboardInterrupt)
        assert len(portions) == len(server.asked) == 3
        # And it can be asked again, as a notebook does.
        assert len(asking.answers(system, requests(8))) == 8


def test_ctrl_c_does_not_wait_for_a_silent_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "PATIENCE", http.Patience(grace_seconds=0.1))
    server.script(servers.stall, servers.stall)
    with closing(opened(server, concurrency="2")) as system:
        portions, error = interrupted(server, system, 2, press_ctrl_c)
    assert isinstance(error, KeyboardInterrupt)
    assert portions == []
    server.go_on.set()


def test_requests_per_second(server: Server, waits: list[float]) -> None:
    with closing(opened(server, requests_per_second="0.1", concurrency="1")) as system:
        asking.answers(system, requests(24))
    assert waits == [pytest.approx(10, abs=5), pytest.approx(20, abs=5)]  # the clock does not move here


# -- what goes out


def test_portions_are_cut_by_number_and_characters(server: Server) -> None:
    with closing(opened(server, concurrency="1")) as system:
        assert asking.answers(system, []) == []
        assert system.notes() == ()
        found = asking.translated(system, [f"{n}{'x' * 2_000}" for n in range(5)] + ["y" * 9_000])
    assert len(found) == 6
    assert [len(asked.json["q"]) for asked in server.asked] == [2, 2, 1, 1]
