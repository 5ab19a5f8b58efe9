"""The gender that is meant against the gender of the translation, in counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from gendermark.drawing import plots
from gendermark.drawing.plots import Matrix
from gendermark.drawing.sheet import Figure, Sheet, figure
from gendermark.drawing.svg import Canvas
from gendermark.records import Gender, Judgement
from gendermark.result import Result

NOT_TOLD = "not told"


def confusion(sheet: Sheet) -> Iterator[Figure]:
    for cell, found in sheet.cells.items():
        matrices = _matrices(sheet, found)
        if matrices:
            yield _figure(sheet, cell, matrices)


def _matrices(sheet: Sheet, found: Mapping[str, Result]) -> list[Matrix]:
    counts_of = {label: _counts(result.judgements) for label, result in found.items()}
    everything = [pair for counts in counts_of.values() for pair in counts]
    rows = [gender.value for gender in Gender if any(expected == gender for expected, _ in everything)]
    columns = [gender.value for gender in Gender if gender in rows or any(seen == gender for _, seen in everything)]
    columns.append(NOT_TOLD)
    return [
        Matrix(sheet.title_of(label), rows, columns, [[counts[row, column] for column in columns] for row in rows])
        for label, counts in counts_of.items()
        if counts
    ]


def _counts(judgements: Iterable[Judgement]) -> Counter[tuple[str, str]]:
    return Counter(
        (judgement.expected.value, judgement.observed.value if judgement.observed else NOT_TOLD)
        for judgement in judgements
        if judgement.expected
    )


def _figure(sheet: Sheet, cell: str, matrices: list[Matrix]) -> Figure:
    def draw(canvas: Canvas) -> None:
        plots.matrices(canvas, matrices, "meant", "translated as", 0)

    return figure(
        sheet.name_of(cell, "confusion"),
        "The gender that is meant and the gender of the translation",
        f"Counts, and their share of the row ({sheet.about(cell)}). Not told: the translation shows no gender that can "
        "be read.",
        cell,
        draw,
    )
