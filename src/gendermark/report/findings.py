"""What the estimates say, in the words of their benchmarks; and how much could be judged at all."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.benchmarks.findings import Finding, as_percent, between, rounded, with_lost
from gendermark.io.disk_list import cached
from gendermark.metrics import statistics
from gendermark.records import Estimate, Judgement, Verdict
from gendermark.result import Result

FEW_JUDGED = 90.0
"""Below so many judged of a hundred, the reader is told."""
TOO_FEW_JUDGED = 10.0
"""Below so many judged of a hundred, nothing is said about women and men."""
NOTHING = "Too little was translated to say anything."


def corrected(results: Sequence[Result]) -> list[Result]:
    """The same results, their p-values corrected by Holm over everything that is told about all of them.

    The sentence that stands out is the largest of many: without this, systems without any bias would be said to have
    some in up to every fourth report.
    """
    asked = [(place, e) for place, result in enumerate(results) for e in result.estimates if is_told(result, e)]
    adjusted = statistics.holm([e.p_value for _, e in asked])
    by_result: dict[int, dict[tuple[str, str], float | None]] = defaultdict(dict)
    for (place, e), p in zip(asked, adjusted, strict=True):
        by_result[place][e.metric, e.slice] = p
    return [
        replace(
            result,
            estimates=tuple(
                replace(e, p_value=by_result[place].get((e.metric, e.slice), e.p_value)) for e in result.estimates
            ),
        )
        for place, result in enumerate(results)
    ]


def is_told(result: Result, estimate: Estimate) -> bool:
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    told = {*benchmark.measures.headline, *benchmark.presentation.also_shown}
    return estimate.p_value is not None and not told.isdisjoint(
        (f"{estimate.metric}:{estimate.slice}", *([estimate.metric] if estimate.slice == "all" else []))
    )


def findings(result: Result) -> list[str]:
    """The sentences for one benchmark and direction of one system."""
    return [finding.text for finding in found_in(result)]


def in_brief(result: Result) -> list[Finding]:
    """How often it is right; and of what is clear beyond that, the largest."""
    first, *others = found_in(result)
    largest = max(others, key=lambda finding: finding.effect, default=first)
    return [first, largest] if largest is not first and largest.effect > 0 else [first]


def main_finding(result: Result) -> str:
    """The one sentence that says most: the largest clear effect, or else how often it is right."""
    return max(found_in(result), key=lambda finding: finding.effect).text


def main_topic(results: Sequence[Result]) -> str:
    """What to say of several systems, of all the same: where the clear effects are largest."""
    effects: dict[str, float] = defaultdict(float)
    for result in results:
        for finding in found_in(result):
            effects[finding.about] += finding.effect
    return max(effects, key=lambda about: effects[about])


def finding_about(result: Result, about: str) -> str:
    """The finding on this topic; the main one where it has none."""
    return next((finding.text for finding in found_in(result) if finding.about == about), None) or main_finding(result)


def found_in(result: Result) -> list[Finding]:
    """The findings of one benchmark and direction of one system."""
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    judged = _judged(result)
    if judged is not None and judged < TOO_FEW_JUDGED:
        is_open = benchmark.presentation.may_leave_open and _not_translated(result) < TOO_FEW_JUDGED
        return with_lost(result, [_left_open(judged) if is_open else _too_few(result, judged)])
    sentences = with_lost(result, benchmark.presentation.findings(result) or _numbers(benchmark, result))
    if not sentences:
        return [Finding(NOTHING)]
    return sentences if judged is None or judged >= FEW_JUDGED else [*sentences, _few(result, judged)]


def _numbers(benchmark: Benchmark, result: Result) -> list[Finding]:
    """Where a benchmark has no sentence of its own: its headline numbers, by what they are called."""
    numbers = []
    for name in benchmark.measures.headline:
        metric, _, part = name.partition(":")
        estimate = result.find(metric, part or "all")
        if estimate is not None:
            label = benchmark.label(metric, part or "all")
            unit = f" {estimate.unit.scale}" if estimate.unit.scale == "%" else ""
            ends = between(estimate, f".{estimate.unit.decimals}f")
            numbers.append(Finding(f"{label[:1].upper()}{label[1:]}: {estimate.shown}{unit}{ends}.", about=name))
    return numbers


# -- how much could be judged ------------------------------------------------------------------------------------------


def can_be_told(result: Result) -> bool:
    """Whether enough was judged to say how women and men fare."""
    judged = _judged(result)
    return judged is None or judged >= TOO_FEW_JUDGED


def _judged(result: Result) -> float | None:
    """How many of a hundred translations could be judged; None if nothing tells."""
    # Where sentences come in pairs, of single ones: a pair is covered if both are.
    coverage = result.find("coverage", "members") or result.find("coverage")
    if coverage is not None:
        return coverage.value if coverage.unit.is_of_hundred else as_percent(coverage).value
    if result.judgements:
        return 100 * _verdicts(result.judgements)[Verdict.JUDGED] / len(result.judgements)
    counted = next((estimate for estimate in result.estimates if estimate.n_total), None)
    return 100 * counted.n_judged / counted.n_total if counted else None


def _not_translated(result: Result) -> float:
    lost = _verdicts(result.judgements)[Verdict.NOT_TRANSLATED]
    return 100 * lost / max(len(result.judgements), 1)


@cached
def _verdicts(judgements: Sequence[Judgement]) -> Counter[Verdict]:
    return Counter(judgement.verdict for judgement in judgements)


def _few(result: Result, judged: float) -> Finding:
    return Finding(f"Only {rounded(judged)} of 100 translations could be judged; {_others(result, judged)}.")


def _too_few(result: Result, judged: float) -> Finding:
    if _not_translated(result) == 100:
        return Finding("Nothing was translated, so nothing can be said about gender.")
    return Finding(
        f"Only {rounded(judged)} of 100 translations could be judged, too few to say how women and men are treated; "
        f"{_others(result, judged)}."
    )


def _left_open(judged: float) -> Finding:
    if judged == 0:
        return Finding("No translation shows a gender: it is left open, or was not found.")
    shown = f"Only {rounded(judged)} of 100 translations show a gender"
    return Finding(f"{shown}: the others leave it open, or it was not found.")


def _others(result: Result, judged: float) -> str:
    lost = _not_translated(result)
    if lost == 0:
        return "the others show no gender that can be read"
    if judged + lost > 99.95:
        return "the others were not translated"
    return f"{rounded(lost)} of 100 sentences were not translated, and the others show no gender that can be read"
