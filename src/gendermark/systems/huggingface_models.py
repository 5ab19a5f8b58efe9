"""The models behind `hf:`: words in, words and their probabilities out."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gendermark.errors import UserError
from gendermark.systems.engine import described
from gendermark.systems.huggingface_opening import Place, Words, listed, loaded, quantised
from gendermark.systems.sampling import Continuation
from gendermark.systems.system import count_option, number_option

DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("auto", "float32", "bfloat16", "float16", "int8")
LOGIT_BYTES = 2**29
"""How much the distributions of one call may take up: a row as long as the vocabulary for each word."""
_LONGEST = 256
_LONGEST_ANSWER = 512
_UNSET_LENGTH = 20
"""What older versions of transformers say where a model itself says nothing."""


class Model(ABC):
    """Weights and how they are used; read when they are first needed, as a run may find all answers in the store."""

    head: str
    """The class of transformers that loads it."""
    default_beam_size: int

    def __init__(
        self,
        spec: str,
        place: Place,
        config: Any,
        options: Mapping[str, str],
        further_ends: frozenset[int] = frozenset(),
    ) -> None:
        self._spec, self._place, self._config = spec, place, config
        self._device = _device(options.get("device", "auto"))
        self._dtype = _dtype(options.get("dtype", "auto"), self._device, config)
        self._n_threads = count_option(options, "threads", 1) if "threads" in options else None
        self._threads_before: int | None = None
        self._own = _generation_config(place, config)
        own_beams = self._own.num_beams if self._own.num_beams and self._own.num_beams > 1 else None
        beams = (own_beams or self.default_beam_size) if self.default_beam_size > 1 else 1
        self._beam_size = count_option(options, "beam_size", beams)
        self._length_penalty = number_option(options, "length_penalty", 1.0) if "length_penalty" in options else None
        text_config = config.get_text_config()
        self.n_words: int = text_config.vocab_size
        self.n_positions: int | None = getattr(text_config, "max_position_embeddings", None)
        self.max_length = self._longest(options)
        own_ends = listed(self._own.eos_token_id) or listed(text_config.eos_token_id)
        self.ends = further_ends.union(own_ends)
        """Words that end a translation."""
        if not self.ends:
            raise UserError(f"{spec} has no word that ends a text, so it cannot be asked for translations")
        self.end = min(self.ends)
        """The one that stands for them all."""
        self.begin = listed(self._own.forced_bos_token_id)
        """What its translations begin with, whatever the languages."""
        self._padding = next(iter(listed(self._own.pad_token_id) or listed(text_config.pad_token_id) or own_ends), 0)
        self._never_said = self._suppressed()

    @abstractmethod
    def _longest(self, options: Mapping[str, str]) -> int: ...

    @abstractmethod
    def room_needed(self, n_words: int) -> int:
        """Positions that a translation takes away from its source."""

    @abstractmethod
    def generate(self, sources: Sequence[Words], begin: Words) -> list[tuple[Words, bool]]:
        """The translation of each source without its end, and whether it had one."""

    @abstractmethod
    def score(
        self, sources: Sequence[Words], begin: Words, targets: Sequence[Sequence[int]]
    ) -> list[NDArray[np.float64]]:
        """The log-probability of each word of each target, and of its end."""

    @abstractmethod
    def follow(
        self, sources: Sequence[Words], begin: Words, prefixes: Sequence[tuple[int, ...]], n_steps: int
    ) -> list[Continuation]:
        """The most probable way on from each prefix, `n_steps` words at most."""

    @property
    def described(self) -> str:
        return described(self._beam_size, self._dtype, self._length_penalty)

    @property
    def computing(self) -> str:
        import torch

        return f"{self._device}, threads {self._n_threads or torch.get_num_threads()}"

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "beam_size": self._beam_size,
            "length_penalty": self._length_penalty,
            "max_length": self.max_length,
            "dtype": self._dtype,
            "device": self._device,
        }

    @cached_property
    def _weights(self) -> Any:
        import torch
        import transformers

        if self._n_threads is not None:
            self._threads_before = torch.get_num_threads()
            torch.set_num_threads(self._n_threads)
        model, report = loaded(
            self._spec,
            "weights",
            lambda: getattr(transformers, self.head).from_pretrained(
                self._place.name,
                config=self._config,
                torch_dtype=torch.float32 if self._dtype == "int8" else getattr(torch, self._dtype),
                output_loading_info=True,
                **self._place.pinned,
            ),
        )
        # The library would go on with random numbers in their place.
        if missing := sorted({*report["missing_keys"], *(row[0] for row in report.get("mismatched_keys", ()))}):
            raise UserError(
                f"{self._spec} lacks {len(missing)} of the weights that its configuration asks for ({missing[0]} ...); "
                "give a complete model"
            )
        model = model.to(self._device).eval()
        return quantised(model) if self._dtype == "int8" else model

    def unload(self) -> None:
        self.__dict__.pop("_weights", None)
        if self._threads_before is not None:
            import torch

            torch.set_num_threads(self._threads_before)
            self._threads_before = None

    def _suppressed(self) -> Words:
        """Words that this model must never say, as its own settings have it."""
        words = {row[0] for row in self._own.bad_words_ids or () if len(row) == 1}
        return sorted(words | set(listed(self._own.suppress_tokens)))

    def _generate(self, inputs: Mapping[str, Any], **changes: Any) -> list[Words]:
        import torch

        settings = copy.deepcopy(self._own)
        settings.do_sample = False
        settings.num_beams = self._beam_size
        settings.num_return_sequences = 1
        settings.max_new_tokens, settings.max_length = self.max_length, None
        settings.return_dict_in_generate = False
        settings.eos_token_id, settings.pad_token_id = sorted(self.ends), self._padding
        if self._length_penalty is not None:
            settings.length_penalty = self._length_penalty
        for key, value in changes.items():
            setattr(settings, key, value)
        with torch.inference_mode():
            said: list[Words] = self._weights.generate(**inputs, generation_config=settings).tolist()
        return said

    def _until_end(self, words: Words) -> tuple[Words, bool]:
        place = next((place for place, word in enumerate(words) if word in self.ends), None)
        if place is None:
            return words, False
        # Some models are made to end at the limit, wherever they are.
        return words[:place], self._own.forced_eos_token_id is None or place + 1 < self.max_length

    def _rows(self, rows: Sequence[Sequence[int]], side: str = "right") -> tuple[Any, Any]:
        """Rows of words as one tensor, the shorter ones padded, and the mask of what is no padding."""
        import torch

        longest = max(map(len, rows))

        def padded(row: Sequence[int], filler: int) -> Words:
            gap = [filler] * (longest - len(row))
            return [*row, *gap] if side == "right" else [*gap, *row]

        words, mask = [padded(row, self._padding) for row in rows], [padded([1] * len(row), 0) for row in rows]
        return torch.tensor(words, device=self._device), torch.tensor(mask, device=self._device)

    def _in_parts(
        self,
        sources: Sequence[Words],
        targets: Sequence[Sequence[int]],
        score: Callable[[Sequence[Words], Sequence[Sequence[int]]], list[NDArray[np.float64]]],
        n_rows: int,
    ) -> list[NDArray[np.float64]]:
        """Scores by as many texts at once as have room for their distributions, `n_rows` of them each."""
        size = max(1, LOGIT_BYTES // (4 * self.n_words * max(1, n_rows)))
        starts = range(0, len(sources), size)
        return [
            found for start in starts for found in score(sources[start : start + size], targets[start : start + size])
        ]

    def _read_off(self, logits: Any, target: Sequence[int]) -> NDArray[np.float64]:
        """The log-probability of each word of a target and of its end, from one row of logits for each."""
        import torch

        logits = self._allowed(logits)
        total = logits.logsumexp(-1)
        rows = torch.arange(len(target), device=logits.device)
        words = logits[rows, torch.tensor(target, dtype=torch.long, device=logits.device)]
        end = logits[-1, self.end]
        found: NDArray[np.float64] = (torch.cat([words, end[None]]) - total).double().cpu().numpy()
        return found

    def _allowed(self, logits: Any) -> Any:
        """Logits without words that are never said, and with one end: which of several it is does not matter."""
        logits = logits.float()
        if self._never_said:
            logits[..., self._never_said] = float("-inf")
        if len(self.ends) > 1:
            ends = sorted(self.ends)
            together = logits[..., ends].logsumexp(-1)
            logits[..., ends] = float("-inf")
            logits[..., self.end] = together
        return logits

    def _follow(
        self, step: Callable[[Sequence[Sequence[int]]], Any], prefixes: Sequence[tuple[int, ...]], n_steps: int
    ) -> list[Continuation]:
        """All paths word by word, side by side at the same position: those with longer prefixes say these first.

        So none is padded on the target side, where many models count positions without looking at a mask.
        """
        said: list[Words] = [[] for _ in prefixes]
        rows: list[list[NDArray[np.float32]]] = [[] for _ in prefixes]
        position = min(map(len, prefixes))
        words: list[Words] = [list(prefix[:position]) for prefix in prefixes]
        under_way = set(range(len(prefixes)))
        while under_way:
            logits = self._allowed(step(words)).cpu().numpy()
            words = []
            for place, (prefix, row) in enumerate(zip(prefixes, logits, strict=True)):
                if position < len(prefix):
                    word = prefix[position]
                elif place in under_way:
                    word = int(row.argmax())
                    said[place].append(word)
                    rows[place].append(row.copy())
                    # There may be no positions beyond the limit of length.
                    if word == self.end or len(said[place]) == n_steps or position + 1 == self.max_length:
                        under_way.remove(place)
                else:
                    word = self._padding
                words.append([word])
            position += 1
        return [Continuation(path, np.array(found)) for path, found in zip(said, rows, strict=True)]


class EncoderDecoder(Model):
    """Reads the source, then says the translation."""

    head = "AutoModelForSeq2SeqLM"
    default_beam_size = 5

    def _longest(self, options: Mapping[str, str]) -> int:
        # The library counts the start in the one and not in the other.
        own = self._own.max_new_tokens or (self._own.max_length or 0) - 1
        longest = count_option(options, "max_length", own if own > 0 and own != _UNSET_LENGTH - 1 else _LONGEST)
        # The start and a language's mark have positions as well.
        return longest if self.n_positions is None else min(longest, self.n_positions - 2)

    def room_needed(self, n_words: int) -> int:  # noqa: ARG002
        return 0

    def _suppressed(self) -> Words:
        own = super()._suppressed()
        # Marian models start from padding and have a row for it, though it is no word.
        return sorted({*own, self._padding}) if self._config.model_type == "marian" else own

    @property
    def _start(self) -> int:
        start = self._own.decoder_start_token_id
        return int(self._config.decoder_start_token_id if start is None else start)

    def generate(self, sources: Sequence[Words], begin: Words) -> list[tuple[Words, bool]]:
        words, mask = self._rows(sources)
        # The library counts the beginning as a new word.
        given = {"forced_bos_token_id": begin[0], "max_new_tokens": self.max_length + 1} if begin else {}
        said = self._generate({"input_ids": words, "attention_mask": mask}, **given)
        return [self._until_end(row[1 + len(begin) :]) for row in said]

    def score(
        self, sources: Sequence[Words], begin: Words, targets: Sequence[Sequence[int]]
    ) -> list[NDArray[np.float64]]:
        longest = max(map(len, targets), default=0) + len(begin) + 1
        return self._in_parts(sources, targets, partial(self._score_part, begin), longest)

    def _score_part(
        self, begin: Words, sources: Sequence[Words], targets: Sequence[Sequence[int]]
    ) -> list[NDArray[np.float64]]:
        import torch

        words, mask = self._rows(sources)
        said, _ = self._rows([[self._start, *begin, *target] for target in targets])
        with torch.inference_mode():
            logits = self._weights(input_ids=words, attention_mask=mask, decoder_input_ids=said).logits
            return [
                self._read_off(row[len(begin) : len(begin) + len(target) + 1], target)
                for row, target in zip(logits, targets, strict=True)
            ]

    def follow(
        self, sources: Sequence[Words], begin: Words, prefixes: Sequence[tuple[int, ...]], n_steps: int
    ) -> list[Continuation]:
        import torch
        from transformers.modeling_outputs import BaseModelOutput

        # Many paths have the same source, which is read once.
        number_of = {source: number for number, source in enumerate(dict.fromkeys(map(tuple, sources)))}
        words, mask = self._rows(list(number_of))
        cache: Any = None
        with torch.inference_mode():
            read = self._weights.get_encoder()(input_ids=words, attention_mask=mask).last_hidden_state
            rows = torch.tensor([number_of[tuple(source)] for source in sources], device=self._device)
            read, mask = BaseModelOutput(last_hidden_state=read[rows]), mask[rows]

            def step(words: Sequence[Sequence[int]]) -> Any:
                nonlocal cache
                said = words if cache is not None else [[self._start, *begin, *row] for row in words]
                found = self._weights(
                    encoder_outputs=read,
                    attention_mask=mask,
                    decoder_input_ids=torch.tensor(said, device=self._device),
                    past_key_values=cache,
                    use_cache=True,
                )
                cache = found.past_key_values
                return found.logits[:, -1]

            return self._follow(step, prefixes, n_steps)


class DecoderOnly(Model):
    """Goes on from a prompt that has the source in it."""

    head = "AutoModelForCausalLM"
    default_beam_size = 1

    def _longest(self, options: Mapping[str, str]) -> int:
        limit = self.n_positions // 2 if self.n_positions is not None else _LONGEST_ANSWER
        return count_option(options, "max_length", min(_LONGEST_ANSWER, limit))

    def room_needed(self, n_words: int) -> int:
        return n_words

    def generate(self, sources: Sequence[Words], begin: Words) -> list[tuple[Words, bool]]:  # noqa: ARG002
        words, mask = self._rows(sources, "left")
        said = self._generate({"input_ids": words, "attention_mask": mask})
        return [self._until_end(row[words.shape[1] :]) for row in said]

    def score(
        self,
        sources: Sequence[Words],
        begin: Words,  # noqa: ARG002
        targets: Sequence[Sequence[int]],
    ) -> list[NDArray[np.float64]]:
        longest = max((len(source) + len(target) for source, target in zip(sources, targets, strict=True)), default=0)
        return self._in_parts(sources, targets, self._score_part, longest)

    def _score_part(self, sources: Sequence[Words], targets: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
        import torch

        words, mask = self._rows([[*source, *target] for source, target in zip(sources, targets, strict=True)])
        with torch.inference_mode():
            logits = self._weights(input_ids=words, attention_mask=mask).logits
            return [
                self._read_off(row[len(source) - 1 : len(source) + len(target)], target)
                for row, source, target in zip(logits, sources, targets, strict=True)
            ]

    def follow(
        self,
        sources: Sequence[Words],
        begin: Words,  # noqa: ARG002
        prefixes: Sequence[tuple[int, ...]],
        n_steps: int,
    ) -> list[Continuation]:
        import torch

        cache: Any = None
        mask: Any = None

        def step(words: Sequence[Sequence[int]]) -> Any:
            nonlocal cache, mask
            if cache is None:
                said, mask = self._rows([[*source, *row] for source, row in zip(sources, words, strict=True)], "left")
                positions = (mask.cumsum(-1) - 1).clamp(min=0)
            else:
                said = torch.tensor(words, device=self._device)
                mask = torch.cat([mask, torch.ones_like(mask[:, :1])], dim=1)
                positions = mask.sum(-1, keepdim=True) - 1
            found = self._weights(
                input_ids=said, attention_mask=mask, position_ids=positions, past_key_values=cache, use_cache=True
            )
            cache = found.past_key_values
            return found.logits[:, -1]

        with torch.inference_mode():
            return self._follow(step, prefixes, n_steps)


def open_model(
    spec: str, place: Place, config: Any, options: Mapping[str, str], further_ends: frozenset[int] = frozenset()
) -> Model:
    """The model of a configuration, not yet in memory."""
    kind = EncoderDecoder if config.is_encoder_decoder else DecoderOnly
    return kind(spec, place, config, options, further_ends)


def _generation_config(place: Place, config: Any) -> Any:
    """The model's own settings for writing."""
    import transformers

    try:
        return transformers.GenerationConfig.from_pretrained(place.name, **place.pinned)
    except OSError:  # older models have them in their configuration
        return transformers.GenerationConfig.from_model_config(config)


def _device(device: str) -> str:
    import torch

    usable = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if device not in DEVICES:
        raise UserError(f"option device of hf: is one of {', '.join(DEVICES)}, not {device!r}")
    if device == "auto":
        return next(name for name, works in usable.items() if works)
    if not usable[device]:
        there = ", ".join(name for name, works in usable.items() if works)
        raise UserError(f"option device={device} does not work here, as torch finds no such device; available: {there}")
    return device


def _dtype(dtype: str, device: str, config: Any) -> str:
    if dtype not in DTYPES:
        raise UserError(f"option dtype of hf: is one of {', '.join(DTYPES)}, not {dtype!r}")
    if dtype == "int8" and device != "cpu":
        raise UserError(f"option dtype=int8 of hf: works on a processor only, not on {device}; give device=cpu too")
    if dtype != "auto":
        return dtype
    stored = str(getattr(config, "dtype", None) or getattr(config, "torch_dtype", None)).removeprefix("torch.")
    # Half precision is slow on most processors.
    return stored if device != "cpu" and stored in DTYPES else "float32"
