"""Transformers of any shape, on models of seconds: trainings resume bit for bit, and all engines say the same."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest

from gendermark.errors import UserError
from gendermark.lab import loop
from gendermark.lab.torch_models import ATTENTIONS, Architecture, read_weights, trained_facts
from gendermark.lab.train_model import Settings, inherit, prepare, read_pieces, train_transformer
from gendermark.records import Request, Translation
from gendermark.runs.run import NO_CONTEXT, RunContext
from gendermark.systems.engine import padded
from gendermark.systems.system import System, open_system
from lab.conftest import Command

for _package in loop.PACKAGES:
    pytest.importorskip(_package)
torch: Any = pytest.importorskip("torch")

from gendermark.lab.transformer import Search, Transformer  # noqa: E402

SUBJECTS = {"my aunt": "mi tía", "your uncle": "tu tío", "the cook": "la cocinera", "a pilot": "un piloto"}
VERBS = {"paints": "pinta", "buys": "compra", "sells": "vende", "sees": "ve"}
OBJECTS = {"a boat": "un barco", "the red house": "la casa roja", "two chairs": "dos sillas", "the moon": "la luna"}
TIMES = {"today": "hoy", "tomorrow": "mañana", "every day": "cada día", "in May": "en mayo", "at night": "de noche"}
SMALL: dict[str, Any] = {
    "architecture": "2,1",
    "width": 32,
    "heads": 2,
    "feed_forward": 64,
    "n_pieces": 90,
    "n_test": 16,
    "n_steps": 70,
    "tokens_per_batch": 500,
    "learning_rate": 1e-2,
    "n_warm_up_steps": 15,
    "n_steps_per_checkpoint": 20,
    "dropout": 0.05,
}
AVERAGE = {**SMALL, "attention": "average", "n_steps": 40}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A language so small that a model learns it in seconds."""
    path = tmp_path_factory.mktemp("text") / "pairs.tsv"
    every = product(*(words.items() for words in (SUBJECTS, VERBS, OBJECTS, TIMES)))
    rows = [[" ".join(side) for side in zip(*chosen, strict=True)] for chosen in every]
    path.write_text("".join(f"{english}.\t{spanish}.\tby us\n" for english, spanish in rows), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def made(text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished training with self-attention. Not to be written to."""
    directory = tmp_path_factory.mktemp("recipe") / "self"
    train_transformer(Settings("es", directory, (text,), **SMALL))
    return directory


@pytest.fixture(scope="module")
def averaging(text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("recipe") / "average"
    train_transformer(Settings("es", directory, (text,), **AVERAGE))
    return directory


@pytest.fixture
def average(text: str, tmp_path: Path) -> Settings:
    """The settings of `averaging`, for another directory."""
    return Settings("es", tmp_path / "model", (text,), **AVERAGE)


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


def _translated(spec: str, sentences: list[str]) -> list[Translation]:
    with closing(open_system(spec)) as system:
        return _asked(system, [Request(sentence, "en", "es") for sentence in sentences])


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
    prepared = prepare(Settings("es", made, (text,), **SMALL), NO_CONTEXT)
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
    beam, theirs = _translated(f"torch:{made}", sentences), _translated(converted, sentences)
    assert [answer.text for answer in beam] == [answer.text for answer in theirs]
    # Eight bits change little.
    small = _translated(f"torch:{made}?beam_size=1&compute_type=int8", sentences)
    assert any(a.log_probability != b.log_probability for a, b in zip(greedy, small, strict=True))
    assert sum(a == b.text for a, b in zip(texts, small, strict=True)) > len(sentences) / 2


# -- resuming ----------------------------------------------------------------------------------------------------------

KILLED = """
import json, os, signal, sys
from pathlib import Path
import torch
from gendermark.lab.train_model import Settings, train_transformer

save, n_saved = torch.save, 0

def die_at_the_second(state, path):
    global n_saved
    n_saved += 1
    save(state, path)
    if n_saved == 2:
        os.kill(os.getpid(), signal.SIGKILL)

torch.save = die_at_the_second
train_transformer(Settings("es", Path(sys.argv[1]), (sys.argv[2],), **json.loads(sys.argv[3])))
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


@pytest.mark.slow
def test_a_training_killed_while_it_writes(averaging: Path, text: str, average: Settings) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, average.output, text, json.dumps(AVERAGE)], check=False)
    assert killed.returncode == -signal.SIGKILL
    seen: list[int] = []
    train_transformer(average, _steps_seen(seen))
    assert seen[0] == 20  # where the last whole checkpoint was
    assert _weights(average.output) == _weights(averaging)


def test_a_training_stopped_at_any_step(averaging: Path, average: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for stop_at, seconds in ((7, 1000.0), (23, 1000.0), (31, 0.0), (39, 0.0)):
        monkeypatch.setattr(loop, "SECONDS_PER_CHECKPOINT", seconds)
        with pytest.raises(KeyboardInterrupt):
            train_transformer(average, _steps_seen([], stop_at))
    seen: list[int] = []
    train_transformer(average, _steps_seen(seen))
    assert seen == [39, 40]
    assert _weights(average.output) == _weights(averaging)
    for name in ("held_out_losses", "losses"):
        assert _report(average.output)[name] == _report(averaging)[name]


def test_it_stops_early_with_the_best_weights(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wild = {"learning_rate": 0.5, "n_warm_up_steps": 1, "n_steps": 60, "n_steps_per_checkpoint": 1, "patience": 3}
    settings = Settings("es", tmp_path, (text,), **{**SMALL, **wild})
    train_transformer(settings)
    report = _report(tmp_path)
    losses = [loss for _, loss in report["held_out_losses"]]
    assert report["n_steps"] == len(losses) == losses.index(min(losses)) + 4 < 60
    # A second time there is nothing left to do.
    monkeypatch.setattr(loop, "_step", lambda *_: pytest.fail("it went on learning"))
    train_transformer(settings)


# -- teachers and text that is added -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("_toys")
def test_a_teacher(average: Settings, tmp_path: Path) -> None:
    plain = prepare(average, NO_CONTEXT)
    sources = list(dict.fromkeys(line.source for line in plain.lines))
    said = {source: "" if n == 0 else f"dice {len(source)}" for n, source in enumerate(sources)}
    (tmp_path / "said").write_text("".join(f"{a}\t{b}\n" for a, b in said.items()), encoding="utf-8")
    notes: list[str] = []
    taught = replace(average, teacher=f"said:{tmp_path / 'said'}", teacher_samples=2)
    prepared = prepare(taught, replace(NO_CONTEXT, tell=notes.append))
    assert [tuple(line) for line in prepared.lines] == [pair for pair in said.items() if pair[1]]
    assert any(f"1 of {len(sources):,} sources" in note for note in notes)
    assert prepared.pieces.model == plain.pieces.model
    assert prepared.fingerprint != plain.fingerprint
    assert [part.valid for part in prepared.parts] == [part.valid for part in plain.parts]


@pytest.mark.usefixtures("_toys")
def test_documents_and_self_training_are_learnt_beside_the_pairs(average: Settings, tmp_path: Path) -> None:
    said = {"My aunt is a mechanic.": "Mi tía es mecánica.", "My uncle is a nurse.": "Mi tío es enfermero."}
    lines = ["\t".join(pair) for pair in said.items()]
    (tmp_path / "said").write_text("\n".join(lines) + "\n", encoding="utf-8")
    story = tmp_path / "story.tsv"
    story.write_text("She left.\tSe fue.\nThe nurse slept.\tLa enfermera dormía.\n", "utf-8")
    own = {"self_train": f"said:{tmp_path / 'said'}", "monolingual": (str(tmp_path / "said"),), "n_steps": 4}
    added = replace(average, **own, documents=(str(story),))
    report = train_transformer(added)
    assert report["text"]["n_pairs"]["story+context"] == 1
    assert report["text"]["n_pairs"]["self-training"] == 2
    assert report["text"]["self_training"]["n_kept_of_each"] == 1
    assert sorted((added.output / "self-training.tsv").read_text(encoding="utf-8").splitlines()) == sorted(lines)
    facts = trained_facts(f"torch:{added.output}")
    assert facts["context"] == report["text"]["context"] == "separator:<sep>"
    assert facts["self_training"] == report["text"]["self_training"]
    assert sorted(path.name for path in added.output.glob("test.*")) == ["test.pairs.en", "test.pairs.es"]
    other = replace(added, output=tmp_path / "n", pieces=added.output, context="separator:§")
    with pytest.raises(UserError, match="'§'"):
        train_transformer(other)
    with pytest.raises(UserError, match="2 training pairs have a source of the test set"):
        train_transformer(replace(added, output=tmp_path / "n", test=str(story)))


def test_a_shallow_model_begins_with_layers_of_a_deep_one(made: Path, text: str) -> None:
    shape = Settings("es", made, (text,), **SMALL).shape
    pieces, deep = read_pieces(made), read_weights(made)
    shallow = Transformer(replace(shape, n_encoder_layers=1), len(pieces.numbers))
    inherit(shallow, pieces, made)
    found = shallow.state_dict()
    for name in ("encoder.0.feed_forward.first.weight", "vectors.weight"):
        assert bool((found[name] == deep[name]).all())
    for change, words in (({"width": 16}, "width 32, not 16"), ({"n_decoder_layers": 2}, "1 layers in its decoder")):
        with pytest.raises(UserError, match=words):
            inherit(Transformer(replace(shape, **change), len(pieces.numbers)), pieces, made)


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_checkpoints_that_do_not_fit(averaging: Path, average: Settings, tmp_path: Path, text: str) -> None:
    average.output.mkdir()
    checkpoint, whole = average.output / "checkpoint.pt", (averaging / "checkpoint.pt").read_bytes()
    flipped = bytearray(whole)
    flipped[len(flipped) // 2] ^= 1  # one bit of one weight: torch alone would go on with it
    shorter = tmp_path / "pairs.tsv"
    shorter.write_text("".join(Path(text).read_text(encoding="utf-8").splitlines(keepends=True)[:-9]), encoding="utf-8")
    for content, changed, words in (
        (b"", {}, "is not a whole checkpoint"),
        (whole[:5000], {}, "is not a whole checkpoint"),
        (bytes(flipped), {}, "is not a whole checkpoint"),
        (whole, {"attention": "self", "n_steps": 70}, "attention was average"),
        (whole, {"pairs": (str(shorter),)}, r"\(text was "),
    ):
        checkpoint.write_bytes(content)
        with pytest.raises(UserError, match=words):
            train_transformer(replace(average, **changed))
        assert checkpoint.read_bytes() == content
    assert not list(average.output.glob("test.*")), "the held-out sentences of the training that it belongs to stay"


def test_a_model_that_is_not_one(averaging: Path, tmp_path: Path) -> None:
    def refused(words: str, place: Path = tmp_path, query: str = "") -> None:
        with pytest.raises(UserError, match=words):
            open_system(f"torch:{place}{query}")

    refused("there is no directory", tmp_path / "none")
    refused(r"no model\.safetensors")
    (tmp_path / "checkpoint.pt").touch()
    refused("training is not finished")
    names = ("model.safetensors", "gendermark.json", "vocab.json", "source.spm", "target.spm")
    files = {name: (averaging / name).read_bytes() for name in names}
    deeper = files["gendermark.json"].replace(b'"n_decoder_layers": 1', b'"n_decoder_layers": 2')
    for name, content, words in (
        ("model.safetensors", files["model.safetensors"][:1000], "does not have the weights"),
        ("gendermark.json", deeper, "does not have the weights"),
        ("gendermark.json", b"{}", "source_language"),
        ("vocab.json", b'{"a": 5}', r"vocab\.json"),
    ):
        for other, right in files.items():
            (tmp_path / other).write_bytes(right)
        (tmp_path / name).write_bytes(content)
        refused(words)
    refused("'int4'", averaging, "?compute_type=int4")
    refused("'beams'", averaging, "?beams=2")
    with closing(open_system(f"torch:{averaging}")) as system:
        assert system.decoding == "beam5,float32"
        with pytest.raises(UserError, match="en-de"):
            system.check("en", "de", [])


def test_the_command(made: Path, text: str, tmp_path: Path, cli: Command) -> None:
    few = tmp_path / "few.tsv"
    few.write_text("".join(Path(text).read_text("utf-8").splitlines(keepends=True)[:60]), encoding="utf-8")
    shape = ("--architecture", "1,1", "--width", "16", "--heads", "2")
    training = ("--steps", "3", "--warm-up", "1", "--batch-tokens", "300", "--held-out", "10")

    def train(output: Path, *more: str | Path) -> Any:
        return cli("train", "model", "--to", "es", "--pairs", few, *shape, *training, "-o", output, *more)

    sampled = ("--teacher", f"torch:{made}?max_length=20", "--teacher-samples", "2", "--sampling", "epsilon=0.1,seed=3")
    mixed = ("--mix", "grammar=0.1", "--stereotype", "2", "--pieces", made)
    found = train(tmp_path / "model", "--attention", "average", *mixed, *sampled)
    assert found.exit_code == 0, found.err
    assert "BLEU, grammar, 10 held-out sentences, greedy" in found.out
    assert f"torch:{tmp_path / 'model'}" in found.err
    assert _report(tmp_path / "model")["text"]["teacher"] == sampled[1]
    assert (tmp_path / "model" / "source.spm").read_bytes() == (made / "source.spm").read_bytes()
    assert (tmp_path / "model" / "test.grammar.es").is_file()
    letters = tmp_path / "letters.tsv"
    letters.write_text("".join(f"{chr(0x4E00 + n)}\tx\n" for n in range(99)), encoding="utf-8")
    (tmp_path / "file").touch()
    for arguments, words in (
        (("--architecture", "six"), "'six'"),
        (("--mix", "novels=0.1"), "'novels'"),
        (("--device", "gpu"), "'gpu'"),
        (("--mix", "grammar=1"), "not 1"),
        (("--sampling", "seed=1"), "--teacher"),
        (("--self-train", "demo:en-es"), "--monolingual"),
        (("--pieces", "nowhere"), "nowhere"),
        (("--pieces", made / "vocab.json"), "vocab.json"),
        (("--n-pieces", "50", "--pairs", letters), "required_chars"),
        (("-o", tmp_path / "file"), "is a file"),
    ):
        train(tmp_path / "refused", *arguments).is_refusal(words)


# -- the network -------------------------------------------------------------------------------------------------------

N_WORDS, END = 7, 0
PAD = N_WORDS - 1
SOURCES = [[1, 2, 3, 4, END], [5, END], [2, 2, 4, END]]
TARGETS = [[3, 3, END], [1, 2, 3, 4, 5, END], [4, END]]


def _model(attention: str, shape: tuple[int, int] = (2, 2), spread: float = 4.0, seed: int = 3) -> Transformer:
    torch.manual_seed(seed)
    model = Transformer(Architecture(*shape, attention, width=16, n_heads=2, feed_forward=24), N_WORDS)
    model.initialise()
    with torch.no_grad():
        model.vectors.weight *= spread  # else every answer is about as likely as any other
    return model.eval()


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_word_by_word_as_whole_sentences(attention: str) -> None:
    model = _model(attention)
    sources, targets = torch.tensor(padded(SOURCES, PAD)), torch.tensor(padded(TARGETS, PAD))
    with torch.no_grad():
        whole = model(sources, targets)
        memory, state, last, steps = model.read(sources), model.begin(), torch.full((3, 1), PAD), []
        for place in range(targets.shape[1]):
            logits, state = model.step(last, state, memory)
            steps.append(logits[:, 0])
            last = targets[:, place : place + 1]
    by_word = torch.stack(steps, dim=1)[targets != PAD]
    assert whole.shape == (sum(map(len, TARGETS)), N_WORDS - 1)
    assert torch.allclose(by_word, whole, atol=1e-5)
    alone = torch.cat([model(torch.tensor([s]), torch.tensor([t])) for s, t in zip(SOURCES, TARGETS, strict=True)])
    assert torch.allclose(alone, whole, atol=1e-5)  # padding has no say
    later = torch.tensor(padded([[*TARGETS[0][:1], 5, 5], *TARGETS[1:]], PAD))
    assert torch.equal(model(sources, later)[0], whole[0])  # nor has what comes later


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_a_wide_search_finds_the_best_of_all_translations(attention: str) -> None:
    longest, words = 4, range(1, N_WORDS - 1)
    every = [[*said, END] for n in range(1, longest) for said in product(words, repeat=n)]
    every += [list(said) for said in product(words, repeat=longest)]
    n_greedy = 0
    for seed in range(4):
        model = _model(attention, spread=2.0, seed=seed)
        wide, narrow = (Search(model, END, size, longest).translate(SOURCES) for size in (len(every), 1))
        for source, found, greedy in zip(SOURCES, wide, narrow, strict=True):
            with torch.no_grad():
                logits = model(torch.tensor([source] * len(every)), torch.tensor(padded(every, PAD)))
            by_word = logits.log_softmax(-1)[torch.arange(len(logits)), torch.tensor([*chain(*every)])]
            scores = [float(part.mean()) for part in by_word.split([len(said) for said in every])]
            best = max(range(len(every)), key=scores.__getitem__)
            assert [*found.words, *[END] * found.ended] == every[best]
            assert found.score(1.0) == pytest.approx(scores[best], abs=1e-5)
            n_greedy += greedy.words == found.words
    assert n_greedy < 4 * len(SOURCES), "if greed finds them all, nothing is proven"
