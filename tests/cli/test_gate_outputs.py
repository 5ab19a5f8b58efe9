"""The same verdict of a gate in all its forms, also where one of them cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from gendermark.runs.gates import Check

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
PASSING, FAILING = ("--min", "p_s:negative=0"), ("--min", "p_s:negative=1.1", "--max", "p_s:negative=1")
FAILURE = "gate failed: 1 of 2 checks"


@pytest.fixture(autouse=True)
def _not_on_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.mark.parametrize(("bounds", "code"), [(PASSING, 0), (FAILING, 1)])
def test_all_forms_agree(cli: Any, small: Path, tmp_path: Path, bounds: tuple[str, ...], code: int) -> None:
    xml, markdown = tmp_path / "deep" / "gate.xml", tmp_path / "gate.md"
    arguments = ("gate", small / "one", *bounds, "--junit", xml, "--summary", markdown, "--github")
    table, printed = cli(*arguments), cli(*arguments, "--json")
    assert (table.exit_code, printed.exit_code) == (code, code)
    outcomes = [check["passed"] for check in printed.json["checks"]]
    assert printed.json["passed"] is all(outcomes) is not bool(code)
    assert [row["outcome"] == "pass" for row in table.rows] == outcomes
    (suite,) = ElementTree.parse(xml).getroot()
    assert [len(case) == 0 for case in suite] == outcomes
    assert suite.get("name") == "gendermark gate one"
    *commands, sentence = table.err.splitlines()
    assert sentence == (FAILURE if code else "gate passed: 1 checks")
    assert markdown.read_text(encoding="utf-8").startswith(f"### gendermark {sentence}\n")
    assert commands[0] == f"::{'error' if code else 'notice'} title=gendermark::{sentence}"
    findings = [check["finding"] for check in printed.json["checks"] if not check["passed"]]
    assert [command.split("::", 2)[2] for command in commands[1:]] == findings


def test_a_gate_that_could_compare_nothing_fails(cli: Any, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check = Check("c", "m", "all", False, "– → –, not compared: in both runs there is no value", "x", compared=False)
    monkeypatch.setattr("gendermark.runs.gates.against_baseline", lambda *_: [check])
    outcome = cli("gate", small / "one", "--baseline", small / "one")
    assert outcome.exit_code == 1
    assert outcome.err.startswith("gate failed: nothing could be compared, because ")
    assert [row["outcome"] for row in outcome.rows] == ["not compared", "FAIL"]
    beside = cli("gate", small / "one", "--baseline", small / "one", *PASSING)
    assert (beside.exit_code, beside.err) == (0, "gate passed: 1 checks, 1 more not compared\n")
    assert [row["outcome"] for row in beside.rows] == ["pass", "not compared"]


@pytest.mark.parametrize(("bounds", "code"), [(PASSING, 0), (FAILING, 1)])
def test_the_page_opens_with_what_the_gate_found(
    cli: Any, small: Path, tmp_path: Path, bounds: tuple[str, ...], code: int
) -> None:
    outcome = cli("gate", small / "one", *bounds, "--page", tmp_path / "page.html")
    assert outcome.exit_code == code
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    block = page[page.index('<div class="gate') : page.index("</div>", page.index('<div class="gate'))]
    assert ("Gate failed: 1 of 2 checks." if code else "Gate passed: 1 checks.") in block
    failed = [row["finding"] for row in outcome.rows if row["outcome"] == "FAIL"]
    assert block.count("<li>") == len(failed)
    assert all(finding in block for finding in failed)
    assert page.index('<div class="gate') < page.index('class="dumbbells"')


def test_nothing_is_written_unasked(cli: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    assert cli("gate", small / "one", *FAILING).err == f"{FAILURE}\n"
    assert list(tmp_path.iterdir()) == []


def test_on_github_nothing_need_be_asked_for(
    cli: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = tmp_path / "step.md"
    step.write_text("Before.\n\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    outcome = cli("gate", small / "one", *FAILING, "--json")
    assert outcome.exit_code == 1
    assert outcome.json["passed"] is False, "stdout holds one JSON object and nothing else"
    assert outcome.err.startswith("::error title=gendermark::")
    cli("gate", small / "one", *PASSING, "--summary", step)
    text = step.read_text(encoding="utf-8")
    assert text.startswith(f"Before.\n\n### gendermark {FAILURE}\n")
    assert text.count("### gendermark gate passed") == 1
    # Another file is the user's own, and is not added to.
    for _ in range(2):
        cli("gate", small / "one", *PASSING, "--summary", tmp_path / "mine.md")
    assert (tmp_path / "mine.md").read_text(encoding="utf-8").count("###") == 1
    assert step.read_text(encoding="utf-8") == text
    quiet = cli("gate", small / "one", *FAILING, "--no-github")
    assert quiet.err == f"{FAILURE}\n"
    assert step.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(("bounds", "code"), [(PASSING, 0), (FAILING, 1)])
@pytest.mark.parametrize("option", ["--junit", "--summary", "--page"])
def test_an_unwritable_file_does_not_change_the_verdict(
    cli: Any, small: Path, tmp_path: Path, option: str, bounds: tuple[str, ...], code: int
) -> None:
    outcome = cli("gate", small / "one", *bounds, option, tmp_path)
    assert outcome.exit_code == code
    assert len(outcome.rows) == len(bounds) / 2
    problem, sentence = outcome.err.splitlines()
    assert problem == f"error: cannot write {tmp_path}: Is a directory"
    assert sentence.startswith("gate failed: " if code else "gate passed: ")


def test_one_unwritable_file_does_not_keep_the_other_from_being_written(cli: Any, small: Path, tmp_path: Path) -> None:
    cli("gate", small / "one", *FAILING, "--junit", tmp_path, "--summary", tmp_path / "gate.md")
    assert FAILURE in (tmp_path / "gate.md").read_text(encoding="utf-8")


def test_an_unwritable_summary_of_the_step(cli: Any, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(small / "absent" / "step.md"))
    outcome = cli("gate", small / "one", *FAILING)
    assert outcome.exit_code == 1
    assert f"error: cannot write {small / 'absent' / 'step.md'}: No such file or directory\n" in outcome.err


@needs_full
@pytest.mark.parametrize(("bounds", "code"), [(PASSING, 0), (FAILING, 1)])
def test_the_exit_code_survives_a_full_disk(small: Path, bounds: tuple[str, ...], code: int) -> None:
    call = "from gendermark.cli.app import main; main()"
    with FULL.open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", call, "gate", str(small / "one"), *bounds, "--junit", "/dev/full"],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            check=False,
        )
    assert done.returncode == code
    first, second, sentence = done.stderr.decode().splitlines()
    assert first == "error: cannot write the output: No space left on device"
    assert second == "error: cannot write /dev/full: No space left on device"
    assert sentence.startswith("gate failed: " if code else "gate passed: ")


# -- the sentences that changed, and what a baseline allows


def test_changed_sentences_are_in_every_form(cli: Any, finished: Path, tmp_path: Path) -> None:
    xml, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"
    words = ("gate", finished / "masculine", "--baseline", finished / "right", "--resamples", "500")
    table, printed = cli(*words, "--junit", xml, "--summary", markdown), cli(*words, "--json")
    wrong = printed.json["newly_wrong"]
    assert len(wrong) == 1360, "every woman"
    assert printed.json["newly_right"] == []
    assert "newly wrong: 1,360 sentences, 5 of them here (--json has all)" in table.err
    shown = [one for one in wrong if f"  {one['source']} (a woman)\n" in table.err]
    assert 1 <= len(shown) <= 5
    assert table.err.count("    before: ") == table.err.count("    now: ") == 5
    for one in shown:
        ((start, end),) = one["now"]["spans"][:1]
        assert f"[{one['now']['translation'][start:end]}]" in table.err, "the deciding word is marked"
    first = wrong[0]
    (suite,) = ElementTree.parse(xml).getroot()
    assert first["source"] in (suite.findtext("system-out") or "")
    assert "<details><summary>Newly wrong: 1,360</summary>" in markdown.read_text(encoding="utf-8")


def test_a_tolerance(cli: Any, small: Path) -> None:
    words = ("gate", f"New={small / 'two'}", "--baseline", f"Old={small / 'one'}", "--resamples", "500")
    assert cli(*words).exit_code == 1
    allowed = cli(*words, "--tolerance", "1", "--tolerance", "p_s:negative=0.9", "--json")
    assert (allowed.exit_code, allowed.json["passed"]) == (0, True)
    tolerances = {f"{c['metric']}:{c['slice']}": c["tolerance"] for c in allowed.json["checks"] if c["compared"]}
    assert tolerances["p_s:negative"] == 0.9
    cli(*words, "--tolerance", "nothing=1").is_refusal("no metric 'nothing' is compared", "p_s:negative")
    cli(*words, "--tolerance", "1", "--tolerance", "2").is_refusal("--tolerance for all metrics is given twice")
    cli(*words, "--tolerance", "-1").is_refusal("--tolerance must be a number of at least 0, not '-1'")
    cli(*words, "--tolerance", "p_s=x").is_refusal("the tolerance of p_s must be a number of at least 0, not 'x'")
    cli("gate", small / "one", "--min", "p_s:negative=0", "--fail-on-gap").is_refusal("add --baseline DIR")


# -- run folders that are broken


@pytest.mark.parametrize("side", ["one", "two"])
@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("manifest.json", "{"),
        ("manifest.json", '{"status": "finished"}'),
        ("tgbi.ko-en/result.json", "{}"),
        ("tgbi.ko-en/judgements.jsonl", '{"item_id": 1}\n'),
        ("tgbi.ko-en/judgements.jsonl", ""),
        ("tgbi.ko-en/translations.jsonl", "nonsense\n"),
        ("tgbi.ko-en/translations.jsonl", ""),
    ],
)
def test_broken_folders_are_refused_in_one_sentence(
    cli: Any, folders: Path, side: str, file: str, content: str
) -> None:
    broken = folders / side / file
    broken.write_text(content, encoding="utf-8")
    outcome = cli("gate", folders / "one", "--baseline", folders / "two", "--resamples", "500")
    outcome.is_refusal(str(folders / side))
    assert outcome.out == ""


def test_a_run_of_broken_translations_leaves_nothing_to_gate(cli: Any, small: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.txt").write_text("He is here.\n", encoding="utf-8")
    words = ("--benchmark", "tgbi", "--from", "ko", "--to", "en", "--data", "core", "--group", "negative")
    run = cli("run", "--system", f"files:{tmp_path / 'broken.txt'}", *words, "-o", tmp_path / "run")
    run.is_refusal("broken.txt")
    gate = cli("gate", tmp_path / "run", "--baseline", small / "one")
    gate.is_refusal(str(tmp_path / "run"), "there is no such directory")
