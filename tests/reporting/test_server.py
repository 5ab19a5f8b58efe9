"""The small web server: who may come in, what can be reached, and what every answer says."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple

import pytest

from gendermark.errors import UserError
from gendermark.reporting.server import LONGEST_BODY, File, Server, Site

kept: list[Mapping[str, Any]] = []


def _complain(query: Mapping[str, str]) -> None:
    raise UserError(f"{query['what']} is wrong; try another")


def _break(query: Mapping[str, str]) -> None:
    raise ZeroDivisionError


def _keep(sent: Mapping[str, Any]) -> dict[str, int]:
    kept.append(sent)
    return {"n": len(kept)}


SITE = Site(
    files={"": File("text/html", "<p>¿Qué?".encode()), "new": lambda: File("x/y", b"2")},
    reads={"echo": dict, "complain": _complain, "break": _break},
    writes={"keep": _keep},
)


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Ask = Callable[..., Answer]


@pytest.fixture
def server() -> Iterator[Server]:
    kept.clear()
    with Server(SITE) as opened:
        thread = threading.Thread(target=opened.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield opened
        opened.shutdown()
        thread.join()


@pytest.fixture
def ask(server: Server) -> Ask:
    """`ask(path)` below the token; `ask(at="/...")` anywhere. Headers without a value are left out."""

    def ask_(path: str = "", *, at: str = "", method: str = "GET", body: Any = None, **headers: str) -> Answer:
        port = server.server_address[1]
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        given = {"Host": f"127.0.0.1:{port}"}
        if content is not None:
            given |= {"Content-Length": str(len(content))}
        given |= {name.replace("_", "-"): value.encode().decode("latin-1") for name, value in headers.items()}
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
            connection.putrequest(method, at or f"/{server.token}/{path}", skip_host=True, skip_accept_encoding=True)
            for name, value in given.items():
                if value:
                    connection.putheader(name, value)
            connection.endheaders(content)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())

    return ask_


def test_what_is_served(ask: Ask, capfd: pytest.CaptureFixture[str]) -> None:
    page = ask()
    assert (page.status, page.body.decode()) == (200, "<p>¿Qué?")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert ask("new").body == b"2"
    assert ask("echo?text=%C3%A9%20%26&empty=&text=last").json == {"text": "last", "empty": ""}
    assert ask("keep", method="POST", body={"a": "é"}).json == {"n": 1}
    assert kept == [{"a": "é"}]
    assert ask("complain?what=this")[::2] == (400, b'{"error": "this is wrong; try another"}')
    assert (ask("break").status, ask().status) == (500, 200)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("path", ["", "echo", "nothing", "complain?what=x"])
def test_every_answer_forbids_what_a_page_should_not_do(ask: Ask, path: str) -> None:
    headers = ask(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("path", ["/", "/x/", "//", "/?", "/new", "/%C3%A9/", "/x?{token}/", "/{token}", "/{token}x/"])
def test_without_the_token_nobody_comes_in(ask: Ask, server: Server, path: str) -> None:
    assert ask(at=path.format(token=server.token)).status == 403
    assert ask(at=path.format(token=server.token), method="POST", body={}).status == 403
    assert kept == []


def test_the_printed_address_opens_the_page(ask: Ask, server: Server) -> None:
    assert server.url == f"http://127.0.0.1:{server.server_address[1]}/{server.token}/"
    assert len(server.token) >= 32
    assert ask(at=f"/{server.token}/").body.decode() == "<p>¿Qué?"
    with Server(SITE) as other:
        assert other.token != server.token


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        *(({}, {"Content_Length": length}, 413) for length in ("", "-1", "9" * 5_000, "٣")),
        ({"a": "x" * LONGEST_BODY}, {}, 413),
        ([], {}, 400),
        (b"{", {}, 400),
        (b"\xff", {}, 400),
        (b"[" * 60_000, {}, 400),
    ],
)
def test_only_small_objects_are_written(ask: Ask, body: Any, headers: Any, status: int) -> None:
    assert ask("keep", method="POST", body=body, **headers).status == status
    assert kept == []
    assert ask().status == 200


def test_no_path_leads_to_a_file_and_no_other_method_works(ask: Ask) -> None:
    for path in ("../../etc/passwd", "..%2f..%2fetc/passwd", "/etc/passwd", "file:///etc/passwd", "server.py", "keep"):
        assert ask(path).status == 404
    assert ask("echo", method="POST", body={}).status == 404
    assert ask(method="DELETE").status == 501


@pytest.mark.parametrize("host", ["192.0.2.1", "::zz", "a" * 300, ""])
def test_an_address_that_cannot_be_had(server: Server, host: str) -> None:
    port = 0 if host else server.server_address[1]
    with pytest.raises(UserError, match=r"^cannot listen on .*--port"):
        Server(SITE, host or "127.0.0.1", port)
