"""Figures as SVG: a canvas of a few shapes, the charts drawn on it, and the figures that several benchmarks share.

One unit is a point, texts are real text, and no string that was read can become markup. Lines and letters have the
colour of the text around them, so that a picture also fits a dark page. There are no style attributes, which a strict
Content-Security-Policy would refuse. What distinguishes two things is always a shape or a hatch as well as a colour.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import NamedTuple

import numpy as np

from gendermark.markup import minus, visible
from gendermark.reading.occupations import core_occupations
from gendermark.records import Estimate, Gender, Judgement
from gendermark.result import Result

WIDTH = 237.6
"""One column of a two-column paper: 3.3 inches."""
SIZE, SMALL = 8.0, 7.0
"""Of letters, in points."""
INK = "currentColor"
ON_DARK, ON_LIGHT = "#ffffff", "#000000"
FONTS = "Helvetica, Arial, 'Liberation Sans', sans-serif"
_MARGIN = 2.0
Place = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, width and height."""
_HATCH = "hatch "
# Widths of letters in em: those of DejaVu Sans or a little more, which runs wider than any other font that a system
# without Helvetica puts in its place. So nothing is cut off anywhere.
_WIDTHS = (
    (0.34, "ijl.,:;'|I /\\"),
    (0.46, 'frt()-"*![]`'),
    (0.64, "0123456789$?_"),
    (0.84, "+=<>~#"),
    (1.0, "mwMW%@—…"),
)
_WIDTH_OF = {letter: width for width, letters in _WIDTHS for letter in letters}


def hatched(colour: str) -> str:
    """A fill with slanting lines, which is told from a plain one in grey too."""
    return _HATCH + colour


def text_width(text: str, size: float = SIZE) -> float:
    """About how wide a text is; rather too wide than too narrow."""
    return size * sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if letter in _WIDTH_OF:
        return _WIDTH_OF[letter]
    if ord(letter) >= 0x1100:  # Hangul, kana, Chinese
        return 1.05
    return 0.79 if letter.isupper() else 0.64


def clipped(text: str, width: float, size: float = SIZE) -> str:
    """The text, without its middle where it is too wide: names differ at their ends."""
    text = " ".join(visible(text).split())
    if text_width(text, size) <= width:
        return text
    # Whatever the text is, no more letters than this can fit.
    text = text if len(text) < 400 else f"{text[:200]}{text[-200:]}"
    for kept in range(len(text) - 1, 1, -1):
        head = kept * 2 // 5
        shorter = f"{text[:head]}…{text[len(text) - (kept - head) :]}"
        if text_width(shorter, size) <= width:
            return shorter
    return "…"


@dataclass(frozen=True)
class Scale:
    """Where a value lies between two places of the picture."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        return self.start + (self.end - self.start) * (inside - self.low) / (self.high - self.low)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values along the scale, as many as are wanted at most."""
        step = next(step for step in _steps(self.high - self.low) if (self.high - self.low) / step <= most - 1 + 1e-9)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(number * step, 10) for number in range(first, last + 1)]


def _steps(span: float) -> Sequence[float]:
    power = 10.0 ** math.floor(math.log10(span))
    return [power * step for step in (0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5, 10)]


def scale_around(values: Sequence[float], start: float, end: float) -> Scale:
    """A scale that holds all values, with round ends."""
    low, high = min(values), max(values)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    step = next(step for step in _steps(high - low) if (high - low) / step <= 5)
    return Scale(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, start, end)


def tick_label(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".").replace("-", "−") if value else "0"


class Canvas:
    """Shapes one after the other; as high as the lowest of them needs."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts: list[str] = []
        self._hatches: dict[str, str] = {}
        self._bottom = 0.0

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        *,
        width: float = 0.6,
        dashes: str = "",
        faint: bool = False,
    ) -> None:
        look = (f' stroke-dasharray="{dashes}"' if dashes else "") + (' stroke-opacity="0.25"' if faint else "")
        (x1, y1), (x2, y2) = start, end
        self._add(
            f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" stroke="{INK}" '
            f'stroke-width="{width:g}"{look}/>',
            max(y1, y2),
        )

    def path(self, points: Sequence[tuple[float, float]], colour: str, *, width: float = 1.0) -> None:
        steps = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        self._add(
            f'<path d="M{steps}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>', max(y for _, y in points)
        )

    def rect(self, box: Box, fill: str, *, outlined: bool = False, title: str = "") -> None:
        x, y, width, height = box
        edge = f' stroke="{INK}" stroke-width="0.5"' if outlined else ""
        shape = (
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" fill="{self._fill(fill)}"{edge}'
        )
        self._add(_titled(shape, "rect", title), y + height)

    def text(
        self,
        at: Place,
        text: str,
        *,
        anchor: str = "start",
        size: float = SIZE,
        colour: str = INK,
        longest: float = WIDTH,
    ) -> None:
        """`at` is on the line that letters stand on; what is wider than `longest` loses its middle, not its tooltip."""
        x, y = at
        shown = clipped(text, longest, size)
        look = f' text-anchor="{anchor}"' if anchor != "start" else ""
        look += f' font-size="{size:g}"' if size != SIZE else ""
        look += f' fill="{colour}"' if colour != INK else ""
        whole = "" if shown == " ".join(visible(text).split()) else f"<title>{_escaped(text)}</title>"
        self._add(f'<text x="{_n(x)}" y="{_n(y)}"{look}>{whole}{escape(shown, quote=False)}</text>', y + size * 0.25)

    def mark(
        self, shape: str, at: Place, colour: str, *, filled: bool = True, radius: float = 2.4, title: str = ""
    ) -> None:
        """`circle`, `square`, `triangle`, `diamond`, `down`, `hourglass` or `bar`; hollow where it is not filled."""
        x, y = at
        edge = min(0.9, 0.45 * radius)
        look = f'fill="{colour}"' if filled else f'fill="none" stroke="{colour}" stroke-width="{_n(edge)}"'
        if shape == "circle":
            drawn = f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" {look}'
            self._add(_titled(drawn, "circle", title), y + radius)
            return
        r = radius * 1.15
        corners = {
            "square": ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
            "triangle": ((0, -1.1), (1.05, 0.8), (-1.05, 0.8)),
            "diamond": ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
            "down": ((0, 1.1), (-1.05, -0.8), (1.05, -0.8)),
            "hourglass": ((-0.95, -1), (0.95, -1), (-0.95, 1), (0.95, 1)),
            "bar": ((-0.3, -1.3), (0.3, -1.3), (0.3, 1.3), (-0.3, 1.3)),
        }[shape]
        steps = "L".join(f"{_n(x + dx * r)} {_n(y + dy * r)}" for dx, dy in corners)
        self._add(_titled(f'<path d="M{steps}Z" {look}', "path", title), y + radius * 1.4)

    def svg(self, title: str, description: str) -> str:
        """The whole picture; a screen reader says its title and description."""
        height = math.ceil(self._bottom + _MARGIN)
        defined = f"<defs>{''.join(self._hatches.values())}</defs>" if self._hatches else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH / 72:g}in" height="{height / 72:.3f}in" '
            f'viewBox="0 0 {WIDTH:g} {height}" role="img" aria-labelledby="{self._name}-title" '
            f'aria-describedby="{self._name}-desc" font-family="{FONTS}" font-size="{SIZE:g}" fill="{INK}">\n'
            f'<title id="{self._name}-title">{_escaped(title)}</title>\n'
            f'<desc id="{self._name}-desc">{_escaped(description)}</desc>\n'
            f"{defined}{chr(10).join(self._parts)}\n</svg>\n"
        )

    def _add(self, part: str, bottom: float) -> None:
        self._parts.append(part)
        self._bottom = max(self._bottom, bottom)

    def _fill(self, fill: str) -> str:
        if not fill.startswith(_HATCH):
            return fill
        colour = fill.removeprefix(_HATCH)
        # Names of parts hold for a whole page, on which other pictures may stand.
        name = f"{self._name}-hatch-{colour.lstrip('#')}"
        self._hatches[name] = (
            f'<pattern id="{name}" width="3" height="3" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate(45)"><rect width="3" height="3" fill="{colour}"/>'
            f'<line x1="0" y1="0" x2="0" y2="3" stroke="{ON_DARK}" stroke-width="1.2"/></pattern>'
        )
        return f"url(#{name})"


def _titled(shape: str, name: str, title: str) -> str:
    return f"{shape}><title>{_escaped(title)}</title></{name}>" if title else f"{shape}/>"


def _escaped(text: str) -> str:
    return escape(" ".join(visible(text).split()), quote=False)


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


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
    fixed_low: float | None = None
    """With other sentences about the same groups; drawn as a thick bar on the thin one of other groups."""
    fixed_high: float | None = None


THIN, THICK = 0.9, 2.6
"""Width of the lines of the two intervals."""


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
        canvas.line((x, up(span.low)), (x, up(span.high)), width=THIN)
        if span.fixed_low is not None and span.fixed_high is not None:
            canvas.line((x, up(span.fixed_low)), (x, up(span.fixed_high)), width=THICK)
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
            canvas.line((scale(span.low), y), (scale(span.high), y), width=THIN)
            if span.fixed_low is not None and span.fixed_high is not None:
                canvas.line((scale(span.fixed_low), y), (scale(span.fixed_high), y), width=THICK)
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


# -- points ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """One point of a square of percentages; `name` is shown, `title` is its tooltip."""

    x: float
    y: float
    look: Look
    title: str
    name: str = ""


def points(
    canvas: Canvas,
    found: Sequence[Point],
    titles: tuple[str, str],
    top: float,
    level: float | None = None,
    fit: tuple[float, float] | None = None,
) -> None:
    """Percent against percent, with the diagonal; a level and a fitted line (its ends at 0 and 100) if there are any;
    the named points with their names."""
    left, height = 22.0, 168.0
    across, up = Scale(0, 100, left, WIDTH - 6), Scale(0, 100, top + height + 14, top + 14)
    canvas.text((0, top + SIZE), titles[1])
    for tick in (0, 25, 50, 75, 100):
        canvas.line((left, up(tick)), (across.end, up(tick)), width=0.5, faint=tick > 0)
        canvas.text((left - 3, up(tick) + 2.8), str(tick), anchor="end")
        canvas.line((across(tick), up(0)), (across(tick), up(0) + 2))
        canvas.text((across(tick), up(0) + SIZE + 2.5), str(tick), anchor="end" if tick == 100 else "middle")
    canvas.line((across(0), up(0)), (across(100), up(100)), dashes="2 1.5", width=0.7)
    if level is not None:
        canvas.line((across(0), up(level)), (across(100), up(level)), width=0.8)
    if fit is not None:
        _fitted(canvas, fit, across, up)
    canvas.text(((left + across.end) / 2, up(0) + 2 * SIZE + 5), titles[0], anchor="middle")
    boxes = [(across(p.x) - 2.6, up(p.y) - 2.6, across(p.x) + 2.6, up(p.y) + 2.6) for p in found]
    for point in found:
        look = point.look
        canvas.mark(
            look.shape, (across(point.x), up(point.y)), look.colour, filled=look.filled, radius=2.1, title=point.title
        )
    frame = (left, up(100) - 4, WIDTH, up(0) + 1)
    for point in found:
        if point.name:
            _name_point(canvas, point.name, across(point.x), up(point.y), boxes, frame)


def _fitted(canvas: Canvas, fit: tuple[float, float], across: Scale, up: Scale) -> None:
    """The part of a straight line that lies inside the square."""
    at_0, at_100 = fit
    slope = (at_100 - at_0) / 100
    ends = [0.0, 100.0]
    if abs(slope) > 1e-9:
        crossings = sorted((edge - at_0) / slope for edge in (0, 100))
        ends = [max(0.0, crossings[0]), min(100.0, crossings[1])]
    if ends[0] < ends[1]:
        start, end = ((across(x), up(at_0 + slope * x)) for x in ends)
        canvas.line(start, end, width=0.9, dashes="0.9 1.6")


def _name_point(canvas: Canvas, name: str, x: float, y: float, taken: list[Box], frame: Box) -> None:
    """Beside the point where nothing else is; a name without a place is left out."""
    shown = clipped(name, 90, SMALL)
    wide, high = text_width(shown, SMALL), SMALL
    places = (
        (x + 4, y + 2.4),
        (x - 4 - wide, y + 2.4),
        (x - wide / 2, y - 4.5),
        (x - wide / 2, y + 4 + high * 0.8),
        (x + 3, y - 4),
        (x - 3 - wide, y - 4),
        (x + 3, y + 8.5),
        (x - 3 - wide, y + 8.5),
    )
    own = (x - 2.6, y - 2.6, x + 2.6, y + 2.6)
    for left, base in places:
        box = (left, base - high * 0.8, left + wide, base + high * 0.2)
        inside = box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]
        if inside and not any(other != own and _overlap(box, other) for other in taken):
            canvas.text((left, base), name, size=SMALL, longest=90)
            taken.append(box)
            return


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@dataclass(frozen=True)
class Series:
    """Points of one kind, each with a tooltip, and a straight line through them: its slope and its height at 0."""

    label: str
    look: Look
    spots: Sequence[tuple[float, float, str]]
    line: tuple[float, float] | None = None


def scatter(canvas: Canvas, series: Sequence[Series], titles: tuple[str, str], top: float) -> None:
    """Any numbers against any others, on scales that hold 0, with a line for each series that has one."""
    spots = [spot for one in series for spot in one.spots]
    ends = [one.line[0] * x + one.line[1] for one in series if one.line for x, _, _ in one.spots]
    up = scale_around([0.0, 1.0, *(y for _, y, _ in spots), *ends], top + 160, top + 16)
    left = _room_for_ticks(up)
    across = scale_around([0.0, 1.0, *(x for x, _, _ in spots)], left, WIDTH - 8)
    canvas.text((0, top + SIZE), titles[1])
    for tick in up.ticks(6):
        canvas.line((left, up(tick)), (across.end, up(tick)), width=0.5, faint=tick != 0)
        canvas.text((left - 3, up(tick) + 2.8), tick_label(tick), anchor="end")
    for tick in across.ticks(6):
        canvas.line((across(tick), up.start), (across(tick), up.end), width=0.5, faint=True)
        canvas.text((across(tick), up.start + SIZE + 3), tick_label(tick), anchor="middle")
    for one in series:
        if one.line is not None:
            slope, height = one.line
            reach = [edge(x for x, _, _ in one.spots) for edge in (min, max)]
            canvas.path([(across(x), up(height + slope * x)) for x in reach], one.look.colour, width=0.9)
    for one in series:
        for x, y, title in one.spots:
            look = one.look
            canvas.mark(look.shape, (across(x), up(y)), look.colour, filled=look.filled, title=title)
    canvas.text(((left + across.end) / 2, up.start + 2 * SIZE + 6), titles[0], anchor="middle")


# -- matrices ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Matrix:
    """Counts by row and column; shades are shares of their row."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    counts: Sequence[Sequence[int]]


def matrices(canvas: Canvas, found: Sequence[Matrix], row_title: str, column_title: str, top: float) -> None:
    left = max(text_width(name) for matrix in found for name in matrix.rows) + 6
    for matrix in found:
        if matrix.title:
            canvas.text((0, top + SIZE), matrix.title)
            top += LINE + 3
        step, high = (WIDTH - left - 1) / len(matrix.columns), 24.0
        canvas.text((0, top + SIZE), row_title, longest=left - 4)
        canvas.text((left + (WIDTH - left) / 2, top + SIZE), column_title, anchor="middle", longest=WIDTH - left)
        for place, name in enumerate(matrix.columns):
            canvas.text((left + step * (place + 0.5), top + 2 * SIZE + 3), name, anchor="middle", longest=step - 2)
        top += 2 * SIZE + 7
        for name, counts in zip(matrix.rows, matrix.counts, strict=True):
            canvas.text((left - 5, top + high / 2 + 3), name, anchor="end")
            for place, count in enumerate(counts):
                _shaded(canvas, (left + step * place, top, step, high), count, sum(counts))
            top += high
        top += 8


def _shaded(canvas: Canvas, box: Box, count: int, total: int) -> None:
    x, y, wide, high = box
    share = count / total if total else 0.0
    canvas.rect((x, y, wide, high), _shade(share), outlined=True)
    colour = ON_DARK if share > 0.85 else ON_LIGHT
    canvas.text((x + wide / 2, y + high / 2 - 1), f"{count:,}", anchor="middle", colour=colour, longest=wide - 2)
    if total:
        plain = share in (0, 1) or 0.005 <= share < 0.995
        shown = f"{percent(100 * share) if plain else f'{100 * share:.1f}'} %"
        canvas.text((x + wide / 2, y + high / 2 + 8), shown, anchor="middle", size=SMALL, colour=colour)


def _shade(share: float) -> str:
    """From white to blue."""
    white, blue = (255, 255, 255), tuple(int(BLUE[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(white, blue, strict=True))


# -- one dot per thing -------------------------------------------------------------------------------------------------


def dot_columns(
    canvas: Canvas, parts: Mapping[str, Mapping[str, Sequence[str]]], columns: Mapping[str, Look], top: float
) -> None:
    """Every thing a dot (its name a tooltip), in columns; a part below the other."""
    step = WIDTH / len(columns)
    most = max(len(names) for found in parts.values() for names in found.values())
    per_line = 10 if most <= 120 else 17
    pitch = (step - 5) / per_line
    for title, found in parts.items():
        canvas.text((0, top + SIZE), title)
        n_lines = {column: math.ceil(len(names) / per_line) for column, names in found.items()}
        base = top + LINE + 12 + pitch * max(n_lines.values())
        for place, (column, look) in enumerate(columns.items()):
            names, x = found.get(column, ()), step * place
            count_y = base - pitch * n_lines.get(column, 0) - 3
            canvas.text((x + step / 2, count_y), f"{len(names):,}", anchor="middle")
            for number, name in enumerate(names):
                line, along = divmod(number, per_line)
                canvas.mark(
                    look.shape,
                    (x + 2.5 + pitch * (along + 0.5), base - pitch * (line + 0.5)),
                    look.colour,
                    filled=look.filled,
                    radius=0.36 * pitch,
                    title=name,
                )
        canvas.line((0, base + 1), (WIDTH, base + 1))
        top = base + 4
    for place, column in enumerate(columns):
        for number, words in enumerate(two_lines(column, step - 2)):
            canvas.text((step * (place + 0.5), top + SIZE + LINE * number), words, anchor="middle", longest=step - 1)


# -- sorted differences ------------------------------------------------------------------------------------------------


def differences(
    canvas: Canvas, title: str, found: Sequence[tuple[str, float]], sides: tuple[str, str], top: float
) -> None:
    """All differences from largest to smallest, as bars from zero; their names are tooltips."""
    up = scale_around([0.0, *(value for _, value in found)], top + 98, top + 14)
    left = _room_for_ticks(up)
    canvas.text((0, top + SIZE), title)
    for tick in up.ticks(5):
        canvas.line((left, up(tick)), (WIDTH, up(tick)), width=0.5, faint=tick != 0)
        canvas.text((left - 3, up(tick) + 2.8), tick_label(tick), anchor="end")
    ordered = sorted(found, key=lambda one: (-one[1], one[0]))
    step = (WIDTH - left) / len(ordered)
    for number, (name, value) in enumerate(ordered):
        if value:
            y = min(up(0), up(value))
            fill = BLUE if value > 0 else HATCHED_ORANGE
            title_of = f"{name}: {value:+.1f}".replace("-", "−")
            canvas.rect((left + step * number, y, max(step * 0.85, 0.4), abs(up(value) - up(0))), fill, title=title_of)
    below = up.start + SIZE + 3
    if ordered[0][1] > 0:
        canvas.text((left, below), sides[0], longest=(WIDTH - left) / 2 - 4)
    if ordered[-1][1] < 0:
        canvas.text((WIDTH, below), sides[1], anchor="end", longest=(WIDTH - left) / 2 - 4)


def _room_for_ticks(scale: Scale) -> float:
    """Left of an upright scale."""
    return max(text_width(tick_label(tick)) for tick in scale.ticks(5)) + 5


# -- lines -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LinePanel:
    """Values of one thing after the other, one line per series."""

    title: str
    series: Sequence[tuple[Look, Sequence[Span | None]]]
    least: float
    """Between the ends of its scale."""


def lines(canvas: Canvas, panels: Sequence[LinePanel], names: Sequence[str], top: float) -> None:
    scales = []
    for panel in panels:
        values = [x for _, spans in panel.series for span in spans if span for x in span if x is not None]
        middle = (min(values) + max(values)) / 2
        scales.append(scale_around([*values, middle - panel.least / 2, middle + panel.least / 2], 66, 0))
    left = max(map(_room_for_ticks, scales))
    step = (WIDTH - left) / len(names)
    for panel, scale in zip(panels, scales, strict=True):
        up = Scale(scale.low, scale.high, top + 80, top + 14)
        canvas.text((0, top + SIZE), panel.title)
        for tick in up.ticks(5):
            canvas.line((left, up(tick)), (WIDTH, up(tick)), width=0.5, faint=tick != 0)
            canvas.text((left - 3, up(tick) + 2.8), tick_label(tick), anchor="end")
        for number, (look, spans) in enumerate(panel.series):
            shift = 3.5 * (number - (len(panel.series) - 1) / 2)
            places = [(left + step * (at + 0.5) + shift, span) for at, span in enumerate(spans) if span]
            if len(places) > 1:
                canvas.path([(x, up(span.value)) for x, span in places], look.colour)
            for x, span in places:
                upright_whisker(canvas, span, x, up)
                canvas.mark(look.shape, (x, up(span.value)), look.colour, filled=look.filled)
        top = up.start + 6
    for at, name in enumerate(names):
        canvas.text((left + step * (at + 0.5), top + SIZE - 2), name, anchor="middle", longest=step - 2)


# -- two dots and the gap between them ---------------------------------------------------------------------------------

_GAP_ROW = 13.0


@dataclass(frozen=True)
class GapRow:
    """A label, one or two dots with their intervals, and a note at each end."""

    label: str
    dots: Sequence[tuple[Span, Look]]
    before: str = ""
    after: str = ""


def gaps(
    canvas: Canvas,
    rows: Sequence[GapRow],
    heads: tuple[str, str, str, str],
    bounds: tuple[float, float] | None,
    top: float,
) -> float:
    """Rows from best to worst; the scale is by the values where no bounds are given. Gives the place below.

    `heads` stand above the notes before, the labels, the scale and the notes after.
    """
    before_head, label_head, scale_head, after_head = heads
    before = max(text_width(text, SMALL) for text in (before_head, *(row.before for row in rows))) + 5
    label = min(max(text_width(text, SMALL) for text in (label_head, *(row.label for row in rows))), 0.48 * WIDTH)
    after = max(text_width(text, SMALL) for text in (after_head, *(row.after for row in rows)))
    start, end = before + label + 7, WIDTH - after - (8 if after else 4)
    values = [x for row in rows for span, _ in row.dots for x in span if x is not None]
    across = Scale(*bounds, start, end) if bounds else scale_around([0.0, *values], start, end)
    base = top + SIZE
    canvas.text((0, base), before_head, size=SMALL)
    canvas.text((before, base), label_head, size=SMALL)
    canvas.text(((start + end) / 2, base), scale_head, size=SMALL, anchor="middle", longest=end - start + 12)
    canvas.text((WIDTH, base), after_head, size=SMALL, anchor="end")
    top, bottom = base + 4, base + 4 + _GAP_ROW * len(rows)
    for tick in across.ticks(5):
        canvas.line((across(tick), top), (across(tick), bottom), width=0.5, faint=tick != 0 or across.low == 0)
        canvas.text((across(tick), bottom + SIZE), tick_label(tick), size=SMALL, anchor="middle")
    for number, row in enumerate(rows):
        middle = top + _GAP_ROW * (number + 0.5)
        canvas.text((0, middle + 2.6), row.before, size=SMALL, longest=before - 2)
        canvas.text((before, middle + 2.6), row.label, size=SMALL, longest=label)
        canvas.text((WIDTH, middle + 2.6), row.after, size=SMALL, anchor="end")
        _dots_and_gap(canvas, row.dots, across, middle)
    return bottom + SIZE + 4


def _dots_and_gap(canvas: Canvas, dots: Sequence[tuple[Span, Look]], across: Scale, middle: float) -> None:
    """The bar lies behind; each interval beside it, so that all three can be seen."""
    places = sorted(across(span.value) for span, _ in dots)
    if len(places) > 1:
        canvas.line((places[0], middle), (places[-1], middle), width=3.2, faint=True)
    for number, (span, look) in enumerate(dots):
        y = middle + 4.2 * (number - (len(dots) - 1) / 2)
        if span.low is not None and span.high is not None and span.high > span.low:
            canvas.path([(across(span.low), y), (across(span.high), y)], look.colour, width=THIN)
            if span.fixed_low is not None and span.fixed_high is not None:
                canvas.path([(across(span.fixed_low), y), (across(span.fixed_high), y)], look.colour, width=THICK)
    for span, look in dots:
        canvas.mark(look.shape, (across(span.value), middle), look.colour, filled=look.filled, radius=2.7)


MALE, FEMALE = Look("circle", BLUE), Look("triangle", VERMILION)
PUBLISHED = Look("diamond", FAINT, filled=False)
LABOUR_STATISTICS = "labour statistics of the United States, 2017 (Zhao et al., 2018)"
_NOT_TOLD = "not told"
_MIN_OUTPUTS = 3
"""An occupation with fewer translations that show a gender is no point."""
_MIN_POINTS = 8
"""Fewer have no trend."""
_FAR, _MIN_RESIDUAL = 1.5, 10.0
"""Standard deviations, and percentage points, from the trend: occupations farther away are named."""
_MOST_NAMED = 7


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
    """`95% intervals`, with what the two bars mean where there are two."""
    has_two = any(e.fixed_low is not None and e.fixed_low != e.low for e in result.estimates)
    bars = " (thin: other groups, such as occupations; thick: other sentences about these)" if has_two else ""
    return f"{confidence_of(result)}{bars}"


def confidence_of(result: Result) -> str:
    """`95% intervals`, as signed."""
    signed = re.search(r"confidence-(0?\.\d+)", result.signature)
    return f"{100 * float(signed[1]) if signed else 95:g}% intervals"


def span(result: Result, metric: str, part: str = "all") -> Span | None:
    return span_of(result.find(metric, part))


def span_of(found: Estimate | None) -> Span | None:
    """An estimate as figures draw it; the second interval only where it differs from the first."""
    if found is None or found.value is None:
        return None
    ends = found.fixed_low, found.fixed_high
    return Span(found.value, found.low, found.high, *(ends if ends != (found.low, found.high) else ()))


def language(cell: str) -> str:
    """`ES` of `NAME.en-es`."""
    return cell.rpartition("-")[2].upper()


def direction(cell: str) -> str:
    """`en-es` of `NAME.en-es`."""
    return cell.rpartition(".")[2]


# -- figures that several benchmarks share -----------------------------------------------------------------------------


def confusion(sheet: Sheet) -> Iterator[Figure]:
    """The expected gender against the gender of the translation, in counts."""
    for cell, found in sheet.cells.items():
        counts_of = {label: _gender_counts(result.judgements) for label, result in found.items()}
        pairs = [pair for counts in counts_of.values() for pair in counts]
        rows = [gender.value for gender in Gender if any(expected == gender for expected, _ in pairs)]
        columns = [gender.value for gender in Gender if gender in rows or any(seen == gender for _, seen in pairs)]
        columns.append(_NOT_TOLD)
        drawn = [
            Matrix(sheet.title_of(label), rows, columns, [[counts[row, column] for column in columns] for row in rows])
            for label, counts in counts_of.items()
            if counts
        ]
        if drawn:
            yield figure(
                sheet.name_of(cell, "confusion"),
                "The gender that is meant and the gender of the translation",
                f"Counts, and their share of the row ({sheet.about(cell)}). Not told: the translation shows no gender "
                "that can be read.",
                cell,
                partial(matrices, found=drawn, row_title="meant", column_title="translated as", top=0),
            )


def _gender_counts(judgements: Iterable[Judgement]) -> Counter[tuple[str, str]]:
    return Counter(
        (judgement.expected.value, judgement.observed.value if judgement.observed else _NOT_TOLD)
        for judgement in judgements
        if judgement.expected
    )


@dataclass
class Tally:
    """Of one occupation: feminine among the translations that show a gender, and women among their sources."""

    n_feminine: int = 0
    n_gendered: int = 0
    n_women: int = 0

    @property
    def share(self) -> float:
        return 100 * self.n_feminine / self.n_gendered


def is_open(judgement: Judgement) -> bool:
    """Whether the source leaves the gender open."""
    return judgement.expected in (None, Gender.NEUTRAL)


def professions(sheet: Sheet) -> Iterator[Figure]:
    """Each occupation: the feminine share of its translations against the share of women who work in it."""
    percent_women = {name: float(share) for name, _, share in core_occupations()}
    for cell, label, result in sheet.results:
        told: dict[str, Tally] = defaultdict(Tally)
        open_: dict[str, Tally] = defaultdict(Tally)
        for judgement in result.judgements:
            if judgement.observed in (Gender.MASCULINE, Gender.FEMININE):
                tally = (open_ if is_open(judgement) else told)[judgement.entity]
                tally.n_gendered += 1
                tally.n_feminine += judgement.observed is Gender.FEMININE
                tally.n_women += judgement.expected is Gender.FEMININE
        enough_told, enough_open = (
            {name: tally for name, tally in found.items() if name in percent_women and tally.n_gendered >= _MIN_OUTPUTS}
            for found in (told, open_)
        )
        if enough_told or enough_open:
            yield _of_occupations(sheet, cell, label, percent_women, enough_told, enough_open)


def _of_occupations(
    sheet: Sheet,
    cell: str,
    label: str,
    percent_women: Mapping[str, float],
    told: Mapping[str, Tally],
    open_: Mapping[str, Tally],
) -> Figure:
    main = open_ if len(open_) >= len(told) / 2 else told
    trend = _trend({name: (percent_women[name], tally.share) for name, tally in main.items()})
    named = list(trend.residuals)[:_MOST_NAMED] if trend else []
    marks: list[Point] = []
    entries: list[tuple[str, Look | str]] = []
    for tallies, shape, colour, says in (
        (told, "circle", BLUE, "gender told"),
        (open_, "triangle", VERMILION, "gender left open"),
    ):
        look = Look(shape, colour, filled=tallies is main)
        if tallies:
            entries.append((says, look))
        for name, tally in tallies.items():
            title = (
                f"{name}, {says}: {tally.n_feminine} of {tally.n_gendered} feminine; "
                f"{percent_women[name]:g} % of those who work in it are women"
            )
            shown = name if tallies is main and name in named else ""
            marks.append(Point(percent_women[name], tally.share, look, title, shown))
    # The named ones first, so that the farthest finds a place for its name.
    marks.sort(key=lambda point: named.index(point.name) if point.name else len(named))
    entries.append(("as the labour market", "dashes"))
    level = None
    if told:
        level = 100 * sum(t.n_women for t in told.values()) / sum(t.n_gendered for t in told.values())
        entries.append(("as the sentences say", "line"))
    if trend:
        entries.append(("trend", "dots"))

    def draw(canvas: Canvas) -> None:
        titles = ("women in the occupation, %", "feminine translations, %")
        top = legend(canvas, entries, 0)
        points(canvas, marks, titles, top, level, trend.ends if trend else None)

    return figure(
        sheet.name_of(cell, "professions", label),
        "Feminine translations of each occupation, against the share of women in it",
        "Each mark is an occupation: the feminine share of its translations that show a gender "
        f"({sheet.about(cell, label)}; {LABOUR_STATISTICS}).{_in_words(trend, named)}",
        cell,
        draw,
    )


@dataclass(frozen=True)
class _Trend:
    """A straight line through points, and the points that lie far from it, the farthest first."""

    ends: tuple[float, float]
    correlation: float
    residuals: Mapping[str, float]


def _trend(points: Mapping[str, tuple[float, float]]) -> _Trend | None:
    """By least squares; none where the points are too few or all of one height."""
    x, y = np.array(list(points.values()), dtype=np.float64).reshape(-1, 2).T
    if len(points) < _MIN_POINTS or min(x.std(), y.std()) < 1e-9:
        return None
    slope, intercept = np.polyfit(x, y, 1)
    residuals = y - (slope * x + intercept)
    far = max(_FAR * float(residuals.std()), _MIN_RESIDUAL)
    found = sorted(zip(points, residuals.tolist(), strict=True), key=lambda one: (-abs(one[1]), one[0]))
    return _Trend(
        (float(intercept), float(intercept + 100 * slope)),
        float(np.corrcoef(x, y)[0, 1]),
        {name: residual for name, residual in found if abs(residual) >= far},
    )


def _in_words(trend: _Trend | None, named: Iterable[str]) -> str:
    if trend is None:
        return ""
    correlation = f" Correlation with the share of women: {minus(f'{trend.correlation:.2f}')}."
    listed = ", ".join(f"{name} {minus(f'{trend.residuals[name]:+.0f}')}" for name in named)
    return correlation + (f" Farthest from the trend, in points: {listed}." if listed else "")
