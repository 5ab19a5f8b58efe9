"""GEST: how masculine the translations of each stereotype are, and the two rates of each system and language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gendermark.benchmarks.gest import MEN, WOMEN
from gendermark.benchmarks.gest.measures import SLICES
from gendermark.drawing import charts
from gendermark.drawing.charts import DotPanel, DotRow, Look, Span
from gendermark.drawing.sheet import FEMALE, MALE, Figure, Sheet, figure, language, span
from gendermark.drawing.svg import Canvas
from gendermark.result import Result

_BOTH = Look("square", charts.GREEN, filled=False)


def stereotypes(sheet: Sheet) -> Iterator[Figure]:
    """One figure for each direction, with a mark for each system."""
    for cell, found in sheet.cells.items():
        if any(span(result, "p", name) for result in found.values() for name in (*WOMEN, *MEN)):
            yield _stereotype_figure(sheet, cell, found)


def _stereotype_figure(sheet: Sheet, cell: str, found: Mapping[str, Result]) -> Figure:
    several = len(found) > 1
    looks = charts.looks_of(dict(enumerate(found)))

    def row(name: str) -> DotRow:
        own = MALE if name in MEN else FEMALE
        spans = [(span(result, "p", name), looks[number]) for number, result in enumerate(found.values())]
        return DotRow(SLICES[name], [[(one, look if several else own) for one, look in spans if one]])

    rows = [DotRow("Stereotypes of women"), *map(row, WOMEN), DotRow("Stereotypes of men"), *map(row, MEN)]
    entries: list[tuple[str, Look | str]] = (
        [(label, looks[number]) for number, label in enumerate(found)]
        if several
        else [("stereotype of women", FEMALE), ("of men", MALE)]
    )

    def draw(canvas: Canvas) -> None:
        panel = DotPanel("masculine among those that show a gender", (0, 1), zero=0.5)
        charts.dots(canvas, [panel], rows, charts.legend(canvas, entries, 0))

    return figure(
        sheet.name_of(cell, "stereotypes"),
        "How often the speaker becomes a man, by stereotype",
        "Share of masculine speakers among the translations of each stereotype that show a gender; dashes: half "
        f"({sheet.about(cell)}); lines: {sheet.intervals}.",
        cell,
        draw,
    )


def rates(sheet: Sheet) -> Iterator[Figure]:
    """The two rates of all systems and languages."""
    rows: list[DotRow] = []
    for label in sheet.labels:
        own = [
            DotRow(language(cell), dots)
            for cell, found in sheet.cells.items()
            if label in found and all(dots := _rates_of(found[label]))
        ]
        rows += [*([DotRow(label)] if own and sheet.title_of(label) else []), *own]
    if not rows:
        return
    panels = [DotPanel("masculine rate", (0, 1)), DotPanel("stereotype rate f_s", zero=0.0, at_least=(-0.1, 0.3))]
    entries: list[tuple[str, Look | str]] = [("women's stereotypes", FEMALE), ("men's", MALE), ("f_m, f_s", _BOTH)]

    def draw(canvas: Canvas) -> None:
        charts.dots(canvas, panels, rows, charts.legend(canvas, entries, 0))

    yield figure(
        f"{sheet.benchmark}{sheet.suffix}.rates",
        "How often the speaker becomes a man, and how far that follows the stereotype",
        "Masculine rate of women's and of men's stereotypes and their mean f_m; and their difference f_s, which "
        "a high f_m "
        f"caps ({sheet.about()}); lines: {sheet.intervals}.",
        sheet.benchmark,
        draw,
    )


def _rates_of(result: Result) -> list[list[tuple[Span, Look]]]:
    looks = {"p_f": FEMALE, "p_m": MALE, "f_m": _BOTH}
    gap = span(result, "f_s")
    return [[(one, look) for name, look in looks.items() if (one := span(result, name))], [(gap, _BOTH)] if gap else []]
