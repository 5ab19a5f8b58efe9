"""What engines on this machine share, whichever library runs the model.

Requests are sorted by task and direction, cut into batches that memory suffices for, and samples are drawn from the
model's own distributions (`sampling.py`). A family says how its model is given a text, and what it does with one batch.
"""

from __future__ import annotations

import contextlib
import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from gendermark.errors import SystemFailure, UserError
from gendermark.records import Request, Task, Translation
from gendermark.systems.batching import Batches, by_length
from gendermark.systems.sampling import Continuation, Draw, draw
from gendermark.systems.system import KEPT, System, count_option
from gendermark.systems.tokenisers import Direction

WITHOUT_EFFECT = ("device", "batch_size", "threads", "workers")
"""Options that a name need not show: they say where and how fast the work is done."""
REQUESTS_PER_DRAWING = 16

Word = TypeVar("Word")
"""What a library wants a word to be: its text, or its number."""
Around = TypeVar("Around")
"""What stands around the texts of one direction."""
Some = TypeVar("Some")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Job(Generic[Word]):
    """One request as the model sees it."""

    request: Request
    source: list[Word]
    target: list[Word]
    """To score; else empty."""
    problem: str | None = None
    """Why it cannot be asked."""


@dataclass(frozen=True, slots=True)
class Prefix(Generic[Word]):
    """The beginning of a translation, to be continued."""

    number: int
    """Of its source, among those that are drawn for together."""
    source: list[Word]
    words: tuple[int, ...]


class Said(NamedTuple):
    """What a model said, as text."""

    text: str | None
    problem: str | None = None
    is_whole: bool = True
    """Whether the text is all that was said, so that the probability of the one is that of the other."""


class Score(NamedTuple):
    """How probable a translation is, its end included."""

    log_probability: float
    by_token: tuple[float, ...]


class _CannotContinue(Exception):
    """One source of a drawing is too much for the engine."""

    def __init__(self, number: int, reason: str) -> None:
        self.number, self.reason = number, reason


class Engine(System, Generic[Word, Around]):
    tasks = frozenset({Task.TRANSLATE, Task.SAMPLE, Task.SCORE})
    batch_size = 256  # sorted by length, then cut into the model's batches; each is safe as soon as it is done
    n_samples_per_call = 128
    is_asked_again_freely = True
    failures: tuple[type[Exception], ...] = (Exception,)
    """What the library raises where a batch fails."""
    _end: int
    """The number of the word that ends a translation."""
    _max_length: int
    """Most words of a translation."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._model_batch_size = count_option(options, "batch_size", 32)
        self._batches = Batches()

    # -- what a family says

    @abstractmethod
    def _around(self, direction: Direction) -> Around:
        """What stands around texts of this direction; refuses languages that the model is known not to have."""

    @abstractmethod
    def _job(self, request: Request, around: Around) -> Job[Word]: ...

    @abstractmethod
    def _translate(self, jobs: Sequence[Job[Word]], around: Around) -> list[Translation]: ...

    @abstractmethod
    def _score(self, jobs: Sequence[Job[Word]], around: Around) -> list[Score]: ...

    @abstractmethod
    def _follow(self, prefixes: Sequence[Prefix[Word]], around: Around, n_together: int) -> list[Continuation]:
        """The most probable way on from each prefix of a batch; `n_together` are followed in all batches."""

    @abstractmethod
    def _cut(self, prefixes: Sequence[Prefix[Word]]) -> list[list[int]]:
        """The places of prefixes in batches."""

    @abstractmethod
    def _said(self, request: Request, words: Sequence[int], ended: bool) -> Said:
        """The text of a translation's words, which came to their end or did not."""

    def _fault_of_one(self, problem: Exception) -> str | None:  # noqa: ARG002
        """Why a whole batch failed for one of its texts; None where it did not."""
        return None

    def _in_parallel(self, batches: Sequence[Some], work: Callable[[Some], Answer]) -> Iterator[Answer]:
        """The answers to each batch, in order."""
        return map(work, batches)

    def _quietly(self) -> contextlib.AbstractContextManager[None]:
        """In which the library is used."""
        return contextlib.nullcontext()

    # -- what follows from it

    def shard_size(self, task: Task) -> int:
        # A drawing takes long, and is always cut at these places.
        return REQUESTS_PER_DRAWING if task is Task.SAMPLE else self.batch_size

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:  # noqa: ARG002
        with self._quietly():
            self._around((source_language, target_language))

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        kinds: dict[tuple[Task, Direction], list[Request]] = {}
        for request in requests:
            kinds.setdefault((request.task, (request.source_language, request.target_language)), []).append(request)
        for (task, direction), group in kinds.items():
            with self._quietly():
                around = self._around(direction)
                jobs = [self._job(request, around) for request in group if request.source.strip()]
            unasked = [answer for request in group if not request.source.strip() for answer in _of_nothing(request)]
            unasked += [answer for job in jobs if job.problem for answer in _without(job.request, job.problem)]
            if unasked:
                yield unasked
            jobs = [job for job in jobs if not job.problem]
            if task is Task.SAMPLE:
                yield from self._sample(jobs, around)
                continue
            work = partial(self._translate if task is Task.TRANSLATE else self._scored, around=around)
            places = by_length([len(job.source) + len(job.target) for job in jobs], self._model_batch_size)
            batches = [[jobs[place] for place in batch] for batch in places]
            yield from self._in_parallel(batches, partial(self._run, work=work, give_up=_given_up))

    def n_best(self, requests: Sequence[Request], n: int) -> Iterator[Sequence[Translation]]:
        directions: dict[Direction, list[Request]] = {}
        for request in requests:
            directions.setdefault((request.source_language, request.target_language), []).append(request)
        for direction, group in directions.items():
            with self._quietly():
                around = self._around(direction)
                jobs = [self._job(request, around) for request in group if request.source.strip()]
            yield [answer for request in group if not request.source.strip() for answer in _of_nothing(request)]
            places = by_length([len(job.source) for job in jobs], self._model_batch_size)
            batches = [[jobs[place] for place in batch] for batch in places]
            work = partial(self._run, work=partial(self._list, around=around, n=n), give_up=_none_listed)
            for listed in self._in_parallel(batches, work):
                yield [answer for answers in listed for answer in answers]

    def _list(self, jobs: Sequence[Job[Word]], around: Around, n: int) -> list[list[Translation]]:
        """The n best of each, where a family can."""
        raise NotImplementedError

    def notes(self) -> Sequence[str]:
        return self._batches.notes()

    def _scored(self, jobs: Sequence[Job[Word]], around: Around) -> list[Translation]:
        return [
            Translation(
                job.request.request_id,
                job.request.target,
                log_probability=score.log_probability,
                n_tokens=len(score.by_token),
                token_log_probabilities=score.by_token,
            )
            for job, score in zip(jobs, self._score(jobs, around), strict=True)
        ]

    def _sample(self, jobs: Sequence[Job[Word]], around: Around) -> Iterator[Sequence[Translation]]:
        # In the order given and not by length: a run that goes on after a kill then has the same requests side by
        # side as one that was never disturbed, and not even a rounding error differs.
        for start in range(0, len(jobs), REQUESTS_PER_DRAWING):
            waiting = list(jobs[start : start + REQUESTS_PER_DRAWING])
            while waiting:
                requests = [job.request for job in waiting]
                way_on = partial(self._continue, [job.source for job in waiting], around)
                try:
                    drawn = draw(requests, way_on, frozenset({self._end}), self._max_length)
                except _CannotContinue as problem:
                    yield _without(waiting.pop(problem.number).request, problem.reason)
                    continue
                yield [answer for pair in zip(requests, drawn, strict=True) for answer in self._drawn(*pair)]
                break

    def _drawn(self, request: Request, draws: Sequence[Draw]) -> Iterator[Translation]:
        # Most samples of a request are equal.
        texts = {one: self._said(request, one.words, one.n_tokens > len(one.words)) for one in dict.fromkeys(draws)}
        for sample, one in zip(request.samples, draws, strict=True):
            said = texts[one]
            numbers = (one.log_probability, one.n_tokens) if said.is_whole else (None, None)
            yield Translation(request.request_id, said.text, sample, said.problem, *numbers)

    def _continue(
        self, sources: Sequence[list[Word]], around: Around, prefixes: Sequence[tuple[int, tuple[int, ...]]]
    ) -> list[Continuation]:
        """The most probable way on from each prefix, in the order given."""
        paths = [Prefix(number, sources[number], words) for number, words in prefixes]
        batches = self._cut(paths)
        work = partial(
            self._run, work=partial(self._follow, around=around, n_together=len(paths)), give_up=_cannot_continue
        )
        answers = self._in_parallel([[paths[place] for place in batch] for batch in batches], work)
        found = {
            place: continuation
            for batch, continuations in zip(batches, answers, strict=True)
            for place, continuation in zip(batch, continuations, strict=True)
        }
        return [found[place] for place in range(len(paths))]

    def _run(
        self,
        batch: Sequence[Some],
        work: Callable[[Sequence[Some]], list[Answer]],
        give_up: Callable[[Some, str], Answer],
    ) -> list[Answer]:
        try:
            with self._quietly():
                return self._batches.run(batch, work, give_up, self._fault_of_one)
        except (UserError, _CannotContinue):
            raise
        except self.failures as problem:
            raise SystemFailure(f"{self.spec} failed: {first_line(problem)} {KEPT}") from None


def _of_nothing(request: Request) -> list[Translation]:
    """An empty source has an empty translation, which no engine need be asked for."""
    if request.task is Task.SCORE:
        return _without(request, "the source is empty")
    return [Translation(request.request_id, "", sample) for sample in request.samples]


def _without(request: Request, reason: str) -> list[Translation]:
    return [Translation(request.request_id, None, sample, reason) for sample in request.samples]


def _given_up(job: Job[Word], reason: str) -> Translation:
    return Translation(job.request.request_id, None, error=reason)


def _none_listed(job: Job[Word], reason: str) -> list[Translation]:
    return [_given_up(job, reason)]


def _cannot_continue(prefix: Prefix[Word], reason: str) -> Continuation:
    raise _CannotContinue(prefix.number, reason)


def too_long(n_words: int | str) -> str:
    return f"the sentence or its translation is longer than the {n_words} words that this model can take"


def described(beam_size: int, precision: str, length_penalty: float | None) -> str:
    """How a model searches, for the signature; a penalty only where it is not the usual one."""
    penalty = [] if length_penalty is None else [f"length_penalty{length_penalty:g}"]
    return ",".join(["greedy" if beam_size == 1 else f"beam{beam_size}", precision, *penalty])


def name_and_content(path: Path) -> bytes:
    """Changes with a file's name and content, not with where it is."""
    with path.open("rb") as file:  # may have many gigabytes
        return path.name.encode() + b"\0" + hashlib.file_digest(file, "sha256").digest()


def first_line(problem: BaseException) -> str:
    return str(problem).strip().partition("\n")[0] or type(problem).__name__
