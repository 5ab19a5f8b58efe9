"""A slow program that logs what it is asked, and `gendermark run` with it: for runs that are killed or share work."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendermark.metrics.metric import Resampling
from gendermark.runs import run as running
from gendermark.runs.run import RunConfig
from gendermark.runs.store import Store
from gendermark.selection import Selection
from gendermark.systems.system import open_system
from runs import children
from runs.tiny import BENCHMARK

BATCH_SIZE = 8
SECONDS_PER_SENTENCE = 0.005
CELL = "tiny.en-xx"
SELECTION = Selection("tiny", "en", "xx", "core", cluster="occupation")
ITEM_SET = BENCHMARK.load(SELECTION)
SOURCES = [item.source for item in ITEM_SET.items]


@dataclass(frozen=True)
class Workshop:
    """A slow program that logs every sentence it is asked, and `gendermark run` with it."""

    directory: Path
    variables: dict[str, str]
    mode: str
    seconds: float = SECONDS_PER_SENTENCE

    @property
    def log(self) -> list[str]:
        return children.lines_of(self.directory / "log")

    @property
    def pids(self) -> list[int]:
        return [int(line) for line in children.lines_of(self.directory / "pids")]

    @property
    def program(self) -> str:
        script = self.directory / "translate.py"
        if not script.exists():
            script.write_text(children.TRANSLATOR)
        # -S: the program needs no packages and starts faster.
        parts = (sys.executable, "-S", script, self.seconds)
        return f"command:{shlex.join(map(str, parts))}"

    @property
    def options(self) -> dict[str, str]:
        return {"mode": self.mode, "batch_size": str(BATCH_SIZE)}

    def start(self, run: str = "run", *more: str, in_terminal: bool = False) -> subprocess.Popen[str]:
        """`gendermark run` in a process of its own."""
        options = [f"--system-option={key}={value}" for key, value in self.options.items()]
        arguments = ["run", "--system", self.program, "--to", "xx", "--data", "core", "--benchmark", "tiny", *options]
        arguments += ["--resamples", "100", "--store", str(self.store), "-o", str(self.directory / run), *more]
        return children.start(arguments, self.variables, in_terminal=in_terminal)

    def run(self, run: str, store: Path) -> None:
        """The same in this process, which starts sooner."""
        config = RunConfig(self.program, (SELECTION,), self.options, Resampling(n_resamples=100))
        running.run(config, self.directory / run, running.RunContext(store))

    @property
    def store(self) -> Path:
        return self.directory / "store.sqlite"

    def committed(self) -> set[str]:
        """The sentences whose translations are safe."""
        requests = BENCHMARK.requests(ITEM_SET)
        source_of = {request.request_id: request.source for request in requests}
        with Store(self.store) as store:
            found = store.get(open_system(self.program).system_id, requests)
        return {source_of[request_id] for request_id, _ in found}

    def wait_for_children(self) -> None:
        """Nobody ends the program of a killed run; it must end by itself."""
        children.wait_until(lambda: not any(map(children.is_alive, self.pids)), "the orphaned program had ended")

    def files(self, run: str = "run") -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.directory / run / CELL).iterdir()}

    def manifest(self, run: str = "run") -> dict[str, Any]:
        return json.loads((self.directory / run / "manifest.json").read_text())


def open_workshop(
    directory: Path, variables: dict[str, str], mode: str, seconds: float = SECONDS_PER_SENTENCE
) -> Workshop:
    """One whose program writes its logs into the directory."""
    logs = {"LOG": str(directory / "log"), "PIDS": str(directory / "pids")}
    return Workshop(directory, {**variables, **logs}, mode, seconds)
