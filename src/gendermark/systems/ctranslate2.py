"""`ctranslate2:DIR`: a model in CTranslate2's format, with its tokeniser beside it.

`DIR?beam_size=1&compute_type=int8` gives options with the name. How a model is given its languages is found out from
its files (`tokenisers.frame`). Of the bundled models `en-es` knows only the sentences of its own grammar, and its
gender bias was put in on purpose; `en-es-general` also learnt everyday sentences of Tatoeba (`docs/demo-model.md`).
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import gendermark
from gendermark.errors import BadFile, UnknownName, UserError, first_line
from gendermark.io.textfiles import read_json, read_text
from gendermark.records import Request, Task
from gendermark.systems import engine, system, tokenisers
from gendermark.systems.engine import Answer, Engine, Item, Job, Output, Prefix
from gendermark.systems.sampling import Continuation, Draw
from gendermark.systems.tokenisers import CONVENTIONS, Direction, Frame, one_line

TASKS = Engine.tasks
OPTIONS = (
    *("compute_type", "device", *engine.SEARCH_OPTIONS, "workers", "use_vmap"),
    *("convention", "source_prefix", "target_prefix", "tokenizer"),
)
FASTER = {"compute_type": ("float32", "int8"), "beam_size": ("5", "1")}
"""Default variations of `study speed`: from exact and slow to rounded and fast."""
BUNDLED = Path(gendermark.__file__).parent / "data" / "models"
BUNDLED_NAMES = ("en-es", "en-es-general")
VOCABULARY_MAP = "vmap.txt"
"""Lists the target words allowed for each source word."""
_LOGIT_BYTES = 2**28
"""Memory limit for distributions of one engine call: a row of vocabulary size per token."""
_MOST_WORKERS = 4


def open_demo(argument: str, options: Mapping[str, str]) -> CTranslate2:
    """`demo:NAME`: a bundled model, which needs no network."""
    name, options = system.split_options(argument, options)
    if name not in BUNDLED_NAMES:
        raise UnknownName("demo model", name, BUNDLED_NAMES)
    return CTranslate2(str(BUNDLED / name), options, system.with_options(f"demo:{name}", options))


class CTranslate2(Engine):
    failures = (RuntimeError, ValueError)
    gives_n_best = True

    def __init__(self, argument: str, options: Mapping[str, str], name: str = "") -> None:
        path, options = system.split_options(argument, options)
        system.refuse_unknown_options("ctranslate2", options, OPTIONS)
        super().__init__(options)
        directory = Path(path)
        self.spec = name or system.with_options(f"ctranslate2:{directory}", options, engine.WITHOUT_EFFECT)
        self._beam_size = system.count_option(options, "beam_size", 5)
        self._length_penalty = system.number_option(options, "length_penalty", 1.0, above=-1.0)
        self._max_length = system.count_option(options, "max_length", 256)
        self._prefixes = (options.get("source_prefix"), options.get("target_prefix"))
        _check_directory(directory)
        self._open_tokenisers(directory, options)
        self._uses_map = _uses_map(directory, options, self._tokens)
        self._engine, self._workers, n_threads = _load(directory, options)
        self._own_pair = _known_pair(directory, self._convention, self._vocabularies[0])
        settings = {
            "beam_size": self._beam_size,
            "length_penalty": self._length_penalty,
            "max_length": self._max_length,
            "convention": self._convention,
            "prefixes": list(self._prefixes),
            # The actual choice: "default" differs between machines.
            "compute_type": self._engine.compute_type,
            "device": self._engine.device,
            **({"use_vmap": True} if self._uses_map else {}),
        }
        vocabularies = sorted({_vocabulary_file(directory, side) for side in ("source", "target")})
        files = [directory / "model.bin", directory / "config.json", *vocabularies]
        files += [*([directory / VOCABULARY_MAP] if self._uses_map else []), *self._tokenisers.files]
        self.system_id = f"ctranslate2#{engine.content_hash(files, settings)}"
        penalty = None if self._length_penalty == 1 else self._length_penalty
        self.decoding = engine.decoding_name(self._beam_size, self._engine.compute_type, penalty)
        if self._uses_map:  # samples and scores need the probabilities of all tokens
            self.tasks = frozenset({Task.TRANSLATE})
            self.decoding += ",vmap"
        self.computing = f"{self._engine.device}, workers {self._workers}, threads of each {n_threads}"

    def _open_tokenisers(self, directory: Path, options: Mapping[str, str]) -> None:
        config = read_json(directory / "config.json")
        if not isinstance(config, dict):
            raise BadFile(directory / "config.json", "is not the configuration of a model; convert the model again")
        self._tokens = _vocabulary(directory, "target")
        self._number_of = {token: number for number, token in enumerate(self._tokens)}
        self._vocabularies = frozenset(_vocabulary(directory, "source")), frozenset(self._tokens)
        self._never_text = frozenset(filter(tokenisers.NEVER_TEXT.fullmatch, self._tokens))
        end = config.get("eos_token") or "</s>"
        if end not in self._number_of:
            raise BadFile(_vocabulary_file(directory, "target"), f"has no end token {end!r}; convert the model again")
        self._end = self._number_of[end]
        place = Path(options.get("tokenizer", directory))
        if not place.exists():
            raise UserError(f"there is no tokeniser {place}; option tokenizer names a file, or a directory that has it")
        self._tokenisers = tokenisers.open_tokenisers(place)
        start = config.get("decoder_start_token")
        guess = tokenisers.guess_convention(self._tokenisers, self._vocabularies[0], start)
        self._convention = system.choice_option({"convention": guess, **options}, "convention", CONVENTIONS)
        # Some models append the end of the source themselves.
        self._source_end = [] if self._convention == "plain" or config.get("add_source_eos") else [end]

    def close(self) -> None:
        self._engine.unload_model()

    # -- from text to tokens and back

    def _new_frame(self, direction: Direction) -> Frame:
        if self._own_pair is not None:
            engine.check_pair(self._own_pair[0], direction, self._own_pair[1])
        return tokenisers.frame(self._convention, direction, *self._vocabularies, *self._prefixes)

    def _job(self, request: Request, frame: Frame) -> Job:
        pieces = self._tokenisers.source.pieces(frame.instruction + one_line(request.source))
        target: list[str] = []
        if request.task is Task.SCORE:
            given = self._tokenisers.target.pieces(one_line(engine.target_of(request, self.spec)))
            target = [*frame.before_target, *given]
        return Job(request, [*frame.before_source, *pieces, *self._source_end], target)

    def _output(self, request: Request, tokens: Sequence[int], ended: bool) -> Output:  # noqa: ARG002
        pieces = [self._tokens[token] for token in tokens]
        return Output(self._tokenisers.target.text([piece for piece in pieces if piece not in self._never_text]))

    # -- one batch

    def _translate(self, jobs: Sequence[Job], frame: Frame, n: int) -> list[list[Draw]]:
        begin = list(frame.before_target)
        results = self._engine.translate_batch(
            [job.source for job in jobs],
            target_prefix=[begin] * len(jobs) if begin else None,
            beam_size=max(self._beam_size, n),
            num_hypotheses=n,
            length_penalty=self._length_penalty,
            max_decoding_length=len(begin) + self._max_length,
            # Disable both limits: the first would change the first token's probability, the second would silently
            # truncate a source.
            min_decoding_length=0,
            max_input_length=0,
            use_vmap=self._uses_map,
            return_scores=True,
            return_end_token=True,
        )
        return [
            [self._found(*one, len(begin)) for one in zip(result.hypotheses, result.scores, strict=True)]
            for result in results
        ]

    def _found(self, tokens: Sequence[str], score: float, n_begin: int) -> Draw:
        numbers = [self._number_of[token] for token in tokens[n_begin:]]
        if numbers[-1:] != [self._end]:  # truncated at the length limit
            return Draw(tuple(numbers), None, len(numbers))
        # The engine's score is divided by the length, including the forced beginning, to the power of the penalty. With
        # a map it is a probability among fewer tokens.
        total = None if self._uses_map else score * len(tokens) ** self._length_penalty
        return Draw(tuple(numbers[:-1]), total, len(numbers))

    def _score(self, jobs: Sequence[Job], frame: Frame) -> list[tuple[float, ...]]:
        results = self._engine.score_batch(
            [job.source for job in jobs],
            [job.target for job in jobs],
            max_input_length=0,
            offset=len(frame.before_target),
        )
        return [tuple(result.log_probs) for result in results]

    def _cut(self, prefixes: Sequence[Prefix]) -> list[list[int]]:
        """Batches that keep every worker busy and fit into memory."""
        lengths = [len(prefix.source) + len(prefix.tokens) for prefix in prefixes]
        n_fitting = _LOGIT_BYTES // (4 * len(self._tokens) * self._n_steps(max(lengths, default=1)))
        n_of_each = -(-len(prefixes) // self._workers)
        return engine.by_length(lengths, max(1, min(self._model_batch_size, n_fitting, n_of_each)))

    def _n_steps(self, length: int) -> int:
        """Few translations are twice as long; those that are, are continued again."""
        return min(self._max_length, 2 * length + 16)

    def _continue(self, prefixes: Sequence[Prefix], frame: Frame, n_together: int) -> list[Continuation]:  # noqa: ARG002
        begins = [[*frame.before_target, *(self._tokens[token] for token in prefix.tokens)] for prefix in prefixes]
        longest = max(len(prefix.source) + len(prefix.tokens) for prefix in prefixes)
        results = self._engine.translate_batch(
            [prefix.source for prefix in prefixes],
            target_prefix=begins,
            beam_size=1,
            max_decoding_length=max(len(frame.before_target) + self._n_steps(longest), 1 + max(map(len, begins))),
            min_decoding_length=0,  # otherwise the end has no probability at the first step
            max_input_length=0,
            return_end_token=True,
            return_logits_vocab=True,
        )
        return [self._continuation(result, len(begin)) for result, begin in zip(results, begins, strict=True)]

    def _continuation(self, result: Any, n_begin: int) -> Continuation:
        """Without the distributions of the given tokens, which the engine returns too."""
        tokens = [self._number_of[token] for token in result.hypotheses[0][n_begin:]]
        rows = result.logits[0][n_begin:]
        if self._engine.device != "cpu":
            import ctranslate2

            # To the CPU, in a type that numpy supports.
            rows = [row.to_device(ctranslate2.Device.cpu).to(ctranslate2.DataType.float32) for row in rows]
        return Continuation(tokens, np.array([np.asarray(row)[: len(self._tokens)] for row in rows], dtype=np.float32))

    def _in_parallel(self, batches: Sequence[Item], work: Callable[[Item], Answer]) -> Iterator[Answer]:
        if self._workers == 1 or len(batches) == 1:
            yield from map(work, batches)
            return
        pool = ThreadPoolExecutor(self._workers)
        try:
            yield from pool.map(work, batches)
        finally:
            pool.shutdown(cancel_futures=True)

    def _fault_of_one(self, problem: Exception) -> str | None:
        limit = re.search(r"No position encodings are defined for positions >= (\d+)", str(problem))
        return engine.too_long(limit[1]) if limit else None


# -- opening a model -------------------------------------------------------------------------------------------------


def _check_directory(directory: Path) -> None:
    if not directory.is_dir():
        raise UserError(
            f"there is no directory {directory}; ctranslate2: takes one with a converted model "
            "(a model by its name on the Hugging Face hub is hf:NAME)"
        )
    if not (directory / "model.bin").is_file():
        is_hf = any(directory.glob("*.safetensors")) or any(directory.glob("pytorch_model*.bin"))
        what = f"is a model in Hugging Face's format; use hf:{directory}" if is_hf else "has no model.bin"
        model, output = (directory, f"{directory}-ct2") if is_hf else ("NAME", "DIR")
        raise UserError(
            f"{directory} {what}; convert a model with: ct2-transformers-converter --model {model} "
            f"--output_dir {output} --copy_files source.spm target.spm"
        )
    if not (directory / "config.json").is_file():
        raise UserError(f"{directory} has a model.bin but no config.json; convert the model again")


def _load(directory: Path, options: Mapping[str, str]) -> tuple[Any, int, int]:
    """The translator, its number of workers, and threads per worker."""
    import ctranslate2 as library

    device = system.choice_option(options, "device", ("auto", "cpu", "cuda"))
    has_cuda = library.get_cuda_device_count() > 0
    if device == "cuda" and not has_cuda:
        raise UserError("option device=cuda needs an NVIDIA graphics card, and there is none here; use device=cpu")
    if device == "auto":
        device = "cuda" if has_cuda else "cpu"
    usable = ("default", "auto", *sorted(library.get_supported_compute_types(device)))
    compute_type = system.choice_option(options, "compute_type", usable)
    # One single-threaded worker per core (a container or batch system may restrict these), but one for a GPU. Workers
    # process whole batches independently, while threads synchronise at every layer: on two idle cores two workers were
    # twice as fast as one and two threads 1.1 times; on two busy ones neither gained anything.
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    n_workers = system.count_option(options, "workers", 1 if device == "cuda" else min(_MOST_WORKERS, n_cores))
    n_threads = system.count_option(options, "threads", 1)
    level = library.get_log_level()
    library.set_log_level(logging.ERROR)  # it warns about every conversion of the stored type
    try:
        translator = library.Translator(
            str(directory),
            device=device,
            compute_type=compute_type,
            inter_threads=n_workers,
            intra_threads=n_threads,
            max_queued_batches=-1,
        )
    except (RuntimeError, ValueError, MemoryError) as problem:
        if engine.is_out_of_memory(problem):
            raise UserError(
                f"not enough memory to load {directory}; try compute_type=int8, a quarter as large"
            ) from None
        raise BadFile(
            directory / "model.bin",
            f"cannot be loaded as a translation model ({first_line(problem)}); copy or convert it again",
        ) from None
    finally:
        library.set_log_level(level)
    return translator, n_workers, n_threads


def _vocabulary_file(directory: Path, side: str) -> Path:
    for name in (f"{side}_vocabulary", "shared_vocabulary"):
        for suffix in (".json", ".txt"):
            if (directory / f"{name}{suffix}").is_file():
                return directory / f"{name}{suffix}"
    raise UserError(
        f"{directory} has neither shared_vocabulary.json nor {side}_vocabulary.json; convert the model again"
    )


def _vocabulary(directory: Path, side: str) -> list[str]:
    path = _vocabulary_file(directory, side)
    tokens = read_json(path) if path.suffix == ".json" else read_text(path).removesuffix("\n").split("\n")
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        raise BadFile(path, "is not a list of tokens; convert the model again")
    return tokens


def _uses_map(directory: Path, options: Mapping[str, str], tokens: Sequence[str]) -> bool:
    """Whether to use the vocabulary map; refuses one that the engine would ignore or crash on."""
    path, is_wanted = directory / VOCABULARY_MAP, system.flag_option(options, "use_vmap")
    if is_wanted and not path.is_file():
        raise UserError(
            f"use_vmap=yes needs the model's vocabulary map, and there is no {path}; convert the model with "
            "--vocab_mapping FILE, or leave the option out"
        )
    # The engine reads a map even if unused, and crashes on an empty one.
    if is_wanted or (path.is_file() and not path.stat().st_size):
        known, is_of_model = frozenset(tokens), False
        for number, line in enumerate(read_text(path).splitlines(), 1):
            _, tab, targets = line.partition("\t")
            if not tab:
                raise BadFile(path, "has no tab between words of the source and words of the target", line=number)
            is_of_model = is_of_model or not known.isdisjoint(targets.split(" "))
        if not is_of_model:
            raise BadFile(path, "lists no word of the model's target vocabulary; make it from the model's own pieces")
    return is_wanted


def _known_pair(directory: Path, convention: str, vocabulary: frozenset[str]) -> tuple[Direction, str] | None:
    """The model's single language pair, and the evidence for it; None if it is multilingual."""
    if (facts := directory / "gendermark.json").is_file():
        row = read_json(facts)
        names = ("source_language", "target_language")
        if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in names):
            raise BadFile(facts, 'names no languages; write {"source_language": "en", "target_language": "es"}')
        return (row["source_language"], row["target_language"]), f"by its {facts.name}"
    if convention in ("nllb", "m2m100", "t5") or tokenisers.opus_tokens(vocabulary):
        return None  # multilingual, though it may be named after one pair
    if (readme := directory / "README.md").is_file():
        text = readme.read_text(encoding="utf-8", errors="replace")
        languages = [re.search(rf"^\W*{side} languages?: *([a-z]{{2}})$", text, re.M) for side in ("source", "target")]
        if languages[0] and languages[1]:
            return (languages[0][1], languages[1][1]), "by its README.md"
    pair = tokenisers.pair_in(directory.resolve().name)
    return (pair, "by its name") if pair else None
