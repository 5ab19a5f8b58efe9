"""What SimpleGEN's paper printed about speed: its Table 4 with time and BLEU, to set a study beside."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gendermark.benchmarks.simplegen.findings import COLUMNS, PRESENTATION
from gendermark.lab.speed.drops import GAPS, relative_drop
from gendermark.markup import minus
from gendermark.records import Table
from gendermark.report.published import all_published

SIZES = {"FOFC": 518, "MOFC": 814, "MOMC": 814, "FOMC": 518}
"""Sentences of each group of the published set."""


@dataclass(frozen=True)
class Section:
    """A part of Table 4: one direction, optimisations one by one (4a) or stacked (4b); the baseline comes first."""

    where: str
    direction: str
    rows: Mapping[str, Mapping[str, float]]
    """System -> column -> value as printed; `time` is in seconds."""
    max_drop: Mapping[str, float]
    """The last row, as printed."""
    misprints: Mapping[str, float]
    """Of the last row: what follows from no rule -> what the range of the column gives."""

    def drops(self) -> Table:
        """The relative drops, a row per system."""
        base = next(iter(self.rows.values()))
        columns = [column for column in base if column not in GAPS]
        rows = [
            (system, *(minus(f"{relative_drop(base[column], values[column]) or 0.0:.1f}") for column in columns))
            for system, values in list(self.rows.items())[1:]
        ]
        if self.max_drop:
            rows.append(("max rel. % drop, as printed", *(f"{self.max_drop[column]:.1f}" for column in columns)))
        title = f"Relative drops in percent as {self.where} of Renduchintala et al. (2021) has them, {self.direction}"
        return Table("published", title, ("system", *columns), rows)

    def misprinted(self) -> str:
        """Which of the printed drops follow from no rule; empty where all do."""
        told = [f"{column} {self.max_drop[column]:.1f} ({value:.1f})" for column, value in self.misprints.items()]
        if not told:
            return ""
        return f"Printed drops that do not follow from the rows (in brackets: what they give): {', '.join(told)}."


@cache
def sections() -> tuple[Section, ...]:
    content = tomllib.loads((files(PRESENTATION.published) / "published.toml").read_text(encoding="utf-8"))
    printed = {
        (value.direction, value.system, value.metric, value.slice): value.value
        for value in all_published()
        if value.benchmark == content["tables"][0]["benchmark"]
    }
    return tuple(
        Section(
            table["where"],
            table["direction"],
            {
                system: {
                    "time": seconds,
                    "BLEU": bleu,
                    **{label: printed[table["direction"], system, *key] for label, key in COLUMNS.items()},
                }
                for system, seconds, bleu in table["rows"]
            },
            table["max_drop"],
            table["notes"],
        )
        for table in content["speed"]
    )
