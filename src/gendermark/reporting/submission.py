"""A submission to a leaderboard: a system's result on one benchmark and direction, with facts about the system.

It is a cell of a run folder. `gendermark leaderboard add` adds one small file, `submission.json`: facts about the
system, hash and licence of the outputs, signature and numbers, without text. A plain run folder needs none.
Verification judges and scores the outputs again, and compares everything the file states.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gendermark import __version__
from gendermark.api import Scored
from gendermark.errors import BadFile, UserError
from gendermark.io.textfiles import content_hash, printable, read_json, write_json
from gendermark.metrics.metric import Resampling, key_from
from gendermark.names import readable
from gendermark.records import Estimate
from gendermark.reporting.findings import benchmark_of, leading_key
from gendermark.result import Result
from gendermark.runs import folder
from gendermark.runs.compare import key_of
from gendermark.runs.rejudge import score_again
from gendermark.runs.score import Origin

FILE = "submission.json"
UNRECORDED = "unrecorded"
RESAMPLING = Resampling()
"""Used for every submission, so that all intervals are comparable."""
_FORMAT = 1
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?(/\d{4}(-\d{2}(-\d{2})?)?)?")


@dataclass(frozen=True)
class SystemFacts:
    """Facts about a system; unknown ones are `unrecorded`."""

    name: str
    version: str = UNRECORDED
    vendor: str = UNRECORDED
    kind: str = UNRECORDED
    date: str = UNRECORDED
    """Date of the outputs: a year, month or day; `2024/2025` for a range."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, str) or not value.strip() or "|" in value:
                raise UserError(f"the {name} of a system must be text without |, not {value!r}")
        if not re.search(r"[a-z0-9]", self.name.lower()):
            raise UserError(f"the name of a system needs a letter from a to z, or a digit; {self.name!r} has none")
        if self.date != UNRECORDED and not _DATE.fullmatch(self.date):
            raise UserError(f"a date is written 2024, 2024-11, 2024-11-30 or 2024/2025, not {self.date!r}")

    @property
    def label(self) -> str:
        return self.name if self.version == UNRECORDED else f"{self.name} {self.version}"

    @property
    def shown_date(self) -> str:
        first, _, last = self.date.partition("/")
        is_of_years = len(first) == len(last) == 4 and first[:2] == last[:2]
        return f"{first}–{last[2:] if is_of_years else last}" if last else first

    @property
    def full_label(self) -> str:
        return self.label if self.date == UNRECORDED else f"{self.label} ({self.shown_date})"

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.full_label.lower().replace("–", "-")).strip("-")


@dataclass(frozen=True)
class OutputFacts:
    """The origin of the outputs."""

    source: str = UNRECORDED
    licence: str = UNRECORDED
    note: str = ""
    files: tuple[tuple[str, str], ...] = ()
    """Name and SHA-256 of the original files."""


@dataclass(frozen=True)
class Submission:
    """One cell of a run folder, without its judgements."""

    cell: Path
    system: SystemFacts
    outputs: OutputFacts
    row: Mapping[str, Any] | None
    """Content of `submission.json`; None for a plain run folder."""
    resampling: Resampling
    result: Result
    ranks: tuple[int, int] | None = None
    """First and last possible rank on its board."""

    @property
    def rank(self) -> str:
        return "–" if self.ranks is None else "–".join(map(str, dict.fromkeys(self.ranks)))

    def estimate(self, key: tuple[str, str]) -> Estimate | None:
        return self.result.find(*key)

    @property
    def directory(self) -> Path:
        return self.cell.parent


# -- write -------------------------------------------------------------------------------------------------------------


def write(root: Path, system: SystemFacts, outputs: OutputFacts, scored: Scored) -> Path:
    """Add a submission to the run folder of its system below `root`; return its cell."""
    cell = scored.write(root / system.slug, Origin(system.full_label, resampling=RESAMPLING))
    files = [{"name": name, "sha256": digest} for name, digest in outputs.files]
    digest = content_hash(folder.texts_path(cell, scored.result))
    row = {
        "format": _FORMAT,
        "system": asdict(system),
        "outputs": {**asdict(outputs), "files": files, "sha256": digest},
        "result": row_of(scored.result),
    }
    write_json(cell / FILE, row)
    return cell


def of_run(directory: Path, system: SystemFacts) -> list[Scored]:
    run = folder.read_run(directory)
    if not run.results:
        raise UserError(f"{directory} holds no result to submit")
    found = []
    for old in run.results:
        origin = Origin(system.full_label, old.signed.get("decoding", ""), RESAMPLING)
        where = f"{directory}, {old.cell}"
        found.append(Scored(*score_again(old, run.texts[old.cell], old.selection, origin, where)))
    return found


def row_of(result: Result) -> dict[str, Any]:
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
    """The metrics (and slices) of a leaderboard: the ordering one, women and men, then the others."""
    benchmark = benchmark_of(result)
    shown = benchmark.presentation
    sides = (shown.sides.women, shown.sides.men, shown.sides.gap) if shown.sides else ()
    names = (*sides, *benchmark.measures.headline, *shown.also_shown)
    return list(dict.fromkeys([leading_key(benchmark), *map(key_from, names)]))


# -- read --------------------------------------------------------------------------------------------------------------


def find(directories: Sequence[Path], names: Sequence[str] = ()) -> dict[Path, str]:
    found: dict[Path, str] = {}
    for number, directory in enumerate(directories):
        if not directory.is_dir():
            raise BadFile(directory, "no such directory; give a run folder, or a directory of submissions")
        cells = sorted(path.parent for path in directory.rglob(folder.RESULT))
        if not cells:
            raise BadFile(
                directory, "has no results in it; `gendermark run -o`, `score -o` and `leaderboard add` write some"
            )
        for cell in cells:
            found.setdefault(cell, names[number] if number < len(names) else "")
    return found


def read(cell: Path, name: str = "") -> Submission:
    path = cell / FILE
    result, _ = folder.read_result(cell)
    if not path.exists():
        manifest = folder.read_finished(cell.parent)
        resampling = Resampling(**manifest["config"].get("resampling", {}))
        if resampling.confidence != RESAMPLING.confidence:
            raise UserError(
                f"{cell.parent} has {100 * resampling.confidence:g}% intervals, and a leaderboard shows "
                f"{100 * RESAMPLING.confidence:g}% ones; run it again without --confidence"
            )
        system = SystemFacts(name or str(manifest.get("name", "")) or readable(result.system))
        return Submission(cell, system, OutputFacts("run folder"), None, resampling, result)
    row = read_json(path)
    try:
        outputs, system = row["outputs"], SystemFacts(**row["system"])
        files = tuple((file["name"], file["sha256"]) for file in outputs["files"])
        facts = OutputFacts(outputs["source"], outputs["licence"], outputs["note"], files)
        texts = [outputs["sha256"], row["result"]["signature"], facts.source, facts.licence, facts.note]
        texts += [text for file in files for text in file]
        estimates = row["result"]["estimates"]
        if not all(isinstance(x, str) for x in texts) or not all(isinstance(x, dict) for x in estimates):
            raise TypeError("a value is of the wrong kind")
    except (KeyError, TypeError, ValueError, UserError) as problem:
        raise BadFile(path, f"is not a submission that this version can read ({problem})") from None
    return Submission(cell, system, facts, row, RESAMPLING, result)


def check_distinct(found: Sequence[Submission]) -> None:
    """Refuse a system that occurs twice in a table."""
    seen: dict[tuple[Any, ...], Submission] = {}
    for one in found:
        other = seen.setdefault((one.system.full_label, *key_of(one.result)), one)
        if other is not one:
            raise UserError(
                f"{other.cell} and {one.cell} are both {one.system.full_label} on {one.result.cell}; give run folders "
                "as NAME=DIR, and submissions a --version"
            )


# -- verify ------------------------------------------------------------------------------------------------------------

_CLOSE = 1e-6
"""Other numpy builds may round the last digits differently."""
_OF_VERSION = ("gendermark", "name")
"""Keys of files and signatures that other versions and names may change."""
_MOST_FAULTS = 3
"""Faults listed per file."""


def faults(cell: Path) -> list[str]:
    """List what in a cell does not follow from its outputs, one sentence each."""
    found: list[str] = []
    try:
        submission = read(cell)
        if (data := submission.result.selection.data) not in ("official", "core"):
            return [f"{cell}: a submission is of official or core data, not of {printable(data)[:40]!r}"]
        found += on_paper(submission)
        old = folder.read_cell(cell)
        texts = folder.read_texts(cell, old)
        origin = Origin(old.system, old.signed.get("decoding", ""), submission.resampling)
        _, _, made = score_again(old, texts, old.selection, origin, str(cell))
    except UserError as problem:
        return [*found, str(problem)]
    was, now = old.signed.get("rules", ""), made.signed.get("rules", "")
    if was != now and was.partition("-")[0] == now.partition("-")[0]:
        return [*found, f"{cell}: scored by rules {was}, and this version has {now}; score it again to verify it"]
    stored = [judgement.to_json() for judgement in old.judgements]
    again = {judgement.item_id: judgement.to_json() for judgement in made.judgements}
    if n := sum(any(_unequal(row, again.get(row["item_id"]))) for row in stored):
        found.append(f"{cell / folder.JUDGEMENTS}: {n:,} of {len(stored):,} judgements do not follow from the outputs")
    found += _differences(
        cell / folder.RESULT, read_json(cell / folder.RESULT), folder.result_row(made), "the outputs give"
    )
    if submission.row is not None:
        found += _differences(cell / FILE, submission.row["result"], row_of(made), "the outputs give")
    return found


def on_paper(submission: Submission) -> list[str]:
    """Faults of a submission that show without judging."""
    cell, result, row = submission.cell, submission.result, submission.row
    if row is None:
        cells = folder.read_finished(cell.parent)["cells"]
        folder.check_sums(cell, cells.get(cell.name))
        return []
    found = []
    texts = folder.texts_path(cell, result)
    if (seen := content_hash(texts)) != row["outputs"]["sha256"]:
        found.append(
            f"{texts}: these are not the outputs that were submitted (SHA-256 {seen[:12]}… instead of "
            f"{row['outputs']['sha256'][:12]}…)"
        )
    if submission.system.full_label != result.system:
        found.append(
            f"{cell / FILE}: its system is {submission.system.full_label}, {folder.RESULT} has {result.system}"
        )
    shown = {**row_of(result), "counts": row["result"].get("counts")}  # without judgements, which were not read
    return found + _differences(cell / FILE, row["result"], shown, f"{folder.RESULT} has")


def _differences(path: Path, stored: Mapping[str, Any], made: Mapping[str, Any], says: str) -> list[str]:
    """Values of a file that differ from the expected ones; the first few listed."""
    expected = {key: value for key, value in json.loads(json.dumps(made)).items() if key not in _OF_VERSION}
    wrong = [
        f"{path}: {where} is {was!r:.60}, and {says} {now!r:.60}"
        for where, was, now in _unequal({key: stored.get(key) for key in expected}, expected)
    ]
    more = f"{path}: {len(wrong) - _MOST_FAULTS:,} more values differ"
    return [*wrong[:_MOST_FAULTS], more] if len(wrong) > _MOST_FAULTS else wrong


def _unequal(stored: Any, made: Any) -> list[tuple[str, Any, Any]]:
    """Values in which two objects differ; numbers only beyond rounding."""
    before, after = dict(_flat(stored)), dict(_flat(made))
    found = []
    for where in dict.fromkeys([*after, *before]):
        was: Any = before.get(where)
        now: Any = after.get(where)
        if type(was) in (int, float) and type(now) in (int, float):
            is_equal = math.isclose(was, now, rel_tol=_CLOSE, abs_tol=_CLOSE)
        else:
            is_equal = was == now and isinstance(was, bool) is isinstance(now, bool)
        if not is_equal:
            found.append((" ".join(where).rpartition("\t")[2], was, now))
    return found


def _flat(value: Any, *where: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value in an object, with where it stands."""
    if where == ("signature",) and isinstance(value, str):
        parts = (part.partition(":") for part in value.split("|"))
        value = {key: text for key, _, text in parts if key not in _OF_VERSION}
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _flat(part, *where, key)
    elif isinstance(value, list | tuple):
        yield where, f"{len(value)} entries"
        for number, part in enumerate(value, start=1):
            is_named = isinstance(part, dict) and "metric" in part
            name = f"{number}\t{part['metric']}:{part.get('slice')}" if is_named else str(number)
            yield from _flat(part, *where, name)
    else:
        yield where, value
