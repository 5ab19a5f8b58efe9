"""Is a system uncertain where it translates well, or badly? (Figure 2 of the uncertainty paper)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gendermark.benchmarks.uncertainty.items import AMBIGUOUS, UNAMBIGUOUS, right_references
from gendermark.cli.options import Executor, option_group
from gendermark.cli.terminal import AsJson
from gendermark.errors import UnknownName, UserError
from gendermark.io.textfiles import read_lines
from gendermark.lab import studies
from gendermark.lab import uncertainty_results as results
from gendermark.lab.studies import PlainSet, Resampled
from gendermark.lab.uncertainty_results import Cell, Drawn, Into, Measure, Plot, Runs
from gendermark.metrics import quality as scores_of
from gendermark.metrics import statistics
from gendermark.metrics.metric import Floats, Resampling
from gendermark.metrics.uncertainty import relative_difference, signed_difference
from gendermark.reporting.charts import Span
from gendermark.reporting.document import Table
from gendermark.runs import folder
from gendermark.runs.run import RunContext

QUALITIES = ("chrf", "comet")
REFERENCES: Mapping[str, str] = {
    "mean": "where the gender is open, the mean over both references",
    "best": "where the gender is open, the better of both references, as in the paper, which favours those sentences",
}
"""How several correct references count. The better of two is never below one of them."""


@dataclass(frozen=True)
class Asked:
    """Settings for scoring and binning sentences."""

    measure: Measure = "s3e"
    quality: str = "chrf"
    n_bins: int = 3
    separately: bool = False
    references: str = "mean"
    resampling: Resampled = studies.DEFAULT_RESAMPLING

    def __post_init__(self) -> None:
        for what, name, known in (("quality", self.quality, QUALITIES), ("references", self.references, REFERENCES)):
            if name not in known:
                raise UnknownName(what, name, known)


class _Rated(NamedTuple):
    """One sentence with its quality and uncertainty."""

    contrast: str
    is_open: bool
    stereotype: str
    quality: float
    entropy: float


def bin_by_quality(cell: Cell, asked: Asked) -> dict[str, Any]:
    """Mean entropy by quality bin, for sentences that specify gender and for others.

    Bins are from worst to best, then `all` sentences. `gap` is unambiguous minus ambiguous and should be negative.
    `n_without` sentences lack a reference or translation and are excluded.
    """
    n_bins, drawn, entropy = asked.n_bins, results.drawn_sentences(cell), results.entropy_name(cell, asked.measure)
    wanted = [(found, right_references(found.item, results.settings_of(cell.result))) for found in drawn]
    usable = [(found, texts) for found, texts in wanted if texts and entropy in found.judgement.measures]
    if not usable:
        raise UserError(
            f"no sentence of {cell.run} has a reference and a translation; quality needs a run with --data core into a "
            "language with references, or with data of your own that have them"
        )
    rated = [
        _Rated(
            found.item.contrast,
            found.judgement.tags["source"] == AMBIGUOUS,
            found.item.tags.get("stereotype", ""),
            value,
            found.judgement.measures[entropy],
        )
        for (found, _), value in zip(usable, _qualities(usable, asked), strict=True)
    ]
    binned: list[list[_Rated]] = [[] for _ in range(n_bins)]
    kinds = [[one for one in rated if one.is_open], [one for one in rated if not one.is_open]]
    for members in kinds if asked.separately else [rated]:
        if members:
            values = np.array([one.quality for one in members])
            # Equal values stay in one bin.
            edges = np.quantile(values, [number / n_bins for number in range(1, n_bins)])
            for one, place in zip(members, np.searchsorted(edges, values).tolist(), strict=True):
                binned[place].append(one)
    contrasts = sorted({one.contrast for one in rated})
    named = {**{f"B{number}": members for number, members in enumerate(binned, start=1)}, "all": rated}
    halves = {half: [one for one in rated if one.stereotype == half] for half in ("pro", "anti")}
    groups = {"all": rated, **halves, UNAMBIGUOUS: kinds[1], AMBIGUOUS: kinds[0]}
    bins = [_quality_bin(name, members, contrasts, asked.resampling) for name, members in named.items()]
    return {
        **cell.where,
        "measure": asked.measure,
        "quality": asked.quality,
        "separately": asked.separately,
        "references": asked.references,
        "means": {
            name: math.fsum(one.quality for one in own) / len(own) if own else None for name, own in groups.items()
        },
        "bins": bins,
        "n_without": len(drawn) - len(rated),
    }


def _qualities(sentences: Sequence[tuple[Drawn, Sequence[str]]], asked: Asked) -> list[float]:
    """Expected quality of a sample of each sentence, against each reference."""
    rows = [
        (found.item.source, text, reference)
        for found, wanted in sentences
        for reference in wanted
        for text in found.samples.texts
    ]
    sources, texts, targets = (list(side) for side in zip(*rows, strict=True))
    if asked.quality == "chrf":
        scores = scores_of.chrf_values(texts, targets)
    else:
        scores = np.array([100 * part["sum"] for part in scores_of.comet_statistics(sources, texts, targets)])
    expected, start = [], 0
    for found, wanted in sentences:
        end = start + len(wanted) * found.samples.n_distinct
        by_reference = scores[start:end].reshape(len(wanted), -1)
        kept = by_reference.max(axis=0) if asked.references == "best" else by_reference.mean(axis=0)
        expected.append(float(kept @ found.samples.counts) / found.samples.n)
        start = end
    return expected


def _quality_bin(
    name: str, members: Sequence[_Rated], contrasts: Sequence[str], resampling: Resampling
) -> dict[str, Any]:
    # Resample contrast sets outside this bin too: its size is random.
    row_of = {contrast: row for row, contrast in enumerate(contrasts)}
    sums = np.zeros((len(contrasts), 4))
    for one in members:
        column = 2 * one.is_open
        sums[row_of[one.contrast], column : column + 2] += (one.entropy, 1.0)
    drawn = statistics.resampled_sums(sums, resampling.n_resamples, resampling.seed)
    with np.errstate(invalid="ignore"):
        told, left_open = drawn[:, 0] / drawn[:, 1], drawn[:, 2] / drawn[:, 3]
    h_told, n_told, h_open, n_open = sums.sum(axis=0).tolist()
    means = (h_told / n_told if n_told else None, h_open / n_open if n_open else None)
    qualities = [one.quality for one in members]
    return {
        "name": name,
        "lowest": min(qualities, default=None),
        "highest": max(qualities, default=None),
        "unambiguous": _mean(means[0], told, int(n_told), resampling),
        "ambiguous": _mean(means[1], left_open, int(n_open), resampling),
        "gap": _mean(signed_difference(*means), told - left_open, len(members), resampling),
        "delta_h": relative_difference(*means),
    }


def _mean(value: float | None, replicates: Floats, n: int, resampling: Resampling) -> dict[str, Any]:
    interval = statistics.percentile_interval(replicates, resampling.confidence) if value is not None else None
    # If all sets agree up to rounding, resampling gives no interval.
    low, high = (None, None) if interval is None or math.isclose(*interval, abs_tol=1e-12) else interval
    return {"value": value, "low": low, "high": high, "n": n}


def _table(systems: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for one in systems:
        for b in one["bins"]:
            told, left_open, gap = b["unambiguous"], b["ambiguous"], b["gap"]
            about = (one["system"], one["direction"], b["name"], b["lowest"], b["highest"])
            both = (told["n"], told["value"], left_open["n"], left_open["value"])
            rows.append((*about, *both, gap["value"], gap["low"], gap["high"], b["delta_h"]))
    where = ("system", "direction", "bin", "from", "to")
    means = ("n_unambiguous", "h_unambiguous", "n_ambiguous", "h_ambiguous", "gap", "gap_low", "gap_high", "delta_h")
    title = f"Entropy ({systems[0]['measure']}) by quality ({systems[0]['quality']})"
    return Table((*where, *means), rows, title)


def _notes(systems: Sequence[Mapping[str, Any]], asked: Asked) -> list[str]:
    how = "of the two kinds of sentence, each by itself" if asked.separately else "of all sentences together"
    of_each = "" if len(systems) == 1 else ", for each system by itself"
    return [
        f"quality is the expected {asked.quality} of a sentence's samples against its correct reference; "
        f"{REFERENCES[asked.references]}",
        f"bins are quantiles {how}{of_each}; 'from' and 'to' are the lowest and the highest quality in them",
        *(
            f"{one['system']} {one['direction']}: {one['n_without']:,} sentences have no reference, or no translation, "
            "and are left out"
            for one in systems
            if one["n_without"]
        ),
    ]


def rate_systems(
    runs: Sequence[Path], files: Sequence[Path], test_set: PlainSet, to: str, how: Resampling, context: RunContext
) -> dict[str, Any]:
    """Quality on the test set, of files of translations and of the systems of runs, asked with their own options;
    missing sentences count as untranslated."""
    texts: dict[str, Sequence[str]] = {str(path): read_lines(path) for path in files}
    for run in runs:
        config = folder.read_manifest(run)["config"]
        for cell in results.read_cells(run, to):
            if cell.name in texts:
                raise UserError(f"{cell.name} is in several of these runs; give it once")
            direction = (cell.result.selection.source_language, cell.result.selection.target_language)
            options = config.get("system_options") or {}
            texts[cell.name] = studies.translated(str(config["system"]), test_set.sources, direction, options, context)
    n = len(test_set.sources)
    for name, lines in texts.items():
        if len(lines) != n:
            raise UserError(f"{name} has {len(lines):,} lines for {n:,} sentences; give one for each")
    systems = []
    for name, lines in texts.items():
        scores = {score: span._asdict() for score, span in studies.rated(lines, test_set, how).items()}
        systems.append({"name": name, "scores": scores, "n_empty": sum(not text.strip() for text in lines)})
    return {"test_set": test_set.name, "n": n, "signature": scores_of.signature(), "systems": systems}


def quality(
    runs: Runs = (),
    to: Into = "",
    asked: Asked = option_group(Asked),
    published: bool = False,
    plain: tuple[Path, Path] | None = None,
    plain_bundled: bool = False,
    translations: tuple[Path, ...] = (),
    plot: Plot = None,
    executor: Executor = "",
    as_json: AsJson = False,
) -> None:
    """Relate uncertainty to translation quality: entropy by quality bin.

    With --plain or --plain-bundled: BLEU and chrF of the systems of these runs, or of files of translations.
    """
    if plain is not None and plain_bundled:
        raise UserError("--plain and --plain-bundled both choose the test set; give one of them")
    if plain is not None or plain_bundled:
        if not runs and not translations:
            raise UserError("give run folders, or files of translations with --translations")
        test_set = studies.read_test_set(*plain) if plain else studies.bundled_test_set()
        with studies.working(executor=executor) as context:
            report = rate_systems(runs, translations, test_set, to, asked.resampling, context)
        scores = report["systems"][0]["scores"]
        columns = ("system", *(column for score in scores for column in (score, f"{score}_low", f"{score}_high")))
        rows = [(one["name"], *chain(*(own.values() for own in one["scores"].values()))) for one in report["systems"]]
        empty = {one["name"]: one["n_empty"] for one in report["systems"] if one["n_empty"]}
        notes = [f"{report['n']:,} sentences, one reference each; {report['signature']}"]
        notes += [f"{name}: {n:,} sentences have no translation" for name, n in empty.items()]
        studies.show(report, [Table(columns, rows, f"Quality on {report['test_set']}")], notes, as_json=as_json)
        return
    if translations:
        raise UserError("--translations are those of a plain test set; give it with --plain SOURCE REFERENCE")
    if not runs:
        raise UserError("give at least one run folder, or a test set with --plain")
    cells = [cell for run in runs for cell in results.read_cells(run, to)]
    systems = [bin_by_quality(cell, asked) for cell in cells]
    if plot is not None:
        _draw(plot, systems)
    notes = [*_notes(systems, asked), *results.differences_of(cells)]
    table = _table(systems)
    if published:
        means = [(one["direction"].partition("-")[2], one["system"], *one["means"].values()) for one in systems]
        title = f"Quality ({systems[0]['quality']}) of the samples"
        table = Table(("language", "system", *systems[0]["means"]), means, title)
    studies.show({"systems": systems}, [table], notes, as_json=as_json)


def _draw(path: Path, systems: Sequence[Mapping[str, Any]]) -> None:
    rows: list[tuple[str, results.Dots]] = []
    for one in systems:
        rows.append((f"{one['system']} {one['direction']}", ()))
        for b in one["bins"]:
            means = (b["unambiguous"], b["ambiguous"])
            if any(mean["n"] for mean in means):
                dots = [Span(m["value"], m["low"], m["high"]) if m["n"] else None for m in means]
                rows.append((b["name"], dots))
    title = f"Entropy ({systems[0]['measure']}, nats) by bin of quality ({systems[0]['quality']})"
    results.write_dots(path, title, rows, [UNAMBIGUOUS, AMBIGUOUS])
