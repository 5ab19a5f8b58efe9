"""The recipe of a transformer, on models of seconds: it goes on bit for bit, and says the same in every engine."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from gendermark.cli import train as verb
from gendermark.errors import UserError
from gendermark.lab import demo_recipe as recipe
from gendermark.lab import loop, memory, transformer_recipe
from gendermark.lab.architectures import Architecture
from gendermark.lab.inheritance import inherit
from gendermark.lab.loop import Checkpoint
from gendermark.lab.self_training import SelfTraining
from gendermark.lab.torch_models import trained_context
from gendermark.lab.transformer_recipe import Settings, Sources, Teacher, train_transformer
from gendermark.records import Request, Task, Translation
from gendermark.runs.run import NO_CONTEXT, RunContext
from gendermark.systems.system import System, open_system

for _package in recipe.PACKAGES:
    pytest.importorskip(_package)

SHAPE = Architecture(2, 1, "self", width=32, n_heads=2, feed_forward=64)
SETTINGS = Settings(
    ("en", "es"),
    SHAPE,
    seed=1,
    n_steps=70,
    tokens_per_batch=500,
    learning_rate=1e-2,
    n_warm_up_steps=15,
    n_steps_per_checkpoint=20,
    dropout=0.05,
)
AVERAGE = replace(SETTINGS, architecture=replace(SHAPE, attention="average"), n_steps=40)


SUBJECTS = {"my aunt": "mi tía", "your uncle": "tu tío", "the cook": "la cocinera", "a pilot": "un piloto"}
VERBS = {"paints": "pinta", "buys": "compra", "sells": "vende", "sees": "ve"}
OBJECTS = {"a boat": "un barco", "the red house": "la casa roja", "two chairs": "dos sillas", "the moon": "la luna"}
TIMES = {"today": "hoy", "tomorrow": "mañana", "every day": "cada día", "in May": "en mayo", "at night": "de noche"}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A language so small that a model learns it in seconds."""
    path = tmp_path_factory.mktemp("text") / "pairs.tsv"
    every = product(*(words.items() for words in (SUBJECTS, VERBS, OBJECTS, TIMES)))
    rows = [[" ".join(side) for side in zip(*chosen, strict=True)] for chosen in every]
    path.write_text("".join(f"{english}.\t{spanish}.\tby us\n" for english, spanish in rows), encoding="utf-8")
    return str(path)


LIMITS = {"n_test": 16, "n_pieces": 90}


@pytest.fixture(scope="module")
def sources(text: str) -> Sources:
    return Sources([text], **LIMITS)


@pytest.fixture(scope="module")
def made(sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished training with self-attention. Not to be written to."""
    directory = tmp_path_factory.mktemp("recipe") / "self"
    train_transformer(directory, SETTINGS, sources)
    return directory


@pytest.fixture(scope="module")
def averaging(sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("recipe") / "average"
    train_transformer(directory, AVERAGE, sources)
    return directory


def _report(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory / "report.json").read_text(encoding="utf-8"))
    return found


def _weights(directory: Path) -> bytes:
    return (directory / "model.safetensors").read_bytes()


def _tested(directory: Path) -> list[str]:
    return (directory / "test.pairs.en").read_text(encoding="utf-8").splitlines()


def _asked(system: System, requests: list[Request]) -> list[Translation]:
    answers = [answer for portion in system.answer(requests) for answer in portion]
    order = {request.request_id: place for place, request in enumerate(requests)}
    return sorted(answers, key=lambda answer: (order[answer.request_id], answer.sample))


def _translated(spec: str, sentences: list[str], task: Task = Task.TRANSLATE) -> list[Translation]:
    with closing(open_system(spec)) as system:
        return _asked(system, [Request(sentence, "en", "es", task) for sentence in sentences])


# -- text that is added ------------------------------------------------------------------------------------------------


def test_documents_and_self_training_are_learnt_beside_the_pairs(text: str, tmp_path: Path) -> None:
    said = {"My aunt is a mechanic.": "Mi tía es mecánica.", "My uncle is a nurse.": "Mi tío es enfermero."}
    (tmp_path / "english.txt").write_text("\n".join(said) + "\n", encoding="utf-8")
    (tmp_path / "story.tsv").write_text("She left.\tSe fue.\nThe nurse slept.\tLa enfermera dormía.\n", "utf-8")
    filtered = SelfTraining(
        "known", lambda asked: [[Translation("", said[one])] for one in asked], [str(tmp_path / "english.txt")]
    )
    added = Sources([text], **LIMITS, documents=[str(tmp_path / "story.tsv")], self_training=filtered)
    short = replace(SETTINGS, n_steps=4)
    train_transformer(tmp_path / "m", short, added)
    report = _report(tmp_path / "m")
    assert report["text"]["n_pairs"]["story+context"] == 1
    assert report["text"]["n_pairs"]["self-training"] == 2
    assert report["text"]["self_training"]["n_kept_of_each"] == 1
    kept = (tmp_path / "m" / "self-training.tsv").read_text(encoding="utf-8").splitlines()
    assert sorted(kept) == sorted("\t".join(pair) for pair in said.items())
    assert trained_context(f"torch:{tmp_path / 'm'}") == report["text"]["context"] == "separator:<sep>"
    assert sorted(path.name for path in (tmp_path / "m").glob("test.*")) == ["test.pairs.en", "test.pairs.es"]
    other = replace(added, pieces=tmp_path / "m", documents=["grammar=3"], context="separator:§")
    with pytest.raises(UserError, match="the pieces that are to be used have no sign for '§'; choose another"):
        train_transformer(tmp_path / "n", short, other)
    inside = replace(added, test=str(tmp_path / "story.tsv"))
    with pytest.raises(UserError, match="2 training pairs have a source of the test set"):
        train_transformer(tmp_path / "n", short, inside)


# -- what comes out ----------------------------------------------------------------------------------------------------


def test_it_learns_and_reports(made: Path, averaging: Path, text: str) -> None:
    report = _report(made)
    first, *_, last = report["losses"]
    assert last < 0.7 * first
    assert [step for step, _ in report["held_out_losses"]] == [20, 40, 60, 70]
    assert report["held_out_losses"][-1][1] < report["held_out_losses"][0][1]
    n_lines = len(Path(text).read_text(encoding="utf-8").splitlines())
    assert report["tests"]["pairs"]["n"] == len(_tested(made))
    assert report["text"]["n_pairs"]["pairs"] == n_lines - 24
    assert report["same_greedy_in_ctranslate2"]["share"] == 1.0
    assert {path.name for path in made.iterdir()} >= {"hf", "ctranslate2", "test.pairs.es", "valid.pairs.en"}
    assert "have no average attention" in _report(averaging)["not_exported"]
    assert not (averaging / "ctranslate2").exists()


def test_no_held_out_source_is_learnt(sources: Sources) -> None:
    prepared = transformer_recipe.prepare(SETTINGS.direction, sources, NO_CONTEXT)
    held_out = {line.source for part in prepared.parts for line in (*part.test, *part.valid)}
    assert len(held_out) == 24
    assert held_out.isdisjoint({line.source for line in prepared.lines})


def test_all_engines_say_the_same(made: Path) -> None:
    sentences = _tested(made)
    greedy = _translated(f"torch:{made}?beam_size=1", sentences)
    texts = [answer.text for answer in greedy]
    assert len(set(texts)) > 3, "a model that always says the same proves nothing"
    converted = f"ctranslate2:{made / 'ctranslate2'}?compute_type=float32"
    for spec in (f"{converted}&beam_size=1", f"hf:{made / 'hf'}?beam_size=1"):
        theirs = _translated(spec, sentences)
        assert [answer.text for answer in theirs] == texts
        both = [(a.log_probability, b.log_probability) for a, b in zip(greedy, theirs, strict=True)]
        assert all(a == pytest.approx(b, abs=1e-3) for a, b in both if a is not None and b is not None)
    beam = _translated(f"torch:{made}", sentences)
    theirs = _translated(converted, sentences)
    assert [answer.text for answer in beam] == [answer.text for answer in theirs]


@pytest.mark.parametrize("which", ["made", "averaging"])
def test_a_beam_is_no_worse_than_greed(which: str, request: pytest.FixtureRequest) -> None:
    directory: Path = request.getfixturevalue(which)

    def scores(spec: str) -> list[float | None]:
        return [
            answer.log_probability / answer.n_tokens if answer.log_probability and answer.n_tokens else None
            for answer in _translated(spec, _tested(directory))
        ]

    pairs = zip(scores(f"torch:{directory}?beam_size=1"), scores(f"torch:{directory}?beam_size=5"), strict=True)
    compared = [(greedy, beam) for greedy, beam in pairs if greedy is not None and beam is not None]
    assert len(compared) > 5
    assert all(beam >= greedy - 1e-5 for greedy, beam in compared)


def test_scores_and_samples(averaging: Path) -> None:
    sentences = _tested(averaging)[:4]
    with closing(open_system(f"torch:{averaging}")) as system:
        requests = [Request(one, "en", "es", Task.SAMPLE, options=(("seed", "1"),), n_samples=3) for one in sentences]
        samples = _asked(system, requests)
        assert len(samples) == 12
        assert len({sample.text for sample in samples}) > 4
        chosen = [sample for sample in samples if sample.text and sample.n_tokens and sample.n_tokens < 40]
        sources = {request.request_id: request.source for request in requests}
        scored = _asked(system, [Request(sources[one.request_id], "en", "es", Task.SCORE, one.text) for one in chosen])
        same = [
            (one.log_probability, score.log_probability)
            for one, score in zip(chosen, scored, strict=True)
            if one.n_tokens == score.n_tokens  # else the text is cut into other pieces than it was drawn in
        ]
        assert same
        assert all(a == pytest.approx(b, abs=1e-3) for a, b in same)


def test_eight_bits_change_little(made: Path) -> None:
    sentences = _tested(made)
    whole, small = (
        _translated(f"torch:{made}?beam_size=1&compute_type={kind}", sentences) for kind in ("float32", "int8")
    )
    pairs = [(a.log_probability, b.log_probability) for a, b in zip(whole, small, strict=True)]
    numbers = [(a, b) for a, b in pairs if a is not None and b is not None]
    assert any(a != b for a, b in numbers)
    assert sum(a.text == b.text for a, b in zip(whole, small, strict=True)) > len(sentences) / 2
    with closing(open_system(f"torch:{made}?compute_type=int8")) as system:
        assert system.decoding == "beam5,int8"


# -- going on ----------------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
from types import SimpleNamespace
import torch
from gendermark.lab.transformer_recipe import Sources, train_transformer
from tests.lab.test_transformer_recipe import AVERAGE, LIMITS

save, n_saved = torch.save, 0

def die_at_the_second(state, path):
    global n_saved
    n_saved += 1
    save(state, path)
    if n_saved == 2:
        os.kill(os.getpid(), signal.SIGKILL)

torch.save = die_at_the_second
train_transformer(Path(sys.argv[1]), AVERAGE, Sources([sys.argv[2]], **LIMITS))
"""


def _steps_seen(seen: list[int], stop_at: int = -1) -> RunContext:
    @contextmanager
    def watch(title: str) -> Any:
        def report(n_done: int, _: int) -> None:
            seen.append(n_done)
            if n_done == stop_at:
                raise KeyboardInterrupt

        yield report if title.startswith("training") else lambda *_: None

    return replace(NO_CONTEXT, open_progress=watch)


def test_a_training_killed_while_it_writes(averaging: Path, text: str, sources: Sources, tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", KILLED, tmp_path, text]
    killed = subprocess.run(arguments, check=False, cwd=Path(__file__).parents[2])
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "checkpoint.writing").exists()
    seen: list[int] = []
    train_transformer(tmp_path, AVERAGE, sources, _steps_seen(seen))
    assert seen[0] == 20  # where the last whole checkpoint was
    assert _weights(tmp_path) == _weights(averaging)


def test_a_training_stopped_at_any_step(
    averaging: Path, sources: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stop_at, seconds in ((7, 1000.0), (23, 1000.0), (31, 0.0), (39, 0.0)):
        monkeypatch.setattr(loop, "SECONDS_PER_CHECKPOINT", seconds)
        with pytest.raises(KeyboardInterrupt):
            train_transformer(tmp_path, AVERAGE, sources, _steps_seen([], stop_at))
    seen: list[int] = []
    train_transformer(tmp_path, AVERAGE, sources, _steps_seen(seen))
    assert seen == [39, 40]
    assert _weights(tmp_path) == _weights(averaging)
    assert _report(tmp_path)["held_out_losses"] == _report(averaging)["held_out_losses"]
    assert _report(tmp_path)["losses"] == _report(averaging)["losses"]


def test_another_seed_gives_other_weights_and_the_same_pieces(
    averaging: Path, sources: Sources, tmp_path: Path
) -> None:
    train_transformer(tmp_path, replace(AVERAGE, seed=2, n_steps=2), sources)
    assert (tmp_path / "source.spm").read_bytes() == (averaging / "source.spm").read_bytes()
    assert (tmp_path / "test.pairs.en").read_bytes() == (averaging / "test.pairs.en").read_bytes()
    assert _weights(tmp_path) != _weights(averaging)


def test_it_stops_early_with_the_best_weights(
    sources: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wild = replace(SETTINGS, learning_rate=0.5, n_warm_up_steps=1, n_steps=60, n_steps_per_checkpoint=1, patience=3)
    train_transformer(tmp_path, wild, sources)
    report = _report(tmp_path)
    losses = [loss for _, loss in report["held_out_losses"]]
    assert report["n_steps"] == len(losses) == losses.index(min(losses)) + 4 < 60
    # A second time there is nothing left to do.
    monkeypatch.setattr(loop, "_step", lambda *_: pytest.fail("it went on learning"))
    train_transformer(tmp_path, wild, sources)


def test_a_teacher(sources: Sources) -> None:
    told: list[str] = []

    def ask(sentences: Any) -> list[tuple[Translation, ...]]:
        texts = [None if n == 0 else f"dice {len(one)}" for n, one in enumerate(sentences)]
        return [(Translation("", text), Translation("", text, 1)) for text in texts]

    taught = replace(sources, teacher=Teacher("fake:teacher", ask))
    prepared = transformer_recipe.prepare(SETTINGS.direction, taught, replace(NO_CONTEXT, tell=told.append))
    plain = transformer_recipe.prepare(SETTINGS.direction, sources, NO_CONTEXT)
    assert all(line.target == f"dice {len(line.source)}" for line in prepared.lines)
    assert len(prepared.lines) == len({line.source for line in plain.lines}) - 1
    assert told == [f"1 sources of {len(prepared.lines) + 1:,} have no translation by fake:teacher, and are left out"]
    assert prepared.pieces.model == plain.pieces.model
    assert prepared.fingerprint != plain.fingerprint
    assert [part.valid for part in prepared.parts] == [part.valid for part in plain.parts]


def test_a_shallow_model_begins_with_layers_of_a_deep_one(made: Path) -> None:
    from gendermark.lab.torch_models import read_weights
    from gendermark.lab.transformer import Transformer

    pieces = transformer_recipe.read_pieces(made)
    deep = read_weights(made)
    shallow = Transformer(replace(SHAPE, n_encoder_layers=1), len(pieces.numbers))
    inherit(shallow, pieces, made)
    found = shallow.state_dict()
    assert bool((found["encoder.0.feed_forward.first.weight"] == deep["encoder.0.feed_forward.first.weight"]).all())
    assert bool((found["vectors.weight"] == deep["vectors.weight"]).all())
    for other, message in (
        (
            replace(SHAPE, width=16),
            "has width 32, not 16; a model can begin with the weights of one that differs in depth",
        ),
        (replace(SHAPE, n_decoder_layers=2), "has 1 layers in its decoder; a model of 2 cannot begin with them"),
    ):
        with pytest.raises(UserError, match=message):
            inherit(Transformer(other, len(pieces.numbers)), pieces, made)


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_checkpoints_that_do_not_fit(averaging: Path, sources: Sources, tmp_path: Path, text: str) -> None:
    checkpoint = tmp_path / "checkpoint.pt"
    for content in (b"", b"no checkpoint", (averaging / "checkpoint.pt").read_bytes()[:5000]):
        checkpoint.write_bytes(content)
        with pytest.raises(
            UserError, match=r"checkpoint\.pt: is not a checkpoint of a training; delete it to start afresh$"
        ):
            train_transformer(tmp_path, AVERAGE, sources)
    flipped = bytearray((averaging / "checkpoint.pt").read_bytes())
    flipped[len(flipped) // 2] ^= 1  # one bit of one weight: torch alone would go on with it
    checkpoint.write_bytes(flipped)
    with pytest.raises(UserError, match=r"checkpoint\.pt: is damaged; copy it again, or delete it to start afresh$"):
        train_transformer(tmp_path, AVERAGE, sources)
    assert checkpoint.read_bytes() == bytes(flipped)
    checkpoint.write_bytes((averaging / "checkpoint.pt").read_bytes())
    with pytest.raises(
        UserError, match=r"with other settings \(attention was average, n_steps was 40\); give the same"
    ):
        train_transformer(tmp_path, SETTINGS, sources)
    shorter = tmp_path / "pairs.tsv"
    shorter.write_text("".join(Path(text).read_text(encoding="utf-8").splitlines(keepends=True)[:-9]), encoding="utf-8")
    with pytest.raises(UserError, match=r"with other settings \(text was "):
        train_transformer(tmp_path, AVERAGE, replace(sources, pairs=[str(shorter)]))
    assert checkpoint.read_bytes() == (averaging / "checkpoint.pt").read_bytes()
    assert not list(tmp_path.glob("test.*")), "the held-out sentences of the training that it belongs to stay"


def test_too_little_memory(averaging: Path, sources: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "bytes_available", lambda: 2_000_000)
    with pytest.raises(UserError, match=r"^training this model needs about \d\.\d GB of memory, and 0\.0 GB are"):
        train_transformer(tmp_path, AVERAGE, sources)
    monkeypatch.undo()
    (tmp_path / "checkpoint.pt").write_bytes((averaging / "checkpoint.pt").read_bytes())

    def full(*_: Any) -> Any:
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.")

    from gendermark.lab.transformer import Transformer

    monkeypatch.setattr(Transformer, "forward", full)
    with pytest.raises(
        UserError, match=r"^not enough memory for a batch of 500 tokens at step 1; what was learnt up to"
    ):
        train_transformer(tmp_path / "other", AVERAGE, sources)


def test_a_full_disk(sources: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(loop.os, "fsync", full)
    monkeypatch.setattr(transformer_recipe.parallel, "write_held_out", lambda *_: [])
    with pytest.raises(
        UserError, match=r"checkpoint\.writing \(No space left on device\); when that is mended, give the same command"
    ):
        train_transformer(tmp_path, AVERAGE, sources)
    assert not (tmp_path / "checkpoint.writing").exists(), "half a checkpoint does not fill the disk further"

    def stopped(*_: Any) -> None:
        raise RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 287488 vs 287376")

    monkeypatch.setattr(loop.os, "fsync", stopped)
    monkeypatch.setattr(loop.shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
    monkeypatch.setattr(Checkpoint, "read", lambda _: None)
    (tmp_path / "checkpoint.pt").write_bytes(b"of before")
    with pytest.raises(
        UserError, match=r"checkpoint\.writing \(the disk is full\); the checkpoint before is kept; when"
    ):
        train_transformer(tmp_path, AVERAGE, sources)
    assert (tmp_path / "checkpoint.pt").read_bytes() == b"of before"


def test_a_model_that_is_not_one(averaging: Path, tmp_path: Path) -> None:
    def opened(place: Path, query: str = "") -> str:
        with pytest.raises(UserError) as caught:
            open_system(f"torch:{place}{query}")
        return str(caught.value)

    assert opened(tmp_path / "none").startswith(f"there is no directory {tmp_path / 'none'}; torch: takes one that")
    assert opened(tmp_path).endswith("it has no model.safetensors; copy it again")
    (tmp_path / "checkpoint.pt").touch()
    assert opened(tmp_path).endswith("its training is not finished: give the same command again")
    for name in ("model.safetensors", "gendermark.json", "vocab.json", "source.spm", "target.spm"):
        (tmp_path / name).write_bytes((averaging / name).read_bytes())
    (tmp_path / "model.safetensors").write_bytes(_weights(averaging)[:1000])
    assert "model.safetensors: does not have the weights of this model (" in opened(tmp_path)
    facts = json.loads((averaging / "gendermark.json").read_text(encoding="utf-8"))
    facts["architecture"]["n_decoder_layers"] = 2
    (tmp_path / "model.safetensors").write_bytes(_weights(averaging))
    (tmp_path / "gendermark.json").write_text(json.dumps(facts), encoding="utf-8")
    assert "model.safetensors: does not have the weights of this model (" in opened(tmp_path)
    (tmp_path / "gendermark.json").write_text("{}", encoding="utf-8")
    assert "gendermark.json: does not describe a model ('source_language')" in opened(tmp_path)
    (tmp_path / "vocab.json").write_text('{"a": 5}', encoding="utf-8")
    (tmp_path / "gendermark.json").write_text(json.dumps(facts), encoding="utf-8")
    assert "vocab.json: is not the vocabulary of a model; copy it again" in opened(tmp_path)
    assert opened(averaging, "?compute_type=int4") == (
        "option compute_type of torch: is one of float32, int8, not 'int4'"
    )
    assert opened(averaging, "?beams=2").startswith("system family torch has no option 'beams'; available: beam_size,")
    with (
        closing(open_system(f"torch:{averaging}")) as system,
        pytest.raises(UserError, match=r"translates en-es .* en-de"),
    ):
        system.check("en", "de", [])


def test_the_verb(made: Path, text: str, tmp_path: Path) -> None:
    shape = ["--architecture", "1,1", "--width", "16", "--heads", "2"]
    training = ["--steps", "3", "--warm-up", "1", "--batch-tokens", "300", "--held-out", "10"]
    basic = ["model", "--to", "es", "--pairs", text, *shape, *training]

    def refused(*arguments: str) -> str:
        found = CliRunner().invoke(verb.app, [*basic, "-o", str(tmp_path / "refused"), *arguments])
        assert isinstance(found.exception, UserError), found.output
        return str(found.exception)

    sampled = ["--teacher", f"torch:{made}", "--teacher-samples", "2", "--sampling", "epsilon=0.1,seed=3"]
    mixed = ["--mix", "grammar=0.2", "--stereotype", "2", "--pieces", str(made)]
    found = CliRunner(env={"GENDERMARK_CACHE": str(tmp_path / "cache")}).invoke(
        verb.app, [*basic, "--attention", "average", *mixed, *sampled, "-o", str(tmp_path / "model")]
    )
    assert found.exit_code == 0, found.output
    assert "BLEU, grammar, 10 held-out sentences, greedy" in found.stdout
    assert f"translate with torch:{tmp_path / 'model'}" in found.stderr.replace("\n", " ")
    assert _report(tmp_path / "model")["text"]["teacher"] == f"torch:{made}"
    assert (tmp_path / "model" / "source.spm").read_bytes() == (made / "source.spm").read_bytes()
    assert (tmp_path / "model" / "test.grammar.es").is_file()

    assert refused("--architecture", "six").startswith("unknown architecture 'six'; write the layers")
    assert refused("--mix", "novels=0.1").startswith("unknown text to mix in 'novels'; available: grammar")
    assert refused("--mix", "grammar=1") == "--mix takes a share above 0 and below 1, grammar=0.2 for example, not 1"
    assert refused("--sampling", "seed=1").startswith(
        "--teacher-samples and --sampling say what is learnt of a teacher"
    )
    assert refused("--self-train", "demo:en-es") == (
        "--self-train SYSTEM and --monolingual TEXT go together; give both or neither"
    )
    assert refused("--pieces", "nowhere") == (
        "there are no pieces in nowhere; --pieces takes the directory of a model, or its source.spm"
    )
    assert refused("--pieces", str(made / "vocab.json")).endswith(
        "is not a complete SentencePiece model; copy it again"
    )
    letters = tmp_path / "letters.tsv"
    letters.write_text("".join(f"{chr(0x4E00 + n)}\tx\n" for n in range(99)), encoding="utf-8")
    few = refused("--n-pieces", "50", "--pairs", str(letters))
    assert few.startswith(
        "50 pieces cannot be learnt from this text (Vocabulary size is smaller than required_chars. 50"
    )
    (tmp_path / "a file").touch()
    assert refused("-o", str(tmp_path / "a file")).endswith("is a file; choose a directory with -o")
