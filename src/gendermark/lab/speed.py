"""Effects of speed optimisations on gender: SimpleGEN's study for any system.

Each point is a run folder. Translations are made once through the store; times are measured on the system itself
(`timing.py`). Comparisons are those of `gendermark compare`.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from gendermark import api, names, registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.benchmarks.simplegen.findings import COLUMNS
from gendermark.benchmarks.simplegen.judge import BENCHMARK
from gendermark.cli.options import AcceptUnsound, ResumedIn, Rules, StudiedData, To, option_group
from gendermark.cli.terminal import AsJson, say
from gendermark.errors import UnknownName, UserError
from gendermark.io.textfiles import write_json
from gendermark.lab import speed_report, studies
from gendermark.lab.speed_report import QUALITY, Measured, Study
from gendermark.lab.studies import SOURCE_LANGUAGE, Made, PlainSet, Point, Span
from gendermark.lab.timing import CLOCKS, Diary, Rounds, machine, measure
from gendermark.records import Request
from gendermark.result import Result
from gendermark.runs.compare import Asked, Comparison, compare
from gendermark.runs.run import NO_CONTEXT, RunConfig, plan
from gendermark.selection import Selection
from gendermark.systems.engine import WITHOUT_EFFECT
from gendermark.systems.system import System, open_system, split_options

RECORD, DIARY, RUNS = "speed.json", "timings.jsonl", "runs"
N_BUNDLED = 500
"""Sentences used of the bundled test set: enough for BLEU, and quick."""
_CALLED = {"compute_type": "{}", "dtype": "{}", "beam_size": "beam {}", "use_vmap": "vocabulary map {}"}


@dataclass(frozen=True)
class Settings:
    target_language: To
    output: ResumedIn
    system: studies.SystemName = ""
    vary: studies.Texts = ()
    against: studies.Texts = ()
    seed_of: studies.Texts = ()
    baseline: str = ""
    system_options: studies.SystemOptions = field(default_factory=dict)
    test_set: tuple[Path, Path] | None = None
    data: StudiedData = "core"
    rules: Rules = "best"
    also: studies.Texts = ()
    repeats: int = 7
    n_timed: int = 128
    clock: str = "wall"
    resampling: studies.Resampled = studies.DEFAULT_RESAMPLING
    accept_unsound: AcceptUnsound = False

    def selections(self) -> tuple[Selection, ...]:
        own = api.select(BENCHMARK.name, self.target_language, data=self.data, rules=self.rules)[1]
        others = [name for name in dict.fromkeys(self.also) if name != BENCHMARK.name]
        return (own, *(api.select(name, self.target_language, data=self.data)[1] for name in others))


# -- points ------------------------------------------------------------------------------------------------------------


def trainings_of(settings: Settings) -> dict[str, list[Point]]:
    """Parse `NAME=SPEC,SPEC` or `NAME=FAMILY:DIR-*`: a point for each training."""
    found: dict[str, list[Point]] = {}
    for text in settings.seed_of:
        named = studies.NAMED_SPEC.fullmatch(text)
        specs = (
            [one for spec in named[2].split(",") if spec.strip() for one in _matching(spec.strip())] if named else []
        )
        if named is None or len(specs) < 2:
            raise UserError(
                f"--seed-of takes NAME=SPEC,SPEC or NAME=FAMILY:DIR-* with two trainings or more, not {text!r}"
                + (f", which matches {len(specs)}" if "*" in text else "")
            )
        name = names.checked(named[1])
        if name in found:
            raise UserError(f"--seed-of {name} is given twice; give all its trainings at once, with commas")
        found[name] = [Point(f"{name}, training {n}", spec) for n, spec in enumerate(specs, 1)]
    return found


def _matching(spec: str) -> list[str]:
    """The system, or those of all matching directories, 10 after 9."""
    family, _, path = spec.partition(":")
    if "*" not in path:
        return [spec]
    found = Path(path).parent.glob(Path(path).name)
    ordered = sorted(found, key=lambda one: [(len(part), part) for part in re.findall(r"\d+|\D+", one.name)])
    return [f"{family}:{one}" for one in ordered]


def points_of(settings: Settings) -> list[Point]:
    """Trainings, every combination of varied options, and other systems; refuses fewer than two, or repeated names."""
    trained = [point for points in trainings_of(settings).values() for point in points]
    found = [*trained, *(_varied_points(settings) if settings.system or not trained else [])]
    found += studies.named_points(settings.against)
    if len(found) < 2:
        raise UserError(
            f"{found[0].name} is the only setting to measure; give --vary with several values, or another system with "
            "--against"
        )
    studies.refuse_equal_names(found, "--against NAME=SPEC")
    return found


def _varied_points(settings: Settings) -> list[Point]:
    if not settings.system:
        raise UserError("give the system to be studied with --system, or its trainings with --seed-of")
    if not settings.system.partition(":")[2]:
        open_system(settings.system)  # gives the right error message
    vary = _varied(settings.vary) or ({} if settings.against or settings.seed_of else _offered(settings))
    return [
        Point(
            ", ".join(_CALLED.get(key, f"{key.replace('_', ' ')} {{}}").format(value) for key, value in chosen)
            or names.readable(settings.system),
            settings.system,
            {**settings.system_options, **dict(chosen)},
        )
        for chosen in (tuple(zip(vary, values, strict=True)) for values in product(*vary.values()))
    ]


def _varied(texts: Sequence[str]) -> dict[str, Sequence[str]]:
    found: dict[str, Sequence[str]] = {}
    for text in texts:
        key, _, listed = text.partition("=")
        values = tuple(dict.fromkeys(part.strip() for part in listed.split(",") if part.strip()))
        if not key.strip() or not values:
            raise UserError(f"--vary takes KEY=V1,V2, for example beam_size=5,1, not {text!r}")
        if key.strip() in found:
            raise UserError(f"--vary {key.strip()} is given twice; give all its values at once, with commas")
        found[key.strip()] = values
    return found


def _offered(settings: Settings) -> dict[str, Sequence[str]]:
    family, _, argument = settings.system.partition(":")
    _, given = split_options(argument, settings.system_options)
    faster = registry.sibling("system", family, "FASTER", {})
    found = {key: values for key, values in faster.items() if key not in given}
    if not found:
        raise UserError(
            f"{settings.system} has no options that are known to affect its speed; choose some with --vary KEY=V1,V2, "
            "or give another system with --against"
        )
    return found


# -- the study ---------------------------------------------------------------------------------------------------------


def study_speed(settings: Settings, work: studies.Work | None = None) -> Study:
    """Measure every point and compare each with the baseline; finished work is not repeated.

    Workers translate and score, and have ended before the first point is timed.
    """
    if settings.clock not in CLOCKS:
        raise UnknownName("clock", settings.clock, CLOCKS)
    output, points = settings.output, points_of(settings)
    called = [point.name for point in points]
    if settings.baseline and settings.baseline not in called:
        # Names of points contain commas.
        raise UserError(f"--baseline {settings.baseline!r} is none of the measured settings: {'; '.join(called)}")
    base = called.index(settings.baseline) if settings.baseline else 0
    test_set = studies.read_test_set(*settings.test_set, option="--test-set") if settings.test_set else None
    selections = settings.selections()
    systems = [_look_at(point, settings, selections) for point in points]
    if any(one.is_for_items_only for one in systems):
        test_set = None
    elif test_set is None and settings.target_language == "es":
        test_set = studies.bundled_test_set(N_BUNDLED)
    asked = _asked(settings, points, base, test_set, systems)
    with studies.claimed(output / RECORD, asked, (RUNS, DIARY)):
        with work or nullcontext(NO_CONTEXT) as context:
            # Do not repeat sentence counts for every point.
            quiet = replace(context, tell=lambda note: None if " sentences" in note else context.tell(note))
            made = {
                point.name: studies.run_point(
                    point,
                    selections,
                    output / RUNS / point.slug,
                    settings.resampling,
                    replace(studies.titled(quiet, point.name), name=point.name),
                    test_set=test_set,
                    accept_unsound=settings.accept_unsound,
                )
                for point in points
            }
        timed_on, timed, ready = _timed_work(settings, selections[0], test_set)
        sentences = _hash([request.source for request in timed])
        what = {"points": asked["systems"], "sentences": sentences, "machine": machine()}
        diary = Diary(output / DIARY, what)
        if diary.forgot:
            context.tell(f"the rounds in {output / DIARY} differ in {', '.join(diary.forgot)} and are taken again")
        openers = {point.name: partial(ready, point) for point in points}
        with context.open_progress(f"timing, {settings.repeats} rounds") as progress:
            for one in measure(openers, timed, range(len(diary.rounds), settings.repeats), progress):
                diary.add(one)
        rounds = Rounds(tuple(diary.rounds), settings.clock)
        found = Study(
            tuple(_measured(settings, points, base, made, test_set)),
            base,
            rounds,
            f"{SOURCE_LANGUAGE}-{settings.target_language}",
            {**asked, **what, "clock": settings.clock, "timed_on": timed_on, "n_timed": len(timed)},
            tuple(_notes(points, systems, rounds, test_set, settings)),
            settings.resampling.confidence,
            {name: tuple(point.name for point in found) for name, found in trainings_of(settings).items()},
        )
        write_json(output / RECORD, {"settings": asked, "report": speed_report.study_json(found)})
    return found


def _look_at(point: Point, settings: Settings, selections: tuple[Selection, ...]) -> System:
    """The system of a point, closed again; refuses invalid options, direction and task early."""
    with closing(point.open()) as system:
        if not system.has_own_time:
            raise UserError(
                f"{point.spec} holds translations made elsewhere, which cannot be timed; give a system that translates"
            )
        plan(RunConfig(point.spec, selections, point.options), system)
        if not system.is_for_items_only:
            system.check(SOURCE_LANGUAGE, settings.target_language, ())
        return system


def _asked(
    settings: Settings, points: Sequence[Point], base: int, test_set: PlainSet | None, systems: Sequence[System]
) -> dict[str, Any]:
    """The identity of the study; rounds may be added, and another clock used."""
    content = [*test_set.sources, *test_set.references] if test_set else []
    return {
        "systems": {
            point.name: {
                "spec": point.spec,
                "options": dict(point.options),
                "system_id": system.system_id,
                "decoding": system.decoding,
                "computing": system.computing,
            }
            for point, system in zip(points, systems, strict=True)
        },
        "baseline": points[base].name,
        "target_language": settings.target_language,
        "test_set": f"{test_set.name}#{_hash(content)}" if test_set else None,
        "data": settings.data,
        "rules": settings.rules,
        "also": list(settings.also),
        "n_sentences": settings.n_timed,
        "intervals": settings.resampling.signature,
    }


def _hash(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _measured(
    settings: Settings, points: Sequence[Point], base: int, made: Mapping[str, Made], test_set: PlainSet | None
) -> Iterator[Measured]:
    first, how = made[points[base].name], settings.resampling
    columns = {label: (first.results[0].cell, *key) for label, key in COLUMNS.items()}
    others = {label: key for result in first.results[1:] for label, key in _headline(result).items()}
    for point in points:
        own = made[point.name]
        changes: dict[str, Comparison] = {}
        if own is not first:
            of_quality = studies.corrected(studies.compare_quality(first, own, test_set, how))
            changes = dict(zip(QUALITY, of_quality, strict=False))  # without a test set there is none
            report = compare(first.results, own.results, how, Asked(everything=True))
            by_key = {row.key: row for row in report.comparisons}
            changes |= {label: by_key[key] for label, key in (columns | others).items() if key in by_key}
        scores = studies.rated(own.texts, test_set, how) if test_set is not None else {}
        values = {label: scores[label.lower()] for label in QUALITY if scores}
        for label, (cell, metric, part) in (columns | others).items():
            found = next((r.find(metric, part) for r in own.results if r.cell == cell), None)
            if found is not None and found.value is not None:
                values[label] = Span(found.value, found.low, found.high)
        yield Measured(point.name, point.slug, point.spec, values, changes, tuple(others))


def _headline(result: Result) -> dict[str, tuple[str, str, str]]:
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    metrics = benchmark.measures.metrics(result.judgements, result.selection)
    return {
        f"{benchmark.title}: {benchmark.label(m.name, m.slice)}": (result.cell, m.name, m.slice)
        for m in metrics
        if benchmark.is_headline(m)
    }


def _notes(
    points: Sequence[Point], systems: Sequence[System], rounds: Rounds, test_set: PlainSet | None, settings: Settings
) -> Iterator[str]:
    remote = [point.name for point, system in zip(points, systems, strict=True) if system.asks_a_server]
    for name in remote:
        yield (
            f"{name} asks a server: its time is that of the network and of whatever else the server does, not its own"
        )
    seen: dict[str, Point] = {}
    for point, system in zip(points, systems, strict=True):
        twin = seen.setdefault(system.system_id, point)
        if twin is not point and _timing_options(point) == _timing_options(twin):
            yield f"{point.name} computes the same as {twin.name} here; what differs in time is noise"
        elif twin is not point:
            yield f"{point.name} and {twin.name} say the same by design: these options change the time alone"
    if any(system.is_for_items_only for system in systems):
        yield f"a system answers the sentences of benchmarks only, so time is taken on {BENCHMARK.title}'s; no BLEU"
    elif test_set is None:
        yield (
            f"there is no test set into {settings.target_language}, so time is taken on {BENCHMARK.title}'s sentences "
            "and BLEU is left out; give one with --test-set SOURCE REFERENCE"
        )
    if rounds.is_busy and rounds.clock == "wall" and not remote:
        yield (
            "the machine was busy with other work: the slowest round of a point took up to "
            f"{rounds.spread:.1f} times as long as its fastest; --clock cpu counts the work alone; increase --repeats "
            "for more reliable timings"
        )


def _timing_options(point: Point) -> dict[str, str]:
    _, given = split_options(point.spec.partition(":")[2], point.options)
    return {key: value for key, value in given.items() if key in WITHOUT_EFFECT}


def _timed_work(
    settings: Settings, selection: Selection, test_set: PlainSet | None
) -> tuple[str, Sequence[Request], Callable[[Point], AbstractContextManager[System]]]:
    """Name of the timed sentences, the requests, and how to prepare each system for them."""
    item_set = None
    if test_set is not None:
        name = test_set.name
        requests = api.Asking(settings.target_language, SOURCE_LANGUAGE).requests(test_set.sources)
    else:
        name, item_set = BENCHMARK.title, api.items(selection)
        requests = list(BENCHMARK.requests(item_set))
    n = min(settings.n_timed, len(requests))
    timed = [requests[at * len(requests) // n] for at in range(n)]

    @contextmanager
    def ready(point: Point) -> Iterator[System]:
        with closing(point.open()) as system:
            if item_set is not None:  # some systems must know the benchmark
                system.prepare(BENCHMARK, item_set, requests)
            else:
                system.check(SOURCE_LANGUAGE, settings.target_language, timed)
            yield system

    return name, timed, ready


def speed(
    settings: Settings = option_group(Settings), work: studies.Work = studies.WORK, as_json: AsJson = False
) -> None:
    """Measure speed, quality and gender bias of one system under several settings, or of several systems."""
    found = study_speed(settings, work)
    speed_report.write_files(found, settings.output, f"gendermark {shlex.join(sys.argv[1:])}")
    paper = [speed_report.over_trainings(found)] * bool(found.trainings) + [speed_report.table4(found)]
    shown, said = [*paper, speed_report.prices(found)], (*speed_report.findings(found), *found.notes)
    studies.show(speed_report.study_json(found), shown, said, as_json=as_json, piped=paper)
    say(f"page, tables, figures and run folders: {settings.output / speed_report.PAGE}")
