"""The recipe of a transformer of any shape on any parallel text: gather text, learn pieces, train, export, test.

All of it depends on the settings and the text alone, and everything is found again after a kill: checkpoints have the
weights (`loop.py`), the store of translations has what a teacher said.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gendermark import __version__
from gendermark.errors import BadFile, MissingExtra, UserError
from gendermark.io import locks
from gendermark.io.textfiles import read_bytes, write_lines, write_text
from gendermark.lab import parallel
from gendermark.lab.architectures import SELF, Architecture
from gendermark.lab.corpus import UNKNOWN, Corpus, Pieces, encode_pairs, train_pieces
from gendermark.lab.demo_recipe import PACKAGES, n_bytes, stretches
from gendermark.lab.documents import CONTEXT, check_context, read_documents
from gendermark.lab.export import bleu, round_to_16_bits, write_model
from gendermark.lab.inheritance import inherit
from gendermark.lab.loop import Checkpoint, Course, Progressed, reproducible, train
from gendermark.lab.marian import as_marian
from gendermark.lab.memory import check_memory
from gendermark.lab.parallel import GrammarMix, Line, Part
from gendermark.lab.self_training import NAME as SELF_TRAINING
from gendermark.lab.self_training import SelfTraining
from gendermark.lab.torch_models import CHECKPOINT_FILE, FACTS_FILE, MODEL_FILE
from gendermark.records import Translation
from gendermark.runs.run import NO_CONTEXT, RunContext
from gendermark.systems.engine import by_length, first_line, padded
from gendermark.systems.tokenisers import Direction

_LONGEST = 120
"""Pieces of a sentence to learn from; longer ones are left out."""
_TESTED_TOGETHER = 64
_COMPARED = 200


@dataclass(frozen=True)
class Settings:
    """Everything but the text that decides the weights."""

    direction: Direction
    architecture: Architecture
    seed: int = 1
    n_steps: int = 20_000
    tokens_per_batch: int = 3_000
    """Of source and target together, padding included."""
    learning_rate: float = 1.5e-3
    """The highest one, at the end of the warm-up."""
    n_warm_up_steps: int = 1_000
    n_steps_per_checkpoint: int = 500
    dropout: float = 0.1
    label_smoothing: float = 0.1
    patience: int = 0
    """After so many checkpoints without a lower loss on held-out pairs the training ends; 0: never."""
    init_from: Path | None = None
    """A deeper model whose weights this one begins with."""

    def to_json(self) -> dict[str, Any]:
        """Of a model to begin with, what counts is its content, wherever it lies."""
        settings = {**asdict(self), "direction": "-".join(self.direction), "init_from": None}
        if self.init_from is not None:
            settings["init_from"] = hashlib.sha256(read_bytes(self.init_from / MODEL_FILE)).hexdigest()[:16]
        return {name: value for name, value in settings.items() if name != "init_from" or value}


@dataclass(frozen=True)
class Teacher:
    """A system to learn from: what it says is learnt in the place of the given translations."""

    name: str
    ask: Callable[[Sequence[str]], Sequence[Sequence[Translation]]]
    """Its translations of each of some sources: its best one, or samples."""

    def teach(self, lines: Sequence[Line], tell: Callable[[str], None]) -> list[Line]:
        """The same sources in the same order, each once; what the teacher said twice of one is learnt once."""
        sources = list(dict.fromkeys(line.source for line in lines))
        taught, n_without = [], 0
        for source, said in zip(sources, self.ask(sources), strict=True):
            texts = [" ".join((one.text or "").split()) for one in said]
            found = list(dict.fromkeys(Line(source, text) for text in texts if text))
            taught += found
            n_without += not found
        if n_without:
            tell(f"{n_without:,} sources of {len(sources):,} have no translation by {self.name}, and are left out")
        return taught


@dataclass(frozen=True)
class Sources:
    """Where the text comes from, and what is done with it before anything is learnt."""

    pairs: Sequence[str]
    mix: GrammarMix | None = None
    test: str | None = None
    drop_test_pairs: bool = False
    n_test: int = 2_000
    """Held-out test sentences of each part, and half as many to tell when to stop."""
    n_pieces: int = 8_000
    pieces: Path | None = None
    """A directory with pieces to use; learnt from the text if None."""
    teacher: Teacher | None = None
    """Whose translations are learnt instead of the given ones."""
    documents: Sequence[str] = ()
    """Text in its order, of which two sentences at a time are learnt as well."""
    context: str = CONTEXT
    """How these two are joined."""
    self_training: SelfTraining | None = None
    """What else is learnt: translations that keep people's gender."""


@dataclass(frozen=True)
class Prepared:
    """What is learnt from, and what is held out."""

    parts: Sequence[Part]
    lines: Sequence[Line]
    pieces: Pieces
    corpus: Corpus
    valid: Corpus
    n_too_long: int
    fingerprint: str
    facts: Mapping[str, Any]
    """What else there is to say about the text: who taught it, what came of self-training."""


def train_transformer(
    directory: Path, settings: Settings, sources: Sources, context: RunContext = NO_CONTEXT
) -> dict[str, Any]:
    """Make the model in a directory, or what is left to do of it, and give its report (also `report.json` there)."""
    if any(find_spec(package) is None for package in PACKAGES):
        raise MissingExtra("training a model", "train")
    if directory.exists() and not directory.is_dir():
        raise UserError(f"{directory} is a file; choose a directory with -o")
    with locks.hold(directory / ".lock"), reproducible(settings.seed):
        Checkpoint(directory / CHECKPOINT_FILE, settings.to_json()).read()  # one that does not fit is refused now
        prepared = prepare(settings.direction, sources, context)
        check_memory(settings.architecture, len(prepared.pieces.numbers), settings.tokens_per_batch)
        checkpoint = Checkpoint(directory / CHECKPOINT_FILE, {**settings.to_json(), "text": prepared.fingerprint})
        checkpoint.read()
        parallel.write_held_out(prepared.parts, settings.direction, directory)
        _write_self_training(prepared.parts, directory)
        model, progressed = _learn(settings, prepared, checkpoint, context)
        return _finish(directory, settings, prepared, model, progressed)


def prepare(direction: Direction, sources: Sources, context: RunContext) -> Prepared:
    """Text, held-out sets and pieces; nothing is written."""
    if sources.documents:
        check_context(sources.context)
    if sources.self_training is not None:
        sources.self_training.check(direction)
    parts = [
        parallel.split(part, sources.n_test) for part in parallel.read_parts(sources.pairs, direction, context.tell)
    ]
    if sources.mix is not None:
        n_others = sum(len(part.train) for part in parts)
        with context.open_progress("generating pairs") as progress:
            parts.append(parallel.grammar_part(sources.mix, n_others, sources.n_test, direction, progress))
    parts, self_trained = _with_additions(parts, direction, sources, context)
    lines = parallel.mixed(parts, seed=0)
    if not lines:
        raise UserError(f"nothing is left of {', '.join(sources.pairs)} to train on; give more text")
    pieces = read_pieces(sources.pieces) if sources.pieces else _learn_pieces(lines, sources.n_pieces)
    if sources.documents:
        _check_separator(sources.context, pieces)
    if sources.teacher is not None:
        lines = sources.teacher.teach(lines, context.tell)
    everything = encode_pairs(lines, pieces)
    short = [i for i in range(len(lines)) if max(len(everything.sources[i]), len(everything.targets[i])) <= _LONGEST]
    lines = [lines[i] for i in short]
    if not lines:
        raise UserError(f"every sentence of {', '.join(sources.pairs)} has more than {_LONGEST} pieces; cut the text")
    corpus = Corpus([everything.sources[i] for i in short], [everything.targets[i] for i in short])
    valid = encode_pairs([line for part in parts for line in part.valid], pieces)
    n_too_long = len(everything.sources) - len(short)
    fingerprint = parallel.fingerprint(lines, pieces.model)
    facts = {
        "teacher": sources.teacher.name if sources.teacher else None,
        **({"context": sources.context} if sources.documents else {}),
        **({"self_training": self_trained} if self_trained else {}),
    }
    return Prepared(parts, lines, pieces, corpus, valid, n_too_long, fingerprint, facts)


def _with_additions(
    parts: Sequence[Part], direction: Direction, sources: Sources, context: RunContext
) -> tuple[list[Part], dict[str, Any]]:
    """The parts without what is held out, then sentences with the one before them, then what self-training keeps."""
    documents = [read_documents(text, direction) for text in sources.documents]
    clean = parallel.without_leaks([*parts, *(one.sentences for one in documents)])
    held_out = set().union(*(part.held_out for part in parts))
    if sources.test is not None:
        clean = parallel.without_test_set(clean, sources.test, drop=sources.drop_test_pairs)
        held_out |= parallel.test_keys(sources.test)
    found, allowed = clean[: len(parts)], clean[len(parts) :]
    for one, sentences in zip(documents, allowed, strict=True):
        found.append(one.joined(set(sentences.train), sources.context))
    if sources.self_training is None:
        return found, {}
    taught = {parallel.key(line.source) for part in found for line in part.train}
    part, counts = sources.self_training.part(direction, held_out | taught, context)
    return [*found, part], counts


def _check_separator(context: str, pieces: Pieces) -> None:
    separator = context.partition(":")[2]
    if pieces.numbers[UNKNOWN] in pieces.encode(separator):
        raise UserError(
            f"the pieces that are to be used have no sign for {separator!r}; choose another separator with --context, "
            "or leave out --pieces, so that they are learnt from this text"
        )


def _write_self_training(parts: Sequence[Part], directory: Path) -> None:
    """What was kept, to be looked at."""
    for part in parts:
        if part.name == SELF_TRAINING:
            write_lines(directory / f"{SELF_TRAINING}.tsv", ["\t".join(line) for line in part.train])


def _learn_pieces(lines: Sequence[Line], n_pieces: int) -> Pieces:
    try:
        return train_pieces(lines, n_pieces)
    except (RuntimeError, OSError) as problem:
        reason = first_line(problem).rpartition("] ")[2]  # behind the condition that was not met
        raise UserError(
            f"{n_pieces:,} pieces cannot be learnt from this text ({reason}); a larger --n-pieces or more text may help"
        ) from None


def read_pieces(place: Path) -> Pieces:
    """The pieces that another model of this recipe has."""
    path = place / "source.spm" if place.is_dir() else place
    if not path.is_file():
        raise UserError(f"there are no pieces in {place}; --pieces takes the directory of a model, or its source.spm")
    try:
        return Pieces(read_bytes(path))
    except RuntimeError:
        raise BadFile(path, "is not a complete SentencePiece model; copy it again") from None


def _learn(
    settings: Settings, prepared: Prepared, checkpoint: Checkpoint, context: RunContext
) -> tuple[Any, Progressed]:
    import torch
    from torch.nn import functional

    from gendermark.lab.transformer import Transformer

    pieces, corpus = prepared.pieces, prepared.corpus
    model = Transformer(settings.architecture, len(pieces.numbers), settings.dropout)
    model.initialise()
    if settings.init_from is not None:
        inherit(model, pieces, settings.init_from)
    weights = list(model.parameters())

    def losses(text: Corpus, batch: Sequence[int], label_smoothing: float, reduction: str) -> Any:
        rows = [torch.tensor(padded([side[i] for i in batch], pieces.pad)) for side in (text.sources, text.targets)]
        right = rows[1][rows[1] != pieces.pad]
        return functional.cross_entropy(model(*rows), right, reduction=reduction, label_smoothing=label_smoothing)

    def gradients(step: int, batch: Sequence[int]) -> tuple[float, Sequence[Any]]:
        torch.manual_seed(_number(settings.seed, step))  # dropout must not depend on what was drawn before
        loss = losses(corpus, batch, settings.label_smoothing, "mean")
        return loss.item(), torch.autograd.grad(loss, weights)

    valid_batches = by_length([len(row) for row in prepared.valid.targets], _TESTED_TOGETHER)
    n_valid = sum(map(len, prepared.valid.targets))

    def held_out_loss() -> float:
        with torch.no_grad():
            return float(sum(losses(prepared.valid, batch, 0.0, "sum").item() for batch in valid_batches) / n_valid)

    optimizer = torch.optim.Adam(weights, lr=settings.learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=True)
    batches = corpus.batches(settings.seed, settings.tokens_per_batch)
    course = Course(
        model,
        weights,
        batches,
        gradients,
        held_out_loss=held_out_loss if n_valid else None,
        patience=settings.patience,
    )
    with context.open_progress(f"training {settings.architecture.name}, steps") as progress:
        return model, train(course, settings, checkpoint, optimizer, progress)


def _number(seed: int, step: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/{step}".encode()).digest()[:7], "big")


def _finish(
    directory: Path, settings: Settings, prepared: Prepared, model: Any, progressed: Progressed
) -> dict[str, Any]:
    from safetensors.torch import save

    architecture, pieces, direction = settings.architecture, prepared.pieces, settings.direction
    round_to_16_bits(model.parameters())
    pieces.write(directory)
    weights = {name: weight.half() for name, weight in model.state_dict().items()}
    (directory / MODEL_FILE).write_bytes(save(weights))
    facts = {
        "source_language": direction[0],
        "target_language": direction[1],
        "architecture": architecture.to_json(),
        **{name: value for name, value in prepared.facts.items() if name == "context"},
    }
    write_text(directory / FACTS_FILE, json.dumps(facts, indent=2) + "\n")
    translated = {part.name: greedy(model, pieces, [line.source for line in part.test]) for part in prepared.parts}
    report = {
        "recipe": settings.to_json(),
        "text": {
            "fingerprint": prepared.fingerprint,
            **prepared.facts,
            "n_pairs": {part.name: len(part.train) for part in prepared.parts},
            "n_target_pieces": sum(map(len, prepared.corpus.targets)),
            "n_too_long": prepared.n_too_long,
        },
        "n_parameters": architecture.n_parameters(len(pieces.numbers)),
        "n_pieces": len(pieces.numbers) - 1,
        "n_steps": len(progressed.losses),
        "losses": stretches(progressed.losses),
        "held_out_losses": progressed.held_out,
        "tests": {
            part.name: {
                "n": len(part.test),
                "bleu": round(bleu(translated[part.name], [line.target for line in part.test]), 2),
            }
            for part in prepared.parts
            if part.test
        },
        "seconds": {"training": round(progressed.seconds, 1), "training_cpu": round(progressed.cpu_seconds, 1)},
        **_exported(directory, settings, prepared, model, translated),
        "versions": {
            "python": platform.python_version(),
            "gendermark": __version__,
            **{package: version(package) for package in (*PACKAGES, "sacrebleu")},
        },
    }
    write_text(directory / "report.json", json.dumps(report, indent=2) + "\n")
    return report


def _exported(
    directory: Path, settings: Settings, prepared: Prepared, model: Any, translated: dict[str, list[str]]
) -> dict[str, Any]:
    """The other forms of the model, and how often CTranslate2 says the same as we do."""
    own = {"torch": (directory / MODEL_FILE).stat().st_size}
    if settings.architecture.attention != SELF:
        return {"bytes": own, "not_exported": "CTranslate2 and Transformers have no average attention; use torch:DIR"}
    exported = write_model(as_marian(model, prepared.pieces), prepared.pieces, directory, settings.direction)
    sources = [line.source for part in prepared.parts for line in part.test][:_COMPARED]
    ours = [text for part in prepared.parts for text in translated[part.name]][:_COMPARED]
    results = exported.ctranslate2.translate_batch(
        [exported.pieces.cut(source) for source in sources], beam_size=1, max_decoding_length=256
    )
    theirs = [exported.pieces.join(result.hypotheses[0]) for result in results]
    n_same = sum(a == b for a, b in zip(ours, theirs, strict=True))
    return {
        "bytes": {**own, **{name: n_bytes(directory / name) for name in ("hf", "ctranslate2")}},
        "same_greedy_in_ctranslate2": {"n": len(ours), "share": round(n_same / len(ours), 4) if ours else None},
    }


def greedy(model: Any, pieces: Pieces, sources: Sequence[str]) -> list[str]:
    """The greedy translations of sentences, in their order."""
    from gendermark.lab.searching import Search

    search, words = Search(model, pieces.end, beam_size=1), list(pieces.numbers)
    rows = [pieces.encode(source) for source in sources]
    found = [""] * len(rows)
    for places in by_length([len(row) for row in rows], _TESTED_TOGETHER):
        for place, one in zip(places, search.translate([rows[place] for place in places]), strict=True):
            found[place] = pieces.join([words[number] for number in one.words])
    return found
