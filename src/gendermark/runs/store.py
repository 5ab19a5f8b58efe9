"""The store of translations: content-addressed, so that no request is paid for twice.

One SQLite file for all runs. A translation is stored by system, request and sample number, in one transaction per
portion: kill -9 leaves the whole portion or nothing.

Every translation has a checksum: one damaged by a failing disk or another program is dropped and requested again, with
a message. A power cut loses at most the answers of two seconds: waiting for the disk after every portion would slow
down fast systems by a quarter.

Two runs may work at once. A run claims requests before asking; the other sees the claim and waits for the answer. Each
run holds a file lock while alive, so claims of killed runs are void.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import socket
import sqlite3
import time
import uuid
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gendermark.errors import UserError
from gendermark.io import locks
from gendermark.io.textfiles import printable
from gendermark.records import Request, Translation

Key = tuple[str, int]
"""Request id and sample number."""

_BUSY_TIMEOUT_SECONDS = 60.0
_SECONDS_UNTIL_SAFE = 2.0
"""Maximum seconds of work before syncing to disk. Answers survive the process at once."""
_IDS_PER_QUERY = 500
"""Older builds of SQLite allow 999 values per statement."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS translation (
  system_id TEXT NOT NULL, request_id TEXT NOT NULL, sample INTEGER NOT NULL, text TEXT NOT NULL, log_probability REAL,
  n_tokens INTEGER, token_log_probabilities TEXT, checksum INTEGER,
  PRIMARY KEY (system_id, request_id, sample)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claim (
  system_id TEXT NOT NULL, request_id TEXT NOT NULL, first_sample INTEGER NOT NULL, owner TEXT NOT NULL,
  PRIMARY KEY (system_id, request_id, first_sample)
) WITHOUT ROWID;
"""


_ANSWER = "text, log_probability, n_tokens, token_log_probabilities"
_COLUMNS = f"system_id, request_id, sample, {_ANSWER}"
_OPENING, _MADE = "opening", "made"
"""Beside the owners' lock files: the lock for opening the store, and a marker that it existed."""
log = logging.getLogger(__name__)


class Store:
    """A context manager: claims are held inside and released at the end."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._owner = f"{uuid.uuid4().hex}.{os.getpid()}.{quote(socket.gethostname(), safe='')}"
        self._resources = ExitStack()
        self._last_safe = time.monotonic()

    def __enter__(self) -> Store:
        with ExitStack() as resources:
            with self._problems():
                self.path.parent.mkdir(parents=True, exist_ok=True)
                made = self._lock_path(_MADE)
                if not self.path.exists():  # a deleted store starts anew
                    made.unlink(missing_ok=True)
                # Truncated. (The marker too: a store being created is empty for a moment.)
                was_emptied = made.exists() and self.path.exists() and self.path.stat().st_size == 0
                # Used by one thread at a time, but not always the same (`translate.py`).
                self._connection = sqlite3.connect(
                    self.path, timeout=_BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False
                )
                resources.callback(self._connection.close)
                # A flipped bit may break UTF-8: the row then fails its checksum like any damage.
                self._connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
                self._connection.execute("PRAGMA schema_version")  # opens the file, so errors show here
                # SQLite does not wait for another process that is creating the file.
                with locks.hold(self._lock_path(_OPENING), timeout_seconds=_BUSY_TIMEOUT_SECONDS):
                    self._check(was_emptied)
                    # Write-ahead log: readers and the writer do not block each other, and a commit survives kill -9.
                    self._connection.execute("PRAGMA journal_mode=WAL")
                    self._connection.execute("PRAGMA synchronous=NORMAL")
                    self._connection.executescript(_SCHEMA)
                    made.touch()
                    # Under the lock, as a new lock file not yet held would look like a killed run's.
                    for path in self._lock_path(_OPENING).parent.iterdir():
                        if path.name not in (_OPENING, _MADE) and not locks.is_held(path):
                            path.unlink(missing_ok=True)
                    resources.enter_context(locks.hold(self._lock_path(self._owner)))
                self._identity = _identity(self.path)
            resources.callback(self._release)
            self._resources = resources.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()
        with contextlib.suppress(OSError):
            self._lock_path(self._owner).unlink()

    def get(self, system_id: str, requests: Iterable[Request]) -> dict[Key, Translation]:
        found: dict[Key, Translation] = {}
        damaged: list[Key] = []
        ids = list(dict.fromkeys(request.request_id for request in requests))
        with self._problems():
            for start in range(0, len(ids), _IDS_PER_QUERY):
                chunk = ids[start : start + _IDS_PER_QUERY]
                rows = self._connection.execute(
                    f"SELECT checksum, request_id, sample, {_ANSWER} FROM translation "
                    f"WHERE system_id = ? AND request_id IN ({','.join('?' * len(chunk))})",
                    (system_id, *chunk),
                )
                for checksum, *row in rows:
                    key = (row[0], row[1])
                    if checksum == _checksum((system_id, *row)):
                        *_, text, log_probability, n_tokens, by_token = row
                        numbers = tuple(json.loads(by_token)) if by_token is not None else None
                        found[key] = Translation(key[0], text, key[1], None, log_probability, n_tokens, numbers)
                    else:
                        damaged.append(key)
        if damaged:
            with self._transaction() as connection:
                connection.executemany(
                    "DELETE FROM translation WHERE system_id = ? AND request_id = ? AND sample = ?",
                    [(system_id, *key) for key in damaged],
                )
            log.warning(
                "the translation cache %s has %s damaged answers of %s (checksum mismatch); they are requested again; "
                "check the disk",
                *(self.path, f"{len(damaged):,}", system_id),
            )
        return found

    def claim(self, system_id: str, requests: Sequence[Request]) -> list[Request]:
        keys = [(request.request_id, request.first_sample) for request in requests]
        with self._transaction() as connection:
            # Claims of dead owners are void. There are never more claims than runs are working on.
            others = connection.execute("SELECT DISTINCT owner FROM claim WHERE owner != ?", (self._owner,)).fetchall()
            for (owner,) in others:
                if not locks.is_held(self._lock_path(owner)):
                    connection.execute("DELETE FROM claim WHERE owner = ?", (owner,))
            connection.executemany(
                "INSERT OR IGNORE INTO claim SELECT ?, ?, ?, ? WHERE NOT EXISTS "
                "(SELECT 1 FROM translation WHERE system_id = ? AND request_id = ? AND sample = ?)",
                [(system_id, *key, self._owner, system_id, *key) for key in keys],
            )
            ours = set(
                connection.execute(
                    "SELECT request_id, first_sample FROM claim WHERE owner = ? AND system_id = ?",
                    (self._owner, system_id),
                )
            )
        return [request for request, key in zip(requests, keys, strict=True) if key in ours]

    def put(self, system_id: str, translations: Iterable[Translation]) -> None:
        """Store a portion of answers. Errors are not stored: the next run asks again."""
        rows = [_row(system_id, answer) for answer in translations]
        now = time.monotonic()
        is_due = now - self._last_safe >= _SECONDS_UNTIL_SAFE
        with self._problems():  # FULL waits until everything written so far is on disk
            self._connection.execute(f"PRAGMA synchronous={'FULL' if is_due else 'NORMAL'}")
        self._last_safe = now if is_due else self._last_safe
        with self._transaction() as connection:
            connection.executemany(
                f"INSERT OR IGNORE INTO translation ({_COLUMNS}, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(*row, _checksum(row)) for row in rows if row[3] is not None],
            )
            # Errors release their claims too: otherwise two runs could wait for each other forever.
            connection.executemany(
                "DELETE FROM claim WHERE system_id = ? AND request_id = ? AND first_sample = ?",
                [row[:3] for row in rows],
            )

    def forget(self, system_id: str, requests: Iterable[Request]) -> None:
        with self._transaction() as connection:
            connection.executemany(
                "DELETE FROM translation WHERE system_id = ? AND request_id = ?",
                [(system_id, request.request_id) for request in requests],
            )

    def others(self, system_id: str) -> list[str]:
        with self._problems():
            owners = self._connection.execute(
                "SELECT DISTINCT owner FROM claim WHERE owner != ? AND system_id = ?", (self._owner, system_id)
            ).fetchall()
        return [" on ".join(str(owner).split(".", 2)[1:]) for (owner,) in owners]

    def _check(self, was_emptied: bool) -> None:
        """Check the file's integrity before using it."""
        (n_tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if was_emptied and not n_tables:
            raise UserError(
                f"the translation cache {self.path} is an empty file, so its contents are lost; restore a copy, or "
                "delete it to start a new one"
            )
        (found,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise UserError(
                f"the translation cache {self.path} is damaged ({printable(str(found))}); restore a copy, or choose "
                "another file with --store"
            )

    def _release(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute("DELETE FROM claim WHERE owner = ?", (self._owner,))

    def _lock_path(self, owner: str) -> Path:
        return self.path.with_name(f"{self.path.name}.owners") / owner

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._problems():
            if _identity(self.path) != self._identity:
                raise UserError(
                    f"the translation cache {self.path} was deleted or replaced while in use; restore it, or run again"
                )
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                if self._connection.in_transaction:  # a full disk has already ended it
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    @contextmanager
    def _problems(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeError, OverflowError) as problem:  # names in a damaged schema
            raise UserError(
                f"the translation cache {self.path} cannot be used ({problem}); its contents are kept: free space or "
                "fix permissions and rerun, or choose another file with --store"
            ) from None


def _identity(path: Path) -> tuple[int, int, bool]:
    """Identity of a file, to detect replacement and truncation; zeros if absent."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0, 0, False
    return status.st_dev, status.st_ino, status.st_size > 0


def _checksum(row: Sequence[Any]) -> int:
    """A checksum against damage, not attackers; a cryptographic one would take twice as long."""
    return zlib.crc32("\x1f".join(map(str, row)).encode("utf-8", "replace"))


def _row(system_id: str, answer: Translation) -> tuple[Any, ...]:
    """An answer as a row, exactly as SQLite returns it (-0.0 becomes 0.0, NaN null)."""
    number = answer.log_probability
    by_token = answer.token_log_probabilities
    return (
        system_id,
        answer.request_id,
        int(answer.sample),
        answer.text,
        None if number is None or math.isnan(number) else float(number) + 0.0,
        None if answer.n_tokens is None else int(answer.n_tokens),
        None if by_token is None else json.dumps(by_token),
    )
