"""The pictures of a leaderboard: women and men as two dots per system, and systems over the years."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from gendermark.benchmarks.findings import TwoRates
from gendermark.drawing.charts import BLUE, GapRow, Heads, LinePanel, Look, Span, gaps, legend, lines
from gendermark.drawing.sheet import FEMALE, MALE, Figure, figure
from gendermark.drawing.svg import Canvas
from gendermark.leaderboard.boards import Board, Standing
from gendermark.leaderboard.submission import key_from
from gendermark.leaderboard.words import dated, direction_of, labels, language_of
from gendermark.markup import minus

_LEAST = 20.0
"""Points between the ends of a scale of years, so that next to nothing does not look like much."""


def standings(board: Board, unclear: Collection[Path] = ()) -> Figure:
    """One row per system, the best first; gaps of those that are `unclear` stand in brackets."""
    names = labels([standing.submission.system for standing in board.standings])
    sides, about = board.benchmark.presentation.sides, board.about
    rows = []
    for standing in board.standings:
        dots = _dots(standing, sides) if sides else _one_dot(standing, board)
        gap = standing.estimate(key_from(sides.gap)) if sides else None
        after = minus(f"{gap.value:+.0f}") if gap is not None and gap.value is not None else ""
        after = f"({after})" if after and standing.submission.cell in unclear else after
        rank = standing.rank if board.pairs and about.better != "neither" else ""
        rows.append(GapRow(names[standing.submission.system], dots, rank, after))
    ranked = any(row.before for row in rows)
    is_percent = about.unit.is_of_hundred
    scale = "of 100" if sides else about.label
    heads = Heads("rank" if ranked else "", "system", scale, "gap" if sides else "")

    def draw(canvas: Canvas) -> None:
        top = legend(canvas, [("women", FEMALE), ("men", MALE)], 0.0) + 2 if sides else 0.0
        gaps(canvas, rows, heads, (0.0, 100.0) if is_percent and sides else None, top)

    title = f"{board.benchmark.title}, {direction_of(board)}"
    marks = "Thin lines: 95 % intervals" + (
        "; grey bars: the gap, men minus women, in brackets where it could be chance." if sides else "."
    )
    caption = (
        f"Ordered by “{about.label}” over all sentences, which the tables have. {marks} Rank: the places a system may "
        "hold; where two ranges overlap, it may not be clear which is better."
    )
    return figure(f"board.{board.any.result.cell}.{board.label}", title, caption, board.any.result.cell, draw)


def _dots(standing: Standing, sides: TwoRates) -> list[tuple[Span, Look]]:
    found = []
    for name, look in ((sides.women, FEMALE), (sides.men, MALE)):
        estimate = standing.estimate(key_from(name))
        if estimate is not None and estimate.value is not None:
            found.append((Span(estimate.value, estimate.low, estimate.high), look))
    return found


def _one_dot(standing: Standing, board: Board) -> list[tuple[Span, Look]]:
    estimate = standing.estimate(board.metric)
    if estimate is None or estimate.value is None:
        return []
    return [(Span(estimate.value, estimate.low, estimate.high), Look(colour=BLUE))]


def years(found: Sequence[Board]) -> list[Figure]:
    """Systems that were measured with several dates: a figure for each, a panel for each language."""
    panels: dict[tuple[str, str, tuple[str, ...], str], list[LinePanel]] = {}
    for board in found:
        sides = board.benchmark.presentation.sides
        for places in dated(board):
            own = [board.standings[place] for place in places]
            dates = tuple(standing.submission.system.shown_date for standing in own)
            keys = [(FEMALE, key_from(sides.women)), (MALE, key_from(sides.men))] if sides else []
            keys = keys or [(replace(MALE, colour=BLUE), board.metric)]
            series = [(look, [_span(standing, key) for standing in own]) for look, key in keys]
            if any(span for _, spans in series for span in spans):
                told = f"How many women and men of 100 {sides.what}" if sides else board.about.label
                key = (own[0].submission.system.name, board.benchmark.title, dates, told)
                panels.setdefault(key, []).append(LinePanel(f"into {language_of(board)}", series, _LEAST))
    drawn = []
    for (name, benchmark, dates, told), own_panels in panels.items():

        def draw(canvas: Canvas, panels: Sequence[LinePanel] = own_panels, names: Sequence[str] = dates) -> None:
            has_both = len(panels[0].series) > 1
            lines(canvas, panels, names, legend(canvas, [("women", FEMALE), ("men", MALE)], 0.0) if has_both else 0.0)

        title = f"{name} over the years, {benchmark}"
        drawn.append(figure(f"years.{name}.{benchmark}", title, f"{told}; 95 % intervals.", "", draw))
    return drawn


def _span(standing: Standing, key: tuple[str, str]) -> Span | None:
    found = standing.estimate(key)
    return Span(found.value, found.low, found.high) if found is not None and found.value is not None else None
