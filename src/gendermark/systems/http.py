"""JSON over HTTP with retries and concurrency; and API keys, which are sent to their server only."""

from __future__ import annotations

import ipaddress
import itertools
import json
import os
import queue
import random
import re
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, quote_plus, urlsplit, urlunsplit

from gendermark.errors import SystemFailure, UserError
from gendermark.io.deadlines import bounded, within
from gendermark.io.textfiles import printable
from gendermark.systems.system import KEPT, count_option, number_option, refuse_unknown_options, with_options

if TYPE_CHECKING:
    import httpx  # costs 0.1 s

T = TypeVar("T")
R = TypeVar("R")

OPTIONS = ("timeout_seconds", "max_retries", "concurrency", "requests_per_second")
"""Options of every family that are never part of a system's id."""

_LONGEST_TIMEOUT_SECONDS = 86_400.0
_MOST_BYTES = 5_000_000
"""Of one answer."""
_MOST_FILE_BYTES = 100_000_000
_MOST_VALUES = 200_000
"""Per answer (or line of a file): each takes some 100 bytes of memory, and several answers are read at once."""
_MOST_WORDS = 200
"""Characters of a server's message that are shown."""
_DEEPEST = 6
"""Levels searched in an answer; messages are two or three deep."""
_MESSAGES = ("", "error", "errors", "message", "Message", "explanation", "detail", "error_description")
_ENCODED = re.compile("%[0-9A-F]{2}")
_SECRET_NAME = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_SECRET_WORDS = re.compile(r"key|token|secret|password|auth|credential", re.IGNORECASE)
_QUOTA_WORDS = re.compile(r"quota|limit exceeded|payment|budget|insufficient (funds|balance|credit)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Patience:
    backoff_seconds: float = 1.0
    """Before the second attempt, with 50% jitter; doubled before each further one."""
    longest_backoff_seconds: float = 60.0
    longest_retry_after_seconds: float = 120.0
    """If a server asks for a longer pause, the run stops with a message."""
    spread_seconds: float = 0.5
    """After a server's pause, requests resume spread over this time."""
    grace_seconds: float = 2.0
    """After Ctrl-C, for pending answers, which may cost money."""


PATIENCE = Patience()


class Refusal(SystemFailure):
    """An answer that another attempt would not change."""

    def __init__(self, sentence: str, status: int, said: str, payload: Any) -> None:
        super().__init__(sentence)
        self.status, self.said, self.payload = status, said, payload


class TooLarge(Refusal):
    """More text in one request than the server accepts; fewer texts may succeed."""


class _PassingError(Exception):
    """A failure that may be temporary."""

    def __init__(self, problem: str, *, hint: str = "", retry_after: float = 0.0, kind: str = "") -> None:
        super().__init__(problem)
        self.hint, self.retry_after, self.kind = hint, retry_after, kind  # kind: garbled, unreachable, crowded or ""


Auth = Callable[["httpx.Request"], "httpx.Request"]
Classify = Callable[[int, Any], str]
"""(status, parsed answer) -> "passing", "too large", "quota", "key", or "" if the status alone decides."""


class Client:
    """A JSON client for one server. Thread-safe.

    `secrets` are the values of environment variables by name; they are masked in all messages.
    """

    def __init__(
        self,
        spec: str,
        url: str,
        *,
        options: Mapping[str, str],
        secrets: Mapping[str, str],
        classify: Classify,
        optional_key: str = "",
        headers: Mapping[str, str] | None = None,
        concurrency: int = 4,
        auth: Auth | None = None,
    ) -> None:
        self.spec = spec
        self._secrets, self._classify = secrets, classify
        self._key_variable = next(iter(self._secrets), optional_key)
        self.url = checked_url(spec.partition(":")[0], url, self._secrets, self._key_variable)
        self.concurrency = count_option(options, "concurrency", concurrency)
        self._timeout_seconds = min(number_option(options, "timeout_seconds", 60), _LONGEST_TIMEOUT_SECONDS)
        self._max_retries = count_option(options, "max_retries", 5, least=0)
        is_limited = "requests_per_second" in options
        self._seconds_between = 1 / number_option(options, "requests_per_second", 1) if is_limited else 0.0
        self._next_turn = self._pause_end = 0.0
        self._n_answered = 0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._was_reached = False
        self._http = _open(self.url, headers or {}, self._timeout_seconds, auth)

    def get(self, path: str, **how: Any) -> Any:
        """The parsed JSON answer, after up to `max_retries` retries.

        Other keywords are those of httpx's `request`.
        """
        return self._request("GET", path, **how)

    def post(self, path: str, **how: Any) -> Any:
        return self._request("POST", path, **how)

    def rows(self, path: str) -> list[Any]:
        found: list[Any] = self._request("GET", path, is_file=True)
        return found

    def take(self, payload: Any, *path: str | int, kind: type[T]) -> T:
        """The value at a path of an answer; fails if it is missing or of another type."""
        found = payload
        for step in path:
            try:
                found = found[step]
            except (LookupError, TypeError):
                found = None
        if not isinstance(found, kind):
            where = ".".join(map(str, path)) or "answer"
            shown = self.masked(json.dumps(payload, ensure_ascii=False))
            problem = f"gave an answer without a usable {where}: {shown!r} (it is discarded, earlier ones are kept)"
            raise SystemFailure(f"{self.spec} {problem}")
        return found

    def in_parallel(
        self, function: Callable[[Sequence[T]], R], portions: Iterable[Sequence[T]]
    ) -> Iterator[tuple[Sequence[T], R]]:
        """Call a function with each portion in parallel; yield each with its result as soon as available.

        A portion that is too large is halved. After a failure or Ctrl-C nothing new is started, but finished and
        pending results are still yielded before the error is raised.
        """
        waiting, stop = deque(portions), self._stop
        finished: queue.SimpleQueue[tuple[Sequence[T], R | None, BaseException | None] | None] = queue.SimpleQueue()

        def work() -> None:
            while waiting and not stop.is_set():
                try:
                    portion = waiting.popleft()
                except IndexError:  # another was quicker
                    break
                try:
                    finished.put((portion, function(portion), None))
                except BaseException as problem:  # noqa: BLE001 (raised again where the results are read)
                    if isinstance(problem, TooLarge) and len(portion) > 1:
                        middle = len(portion) // 2
                        waiting.extendleft((portion[middle:], portion[:middle]))
                    else:
                        finished.put((portion, None, problem))
                        stop.set()
            finished.put(None)

        n_working = min(self.concurrency, len(waiting))
        for _ in range(n_working):
            # Daemons: a thread waiting for a silent server must not block the exit.
            threading.Thread(target=work, daemon=True).start()
        failure: BaseException | None = None
        deadline: float | None = None
        try:
            while n_working:
                try:
                    done = finished.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
                    if done is None:
                        n_working -= 1
                        continue
                    portion, result, problem = done
                    if problem is None:
                        yield portion, result  # type: ignore[misc]  # R may itself be None
                    failure = failure or problem
                except KeyboardInterrupt as interrupt:
                    if deadline is not None:  # the second one: at once
                        raise
                    stop.set()
                    failure, deadline = interrupt, time.monotonic() + PATIENCE.grace_seconds
                except queue.Empty:
                    break
        finally:
            stop.set()
            self._stop = threading.Event()
        if failure is not None:
            raise failure

    def masked(self, text: str) -> str:
        """The beginning of a server's message, on one line and with our keys masked, which some servers echo."""
        # Mask before cutting, so that no partial key is left.
        text = mask(self._secrets, printable(text)[: 10 * _MOST_WORDS])
        return text if len(text) <= _MOST_WORDS else text[: _MOST_WORDS - 1] + "…"

    def close(self) -> None:
        self._http.close()

    # -- attempts

    def _request(
        self, method: str, path: str, *, max_retries: int | None = None, is_file: bool = False, **content: Any
    ) -> Any:
        max_retries = self._max_retries if max_retries is None else max_retries
        stop = self._stop  # of the current work; later work has another
        n_garbled = n_in_vain = 0
        n_answered = self._n_answered
        for attempt in itertools.count(1):
            try:
                self._wait_for_turn(stop)
                if stop.is_set():
                    break
                answer = self._attempt(method, f"{self.url}{path}", content, is_file)
            except _PassingError as problem:
                if problem.kind == "crowded" and self._n_answered > n_answered:
                    n_in_vain = 0  # while others are served, waiting is queueing, not failing
                n_in_vain, n_answered = n_in_vain + 1, self._n_answered
                n_garbled += problem.kind == "garbled"
                # An address that never answered is more likely wrong than temporarily down.
                is_hopeless = n_garbled > 1 or (problem.kind == "unreachable" and not self._was_reached)
                is_too_long = problem.retry_after > PATIENCE.longest_retry_after_seconds
                if is_hopeless or is_too_long or n_in_vain > max_retries:
                    times = f" (attempt {attempt}, the last)" if attempt > 1 else ""
                    pause = (
                        f"; it asks for a pause of {problem.retry_after:,.0f} seconds" if problem.retry_after else ""
                    )
                    hint = f"; {problem.hint}" if problem.hint else ""
                    raise SystemFailure(f"{self.spec} {problem}{times}{pause}{hint}{self._kept}") from None
                if problem.retry_after:
                    with self._lock:  # applies to all requests
                        self._pause_end = max(self._pause_end, time.monotonic() + problem.retry_after)
                else:
                    seconds = PATIENCE.backoff_seconds * 2 ** min(n_in_vain - 1, 10) * random.uniform(0.5, 1.5)
                    self._wait(min(seconds, PATIENCE.longest_backoff_seconds), stop)
            else:
                with self._lock:
                    self._n_answered += 1
                return answer
        raise SystemFailure(f"{self.spec} was not asked again because other requests failed{self._kept}")

    def _wait_for_turn(self, stop: threading.Event) -> None:
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next_turn, self._pause_end)
            self._next_turn = turn + self._seconds_between
            is_paused = self._pause_end > now
        if is_paused:  # spread the restart
            turn += random.uniform(0, PATIENCE.spread_seconds)
        if turn > now:
            self._wait(turn - now, stop)

    def _wait(self, seconds: float, stop: threading.Event) -> None:
        stop.wait(seconds)

    def _attempt(self, method: str, url: str, content: Mapping[str, Any], is_file: bool) -> Any:
        import httpx

        try:
            with within(self._timeout_seconds), self._http.stream(method, url, **content) as response:
                body = self._body(response, _MOST_FILE_BYTES if is_file else _MOST_BYTES)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            reason = self.masked(str(error)) or "no answer"
            hint = "check the address and whether the server runs"
            raise _PassingError(f"cannot be reached at {self.url} ({reason})", hint=hint, kind="unreachable") from None
        except httpx.TimeoutException:
            problem = f"gave no complete answer within {self._timeout_seconds:g} seconds"
            raise _PassingError(problem, hint="raise timeout_seconds or lower concurrency") from None
        except httpx.InvalidURL:  # httpx parses redirect targets, though it does not follow them
            raise _PassingError("redirects to an invalid address", hint=f"check the URL {self.url}") from None
        except httpx.TransportError as error:
            reason = self.masked(str(error)) or "no reason given"
            raise _PassingError(f"broke off the connection ({reason})") from None
        self._was_reached = True
        return self._parsed(response, body, is_file)

    def _body(self, response: httpx.Response, most_bytes: int) -> bytes:
        """The whole body. Answers are asked for unpacked: a few packed bytes can expand beyond memory."""
        packing = response.headers.get("Content-Encoding", "").strip()
        if packing.lower() not in ("", "identity"):
            shown = f"{self.masked(packing):.40}"
            raise _PassingError(f"sent an answer packed as {shown}, which it was not asked for", kind="garbled")
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > most_bytes:
                raise SystemFailure(
                    f"{self.spec} sent more than {most_bytes:,} bytes in one answer; check the URL {self.url}"
                )
        return bytes(body)

    def _parsed(self, response: httpx.Response, body: bytes, is_file: bool) -> Any:
        text = ""
        try:
            is_rows = is_file and response.is_success
            rows = [row for row in body.splitlines() if row.strip()] if is_rows else [body]
            if any(sum(map(row.count, (b"[", b"{", b","))) > _MOST_VALUES for row in rows):
                raise ValueError
            payload = list(map(json.loads, rows)) if is_rows else json.loads(body)
            text = json.dumps(payload, ensure_ascii=False)
            text.encode()  # JSON can escape a lone surrogate, which is not text
        except (ValueError, RecursionError):
            payload = None
        if response.is_success and payload is not None:
            if are_in(self._secrets, text):
                raise SystemFailure(
                    f"{self.spec} repeats the key in {self._key_variable} in its answer, of which nothing is kept; do "
                    f"not send that key there, and renew it if others could have read it{self._kept}"
                )
            return payload
        # A page for a browser is no message.
        is_text = payload is None and not body.lstrip().startswith(b"<")
        said = self.masked(message_of(payload) or (body.decode("utf-8", errors="replace") if is_text else ""))
        if response.is_success:
            problem = f"sent an answer that is not JSON{said and f' ({said!r})'}"
            raise _PassingError(problem, kind="garbled", hint=f"check the URL {self.url}")
        raise self._refusal(response, payload, said)

    def _refusal(self, response: httpx.Response, payload: Any, said: str) -> Exception:
        status = response.status_code
        kind = self._classify(status, payload) or _kind(status, said)
        phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "no standard status"
        answered = f"answered HTTP {status} ({phrase}){said and f'; it said: {said}'}"
        if kind == "passing":
            slower = "ask less at once with requests_per_second or concurrency" if status == 429 else ""
            pause = _retry_after(response.headers.get("Retry-After"))
            is_crowded = status == 429 or (status == 503 and pause > 0)
            return _PassingError(answered, retry_after=pause, hint=slower, kind="crowded" if is_crowded else "")
        look = f"check the URL {self.url}"
        key = f"check the key in {self._key_variable}" if self._secrets else f"set {self._key_variable} to a key"
        advice = {
            "quota": "the quota is used up: raise it, or wait until it is renewed",
            "key": key if self._key_variable else look,
            "too large": "that is more text at once than it takes",
            "redirect": "redirects are not followed: give the URL that it redirects to",
            "absent": look,
        }.get(kind, "check languages and options")
        sentence = f"{self.spec} {answered}; {advice}{self._kept}"
        return (TooLarge if kind == "too large" else Refusal)(sentence, status, said, payload)

    @property
    def _kept(self) -> str:
        return f" {KEPT}" if self._was_reached else ""


def identity(client: Client, options: Mapping[str, str]) -> str:
    changing = {name: value for name, value in options.items() if value and name not in (*OPTIONS, "url")}
    return with_options(f"{client.spec.partition(':')[0]}:{client.url}", changing)


def fields(payload: Any, name: str = "", depth: int = _DEEPEST) -> Iterator[tuple[str, str | int]]:
    if isinstance(payload, str | int):
        yield name, payload
    elif isinstance(payload, list | dict) and depth:
        for key, part in payload.items() if isinstance(payload, dict) else ((name, part) for part in payload):
            yield from fields(part, key, depth - 1)


def message_of(payload: Any) -> str:
    return next((text for name, text in fields(payload) if name in _MESSAGES and isinstance(text, str) and text), "")


def _open(url: str, headers: Mapping[str, str], timeout_seconds: float, auth: Auth | None) -> httpx.Client:
    import httpx

    from gendermark import __version__

    usual = {"User-Agent": f"gendermark/{__version__}", "Accept": "application/json", "Accept-Encoding": "identity"}
    host = urlsplit(url).hostname or ""
    # A proxy could not reach this machine, and would read what is sent.
    direct = {f"all://{f'[{host}]' if ':' in host else host}": None} if is_loopback(host) else None
    try:
        client = httpx.Client(
            headers={**usual, **headers},
            timeout=timeout_seconds,
            auth=auth,
            follow_redirects=False,
            limits=httpx.Limits(max_connections=None),
            verify=_certificates(),
            mounts=direct,
        )
    except (ImportError, ValueError, OSError, httpx.InvalidURL) as problem:  # SOCKS, a bad proxy URL, no certificates
        raise UserError(f"the proxy or certificate settings here cannot be used: {problem}") from None
    return bounded(client)


@cache
def _certificates() -> ssl.SSLContext:
    """Trusted certificates; loading them is the slowest part."""
    import httpx

    return httpx.create_ssl_context()


def _kind(status: int, said: str) -> str:
    if status in (408, 425, 429) or (status >= 500 and status not in (501, 505)):
        return "passing"
    if status in (413, 414, 431):
        return "too large"
    if status in (402, 456) or (status == 403 and _QUOTA_WORDS.search(said)):
        return "quota"
    if status in (401, 403):
        return "key"
    if 300 <= status < 400:
        return "redirect"
    return "absent" if status in (404, 405, 410, 501) else ""


def _retry_after(text: str | None) -> float:
    """Seconds that a server asks us to wait; 0 if missing or invalid."""
    if not text:
        return 0.0
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text.strip()):
        return min(float(text), 1e9)
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return 0.0


# -- keys, and the addresses they are sent to --------------------------------------------------------------------------


def read_secrets(family: str, required: Sequence[str] = (), optional: Sequence[str] = ()) -> dict[str, str]:
    """Keys, from environment variables only, by name."""
    secrets = {name: os.environ.get(name, "").strip() for name in (*required, *optional)}
    for name in required:
        if not secrets[name]:
            raise UserError(f"{family}: needs a key, and takes it from the environment: set {name}")
    for name, value in secrets.items():
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise UserError(f"{name} has characters that no key has; set it again, without quotes or line breaks")
    return {name: value for name, value in secrets.items() if value}


def of_environment() -> dict[str, str]:
    """Environment variables that hold a key, by name and value; child programs can read them."""
    return {name: value for name, value in os.environ.items() if _SECRET_NAME.search(name) and _is_no_word(value)}


def refuse_options(family: str, options: Mapping[str, str], known: Sequence[str], variable: str = "") -> None:
    """Refuse unknown options, and keys above all: options are written into run folders."""
    instead = f"set {variable} instead" if variable else "leave it out"
    for name in options:
        if name not in known and _SECRET_WORDS.search(name):
            raise UserError(f"{family}: takes no {name} as an option, where others could read it; {instead}")
    refuse_unknown_options(family, options, known)


def are_in(secrets: Mapping[str, str], *texts: str) -> bool:
    """Whether a text contains a key, plain or URL-encoded."""
    known = _pattern(*filter(_is_no_word, secrets.values()))
    return any(known.search(text) for text in texts)


def mask(secrets: Mapping[str, str], text: str) -> str:
    """Replace keys by ***, plain and URL-encoded."""
    return _pattern(*secrets.values()).sub("***", text)


@cache
def _pattern(*values: str) -> re.Pattern[str]:
    """Matches these keys in all forms, the longest first; nothing if there are none."""
    ways: list[Callable[[str], str]] = [
        str,
        lambda one: json.dumps(one)[1:-1],
        quote,
        partial(quote, safe=""),
        quote_plus,
    ]
    forms = {way(one) for one in values for way in ways}
    longest = sorted(forms, key=len, reverse=True)
    # Some encoders write %2F, others %2f.
    return re.compile("|".join(_ENCODED.sub(r"(?i:\g<0>)", re.escape(form)) for form in longest) or "(?!)")


def _is_no_word(value: str) -> bool:
    """Whether a key is unlikely to occur in text by chance: local servers get keys like "none"."""
    return len(value) >= 20 or (len(value) >= 8 and any(map(str.isdigit, value)))


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def checked_url(family: str, url: str, secrets: Mapping[str, str], variable: str) -> str:
    """A server's address in normal form. A refused one is not repeated: it may contain a key."""
    import httpx

    try:
        parts = urlsplit(url.strip())
        port = parts.port
        httpx.URL(url.strip())
    except (ValueError, httpx.InvalidURL):
        raise UserError(f"{family}: was given an invalid URL; write, for example, http://127.0.0.1:5000") from None
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    if scheme not in ("http", "https") or not host:
        raise UserError(f"{family}: needs a URL with http:// or https://, for example http://127.0.0.1:5000")
    if "@" in parts.netloc or are_in(secrets, url) or _SECRET_WORDS.search(parts.query):
        instead = f"set {variable} instead" if variable else "leave it out"
        raise UserError(f"{family}: takes no key or password in the URL, where others could read it; {instead}")
    if parts.query or parts.fragment:
        raise UserError(f"{family}: takes a URL without ? and #")
    if scheme == "http" and secrets and not is_loopback(host):
        raise UserError(
            f"{family}: would send the key in {variable} to {host} in the clear; use https://, or unset {variable}"
        )
    address = f"[{host}]" if ":" in host else host
    if port not in (None, {"http": 80, "https": 443}[scheme]):
        address = f"{address}:{port}"
    return urlunsplit((scheme, address, parts.path.rstrip("/"), "", ""))
