"""The record of a study in its directory: what it was asked, so that only the same study goes on there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gendermark.errors import BadFile, UserError
from gendermark.io.textfiles import read_json, write_text


def check_reusable(path: Path, settings: Mapping[str, Any], own: Sequence[str]) -> None:
    """A directory may be written again by the same study only; without a record it must not hold what is its `own`."""
    output = path.parent
    if not path.exists():
        for name in own:
            if (output / name).exists():
                raise UserError(f"{output / name} is there already and not of this study; choose another with -o")
        return
    record = read_json(path)
    earlier = record.get("settings") if isinstance(record, dict) else None
    if not isinstance(earlier, dict):
        raise BadFile(path, "is not the record of a study; choose another directory with -o")
    if changed := [key for key in settings if settings[key] != earlier.get(key)]:
        raise UserError(
            f"{output} holds another study (it differs in {', '.join(changed)}); choose another directory with -o"
        )


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    write_text(path, json.dumps(record, ensure_ascii=False, indent=2) + "\n")
