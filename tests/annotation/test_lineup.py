"""Several systems and a hidden reference: MT-GenEval's human evaluation, its sheet and key."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gendermark
from annotation.lineups import CELL, SPECS, filled, loads, make
from gendermark import registry
from gendermark.annotation import (
    LINEUP_COLUMNS,
    REFERENCE,
    Lineup,
    LineupRun,
    ShownRow,
    draw_lineup,
    lineup,
    match_runs,
    read_key,
    read_runs,
    write_lineup,
)
from gendermark.errors import BadFile, UnknownName, UserError
from gendermark.linguistics.contrast import without_tags
from made_runs import without_sums

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
    loads(monkeypatch, replace(whole, items=items))
    key, _ = draw_lineup(runs, 100, 1)
    assert key.left_out == {"gender unknown": 1, "profession class unknown": 1}
    assert len(key.sample) == 46
    assert not key.sample.keys() & {items[0].item_id, items[1].item_id}
    loads(monkeypatch, replace(whole, items=items[:2]))
    with pytest.raises(UserError, match=r"no item of .* has a known gender and profession class, so none can be drawn"):
        draw_lineup(runs, 100, 1)
    loads(monkeypatch, replace(whole, origin="core-00000000"))
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
    other = without_sums(Path(shutil.copytree(folders[1], tmp_path / "other")))
    path = other / CELL / "result.json"
    path.write_text(re.sub(r'"origin": "[^"]+"', '"origin": "core-x"', path.read_text(encoding="utf-8")), "utf-8")
    with pytest.raises(
        UserError, match=r"are not of the same items .* test core-x\); run all systems on the same data"
    ):
        read_runs([first, other])
    with pytest.raises(UserError, match="is not a run folder"):
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
    damaged = without_sums(Path(shutil.copytree(folders[1], tmp_path / "x")))
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
        UserError, match="is of fake:feminine with context none, which is not in the key; available: fak"
    ):
        match_runs(key, [*folders, stranger])
    with pytest.raises(
        UserError, match=r"is not of the items of the key \(.*; give the run folders that were exported"
    ):
        match_runs(replace(key, origin="core-x"), folders)
    with pytest.raises(UnknownName, match="unknown cell of"):
        match_runs(replace(key, cell="mt-geneval-contextual.en-de"), folders)
    changed = without_sums(Path(shutil.copytree(folders[2], tmp_path / "changed")))
    path = changed / CELL / "translations.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("El ", "Un "), encoding="utf-8")
    with pytest.raises(UserError, match=r"the translation of context-\d+ in .*changed is not the one that people were"):
        match_runs(key, [*folders[:2], changed])
