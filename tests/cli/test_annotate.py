"""`gendermark annotate`: all its verbs, from the sheet to agreement; and `gendermark data convert`."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gendermark
from annotation.made import contextual_run, loads
from gendermark.cli import annotate, terminal
from made_runs import signed_again

CELL, CONTEXTUAL = "tgbi.ko-en", "mt-geneval-contextual.en-es"
HEADER = ["Index", "Entity", "Sentence", "Find entity? [Y/N]", "Gender? [M/F/N]", "Comments"]
PRONOUNS = {"he": "M", "she": "F", "they": "N"}


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Run folders of two systems. Not to be written to."""
    base = tmp_path_factory.mktemp("systems")
    return [contextual_run(base / "one", "fake:right?p=0.7"), contextual_run(base / "two", "fake:masculine")]


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def write_rows(path: Path, rows: Sequence[Sequence[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def fill(template: Path, path: Path, answer: Callable[[str], Sequence[str]]) -> Path:
    """A copy of a sheet with (found, gender) for each sentence."""
    header, *rows = rows_of(template)
    return write_rows(path, [header, *([*row[:3], *answer(row[2]), ""] for row in rows)])


def read(sentence: str) -> tuple[str, str]:
    return "Y", PRONOUNS.get(sentence.split()[0].lower(), "")


@pytest.fixture
def template(cli: Any, run_folder: Path, tmp_path: Path) -> Path:
    path = tmp_path / "template.csv"
    assert cli("annotate", "export", run_folder, "--n", "40", "-o", path).exit_code == 0
    return path


# -- one run -----------------------------------------------------------------------------------------------------------


def test_export(cli: Any, run_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    outcome = cli("annotate", "export", run_folder, "--n", "20", "--seed", "1", "-o", path)
    assert (outcome.exit_code, outcome.out) == (0, "")
    assert outcome.err.startswith(f"20 translations of {CELL} written to {path} (CSV)\n\nNext:\n")
    header, *rows = rows_of(path)
    assert header == HEADER
    assert len(rows) == 20
    assert all(row[3:] == ["", "", ""] and row[1] and row[2] for row in rows)
    for name, seed in (("same", "1"), ("other", "2")):
        cli("annotate", "export", run_folder, "--n", "20", "--seed", seed, "-o", tmp_path / name)
        assert ((tmp_path / name).read_bytes() == path.read_bytes()) is (name == "same")
    whole = cli("annotate", "export", run_folder, "--n", "9999", "--cell", CELL, "--with-source", "-o", path)
    assert "all there are, fewer than 9,999" in whole.err
    header, *rows = rows_of(path)
    assert header == [*HEADER, "Source"]
    assert all(row[6] for row in rows)


def test_the_answers_of_the_judge_are_not_in_the_sheet(run_folder: Path, template: Path) -> None:
    text = template.read_text(encoding="utf-8-sig")
    for word in ("masculine", "feminine", "neutral", "judged", "expected"):
        assert word not in text
    lines = (run_folder / CELL / "judgements.jsonl").read_text(encoding="utf-8").splitlines()
    judged = {row["index"]: row["observed"] for row in map(json.loads, lines)}
    order = [str(judged[int(row[0])]) for row in rows_of(template)[1:]]
    assert len(set(order)) > 1
    assert order not in (sorted(order), sorted(order, reverse=True))


def test_export_names_whom_to_ask_about(cli: Any, systems: list[Path], tmp_path: Path) -> None:
    outcome = cli("annotate", "export", systems[0], "--n", "4", "-o", tmp_path / "s.csv")
    assert outcome.err.startswith(f"{CONTEXTUAL} names no person: ")
    assert {row[1] for row in rows_of(tmp_path / "s.csv")[1:]} == {"the person whom the sentence is about"}


def test_export_refuses(cli: Any, run_folder: Path, tmp_path: Path, template: Path) -> None:
    new = ("-o", tmp_path / "s.csv")
    filled = fill(template, tmp_path / "ana.csv", read)
    selections = [gendermark.Selection("tgbi", code, "en", data="core", parts=("negative",)) for code in ("ko", "ja")]
    two = tmp_path / "two"
    gendermark.run("fake:silent", selections, directory=two)
    for arguments, token in (
        ((run_folder,), "--output"),
        ((run_folder, "--n", "0", *new), "--n"),
        ((tmp_path, *new), "is not a run folder"),
        ((run_folder, "--cell", "tgbi.ko-em", *new), f"did you mean '{CELL}'?"),
        ((run_folder, "-o", filled), "may contain answers"),
        ((two, *new), "--cell: tgbi.ko-en, tgbi.ja-en"),
        ((two, "--cell", CELL, *new), "are empty"),
    ):
        cli("annotate", "export", *arguments).is_refusal(token)
    assert cli("annotate", "export", run_folder, "-o", template).exit_code == 0, "a blank one may be written again"


def test_export_fill_agree(cli: Any, run_folder: Path, template: Path, tmp_path: Path) -> None:
    sheet = fill(template, tmp_path / "ana.csv", read)
    outcome = cli("annotate", "agree", run_folder, template, sheet, "--json")
    assert (outcome.exit_code, outcome.err) == (0, f"left out, no answers yet: {template}\n")
    estimates = {(e["metric"], e["slice"]): e for e in outcome.json["estimates"]}
    assert estimates["agreement", "judge ~ people"]["value"] == 100
    assert estimates["kappa", "judge ~ people"]["value"] == 1
    assert outcome.json["disagreements"] == []
    assert [one["name"] for one in outcome.json["sheets"]] == ["ana"]


def test_agree_prints_three_tables(
    cli: Any, run_folder: Path, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = fill(template, tmp_path / "ana.csv", read)
    eva = fill(template, tmp_path / "eva.csv", lambda sentence: ("Y", "M") if len(sentence) % 3 else ("N", "F"))
    outcome = cli("annotate", "agree", run_folder, ana, eva)
    assert outcome.exit_code == 0
    sheets, estimates, disagreements = (
        [line.split("\t") for line in part.splitlines()] for part in outcome.out.split("\n\n")
    )
    assert sheets[0] == ["sheet", "rows", "answers", "blank", "not found", "judge neither", "problems"]
    assert [line[0] for line in sheets[1:]] == ["ana", "eva"]
    assert estimates[0] == ["between", "measure", "value", "low", "high", "items"]
    assert [line[:2] for line in estimates[1:12]] == [
        ["ana ~ eva", "agreement"],
        ["ana ~ eva", "kappa"],
        ["people", "alpha"],
        *([f"judge ~ {who}", measure] for who in ("ana", "eva") for measure in ("agreement", "kappa", "alpha")),
        ["judge ~ people", "agreement"],
        ["judge ~ people", "kappa"],
    ]
    assert ["judge ~ ana", "agreement", "100.0"] in [line[:3] for line in estimates]
    assert disagreements[0] == ["index", "entity", "person", "answer", "automatic", "deciding words", "translation"]
    assert {line[2] for line in disagreements[1:]} == {"eva"}
    assert all(line[5] for line in disagreements[1:] if line[4] != "not found")
    monkeypatch.setattr(terminal, "is_terminal", lambda _: True)
    assert f"Sheets for {CELL} of " in cli("annotate", "agree", run_folder, ana).out


def test_problems_and_warnings_are_said(cli: Any, run_folder: Path, template: Path, tmp_path: Path) -> None:
    ana = fill(template, tmp_path / "ana.csv", read)
    shutil.copy(ana, tmp_path / "copy.csv")
    shutil.copy(ana, tmp_path / "same.csv")
    with ana.open("a", encoding="utf-8") as file:
        file.write("999999,x,y,Y,M,\n" * 13)
    first, *rest, last = cli("annotate", "agree", run_folder, ana).err.splitlines()
    assert first.startswith(f"{ana}, line {len(rows_of(template)) + 1}: index 999999 ")
    assert len(rest) == annotate.MOST_PROBLEMS - 1
    assert last.startswith(f"{ana}: and 3 more ")
    assert len(cli("annotate", "agree", run_folder, ana, "--json").json["sheets"][0]["problems"]) == 13
    outcome = cli("annotate", "agree", run_folder, tmp_path / "copy.csv", tmp_path / "same.csv")
    assert outcome.exit_code == 0
    assert outcome.err.startswith("warning: copy and same ")


def test_agree_refuses(cli: Any, run_folder: Path, template: Path, tmp_path: Path) -> None:
    ana = fill(template, tmp_path / "ana.csv", read)
    bad = tmp_path / "bad.csv"
    bad.write_text("Index,Sentence\n1,x\n", encoding="utf-8")
    for arguments, token in (
        ((run_folder, template), f"no answers in {template} yet"),
        ((run_folder, tmp_path / "none.csv"), "no such file"),
        ((run_folder,), "no sheet"),
        ((run_folder, ana, ana), f"{ana} is given twice"),
        ((tmp_path / "none", ana), f"{tmp_path / 'none'}"),
        ((run_folder, tmp_path, ana), "--key KEY.json"),
        ((run_folder, bad), f"{bad}, line 1: has no column"),
    ):
        cli("annotate", "agree", *arguments).is_refusal(token)


# -- several systems ---------------------------------------------------------------------------------------------------


@pytest.fixture
def exported(cli: Any, systems: list[Path], tmp_path: Path) -> tuple[Path, Path]:
    """A blank sheet and its key."""
    paths = tmp_path / "sheet.csv", tmp_path / "key.json"
    assert cli("annotate", "export", *systems, "-o", paths[0], "--key", paths[1]).exit_code == 0
    return paths


def mark(exported: tuple[Path, Path], path: Path, answer: Callable[[int, str], str]) -> Path:
    """A copy of a sheet with an answer by row number and system."""
    header, *rows = rows_of(exported[0])
    whose = {row["row"]: row["system"] for row in json.loads(exported[1].read_text(encoding="utf-8"))["rows"]}
    return write_rows(path, [header, *([*row[:4], answer(int(row[0]), whose[int(row[0])]), ""] for row in rows)])


def test_export_systems(cli: Any, systems: list[Path], tmp_path: Path) -> None:
    sheet, key = tmp_path / "sheet.csv", tmp_path / "key.json"
    command = ("annotate", "export", *systems, "--per-category", "8", "--seed", "3", "-o", sheet, "--key", key)
    outcome = cli(*command)
    assert (outcome.exit_code, outcome.out) == (0, "")
    assert outcome.err.startswith(f"144 rows written to {sheet}: 48 segments of {CONTEXTUAL}, each by 2 systems ")
    folders = f"{systems[0]} {systems[1]}"
    assert f"  gendermark annotate serve {sheet} {folders} --key {key}\n" in outcome.err
    answers = tmp_path / "sheet-answers" / "*.csv"
    assert f"  gendermark annotate agree {folders} --key {key} {answers}\n" in outcome.err
    header, *rows = rows_of(sheet)
    assert header == ["Row", "Context", "Source", "Translation", "Correct gender? [Y/N]", "Comments"]
    assert len(rows) == 144
    assert json.loads(key.read_text(encoding="utf-8"))["seed"] == 3
    before = sheet.read_bytes(), key.read_bytes()
    assert cli(*command).exit_code == 0
    assert (sheet.read_bytes(), key.read_bytes()) == before


def test_export_systems_says_what_is_short_left_out_or_could_not_be_cut(
    cli: Any, systems: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uncut = contextual_run(tmp_path / "whole", "fake:feminine", context="separator:<sep>")
    path = uncut / CONTEXTUAL / "translations.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("<sep>", ""), encoding="utf-8")
    signed_again(uncut)
    whole = gendermark.items("mt-geneval-contextual", "es", data="core")
    loads(monkeypatch, replace(whole, items=(replace(whole.items[0], expected=None), *whole.items[1:])))
    new = ("--per-category", "8", "-o", tmp_path / "s", "--key", tmp_path / "k")
    said = cli("annotate", "export", systems[0], uncut, *new).err.splitlines()[1:4]
    assert said[0].startswith("masculine-in-female-profession: all 7 segments")
    assert said[1] == "left out, gender unknown: 1 segments"
    assert said[2].startswith(f"warning: {uncut}: ")
    assert " 47 answers " in said[2]


def test_export_systems_refuses(cli: Any, systems: list[Path], exported: tuple[Path, Path], tmp_path: Path) -> None:
    new = ("-o", tmp_path / "s.csv", "--key", tmp_path / "k.json")
    ana = mark(exported, tmp_path / "ana.csv", lambda *_: "Y")
    for arguments, token in (
        ((*systems, "-o", new[1]), "--key"),
        ((*systems, "--key", new[3]), "--output"),
        ((*systems, "--per-category", "0", *new), "--per-category"),
        ((systems[0], *new), "at least two systems"),
        ((systems[0], systems[0], *new), "give each system once"),
        ((*systems, "--cell", "mt-geneval-contextual.en-de", *new), f"did you mean '{CONTEXTUAL}'?"),
        ((*systems, "-o", new[1], "--key", new[1]), "must be two files"),
        ((*systems, "--seed", "1", "-o", new[1], "--key", exported[1]), "may be the key of another sheet"),
        ((*systems, "-o", ana, "--key", new[3]), "may contain answers"),
    ):
        cli("annotate", "export", *arguments).is_refusal(token)
    assert not new[1].exists()
    assert not new[3].exists()


def test_agree_systems(cli: Any, systems: list[Path], exported: tuple[Path, Path], tmp_path: Path) -> None:
    ana = mark(exported, tmp_path / "ana.csv", lambda row, system: "NY"[system == "reference" or row % 3 == 0])
    eva = mark(exported, tmp_path / "eva.csv", lambda row, _: "NY"[row % 3 == 0])
    outcome = cli("annotate", "agree", "--key", exported[1], ana, eva, *systems)
    assert (outcome.exit_code, outcome.err) == (0, "")
    people, alphas, accuracies, scores = (
        [line.split("\t") for line in part.splitlines()] for part in outcome.out.split("\n\n")
    )
    assert people[0] == ["sheet", "rows", "answers", "blank", "missing", "problems", "reference correct", "preferred"]
    assert people[1] == ["ana", "144", "144", "0", "0", "0", "48 of 48", "yes"]
    assert people[2][-1] == ""
    assert alphas[0] == ["translations of", "alpha", "low", "high", "rows"]
    assert [line[:2] for line in alphas[1:]] == [["systems", "1.000"], ["reference", alphas[2][1]]]
    assert accuracies[0] == ["translations of", "sub-category", "accuracy", "low", "high", "rows"]
    assert len(accuracies) == 1 + 3 * 7
    assert ["reference", "all", "100.0", "92.6", "100.0", "48 of 48"] in accuracies
    assert scores[0] == ["translations of", "precision", "recall", "F-score", "low", "high", "rows"]
    assert [line[0] for line in scores[1:]] == ["fake:right?p=0.7", "fake:masculine", "mean"]


def test_agree_systems_as_json_in_any_order(
    cli: Any, systems: list[Path], exported: tuple[Path, Path], tmp_path: Path
) -> None:
    sheet, key = exported
    ana = mark(exported, tmp_path / "ana.csv", lambda row, _: "yes" if row % 2 else "0")
    one = cli("annotate", "agree", ana, *systems, "--key", key, "--json")
    other = cli("annotate", "agree", systems[1], ana, sheet, systems[0], "--key", key, "--json")
    assert (one.exit_code, one.err) == (0, "")
    assert other.err == f"left out, no answers yet: {sheet}\n"
    assert one.json == other.json
    assert one.json["preferred"] == "ana"
    assert "alpha" not in {estimate["metric"] for estimate in one.json["estimates"]}
    assert len(cli("annotate", "agree", ana, *systems, "--key", key).out.split("\n\n")) == 3


def test_agree_systems_says_problems(
    cli: Any, systems: list[Path], exported: tuple[Path, Path], tmp_path: Path
) -> None:
    ana = mark(exported, tmp_path / "ana.csv", lambda row, _: "?" if row == 1 else "Y")
    lines = ana.read_text(encoding="utf-8").splitlines()
    ana.write_text("\n".join([*lines[:-1], lines[2]]) + "\n", encoding="utf-8")
    outcome = cli("annotate", "agree", "--key", exported[1], ana, *systems)
    assert outcome.exit_code == 0
    first, second, warning = outcome.err.splitlines()
    assert first.startswith(f"{ana}, line 2: '?' ")
    assert second.startswith(f"{ana}, line 145: ")
    assert warning.endswith(": 1 (144)")


def test_agree_systems_refuses(cli: Any, systems: list[Path], exported: tuple[Path, Path], tmp_path: Path) -> None:
    sheet, key = exported
    ana = mark(exported, tmp_path / "ana.csv", lambda *_: "Y")
    for arguments, token in (
        ((ana, *systems), "--key"),
        (("--key", key), "SHEET"),
        (("--key", key, *systems), "sheet"),
        (("--key", key, sheet, *systems), f"no answers in {sheet} yet"),
        (("--key", key, ana), "no run folder"),
        (("--key", key, ana, systems[0], systems[0]), "give each system once"),
        (("--key", key, ana, ana, *systems), f"{ana} is given twice"),
        (("--key", key, ana, tmp_path / "no", *systems), "no such file"),
        (("--key", ana, ana, *systems), f"{ana} is not JSON"),
        (("--key", systems[0] / "manifest.json", ana, *systems), "is not a key"),
    ):
        cli("annotate", "agree", *arguments).is_refusal(token)


def test_serve_refuses(
    cli: Any, run_folder: Path, systems: list[Path], template: Path, exported: tuple[Path, Path], tmp_path: Path
) -> None:
    sheet, key = exported
    rows = rows_of(sheet)
    rows[1][3] += " Something else."
    changed = write_rows(tmp_path / "changed.csv", rows)
    foreign = fill(template, tmp_path / "foreign.csv", lambda _: ("", ""))
    foreign.write_text(foreign.read_text(encoding="utf-8").replace(" is ", " was "), encoding="utf-8")
    for arguments, token in (
        ((tmp_path / "none.csv",), "no such file"),
        ((template, run_folder, systems[0]), "is from one run"),
        ((template, "--key", key), "export"),
        ((template, tmp_path), "is not a run folder"),
        ((foreign, run_folder), f"{foreign} does not belong to {CELL} in {run_folder}"),
        ((sheet, *systems), "--key KEY.json"),
        ((changed, *systems, "--key", key), f"{key}, which lacks 1 of its {len(rows) - 1:,} rows"),
    ):
        cli("annotate", "serve", *arguments, "--no-open").is_refusal(token)
    outcome = cli("annotate", "serve", template, "--host", "192.0.2.1", "--no-open")
    assert outcome.exit_code == 2
    assert "cannot listen on 192.0.2.1" in outcome.err
