"""Plug-ins of every kind from another package: installed by entry points, using `gendermark.plugin` alone."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gendermark import plugin
from outcomes import Outcome

TOY = Path(__file__).parent / "toy"

MACHINE = """
import contextlib, io, json, sys
from gendermark.cli.app import _exit_code
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = _exit_code(json.loads(line))
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Callable[..., Outcome]]:
    """The command line of a machine on which the toy's package is installed: one process for all commands."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(TOY), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    line = [sys.executable, "-c", MACHINE]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, cwd=tmp_path, env=environment, **pipes) as machine:
        assert machine.stdin is not None
        assert machine.stdout is not None

        def run(*arguments: str, code: int = 0) -> Outcome:
            print(json.dumps(arguments), file=machine.stdin, flush=True)
            done = Outcome(*json.loads(machine.stdout.readline()))
            assert done.exit_code == code, done.err
            return done

        yield run


def test_a_benchmark_from_another_package(command: Callable[..., Any], tmp_path: Path) -> None:
    """Settings, fakes, a finding, a table, a figure: run, compared, gated and shown, with no change here."""
    assert "Toy: Is everybody greeted rightly?" in command("list", "benchmarks").out
    assert "greeted rightly. Greetings with the right word." in command("list", "metrics").out
    assert "plain or very." in command("score", "toy", "--help").out
    exported = command("export", "toy", "--to", "xx", "--politeness", "very").out
    assert exported.startswith("The pilot kindly greets sir.\n")
    run = ("run", "--benchmark", "toy", "--to", "xx", "--data", "core")
    command(*run, "--system", "fake:right", "-o", "right")
    command(*run, "--system", "fake:masculine", "-o", "men")
    command(*run, "--system", "fake:right", "--politeness", "very", "-o", "polite")

    compared = json.loads(command("compare", "right", "men", "--json").out)
    (found,) = compared["comparisons"]
    assert (found["metric"], found["difference"], found["change"]) == ("greeted", -50.0, "worse")
    gated = json.loads(command("gate", "men", "--baseline", "right", "--json", code=1).out)
    assert "100.0 → 50.0, significantly worse" in gated["checks"][0]["finding"]
    refused = command("compare", "right", "polite", code=2).err
    assert "the runs differ in politeness (plain and very)" in refused

    command("report", "right", "men", "-o", "page.html", "--figures", "figures", "--figure-format", "svg")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "100% of people (CI 72–100) are greeted rightly." in page
    assert "Toy: Is everybody greeted rightly?" in page
    assert "Who is greeted" in page
    assert (tmp_path / "figures" / "toy.greetings.svg").exists()
    latex = command("report", "right", "men", "--format", "latex").out
    assert "\\label{tab:toy-1}" in latex

    again = command("rejudge", "men", "-o", "again").err
    assert "toy.en-xx: all 20 verdicts are as before" in again
    wrong = command(
        "run", "--benchmark", "toy", "--to", "xx", "--system", "fake:right", "--alpha", "2", "-o", "x", code=2
    )
    assert "toy takes no --alpha, which belongs to uncertainty; leave it out" in wrong.err


def test_a_system_from_another_package(command: Callable[..., Outcome], tmp_path: Path) -> None:
    assert "shout" in command("list", "systems").out
    (tmp_path / "sources.txt").write_text("Hello there.\n", encoding="utf-8")
    assert "HELLO THERE." in command("translate", "sources.txt", "--system", "shout:x", "--to", "es").out
    loud = ("--system-option", "volume=3")
    assert "volume" in command("translate", "sources.txt", "--system", "shout:x", "--to", "es", *loud, code=2).err


def test_a_language_from_another_package(command: Callable[..., Outcome], tmp_path: Path) -> None:
    """Its folder is read wherever ours are; what needs more of a language does not offer it."""
    assert "Swedish" in command("list", "languages").out
    for benchmark in ("simplegen", "winomt"):
        which = ("--benchmark", benchmark, "--to", "sv", "--data", "core")
        command("run", *which, "--system", "fake:masculine", "-o", benchmark)
        result = json.loads((tmp_path / benchmark / f"{benchmark}.en-sv" / "result.json").read_text(encoding="utf-8"))
        found = {(row["metric"], row["slice"]): row["value"] for row in result["estimates"]}
        assert found.get(("accuracy", "feminine"), 0.0) == 0.0
        assert found.get(("accuracy", "masculine"), 100.0) == 100.0
    n = len(command("export", "winomt", "--to", "sv", "--data", "core").out.splitlines())
    spanish = "".join(
        f"La jefa {number} de la empresa no está en su casa porque ella es de aquí.\n" for number in range(n)
    )
    (tmp_path / "spanish.txt").write_text(spanish, encoding="utf-8")
    score = ("score", "winomt", "--to", "sv", "--data", "core", "--translations", "spanish.txt")
    assert "Spanish" in command(*score, code=2).err
    assert "sv" in command("score", "gest", *score[2:], code=2).err


def test_a_metric_from_another_package(command: Callable[..., Outcome], tmp_path: Path) -> None:
    """It is estimated beside a benchmark's own; one that clashes and one that does not load are logged and skipped."""
    which = ("--system", "fake:right", "--benchmark", "winomt", "--to", "es", "--data", "core")
    done = command("run", *which, "-o", "right")
    result = json.loads((tmp_path / "right" / "winomt.en-es" / "result.json").read_text(encoding="utf-8"))
    found = {row["metric"]: row for row in result["estimates"] if row["slice"] == "all"}
    assert found["evident"]["value"] > 0
    assert found["accuracy"]["value"] == 100.0
    assert "with evidence" in command("list", "metrics").out
    listed = command("compare", "right", "right", "--all", "--json").json
    assert "evident" in {row["metric"] for row in listed["comparisons"]}
    assert "clash" in done.err
    assert "broken" in done.err


def test_toys_use_the_names_of_plugin_alone() -> None:
    for path in (TOY / "toy_plugins.py", TOY / "toy_benchmark" / "__init__.py", TOY / "toy_swedish" / "__init__.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gendermark"):
                assert node.module == "gendermark.plugin"
                assert {alias.name for alias in node.names} <= set(plugin.__all__)


def test_every_name_of_plugin_is_there() -> None:
    for name in plugin.__all__:
        assert getattr(plugin, name) is not None
