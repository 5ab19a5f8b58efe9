"""Progress as occasional lines of text."""

from __future__ import annotations

import time
from collections.abc import Callable

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
