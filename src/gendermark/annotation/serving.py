"""Annotation in the browser: the data for the page and the storage of answers. No HTTP here.

Every answer is a line of a journal, on disk before the page gets its confirmation. One sheet per annotator is rewritten
from the journal after every answer, in the format of the given sheet, so `agree` can read them at any time.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gendermark import __version__
from gendermark.annotation.agreement import AgreementReport, JudgedRun, NoItem, Question
from gendermark.annotation.lineup import Lineup
from gendermark.annotation.sheets import GENDERS, BlankSheet, write_sheet
from gendermark.errors import BadFile, UserError
from gendermark.io import locks
from gendermark.io.textfiles import read_jsonl
from gendermark.metrics.metric import Resampling

JOURNAL = "journal.jsonl"
LONGEST_NAME = 60
_LONGEST_FILE_NAME = 200
"""Bytes; most file systems allow 255, and temporary files need some of them."""
LONGEST_NOTE = 2_000
"""Characters."""
_BLANK = {"answer": "", "note": "", "revision": 0}


def question_of(sheet: BlankSheet, directories: Sequence[Path], cell: str, key: Path | None) -> Question | None:
    """The runs or the key that a sheet was exported from; none if none are given."""
    is_of_one_run = sheet.form is GENDERS
    if is_of_one_run and key is not None:
        raise UserError(f"--key is for sheets that `annotate export --key` wrote; {sheet.path} is not one")
    if is_of_one_run and len(directories) > 1:
        raise UserError(f"{sheet.path} is from one run; give that run folder only")
    if not is_of_one_run and key is None and directories:
        raise UserError(f"{sheet.path} mixes several systems; add its key: --key KEY.json")
    question: JudgedRun | Lineup
    if key is not None:
        question, origin = Lineup.read(key, directories), str(key)
    elif directories:
        question = JudgedRun.read(directories[0], cell)
        origin = f"{question.result.cell} in {directories[0]}"
    else:
        return None
    n_foreign = 0
    for row in sheet.rows():
        try:
            question.known(row)
        except NoItem:
            n_foreign += 1
    if n_foreign:
        raise UserError(
            f"{sheet.path} does not belong to {origin}, which lacks {n_foreign:,} of its {len(sheet.cells):,} rows; "
            "give what it was exported from"
        )
    return question


class Journal:
    """An append-only file of JSON lines, each flushed to disk before it is confirmed.

    A crash can truncate the last, unconfirmed line, which is removed when the file is opened again. The caller ensures
    that only one process writes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
            os.ftruncate(self._handle, path.read_bytes().rfind(b"\n") + 1)
            os.fsync(self._handle)
        except OSError as problem:
            raise UserError(f"cannot write {path}: {problem.strerror or problem}") from None

    def append(self, row: Mapping[str, Any]) -> None:
        """Append a line, which survives a crash or power failure once this returns. If it raises, nothing was added."""
        line = f"{json.dumps(row, ensure_ascii=False)}\n".encode()
        size = os.fstat(self._handle).st_size
        try:
            while line:
                line = line[os.write(self._handle, line) :]
            os.fsync(self._handle)
        except OSError as problem:
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, size)
            raise UserError(f"cannot write {self.path}: {problem.strerror or problem}; nothing of it is kept") from None

    def close(self) -> None:
        os.close(self._handle)


class Annotator:
    """One annotator's state: the sum of the journal's lines."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.answers: dict[int, dict[str, Any]] = {}
        """By item: answer, note, and number of changes, so that a stale tab cannot undo a change unknowingly."""
        self.is_closed = False
        self.changed: list[int] = []
        """Items in the order of their changes."""
        self.undoable: list[tuple[int, dict[str, Any]]] = []
        """An item, and its previous answer."""

    def answer(self, item: int) -> dict[str, Any]:
        return self.answers.get(item, _BLANK)

    @property
    def n_answered(self) -> int:
        return sum(answer["answer"] != "" for answer in self.answers.values())

    def change(self, item: int, choice: str, note: str, *, is_undo: bool = False) -> None:
        before = self.answer(item)
        if is_undo:
            self.undoable.pop()
        else:
            self.undoable.append((item, before))
        self.answers[item] = {"answer": choice, "note": note, "revision": before["revision"] + 1}
        self.changed.append(item)

    def changes(self, seen: int) -> dict[str, Any]:
        """Answers changed since the first `seen` changes."""
        return {
            "seen": len(self.changed),
            "is_closed": self.is_closed,
            "changes": {str(item): self.answers[item] for item in sorted(set(self.changed[seen:]))},
        }


def identity_of(name: str) -> str:
    """The identity and file name of an annotator: ignores case, accent encoding and punctuation."""
    letters = unicodedata.normalize("NFC", name).casefold()
    return "-".join("".join(letter if letter.isalnum() else " " for letter in letters).split())


class Desk:
    """Collects all annotators' answers. A context manager: one process at a time has the folder."""

    def __init__(self, sheet: BlankSheet, directory: Path, question: Question | None = None, seed: int = 12345) -> None:
        self.sheet, self.directory, self.question = sheet, directory, question
        self._can_agree = question is not None and question.can_agree
        self._resampling = Resampling(seed=seed)
        self._people: dict[str, Annotator] = {}
        self._lock = threading.Lock()
        self._resources = ExitStack()

    def __enter__(self) -> Desk:
        with ExitStack() as resources:
            try:
                resources.enter_context(locks.hold(self.directory / ".lock"))
            except locks.LockTimeoutError:
                raise UserError(
                    f"another server is taking answers in {self.directory}; use that one, or choose another with -o"
                ) from None
            self._journal = Journal(self.directory / JOURNAL)
            resources.callback(self._journal.close)
            self._replay()
            for who in self._people:
                self._write_sheet(who)
            self._resources = resources.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def sheet_of(self, who: str) -> Path:
        return self.directory / f"{who}.csv"

    # -- what the page reads -------------------------------------------------------------------------------------------

    def start(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Everything but the answers."""
        form = self.sheet.form
        source, target = self.question.languages if self.question else ("", "")
        return {
            "title": self.sheet.path.stem,
            "question": form.question,
            "hint": form.hint,
            "choices": [{"key": choice.key, "label": choice.label} for choice in form.choices],
            "items": self.sheet.items(),
            "source_language": source,
            "target_language": target,
            "longest_note": LONGEST_NOTE,
            "has_agreement": self._can_agree,
            **self.progress(query),
        }

    def progress(self, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        with self._lock:
            return {
                "people": [
                    {"who": who, "name": person.name, "n_answered": person.n_answered, "is_closed": person.is_closed}
                    for who, person in self._people.items()
                ]
            }

    def answers(self, query: Mapping[str, str]) -> dict[str, Any]:
        """An annotator's answers that have changed since `seen`."""
        with self._lock:
            return self._person(query).changes(_number(query, "seen"))

    def agreement(self, query: Mapping[str, str]) -> tuple[AgreementReport, list[str]]:
        """Agreement of those who have finished, and the names of those who have not."""
        with self._lock:
            if not self._person(query).is_closed:
                raise UserError("agreement is shown to those who have finished; finish first")
            closed = [self.sheet_of(who) for who, person in self._people.items() if person.is_closed]
            # Annotators without answers have not begun: a mistyped name must not keep the others waiting.
            at_work = [person.name for person in self._people.values() if not person.is_closed and person.n_answered]
        if self.question is None or not self._can_agree:
            raise UserError("no agreement to show: the server was started without a run folder")
        return self.question.agree(closed, self._resampling), at_work

    # -- what the page writes ------------------------------------------------------------------------------------------

    def join(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Register an annotator, or let a known one continue."""
        name = _line(sent, "name", LONGEST_NAME)
        who = identity_of(name)
        if not who or len(who.encode()) > _LONGEST_FILE_NAME:
            raise UserError("a name needs a letter or digit, and only characters that file names allow")
        with self._lock:
            if who not in self._people:
                if self.sheet_of(who).exists():
                    raise UserError(
                        f"{self.sheet_of(who).name} already exists and is somebody else's; choose another name"
                    )
                self._record(who, "joined", name=name)
            return {"who": who, "name": self._people[who].name}

    def answer(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Store an answer, unless another tab has changed it meanwhile: the page shows that first."""
        item, revision, seen = (_number(sent, name) for name in ("item", "revision", "seen"))
        choice, note = sent.get("answer"), _line(sent, "note", LONGEST_NOTE)
        if item >= len(self.sheet.cells):
            raise UserError(f"there is no item {item}")
        if choice not in ("", *(one.key for one in self.sheet.form.choices)):
            raise UserError(f"{choice!r:.20} is not one of the answers")
        with self._lock:
            person = self._open_person(sent)
            now = person.answer(item)
            is_same = (choice, note) == (now["answer"], now["note"])
            is_saved = is_same or revision == now["revision"]
            warning = ""
            if is_saved and not is_same:
                warning = self._change(sent, "answered", item, {"answer": choice, "note": note})
            return {"is_saved": is_saved, "warning": warning, **person.changes(seen)}

    def undo(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Undo an annotator's last change, whichever tab made it."""
        seen = _number(sent, "seen")
        with self._lock:
            person = self._open_person(sent)
            item, warning = None, ""
            if person.undoable:
                item, before = person.undoable[-1]
                warning = self._change(sent, "undone", item, before)
            return {"item": item, "warning": warning, **person.changes(seen)}

    def close(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Finish: the annotator's answers are final from now on."""
        seen = _number(sent, "seen")
        with self._lock:
            person = self._person(sent)
            missing = len(self.sheet.cells) - person.n_answered
            if missing:
                raise UserError(f"{missing:,} are not answered yet")
            if not person.is_closed:
                self._record(str(sent["who"]), "closed")
            return person.changes(seen)

    def _person(self, given: Mapping[str, Any]) -> Annotator:
        person = self._people.get(str(given.get("who")))
        if person is None:
            raise UserError("unknown annotator; enter your name")
        return person

    def _open_person(self, given: Mapping[str, Any]) -> Annotator:
        person = self._person(given)
        if person.is_closed:
            raise UserError("you have finished; answers cannot be changed any more")
        return person

    # -- what is kept --------------------------------------------------------------------------------------------------

    def _record(self, who: str, event: str, **more: Any) -> None:
        """Append an event to the journal, then apply it to the state."""
        line = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "who": who, "event": event, **more}
        self._journal.append(line)
        self._take_in(line)

    def _change(self, sent: Mapping[str, Any], event: str, item: int, answer: Mapping[str, Any]) -> str:
        """Store a change. Returns why the sheet could not be written, if so: the answer is safe, the next one tries
        again."""
        who = str(sent["who"])
        self._record(who, event, item=item, answer=answer["answer"], note=answer["note"])
        try:
            self._write_sheet(who)
        except UserError as problem:
            return f"the answer is safe, but {problem}"
        return ""

    def _replay(self) -> None:
        lines = list(read_jsonl(self._journal.path))
        if not lines:
            about = {"sheet": self.sheet.path.name, "digest": self.sheet.digest, "gendermark": __version__}
            self._journal.append(about)
        elif lines[0][1].get("digest") != self.sheet.digest:
            raise UserError(f"{self.directory} holds answers to another sheet; choose another directory with -o")
        for number, event in lines[1:]:
            try:
                self._take_in(event)
            except (KeyError, TypeError, ValueError, IndexError, UserError):
                raise BadFile(
                    self._journal.path, "is not a line of this journal; restore a copy", line=number
                ) from None

    def _take_in(self, event: Mapping[str, Any]) -> None:
        who, kind = str(event["who"]), event["event"]
        if kind == "joined":
            self._people[identity_of(who)] = Annotator(str(event["name"]))
        elif kind == "closed":
            self._people[who].is_closed = True
        elif kind in ("answered", "undone"):
            item, choice, note = _number(event, "item"), str(event["answer"]), str(event["note"])
            self.sheet.form.fill(self.sheet.cells[item], choice, note)  # raises for an invalid answer
            self._people[who].change(item, choice, note, is_undo=kind == "undone")
        else:
            raise ValueError(kind)

    def _write_sheet(self, who: str) -> None:
        answers = map(self._people[who].answer, range(len(self.sheet.cells)))
        filled = zip(self.sheet.cells, answers, strict=True)
        rows = [self.sheet.form.fill(row, answer["answer"], answer["note"]) for row, answer in filled]
        write_sheet(self.sheet_of(who), self.sheet.columns, rows)


def _number(given: Mapping[str, Any], name: str) -> int:
    value = str(given.get(name))
    if value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    raise UserError(f"{name} is a whole number, not {value!r:.20}")


def _line(given: Mapping[str, Any], name: str, longest: int) -> str:
    """A single line without control characters or lone surrogates."""
    value = given.get(name)
    if not isinstance(value, str):
        raise UserError(f"{name} is a text, not {value!r:.20}")
    line = " ".join("".join(x for x in value if x.isspace() or unicodedata.category(x) not in ("Cc", "Cs")).split())
    if len(line) > longest:
        raise UserError(f"the {name} has {len(line):,} characters; at most {longest:,} are allowed")
    return line


def kept_token(directory: Path) -> str:
    """The secret part of the page's address, kept across restarts so that open tabs continue to work."""
    path = directory / ".token"
    try:
        token = path.read_text(encoding="latin-1").strip() if path.exists() else ""
        if not re.fullmatch(r"[A-Za-z0-9_-]{32,64}", token):
            token = secrets.token_urlsafe(24)
            path.touch(mode=0o600)
            path.write_text(f"{token}\n", encoding="ascii")
    except OSError as problem:
        raise UserError(f"cannot keep the page's token in {path}: {problem.strerror or problem}") from None
    return token
