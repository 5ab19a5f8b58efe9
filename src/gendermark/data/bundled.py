"""The bundled core sets: text files in `core/`, most of them tab-separated with `#` comments."""

from __future__ import annotations

import hashlib
from importlib.resources import files

from gendermark.io.textfiles import split_lines


def core_text(name: str) -> str:
    path = files("gendermark.data") / "core" / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def core_lines(name: str) -> list[str]:
    return [line for line in split_lines(core_text(name)) if line and not line.startswith("#")]


def core_rows(name: str) -> list[dict[str, str]]:
    cells = [line.split("\t") for line in core_lines(name)]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]


def core_origin(*texts: str) -> str:
    return f"core-{hashlib.sha256(''.join(texts).encode()).hexdigest()[:8]}"
