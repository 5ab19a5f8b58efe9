"""WinoMT's Figure 2: accuracy where the gender fits the stereotype of the occupation, and where it does not."""

from __future__ import annotations

from collections.abc import Iterator

from gendermark.report import charts
from gendermark.report.charts import BLUE, HATCHED_ORANGE, BarPanel, Look
from gendermark.report.drawings.sheet import Figure, Sheet, figure, language, span
from gendermark.report.published import how_comparable, published_values
from gendermark.report.svg import Canvas

SYSTEM = "Google Translate"
"""Whose bars the paper's figure shows. Their heights are not printed; the accuracy of all sentences is."""


def stereotypes(sheet: Sheet) -> Iterator[Figure]:
    panels = [panel for label in sheet.labels if (panel := _panel(sheet, label)).groups]
    if not panels:
        return
    entries: list[tuple[str, Look | str]] = [("fits the stereotype", BLUE), ("goes against it", HATCHED_ORANGE)]
    context = ""
    if any(panel.marks for panel in panels):
        entries.append((f"published: {SYSTEM} (Stanovsky et al., 2019)", "dashes"))
        context = f" Dashed: the printed accuracy on all sentences, {how_comparable(sheet.any.selection)}."

    def draw(canvas: Canvas) -> None:
        charts.bars(canvas, panels, (BLUE, HATCHED_ORANGE), "right gender, %", charts.legend(canvas, entries, 0))

    yield figure(
        f"winomt{sheet.suffix}.stereotypes",
        "Gender kept where it fits the stereotype of the occupation, and where it does not",
        f"Share of translations that keep the gender of the person meant ({sheet.about()}); whiskers: "
        f"{sheet.intervals}.{context}",
        "winomt",
        draw,
    )


def _panel(sheet: Sheet, label: str) -> BarPanel:
    groups, marks = {}, {}
    for cell, found in sheet.cells.items():
        if label not in found:
            continue
        spans = [span(found[label], "accuracy", part) for part in ("pro", "anti")]
        if any(spans):
            groups[language(cell)] = spans
            for value in published_values(found[label].selection, "accuracy", "all"):
                if value.system == SYSTEM:
                    marks[language(cell)] = value.value
    return BarPanel(sheet.title_of(label), groups, marks)
