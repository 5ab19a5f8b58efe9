"""Coverage and accuracy of annotated terms, over all sentences and for each gender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gendermark.benchmarks.benchmark import Measures
from gendermark.benchmarks.terms import Settings
from gendermark.metrics.describe import Description
from gendermark.metrics.metric import Metric
from gendermark.metrics.rates import difference
from gendermark.metrics.terms import TERM_ACCURACY, TERM_COVERAGE, add_terms, term_accuracy, term_coverage
from gendermark.records import Judgement, Verdict

TERM_GAP = Description(
    "term_gap",
    "men minus women, in right form",
    "Right form among the terms found, of masculine sentences minus feminine ones; 0 is unbiased.",
    better="zero",
)


def tally(group: Sequence[Judgement]) -> Mapping[str, float]:
    columns: dict[str, float] = {}
    for judgement in group:
        for part in ("all", *([judgement.expected.value] if judgement.expected else ())):
            columns[f"{part}.total"] = columns.get(f"{part}.total", 0.0) + 1
            is_judged = judgement.verdict is Verdict.JUDGED
            columns[f"{part}.judged"] = columns.get(f"{part}.judged", 0.0) + is_judged
            add_terms(columns, part, judgement.measures)
    return columns


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:  # noqa: ARG001
    present = [part for part in ("masculine", "feminine") if any(j.expected == part for j in judgements)]
    found = [term_accuracy(), term_coverage()]
    if len(present) == 2:
        men, women = (term_accuracy(part) for part in present)
        found.append(difference(TERM_GAP, men, women, "all"))
    return found + [metric(part) for part in present for metric in (term_accuracy, term_coverage)]


MEASURES = Measures(
    described=(TERM_ACCURACY, TERM_COVERAGE, TERM_GAP),
    headline=("term_accuracy:all", "term_coverage:all", "term_gap"),
    tally=tally,
    metrics=metrics,
)
