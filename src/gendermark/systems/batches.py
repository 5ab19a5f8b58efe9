"""Batches of an interface like OpenAI's (`/files`, `/batches`): answers within a day, usually at half the price.

A batch is paid for when it is accepted, long before its answers are here. So what is submitted is written down first, a
batch carries its key as metadata, and after a kill it is found again in the journal or in the server's own list. It is
never submitted a second time while its answers can still be had.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from gendermark.data.official import cache_root
from gendermark.errors import SystemFailure
from gendermark.io.textfiles import write_text
from gendermark.systems import http

log = logging.getLogger(__name__)

OPTIONS = ("batch", "poll_seconds")
MOST_REQUESTS = 5_000
"""Of one batch; servers take ten times as many, but then a single failure would cost more."""
_KEY = "gendermark"
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_PAGES = 50
_PER_PAGE = 100

Bodies = Mapping[str, Mapping[str, Any]]
"""The id of a request -> the body that a server would be sent."""
Answers = dict[str, dict[str, Any]]
"""The id of a request -> `{"status_code", "body"}`, as the server gives it."""


class Batches:
    """The batches of one system."""

    def __init__(self, client: http.Client, system_id: str, path: str, poll_seconds: float) -> None:
        self._client, self._path, self._poll_seconds = client, path, poll_seconds
        name = hashlib.sha256(system_id.encode()).hexdigest()[:24]
        self._directory = cache_root() / "batches" / name

    def answer(self, bodies: Bodies) -> Iterator[Answers]:
        """What earlier runs have submitted first, then everything else as one batch.

        Answers count as delivered when the next ones are asked for: by then the caller has stored them.
        """
        missing = dict(bodies)
        for path in sorted(self._directory.glob("*.json")):
            entry = self._read(path)
            wanted = [one for one in entry["ids"] if one in missing and one not in entry["delivered"]]
            if wanted and self._find(path, entry):
                log.info("%s: batch %s was submitted earlier; waiting for it", self._client.spec, entry["batch_id"])
                yield from self._collect(path, entry, wanted)
                missing = {one: body for one, body in missing.items() if one not in wanted}
        if missing:
            path, entry = self._submit(missing)
            yield from self._collect(path, entry, list(missing))

    def _submit(self, bodies: Bodies) -> tuple[Path, dict[str, Any]]:
        lines = [
            json.dumps({"custom_id": name, "method": "POST", "url": f"/v1{self._path}", "body": body})
            for name, body in bodies.items()
        ]
        content = "\n".join(lines).encode()
        key = hashlib.sha256(content + str(time.time_ns()).encode()).hexdigest()[:32]
        file = self._client.post(
            "/files", files={"file": (f"{key}.jsonl", content, "application/jsonl")}, data={"purpose": "batch"}
        )
        file_id = self._client.take(file, "id", kind=str)
        path = self._directory / f"{time.time_ns()}-{key}.json"
        entry = {"key": key, "batch_id": "", "ids": list(bodies), "delivered": []}
        self._directory.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(entry))
        try:
            # Only once: a batch whose acceptance was lost on the way must not be submitted again.
            body = {"input_file_id": file_id, "endpoint": f"/v1{self._path}", "completion_window": "24h"}
            batch = self._client.post("/batches", json={**body, "metadata": {_KEY: key}}, max_retries=0)
        except http.Refusal:
            path.unlink()  # it says that there is no batch
            raise
        entry["batch_id"] = self._client.take(batch, "id", kind=str)
        write_text(path, json.dumps(entry))
        log.info("%s: batch %s of %s requests submitted", self._client.spec, entry["batch_id"], f"{len(bodies):,}")
        return path, entry

    def _find(self, path: Path, entry: dict[str, Any]) -> bool:
        """Whether a batch was accepted; asks the server where the journal does not say."""
        if entry["batch_id"]:
            return True
        after: dict[str, str] = {}
        for _ in range(_PAGES):
            try:
                found = self._client.get("/batches", params={"limit": str(_PER_PAGE), **after})
            except http.Refusal as problem:
                raise SystemFailure(
                    f"{self._client.spec} may have accepted a batch just before an earlier run ended, and lists no "
                    f"batches; check there, then delete {path} to submit it again"
                ) from problem
            rows = self._client.take(found, "data", kind=list)
            for row in rows:
                if isinstance(row, dict) and (row.get("metadata") or {}).get(_KEY) == entry["key"]:
                    entry["batch_id"] = self._client.take(row, "id", kind=str)
                    write_text(path, json.dumps(entry))
                    return True
            if not rows or not found.get("has_more"):
                break
            after = {"after": self._client.take(rows[-1], "id", kind=str)}
        path.unlink()
        return False

    def _collect(self, path: Path, entry: dict[str, Any], wanted: list[str]) -> Iterator[Answers]:
        batch = self._wait(path, entry["batch_id"])
        status = batch["status"]
        found: Answers = {}
        for kind in ("error_file_id", "output_file_id"):
            if file_id := batch.get(kind):
                for row in self._client.rows(f"/files/{file_id}/content"):
                    response = row.get("response") if isinstance(row, dict) else None
                    if response or (isinstance(row, dict) and row.get("error")):
                        said = response or {"status_code": 0, "body": {"error": row["error"]}}
                        found[str(row.get("custom_id"))] = said
        if answered := {name: found[name] for name in wanted if name in found}:
            yield answered
        entry["delivered"] += wanted
        if status != "completed" or set(entry["ids"]) <= set(entry["delivered"]):
            path.unlink(missing_ok=True)
        else:
            write_text(path, json.dumps(entry))
        if len(answered) < len(wanted):
            why = http.message_of(batch.get("errors")) or f"it is {status}"
            raise SystemFailure(
                f"{self._client.spec} left {len(wanted) - len(answered):,} of {len(wanted):,} requests of batch "
                f"{entry['batch_id']} unanswered ({self._client.masked(why)}); rerun to submit those again"
            )

    def _wait(self, path: Path, batch_id: str) -> dict[str, Any]:
        shown = ""
        while True:
            try:
                batch = self._client.take(self._client.get(f"/batches/{batch_id}"), kind=dict)
            except http.Refusal as problem:
                if problem.status == 404:
                    raise SystemFailure(
                        f"{self._client.spec} no longer has batch {batch_id}; delete {path} to submit it again"
                    ) from None
                raise
            status = self._client.take(batch, "status", kind=str)
            if status in _ENDED:
                return batch
            counts = batch.get("request_counts") or {}
            news = f"batch {batch_id} is {self._client.masked(status)}, {counts.get('completed', 0)} answered"
            if news != shown:
                log.info("%s: %s", self._client.spec, news)
                shown = news
            time.sleep(self._poll_seconds)

    def _read(self, path: Path) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            entry = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(entry, dict) and {"key", "batch_id", "ids", "delivered"} <= entry.keys():
                return entry
        raise SystemFailure(f"{path} is damaged; it names a batch that was paid for: restore it, or delete it")
