"""Cases of tests that stand in tables beside them."""

from __future__ import annotations

from pathlib import Path


def read_cases(name: str) -> list[list[str]]:
    r"""The cells of each line of a tab-separated file in tests/, comments left out; `\n` is a line break."""
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").split("\n")
    return [line.replace("\\n", "\n").split("\t") for line in lines if line and not line.startswith("#")]
