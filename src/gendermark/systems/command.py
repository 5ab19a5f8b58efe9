"""`command:PROGRAM ARGS`: any program that reads one sentence per line and writes one translation per line.

- `mode=batch` (default): one process per batch; the program reads to the end of its input, then exits.
- `mode=stream`: one process for the whole run; the program gets one sentence at a time, and must flush its line as
  soon as it is translated.

`{source}` and `{target}` in the arguments stand for the language codes.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Task, Translation
from gendermark.systems import keys
from gendermark.systems.system import KEPT, System, count_option, number_option, refuse_unknown_options

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = ("mode", "batch_size", "timeout_seconds")
_END = None
_PLACEHOLDERS = ("source", "target")
_SHORT_NAMES = ("src", "tgt", "trg", "from", "to", "lang", "language")
"""What people write for them. Other words in braces may be the program's own: `awk {print}`."""
_QUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""")
_SHELL_SIGN = re.compile(r"(?:^|\s)(?:\|\|?|&&?|>>?|<)(?=\s|$)|;(?=\s|$)")


class Command(System):
    answers_by_line = True

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        refuse_unknown_options("command", options, OPTIONS)
        self._secrets = keys.of_environment()
        for name, value in self._secrets.items():
            if value in argument:  # not repeated: the run folder and the list of processes would show it
                raise UserError(
                    f"command: takes no key among its arguments, where others could read it; let the program read "
                    f"{name} itself"
                )
        self.spec = f"command:{argument}"
        self._arguments = _split(argument)
        self._mode = options.get("mode", "batch")
        if self._mode not in ("batch", "stream"):
            raise UserError(f"option mode of a command is batch or stream, not {self._mode!r}")
        self.batch_size = count_option(options, "batch_size", 64)
        # The longest wait that the platform has is 292 years.
        self._timeout_seconds = min(number_option(options, "timeout_seconds", 600), threading.TIMEOUT_MAX)
        self.system_id = f"{self.spec}#{_content_hash(self._arguments)}"
        self._process: _LineProcess | None = None

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        # One batch may hold several directions; a process serves one.
        directions: dict[tuple[str, str], list[Request]] = {}
        for request in requests:
            if "\n" in request.source or "\r" in request.source:
                raise SystemFailure(
                    f"{self.spec} takes one sentence per line, but a source has a line break: {request.source!r}"
                )
            directions.setdefault((request.source_language, request.target_language), []).append(request)
        for direction, group in directions.items():
            yield from self._answer_direction(direction, group)

    def _answer_direction(
        self, direction: tuple[str, str], requests: Sequence[Request]
    ) -> Iterator[Sequence[Translation]]:
        answer = self._answer_one_by_one if self._mode == "stream" else self._answer_batch
        try:
            yield from answer(self._process_for(direction), requests)
        except BaseException:
            # Ctrl-C included: the program has a session of its own and would not notice.
            self.close()
            raise

    def _answer_batch(self, process: _LineProcess, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        process.send([request.source for request in requests], end=True)
        lines: list[str] = []
        problem = ""
        try:
            while (line := process.read(self._timeout_seconds)) is not _END:
                lines.append(self._checked(line))
            if return_code := process.wait(self._timeout_seconds):
                problem = _death(return_code)
        except queue.Empty:
            problem = f"gave no further output for {self._timeout_seconds:g} seconds"
        except subprocess.TimeoutExpired:
            problem = self._lingering
        if problem and len(lines) <= len(requests):
            # Lines come in order, so those that were complete before the end are good; only the last may be cut short.
            if lines and not process.last_line_is_complete:
                lines.pop()
            yield _translations(requests, lines)
            raise self._failure(problem, process, len(lines), requests)
        if len(lines) != len(requests):
            # Which line is missing cannot be known, so none of this batch is kept.
            raise SystemFailure(
                f"{self.spec} gave {len(lines)} lines for {len(requests)} sentences, the first of which is "
                f"{requests[0].source!r}; one line per sentence is expected "
                "(this batch is discarded, earlier ones are kept)"
            )
        self._process = None
        yield _translations(requests, lines)

    def _answer_one_by_one(self, process: _LineProcess, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        for position, request in enumerate(requests):
            # With several sentences under way, one line too many would shift all later translations unnoticed.
            if process.has_output:
                raise self._failure("had written more lines than it was given sentences", process, position, requests)
            process.send([request.source], end=False)
            yield _translations([request], [self._next_line(process, position, requests)])

    def _next_line(self, process: _LineProcess, position: int, requests: Sequence[Request]) -> str:
        try:
            line = process.read(self._timeout_seconds)
            if line is not _END and process.last_line_is_complete:
                return self._checked(line)
            problem = _death(process.wait(self._timeout_seconds))
        except queue.Empty:
            problem = (
                f"gave no answer within {self._timeout_seconds:g} seconds (does it flush its output after every line?)"
            )
        except subprocess.TimeoutExpired:
            problem = self._lingering
        raise self._failure(problem, process, position, requests)

    def _checked(self, line: str) -> str:
        for name, value in self._secrets.items():
            if value in line:
                raise SystemFailure(
                    f"{self.spec} writes the key in {name} as a translation, which is not kept; make it write "
                    f"translations only {KEPT}"
                )
        return line

    @property
    def _lingering(self) -> str:
        return f"closed its output but did not end within {self._timeout_seconds:g} seconds"

    def _process_for(self, direction: tuple[str, str]) -> _LineProcess:
        if self._process is not None and self._process.direction != direction:
            self.close()
        if self._process is None:
            source, target = direction
            arguments = [part.replace("{source}", source).replace("{target}", target) for part in self._arguments]
            self._process = _LineProcess(arguments, direction, self.spec)
        return self._process

    def _failure(
        self, problem: str, process: _LineProcess, position: int, requests: Sequence[Request]
    ) -> SystemFailure:
        self.close()  # also collects its last words
        where = (
            f" at sentence {position + 1} of its batch, {requests[position].source!r}"
            if position < len(requests)
            else ""
        )
        words = keys.masked(self._secrets, process.last_words)
        said = f"; it said: {words}" if words else ""
        return SystemFailure(f"{self.spec} {problem}{where}{said} {KEPT}")

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None


class _LineProcess:
    """A child process spoken to in lines; threads keep its three pipes from blocking each other."""

    def __init__(self, arguments: Sequence[str], direction: tuple[str, str], spec: str) -> None:
        self.direction = direction
        self.last_line_is_complete = True
        """Whether the line last read had its end; a program that is killed may leave half a line."""
        self._spec = spec
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._last_errors: deque[str] = deque(maxlen=3)
        try:
            # Its own session, so that Ctrl-C reaches us first and the whole family can be ended.
            self._child = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as problem:
            raise SystemFailure(f"{spec} cannot be started: {problem.strerror or problem}") from None
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._read_output, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()

    def send(self, lines: Sequence[str], *, end: bool) -> None:
        threading.Thread(target=self._write, args=(list(lines), end), daemon=True).start()

    def read(self, timeout_seconds: float) -> str | None:
        """The next line, None at the end of output; raises queue.Empty after the timeout."""
        line = self._lines.get(timeout=timeout_seconds)
        if line is None:
            return None
        self.last_line_is_complete = line.endswith(b"\n")
        try:
            return line.decode("utf-8").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError:
            raise SystemFailure(
                f"{self._spec} wrote a line that is not UTF-8: {line[:60]!r}; make it write UTF-8"
            ) from None

    @property
    def has_output(self) -> bool:
        """Whether a line waits to be read."""
        return not self._lines.empty() and self._lines.queue[0] is not None

    def wait(self, timeout_seconds: float | None = None) -> int:
        return_code = self._child.wait(timeout_seconds)
        for thread in self._threads:
            thread.join(timeout=1)
        return return_code

    @property
    def last_words(self) -> str:
        return " / ".join(self._last_errors)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._child.pid, signal.SIGKILL)
            else:
                self._child.kill()
        self.wait()
        self.send([], end=True)  # closes the pipe to it, behind whatever is still being written

    def _write(self, lines: list[str], end: bool) -> None:
        pipe = self._child.stdin
        assert pipe is not None
        # A child that dies early is reported when its output ends, not here.
        with contextlib.suppress(OSError, ValueError):
            pipe.write("".join(f"{line}\n" for line in lines).encode())
            pipe.flush()
        if end:
            with contextlib.suppress(OSError, ValueError):
                pipe.close()

    def _read_output(self) -> None:
        pipe = self._child.stdout
        assert pipe is not None
        for line in pipe:
            self._lines.put(line)
        pipe.close()
        self._lines.put(None)

    def _read_errors(self) -> None:
        pipe = self._child.stderr
        assert pipe is not None
        for line in pipe:
            if text := line.decode("utf-8", errors="replace").strip():
                self._last_errors.append(text[:200])
        pipe.close()


def _translations(requests: Sequence[Request], lines: Sequence[str]) -> list[Translation]:
    return [Translation(request.request_id, line) for request, line in zip(requests, lines, strict=False)]


def _death(return_code: int) -> str:
    if return_code < 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-return_code).name}"
    return f"stopped with exit code {return_code}"


def _split(argument: str) -> list[str]:
    try:
        arguments = shlex.split(argument)
    except ValueError as problem:
        raise UserError(f"command {argument!r} cannot be split into arguments: {problem}") from None
    if not arguments:
        raise UserError("command: needs a program, for example command:./translate.sh")
    if sign := _SHELL_SIGN.search(_QUOTED.sub("", argument)):
        raise UserError(
            f"command: runs one program without a shell, so {sign[0].strip()!r} would be an argument of it; write "
            f"command:sh -c {shlex.quote(argument)} (or quote the {sign[0].strip()!r} if it is meant so)"
        )
    for name in re.findall(r"\{(\w+)\}", argument):
        if name not in _PLACEHOLDERS and (name in _SHORT_NAMES or difflib.get_close_matches(name, _PLACEHOLDERS)):
            raise UserError(
                f"command: puts languages for {{source}} and {{target}}, and knows no {{{name}}}; write one of them"
            )
    if shutil.which(arguments[0]) is None:
        raise UserError(
            f"command {arguments[0]!r} is not a program that can be run from here; give its path or make it executable"
        )
    return arguments


def _content_hash(arguments: Sequence[str]) -> str:
    """Changes with the program itself and every file among its arguments: an edited script is another system."""
    digest = hashlib.sha256()
    for position, argument in enumerate(arguments):
        digest.update(argument.encode() + b"\0")
        path = Path(shutil.which(argument) or argument) if position == 0 else Path(argument)
        with contextlib.suppress(OSError, ValueError):
            if path.is_file():
                with path.open("rb") as file:  # may be a model of many gigabytes
                    digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
