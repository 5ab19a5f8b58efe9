"""How well the reader of sources does, against the genders that benchmarks know: how often it decides, and rightly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gendermark import api
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.cli.options import StudiedData
from gendermark.cli.terminal import AsJson, print_json, print_table
from gendermark.lab.studies import is_terminal
from gendermark.linguistics.source_gender import PersonTold, read_source
from gendermark.records import Gender, Item, Table

BENCHMARKS = ("simplegen", "winomt", "mt-geneval-counterfactual")
_LANGUAGE = "es"
"""Sources are the same for every target language that has them all."""


@dataclass(frozen=True)
class ReaderScore:
    """One set of sentences whose genders are known."""

    benchmark: str
    data: str
    n_told: int
    """Sentences that tell the gender of the person meant."""
    n_decided: int
    n_right: int
    n_open: int
    """Sentences that leave it open."""
    n_open_decided: int
    """Those for which the reader has a gender all the same: errors."""

    @property
    def decided(self) -> float | None:
        return 100 * self.n_decided / self.n_told if self.n_told else None

    @property
    def right(self) -> float | None:
        """Of those decided."""
        return 100 * self.n_right / self.n_decided if self.n_decided else None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "decided_percent": self.decided, "right_percent": self.right}


def rate_reader(item_set: ItemSet) -> ReaderScore:
    """What the reader makes of the sentences, without looking at what is known of them."""
    told = [(item, gender_read(item)) for item in item_set.items]
    sided = [(item, gender) for item, gender in told if item.expected in (Gender.MASCULINE, Gender.FEMININE)]
    decided = [(item, gender) for item, gender in sided if gender is not None]
    open_ = [gender for item, gender in told if item.expected is Gender.NEUTRAL]
    selection = item_set.selection
    return ReaderScore(
        selection.benchmark,
        selection.data,
        len(sided),
        len(decided),
        sum(item.expected is gender for item, gender in decided),
        len(open_),
        sum(gender is not None for gender in open_),
    )


def gender_read(item: Item) -> Gender | None:
    """Of the person meant; where a benchmark names none, of everybody of whom the sentence tells, if they agree."""
    people = read_source(item.source)
    if item.entity:
        people = people_meant(people, item)
    genders = {person.gender for person in people if person.gender is not None}
    return genders.pop() if len(genders) == 1 else None


def people_meant(people: Sequence[PersonTold], item: Item) -> list[PersonTold]:
    """Those with the noun of the item; of several the one at the place that the item gives, if it gives any."""
    named = [person for person in people if person.noun == item.entity]
    if len(named) > 1 and "position" in item.tags:
        place = int(item.tags["position"])
        named = [min(named, key=lambda person: abs(person.start - place))]
    return named


def rate_on_benchmarks(data: str) -> list[ReaderScore]:
    return [rate_reader(api.items(name, _LANGUAGE, data=data)) for name in BENCHMARKS]


def reader_table(scores: Sequence[ReaderScore]) -> Table:
    columns = ("benchmark", "data", "told", "decided", "decided_percent", "right_percent", "open", "open_decided")
    rows = [
        (one.benchmark, one.data, one.n_told, one.n_decided, one.decided, one.right, one.n_open, one.n_open_decided)
        for one in scores
    ]
    return Table("reader", "The reader of sources against known genders", columns, rows)


# -- the command -------------------------------------------------------------------------------------------------------


def reader(data: StudiedData = "core", as_json: AsJson = False) -> None:
    """How often the reader of sources decides a person's gender, and how often rightly, where benchmarks know it."""
    scores = rate_on_benchmarks(data)
    if as_json:
        print_json({"sets": [score.to_json() for score in scores]})
        return
    found = reader_table(scores)
    shown = [[f"{cell:.1f}" if isinstance(cell, float) else cell for cell in row] for row in found.rows]
    print_table(found.title, found.columns, shown if is_terminal() else found.rows)
