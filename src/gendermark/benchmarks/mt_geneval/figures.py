"""MT-GenEval: accuracy for men and for women, the gap in quality, and the pairs where it is largest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from gendermark.benchmarks.mt_geneval import COUNTERFACTUAL
from gendermark.drawing import charts, plots
from gendermark.drawing.charts import DotPanel, DotRow, Look
from gendermark.drawing.sheet import FEMALE, MALE, Figure, Sheet, figure, language, span
from gendermark.drawing.svg import Canvas
from gendermark.markup import minus
from gendermark.metrics import quality
from gendermark.records import Gender, Judgement
from gendermark.result import Result

BOTH, GAP = Look("square", charts.GREEN, filled=False), Look("diamond", charts.PURPLE)
MOST_LISTED = 5

Gaps = Sequence[tuple[str, float]]
"""Pair, and chrF of its masculine sentence minus that of its feminine one."""


def genders(sheet: Sheet) -> Iterator[Figure]:
    has_pairs = sheet.benchmark == COUNTERFACTUAL
    rows: list[DotRow] = []
    for label in sheet.labels:
        own = [
            DotRow(language(cell), dots)
            for cell, found in sheet.cells.items()
            if label in found and any(dots := _dots(found[label], has_pairs))
        ]
        rows += [*([DotRow(label)] if own and sheet.title_of(label) else []), *own]
    if not rows:
        return
    panels = [DotPanel("right gender, %", (0, 100))]
    entries: list[tuple[str, Look | str]] = [("men", MALE), ("women", FEMALE)]
    title, says = "Right gender for men and for women", "where only the sentence before tells it"
    if has_pairs:
        panels.append(DotPanel("quality gap, BLEU", zero=0.0, at_least=(-2.0, 2.0)))
        entries += [("both of a pair", BOTH), ("BLEU of men − women", GAP)]
        title += ", and the gap in quality"
        says = "and how much better sentences about men are translated than the same ones about women"
    else:
        entries.append(("all", BOTH))

    def draw(canvas: Canvas) -> None:
        charts.dots(canvas, panels, rows, charts.legend(canvas, entries, 0))

    yield figure(
        f"{sheet.benchmark}{sheet.suffix}.genders",
        title,
        f"Share of sentences with the right gender, {says} ({sheet.about()}); lines: {sheet.intervals}.",
        sheet.benchmark,
        draw,
    )


def _dots(result: Result, has_pairs: bool) -> list[list[tuple[charts.Span, Look]]]:
    looks = {"masculine": MALE, "feminine": FEMALE, "all": BOTH}
    accuracies = [(found, look) for part, look in looks.items() if (found := span(result, "accuracy", part))]
    gap = span(result, "delta_qual")
    return [accuracies, [(gap, GAP)] if gap else []] if has_pairs else [accuracies]


# -- pairs -------------------------------------------------------------------------------------------------------------


def sentence_gaps(sheet: Sheet) -> Iterator[Figure]:
    for cell, label, result in sheet.results:
        gaps = _gaps(result.judgements)
        if any(gap for _, gap in gaps):
            yield _gap_figure(sheet, cell, label, gaps)


def _gaps(judgements: Iterable[Judgement]) -> Gaps:
    names = [f"chrf.{column}" for column in quality.CHRF_COLUMNS]
    by_pair: dict[str, dict[Gender, Judgement]] = defaultdict(dict)
    for judgement in judgements:
        if judgement.expected and all(name in judgement.measures for name in names):
            by_pair[judgement.group_id][judgement.expected] = judgement
    sides = (Gender.MASCULINE, Gender.FEMININE)
    pairs = {pair: members for pair, members in by_pair.items() if set(sides) <= set(members)}
    if not pairs:
        return []
    men, women = (
        quality.chrf_value(*(np.array([members[side].measures[name] for members in pairs.values()]) for name in names))
        for side in sides
    )
    return [(pair, round(gap, 6)) for pair, gap in zip(pairs, np.nan_to_num(men - women).tolist(), strict=True)]


def _gap_figure(sheet: Sheet, cell: str, label: str, gaps: Gaps) -> Figure:
    def draw(canvas: Canvas) -> None:
        title = "chrF of the masculine − of the feminine sentence"
        charts.differences(canvas, title, gaps, ("men better", "women better"), 0)

    largest = sorted(gaps, key=lambda one: (-abs(one[1]), one[0]))[:MOST_LISTED]
    listed = ", ".join(f"{pair} {minus(f'{gap:+.1f}')}" for pair, gap in largest)
    n_men, n_women = sum(gap > 0 for _, gap in gaps), sum(gap < 0 for _, gap in gaps)
    return figure(
        sheet.name_of(cell, "gaps", label),
        "Pairs of sentences that differ in gender only: which is translated better",
        f"One bar per pair, from the largest gap to the smallest: of {len(gaps):,}, {n_men:,} are better about a man "
        f"and {n_women:,} about a woman ({sheet.about(cell, label)}). Largest: {listed}.",
        cell,
        draw,
    )
