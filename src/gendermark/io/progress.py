"""Progress as text: occasional lines, or one line that is written over."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS_BETWEEN_LINES = 10.0


def told_in_lines(title: str, say: Callable[[str], None]) -> Callable[[int, int], None]:
    """A callback for (done, total) after every portion of the work; silent for short work."""
    started = last = time.monotonic()
    first: int | None = None

    def report(done: int, total: int) -> None:
        nonlocal last, first
        now = time.monotonic()
        first = done if first is None else first
        if now - last < SECONDS_BETWEEN_LINES or not first < done < total:
            return
        last = now
        left = (now - started) / (done - first) * (total - done)
        say(f"{title}: {done:,} of {total:,}, about {left:,.0f} s left")

    return report


@contextmanager
def on_one_line(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show the progress of long work in a notebook or a script: one line on stderr."""
    end = ""

    def say(line: str) -> None:
        nonlocal end
        end = "\n"
        sys.stderr.write(f"\r{line:<79}")
        sys.stderr.flush()

    try:
        yield told_in_lines(title, say)
    finally:
        sys.stderr.write(end)
