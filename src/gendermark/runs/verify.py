"""Do the numbers of a run follow from its judgements? A gate asks before it believes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UserError
from gendermark.metrics.metric import evaluate, total_sums
from gendermark.records import Estimate
from gendermark.result import Result
from gendermark.runs import folder

_CLOSE = 1e-9
"""Numbers of two machines may differ in their last digits."""


@dataclass(frozen=True, slots=True)
class Recount:
    """A metric as the judgements give it."""

    value: float
    n_judged: int
    n_total: int


def read_verified(directory: Path | str) -> list[Result]:
    """The results of a finished run; refused where a number is not the one that its judgements give."""
    return verified(folder.read_results(directory))


def verified(results: Sequence[Result]) -> list[Result]:
    """The same for results that were read already."""
    for result in results:
        counted = recounted(result)
        for estimate in result.estimates:
            found = counted.get((estimate.metric, estimate.slice))
            # A metric that this version no longer counts is not compared by anybody; `check_counted` refuses a bound.
            if estimate.value is not None and found is not None and not _is_same(estimate, estimate.value, found):
                raise _refusal(result, estimate, f"the judgements beside it give {_said(estimate, found)}")
    return list(results)


def check_counted(result: Result, estimates: Sequence[Estimate]) -> None:
    """Refuse numbers that a bound is set on and that this version does not find in the judgements."""
    counted = recounted(result) if estimates else {}
    for estimate in estimates:
        if estimate.value is None or (estimate.metric, estimate.slice) in counted:
            continue
        raise _refusal(result, estimate, "the judgements beside it give no such number")


def recounted(result: Result) -> Mapping[tuple[str, str], Recount]:
    """By metric and slice, those that the judgements give a value to."""
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    measures = benchmark.measures
    try:
        counts = measures.count(result.judgements, result.selection)
        metrics = measures.metrics(result.judgements, result.selection)
    except KeyError as tag:
        raise UserError(f"{result.cell}: the judgements of the run lack the tag {tag}; run it again") from None
    totals = total_sums(counts)
    found = {}
    for metric in metrics:
        value = float(evaluate(metric, counts, totals)[0])
        judged, total = (int(column[0]) for column in counts.take(totals, (metric.judged, metric.total)))
        if not math.isnan(value):
            found[metric.key] = Recount(value, judged, total)
    return found


def _is_same(estimate: Estimate, value: float, found: Recount) -> bool:
    is_close = math.isclose(value, found.value, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return is_close and (estimate.n_judged, estimate.n_total) == (found.n_judged, found.n_total)


def _said(estimate: Estimate, found: Recount) -> str:
    return f"{estimate.unit.show(found.value)} ({found.n_judged:,} of {found.n_total:,} judged)"


def _refusal(result: Result, estimate: Estimate, truth: str) -> UserError:
    name = estimate.metric if estimate.slice == "all" else f"{estimate.metric}:{estimate.slice}"
    return UserError(
        f"{result.system}, {result.cell}: {folder.RESULT} has {name} {estimate.shown} ({estimate.n_judged:,} of "
        f"{estimate.n_total:,} judged), but {truth}; one of the two was changed, or is of another version: run it "
        "again, or judge it again with `gendermark rejudge`"
    )
