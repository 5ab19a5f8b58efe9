"""Answers given in the browser: kept whatever happens, and written as sheets that `agree` reads."""

from __future__ import annotations

import csv
import errno
import http.client
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import gendermark
from annotation.lineups import SPECS
from annotation.lineups import make as make_lineup_run
from gendermark.annotation import (
    COLUMNS,
    SampleRow,
    agreement,
    draw_lineup,
    draw_sample,
    read_answers,
    read_cell,
    read_key,
    read_runs,
    read_sheet,
    write_lineup,
    write_sheet,
)
from gendermark.annotation.questions import LINEUP, direction_of, read_questions
from gendermark.annotation.serving import (
    JOURNAL,
    LONGEST_NOTE,
    Agreement,
    Desk,
    identity_of,
    kept_token,
    page_files,
)
from gendermark.annotation.sheets import ANYBODY
from gendermark.errors import BadFile, UserError
from gendermark.records import Gender, Table
from runs.children import PATIENCE_SECONDS

M, F, N = Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL
ROWS = [
    SampleRow(7, "baker", "El panadero, sí.", "The baker."),
    SampleRow(3, "=nurse", "=La enfermera.", "The nurse."),
    SampleRow(9, "doctor", "הרופאה של Google.", "The doctor."),
]
FIRST = {"seen": 0, "revision": 0, "note": ""}


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    write_sheet(tmp_path / "sheet.csv", ROWS)
    return tmp_path / "sheet.csv"


@contextmanager
def open_desk(sheet: Path, **more: Any) -> Iterator[Desk]:
    with Desk(read_questions(sheet), sheet.with_name("answers"), **more) as desk:
        yield desk


@pytest.fixture
def desk(sheet: Path) -> Iterator[Desk]:
    with open_desk(sheet) as opened:
        opened.join({"name": "Ana"})
        yield opened


def give(desk: Desk, item: int, answer: str, **more: Any) -> dict[str, Any]:
    """An answer from a tab that has seen everything."""
    who = more.get("who", "ana")
    now = desk.answers({"who": who, "seen": "0"})["changes"].get(str(item), {"revision": 0, "note": ""})
    return desk.answer({"who": who, "item": item, "seen": 0, **now, "answer": answer, **more})


def cells(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def journal(desk: Desk) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (desk.directory / JOURNAL).read_text(encoding="utf-8").splitlines()]


# -- sheets ------------------------------------------------------------------------------------------------------------


def test_what_is_shown(sheet: Path) -> None:
    items = read_questions(sheet).items()
    assert items[0] == {"text": "El panadero, sí.", "entity": "baker", "direction": "ltr"}
    assert items[1] == {"text": "=La enfermera.", "entity": "=nurse", "direction": "ltr"}, "without our apostrophe"
    assert items[2]["direction"] == "rtl"


def test_the_source_is_shown_only_if_the_sheet_has_it(tmp_path: Path) -> None:
    write_sheet(tmp_path / "s.csv", ROWS, with_source=True)
    assert [item["source"] for item in read_questions(tmp_path / "s.csv").items()] == [row.source for row in ROWS]


@pytest.mark.parametrize("entity", ["", ANYBODY])
def test_a_row_that_names_nobody_has_a_question_of_its_own(tmp_path: Path, entity: str) -> None:
    write_sheet(tmp_path / "s.csv", [SampleRow(1, entity, "Llegó cansada.", ""), ROWS[0]])
    questions = read_questions(tmp_path / "s.csv")
    first, second = questions.items()
    assert (first["entity"], first["question"]) == ("", "Which gender do the words for the person have?")
    assert first["hint"] == (
        "Answer for every word that shows the gender of the person whom the sentence is about, wherever it stands."
    )
    assert second["entity"] == "baker"
    assert not {"question", "hint"} & second.keys()


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("El médico", "ltr"),
        ("الطبيبة", "rtl"),
        ("Google: הרופאה באה", "rtl"),
        ("The word הרופאה here", "ltr"),
        ("", "ltr"),
        ("123 …", "ltr"),
    ],
)
def test_direction_is_that_of_most_letters(text: str, direction: str) -> None:
    assert direction_of(text) == direction


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is not a sheet that"),
        ("a,b\n1,2\n", "is not a sheet that"),
        (",".join(COLUMNS), "has no rows"),
        (f"{','.join(COLUMNS)}\n1,baker,Pan.,Y,M,\n", "line 2: is filled in already; give the blank sheet"),
        (f"{','.join(COLUMNS)}\n1,baker,Pan.,,,hm\n", "is filled in already"),
        (f"{','.join(COLUMNS)}\n1,baker,a,b,c,d,e,f\n", "has 8 cells under 6 columns"),
    ],
)
def test_what_is_no_blank_sheet(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "s.csv").write_text(content, encoding="utf-8")
    with pytest.raises(BadFile, match=words):
        read_questions(tmp_path / "s.csv")


def test_a_spreadsheet_is_no_sheet(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="save it as CSV"):
        read_questions(tmp_path / "s.xlsx")


def test_a_sheet_that_went_through_a_spreadsheet_program(tmp_path: Path) -> None:
    lines = [";".join(COLUMNS), "7;baker;El panadero, sí.;;;", '3;nurse;"La; enfermera.";;;']
    (tmp_path / "s.csv").write_text("\r\n".join(lines), encoding="utf-8-sig")
    assert [item["text"] for item in read_questions(tmp_path / "s.csv").items()] == [
        "El panadero, sí.",
        "La; enfermera.",
    ]


# -- answers -----------------------------------------------------------------------------------------------------------


def test_answers_become_a_sheet_that_agree_reads(desk: Desk) -> None:
    for item, answer in enumerate("mfu"):
        assert give(desk, item, answer)["is_saved"]
    give(desk, 0, "m", note="=odd, “really”")
    path = desk.sheet_of("ana")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert cells(path) == [
        list(COLUMNS),
        ["7", "baker", "El panadero, sí.", "Y", "M", "'=odd, “really”"],
        ["3", "'=nurse", "'=La enfermera.", "Y", "F", ""],
        ["9", "doctor", "הרופאה של Google.", "N", "", ""],
    ]
    assert [(row.found, row.gender) for row in read_sheet(path).rows] == [(True, M), (True, F), (False, None)]


def test_the_sheet_is_there_after_the_first_answer(desk: Desk) -> None:
    assert not desk.sheet_of("ana").exists()
    give(desk, 1, "n")
    assert [row.gender for row in read_sheet(desk.sheet_of("ana")).rows] == [None, N, None]


def test_nothing_tells_what_the_judge_said(sheet: Path) -> None:
    def agree(sheets: Sequence[Path], in_full: bool) -> Agreement:
        return Agreement(["JUDGE"])

    with open_desk(sheet, agree=agree) as desk:
        desk.join({"name": "Ana"})
        told = [desk.start({}), desk.progress({}), desk.answers({"who": "ana", "seen": "0"}), give(desk, 0, "m")]
        assert "JUDGE" not in json.dumps(told)
        with pytest.raises(UserError, match="finish first"):
            desk.agreement({"who": "ana"})


def test_undo_goes_back_step_by_step(desk: Desk) -> None:
    give(desk, 0, "m")
    give(desk, 1, "f", note="sure")
    give(desk, 0, "n")
    undone = [desk.undo({"who": "ana", "seen": 0}) for _ in range(4)]
    assert [one["item"] for one in undone] == [0, 1, 0, None]
    assert undone[0]["changes"]["0"]["answer"] == "m"
    assert undone[1]["changes"]["1"] == {"answer": "", "note": "", "revision": 2}
    assert undone[2]["changes"]["0"]["answer"] == ""
    assert [row[3:] for row in cells(desk.sheet_of("ana"))[1:]] == [["", "", ""]] * 3


def test_undo_works_after_the_server_was_started_again(sheet: Path) -> None:
    with open_desk(sheet) as desk:
        desk.join({"name": "Ana"})
        give(desk, 0, "m")
        give(desk, 1, "f")
        desk.undo({"who": "ana", "seen": 0})
    with open_desk(sheet) as desk:
        assert desk.undo({"who": "ana", "seen": 0})["item"] == 0
        assert desk.undo({"who": "ana", "seen": 0})["item"] is None


def test_an_answer_that_did_not_change_is_not_written_again(desk: Desk) -> None:
    give(desk, 0, "m")
    before = journal(desk)
    assert give(desk, 0, "m")["is_saved"]
    assert journal(desk) == before


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"who": "eva"}, "nobody of that name"),
        ({"item": 3}, "there is no item 3"),
        ({"item": -1}, "item is a whole number"),
        ({"item": True}, "item is a whole number"),
        ({"item": None}, "item is a whole number"),
        ({"answer": "x"}, "is not one of the answers"),
        ({"answer": None}, "is not one of the answers"),
        ({"answer": ["m"]}, "is not one of the answers"),
        ({"note": "x" * (LONGEST_NOTE + 1)}, "the note has 2,001 characters; 2,000 are possible"),
        ({"note": 1}, "note is a text"),
        ({"seen": "x"}, "seen is a whole number"),
    ],
)
def test_what_no_page_sends_is_refused(desk: Desk, sent: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        desk.answer({**FIRST, "who": "ana", "item": 0, "answer": "m", **sent})
    assert len(journal(desk)) == 2


@pytest.mark.parametrize("note", ["a\nb\r\n\tc", "a\u2028b c", " a  b\x00 c\x1b", "a b\ud800 c"])
def test_a_comment_is_one_line_that_every_file_can_hold(desk: Desk, note: str) -> None:
    give(desk, 0, "m", note=note)
    assert cells(desk.sheet_of("ana"))[1][5] == "a b c"


# -- people ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("Ana", "ana"),
        ("  ANA ", "ana"),
        ("Ana María", "ana-maría"),
        ("Ana Mari\u0301a", "ana-maría"),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\x", "c-x"),
        (".hidden", "hidden"),
        ("أحمد", "أحمد"),
        ("\u202eevil", "evil"),
        ("🙂", ""),
        ("/", ""),
    ],
)
def test_a_name_becomes_a_file_name_that_is_safe(name: str, identity: str) -> None:
    assert identity_of(name) == identity


def test_people_are_told_apart_and_come_back(desk: Desk) -> None:
    assert desk.join({"name": "Eva"}) == {"who": "eva", "name": "Eva"}
    assert desk.join({"name": " ANA "}) == {"who": "ana", "name": "Ana"}
    give(desk, 0, "m")
    give(desk, 0, "f", who="eva")
    give(desk, 1, "f", who="eva")
    people = desk.progress({})["people"]
    assert [(one["name"], one["n_answered"]) for one in people] == [("Ana", 1), ("Eva", 2)]
    assert cells(desk.sheet_of("ana"))[1][4] == "M"
    assert cells(desk.sheet_of("eva"))[1][4] == "F"


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({}, "name is a text"),
        ({"name": ""}, "at least one letter"),
        ({"name": "🙂"}, "at least one letter"),
        ({"name": "x" * 61}, "the name has 61 characters; 60 are possible"),
    ],
)
def test_what_is_no_name(desk: Desk, sent: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        desk.join(sent)


def test_a_sheet_that_somebody_filled_in_elsewhere_is_not_overwritten(desk: Desk) -> None:
    (desk.directory / "eva.csv").write_text("hers", encoding="utf-8")
    with pytest.raises(UserError, match=r"there is already a file eva\.csv"):
        desk.join({"name": "Eva"})


@pytest.mark.parametrize(
    "line",
    [
        {"who": "../../results", "event": "joined", "name": "Eva"},
        {"who": "/results", "event": "joined", "name": "Eva"},
        {"who": "", "event": "joined", "name": "Eva"},
        {"who": "eva", "event": "joined", "name": "x" * 61},
        {"who": "ana", "event": "answered", "item": -1, "answer": "m", "note": ""},
    ],
)
def test_a_journal_that_others_wrote_to_leads_to_no_other_file(sheet: Path, line: dict[str, Any]) -> None:
    victim = sheet.with_name("results.csv")
    victim.write_text("numbers", encoding="utf-8")
    with open_desk(sheet) as desk:
        desk.join({"name": "Ana"})
        desk._journal.append(line)
    with pytest.raises(BadFile, match=r"journal\.jsonl, line 3: is not a line of this journal"), open_desk(sheet):
        pass
    assert victim.read_text(encoding="utf-8") == "numbers"
    assert {path.name for path in sheet.parent.iterdir()} == {"sheet.csv", "results.csv", "answers"}


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_sheet_that_is_a_link_is_not_written_through(desk: Desk, tmp_path: Path) -> None:
    victim = tmp_path / "results.csv"
    victim.write_text("numbers", encoding="utf-8")
    desk.sheet_of("ana").symlink_to(victim)
    assert "is a link to another file, which is not overwritten; delete the link" in give(desk, 0, "m")["warning"]
    assert victim.read_text(encoding="utf-8") == "numbers"


def test_a_name_that_is_longer_as_a_file_than_as_a_name(sheet: Path) -> None:
    names = ["\u1f80" * 60, "\u1f80" * 59 + "a"]  # a letter that becomes two, of five bytes
    with open_desk(sheet) as desk:
        people = [desk.join({"name": name})["who"] for name in names]
        for who in people:
            assert give(desk, 0, "m", who=who)["warning"] == ""
    with open_desk(sheet) as desk:
        sheets = {desk.sheet_of(who) for who in people}
        assert len(sheets) == 2
        assert all(cells(path)[1][4] == "M" for path in sheets)


# -- two tabs ----------------------------------------------------------------------------------------------------------


def test_two_tabs_answer_different_items(desk: Desk) -> None:
    one = desk.answer({**FIRST, "who": "ana", "item": 0, "answer": "m"})
    other = desk.answer({**FIRST, "who": "ana", "item": 1, "answer": "f"})  # it has not seen the first answer
    assert one["is_saved"]
    assert other["is_saved"]
    assert {item: answer["answer"] for item, answer in other["changes"].items()} == {"0": "m", "1": "f"}


def test_a_tab_that_has_not_seen_an_answer_does_not_overwrite_it(desk: Desk) -> None:
    desk.answer({**FIRST, "who": "ana", "item": 0, "answer": "m", "note": "sure"})
    late = desk.answer({**FIRST, "who": "ana", "item": 0, "answer": "f"})
    assert not late["is_saved"]
    assert late["changes"]["0"] == {"answer": "m", "note": "sure", "revision": 1}
    assert cells(desk.sheet_of("ana"))[1][3:] == ["Y", "M", "sure"]
    again = desk.answer({**FIRST, "who": "ana", "item": 0, "answer": "f", "revision": 1})
    assert again["is_saved"]


def test_an_answer_that_is_sent_again_is_saved_once(desk: Desk) -> None:
    """The server was killed after the answer was safe, and before it could say so."""
    for _ in range(2):
        assert desk.answer({**FIRST, "who": "ana", "item": 0, "answer": "m"})["is_saved"]
    assert len(journal(desk)) == 3


def test_many_tabs_at_once_lose_nothing(tmp_path: Path) -> None:
    rows = [SampleRow(number, "baker", f"Texto {number}.", "") for number in range(60)]
    write_sheet(tmp_path / "sheet.csv", rows)
    with open_desk(tmp_path / "sheet.csv") as desk:
        for name in ("Ana", "Eva"):
            desk.join({"name": name})

        def work(who: str, items: Sequence[int]) -> None:
            for item in items:
                desk.answer({**FIRST, "who": who, "item": item, "answer": "mfnu"[item % 4]})

        tabs = [threading.Thread(target=work, args=(who, range(k, 60, 3))) for who in ("ana", "eva") for k in range(3)]
        for tab in tabs:
            tab.start()
        for tab in tabs:
            tab.join()
        expected = [["Y", "M"], ["Y", "F"], ["Y", "N"], ["N", ""]] * 15
        for who in ("ana", "eva"):
            assert [row[3:5] for row in cells(desk.sheet_of(who))[1:]] == expected
        assert len(journal(desk)) == 1 + 2 + 120


# -- finishing ---------------------------------------------------------------------------------------------------------


def test_finishing_needs_every_answer_and_keeps_them(desk: Desk) -> None:
    give(desk, 0, "m")
    with pytest.raises(UserError, match="2 are not answered yet"):
        desk.close({"who": "ana", "seen": 0})
    for item in (1, 2):
        give(desk, item, "f")
    assert desk.close({"who": "ana", "seen": 0})["is_closed"]
    assert desk.close({"who": "ana", "seen": 0})["is_closed"], "twice does no harm"
    for change in (lambda: give(desk, 0, "f"), lambda: desk.undo({"who": "ana", "seen": 0})):
        with pytest.raises(UserError, match="cannot be changed any more"):
            change()
    with pytest.raises(UserError, match="without a run folder"):
        desk.agreement({"who": "ana"})


def test_agreement_is_of_those_who_have_finished_and_in_full_when_all_have(sheet: Path) -> None:
    asked = []

    def agree(sheets: Sequence[Path], in_full: bool) -> Agreement:
        asked.append(([path.name for path in sheets], in_full))
        return Agreement(["Good."], [Table("t", "T", ("a",), [(1,), (None,)])], ["mind"])

    with open_desk(sheet, agree=agree) as desk:
        for name in ("Ana", "Eva"):
            desk.join({"name": name})
            for item in range(3):
                give(desk, item, "m", who=name.lower())
        desk.close({"who": "ana", "seen": 0})
        found = desk.agreement({"who": "ana"})
        assert found == {
            "sentences": ["Good."],
            "tables": [{"title": "T", "columns": ["a"], "rows": [["1"], [""]]}],
            "warnings": ["mind"],
            "left_out": ["Eva"],
        }
        desk.close({"who": "eva", "seen": 0})
        assert desk.agreement({"who": "eva"})["left_out"] == []
    assert asked == [(["ana.csv"], False), (["ana.csv", "eva.csv"], True)]


def test_who_has_answered_nothing_keeps_nobody_waiting(sheet: Path) -> None:
    asked = []

    def agree(sheets: Sequence[Path], in_full: bool) -> Agreement:
        asked.append(([path.name for path in sheets], in_full))
        return Agreement()

    with open_desk(sheet, agree=agree) as desk:
        for name in ("Ana", "Aan"):
            desk.join({"name": name})
        for item in range(3):
            give(desk, item, "m", who="ana")
        desk.close({"who": "ana", "seen": 0})
        assert desk.agreement({"who": "ana"})["left_out"] == []
        give(desk, 0, "f", who="aan")
        assert desk.agreement({"who": "ana"})["left_out"] == ["Aan"]
    assert asked == [(["ana.csv"], True), (["ana.csv"], False)]


# -- the address -------------------------------------------------------------------------------------------------------


def test_the_token_is_kept(tmp_path: Path) -> None:
    token = kept_token(tmp_path)
    assert len(token) == 32
    assert kept_token(tmp_path) == token
    assert (tmp_path / ".token").stat().st_mode & 0o077 == 0 or os.name != "posix"
    other = tmp_path / "other"
    other.mkdir()
    assert kept_token(other) != token


@pytest.mark.parametrize("content", [b"", b"short", b"../" * 12, b"\xff" * 32, b"a" * 200])
def test_a_token_that_is_none_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".token").write_bytes(content)
    (tmp_path / ".token").chmod(0o600)
    token = kept_token(tmp_path)
    assert token.encode() != content
    assert kept_token(tmp_path) == token


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_a_token_that_others_may_have_read_is_replaced(tmp_path: Path) -> None:
    token = kept_token(tmp_path)
    (tmp_path / ".token").chmod(0o644)
    assert kept_token(tmp_path) != token
    assert (tmp_path / ".token").stat().st_mode & 0o077 == 0


def test_a_token_that_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^cannot keep the page's token in .*\.token: Not a directory$"):
        kept_token(Path(__file__))
    (tmp_path / ".token").mkdir()
    with pytest.raises(UserError, match=r"^cannot keep the page's token in "):
        kept_token(tmp_path)


def test_a_new_start_has_the_same_address(serve: Any, sheet: Path) -> None:
    served = serve(sheet)
    port = str(urlsplit(served.url).port)
    served.end(signal.SIGINT)
    assert serve(sheet, "--port", port).url == served.url


# -- what is kept, whatever happens ------------------------------------------------------------------------------------


def test_everything_is_there_after_a_new_start(sheet: Path) -> None:
    with open_desk(sheet) as desk:
        desk.join({"name": "Ana María"})
        for item, answer in enumerate("mfn"):
            give(desk, item, answer, who="ana-maría", note=f"n{item}")
        desk.close({"who": "ana-maría", "seen": 0})
        before = (desk.progress({}), desk.answers({"who": "ana-maría", "seen": "0"}), cells(desk.sheet_of("ana-maría")))
        desk.sheet_of("ana-maría").unlink()  # written again from the journal
    with open_desk(sheet) as desk:
        after = (desk.progress({}), desk.answers({"who": "ana-maría", "seen": "0"}), cells(desk.sheet_of("ana-maría")))
    assert after == before


def test_half_a_line_at_the_end_is_dropped_and_nothing_else(sheet: Path) -> None:
    with open_desk(sheet) as desk:
        desk.join({"name": "Ana"})
        give(desk, 0, "m")
        give(desk, 1, "f")
    path = sheet.with_name("answers") / JOURNAL
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    start = len(b"".join(lines[:-1]))
    for cut in (start, start + 1, start + 20, len(whole) - 2, len(whole) - 1, len(whole)):
        path.write_bytes(whole[:cut])
        with open_desk(sheet) as desk:
            answers = desk.answers({"who": "ana", "seen": "0"})["changes"]
            assert answers["0"]["answer"] == "m"
            # All but the end of the line is the whole answer, too.
            assert ("1" in answers) == (cut >= len(whole) - 1)
            give(desk, 2, "n")
        with open_desk(sheet) as desk:
            assert desk.answers({"who": "ana", "seen": "0"})["changes"]["2"]["answer"] == "n"


def test_every_prefix_of_a_journal_can_be_opened(sheet: Path) -> None:
    """Wherever the machine stopped, from the first byte on."""
    with open_desk(sheet) as desk:
        desk.join({"name": "Añá"})
        give(desk, 0, "m", who="añá")
    path = sheet.with_name("answers") / JOURNAL
    whole = path.read_bytes()
    for cut in range(0, len(whole), 5):
        path.write_bytes(whole[:cut])
        with open_desk(sheet) as desk:
            desk.start({})


@pytest.mark.parametrize("broken", ["write", "fsync"])
def test_a_full_disk_is_told_and_keeps_what_was_there(desk: Desk, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    give(desk, 0, "m")
    before = journal(desk)
    real = os.write

    def fail(*arguments: Any) -> int:
        if broken == "write" and len(arguments[1]) > 5:
            return real(arguments[0], arguments[1][:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, broken, fail)
        with pytest.raises(UserError, match=r"cannot write .*journal\.jsonl: No space left on device"):
            give(desk, 1, "f")
        if broken == "write":
            patched.setattr(os, "write", lambda *_: fail(None, b""))
            with pytest.raises(UserError, match="No space"):
                give(desk, 1, "f")
    assert journal(desk) == before
    assert desk.answers({"who": "ana", "seen": "0"})["changes"].keys() == {"0"}
    assert give(desk, 1, "f")["is_saved"]


def test_a_sheet_that_cannot_be_written_is_told_and_the_answer_is_safe(desk: Desk) -> None:
    desk.sheet_of("ana").mkdir()
    reply = give(desk, 0, "m")
    assert reply["is_saved"]
    assert reply["warning"].startswith("the answer is safe, but cannot write")
    desk.sheet_of("ana").rmdir()
    assert give(desk, 1, "f")["warning"] == ""
    assert [row[4] for row in cells(desk.sheet_of("ana"))[1:]] == ["M", "F", ""]


def test_answers_to_another_sheet_are_not_mixed_in(sheet: Path, desk: Desk) -> None:
    desk.__exit__(None, None, None)
    write_sheet(sheet, [*ROWS[1:], ROWS[0]])
    with (
        pytest.raises(UserError, match="holds answers to another sheet; choose another directory with -o"),
        open_desk(sheet),
    ):
        pass


def test_one_server_at_a_time(sheet: Path, desk: Desk) -> None:
    with pytest.raises(UserError, match="another server is taking answers in"), open_desk(sheet):
        pass


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        '{"who": "eva", "event": "closed"}',
        '{"who": "ana", "event": "answered", "item": 9, "answer": "m", "note": ""}',
        '{"who": "ana", "event": "answered", "item": 0, "answer": "x", "note": ""}',
        '{"who": "ana", "event": "undone", "item": 0, "answer": "m", "note": ""}',
        '{"who": "ana", "event": "danced"}',
        "[]",
        "nonsense",
    ],
)
def test_a_journal_that_was_tampered_with_is_refused(sheet: Path, line: str) -> None:
    with open_desk(sheet) as desk:
        desk.join({"name": "Ana"})
        path = desk.directory / JOURNAL
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    with pytest.raises(BadFile, match=r"journal\.jsonl, line 3"), open_desk(sheet):
        pass


def test_where_nothing_can_be_written(sheet: Path) -> None:
    sheet.with_name("answers").write_text("a file")
    with pytest.raises(UserError, match="answers"), open_desk(sheet):
        pass


# -- the whole program -------------------------------------------------------------------------------------------------


class Served:
    """`gendermark annotate serve` as a process of its own."""

    def __init__(self, *arguments: str | Path) -> None:
        code = "import sys; from gendermark.cli.app import main; main(sys.argv[1:])"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "annotate", "serve", *map(str, arguments), "--no-open"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        where = urlsplit(self.url)
        with closing(http.client.HTTPConnection(where.netloc, timeout=PATIENCE_SECONDS)) as connection:
            connection.request("GET", where.path)
            self._cookie = connection.getresponse().headers["Set-Cookie"].partition(";")[0]

    def ask(self, path: str, sent: Mapping[str, Any] | None = None) -> Any:
        where = urlsplit(self.url)
        with closing(http.client.HTTPConnection(where.netloc, timeout=PATIENCE_SECONDS)) as connection:
            headers = {"Cookie": self._cookie}
            if sent is None:
                connection.request("GET", f"/{path}", headers=headers)
            else:
                headers |= {"Origin": f"http://{where.netloc}", "Content-Type": "application/json"}
                connection.request("POST", f"/{path}", json.dumps(sent), headers)
            answer = connection.getresponse()
            content = answer.read()
        assert answer.status == 200, content
        return json.loads(content) if answer.headers.get_content_type() == "application/json" else content

    def end(self, by: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(by)
        out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        assert out == ""
        return self.process.returncode, err


@pytest.fixture
def serve() -> Iterator[Any]:
    started: list[Served] = []

    def start(*arguments: str | Path) -> Served:
        started.append(Served(*arguments))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("serving") / "run"
    selection = gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative",))
    gendermark.run("fake:right?p=0.5", [selection], directory=directory)
    return directory


def test_no_answer_is_lost_by_kill_9(serve: Any, run_folder: Path, tmp_path: Path) -> None:
    """Killed in the middle of a hail of answers, again and again: what was confirmed is there."""
    sheet, generator = tmp_path / "sheet.csv", random.Random(1)
    write_sheet(sheet, draw_sample(*read_cell(run_folder), n=24, seed=1))
    confirmed: dict[int, str] = {}
    for start in (0, 8, 16):
        served = serve(sheet, "-o", tmp_path / "answers")
        served.ask("join", {"name": "Ana"})
        found = served.ask("answers?who=ana&seen=0")["changes"]
        assert {int(item): answer["answer"] for item, answer in found.items()}.items() >= confirmed.items()
        for item in range(start, start + 8):
            answer = generator.choice("mfnu")
            sent = {"who": "ana", "item": item, "answer": answer, "note": "", "revision": 0, "seen": 0}
            if item == start + 7:  # the last one is on its way when the server is killed
                killer = threading.Timer(generator.random() / 100, served.process.kill)
                killer.start()
                with suppress(OSError, http.client.HTTPException):
                    served.ask("answer", sent)
                    confirmed[item] = answer
                killer.join()
                served.process.communicate()
            else:
                assert served.ask("answer", sent)["is_saved"]
                confirmed[item] = answer
        assert served.process.returncode == -signal.SIGKILL
    with Desk(read_questions(sheet), tmp_path / "answers") as desk:
        kept = {int(k): v["answer"] for k, v in desk.answers({"who": "ana", "seen": "0"})["changes"].items()}
        assert kept.items() >= confirmed.items()
        assert len(kept) >= 21
        rows = cells(desk.sheet_of("ana"))[1:]
    written = {"m": ["Y", "M"], "f": ["Y", "F"], "n": ["Y", "N"], "u": ["N", ""]}
    assert all(rows[item][3:5] == written[answer] for item, answer in confirmed.items())


def test_ctrl_c_ends_it_cleanly(serve: Any, sheet: Path) -> None:
    served = serve(sheet)
    assert served.url.startswith("http://127.0.0.1:")
    assert b"annotate.js" in served.ask("")
    code, err = served.end(signal.SIGINT)
    assert (code, "Traceback" in err) == (0, False)
    assert err.splitlines() == [
        f"answers to {sheet} go to {sheet.with_name('sheet-answers')}, a sheet for each person",
        "open this address in a browser; Ctrl-C ends it",
        "ended",
    ]


def test_agreement_is_that_of_the_command_line(serve: Any, run_folder: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    result, translations = read_cell(run_folder)
    write_sheet(sheet, draw_sample(result, translations, n=12, seed=1))
    served = serve(sheet, run_folder, "-o", tmp_path / "answers")
    start = served.ask("start")
    assert (start["source_language"], start["target_language"]) == ("ko", "en")
    for who in ("ana", "eva"):
        served.ask("join", {"name": who})
        for item in range(12):
            answer = "mfn"[item % 3] if who == "ana" else "mfnm"[item % 4]
            served.ask("answer", {"who": who, "item": item, "answer": answer, "note": "", "revision": 0, "seen": 0})
        served.ask("close", {"who": who, "seen": 0})
    found = served.ask("agreement?who=eva")
    report = agreement(
        result, translations, [read_sheet(tmp_path / "answers" / f"{who}.csv") for who in ("ana", "eva")]
    )
    sheets, estimates, disagreements = found["tables"]
    assert [row[:3] for row in sheets["rows"]] == [["ana", "12", "12"], ["eva", "12", "12"]]
    assert [(row[0], row[1]) for row in estimates["rows"]] == [(e.slice, e.metric) for e in report.estimates]
    assert len(disagreements["rows"]) == len(report.disagreements) > 0
    value = report.estimate("agreement", "ana ~ eva").value
    assert found["sentences"][0].startswith(f"ana and eva read the same gender in {value:.1f} % of 12 items (between ")
    assert found["sentences"][1].startswith("The judge and the people read the same gender in ")


def test_sheets_of_several_systems(serve: Any, tmp_path: Path) -> None:
    """The other kind of sheet: Y and N, the context and the source, and a hidden reference."""
    folders = [make_lineup_run(tmp_path / name, spec) for name, spec in list(SPECS.items())[:2]]
    sheet, key = tmp_path / "sheet.csv", tmp_path / "key.json"
    lineup, rows = draw_lineup(read_runs(folders), 2, 7)
    write_lineup(sheet, key, lineup, rows)
    questions = read_questions(sheet)
    assert questions.form is LINEUP
    assert questions.items()[0].keys() == {"text", "direction", "context", "source"}
    served = serve(sheet, *folders, "--key", key, "-o", tmp_path / "answers")
    served.ask("join", {"name": "Ana"})
    assert [choice["key"] for choice in served.ask("start")["choices"]] == ["y", "n"]
    for item in range(len(rows)):
        sent = {"who": "ana", "item": item, "answer": "yn"[item % 2], "note": "", "revision": 0, "seen": 0}
        served.ask("answer", sent)
    served.ask("close", {"who": "ana", "seen": 0})
    assert "preferred" in json.dumps(served.ask("agreement?who=ana")["tables"])
    answers = read_answers(tmp_path / "answers" / "ana.csv", read_key(key))
    assert len(answers.answers) == len(rows)


def test_the_page_has_all_its_files() -> None:
    files = page_files()
    page = files[""][1].decode()
    assert "annotate.js" in page
    assert "annotate.css" in page
    assert {kind for kind, _ in files.values()} == {"text/html", "text/css", "text/javascript"}
    assert "<script>" not in page, "the policy of the server would not let it run"
    assert "style=" not in page


def test_mistakes_on_the_command_line(tmp_path: Path, sheet: Path, run_folder: Path, capsys: Any) -> None:
    from gendermark.cli.app import _exit_code

    other = Path(shutil.copytree(run_folder, tmp_path / "other"))
    for arguments, words in (
        ([tmp_path / "none.csv"], "there is no such file"),
        ([sheet, run_folder, other], "is of one run; give that run folder only"),
        ([sheet, "--key", tmp_path / "key.json"], "--key is for sheets that `export-systems` wrote"),
        ([sheet, tmp_path], "is not a run folder"),
        (
            [sheet, run_folder],
            f"{sheet} is not of tgbi.ko-en in {run_folder}: 3 of its 3 sentences are not translations there; give the "
            "run it was exported from",
        ),
        ([sheet, "--host", "192.0.2.1"], "cannot listen on 192.0.2.1"),
    ):
        assert _exit_code(["annotate", "serve", *map(str, arguments), "--no-open"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert words in err
        assert "Traceback" not in err
        assert err.splitlines()[-1].startswith("error: ")
