"""HTML from Python, in which a text can never become markup: only what `tag` made is left as it is."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

_VOID = frozenset({"br", "col", "hr", "img", "input", "meta", "link"})
# Controls but for tab and line ends, line and paragraph separators, embeddings and overrides of direction, halves of
# surrogate pairs, and what is no character.
_UNRULY = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()

    def __html__(self) -> str:
        """For templates, which escape all other text."""
        return self


Content = str | int | Iterable["Content"] | None
"""What may stand in an element: texts, elements, or lists of both; None is nothing."""


def tag(name: str, *content: Content, **attributes: str | int | float | bool | None) -> Markup:
    """An element. `class_` is `class`, `data_x` is `data-x`; True is an attribute without a value, None is none."""
    shown = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{shown}>")
    return Markup(f"<{name}{shown}>{joined(content)}</{name}>")


def joined(content: Content) -> Markup:
    """Content one after the other, texts escaped."""
    if content is None:
        return Markup("")
    if isinstance(content, Markup):
        return content
    if isinstance(content, str | int):
        return Markup(html.escape(visible(str(content))))
    return Markup("".join(joined(part) for part in content))


def visible(text: str) -> str:
    """Characters that would change the direction of all that follows, or end a document, are shown by their numbers."""
    return _UNRULY.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def _attribute(key: str, value: str | int | float | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{html.escape(visible(str(value)))}"'


def minus(number: str) -> str:
    """With a minus sign instead of a hyphen."""
    return number.replace("-", "−")
