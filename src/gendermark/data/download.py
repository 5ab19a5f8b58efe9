"""Bringing one official file to this machine: from the authors' repository, or from a mirror of it.

A download goes to `FILE.part`, goes on from there after an interruption, and becomes `FILE` only when its SHA-256
is the card's. Whatever a server does, no more bytes are kept than the card lists.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit, urlunsplit

from gendermark.data.card import DataFile
from gendermark.errors import DataUnavailable, UserError
from gendermark.io.deadlines import Deadline, bounded, within

if TYPE_CHECKING:
    import httpx  # only ever imported when a download begins: it costs 0.1 s

HOST = "https://raw.githubusercontent.com"
MIRROR = "GENDERMARK_DATA_MIRROR"

Progress = Callable[[DataFile, int], None]
"""Told the file and how many bytes of it are here; all of them only once they are verified."""
Say = Callable[[str], None]
Bring = Callable[[str, DataFile, Path], None]
"""Brings `OWNER/REPO/REVISION/PATH`, described by a DataFile, to a path."""


@dataclass(frozen=True, slots=True)
class Patience:
    attempts: int = 4
    backoff_seconds: float = 0.5
    """Before the second attempt; doubled before each one after it."""
    timeout_seconds: float = 20.0
    """For an answer to begin, and for all of it beyond what the slowest line needs."""
    slowest_bytes_per_second: float = 5_000.0
    """Of a body; whoever sends less is left, and asked for the rest in the next attempt."""


PATIENCE = Patience()


LookedUp = dict[tuple[str, str, str], object]
"""Of each group of files that was asked for: the files, or why they are not at hand."""
_AT_HAND: ContextVar[LookedUp | None] = ContextVar("_AT_HAND", default=None)


@contextmanager
def nothing_fetched(looked_up: LookedUp) -> Iterator[None]:
    """Within this, data is what the cache or a mirror on this machine has; nobody else is asked for any.

    What was looked up once is remembered: who looks through all there is asks for the same files many times.
    """
    token = _AT_HAND.set(looked_up)
    try:
        yield
    finally:
        _AT_HAND.reset(token)


def at_hand() -> LookedUp | None:
    """What was looked up, if only data that is at hand counts now."""
    return _AT_HAND.get()


class _PassingError(DataUnavailable):
    """A failure that another attempt may not meet."""


@contextmanager
def open_source(progress: Progress, say: Say) -> Iterator[Bring]:
    """The place official files come from now, as a function that brings one of them."""
    mirror = os.environ.get(MIRROR, "").strip()
    try:
        urlsplit(mirror)
    except ValueError as problem:  # not shown itself: there may be a password in it
        raise UserError(f"{MIRROR} is neither a directory nor a URL ({problem}); {_remedy()}") from None
    scheme = mirror.partition("://")[0].lower() if "://" in mirror else ""
    if mirror and scheme in ("", "file"):
        directory = _local(mirror) if scheme else Path(mirror)
        if (scheme and urlsplit(mirror).netloc not in ("", "localhost")) or not directory.is_dir():
            raise DataUnavailable(f"there is no directory {mirror}; {_remedy()}")

        def copy(tail: str, file: DataFile, target: Path) -> None:
            _copy(directory / tail, file, target)
            progress(file, file.size)

        yield copy
    elif at_hand() is not None:
        raise DataUnavailable("the official data is not on this machine; `gendermark data get NAME` fetches it")
    elif scheme in ("", "http", "https"):
        with _open_client() as client:
            yield _Web(client, mirror.rstrip("/") or HOST, progress, say).bring
    else:
        raise UserError(f"{MIRROR} is {_shown(mirror)!r}; give a directory, or a URL of file://, http:// or https://")


def _local(address: str) -> Path:
    from urllib.request import url2pathname  # which brings all of HTTP with it, for the few who write file://

    return Path(url2pathname(urlsplit(address).path))


def _remedy() -> str:
    if os.environ.get(MIRROR, "").strip():
        return f"correct {MIRROR}, or unset it to use {HOST}"
    return f"try again later, or set {MIRROR} to a directory or URL that holds the official data"


def _shown(url: str) -> str:
    """A URL without the password that the one of a private mirror may carry."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _part(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def _copy(source: Path, file: DataFile, target: Path) -> None:
    try:
        if not source.is_file():
            raise DataUnavailable(f"the mirror lacks {source}; {_remedy()}")
        with source.open("rb") as stream:
            content = stream.read(file.size + 1)
    except OSError as problem:
        raise DataUnavailable(f"{source} of the mirror cannot be read: {problem.strerror}; {_remedy()}") from None
    _part(target).write_bytes(content)
    _accept(file, target, str(source))


def _accept(file: DataFile, target: Path, origin: str) -> None:
    """Make a whole download the file itself, if it is what the card says."""
    part = _part(target)
    with part.open("rb+") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
        os.fsync(stream.fileno())
    if found != file.sha256:
        part.unlink()
        hashes = f"SHA-256 expected {file.sha256}, got {found}"
        raise DataUnavailable(f"{origin} is not the {file.path} of its card ({hashes}); {_remedy()}")
    part.replace(target)


def _open_client() -> httpx.Client:
    import httpx

    from gendermark import __version__

    # identity: a compressed body could not be resumed, nor bounded by the card's size.
    headers = {"Accept-Encoding": "identity", "User-Agent": f"gendermark/{__version__}"}
    try:
        client = httpx.Client(follow_redirects=True, timeout=PATIENCE.timeout_seconds, headers=headers)
    except (ImportError, ValueError, OSError) as problem:  # a SOCKS proxy, a bad proxy URL, a missing certificate file
        raise DataUnavailable(f"the proxy or certificate settings here cannot be used: {problem}") from None
    return bounded(client)


@dataclass(frozen=True, slots=True)
class _Web:
    client: httpx.Client
    base: str
    progress: Progress
    say: Say

    def bring(self, tail: str, file: DataFile, target: Path) -> None:
        for attempt in range(1, PATIENCE.attempts + 1):
            try:
                self._attempt(f"{self.base}/{quote(tail)}", file, target)
            except _PassingError:
                if attempt == PATIENCE.attempts:
                    raise
                self.say(f"{file.path}: attempt {attempt} of {PATIENCE.attempts} failed; trying again")
                time.sleep(PATIENCE.backoff_seconds * 2 ** (attempt - 1))
            else:
                self.progress(file, file.size)
                return

    def _attempt(self, url: str, file: DataFile, target: Path) -> None:
        import httpx

        part, origin, reason = _part(target), _shown(url), "no more came"
        n_before = _size(part)
        try:
            if n_before < file.size:
                with within(PATIENCE.timeout_seconds) as deadline:
                    self._transfer(url, file, part, deadline)
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
            progress = f"{n_here:,} of {file.size:,} bytes"
            raise _PassingError(f"{origin} ended after {progress} ({reason}); {_remedy()}")
        try:
            _accept(file, target, origin)
        except DataUnavailable as problem:
            if n_before:  # perhaps only the old beginning was bad, and that is gone now
                raise _PassingError(str(problem)) from None
            raise

    def _transfer(self, url: str, file: DataFile, part: Path, deadline: Deadline) -> None:
        """Add what a server sends to the bytes of the .part, or start that again if it will not go on."""
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
                    deadline.put_off(len(chunk) / PATIENCE.slowest_bytes_per_second)
                    if n_here > file.size:
                        break
                    stream.write(chunk)
                    stream.flush()  # so that kill -9 loses nothing
                    if n_here < file.size:
                        self.progress(file, n_here)
        if n_here > file.size:
            part.unlink()
            raise DataUnavailable(f"{_shown(url)} sends more than the {file.size:,} bytes on its card; {_remedy()}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
