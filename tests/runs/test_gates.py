"""Gates: what passes, what fails, and what cannot be asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gendermark.errors import UserError
from gendermark.metrics.metric import Description, Metric, Resampling, difference, per_judgement, rate
from gendermark.records import Gender, Judgement
from gendermark.result import Result
from gendermark.runs import gates
from gendermark.runs import run as running
from gendermark.runs.folder import read_results, read_run
from gendermark.runs.gates import (
    NO_TOLERANCE,
    NOTHING_COMPARED,
    Check,
    FixedChange,
    Strictness,
    Verdict,
    against_baseline,
    changed_sentences,
    nobody_lost,
    verified,
)
from gendermark.runs.run import RunConfig
from gendermark.selection import Selection
from made_runs import signed_again
from runs.tiny import ACCURACY, BENCHMARK, GAP, tiny

Run = Callable[..., Path]
OF_MEN = Metric(
    Description("of_men", "of men", "Of men."),
    "all",
    ("all.masculine",),
    lambda n: 100 * n / n,
    total="all.total",
    judged="all.judged",
)
"""Undefined where nobody is made a man, although everything is judged."""


def read(directory: Path) -> list[Result]:
    return verified(read_results(directory))


def bounds(directory: Path, minimum: dict[str, str], maximum: dict[str, str]) -> list[Check]:
    return gates.bounds(read(directory), minimum, maximum)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def of(system: str, *languages: str) -> Path:
        selections = tuple(Selection("tiny", "en", to, "core", cluster="occupation") for to in languages or ("xx",))
        directory = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"
        running.run(RunConfig(system, selections, resampling=Resampling(n_resamples=100)), directory)
        return directory

    return of


@pytest.fixture
def measures(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """The tiny benchmark measures something else from now on."""

    def change(**changes: Any) -> None:
        changed = tiny(measures=replace(BENCHMARK.measures, **changes))
        monkeypatch.setattr("runs.tiny.BENCHMARK", changed)

    return change


# -- numbers that somebody has changed


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


def raised(row: dict[str, Any]) -> dict[str, Any]:
    """A result whose accuracy is nearly perfect."""
    return {
        **row,
        "estimates": [{**e, "value": 99.9 if e["metric"] == "accuracy" else e["value"]} for e in row["estimates"]],
    }


@pytest.mark.parametrize("file", ["result.json", "judgements.jsonl", "translations.jsonl"])
def test_a_run_folder_that_was_changed_is_refused(run: Run, file: str) -> None:
    directory = run("fake:masculine")
    path = directory / "tiny.en-xx" / file
    path.write_text(path.read_text() + "\n")
    words = f"{path} was changed after the run (its SHA-256 is not the one in manifest.json); run it again"
    for ask in (lambda: bounds(directory, {"accuracy": "1"}, {}), lambda: checked(directory, baseline=directory)):
        with pytest.raises(UserError) as caught:
            ask()
        assert str(caught.value) == words


def test_a_number_that_its_judgements_do_not_give_is_refused(run: Run) -> None:
    """Also where somebody has put the manifest in order too."""
    directory, honest = run("fake:masculine"), run("fake:right")
    edit(directory / "tiny.en-xx" / "result.json", raised)
    signed_again(directory)
    words = (
        r"^fake:masculine, tiny\.en-xx: result\.json has accuracy 99\.9 \(80 of 80 judged\), but the judgements beside "
        r"it give 50\.0 \(80 of 80 judged\); one of the two was changed"
    )
    for ask in (
        lambda: bounds(directory, {"accuracy": "90"}, {}),
        lambda: checked(directory, baseline=honest),
        lambda: checked(honest, baseline=directory),
    ):
        with pytest.raises(UserError, match=words):
            ask()


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
    assert (check.kind, check.passed, check.value, check.name) == ("bound", False, 50.0, "accuracy:all at least 60")
    assert check.finding == "50.0, below the required 60"
    (check,) = bounds(directory, {}, {"gap": "15"})
    assert check.finding == "0.0, required: at most 15"
    assert set(check.to_json()) >= {
        *("cell", "metric", "slice", "passed", "finding", "asked", "compared", "grew", "tolerance"),
        *("kind", "value", "baseline", "difference", "low", "high", "p_adjusted"),
    }
    assert bounds(directory, {}, {}) == []


def test_names_of_metrics(run: Run) -> None:
    directory = run("fake:stereotyped?s=1", "xx", "yy")
    for name in ("accuracy", "accuracy:all", "tiny.accuracy", "tiny.accuracy:all"):
        found = [(c.cell, c.metric, c.slice) for c in bounds(directory, {name: "99"}, {})]
        assert found == [(f"tiny.en-{to}", "accuracy", "all") for to in ("xx", "yy")]
    for name in ("accuracy:anti", "tiny.accuracy:anti"):
        assert {(c.slice, c.passed) for c in bounds(directory, {name: "1"}, {})} == {("anti", False)}
    for name, guess in {
        "acuracy": "accuracy:pro",
        "tiny.womn:all": "women",
        "accuracy:both": "accuracy",
        "": "",
    }.items():
        with pytest.raises(UserError, match=f"no metric {name!r}.*{guess}"):
            bounds(directory, {}, {name: "5"})


def test_a_gap_of_nothing_is_no_pass(run: Run) -> None:
    silent = bounds(run("fake:silent"), {"gap": "-15"}, {"gap": "15"})
    assert [(check.passed, check.compared) for check in silent] == [(False, True), (False, True)]
    reason = "only 0 of 80 were judged, too few for a conclusion"
    assert reason in silent[1].finding
    (wrong,) = bounds(run("fake:right?p=0"), {}, {"gap": "15"})
    assert not wrong.passed
    assert "only 0 of 80 were right" in wrong.finding
    (rarely,) = bounds(run("fake:right?p=0.3"), {}, {"gap": "100"})
    assert rarely.passed, "few are right, but a gap between them can be told"
    assert not any(c.passed for c in bounds(run("fake:silent"), {"women": "-1000"}, {"women": "1000"})), "no number"
    (accuracy,) = bounds(run("fake:silent"), {"accuracy": "0"}, {})
    assert accuracy.passed, "only gaps are small for want of data"


# -- a baseline


def checked(directory: Path, baseline: Path, alpha: float = 0.05) -> dict[str, Check]:
    checks = against_baseline(read(directory), read(baseline), Resampling(), alpha)
    return {f"{check.cell} {check.metric}:{check.slice}": check for check in checks if check.kind == "general"}


def test_better_passes_and_worse_fails(run: Run) -> None:
    good, bad, biased = run("fake:right"), run("fake:right?p=0.4"), run("fake:stereotyped?s=0.9")
    for now, before in ((good, good), (good, bad)):
        checks = checked(now, before)
        assert len(checks) == 4
        assert all(check.passed for check in checks.values())
    assert not checked(bad, good)["tiny.en-xx accuracy:all"].passed
    assert all(check.passed for check in checked(bad, good, alpha=1e-9).values())
    worse = checked(biased, good)
    assert not worse["tiny.en-xx gap:all"].passed
    assert worse["tiny.en-xx accuracy:pro"].passed


def test_where_one_has_no_value(run: Run, measures: Callable[..., None]) -> None:
    measures(headline=("women",))
    spoken, silent = run("fake:right"), run("fake:silent")
    for now, before, outcome in (
        (silent, spoken, "FAIL"),
        (spoken, silent, "not compared"),
        (silent, silent, "not compared"),
    ):
        (check,) = checked(now, before).values()
        assert (check.outcome, check.passed) == (outcome, False)
    verdict = Verdict.of([check])
    assert (verdict.passed, verdict.failures) == (False, (NOTHING_COMPARED,))
    # A version that counts otherwise does not find its numbers again.
    measures(headline=("of_men",), metrics=lambda *_: [OF_MEN])
    earlier = run("fake:masculine")
    measures(headline=("of_men",), metrics=lambda *_: [replace(OF_MEN, needs=("all.new",))])
    assert "run it again" in checked(earlier, earlier)["tiny.en-xx of_men:all"].finding
    with pytest.raises(UserError, match=r"of_men 100\.0 .* no such number"):
        bounds(earlier, {"of_men": "50"}, {})


def test_what_has_no_value_for_a_good_reason_is_not_lost(run: Run, measures: Callable[..., None]) -> None:
    measures(headline=("of_men",), metrics=lambda *_: [OF_MEN])
    women, men, silent = run("fake:feminine"), run("fake:masculine"), run("fake:silent")
    found = checked(women, baseline=men)["tiny.en-xx of_men:all"]
    assert found.outcome == "not compared"
    assert found.finding == "100.0 → –, not compared: in this run there is no value"
    assert checked(silent, baseline=men)["tiny.en-xx of_men:all"].outcome == "FAIL"


def test_a_gap_of_nothing_is_lost(run: Run) -> None:
    biased, silent = run("fake:stereotyped?s=0.9"), run("fake:silent")
    lost = checked(silent, baseline=biased)["tiny.en-xx gap:all"]
    assert not lost.passed
    assert lost.compared
    assert lost.finding.endswith(" → 0.0, lost: in this run only 0 of 80 were judged")
    wrong = checked(run("fake:right?p=0"), baseline=silent)["tiny.en-xx gap:all"]
    assert wrong.finding == (
        "0.0 → 0.0, not compared: in the baseline only 0 of 80 were judged, in this run only 0 of 80 were right"
    )
    gained = checked(biased, baseline=silent)["tiny.en-xx gap:all"]
    assert gained.outcome == "not compared"
    assert gained.finding.endswith(", not compared: in the baseline only 0 of 80 were judged")


def test_a_lost_language_fails(run: Run) -> None:
    both, one = run("fake:right", "xx", "yy"), run("fake:right", "xx")
    checks = checked(one, baseline=both)
    failed = [check for check in checks.values() if not check.passed]
    what = ("tiny.en-yy", "every metric", "all", False, "the baseline has it, this run does not")
    assert failed == [Check(*what, "no worse than the baseline")]
    assert all(check.passed for check in checked(both, baseline=one).values())  # one more is no loss


# -- the verdict


def test_one_failure_fails_the_gate(run: Run) -> None:
    good, bad = (Check("cell", "m", "all", passed, "found", "asked") for passed in (True, False))
    skipped = Check("cell", "n", "all", False, "found", "asked", compared=False)
    assert Verdict.of((good, good, skipped)).passed
    verdict = Verdict.of((good, bad, skipped))
    assert (verdict.passed, verdict.failures, verdict.not_compared) == (False, (bad,), (skipped,))
    assert "1 of 2 checks failed), 1 more not compared" in verdict.sentence
    assert set(verdict.to_json()) == {"passed", "checks", "newly_wrong", "newly_right"}
    directory = run("fake:right", "xx", "yy")
    checks = bounds(directory, {"accuracy": "1"}, {"accuracy": "100"})
    checks += against_baseline(read(directory), read(directory), Resampling(100), 0.05)
    assert len({(check.cell, check.name) for check in checks}) == len(checks), "names do not repeat"


# -- tolerance, and gaps that grew while nobody lost


def _by_gender(judgement: Judgement) -> Iterator[str]:
    for part in ("all", str(judgement.expected)):
        yield from (f"{part}.total", f"{part}.judged", *([f"{part}.correct"] if judgement.is_correct else []))


def _recall(part: str) -> Metric:
    return rate(ACCURACY, part, f"{part}.correct", f"{part}.total", judged=f"{part}.judged")


RECALL_GAP = difference(GAP, _recall("masculine"), _recall("feminine"), "all")


def _answered(result: Result, right: Callable[[Judgement], bool]) -> Result:
    def observed(j: Judgement) -> Gender | None:
        return j.expected if right(j) or j.expected is None else j.expected.opposite

    return replace(result, judgements=[replace(j, observed=observed(j)) for j in result.judgements])


@pytest.fixture
def versions(run: Run, measures: Callable[..., None]) -> Callable[..., list[Result]]:
    """Results in which a given share of the women and of the men are right, the same people first."""
    measures(headline=("gap",), tally=per_judgement(_by_gender), metrics=lambda *_: [RECALL_GAP])
    (result,) = read_results(run("fake:right"))
    places: dict[int, int] = {}
    for gender in Gender:
        places |= {j.index: n for n, j in enumerate(j for j in result.judgements if j.expected is gender)}

    def of(women: float, men: float) -> list[Result]:
        share = {Gender.FEMININE: women, Gender.MASCULINE: men}
        # Spread over the occupations: whole groups would change together.
        return [_answered(result, lambda j: places[j.index] * 7 % 40 < 40 * share[j.expected or Gender.NEUTRAL])]

    return of


def _gated(now: list[Result], before: list[Result], strict: Strictness = NO_TOLERANCE) -> Check:
    """The check of the gap with other groups."""
    (check,) = (c for c in against_baseline(now, before, Resampling(), 0.05, strict) if c.kind == "general")
    return check


def test_a_gap_that_grew_while_nobody_lost(versions: Callable[..., list[Result]]) -> None:
    before, men_gained, women_lost = versions(0.5, 0.5), versions(0.5, 0.9), versions(0.3, 0.9)
    grew = _gated(men_gained, before)
    assert (grew.passed, grew.grew, grew.outcome) == (True, True, "grew")
    assert "worse (p " in grew.finding
    assert grew.finding.endswith("; grew, but nobody lost (women 50.0 → 50.0, men 50.0 → 90.0)")
    strict = _gated(men_gained, before, Strictness(fail_on_gap=True))
    assert (strict.passed, strict.grew) == (False, True)
    assert "; fails although nobody lost (women" in strict.finding
    lost = _gated(women_lost, before)
    assert (lost.passed, lost.grew) == (False, False)
    only_lost = _gated(versions(0.1, 0.5), before)
    assert not only_lost.passed, "nobody gained"


@pytest.mark.parametrize(
    ("women", "men", "shown"),
    [
        ((50.0, 50.0, 0.0), (50.0, 60.0, 1.0), True),
        ((50.0, 50.0, 0.9), (50.0, 60.0, 1.0), True),
        ((50.0, 49.0, 0.9), (50.0, 60.0, 1.0), False),  # the interval does not exclude a loss of two points
        ((50.0, 50.0, 3.0), (50.0, 60.0, 1.0), False),  # not significantly worse is not enough
        ((50.0, 50.0, 0.5), (50.0, 51.0, 1.0), False),  # nobody gained
    ],
)
def test_that_nobody_lost_must_be_shown(women: tuple[float, ...], men: tuple[float, ...], shown: bool) -> None:
    sides = [FixedChange(RECALL_GAP, *side, side[0] - side[1], 0.95) for side in (women, men)]
    assert nobody_lost(sides, 2.0, 0.05) is shown
    assert not nobody_lost([], 2.0, 0.05), "where nobody's gender is known, nothing excuses"


def test_women_of_a_few_occupations_lost(run: Run) -> None:
    """A concentrated loss is no proof about other occupations, but fails on these sentences."""
    (before,) = read_results(run("fake:right"))
    groups = sorted({j.group_id for j in before.judgements})[:3]
    now = [_answered(before, lambda j: not (j.expected is Gender.FEMININE and j.group_id in groups))]
    checks = against_baseline(now, [before], Resampling(), 0.05)
    women, men = (c for c in checks if c.kind == "fixed")
    assert (women.slice, women.passed, women.baseline) == ("feminine", False, 100.0)
    assert (men.slice, men.passed, men.difference) == ("masculine", True, 0.0)
    assert women.low is not None
    assert women.high is not None
    assert women.low < (women.difference or 0) < women.high < 0
    assert women.p_adjusted is not None
    assert women.p_adjusted < 0.05
    allowed = against_baseline(now, [before], Resampling(), 0.05, Strictness(fixed_tolerance=60.0))
    assert all(c.passed for c in allowed if c.kind == "fixed")


def test_within_the_tolerance(run: Run) -> None:
    now, before = read(run("fake:right?p=0.8")), read(run("fake:right"))
    (plain, *_) = against_baseline(now, before, Resampling(), 0.05)
    assert not plain.passed
    for strict, passed in (
        (Strictness(60.0), True),
        (Strictness(0.5), False),
        (Strictness(0.5, {"accuracy": 60.0}), True),
        (Strictness(60.0, {"tiny.accuracy:all": 0.5}), False),
    ):
        (check, *_) = against_baseline(now, before, Resampling(), 0.05, strict)
        assert (check.metric, check.passed) == ("accuracy", passed)
        assert check.tolerance in (0.5, 60.0)
        said = "not significantly more than the tolerance of 60 points" if passed else "more than the tolerance of 0.5"
        assert said in check.finding
    with pytest.raises(UserError, match=r"^no metric 'nothing' is compared with the baseline; available: accuracy"):
        against_baseline(now, before, Resampling(), 0.05, Strictness(0.0, {"nothing": 1.0}))


# -- the sentences behind a change


def test_sentences_that_changed_their_verdict(run: Run) -> None:
    before, now = read_run(run("fake:right")), read_run(run("fake:masculine"))
    wrong, right = changed_sentences(before, now)
    assert (len(wrong), len(right)) == (40, 0), "all the women"
    assert wrong[0].lines == (
        "Worker 000 finished her work. (a woman)",
        "before: [ella] trabaja (a woman)",
        "now: [el] trabaja (a man)",
    )
    assert wrong[0].to_json()["now"]["evidence"] == ["el"]
    back, forth = changed_sentences(now, before)
    assert ([one.source for one in forth], back) == ([one.source for one in wrong], ())
    (silent, _) = changed_sentences(before, read_run(run("fake:silent")))
    assert silent[0].lines[2] == "now: (nothing) (not translated)"
