"""Work for executors; in a module of its own, since workers must be able to import it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from gendermark.errors import BadFile


def square(number: int) -> int:
    return number * number


def length(text: str) -> int:
    return len(text)


def slow_first(number: int) -> int:
    time.sleep(0.3 if number == 0 else 0)
    return number


def refused_at_three(number: int) -> int:
    if number == 3:
        raise BadFile("data.tsv", "is not what it was", line=7)
    if number > 3:  # slowly, so that the refusal is always there before the last of them
        time.sleep(0.1)
    return number


def faulty(number: int) -> float:
    return 1 / number


def dies_once(where: tuple[str, int]) -> int:
    """The worker is killed with it the first time."""
    directory, number = where
    sign = Path(directory) / "died"
    if number == 2 and not sign.exists():
        sign.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def dies(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def pid_of(number: int) -> int:
    time.sleep(0.05)
    return os.getpid()
