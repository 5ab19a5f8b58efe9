"""How far people agree with each other, and with the judge."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from gendermark.annotation.items import Items, Person, SheetSummary, TranslatedText, match, observed, stratum
from gendermark.annotation.sheets import Sheet, SheetRow, comparable
from gendermark.errors import UserError
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.records import Estimate, Gender, Judgement
from gendermark.result import Result, find_estimate

NOT_FOUND = "not found"
"""What a person answers with N under "Find entity?", and a judge by giving no gender."""

_LABELS = tuple(Gender)
_Ratings = Sequence[Sequence[Gender | None]]
"""One row per rater, one column per item; `None` where a rater gave no gender."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A translation that a person and the judge read differently."""

    index: int
    entity: str
    translation: str
    person: str
    answer: str
    automatic: str
    evidence: tuple[str, ...]
    """The words that decided the judge."""


@dataclass(frozen=True)
class AgreementReport:
    """How far people agree with each other, and with the judge.

    Slices: `a ~ b` two people; `people` all of them; `judge ~ a` the judge and one person; `judge ~ people` the judge
    and the majority; `judge ~ people, weighted` the same, weighted to the mix of the whole run.
    """

    cell: str
    system: str
    signature: str
    resampling: str
    sheets: tuple[SheetSummary, ...]
    estimates: tuple[Estimate, ...]
    disagreements: tuple[Disagreement, ...] = field(repr=False)
    warnings: tuple[str, ...] = ()

    def estimate(self, metric: str, slice: str) -> Estimate:  # noqa: A002 (the word of `Result.estimate`)
        """The estimate of one metric for one slice."""
        return find_estimate(self.estimates, metric, slice)

    def to_json(self) -> dict[str, Any]:
        return {
            "cell": self.cell,
            "system": self.system,
            "sheets": [asdict(sheet) for sheet in self.sheets],
            "estimates": [estimate.to_json() for estimate in self.estimates],
            "disagreements": [asdict(one) for one in self.disagreements],
            "warnings": list(self.warnings),
            "resampling": self.resampling,
            "signature": self.signature,
        }


def agreement(
    result: Result,
    translations: Mapping[str, TranslatedText],
    sheets: Sequence[Sheet],
    resampling: Resampling | None = None,
) -> AgreementReport:
    """People against each other and against the judge.

    Agreement is among items that both sides gave a gender; how many more only one side did stands beside it. The
    people's answer, where there are several, is the majority's; a tie has none.
    """
    if not sheets:
        raise UserError("no sheets were given")
    resampling = resampling or Resampling()
    items = Items(result, translations)
    people = [match(sheet, name, items) for sheet, name in zip(sheets, names_of(sheets), strict=True)]
    judge = {judgement.item_id: observed(judgement) for judgement in result.judgements}
    majority, n_ties = _majority(people)
    compared = [_Compared(answer, judge[item_id]) for item_id, answer in majority.items()]
    weighted = _weighted(result.judgements, majority)
    weighted_slice = "judge ~ people, weighted"
    estimates = [
        *_among_people(people, resampling),
        *_with_judge(judge, people, majority, resampling),
        *_per_class("judge ~ people", compared, resampling.confidence),
        _share("agreement", weighted_slice, weighted, resampling.confidence),
        *_per_class(weighted_slice, weighted, resampling.confidence),
    ]
    return AgreementReport(
        cell=result.cell,
        system=result.system,
        signature=result.signature,
        resampling=f"item-bootstrap-{resampling.n_resamples},seed-{resampling.seed},"
        f"confidence-{resampling.confidence:g}",
        sheets=tuple(person.summary for person in people),
        estimates=tuple(replace(estimate, signature=result.signature) for estimate in estimates),
        disagreements=tuple(_disagreements(result, translations, people)),
        warnings=tuple(_warnings(sheets, people, n_ties)),
    )


def names_of(sheets: Sequence[Sheet]) -> list[str]:
    """Short names of the people: file names, or whole paths where those are not enough."""
    places = [Path(sheet.path).resolve() for sheet in sheets]
    for sheet, place in zip(sheets, places, strict=True):
        if places.count(place) > 1:
            raise UserError(f"{sheet.path} is given twice; give each person's sheet once")
    stems = [Path(sheet.path).stem for sheet in sheets]
    # `people` is the name of all of them.
    unclear = len(set(stems)) < len(stems) or "people" in stems
    return [sheet.path for sheet in sheets] if unclear else stems


def _majority(people: Sequence[Person]) -> tuple[dict[str, Gender], int]:
    """The answer of most people who gave a gender, and for how many items two answers are equally frequent."""
    votes: dict[str, Counter[Gender]] = defaultdict(Counter)
    for person in people:
        for item_id, gender in person.genders.items():
            votes[item_id][gender] += 1
    majority = {}
    for item_id, counts in votes.items():
        (gender, most), *others = counts.most_common()
        if not others or others[0][1] < most:
            majority[item_id] = gender
    return majority, len(votes) - len(majority)


def _among_people(people: Sequence[Person], resampling: Resampling) -> Iterator[Estimate]:
    if len(people) < 2:
        return
    for one, other in combinations(people, 2):
        yield from _of_two(f"{one.name} ~ {other.name}", _ratings(one.genders, other.genders), resampling)
    yield _alpha("people", _ratings(*(person.genders for person in people)), resampling)


def _with_judge(
    judge: Mapping[str, Gender | None],
    people: Sequence[Person],
    majority: Mapping[str, Gender],
    resampling: Resampling,
) -> Iterator[Estimate]:
    each = {f"judge ~ {person.name}": person.genders for person in people} if len(people) > 1 else {}
    for slice_name, answers in {**each, "judge ~ people": majority}.items():
        ratings = _ratings({item_id: judge[item_id] for item_id in answers}, answers)
        yield from _of_two(slice_name, ratings, resampling)
        yield _alpha(slice_name, ratings, resampling)


def _warnings(sheets: Sequence[Sheet], people: Sequence[Person], n_ties: int) -> Iterator[str]:
    contents = [[_content(row) for row in sheet.rows] for sheet in sheets]
    for (one, content), (other, other_content) in combinations(zip(people, contents, strict=True), 2):
        if content == other_content:
            yield f"{one.name} and {other.name} have the same rows and answers; if one is a copy, leave it out"
    if n_ties:
        yield f"people are equally divided, so that there is no majority, in this number of items: {n_ties:,}"


def _content(row: SheetRow) -> tuple[object, ...]:
    return row.index, comparable(row.sentence), row.found, row.gender, row.problem


def _disagreements(
    result: Result, translations: Mapping[str, TranslatedText], people: Sequence[Person]
) -> Iterator[Disagreement]:
    for judgement in result.judgements:
        automatic = observed(judgement)
        for person in people:
            answer = person.answers.get(judgement.item_id, automatic)
            if answer != automatic:
                yield Disagreement(
                    judgement.index,
                    judgement.entity,
                    translations[judgement.item_id].text,
                    person.name,
                    answer or NOT_FOUND,
                    automatic or NOT_FOUND,
                    judgement.evidence,
                )


def _ratings(*raters: Mapping[str, Gender | None]) -> _Ratings:
    """Of every item that any of them has, in the order of their ids."""
    item_ids = sorted(set().union(*raters))
    return [[rater.get(item_id) for item_id in item_ids] for rater in raters]


def _of_two(slice_name: str, ratings: _Ratings, resampling: Resampling) -> list[Estimate]:
    """Percent agreement and Cohen's kappa of two raters."""
    both = [(a, b) for a, b in zip(*ratings, strict=True) if a is not None and b is not None]
    n, n_agreed = len(both), sum(a == b for a, b in both)
    n_total = len(ratings[0])
    share = statistics.wilson(n_agreed, n, resampling.confidence)
    percent = (100 * share[0], 100 * share[1]) if share else None
    kappa = statistics.cohen_kappa([a for a, _ in both], [b for _, b in both])
    interval = None
    if kappa is not None and n_agreed == n:
        by_chance = sum((count / n) ** 2 for count in Counter(a for a, _ in both).values())
        interval = all_agree(n, 1 - by_chance, resampling.confidence)
    elif kappa is not None:
        cells = np.zeros((n, len(_LABELS), len(_LABELS)))
        for number, (a, b) in enumerate(both):
            cells[number, _LABELS.index(a), _LABELS.index(b)] = 1
        interval = spread_of(_kappas(cells, resampling), resampling.confidence)
    return [
        as_estimate("agreement", slice_name, 100 * n_agreed / n if n else None, percent, n, n_total),
        as_estimate("kappa", slice_name, kappa, interval, n, n_total),
    ]


def as_estimate(
    metric: str, slice_name: str, value: float | None, interval: tuple[float, float] | None, n: int, n_total: int
) -> Estimate:
    low, high = interval or (None, None)
    return Estimate(metric, slice_name, value, low, high, n_groups=n, n_judged=n, n_total=n_total)


def _kappas(cells: statistics.Floats, resampling: Resampling) -> statistics.Floats:
    """Kappa of each resample of the items; NaN where it is undefined."""
    sums = statistics.resampled_sums(cells.reshape(len(cells), -1), resampling.n_resamples, resampling.seed)
    tables = sums.reshape(-1, *cells.shape[1:])
    n = len(cells)
    agreed = np.trace(tables, axis1=1, axis2=2)
    by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    possible = n * n - by_chance
    kappas: statistics.Floats = np.full(len(tables), np.nan)
    np.divide(n * agreed - by_chance, possible, out=kappas, where=possible > 0)
    return kappas


def _alpha(slice_name: str, ratings: _Ratings, resampling: Resampling) -> Estimate:
    """Krippendorff's alpha of any number of raters. An item with fewer than two answers has nothing to compare."""
    alpha = statistics.krippendorff_alpha(ratings)
    units = []
    for unit in zip(*ratings, strict=True):
        labels = [sum(answer is label for answer in unit) for label in _LABELS]
        n = sum(labels)
        if n > 1:
            units.append([*labels, (n * n - sum(count * count for count in labels)) / (n - 1)])
    interval = None
    if alpha is not None:
        table = np.array(units)
        sums = table.sum(axis=0)
        if sums[-1] == 0:
            n_answers = sums[:-1].sum()
            by_chance = (n_answers**2 - (sums[:-1] ** 2).sum()) / (n_answers * (n_answers - 1))
            interval = all_agree(len(units), float(by_chance), resampling.confidence)
        else:
            resampled = statistics.resampled_sums(table, resampling.n_resamples, resampling.seed)
            interval = spread_of(bootstrap_alphas(resampled), resampling.confidence)
    return as_estimate("alpha", slice_name, alpha, interval, len(units), len(ratings[0]))


def bootstrap_alphas(sums: statistics.Floats) -> statistics.Floats:
    """Alpha of each resample, from its labels and its disagreement; NaN where it is undefined."""
    labels, disagreement = sums[:, :-1], sums[:, -1]
    n = labels.sum(axis=1)
    by_chance = n**2 - (labels**2).sum(axis=1)
    ratios: statistics.Floats = np.full(len(sums), np.nan)
    np.divide((n - 1) * disagreement, by_chance, out=ratios, where=by_chance > 0)
    return 1 - ratios


def spread_of(replicates: statistics.Floats, confidence: float) -> tuple[float, float] | None:
    """The bootstrap interval; `None` without any width.

    Kappa is 0 in every resample where one rater has one answer to everything: the data cannot tell, which is not the
    same as being sure of 0.
    """
    interval = statistics.percentile_interval(replicates, confidence)
    return interval if interval and interval[0] < interval[1] else None


def all_agree(n: int, expected_disagreement: float, confidence: float) -> tuple[float, float] | None:
    """Limits of kappa or alpha where all agree on everything.

    Every resample agrees too and would give no width, so the lower limit is what the Wilson limit of agreement gives.
    """
    share = statistics.wilson(n, n, confidence)
    return (1 - (1 - share[0]) / expected_disagreement, 1.0) if share else None


@dataclass(frozen=True, slots=True)
class _Compared:
    """The people's answer and the judge's to one item, and for how many items of the run it stands."""

    person: Gender
    judge: Gender | None
    weight: float = 1.0


def _weighted(judgements: Sequence[Judgement], majority: Mapping[str, Gender]) -> list[_Compared]:
    """Each answer with the weight of its stratum: a sheet has as many of each kind, a run has not."""
    in_run = Counter(map(stratum, judgements))
    answered = [judgement for judgement in judgements if judgement.item_id in majority]
    in_sheets = Counter(map(stratum, answered))
    return [_Compared(majority[j.item_id], observed(j), in_run[stratum(j)] / in_sheets[stratum(j)]) for j in answered]


def _per_class(slice_name: str, compared: Sequence[_Compared], confidence: float) -> Iterator[Estimate]:
    """Precision and recall of the judge for each gender. Items it gave no gender are in neither; they are counted."""
    for gender in _LABELS:
        given = [c for c in compared if c.judge is gender]
        yield _share(f"precision_{gender}", slice_name, given, confidence)
        wanted = [c for c in compared if c.person is gender]
        yield _share(f"recall_{gender}", slice_name, wanted, confidence)


def _share(metric: str, slice_name: str, compared: Sequence[_Compared], confidence: float) -> Estimate:
    """The weighted share of items on which people and judge agree, of those that the judge gave a gender.

    Wilson's interval with Kish's effective sample size, (sum w)^2 / sum w^2, which is n where all weights are equal.
    """
    judged = [c for c in compared if c.judge is not None]
    if not judged:
        return as_estimate(metric, slice_name, None, None, 0, len(compared))
    total = sum(c.weight for c in judged)
    n_effective = total**2 / sum(c.weight**2 for c in judged)
    share = min(1.0, sum(c.weight for c in judged if c.person is c.judge) / total)
    low, high = statistics.wilson(share * n_effective, n_effective, confidence) or (0.0, 1.0)
    return as_estimate(metric, slice_name, 100 * share, (100 * low, 100 * high), len(judged), len(compared))
