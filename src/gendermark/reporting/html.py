"""A document as a standalone HTML page, from templates that escape every text.

No network requests, and no script but the page's own: its policy names that script by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from gendermark import __version__
from gendermark.markup import visible
from gendermark.reading.codes import RIGHT_TO_LEFT
from gendermark.records import pieces
from gendermark.reporting.document import Figure, Number, letter_of
from gendermark.reporting.phrases import between

_ON_DARK_PAGES = "<style>@media screen and (prefers-color-scheme:dark){svg{color:#e7e5e0}}</style>"
"""Lines and letters take the colour of the surrounding text, which an image does not know."""
_SAFE_IN_ADDRESS = " !$'()*+,-./:;=?@[]^_`{|}~"
_MARGIN = 3
"""Percent of a drawing's width on either side."""


def render(template: str, title: str, *, script: str = "", style: str = "", connect: bool = False, **parts: Any) -> str:
    style = asset("page.css") + style
    return str(
        _environment()
        .get_template(template)
        .render(
            parts,
            title=title,
            policy=policy(script, style, connect=connect),
            script=Markup(script),
            style=Markup(style),
            version=__version__,
        )
    )


@cache
def asset(name: str) -> str:
    return (files("gendermark.reporting") / "assets" / name).read_text(encoding="utf-8")


def policy(script: str, style: str, *, connect: bool = False) -> str:
    rules = [
        "default-src 'none'",
        f"script-src {_hash(script)}",
        f"style-src {_hash(style)}",
        "img-src data:",
        *(["connect-src 'self'"] if connect else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(rules)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def embedded_json(value: Any) -> Markup:
    """JSON for a script element: no text in it can end the element or start a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    # A lone surrogate could not be written; its escape can.
    return Markup(re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text))


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("gendermark.reporting", "assets"),
        autoescape=True,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "kind": lambda block: type(block).__name__.lower(),
        "pieces": lambda translated: pieces(translated.text, translated.spans),
        "image": _image,
        "interval": _interval,
        "across": across,
        "letter": letter_of,
    }
    made.globals["right_to_left"] = RIGHT_TO_LEFT
    return made


def _shown(value: Any) -> Any:
    """A value for a template: control and direction characters are replaced by their code points."""
    if value is None:
        return ""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def across(value: float, scale: tuple[float, float]) -> str:
    low, high = scale
    share = (min(max(value, low), high) - low) / (high - low)
    return f"{_MARGIN + share * (100 - 2 * _MARGIN):.2f}%"


def _interval(number: Number) -> str:
    inner = number.interval.strip("[]")
    return between(*inner.split(", ")) if ", " in inner else inner


def _image(figure: Figure) -> dict[str, Any]:
    """A figure as an image, which cannot run a script, whatever it contains."""
    head, end, body = figure.svg.partition(">")
    svg = f"{head}{end}{_ON_DARK_PAGES}{body}"
    # The size is given so that the layout does not shift on loading.
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', figure.svg)
    width, height = (round(float(length)) for length in size.groups()) if size else (None, None)
    address = f"data:image/svg+xml,{quote(svg, safe=_SAFE_IN_ADDRESS, errors='replace')}"
    return {"address": address, "width": width, "height": height}
