"""The small web server: who may come in, what can be reached, and what every answer says."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

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
    files={
        "": File("text/html", "<p>¿Qué?".encode()),
        "a.js": File("text/javascript", b"1"),
        "new": lambda: File("x/y", b"2"),
    },
    reads={"echo": dict, "complain": _complain, "break": _break},
    writes={"keep": _keep},
)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Ask = Callable[..., Answer]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(SITE) as opened:
        thread = threading.Thread(target=opened.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield opened
        opened.shutdown()
        thread.join()


@pytest.fixture
def ask(server: Server) -> Ask:
    """`ask(path)` as a browser that was let in; `ask(at="/...")` as any other. Headers without a value are left out."""

    def ask_(path: str = "", *, at: str = "", method: str = "GET", body: Any = None, **headers: str) -> Answer:
        port = server.server_address[1]
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        given = {"Host": f"127.0.0.1:{port}", "Cookie": "" if at else f"a=b; {server.cookie}; c"}
        if content is not None:
            given |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
            given["Origin"] = f"http://127.0.0.1:{port}"
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
            connection.putrequest(method, at or f"/{path}", skip_host=True, skip_accept_encoding=True)
            for name, value in given.items():
                if value:
                    connection.putheader(name, value)
            connection.endheaders(content)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())

    return ask_


# -- what is served ----------------------------------------------------------------------------------------------------


def test_the_page_its_files_and_what_is_made_when_asked(ask: Ask) -> None:
    page = ask()
    assert (page.status, page.body.decode()) == (200, "<p>¿Qué?")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert (ask("a.js").body, ask("new").body) == (b"1", b"2")


def test_reads_get_the_fields_of_the_query(ask: Ask) -> None:
    assert ask("echo?text=%C3%A9%20%26&empty=&text=last").json == {"text": "last", "empty": ""}


def test_writes_get_the_object(ask: Ask) -> None:
    kept.clear()
    assert ask("keep", method="POST", body={"a": "é"}).json == {"n": 1}
    assert kept == [{"a": "é"}]


@pytest.mark.parametrize("path", ["", "a.js", "echo", "nothing", "complain?what=x"])
def test_every_answer_forbids_what_a_page_should_not_do(ask: Ask, path: str) -> None:
    headers = ask(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "python" not in headers["server"].lower()
    assert "access-control-allow-origin" not in headers


def test_mistakes_are_sentences_and_faults_do_not_end_the_server(ask: Ask, capfd: pytest.CaptureFixture[str]) -> None:
    assert (ask("complain?what=this").status, ask("complain?what=this").json) == (
        400,
        {"error": "this is wrong; try another"},
    )
    fault = ask("break")
    assert fault.status == 500
    assert "ZeroDivisionError" in fault.json["error"]
    assert ask().status == 200
    assert capfd.readouterr() == ("", "")


# -- who may come in ---------------------------------------------------------------------------------------------------


def test_the_token_is_long_and_another_one_each_time(server: Server) -> None:
    with Server(SITE) as other:
        assert other.token != server.token
        assert len(other.token) >= 32
    assert server.url == f"http://127.0.0.1:{server.server_address[1]}/{server.token}/"


@pytest.mark.parametrize("path", ["/", "/x/", "//", "/?", "/a.js", "/TOKEN", "/open/x", "/open/", "/%C3%A9/"])
def test_without_the_token_nothing_is_told(ask: Ask, path: str) -> None:
    answer = ask(at=path)
    assert answer.status == 403
    assert set(answer.json) == {"error"}


def test_a_part_of_the_token_is_not_enough(ask: Ask, server: Server) -> None:
    assert ask(at=f"/{server.token[:-1]}/").status == 403
    assert ask(at=f"/{server.token}x/").status == 403
    assert ask(at=f"/x?{server.token}/").status == 403
    assert ask("keep", at="/x/keep", method="POST", body={}).status == 403
    for cookie in (server.cookie[:-1], server.cookie + "x", server.cookie.partition("=")[2], "gendermark=", "é"):
        assert ask(Cookie=cookie.encode().decode("latin-1")).status == 403
        assert ask("keep", method="POST", body={}, Cookie=cookie.encode().decode("latin-1")).status == 403


@pytest.mark.parametrize("slash", ["", "/"])
def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address(ask: Ask, server: Server, slash: str) -> None:
    answer = ask(at=f"/{server.token}{slash}")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert answer.headers["set-cookie"] == f"{server.cookie}; HttpOnly; SameSite=Strict; Path=/"
    assert server.token not in answer.headers["set-cookie"]
    assert ask(at="/").status == 403
    assert ask(at="/", Cookie=server.cookie).status == 200
    # The token lets in, and does nothing else.
    assert ask(at=f"/{server.token}/echo").status == 403
    assert ask(at=f"/{server.token}/", method="POST", body={}).status == 403


def test_a_link_on_another_site_leads_in_too(ask: Ask, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a redirect from there, a browser would keep the cookie back; from a page of ours it does not."""
    answer = ask(at=f"/{server.token}/", Sec_Fetch_Site="cross-site")
    assert (answer.status, "location" in answer.headers) == (200, False)
    assert b'content="0; url=/"' in answer.body
    assert answer.headers["set-cookie"].startswith(server.cookie)
    monkeypatch.setattr(Server, "is_open_to_others", True)  # there browsers do not say where a visit comes from
    assert ask(at=f"/{server.token}/").status == 200


def test_the_cookie_is_that_of_the_token(server: Server) -> None:
    with Server(SITE, token=server.token) as again, Server(SITE) as other:
        values = [one.cookie.partition("=")[2] for one in (server, again, other)]
    assert values[0] == values[1] != values[2]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "192.0.2.1", "", "[", "localhost.evil"]
)
def test_another_name_for_this_computer_is_refused(ask: Ask, host: str) -> None:
    """What a page of another site could do by letting its own name point here."""
    assert ask(Host=host).status == 403
    assert ask("keep", method="POST", body={}, Host=host, Origin=f"http://{host}").status == 403


@pytest.mark.parametrize("host", ["localhost:9999", "LOCALHOST", "[::1]:80", "127.0.0.1"])
def test_the_names_of_this_computer_are_taken_whatever_the_port(ask: Ask, host: str) -> None:
    """`ssh -L 9999:localhost:PORT` has another port on this side."""
    assert ask(Host=host).status == 200


def test_open_to_others_addresses_are_taken_and_names_are_not(
    ask: Ask, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not server.is_open_to_others
    monkeypatch.setattr(Server, "is_open_to_others", True)
    monkeypatch.setattr(socket, "gethostname", lambda: "Lab-7")
    assert ask(Host="192.0.2.1:80").status == 200
    assert ask(Host="lab-7").status == 200
    assert ask(Host="evil.example").status == 403


def test_a_browser_is_let_in_once_by_another_address(ask: Ask, server: Server) -> None:
    path = server.launch_url().removeprefix(server.url.removesuffix(f"{server.token}/"))
    assert server.token not in path
    assert ask(at=f"/{path}x").status == 403
    first = ask(at=f"/{path}")
    assert (first.status, first.headers["location"]) == (303, "/")
    assert first.headers["set-cookie"].startswith(f"{server.cookie}; HttpOnly")
    assert ask(at=f"/{path}").status == 403


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_get_and_post(ask: Ask, method: str) -> None:
    for path in ("", "echo", "keep"):
        assert ask(path, method=method).status == 405
    assert ask(method="BREW").status == 501


def test_what_is_read_is_not_written_and_the_other_way_round(ask: Ask) -> None:
    answer = ask("keep")
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    answer = ask("echo", method="POST", body={})
    assert (answer.status, answer.headers["allow"]) == (405, "GET")


@pytest.mark.parametrize(
    "origin", ["", "null", "http://evil.example", "http://127.0.0.1", "http://localhost:1", "[", "://"]
)
def test_pages_of_other_sites_cannot_write(ask: Ask, origin: str) -> None:
    kept.clear()
    assert ask("keep", method="POST", body={}, Origin=origin).status == 403
    assert kept == []


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        ({}, {"Content_Type": "text/plain"}, 415),
        ({}, {"Content_Type": ""}, 415),
        ({}, {"Content_Length": ""}, 411),
        ({}, {"Content_Length": "-1"}, 411),
        ({}, {"Content_Length": "9" * 5_000}, 413),
        ({}, {"Content_Length": "٣"}, 411),
        ({"a": "x" * LONGEST_BODY}, {}, 413),
        ([], {}, 400),
        (b"{", {}, 400),
        (b"\xff", {}, 400),
        (b"[" * 60_000, {}, 400),
    ],
)
def test_what_is_not_a_small_json_object_is_refused(ask: Ask, body: Any, headers: dict[str, str], status: int) -> None:
    kept.clear()
    headers = {name: value.encode().decode("latin-1") for name, value in headers.items()}
    assert ask("keep", method="POST", body=body, **headers).status == status
    assert kept == []
    assert ask().status == 200


# -- paths -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "../../../../etc/passwd",
        "..%2f..%2fetc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        "....//etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "..\\..\\windows\\win.ini",
        "server.py",
        "a.js/",
        "a.js%00.html",
        "__init__.py",
    ],
)
def test_no_path_leads_to_a_file(ask: Ask, path: str) -> None:
    answer = ask(path)
    assert answer.status == 404
    assert answer.json == {"error": "there is nothing here"}


# -- opening -----------------------------------------------------------------------------------------------------------


def test_a_port_that_is_taken(server: Server) -> None:
    port = server.server_address[1]
    with pytest.raises(UserError, match=rf"^cannot listen on 127\.0\.0\.1, port {port}: .*--port") as caught:
        Server(SITE, port=port)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("host", ["192.0.2.1", "::zz", "a" * 300])
def test_a_host_that_is_not_ours(host: str) -> None:
    with pytest.raises(UserError, match=r"^cannot listen on "):
        Server(SITE, host)


def test_a_browser_that_goes_away_is_no_event(server: Server, ask: Ask, capfd: pytest.CaptureFixture[str]) -> None:
    for sent in (
        b"",
        b"GET /",
        b"GET / HTTP/1.1\r\nHost: x",
        b"\x16\x03\x01\r\n\r\n",
        f"GET /{server.token}/ HTTP/1.1\r\n".encode(),
    ):
        with socket.create_connection(server.server_address[:2]) as connection:
            connection.sendall(sent)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset, not closed
    assert ask().status == 200
    assert capfd.readouterr() == ("", "")
