"""Child processes: the real command line with the tiny benchmark joined by entry point, and programs to translate."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import gendermark

SOURCES = Path(gendermark.__file__).parents[1]
TESTS = Path(__file__).parents[1]
PATIENCE_SECONDS = 240
"""For a machine that is busy with other things; nothing that works waits this long."""

TRANSLATOR = """
import codecs, os, sys, time
log, seconds = os.environ["LOG"], float(sys.argv[1])
with open(os.environ["PIDS"], "a") as file:
    file.write(f"{os.getpid()}\\n")
for line in sys.stdin:
    with open(log, "a") as file:
        file.write(line)
    time.sleep(seconds)
    print("ella" if " her " in line else "el", codecs.encode(line.strip(), "rot13"), flush=True)
"""
"""Reads a sentence, writes it into a log, takes its time, translates its gender rightly.

The log is named by a variable: a file among the arguments of a command is a part of the system, and may not change.
"""


def environment(site: Path) -> dict[str, str]:
    """Variables for a child in which an outside package, made here, brings the tiny benchmark."""
    facts = site / "gendermark_tiny-1.0.dist-info"
    facts.mkdir(parents=True, exist_ok=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: gendermark-tiny\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[gendermark.benchmark]\ntiny = runs.tiny:BENCHMARK\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (SOURCES, TESTS, site)))}


def start(
    arguments: list[str],
    variables: dict[str, str],
    *,
    code: str = "from gendermark.cli.app import main; main()",
    in_terminal: bool = False,
) -> subprocess.Popen[str]:
    """`gendermark ARGUMENTS` (or other code) in a process of its own; with all that it starts, if in a "terminal"."""
    pipe = subprocess.PIPE
    # Ctrl-C must reach it even where whoever runs the tests has it switched off, as shells do for background jobs.
    wake = None if sys.platform == "win32" else lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(
        command,
        env=variables,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        preexec_fn=wake,
        start_new_session=in_terminal,
    )


def press_ctrl_c(process: subprocess.Popen[str]) -> None:
    """As a terminal does it: for the process and all that it has started."""
    os.killpg(process.pid, signal.SIGINT)


def blocks_ctrl_c(pid: int) -> bool:
    """Whether the signal never reaches a process, as Linux knows it."""
    with suppress(OSError):  # it may just have ended
        status = (Path("/proc") / str(pid) / "status").read_text(encoding="latin-1")
        (blocked,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigBlk:"))
        return bool(int(blocked, 16) >> (signal.SIGINT - 1) & 1)
    return True


def finish(process: subprocess.Popen[str]) -> str:
    """Wait for it to succeed; what it printed."""
    output, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, errors
    return output


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.002)


def is_alive(pid: int) -> bool:
    """Whether a process runs. One that has ended and waits to be collected by its parent does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    if status.parent.parent.joinpath("self").exists():
        try:
            return status.read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False
    return True


def workers_of(driver: int) -> list[int]:
    """The worker processes of a run that has an executor, as Linux knows them."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            parent = int((path / "stat").read_text(encoding="latin-1").rpartition(")")[2].split()[1])
            if parent == driver and b"spawn_main" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found


def lines_of(path: Path) -> list[str]:
    """The complete lines of a file that is being written, or is not there yet."""
    if not path.exists():
        return []
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def n_stored(store: Path) -> int:
    """How many translations are safe in a store that another process may be just setting up."""
    if not store.exists():
        return 0
    with closing(sqlite3.connect(store)) as connection, suppress(sqlite3.OperationalError):
        return int(connection.execute("SELECT count(*) FROM translation").fetchone()[0])
    return 0
