"""Runs that stand in no folder, with results and texts of one's own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import gendermark
from gendermark.runs.folder import Run, Text
from gendermark.selection import Selection


def without_sums(directory: Path) -> Path:
    """A run folder as earlier versions wrote it: what is changed in it shows only where it is read."""
    path = directory / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for row in manifest["cells"].values():
        del row["sha256"]
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return directory


@dataclass(frozen=True)
class MadeRun(Run):
    texts: Mapping[str, Sequence[Text]] = field(default_factory=dict)


def made(run: Run) -> MadeRun:
    """The same with its texts at hand, so that it can be given another name or other judgements."""
    return MadeRun(run.name, run.manifest, run.results, texts=run.texts)


def run_of(system: str, *selections: Selection, name: str = "") -> MadeRun:
    """What a system makes of these, with texts that say nothing."""
    results = gendermark.run(system, selections)
    texts = {result.cell: [Text("x", ("y",)) for _ in result.judgements] for result in results}
    return MadeRun(name or system, {"config": {"system": system, "selections": []}}, results, texts=texts)
