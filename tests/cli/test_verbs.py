"""The verbs on good input: what they print and write. `score` and `export` are in test_contract.py."""

from __future__ import annotations

import csv
import io
import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import gendermark
from cli.conftest import Cli
from gendermark import api, registry
from gendermark.cli import terminal
from gendermark.cli.app import VERBS
from gendermark.reporting.ui import RunFolders

CELL = "simplegen.en-es"
CORE = "--data core --resamples 100"
SIMPLEGEN = "--benchmark simplegen --to es --data core"
NEGATIVE = "run --benchmark tgbi --from ko --to en --data core --group negative"


def _manifest(run: Path) -> Any:
    return json.loads((run / "manifest.json").read_text(encoding="utf-8"))


def _benchmarks(run: Path) -> list[str]:
    return [selection["benchmark"] for selection in _manifest(run)["config"]["selections"]]


# -- the top, list -----------------------------------------------------------------------------------------------------


def test_version(cli: Cli) -> None:
    outcome = cli("--version")
    assert (outcome.exit_code, outcome.out, outcome.err) == (0, f"{gendermark.__version__}\n", "")


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_is_data(cli: Cli, verb: str) -> None:
    outcome = cli(f"{verb} --help")
    assert (outcome.exit_code, outcome.err) == (0, "")
    assert f"Usage: gendermark {verb}".rstrip() in outcome.out


def test_help_shows_the_options_of_the_named_benchmark_only(cli: Cli) -> None:
    shown = {line: cli(f"{line} --help").out for line in ("score", "score winomt", "run --benchmark gest", "rejudge")}
    assert ["--aligner" in text for text in shown.values()] == [False, True, False, False]
    assert ["--detector" in text for text in shown.values()] == [False, True, True, False]
    cli("score simplegen --alpha 2 --to es --data core --translations x").is_refusal("simplegen takes no --alpha")


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("benchmarks", {"simplegen", "tgbi"}),
        ("systems", {"command:…", "fake:…", "files:…"}),
        ("languages", set(registry.names("language"))),
        ("metrics", {"simplegen", "tgbi"}),
    ],
)
def test_list(cli: Cli, kind: str, names: set[str]) -> None:
    outcome = cli(f"list {kind}")
    assert (outcome.exit_code, outcome.err) == (0, "")
    printed = cli(f"list {kind} --json").json
    assert list(printed) == [kind]
    assert [{key: str(cell) for key, cell in row.items()} for row in printed[kind]] == outcome.rows
    assert names <= {next(iter(row.values())) for row in outcome.rows}
    assert all(cell for row in outcome.rows for cell in row.values()), "an empty cell"


def test_every_metric_of_a_result_is_listed(cli: Cli, finished: Path) -> None:
    listed = {(row["benchmark"], row["metric"]) for row in cli("list metrics").rows}
    for run in ("right", "tgbi"):
        for result in gendermark.load(finished / run):
            assert {(result.selection.benchmark, e.metric) for e in result.estimates} <= listed


# -- run ---------------------------------------------------------------------------------------------------------------


def test_run_leaves_a_folder(cli: Cli, tmp_path: Path) -> None:
    run = tmp_path / "new" / "run"
    command = f"run --system fake:stereotyped?s=1 {SIMPLEGEN} -o {run}"
    outcome = cli(f"{command} --all")
    assert outcome.exit_code == 0
    assert f"\nrun folder: {run}\n" in outcome.err
    values = {(row["metric"], row["slice"]): float(row["value"]) for row in outcome.rows}
    assert (values["pro", "all"], values["anti", "all"], values["delta", "all"]) == (100, 0, 100)
    assert {path.name for path in run.iterdir()} - {".lock"} == {"manifest.json", CELL}
    assert {path.name for path in (run / CELL).iterdir()} == {"translations.jsonl", "judgements.jsonl", "result.json"}
    manifest = _manifest(run)
    assert (manifest["status"], list(manifest["cells"])) == ("finished", [CELL])
    assert manifest["config"]["system"] == "fake:stereotyped?s=1"
    before = (run / CELL / "result.json").read_bytes()
    printed = cli(f"{command} --json").json
    assert printed["run"] == str(run)
    (result,) = printed["results"]
    assert {"benchmark", "language", "data", "rules", "estimates", "signature"} <= result.keys()
    assert not result["warnings"]
    assert [str(e["value"]) for e in result["estimates"]] == [row["value"] for row in outcome.rows], "the same again"
    assert (run / CELL / "result.json").read_bytes() == before


def _into_spanish() -> list[str]:
    return [
        f"{name}.en-es"
        for name, benchmark in registry.every("benchmark")
        if ("en", "es") in benchmark.language_pairs("core") and not (benchmark.draws or benchmark.only_when_named)
    ]


@pytest.mark.parametrize(
    ("options", "cells"),
    [
        ("--benchmark terms --to es --to de", ["terms.en-es", "terms.en-de"]),
        ("--benchmark terms --to es --to es", ["terms.en-es"]),
        ("--benchmark tgbi --group negative", ["tgbi.ko-en"]),
        ("--benchmark tgbi --benchmark tgbi --to en --group negative", ["tgbi.ko-en"]),
        ("--benchmark tgbi --from fi --group negative", ["tgbi.fi-en"]),
        ("--to en", ["mittens.mul-en", "tgbi.ko-en"]),
        ("--to en --to en --from fi", ["mittens.fi-en", "tgbi.fi-en"]),
        ("--to es --to es", _into_spanish()),
        ("--to es --group pro", ["winomt.en-es"]),
        ("--to es --context joined", ["mt-geneval-contextual.en-es"]),
        ("--to es --rules repo2020", ["winomt.en-es"]),
    ],
)
def test_run_chooses_benchmarks(cli: Cli, tmp_path: Path, options: str, cells: list[str]) -> None:
    outcome = cli(f"run --system fake:right {CORE} {options} -o {tmp_path}/run")
    assert outcome.exit_code == 0
    assert list(_manifest(tmp_path / "run")["cells"]) == cells
    if options in ("--to es --group pro", "--to es --context joined"):  # what is left out is named, with the reason
        wrong = "'pro'; available: " if "pro" in options else " takes no --context, which belongs to mt-geneval"
        said = [line for line in outcome.err.splitlines() if line.startswith("skipped ")]
        assert {line.split(":")[0].removeprefix("skipped ") for line in said} == {
            cell.partition(".")[0] for cell in _into_spanish() if cell not in cells
        }
        assert all(wrong in line for line in said)


def test_a_revision_leaves_out_the_benchmarks_without_it(cli: Cli, mirror: Path, tmp_path: Path) -> None:
    outcome = cli(f"run --system fake:right --to es --resamples 100 --revision 2019 -o {tmp_path}/run")
    assert outcome.exit_code == 0
    assert _benchmarks(tmp_path / "run") == ["winomt"]
    assert "skipped simplegen: " in outcome.err
    assert _manifest(tmp_path / "run")["config"]["selections"][0]["revision"] == "2019"


def test_run_of_a_directory_runs_what_it_has(cli: Cli, good_file: Path, tmp_path: Path) -> None:
    shutil.copy(good_file, tmp_path / f"{CELL}.txt")
    outcome = cli(f"run --system files:{tmp_path} --to es --data core -o {tmp_path}/run --json")
    (result,) = outcome.json["results"]
    scored = cli(f"score simplegen --to es --data core --translations {good_file} --json").json
    assert result["estimates"] == scored["estimates"]
    others = ", ".join(cell for cell in _into_spanish() if cell != CELL)
    assert f"skipped, no file in {tmp_path}: {others}\n" in outcome.err


def test_run_of_a_program(cli: Cli, tmp_path: Path) -> None:
    """`cat` hands the source back: nothing of it counts as translated."""
    command = "run --system command:cat --system-option batch_size=1000 --benchmark terms --to es --data core"
    command += f" -o {tmp_path}/run --store {tmp_path}/store.sqlite"
    refused = cli(command)
    assert refused.exit_code == 2
    assert "100% copies of the source" in refused.err
    (result,) = cli(f"{command} --accept-unsound --json").json["results"]
    assert all(estimate["n_judged"] == 0 for estimate in result["estimates"])


@pytest.mark.parametrize("system", ["fake:silent", "fake:copy"])
@pytest.mark.parametrize("benchmark", ["mt-geneval-contextual", "mt-geneval-counterfactual", "simplegen", "tgbi"])
def test_what_was_not_translated_is_said_in_one_line(system: str, benchmark: str, cli: Cli, tmp_path: Path) -> None:
    to = "en" if benchmark == "tgbi" else "es"
    (result,) = cli(f"run --system {system} --benchmark {benchmark} --to {to} {CORE} -o {tmp_path}/run --json").json[
        "results"
    ]
    (warning,) = result["warnings"]
    n = f"{max(estimate['n_total'] for estimate in result['estimates']):,}"
    assert warning.startswith(f"{n} of {n} ")
    assert "copy of the source" in warning


@pytest.mark.parametrize(
    "given",
    ["--sampling epsilon=0.2 --sampling seed=1", "--sampling epsilon=0.2,seed=1", "--sampling 'epsilon=0.2, seed=1'"],
)
def test_every_form_of_sampling_is_stored_as_one(given: str, cli: Cli, tmp_path: Path) -> None:
    what = f"--benchmark uncertainty --group referenced --n-samples 2 --to es {CORE}"
    assert cli(f"run --system fake:coin {what} {given} -o {tmp_path}/run").exit_code == 0
    assert _manifest(tmp_path / "run")["config"]["selections"][0]["sampling"] == "epsilon=0.2,seed=1"


def test_a_run_that_goes_on_says_so(cli: Cli, tmp_path: Path) -> None:
    system = shlex.quote("command:sed 's/^/He /'")
    command = f"{NEGATIVE} --system {system} --store {tmp_path}/store -o {tmp_path}"
    first = cli(f"{command}/run")
    assert first.exit_code == 0, first.err
    n = first.err.partition(" sentences")[0].rpartition(" ")[2]
    assert all(f"using {n} stored translations" in cli(f"{command}/{name}").err for name in ("run", "other"))


def test_parts_of_a_run_are_joined(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = "run --system fake:right --benchmark terms --to es --data core"
    parts = [cli(f"{command} --shard {n}/2 -o parts/{n} --json").json for n in (1, 2)]
    assert [(part["run"], part["part"]) for part in parts] == [("parts/1", "1/2"), ("parts/2", "2/2")]
    assert sum(part["n_sentences"] for part in parts) == 96
    assert {part["n_sentences_of_all_parts"] for part in parts} == {96}
    merged = cli("merge parts/1 parts/2 -o whole --json").json
    assert merged["run"] == "whole"
    assert merged["results"] == cli(f"{command} -o once --json").json["results"]
    for part, what in (("1/100000", "32 of 96 sentences"), ("99999/100000", "none of the 96 sentences")):
        outcome = cli(f"{command} --shard {part} -o {part.replace('/', '-')}")
        assert (outcome.exit_code, outcome.out) == (0, "")
        assert f"part {part} done, {what}" in outcome.err


# -- names of systems --------------------------------------------------------------------------------------------------


def test_a_run_keeps_its_name(cli: Cli, tmp_path: Path) -> None:
    run = f"{NEGATIVE} --system fake:right?p=0.5 -o {tmp_path}/r --json"
    assert cli(f"{run} --name 'Bing 2019'").json["results"][0]["name"] == "Bing 2019"
    assert _manifest(tmp_path / "r")["name"] == "Bing 2019"
    assert cli(run).json["results"][0]["name"] == "Bing 2019", "a run that goes on keeps it"
    cli(f"rejudge {tmp_path}/r -o {tmp_path}/again")
    assert gendermark.load(tmp_path / "again")[0].called == "Bing 2019"
    page = cli(f"report {tmp_path}/r --format html").out
    assert "<title>Bing 2019: " in page
    assert "fake:right?p=0.5" in page, "the whole spec, under what was measured"
    assert "--name &#39;Bing 2019&#39;" in page
    assert cli(f"{run} --name 'Bing 2020'").json["results"][0]["name"] == "Bing 2020", "or gets a new one"


def test_translations_made_elsewhere_have_a_name(cli: Cli, good_file: Path) -> None:
    score = f"score simplegen --to es --data core --translations {good_file} --json"
    assert cli(score).json["name"] == "translations", "whatever the file is called"
    named = cli(f"{score} --name 'Bing 2019'").json
    assert (named["name"], named["system"]) == ("Bing 2019", "files")


@pytest.mark.parametrize("given", ["Old=one 'New one=two'", "one two --name Old --name 'New one'"])
def test_names_of_folders(cli: Cli, small: Path, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small)
    header = cli(f"report {given} --format md").out.partition("| metric |")[2].splitlines()[0]
    assert header == " slice | Old | New one |"
    page = cli(f"report {given} --format html").out
    assert "gendermark report Old=one &#39;New one=two&#39; -o report.html" in page
    compared = cli(f"compare {given} --json").json
    assert (compared["first_name"], compared["second_name"]) == ("Old", "New one")
    many = cli(f"compare {given} --trend --json").json
    assert [run["called"] for run in many["runs"]] == ["Old", "New one"]
    assert " in Old, " in many["trend"][0]["sentence"]
    folders = RunFolders([small / "one", small / "two"], ["Old", ""])
    assert folders.now.explorer.systems == ["Old", "always-masculine control"]


def test_a_folder_may_have_an_equals_sign_in_its_name(cli: Cli, small: Path, tmp_path: Path) -> None:
    shutil.copytree(small / "one", tmp_path / "a=b")
    assert "unbiased control (p=0.5)" in cli(f"report {tmp_path}/a=b").out


# -- rejudge -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One group of WinoMT on core data. Not to be written to."""
    directory = tmp_path_factory.mktemp("rejudge") / "run"
    selection = gendermark.Selection("winomt", "en", "es", data="core", parts=("anti",))
    gendermark.run("fake:right?p=0.6", [selection], directory=directory)
    return directory


def test_rejudge_with_other_rules_gives_what_score_gives(cli: Cli, judged: Path, tmp_path: Path) -> None:
    (found,) = cli(f"rejudge {judged} --rules paper2019 --json -o {tmp_path}/paper").json["rejudged"]
    assert (found["run"], found["written"]) == (str(judged), str(tmp_path / "paper"))
    (cell,) = found["cells"]
    lines = (judged / "winomt.en-es" / "translations.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "texts.txt").write_text("".join(f"{json.loads(line)['translation']}\n" for line in lines))
    score = "score winomt --to es --data core --rules paper2019 --group anti --json"
    assert cell["result"]["estimates"] == cli(f"{score} --translations {tmp_path}/texts.txt").json["estimates"]
    assert cell["n"] == len(lines)
    assert 0 < len(cell["changes"]) < len(lines)
    # The folder that was written is a run folder like any other.
    assert cli(f"compare {tmp_path}/paper {tmp_path}/paper").exit_code == 0
    assert cli(f"report {judged} {tmp_path}/paper -o {tmp_path}/page.html").exit_code == 0
    assert cli(f"gate {tmp_path}/paper --min accuracy=1").exit_code == 0
    cli(f"compare {judged} {tmp_path}/paper").is_refusal("winomt.en-es", "rules", "paper2019")


def test_rejudge_several_runs(cli: Cli, judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Path(shutil.copytree(judged, tmp_path / "other"))
    outcome = cli(f"rejudge {judged} {other} -o {tmp_path}/out --all")
    assert outcome.exit_code == 0
    alone = cli(f"rejudge {judged} --all")
    n = len(gendermark.load(judged)[0].judgements)
    assert alone.err == f"winomt.en-es: all {n} verdicts are as before\n"
    stored = [str(e.value) if e.value is not None else "" for e in gendermark.load(judged)[0].estimates]
    assert [row["value"] for row in alone.rows] == stored
    assert outcome.rows == [{"run": str(one), **row} for one in (judged, other) for row in alone.rows]
    for one in (judged, other):
        assert f"{one}, winomt.en-es: all {n} verdicts are as before" in outcome.err.splitlines()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["other", "run"]
    assert f"run folder: {tmp_path / 'out' / 'other'}" in outcome.err.splitlines()
    monkeypatch.setattr(terminal, "is_terminal", lambda stream: stream is sys.stdout)
    monkeypatch.setenv("COLUMNS", "300")
    for given, named in ((f"{judged} {other}", (f"{judged}, ", f"{other}, ")), (f"{judged}", ("",))):
        titles = [
            line for line in cli(f"rejudge {given} --all").out.splitlines() if ": core data, gendermark's" in line
        ]
        assert [title.partition(" en-es, ")[0] for title in titles] == [f"{name}winomt" for name in named]


# -- report ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "format_"),
    [("html", "html"), ("HTM", "html"), ("md", "md"), ("tex", "latex"), ("csv", "csv"), ("json", "json"), ("MD", "md")],
)
def test_report_by_ending_and_by_format(cli: Cli, small: Path, tmp_path: Path, ending: str, format_: str) -> None:
    runs, path, other = f"{small}/one {small}/two", tmp_path / "new" / f"report.{ending}", tmp_path / "report.txt"
    printed = cli(f"report {runs} --format {format_}")
    assert (printed.exit_code, printed.err) == (0, "")
    outcome = cli(f"report {runs} -o {path}")
    assert (outcome.exit_code, outcome.out, outcome.err) == (0, "", f"report written to {path}\n")
    assert path.read_text(encoding="utf-8") == printed.out
    if format_ == "html":
        assert printed.out.startswith("<!doctype html>")
    else:
        assert cli(f"report {runs} --format {format_} -o {other}").exit_code == 0
        assert other.read_bytes() == path.read_bytes()


def test_report_holds_every_number(cli: Cli, finished: Path) -> None:
    runs = [str(finished / name) for name in ("right", "masculine", "tgbi")]
    printed = cli("report", *runs, "--json")
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
    assert "| metric | slice | unbiased control | always-masculine control |" in markdown
    assert "| correct | fofc | 100.0 [83.9, 100.0]" in markdown
    for results in printed.json["runs"].values():
        assert all(result["signature"] in markdown for result in results)


def test_without_the_extra_figures_are_svg_and_it_is_said(
    cli: Cli, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First, so that it costs no page."""
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    figures, pdf, page = tmp_path / "figures", tmp_path / "pdf", tmp_path / "r.html"
    install = "pip install 'gendermark[figures]'"
    outcome = cli(f"report {small}/one --figures {figures}")
    assert outcome.exit_code == 0
    assert "SVG only" in outcome.err
    assert install in outcome.err
    assert {path.suffix for path in figures.iterdir()} == {".svg", ".md"}
    cli(f"report {small}/one -o {page} --figures {pdf} --figure-format pdf").is_refusal(install)
    assert not page.exists()
    assert not pdf.exists()


# -- compare -----------------------------------------------------------------------------------------------------------


def test_compare(cli: Cli, finished: Path) -> None:
    printed = cli(f"compare {finished}/right {finished}/masculine --json")
    assert (printed.exit_code, printed.err) == (0, "")
    assert set(printed.json) == {"first", "second", "comparisons", "tests", "notes", "first_name", "second_name"}
    assert (printed.json["first"], printed.json["second"]) == ("fake:right", "fake:masculine")
    found = {row["metric"]: row for row in printed.json["comparisons"]}
    assert set(found) == {"correct", "pro", "anti", "delta", "recall_gap"}
    assert (found["pro"]["first"], found["pro"]["second"], found["pro"]["difference"]) == (100, 50, -50)
    assert found["pro"]["low"] <= -50 <= found["pro"]["high"]
    assert found["pro"]["p_adjusted"] >= found["pro"]["p_value"]
    assert (found["pro"]["change"], found["delta"]["difference"], found["delta"]["change"]) == ("worse", 0, "unclear")
    outcome = cli(f"compare {finished}/right {finished}/masculine --all --metric pro --metric delta")
    printed = cli(f"compare {finished}/right {finished}/masculine --all --metric pro --metric delta --json")
    for row, known in zip(outcome.rows, printed.json["comparisons"], strict=True):
        for key in ("cell", "metric", "slice", "better"):
            assert row[key] == known[key]
        assert (float(row["first_value"]), float(row["second_value"])) == (known["first"], known["second"])
        for key in ("difference", "low", "high", "p_value", "p_adjusted", "detectable"):
            assert float(row[key]) == known[key]
    turned = {row["metric"]: row for row in cli(f"compare {finished}/masculine {finished}/right").rows}
    assert (float(turned["pro"]["difference"]), turned["pro"]["change"]) == (50, "significantly better")
    everything = cli(f"compare {finished}/right {finished}/masculine --all --resamples 1000 --json").json
    metrics = {(row["metric"], row["slice"]) for row in everything["comparisons"]}
    assert {("pro", "all"), ("correct", "fofc"), ("inconclusive", "mofc"), ("delta_fc", "all")} <= metrics


def test_compare_every_pair_of_several(cli: Cli, small: Path, tmp_path: Path) -> None:
    again = Path(shutil.copytree(small / "one", tmp_path / "one"))
    three = f"compare {small}/one {small}/two {small}/three --metric p_s:negative --resamples 1000"
    printed = cli(f"{three} --json")
    assert (printed.exit_code, printed.err) == (0, "")
    (row,) = printed.json["matrix"]
    pairs = [("one", "two"), ("one", "three"), ("two", "three")]
    assert [(d["first"], d["second"]) for d in row["differences"]] == pairs
    for shown, known in zip(cli(three).rows, row["differences"], strict=True):
        assert known["change"] in shown["change"]
        assert all(float(shown[key]) == known[key] for key in ("difference", "p_adjusted"))
    runs = cli(f"{three} {again} --json").json["runs"]
    assert [run["name"] for run in runs] == [str(small / "one"), "two", "three", str(again)]


def test_compare_a_trend(cli: Cli, small: Path) -> None:
    options = "--trend --metric p_s:negative --resamples 1000"
    command = f"compare {small}/one {small}/two {small}/three {options}"
    (row,) = cli(f"{command} --json").json["trend"]
    outcome = cli(command)
    assert outcome.err == f"{row['sentence']}\n"
    assert len(outcome.rows) == 3
    (row,) = cli(f"compare {small}/one {small}/two {options} --json").json["trend"]
    assert len(row["steps"]) == 1


# -- gate (its other forms are in test_gate_outputs.py) ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("{finished}/right --min anti=100 --max delta=0 --min simplegen.correct:fofc=99", 0),
        ("{finished}/right --min anti=100.1", 1),
        ("{finished}/masculine --max delta=15", 0),
        ("{finished}/masculine --min correct:fofc=1 --max delta=15", 1),
        ("{finished}/tgbi --min p_s:formal=0.2", 0),
        ("{finished}/tgbi --max tgbi=0.01", 1),
        ("{small}/one --min p_s:negative=0", 0),
        ("{small}/one --min p_s:negative=1.1", 1),
        ("{small}/one --min tgbi=0.5", 1),  # which it does not have: no data is no pass
        ("{small}/one --max tgbi=0.5", 1),
        ("{small}/two --baseline {small}/two", 0),
        ("{small}/three --baseline {small}/two", 0),
        ("{small}/two --baseline {small}/three", 1),
        ("{small}/two --baseline {small}/three --min p_s:negative=0", 1),
        ("{small}/two --baseline {small}/three --alpha 0", 0),
    ],
)
def test_gate(cli: Cli, finished: Path, small: Path, arguments: str, code: int) -> None:
    command = f"gate {arguments.format(finished=finished, small=small)} --resamples 500"
    outcome, printed = cli(command), cli(f"{command} --json")
    assert outcome.exit_code == printed.exit_code == code
    assert printed.json["passed"] is not bool(code)
    rows = [row for row in outcome.rows if row["outcome"] != "not compared"]
    compared = [check for check in printed.json["checks"] if check["compared"]]
    assert [row["outcome"] == "pass" for row in rows] == [check["passed"] for check in compared]
    assert any(row["outcome"] == "FAIL" for row in rows) == bool(code)
    for row, check in zip(rows, compared, strict=True):
        assert all(row[key] == check[key] for key in ("cell", "metric", "slice", "finding"))
    assert outcome.err.splitlines()[-1].startswith("gate failed (" if code else "gate passed (")


# -- power (its arithmetic is in test_power.py) ------------------------------------------------------------------------


def test_power(cli: Cli) -> None:
    rows = cli("power winomt simplegen --to es --data core --json").json["rows"]
    core = {(row["benchmark"], row["question"]): row for row in rows if row["data"] == "core"}
    gap = core["winomt", "gender gap"]
    assert (gap["groups"], gap["sentences"]) == (40, 800)
    assert gap["detectable"] > core["winomt", "accuracy"]["detectable"]
    looser = cli("power winomt --to es --icc 0 --data core --json").json["rows"]
    assert all(row["detectable"] < core["winomt", row["question"]]["detectable"] for row in looser)
    assert "80" in cli("power winomt --to es --data core").err, "what is assumed"


# -- demo --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_demo(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One screen; with two of the benchmarks that translate, and the one that draws."""
    kept = ("winomt", "mt-geneval-contextual")
    chosen = api.applicable([], ["es"], data="core").selections
    shorter = api.Chosen(tuple(selection for selection in chosen if selection.benchmark in kept))
    monkeypatch.setattr(api, "applicable", lambda *_, **__: shorter)
    outcome = cli(f"demo -o {tmp_path}/demo")
    assert outcome.exit_code == 0
    written = {path.name for path in (tmp_path / "demo").iterdir()}
    assert written >= {"demo-model", "unbiased", "always-masculine", "report.html", "report.md"}
    rows = {row["benchmark"]: row for row in outcome.rows}
    assert set(rows) == {*kept, "uncertainty"}
    assert {row["system"] for row in rows.values()} == {"demo model"}
    assert float(rows["winomt"]["women"]) + 5 < float(rows["winomt"]["men"])
    assert rows["winomt"]["verdict"] == "significant"
    assert len((outcome.out + outcome.err).splitlines()) <= 40
    checks = [line for line in outcome.err.splitlines() if line.startswith("Sanity check, ")]
    assert [", as expected" in line for line in checks] == [True, True]
    assert str(tmp_path / "demo" / "report.html") in outcome.err
    assert "gendermark run --system" in outcome.err
