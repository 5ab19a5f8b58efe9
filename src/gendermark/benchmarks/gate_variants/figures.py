"""GATE: who becomes a man, what is offered, and how exact a rewriter is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gendermark.benchmarks.gate_variants import DIRECTIONS, SLICES
from gendermark.drawing import charts
from gendermark.drawing.charts import BLUE, GREY, HATCHED_ORANGE, DotPanel, DotRow, Look, StackedRow
from gendermark.drawing.sheet import LABOUR_STATISTICS, MALE, Figure, Sheet, figure, language, span
from gendermark.drawing.svg import Canvas
from gendermark.result import Result

SHOWN = (
    "all",
    "prof",
    "mens-work",
    "womens-work",
    "fam",
    "nat",
    "oth",
    "subj",
    "scmp",
    "dobj",
    "oprp",
    "plur",
    "two",
    "three",
)
"""Slices in the order of the figure: all, kinds of nouns, roles, number."""
HALF = Look("diamond", charts.PURPLE)
RECALL, PRECISION = Look("circle", charts.BLUE), Look("triangle", charts.VERMILION)


def people(sheet: Sheet) -> Iterator[Figure]:
    """The share of men by kind of noun, by role and by number of people."""
    for cell, found in sheet.cells.items():
        rows: list[DotRow] = []
        for label, result in found.items():
            own = [
                DotRow("all people" if part == "all" else SLICES[part], [[(dot, MALE)]])
                for part in SHOWN
                if (dot := span(result, "masculine_rate", part))
            ]
            rows += [*([DotRow(label)] if own and sheet.title_of(label) else []), *own]
        if rows:
            yield _people(sheet, cell, rows)


def _people(sheet: Sheet, cell: str, rows: Sequence[DotRow]) -> Figure:
    def draw(canvas: Canvas) -> None:
        charts.dots(canvas, [DotPanel("become men, %", (0, 100), zero=50.0)], rows, 0)

    return figure(
        sheet.name_of(cell, "people"),
        "People whose gender is open: how many become men",
        f"Of those whose gender could be read ({sheet.about(cell)}); line: half of them. Lines beside the dots: "
        f"{sheet.intervals}. Men's and women's occupations are those that mostly men and mostly women have: "
        f"{LABOUR_STATISTICS}.",
        cell,
        draw,
    )


def offers(sheet: Sheet) -> Iterator[Figure]:
    """What the translations of a sentence offer together."""
    for cell, found in sheet.cells.items():
        rows = [
            row for label, result in found.items() if (row := _offer(sheet.title_of(label) or language(cell), result))
        ]
        if rows:
            yield _offers(sheet, cell, rows)


def _offer(label: str, result: Result) -> StackedRow | None:
    shares = {
        metric: result.find(metric, "one") for metric in ("recall", "both_rate", "only_men", "only_women", "failed")
    }
    known = {metric: one.value for metric, one in shares.items() if one and one.value is not None}
    if len(known) < len(shares):
        return None
    right = shares["recall"]
    first = known["recall"]
    flawed = max(known["both_rate"] - first, 0.0)
    rest = max(100 - first - flawed - known["only_men"] - known["only_women"], 0.0)
    whisker = (right.low, right.high) if right and right.low is not None and right.high is not None else None
    return StackedRow(label, [first, flawed, known["only_women"], known["only_men"], rest], whisker)


FILLS = {
    "both genders": BLUE,
    "both, and more changed": charts.GREEN,
    "women only": charts.VERMILION,
    "men only": HATCHED_ORANGE,
    "not read, or nothing": GREY,
}


def _offers(sheet: Sheet, cell: str, rows: Sequence[StackedRow]) -> Figure:
    def draw(canvas: Canvas) -> None:
        charts.stacked(canvas, [("", rows)], tuple(FILLS.values()), charts.legend(canvas, list(FILLS.items()), 0))

    return figure(
        sheet.name_of(cell, "offers"),
        "What is offered where the gender of one person is open",
        f"In percent of the sentences ({sheet.about(cell)}). Line below a bar: {sheet.intervals} of the first share.",
        cell,
        draw,
    )


def directions(sheet: Sheet) -> Iterator[Figure]:
    """Precision, recall and F0.5 of a rewriter, both ways."""
    rows: list[DotRow] = []
    looks = {"recall": RECALL, "precision": PRECISION, "f_half": HALF}
    for label in sheet.labels:
        own = [
            DotRow(f"{language(cell)} {direction}", [dots])
            for cell, found in sheet.cells.items()
            if label in found
            for direction in DIRECTIONS
            if (
                dots := [
                    (dot, look) for metric, look in looks.items() if (dot := span(found[label], metric, direction))
                ]
            )
        ]
        rows += [*([DotRow(label)] if own and sheet.title_of(label) else []), *own]
    if not rows:
        return

    def draw(canvas: Canvas) -> None:
        entries: list[tuple[str, Look | str]] = [("recall", RECALL), ("precision", PRECISION), ("F0.5", HALF)]
        charts.dots(canvas, [DotPanel("%", (0, 100))], rows, charts.legend(canvas, entries, 0))

    yield figure(
        f"{sheet.benchmark}{sheet.suffix}.directions",
        "How exactly translations are put into the other gender",
        f"From feminine to masculine (f2m) and from masculine to feminine (m2f) ({sheet.about()}); lines: "
        f"{sheet.intervals}.",
        sheet.benchmark,
        draw,
    )
