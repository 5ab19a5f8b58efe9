"""How long does `gendermark --help` take, measured in imports of Typer? Prints one line with the ratio; at most 3.

    PYTHONPATH=src python bench/help.py

Both are timed in turn in the same run, so that a busy machine slows both, and medians are compared.
"""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

N_REPEATS = 15
LIMIT = 3.0
HELP = [sys.executable, "-c", "from gendermark.cli.app import main; main()", "--help"]
REFERENCE = [sys.executable, "-c", "import typer"]


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    seconds(HELP)  # writes the byte code, so that no repeat pays for it
    seconds(REFERENCE)
    ours, reference = [], []
    for _ in range(N_REPEATS):
        ours.append(seconds(HELP))
        reference.append(seconds(REFERENCE))
    ratio = median(ours) / median(reference)
    print(
        f"help: {ratio:.2f} of the time of `import typer`, at most {LIMIT:g} "
        f"({1000 * median(ours):.0f} ms against {1000 * median(reference):.0f} ms, median of {N_REPEATS})"
    )


if __name__ == "__main__":
    main()
