"""Cases of tests that stand in tables beside them."""

from __future__ import annotations

from pathlib import Path


def read_cases(path: Path) -> list[list[str]]:
    r"""The cells of each line of a tab-separated file, without lines that begin with `#`; `\n` is a line break."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return [line.replace("\\n", "\n").split("\t") for line in lines if line and not line.startswith("#")]
