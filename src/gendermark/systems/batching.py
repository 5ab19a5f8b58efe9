"""Sentences of like length together, and smaller batches where memory does not suffice."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

# Engines have no error of their own for this; what they say differs from device to device.
_OUT_OF_MEMORY = ("out of memory", "bad alloc", "bad_alloc", "allocate memory", "not enough memory")


def by_length(lengths: Sequence[int], batch_size: int) -> list[list[int]]:
    """The places of texts in batches of like length, so that little is padded; the longest come first.

    Whether memory suffices so shows at the start of the work and not at its end.
    """
    order = sorted(range(len(lengths)), key=lambda place: (-lengths[place], place))
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]


def padded(rows: Sequence[Sequence[int]], pad: int) -> list[list[int]]:
    """Rows of numbers, made as long as the longest."""
    longest = max(len(row) for row in rows)
    return [[*row, *[pad] * (longest - len(row))] for row in rows]


def is_out_of_memory(problem: BaseException) -> bool:
    """Whether a smaller batch could succeed, for any engine."""
    return isinstance(problem, MemoryError) or any(words in str(problem).lower() for words in _OUT_OF_MEMORY)


class Batches:
    """Works through batches. One that does not fit into memory is halved, and later ones are not made larger again."""

    def __init__(self) -> None:
        self._largest: int | None = None
        """None: every batch has fitted so far."""
        self._n_given_up = 0

    def run(
        self,
        batch: Sequence[Item],
        work: Callable[[Sequence[Item]], Sequence[Answer]],
        give_up: Callable[[Item, str], Answer],
        fault_of_one: Callable[[Exception], str | None] = lambda problem: None,  # noqa: ARG005
    ) -> list[Answer]:
        """The answers to a batch, in its order.

        What cannot be done even alone is given up with a reason. `fault_of_one` says why, where the whole batch failed
        for one of its items (a text that is too long): that one is looked for, and nothing is made smaller for it.
        """
        answers: list[Answer] = []
        waiting = deque([batch] if batch else [])
        while waiting:
            part = waiting.popleft()
            if self._largest is not None and len(part) > self._largest:
                starts = range(0, len(part), self._largest)
                waiting.extendleft(part[start : start + self._largest] for start in reversed(starts))
                continue
            try:
                answers.extend(work(part))
                continue
            except Exception as problem:  # engines raise what they like
                reason = fault_of_one(problem)
                if reason is None and not is_out_of_memory(problem):
                    raise
            # Not inside `except`: while the problem lives, it holds what the failed batch had in memory.
            half = (len(part) + 1) // 2
            if len(part) > 1:
                waiting.extendleft((part[half:], part[:half]))
                if reason is None:
                    self._largest = min(self._largest or half, half)
            else:
                self._n_given_up += reason is None
                answers.append(give_up(part[0], reason or "not enough memory for this sentence, even alone"))
        return answers

    def notes(self) -> list[str]:
        """One line for each thing that memory did not suffice for."""
        notes = []
        if self._largest is not None:
            size = _sentences(self._largest)
            notes.append(f"memory did not suffice for the batches asked for; they were cut to {size}")
        if self._n_given_up:
            has = "has no answer" if self._n_given_up == 1 else "have no answers"
            them = _sentences(self._n_given_up)
            notes.append(f"{them} did not fit into memory even alone and {has}; the same command asks again")
        return notes


def _sentences(n: int) -> str:
    return f"{n} sentence{'s' * (n != 1)}"
