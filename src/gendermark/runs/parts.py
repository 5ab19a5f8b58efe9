"""`run --shard K/N` and `merge`: a run in N parts that know nothing of each other, for arrays of jobs on a cluster.

Every part makes the same plan and translates its own shards of it; `merge` puts the answers in order and scores them.
The result is that of one run.
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
from gendermark.data.own import file_of
from gendermark.errors import BadFile, UserError
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
"""Missing parts that are listed one by one."""


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
        """Those of the requests that are its own, in whole shards: they are asked side by side as in one run."""
        if not requests:
            return []
        size = system.shard_size(requests[0].task)
        return [place for place in range(len(requests)) if place // size % self.n == self.number - 1]


# -- one part ----------------------------------------------------------------------------------------------------------


def run_part(config: RunConfig, part: Part, directory: Path, context: RunContext) -> tuple[int, int]:
    """Translate the sentences of a part, and leave them in its folder; give how many they are, of how many."""
    # A store of its own, so that no two jobs of an array need the same file: a network file system may not lock it.
    context = replace(context, store=context.store or directory / _STORE)
    with closing(open_system(config.system, config.system_options)) as system, ExitStack() as stack:
        whole = plan(config, system)
        places = [part.places(step.requests, system) for step in whole.steps]
        own = replace(whole, steps=tuple(_only(step, own) for step, own in zip(whole.steps, places, strict=True)))
        described = {**config.to_json(), folder.SHARD: str(part)}
        cells = {}
        translated = translate_steps(own, system, directory, described, context, stack)
        for given, own_places in zip(translated, places, strict=True):
            cell = directory / given.item_set.selection.cell
            write_jsonl(cell / folder.PART_ANSWERS, _rows(own_places, given.answers.translations))
            if given.chosen is not None:
                chosen = _by_pair(given.pairs, given.chosen.translations)
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
    return sum(map(len, places)), sum(len(step.requests) for step in whole.steps)


def _only(step: Step, places: Sequence[int]) -> Step:
    items = tuple(step.item_set.items[place] for place in places)
    pairs = [step.pairs[place] for place in places] if step.pairs else step.pairs
    requests = [step.requests[place] for place in places]
    return replace(step, item_set=replace(step.item_set, items=items), requests=requests, pairs=pairs)


def _by_pair(pairs: Sequence[Any], scored: Sequence[Sequence[Translation]]) -> Iterator[list[Translation]]:
    """For each item the answers about its two translations; none, where it has none."""
    answers = iter(scored)
    for pair in pairs:
        yield [one for _ in pair or () for one in next(answers)]


def _rows(places: Sequence[int], answers: Any) -> Iterator[dict[str, Any]]:
    for place, found in zip(places, answers, strict=True):
        yield {"place": place, "answers": [_row(answer) for answer in found]}


def _row(answer: Translation) -> list[Any]:
    by_token = answer.token_log_probabilities
    numbers = [answer.log_probability, answer.n_tokens, None if by_token is None else list(by_token)]
    return [answer.request_id, answer.text, answer.sample, answer.error, *numbers]


# -- all of them -------------------------------------------------------------------------------------------------------


def merge(directories: Sequence[Path], output: Path, context: RunContext) -> list[Result]:
    """Join the parts of a run, and score it."""
    for directory, n in Counter(directories).items():
        if n > 1:
            raise UserError(f"{directory} was given twice; give each part once")
    manifests = {directory: _manifest(directory) for directory in directories}
    _check_parts(manifests)
    # By number, so that nothing depends on the order in which a shell lists them: parts/10 comes before parts/2.
    manifests = dict(sorted(manifests.items(), key=lambda pair: _part_of(pair[1]).number))
    system = _Joined(manifests)
    planned = plan(_config_of(next(iter(manifests.values()))), system)
    for step in planned.steps:
        _check_data(step.item_set, manifests)
    if not context.name:
        names = [name for manifest in manifests.values() if (name := str(manifest.get("name", "")))]
        if len(set(names)) > 1:
            context.tell(f"the parts have different names ({', '.join(dict.fromkeys(names))}); {names[0]} is used")
        context = replace(context, name=next(iter(names), ""))
    return carry_out(planned, system, output, context)


def _manifest(directory: Path) -> dict[str, Any]:
    manifest = folder.read_manifest(directory)
    if manifest["status"] == "running" and folder.SHARD in manifest["config"]:
        raise UserError(f"the part in {directory} is not finished; give the same `gendermark run` command again")
    if manifest["status"] != folder.PART:
        raise UserError(f"{directory} is not a part of a run; give directories that `gendermark run --shard` wrote")
    try:
        _config_of(manifest)
        _part_of(manifest)
        rows = list(manifest["cells"].values())
        texts = [row[name] for row in rows for name in ("spec", "system_id", "decoding", "data")]
        is_sound = bool(rows) and all(isinstance(text, str) for text in texts)
    except (KeyError, TypeError, UserError):
        is_sound = False
    if not is_sound:
        raise BadFile(
            directory / folder.MANIFEST,
            "is not the manifest of a part; delete it and run the part again (stored answers are not asked again)",
        )
    for cell, row in manifest["cells"].items():
        folder.check_sums(directory / cell, row, _again(manifest))
    return manifest


def _config_of(manifest: Mapping[str, Any]) -> RunConfig:
    config = manifest["config"]
    return RunConfig(
        config["system"],
        tuple(Selection.from_json(row) for row in config["selections"]),
        config["system_options"],
        Resampling(**config["resampling"]),
        bool(config.get("forced_choice")),
        bool(config.get("accept_unsound")),
    )


def _part_of(manifest: Mapping[str, Any]) -> Part:
    return Part.of(str(manifest["config"][folder.SHARD]))


def _again(*manifests: Mapping[str, Any]) -> str:
    parts = ", ".join(str(_part_of(manifest)) for manifest in manifests)
    return f"run {'part' if len(manifests) == 1 else 'parts'} {parts} again (stored answers are not asked again)"


def _check_parts(manifests: Mapping[Path, Mapping[str, Any]]) -> None:
    """Refuse parts of different runs, and too few or too many of them."""
    by_part: dict[Part, Path] = {}
    first, wanted = next(iter(manifests.items()))
    n = _part_of(wanted).n
    for directory, manifest in manifests.items():
        part = _part_of(manifest)
        differing = _differing(wanted, manifest)
        if differing or part.n != n:
            reasons = [f"they differ in {', '.join(differing)}"] if differing else []
            reasons += [f"one is part {part}, the other {_part_of(wanted)}"] if part.n != n else []
            raise UserError(
                f"{directory} is a part of another run than {first} ({'; '.join(reasons)}); give parts of one run only"
            )
        if part in by_part:
            raise UserError(f"{by_part[part]} and {directory} hold the same part, {part}; give each once")
        by_part[part] = directory
    if missing := [f"{k}/{n}" for k in range(1, n + 1) if Part(k, n) not in by_part]:
        shown = ", ".join(missing[:_MOST_SHOWN])
        more = f" and {len(missing) - _MOST_SHOWN:,} more" if len(missing) > _MOST_SHOWN else ""
        raise UserError(f"parts are missing: {shown}{more}; run them with --shard, or give their directories")


def _differing(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[str]:
    """In what two parts differ that must not; nothing if they are of one run."""
    settings = [_settings(manifest["config"]) for manifest in (one, two)]
    names = dict.fromkeys([*settings[0], *settings[1]])
    found = [name for name in names if (settings[0].get(name) or None) != (settings[1].get(name) or None)]
    if "benchmark" in found:
        return ["benchmark"]  # each has options of its own
    ids, data = ([[row[key] for row in m["cells"].values()] for m in (one, two)] for key in ("system_id", "data"))
    # Some systems are named by their data; other data are found when the items are loaded.
    return found or (["model"] if ids[0] != ids[1] and data[0] == data[1] else [])


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked, by name; of several selections, all values of an option."""
    found = {key: value for key, value in config.items() if key not in (folder.SHARD, "selections", "resampling")}
    for selection in config["selections"]:
        for key, value in selection.items():
            found[key] = [*found.get(key, []), value]
    return {**found, **config["resampling"]}


def _check_data(item_set: ItemSet, manifests: Mapping[Path, Mapping[str, Any]]) -> None:
    """Refuse answers to other sentences than there are now."""
    selection = item_set.selection
    other = {
        directory: manifest
        for directory, manifest in manifests.items()
        if manifest["cells"].get(selection.cell, {}).get("data") != item_set.origin
    }
    if other:
        data = file_of(selection.data) or f"the {selection.data} set of {selection.cell}"
        raise UserError(
            f"{data} is not what {', '.join(map(str, other))} {'was' if len(other) == 1 else 'were'} made from; "
            f"put it back as it was, or {_again(*other.values())}"
        )


class _Joined(System):
    """Answers what the parts have, in the order of the places, read as they are needed."""

    is_stored = False
    tasks = frozenset(Task)

    def __init__(self, manifests: Mapping[Path, Mapping[str, Any]]) -> None:
        self._directories = list(manifests)
        self._notes = list(dict.fromkeys(note for manifest in manifests.values() for note in manifest.get("notes", [])))
        facts = next(iter(next(iter(manifests.values()))["cells"].values()))
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
            raise UserError(f"the parts do not answer the sentences that {self._cell} has now; run all of them again")


def _read(path: Path) -> Iterator[tuple[int, list[Translation]]]:
    for line, row in read_jsonl(path):
        try:
            yield int(row["place"]), [_answer(*fields) for fields in row["answers"]]
        except (KeyError, TypeError, ValueError):
            raise BadFile(path, "is not a line that `gendermark run --shard` wrote; run it again", line=line) from None


def _answer(*fields: Any) -> Translation:
    request_id, text, sample, error, log_probability, n_tokens, by_token = fields
    texts, numbers = (text, error), (log_probability, n_tokens, *(by_token or ()))
    is_sound = isinstance(request_id, str) and isinstance(sample, int) and isinstance(by_token, list | None)
    if not is_sound or not all(isinstance(one, str | None) for one in texts):
        raise TypeError
    if not all(isinstance(one, int | float | None) for one in numbers):
        raise TypeError
    known = None if by_token is None else tuple(by_token)
    return Translation(request_id, text, sample, error, log_probability, n_tokens, known)
