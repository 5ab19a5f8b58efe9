"""MiTTenS: who keeps their gender, by set of passages and by language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gendermark.benchmarks.mittens import SETS
from gendermark.benchmarks.mittens.measures import SLICES
from gendermark.drawing import charts
from gendermark.drawing.charts import BLUE, GREY, HATCHED_ORANGE, PALE, DotPanel, DotRow, Look, StackedRow
from gendermark.drawing.sheet import FEMALE, MALE, Figure, Sheet, figure, span
from gendermark.drawing.svg import Canvas
from gendermark.result import Result

FILLS = {"right gender": BLUE, "other gender, or both": HATCHED_ORANGE, "no gender shown": PALE, "not translated": GREY}


def genders(sheet: Sheet) -> Iterator[Figure]:
    """Men and women in each set and, where there are several, in each language."""
    for cell, label, result in sheet.results:
        slices = list(dict.fromkeys(e.slice for e in result.estimates))
        languages = [name for name in slices if f"{name}-feminine" in slices and name not in SETS]
        rows = _rows(result, [name for name in SETS if name in slices])
        if len(languages) > 1:
            rows += [DotRow("by language"), *_rows(result, sorted(languages, key=lambda one: SLICES[one]))]
        if rows:
            yield _figure(sheet, cell, label, rows)


def _rows(result: Result, slices: Sequence[str]) -> list[DotRow]:
    looks: Mapping[str, Look] = {"masculine": MALE, "feminine": FEMALE}
    found = []
    for name in slices:
        dots = [
            (one, look) for part, look in looks.items() if (one := span(result, "strict_accuracy", f"{name}-{part}"))
        ]
        if dots:
            found.append(DotRow(SLICES[name], [dots]))
    return found


def _figure(sheet: Sheet, cell: str, label: str, rows: Sequence[DotRow]) -> Figure:
    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, [("men", MALE), ("women", FEMALE)], 0)
        charts.dots(canvas, [DotPanel("right gender, %", (0, 100))], rows, top)

    return figure(
        sheet.name_of(cell, "genders", label),
        "Men and women who keep their gender, by kind of passage",
        f"Share of passages with the right gender ({sheet.about(cell, label)}); lines: {sheet.intervals}, wide "
        "where there are few passages.",
        cell,
        draw,
    )


def outcomes(sheet: Sheet) -> Iterator[Figure]:
    """What became of all passages that could be judged, under rules `best`."""
    for cell, found in sheet.cells.items():
        rows = [row for label, result in found.items() if (row := _outcome_row(label, result))]
        if rows:
            yield _outcome_figure(sheet, cell, rows)


def _outcome_row(label: str, result: Result) -> StackedRow | None:
    names = ("strict_accuracy", "contradiction_rate", "undecided", "failed")
    estimates = [result.find(name) for name in names]
    shares = [estimate.value for estimate in estimates if estimate and estimate.value is not None]
    right = estimates[0]
    if len(shares) < len(names) or right is None:
        return None
    # Out of English, words of both genders decide nothing: what is neither of the others.
    shares[2] = max(100.0 - shares[0] - shares[1] - shares[3], 0.0)
    whisker = (right.low, right.high) if right.low is not None and right.high is not None else None
    return StackedRow(label, shares, whisker)


def _outcome_figure(sheet: Sheet, cell: str, rows: Sequence[StackedRow]) -> Figure:
    def draw(canvas: Canvas) -> None:
        charts.stacked(canvas, [("", rows)], tuple(FILLS.values()), charts.legend(canvas, list(FILLS.items()), 0))

    return figure(
        sheet.name_of(cell, "outcomes"),
        "What becomes of the gender that the source gives a person",
        f"In percent of the passages that can be judged ({sheet.about(cell)}). Line below a bar: {sheet.intervals} of "
        "the right ones.",
        cell,
        draw,
    )
