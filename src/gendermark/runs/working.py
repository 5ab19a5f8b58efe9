"""What a worker does for a run: answer a shard of its requests with a system that it opens once and keeps.

A shard is named by its content. The driver hands it out, and alone writes what comes back (`translate.py`).
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gendermark.errors import UserError
from gendermark.records import Request, Translation
from gendermark.systems.system import Opened, System, open_system


@dataclass(frozen=True, slots=True)
class Shard:
    """Some requests to one system, and what it must know to answer them."""

    opened: Opened
    system_id: str
    briefing: Any
    requests: tuple[Request, ...]
    batch_size: int
    """The system is given so many at a time, so that what stands side by side does not depend on the shard."""


@dataclass(frozen=True, slots=True)
class Answered:
    portions: Sequence[Sequence[Translation]]
    worker: str
    notes: Sequence[str]
    """What the system had to say about its work up to now, on this worker."""
    seconds: float = 0.0
    """How long the system took."""


def answer(shard: Shard) -> Answered:
    """On a worker: ask the system."""
    with _lock:  # a worker may have several threads, and an engine is used by one at a time
        system = _opened(shard.opened)
        system.brief(shard.briefing, shard.requests)
        if not _is_same(system, shard):
            raise UserError(
                f"{shard.opened.spec} is another system on a worker than here (another model file, version or "
                "processor?); give all workers the same"
            )
        started = time.perf_counter()
        size = shard.batch_size
        batches = [shard.requests[start : start + size] for start in range(0, len(shard.requests), size)]
        portions = [portion for batch in batches for portion in system.answer(batch)]
        seconds = time.perf_counter() - started
        return Answered(portions, f"{socket.gethostname()}/{os.getpid()}", tuple(system.notes()), seconds)


_lock = threading.Lock()
_kept: dict[Opened, System] = {}


def _opened(wanted: Opened) -> System:
    """Opened once. Of another system, the earlier one is given back first: memory may not suffice for both."""
    if wanted not in _kept:
        for other in list(_kept):
            _kept.pop(other).close()
        _kept[wanted] = open_system(wanted.spec, dict(wanted.options))
    return _kept[wanted]


def _is_same(system: System, shard: Shard) -> bool:
    """By what answers are filed under; some systems have it only of the driver's items."""
    return shard.briefing is not None or system.system_id == shard.system_id
