"""Runs that stand in no folder, with results and texts of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import gendermark
from gendermark.runs.folder import Run, Text
from gendermark.selection import Selection


@dataclass(frozen=True)
class MadeRun(Run):
    texts: Mapping[str, Sequence[Text]] = field(default_factory=dict)


def made(run: Run) -> MadeRun:
    """The same with its texts at hand, so that it can be given another name or other judgements."""
    return MadeRun(run.name, run.manifest, run.results, run.texts)


def run_of(system: str, *selections: Selection, name: str = "") -> MadeRun:
    """What a system makes of these, with texts that say nothing."""
    results = gendermark.run(system, selections)
    texts = {result.cell: [Text("x", ("y",)) for _ in result.judgements] for result in results}
    return MadeRun(name or system, {"config": {"system": system, "selections": []}}, results, texts)
