"""Uncertainty: entropy where the gender is told and where it is left open, and P(feminine) of each occupation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from gendermark.drawing import charts
from gendermark.drawing.charts import BLUE, DotPanel, DotRow, Look, Span
from gendermark.drawing.sheet import (
    FEMALE,
    LABOUR_STATISTICS,
    PUBLISHED,
    Figure,
    Sheet,
    figure,
    is_open,
    language,
    span,
)
from gendermark.drawing.svg import SMALL, Canvas
from gendermark.linguistics.occupations import core_occupations
from gendermark.result import Result

SIDES = {"unambiguous": Look("circle", BLUE, filled=False), "ambiguous": FEMALE}
KINDS = {"h_gender": "gender", "h_s3e": "meaning (S3E)", "h_string": "words"}
MOST_OCCUPATIONS = 40


def entropies(sheet: Sheet) -> Iterator[Figure]:
    """Figure 2 of the paper, without its bins of quality."""
    rows: list[DotRow] = []
    for cell, found in sheet.cells.items():
        own = [
            DotRow(label, dots)
            for label, result in found.items()
            if any(
                dots := [
                    [(value, look) for part, look in SIDES.items() if (value := span(result, kind, part))]
                    for kind in KINDS
                ]
            )
        ]
        rows += [*([DotRow(language(cell))] if own and len(sheet.cells) > 1 else []), *own]
    if not rows:
        return

    def draw(canvas: Canvas) -> None:
        entries = [("gender told", SIDES["unambiguous"]), ("gender left open", SIDES["ambiguous"])]
        panels = [DotPanel(title, zero=0.0, at_least=(0.0, 0.1)) for title in KINDS.values()]
        charts.dots(canvas, panels, rows, charts.legend(canvas, entries, 0))

    yield figure(
        f"uncertainty{sheet.suffix}.entropy",
        "How unsure a system is where the gender is told, and where it is left open",
        "Mean entropy of sampled translations in nats: of the gender of the noun, of meanings by degrees, and of whole "
        f"texts ({sheet.about()}). Who notices what is left open is less sure there: the triangle lies to the right. "
        f"Lines: {sheet.intervals}.",
        "uncertainty",
        draw,
    )


def feminine_by_occupation(sheet: Sheet) -> Iterator[Figure]:
    share_of_women = {name: percent / 100 for name, _, percent in core_occupations()}
    for cell, label, result in sheet.results:
        means = _means(result, share_of_women)
        if means:
            yield _occupation_figure(sheet, cell, label, means, share_of_women)


def _means(result: Result, wanted: Mapping[str, float]) -> dict[str, float]:
    """Mean P(feminine) where the gender is open, of the occupations with the most sentences."""
    shares: dict[str, list[float]] = defaultdict(list)
    for judgement in result.judgements:
        if is_open(judgement) and "p_feminine" in judgement.measures and judgement.entity in wanted:
            shares[judgement.entity].append(judgement.measures["p_feminine"])
    kept = sorted(shares, key=lambda name: (-len(shares[name]), name))[:MOST_OCCUPATIONS]
    return {name: sum(shares[name]) / len(shares[name]) for name in kept}


def _occupation_figure(
    sheet: Sheet, cell: str, label: str, means: Mapping[str, float], share_of_women: Mapping[str, float]
) -> Figure:
    ordered = sorted(means, key=lambda name: (-means[name], -share_of_women[name], name))
    rows = [
        DotRow(name, [[(Span(share_of_women[name]), PUBLISHED), (Span(means[name]), FEMALE)]], joined=True)
        for name in ordered
    ]

    def draw(canvas: Canvas) -> None:
        entries = [("sampled translations", FEMALE), ("women in the occupation", PUBLISHED)]
        panels = [DotPanel("", (0, 1), zero=0.5)]
        charts.dots(canvas, panels, rows, charts.legend(canvas, entries, 0), size=SMALL, tight=8.4)

    n_fewer = sum(means[name] < share_of_women[name] for name in means)
    return figure(
        sheet.name_of(cell, "occupations", label),
        "P(feminine) of each occupation where the gender is left open",
        f"Feminine share of sampled translations, below the share of women in {n_fewer} of {len(means)} occupations "
        f"({sheet.about(cell, label)}; {LABOUR_STATISTICS}).",
        cell,
        draw,
    )
