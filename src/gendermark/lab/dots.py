"""Dots with intervals as SVG, in a few lines of our own."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

_LEFT, _WIDTH, _TOP, _ROW, _STEP = 220, 420, 64, 18, 9
# Told apart in grey too.
_COLOURS = ("#1b3a57", "#e08e45", "#4d9078", "#a23b52")


@dataclass(frozen=True)
class Dot:
    """A value and how far it may reach."""

    value: float
    low: float
    high: float


def dot_plot(title: str, rows: Sequence[tuple[str, Sequence[Dot | None]]], series: Sequence[str]) -> str:
    """Dots with intervals, one line per row and series, as SVG. A row without dots is the heading of those below it."""
    ends = [end for _, dots in rows for dot in dots if dot for end in (dot.low, dot.high)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    high = high if high > low else low + 1.0
    step = _tick_step(high - low)
    first, last = math.floor(low / step), math.ceil(high / step)

    def across(value: float) -> float:
        return _LEFT + _WIDTH * (value - first * step) / ((last - first) * step)

    height_of_row = _ROW + _STEP * (len(series) - 1)
    bottom = _TOP + height_of_row * len(rows)
    parts = [_text(16, 26, title, size=15, weight="bold")]
    for tick in range(first, last + 1):
        x = across(tick * step)
        colour = "#222" if tick == 0 else "#ddd"
        parts.append(f'<line x1="{x:.1f}" y1="{_TOP - 8}" x2="{x:.1f}" y2="{bottom}" stroke="{colour}"/>')
        parts.append(_text(x, bottom + 16, f"{tick * step:g}", anchor="middle"))
    for number, (label, dots) in enumerate(rows):
        y = _TOP + height_of_row * number + 4
        if not dots:
            heading = _text(16, y + 4 + _STEP * (len(series) - 1) / 2, label, weight="bold")
            parts.append(f'<g stroke="white" stroke-width="4" paint-order="stroke">{heading}</g>')
            continue
        parts.append(_text(_LEFT - 12, y + 4 + _STEP * (len(series) - 1) / 2, label, anchor="end"))
        for place, dot in enumerate(dots):
            if dot is not None:
                colour, at = _COLOURS[place % len(_COLOURS)], y + _STEP * place
                parts.append(
                    f'<line x1="{across(dot.low):.1f}" y1="{at}" x2="{across(dot.high):.1f}" y2="{at}" '
                    f'stroke="{colour}" stroke-width="2"/>'
                )
                parts.append(f'<circle cx="{across(dot.value):.1f}" cy="{at}" r="4" fill="{colour}"/>')
    for place, name in enumerate(series):
        y = bottom + 38 + 18 * place
        parts.append(f'<circle cx="{_LEFT}" cy="{y - 4}" r="4" fill="{_COLOURS[place % len(_COLOURS)]}"/>')
        parts.append(_text(_LEFT + 12, y, name))
    width, height = _LEFT + _WIDTH + 40, bottom + 38 + 18 * len(series)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="Helvetica, Arial, sans-serif">\n<title>{html.escape(title)}</title>\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n'
        f"{body}\n</svg>\n"
    )


def _tick_step(span: float) -> float:
    """A round number that divides the span into about five."""
    power = 10.0 ** math.floor(math.log10(span / 5))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= span / 5 * (1 - 1e-9))


def _text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "start", weight: str = "normal") -> str:
    style = f'font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="#222"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{html.escape(words)}</text>'
