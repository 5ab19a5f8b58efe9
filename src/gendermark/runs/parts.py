"""`run --shard K/N` and `merge`: a run in N parts that know nothing of each other, for arrays of jobs on a cluster.

Every part makes the same plan and translates the shards that fall to it, by their places; `merge` puts the answers in
order and scores them. The result is that of one run.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from gendermark.runs.run import Place, RunConfig, RunContext, Step, carry_out, plan, translate_steps
from gendermark.selection import Option, Selection
from gendermark.systems.system import System, open_system

_STORE = "store.sqlite"
_MOST_SHOWN = 10
"""Missing parts that are listed one by one."""
_CALLED = {
    "system": "the system",
    "system_options": "the options of the system",
    "source_language": "the source language",
    "target_language": "the target language",
    "parts": "--group",
}
"""What is not called by the option of its name."""


@dataclass(frozen=True)
class Part:
    """The first of three parts is 1/3."""

    number: int
    n: int

    @classmethod
    def of(cls, text: str) -> Part:
        if not cls.is_one(text):
            raise UserError(f"--shard is K/N, from 1/N to N/N (2/8 is the second of eight), not {text!r}")
        return cls(*map(int, text.split("/")))

    @staticmethod
    def is_one(text: str) -> bool:
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
        return found is not None and 1 <= int(found[1]) <= int(found[2])

    def __str__(self) -> str:
        return f"{self.number}/{self.n}"

    def places(self, requests: Sequence[Request], system: System) -> list[int]:
        """Those of the requests that fall to it, by whole shards: they are asked side by side as in one run."""
        if not requests:
            return []
        size = system.shard_size(requests[0].task)
        return [place for place in range(len(requests)) if place // size % self.n == self.number - 1]


@dataclass(frozen=True)
class Dealt:
    """How many of a run's sentences fell to a part."""

    n: int
    n_all: int

    @property
    def sentence(self) -> str:
        if self.n == 0:
            return f"none of the {self.n_all:,} sentences fell to it (they are dealt out in whole batches)"
        return f"{self.n:,} of {self.n_all:,} sentences"


# -- one part ----------------------------------------------------------------------------------------------------------


def run_part(config: RunConfig, part: Part, directory: Path, context: RunContext) -> Dealt:
    """Translate what falls to a part, and leave it in its folder."""
    # By itself, so that no two jobs of an array need the same file: a network's file system may not lock it.
    context = replace(context, store=context.store or directory / _STORE)
    with closing(open_system(config.system, config.system_options)) as system, ExitStack() as stack:
        whole = plan(config, system)
        places = [part.places(step.requests, system) for step in whole.steps]
        own = replace(whole, steps=tuple(_only(step, own) for step, own in zip(whole.steps, places, strict=True)))
        described = {**config.to_json(), folder.SHARD: str(part)}
        place = Place(directory, described, "running")
        cells = {}
        for given, own_places in zip(translate_steps(own, system, place, context, stack), places, strict=True):
            cell = directory / given.item_set.selection.cell
            write_jsonl(cell / folder.PART_ANSWERS, _rows(own_places, given.answers.translations))
            if given.chosen is not None:
                chosen = _by_pair(given.pairs, given.chosen.translations)
                write_jsonl(cell / folder.PART_CHOICES, _rows(own_places, chosen))
            facts = {"spec": system.spec, "system_id": system.system_id, "decoding": system.decoding}
            facts["data"] = given.item_set.origin
            cells[cell.name] = {"n": len(own_places), **facts, folder.SUMS: folder.sums(cell)}
        notes = system.notes()
        folder.write_manifest(
            directory, described, folder.PART, cells, [*notes, *context.executor.notes()], context.name
        )
    for note in notes:
        context.tell(note)
    return Dealt(sum(map(len, places)), sum(len(step.requests) for step in whole.steps))


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
    config = _common(manifests)
    # By number, so that nothing hangs on the order in which a shell lists them: parts/10 comes before parts/2.
    manifests = dict(sorted(manifests.items(), key=lambda pair: _part_of(pair[1]).number))
    notes = list(dict.fromkeys(note for manifest in manifests.values() for note in manifest.get("notes", [])))
    system = _Joined(manifests, notes)
    planned = plan(config, system)
    for step in planned.steps:
        _check_data(step.item_set, manifests)
    if not context.name:
        context = replace(context, name=_common_name(manifests.values(), context))
    return carry_out(planned, system, output, context)


def _common_name(manifests: Iterable[Mapping[str, Any]], context: RunContext) -> str:
    """What the system is called: as the first part that has a name for it says."""
    named: dict[str, Part] = {}
    for manifest in manifests:
        if name := str(manifest.get("name", "")):
            named.setdefault(name, _part_of(manifest))
    if len(named) > 1:
        name, part = next(iter(named.items()))
        context.tell(
            f"the parts have different names ({', '.join(named)}); the whole is called {name}, as part {part} is "
            "(--name gives it another name)"
        )
    return next(iter(named), "")


def _check_data(item_set: ItemSet, manifests: Mapping[Path, Mapping[str, Any]]) -> None:
    """Refuse answers to other sentences than there are now. Parts of earlier versions do not say what they were of."""
    selection = item_set.selection
    rows = {directory: manifest["cells"].get(selection.cell, {}) for directory, manifest in manifests.items()}
    other = {
        directory: row["data"] for directory, row in rows.items() if row.get("data", item_set.origin) != item_set.origin
    }
    if not other:
        return
    data = file_of(selection.data) or f"the {selection.data} set of {selection.cell}"
    if len(other) == len(rows):
        apart = "" if len(set(other.values())) == 1 else "; the parts differ from each other, too"
        again = "put it back as it was, or run all parts again (what their stores have is not asked again)"
        raise UserError(f"{data} is not what the parts were made from{apart}; {again}")
    was = "was" if len(other) == 1 else "were"
    again = _again(*(manifests[directory] for directory in other))
    raise UserError(f"{data} is not what {', '.join(map(str, other))} {was} made from; {again}")


def _manifest(directory: Path) -> dict[str, Any]:
    manifest = folder.read_manifest(directory)
    if manifest["status"] == "running" and folder.SHARD in manifest["config"]:
        raise UserError(f"the part in {directory} is not finished; give the same `gendermark run` command again")
    if manifest["status"] != folder.PART:
        raise UserError(f"{directory} is not a part of a run; give directories that `gendermark run --shard` wrote")
    if not _is_sound(manifest):
        raise BadFile(
            directory / folder.MANIFEST,
            "is not the manifest of a part; delete it and run the part again (what its store has is not asked again)",
        )
    for cell, row in manifest["cells"].items():
        folder.check_sums(directory / cell, row, _again(manifest))
    return manifest


def _is_sound(manifest: Mapping[str, Any]) -> bool:
    """Whether all that is read here is there, and of its kind."""
    try:
        _config_of(manifest)
    except (KeyError, TypeError):
        return False
    if not Part.is_one(str(manifest["config"].get(folder.SHARD))):
        return False
    texts = [row.get(name) for row in manifest["cells"].values() for name in ("spec", "system_id", "decoding")]
    texts += [row.get("data", "") for row in manifest["cells"].values()]  # which earlier versions did not write
    counts = [row.get("n") for row in manifest["cells"].values()]
    return bool(counts) and all(isinstance(x, str) for x in texts) and all(isinstance(x, int) for x in counts)


def _again(*manifests: Mapping[str, Any]) -> str:
    """What mends some parts. It costs nothing where their answers are kept."""
    parts = ", ".join(str(manifest["config"].get(folder.SHARD)) for manifest in manifests)
    part, has = ("part", "its store has") if len(manifests) == 1 else ("parts", "their stores have")
    return f"run {part} {parts} again (what {has} is not asked again)"


def _common(manifests: Mapping[Path, Mapping[str, Any]]) -> RunConfig:
    """What all parts were asked; refuses parts of different runs, and too few or too many of them."""
    by_part: dict[Part, Path] = {}
    first, wanted = next(iter(manifests.items()))
    for directory, manifest in manifests.items():
        part = _part_of(manifest)
        if reasons := _why_apart(wanted, manifest):
            raise UserError(
                f"{directory} is a part of another run than {first} ({'; '.join(reasons)}); give parts of one run only"
            )
        if part in by_part:
            raise UserError(f"{by_part[part]} and {directory} hold the same part, {part}; give each once")
        by_part[part] = directory
    n = _part_of(wanted).n
    if missing := [f"{k}/{n}" for k in range(1, n + 1) if Part(k, n) not in by_part]:
        shown = ", ".join(missing[:_MOST_SHOWN])
        more = f" and {len(missing) - _MOST_SHOWN:,} more" if len(missing) > _MOST_SHOWN else ""
        raise UserError(f"parts are missing: {shown}{more}; run them with --shard, or give their directories")
    return _config_of(wanted)


def _config_of(manifest: Mapping[str, Any]) -> RunConfig:
    config = manifest["config"]
    return RunConfig(
        config["system"],
        tuple(Selection.from_json(row) for row in config["selections"]),
        config["system_options"],
        Resampling(**config["resampling"]),
        bool(config.get("forced_choice")),
    )


def _part_of(manifest: Mapping[str, Any]) -> Part:
    return Part.of(str(manifest["config"][folder.SHARD]))


def _why_apart(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[str]:
    """What makes two parts those of different runs; nothing if they are of one."""
    differing = _differing(one["config"], two["config"])
    models = [[row.get("system_id") for row in manifest["cells"].values()] for manifest in (one, two)]
    # Another language or another system has another model, too: that goes without saying. And some systems are named
    # by their data: which part has other data is told when they are read.
    if not differing and models[0] != models[1] and not _have_other_data(one, two):
        differing = ["the model"]
    reasons = [f"they differ in {', '.join(differing)}"] if differing else []
    if _part_of(one).n != _part_of(two).n:
        reasons.append(f"one is part {_part_of(two)}, the other {_part_of(one)}")
    return reasons


def _differing(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[str]:
    """What was asked otherwise, as a person would call it."""
    found = []
    for key in _keys_apart(one, two):
        if key == "selections":
            found += _selections_apart(one.get(key, []), two.get(key, []))
        elif key == "resampling":
            found += [_flag(name.removeprefix("n_")) for name in _keys_apart(one.get(key, {}), two.get(key, {}))]
        elif key != folder.SHARD:
            found.append(_CALLED.get(key) or _flag(key))
    return found


def _selections_apart(one: Sequence[Mapping[str, Any]], two: Sequence[Mapping[str, Any]]) -> list[str]:
    if [row.get("benchmark") for row in one] != [row.get("benchmark") for row in two]:
        return ["the benchmarks" if max(len(one), len(two)) > 1 else "the benchmark"]  # these have options of their own
    keys = dict.fromkeys(key for pair in zip(one, two, strict=True) for key in _keys_apart(*pair))
    return [_CALLED.get(key) or _flag(key) for key in keys]


def _keys_apart(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[str]:
    """In both directions. What is empty was not asked for, as if it were not there."""
    return [key for key in dict.fromkeys([*one, *two]) if (one.get(key) or None) != (two.get(key) or None)]


def _flag(name: str) -> str:
    return Option(name).flag


def _have_other_data(one: Mapping[str, Any], two: Mapping[str, Any]) -> bool:
    """Whether two parts say that they were made from different data."""
    pairs = [(one["cells"].get(cell, {}).get("data"), row.get("data")) for cell, row in two["cells"].items()]
    return any(first and second and first != second for first, second in pairs)


class _Joined(System):
    """Answers what the parts have: in the order of the places, read as they are needed."""

    is_stored = False
    tasks = frozenset(Task)

    def __init__(self, manifests: Mapping[Path, Mapping[str, Any]], notes: Sequence[str]) -> None:
        self._manifests, self._notes = manifests, notes
        facts = next(iter(next(iter(manifests.values()))["cells"].values()))
        self.spec, self.system_id, self.decoding = facts["spec"], facts["system_id"], facts["decoding"]

    def prepare(self, benchmark: Benchmark, item_set: ItemSet, requests: Sequence[Request]) -> None:  # noqa: ARG002
        self._cell, self._n = item_set.selection.cell, len(requests)
        self._task = requests[0].task if requests else Task.TRANSLATE

    def notes(self) -> Sequence[str]:
        return self._notes

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        is_choice = bool(requests) and requests[0].task is not self._task
        name = folder.PART_CHOICES if is_choice else folder.PART_ANSWERS
        parts = [_read(directory, directory / self._cell / name) for directory in self._manifests]
        asked = ((request.request_id, sample) for request in requests for sample in request.samples)
        n_read, before = 0, Path()
        for place, directory, answers in heapq.merge(*parts, key=itemgetter(0)):
            if place < n_read:
                both = " and ".join(map(str, dict.fromkeys((before, directory))))
                raise self._misfit(name, f"sentence {place + 1:,} of {self._cell} is there twice, in {both}")
            if place > n_read:
                break
            if any((answer.request_id, answer.sample) != next(asked, None) for answer in answers):
                raise self._misfit(name, f"{directory} answers other sentences than {self._cell} has now")
            n_read, before = n_read + 1, directory
            yield answers
        if n_read != self._n:
            raise self._misfit(name, f"no part has sentence {n_read + 1:,} of the {self._n:,} of {self._cell}")

    def _misfit(self, name: str, what: str) -> UserError:
        """Why the parts are not the whole: one that lost sentences is named, if there is one."""
        for directory, manifest in self._manifests.items():
            n_expected = manifest["cells"].get(self._cell, {}).get("n", 0)
            n = sum(1 for _ in read_jsonl(directory / self._cell / name))
            if n != n_expected:
                found = f"{n:,} sentences of {self._cell}, but its manifest says {n_expected:,}"
                return UserError(f"{directory} has {found}; {_again(manifest)}")
        return UserError(f"{what}; was the data changed since the parts were made?")


def _read(directory: Path, path: Path) -> Iterator[tuple[int, Path, list[Translation]]]:
    for line, row in read_jsonl(path):
        try:
            yield int(row["place"]), directory, [_answer(*fields) for fields in row["answers"]]
        except (KeyError, TypeError, ValueError):
            raise BadFile(path, "is not a line that `gendermark run --shard` wrote; run it again", line=line) from None


def _answer(*fields: Any) -> Translation:
    request_id, text, sample, error, log_probability, n_tokens, by_token = fields
    numbers = None if by_token is None else tuple(by_token)
    return Translation(request_id, text, sample, error, log_probability, n_tokens, numbers)
