"""Each occupation: the feminine share of its translations against the share of women who work in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gendermark.drawing import charts, plots
from gendermark.drawing.charts import BLUE, VERMILION, Look
from gendermark.drawing.plots import Point
from gendermark.drawing.sheet import LABOUR_STATISTICS, Figure, Sheet, figure
from gendermark.drawing.svg import Canvas
from gendermark.linguistics.occupations import core_occupations
from gendermark.markup import minus
from gendermark.records import Gender, Judgement

MIN_OUTPUTS = 3
"""An occupation with fewer translations that show a gender is no point."""
MIN_POINTS = 8
"""Fewer have no trend."""
FAR, MIN_RESIDUAL = 1.5, 10.0
"""Standard deviations, and points of a percentage, from the trend: what is farther is named."""
MOST_NAMED = 7


@dataclass
class Tally:
    """Of one occupation: feminine among the translations that show a gender, and women among their sources."""

    n_feminine: int = 0
    n_gendered: int = 0
    n_women: int = 0

    @property
    def share(self) -> float:
        return 100 * self.n_feminine / self.n_gendered


Tallies = Mapping[str, Tally]


def occupation_of(judgement: Judgement) -> str:
    return judgement.entity


def is_open(judgement: Judgement) -> bool:
    """Whether the source leaves the gender open."""
    return judgement.expected in (None, Gender.NEUTRAL)


def professions(sheet: Sheet) -> Iterator[Figure]:
    percent_women = {name: float(percent) for name, _, percent in core_occupations()}
    for cell, label, result in sheet.results:
        told, open_ = (
            {name: tally for name, tally in found.items() if name in percent_women and tally.n_gendered >= MIN_OUTPUTS}
            for found in _tallies(result.judgements)
        )
        if told or open_:
            yield _figure(sheet, cell, label, percent_women, told, open_)


def _tallies(judgements: Iterable[Judgement]) -> tuple[Tallies, Tallies]:
    """Of the sentences that tell the gender, and of those that leave it open."""
    told: dict[str, Tally] = defaultdict(Tally)
    open_: dict[str, Tally] = defaultdict(Tally)
    for judgement in judgements:
        if judgement.observed in (Gender.MASCULINE, Gender.FEMININE):
            tally = (open_ if is_open(judgement) else told)[occupation_of(judgement)]
            tally.n_gendered += 1
            tally.n_feminine += judgement.observed is Gender.FEMININE
            tally.n_women += judgement.expected is Gender.FEMININE
    return told, open_


def _figure(
    sheet: Sheet, cell: str, label: str, percent_women: Mapping[str, float], told: Tallies, open_: Tallies
) -> Figure:
    of_open = len(open_) >= len(told) / 2
    main = open_ if of_open else told
    trend = _trend({name: (percent_women[name], tally.share) for name, tally in main.items()})
    named = list(trend.residuals)[:MOST_NAMED] if trend else []
    points: list[Point] = []
    entries: list[tuple[str, Look | str]] = []
    for tallies, shape, colour, says in (
        (told, "circle", BLUE, "gender told"),
        (open_, "triangle", VERMILION, "gender left open"),
    ):
        look = Look(shape, colour, filled=tallies is main)
        if tallies:
            entries.append((says, look))
        for name, tally in tallies.items():
            title = (
                f"{name}, {says}: {tally.n_feminine} of {tally.n_gendered} feminine; "
                f"{percent_women[name]:g} % of those who work in it are women"
            )
            shown = name if tallies is main and name in named else ""
            points.append(Point(percent_women[name], tally.share, look, title, shown))
    # The named ones first, so that the farthest finds a place for its name.
    points.sort(key=lambda point: named.index(point.name) if point.name else len(named))
    entries.append(("as the labour market", "dashes"))
    level = None
    if told:
        level = 100 * sum(t.n_women for t in told.values()) / sum(t.n_gendered for t in told.values())
        entries.append(("as the sentences say", "line"))
    if trend:
        entries.append(("trend", "dots"))

    def draw(canvas: Canvas) -> None:
        titles = ("women in the occupation, %", "feminine translations, %")
        top = charts.legend(canvas, entries, 0)
        plots.points(canvas, points, titles, top, level, trend.ends if trend else None)

    return figure(
        sheet.name_of(cell, "professions", label),
        "Feminine translations of each occupation, against the share of women in it",
        "Each mark is an occupation: the feminine share of its translations that show a gender "
        f"({sheet.about(cell, label)}; {LABOUR_STATISTICS}).{_said(trend, named)}",
        cell,
        draw,
    )


@dataclass(frozen=True)
class _Trend:
    """A straight line through points, and the points that lie far from it, the farthest first."""

    ends: tuple[float, float]
    correlation: float
    residuals: Mapping[str, float]


def _trend(points: Mapping[str, tuple[float, float]]) -> _Trend | None:
    """By least squares; none where the points are too few or all of one height."""
    x, y = np.array(list(points.values()), dtype=np.float64).reshape(-1, 2).T
    if len(points) < MIN_POINTS or min(x.std(), y.std()) < 1e-9:
        return None
    slope, intercept = np.polyfit(x, y, 1)
    residuals = y - (slope * x + intercept)
    far = max(FAR * float(residuals.std()), MIN_RESIDUAL)
    found = sorted(zip(points, residuals.tolist(), strict=True), key=lambda one: (-abs(one[1]), one[0]))
    return _Trend(
        (float(intercept), float(intercept + 100 * slope)),
        float(np.corrcoef(x, y)[0, 1]),
        {name: residual for name, residual in found if abs(residual) >= far},
    )


def _said(trend: _Trend | None, named: Iterable[str]) -> str:
    if trend is None:
        return ""
    correlation = f" Correlation with the share of women: {minus(f'{trend.correlation:.2f}')}."
    listed = ", ".join(f"{name} {minus(f'{trend.residuals[name]:+.0f}')}" for name in named)
    return correlation + (f" Farthest from the trend, in points: {listed}." if listed else "")
