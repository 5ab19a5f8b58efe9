"""`gendermark annotate export` and `agree`, and `gendermark data convert`."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

import gendermark
from gendermark.cli import annotate, terminal
from gendermark.cli.convert import convert

CELL = "tgbi.ko-en"
HEADER = ["Index", "Entity", "Sentence", "Find entity? [Y/N]", "Gender? [M/F/N]", "Comments"]
PRONOUNS = {"he": "M", "she": "F", "they": "N"}

# The two verbs alone, so that these tests hold however they are wired into the whole.
_data = typer.Typer()
_data.command("convert")(convert)
_app = typer.Typer()
_app.add_typer(annotate.app, name="annotate")
_app.add_typer(_data, name="data")


@pytest.fixture(autouse=True)
def _only_these(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["gendermark.cli.app"], "app", _app)


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
    assert outcome.err == (
        f"20 translations of {CELL} written to {path}; give each person a copy, "
        f"then: gendermark annotate agree {run_folder} SHEET.csv ...\n"
    )
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
