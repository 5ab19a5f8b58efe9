"""The recipe of a transformer of any shape on any parallel text: gather text, train a tokeniser, train, export, test.

It depends on settings and text alone, and resumes after a kill: checkpoints have the weights (`loop.py`), the store has
a teacher's translations.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from gendermark import api
from gendermark.cli.options import ResumedIn, language, option_group, sampling_pairs
from gendermark.cli.terminal import AsJson, print_json, print_table, say, show_progress
from gendermark.errors import BadFile, UserError, first_line
from gendermark.io.textfiles import read_bytes, write_json, write_lines
from gendermark.lab import loop, torch_models
from gendermark.lab import training_text as text
from gendermark.lab.corpus import UNKNOWN, Corpus, Pieces, encode_pairs, train_pieces
from gendermark.lab.export import as_marian, bleu, greedy, n_bytes, round_to_16_bits, write_model
from gendermark.lab.studies import Texts
from gendermark.lab.torch_models import MODEL_FILE, Architecture, read_facts
from gendermark.lab.training_text import Line, Part
from gendermark.runs.run import NO_CONTEXT, RunContext
from gendermark.systems.engine import by_length, padded
from gendermark.systems.huggingface import device_of
from gendermark.systems.tokenisers import Direction

_LONGEST = 120
"""Pieces of a training sentence; longer ones are left out."""
_TESTED_TOGETHER = 64
_COMPARED = 200
_DEEPEST = 48
_DEPTHS = re.compile(r"([1-9]\d?) *, *([1-9]\d?)")
_LAYER = re.compile(r"(encoder|decoder)\.(\d+)\.(.+)")


@dataclass(frozen=True)
class Settings:
    target_language: Annotated[str, Option("--to", callback=language, help="Target language.")]
    output: ResumedIn
    pairs: Texts
    source_language: Annotated[str, Option("--from", callback=language, help="Source language.")] = "en"
    mix: str | None = None
    stereotype: float = 1.0
    architecture: str = "6,6"
    attention: str = "self"
    width: int = 128
    heads: int = 4
    feed_forward: int | None = None
    pieces: Path | None = None
    n_pieces: int = 8_000
    test: str | None = None
    drop_test_pairs: bool = False
    n_test: int = 2_000
    n_steps: int = 20_000
    tokens_per_batch: int = 3_000
    learning_rate: float = 1.5e-3
    n_warm_up_steps: int = 1_000
    n_steps_per_checkpoint: int = 500
    dropout: float = 0.1
    label_smoothing: float = 0.1
    patience: int = 0
    until_loss: float = 0.0
    teacher: str | None = None
    teacher_samples: int = 0
    sampling: Texts = ()
    documents: Texts = ()
    context: str = text.CONTEXT
    self_train: str | None = None
    monolingual: Texts = ()
    init_from: Path | None = None
    seed: int = 1
    device: str = "cpu"

    @property
    def direction(self) -> Direction:
        return self.source_language, self.target_language

    @property
    def shape(self) -> Architecture:
        found = _DEPTHS.fullmatch(self.architecture.strip())
        if found is None or max(map(int, found.groups())) > _DEEPEST:
            raise UserError(
                f"unknown architecture {self.architecture!r}; write the layers of encoder and decoder, 6,6 or 10,2 or "
                f"6,2 for example, at most {_DEEPEST} each"
            )
        inner = self.feed_forward or 4 * self.width
        return Architecture(int(found[1]), int(found[2]), self.attention, self.width, self.heads, inner)

    def recipe(self) -> dict[str, Any]:
        """Return the settings that determine the weights, besides the text; an initial model counts by its content."""
        named = ("seed", "n_steps", "tokens_per_batch", "learning_rate", "n_warm_up_steps", "n_steps_per_checkpoint")
        found = {
            "direction": "-".join(self.direction),
            "architecture": asdict(self.shape),
            **{name: getattr(self, name) for name in (*named, "dropout", "label_smoothing", "patience")},
        }
        if self.until_loss:
            found["until_loss"] = self.until_loss
        if self.device != "cpu":
            found["device"] = self.device
        if self.init_from is not None:
            found["init_from"] = hashlib.sha256(read_bytes(self.init_from / MODEL_FILE)).hexdigest()[:16]
        return found


def train_transformer(settings: Settings, run_context: RunContext = NO_CONTEXT) -> dict[str, Any]:
    """Make the model in its directory, or finish it, and return its report (also `report.json` there)."""
    loop.require_packages("training a model")
    directory, recipe = settings.output, settings.recipe()
    device = device_of({"device": settings.device})
    if (settings.teacher_samples or settings.sampling) and settings.teacher is None:
        raise UserError("--teacher-samples and --sampling need --teacher SYSTEM")
    if bool(settings.self_train) != bool(settings.monolingual):
        raise UserError("--self-train SYSTEM and --monolingual TEXT go together; give both or neither")
    with loop.claimed(directory, settings.seed):
        path = directory / torch_models.CHECKPOINT_FILE
        loop.Checkpoint(path, recipe).read()  # refuse an incompatible one now
        prepared = prepare(settings, run_context)
        checkpoint = loop.Checkpoint(path, {**recipe, "text": prepared.fingerprint})
        checkpoint.read()
        text.write_held_out(prepared.parts, settings.direction, directory)
        for part in prepared.parts:
            if part.name == text.SELF_TRAINING:  # its sentences may be inspected
                write_lines(directory / f"{part.name}.tsv", ["\t".join(line) for line in part.train])
        model, progressed = _learn(settings, prepared, checkpoint, device, run_context)
        return _finish(settings, prepared, model.cpu(), progressed)


# -- the text ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prepared:
    parts: Sequence[Part]
    lines: Sequence[Line]
    pieces: Pieces
    corpus: Corpus
    valid: Corpus
    n_too_long: int
    fingerprint: str
    facts: Mapping[str, Any]


def prepare(settings: Settings, run_context: RunContext) -> Prepared:
    """Text, held-out sets and tokeniser; nothing is written."""
    if settings.documents:
        text.check_context(settings.context)
    if settings.self_train is not None:
        text.check_self_training(settings.direction)
    read = text.read_parts(settings.pairs, settings.direction, run_context.tell)
    parts = [text.split(part, settings.n_test) for part in read]
    if settings.mix is not None:
        share, n_others = text.parse_share(settings.mix), sum(len(part.train) for part in parts)
        sizes = (share, settings.stereotype, n_others, settings.n_test)
        with run_context.open_progress("generating pairs") as progress:
            parts.append(text.grammar_part(*sizes, settings.direction, progress))
    parts, self_trained = _with_additions(parts, settings, run_context)
    lines = text.mixed(parts, seed=0)
    if not lines:
        raise UserError(f"no pairs of {', '.join(settings.pairs)} are left to train on; give more text")
    given, n_pieces = settings.pieces or settings.init_from, settings.n_pieces
    try:
        pieces = read_pieces(given) if given else train_pieces(lines, n_pieces)
    except (RuntimeError, OSError) as problem:
        reason = first_line(problem).rpartition("] ")[2]  # after the condition that was not met
        raise UserError(
            f"{n_pieces:,} pieces cannot be learnt from this text ({reason}); a larger --n-pieces or more text may help"
        ) from None
    separator = settings.context.partition(":")[2]
    if settings.documents and pieces.numbers[UNKNOWN] in pieces.encode(separator):
        raise UserError(
            f"the given pieces cannot write {separator!r}; choose another separator with --context, or leave out "
            "--pieces to learn new ones from this text"
        )
    if settings.teacher is not None:
        lines = _taught(lines, settings, run_context)
    everything = encode_pairs(lines, pieces)
    encoded = zip(lines, everything.sources, everything.targets, strict=True)
    short = [row for row in encoded if max(map(len, row[1:])) <= _LONGEST]
    if not short:
        raise UserError(
            f"every sentence of {', '.join(settings.pairs)} has more than {_LONGEST} pieces; split the text"
        )
    facts = {
        "teacher": settings.teacher,
        **({"context": settings.context} if settings.documents else {}),
        **({"self_training": self_trained} if self_trained else {}),
    }
    kept, sources, targets = zip(*short, strict=True)
    return Prepared(
        parts,
        kept,
        pieces,
        Corpus(sources, targets),
        encode_pairs([line for part in parts for line in part.valid], pieces),
        len(lines) - len(kept),
        text.fingerprint(kept, pieces.model),
        facts,
    )


def _with_additions(
    parts: Sequence[Part], settings: Settings, run_context: RunContext
) -> tuple[list[Part], dict[str, Any]]:
    """The parts without held-out sentences, then sentences in context, then accepted self-training pairs."""
    documents = [text.read_documents(one, settings.direction) for one in settings.documents]
    held_out = set().union(*(part.held_out for part in parts))
    clean = text.without([*parts, *(one.sentences for one in documents)], held_out)
    if settings.test is not None:
        tested = text.read_test_keys(settings.test, clean, drop=settings.drop_test_pairs)
        clean, held_out = text.without(clean, tested), held_out | tested
    found, allowed = clean[: len(parts)], clean[len(parts) :]
    for one, sentences in zip(documents, allowed, strict=True):
        found.append(one.joined(set(sentences.train), settings.context))
    if settings.self_train is None:
        return found, {}
    away = held_out | {text.key(line.source) for part in found for line in part.train}
    asking = api.Asking(settings.target_language, settings.source_language)
    ask = partial(api.translate, settings.self_train, asking=asking, context=run_context)
    part, counts = text.self_training_part(
        settings.self_train, ask, settings.monolingual, settings.direction, away, run_context.tell
    )
    return [*found, part], counts


def _taught(lines: Sequence[Line], settings: Settings, run_context: RunContext) -> list[Line]:
    """Replace translations by the teacher's; sources keep their order, and duplicates are kept once."""
    assert settings.teacher is not None
    sources = list(dict.fromkeys(line.source for line in lines))
    languages, sampling = (settings.target_language, settings.source_language), sampling_pairs(settings.sampling)
    asking = api.Asking(*languages, settings.teacher_samples, sampling)
    taught: list[Line] = []
    n_without = 0
    every = api.translate(settings.teacher, sources, asking, context=run_context)
    for source, answers in zip(sources, every, strict=True):
        texts = [" ".join((one.text or "").split()) for one in answers]
        found = list(dict.fromkeys(Line(source, one) for one in texts if one))
        taught += found
        n_without += not found
    if n_without:
        run_context.tell(
            f"{n_without:,} of {len(sources):,} sources have no translation by {settings.teacher}; left out"
        )
    return taught


def read_pieces(place: Path) -> Pieces:
    path = place / "source.spm" if place.is_dir() else place
    if not path.is_file():
        raise UserError(f"there are no pieces in {place}; --pieces takes the directory of a model, or its source.spm")
    try:
        return Pieces(read_bytes(path))
    except RuntimeError:
        raise BadFile(path, "is not a complete SentencePiece model; copy it again") from None


# -- training ----------------------------------------------------------------------------------------------------------


def _learn(
    settings: Settings, prepared: Prepared, checkpoint: loop.Checkpoint, device: str, run_context: RunContext
) -> tuple[Any, loop.Progressed]:
    import torch
    from torch.nn import functional

    from gendermark.lab.transformer import Transformer

    pieces, corpus = prepared.pieces, prepared.corpus
    model = Transformer(settings.shape, len(pieces.numbers), settings.dropout)
    model.initialise()
    if settings.init_from is not None:
        inherit(model, pieces, settings.init_from)
    weights = list(model.to(device).parameters())

    def losses(pairs: Corpus, batch: Sequence[int], label_smoothing: float, reduction: str) -> Any:
        both = (padded([side[i] for i in batch], pieces.pad) for side in (pairs.sources, pairs.targets))
        sources, targets = (torch.tensor(rows, device=device) for rows in both)
        right = targets[targets != pieces.pad]
        logits = model(sources, targets)
        return functional.cross_entropy(logits, right, reduction=reduction, label_smoothing=label_smoothing)

    def gradients(step: int, batch: Sequence[int]) -> tuple[float, Sequence[Any]]:
        torch.manual_seed(_number(settings.seed, step))  # dropout must not depend on previous draws
        loss = losses(corpus, batch, settings.label_smoothing, "mean")
        return loss.item(), torch.autograd.grad(loss, weights)

    valid_batches = by_length([len(row) for row in prepared.valid.targets], _TESTED_TOGETHER)
    n_valid = sum(map(len, prepared.valid.targets))

    def held_out_loss() -> float:
        with torch.no_grad():
            return float(sum(losses(prepared.valid, batch, 0.0, "sum").item() for batch in valid_batches) / n_valid)

    optimizer = torch.optim.Adam(weights, lr=settings.learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=True)
    batches = corpus.batches(settings.seed, settings.tokens_per_batch)
    course = loop.Course(
        model,
        weights,
        batches,
        gradients,
        held_out_loss=held_out_loss if n_valid else None,
        patience=settings.patience,
        until_loss=settings.until_loss,
    )
    with run_context.open_progress(f"training {settings.shape.name}, steps") as progress:
        return model, loop.train(course, settings, checkpoint, optimizer, progress)


def _number(seed: int, step: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/{step}".encode()).digest()[:7], "big")


def inherit(model: Any, pieces: Pieces, directory: Path) -> None:
    _, old, words = read_facts(directory)
    new: Architecture = model.shape
    for name in ("width", "n_heads", "feed_forward", "attention"):
        if getattr(old, name) != getattr(new, name):
            raise UserError(
                f"{directory} has {name} {getattr(old, name)}, not {getattr(new, name)}; weights can be taken only "
                "from a model that differs in depth alone"
            )
    if words != list(pieces.numbers):
        raise UserError(f"{directory} has other pieces; add --pieces {directory}")
    n_old, n_new = (
        {side: getattr(shape, f"n_{side}_layers") for side in ("encoder", "decoder")} for shape in (old, new)
    )
    for side, n in n_new.items():
        if n > n_old[side]:
            raise UserError(
                f"{directory} has {n_old[side]} layers in its {side}; a model of {n} cannot start from them"
            )
    weights = torch_models.read_weights(directory)

    def origin(name: str) -> str:
        found = _LAYER.fullmatch(name)
        if found is None:
            return name
        side, number, rest = found.groups()
        return f"{side}.{int(number) * n_old[side] // n_new[side]}.{rest}"

    model.load_state_dict({name: weights[origin(name)] for name in model.state_dict()})


def _finish(settings: Settings, prepared: Prepared, model: Any, progressed: loop.Progressed) -> dict[str, Any]:
    from safetensors.torch import save

    directory, pieces = settings.output, prepared.pieces
    round_to_16_bits(model.parameters())
    pieces.write(directory)
    weights = {name: weight.half() for name, weight in model.state_dict().items()}
    (directory / MODEL_FILE).write_bytes(save(weights))
    facts = {
        "source_language": settings.source_language,
        "target_language": settings.target_language,
        "architecture": asdict(settings.shape),
        **{name: value for name, value in prepared.facts.items() if name in ("context", "self_training")},
    }
    write_json(directory / torch_models.FACTS_FILE, facts)
    spec = f"torch:{directory}"
    translated = {
        part.name: greedy(spec, [line.source for line in part.test], settings.direction) for part in prepared.parts
    }
    report = {
        "recipe": settings.recipe(),
        "text": {
            "fingerprint": prepared.fingerprint,
            **prepared.facts,
            "n_pairs": {part.name: len(part.train) for part in prepared.parts},
            "n_target_pieces": sum(map(len, prepared.corpus.targets)),
            "n_too_long": prepared.n_too_long,
        },
        "n_parameters": sum(weight.numel() for weight in model.parameters()),
        "n_pieces": len(pieces.numbers) - 1,
        "n_steps": len(progressed.losses),
        "losses": loop.stretches(progressed.losses),
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
        **_exported(settings, prepared, model, translated),
        "versions": loop.versions(),
    }
    write_json(directory / "report.json", report)
    return report


def _exported(
    settings: Settings, prepared: Prepared, model: Any, translated: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The other forms of the model, and how often CTranslate2 agrees with ours."""
    directory = settings.output
    own = {"torch": (directory / MODEL_FILE).stat().st_size}
    if settings.attention != torch_models.SELF:
        return {"bytes": own, "not_exported": "CTranslate2 and Transformers have no average attention; use torch:DIR"}
    write_model(as_marian(model, prepared.pieces), prepared.pieces, directory, settings.direction)
    sources = [line.source for part in prepared.parts for line in part.test][:_COMPARED]
    ours = [text for part in prepared.parts for text in translated[part.name]][:_COMPARED]
    theirs = greedy(f"ctranslate2:{directory / 'ctranslate2'}", sources, settings.direction)
    n_same = sum(a == b for a, b in zip(ours, theirs, strict=True))
    return {
        "bytes": {**own, **{name: n_bytes(directory / name) for name in ("hf", "ctranslate2")}},
        "same_greedy_in_ctranslate2": {"n": len(ours), "share": round(n_same / len(ours), 4) if ours else None},
    }


def model(settings: Settings = option_group(Settings), as_json: AsJson = False) -> None:
    """Train a transformer of any size on parallel text; rerun the same command to resume."""
    report = train_transformer(settings, RunContext(None, show_progress, say))
    if as_json:
        print_json(report)
    else:
        rows = [
            ("parameters", f"{report['n_parameters']:,}"),
            ("steps", f"{report['n_steps']:,}"),
            ("minutes of training", f"{report['seconds']['training'] / 60:.1f}"),
            *(("held-out loss per piece, last", f"{loss:.3f}") for _, loss in report["held_out_losses"][-1:]),
            *(
                (f"BLEU, {name}, {found['n']:,} held-out sentences, greedy", f"{found['bleu']:.1f}")
                for name, found in report["tests"].items()
            ),
        ]
        print_table(f"The model {settings.shape.name}", ("what", "value"), rows)
    if "not_exported" in report:
        say(f"not exported: {report['not_exported'].replace('DIR', str(settings.output))}")
    say(f"{settings.output} is written; translate with torch:{settings.output}")
