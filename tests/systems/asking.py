"""Requests to a system, and its answers in their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gendermark.records import Request, Task, Translation
from gendermark.systems.system import System


def requests(sources: Iterable[str], to: str = "es", task: Task = Task.TRANSLATE, **fields: Any) -> list[Request]:
    return [Request(source, "en", to, task, **fields) for source in sources]


def sampling(sources: Iterable[str], n: int, first: int = 0, **options: object) -> list[Request]:
    pairs = tuple(sorted((key, str(value)) for key, value in options.items()))
    return requests(sources, task=Task.SAMPLE, options=pairs, first_sample=first, n_samples=n)


def answers(system: System, asked: Sequence[Request]) -> list[Translation]:
    """One for each sample of each request."""
    found = {(answer.request_id, answer.sample): answer for portion in system.answer(asked) for answer in portion}
    return [found.pop((request.request_id, sample)) for request in asked for sample in request.samples]


def texts(found: Iterable[Translation]) -> list[str | None]:
    return [answer.text for answer in found]


def translated(system: System, sources: Iterable[str], to: str = "es") -> list[str | None]:
    return texts(answers(system, requests(sources, to)))
