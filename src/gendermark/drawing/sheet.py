"""What every figure is made from, and what is made: a sheet of results that belong together, and a figure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gendermark.drawing import charts
from gendermark.drawing.charts import Look, Span
from gendermark.drawing.svg import Canvas
from gendermark.result import Result

MALE, FEMALE = Look("circle", charts.BLUE), Look("triangle", charts.VERMILION)
PUBLISHED = Look("diamond", charts.FAINT, filled=False)
LABOUR_STATISTICS = "labour statistics of the United States, 2017 (Zhao et al., 2018)"


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture without a title in it, and the words that belong to it."""

    name: str
    """Of its file, and unique among the figures made together."""
    title: str
    caption: str
    svg: str
    cell: str
    """The benchmark and direction it shows; only the benchmark where it shows several; empty where it shows all."""


def figure(name: str, title: str, caption: str, cell: str, draw: Callable[[Canvas], object]) -> Figure:
    """The figure that `draw` puts on a canvas."""
    parts = (re.sub(r"[^a-z0-9]+", "-", part).strip("-") for part in name.lower().split("."))
    name = ".".join(part for part in parts if part) or "figure"
    canvas = Canvas(name)
    draw(canvas)
    return Figure(name, title, caption, canvas.svg(title, caption), cell)


@dataclass(frozen=True)
class Sheet:
    """Results that may stand in one figure: one benchmark, measured alike."""

    benchmark: str
    suffix: str
    """Of the names of figures, where there are several sheets of one benchmark."""
    cells: Mapping[str, Mapping[str, Result]]
    """Cell -> label of the run -> result; no cell is empty."""
    conditions: str
    """How these were measured: "core data, rules best, context joined"."""

    @property
    def labels(self) -> list[str]:
        return list(dict.fromkeys(label for found in self.cells.values() for label in found))

    @property
    def results(self) -> Iterator[tuple[str, str, Result]]:
        """(cell, label, result)"""
        for cell, found in self.cells.items():
            for label, result in found.items():
                yield cell, label, result

    @property
    def any(self) -> Result:
        return next(self.results)[2]

    @property
    def intervals(self) -> str:
        return intervals_of(self.any)

    def title_of(self, label: str) -> str:
        """Of a part of a figure: the system, unless there is only one."""
        return label if len(self.labels) > 1 else ""

    def about(self, cell: str = "", label: str = "") -> str:
        """What a caption says of its origin: the system if it is one, the direction, data and rules."""
        who = label or (self.labels[0] if len(self.labels) == 1 else "")
        parts = [part for part in (who, direction(cell) if cell else "") if part]
        return "; ".join([", ".join(parts), self.conditions] if parts else [self.conditions])

    def name_of(self, cell: str, what: str, label: str = "") -> str:
        """Of a figure: with the system, where it shows one of several."""
        own = f".{label[-60:]}" if label and len(self.labels) > 1 else ""
        return f"{cell}{self.suffix}.{what}{own}"


def intervals_of(result: Result) -> str:
    """`95 % intervals`, as signed."""
    signed = re.search(r"confidence-(0?\.\d+)", result.signature)
    return f"{100 * float(signed[1]) if signed else 95:g} % intervals"


def span(result: Result, metric: str, part: str = "all") -> Span | None:
    found = result.find(metric, part)
    return Span(found.value, found.low, found.high) if found and found.value is not None else None


def language(cell: str) -> str:
    """`ES` of `winomt.en-es`."""
    return cell.rpartition("-")[2].upper()


def direction(cell: str) -> str:
    """`en-es` of `winomt.en-es`."""
    return cell.rpartition(".")[2]
