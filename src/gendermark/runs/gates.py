"""Checks of a finished run that can fail a release."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendermark.errors import UserError
from gendermark.metrics.metric import Resampling
from gendermark.result import number
from gendermark.runs.compare import compare, metric_names
from gendermark.runs.folder import read_results

NO_WORSE = "no worse than the baseline"


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

    @property
    def name(self) -> str:
        """Metric, slice and what was asked: unlike for any two checks of one cell, and the same in every build."""
        return f"{self.metric}:{self.slice} {self.asked}".rstrip()

    def to_json(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Verdict:
    """All checks of a run: one that fails, fails the gate. Every form of output says the same."""

    checks: tuple[Check, ...]

    @property
    def failures(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.passed)

    @property
    def passed(self) -> bool:
        return not self.failures

    @property
    def sentence(self) -> str:
        if self.passed:
            return f"gate passed: {len(self.checks)} checks"
        return f"gate failed: {len(self.failures)} of {len(self.checks)} checks"

    def to_json(self) -> dict[str, Any]:
        return {"passed": self.passed, "checks": [check.to_json() for check in self.checks]}


def bounds(directory: Path, minimum: Mapping[str, str], maximum: Mapping[str, str]) -> list[Check]:
    """Values against fixed bounds. `METRIC` may be `metric`, `metric:slice`, or either after `benchmark.`."""
    results = read_results(directory)
    checks = []
    for limits, word in ((minimum, "least"), (maximum, "most")):
        for key, text in limits.items():
            limit = _limit(key, text)
            found = [
                (result.cell, estimate)
                for result in results
                for estimate in result.estimates
                if key in metric_names(result.selection.benchmark, estimate.metric, estimate.slice)
            ]
            if not found:
                known = sorted({f"{e.metric}:{e.slice}" for result in results for e in result.estimates})
                raise UserError(f"the run has no metric {key!r}; there is: {', '.join(known)}")
            for cell, estimate in found:
                value = estimate.value
                # No data is no pass.
                passed = value is not None and (value >= limit if word == "least" else value <= limit)
                asked = f"at {word} {limit:g}"
                finding = f"{number(value, estimate.metric)}, {asked} is asked"
                checks.append(Check(cell, estimate.metric, estimate.slice, passed, finding, asked))
    return checks


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
    before, now = read_results(baseline), read_results(directory)
    report = compare(before, now, resampling)
    # What the baseline measured and this run did not is a loss, not a draw; so are single metrics below.
    present = {result.cell for result in now}
    checks = [
        Check(result.cell, "every metric", "all", False, "the baseline has it, this run does not", NO_WORSE)
        for result in before
        if result.cell not in present
    ]
    for c in report.comparisons:
        change = c.change(alpha)
        p = "–" if c.p_adjusted is None else f"{c.p_adjusted:.4f}"
        finding = f"{number(c.first, c.metric)} → {number(c.second, c.metric)}, {change} (p {p} after Holm)"
        lost = c.first is not None and c.second is None
        checks.append(Check(c.cell, c.metric, c.slice, change != "worse" and not lost, finding, NO_WORSE))
    return checks
