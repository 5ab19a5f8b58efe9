"""Shared by all studies: options, running and comparing systems, sentences, tables and the record of a study.

A plain test set has sentences without gender: it measures translation quality (Table 9 of the uncertainty paper).
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from gendermark import api, names
from gendermark.cli import terminal
from gendermark.cli.options import Executor, Store, option_group, resampling, system_options
from gendermark.errors import BadFile, MissingExtra, UserError
from gendermark.io import locks
from gendermark.io.textfiles import read_json, read_lines, write_json
from gendermark.lab.grammar import generate
from gendermark.metrics import quality, statistics
from gendermark.metrics.intervals import Pairing
from gendermark.metrics.metric import Counts, Floats, Resampling
from gendermark.records import Unit
from gendermark.reporting.document import Table
from gendermark.reporting.phrases import between
from gendermark.result import Result
from gendermark.runs.compare import Asked, Comparison, compare, compare_metric
from gendermark.runs.run import NO_CONTEXT, RunConfig, RunContext, run
from gendermark.selection import Selection
from gendermark.systems.system import System, open_system

# -- options -----------------------------------------------------------------------------------------------------------

SOURCE_LANGUAGE = "en"
Texts = tuple[str, ...]
SystemName = Annotated[str, typer.Option("--system", help="System as family:argument, for example demo:en-es.")]
SystemOptions = Annotated[Mapping[str, str], option_group(system_options)]
Resampled = Annotated[Resampling, option_group(resampling)]
DEFAULT_RESAMPLING = Resampling()
PlainFiles = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        "--plain",
        metavar="SOURCE REFERENCE",
        help="Test set for BLEU and chrF: source and reference file. Default for es: bundled.",
    ),
]
Work = AbstractContextManager[RunContext]


def working(store: Store = None, executor: Executor = "") -> Work:
    """Open the store, progress and messages, and the workers of `--executor`."""
    return terminal.run_context(executor, store)


WORK: Work = option_group(working)


def titled(context: RunContext, name: str) -> RunContext:
    return replace(context, open_progress=lambda title: context.open_progress(f"{name}: {title}"))


def statistics_package(name: str, what: str) -> Any:
    """A module of scipy, pandas or statsmodels, or an error with its install command."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra(what, "lab") from None


# -- systems -----------------------------------------------------------------------------------------------------------

NAMED_SPEC = re.compile(r"([^=:?/\\]+)=(.+)", re.DOTALL)


@dataclass(frozen=True)
class Point:
    """A system with options and its name in a study."""

    name: str
    spec: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-") or "point"

    def open(self) -> System:
        return open_system(self.spec, self.options)


def named_points(texts: Sequence[str]) -> list[Point]:
    found = []
    for text in texts:
        named = NAMED_SPEC.fullmatch(text)
        name, spec = (names.checked(named[1]), named[2]) if named else (names.readable(text), text)
        found.append(Point(name, spec))
    return found


def refuse_equal_names(points: Sequence[Point], option: str) -> None:
    slugs = [point.slug for point in points]
    for point in points:
        if slugs.count(point.slug) > 1:
            raise UserError(f"two systems are called {point.name}; name them apart with {option}")


# -- plain test sets ---------------------------------------------------------------------------------------------------

N_BUNDLED = 1000
NO_REFERENCES = "BLEU is left out: there is no test set with references; give --plain SOURCE REFERENCE, and no fake"


class Span(NamedTuple):
    """A value and its interval, if any."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class PlainSet:
    """Sentences with reference translations, human or from the grammar."""

    name: str
    sources: Sequence[str]
    references: Sequence[str]


def read_test_set(source: Path, reference: Path, option: str = "--plain") -> PlainSet:
    sources, references = read_lines(source), read_lines(reference)
    if len(sources) != len(references) or not sources:
        raise UserError(
            f"{source} has {len(sources):,} lines and {reference} {len(references):,}; {option} takes a file of "
            "sentences and one with the translation of each"
        )
    return PlainSet(source.name, sources, references)


def bundled_test_set(n: int = N_BUNDLED, seed: int = 0) -> PlainSet:
    """Sentences of the demo model's grammar that it has not seen."""
    pairs = list(generate(n, seed, split="held-out"))
    name = "held-out sentences of the bundled grammar (en-es)"
    return PlainSet(name, [pair.source for pair in pairs], [pair.target for pair in pairs])


def plain_set(given: tuple[Path, Path] | None, target_language: str) -> PlainSet | None:
    if given is not None:
        return read_test_set(*given)
    return bundled_test_set() if target_language == "es" else None


def translated(
    spec: str,
    sources: Sequence[str],
    direction: tuple[str, str],
    options: Mapping[str, str] | None = None,
    context: RunContext = NO_CONTEXT,
) -> list[str]:
    asking = api.Asking(direction[1], direction[0])
    return [samples[0].text or "" for samples in api.translate(spec, sources, asking, options, context)]


def rated(texts: Sequence[str], test_set: PlainSet, resampling: Resampling) -> dict[str, Span]:
    statistics_of = {
        "bleu": quality.bleu_statistics(texts, test_set.references),
        "chrf": quality.chrf_statistics(texts, test_set.references),
    }
    if quality.comet_program():
        statistics_of["comet"] = quality.comet_statistics(test_set.sources, texts, test_set.references)
    scores = {}
    for score, rows in statistics_of.items():
        value_of = quality.quality(score, "plain").value
        counts: Floats = np.array([list(row.values()) for row in rows])
        drawn = statistics.resampled_sums(counts, resampling.n_resamples, resampling.seed)
        interval = statistics.percentile_interval(value_of(*drawn.T), resampling.confidence)
        value = float(value_of(*counts.sum(axis=0, keepdims=True).T)[0])
        scores[score] = Span(value, *(interval or (None, None)))
    return scores


# -- comparisons -------------------------------------------------------------------------------------------------------

Key = tuple[str, str, str]
Row = Mapping[str, Any]
"""A comparison as in JSON, or another part of a report."""


class Compared(NamedTuple):
    """A metric that a study compares: its column and its name in findings, if any."""

    key: Key
    column: str
    finding: str


def lists(name: str) -> Any:
    return tomllib.loads((files(__package__) / "lists.toml").read_text(encoding="utf-8"))[name]


def compared_in(study: str) -> list[Compared]:
    return [Compared((benchmark, metric, part), *names) for benchmark, metric, part, *names in lists(study)]


class Made(NamedTuple):
    """The run of one system, and its translations of the plain test set, if any."""

    results: Sequence[Result]
    texts: Sequence[str] = ()


def run_point(
    point: Point,
    selections: tuple[Selection, ...],
    run_folder: Path,
    how: Resampling,
    context: RunContext,
    *,
    test_set: PlainSet | None = None,
    accept_unsound: bool = False,
) -> Made:
    """Run a system on benchmarks and on the plain test set; the run folder is kept and resumed."""
    config = RunConfig(point.spec, selections, point.options, how, accept_unsound=accept_unsound)
    results = run(config, run_folder, context)
    if test_set is None:
        return Made(results)
    silent = replace(context, tell=lambda note: None)  # noqa: ARG005 (its notes were given for the run)
    direction = (SOURCE_LANGUAGE, selections[0].target_language)
    return Made(results, translated(point.spec, test_set.sources, direction, point.options, silent))


def compare_quality(
    first: Made, second: Made, test_set: PlainSet | None, how: Resampling, scores: Sequence[str] = ("bleu", "chrf")
) -> list[Comparison]:
    """BLEU and chrF of two systems, paired by sentence, uncorrected; empty if one has no translations."""
    if test_set is None or not (first.texts and second.texts):
        return []
    names = tuple(f"{number:06}" for number in range(len(test_set.references)))
    rows = []
    for score in scores:
        metric = quality.quality(score, "plain")
        columns = {name: place for place, name in enumerate(metric.needs)}
        count = {"bleu": quality.bleu_statistics, "chrf": quality.chrf_statistics}[score]
        sides = []
        for texts in (first.texts, second.texts):
            matrix = np.array([list(row.values()) for row in count(texts, test_set.references)])
            sides.append(Counts(names, ("",) * len(names), columns, matrix))
        found = compare_metric(score, metric, Pairing(sides[0], sides[1], how), how)
        rows.append(replace(found, metric=score))
    return rows


def compared(
    first: Made,
    second: Made,
    keys: Sequence[Key],
    test_set: PlainSet | None,
    how: Resampling,
    scores: Sequence[str] = ("bleu", "chrf"),
) -> list[Row]:
    """Metrics of two runs and scores on the plain test set, as JSON, with one Holm correction.

    Runs with unsound translations are compared too: `unsound_notes` must be shown with them.
    """
    one, other = (
        [replace(result, signature=result.signature.removesuffix("|unsound:accepted")) for result in made.results]
        for made in (first, second)
    )
    report = compare(one, other, how, Asked(everything=True))
    found = {(row.cell.partition(".")[0], row.metric, row.slice): row for row in report.comparisons}
    plain = compare_quality(first, second, test_set, how, scores)
    return [row.to_json() for row in corrected([*(found[key] for key in keys if key in found), *plain])]


def signatures(made: Mapping[str, Made]) -> dict[str, list[str]]:
    return {name: [result.signature for result in one.results] for name, one in made.items()}


def unsound_notes(made: Mapping[str, Made]) -> list[str]:
    found = [(name, result) for name, own in made.items() for result in own.results]
    return [f"{name}: {result.cell}: {one}" for name, result in found for one in result.unsound]


def corrected(rows: Sequence[Comparison]) -> list[Comparison]:
    adjusted = statistics.holm([row.p_value for row in rows])
    return [replace(row, p_adjusted=p) for row, p in zip(rows, adjusted, strict=True)]


# -- words and tables --------------------------------------------------------------------------------------------------

LONG_COLUMNS = ("cell", "metric", "slice", "first", "second", "difference", "low", "high", "p_adjusted")


def by_key(comparisons: Sequence[Row]) -> dict[Key, Row]:
    return {(row["cell"].partition(".")[0], row["metric"], row["slice"]): row for row in comparisons}


def is_unchanged(change: Comparison) -> bool:
    return change.difference == 0 and not change.low and not change.high


def change_in_words(name: str, change: Comparison) -> str:
    """`BLEU 30.1 to 28.9 (-1.2, CI -2.0 to -0.4: worse)`"""
    show = change.unit.show
    if change.difference is None:
        return f"{name}: no value to compare"
    if is_unchanged(change):
        return f"{name} {show(change.first)}, unchanged"
    ci = "" if change.low is None else f", CI {between(show(change.low), show(change.high))}"
    moved = f"{name} {show(change.first)} to {show(change.second)}"
    return f"{moved} ({change.unit.show_change(change.difference)}{ci}: {change.in_words()})"


def changes_in_words(named: Mapping[Key, str], comparisons: Sequence[Row]) -> list[str]:
    found = by_key(comparisons)
    return [change_in_words(name, _comparison(found[key])) for key, name in named.items() if key in found]


def _comparison(row: Row) -> Comparison:
    values = {key: value for key, value in row.items() if key != "change"}
    return Comparison(**{**values, "unit": Unit(row["unit"])})


def value_cells(row: Mapping[Key, Row], keys: Iterable[Key], side: str) -> list[str]:
    return [Unit(row[key]["unit"]).show(row[key][side]) if key in row else "–" for key in keys]


def changed_rows(baseline: str, systems: Sequence[Row], keys: Sequence[Key]) -> list[tuple[str, ...]]:
    rows = [(baseline, *value_cells(by_key([row for one in systems for row in one["comparisons"]]), keys, "first"))]
    for one in systems:
        found = by_key(one["comparisons"])
        rows.append((one["name"], *(_change_cell(found.get(key)) for key in keys)))
    return rows


def _change_cell(row: Row | None) -> str:
    if row is None or row["difference"] is None:
        return "–"
    unit = Unit(row["unit"])
    if is_unchanged(_comparison(row)):
        return f"{unit.show(row['second'])} (unchanged)"
    change = f"{unit.show(row['second'])} ({unit.show_change(row['difference'])}"
    return f"{change})" if row["low"] is None else f"{change}; {unit.show(row['low'])} to {unit.show(row['high'])})"


def long_rows(systems: Sequence[Row]) -> list[tuple[Any, ...]]:
    return [(one["name"], *(row[column] for column in LONG_COLUMNS)) for one in systems for row in one["comparisons"]]


def show(
    found: Any, tables: Sequence[Table], notes: Iterable[str] = (), *, as_json: bool, piped: Sequence[Table] = ()
) -> None:
    """Print `found` as JSON, or all tables on a terminal, or `piped` (the first one) in full precision; then notes."""
    if as_json:
        terminal.print_json(found)
    elif terminal.is_terminal(sys.stdout):
        first, *others = tables
        for one in map(_narrowed, (*others, first)):
            cells = [[f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row] for row in one.rows]
            terminal.print_table(str(one.caption), [str(head) for head in one.columns], cells)
    else:
        for table in piped or tables[:1]:
            terminal.print_table("", [str(head) for head in table.columns], table.rows)
    for note in notes:
        terminal.say(note)


def _narrowed(table: Table) -> Table:
    """Narrow a table: values shared by all rows move to the title; a prefix of the next cell ("causality",
    "causality_subject_f") is dropped. A table of words stays as it is."""
    columns = list(zip(*table.rows, strict=True))
    is_text = [not any(isinstance(cell, float | int) for cell in column) for column in columns]
    if len(table.rows) < 2 or all(is_text):
        return table
    texts = [[str(cell or "") for cell in column] for column in columns]
    shared = [place for place, column in enumerate(texts) if is_text[place] and len(set(column)) == 1]
    begun = [
        place
        for place, (column, following) in enumerate(pairwise(texts))
        if all(cell and other.startswith(cell) for cell, other in zip(column, following, strict=True))
    ]
    kept = [place for place in range(len(columns)) if place not in {*shared, *begun}]
    said = ", ".join(f"{table.columns[place]} {texts[place][0]}" for place in shared if texts[place][0])
    return Table(
        [table.columns[place] for place in kept],
        [[row[place] for place in kept] for row in table.rows],
        "; ".join(filter(None, (str(table.caption), said))),
    )


# -- the record of a study ---------------------------------------------------------------------------------------------


@contextmanager
def claimed(record: Path, settings: Row, own: Sequence[str]) -> Iterator[None]:
    """Lock a study's directory for one process, and record its settings there.

    Only the same study may reuse a directory; without a record it must not contain its `own` files.
    """
    _check_reusable(record, settings, own)
    with locks.claimed(record.parent):
        _check_reusable(record, settings, own)  # again: another process may have been faster
        write_json(record, {"settings": settings})
        yield


def _check_reusable(path: Path, settings: Row, own: Sequence[str]) -> None:
    output = path.parent
    if not path.exists():
        for name in own:
            if (output / name).exists():
                raise UserError(f"{output / name} exists and does not belong to this study; choose another with -o")
        return
    record = read_json(path)
    earlier = record.get("settings") if isinstance(record, dict) else None
    if not isinstance(earlier, dict):
        raise BadFile(path, "is not the record of a study; choose another directory with -o")
    if changed := [key for key in settings if settings[key] != earlier.get(key)]:
        raise UserError(
            f"{output} holds another study (it differs in {', '.join(changed)}); choose another directory with -o"
        )
