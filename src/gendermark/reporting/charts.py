"""Figures as SVG: a canvas with shapes, axes and intervals, the charts, and shared figures.

One unit is a point. Text stays text and is always escaped. Lines and letters take the colour of the surrounding text,
so that a figure also fits a dark page; there are no style attributes, which a strict Content-Security-Policy would
refuse. Shape or hatching always repeats what a colour says.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import NamedTuple

from gendermark.markup import minus, visible
from gendermark.reading.codes import NAMES
from gendermark.reading.occupations import core_occupations
from gendermark.records import Estimate, Gender, Judgement, level_of
from gendermark.reporting.document import Figure as Figure
from gendermark.result import Result

WIDTH = 237.6
"""One column of a two-column paper: 3.3 inches."""
SIZE, SMALL, LINE = 8.0, 7.0, 10.0
"""Two font sizes, and the line height."""
INK, ON_DARK, ON_LIGHT = "currentColor", "#ffffff", "#000000"
# Okabe and Ito's colour-blind safe palette; dark, middle and light in grey.
BLUE, ORANGE, GREEN, PURPLE, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00"
PALE, GREY, FAINT = "#A5D6C6", "#C9C9C9", "#7f7f7f"
_HATCH = "hatch "
HATCHED_BLUE, HATCHED_ORANGE = _HATCH + BLUE, _HATCH + ORANGE
"""Hatching, which differs from a plain fill in grey too."""
_DASHES = {"line": "", "dashes": "2 1.5", "dots": "0.9 1.6"}
_FONTS = "Helvetica, Arial, 'Liberation Sans', sans-serif"
# Letter widths in em: those of DejaVu Sans or a little more, the widest substitute for Helvetica, so that no text is
# cut off.
_WIDTHS = (
    (0.34, "ijl.,:;'|I /\\"),
    (0.46, 'frt()-"*![]`'),
    (0.64, "0123456789$?_"),
    (0.84, "+=<>~#←→↑↓"),
    (1.0, "mwMW%@—…"),
)
_WIDTH_OF = {letter: width for width, letters in _WIDTHS for letter in letters}
_CORNERS = {
    "square": ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    "triangle": ((0, -1.1), (1.05, 0.8), (-1.05, 0.8)),
    "diamond": ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
    "down": ((0, 1.1), (-1.05, -0.8), (1.05, -0.8)),
    "hourglass": ((-0.95, -1), (0.95, -1), (-0.95, 1), (0.95, 1)),
}
Place = tuple[float, float]


def percent(amount: float) -> str:
    """Round to a whole percentage, halves up, so that figures and tables agree."""
    return f"{math.floor(amount + 0.5 + 1e-9)}"


def signed(points: float) -> str:
    """Round a gap to whole points, with its sign, except for 0."""
    return minus(f"{points:+.0f}") if round(points) else "0"


# -- text --------------------------------------------------------------------------------------------------------------


def text_width(text: str, size: float = SIZE) -> float:
    """Estimate the width of a text, rather too wide than too narrow."""
    return size * sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    wide = 1.05 if ord(letter) >= 0x1100 else 0.79 if letter.isupper() else 0.64  # Hangul, kana, Chinese
    return _WIDTH_OF.get(letter, wide)


def _widest(texts: Iterable[str], size: float) -> float:
    return max((text_width(text, size) for text in texts), default=0.0)


def clipped(text: str, width: float, size: float = SIZE) -> str:
    """Cut the middle out of a text that is too wide: names differ at their ends."""
    text = _plain(text)
    if text_width(text, size) <= width:
        return text
    text = text if len(text) < 400 else f"{text[:200]}{text[-200:]}"  # more letters never fit
    for kept in range(len(text) - 1, 1, -1):
        head = kept * 2 // 5
        shorter = f"{text[:head]}…{text[len(text) - (kept - head) :]}"
        if text_width(shorter, size) <= width:
            return shorter
    return "…"


def two_lines(title: str, width: float, size: float = SIZE) -> list[str]:
    """Break a title that is too wide into two lines of similar width."""
    words = title.split(" ")
    if text_width(title, size) <= width or len(words) < 2:
        return [title]
    halves = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words))]
    return list(min(halves, key=lambda half: max(map(text_width, half))))


def _plain(text: str) -> str:
    return " ".join(visible(text).split())


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


# -- shapes ------------------------------------------------------------------------------------------------------------


class Span(NamedTuple):
    value: float
    low: float | None = None
    high: float | None = None
    fixed_low: float | None = None
    """The interval for other sentences about the same groups: a thick bar on the thin one for other groups."""
    fixed_high: float | None = None


@dataclass(frozen=True)
class Look:
    """Style of one series."""

    shape: str = "circle"
    colour: str = BLUE
    filled: bool = True
    name: str = ""
    """Written beside the mark if shape and colour recur."""


MALE, FEMALE, PUBLISHED = Look(), Look("triangle", VERMILION), Look("diamond", FAINT, filled=False)
# The page uses the same colours (`--run-0` and so on) and shapes for the same systems.
COLOURS = (BLUE, "#C04E00", "#00795A", "#A3487B", "#7A5C00", "#3A3A3A", "#5B4BB5", "#00707C")
SHAPES = ("circle", "square", "triangle", "diamond", "down", "hourglass")


def look_of(number: int) -> Look:
    return Look(SHAPES[number % len(SHAPES)], COLOURS[number % len(COLOURS)])


def looks_of(names: Mapping[int, str]) -> dict[int, Look]:
    """Assign styles, with names if shapes recur."""
    recurs = len({number % len(SHAPES) for number in names}) < len(names)
    return {number: replace(look_of(number), name=name if recurs else "") for number, name in names.items()}


class Canvas:
    """Shapes in order; the height adapts to the lowest."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts: list[str] = []
        self._hatches: dict[str, str] = {}
        self._bottom = 0.0

    def line(
        self, *points: Place, colour: str = INK, width: float = 0.6, dashes: str = "line", faint: bool = False
    ) -> None:
        steps = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        look = f' stroke-dasharray="{_DASHES[dashes]}"' if _DASHES[dashes] else ""
        look += ' stroke-opacity="0.25"' if faint else ""
        shape = f'<polyline points="{steps}" fill="none" stroke="{colour}" stroke-width="{width:g}"{look}/>'
        self._add(shape, max(y for _, y in points))

    def rect(
        self, box: tuple[float, float, float, float], fill: str, *, outlined: bool = False, title: str = ""
    ) -> None:
        x, y, width, height = box
        look = f'fill="{self._fill(fill)}"' + (f' stroke="{INK}" stroke-width="0.5"' if outlined else "")
        shape = f'rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" {look}'
        self._add(_titled(shape, title), y + height)

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
        """Write on the baseline at `at`; text wider than `longest` is clipped, with the whole as tooltip."""
        shown = clipped(text, longest, size)
        look = f' text-anchor="{anchor}"' if anchor != "start" else ""
        look += f' font-size="{size:g}"' if size != SIZE else ""
        look += f' fill="{colour}"' if colour != INK else ""
        whole = "" if shown == _plain(text) else f"<title>{_escaped(text)}</title>"
        shape = f'<text x="{_n(at[0])}" y="{_n(at[1])}"{look}>{whole}{escape(shown, quote=False)}</text>'
        self._add(shape, at[1] + size * 0.25)

    def mark(self, look: Look, at: Place, *, radius: float = 2.4, title: str = "") -> None:
        x, y = at
        edge = _n(min(0.9, 0.45 * radius))
        fill = f'fill="{look.colour}"' if look.filled else f'fill="none" stroke="{look.colour}" stroke-width="{edge}"'
        if look.shape == "circle":
            shape = f'circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" {fill}'
        else:
            r = radius * 1.15
            steps = "L".join(f"{_n(x + dx * r)} {_n(y + dy * r)}" for dx, dy in _CORNERS[look.shape])
            shape = f'path d="M{steps}Z" {fill}'
        self._add(_titled(shape, title), y + radius * 1.4)

    def svg(self, title: str, description: str) -> str:
        """The whole picture; title and description are for screen readers."""
        height = math.ceil(self._bottom + 2)
        hatches = f"<defs>{''.join(self._hatches.values())}</defs>" if self._hatches else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH / 72:g}in" height="{height / 72:.3f}in" '
            f'viewBox="0 0 {WIDTH:g} {height}" role="img" aria-labelledby="{self._name}-title" '
            f'aria-describedby="{self._name}-desc" font-family="{_FONTS}" font-size="{SIZE:g}" fill="{INK}">\n'
            f'<title id="{self._name}-title">{_escaped(title)}</title>\n'
            f'<desc id="{self._name}-desc">{_escaped(description)}</desc>\n'
            f"{hatches}{chr(10).join(self._parts)}\n</svg>\n"
        )

    def _add(self, part: str, bottom: float) -> None:
        self._parts.append(part)
        self._bottom = max(self._bottom, bottom)

    def _fill(self, fill: str) -> str:
        if not fill.startswith(_HATCH):
            return fill
        colour = fill.removeprefix(_HATCH)
        name = f"{self._name}-hatch-{colour.lstrip('#')}"  # ids must be unique on a page with other figures
        self._hatches[name] = (
            f'<pattern id="{name}" width="3" height="3" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate(45)"><rect width="3" height="3" fill="{colour}"/>'
            f'<line x1="0" y1="0" x2="0" y2="3" stroke="{ON_DARK}" stroke-width="1.2"/></pattern>'
        )
        return f"url(#{name})"


def _titled(shape: str, title: str) -> str:
    return f"<{shape}><title>{_escaped(title)}</title></{shape.partition(' ')[0]}>" if title else f"<{shape}/>"


def _escaped(text: str) -> str:
    return escape(_plain(text), quote=False)


# -- axes, intervals, legends ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """Maps values from `low` to `high` to coordinates from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        return self.start + (self.end - self.start) * (inside - self.low) / (self.high - self.low)

    def ticks(self, most: int = 6) -> list[float]:
        step = next(step for step in _steps(self.high - self.low) if (self.high - self.low) / step <= most - 1 + 1e-9)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(number * step, 10) for number in range(first, last + 1)]


def _steps(span: float) -> list[float]:
    power = 10.0 ** math.floor(math.log10(span))
    return [power * step for step in (0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5, 10)]


def scale_around(values: Sequence[float], start: float, end: float) -> Scale:
    """A scale with round ends that includes all values."""
    low, high = min(values), max(values)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    step = next(step for step in _steps(high - low) if (high - low) / step <= 5)
    return Scale(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, start, end)


def tick_label(value: float) -> str:
    return minus(f"{value:.6f}".rstrip("0").rstrip(".")) if value else "0"


def _room_for_ticks(up: Scale) -> float:
    return _widest(map(tick_label, up.ticks(5)), SIZE) + 5


_BETTER_UP = {"higher": "↑ better", "lower": "↓ better", "zero": "best at 0"}
_BETTER_ACROSS = {"higher": "better →", "lower": "← better", "zero": "best at 0"}


def axis_left(canvas: Canvas, up: Scale, left: float, right: float, title: str, better: str = "") -> None:
    """Draw grid and numbers of a vertical scale, with its title and the better direction above."""
    says = _BETTER_UP.get(better, "")
    canvas.text((0, up.end - 6), title, longest=right - text_width(says, SMALL) - 4)
    if says:
        canvas.text((right, up.end - 6), says, anchor="end", size=SMALL)
    for tick in up.ticks(5):
        canvas.line((left, up(tick)), (right, up(tick)), width=0.5, faint=tick != 0)
        canvas.text((left - 3, up(tick) + 2.8), tick_label(tick), anchor="end")


def axis_below(canvas: Canvas, across: Scale, y: float, better: str = "", unit: str = "") -> float:
    """Draw a scale below a chart, with the better direction; return the position below it."""
    canvas.line((across.start, y), (across.end, y))
    for tick in across.ticks(_most_ticks(across)):
        canvas.line((across(tick), y), (across(tick), y + 2))
        label = tick_label(tick) + (unit if tick == across.high else "")
        canvas.text((min(across(tick), WIDTH - text_width(label) / 2), y + SIZE + 2.5), label, anchor="middle")
    if not (says := _BETTER_ACROSS.get(better, "")):
        return y + SIZE + 5
    half = text_width(says, SMALL) / 2
    at = {"higher": across.end - half, "lower": across.start + half}.get(better, across(0))
    at = min(max(at, across.start - 8 + half), across.end + 8 - half)
    canvas.text((at, y + SIZE + 3 + SMALL + 2), says, anchor="middle", size=SMALL)
    return y + SIZE + SMALL + 8


def _most_ticks(scale: Scale) -> int:
    room = scale.end - scale.start
    for most in (6, 5, 4, 3):
        ticks = scale.ticks(most)
        if len(ticks) < 2 or _widest(map(tick_label, ticks), SIZE) + 5 < room / (len(ticks) - 1):
            return most
    return 2


def interval(canvas: Canvas, span: Span, scale: Scale, at: float, *, upright: bool = False, colour: str = INK) -> None:
    """Draw the interval over groups as a thin line and the one over sentences of the same groups as a thick one."""
    for low, high, width in ((span.low, span.high, 0.9), (span.fixed_low, span.fixed_high, 2.6)):
        if low is not None and high is not None and high > low:
            ends = (scale(low), scale(high))
            canvas.line(*((at, end) if upright else (end, at) for end in ends), colour=colour, width=width)


def legend(canvas: Canvas, entries: Sequence[tuple[str, Look | str]], top: float) -> float:
    """Draw a legend of marks (a look), areas (a fill) and lines (`line`, `dashes`, `dots`); return the position
    below."""
    x, y = 0.0, top + SIZE
    for label, look in entries:
        width = 12 + text_width(clipped(label, WIDTH - 14))
        if x > 0 and x + width > WIDTH:
            x, y = 0.0, y + LINE
        if isinstance(look, Look):
            canvas.mark(look, (x + 4, y - 2.8))
        elif look in _DASHES:
            canvas.line((x, y - 2.8), (x + 8.5, y - 2.8), dashes=look, width=0.9)
        else:
            canvas.rect((x + 0.5, y - 6.3, 7, 7), look, outlined=True)
        canvas.text((x + 11, y), label, longest=WIDTH - 14)
        x += width + 8
    return y + 5 if entries else top


# -- charts ------------------------------------------------------------------------------------------------------------


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
    """Draw stacked rows in titled parts, a percentage scale below, and a note at the end of each row."""
    rows = [row for _, part in parts for row in part]
    left = min(_widest((row.label for row in rows), SIZE), 0.4 * WIDTH) + 5
    right = WIDTH - _widest((row.note for row in rows), SIZE) - (5 if notes_title else 2)
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
    axis_below(canvas, across, top, unit="%")


def _stacked_row(canvas: Canvas, row: StackedRow, fills: Sequence[str], across: Scale, top: float) -> None:
    canvas.text((across.start - 4, top + 8), row.label, anchor="end", longest=across.start - 4)
    x = across.start
    for share, fill in zip(row.shares, fills, strict=True):
        width = across(share) - across.start
        if width <= 0:
            continue
        canvas.rect((x, top, width, 10), fill, outlined=width > 1)  # an outline alone would look like a share
        label = percent(share)
        wide = text_width(label)
        if width > wide + 8:
            if fill.startswith(_HATCH):  # hatching would make the digits illegible
                canvas.rect((x + width / 2 - wide / 2 - 1.5, top + 1.2, wide + 3, 7.6), fill.removeprefix(_HATCH))
            colour = ON_DARK if fill.endswith(BLUE) else ON_LIGHT
            canvas.text((x + width / 2, top + 7.8), label, anchor="middle", colour=colour)
        x += width
    if row.whisker:
        interval(canvas, Span(0, *row.whisker), across, top + 11.2)
    if row.note:
        canvas.text((WIDTH, top + 8), row.note, anchor="end")


@dataclass(frozen=True)
class DotPanel:
    """One scale of a dot plot."""

    title: str
    bounds: tuple[float, float] | None = None
    """Ends of the scale; default: from the values."""
    zero: float | None = None
    """Position of a dashed line."""
    at_least: tuple[float, float] | None = None
    """Values that a scale without bounds always includes, so that tiny differences do not look large."""
    better: str = ""
    """`higher`, `lower` or `zero`, written on the axis."""


@dataclass(frozen=True)
class DotRow:
    """Dots of one row, by panel; a row without dots is a heading."""

    label: str
    dots: Sequence[Sequence[tuple[Span, Look]]] = ()
    joined: bool = False
    """Whether a bar joins the dots of a panel, for the gap between women and men."""
    before: str = ""
    after: str = ""
    """Notes at the two ends of the row."""


def dots(
    canvas: Canvas,
    panels: Sequence[DotPanel],
    rows: Sequence[DotRow],
    top: float,
    *,
    size: float = SIZE,
    tight: float = 0,
    heads: tuple[str, str] = ("", ""),
) -> float:
    """Draw rows of dots with intervals, panels side by side; return the position below. `heads` are above the notes."""
    before = _widest((heads[0], *(row.before for row in rows)), size)
    after = _widest((heads[1], *(row.after for row in rows)), size)
    before, after = before + 5 if before else 0.0, after + 5 if after else 0.0
    longest = 0.42 * WIDTH
    labels = [two_lines(row.label, longest, size) if row.dots and not tight else [row.label] for row in rows]
    widths = [text_width(line, size) for row, own in zip(rows, labels, strict=True) if row.dots for line in own]
    left = before + min(max(widths, default=0.0), longest) + 6
    gap = 17.0  # keep the end labels of adjacent scales apart
    wide = (WIDTH - 8 - left - after - gap * (len(panels) - 1)) / len(panels)
    scales = [
        _scale_of(panel, [row.dots[number] for row in rows if row.dots], left + number * (wide + gap), wide)
        for number, panel in enumerate(panels)
    ]
    titles = [two_lines(panel.title, wide + gap - 2) if panel.title else [] for panel in panels]
    y = top + LINE * (n := max(map(len, titles))) + (3 if n else 0)
    for scale, lines_ in zip(scales, titles, strict=True):
        anchor, x = ("middle", scale.start + wide / 2) if len(panels) > 1 or before else ("start", left)
        for number, line in enumerate(lines_):
            canvas.text((x, top + SIZE + number * LINE), line, anchor=anchor, longest=wide + gap - 2)
    for head, x, anchor in ((heads[0], 0.0, "start"), (heads[1], WIDTH, "end")):
        canvas.text((x, y - 5), head, size=size, anchor=anchor) if head else None
    for row, label in zip(rows, labels, strict=True):
        height = max(_row_height(row, tight), LINE * len(label) + 3 if len(label) > 1 else 0.0)
        base = y + height / 2 + 2.8
        if not row.dots:
            canvas.text((0, y + height - 4), row.label, size=size)
        for number, line in enumerate(label if row.dots else ()):
            at = base + LINE * (number - (len(label) - 1) / 2)
            canvas.text((left - 5, at), line, anchor="end", size=size, longest=left - before - 5)
        for note, x, anchor in ((row.before, 0.0, "start"), (row.after, WIDTH, "end")):
            canvas.text((x, base), note, size=size, anchor=anchor) if note else None
        for panel, scale, found in zip(panels, scales, row.dots or [()] * len(panels), strict=True):
            if panel.zero is not None and row.dots:
                canvas.line((scale(panel.zero), y), (scale(panel.zero), y + height), dashes="dashes")
            (_joined_dots if row.joined else _dots_of_row)(canvas, found, scale, y, height)
        y += height
    return max(axis_below(canvas, scale, y + 1, p.better) for scale, p in zip(scales, panels, strict=True)) + 4


def _scale_of(panel: DotPanel, rows: Sequence[Sequence[tuple[Span, Look]]], start: float, wide: float) -> Scale:
    if panel.bounds is not None:
        return Scale(*panel.bounds, start, start + wide)
    values = [value for row in rows for span, _ in row for value in span if value is not None]
    values += [*(panel.at_least or ()), *([] if panel.zero is None else [panel.zero])]
    return scale_around(values or [0.0], start, start + wide)


def _row_height(row: DotRow, tight: float) -> float:
    if not row.dots:
        return 15.0
    if tight or row.joined:
        return tight or 13.0
    most = max(len(found) for found in row.dots)
    has_names = any(look.name for found in row.dots for _, look in found)
    return max(11.0, 4.0 + (8.5 if has_names else 7.0) * most + 2 * _margin(most))


def _margin(n_dots: int) -> float:
    """Margin that separates rows with many dots."""
    return 3.0 if n_dots > 2 else 0.0


def _dots_of_row(canvas: Canvas, found: Sequence[tuple[Span, Look]], scale: Scale, top: float, height: float) -> None:
    margin = _margin(len(found))
    for number, (span, look) in enumerate(found):
        y = top + margin + (height - 2 * margin) * (number + 0.5) / len(found)
        interval(canvas, span, scale, y)
        canvas.mark(look, (scale(span.value), y))
        if look.name:
            _name_dot(canvas, look.name, span, scale, y)


def _joined_dots(canvas: Canvas, found: Sequence[tuple[Span, Look]], scale: Scale, top: float, height: float) -> None:
    """Draw a grey bar between dots, each interval in its colour, and the dots in front."""
    middle = top + height / 2
    places = [scale(span.value) for span, _ in found]
    if len(places) > 1:
        canvas.line((min(places), middle), (max(places), middle), width=3.2, faint=True)
    for number, (span, look) in enumerate(found):
        interval(canvas, span, scale, middle + 4.2 * (number - (len(found) - 1) / 2), colour=look.colour)
    for x, (_, look) in zip(places, found, strict=True):
        canvas.mark(look, (x, middle), radius=2.7)


def _name_dot(canvas: Canvas, name: str, span: Span, scale: Scale, y: float) -> None:
    """Right of the interval; left of it at the figure's edge or if the zero line would cross the name."""
    low, high = (scale(span.value if end is None else end) for end in (span.low, span.high))
    low, high = min(low, scale(span.value) - 3), max(high, scale(span.value) + 3)
    end = high + 2 + text_width(name, SMALL)
    if end <= WIDTH and not (scale.low < 0 < scale.high and high < scale(0) < end + 1):
        canvas.text((high + 2, y + 0.36 * SMALL), name, size=SMALL)
    else:
        canvas.text((low - 2, y + 0.36 * SMALL), name, size=SMALL, anchor="end")


class Point(NamedTuple):
    """A point of a scatter plot; `title` is its tooltip, `name` is written beside it if there is room."""

    x: float
    y: float
    look: Look
    title: str
    name: str = ""


class Line(NamedTuple):
    """A line of a scatter plot, between two points in data units."""

    start: Place
    end: Place
    kind: str = "line"
    colour: str = INK


def scatter(
    canvas: Canvas,
    found: Sequence[Point],
    lines_: Sequence[Line],
    titles: tuple[str, str],
    top: float,
    bounds: tuple[float, float] | None = None,
) -> None:
    """Draw points and lines on two scales, which by default include all points and 0."""
    if bounds:
        up = Scale(*bounds, top + 182, top + 14)
        left = _room_for_ticks(up)
        across = Scale(*bounds, left, WIDTH - 6)
    else:
        ends = [y for line in lines_ for _, y in (line.start, line.end)]
        up = scale_around([0.0, 1.0, *(point.y for point in found), *ends], top + 160, top + 14)
        left = _room_for_ticks(up)
        across = scale_around([0.0, 1.0, *(point.x for point in found)], left, WIDTH - 8)
    axis_left(canvas, up, left, across.end, titles[1])
    below = axis_below(canvas, across, up.start)
    canvas.text(((left + across.end) / 2, below + SIZE), titles[0], anchor="middle")
    for line in lines_:
        if shown := _within(line, up):
            places = [(across(x), up(y)) for x, y in shown]
            canvas.line(*places, colour=line.colour, width=0.8, dashes=line.kind)
    places = [(across(point.x), up(point.y)) for point in found]
    for at, point in zip(places, found, strict=True):
        canvas.mark(point.look, at, radius=2.1, title=point.title)
    written: list[tuple[float, float, float]] = []
    for (x, y), point in zip(places, found, strict=True):
        wide = text_width(point.name, SMALL)
        start = x + 4 if x + 4 + wide <= WIDTH else x - 4 - wide
        is_free = not any(abs(y - other) < SMALL and start < end and x_ < start + wide for other, x_, end in written)
        if point.name and is_free:
            canvas.text((start, y + 2.4), point.name, size=SMALL)
            written.append((y, start, start + wide))


def _within(line: Line, up: Scale) -> list[Place]:
    """The part of a line within the vertical scale."""
    (x0, y0), (x1, y1) = line.start, line.end
    first, last = 0.0, 1.0
    if abs(y1 - y0) > 1e-9:
        crossings = sorted((edge - y0) / (y1 - y0) for edge in (up.low, up.high))
        first, last = max(first, crossings[0]), min(last, crossings[1])
    return [(x0 + (x1 - x0) * at, y0 + (y1 - y0) * at) for at in (first, last)] if first < last else []


def differences(
    canvas: Canvas, title: str, found: Sequence[tuple[str, float]], sides: tuple[str, str], top: float
) -> None:
    up = scale_around([0.0, *(value for _, value in found)], top + 98, top + 14)
    left = _room_for_ticks(up)
    axis_left(canvas, up, left, WIDTH, title, "zero")
    ordered = sorted(found, key=lambda one: (-one[1], one[0]))
    step = (WIDTH - left) / len(ordered)
    for number, (name, value) in enumerate(ordered):
        if value:
            box = (left + step * number, min(up(0), up(value)), max(step * 0.85, 0.4), abs(up(value) - up(0)))
            canvas.rect(box, BLUE if value > 0 else HATCHED_ORANGE, title=f"{name}: {minus(f'{value:+.1f}')}")
    below = up.start + SIZE + 3
    if ordered[0][1] > 0:
        canvas.text((left, below), sides[0], longest=(WIDTH - left) / 2 - 4)
    if ordered[-1][1] < 0:
        canvas.text((WIDTH, below), sides[1], anchor="end", longest=(WIDTH - left) / 2 - 4)


@dataclass(frozen=True)
class LinePanel:
    """One scale of a line chart; `least` is the minimum range."""

    title: str
    series: Sequence[tuple[Look, Sequence[Span | None]]]
    least: float
    better: str = ""


def lines(canvas: Canvas, panels: Sequence[LinePanel], names: Sequence[str], top: float) -> None:
    scales = []
    for panel in panels:
        values = [x for _, spans in panel.series for span in spans if span for x in span if x is not None]
        middle = (min(values) + max(values)) / 2
        scales.append(scale_around([*values, middle - panel.least / 2, middle + panel.least / 2], 66, 0))
    left = max(map(_room_for_ticks, scales))
    step = (WIDTH - left) / len(names)
    for panel, scale in zip(panels, scales, strict=True):
        up = replace(scale, start=top + 80, end=top + 14)
        axis_left(canvas, up, left, WIDTH, panel.title, panel.better)
        for number, (look, spans) in enumerate(panel.series):
            shift = 3.5 * (number - (len(panel.series) - 1) / 2)
            found = [(left + step * (at + 0.5) + shift, span) for at, span in enumerate(spans) if span]
            if len(found) > 1:
                canvas.line(*((x, up(span.value)) for x, span in found), colour=look.colour, width=1.0)
            for x, span in found:
                interval(canvas, span, up, x, upright=True)
                canvas.mark(look, (x, up(span.value)))
        top = up.start + 6
    for at, name in enumerate(names):
        canvas.text((left + step * (at + 0.5), top + SIZE - 2), name, anchor="middle", longest=step - 2)


# -- figures of results ------------------------------------------------------------------------------------------------


def figure(name: str, title: str, caption: str, cell: str, draw: Callable[[Canvas], object]) -> Figure:
    parts = (re.sub(r"[^a-z0-9]+", "-", part).strip("-") for part in name.lower().split("."))
    name = ".".join(part for part in parts if part) or "figure"
    canvas = Canvas(name)
    draw(canvas)
    return Figure(title, caption, canvas.svg(title, caption), name, cell)


@dataclass(frozen=True)
class Sheet:
    """Results that one figure may show: one benchmark, measured in one way."""

    benchmark: str
    suffix: str
    """Suffix of figure names, if one benchmark has several sheets."""
    cells: Mapping[str, Mapping[str, Result]]
    """Cell -> label of the run -> result; no cell is empty."""
    conditions: str
    """How they were measured: data, rules, and what distinguishes them."""

    @property
    def labels(self) -> list[str]:
        return list(dict.fromkeys(label for found in self.cells.values() for label in found))

    @property
    def results(self) -> Iterator[tuple[str, str, Result]]:
        for cell, found in self.cells.items():
            for label, result in found.items():
                yield cell, label, result

    @property
    def any(self) -> Result:
        return next(self.results)[2]

    @property
    def intervals(self) -> str:
        """`95% CI`, with an explanation of the two bars if there are two."""
        has_two = any(e.fixed_low is not None and e.fixed_low != e.low for e in self.any.estimates)
        meaning = "thin: generalising to new groups, such as occupations; thick: to new sentences about the same groups"
        return f"{level_of(self.any.signature)}{f' ({meaning})' if has_two else ''}"

    def title_of(self, label: str) -> str:
        return label if len(self.labels) > 1 else ""

    def about(self, cell: str = "", label: str = "") -> str:
        """Origin for a caption: the system if there is one, the direction, data and rules."""
        who = label or (self.labels[0] if len(self.labels) == 1 else "")
        parts = [part for part in (who, direction(cell) if cell else "") if part]
        return "; ".join([", ".join(parts), self.conditions] if parts else [self.conditions])

    def name_of(self, cell: str, what: str, label: str = "") -> str:
        own = f".{label[-60:]}" if label and len(self.labels) > 1 else ""
        return f"{cell}{self.suffix}.{what}{own}"


def span(result: Result, metric: str, part: str = "all") -> Span | None:
    return span_of(result.find(metric, part))


def span_of(found: Estimate | None) -> Span | None:
    if found is None or found.value is None:
        return None
    ends = found.fixed_low, found.fixed_high
    return Span(found.value, found.low, found.high, *(ends if ends != (found.low, found.high) else ()))


def language(cell: str) -> str:
    """The language of a direction that is not English."""
    source, _, target = cell.rpartition(".")[2].partition("-")
    code = source if target == "en" else target
    return NAMES.get(code, code)


def direction(cell: str) -> str:
    return " → ".join(NAMES.get(code, code) for code in cell.rpartition(".")[2].split("-", 1))


LABOUR_STATISTICS = "US labour statistics, 2017 (Zhao et al., 2018)"
_MIN_OUTPUTS = 3
"""Minimum gendered translations for an occupation to be plotted."""
_MIN_POINTS = 8
"""Minimum occupations for a trend."""
_FAR, _MIN_RESIDUAL, _MOST_NAMED = 1.5, 10.0, 7
"""Distance from the trend, in standard deviations and points, from which an occupation is named; and how many at
most."""


def is_open(judgement: Judgement) -> bool:
    return judgement.expected in (None, Gender.NEUTRAL)


Occupations = Mapping[str, Sequence[tuple[Gender, Gender | None]]]
"""For each occupation with enough translations: genders shown and expected."""


def professions(sheet: Sheet) -> Iterator[Figure]:
    """Feminine share of translations against the share of women in each occupation."""
    women = {name: float(share) for name, _, share in core_occupations()}
    for cell, label, result in sheet.results:
        seen: dict[bool, dict[str, list[tuple[Gender, Gender | None]]]] = {True: {}, False: {}}
        for judgement in result.judgements:
            if judgement.observed in (Gender.MASCULINE, Gender.FEMININE) and judgement.entity in women:
                own = seen[is_open(judgement)].setdefault(judgement.entity, [])
                own.append((judgement.observed, judgement.expected))
        marked, unmarked = (
            {name: shown for name, shown in seen[is_unmarked].items() if len(shown) >= _MIN_OUTPUTS}
            for is_unmarked in (False, True)
        )
        if marked or unmarked:
            yield _of_occupations(sheet, cell, label, women, marked, unmarked)


def _of_occupations(
    sheet: Sheet, cell: str, label: str, women: Mapping[str, float], marked: Occupations, unmarked: Occupations
) -> Figure:
    main = unmarked if len(unmarked) >= len(marked) / 2 else marked
    trend, said, named = _trend({name: (women[name], _feminine(shown)) for name, shown in main.items()})
    found: list[Point] = []
    entries: list[tuple[str, Look | str]] = []
    drawn = [Line((0, 0), (100, 100), "dashes")]
    for own, says, shape in (
        (marked, "gender marked in the source", MALE),
        (unmarked, "gender not marked", FEMALE),
    ):
        look = replace(shape, filled=own is main)
        entries += [(says, look)] if own else []
        for name, shown in own.items():
            n = sum(observed is Gender.FEMININE for observed, _ in shown)
            of = f"{n} of {len(shown)} feminine; {women[name]:g}% of the people who do it are women"
            named_here = name if own is main and name in named else ""
            found.append(Point(women[name], _feminine(shown), look, f"{name}, {says}: {of}", named_here))
    # Named ones first, so that the farthest get room for their names.
    found.sort(key=lambda point: named.index(point.name) if point.name else len(named))
    entries.append(("as in the labour market", "dashes"))
    if expected := [gender for shown in marked.values() for _, gender in shown]:
        level = 100 * expected.count(Gender.FEMININE) / len(expected)
        drawn.append(Line((0, level), (100, level)))
        entries.append(("as in the sentences", "line"))
    if trend:
        drawn.append(trend)
        entries.append(("trend", "dots"))

    def draw(canvas: Canvas) -> None:
        titles = ("women in the occupation, %", "feminine translations, %")
        scatter(canvas, found, drawn, titles, legend(canvas, entries, 0), (0, 100))

    return figure(
        sheet.name_of(cell, "professions", label),
        "Feminine translations of each occupation, against the share of women in it",
        f"One point per occupation: share of gendered translations that are feminine ({sheet.about(cell, label)}), "
        f"against the share of women in {LABOUR_STATISTICS}.{said}",
        cell,
        draw,
    )


def _feminine(shown: Sequence[tuple[Gender, Gender | None]]) -> float:
    return 100 * sum(observed is Gender.FEMININE for observed, _ in shown) / len(shown)


def _trend(points: Mapping[str, Place]) -> tuple[Line | None, str, list[str]]:
    """Least-squares line, correlation in words, and names far from it, farthest first."""
    x, y = [x for x, _ in points.values()], [y for _, y in points.values()]
    if len(points) < _MIN_POINTS or min(statistics.pstdev(x), statistics.pstdev(y)) < 1e-9:
        return None, "", []
    slope, intercept = statistics.linear_regression(x, y)
    off = {name: y - (slope * x + intercept) for name, (x, y) in points.items()}
    far = max(_FAR * statistics.pstdev(off.values()), _MIN_RESIDUAL)
    named = [name for name in sorted(off, key=lambda name: (-abs(off[name]), name)) if abs(off[name]) >= far]
    named = named[:_MOST_NAMED]
    listed = ", ".join(f"{name} {minus(f'{off[name]:+.0f}')}" for name in named)
    said = f" Correlation with the share of women: {minus(f'{statistics.correlation(x, y):.2f}')}."
    said += f" Largest deviations from the trend, in points: {listed}." if listed else ""
    return Line((0, intercept), (100, intercept + 100 * slope), "dots"), said, named
