"""Run folders: manifest, and per cell (benchmark and direction) texts, judgements and result.

All reading and writing of run folders is here.
"""

from __future__ import annotations

import platform
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gendermark import __version__, registry
from gendermark.benchmarks.benchmark import Answers, ItemSet
from gendermark.errors import BadFile, MissingExtra, UserError
from gendermark.io import soundness
from gendermark.io.disk_list import mapped, places_of, reordered, stored
from gendermark.io.textfiles import content_hash, printable, read_json, read_jsonl, write_json, write_jsonl, write_whole
from gendermark.metrics.metric import Resampling
from gendermark.metrics.verdicts import BiasVerdict, State
from gendermark.names import is_control, readable
from gendermark.records import Estimate, Item, Judgement, Table, Test, Translation, Unit
from gendermark.result import UNSOUND, Result, check_judgement, check_result
from gendermark.selection import Selection

MANIFEST, RESULT, JUDGEMENTS = "manifest.json", "result.json", "judgements.jsonl"
TRANSLATIONS, SAMPLES = "translations.jsonl", "samples.jsonl"
"""One of the two per cell."""
PART = "part"
"""Manifest status of a folder with part of a run's translations."""
SHARD = "shard"
"""Configuration key of such a folder: which part it is."""
PART_ANSWERS, PART_CHOICES = "part.jsonl", "part.choices.jsonl"
"""Per cell of such a folder."""
_FILES = (TRANSLATIONS, SAMPLES, JUDGEMENTS, RESULT, PART_ANSWERS, PART_CHOICES)
_CELL = re.compile(r"[A-Za-z0-9][\w-]*(\.[\w-]+)+")
"""A benchmark and direction: never a path out of the folder."""
_MOST = 2**63
"""Upper bound of counts."""
SUMS = "sha256"
"""Manifest key, per cell."""
SCORED = "scored"
"""Configuration key of a folder with given translations, which can only be scored again."""


# -- written -----------------------------------------------------------------------------------------------------------


def write_manifest(
    directory: Path,
    config: Mapping[str, Any],
    status: str,
    cells: Mapping[str, Any],
    notes: Sequence[str] = (),
    name: str = "",
) -> None:
    write_json(
        directory / MANIFEST,
        {
            "gendermark": __version__,
            "status": status,
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            **({"name": name} if name else {}),
            "config": config,
            "versions": {"python": platform.python_version(), "numpy": np.__version__, "platform": sys.platform},
            "cells": cells,
            **({"notes": list(notes)} if notes else {}),
        },
    )


def check_reusable(directory: Path, config: Mapping[str, Any]) -> None:
    """Only the same run may write to an existing folder."""
    _refuse_links(directory)
    if not (directory / MANIFEST).exists():
        return
    held = read_manifest(directory)
    earlier = held["config"]
    if not held["cells"] and earlier.get("accept_unsound") != config.get("accept_unsound"):
        return  # refused earlier, accepted now
    # In both directions: results of options of the earlier run only would be lost as well.
    changed = [key for key in dict.fromkeys([*config, *earlier]) if config.get(key) != earlier.get(key)]
    if changed == [SHARD]:
        there, asked = (f"part {one[SHARD]}" if SHARD in one else "a whole run" for one in (earlier, config))
        raise UserError(f"{directory} holds {there}, not {asked}; choose another directory with -o")
    if changed:
        raise UserError(
            f"{directory} holds another run (it differs in {', '.join(changed)}); choose another directory with -o"
        )


def _refuse_links(directory: Path) -> None:
    """Refuse to write to a folder with links or pipes: from others, they could have files elsewhere overwritten."""
    for path in (*directory.glob("*"), *directory.glob("*/*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise BadFile(
                path, "is a link or no ordinary file, and is not written to; choose another directory with -o"
            )


def write_cell(directory: Path, item_set: ItemSet, answers: Answers, result: Result) -> dict[str, Any]:
    """Write the files of a cell; return its manifest entry."""
    cell = directory / result.cell
    name, row_of = (SAMPLES, _sampled) if _draws(result.selection) else (TRANSLATIONS, _translated)
    write_jsonl(cell / name, (row_of(item, found) for item, found in zip(item_set.items, answers, strict=True)))
    write_jsonl(cell / JUDGEMENTS, (judgement.to_json() for judgement in result.judgements))
    write_json(cell / RESULT, result_row(result))
    return {"signature": result.signature, SUMS: sums(cell)}


def result_row(result: Result) -> dict[str, Any]:
    tables = [table.to_json() for table in result.tables]
    extra = {"selection": result.selection.to_json(), "origin": result.origin, "tables": tables}
    return {**result.to_json(), **extra, "n_judgements": len(result.judgements)}


def add_cell(
    directory: Path, config: Mapping[str, Any], item_set: ItemSet, answers: Answers, result: Result, name: str = ""
) -> Path:
    """Add a result of given translations to a run folder, beside others of the same system; return its cell.

    Refuse the folder of another run or system, and a cell with other conditions.
    """
    _refuse_links(directory)
    config = {**config, SCORED: True}
    cells: dict[str, Any] = {}
    selections = {result.cell: result.selection.to_json()}
    if (directory / MANIFEST).exists():
        held = read_manifest(directory)
        earlier = {key: value for key, value in held["config"].items() if key != "selections"}
        if earlier != config or held.get("name", "") != name:
            raise UserError(f"{directory} holds another run or system; choose another directory with -o")
        cells = dict(held["cells"])
        asked = [Selection.from_json(row) for row in held["config"].get("selections", ())]
        selections = {one.cell: one.to_json() for one in asked} | selections
        if any(one.cell == result.cell and one.to_json() != result.selection.to_json() for one in asked):
            raise UserError(
                f"{directory / result.cell} holds the same benchmark and direction with other options; choose another "
                "directory with -o"
            )
    cells[result.cell] = write_cell(directory, item_set, answers, result)
    write_manifest(directory, {**config, "selections": list(selections.values())}, "finished", cells, name=name)
    return directory / result.cell


def sums(cell: Path) -> dict[str, str]:
    """SHA-256 of every file of a cell, stored in the manifest to detect changes."""
    there = [path for path in (cell / name for name in _FILES) if path.exists()]
    for path in there:
        if not path.is_file():
            raise BadFile(path, "is not an ordinary file; run it again")
    return {path.name: content_hash(path) for path in there}


def _translated(item: Item, answers: Sequence[Translation]) -> dict[str, Any]:
    (answer,) = answers
    return {"item_id": item.item_id, "source": item.source, "translation": answer.text, "error": answer.error}


def _sampled(item: Item, answers: Sequence[Translation]) -> dict[str, Any]:
    """Return a line as `score --samples` reads it."""
    samples = [answer.text or "" for answer in answers]
    columns = (("logprobs", "log_probability"), ("n_tokens", "n_tokens"))
    numbers = {name: [getattr(answer, field) for answer in answers] for name, field in columns}
    known = {name: values for name, values in numbers.items() if None not in values}
    return {"id": item.item_id, "source": item.source, "samples": samples, **known}


def _draws(selection: Selection) -> bool:
    return bool(registry.load("benchmark", selection.benchmark).draws)


# -- read --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence and a system's output: one translation or several samples, or its error."""

    source: str
    samples: tuple[str | None, ...]
    error: str | None = None
    log_probabilities: tuple[float | None, ...] = ()
    n_tokens: tuple[int | None, ...] = ()

    @property
    def translation(self) -> str | None:
        """The only one, or the most frequent sample."""
        if len(self.samples) < 2:
            return self.samples[0] if self.samples else None
        counts = Counter(text or "" for text in self.samples)
        return min(counts, key=lambda text: (-counts[text], text))

    @property
    def answers(self) -> list[Translation]:
        n = len(self.samples)
        known = (self.samples, self.log_probabilities or (None,) * n, self.n_tokens or (None,) * n)
        return [
            Translation("", text, number, self.error, log_probability, n_tokens)
            for number, (text, log_probability, n_tokens) in enumerate(zip(*known, strict=True))
        ]


def text_of(row: Mapping[str, Any]) -> tuple[str, Text]:
    """The id and text of one line of a cell's texts; ValueError for invalid lines."""
    source, samples = row.get("source"), row.get("samples", [row.get("translation")])
    item_id, error = row.get("item_id", row.get("id")), row.get("error")
    is_list = isinstance(samples, list) and all(isinstance(text, str | None) for text in samples)
    if not (is_list and isinstance(item_id, str) and isinstance(source, str) and isinstance(error, str | None)):
        raise ValueError
    numbers = [row.get(name, []) for name in ("logprobs", "n_tokens")]
    for known in numbers:
        # A judge pairs them with the samples and sums them.
        is_known = isinstance(known, list) and all(isinstance(one, int | float | None) for one in known)
        if not is_known or len(known) not in (0, len(samples)):
            raise ValueError
    return item_id, Text(source, tuple(samples), error, *map(tuple, numbers))


@dataclass(frozen=True)
class Run:
    """A run folder: configuration and results; texts are read on demand."""

    name: str
    """As given."""
    manifest: Mapping[str, Any]
    results: Sequence[Result]
    texts: Mapping[str, Sequence[Text]]
    """Cell -> texts in the order of its judgements."""

    @property
    def path(self) -> Path:
        return Path(self.name)

    @property
    def system(self) -> str:
        return self.results[0].system if self.results else str(self.manifest["config"].get("system", self.name))

    @property
    def called(self) -> str:
        return str(self.manifest.get("name", "")) or readable(self.system)

    @property
    def notes(self) -> list[str]:
        return list(self.manifest.get("notes", []))


def run_of(results: Sequence[Result]) -> Run:
    system = results[0].system if results else ""
    manifest = {"config": {"system": system, "selections": []}, "cells": {result.cell: {} for result in results}}
    texts = {result.cell: [Text(source, (text,)) for source, text in result.texts] for result in results}
    return Run(results[0].called if results else "", manifest, results, texts)


def read_run(directory: Path | str, name: str = "") -> Run:
    """A finished run; `name` overrides the system name."""
    path = Path(directory)
    manifest = read_finished(path)
    manifest |= {"name": name} if name else {}
    called = str(manifest.get("name", ""))
    results = [replace(read_cell(path / cell), name=called) for cell in manifest["cells"]]
    for (cell, row), result in zip(manifest["cells"].items(), results, strict=True):
        check_sums(path / cell, row)
        if result.cell != cell or result.signature != row.get("signature", result.signature):
            raise BadFile(path / cell, "holds the result of another run, benchmark or language; run it again")
    texts = {result.cell: read_texts(path / result.cell, result) for result in results}
    return Run(str(directory), manifest, [_checked(result, texts[result.cell]) for result in results], texts)


def _checked(result: Result, texts: Sequence[Text]) -> Result:
    """The result, with a warning if its translations look unsound and no warning exists."""
    if _draws(result.selection) or is_control(result.system) or result.unsound:
        return result
    accepted: list[str] = []
    with soundness.refused("", {}, accepted=accepted):
        items = [
            Item(item_id=one.item_id, index=one.index, group_id=one.group_id, source=text.source)
            for one, text in zip(result.judgements, texts, strict=True)
        ]
        found = [text.translation or "" for text in texts]
        soundness.check_texts(items, found, result.selection.target_language)
        soundness.check_words([text.source for text in texts], found)
    return replace(result, warnings=(*(f"{UNSOUND}{why}" for why in accepted), *result.warnings))


def read_finished(directory: Path) -> dict[str, Any]:
    manifest = read_manifest(directory)
    if manifest["status"] not in ("finished", PART):
        raise UserError(
            f"the run in {directory} is not finished; give the same `gendermark run` command again to finish it"
        )
    refuse_part(directory, manifest)
    return manifest


def refuse_part(directory: Path | str, manifest: Mapping[str, Any]) -> None:
    """Refuse a part of a run, finished or not: it is judged when all parts are joined."""
    if manifest["status"] == PART or SHARD in manifest["config"]:
        raise UserError(
            f"{directory} holds one part of a run ({manifest['config'].get(SHARD)}); join all parts with "
            "`gendermark merge DIR... -o NEW_DIR`"
        )


def check_sums(cell: Path, row: Any, remedy: str = "run it again") -> None:
    """Refuse files changed, added or removed after the run, and manifests that cannot show it."""
    expected: Any = row.get(SUMS) if isinstance(row, dict) else None
    if not isinstance(expected, dict) or not expected:
        raise BadFile(cell.parent / MANIFEST, f"has no checksums of {cell.name}; {remedy}")
    found = sums(cell)
    for name in dict.fromkeys([*expected, *found]):
        if name not in found:
            raise BadFile(cell / printable(name), f"was deleted after the run; {remedy}")
        if expected.get(name) != found[name]:
            raise BadFile(
                cell / name, f"was changed after the run (its SHA-256 is not the one in {MANIFEST}); {remedy}"
            )


def read_results(directory: Path | str) -> list[Result]:
    return list(read_run(directory).results)


def read_manifest(directory: Path) -> dict[str, Any]:
    if directory.is_file():
        raise BadFile(directory, "is a file, not a run folder; give a directory that `gendermark run -o` wrote")
    if not directory.is_dir():
        raise BadFile(directory, "no such directory; give one that `gendermark run -o` wrote")
    path = directory / MANIFEST
    if not path.exists():
        runs = sorted(one.parent.name for one in directory.glob(f"*/{MANIFEST}"))
        hint = f"it contains the run folders {', '.join(runs)}" if runs else "give one that `gendermark run -o` wrote"
        raise UserError(f"{directory} is not a run folder (it has no {MANIFEST}); {hint}")
    manifest = read_json(path)
    kinds = {"config": dict, "cells": dict, "status": str}
    if not isinstance(manifest, dict) or not all(isinstance(manifest.get(k), kind) for k, kind in kinds.items()):
        raise BadFile(path, "is not a manifest of gendermark; run again into another directory")
    for cell in manifest["cells"]:
        if not _CELL.fullmatch(cell):
            raise BadFile(path, f"names a cell {printable(cell)!r}, which is no benchmark and direction")
    if not _is_sound(manifest):
        raise BadFile(path, "has a value of the wrong type; run again into another directory")
    return manifest


def _is_sound(manifest: Mapping[str, Any]) -> bool:
    """Whether all manifest values have the right types. Missing keys are allowed."""
    config, notes = manifest["config"], manifest.get("notes", [])
    options, selections = config.get("system_options", {}), config.get("selections", [])
    if not isinstance(notes, list) or not isinstance(options, dict) or not isinstance(selections, list):
        return False
    try:
        resampling = Resampling(**config.get("resampling", {}))
        chosen = [value for row in selections for value in row.values()]
    except (AttributeError, TypeError, OverflowError, UserError):
        return False
    texts = (config.get("system", ""), *options.values(), *notes)
    return (
        all(isinstance(text, str) for text in texts)
        and all(isinstance(value, str | int | float | list) for value in chosen)
        and all(isinstance(row, dict) for row in manifest["cells"].values())
        and max(resampling.n_resamples, resampling.seed) < _MOST
    )


def read_cell(cell: Path) -> Result:
    result, n_judgements = read_result(cell)
    try:
        judgements = stored(check_judgement(Judgement.from_json(row)) for _, row in read_jsonl(cell / JUDGEMENTS))
        if len(judgements) != n_judgements:
            raise ValueError(f"{len(judgements):,} of {n_judgements:,} judgements")
        return replace(result, judgements=judgements)
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        raise _unreadable(cell, problem) from None


def read_result(cell: Path) -> tuple[Result, int]:
    row = read_json(cell / RESULT)
    try:
        result = Result(
            selection=Selection.from_json(row["selection"]),
            origin=row["origin"],
            system=row["system"],
            estimates=tuple(
                Estimate(**{**one, "unit": Unit(one["unit"])}, signature=row["signature"]) for one in row["estimates"]
            ),
            judgements=(),
            tests=tuple(Test(**test) for test in row["tests"]),
            tables=tuple(
                Table(t["name"], t["title"], tuple(t["columns"]), [tuple(cells) for cells in t["rows"]])
                for t in row["tables"]
            ),
            warnings=tuple(row["warnings"]),
            signature=row["signature"],
            verdicts=tuple(BiasVerdict(**{**one, "state": State(one["state"])}) for one in row["verdicts"]),
            lost_by_gender=row["lost_by_gender"],
        )
        return check_result(result), int(row["n_judgements"])
    except (KeyError, TypeError, ValueError, OverflowError, UserError) as problem:
        raise _unreadable(cell / RESULT, problem) from None


def _unreadable(path: Path, problem: Exception) -> BadFile:
    return BadFile(path, f"does not hold a result that this version can read ({problem!r}); run it again")


def texts_path(cell: Path, result: Result) -> Path:
    return cell / (SAMPLES if _draws(result.selection) else TRANSLATIONS)


def read_texts(cell: Path, result: Result) -> Sequence[Text]:
    path = texts_path(cell, result)
    named = stored(_each_text(path))
    places = places_of(mapped(itemgetter(0), named), mapped(attrgetter("item_id"), result.judgements))
    if n_missing := sum(place < 0 for place in places):
        raise BadFile(path, f"lacks {n_missing:,} of {len(result.judgements):,} sentences; run it again")
    return mapped(itemgetter(1), reordered(named, places))


def _each_text(path: Path) -> Iterator[tuple[str, Text]]:
    for number, row in read_jsonl(path):
        try:
            yield text_of(row)
        except ValueError:
            raise BadFile(path, "is not a line that `gendermark run` wrote; run it again", line=number) from None


# -- judgements as a file for other programs: JSON lines, or Parquet with the extra ------------------------------------

PARQUET = ".parquet"
_TOGETHER = 20_000
"""Judgements per row group."""


def check_format(path: Path) -> None:
    """Refuse, before any work, an unavailable format."""
    if path.suffix.lower() == PARQUET:
        _pyarrow(path)


def write_judgements(path: Path, result: Result) -> None:
    if path.suffix.lower() != PARQUET:
        write_jsonl(path, result.judgement_rows())
        return
    pyarrow, parquet = _pyarrow(path)
    words = pyarrow.map_(pyarrow.string(), pyarrow.string())
    schema = pyarrow.schema(
        {
            "item_id": pyarrow.string(),
            "index": pyarrow.int64(),
            "group_id": pyarrow.string(),
            "expected": pyarrow.string(),
            "observed": pyarrow.string(),
            "verdict": pyarrow.string(),
            "evidence": pyarrow.list_(pyarrow.string()),
            "tags": words,
            "spans": pyarrow.list_(pyarrow.list_(pyarrow.int64())),
            "measures": pyarrow.map_(pyarrow.string(), pyarrow.float64()),
            **dict.fromkeys(("source", "translation", "system", "target_language"), pyarrow.string()),
        }
    )

    def write(file: BinaryIO) -> None:
        each = result.judgement_rows()
        with parquet.ParquetWriter(file, schema) as writer:
            while some := list(islice(each, _TOGETHER)):
                writer.write_table(pyarrow.Table.from_pylist(list(map(_row, some)), schema))

    write_whole(path, write)


def _row(line: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON line with mappings as pairs and missing values filled in."""
    row: dict[str, Any] = {"spans": [], "measures": {}, **line}
    return {**row, "tags": list(row["tags"].items()), "measures": list(row["measures"].items())}


def _pyarrow(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(f"writing {path}", "parquet") from None
    return pyarrow, pyarrow.parquet
