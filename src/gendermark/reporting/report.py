"""A report of runs, in the form that its file's ending names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gendermark.errors import UnknownName, UserError
from gendermark.io.textfiles import write_text
from gendermark.runs.folder import Run

FORMATS = {"html": ".html", "md": ".md", "latex": ".tex", "csv": ".csv", "json": ".json"}


def format_of(path: Path) -> str:
    """The form that a file's ending asks for."""
    for name, ending in FORMATS.items():
        if path.suffix.lower() in (ending, ".htm" if name == "html" else ending):
            return name
    endings = ", ".join(FORMATS.values())
    raise UserError(f"cannot tell the report format from {path}; use an ending among {endings} (or --format)")


def check_format(format_: str) -> None:
    if format_ not in FORMATS:
        raise UnknownName("report format", format_, FORMATS)


def write(runs: Sequence[Run], path: Path) -> None:
    write_text(path, render(runs, format_of(path)))


def render(runs: Sequence[Run], format_: str, *, trend: bool = False) -> str:
    """The report of some runs, the first of which the others are compared with."""
    check_format(format_)
    if format_ == "html":
        from gendermark.reporting.page import render_page

        return render_page(runs, trend=trend)
    from gendermark.reporting.tables import render as tables

    return tables({run.name: run.results for run in runs}, format_)
