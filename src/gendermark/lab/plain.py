"""How well systems translate sentences in which gender is no matter (Table 9 of the uncertainty paper)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gendermark import api
from gendermark.errors import UserError
from gendermark.io.textfiles import read_lines
from gendermark.lab.grammar import generate
from gendermark.lab.uncertainty_results import read_cells
from gendermark.metrics import quality, statistics
from gendermark.metrics.metric import Counts, Floats, Resampling
from gendermark.metrics.pairing import Pairing
from gendermark.records import Table
from gendermark.runs import folder
from gendermark.runs.compare import Comparison, compare_metric
from gendermark.runs.run import NO_CONTEXT, RunContext

N_BUNDLED = 1000


class Span(NamedTuple):
    """A value and its interval, if it has one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class PlainSet:
    """Sentences and their translations by people, or by the grammar that made both."""

    name: str
    sources: Sequence[str]
    references: Sequence[str]


def read_test_set(source: Path, reference: Path, option: str = "--plain") -> PlainSet:
    """A file of sentences and one with the translation of each."""
    sources, references = read_lines(source), read_lines(reference)
    if len(sources) != len(references) or not sources:
        raise UserError(
            f"{source} has {len(sources):,} lines and {reference} {len(references):,}; {option} takes a file of "
            "sentences and one with the translation of each"
        )
    return PlainSet(source.name, sources, references)


def bundled_test_set(n: int = N_BUNDLED, seed: int = 0) -> PlainSet:
    """Sentences of the demonstration model's grammar that it has not seen."""
    pairs = list(generate(n, seed, split="held-out"))
    name = "held-out sentences of the bundled grammar (en-es)"
    return PlainSet(name, [pair.source for pair in pairs], [pair.target for pair in pairs])


# -- translations ------------------------------------------------------------------------------------------------------


def translated(
    spec: str,
    test_set: PlainSet,
    direction: tuple[str, str],
    options: Mapping[str, str] | None = None,
    context: RunContext = NO_CONTEXT,
) -> list[str]:
    """What a system makes of the sentences."""
    asking = api.Asking(direction[1], direction[0])
    return [samples[0].text or "" for samples in api.translate(spec, test_set.sources, asking, options, context)]


def translations_by_runs(
    runs: Sequence[Path], test_set: PlainSet, to: str = "", context: RunContext = NO_CONTEXT
) -> dict[str, list[str]]:
    """What the system of each run makes of the sentences, by name and direction; asked again, with its own options."""
    found: dict[str, list[str]] = {}
    for run in runs:
        config = folder.read_manifest(run)["config"]
        for cell in read_cells(run, to):
            if cell.name in found:
                raise UserError(f"{cell.name} is in several of these runs; give it once")
            selection = cell.result.selection
            direction = (selection.source_language, selection.target_language)
            options = config.get("system_options") or {}
            found[cell.name] = translated(str(config["system"]), test_set, direction, options, context)
    return found


# -- quality -----------------------------------------------------------------------------------------------------------


def rated(texts: Sequence[str], test_set: PlainSet, resampling: Resampling) -> dict[str, Span]:
    """BLEU and chrF, and COMET where the user has it, of the whole set; intervals resample sentences."""
    statistics_of: dict[str, tuple[list[dict[str, float]], Callable[..., Floats]]] = {
        "bleu": (quality.bleu_statistics(texts, test_set.references), quality.bleu_value),
        "chrf": (quality.chrf_statistics(texts, test_set.references), quality.chrf_value),
    }
    if quality.comet_program():
        found = quality.comet_statistics(test_set.sources, texts, test_set.references)
        statistics_of["comet"] = (found, quality.mean_value)
    scores = {}
    for score, (rows, value_of) in statistics_of.items():
        counts: Floats = np.array([list(row.values()) for row in rows])
        drawn = statistics.resampled_sums(counts, resampling.n_resamples, resampling.seed)
        interval = statistics.percentile_interval(value_of(*drawn.T), resampling.confidence)
        value = float(value_of(*counts.sum(axis=0, keepdims=True).T)[0])
        scores[score] = Span(value, *(interval or (None, None)))
    return scores


def rate_systems(test_set: PlainSet, texts: Mapping[str, Sequence[str]], resampling: Resampling) -> dict[str, Any]:
    """The quality of the translations under each name; sentences without one count as such."""
    n = len(test_set.sources)
    for name, lines in texts.items():
        if len(lines) != n:
            raise UserError(f"{name} has {len(lines):,} lines for {n:,} sentences; give one for each")
    systems = []
    for name, lines in texts.items():
        scores = {score: span._asdict() for score, span in rated(lines, test_set, resampling).items()}
        systems.append({"name": name, "scores": scores, "n_empty": sum(not text.strip() for text in lines)})
    return {"test_set": test_set.name, "n": n, "signature": quality.signature(), "systems": systems}


def plain_table(report: Mapping[str, Any]) -> Table:
    scores = list(report["systems"][0]["scores"])
    columns = ("system", *(column for score in scores for column in (score, f"{score}_low", f"{score}_high")))
    rows = [
        (one["name"], *(value for score in scores for value in one["scores"][score].values()))
        for one in report["systems"]
    ]
    return Table("plain", f"Quality on {report['test_set']}", columns, rows)


def plain_notes(report: Mapping[str, Any]) -> list[str]:
    empty = [one for one in report["systems"] if one["n_empty"]]
    return [
        f"{report['n']:,} sentences, one reference each; {report['signature']}",
        *(f"{one['name']}: {one['n_empty']:,} sentences have no translation" for one in empty),
    ]


def compare_plain(
    score: str, references: Sequence[str], texts: tuple[Sequence[str], Sequence[str]], resampling: Resampling
) -> Comparison:
    """BLEU or chrF of two systems, paired on sentences; not yet corrected for other questions."""
    metric = quality.quality(score, "plain")
    columns = {name: place for place, name in enumerate(metric.needs)}
    names = tuple(f"{number:06}" for number in range(len(references)))
    count = {"bleu": quality.bleu_statistics, "chrf": quality.chrf_statistics}[score]
    sides = []
    for lines in texts:
        matrix = np.array([list(row.values()) for row in count(lines, references)])
        sides.append(Counts(names, ("",) * len(names), columns, matrix))
    found = compare_metric(score, metric, Pairing(sides[0], sides[1], resampling), resampling)
    return replace(found, metric=score)
