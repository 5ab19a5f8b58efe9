"""Figures of results: the sheet of results that a figure shows, and the figures that several benchmarks share."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from gendermark.markup import minus
from gendermark.reading.occupations import core_occupations
from gendermark.records import Estimate, Gender, Judgement
from gendermark.reporting import charts
from gendermark.reporting.charts import Look, Matrix, Point, Span
from gendermark.reporting.svg import Canvas
from gendermark.result import Result

MALE, FEMALE = Look("circle", charts.BLUE), Look("triangle", charts.VERMILION)
PUBLISHED = Look("diamond", charts.FAINT, filled=False)
LABOUR_STATISTICS = "labour statistics of the United States, 2017 (Zhao et al., 2018)"
_NOT_TOLD = "not told"
_MIN_OUTPUTS = 3
"""An occupation with fewer translations that show a gender is no point."""
_MIN_POINTS = 8
"""Fewer have no trend."""
_FAR, _MIN_RESIDUAL = 1.5, 10.0
"""Standard deviations, and percentage points, from the trend: occupations farther away are named."""
_MOST_NAMED = 7


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture without a title in it, and the words that belong to it."""

    name: str
    """Of its file, and unique among the figures made together."""
    title: str
    caption: str
    svg: str
    cell: str
    """The benchmark and direction it shows; only the benchmark where it shows several; empty where it shows all."""


def figure(name: str, title: str, caption: str, cell: str, draw: Callable[[Canvas], object]) -> Figure:
    """The figure that `draw` puts on a canvas."""
    parts = (re.sub(r"[^a-z0-9]+", "-", part).strip("-") for part in name.lower().split("."))
    name = ".".join(part for part in parts if part) or "figure"
    canvas = Canvas(name)
    draw(canvas)
    return Figure(name, title, caption, canvas.svg(title, caption), cell)


@dataclass(frozen=True)
class Sheet:
    """Results that may stand in one figure: one benchmark, measured alike."""

    benchmark: str
    suffix: str
    """Of the names of figures, where there are several sheets of one benchmark."""
    cells: Mapping[str, Mapping[str, Result]]
    """Cell -> label of the run -> result; no cell is empty."""
    conditions: str
    """How these were measured: "core data, rules best, context joined"."""

    @property
    def labels(self) -> list[str]:
        return list(dict.fromkeys(label for found in self.cells.values() for label in found))

    @property
    def results(self) -> Iterator[tuple[str, str, Result]]:
        """(cell, label, result)"""
        for cell, found in self.cells.items():
            for label, result in found.items():
                yield cell, label, result

    @property
    def any(self) -> Result:
        return next(self.results)[2]

    @property
    def intervals(self) -> str:
        return intervals_of(self.any)

    def title_of(self, label: str) -> str:
        """Of a part of a figure: the system, unless there is only one."""
        return label if len(self.labels) > 1 else ""

    def about(self, cell: str = "", label: str = "") -> str:
        """What a caption says of its origin: the system if it is one, the direction, data and rules."""
        who = label or (self.labels[0] if len(self.labels) == 1 else "")
        parts = [part for part in (who, direction(cell) if cell else "") if part]
        return "; ".join([", ".join(parts), self.conditions] if parts else [self.conditions])

    def name_of(self, cell: str, what: str, label: str = "") -> str:
        """Of a figure: with the system, where it shows one of several."""
        own = f".{label[-60:]}" if label and len(self.labels) > 1 else ""
        return f"{cell}{self.suffix}.{what}{own}"


def intervals_of(result: Result) -> str:
    """`95% intervals`, as signed; with what the two bars mean where there are two."""
    signed = re.search(r"confidence-(0?\.\d+)", result.signature)
    has_two = any(e.fixed_low is not None and e.fixed_low != e.low for e in result.estimates)
    bars = " (thin: other groups, such as occupations; thick: other sentences about these)" if has_two else ""
    return f"{100 * float(signed[1]) if signed else 95:g}% intervals{bars}"


def span(result: Result, metric: str, part: str = "all") -> Span | None:
    return span_of(result.find(metric, part))


def span_of(found: Estimate | None) -> Span | None:
    """An estimate as figures draw it; the second interval only where it differs from the first."""
    if found is None or found.value is None:
        return None
    ends = found.fixed_low, found.fixed_high
    return Span(found.value, found.low, found.high, *(ends if ends != (found.low, found.high) else ()))


def language(cell: str) -> str:
    """`ES` of `NAME.en-es`."""
    return cell.rpartition("-")[2].upper()


def direction(cell: str) -> str:
    """`en-es` of `NAME.en-es`."""
    return cell.rpartition(".")[2]


# -- figures that several benchmarks share -----------------------------------------------------------------------------


def confusion(sheet: Sheet) -> Iterator[Figure]:
    """The expected gender against the gender of the translation, in counts."""
    for cell, found in sheet.cells.items():
        counts_of = {label: _gender_counts(result.judgements) for label, result in found.items()}
        pairs = [pair for counts in counts_of.values() for pair in counts]
        rows = [gender.value for gender in Gender if any(expected == gender for expected, _ in pairs)]
        columns = [gender.value for gender in Gender if gender in rows or any(seen == gender for _, seen in pairs)]
        columns.append(_NOT_TOLD)
        matrices = [
            Matrix(sheet.title_of(label), rows, columns, [[counts[row, column] for column in columns] for row in rows])
            for label, counts in counts_of.items()
            if counts
        ]
        if matrices:
            yield figure(
                sheet.name_of(cell, "confusion"),
                "The gender that is meant and the gender of the translation",
                f"Counts, and their share of the row ({sheet.about(cell)}). Not told: the translation shows no gender "
                "that can be read.",
                cell,
                partial(charts.matrices, found=matrices, row_title="meant", column_title="translated as", top=0),
            )


def _gender_counts(judgements: Iterable[Judgement]) -> Counter[tuple[str, str]]:
    return Counter(
        (judgement.expected.value, judgement.observed.value if judgement.observed else _NOT_TOLD)
        for judgement in judgements
        if judgement.expected
    )


@dataclass
class Tally:
    """Of one occupation: feminine among the translations that show a gender, and women among their sources."""

    n_feminine: int = 0
    n_gendered: int = 0
    n_women: int = 0

    @property
    def share(self) -> float:
        return 100 * self.n_feminine / self.n_gendered


def is_open(judgement: Judgement) -> bool:
    """Whether the source leaves the gender open."""
    return judgement.expected in (None, Gender.NEUTRAL)


def professions(sheet: Sheet) -> Iterator[Figure]:
    """Each occupation: the feminine share of its translations against the share of women who work in it."""
    percent_women = {name: float(percent) for name, _, percent in core_occupations()}
    for cell, label, result in sheet.results:
        told: dict[str, Tally] = defaultdict(Tally)
        open_: dict[str, Tally] = defaultdict(Tally)
        for judgement in result.judgements:
            if judgement.observed in (Gender.MASCULINE, Gender.FEMININE):
                tally = (open_ if is_open(judgement) else told)[judgement.entity]
                tally.n_gendered += 1
                tally.n_feminine += judgement.observed is Gender.FEMININE
                tally.n_women += judgement.expected is Gender.FEMININE
        enough_told, enough_open = (
            {name: tally for name, tally in found.items() if name in percent_women and tally.n_gendered >= _MIN_OUTPUTS}
            for found in (told, open_)
        )
        if enough_told or enough_open:
            yield _of_occupations(sheet, cell, label, percent_women, enough_told, enough_open)


def _of_occupations(
    sheet: Sheet,
    cell: str,
    label: str,
    percent_women: Mapping[str, float],
    told: Mapping[str, Tally],
    open_: Mapping[str, Tally],
) -> Figure:
    main = open_ if len(open_) >= len(told) / 2 else told
    trend = _trend({name: (percent_women[name], tally.share) for name, tally in main.items()})
    named = list(trend.residuals)[:_MOST_NAMED] if trend else []
    points: list[Point] = []
    entries: list[tuple[str, Look | str]] = []
    for tallies, shape, colour, says in (
        (told, "circle", charts.BLUE, "gender told"),
        (open_, "triangle", charts.VERMILION, "gender left open"),
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
        charts.points(canvas, points, titles, top, level, trend.ends if trend else None)

    return figure(
        sheet.name_of(cell, "professions", label),
        "Feminine translations of each occupation, against the share of women in it",
        "Each mark is an occupation: the feminine share of its translations that show a gender "
        f"({sheet.about(cell, label)}; {LABOUR_STATISTICS}).{_in_words(trend, named)}",
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
    if len(points) < _MIN_POINTS or min(x.std(), y.std()) < 1e-9:
        return None
    slope, intercept = np.polyfit(x, y, 1)
    residuals = y - (slope * x + intercept)
    far = max(_FAR * float(residuals.std()), _MIN_RESIDUAL)
    found = sorted(zip(points, residuals.tolist(), strict=True), key=lambda one: (-abs(one[1]), one[0]))
    return _Trend(
        (float(intercept), float(intercept + 100 * slope)),
        float(np.corrcoef(x, y)[0, 1]),
        {name: residual for name, residual in found if abs(residual) >= far},
    )


def _in_words(trend: _Trend | None, named: Iterable[str]) -> str:
    if trend is None:
        return ""
    correlation = f" Correlation with the share of women: {minus(f'{trend.correlation:.2f}')}."
    listed = ", ".join(f"{name} {minus(f'{trend.residuals[name]:+.0f}')}" for name in named)
    return correlation + (f" Farthest from the trend, in points: {listed}." if listed else "")
