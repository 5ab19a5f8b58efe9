"""What survives? Kills, disks, servers, browsers and hostile words, many times each.

    PYTHONPATH=src python bench/faults.py [--short] [--only AREA|SCENARIO] [--n-kills 230] [--seed S] [-o FILE]

Prints a row for each scenario; exit 1 if anything was lost, paid for twice, ended in a traceback, or told the key.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from fault_areas.campaign import Scenario, Tally
from fault_areas.scenarios import SCENARIOS as EVERY

AREAS = tuple(dict.fromkeys(scenario.area for scenario in EVERY))
NAMES = tuple(scenario.name for scenario in EVERY)
N_KILLS = sum(scenario.long for scenario in EVERY if scenario.area == "kills")

COLUMNS = ("tried", "survived", "lost", "paid twice", "tracebacks", "secrets")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=(*AREAS, *NAMES), help="one area, or one scenario")
    parser.add_argument("--short", action="store_true", help="play each a few times, as continuous integration does")
    parser.add_argument("--n-kills", type=int, default=N_KILLS, help="kill -9 in all, shared among the verbs")
    parser.add_argument("--seed", default="1", help="of the moments and the damage")
    parser.add_argument("-o", "--output", type=Path, help="write the table there too")
    given = parser.parse_args()
    wanted = [one for one in EVERY if given.only in (None, one.area, one.name)]
    chosen = [one for one in wanted if (one.short if given.short else one.long)]
    rows = [_row("area", "scenario", COLUMNS), _row("---", "---", ["---:"] * len(COLUMNS))]
    found: list[Tally] = []
    for number, scenario in enumerate(chosen, start=1):
        tally, seconds = _played(
            scenario, 0 if given.short else given.n_kills, given.seed, f"[{number}/{len(chosen)}] {scenario.name}"
        )
        found.append(tally)
        rows.append(_row(scenario.area, scenario.name, _numbers(tally)))
        _say(f"{rows[-1]} {seconds:.0f} s")
        for line in [*tally.troubles, *_summary(tally)]:
            _say(f"    {line[:400]}")
    total = [sum(numbers) for numbers in zip(*map(_numbers, found), strict=True)]
    table = "\n".join([*rows, _row("**all**", "", total), ""])
    print(table)
    if given.output:
        given.output.write_text(table, encoding="utf-8")
    sys.exit(not all(tally.is_clean for tally in found))


def _played(scenario: Scenario, n_kills: int, seed: str, title: str) -> tuple[Tally, float]:
    times = scenario.long if n_kills else 0
    if times and scenario.area == "kills":
        times = max(1, round(times * n_kills / N_KILLS))
    started = last = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > 10:
            last = time.monotonic()
            left = (last - started) / max(done, 1) * (total - done)
            _say(f"{title}: {done} of {total}, about {left:.0f} s left")

    with tempfile.TemporaryDirectory() as directory:
        tally = scenario.run(Path(directory), seed, times, progress)
    return tally, time.monotonic() - started


def _numbers(tally: Tally) -> list[int]:
    return [tally.tried, tally.survived, tally.lost, tally.paid_twice, tally.tracebacks, tally.secrets]


def _summary(tally: Tally) -> list[str]:
    again = f"asked again: {tally.asked_again}, under way: {tally.under_way}"
    return [*([again] if tally.under_way else []), *dict.fromkeys(tally.notes)][:6]


def _row(area: str, name: str, cells: Iterable[object]) -> str:
    return f"| {area} | {name} | " + " | ".join(map(str, cells)) + " |"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
