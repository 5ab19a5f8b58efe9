"""Names lead to things; wrong names lead to a sentence; other packages join without a change here."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from gendermark import registry
from gendermark.errors import UnknownName, UserError


@pytest.mark.parametrize("kind", sorted(registry.BUILT_IN))
def test_every_line_of_the_registry_loads(kind: str) -> None:
    for name in registry.names(kind):
        assert registry.load(kind, name) is not None


def test_unknown_name_says_what_there_is_and_what_was_meant() -> None:
    with pytest.raises(UnknownName) as problem:
        registry.load("benchmark", "simplegem")
    known = ", ".join(registry.names("benchmark"))
    assert str(problem.value) == f"unknown benchmark 'simplegem' (did you mean 'simplegen'?); available: {known}"


def test_other_packages_join_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        EntryPoint("mine", "json:loads", "gendermark.system"),
        EntryPoint("broken", "no_such_module:x", "gendermark.benchmark"),
    ]
    monkeypatch.setattr(registry, "_installed", lambda: EntryPoints(points))
    registry._outside.cache_clear()
    try:
        assert "mine" in registry.names("system")
        assert registry.load("system", "mine")("[1]") == [1]
        with pytest.raises(UserError, match=r"benchmark 'broken' .* does not load: No module named 'no_such_module'"):
            registry.load("benchmark", "broken")
    finally:
        registry._outside.cache_clear()
