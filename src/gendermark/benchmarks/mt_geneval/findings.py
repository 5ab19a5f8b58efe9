"""Findings and figures of the two MT-GenEval benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from gendermark.benchmarks.findings import (
    Cell,
    Form,
    Place,
    Presentation,
    Row,
    TwoRates,
    direction_of,
    dot_figure,
    marks,
    paper_tables,
    rows_by_system,
    runs_of,
)
from gendermark.benchmarks.mt_geneval import CONTEXTUAL, COUNTERFACTUAL
from gendermark.benchmarks.mt_geneval.measures import scored_pairs
from gendermark.markup import minus
from gendermark.reporting import charts
from gendermark.reporting.document import Finding
from gendermark.reporting.phrases import difference, sentence, women_and_men
from gendermark.result import Result
from gendermark.selection import Selection

_PUBLISHED = "gendermark.benchmarks.mt_geneval"
_presentation = partial(
    Presentation,
    two_rates=TwoRates("accuracy:masculine", "accuracy:feminine", gap="recall_gap:all"),
    published=_PUBLISHED,
    hidden_tags=frozenset({"pair", "rules", "decidable", "context"}),
)


def _accuracies(name: str, cells: Sequence[Cell]) -> Form:
    caption = "Accuracy, layout of Table 10 of Currey et al. (2022); for paired sentences, of pairs."
    rows = [Row([Place(number, run, "accuracy") for number in range(len(cells))], run) for run in runs_of(cells)]
    return Form(f"{name}-10", caption, [direction_of(cell) for cell in cells], rows)


_BOTH, _GAP = charts.Look("square", charts.GREEN, filled=False), charts.Look("diamond", charts.PURPLE)
_MOST_LISTED = 5


def genders(sheet: charts.Sheet) -> Iterator[charts.Figure]:
    has_pairs = sheet.benchmark == COUNTERFACTUAL
    parts = {"masculine": charts.MALE, "feminine": charts.FEMALE, "all": _BOTH}
    looks = {("accuracy", part): look for part, look in parts.items()}

    def row(cell: str, result: Result) -> list[charts.DotRow]:
        dots = [marks(result, looks), *([marks(result, {("delta_qual", "all"): _GAP})] if has_pairs else [])]
        return [charts.DotRow(charts.language(cell), dots)] if any(dots) else []

    rows = rows_by_system(sheet, row)
    if not rows:
        return
    panels = [charts.DotPanel("accuracy, %", (0, 100), better="higher")]
    legend: list[tuple[str, charts.Look | str]] = [("men", charts.MALE), ("women", charts.FEMALE)]
    title, says = "Accuracy for men and for women", "where only the preceding sentence gives it"
    if has_pairs:
        panels.append(charts.DotPanel("quality gap, BLEU", zero=0.0, at_least=(-2.0, 2.0), better="zero"))
        legend += [("both of a pair", _BOTH), ("BLEU of men − women", _GAP)]
        title += ", and the gap in quality"
        says = "and BLEU for sentences about men minus the same sentences about women"
    else:
        legend.append(("all", _BOTH))
    caption = f"Share of sentences with the correct gender, {says} ({sheet.about()}); lines: {sheet.intervals}."
    yield dot_figure(sheet, "genders", title, caption, panels, rows, legend)


def sentence_gaps(sheet: charts.Sheet) -> Iterator[charts.Figure]:
    for cell, label, result in sheet.results:
        scored = scored_pairs(result.judgements)
        gaps = [(pair, float(np.nan_to_num(round(men - women, 6)))) for pair, _, (men, women) in scored]
        if any(gap for _, gap in gaps):
            yield _gap_figure(sheet, cell, label, gaps)


def _gap_figure(sheet: charts.Sheet, cell: str, label: str, gaps: Sequence[tuple[str, float]]) -> charts.Figure:
    def draw(canvas: charts.Canvas) -> None:
        title = "chrF, masculine − feminine"
        charts.differences(canvas, title, gaps, ("men better", "women better"), 0)

    largest = sorted(gaps, key=lambda one: (-abs(one[1]), one[0]))[:_MOST_LISTED]
    listed = ", ".join(f"{pair} {minus(f'{gap:+.1f}')}" for pair, gap in largest)
    n_men, n_women = sum(gap > 0 for _, gap in gaps), sum(gap < 0 for _, gap in gaps)
    return charts.figure(
        sheet.name_of(cell, "gaps", label),
        "chrF gap of each pair of sentences that differ only in gender",
        f"One bar per pair: of {len(gaps):,}, {n_men:,} are translated better about a man "
        f"and {n_women:,} about a woman ({sheet.about(cell, label)}). Largest: {listed}.",
        cell,
        draw,
    )


# -- counterfactual --------------------------------------------------------------------------------------------------


def pair_findings(result: Result) -> list[Finding]:
    return [
        *sentence(result, "{accuracy|of pairs} of sentences that differ only in gender are correct in both versions."),
        *_women_and_men(result),
        *difference(
            result,
            "delta_qual",
            "Quality gap",
            "the masculine versions are translated better",
            "the feminine versions are translated better",
            unit="BLEU",
        ),
    ]


def _women_and_men(result: Result) -> list[Finding]:
    do = "keep their gender" if result.find("recall_gap") else "are right"
    return women_and_men(result, "accuracy:feminine", "accuracy:masculine", "recall_gap", do)


PAIRS = _presentation(
    findings=pair_findings,
    forms=lambda cells: [_accuracies(COUNTERFACTUAL, cells), *paper_tables(_PUBLISHED, cells)],
    figures=(genders, sentence_gaps),
    also_shown=("accuracy:masculine", "accuracy:feminine"),
    beside_published=("accuracy:all", "delta_qual:all"),
)


# -- contextual ------------------------------------------------------------------------------------------------------


def context_findings(result: Result) -> list[Finding]:
    right = "{accuracy|of translations}"
    if result.find("decided_accuracy"):  # by the paper's rules every translation counts as decided
        right = "{decided_accuracy|of translations that show a gender}"
    hidden = ", which the system is not shown" if _alone(result.selection) else ""
    where = f"Where only the preceding sentence specifies the gender{hidden}"
    return [*sentence(result, f"{where}, {right} have the correct one (chance: 50%)."), *_women_and_men(result)]


def _alone(selection: Selection) -> str:
    if getattr(selection, "context", "") != "none":
        return ""
    return "each sentence translated alone, without the previous one, which specifies the gender; 50% is chance"


CONTEXTS = _presentation(
    findings=context_findings,
    caveat=_alone,
    forms=lambda cells: [_accuracies(CONTEXTUAL, cells)],
    figures=(genders,),
    beside_published=("accuracy:all",),
    context_tag="context",
)
