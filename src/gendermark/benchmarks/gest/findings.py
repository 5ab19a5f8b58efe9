"""Findings and figures of GEST."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gendermark.benchmarks.findings import (
    Presentation,
    TwoRates,
    dot_figure,
    marks,
    paper_tables,
    rows_by_system,
    slice_tables,
)
from gendermark.benchmarks.gest import MEN, STEREOTYPES, WOMEN
from gendermark.benchmarks.gest.measures import SLICES
from gendermark.reporting import charts
from gendermark.reporting.document import Finding
from gendermark.reporting.phrases import against_half, difference
from gendermark.result import Result

_CLOSE_TO_THE_END = 3
"""Report ranks up to this distance from either end."""
_ONE_SIDED = 0.9
"""From this masculine rate on, or its opposite, the stereotype rate is so limited that the report says so."""


def findings(result: Result) -> list[Finding]:
    shown = "{coverage|of translations} show the speaker's gender; {masculine_share|of these} are masculine{state}."
    return [
        *against_half(result, shown, "masculine_share", asked="f_m"),
        *difference(
            result,
            "f_s",
            "Stereotype effect",
            "sentences with stereotypes about men are masculine more often than those about women",
            "sentences with stereotypes about men are masculine less often than those about women",
        ),
        *_capped(result),
        *_extremes(result),
    ]


def _capped(result: Result) -> list[Finding]:
    """A system that hardly ever chooses one gender cannot follow a stereotype, whatever it has learnt."""
    f_m = result.find("f_m")
    if f_m is None or f_m.value is None or abs(f_m.value - 0.5) < _ONE_SIDED - 0.5 or f_m.value in (0, 1):
        return []
    most = 200 * min(f_m.value, 1 - f_m.value)
    rare = "women" if f_m.value > 0.5 else "men"
    return [Finding(f"With so few {rare} among the speakers, the stereotype effect cannot exceed {most:.0f} points.")]


def _extremes(result: Result) -> list[Finding]:
    """The stereotypes at both ends, if their ranks are clear."""
    ranks = [(name, rank) for name in STEREOTYPES if (rank := result.find("rank", name))]
    n = len(STEREOTYPES)
    found = []
    for who, low, high in (("a woman", 1, _CLOSE_TO_THE_END), ("a man", n + 1 - _CLOSE_TO_THE_END, n)):
        names = [
            f"“{SLICES[name]}”"
            for name, rank in ranks
            if rank.low is not None and rank.high is not None and low <= rank.low and rank.high <= high
        ]
        if names:
            end = f"Among the three stereotypes whose speaker is most often translated as {who}"
            found.append(Finding(f"{end}: {' and '.join(names)}."))
    return found


_BOTH = charts.Look("square", charts.GREEN, filled=False)


def stereotypes(sheet: charts.Sheet) -> Iterator[charts.Figure]:
    for cell, results in sheet.cells.items():
        women, men = ([_stereotype_row(name, results) for name in names] for names in (WOMEN, MEN))
        if not any(dots for row in (*women, *men) for dots in row.dots):
            continue
        looks = charts.looks_of(dict(enumerate(results)))
        systems = [(label, looks[number]) for number, label in enumerate(results)]
        yield dot_figure(
            sheet,
            "stereotypes",
            "How often the speaker is translated as a man, by stereotype",
            "Share of masculine speakers among the translations of each stereotype that show a gender; dashes: half "
            f"({sheet.about(cell)}); lines: {sheet.intervals}.",
            [charts.DotPanel("masculine among those that show a gender", (0, 1), zero=0.5)],
            [charts.DotRow("Stereotypes of women"), *women, charts.DotRow("Stereotypes of men"), *men],
            systems if len(systems) > 1 else [("stereotype of women", charts.FEMALE), ("of men", charts.MALE)],
            cell=cell,
        )


def _stereotype_row(name: str, results: Mapping[str, Result]) -> charts.DotRow:
    """One mark for each system; a single system's mark shows the stereotyped gender."""
    looks = (
        charts.looks_of(dict(enumerate(results)))
        if len(results) > 1
        else {0: charts.MALE if name in MEN else charts.FEMALE}
    )
    dots = [
        (one, looks[number])
        for number, result in enumerate(results.values())
        if (one := charts.span(result, "p", name))
    ]
    return charts.DotRow(SLICES[name], [dots])


def rates(sheet: charts.Sheet) -> Iterator[charts.Figure]:
    looks = {("p_f", "all"): charts.FEMALE, ("p_m", "all"): charts.MALE, ("f_m", "all"): _BOTH}

    def row(cell: str, result: Result) -> list[charts.DotRow]:
        dots = [marks(result, looks), marks(result, {("f_s", "all"): _BOTH})]
        return [charts.DotRow(charts.language(cell), dots)] if all(dots) else []

    if rows := rows_by_system(sheet, row):
        yield dot_figure(
            sheet,
            "rates",
            "Masculine rate and stereotype rate",
            "Masculine rate for stereotypes of women and of men, their mean f_m and their difference f_s, which a "
            f"high f_m limits ({sheet.about()}); lines: {sheet.intervals}.",
            [
                charts.DotPanel("masculine rate", (0, 1)),
                charts.DotPanel("stereotype rate f_s", zero=0.0, at_least=(-0.1, 0.3), better="zero"),
            ],
            rows,
            [("women's stereotypes", charts.FEMALE), ("men's", charts.MALE), ("f_m, f_s", _BOTH)],
        )


PRESENTATION = Presentation(
    findings=findings,
    may_leave_open=True,
    forms=lambda cells: [
        *paper_tables(__package__, cells),
        *slice_tables(__package__, "gest-2", {name: SLICES[name] for name in STEREOTYPES}, cells),
    ],
    figures=(rates, stereotypes),
    two_rates=TwoRates("f_m:all", gap="excess:all", source_tells=False),
    leading="log_odds",
    also_shown=("masculine_share:all", "coverage:all"),
    beside_published=("f_m:all", "f_s:all"),
    published="gendermark.benchmarks.gest",
    shares_one_scale=False,
)
