"""Opening a CTranslate2 model: what is in its directory, refused in one sentence where that is not a model."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gendermark.errors import BadFile, UserError
from gendermark.io.textfiles import read_json, read_text
from gendermark.systems.batching import is_out_of_memory
from gendermark.systems.engine import first_line, name_and_content
from gendermark.systems.system import count_option, flag_option
from gendermark.systems.tokenisers import (
    CONVENTIONS,
    Convention,
    Direction,
    guess_convention,
    open_tokenisers,
    pair_in,
)

COMPUTE_TYPES = (
    "default",
    "auto",
    "float32",
    "int8",
    "int8_float32",
    "int8_float16",
    "int8_bfloat16",
    "int16",
    "float16",
    "bfloat16",
)
DEVICES = ("cpu", "cuda", "auto")
VOCABULARY_MAP = "vmap.txt"
"""The file in a model's directory that lists, for words of a source, the words its translation may use."""
_MOST_WORKERS = 4


@dataclass(frozen=True, slots=True)
class Model:
    """A model that is ready to work."""

    engine: Any
    """A `ctranslate2.Translator`."""
    n_workers: int
    """How many batches it works on at once."""
    n_threads: int
    """Of each worker."""
    convention: Convention
    words: list[str]
    """All that it can say, in the order of their numbers."""
    end: str
    pair: tuple[Direction, str] | None
    """The one pair of languages that it is for, and how that is known; None where it is not."""
    uses_map: bool
    """Whether only the words that its vocabulary map lists for a source are looked at."""
    files: tuple[Path, ...]
    """Those that decide what it says."""


def open_model(directory: Path, options: Mapping[str, str]) -> Model:
    """Everything that can be wrong with a model is found here, before the first sentence."""
    _check_directory(directory)
    library = _import_library()
    config = _read_config(directory / "config.json")
    convention = _open_convention(directory, options, config)
    if config["eos_token"] not in convention.target_vocabulary:
        raise BadFile(
            _vocabulary_file(directory, "target"),
            f"has no {config['eos_token']!r}, which ends a translation; convert the model again",
        )
    words = _vocabulary(directory, "target")
    map_file, uses_map = directory / VOCABULARY_MAP, flag_option(options, "use_vmap")
    if uses_map or (map_file.is_file() and not map_file.stat().st_size):  # the engine dies of an empty one anyway
        _check_map(map_file, words)
    engine, n_workers, n_threads = _load(library, directory, options)
    return Model(
        engine,
        n_workers,
        n_threads,
        convention,
        words,
        config["eos_token"],
        _known_pair(directory, convention),
        uses_map,
        (*_model_files(directory), *([map_file] if uses_map else []), *convention.tokenisers.files),
    )


def _load(library: Any, directory: Path, options: Mapping[str, str]) -> tuple[Any, int, int]:
    device = _device(library, options.get("device", "auto"))
    compute_type = _compute_type(library, options.get("compute_type", "default"), device)
    threads, workers = count_option(options, "threads", 1), count_option(options, "workers", _default_workers(device))
    level = library.get_log_level()
    library.set_log_level(logging.ERROR)  # it warns where it computes in another type than is stored, as it should
    try:
        translator = library.Translator(
            str(directory),
            device=device,
            compute_type=compute_type,
            inter_threads=workers,
            intra_threads=threads,
            max_queued_batches=-1,
        )
    except (RuntimeError, ValueError, MemoryError) as problem:
        if is_out_of_memory(problem):
            raise UserError(
                f"not enough memory to load {directory}; compute_type=int8 needs a quarter as much"
            ) from None
        raise BadFile(
            directory / "model.bin",
            f"cannot be loaded as a translation model ({first_line(problem)}); if it is incomplete, copy it again "
            "or convert the model again",
        ) from None
    finally:
        library.set_log_level(level)
    return translator, workers, threads


def _import_library() -> Any:
    try:
        import ctranslate2
        import sentencepiece  # noqa: F401 (better said now than after the model is loaded)
    except ImportError as problem:
        raise UserError(
            f"ctranslate2: needs a package that cannot be imported here ({first_line(problem)}); install it with: "
            "pip install ctranslate2 sentencepiece"
        ) from None
    return ctranslate2


def _device(library: Any, device: str) -> str:
    if device not in DEVICES:
        raise UserError(f"option device of ctranslate2: is one of {', '.join(DEVICES)}, not {device!r}")
    has_cuda = library.get_cuda_device_count() > 0
    if device == "cuda" and not has_cuda:
        raise UserError("option device=cuda needs an NVIDIA graphics card, and there is none here; device=cpu works")
    return ("cuda" if has_cuda else "cpu") if device == "auto" else device


def _compute_type(library: Any, compute_type: str, device: str) -> str:
    usable = ["default", "auto", *sorted(library.get_supported_compute_types(device))]
    if compute_type in usable:
        return compute_type
    what = f"does not work on this {device}" if compute_type in COMPUTE_TYPES else "is not one of CTranslate2's"
    raise UserError(f"compute_type={compute_type} {what}; available here: {', '.join(usable)}")


def _default_workers(device: str) -> int:
    """One worker of one thread for each core, up to four; one for a graphics card.

    Workers do whole batches each and never wait for each other. Threads within a batch meet at every layer: on two idle
    cores two workers were twice as fast as one and two threads 1.1 times; on two busy ones neither gained anything.
    """
    return 1 if device == "cuda" else min(_MOST_WORKERS, _n_cores())


def _n_cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # a container or a batch system may give us fewer than there are
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _open_convention(directory: Path, options: Mapping[str, str], config: Mapping[str, Any]) -> Convention:
    source, target = (frozenset(_vocabulary(directory, side)) for side in ("source", "target"))
    place = Path(options["tokenizer"]) if "tokenizer" in options else directory
    if not place.exists():
        raise UserError(f"there is no tokeniser {place}; option tokenizer names a file, or a directory that has it")
    tokenisers = open_tokenisers(place)
    name = options.get("convention") or guess_convention(tokenisers, source, config.get("decoder_start_token"))
    if name not in CONVENTIONS:
        raise UserError(f"option convention of ctranslate2: is one of {', '.join(CONVENTIONS)}, not {name!r}")
    end = "" if name == "plain" or config.get("add_source_eos") else config["eos_token"]
    return Convention(name, tokenisers, source, target, end, options.get("source_prefix"), options.get("target_prefix"))


def _read_config(path: Path) -> dict[str, Any]:
    config = read_json(path)
    if not isinstance(config, dict):
        raise BadFile(path, "is not the configuration of a model; convert the model again")
    return {**config, "eos_token": config.get("eos_token") or "</s>"}


def _check_directory(directory: Path) -> None:
    if not directory.is_dir():
        raise UserError(
            f"there is no directory {directory}; ctranslate2: takes one with a converted model "
            "(a model by its name on the Hugging Face hub is hf:NAME)"
        )
    if not (directory / "model.bin").is_file():
        convert = (
            f"ct2-transformers-converter --model {directory} --output_dir {directory}-ct2 "
            "--copy_files source.spm target.spm"
        )
        if any(directory.glob("*.safetensors")) or any(directory.glob("pytorch_model*.bin")):
            raise UserError(
                f"{directory} is a model in Hugging Face's format; use hf:{directory}, or convert it with: {convert}"
            )
        raise UserError(
            f"{directory} is not a CTranslate2 model: it has no model.bin; convert a model of the Hugging Face hub "
            "with: ct2-transformers-converter --model NAME --output_dir DIR --copy_files source.spm target.spm"
        )
    if not (directory / "config.json").is_file():
        raise UserError(f"{directory} has a model.bin but no config.json, which belongs to it; convert the model again")


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
    words = read_json(path) if path.suffix == ".json" else read_text(path).removesuffix("\n").split("\n")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BadFile(path, "is not a list of words; convert the model again")
    return words


def _model_files(directory: Path) -> list[Path]:
    vocabularies = {_vocabulary_file(directory, side) for side in ("source", "target")}
    return [directory / "model.bin", directory / "config.json", *sorted(vocabularies)]


def _check_map(path: Path, words: Sequence[str]) -> None:
    """Refuse what the engine would pass over (no map) or make nothing of (a map of other words)."""
    if not path.is_file():
        raise UserError(
            f"use_vmap=yes needs the model's vocabulary map, and there is no {path}; convert the model with "
            "--vocab_mapping FILE, or leave the option out"
        )
    known, listed = frozenset(words), False
    for number, line in enumerate(read_text(path).splitlines(), 1):
        _, tab, targets = line.partition("\t")
        if not tab:
            raise BadFile(path, "has no tab; a line is words of the source, a tab, words of the target", line=number)
        listed = listed or not known.isdisjoint(targets.split(" "))
    if not listed:
        raise BadFile(path, "lists no word of the model's target vocabulary; make the map from the model's own pieces")


def content_hash(files: Sequence[Path], settings: Mapping[str, object]) -> str:
    """Of what decides a translation; not of where the files are."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for path in files:
        digest.update(name_and_content(path))
    return digest.hexdigest()[:16]


def _known_pair(directory: Path, convention: Convention) -> tuple[Direction, str] | None:
    if (facts := directory / "gendermark.json").is_file():
        row = read_json(facts)
        names = ("source_language", "target_language")
        if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in names):
            raise BadFile(
                facts, 'does not say which languages; write {"source_language": "en", "target_language": "es"}'
            )
        return (row["source_language"], row["target_language"]), f"its {facts.name} says so"
    if convention.is_multilingual:  # it may be called after one of its pairs
        return None
    if (readme := directory / "README.md").is_file():
        text = readme.read_text(encoding="utf-8", errors="replace")
        languages = [re.search(rf"^\W*{side} languages?: *([a-z]{{2}})$", text, re.M) for side in ("source", "target")]
        if languages[0] and languages[1]:
            return (languages[0][1], languages[1][1]), "its README.md says so"
    pair = pair_in(directory.resolve().name)
    return (pair, "its directory is named so") if pair else None
