"""Numbers of a page: each with its interval, and a link to the sentences behind it; and how they are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from gendermark.markup import Markup, tag
from gendermark.records import Estimate, Unit
from gendermark.report import words
from gendermark.report.cells import Cell, Filter
from gendermark.report.explorer import Explorer
from gendermark.result import Result

_HEIGHT, _MIDDLE, _MARGIN = 18, 9, 3
_SHAPES = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z",  # circle
    "M-4 -4H4V4H-4Z",  # square
    "M0 -5.2L5 4H-5Z",  # triangle
    "M0 -5.6L5.2 0L0 5.6L-5.2 0Z",  # diamond
    "M0 5.2L-5 -4H5Z",  # down
    "M-4.2 -4.6H4.2L-4.2 4.6H4.2Z",  # hourglass
)
"""In the order of the figures, `charts.SHAPES`."""


def find(result: Result, metric: str, part: str = "all") -> Estimate | None:
    """An estimate, with or without a value."""
    return next((e for e in result.estimates if (e.metric, e.slice) == (metric, part)), None)


class CellNumbers:
    """The numbers of one cell, for every run that has it."""

    def __init__(self, explorer: Explorer, cell: Cell) -> None:
        self.cell = cell
        self.benchmark = cell.selection.benchmark
        self._several = len(explorer.systems) > 1

    @property
    def told_apart(self) -> str:
        """What sets this cell apart from others of its direction: "context joined"."""
        return self.cell.name.partition(" ")[2]

    def results(self) -> list[tuple[int, Result]]:
        """(run, result) for the runs that have this cell."""
        return [(run, result) for run, result in enumerate(self.cell.results) if result is not None]

    @cached_property
    def _totals(self) -> dict[tuple[str, str], str]:
        """The column that counts the sentences of each metric."""
        result = next(result for result in self.cell.results if result is not None)
        metrics = self.cell.benchmark.measures.metrics(result.judgements, result.selection)
        return {(metric.name, metric.slice): metric.total for metric in metrics}

    def filter(self, run: int, metric: str = "", part: str = "all") -> Filter:
        """Which sentences a number is made of."""
        name, judged_only = self.cell.slice_of(self._totals.get((metric, part), ""))
        found = Filter(
            cell=self.cell.name,
            slice=name,
            verdict="judged" if judged_only else "",
            system=str(run) if self._several else "",
        )
        result = self.cell.results[run]
        estimate = find(result, metric, part) if result is not None else None
        # Where none has the outcome there is nothing behind the number but what it is a share of.
        is_none = estimate is not None and estimate.value == 0
        return found if is_none else replace(found, **self.cell.benchmark.describe(metric).behind)

    def link(self, content: str | Markup, wanted: Filter, label: str = "") -> Markup:
        return tag("a", content, href=wanted.link, aria_label=label or None)

    def linked(self, run: int, metric: str, part: str, amount: float | None) -> Markup:
        """An amount that leads to its sentences; a dash where there is none."""
        if amount is None:
            return Markup("–")
        unit = self.cell.benchmark.describe(metric).unit
        return self.link(words.value(amount, unit), self.filter(run, metric, part))

    def value(self, run: int, metric: str, part: str = "all", *, with_interval: bool = True) -> Markup:
        """A number as a link, its interval beneath; a dash where there is none."""
        result = self.cell.results[run]
        estimate = find(result, metric, part) if result is not None else None
        shown = self.linked(run, metric, part, estimate.value if estimate else None)
        if estimate is None or estimate.value is None or estimate.low is None or not with_interval:
            return shown
        return Markup(shown + tag("span", words.interval(estimate), class_="interval"))


def scale_of(estimates: Sequence[Estimate], *, is_gap: bool) -> tuple[float, float] | None:
    """The ends of a scale on which all of these can be drawn: a natural one if they fit."""
    ends = [x for e in estimates for x in (e.value, e.low, e.high) if x is not None]
    if not ends:
        return None
    reach = max(abs(x) for x in ends)
    if is_gap or min(ends) < 0:
        top = _rounded_up(reach)
        return -top, top
    if reach <= 1 and all(e.unit in (Unit.SHARE, Unit.PROBABILITY) for e in estimates):
        return 0.0, 1.0
    return (0.0, 100.0) if 1 < reach <= 100 else (0.0, _rounded_up(reach))


def _rounded_up(reach: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    if reach <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(reach))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= reach - 1e-9)


def drawn(estimate: Estimate, scale: tuple[float, float], run: int) -> Markup:
    """A dot with a whisker from end to end of the interval; the shape tells the run where colour does not.

    Places are in percent, so that the drawing can be of any width and its dots stay as large as they are.
    """
    low, high = scale
    parts = [_line(across(low, scale), across(high, scale), "track")]
    if low < 0 < high:
        zero = across(0, scale)
        parts.append(tag("line", x1=zero, x2=zero, y1=1, y2=_HEIGHT - 1, class_="zero"))
    if estimate.value is not None:
        if estimate.low is not None and estimate.high is not None:
            start, end = across(estimate.low, scale), across(estimate.high, scale)
            parts.append(_line(start, end, "whisker"))
            parts += [tag("line", x1=x, x2=x, y1=_MIDDLE - 3, y2=_MIDDLE + 3, class_="whisker") for x in (start, end)]
        shape = tag("path", d=_SHAPES[run % len(_SHAPES)], class_="dot")
        parts.append(tag("svg", shape, x=across(estimate.value, scale), y=_MIDDLE))
    return tag("svg", parts, height=_HEIGHT, class_=f"run-{run % 8}", aria_hidden="true")


def axis(scale: tuple[float, float]) -> Markup:
    """The ends of a scale, and its middle."""
    low, high = scale
    marks = [(low, "start"), ((low + high) / 2, "middle"), (high, "end")]
    texts = [
        tag("text", f"{value:g}".replace("-", "−"), x=across(value, scale), y=10, text_anchor=anchor, class_="scale")
        for value, anchor in marks
    ]
    return tag("svg", texts, height=13, aria_hidden="true")


def across(value: float, scale: tuple[float, float]) -> str:
    low, high = scale
    share = (min(max(value, low), high) - low) / (high - low)
    return f"{_MARGIN + share * (100 - 2 * _MARGIN):.2f}%"


def _line(start: str, end: str, class_: str) -> Markup:
    return tag("line", x1=start, x2=end, y1=_MIDDLE, y2=_MIDDLE, class_=class_)
