"""Processor time of `gendermark score winomt --json`, and its ratio to a fixed reference workload.

    PYTHONPATH=src python bench/winomt.py [-n 5] [--only he ar ru] [--base CHECKOUT | --unchecked]

The translations are those of Google that came with WinoMT (`GENDERMARK_DATA_MIRROR` must name a mirror that has them).
Each command is a process of its own, in turn with the reference, which cuts and counts made-up sentences in plain
Python and never changes: its time stands for the machine and its load. `first` has no alignment in the cache, `again`
has. Printed are medians of processor seconds, and the medians of the ratios to the reference; or, with `--base`, the
ratio to scoring the same with another checkout of gendermark, in turn; or, with `--unchecked`, to scoring it without
the soundness check.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TRANSLATIONS = "gabrielStanovsky/mt_gender/586292861cf2efdda2dec03c69c3408995a8b293/translations/google"
SCORE = "from gendermark.cli.app import main; main()"
UNCHECKED = f"from gendermark.io import soundness; soundness.check = lambda *_: []; {SCORE}"
REFERENCE = """
import random, re
from collections import Counter
chance = random.Random(1)
words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(3000)]
sentences = [" ".join(chance.choices(words, k=13)) + "." for _ in range(3888)]
for _ in range(2):
    pairs = Counter()
    for one, other in zip(sentences, sentences[1:]):
        cut = re.findall(r"\\w+", one), re.findall(r"\\w+", other)
        pairs.update((a, b) for a in cut[0] for b in cut[1][:4])
    sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0]))[:10]
"""


def processor_seconds(code: str, *arguments: str, environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quiet = subprocess.DEVNULL
    subprocess.run([sys.executable, "-c", code, *arguments], env=environment, check=True, stdout=quiet, stderr=quiet)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _ratio(score: tuple[str, ...], environment: dict[str, str], base: Path, n: int) -> float:
    """Of scoring once more, here and with another checkout, each with its own cache."""
    other = {**environment, "PYTHONPATH": str(base / "src")}
    other |= {key: f"{environment[key]}/base" for key in ("GENDERMARK_CACHE", "PYTHONPYCACHEPREFIX")}
    processor_seconds(SCORE, *score, environment=other)
    pairs = [[processor_seconds(SCORE, *score, environment=one) for one in (environment, other)] for _ in range(n)]
    return statistics.median(here / there for here, there in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=5, help="repetitions")
    parser.add_argument("--base", type=Path, help="another checkout of gendermark, to compare with")
    parser.add_argument("--unchecked", action="store_true", help="compare with scoring without the soundness check")
    parser.add_argument("--only", nargs="+", default=["he", "ar", "ru"], metavar="LANGUAGE")
    given = parser.parse_args()
    mirror = Path(os.environ.get("GENDERMARK_DATA_MIRROR", ""))
    with tempfile.TemporaryDirectory() as cache:
        # Modules are compiled, as they are where gendermark is installed.
        environment = {**os.environ, "GENDERMARK_CACHE": cache, "PYTHONPYCACHEPREFIX": f"{cache}/compiled"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        print(f"{'to':<4}{'first':>9}{'again':>9}{'reference':>11}{'first / reference':>19}{'again / reference':>19}")
        for language in given.only:
            file = mirror / TRANSLATIONS / f"en-{language}.txt"
            score = ("score", "winomt", "--to", language, "--translations", str(file), "--json")
            processor_seconds(SCORE, *score, environment=environment)  # fetches the data
            if given.base:
                print(f"{language:<4}{_ratio(score, environment, given.base, given.n):.2f} times the time of the base")
                continue
            if given.unchecked:
                codes = (SCORE, UNCHECKED)
                pairs = [
                    [processor_seconds(one, *score, environment=environment) for one in codes] for _ in range(given.n)
                ]
                ratio = statistics.median(checked / unchecked for checked, unchecked in pairs)
                print(f"{language:<4}{ratio:.2f} times the time without the check")
                continue
            rows = []
            for _ in range(given.n):
                shutil.rmtree(Path(cache) / "alignments", ignore_errors=True)
                first = processor_seconds(SCORE, *score, environment=environment)
                again = processor_seconds(SCORE, *score, environment=environment)
                reference = processor_seconds(REFERENCE, environment=environment)
                rows.append((first, again, reference, first / reference, again / reference))
            seconds = [statistics.median(column) for column in zip(*rows, strict=True)]
            times = "".join(f"{one:>7.2f} s" for one in seconds[:2]) + f"{seconds[2]:>9.2f} s"
            print(f"{language:<4}{times}{seconds[3]:>19.2f}{seconds[4]:>19.2f}", flush=True)


if __name__ == "__main__":
    main()
