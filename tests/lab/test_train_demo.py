"""The recipe of the demonstration model, on a model of seconds: the same every time, and the same in both forms."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from gendermark.io import locks
from gendermark.lab import loop, train_demo
from gendermark.lab.grammar import generate
from gendermark.lab.train_demo import SIZES, Recipe, train_demo_model
from lab.conftest import Command

for _package in loop.PACKAGES:
    pytest.importorskip(_package)

TINY = Recipe(SIZES["tiny"], seed=0)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished training. Not to be written to."""
    directory = tmp_path_factory.mktemp("recipe") / "made"
    train_demo_model(directory, TINY)
    return directory


@pytest.fixture(scope="module")
def report(made: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((made / "report.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def unfinished(made: Path, tmp_path: Path) -> Path:
    """A directory with a checkpoint and nothing else."""
    directory = tmp_path / "unfinished"
    directory.mkdir()
    (directory / "checkpoint.pt").write_bytes((made / "checkpoint.pt").read_bytes())
    return directory


def test_the_report(made: Path, report: dict[str, Any]) -> None:
    agreement = report["agreement"]
    assert agreement["n"] == TINY.size.n_compared
    assert agreement["identical_greedy"] >= 0.99
    differences = agreement["largest_difference_of_log_probability"]
    assert 0 < differences["of_a_token"] < 1e-4
    assert differences["of_a_token"] <= differences["of_a_sentence"] < 1e-3
    first, *_, last = report["losses"]
    assert last < 0.8 * first
    # One that knows nothing but the pieces has as many choices as there are pieces.
    assert 1 < report["held_out"]["perplexity"] < report["n_pieces"] / 2
    assert report["recipe"] == asdict(TINY)
    held_out = report["held_out"]
    assert held_out["n"] == sum(part["n"] for part in held_out["by_construction"].values()) == TINY.size.n_held_out
    for form in ("hf", "ctranslate2"):
        files = [path for path in (made / form).iterdir() if path.is_file()]
        assert report["bytes"][form] == sum(path.stat().st_size for path in files)
    assert {"torch", "transformers", "ctranslate2", "sentencepiece", "sacrebleu"} < report["versions"].keys()
    assert report["seconds"]["training"] > 0


def test_transformers_and_ctranslate2_load_the_folders(made: Path) -> None:
    import ctranslate2
    from safetensors.torch import load_file
    from sentencepiece import SentencePieceProcessor
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    sentences = [pair.source for pair in generate(10, 5, split="held-out")]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Recommended: pip install sacremoses")
        tokenizer: Any = AutoTokenizer.from_pretrained(made / "hf")
    model = AutoModelForSeq2SeqLM.from_pretrained(made / "hf")
    output = model.generate(**tokenizer(sentences, return_tensors="pt", padding=True), max_length=30)
    by_hf = tokenizer.batch_decode(output, skip_special_tokens=True)

    pieces = SentencePieceProcessor(model_file=str(made / "ctranslate2" / "source.spm"))
    translator = ctranslate2.Translator(str(made / "ctranslate2"), compute_type="float32")
    cut = [[*pieces.encode(sentence, out_type=str), "</s>"] for sentence in sentences]
    found = translator.translate_batch(cut, beam_size=1, max_decoding_length=29)
    assert by_hf == [pieces.decode(result.hypotheses[0]).strip() for result in found]
    assert len(set(by_hf)) > 1, "a model that always says the same proves nothing"
    # Padding is a zero vector and never an answer.
    weights = load_file(made / "hf" / "model.safetensors")
    vectors = weights["model.shared.weight"]
    assert not vectors[-1].any()
    assert vectors[:-1].any(dim=1).all()
    assert weights["final_logits_bias"][0, -1] == -1e4
    vocabulary = json.loads((made / "ctranslate2" / "shared_vocabulary.json").read_text(encoding="utf-8"))
    assert "<pad>" not in vocabulary
    assert len(vocabulary) == len(vectors) - 1


def test_the_command_and_what_it_refuses(
    unfinished: Path, tmp_path: Path, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train(output: Path, *more: str) -> Any:
        return cli("train", "demo-model", "-o", output, "--size", "tiny", *more)

    table = train(unfinished)
    rows = {row["what"]: row["value"] for row in table.rows}
    assert rows["same greedy translation in both forms, of 30"] == "100.0%"
    assert str(unfinished / "report.json") in table.err
    report = json.loads((unfinished / "report.json").read_text(encoding="utf-8"))
    assert report["n_parameters"] == int(rows["parameters"].replace(",", ""))
    (tmp_path / "file").touch()
    train(tmp_path / "file").is_refusal("is a file")
    train(tmp_path / "new", "--size", "huge").is_refusal("'huge'", "full, tiny")
    monkeypatch.setattr(train_demo, "generate_rounds", lambda *_: pytest.fail("refused only after work"))
    train(unfinished, "--steps", "51").is_refusal("n_steps was 50")
    train(unfinished, "--seed", "1").is_refusal("seed was 0")
    with locks.hold(unfinished / ".lock"):
        train(unfinished).is_refusal("another process is writing to")
    for content in (b"", b"no checkpoint", b"PK\x03\x04 half of one"):
        (unfinished / "checkpoint.pt").write_bytes(content)
        train(unfinished).is_refusal("checkpoint.pt is not a whole checkpoint")
