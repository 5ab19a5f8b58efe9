"""`study training`: the numbers are those of the runs, in the form of the paper's tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gendermark import api
from gendermark.lab import training_comparison
from gendermark.lab.torch_models import trained_facts
from gendermark.lab.training_comparison import Settings, paper_rows, study_training
from lab.conftest import Command

MODELS = ("--system", "base=fake:masculine", "--system", "better=fake:right?p=0.8")
OPTIONS = ("--to", "es", "--resamples", "100")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("training") / "out"
    study_training(Settings(MODELS[1::2], "es", directory, ("better=joined",)))
    return directory


def test_numbers_are_those_of_the_runs(made: Path) -> None:
    report = json.loads((made / "training.json").read_text(encoding="utf-8"))
    (model,) = report["models"]
    rows = {(row["cell"].partition(".")[0], row["metric"], row["slice"]): row for row in model["comparisons"]}
    sides = {
        side: {result.selection.benchmark: result for result in api.load(made / folder)}
        for side, folder in (("first", "base"), ("second", "better"))
    }
    for (benchmark, metric, part), row in rows.items():
        for side, results in sides.items():
            assert row[side] == results[benchmark].estimate(metric, part).value
    assert len(rows) == 13
    assert sides["second"]["mt-geneval-contextual"].selection.to_json()["context"] == "joined"
    # Always masculine: all men right and no woman, and of no pair both.
    assert rows["mt-geneval-counterfactual", "accuracy", "all"]["first"] == 0
    assert rows["mt-geneval-contextual", "accuracy", "masculine"]["first"] == 100
    assert rows["mt-geneval-contextual", "accuracy", "feminine"]["first"] == 0


def test_tables_have_the_form_of_the_paper(made: Path) -> None:
    report = json.loads((made / "training.json").read_text(encoding="utf-8"))
    table = (made / "table.md").read_text(encoding="utf-8")
    assert "| model | contextual | counterfactual | BLEU, women | BLEU, men |" in table
    assert "What each model is shown before a contextual sentence: base: none, better: joined." in table
    (base, better) = paper_rows(report)
    assert (base[0], base[1], base[2]) == ("base", "50.0", "0.0")
    assert f"{' & '.join(better)} \\\\" in (made / "table.tex").read_text(encoding="utf-8")
    assert all(sentence in table for sentence in report["findings"])
    assert report["findings"][0].startswith("better against base: contextual accuracy 50.0 to ")


def test_the_command(study: Command, tmp_path: Path) -> None:
    outcome = study("training", *MODELS, *OPTIONS, "-o", tmp_path / "out")
    assert outcome.exit_code == 0, outcome.err
    assert {row["model"] for row in outcome.rows} == {"better"}
    assert "better against base: contextual accuracy" in outcome.err
    assert "BLEU is left out" in outcome.err
    other = study("training", *MODELS, *OPTIONS, "--context", "better=joined", "-o", tmp_path / "out")
    other.is_refusal("differs in models", "-o")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (MODELS[:2], "at least two"),
        ((*MODELS[:2], *MODELS[:2]), "are called base"),
        ((*MODELS, "--context", "ctx=joined"), "'ctx'"),
        ((*MODELS, "--context", "base=separator"), "separator:TEXT"),
        ((*MODELS, "--context", "base=aloud"), "aloud"),
    ],
)
def test_refused(study: Command, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    study("training", *arguments, *OPTIONS, "-o", tmp_path / "out").is_refusal(said)
    assert not (tmp_path / "out").exists()


def test_a_model_says_how_it_was_taught(tmp_path: Path) -> None:
    (tmp_path / "gendermark.json").write_text('{"context": "separator:<sep>"}', encoding="utf-8")
    assert trained_facts(f"torch:{tmp_path}?beam_size=1") == {"context": "separator:<sep>"}
    assert trained_facts(f"hf:{tmp_path}") == trained_facts("torch:nowhere") == {}


@pytest.mark.parametrize(
    ("rules", "words"), [("best", "it also judges MT-GenEval by rules best"), ("paper", "read its MT-GenEval rows")]
)
def test_self_training_is_not_judged_by_its_own_lexicons_unsaid(
    rules: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {MODELS[3].partition("=")[2]: {"self_training": {"n_kept_of_each": 1}}}
    monkeypatch.setattr(training_comparison, "trained_facts", lambda spec: facts.get(spec, {}))
    report = study_training(Settings(MODELS[1::2], "es", tmp_path / "out", rules=rules))
    (said,) = (note for note in report["notes"] if "WinoMT" in note)
    assert said.startswith("better was self-trained")
    assert words in said
    assert said in (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
