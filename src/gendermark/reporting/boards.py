"""Systems in order: one board for each benchmark, direction and way of measuring.

Every two systems of a board are compared on the same sentences, with Holm's correction over all these comparisons. A
rank is a range: from one place behind the systems that are significantly better to one place before those that are
significantly worse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.metrics import statistics
from gendermark.metrics.describe import Description
from gendermark.metrics.pairing import Pairing
from gendermark.reading.codes import NAMES
from gendermark.records import Estimate
from gendermark.reporting.document import listed
from gendermark.reporting.phrases import rounded
from gendermark.reporting.submission import UNRECORDED, Submission, SystemFacts, key_from, leading_of
from gendermark.runs import folder
from gendermark.runs.compare import (
    ALPHA,
    RESAMPLING,
    Comparison,
    check_comparable,
    compare_metric,
    condition_labels,
    key_of,
)
from gendermark.runs.executors import SERIAL, Executor

Pair = tuple[int, int]


@dataclass(frozen=True)
class Standing:
    """A system on a board: the ranks that it may have; 0 where there is no number to rank it by."""

    submission: Submission
    first: int
    last: int

    @property
    def rank(self) -> str:
        if not self.first:
            return "–"
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"

    def estimate(self, key: tuple[str, str]) -> Estimate | None:
        return self.submission.result.find(*key)


@dataclass(frozen=True)
class Board:
    """All systems that were measured alike, the best first."""

    label: str
    """What sets it apart from other boards of its benchmark and direction."""
    standings: tuple[Standing, ...]
    pairs: Mapping[Pair, Comparison]
    """Of places in the order of the standings, the earlier first; p-values corrected over all of them."""

    @property
    def any(self) -> Submission:
        return self.standings[0].submission

    @property
    def benchmark(self) -> Benchmark:
        return _benchmark(self.any)

    @property
    def metric(self) -> tuple[str, str]:
        """The metric that orders the board."""
        return key_from(leading_of(self.benchmark))

    @property
    def about(self) -> Description:
        return self.benchmark.describe(self.metric[0])


def boards(submissions: Sequence[Submission], executor: Executor = SERIAL) -> list[Board]:
    """In the order of the benchmarks with most submissions, then of languages."""
    labels = condition_labels([one.result for one in submissions])
    groups: dict[tuple[str, ...], list[Submission]] = {}
    for one in submissions:
        groups.setdefault(key_of(one.result), []).append(one)
    ordered = {key: _in_order(found) for key, found in groups.items()}
    compared = executor.in_order(compare_all, [[one.cell for one in found] for found in ordered.values()])
    made = [
        Board(labels[key], _ranked(found, pairs), pairs)
        for (key, found), pairs in zip(ordered.items(), compared, strict=True)
    ]
    n_of: dict[str, int] = {}
    for board in made:
        n_of[board.benchmark.name] = n_of.get(board.benchmark.name, 0) + len(board.standings)
    return sorted(
        made,
        key=lambda b: (-n_of[b.benchmark.name], b.benchmark.name, -len(b.standings), b.any.result.cell, b.label),
    )


def compare_all(cells: Sequence[Path]) -> dict[Pair, Comparison]:
    """Every two of some results that were measured alike, by the metric that their board is ordered by."""
    if len(cells) < 2:
        return {}
    results = [folder.read_cell(cell) for cell in cells]
    for other in results[1:]:
        check_comparable(results[0], other)
    benchmark: Benchmark = registry.load("benchmark", results[0].selection.benchmark)
    wanted = key_from(leading_of(benchmark))
    counted = []
    for result in results:
        metric = next(
            (m for m in benchmark.measures.metrics(result.judgements, result.selection) if m.key == wanted), None
        )
        if metric is None:
            return {}
        counted.append((metric, benchmark.measures.count(result.judgements, result.selection, [metric])))
    found = {
        (i, j): compare_metric(
            results[i].cell, counted[i][0], Pairing(counted[i][1], counted[j][1], RESAMPLING), RESAMPLING
        )
        for i, j in combinations(range(len(results)), 2)
    }
    adjusted = statistics.holm([c.p_value for c in found.values()])
    return {pair: replace(c, p_adjusted=p, spread=None) for (pair, c), p in zip(found.items(), adjusted, strict=True)}


def _in_order(found: Sequence[Submission]) -> list[Submission]:
    benchmark = _benchmark(found[0])
    metric = key_from(leading_of(benchmark))
    better = benchmark.describe(metric[0]).better

    def place(one: Submission) -> tuple[bool, float, str]:
        estimate = one.result.find(*metric)
        value = estimate.value if estimate is not None and estimate.value is not None else 0.0
        badness = {"higher": -value, "lower": value, "zero": abs(value)}.get(better, 0.0)
        return estimate is None, badness, one.system.full_label

    return sorted(found, key=place)


def _ranked(found: Sequence[Submission], pairs: Mapping[Pair, Comparison]) -> tuple[Standing, ...]:
    """Those without a number stand behind all others, and have no rank."""
    n_better, n_worse = [0] * len(found), [0] * len(found)
    has_value = [one.result.find(*key_from(leading_of(_benchmark(one)))) is not None for one in found]
    n = sum(has_value)
    for (i, j), comparison in pairs.items():
        change = comparison.change()
        better, worse = {"better": (j, i), "worse": (i, j)}.get(change, (None, None))
        if better is not None and worse is not None:
            n_better[worse] += 1
            n_worse[better] += 1
    return tuple(
        Standing(one, 1 + n_better[at], n - n_worse[at]) if has_value[at] else Standing(one, 0, 0)
        for at, one in enumerate(found)
    )


def _benchmark(submission: Submission) -> Benchmark:
    found: Benchmark = registry.load("benchmark", submission.result.selection.benchmark)
    return found


# -- in words ----------------------------------------------------------------------------------------------------------


def language_of(board: Board) -> str:
    target = board.any.result.selection.target_language
    return NAMES.get(target, target)


def direction_of(board: Board) -> str:
    """In words, with what sets the board apart."""
    selection = board.any.result.selection
    source = NAMES.get(selection.source_language, selection.source_language)
    return f"{source} → {language_of(board)}" + (f" ({board.label})" if board.label else "")


def labels(systems: Sequence[SystemFacts]) -> dict[SystemFacts, str]:
    """As short as they can be; with dates where one system stands there twice."""
    distinct = list(dict.fromkeys(systems))
    short = [system.label for system in distinct]
    return {
        system: system.label if short.count(system.label) == 1 else f"{system.label} {system.shown_date}"
        for system in distinct
    }


@dataclass(frozen=True)
class _Case:
    """Women and men of one system in one language."""

    board: Board
    standing: Standing
    women: Estimate
    men: Estimate
    gap: Estimate

    @property
    def name(self) -> str:
        return f"{self.standing.submission.system.full_label}, {language_of(self.board)}"


def _cases(found: Sequence[Board]) -> list[_Case]:
    """All results of one benchmark that have the three numbers."""
    sides = found[0].benchmark.presentation.sides
    if sides is None:
        return []
    cases = []
    for board in found:
        for standing in board.standings:
            women, men, gap = (standing.estimate(key_from(name)) for name in (sides.women, sides.men, sides.gap))
            if women is not None and men is not None and gap is not None:
                cases.append(_Case(board, standing, women, men, gap))
    return cases


def headline(found: Sequence[Board]) -> tuple[str, list[str]]:
    """The finding of the benchmark with most submissions: a title, and the sentences it rests on."""
    if not found:
        return "Leaderboard", []
    first = [board for board in found if board.benchmark.name == found[0].benchmark.name]
    sides, cases = first[0].benchmark.presentation.sides, _cases(first)
    if not sides or not cases:
        n_systems = len({standing.submission.system for board in first for standing in board.standings})
        title = f"{first[0].benchmark.title}: {_counted(n_systems, 'system')} compared"
        return title, [f"{direction_of(board)}: {sentence}" for board in first if (sentence := leaders(board))]
    p_values = statistics.benjamini_hochberg([case.gap.p_value for case in cases])
    gaps = [
        case.gap.value or 0.0
        for case, p in zip(cases, p_values, strict=True)
        if p is not None and p < ALPHA  # of this many results
    ]
    n_men, n_women = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
    n_systems = len({case.standing.submission.system for case in cases})
    languages = Counter(language_of(case.board) for case in cases)
    return (
        _title(n_men, n_women, len(cases)),
        [
            f"{first[0].benchmark.title}: {_counted(n_systems, 'system')}, {_covered(languages)}, {len(cases):,} "
            f"results. In {n_men:,} of them men {sides.what} significantly more often than women, in "
            f"{n_women or 'none'} women more often than men; in {len(cases) - n_men - n_women or 'none'} the "
            f"difference is not significant. {_recorded(first)}",
            f"{_range(cases, sides.what)} Significant: p < 0.05 after Benjamini-Hochberg over these results.",
        ],
    )


def _title(n_men: int, n_women: int, n_cases: int) -> str:
    """The side that most results are on, with the counts of both; no side where none is significant."""
    if max(n_men, n_women) * 2 <= n_cases or n_men == n_women:
        return f"Women and men in translation: significant differences in {n_men + n_women:,} of {n_cases:,} results"
    who = ("women", "men") if n_men > n_women else ("men", "women")
    reverse = min(n_men, n_women)
    return (
        f"Translation systems keep {who[0]}'s gender less often than {who[1]}'s: significantly in "
        f"{max(n_men, n_women):,} of {n_cases:,} results, the reverse in {f'{reverse:,}' if reverse else 'none'}"
    )


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _range(cases: Sequence[_Case], what: str) -> str:
    ends = [f(cases, key=lambda case: case.women.value or 0.0) for f in (min, max)]
    women = [f"{rounded(case.women.value)}% ({case.name})" for case in ends]
    men = [rounded(f(case.men.value or 0.0 for case in cases)) for f in (min, max)]
    return f"Between {women[0]} and {women[1]} of women {what}; of men, between {men[0]}% and {men[1]}%."


def _covered(languages: Counter[str]) -> str:
    """How many systems there are into each language: "16 into Spanish, 1 each into German and Arabic"."""
    parts = []
    for n in sorted(set(languages.values()), reverse=True):
        names = [name for name, own in languages.items() if own == n]
        each = " each" if n == 1 and len(names) > 1 else ""
        parts.append(f"{n:,}{each} into {listed(names)}")
    return ", ".join(parts)


def _recorded(found: Sequence[Board]) -> str:
    """Dates of the systems, and whether their versions are recorded."""
    systems = list(dict.fromkeys(standing.submission.system for board in found for standing in board.standings))
    dates = sorted({system.shown_date for system in systems if system.date != UNRECORDED})
    n_unknown = sum(system.version == UNRECORDED for system in systems)
    said = [f"outputs of {listed(dates)}"] if dates else []
    if n_unknown:
        who = "no system" if n_unknown == len(systems) else f"{len(systems) - n_unknown:,} of {len(systems):,} systems"
        said.append(f"version recorded for {who}")
    text = "; ".join(said)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def not_significant(found: Sequence[Board]) -> frozenset[Path]:
    """Cells of one benchmark whose gender gap is not significant by its own verdict."""
    return frozenset(
        case.standing.submission.cell
        for case in _cases(found)
        if not any(
            (v.metric, v.slice, v.state) == (case.gap.metric, case.gap.slice, "significant")
            for v in case.standing.submission.result.verdicts
        )
    )


def leaders(board: Board) -> str:
    """Which systems may be first."""
    if len(board.standings) < 2 or not board.pairs or board.about.better == "neither":
        return ""
    names = labels([standing.submission.system for standing in board.standings])
    ranked = [standing for standing in board.standings if standing.first]
    first = [names[standing.submission.system] for standing in ranked if standing.first == 1]
    if len(first) == len(ranked):
        return "No system is significantly better than any other."
    if len(first) == 1:
        return f"{first[0]} is significantly better than every other system."
    return f"No system is significantly better than {listed(first, 'or')}."


def trends(board: Board) -> list[str]:
    """Systems that stand on a board with several dates: from each to the next."""
    found = []
    for places in dated(board):
        for earlier, later in pairwise(places):
            pair = (min(earlier, later), max(earlier, later))
            comparison = board.pairs.get(pair)
            if comparison is None or comparison.first is None or comparison.second is None:
                continue
            turned = pair != (earlier, later)
            change = comparison.change()
            if turned:
                change = {"better": "worse", "worse": "better"}.get(change, change)
            before, after = (board.standings[place] for place in (earlier, later))
            values = [s.estimate(board.metric) for s in (before, after)]
            told = comparison.in_words() if change == "unclear" else f"{change}, significant"
            unit = board.about.unit
            numbers = [unit.show(e.value if e else None) for e in values]
            dates = [s.submission.system.shown_date for s in (before, after)]
            found.append(
                f"{before.submission.system.name}, {language_of(board)}, {board.about.label}: {numbers[0]} in "
                f"{dates[0]}, {numbers[1]} in {dates[1]}: {told}."
            )
    return found


def dated(board: Board) -> list[list[int]]:
    """The places of systems of one name with different dates, in the order of these."""
    by_name: dict[str, list[int]] = {}
    for place, standing in enumerate(board.standings):
        if standing.submission.system.date != UNRECORDED:
            by_name.setdefault(standing.submission.system.name, []).append(place)
    found = []
    for places in by_name.values():
        places.sort(key=lambda place: board.standings[place].submission.system.date)
        if len({board.standings[place].submission.system.date for place in places}) > 1:
            found.append(places)
    return found
