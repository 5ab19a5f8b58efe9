"""Several systems and a hidden reference: MT-GenEval's human evaluation, from sheet to report."""

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
from inspect import isfunction, signature
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark import registry, statistics
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
    draw_lineup,
    evaluate_lineup,
    lineup,
    match_runs,
    read_answers,
    read_key,
    read_runs,
    write_lineup,
)
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.linguistics.contrast import without_tags
from gendermark.metrics.metric import Resampling

CELL = "mt-geneval-contextual.en-es"
SPECS = {"a": "fake:right?p=0.7", "b": "fake:right?p=0.4&seed=3", "c": "fake:masculine"}
FEW = Resampling(200)
HEADER = ",".join(LINEUP_COLUMNS)


def make(directory: Path, spec: str, to: str = "es", **options: Any) -> Path:
    gendermark.run(spec, ["mt-geneval-contextual"], to, directory=directory, data="core", **options)
    return directory


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three systems on core data. Not to be written to."""
    base = tmp_path_factory.mktemp("lineup")
    return [make(base / name, spec) for name, spec in SPECS.items()]


@pytest.fixture(scope="module")
def runs(folders: list[Path]) -> list[LineupRun]:
    return read_runs(folders)


@pytest.fixture(scope="module")
def drawn(runs: list[LineupRun]) -> tuple[Lineup, list[ShownRow]]:
    return draw_lineup(runs, 100, 7)


@pytest.fixture(scope="module")
def key(drawn: tuple[Lineup, list[ShownRow]]) -> Lineup:
    return drawn[0]


@pytest.fixture(scope="module")
def by_name(key: Lineup, folders: list[Path]) -> dict[str, LineupRun]:
    return match_runs(key, folders)


@pytest.fixture(scope="module")
def truth(drawn: tuple[Lineup, list[ShownRow]]) -> dict[int, bool]:
    """Fakes say either the reference or the contrastive one."""
    key, shown = drawn
    reference = {row.item_id: shown[row.row - 1].translation for row in key.rows if row.system == REFERENCE}
    return {row.row: shown[row.row - 1].translation == reference[row.item_id] for row in key.rows}


def person(name: str, answers: dict[int, bool]) -> LineupAnswers:
    return LineupAnswers(f"{name}.csv", answers, len(answers), 0, ())


def erring(truth: dict[int, bool], rate: float, seed: int) -> dict[int, bool]:
    rng = random.Random(seed)
    return {row: answer is not (rng.random() < rate) for row, answer in truth.items()}


def filled(path: Path, shown: list[ShownRow], answer: Callable[[int], str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(LINEUP_COLUMNS)
        writer.writerows((r.row, r.context, r.source, r.translation, answer(r.row), "") for r in shown)
    return path


# -- the sample ------------------------------------------------------------------------------------------------------


def test_as_many_of_each_sub_category(runs: list[LineupRun]) -> None:
    key, shown = draw_lineup(runs, 5, 1)
    assert Counter(key.sample.values()) == {
        f"{gender}-in-{kind}-profession": 5
        for gender in ("masculine", "feminine")
        for kind in ("female", "male", "neutral")
    }
    assert len(shown) == 5 * 6 * 4
    assert (key.short, key.left_out) == ({}, {})
    assert set(key.available.values()) == {8}
    assert key.names == tuple(SPECS.values())


def test_small_sub_categories_give_all_they_have(drawn: tuple[Lineup, list[ShownRow]]) -> None:
    assert set(Counter(drawn[0].sample.values()).values()) == {8}
    assert set(drawn[0].short.values()) == {8}


def test_items_in_no_sub_category_are_left_out_and_counted(
    runs: list[LineupRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = registry.load("benchmark", "mt-geneval-contextual")
    whole = benchmark.load(runs[0].result.selection)
    no_class = {**whole.items[1].tags, "class": "unknown"}
    items = (replace(whole.items[0], expected=None), replace(whole.items[1], tags=no_class), *whole.items[2:])
    monkeypatch.setattr(type(benchmark), "load", lambda *_: replace(whole, items=items))
    key, _ = draw_lineup(runs, 100, 1)
    assert key.left_out == {"gender unknown": 1, "profession class unknown": 1}
    assert len(key.sample) == 46
    assert not key.sample.keys() & {items[0].item_id, items[1].item_id}
    monkeypatch.setattr(type(benchmark), "load", lambda *_: replace(whole, items=items[:2]))
    with pytest.raises(UserError, match=r"no item of .* has a known gender and profession class, so none can be drawn"):
        draw_lineup(runs, 100, 1)
    monkeypatch.setattr(type(benchmark), "load", lambda *_: replace(whole, origin="core-00000000"))
    with pytest.raises(UserError, match=r"a is of core-\w+, but the data here are core-00000000; run it again"):
        draw_lineup(runs, 100, 1)


def test_the_sample_is_seeded_and_does_not_depend_on_the_systems(runs: list[LineupRun]) -> None:
    assert draw_lineup(runs, 3, 1) == draw_lineup(runs, 3, 1)
    assert draw_lineup(runs, 3, 1)[0].sample != draw_lineup(runs, 3, 2)[0].sample
    assert list(draw_lineup(runs, 3, 1)[0].sample) == list(draw_lineup(runs[:2], 3, 1)[0].sample)


def test_the_rows_of_a_segment_stand_together_in_an_order_of_their_own(key: Lineup) -> None:
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


def test_nothing_in_the_sheet_tells_which_is_which(drawn: tuple[Lineup, list[ShownRow]], tmp_path: Path) -> None:
    key, shown = drawn
    write_lineup(tmp_path / "s.csv", tmp_path / "k.json", key, shown)
    assert (tmp_path / "s.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    text = (tmp_path / "s.csv").read_text(encoding="utf-8-sig")
    for word in (*SPECS.values(), "fake", REFERENCE, "context-0", "<M>", "<F>", "masculine", "feminine"):
        assert word not in text
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert tuple(header) == LINEUP_COLUMNS
    assert len(rows) == len(key.rows) == 48 * 4, "equal translations have rows of their own"
    assert all(row[1] and row[2] and row[3] and row[4:] == ["", ""] for row in rows)


def test_references_are_those_of_the_data(drawn: tuple[Lineup, list[ShownRow]]) -> None:
    key, shown = drawn
    items = {item.item_id: item for item in gendermark.items("mt-geneval-contextual", "es", data="core").items}
    for row in key.rows:
        item, seen = items[row.item_id], shown[row.row - 1]
        assert (seen.context, seen.source) == (item.tags["context"], item.source)
        if row.system == REFERENCE:
            assert seen.translation == without_tags(item.tags["reference"])


def test_the_translation_of_the_context_is_not_shown(folders: list[Path], tmp_path: Path) -> None:
    """It would tell systems from the reference; where it cannot be cut off, the answer is shown whole."""
    joined = make(tmp_path / "joined", "fake:right?p=0.7", context="joined")
    separated = make(tmp_path / "separated", "fake:right?p=0.7", context="separator:<sep>")
    runs = read_runs([folders[0], joined, separated])
    key, shown = draw_lineup(runs, 100, 1)
    assert key.names == tuple(f"fake:right?p=0.7 ({kind})" for kind in ("none", "joined", "separator:<sep>"))
    reference = {row.item_id: shown[row.row - 1].translation for row in key.rows if row.system == REFERENCE}
    for row in key.rows:
        if row.system.endswith("(separator:<sep>)"):
            assert "<sep>" not in shown[row.row - 1].translation
            assert len(shown[row.row - 1].translation) < 1.3 * len(reference[row.item_id])
    assert runs[0].uncut == runs[2].uncut == frozenset()
    mute = make(tmp_path / "mute", "fake:copy", context="separator:<sep>")
    path = mute / CELL / "translations.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("<sep>", ""), encoding="utf-8")
    run = read_runs([folders[0], mute])[1]
    assert len(run.uncut) == 48
    assert match_runs(key, [folders[0], joined, separated]).keys() == set(key.names)


def test_formulas_and_line_breaks(tmp_path: Path, key: Lineup) -> None:
    write_lineup(tmp_path / "s.csv", tmp_path / "k.json", key, [ShownRow(1, "-c", "+s", "=1+1")])
    assert "1,'-c,'+s,'=1+1,," in (tmp_path / "s.csv").read_text(encoding="utf-8-sig")
    assert lineup._one_line("a\r\nb\t c ") == "a b c"


def test_a_system_with_the_name_of_the_reference(runs: list[LineupRun]) -> None:
    odd = replace(runs[0], result=replace(runs[0].result, system=REFERENCE))
    key, _ = draw_lineup([odd, runs[1]], 1, 1)
    assert key.names == ("reference (none)", f"{SPECS['b']} (none)")


# -- refused ---------------------------------------------------------------------------------------------------------


def test_runs_that_cannot_stand_together(folders: list[Path], tmp_path: Path) -> None:
    first = folders[0]
    with pytest.raises(UserError, match="give the run folders of at least two systems; for one: gendermark annotate"):
        read_runs([first])
    with pytest.raises(UserError, match=re.escape(f"{first} and {first} are both of fake:right?p=0.7 with context no")):
        read_runs([first, first])
    german = make(tmp_path / "de", "fake:masculine", to="de")
    with pytest.raises(UserError, match=r"are not of the same items \(mt-geneval-contextual.en-es test core-\w+; mt-g"):
        read_runs([first, german])
    with pytest.raises(UnknownName, match="unknown cell of"):
        read_runs([first, german], CELL)
    other = Path(shutil.copytree(folders[1], tmp_path / "other"))
    path = other / CELL / "result.json"
    path.write_text(re.sub(r'"origin": "[^"]+"', '"origin": "core-x"', path.read_text(encoding="utf-8")), "utf-8")
    with pytest.raises(
        UserError, match=r"are not of the same items .* test core-x\); run all systems on the same data"
    ):
        read_runs([first, other])
    with pytest.raises(BadFile, match="is not a run folder"):
        read_runs([first, tmp_path])
    selection = gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative",))
    gendermark.run("fake:masculine", [selection], directory=tmp_path / "tgbi")
    with pytest.raises(UserError, match="tgbi has no run of mt-geneval-contextual; run it with: --benchmark mt-gen"):
        read_runs([first, tmp_path / "tgbi"])
    with pytest.raises(
        UserError, match=r"tgbi\.ko-en has no context and no references to show; give a cell of mt-gene"
    ):
        read_runs([first, tmp_path / "tgbi"], "tgbi.ko-en")


def test_several_cells(tmp_path: Path) -> None:
    for name in ("masculine", "feminine"):
        selections = [
            gendermark.Selection(benchmark, target_language=to, data="core")
            for benchmark, to in (
                ("mt-geneval-counterfactual", "es"),
                ("mt-geneval-contextual", "es"),
                ("mt-geneval-contextual", "de"),
            )[: 3 if name == "masculine" else 2]
        ]
        gendermark.run(f"fake:{name}", selections, directory=tmp_path / name)
    folders = [tmp_path / "masculine", tmp_path / "feminine"]
    with pytest.raises(UserError, match=rf"has 2 cells; say which: --cell {CELL} \| mt-geneval-contextual.en-de"):
        read_runs(folders)
    assert {run.result.cell for run in read_runs(folders, CELL)} == {CELL}
    assert lineup._read_run(folders[1], "").result.cell == CELL


def test_judgements_without_context(folders: list[Path], tmp_path: Path) -> None:
    damaged = Path(shutil.copytree(folders[1], tmp_path / "x"))
    path = damaged / CELL / "judgements.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"context":', '"text":'), encoding="utf-8")
    with pytest.raises(UserError, match=f"judgement context-0000 of {CELL} has no context; run it again"):
        read_runs([folders[0], damaged])


def test_nobodys_work_is_overwritten(drawn: tuple[Lineup, list[ShownRow]], tmp_path: Path) -> None:
    key, shown = drawn
    sheet, secret = tmp_path / "s.csv", tmp_path / "k.json"
    with pytest.raises(UserError, match="the sheet and its key must be two files; choose another name with --key"):
        write_lineup(sheet, sheet, key, shown)
    write_lineup(sheet, secret, key, shown)
    write_lineup(sheet, secret, key, shown)
    with pytest.raises(UserError, match=r"k\.json may be the key of another sheet; choose another name with --key"):
        write_lineup(tmp_path / "t.csv", secret, replace(key, seed=8), shown)
    assert not (tmp_path / "t.csv").exists()
    filled(sheet, shown, lambda row: "Y" if row == 9 else "")
    with pytest.raises(UserError, match=r"s\.csv may hold somebody's answers; choose another name with -o"):
        write_lineup(sheet, tmp_path / "l.json", key, shown)
    sheet.write_text("notes", encoding="utf-8")
    with pytest.raises(UserError, match="may hold somebody's answers"):
        write_lineup(sheet, tmp_path / "l.json", key, shown)
    assert not (tmp_path / "l.json").exists()


def test_the_key_comes_back(drawn: tuple[Lineup, list[ShownRow]], tmp_path: Path) -> None:
    key, shown = drawn
    write_lineup(tmp_path / "s.csv", tmp_path / "k.json", key, shown)
    assert read_key(tmp_path / "k.json") == key
    row = json.loads((tmp_path / "k.json").read_text(encoding="utf-8"))
    assert (row["seed"], row["origin"], len(row["sample"])) == (7, key.origin, 48)
    assert row["rows"][0].keys() == {"row", "item_id", "system", "digest"}


def test_what_is_not_a_key(drawn: tuple[Lineup, list[ShownRow]], tmp_path: Path) -> None:
    key, shown = drawn
    good, bad = tmp_path / "k.json", tmp_path / "bad.json"
    write_lineup(tmp_path / "s.csv", good, key, shown)
    value = json.loads(good.read_text(encoding="utf-8"))
    damaged: list[Any] = [
        [],
        None,
        {},
        {**value, "cell": "winomt.en-es"},
        {**value, "cell": 3},
        {**value, "more": 1},
        {**value, "rows": []},
        {**value, "rows": 1},
        {**value, "rows": [*value["rows"], value["rows"][0]]},
        {**value, "rows": [{**value["rows"][0], "system": "nobody"}]},
        {**value, "rows": [{**value["rows"][0], "system": ["x"]}]},
        {**value, "rows": [{**value["rows"][0], "item_id": "nothing"}]},
        {**value, "rows": [{**value["rows"][0], "digest": 5}]},
        {**value, "sample": 5},
        {**value, "systems": value["systems"][:1]},
        {**value, "systems": [value["systems"][0]] * 2},
    ]
    for one in damaged:
        bad.write_text(json.dumps(one), encoding="utf-8")
        with pytest.raises(BadFile, match=r"bad\.json: is not a key that `gendermark annotate export-systems` wrote"):
            read_key(bad)
    bad.write_text("{", encoding="utf-8")
    with pytest.raises(BadFile, match="is not JSON"):
        read_key(bad)
    with pytest.raises(BadFile, match="there is no such file"):
        read_key(tmp_path / "none.json")


def test_run_folders_are_those_of_the_key(key: Lineup, folders: list[Path], tmp_path: Path) -> None:
    assert list(match_runs(key, folders[::-1])) == list(SPECS.values()), "in any order"
    with pytest.raises(UserError, match="no run folder of fake:masculine is given; give those of all systems in the k"):
        match_runs(key, folders[:2])
    with pytest.raises(UserError, match="are both of fake:masculine; give each system once"):
        match_runs(key, [*folders, Path(shutil.copytree(folders[2], tmp_path / "again"))])
    stranger = make(tmp_path / "stranger", "fake:feminine")
    with pytest.raises(
        UserError, match="is of fake:feminine with context none, which is not in the key; there is: fak"
    ):
        match_runs(key, [*folders, stranger])
    with pytest.raises(
        UserError, match=r"is not of the items of the key \(.*; give the run folders that were exported"
    ):
        match_runs(replace(key, origin="core-x"), folders)
    with pytest.raises(UnknownName, match="unknown cell of"):
        match_runs(replace(key, cell="mt-geneval-contextual.en-de"), folders)
    changed = Path(shutil.copytree(folders[2], tmp_path / "changed"))
    path = changed / CELL / "translations.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("El ", "Un "), encoding="utf-8")
    with pytest.raises(UserError, match=r"the translation of context-\d+ in .*changed is not the one that people were"):
        match_runs(key, [*folders[:2], changed])


# -- answers ---------------------------------------------------------------------------------------------------------


def written(path: Path, *lines: str, header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


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
    with pytest.raises(KeyError, match="no estimate alpha:systems; there is: accuracy:fake:right"):
        found.estimate("alpha", "systems")


def test_precision_recall_and_f_by_hand(key: Lineup, by_name: dict[str, LineupRun]) -> None:
    name = SPECS["a"]
    outcomes = {j.item_id: j.tags["outcome"] == "correct" for j in by_name[name].result.judgements}
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
                judgements=[replace(j, tags={**j.tags, "outcome": "failed"}) for j in run.result.judgements],
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
    ours = [thing for thing in vars(lineup).values() if isfunction(thing) and thing.__module__ == lineup.__name__]
    assert all(len(signature(thing).parameters) <= 6 for thing in ours)
