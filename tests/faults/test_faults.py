"""The fault campaign in short: everything that `bench/faults.py` plays many times, a few times."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("SIGKILL, wait4 and resource limits are POSIX", allow_module_level=True)

from faults.campaign import Scenario
from faults.scenarios import SCENARIOS

_PLAYED = [one for one in SCENARIOS if one.short]
_FIRST = {one.area: one for one in reversed(_PLAYED)}
"""One of each area is played everywhere, the others in continuous integration: what they exercise together has tests
of its own."""


@pytest.mark.parametrize(
    "scenario",
    [pytest.param(one, marks=[] if one is _FIRST[one.area] else [pytest.mark.slow], id=one.name) for one in _PLAYED],
)
def test_nothing_lost_paid_twice_or_told(scenario: Scenario, tmp_path: Path) -> None:
    tally = scenario.run(tmp_path, "short")
    assert tally.is_clean, "\n".join([str(tally), *tally.troubles])
