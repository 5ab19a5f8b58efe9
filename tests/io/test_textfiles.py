"""Text files: lines, pipes and JSON are read strictly; files are written whole or not at all.

What is refused, tests/cli/test_malformed.py tries through the command line.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gendermark.errors import BadFile, UserError
from gendermark.io import textfiles
from gendermark.io.textfiles import (
    read_json,
    read_jsonl,
    read_lines,
    read_text,
    split_lines,
    write_jsonl,
    write_lines,
    write_text,
)


def _file(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "file.txt"
    path.write_bytes(content)
    return path


# -- lines -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("\r\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\r\nb\n", ["a", "b"]),
        ("\n\n", ["", ""]),
        ("a\u2028b\x0cc\x85d\x1ee\n", ["a\u2028b\x0cc\x85d\x1ee"]),
        (" a \t\n", [" a \t"]),
    ],
)
def test_split_lines(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))))
def test_lines_come_back_as_they_were_written(lines: list[str]) -> None:
    assert split_lines("".join(f"{line}\n" for line in lines)) == lines
    assert split_lines("".join(f"{line}\r\n" for line in lines)) == lines


# -- what is no file -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # 200 kB: more than a pipe holds at once
    writer = threading.Timer(0.1, lambda: pipe.write_text("é\n" * 100_000, encoding="utf-8"))
    writer.start()
    assert read_lines(pipe) == ["é"] * 100_000
    writer.join()
    monkeypatch.setattr(textfiles, "PIPE_SECONDS", 0.05)
    with pytest.raises(BadFile, match=r"pipe.*0\.05 seconds"):
        read_text(pipe)


# -- JSON ------------------------------------------------------------------------------------------------------------


def test_jsonl(tmp_path: Path) -> None:
    rows = [{"a": "é\u2028", "b": None}, {}]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    assert list(read_jsonl(tmp_path / "rows.jsonl")) == [(1, rows[0]), (2, {})]
    assert "é" in (tmp_path / "rows.jsonl").read_text(encoding="utf-8"), "readable, not escaped"
    assert list(read_jsonl(_file(tmp_path, b'\n{"a": 1}\r\n  \n{}'))) == [(2, {"a": 1}), (4, {})]


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON"),
        ("{'a': 1}", "not JSON"),
        (DEEP, "not JSON"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        (r'{"a": "\ud800"}', "not JSON"),
        (r'{"\uDFFF": 1}', "not JSON"),
        ('{"a": ' + "9" * 5000 + "}", "not JSON"),
    ],
)
def test_bad_json(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(BadFile, match=problem):
        read_json(_file(tmp_path, text.encode()))
    with pytest.raises(BadFile, match=problem) as refused:
        list(read_jsonl(_file(tmp_path, b"{}\n" + text.encode())))
    assert refused.value.line == 2


@pytest.mark.parametrize("text", ["[]", "1", "null", '"a"'])
def test_lines_that_are_no_objects(tmp_path: Path, text: str) -> None:
    assert read_json(_file(tmp_path, text.encode())) == json.loads(text)
    with pytest.raises(BadFile, match="line 1: is not a JSON object"):
        list(read_jsonl(_file(tmp_path, text.encode())))


# -- writing ---------------------------------------------------------------------------------------------------------


def test_write(tmp_path: Path) -> None:
    path = tmp_path / "new" / "er" / "file.txt"
    write_lines(path, ["é", "", "b\u2028"])
    assert path.read_bytes() == "é\n\nb\u2028\n".encode()
    write_text(path, "")
    assert path.read_bytes() == b""
    assert [one.name for one in path.parent.iterdir()] == ["file.txt"], "nothing is left behind"


@pytest.mark.parametrize("text", ["\ud800", "a" * 10_000 + "\udfff"])
def test_a_failed_write_leaves_the_old_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.txt"
    write_text(path, "old")
    with pytest.raises(UserError, match=r"cannot write .*file\.txt"):
        write_text(path, text)
    assert path.read_text(encoding="utf-8") == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["file.txt"]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file.txt"
    write_text(path, "old")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UserError, match=r"cannot write .*: No space left on device"):
        write_text(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["file.txt"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    for text in ("first", "second"):
        write_text(link, text)
        assert link.is_symlink()
        assert target.read_text(encoding="utf-8") == text


def test_json_is_bounded(tmp_path: Path) -> None:
    """A few megabytes of brackets take a hundred times as much memory."""
    path = _file(tmp_path, b"[")
    os.truncate(path, 60_000_000)
    with pytest.raises(BadFile, match="50 MB"):
        read_json(path)
    path.write_text("[" + "{}," * 2_000_000 + "{}]")
    with pytest.raises(BadFile, match="2,000,000 values"):
        read_json(path)
    path.write_text('{"a": 1}\n{"b": [' + "[]," * 4_000_000 + "[]]}\n")
    rows = read_jsonl(path)
    assert next(rows) == (1, {"a": 1})
    with pytest.raises(BadFile, match="line 2: has more than 10,000,000"):
        next(rows)
    path.write_bytes(b"a\n" * 60_000 + b"b" * 60_000_000)
    with pytest.raises(BadFile, match=r"line 60001: has a line of more than 50 MB"):
        read_lines(path)
