"""What a benchmark has to say: findings in words, the tables of its paper, its figures. The vocabulary of it.

Each benchmark's `telling.py` puts these together; reports read them and know no benchmark by name. Sentences are never
surer than their intervals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gendermark import statistics
from gendermark.drawing.charts import percent
from gendermark.drawing.sheet import Figure, Sheet
from gendermark.linguistics.codes import NAMES
from gendermark.markup import minus
from gendermark.metrics import metric
from gendermark.records import Estimate, Gender, Judgement, Unit, Verdict
from gendermark.result import Result

NO_SPREAD = "no spread seen"
"""For an interval without width: all groups of sentences gave the same, which does not make the number certain."""
_BOTH = (Gender.FEMININE, Gender.MASCULINE)
_NOT_TRANSLATED = "were not translated (refused, empty, a copy or another language)"
_FEWEST_LOST = 5
_N_RESAMPLES = 1000
WIDE = 40.0
"""An interval of so many points says little, whatever is in its middle."""


# -- findings ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """One sentence."""

    text: str
    effect: float = 0.0
    """How large a clear effect it tells, in points; 0 where nothing is clear."""
    is_by_gender: bool = False
    """Whether it counts women and men, of whom some may not have been translated."""


def women_and_men(women: Estimate, men: Estimate, difference: Estimate | None, do: str, end: str = "") -> Finding:
    text = f"Of 100 women {share(women)} {do}, of 100 men {share(men)}{end}"
    compared = gap(
        difference,
        ": men more often, by {}.",
        ": women more often, by {}.",
        "; no difference is seen ({})."
        if difference is not None and difference.value == 0
        else "; the difference cannot be told from chance ({}).",
    )
    tail, effect = (compared[0].text, compared[0].effect) if compared else (".", 0.0)
    return Finding(f"{text}{tail}{doubt(women, men)}", effect, is_by_gender=True)


def with_lost(result: Result, found: Sequence[Finding]) -> list[Finding]:
    """Findings behind the one that one gender is translated less often, if so; those by gender say it again."""
    lost = lost_by_gender(result)
    if not lost:
        return list(found)
    shares = []
    for gender in _BOTH:
        own = [judgement.verdict for judgement in result.judgements if judgement.expected is gender]
        shares.append(rounded(100 * own.count(Verdict.NOT_TRANSLATED) / len(own)))
    tail = f" Of 100 each, {shares[0]} women and {shares[1]} men were not translated."
    return [*lost, *(replace(one, text=f"{one.text}{tail}") if one.is_by_gender else one for one in found)]


def lost_by_gender(result: Result) -> list[Finding]:
    """Whether sentences about one gender are left untranslated more often than those about the other, if that is clear.

    A system that refuses to speak of women would else only seem to get their gender wrong.
    """
    groups: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for judgement in result.judgements:
        if judgement.expected in _BOTH:
            place = 2 * _BOTH.index(judgement.expected)
            groups[judgement.group_id][place] += judgement.verdict is Verdict.NOT_TRANSLATED
            groups[judgement.group_id][place + 1] += 1
    counts = np.array(list(groups.values()), dtype=float).reshape(-1, 4)
    lost_f, n_f, lost_m, n_m = counts.sum(axis=0)
    if lost_f + lost_m < _FEWEST_LOST or not n_f or not n_m:
        return []
    sums = statistics.resampled_sums(counts, _N_RESAMPLES, seed=0)
    sums = sums[(sums[:, 1] > 0) & (sums[:, 3] > 0)]
    women, men = 100 * sums[:, 0] / sums[:, 1], 100 * sums[:, 2] / sums[:, 3]

    def estimated(value: float, replicates: metric.Floats) -> Estimate:
        low, high = statistics.percentile_interval(replicates) or (None, None)
        n = int(n_f + n_m)
        return Estimate("lost", "all", value, low, high, len(groups), n, n)

    values = 100 * lost_f / n_f, 100 * lost_m / n_m
    difference = estimated(values[1] - values[0], men - women)
    told = women_and_men(estimated(values[0], women), estimated(values[1], men), difference, _NOT_TRANSLATED)
    return [replace(told, text=f"{told.text} These count as not right.")] if told.effect else []


def gap(found: Estimate | None, above: str, below: str, unclear: str) -> list[Finding]:
    """A difference in points, in the sentence that its interval allows; `{}` is where the numbers go."""
    if found is None or found.value is None or found.low is None or found.high is None:
        return []
    if found.low > 0:
        return [Finding(above.format(f"{found.value:.1f} points{between(found, '.1f')}"), found.value)]
    if found.high < 0:
        turned = replace(found, value=-found.value, low=-found.high, high=-found.low)
        return [Finding(below.format(f"{turned.value:.1f} points{between(turned, '.1f')}"), -found.value)]
    return [Finding(unclear.format(f"{signed(found.low)} to {signed(found.high)} points"))]


def by_gender(women: Estimate | None, men: Estimate | None) -> list[Finding]:
    """How many are right of each gender, where no interval of the difference is known: so none is told."""
    if women is None or men is None or women.value is None or men.value is None:
        return []
    text = f"Of 100 sentences about women {share(women)} are right, of 100 about men {share(men)}."
    if women.low is None or women.high is None or men.low is None or men.high is None:
        return [Finding(text, is_by_gender=True)]
    is_apart = women.high < men.low or men.high < women.low
    return [Finding(text, abs(men.value - women.value) if is_apart else 0.0, is_by_gender=True)]


def against_half(start: str, found: Estimate, more: str, fewer: str, unclear: str) -> Finding:
    if found.low is not None and found.low > 50:
        compared = more
    elif found.high is not None and found.high < 50:
        compared = fewer
    else:
        compared = unclear
    return Finding(f"{start}, {compared}.", from_half(found))


def from_half(found: Estimate) -> float:
    """How far a share is from half, if that is clear."""
    if found.value is None or found.low is None or found.high is None or found.low <= 50 <= found.high:
        return 0.0
    return abs(found.value - 50)


def doubt(*estimates: Estimate) -> str:
    wide = any(e.low is not None and e.high is not None and e.high - e.low > WIDE for e in estimates)
    return " This is too little data to be sure of much." if wide else ""


def as_percent(estimate: Estimate) -> Estimate:
    """A probability as a percentage."""
    value, low, high = (None if x is None else 100 * x for x in (estimate.value, estimate.low, estimate.high))
    return replace(estimate, value=value, low=low, high=high, unit=Unit.PERCENT)


def share(estimate: Estimate) -> str:
    return f"{rounded(estimate.value)}{between(estimate, '')}"


def between(estimate: Estimate, form: str) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    if estimate.low == estimate.high:
        return f" ({NO_SPREAD})"
    shown = [f"{x:{form}}" if form else rounded(x) for x in (estimate.low, estimate.high)]
    return f" ({shown[0]} to {shown[1]})"


def rounded(value: float | None) -> str:
    """Whole numbers, but never "100 of 100" for a little less, nor "50" for what is said to be less than half."""
    if value is None:
        return "?"
    text = percent(value)
    return f"{value:.1f}" if text in ("0", "50", "100") and abs(value - int(text)) >= 0.05 else text


def signed(value: float) -> str:
    """With a true minus sign, and none before nothing."""
    return minus(f"{round(value, 1) + 0.0:.1f}")


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

    def parts(self, most_columns: int) -> list[Form]:
        """The same as several tables, none of them with more columns than this where that can be."""
        n_runs = max(most_columns // len(self.columns), 1)
        if len(self.runs) <= n_runs:
            return [self]
        return [
            replace(
                self,
                name=f"{self.name}-{1 + first // n_runs}",
                runs=self.runs[first : first + n_runs],
                rows=[replace(row, values=self._of_runs(row, first, n_runs)) for row in self.rows],
            )
            for first in range(0, len(self.runs), n_runs)
        ]

    def _of_runs(self, row: Row, first: int, n_runs: int) -> Sequence[Place | None]:
        n = len(self.columns)
        return row.values[first * n : (first + n_runs) * n]


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
class Telling:
    """Everything that a benchmark says about its results."""

    findings: Callable[[Result], list[Finding]] = lambda result: []  # noqa: ARG005
    """Sentences about one result, how often it is right first. Without any, the headline numbers are told."""
    forms: Callable[[Sequence[Cell]], list[Form]] = lambda cells: []  # noqa: ARG005
    """The tables of its paper, filled with what was run."""
    figures: Sequence[Callable[[Sheet], Iterator[Figure]]] = ()
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
