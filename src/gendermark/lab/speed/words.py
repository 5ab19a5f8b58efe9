"""What a study of speed found, in words: a sentence for each point, never surer than its intervals."""

from __future__ import annotations

from gendermark.lab.speed.drops import GROUPS
from gendermark.lab.speed.measured import HURT, QUALITY, Measured, Study, group_label
from gendermark.lab.speed.timing import Median
from gendermark.markup import minus
from gendermark.records import Unit
from gendermark.runs.compare import Comparison

_OF_GAPS = {"worse": "larger", "better": "smaller", "changed": "other than before"}
"""What is said of a gap, whose best value is 0."""


UNCHANGED = "unchanged"


def findings(study: Study) -> list[str]:
    """The baseline is what the others are set beside."""
    return [finding(study, point) for point in study.points if not point.is_baseline]


def finding(study: Study, point: Measured) -> str:
    """ "int8 is 1.8 times as fast (1.6 to 2.0), BLEU unchanged, women in men's occupations 3.1 points worse (...)"."""
    changes = point.changes
    parts = [_of_speed(point, study)]
    if QUALITY[0] in changes:
        parts.append(_of_change(QUALITY[0], changes[QUALITY[0]]))
    if HURT in changes:
        parts.append(_of_change(group_label(HURT), changes[HURT]))
    # Of the others only what is clear, and of other benchmarks their gaps: the rest would only make it long.
    named = {group: group_label(group) for group in GROUPS if group != HURT}
    named["Δ"] = "the stereotype's advantage (Δ)"
    named |= {column: column for column in point.others if column in changes and changes[column].better == "zero"}
    parts += [_of_change(label, changes[column]) for column, label in named.items() if _is_clear(changes.get(column))]
    return f"{point.name} {', '.join(parts)}."


def of_price(study: Study, point: Measured) -> str:
    """The price of speed, or why there is none."""
    price = point.price(study.confidence)
    if price.value is None:
        return price.reason
    between = f" ({_two(price.low)} to {_two(price.high)})" if price.low is not None and price.high is not None else ""
    return f"{_two(price.value)}{between}"


def _two(value: float) -> str:
    """Two decimals, and no minus before nothing."""
    return minus(f"{round(value, 2) + 0.0:.2f}")


def _of_speed(point: Measured, study: Study) -> str:
    found = point.times_as_fast(study.confidence)
    if found.low is None or found.high is None:
        n = len(study.rounds.rounds)
        return f"was {found.value:.1f} times as fast in {n} round{'s' if n > 1 else ''}, too few for an interval"
    if found.low > 1:
        return f"is {_times(found)} times as fast ({_times(found, 'low')} to {_times(found, 'high')})"
    if found.high < 1:
        turned = Median(1 / found.value, 1 / found.high, 1 / found.low)
        return f"takes {_times(turned)} times as long ({_times(turned, 'low')} to {_times(turned, 'high')})"
    return f"is not clearly faster or slower ({_times(found, 'low')} to {_times(found, 'high')} times as fast)"


def _times(found: Median, end: str = "value") -> str:
    value = float(getattr(found, end))
    return f"{value:.2f}" if value < 2 else f"{value:.1f}"


def is_unchanged(change: Comparison) -> bool:
    """Whether not one sentence made a difference."""
    return change.difference == 0 and change.low == change.high == 0


def _is_clear(change: Comparison | None) -> bool:
    return change is not None and change.change() not in ("unclear", "not compared")


def _of_change(label: str, change: Comparison) -> str:
    if change.difference is None:
        return f"{label} without a number to compare"
    if is_unchanged(change):
        never = change.unit is Unit.PERCENT and change.better == "higher" and change.first == 0
        return f"{label} never right, as before" if never and label not in QUALITY else f"{label} {UNCHANGED}"
    show, of = change.unit.show, " points" if change.unit is Unit.PERCENT else ""
    if change.low is None or change.high is None:
        return f"{label} {minus(change.unit.show_change(change.difference))}{of}, without an interval"
    if change.low <= 0 <= change.high:
        between = f"{minus(change.unit.show_change(change.low))} to {minus(change.unit.show_change(change.high))}{of}"
        return f"no clear change {'in' if label in QUALITY else 'for'} {label} ({between})"
    if not show(change.difference).strip("-0."):
        return f"{label} changed by less than {show(10**-change.unit.decimals)}"
    ends = sorted((abs(change.low), abs(change.high)))
    between = f"({show(ends[0])} to {show(ends[1])})"
    if not _is_clear(change):  # the interval is of this number alone; several were looked at
        word = "better" if (change.difference > 0) == (change.better == "higher") else "worse"
        return f"{label} {show(abs(change.difference))}{of} {word} {between}, which could be chance"
    word = _OF_GAPS.get(change.change(), change.change()) if change.better == "zero" else change.change()
    return f"{label} {show(abs(change.difference))}{of} {word} {between}"
