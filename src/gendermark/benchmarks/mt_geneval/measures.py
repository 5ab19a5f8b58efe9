"""Counts and metrics of MT-GenEval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gendermark.benchmarks.benchmark import Measures, outcome_table
from gendermark.benchmarks.mt_geneval import ContextualSettings, CounterfactualSettings
from gendermark.metrics import quality
from gendermark.metrics.metric import Description, Metric, described, difference, per_judgement, share
from gendermark.records import Judgement, Table, Verdict

_N_GAPS = 50
_SCORES = ("bleu", "chrf", "effort")
_GENDERS = ("masculine", "feminine")
_GAPS = {
    "delta_qual": "bleu",
    "delta_chrf": "chrf",
    "delta_comet": "comet",
    "delta_effort": "effort",
    "control_gap": "control",
}
"""Metric -> the score whose gap it is."""

DESCRIBED = described(__package__)
_ACCURACY = DESCRIBED["accuracy"]
_PAIRS_RIGHT = _ACCURACY.called(
    "accuracy", "accuracy", "Right gender; a pair is right only if both of its sentences are."
)


def _columns(names: Iterable[str], judgement: Judgement) -> Iterable[str]:
    """Counts of one judgement in each slice; `best` excludes undecidable items."""
    outcome, decidable = judgement.outcome, judgement.tags["decidable"] == "yes"
    for name in names:
        yield f"{name}.every"
        if judgement.tags["rules"] == "paper" or decidable:
            yield f"{name}.total"
            yield f"{name}.{outcome}"
            if outcome in ("correct", "wrong"):
                yield f"{name}.judged"
            if outcome in ("correct", "wrong", "mixed"):
                yield f"{name}.covered"
            if judgement.reason == "extraction":
                yield f"{name}.extraction"


def _accuracies(part: str, *, is_paper: bool, right: Description = _ACCURACY) -> list[Metric]:
    found = [share(right, part, "correct")]
    if not is_paper:
        found.append(share(DESCRIBED["coverage"], part, "covered"))
        found.append(share(DESCRIBED["decided_accuracy"], part, "correct", of="judged"))
    return found


def _recall_gap(part: str) -> Metric:
    men, women = (share(_ACCURACY, gender, "correct") for gender in _GENDERS)
    gap = difference(DESCRIBED["recall_gap"], men, women, part, is_undefined_without_hits=True)
    return replace(gap, judged=f"{part}.judged")


def _share(kind: str, part: str) -> Metric:
    return share(DESCRIBED[kind], part, "undecided" if kind == "open" else kind)


# -- counterfactual --------------------------------------------------------------------------------------------------

_count_members = per_judgement(lambda judgement: _columns(("members", str(judgement.expected)), judgement))


def tally_pairs(group: Sequence[Judgement]) -> Mapping[str, float]:
    counts: dict[str, float] = defaultdict(float, _count_members(group))
    for judgement in group:
        gender = str(judgement.expected)
        counts[f"{gender}.translated"] += judgement.verdict is not Verdict.NOT_TRANSLATED
        for key, value in judgement.measures.items():
            counts[f"{gender}.{key}"] += value
    if len({judgement.expected for judgement in group}) < 2:
        return counts
    # A pair is correct, and decided, only if both members are.
    counts["all.every"] += 1
    counts["all.translated"] += all(judgement.verdict is not Verdict.NOT_TRANSLATED for judgement in group)
    if all(j.tags["decidable"] == "yes" or j.tags["rules"] == "paper" for j in group):
        outcomes = {judgement.outcome for judgement in group}
        counts["all.total"] += 1
        counts["all.correct"] += outcomes == {"correct"}
        counts["all.judged"] += outcomes <= {"correct", "wrong"}
        counts["all.covered"] += outcomes <= {"correct", "wrong", "mixed"}
    return counts


def pair_metrics(judgements: Sequence[Judgement], settings: CounterfactualSettings) -> list[Metric]:
    is_paper = settings.rules == "paper"
    present = [gender for gender in _GENDERS if any(j.expected == gender for j in judgements)]
    both = len(present) == 2
    found: list[Metric] = []
    if both:
        has_comet = any("comet.sum" in judgement.measures for judgement in judgements)
        gaps = [(name, score) for name, score in _GAPS.items() if has_comet or score != "comet"]
        found = [*_accuracies("all", is_paper=is_paper, right=_PAIRS_RIGHT), _recall_gap("members")]
        found += [quality.quality_gap(DESCRIBED[name], score, *_GENDERS) for name, score in gaps]
    found += [quality.quality(score, gender) for gender in present for score in _SCORES]
    for part in (*present, *(["members"] if both else [])):
        found += _accuracies(part, is_paper=is_paper, right=_PAIRS_RIGHT)
        if not is_paper:
            found += [_share(kind, part) for kind in ("mixed", "open", "failed")]
    return found


def scored_pairs(judgements: Iterable[Judgement]) -> Iterator[tuple[str, list[Judgement], list[float]]]:
    """Each pair with both members, masculine first, and the chrF of either."""
    by_pair: dict[str, dict[str, Judgement]] = defaultdict(dict)
    for judgement in judgements:
        by_pair[judgement.group_id][str(judgement.expected)] = judgement
    names = [f"chrf.{column}" for column in quality.CHRF_COLUMNS]
    for pair, found in by_pair.items():
        members = [found[gender] for gender in _GENDERS if gender in found and names[0] in found[gender].measures]
        if len(members) == len(_GENDERS):
            columns = (np.array([one.measures[name] for one in members]) for name in names)
            yield pair, members, quality.chrf_value(*columns).tolist()


def pair_tables(judgements: Sequence[Judgement]) -> list[Table]:
    rows: list[tuple[Any, ...]] = [
        (pair, round(men, 1), round(women, 1), round(men - women, 1), *(one.outcome for one in members))
        for pair, members, (men, women) in scored_pairs(judgements)
    ]
    rows.sort(key=lambda row: (-row[3], row[0]))
    columns = ("pair", "chrF masculine", "chrF feminine", "gap", "masculine is", "feminine is")
    shown = rows if len(rows) <= 2 * _N_GAPS else [*rows[:_N_GAPS], *rows[-_N_GAPS:]]
    return [
        Table("gaps", "Pairs with the largest and the smallest gap in quality", columns, shown),
        outcome_table(judgements),
    ]


PAIRS = Measures(
    described=(
        _PAIRS_RIGHT,
        *(DESCRIBED[name] for name in ("coverage", "decided_accuracy", "recall_gap", *_GAPS)),
        *(quality.score_of(score, gender) for gender in _GENDERS for score in _SCORES),
        *(DESCRIBED[name] for name in ("mixed", "open", "failed")),
    ),
    headline=("accuracy:all", "recall_gap", "delta_qual"),
    questions=("recall_gap", "delta_qual"),
    tally=tally_pairs,
    metrics=pair_metrics,
    tables=pair_tables,
    slices={"members": "single sentences"},
)


# -- contextual ------------------------------------------------------------------------------------------------------


def _contextual_slices(judgement: Judgement) -> Iterable[str]:
    yield "all"
    if judgement.expected is not None:
        yield judgement.expected.value
        # Table 4: the person's gender, in professions of women, of men, or of both.
        yield f"{judgement.expected.value}-in-{judgement.tags['class']}-profession"


def context_metrics(judgements: Sequence[Judgement], settings: ContextualSettings) -> list[Metric]:
    is_paper = settings.rules == "paper"
    found = _accuracies("all", is_paper=is_paper)
    if not is_paper:
        found += [_share(kind, "all") for kind in ("mixed", "open", "failed")]
        if settings.context != "none":
            found.append(_share("extraction", "all"))
    slices = {name for judgement in judgements for name in _contextual_slices(judgement)} - {"all"}
    if slices.issuperset(_GENDERS):
        found.append(_recall_gap("all"))
    for name in sorted(slices):
        found += _accuracies(name, is_paper=is_paper)
    return found


CONTEXTS = Measures(
    described=[about for about in DESCRIBED.values() if about.name not in _GAPS],
    headline=("accuracy:all", "decided_accuracy:all", "recall_gap"),
    questions=("recall_gap",),
    tally=per_judgement(lambda judgement: _columns(_contextual_slices(judgement), judgement)),
    metrics=context_metrics,
    tables=lambda judgements: [outcome_table(judgements)],
)
