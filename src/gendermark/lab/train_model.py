"""The recipe of a transformer of any shape on any parallel text: gather text, learn pieces, train, export, test.

All of it depends on the settings and the text alone, and everything is found again after a kill: checkpoints have the
weights (`loop.py`), the store of translations has what a teacher said.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from gendermark import api
from gendermark.cli.options import ResumedIn, language, option_group, sampling_pairs
from gendermark.cli.terminal import AsJson, print_json, print_table, say, show_progress
from gendermark.errors import BadFile, UserError
from gendermark.io import locks
from gendermark.io.textfiles import read_bytes, write_lines, write_text
from gendermark.lab import training_text as text
from gendermark.lab.corpus import UNKNOWN, Corpus, Pieces, encode_pairs, train_pieces
from gendermark.lab.export import as_marian, bleu, greedy, n_bytes, round_to_16_bits, write_model
from gendermark.lab.loop import (
    Checkpoint,
    Course,
    Progressed,
    check_memory,
    reproducible,
    require_packages,
    stretches,
    train,
    versions,
)
from gendermark.lab.studies import Texts
from gendermark.lab.torch_models import (
    CHECKPOINT_FILE,
    FACTS_FILE,
    MODEL_FILE,
    SELF,
    Architecture,
    parse_depths,
    read_facts,
    read_weights,
)
from gendermark.lab.training_text import Line, Part
from gendermark.runs.run import NO_CONTEXT, RunContext
from gendermark.systems.engine import by_length, first_line, padded
from gendermark.systems.tokenisers import Direction

_LONGEST = 120
"""Pieces of a sentence to learn from; longer ones are left out."""
_TESTED_TOGETHER = 64
_COMPARED = 200
_LAYER = re.compile(r"(encoder|decoder)\.(\d+)\.(.+)")


@dataclass(frozen=True)
class Settings:
    """The text, what is done with it, and everything else that decides the weights."""

    target_language: Annotated[str, Option("--to", callback=language, help="Target language.")]
    output: ResumedIn
    pairs: Annotated[
        Texts, Option(help="Data set (tatoeba-en-es), file of source, tab, translation, or two FILE,FILE; repeatable.")
    ]
    source_language: Annotated[str, Option("--from", callback=language, help="Source language.")] = "en"
    mix: Annotated[
        str | None, Option(metavar="grammar=SHARE", help="Pairs of our own grammar, as a share of all (en-es).")
    ] = None
    stereotype: Annotated[float, Option(min=0, help="How stereotyped the grammar is; 1: as the demo model.")] = 1.0
    architecture: Annotated[str, Option(metavar="E,D", help="Layers of encoder and decoder: 6,6 or 10,2.")] = "6,6"
    attention: Annotated[str, Option(help="How the decoder looks back: self, or average.")] = "self"
    width: Annotated[int, Option(min=2, help="Numbers in a vector.")] = 128
    heads: Annotated[int, Option(min=1, help="Heads of each attention.")] = 4
    feed_forward: Annotated[int | None, Option(min=1, help="Inner width; four times the width if none.")] = None
    pieces: Annotated[Path | None, Option(help="Directory of a model whose pieces to use.")] = None
    n_pieces: Annotated[int, Option("--n-pieces", min=50, help="Pieces to learn, if none are given.")] = 8_000
    test: Annotated[str | None, Option(help="Source sentences to test on later; none may be in the text.")] = None
    drop_test_pairs: Annotated[bool, Option(help="Leave out pairs whose source is in --test.")] = False
    n_test: Annotated[int, Option("--held-out", min=0, help="Test sentences to hold out of each part.")] = 2_000
    n_steps: Annotated[int, Option("--steps", min=1, help="Steps; the learning rate ends with them.")] = 20_000
    tokens_per_batch: Annotated[int, Option("--batch-tokens", min=1, help="Tokens of both sides in a batch.")] = 3_000
    learning_rate: Annotated[float, Option(min=0, help="The highest, after the warm-up.")] = 1.5e-3
    n_warm_up_steps: Annotated[int, Option("--warm-up", min=1, help="Steps until the highest learning rate.")] = 1_000
    n_steps_per_checkpoint: Annotated[
        int, Option("--checkpoint-steps", min=1, help="Steps between held-out losses; also saved every two minutes.")
    ] = 500
    dropout: Annotated[float, Option(min=0, max=0.9, help="Share of numbers left out at random.")] = 0.1
    label_smoothing: Annotated[float, Option(min=0, max=0.9, help="Share given to all other answers.")] = 0.1
    patience: Annotated[int, Option(min=0, help="End after so many checkpoints without a lower loss; 0: never.")] = 0
    teacher: Annotated[str | None, Option(metavar="SYSTEM", help="Learn its translations instead.")] = None
    teacher_samples: Annotated[int, Option(min=0, help="Samples of the teacher to learn; 0: its best.")] = 0
    sampling: Annotated[Texts, Option(metavar="KEY=VALUE", help="How to draw them: epsilon=0.02,seed=1.")] = ()
    documents: Annotated[
        Texts, Option(metavar="TEXT", help="Text in its order, two sentences at a time, or grammar=N; repeatable.")
    ] = ()
    context: Annotated[str, Option(help="How --documents joins two: joined, or separator:TEXT.")] = text.CONTEXT
    self_train: Annotated[
        str | None, Option(metavar="SYSTEM", help="Also learn its translations of --monolingual that keep gender.")
    ] = None
    monolingual: Annotated[
        Texts, Option(metavar="TEXT", help="English sentences: data set, file of lines, or grammar=N; repeatable.")
    ] = ()
    init_from: Annotated[Path | None, Option(help="Begin with evenly spaced layers of this deeper model.")] = None
    seed: Annotated[int, Option(min=0, help="Seed of weights, batches and dropout.")] = 1

    @property
    def direction(self) -> Direction:
        return self.source_language, self.target_language

    @property
    def shape(self) -> Architecture:
        inner = self.feed_forward or 4 * self.width
        return Architecture(*parse_depths(self.architecture), self.attention, self.width, self.heads, inner)

    def recipe(self) -> dict[str, Any]:
        """What decides the weights beside the text; of a model to begin with, its content, wherever it lies."""
        named = ("seed", "n_steps", "tokens_per_batch", "learning_rate", "n_warm_up_steps", "n_steps_per_checkpoint")
        found = {
            "direction": "-".join(self.direction),
            "architecture": self.shape.to_json(),
            **{name: getattr(self, name) for name in (*named, "dropout", "label_smoothing", "patience")},
        }
        if self.init_from is not None:
            found["init_from"] = hashlib.sha256(read_bytes(self.init_from / MODEL_FILE)).hexdigest()[:16]
        return found


def train_transformer(settings: Settings, run_context: RunContext = NO_CONTEXT) -> dict[str, Any]:
    """Make the model in its directory, or what is left to do of it, and give its report (also `report.json` there)."""
    require_packages("training a model")
    directory, recipe = settings.output, settings.recipe()
    if (settings.teacher_samples or settings.sampling) and settings.teacher is None:
        raise UserError("--teacher-samples and --sampling say what is learnt of a teacher; name one with --teacher")
    if bool(settings.self_train) != bool(settings.monolingual):
        raise UserError("--self-train SYSTEM and --monolingual TEXT go together; give both or neither")
    if directory.exists() and not directory.is_dir():
        raise UserError(f"{directory} is a file; choose a directory with -o")
    with locks.hold(directory / ".lock"), reproducible(settings.seed):
        Checkpoint(directory / CHECKPOINT_FILE, recipe).read()  # one that does not fit is refused now
        prepared = prepare(settings, run_context)
        check_memory(settings.shape, len(prepared.pieces.numbers), settings.tokens_per_batch)
        checkpoint = Checkpoint(directory / CHECKPOINT_FILE, {**recipe, "text": prepared.fingerprint})
        checkpoint.read()
        text.write_held_out(prepared.parts, settings.direction, directory)
        for part in prepared.parts:
            if part.name == text.SELF_TRAINING:  # to be looked at
                write_lines(directory / f"{part.name}.tsv", ["\t".join(line) for line in part.train])
        model, progressed = _learn(settings, prepared, checkpoint, run_context)
        return _finish(settings, prepared, model, progressed)


# -- the text ----------------------------------------------------------------------------------------------------------


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


def prepare(settings: Settings, run_context: RunContext) -> Prepared:
    """Text, held-out sets and pieces; nothing is written."""
    if settings.documents:
        text.check_context(settings.context)
    if settings.self_train is not None:
        text.check_self_training(settings.direction)
    read = text.read_parts(settings.pairs, settings.direction, run_context.tell)
    parts = [text.split(part, settings.n_test) for part in read]
    if settings.mix is not None:
        share, n_others = text.parse_share(settings.mix), sum(len(part.train) for part in parts)
        with run_context.open_progress("generating pairs") as progress:
            drawn = text.grammar_part(
                share, settings.stereotype, n_others, settings.n_test, settings.direction, progress
            )
        parts.append(drawn)
    parts, self_trained = _with_additions(parts, settings, run_context)
    lines = text.mixed(parts, seed=0)
    if not lines:
        raise UserError(f"nothing is left of {', '.join(settings.pairs)} to train on; give more text")
    given = settings.pieces or settings.init_from
    pieces = read_pieces(given) if given else _learn_pieces(lines, settings.n_pieces)
    if settings.documents:
        _check_separator(settings.context, pieces)
    if settings.teacher is not None:
        lines = _taught(lines, settings, run_context)
    everything = encode_pairs(lines, pieces)
    short = [i for i in range(len(lines)) if max(len(everything.sources[i]), len(everything.targets[i])) <= _LONGEST]
    lines = [lines[i] for i in short]
    if not lines:
        raise UserError(f"every sentence of {', '.join(settings.pairs)} has more than {_LONGEST} pieces; cut the text")
    facts = {
        "teacher": settings.teacher,
        **({"context": settings.context} if settings.documents else {}),
        **({"self_training": self_trained} if self_trained else {}),
    }
    return Prepared(
        parts,
        lines,
        pieces,
        Corpus([everything.sources[i] for i in short], [everything.targets[i] for i in short]),
        encode_pairs([line for part in parts for line in part.valid], pieces),
        len(everything.sources) - len(short),
        text.fingerprint(lines, pieces.model),
        facts,
    )


def _with_additions(
    parts: Sequence[Part], settings: Settings, run_context: RunContext
) -> tuple[list[Part], dict[str, Any]]:
    """The parts without what is held out, then sentences with the one before them, then what self-training keeps."""
    documents = [text.read_documents(one, settings.direction) for one in settings.documents]
    clean = text.without_leaks([*parts, *(one.sentences for one in documents)])
    held_out = set().union(*(part.held_out for part in parts))
    if settings.test is not None:
        clean = text.without_test_set(clean, settings.test, drop=settings.drop_test_pairs)
        held_out |= text.test_keys(settings.test)
    found, allowed = clean[: len(parts)], clean[len(parts) :]
    for one, sentences in zip(documents, allowed, strict=True):
        found.append(one.joined(set(sentences.train), settings.context))
    if settings.self_train is None:
        return found, {}
    away = held_out | {text.key(line.source) for part in found for line in part.train}
    ask = _asking(settings.self_train, settings, run_context)
    part, counts = text.self_training_part(
        settings.self_train, ask, settings.monolingual, settings.direction, away, run_context.tell
    )
    return [*found, part], counts


def _asking(
    system: str,
    settings: Settings,
    run_context: RunContext,
    n_samples: int = 0,
    sampling: Mapping[str, str] | None = None,
) -> text.Ask:
    asking = api.Asking(settings.target_language, settings.source_language, n_samples, sampling or {})
    return partial(api.translate, system, asking=asking, context=run_context)


def _taught(lines: Sequence[Line], settings: Settings, run_context: RunContext) -> list[Line]:
    """The same sources in the same order, each once, with what the teacher said; what it said twice is learnt once."""
    assert settings.teacher is not None
    sources = list(dict.fromkeys(line.source for line in lines))
    sampling = sampling_pairs(settings.sampling)
    ask = _asking(settings.teacher, settings, run_context, settings.teacher_samples, sampling)
    taught: list[Line] = []
    n_without = 0
    for source, answers in zip(sources, ask(sources), strict=True):
        texts = [" ".join((one.text or "").split()) for one in answers]
        found = list(dict.fromkeys(Line(source, one) for one in texts if one))
        taught += found
        n_without += not found
    if n_without:
        run_context.tell(
            f"{n_without:,} of {len(sources):,} sources have no translation by {settings.teacher}; left out"
        )
    return taught


def _check_separator(context: str, pieces: Pieces) -> None:
    separator = context.partition(":")[2]
    if pieces.numbers[UNKNOWN] in pieces.encode(separator):
        raise UserError(
            f"the pieces that are to be used have no sign for {separator!r}; choose another separator with --context, "
            "or leave out --pieces, so that they are learnt from this text"
        )


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


# -- training ----------------------------------------------------------------------------------------------------------


def _learn(
    settings: Settings, prepared: Prepared, checkpoint: Checkpoint, run_context: RunContext
) -> tuple[Any, Progressed]:
    import torch
    from torch.nn import functional

    from gendermark.lab.transformer import Transformer

    pieces, corpus = prepared.pieces, prepared.corpus
    model = Transformer(settings.shape, len(pieces.numbers), settings.dropout)
    model.initialise()
    if settings.init_from is not None:
        inherit(model, pieces, settings.init_from)
    weights = list(model.parameters())

    def losses(pairs: Corpus, batch: Sequence[int], label_smoothing: float, reduction: str) -> Any:
        rows = [torch.tensor(padded([side[i] for i in batch], pieces.pad)) for side in (pairs.sources, pairs.targets)]
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
    with run_context.open_progress(f"training {settings.shape.name}, steps") as progress:
        return model, train(course, settings, checkpoint, optimizer, progress)


def _number(seed: int, step: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/{step}".encode()).digest()[:7], "big")


def inherit(model: Any, pieces: Pieces, directory: Path) -> None:
    """Give a new model the weights of the one in a directory."""
    _, old, words = read_facts(directory)
    new: Architecture = model.shape
    for name in ("width", "n_heads", "feed_forward", "attention"):
        if getattr(old, name) != getattr(new, name):
            raise UserError(
                f"{directory} has {name} {getattr(old, name)}, not {getattr(new, name)}; a model can begin with the "
                "weights of one that differs in depth alone"
            )
    if words != list(pieces.numbers):
        raise UserError(f"{directory} has other pieces; add --pieces {directory}")
    n_old = {"encoder": old.n_encoder_layers, "decoder": old.n_decoder_layers}
    n_new = {"encoder": new.n_encoder_layers, "decoder": new.n_decoder_layers}
    for side, n in n_new.items():
        if n > n_old[side]:
            raise UserError(
                f"{directory} has {n_old[side]} layers in its {side}; a model of {n} cannot begin with them"
            )
    weights = read_weights(directory)

    def origin(name: str) -> str:
        found = _LAYER.fullmatch(name)
        if found is None:
            return name
        side, number, rest = found.groups()
        return f"{side}.{int(number) * n_old[side] // n_new[side]}.{rest}"

    model.load_state_dict({name: weights[origin(name)] for name in model.state_dict()})


def _finish(settings: Settings, prepared: Prepared, model: Any, progressed: Progressed) -> dict[str, Any]:
    from safetensors.torch import save

    directory, shape, pieces = settings.output, settings.shape, prepared.pieces
    round_to_16_bits(model.parameters())
    pieces.write(directory)
    weights = {name: weight.half() for name, weight in model.state_dict().items()}
    (directory / MODEL_FILE).write_bytes(save(weights))
    facts = {
        "source_language": settings.source_language,
        "target_language": settings.target_language,
        "architecture": shape.to_json(),
        **{name: value for name, value in prepared.facts.items() if name == "context"},
    }
    write_text(directory / FACTS_FILE, json.dumps(facts, indent=2) + "\n")
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
        "n_parameters": shape.n_parameters(len(pieces.numbers)),
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
        **_exported(settings, prepared, model, translated),
        "versions": versions(),
    }
    write_text(directory / "report.json", json.dumps(report, indent=2) + "\n")
    return report


def _exported(
    settings: Settings, prepared: Prepared, model: Any, translated: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The other forms of the model, and how often CTranslate2 says the same as we do."""
    directory = settings.output
    own = {"torch": (directory / MODEL_FILE).stat().st_size}
    if settings.attention != SELF:
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


# -- the command -------------------------------------------------------------------------------------------------------


def model(settings: Settings = option_group(Settings), as_json: AsJson = False) -> None:
    """Train a transformer of any shape on parallel text; interrupted, the same command goes on where it stopped."""
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
