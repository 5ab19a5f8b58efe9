"""What annotated terms say about a system."""

from __future__ import annotations

from collections.abc import Sequence

from gendermark.drawing.confusion import confusion
from gendermark.result import Result
from gendermark.telling import Cell, Finding, Form, Telling, gap, rows_by_run, share

_COLUMNS = {
    "coverage": ("term_coverage", "all"),
    "accuracy": ("term_accuracy", "all"),
    "masculine": ("term_accuracy", "masculine"),
    "feminine": ("term_accuracy", "feminine"),
}


def findings(result: Result) -> list[Finding]:
    found, right = result.find("term_coverage"), result.find("term_accuracy")
    if found is None or right is None:
        return []
    text = f"Of 100 annotated terms {share(found)} are found in the translations; of 100 found {share(right)} have the"
    return [
        Finding(f"{text} right gender."),
        *gap(
            result.find("term_gap"),
            "Terms about men have the right gender more often than those about women, by {}.",
            "Terms about women have the right gender more often than those about men, by {}.",
            "Whether terms about men or about women have the right gender more often is not clear ({}).",
        ),
    ]


def forms(cells: Sequence[Cell]) -> list[Form]:
    caption = (
        "Coverage and accuracy of annotated terms, after Gaido et al. (2020): how many are found in either form, and "
        "how many of those in the right one."
    )
    return [Form("terms-1", caption, list(_COLUMNS), rows_by_run(cells, list(_COLUMNS.values())))]


TELLING = Telling(findings=findings, forms=forms, figures=(confusion,), hidden_tags=frozenset({"terms"}))
