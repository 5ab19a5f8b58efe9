"""Costs and benefits of mitigation without training: the plain system against reranking and hints.

Each is run on SimpleGEN, WinoMT and a plain test set, compared with the plain system on the same sentences, and timed
without the store. The oracle gets the genders from the benchmark: an upper bound for reranking with any reader of
sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from operator import ne
from pathlib import Path
from statistics import median
from typing import Any

from gendermark import api, registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.cli.options import AcceptUnsound, ResumedIn, StudiedData, To, option_group
from gendermark.cli.terminal import AsJson, say
from gendermark.errors import UserError
from gendermark.io.textfiles import write_json, write_text
from gendermark.lab import studies
from gendermark.lab.studies import SOURCE_LANGUAGE, Key, Made, Point, Row
from gendermark.lab.timing import measure
from gendermark.reading.hints import STYLES
from gendermark.reading.people import called, of_certain_gender, people_in, people_in_all
from gendermark.records import Gender, Item, Task
from gendermark.reporting import text as markdown_
from gendermark.reporting.document import Bullets, Section, Table
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.run import NO_CONTEXT, RunContext
from gendermark.selection import Selection
from gendermark.systems.system import System, open_system

BENCHMARKS = ("simplegen", "winomt")
COMPARED = studies.compared_in("mitigate")
NAMES: Mapping[Key, str] = {one.key: one.column for one in COMPARED if one.column}
"""Columns of the table."""
PLAIN, ORACLE = "plain", "oracle"
N_TIMED = 96
_OPTION_OF = {"rerank": "n", "hinted": "style"}


@dataclass(frozen=True)
class Settings:
    system: studies.SystemName
    target_language: To
    output: ResumedIn
    mitigations: studies.Texts = ()
    data: StudiedData = "core"
    plain: studies.PlainFiles = None
    n_repeats: int = 3
    system_options: studies.SystemOptions = field(default_factory=dict)
    resampling: studies.Resampled = studies.DEFAULT_RESAMPLING
    accept_unsound: AcceptUnsound = False

    @property
    def selections(self) -> tuple[Selection, ...]:
        return tuple(api.select(name, self.target_language, data=self.data)[1] for name in BENCHMARKS)


def variants_for(settings: Settings, system: System) -> list[Point]:
    can = ["rerank"] if system.gives_n_best or Task.SAMPLE in system.tasks else []
    can += ["hinted:prompt"] if system.takes_hints else ["hinted:adjective", "hinted:apposition", "hinted:context"]
    names = list(dict.fromkeys(settings.mitigations or can))
    for name in names:
        family, _, value = name.partition(":")
        if family not in _OPTION_OF or (family == "rerank" and value and not value.isdecimal()):
            styles = ", ".join(f"hinted:{style}" for style in STYLES if style != "tag")
            raise UserError(f"there is no mitigation {name!r}; available: rerank, rerank:N, {styles}")
        if value == "tag":
            raise UserError(f"{name} needs tags of your own, which a study cannot choose; give hinted:SYSTEM to `run`")
    first = next((name for name in names if name.startswith("rerank")), names[0])
    specs = {
        PLAIN: settings.system,
        **{name: _wrapped(settings.system, name) for name in names},
        ORACLE: _wrapped(settings.system, first, "reader=gold"),
    }
    return [Point(name, spec, settings.system_options) for name, spec in specs.items()]


def _wrapped(system: str, mitigation: str, *options: str) -> str:
    family, _, value = mitigation.partition(":")
    query = "&".join([*([f"{_OPTION_OF[family]}={value}"] if value else []), *options])
    joint = "" if not query else "&" if "?" in system else "?"
    return f"{family}:{system}{joint}{query}"


def study_mitigation(settings: Settings, context: RunContext = NO_CONTEXT) -> dict[str, Any]:
    """Run, compare and time; the report is also `mitigate.json` and `table.md` in the directory.

    Leaves a run folder for each variant. Rerun the same call to resume.
    """
    output, selections, how = settings.output, settings.selections, settings.resampling
    with closing(open_system(settings.system, settings.system_options)) as inner:
        variants = variants_for(settings, inner)
        test_set = studies.plain_set(settings.plain, settings.target_language) if inner.is_stored else None
    for variant in variants[:-1]:  # refuse a missing style or an unreadable language before any work
        with closing(variant.open()) as system:
            system.check(SOURCE_LANGUAGE, settings.target_language, [])
    made: dict[str, Made] = {}
    for variant in variants:
        made[variant.name] = studies.run_point(
            variant,
            selections,
            output / variant.slug,
            how,
            studies.titled(context, variant.name),
            test_set=test_set if variant.name != ORACLE else None,  # it knows genders of benchmark sentences only
            # The effect on translations is the question, even if a mitigation breaks them.
            accept_unsound=settings.accept_unsound or variant.name != PLAIN,
        )
    plain = made[PLAIN]
    seconds = _timed(settings, variants) if settings.n_repeats else {}
    readers = [rate_reader(api.items(selection)) for selection in selections]
    unread = {score["benchmark"] for score in readers if not score["n_decided"]}
    mitigations = []
    for variant in variants[1:]:
        own, taken = made[variant.name], seconds.get(variant.name)
        # Where nothing is read, a mitigation changes nothing by construction.
        keys = [one.key for one in COMPARED if one.key[0] not in unread or variant.name == ORACLE]
        mitigations.append(
            {
                "name": variant.name,
                "system": variant.spec,
                "is_upper_bound": variant.name == ORACLE,
                "comparisons": studies.compared(plain, own, keys, test_set, how),
                "open": _open_changed(output / PLAIN, output / variant.slug, plain.results),
                "plain_set_changed": sum(map(ne, plain.texts, own.texts)) if own.texts else None,
                "milliseconds": median(taken) if taken else None,
                # Ratios within rounds: a slow round affects both.
                "times_as_long": median(a / b for a, b in zip(taken, seconds[PLAIN], strict=True)) if taken else None,
                "notes": folder.read_manifest(output / variant.slug).get("notes", []),
            }
        )
    report: dict[str, Any] = {
        "system": settings.system,
        "system_options": dict(settings.system_options),
        "target_language": settings.target_language,
        "data": settings.data,
        "plain_set": test_set.name if test_set else None,
        "n_plain": len(test_set.sources) if test_set else 0,
        "mitigations": mitigations,
        "milliseconds": median(seconds[PLAIN]) if seconds else None,
        "n_repeats": settings.n_repeats,
        "n_timed": N_TIMED if seconds else 0,
        "reader": readers,
        "signatures": studies.signatures(made),
        "notes": [*([] if test_set else [studies.NO_REFERENCES]), *studies.unsound_notes(made)],
    }
    report["findings"] = findings(report)
    write_json(output / "mitigate.json", report)
    document = [Section(_title(report), [table(report), Bullets([*report["findings"], *report["notes"]])], level=1)]
    write_text(output / "table.md", markdown_.markdown(document))
    return report


def _open_changed(plain: Path, other: Path, results: Sequence[Result]) -> dict[str, int]:
    """Sentences of unspecified gender, and how many the mitigation translates differently."""
    n_open = n_changed = 0
    for result in results:
        sides = [folder.read_texts(run / result.cell, result) for run in (plain, other)]
        for judgement, first, second in zip(result.judgements, *sides, strict=True):
            if judgement.expected is Gender.NEUTRAL:
                n_open += 1
                n_changed += first.translation != second.translation
    return {"n": n_open, "n_changed": n_changed}


def _timed(settings: Settings, variants: Sequence[Point]) -> dict[str, list[float]]:
    """Seconds per thousand sentences of each variant, by round; without the store."""
    selection = settings.selections[0]
    benchmark: Benchmark = registry.load("benchmark", selection.benchmark)
    whole = benchmark.load(selection)
    item_set = replace(whole, items=whole.items[:: max(1, len(whole.items) // N_TIMED)][:N_TIMED])
    requests = benchmark.requests(item_set)

    @contextmanager
    def ready(variant: Point) -> Iterator[System]:
        with closing(variant.open()) as system:
            system.prepare(benchmark, item_set, requests)
            yield system

    systems = {variant.name: partial(ready, variant) for variant in variants if variant.name != ORACLE}
    rounds = list(measure(systems, requests, range(settings.n_repeats)))
    return {name: [one[name]["wall"] for one in rounds] for name in systems}


# -- words and tables --------------------------------------------------------------------------------------------------


def findings(report: Row) -> list[str]:
    found = list(map(_finding, report["mitigations"]))
    for score in report["reader"]:
        name = {"simplegen": "SimpleGEN", "winomt": "WinoMT"}.get(score["benchmark"], score["benchmark"])
        n, n_decided = score["n_told"], score["n_decided"]
        rest = f", {score['n_right']:,} of them rightly."
        if not n_decided:
            rest = ", so only the oracle changes anything there; the other rows are left out."
        found.append(
            f"The reader of sources decides {n_decided:,} of {n:,} sentences of {name} that tell the person's gender"
            + rest
        )
    return found


def _finding(mitigation: Row) -> str:
    changes = studies.changes_in_words(NAMES, mitigation["comparisons"])
    if mitigation["times_as_long"] is not None:
        changes.append(f"it takes {mitigation['times_as_long']:.2f} times as long")
    n, n_changed = mitigation["open"].values()
    if n:
        changes.append(
            f"where the gender is open, {n_changed:,} of {n:,} translations changed"
            + (", which should not be" if n_changed else "")
        )
    name = "the oracle (an upper bound: it knows the genders)" if mitigation["is_upper_bound"] else mitigation["name"]
    return f"{name}: {'; '.join(changes)}."


def table(report: Row) -> Table:
    first, *others = studies.changed_rows(PLAIN, report["mitigations"], list(NAMES))
    rows = [(*first, "", _number(report["milliseconds"]), "1")]
    for row, mitigation in zip(others, report["mitigations"], strict=True):
        name = "oracle (upper bound)" if mitigation["is_upper_bound"] else row[0]
        opened = f"{mitigation['open']['n_changed']:,} of {mitigation['open']['n']:,}"
        times = (_number(mitigation["milliseconds"]), _number(mitigation["times_as_long"]))
        rows.append((name, *row[1:], opened, *times))
    return Table(("mitigation", *NAMES.values(), "open changed", "ms", "times as long"), rows)


def _title(report: Row) -> str:
    return f"Mitigation of {report['system']} into {report['target_language']} ({report['data']})"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


# -- the reader of sources -------------------------------------------------------------------------------------------

READ = ("simplegen", "winomt", "mt-geneval-counterfactual")
_SHARES = ("n_told", "n_decided", "decided_percent", "right_percent", "n_open", "n_open_decided")


def rate_reader(item_set: ItemSet) -> dict[str, Any]:
    """Evaluate the reader, which does not see the labels.

    `n_told` sentences specify the entity's gender, `n_open` leave it open; for `n_open_decided` of the latter the
    reader wrongly assigns a gender.
    """
    people_in_all([item.source for item in item_set.items])  # together, which is faster
    read = [(item, gender_read(item)) for item in item_set.items]
    sided = [(item, gender) for item, gender in read if item.expected in (Gender.MASCULINE, Gender.FEMININE)]
    decided = [(item, gender) for item, gender in sided if gender is not None]
    n_right = sum(item.expected is gender for item, gender in decided)
    open_ = [gender for item, gender in read if item.expected is Gender.NEUTRAL]
    return {
        "benchmark": item_set.selection.benchmark,
        "data": item_set.selection.data,
        "n_told": len(sided),
        "n_decided": len(decided),
        "n_right": n_right,
        "n_open": len(open_),
        "n_open_decided": sum(gender is not None for gender in open_),
        "decided_percent": 100 * len(decided) / len(sided) if sided else None,
        "right_percent": 100 * n_right / len(decided) if decided else None,
    }


def gender_read(item: Item) -> Gender | None:
    """Gender of the entity; without one, of all people whose gender is specified, if they agree."""
    people = of_certain_gender(people_in(item.source))
    if item.entity:
        people = called(people, item.entity, item.source)
        if len(people) > 1 and "position" in item.tags:
            place = int(item.tags["position"])
            people = [min(people, key=lambda person: abs(item.source[: person.start].count(" ") - place))]
    genders = {person.gender for person in people if person.gender is not None}
    return genders.pop() if len(genders) == 1 else None


def reader(data: StudiedData = "core", as_json: AsJson = False) -> None:
    """Measure coverage and accuracy of source-side gender detection on benchmarks with known gender."""
    # Sources are the same for every target language that has them all.
    scores = [rate_reader(api.items(name, "es", data=data)) for name in READ]
    columns = ("benchmark", "data", *_SHARES)
    rows = [[score[name] for name in columns] for score in scores]
    table = Table([name.removeprefix("n_") for name in columns], rows, "The reader of sources against known genders")
    studies.show({"sets": scores}, [table], as_json=as_json)


def mitigate(
    settings: Settings = option_group(Settings), work: studies.Work = studies.WORK, as_json: AsJson = False
) -> None:
    """Measure what reranking or gender hints change for women and men, and their cost in quality and time."""
    with work as context:
        report = study_mitigation(settings, context)
    rows = []
    for mitigation in report["mitigations"]:
        rows += studies.long_rows([mitigation])
        if mitigation["milliseconds"] is not None:
            both = (report["milliseconds"], mitigation["milliseconds"])
            rows.append((mitigation["name"], "time", "milliseconds", "simplegen", *both, None, None, None, None))
    every = Table(("mitigation", *studies.LONG_COLUMNS), rows)
    said = (*report["findings"], *report["notes"])
    shown = replace(table(report), caption=_title(report))
    studies.show(report, [shown], said, as_json=as_json, piped=[every])
    say(f"run folders and table.md: {settings.output}")
