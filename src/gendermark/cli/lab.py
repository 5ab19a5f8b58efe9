"""`gendermark study` and `gendermark train`: which function of which module in lab/ is which command.

A module is loaded when its command is asked for; with none, or for `--help`, all are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import typer

from gendermark.cli.options import expanded, load_named


class Commands(NamedTuple):
    """The commands below a verb, by name: where the function of each is."""

    help: str
    places: Mapping[str, str]

    def app(self, wanted: str) -> typer.Typer:
        """All commands, or the wanted one and stubs of the others."""
        app = typer.Typer(help=self.help)
        for name, place in self.places.items():
            is_stub = wanted in self.places and name != wanted
            app.command(name)(_nothing if is_stub else expanded(load_named(f"gendermark.lab.{place}")))
        return app


def _nothing() -> None:
    """Stands for a command that was not asked for."""


STUDY = Commands(
    "Experiments and analyses: speed, training, mitigation, debiasing, and what semantic uncertainty shows.",
    {
        "speed": "speed:speed",
        "training": "training_comparison:training",
        "mitigate": "mitigate:mitigate",
        "reader": "reader:reader",
        "debias": "debias:debias",
        "correlate": "correlate:correlate",
        "cues": "cues:cues",
        "quality": "quality:quality",
        "samples": "samples:samples",
        "determiners": "determiners:determiners",
        "sampling": "sampling:sampling",
    },
)
TRAIN = Commands(
    "Training recipes: a transformer of any shape, or the bundled demonstration model again.",
    {"model": "train_model:model", "demo-model": "train_demo:demo_model"},
)
