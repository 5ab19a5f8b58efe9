"""`run --shard K/N` and `merge`: a run in N independent parts, for job arrays on a cluster.

Every part makes the same plan and translates its own shards; `merge` orders the answers and scores them, with the same
result as a single run.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.data.own import file_of, fingerprint
from gendermark.errors import BadFile, UserError
from gendermark.io.tables import some
from gendermark.io.textfiles import read_jsonl, write_jsonl
from gendermark.metrics.metric import Resampling
from gendermark.records import Request, Task, Translation
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.run import RunConfig, RunContext, Step, carry_out, plan, translate_steps
from gendermark.selection import Selection
from gendermark.systems.system import System, open_system

_STORE = "store.sqlite"
_MOST_SHOWN = 10
"""Missing parts to list."""


@dataclass(frozen=True)
class Part:
    """The first of three parts is 1/3."""

    number: int
    n: int

    @classmethod
    def of(cls, text: str) -> Part:
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise UserError(f"--shard is K/N, from 1/N to N/N (2/8 is the second of eight), not {text!r}")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.n}"

    def places(self, requests: Sequence[Request], system: System) -> list[int]:
        """Indices of its own requests, in whole shards, so that batches are as in a single run."""
        if not requests:
            return []
        size = system.shard_size(requests[0].task)
        return [place for place in range(len(requests)) if place // size % self.n == self.number - 1]


# -- one part ----------------------------------------------------------------------------------------------------------


def run_part(config: RunConfig, part: Part, directory: Path, context: RunContext) -> tuple[int, int]:
    """Translate the sentences of a part into its folder; return their number, and the total."""
    # A separate store, as a network file system may not lock a shared one.
    context = replace(context, store=context.store or directory / _STORE)
    with closing(open_system(config.system, config.system_options)) as system, ExitStack() as stack:
        whole = plan(config, system)
        places = [part.places(step.requests, system) for step in whole]
        own = list(map(_only, whole, places))
        described = {**config.to_json(), folder.SHARD: str(part)}
        cells = {}
        translated = translate_steps(config, own, system, directory, described, context, stack)
        for given, own_places in zip(translated, places, strict=True):
            cell = directory / given.item_set.selection.cell
            write_jsonl(cell / folder.PART_ANSWERS, _rows(own_places, given.answers.translations))
            if given.chosen is not None:
                answers = iter(given.chosen.translations)
                # For each item the answers about its two translations; none without a pair.
                chosen = [[one for _ in pair or () for one in next(answers)] for pair in given.pairs]
                write_jsonl(cell / folder.PART_CHOICES, _rows(own_places, chosen))
            cells[cell.name] = {
                "n": len(own_places),
                "spec": system.spec,
                "system_id": system.system_id,
                "decoding": system.decoding,
                "data": given.item_set.origin,
                folder.SUMS: folder.sums(cell),
            }
        notes = system.notes()
        told = [*notes, *context.executor.notes()]
        folder.write_manifest(directory, described, folder.PART, cells, told, context.name)
    for note in notes:
        context.tell(note)
    return sum(map(len, places)), sum(len(step.requests) for step in whole)


def _only(step: Step, places: Sequence[int]) -> Step:
    items = tuple(step.item_set.items[place] for place in places)
    pairs = [step.pairs[place] for place in places] if step.pairs else step.pairs
    requests = [step.requests[place] for place in places]
    return replace(step, item_set=replace(step.item_set, items=items), requests=requests, pairs=pairs)


def _rows(places: Sequence[int], answers: Any) -> Iterator[dict[str, Any]]:
    for place, found in zip(places, answers, strict=True):
        yield {"place": place, "answers": [_row(answer) for answer in found]}


def _row(answer: Translation) -> list[Any]:
    by_token = answer.token_log_probabilities
    numbers = [answer.log_probability, answer.n_tokens, None if by_token is None else list(by_token)]
    return [answer.request_id, answer.text, answer.sample, answer.error, *numbers]


# -- all of them -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Made:
    directory: Path
    part: Part
    config: RunConfig
    manifest: Mapping[str, Any]

    @property
    def cells(self) -> Mapping[str, Mapping[str, Any]]:
        found: Mapping[str, Mapping[str, Any]] = self.manifest["cells"]
        return found


def merge(directories: Sequence[Path], output: Path, context: RunContext) -> list[Result]:
    for directory, n in Counter(directories).items():
        if n > 1:
            raise UserError(f"{directory} was given twice; give each part once")
    given = list(map(_read_part, directories))
    _check_parts(given)
    # By number, independent of shell order: parts/10 sorts before parts/2.
    parts = sorted(given, key=lambda one: one.part.number)
    system = _Joined(parts)
    for selection in parts[0].config.selections:
        _check_data(selection, fingerprint(selection.data), parts)
    planned = plan(parts[0].config, system)
    for step in planned:
        _check_data(step.item_set.selection, step.item_set.origin, parts)
    if not context.name:
        names = [name for one in parts if (name := str(one.manifest.get("name", "")))]
        if len(set(names)) > 1:
            context.tell(f"the parts have different names ({', '.join(dict.fromkeys(names))}); {names[0]} is used")
        context = replace(context, name=next(iter(names), ""))
    return carry_out(parts[0].config, planned, system, output, context)


def _read_part(directory: Path) -> _Made:
    manifest = folder.read_manifest(directory)
    config, cells = manifest["config"], manifest["cells"]
    if manifest["status"] == "running" and folder.SHARD in config:
        raise UserError(f"the part in {directory} is not finished; give the same `gendermark run` command again")
    if manifest["status"] != folder.PART:
        raise UserError(f"{directory} is not a part of a run; give directories that `gendermark run --shard` wrote")
    try:
        asked = RunConfig(
            config["system"],
            tuple(Selection.from_json(row) for row in config["selections"]),
            config["system_options"],
            Resampling(**config["resampling"]),
            bool(config.get("forced_choice")),
            bool(config.get("accept_unsound")),
        )
        found = _Made(directory, Part.of(str(config[folder.SHARD])), asked, manifest)
        texts = [row[name] for row in cells.values() for name in ("spec", "system_id", "decoding", "data")]
        is_sound = bool(texts) and all(isinstance(text, str) for text in texts)
    except (KeyError, TypeError, UserError):
        is_sound = False
    if not is_sound:
        raise BadFile(
            directory / folder.MANIFEST,
            "is not the manifest of a part; delete it and run the part again (stored answers are reused)",
        )
    for cell, row in cells.items():
        folder.check_sums(directory / cell, row, _again([found]))
    return found


def _again(parts: Sequence[_Made]) -> str:
    named = ", ".join(str(one.part) for one in parts)
    return f"run {'part' if len(parts) == 1 else 'parts'} {named} again (stored answers are reused)"


def _check_parts(given: Sequence[_Made]) -> None:
    by_part: dict[Part, Path] = {}
    first = given[0]
    for one in given:
        differing = _differing(first, one)
        reasons = [f"they differ in {', '.join(differing)}"] if differing else []
        reasons += [f"one is part {one.part}, the other {first.part}"] if one.part.n != first.part.n else []
        if reasons:
            why = "; ".join(reasons)
            raise UserError(
                f"{one.directory} is a part of another run than {first.directory} ({why}); give parts of one run only"
            )
        if one.part in by_part:
            raise UserError(f"{by_part[one.part]} and {one.directory} hold the same part, {one.part}; give each once")
        by_part[one.part] = one.directory
    n = first.part.n
    if missing := [f"{k}/{n}" for k in range(1, n + 1) if Part(k, n) not in by_part]:
        named = some(missing, n=_MOST_SHOWN)
        raise UserError(f"parts are missing: {named}; run them with --shard, or give their directories")


def _differing(one: _Made, two: _Made) -> list[str]:
    """Settings in which two parts wrongly differ; empty if they belong to one run."""
    settings = [_settings(made.config) for made in (one, two)]
    names = dict.fromkeys([*settings[0], *settings[1]])
    found = [name for name in names if settings[0].get(name) != settings[1].get(name)]
    if "benchmark" in found:
        return ["benchmark"]  # each has its own options
    ids, data = ([[row[key] for row in made.cells.values()] for made in (one, two)] for key in ("system_id", "data"))
    # Some systems are named by their data; different data show when the items are loaded.
    return found or (["model"] if ids[0] != ids[1] and data[0] == data[1] else [])


def _settings(config: RunConfig) -> dict[str, Any]:
    found = config.to_json()
    selections, resampling = found.pop("selections"), found.pop("resampling")
    names = dict.fromkeys(name for row in selections for name in row)
    return {**found, **{name: [row.get(name) for row in selections] for name in names}, **resampling}


def _check_data(selection: Selection, origin: str, parts: Sequence[_Made]) -> None:
    """Refuse answers to other sentences than the current ones; own data before they are read."""
    if other := [one for one in parts if origin not in one.cells.get(selection.cell, {}).get("data", "")]:
        data = file_of(selection.data) or f"the {selection.data} set of {selection.cell}"
        named = ", ".join(str(one.directory) for one in other)
        raise UserError(
            f"{data} has changed since {named} {'was' if len(other) == 1 else 'were'} made; restore it, or "
            f"{_again(other)}"
        )


class _Joined(System):
    """Answers with the parts' translations, in order, read on demand."""

    is_stored = False
    tasks = frozenset(Task)

    def __init__(self, parts: Sequence[_Made]) -> None:
        self._directories = [one.directory for one in parts]
        self._notes = list(dict.fromkeys(note for one in parts for note in one.manifest.get("notes", [])))
        facts = next(iter(parts[0].cells.values()))
        self.spec, self.system_id, self.decoding = facts["spec"], facts["system_id"], facts["decoding"]

    def prepare(self, benchmark: Benchmark, item_set: ItemSet, requests: Sequence[Request]) -> None:  # noqa: ARG002
        self._cell = item_set.selection.cell
        self._task = requests[0].task if requests else Task.TRANSLATE

    def notes(self) -> Sequence[str]:
        return self._notes

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        is_choice = bool(requests) and requests[0].task is not self._task
        name = folder.PART_CHOICES if is_choice else folder.PART_ANSWERS
        parts = [_read(directory / self._cell / name) for directory in self._directories]
        asked = ((request.request_id, sample) for request in requests for sample in request.samples)
        for _, answers in heapq.merge(*parts, key=itemgetter(0)):
            if any((answer.request_id, answer.sample) != next(asked, None) for answer in answers):
                break
            yield answers
        if next(asked, None) is not None:
            raise UserError(f"the parts translate other sentences than {self._cell} has now; run all parts again")


def _read(path: Path) -> Iterator[tuple[int, list[Translation]]]:
    for line, row in read_jsonl(path):
        try:
            yield int(row["place"]), [_answer(*fields) for fields in row["answers"]]
        except (KeyError, TypeError, ValueError):
            raise BadFile(path, "is not a line that `gendermark run --shard` wrote; run it again", line=line) from None


_KINDS = (str, str | None, int, str | None, float | int | None, int | None, list | None)
"""Types of the values written by `_row`."""


def _answer(*values: Any) -> Translation:
    if not all(isinstance(value, kind) for value, kind in zip(values, _KINDS, strict=True)):
        raise TypeError
    request_id, text, sample, error, log_probability, n_tokens, by_token = values
    if not all(isinstance(number, int | float) for number in by_token or ()):
        raise TypeError
    by_token = None if by_token is None else tuple(by_token)
    return Translation(request_id, text, sample, error, log_probability, n_tokens, by_token)
