"""`gendermark annotate export`, `agree`, `export-systems` and `agree-systems`, and `gendermark data convert`."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gendermark
from annotation.lineups import loads
from gendermark.cli import annotate, terminal
from made_runs import without_sums

CELL = "tgbi.ko-en"
HEADER = ["Index", "Entity", "Sentence", "Find entity? [Y/N]", "Gender? [M/F/N]", "Comments"]
PRONOUNS = {"he": "M", "she": "F", "they": "N"}


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run whose judge can be checked by the first word. Not to be written to."""
    directory = tmp_path_factory.mktemp("annotate") / "run"
    selection = gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative",))
    gendermark.run("fake:right?p=0.5", [selection], directory=directory)
    return directory


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def fill(template: Path, path: Path, answer: Callable[[str], Sequence[str]]) -> Path:
    """A copy of a sheet with (found, gender) for each sentence."""
    header, *rows = rows_of(template)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *([*row[:3], *answer(row[2]), ""] for row in rows)])
    return path


def read(sentence: str) -> tuple[str, str]:
    return "Y", PRONOUNS.get(sentence.split()[0].lower(), "")


@pytest.fixture
def template(cli: Any, run_folder: Path, tmp_path: Path) -> Path:
    path = tmp_path / "template.csv"
    assert cli("annotate", "export", run_folder, "--n", "40", "-o", path).exit_code == 0
    return path


# -- export ----------------------------------------------------------------------------------------------------------


def test_export(cli: Any, run_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    outcome = cli("annotate", "export", run_folder, "--n", "20", "-o", path)
    assert (outcome.exit_code, outcome.out) == (0, "")
    assert outcome.err.startswith(f"20 translations of {CELL} written to {path}\n\nNext:\n")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    header, *rows = rows_of(path)
    assert header == HEADER
    assert len(rows) == 20
    assert all(row[3:] == ["", "", ""] and row[1] and row[2] for row in rows)


def test_the_answers_of_the_judge_are_not_in_the_sheet(cli: Any, run_folder: Path, template: Path) -> None:
    text = template.read_text(encoding="utf-8-sig")
    for word in ("masculine", "feminine", "neutral", "judged", "expected"):
        assert word not in text
    judged = {
        row["index"]: row["observed"]
        for row in map(json.loads, (run_folder / CELL / "judgements.jsonl").read_text(encoding="utf-8").splitlines())
    }
    order = [str(judged[int(row[0])]) for row in rows_of(template)[1:]]
    assert len(set(order)) > 1
    assert order != sorted(order)
    assert order != sorted(order, reverse=True)


def test_export_is_seeded(cli: Any, run_folder: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        cli("annotate", "export", run_folder, "--n", "20", "--seed", str(seed), "-o", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()


def test_export_with_source(cli: Any, run_folder: Path, tmp_path: Path) -> None:
    cli("annotate", "export", run_folder, "--cell", CELL, "--with-source", "-o", tmp_path / "s.csv")
    header, *rows = rows_of(tmp_path / "s.csv")
    assert header == [*HEADER, "Source"]
    assert all(row[6] for row in rows)


def test_export_of_more_than_there_are(cli: Any, run_folder: Path, tmp_path: Path) -> None:
    outcome = cli("annotate", "export", run_folder, "--n", "100000", "-o", tmp_path / "s.csv")
    assert outcome.exit_code == 0
    assert "(all there are, fewer than 100,000)" in outcome.err


def test_export_refuses(cli: Any, run_folder: Path, tmp_path: Path, template: Path) -> None:
    cli("annotate", "export", run_folder).is_refusal("--output")
    cli("annotate", "export", run_folder, "--n", "0", "-o", tmp_path / "s.csv").is_refusal("--n")
    cli("annotate", "export", tmp_path, "-o", tmp_path / "s.csv").is_refusal("is not a run folder")
    cli("annotate", "export", run_folder, "--cell", "tgbi.ko-em", "-o", tmp_path / "s.csv").is_refusal(
        f"unknown cell of {run_folder} 'tgbi.ko-em' (did you mean '{CELL}'?)"
    )
    filled = fill(template, tmp_path / "ana.csv", read)
    cli("annotate", "export", run_folder, "-o", filled).is_refusal(
        f"{filled} may hold somebody's answers; choose another name with -o"
    )
    assert cli("annotate", "export", run_folder, "-o", template).exit_code == 0, "a blank one may be written again"


def test_export_of_several_cells_or_none_translated(cli: Any, tmp_path: Path) -> None:
    selections = [gendermark.Selection("tgbi", code, "en", data="core", parts=("negative",)) for code in ("ko", "ja")]
    gendermark.run("fake:silent", selections, directory=tmp_path / "run")
    cli("annotate", "export", tmp_path / "run", "-o", tmp_path / "s.csv").is_refusal(
        "has 2 cells; say which: --cell tgbi.ko-en | tgbi.ja-en"
    )
    cli("annotate", "export", tmp_path / "run", "--cell", CELL, "-o", tmp_path / "s.csv").is_refusal(
        f"{CELL} in {tmp_path / 'run'} has no translation that could be read; all are empty"
    )


# -- agree -----------------------------------------------------------------------------------------------------------


def test_export_fill_agree(cli: Any, run_folder: Path, template: Path, tmp_path: Path) -> None:
    sheet = fill(template, tmp_path / "ana.csv", read)
    outcome = cli("annotate", "agree", run_folder, sheet, "--json")
    assert (outcome.exit_code, outcome.err) == (0, "")
    estimates = {(e["metric"], e["slice"]): e for e in outcome.json["estimates"]}
    assert estimates["agreement", "judge ~ people"]["value"] == 100
    assert estimates["kappa", "judge ~ people"]["value"] == 1
    assert outcome.json["disagreements"] == []
    assert outcome.json["sheets"][0]["name"] == "ana"


def test_agree_prints_three_tables(cli: Any, run_folder: Path, template: Path, tmp_path: Path) -> None:
    ana = fill(template, tmp_path / "ana.csv", read)
    eva = fill(template, tmp_path / "eva.csv", lambda sentence: ("Y", "M") if len(sentence) % 3 else ("N", "F"))
    outcome = cli("annotate", "agree", run_folder, ana, eva)
    assert outcome.exit_code == 0
    sheets, estimates, disagreements = (part.splitlines() for part in outcome.out.split("\n\n"))
    assert sheets[0].split("\t") == ["sheet", "rows", "answers", "blank", "not found", "judge neither", "problems"]
    assert [line.split("\t")[0] for line in sheets[1:]] == ["ana", "eva"]
    assert estimates[0].split("\t") == ["between", "measure", "value", "low", "high", "items"]
    assert [line.split("\t")[:2] for line in estimates[1:12]] == [
        ["ana ~ eva", "agreement"],
        ["ana ~ eva", "kappa"],
        ["people", "alpha"],
        *([f"judge ~ {who}", measure] for who in ("ana", "eva") for measure in ("agreement", "kappa", "alpha")),
        ["judge ~ people", "agreement"],
        ["judge ~ people", "kappa"],
    ]
    assert ["judge ~ ana", "agreement", "100.0"] in [line.split("\t")[:3] for line in estimates]
    columns = ["index", "entity", "person", "answer", "automatic", "deciding words", "translation"]
    assert disagreements[0].split("\t") == columns
    assert {line.split("\t")[2] for line in disagreements[1:]} == {"eva"}
    assert all(line.split("\t")[5] for line in disagreements[1:] if line.split("\t")[4] != "not found")


def test_agree_is_drawn_on_a_terminal(
    cli: Any, run_folder: Path, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = fill(template, tmp_path / "ana.csv", lambda _: ("Y", "M"))
    monkeypatch.setattr(terminal, "is_terminal", lambda stream: stream is sys.stdout)
    outcome = cli("annotate", "agree", run_folder, sheet)
    assert f"Sheets for {CELL} of " in outcome.out
    assert "Read differently: " in outcome.out


def test_problems_and_warnings_are_said(cli: Any, run_folder: Path, template: Path, tmp_path: Path) -> None:
    ana = fill(template, tmp_path / "ana.csv", read)
    shutil.copy(ana, tmp_path / "copy.csv")
    with ana.open("a", encoding="utf-8") as file:
        file.write("999999,x,y,Y,M,\n" * 13)
    first, *rest, last = cli("annotate", "agree", run_folder, ana).err.splitlines()
    line = len(rows_of(template)) + 1
    assert first == f"{ana}, line {line}: index 999999 is not in {CELL} of this run; not counted"
    assert len(rest) == annotate.MOST_PROBLEMS - 1
    assert last == f"{ana}: and 3 more lines like these; --json has them all"
    assert len(cli("annotate", "agree", run_folder, ana, "--json").json["sheets"][0]["problems"]) == 13

    shutil.copy(tmp_path / "copy.csv", tmp_path / "same.csv")
    outcome = cli("annotate", "agree", run_folder, tmp_path / "copy.csv", tmp_path / "same.csv")
    assert outcome.exit_code == 0
    assert outcome.err == "warning: copy and same have the same rows and answers; if one is a copy, leave it out\n"


def test_a_blank_sheet_is_left_out(cli: Any, run_folder: Path, template: Path, tmp_path: Path) -> None:
    ana = fill(template, tmp_path / "ana.csv", read)
    outcome = cli("annotate", "agree", run_folder, template, ana, "--json")
    assert (outcome.exit_code, outcome.err) == (0, f"left out, as nothing is answered in it yet: {template}\n")
    assert [sheet["name"] for sheet in outcome.json["sheets"]] == ["ana"]


def test_agree_refuses(cli: Any, run_folder: Path, template: Path, tmp_path: Path) -> None:
    cli("annotate", "agree", run_folder, template).is_refusal(f"no answers in {template} yet")
    cli("annotate", "agree", run_folder, tmp_path / "none.csv").is_refusal("there is no such file")
    cli("annotate", "agree", run_folder).is_refusal("SHEET")
    ana = fill(template, tmp_path / "ana.csv", read)
    cli("annotate", "agree", run_folder, ana, ana).is_refusal(f"{ana} is given twice; give each person's sheet once")
    cli("annotate", "agree", tmp_path / "none", ana).is_refusal("there is no such directory")
    bad = tmp_path / "bad.csv"
    bad.write_text("Index,Sentence\n1,x\n", encoding="utf-8")
    cli("annotate", "agree", run_folder, bad).is_refusal(f"{bad}, line 1: has no column 'Gender? [M/F/N]'")


# -- several systems -------------------------------------------------------------------------------------------------

CONTEXTUAL = "mt-geneval-contextual.en-es"


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Run folders of two systems. Not to be written to."""
    base = tmp_path_factory.mktemp("systems")
    for name, spec in (("one", "fake:right?p=0.7"), ("two", "fake:masculine")):
        gendermark.run(spec, ["mt-geneval-contextual"], "es", directory=base / name, data="core")
    return [base / "one", base / "two"]


@pytest.fixture
def exported(cli: Any, systems: list[Path], tmp_path: Path) -> tuple[Path, Path]:
    """A blank sheet and its key."""
    paths = tmp_path / "sheet.csv", tmp_path / "key.json"
    assert cli("annotate", "export-systems", *systems, "-o", paths[0], "--key", paths[1]).exit_code == 0
    return paths


def mark(exported: tuple[Path, Path], path: Path, answer: Callable[[int, str], str]) -> Path:
    """A copy of a sheet with an answer by row number and system."""
    header, *rows = rows_of(exported[0])
    whose = {row["row"]: row["system"] for row in json.loads(exported[1].read_text(encoding="utf-8"))["rows"]}
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = ([*row[:4], answer(int(row[0]), whose[int(row[0])]), ""] for row in rows)
        csv.writer(file).writerows([header, *lines])
    return path


def test_export_systems(cli: Any, systems: list[Path], tmp_path: Path) -> None:
    sheet, key = tmp_path / "sheet.csv", tmp_path / "key.json"
    command = ("annotate", "export-systems", *systems, "--per-category", "8", "--seed", "3", "-o", sheet, "--key", key)
    outcome = cli(*command)
    assert (outcome.exit_code, outcome.out) == (0, "")
    assert outcome.err.startswith(
        f"144 rows written to {sheet}: 48 segments of {CONTEXTUAL}, each by 2 systems and a hidden reference\n"
    )
    folders = f"{systems[0]} {systems[1]}"
    assert f"  gendermark annotate serve {sheet} --key {key} {folders} " in outcome.err
    answers = tmp_path / "sheet-answers" / "*.csv"
    assert f"  gendermark annotate agree-systems --key {key} {answers} {folders} " in outcome.err
    assert outcome.err.endswith(f"Show nobody {key}.\n")
    header, *rows = rows_of(sheet)
    assert header == ["Row", "Context", "Source", "Translation", "Correct gender? [Y/N]", "Comments"]
    assert len(rows) == 144
    assert json.loads(key.read_text(encoding="utf-8"))["seed"] == 3
    before = sheet.read_bytes(), key.read_bytes()
    assert cli(*command).exit_code == 0
    assert (sheet.read_bytes(), key.read_bytes()) == before


def test_export_systems_says_what_is_short_or_left_out(
    cli: Any, systems: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = gendermark.items("mt-geneval-contextual", "es", data="core")
    items = (replace(whole.items[0], expected=None), *whole.items[1:])
    loads(monkeypatch, replace(whole, items=items))
    outcome = cli(
        "annotate", "export-systems", *systems, "--per-category", "8", "-o", tmp_path / "s", "--key", tmp_path / "k"
    )
    assert outcome.err.splitlines()[1:3] == [
        "masculine-in-female-profession: all 7 segments there are, fewer than 8",
        "left out, gender unknown: 1 segments",
    ]


def test_export_systems_says_what_could_not_be_cut(cli: Any, systems: list[Path], tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    gendermark.run(
        "fake:feminine", ["mt-geneval-contextual"], "es", directory=whole, data="core", context="separator:<sep>"
    )
    path = without_sums(whole) / CONTEXTUAL / "translations.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("<sep>", ""), encoding="utf-8")
    outcome = cli(
        "annotate", "export-systems", systems[0], whole, "--per-category", "2", "-o", tmp_path / "s",
        "--key", tmp_path / "k",
    )  # fmt: skip
    assert outcome.err.splitlines()[1] == (
        f"warning: {whole}: answers shown whole, as their sentence was not found in them: 12"
    )


def test_export_systems_refuses(cli: Any, systems: list[Path], exported: tuple[Path, Path], tmp_path: Path) -> None:
    new = ("-o", tmp_path / "s.csv", "--key", tmp_path / "k.json")
    cli("annotate", "export-systems", *systems, "-o", tmp_path / "s.csv").is_refusal("--key")
    cli("annotate", "export-systems", *systems, "--key", tmp_path / "k.json").is_refusal("--output")
    cli("annotate", "export-systems", *systems, "--per-category", "0", *new).is_refusal("--per-category")
    cli("annotate", "export-systems", systems[0], *new).is_refusal("at least two systems")
    cli("annotate", "export-systems", systems[0], systems[0], *new).is_refusal("give each system once")
    cli("annotate", "export-systems", systems[0], tmp_path, *new).is_refusal("is not a run folder")
    cli("annotate", "export-systems", *systems, "--cell", "mt-geneval-contextual.en-de", *new).is_refusal(
        f"did you mean '{CONTEXTUAL}'?"
    )
    cli("annotate", "export-systems", *systems, "-o", new[1], "--key", new[1]).is_refusal("must be two files")
    cli("annotate", "export-systems", *systems, "--seed", "1", "-o", new[1], "--key", exported[1]).is_refusal(
        f"{exported[1]} may be the key of another sheet; choose another name with --key"
    )
    ana = mark(exported, tmp_path / "ana.csv", lambda *_: "Y")
    cli("annotate", "export-systems", *systems, "-o", ana, "--key", new[3]).is_refusal(
        f"{ana} may hold somebody's answers; choose another name with -o"
    )
    assert not new[1].exists()
    assert not new[3].exists()


def test_agree_systems(cli: Any, systems: list[Path], exported: tuple[Path, Path], tmp_path: Path) -> None:
    ana = mark(exported, tmp_path / "ana.csv", lambda row, system: "NY"[system == "reference" or row % 3 == 0])
    eva = mark(exported, tmp_path / "eva.csv", lambda row, _: "NY"[row % 3 == 0])
    outcome = cli("annotate", "agree-systems", "--key", exported[1], ana, eva, *systems)
    assert (outcome.exit_code, outcome.err) == (0, "")
    people, alphas, accuracies, scores = (
        [line.split("\t") for line in part.splitlines()] for part in outcome.out.split("\n\n")
    )
    assert people[0] == ["sheet", "rows", "answers", "blank", "missing", "problems", "reference correct", "preferred"]
    assert people[1] == ["ana", "144", "144", "0", "0", "0", "48 of 48", "yes"]
    assert people[2][-1] == ""
    assert alphas[0] == ["translations of", "alpha", "low", "high", "rows"]
    assert [line[0] for line in alphas[1:]] == ["systems", "reference"]
    assert alphas[1][1] == "1.000"
    assert accuracies[0] == ["translations of", "sub-category", "accuracy", "low", "high", "rows"]
    assert len(accuracies) == 1 + 3 * 7
    assert ["reference", "all", "100.0", "92.6", "100.0", "48 of 48"] in accuracies
    assert scores[0] == ["translations of", "precision", "recall", "F-score", "low", "high", "rows"]
    assert [line[0] for line in scores[1:]] == ["fake:right?p=0.7", "fake:masculine", "mean"]


def test_agree_systems_as_json_in_any_order(
    cli: Any, systems: list[Path], exported: tuple[Path, Path], tmp_path: Path
) -> None:
    ana = mark(exported, tmp_path / "ana.csv", lambda row, _: "yes" if row % 2 else "0")
    one = cli("annotate", "agree-systems", ana, *systems, "--key", exported[1], "--json")
    other = cli("annotate", "agree-systems", systems[1], ana, systems[0], "--key", exported[1], "--json")
    assert (one.exit_code, one.err) == (0, "")
    assert one.json == other.json
    assert one.json["preferred"] == "ana"
    assert "alpha" not in {estimate["metric"] for estimate in one.json["estimates"]}
    people, accuracies, _ = cli("annotate", "agree-systems", ana, *systems, "--key", exported[1]).out.split("\n\n")
    assert people.startswith("sheet\t")
    assert accuracies.startswith("translations of\tsub-category")


def test_agree_systems_says_problems(
    cli: Any, systems: list[Path], exported: tuple[Path, Path], tmp_path: Path
) -> None:
    ana = mark(exported, tmp_path / "ana.csv", lambda row, _: "?" if row == 1 else "Y")
    lines = ana.read_text(encoding="utf-8").splitlines()
    ana.write_text("\n".join([*lines[:-1], lines[2]]) + "\n", encoding="utf-8")
    outcome = cli("annotate", "agree-systems", "--key", exported[1], ana, *systems)
    assert outcome.exit_code == 0
    assert outcome.err.splitlines() == [
        f"{ana}, line 2: '?' is neither Y nor N; not counted",
        f"{ana}, line 145: is row 2 again, as in line 3; the later answer counts",
        "warning: ana lacks this number of rows: 1 (144)",
    ]


def test_a_blank_sheet_of_several_systems_is_left_out(
    cli: Any, systems: list[Path], exported: tuple[Path, Path], tmp_path: Path
) -> None:
    sheet, key = exported
    ana = mark(exported, tmp_path / "ana.csv", lambda *_: "Y")
    outcome = cli("annotate", "agree-systems", "--key", key, sheet, ana, *systems, "--json")
    assert outcome.exit_code == 0
    assert f"left out, as nothing is answered in it yet: {sheet}\n" in outcome.err
    assert [one["name"] for one in outcome.json["evaluators"]] == ["ana"]


def test_serve_refuses_the_key_of_another_sheet(
    cli: Any, systems: list[Path], exported: tuple[Path, Path], tmp_path: Path
) -> None:
    sheet, key = exported
    rows = rows_of(sheet)
    rows[1][3] += " Something else."
    changed = tmp_path / "changed.csv"
    with changed.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    cli("annotate", "serve", changed, *systems, "--key", key, "--no-open").is_refusal(
        f"{changed} is not the sheet of {key}: 1 of its {len(rows) - 1} rows are not in it; "
        "give the key that was written with it"
    )


def test_export_says_whom_to_ask_about(cli: Any, systems: list[Path], tmp_path: Path) -> None:
    outcome = cli("annotate", "export", systems[0], "--n", "4", "-o", tmp_path / "s.csv")
    assert outcome.err.startswith(
        f"{CONTEXTUAL} names no entity: ask people which gender the words have that mark the person whom the sentence "
        "is about\n"
    )
    assert {row[1] for row in rows_of(tmp_path / "s.csv")[1:]} == {"the person whom the sentence is about"}


def test_agree_systems_refuses(cli: Any, systems: list[Path], exported: tuple[Path, Path], tmp_path: Path) -> None:
    sheet, key = exported
    ana = mark(exported, tmp_path / "ana.csv", lambda *_: "Y")
    cli("annotate", "agree-systems", ana, *systems).is_refusal("--key")
    cli("annotate", "agree-systems", "--key", key).is_refusal("SHEET|DIR")
    cli("annotate", "agree-systems", "--key", key, *systems).is_refusal("no sheet is given")
    cli("annotate", "agree-systems", "--key", key, sheet, *systems).is_refusal(f"no answers in {sheet} yet")
    cli("annotate", "agree-systems", "--key", key, ana).is_refusal(
        "no run folder of fake:right?p=0.7, fake:masculine is given"
    )
    cli("annotate", "agree-systems", "--key", key, ana, systems[0]).is_refusal(
        "no run folder of fake:masculine is given"
    )
    cli("annotate", "agree-systems", "--key", key, ana, ana, *systems).is_refusal(f"{ana} is given twice")
    cli("annotate", "agree-systems", "--key", key, ana, tmp_path / "no", *systems).is_refusal("there is no such file")
    cli("annotate", "agree-systems", "--key", ana, ana, *systems).is_refusal(f"{ana}: is not JSON")
    cli("annotate", "agree-systems", "--key", systems[0] / "manifest.json", ana, *systems).is_refusal("is not a key")
    ana.write_text("Row,Correct gender?\nfirst,Y\n", encoding="utf-8")
    cli("annotate", "agree-systems", "--key", key, ana, *systems).is_refusal(
        f"{ana}, line 2: has the row number 'first', which is not a whole number"
    )


# -- data convert ----------------------------------------------------------------------------------------------------


def test_convert(cli: Any, tmp_path: Path) -> None:
    bias = tmp_path / "bias.txt"
    bias.write_text("1 [The welder] greeted the florist while [she] sang.\n\n", encoding="utf-8")
    wanted = "female\t1\tThe welder greeted the florist while she sang.\twelder\n"
    assert cli("data", "convert", "winobias", bias).out == wanted
    outcome = cli("data", "convert", "winobias", bias, "-o", tmp_path / "out.txt")
    assert (outcome.exit_code, outcome.out) == (0, "")
    assert outcome.err == f"1 sentences written to {tmp_path / 'out.txt'}\n"
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == wanted
    gender = tmp_path / "gender.tsv"
    gender.write_text("sentid\tsentence\nwelder.someone.1.male.txt\tThe welder met someone.\n", encoding="utf-8")
    assert cli("data", "convert", "winogender", gender).out == "male\t3\tThe welder met someone.\tsomeone\n"


def test_convert_refuses(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    cli("data", "convert", "winobias", path).is_refusal("there is no such file")
    path.write_text("1 Nobody.\n", encoding="utf-8")
    cli("data", "convert", "winobiass", path).is_refusal("unknown kind of file 'winobiass' (did you mean 'winobias'?)")
    cli("data", "convert", "winobias", path).is_refusal(f"{path}, line 1: has 0 of the two brackets")
    path.write_text("sentid\tsentence\n", encoding="utf-8")
    cli("data", "convert", "winogender", path).is_refusal(f"{path}: has no sentences")
