"""Sheets as we write them, and as people really fill them in."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from annotation.cells import FEW, HEADER, F, M, N, make, written
from gendermark.annotation import (
    COLUMNS,
    SampleRow,
    SheetRow,
    agreement,
    draw_sample,
    has_answers,
    read_sheet,
    write_sheet,
)
from gendermark.errors import BadFile, UserError
from gendermark.records import Gender

# -- writing sheets --------------------------------------------------------------------------------------------------


def test_a_sheet_has_the_columns_of_the_paper_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    write_sheet(path, [SampleRow(4, "baker", 'El panadero, "sí".', "The baker.")])
    assert path.read_bytes().startswith(
        b"\xef\xbb\xbfIndex,Entity,Sentence,Find entity? [Y/N],Gender? [M/F/N],Comments"
    )
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    assert rows == [list(COLUMNS), ["4", "baker", 'El panadero, "sí".', "", "", ""]]


def test_the_source_stands_at_the_end(tmp_path: Path) -> None:
    write_sheet(tmp_path / "s.csv", [SampleRow(4, "baker", "El panadero.", "The baker.")], with_source=True)
    rows = list(csv.reader(io.StringIO((tmp_path / "s.csv").read_text(encoding="utf-8-sig"))))
    assert rows == [[*COLUMNS, "Source"], ["4", "baker", "El panadero.", "", "", "", "The baker."]]


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1 vino", "@SUM(A1)", " =1", "\t=1", "＝1", "＠x", "\x00=1", "\u200b=1"]
)
def test_formulas_are_made_inert_and_still_recognised(tmp_path: Path, text: str) -> None:
    cell = make([M], texts=[text], entities=[text])
    write_sheet(tmp_path / "s.csv", draw_sample(*cell, n=1, seed=1))
    row = list(csv.reader(io.StringIO((tmp_path / "s.csv").read_text(encoding="utf-8-sig"))))[1]
    assert row[1:3] == ["'" + text.replace("\0", "")] * 2
    filled = (tmp_path / "s.csv").read_bytes().decode("utf-8-sig").replace(",,,", ",Y,M,")
    (tmp_path / "s.csv").write_text(filled, encoding="utf-8")
    assert agreement(*cell, [read_sheet(tmp_path / "s.csv")], FEW).sheets[0].n_answers == 1


# -- reading sheets --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        HEADER,
        "INDEX,ENTITY,SENTENCE,FIND ENTITY? [Y/N],GENDER? [M/F/N],COMMENTS",
        "Index, Entity , Sentence,Find entity,Gender,Comments",
        "index,entity,sentence,find entity?,gender?,comments",
        "Index,Entity,Sentence,Find entity ? (Y/N),Gender ?  [M / F / N],Comment",
        '"Index","Entity","Sentence","Find entity? [Y/N]","Gender? [M/F/N]","Comments"',
        HEADER + ",,,",
    ],
)
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_header_variants(tmp_path: Path, header: str, start: str, end: str) -> None:
    path = written(tmp_path / "s.csv", "3,baker,El panadero.,Y,M,,,", header=header, start=start, end=end)
    assert read_sheet(path).rows == (SheetRow(2, 3, "baker", "El panadero.", True, M),)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("sep_line", [False, True])
def test_separators(tmp_path: Path, delimiter: str, sep_line: bool) -> None:
    lines = [delimiter.join(COLUMNS), delimiter.join(("3", "baker", '"Sí, no; ""a""."', "Y", "F", "a"))]
    lines = [f"sep={delimiter}", *lines] if sep_line else lines
    (tmp_path / "s.csv").write_text("\n".join(lines), encoding="utf-8")
    assert read_sheet(tmp_path / "s.csv").rows == (SheetRow(2 + sep_line, 3, "baker", 'Sí, no; "a".', True, F),)


@pytest.mark.parametrize(
    ("answer", "gender"),
    [
        *((a, M) for a in ("M", "m", " m ", "male", "Male", "masc", "Masc.", "MASCULINE")),
        *((a, F) for a in ("F", "f ", "female", "fem", "feminine")),
        *((a, N) for a in ("N", "n", "neutral", "Neuter", "neut")),
    ],
)
def test_answers(tmp_path: Path, answer: str, gender: Gender) -> None:
    assert read_sheet(written(tmp_path / "s.csv", f"3,b,S.,Y,{answer},")).rows[0].gender is gender


@pytest.mark.parametrize("answer", ["M/N", "m/f", "M or F", "male, female", "F & N", "M?F", "M+N"])
def test_double_answers_are_none(tmp_path: Path, answer: str) -> None:
    (row,) = read_sheet(written(tmp_path / "s.csv", f'3,b,S.,Y,"{answer}",')).rows
    assert (row.gender, row.problem) == (None, f"{answer!r} is more than one answer; not counted")
    assert not row.is_blank


@pytest.mark.parametrize("answer", ["?", "x", "unknown", "M/x", "3"])
def test_what_is_not_understood_is_said(tmp_path: Path, answer: str) -> None:
    (row,) = read_sheet(written(tmp_path / "s.csv", f"3,b,S.,Y,{answer},")).rows
    assert (row.gender, row.problem) == (None, f"{answer!r} is not M, F or N; not counted")


def test_find_entity(tmp_path: Path) -> None:
    path = written(tmp_path / "s.csv", "1,b,S.,yes,M,", "2,b,S.,n,M,", "3,b,S.,No,,", "4,b,S.,,F,", "5,b,S.,hm,F,")
    rows = read_sheet(path).rows
    assert [(row.found, row.gender) for row in rows] == [
        (True, M),
        (False, None),
        (False, None),
        (None, F),
        (None, None),
    ]
    assert rows[4].problem == "'hm' under 'Find entity? [Y/N]' is neither Y nor N; not counted"


def test_blank_lines_short_rows_and_remarks(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s.csv", "", "1,b,S.,Y,M", ",,,,,", "2,b", "  ", '3,b,S.,Y,F,"two\nlines"', ",,,,,done", "4,b,S.,Y,N"
    )
    rows = read_sheet(path).rows
    assert [(row.line, row.index, row.gender) for row in rows] == [
        (3, 1, M), (5, 2, None), (7, 3, F), (9, None, None), (10, 4, N),
    ]  # fmt: skip


def test_an_index_as_spreadsheets_write_it(tmp_path: Path) -> None:
    assert read_sheet(written(tmp_path / "s.csv", "12.0,b,S.,Y,M,")).rows[0].index == 12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; a sheet begins with the columns Index, Entity"),
        ("\n\n", "is empty; a sheet begins with the columns Index, Entity"),
        ("Index,Sentence\n1,S.\n", ", line 1: has no column 'Gender? [M/F/N]'; a sheet begins with Index, Entity"),
        ("\nGender,Entity\nM,x\n", ", line 2: has neither a column 'Index' nor 'Sentence' to tell which item a row is"),
        ("Index,Gender,gender?\n1,M,M\n", ", line 1: has two columns 'gender?'; leave one"),
        (f"{HEADER}\n1,b,S.,Y,M,\nx,b,S.,Y,M,\n", ", line 3: has the index 'x', which is not a whole number"),
        (f"{HEADER}\n-1,b,S.,Y,M,\n", ", line 2: has the index '-1', which is not a whole number"),
        (f"{HEADER}\n,b,,Y,M,\n", ", line 2: has an answer but neither index nor sentence to tell which item it is"),
        (f"{HEADER}\n1,b,Sí, no,Y,M,x\n", ", line 2: has 7 cells under 6 columns; put sentences that contain"),
        (
            f'{HEADER}\n1,b,S.,Y,M,\n2,b,"S.,Y,M,\n3,b,S.,Y,M,\n',
            ", line 3: is not CSV (unexpected end of data); save it",
        ),
        (f'{HEADER}\n1,b,"S" x,Y,M,\n', ", line 2: is not CSV ("),
    ],
)
def test_unusable_sheets_are_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile) as caught:
        read_sheet(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_spreadsheets_and_other_encodings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "s.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(BadFile, match=r"s\.xlsx: is a spreadsheet; save it as CSV \(UTF-8\)"):
        read_sheet(tmp_path / "s.xlsx")
    (tmp_path / "s.csv").write_bytes(f"{HEADER}\n1,b,Sí.,Y,M,\n".encode("utf-16"))
    with pytest.raises(BadFile, match="is UTF-16; save it as UTF-8"):
        read_sheet(tmp_path / "s.csv")
    (tmp_path / "s.csv").write_bytes(f"{HEADER}\n1,b,Sí.,Y,M,\n".encode("latin-1"))
    with pytest.raises(BadFile, match="line 2: byte 0xed is not UTF-8"):
        read_sheet(tmp_path / "s.csv")
    with pytest.raises(BadFile, match="there is no such file"):
        read_sheet(tmp_path / "none.csv")


@pytest.mark.parametrize("lines", [[], ["1,b,S.,,,"], ["1,b,S.,Y,,", "2,b,S.,,,note"]])
def test_a_blank_template(tmp_path: Path, lines: list[str]) -> None:
    path = written(tmp_path / "s.csv", *lines)
    with pytest.raises(UserError) as caught:
        read_sheet(path)
    assert str(caught.value) == f"no answers in {path} yet; write M, F or N into its column 'Gender? [M/F/N]'"
    assert not has_answers(path)


def test_a_damaged_sheet_counts_as_somebodys_work(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_bytes(f"{HEADER}\n1,b,Sí.,Y,M,\n".encode("latin-1"))
    assert has_answers(tmp_path / "s.csv")
