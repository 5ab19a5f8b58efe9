"""A submission: what one system made of one benchmark and direction, scored, with who made it and where it came from.

It is a cell of a run folder (texts, judgements, result) with one small file more, `submission.json`, which has all that
a leaderboard shows and no text: facts about the system, hash and licence of the outputs, signature, numbers. To verify
it, its outputs are judged and scored again, and everything it says is compared.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gendermark import __version__, registry
from gendermark.api import Scored
from gendermark.benchmarks.benchmark import Benchmark
from gendermark.errors import BadFile, UserError
from gendermark.io.textfiles import read_bytes, read_json
from gendermark.metrics.metric import Resampling
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.compare import key_of
from gendermark.runs.rejudge import score_again
from gendermark.runs.run import RunConfig
from gendermark.runs.score import Origin
from gendermark.selection import Selection

FILE = "submission.json"
UNRECORDED = "unrecorded"
RESAMPLING = Resampling()
"""Of every submission, so that all intervals are made alike."""
_FORMAT = 1
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?(/\d{4}(-\d{2}(-\d{2})?)?)?")


@dataclass(frozen=True)
class SystemFacts:
    """Who translated. What nobody wrote down is `unrecorded`."""

    name: str
    version: str = UNRECORDED
    vendor: str = UNRECORDED
    kind: str = UNRECORDED
    date: str = UNRECORDED
    """Of the outputs: a year, a month or a day; `2024/2025` for a time between two."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, str) or not value.strip() or "|" in value:
                raise UserError(f"the {name} of a system is a text without the character |, not {value!r}")
        if not re.search(r"[a-z0-9]", self.name.lower()):
            raise UserError(f"the name of a system needs a letter from a to z, or a digit; {self.name!r} has none")
        if self.date != UNRECORDED and not _DATE.fullmatch(self.date):
            raise UserError(f"a date is written 2024, 2024-11, 2024-11-30 or 2024/2025, not {self.date!r}")

    @property
    def label(self) -> str:
        """Name and version."""
        return self.name if self.version == UNRECORDED else f"{self.name} {self.version}"

    @property
    def shown_date(self) -> str:
        first, _, last = self.date.partition("/")
        is_of_years = len(first) == len(last) == 4 and first[:2] == last[:2]
        return f"{first}–{last[2:] if is_of_years else last}" if last else first

    @property
    def full_label(self) -> str:
        """As it is signed: whoever changes one of these changes the signature."""
        return self.label if self.date == UNRECORDED else f"{self.label} ({self.shown_date})"

    @property
    def slug(self) -> str:
        """The name of its folder and its page."""
        return re.sub(r"[^a-z0-9]+", "-", self.full_label.lower().replace("–", "-")).strip("-")


@dataclass(frozen=True)
class OutputFacts:
    """Where the outputs came from."""

    source: str = UNRECORDED
    licence: str = UNRECORDED
    note: str = ""
    files: tuple[tuple[str, str], ...] = ()
    """Name and SHA-256 of the files as they were given."""


@dataclass(frozen=True)
class Submission:
    """One of them, without its judgements."""

    cell: Path
    """Its folder."""
    system: SystemFacts
    outputs: OutputFacts
    sha256: str
    """Of the texts in the folder."""
    row: Mapping[str, Any]
    """Signature, counts and numbers, as it says."""
    result: Result

    @property
    def directory(self) -> Path:
        """The run folder of its system."""
        return self.cell.parent


# -- written -----------------------------------------------------------------------------------------------------------


def write(root: Path, system: SystemFacts, outputs: OutputFacts, scored: Scored) -> Path:
    """Put a submission into the run folder of its system below `root`; gives its own folder."""
    directory, result = root / system.slug, scored.result
    cell = directory / result.cell
    cells, selections = _held(directory, result)
    folder.write_cell(directory, scored.item_set, scored.answers, result)
    cells[result.cell] = {"signature": result.signature}
    selections = {**selections, result.cell: result.selection}
    config = RunConfig(system.full_label, tuple(selections.values()), resampling=RESAMPLING)
    folder.write_manifest(directory, {**config.to_json(), "submission": True}, "finished", cells)
    texts = folder.texts_path(cell, result)
    folder.write_json(
        cell / FILE,
        {
            "format": _FORMAT,
            "system": asdict(system),
            "outputs": {
                **asdict(outputs),
                "files": [{"name": name, "sha256": digest} for name, digest in outputs.files],
                "sha256": hash_of(texts),
            },
            "result": row_of(result),
        },
    )
    return cell


def of_run(directory: Path, system: SystemFacts) -> list[Scored]:
    """All results of a run folder, scored again from its texts under the system's name."""
    run = folder.read_run(directory)
    if not run.results:
        raise UserError(f"{directory} holds no result to submit")
    found = []
    for old in run.results:
        origin = Origin(system.full_label, old.signed.get("decoding", ""), RESAMPLING)
        where = f"{directory}, {old.cell}"
        found.append(Scored(*score_again(old, run.texts[old.cell], old.selection, origin, where)))
    return found


def _held(directory: Path, result: Result) -> tuple[dict[str, Any], dict[str, Selection]]:
    """What the folder of a system already has; the same cell may be measured again, but not otherwise."""
    if not (directory / folder.MANIFEST).exists():
        return {}, {}
    manifest = folder.read_manifest(directory)
    held = {cell: folder.read_result(directory / cell)[0] for cell in manifest["cells"]}
    old = held.get(result.cell)
    if old is not None and _asked(old) != _asked(result):
        raise UserError(
            f"{directory / result.cell} holds the same benchmark and direction, measured otherwise; choose another "
            "directory with -o"
        )
    return dict(manifest["cells"]), {cell: one.selection for cell, one in held.items()}


def _asked(result: Result) -> dict[str, Any]:
    return result.selection.to_json()


def hash_of(path: Path) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()


def row_of(result: Result) -> dict[str, Any]:
    """What a leaderboard shows of a result: where it stands, its counts and its main numbers."""
    selection = result.selection
    verdicts = Counter(judgement.verdict.value for judgement in result.judgements)
    found = {(e.metric, e.slice): e for e in result.estimates}
    return {
        "gendermark": __version__,
        "benchmark": selection.benchmark,
        "direction": selection.direction,
        "data": result.origin,
        "rules": selection.rules,
        "signature": result.signature,
        "counts": {"total": len(result.judgements), **dict(sorted(verdicts.items()))},
        "estimates": [found[key].to_json() for key in shown_keys(result) if key in found],
        "warnings": list(result.warnings),
    }


def shown_keys(result: Result) -> list[tuple[str, str]]:
    """The metrics (and slices) of a leaderboard, the one it is ordered by first, then women and men."""
    benchmark: Benchmark = registry.load("benchmark", result.selection.benchmark)
    tells = benchmark.presentation
    sides = (tells.sides.women, tells.sides.men, tells.sides.gap) if tells.sides else ()
    names = (leading_of(benchmark), *sides, *benchmark.measures.headline, *tells.also_shown)
    return list(dict.fromkeys(key_from(name) for name in names))


def leading_of(benchmark: Benchmark) -> str:
    return benchmark.presentation.leading or benchmark.measures.headline[0]


def key_from(name: str) -> tuple[str, str]:
    metric, _, part = name.partition(":")
    return metric, part or "all"


# -- read --------------------------------------------------------------------------------------------------------------


def find(directories: Sequence[Path]) -> list[Path]:
    """The folders of all submissions in some directories, however deep."""
    found: list[Path] = []
    for directory in directories:
        if not directory.is_dir():
            raise BadFile(directory, "there is no such directory; give one that `gendermark leaderboard add` wrote")
        inside = sorted(path.parent for path in directory.rglob(FILE))
        if not inside:
            raise BadFile(directory, "has no submission in it; `gendermark leaderboard add` makes one")
        found += inside
    return list(dict.fromkeys(found))


def read(cell: Path) -> Submission:
    path = cell / FILE
    row = read_json(path)
    try:
        outputs = row["outputs"]
        files = tuple((file["name"], file["sha256"]) for file in outputs["files"])
        facts = OutputFacts(outputs["source"], outputs["licence"], outputs["note"], files)
        told, digest = row["result"], outputs["sha256"]
        texts = (
            digest,
            told["signature"],
            facts.source,
            facts.licence,
            facts.note,
            *(x for file in files for x in file),
        )
        if not all(isinstance(text, str) for text in texts) or not all(isinstance(e, dict) for e in told["estimates"]):
            raise TypeError("a value is of the wrong kind")
        system = SystemFacts(**row["system"])
    except (KeyError, TypeError, ValueError, UserError) as problem:
        raise BadFile(path, f"is not a submission that this version can read ({problem})") from None
    result, _ = folder.read_result(cell)
    return Submission(cell, system, facts, digest, told, result)


def check_distinct(found: Sequence[Submission]) -> None:
    """A system stands once in a table."""
    seen: dict[tuple[Any, ...], Submission] = {}
    for one in found:
        other = seen.setdefault((one.system.full_label, *key_of(one.result)), one)
        if other is not one:
            raise UserError(
                f"{other.cell} and {one.cell} are both {one.system.full_label} on {one.result.cell}; keep one, or tell "
                "them apart by --version"
            )


# -- verified ----------------------------------------------------------------------------------------------------------

_CLOSE = 1e-6
"""Other builds of numpy may round the last digits otherwise."""
_MAY_DIFFER = frozenset({"gendermark"})
_MOST_NUMBERS = 3
_GIVEN = "the outputs give"


def faults(cell: Path) -> list[str]:
    """What is wrong with a submission, one sentence each; none if it follows from its outputs."""
    found: list[str] = []
    try:
        submission = read(cell)
        found += on_paper(submission)
        told = folder.read_cell(cell)
        texts = folder.read_texts(cell, told)
        origin = Origin(submission.system.full_label, told.signed.get("decoding", ""), RESAMPLING)
        _, _, made = score_again(told, texts, told.selection, origin, str(cell))
    except UserError as problem:
        return [*found, str(problem)]
    older = _other_rules(cell, told, made)
    return [*found, *older] if older else [*found, *_against(cell, submission, told, made)]


def on_paper(submission: Submission) -> list[str]:
    """What can be seen without judging anything."""
    cell, result = submission.cell, submission.result
    found = []
    texts = folder.texts_path(cell, result)
    if (seen := hash_of(texts)) != submission.sha256:
        found.append(
            f"{texts}: these are not the outputs that were submitted (SHA-256 {seen[:12]}… instead of "
            f"{str(submission.sha256)[:12]}…)"
        )
    said = f"{folder.RESULT} says"
    found += _signatures(cell / FILE, submission.row["signature"], result.signature, said)
    shown = _by_key(row_of(result)["estimates"])
    return found + list(_numbers(cell / FILE, _by_key(submission.row["estimates"]), shown, said))


def _other_rules(cell: Path, told: Result, made: Result) -> list[str]:
    """A result of older rules is not wrong, but cannot be checked by these."""
    was, now = told.signed.get("rules", ""), made.signed.get("rules", "")
    if was == now or was.partition("-")[0] != now.partition("-")[0]:
        return []
    return [f"{cell}: it was scored by rules {was}, and this version has {now}; add it again to have it verified"]


def _against(cell: Path, submission: Submission, told: Result, made: Result) -> Iterator[str]:
    """Everything that is said in the folder, against what the outputs give."""
    yield from _signatures(cell / folder.RESULT, told.signature, made.signature, _GIVEN)
    yield from _numbers(cell / folder.RESULT, _estimates(told), _estimates(made), _GIVEN)
    for what in ("tests", "tables", "warnings"):
        if not _same(_plain(getattr(told, what)), _plain(getattr(made, what))):
            yield f"{cell / folder.RESULT}: its {what} do not follow from the outputs"
    if not _same(_plain(told.judgements), _plain(made.judgements)):
        by_item = {row["item_id"]: row for row in _plain(made.judgements)}
        n = sum(not _same(row, by_item.get(row["item_id"])) for row in _plain(told.judgements))
        yield f"{cell / folder.JUDGEMENTS}: {n:,} of {len(told.judgements):,} judgements do not follow from the outputs"
    row = row_of(made)
    for what in row.keys() - {"gendermark", "signature", "estimates"}:
        if submission.row.get(what) != row[what]:
            yield f"{cell / FILE}: its {what} do not follow from the outputs ({submission.row.get(what)!r:.80})"


def _signatures(path: Path, told: str, made: str, who: str) -> Iterator[str]:
    one, other = (dict(part.partition(":")[::2] for part in text.split("|")) for text in (told, made))
    for key in dict.fromkeys([*one, *other]):
        if key not in _MAY_DIFFER and one.get(key) != other.get(key):
            yield f"{path}: its signature has {key}:{one.get(key, '')}, {who} {key}:{other.get(key, '')}"


def _estimates(result: Result) -> dict[str, Mapping[str, Any]]:
    return _by_key([estimate.to_json() for estimate in result.estimates])


def _by_key(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {f"{row.get('metric')}:{row.get('slice')}": row for row in rows}


def _numbers(path: Path, told: Mapping[str, Any], made: Mapping[str, Any], who: str) -> Iterator[str]:
    wrong = [key for key in dict.fromkeys([*made, *told]) if not _same(told.get(key), made.get(key))]
    for key in wrong[:_MOST_NUMBERS]:
        one, other = told.get(key, {}), made.get(key, {})
        fields = [name for name in {**one, **other} if not _same(one.get(name), other.get(name))]
        name = "value" if "value" in fields else fields[0]
        yield f"{path}: {key} has {name} {_shown(one, name)}, and {who} {_shown(other, name)}"
    if len(wrong) > _MOST_NUMBERS:
        yield f"{path}: {len(wrong) - _MOST_NUMBERS:,} more numbers are others than {who}"


def _shown(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return f"{value:.4f}" if isinstance(value, float) else "none" if value is None else str(value)


def _plain(records: Sequence[Any]) -> list[Any]:
    return [record if isinstance(record, str) else record.to_json() for record in records]


def _same(one: Any, other: Any) -> bool:
    """Equal, numbers within rounding; a list is what JSON makes of a tuple."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= _CLOSE * max(1.0, abs(one), abs(other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
