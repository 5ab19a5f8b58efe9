"""Human validation: samples that tell nothing, sheets as people really fill them in, and agreement."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import random
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from inspect import isfunction, signature
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gendermark
from gendermark import annotation, statistics
from gendermark.annotation import (
    COLUMNS,
    SampleRow,
    Sheet,
    SheetRow,
    TranslatedText,
    agreement,
    draw_sample,
    read_cell,
    read_sheet,
    write_sheet,
)
from gendermark.benchmarks.benchmark import Selection
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender, Judgement, Verdict
from gendermark.result import Result

M, F, N = Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL
FEW = Resampling(200)
HEADER = ",".join(COLUMNS)


def make(
    observed: Sequence[Gender | None],
    *,
    expected: Sequence[Gender | None] = (),
    texts: Sequence[str] = (),
    indices: Sequence[int] = (),
    entities: Sequence[str] = (),
) -> tuple[Result, dict[str, TranslatedText]]:
    """A result with these answers of the judge, and its translations: `Texto 0.`, `Texto 1.` ..."""
    judgements, translations = [], {}
    for number, gender in enumerate(observed):
        verdict = Verdict.JUDGED if gender else Verdict.UNJUDGEABLE
        wanted = expected[number] if expected else M
        tags = {"entity": entities[number] if entities else f"worker{number}"}
        index = indices[number] if indices else number
        item_id = f"item-{number:04}"
        evidence = (f"palabra{number}",) if gender else ()
        judgements.append(Judgement(item_id, index, f"g{number}", verdict, wanted, gender, tags, evidence))
        translations[item_id] = TranslatedText(f"Text {number}.", texts[number] if texts else f"Texto {number}.")
    result = Result(Selection("winomt", "en", "es", "core"), "core", "fake", (), judgements, signature="sig")
    return result, translations


def sheet(name: str, answers: Mapping[int, Gender | None]) -> Sheet:
    """A sheet with these answers by index; `None` is "entity not found"."""
    rows = [
        SheetRow(line, index, "", "", gender is not None, gender)
        for line, (index, gender) in enumerate(answers.items(), start=2)
    ]
    return Sheet(f"{name}.csv", tuple(rows))


def written(path: Path, *lines: str, header: str = HEADER, end: str = "\n", start: str = "") -> Path:
    path.write_bytes((start + end.join([header, *lines]) + end).encode())
    return path


# -- the sample ------------------------------------------------------------------------------------------------------


def test_the_sample_is_as_even_as_can_be() -> None:
    observed = [M] * 200 + [F] * 100 + [N] * 3 + [None] * 30
    rows = draw_sample(*make(observed), n=63, seed=1)
    strata = Counter(observed[row.index] for row in rows)
    assert strata == {M: 20, F: 20, N: 3, None: 20}
    assert len({row.index for row in rows}) == 63


def test_expected_and_observed_both_stratify() -> None:
    observed, expected = [M] * 90 + [F] * 10, [M] * 50 + [F] * 50
    rows = draw_sample(*make(observed, expected=expected), n=30, seed=1)
    assert Counter((expected[r.index], observed[r.index]) for r in rows) == {(M, M): 10, (F, M): 10, (F, F): 10}


@given(sizes=st.lists(st.integers(0, 12), min_size=4, max_size=4), n=st.integers(1, 60), seed=st.integers(0, 99))
def test_any_sample_is_even_and_full(sizes: list[int], n: int, seed: int) -> None:
    observed = [g for g, size in zip((M, F, N, None), sizes, strict=True) for _ in range(size)]
    rows = draw_sample(*make(observed), n, seed)
    assert len(rows) == min(n, sum(sizes))
    drawn = Counter(observed[row.index] for row in rows)
    unspent = [drawn[g] for g, size in zip((M, F, N, None), sizes, strict=True) if drawn[g] < size]
    if unspent:  # nobody who could give more gave less than another, but for the remainder
        assert max(drawn.values()) - min(unspent) <= 1


def test_the_sample_is_seeded() -> None:
    cell = make([M, F] * 100)
    assert draw_sample(*cell, n=20, seed=7) == draw_sample(*cell, n=20, seed=7)
    assert draw_sample(*cell, n=20, seed=7) != draw_sample(*cell, n=20, seed=8)


def test_the_order_tells_nothing_of_the_judge() -> None:
    observed: list[Gender | None] = [M, F, N, None] * 10
    shuffled = random.Random(0).sample(observed, len(observed))
    # All are drawn; what the judge said of each does not move a row.
    order = draw_sample(*make(observed), n=40, seed=3)
    assert order == draw_sample(*make(shuffled), n=40, seed=3)
    assert [row.index for row in order] != sorted(row.index for row in order)


def test_empty_translations_are_not_shown() -> None:
    rows = draw_sample(*make([M, None, None], texts=["Uno.", "", "  "]), n=3, seed=1)
    assert [row.sentence for row in rows] == ["Uno."]


def test_rows_that_look_the_same_are_shown_once() -> None:
    rows = draw_sample(*make([M, M, F], indices=[0, 0, 0], texts=["a", "a", "b"], entities=["x"] * 3), n=3, seed=1)
    assert sorted(row.sentence for row in rows) == ["a", "b"]


@pytest.mark.parametrize(
    ("tags", "entity"),
    [
        ({"entity": "baker", "occupation": "x"}, "baker"),
        ({"occupation": "guard", "lexeme": "x"}, "guard"),
        ({"lexeme": "의사"}, "의사"),
        ({"side": "pro"}, ""),
    ],
)
def test_the_entity_is_whatever_the_benchmark_has(tags: dict[str, str], entity: str) -> None:
    assert annotation.entity_of(Judgement("i", 0, "g", Verdict.JUDGED, M, M, tags)) == entity


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


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1 vino", "@SUM(A1)", " =1", "\t=1", "＝1", "＠x"])
def test_formulas_are_made_inert_and_still_recognised(tmp_path: Path, text: str) -> None:
    cell = make([M], texts=[text], entities=[text])
    write_sheet(tmp_path / "s.csv", draw_sample(*cell, n=1, seed=1))
    row = list(csv.reader(io.StringIO((tmp_path / "s.csv").read_text(encoding="utf-8-sig"))))[1]
    assert row[1:3] == [f"'{text}"] * 2
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
    assert not annotation.has_answers(path)


# -- whose row is it -------------------------------------------------------------------------------------------------


def test_without_index_the_sentence_tells(tmp_path: Path) -> None:
    cell = make([M, F], texts=["El  guardia dijo “sí”…", "La guardia."])
    path = written(
        tmp_path / "s.csv",
        "x,La guardia.,F",
        'x,"El guardia dijo ""sí""...",M',
        "x,Nada.,M",
        header="Entity,Sentence,Gender",
    )
    report = agreement(*cell, [read_sheet(path)], FEW)
    assert report.estimate("agreement", "judge ~ people").value == 100
    assert report.sheets[0].problems == (
        annotation.Problem(4, "its sentence is not a translation of winomt.en-es in this run; not counted"),
    )


def test_one_translation_of_several_sources(tmp_path: Path) -> None:
    cell = make([M, M, F], texts=["Igual.", "Igual.", "Otra."])
    path = written(tmp_path / "s.csv", "Igual.,M", "Igual.,F", "Igual.,F", header="Sentence,Gender")
    report = agreement(*cell, [read_sheet(path)], FEW)
    # Two rows are two items; a third is the first again.
    assert report.sheets[0].n_answers == 2
    assert report.sheets[0].problems == (annotation.Problem(4, "answers the item of line 2 again; this one counts"),)


def test_the_entity_tells_where_the_sentence_does_not(tmp_path: Path) -> None:
    cell = make([M, F], texts=["El guardia y la maestra."] * 2, entities=["guard", "teacher"])
    line = "El guardia y la maestra.,{},{}"
    path = written(
        tmp_path / "s.csv", line.format("The Teacher", "F"), line.format("", "F"), header="Sentence,Entity,Gender"
    )
    report = agreement(*cell, [read_sheet(path)], FEW)
    assert report.estimate("agreement", "judge ~ people").value == 100
    problem = "several items of winomt.en-es fit, which the judge read differently; not counted"
    assert report.sheets[0].problems == (annotation.Problem(3, problem),)


def test_an_index_that_stands_twice(tmp_path: Path) -> None:
    cell = make([M, F], indices=[0, 0], texts=["Uno.", "Una."])
    report = agreement(*cell, [read_sheet(written(tmp_path / "s.csv", "0,,Una.,Y,F,", "0,,Uno.,Y,M,"))], FEW)
    assert report.sheets[0].problems == ()
    assert report.estimate("agreement", "judge ~ people").value == 100


def test_the_sentence_is_right_where_the_index_is_not(tmp_path: Path) -> None:
    # Counted from 1, as some do.
    path = written(tmp_path / "s.csv", "1,,Texto 0.,Y,M,", "2,,Texto 1.,Y,F,")
    report = agreement(*make([M, F, F]), [read_sheet(path)], FEW)
    assert (report.sheets[0].n_answers, report.sheets[0].problems) == (2, ())
    assert report.estimate("agreement", "judge ~ people").value == 100


def test_rows_of_another_run_and_duplicates(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s.csv",
        "0,,Texto 0.,Y,F,", "99,,Texto 99.,Y,M,", "1,,Otro.,Y,M,", "0,,Texto 0.,Y,M,", "0,,Texto 0.,,,",
        "1,,Texto 1.,Y,M/N,",
    )  # fmt: skip
    report = agreement(*make([M, M]), [read_sheet(path)], FEW)
    (summary,) = report.sheets
    assert [(problem.line, problem.problem) for problem in summary.problems] == [
        (3, "index 99 is not in winomt.en-es of this run; not counted"),
        (4, "its sentence is not the translation of index 1 in this run; not counted"),
        (5, "answers the item of line 2 again; this one counts"),
        (7, "'M/N' is more than one answer; not counted"),
    ]
    assert (summary.n_rows, summary.n_answers, summary.n_blank) == (6, 1, 1)
    assert report.estimate("agreement", "judge ~ people").value == 100, "the last answer counts, an empty one does not"


def test_a_sheet_of_another_run_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "s.csv", "0,,Texto 0.,,,", "5,,Otro.,Y,M,", "6,,Otro.,Y,M,")
    with pytest.raises(BadFile) as caught:
        agreement(*make([M]), [read_sheet(path)], FEW)
    problem = "index 5 is not in winomt.en-es of this run; not counted, and no other row could be used either"
    assert str(caught.value) == f"{path}, line 3: {problem}"


def test_the_same_sheet_twice(tmp_path: Path) -> None:
    cell = make([M, F])
    one = sheet(str(tmp_path / "one"), {0: M, 1: F})
    with pytest.raises(UserError, match=r"one\.csv is given twice; give each person's sheet once"):
        agreement(*cell, [one, one], FEW)
    copy = dataclasses.replace(one, path=str(tmp_path / "copy.csv"))
    report = agreement(*cell, [one, copy], FEW)
    assert report.warnings == ("one and copy have the same rows and answers; if one is a copy, leave it out",)
    with pytest.raises(UserError, match="no sheets were given"):
        agreement(*cell, [], FEW)


def test_people_are_named_after_their_files() -> None:
    cell = make([M, F])
    for paths, names in (
        (("a/x", "a/y"), ["x", "y"]),
        (("a/x", "b/x"), ["a/x.csv", "b/x.csv"]),
        (("people",), ["people.csv"]),
    ):
        report = agreement(*cell, [sheet(path, {0: M}) for path in paths], FEW)
        assert [summary.name for summary in report.sheets] == names


# -- agreement -------------------------------------------------------------------------------------------------------


def test_not_found_is_reported_apart() -> None:
    report = agreement(*make([M, F, None, None]), [sheet("ana", {0: None, 1: F, 2: None, 3: M})], FEW)
    (summary,) = report.sheets
    assert (summary.n_answers, summary.n_not_found, summary.n_not_found_by_judge) == (2, 2, 1)
    found = report.estimate("agreement", "judge ~ people")
    assert (found.value, found.n_judged, found.n_total) == (100, 1, 2), "the judge said nothing of the other"
    assert [(d.index, d.answer, d.automatic) for d in report.disagreements] == [
        (0, "not found", "masculine"),
        (3, "masculine", "not found"),
    ]


def test_precision_and_recall_by_hand() -> None:
    judge = [M, M, M, F, F, N, None]
    people = {0: M, 1: M, 2: F, 3: F, 4: N, 5: N, 6: F}
    report = agreement(*make(judge), [sheet("ana", people)], FEW)

    def of(metric: str) -> tuple[float | None, int, int]:
        found = report.estimate(metric, "judge ~ people")
        return found.value, found.n_judged, found.n_total

    assert of("precision_masculine") == (pytest.approx(200 / 3), 3, 3)
    assert of("recall_masculine") == (100, 2, 2)
    assert of("precision_feminine") == (50, 2, 2)
    assert of("recall_feminine") == (50, 2, 3), "one of the three has no gender from the judge: counted, not wrong"
    assert of("recall_neutral") == (50, 2, 2)
    low, high = statistics.wilson(2, 3) or (0, 0)
    found = report.estimate("precision_masculine", "judge ~ people")
    assert (found.low, found.high) == (pytest.approx(100 * low), pytest.approx(100 * high))


def test_weights_undo_the_even_sample() -> None:
    # 90 masculine, read right; 10 feminine, read wrong; five of each in the sheet.
    judge: list[Gender | None] = [M] * 90 + [F] * 10
    report = agreement(
        *make(judge), [sheet("ana", {**dict.fromkeys(range(5), M), **dict.fromkeys(range(90, 95), N)})], FEW
    )
    assert report.estimate("agreement", "judge ~ people").value == 50
    weighted = report.estimate("agreement", "judge ~ people, weighted")
    assert weighted.value == pytest.approx(90)
    assert weighted.low is not None
    assert weighted.low < 70 < 95 < (weighted.high or 0), "ten answers are ten answers, whatever they weigh"


def test_the_majority_decides_and_a_tie_does_not() -> None:
    cell = make([M, M, M])
    sheets = [sheet("a", {0: M, 1: M, 2: F}), sheet("b", {0: M, 1: F}), sheet("c", {0: F})]
    report = agreement(*cell, sheets, FEW)
    found = report.estimate("agreement", "judge ~ people")
    assert (found.value, found.n_total) == (50, 2)
    assert report.warnings == ("people are equally divided, so that there is no majority, in this number of items: 1",)


def test_disagreements_come_with_their_evidence() -> None:
    report = agreement(*make([M, F]), [sheet("ana", {0: F, 1: F}), sheet("eva", {0: M, 1: N})], FEW)
    assert report.disagreements == (
        annotation.Disagreement(0, "worker0", "Texto 0.", "ana", "feminine", "masculine", ("palabra0",)),
        annotation.Disagreement(1, "worker1", "Texto 1.", "eva", "neutral", "feminine", ("palabra1",)),
    )


def test_people_who_share_no_item() -> None:
    report = agreement(*make([M, F]), [sheet("ana", {0: M}), sheet("eva", {1: F})], FEW)
    for metric, slice_name in (("agreement", "ana ~ eva"), ("kappa", "ana ~ eva"), ("alpha", "people")):
        found = report.estimate(metric, slice_name)
        assert (found.value, found.low, found.high, found.n_judged, found.n_total) == (None, None, None, 0, 2)


def test_one_answer_to_everything_has_no_kappa_interval() -> None:
    report = agreement(*make([M, F, M, F]), [sheet("ana", dict.fromkeys(range(4), M))], FEW)
    found = report.estimate("kappa", "judge ~ people")
    assert (found.value, found.low, found.high) == (0, None, None)


def test_only_not_found() -> None:
    report = agreement(*make([M]), [sheet("ana", {0: None})], FEW)
    assert {estimate.value for estimate in report.estimates} == {None}


def test_an_estimate_that_is_not_there() -> None:
    report = agreement(*make([M]), [sheet("ana", {0: M})], FEW)
    with pytest.raises(KeyError, match="no estimate kappa:x; there is: agreement:judge ~ people"):
        report.estimate("kappa", "x")


def test_intervals_are_seeded() -> None:
    rng = random.Random(5)
    cell = make([rng.choice((M, F, N)) for _ in range(40)])
    sheets = [sheet("ana", {n: rng.choice((M, F, N)) for n in range(40)})]
    assert agreement(*cell, sheets, Resampling(200, 1)) == agreement(*cell, sheets, Resampling(200, 1))
    assert agreement(*cell, sheets, Resampling(200, 1)) != agreement(*cell, sheets, Resampling(200, 2))


def test_chance_alone_gives_kappa_and_alpha_of_nothing() -> None:
    rng = random.Random(11)
    n = 3000
    cell = make([rng.choice((M, M, F)) for _ in range(n)])
    report = agreement(*cell, [sheet(name, {i: rng.choice((M, M, F)) for i in range(n)}) for name in ("a", "b")], FEW)
    for metric, slice_name in (("kappa", "a ~ b"), ("kappa", "judge ~ a"), ("alpha", "people"), ("alpha", "judge ~ b")):
        found = report.estimate(metric, slice_name)
        assert found.value == pytest.approx(0, abs=0.06)
        assert (found.low or 0) < 0.03
        assert (found.high or 0) > -0.03
    assert report.estimate("agreement", "a ~ b").value == pytest.approx(100 * 5 / 9, abs=4)


def test_to_json_is_plain_and_stable() -> None:
    report = agreement(*make([M, F]), [sheet("ana", {0: F, 1: F}), sheet("eva", {0: None, 1: M})], FEW)
    row = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert list(row) == [
        "cell",
        "system",
        "sheets",
        "estimates",
        "disagreements",
        "warnings",
        "resampling",
        "signature",
    ]
    assert (row["cell"], row["system"], row["signature"]) == ("winomt.en-es", "fake", "sig")
    assert {estimate.signature for estimate in report.estimates} == {"sig"}
    assert row["resampling"] == "item-bootstrap-200,seed-12345,confidence-0.95"
    assert row["disagreements"][0]["evidence"] == ["palabra0"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.cell = "x"  # type: ignore[misc]


GENDERS = st.sampled_from([M, F, N])
ANSWERS = st.lists(st.tuples(GENDERS | st.none(), GENDERS, GENDERS), min_size=1, max_size=25)


def reported(rows: Sequence[tuple[Any, ...]], names: Sequence[str] = ("a", "b")) -> annotation.AgreementReport:
    """The first of each row is the judge, the others are people."""
    cell = make([row[0] for row in rows])
    return agreement(
        *cell, [sheet(name, {i: row[p] for i, row in enumerate(rows)}) for p, name in enumerate(names, 1)], FEW
    )


@given(rows=ANSWERS)
def test_values_are_those_of_the_statistics_and_lie_in_their_intervals(rows: list[tuple[Any, ...]]) -> None:
    report = reported(rows)
    first, second = [row[1] for row in rows], [row[2] for row in rows]
    assert report.estimate("kappa", "a ~ b").value == statistics.cohen_kappa(first, second)
    assert report.estimate("alpha", "people").value == statistics.krippendorff_alpha([first, second])
    for e in report.estimates:
        assert (e.low is None) == (e.high is None)
        if e.low is not None and e.high is not None and e.value is not None:
            assert e.low <= e.high
        if e.metric not in ("kappa", "alpha") and e.value is not None:
            assert 0 <= (e.low or 0) <= e.value + 1e-9
            assert e.value - 1e-9 <= (e.high or 0) <= 100
        assert e.n_judged <= e.n_total


@given(genders=st.lists(GENDERS, min_size=1, max_size=25))
def test_perfect_agreement(genders: list[Gender]) -> None:
    report = reported([(g, g, g) for g in genders])
    assert report.disagreements == ()
    for e in report.estimates:
        if e.metric in ("kappa", "alpha"):
            # One label throughout says nothing about agreement beyond chance.
            assert e.value == (1 if len(set(genders)) > 1 else None)
            assert e.high == e.value
            assert e.value is None or (e.low is not None and e.low < 1), "a few items are no proof"
        elif e.n_judged:
            assert (e.value, e.high) == (100, 100)


@given(rows=ANSWERS, data=st.data())
def test_agreement_does_not_depend_on_names_of_labels_or_order_of_rows(rows: list[tuple[Any, ...]], data: Any) -> None:
    new = dict(zip((M, F, N), data.draw(st.permutations([M, F, N])), strict=True))
    before = reported(rows)
    after = reported([tuple(new.get(g) for g in row) for row in data.draw(st.permutations(rows))])
    for metric, slice_name in (("agreement", "a ~ b"), ("kappa", "a ~ b"), ("alpha", "people"), ("kappa", "judge ~ a")):
        values = [report.estimate(metric, slice_name).value for report in (before, after)]
        assert values[0] == pytest.approx(values[1])


@given(rows=ANSWERS)
def test_agreement_is_symmetric(rows: list[tuple[Any, ...]]) -> None:
    one, other = reported(rows), reported([(judge, b, a) for judge, a, b in rows])
    for metric, slice_name in (
        ("agreement", "a ~ b"),
        ("kappa", "a ~ b"),
        ("alpha", "people"),
        ("agreement", "judge ~ people"),
    ):
        a, b = one.estimate(metric, slice_name), other.estimate(metric, slice_name)
        assert (a.value, a.n_judged, a.n_total) == (pytest.approx(b.value), b.n_judged, b.n_total)


@given(rows=ANSWERS)
def test_weights_change_nothing_where_all_items_are_answered(rows: list[tuple[Any, ...]]) -> None:
    report = reported(rows, names=("a",))
    for e in report.estimates:
        if e.slice == "judge ~ people, weighted":
            plain = report.estimate(e.metric, "judge ~ people")
            assert (e.value, e.low, e.high) == (
                pytest.approx(plain.value),
                pytest.approx(plain.low),
                pytest.approx(plain.high),
            )


# -- run folders -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("run") / "run"
    selections = [gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative", "positive"))]
    gendermark.run("fake:right?p=0.5", selections, directory=directory)
    return directory


def test_export_fill_agree(run_folder: Path, tmp_path: Path) -> None:
    result, translations = read_cell(run_folder)
    rows = draw_sample(result, translations, 30, 1)
    assert len(rows) == 30
    write_sheet(tmp_path / "s.csv", rows)
    table = list(csv.reader(io.StringIO((tmp_path / "s.csv").read_text(encoding="utf-8-sig"))))
    pronouns = {"he": "M", "she": "F", "they": "N"}
    for cells in table[1:]:
        cells[3:5] = ["Y", pronouns.get(cells[2].split()[0].lower(), "")]
    with (tmp_path / "filled.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows(table)
    report = agreement(result, translations, [read_sheet(tmp_path / "filled.csv")], FEW)
    assert report.sheets[0].problems == ()
    assert report.sheets[0].n_answers > 10
    assert report.estimate("agreement", "judge ~ people").value == 100


def test_read_cell_refuses(run_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"unknown cell of .* 'tgbi\.en-ko' .*there is: tgbi\.ko-en"):
        read_cell(run_folder, "tgbi.en-ko")
    with pytest.raises(BadFile, match="there is no such directory"):
        read_cell(tmp_path / "none")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: lines[1:], "does not have the translation of"),
        (
            lambda lines: ['{"item_id": 3}', *lines],
            r"line 1: is not a translation of a run \(item_id, source, translation\)",
        ),
    ],
)
def test_damaged_translations(run_folder: Path, tmp_path: Path, damage: Any, message: str) -> None:
    copy = Path(shutil.copytree(run_folder, tmp_path / "copy"))
    path = copy / "tgbi.ko-en" / "translations.jsonl"
    path.write_text("\n".join(damage(path.read_text(encoding="utf-8").splitlines())), encoding="utf-8")
    with pytest.raises(BadFile, match=message):
        read_cell(copy)


def test_no_public_function_has_more_than_six_parameters() -> None:
    ours = {
        name: thing
        for name, thing in vars(annotation).items()
        if isfunction(thing) and thing.__module__ == annotation.__name__ and not name.startswith("_")
    }
    assert {"draw_sample", "write_sheet", "read_sheet", "agreement"} <= ours.keys()
    assert all(len(signature(thing).parameters) <= 6 for thing in ours.values())
