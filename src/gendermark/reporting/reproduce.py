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
        if not selections or [select(one)[1] for one in selections] != selections:
            return []
        named = str(manifest.get("name") or "")
        arguments = _arguments(selections)
        if arguments is None:
            return _program(config, selections, directory, named)
        return [_line(config, [*arguments, *(["--name", named] if named else [])], directory)]
    except (KeyError, TypeError, UserError):
        return []


def _program(config: Mapping[str, Any], selections: Sequence[Selection], directory: str, named: str) -> list[str]:
    """For benchmarks with different options, which one command line cannot express."""
    names, options = ["Selection"], [f"name={named!r}"] if named else []
    options.append(f"directory={directory!r}")
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
    """The shortest options of `gendermark run` that give these selections; None if none do."""
    targets = list(dict.fromkeys(one.target_language for one in selections))
    named = list(dict.fromkeys(one.benchmark for one in selections))
    alike: dict[str, Any] = {}
    for name in dict.fromkeys(("source_language", *(name for one in selections for name in options_of(type(one))))):
        values = {getattr(one, name) for one in selections if hasattr(one, name)}
        usual = {field.default for one in selections for field in fields(one) if field.name == name}
        if len(values) == 1 and values != usual:
            alike[name] = values.pop()
    if len(alike.get("parts", ())) > 1:  # the command line takes one
        return None
    # Benchmarks fill in most options themselves.
    least = {name: value for name, value in alike.items() if name in ("data", "rules", "parts")}
    for said in (least, {**least, **alike}):
        for benchmarks in ([], named):
            try:
                found = applicable(benchmarks, targets, **said).selections
            except UserError:
                continue
            if set(found) == set(selections):
                words = [word for name in benchmarks for word in ("--benchmark", name)]
                words += [word for target in targets for word in ("--to", target)]
                flags = {"source_language": "--from", "parts": "--group"}
                for name, value in said.items():
                    text = value[0] if name == "parts" else str(value)
                    words += [flags.get(name, f"--{name.replace('_', '-')}"), text]
                return words
    return None


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
