"""`gendermark study` and `gendermark train`: which function of which module in lab/ is which command.

A module is loaded when its command is asked for; with none, or for `--help`, all are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import typer

from gendermark.cli.options import expanded, load_named


class Commands(NamedTuple):
    """The commands below a verb: panel of its help -> name -> function."""

    help: str
    panels: Mapping[str, Mapping[str, str]]

    def app(self, wanted: str) -> typer.Typer:
        """Build all commands, or the wanted one and stubs of the others."""
        app = typer.Typer(help=self.help)
        has_wanted = any(wanted in places for places in self.panels.values())
        for panel, places in self.panels.items():
            for name, place in places.items():
                is_stub = has_wanted and name != wanted
                command = stub if is_stub else expanded(load_named(f"gendermark.lab.{place}"))
                app.command(name, rich_help_panel=panel)(command)
        return app


def stub() -> None:
    """Stand for a command that was not asked for."""


STUDY = Commands(
    "Run a controlled experiment or analysis: speed, training, mitigation, debiasing, uncertainty.",
    {
        "Speed and training": {
            "speed": "speed:speed",
            "training": "training_comparison:training",
        },
        "Mitigation": {
            "mitigate": "mitigate:mitigate",
            "debias": "debias:debias",
            "reader": "reader:reader",
        },
        "Uncertainty": {
            "correlate": "correlate:correlate",
            "cues": "cues:cues",
            "quality": "quality:quality",
            "samples": "samples:samples",
            "determiners": "samples:determiners",
            "sampling": "samples:sampling",
        },
    },
)
TRAIN = Commands(
    "Train a transformer of any size, or retrain the bundled demo model.",
    {"Commands": {"model": "train_model:model", "demo-model": "train_demo:demo_model"}},
)
