"""What makes a system fast, and what that does to gender: SimpleGEN's study for any system.

Each point is a run folder of its own. Its translations are made once, by way of the store; its time is taken from the
system itself. All comparisons are those of `gendermark compare`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from gendermark import api, registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.benchmarks.simplegen.benchmark import BENCHMARK
from gendermark.benchmarks.simplegen.findings import COLUMNS
from gendermark.errors import UnknownName, UserError
from gendermark.io import locks
from gendermark.lab.plain import (
    PlainQualities,
    PlainSet,
    bundled_test_set,
    compare_plain,
    rate_systems,
    read_test_set,
)
from gendermark.lab.record import check_reusable, write_record
from gendermark.lab.speed.measured import Measured, Span, Study
from gendermark.lab.speed.points import Grid, Point, place_of
from gendermark.lab.speed.timing import CLOCKS, Diary, Rounds, Timing, machine, measure
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.records import Request
from gendermark.result import Result
from gendermark.runs.compare import Asked, Comparison, compare
from gendermark.runs.executors import Executor
from gendermark.runs.run import NO_CONTEXT, RunConfig, RunContext, plan, run
from gendermark.selection import Selection
from gendermark.systems.system import System

SOURCE_LANGUAGE = "en"
RECORD, DIARY, RUNS = "speed.json", "timings.jsonl", "runs"
N_BUNDLED = 500
"""Sentences of the bundled test set that are taken: enough for BLEU, and quick."""
_QUALITY = {"BLEU": "bleu", "chrF": "chrf"}


@dataclass(frozen=True)
class Settings:
    """What is compared, on what, and how time is taken."""

    grid: Grid
    target_language: str
    baseline: str = ""
    """The name of a point; the first if not given."""
    test_set: tuple[Path, Path] | None = None
    data: str = "core"
    rules: str = "best"
    also: Sequence[str] = ()
    """Other benchmarks, whose headline numbers are measured as well."""
    timing: Timing = field(default_factory=Timing)
    resampling: Resampling = field(default_factory=Resampling)

    def __post_init__(self) -> None:
        if self.timing.clock not in CLOCKS:
            raise UnknownName("clock", self.timing.clock, CLOCKS)

    def selections(self) -> tuple[Selection, ...]:
        own = api.select(BENCHMARK.name, self.target_language, data=self.data, rules=self.rules)[1]
        return (own, *(api.select(name, self.target_language, data=self.data)[1] for name in self._others()))

    def _others(self) -> list[str]:
        return [name for name in dict.fromkeys(self.also) if name != BENCHMARK.name]


@dataclass(frozen=True)
class _Facts:
    """What is known of a system once it was opened."""

    system_id: str
    decoding: str
    computing: str
    asks_a_server: bool
    is_for_items_only: bool


OpenWorkers = Callable[[], AbstractContextManager[Executor]]


def study_speed(
    settings: Settings, output: Path, context: RunContext = NO_CONTEXT, open_workers: OpenWorkers | None = None
) -> Study:
    """Measure every point and compare each with the baseline; what was done before a kill is not done again.

    Workers translate and score, and have ended before the first point is timed.
    """
    if output.exists() and not output.is_dir():
        raise UserError(f"{output} is a file; choose a directory with -o")
    points = settings.grid.points()
    base = place_of(settings.baseline, points)
    given = read_test_set(*settings.test_set, option="--test-set") if settings.test_set else None
    selections = settings.selections()
    facts = [_look_at(point, settings, selections) for point in points]
    answers_anything = not any(one.is_for_items_only for one in facts)
    test_set = (given or _bundled(settings)) if answers_anything else None
    asked = _asked(settings, points, base, test_set, facts)
    record = output / RECORD
    check_reusable(record, asked, (RUNS, DIARY))
    with locks.hold(output / ".lock"):
        check_reusable(record, asked, (RUNS, DIARY))  # again: another process may have been faster
        write_record(record, {"settings": asked})
        with open_workers() if open_workers else nullcontext(context.executor) as workers:
            by_workers = replace(context, executor=workers)
            results = {point.name: _run(point, settings, selections, output, by_workers) for point in points}
            texts = {one.name: _translated(one, settings, test_set, by_workers) for one in points} if test_set else {}
        work = _Work.of(settings, selections[0], test_set)
        what = {"points": asked["systems"], "sentences": work.content, "machine": machine()}
        diary = Diary(output / DIARY, what)
        if diary.forgot:
            context.tell(f"the rounds in {output / DIARY} differ in {', '.join(diary.forgot)} and are taken again")
        ready = {point.name: partial(work.ready, point) for point in points}
        with context.open_progress(f"timing, {settings.timing.repeats} rounds") as progress:
            rounds = measure(diary, ready, work.timed, settings.timing, progress)
        measured = _compared(settings, points, base, results, _Plain.of(test_set, texts, settings.resampling), rounds)
        study = Study(
            measured,
            base,
            rounds,
            f"{SOURCE_LANGUAGE}-{settings.target_language}",
            {**asked, **what, "clock": settings.timing.clock, "timed_on": work.name, "n_timed": len(work.timed)},
            tuple(_notes(points, facts, rounds, test_set, settings)),
            settings.resampling.confidence,
        )
        write_record(record, {"settings": asked, "report": study.to_json()})
    return study


# -- before any work --------------------------------------------------------------------------------------------------


def _bundled(settings: Settings) -> PlainSet | None:
    """Sentences to rate and to time where the user gives none: of the bundled grammar, English to Spanish."""
    if settings.target_language != "es":
        return None
    whole = bundled_test_set()
    return PlainSet(whole.name, whole.sources[:N_BUNDLED], whole.references[:N_BUNDLED])


def _look_at(point: Point, settings: Settings, selections: tuple[Selection, ...]) -> _Facts:
    """Everything that can be refused is refused now: an option, a value, a direction, a task."""
    with closing(point.open()) as system:
        if not system.has_own_time:
            raise UserError(
                f"{point.spec} holds translations that were made elsewhere, so it has no time of its own; give a "
                "system that translates"
            )
        plan(RunConfig(point.spec, selections, point.options), system)
        if not system.is_for_items_only:
            system.check(SOURCE_LANGUAGE, settings.target_language, ())
        return _Facts(
            system.system_id, system.decoding, system.computing, system.asks_a_server, system.is_for_items_only
        )


def _asked(
    settings: Settings, points: Sequence[Point], base: int, test_set: PlainSet | None, facts: Sequence[_Facts]
) -> dict[str, Any]:
    """What makes it this study; more rounds may be added to it, and another clock looked at."""
    content = [*test_set.sources, *test_set.references] if test_set else []
    return {
        "systems": {
            point.name: {
                "spec": point.spec,
                "options": dict(point.options),
                "system_id": fact.system_id,
                "decoding": fact.decoding,
                "computing": fact.computing,
            }
            for point, fact in zip(points, facts, strict=True)
        },
        "baseline": points[base].name,
        "target_language": settings.target_language,
        "test_set": f"{test_set.name}#{_hash(content)}" if test_set else None,
        "data": settings.data,
        "rules": settings.rules,
        "also": list(settings.also),
        "n_sentences": settings.timing.n_sentences,
        "intervals": settings.resampling.signature,
    }


def _hash(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


# -- translations, and time -------------------------------------------------------------------------------------------


def _run(
    point: Point, settings: Settings, selections: tuple[Selection, ...], output: Path, context: RunContext
) -> list[Result]:
    config = RunConfig(point.spec, selections, point.options, settings.resampling)
    own = replace(context, name=point.name, open_progress=_titled(point, context), tell=_only_warnings(context.tell))
    return run(config, output / RUNS / point.slug, own)


def _translated(point: Point, settings: Settings, test_set: PlainSet, context: RunContext) -> list[str]:
    asking = api.Asking(settings.target_language, SOURCE_LANGUAGE)
    own = replace(context, open_progress=lambda _: context.open_progress(f"{point.name}: test set"))
    answers = api.translate(point.spec, test_set.sources, asking, point.options, own)
    return [samples[0].text or "" for samples in answers]


def _titled(point: Point, context: RunContext) -> Callable[[str], AbstractContextManager[Any]]:
    return lambda title: context.open_progress(f"{point.name}: {title}")


def _only_warnings(tell: Callable[[str], None]) -> Callable[[str], None]:
    """How many sentences there are need not be said for every point."""
    return lambda note: None if " sentences" in note else tell(note)


@dataclass(frozen=True)
class _Work:
    """The sentences whose translation is timed, and how a system is made ready for them."""

    name: str
    timed: Sequence[Request]
    item_set: ItemSet | None
    """Where they are those of the benchmark, which some systems must be told of."""
    requests: Sequence[Request]

    @classmethod
    def of(cls, settings: Settings, selection: Selection, test_set: PlainSet | None) -> _Work:
        item_set, name = None, ""
        if test_set is not None:
            name = test_set.name
            requests = api.Asking(settings.target_language, SOURCE_LANGUAGE).requests(test_set.sources)
        else:
            name, item_set = BENCHMARK.title, api.items(selection)
            requests = list(BENCHMARK.requests(item_set))
        n = min(settings.timing.n_sentences, len(requests))
        return cls(name, [requests[at * len(requests) // n] for at in range(n)], item_set, requests)

    @property
    def content(self) -> str:
        return _hash([request.source for request in self.timed])

    @contextmanager
    def ready(self, point: Point) -> Iterator[System]:
        with closing(point.open()) as system:
            if self.item_set is not None:
                system.prepare(BENCHMARK, self.item_set, self.requests)
            else:
                first = self.timed[0]
                system.check(first.source_language, first.target_language, self.timed)
            yield system


# -- numbers ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plain:
    """Quality on the plain test set, and its comparisons; nothing where there is none."""

    test_set: PlainSet | None
    texts: Mapping[str, Sequence[str]]
    rated: PlainQualities | None
    resampling: Resampling

    @classmethod
    def of(cls, test_set: PlainSet | None, texts: Mapping[str, Sequence[str]], resampling: Resampling) -> _Plain:
        return cls(test_set, texts, rate_systems(test_set, texts, resampling) if test_set else None, resampling)

    def values(self, name: str) -> dict[str, Span]:
        if self.rated is None:
            return {}
        (found,) = (one.scores for one in self.rated.systems if one.name == name)
        return {
            label: Span(found[score].value, found[score].low, found[score].high) for label, score in _QUALITY.items()
        }

    def changes(self, base: str, name: str) -> dict[str, Comparison]:
        if self.test_set is None:
            return {}
        texts = self.texts[base], self.texts[name]
        rows = [compare_plain(score, self.test_set.references, texts, self.resampling) for score in _QUALITY.values()]
        adjusted = statistics.holm([row.p_value for row in rows])
        corrected = (replace(row, p_adjusted=p) for row, p in zip(rows, adjusted, strict=True))
        return dict(zip(_QUALITY, corrected, strict=True))


def _compared(
    settings: Settings,
    points: Sequence[Point],
    base: int,
    results: Mapping[str, Sequence[Result]],
    plain: _Plain,
    rounds: Rounds,
) -> tuple[Measured, ...]:
    first = points[base].name
    columns = {label: (results[first][0].cell, *key) for label, key in COLUMNS.items()}
    others = {label: key for result in results[first][1:] for label, key in _headline(result).items()}
    found = []
    for point in points:
        own = {**columns, **others}
        changes: dict[str, Comparison] = {}
        if point.name != first:
            compared = compare(
                results[first], results[point.name], settings.resampling, Asked(everything=True)
            ).comparisons
            by_key = {row.key: row for row in compared}
            changes = plain.changes(first, point.name) | {
                label: by_key[key] for label, key in own.items() if key in by_key
            }
        values = plain.values(point.name) | {
            label: span
            for label, (cell, metric, part) in own.items()
            if (span := _span(results[point.name], cell, metric, part))
        }
        sizes = _sizes(results[point.name][0])
        found.append(Measured(point.name, point.slug, point.spec, values, changes, tuple(others), sizes, rounds, first))
    return tuple(found)


def _headline(result: Result) -> dict[str, tuple[str, str, str]]:
    """The headline numbers of another benchmark, by what they are called."""
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    metrics = benchmark.measures.metrics(result.judgements, result.selection)
    return {
        f"{benchmark.title}: {benchmark.label(m.name, m.slice)}": (result.cell, m.name, m.slice)
        for m in metrics
        if benchmark.is_headline(m)
    }


def _span(results: Sequence[Result], cell: str, metric: str, part: str) -> Span | None:
    found = next((r.find(metric, part) for r in results if r.cell == cell), None)
    return Span(found.value, found.low, found.high) if found is not None and found.value is not None else None


def _sizes(result: Result) -> dict[str, int]:
    """How many sentences each group has."""
    found = [judgement.tags["group"].upper() for judgement in result.judgements]
    return {group: found.count(group) for group in dict.fromkeys(found)}


def _notes(
    points: Sequence[Point],
    facts: Sequence[_Facts],
    rounds: Rounds,
    test_set: PlainSet | None,
    settings: Settings,
) -> Iterator[str]:
    for point, fact in zip(points, facts, strict=True):
        if fact.asks_a_server:
            yield (
                f"{point.name} asks a server: its time is that of the network and of whatever else the server does, "
                "not its own"
            )
    seen: dict[str, Point] = {}
    for point, fact in zip(points, facts, strict=True):
        twin = seen.setdefault(fact.system_id, point)
        if twin is not point and point.pace == twin.pace:
            yield f"{point.name} computes the same as {twin.name} here; what differs in time is noise"
        elif twin is not point:
            yield f"{point.name} and {twin.name} say the same by design: these options change the time alone"
    if any(fact.is_for_items_only for fact in facts):
        yield f"a system answers the sentences of benchmarks only, so time is taken on {BENCHMARK.title}'s; no BLEU"
    elif test_set is None:
        yield (
            f"there is no test set into {settings.target_language}, so time is taken on {BENCHMARK.title}'s sentences "
            "and BLEU is left out; give one with --test-set SOURCE REFERENCE"
        )
    if rounds.is_busy and rounds.clock == "wall" and not any(fact.asks_a_server for fact in facts):
        yield (
            "the machine was busy with other work: the slowest round of a point took up to "
            f"{rounds.spread:.1f} times as long as its fastest; --clock cpu counts the work alone, and more --repeats "
            "make times surer"
        )
