"""What a leaderboard shows, in sentences that are never surer than their intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from gendermark.benchmarks.findings import TwoRates, listed, rounded
from gendermark.leaderboard.boards import Board, Standing
from gendermark.leaderboard.submission import UNRECORDED, SystemFacts, key_from
from gendermark.linguistics.codes import NAMES
from gendermark.metrics import statistics
from gendermark.records import Estimate
from gendermark.runs.compare import ALPHA


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
    """One system in one language."""

    board: Board
    standing: Standing
    women: Estimate
    men: Estimate
    gap: Estimate

    @property
    def name(self) -> str:
        return f"{self.standing.submission.system.full_label}, {language_of(self.board)}"


@dataclass(frozen=True)
class Headline:
    """The finding: a title, and what it rests on."""

    title: str
    sentences: tuple[str, ...] = ()


def headline(found: Sequence[Board]) -> Headline:
    """Of the benchmark with most submissions."""
    if not found:
        return Headline("Leaderboard")
    first = [board for board in found if board.benchmark.name == found[0].benchmark.name]
    sides = first[0].benchmark.presentation.sides
    cases = _cases(first, sides) if sides else []
    if not sides or not cases:
        return _leaders(first)
    clear = _are_clear(cases)
    n_men = sum(is_clear and (case.gap.value or 0) > 0 for is_clear, case in zip(clear, cases, strict=True))
    n_women = sum(is_clear and (case.gap.value or 0) < 0 for is_clear, case in zip(clear, cases, strict=True))
    n_systems = len({case.standing.submission.system for case in cases})
    languages = Counter(language_of(case.board) for case in cases)
    return Headline(
        _title(n_men, n_women, len(cases)),
        (
            f"{first[0].benchmark.title}: {_counted(n_systems, 'system')}, {_covered(languages)}, {len(cases):,} "
            f"results in all. In {n_men:,} of them men {sides.what} clearly more often than women, in "
            f"{n_women or 'none'} women more often than men; in {len(cases) - n_men - n_women or 'none'} the "
            f"difference could be chance. {_recorded(first)}",
            f"{_range(cases, sides.what)} Clear is what has p below 0.05 after Holm's correction over all results.",
        ),
    )


def _title(n_men: int, n_women: int, n_cases: int) -> str:
    """The side that most results are on, with how many are on either; no side where none is clear."""
    if max(n_men, n_women) * 2 <= n_cases or n_men == n_women:
        return f"Women and men in translation: clear differences in {n_men + n_women:,} of {n_cases:,} results"
    who = ("women", "men") if n_men > n_women else ("men", "women")
    reverse = min(n_men, n_women)
    return (
        f"Translation systems keep {who[0]}'s gender less often than {who[1]}'s: clearly in {max(n_men, n_women):,} of "
        f"{n_cases:,} results, the reverse in {f'{reverse:,}' if reverse else 'none'}"
    )


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _range(cases: Sequence[_Case], what: str) -> str:
    def value(estimate: Estimate) -> float:
        return estimate.value or 0.0

    ends = [f(cases, key=lambda case: value(case.women)) for f in (min, max)]
    told = [f"{rounded(value(case.women))} ({case.name})" for case in ends]
    men = [rounded(f(value(case.men) for case in cases)) for f in (min, max)]
    return (
        f"Of 100 women, {told[0]} to {told[1]} {what}. Of 100 men it is {men[0]} in the worst and {men[1]} in the best "
        "case."
    )


def _covered(languages: Counter[str]) -> str:
    """How many systems there are into each language: "16 into Spanish, 1 each into German and Arabic"."""
    parts = []
    for n in sorted(set(languages.values()), reverse=True):
        names = [name for name, own in languages.items() if own == n]
        each = " each" if n == 1 and len(names) > 1 else ""
        parts.append(f"{n:,}{each} into {listed(names)}")
    return ", ".join(parts)


def _recorded(found: Sequence[Board]) -> str:
    """How much is known of the systems: dates, and whether versions are recorded."""
    systems = list(dict.fromkeys(standing.submission.system for board in found for standing in board.standings))
    dates = listed(sorted({system.shown_date for system in systems}))
    n_unknown = sum(system.version == UNRECORDED for system in systems)
    if not n_unknown:
        return f"Outputs of {dates}."
    if n_unknown == len(systems):
        return f"Outputs of {dates}; no system's version is recorded."
    return f"Outputs of {dates}; of {n_unknown:,} systems the version is not recorded."


def _cases(found: Sequence[Board], sides: TwoRates) -> list[_Case]:
    """All that have the three numbers."""
    cases = []
    for board in found:
        for standing in board.standings:
            women, men, gap = (standing.estimate(key_from(name)) for name in (sides.women, sides.men, sides.gap))
            if women is not None and men is not None and gap is not None:
                cases.append(_Case(board, standing, women, men, gap))
    return cases


def _are_clear(cases: Sequence[_Case]) -> list[bool]:
    return [p is not None and p < ALPHA for p in statistics.holm([case.gap.p_value for case in cases])]


def unclear_gaps(found: Sequence[Board]) -> frozenset[Path]:
    """Folders of submissions of one benchmark whose gap could be chance, corrected as the headline is."""
    sides = found[0].benchmark.presentation.sides if found else None
    cases = _cases(found, sides) if sides else []
    clear = _are_clear(cases)
    return frozenset(case.standing.submission.cell for case, is_clear in zip(cases, clear, strict=True) if not is_clear)


def _leaders(found: Sequence[Board]) -> Headline:
    n_systems = len({standing.submission.system for board in found for standing in board.standings})
    title = f"{found[0].benchmark.title}: {_counted(n_systems, 'system')} compared"
    told = tuple(f"{direction_of(board)}: {sentence}" for board in found if (sentence := leaders(board)))
    return Headline(title, told)


def leaders(board: Board) -> str:
    """Who is first, and who cannot be told from it."""
    if len(board.standings) < 2 or not board.pairs or board.about.better == "neither":
        return ""
    names = labels([standing.submission.system for standing in board.standings])
    ranked = [standing for standing in board.standings if standing.first]
    first = [names[standing.submission.system] for standing in ranked if standing.first == 1]
    if len(first) == len(ranked):
        return "No system is clearly better than any other."
    if len(first) == 1:
        return f"{first[0]} is first, clearly."
    return f"No system is clearly better than {listed(first, 'or')}."


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
            told = "no clear change" if change == "unclear" else f"{change}, by more than chance explains"
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
