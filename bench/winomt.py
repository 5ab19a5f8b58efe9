"""Speed of WinoMT: scoring a file of translations, and reading entities in text that is already cut.

Prints two ratios. (1) `score` (items, alignment, reading, all metrics with 1,000 resamples, all slices) against word
alignment of the same file alone, both directions, which is the least any method pays. (2) Reading entities against
cutting the same sentences into words. Sentences are made here, as many as WinoMT has.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import gendermark
from gendermark.benchmarks.winomt.benchmark import BENCHMARK
from gendermark.linguistics import words as words_module
from gendermark.linguistics.alignment import align, align_backward
from gendermark.linguistics.entities import read_entity
from gendermark.linguistics.occupations import bundled_finder
from gendermark.records import Gender

N_SENTENCES = 3888
REPEATS = 7


def main() -> None:
    item_set = gendermark.items("winomt", "es", data="core")
    items = item_set.items
    names = [BENCHMARK.render(item, Gender.FEMININE, item_set.selection)[:-1] for item in items]
    texts = [f"{name} habló con la otra porque llegó tarde {number}." for number, name in enumerate(names)]
    finder = bundled_finder("es")
    pairs = [(item.source.split(), text.split()) for item, text in zip(items, texts, strict=True)]
    cut = [finder.language.cut(text) for text in texts]

    def score() -> None:
        words_module._cut.cache_clear()
        gendermark.score("winomt", texts, "es", data="core")

    def align_both() -> None:
        align(pairs)
        align_backward(pairs)

    def read() -> None:
        for item, words in zip(items, cut, strict=True):
            read_entity(finder, words, item.entity, list, 0.5)

    def cut_all() -> None:
        words_module._cut.cache_clear()
        for text in texts:
            finder.language.cut(text)

    times = interleaved(score, align_both, read, cut_all)
    per_second = len(items) / times[2]
    print(
        f"winomt: score / alignment alone = {times[0] / times[1]:.2f} ({times[0] * N_SENTENCES / len(items):.2f} s per "
        f"{N_SENTENCES:,} sentences); reading / cutting = {times[2] / times[3]:.2f} ({per_second:,.0f} sentences/s)"
    )


def interleaved(*functions: Callable[[], None]) -> list[float]:
    """The median time of each, measured in turns so that a busy moment hits all alike."""
    seconds: list[list[float]] = [[] for _ in functions]
    for _ in range(REPEATS):
        for function, found in zip(functions, seconds, strict=True):
            started = time.perf_counter()
            function()
            found.append(time.perf_counter() - started)
    return [statistics.median(found) for found in seconds]


if __name__ == "__main__":
    main()
