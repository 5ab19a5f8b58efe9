"""`ctranslate2:DIR`: a model in CTranslate2's format, with its tokeniser beside it.

`DIR?beam_size=1&compute_type=int8` gives options with the name. What a model wants around a text is found out from its
files (`tokenisers.Convention`).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Task, Translation
from gendermark.systems.batching import Batches, by_length
from gendermark.systems.ctranslate2_models import content_hash, first_line, open_model
from gendermark.systems.sampling import Continuation, Draw, draw
from gendermark.systems.system import System, count_option, merge_options, number_option, refuse_unknown_options
from gendermark.systems.tokenisers import Direction, Frame

TASKS = frozenset({Task.TRANSLATE, Task.SAMPLE, Task.SCORE})
OPTIONS = (
    "compute_type",
    "device",
    "beam_size",
    "length_penalty",
    "max_length",
    "batch_size",
    "threads",
    "workers",
    "convention",
    "source_prefix",
    "target_prefix",
    "tokenizer",
)
_WITHOUT_EFFECT = ("device", "batch_size", "threads", "workers")
"""Options that a name need not show: they say where and how fast the work is done."""
_REQUESTS_PER_DRAWING = 16
_LOGIT_BYTES = 2**28
"""How much the distributions of one engine call may take up: a row as long as the vocabulary for each word."""

Job = TypeVar("Job")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _Job:
    """One request as the engine sees it."""

    request: Request
    source: list[str]
    target: list[str]
    """To score; else empty."""


class _CannotContinue(Exception):
    """One source of a drawing is too much for the engine."""

    def __init__(self, number: int, reason: str) -> None:
        self.number, self.reason = number, reason


class CTranslate2(System):
    tasks = TASKS
    batch_size = 1024  # sorted by length, then cut into engine batches; each of those is safe as soon as it is done
    n_samples_per_call = 128

    def __init__(self, argument: str, options: Mapping[str, str], name: str = "") -> None:
        directory, options = _split(argument, options)
        refuse_unknown_options("ctranslate2", options, OPTIONS)
        self.spec = name or _shown(directory, options)
        self._beam_size = count_option(options, "beam_size", 5)
        self._length_penalty = number_option(options, "length_penalty", 1.0, above=-1.0)
        self._max_length = count_option(options, "max_length", 256)
        self._engine_batch_size = count_option(options, "batch_size", 32)
        model = open_model(directory, options)
        self._engine, self._workers = model.engine, model.n_workers
        self._convention, self._words, self._end = model.convention, model.words, model.end
        self._number_of = {word: number for number, word in enumerate(self._words)}
        self._pair = model.pair
        settings = {
            "beam_size": self._beam_size,
            "length_penalty": self._length_penalty,
            "max_length": self._max_length,
            "convention": self._convention.name,
            "prefixes": [self._convention.source_prefix, self._convention.target_prefix],
            # What was really chosen: "default" differs from machine to machine.
            "compute_type": self._engine.compute_type,
            "device": self._engine.device,
        }
        self.system_id = f"ctranslate2#{content_hash(model.files, settings)}"
        self.decoding = self._described()
        self._batches = Batches()
        self._frames: dict[Direction, Frame] = {}

    def _described(self) -> str:
        parts = ["greedy" if self._beam_size == 1 else f"beam{self._beam_size}", self._engine.compute_type]
        return ",".join(parts + [f"length_penalty{self._length_penalty:g}"] * (self._length_penalty != 1))

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:  # noqa: ARG002
        self._frame((source_language, target_language))

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        kinds: dict[tuple[Task, Direction], list[Request]] = {}
        for request in requests:
            kinds.setdefault((request.task, (request.source_language, request.target_language)), []).append(request)
        answers = {Task.TRANSLATE: self._translate, Task.SAMPLE: self._sample, Task.SCORE: self._score}
        for (task, direction), group in kinds.items():
            frame = self._frame(direction)
            if empty := [request for request in group if not request.source.strip()]:
                yield [_of_nothing(request, sample) for request in empty for sample in request.samples]
            yield from answers[task]([request for request in group if request.source.strip()], frame)

    def notes(self) -> Sequence[str]:
        return self._batches.notes()

    def close(self) -> None:
        self._engine.unload_model()

    def _frame(self, direction: Direction) -> Frame:
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

    # -- translating

    def _translate(self, requests: Sequence[Request], frame: Frame) -> Iterator[Sequence[Translation]]:
        jobs = [_Job(request, self._convention.source(request.source, frame), []) for request in requests]
        work = partial(self._translate_batch, frame=frame)
        yield from self._answer_in_batches(jobs, work)

    def _translate_batch(self, jobs: Sequence[_Job], frame: Frame) -> list[Translation]:
        begin = list(frame.before_target)
        results = self._engine.translate_batch(
            [job.source for job in jobs],
            target_prefix=[begin] * len(jobs) if begin else None,
            beam_size=self._beam_size,
            length_penalty=self._length_penalty,
            max_decoding_length=len(begin) + self._max_length,
            # Neither limit is the model's own: the first would change its first word's probability and forbid what
            # other engines allow, the second would cut a source without a word.
            min_decoding_length=0,
            max_input_length=0,
            return_scores=True,
            return_end_token=True,
        )
        return [self._translation(job.request, result, len(begin)) for job, result in zip(jobs, results, strict=True)]

    def _translation(self, request: Request, result: Any, n_begin: int) -> Translation:
        words = result.hypotheses[0]
        text = self._convention.text(words[n_begin:])
        if words[-1:] != [self._end]:  # cut at the limit of length: not a whole text
            return Translation(request.request_id, text)
        # The engine's score is divided by the length, given beginning included, to the power of the penalty.
        total = result.scores[0] * len(words) ** self._length_penalty
        return Translation(request.request_id, text, log_probability=total, n_tokens=len(words) - n_begin)

    # -- scoring

    def _score(self, requests: Sequence[Request], frame: Frame) -> Iterator[Sequence[Translation]]:
        jobs = []
        for request in requests:
            words = self._convention.target(request.target or "")
            if not words:
                raise UserError(
                    f"{self.spec} is asked to score an empty translation of {request.source!r}; give one that has words"
                )
            source = self._convention.source(request.source, frame)
            jobs.append(_Job(request, source, [*frame.before_target, *words]))
        work = partial(self._score_batch, n_begin=len(frame.before_target))
        yield from self._answer_in_batches(jobs, work)

    def _score_batch(self, jobs: Sequence[_Job], n_begin: int) -> list[Translation]:
        results = self._engine.score_batch(
            [job.source for job in jobs], [job.target for job in jobs], max_input_length=0, offset=n_begin
        )
        return [
            Translation(
                job.request.request_id,
                job.request.target,
                log_probability=sum(result.log_probs),
                n_tokens=len(result.log_probs),
                token_log_probabilities=tuple(result.log_probs),
            )
            for job, result in zip(jobs, results, strict=True)
        ]

    # -- drawing samples

    def _sample(self, requests: Sequence[Request], frame: Frame) -> Iterator[Sequence[Translation]]:
        # In the order given and not by length: a run that goes on after a kill then has the same requests side by
        # side as one that was never disturbed, and not even a rounding error differs.
        for start in range(0, len(requests), _REQUESTS_PER_DRAWING):
            waiting = list(requests[start : start + _REQUESTS_PER_DRAWING])
            while waiting:
                sources = [self._convention.source(request.source, frame) for request in waiting]
                try:
                    way_on = partial(self._continue, sources, frame=frame)
                    drawn = draw(waiting, way_on, frozenset({self._number_of[self._end]}), self._max_length)
                except _CannotContinue as problem:
                    yield _given_up(waiting.pop(problem.number), problem.reason)
                    continue
                yield [answer for pair in zip(waiting, drawn, strict=True) for answer in self._drawn(*pair)]
                break

    def _drawn(self, request: Request, draws: Sequence[Draw]) -> Iterator[Translation]:
        # Most samples of a request are equal.
        texts = {found.words: "" for found in draws}
        for words in texts:
            texts[words] = self._convention.text([self._words[word] for word in words])
        for sample, found in zip(request.samples, draws, strict=True):
            yield Translation(
                request.request_id,
                texts[found.words],
                sample,
                log_probability=found.log_probability,
                n_tokens=found.n_tokens,
            )

    def _continue(
        self, sources: Sequence[list[str]], prefixes: Sequence[tuple[int, tuple[int, ...]]], frame: Frame
    ) -> list[Continuation]:
        """The most probable way on from each prefix, in the order given."""
        lengths = [len(sources[number]) + len(prefix) for number, prefix in prefixes]
        found: list[Continuation | None] = [None] * len(prefixes)
        batches = by_length(lengths, self._paths_per_batch(max(lengths, default=1), len(prefixes)))

        def work(batch: list[int]) -> list[Continuation]:
            jobs = [(number, sources[number], prefix) for number, prefix in (prefixes[place] for place in batch)]
            return self._run(jobs, partial(self._continue_batch, frame=frame), _cannot_continue)

        for batch, continuations in zip(batches, self._in_parallel(batches, work), strict=True):
            for place, continuation in zip(batch, continuations, strict=True):
                found[place] = continuation
        return [continuation for continuation in found if continuation is not None]

    def _paths_per_batch(self, longest: int, n_paths: int) -> int:
        """As many as keep every worker busy, as memory allows, and as the user does."""
        n_fitting = _LOGIT_BYTES // (4 * len(self._words) * self._steps(longest))
        return max(1, min(self._engine_batch_size, n_fitting, -(-n_paths // self._workers)))

    def _steps(self, length: int) -> int:
        """How far to go at once. Few translations are twice as long; those that are, are continued again."""
        return min(self._max_length, 2 * length + 16)

    def _continue_batch(
        self, jobs: Sequence[tuple[int, list[str], tuple[int, ...]]], frame: Frame
    ) -> list[Continuation]:
        begins = [[*frame.before_target, *(self._words[word] for word in prefix)] for _, _, prefix in jobs]
        longest = max(len(source) + len(prefix) for _, source, prefix in jobs)
        results = self._engine.translate_batch(
            [source for _, source, _ in jobs],
            target_prefix=begins,
            beam_size=1,
            max_decoding_length=max(len(frame.before_target) + self._steps(longest), 1 + max(map(len, begins))),
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

    def _answer_in_batches(
        self, jobs: Sequence[_Job], work: Callable[[Sequence[_Job]], list[Translation]]
    ) -> Iterator[Sequence[Translation]]:
        places = by_length([len(job.source) + len(job.target) for job in jobs], self._engine_batch_size)
        batches = [[jobs[place] for place in batch] for batch in places]
        yield from self._in_parallel(batches, lambda batch: self._run(batch, work, _without_answer))

    def _in_parallel(self, batches: Sequence[Job], work: Callable[[Job], Answer]) -> Iterator[Answer]:
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

    def _run(
        self, batch: Sequence[Job], work: Callable[[Sequence[Job]], list[Answer]], give_up: Callable[[Job, str], Answer]
    ) -> list[Answer]:
        try:
            return self._batches.run(batch, work, give_up, _too_long)
        except (RuntimeError, ValueError) as problem:
            raise SystemFailure(
                f"{self.spec} failed: {first_line(problem)} (finished translations are kept; run again to go on)"
            ) from None


def _of_nothing(request: Request, sample: int) -> Translation:
    """An empty source has an empty translation, which no engine need be asked for."""
    if request.task is Task.SCORE:
        return Translation(request.request_id, None, sample, "the source is empty")
    return Translation(request.request_id, "", sample)


def _without_answer(job: _Job, reason: str) -> Translation:
    return Translation(job.request.request_id, None, error=reason)


def _given_up(request: Request, reason: str) -> list[Translation]:
    return [Translation(request.request_id, None, sample, reason) for sample in request.samples]


def _cannot_continue(job: tuple[int, list[str], tuple[int, ...]], reason: str) -> Continuation:
    raise _CannotContinue(job[0], reason)


def _too_long(problem: Exception) -> str | None:
    if limit := re.search(r"No position encodings are defined for positions >= (\d+)", str(problem)):
        return f"the sentence or its translation is longer than the {limit[1]} words that this model can take"
    return None


def _split(argument: str, options: Mapping[str, str]) -> tuple[Path, dict[str, str]]:
    """The directory and all options, from both places where they can be given."""
    path, question_mark, query = argument.partition("?")
    if not question_mark or Path(argument).is_dir():
        return Path(argument), dict(options)
    return Path(path), merge_options(query, options)


def _shown(directory: Path, options: Mapping[str, str]) -> str:
    """The name, with every option that could change a translation, however it was given."""
    shown = "&".join(f"{key}={options[key]}" for key in sorted(options) if key not in _WITHOUT_EFFECT)
    return f"ctranslate2:{directory}?{shown}" if shown else f"ctranslate2:{directory}"


def open_system(argument: str, options: Mapping[str, str], name: str = "") -> System:
    """`name` is for families that bring their own model."""
    return CTranslate2(argument, options, name)
