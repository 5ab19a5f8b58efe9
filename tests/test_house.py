"""The plan of the house: one place for each truth, and a benchmark is one folder and one line."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark import registry
from gendermark.metrics.describe import SLICES
from outcomes import Outcome

PACKAGE = Path(gendermark.__file__).parent
TOY = Path(__file__).parent / "toy"
BENCHMARKS = sorted(registry.BUILT_IN["benchmark"])


def test_nothing_that_serves_all_benchmarks_names_one() -> None:
    names = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, BENCHMARKS))})(?![\w-])")
    places = [
        PACKAGE / "api.py",
        *(p for part in ("report", "cli", "runs", "auditing", "leaderboard") for p in (PACKAGE / part).rglob("*.*")),
    ]
    found = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()[:80]}"
        for path in places
        if path.suffix in (".py", ".js", ".html", ".toml")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if names.search(line)
    ]
    assert found == []


def test_every_benchmark_has_its_arrows_in_its_folder() -> None:
    for name in BENCHMARKS:
        folder = (PACKAGE / registry.BUILT_IN["benchmark"][name].removeprefix("gendermark.").replace(".", "/")).parent
        files = {path.name for path in folder.iterdir()}
        arrows = {"settings.py", "items.py", "judge.py", "measures.py", "findings.py", "benchmark.py"}
        assert arrows <= files, f"{name} lacks {arrows - files}"


# -- described metrics -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_metric_is_described(name: str) -> None:
    benchmark = registry.load("benchmark", name)
    described = benchmark.measures.described
    assert len({about.name for about in described}) == len(described)
    for about in described:
        assert about.label
        assert about.meaning.endswith(".")
    for headline in (*benchmark.measures.headline, benchmark.presentation.leading, *benchmark.presentation.also_shown):
        assert not headline or headline.partition(":")[0] in {about.name for about in described}
    # What one sentence compares by is one of the metrics that are always compared.
    leading = benchmark.presentation.leading or benchmark.measures.headline[0]
    assert leading in benchmark.measures.headline


@pytest.mark.parametrize("name", BENCHMARKS)
def test_what_is_measured_is_what_is_described(name: str) -> None:
    benchmark = registry.load("benchmark", name)
    options: dict[str, Any] = {"n_samples": 3} if benchmark.draws else {}
    source, target = next(pair for pair in benchmark.language_pairs("core") if pair[1] in ("es", "en"))
    parts = benchmark.choices_of("parts")[:1] if benchmark.draws else ()
    selection = gendermark.Selection(name, source, target, data="core", parts=parts, **options)
    (result,) = gendermark.run("fake:coin", [selection])
    described = {about.name: about for about in benchmark.measures.described}
    for estimate in result.estimates:
        assert estimate.metric in described
        assert estimate.unit is described[estimate.metric].unit
        # What people read is in words, and a slice that several benchmarks have is called the same in all.
        label = benchmark.slice_label(estimate.slice)
        assert re.fullmatch(r"[A-Za-z][A-Za-z', -]*", label), label
        assert estimate.slice not in SLICES or label == SLICES[estimate.slice]
        assert "_" not in benchmark.label(estimate.metric, estimate.slice).replace("f_", "").replace("P_S", "")
    metrics = benchmark.measures.metrics(result.judgements, result.selection)
    assert all(metric.about is described[metric.name] or metric.about == described[metric.name] for metric in metrics)


# -- a benchmark from outside ------------------------------------------------------------------------------------------


MACHINE = """
import contextlib, io, json, sys
from gendermark.cli.app import _exit_code
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = _exit_code(json.loads(line))
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Callable[..., Outcome]]:
    """The command line of a machine on which the toy's package is installed: one process for all commands."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(TOY), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    line = [sys.executable, "-c", MACHINE]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, cwd=tmp_path, env=environment, **pipes) as machine:
        assert machine.stdin is not None
        assert machine.stdout is not None

        def run(*arguments: str, code: int = 0) -> Outcome:
            print(json.dumps(arguments), file=machine.stdin, flush=True)
            done = Outcome(*json.loads(machine.stdout.readline()))
            assert done.exit_code == code, done.err
            return done

        yield run


def test_a_benchmark_from_another_package(command: Callable[..., Any], tmp_path: Path) -> None:
    """Settings, fakes, a finding, a table, a figure: run, compared, gated and shown, with no change here."""
    assert "Toy: Is everybody greeted rightly?" in command("list", "benchmarks").out
    assert "greeted rightly. Greetings with the right word." in command("list", "metrics").out
    assert "plain or very (toy)" in " ".join(command("run", "--help").out.replace("│", " ").split())
    exported = command("export", "toy", "--to", "xx", "--politeness", "very").out
    assert exported.startswith("The pilot kindly greets sir.\n")
    run = ("run", "--benchmark", "toy", "--to", "xx", "--data", "core")
    command(*run, "--system", "fake:right", "-o", "right")
    command(*run, "--system", "fake:masculine", "-o", "men")
    command(*run, "--system", "fake:right", "--politeness", "very", "-o", "polite")

    compared = json.loads(command("compare", "right", "men", "--json").out)
    (found,) = compared["comparisons"]
    assert (found["metric"], found["difference"], found["change"]) == ("greeted", -50.0, "worse")
    gated = json.loads(command("gate", "men", "--baseline", "right", "--json", code=1).out)
    assert "100.0 → 50.0, worse" in gated["checks"][0]["finding"]
    refused = command("compare", "right", "polite", code=2).err
    assert "the runs differ in politeness (plain and very)" in refused

    command("report", "right", "men", "-o", "page.html", "--figures", "figures", "--figure-format", "svg")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Of 100 people 100 (72 to 100) are greeted rightly." in page
    assert "Toy: Is everybody greeted rightly?" in page
    assert "Who is greeted" in page
    assert (tmp_path / "figures" / "toy.greetings.svg").exists()
    latex = command("report", "right", "men", "--format", "latex").out
    assert "\\label{tab:toy-1}" in latex

    again = command("rejudge", "men", "-o", "again").err
    assert "toy.en-xx: all 20 verdicts are as before" in again
    wrong = command(
        "run", "--benchmark", "toy", "--to", "xx", "--system", "fake:right", "--alpha", "2", "-o", "x", code=2
    )
    assert "toy takes no --alpha, which belongs to uncertainty; leave it out" in wrong.err


def test_another_package_that_does_not_load_harms_nobody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from importlib.metadata import EntryPoint

    broken = EntryPoint("broken", "no_such_module:x", "gendermark.benchmark")
    monkeypatch.setattr(registry, "entry_points", lambda group: [broken] if group == "gendermark.benchmark" else [])
    registry._outside.cache_clear()
    try:
        catalogue = import_module("gendermark.report.catalogue")
        assert {row[0] for row in catalogue.listing("benchmarks").rows} == set(BENCHMARKS)
        assert "benchmark 'broken' of package None does not load" in caplog.text
        app, options = import_module("gendermark.cli.app"), import_module("gendermark.cli.options")
        assert "n_samples" in inspect.signature(options.expanded(app._load("run"))).parameters
    finally:
        registry._outside.cache_clear()
