"""How a verb ends: what was found, in words, and the command that makes sense next. For people, so never in JSON."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gendermark.cli.terminal import say
from gendermark.errors import UserError
from gendermark.names import readable

if TYPE_CHECKING:
    from gendermark.metrics.metric import Resampling
    from gendermark.result import Result

MOST_FINDINGS = 3
_MOST_FOLDERS = 50
"""In which a run to compare with is looked for."""


def say_findings(results: Sequence[Result]) -> None:
    """The main findings: about one direction in some detail, about several the largest effect of each."""
    from gendermark.report.findings import corrected

    told = corrected(results)
    if not told:
        return
    from gendermark import registry
    from gendermark.report.verdict import verdicts

    opening = verdicts(told)
    named = {name: f"{registry.load('benchmark', name).title}: " if len(opening) > 1 else "" for name in opening}
    sentences = [f"{named[name]}{text}" for name, text in opening.items()]
    sentences += _of_one(told[0]) if len(told) == 1 else _of_many(told)
    say(f"\nFound ({told[0].called}):")
    for sentence in sentences[:MOST_FINDINGS]:
        say(f"- {sentence}")


def _of_one(result: Result) -> list[str]:
    from gendermark.benchmarks.findings import lost_by_gender
    from gendermark.report.findings import findings, in_brief

    said = {finding.text for finding in lost_by_gender(result)}  # beside the table
    brief = [finding.text for finding in in_brief(result)]
    return [text for text in dict.fromkeys([*brief, *findings(result)]) if text not in said]


def _of_many(results: Sequence[Result]) -> list[str]:
    from gendermark.report.findings import main_finding

    largest = sorted(results, key=_effect, reverse=True)[:MOST_FINDINGS]
    kept = [result for result in results if any(result is one for one in largest)]  # in the order of the run
    return [f"{place_of(result)}: {main_finding(result)}" for result in kept]


def _effect(result: Result) -> float:
    from gendermark import registry

    found = registry.load("benchmark", result.selection.benchmark).presentation.findings(result)
    return max((finding.effect for finding in found), default=0.0)


def place_of(result: Result) -> str:
    """Benchmark and direction in words."""
    from gendermark import registry
    from gendermark.benchmarks.findings import direction

    selection = result.selection
    title = registry.load("benchmark", selection.benchmark).title
    return f"{title}, {direction(selection.source_language, selection.target_language)}"


def say_next(commands: Mapping[str, str]) -> None:
    """Commands that can be typed as they stand, and what each is for."""
    if not commands:
        return
    say("\nNext:")
    width = max(map(len, commands))
    for command, what_for in commands.items():
        say(f"  {command:<{width}}  # {what_for}")


def after_run(directory: Path, cells: Sequence[str]) -> dict[str, str]:
    commands = {
        shlex.join(["gendermark", "report", str(directory), "-o", "report.html"]): "a page to read and to send",
        shlex.join(["gendermark", "ui", str(directory)]): "every sentence, in the browser",
    }
    earlier = _earlier_run(directory, cells)
    if earlier is not None:
        command = shlex.join(["gendermark", "compare", str(earlier), str(directory)])
        commands[command] = "better or worse than that run?"
    return commands


def _earlier_run(directory: Path, cells: Sequence[str]) -> Path | None:
    """The latest finished run beside this one that has a benchmark and direction in common with it."""
    from gendermark.runs.folder import MANIFEST, read_manifest

    found: list[tuple[str, Path]] = []
    for manifest in sorted(directory.parent.glob(f"*/{MANIFEST}"))[:_MOST_FOLDERS]:
        if manifest.parent.resolve() == directory.resolve():
            continue
        try:
            facts = read_manifest(manifest.parent)
        except UserError:
            continue
        if facts["status"] == "finished" and not set(cells).isdisjoint(facts["cells"]):
            found.append((str(facts.get("written", "")), manifest.parent))
    return max(found)[1] if found else None


def after_score(result: Result, file: Path, resampling: Resampling, options: Mapping[str, str]) -> dict[str, str]:
    """The same again as a run, which keeps every sentence; none where no single command can say it."""
    from gendermark.report.reproduce import commands

    config: dict[str, Any] = {
        "system": f"files:{file}",
        "system_options": dict(options),
        "selections": [result.selection.to_json()],
        "resampling": asdict(resampling),
    }
    name = {"name": result.name} if result.name != readable(config["system"]) else {}
    lines = commands({"config": config, **name}, _free(f"runs/{_slug(result.called)}"))
    if len(lines) != 1:
        return {}
    return {lines[0]: "keeps every sentence, for `report`, `ui` and `compare`"}


def _free(directory: str) -> str:
    """A folder that is not there yet."""
    numbers = (f"{directory}-{number}" for number in range(2, 1000))
    return next((one for one in (directory, *numbers) if not Path(one).exists()), directory)


def _slug(name: str) -> str:
    return re.sub(r"[^\w.]+", "-", name).strip("-.") or "mine"
