"""Sheets as we write them, and as people really fill them in: both kinds."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from annotation.made import FEW, HEADER, LINEUP_HEADER, M, judged, written
from gendermark.annotation.sheets import (
    ANYBODY,
    GENDERS,
    LINEUP,
    Form,
    read_blank,
    read_sheet,
    refuse_to_overwrite,
    write_sheet,
)
from gendermark.errors import BadFile, UserError


def first(path: Path, form: Form = GENDERS) -> tuple[object, ...]:
    row = read_sheet(path, form)[0]
    return row.line, row.number, row.entity, row.text, row.answer


# -- written -----------------------------------------------------------------------------------------------------------


def test_a_sheet_has_the_columns_of_the_paper_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    write_sheet(path, GENDERS.columns, judged([M], texts=['El panadero, "sí".'], entities=["baker"]).draw(1, 1))
    start = b"\xef\xbb\xbfIndex,Entity,Sentence,Find entity? [Y/N],Gender? [M/F/N],Comments"
    assert path.read_bytes().startswith(start)
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    assert rows == [list(GENDERS.columns), ["0", "baker", 'El panadero, "sí".', "", "", ""]]


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1 vino", "@SUM(A1)", " =1", "\t=1", "＝1", "＠x", "\x00=1", "\u200b=1"]
)
def test_formulas_are_made_inert_and_still_recognised(tmp_path: Path, text: str) -> None:
    run, path = judged([M], texts=[text], entities=[text]), tmp_path / "s.csv"
    write_sheet(path, GENDERS.columns, run.draw(1, 1))
    row = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))[1]
    assert row[1:3] == ["'" + text.replace("\0", "")] * 2
    path.write_text(path.read_bytes().decode("utf-8-sig").replace(",,,", ",Y,M,"), encoding="utf-8")
    assert run.agree([path], FEW).content["sheets"][0]["n_answers"] == 1


# -- read --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        HEADER,
        "INDEX,ENTITY,SENTENCE,FIND ENTITY? [Y/N],GENDER? [M/F/N],COMMENTS",
        "Index, Entity , Sentence,Find entity,Gender,Comments",
        "Index,Entity,Sentence,Find entity ? (Y/N),Gender ?  [M / F / N],Comment",
        '"Index","Entity","Sentence","Find entity? [Y/N]","Gender? [M/F/N]","Comments"',
        HEADER + ",,,",
    ],
)
@pytest.mark.parametrize(("start", "end"), [("", "\n"), ("\ufeff", "\r\n"), ("", "\r")])
def test_header_variants(tmp_path: Path, header: str, start: str, end: str) -> None:
    path = written(tmp_path / "s.csv", "3,baker,El panadero.,Y,M,,,", header=header, start=start, end=end)
    assert first(path) == (2, 3, "baker", "El panadero.", "m")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("sep_line", [False, True])
def test_separators(tmp_path: Path, delimiter: str, sep_line: bool) -> None:
    lines = [delimiter.join(GENDERS.columns), delimiter.join(("3.0", "baker", '"Sí, no; ""a""."', "Y", "F", "a"))]
    lines = [f"sep={delimiter}", *lines] if sep_line else lines
    (tmp_path / "s.csv").write_text("\n".join(lines), encoding="utf-8")
    assert first(tmp_path / "s.csv") == (2 + sep_line, 3, "baker", 'Sí, no; "a".', "f")


def test_a_sheet_saved_by_excel(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (GENDERS.columns, (3, "baker", "El panadero.", "Y", "M", None)):
        book.active.append(row)
    book.save(tmp_path / "s.xlsx")
    assert first(tmp_path / "s.xlsx") == (2, 3, "baker", "El panadero.", "m")


@pytest.mark.parametrize(
    ("answers", "key"),
    [
        (("M", "m", " m ", "male", "Male", "masc", "Masc.", "MASCULINE"), "m"),
        (("F", "f ", "female", "fem", "feminine"), "f"),
        (("N", "n", "neutral", "Neuter", "neut"), "n"),
    ],
)
def test_genders_as_people_write_them(tmp_path: Path, answers: tuple[str, ...], key: str) -> None:
    path = written(tmp_path / "s.csv", *(f"3,b,S.,Y,{answer}," for answer in answers))
    assert {(row.answer, row.problem) for row in read_sheet(path, GENDERS)} == {(key, "")}


@pytest.mark.parametrize(
    ("answers", "key"),
    [(("Y", "y", " Yes ", "1", "TRUE", "yes.", "1.0"), "y"), (("N", "n", "NO", "0", "false", "0.0"), "n")],
)
def test_yes_and_no_as_people_write_them(tmp_path: Path, answers: tuple[str, ...], key: str) -> None:
    path = written(tmp_path / "s.csv", *(f"3,,,,{answer}," for answer in answers), header=LINEUP_HEADER)
    assert {(row.answer, row.problem) for row in read_sheet(path, LINEUP)} == {(key, "")}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        *((one, "more than one answer") for one in ("M/N", "m/f", "M or F", "male, female", "F & N", "M?F", "M+N")),
        *((one, "not M, F or N") for one in ("?", "x", "unknown", "M/x", "3")),
    ],
)
def test_what_is_no_answer_is_said(tmp_path: Path, answer: str, reason: str) -> None:
    (row,) = read_sheet(written(tmp_path / "s.csv", f'3,b,S.,Y,"{answer}",'), GENDERS)
    assert (row.answer, row.is_blank) == ("", False)
    assert repr(answer) in row.problem
    assert reason in row.problem


def test_find_entity(tmp_path: Path) -> None:
    path = written(tmp_path / "s.csv", "1,b,S.,yes,M,", "2,b,S.,n,M,", "3,b,S.,No,,", "4,b,S.,,F,", "5,b,S.,hm,F,")
    rows = read_sheet(path, GENDERS)
    assert [row.answer for row in rows] == ["m", "u", "u", "f", ""]
    assert "'hm'" in rows[4].problem


def test_blank_lines_short_rows_and_remarks(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s.csv", "", "1,b,S.,Y,M", ",,,,,", "2,b", "  ", '3,b,S.,Y,F,"two\nlines"', ",,,,,done", "4,b,S.,Y,N"
    )
    found = [(row.line, row.number, row.answer) for row in read_sheet(path, GENDERS)]
    assert found == [(3, 1, "m"), (5, 2, ""), (7, 3, "f"), (10, 4, "n")]


@pytest.mark.parametrize(
    ("form", "text", "line", "token"),
    [
        (GENDERS, "", 0, "empty"),
        (GENDERS, "\n\n", 0, "empty"),
        (GENDERS, "Index,Sentence\n1,S.\n", 1, "Gender? [M/F/N]"),
        (GENDERS, "\nGender,Entity\nM,x\n", 2, "Index or Sentence"),
        (GENDERS, "Index,Gender,gender?\n1,M,M\n", 1, "'gender?'"),
        (GENDERS, f"{HEADER}\n1,b,S.,Y,M,\nx,b,S.,Y,M,\n", 3, "'x'"),
        (GENDERS, f"{HEADER}\n-1,b,S.,Y,M,\n", 2, "'-1'"),
        (GENDERS, f"{HEADER}\n,b,,Y,M,\n", 2, "Index or Sentence"),
        (GENDERS, f"{HEADER}\n1,b,Sí, no,Y,M,x\n", 2, "7 cells under 6 columns"),
        (GENDERS, f'{HEADER}\n1,b,S.,Y,M,\n2,b,"S.,Y,M,\n3,b,S.,Y,M,\n', 3, "CSV"),
        (GENDERS, f'{HEADER}\n1,b,"S" x,Y,M,\n', 2, "CSV"),
        (LINEUP, "", 0, "empty"),
        (LINEUP, "Row,Translation\n1,x\n", 1, "Correct gender? [Y/N]"),
        (LINEUP, "Translation,Correct gender?\nx,Y\n", 1, "Row"),
        (LINEUP, "Row,Row,Correct gender?\n1,1,Y\n", 1, "'Row'"),
        (LINEUP, f"{LINEUP_HEADER}\n1,,,,Y,\nx,,,,Y,\n", 3, "'x'"),
        (LINEUP, f"{LINEUP_HEADER}\n,,,,Y,\n", 2, "Row"),
        (LINEUP, f"{LINEUP_HEADER}\n1,a,b,c,d,Y,z\n", 2, "7 cells under 6 columns"),
        (LINEUP, f'{LINEUP_HEADER}\n1,,,"x,Y,\n', 2, "CSV"),
    ],
)
def test_unusable_sheets(tmp_path: Path, form: Form, text: str, line: int, token: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile) as caught:
        read_sheet(path, form)
    assert (caught.value.path, caught.value.line) == (path, line or None)
    assert token in caught.value.problem
    with pytest.raises(UserError, match="may contain answers"):
        refuse_to_overwrite(path, form)


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        (GENDERS, []),
        (GENDERS, ["1,b,S.,,,"]),
        (GENDERS, ["1,b,S.,Y,,", "2,b,S.,,,note"]),
        (LINEUP, ["1,,,,,", "2,,,x,,note"]),
    ],
)
def test_a_blank_sheet_has_no_answers_and_may_be_overwritten(tmp_path: Path, form: Form, lines: list[str]) -> None:
    path = written(tmp_path / "s.csv", *lines, header=",".join(form.columns))
    with pytest.raises(UserError, match=r"no answers in .* yet") as caught:
        read_sheet(path, form)
    assert form.columns[-2] in str(caught.value)
    refuse_to_overwrite(path, form)


# -- blank, for the page -----------------------------------------------------------------------------------------------

ROWS = ['7,baker,"El panadero, sí.",,,', "3,'=nurse,'=La enfermera.,,,", "9,doctor,הרופאה של Google.,,,"]


def test_what_is_shown(tmp_path: Path) -> None:
    items = read_blank(written(tmp_path / "s.csv", *ROWS)).items()
    assert items[0] == {"text": "El panadero, sí.", "entity": "baker", "direction": "ltr"}
    assert items[1] == {"text": "=La enfermera.", "entity": "=nurse", "direction": "ltr"}, "without our apostrophe"
    assert items[2]["direction"] == "rtl"
    path = written(tmp_path / "t.csv", "7,baker,Pan.,,,,Bread.", header=f"{HEADER},Source")
    assert read_blank(path).items()[0]["source"] == "Bread."
    lines = [";".join(GENDERS.columns), "7;baker;El panadero, sí.;;;", '3;nurse;"La; enfermera.";;;']
    (tmp_path / "u.csv").write_text("\r\n".join(lines), encoding="utf-8-sig")
    assert [item["text"] for item in read_blank(tmp_path / "u.csv").items()] == ["El panadero, sí.", "La; enfermera."]


@pytest.mark.parametrize("entity", ["", ANYBODY])
def test_a_row_that_names_nobody_has_a_question_of_its_own(tmp_path: Path, entity: str) -> None:
    one, other = read_blank(written(tmp_path / "s.csv", f"1,{entity},Llegó cansada.,,,", ROWS[0])).items()
    assert (one["entity"], one["question"]) == ("", "Which gender do the words for the person have?")
    assert other["entity"] == "baker"
    assert not {"question", "hint"} & other.keys()


@pytest.mark.parametrize(
    ("content", "token"),
    [
        ("", "is not a sheet that"),
        ("a,b\n1,2\n", "is not a sheet that"),
        (HEADER, "has no rows"),
        (f"{HEADER}\n1,baker,Pan.,Y,M,\n", "line 2: is filled in already"),
        (f"{HEADER}\n1,baker,Pan.,,,hm\n", "is filled in already"),
        (f"{HEADER}\n1,baker,a,b,c,d,e,f\n", "has 8 cells under 6 columns"),
    ],
)
def test_what_is_no_blank_sheet(tmp_path: Path, content: str, token: str) -> None:
    (tmp_path / "s.csv").write_text(content, encoding="utf-8")
    with pytest.raises(BadFile, match=token):
        read_blank(tmp_path / "s.csv")
