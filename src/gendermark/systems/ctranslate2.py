"""`ctranslate2:DIR`: a model in CTranslate2's format, with its tokeniser beside it.

`DIR?beam_size=1&compute_type=int8` gives options with the name. What a model wants around a text is found out from its
files (`tokenisers.Convention`).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gendermark.errors import UserError
from gendermark.records import Request, Task, Translation
from gendermark.systems.batching import by_length
from gendermark.systems.ctranslate2_models import content_hash, open_model
from gendermark.systems.engine import WITHOUT_EFFECT, Engine, Job, Prefix, Said, Score, described, too_long
from gendermark.systems.sampling import Continuation
from gendermark.systems.system import (
    count_option,
    number_option,
    refuse_unknown_options,
    split_options,
    with_options,
)
from gendermark.systems.tokenisers import Direction, Frame

TASKS = Engine.tasks
OPTIONS = (
    "compute_type",
    "device",
    "beam_size",
    "length_penalty",
    "max_length",
    "use_vmap",
    "batch_size",
    "threads",
    "workers",
    "convention",
    "source_prefix",
    "target_prefix",
    "tokenizer",
)
FASTER = {"compute_type": ("float32", "int8"), "beam_size": ("5", "1")}
"""What `study speed` varies if it is not told what: from exact and slow to rounded and fast."""
_LOGIT_BYTES = 2**28
"""How much the distributions of one engine call may take up: a row as long as the vocabulary for each word."""

Some = TypeVar("Some")
Answer = TypeVar("Answer")


class CTranslate2(Engine[str, Frame]):
    failures = (RuntimeError, ValueError)
    gives_n_best = True

    def __init__(self, argument: str, options: Mapping[str, str], name: str = "") -> None:
        path, options = split_options(argument, options)
        refuse_unknown_options("ctranslate2", options, OPTIONS)
        super().__init__(options)
        self.spec = name or with_options(f"ctranslate2:{Path(path)}", options, WITHOUT_EFFECT)
        self._beam_size = count_option(options, "beam_size", 5)
        self._length_penalty = number_option(options, "length_penalty", 1.0, above=-1.0)
        self._max_length = count_option(options, "max_length", 256)
        model = open_model(Path(path), options)
        self._engine, self._workers = model.engine, model.n_workers
        self._convention, self._words = model.convention, model.words
        self._number_of = {word: number for number, word in enumerate(self._words)}
        self._end = self._number_of[model.end]
        self._pair, self._uses_map = model.pair, model.uses_map
        settings = {
            "beam_size": self._beam_size,
            "length_penalty": self._length_penalty,
            "max_length": self._max_length,
            "convention": self._convention.name,
            "prefixes": [self._convention.source_prefix, self._convention.target_prefix],
            # What was really chosen: "default" differs from machine to machine.
            "compute_type": self._engine.compute_type,
            "device": self._engine.device,
            **({"use_vmap": True} if self._uses_map else {}),
        }
        if self._uses_map:  # samples and scores need the probabilities of all words
            self.tasks = frozenset({Task.TRANSLATE})
        self.system_id = f"ctranslate2#{content_hash(model.files, settings)}"
        penalty = None if self._length_penalty == 1 else self._length_penalty
        self.decoding = described(self._beam_size, self._engine.compute_type, penalty)
        if self._uses_map:
            self.decoding += ",vmap"
        self.computing = f"{self._engine.device}, workers {self._workers}, threads of each {model.n_threads}"
        self._frames: dict[Direction, Frame] = {}

    def close(self) -> None:
        self._engine.unload_model()

    # -- what the model is given, and what it says

    def _around(self, direction: Direction) -> Frame:
        if direction not in self._frames:
            if self._pair is not None and self._pair[0] != direction:
                own, how = self._pair
                raise UserError(
                    f"{self.spec} translates {'-'.join(own)} ({how}), but {'-'.join(direction)} is asked for; "
                    "give a model for that pair"
                )
            try:
                self._frames[direction] = self._convention.frame(direction)
            except UserError as problem:
                raise UserError(f"{self.spec}: {problem}") from None
        return self._frames[direction]

    def _job(self, request: Request, around: Frame) -> Job[str]:
        source = self._convention.source(request.source, around)
        if request.task is not Task.SCORE:
            return Job(request, source, [])
        words = self._convention.target(request.target or "")
        if not words:
            raise UserError(
                f"{self.spec} is asked to score an empty translation of {request.source!r}; give one that has words"
            )
        return Job(request, source, [*around.before_target, *words])

    def _said(self, request: Request, words: Sequence[int], ended: bool) -> Said:  # noqa: ARG002
        return Said(self._convention.text([self._words[word] for word in words]))

    # -- one batch

    def _translate(self, jobs: Sequence[Job[str]], around: Frame) -> list[Translation]:
        return [answers[0] for answers in self._search(jobs, around, self._beam_size, 1)]

    def _list(self, jobs: Sequence[Job[str]], around: Frame, n: int) -> list[list[Translation]]:
        return self._search(jobs, around, max(self._beam_size, n), n)

    def _search(self, jobs: Sequence[Job[str]], around: Frame, beam_size: int, n: int) -> list[list[Translation]]:
        begin = list(around.before_target)
        results = self._engine.translate_batch(
            [job.source for job in jobs],
            target_prefix=[begin] * len(jobs) if begin else None,
            beam_size=beam_size,
            num_hypotheses=n,
            length_penalty=self._length_penalty,
            max_decoding_length=len(begin) + self._max_length,
            # Neither limit is the model's own: the first would change its first word's probability and forbid what
            # other engines allow, the second would cut a source without a word.
            min_decoding_length=0,
            max_input_length=0,
            use_vmap=self._uses_map,
            return_scores=True,
            return_end_token=True,
        )
        return [
            [self._translation(job.request, result, rank, len(begin)) for rank in range(len(result.hypotheses))]
            for job, result in zip(jobs, results, strict=True)
        ]

    def _translation(self, request: Request, result: Any, rank: int, n_begin: int) -> Translation:
        words = result.hypotheses[rank]
        text = self._convention.text(words[n_begin:])
        # Cut at the limit of length, it is not a whole text; among the words of a map alone, it is another probability.
        if words[-1:] != [self._words[self._end]] or self._uses_map:
            return Translation(request.request_id, text, rank)
        # The engine's score is divided by the length, given beginning included, to the power of the penalty.
        total = result.scores[rank] * len(words) ** self._length_penalty
        return Translation(request.request_id, text, rank, log_probability=total, n_tokens=len(words) - n_begin)

    def _score(self, jobs: Sequence[Job[str]], around: Frame) -> list[Score]:
        results = self._engine.score_batch(
            [job.source for job in jobs],
            [job.target for job in jobs],
            max_input_length=0,
            offset=len(around.before_target),
        )
        return [Score(sum(result.log_probs), tuple(result.log_probs)) for result in results]

    def _cut(self, prefixes: Sequence[Prefix[str]]) -> list[list[int]]:
        """As many at once as keep every worker busy, as memory allows, and as the user does."""
        lengths = [len(prefix.source) + len(prefix.words) for prefix in prefixes]
        n_fitting = _LOGIT_BYTES // (4 * len(self._words) * self._steps(max(lengths, default=1)))
        return by_length(lengths, max(1, min(self._model_batch_size, n_fitting, -(-len(prefixes) // self._workers))))

    def _steps(self, length: int) -> int:
        """How far to go at once. Few translations are twice as long; those that are, are continued again."""
        return min(self._max_length, 2 * length + 16)

    def _follow(self, prefixes: Sequence[Prefix[str]], around: Frame, n_together: int) -> list[Continuation]:  # noqa: ARG002
        begins = [[*around.before_target, *(self._words[word] for word in prefix.words)] for prefix in prefixes]
        longest = max(len(prefix.source) + len(prefix.words) for prefix in prefixes)
        results = self._engine.translate_batch(
            [prefix.source for prefix in prefixes],
            target_prefix=begins,
            beam_size=1,
            max_decoding_length=max(len(around.before_target) + self._steps(longest), 1 + max(map(len, begins))),
            min_decoding_length=0,  # else the end has no probability at the first step
            max_input_length=0,
            return_end_token=True,
            return_logits_vocab=True,
        )
        return [self._continuation(result, len(begin)) for result, begin in zip(results, begins, strict=True)]

    def _continuation(self, result: Any, n_begin: int) -> Continuation:
        """The engine gives a distribution for each given word too."""
        words = [self._number_of[word] for word in result.hypotheses[0][n_begin:]]
        rows = result.logits[0][n_begin:]
        if self._engine.device != "cpu":
            import ctranslate2

            # To where numpy can see them, and out of half precisions that it does not know.
            rows = [row.to_device(ctranslate2.Device.cpu).to(ctranslate2.DataType.float32) for row in rows]
        return Continuation(words, np.array([np.asarray(row)[: len(self._words)] for row in rows], dtype=np.float32))

    # -- the engine

    def _in_parallel(self, batches: Sequence[Some], work: Callable[[Some], Answer]) -> Iterator[Answer]:
        """The answers to each batch, in order; every worker of the engine has one to do."""
        if self._workers == 1 or len(batches) == 1:
            yield from map(work, batches)
            return
        with ThreadPoolExecutor(self._workers) as pool:
            under_way: deque[Future[Answer]] = deque()
            waiting = iter(batches)
            try:
                # One more than there are workers, so that none waits while answers are made safe.
                under_way.extend(pool.submit(work, batch) for batch in islice(waiting, self._workers + 1))
                while under_way:
                    answer = under_way.popleft().result()
                    under_way.extend(pool.submit(work, batch) for batch in islice(waiting, 1))
                    yield answer
            finally:
                pool.shutdown(cancel_futures=True)

    def _fault_of_one(self, problem: Exception) -> str | None:
        limit = re.search(r"No position encodings are defined for positions >= (\d+)", str(problem))
        return too_long(limit[1]) if limit else None
