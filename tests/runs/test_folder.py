"""Run folders that were moved, cut short or edited are refused in a sentence."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gendermark
from gendermark.cli.app import _exit_code
from gendermark.errors import UserError
from gendermark.metrics.metric import Resampling
from gendermark.result import ACCEPTED, UNSOUND
from gendermark.runs import folder
from gendermark.runs import run as running
from gendermark.runs.gates import verified
from gendermark.runs.rejudge import rejudge
from gendermark.runs.run import RunConfig
from gendermark.selection import Selection
from made_runs import signed_again

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


@pytest.mark.parametrize("numbers", [1, "x", {}, [1], ["x", "y"], [[], []]])
def test_numbers_of_samples_that_are_none(numbers: Any) -> None:
    row = {"id": "a", "source": "s", "samples": ["x", "y"], "logprobs": [-1.0, None]}
    assert folder.text_of(row)[1].log_probabilities == (-1.0, None)
    for name in ("logprobs", "n_tokens"):
        with pytest.raises(ValueError, match=r"^$"):
            folder.text_of({**row, name: numbers})


STRANGE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no checksums": (lambda m: m["cells"][CELL].pop("sha256"), "has no checksums"),
    "no checksum of one": (lambda m: m["cells"][CELL]["sha256"].pop("result.json"), "was changed after the run"),
    "a cell elsewhere": (lambda m: m["cells"].update({"../other": m["cells"].pop(CELL)}), "'../other'"),
    "an absolute cell": (lambda m: m["cells"].update({"/etc": m["cells"].pop(CELL)}), "'/etc'"),
    "another's signature": (lambda m: m["cells"][CELL].update(signature="x"), "another run"),
    "more resampling": (lambda m: m["config"]["resampling"].update(colour="red"), "wrong type"),
    "a list of resampling": (lambda m: m["config"].update(resampling=[1]), "wrong type"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_manifest_that_cannot_be_trusted(run: Path, name: str) -> None:
    change, word = STRANGE[name]
    edit(run / "manifest.json", lambda manifest: [change(manifest), manifest][1])
    assert word in refused(run)


def test_files_of_a_cell_that_are_gone_or_no_files(run: Path) -> None:
    path = run / CELL / "translations.jsonl"
    path.unlink()
    assert "was deleted after the run" in refused(run)
    os.mkfifo(path)
    assert "is not an ordinary file" in refused(run)
    path.unlink()
    path.symlink_to("/dev/zero")
    assert "is not an ordinary file" in refused(run)


@pytest.mark.parametrize("name", [".lock", CELL, f"{CELL}/translations.jsonl", f"{CELL}/result.json"])
def test_nothing_is_written_through_a_link_in_a_folder(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], selection: Selection, name: str
) -> None:
    elsewhere, path = tmp_path / "elsewhere", run / name
    (run / CELL).rename(tmp_path / "away") if name == CELL else path.unlink(missing_ok=True)
    path.symlink_to(elsewhere, target_is_directory=name == CELL)
    elsewhere.mkdir() if name == CELL else None
    with pytest.raises(UserError, match=r"link"):
        running.run(RunConfig("fake:right", (selection,), resampling=Resampling(n_resamples=100)), run)
    assert not elsewhere.exists() or not list(elsewhere.iterdir())
    if name.endswith("l"):
        path.unlink()
        os.mkfifo(path)
        with pytest.raises(UserError, match=r"no ordinary file"):
            running.run(RunConfig("fake:right", (selection,), resampling=Resampling(n_resamples=100)), run)


def test_data_of_others_are_not_read(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder from others could name any file: nothing of it is shown."""
    private = tmp_path / "private.csv"
    private.write_text("password\nhunter2\n")
    for path, change in (
        (run / CELL / "result.json", lambda row: row["selection"].update(data=f"file:{private}")),
        (run / "manifest.json", lambda row: row["config"]["selections"][0].update(data=f"file:{private}")),
    ):
        edit(path, lambda row, change=change: [change(row), row][1])
    signed_again(run)
    for command in (["rejudge", str(run)], ["leaderboard", "verify", str(run)]):
        assert _exit_code(command) in (1, 2)
        said = "".join(capsys.readouterr())
        assert "hunter2" not in said
        assert "password" not in said
        assert "file:" in said


@pytest.mark.parametrize(
    "text", ["La porte de la maison {} est ouverte avec nous.", "Siempre es la misma frase, claro."]
)
def test_unsound_texts_are_noticed_wherever_a_folder_is_read(tmp_path: Path, text: str) -> None:
    """Somebody else's folder, in order in itself, whose texts cannot be what they are said to be."""
    directory = tmp_path / "run"
    gendermark.run("fake:masculine", "winomt", to="es", data="core", directory=directory)
    (cell,) = directory.glob("winomt*")
    for name in ("result.json", "manifest.json"):
        path = (cell if name == "result.json" else directory) / name
        path.write_text(path.read_text(encoding="utf-8").replace("fake:masculine", "openai:x"), encoding="utf-8")
    path = cell / "translations.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [{**row, "translation": text.format(n)} for n, row in enumerate(rows)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    signed_again(directory)
    (result,) = folder.read_results(directory)
    assert result.warnings[0].startswith(UNSOUND)
    with pytest.raises(UserError, match=r"look unsound"):
        verified([result])
    (again,) = rejudge(directory, {})
    assert again.result.warnings[0].startswith(ACCEPTED)
