"""Load uncertainty results of run folders for analysis.

The analyses of the uncertainty paper (Staliūnaitė, Cheng and Vlachos 2026):

- `correlate`: uncertainty against gender accuracy (Tables 3, 16, 18, 19)
- `samples`: translations of one sentence with he, she and they (Table 5)
- `cues`: which cues in the sentence affect uncertainty (Tables 7, 10, 11)
- `quality`: uncertainty by translation quality (Figure 2, Table 9)
- `determiners`: probabilities of two given translations (Figure 1)
- `sampling`: effect of epsilon and alpha
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from gendermark.benchmarks.uncertainty import Settings
from gendermark.benchmarks.uncertainty.judge import BENCHMARK
from gendermark.benchmarks.uncertainty.measures import chosen_alpha
from gendermark.cli.terminal import say
from gendermark.errors import UnknownName, UserError
from gendermark.io.textfiles import write_text
from gendermark.metrics.uncertainty import Samples
from gendermark.reading.failures import failure
from gendermark.records import Item, Judgement
from gendermark.reporting import charts
from gendermark.reporting.charts import Canvas, figure
from gendermark.result import Result
from gendermark.runs import folder

MEASURES = ("s3e", "gender", "string", "semantic")
# Cells that differ in one of these are not comparable.
SETTINGS = ("data", "revision", "parts", "detector", "n_samples", "sampling", "similarity", "alpha", "entailment")

Runs = Annotated[tuple[Path, ...], typer.Argument(metavar="DIR...", help="Run folders with uncertainty results.")]
Into = Annotated[str, typer.Option("--to", help="Target language, if the run has several.")]
Measure = Annotated[str, typer.Option("--measure", help="Which entropy: s3e, gender, string, or semantic.")]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE.svg", help="Also draw dots with intervals into this file.")
]


class Cell(NamedTuple):
    run: Path
    result: Result

    @property
    def direction(self) -> str:
        return self.result.selection.direction

    @property
    def name(self) -> str:
        return f"{self.result.system} {self.direction}"

    @property
    def where(self) -> dict[str, str]:
        return {"run": str(self.run), "system": self.result.system, "direction": self.direction}


def read_cells(run: Path | str, to: str = "") -> list[Cell]:
    results = folder.read_results(Path(run))
    found = [Cell(Path(run), result) for result in results if result.selection.benchmark == BENCHMARK.name]
    if not found:
        raise UserError(f"{run} has no uncertainty results; make some with `gendermark run --benchmark uncertainty`")
    chosen = [cell for cell in found if to in ("", cell.result.selection.target_language)]
    if not chosen:
        raise UserError(f"{run} has no uncertainty results into {to!r}; available: {_directions(found)}")
    return chosen


def read_cell(run: Path | str, to: str = "") -> Cell:
    found = read_cells(run, to)
    if len(found) > 1:
        raise UserError(f"{run} has uncertainty results for {_directions(found)}; choose a language with --to")
    return found[0]


def _directions(cells: Sequence[Cell]) -> str:
    return ", ".join(cell.direction for cell in cells)


def entropy_names(result: Result) -> dict[str, str]:
    alpha = chosen_alpha(result.judgements, settings_of(result).alpha)
    return dict(zip(MEASURES, (f"h_s3e@{alpha:g}", "h_gender", "h_string", "h_semantic"), strict=True))


def entropy_name(cell: Cell, measure: str) -> str:
    names = entropy_names(cell.result)
    if measure not in names:
        raise UnknownName("measure", measure, names)
    known = set().union(*(judgement.measures for judgement in cell.result.judgements))
    if names[measure] in known:
        return names[measure]
    if measure == "semantic" and names["string"] in known:
        raise UserError(f"{cell.run} has no semantic entropy; run it with --entailment MODEL, or use another --measure")
    raise UserError(f"{cell.run} has no {measure} entropy: it has no translation that could be read")


def settings_of(result: Result) -> Settings:
    assert isinstance(result.selection, Settings)
    return result.selection


class Drawn(NamedTuple):
    item: Item
    judgement: Judgement
    samples: Samples


def drawn_sentences(cell: Cell) -> list[Drawn]:
    found = []
    texts = folder.read_texts(cell.run / cell.result.cell, cell.result)
    for judgement, text in zip(cell.result.judgements, texts, strict=True):
        kept = Samples.of(sample or "" for sample in text.samples if failure(text.source, sample) is None)
        j = judgement
        item = Item(j.item_id, j.index, j.group_id, text.source, j.expected, j.tags, j.entity, j.contrast)
        found.append(Drawn(item, j, kept))
    return found


def value_of(result: Result, metric: str, part: str) -> float | None:
    found = result.find(metric, part)
    return None if found is None else found.value


def differences_of(cells: Sequence[Cell], settings: Sequence[str] = SETTINGS) -> list[str]:
    results = [cell.result for cell in cells]
    notes = differences("the runs were not measured alike", results, settings)
    # With their version, which only the signature has.
    rules = {result.signed["rules"] for result in results if "rules" in result.signed}
    if len(rules) > 1:
        notes.append(f"the runs were judged by different rules ({', '.join(sorted(rules))}); run them again")
    tuned = {chosen_alpha(result.judgements, "tuned") for result in results if settings_of(result).alpha == "tuned"}
    if len(tuned) > 1:
        alphas = ", ".join(f"{alpha:g}" for alpha in sorted(tuned))
        notes.append(f"alpha was tuned to different values ({alphas}), so S3E is not on one scale")
    return notes


def differences(what: str, results: Sequence[Result], fields: Sequence[str]) -> list[str]:
    other = [name for name in fields if len({getattr(result.selection, name) for result in results}) > 1]
    return [f"{what}: they differ in {', '.join(other)}"] if other else []


Dots = Sequence[charts.Span | None]


def write_dots(path: Path, title: str, rows: Sequence[tuple[str, Dots]], series: Sequence[str]) -> None:
    """Draw dots with intervals as SVG, a line for each row and series; a row without dots is a heading."""
    looks = [charts.look_of(number) for number in range(len(series))]

    def draw(canvas: Canvas) -> None:
        top = charts.legend(canvas, list(zip(series, looks, strict=True)), 0)
        shown = [
            charts.DotRow(label, [[(dot, look) for dot, look in zip(dots, looks, strict=True) if dot]] if dots else [])
            for label, dots in rows
        ]
        charts.dots(canvas, [charts.DotPanel(title, zero=0.0)], shown, top)

    write_text(path, figure(path.stem, title, title, "", draw).svg)
    say(f"picture written to {path}")
