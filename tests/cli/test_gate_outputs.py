"""The same verdict of a gate in all its forms, also where one of them cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from cli.conftest import Cli
from gendermark.runs.gates import Check

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
PASSING, FAILING = "--min p_s:negative=0", "--min p_s:negative=1.1 --max p_s:negative=1"
both = pytest.mark.parametrize(("bounds", "code"), [(PASSING, 0), (FAILING, 1)])
FAILURE = "gate failed (1 of 2 checks failed)"


@both
def test_all_forms_agree(cli: Cli, small: Path, tmp_path: Path, bounds: str, code: int) -> None:
    xml, markdown, page = tmp_path / "deep" / "gate.xml", tmp_path / "gate.md", tmp_path / "page.html"
    command = f"gate {small}/one {bounds} --junit {xml} --summary {markdown} --github"
    table, printed = cli(f"{command} --page {page}"), cli(f"{command} --json")
    assert (table.exit_code, printed.exit_code) == (code, code)
    outcomes = [check["passed"] for check in printed.json["checks"]]
    assert printed.json["passed"] is all(outcomes) is not bool(code)
    assert [row["outcome"] == "pass" for row in table.rows] == outcomes
    (suite,) = ElementTree.parse(xml).getroot()
    assert [len(case) == 0 for case in suite] == outcomes
    assert suite.get("name") == "gendermark gate one"
    written, *commands, sentence = table.err.splitlines()
    assert written == f"report written to {page}"
    assert sentence == (FAILURE if code else "gate passed (1 check)")
    assert markdown.read_text(encoding="utf-8").startswith(f"### gendermark {sentence}\n")
    assert commands[0] == f"::{'error' if code else 'notice'} title=gendermark::{sentence}"
    findings = [check["finding"] for check in printed.json["checks"] if not check["passed"]]
    assert [command.split("::", 2)[2] for command in commands[1:]] == findings
    text = page.read_text(encoding="utf-8")
    start = text.index('<div class="gate')
    block = text[start : text.index("</div>", start)]
    assert f"{sentence[0].upper()}{sentence[1:]}." in block
    assert block.count("<li>") == len(findings)
    assert all(finding in block for finding in findings)
    assert start < text.index('class="dumbbells"'), "the page opens with it"


def test_a_gate_that_could_compare_nothing_fails(cli: Cli, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check = Check("c", "m", "all", False, "– → –, not compared: in both runs there is no value", "x", compared=False)
    monkeypatch.setattr("gendermark.runs.gates.against_baseline", lambda *_: [check])
    outcome = cli(f"gate {small}/one --baseline {small}/one")
    assert outcome.exit_code == 1
    assert outcome.err.startswith("gate failed: nothing could be compared, because ")
    assert [row["outcome"] for row in outcome.rows] == ["not compared", "FAIL"]
    beside = cli(f"gate {small}/one --baseline {small}/one {PASSING}")
    assert (beside.exit_code, beside.err) == (0, "gate passed (1 check), 1 more not compared\n")
    assert [row["outcome"] for row in beside.rows] == ["pass", "not compared"]


def test_nothing_is_written_unasked(cli: Cli, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    assert cli(f"gate {small}/one {FAILING}").err == f"{FAILURE}\n"
    assert list(tmp_path.iterdir()) == []


def test_on_github_nothing_need_be_asked_for(
    cli: Cli, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = tmp_path / "step.md"
    step.write_text("Before.\n\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    outcome = cli(f"gate {small}/one {FAILING} --json")
    assert outcome.exit_code == 1
    assert outcome.json["passed"] is False, "stdout holds one JSON object and nothing else"
    assert outcome.err.startswith("::error title=gendermark::")
    cli(f"gate {small}/one {PASSING} --summary {step}")
    text = step.read_text(encoding="utf-8")
    assert text.startswith(f"Before.\n\n### gendermark {FAILURE}\n")
    assert text.count("### gendermark gate passed") == 1
    # Another file is the user's own, and is not added to.
    for _ in range(2):
        cli(f"gate {small}/one {PASSING} --summary {tmp_path}/mine.md")
    assert (tmp_path / "mine.md").read_text(encoding="utf-8").count("###") == 1
    assert step.read_text(encoding="utf-8") == text
    quiet = cli(f"gate {small}/one {FAILING} --no-github")
    assert quiet.err == f"{FAILURE}\n"
    assert step.read_text(encoding="utf-8") == text


@both
def test_unwritable_files_do_not_change_the_verdict(
    cli: Cli, small: Path, tmp_path: Path, bounds: str, code: int
) -> None:
    outcome = cli(f"gate {small}/one {bounds} --junit {tmp_path} --summary {tmp_path} --page {tmp_path}")
    assert outcome.exit_code == code
    assert len(outcome.rows) == bounds.count("=")
    *problems, sentence = outcome.err.splitlines()
    assert problems == [f"error: cannot write {tmp_path}: Is a directory"] * 3
    assert sentence.startswith("gate failed (" if code else "gate passed (")
    cli(f"gate {small}/one {bounds} --junit {tmp_path} --summary {tmp_path}/gate.md")
    assert sentence in (tmp_path / "gate.md").read_text(encoding="utf-8"), (
        "one does not keep another from being written"
    )


@needs_full
@both
def test_the_exit_code_survives_a_full_disk(small: Path, bounds: str, code: int) -> None:
    call = "from gendermark.cli.app import main; main()"
    with FULL.open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", call, "gate", str(small / "one"), *bounds.split(), "--junit", "/dev/full"],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            check=False,
        )
    assert done.returncode == code
    first, second, sentence = done.stderr.decode().splitlines()
    assert first == "error: cannot write the output: No space left on device"
    assert second == "error: cannot write /dev/full: No space left on device"
    assert sentence.startswith("gate failed (" if code else "gate passed (")


# -- the sentences that changed, and what a baseline allows


def test_changed_sentences_are_in_every_form(cli: Cli, finished: Path, tmp_path: Path) -> None:
    xml, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"
    words = ("gate", finished / "masculine", "--baseline", finished / "right", "--resamples", "500")
    table, printed = cli(*words, "--junit", xml, "--summary", markdown), cli(*words, "--json")
    wrong = printed.json["newly_wrong"]
    assert len(wrong) == 1360, "every woman"
    assert printed.json["newly_right"] == []
    assert "0 sentences newly right, 1,360 newly wrong" in table.err
    shown = [one for one in wrong if f"  {one['source']} (a woman)\n" in table.err]
    assert len(shown) >= 1
    assert table.err.count("    before: ") == table.err.count("    now: ") == 1
    for one in shown:
        ((start, end),) = one["now"]["spans"][:1]
        assert f"[{one['now']['translation'][start:end]}]" in table.err, "the deciding word is marked"
    first = wrong[0]
    (suite,) = ElementTree.parse(xml).getroot()
    assert first["source"] in (suite.findtext("system-out") or "")
    assert "<details><summary>Newly wrong: 1,360</summary>" in markdown.read_text(encoding="utf-8")


def test_a_tolerance(cli: Cli, small: Path) -> None:
    command = f"gate New={small}/two --baseline Old={small}/one --resamples 500"
    assert cli(command).exit_code == 1
    allowed = cli(f"{command} --tolerance 1 --tolerance p_s:negative=0.9 --json")
    assert (allowed.exit_code, allowed.json["passed"]) == (0, True)
    tolerances = {f"{c['metric']}:{c['slice']}": c["tolerance"] for c in allowed.json["checks"] if c["compared"]}
    assert tolerances["p_s:negative"] == 0.9
