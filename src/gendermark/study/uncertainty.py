"""What the uncertainty paper does with its results, done with run folders (Staliūnaitė, Cheng and Vlachos 2026).

- `correlate`: does a system's uncertainty go with its gender accuracy? (Tables 3, 16, 18, 19)
- `look_at`: the translations of one sentence with he, she and they (Table 5)
- `uncertainty_cues.model_cues`: which cues in the sentence make it sure or unsure? (Tables 7, 10, 11)
- `uncertainty_quality.bin_by_quality`: is it unsure where it translates well, or badly? (Figure 2)
- `uncertainty_systems.compare_targets`: what does it think of two given translations? (Figure 1)
- `uncertainty_systems.vary_sampling`: how far do the numbers depend on epsilon and alpha?

Each gives back a record with `table()` for people and `to_json()` for programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gendermark import statistics
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.uncertainty.benchmark import BENCHMARK
from gendermark.benchmarks.uncertainty.items import UNAMBIGUOUS, as_winomt
from gendermark.benchmarks.uncertainty.measures import chosen_alpha
from gendermark.benchmarks.winomt.benchmark import BENCHMARK as WINOMT
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.linguistics.failures import failure
from gendermark.metrics.regression import Correlation, CorrelationKind, correlation_test
from gendermark.metrics.uncertainty import Samples, signed_difference
from gendermark.records import Gender, Item, Judgement, Table, Translation
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.textfiles import read_jsonl

MEASURES = ("s3e", "gender", "string", "semantic")
FEWEST_CELLS = 4
"""Three cells stand in one of six orders: any two rankings of them agree by chance too often."""


# -- what a run holds --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """The uncertainty results of one run and direction, and where they lie."""

    run: Path
    result: Result

    @property
    def direction(self) -> str:
        return _direction(self.result)

    @property
    def where(self) -> dict[str, str]:
        return {"run": str(self.run), "system": self.result.system, "direction": self.direction}


def uncertainty_cells(run: Path | str, to: str = "") -> list[Cell]:
    """The uncertainty results of a run, all or those into one language."""
    return _cells(Path(run), folder.read_results(Path(run)), to)


def _cells(run: Path, results: Sequence[Result], to: str = "") -> list[Cell]:
    found = [Cell(run, result) for result in results if result.selection.benchmark == BENCHMARK.name]
    if not found:
        raise UserError(f"{run} has no uncertainty results; make some with `gendermark run --benchmark uncertainty`")
    chosen = [cell for cell in found if to in ("", cell.result.selection.target_language)]
    if not chosen:
        raise UserError(f"{run} has no uncertainty results into {to!r}; there is: {_directions(found)}")
    return chosen


def uncertainty_cell(run: Path | str, to: str = "") -> Cell:
    """The only such results, or those into the language that is named."""
    found = uncertainty_cells(run, to)
    if len(found) > 1:
        raise UserError(f"{run} has uncertainty results for {_directions(found)}; choose a language with --to")
    return found[0]


def _direction(result: Result) -> str:
    return f"{result.selection.source_language}-{result.selection.target_language}"


def _directions(cells: Sequence[Cell]) -> str:
    return ", ".join(cell.direction for cell in cells)


def entropy_names(result: Result) -> dict[str, str]:
    """What each entropy is called among the measures of a judgement."""
    alpha = chosen_alpha(result.judgements, result.selection.alpha)
    return dict(zip(MEASURES, (f"h_s3e@{alpha:g}", "h_gender", "h_string", "h_semantic"), strict=True))


def entropy_name(cell: Cell, measure: str) -> str:
    names = entropy_names(cell.result)
    if measure not in names:
        raise UnknownName("measure", measure, names)
    known = {name for judgement in cell.result.judgements for name in judgement.measures}
    if names[measure] in known:
        return names[measure]
    if measure == "semantic" and names["string"] in known:
        raise UserError(
            f"{cell.run} has no semantic entropy; run it with --entailment MODEL, or take another --measure"
        )
    raise UserError(f"{cell.run} has no {measure} entropy: nothing that could be read was translated")


@dataclass(frozen=True)
class Drawn:
    """One sentence of a run: its item, what is known of it, and the samples that are translations."""

    item: Item
    judgement: Judgement
    samples: Samples


def drawn_sentences(cell: Cell) -> list[Drawn]:
    path = cell.run / cell.result.cell / "samples.jsonl"
    texts: dict[str, tuple[str, list[str]]] = {}
    for line, row in read_jsonl(path):
        source, samples = row.get("source"), row.get("samples")
        is_text = isinstance(source, str) and isinstance(samples, list) and all(isinstance(s, str) for s in samples)
        if not is_text:
            raise BadFile(path, "does not hold a sentence with its samples; run it again", line=line)
        texts[str(row.get("id"))] = (str(source), samples or [])
    found = []
    for judgement in cell.result.judgements:
        if judgement.item_id not in texts:
            raise BadFile(path, f"has no samples of {judgement.item_id}; run it again")
        source, samples = texts[judgement.item_id]
        kept = Samples.of(text for text in samples if failure(source, text) is None)
        item = Item(judgement.item_id, judgement.index, judgement.group_id, source, judgement.expected, judgement.tags)
        found.append(Drawn(item, judgement, kept))
    return found


# -- systems in a row: uncertainty and accuracy ------------------------------------------------------------------------

_SCORES: Mapping[str, str] = {
    "delta_i_s3e": "negative",
    "gap_i_s3e": "negative",
    "delta_i_gender": "negative",
    "gap_i_gender": "negative",
    "delta_h_s3e": "negative",
    "gap_h_s3e": "negative",
    "delta_h_gender": "negative",
    "gap_h_gender": "negative",
    "awareness_s3e": "positive",
    "awareness_gender": "positive",
    "delta_i_semantic": "negative",
    "delta_h_semantic": "negative",
    "awareness_semantic": "positive",
    "forced_choice": "positive",
    "gap_log_p": "positive",
    "gap_log_p_per_token": "positive",
}
"""The scores of a cell, and the sign of their correlation with accuracy if good systems are good at both.

The last three are of `run --forced-choice`: the percent of sentences whose right reference the system finds more
probable, and the mean log-probability of the right ones less that of the wrong ones.
"""
_IF_ASKED_FOR = tuple(name for name in _SCORES if "semantic" in name or name == "forced_choice" or "log_p" in name)
_KINDS: tuple[CorrelationKind, ...] = ("spearman", "kendall", "pearson")
# Two cells that differ in one of these were not measured alike.
_SETTINGS = ("data", "revision", "parts", "detector", "n_samples", "sampling", "similarity", "alpha", "entailment")


@dataclass(frozen=True)
class ScoredCell:
    """One system into one language: its accuracy in percent, and its scores of uncertainty."""

    cell: Cell
    accuracy: float | None
    scores: Mapping[str, float | None]


@dataclass(frozen=True)
class ScoreCorrelation:
    """How one score goes with accuracy, over all cells or those of one language."""

    slice: str
    score: str
    tests: Mapping[str, Correlation]
    p_holm: float | None
    """Of Spearman's correlation, corrected for all scores of the slice."""


@dataclass(frozen=True)
class Correlations:
    """Every score against accuracy."""

    accuracy_is: str
    cells: tuple[ScoredCell, ...]
    correlations: tuple[ScoreCorrelation, ...]
    notes: tuple[str, ...]

    def table(self) -> Table:
        columns = ("slice", "score", "expected", "n", *(c for kind in _KINDS for c in (kind, f"{kind}_p")), "p_holm")
        rows = [
            (
                found.slice,
                found.score,
                _SCORES[found.score],
                found.tests["spearman"].n,
                *(value for kind in _KINDS for value in (found.tests[kind].value, found.tests[kind].p_value)),
                found.p_holm,
            )
            for found in self.correlations
        ]
        return Table("correlations", f"Uncertainty against {self.accuracy_is}", columns, rows)

    def cell_table(self) -> Table:
        columns = ("run", "system", "direction", "accuracy", *_SCORES)
        rows = [(*found.cell.where.values(), found.accuracy, *found.scores.values()) for found in self.cells]
        return Table("cells", f"One row per system and language; accuracy is {self.accuracy_is}", columns, rows)

    def to_json(self) -> dict[str, Any]:
        return {
            "accuracy": self.accuracy_is,
            "cells": [{**c.cell.where, "accuracy": c.accuracy, "scores": dict(c.scores)} for c in self.cells],
            "correlations": [
                {
                    "slice": c.slice,
                    "score": c.score,
                    "expected": _SCORES[c.score],
                    "n": c.tests["spearman"].n,
                    **{kind: {"value": test.value, "p_value": test.p_value} for kind, test in c.tests.items()},
                    "p_holm": c.p_holm,
                }
                for c in self.correlations
            ],
            "notes": list(self.notes),
        }


def correlate(runs: Sequence[Path | str], accuracy_runs: Sequence[Path | str] = ()) -> Correlations:
    """Rank systems by uncertainty and by accuracy: WinoMT's where every cell has it, else that of the samples."""
    results = {Path(run): folder.read_results(Path(run)) for run in (*runs, *accuracy_runs)}
    cells = [cell for run in runs for cell in _cells(Path(run), results[Path(run)])]
    _refuse_twins(cells)
    notes = differences_of(cells, (*_SETTINGS, "variant"))
    winomt = _winomt_results(result for run in accuracy_runs or runs for result in results[Path(run)])
    own = [winomt.get((cell.result.system, cell.direction)) for cell in cells]
    measured = [value_of(result, "accuracy", "mf") for result in own if result is not None]
    n_missing = len(cells) - len(measured)
    if not n_missing:
        kind = "WinoMT accuracy on he and she"
        notes += _differences("WinoMT was not measured alike", [r for r in own if r is not None], ("data", "rules"))
    elif accuracy_runs:
        one = next(cell for cell, result in zip(cells, own, strict=True) if result is None)
        raise UserError(f"no run of --accuracy has WinoMT results of {one.result.system} {one.direction}; give one")
    else:
        kind = "the share of samples with the right gender"
        if measured:  # two kinds of accuracy in one ranking would rank the kinds
            notes.append(f"{n_missing} of {len(cells)} cells have no WinoMT results, so {kind} is taken for all")
        measured = [_percent(value_of(cell.result, "p_right", UNAMBIGUOUS)) for cell in cells]
    scored = tuple(
        ScoredCell(cell, accuracy, _scores(cell.result)) for cell, accuracy in zip(cells, measured, strict=True)
    )
    slices = {"all": scored} | {language: _into(scored, language) for language in _languages(scored)}
    correlations = [row for name, members in slices.items() for row in _correlations(name, members)]
    if not correlations:
        notes.append(
            f"of {len(cells)} {'cell' if len(cells) == 1 else 'cells'} nothing can be said; a correlation needs at "
            f"least {FEWEST_CELLS} cells that have an accuracy and the same score"
        )
    else:
        wanted = [s for s in _SCORES if s not in _IF_ASKED_FOR or any(one.scores[s] is not None for one in scored)]
        if rare := [score for score in wanted if score not in {row.score for row in correlations}]:
            notes.append(f"fewer than {FEWEST_CELLS} cells have an accuracy and a value of {', '.join(rare)}")
    return Correlations(kind, scored, tuple(correlations), tuple(notes))


def _scores(result: Result) -> dict[str, float | None]:
    """All scores of a cell; none where it has none."""
    found = {score: value_of(result, score, "all") for score in _SCORES}
    for test in result.tests:
        if test.name == "forced-choice":
            found["forced_choice"] = test.statistic
            for score, name in (("gap_log_p", "log_probability"), ("gap_log_p_per_token", "log_probability_per_token")):
                right, wrong = test.details.get(f"{name}_right"), test.details.get(f"{name}_wrong")
                found[score] = signed_difference(right, wrong)
    return found


def _refuse_twins(cells: Sequence[Cell]) -> None:
    seen: dict[tuple[str, str], Cell] = {}
    for cell in cells:
        earlier = seen.setdefault((cell.result.system, cell.direction), cell)
        if earlier is not cell:
            raise UserError(
                f"{cell.result.system} {cell.direction} is in {earlier.run} and in {cell.run}; give each system once"
            )


def _winomt_results(results: Iterable[Result]) -> dict[tuple[str, str], Result]:
    """By system and direction; the first of several."""
    found: dict[tuple[str, str], Result] = {}
    for result in results:
        if result.selection.benchmark == WINOMT.name:
            found.setdefault((result.system, _direction(result)), result)
    return found


def value_of(result: Result, metric: str, part: str) -> float | None:
    return next((e.value for e in result.estimates if (e.metric, e.slice) == (metric, part)), None)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _languages(cells: Sequence[ScoredCell]) -> list[str]:
    """The target languages, if there are several."""
    found = sorted({scored.cell.result.selection.target_language for scored in cells})
    return found if len(found) > 1 else []


def _into(cells: Sequence[ScoredCell], language: str) -> tuple[ScoredCell, ...]:
    return tuple(scored for scored in cells if scored.cell.result.selection.target_language == language)


def _correlations(name: str, cells: Sequence[ScoredCell]) -> list[ScoreCorrelation]:
    """Of one slice; nothing for scores that too few of its cells have."""
    found: list[tuple[str, dict[str, Correlation]]] = []
    for score in _SCORES:
        known = [(c.accuracy, c.scores[score]) for c in cells if None not in (c.accuracy, c.scores[score])]
        if len(known) >= FEWEST_CELLS:
            accuracies, values = (np.array(side, dtype=np.float64) for side in zip(*known, strict=True))
            found.append((score, {kind: correlation_test(values, accuracies, kind) for kind in _KINDS}))
    corrected = statistics.holm([tests["spearman"].p_value for _, tests in found])
    return [ScoreCorrelation(name, score, tests, p) for (score, tests), p in zip(found, corrected, strict=True)]


def differences_of(cells: Sequence[Cell], settings: Sequence[str] = _SETTINGS) -> list[str]:
    """What makes the numbers of these cells hard to compare, a remark each."""
    results = [cell.result for cell in cells]
    notes = _differences("the runs were not measured alike", results, settings)
    # With their version, which stands in the signature only.
    rules = {found[1] for result in results if (found := re.search(r"\|rules:([^|]*)", result.signature))}
    if len(rules) > 1:
        notes.append(f"the runs were judged by different rules ({', '.join(sorted(rules))}); run them again")
    tuned = {chosen_alpha(result.judgements, "tuned") for result in results if result.selection.alpha == "tuned"}
    if len(tuned) > 1:
        alphas = ", ".join(f"{alpha:g}" for alpha in sorted(tuned))
        notes.append(f"alpha was tuned to different values ({alphas}), so S3E is not on one scale")
    return notes


def _differences(what: str, results: Sequence[Result], fields: Sequence[str]) -> list[str]:
    other = [name for name in fields if len({getattr(result.selection, name) for result in results}) > 1]
    return [f"{what}: they differ in {', '.join(other)}"] if other else []


# -- one sentence in all its versions ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """One distinct translation."""

    text: str
    count: int
    share: float
    gender: Gender | None


@dataclass(frozen=True)
class Version:
    """A sentence with one pronoun: what was said, and how unsure that is."""

    source: str
    gender: Gender | None
    entropies: Mapping[str, float | None]
    p_feminine: float | None
    translations: tuple[Said, ...]


@dataclass(frozen=True)
class Versions:
    """All versions of one sentence."""

    cell: Cell
    contrast: str
    versions: tuple[Version, ...]

    def table(self) -> Table:
        rows = [
            (str(version.gender or "open"), said.count, said.share, str(said.gender or "undecided"), said.text)
            for version in self.versions
            for said in version.translations
        ]
        title = f"{self.cell.result.system} {self.cell.direction}, contrast set {self.contrast}"
        return Table("samples", title, ("pronoun", "count", "share", "gender", "translation"), rows)

    def entropy_table(self) -> Table:
        names = ("s3e", "gender", "string")
        rows = [
            (
                str(version.gender or "open"),
                version.source,
                *(version.entropies[name] for name in names),
                version.p_feminine,
                len(version.translations),
            )
            for version in self.versions
        ]
        columns = ("pronoun", "source", *(f"h_{name}" for name in names), "p_feminine", "n_distinct")
        return Table("entropies", "How unsure", columns, rows)

    def to_json(self) -> dict[str, Any]:
        return {**self.cell.where, "contrast": self.contrast, "versions": [asdict(found) for found in self.versions]}


_ORDER = (Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL, None)


def look_at(cell: Cell, *, contrast: str = "", source: str = "") -> Versions:
    """What was drawn for a sentence with he, she and they: by the id of its contrast set, or by (part of) its text."""
    if bool(contrast) == bool(source):
        raise UserError("say which sentence: either --contrast ID or --source TEXT")
    drawn = drawn_sentences(cell)
    wanted = _contrast_of(cell, drawn, contrast, source)
    readings = iter(_genders(cell, drawn))
    genders = {found.item.item_id: [next(readings) for _ in found.samples.texts] for found in drawn}
    members = [found for found in drawn if found.item.tags["contrast"] == wanted]
    members.sort(key=lambda found: _ORDER.index(found.item.expected))
    return Versions(cell, wanted, tuple(_version(cell, found, genders[found.item.item_id]) for found in members))


def _contrast_of(cell: Cell, drawn: Sequence[Drawn], contrast: str, source: str) -> str:
    if contrast:
        if all(found.item.tags["contrast"] != contrast for found in drawn):
            raise UserError(
                f"{cell.run} has no contrast set {contrast!r}; take a tag `contrast` of its judgements.jsonl, or give "
                "a sentence with --source"
            )
        return contrast
    asked = source.strip().lower()
    same = [found for found in drawn if found.item.source.lower() == asked]
    matching = same or [found for found in drawn if asked in found.item.source.lower()]
    contrasts = list(dict.fromkeys(found.item.tags["contrast"] for found in matching))
    if not contrasts:
        raise UserError(f"no sentence of {cell.run} has {source!r} in it; see its samples.jsonl")
    if len(contrasts) > 1:
        raise UserError(
            f"{len(contrasts)} sentences of {cell.run} have {source!r} in them, such as {matching[0].item.source!r}; "
            f"give a whole sentence, or --contrast {contrasts[0]}"
        )
    return contrasts[0]


def _genders(cell: Cell, drawn: Sequence[Drawn]) -> list[Gender | None]:
    """The gender of every distinct translation, read as the run read it: words are aligned over all sentences."""
    items = tuple(found.item for found in drawn for _ in found.samples.texts)
    texts = [Translation("", text) for found in drawn for text in found.samples.texts]
    if not all(item.tags["entity"] for item in items):  # mGeNTE names nobody whose gender could be read
        return [None] * len(items)
    item_set = ItemSet(as_winomt(cell.result.selection), items, "")
    return [judgement.observed for judgement in WINOMT.judge(item_set, texts)]


def _version(cell: Cell, found: Drawn, genders: Sequence[Gender | None]) -> Version:
    samples, measures = found.samples, found.judgement.measures
    order = sorted(range(samples.n_distinct), key=lambda place: (-samples.counts[place], samples.texts[place]))
    names = entropy_names(cell.result)
    return Version(
        found.item.source,
        found.item.expected,
        {measure: measures.get(name) for measure, name in names.items()},
        measures.get("p_feminine"),
        tuple(
            Said(
                samples.texts[place],
                int(samples.counts[place]),
                float(samples.counts[place]) / samples.n,
                genders[place],
            )
            for place in order
        ),
    )
