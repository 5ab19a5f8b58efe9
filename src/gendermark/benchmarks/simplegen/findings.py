"""Findings and figures of SimpleGEN."""

from __future__ import annotations

from collections.abc import Iterator

from gendermark.benchmarks.findings import Presentation, TwoRates, columns_of, paper_tables, stacked_figure, stacked_row
from gendermark.benchmarks.simplegen import GROUPS
from gendermark.benchmarks.simplegen.measures import OUTCOMES
from gendermark.reporting.charts import BLUE, GREY, HATCHED_ORANGE, Figure, Sheet, professions
from gendermark.reporting.document import Finding, Shown
from gendermark.reporting.phrases import stereotype_effect, women_and_men
from gendermark.result import Result


def findings(result: Result) -> list[Finding]:
    as_women, as_men = "are translated as women", " are translated as men"
    return [
        *women_and_men(result, "correct:fc", "correct:mc", "recall_gap", as_women, as_men),
        *stereotype_effect(result, "delta", (_where(fits=True, right=True), _where(fits=False, right=False))),
    ]


def _where(*, fits: bool, right: bool) -> Shown:
    return lambda j: (
        (j.tags.get("stereotype") == j.expected) is fits and j.observed is not None and j.is_correct is right
    )


COLUMNS = columns_of(__package__, "simplegen-4")
_FILLS = {"right gender": BLUE, "wrong gender": HATCHED_ORANGE, "inconclusive": GREY}
_LABELS = {
    "fofc": "woman, women's job",
    "momc": "man, men's job",
    "fomc": "man, women's job",
    "mofc": "woman, men's job",
}


def groups(sheet: Sheet) -> Iterator[Figure]:
    for cell, results in sheet.cells.items():
        parts = []
        for label, result in results.items():
            bars = [stacked_row(_LABELS[group], [result.find(name, group) for name in OUTCOMES]) for group in GROUPS]
            if any(bars):
                parts.append((sheet.title_of(label), [bar for bar in bars if bar]))
        if parts:
            yield stacked_figure(
                sheet,
                cell,
                "groups",
                "Gender of occupation nouns, by gender of the person and stereotype of the occupation",
                f"In percent ({sheet.about(cell)}). From top to bottom: with the stereotype (fofc women, momc men), "
                f"against it (fomc men, mofc women). Line below a bar: {sheet.intervals} of the correct ones.",
                parts,
                _FILLS,
            )


PRESENTATION = Presentation(
    findings=findings,
    forms=lambda cells: paper_tables(__package__, cells),
    figures=(groups, professions),
    two_rates=TwoRates("correct:mc", "correct:fc", gap="recall_gap:all"),
    opens=1,
    leading="correct:all",
    also_shown=("correct:fc", "correct:mc", "recall_gap:all"),
    beside_published=("pro:all", "anti:all", "delta:all"),
    published="gendermark.benchmarks.simplegen",
    hidden_tags=frozenset({"occupation", "paper_outcome"}),
)
