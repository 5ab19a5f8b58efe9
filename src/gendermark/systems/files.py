"""`files:PATH`: translations made elsewhere, one per line in export order, or `source ||| translation` lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import BadFile, UnmatchedSources
from gendermark.records import Item, Request, Translation
from gendermark.systems.system import System, refuse_unknown_options
from gendermark.textfiles import read_lines

SEPARATOR = " ||| "
_FEWEST_SHIFTED = 6.0
"""How many lines' worth of fit a shift must gain before a file is refused; chance gains less."""


def read_translations(path: Path | str, items: Sequence[Item]) -> list[str]:
    """The translation of each item, in the order of the items."""
    return _in_order(path, read_lines(path), items)


def read_and_check(path: Path | str, benchmark: Benchmark, item_set: ItemSet) -> list[str]:
    """The same, refusing a file whose lines do not stand in the order of the items. (Reads once: it may be a pipe.)"""
    lines = read_lines(path)
    texts = _in_order(path, lines, item_set.items)
    if not _has_sources(lines):  # with sources every line has found its sentence
        check_order(path, benchmark, item_set, texts)
    return texts


def _in_order(path: Path | str, lines: list[str], items: Sequence[Item]) -> list[str]:
    if _has_sources(lines):
        return _matched_by_source(path, lines, items)
    if len(lines) != len(items):
        raise BadFile(
            path,
            f"has {len(lines):,} lines, but there are {len(items):,} sentences; expected one translation per line "
            "in the order of `gendermark export`",
        )
    return lines


def _has_sources(lines: Sequence[str]) -> bool:
    return any(SEPARATOR in f"{line} " for line in lines)


def check_order(path: Path | str, benchmark: Benchmark, item_set: ItemSet, texts: Sequence[str]) -> None:
    """Refuse a file whose lines, from some line on, belong to the sentence before or behind their own.

    A line lost here and doubled there leaves the number of lines right, and every score in between wrong.
    """
    items = item_set.items
    own = [benchmark.fit(item, text, item_set.selection) for item, text in zip(items, texts, strict=True)]
    if not own or own[0] is None:
        return
    fits = [fit or 0.0 for fit in own]
    for step, word in ((1, "before"), (-1, "behind")):
        gain = 0.0
        worst = (0.0, 0)
        # The stretch of lines that gains most by being moved one line up or down (Kadane's maximum sum).
        start = 0
        for place in range(len(items)):
            other = place + step
            moved = benchmark.fit(items[place], texts[other], item_set.selection) if 0 <= other < len(texts) else 0.0
            if gain <= 0:
                gain, start = 0.0, place
            gain += (moved or 0.0) - fits[place]
            worst = max(worst, (gain, start), key=lambda found: found[0])
        if worst[0] >= _FEWEST_SHIFTED:
            raise BadFile(
                path,
                f"from here on lines seem to belong to the sentence {word} theirs: one is missing or doubled; "
                "translate again, or give `source ||| translation` lines",
                line=worst[1] + 1,
            )


def _matched_by_source(path: Path | str, lines: Sequence[str], items: Sequence[Item]) -> list[str]:
    """Pairs may stand in any order. A source that occurs several times has one translation, or one for each time."""
    found: dict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(lines, start=1):
        source, separator, translation = f"{line} ".partition(SEPARATOR)
        if not separator:
            raise BadFile(
                path, f"has no {SEPARATOR.strip()!r} between source and translation, but other lines do", line=number
            )
        if SEPARATOR in translation:
            raise BadFile(path, f"has more than one {SEPARATOR.strip()!r}", line=number)
        found[source.strip()].append(translation.strip())
    known = {item.source.strip() for item in items}
    for number, line in enumerate(lines, start=1):
        source = line.partition(SEPARATOR.rstrip())[0].strip()
        if source not in known:
            raise UnmatchedSources(
                path, f"source {_shortened(source)} is not a sentence of this benchmark", line=number
            )
    n_used: dict[str, int] = defaultdict(int)
    translations = []
    for item in items:
        source = item.source.strip()
        if source not in found:
            raise UnmatchedSources(path, f"has no translation of sentence {item.index + 1}, {_shortened(item.source)}")
        candidates = found[source]
        translations.append(candidates[min(n_used[source], len(candidates) - 1)])
        n_used[source] += 1
    for source, candidates in found.items():
        if len(candidates) not in (1, n_used[source]):
            times = "once" if n_used[source] == 1 else f"{n_used[source]} times"
            raise BadFile(
                path,
                f"has {len(candidates)} translations of {_shortened(source)}, which occurs {times}; "
                "give one, or one for each time",
            )
    return translations


def _shortened(text: str, width: int = 60) -> str:
    return repr(text if len(text) <= width else text[: width - 1] + "…")


class Files(System):
    """Reads the one file, or from a directory the file `BENCHMARK.SOURCE-TARGET.txt` of each item set."""

    is_stored = False

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        refuse_unknown_options("files", options, ())
        self.spec = f"files:{argument}"
        self.system_id = self.spec
        self._path = Path(argument)
        self._translations: list[str] = []

    def prepare(self, benchmark: Benchmark, item_set: ItemSet) -> None:
        selection = item_set.selection
        path = self._path
        if path.is_dir():
            path = path / f"{benchmark.name}.{selection.source_language}-{selection.target_language}.txt"
        self._translations = read_and_check(path, benchmark, item_set)

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        yield [
            Translation(request.request_id, text) for request, text in zip(requests, self._translations, strict=True)
        ]


def open_system(argument: str, options: Mapping[str, str]) -> System:
    return Files(argument, options)
