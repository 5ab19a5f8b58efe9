"""Forced choice between the right and the contrastive translation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gendermark import api
from gendermark.cli.app import _exit_code
from gendermark.errors import UserError
from gendermark.records import Request, Task
from gendermark.runs import run as running
from gendermark.runs.run import choice_requests, pairs_of


def _run(system: str, benchmark: str = "mt-geneval-contextual", **options: Any) -> Any:
    selection = api.select(benchmark, "es", data="core", **options)[1]
    (result,) = running.run(running.RunConfig(system, (selection,), forced_choice=True))
    return next(test for test in result.tests if test.name == "forced-choice")


@pytest.mark.parametrize("benchmark", ["mt-geneval-contextual", "mt-geneval-counterfactual"])
def test_known_systems(benchmark: str) -> None:
    assert _run("fake:right", benchmark).statistic == 100
    one_sided = _run("fake:masculine", benchmark)
    assert one_sided.statistic == 50
    # What it prefers is what it writes.
    assert one_sided.details["agrees_with_words"] == 100
    assert one_sided.details["kappa_with_words"] == 1


def test_a_system_without_preference_is_undecided() -> None:
    test = _run("fake:silent")
    assert test.statistic is None
    assert (test.details["n_decided"], test.details["n_total"]) == (0, 48)


def test_context_must_not_ask_for_its_own_translation() -> None:
    assert _run("fake:right", context="prompt").statistic == 100
    with pytest.raises(UserError, match="--forced-choice goes with --context none or prompt, not joined"):
        _run("fake:right", context="joined")


def test_requests_score_both_references() -> None:
    benchmark, selection = api.select("mt-geneval-counterfactual", "es", data="core")
    item_set = benchmark.load(selection)
    requests: list[Request] = choice_requests(benchmark.requests(item_set), pairs_of(benchmark, item_set))
    assert len(requests) == 2 * len(item_set.items)
    assert all(request.task is Task.SCORE and request.target and "<" not in request.target for request in requests)
    assert len({request.request_id for request in requests}) == len(requests)


def test_the_same_folder_without_it_is_another_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The former's result is not erased; nor does a run without it become one with it."""
    command = ["run", "--system", "fake:right", "--benchmark", "mt-geneval-contextual", "--to", "es", "--data", "core"]
    for first, second in ((["--forced-choice"], []), ([], ["--forced-choice"])):
        directory = tmp_path / f"out{len(first)}"
        assert _exit_code([*command, *first, "-o", str(directory)]) == 0
        before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
        capsys.readouterr()
        assert _exit_code([*command, *second, "-o", str(directory)]) == 2
        assert capsys.readouterr().err == (
            f"error: {directory} holds another run (it differs in forced_choice); choose another directory with -o\n"
        )
        assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == before
    (result,) = api.load(tmp_path / "out1")
    assert [test.name for test in result.tests] == ["forced-choice"]
