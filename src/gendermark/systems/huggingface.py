"""`hf:NAME_OR_DIR`: a model of the Hugging Face hub, or in a directory, run with transformers.

Two kinds, told by the model's configuration: translation models with an encoder and a decoder (OPUS-MT, M2M100, NLLB,
mBART, T5 ...), and language models that are asked for a translation by a prompt (`prompts.py`).
`NAME?beam_size=1&dtype=bfloat16` gives options with the name.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gendermark.errors import MissingExtra, SystemFailure, UserError
from gendermark.linguistics.codes import LANGUAGES
from gendermark.records import Request, Task, Translation
from gendermark.systems.batching import Batches, by_length
from gendermark.systems.extraction import EXTRACTION_VERSION, extract
from gendermark.systems.huggingface_models import (
    LOGIT_BYTES,
    Place,
    Words,
    first_line,
    is_installed,
    listed,
    locate,
    open_config,
    open_model,
    open_tokeniser,
    quietly,
)
from gendermark.systems.prompts import open_prompt
from gendermark.systems.sampling import Continuation, Decoding, Draw, draw
from gendermark.systems.system import System, count_option, merge_options, refuse_unknown_options
from gendermark.systems.tokenisers import Convention, Direction, Tokenisers

TASKS = frozenset({Task.TRANSLATE, Task.SAMPLE, Task.SCORE})
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
_WITHOUT_EFFECT = ("device", "batch_size", "threads")
"""Options that a name need not show: they say where and how fast the work is done."""
_REQUESTS_PER_DRAWING = 16
_NEW_LINES = ("\n", "Ċ", "<0x0A>")
"""How tokenisers write a line break at the start of a word."""
_CODE_OF = {name: code for code, facts in LANGUAGES.items() for name in (code, facts.nllb.partition("_")[0])}
_NO_TOKENISER: Any = None

Job = TypeVar("Job")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _Job:
    """One request as the model sees it."""

    request: Request
    source: Words
    target: Words
    """To score; else empty."""
    problem: str | None = None
    """Why it cannot be asked."""


class _CannotContinue(Exception):
    """One source of a drawing does not fit into memory."""

    def __init__(self, number: int, reason: str) -> None:
        self.number, self.reason = number, reason


class HuggingFace(System):
    tasks = TASKS
    batch_size = 1024  # sorted by length, then cut into batches; each of those is safe as soon as it is done
    n_samples_per_call = 128

    def __init__(self, argument: str, options: Mapping[str, str]) -> None:
        name, options = _split(argument, options)
        if "trust_remote_code" in options:
            raise UserError("hf: never runs code that comes with a model; leave out trust_remote_code")
        refuse_unknown_options("hf", options, OPTIONS)
        self.spec = _shown(name, options)
        for package in ("torch", "transformers"):
            if not is_installed(package):
                raise MissingExtra(self.spec, "hf")
        self._job_batch_size = count_option(options, "batch_size", 32)
        with quietly():
            place = locate(self.spec, name, options.get("revision"))
            config = open_config(self.spec, place)
            tokeniser = open_tokeniser(self.spec, place)
            self._dialect: _Dialect = (
                _Translator(self.spec, place, config, tokeniser, options)
                if config.is_encoder_decoder
                else _Prompted(self.spec, place, tokeniser, options)
            )
            self._model = open_model(self.spec, place, config, options, self._dialect.further_ends)
        self.decoding = self._model.described
        settings = {**self._model.settings, **self._dialect.settings}
        key = json.dumps([place.content, settings], sort_keys=True)
        self.system_id = f"hf#{hashlib.sha256(key.encode()).hexdigest()[:16]}"
        self._batches = Batches()

    def check(self, source_language: str, target_language: str, requests: Sequence[Request]) -> None:  # noqa: ARG002
        with quietly():
            self._dialect.begin((source_language, target_language))

    def answer(self, requests: Sequence[Request]) -> Iterator[Sequence[Translation]]:
        kinds: dict[tuple[Task, Direction], list[Request]] = {}
        for request in requests:
            kinds.setdefault((request.task, (request.source_language, request.target_language)), []).append(request)
        for (task, direction), group in kinds.items():
            with quietly():
                begin = self._dialect.begin(direction) or self._model.begin
                jobs = [self._job(request) for request in group]
            if unasked := [job for job in jobs if job.problem is not None or not job.request.source.strip()]:
                yield [answer for job in unasked for answer in _without_model(job)]
            jobs = [job for job in jobs if job.problem is None and job.request.source.strip()]
            if task is Task.SAMPLE:
                yield from self._sample(jobs, begin)
                continue
            work = partial(self._translate if task is Task.TRANSLATE else self._score, begin=begin)
            for batch in by_length([len(job.source) + len(job.target) for job in jobs], self._job_batch_size):
                yield self._run([jobs[place] for place in batch], work, _given_up)

    def notes(self) -> Sequence[str]:
        return self._batches.notes()

    def close(self) -> None:
        self._model.unload()

    def _job(self, request: Request) -> _Job:
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
                problem = f"the sentence or its translation is longer than the {limit} words that this model can take"
        return _Job(request, source, target, problem)

    # -- translating

    def _translate(self, jobs: Sequence[_Job], begin: Words) -> list[Translation]:
        said = self._model.generate([job.source for job in jobs], begin)
        finished = [place for place, (_, ended) in enumerate(said) if ended]
        scores = self._model.score([jobs[place].source for place in finished], begin, [said[p][0] for p in finished])
        score_of = dict(zip(finished, scores, strict=True))
        return [
            self._translation(job.request, 0, words, ended, score_of.get(place))
            for place, (job, (words, ended)) in enumerate(zip(jobs, said, strict=True))
        ]

    def _translation(
        self, request: Request, sample: int, words: Sequence[int], ended: bool, scores: NDArray[np.float64] | None
    ) -> Translation:
        text, problem, is_whole = self._dialect.text(request, words, ended)
        if scores is None or not is_whole:
            return Translation(request.request_id, text, sample, problem)
        return Translation(
            request.request_id, text, sample, problem, log_probability=float(scores.sum()), n_tokens=len(scores)
        )

    # -- scoring

    def _score(self, jobs: Sequence[_Job], begin: Words) -> list[Translation]:
        scores = self._model.score([job.source for job in jobs], begin, [job.target for job in jobs])
        return [
            Translation(
                job.request.request_id,
                job.request.target,
                log_probability=float(found.sum()),
                n_tokens=len(found),
                token_log_probabilities=tuple(found.tolist()),
            )
            for job, found in zip(jobs, scores, strict=True)
        ]

    # -- drawing samples

    def _sample(self, jobs: Sequence[_Job], begin: Words) -> Iterator[Sequence[Translation]]:
        # In the order given and not by length: a run that goes on after a kill then has the same requests side by
        # side as one that was never disturbed.
        for start in range(0, len(jobs), _REQUESTS_PER_DRAWING):
            waiting = list(jobs[start : start + _REQUESTS_PER_DRAWING])
            while waiting:
                sources = [job.source for job in waiting]
                try:
                    drawn = draw(
                        [job.request for job in waiting],
                        partial(self._continue, sources, begin),
                        frozenset({self._model.end}),
                        self._model.max_length,
                    )
                except _CannotContinue as problem:
                    job = waiting.pop(problem.number)
                    yield [
                        Translation(job.request.request_id, None, sample, problem.reason)
                        for sample in job.request.samples
                    ]
                    continue
                yield [answer for job, draws in zip(waiting, drawn, strict=True) for answer in self._drawn(job, draws)]
                break

    def _drawn(self, job: _Job, draws: Sequence[Draw]) -> Iterator[Translation]:
        # Most samples of a request are equal.
        texts = {found: self._dialect.text(job.request, found.words, _ended(found)) for found in dict.fromkeys(draws)}
        for sample, found in zip(job.request.samples, draws, strict=True):
            text, problem, is_whole = texts[found]
            yield Translation(
                job.request.request_id,
                text,
                sample,
                problem,
                log_probability=found.log_probability if is_whole else None,
                n_tokens=found.n_tokens if is_whole else None,
            )

    def _continue(
        self, sources: Sequence[Words], begin: Words, prefixes: Sequence[tuple[int, tuple[int, ...]]]
    ) -> list[Continuation]:
        """The most probable way on from each prefix, in the order given."""
        # Few translations are twice as long as their source; those that are, are continued again.
        fitting = 4 * LOGIT_BYTES // (4 * self._model.n_words * len(prefixes))
        found: list[Continuation | None] = [None] * len(prefixes)

        def work(places: Sequence[int]) -> list[Continuation]:
            rows = [sources[prefixes[place][0]] for place in places]
            n_steps = max(1, min(self._model.max_length, 2 * max(map(len, rows)) + 16, fitting))
            return self._model.follow(rows, begin, [prefixes[place][1] for place in places], n_steps)

        def give_up(place: int, reason: str) -> Continuation:
            raise _CannotContinue(prefixes[place][0], reason)

        for batch in by_length([len(prefix) for _, prefix in prefixes], self._job_batch_size):
            for place, continuation in zip(batch, self._run(batch, work, give_up), strict=True):
                found[place] = continuation
        return [continuation for continuation in found if continuation is not None]

    # -- the library

    def _run(
        self, batch: Sequence[Job], work: Callable[[Sequence[Job]], list[Answer]], give_up: Callable[[Job, str], Answer]
    ) -> list[Answer]:
        try:
            with quietly():
                return self._batches.run(batch, work, give_up)
        except (UserError, _CannotContinue):
            raise
        except Exception as problem:  # noqa: BLE001 (models and devices raise what they like)
            raise SystemFailure(
                f"{self.spec} failed: {first_line(problem)} (finished translations are kept; run again to go on)"
            ) from None


def _ended(found: Draw) -> bool:
    return found.n_tokens > len(found.words)


def _given_up(job: _Job, reason: str) -> Translation:
    return Translation(job.request.request_id, None, error=reason)


def _without_model(job: _Job) -> Iterator[Translation]:
    """An empty source has an empty translation; what cannot be asked has none."""
    problem = job.problem or ("the source is empty" if job.request.task is Task.SCORE else None)
    for sample in job.request.samples:
        yield Translation(job.request.request_id, None if problem else "", sample, problem)


# -- what stands around a text -----------------------------------------------------------------------------------------


class _Dialect(ABC):
    """How a model is given a source, and how its words become a text."""

    settings: Mapping[str, Any]
    """What of it can change a translation, beyond the model itself."""
    further_ends: frozenset[int] = frozenset()
    """Words that end a translation, beyond the model's own."""

    @abstractmethod
    def begin(self, direction: Direction) -> Words:
        """The words that every translation begins with; refuses languages that the model is known not to have."""

    @abstractmethod
    def source(self, request: Request) -> Words: ...

    @abstractmethod
    def target(self, request: Request) -> Words:
        """The words of the translation to score, without its beginning and end."""

    @abstractmethod
    def text(self, request: Request, words: Sequence[int], ended: bool) -> tuple[str | None, str | None, bool]:
        """A translation's text, or what is wrong with it, and whether the text is all that was said."""


@dataclass(frozen=True, slots=True)
class _Frame:
    instruction: str
    """Text before the text."""
    source_language: str | None
    target_language: str | None
    """The names by which the tokeniser knows them, where it must be told."""
    begin: Words


class _Translator(_Dialect):
    """For models with an encoder and a decoder: languages are words, or an instruction before the text, or fixed."""

    def __init__(self, spec: str, place: Place, config: Any, tokeniser: Any, options: Mapping[str, str]) -> None:
        for key in ("prompt", "system"):
            if key in options:
                raise UserError(f"{spec} is a translation model, which is given no prompt; leave out {key}")
        self._spec, self._place, self._config, self._tokeniser = spec, place, config, tokeniser
        self._source_prefix = options.get("source_prefix")
        self.settings = {"source_prefix": self._source_prefix}
        self._vocabulary: frozenset[str] = frozenset(tokeniser.get_vocab()).union(
            getattr(tokeniser, "lang_token_to_id", ())
        )
        self._frames: dict[Direction, _Frame] = {}

    def begin(self, direction: Direction) -> Words:
        return self._frame(direction).begin

    def source(self, request: Request) -> Words:
        frame = self._speak(request)
        words: Words = self._tokeniser(frame.instruction + _one_line(request.source))["input_ids"]
        return words

    def target(self, request: Request) -> Words:
        self._speak(request)
        text = _one_line(request.target or "")
        words: Words = self._tokeniser(text_target=text, add_special_tokens=False)["input_ids"]
        return words

    def text(self, request: Request, words: Sequence[int], ended: bool) -> tuple[str | None, str | None, bool]:  # noqa: ARG002
        return self._tokeniser.decode(list(words), skip_special_tokens=True).strip(), None, True

    def _speak(self, request: Request) -> _Frame:
        frame = self._frame((request.source_language, request.target_language))
        if frame.source_language is not None:
            self._tokeniser.src_lang, self._tokeniser.tgt_lang = frame.source_language, frame.target_language
        return frame

    def _frame(self, direction: Direction) -> _Frame:
        if direction not in self._frames:
            try:
                self._frames[direction] = self._new_frame(direction)
            except UserError as problem:
                raise UserError(f"{self._spec}: {problem}") from None
        return self._frames[direction]

    def _new_frame(self, direction: Direction) -> _Frame:
        kind = self._kind()
        if kind == "mbart":
            return self._with_marks(*(self._mbart_mark(language) for language in direction))
        if kind == "plain" or self._source_prefix is not None:
            if kind in ("plain", "opus"):
                self._check_pair(direction)
            prefix = (self._source_prefix or "").replace("{source}", direction[0]).replace("{target}", direction[1])
            return _Frame(prefix, None, None, [])
        if kind == "t5":
            self._check_tasks(direction)
        # Its tokenisers are not asked for anything here.
        convention = Convention(
            kind, Tokenisers(_NO_TOKENISER, _NO_TOKENISER, ()), self._vocabulary, self._vocabulary, ""
        )
        frame = convention.frame(direction)
        if kind in ("nllb", "m2m100"):
            return self._with_marks(frame.before_source[0], frame.before_target[0])
        if kind == "opus" and not frame.before_source:
            self._check_pair(direction)
        return _Frame(frame.instruction or "".join(f"{mark} " for mark in frame.before_source), None, None, [])

    def _kind(self) -> str:
        if self._config.model_type == "marian":
            return "opus"
        for mark, kind in ((LANGUAGES["en"].nllb, "nllb"), ("__en__", "m2m100"), ("en_XX", "mbart")):
            if mark in self._vocabulary:
                return kind
        return "t5" if "t5" in self._config.model_type else "plain"

    def _with_marks(self, source: str, target: str) -> _Frame:
        begin = [self._tokeniser.convert_tokens_to_ids(target)]
        # M2M100's tokeniser wants the codes alone.
        return _Frame("", source.strip("_"), target.strip("_"), begin)

    def _mbart_mark(self, language: str) -> str:
        marks = [word for word in self._vocabulary if re.fullmatch(f"{re.escape(language)}_[A-Z]{{2}}", word)]
        if marks:
            return min(marks)
        raise UserError(f"this mBART model has no language {language!r}")

    def _check_pair(self, direction: Direction) -> None:
        """For a model of one pair, as far as its tokeniser or its name says which."""
        own = tuple(_CODE_OF.get(str(getattr(self._tokeniser, f"{side}_lang", None))) for side in ("source", "target"))
        if None in own:
            codes = "|".join(LANGUAGES)
            name = Path(self._place.name).resolve().name if self._place.commit is None else self._place.name
            pairs = set(re.findall(rf"(?<![a-z])({codes})-({codes})(?![a-z])", name))
            own = pairs.pop() if len(pairs) == 1 else direction
        if own != direction:
            raise UserError(
                f"this model translates {'-'.join(map(str, own))}, but {'-'.join(direction)} is asked for; give a "
                "model for that pair"
            )

    def _check_tasks(self, direction: Direction) -> None:
        """The first T5 models list what they were trained for."""
        tasks = [task for task in getattr(self._config, "task_specific_params", None) or () if "translation" in task]
        if tasks and f"translation_{direction[0]}_to_{direction[1]}" not in tasks:
            raise UserError(
                f"this model was trained for {', '.join(tasks)} and not for {'-'.join(direction)}; if it was trained "
                "further, give the text that it wants before the sentence with the option source_prefix=TEXT"
            )


class _Prompted(_Dialect):
    """For language models: the source stands in a prompt, and the translation in the answer."""

    def __init__(self, spec: str, place: Place, tokeniser: Any, options: Mapping[str, str]) -> None:
        if "source_prefix" in options:
            raise UserError(f"{spec} is a language model, which is asked by a prompt; give prompt, not source_prefix")
        self._spec, self._tokeniser = spec, tokeniser
        self._chats = bool(getattr(tokeniser, "chat_template", None))
        is_tower = "tower" in Path(place.name).name.lower()
        self._prompt = open_prompt(
            options.get("prompt", "tower" if is_tower or not self._chats else "default"), options.get("system", "")
        )
        self.settings = {"prompt": self._prompt.content_hash, "extraction": EXTRACTION_VERSION}
        self.further_ends = frozenset(listed(tokeniser.eos_token_id))
        if not self._chats:
            # A model that was never taught to stop goes on with the next example.
            words = tokeniser.convert_ids_to_tokens(range(len(tokeniser)))
            self.further_ends |= {number for number, word in enumerate(words) if word and word.startswith(_NEW_LINES)}

    def begin(self, direction: Direction) -> Words:
        self._prompt.messages("", *direction)  # refuses languages without a name
        return []

    def source(self, request: Request) -> Words:
        return self._words(self._asked(request))

    def target(self, request: Request) -> Words:
        # Together with the prompt, as they would follow each other; and apart where the two cannot be told apart then.
        target, before = request.target or "", self.source(request)
        words = self._words(f"{self._asked(request)}{'' if self._chats else ' '}{target}")
        if words[: len(before)] == before:
            return words[len(before) :]
        apart: Words = self._tokeniser(target, add_special_tokens=False)["input_ids"]
        return apart

    def text(self, request: Request, words: Sequence[int], ended: bool) -> tuple[str | None, str | None, bool]:
        answer = self._tokeniser.decode(list(words), skip_special_tokens=True).strip()
        if not self._chats:
            answer = answer.partition("\n")[0].strip()
        if not ended:
            return None, "the answer was cut off at max_length", False
        found = extract(answer, request.source, request.target_language)
        return found.text, found.problem, found.text == answer

    def _asked(self, request: Request) -> str:
        fields = (request.source, request.source_language, request.target_language)
        if not self._chats:
            return self._prompt.text(*fields)
        try:
            # Templates that know no such setting do not look at it; thoughts are no translation.
            text: str = self._tokeniser.apply_chat_template(
                self._prompt.messages(*fields), tokenize=False, add_generation_prompt=True, enable_thinking=False
            )
        except UserError:
            raise
        except Exception as problem:  # noqa: BLE001 (a template is a program, and may refuse a system message)
            raise UserError(f"the chat template of {self._spec} refuses the prompt: {first_line(problem)}") from None
        return text

    def _words(self, text: str) -> Words:
        # A chat template writes the start itself.
        words: Words = self._tokeniser(text, add_special_tokens=not self._chats)["input_ids"]
        return words[:-1] if not self._chats and words[-1:] == [self._tokeniser.eos_token_id] else words


def _one_line(text: str) -> str:
    """A line break is no word of any translation model; the text stays one."""
    return re.sub(r"[\r\n]+", " ", text)


# -- opening -----------------------------------------------------------------------------------------------------------


def _split(argument: str, options: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The name or directory and all options, from both places where they can be given."""
    name, question_mark, query = argument.partition("?")
    if not question_mark or Path(argument).is_dir():
        return argument, dict(options)
    return name, merge_options(query, options)


def _shown(name: str, options: Mapping[str, str]) -> str:
    """The name, with every option that could change a translation, however it was given."""
    shown = "&".join(f"{key}={options[key]}" for key in sorted(options) if key not in _WITHOUT_EFFECT)
    return f"hf:{name}?{shown}" if shown else f"hf:{name}"


def open_system(argument: str, options: Mapping[str, str]) -> System:
    return HuggingFace(argument, options)
