"""A translation server on the loopback that counts what it is asked for, and misbehaves on request.

It speaks as LibreTranslate and as OpenAI's chat interface does. The steps by which it misbehaves are those of
`systems.servers`, and some more.
"""

from __future__ import annotations

import codecs
import gzip
import json
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from systems import servers
from systems.servers import Asked, Server, Step

JUST_SENT_SECONDS = 0.25
"""An answer that was sent so shortly before a kill may not have been made safe yet: it counts as under way."""
CHAT, TRANSLATE = "/v1/chat/completions", "/translate"


def translation_of(source: str) -> str:
    """In the language of the tiny benchmark; the source can be read off it again."""
    return f"{'ella' if ' her ' in source else 'el'} {codecs.encode(source, 'rot13')}"


@dataclass
class Paid:
    """One sentence that was asked for."""

    source: str
    sent: float = 0.0
    """When its answer was; 0 while it is not."""


@dataclass
class Translator:
    """The server, and its books."""

    server: Server
    seconds: float = 0.0
    """That each request takes."""
    translate: Callable[[str], str] = translation_of
    book: list[Paid] = field(default_factory=list)
    keys: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def asked(self) -> list[str]:
        with self.lock:
            return [paid.source for paid in self.book]

    def under_way(self) -> int:
        """Sentences that were asked for and whose answers nobody can have made safe yet."""
        limit = time.monotonic() - JUST_SENT_SECONDS
        with self.lock:
            return sum(not paid.sent or paid.sent > limit for paid in self.book)

    def good(self, asked: Asked) -> Any:
        sources = sources_of(asked)
        paid = [Paid(source) for source in sources]
        with self.lock:
            self.book += paid
            self.keys[asked.headers.get("authorization", "").removeprefix("Bearer ") or _key_in(asked)] += 1
        if self.seconds and sources:
            time.sleep(self.seconds)
        for one in paid:
            one.sent = time.monotonic()
        return answer_to(asked, list(map(self.translate, sources)))

    def script(self, *steps: Step) -> None:
        self.server.script(*steps)


def sources_of(asked: Asked) -> list[str]:
    if asked.path == CHAT:
        return [asked.json["messages"][-1]["content"]]
    return list(asked.json["q"]) if asked.path == TRANSLATE else []


def answer_to(asked: Asked, translations: list[str]) -> Any:
    """As the server of that path says it."""
    if asked.path == CHAT:
        message = {"role": "assistant", "content": translations[0]}
        return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {"total_tokens": 9}}
    if asked.path == TRANSLATE:
        return {"translatedText": translations}
    if asked.path.endswith("/models"):
        return {"object": "list", "data": [{"id": "tiny"}]}
    return [{"code": "en", "name": "English", "targets": ["xx", "yy"]}, {"code": "xx", "targets": ["en"]}]


def _key_in(asked: Asked) -> str:
    return str(asked.json.get("api_key", "")) if asked.path == TRANSLATE else ""


@contextmanager
def translating(seconds: float = 0.0) -> Iterator[Translator]:
    holder: list[Translator] = []
    with servers.serving(lambda asked: holder[0].good(asked)) as server:
        holder.append(Translator(server, seconds))
        yield holder[0]


# -- how a run names it ------------------------------------------------------------------------------------------------


def prompt(directory: Path) -> Path:
    """The tiny benchmark's languages have no names, which a prompt usually has."""
    path = directory / "prompt.txt"
    path.write_text("{source}")
    return path


def run_arguments(family: str, url: str, directory: Path, place: Path, **options: str) -> list[str]:
    """`gendermark run` of the tiny benchmark by this server, into `run` and `store.sqlite` of a place."""
    system = f"openai:{url}/v1#tiny" if family == "openai" else f"libretranslate:{url}"
    if family == "openai":
        options["prompt"] = str(prompt(directory))
    given = [f"--system-option={name}={value}" for name, value in options.items()]
    # The server answers with its sources, in capitals.
    arguments = [
        "run",
        "--system",
        system,
        "--to",
        "xx",
        "--data",
        "core",
        "--benchmark",
        "tiny",
        "--accept-unsound",
        *given,
    ]
    arguments += ["--resamples", "100", "--store", str(place / "store.sqlite")]
    return [*arguments, "-o", str(place / "run")]


# -- more ways to misbehave --------------------------------------------------------------------------------------------


def reset(server: Server, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
    """The connection is reset in the middle of an answer, not closed."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def packed(body: bytes, times: int = 1, encoding: str = "gzip") -> Step:
    for _ in range(times):
        body = gzip.compress(body)
    return servers.says(body, Content_Encoding=encoding)


def raw(content: bytes) -> Step:
    """These very bytes, header and all, and the end."""

    def send(server: Server, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        handler.close_connection = True
        handler.wfile.write(content)
        handler.wfile.flush()

    return send


def twisted(twist: Callable[[Any], Any]) -> Step:
    """The good answer, changed. What it would have said was not given, so it was not paid for."""

    def send(server: Server, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        good = answer_to(asked, list(map(translation_of, sources_of(asked))))
        servers.send(handler, 200, json.dumps(twist(good)).encode())

    return send


@contextmanager
def listening(answer: bytes, wrap: Callable[[socket.socket], socket.socket] = lambda one: one) -> Iterator[int]:
    """A port where every connection is answered by these bytes, whatever it asks: no TLS, for example."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        end = threading.Event()

        def serve() -> None:
            while not end.is_set():
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(1)
                    try:
                        with wrap(connection) as talking:
                            talking.recv(4096)
                            talking.sendall(answer)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        end.set()
        socket.create_connection(listener.getsockname()).close()
        thread.join()


@contextmanager
def self_signed(path: Path) -> Iterator[int]:
    """The port of a TLS server that nobody vouches for; 0 where no certificate can be made."""
    key = path.with_suffix(".key")
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    made += ["-subj", "/CN=127.0.0.1", "-days", "1", "-keyout", str(key), "-out", str(path)]
    if shutil.which("openssl") is None or subprocess.run(made, capture_output=True, check=False).returncode:
        yield 0
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, key)
    with listening(b"", lambda one: context.wrap_socket(one, server_side=True)) as port:
        yield port
