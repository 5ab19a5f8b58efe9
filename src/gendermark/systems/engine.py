"""Shared by local engines, whichever library runs the model.

Requests are grouped by task and direction and batched by length; a batch that does not fit into memory is halved.
Samples are drawn from the model's own distributions (`sampling.py`). A family implements tokenisation and single
batches.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gendermark.errors import SystemFailure, UserError, first_line
from gendermark.io.textfiles import name_and_content
from gendermark.records import Request, Task, Translation
from gendermark.systems.sampling import Continuation, Decoding, Draw, draw
from gendermark.systems.system import KEPT, System, by_direction, count_option
from gendermark.systems.tokenisers import Direction

SEARCH_OPTIONS = ("beam_size", "length_penalty", "max_length", "batch_size", "threads")
"""Options of all engines."""
WITHOUT_EFFECT = ("device", "batch_size", "threads", "workers")
"""Options omitted from a system's name: they affect where and how fast it runs."""
REQUESTS_PER_DRAWING = 16
# Engines have no error class for this; wording differs between devices.
_OUT_OF_MEMORY = ("out of memory", "bad alloc", "bad_alloc", "allocate memory", "not enough memory")

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Work = Callable[[Sequence[Item]], list[Answer]]
Tokens = list[Any]
"""As the library expects them: strings or numbers."""
Step = Callable[[Sequence[Sequence[int]]], NDArray[np.float32]]
"""From the next tokens of each translation to the logits that follow."""


class Job(NamedTuple):
    """One request in the model's tokens."""

    request: Request
    source: Tokens
    target: Tokens
    """Tokens to score, if any."""
    problem: str | None = None
    """Why it cannot be asked."""


class Prefix(NamedTuple):
    """The beginning of a translation, to be continued."""

    number: int
    """Number of its source among those sampled together."""
    source: Tokens
    tokens: tuple[int, ...]


class Output(NamedTuple):
    """The text of a model's tokens."""

    text: str | None
    problem: str | None = None
    is_whole: bool = True
    """Whether the text is all of the output, so that it has the output's log-probability."""


class _CannotContinue(Exception):
    """The engine cannot handle one of the sources sampled together."""

    def __init__(self, number: int, reason: str) -> None:
        self.number, self.reason = number, reason


class Engine(System):
    tasks = frozenset({Task.TRANSLATE, Task.SAMPLE, Task.SCORE})
    batch_size = 256  # sorted by length, then split into the model's batches; each is stored as soon as it is done
    n_samples_per_call = 128
    is_asked_again_freely = True
    failures: tuple[type[Exception], ...] = (Exception,)
    """Exceptions of the library for a failed batch."""
    _end: int
    """Number of the end token."""
    _max_length: int
    """Maximum tokens of a translation."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._model_batch_size = count_option(options, "batch_size", 32)
        self._largest_batch: int | None = None
        """None: every batch fitted into memory so far."""
        self._n_given_up = 0
        self._frames: dict[Direction, Any] = {}

    # -- what a family defines

    @abstractmethod
    def _new_frame(self, direction: Direction) -> Any:
        """Tokens around texts of a direction; refuses unsupported languages."""

    @abstractmethod
    def _job(self, request: Request, frame: Any) -> Job: ...

    @abstractmethod
    def _translate(self, jobs: Sequence[Job], frame: Any, n: int) -> list[list[Draw]]:
        """The best translation of each job, or the n best if a family `gives_n_best`."""

    @abstractmethod
    def _score(self, jobs: Sequence[Job], frame: Any) -> list[tuple[float, ...]]:
        """The log-probability of each token of each target, and of its end."""

    @abstractmethod
    def _continue(self, prefixes: Sequence[Prefix], frame: Any, n_together: int) -> list[Continuation]:
        """The greedy continuation of each prefix of a batch; `n_together` in all batches are in memory."""

    def _cut(self, prefixes: Sequence[Prefix]) -> list[list[int]]:
        """Batches as positions of prefixes."""
        return by_length([len(prefix.tokens) for prefix in prefixes], self._model_batch_size)

    @abstractmethod
    def _output(self, request: Request, tokens: Sequence[int], ended: bool) -> Output:
        """The text of a translation's tokens; `ended` is False if truncated."""

    def _fault_of_one(self, problem: Exception) -> str | None:  # noqa: ARG002
        """Why a whole batch failed because of one text; None if unrelated."""
        return None

    def _in_parallel(self, batches: Sequence[Item], work: Callable[[Item], Answer]) -> Iterator[Answer]:
        return map(work, batches)

    def _quietly(self) -> contextlib.AbstractContextManager[None]:
        """Context for calls of the library."""
        return contextlib.nullcontext()

    # -- the same for all

    def shard_size(self, task: Task) -> int:
        # Sampling is slow, and always split at these positions.
        return REQUESTS_PER_DRAWING if task is Task.SAMPLE else self.batch_size

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:  # noqa: ARG002
        with self._quietly():
            self._frame((source_language, target_language))

    def _frame(self, direction: Direction) -> Any:
        if direction not in self._frames:
            try:
                self._frames[direction] = self._new_frame(direction)
            except UserError as problem:
                raise UserError(f"{self.spec}: {problem}") from None
        return self._frames[direction]

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        for task in Task:
            of_task = [request for request in requests if request.task is task]
            for direction, group in by_direction(of_task).items():
                frame, jobs, unasked = self._jobs(direction, group)
                if unasked:
                    yield unasked
                if task is Task.SAMPLE:
                    yield from self._sample(jobs, frame)
                else:
                    work = self._translated if task is Task.TRANSLATE else self._scored
                    yield from self._in_batches(jobs, partial(work, frame=frame))

    def n_best(self, requests: Sequence[Request], n: int) -> Iterator[Sequence[Translation]]:
        for direction, group in by_direction(requests).items():
            frame, jobs, unasked = self._jobs(direction, group)
            yield unasked
            yield from self._in_batches(jobs, partial(self._translated, frame=frame, n=n))

    def notes(self) -> Sequence[str]:
        notes = []
        if self._largest_batch is not None:
            notes.append(f"out of memory at this batch size; reduced to {self._largest_batch}")
        if self._n_given_up:
            notes.append(f"out of memory for {self._n_given_up} sentences even one by one; rerun to ask for them again")
        return notes

    def _jobs(self, direction: Direction, requests: Sequence[Request]) -> tuple[Any, list[Job], list[Translation]]:
        """The frame of a direction, the jobs, and the answers to requests that need no engine."""
        with self._quietly():
            frame = self._frame(direction)
            jobs = [self._job(request, frame) for request in requests if request.source.strip()]
        unasked = [answer for job in jobs if job.problem for answer in _failed(job.request, job.problem)]
        for request in requests:
            if not request.source.strip():
                if request.task is Task.SCORE:
                    unasked += _failed(request, "the source is empty")
                else:  # has an empty translation
                    unasked += [Translation(request.request_id, "", sample) for sample in request.samples]
        return frame, [job for job in jobs if not job.problem], unasked

    def _in_batches(self, jobs: Sequence[Job], work: Work[Job, list[Translation]]) -> Iterator[Sequence[Translation]]:
        lengths = [len(job.source) + len(job.target) for job in jobs]
        batches = [[jobs[place] for place in batch] for batch in by_length(lengths, self._model_batch_size)]
        run = partial(self._run, work=work, give_up=lambda job, reason: _failed(job.request, reason))
        for rows in self._in_parallel(batches, run):
            yield [answer for row in rows for answer in row]

    def _translated(self, jobs: Sequence[Job], frame: Any, n: int = 1) -> list[list[Translation]]:
        return [
            [self._translation(job.request, one, rank) for rank, one in enumerate(found)]
            for job, found in zip(jobs, self._translate(jobs, frame, n), strict=True)
        ]

    def _translation(self, request: Request, found: Draw, sample: int) -> Translation:
        output = self._output(request, found.tokens, found.n_tokens > len(found.tokens))
        is_known = output.is_whole and found.log_probability is not None
        numbers = (found.log_probability, found.n_tokens) if is_known else (None, None)
        return Translation(request.request_id, output.text, sample, output.problem, *numbers)

    def _scored(self, jobs: Sequence[Job], frame: Any) -> list[list[Translation]]:
        return [
            [Translation(job.request.request_id, job.request.target, 0, None, sum(scores), len(scores), scores)]
            for job, scores in zip(jobs, self._score(jobs, frame), strict=True)
        ]

    def _sample(self, jobs: Sequence[Job], frame: Any) -> Iterator[Sequence[Translation]]:
        for job in jobs:
            Decoding.of(job.request.options)  # refuse wrong options before drawing
        # In the given order, not by length: a resumed run has the same batches, and identical rounding.
        for start in range(0, len(jobs), REQUESTS_PER_DRAWING):
            waiting = list(jobs[start : start + REQUESTS_PER_DRAWING])
            while waiting:
                requests = [job.request for job in waiting]
                go_on = partial(self._continue_all, [job.source for job in waiting], frame)
                try:
                    drawn = draw(requests, go_on, frozenset({self._end}), self._max_length)
                except _CannotContinue as problem:
                    yield _failed(waiting.pop(problem.number).request, problem.reason)
                    continue
                answers: list[Translation] = []
                for request, draws in zip(requests, drawn, strict=True):
                    # Most samples of a request are equal.
                    known = {one: self._translation(request, one, 0) for one in set(draws)}
                    pairs = zip(request.samples, draws, strict=True)
                    answers += [replace(known[one], sample=sample) for sample, one in pairs]
                yield answers
                break

    def _continue_all(
        self, sources: Sequence[Tokens], frame: Any, prefixes: Sequence[tuple[int, tuple[int, ...]]]
    ) -> list[Continuation]:
        paths = [Prefix(number, sources[number], tokens) for number, tokens in prefixes]
        batches = self._cut(paths)
        work = partial(self._continue, frame=frame, n_together=len(paths))
        run = partial(self._run, work=work, give_up=_cannot_continue)
        answers = self._in_parallel([[paths[place] for place in batch] for batch in batches], run)
        found: dict[int, Continuation] = {}
        for batch, continuations in zip(batches, answers, strict=True):
            found.update(zip(batch, continuations, strict=True))
        return [found[place] for place in range(len(paths))]

    def _run(
        self, batch: Sequence[Item], work: Work[Item, Answer], give_up: Callable[[Item, str], Answer]
    ) -> list[Answer]:
        """The answers to a batch, in order; items that fail alone are given up with a reason.

        A batch that does not fit into memory is halved, and later ones stay small. An item that makes its batch fail (a
        text that is too long) is also found by halving, but later batches stay large.
        """
        answers: list[Answer] = []
        waiting = deque([batch] if batch else [])
        while waiting:
            part = waiting.popleft()
            limit = self._largest_batch
            if limit is not None and len(part) > limit:
                waiting.extendleft(part[start : start + limit] for start in reversed(range(0, len(part), limit)))
                continue
            try:
                with self._quietly():
                    answers.extend(work(part))
                continue
            except UserError:
                raise
            except Exception as problem:
                reason = self._fault_of_one(problem)
                if reason is None and not is_out_of_memory(problem):
                    if not isinstance(problem, self.failures):
                        raise
                    raise SystemFailure(f"{self.spec} failed: {first_line(problem)} {KEPT}") from None
            # Outside `except`: the exception keeps the failed batch in memory.
            half = (len(part) + 1) // 2
            if len(part) > 1:
                waiting.extendleft((part[half:], part[:half]))
                if reason is None:
                    self._largest_batch = min(limit or half, half)
            else:
                self._n_given_up += reason is None
                answers.append(give_up(part[0], reason or "not enough memory for this sentence, even alone"))
        return answers


def _failed(request: Request, reason: str) -> list[Translation]:
    return [Translation(request.request_id, None, sample, reason) for sample in request.samples]


def _cannot_continue(prefix: Prefix, reason: str) -> Continuation:
    raise _CannotContinue(prefix.number, reason)


# -- batches


def by_length(lengths: Sequence[int], batch_size: int) -> list[list[int]]:
    """Positions of texts in batches of similar length, to limit padding.

    Longest first, so that insufficient memory shows early.
    """
    order = sorted(range(len(lengths)), key=lambda place: (-lengths[place], place))
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]


def padded(rows: Sequence[Sequence[int]], pad: int) -> list[list[int]]:
    longest = max(len(row) for row in rows)
    return [[*row, *[pad] * (longest - len(row))] for row in rows]


def is_out_of_memory(problem: BaseException) -> bool:
    """Whether a smaller batch could succeed, for any engine."""
    return isinstance(problem, MemoryError) or any(words in str(problem).lower() for words in _OUT_OF_MEMORY)


def greedy_paths(
    step: Step, prefixes: Sequence[tuple[int, ...]], end: int, n_steps: int, max_length: int, padding: int
) -> list[Continuation]:
    """All paths token by token in parallel, at the same position: longer prefixes are written first.

    This avoids padding on the target side, where many models ignore the mask when counting positions.
    """
    paths: list[list[int]] = [[] for _ in prefixes]
    rows: list[list[NDArray[np.float32]]] = [[] for _ in prefixes]
    position = min(map(len, prefixes))
    tokens: list[list[int]] = [list(prefix[:position]) for prefix in prefixes]
    running = set(range(len(prefixes)))
    while running:
        logits = step(tokens)
        tokens = []
        for place, (prefix, row) in enumerate(zip(prefixes, logits, strict=True)):
            if position < len(prefix):
                token = prefix[position]
            elif place in running:
                token = int(row.argmax())
                paths[place].append(token)
                rows[place].append(row.copy())
                # There may be no positions beyond the length limit.
                if token == end or len(paths[place]) == n_steps or position + 1 == max_length:
                    running.remove(place)
            else:
                token = padding
            tokens.append([token])
        position += 1
    return [Continuation(path, np.array(found)) for path, found in zip(paths, rows, strict=True)]


# -- names, messages, identity


def target_of(request: Request, spec: str) -> str:
    if not (request.target or "").strip():
        raise UserError(f"{spec} cannot score an empty translation (of {request.source!r})")
    return request.target or ""


def too_long(n_tokens: int | str) -> str:
    return f"sentence or translation exceeds the model's limit of {n_tokens} tokens"


def check_pair(own: Direction, direction: Direction, how: str) -> None:
    """Refuse a language pair other than the model's own; `how` that is known."""
    if own != direction:
        raise UserError(f"the model translates {'-'.join(own)} ({how}), not {'-'.join(direction)}; use another model")


def decoding_name(beam_size: int, precision: str, length_penalty: float | None) -> str:
    """Search settings for the signature; the length penalty only if not default."""
    penalty = [] if length_penalty is None else [f"length_penalty{length_penalty:g}"]
    return ",".join(["greedy" if beam_size == 1 else f"beam{beam_size}", precision, *penalty])


def content_hash(files: Sequence[Path], settings: Mapping[str, object]) -> str:
    """Hash of everything that affects a translation, independent of location."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for path in files:
        digest.update(name_and_content(path))
    return digest.hexdigest()[:16]
