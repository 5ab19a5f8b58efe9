"""Judged again from what a run has stored: the same rules give the same numbers, others what `score` gives."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark import Resampling, Result, Selection, UserError, registry
from gendermark.records import Gender, Request, Task, Translation
from gendermark.reporting.page import write_page
from gendermark.runs import folder
from gendermark.runs.compare import compare
from gendermark.runs.rejudge import rejudge
from gendermark.systems.system import System
from runs.tiny import BENCHMARK, tiny

FAST = Resampling(n_resamples=100)


def run(directory: Path, system: str, *chosen: Selection | str, **options: Any) -> list[Result]:
    """In `directory`, into Spanish, on the bundled data."""
    found = [one if isinstance(one, Selection) else gendermark.select(one, "es", data="core")[1] for one in chosen]
    return gendermark.run(system, found, directory=directory, resampling=FAST, **options)


def test_the_same_rules_give_the_same(tmp_path: Path) -> None:
    part = Selection("tgbi", "ko", "en", "core", parts=("negative",))
    before = run(tmp_path / "run", "fake:right?p=0.6", "winomt", "mt-geneval-counterfactual", part)
    again = rejudge(tmp_path / "run", {})
    assert [one.result for one in again] == before
    assert [one.sentence for one in again] == [
        f"{result.cell}: all {len(result.judgements):,} verdicts are as before" for result in before
    ]
    assert all(one.changes == () for one in again)
    assert [path.name for path in tmp_path.iterdir()] == ["run"], "nothing is written without an output"


def test_other_rules_give_what_score_gives(tmp_path: Path) -> None:
    (before,) = run(tmp_path / "run", "fake:right?p=0.6", "winomt")
    (again,) = rejudge(tmp_path / "run", {"rules": "paper2019"})
    texts = [text.translation or "" for text in folder.read_run(tmp_path / "run").texts["winomt.en-es"]]
    scored = gendermark.score("winomt", texts, "es", FAST, data="core", rules="paper2019")
    assert again.result.selection == scored.selection
    assert [replace(e, signature="") for e in again.result.estimates] == [
        replace(e, signature="") for e in scored.estimates
    ]
    assert again.result.signature == scored.signature.replace("|system:files|", "|system:fake:right?p=0.6|")
    differ = [
        (old.item_id, old.observed, new.observed)
        for old, new in zip(before.judgements, scored.judgements, strict=True)
        if (old.observed, old.verdict) != (new.observed, new.verdict)
    ]
    assert [(change.item_id, change.before, change.after) for change in again.changes] == differ
    assert len(differ) > 0
    assert again.sentence.startswith(f"winomt.en-es: {len(differ):,} of 1,200 verdicts differ (")


def test_what_differs_is_counted_by_kind(tmp_path: Path, selection: Selection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new version of the rules: every third translation is read otherwise, and worker 000's not at all."""
    run(tmp_path / "run", "fake:masculine", selection)

    def judge(item_set: Any, answers: Any) -> list[gendermark.Judgement]:
        judged = BENCHMARK.judge(item_set, answers)
        judged[3::3] = [replace(one, observed=Gender.FEMININE) for one in judged[3::3]]
        return [replace(judged[0], observed=None), *judged[1:]]

    monkeypatch.setattr("runs.tiny.BENCHMARK", tiny(judge=judge, rules_version=2))
    (again,) = rejudge(tmp_path / "run", {})
    assert again.sentence == (
        "tiny.en-xx: 27 of 80 verdicts differ (26 masculine → feminine, 1 masculine → not determined)"
    )
    assert "|rules:best-2|" in again.result.signature
    rows = again.to_json()
    assert rows["n"] == 80
    assert rows["changes"][0] == {"item_id": "item-0000", "before": "masculine", "after": None}
    json.dumps(rows, allow_nan=False)


def test_the_written_folder_is_a_run_folder(tmp_path: Path) -> None:
    run(tmp_path / "run", "fake:right?p=0.6", "winomt")
    (again,) = rejudge(tmp_path / "run", {"rules": "paper2019"}, tmp_path / "paper")
    assert folder.read_results(tmp_path / "paper") == [again.result]
    run(tmp_path / "other", "fake:masculine", gendermark.select("winomt", "es", data="core", rules="paper2019")[1])
    others = folder.read_results(tmp_path / "other")
    assert {c.cell for c in compare([again.result], others, Resampling(1000)).comparisons} == {"winomt.en-es"}
    with pytest.raises(UserError, match=r"^winomt\.en-es: the runs differ in rules \(best-\d and paper2019\), so"):
        compare(folder.read_results(tmp_path / "run"), [again.result])
    write_page(tmp_path / "page.html", [tmp_path / "run", tmp_path / "paper"])
    assert "paper2019" in (tmp_path / "page.html").read_text(encoding="utf-8")
    # It can itself be judged again, back to what it was.
    (back,) = rejudge(tmp_path / "paper", {"rules": "best"})
    assert back.result == folder.read_results(tmp_path / "run")[0]
    # And the same once more into the same folder, but nothing else.
    rejudge(tmp_path / "run", {"rules": "paper2019"}, tmp_path / "paper")
    with pytest.raises(UserError, match=r"paper holds another run \(it differs in selections\); choose another"):
        rejudge(tmp_path / "run", {"rules": "repo2020"}, tmp_path / "paper")


def test_what_is_refused(tmp_path: Path, selection: Selection) -> None:
    run(tmp_path / "run", "fake:right", selection)
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    for options, output, words in (
        ({"alpha": "2"}, None, r"^tiny takes no --alpha, which belongs to uncertainty; leave it out$"),
        (
            {"detector": "x"},
            None,
            r"^tiny takes no --detector, which belongs to gest, uncertainty and winomt; leave it out$",
        ),
        ({"rules": "worst"}, None, r"^unknown rules of tiny 'worst'; available: best, other$"),
        ({}, tmp_path / "run", r"run is the run to be rejudged; choose another directory with -o$"),
        ({}, tmp_path / "x" / ".." / "run", r"is the run to be rejudged; choose another"),
    ):
        with pytest.raises(UserError, match=words):
            rejudge(tmp_path / "run", options, output)
    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()} == before
    folder.write_manifest(tmp_path / "empty", {}, "finished", {})
    with pytest.raises(UserError, match=r"empty has no results to rejudge$"):
        rejudge(tmp_path / "empty", {})


def test_data_that_this_version_does_not_have(
    tmp_path: Path, selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "run", "fake:right", selection)
    start = rf"^{tmp_path / 'run'}, tiny\.en-xx: this version lacks"
    monkeypatch.setattr("runs.tiny.BENCHMARK", tiny(n_occupations=19))
    with pytest.raises(UserError, match=rf"{start} its data \(tiny-20\), so it cannot be judged again; run it again$"):
        rejudge(tmp_path / "run", {})
    monkeypatch.setattr("runs.tiny.BENCHMARK", tiny(n_occupations=21))
    with pytest.raises(UserError, match=rf"{start} 4 of its sentences, so it cannot be judged again; run it again$"):
        rejudge(tmp_path / "run", {})


def test_a_forced_choice_is_kept_where_no_verdict_differs(tmp_path: Path) -> None:
    """It asks the system, which is not there; and it counts how far the verdicts agree with it."""
    (before,) = run(tmp_path / "run", "fake:masculine", "mt-geneval-contextual", forced_choice=True)
    (same,) = rejudge(tmp_path / "run", {})
    assert same.result.tests == before.tests
    assert [test.name for test in before.tests] == ["forced-choice"]
    (other,) = rejudge(tmp_path / "run", {"rules": "paper"})
    assert ("forced-choice" in {test.name for test in other.result.tests}) == (other.changes == ())


class Sampler(System):
    """Says one thing in three of four samples, and how probable each was."""

    spec = system_id = "sampler:x"
    tasks = frozenset({Task.SAMPLE})

    def __init__(self, argument: str, options: dict[str, str]) -> None:
        pass

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        for request in requests:
            yield [
                Translation(request.request_id, f"El {'médico' if sample else 'enfermero'}.", sample, None, -1.5, 4)
                for sample in request.samples
            ]


def test_samples_are_judged_again_with_their_probabilities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BUILT_IN["system"], "sampler", "runs.test_rejudge:Sampler")
    chosen = gendermark.select("uncertainty", "es", data="core", parts=("referenced",), n_samples=4)[1]
    (before,) = run(tmp_path / "run", "sampler:x", chosen)
    assert before.estimate("nll", "ambiguous").value == 1.5
    assert before.estimate("nll_per_token", "ambiguous").value == 1.5 / 4
    (again,) = rejudge(tmp_path / "run", {}, tmp_path / "again")
    assert again.result == before
    assert again.sentence == "uncertainty.en-es: all 72 verdicts are as before"
    (other,) = rejudge(tmp_path / "again", {"alpha": "3"})
    assert "alpha-3|" in other.result.signature
    assert other.result.estimate("nll", "ambiguous").value == 1.5
    for result in (before, other.result):
        assert result.estimate("h_string", "ambiguous").value == before.estimate("h_string", "ambiguous").value
    assert other.result.estimate("h_s3e", "ambiguous").value != before.estimate("h_s3e", "ambiguous").value


def test_rules_are_for_those_benchmarks_that_have_them(tmp_path: Path) -> None:
    """Of a run of several, the others are judged as before; rules that none has are refused."""
    selections = [gendermark.Selection(name, "en", "es", data="core") for name in ("simplegen", "winomt")]
    gendermark.run("fake:right", selections, directory=tmp_path / "run")
    found = rejudge(tmp_path / "run", {"rules": "paper"})
    assert [one.result.selection.rules for one in found] == ["paper", "best"]
    assert found[1].changes == ()
    with pytest.raises(UserError, match="unknown rules of simplegen 'paper1999'"):
        rejudge(tmp_path / "run", {"rules": "paper1999"})
