"""What a benchmark has to say: findings in words, the tables of its paper, its figures. The vocabulary of it.

Each benchmark's `findings.py` puts these together; reports read them and know no benchmark by name. Sentences are never
surer than their intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from gendermark.metrics.untranslated import untranslated_by_gender
from gendermark.metrics.verdicts import State
from gendermark.reading.codes import NAMES
from gendermark.records import Estimate, Gender, Judgement, Unit
from gendermark.reporting import charts
from gendermark.reporting.charts import Canvas, DotPanel, DotRow, Figure, Sheet, StackedRow, figure, percent, span
from gendermark.result import Result

NO_SPREAD = "no spread seen"
"""For an interval without width: all groups of sentences gave the same, which does not make the number certain."""
TOO_FEW = "too few to compare"
_BOTH = (Gender.FEMININE, Gender.MASCULINE)
_NOT_TRANSLATED = "were not translated (refused, empty, a copy or another language)"

Shown = Callable[[Judgement], bool]
"""Whether a translation is of the kind that a finding speaks of."""


def became(expected: Gender, observed: Gender) -> Shown:
    """People of one gender who were given this one."""
    return lambda judgement: judgement.expected is expected and judgement.observed is observed


# -- findings ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """One sentence."""

    text: str
    effect: float = 0.0
    """The size of a significant effect, in points, at the end of its interval nearest to none; else 0."""
    is_by_gender: bool = False
    """Whether it counts women and men, of whom some may not have been translated."""
    about: str = ""
    """What it is about, in a word: by it the same finding is found again for another system."""
    shows: Sequence[Shown] = ()
    """What sentences to show beside it, one of each kind."""


def women_and_men(women: Estimate, men: Estimate, difference: Estimate | None, do: str, end: str = "") -> Finding:
    """How both fare, and the gap between them: `do` is what they do, `end` what men do where that differs."""
    if difference is not None and difference.state == State.TOO_FEW:
        text = f"{_counted(women, 'women')}{f' {do}' if end else ''} and {_counted(men, 'men')}{end or f' {do}'}"
        return Finding(f"{text}: {TOO_FEW}.", is_by_gender=True, about="women and men")
    text = f"{share(women, 'of women')}{f' {do}' if end else ''} and {share(men, 'of men')}{end or f' {do}'}"
    if difference is None or difference.value is None:
        return Finding(f"{text}.", is_by_gender=True, about="women and men")
    favoured = "men" if difference.value > 0 else "women"
    favour = f" in favour of {favoured}" if difference.state == State.SIGNIFICANT else ""
    worse, other = _BOTH if difference.value >= 0 else _BOTH[::-1]
    return Finding(
        f"{text}: gender gap {points(difference, turned=True)}{favour}{state(difference)}.",
        abs(leaning(difference)),
        is_by_gender=True,
        about="women and men",
        shows=(became(worse, other), became(other, other)),
    )


def _counted(found: Estimate, who: str) -> str:
    return f"{round((found.value or 0) * found.n_total / 100):,} of {found.n_total:,} {who}"


def with_lost(result: Result, found: Sequence[Finding]) -> list[Finding]:
    """Findings behind the one that one gender is translated less often, if so; those by gender say it again."""
    lost = lost_by_gender(result)
    if not lost:
        return list(found)
    known = untranslated_by_gender(result.judgements)
    shares = [rounded(one.value or 0.0) for one in (known.women, known.men)] if known else []
    tail = f" {shares[0]}% of women and {shares[1]}% of men were not translated."
    return [*lost, *(replace(one, text=f"{one.text}{tail}") if one.is_by_gender else one for one in found)]


def lost_by_gender(result: Result) -> list[Finding]:
    """Say that one gender is left untranslated significantly more often than the other, if so."""
    found = untranslated_by_gender(result.judgements)
    if found is None or not found.is_clear:
        return []
    lost = women_and_men(found.women, found.men, replace(found.gap, state=State.SIGNIFICANT), _NOT_TRANSLATED)
    text = f"{lost.text.replace('in favour of men', 'more men').replace('in favour of women', 'more women')}"
    return [replace(lost, text=f"{text} These count as wrong.", about="not translated", shows=())]


def leaning(found: Estimate, even: float = 0.0) -> float:
    """How far a number is from the value without bias, at the nearer end of its interval; 0 if not significant."""
    if found.state != State.SIGNIFICANT or found.low is None or found.high is None:
        return 0.0
    if found.low <= even <= found.high:
        return 0.0
    return found.low - even if found.low > even else found.high - even


def state(found: Estimate, even: float = 0.0) -> str:
    """What is concluded about a number, in the fixed phrases; empty where it is no question of its benchmark."""
    if not found.state:
        return ""
    if found.state == State.TOO_FEW:
        return f", {TOO_FEW}"
    if found.state == State.SIGNIFICANT:
        return ", significant"
    is_outside = found.low is not None and found.high is not None and not found.low <= even <= found.high
    return ", not significant after correction" if is_outside else ", not significant"


def gap(
    found: Estimate | None, what: str, above: str = "", below: str = "", *, unit: str = "", shows: Sequence[Shown] = ()
) -> list[Finding]:
    """A difference in points, its interval and what is concluded; `above` and `below` say which side is higher.

    `shows` are the sentences of a difference above 0.
    """
    if found is None or found.value is None or found.low is None or found.high is None:
        return []
    side = (above if found.value > 0 else below) if found.state == State.SIGNIFICANT else ""
    text = f"{what}: {points(found, unit=unit)}{state(found)}{f'; {side}' if side else ''}."
    return [Finding(text, abs(leaning(found)), about=found.metric, shows=shows if leaning(found) > 0 else ())]


def by_gender(women: Estimate | None, men: Estimate | None) -> list[Finding]:
    """How many are right of each gender, where no interval of the difference is known."""
    if women is None or men is None or women.value is None or men.value is None:
        return []
    text = f"{share(women, 'of sentences about women')} and {share(men, 'of those about men')} are right."
    return [Finding(text, is_by_gender=True, about="women and men")]


def against_half(start: str, found: Estimate, end: str = "") -> Finding:
    """A share beside one half, with what is concluded where that is a question of its benchmark."""
    name = f"{found.metric}:{found.slice}"
    concluded = f" (difference from 50%: {state(found, 50.0).removeprefix(', ')})" if found.state else ""
    return Finding(f"{start}{concluded}{end}.", abs(leaning(found, 50.0)), about=name)


def as_percent(estimate: Estimate) -> Estimate:
    """A probability as a percentage."""
    value, low, high = (None if x is None else 100 * x for x in (estimate.value, estimate.low, estimate.high))
    return replace(estimate, value=value, low=low, high=high, unit=Unit.PERCENT)


def share(estimate: Estimate, of: str = "") -> str:
    """`13% of women (CI 7–22)`"""
    return f"{rounded(estimate.value)}%{f' {of}' if of else ''}{ci(estimate, '')}"


def ci(estimate: Estimate, form: str = ".1f") -> str:
    """` (CI 7–22)`; empty where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    ends = [f"{x + 0.0:{form}}" if form else rounded(x) for x in (estimate.low, estimate.high)]
    return f" (CI {between(ends[0], ends[1])})"


def between(low: str, high: str) -> str:
    """A range: with a dash, or with "to" where an end is negative."""
    return f"{low} to {high}" if low.startswith("-") or high.startswith("-") else f"{low}–{high}"


def points(found: Estimate, *, turned: bool = False, unit: str = "") -> str:
    """`14.0 points (CI 0.8–26.5)`; `turned` gives the size of a negative difference."""
    assert found.value is not None
    if turned and found.value < 0 and found.low is not None and found.high is not None:
        found = replace(found, value=-found.value, low=-found.high, high=-found.low)
    return f"{(found.value or 0.0) + 0.0:.1f}{f' {unit}' if unit else ''} points{ci(found)}"


def rounded(value: float | None) -> str:
    """Whole numbers, but never "100 of 100" for a little less, nor "50" for what is said to be less than half."""
    if value is None:
        return "?"
    text = percent(value)
    return f"{value:.1f}" if text in ("0", "50", "100") and abs(value - int(text)) >= 0.05 else text


def listed(names: Sequence[str], word: str = "and") -> str:
    """ "Spanish, French and Italian"."""
    return f"{', '.join(names[:-1])} {word} {names[-1]}" if len(names) > 1 else "".join(names)


def direction(source: str, target: str) -> str:
    return f"{NAMES.get(source, source)} → {NAMES.get(target, target)}"


# -- tables of papers --------------------------------------------------------------------------------------------------

Cell = Sequence[Result | None]
"""One benchmark and direction: its result for every run, or none."""


class Place(NamedTuple):
    """A number of a table: of which cell and which run, and which one."""

    cell: int
    run: int
    metric: str
    slice: str = "all"
    with_interval: bool = True


@dataclass(frozen=True)
class Row:
    """Headed by a run, by a text, or by both."""

    values: Sequence[Place | None]
    run: int | None = None
    text: str = ""


@dataclass(frozen=True)
class Form:
    """A table; with `runs`, it has all its columns once for each of them."""

    name: str
    """Of a label in LaTeX: benchmark and number of the paper's table."""
    caption: str
    columns: Sequence[str]
    rows: Sequence[Row]
    runs: Sequence[int] = ()
    corner: str = ""


def direction_of(cell: Cell) -> str:
    selection = next(result for result in cell if result is not None).selection
    return direction(selection.source_language, selection.target_language)


def runs_of(cells: Sequence[Cell]) -> list[int]:
    """Those that have any of the cells."""
    return [run for run in range(len(cells[0])) if any(cell[run] is not None for cell in cells)]


def rows_by_direction(cells: Sequence[Cell], metrics: Sequence[str]) -> list[Row]:
    """A row per direction, with these metrics for each run."""
    return [
        Row([Place(number, run, metric) for run in runs_of(cells) for metric in metrics], text=direction_of(cell))
        for number, cell in enumerate(cells)
    ]


def rows_by_run(cells: Sequence[Cell], columns: Sequence[tuple[str, str]]) -> list[Row]:
    """A row per direction and run; headed by that of the two of which there are several."""
    where = len(cells) > 1
    who = len(cells[0]) > 1 or not where
    return [
        Row(
            [Place(number, run, *column) for column in columns],
            run if who else None,
            direction_of(cell) if where else "",
        )
        for number, cell in enumerate(cells)
        for run, result in enumerate(cell)
        if result is not None
    ]


# -- figures -----------------------------------------------------------------------------------------------------------

Legend = Sequence[tuple[str, charts.Look | str]]
Adjust = Callable[[list[float]], list[float]]


def stacked_figure(
    sheet: Sheet,
    cell: str,
    what: str,
    title: str,
    caption: str,
    parts: Sequence[tuple[str, Sequence[StackedRow]]],
    fills: Mapping[str, str],
    note: str = "",
) -> Figure:
    """Bars that are cut into shares, in parts with a title each; `fills` has the name and the fill of each share."""

    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, list(fills.items()), 0)
        charts.stacked(canvas, parts, tuple(fills.values()), top, note)

    return figure(sheet.name_of(cell, what), title, caption, cell, draw)


def stacked_row(label: str, shares: Sequence[Estimate | None], adjust: Adjust | None = None) -> StackedRow | None:
    """A bar with the interval of its first share; None where one is unknown. `adjust` makes shares of the values."""
    values = [one.value for one in shares if one is not None and one.value is not None]
    if len(values) < len(shares) or shares[0] is None:
        return None
    low, high = shares[0].low, shares[0].high
    return StackedRow(label, adjust(values) if adjust else values, None if low is None or high is None else (low, high))


def dot_figure(
    sheet: Sheet,
    what: str,
    title: str,
    caption: str,
    panels: Sequence[DotPanel],
    rows: Sequence[DotRow],
    legend: Legend = (),
    *,
    cell: str = "",
    label: str = "",
) -> Figure:
    """Dots with intervals; of one direction, one system, or all that the sheet has."""

    def draw(canvas: Canvas) -> None:
        charts.dots(canvas, panels, rows, charts.legend(canvas, legend, 0))

    name = sheet.name_of(cell or sheet.benchmark, what, label)
    return figure(name, title, caption, cell or sheet.benchmark, draw)


def rows_by_system(sheet: Sheet, rows_of: Callable[[str, Result], Iterable[DotRow]]) -> list[DotRow]:
    """The rows of each direction, below the name of their system where there are several."""
    rows: list[DotRow] = []
    for label in sheet.labels:
        own = [row for cell, found in sheet.cells.items() if label in found for row in rows_of(cell, found[label])]
        rows += [*([DotRow(label)] if own and sheet.title_of(label) else []), *own]
    return rows


def marks(result: Result, looks: Mapping[tuple[str, str], charts.Look]) -> list[tuple[charts.Span, charts.Look]]:
    """Those of some estimates that a result has, given as metric and slice, with how each is drawn."""
    return [(found, look) for (metric, part), look in looks.items() if (found := span(result, metric, part))]


# -- all of it ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Examples:
    """A few sentences, with numbers of their own for every system."""

    caption: str
    items: Sequence[str]
    """Their ids."""
    columns: Mapping[str, str]
    """Head of a column -> name of a measure of a judgement."""


@dataclass(frozen=True)
class Highlight:
    """The first rows of a detailed table, shown open and with their sentences."""

    table: str
    caption: str
    is_shown: Callable[[Sequence[Any]], bool]


@dataclass(frozen=True)
class TwoRates:
    """How women and men fare, in one number each: what a verdict says first and its picture draws. `metric:slice`."""

    men: str
    women: str = ""
    """Without it, women are all who do not become men."""
    gap: str = field(kw_only=True)
    """Above 0 where men fare better, or become more: a headline metric, so that systems are compared by it."""
    source_tells: bool = True
    """Whether the source tells the gender, which can be kept; or leaves it open, so that people become men or women."""

    @property
    def what(self) -> str:
        """What those do whom the two count."""
        return "keep their gender" if self.source_tells else "come out so"


@dataclass(frozen=True)
class Presentation:
    """Everything that a benchmark says about its results."""

    findings: Callable[[Result], list[Finding]] = lambda result: []  # noqa: ARG005
    """Sentences about one result, how often it is right first. Without any, the headline numbers are told."""
    forms: Callable[[Sequence[Cell]], list[Form]] = lambda cells: []  # noqa: ARG005
    """The tables of its paper, filled with what was run."""
    figures: Sequence[Callable[[Sheet], Iterator[Figure]]] = ()
    two_rates: TwoRates | None = None
    leading: str = ""
    """The metric by which one sentence compares two systems, if not the first headline metric: `metric:slice`."""
    also_shown: Sequence[str] = ()
    """Beside the headline metrics: the numbers that its findings speak of, `metric:slice`."""
    beside_published: Sequence[str] = ()
    """Metrics that are drawn beside what papers printed, `metric:slice`."""
    published: str = ""
    """What papers printed: a TOML file, `package/file`."""
    examples: Callable[[Sequence[Judgement]], Examples | None] = lambda judgements: None  # noqa: ARG005
    highlight: Highlight | None = None
    hidden_tags: frozenset[str] = field(default_factory=frozenset)
    """Tags that are of use to the program only."""
    context_tag: str = ""
    """The tag that has the sentence before."""
    may_leave_open: bool = False
    """Whether a translation that shows no gender is as good as any: the source says nothing of it."""
    shares_one_scale: bool = True
    """Whether its headline numbers are drawn on one scale."""

    @property
    def sides(self) -> TwoRates | None:
        """Women and men apart, where the source tells who is who."""
        return self.two_rates if self.two_rates is not None and self.two_rates.source_tells else None
