"""Agreement between annotators: the parts that all questions share, and sheets of one run against its judge."""

from __future__ import annotations

import hashlib
import random
import re
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from gendermark import registry
from gendermark.annotation.sheets import ANYBODY, GENDERS, Form, NoAnswers, Row, comparable, inert, read_sheet
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.records import Estimate, Gender, Judgement, Verdict
from gendermark.result import Result, find_estimate
from gendermark.runs import folder

NOT_FOUND = "not found"
"""An annotator's N under "Find entity?", or a judge's missing gender."""
_GENDER_OF = {"m": Gender.MASCULINE, "f": Gender.FEMININE, "n": Gender.NEUTRAL, "u": None}
_LABELS = tuple(Gender)

Genders = Mapping[str, Gender]
Interval = tuple[float, float] | None


# -- answers -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answers:
    """The answers in one annotator's sheet."""

    name: str
    path: str
    rows: Sequence[Row] = field(repr=False)
    by_item: Mapping[Any, str] = field(repr=False)
    """The key of a choice."""
    seen: Container[Any] = field(repr=False)
    """The items with a row in the sheet, answered or not."""
    problems: Sequence[Mapping[str, Any]] = ()
    """Lines with unusable answers, and the reason for each."""

    def summary(self, **more: Any) -> dict[str, Any]:
        n_blank = sum(row.is_blank for row in self.rows)
        counts = {"n_rows": len(self.rows), "n_answers": len(self.by_item), "n_blank": n_blank}
        return {"name": self.name, "path": self.path, **counts, **more, "problems": self.problems}


@dataclass(frozen=True)
class AgreementReport:
    """Agreement between the sheets of several annotators."""

    content: Mapping[str, Any] = field(repr=False)
    """The content of `--json`."""
    estimates: tuple[Estimate, ...]
    left_out: Sequence[str] = ()
    """Sheets without any answer."""

    def estimate(self, metric: str, slice: str) -> Estimate:  # noqa: A002 (the word of `Result.estimate`)
        return find_estimate(self.estimates, metric, slice)


class NoItem(Exception):
    """A row matches no item; says why."""


class Question(ABC):
    """A kind of question about certain runs: matches each row of a sheet to its item, and reports agreement."""

    form: Form
    unit: str
    """The unit of resampling: an item, or a segment with several rows."""
    languages: tuple[str, str]
    can_agree = True

    @abstractmethod
    def known(self, row: Row) -> Any:
        """The candidates for a row, by its number and text; raises `NoItem`."""

    @abstractmethod
    def find(self, row: Row, taken: Container[Any]) -> Hashable:
        """The item of a row, given the items of the rows before it; raises `NoItem`."""

    @abstractmethod
    def _report(self, people: Sequence[Answers], how: Resampling) -> tuple[dict[str, Any], list[Estimate], list[str]]:
        """The question's own content, estimates and warnings."""

    def agree(self, paths: Sequence[Path | str], resampling: Resampling | None = None) -> AgreementReport:
        how = resampling or Resampling()
        people, left_out = self._read(paths)
        content, estimates, warnings = self._report(people, how)
        pairs = combinations(people, 2)
        copies = [f"{one.name} and {other.name}" for one, other in pairs if one.by_item == other.by_item]
        facts = f"seed-{how.seed},confidence-{how.confidence:g}"
        shared = {
            "estimates": [estimate.to_json() for estimate in estimates],
            "warnings": [
                *(f"{both} have the same answers; if one is a copy, leave it out" for both in copies),
                *warnings,
            ],
            "resampling": f"{self.unit}-bootstrap-{how.n_resamples},{facts}",
        }
        return AgreementReport({**content, **shared}, tuple(estimates), left_out)

    def _read(self, paths: Sequence[Path | str]) -> tuple[list[Answers], list[str]]:
        """All answers, and the sheets that are still blank; refused if every sheet is blank."""
        sheets: dict[str, list[Row]] = {}
        blank: dict[str, NoAnswers] = {}
        places = [Path(path).resolve() for path in paths]
        for path, place in zip(map(str, paths), places, strict=True):
            if places.count(place) > 1:
                raise UserError(f"{path} is given twice; give each person's sheet once")
            try:
                sheets[path] = read_sheet(path, self.form)
            except NoAnswers as problem:
                blank[path] = problem
        if not sheets:
            raise next(iter(blank.values()), UserError("no sheets were given"))
        # Annotators are named after their files, or by whole paths if file names coincide; `people` means all
        # annotators.
        stems = [Path(path).stem for path in sheets]
        names = list(sheets) if len(set(stems)) < len(stems) or "people" in stems else stems
        return [self._match(name, *sheet) for name, sheet in zip(names, sheets.items(), strict=True)], list(blank)

    def _match(self, name: str, path: str, rows: Sequence[Row]) -> Answers:
        """Match each answer to the item of its row; the later of two answers to one item counts."""
        seen: set[Hashable] = set()
        answered: dict[Hashable, Row] = {}
        problems: list[dict[str, Any]] = []
        for row in rows:
            problem = row.problem
            try:
                item = self.find(row, seen)
                seen.add(item)
            except NoItem as reason:
                problem = problem or f"{reason}; not counted"
            if row.is_blank:
                continue
            if not problem:
                if item in answered:
                    problem = f"answers the item of line {answered[item].line} again; this one counts"
                answered[item] = row
            if problem:
                problems.append({"line": row.line, "problem": problem})
        if not answered:
            first = problems[0]
            raise BadFile(path, f"{first['problem']}, and no other row could be used either", line=first["line"])
        return Answers(name, path, rows, {item: row.answer for item, row in answered.items()}, seen, problems)


# -- numbers -----------------------------------------------------------------------------------------------------------


def estimate_of(
    metric: str, slice_name: str, value: float | None, interval: Interval, n: int, n_total: int, n_groups: int = -1
) -> Estimate:
    low, high = interval or (None, None)
    n_groups = n if n_groups < 0 else n_groups
    return Estimate(metric, slice_name, value, low, high, n_groups=n_groups, n_judged=n, n_total=n_total)


def percentage(metric: str, slice_name: str, n_right: int, n: int, n_total: int, confidence: float) -> Estimate:
    share = statistics.wilson(n_right, n, confidence)
    percent = (100 * share[0], 100 * share[1]) if share else None
    return estimate_of(metric, slice_name, 100 * n_right / n if n else None, percent, n, n_total)


def alpha(
    slice_name: str,
    ratings: Sequence[Sequence[Hashable | None]],
    labels: Sequence[Hashable],
    groups: Sequence[Hashable],
    resampling: Resampling,
) -> Estimate:
    """Krippendorff's alpha of any number of raters (rows) on items (columns), resampled by groups of items.

    Of nominal labels (Krippendorff 2011, Computing Krippendorff's Alpha). Items with fewer than two answers are
    ignored.
    """
    units = [[unit.count(label) for label in labels] for unit in zip(*ratings, strict=True)]
    counted = [(group, counts) for group, counts in zip(groups, units, strict=True) if sum(counts) > 1]
    places = {group: place for place, group in enumerate(dict.fromkeys(group for group, _ in counted))}
    table = np.zeros((len(places), len(labels) + 1))
    for group, counts in counted:
        size = sum(counts)
        table[places[group]] += [*counts, (size * size - sum(count * count for count in counts)) / (size - 1)]

    def alphas(sums: statistics.Floats) -> statistics.Floats:
        """For each row of sums; NaN if all labels are equal."""
        n, disagreement = sums[:, :-1].sum(axis=1), sums[:, -1]
        return 1 - ratio((n - 1) * disagreement, n**2 - (sums[:, :-1] ** 2).sum(axis=1))

    total = table.sum(axis=0, keepdims=True)
    value = None if np.isnan(alphas(total)[0]) else float(alphas(total)[0])
    interval = None
    if value is not None and not total[0, -1]:
        n_answers = total[0, :-1].sum()
        by_chance = 1 - (total[0, :-1] * (total[0, :-1] - 1)).sum() / (n_answers * (n_answers - 1))
        interval = _all_agree(len(places), by_chance, resampling.confidence)
    elif value is not None:
        replicates = alphas(statistics.resampled_sums(table, resampling.n_resamples, resampling.seed))
        interval = spread_of(replicates, resampling.confidence)
    return estimate_of("alpha", slice_name, value, interval, len(counted), len(groups), len(places))


def ratio(above: statistics.Floats, below: statistics.Floats) -> statistics.Floats:
    """NaN where the denominator is not positive."""
    ratios: statistics.Floats = np.full(below.shape, np.nan)
    np.divide(above, below, out=ratios, where=below > 0)
    return ratios


def spread_of(replicates: statistics.Floats, confidence: float) -> Interval:
    """The bootstrap interval; `None` if it has no width.

    Kappa is 0 in every resample if one rater always gives the same answer: that means no information, not certainty.
    """
    interval = statistics.percentile_interval(replicates, confidence)
    return interval if interval and interval[0] < interval[1] else None


def _all_agree(n: int, expected_disagreement: float, confidence: float) -> Interval:
    """Bounds of kappa or alpha under perfect agreement.

    Every resample agrees too and gives no width, so the lower bound is computed from the Wilson bound of agreement.
    """
    share = statistics.wilson(n, n, confidence)
    return (1 - (1 - share[0]) / expected_disagreement, 1.0) if share else None


# -- one run: which gender a translation shows -------------------------------------------------------------------------


def read_cell(directory: Path, cell: str = "", benchmarks: Sequence[str] = ()) -> tuple[Result, dict[str, folder.Text]]:
    """One cell of a finished run, of some benchmarks only if given, and its texts by item id.

    The name is optional if there is only one such cell.
    """
    every = {result.cell: result for result in folder.read_results(directory)}
    if benchmarks:
        results = {name: one for name, one in every.items() if one.selection.benchmark in benchmarks}
        lacks, others = "has no context and no references", f"run {' or '.join(benchmarks)}"
    else:
        loaded = {name: registry.load("benchmark", one.selection.benchmark) for name, one in every.items()}
        results = {name: one for name, one in every.items() if not loaded[name].draws}
        lacks, others = "has many samples of each sentence", "run a benchmark without samples"
    if not results or (cell in every and cell not in results):
        rest = f"choose another: --cell {' | '.join(results)}" if results else others
        raise UserError(f"{cell or ', '.join(every)} in {directory} {lacks}, so it cannot be annotated; {rest}")
    if not cell and len(results) > 1:
        raise UserError(f"{directory} contains {len(results)} results; choose one with --cell: {', '.join(results)}")
    cell = cell or next(iter(results))
    if cell not in results:
        raise UnknownName(f"cell of {directory}", cell, results)
    texts = folder.read_texts(directory / cell, results[cell])
    return results[cell], {j.item_id: text for j, text in zip(results[cell].judgements, texts, strict=True)}


class JudgedRun(Question):
    """The translations of one run, judged by annotators and by the automatic judge, whose verdicts no sheet contains.

    Agreement slices: `a ~ b` two annotators; `people` all annotators; `judge ~ a` the judge and one annotator; `judge ~
    people` the judge and the majority; `judge ~ people, weighted` the same weighted to the composition of the run.
    Agreement is over items to which both sides gave a gender; the others are counted. A tie has no majority.
    """

    form = GENDERS
    unit = "item"

    def __init__(self, result: Result, texts: Mapping[str, folder.Text]) -> None:
        self.result = result
        self.languages = (result.selection.source_language, result.selection.target_language)
        self._texts = texts
        self._by_id = {judgement.item_id: judgement for judgement in result.judgements}
        self._by_index: dict[int, list[Judgement]] = defaultdict(list)
        self._by_text: dict[str, list[Judgement]] = defaultdict(list)
        for judgement in result.judgements:
            self._by_index[judgement.index].append(judgement)
            self._by_text[comparable(self._text(judgement))].append(judgement)

    @classmethod
    def read(cls, directory: Path, cell: str = "") -> JudgedRun:
        return cls(*read_cell(directory, cell))

    def _text(self, judgement: Judgement) -> str:
        return self._texts[judgement.item_id].translation or ""

    def draw(self, n: int, seed: int, *, with_source: bool = False) -> list[tuple[object, ...]]:
        """Draw rows in random order, equally many of each expected and observed gender (or none).

        Empty translations are left out.
        """
        strata: dict[tuple[str, str], list[Judgement]] = defaultdict(list)
        seen = set()
        for judgement in self.result.judgements:
            # Where parts have rows of their own, an index can occur twice; a returned row must be identifiable.
            shown = (judgement.index, judgement.entity, self._text(judgement))
            if shown[-1].strip() and shown not in seen:
                seen.add(shown)
                strata[_stratum(judgement)].append(judgement)
        generator = random.Random(seed)
        chosen: list[Judgement] = []
        by_size = sorted(strata.items(), key=lambda pair: (len(pair[1]), pair[0]))
        for place, (_, members) in enumerate(by_size):
            # Small strata first: their shortfall is shared among the larger ones.
            share = (n - len(chosen)) // (len(by_size) - place)
            chosen += generator.sample(members, min(share, len(members)))
        # The order depends on seed and ids alone, so it does not reveal the judge's verdicts.
        chosen.sort(key=lambda judgement: hashlib.sha256(f"{seed}/{judgement.item_id}".encode()).digest())
        return [
            (j.index, inert(j.entity or ANYBODY), inert(self._text(j)), "", "", "")
            + ((inert(self._texts[j.item_id].source),) if with_source else ())
            for j in chosen
        ]

    # -- found again ---------------------------------------------------------------------------------------------------

    def find(self, row: Row, taken: Container[Any]) -> str:
        found = self.known(row)
        if row.entity:
            wanted = _bare(row.entity)
            found = [judgement for judgement in found if _bare(judgement.entity) == wanted] or found
        if len({_observed(judgement) for judgement in found}) > 1:
            raise NoItem(f"several items of {self.result.cell} fit, which the judge read differently")
        if row.number == found[0].index:
            return found[0].item_id
        # Several sources can have the same translation: each such row is a different one of them.
        return next((j.item_id for j in found if j.item_id not in taken), found[0].item_id)

    def known(self, row: Row) -> list[Judgement]:
        sentence = comparable(row.text)
        by_sentence = self._by_text.get(sentence, []) if sentence else []
        by_index = self._by_index.get(row.number, []) if row.number is not None else by_sentence
        if not by_index and row.number is not None:
            raise NoItem(f"index {row.number} is not in {self.result.cell} of this run")
        if sentence and not by_sentence:
            of_index = f" of index {row.number}" if row.number is not None else ""
            raise NoItem(f"its sentence is not the translation{of_index} in {self.result.cell} of this run")
        # If the two contradict each other, trust the sentence, which the annotator has read.
        return [j for j in by_sentence if j.index == row.number] or by_sentence or by_index

    # -- the report ----------------------------------------------------------------------------------------------------

    def _report(self, people: Sequence[Answers], how: Resampling) -> tuple[dict[str, Any], list[Estimate], list[str]]:
        genders = {
            one.name: {i: gender for i, key in one.by_item.items() if (gender := _GENDER_OF[key])} for one in people
        }
        majority, n_ties = _majority(list(genders.values()))
        content = {
            "cell": self.result.cell,
            "system": self.result.system,
            "sheets": [self._summary(one) for one in people],
            "disagreements": list(self._disagreements(people)),
            "signature": self.result.signature,
        }
        estimates = [replace(e, signature=self.result.signature) for e in self._estimates(genders, majority, how)]
        divided = f"annotators are equally divided, without a majority, in this number of items: {n_ties:,}"
        return content, estimates, [divided] if n_ties else []

    def _summary(self, one: Answers) -> dict[str, Any]:
        not_found = [_observed(self._by_id[item_id]) for item_id, key in one.by_item.items() if key == "u"]
        n_answers = len(one.by_item) - len(not_found)
        return one.summary(n_answers=n_answers, n_not_found=len(not_found), n_not_found_by_judge=not_found.count(None))

    def _estimates(
        self, genders: Mapping[str, Genders], majority: Genders, resampling: Resampling
    ) -> Iterator[Estimate]:
        for one, other in combinations(genders, 2):
            yield from _of_two(f"{one} ~ {other}", [genders[one], genders[other]], resampling)
        if len(genders) > 1:
            yield _alpha("people", list(genders.values()), resampling)
        each = {f"judge ~ {name}": own for name, own in genders.items()} if len(genders) > 1 else {}
        for slice_name, answers in {**each, "judge ~ people": majority}.items():
            both = [{item_id: _observed(self._by_id[item_id]) for item_id in answers}, answers]
            yield from _of_two(slice_name, both, resampling)
            yield _alpha(slice_name, both, resampling)
        answered = [judgement for judgement in self.result.judgements if judgement.item_id in majority]
        compared = [(majority[j.item_id], _observed(j), 1.0) for j in answered]
        yield from _per_gender("judge ~ people", compared, resampling.confidence)
        # A sheet has equally many of each stratum, a run does not: weight each answer by its stratum.
        in_run, in_sheets = Counter(map(_stratum, self.result.judgements)), Counter(map(_stratum, answered))
        weights = [in_run[_stratum(j)] / in_sheets[_stratum(j)] for j in answered]
        weighted = [(person, judge, weight) for (person, judge, _), weight in zip(compared, weights, strict=True)]
        weighted_slice = "judge ~ people, weighted"
        yield _share("agreement", weighted_slice, weighted, resampling.confidence)
        yield from _per_gender(weighted_slice, weighted, resampling.confidence)

    def _disagreements(self, people: Sequence[Answers]) -> Iterator[dict[str, Any]]:
        for judgement in self.result.judgements:
            automatic = _observed(judgement)
            for one in people:
                key = one.by_item.get(judgement.item_id)
                if key and _GENDER_OF[key] != automatic:
                    yield {
                        "index": judgement.index,
                        "entity": judgement.entity,
                        "translation": self._text(judgement),
                        "person": one.name,
                        "answer": _GENDER_OF[key] or NOT_FOUND,
                        "automatic": automatic or NOT_FOUND,
                        "evidence": judgement.evidence,
                    }


def _observed(judgement: Judgement) -> Gender | None:
    return judgement.observed if judgement.verdict is Verdict.JUDGED else None


def _stratum(judgement: Judgement) -> tuple[str, str]:
    return str(judgement.expected), str(_observed(judgement))


def _bare(entity: str) -> str:
    """Without the article: sheets of 2019 may write "The developer"."""
    return re.sub(r"^(the|an|a) ", "", comparable(entity).casefold())


def _majority(people: Sequence[Genders]) -> tuple[dict[str, Gender], int]:
    """The majority answer among annotators who gave a gender, and the number of ties."""
    votes: dict[str, Counter[Gender]] = defaultdict(Counter)
    for genders in people:
        for item_id, gender in genders.items():
            votes[item_id][gender] += 1
    majority = {}
    for item_id, counts in votes.items():
        (gender, most), *others = counts.most_common()
        if not others or others[0][1] < most:
            majority[item_id] = gender
    return majority, len(votes) - len(majority)


def _ratings(raters: Sequence[Mapping[str, Gender | None]]) -> list[list[Gender | None]]:
    """One row for each item that any rater has, by item id."""
    item_ids = sorted(set().union(*raters))
    return [[rater.get(item_id) for item_id in item_ids] for rater in raters]


def _alpha(slice_name: str, raters: Sequence[Mapping[str, Gender | None]], resampling: Resampling) -> Estimate:
    ratings = _ratings(raters)
    return alpha(slice_name, ratings, _LABELS, range(len(ratings[0])), resampling)


def _of_two(slice_name: str, raters: Sequence[Mapping[str, Gender | None]], resampling: Resampling) -> list[Estimate]:
    ratings = _ratings(raters)
    both = [(a, b) for a, b in zip(*ratings, strict=True) if a is not None and b is not None]
    n, n_agreed, n_total = len(both), sum(a == b for a, b in both), len(ratings[0])
    kappa = statistics.cohen_kappa([a for a, _ in both], [b for _, b in both])
    interval = None
    if kappa is not None and n_agreed == n:
        by_chance = sum((count / n) ** 2 for count in Counter(a for a, _ in both).values())
        interval = _all_agree(n, 1 - by_chance, resampling.confidence)
    elif kappa is not None:
        counts = np.zeros((n, len(_LABELS), len(_LABELS)))
        for number, (a, b) in enumerate(both):
            counts[number, _LABELS.index(a), _LABELS.index(b)] = 1
        sums = statistics.resampled_sums(counts.reshape(n, -1), resampling.n_resamples, resampling.seed)
        tables = sums.reshape(-1, *counts.shape[1:])
        chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
        kappas = ratio(n * np.trace(tables, axis1=1, axis2=2) - chance, n * n - chance)
        interval = spread_of(kappas, resampling.confidence)
    return [
        percentage("agreement", slice_name, n_agreed, n, n_total, resampling.confidence),
        estimate_of("kappa", slice_name, kappa, interval, n, n_total),
    ]


_Compared = Sequence[tuple[Gender, Gender | None, float]]
"""Annotators' answer, judge's answer, and the number of items in the run that each item represents."""


def _per_gender(slice_name: str, compared: _Compared, confidence: float) -> Iterator[Estimate]:
    """Precision and recall of the judge. Items without a gender from the judge are in neither; they are counted."""
    for gender in _LABELS:
        yield _share(f"precision_{gender}", slice_name, [c for c in compared if c[1] is gender], confidence)
        yield _share(f"recall_{gender}", slice_name, [c for c in compared if c[0] is gender], confidence)


def _share(metric: str, slice_name: str, compared: _Compared, confidence: float) -> Estimate:
    """Weighted agreement between annotators and judge, over items to which the judge gave a gender.

    Wilson's interval with Kish's effective sample size, (sum w)^2 / sum w^2, which is n if all weights are equal.
    """
    judged = [(person is judge, weight) for person, judge, weight in compared if judge is not None]
    if not judged:
        return estimate_of(metric, slice_name, None, None, 0, len(compared))
    total = sum(weight for _, weight in judged)
    n_effective = total**2 / sum(weight**2 for _, weight in judged)
    share = min(1.0, sum(weight for agrees, weight in judged if agrees) / total)
    low, high = statistics.wilson(share * n_effective, n_effective, confidence) or (0.0, 1.0)
    return estimate_of(metric, slice_name, 100 * share, (100 * low, 100 * high), len(judged), len(compared))
