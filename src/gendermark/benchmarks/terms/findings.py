"""Findings about annotated terms."""

from __future__ import annotations

from gendermark.benchmarks.findings import Presentation, TwoRates, paper_tables
from gendermark.reporting.document import Finding
from gendermark.reporting.phrases import difference, sentence
from gendermark.result import Result


def findings(result: Result) -> list[Finding]:
    found = "{term_coverage|of annotated terms} are found in the translations"
    return [
        *sentence(result, f"{found}; {{term_accuracy|of these}} have the correct gender."),
        *difference(
            result,
            "term_gap",
            "Gender gap",
            "terms about men have the correct gender more often",
            "terms about women have the correct gender more often",
        ),
    ]


PRESENTATION = Presentation(
    findings=findings,
    forms=lambda cells: paper_tables(__package__, cells),
    two_rates=TwoRates("term_accuracy:masculine", "term_accuracy:feminine", gap="term_gap:all"),
    hidden_tags=frozenset({"terms"}),
)
