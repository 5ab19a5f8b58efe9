"""Waiting for what another run is asking for: the user is told who it is, and it does not last for ever."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from gendermark.errors import SystemFailure
from gendermark.runs.store import Store
from gendermark.systems.system import System

log = logging.getLogger(__name__)
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Patience:
    """All in seconds without a new answer."""

    until_told: float = 10.0
    for_stopped: float = 60.0
    """A run that is held up answers nothing until somebody lets it go on."""
    for_living: float = 1_800.0
    """A large model or a server's pause may take long; longer than this nothing does."""


PATIENCE = Patience()


class Waiting:
    """One wait, over and over, while others are asking for all that is left."""

    def __init__(self, system: System, store: Store) -> None:
        self._system, self._store = system, store
        self._n_done = -1
        self._since = time.monotonic()
        self._is_told = False

    def pause(self, n_done: int, n_left: int) -> None:
        """A moment. Raises when the others have answered nothing for too long."""
        now = time.monotonic()
        if n_done != self._n_done:
            self._n_done, self._since, self._is_told = n_done, now, False
        seconds = now - self._since
        if seconds >= PATIENCE.until_told:
            self._look(seconds, n_left)
        time.sleep(_POLL_SECONDS)

    def _look(self, seconds: float, n_left: int) -> None:
        owners = self._store.others(self._system.system_id)
        stopped = [owner for owner in owners if owner.is_stopped]
        who = ", ".join(f"{owner.process_id} on {owner.host}" for owner in stopped or owners) or "of an earlier version"
        what = f"process {who} is asking {self._system.spec} for {n_left:,} of these translations"
        if stopped:
            pid = stopped[0].process_id
            what += f" and is stopped; let it go on with `kill -CONT {pid}`, or end it with `kill -KILL {pid}`"
        if seconds >= (PATIENCE.for_stopped if stopped else PATIENCE.for_living):
            raise SystemFailure(
                f"{what}{'' if stopped else '; end it'}, then run again (no new answer in {seconds:.0f} s; all others "
                "are kept)"
            )
        if not self._is_told:
            self._is_told = True
            log.warning("%s; waiting for it", what)
