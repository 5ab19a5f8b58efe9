"""Annotation in the browser: what the page asks for, and where its answers go. Nothing of HTTP is known here.

Every answer is a line of a journal, safe on the disk before the page is told so. The sheets, one for each person, are
written from the journal after every answer, in the format of the sheet that was given: `agree` reads them at any time.
What the judge said is not known here before a person has finished.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import secrets
import threading
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any

from gendermark import __version__
from gendermark.annotation.journal import Journal
from gendermark.annotation.questions import Questions
from gendermark.annotation.sheets import inert
from gendermark.errors import BadFile, UserError
from gendermark.io import locks
from gendermark.io.textfiles import write_text
from gendermark.records import Table

JOURNAL = "journal.jsonl"
TOKEN = ".token"
LONGEST_NAME = 60
_LONGEST_FILE_NAME = 120
"""Bytes; most file systems take 255, and some of them are for a temporary file."""
LONGEST_NOTE = 2_000
"""Characters."""
ASSETS = {"": "annotate.html", "annotate.css": "annotate.css", "annotate.js": "annotate.js"}
"""The files of the page, by the path they are asked for."""
_MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


# -- people ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """What one person has said about one item so far."""

    choice: str = ""
    note: str = ""
    revision: int = 0
    """How often it was changed: a tab that has not seen the last change must not undo it unknowingly."""

    def to_json(self) -> dict[str, str | int]:
        return {"answer": self.choice, "note": self.note, "revision": self.revision}


_BLANK = Answer()


class Annotator:
    """One person: the state that the lines of the journal add up to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.answers: dict[int, Answer] = {}
        self.is_closed = False
        self.changed: list[int] = []
        """The items in the order they were changed."""
        self.undoable: list[tuple[int, Answer]] = []
        """What could be undone: an item, and what was said about it before."""

    def answer(self, item: int) -> Answer:
        return self.answers.get(item, _BLANK)

    @property
    def n_answered(self) -> int:
        return sum(answer.choice != "" for answer in self.answers.values())

    def change(self, item: int, choice: str, note: str, *, is_undo: bool = False) -> None:
        before = self.answer(item)
        if is_undo:
            self.undoable.pop()
        else:
            self.undoable.append((item, before))
        self.answers[item] = Answer(choice, note, before.revision + 1)
        self.changed.append(item)

    def changes(self, seen: int) -> dict[str, Any]:
        """The answers that have changed since so many changes were seen."""
        return {
            "seen": len(self.changed),
            "is_closed": self.is_closed,
            "changes": {str(item): self.answers[item].to_json() for item in sorted(set(self.changed[seen:]))},
        }


def identity_of(name: str) -> str:
    """By which a person is known, and called as a file: case, accents' encoding and punctuation do not matter."""
    letters = unicodedata.normalize("NFC", name).casefold()
    return "-".join("".join(letter if letter.isalnum() else " " for letter in letters).split())


@dataclass(frozen=True)
class Agreement:
    """What is shown at the end: sentences, then the tables behind them, then what to mind."""

    sentences: Iterable[str] = ()
    tables: Iterable[Table] = ()
    warnings: Iterable[str] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "sentences": list(self.sentences),
            "tables": [
                {
                    "title": table.title,
                    "columns": list(table.columns),
                    "rows": [["" if cell is None else str(cell) for cell in row] for row in table.rows],
                }
                for table in self.tables
            ],
            "warnings": list(self.warnings),
        }


Agree = Callable[[Sequence[Path], bool], Agreement]
"""Finished sheets, and whether single answers of the judge may be shown -> what is shown."""


class Desk:
    """Where people's answers are taken. Use as a context manager: one process at a time has the folder."""

    def __init__(
        self,
        questions: Questions,
        directory: Path,
        agree: Agree | None = None,
        languages: tuple[str, str] = ("", ""),
    ) -> None:
        self.questions, self.directory = questions, directory
        self._source_language, self._target_language = languages
        self._agree = agree
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

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()

    def sheet_of(self, who: str) -> Path:
        """No file system takes names of any length; a long one is cut, and told from others by its digest."""
        name = who.encode()
        if len(name) > _LONGEST_FILE_NAME:
            digest = hashlib.sha256(name).hexdigest()[:12]
            who = f"{name[:_LONGEST_FILE_NAME].decode(errors='ignore')}-{digest}"
        return self.directory / f"{who}.csv"

    # -- what the page asks for ----------------------------------------------------------------------------------------

    def start(self, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """Everything but the answers."""
        form = self.questions.form
        return {
            "title": self.questions.path.stem,
            "question": form.question,
            "hint": form.hint,
            "choices": [{"key": choice.key, "label": choice.label} for choice in form.choices],
            "items": self.questions.items(),
            "source_language": self._source_language,
            "target_language": self._target_language,
            "longest_note": LONGEST_NOTE,
            "has_agreement": self._agree is not None,
            **self.progress({}),
        }

    def progress(self, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """Who takes part, and how far they are."""
        with self._lock:
            return {
                "people": [
                    {"who": who, "name": person.name, "n_answered": person.n_answered, "is_closed": person.is_closed}
                    for who, person in self._people.items()
                ]
            }

    def answers(self, query: Mapping[str, str]) -> dict[str, Any]:
        """A person's answers that have changed since `seen`."""
        with self._lock:
            return self._person(query).changes(_number(query, "seen"))

    def agreement(self, query: Mapping[str, str]) -> dict[str, Any]:
        """How far those who have finished agree; for those who have finished."""
        with self._lock:
            if not self._person(query).is_closed:
                raise UserError("agreement is shown to those who have finished; finish first")
            closed = [who for who, person in self._people.items() if person.is_closed]
            # Who has answered nothing has not begun: a name that was mistyped must not keep the others waiting.
            still_open = [person.name for person in self._people.values() if not person.is_closed and person.n_answered]
        if self._agree is None:
            raise UserError("the server was started without a run folder, so it cannot tell how far people agree")
        # Others may still be at work, perhaps at this very screen: the judge's single answers are not for them.
        found = self._agree([self.sheet_of(who) for who in closed], not still_open)
        return {**found.to_json(), "left_out": still_open}

    # -- what the page tells -------------------------------------------------------------------------------------------

    def join(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """A person says who they are; whoever was here before goes on."""
        name = _line(sent, "name", LONGEST_NAME)
        who = identity_of(name)
        if not who:
            raise UserError("a name has at least one letter or digit")
        with self._lock:
            if who not in self._people:
                if self.sheet_of(who).exists():
                    raise UserError(
                        f"there is already a file {self.sheet_of(who).name} of somebody else; take another name"
                    )
                self._journal.append(_event(who, "joined", name=name))
                self._people[who] = Annotator(name)
            return {"who": who, "name": self._people[who].name}

    def answer(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Keep an answer. Not where another tab has changed it meanwhile: the page shows that first."""
        item, revision, seen = (_number(sent, name) for name in ("item", "revision", "seen"))
        choice, note = sent.get("answer"), _line(sent, "note", LONGEST_NOTE)
        if item >= len(self.questions.rows):
            raise UserError(f"there is no item {item}")
        if choice not in ("", *(choice.key for choice in self.questions.form.choices)):
            raise UserError(f"{choice!r:.20} is not one of the answers")
        with self._lock:
            person = self._open_person(sent)
            now = person.answer(item)
            is_same = (choice, note) == (now.choice, now.note)
            is_saved = is_same or revision == now.revision
            warning = ""
            if is_saved and not is_same:
                self._journal.append(_event(str(sent["who"]), "answered", item=item, answer=choice, note=note))
                person.change(item, str(choice), note)
                warning = self._try_write_sheet(str(sent["who"]))
            return {"is_saved": is_saved, "warning": warning, **person.changes(seen)}

    def undo(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Take back a person's last change, whichever tab made it."""
        seen = _number(sent, "seen")
        with self._lock:
            person = self._open_person(sent)
            item, warning = None, ""
            if person.undoable:
                item, before = person.undoable[-1]
                event = _event(str(sent["who"]), "undone", item=item, answer=before.choice, note=before.note)
                self._journal.append(event)
                person.change(item, before.choice, before.note, is_undo=True)
                warning = self._try_write_sheet(str(sent["who"]))
            return {"item": item, "warning": warning, **person.changes(seen)}

    def close(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """A person has finished: what they answered stays as it is from now on."""
        seen = _number(sent, "seen")
        with self._lock:
            person = self._person(sent)
            missing = len(self.questions.rows) - person.n_answered
            if missing:
                raise UserError(f"{missing:,} are not answered yet")
            if not person.is_closed:
                self._journal.append(_event(str(sent["who"]), "closed"))
                person.is_closed = True
            return person.changes(seen)

    def _person(self, given: Mapping[str, Any]) -> Annotator:
        person = self._people.get(str(given.get("who")))
        if person is None:
            raise UserError("nobody of that name takes part; say who you are")
        return person

    def _open_person(self, given: Mapping[str, Any]) -> Annotator:
        person = self._person(given)
        if person.is_closed:
            raise UserError("you have finished; answers cannot be changed any more")
        return person

    # -- what is kept --------------------------------------------------------------------------------------------------

    def _replay(self) -> None:
        """The state that the journal adds up to."""
        lines = self._journal.lines
        if not lines:
            about = {"sheet": self.questions.path.name, "digest": self.questions.digest, "gendermark": __version__}
            self._journal.append(about)
            return
        if lines[0].get("digest") != self.questions.digest:
            raise UserError(f"{self.directory} holds answers to another sheet; choose another directory with -o")
        for number, event in enumerate(lines[1:], start=2):
            try:
                self._repeat(event)
            except (KeyError, TypeError, ValueError, IndexError, UserError):
                raise BadFile(
                    self._journal.path, "is not a line of this journal; put back a copy of it", line=number
                ) from None

    def _repeat(self, event: Mapping[str, Any]) -> None:
        who, kind = str(event["who"]), event["event"]
        if kind == "joined":
            # It names the file of the sheet: others who can write this journal must not choose any other file.
            if not who or who != identity_of(who):
                raise ValueError(who)
            self._people[who] = Annotator(_line(event, "name", LONGEST_NAME))
        elif kind == "closed":
            self._people[who].is_closed = True
        elif kind in ("answered", "undone"):
            choice = str(event["answer"])
            item, note = _number(event, "item"), _line(event, "note", LONGEST_NOTE)
            self._row(item, Answer(choice))
            self._people[who].change(item, choice, note, is_undo=kind == "undone")
        else:
            raise ValueError(kind)

    def _row(self, item: int, answer: Answer) -> list[str]:
        """A row of the sheet, filled in."""
        form = self.questions.form
        cells = list(self.questions.rows[item])
        if answer.choice:
            (choice,) = (choice for choice in form.choices if choice.key == answer.choice)
            for column, text in choice.cells.items():
                cells[column] = text
        cells[form.note] = inert(answer.note)
        return cells

    def _write_sheet(self, who: str) -> None:
        person, path = self._people[who], self.sheet_of(who)
        if path.is_symlink():
            raise BadFile(path, "is a link to another file, which is not overwritten; delete the link")
        buffer = io.StringIO(newline="")
        writer = csv.writer(buffer)
        writer.writerow(self.questions.form.columns)
        writer.writerows(self._row(item, person.answer(item)) for item in range(len(self.questions.rows)))
        write_text(path, "\ufeff" + buffer.getvalue())

    def _try_write_sheet(self, who: str) -> str:
        """Why the sheet could not be written, if so. The answer is safe in the journal; the next one tries again."""
        try:
            self._write_sheet(who)
        except UserError as problem:
            return f"the answer is safe, but {problem}"
        return ""


def _event(who: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"at": datetime.now(UTC).isoformat(timespec="seconds"), "who": who, "event": kind, **more}


def _number(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise UserError(f"{name} is a whole number, not {value!r:.20}")


def _line(given: Mapping[str, Any], name: str, longest: int) -> str:
    """A text on one line, without what no file should have."""
    value = given.get(name)
    if not isinstance(value, str):
        raise UserError(f"{name} is a text, not {value!r:.20}")
    line = " ".join("".join(x for x in value if x.isspace() or unicodedata.category(x) not in ("Cc", "Cs")).split())
    if len(line) > longest:
        raise UserError(f"the {name} has {len(line):,} characters; {longest:,} are possible")
    return line


def kept_token(directory: Path) -> str:
    """The secret part of the page's address, the same after every start: tabs that are open go on, on the same port.

    Only its owner may read the file; where others could, the token may be known, and another one is made.
    """
    path = directory / TOKEN
    try:
        with suppress(FileNotFoundError):
            is_private = os.name != "posix" or path.stat().st_mode & 0o077 == 0
            token = path.read_text(encoding="latin-1").strip()
            if is_private and re.fullmatch(r"[A-Za-z0-9_-]{32,64}", token):
                return token
            path.unlink()
        token = secrets.token_urlsafe(24)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{token}\n")
    except OSError as problem:
        raise UserError(f"cannot keep the page's token in {path}: {problem.strerror or problem}") from None
    return token


def page_files() -> dict[str, tuple[str, bytes]]:
    """Media type and content of every file of the page, by path."""
    directory = files("gendermark.annotation") / "assets"
    return {path: (_MEDIA_TYPES[Path(name).suffix], (directory / name).read_bytes()) for path, name in ASSETS.items()}
