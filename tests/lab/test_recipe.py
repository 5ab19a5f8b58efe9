"""The recipe of the demonstration model, on a model of seconds: the same every time, and the same in both forms."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import warnings
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gendermark.cli import train as verb
from gendermark.errors import UserError
from gendermark.io import locks
from gendermark.lab import demo_recipe as recipe
from gendermark.lab import grammar
from gendermark.lab.corpus import Corpus, Pieces, train_pieces
from gendermark.lab.demo_model import Recipe, build_model
from gendermark.lab.demo_recipe import SIZES, train_demo_model
from gendermark.lab.grammar.generator import split_of
from gendermark.lab.loop import learning_rate, reproducible

for _package in recipe.PACKAGES:
    pytest.importorskip(_package)

TINY = Recipe(SIZES["tiny"], seed=0)
WEIGHTS = ("hf/model.safetensors", "ctranslate2/model.bin", "ctranslate2/source.spm", "hf/vocab.json")


def _contents(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in WEIGHTS}


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


def test_both_forms_are_the_same_model(report: dict[str, Any]) -> None:
    agreement = report["agreement"]
    assert agreement["n"] == TINY.size.n_compared
    assert agreement["identical_greedy"] >= 0.99
    differences = agreement["largest_difference_of_log_probability"]
    assert 0 < differences["of_a_token"] < 1e-4
    assert differences["of_a_token"] <= differences["of_a_sentence"] < 1e-3


def test_transformers_and_ctranslate2_load_the_folders(made: Path) -> None:
    import ctranslate2
    from sentencepiece import SentencePieceProcessor
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    sentences = [pair.source for pair in grammar.generate(10, 5, split="held-out")]
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


def test_padding_is_a_zero_vector_and_never_an_answer(made: Path) -> None:
    from safetensors.torch import load_file

    weights = load_file(made / "hf" / "model.safetensors")
    vectors = weights["model.shared.weight"]
    assert not vectors[-1].any()
    assert vectors[:-1].any(dim=1).all()
    assert weights["final_logits_bias"][0, -1] == -1e4
    vocabulary = json.loads((made / "ctranslate2" / "shared_vocabulary.json").read_text(encoding="utf-8"))
    assert "<pad>" not in vocabulary
    assert len(vocabulary) == len(vectors) - 1


def test_it_learns(report: dict[str, Any]) -> None:
    first, *_, last = report["losses"]
    assert last < 0.8 * first
    # One that knows nothing but the pieces has as many choices as there are pieces.
    assert 1 < report["held_out"]["perplexity"] < report["n_pieces"] / 2


def test_the_report(made: Path, report: dict[str, Any]) -> None:
    assert report["recipe"] == TINY.to_json()
    held_out = report["held_out"]
    assert held_out["n"] == sum(part["n"] for part in held_out["by_construction"].values()) == TINY.size.n_held_out
    for form in ("hf", "ctranslate2"):
        files = [path for path in (made / form).iterdir() if path.is_file()]
        assert report["bytes"][form] == sum(path.stat().st_size for path in files)
    assert {"torch", "transformers", "ctranslate2", "sentencepiece", "sacrebleu"} < report["versions"].keys()
    assert report["seconds"]["training"] > 0


def test_the_same_recipe_gives_the_same_bytes(made: Path, tmp_path: Path) -> None:
    train_demo_model(tmp_path, TINY)
    assert _contents(tmp_path) == _contents(made)


def test_another_seed_gives_other_sentences_and_another_beginning() -> None:
    sentences, beginnings = [], []
    for seed in (0, 1):
        pairs = recipe.generate_pairs(20, seed, lambda *_: None)
        pieces = train_pieces(pairs, 100)
        with reproducible(seed):
            beginnings.append(build_model(TINY.size, pieces).get_input_embeddings().weight[:5].tolist())
        sentences.append([pair.source for pair in pairs])
    assert sentences[0] != sentences[1]
    assert beginnings[0] != beginnings[1]


def test_pairs_come_in_rounds_of_other_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "PAIRS_PER_ROUND", 40)
    pairs = recipe.generate_pairs(100, 0, lambda *_: None)
    rounds = [pairs[:40], pairs[40:80], pairs[80:]]
    assert [len(pairs) for pairs in rounds] == [40, 40, 20]
    assert rounds[0][:20] != rounds[1][:20] != rounds[2]
    assert all(split_of(pair.source) == "train" for pair in pairs)


def test_a_killed_training_reaches_the_same_model(made: Path, report: dict[str, Any], tmp_path: Path) -> None:
    script = """
import contextlib, os, signal, sys
from pathlib import Path
from gendermark.lab.demo_recipe import SIZES, train_demo_model
from gendermark.lab.demo_model import Recipe

@contextlib.contextmanager
def progress(title):
    yield lambda done, total: os.kill(os.getpid(), signal.SIGKILL) if (done, total) == (33, 50) else None

train_demo_model(Path(sys.argv[1]), Recipe(SIZES["tiny"], seed=0), progress)
"""
    killed = subprocess.run([sys.executable, "-c", script, tmp_path], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "checkpoint.pt"]
    steps_done: list[int] = []
    again = train_demo_model(tmp_path, TINY, lambda title: _watch(title, steps_done))
    assert steps_done[0] == 20  # where the last checkpoint was, not at the beginning
    assert again["losses"] == report["losses"]
    assert _contents(tmp_path) == _contents(made)


class _watch:  # noqa: N801  (a context manager, written where it is used)
    def __init__(self, title: str, steps_done: list[int]) -> None:
        self._is_training, self._steps_done = title.startswith("training"), steps_done

    def __enter__(self) -> Any:
        return lambda done, _: self._steps_done.append(done) if self._is_training else None

    def __exit__(self, *_: object) -> None:
        pass


def test_torch_is_left_as_it_was(made: Path, unfinished: Path) -> None:
    import torch

    before = (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled(), torch.get_rng_state().tolist())
    train_demo_model(unfinished, TINY)  # only exported again: its checkpoint is the last one
    after = (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled(), torch.get_rng_state().tolist())
    assert after == before
    assert _contents(unfinished) == _contents(made)


def test_a_checkpoint_of_other_settings(unfinished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "generate_pairs", lambda *_: pytest.fail("refused only after work"))
    with pytest.raises(UserError) as caught:
        train_demo_model(unfinished, replace(TINY, seed=1))
    assert str(caught.value) == (
        f"{unfinished / 'checkpoint.pt'} is a checkpoint of a training with other settings (seed was 0); "
        "give the same ones, or another directory with -o"
    )


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x03\x04 half of one"])
def test_a_damaged_checkpoint(unfinished: Path, content: bytes) -> None:
    (unfinished / "checkpoint.pt").write_bytes(content)
    with pytest.raises(
        UserError, match=r"checkpoint\.pt: is not a checkpoint of a training; delete it to start afresh$"
    ):
        train_demo_model(unfinished, TINY)


def test_two_trainings_in_one_directory(tmp_path: Path) -> None:
    with locks.hold(tmp_path / ".lock"), pytest.raises(UserError, match=r"^another process holds .*\.lock"):
        train_demo_model(tmp_path, TINY)


def test_a_file_where_a_directory_should_be(tmp_path: Path) -> None:
    (tmp_path / "model").touch()
    with pytest.raises(UserError, match=r"model is a file; choose a directory with -o$"):
        train_demo_model(tmp_path / "model", TINY)


@pytest.mark.parametrize("absent", recipe.PACKAGES)
def test_a_missing_extra(absent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "find_spec", lambda name: None if name == absent else object())
    with pytest.raises(UserError, match=r"pip install 'gendermark\[train\]'$"):
        train_demo_model(tmp_path / "model", TINY)
    assert not (tmp_path / "model").exists()


def test_the_verb(unfinished: Path) -> None:
    arguments = ["demo-model", "-o", str(unfinished), "--size", "tiny"]
    table = CliRunner().invoke(verb.app, arguments)
    assert table.exit_code == 0, table.output
    rows = dict(line.split("\t") for line in table.stdout.splitlines())
    assert rows["same greedy translation in both forms, of 30"] == "100.0%"
    assert f"{unfinished / 'report.json'} are written" in table.stderr.replace("\n", " ")
    as_json = CliRunner().invoke(verb.app, [*arguments, "--json"])
    assert json.loads(as_json.stdout) == json.loads((unfinished / "report.json").read_text(encoding="utf-8"))


def test_an_unknown_size(tmp_path: Path) -> None:
    found = CliRunner().invoke(verb.app, ["demo-model", "-o", str(tmp_path), "--size", "huge"])
    assert isinstance(found.exception, UserError)
    assert str(found.exception) == "unknown size 'huge'; available: full, tiny"


def test_the_steps_are_part_of_the_recipe(unfinished: Path) -> None:
    found = CliRunner().invoke(verb.app, ["demo-model", "-o", str(unfinished), "--size", "tiny", "--steps", "51"])
    assert "a training with other settings" in str(found.exception)


def test_pieces_are_cut_and_joined() -> None:
    pairs = list(grammar.generate(200, 3))
    pieces = train_pieces(pairs, 300)
    for pair in pairs:
        for text in (pair.source, pair.target):
            assert pieces.join(pieces.cut(text)) == text
            numbers = pieces.encode(text)
            assert numbers[-1] == pieces.end == 0
            assert pieces.numbers["<unk>"] not in numbers
    assert pieces.pad == len(pieces.numbers) - 1
    assert pieces.numbers["<unk>"] in pieces.encode("漢")
    # No file name and no time of day: the same bytes on another day in another directory.
    assert train_pieces(pairs, 300).model == pieces.model
    assert Pieces(pieces.model).numbers == pieces.numbers


def test_batches_have_every_pair_once_per_round_and_no_more_than_they_may_hold() -> None:
    lengths = [(3 + n % 17, 2 + n % 11) for n in range(500)]
    corpus = Corpus([[1] * source for source, _ in lengths], [[1] * target for _, target in lengths])
    n_batches, seen = 0, Counter[int]()
    for batch in corpus.batches(seed=4, tokens_per_batch=200):
        assert len(batch) * (max(lengths[i][0] for i in batch) + max(lengths[i][1] for i in batch)) <= 200
        seen.update(batch)
        n_batches += 1
        if len(seen) == 500:
            break
    assert set(seen.values()) == {1}
    two = [list(islice(corpus.batches(4, 200), 2 * n_batches)) for _ in range(2)]
    assert two[0] == two[1]
    assert two[0][:n_batches] != two[0][n_batches:]  # another order in the next round
    assert list(islice(corpus.batches(5, 200), n_batches)) != two[0][:n_batches]


def test_a_pair_too_long_for_a_batch_stands_alone() -> None:
    corpus = Corpus([[1] * 300, [1] * 3], [[1] * 300, [1] * 3])
    assert sorted(islice(corpus.batches(0, 100), 2)) == [[0], [1]]


def test_the_learning_rate_rises_falls_and_ends_at_nothing() -> None:
    size = replace(SIZES["tiny"], n_steps=1000, n_warm_up_steps=100, learning_rate=1.0)
    rates = [learning_rate(size, step) for step in range(size.n_steps)]
    assert rates[:100] == sorted(rates[:100])
    assert rates[99:] == sorted(rates[99:], reverse=True)
    assert max(rates) == rates[99] == 1.0
    assert rates[399] == pytest.approx(0.5)
    assert rates[-1] < 0.01
