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
from gendermark.systems import http, system
from gendermark.systems.system import KEPT, System

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = ("mode", "batch_size", "timeout_seconds")
_PLACEHOLDERS = ("source", "target")
_SHORT_NAMES = ("src", "tgt", "trg", "from", "to", "lang", "language")
"""Common mistakes for them. Other words in braces may be the program's own: `awk {print}`."""
_QUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""")
_SHELL_SIGN = re.compile(r"(?:^|\s)(?:\|\|?|&&?|>>?|<)(?=\s|$)|;(?=\s|$)")


class Command(System):
    answers_by_line = True

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        system.refuse_unknown_options("command", options, OPTIONS)
        self._secrets = http.of_environment()
        for name, value in self._secrets.items():
            if value in argument:  # the value is secret: run folders and process lists are readable by others
                raise UserError(f"command: takes no key among its arguments; let the program read {name} itself")
        self.spec = f"command:{argument}"
        self._arguments = _split(argument)
        self._mode = system.choice_option(options, "mode", ("batch", "stream"))
        self.batch_size = system.count_option(options, "batch_size", 64)
        self._timeout_seconds = min(system.number_option(options, "timeout_seconds", 600), threading.TIMEOUT_MAX)
        self.system_id = f"{self.spec}#{_content_hash(self._arguments)}"
        self._process: _LineProcess | None = None

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        for request in requests:
            if "\n" in request.source or "\r" in request.source:
                raise SystemFailure(f"{self.spec} takes one sentence per line; this has several: {request.source!r}")
        # A batch may hold several directions; a process serves one.
        for direction, group in system.by_direction(requests).items():
            try:
                for portion in [[one] for one in group] if self._mode == "stream" else [group]:
                    if self._process is not None and self._process.direction != direction:
                        self.close()
                    if self._process is None:
                        self._process = _LineProcess(self._arguments, direction, self.spec)
                    yield from self._answer_portion(self._process, portion, group)
            except BaseException:
                # Including on Ctrl-C: the program has its own session and would not notice.
                self.close()
                raise

    def _answer_portion(
        self, process: _LineProcess, requests: Sequence[Request], group: Sequence[Request]
    ) -> Iterator[Sequence[Translation]]:
        """Give the program some sentences of a group, one or all, and read as many lines."""
        is_stream = self._mode == "stream"
        position = group.index(requests[0])
        # A surplus line would shift all later translations.
        if is_stream and process.has_output:
            raise self._failure("wrote more lines than it was given sentences", process, position, group)
        process.send([request.source for request in requests], end=not is_stream)
        lines: list[str] = []
        try:
            while (line := process.read(self._timeout_seconds)) is not None:
                for name, value in self._secrets.items():
                    if value in line:
                        raise SystemFailure(
                            f"{self.spec} writes the key in {name} as a translation, which is not kept {KEPT}"
                        )
                lines.append(line)
                if is_stream and process.last_line_is_complete:
                    yield _translations(requests, lines)
                    return
            problem = self._ending(process) or ("stopped with exit code 0" if is_stream else "")
        except queue.Empty:
            flush = " (does it flush its output after every line?)" if is_stream else ""
            problem = f"gave no further output for {self._timeout_seconds:g} seconds{flush}"
        if problem and len(lines) <= len(requests):
            # Lines come in order, so complete ones are good; only the last may be truncated.
            if lines and not process.last_line_is_complete:
                lines.pop()
            yield _translations(requests, lines)
            raise self._failure(problem, process, position + len(lines), group)
        if len(lines) != len(requests):
            # It is unknown which line is missing, so none of this batch is kept.
            raise SystemFailure(
                f"{self.spec} gave {len(lines)} lines for {len(requests)} sentences, the first of which is "
                f"{requests[0].source!r}; make it write one line per sentence (earlier batches are kept)"
            )
        self._process = None
        yield _translations(requests, lines)

    def _ending(self, process: _LineProcess) -> str:
        try:
            return_code = process.wait(self._timeout_seconds)
        except subprocess.TimeoutExpired:
            return f"closed its output but did not exit within {self._timeout_seconds:g} seconds"
        if return_code < 0:
            with contextlib.suppress(ValueError):
                return f"was ended by {signal.Signals(-return_code).name}"
        return f"stopped with exit code {return_code}" if return_code else ""

    def _failure(
        self, problem: str, process: _LineProcess, position: int, requests: Sequence[Request]
    ) -> SystemFailure:
        self.close()  # collects the remaining messages
        if position < len(requests):
            problem += f" at sentence {position + 1} of its batch, {requests[position].source!r}"
        if process.messages:
            problem += f"; its last messages: {http.mask(self._secrets, ' / '.join(process.messages))}"
        return SystemFailure(f"{self.spec} {problem} {KEPT}")

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None


class _LineProcess:
    """A child process that exchanges lines with us; threads keep its three pipes from blocking."""

    def __init__(self, arguments: Sequence[str], direction: tuple[str, str], spec: str) -> None:
        self.direction = direction
        self.last_line_is_complete = True
        """Whether the last line was terminated; a killed program may leave a partial line."""
        self.messages: deque[str] = deque(maxlen=3)
        """The last lines of its error output."""
        self._spec = spec
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        source, target = direction
        try:
            # Its own session: Ctrl-C reaches us first, and its children can be ended with it.
            self._child = subprocess.Popen(
                [part.replace("{source}", source).replace("{target}", target) for part in arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as problem:
            raise SystemFailure(f"{spec} cannot be started: {problem.strerror or problem}") from None
        self._threads = [threading.Thread(target=read, daemon=True) for read in (self._read_output, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def send(self, lines: Sequence[str], *, end: bool) -> None:
        threading.Thread(target=self._write, args=(list(lines), end), daemon=True).start()

    def read(self, timeout_seconds: float) -> str | None:
        """The next line, None at the end of output; raises queue.Empty on timeout."""
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
        return not self._lines.empty() and self._lines.queue[0] is not None

    def wait(self, timeout_seconds: float | None = None) -> int:
        return_code = self._child.wait(timeout_seconds)
        for thread in self._threads:
            thread.join(timeout=1)
        return return_code

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._child.pid, signal.SIGKILL)
            else:
                self._child.kill()
        self.wait()
        self.send([], end=True)  # closes its input after pending writes

    def _write(self, lines: list[str], end: bool) -> None:
        pipe = self._child.stdin
        assert pipe is not None
        # A child that dies early is reported when its output ends.
        with contextlib.suppress(OSError, ValueError):
            pipe.write("".join(f"{line}\n" for line in lines).encode())
            pipe.flush()
        if end:
            with contextlib.suppress(OSError, ValueError):
                pipe.close()

    def _read_output(self) -> None:
        pipe = self._child.stdout
        assert pipe is not None
        with pipe:
            for line in pipe:
                self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self) -> None:
        pipe = self._child.stderr
        assert pipe is not None
        with pipe:
            for line in pipe:
                if text := line.decode("utf-8", errors="replace").strip():
                    self.messages.append(text[:200])


def _translations(requests: Sequence[Request], lines: Sequence[str]) -> list[Translation]:
    return [Translation(request.request_id, line) for request, line in zip(requests, lines, strict=False)]


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
            f"command:sh -c {shlex.quote(argument)}, or quote it"
        )
    for name in re.findall(r"\{(\w+)\}", argument):
        if name not in _PLACEHOLDERS and (name in _SHORT_NAMES or difflib.get_close_matches(name, _PLACEHOLDERS)):
            raise UserError(f"command: fills in {{source}} and {{target}}, not {{{name}}}; write one of them")
    if shutil.which(arguments[0]) is None:
        raise UserError(f"command {arguments[0]!r} cannot be run; give its path or make it executable")
    return arguments


def _content_hash(arguments: Sequence[str]) -> str:
    """Changes with the program and every file argument: an edited script is another system."""
    digest = hashlib.sha256()
    for position, argument in enumerate(arguments):
        digest.update(argument.encode() + b"\0")
        path = Path(shutil.which(argument) or argument) if position == 0 else Path(argument)
        with contextlib.suppress(OSError, ValueError):
            if path.is_file():
                with path.open("rb") as file:  # may be a model of many gigabytes
                    digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
