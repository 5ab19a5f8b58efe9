"""Checks of a finished run that can fail a release."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UserError
from gendermark.metrics.metric import Metric, Resampling
from gendermark.records import Gender, show_p
from gendermark.records import Verdict as JudgementVerdict
from gendermark.result import Result
from gendermark.runs.compare import Comparison, compare, metric_names
from gendermark.runs.verify import check_counted, read_verified

NO_WORSE = "no worse than the baseline"
LEAST_SHARE = 0.05
"""Of the items under a gap, how many must be judged, and be right, before its size says anything."""
_MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was asked of a run, and what was found."""

    cell: str
    metric: str
    slice: str
    passed: bool
    finding: str
    asked: str = ""
    """What would pass, in a few words; with cell, metric and slice it names the check."""
    compared: bool = True
    """Whether there was something to compare; if not, it has neither passed nor failed."""

    @property
    def name(self) -> str:
        """Metric, slice and what was asked: unlike for any two checks of one cell, and the same in every build."""
        return f"{self.metric}:{self.slice} {self.asked}".rstrip()

    @property
    def has_failed(self) -> bool:
        return self.compared and not self.passed

    @property
    def outcome(self) -> str:
        """In a word or two, for tables."""
        if not self.compared:
            return "not compared"
        return "pass" if self.passed else "FAIL"

    def to_json(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self.__dataclass_fields__}


NOTHING_COMPARED = Check(
    "every cell",
    "every metric",
    "all",
    False,
    "nothing could be compared, because one run or the other has no value anywhere; compare runs that were judged, or "
    "use --min and --max",
    "a value to compare",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """All checks of a run: one that fails, fails the gate. Every form of output says the same."""

    checks: tuple[Check, ...]

    @classmethod
    def of(cls, checks: Iterable[Check]) -> Verdict:
        """With one more check, which fails, if nothing could be compared: that is no pass."""
        found = tuple(checks)
        return cls(found if any(check.compared for check in found) else (*found, NOTHING_COMPARED))

    @property
    def failures(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.has_failed)

    @property
    def not_compared(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.compared)

    @property
    def passed(self) -> bool:
        return not self.failures

    @property
    def sentence(self) -> str:
        if NOTHING_COMPARED in self.checks:
            return f"gate failed: {NOTHING_COMPARED.finding}"
        n_compared = len(self.checks) - len(self.not_compared)
        rest = f", {len(self.not_compared)} more not compared" if self.not_compared else ""
        if self.passed:
            return f"gate passed: {n_compared} checks{rest}"
        return f"gate failed: {len(self.failures)} of {n_compared} checks{rest}"

    def to_json(self) -> dict[str, Any]:
        return {"passed": self.passed, "checks": [check.to_json() for check in self.checks]}


def bounds(directory: Path, minimum: Mapping[str, str], maximum: Mapping[str, str]) -> list[Check]:
    """Values against fixed bounds. `METRIC` may be `metric`, `metric:slice`, or either after `benchmark.`."""
    results = read_verified(directory)
    checks = []
    for limits, word in ((minimum, "least"), (maximum, "most")):
        for key, text in limits.items():
            limit = _limit(key, text)
            found = [
                (result, estimate)
                for result in results
                for estimate in result.estimates
                if key in metric_names(result.selection.benchmark, estimate.metric, estimate.slice)
            ]
            if not found:
                raise UserError(f"the run has no metric {key!r}; {_nearest(key, results)}")
            for result in results:
                check_counted(result, [estimate for of, estimate in found if of is result])
            for result, estimate in found:
                value = estimate.value
                weakness = _weakness(result, estimate.metric, estimate.slice)
                # No data is no pass.
                is_within = value is not None and (value >= limit if word == "least" else value <= limit)
                asked = f"at {word} {limit:g}"
                finding = f"{estimate.shown}, {asked} is asked"
                if weakness:
                    finding += f"; {weakness}, so nothing can be said about it"
                checks.append(
                    Check(result.cell, estimate.metric, estimate.slice, is_within and not weakness, finding, asked)
                )
    return checks


def _nearest(key: str, results: Iterable[Result]) -> str:
    """What was probably meant; a run has more metrics than fit in a sentence."""
    every = [e.metric if e.slice == "all" else f"{e.metric}:{e.slice}" for result in results for e in result.estimates]
    names = list(dict.fromkeys(every))
    wanted = key.removesuffix(":all").rpartition(".")[2]
    slices = [name for name in names if name.startswith(f"{wanted}:")]
    meant = slices[:_MOST_NAMES] or difflib.get_close_matches(wanted, names, n=_MOST_NAMES)
    guess = f"did you mean {' or '.join(meant)}?" if meant else f"it has {', '.join(names[:_MOST_NAMES])} and others;"
    return (
        f"{guess} `gendermark list metrics` tells what there is, `gendermark report DIR --format csv` what this run has"
    )


def _limit(key: str, text: str) -> float:
    try:
        limit = float(text)
    except ValueError:
        limit = float("nan")
    if not math.isfinite(limit):
        raise UserError(f"the bound of {key} must be a number, not {text!r}")
    return limit


def against_baseline(directory: Path, baseline: Path, resampling: Resampling, alpha: float) -> list[Check]:
    """Fails where a headline metric is worse than the baseline's by more than chance explains."""
    before, now = read_verified(baseline), read_verified(directory)
    # As sure as is asked for: the interval that must leave 0 out goes with the level of the test.
    report = compare(before, now, replace(resampling, confidence=min(max(1 - alpha, 0.001), 0.999)))
    # What the baseline measured and this run did not is a loss, not a draw; so are single metrics below.
    present = {result.cell for result in now}
    checks = [
        Check(result.cell, "every metric", "all", False, "the baseline has it, this run does not", NO_WORSE)
        for result in before
        if result.cell not in present
    ]
    pairs = [{result.cell: result for result in results} for results in (before, now)]
    return checks + [_no_worse(c, pairs[0][c.cell], pairs[1][c.cell], alpha) for c in report.comparisons]


def _no_worse(c: Comparison, before: Result, now: Result, alpha: float) -> Check:
    values = f"{c.unit.show(c.first)} → {c.unit.show(c.second)}"
    reasons = [
        _absence(result, c.metric, c.slice) if value is None else _weakness(result, c.metric, c.slice)
        for value, result in ((c.first, before), (c.second, now))
    ]
    if not any(reasons):
        change = c.change(alpha)
        found = f"{values}, {change} (p {show_p(c.p_adjusted)} after Holm)"
        if change == "unclear" and c.detectable:
            found += f"; a change of {c.unit.show(c.detectable)} would show"
        return Check(c.cell, c.metric, c.slice, change != "worse", found, NO_WORSE)
    sides = zip(("the baseline", "this run"), reasons, strict=True)
    why = ", ".join(f"in {side} {reason}" for side, reason in sides if reason)
    if reasons[0] == reasons[1]:
        why = f"in both runs {reasons[0]}"
    # A system that leaves open what is open has no share of men to measure, which is no loss; one that says less has.
    is_lost = not reasons[0] and (c.second is not None or _n_judged(now) < _n_judged(before))
    finding = f"{values}, {'lost' if is_lost else 'not compared'}: {why}"
    return Check(c.cell, c.metric, c.slice, False, finding, NO_WORSE, compared=is_lost)


def _absence(result: Result, name: str, part: str) -> str:
    """A run of an earlier version may have a value that its judgements no longer give."""
    has_value = any((e.metric, e.slice) == (name, part) and e.value is not None for e in result.estimates)
    return "the judgements lack what this version counts (run it again)" if has_value else "there is no value"


def _n_judged(result: Result) -> int:
    return sum(judgement.verdict is JudgementVerdict.JUDGED for judgement in result.judgements)


def _weakness(result: Result, name: str, part: str) -> str:
    """Why a gap is small for want of anything to differ in, if so: a system that translates nothing has no gap."""
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    try:
        metrics = benchmark.measures.metrics(result.judgements, result.selection)
        metric = next((m for m in metrics if (m.name, m.slice) == (name, part)), None)
        return _weakness_of_gap(result, benchmark, metric) if metric and metric.better == "zero" else ""
    except KeyError as tag:
        raise UserError(f"{result.cell}: the judgements of the run lack the tag {tag}; run it again") from None


def _weakness_of_gap(result: Result, benchmark: Benchmark, metric: Metric) -> str:
    for e in result.estimates:
        if (e.metric, e.slice) == (metric.name, metric.slice) and e.n_judged < LEAST_SHARE * e.n_total:
            return f"only {e.n_judged:,} of {e.n_total:,} were judged"
    # Balance among answers that need not be right is another kind of gap; it can be told wherever they were judged.
    gendered = [j for j in result.judgements if j.expected in (Gender.MASCULINE, Gender.FEMININE)]
    tally = benchmark.measures.tally
    # A metric that counts pairs has no single judgement in its column; it is of the whole cell.
    under = [j for j in gendered if tally([j]).get(metric.total)] or (gendered if metric.slice == "all" else [])
    n_right = sum(j.is_correct for j in under)
    return f"only {n_right:,} of {len(under):,} were right" if n_right < LEAST_SHARE * len(under) else ""
