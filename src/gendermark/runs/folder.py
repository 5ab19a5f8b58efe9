"""A run's folder on disk: manifest, and per cell (benchmark and direction) translations, judgements and result."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from gendermark import __version__
from gendermark.benchmarks.benchmark import ItemSet, Selection
from gendermark.errors import BadFile, UserError
from gendermark.records import Estimate, Item, Judgement, Table, Test, Translation
from gendermark.result import Result
from gendermark.textfiles import read_json, read_jsonl, write_jsonl, write_text

MANIFEST = "manifest.json"
TRANSLATIONS, SAMPLES = "translations.jsonl", "samples.jsonl"
"""Of a cell: one of the two."""


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_manifest(
    directory: Path, config: Mapping[str, Any], status: str, cells: Mapping[str, Any], notes: Sequence[str] = ()
) -> None:
    write_json(
        directory / MANIFEST,
        {
            "gendermark": __version__,
            "status": status,
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "config": config,
            "versions": {"python": platform.python_version(), "numpy": np.__version__, "platform": sys.platform},
            "cells": cells,
            **({"notes": list(notes)} if notes else {}),
        },
    )


def _translated(item: Item, answers: Sequence[Translation]) -> dict[str, Any]:
    (answer,) = answers
    return {"item_id": item.item_id, "source": item.source, "translation": answer.text, "error": answer.error}


def _sampled(item: Item, answers: Sequence[Translation]) -> dict[str, Any]:
    """As `score uncertainty --samples` reads it."""
    row: dict[str, Any] = {
        "id": item.item_id,
        "source": item.source,
        "samples": [answer.text or "" for answer in answers],
    }
    if all(answer.log_probability is not None for answer in answers):
        row["logprobs"] = [answer.log_probability for answer in answers]
    return row


def check_reusable(directory: Path, config: Mapping[str, Any]) -> None:
    """A folder may be written again by the same run only."""
    if not (directory / MANIFEST).exists():
        return
    earlier = read_manifest(directory)["config"]
    changed = [key for key in config if config[key] != earlier.get(key)]
    if changed:
        raise UserError(
            f"{directory} holds another run (it differs in {', '.join(changed)}); choose another directory with -o"
        )


def read_manifest(directory: Path) -> dict[str, Any]:
    if directory.is_file():
        raise BadFile(directory, "is a file, not a run folder; give a directory that `gendermark run -o` wrote")
    if not directory.is_dir():
        raise BadFile(directory, "there is no such directory; give one that `gendermark run -o` wrote")
    path = directory / MANIFEST
    if not path.exists():
        raise BadFile(directory, f"is not a run folder: it has no {MANIFEST}; give one that `gendermark run -o` wrote")
    manifest = read_json(path)
    kinds = {"config": dict, "cells": dict, "status": str}
    if not isinstance(manifest, dict) or not all(isinstance(manifest.get(k), kind) for k, kind in kinds.items()):
        raise BadFile(path, "is not a manifest of gendermark; run again into another directory")
    return manifest


def write_cell(
    directory: Path,
    item_set: ItemSet,
    answers: Sequence[Sequence[Translation]],
    result: Result,
    *,
    draws: bool = False,
) -> None:
    cell = directory / result.cell
    name, row_of = (SAMPLES, _sampled) if draws else (TRANSLATIONS, _translated)
    write_jsonl(cell / name, (row_of(item, found) for item, found in zip(item_set.items, answers, strict=True)))
    write_jsonl(cell / "judgements.jsonl", (judgement.to_json() for judgement in result.judgements))
    tables = [table.to_json() for table in result.tables]
    extra = {"selection": result.selection.to_json(), "origin": result.origin, "tables": tables}
    write_json(cell / "result.json", {**result.to_json(), **extra, "n_judgements": len(result.judgements)})


def read_results(directory: Path) -> list[Result]:
    """The results of a finished run."""
    manifest = read_manifest(directory)
    if manifest["status"] != "finished":
        raise UserError(
            f"the run in {directory} is not finished; give the same `gendermark run` command again to finish it"
        )
    return [_read_cell(directory / cell) for cell in manifest["cells"]]


def _read_cell(cell: Path) -> Result:
    path = cell / "result.json"
    row = read_json(path)
    try:
        judgements = [Judgement.from_json(judgement) for _, judgement in read_jsonl(cell / "judgements.jsonl")]
        if len(judgements) != row["n_judgements"]:
            raise ValueError(f"{len(judgements):,} of {row['n_judgements']:,} judgements")
        return Result(
            selection=Selection.from_json(row["selection"]),
            origin=row["origin"],
            system=row["system"],
            estimates=tuple(Estimate(**estimate, signature=row["signature"]) for estimate in row["estimates"]),
            judgements=judgements,
            tests=tuple(Test(**test) for test in row["tests"]),
            tables=tuple(
                Table(t["name"], t["title"], tuple(t["columns"]), [tuple(cells) for cells in t["rows"]])
                for t in row["tables"]
            ),
            warnings=tuple(row["warnings"]),
            signature=row["signature"],
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise BadFile(cell, f"does not hold a result that this version can read ({problem!r}); run it again") from None
