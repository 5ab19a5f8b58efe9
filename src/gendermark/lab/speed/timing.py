"""How long systems take: rounds in which each has its turn, so that what else the machine does hits all alike.

A round is written down as soon as it is done; a study that was killed goes on with the next one. The systems are asked
themselves: no answer comes from the store.
"""

from __future__ import annotations

import json
import math
import os
import platform
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from gendermark import __version__
from gendermark.io.textfiles import write_text
from gendermark.records import Request
from gendermark.systems.system import System

CLOCKS: Mapping[str, str] = {
    "wall": "the time that passed",
    "cpu": "the time that processors worked for it, on a machine that others use too",
}
N_WARM_UP = 16
_PER = 1000
_PACKAGES = ("ctranslate2", "sentencepiece", "torch", "transformers", "numpy")
_BUSY = 0.7

OpenReady = Callable[[], AbstractContextManager[System]]
"""Opens a system that is ready to be asked."""


@dataclass(frozen=True)
class Timing:
    """How time is taken."""

    repeats: int = 7
    n_sentences: int = 128
    clock: str = "wall"


@dataclass(frozen=True)
class Median:
    """A median of rounds; its interval needs no assumption about how times vary."""

    value: float
    low: float | None = None
    high: float | None = None


def median_of(values: Sequence[float], confidence: float = 0.95) -> Median:
    """With the interval between two of the values that holds the true median with at least this confidence.

    So few values may be there that not even the outermost two do: with 5 the interval reaches 94 %, with 7 98 %.
    """
    ordered, n = sorted(values), len(values)
    below, outside = 0, 0.5**n
    while 2 * (outside + math.comb(n, below + 1) * 0.5**n) <= 1 - confidence:
        below += 1
        outside += math.comb(n, below) * 0.5**n
    if 2 * outside > 1 - confidence:
        return Median(median(ordered))
    return Median(median(ordered), ordered[below], ordered[n - 1 - below])


def machine() -> dict[str, Any]:
    """What a time depends on beside the system."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "threads_of_libraries": os.environ.get("OMP_NUM_THREADS", "not set"),
        "python": platform.python_version(),
        "gendermark": __version__,
        **{package: found for package in _PACKAGES if (found := _version(package))},
    }


def _processor() -> str:
    try:
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        facts = ""
    named = re.search(r"^model name\s*:\s*(.+)$", facts, re.MULTILINE)
    return named[1] if named else platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


@dataclass(frozen=True)
class Rounds:
    """What was measured: seconds of each round, by point and clock, for a thousand sentences."""

    points: tuple[str, ...]
    rounds: tuple[Mapping[str, Mapping[str, float]], ...]
    clock: str

    def seconds(self, point: str, clock: str = "") -> list[float]:
        return [one[point][clock or self.clock] for one in self.rounds]

    def ratios(self, point: str, base: str) -> list[float]:
        """How many times as fast as the baseline, round by round."""
        return [b / max(a, 1e-12) for a, b in zip(self.seconds(point), self.seconds(base), strict=True)]

    def saved(self, point: str, base: str) -> list[float]:
        return [b - a for a, b in zip(self.seconds(point), self.seconds(base), strict=True)]

    @property
    def is_busy(self) -> bool:
        """Whether the processor was elsewhere for much of the time, or the work was."""
        passed, worked = (sum(sum(self.seconds(p, clock)) for p in self.points) for clock in CLOCKS)
        return worked < _BUSY * passed

    @property
    def spread(self) -> float:
        """How far the seconds of a point lie apart: the largest over the smallest, of the worst one."""
        return max(max(found) / max(min(found), 1e-12) for found in map(self.seconds, self.points))


class Diary:
    """The file of finished rounds, a line each; the first says what was measured, on what."""

    def __init__(self, path: Path, what: Mapping[str, Any]) -> None:
        self._path, self._what = path, what
        self.rounds: list[Mapping[str, Mapping[str, float]]] = []
        self.forgot: list[str] = []
        """In what the rounds that were there differ, so that they do not count."""
        lines = self._lines()
        if lines and lines[0] != dict(what):
            self.forgot = sorted(key for key in {*what, *lines[0]} if what.get(key) != lines[0].get(key))
        elif lines:
            self.rounds = list(lines[1:])
        # A line that was cut off by a kill is gone after this.
        write_text(path, "".join(map(_line, [what, *self.rounds])))

    def _lines(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    found.append(json.loads(line))
                except ValueError:
                    break
        return found

    def add(self, one: Mapping[str, Mapping[str, float]]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line(one))
            file.flush()
            os.fsync(file.fileno())
        self.rounds.append(one)


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def measure(
    diary: Diary,
    systems: Mapping[str, OpenReady],
    requests: Sequence[Request],
    timing: Timing,
    progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> Rounds:
    """As many rounds as are wanted; those that the diary has are not made again."""
    todo = range(len(diary.rounds), timing.repeats)
    n_done, n_all = 0, len(todo) * len(systems)
    for number in todo:
        # In another order each time: who comes first after a pause must not always be the same.
        order = sorted(systems)
        random.Random(number).shuffle(order)
        taken = {}
        for name in order:
            progress(n_done, n_all)
            with systems[name]() as system:
                taken[name] = take_time(system, requests)
            n_done += 1
        diary.add(taken)
    progress(n_all, n_all)
    return Rounds(tuple(systems), tuple(diary.rounds), timing.clock)


def take_time(system: System, requests: Sequence[Request]) -> dict[str, float]:
    """Seconds for a thousand sentences, by every clock, after a few that do not count."""
    _ask(system, requests[:N_WARM_UP])
    passed, worked = time.perf_counter(), time.process_time()
    _ask(system, requests)
    scale = _PER / len(requests)
    return {"wall": scale * (time.perf_counter() - passed), "cpu": scale * (time.process_time() - worked)}


def _ask(system: System, requests: Sequence[Request]) -> None:
    for start in range(0, len(requests), system.batch_size):
        for _ in system.answer(requests[start : start + system.batch_size]):
            pass
