"""The verbs on good input: run, report, compare, gate, list, demo, and their exit codes 0 and 1."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark import api, registry
from gendermark.cli import terminal
from gendermark.cli.terminal import print_results

CELL = "simplegen.en-es"
SIMPLEGEN = ("--benchmark", "simplegen", "--data", "core", "--to", "es")


# -- the top ---------------------------------------------------------------------------------------------------------


def test_version(cli: Any) -> None:
    outcome = cli("--version")
    assert (outcome.exit_code, outcome.out, outcome.err) == (0, f"{gendermark.__version__}\n", "")


@pytest.mark.parametrize(
    "verb", [[], ["demo"], ["list"], ["export"], ["score"], ["audit"], ["run"], ["compare"], ["gate"], ["report"]]
)
def test_help_is_data(cli: Any, verb: list[str]) -> None:
    outcome = cli(*verb, "--help")
    assert (outcome.exit_code, outcome.err) == (0, "")
    assert "Usage: gendermark" in outcome.out


# -- list ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("benchmarks", {"simplegen", "tgbi"}),
        ("systems", {"command:…", "fake:…", "files:…"}),
        ("languages", set(registry.names("language"))),
        ("metrics", {"simplegen", "tgbi"}),
    ],
)
def test_list(cli: Any, kind: str, names: set[str]) -> None:
    outcome = cli("list", kind)
    assert (outcome.exit_code, outcome.err) == (0, "")
    printed = cli("list", kind, "--json").json
    assert list(printed) == [kind]
    assert [list(row) for row in printed[kind]] == [list(outcome.rows[0])] * len(printed[kind])
    assert [[str(cell) for cell in row.values()] for row in printed[kind]] == [
        list(row.values()) for row in outcome.rows
    ]
    assert names <= {next(iter(row.values())) for row in outcome.rows}
    assert all(cell for row in outcome.rows for cell in row.values()), "an empty cell"


def test_every_metric_of_the_contract_is_listed(cli: Any, finished: Path) -> None:
    listed = {(row["benchmark"], row["metric"]) for row in cli("list", "metrics").rows}
    given = {
        (result["benchmark"], estimate["metric"])
        for run in ("right", "tgbi")
        for result in cli("report", finished / run, "--json").json["runs"][str(finished / run)]
        for estimate in result["estimates"]
    }
    assert given <= listed


# -- run -------------------------------------------------------------------------------------------------------------


def test_run_leaves_a_folder(cli: Any, tmp_path: Path) -> None:
    run = tmp_path / "new" / "run"
    arguments = ("run", "--system", "fake:stereotyped?s=1", *SIMPLEGEN, "-o", run)
    outcome = cli(*arguments)
    assert outcome.exit_code == 0
    assert f"\nrun folder: {run}\n" in outcome.err
    values = {(row["metric"], row["slice"]): float(row["value"]) for row in outcome.rows}
    assert (values["pro", "all"], values["anti", "all"], values["delta", "all"]) == (100, 0, 100)
    assert {path.name for path in run.iterdir()} - {".lock"} == {"manifest.json", CELL}
    assert {path.name for path in (run / CELL).iterdir()} == {"translations.jsonl", "judgements.jsonl", "result.json"}
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["status"], list(manifest["cells"])) == ("finished", [CELL])
    assert manifest["config"]["system"] == "fake:stereotyped?s=1"
    before = (run / CELL / "result.json").read_bytes()
    assert cli(*arguments).out == outcome.out, "the same command again gives the same"
    assert (run / CELL / "result.json").read_bytes() == before


def test_run_as_json(cli: Any, tmp_path: Path) -> None:
    outcome = cli("run", "--system", "fake:right", *SIMPLEGEN, "-o", tmp_path / "run", "--json")
    assert outcome.json["run"] == str(tmp_path / "run")
    (result,) = outcome.json["results"]
    assert {"benchmark", "language", "data", "rules", "estimates", "signature"} <= result.keys()
    assert result["system"] == "fake:right"


@pytest.mark.parametrize(
    ("options", "cells"),
    [
        (("--benchmark", "simplegen", "--to", "es", "--to", "de"), ["simplegen.en-es", "simplegen.en-de"]),
        (("--benchmark", "simplegen", "--to", "es", "--to", "es"), ["simplegen.en-es"]),
        (("--benchmark", "tgbi"), ["tgbi.ko-en"]),
        (("--benchmark", "tgbi", "--benchmark", "tgbi", "--to", "en"), ["tgbi.ko-en"]),
        (("--benchmark", "tgbi", "--from", "fi"), ["tgbi.fi-en"]),
        (("--to", "en"), ["mittens.mul-en", "tgbi.ko-en"]),
        (("--to", "en", "--to", "en", "--from", "fi"), ["mittens.fi-en", "tgbi.fi-en"]),
    ],
)
def test_run_chooses_benchmarks(cli: Any, tmp_path: Path, options: tuple[str, ...], cells: list[str]) -> None:
    arguments = ("--system", "fake:right", "--data", "core", "--resamples", "100", "-o", tmp_path / "run")
    assert cli("run", *arguments, *options).exit_code == 0
    assert list(json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))["cells"]) == cells


def test_run_does_all_that_apply(cli: Any, tmp_path: Path) -> None:
    arguments = ("--system", "fake:right", "--data", "core", "--resamples", "100", "-o", tmp_path / "run")
    outcome = cli("run", *arguments, "--to", "es", "--to", "es", "--json")
    into_spanish = [
        name
        for name, benchmark in registry.every("benchmark")
        if ("en", "es") in benchmark.language_pairs("core") and not (benchmark.draws or benchmark.only_when_named)
    ]
    assert [result["benchmark"] for result in outcome.json["results"]] == into_spanish


def test_run_of_a_directory_of_files(cli: Any, good_file: Path, tmp_path: Path) -> None:
    (tmp_path / "simplegen.en-es.txt").write_bytes(good_file.read_bytes())
    run = (*SIMPLEGEN, "-o", tmp_path / "run", "--json")
    (result,) = cli("run", "--system", f"files:{tmp_path}", *run).json["results"]
    scored = cli("score", "simplegen", "--data", "core", "--to", "es", "--translations", good_file, "--json").json
    assert result["estimates"] == scored["estimates"]


def test_run_of_a_program(cli: Any, tmp_path: Path) -> None:
    """`cat` hands the source back: nothing of it counts as translated."""
    run = (*SIMPLEGEN, "-o", tmp_path / "run", "--json", "--store", tmp_path / "store.sqlite")
    outcome = cli("run", "--system", "command:cat", "--system-option", "batch_size=1000", *run)
    (result,) = outcome.json["results"]
    assert all(estimate["n_judged"] == 0 for estimate in result["estimates"])


# -- report ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "format_"), [(".md", "md"), (".tex", "latex"), (".csv", "csv"), (".json", "json"), (".MD", "md")]
)
def test_report_by_ending_and_by_format(cli: Any, small: Path, tmp_path: Path, ending: str, format_: str) -> None:
    runs = (small / "one", small / "two")
    printed = cli("report", *runs, "--format", format_)
    assert (printed.exit_code, printed.err) == (0, "")
    path = tmp_path / "new" / f"report{ending}"
    outcome = cli("report", *runs, "-o", path)
    assert (outcome.exit_code, outcome.out, outcome.err) == (0, "", f"report written to {path}\n")
    assert path.read_text(encoding="utf-8") == printed.out
    other = tmp_path / "report.txt"
    assert cli("report", *runs, "--format", format_, "-o", other).exit_code == 0
    assert other.read_bytes() == path.read_bytes()


def test_report_holds_every_number(cli: Any, finished: Path) -> None:
    runs = [str(finished / name) for name in ("right", "masculine", "tgbi")]
    printed = cli("report", *runs, "--json")
    assert printed.out == cli("report", *runs, "--format", "json").out
    assert list(printed.json["runs"]) == runs
    estimates = [
        (run, result["system"], estimate["metric"], estimate["slice"], estimate["value"])
        for run, results in printed.json["runs"].items()
        for result in results
        for estimate in result["estimates"]
    ]
    rows = list(csv.DictReader(io.StringIO(cli("report", *runs, "--format", "csv").out)))
    assert [(r["run"], r["system"], r["metric"], r["slice"], float(r["value"])) for r in rows] == estimates
    markdown = cli("report", *runs).out
    titles = [line.split()[1] for line in markdown.splitlines() if line.startswith("## ")]
    assert titles == ["simplegen", "tgbi", "simplegen.en-es", "tgbi.ko-en"], "the papers' tables, and then every number"
    assert "| metric | slice | right (fake) | masculine (fake) |" in markdown
    assert "| correct | fofc | 100.0 [83.9, 100.0] | 0.0 [0.0, 16.1] |" in markdown
    for results in printed.json["runs"].values():
        assert all(result["signature"] in markdown for result in results)


def test_report_of_one_run_twice(cli: Any, finished: Path) -> None:
    once, twice = (cli("report", *[finished / "right"] * n).out for n in (1, 2))
    assert once == twice


# -- compare ---------------------------------------------------------------------------------------------------------


def test_compare(cli: Any, finished: Path) -> None:
    printed = cli("compare", finished / "right", finished / "masculine", "--json")
    assert (printed.exit_code, printed.err) == (0, "")
    assert (printed.json["first"], printed.json["second"]) == ("fake:right", "fake:masculine")
    found = {row["metric"]: row for row in printed.json["comparisons"]}
    assert set(found) == {"correct", "pro", "anti", "delta", "recall_gap"}
    assert (found["pro"]["first"], found["pro"]["second"], found["pro"]["difference"]) == (100, 50, -50)
    assert found["pro"]["low"] <= -50 <= found["pro"]["high"]
    assert found["pro"]["p_adjusted"] >= found["pro"]["p_value"]
    assert found["delta"]["difference"] == 0
    outcome = cli("compare", finished / "right", finished / "masculine")
    assert [{key: row[key] for key in ("cell", "metric", "slice", "better")} for row in outcome.rows] == [
        {key: row[key] for key in ("cell", "metric", "slice", "better")} for row in printed.json["comparisons"]
    ]
    for row in outcome.rows:
        assert row["change"] == found[row["metric"]]["change"]
        for key in ("first", "second", "difference", "low", "high", "p_value", "p_adjusted", "detectable"):
            assert float(row[key]) == found[row["metric"]][key]
    assert outcome.err.startswith(
        f"items-right {CELL}: 1,360 items right only in the first, 0 only in the second, of 2,720"
    )
    turned = {row["metric"]: row for row in cli("compare", finished / "masculine", finished / "right").rows}
    assert float(turned["pro"]["difference"]) == 50


def test_compare_says_which_is_better(cli: Any, finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda _: True)
    for first, second, verdict in (("right", "masculine", "worse"), ("masculine", "right", "better")):
        lines = cli(
            "compare",
            finished / first,
            finished / second,
            "--resamples",
            "1000",
            "--metric",
            "pro",
            "--metric",
            "delta",
        ).out.splitlines()
        shown = {line.split()[0]: line for line in lines if line.split()}
        assert verdict in shown["pro"]
        assert not {"better", "worse"} & set(shown["delta"].split())


def test_compare_without_a_headline_metric(cli: Any, tmp_path: Path) -> None:
    selection = gendermark.Selection("simplegen", "en", "es", data="core", parts=("fofc",))
    for name in ("right", "masculine"):
        gendermark.run(f"fake:{name}", [selection], directory=tmp_path / name)
    outcome = cli("compare", tmp_path / "right", tmp_path / "masculine")
    assert outcome.exit_code == 0
    assert len(outcome.out.splitlines()) == 1, "a header"
    cli("gate", tmp_path / "right", "--baseline", tmp_path / "masculine").is_refusal("nothing to check", "--min")


def test_compare_all_metrics(cli: Any, finished: Path) -> None:
    outcome = cli("compare", finished / "right", finished / "masculine", "--all", "--resamples", "1000", "--json")
    found = {(row["metric"], row["slice"]) for row in outcome.json["comparisons"]}
    assert {("pro", "all"), ("correct", "fofc"), ("inconclusive", "mofc"), ("delta_fc", "all")} <= found


def test_compare_a_run_with_itself(cli: Any, finished: Path) -> None:
    outcome = cli("compare", finished / "tgbi", finished / "tgbi", "--resamples", "1000")
    assert {float(row["difference"]) for row in outcome.rows} == {0}
    assert {float(row["p_value"]) for row in outcome.rows} == {1}


# -- gate ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "options", "code"),
    [
        ("right", ("--min", "anti=60"), 0),
        ("right", ("--min", "anti=100", "--max", "delta=0"), 0),
        ("right", ("--min", "simplegen.correct:fofc=99"), 0),
        ("right", ("--min", "anti=100.1"), 1),
        ("masculine", ("--min", "anti=60"), 1),
        ("masculine", ("--max", "delta=15"), 0),
        ("masculine", ("--min", "correct:fofc=1", "--max", "delta=15"), 1),
        ("tgbi", ("--min", "p_s:formal=0.2"), 0),
        ("tgbi", ("--max", "tgbi=0.01"), 1),
        ("right", ("--baseline", "right"), 0),
        ("right", ("--baseline", "masculine"), 0),
        ("masculine", ("--baseline", "right"), 1),
        ("masculine", ("--baseline", "right", "--min", "pro=10"), 1),
        ("masculine", ("--baseline", "right", "--alpha", "0"), 0),
    ],
)
def test_gate(cli: Any, finished: Path, run: str, options: tuple[str, ...], code: int) -> None:
    arguments = [str(finished / option) if option in ("right", "masculine") else option for option in options]
    outcome = cli("gate", finished / run, *arguments, "--resamples", "1000")
    assert outcome.exit_code == code
    assert {row["outcome"] for row in outcome.rows} <= {"pass", "FAIL"}
    assert any(row["outcome"] == "FAIL" for row in outcome.rows) == bool(code)
    assert outcome.err.splitlines()[-1].startswith("gate failed: " if code else "gate passed: ")
    assert outcome.err.startswith(("gate ", "newly "))


@pytest.mark.parametrize(("bound", "code"), [("p_s:negative=0", 0), ("p_s:negative=1.1", 1)])
def test_gate_as_json(cli: Any, small: Path, bound: str, code: int) -> None:
    outcome = cli("gate", small / "one", "--min", bound, "--json")
    assert outcome.exit_code == code
    assert outcome.json["passed"] is not bool(code)
    (check,) = outcome.json["checks"]
    assert (check["cell"], check["metric"], check["slice"]) == ("tgbi.ko-en", "p_s", "negative")
    assert check["passed"] is not bool(code)


def test_no_data_is_no_pass(cli: Any, tmp_path: Path) -> None:
    selection = gendermark.Selection("tgbi", "ko", "en", data="core", parts=("negative",))
    gendermark.run("fake:right", [selection], directory=tmp_path / "part")
    for bound in ("--min", "--max"):
        assert cli("gate", tmp_path / "part", bound, "tgbi=0.5").exit_code == 1


# -- demo ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_demo(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two of the benchmarks that translate, and the one that draws; the others take most of its time."""
    kept = ("winomt", "mt-geneval-contextual")
    chosen = api.applicable([], ["es"], data="core").selections
    shorter = api.Chosen(tuple(selection for selection in chosen if selection.benchmark in kept))
    monkeypatch.setattr(api, "applicable", lambda *_, **__: shorter)
    outcome = cli("demo", "-o", tmp_path / "demo")
    assert outcome.exit_code == 0
    written = {path.name for path in (tmp_path / "demo").iterdir()}
    assert written >= {"demo-model", "unbiased", "masculine", "report.html", "report.md"}
    header, *rows = (line.split("\t") for line in outcome.out.splitlines())
    shown = {(row[0], row[1], row[2]): row[3] for row in rows if len(row) == len(header)}
    assert shown["winomt.en-es", "unbiased", "delta_s"] == "0.0"
    assert float(shown["winomt.en-es", "demo model", "delta_s"]) > 5
    assert shown["winomt.en-es", "masculine", "delta_s"] == "0.0"
    assert {cell for cell, *_ in shown} >= {"mt-geneval-contextual.en-es", "uncertainty.en-es"}
    report = (tmp_path / "demo" / "report.md").read_text(encoding="utf-8")
    assert "demo:en-es" in report
    assert "What it means" in outcome.err
    assert "The gender is kept more often where it fits the stereotype of the occupation" in outcome.err
    assert "Of 100 women 0 (0 to 9) keep their gender, of 100 men 100 (91 to 100): men more often" in outcome.err
    assert "winomt, “right gender”: worse than the unbiased system by" in outcome.err
    assert "gendermark run --system" in outcome.err


# -- on a terminal ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", ["40", "120"])
def test_tables_are_drawn_for_people(
    cli: Any, finished: Path, good_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, width: str
) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda _: True)
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("TERM", "dumb")
    for arguments in (
        ("score", "simplegen", "--data", "core", "--to", "es", "--translations", good_file),
        ("run", "--system", "fake:right", "--data", "core", "--to", "en", "-o", tmp_path / f"run{width}"),
        ("compare", finished / "right", finished / "masculine", "--resamples", "1000"),
        ("gate", finished / "right", "--min", "anti=50"),
        ("list", "metrics"),
        ("list", "benchmarks"),
    ):
        outcome = cli(*arguments)
        assert outcome.exit_code == 0
        assert "\t" not in outcome.out
        assert outcome.out.count("\n") > 3


def test_only_a_command_that_has_the_option_names_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`score` has --tables; `run` and `rejudge` print the same long tables and do not."""
    monkeypatch.setattr(terminal, "is_terminal", lambda _: True)
    (result,) = gendermark.run("fake:right", ["winomt"], "es", data="core")
    for hint in ("; all with --tables DIR", ""):
        print_results([result], hint)
        shown = " ".join(capsys.readouterr().out.split())
        assert f"(first and last 4 of 40{hint})" in shown


def test_markup_in_names_is_not_obeyed(
    cli: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda _: True)
    terminal.print_table("[red]title[/red]", ("[b]a[/b]",), [("[link=x]y[/link]",), ("[/nothing]",)])
    out = capsys.readouterr().out
    for text in ("[red]title[/red]", "[b]a[/b]", "[link=x]y[/link]", "[/nothing]"):
        assert text in out


def test_piped_cells_stay_in_their_place(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_table("", ("a", "b"), [("x\ty", "u\nv"), (None, "\x1b[31mred\x1b[0m")])
    assert capsys.readouterr().out == "a\tb\nx y\tu v\n\tred\n"
