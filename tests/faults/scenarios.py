"""All scenarios of the campaign, in the order in which they are played."""

from __future__ import annotations

from faults import answers, disk, exports, kills, other_kills, secrets, web
from faults.campaign import Scenario

SCENARIOS: list[Scenario] = [
    *kills.SCENARIOS,
    *other_kills.SCENARIOS,
    *disk.SCENARIOS,
    *answers.SCENARIOS,
    *web.SCENARIOS,
    *exports.SCENARIOS,
    *secrets.SCENARIOS,
]
AREAS = tuple(dict.fromkeys(scenario.area for scenario in SCENARIOS))
N_KILLS = sum(scenario.long for scenario in SCENARIOS if scenario.area == "kills")
