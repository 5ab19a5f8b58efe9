"""Figures 1 and A2 of SimpleGEN's paper: what time gained and what quality and gender lost, in percent."""

from __future__ import annotations

from collections.abc import Sequence

from gendermark.drawing import charts
from gendermark.drawing.charts import Look, Series
from gendermark.drawing.sheet import Figure, figure
from gendermark.drawing.svg import Canvas
from gendermark.lab.speed.drops import GROUPS
from gendermark.lab.speed.measured import Study, group_label
from gendermark.markup import minus

_LOOKS = {
    "BLEU": Look("circle", charts.COLOURS[0]),
    "pro": Look("square", charts.COLOURS[2]),
    "anti": Look("triangle", charts.COLOURS[1]),
    "FOFC": Look("square", charts.COLOURS[3]),
    "MOFC": Look("triangle", charts.COLOURS[1]),
    "MOMC": Look("diamond", charts.COLOURS[2]),
    "FOMC": Look("down", charts.COLOURS[6]),
}
_LABELS = {"pro": "pro: fits the stereotype", "anti": "anti: goes against it", **{g: group_label(g) for g in GROUPS}}


def figures(study: Study) -> list[Figure]:
    """Figure 1, and Figure A2 with the four groups."""
    found = [
        _figure(study, "figure-1", "What speed costs: quality, and the right gender", ("BLEU", "pro", "anti")),
        _figure(study, "figure-a2", "What speed costs, by who is meant and whose job it is", ("BLEU", *GROUPS)),
    ]
    return [one for one in found if one is not None]


def _figure(study: Study, name: str, title: str, columns: Sequence[str]) -> Figure | None:
    series = []
    for column in columns:
        spots = [
            (x, y, f"{point.name}: time {minus(f'{x:.1f}')} %, {column} {minus(f'{y:.1f}')} %")
            for point, x, y in study.scatter(column)
        ]
        if spots:
            series.append(Series(_LABELS.get(column, column), _LOOKS[column], spots, study.trend(column)))
    if not series:
        return None

    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, [(one.label, one.look) for one in series], 0)
        charts.scatter(canvas, series, ("drop in time, % of the baseline", "drop in percent of the baseline"), top)

    lines = "Lines: least squares. " if any(one.line for one in series) else ""
    caption = (
        f"Each mark is one of {len(study.points)} points ({study.direction}); {study.baseline.name} is at 0. Right is "
        f"faster, up is worse. {lines}In the form of Figure {'1' if name == 'figure-1' else 'A2'} of Renduchintala et "
        "al. (2021)."
    )
    return figure(name, title, caption, "", draw)
