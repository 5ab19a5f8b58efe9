"""Published values of known systems, with their sources; never computed here."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gendermark import registry
from gendermark.selection import Selection


@dataclass(frozen=True, slots=True)
class Paper:
    """The source of published values."""

    short: str
    citation: str


@dataclass(frozen=True, slots=True)
class Published:
    """One value as printed."""

    benchmark: str
    direction: str
    """`en-es`"""
    system: str
    metric: str
    slice: str
    value: float
    paper: Paper
    where: str
    """`Table 2`"""
    remark: str = ""
    """A remark on the whole table: how its values were made."""
    note: str = ""
    """A known error of this value."""

    @property
    def label(self) -> str:
        return f"published: {self.system} ({self.paper.short})"


def published_values(selection: Selection, metric: str = "", part: str = "") -> list[Published]:
    return [
        value
        for value in all_published()
        if (value.benchmark, value.direction) == (selection.benchmark, selection.direction)
        and metric in ("", value.metric)
        and part in ("", value.slice)
    ]


def how_comparable(selection: Selection) -> str:
    """A caveat for comparing a result with the published values of its benchmark."""
    if selection.data != "official":
        return "on the paper's sentences, not these, with the paper's scoring rules: context, not a comparison"
    if selection.rules == "best":
        return "on the same sentences with the paper's scoring rules, which differ from ours"
    return "on the same sentences with the paper's scoring rules"


@cache
def all_published() -> tuple[Published, ...]:
    places = [benchmark.presentation.published for _, benchmark in registry.every("benchmark")]
    return tuple(value for place in dict.fromkeys(places) if place for value in _read(place))


def _read(package: str) -> Iterator[Published]:
    content = tomllib.loads((files(package) / "published.toml").read_text(encoding="utf-8"))
    papers = {key: Paper(**paper) for key, paper in content["papers"].items()}
    for table in content["tables"]:
        notes = table.get("notes", {})
        for system, direction, *cells in table["rows"]:
            for column, value in zip(table["columns"], cells, strict=True):
                metric, _, part = column.partition(":")
                yield Published(
                    benchmark=table["benchmark"],
                    direction=direction,
                    system=system,
                    metric=metric,
                    slice=part,
                    value=value,
                    paper=papers[table["paper"]],
                    where=table["where"],
                    remark=table.get("remark", ""),
                    note=notes.get(f"{system} {direction} {column}", ""),
                )
