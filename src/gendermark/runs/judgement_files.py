"""Judgements as a file for other programs: JSON lines, or Parquet with the extra; written as they come."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from gendermark.errors import MissingExtra
from gendermark.io.textfiles import write_jsonl, write_whole
from gendermark.records import Judgement

PARQUET = ".parquet"
_TOGETHER = 20_000
"""Judgements in one row group."""


def check_format(path: Path) -> None:
    """Refuse, before any work, a format that cannot be written here."""
    if path.suffix.lower() == PARQUET:
        _pyarrow(path)


def write_judgements(path: Path, judgements: Sequence[Judgement]) -> None:
    """All of them, whole or not at all; in the format that the ending says."""
    if path.suffix.lower() != PARQUET:
        write_jsonl(path, (judgement.to_json() for judgement in judgements))
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
        }
    )

    def write(file: BinaryIO) -> None:
        each = iter(judgements)
        with parquet.ParquetWriter(file, schema) as writer:
            while some := list(islice(each, _TOGETHER)):
                writer.write_table(pyarrow.Table.from_pylist(list(map(_row, some)), schema))

    write_whole(path, write)


def _row(judgement: Judgement) -> dict[str, Any]:
    """A line of JSON, its mappings as pairs; what a line leaves out is empty."""
    row = {"spans": [], "measures": {}, **judgement.to_json()}
    return {**row, "tags": list(row["tags"].items()), "measures": list(row["measures"].items())}


def _pyarrow(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(f"writing {path}", "parquet") from None
    return pyarrow, pyarrow.parquet
