"""Findings and figures of WinoMT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gendermark.benchmarks.findings import Presentation, TwoRates, dot_figure, marks, paper_tables, rows_by_system
from gendermark.records import Gender
from gendermark.reporting.charts import BLUE, DotPanel, DotRow, Figure, Look, Sheet, language, professions
from gendermark.reporting.document import Finding, Shown
from gendermark.reporting.phrases import against_half, became, sentence, stereotype_effect, women_and_men
from gendermark.result import Result


def findings(result: Result) -> list[Finding]:
    kept = "accuracy:mf" if result.find("accuracy", "mf") else "accuracy"
    masculine = "masculine_share:neutral"
    shown = f"{{{masculine}|of translations}} are masculine"
    open_ = f"Where the source does not specify gender and the translation does, {shown}"
    return [
        *sentence(result, f"Where the source specifies the gender, {{{kept}|of translations}} keep it."),
        *women_and_men(result, "accuracy:feminine", "accuracy:masculine", "recall_gap", "keep their gender"),
        *stereotype_effect(result, "delta_s", (_where("pro", right=True), _where("anti", right=False))),
        *(
            replace(found, shows=(became(Gender.NEUTRAL, Gender.MASCULINE),))
            for found in against_half(result, f"{open_}{{state}}.", masculine)
        ),
    ]


def _where(kind: str, *, right: bool) -> Shown:
    return lambda j: j.tags.get("stereotype") == kind and j.observed is not None and j.is_correct is right


_FITS, _AGAINST = Look("square", BLUE), Look("diamond", "#C04E00")


def stereotypes(sheet: Sheet) -> Iterator[Figure]:
    """Accuracy with and against the stereotype of the occupation: Figure 2 of the paper."""
    looks = {("accuracy", "pro"): _FITS, ("accuracy", "anti"): _AGAINST}

    def rows_of(cell: str, result: Result) -> list[DotRow]:
        dots = marks(result, looks)
        return [DotRow(language(cell), [dots], joined=True)] if dots else []

    if rows := rows_by_system(sheet, rows_of):
        yield dot_figure(
            sheet,
            "stereotypes",
            "Gender kept with and against the stereotype of the occupation",
            f"Share of translations that keep the gender of the person ({sheet.about()}); lines: {sheet.intervals}.",
            [DotPanel("accuracy, %", (0, 100), better="higher")],
            rows,
            [("fits the stereotype", _FITS), ("goes against it", _AGAINST)],
        )


PRESENTATION = Presentation(
    findings=findings,
    forms=lambda cells: paper_tables(__package__, cells),
    figures=(stereotypes, professions),
    two_rates=TwoRates("accuracy:masculine", "accuracy:feminine", gap="recall_gap:all"),
    opens=2,
    also_shown=(
        "accuracy:mf",
        "accuracy:feminine",
        "accuracy:masculine",
        "accuracy:all",
        "masculine_share:neutral",
        "recall_gap:all",
    ),
    beside_published=("accuracy:all", "delta_g:all", "delta_s:all"),
    published="gendermark.benchmarks.winomt",
    hidden_tags=frozenset({"position"}),
)
