"""Replaces the measured part of a documentation page, between its two marks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

BEGIN, END = "<!-- begin: measured -->", "<!-- end: measured -->"


def replace_measured(page: str, lines: Iterable[str]) -> None:
    """Write `lines` between the marks of a page in this folder; everything else on it is written by hand."""
    path = Path(__file__).with_name(page)
    head, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, tail = rest.partition(END)
    assert begin, f"{path} has no mark {BEGIN}"
    assert end, f"{path} has no mark {END}"
    path.write_text("\n".join([f"{head}{BEGIN}", "", *lines, "", f"{END}{tail}"]), encoding="utf-8")
