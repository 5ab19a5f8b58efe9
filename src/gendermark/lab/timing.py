"""The time that systems take, asked directly and never by way of the store.

In each round every system has its turn, so that what else the machine does hits all alike. A round is written down as
soon as it is done, and a study that was killed goes on with the next one.
"""

from __future__ import annotations

import json
import math
import os
import platform
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from gendermark import __version__
from gendermark.io.textfiles import write_text
from gendermark.lab.studies import Span
from gendermark.records import Request
from gendermark.systems.system import System

CLOCKS: Mapping[str, str] = {
    "wall": "the time that passed",
    "cpu": "the time that processors worked for it, on a machine that others use too",
}
N_WARM_UP = 16
"""Sentences that are translated before each turn, and not timed."""
_BUSY = 0.7
_PACKAGES = ("ctranslate2", "sentencepiece", "torch", "transformers", "numpy")
Round = Mapping[str, Mapping[str, float]]
"""By system and clock: seconds for a thousand sentences."""


def measure(
    systems: Mapping[str, Callable[[], AbstractContextManager[System]]],
    requests: Sequence[Request],
    numbers: range,
    progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> Iterator[Round]:
    """The rounds of these numbers; each of `systems` opens one that is ready to be asked."""
    n_done, n_all = 0, len(numbers) * len(systems)
    for number in numbers:
        # In another order each time: who comes first after a pause must not always be the same.
        order = sorted(systems)
        random.Random(number).shuffle(order)
        taken = {}
        for name in order:
            progress(n_done, n_all)
            with systems[name]() as system:
                taken[name] = _take_time(system, requests)
            n_done += 1
        yield taken
    progress(n_all, n_all)


def _take_time(system: System, requests: Sequence[Request]) -> dict[str, float]:
    """Seconds for a thousand sentences, by every clock, after a few that do not count."""
    _ask(system, requests[:N_WARM_UP])
    passed, worked = time.perf_counter(), time.process_time()
    _ask(system, requests)
    scale = 1000 / len(requests)
    return {"wall": scale * (time.perf_counter() - passed), "cpu": scale * (time.process_time() - worked)}


def _ask(system: System, requests: Sequence[Request]) -> None:
    for start in range(0, len(requests), system.batch_size):
        for _ in system.answer(requests[start : start + system.batch_size]):
            pass


class Diary:
    """The file of finished rounds, a line each; the first says what was measured, on what."""

    def __init__(self, path: Path, what: Mapping[str, Any]) -> None:
        self._path = path
        self.rounds: list[Round] = []
        self.forgot: list[str] = []
        """In what the rounds that were there differ, so that they do not count."""
        lines: list[dict[str, Any]] = []
        if path.exists():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    lines.append(json.loads(line))
                except ValueError:  # cut off by a kill; it is gone after the writing below
                    break
        if lines and lines[0] != dict(what):
            self.forgot = sorted(key for key in {*what, *lines[0]} if what.get(key) != lines[0].get(key))
        else:
            self.rounds = list(lines[1:])
        write_text(path, "".join(map(_line, [what, *self.rounds])))

    def add(self, one: Round) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line(one))
            file.flush()
            os.fsync(file.fileno())
        self.rounds.append(one)


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class Rounds:
    """What was measured, by one of the clocks."""

    rounds: Sequence[Round]
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
        passed, worked = (sum(sum(self.seconds(p, clock)) for p in self.rounds[0]) for clock in CLOCKS)
        return worked < _BUSY * passed

    @property
    def spread(self) -> float:
        """How far the seconds of a point lie apart: the largest over the smallest, of the worst one."""
        return max(max(found) / max(min(found), 1e-12) for found in map(self.seconds, self.rounds[0]))


def median_of(values: Sequence[float], confidence: float = 0.95) -> Span:
    """With the interval between two of the values that holds the true median with at least this confidence.

    It needs no assumption about how times vary. With few values not even the outermost two reach the confidence: with 5
    the interval has 94 %, with 7 98 %.
    """
    ordered, n = sorted(values), len(values)
    below, outside = 0, 0.5**n
    while 2 * (outside + math.comb(n, below + 1) * 0.5**n) <= 1 - confidence:
        below += 1
        outside += math.comb(n, below) * 0.5**n
    if 2 * outside > 1 - confidence:
        return Span(median(ordered))
    return Span(median(ordered), ordered[below], ordered[n - 1 - below])


def machine() -> dict[str, Any]:
    """What a time depends on beside the system."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "threads_of_libraries": os.environ.get("OMP_NUM_THREADS", "not set"),
        "python": platform.python_version(),
        "gendermark": __version__,
        **{package: version(package) for package in _PACKAGES if find_spec(package)},
    }


def _processor() -> str:
    try:
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        facts = ""
    named = re.search(r"^model name\s*:\s*(.+)$", facts, re.MULTILINE)
    return named[1] if named else platform.processor() or platform.machine()
