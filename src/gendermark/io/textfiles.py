"""Read text and JSON files strictly, with one-sentence errors that name the line; write files atomically."""

from __future__ import annotations

import codecs
import contextlib
import hashlib
import io
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from gendermark.errors import BadFile, NotUtf8, UserError

LONGEST_LINE = 100_000
"""Characters. No translation is this long; such a line indicates another kind of file."""

_MOST_BYTES = 2_000_000_000
"""File size limit: a program writing to a pipe may never stop."""

_MOST_JSON_BYTES, _MOST_JSON_VALUES, _MOST_RECORD = 50_000_000, 2_000_000, 10_000_000
"""Size limits of a JSON file, and of a line of JSON lines: values take up to 25 times as much memory."""
_MOST_LINE_BYTES = 50_000_000
"""Of any text: a line is read as a whole."""

PIPE_SECONDS = 5.0
"""How long to wait for a program to start writing to a pipe."""

_WIDE = {"UTF-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "UTF-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)}
"""Byte order marks, in this order: that of little-endian UTF-32 begins with that of UTF-16."""
_BLOCK_BYTES = 1 << 16
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
"""Bytes that text never contains."""


def read_bytes(path: Path | str) -> bytes:
    return b"".join(_blocks(path))


def content_hash(path: Path | str) -> str:
    found = hashlib.sha256()
    for block in _blocks(path):
        found.update(block)
    return found.hexdigest()


def name_and_content(path: Path) -> bytes:
    """Changes with a file's name and content, not its location."""
    with path.open("rb") as file:  # may have many gigabytes
        return path.name.encode() + b"\0" + hashlib.file_digest(file, "sha256").digest()


def _blocks(path: Path | str) -> Iterator[bytes]:
    """A file in pieces that end at line ends, one in memory at a time."""
    path = Path(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISFIFO(mode):
            yield from _pipe_blocks(path)
            return
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):  # /dev/zero has no end
            raise BadFile(path, "is a device; give a file")
        with path.open("rb") as file:
            yield from _bounded(path, file)
    except FileNotFoundError:
        raise BadFile(path, "no such file") from None
    except IsADirectoryError:
        raise BadFile(path, "is a directory; give the file in it") from None
    except (OSError, ValueError) as problem:
        raise BadFile(path, f"cannot be read: {getattr(problem, 'strerror', None) or problem}") from None


def _pipe_blocks(path: Path) -> Iterator[bytes]:
    """Read a pipe, such as `<(command)`; refuse one without a writer, which would block forever."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(handle, "rb", buffering=0) as pipe:
        deadline = time.monotonic() + PIPE_SECONDS
        # b"": no writer; None: a writer that has not written yet.
        while (first := pipe.read(1)) == b"":
            if time.monotonic() > deadline:
                raise BadFile(path, f"is a pipe, and nothing came through it in {PIPE_SECONDS:g} seconds; give a file")
            time.sleep(0.02)
        os.set_blocking(handle, True)
        with io.BufferedReader(pipe) as rest:
            yield from _bounded(path, rest, first or b"")


def _bounded(path: Path, file: BinaryIO | io.BufferedReader, first: bytes = b"") -> Iterator[bytes]:
    n_left = _MOST_BYTES
    while block := first + file.read(_BLOCK_BYTES):
        block += file.readline(_MOST_LINE_BYTES)
        yield block
        first = b""
        n_left -= len(block)
        if n_left <= 0:
            raise BadFile(path, f"has more than {_MOST_BYTES // 10**9} GB; give the translations only")


def _text_blocks(path: Path | str, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """The text of a file in pieces that end at line ends, each with the number of its first line.

    A byte order mark, which Windows programs write, is dropped; NUL bytes are refused.
    """
    number = 1
    for block in _blocks(path):
        if len(block) > _MOST_LINE_BYTES:
            what = f"has a line of more than {_MOST_LINE_BYTES // 10**6} MB; give the translations only"
            raise BadFile(path, what, line=number + block.count(b"\n"))
        if number == 1:
            for name, marks in _WIDE.items():
                if block.startswith(marks):
                    raise BadFile(path, f"is {name}; save it as UTF-8")
        data = block.removeprefix(codecs.BOM_UTF8) if number == 1 else block
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as problem:
            line = number + data.count(b"\n", 0, problem.start)
            if _CONTROL.search(data.split(b"\n")[line - number]):
                raise BadFile(path, "is a binary file, not text; save the translations as a UTF-8 text file") from None
            what = f"byte 0x{data[problem.start]:02x} is not UTF-8; save the file as UTF-8"
            raise NotUtf8(path, what, line=line) from None
        if "\0" in text:
            line = number + text[: text.index("\0")].count("\n")
            raise BadFile(path, "contains a NUL byte, so it is no text file; save it as UTF-8 text", line=line)
        yield number, text
        number += text.count("\n")


def read_text(path: Path | str) -> str:
    return "".join(text for _, text in _text_blocks(path))


def each_text_line(path: Path | str, encoding: str = "utf-8") -> Iterator[str]:
    for _, text in _text_blocks(path, encoding):
        yield from io.StringIO(text, newline="\n")


def split_lines(text: str) -> list[str]:
    """Split at LF or CRLF, with or without a final line end.

    (`str.splitlines` also splits at U+2028, form feeds and others that translations contain.)
    """
    lines = text.removesuffix("\n").split("\n") if text else []
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def read_lines(path: Path | str) -> list[str]:
    return list(each_line(path))


def each_line(path: Path | str) -> Iterator[str]:
    for first, text in _text_blocks(path):
        for number, line in enumerate(split_lines(text), start=first):
            if "\r" in line:
                raise BadFile(path, "has a carriage return inside; end lines with LF or CRLF", line=number)
            if len(line) > LONGEST_LINE:
                raise BadFile(
                    path,
                    f"has {len(line):,} characters, more than {LONGEST_LINE:,}; one sentence per line is expected",
                    line=number,
                )
            yield line


def read_jsonl(path: Path | str) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) for every line of a JSON-lines file; blank lines are skipped."""
    for number, line in enumerate(each_text_line(path), start=1):
        if not line.strip():
            continue
        if len(line) > _MOST_RECORD:
            raise BadFile(path, f"has more than {_MOST_RECORD:,} characters", line=number)
        row = _parse_json(line.rstrip("\r\n"), path, number)
        if not isinstance(row, dict):
            raise BadFile(path, "is not a JSON object", line=number)
        yield number, row


def read_json(path: Path | str) -> Any:
    if Path(path).is_file() and Path(path).stat().st_size > _MOST_JSON_BYTES:
        raise BadFile(path, f"has more than {_MOST_JSON_BYTES // 10**6} MB, too much for one JSON value")
    text = read_text(path)
    if sum(map(text.count, "[{,")) > _MOST_JSON_VALUES:
        raise BadFile(path, f"has more than {_MOST_JSON_VALUES:,} values, too many for one JSON file")
    return _parse_json(text, path)


def _parse_json(text: str, path: Path | str, line: int | None = None) -> Any:

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not a JSON number")

    try:
        value = json.loads(text, parse_constant=refuse)
        if "\\ud" in text.lower():  # a lone surrogate is not text, and could not be written again
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as problem:
        raise BadFile(path, f"is not JSON ({problem})", line=line) from None
    return value


FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""Characters that start a formula in a spreadsheet program."""


_HARMLESS = "\n\t\u200c\u200d\u200e\u200f"
"""Not printable, but part of texts: line ends, and joiners and direction marks of some scripts."""


def disarmed(text: str) -> str:
    """Text without control characters and marks that reverse its direction."""
    if text.isprintable():
        return text
    return "".join(x if x.isprintable() or x in _HARMLESS else " " if x.isspace() else "\ufffd" for x in text)


def printable(text: str) -> str:
    return " ".join(disarmed(text).split())


def harmless_cell(text: str) -> str:
    """A spreadsheet cell: formulas are quoted, since translations are untrusted."""
    shown = printable(text)
    return f"'{shown}" if shown.startswith(FORMULA_STARTS) else shown


def write_text(path: Path | str, text: str) -> None:
    """Write a file atomically: readers never see half of it, and a full disk leaves the old one in place."""
    write_parts(path, [text])


def write_json(path: Path | str, value: Any) -> None:
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_parts(path: Path | str, parts: Iterable[str | bytes]) -> None:
    def write(file: BinaryIO) -> None:
        for part in parts:
            file.write(part.encode() if isinstance(part, str) else part)

    write_whole(path, write)


def write_whole(path: Path | str, write: Callable[[BinaryIO], None]) -> None:
    path = Path(path)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # /dev/stdout, a named pipe, a link: must not be replaced
        if path.is_symlink() or (path.exists() and not path.is_file()):
            with path.open("wb") as file:
                write(file)
            return
        # Truncate a long name: with the suffix it could exceed the limit of the file system.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())  # else, after a power cut, the new name could refer to an empty file
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp makes files private; these are ordinary ones
        temporary.replace(path)
        temporary = None
    except BrokenPipeError:  # the reader has quit; handled by the command line
        raise
    except (OSError, ValueError) as problem:  # ValueError: a lone surrogate
        raise UserError(f"cannot write {path}: {getattr(problem, 'strerror', None) or problem}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()


def write_lines(path: Path | str, lines: Iterable[str]) -> None:
    write_parts(path, (f"{line}\n" for line in lines))


def write_jsonl(path: Path | str, rows: Iterable[dict[str, Any]]) -> None:
    write_lines(path, (json.dumps(row, ensure_ascii=False) for row in rows))
