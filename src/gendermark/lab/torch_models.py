"""`torch:DIR`: a model that `gendermark train model` made, of any architecture, run by gendermark's own decoder.

`DIR?beam_size=1&compute_type=int8` gives options with the name. So shapes that no other engine has, average attention
above all, are timed and measured by the same code as those that others have too.

`E,D` names the depths of an architecture: 6,6 is the usual one, 8,4 10,2 11,1 have a shallow decoder and a deeper
encoder in exchange, 6,4 6,2 6,1 a shallow decoder alone. The decoder looks back at its own words by self-attention, or
by an average attention network (Zhang, Xiong and Su 2018, "Accelerating Neural Transformer via an Average Attention
Network", ACL).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gendermark.errors import BadFile, MissingExtra, UnknownName, UserError, first_line
from gendermark.io.pretrained import is_installed, quantised
from gendermark.io.textfiles import read_json
from gendermark.records import Request, Task
from gendermark.systems import engine, system
from gendermark.systems.engine import Engine, Job, Output, Prefix
from gendermark.systems.sampling import Continuation, Draw
from gendermark.systems.tokenisers import Direction, one_line, open_tokenisers

TASKS = Engine.tasks
OPTIONS = ("beam_size", "compute_type", "length_penalty", "max_length", "batch_size", "threads")
COMPUTE_TYPES = ("float32", "int8")
FASTER = {"compute_type": COMPUTE_TYPES, "beam_size": ("5", "1")}
"""What `study speed` varies if it is not told what."""
MODEL_FILE, FACTS_FILE, WORDS_FILE = "model.safetensors", "gendermark.json", "vocab.json"
CHECKPOINT_FILE = "checkpoint.pt"
_END, _UNKNOWN = "</s>", "<unk>"
SELF, AVERAGE = "self", "average"
ATTENTIONS = (SELF, AVERAGE)
N_POSITIONS = 512


@dataclass(frozen=True, slots=True)
class Architecture:
    """Everything that decides which weights a model has, but its vocabulary."""

    n_encoder_layers: int = 6
    n_decoder_layers: int = 6
    attention: str = SELF
    width: int = 128
    n_heads: int = 4
    feed_forward: int = 512

    def __post_init__(self) -> None:
        if self.attention not in ATTENTIONS:
            raise UnknownName("attention of the decoder", self.attention, ATTENTIONS)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "attention" and (type(value) is not int or value < 1):
                raise UserError(f"an architecture's {field.name} is a whole number, at least 1, not {value!r}")
        if self.width % (2 * self.n_heads):
            raise UserError(
                f"width {self.width} does not fit {self.n_heads} heads; it must be a multiple of {2 * self.n_heads}, "
                "twice their number"
            )

    @property
    def name(self) -> str:
        depths = f"{self.n_encoder_layers},{self.n_decoder_layers}"
        return depths if self.attention == SELF else f"{depths} {self.attention}"


class Torch(Engine):
    failures = (RuntimeError, ValueError, IndexError)

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        path, options = system.split_options(argument, options)
        system.refuse_unknown_options("torch", options, OPTIONS)
        self.spec = system.with_options(f"torch:{Path(path)}", options, engine.WITHOUT_EFFECT)
        for package in ("torch", "safetensors"):
            if not is_installed(package):
                raise MissingExtra(self.spec, "train")
        from gendermark.lab.transformer import Search, Transformer

        super().__init__(options)
        self._threads = system.count_option(options, "threads", 1)
        self._max_length = min(system.count_option(options, "max_length", 256), N_POSITIONS)
        compute_type = options.get("compute_type", "float32")
        if compute_type not in COMPUTE_TYPES:
            raise UserError(f"option compute_type of torch: is one of {', '.join(COMPUTE_TYPES)}, not {compute_type!r}")
        directory = Path(path)
        with self._quietly():
            self._direction, shape, self._words = read_facts(directory)
            self._tokenisers = open_tokenisers(directory)
            model = Transformer(shape, len(self._words))
            read_weights(directory, model)
            model.freeze()
            self._model = quantised(model) if compute_type == "int8" else model
        self._numbers = {word: number for number, word in enumerate(self._words)}
        self._end = self._numbers[_END]
        penalty = system.number_option(options, "length_penalty", 1.0, above=-1.0)
        beam_size = system.count_option(options, "beam_size", 5)
        self._search = Search(self._model, self._end, beam_size, self._max_length, penalty)
        settings = {
            "beam_size": beam_size,
            "length_penalty": penalty,
            "max_length": self._max_length,
            "compute_type": compute_type,
        }
        files = (directory / MODEL_FILE, directory / FACTS_FILE, directory / WORDS_FILE, *self._tokenisers.files)
        self.system_id = f"torch#{engine.content_hash(files, settings)}"
        self.decoding = engine.decoding_name(beam_size, compute_type, None if penalty == 1 else penalty)
        self.computing = f"cpu, threads {self._threads}"

    def close(self) -> None:
        del self._model, self._search

    @contextlib.contextmanager
    def _quietly(self) -> Iterator[None]:
        import torch

        n_before = torch.get_num_threads()
        torch.set_num_threads(self._threads)
        try:
            with torch.inference_mode():
                yield
        finally:
            torch.set_num_threads(n_before)

    # -- what the model is given, and what it says

    def _new_frame(self, direction: Direction) -> None:
        engine.check_pair(self._direction, direction, f"by its {FACTS_FILE}")

    def _job(self, request: Request, frame: None) -> Job:  # noqa: ARG002
        source = self._encoded(self._tokenisers.source.pieces(one_line(request.source)))
        target: list[int] = []
        if request.task is Task.SCORE:
            target = self._encoded(self._tokenisers.target.pieces(one_line(engine.target_of(request, self.spec))))
        is_too_long = max(len(source), len(target)) > N_POSITIONS
        return Job(request, source, target, engine.too_long(N_POSITIONS) if is_too_long else None)

    def _encoded(self, pieces: Sequence[str]) -> list[int]:
        return [*(self._numbers.get(piece, self._numbers[_UNKNOWN]) for piece in pieces), self._end]

    def _output(self, request: Request, tokens: Sequence[int], ended: bool) -> Output:  # noqa: ARG002
        return Output(self._tokenisers.target.text([self._words[token] for token in tokens]), is_whole=ended)

    # -- one batch

    def _translate(self, jobs: Sequence[Job], frame: None, n: int) -> list[list[Draw]]:  # noqa: ARG002
        found = self._search.translate([job.source for job in jobs])
        return [[Draw(one.words, one.log_probability, len(one.words) + one.ended)] for one in found]

    def _score(self, jobs: Sequence[Job], frame: None) -> list[tuple[float, ...]]:  # noqa: ARG002
        import torch

        sources, targets = ([getattr(job, side) for job in jobs] for side in ("source", "target"))
        rows = [torch.tensor(engine.padded(side, self._model.pad)) for side in (sources, targets)]
        logits = self._model(*rows).double()
        found = logits.log_softmax(-1).gather(1, rows[1][rows[1] != self._model.pad][:, None])[:, 0]
        return [tuple(part.tolist()) for part in found.split([len(target) for target in targets])]

    def _continue(self, prefixes: Sequence[Prefix], frame: None, n_together: int) -> list[Continuation]:  # noqa: ARG002
        import torch

        model, sources = self._model, [prefix.source for prefix in prefixes]
        memory, state = model.read(torch.tensor(engine.padded(sources, model.pad))), model.begin()

        def step(tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
            nonlocal state
            following = tokens if state.n_words else [[model.pad, *row] for row in tokens]
            for words in torch.tensor(following).T:
                logits, state = model.step(words[:, None], state, memory)
            found: NDArray[np.float32] = logits[:, 0].numpy()
            return found

        # Few translations are twice as long as their source; those that are, are continued again.
        n_steps = 2 * max(map(len, sources)) + 16
        given = [prefix.tokens for prefix in prefixes]
        return engine.greedy_paths(step, given, self._end, n_steps, self._max_length, model.pad - 1)


def read_facts(directory: Path) -> tuple[Direction, Architecture, list[str]]:
    if not directory.is_dir():
        raise UserError(f"there is no directory {directory}; torch: takes one that gendermark train model has made")
    for name in (MODEL_FILE, FACTS_FILE, WORDS_FILE):
        if not (directory / name).is_file():
            unfinished = (directory / CHECKPOINT_FILE).is_file()
            why = "its training is not finished: give the same command again" if unfinished else "copy it again"
            raise UserError(f"{directory} is not a model of gendermark train model: it has no {name}; {why}")
    facts, words = read_json(directory / FACTS_FILE), read_json(directory / WORDS_FILE)
    try:
        direction = (str(facts["source_language"]), str(facts["target_language"]))
        shape = Architecture(**facts["architecture"])
    except (KeyError, TypeError, UserError) as problem:
        raise BadFile(directory / FACTS_FILE, f"does not describe a model ({first_line(problem)})") from None
    if not isinstance(words, dict) or sorted(words.values()) != list(range(len(words))) or _END not in words:
        raise BadFile(directory / WORDS_FILE, "is not the vocabulary of a model; copy it again")
    return direction, shape, sorted(words, key=words.__getitem__)


def trained_facts(spec: str) -> dict[str, Any]:
    """Read how a `torch:` model was trained: its `context`, and counts of its `self_training`, if any."""
    family, _, argument = spec.partition(":")
    path = Path(argument.partition("?")[0]) / FACTS_FILE
    facts = read_json(path) if family == "torch" and path.is_file() else {}
    return facts if isinstance(facts, dict) else {}


def read_weights(directory: Path, model: Any = None) -> dict[str, Any]:
    """The weights of a trained model, loaded into a network if there is one."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        weights = {name: weight.float() for name, weight in load_file(directory / MODEL_FILE).items()}
        if model is not None:
            model.load_state_dict(weights)
    except (SafetensorError, OSError, RuntimeError) as problem:
        reason = f"does not have the weights of this model ({first_line(problem)}); copy it again"
        raise BadFile(directory / MODEL_FILE, reason) from None
    return weights
