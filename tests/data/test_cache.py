"""The cache: where it is, what it trusts, and what its disk can do to it."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gendermark.data import cache, download
from gendermark.data.cache import State
from gendermark.data.card import DataFile
from gendermark.errors import UserError

A = "data/a.txt"


@pytest.fixture
def _mirror(toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", str(toy.fill(tmp_path / "mirror")))


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"GENDERMARK_CACHE": "/elsewhere"}, "/elsewhere"),
        ("linux", {"GENDERMARK_CACHE": "~/here"}, "/home/me/here"),
        ("linux", {}, "/home/me/.cache/gendermark"),
        ("linux", {"GENDERMARK_CACHE": "", "XDG_CACHE_HOME": "/xdg"}, "/xdg/gendermark"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/me/.cache/gendermark"),
        ("darwin", {"XDG_CACHE_HOME": "/xdg"}, "/home/me/Library/Caches/gendermark"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/gendermark/Cache"),
        ("win32", {}, "/home/me/AppData/Local/gendermark/Cache"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="the paths are written the POSIX way")
def test_the_root_of_each_platform(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], expected: str
) -> None:
    for name in ("GENDERMARK_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(cache.sys, "platform", platform)
    assert cache.cache_root() == Path(expected)


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("GENDERMARK_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(UserError, match=r"^this user has no home directory to keep data in; set GENDERMARK_CACHE to a"):
        cache.cache_root()


@pytest.mark.usefixtures("_mirror")
def test_files_lie_under_owner_repo_revision(toy: Any, tmp_path: Path) -> None:
    toy.fetch()
    assert toy.place() == tmp_path / "cache" / "data" / "owner" / "repo" / toy.revision.commit / "data" / "a.txt"
    assert toy.place().is_file()


@pytest.mark.usefixtures("_mirror")
def test_states_and_mending(toy: Any) -> None:
    def state() -> State:
        return cache.state(toy.card, toy.revision, toy.file())

    assert state() is State.MISSING
    good = toy.fetch()
    assert state() is State.GOOD
    for damage in (good[:-1], b"X" + good[1:], b""):
        toy.place().write_bytes(damage)
        assert state() is State.DAMAGED
        assert toy.fetch() == good
    toy.place().unlink()
    toy.place().mkdir()
    assert state() is State.DAMAGED
    toy.place().rmdir()
    toy.place().parent.rmdir()
    toy.place().parent.write_bytes(b"a file where a directory belongs")
    assert state() is State.MISSING


@pytest.mark.usefixtures("_mirror")
def test_only_what_is_wrong_is_fetched(toy: Any) -> None:
    fetched: list[str] = []

    def fetch() -> list[str]:
        fetched.clear()
        cache.fetch(toy.card, toy.revision, toy.revision.files, progress=lambda file, _: fetched.append(file.path))
        return fetched

    assert fetch() == [A, "b.txt", "out/c.txt"]
    assert fetch() == []
    toy.place("b.txt").write_bytes(b"two lines")
    assert fetch() == ["b.txt"]


@pytest.mark.usefixtures("_mirror")
def test_a_whole_cache_needs_neither_lock_nor_source_nor_writing(toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    good = toy.fetch()
    monkeypatch.setenv("GENDERMARK_DATA_MIRROR", "no/such/place")
    monkeypatch.setattr(cache.locks, "hold", None)
    assert toy.fetch() == good


def test_a_read_only_cache_really(toy: Any, server: Any, tmp_path: Path) -> None:
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        pytest.skip("the superuser may write everywhere; the next test simulates it")
    (tmp_path / "cache").mkdir(mode=0o500)
    with pytest.raises(UserError, match=r"cannot be written to \(Permission denied\)"):
        toy.fetch()


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.EIO])
def test_a_read_only_cache(toy: Any, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(self: Path, **_: Any) -> None:
        raise OSError(code, os.strerror(code), str(self))

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(UserError) as caught:
        toy.fetch()
    assert str(caught.value) == (
        f"the cache {tmp_path / 'cache'} cannot be written to ({os.strerror(code)}); "
        "set GENDERMARK_CACHE to another directory"
    )
    assert server.requests == []


def test_a_file_in_the_place_of_the_cache(toy: Any, server: Any, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("not a directory")
    with pytest.raises(UserError, match=r"cannot be written to \(.+\); set GENDERMARK_CACHE to another directory"):
        toy.fetch()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_keeps_what_came(
    toy: Any, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(_: int) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as full:
        full.setattr(download.os, "fsync", refuse)
        with pytest.raises(UserError) as caught:
            toy.fetch()
    assert str(caught.value) == (
        f"the cache {tmp_path / 'cache'} is on a full disk; free some space and run this again to go on "
        "where it stopped, or set GENDERMARK_CACHE to another directory"
    )
    assert not toy.place().exists()
    toy.fetch()
    assert server.requests == [(A, None)]


def test_a_reader_of_messages_who_leaves_is_not_a_disk_problem(toy: Any, server: Any) -> None:
    def leave(*_: object) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        cache.fetch(toy.card, toy.revision, [toy.file()], progress=leave)


@pytest.mark.parametrize("link", ["data", "data/owner", "data/owner/repo/COMMIT", "data/owner/repo/COMMIT/data"])
@pytest.mark.usefixtures("_mirror")
def test_a_link_out_of_the_cache_is_not_followed(toy: Any, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    place = tmp_path / "cache" / link.replace("COMMIT", toy.revision.commit)
    place.parent.mkdir(parents=True)
    place.symlink_to(outside)
    with pytest.raises(UserError, match="leads out of the cache by a symbolic link; remove that, or move"):
        toy.fetch()
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("name", ["a.txt", "a.txt.part"])
@pytest.mark.usefixtures("_mirror")
def test_a_file_that_is_a_link_out_of_the_cache(toy: Any, tmp_path: Path, name: str) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    folder = toy.place().parent
    folder.mkdir(parents=True)
    (folder / name).symlink_to(precious)
    with pytest.raises(UserError, match="leads out of the cache"):
        toy.fetch()
    assert precious.read_text() == "precious"


@pytest.mark.usefixtures("_mirror")
def test_the_cache_itself_may_be_a_link(toy: Any, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache").symlink_to(tmp_path / "elsewhere")
    assert toy.fetch()


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.text(st.sampled_from("a.b/\\:~ \0\né"), max_size=12))
def test_no_path_a_card_accepts_leaves_the_cache(toy: Any, path: str) -> None:
    try:
        file = DataFile(path, 1, "0" * 64)
    except UserError:
        return
    place = cache.directory(toy.card, toy.revision) / file.path
    assert cache.directory(toy.card, toy.revision).resolve() in place.resolve().parents
