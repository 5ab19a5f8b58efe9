"""Several systems and a hidden reference: MT-GenEval's human evaluation, from the sample to the report."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gendermark
from annotation.conftest import Drawn
from annotation.made import CELL, FEW, LINEUP_HEADER, SPECS, contextual_run, marked, written
from gendermark.annotation.agreement import AgreementReport
from gendermark.annotation.lineup import REFERENCE, Key, KeyRow, Lineup, LineupRun, draw_lineup, read_runs, write_lineup
from gendermark.annotation.sheets import LINEUP
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling
from gendermark.reading.contrast import without_tags
from made_runs import signed_again

# -- the sample --------------------------------------------------------------------------------------------------------


def test_as_many_of_each_sub_category(runs: list[LineupRun], key: Key) -> None:
    few, rows = draw_lineup(runs, 5, 1)
    kinds = [
        f"{one}-in-{kind}-profession" for one in ("masculine", "feminine") for kind in ("female", "male", "neutral")
    ]
    assert Counter(few.sample.values()) == dict.fromkeys(kinds, 5)
    assert len(rows) == 5 * 6 * 4
    assert (few.left_out, few.names) == ({}, tuple(SPECS.values()))
    assert set(few.available.values()) == {8}
    assert set(Counter(key.sample.values()).values()) == {8}, "small ones give all they have"


def test_the_sample_is_seeded_and_does_not_depend_on_the_systems(runs: list[LineupRun]) -> None:
    assert draw_lineup(runs, 3, 1) == draw_lineup(runs, 3, 1)
    assert draw_lineup(runs, 3, 1)[0].sample != draw_lineup(runs, 3, 2)[0].sample
    assert list(draw_lineup(runs, 3, 1)[0].sample) == list(draw_lineup(runs[:2], 3, 1)[0].sample)


def test_the_rows_of_a_segment_stand_together_in_an_order_of_their_own(key: Key) -> None:
    segments: dict[str, list[str]] = defaultdict(list)
    for row in key.rows:
        segments[row.item_id].append(row.system)
    assert [row.item_id for row in key.rows] == [item_id for item_id in segments for _ in range(4)]
    assert [row.row for row in key.rows] == list(range(1, len(key.rows) + 1))
    assert all(sorted(order) == sorted([*SPECS.values(), REFERENCE]) for order in segments.values())
    places = Counter(order.index(REFERENCE) for order in segments.values())
    assert places.keys() == {0, 1, 2, 3}
    assert max(places.values()) < 24, "the reference has no place of its own"
    assert len({tuple(order) for order in segments.values()}) > 10
    categories = [key.sample[item_id] for item_id in segments]
    assert categories != sorted(categories), "nor do sub-categories stand together"


def test_nothing_in_the_sheet_reveals_which_is_which(drawn: Drawn, tmp_path: Path) -> None:
    key, rows = drawn
    write_lineup(tmp_path / "s.csv", tmp_path / "k.json", key, rows)
    text = (tmp_path / "s.csv").read_text(encoding="utf-8-sig")
    for word in (*SPECS.values(), "fake", REFERENCE, "context-0", "<M>", "<F>", "masculine", "feminine"):
        assert word not in text
    header, *found = csv.reader(io.StringIO(text, newline=""))
    assert tuple(header) == LINEUP.columns
    assert len(found) == len(key.rows) == 48 * 4, "equal translations have rows of their own"
    assert all(row[1] and row[2] and row[3] and row[4:] == ["", ""] for row in found)
    items = {item.item_id: item for item in gendermark.items("mt-geneval-contextual", "es", data="core").items}
    for row in key.rows:
        item, (_, context, source, translation, *_) = items[row.item_id], rows[row.row - 1]
        assert (context, source) == (item.tags["context"], item.source)
        assert row.system != REFERENCE or translation == without_tags(item.tags["reference"])


def test_the_translation_of_the_context_is_not_shown(folders: list[Path], tmp_path: Path) -> None:
    """It would distinguish systems from the reference; where it cannot be cut off, the answer is shown whole."""
    joined = contextual_run(tmp_path / "joined", "fake:right?p=0.7", context="joined")
    separated = contextual_run(tmp_path / "separated", "fake:right?p=0.7", context="separator:<sep>")
    runs = read_runs([folders[0], joined, separated])
    key, rows = draw_lineup(runs, 100, 1)
    assert key.names == tuple(f"fake:right?p=0.7 ({kind})" for kind in ("none", "joined", "separator:<sep>"))
    shown = {(row.item_id, row.system): str(rows[row.row - 1][3]) for row in key.rows}
    for (item_id, system), text in shown.items():
        if system.endswith("(separator:<sep>)"):
            assert "<sep>" not in text
            assert len(text) < 1.3 * len(shown[item_id, REFERENCE])
    assert runs[0].uncut == runs[2].uncut == frozenset()
    mute = contextual_run(tmp_path / "mute", "fake:copy", context="separator:<sep>")
    path = mute / CELL / "translations.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("<sep>", ""), encoding="utf-8")
    assert len(read_runs([folders[0], mute])[1].uncut) == 48
    assert Lineup(key, [folders[0], joined, separated]).runs.keys() == set(key.names)


# -- refused -----------------------------------------------------------------------------------------------------------


def test_runs_that_cannot_stand_together(folders: list[Path], run_folder: Path, tmp_path: Path) -> None:
    first = folders[0]
    german = contextual_run(tmp_path / "de", "fake:masculine", to="de")
    other = Path(shutil.copytree(folders[1], tmp_path / "other"))
    path = other / CELL / "result.json"
    path.write_text(re.sub(r'"origin": "[^"]+"', '"origin": "core-x"', path.read_text(encoding="utf-8")), "utf-8")
    signed_again(other)
    damaged = Path(shutil.copytree(folders[1], tmp_path / "x"))
    path = damaged / CELL / "judgements.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"context":', '"text":'), encoding="utf-8")
    signed_again(damaged)
    for given, cell, token in (
        ([first], "", "at least two systems"),
        ([first, first], "", "give each system once"),
        ([first, german], "", "have different items"),
        ([first, german], CELL, "unknown cell"),
        ([first, other], "", "core-x"),
        ([first, damaged], "", "context-0000 .* has no context"),
        ([first, tmp_path], "", "is not a run folder"),
        ([first, run_folder], "", "no context .*; run mt-geneval-contextual"),
        ([first, run_folder], "tgbi.ko-en", r"tgbi\.ko-en"),
    ):
        with pytest.raises(UserError, match=token):
            read_runs(given, cell)


def test_the_key_comes_back_and_what_is_none_is_refused(drawn: Drawn, tmp_path: Path) -> None:
    key, rows = drawn
    good, bad = tmp_path / "k.json", tmp_path / "bad.json"
    write_lineup(tmp_path / "s.csv", good, key, rows)
    assert Lineup.read(good, []).key == key
    value = json.loads(good.read_text(encoding="utf-8"))
    assert (value["seed"], value["origin"], len(value["sample"])) == (7, key.origin, 48)
    assert value["rows"][0].keys() == {"row", "item_id", "system", "digest"}
    damaged: list[Any] = [
        [],
        {},
        {**value, "cell": "winomt.en-es"},
        {**value, "more": 1},
        {**value, "rows": []},
        {**value, "rows": [*value["rows"], value["rows"][0]]},
        {**value, "rows": [{**value["rows"][0], "system": "nobody"}]},
        {**value, "rows": [{**value["rows"][0], "item_id": "nothing"}]},
        {**value, "systems": [value["systems"][0]] * 2},
    ]
    for one in damaged:
        bad.write_text(json.dumps(one), encoding="utf-8")
        with pytest.raises(BadFile, match=r"bad\.json is not a key"):
            Lineup.read(bad, [])


def test_run_folders_are_those_of_the_key(key: Key, folders: list[Path], tmp_path: Path) -> None:
    assert list(Lineup(key, folders[::-1]).runs) == list(SPECS.values()), "in any order"
    changed = Path(shutil.copytree(folders[2], tmp_path / "changed"))
    path = changed / CELL / "translations.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("El ", "Un "), encoding="utf-8")
    signed_again(changed)
    stranger = contextual_run(tmp_path / "stranger", "fake:feminine")
    for of, given, token in (
        (key, folders[:2], "no run folder of fake:masculine"),
        (key, [*folders, Path(shutil.copytree(folders[2], tmp_path / "again"))], "give each system once"),
        (key, [*folders, stranger], "fake:feminine .* not in the key"),
        (replace(key, origin="core-x"), folders, "core-x"),
        (key, [*folders[:2], changed], r"context-\d+ in .*changed is not the one"),
    ):
        with pytest.raises(UserError, match=token):
            Lineup(of, given)
    with pytest.raises(UnknownName, match="unknown cell of"):
        Lineup(replace(key, cell="mt-geneval-contextual.en-de"), folders)


# -- the report --------------------------------------------------------------------------------------------------------

Agreed = Callable[..., AgreementReport]


@pytest.fixture
def agreed(lineup: Lineup, tmp_path: Path) -> Agreed:
    """The report on people's answers, by row."""

    def report(resampling: Resampling = FEW, **answers: dict[int, bool]) -> AgreementReport:
        return lineup.agree([marked(tmp_path / f"{who}.csv", own) for who, own in answers.items()], resampling)

    return report


def erring(truth: dict[int, bool], rate: float, seed: int) -> dict[int, bool]:
    rng = random.Random(seed)
    return {row: answer is not (rng.random() < rate) for row, answer in truth.items()}


def test_rows_that_are_repeated_unknown_or_not_understood(lineup: Lineup, tmp_path: Path) -> None:
    lines = ("1,,,,Y,", "1,,,,N,", "2,,,,Y,", "2,,,,,", "9999,,,,Y,", "3,,,,maybe,", "4,,,Otra frase.,Y,", "5,,,,Y/N,")
    path = written(tmp_path / "a.csv", *lines, "1,,,,hm,", ",,,,,remark", header=LINEUP_HEADER)
    (one,) = lineup.agree([path], FEW).content["evaluators"]
    assert [one[key] for key in ("n_rows", "n_answers", "n_blank")] == [9, 2, 1]
    assert len(one["missing"]) == len(lineup.key.rows) - 4
    expected = {3: "line 2 again", 6: "9999", 7: "'maybe'", 8: "row 4", 9: "'Y/N'", 10: "'hm'"}
    assert [problem["line"] for problem in one["problems"]] == list(expected)
    for problem, token in zip(one["problems"], expected.values(), strict=True):
        assert token in problem["problem"]
    path = written(tmp_path / "a.csv", "999,,,,Y,", header=LINEUP_HEADER)
    with pytest.raises(BadFile, match=r"a\.csv, line 2: row 999 "):
        lineup.agree([path], FEW)


def test_people_who_are_always_right(lineup: Lineup, agreed: Agreed, truth: dict[int, bool]) -> None:
    """And a metric that is too on these sentences: everything at its end."""
    found = agreed(ana=truth, eva=truth)
    assert found.estimate("alpha", "systems").value == 1
    assert found.estimate("alpha", REFERENCE).value is None, "one answer throughout: nothing to agree on beyond chance"
    assert found.estimate("accuracy", REFERENCE).value == 100
    for name, run in lineup.runs.items():
        assert found.estimate("accuracy", name).value == pytest.approx(run.result.estimate("accuracy").value)
        for category in found.content["categories"]:
            automatic = run.result.estimate("accuracy", category).value
            assert found.estimate("accuracy", f"{name}, {category}").value == pytest.approx(automatic)
        assert found.estimate("f_score", name).value == 1
        assert found.estimate("accuracy", name).signature == run.result.signature
    assert found.estimate("f_score", "mean").value == 1
    assert found.content["preferred"] == "ana"
    copied, tied = found.content["warnings"]
    assert "ana and eva" in copied
    assert "(48 times)" in tied


def test_the_preferred_evaluator_marks_the_reference_correct_more_often(lineup: Lineup, agreed: Agreed) -> None:
    references = [row.row for row in lineup.key.rows if row.system == REFERENCE]
    of_systems = [row.row for row in lineup.key.rows if row.system != REFERENCE]
    no, yes = dict.fromkeys(of_systems, False), dict.fromkeys(of_systems, True)
    strict = {**yes, **dict.fromkeys(references, False), references[0]: True}
    lenient = {**no, **dict.fromkeys(references, True)}
    for people in ({"s": strict, "l": lenient}, {"l": lenient, "s": strict}):
        found = agreed(**people)
        assert found.content["preferred"] == "l", "though the other finds all systems correct"
        assert found.content["warnings"] == []
        assert found.estimate("accuracy", REFERENCE).value == 100
        assert found.estimate("accuracy", SPECS["a"]).value == 0
    counts = {one["name"]: (one["n_reference_correct"], one["n_reference"]) for one in found.content["evaluators"]}
    assert counts == {"l": (48, 48), "s": (1, 48)}
    # As published, times are counted, not shares.
    few = {**no, **dict.fromkeys(references[:10], True)}
    most = {**no, **dict.fromkeys(references, True), references[0]: False}
    assert agreed(few=few, most=most).content["preferred"] == "most"
    # A tie goes to the first.
    both = {"yes": {**yes, **dict.fromkeys(references, True)}, "no": lenient}
    for names, value in ((("yes", "no"), 100), (("no", "yes"), 0)):
        found = agreed(**{name: both[name] for name in names})
        assert found.content["preferred"] == names[0]
        assert found.estimate("accuracy", SPECS["a"]).value == value
        assert f"{names[0]}, {names[1]} " in found.content["warnings"][0]


def test_precision_recall_and_f_by_hand(lineup: Lineup, agreed: Agreed, truth: dict[int, bool]) -> None:
    name = SPECS["a"]
    outcomes = {j.item_id: j.outcome == "correct" for j in lineup.runs[name].result.judgements}
    rows = [row for row in lineup.key.rows if row.system == name]
    right = [row.row for row in rows if outcomes[row.item_id]]
    wrong = [row.row for row in rows if not outcomes[row.item_id]]
    # 6 both, 2 the metric alone, 3 the person alone, 1 neither; the rest is blank
    answers = dict.fromkeys(right[:6] + wrong[:3], True) | dict.fromkeys(right[6:8] + wrong[3:4], False)
    found = agreed(ana=answers)
    values = [found.estimate(metric, name).value for metric in ("precision", "recall", "f_score")]
    assert values == pytest.approx([6 / 8, 6 / 9, 12 / 17])
    f = found.estimate("f_score", name)
    assert (f.n_judged, f.n_total) == (12, 48)
    assert (f.low or 1) < 12 / 17 < (f.high or 0)
    accuracy = found.estimate("accuracy", name)
    low, high = statistics.wilson(9, 12) or (0, 0)
    assert (accuracy.value, accuracy.low, accuracy.high) == pytest.approx((75, 100 * low, 100 * high))
    assert (accuracy.n_judged, accuracy.n_total) == (12, 48)
    assert found.estimate("accuracy", SPECS["c"]).value is None, "not answered is not wrong"
    assert found.estimate("f_score", SPECS["c"]).value is None
    assert found.estimate("f_score", "mean").value == f.value, "the mean of those that have one"
    found = agreed(ana=erring(truth, 0.2, 4))
    for metric in ("precision", "recall", "f_score"):
        of_systems = [found.estimate(metric, name).value or 0 for name in SPECS.values()]
        assert found.estimate(metric, "mean").value == pytest.approx(sum(of_systems) / 3)
    mean = found.estimate("f_score", "mean")
    assert (mean.low or 1) < (mean.value or 0) < (mean.high or 0)
    assert (mean.n_judged, mean.n_total) == (144, 144)


def test_missing_rows_and_different_rules_are_said(
    key: Key, folders: list[Path], truth: dict[int, bool], tmp_path: Path
) -> None:
    path = marked(tmp_path / "ana.csv", {row: answer for row, answer in truth.items() if row > 12})
    paper = contextual_run(tmp_path / "paper", SPECS["c"], rules="paper")
    lacking, mixed = Lineup(key, [*folders[:2], paper]).agree([path], FEW).content["warnings"]
    assert "12 (1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ...)" in lacking
    assert "(best, paper)" in mixed


def test_intervals_widen_where_the_rows_of_a_segment_say_the_same(lineup: Lineup, agreed: Agreed) -> None:
    """Rows of one segment are resampled together: three systems with one answer are not three times the evidence."""
    rng = random.Random(3)
    alike = {item: (rng.random() < 0.5, rng.random() < 0.3) for item in lineup.key.sample}

    def width(of: Callable[[KeyRow], tuple[bool, bool]]) -> float:
        pairs = {row.row: of(row) for row in lineup.key.rows}
        one = {row: yes for row, (yes, _) in pairs.items()}
        other = {row: yes is not differs for row, (yes, differs) in pairs.items()}
        alpha = agreed(a=one, b=other).estimate("alpha", "systems")
        return (alpha.high or 0) - (alpha.low or 0)

    together = width(lambda row: alike[row.item_id])
    apart = width(lambda _: (rng.random() < 0.5, rng.random() < 0.3))
    assert together > 1.3 * apart
