"""Writes the table of docs/tables/winomt-google.md: Google's released translations of 2019, under both rule sets.

    python docs/tables/winomt_google.py

Reads official data (fetched if need be; `GENDERMARK_DATA_MIRROR` works). The published rules for ru and uk need the
extra `ru-uk`; without it their cells stay empty.
"""

from __future__ import annotations

from pathlib import Path

from measured import replace_measured

import gendermark
from gendermark.data import official_files
from gendermark.errors import UserError
from gendermark.reading import published

LANGUAGES = ("es", "fr", "it", "pt", "de", "ru", "uk", "he", "ar")
METRICS = ("accuracy", "delta_g", "delta_s")


def main() -> None:
    outputs = official_files("winomt", "latest", group="outputs")
    lines = [
        "| | accuracy | ΔG | ΔS | women | men | found | published rules: accuracy | ΔG | ΔS |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for language in LANGUAGES:
        path = outputs.path(f"translations/google/en-{language}.txt")
        best = gendermark.score("winomt", path, language, revision="2019")
        cells = [cell(best, metric) for metric in METRICS]
        cells += [cell(best, "accuracy", part, bounds=False) for part in ("feminine", "masculine")]
        cells.append(cell(best, "coverage", bounds=False))
        cells += published_cells(path, language)
        lines.append(f"| {language} | {' | '.join(cells)} |")
    replace_measured("winomt-google.md", lines)


def published_cells(path: Path, language: str) -> list[str]:
    if language not in published.LANGUAGES:
        return ["–"] * len(METRICS)
    try:
        result = gendermark.score("winomt", path, language, rules="paper2019")
    except UserError:
        return ["(needs the extra ru-uk)"] * len(METRICS)
    return [cell(result, metric, bounds=False) for metric in METRICS]


def cell(result: gendermark.Result, metric: str, part: str = "all", *, bounds: bool = True) -> str:
    estimate = result.estimate(metric, part)
    if estimate.value is None:
        return "–"
    interval = f" [{estimate.low:.1f}, {estimate.high:.1f}]" if bounds else ""
    return f"{estimate.value:.1f}{interval}"


if __name__ == "__main__":
    main()
