"""What all scenarios of the fault campaign share: what is counted, and the command line as a user meets it.

A scenario makes something go wrong as often as it is told, gives the same command again, and counts.
"""

from __future__ import annotations

import io
import json
import logging
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from runs import children

KEY = "sk-fault5-9Qh2Zt7LmX4c/Vb81+Rw"
"""Every process of the campaign is given it. It must be in nothing that is written or said."""
KEY_VARIABLES = ("OPENAI_API_KEY", "LIBRETRANSLATE_API_KEY")
MAIN = "from gendermark.cli.app import main; main()"
IMPATIENT = f"""
from gendermark.systems import http
http.PATIENCE = http.Patience(backoff_seconds=0.01, longest_retry_after_seconds=2, spread_seconds=0.01)
{MAIN}
"""
"""For a child: the same client with shorter pauses between attempts."""
LONGEST_SECONDS = 600.0
"""Nothing in this campaign takes so long, even on a busy machine; what does hangs."""
_FAULTS_OF_OURS = ("Traceback (most recent call last)", "this is a bug in gendermark")
_OBEYED = ("\x1b", "\x9b", "\x07", "\u202e", "\x90")
"""Signs that a terminal obeys; no message of ours has any where nobody looks at it."""


@dataclass
class Tally:
    """What is counted of one scenario."""

    tried: int = 0
    survived: int = 0
    """Ended as promised: finished with the same result, or refused in one sentence with everything kept."""
    lost: int = 0
    """Answers that were safe, or whole results, that are gone or changed."""
    paid_twice: int = 0
    """Sentences that were asked for again though their answers were safe, or beyond those that were under way."""
    tracebacks: int = 0
    secrets: int = 0
    """Outputs and files that have the key in them."""
    asked_again: int = 0
    """Sentences whose answers were under way when it went wrong: these may be asked for again."""
    under_way: int = 0
    """How many were, as the server counted them."""
    troubles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return self.survived == self.tried and not (self.lost or self.paid_twice or self.tracebacks or self.secrets)

    def trouble(self, kind: str, what: str, n: int = 1) -> None:
        """Count something that must not be, and remember what it was."""
        setattr(self, kind, getattr(self, kind) + n)
        self.troubles.append(f"{kind}: {what}")

    @contextmanager
    def trial(self, what: str, n: int = 1) -> Iterator[None]:
        """n faults, survived if nothing else is counted meanwhile."""
        self.tried += n
        n_before = len(self.troubles)
        try:
            yield
        except Surprise as surprise:
            self.troubles.append(f"{what}: {surprise}")
        if len(self.troubles) == n_before:
            self.survived += n


class Surprise(Exception):
    """Something else happened than was promised."""


def expect(condition: object, what: str) -> None:
    if not condition:
        raise Surprise(what)


@dataclass(frozen=True)
class Said:
    """How a process ended."""

    code: int
    out: str
    err: str
    megabytes: float = 0.0
    """The most memory that it had."""
    seconds: float = 0.0

    @property
    def sentence(self) -> str:
        return next((line for line in self.err.splitlines() if line.startswith("error: ")), "")

    def is_refusal(self, *words: str) -> None:
        """Exit code 2 and one sentence that names what is wrong."""
        errors = [line for line in self.err.splitlines() if line.startswith("error: ")]
        expect(self.code == 2 and len(errors) == 1, f"no refusal in one sentence: {self.code} {self.err[-300:]!r}")
        for word in words:
            expect(word in errors[0], f"{word!r} is not in {errors[0]!r}")

    def is_good(self) -> None:
        expect(self.code == 0, f"exit {self.code}: {self.err[-300:]!r}")


@dataclass
class Setting:
    """Where a scenario plays, and how often."""

    directory: Path
    times: int
    chance: random.Random
    tally: Tally
    progress: Callable[[int, int], None] = lambda done, total: None  # noqa: ARG005
    is_quick: bool = False
    """Whether commands that nobody disturbs are called in this process, which is ten times as fast."""
    n_started: int = 0

    def place(self) -> Path:
        """A new directory."""
        self.n_started += 1
        made = self.directory / f"place-{self.n_started:04}"
        made.mkdir(parents=True)
        return made

    @property
    def variables(self) -> dict[str, str]:
        """For a child: the tiny benchmark, the key, a cache of its own, no proxies."""
        found = children.environment(self.directory / "site")
        for name in list(found):
            if name.lower().endswith("_proxy"):
                del found[name]
        found |= dict.fromkeys(KEY_VARIABLES, KEY)
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        cache = {"GENDERMARK_CACHE": str(self.directory / "cache"), "NO_COLOR": "1", "COLUMNS": "120"}
        return {**found, **one_thread, **cache, "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"}

    def start(
        self,
        arguments: Sequence[str | Path],
        code: str = MAIN,
        variables: Mapping[str, str] | None = None,
        limits: Callable[[], None] | None = None,
    ) -> Child:
        return Child(self, arguments, code, {**self.variables, **(variables or {})}, limits)

    def run(self, arguments: Sequence[str | Path], code: str = MAIN, **options: Any) -> Said:
        """A command to its end; looked through for tracebacks and keys."""
        if self.is_quick and code in (MAIN, IMPATIENT) and not options:
            said = _called([str(argument) for argument in arguments], self.variables, is_patient=code == MAIN)
            self.look_through(said, " ".join(map(str, arguments))[:120])
            return said
        return self.start(arguments, code, **options).ended()

    def look_through(self, said: Said, what: str) -> None:
        text = said.out + said.err
        if said.code == 3 or any(words in text for words in _FAULTS_OF_OURS):
            self.tally.trouble("tracebacks", f"{what}: {said.err[-400:]!r}")
        if has_key(text.encode()):
            self.tally.trouble("secrets", f"{what} says the key: {text[-300:]!r}")
        if any(sign in said.err for sign in _OBEYED):  # stdout is data: `exports` looks at it on a terminal
            self.tally.troubles.append(f"{what!r} says what a terminal obeys: {said.err[-300:]!r}")

    def search(self, *directories: Path) -> None:
        """Look through every byte that was written."""
        for path in (path for directory in directories for path in directory.rglob("*")):
            if path.is_file() and has_key(path.read_bytes()):
                self.tally.trouble("secrets", f"{path.name} has the key")


class Child:
    """A command in a process of its own."""

    def __init__(
        self,
        setting: Setting,
        arguments: Sequence[str | Path],
        code: str,
        variables: Mapping[str, str],
        limits: Callable[[], None] | None,
    ) -> None:
        self._setting = setting
        self.arguments = [str(argument) for argument in arguments]
        setting.n_started += 1
        base = setting.directory / "said"
        base.mkdir(exist_ok=True)
        self._out, self._err = (base / f"{setting.n_started:05}.{name}" for name in ("out", "err"))
        self.started = time.monotonic()
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-c", code, *self.arguments],
                env=dict(variables),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                preexec_fn=limits,
            )

    @property
    def out(self) -> str:
        return self._out.read_text(encoding="utf-8", errors="replace")

    def is_over_within(self, seconds: float) -> bool:
        """Wait so long; whether it has ended by itself by then."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """kill -9, and what it had said until then."""
        self.process.send_signal(signal.SIGKILL)
        self.ended()

    def ended(self, seconds: float = LONGEST_SECONDS) -> Said:
        deadline, kilobytes = time.monotonic() + seconds, 0
        while self.process.poll() is None:
            kilobytes = max(kilobytes, _most_memory(self.process.pid))
            if time.monotonic() > deadline:
                self.process.kill()
                self.process.wait()
                self._setting.tally.troubles.append(f"hangs: {' '.join(self.arguments)[:200]}")
            time.sleep(0.005)
        err = self._err.read_text(encoding="utf-8", errors="replace")
        taken = time.monotonic() - self.started
        said = Said(self.process.returncode, self.out, err, kilobytes / 1024, taken)
        self._setting.look_through(said, " ".join(self.arguments)[:120])
        return said


def _most_memory(pid: int) -> int:
    """In kB, since the program began. (`wait4` counts what the process that started it had, too.)"""
    with suppress(OSError, IndexError):  # there is no /proc, or it has just ended
        return int(Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0])
    return 0


def has_key(content: bytes) -> bool:
    """Whether the key is in some bytes, as it is or URL-encoded."""
    return any(form.encode() in content for form in (KEY, quote(KEY), quote(KEY, safe="")))


def _called(arguments: list[str], variables: Mapping[str, str], *, is_patient: bool) -> Said:
    """A command in this process, as `main` calls it."""
    from gendermark import registry
    from gendermark.cli.app import _exit_code
    from gendermark.systems import http

    out, err = io.StringIO(), io.StringIO()
    log = logging.getLogger("gendermark")
    handler = logging.StreamHandler(err)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in variables.items():
            if name != "PYTHONPATH":
                patch.setenv(name, value)
        for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
            patch.delenv(name)
        patch.setitem(registry.BUILT_IN["benchmark"], "tiny", "runs.tiny:BENCHMARK")
        if not is_patient:
            quick = http.Patience(backoff_seconds=0.01, longest_retry_after_seconds=2, spread_seconds=0.01)
            patch.setattr(http, "PATIENCE", quick)
        log.addHandler(handler)
        started = time.monotonic()
        try:
            code = _exit_code(arguments)
        except Exception:  # noqa: BLE001 (what `main` calls a bug)
            traceback.print_exc(file=err)
            code = 3
        finally:
            log.removeHandler(handler)
    return Said(code, out.getvalue(), err.getvalue(), 0.0, time.monotonic() - started)


Play = Callable[[Setting], None]


@dataclass(frozen=True)
class Scenario:
    area: str
    name: str
    play: Play
    short: int
    """Times in the short form; 0 leaves it to the long one."""
    long: int
    in_children: bool = True
    """Whether the long form starts a process for each command. (What is disturbed is always one.)"""

    def run(
        self, directory: Path, seed: str, times: int = 0, progress: Callable[[int, int], None] | None = None
    ) -> Tally:
        """Play it so many times; the short form if that is not said."""
        tally = Tally()
        setting = Setting(directory, times or self.short, random.Random(f"{seed}/{self.name}"), tally)
        setting.is_quick = not times or not self.in_children
        if progress is not None:
            setting.progress = progress
        self.play(setting)
        return tally


# -- run folders -------------------------------------------------------------------------------------------------------

_OF_THIS_TIME = ("written", "notes")
_OF_THIS_CELL = ("n_asked", "n_stored", "translate_seconds", "score_seconds")


def content_of(folder: Path) -> dict[str, Any]:
    """All files of a run folder, of the manifest what does not depend on when and how often it was begun."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.startswith("."):  # the lock, and what a killed process was writing
            continue
        name = str(path.relative_to(folder))
        if name == "manifest.json":
            manifest = json.loads(path.read_text(encoding="utf-8"))
            for key in _OF_THIS_TIME:
                manifest.pop(key, None)
            for cell in manifest["cells"].values():
                for key in _OF_THIS_CELL:
                    cell.pop(key, None)
            found[name] = manifest
        else:
            found[name] = path.read_bytes()
    return found


def differences(found: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    names = sorted({*found, *expected})
    return ", ".join(name for name in names if found.get(name) != expected.get(name))
