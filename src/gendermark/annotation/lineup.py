"""The human evaluation of MT-GenEval (Currey et al. 2022, section 5.1): several systems and a hidden reference.

Annotators see a segment, its context and all its translations in random order, one of them the reference. The key,
which annotators must not see, records the system of each row.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gendermark import registry
from gendermark.annotation import agreement
from gendermark.annotation.agreement import Answers, NoItem, Question
from gendermark.annotation.sheets import LINEUP, Row, comparable, inert, refuse_to_overwrite, write_sheet
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.data.own import check_unchanged
from gendermark.errors import BadFile, UserError
from gendermark.io.textfiles import read_json, read_text, write_text
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.reading import context as contexts
from gendermark.reading.contrast import without_tags
from gendermark.records import Estimate
from gendermark.result import Result

REFERENCE = "reference"
"""System name of the hidden reference."""
MEAN = "mean"
_MOST_NUMBERS = 10
_SCORES = {
    "precision": ((1, 0, 0), (1, 1, 0)),
    "recall": ((1, 0, 0), (1, 0, 1)),
    "f_score": ((2, 0, 0), (2, 1, 1)),
}
"""Weights of (both yes, metric only, annotator only) in numerator and denominator."""


# -- runs --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LineupRun:
    """One system's run, with its translations as annotators see them, by item id."""

    directory: Path
    result: Result = field(repr=False)
    texts: Mapping[str, str] = field(repr=False)
    uncut: frozenset[str] = field(repr=False)
    """Items whose sentence could not be separated from its context in the answer; the whole answer is shown."""

    @property
    def identity(self) -> tuple[str, str]:
        return self.result.system, str(getattr(self.result.selection, "context", ""))

    @property
    def items(self) -> tuple[str, str, str]:
        """Cell, split and origin of the data, which must agree for all runs in one sheet."""
        return self.result.cell, str(getattr(self.result.selection, "split", "")), self.result.origin


def read_runs(directories: Sequence[Path], cell: str = "") -> list[LineupRun]:
    """The contextual cells of several runs, of different systems on the same items."""
    if len(directories) < 2:
        raise UserError("give the run folders of at least two systems; for one: gendermark annotate export")
    runs = [_read_run(directory, cell) for directory in directories]
    first, seen = runs[0], dict[tuple[str, str], Path]()
    for run in runs:
        if run.items != first.items:
            raise UserError(
                f"{first.directory} and {run.directory} have different items ({' '.join(first.items)}; "
                f"{' '.join(run.items)}); run all systems on the same data"
            )
        if run.identity in seen:
            raise UserError(
                f"{seen[run.identity]} and {run.directory} are both of {' with context '.join(run.identity)}; "
                "give each system once"
            )
        seen[run.identity] = run.directory
    return runs


def _with_context() -> list[str]:
    """Benchmarks whose sentences depend on the previous sentence."""
    return [name for name, benchmark in registry.every("benchmark") if benchmark.presentation.context_tag]


def _read_run(directory: Path, cell: str) -> LineupRun:
    result, texts = agreement.read_cell(directory, cell, _with_context())
    strategy = str(getattr(result.selection, "context", ""))
    shown_texts, uncut = {}, set()
    for judgement in result.judgements:
        item_id, text = judgement.item_id, texts[judgement.item_id]
        if "context" not in judgement.tags:
            raise UserError(f"judgement {item_id} of {result.cell} has no context; run it again")
        whole = text.translation or ""
        # Without the translated context, which the reference does not have either.
        own = contexts.find(whole, judgement.tags["context"], text.source, strategy)
        shown_texts[item_id] = _one_line(whole if own is None else own)
        if own is None and shown_texts[item_id]:
            uncut.add(item_id)
    return LineupRun(directory, result, shown_texts, frozenset(uncut))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _digest_of(text: str) -> str:
    return hashlib.sha256(comparable(text).encode()).hexdigest()[:16]


# -- the key -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KeySystem:
    name: str
    """Name in rows and report; with the context strategy if only that distinguishes two runs."""
    system: str
    context: str
    signature: str


@dataclass(frozen=True, slots=True)
class KeyRow:
    """System and item of one row of the sheet."""

    row: int
    item_id: str
    system: str
    digest: str
    """Digest of the translation: detects sheets and runs that do not belong to this key."""


@dataclass(frozen=True)
class Key:
    """The sample, and the system and item of each row."""

    cell: str
    origin: str
    split: str
    seed: int
    per_category: int
    systems: tuple[KeySystem, ...]
    sample: Mapping[str, str] = field(repr=False)
    """Sub-category of each item drawn."""
    available: Mapping[str, int]
    """Number of items in each sub-category."""
    left_out: Mapping[str, int]
    """Number of items in no sub-category, by reason."""
    rows: tuple[KeyRow, ...] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(system.name for system in self.systems)


def draw_lineup(runs: Sequence[LineupRun], per_category: int, seed: int) -> tuple[Key, list[tuple[object, ...]]]:
    """Draw a key and the rows of its sheet: `per_category` items, or all, of each gender in each class of professions.

    Sample and order of segments depend on the items and the seed, not on the translations.
    """
    result = runs[0].result
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    check_unchanged(result.selection.data, result.origin, str(runs[0].directory))
    item_set = benchmark.load(result.selection)
    if item_set.origin != result.origin:
        raise UserError(
            f"{runs[0].directory} was run on {result.origin}, but the data here is {item_set.origin}; run it again"
        )
    left_out: Counter[str] = Counter()
    strata = defaultdict(list)
    for item in item_set.items:
        if item.expected is None:
            left_out["gender unknown"] += 1
        elif item.tags["class"] == "unknown":
            left_out["profession class unknown"] += 1
        else:
            strata[f"{item.expected}-in-{item.tags['class']}-profession"].append(item)
    generator = random.Random(seed)
    drawn = [
        (item, category)
        for category, members in sorted(strata.items())
        for item in generator.sample(members, min(per_category, len(members)))
    ]
    if not drawn:
        raise UserError(f"no item of {result.cell} has a known gender and profession class, so none can be drawn")
    drawn.sort(key=lambda pair: hashlib.sha256(f"{seed}/{pair[0].item_id}".encode()).digest())
    given = [run.result.system for run in runs]
    unclear = len(set(given)) < len(given) or not {REFERENCE, MEAN}.isdisjoint(given)
    systems = tuple(
        KeySystem(f"{name} ({run.identity[1]})" if unclear else name, *run.identity, run.result.signature)
        for name, run in zip(given, runs, strict=True)
    )
    key_rows: list[KeyRow] = []
    rows: list[tuple[object, ...]] = []
    for item, _ in drawn:
        texts = {system.name: run.texts[item.item_id] for system, run in zip(systems, runs, strict=True)}
        texts[REFERENCE] = _one_line(without_tags(item.tags["reference"]))
        order = list(texts)
        random.Random(f"{seed}/{item.item_id}").shuffle(order)
        for name in order:
            number = len(rows) + 1
            key_rows.append(KeyRow(number, item.item_id, name, _digest_of(texts[name])))
            cells = (_one_line(item.tags["context"]), _one_line(item.source), texts[name])
            rows.append((number, *map(inert, cells), "", ""))
    available = {category: len(members) for category, members in sorted(strata.items())}
    sample = {item.item_id: category for item, category in drawn}
    cell, split, origin = runs[0].items
    key = Key(cell, origin, split, seed, per_category, systems, sample, available, dict(left_out), tuple(key_rows))
    return key, rows


def write_lineup(path: Path, key_path: Path, key: Key, rows: Sequence[Sequence[object]]) -> None:
    """Write the blank sheet and its key; never overwrite answers, or a key that answers may depend on."""
    if path.resolve() == key_path.resolve():
        raise UserError("the sheet and its key must be two files; choose another name with --key")
    refuse_to_overwrite(path, LINEUP)
    key_text = json.dumps(asdict(key), ensure_ascii=False, indent=2) + "\n"
    if key_path.is_file() and read_text(key_path) != key_text:
        raise UserError(f"{key_path} may be the key of another sheet; choose another name with --key")
    write_text(key_path, key_text)
    write_sheet(path, LINEUP.columns, rows)


def _read_key(path: Path) -> Key:
    value = read_json(path)
    try:
        systems = tuple(KeySystem(**system) for system in value["systems"])
        rows = tuple(KeyRow(**row) for row in value["rows"])
        key = Key(**{**value, "systems": systems, "rows": rows})
        known = {*key.names, REFERENCE}
        is_sound = (
            key.cell.partition(".")[0] in _with_context()
            and all(row.system in known and row.item_id in key.sample for row in rows)
            and len(known) > len(systems) > 1
            and len({row.row for row in rows}) == len({(row.item_id, row.system) for row in rows}) == len(rows) > 0
        )
    except (KeyError, TypeError, AttributeError):
        is_sound = False
    if not is_sound:
        raise BadFile(path, "is not a key that `gendermark annotate export --key` wrote")
    return key


def _runs_of(key: Key, directories: Sequence[Path]) -> dict[str, LineupRun]:
    found = {run.identity: run for run in read_runs(directories, key.cell)}
    known = {(system.system, system.context): system.name for system in key.systems}
    absent = [name for identity, name in known.items() if identity not in found]
    if absent:
        raise UserError(f"no run folder of {', '.join(absent)} is given; give those of all systems in the key")
    for identity, run in found.items():
        name = known.get(identity)
        of_key = [row for row in key.rows if row.system == name]
        if not of_key or run.items != (key.cell, key.split, key.origin):
            raise UserError(
                f"{run.directory} is of {' with context '.join(identity)} on {' '.join(run.items)}, which is not in "
                f"the key ({', '.join(key.names)} on {key.cell} {key.split} {key.origin}); give the run folders that "
                "were exported"
            )
        for row in of_key:
            if row.item_id not in run.texts or _digest_of(run.texts[row.item_id]) != row.digest:
                raise UserError(
                    f"the translation of {row.item_id} in {run.directory} is not the one that annotators saw; give "
                    "the run folders that were exported"
                )
    return {name: found[identity] for identity, name in known.items()}


# -- answers -----------------------------------------------------------------------------------------------------------


class Lineup(Question):
    """A key with the runs of its systems: is the gender of each row correct?

    The report has Tables 5 and 7 of the paper. `alpha` between annotators: slices `systems` and `reference`. `accuracy`
    by the preferred evaluator: slices `NAME` and `NAME, SUB-CATEGORY` for each system and the reference. `precision`,
    `recall`, `f_score` of the automatic metric against the preferred evaluator: slices `NAME`, and `mean` over the
    systems.
    """

    form = LINEUP
    unit = "segment"

    def __init__(self, key: Key, directories: Sequence[Path]) -> None:
        self.key = key
        self.runs = _runs_of(key, directories) if directories else {}
        source, _, target = key.cell.rpartition(".")[2].partition("-")
        self.languages = (source, target)
        self.can_agree = bool(self.runs)
        self._by_number: Mapping[int | None, KeyRow] = {row.row: row for row in key.rows}

    @classmethod
    def read(cls, key: Path, directories: Sequence[Path]) -> Lineup:
        """Without run folders, rows can be matched but not reported."""
        return cls(_read_key(key), directories)

    def find(self, row: Row, taken: Container[Any]) -> int:  # noqa: ARG002 (the number is enough)
        return self.known(row).row

    def known(self, row: Row) -> KeyRow:
        """The row of the key with this number and translation."""
        known = self._by_number.get(row.number)
        if known is None:
            raise NoItem(f"row {row.number} is not in the key")
        if row.text and _digest_of(row.text) != known.digest:
            raise NoItem(f"its translation is not that of row {row.number} in the key")
        return known

    def _report(self, people: Sequence[Answers], how: Resampling) -> tuple[dict[str, Any], list[Estimate], list[str]]:
        evaluators = [self._summary(one) for one in people]
        # `max` takes the first of equals. The paper counts answers, not shares: leaving more open is no advantage.
        place = max(range(len(people)), key=lambda number: evaluators[number]["n_reference_correct"])
        answers = {row: answer == "y" for row, answer in people[place].by_item.items()}
        signatures = {name: run.result.signature for name, run in self.runs.items()}
        categories = sorted(set(self.key.sample.values()))
        preferred = people[place].name
        content = {
            "cell": self.key.cell,
            "origin": self.key.origin,
            "seed": self.key.seed,
            "per_category": self.key.per_category,
            "systems": list(self.key.names),
            "categories": categories,
            "evaluators": evaluators,
            "preferred": preferred,
            "signatures": signatures,
        }
        estimates = [
            replace(e, signature=signatures.get(e.slice) or signatures.get(e.slice.rpartition(", ")[0], ""))
            for e in (
                *self._agreement(people, how),
                *self._accuracies(answers, categories, how.confidence),
                *self._metric_scores(answers, how),
            )
        ]
        return content, estimates, list(self._warnings(evaluators, preferred))

    def _summary(self, one: Answers) -> dict[str, Any]:
        references = [row.row for row in self.key.rows if row.system == REFERENCE]
        given = [one.by_item[row] for row in references if row in one.by_item]
        missing = sorted(row.row for row in self.key.rows if row.row not in one.seen)
        return one.summary(n_reference=len(given), n_reference_correct=given.count("y"), missing=missing)

    def _warnings(self, evaluators: Sequence[Mapping[str, Any]], preferred: str) -> Iterator[str]:
        for one in evaluators:
            if missing := one["missing"]:
                rest = " ..." if len(missing) > _MOST_NUMBERS else ""
                numbers = ", ".join(map(str, missing[:_MOST_NUMBERS])) + rest
                yield f"{one['name']} lacks this number of rows: {len(missing):,} ({numbers})"
        most = max(one["n_reference_correct"] for one in evaluators)
        equal = [one["name"] for one in evaluators if one["n_reference_correct"] == most]
        if len(equal) > 1:
            yield (
                f"{', '.join(equal)} marked the reference correct equally often ({most:,} times); the first, "
                f"{preferred}, is the preferred evaluator"
            )
        rules = sorted({run.result.selection.rules for run in self.runs.values()})
        if len(rules) > 1:
            yield f"the runs are judged by different rules ({', '.join(rules)}); the mean F-score mixes them"

    def _agreement(self, people: Sequence[Answers], resampling: Resampling) -> Iterator[Estimate]:
        if len(people) > 1:
            for slice_name, is_reference in (("systems", False), (REFERENCE, True)):
                rows = [row for row in self.key.rows if (row.system == REFERENCE) is is_reference]
                ratings = [[one.by_item.get(row.row) for row in rows] for one in people]
                # The rows of a segment are dependent.
                yield agreement.alpha(slice_name, ratings, ("y", "n"), [row.item_id for row in rows], resampling)

    def _accuracies(
        self, answers: Mapping[int, bool], categories: Sequence[str], confidence: float
    ) -> Iterator[Estimate]:
        for name in (*self.key.names, REFERENCE):
            of_system = [row for row in self.key.rows if row.system == name]
            for category in ("", *categories):
                rows = [row for row in of_system if category in ("", self.key.sample[row.item_id])]
                given = [answers[row.row] for row in rows if row.row in answers]
                slice_name = f"{name}, {category}" if category else name
                yield agreement.percentage("accuracy", slice_name, sum(given), len(given), len(rows), confidence)

    def _metric_scores(self, answers: Mapping[int, bool], resampling: Resampling) -> Iterator[Estimate]:
        """The automatic metric against one annotator; a hit is "correct" by both. Table 5 has the mean over systems."""
        names = self.key.names
        segments = {item_id: place for place, item_id in enumerate(self.key.sample)}
        counts = np.zeros((len(segments), len(names), 3))
        n_answered: Counter[str] = Counter()
        for place, name in enumerate(names):
            outcomes = {j.item_id: j.outcome for j in self.runs[name].result.judgements}
            for row in self.key.rows:
                if row.system == name and row.row in answers:
                    n_answered[name] += 1
                    human, automatic = answers[row.row], outcomes[row.item_id] == "correct"
                    if human or automatic:
                        counts[segments[row.item_id], place, 0 if human and automatic else 1 if automatic else 2] = 1
        sums = statistics.resampled_sums(counts.reshape(len(counts), -1), resampling.n_resamples, resampling.seed)
        replicated = sums.reshape(-1, *counts.shape[1:])
        n_rows = Counter(row.system for row in self.key.rows if row.system != REFERENCE)
        n_answered[MEAN], n_rows[MEAN] = n_answered.total(), n_rows.total()
        for metric, (above, below) in _SCORES.items():
            values, replicates = (
                agreement.ratio(found @ np.array(above, dtype=float), found @ np.array(below, dtype=float))
                for found in (counts.sum(axis=0), replicated)
            )
            defined = ~np.isnan(values)
            meant = defined if defined.any() else ~defined
            values = np.append(values, values[meant].mean())
            replicates = np.column_stack((replicates, replicates[:, meant].mean(axis=1)))
            for name, number, drawn in zip((*names, MEAN), values, replicates.T, strict=True):
                value = None if np.isnan(number) else float(number)
                interval = None if value is None else agreement.spread_of(drawn, resampling.confidence)
                yield agreement.estimate_of(metric, name, value, interval, n_answered[name], n_rows[name])
