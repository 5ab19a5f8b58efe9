"""Area 3: servers that misbehave. A run recovers or ends in one sentence, in time; what was kept is not asked again."""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.utils import format_datetime
from functools import cache
from typing import Any

from fault_areas import server as serving
from fault_areas.campaign import IMPATIENT, Scenario, Setting, content_of, differences, expect
from fault_areas.kills import rows_of
from fault_areas.server import packed, raw, reset, twisted
from systems import servers
from systems.servers import Step

MOST_SECONDS = 60.0
"""With a limit of half a second for each attempt, of some of 20, and one more attempt."""
MOST_MEGABYTES = 800.0
ESCAPE = "\x1b]0;obeyed\x07\x1b[2J\x9b31m\u202e"


@dataclass(frozen=True)
class Case:
    """One way to misbehave, some times in a row from the second request on."""

    name: str
    step: Step
    family: str = "openai"
    n: int = 3
    at: int = 5
    """After so many requests that were answered well."""
    seconds: str = "0.5"
    """That an attempt may take."""


def _after(text: str | bytes, code: int = 429) -> Step:
    if isinstance(text, str):
        return servers.status(code, {"error": "slow down"}, Retry_After=text)
    return raw(b"HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\nRetry-After: " + text + b"\r\n\r\n")


def _dates() -> list[str]:
    now = datetime.datetime.now(datetime.UTC)
    soon = now + datetime.timedelta(seconds=1)
    return [format_datetime(soon, usegmt=True), format_datetime(now - datetime.timedelta(days=1), usegmt=True)]


RETRY_AFTER: Sequence[str | bytes] = (
    "0", "0.05", "1", "-5", "", "soon", "NaN", "Infinity", "1e999", "0x10", "９", "1, 2", "86401", "9" * 400,
    "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 -2359", "Thu, 99 Foo 2020 99:99:99 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 +999999",
    "Sun, 06 Nov 99999999999 08:49:37 GMT", b"\xff\xfe", b"\x1b[31m", b"1" * 60_000,
)  # fmt: skip


def _retry_cases() -> list[Case]:
    return [Case(f"429, Retry-After {text!r:.40}", _after(text)) for text in (*_dates(), *RETRY_AFTER)]


def _status_cases() -> list[Case]:
    codes = [*range(500, 600), 100, 102, 199, 204, 206, 226, 300, 304, 400, 402, 403, 405, 406, 409, 410, 413, 418, 421]
    codes += [422, 425, 426, 428, 431, 451, 456, 499, 600, 700, 999]
    return [Case(f"HTTP {code}", servers.status(code, {"error": "no"})) for code in codes]


def _listing(twist: Callable[[Any], Any], name: str, family: str) -> Case:
    """The very first answer, which lists models or languages."""
    return Case(f"{family}, {name}", twisted(twist), family, n=1, at=0)


def _shape_cases() -> list[Case]:
    cases = []
    for name, value in {
        "null": None, "a number": 7, "a text": "x", "an empty list": [], "texts": ["en", "xx"], "mixed": [1, "a", None],
        "lists in lists": [[[]]], "codes of all kinds": [{"code": "en", "targets": [1, None, "de", {}]}],
        "targets of another kind": [{"code": "en", "targets": 7}], "an unknown code": [{"code": "de", "targets": []}],
        "escapes": [{"code": ESCAPE, "targets": [ESCAPE]}], "models": {"data": [{"id": None}, {"id": ESCAPE}, 7]},
        "long names": {"data": [{"id": "x" * 100_000}]}, "many": {"data": [{"id": str(n)} for n in range(20_000)]},
    }.items():  # fmt: skip
        cases += [_listing(lambda _, value=value: value, name, family) for family in ("openai", "libretranslate")]
    for n in (0, 1, 7, 9):
        short = lambda good, n=n: {"translatedText": (good["translatedText"] * 2)[:n]}  # noqa: E731
        cases.append(Case(f"libretranslate, {n} translations for 8", twisted(short), "libretranslate", n=9, at=2))
    for n in (0, 2):
        cases.append(Case(f"openai, {n} choices", twisted(lambda good, n=n: {"choices": good["choices"] * n})))
    return cases


def _hostile(text: Any) -> Callable[[Any], Any]:
    return lambda good: {**good, "choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]}


def _made_late(make: Callable[[], Step]) -> Step:
    """A step that takes long to make, and is made when it is needed."""
    made = cache(make)
    return lambda server, handler, asked: made()(server, handler, asked)


def _body_cases() -> list[Case]:
    nested = json.dumps({"choices": []}).encode()
    says, drips = servers.says, servers.drips
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    return [
        Case("HTML with 200", says(b"<html><script>alert(1)</script>")),
        Case("nothing with 200", says(b"")),
        Case("half a body", servers.cut),
        Case("no answer", servers.hang_up),
        Case("a reset", reset),
        Case("an answer for another protocol", raw(b"220 smtp ready\r\n")),
        Case("slow headers", drips(head + b"X-Long: ", b"x")),
        Case("slow body", servers.trickle),
        Case("slow chunks", drips(head + b"Transfer-Encoding: chunked\r\n\r\n5;", b"x")),
        Case("endless 100 Continue", drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n")),
        Case("endless body", servers.endless, n=2, seconds="20"),
        Case("endless headers", drips(head, b"X: y\r\n" * 2000), n=2),
        Case("gzip bomb of 400 MB", _made_late(lambda: packed(b"[" + b"0," * 200_000_000 + b"0]")), n=4, seconds="20"),
        Case("gzip in gzip", packed(nested, 2, "gzip, gzip")),
        Case("gzip in gzip, told once", packed(nested, 2)),
        Case("gzip that is none", says(b"{}", Content_Encoding="gzip")),
        Case("brotli", says(b"{}", Content_Encoding="br")),
        Case("a packing with an escape", raw(head + b"Content-Encoding: \x1b[31m\r\nContent-Length: 2\r\n\r\n{}")),
        Case(
            "many small objects",
            _made_late(lambda: says(b"[" + b"{}," * 1_600_000 + b"{}]")),
            n=4,
            seconds="20",
        ),
        Case("deep nesting", says(b"[" * 100_000)),
        Case("invalid UTF-8", says(b'{"choices": "\xff\xfe\x80"}')),
        Case("half a surrogate", says(b'{"choices": [{"message": {"content": "\\ud800"}}]}')),
        Case("UTF-16", says(json.dumps({"choices": []}).encode("utf-16"))),
        Case("a number of 10,000 digits", says(b'{"choices": ' + b"9" * 10_000 + b"}")),
        Case("NaN", says(b'{"choices": NaN}')),
        Case("escapes in an error", servers.status(400, {"error": {"message": f"bad {ESCAPE}"}})),
        Case("escapes in a failure", servers.status(503, {"error": ESCAPE})),
        Case("an error that is an annotation", servers.status(400, {"error": "no\n::error::obeyed\r\n::set-env"})),
        Case("escapes in an answer", twisted(_hostile(f"el {ESCAPE} TRABAJA"))),
        Case("NUL and newlines in an answer", twisted(_hostile("el \0 \n\n TRABAJA \r\x0b\u2028 MUCHO"))),
        Case("five million letters", twisted(_hostile("el " + "X" * 5_000_000))),
        Case("an answer that is a list", twisted(_hostile([{"text": 7}, {"x": []}, None, "y"]))),
        Case("an answer that is a number", twisted(_hostile(7))),
        Case("a usage of 10^400", twisted(lambda good: {**good, "usage": {"total_tokens": 10**400}})),
        Case("a status line with escapes", raw(b"HTTP/1.1 500 \x1b[31mobeyed\r\nContent-Length: 0\r\n\r\n")),
    ]


def play(setting: Setting, cases: Sequence[Case]) -> None:
    """Each case in a run of its own: it recovers or is refused, then goes on when the server is well again."""
    with serving.translating() as server:
        expected = {}
        for family in {case.family for case in cases}:
            calm = setting.place()
            setting.run(serving.run_arguments(family, server.url, setting.directory, calm)).is_good()
            expected[family] = content_of(calm / "run")
        for number, case in enumerate(cases):
            place = setting.place()
            how = {"timeout_seconds": case.seconds, "max_retries": "1", "concurrency": "2"}
            command = serving.run_arguments(case.family, server.url, setting.directory, place, **how)
            n_begun = len(server.book)
            server.server.steps.clear()
            server.script(*[servers.good] * case.at, *[case.step] * case.n)
            with setting.tally.trial(case.name):
                said = setting.run(command, IMPATIENT)
                expect(said.seconds < MOST_SECONDS, f"{case.name} takes {said.seconds:.0f} s")
                expect(said.megabytes < MOST_MEGABYTES, f"{case.name} takes {said.megabytes:.0f} MB")
                expect(len(said.err) < 20_000, f"{case.name}: {len(said.err):,} letters are said")
                if said.code:
                    said.is_refusal()
                server.server.steps.clear()
                n_before, safe = len(server.book), {row[3] for row in rows_of(place / "store.sqlite")}
                setting.run(command, IMPATIENT).is_good()
                again = [source for source in server.asked[n_before:] if server.translate(source) in safe]
                if again:
                    setting.tally.trouble("paid_twice", f"{case.name}: asked again though safe", len(again))
                changed = differences(content_of(place / "run"), _with_options(expected[case.family], how))
                # What the server said in an answer that was well-formed counts, whatever it is.
                if changed and not case.name.startswith(
                    ("escapes in an answer", "NUL and", "five million", "an answer")
                ):
                    setting.tally.trouble("lost", f"{case.name}: the run differs in {changed}")
                expect(len(server.book) - n_begun >= 80 - case.n, "sentences are missing")
            setting.search(place)
            shutil.rmtree(place)
            setting.progress(number + 1, len(cases))


def _with_options(content: dict[str, Any], options: dict[str, str]) -> dict[str, Any]:
    manifest = json.loads(json.dumps(content["manifest.json"]))
    manifest["config"]["system_options"] |= options
    return {**content, "manifest.json": manifest}


def _some(cases: Sequence[Case], setting: Setting) -> Sequence[Case]:
    """All in the long form."""
    return cases if setting.times >= len(cases) else setting.chance.sample(cases, setting.times)


# -- TLS ---------------------------------------------------------------------------------------------------------------


def bad_tls(setting: Setting) -> None:
    with (
        serving.translating() as plain,
        serving.listening(b"not TLS\r\n" * 9) as garbage,
        serving.listening(b"") as mute,
        serving.self_signed(setting.directory / "own.pem") as unknown,
    ):
        ports = [port for port in (plain.url.rpartition(":")[2], garbage, mute, unknown) if port]
        for number, port in enumerate(ports * max(1, setting.times // len(ports))):
            url = f"https://127.0.0.1:{port}"
            place = setting.place()
            command = serving.run_arguments("libretranslate", url, setting.directory, place, timeout_seconds="2")
            with setting.tally.trial(url):
                setting.run(command, IMPATIENT).is_refusal("cannot be reached")
            setting.progress(number + 1, len(ports))


# -- answers of any shape ----------------------------------------------------------------------------------------------

_STRANGE: Sequence[Any] = (None, True, -1, 0, 1e300, 10**400, "", "\0", ESCAPE, [], {}, [[]], [None], "el", ["x", 7])


def _twist(setting: Setting) -> Callable[[Any], Any]:
    """Something inside an answer becomes something else."""
    seed = setting.chance.random()

    def change(good: Any) -> Any:
        import random

        chance = random.Random(seed)
        value = json.loads(json.dumps(good))
        part, key = [value], 0
        while isinstance(part[key], dict | list) and part[key] and chance.random() < 0.8:  # type: ignore[index]
            part = part[key]  # type: ignore[index]
            key = chance.choice(list(part)) if isinstance(part, dict) else chance.randrange(len(part))
        strange = chance.choice(_STRANGE)
        if len(part) == 1 and part[key] is value:  # type: ignore[index]
            return strange
        part[key] = strange  # type: ignore[index]
        return value

    return change


def shapes(setting: Setting) -> None:
    cases = [
        Case(f"shape {number}", twisted(_twist(setting)), setting.chance.choice(("openai", "libretranslate")), 1, at)
        for number in range(setting.times)
        for at in [setting.chance.choice((0, 0, 3))]
    ]
    with serving.translating() as server:
        for number, case in enumerate(cases):
            place = setting.place()
            command = serving.run_arguments(case.family, server.url, setting.directory, place, concurrency="1")
            server.server.steps.clear()
            server.script(*[servers.good] * min(case.at, 1 if case.family == "libretranslate" else 9), case.step)
            with setting.tally.trial(case.name):
                said = setting.run(command, IMPATIENT)
                expect(said.code in (0, 2), f"exit {said.code}")
                server.server.steps.clear()
            shutil.rmtree(place)
            setting.progress(number + 1, len(cases))


SCENARIOS = [
    Scenario("servers", "429 and Retry-After", lambda s: play(s, _some(_retry_cases(), s)), 4, 999, in_children=False),
    Scenario("servers", "every status", lambda s: play(s, _some(_status_cases(), s)), 4, 999, in_children=False),
    Scenario("servers", "lists and counts", lambda s: play(s, _some(_shape_cases(), s)), 6, 999, in_children=False),
    Scenario("servers", "bodies", lambda s: play(s, _some(_body_cases(), s)), 5, 999),
    Scenario("servers", "bad TLS", bad_tls, 1, 8),
    Scenario("servers", "answers of any shape", shapes, 8, 300, in_children=False),
]
