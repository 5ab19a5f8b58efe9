"""A system and a metric as another package would bring them, with nothing but the names of `gendermark.plugin`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gendermark.plugin import (
    AddedMetric,
    Description,
    Judgement,
    Request,
    System,
    Translation,
    rate,
    refuse_unknown_options,
)


class Shouting(System):
    """Repeats the source in capitals."""

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        refuse_unknown_options("shout", options, ())
        self.spec = self.system_id = f"shout:{argument}"

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        yield [Translation(request.request_id, request.source.upper()) for request in requests]


def columns(judgement: Judgement) -> Iterable[str]:
    yield "toy.total"
    if judgement.evidence:
        yield "toy.evident"


EVIDENT = rate(
    Description("evident", "with evidence", "Translations in which a word shows the gender."),
    "all", "toy.evident", "toy.total", judged="toy.total",
)  # fmt: skip
SHORT = AddedMetric(("winomt", "toy"), columns, EVIDENT)
CLASH = AddedMetric(("winomt",), columns, replace(EVIDENT, about=replace(EVIDENT.about, name="accuracy")))
