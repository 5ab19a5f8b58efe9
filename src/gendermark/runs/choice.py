"""Forced choice: which of two given translations is more probable for a system?

MT-GenEval considered this (footnote 7) and found lower agreement with people than for the words of translations; so it
is reported beside the word-based verdict, with their agreement, and never replaces it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import UserError
from gendermark.metrics import statistics
from gendermark.records import Judgement, Request, Task, Test, Translation, Verdict
from gendermark.runs.translate import Answers

Pairs = Sequence[tuple[str, str] | None]
"""For each item a correct and a contrastive translation, or None."""


def pairs_of(benchmark: Benchmark, item_set: ItemSet) -> Pairs:
    if benchmark.choices is None:
        raise UserError(f"{benchmark.name} has no pairs of translations to choose from; leave out --forced-choice")
    return benchmark.choices(item_set)


def choice_requests(requests: Sequence[Request], pairs: Pairs) -> list[Request]:
    """Two requests for each item with a pair: score the correct translation, score the contrastive one."""
    return [
        Request(one.source, one.source_language, one.target_language, task=Task.SCORE, target=target)
        for one, targets in zip(requests, pairs, strict=True)
        for target in targets or ()
    ]


def forced_choice(scored: Answers, pairs: Pairs, judgements: Sequence[Judgement], spec: str) -> Test:
    """Measure how often a system prefers the correct translation, and how often that agrees with its own output.

    `scored` are its answers to `choice_requests`.
    """
    answers = [samples[0] for samples in scored.translations]
    asked = [judgement for judgement, targets in zip(judgements, pairs, strict=True) if targets is not None]
    preferred: list[bool | None] = []
    for right, wrong in zip(answers[::2], answers[1::2], strict=True):
        if right.log_probability is None or wrong.log_probability is None:
            raise UserError(f"{spec} gave no log-probability for a translation it was asked to score")
        is_tie = right.log_probability == wrong.log_probability
        preferred.append(None if is_tie else right.log_probability > wrong.log_probability)
    n_right, n_decided = sum(choice is True for choice in preferred), sum(choice is not None for choice in preferred)
    written = {"correct": True, "wrong": False}
    outcomes = [
        j.outcome or ("correct" if j.is_correct else "wrong" if j.verdict is Verdict.JUDGED and j.observed else "")
        for j in asked
    ]
    both = [
        (choice, written[outcome])
        for choice, outcome in zip(preferred, outcomes, strict=True)
        if choice is not None and outcome in written
    ]
    interval = statistics.wilson(n_right, n_decided)
    return Test(
        "forced-choice",
        "Of the right and the contrastive translation, which does the system find more probable?",
        100 * n_right / n_decided if n_decided else None,
        None,
        {
            "statistic": "percent that prefer the right one",
            "low": 100 * interval[0] if interval else None,
            "high": 100 * interval[1] if interval else None,
            "n_decided": n_decided,
            "n_total": len(preferred),
            "agrees_with_words": 100 * sum(a == b for a, b in both) / len(both) if both else None,
            "kappa_with_words": statistics.cohen_kappa([a for a, _ in both], [b for _, b in both]),
            "n_compared": len(both),
            **_log_probabilities(answers[::2], answers[1::2]),
        },
    )


def _log_probabilities(right: Sequence[Translation], wrong: Sequence[Translation]) -> dict[str, float | None]:
    means: dict[str, float | None] = {}
    for name, answers in (("right", right), ("wrong", wrong)):
        totals = [answer.log_probability for answer in answers if answer.log_probability is not None]
        n_tokens = sum(answer.n_tokens or 0 for answer in answers)
        known = bool(answers) and all(answer.n_tokens for answer in answers)
        means[f"log_probability_{name}"] = math.fsum(totals) / len(totals) if totals else None
        means[f"log_probability_per_token_{name}"] = math.fsum(totals) / n_tokens if known else None
    return means
