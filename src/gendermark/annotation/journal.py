"""A file that only ever grows: one JSON object a line, each safe on the disk before anybody is told that it is.

What was written last can be half a line if the machine stopped in the middle. Nobody was told that it is safe; it is
taken away when the file is opened again.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gendermark.errors import BadFile, UserError
from gendermark.io.textfiles import read_jsonl


class Journal:
    """The lines of a file, and a way to add one. One process at a time; whoever opens it sees to that."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
            _mend_last_line(path, self._handle)
        except OSError as problem:
            raise UserError(f"cannot write {path}: {problem.strerror or problem}") from None
        _make_durable(path.parent)
        try:
            self.lines = self._read()
        except BadFile:
            self.close()
            raise

    def _read(self) -> list[dict[str, Any]]:
        """What is there when it is opened."""
        return [row for _, row in read_jsonl(self.path)]

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a line; when this returns, it outlives the process and the machine's power. If it raises, it was not."""
        line = f"{json.dumps(row, ensure_ascii=False)}\n".encode()
        size = os.fstat(self._handle).st_size
        try:
            while line:
                line = line[os.write(self._handle, line) :]
            os.fsync(self._handle)
        except OSError as problem:
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, size)
            raise UserError(f"cannot write {self.path}: {problem.strerror or problem}; nothing of it is kept") from None

    def close(self) -> None:
        os.close(self._handle)


def _mend_last_line(path: Path, handle: int) -> None:
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole == len(content):
        return
    try:
        json.loads(content[whole:])
    except ValueError:
        os.ftruncate(handle, whole)
    else:  # only its end is missing
        os.write(handle, b"\n")
    os.fsync(handle)


def _make_durable(directory: Path) -> None:
    """That a new file is in its directory must reach the disk too; not every system can be asked for it."""
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
