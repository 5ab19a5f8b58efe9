"""Where official files are kept on this machine: `CACHE/data/OWNER/REPO/REVISION/PATH`, verified at every use."""

from __future__ import annotations

import errno
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from gendermark.data.card import Card, DataFile, Revision
from gendermark.data.download import Progress, Say, open_source
from gendermark.errors import UserError
from gendermark.io import locks

CACHE = "GENDERMARK_CACHE"

LONGEST_WAIT_SECONDS = 1800.0
"""For another process that fetches the same files; if it dies, its lock is free at once."""


class State(StrEnum):
    """What is in the cache in the place of a file."""

    GOOD = "good"
    MISSING = "missing"
    DAMAGED = "damaged"


def cache_root() -> Path:
    """`$GENDERMARK_CACHE`, or the place this platform keeps a user's caches in."""
    try:
        if chosen := os.environ.get(CACHE):
            return Path(chosen).expanduser().absolute()
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "gendermark" / "Cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "gendermark"
        xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))  # the XDG standard says to ignore a relative one
        return (xdg if xdg.is_absolute() else Path.home() / ".cache") / "gendermark"
    except RuntimeError:  # no HOME, and no entry in the user database
        raise UserError(f"this user has no home directory to keep data in; set {CACHE} to a directory") from None


def directory(card: Card, revision: Revision) -> Path:
    return cache_root() / "data" / card.repository / revision.commit


def local_path(card: Card, revision: Revision, file: DataFile) -> Path:
    """Where a file is, or will be; never outside the cache, even by a symbolic link in it."""
    root, path = cache_root().resolve(), directory(card, revision) / file.path
    for place in (path, path.with_name(f"{path.name}.part")):
        if not Path(os.path.realpath(place)).is_relative_to(root):
            raise UserError(f"{place} leads out of the cache by a symbolic link; remove that, or move {CACHE} instead")
    return path


def state(card: Card, revision: Revision, file: DataFile) -> State:
    """Whether a file is in the cache and has the SHA-256 of its card. (All 34 MB there are hash in 0.1 s.)"""
    path = local_path(card, revision, file)
    try:
        if path.stat().st_size != file.size:
            return State.DAMAGED
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return State.MISSING
    except OSError:
        return State.DAMAGED
    return State.GOOD if found == file.sha256 else State.DAMAGED


def not_good(card: Card, revision: Revision, files: Iterable[DataFile]) -> list[DataFile]:
    """Those of some files that have to be fetched."""
    return [file for file in files if state(card, revision, file) is not State.GOOD]


def _ignore(*_: object) -> None:
    pass


def fetch(
    card: Card, revision: Revision, files: Iterable[DataFile], *, progress: Progress = _ignore, say: Say = _ignore
) -> dict[str, Path]:
    """Where some files of a revision (`revision.select`) are, after fetching those that are missing or damaged.

    Processes that want the same revision take turns, and find what the one before them fetched.
    """
    files = tuple(files)
    # A cache that has it all needs no lock, and so may be read-only.
    if not_good(card, revision, files):
        base = directory(card, revision)
        lock = base.with_name(f"{base.name}.lock")
        with _disk_problems():
            lock.parent.mkdir(parents=True, exist_ok=True)
            lock.touch()
            waiting = f"another process is fetching {card.name} {revision.revision_id}; waiting for it"
            with locks.hold(lock, timeout_seconds=LONGEST_WAIT_SECONDS, on_wait=lambda: say(waiting)):
                _bring(card, revision, not_good(card, revision, files), progress, say)
    return {file.path: local_path(card, revision, file) for file in files}


def _bring(card: Card, revision: Revision, files: list[DataFile], progress: Progress, say: Say) -> None:
    if not files:  # the process we waited for brought them all
        return
    with open_source(progress, say) as bring:
        for file in files:
            target = local_path(card, revision, file)
            target.parent.mkdir(parents=True, exist_ok=True)
            bring(f"{card.repository}/{revision.commit}/{file.path}", file, target)


@contextmanager
def _disk_problems() -> Iterator[None]:
    """Say what is wrong with the cache's disk in one sentence."""
    try:
        yield
    except BrokenPipeError:  # that is whoever read our messages, not the disk
        raise
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            trouble, remedy = "is on a full disk", "free some space and run this again to go on where it stopped, or "
        else:
            trouble, remedy = f"cannot be written to ({problem.strerror or problem})", ""
        raise UserError(f"the cache {cache_root()} {trouble}; {remedy}set {CACHE} to another directory") from None
