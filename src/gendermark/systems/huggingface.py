"""`hf:NAME_OR_DIR`: a model from the Hugging Face hub or in a directory, run with transformers.

Two kinds, by the model's configuration: translation models with an encoder and a decoder (OPUS-MT, M2M100, NLLB, mBART,
T5 ...), and language models that are asked for a translation by a prompt (`chat.py`).
`NAME?beam_size=1&dtype=bfloat16` gives options with the name.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gendermark.errors import MissingExtra, UserError, first_line
from gendermark.io import pretrained as opening
from gendermark.io.pretrained import Place, loaded, quietly
from gendermark.reading.codes import LANGUAGES
from gendermark.records import Request, Task
from gendermark.systems import engine, system, tokenisers
from gendermark.systems.chat import EXTRACTION_VERSION, extract, open_prompt
from gendermark.systems.engine import Engine, Job, Output, Prefix, Tokens
from gendermark.systems.sampling import Continuation, Draw
from gendermark.systems.tokenisers import Direction, Frame, filled, one_line

TASKS = Engine.tasks
OPTIONS = ("device", "dtype", *engine.SEARCH_OPTIONS, "revision", "source_prefix", "prompt", "system")
FASTER = {"dtype": ("float32", "int8"), "beam_size": ("5", "1")}
"""Default variations of `study speed`."""
DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("auto", "float32", "bfloat16", "float16", "int8")
LOGIT_BYTES = 2**29
"""Memory limit for distributions of one call: a row of vocabulary size per token."""
_LONGEST = 256
_LONGEST_ANSWER = 512
_UNSET_LENGTH = 20
"""Default of older versions of transformers for models without a length limit."""
_NEW_LINES = ("\n", "Ċ", "<0x0A>")
"""Line breaks at the start of a token, as tokenisers write them."""
_CODE_OF = {name: code for code, facts in LANGUAGES.items() for name in (code, facts.nllb.partition("_")[0])}


def open_system(argument: str, options: Mapping[str, str]) -> HuggingFace:
    name, options = system.split_options(argument, options)
    if "trust_remote_code" in options:
        raise UserError("hf: never runs code that comes with a model; leave out trust_remote_code")
    system.refuse_unknown_options("hf", options, OPTIONS)
    spec = system.with_options(f"hf:{name}", options, engine.WITHOUT_EFFECT)
    if not (opening.is_installed("torch") and opening.is_installed("transformers")):
        raise MissingExtra(spec, "hf")
    with quietly():
        place = opening.locate(spec, name, options.get("revision"))
        config = opening.open_config(spec, place)
        kind = TranslationModel if config.is_encoder_decoder else LanguageModel
        return kind(spec, place, config, opening.open_tokeniser(spec, place), options)


class HuggingFace(Engine):
    """Shared by both kinds of models."""

    head: str
    """The transformers class that loads the weights."""
    default_beam_size: int
    shares_positions: bool
    """Whether source and translation share one token sequence."""

    def __init__(
        self,
        spec: str,
        place: Place,
        config: Any,
        tokeniser: Any,
        options: Mapping[str, str],
        own_settings: Mapping[str, object],
        further_ends: frozenset[int] = frozenset(),
    ) -> None:
        """Read all but the weights, which are not needed if the store has all answers.

        `own_settings` are part of the id; `further_ends` are additional end tokens.
        """
        import torch

        super().__init__(options)
        self.spec, self._place, self._config, self._tokeniser = spec, place, config, tokeniser
        self._device = device_of(options)
        self._dtype = _dtype(options, self._device, config)
        self._n_threads = system.count_option(options, "threads", 1) if "threads" in options else None
        self._n_threads_before: int | None = None
        self._generation = opening.open_generation_config(place, config)
        text_config = config.get_text_config()
        self._n_vocabulary: int = text_config.vocab_size
        self._n_positions: int | None = getattr(text_config, "max_position_embeddings", None)
        own_beams = self._generation.num_beams or 1
        is_searched = self.default_beam_size > 1
        beams = (own_beams if own_beams > 1 else self.default_beam_size) if is_searched else 1
        self._beam_size = system.count_option(options, "beam_size", beams)
        has_penalty = "length_penalty" in options
        self._length_penalty = system.number_option(options, "length_penalty", 1.0) if has_penalty else None
        self._max_length = self._longest(options)
        own_ends = _listed(self._generation.eos_token_id) or _listed(text_config.eos_token_id)
        self._ends = sorted(further_ends.union(own_ends))
        if not self._ends:
            raise UserError(f"{spec} has no end-of-sequence token, so it cannot translate")
        self._end = self._ends[0]  # represents them all
        paddings = _listed(self._generation.pad_token_id) or _listed(text_config.pad_token_id) or own_ends
        self._padding = paddings[0] if paddings else 0
        self._suppressed = self._suppressed_tokens()
        self.decoding = engine.decoding_name(self._beam_size, self._dtype, self._length_penalty)
        self.computing = f"{self._device}, threads {self._n_threads or torch.get_num_threads()}"
        settings = {
            "beam_size": self._beam_size,
            "length_penalty": self._length_penalty,
            "max_length": self._max_length,
            "dtype": self._dtype,
            "device": self._device,
            **own_settings,
        }
        key = json.dumps([place.content, settings], sort_keys=True)
        self.system_id = f"hf#{hashlib.sha256(key.encode()).hexdigest()[:16]}"

    @cached_property
    def _model(self) -> Any:
        import torch
        import transformers

        if self._n_threads is not None:
            self._n_threads_before = torch.get_num_threads()
            torch.set_num_threads(self._n_threads)
        model, report = loaded(
            self.spec,
            "weights",
            lambda: getattr(transformers, self.head).from_pretrained(
                self._place.name,
                config=self._config,
                torch_dtype=torch.float32 if self._dtype == "int8" else getattr(torch, self._dtype),
                output_loading_info=True,
                **self._place.pinned,
            ),
        )
        # The library would initialise missing weights at random.
        if missing := sorted({*report["missing_keys"], *(row[0] for row in report.get("mismatched_keys", ()))}):
            raise UserError(
                f"{self.spec} lacks {len(missing)} of the weights that its configuration asks for ({missing[0]} ...); "
                "give a complete model"
            )
        model = model.to(self._device).eval()
        return opening.quantised(model) if self._dtype == "int8" else model

    def close(self) -> None:
        self.__dict__.pop("_model", None)
        if self._n_threads_before is not None:
            import torch

            torch.set_num_threads(self._n_threads_before)
            self._n_threads_before = None

    def _quietly(self) -> contextlib.AbstractContextManager[None]:
        return quietly()

    # -- what a kind defines

    @abstractmethod
    def _longest(self, options: Mapping[str, str]) -> int:
        """Maximum tokens of a translation."""

    @abstractmethod
    def _source(self, request: Request, frame: Frame) -> Tokens: ...

    @abstractmethod
    def _target(self, request: Request, frame: Frame) -> Tokens:
        """The tokens of the translation to score, without its beginning and end."""

    @abstractmethod
    def _generate(self, sources: Sequence[Tokens], begin: Tokens) -> list[Tokens]:
        """The translation of each source, with its end if it has one."""

    @abstractmethod
    def _logits(self, sources: Sequence[Tokens], begin: Tokens, targets: Sequence[Tokens]) -> list[Any]:
        """For each target, a row of logits per token and for its end."""

    @abstractmethod
    def _stepper(self, sources: Sequence[Tokens], begin: Tokens) -> Callable[[Sequence[Sequence[int]]], Any]:
        """A function from the next tokens of each translation to the logits that follow."""

    def _suppressed_tokens(self) -> list[int]:
        tokens = {row[0] for row in self._generation.bad_words_ids or () if len(row) == 1}
        return sorted(tokens | set(_listed(self._generation.suppress_tokens)))

    # -- from text to tokens

    def _begin(self, frame: Frame) -> Tokens:
        begin = [self._tokeniser.convert_tokens_to_ids(token) for token in frame.before_target]
        return begin or _listed(self._generation.forced_bos_token_id)

    def _job(self, request: Request, frame: Frame) -> Job:
        source, target, problem = self._source(request, frame), [], None
        if request.task is Task.SCORE:
            engine.target_of(request, self.spec)  # refuses an empty one
            target = self._target(request, frame)
        limit = self._n_positions
        room = (len(target) or self._max_length) if self.shares_positions else 0
        # The start and a language token have positions as well.
        if limit is not None and (len(source) + room > limit or len(target) + 2 > limit):
            problem = engine.too_long(limit)
        return Job(request, source, target, problem)

    # -- one batch

    def _translate(self, jobs: Sequence[Job], frame: Frame, n: int) -> list[list[Draw]]:  # noqa: ARG002
        begin = self._begin(frame)
        outputs = [self._until_end(row) for row in self._generate([job.source for job in jobs], begin)]
        finished = [(job.source, tokens) for job, (tokens, ended) in zip(jobs, outputs, strict=True) if ended]
        scores = iter(self._log_probabilities([one for one, _ in finished], begin, [two for _, two in finished]))
        return [
            [Draw(tuple(tokens), float(next(scores).sum()) if ended else None, len(tokens) + ended)]
            for tokens, ended in outputs
        ]

    def _score(self, jobs: Sequence[Job], frame: Frame) -> list[tuple[float, ...]]:
        sources, targets = [job.source for job in jobs], [job.target for job in jobs]
        found = self._log_probabilities(sources, self._begin(frame), targets)
        return [tuple(row.tolist()) for row in found]

    def _continue(self, prefixes: Sequence[Prefix], frame: Frame, n_together: int) -> list[Continuation]:
        import torch

        sources = [prefix.source for prefix in prefixes]
        # Few translations are twice as long as their source; those that are, are continued again.
        n_fitting = 4 * LOGIT_BYTES // (4 * self._n_vocabulary * n_together)
        n_steps = max(1, min(self._max_length, 2 * max(map(len, sources)) + 16, n_fitting))
        with torch.inference_mode():
            step = self._stepper(sources, self._begin(frame))
            return engine.greedy_paths(
                lambda tokens: self._allowed(step(tokens)).cpu().numpy(),
                [prefix.tokens for prefix in prefixes],
                self._end,
                n_steps,
                self._max_length,
                self._padding,
            )

    def _search(self, sources: Any, mask: Any, **changes: Any) -> list[Tokens]:
        """The library's search, with the model's own settings except these."""
        import torch

        settings = copy.deepcopy(self._generation)
        settings.update(
            do_sample=False,
            num_beams=self._beam_size,
            num_return_sequences=1,
            max_new_tokens=self._max_length,
            max_length=None,
            return_dict_in_generate=False,
            eos_token_id=self._ends,
            pad_token_id=self._padding,
        )
        if self._length_penalty is not None:
            settings.length_penalty = self._length_penalty
        settings.update(**changes)
        with torch.inference_mode():
            found = self._model.generate(input_ids=sources, attention_mask=mask, generation_config=settings)
        return list(found.tolist())

    def _until_end(self, tokens: Tokens) -> tuple[Tokens, bool]:
        place = next((place for place, token in enumerate(tokens) if token in self._ends), None)
        if place is None:
            return tokens, False
        # Some models are made to end at the limit.
        return tokens[:place], self._generation.forced_eos_token_id is None or place + 1 < self._max_length

    def _log_probabilities(
        self, sources: Sequence[Tokens], begin: Tokens, targets: Sequence[Tokens]
    ) -> list[NDArray[np.float64]]:
        """For each target token and the end; batched to bound memory."""
        import torch

        shared = [len(source) if self.shares_positions else 0 for source in sources]
        n_rows = max((len(target) + len(begin) + n for target, n in zip(targets, shared, strict=True)), default=0) + 1
        size = max(1, LOGIT_BYTES // (4 * self._n_vocabulary * n_rows))
        found: list[NDArray[np.float64]] = []
        with torch.inference_mode():
            for start in range(0, len(sources), size):
                part = slice(start, start + size)
                for rows, target in zip(self._logits(sources[part], begin, targets[part]), targets[part], strict=True):
                    logits = self._allowed(rows)
                    tokens = torch.tensor([*target, self._end], device=logits.device)
                    chosen = logits.gather(1, tokens[:, None])[:, 0] - logits.logsumexp(-1)
                    found.append(chosen.double().cpu().numpy())
        return found

    def _allowed(self, logits: Any) -> Any:
        logits = logits.float()
        if self._suppressed:
            logits[..., self._suppressed] = float("-inf")
        if len(self._ends) > 1:
            together = logits[..., self._ends].logsumexp(-1)
            logits[..., self._ends] = float("-inf")
            logits[..., self._end] = together
        return logits

    def _padded(self, rows: Sequence[Sequence[int]], side: str = "right") -> tuple[Any, Any]:
        import torch

        shape = (len(rows), max(map(len, rows)))
        tokens = torch.full(shape, self._padding, device=self._device)
        mask = torch.zeros(shape, dtype=torch.long, device=self._device)
        for number, row in enumerate(rows):
            place = slice(len(row)) if side == "right" else slice(shape[1] - len(row), None)
            tokens[number, place] = torch.tensor(row, device=self._device)
            mask[number, place] = 1
        return tokens, mask


class TranslationModel(HuggingFace):
    """Encoder-decoder models; languages are tokens, an instruction before the text, or fixed."""

    head = "AutoModelForSeq2SeqLM"
    default_beam_size = 5
    shares_positions = False

    def __init__(self, spec: str, place: Place, config: Any, tokeniser: Any, options: Mapping[str, str]) -> None:
        for key in ("prompt", "system"):
            if key in options:
                raise UserError(f"{spec} is a translation model, which takes no prompt; leave out {key}")
        self._source_prefix = options.get("source_prefix")
        super().__init__(spec, place, config, tokeniser, options, {"source_prefix": self._source_prefix})
        vocabulary = frozenset(tokeniser.get_vocab())
        self._vocabulary: frozenset[str] = vocabulary.union(getattr(tokeniser, "lang_token_to_id", ()))

    def _longest(self, options: Mapping[str, str]) -> int:
        # The library counts the start in one setting and not in the other.
        own = self._generation.max_new_tokens or (self._generation.max_length or 0) - 1
        longest = system.count_option(options, "max_length", own if own > 0 and own != _UNSET_LENGTH - 1 else _LONGEST)
        # The start and a language token have positions as well.
        return longest if self._n_positions is None else min(longest, self._n_positions - 2)

    def _suppressed_tokens(self) -> list[int]:
        own = super()._suppressed_tokens()
        # Marian models start from padding and have a row for it, though no text contains it.
        return sorted({*own, self._padding}) if self._config.model_type == "marian" else own

    # -- languages

    def _new_frame(self, direction: Direction) -> Frame:
        kind = self._convention
        if kind == "mbart":
            return Frame("", (self._mbart_token(direction[0]),), (self._mbart_token(direction[1]),))
        if kind == "plain" or self._source_prefix is not None:
            if kind in ("plain", "opus"):
                self._check_pair(direction)
            return Frame(filled(self._source_prefix or "", direction))
        if kind == "t5":
            self._check_tasks(direction)
        frame = tokenisers.frame(kind, direction, self._vocabulary, self._vocabulary)
        if kind == "opus":
            if not frame.before_source:
                self._check_pair(direction)
            return Frame("".join(f"{token} " for token in frame.before_source))
        return frame

    @cached_property
    def _convention(self) -> str:
        if self._config.model_type == "marian":
            return "opus"
        for token, convention in ((LANGUAGES["en"].nllb, "nllb"), ("__en__", "m2m100"), ("en_XX", "mbart")):
            if token in self._vocabulary:
                return convention
        return "t5" if "t5" in self._config.model_type else "plain"

    def _mbart_token(self, language: str) -> str:
        tokens = [token for token in self._vocabulary if re.fullmatch(f"{re.escape(language)}_[A-Z]{{2}}", token)]
        if not tokens:
            raise UserError(f"this mBART model has no language {language!r}")
        return min(tokens)

    def _check_pair(self, direction: Direction) -> None:
        """For a model of one pair, as far as its tokeniser or name shows it."""
        named = [str(getattr(self._tokeniser, f"{side}_lang", None)) for side in ("source", "target")]
        if all(name in _CODE_OF for name in named):
            own = (_CODE_OF[named[0]], _CODE_OF[named[1]])
        else:
            name = Path(self._place.name).resolve().name if self._place.commit is None else self._place.name
            own = tokenisers.pair_in(name) or direction
        engine.check_pair(own, direction, "by its tokeniser or name")

    def _check_tasks(self, direction: Direction) -> None:
        """The first T5 models list their training tasks."""
        tasks = [task for task in getattr(self._config, "task_specific_params", None) or () if "translation" in task]
        if tasks and f"translation_{direction[0]}_to_{direction[1]}" not in tasks:
            raise UserError(
                f"this model was trained for {', '.join(tasks)} and not for {'-'.join(direction)}; if it was trained "
                "further, give the text that it wants before the sentence with the option source_prefix=TEXT"
            )

    # -- texts

    def _source(self, request: Request, frame: Frame) -> Tokens:
        return self._encoded(frame, frame.instruction + one_line(request.source))

    def _target(self, request: Request, frame: Frame) -> Tokens:
        return self._encoded(frame, text_target=one_line(request.target or ""), add_special_tokens=False)

    def _encoded(self, frame: Frame, *text: str, **options: Any) -> Tokens:
        if frame.before_target:  # M2M100's tokeniser expects bare codes
            names = (frame.before_source[0].strip("_"), frame.before_target[0].strip("_"))
            self._tokeniser.src_lang, self._tokeniser.tgt_lang = names
        tokens: Tokens = self._tokeniser(*text, **options)["input_ids"]
        return tokens

    def _output(self, request: Request, tokens: Sequence[int], ended: bool) -> Output:  # noqa: ARG002
        return Output(self._tokeniser.decode(list(tokens), skip_special_tokens=True).strip())

    # -- the model

    @property
    def _start(self) -> int:
        start = self._generation.decoder_start_token_id
        return int(self._config.decoder_start_token_id if start is None else start)

    def _generate(self, sources: Sequence[Tokens], begin: Tokens) -> list[Tokens]:
        # The library counts the beginning as a new token.
        changes = {"forced_bos_token_id": begin[0], "max_new_tokens": self._max_length + 1} if begin else {}
        return [row[1 + len(begin) :] for row in self._search(*self._padded(sources), **changes)]

    def _logits(self, sources: Sequence[Tokens], begin: Tokens, targets: Sequence[Tokens]) -> list[Any]:
        tokens, mask = self._padded(sources)
        outputs, _ = self._padded([[self._start, *begin, *target] for target in targets])
        logits = self._model(input_ids=tokens, attention_mask=mask, decoder_input_ids=outputs).logits
        return [row[len(begin) :][: len(target) + 1] for row, target in zip(logits, targets, strict=True)]

    def _stepper(self, sources: Sequence[Tokens], begin: Tokens) -> Callable[[Sequence[Sequence[int]]], Any]:
        import torch
        from transformers.modeling_outputs import BaseModelOutput

        # Many paths share a source, which is encoded once.
        number_of = {source: number for number, source in enumerate(dict.fromkeys(map(tuple, sources)))}
        tokens, mask = self._padded(list(number_of))
        encoded = self._model.get_encoder()(input_ids=tokens, attention_mask=mask).last_hidden_state
        rows = torch.tensor([number_of[tuple(source)] for source in sources], device=self._device)
        encoder_outputs, mask = BaseModelOutput(last_hidden_state=encoded[rows]), mask[rows]
        cache: Any = None

        def step(tokens: Sequence[Sequence[int]]) -> Any:
            nonlocal cache
            following = tokens if cache is not None else [[self._start, *begin, *row] for row in tokens]
            found = self._model(
                encoder_outputs=encoder_outputs,
                attention_mask=mask,
                decoder_input_ids=torch.tensor(following, device=self._device),
                past_key_values=cache,
                use_cache=True,
            )
            cache = found.past_key_values
            return found.logits[:, -1]

        return step


class LanguageModel(HuggingFace):
    """Decoder-only models: the source is in a prompt, and the translation in the answer."""

    head = "AutoModelForCausalLM"
    default_beam_size = 1
    shares_positions = True

    def __init__(self, spec: str, place: Place, config: Any, tokeniser: Any, options: Mapping[str, str]) -> None:
        if "source_prefix" in options:
            raise UserError(f"{spec} is a language model, which takes a prompt; give prompt, not source_prefix")
        self._chats = bool(getattr(tokeniser, "chat_template", None))
        is_tower = "tower" in Path(place.name).name.lower()
        # Without tags: given translations are scored, and log-probabilities kept, directly after the prompt.
        default = "tower" if is_tower or not self._chats else "plain"
        self._prompt = open_prompt(options.get("prompt", default), options.get("system", ""))
        ends = set(_listed(tokeniser.eos_token_id))
        if not self._chats:
            # A model not trained to stop would continue with another example.
            tokens = tokeniser.convert_ids_to_tokens(range(len(tokeniser)))
            ends |= {number for number, token in enumerate(tokens) if token and token.startswith(_NEW_LINES)}
        settings = {"prompt": self._prompt.content_hash, "extraction": EXTRACTION_VERSION}
        super().__init__(spec, place, config, tokeniser, options, settings, frozenset(ends))

    def _longest(self, options: Mapping[str, str]) -> int:
        limit = self._n_positions // 2 if self._n_positions is not None else _LONGEST_ANSWER
        return system.count_option(options, "max_length", min(_LONGEST_ANSWER, limit))

    # -- texts

    def _new_frame(self, direction: Direction) -> Frame:
        self._prompt.messages("", *direction)  # refuses languages without a name
        return Frame()

    def _source(self, request: Request, frame: Frame) -> Tokens:  # noqa: ARG002
        return self._tokens(self._asked(request))

    def _target(self, request: Request, frame: Frame) -> Tokens:
        # Tokenised with the prompt, as they would follow each other; separately if that merges tokens of both.
        target, before = request.target or "", self._source(request, frame)
        tokens = self._tokens(f"{self._asked(request)}{'' if self._chats else ' '}{target}")
        if tokens[: len(before)] == before:
            return tokens[len(before) :]
        apart: Tokens = self._tokeniser(target, add_special_tokens=False)["input_ids"]
        return apart

    def _output(self, request: Request, tokens: Sequence[int], ended: bool) -> Output:
        answer = self._tokeniser.decode(list(tokens), skip_special_tokens=True).strip()
        if not self._chats:
            answer = answer.partition("\n")[0].strip()
        if not ended:
            return Output(None, "the answer was cut off at max_length", False)
        text, problem = extract(answer, request.source)
        return Output(text, problem or None, text == answer)

    def _asked(self, request: Request) -> str:
        fields = (request.source, request.source_language, request.target_language)
        if not self._chats:
            return self._prompt.text(*fields)
        messages = self._prompt.messages(*fields)
        try:
            # Templates without this setting ignore it; thoughts are no translation.
            text: str = self._tokeniser.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
            )
        except Exception as problem:  # noqa: BLE001 (a template is a program, and may refuse a system message)
            raise UserError(f"the chat template of {self.spec} refuses the prompt: {first_line(problem)}") from None
        return text

    def _tokens(self, text: str) -> Tokens:
        # A chat template includes the start token.
        tokens: Tokens = self._tokeniser(text, add_special_tokens=not self._chats)["input_ids"]
        return tokens[:-1] if not self._chats and tokens[-1:] == [self._tokeniser.eos_token_id] else tokens

    # -- the model

    def _generate(self, sources: Sequence[Tokens], begin: Tokens) -> list[Tokens]:  # noqa: ARG002
        tokens, mask = self._padded(sources, "left")
        return [row[tokens.shape[1] :] for row in self._search(tokens, mask)]

    def _logits(self, sources: Sequence[Tokens], begin: Tokens, targets: Sequence[Tokens]) -> list[Any]:  # noqa: ARG002
        tokens, mask = self._padded([[*source, *target] for source, target in zip(sources, targets, strict=True)])
        logits = self._model(input_ids=tokens, attention_mask=mask).logits
        return [
            row[len(source) - 1 : len(source) + len(target)]
            for row, source, target in zip(logits, sources, targets, strict=True)
        ]

    def _stepper(self, sources: Sequence[Tokens], begin: Tokens) -> Callable[[Sequence[Sequence[int]]], Any]:  # noqa: ARG002
        import torch

        cache: Any = None
        mask: Any = None

        def step(tokens: Sequence[Sequence[int]]) -> Any:
            nonlocal cache, mask
            if cache is None:
                rows = [[*source, *row] for source, row in zip(sources, tokens, strict=True)]
                following, mask = self._padded(rows, "left")
                positions = (mask.cumsum(-1) - 1).clamp(min=0)
            else:
                following = torch.tensor(tokens, device=self._device)
                mask = torch.cat([mask, torch.ones_like(mask[:, :1])], dim=1)
                positions = mask.sum(-1, keepdim=True) - 1
            found = self._model(
                input_ids=following, attention_mask=mask, position_ids=positions, past_key_values=cache, use_cache=True
            )
            cache = found.past_key_values
            return found.logits[:, -1]

        return step


def device_of(options: Mapping[str, str]) -> str:
    import torch

    usable = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    device = system.choice_option(options, "device", DEVICES)
    if device == "auto":
        return next(name for name, works in usable.items() if works)
    if not usable[device]:
        there = ", ".join(name for name, works in usable.items() if works)
        raise UserError(f"option device={device}: torch finds no such device here; available: {there}")
    return device


def _dtype(options: Mapping[str, str], device: str, config: Any) -> str:
    dtype = system.choice_option(options, "dtype", DTYPES)
    if dtype == "int8" and device != "cpu":
        raise UserError(f"option dtype=int8 of hf: works on a processor only, not on {device}; give device=cpu too")
    if dtype != "auto":
        return dtype
    stored = str(getattr(config, "dtype", None) or getattr(config, "torch_dtype", None)).removeprefix("torch.")
    # Half precision is slow on most CPUs.
    return stored if device != "cpu" and stored in DTYPES else "float32"


def _listed(value: Any) -> list[int]:
    if value is None:
        return []
    return [int(token) for token in value] if isinstance(value, (list, tuple)) else [int(value)]
