"""Text files as users really have them: read strictly, or refused in one sentence that names the line."""

from __future__ import annotations

import codecs
import contextlib
import csv
import hashlib
import io
import json
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from gendermark.errors import BadFile, MissingExtra, UserError

LONGEST_LINE = 100_000
"""Characters. No translation of a sentence is this long; such a line is a sign of another kind of file."""

_HEAD = 1_000
"""Lines by which the sign between the cells of a table is told."""
PIPE_SECONDS = 5.0
"""How long to wait for a program to begin writing to a pipe."""

# In this order: the mark of little-endian UTF-32 begins with that of UTF-16.
_BYTE_ORDER_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


@contextlib.contextmanager
def _said_plainly(path: Path) -> Iterator[None]:
    """Every way of failing to read a file."""
    try:
        yield
    except FileNotFoundError:
        raise BadFile(path, "there is no such file") from None
    except IsADirectoryError:
        raise BadFile(path, "is a directory; give the file in it") from None
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise BadFile(path, f"cannot be read: {reason}") from None


def read_bytes(path: Path | str) -> bytes:
    """A file's bytes, with every way of failing to read it said plainly."""
    return b"".join(raw_lines(path))


def raw_lines(path: Path | str) -> Iterator[bytes]:
    """A file line by line, each with its end: of a large one, no more than a line is held."""
    path = Path(path)
    with _said_plainly(path):
        mode = path.stat().st_mode
        if stat.S_ISFIFO(mode):
            yield from _pipe_lines(path)
            return
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):  # /dev/zero has no end
            raise BadFile(path, "is a device; give a file")
        with path.open("rb") as file:
            yield from file


def _pipe_lines(path: Path) -> Iterator[bytes]:
    """What comes through a pipe, `<(command)` for example. One that no program writes to would keep us for ever."""
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
    return "".join(_text_lines(path))


def _text_lines(path: Path | str, lines: Iterable[bytes] | None = None) -> Iterator[str]:
    """The same line by line, each with its end; of lines that are read already, if they are given."""
    for number, line in enumerate(raw_lines(path) if lines is None else lines, start=1):
        if number == 1:
            for mark, name in _BYTE_ORDER_MARKS.items():
                if line.startswith(mark):
                    raise BadFile(path, f"is {name}; save it as UTF-8")
            line = line.removeprefix(codecs.BOM_UTF8)
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as problem:
            byte = line[problem.start]
            raise BadFile(path, f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8", line=number) from None
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
    read = list(raw_lines(path))
    plain = _plain_lines(b"".join(read))
    return list(each_line(path, read)) if plain is None else plain


def _plain_lines(content: bytes) -> list[str] | None:
    """The lines of a file that has nothing to be refused or left out, as nearly all: several times as fast."""
    if b"\0" in content or b"\r" in content or content.startswith((codecs.BOM_UTF8, *_BYTE_ORDER_MARKS)):
        return None
    try:
        lines = content.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None
    if not lines[-1]:
        lines.pop()
    return None if max(map(len, lines), default=0) > LONGEST_LINE else lines


def each_line(path: Path | str, lines: Iterable[bytes] | None = None) -> Iterator[str]:
    """The same, one by one."""
    for number, ended in enumerate(_text_lines(path, lines), start=1):
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
    """(line number, object) for every line of a JSON-lines file; blank lines are passed over."""
    for number, line in enumerate(_text_lines(path), start=1):
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
"""With which a spreadsheet program takes a cell for a formula."""


_HARMLESS = "\n\t\u200c\u200d\u200e\u200f"
"""Not printable, but part of texts: ends of lines, and what joins and orders letters of some scripts."""


def disarmed(text: str) -> str:
    """A text that a terminal shows and does not obey: without control characters and signs that turn it around."""
    if text.isprintable():
        return text
    return "".join(x if x.isprintable() or x in _HARMLESS else " " if x.isspace() else "\ufffd" for x in text)


def printable(text: str) -> str:
    """The same on one line."""
    return " ".join(disarmed(text).split())


def write_text(path: Path | str, text: str) -> None:
    """Write a file whole or not at all: a reader never sees half of it, and a full disk leaves the old one."""
    write_parts(path, [text])


def write_parts(path: Path | str, parts: Iterable[str]) -> None:
    """The same for a text that comes in parts, of which no more than one is held."""

    def write(file: BinaryIO) -> None:
        for part in parts:
            file.write(part.encode())

    write_whole(path, write)


def write_whole(path: Path | str, write: Callable[[BinaryIO], None]) -> None:
    """The same for whatever `write` writes."""
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


def read_csv(path: Path | str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file that have anything in them, with the number of the line each begins at."""
    lines = (part for line in _text_lines(path) for part in _at_any_end(line))
    head = list(islice(lines, _HEAD))
    reader = csv.reader(chain(head, lines), delimiter=_delimiter("".join(head)), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            raise BadFile(
                path, f"is not CSV ({problem}); close every quotation mark, and double those inside a cell", line=line
            ) from None
        if row:
            yield line, row


def _at_any_end(line: str) -> Iterable[str]:
    """Of a line that may be several: some programs end lines with a carriage return alone."""
    return io.StringIO(line, newline="") if "\r" in line else (line,)


def _delimiter(text: str) -> str:
    """Where the comma is the decimal sign, spreadsheets separate with semicolons; others write tabs.

    If the first line has several of them, it may be a sentence: that one separates which gives rows of equal length.
    """
    header = text.partition("\n")[0]
    found = [one for one in (",", ";", "\t") if one in header]
    if len(found) < 2:
        return found[0] if found else ","

    def widths(delimiter: str) -> set[int]:
        try:
            return {
                len(row) for row in islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 50) if row
            }
        except csv.Error:
            return set()

    return next((one for one in found if len(widths(one)) == 1), ",")


def read_xlsx(path: Path | str) -> Iterator[tuple[int, list[str]]]:
    """The rows of the first sheet of an Excel file that have anything in them, with their numbers.

    Columns without a name in the first row are left out: a sheet often has more of them than anybody sees.
    """
    width = 0
    for number, cells in next(iter(read_sheets(path).values()), []):
        width = width or max(place for place, cell in enumerate(cells, start=1) if cell.strip())
        if any(cell.strip() for cell in cells[width:]):
            raise BadFile(path, "has a cell beyond the last named column; give every column a name", line=number)
        yield number, [*cells[:width], *[""] * (width - len(cells))]


def read_sheets(path: Path | str) -> dict[str, list[tuple[int, list[str]]]]:
    """All sheets of an Excel file: of each, the rows that have anything in them, with their numbers."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra(f"reading {path}", "xlsx") from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(read_bytes(path)), read_only=True, data_only=True)
        sheets = {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}
    except UserError:
        raise
    except Exception as problem:  # noqa: BLE001 (a broken file can fail anywhere in zip, XML or the workbook)
        raise BadFile(path, f"is not an Excel file ({problem}); save it again as .xlsx, or as .csv") from None
    return {
        title: [
            (number, cells)
            for number, row in enumerate(rows, start=1)
            if any(map(str.strip, cells := ["" if cell is None else str(cell) for cell in row]))
        ]
        for title, rows in sheets.items()
    }
