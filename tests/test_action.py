"""The action for GitHub: its steps are run here as a runner there would run them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

import gendermark
from gendermark import registry
from gendermark.records import Gender

REPOSITORY = Path(__file__).resolve().parents[1]
ACTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
SCRIPTS = [step for step in STEPS if "run" in step]
SELECTION = gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative",))
SMALL = {"benchmark": "tgbi", "to": "en", "run-arguments": "--from ko --group 'negative'"}
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash is installed")


@dataclass
class Job:
    """As much of a runner as these steps need: expressions, `if: always()`, outputs, and the summary."""

    workspace: Path
    inputs: Mapping[str, str]
    outputs: dict[str, str] = field(default_factory=dict)
    code: int = 0
    """Of the first step that failed."""
    log: str = ""

    @property
    def summary(self) -> str:
        return (self.workspace / "summary.md").read_text(encoding="utf-8")

    def value(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self._known(found[1]), text)

    def _known(self, expression: str) -> str:
        kind, _, name = expression.partition(".")
        if kind == "inputs":
            declared = ACTION["inputs"][name]  # one that is not declared would be empty there
            return self.inputs.get(name, declared["default"])
        step, _, output = name.partition(".outputs.")
        assert kind == "steps", expression
        assert output
        return self.outputs.get(f"{step}.{output}", "")

    def run(self, step: Mapping[str, Any], **environment: str) -> None:
        if self.code and step.get("if") != "always()":
            return
        script, output = self.workspace / "step.sh", self.workspace / "output"
        script.write_text(step["run"], encoding="utf-8")
        output.write_text("", encoding="utf-8")
        given = {name: self.value(text) for name, text in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace,
            env={
                **os.environ,
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(REPOSITORY),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.workspace / "summary.md"),
                "RUNNER_TEMP": str(self.workspace / "temp"),
                **given,
                **environment,
            },
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        self.log += done.stdout + done.stderr
        self.code = self.code or done.returncode
        for line in output.read_text(encoding="utf-8").splitlines():
            name, _, text = line.partition("=")
            self.outputs[f"{step['id']}.{name}"] = text


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the step `install` installs, from this checkout. No index is asked: what it needs is here already."""
    for module in ("hatchling", "pip"):
        pytest.importorskip(module)
    job = Job(tmp_path_factory.mktemp("install"), {})
    (job.workspace / "summary.md").touch()
    job.outputs["python.python-path"] = sys.executable
    alone = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_IGNORE_INSTALLED": "1"}
    job.run(_step("install"), PYTHONPATH=sysconfig.get_path("purelib"), **alone)
    assert job.code == 0, job.log
    return job.outputs["install.program"]


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("before") / "baseline"
    gendermark.run("fake:right", [SELECTION], directory=folder)
    return folder


@pytest.fixture
def masculine(tmp_path: Path) -> Path:
    """Translations in which everybody is a man."""
    benchmark = registry.load("benchmark", "tgbi")
    items = gendermark.items("tgbi", "en", data="core", source_language="ko", parts=("negative",))
    lines = [benchmark.render(item, Gender.MASCULINE, items.selection) for item in items.items]
    path = tmp_path / "he.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _step(name: str) -> dict[str, Any]:
    return next(step for step in STEPS if step.get("id") == name)


def _job(tmp_path: Path, program: str, **inputs: str) -> Job:
    """The whole action but its installation."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "summary.md").touch()
    job = Job(workspace, {name.replace("_", "-"): text for name, text in inputs.items()})
    job.outputs["install.program"] = program
    for step in SCRIPTS[1:]:
        job.run(step, PYTHONPATH=sysconfig.get_path("purelib"))
    return job


# -- what is written in it ---------------------------------------------------------------------------------------------


def test_no_input_is_ever_part_of_a_script() -> None:
    assert len(SCRIPTS) == 4
    for step in SCRIPTS:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an input in a script can become a command"
        used = set(re.findall(r"\$\{?([A-Z][A-Z_]+)", step["run"])) - {"RUNNER_TEMP"}
        assert {name for name in used if not name.startswith("GITHUB_")} == set(step["env"])
    for step in STEPS:
        if "uses" in step:
            assert re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"])


def test_every_input_is_used_and_told_about() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", str(ACTION)))
    assert used == set(ACTION["inputs"])
    guide = (REPOSITORY / "docs" / "ci.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", guide, re.MULTILINE)) == {*ACTION["inputs"], *ACTION["outputs"]}
    workflow = yaml.safe_load((REPOSITORY / "docs" / "ci" / "gendermark.yml").read_text(encoding="utf-8"))
    (step,) = (step for step in workflow["jobs"]["gate"]["steps"] if "with" in step)
    assert set(step["with"]) <= set(ACTION["inputs"])
    assert workflow["permissions"] == {"contents": "read"}


# -- what it does ------------------------------------------------------------------------------------------------------


@needs_bash
@pytest.mark.slow
@pytest.mark.parametrize(("code", "outcome"), [(0, "passed"), (1, "failed")])
def test_a_candidate_passes_or_fails_and_has_its_page(
    tmp_path: Path, program: str, baseline: Path, masculine: Path, code: int, outcome: str
) -> None:
    candidate = {"translations": str(masculine)} if code else {"system": "fake:right"}
    job = _job(tmp_path, program, baseline=str(baseline), report="deep/page.html", **candidate, **_given(SMALL))
    assert job.code == code, job.log
    assert job.outputs["page.outcome"] == outcome
    assert f"### gendermark gate {outcome}" in job.summary
    assert "in the artifact `gendermark`" in job.summary
    assert ("::error title=gendermark::gate failed" in job.log) == bool(code)
    assert (job.workspace / "gendermark" / "candidate" / "manifest.json").exists()
    page = (job.workspace / "deep" / "page.html").read_text(encoding="utf-8")
    assert "baseline" in page
    assert "candidate" in page
    failures = ElementTree.parse(job.workspace / "gendermark" / "candidate.xml").getroot().get("failures")
    assert (failures != "0") == bool(code)


@needs_bash
@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "said", "has_page"),
    [
        ({"system": "fake:right", "baseline": "absent"}, "absent", True),
        ({"system": "fake:right"}, "to check; give --baseline DIR", True),
        ({"system": "no-such:family", "gate-arguments": "--min p_s:negative=0"}, "no-such", False),
        ({"gate-arguments": "--min p_s:negative=0"}, "the action needs either system or translations", False),
        ({"system": "fake:right", "translations": "x"}, "the action needs either system or translations", False),
        ({"system": "fake:right", "gate-arguments": "--min 'p_s"}, "quote", True),
    ],
)
def test_where_nothing_can_be_checked_it_says_so(
    tmp_path: Path, program: str, inputs: dict[str, str], said: str, has_page: bool
) -> None:
    job = _job(tmp_path, program, **_given({**SMALL, **inputs}))
    assert job.code not in (0, 1), "1 would be a verdict"
    assert said in job.log
    assert job.outputs["page.outcome"] == "error"
    assert "### gendermark checked nothing" in job.summary
    assert (job.workspace / "gendermark" / "report.html").exists() is has_page
    assert has_page is ("::warning title=gendermark::there is no page" not in job.log)


@needs_bash
def test_no_input_becomes_a_command(tmp_path: Path) -> None:
    """Whatever they hold, they reach the program as they are; lists are cut at spaces, more arguments as by a shell."""
    program, heard = tmp_path / "heard.sh", tmp_path / "heard"
    program.write_text(f'#!/bin/sh\nprintf "<%s>" "$@" >> {heard}\nprintf "\\n" >> {heard}\n', encoding="utf-8")
    program.chmod(0o755)
    evil = "\"; touch evil; $(touch evil) `touch evil` '"
    job = _job(
        tmp_path,
        str(program),
        system=evil,
        baseline=evil,
        benchmark="one two *",
        to="es de",
        data=evil,
        tolerance="2",
        gate_arguments="--min 'a b=1' \"--max\" $(touch\\ evil)",
    )
    assert job.code == 0, job.log
    assert not list(job.workspace.glob("**/evil*"))
    run, gate = heard.read_text(encoding="utf-8").splitlines()
    folder = "gendermark/candidate"
    assert run == (
        f"<run><--system><{evil}><--data><{evil}><--output><{folder}>"
        "<--benchmark><one><--benchmark><two><--benchmark><*><--to><es><--to><de>"
    )
    assert gate == (
        f"<gate><{folder}><--junit><{folder}.xml><--baseline><{evil}><--tolerance><2>"
        "<--min><a b=1><--max><$(touch evil)>"
    )


def _given(inputs: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("-", "_"): text for name, text in inputs.items()}
