"""mGeNTE files: rows as items, in each format, or refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gendermark.data.own import read_mgente
from gendermark.errors import BadFile
from gendermark.records import Gender

HEADER = ("ID", "Europarl_ID", "SET", "SRC", "REF-G", "REF-N", "COMMON", "GENDER")
ROWS = (
    ("1", "a1", "Set-G", "The baker and her son left.", "La fornaia e il figlio.", "Chi fa il pane.", "yes", "F"),
    ("2", "a2", "Set-G", "Mr Field, the speaker, left.", "L'oratore, Field.", "Chi ha parlato, Field.", "no", "M"),
    (
        "3",
        "a3",
        "Set-N",
        'The citizens said "no".',
        "I cittadini hanno detto no.",
        "La cittadinanza ha detto no.",
        "",
        "",
    ),
)


def _tsv(path: Path, rows: tuple[tuple[str, ...], ...] = ROWS, header: tuple[str, ...] = HEADER) -> Path:
    file = path / "mgente.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in (header, *rows)), encoding="utf-8")
    return file


def _changed(number: int, column: str, value: str) -> tuple[tuple[str, ...], ...]:
    """The rows with one cell changed."""
    cell = HEADER.index(column)
    row = ROWS[number]
    return (*ROWS[:number], (*row[:cell], value, *row[cell + 1 :]), *ROWS[number + 1 :])


def test_rows_are_items(tmp_path: Path) -> None:
    items = read_mgente(_tsv(tmp_path))
    assert [item.item_id for item in items] == ["mgente-1", "mgente-2", "mgente-3"]
    assert [item.index for item in items] == [0, 1, 2]
    assert [item.expected for item in items] == [Gender.FEMININE, Gender.MASCULINE, Gender.NEUTRAL]
    assert [item.tags["source"] for item in items] == ["unambiguous", "unambiguous", "ambiguous"]
    assert [item.tags["set"] for item in items] == ["Set-G", "Set-G", "Set-N"]
    assert items[0].source == "The baker and her son left."
    assert items[0].tags["reference_gendered"] == "La fornaia e il figlio."
    assert items[0].tags["reference_neutral"] == "Chi fa il pane."
    assert len({item.group_id for item in items}) == 3


def test_formats_say_the_same(tmp_path: Path) -> None:
    expected = read_mgente(_tsv(tmp_path))
    csv = tmp_path / "mgente.csv"
    csv.write_text(
        "".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\r\n" for row in (HEADER, *ROWS)),
        encoding="utf-8-sig",
    )
    assert read_mgente(csv) == expected
    jsonl = tmp_path / "mgente.jsonl"
    objects = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
    jsonl.write_text("".join(json.dumps({**row, "ID": int(row["ID"])}) + "\n\n" for row in objects), encoding="utf-8")
    assert read_mgente(jsonl) == expected
    jsonl.write_text("".join(json.dumps({**row, "GENDER": row["GENDER"] or None}) + "\n" for row in objects))
    assert read_mgente(jsonl) == expected
    # Spreadsheets quote a cell of a TSV that has quotation marks, and double those.
    quoted = _tsv(tmp_path, _changed(2, "SRC", '"The citizens said ""no""."'))
    assert read_mgente(quoted) == expected
    # A sentence between quotation marks keeps them.
    assert read_mgente(_tsv(tmp_path, _changed(2, "SRC", '"We go."')))[2].source == '"We go."'


def test_a_cell_of_csv_may_have_line_breaks(tmp_path: Path) -> None:
    file = tmp_path / "mgente.csv"
    file.write_text('ID,SET,SRC,REF-G,REF-N,GENDER\n1,Set-G,"One,\ntwo.",g,n,F\n2,Set-X,s,g,n,F\n', encoding="utf-8")
    with pytest.raises(BadFile, match=r"line 4: is of the set 'Set-X'"):
        read_mgente(file)


def test_names_of_columns_and_values_in_any_case(tmp_path: Path) -> None:
    header = ("id", "europarl_id", "Set", " src ", "ref_g", "Ref N", "common", "gender")
    rows = tuple((*row[:2], row[2].lower().replace("-", "_"), *row[3:7], row[7].lower()) for row in ROWS)
    assert read_mgente(_tsv(tmp_path, rows, header)) == read_mgente(_tsv(tmp_path))
    letters = tuple((*row[:2], row[2][-1], *row[3:7], {"F": "Female", "M": "male"}.get(row[7], "-")) for row in ROWS)
    assert read_mgente(_tsv(tmp_path, letters)) == read_mgente(_tsv(tmp_path))


def test_several_neutral_references(tmp_path: Path) -> None:
    header = ("ID", "SET", "SRC", "REF-G", "REF-N1", "REF-N2", "REF-N3", "GENDER")
    items = read_mgente(_tsv(tmp_path, (("1", "Set-N", "s", "g", "one", "two", "", ""),), header))
    assert items[0].tags["reference_neutral"] == "one"
    assert items[0].tags["reference_neutral_2"] == "two"
    assert "reference_neutral_3" not in items[0].tags


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (_changed(1, "SET", "Set-X"), "line 3: is of the set 'Set-X'; available: Set-G, Set-N"),
        (_changed(1, "GENDER", ""), "line 3: has the gender '', but a row of Set-G has M or F"),
        (_changed(0, "GENDER", "x"), "line 2: has the gender 'x', but a row of Set-G has M or F"),
        (_changed(2, "SRC", " "), "line 4: has a row without a source"),
        (_changed(2, "ID", ""), "line 4: has a row without an id"),
        (_changed(2, "REF-G", ""), "line 4: has a row without a gendered reference"),
        (_changed(2, "REF-N", ""), "line 4: has a row without a neutral reference"),
        (_changed(2, "ID", "1"), "line 4: has the id '1' of line 2; each row needs its own"),
        ((ROWS[0], ROWS[1][:5]), "line 3: has 5 cells, but the header has 8; no cell may hold a tab"),
        ((), "has no rows; expected a header and a row for each sentence, or a JSON object for each"),
    ],
)
def test_refusals(tmp_path: Path, rows: tuple[tuple[str, ...], ...], message: str) -> None:
    file = _tsv(tmp_path, rows)
    with pytest.raises(BadFile) as refused:
        read_mgente(file)
    separator = ", " if message.startswith("line") else ": "
    assert str(refused.value) == f"{file}{separator}{message}"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.tsv", "", ": has no rows; expected a header and a row for each sentence, or a JSON object for each"),
        ("x.jsonl", "", ": has no rows; expected a header and a row for each sentence, or a JSON object for each"),
        ("x.tsv", "SRC\tREF\na\tb\n", ", line 2: has no column 'ID', as mGeNTE has; available: SRC, REF"),
        (
            "x.csv",
            "ID,SET,SRC,REF-G,GENDER\n1,a,b,c,d\n",
            ", line 2: has no column 'REF-N', as mGeNTE has; available: ID, SET, SRC, REF-G, GENDER",
        ),
        ("x.tsv", "ID\tSET\tSRC\tSRC\n", ", line 1: has two columns 'SRC'; give each its own name"),
        ("x.jsonl", "{}\n", ", line 1: has no column 'ID', as mGeNTE has; available: none"),
        ("x.jsonl", "[1]\n", ", line 1: is not a JSON object"),
        (
            "x.jsonl",
            '{"ID": 1, "SET": "Set-N", "SRC": ["s"], "REF-G": "g", "REF-N": "n", "GENDER": null}\n',
            ", line 1: has no text under 'SRC'",
        ),
        (
            "x.csv",
            'ID,SET,SRC,REF-G,REF-N,GENDER\n1,Set-N,"s,g,n,\n',
            ", line 2: is not CSV (unexpected end of data); close every quotation mark, and double those inside a cell",
        ),
    ],
)
def test_other_files(tmp_path: Path, name: str, content: str, message: str) -> None:
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    with pytest.raises(BadFile) as refused:
        read_mgente(file)
    assert str(refused.value) == f"{file}{message}"


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="there is no such file"):
        read_mgente(tmp_path / "none.tsv")
