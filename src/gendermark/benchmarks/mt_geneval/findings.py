"""What the two benchmarks of MT-GenEval say about a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gendermark.benchmarks.findings import (
    Cell,
    Finding,
    Form,
    Highlight,
    Place,
    Presentation,
    Row,
    TwoRates,
    against_half,
    by_gender,
    direction_of,
    doubt,
    gap,
    leaning,
    rows_by_direction,
    runs_of,
    share,
    women_and_men,
)
from gendermark.benchmarks.mt_geneval import CONTEXTUAL, COUNTERFACTUAL
from gendermark.benchmarks.mt_geneval.figures import genders, sentence_gaps
from gendermark.drawing.confusion import confusion
from gendermark.result import Result

_RATES = TwoRates("accuracy:masculine", "accuracy:feminine", gap="recall_gap:all")
_HIDDEN = frozenset({"pair", "rules", "decidable", "context"})


def _accuracies(name: str, cells: Sequence[Cell]) -> Form:
    caption = "Accuracy, in the form of Table 10 of Currey et al. (2022); of pairs where the sentences come in pairs."
    rows = [Row([Place(number, run, "accuracy") for number in range(len(cells))], run) for run in runs_of(cells)]
    return Form(f"{name}-10", caption, [direction_of(cell) for cell in cells], rows)


# -- counterfactual --------------------------------------------------------------------------------------------------


def pair_findings(result: Result) -> list[Finding]:
    pairs, quality = result.find("accuracy"), result.find("delta_qual")
    if pairs is None:
        return []
    right = f"Of 100 pairs of sentences that differ in gender only, {share(pairs)} are right in both.{doubt(pairs)}"
    return [
        Finding(right),
        *_women_and_men(result, "accuracy"),
        *gap(
            quality,
            "The masculine sentences are translated better, by {} of BLEU.",
            "The feminine sentences are translated better, by {} of BLEU.",
            "Masculine and feminine sentences are translated about equally well; the difference could be chance "
            "({} of BLEU).",
        ),
    ]


def _women_and_men(result: Result, metric: str) -> list[Finding]:
    women, men = result.find(metric, "feminine"), result.find(metric, "masculine")
    if women is None or men is None or women.value is None or men.value is None:
        return []
    if metric != "accuracy" or result.find("recall_gap") is None:
        return by_gender(women, men)
    return [women_and_men(women, men, result.find("recall_gap"), "keep their gender")]


def pair_forms(cells: Sequence[Cell]) -> list[Form]:
    caption = (
        "Quality, in the form of Table 8 of Currey et al. (2022): BLEU of the masculine and of the feminine sentences, "
        "and the first minus the second."
    )
    columns = {"masculine": "bleu_masculine", "feminine": "bleu_feminine", "Δqual": "delta_qual"}
    rows = rows_by_direction(cells, list(columns.values()))
    quality = Form(f"{COUNTERFACTUAL}-8", caption, list(columns), rows, runs_of(cells))
    return [_accuracies(COUNTERFACTUAL, cells), quality]


PAIRS = Presentation(
    findings=pair_findings,
    forms=pair_forms,
    figures=(genders, sentence_gaps, confusion),
    two_rates=_RATES,
    also_shown=("accuracy:masculine", "accuracy:feminine"),
    beside_published=("accuracy:all", "delta_qual:all"),
    published="gendermark.benchmarks.mt_geneval",
    highlight=Highlight(
        "gaps", "The largest gaps in quality between two versions of a sentence", is_shown=lambda row: row[3] > 0
    ),
    hidden_tags=_HIDDEN,
)


# -- contextual ------------------------------------------------------------------------------------------------------


def context_findings(result: Result) -> list[Finding]:
    # By the paper's rules every translation counts as decided.
    metric = "decided_accuracy" if result.find("decided_accuracy") else "accuracy"
    right = result.find(metric)
    if right is None or right.low is None or right.high is None:
        return []
    who = "that show a gender show the right one" if metric == "decided_accuracy" else "have the right one"
    where = "Where only the sentence before tells the gender"
    if getattr(result.selection, "context", "") == "none":
        where += ", and the system is not shown it"
    start = f"{where}, {share(right)} of 100 translations {who}"
    guessing = (
        "more than by guessing",
        "fewer than by guessing",
        "not clearly different from guessing",
    )
    first = against_half(start, right, *guessing)
    if leaning(right, 50.0) > 0:  # better than guessing is no bias
        first = replace(first, effect=0.0)
    return [replace(first, text=f"{first.text}{doubt(right)}"), *_women_and_men(result, "accuracy")]


CONTEXTS = Presentation(
    findings=context_findings,
    forms=lambda cells: [_accuracies(CONTEXTUAL, cells)],
    figures=(genders, confusion),
    two_rates=_RATES,
    beside_published=("accuracy:all",),
    published="gendermark.benchmarks.mt_geneval",
    hidden_tags=_HIDDEN,
    context_tag="context",
)
