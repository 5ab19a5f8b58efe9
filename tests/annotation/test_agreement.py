"""Agreement of people with each other and with the judge."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Sequence
from inspect import isfunction, signature
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.cells import FEW, F, M, N, make, sheet
from gendermark.annotation import AgreementReport, Disagreement, agreement, comparison, items, sheets
from gendermark.errors import UserError
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender


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
        Disagreement(0, "worker0", "Texto 0.", "ana", "feminine", "masculine", ("palabra0",)),
        Disagreement(1, "worker1", "Texto 1.", "eva", "neutral", "feminine", ("palabra1",)),
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
    with pytest.raises(KeyError, match="no estimate kappa:x; available: agreement:judge ~ people"):
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


def reported(rows: Sequence[tuple[Any, ...]], names: Sequence[str] = ("a", "b")) -> AgreementReport:
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


def test_no_public_function_has_more_than_six_parameters() -> None:
    ours = {
        name: thing
        for module in (comparison, items, sheets)
        for name, thing in vars(module).items()
        if isfunction(thing) and thing.__module__ == module.__name__ and not name.startswith("_")
    }
    assert {"draw_sample", "write_sheet", "read_sheet", "agreement"} <= ours.keys()
    assert all(len(signature(thing).parameters) <= 6 for thing in ours.values())
