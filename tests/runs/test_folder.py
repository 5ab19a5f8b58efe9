"""Run folders that were moved, cut short or edited are refused in a sentence; those of earlier versions are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gendermark.cli.app import _exit_code
from gendermark.errors import BadFile, UserError
from gendermark.metrics.metric import Resampling
from gendermark.runs import folder
from gendermark.runs import run as running
from gendermark.runs.rejudge import rejudge
from gendermark.runs.run import RunConfig
from gendermark.selection import Selection
from runs.tiny import BENCHMARK

CELL = "tiny.en-xx"


@pytest.fixture
def run(tmp_path: Path, selection: Selection) -> Path:
    directory = tmp_path / "run"
    running.run(RunConfig("fake:right", (selection,), resampling=Resampling(n_resamples=100)), directory)
    return directory


def refused(directory: Path) -> str:
    with pytest.raises(UserError) as caught:
        folder.read_results(directory)
    return str(caught.value)


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


def without(key: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda row: {k: v for k, v in row.items() if k != key}


def test_not_a_run_folder(tmp_path: Path, run: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert refused(nowhere) == f"{nowhere}: there is no such directory; give one that `gendermark run -o` wrote"
    manifest = run / "manifest.json"
    assert refused(manifest) == (
        f"{manifest}: is a file, not a run folder; give a directory that `gendermark run -o` wrote"
    )
    assert refused(tmp_path) == (
        f"{tmp_path} is not a run folder (it has no manifest.json); give one that `gendermark run -o` wrote"
    )


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{}",
        '"finished"',
        '{"status": "finished", "config": {}}',
        '{"status": "finished", "config": {}, "cells": 5}',
        '{"status": "finished", "config": [], "cells": {}}',
        '{"status": null, "config": {}, "cells": {}}',
    ],
)
def test_another_manifest(run: Path, content: str, selection: Selection) -> None:
    path = run / "manifest.json"
    path.write_text(content)
    words = f"{path}: is not a manifest of gendermark; run again into another directory"
    assert refused(run) == words
    with pytest.raises(BadFile) as caught:  # nor is it written over
        running.run(RunConfig("fake:right", (selection,)), run)
    assert str(caught.value) == words
    assert path.read_text() == content


def test_a_manifest_cut_short(run: Path) -> None:
    path = run / "manifest.json"
    path.write_text(path.read_text()[:100])
    assert refused(run).startswith(f"{path}: is not JSON (")
    path.write_bytes(b'{"status": "\xe9"}')
    assert refused(run) == f"{path}, line 1: byte 0xe9 is not UTF-8; save the file as UTF-8"


def test_a_cell_that_is_gone(run: Path) -> None:
    edit(run / "manifest.json", lambda m: {**m, "cells": {**m["cells"], "tiny.en-yy": {}}})
    assert refused(run) == f"{run / 'tiny.en-yy' / 'result.json'}: there is no such file"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda _: [], "TypeError"),
        (without("selection"), "'selection'"),
        (without("origin"), "'origin'"),
        (without("tests"), "'tests'"),
        (lambda r: {**r, "selection": None}, "NoneType"),
        (lambda r: {**r, "selection": {**r["selection"], "colour": "red"}}, "colour"),
        (lambda r: {**r, "estimates": [1]}, "TypeError"),
        (lambda r: {**r, "estimates": [{"metric": "accuracy"}]}, "missing"),
        (lambda r: {**r, "tests": [{"name": "x"}]}, "missing"),
    ],
)
def test_another_result(run: Path, change: Callable[[Any], Any], word: str) -> None:
    edit(run / CELL / "result.json", change)
    message = refused(run)
    assert message.startswith(f"{run / CELL / 'result.json'}: does not hold a result that this version can read (")
    assert message.endswith("); run it again")
    assert word in message


def test_a_result_cut_short(run: Path) -> None:
    path = run / CELL / "result.json"
    path.write_text(path.read_text()[:-200])
    assert refused(run).startswith(f"{path}: is not JSON (")


def test_judgements_cut_short(run: Path) -> None:
    path = run / CELL / "judgements.jsonl"
    whole = path.read_text()
    path.write_text(whole[:-20])
    assert refused(run).startswith(f"{path}, line 80: is not JSON (")
    path.write_text(whole.partition("\n")[0] + "\n[1, 2]\n")
    assert refused(run) == f"{path}, line 2: is not a JSON object"
    path.unlink()
    assert refused(run) == f"{path}: there is no such file"


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ('"verdict": "judged"', '"verdict": "guilty"', "guilty"),
        ('"observed": "masculine"', '"observed": "purple"', "purple"),
        ('"group_id"', '"grouped"', "group_id"),
        ('"tags": {', '"tags": null, "x": {', "NoneType"),
    ],
)
def test_other_judgements(run: Path, old: str, new: str, word: str) -> None:
    path = run / CELL / "judgements.jsonl"
    path.write_text(path.read_text().replace(old, new))
    message = refused(run)
    assert message.startswith(f"{run / CELL}: does not hold a result that this version can read (")
    assert word in message


def test_nothing_is_left_half_written(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk in the middle of a file leaves the old file, and no other."""
    before = sorted(path.name for path in run.iterdir())
    old = (run / "manifest.json").read_bytes()

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(UserError, match=r"^cannot write .*manifest\.json: No space left on device$"):
        folder.write_manifest(run, {}, "running", {})
    assert sorted(path.name for path in run.iterdir()) == before
    assert (run / "manifest.json").read_bytes() == old


# -- run folders of version 0.1 ----------------------------------------------------------------------------------------

OPTIONS_OF_ALL = {
    **dict.fromkeys(("aligner", "detector", "split", "context", "variant", "sampling", "similarity", "alpha"), ""),
    "entailment": "",
    "n_samples": 0,
}
"""Version 0.1 wrote these for every benchmark."""


@pytest.fixture
def old(tmp_path: Path, selection: Selection) -> Path:
    """What version 0.1 left of a system that makes everybody a man, and says nothing of worker 007."""
    chosen = {
        "benchmark": "tiny", "source_language": "en", "target_language": "xx", "data": "core", "revision": "",
        "rules": "best", "cluster": "occupation", "parts": [], **OPTIONS_OF_ALL,
    }  # fmt: skip
    signature = "gendermark:0.1.0|benchmark:tiny|data:tiny-20|direction:en-xx|parts:all|rules:best-1|cluster:occupation"
    translations, judgements = [], []
    for item in BENCHMARK.load(selection).items:
        is_silent = item.entity == "007"
        text = None if is_silent else "el trabaja"
        row = {"item_id": item.item_id, "source": item.source, "translation": text}
        translations.append({**row, "error": "HTTP 503" if is_silent else None})
        # The facts of an item were tags, each under the name that its benchmark had for it.
        outcome = "correct" if item.expected == "masculine" else "wrong"
        facts = {"occupation": item.entity, "pair": item.contrast}
        judgements.append(
            {
                "item_id": item.item_id, "index": item.index, "group_id": item.entity, "expected": item.expected,
                "observed": None if is_silent else "masculine",
                "verdict": "not-translated" if is_silent else "judged",
                "evidence": [] if is_silent else ["el"],
                "tags": {**facts, **item.tags, **({"reason": "error"} if is_silent else {"outcome": outcome})},
            }
        )  # fmt: skip
    accuracy = {"metric": "accuracy", "slice": "all", "value": 47.5, "low": 42.5, "high": 50.0, "n_groups": 20}
    result = {
        "benchmark": "tiny", "language": "xx", "source_language": "en", "data": "core", "rules": "best",
        "system": "toy:old",
        "estimates": [{**accuracy, "n_judged": 76, "n_total": 80}],
        "tests": [{"name": "toy", "question": "A toy?", "statistic": 1.0, "p_value": 0.5, "details": {"n": 80}}],
        "warnings": [], "signature": f"{signature}|system:toy:old", "selection": chosen, "origin": "tiny-20",
        "tables": [], "n_judgements": 80,
    }  # fmt: skip
    resampling = {"n_resamples": 100, "seed": 12345, "confidence": 0.95}
    config = {"system": "toy:old", "system_options": {}, "selections": [chosen], "resampling": resampling}
    manifest = {"gendermark": "0.1.0", "status": "finished", "written": "2026-01-01T00:00:00+00:00", "config": config}
    directory = tmp_path / "old"
    (directory / CELL).mkdir(parents=True)
    (directory / "manifest.json").write_text(json.dumps({**manifest, "versions": {}, "cells": {CELL: {}}}))
    (directory / CELL / "result.json").write_text(json.dumps(result))
    for name, rows in (("translations", translations), ("judgements", judgements)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (directory / CELL / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return directory


def test_a_folder_of_version_0_1_is_read(old: Path, selection: Selection) -> None:
    found = folder.read_run(old)
    (result,) = found.results
    assert result.selection == selection
    assert result.estimates[0].shown == "47.5"
    silent, spoken = result.judgements[28], result.judgements[0]
    assert (silent.entity, silent.contrast, silent.reason) == ("007", "Worker 007 finished _ work.", "error")
    assert (spoken.entity, spoken.outcome, spoken.observed) == ("000", "correct", "masculine")
    assert (found.texts[CELL][28].error, found.texts[CELL][0].translation) == ("HTTP 503", "el trabaja")


def test_a_folder_of_version_0_1_is_compared_gated_and_reported(run: Path, old: Path, tmp_path: Path) -> None:
    assert _exit_code(["compare", str(old), str(run), "--resamples", "1000", "--json"]) == 0
    assert _exit_code(["gate", str(run), "--baseline", str(old)]) == 0
    assert _exit_code(["report", str(old), str(run), "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "toy:old" in page
    assert "fake:right" in page


def test_a_folder_of_version_0_1_is_judged_again(old: Path, tmp_path: Path) -> None:
    (again,) = rejudge(old, {}, tmp_path / "again")
    assert again.sentence == f"{CELL}: all 80 verdicts are as before"
    assert again.result.estimate("accuracy").value == 47.5
    assert again.result.estimate("accuracy").n_judged == 76
    (written,) = folder.read_results(tmp_path / "again")
    assert written == again.result
    row = json.loads((tmp_path / "again" / CELL / "translations.jsonl").read_text().splitlines()[28])
    assert (row["translation"], row["error"]) == (None, "HTTP 503")


def test_a_run_of_version_0_1_goes_on(run: Path, selection: Selection) -> None:
    """The same command into its folder: options that the benchmark does not have do not make it another run."""
    config = RunConfig("fake:right", (selection,), resampling=Resampling(n_resamples=100))
    edit(
        run / "manifest.json",
        lambda m: {**m, "config": {**m["config"], "selections": [{**selection.to_json(), **OPTIONS_OF_ALL}]}},
    )
    running.run(config, run)
    edit(
        run / "manifest.json",
        lambda m: {**m, "config": {**m["config"], "selections": [{**selection.to_json(), "rules": "other"}]}},
    )
    with pytest.raises(UserError, match=r"holds another run \(it differs in selections\)"):
        running.run(config, run)
    edit(run / "manifest.json", lambda m: {**m, "config": {k: v for k, v in m["config"].items() if k != "selections"}})
    with pytest.raises(UserError, match=r"holds another run \(it differs in selections\)"):
        running.run(config, run)


@pytest.mark.parametrize("numbers", [1, "x", {}, [1], ["x", "y"], [[], []]])
def test_numbers_of_samples_that_are_none(numbers: Any) -> None:
    row = {"id": "a", "source": "s", "samples": ["x", "y"], "logprobs": [-1.0, None]}
    assert folder.text_of(row)[1].log_probabilities == (-1.0, None)
    for name in ("logprobs", "n_tokens"):
        with pytest.raises(ValueError, match=r"^$"):
            folder.text_of({**row, name: numbers})
