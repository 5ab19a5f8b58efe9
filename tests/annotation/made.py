"""Runs and sheets, made up for a test."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import gendermark
from gendermark.annotation.agreement import JudgedRun
from gendermark.annotation.sheets import GENDERS, LINEUP
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.mt_geneval.judge import CONTEXTUAL
from gendermark.metrics.metric import Resampling
from gendermark.records import Gender, Judgement, Verdict
from gendermark.result import Result
from gendermark.runs.folder import Text
from gendermark.selection import Selection
from runs.children import PATIENCE_SECONDS

M, F, N = Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL
FEW = Resampling(200)
HEADER, LINEUP_HEADER = ",".join(GENDERS.columns), ",".join(LINEUP.columns)
CELL = "mt-geneval-contextual.en-es"
FIRST = {"seen": 0, "revision": 0, "note": ""}
"""What a page sends with its first answer."""
SPECS = {"a": "fake:right?p=0.7", "b": "fake:right?p=0.4&seed=3", "c": "fake:masculine"}


def judged(
    observed: Sequence[Gender | None],
    *,
    expected: Sequence[Gender | None] = (),
    texts: Sequence[str] = (),
    indices: Sequence[int] = (),
    entities: Sequence[str] = (),
) -> JudgedRun:
    """A run with these answers of the judge, and translations `Texto 0.`, `Texto 1.` ..."""
    judgements, written = [], {}
    for number, gender in enumerate(observed):
        item_id = f"item-{number:04}"
        judgements.append(
            Judgement(
                item_id,
                indices[number] if indices else number,
                f"g{number}",
                Verdict.JUDGED if gender else Verdict.UNJUDGEABLE,
                expected[number] if expected else M,
                gender,
                evidence=(f"palabra{number}",) if gender else (),
                entity=entities[number] if entities else f"worker{number}",
            )
        )
        written[item_id] = Text(f"Text {number}.", (texts[number] if texts else f"Texto {number}.",))
    result = Result(Selection("winomt", "en", "es", "core"), "core", "fake", (), judgements, signature="sig")
    return JudgedRun(result, written)


def sheet(path: Path, answers: Mapping[int, Gender | None]) -> Path:
    """A sheet with these answers by index; `None` is "entity not found"."""
    cells = {M: "Y,M", F: "Y,F", N: "Y,N", None: "N,"}
    return written(path, *(f"{index},,,{cells[gender]}," for index, gender in answers.items()))


def written(path: Path, *lines: str, header: str = HEADER, end: str = "\n", start: str = "") -> Path:
    path.write_bytes((start + end.join([header, *lines]) + end).encode())
    return path


def contextual_run(directory: Path, spec: str, to: str = "es", **options: Any) -> Path:
    gendermark.run(spec, ["mt-geneval-contextual"], to, directory=directory, data="core", **options)
    return directory


def loads(monkeypatch: pytest.MonkeyPatch, item_set: ItemSet) -> None:
    """From now on the benchmark has these items."""
    changed = replace(CONTEXTUAL, load=lambda _: item_set)
    monkeypatch.setattr("gendermark.benchmarks.mt_geneval.judge.CONTEXTUAL", changed)


def marked(path: Path, answers: Mapping[int, bool] | Callable[[int], str], rows: Sequence[int] = ()) -> Path:
    """A sheet of several systems with these answers by row."""
    if callable(answers):
        lines = [f"{row},,,,{answers(row)}," for row in rows]
    else:
        lines = [f"{row},,,,{'NY'[answer]}," for row, answer in answers.items()]
    return written(path, *lines, header=LINEUP_HEADER)


class Served:
    """`gendermark annotate serve` as a process of its own."""

    def __init__(self, *arguments: str | Path) -> None:
        code = "import sys; from gendermark.cli.app import main; main(sys.argv[1:])"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "annotate", "serve", *map(str, arguments), "--no-open"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()

    def ask(self, path: str, sent: Mapping[str, Any] | None = None) -> Any:
        at = urlsplit(self.url)
        with closing(http.client.HTTPConnection(at.netloc, timeout=PATIENCE_SECONDS)) as connection:
            method, body = ("GET", None) if sent is None else ("POST", json.dumps(sent))
            connection.request(method, f"{at.path}{path}", body)
            answer = connection.getresponse()
            content = answer.read()
        assert answer.status == 200, content
        return json.loads(content) if answer.headers.get_content_type() == "application/json" else content

    def fill(self, who: str, answers: str) -> None:
        self.ask("join", {"name": who})
        for item, answer in enumerate(answers):
            self.ask("answer", {**FIRST, "who": who, "item": item, "answer": answer})
        self.ask("close", {"who": who, "seen": 0})

    def end(self, by: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(by)
        out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        assert out == ""
        return self.process.returncode, err

    def kill(self) -> None:
        """As the operating system does it: nothing can be tidied up."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
