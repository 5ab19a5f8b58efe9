"""Systems and run folders whose answers are known, for the tests of the analyses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from gendermark import api
from gendermark.benchmarks.uncertainty.judge import BENCHMARK
from gendermark.lab.uncertainty_results import Cell, read_cell
from gendermark.metrics.metric import Resampling
from gendermark.records import Estimate, Request, Task, Translation
from gendermark.result import Result
from gendermark.runs import folder, score
from gendermark.selection import Selection
from gendermark.systems.fakes import Fake
from gendermark.systems.sampling import Decoding
from gendermark.systems.system import System

SYSTEMS = ("coin", "random", "masculine", "stereotyped?s=0.5", "right?p=0.7")
N = 16


def selected(to: str = "es") -> Selection:
    """The 24 sentences with references, with he, she and they."""
    return api.select("uncertainty", to, data="core", parts=("referenced",), n_samples=N)[1]


def written(directory: Path, samples: Callable[[Any], Sequence[str]], to: str = "es") -> Cell:
    """A run folder with these samples of each item."""
    selection = selected(to)
    item_set = BENCHMARK.load(selection)
    answers = [
        [Translation(request.request_id, text, number) for number, text in enumerate(samples(item))]
        for item, request in zip(item_set.items, BENCHMARK.requests(item_set), strict=True)
    ]
    result = score.score(BENCHMARK, item_set, answers, score.Origin("by hand", resampling=Resampling(100)))
    folder.write_cell(directory, item_set, answers, result)
    sums = {folder.SUMS: folder.sums(directory / result.cell)}
    folder.write_manifest(directory, {}, "finished", {result.cell: sums})
    return read_cell(directory)


def scored(system: str, to: str, scores: Mapping[str, float], benchmark: str = "uncertainty", **fields: Any) -> Result:
    estimates = tuple(
        Estimate(*(name.split(":") if ":" in name else (name, "all")), value, None, None, 1, 1, 1)
        for name, value in scores.items()
    )
    return Result(Selection(benchmark, "en", to, **fields), "", system, estimates, [])


@cache
def contrasts() -> list[str]:
    return sorted({item.contrast for item in BENCHMARK.load(selected()).items})


def tagged(cell: Cell, data: str, tags: Callable[[Any], Mapping[str, str]]) -> Cell:
    """The same run, as if of other data, with more tags on each sentence."""
    return of_other_data(cell, data, lambda j: {"tags": {**j.tags, **tags(j)}})


def of_other_data(cell: Cell, data: str, changed: Callable[[Any], Mapping[str, Any]]) -> Cell:
    """The same run, as if of other data, with other facts of each sentence."""
    judgements = [replace(j, **changed(j)) for j in cell.result.judgements]
    selection = replace(cell.result.selection, data=data)
    return cell._replace(result=replace(cell.result, selection=selection, judgements=judgements))


class Toy(System):
    """Gives "El" and "La" known probabilities after a source with she or they, and one half to every other word.

    Where the source has "it", both are equally probable.
    """

    tasks = frozenset({Task.SCORE})
    determiners: Mapping[str, Mapping[str, float]] = {
        "she": {"El": 0.3, "La": 0.6},
        "they": {"El": 0.8, "La": 0.2},
        "it": {"El": 0.4, "La": 0.4},
    }

    def __init__(self, argument: str) -> None:
        self.spec = self.system_id = f"toy:{argument}"
        self._argument = argument

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        yield [self._scored(request) for request in requests]

    def _scored(self, request: Request) -> Translation:
        if self._argument == "mute":
            return Translation(request.request_id, None, error="too long")
        known = next(table for word, table in self.determiners.items() if word in request.source.split())
        by_token = tuple(math.log(known.get(word, 0.5)) for word in [*(request.target or "").split(), "</s>"])
        return Translation(
            request.request_id,
            request.target,
            log_probability=sum(by_token),
            n_tokens=len(by_token),
            token_log_probabilities=None if self._argument == "wholes" else by_token,
        )


class Cut(Fake):
    """A coin where little is cut off, else always masculine."""

    def __init__(self) -> None:
        super().__init__("coin", {})
        self.spec = self.system_id = "cut:x"
        self._sure = Fake("masculine", {})

    def prepare(self, benchmark: Any, item_set: Any, requests: Any) -> None:
        super().prepare(benchmark, item_set, requests)
        self._sure.prepare(benchmark, item_set, requests)

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        is_cut = Decoding.of(requests[0].options).epsilon > 0.1
        yield from self._sure.answer(requests) if is_cut else super().answer(requests)


def open_toy(argument: str, options: Mapping[str, str]) -> System:
    return Toy(argument)


class Said(System):
    """Says what a file of source, tab, translation has; nothing for an empty one. Counts what it was asked."""

    tasks = frozenset({Task.TRANSLATE, Task.SAMPLE})
    asked: list[str] = []  # noqa: RUF012

    def __init__(self, path: str) -> None:
        self.spec = self.system_id = f"said:{path}"
        self._said = dict(line.split("\t") for line in Path(path).read_text(encoding="utf-8").splitlines())

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        self.asked.extend(request.source for request in requests)
        yield [
            Translation(request.request_id, self._said[request.source] or None, sample)
            for request in requests
            for sample in range(request.n_samples or 1)
        ]


def open_said(argument: str, options: Mapping[str, str]) -> System:
    return Said(argument)


def open_cut(argument: str, options: Mapping[str, str]) -> System:
    return Cut()
