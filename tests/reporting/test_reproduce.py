"""The command on a report makes the same run again."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark import api
from gendermark.metrics.metric import Resampling
from gendermark.reporting.reproduce import commands
from gendermark.runs.run import RunConfig
from gendermark.selection import Selection


def _manifest(selections: Sequence[Selection], **config: Any) -> dict[str, Any]:
    completed = tuple(api.select(selection)[1] for selection in selections)
    return {"config": RunConfig("fake:right", completed, **config).to_json()}


def _selections_of(command: str) -> set[Selection]:
    """What the command line selects, by the function that `gendermark run` calls."""
    words = shlex.split(command)
    assert words[:4] == ["gendermark", "run", "--system", "fake:right"]
    given: dict[str, list[str]] = {}
    pairs = [word for word in words[4:] if word != "--forced-choice"]
    for key, value in zip(pairs[::2], pairs[1::2], strict=True):
        given.setdefault(key.removeprefix("--").replace("-", "_"), []).append(value)
    options: dict[str, Any] = {
        key: value[0]
        for key, value in given.items()
        if key not in ("benchmark", "to", "from", "group", "_o", "system_option", "resamples", "seed", "confidence")
    }
    if "n_samples" in options:
        options["n_samples"] = int(options["n_samples"])
    options["parts"] = tuple(given.get("group", ()))
    options["source_language"] = given.get("from", [""])[0]
    return set(api.applicable(given.get("benchmark", []), given["to"], **options).selections)


CASES = {
    "one": [Selection("winomt", "en", "es", data="core")],
    "one, all of it changed": [
        Selection("winomt", "en", "es", revision="2019", rules="repo2020", cluster="contrast", variant="adjectives")
    ],
    "a part": [Selection("winomt", "en", "es", data="core", parts=("anti",))],
    "two languages": [Selection("winomt", "en", to, data="core") for to in ("es", "he")],
    "two benchmarks": [Selection(name, "en", "es", data="core") for name in ("winomt", "simplegen")],
    "all that apply": list(api.applicable([], ["es", "he"], data="core").selections),
    "from Korean": [Selection("tgbi", "ko", "en", data="core")],
    "context": [Selection("mt-geneval-contextual", "en", "es", data="core", context="joined")],
    "samples": [Selection("uncertainty", "en", "es", data="core", n_samples=16, sampling="epsilon=0.1")],
}


@pytest.mark.parametrize("name", CASES)
def test_one_command_selects_the_same(name: str) -> None:
    manifest = _manifest(CASES[name])
    (command,) = commands(manifest, "runs/x")
    assert command.endswith(" -o runs/x")
    assert _selections_of(command) == {Selection.from_json(row) for row in manifest["config"]["selections"]}


MIXED = [
    Selection("winomt", "en", "es", data="core", variant="adjectives"),
    Selection("simplegen", "en", "es", data="core", rules="paper"),
    Selection("tgbi", "ko", "en", data="core", parts=("negative", "positive")),
]


@pytest.mark.slow
@pytest.mark.parametrize("selections", [CASES["two benchmarks"], MIXED], ids=["a command", "a program"])
def test_what_is_printed_makes_the_same_run_in_the_same_place(selections: list[Selection], tmp_path: Path) -> None:
    name, options = "it's mine", {"resampling": Resampling(300, 7, 0.9)}
    gendermark.run("fake:coin", selections, directory=tmp_path / "first" / name, **options)
    manifest = json.loads((tmp_path / "first" / name / "manifest.json").read_text(encoding="utf-8"))
    bin_directory = tmp_path / "bin"
    bin_directory.mkdir()
    for command, module in (("gendermark", "-c 'from gendermark.cli.app import main; main()'"), ("python", "")):
        script = bin_directory / command
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    (tmp_path / "again").mkdir()
    subprocess.run(
        ["sh", "-c", "\n".join(commands(manifest, name))],
        cwd=tmp_path / "again",
        env={
            **os.environ,
            "PATH": f"{bin_directory}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(gendermark.__file__).parent.parent),
        },
        check=True,
        capture_output=True,
    )
    first, again = (
        {path.relative_to(tmp_path / place): path.read_bytes() for path in (tmp_path / place).rglob("result.json")}
        for place in ("first", "again")
    )
    assert len(first) == len(selections)
    assert first == again


def test_everything_else_that_decides_a_run_is_said() -> None:
    manifest = _manifest(
        CASES["one"], system_options={"mode": "a b"}, resampling=Resampling(500, 7, 0.9), forced_choice=True
    )
    (command,) = commands(manifest, "my runs/x")
    for part in (
        "--system-option 'mode=a b'",
        "--resamples 500",
        "--seed 7",
        "--confidence 0.9",
        "--forced-choice",
        "-o 'my runs/x'",
    ):
        assert part in command


@pytest.mark.parametrize(
    "selections", [[], [{}], [{"benchmark": "gone", "parts": []}], [{"benchmark": "winomt", "parts": [], "new": 1}]]
)
def test_a_manifest_that_this_version_cannot_read_gives_no_command(selections: list[dict[str, Any]]) -> None:
    assert commands({"config": {"system": "fake:right", "selections": selections}}, "x") == []
