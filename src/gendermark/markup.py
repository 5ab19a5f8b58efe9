"""Text that is safe to put into markup, wherever it came from."""

from __future__ import annotations

import re

# Control characters except tab and line ends, line and paragraph separators, direction embeddings and overrides, lone
# surrogates, and non-characters.
_UNRULY = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def visible(text: str) -> str:
    """Replace characters that would change text direction or end a document by their code points."""
    return _UNRULY.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def minus(number: str) -> str:
    return number.replace("-", "−")
