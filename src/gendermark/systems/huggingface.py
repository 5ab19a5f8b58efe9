"""`hf:NAME_OR_DIR`: a model of the Hugging Face hub, or in a directory, run with transformers.

Two kinds, told by the model's configuration: translation models with an encoder and a decoder (OPUS-MT, M2M100, NLLB,
mBART, T5 ...), and language models that are asked for a translation by a prompt (`prompts.py`).
`NAME?beam_size=1&dtype=bfloat16` gives options with the name.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gendermark.errors import MissingExtra, UserError
from gendermark.records import Request, Task, Translation
from gendermark.systems.batching import by_length
from gendermark.systems.engine import WITHOUT_EFFECT, Engine, Job, Prefix, Said, Score, too_long
from gendermark.systems.huggingface_dialects import Dialect, Prompted, Translator
from gendermark.systems.huggingface_models import LOGIT_BYTES, open_model
from gendermark.systems.huggingface_opening import Words, is_installed, locate, open_config, open_tokeniser, quietly
from gendermark.systems.sampling import Continuation, Decoding
from gendermark.systems.system import refuse_unknown_options, split_options, with_options
from gendermark.systems.tokenisers import Direction

TASKS = Engine.tasks
OPTIONS = (
    "device",
    "dtype",
    "beam_size",
    "length_penalty",
    "max_length",
    "batch_size",
    "threads",
    "revision",
    "source_prefix",
    "prompt",
    "system",
)
FASTER = {"dtype": ("float32", "int8"), "beam_size": ("5", "1")}
"""What `study speed` varies if it is not told what."""


class HuggingFace(Engine[int, Words]):
    """What stands around a text is its dialect's; to the model itself it is the beginning of a translation."""

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        name, options = split_options(argument, options)
        if "trust_remote_code" in options:
            raise UserError("hf: never runs code that comes with a model; leave out trust_remote_code")
        refuse_unknown_options("hf", options, OPTIONS)
        self.spec = with_options(f"hf:{name}", options, WITHOUT_EFFECT)
        for package in ("torch", "transformers"):
            if not is_installed(package):
                raise MissingExtra(self.spec, "hf")
        super().__init__(options)
        with quietly():
            place = locate(self.spec, name, options.get("revision"))
            config = open_config(self.spec, place)
            tokeniser = open_tokeniser(self.spec, place)
            self._dialect: Dialect = (
                Translator(self.spec, place, config, tokeniser, options)
                if config.is_encoder_decoder
                else Prompted(self.spec, place, tokeniser, options)
            )
            self._model = open_model(self.spec, place, config, options, self._dialect.further_ends)
        self._end, self._max_length = self._model.end, self._model.max_length
        self.decoding = self._model.described
        self.computing = self._model.computing
        settings = {**self._model.settings, **self._dialect.settings}
        key = json.dumps([place.content, settings], sort_keys=True)
        self.system_id = f"hf#{hashlib.sha256(key.encode()).hexdigest()[:16]}"

    def close(self) -> None:
        self._model.unload()

    def _quietly(self) -> contextlib.AbstractContextManager[None]:
        return quietly()

    # -- what the model is given, and what it says

    def _around(self, direction: Direction) -> Words:
        return self._dialect.begin(direction) or self._model.begin

    def _job(self, request: Request, around: Words) -> Job[int]:  # noqa: ARG002
        source, target, problem = self._dialect.source(request), Words(), None
        if request.task is Task.SCORE:
            if not (request.target or "").strip():
                raise UserError(
                    f"{self.spec} is asked how likely an empty translation of {request.source!r} is; give one with "
                    "words"
                )
            target = self._dialect.target(request)
        elif request.task is Task.SAMPLE:
            Decoding.of(request.options)  # said before anything is drawn
        if (limit := self._model.n_positions) is not None:
            room = self._model.room_needed(len(target) if target else self._model.max_length)
            # The start and a language's mark have positions as well.
            if len(source) + room > limit or len(target) + 2 > limit:
                problem = too_long(limit)
        return Job(request, source, target, problem)

    def _said(self, request: Request, words: Sequence[int], ended: bool) -> Said:
        return self._dialect.text(request, words, ended)

    # -- one batch

    def _translate(self, jobs: Sequence[Job[int]], around: Words) -> list[Translation]:
        said = self._model.generate([job.source for job in jobs], around)
        finished = [place for place, (_, ended) in enumerate(said) if ended]
        scores = self._model.score([jobs[place].source for place in finished], around, [said[p][0] for p in finished])
        score_of = dict(zip(finished, scores, strict=True))
        return [
            self._translation(job.request, words, ended, score_of.get(place))
            for place, (job, (words, ended)) in enumerate(zip(jobs, said, strict=True))
        ]

    def _translation(
        self, request: Request, words: Sequence[int], ended: bool, scores: NDArray[np.float64] | None
    ) -> Translation:
        said = self._said(request, words, ended)
        numbers = (float(scores.sum()), len(scores)) if scores is not None and said.is_whole else (None, None)
        return Translation(request.request_id, said.text, 0, said.problem, *numbers)

    def _score(self, jobs: Sequence[Job[int]], around: Words) -> list[Score]:
        scores = self._model.score([job.source for job in jobs], around, [job.target for job in jobs])
        return [Score(float(found.sum()), tuple(found.tolist())) for found in scores]

    def _cut(self, prefixes: Sequence[Prefix[int]]) -> list[list[int]]:
        return by_length([len(prefix.words) for prefix in prefixes], self._model_batch_size)

    def _follow(self, prefixes: Sequence[Prefix[int]], around: Words, n_together: int) -> list[Continuation]:
        sources = [prefix.source for prefix in prefixes]
        # Few translations are twice as long as their source; those that are, are continued again.
        fitting = 4 * LOGIT_BYTES // (4 * self._model.n_words * n_together)
        n_steps = max(1, min(self._max_length, 2 * max(map(len, sources)) + 16, fitting))
        return self._model.follow(sources, around, [prefix.words for prefix in prefixes], n_steps)
