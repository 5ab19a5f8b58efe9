"""The findings of a result, and the opening sentence of a report.

A finding is a property of one result, independent of the rest of a page. Sentences that count or select over several
results use Benjamini-Hochberg over what they count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.benchmarks.findings import TwoRates
from gendermark.io.disk_list import cached
from gendermark.metrics.metric import key_from
from gendermark.metrics.statistics import benjamini_hochberg
from gendermark.metrics.verdicts import ALPHA, State
from gendermark.reading.codes import NAMES
from gendermark.reading.failures import MISSING
from gendermark.records import Estimate, Gender, Judgement, Verdict
from gendermark.reporting.document import Finding
from gendermark.reporting.phrases import (
    GENDER_GAP,
    as_percent,
    ci,
    counted,
    find,
    in_counts,
    leaning,
    rounded,
    times,
    with_lost,
)
from gendermark.result import Result

FEW_JUDGED = 90.0
"""Below this percentage judged, findings mention it."""
TOO_FEW_JUDGED = 10.0
"""Below this percentage judged, women and men are not compared."""
MOST_MISSING = 5.0
"""Maximum percentage of missing sentences in a scored file for a comparison of women and men."""
NOTHING = "Too few translations for a conclusion."
NOT_TRANSLATED = "Nothing was translated, so there is no conclusion about gender."


def findings(result: Result) -> list[str]:
    return [finding.text for finding in found_in(result)]


def found_in(result: Result) -> list[Finding]:
    result = concluded(result)
    benchmark = benchmark_of(result)
    if lacking := missing(result):
        return [Finding(f"{lacking}.")]
    if few := too_few_judged(result):
        return with_lost(result, [Finding(few)])
    judged = judged_percent(result)
    found = with_lost(result, benchmark.presentation.findings(result) or _headline(benchmark, result))
    if not found:
        return [Finding(NOTHING)]
    if judged is None or judged >= FEW_JUDGED:
        return found
    return [*found, Finding(f"{_judged(judged)}; {_others(result, judged)}.")]


def concluded(result: Result) -> Result:
    """The result with its verdicts attached to its estimates."""
    found = {(verdict.metric, verdict.slice): verdict for verdict in result.verdicts}
    return replace(
        result,
        estimates=tuple(
            replace(e, state=found[e.metric, e.slice].state) if (e.metric, e.slice) in found else e
            for e in result.estimates
        ),
    )


def benchmark_of(result: Result) -> Benchmark:
    found: Benchmark = registry.load("benchmark", result.selection.benchmark)
    return found


def leading_key(benchmark: Benchmark) -> tuple[str, str]:
    return key_from(benchmark.presentation.leading or benchmark.measures.headline[0])


def _headline(benchmark: Benchmark, result: Result) -> list[Finding]:
    numbers = []
    for name in benchmark.measures.headline:
        key = key_from(name)
        estimate = result.find(*key)
        if estimate is not None:
            label = benchmark.label(*key)
            unit = "%" if estimate.unit.scale == "%" else ""
            ends = ci(estimate, f".{estimate.unit.decimals}f")
            numbers.append(Finding(f"{label[:1].upper()}{label[1:]}: {estimate.shown}{unit}{ends}."))
    return numbers


# -- how much could be judged ------------------------------------------------------------------------------------------


def judged_percent(result: Result) -> float | None:
    # For pairs, use single sentences: a pair is covered if both are.
    coverage = result.find("coverage", "members") or result.find("coverage")
    if coverage is not None:
        return coverage.value if coverage.unit.is_of_hundred else as_percent(coverage).value
    if result.judgements:
        return 100 * _verdicts(result.judgements)[Verdict.JUDGED] / len(result.judgements)
    counts = next((estimate for estimate in result.estimates if estimate.n_total), None)
    return 100 * counts.n_judged / counts.n_total if counts else None


def missing(result: Result) -> str:
    """`600 of 1,200 sentences missing: no conclusion`; empty if (nearly) all are present."""
    n, whole = _missing(result.judgements), len(result.judgements)
    return f"{n:,} of {whole:,} sentences missing: no conclusion" if 100 * n > MOST_MISSING * whole else ""


@cached
def _missing(judgements: Sequence[Judgement]) -> int:
    return sum(judgement.reason == MISSING for judgement in judgements)


def _not_translated(result: Result) -> float:
    lost = _verdicts(result.judgements)[Verdict.NOT_TRANSLATED]
    return 100 * lost / max(len(result.judgements), 1)


@cached
def _verdicts(judgements: Sequence[Judgement]) -> Counter[Verdict]:
    return Counter(judgement.verdict for judgement in judgements)


def too_few_judged(result: Result, least: float = TOO_FEW_JUDGED) -> str:
    """The sentence that replaces a comparison of women and men if too few translations could be judged; else empty."""
    judged = judged_percent(result)
    if judged is None or judged >= least:
        return ""
    lost = _not_translated(result)
    if benchmark_of(result).presentation.may_leave_open and lost < TOO_FEW_JUDGED:
        if judged == 0:
            return "No translation shows a gender: it is left open, or was not found."
        n, whole = _verdicts(result.judgements)[Verdict.JUDGED], len(result.judgements)
        shown = f"{n:,} of {whole:,}" if whole else f"{rounded(judged)}% of"
        return f"Only {shown} translations show a gender: the others leave it open, or it was not found."
    if lost == 100:
        return NOT_TRANSLATED
    return f"{_judged(judged)}, too few to compare women and men; {_others(result, judged)}."


def _judged(judged: float) -> str:
    return f"Only {rounded(judged)}% of translations could be judged"


def _others(result: Result, judged: float) -> str:
    lost = _not_translated(result)
    if lost == 0:
        return "the others show no gender that can be read"
    if judged + lost > 99.95:
        return "the others were not translated"
    return f"{rounded(lost)}% of sentences were not translated, and the others show no gender that can be read"


# -- women and men -----------------------------------------------------------------------------------------------------

HALF = 50.0
# How a system treats women and men, in singular and plural.
LOST = ("loses the gender of most people", "lose the gender of most people")
AS_MEN = ("translates most women as men", "translate most women as men")
FAVOURS_MEN = ("favours men", "favour men")
FAVOURS_WOMEN = ("favours women", "favour women")
MOST_MEN = ("renders most people of unspecified gender as men", "render most people of unspecified gender as men")
MORE_MEN = ("renders unspecified gender as masculine more often", "render unspecified gender as masculine more often")
MORE_WOMEN = ("renders unspecified gender as feminine more often", "render unspecified gender as feminine more often")
ALIKE = ("shows no significant gender gap", "show no significant gender gap")
DIFFERS = ("treats women and men differently", "treat women and men differently")
UNKNOWN = ("has too few sentences to compare", "have too few sentences to compare")
Kind = tuple[str, str]


@dataclass(frozen=True)
class Rates:
    """Rates of women and men in one result, in percent."""

    result: Result
    women: Estimate
    men: Estimate
    gap: Estimate | None
    """Men minus women; None if no interval is known."""
    kind: Kind
    asked: TwoRates

    @property
    def source_tells(self) -> bool:
        return self.asked.source_tells

    @property
    def size(self) -> float:
        return abs((self.men.value or 0.0) - (self.women.value or 0.0))

    @property
    def numbers(self) -> str:
        women, men = rounded(self.women.value), rounded(self.men.value)
        if self.source_tells:
            return f"{women}% of women and {men}% of men keep their gender"
        return f"{men}% are translated as men, {women}% as women"

    @property
    def counts(self) -> str:
        women, men = self.in_counts
        if not self.source_tells:
            return f"{men} people of unspecified gender are translated as men, {women} as women"
        return f"{women} women, {men} men"

    @property
    def in_counts(self) -> tuple[str, str]:
        """`2 of 12` women and men; "–" for a mean over groups, which is no count."""
        return (in_counts(self.women), in_counts(self.men)) if self.asked.women else ("–", "–")

    @property
    def is_too_few(self) -> bool:
        return self.gap is not None and self.gap.state == State.TOO_FEW

    @property
    def is_biased(self) -> bool:
        return self.kind not in (ALIKE, UNKNOWN)


def among(rates: Iterable[Rates]) -> str:
    """The people that rates of unspecified gender are shares of; by benchmark if they differ."""
    names: dict[str, dict[str, None]] = {}
    for one in rates:
        if not one.source_tells:
            names.setdefault(one.asked.among, {})[one.result.selection.benchmark] = None
    return "; ".join(f"{whom} ({', '.join(of)})" if len(names) > 1 else whom for whom, of in names.items())


def rates_of(result: Result) -> Rates | None:
    return next(iter(all_rates(result)), None)


def all_rates(result: Result) -> list[Rates]:
    """The rates of a result; then those of people of unspecified gender, if it has both kinds."""
    judged, shown = judged_percent(result), benchmark_of(result).presentation
    if (judged is not None and judged < TOO_FEW_JUDGED) or missing(result):
        return []
    result = concluded(result)
    asked = [one for one in (shown.two_rates, shown.open_rates) if one is not None]
    return [found for one in asked if (found := _rates(result, one)) is not None]


def _rates(result: Result, asked: TwoRates) -> Rates | None:
    men = find(result, asked.men)
    women = find(result, asked.women) if asked.women else _rest(men)
    if men is None or women is None:
        return None
    gap = find(result, asked.gap)
    if gap is not None and not asked.women:
        gap = times(2, gap)  # the masculine share minus one half
    if gap is not None and not gap.state and result.verdicts:
        # The first question is about women and men, under another name.
        gap = replace(gap, state=result.verdicts[0].state)
    return Rates(result, women, men, gap, _kind(result, asked, women, men, gap), asked)


def _rest(men: Estimate | None) -> Estimate | None:
    if men is None or men.value is None:
        return None
    low, high = (None if end is None else 100 - end for end in (men.high, men.low))
    return replace(men, value=100 - men.value, low=low, high=high)


def _kind(result: Result, asked: TwoRates, women: Estimate, men: Estimate, gap: Estimate | None) -> Kind:
    lean = leaning(gap) if gap is not None else 0.0
    if gap is not None and gap.state == State.TOO_FEW:
        return UNKNOWN
    if not asked.source_tells:
        if lean > 0:
            return MOST_MEN if men.low is not None and men.low > HALF else MORE_MEN
        return MORE_WOMEN if lean < 0 else ALIKE
    if _is_below_half(women) and _is_below_half(men):
        return LOST
    if lean > 0:
        return AS_MEN if _is_below_half(women) and _are_mostly_men(result.judgements) else FAVOURS_MEN
    return FAVOURS_WOMEN if lean < 0 else ALIKE


def _is_below_half(found: Estimate) -> bool:
    return found.high is not None and found.high < HALF


@cached
def _are_mostly_men(judgements: Sequence[Judgement]) -> bool:
    """Whether most women are translated as men, rather than unspecified or untranslated."""
    seen = Counter(judgement.observed for judgement in judgements if judgement.expected is Gender.FEMININE)
    return 2 * seen[Gender.MASCULINE] > seen.total()


# -- the verdict -------------------------------------------------------------------------------------------------------

MOST_WORDS = 20


def by_weight(results: Sequence[Result]) -> list[str]:
    """Benchmarks in report order; the first opens it. Independent of measured values.

    Benchmarks whose source specifies gender come first, then those with more languages, then by their priority, then by
    size.
    """

    def weight(name: str) -> tuple[bool, int, int, int]:
        own = [result for result in results if result.selection.benchmark == name]
        shown = benchmark_of(own[0]).presentation
        n = sum(len(result.judgements) for result in own)
        return shown.sides is not None, len({result.cell for result in own}), shown.opens, n

    return sorted(dict.fromkeys(result.selection.benchmark for result in results), key=weight, reverse=True)


def verdict(systems: Sequence[tuple[str, Sequence[Result]]]) -> str:
    """One sentence of at most 20 words about the systems under test: how they treat women and men.

    It is about the report's first benchmark, and about others if that one shows nothing.
    """
    results = [result for _, own in systems for result in own]
    if not results:
        return "There are no results."
    opening = by_weight(results)[0]
    every = [(name, [all_rates(one) for one in own if one.selection.benchmark == opening]) for name, own in systems]
    # People of unspecified gender, if nothing is found about the others.
    specified, unspecified = (
        [(name, rates) for name, own in every if (rates := [one[place] for one in own if len(one) > abs(place)])]
        for place in (0, 1)
    )
    is_found = any(one.is_biased or _errors(one) for _, own in specified for one in own)
    known = specified if is_found or not any(one.is_biased for _, own in unspecified for one in own) else unspecified
    if not known:
        return _without_rates(systems, results)
    if len(systems) == 1 and len(known[0][1]) == 1:
        return _of_result(called(known[0][0]), known[0][1][0], results)
    return _of_several(known, len(systems))


def called(name: str) -> str:
    """A system at the start of a sentence, with an article for "demo model" and controls."""
    return f"The {name}" if name.endswith((" control", "demo model")) else name


def _of_result(name: str, own: Rates, results: Sequence[Result]) -> str:
    if own.kind == UNKNOWN:
        if errors := _errors(own):
            head, bracket, tail = re.split(r"( \(.*?\))", errors, maxsplit=1)
            whole = f"{name}: {head}{bracket}{tail}."
            return whole if len(whole.split()) <= MOST_WORDS else f"{name}: {head}{tail}."
        return _fitting(f"{name} {own.kind[0]}", f": {own.counts}")
    if own.kind == ALIKE and (beyond := _beyond(own.result, results)):
        return _fitting(f"{name} {own.kind[0]}, but {beyond}")
    gap = f" (gap {own.size:.0f} points)" if own.is_biased and own.kind != LOST else ""
    return _fitting(f"{name} {own.kind[0]}: {own.numbers}", gap)


def _errors(rates: Rates) -> str:
    return benchmark_of(rates.result).presentation.suspected(rates.result) if rates.source_tells else ""


def _beyond(result: Result, results: Sequence[Result]) -> str:
    """Other significant findings about a system without a gap: in the same result, or in other benchmarks."""
    found = [one for one in found_in(result) if one.what not in ("", GENDER_GAP) and one.effect > 0]
    if found:
        largest = max(found, key=lambda one: one.effect)
        return f"a {largest.what[:1].lower()}{largest.what[1:]} of {abs(largest.value):.0f} points"
    elsewhere = [one for one in results if one.selection.benchmark != result.selection.benchmark]
    n = len(_biased(elsewhere))
    return f"bias in {n} of {len(elsewhere)} other results" if n else ""


def _of_several(systems: Sequence[tuple[str, Sequence[Rates]]], n_systems: int) -> str:
    """For several systems, or one in several languages."""
    every = [one for _, own in systems for one in own]
    biased = _significant(every)
    n = sum(any(one in biased for one in own) for _, own in systems)
    verb = 0 if n_systems == 1 or (n == 1 and biased) else 1
    who = called(systems[0][0])
    if n_systems > 1:
        whole = "Both systems" if n_systems == 2 else f"All {counted(n_systems)} systems"
        who = whole if n in (n_systems, 0) else f"{counted(n).capitalize()} of {counted(n_systems)} systems"
    if all(one.kind == UNKNOWN for one in every):
        return _fitting(f"{who} {UNKNOWN[verb]}")
    if not biased:
        beyond, adjusted = _beside_gaps(every), _adjusted(every)[len(every) :]
        clear = [one for one, p in zip(beyond, adjusted, strict=True) if one.effect > 0 and p is not None and p < ALPHA]
        what = max(clear, key=lambda one: one.effect).what if clear else ""
        n = sum(one.what == what for one in clear)
        tail = f"; {what[:1].lower()}{what[1:]} significant in {n} of {len(every)} results" if n else ""
        none = f"No gender gap of the {counted(n_systems)} systems is significant among {len(every)} results"
        return _fitting(none if n_systems > 1 else f"{who} {ALIKE[verb]}", tail)
    kinds = {one.kind for one in biased}
    kind = kinds.pop() if len(kinds) == 1 else FAVOURS_MEN if kinds <= {AS_MEN, FAVOURS_MEN} else DIFFERS
    where = ""
    if n_systems == 1:
        some = f"{len(biased)} of {len(every)}" if len(biased) < len(every) else f"all {counted(len(every))}"
        how = " significantly" if len(biased) < len(every) else ""
        where = f"{how} in {'both' if some == 'all two' else some} languages"
    elif len(biased) < len(every) > n_systems:
        where = f", significantly in {len(biased)} of {len(every)} results"
    most = max(biased, key=lambda one: one.size)
    named = [next(name for name, own in systems if most in own)] if n_systems > 1 else []
    places = {place_name(one.result) for one in every}
    named += [place_name(most.result)] if len(places) > 1 else []
    tail = "" if kind == LOST else f"; largest gap: {' in '.join(named)}, {most.size:.0f} points"
    return _fitting(f"{who} {kind[verb]}{where}", tail)


def _significant(rates: Sequence[Rates]) -> list[Rates]:
    """Rates with a significant bias among all of them (Benjamini-Hochberg)."""
    return [
        one
        for one, p in zip(rates, _adjusted(rates), strict=False)
        if one.is_biased and (one.kind == LOST or (p or 0.0) < ALPHA)
    ]


def _adjusted(rates: Sequence[Rates]) -> list[float | None]:
    """p-values of all gaps, then of all other findings, as one family: the sentence considers both."""
    amounts = [*(one.gap for one in rates), *(one.amount for one in _beside_gaps(rates))]
    return benjamini_hochberg([one.p_value if one is not None else None for one in amounts])


def _beside_gaps(rates: Sequence[Rates]) -> list[Finding]:
    return [finding for one in rates for finding in found_in(one.result) if finding.what not in ("", GENDER_GAP)]


def significant(found: Sequence[Finding]) -> list[int]:
    """Places of the significant ones among findings of one kind, the largest first (Benjamini-Hochberg)."""
    adjusted = benjamini_hochberg([one.amount.p_value if one.amount is not None else None for one in found])
    sure = [n for n, p in enumerate(adjusted) if found[n].effect > 0 and p is not None and p < ALPHA]
    return sorted(sure, key=lambda n: -abs(found[n].value))


def _biased(results: Sequence[Result]) -> list[Result]:
    """Results with any significant bias among all of them (Benjamini-Hochberg over one p-value each)."""
    least = [min((v.p_adjusted for v in one.verdicts if v.p_adjusted is not None), default=None) for one in results]
    return [one for one, p in zip(results, benjamini_hochberg(least), strict=True) if p is not None and p < ALPHA]


def _without_rates(systems: Sequence[tuple[str, Sequence[Result]]], results: Sequence[Result]) -> str:
    if len(systems) == 1 and (lacking := next(filter(None, map(missing, results)), "")):
        return f"{called(systems[0][0])}: {lacking}."
    if all(_not_translated(result) == 100 for result in results if result.judgements):
        return NOT_TRANSLATED
    tests = [v for result in results for v in result.verdicts]
    states, adjusted = [v.state for v in tests], benjamini_hochberg([v.p for v in tests])
    n = sum(v.state == State.SIGNIFICANT and p is not None and p < ALPHA for v, p in zip(tests, adjusted, strict=True))
    who = called(systems[0][0]) if len(systems) == 1 else f"{counted(len(systems)).capitalize()} systems"
    if all(state == State.TOO_FEW for state in states):
        return f"{who}: too few translations could be judged to compare women and men."
    return f"{who}: {n} of {len(states)} tests for gender bias {'is' if n == 1 else 'are'} significant."


def _fitting(text: str, tail: str = "") -> str:
    """A sentence, without its tail if too long."""
    whole = f"{text}{tail}."
    return whole if len(whole.split()) <= MOST_WORDS else f"{text}."


# -- places ------------------------------------------------------------------------------------------------------------


def place_name(result: Result) -> str:
    code = language_of(result)
    return NAMES.get(code, code)


def language_of(result: Result) -> str:
    selection = result.selection
    return selection.source_language if selection.target_language == "en" else selection.target_language
