"""How verbs end: findings in words, and next commands that work as they are printed."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from gendermark.cli import terminal

RUN = ("run", "--benchmark", "tgbi", "--from", "ko", "--to", "en", "--data", "core", "--group", "negative")


def _next(text: str) -> list[list[str]]:
    """The commands that are suggested, as a shell would read them."""
    lines = text.partition("Next:\n")[2].splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("  gendermark ")]


def test_a_run_ends_with_findings_and_commands_that_work(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cli(*RUN, "--system", "fake:right", "-o", "runs/it's old")
    outcome = cli(*RUN, "--system", "fake:masculine", "-o", "runs/new one", "--name", "Mine")
    findings = re.findall(r"(?m)^- .*", outcome.err.partition("Found (Mine):\n")[2])
    assert 1 <= len(findings) <= 3
    report, ui, compare = _next(outcome.err)
    assert report == ["report", "runs/new one", "-o", "report.html"]
    assert ui == ["ui", "runs/new one"]
    assert compare == ["compare", "runs/it's old", "runs/new one"]
    assert cli(*report).exit_code == cli(*compare).exit_code == 0
    assert Path("report.html").is_file()
    assert "Found" not in cli(*RUN, "--system", "fake:masculine", "-o", "runs/new one", "--json").err


def test_several_directions_have_one_finding_each(cli: Any, tmp_path: Path) -> None:
    words = ("run", "--system", "fake:masculine", "--data", "core", "--benchmark", "terms")
    outcome = cli(*words, "--to", "es", "--to", "de", "--to", "fr", "--to", "it", "-o", tmp_path / "run")
    findings = re.findall(r"(?m)^- .* English → \w+: .*", outcome.err)
    assert len(findings) == 2
    assert "- Turns most women into men in all four languages, most in " in outcome.err


def test_translations_end_with_the_run_that_keeps_them(
    cli: Any, good_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(good_file, "my file.txt")
    outcome = cli("score", "simplegen", "--to", "es", "--data", "core", "--translations", "my file.txt")
    assert "Found (my file):" in outcome.err
    (run,) = _next(outcome.err)
    assert run[-2:] == ["-o", "runs/my-file"]
    again = cli(*run)
    assert [row["value"] for row in again.rows] == [row["value"] for row in outcome.rows], "the same numbers"
    (second,) = _next(cli("score", *outcome_words("my file.txt")).err)
    assert second[-1] == "runs/my-file-2", "the first folder is taken"


def outcome_words(file: str) -> tuple[str, ...]:
    return ("simplegen", "--to", "es", "--data", "core", "--translations", file)


def test_a_run_that_goes_on_says_so(cli: Any, tmp_path: Path) -> None:
    words = (*RUN, "--system", "command:sed s/^/He/", "--store", tmp_path / "store", "-o", tmp_path / "run")
    first = cli(*words)
    assert first.exit_code == 0, first.err
    assert "already translated" not in first.err
    n = first.err.partition(" sentences")[0].rpartition(" ")[2]
    again = cli(*words)
    assert f"Resumed: {n} of {n} sentences were already translated" in again.err
    other = cli(*words[:-1], tmp_path / "other")
    assert f"From an earlier run: {n} of {n} sentences were already translated" in other.err


def test_a_comparison_begins_with_a_summary(cli: Any, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda stream: stream is sys.stdout)
    monkeypatch.setenv("COLUMNS", "80")
    words = ("compare", f"Old={small / 'one'}", f"New={small / 'two'}", "--resamples", "500")
    brief = cli(*words)
    assert brief.out.startswith("New against Old\n\nTGBI, Korean → English: worse\n")
    assert len(brief.out.splitlines()) <= 24
    assert all(len(line) <= 80 for line in brief.out.splitlines())
    (in_full,) = _next(brief.err)
    assert in_full == ["compare", f"Old={small / 'one'}", f"New={small / 'two'}", "--all"]
    assert "second is" in cli(*in_full, "--resamples", "500").out
    many = cli(*words, "--trend")
    assert "New against Old" in many.out
    assert " in Old, " in many.err


def test_a_sheet_ends_with_commands_that_work(
    cli: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = cli("annotate", "export", small / "one", "-o", "my sheet.csv", "--n", "8")
    serve, agree = _next(outcome.err)
    served: list[Any] = []
    monkeypatch.setattr("gendermark.cli.annotate.serve_site", lambda site, *_, **__: served.append(site))
    assert cli(*serve, "--no-open").exit_code == 0
    assert served
    with Path("my sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    filled = Path("my sheet-answers")
    filled.mkdir(exist_ok=True)
    with (filled / "anna.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "Find entity? [Y/N]": "Y", "Gender? [M/F/N]": "M"} for row in rows)
    assert agree[-1] == "my sheet-answers/*.csv"
    assert cli(*agree[:-1], *filled.glob("*.csv")).exit_code == 0


def test_a_missing_extra_is_said_first_and_costs_no_page(
    cli: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    page, figures = tmp_path / "r.html", tmp_path / "figures"
    outcome = cli("report", small / "one", "-o", page, "--figures", figures, "--figure-format", "pdf")
    said = "a figure as PDF needs an optional package; install it with: pip install 'gendermark[figures]'"
    assert outcome.err.splitlines() == [
        f"no figures are written: {said}",
        f"report written to {page}",
        f"error: {said}",
    ]
    assert outcome.exit_code == 2
    assert page.is_file()
    assert not figures.exists()


@pytest.mark.parametrize("is_refused", [True, False])
def test_who_is_not_translated_is_told_in_every_form(
    cli: Any, finished: Path, tmp_path: Path, is_refused: bool
) -> None:
    """Half of the women are refused, or nobody."""
    cell = finished / "right" / "simplegen.en-es"
    rows = [json.loads(line) for line in (cell / "translations.jsonl").read_text(encoding="utf-8").splitlines()]
    women = [json.loads(line)["expected"] == "feminine" for line in (cell / "judgements.jsonl").open(encoding="utf-8")]
    lines = [
        "" if is_woman and number % 2 and is_refused else row["translation"]
        for number, (row, is_woman) in enumerate(zip(rows, women, strict=True))
    ]
    (tmp_path / "t.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    n_lost = lines.count("")
    words = ("simplegen", "--to", "es", "--data", "core", "--translations", tmp_path / "t.txt")
    found = cli("score", *words, "--json").json["lost_by_gender"]
    assert set(found) == {"women", "men", "men_minus_women", "is_clear"}
    assert found["women"]["value"] == pytest.approx(100 * n_lost / sum(women))
    assert found["men"]["value"] == 0
    assert found["men_minus_women"]["value"] == pytest.approx(-found["women"]["value"])
    assert found["is_clear"] is is_refused
    said = cli("score", *words).err
    assert said.count("were not translated (refused, empty, a copy or another language)") == is_refused, "said once"


def test_where_nobody_is_known_to_be_a_woman_nothing_is_said_of_it(cli: Any, small: Path) -> None:
    (results,) = cli("report", small / "one", "--json").json["runs"].values()
    assert results[0]["lost_by_gender"] is None
