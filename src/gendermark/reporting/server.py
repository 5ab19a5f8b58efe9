"""A small web server for one browser, or for a few people who trust each other, by the standard library alone.

Whoever knows the address may come in, and nobody else: it has a random token in it. The first visit exchanges the token
for a cookie and leads on to a clean address, so that the token stays out of histories, bookmarks and screenshots. What
is served is named one by one in a `Site`, so a request can reach no file, whatever its path says. Pages of other sites
in the same browser can neither read here (cookie, host and same-origin policy) nor write (the same, and the origin of
every write is checked).
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from gendermark.errors import UserError

LOOPBACK = "127.0.0.1"
LONGEST_BODY = 64 * 1024
"""Bytes of one write: an answer and a comment."""
_MOST_DIGITS = 9
_IDLE_SECONDS = 60
"""That a connection may say nothing, and that an answer may take to be fetched."""
_LOOPBACK_NAMES = frozenset({"localhost", LOOPBACK, "::1"})
_EVERYWHERE = frozenset({"", "0.0.0.0", "::"})
_TO_PAGE = "/"
"""No path of a site: what leads on to its page."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class File:
    """Something that is served as it is."""

    kind: str
    """Its media type."""
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class Site:
    """All there is to be asked for, by path; the page itself has the empty path.

    Reads get the fields of the query, writes the object that was sent; what they return is sent as JSON. A `UserError`
    is sent as its sentence.
    """

    files: Mapping[str, File | Callable[[], File]]
    """As they are, or made anew whenever they are asked for."""
    reads: Mapping[str, Callable[[Mapping[str, str]], Any]] = field(default_factory=dict)
    writes: Mapping[str, Callable[[Mapping[str, Any]], Any]] = field(default_factory=dict)
    policy: str = POLICY
    """What the page may do: the Content-Security-Policy."""


class _Refusal(Exception):
    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Server(ThreadingHTTPServer):
    """Listens as soon as it is made; answers while `serve_forever` runs. Close it after that."""

    daemon_threads = True
    request_queue_size = 512
    """Connections that wait to be taken; with the usual 5, one of many at once is tried again after seconds only."""

    def __init__(self, site: Site, host: str = LOOPBACK, port: int = 0, token: str = "") -> None:
        self.site, self.host = site, host
        self.token = token or secrets.token_urlsafe(24)
        self._launch_code: str | None = None
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError, UnicodeError) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise UserError(
                f"cannot listen on {host}, port {port}: {reason}; choose another with --port, or leave --port and "
                "--host out"
            ) from None

    @property
    def is_open_to_others(self) -> bool:
        """Whether other computers can reach it."""
        return not ipaddress.ip_address(str(self.server_address[0]).partition("%")[0]).is_loopback

    @property
    def url(self) -> str:
        """The address to give to people; it holds the token."""
        return f"{self._origin}/{self.token}/"

    def launch_url(self) -> str:
        """An address that leads to the page once: other users of the computer see what a browser is started with."""
        self._launch_code = secrets.token_urlsafe(24)
        return f"{self._origin}/open/{self._launch_code}"

    @property
    def _origin(self) -> str:
        host = socket.gethostname() if self.host in _EVERYWHERE else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_address[1]}"

    def is_ours(self, host: str) -> bool:
        """Whether the `Host` of a request can be meant for us.

        A page of another site could otherwise have its own name point here (DNS rebinding). The port is left open: it
        is another one behind `ssh -L`.
        """
        try:
            name = (urlsplit(f"//{host}").hostname or "").casefold()
        except ValueError:
            return False
        if name in _LOOPBACK_NAMES or name == self.host.casefold():
            return True
        return self.is_open_to_others and (name == socket.gethostname().casefold() or _is_address(name))

    @property
    def cookie(self) -> str:
        """Name and value. By port, as cookies of all ports of a computer come together; made of the token, so that tabs
        go on after a new start with the same one."""
        value = hmac.digest(self.token.encode(), b"cookie", hashlib.sha256).hex()
        return f"gendermark-{self.server_address[1]}={value}"

    def knows(self, cookies: str) -> bool:
        """Whether our cookie is among those that were sent."""
        return any(_is_equal(one.strip(), self.cookie) for one in cookies.split(";"))

    def redeem(self, code: str) -> bool:
        """Whether this is the code of `launch_url`, which is good for once."""
        if self._launch_code is None or not _is_equal(code, self._launch_code):
            return False
        self._launch_code = None
        return True

    def server_bind(self) -> None:
        """As always, without asking the network for our own name, which can take long."""
        TCPServer.server_bind(self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that has gone away in the middle is no event."""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_equal(given: str, expected: str) -> bool:
    """Without telling by its time how much of it is right."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "gendermark"
    sys_version = ""
    timeout = _IDLE_SECONDS
    server: Server

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _refuse_method(self) -> None:
        self._answer(self._no_such_method)

    do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _refuse_method  # noqa: N815

    # -- answers -------------------------------------------------------------------------------------------------------

    def _answer(self, work: Callable[[str], None]) -> None:
        try:
            work(self._allowed_path())
        except _Refusal as refusal:
            self._fail(refusal.status, str(refusal))
        except UserError as problem:
            self._fail(HTTPStatus.BAD_REQUEST, str(problem))
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception as fault:  # noqa: BLE001 (ours, whatever it is; the page says so, and the server goes on)
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, f"this is a bug in gendermark, not your mistake: {fault!r}")

    def _allowed_path(self) -> str:
        if not self.server.is_ours(self.headers.get("Host", "")):
            raise _Refusal(HTTPStatus.FORBIDDEN, "this server does not have that name")
        path = self.path.partition("?")[0].removeprefix("/")
        first, _, rest = path.partition("/")
        if self.command == "GET" and (
            (first == "open" and self.server.redeem(rest)) or (not rest and _is_equal(first, self.server.token))
        ):
            return _TO_PAGE
        if not self.server.knows(self.headers.get("Cookie", "")):
            raise _Refusal(HTTPStatus.FORBIDDEN, "this browser is not known here; open the address that was printed")
        return path

    def _let_in(self) -> None:
        """The cookie for the token, and on to the page."""
        cookie = f"{self.server.cookie}; HttpOnly; SameSite=Strict; Path=/"
        origin = self.headers.get("Sec-Fetch-Site", "cross-site" if self.server.is_open_to_others else "none")
        if origin == "cross-site":  # by a link in a mail: a redirect would still be that site's, and have no cookie
            page = b'<!doctype html><meta http-equiv="refresh" content="0; url=/"><a href="/">Go on</a>'
            self._send(HTTPStatus.OK, "text/html", page, **{"Set-Cookie": cookie})
        else:
            self._send(HTTPStatus.SEE_OTHER, "text/plain", b"", Location="/", **{"Set-Cookie": cookie})

    def _get(self, path: str) -> None:
        if path == _TO_PAGE:
            self._let_in()
        elif file := self.server.site.files.get(path):
            made = file if isinstance(file, File) else file()
            self._send(HTTPStatus.OK, made.kind, made.content)
        elif read := self.server.site.reads.get(path):
            self._send_json(HTTPStatus.OK, read(dict(parse_qsl(self.path.partition("?")[2], keep_blank_values=True))))
        elif path in self.server.site.writes:
            self._no_such_method(path)
        else:
            raise _Refusal(HTTPStatus.NOT_FOUND, "there is nothing here")

    def _post(self, path: str) -> None:
        if self.headers.get("Origin", "").partition("://")[2] != self.headers["Host"]:
            raise _Refusal(HTTPStatus.FORBIDDEN, "only the page of this server may write here")
        write = self.server.site.writes.get(path)
        if write is None:
            self._no_such_method(path)
            return
        self._send_json(HTTPStatus.OK, write(self._sent()))

    def _sent(self) -> Mapping[str, Any]:
        if self.headers.get_content_type() != "application/json":
            raise _Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "only JSON is taken here")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()):
            raise _Refusal(HTTPStatus.LENGTH_REQUIRED, "the length is not told")
        if len(length) > _MOST_DIGITS or int(length) > LONGEST_BODY:
            raise _Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {LONGEST_BODY:,} bytes are not taken")
        try:
            value = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise _Refusal(HTTPStatus.BAD_REQUEST, "this is not a JSON object")
        return value

    def _no_such_method(self, path: str) -> None:
        allowed = "POST" if path in self.server.site.writes else "GET"
        self._fail(HTTPStatus.METHOD_NOT_ALLOWED, f"{self.command} is not possible here", Allow=allowed)

    # -- on the wire ---------------------------------------------------------------------------------------------------

    def _fail(self, status: HTTPStatus, reason: str, **headers: str) -> None:
        # What else was sent has not been read; the next request would begin in the middle of it.
        self.close_connection = True
        self._send_json(status, {"error": reason}, Connection="close", **headers)

    def _send_json(self, status: HTTPStatus, value: Any, **headers: str) -> None:
        self._send(status, "application/json", json.dumps(value, ensure_ascii=True).encode(), **headers)

    def _send(self, status: HTTPStatus, kind: str, content: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", self.server.site.policy)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        super().end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 (the name of the base class)
        """Nothing: addresses hold the token."""
