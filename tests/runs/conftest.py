"""The tiny benchmark, registered, and runs of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gendermark import registry
from gendermark.selection import Selection
from runs import children


@pytest.fixture(autouse=True)
def _tiny_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BUILT_IN["benchmark"], "tiny", "runs.tiny:BENCHMARK")


@pytest.fixture
def selection() -> Selection:
    return Selection("tiny", "en", "xx", "core", cluster="occupation")


@pytest.fixture
def child_environment(tmp_path: Path) -> dict[str, str]:
    return children.environment(tmp_path / "site")
