"""The store of finished translations: content-addressed, so that no request is paid for twice.

One SQLite file for all runs. A translation is filed under system, request and sample number, in the same
transaction that hands over the portion it came in: kill -9 leaves either the whole portion or nothing of it.

Two runs may work at once. Before asking its system, a run claims the requests; the other sees the claim and waits for
the answer instead. Each run holds a file lock while it lives, so the claims of a killed run are known to be void.
"""

from __future__ import annotations

import contextlib
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
_SCHEMA = """
CREATE TABLE IF NOT EXISTS translation (
  system_id TEXT NOT NULL, request_id TEXT NOT NULL, sample INTEGER NOT NULL, text TEXT NOT NULL, log_probability REAL,
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
        with self._problems():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=_BUSY_TIMEOUT_SECONDS, isolation_level=None)
            self._resources.callback(self._connection.close)
            # Write-ahead log: readers and the one writer do not wait for each other, and a commit survives kill -9.
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.executescript(_SCHEMA)
        self._resources.enter_context(locks.hold(self._lock_path(self._owner)))
        self._resources.callback(self._release)
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
        with self._problems():
            for request_id in dict.fromkeys(request.request_id for request in requests):
                rows = self._connection.execute(
                    "SELECT sample, text, log_probability FROM translation WHERE system_id = ? AND request_id = ?",
                    (system_id, request_id),
                )
                for sample, text, log_probability in rows:
                    found[request_id, sample] = Translation(request_id, text, sample, None, log_probability)
        return found

    def claim(self, system_id: str, requests: Sequence[Request]) -> list[Request]:
        """Those of the requests that nobody has answered or is answering; they are now ours to ask."""
        claimed = []
        with self._transaction() as connection:
            for request in requests:
                key = (system_id, request.request_id, request.first_sample)
                exists = "SELECT 1 FROM translation WHERE system_id = ? AND request_id = ? AND sample = ?"
                if connection.execute(exists, key).fetchone():
                    continue
                owner = connection.execute(
                    "SELECT owner FROM claim WHERE system_id = ? AND request_id = ? AND first_sample = ?", key
                ).fetchone()
                if owner and owner[0] != self._owner and locks.is_held(self._lock_path(owner[0])):
                    continue
                connection.execute("INSERT OR REPLACE INTO claim VALUES (?, ?, ?, ?)", (*key, self._owner))
                claimed.append(request)
        return claimed

    def put(self, system_id: str, translations: Iterable[Translation]) -> None:
        """Make a portion of answers safe. Errors are not kept: the next run asks again."""
        rows = [
            (system_id, answer.request_id, answer.sample, answer.text, answer.log_probability)
            for answer in translations
            if answer.text is not None
        ]
        with self._transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO translation VALUES (?, ?, ?, ?, ?)", rows)
            connection.executemany(
                "DELETE FROM claim WHERE system_id = ? AND request_id = ? AND first_sample = ?",
                [row[:3] for row in rows],
            )

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
