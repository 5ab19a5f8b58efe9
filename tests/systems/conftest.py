"""The tiny benchmark and its items."""

from __future__ import annotations

import pytest

from gendermark import registry


@pytest.fixture(autouse=True)
def _tiny_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BUILT_IN["benchmark"], "tiny", "runs.tiny:BENCHMARK")
