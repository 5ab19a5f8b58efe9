"""Answers given in the browser: kept whatever happens, and written as sheets that `agree` reads."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from annotation.made import FIRST, SPECS, F, M, contextual_run, judged, written
from gendermark.annotation.agreement import JudgedRun
from gendermark.annotation.lineup import draw_lineup, read_runs, write_lineup
from gendermark.annotation.serving import JOURNAL, LONGEST_NOTE, Desk, identity_of, kept_token
from gendermark.annotation.sheets import GENDERS, read_blank, read_sheet, write_sheet
from gendermark.errors import BadFile, UserError

ROWS = ['7,baker,"El panadero, sí.",,,', "3,'=nurse,'=La enfermera.,,,", "9,doctor,הרופאה של Google.,,,"]


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    return written(tmp_path / "sheet.csv", *ROWS)


@contextmanager
def open_desk(sheet: Path, question: JudgedRun | None = None) -> Iterator[Desk]:
    with Desk(read_blank(sheet), sheet.with_name("answers"), question) as desk:
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


def answers_of(desk: Desk, who: str = "ana") -> dict[int, str]:
    changes = desk.answers({"who": who, "seen": "0"})["changes"]
    return {int(item): answer["answer"] for item, answer in changes.items()}


def cells(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def journal(desk: Desk) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (desk.directory / JOURNAL).read_text(encoding="utf-8").splitlines()]


# -- answers -----------------------------------------------------------------------------------------------------------


def test_answers_become_a_sheet_that_agree_reads(desk: Desk) -> None:
    path = desk.sheet_of("ana")
    assert not path.exists()
    give(desk, 1, "f")
    assert [row.answer for row in read_sheet(path, GENDERS)] == ["", "f", ""], "it is there after the first answer"
    for item, answer in enumerate("mfu"):
        assert give(desk, item, answer)["is_saved"]
    give(desk, 0, "m", note="=odd, “really”")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert cells(path) == [
        list(GENDERS.columns),
        ["7", "baker", "El panadero, sí.", "Y", "M", "'=odd, “really”"],
        ["3", "'=nurse", "'=La enfermera.", "Y", "F", ""],
        ["9", "doctor", "הרופאה של Google.", "N", "", ""],
    ]
    assert [row.answer for row in read_sheet(path, GENDERS)] == ["m", "f", "u"]
    before = journal(desk)
    assert give(desk, 1, "f")["is_saved"]
    assert journal(desk) == before, "an answer that did not change is not written again"


def test_undo_goes_back_step_by_step_also_after_a_new_start(sheet: Path) -> None:
    with open_desk(sheet) as desk:
        desk.join({"name": "Ana"})
        give(desk, 0, "m")
        give(desk, 1, "f", note="sure")
        give(desk, 0, "n")
        undone = desk.undo({"who": "ana", "seen": 0})
        assert (undone["item"], undone["changes"]["0"]["answer"]) == (0, "m")
    with open_desk(sheet) as desk:
        undone = [desk.undo({"who": "ana", "seen": 0}) for _ in range(3)]
        assert [one["item"] for one in undone] == [1, 0, None]
        assert undone[0]["changes"]["1"] == {"answer": "", "note": "", "revision": 2}
        assert [row[3:] for row in cells(desk.sheet_of("ana"))[1:]] == [["", "", ""]] * 3


@pytest.mark.parametrize(
    ("sent", "token"),
    [
        ({"who": "eva"}, "unknown annotator"),
        ({"item": 3}, "there is no item 3"),
        ({"item": -1}, "item"),
        ({"item": True}, "item"),
        ({"item": None}, "item"),
        ({"answer": "x"}, "'x'"),
        ({"answer": None}, "None"),
        ({"answer": ["m"]}, "m"),
        ({"note": "x" * (LONGEST_NOTE + 1)}, "2,001"),
        ({"note": 1}, "note"),
        ({"seen": "x"}, "seen"),
    ],
)
def test_what_no_page_sends_is_refused(desk: Desk, sent: dict[str, Any], token: str) -> None:
    with pytest.raises(UserError, match=token):
        desk.answer({**FIRST, "who": "ana", "item": 0, "answer": "m", **sent})
    assert len(journal(desk)) == 2


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


def test_people_are_distinguished_and_come_back(desk: Desk) -> None:
    assert desk.join({"name": "Eva"}) == {"who": "eva", "name": "Eva"}
    assert desk.join({"name": " ANA "}) == {"who": "ana", "name": "Ana"}
    give(desk, 0, "m")
    give(desk, 0, "f", who="eva")
    give(desk, 1, "f", who="eva")
    people = desk.progress({})["people"]
    assert [(one["name"], one["n_answered"]) for one in people] == [("Ana", 1), ("Eva", 2)]
    assert [cells(desk.sheet_of(who))[1][4] for who in ("ana", "eva")] == ["M", "F"]


@pytest.mark.parametrize(
    ("sent", "token"),
    [
        ({}, "name"),
        ({"name": ""}, "letter"),
        ({"name": "🙂"}, "letter"),
        ({"name": "x" * 61}, "61"),
        ({"name": "\u1f80" * 60}, "file"),  # a letter that becomes two, of five bytes
        ({"name": "Eva"}, r"eva\.csv"),  # somebody filled it in elsewhere
    ],
)
def test_what_is_no_name(desk: Desk, sent: dict[str, Any], token: str) -> None:
    (desk.directory / "eva.csv").write_text("hers", encoding="utf-8")
    with pytest.raises(UserError, match=token):
        desk.join(sent)
    assert (desk.directory / "eva.csv").read_text(encoding="utf-8") == "hers"


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        '{"who": "eva", "event": "closed"}',
        '{"who": "ana", "event": "answered", "item": 9, "answer": "m", "note": ""}',
        '{"who": "ana", "event": "answered", "item": 0, "answer": "x", "note": ""}',
        "nonsense",
    ],
)
def test_a_damaged_journal_is_refused(sheet: Path, line: str) -> None:
    with open_desk(sheet) as desk:
        desk.join({"name": "Ana"})
    with (desk.directory / JOURNAL).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    with pytest.raises(BadFile, match=r"journal\.jsonl, line 3"), open_desk(sheet):
        pass


# -- several tabs ------------------------------------------------------------------------------------------------------


def test_two_tabs(desk: Desk) -> None:
    one = {**FIRST, "who": "ana", "item": 0, "answer": "m", "note": "sure"}
    assert desk.answer(one)["is_saved"]
    other = desk.answer({**FIRST, "who": "ana", "item": 1, "answer": "f"})  # it has not seen the first answer
    assert other["is_saved"]
    assert {item: answer["answer"] for item, answer in other["changes"].items()} == {"0": "m", "1": "f"}
    late = desk.answer({**FIRST, "who": "ana", "item": 0, "answer": "f"})
    assert not late["is_saved"], "what a tab has not seen it does not overwrite"
    assert late["changes"]["0"] == {"answer": "m", "note": "sure", "revision": 1}
    assert cells(desk.sheet_of("ana"))[1][3:] == ["Y", "M", "sure"]
    n = len(journal(desk))
    assert desk.answer(one)["is_saved"], "sent again, as the server was killed before it could confirm"
    assert len(journal(desk)) == n
    assert desk.answer({**FIRST, "who": "ana", "item": 0, "answer": "f", "revision": 1})["is_saved"]


# -- finishing ---------------------------------------------------------------------------------------------------------


def test_finishing_needs_every_answer_and_keeps_them(desk: Desk) -> None:
    give(desk, 0, "m")
    with pytest.raises(UserError, match="2 are not answered"):
        desk.close({"who": "ana", "seen": 0})
    for item in (1, 2):
        give(desk, item, "f")
    for _ in range(2):
        assert desk.close({"who": "ana", "seen": 0})["is_closed"]
    for change in (lambda: give(desk, 0, "f"), lambda: desk.undo({"who": "ana", "seen": 0})):
        with pytest.raises(UserError, match="cannot be changed"):
            change()
    with pytest.raises(UserError, match="without a run folder"):
        desk.agreement({"who": "ana"})


def test_agreement_is_of_those_who_have_finished_for_those_who_have(tmp_path: Path) -> None:
    run = judged([M, F, None])
    sheet = written(tmp_path / "sheet.csv", *(f"{n},worker{n},Texto {n}.,,," for n in range(3)))
    with open_desk(sheet, run) as desk:
        for name in ("Ana", "Eva", "Aan"):
            desk.join({"name": name})
        for item in range(3):
            give(desk, item, "m")
        shown = [desk.start({}), desk.progress({}), desk.answers({"who": "ana", "seen": "0"})]
        assert "palabra" not in json.dumps(shown), "nothing reveals what the judge said"
        with pytest.raises(UserError, match="finish first"):
            desk.agreement({"who": "ana"})
        desk.close({"who": "ana", "seen": 0})
        report, at_work = desk.agreement({"who": "ana"})
        assert [one["name"] for one in report.content["sheets"]] == ["ana"]
        assert at_work == [], "who has answered nothing keeps nobody waiting"
        give(desk, 0, "f", who="eva")
        assert desk.agreement({"who": "ana"})[1] == ["Eva"]
        for item in range(1, 3):
            give(desk, item, "f", who="eva")
        desk.close({"who": "eva", "seen": 0})
        report, at_work = desk.agreement({"who": "eva"})
        assert ([one["name"] for one in report.content["sheets"]], at_work) == (["ana", "eva"], [])


# -- the address -------------------------------------------------------------------------------------------------------


def test_the_token_is_kept_and_a_bad_one_replaced(tmp_path: Path) -> None:
    path, token = tmp_path / ".token", kept_token(tmp_path)
    assert len(token) == 32
    assert kept_token(tmp_path) == token
    assert path.stat().st_mode & 0o077 == 0 or os.name != "posix"
    path.write_bytes(b"../" * 12)
    assert kept_token(tmp_path) == kept_token(tmp_path) != token
    path.unlink()
    path.mkdir()
    with pytest.raises(UserError, match=r"\.token"):
        kept_token(tmp_path)


# -- what is kept, whatever happens ------------------------------------------------------------------------------------


def test_everything_is_there_after_a_new_start(sheet: Path) -> None:
    def state(desk: Desk) -> Any:
        who = "ana-maría"
        return desk.progress({}), desk.answers({"who": who, "seen": "0"}), cells(desk.sheet_of(who))

    with open_desk(sheet) as desk:
        desk.join({"name": "Ana María"})
        for item, answer in enumerate("mfn"):
            give(desk, item, answer, who="ana-maría", note=f"n{item}")
        desk.close({"who": "ana-maría", "seen": 0})
        before = state(desk)
        desk.sheet_of("ana-maría").unlink()  # written again from the journal
        with pytest.raises(UserError, match="another server is taking answers"), open_desk(sheet):
            pass
    with open_desk(sheet) as desk:
        assert state(desk) == before


def test_every_prefix_of_a_journal_can_be_opened(sheet: Path) -> None:
    """Wherever the machine stopped, from the first byte on: half a line at the end is dropped, and nothing else."""
    with open_desk(sheet) as desk:
        desk.join({"name": "Añá"})
        give(desk, 0, "m", who="añá")
        give(desk, 1, "f", who="añá")
    path = desk.directory / JOURNAL
    whole = path.read_bytes()
    start = len(b"".join(whole.splitlines(keepends=True)[:-1]))
    for cut in (*range(0, start, 11), start, start + 1, start + 20, len(whole) - 2, len(whole) - 1, len(whole)):
        path.write_bytes(whole[:cut])
        with open_desk(sheet) as desk:
            desk.start({})
            if cut >= start:
                assert answers_of(desk, "añá") == ({0: "m", 1: "f"} if cut == len(whole) else {0: "m"})
                give(desk, 2, "n", who="añá")
        if cut >= start:
            with open_desk(sheet) as desk:
                assert answers_of(desk, "añá")[2] == "n"


@pytest.mark.parametrize("broken", ["write", "fsync"])
def test_a_full_disk_is_said_and_keeps_what_was_there(desk: Desk, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    give(desk, 0, "m")
    before = journal(desk)
    real = os.write

    def fail(*arguments: Any) -> int:
        if broken == "write" and len(arguments[1]) > 5:
            return real(arguments[0], arguments[1][:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, broken, fail)
        with pytest.raises(UserError, match=r"journal\.jsonl: No space left on device"):
            give(desk, 1, "f")
        if broken == "write":
            patched.setattr(os, "write", lambda *_: fail(None, b""))
            with pytest.raises(UserError, match="No space"):
                give(desk, 1, "f")
    assert journal(desk) == before
    assert answers_of(desk) == {0: "m"}
    assert give(desk, 1, "f")["is_saved"]


def test_folders_that_cannot_be_used(sheet: Path) -> None:
    with open_desk(sheet):
        pass
    written(sheet, *ROWS[::-1])
    with pytest.raises(UserError, match="another sheet"), open_desk(sheet):
        pass
    (sheet.parent / "x").mkdir()
    other = written(sheet.parent / "x" / "s.csv", *ROWS)
    other.with_name("answers").write_text("a file")
    with pytest.raises(UserError, match="answers"), open_desk(other):
        pass


# -- the whole program -------------------------------------------------------------------------------------------------


def drawn(run_folder: Path, path: Path, n: int) -> Path:
    write_sheet(path, GENDERS.columns, JudgedRun.read(run_folder).draw(n, 1))
    return path


def test_a_run_from_start_to_agreement_and_ctrl_c(serve: Any, run_folder: Path, tmp_path: Path) -> None:
    sheet = drawn(run_folder, tmp_path / "sheet.csv", 12)
    served = serve(sheet, run_folder)
    assert served.url.startswith("http://127.0.0.1:")
    assert b"annotate.js" in served.ask("")
    start = served.ask("start")
    assert (start["source_language"], start["target_language"]) == ("ko", "en")
    served.fill("ana", "mfn" * 4)
    served.ask("join", {"name": "eva"})
    served.ask("answer", {**FIRST, "who": "eva", "item": 0, "answer": "m"})
    found = served.ask("agreement?who=ana")
    assert (found["left_out"], len(found["tables"])) == (["eva"], 2), "disagreements are not for those at work"
    served.fill("eva", "mfnm" * 3)
    found = served.ask("agreement?who=eva")
    report = JudgedRun.read(run_folder).agree([tmp_path / "sheet-answers" / f"{who}.csv" for who in ("ana", "eva")])
    sheets, estimates, disagreements = found["tables"]
    assert [row[:3] for row in sheets["rows"]] == [["ana", "12", "12"], ["eva", "12", "12"]]
    assert [(row[0], row[1]) for row in estimates["rows"]] == [(e.slice, e.metric) for e in report.estimates]
    assert len(disagreements["rows"]) == len(report.content["disagreements"]) > 0
    value = report.estimate("agreement", "ana ~ eva").value
    assert f"{value:.1f}% of 12 items" in found["sentences"][0]
    code, err = served.end(signal.SIGINT)
    assert (code, "Traceback" in err, err.splitlines()[-1]) == (0, False, "stopped")
    again = serve(sheet, run_folder, "--port", str(urlsplit(served.url).port))
    assert again.url == served.url, "tabs that are open go on"


def test_sheets_of_several_systems(serve: Any, tmp_path: Path) -> None:
    """The other kind of sheet: Y and N, the context and the source, and a hidden reference."""
    folders = [contextual_run(tmp_path / name, spec) for name, spec in list(SPECS.items())[:2]]
    sheet, key = tmp_path / "sheet.csv", tmp_path / "key.json"
    lineup, rows = draw_lineup(read_runs(folders), 2, 7)
    write_lineup(sheet, key, lineup, rows)
    served = serve(sheet, *folders, "--key", key, "-o", tmp_path / "answers")
    start = served.ask("start")
    assert start["items"][0].keys() == {"text", "direction", "context", "source"}
    assert [choice["key"] for choice in start["choices"]] == ["y", "n"]
    served.ask("join", {"name": "Eva"})
    served.ask("answer", {**FIRST, "who": "eva", "item": 0, "answer": "y"})
    served.fill("ana", "yn" * (len(rows) // 2))
    found = served.ask("agreement?who=ana")
    assert (found["tables"], found["left_out"], len(found["sentences"])) == ([], ["Eva"], 1)
    served.fill("eva", "y" * len(rows))
    assert "preferred" in json.dumps(served.ask("agreement?who=ana")["tables"])
    assert {row[4] for row in cells(tmp_path / "answers" / "ana.csv")[1:]} == {"Y", "N"}
