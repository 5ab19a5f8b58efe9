"""Checks of a finished run that can fail a release: against a baseline run, or against thresholds."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gendermark.errors import UserError
from gendermark.io.disk_list import stored
from gendermark.metrics import metric as counting
from gendermark.metrics import statistics
from gendermark.metrics.metric import Description, Metric, Resampling, Tally
from gendermark.metrics.within import count_pairs, difference_error
from gendermark.records import Estimate, Gender, Judgement, Unit, pieces, show_p
from gendermark.records import Verdict as JudgementVerdict
from gendermark.result import UNSOUND, Result
from gendermark.runs import folder
from gendermark.runs.compare import Comparison, benchmark_of, compare, metric_names, metrics_of
from gendermark.runs.folder import Run

NO_WORSE = "no worse than the baseline"
NO_LOSS = "no loss on these sentences"
FIXED_TOLERANCE = 2.0
LEAST_SHARE = 0.05
"""Minimum share of the items under a gap that must be judged, and correct, for its size to be meaningful."""
_MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class Check:
    cell: str
    metric: str
    slice: str
    passed: bool
    finding: str
    asked: str = ""
    """The condition to pass, in a few words; with cell, metric and slice it identifies the check."""
    compared: bool = True
    """Whether there was something to compare; if not, it has neither passed nor failed."""
    grew: bool = False
    """Whether a gap is significantly larger although nobody lost accuracy."""
    tolerance: float = 0.0
    """Loss allowed, in the unit of the metric."""
    kind: str = "general"
    """`general`: for other groups too; `fixed`: on these sentences; `bound`: against a threshold."""
    value: float | None = None
    baseline: float | None = None
    difference: float | None = None
    low: float | None = None
    """Bounds of the difference."""
    high: float | None = None
    p_adjusted: float | None = None

    @property
    def name(self) -> str:
        """Metric, slice and condition: unique in a cell, and stable across builds."""
        return f"{self.metric}:{self.slice} {self.asked}".rstrip()

    @property
    def has_failed(self) -> bool:
        return self.compared and not self.passed

    @property
    def outcome(self) -> str:
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


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """All checks of a run; one failure fails the gate. Every output format agrees."""

    checks: tuple[Check, ...]
    newly_wrong: tuple[ChangedSentence, ...] = ()
    """Sentences that the baseline gets right and this run does not."""
    newly_right: tuple[ChangedSentence, ...] = ()

    @classmethod
    def of(cls, checks: Sequence[Check], *changed: tuple[ChangedSentence, ...]) -> Verdict:
        """Add a failing check if nothing could be compared.

        `changed`: sentences that are newly wrong, and newly right.
        """
        rest = () if any(check.compared for check in checks) else (NOTHING_COMPARED,)
        return cls((*checks, *rest), *changed)

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
            return f"gate passed ({n_compared} check{'s' * (n_compared != 1)}){rest}"
        return f"gate failed ({len(self.failures)} of {n_compared} checks failed){rest}"

    def __repr__(self) -> str:
        failed = [f"  {one.cell} {one.metric}:{one.slice}: {one.finding}" for one in self.failures]
        return "\n".join([f"<{self.sentence}>", *failed])

    def to_json(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "checks": [check.to_json() for check in self.checks],
            "newly_wrong": [one.to_json() for one in self.newly_wrong],
            "newly_right": [one.to_json() for one in self.newly_right],
        }


@dataclass(frozen=True)
class Strictness:
    """Tolerances in addition to the significance level."""

    tolerance: float = 0.0
    """In points, for metrics without their own tolerance; for shares between 0 and 1, hundredths."""
    tolerances: Mapping[str, float] = field(default_factory=dict)
    """Metric name -> loss allowed, in its own unit."""
    fail_on_gap: bool = False
    """Whether a larger gap fails although nobody lost accuracy."""
    fixed_tolerance: float = FIXED_TOLERANCE
    """Loss allowed for women and men on these sentences, in points; for shares between 0 and 1, hundredths."""

    def of(self, cell: str, metric: str, part: str, unit: Unit) -> float:
        names = metric_names(cell.partition(".")[0], metric, part)
        for name, own in self.tolerances.items():
            if name in names:
                return own
        return _points(self.tolerance, unit)

    def check(self, comparisons: Sequence[Comparison]) -> None:
        known = [metric_names(c.cell.partition(".")[0], c.metric, c.slice) for c in comparisons]
        for name in self.tolerances:
            if not any(name in names for names in known):
                there = dict.fromkeys(_name(c.metric, c.slice) for c in comparisons)
                raise UserError(f"no metric {name!r} is compared with the baseline; available: {', '.join(there)}")


def _points(points: float, unit: Unit) -> float:
    """Percentage points in a metric's own unit; 0 if it has none."""
    if unit in (Unit.SHARE, Unit.PROBABILITY):
        return points / 100
    return points if unit.is_of_hundred else 0.0


NO_TOLERANCE = Strictness()


def checks_of(
    now: Sequence[Result],
    before: Sequence[Result] | None,
    limits: tuple[Mapping[str, str], Mapping[str, str]],
    resampling: Resampling,
    alpha: float,
    strict: Strictness = NO_TOLERANCE,
) -> list[Check]:
    """Check a run against thresholds (minimum and maximum by metric) and, if given, a baseline."""
    checks = bounds(verified(now), *limits)
    if before is not None:
        checks += against_baseline(now, verified(before), resampling, alpha, strict)
    return checks


def bounds(results: Sequence[Result], minimum: Mapping[str, str], maximum: Mapping[str, str]) -> list[Check]:
    """Check values against thresholds. `METRIC` may be `metric`, `metric:slice`, or either after `benchmark.`."""
    checks = []
    every = [(result, estimate) for result in results for estimate in result.estimates]
    asked = [("least", *limit) for limit in minimum.items()] + [("most", *limit) for limit in maximum.items()]
    for word, key, text in asked:
        limit = number_of(f"the bound of {key}", text)
        found = [(of, e) for of, e in every if key in metric_names(of.selection.benchmark, e.metric, e.slice)]
        if not found:
            raise UserError(f"the run has no metric {key!r}; {_nearest(key, results)}")
        for result in results:
            check_counted(result, [estimate for of, estimate in found if of is result])
        for result, estimate in found:
            value = estimate.value
            weakness = _weakness(result, estimate.metric, estimate.slice)
            # No data does not pass.
            is_within = value is not None and (value >= limit if word == "least" else value <= limit)
            required = f"at {word} {limit:g}"
            missed = f"below the required {limit:g}" if word == "least" else f"above the maximum of {limit:g}"
            finding = f"{estimate.shown}, {f'required: {required}' if is_within else missed}"
            if weakness:
                finding += f"; {weakness}, too few for a conclusion"
            passed = is_within and not weakness
            of_metric = (result.cell, estimate.metric, estimate.slice)
            checks.append(Check(*of_metric, passed, finding, required, kind="bound", value=value))
    return checks


def _nearest(key: str, results: Iterable[Result]) -> str:
    """The likely intended metric; a run has too many to list."""
    names = list(dict.fromkeys(_name(e.metric, e.slice) for result in results for e in result.estimates))
    wanted = key.removesuffix(":all").rpartition(".")[2]
    slices = [name for name in names if name.startswith(f"{wanted}:")]
    meant = slices[:_MOST_NAMES] or difflib.get_close_matches(wanted, names, n=_MOST_NAMES)
    guess = f"did you mean {' or '.join(meant)}?" if meant else f"it has {', '.join(names[:_MOST_NAMES])} and others;"
    return f"{guess} see `gendermark list metrics`, or `gendermark report DIR --format csv` for the metrics of this run"


def _name(metric: str, part: str) -> str:
    return metric if part == "all" else f"{metric}:{part}"


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
    now: Sequence[Result],
    before: Sequence[Result],
    resampling: Resampling,
    alpha: float,
    strict: Strictness = NO_TOLERANCE,
) -> list[Check]:
    """Check that no headline metric is significantly worse than the baseline's, beyond the tolerance."""
    # The interval's confidence follows the level of the test.
    used = replace(resampling, confidence=min(max(1 - alpha, 0.001), 0.999))
    report = compare(before, now, used)
    strict.check(report.comparisons)
    # A missing result counts as a loss; so do single metrics below.
    present = {result.cell for result in now}
    checks = [
        Check(result.cell, "every metric", "all", False, "the baseline has it, this run does not", NO_WORSE)
        for result in before
        if result.cell not in present
    ]
    old, new = ({result.cell: result for result in results} for results in (before, now))
    general = [_general_check(c, old[c.cell], new[c.cell], used, alpha, strict) for c in report.comparisons]
    fixed: list[tuple[str, FixedChange]] = []
    for cell in dict.fromkeys(c.cell for c in report.comparisons):
        # Women and men on these sentences, or the headline metrics without them.
        changes = by_gender(old[cell], new[cell], None, used)
        if not changes:
            benchmark = benchmark_of(old[cell])
            metrics = [metric for metric in metrics_of(old[cell]) if benchmark.is_headline(metric)]
            pairs = stored(_paired(old[cell], new[cell]))
            changes = _changes(metrics, pairs, benchmark.measures.tally, used.confidence)
        fixed += [(cell, change) for change in changes]
    adjusted = statistics.holm([change.p_value for _, change in fixed])
    each = zip(fixed, adjusted, strict=True)
    return checks + general + [_fixed_check(cell, change, p or 0.0, alpha, strict) for (cell, change), p in each]


def _general_check(
    c: Comparison, before: Result, now: Result, resampling: Resampling, alpha: float, strict: Strictness
) -> Check:
    lost = _not_there(c, before, now)
    if lost is not None:
        return lost
    change, allowed = c.change(alpha), strict.of(c.cell, c.metric, c.slice, c.unit)
    values = f"{c.unit.show(c.first)} → {c.unit.show(c.second)}"
    found = f"{values}, {c.in_words(alpha)} (p {show_p(c.p_adjusted)} after Holm)"
    check = Check(
        c.cell,
        c.metric,
        c.slice,
        True,
        found,
        NO_WORSE,
        tolerance=allowed,
        value=c.second,
        baseline=c.first,
        difference=c.difference,
        low=c.low,
        high=c.high,
        p_adjusted=c.p_adjusted,
    )
    if change == "unclear" and c.detectable:
        return replace(check, finding=f"{found}; smallest detectable difference: {c.unit.show(c.detectable)}")
    if change != "worse":
        return check
    if allowed and c.worse_by <= allowed:
        least = f"by at least {c.unit.show(max(c.worse_by, 0.0))}"
        within = f"{least}, not significantly more than the tolerance of {allowed:g}{c.unit.of_differences}"
        return replace(check, finding=f"{found}; {within}")
    if allowed:
        found += f"; by at least {c.unit.show(c.worse_by)}, more than the tolerance of {allowed:g}"
    metric = _metric(now, c.metric, c.slice) if c.better == "zero" else None
    sides = by_gender(before, now, metric, resampling) if metric else []
    if not nobody_lost(sides, strict.fixed_tolerance, alpha):
        return replace(check, passed=False, finding=found)
    fails = strict.fail_on_gap
    nobody = f"nobody lost ({', '.join(side.shown for side in sides)})"
    found += f"; fails although {nobody}" if fails else f"; grew, but {nobody}"
    return replace(check, passed=not fails, grew=True, finding=found)


def _not_there(c: Comparison, before: Result, now: Result) -> Check | None:
    """A check without a meaningful value in one run: lost, or not compared."""
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
    # Leaving open gender open is no loss, though there is no masculine share; judging fewer sentences is one.
    n_judged = [sum(j.verdict is JudgementVerdict.JUDGED for j in result.judgements) for result in (before, now)]
    is_lost = not reasons[0] and (c.second is not None or n_judged[1] < n_judged[0])
    finding = f"{values}, {'lost' if is_lost else 'not compared'}: {why}"
    return Check(c.cell, c.metric, c.slice, False, finding, NO_WORSE, compared=is_lost)


def _absence(result: Result, name: str, part: str) -> str:
    """A run of an earlier version may have a value that its judgements no longer give."""
    has_value = any((e.metric, e.slice) == (name, part) and e.value is not None for e in result.estimates)
    return "the judgements lack what this version counts (run it again)" if has_value else "there is no value"


def _weakness(result: Result, name: str, part: str) -> str:
    """Why a gap is trivially small, if so: a system that translates nothing has no gap."""
    try:
        metric = _metric(result, name, part)
        if metric is None or metric.better != "zero":
            return ""
        for e in result.estimates:
            if (e.metric, e.slice) == metric.key and e.n_judged < LEAST_SHARE * e.n_total:
                return f"only {e.n_judged:,} of {e.n_total:,} were judged"
        # A balance that needs no correct answers is measurable wherever answers were judged.
        under = judgements_under(result, metric)
        n_right = sum(j.is_correct for j in under)
        return f"only {n_right:,} of {len(under):,} were right" if n_right < LEAST_SHARE * len(under) else ""
    except KeyError as tag:
        raise UserError(f"{result.cell}: the judgements of the run lack the tag {tag}; run it again") from None


def _metric(result: Result, name: str, part: str) -> Metric | None:
    return next((metric for metric in metrics_of(result) if metric.key == (name, part)), None)


# -- where a gap has grown: has anybody lost? --------------------------------------------------------------------------

_BOTH = {Gender.FEMININE: "women", Gender.MASCULINE: "men"}
_RIGHT = Description(
    "right", "accuracy", "Right gender, of all sentences about them; not translated is not right.", better="higher"
)


@dataclass(frozen=True)
class FixedChange:
    """Change of a number on these sentences: generalises to other sentences about the same groups only."""

    metric: Metric
    before: float
    now: float
    error: float
    worse: float
    """Loss; negative for a gain."""
    confidence: float

    @property
    def difference(self) -> float:
        return self.now - self.before

    @property
    def p_value(self) -> float:
        if self.error <= 0:
            return 1.0
        return math.erfc(abs(self.worse) / self.error / math.sqrt(2))

    @property
    def reach(self) -> float:
        return statistics.normal_quantile(0.5 + self.confidence / 2) * self.error

    @property
    def shown(self) -> str:
        who = {gender.value: name for gender, name in _BOTH.items()}.get(self.metric.slice, self.metric.about.label)
        return f"{who} {self.metric.about.unit.show(self.before)} → {self.metric.about.unit.show(self.now)}"


def nobody_lost(sides: Sequence[FixedChange], tolerance: float, alpha: float) -> bool:
    """Whether neither women nor men demonstrably lost more than the tolerance, and one of them gained.

    A non-significant loss is not enough (Blackwelder 1982): the interval must exclude a loss.
    """
    if len(sides) < len(_BOTH):
        return False
    adjusted = statistics.holm([side.p_value for side in sides])
    gained = any(s.worse < 0 and p is not None and p < alpha for s, p in zip(sides, adjusted, strict=True))
    return gained and all(side.worse + side.reach < tolerance for side in sides)


def by_gender(before: Result, now: Result, metric: Metric | None, resampling: Resampling) -> list[FixedChange]:
    """Women and men on the sentences of a gap, or on all; empty if no gender is known."""
    under = None if metric is None else {j.item_id for j in judgements_under(before, metric)}
    pairs = stored(
        (a, b) for a, b in _paired(before, now) if a.expected in _BOTH and (under is None or a.item_id in under)
    )
    if {a.expected for a, _ in pairs} != set(_BOTH):
        return []
    rates = [counting.rate(_RIGHT, g.value, f"{g}.right", f"{g}.total", judged=f"{g}.total") for g in _BOTH]
    return _changes(rates, pairs, counting.per_judgement(_columns), resampling.confidence)


def _columns(judgement: Judgement) -> Iterator[str]:
    yield f"{judgement.expected}.total"
    if judgement.is_correct:
        yield f"{judgement.expected}.right"


def _paired(before: Result, now: Result) -> Iterator[tuple[Judgement, Judgement]]:
    earlier = {j.item_id: j for j in before.judgements}
    return ((earlier[j.item_id], j) for j in now.judgements if j.item_id in earlier)


def _changes(
    metrics: Sequence[Metric], pairs: Sequence[tuple[Judgement, Judgement]], tally: Tally, confidence: float
) -> list[FixedChange]:
    within = count_pairs(pairs, tally)
    sides = tuple(counting.count(stored(pair[n] for pair in pairs), tally, lambda _: "") for n in (0, 1))
    found = []
    for metric in metrics:
        first, second = (float(counting.evaluate(metric, side, side.totals)[0]) for side in sides)
        if math.isnan(first) or math.isnan(second) or metric.better == "neither":
            continue
        signs, worse = (-1.0, 1.0), first - second
        if metric.better == "lower":
            worse = -worse
        elif metric.better == "zero":
            signs, worse = (-math.copysign(1.0, first), math.copysign(1.0, second)), abs(second) - abs(first)
        error = difference_error(metric, within, (sides[0], sides[1]), signs)
        found.append(FixedChange(metric, first, second, error, worse, confidence))
    return found


def _fixed_check(cell: str, change: FixedChange, p: float, alpha: float, strict: Strictness) -> Check:
    metric = change.metric
    unit = metric.about.unit
    allowed = max(_points(strict.fixed_tolerance, unit), strict.of(cell, metric.name, metric.slice, unit))
    has_lost = change.worse > allowed and p < alpha
    state = "significant" if p < alpha else "not significant"
    finding = f"{change.shown}, {state} on these sentences (p {show_p(p)} after Holm)"
    if 0 < change.worse <= allowed and p < alpha:
        finding += f"; within the tolerance of {allowed:g}{metric.about.unit.of_differences}"
    return Check(
        cell,
        metric.name,
        metric.slice,
        not has_lost,
        finding,
        NO_LOSS,
        tolerance=allowed,
        kind="fixed",
        value=change.now,
        baseline=change.before,
        difference=change.difference,
        low=change.difference - change.reach,
        high=change.difference + change.reach,
        p_adjusted=p,
    )


def judgements_under(result: Result, metric: Metric) -> Sequence[Judgement]:
    gendered = stored(j for j in result.judgements if j.expected in _BOTH)
    tally = benchmark_of(result).measures.tally
    # A metric of pairs has no column for single judgements: use the whole cell.
    counted = stored(j for j in gendered if tally([j]).get(metric.total))
    return counted or (gendered if metric.slice == "all" else [])


# -- the sentences behind a change: right in one run and not in the other ----------------------------------------------

_PEOPLE = {Gender.FEMININE: "a woman", Gender.MASCULINE: "a man", Gender.NEUTRAL: "open"}


@dataclass(frozen=True, eq=False)
class ChangedSentence:
    """A sentence that only one of two runs gets right, with both outputs and judgements."""

    cell: str
    source: str
    before: tuple[str, Judgement]
    now: tuple[str, Judgement]

    @property
    def entity(self) -> str:
        return self.now[1].entity

    @property
    def lines(self) -> tuple[str, str, str]:
        """For people: the source with its gender, and both translations with the deciding words in brackets."""
        expected = self.now[1].expected
        about = f" ({_PEOPLE[expected]})" if expected else ""
        return (
            f"{' '.join(self.source.split())}{about}",
            f"before: {_marked(*self.before)} ({_came_out(self.before[1])})",
            f"now: {_marked(*self.now)} ({_came_out(self.now[1])})",
        )

    def to_json(self) -> dict[str, Any]:
        before, now = (
            {
                "translation": text,
                "observed": judgement.observed,
                "verdict": judgement.verdict,
                "evidence": list(judgement.evidence),
                "spans": [list(span) for span in judgement.spans],
            }
            for text, judgement in (self.before, self.now)
        )
        of_item = {"item_id": self.now[1].item_id, "source": self.source, "expected": self.now[1].expected}
        return {"cell": self.cell, **of_item, "before": before, "now": now}


def _marked(text: str, judgement: Judgement) -> str:
    spans = judgement.spans
    words = [re.escape(word) for word in judgement.evidence if word.strip()]
    if words and not spans:  # judges without positions
        spans = tuple(one.span() for one in re.finditer(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", text))
    return "".join(f"[{piece}]" if is_marked else piece for piece, is_marked in pieces(text, spans)) or "(nothing)"


def _came_out(judgement: Judgement) -> str:
    """The observed gender in a word or two."""
    if judgement.verdict is JudgementVerdict.NOT_TRANSLATED:
        return "not translated"
    return "no gender found" if judgement.observed is None else _PEOPLE[judgement.observed]


def changed_sentences(before: Run, now: Run) -> tuple[tuple[ChangedSentence, ...], tuple[ChangedSentence, ...]]:
    cells = {result.cell: result for result in before.results}
    wrong: list[ChangedSentence] = []
    right: list[ChangedSentence] = []
    for result in now.results:
        if result.cell not in cells:
            continue
        both = zip(before.texts[result.cell], cells[result.cell].judgements, strict=True)
        known = {judgement.item_id: (text.translation or "", judgement) for text, judgement in both}
        for text, judgement in zip(now.texts[result.cell], result.judgements, strict=True):
            old = known.get(judgement.item_id)
            if old is not None and old[1].is_correct != judgement.is_correct:
                found = ChangedSentence(result.cell, text.source, old, (text.translation or "", judgement))
                (right if judgement.is_correct else wrong).append(found)
    return tuple(wrong), tuple(right)


# -- do the numbers of a run follow from its judgements? ---------------------------------------------------------------

_CLOSE = 1e-9
"""Tolerance for different machines."""


def verified(results: Sequence[Result]) -> list[Result]:
    for result in results:
        for warning in result.warnings:
            if warning.startswith(UNSOUND):
                raise UserError(f"{result.system}, {result.cell}: {warning[0].lower()}{warning[1:]}")
        counted = recounted(result)
        for estimate in result.estimates:
            found = counted.get((estimate.metric, estimate.slice))
            # Ignore metrics that this version no longer has; `check_counted` refuses thresholds on them.
            if estimate.value is None or found is None:
                continue
            value, *numbers = found
            is_close = math.isclose(estimate.value, value, rel_tol=_CLOSE, abs_tol=_CLOSE)
            if not is_close or [estimate.n_judged, estimate.n_total] != numbers:
                given = f"{estimate.unit.show(value)} ({numbers[0]:,} of {numbers[1]:,} judged)"
                raise _refusal(result, estimate, f"the judgements beside it give {given}")
    return list(results)


def check_counted(result: Result, estimates: Sequence[Estimate]) -> None:
    """Refuse thresholds on numbers that this version does not find in the judgements."""
    counted = recounted(result) if estimates else {}
    for estimate in estimates:
        if estimate.value is None or (estimate.metric, estimate.slice) in counted:
            continue
        raise _refusal(result, estimate, "the judgements beside it give no such number")


def recounted(result: Result) -> Mapping[tuple[str, str], tuple[float, int, int]]:
    try:
        counts = benchmark_of(result).measures.count(result.judgements, result.selection)
        metrics = metrics_of(result)
    except KeyError as tag:
        raise UserError(f"{result.cell}: the judgements of the run lack the tag {tag}; run it again") from None
    totals = counts.totals
    found = {}
    for metric in metrics:
        value = float(counting.evaluate(metric, counts, totals)[0])
        judged, total = (int(column[0]) for column in counts.take(totals, (metric.judged, metric.total)))
        if not math.isnan(value):
            found[metric.key] = value, judged, total
    return found


def _refusal(result: Result, estimate: Estimate, truth: str) -> UserError:
    name = _name(estimate.metric, estimate.slice)
    return UserError(
        f"{result.system}, {result.cell}: {folder.RESULT} has {name} {estimate.shown} ({estimate.n_judged:,} of "
        f"{estimate.n_total:,} judged), but {truth}; one of the two was changed, or comes from another version: run "
        "it again, or use `gendermark rejudge`"
    )
