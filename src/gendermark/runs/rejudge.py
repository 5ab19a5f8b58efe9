"""Judge and score stored translations again, with other rules, versions or detectors, without the system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter, call
from pathlib import Path
from typing import Any, NamedTuple

from gendermark import registry
from gendermark.benchmarks.benchmark import Answers, Benchmark, ItemSet
from gendermark.data.own import check_unchanged
from gendermark.errors import UserError
from gendermark.io import soundness
from gendermark.io.disk_list import mapped, places_of, reordered
from gendermark.io.translations import check_sound
from gendermark.metrics.metric import Resampling
from gendermark.names import is_control
from gendermark.records import Gender, Judgement
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.executors import SERIAL, Executor
from gendermark.runs.score import PORTION, Origin, score
from gendermark.selection import Selection, options_of

_ASKS_A_SYSTEM = "forced-choice"
"""The test that needs the system."""


class Change(NamedTuple):
    """One translation whose judgement changed."""

    item_id: str
    before: Gender | None
    after: Gender | None


@dataclass(frozen=True)
class Rejudged:
    result: Result
    changes: tuple[Change, ...]

    @property
    def sentence(self) -> str:
        n, found = len(self.result.judgements), Counter((c.before, c.after) for c in self.changes)
        if not found:
            return f"{self.result.cell}: all {n:,} verdicts are as before"
        none = "not determined"
        kinds = ", ".join(f"{k} {before or none} → {after or none}" for (before, after), k in found.most_common())
        return f"{self.result.cell}: {len(self.changes):,} of {n:,} verdicts differ ({kinds})"

    def to_json(self) -> dict[str, Any]:
        changes = [change._asdict() for change in self.changes]
        return {"result": self.result.to_json(), "n": len(self.result.judgements), "changes": changes}


def rejudge(
    directory: Path | str, options: Mapping[str, Any], output: Path | None = None, executor: Executor = SERIAL
) -> list[Rejudged]:
    """Rejudge all cells of a run folder; `options` replace those of the selections that have them.

    With an output directory, write a run folder of the new results there.
    """
    run = folder.read_run(directory)
    if not run.results:
        raise UserError(f"{directory} has no results to rejudge")
    chosen = [_selection(result.selection, options) for result in run.results]
    for name, value in options.items():
        if value and not any(_allows(selection, name, value) for selection in chosen):
            first = chosen[0].benchmark
            one = Selection(first, **{name: value})  # refused here if unknown to all
            options_of(type(one))[name].check(value, first)
    config = {**run.manifest["config"], "selections": [s.to_json() for s in chosen], "rejudged": run.name}
    if output is not None:
        if output.resolve() == run.path.resolve():
            raise UserError(f"{output} is the run to be rejudged; choose another directory with -o")
        folder.check_reusable(output, config)
    resampling = Resampling(**config.get("resampling", {}))
    # Parallel by cell, or by portion if one is large.
    is_large = any(len(old.judgements) > PORTION for old in run.results)
    judge = partial(score_again, executor=executor) if is_large else score_again
    work = []
    for old, selection in zip(run.results, chosen, strict=True):
        origin = Origin(old.system, old.signed.get("decoding", ""), resampling, old.name)
        work.append(partial(judge, old, run.texts[old.cell], selection, origin, f"{run.name}, {old.cell}"))
    again = (SERIAL if is_large else executor).in_order(call, work)
    found, cells = [], {}
    for old, (item_set, answers, new) in zip(run.results, again, strict=True):
        changes = _changes(old.judgements, new.judgements)
        kept = [test for test in old.tests if test.name == _ASKS_A_SYSTEM and not changes]
        result = replace(new, tests=(*new.tests, *kept))
        if output is not None:
            cells[result.cell] = folder.write_cell(output, item_set, answers, result)
        found.append(Rejudged(result, changes))
    if output is not None:
        folder.write_manifest(output, config, "finished", cells, run.notes, str(run.manifest.get("name", "")))
    return found


def _selection(old: Selection, options: Mapping[str, Any]) -> Selection:
    own = {name: value for name, value in options.items() if value and _allows(old, name, value)}
    benchmark: Benchmark = registry.load("benchmark", old.benchmark)
    completed: Selection = benchmark.complete(replace(old, **own))
    return completed


def _allows(selection: Selection, name: str, value: Any) -> bool:
    """Whether a benchmark has the rules or option; if not, it is judged as before."""
    option = options_of(type(selection)).get(name)
    return option is not None and option.allows(value)


def score_again(
    old: Result,
    texts: Sequence[folder.Text],
    selection: Selection,
    origin: Origin,
    where: str,
    executor: Executor = SERIAL,
) -> tuple[ItemSet, Answers, Result]:
    benchmark: Benchmark = registry.load("benchmark", selection.benchmark)
    check_unchanged(selection.data, old.origin, where)
    item_set = benchmark.load(selection)
    ids = [mapped(attrgetter("item_id"), records) for records in (old.judgements, item_set.items)]
    places = places_of(*ids)
    n_missing = sum(place < 0 for place in places)
    if n_missing or item_set.origin != old.origin:
        what = f"{n_missing:,} of its sentences" if n_missing else f"its data ({old.origin})"
        raise UserError(f"{where}: this version lacks {what}, so it cannot be judged again; run it again")
    own: Sequence[Any] = reordered(texts, places)  # none is missing
    n_other = sum(text.source != item.source for text, item in zip(own, item_set.items, strict=True))
    if n_other:
        raise UserError(f"{where}: {n_other:,} sources are not those of {old.origin}; run it again")
    answers = mapped(attrgetter("answers"), own)
    accepted: list[str] = []
    if not benchmark.draws and not is_control(old.system):
        with soundness.refused(where, {}, accepted=accepted):
            check_sound(benchmark, item_set, [text.translation or "" for text in own])
    origin = replace(origin, unsound="; ".join(accepted))
    return item_set, answers, score(benchmark, item_set, answers, origin, executor)


def _changes(old: Sequence[Judgement], new: Sequence[Judgement]) -> tuple[Change, ...]:
    places = places_of(*(mapped(attrgetter("item_id"), judgements) for judgements in (old, new)))
    before: Sequence[Any] = reordered(old, places)
    return tuple(
        Change(now.item_id, earlier.observed, now.observed)
        for earlier, now in zip(before, new, strict=True)
        if (earlier.observed, earlier.verdict) != (now.observed, now.verdict)
    )
