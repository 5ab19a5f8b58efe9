"""How time and memory grow with the number of sentences: the real commands, on sets of our own templates.

    PYTHONPATH=src python bench/streaming.py [-n 10000 100000] [--only winomt uncertainty report ...] [--keep DIR]

Each set has N sentences (templates, occupations, times of day and weekdays crossed; versions with he, she and they) and
Spanish stand-ins for translations, one of each for `winomt`, two samples of each for `uncertainty`. Every command runs
in a process of its own; its time, its processor time, that of each sentence and its largest memory (`ru_maxrss`) are
printed, and the size of the page. docs/scale.md has the measured table.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gendermark.reading.occupations import citation_forms, core_occupations

PROGRAM = [sys.executable, "-c", "from gendermark.cli.app import main; main()"]
TO = "es"
PRONOUNS = {"masculine": ("he", "his"), "feminine": ("she", "her"), "neutral": ("they", "their")}
TEMPLATES = (
    "{when} the {first} thanked the {second} because {subject} had found the lost keys.",
    "{when} the {first} called the {second} because {subject} needed some advice about {possessive} garden.",
    "{when} the {first} waited for the {second} although {subject} wanted to go home.",
    "{when} the {first} helped the {second} after {subject} had broken {possessive} arm.",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SPANISH = (
    "dio las gracias por las llaves perdidas",
    "llamó porque necesitaba consejo",
    "esperó aunque quería irse",
    "ayudó",
)
STEPS = ("winomt", "uncertainty", "report", "ui", "rejudge")


class Sentence(NamedTuple):
    source: str
    gender: str
    entity: str
    stereotype: str
    spanish: str


def sentences(n: int) -> Iterator[Sentence]:
    """Each with what a translator that follows stereotypes would write; no two are the same."""
    chance = random.Random(17)
    forms = citation_forms(TO)
    people = [(name, percent > 50) for name, _, percent in core_occupations()]
    number = 0
    while True:
        day, rest = divmod(number, len(TEMPLATES) * len(people) * (len(people) - 1))
        template, rest = divmod(rest, len(people) * (len(people) - 1))
        place, other = divmod(rest, len(people) - 1)
        (first, is_woman), (second, _) = people[place], people[(place + 1 + other) % len(people)]
        when = f"On {WEEKDAYS[day % 7]} of week {day // 7 + 1}"
        for gender, (subject, possessive) in PRONOUNS.items():
            words = {"first": first, "second": second, "subject": subject, "possessive": possessive, "when": when}
            typical = "feminine" if is_woman else "masculine"
            half = "none" if gender == "neutral" else "pro" if gender == typical else "anti"
            said = gender if gender != "neutral" and chance.random() < 0.7 else typical
            noun, partner = forms[first, said, "singular"], forms[second, "masculine", "singular"]
            articles = {"masculine": "el", "feminine": "la"}
            spanish = (
                f"El día {day + 1} {articles[said]} {noun} {SPANISH[template]} a {articles['masculine']} {partner}."
            )
            yield Sentence(TEMPLATES[template].format(**words), gender, first, half, spanish)
            n -= 1
            if not n:
                return
        number += 1


def write_set(directory: Path, n: int) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    with (
        (directory / "data.csv").open("w", encoding="utf-8", newline="") as data,
        (directory / "translations.txt").open("w", encoding="utf-8") as translations,
        (directory / "samples.jsonl").open("w", encoding="utf-8") as samples,
    ):
        rows = csv.writer(data)
        rows.writerow(["source", "gender", "entity", "stereotype"])
        for number, one in enumerate(sentences(n)):
            rows.writerow([one.source, one.gender, one.entity, one.stereotype])
            translations.write(f"{one.spanish}\n")
            other = one.spanish.replace(" día ", " mismo día ") if number % 3 else one.spanish
            samples.write(
                json.dumps({"source": one.source, "samples": [one.spanish, other]}, ensure_ascii=False) + "\n"
            )


class Measured(NamedTuple):
    seconds: float
    processor: float
    """Seconds of processor time, which other work on the machine does not make longer."""
    megabytes: float


def measured(*arguments: str) -> Measured:
    """A command, run to its end."""
    started = time.monotonic()
    process = subprocess.Popen([*PROGRAM, *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"failed: {' '.join(arguments)}")
    return Measured(time.monotonic() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def measured_ui(run: Path) -> Measured:
    """Until the address is printed, when everything is read; then it is ended."""
    started = time.monotonic()
    command = [*PROGRAM, "ui", str(run), "--no-open"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    seconds = time.monotonic() - started
    process.send_signal(signal.SIGINT)
    _, _, used = os.wait4(process.pid, 0)
    return Measured(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def show(what: str, n: int, found: Measured, more: str = "") -> None:
    each = found.processor / n * 1e6
    times = f"{found.seconds:>10.1f} s{found.processor:>10.1f} s{each:>9.0f} µs"
    print(f"{what:<24}{n:>10,}{times}{found.megabytes:>9.0f} MB  {more}", flush=True)


def measure(base: Path, n: int, steps: list[str]) -> None:
    write_set(base, n)
    data = ["--to", TO, "--data", f"file:{base / 'data.csv'}"]
    judged = ["--judgements", str(base / "judgements.jsonl"), "--json"]
    samples = base / "samples.jsonl"
    if "winomt" in steps:
        show(
            "score winomt", n, measured("score", "winomt", *data, "--translations", f"{base}/translations.txt", *judged)
        )
    if "uncertainty" in steps:
        show("score uncertainty", n, measured("score", "uncertainty", *data, "--samples", str(samples), *judged))
    (base / "judgements.jsonl").unlink(missing_ok=True)
    for name, file in (("winomt", base / "translations.txt"), ("uncertainty", samples)):
        if not {"report", "ui", "rejudge"} & set(steps):
            continue
        run, page = base / f"run-{name}", base / f"{name}.html"
        if not run.exists():
            drawn = ["--n-samples", "2"] if name == "uncertainty" else []
            arguments = ["run", "--system", f"files:{file}", "--benchmark", name, *data, *drawn, "-o", str(run)]
            show(f"run files {name}", n, measured(*arguments))
        if "report" in steps:
            found = measured("report", str(run), "-o", str(page))
            show(f"report {name}", n, found, f"page {page.stat().st_size / 1e6:.1f} MB")
        if "ui" in steps:
            show(f"ui {name}, start", n, measured_ui(run))
        if "rejudge" in steps:
            show(f"rejudge {name}", n, measured("rejudge", str(run), "--json"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, nargs="+", default=[10_000, 100_000], help="sentences")
    parser.add_argument("--only", nargs="+", choices=STEPS, default=list(STEPS))
    parser.add_argument("--keep", type=Path, help="directory for sets and run folders, which stay there")
    given = parser.parse_args()
    print(f"{'command':<24}{'sentences':>10}{'time':>12}{'processor':>12}{'each':>12}{'memory':>12}")
    with tempfile.TemporaryDirectory() as name:
        for n in given.n:
            measure((given.keep or Path(name)) / str(n), n, given.only)


if __name__ == "__main__":
    main()
