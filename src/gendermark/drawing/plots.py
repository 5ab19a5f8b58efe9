"""Forms with two dimensions: points in a square, matrices, columns of dots, differences in order, lines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gendermark.drawing.charts import BLUE, HATCHED_ORANGE, LINE, Look, Span, percent, two_lines, upright_whisker
from gendermark.drawing.svg import (
    ON_DARK,
    ON_LIGHT,
    SIZE,
    SMALL,
    WIDTH,
    Box,
    Canvas,
    Scale,
    clipped,
    scale_around,
    text_width,
    tick_label,
)

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
