"""A whole run: what it leaves on disk, what it refuses before the first sentence is paid for."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gendermark import __version__, registry
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.data.official import cache_root
from gendermark.errors import SystemFailure, UserError
from gendermark.io import locks
from gendermark.metrics.metric import Resampling
from gendermark.records import Request, Task, Translation
from gendermark.runs import folder
from gendermark.runs import run as running
from gendermark.runs.run import RunConfig
from gendermark.runs.store import Store
from gendermark.runs.translate import Progress
from gendermark.selection import Selection
from gendermark.systems.system import System
from runs.tiny import BENCHMARK, tiny

FAST = Resampling(n_resamples=100)


class Toy(System):
    """Stored, and right; fails after some sentences if told to."""

    spec = system_id = "toy:x"
    batch_size = 10
    opened: ClassVar[list[Toy]] = []
    fails_after: int | None = None

    def __init__(self, argument: str, options: dict[str, str]) -> None:
        self.n_asked, self.is_closed, self.prepared = 0, False, 0
        Toy.opened.append(self)

    def prepare(self, *_: object) -> None:
        self.prepared += 1

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        if self.fails_after is not None and self.n_asked >= self.fails_after:
            raise SystemFailure("toy:x fell over")
        self.n_asked += len(requests)
        yield [Translation(r.request_id, "ella" if " her " in r.source else "el") for r in requests]

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture(autouse=True)
def _toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BUILT_IN["system"], "toy", "runs.test_run:Toy")
    monkeypatch.setattr(Toy, "opened", [])


@pytest.fixture
def config(selection: Selection) -> RunConfig:
    return RunConfig("toy:x", (selection,), resampling=FAST)


def manifest(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    return found


# -- what it leaves


def test_the_folder(tmp_path: Path, config: RunConfig, selection: Selection) -> None:
    config = replace(config, selections=(selection, replace(selection, target_language="yy")))
    directory = tmp_path / "new" / "run"
    results = running.run(config, directory)
    assert {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()} == {
        ".lock",
        "manifest.json",
        *(f"tiny.en-{to}/{name}" for to in ("xx", "yy") for name in FILES),
    }
    found = manifest(directory)
    assert set(found) == {"gendermark", "status", "written", "config", "versions", "cells"}
    assert found["gendermark"] == __version__
    assert found["status"] == "finished"
    assert found["config"] == config.to_json()
    assert found["versions"]["python"] == platform.python_version()
    assert list(found["cells"]) == ["tiny.en-xx", "tiny.en-yy"] == [result.cell for result in results]
    for result in results:
        cell = found["cells"][result.cell]
        assert set(cell.pop("sha256")) == {"translations.jsonl", "judgements.jsonl", "result.json"}
        assert set(cell) == {"signature", "n_asked", "n_stored", "translate_seconds", "score_seconds"}
        assert cell["signature"] == result.signature
        assert (cell["n_asked"], cell["n_stored"]) == (80, 0)
    (toy,) = Toy.opened
    assert toy.is_closed
    assert toy.prepared == 4  # once for each set before any work, and again when its turn comes
    assert folder.read_results(directory) == results
    items = BENCHMARK.load(selection).items
    rows = [json.loads(line) for line in (directory / "tiny.en-xx" / "translations.jsonl").read_text().splitlines()]
    assert [row["item_id"] for row in rows] == [item.item_id for item in items]
    assert rows[1] == {"item_id": "item-0001", "source": items[1].source, "translation": "ella", "error": None}


FILES = ("translations.jsonl", "judgements.jsonl", "result.json")


def test_running_then_finished(tmp_path: Path, config: RunConfig) -> None:
    seen = []

    @contextmanager
    def look(title: str) -> Iterator[Progress]:
        seen.append(title)
        yield lambda done, _: seen.append((done, manifest(tmp_path)["status"]))

    running.run(config, tmp_path, running.RunContext(open_progress=look))
    assert seen == ["tiny en-xx", *((done, "running") for done in range(0, 81, 10))]
    assert manifest(tmp_path)["status"] == "finished"


def test_without_a_folder_nothing_is_left_but_the_store(tmp_path: Path, config: RunConfig) -> None:
    (result,) = running.run(config)
    assert result.estimate("accuracy").value == 100
    assert list(tmp_path.iterdir()) == []
    assert running.default_store() == cache_root() / "translations.sqlite"
    with Store(running.default_store()) as store:
        assert len(store.get("toy:x", BENCHMARK.requests(BENCHMARK.load(result.selection)))) == 80
    running.run(config)
    assert [toy.n_asked for toy in Toy.opened] == [80, 0]


def test_a_failed_run_goes_on(tmp_path: Path, config: RunConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "run"
    monkeypatch.setattr(Toy, "fails_after", 30)
    with pytest.raises(SystemFailure, match="fell over"):
        running.run(config, directory)
    assert Toy.opened[0].is_closed
    assert manifest(directory)["status"] == "running"
    with pytest.raises(UserError) as caught:
        folder.read_results(directory)
    assert str(caught.value) == (
        f"the run in {directory} is not finished; give the same `gendermark run` command again to finish it"
    )
    monkeypatch.setattr(Toy, "fails_after", None)
    running.run(config, directory)
    assert [toy.n_asked for toy in Toy.opened] == [30, 50]
    cell = manifest(directory)["cells"]["tiny.en-xx"]
    assert (cell["n_asked"], cell["n_stored"]) == (50, 30)


def test_errors_of_single_sentences_are_written_down(
    tmp_path: Path, config: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(self: Toy, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        yield [Translation(request.request_id, None, error="HTTP 503") for request in requests]

    monkeypatch.setattr(Toy, "answer", answer)
    (result,) = running.run(config, tmp_path / "run")
    assert result.estimate("accuracy").n_judged == 0
    assert result.estimate("women").value is None
    row = json.loads((tmp_path / "run" / "tiny.en-xx" / "translations.jsonl").read_text().splitlines()[0])
    assert (row["translation"], row["error"]) == (None, "HTTP 503")
    assert folder.read_results(tmp_path / "run") == [result]


# -- what it refuses


def test_a_folder_of_another_run(tmp_path: Path, config: RunConfig, selection: Selection) -> None:
    running.run(config, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for changed, what in (
        (replace(config, system="fake:right"), "system"),
        (replace(config, system_options={"mode": "x"}), "system_options"),
        (replace(config, selections=(replace(selection, rules="other"),)), "selections"),
        (replace(config, resampling=Resampling(n_resamples=200), system="fake:right"), "system, resampling"),
    ):
        with pytest.raises(UserError) as caught:
            running.run(changed, tmp_path)
        assert str(caught.value) == (
            f"{tmp_path} holds another run (it differs in {what}); choose another directory with -o"
        )
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    running.run(config, tmp_path)


def test_a_folder_that_another_run_writes_to(tmp_path: Path, config: RunConfig) -> None:
    with locks.hold(tmp_path / ".lock"), pytest.raises(UserError) as caught:
        running.run(config, tmp_path)
    assert str(caught.value) == (
        f"another process is writing to {tmp_path}; wait for it, or choose another directory with -o"
    )
    assert (Toy.opened[0].n_asked, Toy.opened[0].is_closed) == (0, True)
    running.run(config, tmp_path)


def test_what_is_refused_before_the_work_leaves_no_folder(
    tmp_path: Path, config: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prepare(*_: object) -> None:
        raise UserError("bad file")

    monkeypatch.setattr(Toy, "prepare", prepare)
    for directory in (tmp_path / "deep" / "run", tmp_path):
        with pytest.raises(UserError, match=r"^bad file$"):
            running.run(config, directory)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"], "the folder that was there before is locked"


def test_two_selections_for_one_place(tmp_path: Path, config: RunConfig, selection: Selection) -> None:
    twice = replace(config, selections=(selection, replace(selection, rules="other")))
    with pytest.raises(UserError) as caught:
        running.run(twice, tmp_path / "run")
    assert str(caught.value) == ("tiny en-xx is requested 2 times in one run folder; use a separate directory for each")
    assert not (tmp_path / "run").exists()
    assert len(running.run(twice)) == 2


def test_a_task_that_the_system_cannot_do(
    tmp_path: Path, config: RunConfig, selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second benchmark asks for samples; the first is not paid for."""

    def requests(item_set: ItemSet) -> list[Request]:
        task = Task.SAMPLE if item_set.selection.target_language == "yy" else Task.TRANSLATE
        return [Request(item.source, "en", item_set.selection.target_language, task) for item in item_set.items]

    monkeypatch.setattr("runs.tiny.BENCHMARK", tiny(requests=requests))
    both = replace(config, selections=(selection, replace(selection, target_language="yy")))
    with pytest.raises(
        UserError, match=r"^toy:x cannot sample, which this needs; it can translate; systems that can sample: .*fake:"
    ):
        running.run(both, tmp_path / "run")
    assert Toy.opened[0].n_asked == 0
    assert Toy.opened[0].is_closed
    assert not (tmp_path / "run").exists()


def test_selections_that_do_not_exist(config: RunConfig, selection: Selection) -> None:
    for wrong, words in (
        (replace(selection, benchmark="tinny"), r"^unknown benchmark 'tinny' \(did you mean 'tiny'\?\); available: "),
        (replace(selection, target_language="zz"), r"^tiny .* has no target language 'zz'.*; available: xx, yy$"),
        (replace(selection, rules="worst"), r"^unknown rules of tiny 'worst'.*; available: best, other$"),
    ):
        with pytest.raises(UserError, match=words):
            running.run(replace(config, selections=(wrong,)))
    assert [(toy.n_asked, toy.is_closed) for toy in Toy.opened] == [(0, True)] * 3
