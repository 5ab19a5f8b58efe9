"""What was found out about a word, for the next time: in a text most words are met again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_MOST = 100_000


class Known(dict[str, T]):
    """`known[word]` is what a function gives for the word. A dictionary, as looking up has to cost nothing."""

    def __init__(self, find_out: Callable[[str], T]) -> None:
        super().__init__()
        self._find_out = find_out

    def __missing__(self, word: str) -> T:
        if len(self) >= _MOST:
            self.clear()
        found = self[word] = self._find_out(word)
        return found
