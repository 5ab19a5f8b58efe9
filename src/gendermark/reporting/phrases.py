"""The phrases of findings. A benchmark supplies its nouns; states, numbers and intervals are worded here.

Conclusions come from the verdicts of a result (`metrics/verdicts.py`), in one of four fixed phrases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gendermark.markup import minus
from gendermark.metrics.metric import key_from
from gendermark.metrics.verdicts import State, untranslated_by_gender
from gendermark.records import Estimate, Gender, Unit
from gendermark.reporting.charts import percent
from gendermark.reporting.document import Finding, Shown
from gendermark.result import Result

SIGNIFICANT, NOT_SIGNIFICANT = "significant", "not significant"
AFTER_CORRECTION, TOO_FEW = "not significant after correction", "too few to tell"
GENDER_GAP = "Gender gap"
ALL_SENTENCES, ONLY_NEUTRAL = ", all sentences", "where gender is unspecified, only a neutral translation is right"
"""The end of an accuracy's label, and why it can be below that of women and of men."""
_BOTH = (Gender.FEMININE, Gender.MASCULINE)
_PLACEHOLDER = re.compile(r"\{([^}|]+)(?:\|([^}]*))?\}")
_OPTIONAL = re.compile(r"\[([^\]]*)\]")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


# -- sentences of a result ---------------------------------------------------------------------------------------------


def sentence(result: Result, template: str) -> list[Finding]:
    """A sentence with shares in it, `{metric:slice|of people}` each; none if a number is missing.

    A part in square brackets is left out if a number in it is missing or 0.
    """

    def filled(text: str, *, is_optional: bool) -> str | None:
        names = [found[1] for found in _PLACEHOLDER.finditer(text)]
        estimates = {name: find(result, name) for name in names}
        if any(e is None or (is_optional and not e.value) for e in estimates.values()):
            return None
        return _PLACEHOLDER.sub(lambda found: share(estimates[found[1]], found[2] or ""), text)

    whole = _OPTIONAL.sub(lambda found: filled(found[1], is_optional=True) or "", template)
    text = filled(whole, is_optional=False)
    return [] if text is None else [Finding(text)]


def find(result: Result, name: str) -> Estimate | None:
    found = result.find(*key_from(name))
    return as_percent(found) if found is not None and found.unit in (Unit.SHARE, Unit.PROBABILITY) else found


def women_and_men(result: Result, women: str, men: str, gap: str, do: str, end: str = "") -> list[Finding]:
    """Women, men and the gap: `do` is the verb phrase, `end` the men's ending if it differs."""
    both = [find(result, name) for name in (women, men)]
    if both[0] is None or both[1] is None:
        return []
    return [_women_and_men(both[0], both[1], find(result, gap) if gap else None, do, end)]


def _women_and_men(women: Estimate, men: Estimate, gap: Estimate | None, do: str, end: str = "") -> Finding:
    is_few = gap is not None and gap.state == State.TOO_FEW
    shown = (
        [f"{in_counts(women)} women", f"{in_counts(men)} {'man' if men.n_total == 1 else 'men'}"]
        if is_few
        else [share(women, "of women"), share(men, "of men")]
    )
    text = f"{shown[0]}{f' {do}' if end else ''} and {shown[1]}{end or f' {do}'}"
    found = Finding(f"{text}.", is_by_gender=True)
    if is_few:
        return replace(found, text=f"{text}: {TOO_FEW}.")
    if gap is None or gap.value is None:
        return found
    favoured = "men" if gap.value > 0 else "women"
    favour = f" in favour of {favoured}" if gap.state == State.SIGNIFICANT else ""
    worse, other = _BOTH if gap.value >= 0 else _BOTH[::-1]
    return replace(
        found,
        text=f"{text}: gender gap {points(gap, turned=True)}{favour}{_after_comma(state(gap))}.",
        effect=abs(leaning(gap)),
        what=GENDER_GAP,
        amount=gap,
        shows=(became(worse, other), became(other, other)),
    )


def in_counts(found: Estimate) -> str:
    """A percentage as `2 of 12`."""
    return f"{round((found.value or 0.0) * found.n_total / 100):,} of {found.n_total:,}"


def difference(
    result: Result, name: str, what: str, above: str = "", below: str = "", unit: str = "", shows: Sequence[Shown] = ()
) -> list[Finding]:
    """A difference in points, its interval and conclusion; `above` and `below` say which side is higher.

    `shows`: example sentences of a positive difference.
    """
    found = find(result, name)
    if found is None or found.value is None or found.low is None or found.high is None:
        return []
    if found.state == State.TOO_FEW:
        return [Finding(f"{what}: {TOO_FEW}.", what=what, amount=found)]
    side = (above if found.value > 0 else below) if found.state == State.SIGNIFICANT else ""
    text = f"{what}: {points(found, unit=unit)}{_after_comma(state(found))}{f'; {side}' if side else ''}."
    leans = leaning(found)
    return [Finding(text, abs(leans), what, found, shows if leans > 0 else ())]


def stereotype_effect(result: Result, name: str, shows: Sequence[Shown]) -> list[Finding]:
    """Report how much more often the gender is correct if it fits the stereotype of the occupation."""
    side = "where the gender fits the stereotype of the occupation"
    above, below = f"accuracy is higher {side}", f"accuracy is lower {side}"
    return difference(result, name, "Stereotype effect", above, below, shows=shows)


def against_half(result: Result, template: str, name: str, asked: str = "") -> list[Finding]:
    """A sentence that compares a share with one half; `asked` is the benchmark's question, if named differently.

    The conclusion replaces `{state}` in the template.
    """
    share_, question = find(result, name), find(result, asked or name)
    if share_ is None:
        return []
    judged = replace(share_, state=question.state if question is not None else "")
    concluded = f" (difference from 50%: {state(judged, 50.0)})" if judged.state else ""
    if not judged.state and share_.low is not None and share_.high is not None and share_.low <= 50 <= share_.high:
        concluded = ", not significantly different from 50%"
    found = sentence(result, template.replace("{state}", concluded))
    return [replace(one, effect=abs(leaning(judged, 50.0))) for one in found]


# -- what was not translated -------------------------------------------------------------------------------------------

_NOT_TRANSLATED = "were not translated (refused, empty, a copy or another language)"


def lost_by_gender(result: Result) -> list[Finding]:
    """Report if one gender is left untranslated significantly more often."""
    found = untranslated_by_gender(result.judgements)
    if found is None or not found.is_clear:
        return []
    lost = _women_and_men(found.women, found.men, replace(found.gap, state=State.SIGNIFICANT), _NOT_TRANSLATED)
    text = f"{lost.text.replace('in favour of men', 'more men').replace('in favour of women', 'more women')}"
    return [replace(lost, text=f"{text} These count as wrong.", what="", amount=None, shows=())]


def with_lost(result: Result, found: Sequence[Finding]) -> list[Finding]:
    """Put that finding first; findings by gender repeat it."""
    lost = lost_by_gender(result)
    if not lost:
        return list(found)
    known = untranslated_by_gender(result.judgements)
    shares = [rounded(one.value or 0.0) for one in (known.women, known.men)] if known else []
    tail = f" {shares[0]}% of women and {shares[1]}% of men were not translated."
    return [*lost, *(replace(one, text=f"{one.text}{tail}") if one.is_by_gender else one for one in found)]


# -- kinds of sentences to show ----------------------------------------------------------------------------------------


def became(expected: Gender, observed: Gender) -> Shown:
    return lambda judgement: judgement.expected is expected and judgement.observed is observed


# -- states and numbers ------------------------------------------------------------------------------------------------


def state(found: Estimate, even: float = 0.0) -> str:
    is_outside = found.low is not None and found.high is not None and not found.low <= even <= found.high
    not_significant = AFTER_CORRECTION if is_outside else NOT_SIGNIFICANT
    said = {State.TOO_FEW: TOO_FEW, State.SIGNIFICANT: SIGNIFICANT, State.NOT_SIGNIFICANT: not_significant}
    return said[State(found.state)] if found.state else ""


def _after_comma(text: str) -> str:
    return f", {text}" if text else ""


def leaning(found: Estimate, even: float = 0.0) -> float:
    """Distance from the unbiased value, at the nearer end of the interval; 0 if not significant."""
    if found.state != State.SIGNIFICANT or found.low is None or found.high is None:
        return 0.0
    if found.low <= even <= found.high:
        return 0.0
    return found.low - even if found.low > even else found.high - even


def as_percent(estimate: Estimate) -> Estimate:
    return replace(times(100, estimate), unit=Unit.PERCENT)


def times(factor: float, estimate: Estimate) -> Estimate:
    names = ("value", "low", "high", "fixed_low", "fixed_high")
    scaled: dict[str, Any] = {name: None if (x := getattr(estimate, name)) is None else factor * x for name in names}
    return replace(estimate, **scaled)


def share(estimate: Estimate | None, of: str = "") -> str:
    assert estimate is not None
    ends = ci(estimate, "")
    value = f"{estimate.value:.1f}" if "." in ends and estimate.value is not None else rounded(estimate.value)
    return f"{value}%{f' {of}' if of else ''}{ends}"


def ci(estimate: Estimate, form: str = ".1f") -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    ends = [f"{x + 0.0:{form}}" if form else rounded(x) for x in (estimate.low, estimate.high)]
    if not form and any("." in end for end in ends):
        ends = [f"{x + 0.0:.1f}" for x in (estimate.low, estimate.high)]
    return f" (CI {between(*map(minus, ends))})"


def between(low: str, high: str) -> str:
    """A range: with a dash, or with "to" if an end is negative."""
    return f"{low} to {high}" if low[:1] in "-−" or high[:1] in "-−" else f"{low}–{high}"


def points(found: Estimate, *, turned: bool = False, unit: str = "") -> str:
    """`14.0 points (CI 0.8–26.5)`; `turned` negates the difference."""
    assert found.value is not None
    if turned and found.value < 0 and found.low is not None and found.high is not None:
        found = replace(found, value=-found.value, low=-found.high, high=-found.low)
    return f"{minus(f'{(found.value or 0.0) + 0.0:.1f}')}{f' {unit}' if unit else ''} points{ci(found)}"


def rounded(value: float | None) -> str:
    """Round to whole numbers, but never to "100%" for a little less, nor "50" for less than half."""
    if value is None:
        return "?"
    text = percent(value)
    is_off = text in ("0", "100") or (text == "50" and value < 50)
    return f"{value:.1f}" if is_off and abs(value - int(text)) >= 0.05 else text


def percent_range(shares: Sequence[float]) -> str:
    """`97–99%`, with 100% only if exact."""
    low, high = (percent(share if share == 100 else min(share, 99)) for share in (min(shares), max(shares)))
    return f"{low if low == high else f'{low}–{high}'}%"


def counted(n: int) -> str:
    """Small numbers as words."""
    return _NUMBERS[n] if n < len(_NUMBERS) else f"{n:,}"
