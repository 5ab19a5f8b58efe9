"""Time systems directly, without the store.

In each round every system has its turn, so that other load affects all alike. A round is written as soon as it is done;
a killed study resumes with the next one.
"""

from __future__ import annotations

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
from gendermark.io.textfiles import read_jsonl, write_jsonl
from gendermark.lab.studies import Span
from gendermark.records import Request
from gendermark.systems.system import System

CLOCKS: Mapping[str, str] = {
    "wall": "the time that passed",
    "cpu": "the time that processors worked for it, on a machine that others use too",
}
N_WARM_UP = 16
_BUSY = 0.7
_PACKAGES = ("ctranslate2", "sentencepiece", "torch", "transformers", "numpy")
Round = Mapping[str, Mapping[str, float]]
"""By system and clock: seconds per thousand sentences."""


def measure(
    systems: Mapping[str, Callable[[], AbstractContextManager[System]]],
    requests: Sequence[Request],
    numbers: range,
    progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> Iterator[Round]:
    """The timed rounds with these numbers; each of `systems` opens one that is ready."""
    n_done, n_all = 0, len(numbers) * len(systems)
    for number in numbers:
        # Vary the order: the first one after a pause must not always be the same.
        order = sorted(systems)
        random.Random(number).shuffle(order)
        taken = {}
        for name in order:
            progress(n_done, n_all)
            with systems[name]() as system:
                _ask(system, requests[:N_WARM_UP])
                passed, worked = time.perf_counter(), time.process_time()
                _ask(system, requests)
                passed, worked = time.perf_counter() - passed, time.process_time() - worked
            scale = 1000 / len(requests)
            taken[name] = {"wall": scale * passed, "cpu": scale * worked}
            n_done += 1
        yield taken
    progress(n_all, n_all)


def _ask(system: System, requests: Sequence[Request]) -> None:
    for start in range(0, len(requests), system.batch_size):
        for _ in system.answer(requests[start : start + system.batch_size]):
            pass


class Diary:
    """The file of finished rounds, one per line; the first line has settings and machine."""

    def __init__(self, path: Path, what: Mapping[str, Any]) -> None:
        self._path, self._what = path, what
        before, *rounds = [row for _, row in read_jsonl(path)] if path.exists() else [what]
        self.forgot = sorted(key for key in {*what, *before} if what.get(key) != before.get(key))
        """Why earlier rounds do not count."""
        self.rounds: list[Round] = [] if self.forgot else list(rounds)

    def add(self, one: Round) -> None:
        self.rounds.append(one)
        write_jsonl(self._path, map(dict, [self._what, *self.rounds]))


@dataclass(frozen=True)
class Rounds:
    rounds: Sequence[Round]
    clock: str

    def seconds(self, point: str, clock: str = "") -> list[float]:
        return [one[point][clock or self.clock] for one in self.rounds]

    def ratios(self, point: str, base: str) -> list[float]:
        return [b / max(a, 1e-12) for a, b in zip(self.seconds(point), self.seconds(base), strict=True)]

    def saved(self, point: str, base: str) -> list[float]:
        return [b - a for a, b in zip(self.seconds(point), self.seconds(base), strict=True)]

    @property
    def is_busy(self) -> bool:
        """Whether the processor or the work was interrupted for much of the time."""
        passed, worked = (sum(sum(self.seconds(p, clock)) for p in self.rounds[0]) for clock in CLOCKS)
        return worked < _BUSY * passed

    @property
    def spread(self) -> float:
        """Largest over smallest time of a point, of the worst one."""
        return max(max(found) / max(min(found), 1e-12) for found in map(self.seconds, self.rounds[0]))


def median_of(values: Sequence[float], confidence: float = 0.95) -> Span:
    """The median with an interval between order statistics of at least this confidence.

    Distribution-free. With few values even the extremes do not reach the confidence: 5 give 94%, 7 give 98%.
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
    try:
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        facts = ""
    named = re.search(r"^model name\s*:\s*(.+)$", facts, re.MULTILINE)
    return {
        "processor": named[1] if named else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "threads_of_libraries": os.environ.get("OMP_NUM_THREADS", "not set"),
        "python": platform.python_version(),
        "gendermark": __version__,
        **{package: version(package) for package in _PACKAGES if find_spec(package)},
    }
