"""What annotated terms say about a system."""

from __future__ import annotations

from collections.abc import Sequence

from gendermark.benchmarks.findings import Cell, Form, Presentation, TwoRates, run_table
from gendermark.reporting.charts import confusion
from gendermark.reporting.document import Finding
from gendermark.reporting.phrases import difference, sentence
from gendermark.result import Result

_COLUMNS = {
    "coverage": ("term_coverage", "all"),
    "accuracy": ("term_accuracy", "all"),
    "masculine": ("term_accuracy", "masculine"),
    "feminine": ("term_accuracy", "feminine"),
}


def findings(result: Result) -> list[Finding]:
    found = "{term_coverage|of annotated terms} are found in the translations"
    return [
        *sentence(result, f"{found}; {{term_accuracy|of these}} have the right gender."),
        *difference(
            result,
            "term_gap",
            "Gender gap",
            "terms about men have the right gender more often",
            "terms about women have the right gender more often",
        ),
    ]


def forms(cells: Sequence[Cell]) -> list[Form]:
    caption = (
        "Coverage and accuracy of annotated terms, after Gaido et al. (2020): how many are found in either form, and "
        "how many of those in the right one."
    )
    return [run_table("terms-1", caption, _COLUMNS, cells)]


PRESENTATION = Presentation(
    findings=findings,
    forms=forms,
    figures=(confusion,),
    two_rates=TwoRates("term_accuracy:masculine", "term_accuracy:feminine", gap="term_gap:all"),
    hidden_tags=frozenset({"terms"}),
)
