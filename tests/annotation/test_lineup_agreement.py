"""Several systems and a hidden reference: MT-GenEval's human evaluation, from answers to report."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from inspect import isfunction, signature
from pathlib import Path

import pytest

from annotation.lineups import SPECS, filled, make
from gendermark.annotation import (
    LINEUP_COLUMNS,
    REFERENCE,
    Lineup,
    LineupAnswers,
    LineupReport,
    LineupRow,
    LineupRun,
    Problem,
    ShownRow,
    evaluate_lineup,
    lineup,
    lineup_agreement,
    match_runs,
    read_answers,
    read_key,
    write_lineup,
)
from gendermark.errors import BadFile, UserError
from gendermark.metrics import statistics
from gendermark.metrics.metric import Resampling

FEW = Resampling(200)
HEADER = ",".join(LINEUP_COLUMNS)


def person(name: str, answers: dict[int, bool]) -> LineupAnswers:
    return LineupAnswers(f"{name}.csv", answers, len(answers), 0, ())


def erring(truth: dict[int, bool], rate: float, seed: int) -> dict[int, bool]:
    rng = random.Random(seed)
    return {row: answer is not (rng.random() < rate) for row, answer in truth.items()}


def written(path: Path, *lines: str, header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


# -- answers ---------------------------------------------------------------------------------------------------------


def test_answers_as_people_write_them(key: Lineup, tmp_path: Path) -> None:
    yes, no = ("Y", "y", " Yes ", "1", "TRUE", "yes.", "1.0"), ("N", "n", "NO", "0", "false", "0.0")
    lines = [f"{number},,,,{answer}," for number, answer in enumerate((*yes, *no), start=1)]
    sheet = read_answers(written(tmp_path / "a.csv", *lines, "20,,,,,blank", ",,,,,remark"), key)
    assert list(sheet.answers.values()) == [True] * len(yes) + [False] * len(no)
    assert (sheet.n_rows, sheet.n_blank, sheet.problems) == (14, 1, ())
    assert len(sheet.missing) == len(key.rows) - 14


def test_other_separators_headers_and_orders(drawn: tuple[Lineup, list[ShownRow]], tmp_path: Path) -> None:
    key, shown = drawn
    path = tmp_path / "a.csv"
    path.write_text("sep=;\nROW;correct gender\n3.0;y\n1;n\n", encoding="utf-8")
    assert read_answers(path, key).answers == {3: True, 1: False}
    path.write_text(f"correct?\trow\ttranslation\ny\t2\t{shown[1].translation}\n", encoding="utf-8")
    assert read_answers(path, key).answers == {2: True}


def test_rows_that_are_repeated_unknown_or_not_understood(drawn: tuple[Lineup, list[ShownRow]], tmp_path: Path) -> None:
    key, shown = drawn
    lines = ("1,,,,Y,", "1,,,,N,", "2,,,,Y,", "2,,,,,", "9999,,,,Y,", "3,,,,maybe,", "4,,,Otra frase.,Y,", "5,,,,Y/N,")
    sheet = read_answers(written(tmp_path / "a.csv", *lines), key)
    assert sheet.answers == {1: False, 2: True}
    assert sheet.problems == (
        Problem(3, "is row 1 again, as in line 2; the later answer counts"),
        Problem(5, "is row 2 again, as in line 4; the later answer counts"),
        Problem(6, "row 9999 is not in the key; not counted"),
        Problem(7, "'maybe' is neither Y nor N; not counted"),
        Problem(8, "its translation is not that of row 4 in the key; not counted"),
        Problem(9, "'Y/N' is neither Y nor N; not counted"),
    )
    assert len(sheet.missing) == len(shown) - 4


def test_a_later_answer_that_is_no_answer_does_not_undo_the_first(key: Lineup, tmp_path: Path) -> None:
    sheet = read_answers(written(tmp_path / "a.csv", "1,,,,Y,", "1,,,,hm,"), key)
    assert sheet.answers == {1: True}
    assert [problem.line for problem in sheet.problems] == [3, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": is empty; a sheet begins with the columns Row, Context, Source"),
        ("Row,Translation\n1,x\n", r", line 1: has no column 'Correct gender\? \[Y/N\]'; a sheet begins with Row"),
        ("Translation,Correct gender?\nx,Y\n", ", line 1: has no column 'Row'; a sheet begins with Row"),
        ("Row,Row,Correct gender?\n1,1,Y\n", ", line 1: has two columns 'Row'; leave one"),
        (f"{HEADER}\n1,,,,Y,\nx,,,,Y,\n", ", line 3: has the row number 'x', which is not a whole number"),
        (f"{HEADER}\n,,,,Y,\n", ", line 2: has an answer but no number in the column 'Row'"),
        (f"{HEADER}\n1,a,b,c,d,Y,z\n", ", line 2: has 7 cells under 6 columns; put sentences that contain"),
        (f"{HEADER}\n999,,,,Y,\n", ", line 2: row 999 is not in the key; not counted, and no other row could be used"),
        (f'{HEADER}\n1,,,"x,Y,\n', ", line 2: is not CSV"),
    ],
)
def test_sheets_that_cannot_be_read(text: str, message: str, key: Lineup, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=rf"a\.csv{message}"):
        read_answers(path, key)


def test_blank_sheets_and_spreadsheets(drawn: tuple[Lineup, list[ShownRow]], tmp_path: Path) -> None:
    key, shown = drawn
    blank = filled(tmp_path / "a.csv", shown, lambda _: "")
    with pytest.raises(UserError, match=r"no answers in .*a\.csv yet; write Y or N into its column 'Correct gender\?"):
        read_answers(blank, key)
    with pytest.raises(BadFile, match=r"is a spreadsheet; save it as CSV \(UTF-8\)"):
        read_answers(tmp_path / "a.xlsx", key)


# -- the report ------------------------------------------------------------------------------------------------------


def report(key: Lineup, by_name: dict[str, LineupRun], *sheets: LineupAnswers) -> LineupReport:
    return evaluate_lineup(key, by_name, sheets, FEW)


def test_round_trip(
    drawn: tuple[Lineup, list[ShownRow]], folders: list[Path], truth: dict[int, bool], tmp_path: Path
) -> None:
    """People who are always right, and a metric that is too on these sentences: everything at its end."""
    key, shown = drawn
    write_lineup(tmp_path / "s.csv", tmp_path / "k.json", key, shown)
    paths = [filled(tmp_path / f"{name}.csv", shown, lambda row: "NY"[truth[row]]) for name in ("ana", "eva")]
    again = read_key(tmp_path / "k.json")
    runs = match_runs(again, folders)
    found = report(again, runs, *(read_answers(path, again) for path in paths))
    assert found.estimate("alpha", "systems").value == 1
    assert found.estimate("alpha", REFERENCE).value is None, "one answer throughout: nothing to agree on beyond chance"
    assert found.estimate("accuracy", REFERENCE).value == 100
    for name, run in runs.items():
        assert found.estimate("accuracy", name).value == pytest.approx(run.result.estimate("accuracy").value)
        for category in found.categories:
            automatic = run.result.estimate("accuracy", category).value
            assert found.estimate("accuracy", f"{name}, {category}").value == pytest.approx(automatic)
        assert found.estimate("f_score", name).value == 1
        assert found.estimate("accuracy", name).signature == run.result.signature
    assert found.estimate("f_score", "mean").value == 1
    assert found.preferred == "ana"
    assert found.warnings == (
        "ana and eva have the same answers; if one is a copy, leave it out",
        "ana, eva marked the reference correct equally often (48 times); the first, ana, is the preferred evaluator",
    )


def test_alpha_of_identical_annotators_is_one(
    key: Lineup, by_name: dict[str, LineupRun], truth: dict[int, bool]
) -> None:
    answers = erring(truth, 0.1, 1)
    found = report(key, by_name, person("a", answers), person("b", answers), person("c", answers))
    for name, n_rows in (("systems", 144), (REFERENCE, 48)):
        alpha = found.estimate("alpha", name)
        assert (alpha.value, alpha.high, alpha.n_judged, alpha.n_groups) == (1, 1, n_rows, 48)
        assert alpha.low is not None
        assert alpha.low < 1, "a few segments are no proof"


def test_alpha_is_that_of_the_statistics(key: Lineup, by_name: dict[str, LineupRun], truth: dict[int, bool]) -> None:
    one, other = erring(truth, 0.1, 1), erring(truth, 0.3, 2)
    del one[1], other[2]
    found = report(key, by_name, person("a", one), person("b", other))
    rows = [row for row in key.rows if row.system != REFERENCE]
    wanted = statistics.krippendorff_alpha([[answers.get(row.row) for row in rows] for answers in (one, other)])
    alpha = found.estimate("alpha", "systems")
    assert alpha.value == wanted
    assert (alpha.low or 1) < (alpha.value or 0) < (alpha.high or 0)
    missing = sum(row.row in (1, 2) for row in rows)
    assert (alpha.n_judged, alpha.n_total) == (len(rows) - missing, len(rows))


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.25])
def test_annotators_with_known_error_rates_land_on_their_expectation(
    rate: float, key: Lineup, by_name: dict[str, LineupRun], truth: dict[int, bool]
) -> None:
    n, name = 40, SPECS["b"]
    rows = [row.row for row in key.rows if row.system == name]
    share = sum(truth[row] for row in rows) / len(rows)
    all_systems = [row.row for row in key.rows if row.system != REFERENCE]
    overall = sum(truth[row] for row in all_systems) / len(all_systems)
    sums: Counter[str] = Counter()
    for seed in range(n):
        # The preferred of two is the better one on the references, which are judged apart from the systems.
        sheets = [person(who, erring(truth, rate, 2 * seed + k)) for k, who in enumerate(("a", "b"))]
        found = evaluate_lineup(key, by_name, sheets, Resampling(2))
        for metric, slice_name in (("accuracy", name), ("alpha", "systems"), ("f_score", name)):
            sums[metric] += found.estimate(metric, slice_name).value or 0  # type: ignore[assignment]
    marginal = share * (1 - rate) + (1 - share) * rate
    assert sums["accuracy"] / n == pytest.approx(100 * marginal, abs=3)
    hits = share * (1 - rate)
    assert sums["f_score"] / n == pytest.approx(2 * hits / (2 * hits + rate), abs=0.03)
    marginal = overall * (1 - rate) + (1 - overall) * rate
    assert sums["alpha"] / n == pytest.approx(1 - 2 * rate * (1 - rate) / (2 * marginal * (1 - marginal)), abs=0.05)


def test_chance_alone_gives_alpha_of_nothing(
    key: Lineup, by_name: dict[str, LineupRun], truth: dict[int, bool]
) -> None:
    alphas = []
    for seed in range(30):
        sheets = [person(who, erring(truth, 0.5, 2 * seed + k)) for k, who in enumerate(("a", "b"))]
        alphas.append(evaluate_lineup(key, by_name, sheets, Resampling(2)).estimate("alpha", "systems").value or 0)
    assert sum(alphas) / len(alphas) == pytest.approx(0, abs=0.05)


def test_the_preferred_evaluator_marks_the_reference_correct_more_often(
    key: Lineup, by_name: dict[str, LineupRun]
) -> None:
    references = [row.row for row in key.rows if row.system == REFERENCE]
    of_systems = {row.row: False for row in key.rows if row.system != REFERENCE}
    strict = {**dict.fromkeys(of_systems, True), **dict.fromkeys(references, False), references[0]: True}
    lenient = {**of_systems, **dict.fromkeys(references, True)}
    for sheets in ((person("s", strict), person("l", lenient)), (person("l", lenient), person("s", strict))):
        found = report(key, by_name, *sheets)
        assert found.preferred == "l", "though the other finds all systems correct"
        assert found.warnings == ()
        assert found.estimate("accuracy", REFERENCE).value == 100
        assert found.estimate("accuracy", SPECS["a"]).value == 0
    counts = {one.name: (one.n_reference_correct, one.n_reference) for one in found.evaluators}
    assert counts == {"l": (48, 48), "s": (1, 48)}
    # As published, times are counted, not shares.
    few = {**of_systems, **dict.fromkeys(references[:10], True)}
    most = {**of_systems, **dict.fromkeys(references, True), references[0]: False}
    assert report(key, by_name, person("few", few), person("most", most)).preferred == "most"


def test_a_tie_goes_to_the_first_and_is_said(key: Lineup, by_name: dict[str, LineupRun]) -> None:
    references = {row.row: True for row in key.rows if row.system == REFERENCE}
    of_systems = [row.row for row in key.rows if row.system != REFERENCE]
    yes, no = ({**dict.fromkeys(of_systems, answer), **references} for answer in (True, False))
    for names, value in ((("yes", "no"), 100), (("no", "yes"), 0)):
        found = report(key, by_name, *(person(name, yes if name == "yes" else no) for name in names))
        assert found.preferred == names[0]
        assert found.estimate("accuracy", SPECS["a"]).value == value
        assert found.warnings == (
            f"{names[0]}, {names[1]} marked the reference correct equally often (48 times); "
            f"the first, {names[0]}, is the preferred evaluator",
        )


def test_one_sheet_has_no_alpha(key: Lineup, by_name: dict[str, LineupRun], truth: dict[int, bool]) -> None:
    found = report(key, by_name, person("ana", truth))
    assert (found.preferred, found.warnings) == ("ana", ())
    assert {e.metric for e in found.estimates} == {"accuracy", "precision", "recall", "f_score"}
    assert len(found.estimates) == 4 * 7 + 3 * 4
    with pytest.raises(KeyError, match="no estimate alpha:systems; available: accuracy:fake:right"):
        found.estimate("alpha", "systems")


def test_precision_recall_and_f_by_hand(key: Lineup, by_name: dict[str, LineupRun]) -> None:
    name = SPECS["a"]
    outcomes = {j.item_id: j.outcome == "correct" for j in by_name[name].result.judgements}
    rows = [row for row in key.rows if row.system == name]
    right = [row.row for row in rows if outcomes[row.item_id]]
    wrong = [row.row for row in rows if not outcomes[row.item_id]]
    # 6 both, 2 the metric alone, 3 the person alone, 1 neither; the rest is blank
    answers = dict.fromkeys(right[:6] + wrong[:3], True) | dict.fromkeys(right[6:8] + wrong[3:4], False)
    found = report(key, by_name, person("ana", answers))
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


def test_the_mean_is_that_of_the_systems(key: Lineup, by_name: dict[str, LineupRun], truth: dict[int, bool]) -> None:
    found = report(key, by_name, person("ana", erring(truth, 0.2, 4)))
    for metric in ("precision", "recall", "f_score"):
        values = [found.estimate(metric, name).value or 0 for name in SPECS.values()]
        assert found.estimate(metric, "mean").value == pytest.approx(sum(values) / 3)
    mean = found.estimate("f_score", "mean")
    assert (mean.low or 1) < (mean.value or 0) < (mean.high or 0)
    assert (mean.n_judged, mean.n_total) == (144, 144)


def test_no_positive_answer_at_all(key: Lineup, by_name: dict[str, LineupRun], folders: list[Path]) -> None:
    silent = {
        name: replace(
            run,
            result=replace(
                run.result,
                judgements=[replace(j, outcome="failed") for j in run.result.judgements],
            ),
        )
        for name, run in by_name.items()
    }
    found = report(key, silent, person("ana", {row.row: False for row in key.rows}))
    assert {e.value for e in found.estimates if e.metric != "accuracy"} == {None}
    json.dumps(found.to_json(), allow_nan=False)


def test_missing_rows_and_different_rules_are_said(
    key: Lineup, by_name: dict[str, LineupRun], truth: dict[int, bool], tmp_path: Path
) -> None:
    lines = [f"{row},,,,{'NY'[answer]}," for row, answer in truth.items() if row > 12]
    sheet = read_answers(written(tmp_path / "ana.csv", *lines), key)
    paper = make(tmp_path / "paper", SPECS["c"], rules="paper")
    runs = {**by_name, SPECS["c"]: lineup._read_run(paper, "")}
    found = report(key, runs, sheet)
    assert found.warnings == (
        "ana lacks this number of rows: 12 (1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ...)",
        "the runs are judged by different rules (best, paper); the mean F-score is of neither",
    )
    assert match_runs(key, [*(run.directory for run in list(by_name.values())[:2]), paper]), "other rules, same texts"


def test_the_same_sheet_twice_and_none(key: Lineup, by_name: dict[str, LineupRun], truth: dict[int, bool]) -> None:
    with pytest.raises(UserError, match=r"ana\.csv is given twice; give each person's sheet once"):
        report(key, by_name, person("ana", truth), person("ana", truth))
    with pytest.raises(UserError, match="no sheets were given"):
        report(key, by_name)


def test_to_json_is_plain_and_seeded(key: Lineup, by_name: dict[str, LineupRun], truth: dict[int, bool]) -> None:
    sheets = [person("a", erring(truth, 0.1, 1)), person("b", erring(truth, 0.2, 2))]
    found = evaluate_lineup(key, by_name, sheets, Resampling(200, 1))
    row = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert list(row) == [
        "cell",
        "origin",
        "seed",
        "per_category",
        "systems",
        "categories",
        "evaluators",
        "preferred",
        "estimates",
        "warnings",
        "resampling",
        "signatures",
    ]
    assert row["resampling"] == "segment-bootstrap-200,seed-1,confidence-0.95"
    assert found == evaluate_lineup(key, by_name, sheets, Resampling(200, 1))
    assert found != evaluate_lineup(key, by_name, sheets, Resampling(200, 2))


def test_intervals_widen_where_the_rows_of_a_segment_say_the_same(key: Lineup, by_name: dict[str, LineupRun]) -> None:
    """Rows of one segment are resampled together: three systems with one answer are not three times the evidence."""
    rng = random.Random(3)
    alike = {item: (rng.random() < 0.5, rng.random() < 0.3) for item in key.sample}

    def width(of: Callable[[LineupRow], tuple[bool, bool]]) -> float:
        pairs = {row.row: of(row) for row in key.rows}
        one = {row: yes for row, (yes, _) in pairs.items()}
        other = {row: yes is not differs for row, (yes, differs) in pairs.items()}
        alpha = report(key, by_name, person("a", one), person("b", other)).estimate("alpha", "systems")
        assert alpha.low is not None
        assert alpha.high is not None
        return alpha.high - alpha.low

    together = width(lambda row: alike[row.item_id])
    apart = width(lambda _: (rng.random() < 0.5, rng.random() < 0.3))
    assert together > 1.3 * apart


def test_no_public_function_has_more_than_six_parameters() -> None:
    ours = [
        thing
        for module in (lineup, lineup_agreement)
        for thing in vars(module).values()
        if isfunction(thing) and thing.__module__ == module.__name__
    ]
    assert all(len(signature(thing).parameters) <= 6 for thing in ours)
