"""All scenarios of the fault campaign."""

from __future__ import annotations

from fault_areas import answers, disk, exports, kills, long, secrets, web
from fault_areas.campaign import Scenario

SCENARIOS: list[Scenario] = [
    *kills.SCENARIOS,
    *disk.SCENARIOS,
    *answers.SCENARIOS,
    *web.SCENARIOS,
    *exports.SCENARIOS,
    *secrets.SCENARIOS,
    *long.LONG,
]
