"""The store of finished translations: content-addressed, so that no request is paid for twice.

One SQLite file for all runs. A translation is filed under system, request and sample number, in the same
transaction that hands over the portion it came in: kill -9 leaves either the whole portion or nothing of it.

Two runs may work at once. Before asking its system, a run claims the requests; the other sees the claim and waits for
the answer instead. Each run holds a file lock while it lives, so the claims of a killed run are known to be void.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

from gendermark import locks
from gendermark.errors import UserError
from gendermark.records import Request, Translation

Key = tuple[str, int]
"""Request id and sample number."""

_BUSY_TIMEOUT_SECONDS = 60.0
_IDS_PER_QUERY = 500
"""Older builds of SQLite take at most 999 values in one statement."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS translation (
  system_id TEXT NOT NULL, request_id TEXT NOT NULL, sample INTEGER NOT NULL, text TEXT NOT NULL, log_probability REAL,
  n_tokens INTEGER, token_log_probabilities TEXT,
  PRIMARY KEY (system_id, request_id, sample)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claim (
  system_id TEXT NOT NULL, request_id TEXT NOT NULL, first_sample INTEGER NOT NULL, owner TEXT NOT NULL,
  PRIMARY KEY (system_id, request_id, first_sample)
) WITHOUT ROWID;
"""


class Store:
    """Use as a context manager: claims are held inside it and given back at its end."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._owner = uuid.uuid4().hex
        self._resources = ExitStack()

    def __enter__(self) -> Store:
        with ExitStack() as resources:
            with self._problems():
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._connection = sqlite3.connect(self.path, timeout=_BUSY_TIMEOUT_SECONDS, isolation_level=None)
                resources.callback(self._connection.close)
                self._connection.execute("PRAGMA schema_version")  # opens the file: what is wrong with it shows here
                # SQLite does not wait for another process that is just setting up the same file.
                with locks.hold(self._lock_path("opening"), timeout_seconds=_BUSY_TIMEOUT_SECONDS):
                    # Write-ahead log: readers and the one writer do not wait for each other, and a commit survives
                    # kill -9.
                    self._connection.execute("PRAGMA journal_mode=WAL")
                    self._connection.execute("PRAGMA synchronous=NORMAL")
                    self._connection.executescript(_SCHEMA)
                    self._add_missing_columns()
            resources.enter_context(locks.hold(self._lock_path(self._owner)))
            resources.callback(self._release)
            self._resources = resources.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()
        with contextlib.suppress(OSError):
            self._lock_path(self._owner).unlink()

    def get(self, system_id: str, requests: Iterable[Request]) -> dict[Key, Translation]:
        """The finished translations of these requests, every sample there is of each."""
        found: dict[Key, Translation] = {}
        ids = list(dict.fromkeys(request.request_id for request in requests))
        with self._problems():
            for start in range(0, len(ids), _IDS_PER_QUERY):
                chunk = ids[start : start + _IDS_PER_QUERY]
                rows = self._connection.execute(
                    "SELECT request_id, sample, text, log_probability, n_tokens, token_log_probabilities "
                    "FROM translation "
                    f"WHERE system_id = ? AND request_id IN ({','.join('?' * len(chunk))})",
                    (system_id, *chunk),
                )
                for request_id, sample, text, log_probability, n_tokens, by_token in rows:
                    found[request_id, sample] = Translation(
                        request_id, text, sample, None, log_probability, n_tokens, _numbers(by_token)
                    )
        return found

    def claim(self, system_id: str, requests: Sequence[Request]) -> list[Request]:
        """Those of the requests that nobody has answered or is answering; they are now ours to ask."""
        keys = [(request.request_id, request.first_sample) for request in requests]
        with self._transaction() as connection:
            # The claims of those who no longer live are void. There are never more claims than runs are working on.
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
        """Make a portion of answers safe. Errors are not kept: the next run asks again."""
        rows = [
            (
                system_id,
                answer.request_id,
                answer.sample,
                answer.text,
                answer.log_probability,
                answer.n_tokens,
                json.dumps(answer.token_log_probabilities) if answer.token_log_probabilities is not None else None,
            )
            for answer in translations
        ]
        with self._transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO translation VALUES (?, ?, ?, ?, ?, ?, ?)",
                [row for row in rows if row[3] is not None],
            )
            # Errors give their claims back too: two runs that wait for each other's errors would wait for ever.
            connection.executemany(
                "DELETE FROM claim WHERE system_id = ? AND request_id = ? AND first_sample = ?",
                [row[:3] for row in rows],
            )

    def forget(self, system_id: str, requests: Iterable[Request]) -> None:
        """Drop what was kept of these requests, since it was found to be wrong."""
        with self._transaction() as connection:
            connection.executemany(
                "DELETE FROM translation WHERE system_id = ? AND request_id = ?",
                [(system_id, request.request_id) for request in requests],
            )

    def _add_missing_columns(self) -> None:
        """A store of an earlier version keeps what it holds."""
        there = {row[1] for row in self._connection.execute("PRAGMA table_info(translation)")}
        for column, kind in (("n_tokens", "INTEGER"), ("token_log_probabilities", "TEXT")):
            if column not in there:
                self._connection.execute(f"ALTER TABLE translation ADD COLUMN {column} {kind}")

    def _release(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("DELETE FROM claim WHERE owner = ?", (self._owner,))

    def _lock_path(self, owner: str) -> Path:
        return self.path.with_name(f"{self.path.name}.owners") / owner

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._problems():
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
        except (sqlite3.Error, OSError) as problem:
            raise UserError(
                f"the store of translations {self.path} cannot be used ({problem}); what it holds is kept: free "
                "space or mend permissions and run again, or choose another file with --store"
            ) from None


def _numbers(text: str | None) -> tuple[float, ...] | None:
    return tuple(json.loads(text)) if text is not None else None
