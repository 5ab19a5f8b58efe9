"""Downloads from a server that does its worst."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import gendermark
from gendermark.data import cache, download
from gendermark.errors import DataUnavailable, UserError
from gendermark.io import deadlines, locks
from runs.children import wait_until

BROKEN_OFF = 3_000
A = "data/a.txt"

FETCH = """
import sys
from pathlib import Path
from gendermark.data import cache
from gendermark.data.card import parse_card

card = parse_card(Path(sys.argv[1]).read_text(encoding="utf-8"), "toy")
said = Path(sys.argv[2])
paths = cache.fetch(card, card.revisions[0], card.revisions[0].files, say=lambda text: said.write_text(text))
print(*(len(path.read_bytes()) for path in paths.values()))
"""


def start_fetch(toy: Any, tmp_path: Path, name: str) -> subprocess.Popen[str]:
    """`fetch` of all files in a process of its own; what it says goes to the file `name`."""
    card = tmp_path / "toy.toml"
    card.write_text(toy.text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(gendermark.__file__).parents[1])}
    command = [sys.executable, "-c", FETCH, str(card), str(tmp_path / name)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def part(toy: Any, path: str = A) -> Path:
    place: Path = toy.place(path)
    return place.with_name(f"{place.name}.part")


def content(toy: Any, tmp_path: Path, path: str = A) -> bytes:
    found: bytes = (toy.fill(tmp_path / "original") / "owner" / "repo" / toy.revision.commit / path).read_bytes()
    return found


def refusal(toy: Any, kind: type[UserError] = DataUnavailable) -> str:
    """The one sentence a fetch is refused with; nothing half-made is left in the place of the file."""
    with pytest.raises(kind) as caught:
        toy.fetch()
    assert not toy.place().exists()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_good_file_is_fetched_once_and_leaves_no_part(toy: Any, server: Any, tmp_path: Path) -> None:
    assert toy.fetch() == toy.fetch() == content(toy, tmp_path)
    assert server.requests == [(A, None)]
    assert not part(toy).exists()


def test_without_a_mirror_the_authors_repository_is_asked(
    toy: Any, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert download.HOST == "https://raw.githubusercontent.com"
    monkeypatch.setattr(download, "HOST", server.url)
    monkeypatch.delenv("GENDERMARK_DATA_MIRROR")
    assert toy.fetch() == content(toy, tmp_path)


def test_progress_ends_with_the_whole_size_only_when_verified(toy: Any, server: Any) -> None:
    seen: list[int] = []
    cache.fetch(toy.card, toy.revision, [toy.file()], progress=lambda _, n_bytes: seen.append(n_bytes))
    assert seen == sorted(seen)
    assert seen[-1] == toy.file().size
    server.steps[A] = [server.other(b"x" * toy.file().size)]
    toy.place().unlink()
    seen.clear()
    with pytest.raises(DataUnavailable):
        cache.fetch(toy.card, toy.revision, [toy.file()], progress=lambda _, n_bytes: seen.append(n_bytes))
    assert toy.file().size not in seen


def test_a_hang_up_is_resumed_and_no_byte_is_fetched_twice(toy: Any, server: Any, tmp_path: Path) -> None:
    server.steps[A] = [server.hang_up, server.good]
    said: list[str] = []
    assert toy.fetch(said=said) == content(toy, tmp_path)
    assert server.requests == [(A, None), (A, f"bytes={BROKEN_OFF}-")]
    assert server.n_sent == toy.file().size
    assert said == ["data/a.txt: attempt 1 of 3 failed; trying again"]


def test_a_server_that_ignores_range_is_read_from_the_start(toy: Any, server: Any, tmp_path: Path) -> None:
    server.steps[A] = [server.hang_up, server.ignore_range]
    assert toy.fetch() == content(toy, tmp_path)
    assert server.n_sent == BROKEN_OFF + toy.file().size


@pytest.mark.parametrize(
    ("status", "headers"),
    [(416, {}), (206, {"Content_Range": "bytes 7-9/10"}), (206, {})],
    ids=["416", "another range", "no range"],
)
def test_a_range_that_is_refused_starts_again(
    toy: Any, server: Any, tmp_path: Path, status: int, headers: dict[str, str]
) -> None:
    server.steps[A] = [server.hang_up, server.status(status, **headers), server.good]
    assert toy.fetch() == content(toy, tmp_path)
    assert server.requests[-1] == (A, None)


@pytest.mark.parametrize("n_bytes", [10, 150_000, 200_000], ids=["shorter", "whole", "longer"])
def test_a_part_with_wrong_bytes_is_thrown_away(toy: Any, server: Any, tmp_path: Path, n_bytes: int) -> None:
    assert toy.file().size == 150_000
    part(toy).parent.mkdir(parents=True)
    part(toy).write_bytes(b"x" * n_bytes)
    assert toy.fetch() == content(toy, tmp_path)
    assert server.requests[-1] == (A, None)


def test_a_truncated_file_is_refused(toy: Any, server: Any) -> None:
    server.steps[A] = [server.hang_up, server.status(206, Content_Range=f"bytes {BROKEN_OFF}-149999/150000")]
    sentence = refusal(toy)
    assert f"{server.url}/owner/repo/{toy.revision.commit}/data/a.txt ended after 3,000 of 150,000 bytes" in sentence
    assert "correct GENDERMARK_DATA_MIRROR, or unset it" in sentence
    assert len(server.requests) == 3


def test_a_shorter_file_is_refused(toy: Any, server: Any) -> None:
    server.steps[A] = [server.other(b"short"), server.status(416), server.other(b"short")]
    assert "ended after 5 of 150,000 bytes (no more came)" in refusal(toy)


def test_a_wrong_hash_is_refused_and_the_part_deleted(toy: Any, server: Any) -> None:
    server.steps[A] = [server.other(b"x" * toy.file().size)]
    sentence = refusal(toy)
    assert f"/owner/repo/{toy.revision.commit}/data/a.txt is not the data/a.txt of its card" in sentence
    got = hashlib.sha256(b"x" * toy.file().size).hexdigest()
    assert f"(SHA-256 expected {toy.file().sha256}, got {got}); " in sentence
    assert sentence.endswith("correct GENDERMARK_DATA_MIRROR, or unset it to use https://raw.githubusercontent.com")
    assert not part(toy).exists()
    assert len(server.requests) == 1  # the same bytes would come again


def test_the_remedy_without_a_mirror_is_a_mirror(toy: Any, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "HOST", server.url)
    monkeypatch.delenv("GENDERMARK_DATA_MIRROR")
    server.steps[A] = [server.status(404)]
    assert refusal(toy).endswith(
        "answers HTTP 404 (Not Found); try again later, or set GENDERMARK_DATA_MIRROR to a directory or URL "
        "that holds the official data"
    )


def test_404_is_said_at_once(toy: Any, server: Any) -> None:
    server.steps[A] = [server.status(404)]
    assert "data/a.txt answers HTTP 404 (Not Found); correct GENDERMARK_DATA_MIRROR" in refusal(toy)
    assert len(server.requests) == 1


def test_500_is_tried_again(toy: Any, server: Any, tmp_path: Path) -> None:
    server.steps[A] = [server.status(500), server.good]
    assert toy.fetch() == content(toy, tmp_path)


def test_500_for_ever_is_said(toy: Any, server: Any) -> None:
    server.steps[A] = [server.status(503)]
    assert "answers HTTP 503 (Service Unavailable)" in refusal(toy)
    assert len(server.requests) == 3


def test_each_attempt_waits_twice_as_long(toy: Any, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(download, "PATIENCE", download.Patience(attempts=4, backoff_seconds=0.5))
    monkeypatch.setattr(download.time, "sleep", waits.append)
    server.steps[A] = [server.status(500)]
    refusal(toy)
    assert waits == [0.5, 1.0, 2.0]


def test_a_silent_server_times_out(toy: Any, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "PATIENCE", download.Patience(attempts=1, timeout_seconds=0.2))
    server.steps[A] = [server.stall]
    assert "ended after 3,000 of 150,000 bytes (" in refusal(toy)


def test_headers_that_drip_are_not_waited_for(toy: Any, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "PATIENCE", download.Patience(attempts=1, timeout_seconds=0.5))
    server.steps[A] = [server.drip]
    started = time.monotonic()
    assert "ended after 0 of 150,000 bytes (" in refusal(toy)
    assert time.monotonic() - started < 5


def test_a_slow_download_has_the_time_that_its_bytes_need(
    toy: Any, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is for a server that sends nothing of use, not for one that sends slowly."""
    patience = download.Patience(attempts=1, timeout_seconds=0.5, slowest_bytes_per_second=1_000)
    monkeypatch.setattr(download, "PATIENCE", patience)
    threading.Timer(1.0, server.go_on.set).start()
    monkeypatch.setattr(download, "_open_client", lambda: deadlines.bounded(httpx.Client(timeout=5)))
    server.steps[A] = [server.stall]
    assert toy.fetch() == content(toy, tmp_path)


def test_an_endless_body_is_cut_off(toy: Any, server: Any) -> None:
    server.steps[A] = [server.endless]
    assert "data/a.txt sends more than the 150,000 bytes on its card; correct" in refusal(toy)
    assert not part(toy).exists()
    assert len(server.requests) == 1


def test_a_redirect_within_the_web_is_followed(toy: Any, server: Any, tmp_path: Path) -> None:
    server.steps[A] = [server.status(302, Location="/elsewhere"), server.good]
    server.steps["/elsewhere"] = [lambda handler, _: server.good(handler, content(toy, tmp_path))]
    assert toy.fetch() == content(toy, tmp_path)


def test_a_redirect_out_of_the_web_is_refused(toy: Any, server: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(content(toy, tmp_path))
    server.steps[A] = [server.status(302, Location=secret.as_uri())]
    assert "data/a.txt does not lead to a file over http(s): " in refusal(toy)
    assert len(server.requests) == 1


def test_redirects_in_a_circle_are_refused(toy: Any, server: Any) -> None:
    server.steps[A] = [server.status(302, Location=f"/owner/repo/{toy.revision.commit}/{A}")]
    assert "does not lead to a file over http(s): Exceeded maximum allowed redirects" in refusal(toy)


def test_offline_names_what_works_without_a_network(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    monkeypatch.setattr(download, "HOST", f"http://127.0.0.1:{port}")
    sentence = refusal(toy)
    assert sentence.startswith(f"no connection to 127.0.0.1:{port} (")
    assert "without a network use --data core, which needs none" in sentence
    assert sentence.endswith("or set GENDERMARK_DATA_MIRROR to a directory or URL that holds the official data")


def test_a_password_in_the_mirror_is_not_shown(toy: Any, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", server.url.replace("//", "//me:hunter2@"))
    for step in (server.status(404), server.status(500), server.hang_up, server.endless):
        server.steps[A] = [step]
        sentence = refusal(toy)
        assert "hunter2" not in sentence
        assert server.url in sentence


def test_settings_the_client_cannot_use(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")
    assert "the proxy or certificate settings here cannot be used: " in refusal(toy)


@pytest.mark.parametrize("form", ["path", "url", "localhost"])
def test_a_mirror_directory(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    mirror = toy.fill(tmp_path / "a mirror")
    forms = {"path": str(mirror), "url": mirror.as_uri(), "localhost": mirror.as_uri().replace("///", "//localhost/")}
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", forms[form])
    assert toy.fetch() == content(toy, tmp_path)
    assert not part(toy).exists()


@pytest.mark.parametrize("mirror", ["no/such/place", "file:///no/such/place", "file://no/such/place"])
def test_a_mirror_directory_that_is_not_there(toy: Any, monkeypatch: pytest.MonkeyPatch, mirror: str) -> None:
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", mirror)
    assert refusal(toy).startswith(f"there is no directory {mirror}; correct GENDERMARK_DATA_MIRROR, or unset it")


@pytest.mark.parametrize("mirror", ["http://[::bad", "http://me:hunter2@[", "//[x"])
def test_a_mirror_that_is_no_url(toy: Any, monkeypatch: pytest.MonkeyPatch, mirror: str) -> None:
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", mirror)
    sentence = refusal(toy, UserError)
    assert sentence.startswith("GENDERMARK_DATA_MIRROR is neither a directory nor a URL (")
    assert "hunter2" not in sentence


def test_a_mirror_of_another_kind(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", "ftp://me:hunter2@host/data")
    assert refusal(toy, UserError) == (
        "GENDERMARK_DATA_MIRROR is 'ftp://host/data'; give a directory, or a URL of file://, http:// or https://"
    )


def test_a_mirror_directory_that_lacks_the_file(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", str(tmp_path))
    source = tmp_path / "owner" / "repo" / toy.revision.commit / A
    assert refusal(toy).startswith(f"the mirror lacks {source}; correct GENDERMARK_DATA_MIRROR")


@pytest.mark.parametrize("wrong", [b"", b"short", b"x" * 150_000, b"x" * 150_001])
def test_a_mirror_directory_with_another_file(
    toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: bytes
) -> None:
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", str(toy.fill(tmp_path)))
    (tmp_path / "owner" / "repo" / toy.revision.commit / A).write_bytes(wrong)
    assert f"is not the data/a.txt of its card (SHA-256 expected {toy.file().sha256}, got" in refusal(toy)
    assert not part(toy).exists()


def test_a_mirror_file_that_cannot_be_read(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", str(toy.fill(tmp_path / "mirror")))
    open_ = Path.open

    def refuse(self: Path, *args: Any, **options: Any) -> Any:
        if "mirror" in self.parts:
            raise PermissionError(13, "Permission denied", str(self))
        return open_(self, *args, **options)

    monkeypatch.setattr(Path, "open", refuse)
    assert "data/a.txt of the mirror cannot be read: Permission denied; correct" in refusal(toy)


def test_kill_in_the_middle_then_resume(toy: Any, server: Any, tmp_path: Path) -> None:
    server.steps[A] = [server.stall, server.good]
    lock = toy.place().parents[1].with_name(f"{toy.revision.commit}.lock")
    with start_fetch(toy, tmp_path, "said") as process:
        wait_until(lambda: part(toy).exists() and part(toy).stat().st_size == BROKEN_OFF, "a part was there")
        assert locks.is_held(lock)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not locks.is_held(lock)
    assert not toy.place().exists()
    assert toy.fetch() == content(toy, tmp_path)
    assert server.requests == [(A, None), (A, f"bytes={BROKEN_OFF}-")]


def test_two_processes_fetch_each_file_once(toy: Any, server: Any, tmp_path: Path) -> None:
    server.steps[A] = [server.stall]
    with start_fetch(toy, tmp_path, "said1") as first, start_fetch(toy, tmp_path, "said2") as second:
        said = [tmp_path / "said1", tmp_path / "said2"]
        wait_until(
            lambda: any(path.exists() and path.read_text().endswith("waiting for it") for path in said), "one waited"
        )
        server.go_on.set()
        assert first.communicate()[0] == second.communicate()[0] == "150000 9 9\n"
    assert sorted(server.requests) == [("b.txt", None), (A, None), ("out/c.txt", None)]
    assert [path.read_text() for path in said if path.exists()] == [
        "another process is fetching toy released; waiting for it"
    ]
