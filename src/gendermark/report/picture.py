"""The one picture of an opening: women and men as two dots per system and language, the gap drawn between them.

It is a table with drawings in it, so that it is as wide as the page, no label is ever cut off, and a reader without
eyes gets the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gendermark.benchmarks.findings import rounded
from gendermark.markup import Content, Markup, minus, tag
from gendermark.records import Estimate
from gendermark.report.numbers import across, axis
from gendermark.report.verdict import ALIKE, Rates

_SCALE = (0.0, 100.0)
_HEIGHT = 24
_LANES = {"women": 7, "men": 17}
_SHAPES = {"women": "M0 -5.4L5.3 4.2H-5.3Z", "men": "M-4.8 0a4.8 4.8 0 1 0 9.6 0a4.8 4.8 0 1 0 -9.6 0Z"}
"""As in the figures."""
KEPT = "Of 100 sentences about women, and of 100 about men, how many keep the gender?"
BECOME = "Of 100 people whose gender is open, how many become women, how many men?"


@dataclass(frozen=True)
class Line:
    """One row: a system or a language, or both."""

    label: Content
    rates: Rates
    code: str
    """Of its language, by which a reader can choose."""


@dataclass(frozen=True)
class Group:
    """Rows under one heading."""

    heading: Content
    lines: Sequence[Line]


def picture(groups: Sequence[Group], *, source_tells: bool, intervals: str) -> Markup:
    """All groups on one scale."""
    head = tag(
        "tr",
        tag("th"),
        tag("td", axis(_SCALE), class_="drawn"),
        tag("th", "women", scope="col"),
        tag("th", "men", scope="col"),
        tag("th", "gap", scope="col"),
        tag("td"),
    )
    bodies = [
        tag(
            "tbody",
            tag("tr", tag("th", group.heading, colspan=6, scope="rowgroup", class_="group"))
            if group.heading is not None
            else None,
            [_row(line) for line in group.lines],
            data_place=_one_of({line.code for line in group.lines}),
        )
        for group in groups
    ]
    legend = tag(
        "caption",
        tag("strong", KEPT if source_tells else BECOME),
        " ",
        _key("women"),
        " women, ",
        _key("men"),
        f" men. Lines: {intervals} intervals. The grey band is the gap, in points, rounded after subtracting: bold if "
        "it is clear, else it could be chance.",
    )
    table = tag("table", legend, tag("thead", head), bodies, class_="dumbbells")
    return tag("div", table, class_="scroll", tabindex=0, role="group", aria_label="Women and men")


def _one_of(codes: set[str]) -> str | None:
    return codes.pop() if len(codes) == 1 else None


def _row(line: Line) -> Markup:
    rates = line.rates
    gap = (rates.men.value or 0.0) - (rates.women.value or 0.0)
    shown = minus(f"{gap:+.0f}") if round(gap) else "0"
    is_clear = rates.kind is not ALIKE
    return tag(
        "tr",
        tag("th", line.label, scope="row", class_="text"),
        tag("td", _drawn(rates), class_="drawn"),
        tag("td", _number(rates.women)),
        tag("td", _number(rates.men)),
        tag("td", tag("strong", shown) if is_clear else shown),
        tag("td", tag("span", "" if is_clear else "not clear", class_="interval"), class_="text"),
        data_place=line.code,
    )


def _number(estimate: Estimate) -> Content:
    ends: Content = None
    if estimate.low is not None and estimate.high is not None:
        ends = tag("span", f"{rounded(estimate.low)} to {rounded(estimate.high)}", class_="interval")
    return [rounded(estimate.value), ends]


def _drawn(rates: Rates) -> Markup:
    women, men = (across(estimate.value or 0.0, _SCALE) for estimate in (rates.women, rates.men))
    middle = _HEIGHT / 2
    parts = [
        tag("line", x1=across(0, _SCALE), x2=across(100, _SCALE), y1=middle, y2=middle, class_="track"),
        tag("line", x1=women, x2=men, y1=middle, y2=middle, class_="gap"),
        *_marked("women", rates.women),
        *_marked("men", rates.men),
    ]
    return tag("svg", parts, height=_HEIGHT, aria_hidden="true")


def _marked(who: str, estimate: Estimate) -> list[Markup]:
    y = _LANES[who]
    parts = []
    if estimate.low is not None and estimate.high is not None:
        start, end = across(estimate.low, _SCALE), across(estimate.high, _SCALE)
        parts.append(tag("line", x1=start, x2=end, y1=y, y2=y, class_=f"whisker {who}"))
    shape = tag("path", d=_SHAPES[who], class_=f"dot {who}")
    return [*parts, tag("svg", shape, x=across(estimate.value or 0.0, _SCALE), y=y)]


def _key(who: str) -> Markup:
    shape = tag("path", d=_SHAPES[who], class_=f"dot {who}", transform="translate(6 6)")
    return tag("svg", shape, width=12, height=12, class_="key", aria_hidden="true")
