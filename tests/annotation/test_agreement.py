"""One run: samples that do not reveal the judge, rows that are found again, and agreement."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gendermark
from annotation.made import FEW, F, M, N, judged, sheet, written
from gendermark.annotation.agreement import AgreementReport, JudgedRun, alpha
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender

Answers = Mapping[int, Gender | None]


def agreed(run: JudgedRun, resampling: Resampling = FEW, **answers: Answers) -> AgreementReport:
    """The report on these people's answers."""
    with tempfile.TemporaryDirectory() as name:
        return run.agree([sheet(Path(name) / f"{who}.csv", own) for who, own in answers.items()], resampling)


def problems(report: AgreementReport) -> list[tuple[int, str]]:
    return [(one["line"], one["problem"]) for one in report.content["sheets"][0]["problems"]]


# -- the sample --------------------------------------------------------------------------------------------------------


def indices(rows: Sequence[tuple[object, ...]]) -> list[int]:
    return [int(str(row[0])) for row in rows]


@given(sizes=st.lists(st.integers(0, 12), min_size=4, max_size=4), n=st.integers(1, 60), seed=st.integers(0, 99))
def test_any_sample_is_even_and_full(sizes: list[int], n: int, seed: int) -> None:
    observed = [g for g, size in zip((M, F, N, None), sizes, strict=True) for _ in range(size)]
    rows = indices(judged(observed).draw(n, seed))
    assert len(set(rows)) == len(rows) == min(n, sum(sizes))
    drawn = Counter(observed[row] for row in rows)
    unspent = [drawn[g] for g, size in zip((M, F, N, None), sizes, strict=True) if drawn[g] < size]
    if unspent:  # nobody who could give more gave less than another, but for the remainder
        assert max(drawn.values()) - min(unspent) <= 1


def test_the_sample_is_seeded_and_its_order_does_not_reveal_the_judge() -> None:
    observed: list[Gender | None] = [M, F, N, None] * 10
    run = judged(observed)
    assert run.draw(20, 7) == run.draw(20, 7) != run.draw(20, 8)
    shuffled = random.Random(0).sample(observed, len(observed))
    # All are drawn; what the judge said of each does not move a row.
    order = run.draw(40, 3)
    assert order == judged(shuffled).draw(40, 3)
    assert indices(order) != sorted(indices(order))


def test_what_is_shown_once_or_not_at_all() -> None:
    rows = judged([M, None, None], texts=["Uno.", "", "  "]).draw(3, 1)
    assert [row[2] for row in rows] == ["Uno."], "empty translations are not shown"
    rows = judged([M, M, F], indices=[0, 0, 0], texts=["a", "a", "b"], entities=["x"] * 3).draw(3, 1)
    assert sorted(str(row[2]) for row in rows) == ["a", "b"]


def test_a_sheet_says_whom_to_look_for_where_no_entity_is_known(tmp_path: Path) -> None:
    run = judged([M, F], entities=["", "baker"])
    rows = {row[0]: row for row in run.draw(2, 1)}
    assert [rows[index][1] for index in (0, 1)] == ["the person whom the sentence is about", "baker"]
    report = run.agree([written(tmp_path / "a.csv", f"0,{rows[0][1]},{rows[0][2]},Y,M,")], FEW)
    assert (report.content["sheets"][0]["n_answers"], problems(report)) == (1, [])


# -- whose row is it ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "header", "lines", "n_answers", "expected"),
    [
        (  # without an index the sentence tells, as spreadsheets change it
            {"texts": ["El  guardia dijo “sí”…", "La guardia."]},
            "Entity,Sentence,Gender",
            ["x,La guardia.,F", 'x,"El guardia dijo ""sí""...",M', "x,Nada.,M"],
            2,
            {4: "its sentence is not the translation"},
        ),
        (  # two rows are two items with one translation; a third is the first again
            {"texts": ["Igual.", "Igual.", "Otra."], "observed": [M, M, F]},
            "Sentence,Gender",
            ["Igual.,M", "Igual.,M", "Igual.,M"],
            2,
            {4: "line 2 again"},
        ),
        (  # the entity tells where the sentence does not
            {"texts": ["El guardia y la maestra."] * 2, "entities": ["guard", "teacher"]},
            "Sentence,Entity,Gender",
            ["El guardia y la maestra.,The Teacher,F", "El guardia y la maestra.,,F"],
            1,
            {3: "several items"},
        ),
        (  # an index can stand twice
            {"indices": [0, 0], "texts": ["Uno.", "Una."]},
            "Index,Sentence,Gender",
            ["0,Una.,F", "0,Uno.,M"],
            2,
            {},
        ),
        (  # the sentence is right where the index is not: some count from 1
            {"observed": [M, F, F]},
            "Index,Sentence,Gender",
            ["1,Texto 0.,M", "2,Texto 1.,F"],
            2,
            {},
        ),
        (  # rows of another run and duplicates: the last answer counts, an empty one does not
            {"observed": [M, M]},
            "Index,Sentence,Gender",
            ["0,Texto 0.,F", "99,Texto 99.,M", "1,Otro.,M", "0,Texto 0.,M", "0,Texto 0.,", "1,Texto 1.,M/N"],
            1,
            {3: "index 99", 4: "index 1", 5: "line 2 again", 7: "'M/N'"},
        ),
    ],
)
def test_rows_are_found_again(
    tmp_path: Path, made: dict[str, Any], header: str, lines: list[str], n_answers: int, expected: dict[int, str]
) -> None:
    run = judged(**{"observed": [M, F], **made})
    report = run.agree([written(tmp_path / "s.csv", *lines, header=header)], FEW)
    assert report.content["sheets"][0]["n_answers"] == n_answers
    assert report.estimate("agreement", "judge ~ people").value == 100
    assert [line for line, _ in problems(report)] == list(expected)
    for (_, problem), token in zip(problems(report), expected.values(), strict=True):
        assert token in problem


def test_people_are_named_after_their_files_and_given_once(tmp_path: Path) -> None:
    run = judged([M, F])
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    for names, expected in (
        (("a/x", "a/y"), ["x", "y"]),
        (("a/x", "b/x"), [f"{tmp_path}/a/x.csv", f"{tmp_path}/b/x.csv"]),
        (("people",), [f"{tmp_path}/people.csv"]),
    ):
        report = run.agree([sheet(tmp_path / f"{name}.csv", {0: M}) for name in names], FEW)
        assert [one["name"] for one in report.content["sheets"]] == expected
    with pytest.raises(UserError, match=r"x\.csv is given twice"):
        run.agree([tmp_path / "a" / "x.csv"] * 2, FEW)
    with pytest.raises(UserError, match="no sheets"):
        run.agree([], FEW)


# -- agreement ---------------------------------------------------------------------------------------------------------


def test_not_found_is_reported_apart() -> None:
    report = agreed(judged([M, F, None, None]), ana={0: None, 1: F, 2: None, 3: M})
    (summary,) = report.content["sheets"]
    assert [summary[key] for key in ("n_answers", "n_not_found", "n_not_found_by_judge")] == [2, 2, 1]
    found = report.estimate("agreement", "judge ~ people")
    assert (found.value, found.n_judged, found.n_total) == (100, 1, 2), "the judge said nothing of the other"
    assert [(d["index"], d["answer"], d["automatic"]) for d in report.content["disagreements"]] == [
        (0, "not found", "masculine"),
        (3, "masculine", "not found"),
    ]
    assert {estimate.value for estimate in agreed(judged([M]), ana={0: None}).estimates} == {None}


def test_precision_and_recall_by_hand() -> None:
    people = {0: M, 1: M, 2: F, 3: F, 4: N, 5: N, 6: F}
    report = agreed(judged([M, M, M, F, F, N, None]), ana=people)

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
    report = agreed(judged(judge), ana={**dict.fromkeys(range(5), M), **dict.fromkeys(range(90, 95), N)})
    assert report.estimate("agreement", "judge ~ people").value == 50
    weighted = report.estimate("agreement", "judge ~ people, weighted")
    assert weighted.value == pytest.approx(90)
    assert (weighted.low or 100) < 70 < 95 < (weighted.high or 0), "ten answers are ten answers, whatever they weigh"


def test_majorities_ties_copies_and_disagreements() -> None:
    report = agreed(judged([M, M, M]), a={0: M, 1: M, 2: F}, b={0: M, 1: F}, c={0: F})
    found = report.estimate("agreement", "judge ~ people")
    assert (found.value, found.n_total) == (50, 2)
    assert report.content["warnings"][0].endswith(": 1"), "a tie has no majority"
    report = agreed(judged([M, F]), ana={0: F, 1: F}, eva={0: M, 1: N}, copy={0: F, 1: F})
    assert "ana and copy" in report.content["warnings"][0]
    assert [tuple(one.values()) for one in report.content["disagreements"]] == [
        (0, "worker0", "Texto 0.", "ana", "feminine", "masculine", ("palabra0",)),
        (0, "worker0", "Texto 0.", "copy", "feminine", "masculine", ("palabra0",)),
        (1, "worker1", "Texto 1.", "eva", "neutral", "feminine", ("palabra1",)),
    ]


def test_numbers_that_do_not_exist() -> None:
    report = agreed(judged([M, F]), ana={0: M}, eva={1: F})
    for metric, slice_name in (("agreement", "ana ~ eva"), ("kappa", "ana ~ eva"), ("alpha", "people")):
        found = report.estimate(metric, slice_name)
        assert (found.value, found.low, found.high, found.n_judged, found.n_total) == (None, None, None, 0, 2)
    # One answer to everything: no interval.
    found = agreed(judged([M, F, M, F]), ana=dict.fromkeys(range(4), M)).estimate("kappa", "judge ~ people")
    assert (found.value, found.low, found.high) == (0, None, None)
    with pytest.raises(KeyError, match="kappa:x"):
        report.estimate("kappa", "x")


def test_the_json_is_plain_and_stable() -> None:
    report = agreed(judged([M, F]), ana={0: F, 1: F}, eva={0: None, 1: M})
    row = json.loads(json.dumps(report.content, allow_nan=False))
    shared = {"estimates", "warnings", "resampling"}
    assert row.keys() == {"cell", "system", "sheets", "disagreements", "signature", *shared}
    assert (row["cell"], row["system"], row["signature"]) == ("winomt.en-es", "fake", "sig")
    assert " ".join(row["sheets"][0]) == (
        "name path n_rows n_answers n_blank n_not_found n_not_found_by_judge problems"
    )
    assert {estimate.signature for estimate in report.estimates} == {"sig"}
    assert row["resampling"] == "item-bootstrap-200,seed-12345,confidence-0.95"
    assert row["disagreements"][0]["evidence"] == ["palabra0"]


GENDERS = st.sampled_from([M, F, N])
ANSWERS = st.lists(st.tuples(GENDERS | st.none(), GENDERS, GENDERS), min_size=1, max_size=25)


def reported(rows: Sequence[tuple[Any, ...]], names: Sequence[str] = ("a", "b")) -> AgreementReport:
    """The first of each row is the judge, the others are people."""
    people = {name: {i: row[p] for i, row in enumerate(rows)} for p, name in enumerate(names, 1)}
    return agreed(judged([row[0] for row in rows]), **people)


@settings(max_examples=30)
@given(rows=ANSWERS)
def test_values_are_those_of_the_statistics_and_lie_in_their_intervals(rows: list[tuple[Any, ...]]) -> None:
    report = reported(rows)
    one, other = [row[1] for row in rows], [row[2] for row in rows]
    assert report.estimate("kappa", "a ~ b").value == statistics.cohen_kappa(one, other)
    for e in report.estimates:
        assert (e.low is None) == (e.high is None)
        assert e.n_judged <= e.n_total
        if e.low is not None and e.high is not None and e.value is not None:
            assert e.low <= e.high
        if e.metric not in ("kappa", "alpha") and e.value is not None:
            assert 0 <= (e.low or 0) <= e.value + 1e-9
            assert e.value - 1e-9 <= (e.high or 0) <= 100


@given(genders=st.lists(GENDERS, min_size=1, max_size=25))
def test_perfect_agreement(genders: list[Gender]) -> None:
    report = reported([(g, g, g) for g in genders])
    assert report.content["disagreements"] == []
    for e in report.estimates:
        if e.metric in ("kappa", "alpha"):
            # One label throughout says nothing about agreement beyond chance.
            assert e.value == (1 if len(set(genders)) > 1 else None)
            assert e.high == e.value
            assert e.value is None or (e.low is not None and e.low < 1), "a few items are no proof"
        elif e.n_judged:
            assert (e.value, e.high) == (100, 100)


# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: nominal data, four observers, twelve
# units, missing values; the paper gives alpha = 0.743.
KRIPPENDORFF_2011: list[list[Any]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def alpha_of(ratings: list[list[Any]]) -> float | None:
    labels = sorted({label for row in ratings for label in row if label is not None})
    n_items = len(ratings[0]) if ratings else 0
    return alpha("all", ratings, labels, range(n_items), FEW).value


def test_alpha_reproduces_the_published_example() -> None:
    assert alpha_of(KRIPPENDORFF_2011) == pytest.approx(0.743, abs=0.0005)


def test_alpha_of_binary_data_reproduces_the_published_example() -> None:
    # The same paper, section A: binary data, two observers, ten units, alpha = 0.095.
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert alpha_of([first, second]) == pytest.approx(0.095, abs=0.0005)


@pytest.mark.parametrize("ratings", [[], [[], []], [["a", "b"]], [["a", None], [None, "b"]]])
def test_alpha_of_items_that_nobody_rated_twice_is_none(ratings: list[list[Any]]) -> None:
    assert alpha_of(ratings) is None


# -- run folders -------------------------------------------------------------------------------------------------------


def test_samples_are_neither_offered_nor_read(tmp_path: Path, run_folder: Path) -> None:
    part = gendermark.Selection("tgbi", "ko", "en", "core", parts=("negative",))
    drawn = gendermark.Selection("uncertainty", "en", "es", "core", parts=("referenced",), n_samples=2)
    gendermark.run("fake:right", [part, replace(part, source_language="ja")], directory=tmp_path / "two")
    with pytest.raises(UserError, match=r"--cell: tgbi\.ko-en, tgbi\.ja-en$"):
        JudgedRun.read(tmp_path / "two")
    gendermark.run("fake:coin", [part, drawn], directory=tmp_path / "both")
    assert JudgedRun.read(tmp_path / "both").result.cell == "tgbi.ko-en"
    with pytest.raises(UserError, match=r"cannot be annotated; .*--cell tgbi\.ko-en"):
        JudgedRun.read(tmp_path / "both", "uncertainty.en-es")
    gendermark.run("fake:coin", [drawn], directory=tmp_path / "samples")
    with pytest.raises(UserError, match="cannot be annotated; run a benchmark without samples"):
        JudgedRun.read(tmp_path / "samples")
    with pytest.raises(UnknownName, match=r"'tgbi\.en-ko' .*available: tgbi\.ko-en"):
        JudgedRun.read(run_folder, "tgbi.en-ko")
    with pytest.raises(BadFile, match="no such directory"):
        JudgedRun.read(tmp_path / "none")
