"""What makes a system fast, and what that does to gender: SimpleGEN's study for any system.

Each point is a run folder of its own. Its translations are made once, by way of the store. Its time is taken from the
system itself, in rounds in which each point has its turn, so that what else the machine does hits all alike; a round is
written down as soon as it is done, and a study that was killed goes on with the next one. All comparisons are those of
`gendermark compare`.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import random
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from gendermark import __version__, api, names, registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.benchmarks.simplegen.findings import COLUMNS
from gendermark.benchmarks.simplegen.judge import BENCHMARK
from gendermark.cli.options import AcceptUnsound, ResumedIn, Rules, StudiedData, To, option_group
from gendermark.cli.terminal import AsJson, print_json, print_table, say
from gendermark.errors import UnknownName, UserError
from gendermark.io import locks
from gendermark.io.textfiles import write_text
from gendermark.lab import studies
from gendermark.lab.paired import (
    PlainSet,
    Span,
    bundled_test_set,
    compared_plainly,
    corrected,
    rated,
    read_test_set,
    translated,
)
from gendermark.lab.speed_numbers import CLOCKS, N_WARM_UP, QUALITY, Measured, Rounds, Study
from gendermark.lab.speed_report import PAGE, findings, over_trainings, prices, study_json, table4, write_files
from gendermark.records import Request
from gendermark.result import Result
from gendermark.runs.compare import Asked, Comparison, compare
from gendermark.runs.run import NO_CONTEXT, RunConfig, RunContext, plan, run
from gendermark.selection import Selection
from gendermark.systems.engine import WITHOUT_EFFECT
from gendermark.systems.system import System, open_system, split_options

SOURCE_LANGUAGE = "en"
RECORD, DIARY, RUNS = "speed.json", "timings.jsonl", "runs"
N_BUNDLED = 500
"""Sentences of the bundled test set that are used: enough for BLEU, and quick."""
_CALLED = {"compute_type": "{}", "dtype": "{}", "beam_size": "beam {}", "use_vmap": "vocabulary map {}"}
_NAMED = re.compile(r"([^=:?/\\]+)=(.+)", re.DOTALL)
_PACKAGES = ("ctranslate2", "sentencepiece", "torch", "transformers", "numpy")


@dataclass(frozen=True)
class Settings:
    target_language: To
    output: ResumedIn
    system: studies.SystemName = ""
    vary: Annotated[
        studies.Texts,
        Option(
            metavar="KEY=V1,V2,...",
            help="System option and its values; repeatable. Default: the options that affect speed.",
        ),
    ] = ()
    against: Annotated[studies.Texts, Option(metavar="[NAME=]SPEC", help="Another system to include; repeatable.")] = ()
    seed_of: Annotated[
        studies.Texts,
        Option(
            metavar="NAME=SPEC,SPEC,...",
            help="Trainings of one model that differ in the seed, or a pattern of their directories "
            "(deep=torch:models/deep-*); repeatable.",
        ),
    ] = ()
    baseline: Annotated[str, Option(metavar="NAME", help="Baseline for the comparison. Default: the first.")] = ""
    system_options: studies.SystemOptions = field(default_factory=dict)
    test_set: Annotated[
        tuple[Path, Path] | None,
        Option(metavar="SOURCE REFERENCE", help="Test set for BLEU, chrF and timing. Default for es: bundled."),
    ] = None
    data: StudiedData = "core"
    rules: Rules = "best"
    also: Annotated[studies.Texts, Option(metavar="BENCHMARK", help="Another benchmark to run; repeatable.")] = ()
    repeats: Annotated[int, Option(min=1, help="Timing rounds per setting.")] = 7
    n_timed: Annotated[int, Option("--timed", min=1, help="Sentences timed per round.")] = 128
    clock: Annotated[str, Option(help="wall (elapsed time) or cpu (processor time, for a busy machine).")] = "wall"
    resampling: studies.Resampled = studies.DEFAULT_RESAMPLING
    accept_unsound: AcceptUnsound = False

    @property
    def direction(self) -> tuple[str, str]:
        return SOURCE_LANGUAGE, self.target_language

    def selections(self) -> tuple[Selection, ...]:
        own = api.select(BENCHMARK.name, self.target_language, data=self.data, rules=self.rules)[1]
        others = [name for name in dict.fromkeys(self.also) if name != BENCHMARK.name]
        return (own, *(api.select(name, self.target_language, data=self.data)[1] for name in others))


# -- points ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """A system with its options, and what it is called."""

    name: str
    spec: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """Of its run folder."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-") or "point"

    @property
    def timing_options(self) -> dict[str, str]:
        """The options that decide how fast it works, and nothing else."""
        _, given = split_options(self.spec.partition(":")[2], self.options)
        return {key: value for key, value in given.items() if key in WITHOUT_EFFECT}

    def open(self) -> System:
        return open_system(self.spec, self.options)


def named_points(texts: Sequence[str]) -> list[Point]:
    """`NAME=SPEC` or `SPEC` of the command line."""
    found = []
    for text in texts:
        named = _NAMED.fullmatch(text)
        name, spec = (names.checked(named[1]), named[2]) if named else (names.readable(text), text)
        found.append(Point(name, spec))
    return found


def trainings_of(settings: Settings) -> dict[str, list[Point]]:
    """`NAME=SPEC,SPEC` of the command line, or `NAME=FAMILY:DIR-*`: a point for each training."""
    found: dict[str, list[Point]] = {}
    for text in settings.seed_of:
        named = _NAMED.fullmatch(text)
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
    """The system, or those of all directories whose names match, 10 after 9."""
    family, _, path = spec.partition(":")
    if "*" not in path:
        return [spec]
    found = Path(path).parent.glob(Path(path).name)
    ordered = sorted(found, key=lambda one: [(len(part), part) for part in re.findall(r"\d+|\D+", one.name)])
    return [f"{family}:{one}" for one in ordered]


def points_of(settings: Settings) -> list[Point]:
    """Trainings, every combination of what varies, other systems; refused unless they are several with own names."""
    trained = [point for points in trainings_of(settings).values() for point in points]
    found = [*trained, *(_varied_points(settings) if settings.system or not trained else [])]
    found += named_points(settings.against)
    if len(found) < 2:
        raise UserError(
            f"one point has nothing to be compared with: {found[0].name}; give --vary with several values, or another "
            "system with --against"
        )
    refuse_equal_names(found, "--against NAME=SPEC")
    return found


def _varied_points(settings: Settings) -> list[Point]:
    if not settings.system:
        raise UserError("give the system to be studied with --system, or its trainings with --seed-of")
    if not settings.system.partition(":")[2]:
        open_system(settings.system)  # says how one is written
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


def refuse_equal_names(points: Sequence[Point], option: str) -> None:
    slugs = [point.slug for point in points]
    for point in points:
        if slugs.count(point.slug) > 1:
            raise UserError(f"two systems are called {point.name}; name them apart with {option}")


def _varied(texts: Sequence[str]) -> dict[str, Sequence[str]]:
    """`compute_type=float32,int8` of the command line."""
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
    """What makes the family fast, but for what is fixed already."""
    family, _, argument = settings.system.partition(":")
    _, given = split_options(argument, settings.system_options)
    faster = registry.sibling("system", family, "FASTER", {})
    found = {key: values for key, values in faster.items() if key not in given}
    if not found:
        raise UserError(
            f"nothing is known that would make {settings.system} faster; say what to vary with --vary KEY=V1,V2, or "
            "give another system with --against"
        )
    return found


def _place_of(baseline: str, points: Sequence[Point]) -> int:
    called = [point.name for point in points]
    if baseline and baseline not in called:
        # Names of points have commas of their own.
        raise UserError(f"there is no point {baseline!r} for --baseline; there are {'; '.join(called)}")
    return called.index(baseline) if baseline else 0


# -- the study ---------------------------------------------------------------------------------------------------------


def study_speed(settings: Settings, work: studies.Work | None = None) -> Study:
    """Measure every point and compare each with the baseline; what was done before a kill is not done again.

    Workers translate and score, and have ended before the first point is timed.
    """
    if settings.clock not in CLOCKS:
        raise UnknownName("clock", settings.clock, CLOCKS)
    output, points = settings.output, points_of(settings)
    base = _place_of(settings.baseline, points)
    test_set = read_test_set(*settings.test_set, option="--test-set") if settings.test_set else None
    selections = settings.selections()
    systems = [_look_at(point, settings, selections) for point in points]
    if any(one.is_for_items_only for one in systems):
        test_set = None
    elif test_set is None and settings.target_language == "es":
        test_set = bundled_test_set(N_BUNDLED)
    asked = _asked(settings, points, base, test_set, systems)
    studies.check_reusable(output / RECORD, asked, (RUNS, DIARY))
    with locks.hold(output / ".lock"):
        studies.check_reusable(output / RECORD, asked, (RUNS, DIARY))  # again: another process may have been faster
        studies.write_record(output / RECORD, {"settings": asked})
        with work or nullcontext(NO_CONTEXT) as context:
            results = {point.name: _run(point, settings, selections, context) for point in points}
            texts = {point.name: _texts(point, settings, test_set, context) for point in points} if test_set else {}
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
        rounds = Rounds(tuple(openers), tuple(diary.rounds), settings.clock)
        found = Study(
            tuple(_measured(settings, points, base, results, test_set, texts)),
            base,
            rounds,
            "-".join(settings.direction),
            {**asked, **what, "clock": settings.clock, "timed_on": timed_on, "n_timed": len(timed)},
            tuple(_notes(points, systems, rounds, test_set, settings)),
            settings.resampling.confidence,
            {name: tuple(point.name for point in found) for name, found in trainings_of(settings).items()},
        )
        studies.write_record(output / RECORD, {"settings": asked, "report": study_json(found)})
    return found


def _look_at(point: Point, settings: Settings, selections: tuple[Selection, ...]) -> System:
    """The system of a point, closed again; everything that can be refused is refused now: options, direction, task."""
    with closing(point.open()) as system:
        if not system.has_own_time:
            raise UserError(
                f"{point.spec} holds translations that were made elsewhere, so it has no time of its own; give a "
                "system that translates"
            )
        plan(RunConfig(point.spec, selections, point.options), system)
        if not system.is_for_items_only:
            system.check(*settings.direction, ())
        return system


def _asked(
    settings: Settings, points: Sequence[Point], base: int, test_set: PlainSet | None, systems: Sequence[System]
) -> dict[str, Any]:
    """What makes it this study; more rounds may be added to it, and another clock looked at."""
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


def _run(point: Point, settings: Settings, selections: tuple[Selection, ...], context: RunContext) -> list[Result]:
    def tell(note: str) -> None:
        if " sentences" not in note:  # how many there are need not be said for every point
            context.tell(note)

    config = RunConfig(
        point.spec, selections, point.options, settings.resampling, accept_unsound=settings.accept_unsound
    )
    own = replace(studies.titled(context, point.name), name=point.name, tell=tell)
    return run(config, settings.output / RUNS / point.slug, own)


def _texts(point: Point, settings: Settings, test_set: PlainSet, context: RunContext) -> list[str]:
    own = replace(context, open_progress=lambda _: context.open_progress(f"{point.name}: test set"))
    return translated(point.spec, test_set, settings.direction, point.options, own)


def _measured(
    settings: Settings,
    points: Sequence[Point],
    base: int,
    results: Mapping[str, Sequence[Result]],
    test_set: PlainSet | None,
    texts: Mapping[str, Sequence[str]],
) -> Iterator[Measured]:
    first = points[base].name
    quality = {name: rated(lines, test_set, settings.resampling) for name, lines in texts.items()} if test_set else {}
    columns = {label: (results[first][0].cell, *key) for label, key in COLUMNS.items()}
    others = {label: key for result in results[first][1:] for label, key in _headline(result).items()}
    for point in points:
        changes: dict[str, Comparison] = {}
        if point.name != first:
            if test_set is not None:
                both = texts[first], texts[point.name]
                of_quality = corrected(compared_plainly(test_set, both, settings.resampling))
                changes = dict(zip(QUALITY, of_quality, strict=True))
            asked = Asked(everything=True)
            report = compare(results[first], results[point.name], settings.resampling, asked)
            by_key = {row.key: row for row in report.comparisons}
            changes |= {label: by_key[key] for label, key in (columns | others).items() if key in by_key}
        values = {label: quality[point.name][label.lower()] for label in QUALITY} if test_set else {}
        for label, (cell, metric, part) in (columns | others).items():
            found = next((r.find(metric, part) for r in results[point.name] if r.cell == cell), None)
            if found is not None and found.value is not None:
                values[label] = Span(found.value, found.low, found.high)
        groups = [judgement.tags["group"].upper() for judgement in results[point.name][0].judgements]
        sizes = {group: groups.count(group) for group in dict.fromkeys(groups)}
        yield Measured(point.name, point.slug, point.spec, values, changes, tuple(others), sizes)


def _headline(result: Result) -> dict[str, tuple[str, str, str]]:
    """The headline numbers of another benchmark, by what they are called."""
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
    for point, system in zip(points, systems, strict=True):
        if system.asks_a_server:
            yield (
                f"{point.name} asks a server: its time is that of the network and of whatever else the server does, "
                "not its own"
            )
    seen: dict[str, Point] = {}
    for point, system in zip(points, systems, strict=True):
        twin = seen.setdefault(system.system_id, point)
        if twin is not point and point.timing_options == twin.timing_options:
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
    if rounds.is_busy and rounds.clock == "wall" and not any(system.asks_a_server for system in systems):
        yield (
            "the machine was busy with other work: the slowest round of a point took up to "
            f"{rounds.spread:.1f} times as long as its fastest; --clock cpu counts the work alone; increase --repeats "
            "for more reliable timings"
        )


# -- time --------------------------------------------------------------------------------------------------------------

Round = Mapping[str, Mapping[str, float]]
"""By system and clock: seconds for a thousand sentences."""
OpenReady = Callable[[], AbstractContextManager[System]]
"""Opens a system that is ready to be asked."""


def _timed_work(
    settings: Settings, selection: Selection, test_set: PlainSet | None
) -> tuple[str, Sequence[Request], Callable[[Point], AbstractContextManager[System]]]:
    """What the timed sentences are called, the requests, and how the system of a point is made ready for them."""
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
                system.check(*settings.direction, timed)
            yield system

    return name, timed, ready


def machine() -> dict[str, Any]:
    """What a time depends on beside the system."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "threads_of_libraries": os.environ.get("OMP_NUM_THREADS", "not set"),
        "python": platform.python_version(),
        "gendermark": __version__,
        **{package: version(package) for package in _PACKAGES if find_spec(package)},
    }


def _processor() -> str:
    try:
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        facts = ""
    named = re.search(r"^model name\s*:\s*(.+)$", facts, re.MULTILINE)
    return named[1] if named else platform.processor() or platform.machine()


class Diary:
    """The file of finished rounds, a line each; the first says what was measured, on what."""

    def __init__(self, path: Path, what: Mapping[str, Any]) -> None:
        self._path = path
        self.rounds: list[Round] = []
        self.forgot: list[str] = []
        """In what the rounds that were there differ, so that they do not count."""
        lines: list[dict[str, Any]] = []
        if path.exists():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    lines.append(json.loads(line))
                except ValueError:  # cut off by a kill; it is gone after the writing below
                    break
        if lines and lines[0] != dict(what):
            self.forgot = sorted(key for key in {*what, *lines[0]} if what.get(key) != lines[0].get(key))
        else:
            self.rounds = list(lines[1:])
        write_text(path, "".join(map(_line, [what, *self.rounds])))

    def add(self, one: Round) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line(one))
            file.flush()
            os.fsync(file.fileno())
        self.rounds.append(one)


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def measure(
    systems: Mapping[str, OpenReady],
    requests: Sequence[Request],
    numbers: range,
    progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> Iterator[Round]:
    """The rounds of these numbers: in each, every system has its turn."""
    n_done, n_all = 0, len(numbers) * len(systems)
    for number in numbers:
        # In another order each time: who comes first after a pause must not always be the same.
        order = sorted(systems)
        random.Random(number).shuffle(order)
        taken = {}
        for name in order:
            progress(n_done, n_all)
            with systems[name]() as system:
                taken[name] = take_time(system, requests)
            n_done += 1
        yield taken
    progress(n_all, n_all)


def take_time(system: System, requests: Sequence[Request]) -> dict[str, float]:
    """Seconds for a thousand sentences, by every clock, after a few that do not count."""
    _ask(system, requests[:N_WARM_UP])
    passed, worked = time.perf_counter(), time.process_time()
    _ask(system, requests)
    scale = 1000 / len(requests)
    return {"wall": scale * (time.perf_counter() - passed), "cpu": scale * (time.process_time() - worked)}


def _ask(system: System, requests: Sequence[Request]) -> None:
    for start in range(0, len(requests), system.batch_size):
        for _ in system.answer(requests[start : start + system.batch_size]):
            pass


# -- the command -------------------------------------------------------------------------------------------------------


def speed(
    settings: Settings = option_group(Settings), work: studies.Work = studies.WORK, as_json: AsJson = False
) -> None:
    """Measure speed, quality and gender bias of one system under several settings, or of several systems."""
    found = study_speed(settings, work)
    write_files(found, settings.output, f"gendermark {shlex.join(sys.argv[1:])}")
    if as_json:
        print_json(study_json(found))
    else:
        first = [over_trainings(found)] if found.trainings else []
        for one in [*first, table4(found), prices(found)] if studies.is_terminal() else [*first, table4(found)]:
            print_table(one.title, one.columns, one.rows)
        for sentence in (*findings(found), *found.notes):
            say(sentence)
    say(f"page, tables, figures and run folders: {settings.output / PAGE}")
