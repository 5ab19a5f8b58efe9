"""A few shapes as SVG: one unit is a point, texts are real text, and no string that was read can become markup.

Lines and letters have the colour of the text around them, so that a picture also fits a dark page. There are no
style attributes, which a strict Content-Security-Policy would refuse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from gendermark.markup import visible

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
