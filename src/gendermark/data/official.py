"""Official files on this machine: downloaded from the authors' repository or a mirror, and verified at every use.

They are kept in `CACHE/data/OWNER/REPO/REVISION/PATH`. A download goes to `FILE.part`, is resumed after an
interruption, and becomes `FILE` only if its SHA-256 matches the card. Never more bytes are kept than the card lists.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files as package_files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit, urlunsplit

from gendermark.errors import DataUnavailable, UnknownName, UserError
from gendermark.io import locks
from gendermark.io.deadlines import Deadline, bounded, within

if TYPE_CHECKING:
    import httpx  # costs 0.1 s, needed for downloads only

# -- the cards: licence, citation, revisions, and the size and SHA-256 of every file; a TOML file per data set

CARDS: Traversable = package_files("gendermark.data") / "cards"


@dataclass(frozen=True, slots=True)
class DataFile:
    path: str
    size: int
    """Bytes."""
    sha256: str
    group: str = "data"
    """`data` is what a benchmark needs; `outputs` are released system outputs, downloaded on request only."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit of the authors' repository, and the files used."""

    revision_id: str
    commit: str
    files: tuple[DataFile, ...]

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(file.group for file in self.files))

    def select(self, group: str | None = None) -> tuple[DataFile, ...]:
        if group is not None and group not in self.groups:
            raise UnknownName(f"group of files of revision {self.revision_id}", group, self.groups)
        return tuple(file for file in self.files if group in (None, file.group))

    def content_hash(self, group: str = "data") -> str:
        """Twelve hex digits that identify the content of a group, whatever its file names."""
        hashes = sorted(file.sha256 for file in self.select(group))
        return hashlib.sha256("\n".join(hashes).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Card:
    """An official data set: origin, licence and citation."""

    name: str
    title: str
    repository: str
    """OWNER/REPO on GitHub."""
    licence: str
    """An SPDX identifier, a name in that style, or `none given`."""
    licence_note: str
    citation: str
    bibtex: str
    revisions: tuple[Revision, ...]

    @property
    def homepage(self) -> str:
        return f"https://github.com/{self.repository}"

    @property
    def notice(self) -> str:
        """Licence and citation, shown before and after a download."""
        licence = f"{self.title} ({self.homepage}), licence: {self.licence}. {self.licence_note}"
        return f"{licence}\nPlease cite: {self.citation}"

    def revision(self, revision_id: str) -> Revision:
        known = {revision.revision_id: revision for revision in self.revisions}
        if revision_id not in known:
            raise UnknownName(f"revision of {self.name}", revision_id, known)
        return known[revision_id]


def card_names() -> list[str]:
    return sorted(entry.name.removesuffix(".toml") for entry in CARDS.iterdir() if entry.name.endswith(".toml"))


def load_card(name: str) -> Card:
    if name not in card_names():
        raise UnknownName("official data set", name, card_names())
    return parse_card((CARDS / f"{name}.toml").read_text(encoding="utf-8"))


def parse_card(text: str) -> Card:
    content = tomllib.loads(text)
    revisions = tuple(
        Revision(
            revision["id"],
            revision["commit"],
            tuple(DataFile(**file, group=group) for group, rows in revision["files"].items() for file in rows),
        )
        for revision in content.pop("revisions")
    )
    return Card(**content, revisions=revisions)


# -- where files are kept and come from

HOST = "https://raw.githubusercontent.com"
MIRROR, CACHE = "GENDERMARK_DATA_MIRROR", "GENDERMARK_CACHE"

N_ATTEMPTS = 4
BACKOFF_SECONDS = 0.5
"""Before the second attempt; doubled before each further one."""
TIMEOUT_SECONDS = 20.0
"""For an answer to begin, and for all of it beyond the time at the slowest accepted rate."""
SLOWEST_BYTES_PER_SECOND = 5_000.0
"""Of a body; a slower server is dropped, and asked for the rest in the next attempt."""
LONGEST_WAIT_SECONDS = 1800.0
"""For another process that downloads the same files; if it dies, its lock is released at once."""

Progress = Callable[[int, int], None]
"""Called with bytes present and bytes in total; a file's bytes are complete only once verified."""
Say = Callable[[str], None]
Fetch = Callable[[str, DataFile, Path, Callable[[int], None]], None]
"""Fetches `OWNER/REPO/REVISION/PATH`, described by a DataFile, to a path; the last argument reports bytes present."""


def cache_root() -> Path:
    """`$GENDERMARK_CACHE`, or the platform's user cache directory."""
    try:
        if chosen := os.environ.get(CACHE):
            return Path(chosen).expanduser().absolute()
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "gendermark" / "Cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "gendermark"
        xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))  # the XDG standard says to ignore relative paths
        return (xdg if xdg.is_absolute() else Path.home() / ".cache") / "gendermark"
    except RuntimeError:  # no HOME, and no entry in the user database
        raise UserError(f"this user has no home directory to keep data in; set {CACHE} to a directory") from None


# -- what loaders ask for


@dataclass(frozen=True, slots=True)
class OfficialFiles:
    """Verified local files: one group of one revision of an official data set."""

    name: str
    revision_id: str
    revision: str
    """The commit."""
    content_hash: str
    """For the signature: equal hashes mean equal data."""
    paths: Mapping[str, Path]

    @property
    def origin(self) -> str:
        return f"official-{self.revision[:8]}-{self.content_hash[:8]}"

    def path(self, relative: str) -> Path:
        return self.paths[relative]


LookedUp = dict[tuple[str, str, str], OfficialFiles | DataUnavailable]
"""For each requested group of files: the files, or why they are unavailable."""
_AT_HAND: ContextVar[LookedUp | None] = ContextVar("_AT_HAND", default=None)


@contextmanager
def nothing_fetched(looked_up: LookedUp) -> Iterator[None]:
    """Within this context, use only the cache or a local mirror, and download nothing.

    Lookups are remembered, since a search through all data requests the same files many times.
    """
    token = _AT_HAND.set(looked_up)
    try:
        yield
    finally:
        _AT_HAND.reset(token)


def official_files(name: str, revision_id: str, group: str = "data", *, say: Say | None = None) -> OfficialFiles:
    """The files of a group, downloaded if not cached.

    `say` (default: the log) receives licence and citation before a download, and notices of waiting and retrying.
    """
    looked_up, key = _AT_HAND.get(), (name, revision_id, group)
    found = looked_up.get(key) if looked_up is not None else None
    if found is None:
        speak: Say = say or logging.getLogger(__name__).info
        card = load_card(name)
        revision = card.revision(revision_id)
        files = revision.select(group)
        # A mere lookup must not count as a request.
        if looked_up is None and not_good(card, revision, files):
            speak(card.notice)
        try:
            paths = fetch(card, revision, files, say=speak)
            found = OfficialFiles(name, revision_id, revision.commit, revision.content_hash(group), paths)
        except DataUnavailable as problem:
            found = problem
        if looked_up is not None:
            looked_up[key] = found
    if isinstance(found, DataUnavailable):
        raise found
    return found


# -- the cache


class State(StrEnum):
    GOOD = "good"
    MISSING = "missing"
    DAMAGED = "damaged"


def directory(card: Card, revision: Revision) -> Path:
    return cache_root() / "data" / card.repository / revision.commit


def state(card: Card, revision: Revision, file: DataFile) -> State:
    """Whether a file is cached with the SHA-256 of its card. (Hashing all 34 MB takes 0.1 s.)"""
    path = directory(card, revision) / file.path
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
    return [file for file in files if state(card, revision, file) is not State.GOOD]


def _ignore(*_: object) -> None:
    pass


def fetch(
    card: Card, revision: Revision, files: Iterable[DataFile], *, progress: Progress = _ignore, say: Say = _ignore
) -> dict[str, Path]:
    """Download missing or damaged files of a revision (`revision.select`); return its directory.

    Processes that want the same revision take turns, and find what the previous one downloaded.
    """
    files, base = tuple(files), directory(card, revision)
    # A complete cache needs no lock, so it may be read-only.
    if not_good(card, revision, files):
        lock = base.with_name(f"{base.name}.lock")
        waiting = f"another process is fetching {card.name} {revision.revision_id}; waiting for it"
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            lock.touch()
            with locks.hold(lock, timeout_seconds=LONGEST_WAIT_SECONDS, on_wait=lambda: say(waiting)):
                if wanted := not_good(card, revision, files):  # none if the process we waited for downloaded all
                    n_before, n_all = 0, sum(file.size for file in wanted)

                    def report(n: int) -> None:
                        progress(n_before + n, n_all)

                    with _open_source(say) as fetch_one:
                        for file in wanted:
                            target = base / file.path
                            target.parent.mkdir(parents=True, exist_ok=True)
                            tail = f"{card.repository}/{revision.commit}/{file.path}"
                            fetch_one(tail, file, target, report)
                            n_before += file.size
        except BrokenPipeError:  # the reader of our messages, not the disk
            raise
        except OSError as problem:
            raise UserError(
                f"the cache {cache_root()} cannot be written to ({problem.strerror or problem}); free space, or set "
                f"{CACHE} to another directory, and rerun the same command to resume"
            ) from None
    return {file.path: base / file.path for file in files}


# -- where files come from


@contextmanager
def _open_source(say: Say) -> Iterator[Fetch]:
    """The current source of official files, as a function that fetches one."""
    mirror = os.environ.get(MIRROR, "").strip()
    try:
        urlsplit(mirror)
    except ValueError as problem:  # the URL is not shown: it may contain a password
        raise UserError(f"{MIRROR} is neither a directory nor a URL ({problem}); {_remedy()}") from None
    scheme = mirror.partition("://")[0].lower() if "://" in mirror else ""
    if mirror and scheme in ("", "file"):
        from urllib.request import url2pathname  # loads much of HTTP, needed for mirrors only

        folder = Path(url2pathname(urlsplit(mirror).path) if scheme else mirror)
        if (scheme and urlsplit(mirror).netloc not in ("", "localhost")) or not folder.is_dir():
            raise DataUnavailable(f"there is no directory {mirror}; {_remedy()}")

        def copy(tail: str, file: DataFile, target: Path, progress: Callable[[int], None]) -> None:
            source = folder / tail
            try:
                with source.open("rb") as stream:
                    content = stream.read(file.size + 1)
            except OSError as problem:
                reason = f"cannot be read: {problem.strerror}"
                raise DataUnavailable(f"{source} of the mirror {reason}; {_remedy()}") from None
            _part(target).write_bytes(content)
            _accept(file, target, str(source))
            progress(file.size)

        yield copy
    elif _AT_HAND.get() is not None:
        raise DataUnavailable("the official data is not on this machine; `gendermark data get NAME` fetches it")
    elif scheme in ("", "http", "https"):
        with _open_client() as client:
            yield _Web(client, mirror.rstrip("/") or HOST, say).fetch
    else:
        raise UserError(f"{MIRROR} is {_shown(mirror)!r}; give a directory, or a URL of file://, http:// or https://")


def _remedy() -> str:
    if os.environ.get(MIRROR, "").strip():
        return f"correct {MIRROR}, or unset it to use {HOST}"
    return f"try again later, or set {MIRROR} to a directory or URL that holds the official data"


def _shown(url: str) -> str:
    """A URL without the password that a private mirror's may contain."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _part(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def _accept(file: DataFile, target: Path, origin: str) -> None:
    """Rename a complete download to its final name, if it matches the card."""
    part = _part(target)
    with part.open("rb+") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
        os.fsync(stream.fileno())
    if found != file.sha256:
        part.unlink()
        hashes = f"SHA-256 expected {file.sha256}, got {found}"
        raise DataUnavailable(f"{origin} is not the expected {file.path} ({hashes}); {_remedy()}")
    part.replace(target)


class _PassingError(DataUnavailable):
    """A failure that may be temporary."""


def _open_client() -> httpx.Client:
    import httpx

    from gendermark import __version__

    # identity: a compressed body could not be resumed, nor bounded by the card's size.
    headers = {"Accept-Encoding": "identity", "User-Agent": f"gendermark/{__version__}"}
    try:
        client = httpx.Client(follow_redirects=True, timeout=TIMEOUT_SECONDS, headers=headers)
    except (ImportError, ValueError, OSError) as problem:  # a SOCKS proxy, a bad proxy URL, a missing certificate file
        raise DataUnavailable(f"the proxy or certificate settings here cannot be used: {problem}") from None
    return bounded(client)


@dataclass(frozen=True, slots=True)
class _Web:
    client: httpx.Client
    base: str
    say: Say

    def fetch(self, tail: str, file: DataFile, target: Path, progress: Callable[[int], None]) -> None:
        for attempt in range(1, N_ATTEMPTS + 1):
            try:
                self._attempt(f"{self.base}/{quote(tail)}", file, target, progress)
            except _PassingError:
                if attempt == N_ATTEMPTS:
                    raise
                self.say(f"{file.path}: attempt {attempt} of {N_ATTEMPTS} failed; trying again")
                time.sleep(BACKOFF_SECONDS * 2 ** (attempt - 1))
            else:
                progress(file.size)
                return

    def _attempt(self, url: str, file: DataFile, target: Path, progress: Callable[[int], None]) -> None:
        import httpx

        part, origin, reason = _part(target), _shown(url), "no more came"
        n_before = _size(part)
        try:
            if n_before < file.size:
                with within(TIMEOUT_SECONDS) as deadline:
                    self._transfer(url, file, part, deadline, progress)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as problem:
            raise _PassingError(
                f"no connection to {urlsplit(origin).netloc} ({problem}); without a network use --data core, "
                f"which needs none, or set {MIRROR} to a directory or URL that holds the official data"
            ) from None
        except (httpx.UnsupportedProtocol, httpx.TooManyRedirects, httpx.InvalidURL) as problem:
            raise DataUnavailable(f"{origin} does not lead to a file over http(s): {problem}; {_remedy()}") from None
        except httpx.TransportError as problem:
            reason = str(problem) or type(problem).__name__
        if (n_here := _size(part)) < file.size:
            raise _PassingError(f"{origin} ended after {n_here:,} of {file.size:,} bytes ({reason}); {_remedy()}")
        try:
            _accept(file, target, origin)
        except DataUnavailable as problem:
            if n_before:  # perhaps only the resumed part was bad; it has been deleted
                raise _PassingError(str(problem)) from None
            raise

    def _transfer(
        self, url: str, file: DataFile, part: Path, deadline: Deadline, progress: Callable[[int], None]
    ) -> None:
        """Append the response to the .part file, or restart it if the server cannot resume."""
        n_here = _size(part)
        with self.client.stream("GET", url, headers={"Range": f"bytes={n_here}-"} if n_here else {}) as response:
            status, range_sent = response.status_code, response.headers.get("Content-Range", "")
            answer = f"{_shown(str(response.url))} answers HTTP {status} ({response.reason_phrase}); {_remedy()}"
            if status == 416 or (status == 206 and not range_sent.startswith(f"bytes {n_here}-")):
                part.unlink(missing_ok=True)
                raise _PassingError(answer)
            if status not in (200, 206):
                raise (_PassingError if status in (408, 429) or status >= 500 else DataUnavailable)(answer)
            if status == 200:
                n_here = 0
            with part.open("ab" if n_here else "wb") as stream:
                for chunk in response.iter_raw():
                    n_here += len(chunk)
                    deadline.end += len(chunk) / SLOWEST_BYTES_PER_SECOND
                    if n_here > file.size:
                        break
                    stream.write(chunk)
                    stream.flush()  # so that kill -9 loses nothing
                    if n_here < file.size:
                        progress(n_here)
        if n_here > file.size:
            part.unlink()
            raise DataUnavailable(f"{_shown(url)} sends more than the expected {file.size:,} bytes; {_remedy()}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
