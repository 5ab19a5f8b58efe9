"""Tests with many cases look at a few of them each time; the others run in continuous integration."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def mostly_slow(cases: Iterable[Any], is_quick: Callable[[Any], bool]) -> list[Any]:
    """The cases of a parametrised test; all but the quick ones are slow."""
    return [
        case
        if is_quick(case)
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for case in cases
    ]
