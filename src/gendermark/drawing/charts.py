"""The forms of our figures, drawn from plain numbers: bars, and dots with whiskers; `plots` has the others.

They know nothing of benchmarks. What tells two things apart is always a shape or a hatch as well as a colour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from gendermark.drawing.svg import (
    INK,
    ON_DARK,
    ON_LIGHT,
    SIZE,
    SMALL,
    WIDTH,
    Canvas,
    Scale,
    clipped,
    hatched,
    scale_around,
    text_width,
    tick_label,
)

# Of the colours that Okabe and Ito chose for all kinds of sight; dark, middle and light in grey.
BLUE, ORANGE, GREEN, PURPLE, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00"
PALE, GREY, FAINT = "#A5D6C6", "#C9C9C9", "#7f7f7f"
HATCHED_ORANGE = hatched(ORANGE)
LINE = 10.0
"""From one line of text to the next."""


def percent(amount: float) -> str:
    """A share of 100 without decimals; halves go up, so that a figure and a table never disagree."""
    return f"{math.floor(amount + 0.5 + 1e-9)}"


class Span(NamedTuple):
    """A value and its interval, if it has one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Look:
    """How one series is drawn."""

    shape: str = "circle"
    colour: str = BLUE
    filled: bool = True
    name: str = ""
    """Stands beside the mark, where looks alone would not tell."""


# In the order of the page, which has the same colours (`--run-0` and so on) and shapes for the same systems.
COLOURS = (BLUE, "#C04E00", "#00795A", "#A3487B", "#7A5C00", "#3A3A3A", "#5B4BB5", "#00707C")
SHAPES = ("circle", "square", "triangle", "diamond", "down", "hourglass")
MOST_LOOKS = 12


_DASHES = {"line": "", "dashes": "2 1.5", "dots": "0.9 1.6"}


def look_of(number: int) -> Look:
    return Look(SHAPES[number % len(SHAPES)], COLOURS[number % len(COLOURS)])


def looks_of(names: Mapping[int, str]) -> dict[int, Look]:
    """A look for each thing, by its number; its name stands beside it where shapes recur. More things than there are
    clear looks are told by their names alone."""
    if len(names) > MOST_LOOKS:
        return {number: Look(colour=INK, name=name) for number, name in names.items()}
    recurs = len({number % len(SHAPES) for number in names}) < len(names)
    return {number: replace(look_of(number), name=name if recurs else "") for number, name in names.items()}


# -- legend ------------------------------------------------------------------------------------------------------------


def legend(canvas: Canvas, entries: Sequence[tuple[str, Look | str]], top: float) -> float:
    """What marks (a look), areas (a fill) and lines (`line`, `dashes`, `dots`) mean; gives the place below it."""
    x, y = 0.0, top + SIZE
    for label, look in entries:
        shown = clipped(label, WIDTH - 14)
        width = 12 + text_width(shown)
        if x > 0 and x + width > WIDTH:
            x, y = 0.0, y + LINE
        _swatch(canvas, look, x + 4, y - 2.8)
        canvas.text((x + 11, y), label, longest=WIDTH - 14)
        x += width + 8
    return y + 5 if entries else top


def _swatch(canvas: Canvas, look: Look | str, x: float, y: float) -> None:
    if isinstance(look, Look):
        canvas.mark(look.shape, (x, y), look.colour, filled=look.filled)
    elif look in _DASHES:
        canvas.line((x - 4, y), (x + 4.5, y), dashes=_DASHES[look], width=0.9)
    else:
        canvas.rect((x - 3.5, y - 3.5, 7, 7), look, outlined=True)


# -- vertical bars -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BarPanel:
    """Groups of bars beside each other."""

    title: str
    groups: Mapping[str, Sequence[Span | None]]


def bars(canvas: Canvas, panels: Sequence[BarPanel], fills: Sequence[str], unit: str, top: float) -> None:
    """Percentages as groups of bars with whiskers, one panel below the other."""
    left, height = 22.0, 78.0
    for panel in panels:
        canvas.text((0, top + SIZE), unit)
        if panel.title:
            canvas.text((WIDTH, top + SIZE), panel.title, anchor="end", longest=WIDTH - text_width(unit) - 8)
        up = Scale(0, 100, top + height + 14, top + 14)
        for tick in (0, 25, 50, 75, 100):
            canvas.line((left, up(tick)), (WIDTH, up(tick)), width=0.5, faint=tick > 0)
            canvas.text((left - 3, up(tick) + 2.8), str(tick), anchor="end")
        step = (WIDTH - left) / max(len(panel.groups), 1)
        wide = min(0.36 * step, 16.0)
        for place, (name, spans) in enumerate(panel.groups.items()):
            middle = left + step * (place + 0.5)
            for number, span in enumerate(spans):
                if span is not None:
                    x = middle + wide * (number - len(spans) / 2)
                    canvas.rect((x, up(span.value), wide, up(0) - up(span.value)), fills[number], outlined=True)
                    upright_whisker(canvas, span, x + wide / 2, up)
            canvas.text((middle, up(0) + SIZE + 2), name, anchor="middle", longest=step)
        top = up(0) + SIZE + 10


def upright_whisker(canvas: Canvas, span: Span, x: float, up: Scale) -> None:
    if span.low is not None and span.high is not None and span.high > span.low:
        canvas.line((x, up(span.low)), (x, up(span.high)), width=0.9)
        for end in (span.low, span.high):
            canvas.line((x - 1.6, up(end)), (x + 1.6, up(end)), width=0.9)


# -- stacked rows ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StackedRow:
    """Shares of 100 that fill a row; `whisker` is the interval of the first."""

    label: str
    shares: Sequence[float]
    whisker: tuple[float, float] | None = None
    note: str = ""


def stacked(
    canvas: Canvas,
    parts: Sequence[tuple[str, Sequence[StackedRow]]],
    fills: Sequence[str],
    top: float,
    notes_title: str = "",
) -> None:
    """Rows of shares in titled parts, a scale in percent below, and a note at the end of each row."""
    rows = [row for _, part in parts for row in part]
    left = min(max(text_width(row.label) for row in rows), 0.4 * WIDTH) + 5
    right = WIDTH - max((text_width(row.note) for row in rows if row.note), default=0.0) - (5 if notes_title else 2)
    across = Scale(0, 100, left, right)
    if notes_title:
        canvas.text((WIDTH, top + SIZE), notes_title, anchor="end")
        top += LINE + 1
    for title, part in parts:
        if title:
            canvas.text((0, top + SIZE), title, longest=right if notes_title else WIDTH)
            top += LINE + 2
        for row in part:
            _stacked_row(canvas, row, fills, across, top)
            top += 13
        top += 3
    for tick in (0, 25, 50, 75, 100):
        canvas.line((across(tick), top), (across(tick), top + 2))
        anchor = "end" if tick == 100 and not notes_title else "middle"
        canvas.text((across(tick), top + SIZE + 2.5), f"{tick} %" if tick == 100 else str(tick), anchor=anchor)
    canvas.line((left, top), (right, top))


def _stacked_row(canvas: Canvas, row: StackedRow, fills: Sequence[str], across: Scale, top: float) -> None:
    height = 10.0
    canvas.text((across.start - 4, top + 8), row.label, anchor="end", longest=across.start - 4)
    x = across.start
    for share, fill in zip(row.shares, fills, strict=True):
        width = across(share) - across.start
        if width <= 0:
            continue
        canvas.rect((x, top, width, height), fill, outlined=width > 1)  # an outline alone would look like a share
        label = percent(share)
        # A hatch would cut up the digits.
        if width > text_width(label) + 8:
            if fill.startswith("hatch"):
                canvas.rect(
                    (x + width / 2 - text_width(label) / 2 - 1.5, top + 1.2, text_width(label) + 3, 7.6), ORANGE
                )
            colour = ON_DARK if fill == BLUE else ON_LIGHT
            canvas.text((x + width / 2, top + 7.8), label, anchor="middle", colour=colour)
        x += width
    if row.whisker and row.whisker[1] > row.whisker[0]:
        low, high = (across(end) for end in row.whisker)
        canvas.line((low, top + height + 1.2), (high, top + height + 1.2), width=1.4)
    if row.note:
        canvas.text((WIDTH, top + 8), row.note, anchor="end")


# -- dots with whiskers ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DotPanel:
    """One scale of a chart of dots; what has a `zero` shows it as a line."""

    title: str
    bounds: tuple[float, float] | None = None
    """The ends of the scale; by the values if not given."""
    zero: float | None = None
    at_least: tuple[float, float] | None = None
    """What a scale by the values shows in any case, so that next to nothing does not look like much."""


@dataclass(frozen=True)
class DotRow:
    """Dots of one row, by panel; a row without any is a heading."""

    label: str
    dots: Sequence[Sequence[tuple[Span, Look]]] = ()
    joined: bool = False
    """A line joins the dots of a panel."""


def dots(
    canvas: Canvas,
    panels: Sequence[DotPanel],
    rows: Sequence[DotRow],
    top: float,
    *,
    size: float = SIZE,
    tight: float = 0,
) -> float:
    """Rows of dots with whiskers, panels beside each other; gives the place below."""
    longest = 0.42 * WIDTH
    labels = [two_lines(row.label, longest, size) if row.dots and not tight else [row.label] for row in rows]
    widths = [text_width(line, size) for row, own in zip(rows, labels, strict=True) if row.dots for line in own]
    left = min(max(widths, default=0.0), longest) + 6
    gap = 17.0  # the numbers at the ends of two scales must not touch
    wide = (WIDTH - 8 - left - gap * (len(panels) - 1)) / len(panels)
    starts = [left + number * (wide + gap) for number in range(len(panels))]
    scales = [
        _scale_of(panel, [row.dots[number] for row in rows if row.dots], starts[number], wide)
        for number, panel in enumerate(panels)
    ]
    y = top
    for panel, start in zip(panels, starts, strict=True):
        anchor, x = ("middle", start + wide / 2) if len(panels) > 1 else ("start", left)
        title_lines = two_lines(panel.title, wide + gap - 2) if panel.title else []
        for number, line in enumerate(title_lines):
            canvas.text((x, top + SIZE + number * LINE), line, anchor=anchor, longest=wide + gap - 2)
        y = max(y, top + LINE * len(title_lines) + (3 if title_lines else 0))
    for row, label in zip(rows, labels, strict=True):
        height = max(_row_height(row, tight), LINE * len(label) + 3 if len(label) > 1 else 0.0)
        if row.dots:
            base = y + height / 2 + 2.8 - LINE * (len(label) - 1) / 2
            for number, line in enumerate(label):
                canvas.text((left - 5, base + LINE * number), line, anchor="end", size=size, longest=left - 5)
            for panel, scale, found in zip(panels, scales, row.dots, strict=True):
                if panel.zero is not None:
                    zero = scale(panel.zero)
                    canvas.line((zero, y), (zero, y + height), dashes="2 1.5")
                _dots_of_row(canvas, row, found, scale, (y, y + height))
        else:
            canvas.text((0, y + height - 4), row.label, size=size)
        y += height
    for scale in scales:
        _scale_below(canvas, scale, y + 1)
    return y + SIZE + 9


def _scale_of(panel: DotPanel, rows: Sequence[Sequence[tuple[Span, Look]]], start: float, wide: float) -> Scale:
    if panel.bounds is not None:
        return Scale(*panel.bounds, start, start + wide)
    values = [value for row in rows for span, _ in row for value in span if value is not None]
    values += [*(panel.at_least or ()), *([] if panel.zero is None else [panel.zero])]
    return scale_around(values, start, start + wide)


def _row_height(row: DotRow, tight: float) -> float:
    if not row.dots:
        return 15.0
    most = max(len(found) for found in row.dots)
    if tight or row.joined:
        return tight or 11.0
    has_names = any(look.name for found in row.dots for _, look in found)
    return max(11.0, 4.0 + (8.5 if has_names else 7.0) * most + 2 * _apart(most))


def _apart(n_dots: int) -> float:
    """Above and below many dots, so that those of two rows do not run together."""
    return 3.0 if n_dots > 2 else 0.0


def _dots_of_row(
    canvas: Canvas, row: DotRow, found: Sequence[tuple[Span, Look]], scale: Scale, band: tuple[float, float]
) -> None:
    top, bottom = band
    middle = (top + bottom) / 2
    top, bottom = top + _apart(len(found)), bottom - _apart(len(found))
    if row.joined and len(found) > 1:
        ends = [scale(span.value) for span, _ in found]
        canvas.line((min(ends), middle), (max(ends), middle), width=0.7)
    for number, (span, look) in enumerate(found):
        y = middle if row.joined else top + (bottom - top) * (number + 0.5) / len(found)
        if span.low is not None and span.high is not None and span.high > span.low:
            canvas.line((scale(span.low), y), (scale(span.high), y), width=0.9)
        canvas.mark(look.shape, (scale(span.value), y), look.colour, filled=look.filled)
        if look.name:
            _name_dot(canvas, look.name, span, scale, y)


def _name_dot(canvas: Canvas, name: str, span: Span, scale: Scale, y: float) -> None:
    """Right of the whisker; left of it where the picture ends, or the line of zero would cross the name."""
    low, high = (scale(span.value if end is None else end) for end in (span.low, span.high))
    low, high = min(low, scale(span.value) - 3), max(high, scale(span.value) + 3)
    end = high + 2 + text_width(name, SMALL)
    if end <= WIDTH and not (scale.low < 0 < scale.high and high < scale(0) < end + 1):
        canvas.text((high + 2, y + 0.36 * SMALL), name, size=SMALL)
    else:
        canvas.text((low - 2, y + 0.36 * SMALL), name, size=SMALL, anchor="end")


def _scale_below(canvas: Canvas, scale: Scale, y: float) -> None:
    canvas.line((scale.start, y), (scale.end, y))
    room = scale.end - scale.start
    most = next((n for n in (6, 5, 4, 3) if _fits(scale.ticks(n), room)), 2)
    for tick in scale.ticks(most):
        canvas.line((scale(tick), y), (scale(tick), y + 2))
        label = tick_label(tick)
        x = min(scale(tick), WIDTH - text_width(label) / 2)
        canvas.text((x, y + SIZE + 2.5), label, anchor="middle")


def _fits(ticks: Sequence[float], room: float) -> bool:
    if len(ticks) < 2:
        return True
    share = room / (len(ticks) - 1)
    return max(text_width(tick_label(tick)) for tick in ticks) + 5 < share


def two_lines(title: str, width: float, size: float = SIZE) -> list[str]:
    """A title on one line or, where it is too wide, on two."""
    words = title.split(" ")
    if text_width(title, size) <= width or len(words) < 2:
        return [title]
    at = min(range(1, len(words)), key=lambda at: max(text_width(" ".join(part)) for part in (words[:at], words[at:])))
    return [" ".join(words[:at]), " ".join(words[at:])]
