"""How much faster do workers make a run, and what does it cost to lose them? Prints a line for each.

    python bench/workers.py [--n 100000] [--delay-ms 5] [--workers 4] [--kind dask]

The system is a fake that sleeps for every sentence, so that the machine's cores do not limit it. The same command runs
serially, with workers, and with workers of whom two are killed, and then the driver; the four results must be the same
to the last byte. The time is that of translating as the manifest has it. The start of dask's workers comes before that;
the whole command, which also reads the sentences and scores the answers, is told beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from runs.children import workers_of

JOBS = ["nurse", "engineer", "teacher", "doctor", "lawyer", "farmer", "baker", "cook", "writer", "driver"]
PRONOUNS = {"masculine": "he", "feminine": "she", "neutral": "they"}


def write_sentences(path: Path, n: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write("source\tgender\tentity\n")
        for number in range(n):
            job, (gender, pronoun) = JOBS[number % 10], list(PRONOUNS.items())[number % 3]
            file.write(f"The {job} said that {pronoun} would be there on day {number}.\t{gender}\t{job}\n")


class Trial:
    def __init__(self, place: Path, name: str, delay_ms: float, executor: str) -> None:
        self.folder, self.store = place / name, place / f"{name}.sqlite"
        system = f"fake:right?p=0.8&delay_ms={delay_ms:g}"
        code = "from gendermark.cli.app import main; main()"
        self._command = [sys.executable, "-c", code, "run", "--system", system, "--benchmark", "winomt", "--to", "es"]
        self._command += ["--data", f"file:{place / 'sentences.tsv'}", "--resamples", "100", "-o", str(self.folder)]
        self._command += ["--store", str(self.store), "--executor", executor]

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def finish(self) -> float:
        """Seconds of translating, as the manifest says."""
        started = time.monotonic()
        if self.start().wait():
            raise SystemExit(f"a run failed: {' '.join(self._command)}")
        (cell,) = json.loads((self.folder / "manifest.json").read_text())["cells"].values()
        self.n_asked, self.whole_seconds = int(cell["n_asked"]), time.monotonic() - started
        return float(cell["translate_seconds"])

    def n_stored(self) -> int:
        if not self.store.exists():
            return 0
        with closing(sqlite3.connect(self.store)) as connection, suppress(sqlite3.OperationalError):
            return int(connection.execute("SELECT count(*) FROM translation").fetchone()[0])
        return 0

    def wait_for(self, n: int) -> None:
        while self.n_stored() < n:
            time.sleep(0.2)

    @property
    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.folder.glob("*/*")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--delay-ms", type=float, default=5)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kind", default="dask", choices=("dask", "processes"))
    given = parser.parse_args()
    executor = f"{given.kind}:{given.workers}"
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        write_sentences(place / "sentences.tsv", given.n)
        with_workers = Trial(place, "workers", given.delay_ms, executor)
        seconds = with_workers.finish()
        killed = Trial(place, "killed", given.delay_ms, executor)
        driver = killed.start()
        for share in (0.2, 0.35):
            killed.wait_for(int(share * given.n))
            os.kill(workers_of(driver.pid)[0], signal.SIGKILL)
        killed.wait_for(given.n // 2)
        driver.kill()
        driver.wait()
        n_safe = killed.n_stored()
        killed.finish()
        serial = Trial(place, "serial", given.delay_ms, "serial")
        serial_seconds = serial.finish()
        same = serial.files == with_workers.files == killed.files
        print(
            f"workers: {serial_seconds / seconds:.2f} times as fast with {executor} ({serial_seconds:.0f} s against "
            f"{seconds:.0f} s; {given.n:,} sentences of {given.delay_ms:g} ms); whole commands, scoring included: "
            f"{serial.whole_seconds:.0f} s against {with_workers.whole_seconds:.0f} s"
        )
        print(
            f"killed: two workers, then the driver with {n_safe:,} answers kept; the second run asked for "
            f"{killed.n_asked:,}, {killed.n_asked + n_safe - given.n:,} more than were missing"
        )
        print(f"results are {'the same to the last byte' if same else 'DIFFERENT'}")
        if not same:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
