"""What SimpleGEN says about a system."""

from __future__ import annotations

from collections.abc import Sequence

from gendermark.benchmarks.findings import (
    Cell,
    Finding,
    Form,
    Presentation,
    Shown,
    TwoRates,
    gap,
    rows_by_run,
    women_and_men,
)
from gendermark.benchmarks.simplegen.figures import groups
from gendermark.drawing.sheet import confusion, professions
from gendermark.result import Result


def findings(result: Result) -> list[Finding]:
    women, men = result.find("correct", "fc"), result.find("correct", "mc")
    if women is None or men is None:
        return []
    return [
        women_and_men(women, men, result.find("recall_gap"), "are translated as women", " as men"),
        *gap(
            result.find("delta"),
            "Whoever fits the stereotype of the occupation gets the right gender more often, by {}.",
            "Whoever fits the stereotype of the occupation gets the right gender less often, by {}.",
            "The stereotype makes no clear difference; what is seen could be chance ({}).",
            shows=(_where(fits=True, right=True), _where(fits=False, right=False)),
        ),
    ]


def _where(*, fits: bool, right: bool) -> Shown:
    return lambda j: (
        (j.tags.get("stereotype") == j.expected) is fits and j.observed is not None and j.is_correct is right
    )


COLUMNS = {
    "pro": ("pro", "all"),
    "anti": ("anti", "all"),
    "Δ": ("delta", "all"),
    "FOFC": ("correct", "fofc"),
    "MOFC": ("correct", "mofc"),
    "ΔFC": ("delta_fc", "all"),
    "MOMC": ("correct", "momc"),
    "FOMC": ("correct", "fomc"),
    "ΔMC": ("delta_mc", "all"),
}
"""Of the paper's Table 4: head of a column -> metric and slice."""


def forms(cells: Sequence[Cell]) -> list[Form]:
    caption = (
        "In the form of Table 4 of Renduchintala et al. (2021): percent right. FO, MO: occupations of women, of men; "
        "FC, MC: the sentence says that the person is a woman, a man."
    )
    return [Form("simplegen-4", caption, list(COLUMNS), rows_by_run(cells, list(COLUMNS.values())))]


PRESENTATION = Presentation(
    findings=findings,
    forms=forms,
    figures=(groups, professions, confusion),
    two_rates=TwoRates("correct:mc", "correct:fc", gap="recall_gap:all"),
    leading="correct:all",
    also_shown=("correct:fc", "correct:mc", "recall_gap:all"),
    beside_published=("pro:all", "anti:all", "delta:all"),
    published="gendermark.benchmarks.simplegen",
    hidden_tags=frozenset({"occupation", "paper_outcome"}),
)
