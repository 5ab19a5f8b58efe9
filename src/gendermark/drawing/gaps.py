"""Rows of two dots with the gap between them drawn as a bar: who stands where, and how far apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gendermark.drawing.charts import Look, Span
from gendermark.drawing.svg import SIZE, SMALL, WIDTH, Canvas, Scale, scale_around, text_width, tick_label

_HEIGHT = 13.0


@dataclass(frozen=True)
class GapRow:
    """A label, one or two dots with their intervals, and a note at each end."""

    label: str
    dots: Sequence[tuple[Span, Look]]
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Heads:
    """What stands above the notes, the labels and the scale."""

    before: str
    label: str
    scale: str
    after: str


def gaps(canvas: Canvas, rows: Sequence[GapRow], heads: Heads, bounds: tuple[float, float] | None, top: float) -> float:
    """Rows from best to worst; the scale is by the values where no bounds are given. Gives the place below."""
    before = max(text_width(text, SMALL) for text in (heads.before, *(row.before for row in rows))) + 5
    label = min(max(text_width(text, SMALL) for text in (heads.label, *(row.label for row in rows))), 0.48 * WIDTH)
    after = max(text_width(text, SMALL) for text in (heads.after, *(row.after for row in rows)))
    start, end = before + label + 7, WIDTH - after - (8 if after else 4)
    values = [x for row in rows for span, _ in row.dots for x in span if x is not None]
    across = Scale(*bounds, start, end) if bounds else scale_around([0.0, *values], start, end)
    base = top + SIZE
    canvas.text((0, base), heads.before, size=SMALL)
    canvas.text((before, base), heads.label, size=SMALL)
    canvas.text(((start + end) / 2, base), heads.scale, size=SMALL, anchor="middle", longest=end - start + 12)
    canvas.text((WIDTH, base), heads.after, size=SMALL, anchor="end")
    top, bottom = base + 4, base + 4 + _HEIGHT * len(rows)
    for tick in across.ticks(5):
        canvas.line((across(tick), top), (across(tick), bottom), width=0.5, faint=tick != 0 or across.low == 0)
        canvas.text((across(tick), bottom + SIZE), tick_label(tick), size=SMALL, anchor="middle")
    for number, row in enumerate(rows):
        middle = top + _HEIGHT * (number + 0.5)
        canvas.text((0, middle + 2.6), row.before, size=SMALL, longest=before - 2)
        canvas.text((before, middle + 2.6), row.label, size=SMALL, longest=label)
        canvas.text((WIDTH, middle + 2.6), row.after, size=SMALL, anchor="end")
        _draw(canvas, row.dots, across, middle)
    return bottom + SIZE + 4


def _draw(canvas: Canvas, dots: Sequence[tuple[Span, Look]], across: Scale, middle: float) -> None:
    """The bar lies behind; each interval beside it, so that all three can be seen."""
    places = sorted(across(span.value) for span, _ in dots)
    if len(places) > 1:
        canvas.line((places[0], middle), (places[-1], middle), width=3.2, faint=True)
    for number, (span, look) in enumerate(dots):
        y = middle + 4.2 * (number - (len(dots) - 1) / 2)
        if span.low is not None and span.high is not None and span.high > span.low:
            canvas.path([(across(span.low), y), (across(span.high), y)], look.colour, width=0.9)
    for span, look in dots:
        canvas.mark(look.shape, (across(span.value), middle), look.colour, filled=look.filled, radius=2.7)
