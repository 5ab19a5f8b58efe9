"""The command or program that reproduces a run, from its manifest."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from gendermark.api import applicable, select
from gendermark.errors import UserError
from gendermark.metrics.metric import Resampling
from gendermark.runs.folder import SCORED
from gendermark.selection import Selection, options_of

_DEFAULTS = {"data": "official", "rules": "best"}


def commands(manifest: Mapping[str, Any], directory: str) -> list[str]:
    """The lines that reproduce a run in one folder: one command if possible, else a short program.

    Empty for runs that cannot be reproduced, or of another version. Default benchmarks are not named.
    """
    config = manifest["config"]
    if config.get("audited"):
        return [shlex.join(["gendermark", "audit", str(config["audited"])])]
    if config.get(SCORED) and "rejudged" not in config:  # given translations can only be scored again
        return [shlex.join(["gendermark", "leaderboard", "verify", directory])]
    try:
        selections = [Selection.from_json(row) for row in config["selections"]]
        arguments = _arguments(selections)
        if arguments is not None:
            name = ["--name", str(manifest["name"])] if manifest.get("name") else []
            return [_line(config, [*arguments, *name], directory)]
        completed = [select(one)[1] for one in selections]
        if completed != selections or not selections:
            return []
        named = [f"name={manifest['name']!r}"] if manifest.get("name") else []
        return _program(config, completed, [f"directory={directory!r}", *named])
    except (KeyError, TypeError, UserError):
        return []


def _program(config: Mapping[str, Any], selections: Sequence[Selection], said: Sequence[str]) -> list[str]:
    """For benchmarks with different options, which one command line cannot express."""
    names = ["Selection"]
    options = list(said)
    if config.get("system_options"):
        options.append(f"system_options={dict(config['system_options'])!r}")
    resampling = Resampling(**config.get("resampling", {}))
    if resampling != Resampling():
        names.insert(0, "Resampling")
        options.append(f"resampling={resampling!r}")
    if config.get("forced_choice"):
        options.append("forced_choice=True")
    # As Python writes them, without defaults.
    written = [
        [f"{field.name}={value!r}" for field in fields(one) if (value := getattr(one, field.name)) != field.default]
        for one in selections
    ]
    return [
        "python - <<'END'",
        f"from gendermark import {', '.join(names)}, run",
        "run(",
        f"    {str(config['system'])!r},",
        "    [",
        *(f"        Selection({', '.join(one)})," for one in written),
        "    ],",
        *(f"    {option}," for option in options),
        ")",
        "END",
    ]


def _arguments(selections: Sequence[Selection]) -> list[str] | None:
    said = _said(selections) if selections else None
    if said is None:
        return None
    targets = list(dict.fromkeys(one.target_language for one in selections))
    named = list(dict.fromkeys(one.benchmark for one in selections))
    for benchmarks in ([], named):
        try:
            found = applicable(benchmarks, targets, **said).selections
        except UserError:
            continue
        if set(found) == set(selections):
            return _words(benchmarks, targets, said)
    return None


def _said(selections: Sequence[Selection]) -> dict[str, Any] | None:
    """Non-default options of a command; None if the selections need different ones."""
    said: dict[str, Any] = {}
    bare = []  # options that benchmarks fill in themselves
    for one in selections:
        asked = {key: getattr(one, key) for key in ("source_language", "data", "rules")}
        bare.append(select(one.benchmark, one.target_language, **asked)[1])
    # Selection fields that are options of `gendermark run` of the same name.
    options = dict.fromkeys(name for one in selections for name in options_of(type(one)) if name != "parts")
    for field in options:
        both = [(one, usual) for one, usual in zip(selections, bare, strict=True) if hasattr(one, field)]
        values = {getattr(one, field) for one, _ in both}
        if all(getattr(one, field) == _DEFAULTS.get(field, getattr(usual, field)) for one, usual in both):
            continue
        if len(values) > 1:
            return None
        said[field] = values.pop()
    sources, parts = ({getattr(one, field) for one in selections} for field in ("source_language", "parts"))
    if len(sources) > 1 or len(parts) > 1:
        return None
    if sources != {"en"}:
        said["source_language"] = sources.pop()
    if parts != {()}:
        said["parts"] = parts.pop()
    return said


def _words(benchmarks: Sequence[str], targets: Sequence[str], said: Mapping[str, Any]) -> list[str] | None:
    parts = said.get("parts", ())
    if len(parts) > 1:  # the command line takes one
        return None
    words = [word for name in benchmarks for word in ("--benchmark", name)]
    words += ["--from", said["source_language"]] if "source_language" in said else []
    words += [word for target in targets for word in ("--to", target)]
    words += [
        word
        for key in said
        if key not in ("parts", "source_language")
        for word in (f"--{key.replace('_', '-')}", str(said[key]))
    ]
    return words + [word for part in parts for word in ("--group", part)]


def _line(config: Mapping[str, Any], arguments: Sequence[str], directory: str) -> str:
    words = ["gendermark", "run", "--system", str(config["system"])]
    for key, value in dict(config.get("system_options", {})).items():
        words += ["--system-option", f"{key}={value}"]
    words += arguments
    usual, used = Resampling(), config.get("resampling", {})
    for field, option in (("n_resamples", "--resamples"), ("seed", "--seed"), ("confidence", "--confidence")):
        if used.get(field, getattr(usual, field)) != getattr(usual, field):
            words += [option, f"{used[field]:g}" if isinstance(used[field], float) else str(used[field])]
    if config.get("forced_choice"):
        words.append("--forced-choice")
    return shlex.join([*words, "-o", directory])
