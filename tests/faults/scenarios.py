"""The scenarios of the campaign that tests play too; bench/long_faults.py has the others."""

from __future__ import annotations

from faults import answers, disk, exports, kills, secrets, web
from faults.campaign import Scenario

SCENARIOS: list[Scenario] = [
    *kills.SCENARIOS,
    *disk.SCENARIOS,
    *answers.SCENARIOS,
    *web.SCENARIOS,
    *exports.SCENARIOS,
    *secrets.SCENARIOS,
]
