"""A small web server for one browser, or a few trusted people, from the standard library alone.

Every address starts with a random token, which pages of other sites in the same browser cannot know: they can neither
read here nor write. A `Site` lists everything that is served, so no request reaches a file.
"""

from __future__ import annotations

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
from urllib.parse import parse_qsl

from gendermark.errors import UserError

LOOPBACK = "127.0.0.1"
LONGEST_BODY = 64 * 1024
"""Bytes of one write: an answer and a comment."""
_EVERYWHERE = frozenset({"", "0.0.0.0", "::"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class File:
    """A static response."""

    kind: str
    """Media type."""
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class Site:
    """Everything that can be requested, by path; the page itself has the empty path.

    Reads get the query fields, writes the sent object; return values are sent as JSON. A `UserError` is sent as its
    sentence.
    """

    files: Mapping[str, File | Callable[[], File]]
    """Static, or made for each request."""
    reads: Mapping[str, Callable[[Mapping[str, str]], Any]] = field(default_factory=dict)
    writes: Mapping[str, Callable[[Mapping[str, Any]], Any]] = field(default_factory=dict)
    policy: str = POLICY
    """The Content-Security-Policy of the page."""


class _Refusal(Exception):
    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Server(ThreadingHTTPServer):
    """Listens once created; answers during `serve_forever`. Close it afterwards."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, site: Site, host: str = LOOPBACK, port: int = 0, token: str = "") -> None:
        self.site, self.host = site, host
        self.token = token or secrets.token_urlsafe(24)
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError, UnicodeError) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise UserError(
                f"cannot listen on {host}, port {port}: {reason}; choose another --port or --host"
            ) from None

    @property
    def is_open_to_others(self) -> bool:
        return not ipaddress.ip_address(str(self.server_address[0]).partition("%")[0]).is_loopback

    @property
    def url(self) -> str:
        """The address for users, including the token."""
        host = socket.gethostname() if self.host in _EVERYWHERE else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_address[1]}/{self.token}/"

    def server_bind(self) -> None:
        """Bind without a slow lookup of our own name."""
        TCPServer.server_bind(self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that have disconnected."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "gendermark", ""
    timeout = 60
    """Seconds of silence before a connection is closed."""
    server: Server

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, work: Callable[[str], None]) -> None:
        try:
            token, slash, path = self.path.partition("?")[0].removeprefix("/").partition("/")
            if not slash or not hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode()):
                raise _Refusal(HTTPStatus.FORBIDDEN, "open the address that was printed")
            work(path)
        except _Refusal as refusal:
            self._fail(refusal.status, str(refusal))
        except UserError as problem:
            self._fail(HTTPStatus.BAD_REQUEST, str(problem))
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception as fault:  # noqa: BLE001 (a bug of ours; the page says so, and the server goes on)
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, f"this is a bug in gendermark, not your mistake: {fault!r}")

    def _get(self, path: str) -> None:
        site = self.server.site
        if file := site.files.get(path):
            made = file if isinstance(file, File) else file()
            self._send(HTTPStatus.OK, made.kind, made.content)
        elif read := site.reads.get(path):
            self._send_json(HTTPStatus.OK, read(dict(parse_qsl(self.path.partition("?")[2], keep_blank_values=True))))
        else:
            raise _Refusal(HTTPStatus.NOT_FOUND, "no such page")

    def _post(self, path: str) -> None:
        write = self.server.site.writes.get(path)
        if write is None:
            raise _Refusal(HTTPStatus.NOT_FOUND, "no such page")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal() and len(length) < 10 and int(length) <= LONGEST_BODY):
            raise _Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"send at most {LONGEST_BODY:,} bytes")
        try:
            sent = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            sent = None
        if not isinstance(sent, dict):
            raise _Refusal(HTTPStatus.BAD_REQUEST, "send a JSON object")
        self._send_json(HTTPStatus.OK, write(sent))

    def _fail(self, status: HTTPStatus, reason: str) -> None:
        # The rest of the request is unread, and would be taken for the next one.
        self.close_connection = True
        self._send_json(status, {"error": reason}, Connection="close")

    def _send_json(self, status: HTTPStatus, value: Any, **headers: str) -> None:
        self._send(status, "application/json", json.dumps(value, ensure_ascii=True).encode(), **headers)

    def _send(self, status: HTTPStatus, kind: str, content: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", self.server.site.policy)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        super().end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 (the name of the base class)
        """Log nothing: addresses contain the token."""
