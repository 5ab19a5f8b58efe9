"""What people answered to a line-up: how far they agree, how good the systems are, and the automatic metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from gendermark.annotation.comparison import all_agree, as_estimate, bootstrap_alphas, names_of, spread_of
from gendermark.annotation.items import Problem
from gendermark.annotation.lineup import (
    ANSWER_COLUMN,
    MEAN,
    REFERENCE,
    Lineup,
    LineupRow,
    LineupRun,
    digest_of,
    read_rows,
)
from gendermark.annotation.sheets import NoAnswers, Sheet
from gendermark.errors import BadFile, UserError
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.records import Estimate
from gendermark.result import find_estimate

_MOST_NUMBERS = 10


@dataclass(frozen=True)
class LineupAnswers:
    """A person's answers, by row, and what could not be used."""

    path: str
    answers: Mapping[int, bool] = field(repr=False)
    n_rows: int
    n_blank: int
    """Rows without an answer, those apart that are missing."""
    missing: tuple[int, ...]
    """Rows of the key that the sheet does not have."""
    problems: tuple[Problem, ...] = ()


def read_answers(path: Path | str, lineup: Lineup) -> LineupAnswers:
    """A filled sheet. What is not Y or N, or of another key, is not counted; of two answers to a row the later is."""
    rows = read_rows(path)
    if all(row.is_blank for row in rows):
        raise NoAnswers(f"no answers in {path} yet; write Y or N into its column {ANSWER_COLUMN!r}")
    in_key = {row.row: row for row in lineup.rows}
    answers: dict[int, bool] = {}
    seen: dict[int, int] = {}
    problems: list[Problem] = []
    for row in rows:
        known = in_key.get(row.row)
        if known is None:
            problems.append(Problem(row.line, f"row {row.row} is not in the key; not counted"))
            continue
        if row.translation and digest_of(row.translation) != known.digest:
            problems.append(Problem(row.line, f"its translation is not that of row {row.row} in the key; not counted"))
            continue
        if row.row in seen:
            problems.append(
                Problem(row.line, f"is row {row.row} again, as in line {seen[row.row]}; the later answer counts")
            )
        seen[row.row] = row.line
        if row.problem:
            problems.append(Problem(row.line, row.problem))
        elif row.answer is not None:
            answers[row.row] = row.answer
    if not answers:
        first = problems[0]
        raise BadFile(path, f"{first.problem}, and no other row could be used either", line=first.line)
    missing = tuple(sorted(in_key.keys() - seen.keys()))
    return LineupAnswers(str(path), answers, len(rows), sum(row.is_blank for row in rows), missing, tuple(problems))


def n_foreign_rows(path: Path | str, lineup: Lineup) -> int:
    """How many rows of a sheet, blank or filled in, are not of this key."""
    digests = {row.row: row.digest for row in lineup.rows}
    return sum(
        row.row not in digests or (row.translation != "" and digest_of(row.translation) != digests[row.row])
        for row in read_rows(path)
    )


# -- evaluation ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Evaluator:
    """One person, and what their sheet contributed."""

    name: str
    path: str
    n_rows: int
    n_answers: int
    n_blank: int
    n_reference: int
    """Answers to references."""
    n_reference_correct: int
    missing: tuple[int, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class LineupReport:
    """Tables 5 and 7 of the paper for these systems.

    `alpha`: slices `systems` and `reference`. `accuracy`, by the preferred evaluator: slices `NAME` and
    `NAME, SUB-CATEGORY` for each system and the reference. `precision`, `recall`, `f_score` of the automatic metric
    against the preferred evaluator: slices `NAME`, and `mean`, which is that of the systems.
    """

    cell: str
    origin: str
    seed: int
    per_category: int
    systems: tuple[str, ...]
    categories: tuple[str, ...]
    evaluators: tuple[Evaluator, ...]
    preferred: str
    estimates: tuple[Estimate, ...]
    warnings: tuple[str, ...]
    resampling: str
    signatures: Mapping[str, str] = field(repr=False)

    def estimate(self, metric: str, slice: str) -> Estimate:  # noqa: A002 (the word of `Result.estimate`)
        """The estimate of one metric for one slice."""
        return find_estimate(self.estimates, metric, slice)

    def to_json(self) -> dict[str, Any]:
        return {
            "cell": self.cell,
            "origin": self.origin,
            "seed": self.seed,
            "per_category": self.per_category,
            "systems": list(self.systems),
            "categories": list(self.categories),
            "evaluators": [asdict(one) for one in self.evaluators],
            "preferred": self.preferred,
            "estimates": [estimate.to_json() for estimate in self.estimates],
            "warnings": list(self.warnings),
            "resampling": self.resampling,
            "signatures": dict(self.signatures),
        }


def evaluate_lineup(
    lineup: Lineup,
    runs: Mapping[str, LineupRun],
    sheets: Sequence[LineupAnswers],
    resampling: Resampling | None = None,
) -> LineupReport:
    """Agreement of people, accuracy by the preferred one, and the automatic metric against that one."""
    if not sheets:
        raise UserError("no sheets were given")
    resampling = resampling or Resampling()
    names = names_of([Sheet(sheet.path, ()) for sheet in sheets])
    references = [row.row for row in lineup.rows if row.system == REFERENCE]
    evaluators = tuple(_evaluator(name, sheet, references) for name, sheet in zip(names, sheets, strict=True))
    # `max` takes the first of equals. The paper counts times, not shares: who left more open is not preferred for it.
    place = max(range(len(sheets)), key=lambda number: evaluators[number].n_reference_correct)
    preferred = sheets[place].answers
    signatures = {name: run.result.signature for name, run in runs.items()}
    categories = tuple(sorted(set(lineup.sample.values())))
    signature_of = {f"{name}, {category}": s for name, s in signatures.items() for category in categories} | signatures
    estimates = [
        *_agreement(lineup, sheets, resampling),
        *_accuracies(lineup, preferred, resampling.confidence),
        *_metric_scores(lineup, runs, preferred, resampling),
    ]
    return LineupReport(
        cell=lineup.cell,
        origin=lineup.origin,
        seed=lineup.seed,
        per_category=lineup.per_category,
        systems=lineup.names,
        categories=categories,
        evaluators=evaluators,
        preferred=names[place],
        estimates=tuple(replace(e, signature=signature_of.get(e.slice, "")) for e in estimates),
        warnings=tuple(_warnings(evaluators, evaluators[place], sheets, runs)),
        resampling=f"segment-bootstrap-{resampling.n_resamples},seed-{resampling.seed},"
        f"confidence-{resampling.confidence:g}",
        signatures=signatures,
    )


def _evaluator(name: str, sheet: LineupAnswers, references: Sequence[int]) -> Evaluator:
    on_reference = [sheet.answers[row] for row in references if row in sheet.answers]
    return Evaluator(
        name,
        sheet.path,
        sheet.n_rows,
        len(sheet.answers),
        sheet.n_blank,
        len(on_reference),
        sum(on_reference),
        sheet.missing,
        sheet.problems,
    )


def _warnings(
    evaluators: Sequence[Evaluator],
    preferred: Evaluator,
    sheets: Sequence[LineupAnswers],
    runs: Mapping[str, LineupRun],
) -> Iterator[str]:
    for one in evaluators:
        if one.missing:
            numbers = ", ".join(map(str, one.missing[:_MOST_NUMBERS])) + (
                " ..." if len(one.missing) > _MOST_NUMBERS else ""
            )
            yield f"{one.name} lacks this number of rows: {len(one.missing):,} ({numbers})"
    for (one, sheet), (other, other_sheet) in combinations(zip(evaluators, sheets, strict=True), 2):
        if sheet.answers == other_sheet.answers:
            yield f"{one.name} and {other.name} have the same answers; if one is a copy, leave it out"
    equal = [one.name for one in evaluators if one.n_reference_correct == preferred.n_reference_correct]
    if len(equal) > 1:
        yield (
            f"{', '.join(equal)} marked the reference correct equally often ({preferred.n_reference_correct:,} times); "
            f"the first, {preferred.name}, is the preferred evaluator"
        )
    rules = sorted({run.result.selection.rules for run in runs.values()})
    if len(rules) > 1:
        yield f"the runs are judged by different rules ({', '.join(rules)}); the mean F-score is of neither"


def _agreement(lineup: Lineup, sheets: Sequence[LineupAnswers], resampling: Resampling) -> Iterator[Estimate]:
    if len(sheets) < 2:
        return
    for slice_name, is_reference in (("systems", False), (REFERENCE, True)):
        rows = [row for row in lineup.rows if (row.system == REFERENCE) is is_reference]
        alpha = statistics.krippendorff_alpha([[sheet.answers.get(row.row) for row in rows] for sheet in sheets])
        # Yes, no and disagreement, summed over the rows of a segment: they are not independent of each other.
        segments: dict[str, list[float]] = {}
        n_units = 0
        for row in rows:
            given = [sheet.answers[row.row] for sheet in sheets if row.row in sheet.answers]
            if len(given) > 1:
                n_units += 1
                n, n_yes = len(given), sum(given)
                counts = (n_yes, n - n_yes, 2 * n_yes * (n - n_yes) / (n - 1))
                before = segments.get(row.item_id, [0, 0, 0])
                segments[row.item_id] = [a + b for a, b in zip(before, counts, strict=True)]
        interval = None
        if alpha is not None:
            table = np.array(list(segments.values()))
            n_yes, n_no, disagreement = table.sum(axis=0)
            if disagreement == 0:
                n = n_yes + n_no
                interval = all_agree(len(segments), float(2 * n_yes * n_no / (n * (n - 1))), resampling.confidence)
            else:
                sums = statistics.resampled_sums(table, resampling.n_resamples, resampling.seed)
                interval = spread_of(bootstrap_alphas(sums), resampling.confidence)
        yield replace(as_estimate("alpha", slice_name, alpha, interval, n_units, len(rows)), n_groups=len(segments))


def _accuracies(lineup: Lineup, answers: Mapping[int, bool], confidence: float) -> Iterator[Estimate]:
    for name in (*lineup.names, REFERENCE):
        rows = [row for row in lineup.rows if row.system == name]
        yield _accuracy(name, rows, answers, confidence)
        for category in sorted(set(lineup.sample.values())):
            within = [row for row in rows if lineup.sample[row.item_id] == category]
            yield _accuracy(f"{name}, {category}", within, answers, confidence)


def _accuracy(slice_name: str, rows: Sequence[LineupRow], answers: Mapping[int, bool], confidence: float) -> Estimate:
    given = [answers[row.row] for row in rows if row.row in answers]
    n, n_correct = len(given), sum(given)
    share = statistics.wilson(n_correct, n, confidence)
    percent = (100 * share[0], 100 * share[1]) if share else None
    return as_estimate("accuracy", slice_name, 100 * n_correct / n if n else None, percent, n, len(rows))


_SCORES = {
    "precision": ((1, 0, 0), (1, 1, 0)),
    "recall": ((1, 0, 0), (1, 0, 1)),
    "f_score": ((2, 0, 0), (2, 1, 1)),
}
"""Weights of (both yes, the metric alone, the person alone) above and below the line."""


def _metric_scores(
    lineup: Lineup, runs: Mapping[str, LineupRun], answers: Mapping[int, bool], resampling: Resampling
) -> Iterator[Estimate]:
    """The automatic metric against one person: "correct" of both is a hit. Table 5 has the mean of the systems."""
    segments = {item_id: place for place, item_id in enumerate(lineup.sample)}
    counts = np.zeros((len(segments), len(lineup.names), 3))
    n_answered: Counter[str] = Counter()
    for place, name in enumerate(lineup.names):
        outcomes = {j.item_id: j.outcome for j in runs[name].result.judgements}
        for row in lineup.rows:
            if row.system == name and row.row in answers:
                n_answered[name] += 1
                human, automatic = answers[row.row], outcomes[row.item_id] == "correct"
                if human or automatic:
                    counts[segments[row.item_id], place, 0 if human and automatic else 1 if automatic else 2] = 1
    shape = counts.shape[1:]
    resampled = statistics.resampled_sums(
        counts.reshape(len(counts), -1), resampling.n_resamples, resampling.seed
    ).reshape(-1, *shape)
    n_rows = Counter(row.system for row in lineup.rows)
    for metric, (above, below) in _SCORES.items():
        values = _ratio(counts.sum(axis=0), above, below)
        replicates = _ratio(resampled, above, below)
        for place, name in enumerate(lineup.names):
            value = None if np.isnan(values[place]) else float(values[place])
            interval = None if value is None else spread_of(replicates[:, place], resampling.confidence)
            yield as_estimate(metric, name, value, interval, n_answered[name], n_rows[name])
        defined = ~np.isnan(values)
        value, interval = None, None
        if defined.any():
            value = float(values[defined].mean())
            interval = spread_of(replicates[:, defined].mean(axis=1), resampling.confidence)
        n_total = sum(n_rows[name] for name in lineup.names)
        yield as_estimate(metric, MEAN, value, interval, n_answered.total(), n_total)


def _ratio(counts: statistics.Floats, above: Sequence[int], below: Sequence[int]) -> statistics.Floats:
    """NaN where there is nothing below the line."""
    top, bottom = counts @ np.array(above, dtype=float), counts @ np.array(below, dtype=float)
    ratios: statistics.Floats = np.full(bottom.shape, np.nan)
    np.divide(top, bottom, out=ratios, where=bottom > 0)
    return ratios
