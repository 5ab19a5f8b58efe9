"""The command that makes a run again, from its manifest."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gendermark.api import applicable
from gendermark.benchmarks.benchmark import Selection
from gendermark.errors import UserError
from gendermark.metrics.metric import Resampling

# Fields of a selection that are options of `gendermark run` of the same name.
_OPTIONS = (
    "data",
    "revision",
    "rules",
    "cluster",
    "variant",
    "aligner",
    "detector",
    "split",
    "context",
    "n_samples",
    "sampling",
    "similarity",
    "alpha",
    "entailment",
)
_DEFAULTS = {"data": "official", "rules": "best"}


def commands(manifest: Mapping[str, Any], directory: str) -> list[str]:
    """The command lines of a run: one if one can say it all, else one for each benchmark and direction."""
    config = manifest["config"]
    try:
        selections = [Selection.from_json(row) for row in config["selections"]]
        together = _together(selections)
    except (KeyError, TypeError, UserError):  # of another version, or a benchmark of a package that is gone
        return []
    if together is not None:
        return [_line(config, together, directory)]
    return [
        _line(
            config, _arguments([one], [one.benchmark]), str(Path(directory) / f"{one.benchmark}-{one.target_language}")
        )
        for one in selections
    ]


def _together(selections: Sequence[Selection]) -> list[str] | None:
    """The arguments that select exactly these; None if no single command does."""
    if not selections:
        return None
    targets = list(dict.fromkeys(selection.target_language for selection in selections))
    names = list(dict.fromkeys(selection.benchmark for selection in selections))
    for benchmarks in ([], names):
        options = _asked(selections, benchmarks)
        if options is None:
            continue
        try:
            found = applicable(benchmarks, targets, **options)
        except UserError:
            continue
        if set(found) == set(selections):
            return _arguments(selections, benchmarks)
    return None


def _asked(selections: Sequence[Selection], benchmarks: Sequence[str]) -> dict[str, Any] | None:
    """The options that all of the selections have in common; those that each benchmark fills in itself are left out."""
    first = selections[0]
    same = {field: len({getattr(one, field) for one in selections}) == 1 for field in (*_OPTIONS, "parts")}
    if not (same["data"] and same["rules"] and same["parts"]):
        return None
    options = {
        field: getattr(first, field) for field in _OPTIONS if same[field] and (benchmarks or len(selections) == 1)
    }
    options |= {"data": first.data, "rules": first.rules, "parts": first.parts}
    if len({one.source_language for one in selections}) == 1:
        options["source_language"] = first.source_language
    return options


def _arguments(selections: Sequence[Selection], benchmarks: Sequence[str]) -> list[str]:
    first = selections[0]
    arguments = [part for name in benchmarks for part in ("--benchmark", name)]
    if first.source_language != "en":
        arguments += ["--from", first.source_language]
    arguments += [
        part for target in dict.fromkeys(one.target_language for one in selections) for part in ("--to", target)
    ]
    bare = _bare(first)
    for field in _OPTIONS:
        values = {getattr(one, field) for one in selections}
        value = getattr(first, field)
        if len(values) == 1 and value and value != _DEFAULTS.get(field, getattr(bare, field)):
            arguments += [f"--{field.replace('_', '-')}", str(value)]
    return arguments + (["--group", first.parts[0]] if first.parts else [])


def _bare(selection: Selection) -> Selection:
    """The same with all that its benchmark fills in by itself, so that a command need not say it."""
    from gendermark.api import select

    try:
        asked = {key: getattr(selection, key) for key in ("source_language", "data", "rules")}
        return select(selection.benchmark, selection.target_language, **asked)[1]
    except UserError:
        return replace(selection, revision="", cluster="", split="", context="")


def _line(config: Mapping[str, Any], arguments: Sequence[str], directory: str) -> str:
    parts = ["gendermark", "run", "--system", str(config["system"])]
    for key, value in dict(config.get("system_options", {})).items():
        parts += ["--system-option", f"{key}={value}"]
    parts += arguments
    usual, used = Resampling(), config.get("resampling", {})
    for field, option in (("n_resamples", "--resamples"), ("seed", "--seed"), ("confidence", "--confidence")):
        if used.get(field, getattr(usual, field)) != getattr(usual, field):
            parts += [option, f"{used[field]:g}" if isinstance(used[field], float) else str(used[field])]
    if config.get("forced_choice"):
        parts.append("--forced-choice")
    return shlex.join([*parts, "-o", directory])
