"""The figures of a report: for the page, and as SVG, PDF and PNG for a two-column paper.

Every figure is made from estimates and judgements alone. What there is no data for has no figure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gendermark import registry
from gendermark.drawing.sheet import Figure, Sheet
from gendermark.drawing.svg import WIDTH
from gendermark.errors import MissingExtra, UnknownName, UserError
from gendermark.io.textfiles import write_text
from gendermark.markup import visible
from gendermark.report import side_by_side
from gendermark.report.beside_published import beside_published
from gendermark.report.differences import against_first
from gendermark.result import Result, run_labels
from gendermark.runs.comparable import described, key_of, told_apart
from gendermark.runs.compare import ComparisonReport

__all__ = ["FORMATS", "Figure", "figures", "run_labels", "write_figures"]

FORMATS = ("svg", "pdf", "png")
CAPTIONS = "captions.md"
PNG_DOTS_PER_INCH = 300


def figures(
    runs: Mapping[str, Sequence[Result]],
    comparisons: Mapping[str, ComparisonReport] | None = None,
    *,
    trend: bool = False,
) -> list[Figure]:
    """All figures of one or several runs, given as name -> results.

    `comparisons` (name of a run -> its comparison with the first) are made here if they are not given. `trend` says
    that the runs are versions of one system in their order, which nobody else can know.
    """
    labels = run_labels(runs)
    found: list[Figure] = []
    for sheet in _sheets(runs, labels):
        for draw in (*registry.load("benchmark", sheet.benchmark).presentation.figures, beside_published):
            found.extend(draw(sheet))
        if trend:
            found.extend(side_by_side.trend(sheet))
    if len(runs) > 1:
        reports = compared_with_first(runs) if comparisons is None else comparisons
        named = {labels[name]: report for name, report in reports.items() if name in labels}
        found.extend(side_by_side.comparison(named, list(labels.values())))
    return _with_unique_names(found)


def compared_with_first(runs: Mapping[str, Sequence[Result]]) -> dict[str, ComparisonReport]:
    (_, first), *others = runs.items()
    return {name: against_first(first, second) for name, second in others}


def check_directory(directory: Path) -> None:
    if directory.is_file():
        raise UserError(f"{directory} is a file; give a directory for the figures")


def check_formats(formats: Sequence[str]) -> dict[str, Callable[[str], bytes]]:
    """What makes a file of each format from SVG; refuses what is unknown, or needs an extra that is not there."""
    for name in formats:
        if name not in FORMATS:
            raise UnknownName("figure format", name, FORMATS)
    return {name: _converter(name) for name in formats}


def write_figures(directory: Path | str, found: Sequence[Figure], formats: Sequence[str] = FORMATS) -> list[Path]:
    """Every figure in every format, and a file of captions; what a format lacks is said before anything is written."""
    directory = Path(directory)
    check_directory(directory)
    converters = check_formats(formats)
    written = []
    for figure in found:
        for name, convert in converters.items():
            path = directory / f"{figure.name}.{name}"
            _write(path, convert(figure.svg))
            written.append(path)
    captions = [f"## {figure.name}\n\n**{figure.title}.** {_as_markdown(figure.caption)}\n" for figure in found]
    write_text(directory / CAPTIONS, "\n".join(["# Figures\n", *captions]))
    return [*written, directory / CAPTIONS]


def _sheets(runs: Mapping[str, Sequence[Result]], labels: Mapping[str, str]) -> list[Sheet]:
    """What was measured otherwise has other numbers: it has a sheet of its own."""
    apart = told_apart([result for results in runs.values() for result in results])
    known = set(registry.names("benchmark"))
    grouped: dict[tuple[str, str], dict[str, dict[str, Result]]] = {}
    for name, results in runs.items():
        for result in results:
            if result.selection.benchmark in known:
                cells = grouped.setdefault((result.selection.benchmark, apart[key_of(result)]), {})
                cells.setdefault(result.cell, {})[labels[name]] = result
    n_sheets = Counter(benchmark for benchmark, _ in grouped)
    return [
        Sheet(benchmark, f".{label}" if n_sheets[benchmark] > 1 else "", cells, described(_any(cells), label))
        for (benchmark, label), cells in grouped.items()
    ]


def _any(cells: Mapping[str, Mapping[str, Result]]) -> Result:
    return next(result for found in cells.values() for result in found.values())


def _with_unique_names(found: Sequence[Figure]) -> list[Figure]:
    """Two systems may differ in letters only that no name of a file can have."""
    seen: set[str] = set()
    unique = []
    for figure in found:
        name, number = figure.name, 1
        while name in seen:
            number += 1
            name = f"{figure.name}-{number}"
        seen.add(name)
        # Parts of a picture are named after it, and two pictures of one page must not share such a name.
        svg = figure.svg.replace(f'"{figure.name}-', f'"{name}-').replace(f"(#{figure.name}-", f"(#{name}-")
        unique.append(figure if name == figure.name else replace(figure, name=name, svg=svg))
    return unique


# -- files -------------------------------------------------------------------------------------------------------------


def _as_markdown(text: str) -> str:
    """A system may be called anything."""
    return re.sub(r"([\\`*_<\[\]])", r"\\\1", " ".join(visible(text).split()))


def _converter(name: str) -> Callable[[str], bytes]:
    if name == "svg":
        return str.encode
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra(f"a figure as {name.upper()}", "figures") from None
    if name == "pdf":
        return lambda svg: bytes(vl_convert.svg_to_pdf(_in_points(svg)))
    return lambda svg: bytes(vl_convert.svg_to_png(_on_white(_in_points(svg)), ppi=PNG_DOTS_PER_INCH))


def _in_points(svg: str) -> str:
    """The converter takes a unit for a point, but an inch for 96 of them."""
    size = re.compile(r'width="[0-9.]+in" height="[0-9.]+in" (viewBox="0 0 ([0-9.]+) ([0-9.]+)")')
    return size.sub(r'width="\2" height="\3" \1', svg, count=1)


def _on_white(svg: str) -> str:
    """A PNG has no page behind it."""
    head, end, body = svg.partition("</desc>")
    return f'{head}{end}<rect width="{WIDTH:g}" height="100%" fill="#ffffff"/>{body}'


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as problem:
        raise UserError(f"cannot write {path}: {problem.strerror or problem}") from None
