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
    raise UserError(f"{path} has no known report format; end it in {', '.join(FORMATS.values())}")


def write(runs: Sequence[Run], path: Path) -> None:
    write_text(path, render(runs, format_of(path)))


def render(runs: Sequence[Run], format_: str, *, trend: bool = False) -> str:
    """The report of some runs, the first of which the others are compared with."""
    if format_ not in FORMATS:
        raise UnknownName("report format", format_, FORMATS)
    if format_ == "html":
        from gendermark.reporting.page import render_page

        return render_page(runs, trend=trend)
    from gendermark.reporting.tables import render as tables

    return tables({run.name: run.results for run in runs}, format_)
