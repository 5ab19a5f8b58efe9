"""The fault campaign in short: everything that `bench/faults.py` plays many times, a few times."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("SIGKILL, wait4 and resource limits are POSIX", allow_module_level=True)

from faults.campaign import Scenario
from faults.scenarios import N_KILLS, SCENARIOS


@pytest.mark.parametrize("scenario", [one for one in SCENARIOS if one.short], ids=lambda one: one.name)
def test_nothing_lost_paid_twice_or_told(scenario: Scenario, tmp_path: Path) -> None:
    tally = scenario.run(tmp_path, "short")
    assert tally.is_clean, "\n".join([str(tally), *tally.troubles])


def test_the_long_form_has_at_least_200_kills() -> None:
    assert N_KILLS >= 200
