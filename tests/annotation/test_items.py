"""Samples that tell nothing of the judge, and rows that are found again in the run."""

from __future__ import annotations

import csv
import io
import random
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gendermark
from annotation.cells import FEW, F, M, N, make, written
from gendermark.annotation import (
    Problem,
    Sheet,
    SheetRow,
    agreement,
    draw_sample,
    read_cell,
    read_sheet,
    write_sheet,
)
from gendermark.annotation.items import Items, match
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.records import Gender
from made_runs import without_sums

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
        Problem(4, "its sentence is not a translation of winomt.en-es in this run; not counted"),
    )


def test_one_translation_of_several_sources(tmp_path: Path) -> None:
    cell = make([M, M, F], texts=["Igual.", "Igual.", "Otra."])
    path = written(tmp_path / "s.csv", "Igual.,M", "Igual.,F", "Igual.,F", header="Sentence,Gender")
    report = agreement(*cell, [read_sheet(path)], FEW)
    # Two rows are two items; a third is the first again.
    assert report.sheets[0].n_answers == 2
    assert report.sheets[0].problems == (Problem(4, "answers the item of line 2 again; this one counts"),)


def test_the_entity_tells_where_the_sentence_does_not(tmp_path: Path) -> None:
    cell = make([M, F], texts=["El guardia y la maestra."] * 2, entities=["guard", "teacher"])
    line = "El guardia y la maestra.,{},{}"
    path = written(
        tmp_path / "s.csv", line.format("The Teacher", "F"), line.format("", "F"), header="Sentence,Entity,Gender"
    )
    report = agreement(*cell, [read_sheet(path)], FEW)
    assert report.estimate("agreement", "judge ~ people").value == 100
    problem = "several items of winomt.en-es fit, which the judge read differently; not counted"
    assert report.sheets[0].problems == (Problem(3, problem),)


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


def test_a_sheet_says_whom_to_look_for_where_no_entity_is_known() -> None:
    result, translations = make([M, F], entities=["", "baker"])
    rows = {row.index: row for row in draw_sample(result, translations, 2, seed=1)}
    assert [rows[index].entity for index in (0, 1)] == ["the person whom the sentence is about", "baker"]
    filled = Sheet("a", (SheetRow(2, 0, rows[0].entity, rows[0].sentence, True, M),))
    assert match(filled, "a", Items(result, translations)).genders == {"item-0000": M}


def test_samples_are_neither_offered_nor_read(tmp_path: Path) -> None:
    part = gendermark.Selection("tgbi", "ko", "en", "core", parts=("negative",))
    drawn = gendermark.Selection("uncertainty", "en", "es", "core", parts=("referenced",), n_samples=2)
    gendermark.run("fake:right", [part, replace(part, source_language="ja")], directory=tmp_path / "two")
    with pytest.raises(UserError, match=r"has 2 cells; say which: --cell tgbi\.ko-en \| tgbi\.ja-en$"):
        read_cell(tmp_path / "two")
    directory = tmp_path / "both"
    gendermark.run("fake:coin", [part, drawn], directory=directory)
    assert read_cell(directory)[0].cell == "tgbi.ko-en"
    reason = "has many samples of each sentence and not one translation, so it cannot be annotated"
    with pytest.raises(UserError) as caught:
        read_cell(directory, "uncertainty.en-es")
    assert str(caught.value) == f"uncertainty.en-es in {directory} {reason}; say which other: --cell tgbi.ko-en"
    gendermark.run("fake:coin", [drawn], directory=tmp_path / "samples")
    with pytest.raises(UserError) as caught:
        read_cell(tmp_path / "samples")
    assert str(caught.value) == (
        f"uncertainty.en-es in {tmp_path / 'samples'} {reason}; run a benchmark that translates once"
    )


def test_read_cell_refuses(run_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"unknown cell of .* 'tgbi\.en-ko' .*available: tgbi\.ko-en"):
        read_cell(run_folder, "tgbi.en-ko")
    with pytest.raises(BadFile, match="there is no such directory"):
        read_cell(tmp_path / "none")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: lines[1:], r"translations\.jsonl: lacks 1 of 296 sentences; run it again$"),
        (
            lambda lines: ['{"item_id": 3}', *lines],
            r"translations\.jsonl, line 1: is not a line that `gendermark run` wrote; run it again$",
        ),
    ],
)
def test_damaged_translations(run_folder: Path, tmp_path: Path, damage: Any, message: str) -> None:
    copy = without_sums(Path(shutil.copytree(run_folder, tmp_path / "copy")))
    path = copy / "tgbi.ko-en" / "translations.jsonl"
    path.write_text("\n".join(damage(path.read_text(encoding="utf-8").splitlines())), encoding="utf-8")
    with pytest.raises(BadFile, match=message):
        read_cell(copy)
