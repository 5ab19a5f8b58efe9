"""WinoMT's Figure 2: accuracy where the gender fits the stereotype of the occupation, and where it does not."""

from __future__ import annotations

from collections.abc import Iterator

from gendermark.drawing import charts
from gendermark.drawing.charts import BLUE, HATCHED_ORANGE, BarPanel, Look
from gendermark.drawing.sheet import Figure, Sheet, figure, language, span
from gendermark.drawing.svg import Canvas


def stereotypes(sheet: Sheet) -> Iterator[Figure]:
    panels = [panel for label in sheet.labels if (panel := _panel(sheet, label)).groups]
    if not panels:
        return
    # The heights of the paper's own bars are not printed, and its accuracies are of all sentences.
    entries: list[tuple[str, Look | str]] = [("fits the stereotype", BLUE), ("goes against it", HATCHED_ORANGE)]

    def draw(canvas: Canvas) -> None:
        charts.bars(canvas, panels, (BLUE, HATCHED_ORANGE), "right gender, %", charts.legend(canvas, entries, 0))

    yield figure(
        f"winomt{sheet.suffix}.stereotypes",
        "Gender kept where it fits the stereotype of the occupation, and where it does not",
        f"Share of translations that keep the gender of the person meant ({sheet.about()}); whiskers: "
        f"{sheet.intervals}.",
        "winomt",
        draw,
    )


def _panel(sheet: Sheet, label: str) -> BarPanel:
    groups = {}
    for cell, found in sheet.cells.items():
        if label not in found:
            continue
        spans = [span(found[label], "accuracy", part) for part in ("pro", "anti")]
        if any(spans):
            groups[language(cell)] = spans
    return BarPanel(sheet.title_of(label), groups)
