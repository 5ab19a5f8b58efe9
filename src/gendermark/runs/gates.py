"""Checks of a finished run that can fail a release."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UserError
from gendermark.metrics.metric import Metric, Resampling
from gendermark.records import Unit, show_p
from gendermark.records import Verdict as JudgementVerdict
from gendermark.result import Result
from gendermark.runs.changed import ChangedSentence
from gendermark.runs.compare import Comparison, compare, metric_names
from gendermark.runs.losses import Sides, judgements_under, sides_of
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
    grew: bool = False
    """Of a gap: whether it is clearly larger, though nobody has lost."""
    tolerance: float = 0.0
    """How much worse would pass, in the unit of the metric."""

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
        if not self.passed:
            return "FAIL"
        return "grew" if self.grew else "pass"

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
    newly_wrong: tuple[ChangedSentence, ...] = ()
    """What the baseline gets right and this run does not."""
    newly_right: tuple[ChangedSentence, ...] = ()

    @classmethod
    def of(
        cls,
        checks: Iterable[Check],
        newly_wrong: tuple[ChangedSentence, ...] = (),
        newly_right: tuple[ChangedSentence, ...] = (),
    ) -> Verdict:
        """With one more check, which fails, if nothing could be compared: that is no pass."""
        found = tuple(checks)
        every = found if any(check.compared for check in found) else (*found, NOTHING_COMPARED)
        return cls(every, newly_wrong, newly_right)

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
        return {
            "passed": self.passed,
            "checks": [check.to_json() for check in self.checks],
            "newly_wrong": [one.to_json() for one in self.newly_wrong],
            "newly_right": [one.to_json() for one in self.newly_right],
        }


@dataclass(frozen=True)
class Strictness:
    """What beyond the level of significance decides whether a run is too much worse than its baseline."""

    tolerance: float = 0.0
    """In points, for metrics without a tolerance of their own; of shares between 0 and 1, hundredths."""
    tolerances: Mapping[str, float] = field(default_factory=dict)
    """Name of a metric -> how much worse it may be, in its own unit."""
    fail_on_gap: bool = False
    """Whether a gap that has grown fails although nobody lost."""

    def of(self, c: Comparison) -> float:
        names = metric_names(c.cell.partition(".")[0], c.metric, c.slice)
        for name, own in self.tolerances.items():
            if name in names:
                return own
        if c.unit in (Unit.SHARE, Unit.PROBABILITY):
            return self.tolerance / 100
        return self.tolerance if c.unit.is_of_hundred else 0.0

    def check(self, comparisons: Sequence[Comparison]) -> None:
        """A tolerance for a metric that is not compared is a mistake."""
        known = [metric_names(c.cell.partition(".")[0], c.metric, c.slice) for c in comparisons]
        for name in self.tolerances:
            if not any(name in names for names in known):
                there = dict.fromkeys(c.metric if c.slice == "all" else f"{c.metric}:{c.slice}" for c in comparisons)
                raise UserError(f"no metric {name!r} is compared with the baseline; available: {', '.join(there)}")


NO_TOLERANCE = Strictness()
Given = Path | Sequence[Result]
"""A run folder, or what was read of it."""


def _results(given: Given) -> Sequence[Result]:
    return read_verified(given) if isinstance(given, Path) else given


def bounds(run: Given, minimum: Mapping[str, str], maximum: Mapping[str, str]) -> list[Check]:
    """Values against fixed bounds. `METRIC` may be `metric`, `metric:slice`, or either after `benchmark.`."""
    results = _results(run)
    checks = []
    for limits, word in ((minimum, "least"), (maximum, "most")):
        for key, text in limits.items():
            limit = number_of(f"the bound of {key}", text)
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


def number_of(what: str, text: str, *, least: float = -math.inf) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not math.isfinite(number) or number < least:
        positive = "" if least < 0 else " of at least 0"
        raise UserError(f"{what} must be a number{positive}, not {text!r}")
    return number


def against_baseline(
    run: Given, baseline: Given, resampling: Resampling, alpha: float, strict: Strictness = NO_TOLERANCE
) -> list[Check]:
    """Fails where a headline metric is worse than the baseline's by more than chance and the tolerance explain."""
    before, now = _results(baseline), _results(run)
    # As sure as is asked for: the interval that must leave 0 out goes with the level of the test.
    used = replace(resampling, confidence=min(max(1 - alpha, 0.001), 0.999))
    report = compare(before, now, used)
    strict.check(report.comparisons)
    # What the baseline measured and this run did not is a loss, not a draw; so are single metrics below.
    present = {result.cell for result in now}
    checks = [
        Check(result.cell, "every metric", "all", False, "the baseline has it, this run does not", NO_WORSE)
        for result in before
        if result.cell not in present
    ]
    pairs = [{result.cell: result for result in results} for results in (before, now)]
    gate = _Gate(used, alpha, strict)
    return checks + [gate.check(c, pairs[0][c.cell], pairs[1][c.cell]) for c in report.comparisons]


@dataclass(frozen=True)
class _Gate:
    """How a run is set against its baseline."""

    resampling: Resampling
    alpha: float
    strict: Strictness

    def check(self, c: Comparison, before: Result, now: Result) -> Check:
        lost = _not_there(c, before, now)
        if lost is not None:
            return lost
        change, allowed = c.change(self.alpha), self.strict.of(c)
        found = f"{c.unit.show(c.first)} → {c.unit.show(c.second)}, {change} (p {show_p(c.p_adjusted)} after Holm)"
        check = Check(c.cell, c.metric, c.slice, True, found, NO_WORSE, tolerance=allowed)
        if change == "unclear" and c.detectable:
            return replace(check, finding=f"{found}; a change of {c.unit.show(c.detectable)} would show")
        if change != "worse":
            return check
        if allowed and c.worse_by <= allowed:
            least = f"by at least {c.unit.show(max(c.worse_by, 0.0))}"
            within = f"{least}, not clearly more than the tolerance of {allowed:g}{c.unit.of_differences}"
            return replace(check, finding=f"{found}; {within}")
        if allowed:
            found += f"; by at least {c.unit.show(c.worse_by)}, more than the tolerance of {allowed:g}"
        metric = _metric(now, c.metric, c.slice) if c.better == "zero" else None
        sides = sides_of(before, now, metric, self.resampling) if metric else Sides()
        if not sides.nobody_lost(self.alpha):
            return replace(check, passed=False, finding=found)
        fails = self.strict.fail_on_gap
        nobody = f"nobody lost ({sides.told})"
        found += f"; fails although {nobody}" if fails else f"; grew, but {nobody}"
        return replace(check, passed=not fails, grew=True, finding=found)


def _not_there(c: Comparison, before: Result, now: Result) -> Check | None:
    """Where one of the two has no number that says anything: lost, or not compared."""
    values = f"{c.unit.show(c.first)} → {c.unit.show(c.second)}"
    reasons = [
        _absence(result, c.metric, c.slice) if value is None else _weakness(result, c.metric, c.slice)
        for value, result in ((c.first, before), (c.second, now))
    ]
    if not any(reasons):
        return None
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
    try:
        metric = _metric(result, name, part)
        return _weakness_of_gap(result, metric) if metric and metric.better == "zero" else ""
    except KeyError as tag:
        raise UserError(f"{result.cell}: the judgements of the run lack the tag {tag}; run it again") from None


def _metric(result: Result, name: str, part: str) -> Metric | None:
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    metrics = benchmark.measures.metrics(result.judgements, result.selection)
    return next((m for m in metrics if (m.name, m.slice) == (name, part)), None)


def _weakness_of_gap(result: Result, metric: Metric) -> str:
    for e in result.estimates:
        if (e.metric, e.slice) == (metric.name, metric.slice) and e.n_judged < LEAST_SHARE * e.n_total:
            return f"only {e.n_judged:,} of {e.n_total:,} were judged"
    # Balance among answers that need not be right is another kind of gap; it can be told wherever they were judged.
    under = judgements_under(result, metric)
    n_right = sum(j.is_correct for j in under)
    return f"only {n_right:,} of {len(under):,} were right" if n_right < LEAST_SHARE * len(under) else ""
