"""Results in trackers and in model repositories."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import gendermark
from gendermark.cli.app import _exit_code

RUN = ("--benchmark", "winomt", "--to", "es", "--data", "core")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("runs") / "old"
    gendermark.run("fake:masculine", "winomt", to="es", data="core", directory=made, name="Old")
    return made


def test_evaluation_results_of_a_model_repository(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "model" / ".eval_results" / "gendermark.yaml"
    path.parent.mkdir(parents=True)
    assert _exit_code(["report", str(folder), "-o", str(path)]) == 0
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))
    (result,) = gendermark.load(folder)
    by_task = {row["dataset"]["task_id"]: row for row in rows}
    assert by_task["en-es.recall_gap"]["value"] == pytest.approx(result["recall_gap"].value)
    assert {row["dataset"]["id"] for row in rows} == {"gendermark/winomt"}
    assert all(result.signature in row["notes"] and "95% CI [" in row["notes"] for row in rows)
    hub: Any = pytest.importorskip("huggingface_hub")
    entries = hub.parse_eval_result_entries(rows)
    assert hub.eval_result_entries_to_yaml(entries) == rows
    other = gendermark.run("fake:right", "winomt", to="es", data="core")
    with pytest.raises(gendermark.UserError, match="one system"):
        gendermark.report([result, other], tmp_path / "two.yaml")


@pytest.mark.parametrize("tracker", ["wandb", "mlflow"])
def test_a_missing_tracker_names_its_install_line(
    tracker: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, tracker, None)
    assert _exit_code(["report", str(folder), "--log", tracker]) == 2
    assert f"pip install 'gendermark[{tracker}]'" in capsys.readouterr().err


def test_an_unknown_tracker_is_refused_before_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _exit_code(["run", "--system", "fake:right", *RUN, "-o", str(tmp_path / "x"), "--log", "wandbb"]) == 2
    assert "did you mean 'wandb'" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.filterwarnings("ignore")
def test_mlflow_keeps_numbers_signature_and_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed: pip install '.[mlflow]'")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file:{tmp_path / 'store'}")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    words = ["run", "--system", "fake:masculine", *RUN, "-o", str(tmp_path / "run"), "--name", "Old", "--log", "mlflow"]
    assert _exit_code(words) == 0
    (logged,) = mlflow.search_runs(experiment_names=["gendermark"], output_format="list")
    (result,) = gendermark.load(tmp_path / "run")
    gap = result["recall_gap"]
    values = logged.data.metrics
    assert [values[f"winomt.en-es/recall_gap{end}"] for end in ("", ".low", ".high")] == [gap.value, gap.low, gap.high]
    assert values["winomt.en-es/accuracy.feminine"] == result["accuracy", "feminine"].value
    assert logged.data.tags["signature/winomt.en-es"] == result.signature
    assert logged.info.run_name == "Old"
    page = mlflow.artifacts.load_text(f"{logged.info.artifact_uri}/report.html")
    assert "Old" in page
    kept = json.loads(mlflow.artifacts.load_text(f"{logged.info.artifact_uri}/results.json"))
    assert kept["results"][0]["signature"] == result.signature


@pytest.mark.filterwarnings("ignore")
def test_wandb_keeps_numbers_signature_and_page(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wandb = pytest.importorskip("wandb", reason="wandb is not installed: pip install '.[wandb]'")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert _exit_code(["report", str(folder), "--log", "wandb"]) == 0
    assert "logged to W&B: " in capsys.readouterr().err
    wandb.teardown()  # as at the end of the program: its service writes the rest
    (written,) = tmp_path.rglob("run-*.wandb")
    (page,) = tmp_path.rglob("*.html")
    assert "Old" in page.read_text(encoding="utf-8")
    content = written.read_bytes()
    (result,) = gendermark.load(folder)
    assert b"winomt.en-es/recall_gap.low" in content
    assert result.signature.encode() in content
