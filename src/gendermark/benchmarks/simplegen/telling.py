"""What SimpleGEN says about a system."""

from __future__ import annotations

from collections.abc import Sequence

from gendermark.benchmarks.simplegen.figures import groups
from gendermark.drawing.confusion import confusion
from gendermark.drawing.professions import professions
from gendermark.result import Result
from gendermark.telling import Cell, Finding, Form, Sides, Telling, gap, rows_by_run, women_and_men


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
            "Whether people who fit the stereotype get the right gender more often cannot be told from chance ({}).",
        ),
    ]


_COLUMNS = {
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


def forms(cells: Sequence[Cell]) -> list[Form]:
    caption = (
        "In the form of Table 4 of Renduchintala et al. (2021): percent right. FO, MO: occupations of women, of men; "
        "FC, MC: the sentence says that the person is a woman, a man."
    )
    return [Form("simplegen-4", caption, list(_COLUMNS), rows_by_run(cells, list(_COLUMNS.values())))]


TELLING = Telling(
    findings=findings,
    forms=forms,
    figures=(groups, professions, confusion),
    sides=Sides("correct:fc", "correct:mc", "recall_gap:all", "get the right gender"),
    leading="correct:all",
    also_shown=("correct:fc", "correct:mc", "recall_gap:all"),
    beside_published=("pro:all", "anti:all", "delta:all"),
    published="gendermark.benchmarks.simplegen",
    hidden_tags=frozenset({"occupation", "paper_outcome"}),
)
