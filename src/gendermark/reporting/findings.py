"""What the estimates say: the findings of each benchmark, and the verdict a page opens with.

A verdict is a property of one result: what else is on a page never changes it. One system is called better than others
only where the comparison says so of each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.benchmarks.findings import Finding, TwoRates, as_percent, ci, leaning, listed, rounded, with_lost
from gendermark.io.disk_list import cached
from gendermark.metrics.statistics import benjamini_hochberg
from gendermark.metrics.verdicts import ALPHA
from gendermark.reading.codes import NAMES
from gendermark.records import Estimate, Gender, Judgement, Verdict
from gendermark.result import Result
from gendermark.runs.compare import Comparison

FEW_JUDGED = 90.0
"""Percent judged below which a finding says so."""
TOO_FEW_JUDGED = 10.0
"""Percent judged below which women and men are not compared."""
NOTHING = "Too little was translated to say anything."


def concluded(result: Result) -> Result:
    """A result whose estimates carry its own verdicts, which depend on nothing else."""
    found = {(verdict.metric, verdict.slice): verdict for verdict in result.verdicts}
    return replace(
        result,
        estimates=tuple(
            replace(e, state=found[e.metric, e.slice].state) if (e.metric, e.slice) in found else e
            for e in result.estimates
        ),
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
    result = concluded(result)
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
            unit = "%" if estimate.unit.scale == "%" else ""
            ends = ci(estimate, f".{estimate.unit.decimals}f")
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
    return Finding(f"Only {rounded(judged)}% of translations could be judged; {_others(result, judged)}.")


def _too_few(result: Result, judged: float) -> Finding:
    if _not_translated(result) == 100:
        return Finding("Nothing was translated, so nothing can be said about gender.")
    return Finding(
        f"Only {rounded(judged)}% of translations could be judged, too few to compare women and men; "
        f"{_others(result, judged)}."
    )


def _left_open(judged: float) -> Finding:
    if judged == 0:
        return Finding("No translation shows a gender: it is left open, or was not found.")
    shown = f"Only {rounded(judged)}% of translations show a gender"
    return Finding(f"{shown}: the others leave it open, or it was not found.")


def _others(result: Result, judged: float) -> str:
    lost = _not_translated(result)
    if lost == 0:
        return "the others show no gender that can be read"
    if judged + lost > 99.95:
        return "the others were not translated"
    return f"{rounded(lost)}% of sentences were not translated, and the others show no gender that can be read"


HALF = 50.0
_MOST_NAMED = 4
"""Languages that are named; more are counted."""
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True)
class Kind:
    """What may be said of a system, of several, and of what happens where."""

    one: str
    several: str
    happens: str
    """Before "by" and the names of systems."""


# In the order in which they are told.
TURNED = Kind("translates most women as men", "translate most women as men", "most women are translated as men")
LOST = Kind("loses the gender of most people", "lose the gender of most people", "the gender of most people is lost")
WOMEN_LESS = Kind(
    "keeps women's gender less often than men's",
    "keep women's gender less often than men's",
    "women's gender is kept less often than men's",
)
MEN_LESS = Kind(
    "keeps men's gender less often than women's",
    "keep men's gender less often than women's",
    "men's gender is kept less often than women's",
)
MOST_MEN = Kind(
    "renders most people of unspecified gender as men",
    "render most people of unspecified gender as men",
    "most people of unspecified gender are rendered as men",
)
MORE_MEN = Kind(
    "renders people of unspecified gender as men more often than as women",
    "render people of unspecified gender as men more often than as women",
    "people of unspecified gender are rendered as men more often than as women",
)
MORE_WOMEN = Kind(
    "renders people of unspecified gender as women more often than as men",
    "render people of unspecified gender as women more often than as men",
    "people of unspecified gender are rendered as women more often than as men",
)
ALIKE = Kind(
    "shows no significant difference between women and men",
    "show no significant difference between women and men",
    "there is no significant difference between women and men",
)
KINDS = (TURNED, LOST, WOMEN_LESS, MEN_LESS, MOST_MEN, MORE_MEN, MORE_WOMEN, ALIKE)


@dataclass(frozen=True)
class Rates:
    """How women and men fare in one result, in percent."""

    women: Estimate
    men: Estimate
    gap: Estimate | None
    """Men minus women; none where no interval is known for it."""
    kind: Kind
    source_tells: bool

    @property
    def size(self) -> float:
        assert self.women.value is not None
        assert self.men.value is not None
        return abs(self.men.value - self.women.value)

    @property
    def numbers(self) -> str:
        women, men = rounded(self.women.value), rounded(self.men.value)
        if self.source_tells:
            return f"{women}% of women and {men}% of men keep their gender"
        return f"{men}% become men, {women}% women"


def rates_of(result: Result) -> Rates | None:
    """The two numbers of a result; none where its benchmark has no such numbers."""
    result = concluded(result)
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    asked = benchmark.presentation.two_rates
    if asked is None:
        return None
    men = _found(result, asked.men)
    women = _found(result, asked.women) if asked.women else _rest(men)
    if men is None or women is None or men.value is None or women.value is None:
        return None
    gap = _found(result, asked.gap)
    if gap is not None and not gap.state and result.verdicts:
        gap = replace(
            gap, state=result.verdicts[0].state
        )  # the first question is about women and men, under another name
    return Rates(women, men, gap, _kind(result, asked, women, men, gap), asked.source_tells)


def _found(result: Result, name: str) -> Estimate | None:
    metric, _, part = name.partition(":")
    found = result.find(metric, part or "all")
    return found if found is None or found.unit.is_of_hundred else as_percent(found)


def _rest(men: Estimate | None) -> Estimate | None:
    if men is None or men.value is None:
        return None
    low, high = (None if end is None else 100 - end for end in (men.high, men.low))
    return replace(men, value=100 - men.value, low=low, high=high)


def _kind(result: Result, asked: TwoRates, women: Estimate, men: Estimate, gap: Estimate | None) -> Kind:
    lean = leaning(gap) if gap is not None else 0.0
    if not asked.source_tells:
        if lean > 0:
            return MOST_MEN if men.low is not None and men.low > HALF else MORE_MEN
        return MORE_WOMEN if lean < 0 else ALIKE
    if _is_below_half(women) and _is_below_half(men):
        return LOST
    if lean > 0:
        return TURNED if _is_below_half(women) and _are_mostly_men(result) else WOMEN_LESS
    return MEN_LESS if lean < 0 else ALIKE


def _is_below_half(found: Estimate) -> bool:
    return found.high is not None and found.high < HALF


def _are_mostly_men(result: Result) -> bool:
    """Whether most women come out as men; they could also be left open or not be translated."""
    seen = _women(result.judgements)
    return 2 * seen[Gender.MASCULINE] > seen.total()


@cached
def _women(judgements: Sequence[Judgement]) -> Counter[Gender | None]:
    """What became of them."""
    return Counter(judgement.observed for judgement in judgements if judgement.expected is Gender.FEMININE)


# -- in words ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """One benchmark: its places (languages, mostly), and how each system fares in each of them."""

    places: Sequence[str]
    """In words: "Spanish"."""
    systems: Sequence[str]
    rates: Sequence[Sequence[Rates | None]]
    """Of each place, of each system."""
    compared: Callable[[int, int, int], Comparison | None]
    """The gap of a place: of one system against another."""

    def sentence(self) -> str:
        """Empty where nothing can be told."""
        present = [run for run in range(len(self.systems)) if any(rates[run] for rates in self.rates)]
        if not present:
            return ""
        return self._of_one(present[0]) if len(self.systems) == 1 else self._of_several(present)

    def largest(self) -> str:
        """The largest of several gaps that are significant among all of them (Benjamini-Hochberg)."""
        every = [
            (rates, place, self.systems[run])
            for place, row in zip(self.places, self.rates, strict=True)
            for run, rates in enumerate(row)
            if rates is not None
        ]
        adjusted = benjamini_hochberg([rates.gap.p_value if rates.gap is not None else None for rates, *_ in every])
        clear = [one for one, p in zip(every, adjusted, strict=True) if p is not None and p < ALPHA]
        if len(self.systems) == 1 or len(self.places) == 1 or len(clear) < 2:
            return ""
        rates, place, system = max(clear, key=lambda one: one[0].size)
        return f"The largest gap is {system}'s in {place}: {rates.numbers}."

    def _of_one(self, run: int) -> str:
        found = {place: rates[run] for place, rates in zip(self.places, self.rates, strict=True)}
        parts = []
        for kind, places in self._by_kind(run).items():
            most = max(places, key=lambda place: _size(found[place]))
            told = found[most]
            assert told is not None
            if len(found) == 1:
                parts.append(f"{kind.one}: in {most} {told.numbers}")
            elif kind is ALIKE and len(places) == len(found):
                parts.append(f"{kind.one} in any of the {_number(len(places))} languages")
            elif len(places) == 1:
                parts.append(f"{kind.one} in {most} ({told.numbers})")
            else:
                parts.append(f"{kind.one} in {self._share(len(places))}, most in {most} ({told.numbers})")
        return _sentence("; ".join(parts))

    def _of_several(self, present: Sequence[int]) -> str:
        by_run = {run: self._by_kind(run) for run in present}
        parts = []
        for kind in KINDS:
            have = {run: len(kinds[kind]) for run, kinds in by_run.items() if kind in kinds}
            in_all = [run for run in have if len(by_run[run]) == 1]
            if len(in_all) == len(self.systems):
                parts.append(f"{_all(len(in_all))} {kind.several}{self._everywhere(kind)}")
            elif kind is ALIKE:
                if in_all:
                    parts.append(f"{listed([self.systems[run] for run in in_all])} {_verb(kind, len(in_all))}")
                if len(in_all) < len(have):
                    parts.append("elsewhere the difference is not significant")
            elif len(in_all) == len(have) > 0:
                parts.append(f"{listed([self.systems[run] for run in in_all])} {_verb(kind, len(in_all))}")
            elif have:
                where = [f"by {self.systems[run]} in {self._named(by_run[run][kind])}" for run in have]
                parts.append(f"{kind.happens} {', '.join(where)}")
        text = "; ".join([*parts, *self._least(present)])
        if len(self.places) == 1:
            return _sentence(f"in {self.places[0]}, {text}")
        # A system is called what it is called.
        return f"{text}." if text.startswith(tuple(self.systems)) else _sentence(text)

    def _by_kind(self, run: int) -> dict[Kind, list[str]]:
        found: dict[Kind, list[str]] = {}
        for place, rates in zip(self.places, self.rates, strict=True):
            if (own := rates[run]) is not None:
                found.setdefault(own.kind, []).append(place)
        return {kind: found[kind] for kind in KINDS if kind in found}

    def _named(self, places: Sequence[str]) -> str:
        """Languages one by one, if they are few."""
        return listed(places) if len(places) <= _MOST_NAMED else self._share(len(places))

    def _share(self, n: int) -> str:
        whole = len(self.places)
        if n == whole:
            return "both languages" if n == 2 else f"all {_number(n)} languages"
        return f"{n} of {whole} languages"

    def _everywhere(self, kind: Kind) -> str:
        n = len(self.places)
        if n == 1:
            return ""
        return f" in any of the {_number(n)} languages" if kind is ALIKE else f" in {self._share(n)}"

    def _least(self, present: Sequence[int]) -> list[str]:
        """Which system has the smallest gap, where it is clearly smaller than that of each other."""
        won: dict[int, int] = {}
        for number, rates in enumerate(self.rates):
            here = {run: own for run in present if (own := rates[run]) is not None}
            if len(here) < 2 or all(own.kind is ALIKE for own in here.values()):
                continue
            best = min(here, key=lambda run: here[run].size)
            found = [self.compared(number, other, best) for other in here if other != best]
            if all(comparison is not None and comparison.change() == "better" for comparison in found):
                won[best] = won.get(best, 0) + 1
        n = len(self.places)
        # Better in one language of four is no reason to call a system the better one.
        winner = next((run for run in won if 2 * won[run] > n), None)
        if winner is None:
            return []
        where = f", in {won[winner]} of {n} languages" if won[winner] < n else ""
        least = "smaller" if len(present) == 2 else "smallest"
        return [f"the gap is clearly {least} for {self.systems[winner]}{where}"]


def verdicts(results: Sequence[Result]) -> dict[str, str]:
    """Of one system, whose p-values should be corrected: a sentence for each benchmark."""
    found: dict[str, list[tuple[str, Rates]]] = {}
    for result in results:
        rates = rates_of(result)
        if rates is not None and can_be_told(result):
            found.setdefault(result.selection.benchmark, []).append((place_name(result), rates))
    return {
        benchmark: Told([place for place, _ in own], [""], [[rates] for _, rates in own], _none).sentence()
        for benchmark, own in found.items()
    }


def place_name(result: Result) -> str:
    """What a verdict calls a direction: by its language that is not English."""
    code = language_of(result)
    return NAMES.get(code, code)


def language_of(result: Result) -> str:
    selection = result.selection
    return selection.source_language if selection.target_language == "en" else selection.target_language


def _none(place: int, first: int, second: int) -> None:
    """One system is compared with nobody."""


def _size(rates: Rates | None) -> float:
    return rates.size if rates is not None else 0.0


def _verb(kind: Kind, n: int) -> str:
    return kind.one if n == 1 else kind.several


def _all(n: int) -> str:
    return "both" if n == 2 else f"all {_number(n)}"


def _number(n: int) -> str:
    return _NUMBERS[n] if n < len(_NUMBERS) else f"{n}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
