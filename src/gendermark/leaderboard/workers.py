"""Work that is done side by side, in processes."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

from gendermark.errors import UserError

T = TypeVar("T")
_FEW = 3
"""To start processes takes longer than so many pieces of work."""


def each(function: Callable[..., T], arguments: Sequence[tuple[Any, ...]], jobs: int = 0) -> Iterator[T]:
    """The function of all arguments, in their order; `jobs` processes, as many as there are cores if not given."""
    jobs = min(jobs or os.cpu_count() or 1, len(arguments))
    if jobs < 2 or len(arguments) <= _FEW:
        for one in arguments:
            yield function(*one)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        waiting = [pool.submit(_guarded, function, one) for one in arguments]
        for future in waiting:
            found, problem = future.result()
            if problem:
                for other in waiting:
                    other.cancel()
                raise UserError(problem)
            yield found


def _guarded(function: Callable[..., T], arguments: tuple[Any, ...]) -> tuple[Any, str]:
    """Errors travel as their sentence: not every exception survives the way between processes."""
    try:
        return function(*arguments), ""
    except UserError as problem:
        return None, str(problem)
