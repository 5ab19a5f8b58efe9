"""Gates: what passes, what fails, and what cannot be asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gendermark.benchmarks.benchmark import Selection
from gendermark.errors import UserError
from gendermark.metrics.metric import Resampling
from gendermark.runs import run as running
from gendermark.runs.gates import Check, Verdict, against_baseline, bounds
from gendermark.runs.run import RunConfig

Run = Callable[..., Path]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def of(system: str, *languages: str) -> Path:
        selections = tuple(Selection("tiny", "en", to, "core", cluster="occupation") for to in languages or ("xx",))
        directory = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"
        running.run(RunConfig(system, selections, resampling=Resampling(n_resamples=100)), directory)
        return directory

    return of


# -- bounds


def test_at_least_and_at_most(run: Run) -> None:
    directory = run("fake:masculine")  # half of them right, no gap
    for minimum, maximum, passed in (
        ({"accuracy": "50"}, {}, True),
        ({"accuracy": "50.1"}, {}, False),
        ({}, {"accuracy": "50"}, True),
        ({}, {"accuracy": "49.9"}, False),
        ({"gap": "-1"}, {"gap": "1e0"}, True),
    ):
        checks = bounds(directory, minimum, maximum)
        assert all(check.passed for check in checks) is passed
        assert len(checks) == len(minimum) + len(maximum)
    (check,) = bounds(directory, {"accuracy": "60"}, {})
    assert check == Check("tiny.en-xx", "accuracy", "all", False, "50.0, at least 60 is asked", "at least 60")
    assert check.name == "accuracy:all at least 60"
    (check,) = bounds(directory, {}, {"gap": "15"})
    assert check.finding == "0.0, at most 15 is asked"
    assert set(check.to_json()) == {"cell", "metric", "slice", "passed", "finding", "asked"}
    assert bounds(directory, {}, {}) == []


@pytest.mark.parametrize("name", ["accuracy", "accuracy:all", "tiny.accuracy", "tiny.accuracy:all"])
def test_ways_to_name_the_whole(run: Run, name: str) -> None:
    checks = bounds(run("fake:right", "xx", "yy"), {name: "99"}, {})
    assert [(c.cell, c.metric, c.slice) for c in checks] == [
        (f"tiny.en-{to}", "accuracy", "all") for to in ("xx", "yy")
    ]


@pytest.mark.parametrize("name", ["accuracy:anti", "tiny.accuracy:anti"])
def test_ways_to_name_a_slice(run: Run, name: str) -> None:
    directory = run("fake:stereotyped?s=1")
    (check,) = bounds(directory, {name: "1"}, {})
    assert (check.slice, check.passed) == ("anti", False)
    (check,) = bounds(directory, {"accuracy:pro": "100"}, {})
    assert check.passed


def test_no_number_is_no_pass(run: Run) -> None:
    directory = run("fake:silent")
    checks = bounds(directory, {"women": "-1000"}, {"tiny.women:all": "1000"})
    assert [check.passed for check in checks] == [False, False]
    assert checks[0].finding == "–, at least -1000 is asked"


@pytest.mark.parametrize("name", ["acuracy", "accuracy:both", "toy.accuracy", ":all", ""])
def test_a_metric_that_the_run_does_not_have(run: Run, name: str) -> None:
    with pytest.raises(UserError) as caught:
        bounds(run("fake:right"), {}, {name: "5"})
    assert str(caught.value) == (
        f"the run has no metric {name!r}; there is: accuracy:all, accuracy:anti, accuracy:pro, gap:all, women:all"
    )


@pytest.mark.parametrize("text", ["", "high", "50%", "1,5", "nan", "inf"])
def test_a_bound_that_is_no_number(run: Run, text: str) -> None:
    with pytest.raises(UserError, match=f"^the bound of accuracy must be a number, not {text!r}$"):
        bounds(run("fake:right"), {"accuracy": text}, {})


# -- a baseline


def checked(directory: Path, baseline: Path, alpha: float = 0.05) -> dict[str, Check]:
    checks = against_baseline(directory, baseline, Resampling(), alpha)
    return {f"{check.cell} {check.metric}:{check.slice}": check for check in checks}


def test_equal_passes(run: Run) -> None:
    checks = checked(run("fake:right?p=0.8"), run("fake:right?p=0.8"))
    assert len(checks) == 4
    assert all(check.passed for check in checks.values())
    assert checks["tiny.en-xx gap:all"].finding.endswith(", unclear (p 1.0000 after Holm)")


def test_better_passes_and_worse_fails(run: Run) -> None:
    good, bad = run("fake:right"), run("fake:right?p=0.4")
    assert all(check.passed for check in checked(good, baseline=bad).values())
    checks = checked(bad, baseline=good)
    assert not checks["tiny.en-xx accuracy:all"].passed
    assert checks["tiny.en-xx accuracy:all"].finding.startswith("100.0 → ")
    assert ", worse (p 0.00" in checks["tiny.en-xx accuracy:all"].finding
    assert all(check.passed for check in checked(bad, good, alpha=1e-9).values())


def test_a_wider_gap_fails(run: Run) -> None:
    checks = checked(run("fake:stereotyped?s=0.9"), baseline=run("fake:right"))
    assert not checks["tiny.en-xx gap:all"].passed
    assert checks["tiny.en-xx accuracy:pro"].passed


def test_a_lost_metric_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.tiny.Tiny.headline", ("women",))
    spoken, silent = run("fake:right"), run("fake:silent")
    lost = checked(silent, baseline=spoken)["tiny.en-xx women:all"]
    assert not lost.passed
    assert lost.finding == "50.0 → –, unclear (p – after Holm)"
    assert checked(spoken, baseline=silent)["tiny.en-xx women:all"].passed  # gained
    assert checked(silent, baseline=silent)["tiny.en-xx women:all"].passed  # never had


def test_a_lost_language_fails(run: Run) -> None:
    both, one = run("fake:right", "xx", "yy"), run("fake:right", "xx")
    checks = checked(one, baseline=both)
    failed = [check for check in checks.values() if not check.passed]
    what = ("tiny.en-yy", "every metric", "all", False, "the baseline has it, this run does not")
    assert failed == [Check(*what, "no worse than the baseline")]
    assert all(check.passed for check in checked(both, baseline=one).values())  # one more is no loss


def test_runs_that_cannot_be_compared(run: Run, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^the two runs have nothing in common: the first holds tiny\.en-yy"):
        checked(run("fake:right", "xx"), baseline=run("fake:right", "yy"))
    unfinished = run("fake:right")
    manifest = unfinished / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"finished"', '"running"'))
    for directories in ((unfinished, run("fake:right")), (run("fake:right"), unfinished)):
        with pytest.raises(UserError, match=r"is not finished; give the same `gendermark run` command again to finish"):
            checked(*directories)
    with pytest.raises(UserError, match="is not finished"):
        bounds(unfinished, {"accuracy": "1"}, {})


# -- the verdict


def test_one_failure_fails_the_gate() -> None:
    good, bad = (Check("cell", "m", "all", passed, "found", "asked") for passed in (True, False))
    assert Verdict((good, good)).passed
    assert Verdict((good, good)).sentence == "gate passed: 2 checks"
    verdict = Verdict((good, bad, good))
    assert not verdict.passed
    assert verdict.failures == (bad,)
    assert verdict.sentence == "gate failed: 1 of 3 checks"
    assert verdict.to_json() == {"passed": False, "checks": [c.to_json() for c in (good, bad, good)]}


def test_names_of_checks_do_not_repeat(run: Run) -> None:
    directory = run("fake:right", "xx", "yy")
    checks = bounds(directory, {"accuracy": "1"}, {"accuracy": "100"})
    checks += against_baseline(directory, directory, Resampling(100), 0.05)
    assert len({(check.cell, check.name) for check in checks}) == len(checks)
