"""Read text and JSON files strictly, or refuse them in one sentence that names the line; write files whole."""

from __future__ import annotations

import codecs
import contextlib
import hashlib
import io
import json
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from gendermark.errors import BadFile, NotUtf8, UserError

LONGEST_LINE = 100_000
"""Characters. No translation of a sentence is this long; such a line is a sign of another kind of file."""

PIPE_SECONDS = 5.0
"""How long to wait for a program to begin writing to a pipe."""

# In this order: the mark of little-endian UTF-32 begins with that of UTF-16.
_BYTE_ORDER_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def read_bytes(path: Path | str) -> bytes:
    """The bytes of a file."""
    return b"".join(raw_lines(path))


def raw_lines(path: Path | str) -> Iterator[bytes]:
    """A file line by line, each with its end; no more than a line is held in memory."""
    path = Path(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISFIFO(mode):
            yield from _pipe_lines(path)
            return
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):  # /dev/zero has no end
            raise BadFile(path, "is a device; give a file")
        with path.open("rb") as file:
            yield from file
    except FileNotFoundError:
        raise BadFile(path, "there is no such file") from None
    except IsADirectoryError:
        raise BadFile(path, "is a directory; give the file in it") from None
    except (OSError, ValueError) as problem:
        raise BadFile(path, f"cannot be read: {getattr(problem, 'strerror', None) or problem}") from None


def _pipe_lines(path: Path) -> Iterator[bytes]:
    """Read a pipe, `<(command)` for example; refuse one that no program writes to, which would block for ever."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(handle, "rb", buffering=0) as pipe:
        deadline = time.monotonic() + PIPE_SECONDS
        # b"": nobody has the other end; None: somebody has, and is still at work.
        while (first := pipe.read(1)) == b"":
            if time.monotonic() > deadline:
                raise BadFile(path, f"is a pipe, and nothing came through it in {PIPE_SECONDS:g} seconds; give a file")
            time.sleep(0.02)
        os.set_blocking(handle, True)
        with io.BufferedReader(pipe) as rest:
            yield first if first == b"\n" else (first or b"") + rest.readline()
            yield from rest


def content_hash(path: Path | str) -> str:
    """The SHA-256 of a file."""
    found = hashlib.sha256()
    for line in raw_lines(path):
        found.update(line)
    return found.hexdigest()


def read_text(path: Path | str) -> str:
    """A UTF-8 file as text. A byte order mark is dropped (Windows programs write it); NUL bytes are refused."""
    return "".join(each_text_line(path))


def each_text_line(path: Path | str, encoding: str = "utf-8") -> Iterator[str]:
    """The text of a file line by line, each with its end."""
    for number, line in enumerate(raw_lines(path), start=1):
        if number == 1:
            for mark, name in _BYTE_ORDER_MARKS.items():
                if line.startswith(mark):
                    raise BadFile(path, f"is {name}; save it as UTF-8")
            line = line.removeprefix(codecs.BOM_UTF8)
        try:
            text = line.decode(encoding)
        except UnicodeDecodeError as problem:
            byte = line[problem.start]
            raise NotUtf8(path, f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8", line=number) from None
        if "\0" in text:
            raise BadFile(path, "contains a NUL byte; this is not a text file", line=number)
        if text:
            yield text


def split_lines(text: str) -> list[str]:
    """Lines ended by LF or CRLF, the last one with or without its end. No other character ends a line.

    (`str.splitlines` also splits at U+2028, form feeds and others that translations contain.)
    """
    if not text:
        return []
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [_without_end(line) for line in lines]


def _without_end(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def read_lines(path: Path | str) -> list[str]:
    """The lines of a UTF-8 file of one sentence per line."""
    return list(each_line(path))


def each_line(path: Path | str) -> Iterator[str]:
    """The lines of a UTF-8 file one by one."""
    for number, ended in enumerate(each_text_line(path), start=1):
        line = _without_end(ended)
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
        row = _parse_json(_without_end(line), path, number)
        if not isinstance(row, dict):
            raise BadFile(path, "is not a JSON object", line=number)
        yield number, row


def read_json(path: Path | str) -> Any:
    """The value in a JSON file."""
    return _parse_json(read_text(path), path)


def _parse_json(text: str, path: Path | str, line: int | None = None) -> Any:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        if "\\ud" in text.lower():  # half a surrogate pair is no text, and could not be written again
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as problem:
        raise BadFile(path, f"is not JSON ({problem})", line=line) from None
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""A spreadsheet program takes a cell that begins so for a formula."""


_HARMLESS = "\n\t\u200c\u200d\u200e\u200f"
"""Not printable, but part of texts: line ends, and what joins and orders letters in some scripts."""


def disarmed(text: str) -> str:
    """A text that is safe to print: without control characters and marks that reverse its direction."""
    if text.isprintable():
        return text
    return "".join(x if x.isprintable() or x in _HARMLESS else " " if x.isspace() else "\ufffd" for x in text)


def printable(text: str) -> str:
    """A text that is safe to print, on one line."""
    return " ".join(disarmed(text).split())


def harmless_cell(text: str) -> str:
    """A cell of a spreadsheet: what would be run as a formula is quoted, since translations are untrusted."""
    shown = printable(text)
    return f"'{shown}" if shown.startswith(FORMULA_STARTS) else shown


def write_text(path: Path | str, text: str) -> None:
    """Write a file whole or not at all: a reader never sees half of it, and a full disk leaves the old one in place."""
    write_parts(path, [text])


def write_parts(path: Path | str, parts: Iterable[str]) -> None:
    """Write a text that comes in parts, whole or not at all; no more than one part is held in memory."""

    def write(file: BinaryIO) -> None:
        for part in parts:
            file.write(part.encode())

    write_whole(path, write)


def write_whole(path: Path | str, write: Callable[[BinaryIO], None]) -> None:
    """Write whatever `write` writes, whole or not at all."""
    path = Path(path)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # /dev/stdout, a named pipe, a link: replacing it would be wrong
        if path.is_symlink() or (path.exists() and not path.is_file()):
            with path.open("wb") as file:
                write(file)
            return
        # Of a long name a part: with what is added, the whole of it could be longer than file systems take.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())  # else, after a power cut, the new name could stand for an empty file
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp makes files private; these are ordinary ones
        temporary.replace(path)
        temporary = None
    except BrokenPipeError:  # whoever read it has left; the command line knows what to do
        raise
    except (OSError, ValueError) as problem:  # ValueError: half a surrogate pair is no text
        raise UserError(f"cannot write {path}: {getattr(problem, 'strerror', None) or problem}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()


def write_lines(path: Path | str, lines: Iterable[str]) -> None:
    write_parts(path, (f"{line}\n" for line in lines))


def write_jsonl(path: Path | str, rows: Iterable[dict[str, Any]]) -> None:
    write_lines(path, (json.dumps(row, ensure_ascii=False) for row in rows))
