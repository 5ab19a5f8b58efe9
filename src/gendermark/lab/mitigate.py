"""What mitigation without training gains and costs: the plain system beside itself reranked and with hints.

Each is run on SimpleGEN and WinoMT and on a plain test set, compared with the plain system on the same sentences, and
timed by asking it directly. One more, the oracle, is told the genders by the benchmark: no reader of sources can make
reranking better than that.
"""

from __future__ import annotations

import json
import statistics as numbers
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gendermark import api, registry
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import UserError
from gendermark.io.textfiles import write_text
from gendermark.lab import mitigate_words as words
from gendermark.lab.paired import NO_REFERENCES, compared, compared_plainly, plain_set, plain_texts
from gendermark.lab.reader import rate_reader
from gendermark.linguistics.hints import STYLES
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender, Request, Task
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.run import NO_CONTEXT, RunConfig, RunContext, run
from gendermark.selection import Selection
from gendermark.systems.system import System, open_system

BENCHMARKS = ("simplegen", "winomt")
SOURCE_LANGUAGE = "en"
COMPARED = (
    ("simplegen", "correct", "fc"),
    ("simplegen", "correct", "mc"),
    ("simplegen", "recall_gap", "all"),
    ("winomt", "accuracy", "feminine"),
    ("winomt", "accuracy", "masculine"),
    ("winomt", "recall_gap", "all"),
    ("winomt", "masculine_share", "neutral"),
)
"""Benchmark, metric and slice; for each mitigation one Holm correction is made over them and BLEU and chrF."""
PLAIN, ORACLE = "plain", "oracle"
N_TIMED = 96
_OPTION_OF = {"rerank": "n", "hinted": "style"}
_RECORD, _TABLE = "mitigate.json", "table.md"


@dataclass(frozen=True)
class Settings:
    """Everything that decides a study's numbers."""

    system: str
    target_language: str
    mitigations: tuple[str, ...] = ()
    """`rerank`, `rerank:16`, `hinted:adjective` ...; none: all that the system can do."""
    data: str = "core"
    plain: tuple[Path, Path] | None = None
    """Files of sentences and of their translations."""
    system_options: Mapping[str, str] = field(default_factory=dict)
    resampling: Resampling = field(default_factory=Resampling)
    n_repeats: int = 3
    """Of the timing; 0: none."""

    @property
    def selections(self) -> tuple[Selection, ...]:
        return tuple(api.select(name, self.target_language, data=self.data)[1] for name in BENCHMARKS)


@dataclass(frozen=True)
class Variant:
    """The system as it is, or with something around it."""

    name: str
    family: str = ""
    options: tuple[tuple[str, str], ...] = ()

    @property
    def folder(self) -> str:
        return self.name.replace(":", "-")

    def spec(self, system: str) -> str:
        if not self.family:
            return system
        query = "&".join(f"{key}={value}" for key, value in self.options)
        joint = "" if not query else "&" if "?" in system else "?"
        return f"{self.family}:{system}{joint}{query}"

    def context(self, inner: System, system: str) -> System:
        """The same around a system that is open already."""
        if not self.family:
            return inner
        opened: System = registry.load("system", self.family)(system, dict(self.options), inner)
        return opened


def variant_of(mitigation: str) -> Variant:
    """What `--with` names."""
    family, _, value = mitigation.partition(":")
    if family not in _OPTION_OF or (family == "rerank" and value and not value.isdecimal()):
        styles = ", ".join(f"hinted:{style}" for style in STYLES if style != "tag")
        raise UserError(f"there is no mitigation {mitigation!r}; available: rerank, rerank:N, {styles}")
    if value == "tag":
        raise UserError("hinted:tag needs tags of your own, which a study cannot choose; give hinted:SYSTEM to `run`")
    return Variant(mitigation, family, ((_OPTION_OF[family], value),) if value else ())


def variants_for(system: System, mitigations: Sequence[str]) -> list[Variant]:
    """The plain system, the mitigations that were asked for or that it can do, and the oracle."""
    can_rerank = system.gives_n_best or Task.SAMPLE in system.tasks
    can = ["rerank"] if can_rerank else []
    can += ["hinted:prompt"] if system.takes_hints else ["hinted:adjective", "hinted:apposition", "hinted:context"]
    chosen = [variant_of(one) for one in dict.fromkeys(mitigations or can)]
    first = next((one for one in chosen if one.family == "rerank"), chosen[0])
    return [Variant(PLAIN), *chosen, Variant(ORACLE, first.family, (*first.options, ("reader", "gold")))]


# -- the study --------------------------------------------------------------------------------------------------------


def study_mitigation(settings: Settings, output: Path, context: RunContext = NO_CONTEXT) -> dict[str, Any]:
    """Run, compare and time; the report is also `mitigate.json` and `table.md` in the directory.

    Leaves a run folder for each variant. Interrupted, the same call goes on where it stopped.
    """
    selections = settings.selections
    with closing(open_system(settings.system, settings.system_options)) as inner:
        variants = variants_for(inner, settings.mitigations)
        for variant in variants[:-1]:  # a style that it lacks, a language that nobody reads: before any work
            variant.context(inner, settings.system).check(SOURCE_LANGUAGE, settings.target_language, [])
        test_set = plain_set(settings.plain, settings.target_language) if inner.is_stored else None
    results, texts = {}, {}
    for variant in variants:
        config = RunConfig(
            variant.spec(settings.system), selections, dict(settings.system_options), settings.resampling
        )
        titled = replace(context, open_progress=_titled(variant.name, context))
        results[variant.name] = run(config, output / variant.folder, titled)
        if test_set is not None and variant.name != ORACLE:  # of other sentences it knows nothing
            texts[variant.name] = plain_texts(config, test_set, settings.target_language, titled)
    seconds = _timed(settings, variants) if settings.n_repeats else {}
    rows = []
    for variant in variants[1:]:
        plain = []
        if test_set is not None and variant.name in texts:
            plain = compared_plainly(test_set, (texts[PLAIN], texts[variant.name]), settings.resampling)
        rows.append(compared((results[PLAIN], results[variant.name]), COMPARED, plain, settings.resampling))
    opened = {
        variant.name: _open_changed(output / PLAIN, output / variant.folder, results[PLAIN]) for variant in variants[1:]
    }
    report = {
        "system": settings.system,
        "system_options": dict(settings.system_options),
        "target_language": settings.target_language,
        "data": settings.data,
        "plain_set": test_set.name if test_set else None,
        "n_plain": len(test_set.sources) if test_set else 0,
        "mitigations": [
            {
                "name": variant.name,
                "system": variant.spec(settings.system),
                "is_upper_bound": variant.name == ORACLE,
                "comparisons": [row.to_json() for row in changes],
                "open": opened[variant.name],
                "plain_set_changed": _n_changed(texts, variant.name),
                "milliseconds": _milliseconds(seconds, variant.name),
                "times_as_long": _ratio(seconds, variant.name),
                "notes": folder.read_manifest(output / variant.folder).get("notes", []),
            }
            for variant, changes in zip(variants[1:], rows, strict=True)
        ],
        "milliseconds": _milliseconds(seconds, PLAIN),
        "n_repeats": settings.n_repeats,
        "n_timed": N_TIMED if seconds else 0,
        "reader": [rate_reader(api.items(selection)).to_json() for selection in selections],
        "signatures": {name: [result.signature for result in found] for name, found in results.items()},
        "notes": [] if test_set else [NO_REFERENCES],
    }
    report["findings"] = words.findings(report)
    write_text(output / _RECORD, json.dumps(report, ensure_ascii=False, indent=2) + "\n")
    write_text(output / _TABLE, words.markdown(report))
    return report


def _titled(name: str, context: RunContext) -> Callable[[str], Any]:
    return lambda title: context.open_progress(f"{name}: {title}")


def _open_changed(plain: Path, other: Path, results: Sequence[Result]) -> dict[str, int]:
    """Sentences that leave the gender open, and how many of them are translated otherwise than by the plain system."""
    n_open = n_changed = 0
    for result in results:
        sides = [folder.read_texts(run / result.cell, result) for run in (plain, other)]
        for judgement, first, second in zip(result.judgements, *sides, strict=True):
            if judgement.expected is Gender.NEUTRAL:
                n_open += 1
                n_changed += first.translation != second.translation
    return {"n": n_open, "n_changed": n_changed}


def _n_changed(texts: Mapping[str, Sequence[str]], name: str) -> int | None:
    if name not in texts:
        return None
    return sum(one != other for one, other in zip(texts[PLAIN], texts[name], strict=True))


# -- time -------------------------------------------------------------------------------------------------------------


def _timed(settings: Settings, variants: Sequence[Variant]) -> dict[str, list[float]]:
    """Seconds per sentence of each variant, asked directly, never the store."""
    selection = settings.selections[0]
    benchmark: Benchmark = registry.load("benchmark", selection.benchmark)
    whole = benchmark.load(selection)
    item_set = replace(whole, items=whole.items[:: max(1, len(whole.items) // N_TIMED)][:N_TIMED])
    requests = benchmark.requests(item_set)
    with closing(open_system(settings.system, settings.system_options)) as inner:
        systems = {one.name: one.context(inner, settings.system) for one in variants if one.name != ORACLE}

        def ready(system: System) -> None:
            system.prepare(benchmark, item_set, requests)

        return interleaved_seconds(systems, requests, settings.n_repeats, ready)


def interleaved_seconds(
    systems: Mapping[str, System], requests: Sequence[Request], n_repeats: int, ready: Callable[[System], None]
) -> dict[str, list[float]]:
    """Seconds per request, once for each repeat, one system after the other in every round so that noise hits all.

    A first round, not counted, warms up. `ready` is called before each turn, outside of the time.
    """
    found: dict[str, list[float]] = {name: [] for name in systems}
    names = list(systems)
    for number in range(n_repeats + 1):
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            ready(systems[name])
            started = time.perf_counter()
            for _ in systems[name].answer(requests):
                pass
            if number:
                found[name].append((time.perf_counter() - started) / len(requests))
    return found


def _milliseconds(seconds: Mapping[str, Sequence[float]], name: str) -> float | None:
    return 1000 * numbers.median(seconds[name]) if seconds.get(name) else None


def _ratio(seconds: Mapping[str, Sequence[float]], name: str) -> float | None:
    """The median of the ratios within rounds: what slows a round down slows both."""
    if not seconds.get(name):
        return None
    return numbers.median(one / plain for one, plain in zip(seconds[name], seconds[PLAIN], strict=True))
