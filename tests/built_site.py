"""The documentation as `make docs` builds it."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


def build_site(directory: Path) -> Path:
    """The site in a directory; skips where MkDocs is not installed."""
    if not (find_spec("mkdocs") and find_spec("material")):
        pytest.skip("MkDocs is not installed: pip install 'gendermark[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(directory)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return directory
