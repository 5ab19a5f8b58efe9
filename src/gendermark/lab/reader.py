"""Evaluate the source reader against benchmarks with known gender: coverage and accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gendermark import api
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.cli.options import StudiedData
from gendermark.cli.terminal import AsJson
from gendermark.lab.studies import show
from gendermark.reading.source_gender import PersonTold, read_source
from gendermark.records import Gender, Item
from gendermark.reporting.document import Table

BENCHMARKS = ("simplegen", "winomt", "mt-geneval-counterfactual")
COLUMNS = {
    "benchmark": "benchmark",
    "data": "data",
    "told": "n_told",
    "decided": "n_decided",
    "decided_percent": "decided_percent",
    "right_percent": "right_percent",
    "open": "n_open",
    "open_decided": "n_open_decided",
}


def rate_reader(item_set: ItemSet) -> dict[str, Any]:
    """Evaluate the reader on the sentences without access to their labels.

    `n_told` sentences specify the entity's gender, `n_open` leave it open; for `n_open_decided` of the latter the
    reader wrongly assigns a gender.
    """
    read = [(item, gender_read(item)) for item in item_set.items]
    sided = [(item, gender) for item, gender in read if item.expected in (Gender.MASCULINE, Gender.FEMININE)]
    decided = [(item, gender) for item, gender in sided if gender is not None]
    n_right = sum(item.expected is gender for item, gender in decided)
    open_ = [gender for item, gender in read if item.expected is Gender.NEUTRAL]
    return {
        "benchmark": item_set.selection.benchmark,
        "data": item_set.selection.data,
        "n_told": len(sided),
        "n_decided": len(decided),
        "n_right": n_right,
        "n_open": len(open_),
        "n_open_decided": sum(gender is not None for gender in open_),
        "decided_percent": 100 * len(decided) / len(sided) if sided else None,
        "right_percent": 100 * n_right / len(decided) if decided else None,
    }


def gender_read(item: Item) -> Gender | None:
    """Gender of the entity; without one, of all people whose gender is specified, if they agree."""
    people: Sequence[PersonTold] = read_source(item.source)
    if item.entity:
        people = people_meant(people, item)
    genders = {person.gender for person in people if person.gender is not None}
    return genders.pop() if len(genders) == 1 else None


def people_meant(people: Sequence[PersonTold], item: Item) -> list[PersonTold]:
    """The people with the item's noun; of several, the one at the item's position, if it has one."""
    named = [person for person in people if person.noun == item.entity]
    if len(named) > 1 and "position" in item.tags:
        place = int(item.tags["position"])
        named = [min(named, key=lambda person: abs(person.start - place))]
    return named


# -- the command -------------------------------------------------------------------------------------------------------


def reader(data: StudiedData = "core", as_json: AsJson = False) -> None:
    """Measure coverage and accuracy of source-side gender detection on benchmarks with known gender."""
    # Sources are the same for every target language that has them all.
    scores = [rate_reader(api.items(name, "es", data=data)) for name in BENCHMARKS]
    rows = [[score[name] for name in COLUMNS.values()] for score in scores]
    table = Table(tuple(COLUMNS), rows, "The reader of sources against known genders")
    show({"sets": scores}, [table], as_json=as_json)
