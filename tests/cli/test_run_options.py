"""What `gendermark run` makes of its options: how to draw, options of a system, what a directory of files has."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import gendermark
from cli.conftest import Cli
from gendermark import api


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENDERMARK_CACHE", str(tmp_path / "cache"))


# -- how to draw


def selection_of(run: Path) -> Any:
    return json.loads((run / "manifest.json").read_text(encoding="utf-8"))["config"]["selections"][0]


UNCERTAINTY = (
    "--benchmark",
    "uncertainty",
    "--system",
    "fake:coin",
    "--to",
    "es",
    "--data",
    "core",
    "--n-samples",
    "2",
)


@pytest.mark.parametrize(
    "given",
    [["epsilon=0.2", "seed=1"], ["epsilon=0.2,seed=1"], ["epsilon=0.2, seed=1"]],
    ids=["twice", "once", "space"],
)
def test_every_form_of_sampling_is_stored_as_one(given: list[str], cli: Cli, tmp_path: Path) -> None:
    options = [word for text in given for word in ("--sampling", text)]
    assert cli("run", *UNCERTAINTY, "--group", "referenced", *options, "-o", tmp_path / "run").exit_code == 0
    assert selection_of(tmp_path / "run")["sampling"] == "epsilon=0.2,seed=1"


@pytest.mark.parametrize("given", [["seed=1", "seed=2"], ["seed=1,seed=1"], ["epsilon=0.2,seed=1", "seed=2"]])
def test_a_way_of_drawing_given_twice(given: list[str], cli: Cli, tmp_path: Path) -> None:
    options = [word for text in given for word in ("--sampling", text)]
    cli("run", *UNCERTAINTY, *options, "-o", tmp_path / "run").is_refusal("--sampling gives 'seed' twice; give it once")
    file = tmp_path / "samples.jsonl"
    file.write_text("{}\n", encoding="utf-8")
    score = ("score", "uncertainty", "--to", "es", "--data", "core", "--samples", file)
    cli(*score, *options).is_refusal("--sampling gives 'seed' twice")


def test_the_default_leaves_out_what_draws_and_says_so(cli: Cli) -> None:
    words = " ".join(cli("run", "--help").out.replace("│", " ").split())
    assert "all that apply, except those that draw many samples or ask for no translation, which run only" in words


# -- options that not every benchmark has


def benchmarks_of(run: Path) -> list[str]:
    selections = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["config"]["selections"]
    return [selection["benchmark"] for selection in selections]


def test_a_group_leaves_out_the_benchmarks_without_it(cli: Cli, tmp_path: Path) -> None:
    common = ("run", "--system", "fake:right", "--to", "es", "--data", "core", "--resamples", "100")
    outcome = cli(*common, "--group", "pro", "-o", tmp_path / "run")
    assert outcome.exit_code == 0
    assert {row["benchmark"] for row in outcome.rows} == {"winomt"}
    said = [line for line in outcome.err.splitlines() if line.startswith("left out")]
    assert {
        "left out, mt-geneval-contextual: unknown group of mt-geneval-contextual 'pro'; available: none",
        "left out, mt-geneval-counterfactual: unknown gender of mt-geneval-counterfactual 'pro'; "
        "available: feminine, masculine",
        "left out, simplegen: unknown group of simplegen 'pro'; available: fofc, fomc, mofc, momc",
    } <= set(said)
    assert all("'pro'; available: " in line for line in said)
    assert benchmarks_of(tmp_path / "run") == ["winomt"]
    named = ("--benchmark", "simplegen", "--group", "pro", "-o", tmp_path / "named")
    cli(*common, *named).is_refusal("unknown group of simplegen 'pro'; available: fofc, fomc, mofc, momc")


def test_a_revision_leaves_out_the_benchmarks_without_it(cli: Cli, mirror: Path, tmp_path: Path) -> None:
    common = ("run", "--system", "fake:right", "--to", "es", "--resamples", "100")
    outcome = cli(*common, "--revision", "2019", "-o", tmp_path / "run")
    assert outcome.exit_code == 0
    assert {row["benchmark"] for row in outcome.rows} == {"winomt"}
    for name in ("mt-geneval-contextual", "mt-geneval-counterfactual", "simplegen"):
        assert f"left out, {name}: unknown revision of {name} '2019'; available: released\n" in outcome.err
    assert selection_of(tmp_path / "run")["revision"] == "2019"


def test_rules_and_options_leave_out_the_benchmarks_without_them(cli: Cli, tmp_path: Path) -> None:
    common = ("run", "--system", "fake:right", "--to", "es", "--data", "core", "--resamples", "100")
    outcome = cli(*common, "--context", "joined", "-o", tmp_path / "run")
    assert benchmarks_of(tmp_path / "run") == ["mt-geneval-contextual"]
    assert "Found (right (fake)):" in outcome.err, "not named after what was left out"
    assert (
        "left out, winomt: winomt takes no --context, which belongs to mt-geneval-contextual; leave it out\n"
        in outcome.err
    )
    cli(*common, "--rules", "repo2020", "-o", tmp_path / "rules")
    assert benchmarks_of(tmp_path / "rules") == ["winomt"]


# -- options of a system


@pytest.mark.parametrize(
    ("system", "options"),
    [
        ("demo:en-es?beam_size=1", ["--system-option", "beam_size=3"]),
        ("demo:en-es?beam_size=3&beam_size=1", []),
        ("fake:random?seed=1&seed=2", []),
    ],
)
def test_an_option_of_a_system_given_twice(system: str, options: list[str], cli: Cli, tmp_path: Path) -> None:
    outcome = cli("run", "--system", system, *options, "--to", "es", "--data", "core", "-o", tmp_path / "run")
    outcome.is_refusal("is given twice; give it once, after ? or with --system-option")


# -- nothing translated


@pytest.mark.parametrize("system", ["fake:silent", "fake:copy"])
@pytest.mark.parametrize("benchmark", ["mt-geneval-contextual", "mt-geneval-counterfactual", "simplegen", "tgbi"])
def test_what_was_not_translated_is_said_in_one_line(system: str, benchmark: str, cli: Cli, tmp_path: Path) -> None:
    to = "en" if benchmark == "tgbi" else "es"
    run = ("run", "--system", system, "--benchmark", benchmark, "--to", to, "--data", "core", "--resamples", "100")
    outcome = cli(*run, "-o", tmp_path / "run", "--json")
    (result,) = outcome.json["results"]
    (warning,) = result["warnings"]
    n = f"{max(estimate['n_total'] for estimate in result['estimates']):,}"
    assert warning.startswith(f"{n} of {n} ")
    assert "copy of the source" in warning


def test_what_was_translated_is_not_complained_of(cli: Cli, tmp_path: Path) -> None:
    run = ("run", "--system", "fake:right", "--benchmark", "mt-geneval-contextual", "--to", "es", "--data", "core")
    (result,) = cli(*run, "--resamples", "100", "-o", tmp_path / "run", "--json").json["results"]
    assert not result.get("warnings")


# -- a directory of files


def test_what_a_directory_has_is_run(cli: Cli, good_file: Path, tmp_path: Path) -> None:
    shutil.copy(good_file, tmp_path / "simplegen.en-es.txt")
    run = ("run", "--system", f"files:{tmp_path}", "--to", "es", "--data", "core", "-o", tmp_path / "run", "--json")
    outcome = cli(*run)
    assert [result["benchmark"] for result in outcome.json["results"]] == ["simplegen"]
    others = [one for one in api.applicable([], ["es"], data="core").selections if one.benchmark != "simplegen"]
    missing = ", ".join(one.cell for one in others)
    assert f"left out, as {tmp_path} has no file for them: {missing}\n" in outcome.err


def test_a_named_benchmark_must_have_its_file(cli: Cli, good_file: Path, tmp_path: Path) -> None:
    shutil.copy(good_file, tmp_path / "simplegen.en-es.txt")
    run = ("run", "--system", f"files:{tmp_path}", "--to", "es", "--data", "core", "-o", tmp_path / "run")
    cli(*run, "--benchmark", "simplegen", "--benchmark", "winomt").is_refusal("no such file as winomt.en-es.txt")


def test_a_directory_that_has_none(cli: Cli, tmp_path: Path) -> None:
    run = ("run", "--system", f"files:{tmp_path}", "--to", "es", "--data", "core", "-o", tmp_path / "run")
    cli(*run).is_refusal(
        f"{tmp_path}: has no file for any benchmark of this direction; it would be called ",
        "simplegen.en-es.txt or winomt.en-es.txt or en-es.txt (or .tsv",
    )


def test_two_files_for_one_are_not_left_out(cli: Cli, good_file: Path, tmp_path: Path) -> None:
    for name in ("simplegen.en-es.txt", "simplegen.en-es.tsv"):
        shutil.copy(good_file, tmp_path / name)
    run = ("run", "--system", f"files:{tmp_path}", "--to", "es", "--data", "core", "-o", tmp_path / "run")
    cli(*run).is_refusal("which all fit; keep one")


def test_a_file_is_taken_as_it_is(good_file: Path) -> None:
    from gendermark.systems.files import with_files

    selections = (gendermark.Selection("winomt", "en", "es"), gendermark.Selection("simplegen", "en", "es"))
    assert with_files(str(good_file), selections) == (selections, [])
