"""GEST's sentences: the official ones of either revision, or our own."""

from __future__ import annotations

from collections.abc import Sequence

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.gest import STEREOTYPES, WOMEN, Settings
from gendermark.data.bundled import core_origin, core_text
from gendermark.data.official import official_files
from gendermark.data.own import file_of, read_own
from gendermark.io.tables import read_csv
from gendermark.io.textfiles import split_lines
from gendermark.records import Gender, Item

_OFFICIAL_FILES = {"1.0": "data/gest.csv", "1.1": "data/gest_1.1.csv"}

Row = tuple[str, str]
"""Stereotype and sentence."""


def load(settings: Settings) -> ItemSet:
    if path := file_of(settings.data):
        rows, origin = _own_rows(path)
    else:
        rows, origin = _core_rows() if settings.data == "core" else _official_rows(settings.revision)
    # Ten official sentences stand twice, eight of them under two stereotypes: they are resampled together.
    first: dict[str, int] = {}
    items = [
        _item(number, first.setdefault(sentence, number), stereotype, sentence)
        for number, (stereotype, sentence) in enumerate(rows)
    ]
    if not settings.parts:
        return ItemSet(settings, tuple(items), origin)
    chosen = [item for part in settings.parts for item in items if item.tags["trait"] == part]
    return ItemSet(settings, tuple(chosen), origin)


def _item(number: int, group: int, stereotype: str, sentence: str) -> Item:
    gender = Gender.FEMININE if stereotype in WOMEN else Gender.MASCULINE
    # Nothing is expected: whichever gender the speaker gets is neither right nor wrong.
    tags = {"trait": stereotype, "stereotype": gender.value}
    return Item(f"gest-{number:04}", number, f"sentence-{group:04}", sentence, None, tags)


def _official_rows(revision: str) -> tuple[Sequence[Row], str]:
    source = official_files("gest", revision)
    cells = read_csv(source.path(_OFFICIAL_FILES[revision]))
    next(cells)  # the header: sentence, stereotype
    rows = [(STEREOTYPES[int(number) - 1], sentence) for _, (sentence, number) in cells]
    return rows, f"official-{revision}-{source.revision[:8]}-{source.content_hash[:8]}"


def _own_rows(path: str) -> tuple[Sequence[Row], str]:
    found, origin = read_own(path, ("source", "stereotype"))
    return [(row.one_of("stereotype", STEREOTYPES, ""), row["source"]) for row in found], origin


def _core_rows() -> tuple[Sequence[Row], str]:
    text = core_text("gest/sentences.tsv")
    return [(line.split("\t")[0], line.split("\t")[1]) for line in split_lines(text)[1:]], core_origin(text)
