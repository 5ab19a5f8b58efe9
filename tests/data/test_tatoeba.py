"""Sentence pairs out of zip files, which are not trusted."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from gendermark.data.tatoeba import read_zipped_text, tatoeba_cards, tatoeba_lines
from gendermark.errors import UserError


def _zip(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_the_one_text_of_an_archive(tmp_path: Path) -> None:
    path = _zip(
        tmp_path / "a.zip", **{"x-eng/": b"", "x-eng/_about.txt": b"whose", "x-eng/x.txt": "Hi.\tÑu.\n".encode()}
    )
    assert read_zipped_text(path) == "Hi.\tÑu.\n"
    assert [each.name for each in tmp_path.iterdir()] == ["a.zip"], "nothing is unpacked"


@pytest.mark.parametrize("name", ["../out.txt", "/etc/out.txt", "a/../../out.txt", "..\\out.txt", "C:\\out.txt"])
def test_a_member_that_leads_out(tmp_path: Path, name: str) -> None:
    path = _zip(tmp_path / "a.zip", **{"x.txt": b"Hi.\tHo.\n", name: b"!"})
    with pytest.raises(UserError, match=r"a\.zip: has a member '.*' that leads out of it; do not use it$"):
        read_zipped_text(path)


def test_a_bomb(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.zip", **{"x.txt": b"a" * 2_000_000})
    assert path.stat().st_size < 10_000
    with pytest.raises(UserError, match=r"a\.zip: has a text of more than 100,000 bytes; do not use it$"):
        read_zipped_text(path, most_bytes=100_000)


def test_what_is_no_such_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"no zip")
    with pytest.raises(UserError, match=r"a\.zip: is not a readable zip file \("):
        read_zipped_text(path)
    _zip(path, **{"x.txt": b"a", "y.txt": b"b"})
    with pytest.raises(UserError, match=r"a\.zip: has 2 texts where one is expected$"):
        read_zipped_text(path)
    _zip(path, **{"x.txt": b"\xff\xfe"})
    with pytest.raises(UserError, match=r"a\.zip: has a text that is not UTF-8$"):
        read_zipped_text(path)
    broken = bytearray(_zip(path, **{"x.txt": b"some words " * 99}).read_bytes())
    broken[40:50] = b"0123456789"
    path.write_bytes(broken)
    with pytest.raises(UserError, match=r"a\.zip: is not a readable zip file \("):
        read_zipped_text(path)


def test_the_real_ones(mirror: Path) -> None:
    assert mirror.is_dir()
    cards = {"tatoeba-en-de": 169_813, "tatoeba-en-es": 118_964, "tatoeba-en-fr": 142_787}
    assert tatoeba_cards() == {name: ("en", name[-2:]) for name in cards}
    for name, n in cards.items():
        lines = tatoeba_lines(name)
        assert len(lines) == n
        assert {line.count("\t") for line in lines} == {1}
