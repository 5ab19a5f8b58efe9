"""Every `gendermark study` command: one table when piped, all on a terminal, JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gendermark.lab.cells import drawn_sentences, read_cell
from lab.toys import SYSTEMS
from outcomes import Outcome


@pytest.mark.usefixtures("_toys")
def test_every_command_pipes_one_table_and_has_json(study: Callable[..., Outcome], runs: Path) -> None:
    sentence = drawn_sentences(read_cell(runs / "coin"))[0].item.source
    commands: dict[str, tuple[str | Path, ...]] = {
        "correlate": [runs / name.partition("?")[0] for name in SYSTEMS],
        "cues": (runs / "right",),
        "quality": (runs / "right",),
        "samples": (runs / "coin", "--source", sentence),
        "determiners": ("she", "they", "--system", "toy:x", "--to", "es", "--targets", "El a", "La a"),
        "sampling": ("--system", "fake:coin", "--to", "es", "--epsilon", "0.1,0.2", "--alpha", "4", "--n-samples", "4"),
    }
    for name, arguments in commands.items():
        piped, as_json = study(name, *arguments), study(name, *arguments, "--json")
        assert (piped.exit_code, as_json.exit_code) == (0, 0), piped.err + as_json.err
        rows = piped.rows
        assert rows, name
        assert all(None not in row and None not in row.values() for row in rows), name
        assert isinstance(as_json.json, dict)


def test_a_terminal_gets_all_tables(study: Callable[..., Outcome], runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gendermark.cli.terminal.is_terminal", lambda _: True)
    out = study("cues", runs / "right").out
    assert "Does the factor matter at all?" in out
    # What is the same in all rows is said once, above them.
    assert "Entropy (s3e) by cue, a level for each contrast set; system fake:right?p=0.7, direction" in " ".join(
        out.split()
    )
    assert out.count("fake:right") == 2
    assert "default_masculine_subject" in out  # not cut off
