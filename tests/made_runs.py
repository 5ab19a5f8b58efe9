"""Runs that stand in no folder, with results and texts of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import gendermark
from gendermark.runs.folder import Run, Text, sums
from gendermark.selection import Selection


def signed_again(directory: Path) -> Path:
    """A run folder whose manifest was put in order after a change, which then shows only where it is read."""
    path = directory / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for cell, row in manifest["cells"].items():
        row["sha256"] = sums(directory / cell)
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return directory


def run_of(system: str, *selections: Selection, name: str = "") -> Run:
    """What a system makes of these, with texts that say nothing."""
    results = gendermark.run(system, selections)
    texts = {result.cell: [Text("x", ("y",)) for _ in result.judgements] for result in results}
    return Run(name or system, {"config": {"system": system, "selections": []}}, results, texts=texts)
