"""How long a report of 50,000 judgements takes, how large it is, and how quick the page is in a browser.

`python bench/report.py [-n 50000] [--systems 1]`. The browser part needs Playwright and Chromium, and is left out
without them.

Measured on two cores, one of them busy with something else (Python 3.11, Chromium 150):

                              1 system    4 systems, compared
    read, written                4.7 s                  7.1 s
    size                        8.0 MB                 8.9 MB
    until rows are shown        730 ms                1460 ms
    a filter                   6-38 ms                 2-6 ms
    a search, the first time     48 ms                  25 ms
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import gendermark
from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender, Judgement, Translation, Verdict
from gendermark.reporting.page import write_page
from gendermark.runs import folder
from gendermark.runs.run import RunConfig
from gendermark.runs.score import Origin, summarise

LANGUAGES = ("es", "de", "fr", "it", "pt", "ru", "uk", "he", "ar", "pl", "cs", "el", "hi")
_SYLLABLES = ["ra", "me", "ti", "sol", "ven", "cor", "dal", "ni", "pe", "lu", "gra", "so", "ter", "ban", "qui", "mo"]


def write_run(directory: Path, system: str, n_judgements: int, seed: int = 0) -> None:
    """A run folder of WinoMT's shape and size, with invented translations, quickly made."""
    chance = random.Random(seed)
    benchmark: Benchmark = registry.load("benchmark", "winomt")
    selections, cells = [], {}
    left = n_judgements
    for code in LANGUAGES:
        if left <= 0:
            break
        core = gendermark.items("winomt", code, data="core")
        n = min(left, -(-n_judgements // len(LANGUAGES)))
        items = [core.items[place % len(core.items)] for place in range(n)]
        items = [replace(item, item_id=f"winomt-{place:05}", index=place) for place, item in enumerate(items)]
        item_set = ItemSet(core.selection, tuple(items), core.origin)
        judgements, answers = [], []
        for item in items:
            words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(12)]
            observed = chance.choice([*Gender, None])
            verdict = Verdict.JUDGED if observed else Verdict.UNJUDGEABLE
            reason, evidence = ("form", (words[1],)) if observed else ("absent", ())
            judgements.append(Judgement.of(item, verdict, observed, reason=reason, evidence=evidence))
            answers.append([Translation("", " ".join(words).capitalize() + ".")])
        result = summarise(benchmark, item_set, judgements, Origin(system, resampling=Resampling(200)))
        folder.write_cell(directory, item_set, answers, result)
        selections.append(core.selection)
        cells[result.cell] = {"signature": result.signature}
        left -= n
    config = RunConfig(system, tuple(selections))
    folder.write_manifest(directory, config.to_json(), "finished", cells)


def measure_in_browser(path: Path) -> dict[str, Any] | None:
    """Milliseconds until the page can be used, and of some filters; None without a browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    program = os.environ.get("GENDERMARK_CHROMIUM") or shutil.which("chromium")
    if program is None:
        return None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--headless=new", "--no-sandbox"])
        page = browser.new_page()
        page.goto(path.resolve().as_uri())
        page.wait_for_selector("#list .row")
        measured = {"until rows are shown": page.evaluate(SHOWN_AFTER), **page.evaluate(FILTER_TIMES)}
        browser.close()
    return measured


SHOWN_AFTER = "() => performance.getEntriesByType('mark').find((mark) => mark.name === 'gendermark')?.startTime ?? -1"
FILTER_TIMES = """() => {
  const empty = window.gendermark.filterOf("#sentences");
  const times = {};
  for (const [name, filter] of Object.entries({
    "by outcome": { outcome: "wrong" },
    "by slice and gender": { slice: "anti", observed: "masculine" },
    "by entity": { entity: "nurse" },
    "disagreement": { differ: "yes" },
    "by text, the first time": { text: "sol" },
    "by text": { text: "gravenmo" },
    "all": {},
  })) {
    const started = performance.now();
    window.gendermark.source.page({ ...empty, ...filter }, 0, 20);
    times[name] = performance.now() - started;
  }
  return times;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=50_000, help="judgements in all")
    parser.add_argument("--systems", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        runs = [base / f"run{number}" for number in range(given.systems)]
        for number, run in enumerate(runs):
            write_run(run, f"fake:number{number}", given.n // given.systems, seed=number)
        started, used = time.monotonic(), time.process_time()
        path = base / "report.html"
        write_page(path, runs)
        print(
            f"{given.n:,} judgements, {given.systems} systems: {time.monotonic() - started:.1f} s "
            f"({time.process_time() - used:.1f} s of processor time), {path.stat().st_size / 1e6:.1f} MB"
        )
        for what, milliseconds in (measure_in_browser(path) or {}).items():
            print(f"  {what}: {milliseconds:.0f} ms")


if __name__ == "__main__":
    main()
