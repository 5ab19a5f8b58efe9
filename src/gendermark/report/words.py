"""Numbers and names as pages and texts show them."""

from __future__ import annotations

from gendermark.benchmarks.findings import NO_SPREAD
from gendermark.markup import minus
from gendermark.records import Estimate, Unit, show_p


def value(amount: float | None, unit: Unit) -> str:
    """A number with a true minus sign."""
    return minus(unit.show(amount))


def interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "no interval"
    if estimate.low == estimate.high:
        return NO_SPREAD
    return " to ".join(value(end, estimate.unit) for end in (estimate.low, estimate.high))


def letter(run: int) -> str:
    """How the run at this place is called, on a page and in its figures."""
    return chr(ord("A") + run) if run < 26 else f"S{run + 1}"


def p_value(p: float) -> str:
    return f"p {show_p(p)}".replace("<", "< ")
